#include "graph/stretch.h"

#include "base/settings.h"
#include "footprint/evaluate.h"
#include "graph/cut_kernel.h"
#include "graph/footing.h"
#include "graph/state.h"
#include "program/program.h"

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

static bool suits(const struct tsl_footprint *loop, const struct tsl_window *window)
{
    size_t items = window->global_size[0], group = window->local_size[0];
    if (window->work_dim != 1 || window->global_offset[0] || !items || items > MOST_ITEMS)
        return false;
    return group ? group >= LEAST_GROUP && items % group == 0 : !tsl_footprint_names_groups(loop);
}

/* Is what the kernel writes the memory of one argument alone? */
static bool is_apart(const struct tsl_footprint *loop, const struct tsl_args *args)
{
    uint64_t written = 0;
    if (loop->n_arguments > TSL_FOOTING_MAX_ARGUMENTS || loop->n_arguments > args->n || tsl_cut_kernel_has_svm(args))
        return false;
    for (uint32_t i = 0; i < loop->n_accesses; i++)
        if (loop->accesses[i].kind != TSL_ACCESS_READ)
            written |= UINT64_C(1) << loop->accesses[i].argument;
    for (uint32_t i = 0; i < loop->n_arguments; i++)
        for (uint32_t k = 0; k < loop->n_arguments; k++) {
            const struct tsl_buffer *a = args->args[i].buffer, *b = args->args[k].buffer;
            if (i != k && written >> i & 1 && a && b && tsl_data_of(a) == tsl_data_of(b))
                return false;
        }
    return true;
}

static uint64_t rounds_of(const struct tsl_footprint *loop, const struct tsl_args *args)
{
    struct tsl_footing_values values;
    int64_t n;
    tsl_footing_values(args, loop->n_arguments, &values);
    return tsl_footprint_stride(loop, values.of, &n) && n > 0 && n <= MOST_ITEMS ? (uint64_t)n : 0;
}

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
    if (!loop || !suits(loop, window) || !may_gain(kernel, members) || !is_apart(loop, args))
        return;
    uint64_t n = rounds_of(loop, args), group = window->local_size[0] ? window->local_size[0] : ANY_GROUP;
    if (n > window->global_size[0] && (n >= LEAST_ITEMS || tsl_split_always(tsl_settings()->split)))
        window->global_size[0] = (n + group - 1) / group * group;
}
