/* What the fake driver's operations do to memory. Called without the lock: operations of several members overlap. */
#include "driver/combine.h"
#include "driver/fake/internal.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *address(const struct tsl_place *place)
{
    struct fake_mem *mem = (struct fake_mem *)place->mem;

    return (mem ? mem->bytes : (unsigned char *)place->host) + place->offset;
}

/* Bytes that are equal already aren't written: the application may be reading them, mapped, while the same bytes come
 * again. */
static void copy_row(unsigned char *dst, const unsigned char *src, size_t size)
{
    if (memcmp(dst, src, size) != 0)
        memcpy(dst, src, size);
}

static void act_copy(const struct tsl_copy *copy)
{
    unsigned char *dst = address(&copy->dst);
    const unsigned char *src = address(&copy->src);

    for (size_t slice = 0; slice < copy->region[2]; slice++)
        for (size_t row = 0; row < copy->region[1]; row++)
            copy_row(dst + slice * copy->dst.slice_pitch + row * copy->dst.row_pitch,
                     src + slice * copy->src.slice_pitch + row * copy->src.row_pitch, copy->region[0]);
}

static void act_fill(const struct tsl_fill *fill)
{
    unsigned char *dst = address(&fill->dst);

    for (size_t slice = 0; slice < fill->region[2]; slice++)
        for (size_t row = 0; row < fill->region[1]; row++)
            for (size_t i = 0; i < fill->region[0]; i += fill->pattern_size)
                memcpy(dst + slice * fill->dst.slice_pitch + row * fill->dst.row_pitch + i, fill->pattern,
                       fill->pattern_size);
}

static void *side_of(const struct tsl_combine_side *side)
{
    return side->mem ? ((struct fake_mem *)side->mem)->bytes + side->offset : NULL;
}

static void act_combine(const struct tsl_combine *c)
{
    const struct tsl_combine_bytes bytes = {.dst = side_of(&c->dst),
                                            .a = side_of(&c->a),
                                            .b = side_of(&c->b),
                                            .before = side_of(&c->before),
                                            .size = c->size,
                                            .width = c->width,
                                            .how = c->how};
    tsl_combine_run(&bytes);
}

static void act_launch(const struct fake_op *op)
{
    const struct fake_launch *launch = &op->launch;
    struct tsl_fake_arg args[launch->n_args + 1];
    struct tsl_fake_run run;

    tsl_fake_run_set_up(&run, args, op);
    for (cl_uint i = 0; i < launch->n_args; i++) {
        if (launch->args[i].bound.kind != TSL_ARG_LOCAL)
            continue;
        args[i].ptr = malloc(args[i].size);
        if (!args[i].ptr)
            abort();
        tsl_fake_poison(args[i].ptr, args[i].size, i);
    }
    launch->kernel->body->run(&run);
    for (cl_uint i = 0; i < launch->n_args; i++)
        if (launch->args[i].bound.kind == TSL_ARG_LOCAL)
            free(args[i].ptr);
}

/* A combine leaves the elements that don't change alone. */
static void scribble_combine(const struct fake_op *op)
{
    const struct tsl_combine *c = &op->combine;
    unsigned char *dst = side_of(&c->dst), *result = malloc(c->size);

    if (!result)
        abort();
    tsl_combine_run(&(struct tsl_combine_bytes){.dst = result,
                                                .a = side_of(&c->a),
                                                .b = side_of(&c->b),
                                                .before = side_of(&c->before),
                                                .size = c->size,
                                                .width = c->width,
                                                .how = c->how});
    for (size_t i = 0; i < c->size; i += c->width)
        if (memcmp(dst + i, result + i, c->width) != 0)
            tsl_fake_poison(dst + i, c->width, op->id);
    free(result);
}

/* Work that fails may have written anything where it was to write. */
static void scribble(struct fake_op *op)
{
    if (op->kind == TSL_FAKE_DID_COMBINE) {
        scribble_combine(op);
        return;
    }
    pthread_mutex_lock(&tsl_fake.lock);
    tsl_fake_gather_locked(op);
    for (size_t i = 0; i < tsl_fake.gathered.n; i++) {
        const struct fake_access *access = &tsl_fake.gathered.items[i];

        if (access->write)
            tsl_fake_poison((void *)access->lo, access->hi - access->lo, op->id);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
}

void tsl_fake_act(struct fake_op *op)
{
    if (op->failure)
        scribble(op);
    else if (op->kind == TSL_FAKE_DID_LAUNCH)
        act_launch(op);
    else if (op->kind == TSL_FAKE_DID_FILL)
        act_fill(&op->fill);
    else if (op->kind == TSL_FAKE_DID_COMBINE)
        act_combine(&op->combine);
    else if (op->kind != TSL_FAKE_DID_MARK && !op->stale)
        act_copy(&op->copy);
}
