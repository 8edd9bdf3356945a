/* The ranges of which a box is made. */
#include "graph/runs.h"

#include "graph/copies.h"
#include "graph/op.h"

unsigned tsl_runs_most = 16;
size_t tsl_runs_large = (size_t)16 << 10;
size_t tsl_runs_far = 4096;

bool tsl_runs_linear(const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    return (region[1] == 1 || row_pitch == region[0]) && (region[2] == 1 || slice_pitch == region[0] * region[1]);
}

size_t tsl_runs_hull(const struct tsl_box_copy *box)
{
    return tsl_box_hull(box->region, box->dst_row_pitch, box->dst_slice_pitch);
}

size_t tsl_runs_count(const struct tsl_box_copy *box)
{
    return tsl_runs_linear(box->region, box->dst_row_pitch, box->dst_slice_pitch) ? 1 : box->region[1] * box->region[2];
}

struct tsl_range tsl_runs_at(const struct tsl_box_copy *box, size_t i)
{
    size_t row = i % box->region[1], slice = i / box->region[1];
    uint64_t begin = box->dst_offset + slice * box->dst_slice_pitch + row * box->dst_row_pitch;
    return (struct tsl_range){begin, tsl_runs_count(box) == 1 ? begin + tsl_runs_hull(box) : begin + box->region[0]};
}

bool tsl_runs_are_few(const struct tsl_box_copy *box)
{
    size_t n = tsl_runs_count(box);
    return n == 1 || (n <= tsl_runs_most && tsl_runs_hull(box) / n >= tsl_runs_far);
}

/* They are few, and mostly in order. */
static void sort(struct tsl_range *ranges, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct tsl_range one = ranges[i];
        unsigned k = i;
        for (; k > 0 && ranges[k - 1].begin > one.begin; k--)
            ranges[k] = ranges[k - 1];
        ranges[k] = one;
    }
}

unsigned tsl_runs_tidy(struct tsl_range *ranges, unsigned n)
{
    unsigned last = 0;
    sort(ranges, n);
    for (unsigned i = 1; i < n; i++) {
        if (ranges[i].begin > ranges[last].end)
            ranges[++last] = ranges[i];
        else if (ranges[i].end > ranges[last].end)
            ranges[last].end = ranges[i].end;
    }
    return n ? last + 1 : 0;
}

struct tsl_box_copy tsl_runs_of_src(const struct tsl_box_copy *box)
{
    struct tsl_box_copy src = *box;
    src.dst_offset = box->src_offset;
    src.dst_row_pitch = box->src_row_pitch;
    src.dst_slice_pitch = box->src_slice_pitch;
    return src;
}
