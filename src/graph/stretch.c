#include "graph/stretch.h"

#include "base/settings.h"
#include "footprint/evaluate.h"
#include "graph/cut_kernel.h"
#include "graph/footing.h"
#include "graph/state.h"
#include "program/program.h"

#include <stdlib.h>

#define LEAST_ITEMS (1u << 18) /* smaller launches are hardly ever cut, and lie in the cache */
#define LEAST_GROUP 32u        /* work-items: where they are fewer, groups are what a processor has to do */
#define MOST_ITEMS  (1u << 30) /* no number has more than 31 bits: in the loop's last round it is twice as large */
#define ANY_GROUP   256u       /* a multiple of what drivers choose */

/* The footprint of those members' kernels; NULL: not all that have one say that they are such a loop. */
static const struct tsl_footprint *loop_of(const struct tsl_kernel *kernel, tsl_members members)
{
    const struct tsl_footprint *found = NULL;
    for (unsigned i = 0; tsl_members_reach(members, i); i++) {
        const struct tsl_footprint *its = kernel->parts[i].facts.footprint;
        if (!tsl_members_has(members, i) || !its)
            continue;
        if (!its->stride)
            return NULL;
        found = its;
    }
    return found;
}

static bool suits(const struct tsl_kernel *kernel, const struct tsl_footprint *loop, const struct tsl_window *window)
{
    size_t items = window->global_size[0], group = window->local_size[0];
    if (window->work_dim != 1 || window->global_offset[0] || !items || items > MOST_ITEMS)
        return false;
    if (!group)
        return !tsl_footprint_names_groups(loop) && !kernel->facts->reqd_size[0];
    return group >= LEAST_GROUP && items % group == 0;
}

static uint64_t rounds_of(const struct tsl_footprint *loop, const struct tsl_footing_values *values)
{
    int64_t n;
    return tsl_footprint_stride(loop, values->of, &n) && n > 0 && n <= MOST_ITEMS ? (uint64_t)n : 0;
}

/* ---- Arguments that are one memory ------------------------------------------------------------------------------- */

/* What a round touches of an argument, in its root. */
struct cell {
    uint64_t begin, end;
};

static struct cell cell_of(const struct tsl_argument_touch *touch, uint64_t memory)
{
    struct cell read, written;
    if (!tsl_byte_set_hull(&touch->write, memory, &written.begin, &written.end))
        written = (struct cell){UINT64_MAX, 0};
    if (!tsl_byte_set_hull(&touch->read, memory, &read.begin, &read.end))
        return written;
    return (struct cell){read.begin < written.begin ? read.begin : written.begin,
                         read.end > written.end ? read.end : written.end};
}

/* Of one of the first rounds of n. False: there is no memory. */
static bool find_cells(const struct tsl_footprint *loop, const struct tsl_footing_values *values,
                       const struct tsl_args *args, uint64_t n, unsigned round, struct cell *cells)
{
    const struct tsl_window window = {.work_dim = 1,
                                      .global_size = {n, 1, 1},
                                      .local_size = {1, 1, 1},
                                      .group_begin = {round, 0, 0},
                                      .group_count = {1, 1, 1}};
    struct tsl_argument_touch *touches = malloc(loop->n_arguments * sizeof(*touches));
    if (!touches)
        return false;
    tsl_footprint_evaluate(loop, &window, values->of, touches);
    for (uint32_t i = 0; i < loop->n_arguments; i++) {
        cells[i] = cell_of(&touches[i], values->of[i].memory);
        if (args->args[i].buffer && cells[i].begin < cells[i].end) {
            cells[i].begin += args->args[i].buffer->offset;
            cells[i].end += args->args[i].buffer->offset;
        }
    }
    free(touches);
    return true;
}

/* Does each round touch the same piece of memory by both, which no other round touches? The elements of both follow
 * each other by fixed steps. */
static bool are_one(const struct cell *first, const struct cell *second, uint32_t i, uint32_t k)
{
    uint64_t step = second[i].begin - first[i].begin;
    uint64_t begin = first[i].begin < first[k].begin ? first[i].begin : first[k].begin;
    uint64_t end = first[i].end > first[k].end ? first[i].end : first[k].end;
    return first[i].begin < first[i].end && first[k].begin < first[k].end && second[i].begin > first[i].begin &&
           second[k].begin - first[k].begin == step && end - begin <= step;
}

static bool is_written(const struct tsl_footprint *loop, uint32_t argument)
{
    for (uint32_t i = 0; i < loop->n_accesses; i++)
        if (loop->accesses[i].argument == argument && loop->accesses[i].kind != TSL_ACCESS_READ)
            return true;
    return false;
}

/* Does no round touch what another one writes? By one argument it doesn't; several may be one memory. */
static bool is_apart(const struct tsl_footprint *loop, const struct tsl_footing_values *values,
                     const struct tsl_args *args, uint64_t n)
{
    struct cell first[TSL_FOOTING_MAX_ARGUMENTS], second[TSL_FOOTING_MAX_ARGUMENTS];
    bool found = false;
    for (uint32_t i = 0; i < loop->n_arguments; i++)
        for (uint32_t k = 0; k < loop->n_arguments; k++) {
            const struct tsl_buffer *a = args->args[i].buffer, *b = args->args[k].buffer;
            if (i == k || !a || !b || tsl_data_of(a) != tsl_data_of(b) || !is_written(loop, i))
                continue;
            if (!(loop->elements >> i & loop->elements >> k & 1))
                return false;
            found =
                found || (find_cells(loop, values, args, n, 0, first) && find_cells(loop, values, args, n, 1, second));
            if (!found || !are_one(first, second, i, k))
                return false;
        }
    return true;
}

/* ---- The door ---------------------------------------------------------------------------------------------------- */

/* Could several of the members share the launch, or is one a CPU? Each round of the loop on a CPU leads to pages far
 * away: a sum of two vectors takes thirty times as long. */
static bool may_gain(const struct tsl_kernel *kernel, tsl_members members)
{
    enum tsl_split split = tsl_settings()->split;
    if (tsl_split_always(split) || (split != TSL_SPLIT_OFF && tsl_members_count(members) > 1))
        return true;
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && kernel->program->context->members[i]->path->type & CL_DEVICE_TYPE_CPU)
            return true;
    return false;
}

void tsl_stretch(const struct tsl_kernel *kernel, const struct tsl_args *args, tsl_members members,
                 struct tsl_window *window)
{
    members = tsl_members_common(members, kernel->eligible);
    const struct tsl_footprint *loop = loop_of(kernel, members);
    if (!loop || !suits(kernel, loop, window) || !may_gain(kernel, members) ||
        loop->n_arguments > TSL_FOOTING_MAX_ARGUMENTS || loop->n_arguments > args->n || tsl_cut_kernel_has_svm(args))
        return;
    struct tsl_footing_values values;
    tsl_footing_values(args, loop->n_arguments, &values);
    uint64_t n = rounds_of(loop, &values), group = window->local_size[0] ? window->local_size[0] : ANY_GROUP;
    uint64_t items = (n + group - 1) / group * group;
    if (n > window->global_size[0] && items <= MOST_ITEMS &&
        (n >= LEAST_ITEMS || tsl_split_always(tsl_settings()->split)) && is_apart(loop, &values, args, n))
        window->global_size[0] = items;
}
