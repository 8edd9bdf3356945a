/*
 * TESELA_CHECK=access: are kernels' footprints true? Code that was built for it calls cpu_check_access before each
 * access to memory. The address says which arguments' memory that is; one of these must have claimed the bytes. A
 * shadow of each argument that is said to be surely written notes what was stored, and is looked through at the
 * launch's end.
 */
#include "cpu_device/check.h"

#include "base/log.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"

#include <stdlib.h>
#include <string.h>

/* One argument's memory. */
struct checked {
    const char *begin; /* NULL: the argument is none, or is shared virtual memory, of which anything may be touched */
    uint64_t size;     /* bytes */
    _Atomic uint8_t *stored; /* of each byte: was it written? NULL: nothing is said to be surely written */
};

struct cpu_check {
    const struct tsl_kernel_facts *facts;
    const char *kernel;
    atomic_bool told; /* one fault of a launch is enough */
    unsigned n;
    struct checked *arguments;          /* n */
    struct tsl_argument_touch *touches; /* n */
};

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* Is byte `at` in the box? */
static bool box_has(const struct tsl_byte_box *box, uint64_t at)
{
    if (at < box->offset)
        return false;
    at -= box->offset;
    for (int d = 1; d >= 0; d--) {
        uint64_t i = box->count[d] > 1 ? at / box->stride[d] : 0;
        at -= (i < box->count[d] ? i : box->count[d] - 1) * box->stride[d];
    }
    return at < box->width;
}

static bool set_has(const struct tsl_byte_set *set, uint64_t at)
{
    for (unsigned i = 0; i < set->n; i++)
        if (box_has(&set->boxes[i], at))
            return true;
    return set->unknown;
}

static bool set_covers(const struct tsl_byte_set *set, uint64_t begin, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (!set_has(set, begin + i))
            return false;
    return true;
}

/* The first byte of the set that was not stored; false: all were. */
static bool find_unstored(const struct checked *argument, const struct tsl_byte_set *sure, uint64_t *byte)
{
    for (unsigned b = 0; b < sure->n; b++) {
        const struct tsl_byte_box *box = &sure->boxes[b];
        for (uint64_t i = 0; i < box->count[0] * box->count[1]; i++)
            for (uint64_t k = 0; k < box->width; k++) {
                *byte = box->offset + i % box->count[0] * box->stride[0] + i / box->count[0] * box->stride[1] + k;
                if (*byte >= argument->size || !atomic_load_explicit(&argument->stored[*byte], memory_order_relaxed))
                    return true;
            }
    }
    return false;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct cpu_check *check, unsigned i)
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
            (unsigned long long)offset, i, name_of(check, i), line);
}

static bool is_claimed(const struct tsl_argument_touch *touch, uint64_t offset, uint64_t size, uint32_t kind)
{
    bool reads = !(kind & TSL_WG_CHECK_WRITE) || kind & TSL_WG_CHECK_ATOMIC;

    return (!reads || set_covers(&touch->read, offset, size)) &&
           (!(kind & TSL_WG_CHECK_WRITE) || set_covers(&touch->write, offset, size));
}

static void note_stored(const struct checked *argument, uint64_t offset, uint64_t size)
{
    for (uint64_t i = 0; argument->stored && i < size; i++)
        atomic_store_explicit(&argument->stored[offset + i], 1, memory_order_relaxed);
}

void cpu_check_access(const struct tsl_wg_launch *wg, const void *address, uint64_t size, uint32_t kind, uint32_t line)
{
    struct cpu_check *check = ((struct cpu_launch *)wg->user)->check;
    unsigned first = check ? check->n : 0;
    bool claimed = false;

    for (unsigned i = 0; check && i < check->n; i++) {
        const struct checked *argument = &check->arguments[i];
        uint64_t offset = (uint64_t)((const char *)address - argument->begin);

        if (!argument->begin || offset >= argument->size || size > argument->size - offset)
            continue;
        first = first < i ? first : i;
        claimed |= is_claimed(&check->touches[i], offset, size, kind);
        if (kind == TSL_WG_CHECK_WRITE)
            note_stored(argument, offset, size);
    }
    if (check && first < check->n && !claimed)
        tell_unclaimed(check, first, (uint64_t)((const char *)address - check->arguments[first].begin), size, kind,
                       line);
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

        if (mem && !mem->image.element_size) {
            check->arguments[i].begin = mem->data;
            check->arguments[i].size = values[i].memory = mem->base.size;
        }
        if (bound->kind == TSL_ARG_VALUE) {
            values[i].value = bound->value;
            values[i].size = bound->size;
        }
    }
}

static bool make_shadows(struct cpu_check *check)
{
    for (unsigned i = 0; i < check->n; i++) {
        struct checked *argument = &check->arguments[i];

        if (!argument->begin || !check->touches[i].sure.n)
            continue;
        argument->stored = calloc(argument->size, 1);
        if (!argument->stored)
            return false;
    }
    return true;
}

cl_int cpu_check_begin(struct cpu_launch *launch, const struct tsl_kernel_facts *facts,
                       const struct tsl_bound_args *args)
{
    struct tsl_window window;
    struct tsl_argument_value *values;
    struct cpu_check *check;

    if (!facts->footprint)
        return CL_SUCCESS;
    check = calloc(1, sizeof(*check));
    values = calloc(args->n + 1, sizeof(*values));
    if (check) {
        *check = (struct cpu_check){.facts = facts, .kernel = launch->code->name, .n = args->n};
        check->arguments = calloc(args->n + 1, sizeof(*check->arguments));
        check->touches = calloc(args->n + 1, sizeof(*check->touches));
    }
    launch->check = check;
    if (!check || !values || !check->arguments || !check->touches) {
        free(values);
        return CL_OUT_OF_HOST_MEMORY;
    }
    look_at_arguments(check, args, values);
    window = window_of(launch);
    tsl_footprint_evaluate(facts->footprint, &window, values, check->touches);
    free(values);
    return make_shadows(check) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static void tell_unstored(struct cpu_check *check, unsigned i, uint64_t byte)
{
    if (atomic_exchange(&check->told, true))
        return;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR,
            "TESELA_CHECK: kernel %s never wrote byte %llu of argument %u (%s), which its footprint says it surely "
            "does: please report this",
            check->kernel, (unsigned long long)byte, i, name_of(check, i));
}

cl_int cpu_check_end(const struct cpu_launch *launch, cl_int status)
{
    struct cpu_check *check = launch->check;
    uint64_t byte;

    for (unsigned i = 0; check && status == CL_COMPLETE && i < check->n; i++)
        if (check->arguments[i].stored && find_unstored(&check->arguments[i], &check->touches[i].sure, &byte))
            tell_unstored(check, i, byte);
    return check && status == CL_COMPLETE && atomic_load(&check->told) ? CL_OUT_OF_RESOURCES : status;
}

void cpu_check_free(struct cpu_check *check)
{
    for (unsigned i = 0; check && check->arguments && i < check->n; i++)
        free((void *)(uintptr_t)check->arguments[i].stored);
    if (check) {
        free(check->arguments);
        free(check->touches);
    }
    free(check);
}
