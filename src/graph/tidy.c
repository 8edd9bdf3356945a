/* Small tiles of which nobody uses the copies that set them apart. */
#include "graph/tidy.h"

#include "graph/copies.h"
#include "graph/op.h"
#include "tile/ranges.h"
#include "tile/tile.h"

#define SMALL 256u /* bytes: a tile that is no larger costs more to look at than to move; ... */
#define MANY  4 /* ... where there are so many times as many as are tidied, to look at it again and again costs ... */
#define LARGE 32768u /* ... as much as to move so many */
#define OFTEN 8      /* tiles that are looked at here for each look at the object, at most */

unsigned tsl_tidy_tiles = 48;
unsigned tsl_tidy_turns = 13;

/* Moves bring what they claim, and evictions take away all that they do. */
static bool may_grow(const struct tsl_use *use)
{
    enum tsl_op_kind kind = ((const struct tsl_op *)use->user)->kind;
    return (kind == TSL_OP_LAUNCH || kind == TSL_OP_JOIN) && !use->to_all && !use->told && !use->left;
}

static bool is_due(struct tsl_data *data)
{
    return ++data->n_untidied >= tsl_tidy_turns && data->n_untidied >= data->tiles.n / OFTEN;
}

/* What is mapped for writing needs the host's copy. */
void tsl_tidy(struct tsl_data *data)
{
    if (data->tiles.n <= tsl_tidy_tiles || !is_due(data) || tsl_ranges_meeting(&data->mapped, 0, data->size))
        return;
    data->n_untidied = 0;
    tsl_tiles_absorb(&data->tiles, 0, data->size, data->tiles.n > tsl_tidy_tiles * MANY ? LARGE : SMALL, may_grow);
}
