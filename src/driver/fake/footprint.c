/* Runs are held to their kernels' footprints: a byte's marks say what the footprint allows, and what was written. */
#include "driver/fake/internal.h"
#include "footprint/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { MAY_READ = 1, MAY_WRITE = 2, SURE = 4, WRITTEN = 8 };

static size_t memory_of(const struct fake_launch *launch, cl_uint arg)
{
    return launch->args[arg].mem ? launch->args[arg].mem->base.size : 0;
}

static void mark_box(unsigned char *bytes, size_t size, const struct tsl_byte_box *box, unsigned char mark)
{
    for (uint64_t j = 0; j < box->count[1]; j++)
        for (uint64_t i = 0; i < box->count[0]; i++)
            for (uint64_t k = 0; k < box->width; k++) {
                uint64_t at = box->offset + j * box->stride[1] + i * box->stride[0] + k;

                if (at < size)
                    bytes[at] |= mark;
            }
}

static void mark_set(unsigned char *bytes, size_t size, const struct tsl_byte_set *set, unsigned char mark)
{
    for (size_t i = 0; set->unknown && i < size; i++)
        bytes[i] |= mark;
    for (unsigned i = 0; i < set->n; i++)
        mark_box(bytes, size, &set->boxes[i], mark);
}

static unsigned char *marks_of(const struct tsl_argument_touch *touch, size_t size)
{
    unsigned char *bytes = calloc(size + 1, 1);

    if (!bytes)
        abort();
    mark_set(bytes, size, &touch->read, MAY_READ);
    mark_set(bytes, size, &touch->write, MAY_WRITE);
    mark_set(bytes, size, &touch->sure, SURE);
    return bytes;
}

void tsl_fake_check_begin_locked(struct fake_touched *touched)
{
    const struct fake_launch *launch = &touched->op->launch;
    const struct tsl_footprint *footprint = launch->kernel->body->traits.footprint;
    struct tsl_argument_value values[launch->n_args + 1];
    struct tsl_argument_touch touches[launch->n_args + 1];

    if (!footprint)
        return;
    for (cl_uint i = 0; i < launch->n_args; i++) {
        const struct tsl_bound_arg *bound = &launch->args[i].bound;
        bool scalar = bound->kind == TSL_ARG_VALUE;

        values[i] = (struct tsl_argument_value){
            .value = scalar ? bound->value : NULL, .size = scalar ? bound->size : 0, .memory = memory_of(launch, i)};
    }
    tsl_footprint_evaluate(footprint, &launch->window, values, touches);
    touched->bytes = calloc(footprint->n_arguments + 1, sizeof *touched->bytes);
    if (!touched->bytes)
        abort();
    for (cl_uint i = 0; i < footprint->n_arguments; i++)
        touched->bytes[i] = marks_of(&touches[i], memory_of(launch, i));
}

void tsl_fake_check_touch_locked(struct fake_touched *touched, cl_uint arg, size_t offset, size_t size, bool write)
{
    const struct fake_body *body = touched->op->launch.kernel->body;
    unsigned char *bytes = touched->bytes && arg < body->traits.footprint->n_arguments ? touched->bytes[arg] : NULL;
    unsigned char needed = write ? MAY_WRITE : MAY_READ;
    size_t n_beside = 0, first = 0;

    for (size_t i = offset; bytes && i < offset + size; i++) {
        if (!(bytes[i] & needed) && !n_beside++)
            first = i;
        if (write)
            bytes[i] |= WRITTEN;
    }
    if (n_beside)
        tsl_fake_violate_locked(TSL_FAKE_FOOTPRINT, "%s %s %zu bytes of argument %u beside its footprint, from %zu on",
                                tsl_fake_op_name(touched->op), write ? "writes" : "reads", n_beside, arg, first);
}

/* The bytes with that mark, in runs. */
static void touch_marked(const struct tsl_fake_run *run, cl_uint arg, unsigned char mark)
{
    const struct fake_touched *touched = run->touched;
    const unsigned char *bytes = touched->bytes[arg];
    size_t size = memory_of(&touched->op->launch, arg), begin = 0;

    while (begin < size) {
        size_t end = begin;

        while (end < size && bytes[end] & mark)
            end++;
        if (end > begin)
            tsl_fake_touch(run, arg, begin, end - begin, mark == MAY_WRITE);
        begin = end + 1;
    }
}

void tsl_fake_touch_all_locked(const struct tsl_fake_run *run)
{
    const struct fake_touched *touched = run->touched;

    for (cl_uint i = 0; i < touched->op->launch.kernel->body->traits.footprint->n_arguments; i++) {
        touch_marked(run, i, MAY_READ);
        touch_marked(run, i, MAY_WRITE);
    }
}

void tsl_fake_check_end_locked(struct fake_touched *touched)
{
    const struct fake_launch *launch = &touched->op->launch;
    const struct tsl_footprint *footprint = launch->kernel->body->traits.footprint;

    for (cl_uint i = 0; touched->bytes && i < footprint->n_arguments; i++) {
        const unsigned char *bytes = touched->bytes[i];
        size_t size = memory_of(launch, i), at = 0;

        while (at < size && (!(bytes[at] & SURE) || bytes[at] & WRITTEN))
            at++;
        if (at < size)
            tsl_fake_violate_locked(TSL_FAKE_FOOTPRINT, "%s doesn't write byte %zu of argument %u, as it surely should",
                                    tsl_fake_op_name(touched->op), at, i);
        free(touched->bytes[i]);
    }
    free(touched->bytes);
}
