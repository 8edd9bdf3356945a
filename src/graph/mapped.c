/* Mapped ranges. */
#include "graph/mapped.h"

#include "graph/copies.h"
#include "graph/valid.h"
#include "tile/ranges.h"
#include "tile/tile.h"

cl_int tsl_map_range(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return tsl_ranges_add(&data->mapped, begin, end) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void tsl_unmap_range(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    tsl_ranges_remove(&data->mapped, begin, end);
}

cl_int tsl_mapped_keep(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    const struct tsl_ranged *range = tsl_ranges_meeting(&data->mapped, begin, end);
    cl_int error = CL_SUCCESS;
    for (; range && !error; range = tsl_ranges_next_meeting(range, begin, end)) {
        uint64_t from = range->begin > begin ? range->begin : begin;
        uint64_t to = range->end < end ? range->end : end;
        error = tsl_valid_change(data, from, to, ~0u, TSL_SPACE_BIT(TSL_SPACE_HOST));
    }
    return error;
}
