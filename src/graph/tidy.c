/* Small tiles of which nobody uses the copies that set them apart. */
#include "graph/tidy.h"

#include "graph/copies.h"
#include "tile/ranges.h"
#include "tile/tile.h"

unsigned tsl_tidy_tiles = 48;
unsigned tsl_tidy_turns = 13; /* prime, so that each of the ranges at which launches look in turn has its turn */

/* What is mapped for writing needs the host's copy. */
void tsl_tidy(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    if (data->tiles.n <= tsl_tidy_tiles || ++data->n_untidied < tsl_tidy_turns ||
        tsl_ranges_meeting(&data->mapped, 0, data->size))
        return;
    data->n_untidied = 0;
    tsl_tiles_absorb(&data->tiles, begin, end, TSL_TIDY_BYTES);
}
