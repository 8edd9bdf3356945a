/*
 * TESELA_CHECK=access: are kernels' footprints true? Code that was built for it calls cpu_check_access before each
 * access to memory. The address says which arguments' memory that is; one of these must have claimed the bytes. A
 * shadow of each argument notes what was touched. At the launch's end it is looked through for what is said to be
 * surely written, and how much was touched of what was claimed is told (check_tell.c).
 */
#include "cpu_device/check.h"

#include "base/log.h"
#include "cpu_device/check_shadow.h"
#include "cpu_device/operations.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"

#include <stdlib.h>
#include <string.h>

/* Is what this thread runs in the first half of its launch (struct cpu_check)? */
static _Thread_local bool in_half;

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* Are bytes [at, at + size) in one row of the box? */
static bool box_has(const struct tsl_byte_box *box, uint64_t at, uint64_t size)
{
    if (at < box->offset)
        return false;
    at -= box->offset;
    for (int d = 1; d >= 0; d--) {
        uint64_t i = box->count[d] > 1 ? at / box->stride[d] : 0;
        at -= (i < box->count[d] ? i : box->count[d] - 1) * box->stride[d];
    }
    return at < box->width && size <= box->width - at;
}

static bool set_has(const struct tsl_byte_set *set, uint64_t at, uint64_t size)
{
    for (unsigned i = 0; i < set->n; i++)
        if (box_has(&set->boxes[i], at, size))
            return true;
    return set->unknown;
}

static bool set_covers(const struct tsl_byte_set *set, uint64_t begin, uint64_t size)
{
    if (set_has(set, begin, size))
        return true;
    for (uint64_t i = 0; i < size; i++)
        if (!set_has(set, begin + i, 1))
            return false;
    return true;
}

/* Marks are of bytes that are claimed, so those that have them need not be looked up again. */
static bool has_marks(const struct cpu_checked *argument, uint64_t offset, uint64_t size, uint8_t marks)
{
    const uint64_t end = offset + size;

    for (uint64_t at = offset; at < end; at = cpu_shadow_next(at)) {
        const uint64_t wanted = cpu_shadow_spread(marks, at, end);

        if (~atomic_load_explicit(&argument->shadow[at / 8], memory_order_relaxed) & wanted)
            return false;
    }
    return true;
}

/* The first byte of the set that was not stored; false: all were. */
static bool find_unstored(const struct cpu_checked *argument, const struct tsl_byte_set *sure, uint64_t *byte)
{
    for (unsigned b = 0; b < sure->n; b++) {
        const struct tsl_byte_box *box = &sure->boxes[b];
        for (uint64_t i = 0; i < box->count[0] * box->count[1]; i++) {
            const uint64_t row = box->offset + i % box->count[0] * box->stride[0] + i / box->count[0] * box->stride[1];

            if (row + box->width <= argument->size && has_marks(argument, row, box->width, CPU_SHADOW_STORED))
                continue;
            for (*byte = row; *byte < row + box->width; (*byte)++)
                if (*byte >= argument->size || !(cpu_shadow_marks(argument, *byte) & CPU_SHADOW_STORED))
                    return true;
        }
    }
    return false;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

const char *cpu_check_name(const struct cpu_check *check, unsigned i)
{
    return check->facts->args[i].name ? check->facts->args[i].name : "?";
}

static void tell_unclaimed(struct cpu_check *check, unsigned i, uint64_t offset, uint64_t size, uint32_t kind,
                           uint32_t line)
{
    if (atomic_exchange(&check->told, true))
        return;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR,
            "TESELA_CHECK: kernel %s %s %llu bytes at offset %llu of argument %u (%s), line %u, which its footprint "
            "doesn't say: please report this",
            check->kernel, kind & TSL_WG_CHECK_WRITE ? "writes" : "reads", (unsigned long long)size,
            (unsigned long long)offset, i, cpu_check_name(check, i), line);
}

static bool is_claimed(const struct tsl_argument_touch *touch, uint64_t offset, uint64_t size, uint32_t kind)
{
    bool reads = !(kind & TSL_WG_CHECK_WRITE) || kind & TSL_WG_CHECK_ATOMIC;

    return (!reads || set_covers(&touch->read, offset, size)) &&
           (!(kind & TSL_WG_CHECK_WRITE) || set_covers(&touch->write, offset, size));
}

static uint8_t marks_of(uint32_t kind)
{
    uint8_t marks = kind & TSL_WG_CHECK_WRITE ? CPU_SHADOW_WRITTEN : CPU_SHADOW_READ;

    if (kind & TSL_WG_CHECK_ATOMIC)
        marks |= CPU_SHADOW_READ;
    return in_half ? (uint8_t)(marks << CPU_SHADOW_IN_HALF) : marks;
}

/* What other threads mark meanwhile stays. */
static void add_marks(const struct cpu_checked *argument, uint64_t offset, uint64_t size, uint8_t marks)
{
    const uint64_t end = offset + size;

    for (uint64_t at = offset; at < end; at = cpu_shadow_next(at)) {
        const uint64_t added = cpu_shadow_spread(marks, at, end);

        if (~atomic_load_explicit(&argument->shadow[at / 8], memory_order_relaxed) & added)
            atomic_fetch_or_explicit(&argument->shadow[at / 8], added, memory_order_relaxed);
    }
}

void cpu_check_access(const struct tsl_wg_launch *wg, const void *address, uint64_t size, uint32_t kind, uint32_t line)
{
    struct cpu_check *check = ((struct cpu_launch *)wg->user)->check;
    const uint8_t marks = marks_of(kind) | (kind == TSL_WG_CHECK_WRITE ? CPU_SHADOW_STORED : 0);
    unsigned first = check ? check->n : 0;
    bool claimed = false;

    for (unsigned i = 0; check && size && i < check->n; i++) {
        const struct cpu_checked *argument = &check->arguments[i];
        uint64_t offset = (uint64_t)((const char *)address - argument->begin), inside;

        if (!argument->begin || offset >= argument->size)
            continue;
        /* What lies behind the end is the program's own fault, and no footprint's. */
        inside = size < argument->size - offset ? size : argument->size - offset;
        first = first < i ? first : i;
        if (has_marks(argument, offset, inside, marks)) {
            claimed = true;
        } else if (is_claimed(&check->touches[i], offset, inside, kind)) {
            claimed = true;
            add_marks(argument, offset, inside, marks);
        } else if (kind == TSL_WG_CHECK_WRITE) {
            add_marks(argument, offset, inside, CPU_SHADOW_STORED);
        }
    }
    if (check && first < check->n && !claimed)
        tell_unclaimed(check, first, (uint64_t)((const char *)address - check->arguments[first].begin), size, kind,
                       line);
}

/* Groups from the first one on, along a dimension, that are in the same half as that one. */
static uint64_t enter_half(const struct cpu_check *check, unsigned dimension, uint64_t first, uint64_t n)
{
    if (check->half != dimension)
        return n;
    in_half = first < check->half_end;
    return in_half && n > check->half_end - first ? check->half_end - first : n;
}

uint64_t cpu_check_enter(const struct cpu_check *check, uint64_t x, uint64_t n, uint64_t y, uint64_t z)
{
    in_half = false;
    enter_half(check, 1, y, 1);
    enter_half(check, 2, z, 1);
    return enter_half(check, 0, x, n);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static struct tsl_window window_of(const struct cpu_launch *launch)
{
    struct tsl_window window = {.work_dim = launch->wg.work_dim};

    for (unsigned d = 0; d < 3; d++) {
        window.global_offset[d] = launch->wg.global_offset[d];
        window.global_size[d] = launch->wg.global_size[d];
        window.local_size[d] = launch->wg.local_size[d];
        window.group_begin[d] = launch->begin[d];
        window.group_count[d] = launch->count[d];
    }
    return window;
}

static void look_at_arguments(struct cpu_check *check, const struct tsl_bound_args *args,
                              struct tsl_argument_value *values)
{
    for (unsigned i = 0; i < check->n; i++) {
        const struct tsl_bound_arg *bound = &args->args[i];
        const struct cpu_mem *mem = bound->kind == TSL_ARG_MEM ? (const struct cpu_mem *)bound->mem : NULL;

        if (mem) {
            check->arguments[i].begin = cpu_mem_address(bound);
            check->arguments[i].size = values[i].memory = bound->part ? bound->part->size : mem->base.size;
        }
        if (mem && mem->image.element_size) {
            values[i].value = &mem->image;
            values[i].size = sizeof(mem->image);
            values[i].pixels = &mem->pixels;
        } else if (bound->kind == TSL_ARG_SAMPLER) {
            check->arguments[i].sampler = tsl_kc_sampler(bound->value);
            values[i].value = &check->arguments[i].sampler;
            values[i].size = sizeof(check->arguments[i].sampler);
        } else if (bound->kind == TSL_ARG_VALUE) {
            values[i].value = bound->value;
            values[i].size = bound->size;
        }
    }
}

static bool make_shadows(struct cpu_check *check)
{
    for (unsigned i = 0; i < check->n; i++) {
        struct cpu_checked *argument = &check->arguments[i];

        if (!argument->begin)
            continue;
        argument->shadow = calloc(argument->size / 8 + 1, sizeof(*argument->shadow));
        if (!argument->shadow)
            return false;
    }
    return true;
}

static struct cpu_check *create(const struct cpu_launch *launch, const struct tsl_kernel_facts *facts, unsigned n)
{
    struct cpu_check *check = calloc(1, sizeof(*check));

    if (!check)
        return NULL;
    *check = (struct cpu_check){.facts = facts, .kernel = launch->code->name, .n = n, .half = 3};
    check->tells = tsl_log_on(TSL_LOG_IN_DRIVER, TSL_LOG_DEBUG);
    check->arguments = calloc(n + 1, sizeof(*check->arguments));
    check->touches = calloc(n + 1, sizeof(*check->touches));
    return check;
}

cl_int cpu_check_begin(struct cpu_launch *launch, const struct tsl_kernel_facts *facts,
                       const struct tsl_bound_args *args)
{
    struct tsl_window window;
    struct tsl_argument_value *values;
    struct cpu_check *check;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (!facts->footprint)
        return CL_SUCCESS;
    check = launch->check = create(launch, facts, args->n);
    values = calloc(args->n + 1, sizeof(*values));
    if (check && values && check->arguments && check->touches) {
        look_at_arguments(check, args, values);
        window = window_of(launch);
        tsl_footprint_evaluate(facts->footprint, &window, values, check->touches);
        if (make_shadows(check) && (!check->tells || cpu_check_choose_half(check, &window, values)))
            error = CL_SUCCESS;
    }
    free(values);
    return error;
}

static void tell_unstored(struct cpu_check *check, unsigned i, uint64_t byte)
{
    if (atomic_exchange(&check->told, true))
        return;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR,
            "TESELA_CHECK: kernel %s never wrote byte %llu of argument %u (%s), which its footprint says it surely "
            "does: please report this",
            check->kernel, (unsigned long long)byte, i, cpu_check_name(check, i));
}

cl_int cpu_check_end(const struct cpu_launch *launch, cl_int status)
{
    struct cpu_check *check = launch->check;
    uint64_t byte;

    for (unsigned i = 0; check && status == CL_COMPLETE && i < check->n; i++)
        if (check->arguments[i].shadow && find_unstored(&check->arguments[i], &check->touches[i].sure, &byte))
            tell_unstored(check, i, byte);
    if (check && check->tells && status == CL_COMPLETE)
        cpu_check_tell(check);
    return check && status == CL_COMPLETE && atomic_load(&check->told) ? CL_OUT_OF_RESOURCES : status;
}

void cpu_check_free(struct cpu_check *check)
{
    for (unsigned i = 0; check && check->arguments && i < check->n; i++)
        free((void *)(uintptr_t)check->arguments[i].shadow);
    if (check) {
        free(check->arguments);
        free(check->touches);
        free(check->half_touches);
    }
    free(check);
}
