#include "graph/variant_check.h"

#include "base/log.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/op.h"
#include "graph/port.h"
#include "program/program.h"
#include "program/variants.h"
#include "variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An argument whose memory the kernel may write. */
struct written {
    cl_uint argument;
    struct tsl_mem *mem;              /* borrowed */
    struct tsl_mem *before, *scratch; /* owned; of the lane's member */
    char *right, *is;                 /* heap: the original's results, and the variant's */
};

struct checking {
    struct tsl_op *op;
    struct tsl_lane *lane;
    const struct tsl_launch *launch;
    unsigned n;
    struct written *written;
    struct tsl_bound_arg *args; /* the launch's, with scratch memory in the places of what is written */
};

/* ---- Steps that are waited for ----------------------------------------------------------------------------------- */

static cl_int wait_for(struct tsl_lane *lane, struct tsl_fence *fence)
{
    cl_int error = lane->member->driver->flush(lane);
    cl_int status = error ? error : lane->member->driver->fence_wait(fence);

    tsl_fence_unref(fence);
    return status < 0 ? status : CL_SUCCESS;
}

static cl_int copy(struct tsl_lane *lane, struct tsl_place dst, struct tsl_place src, size_t size)
{
    const struct tsl_copy copy = {.dst = dst, .src = src, .region = {size, 1, 1}};
    struct tsl_fence *fence = NULL;
    cl_int error = lane->member->driver->copy(lane, &copy, NULL, &fence);

    return error ? error : wait_for(lane, fence);
}

static struct tsl_place in(struct tsl_mem *mem)
{
    return (struct tsl_place){.mem = mem};
}

static struct tsl_place at(char *host)
{
    return (struct tsl_place){.host = host};
}

/* ---- What is compared -------------------------------------------------------------------------------------------- */

static void finish(struct checking *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        struct written *w = &c->written[i];

        if (w->before)
            c->lane->member->driver->mem_free(w->before);
        if (w->scratch)
            c->lane->member->driver->mem_free(w->scratch);
        free(w->right);
        free(w->is);
    }
    free(c->written);
    free(c->args);
}

static cl_int make_room(struct checking *c, struct written *w)
{
    const struct tsl_driver *driver = c->lane->member->driver;
    cl_int error = driver->mem_alloc(c->lane->member, w->mem->size, 0, NULL, &w->before);

    error = error ? error : driver->mem_alloc(c->lane->member, w->mem->size, 0, NULL, &w->scratch);
    w->right = malloc(w->mem->size);
    w->is = malloc(w->mem->size);
    if (!error && !(w->right && w->is))
        error = CL_OUT_OF_HOST_MEMORY;
    return error ? error : copy(c->lane, in(w->before), in(w->mem), w->mem->size);
}

/* Is the buffer also behind another argument? Then a copy for one of them would part the two. */
static bool is_shared(const struct checking *c, cl_uint i)
{
    const struct tsl_args *args = c->op->command->args;
    const struct tsl_buffer *b = args->args[i].buffer;

    for (cl_uint k = 0; k < args->n; k++)
        if (k != i && args->args[k].buffer && tsl_data_of(args->args[k].buffer) == tsl_data_of(b))
            return true;
    return false;
}

/* False: it can't be compared; *why says so, if that is a matter of the launch. */
static bool prepare(struct checking *c, const char **why)
{
    const struct tsl_kernel_part *part = &c->op->command->kernel->parts[c->op->port->index];
    const struct tsl_bound_args *bound = c->launch->args;

    c->written = calloc(bound->n + 1, sizeof(*c->written));
    c->args = calloc(bound->n + 1, sizeof(*c->args));
    if (!c->written || !c->args)
        return false;
    memcpy(c->args, bound->args, bound->n * sizeof(*c->args));
    for (cl_uint i = 0; i < bound->n; i++) {
        struct written *w = &c->written[c->n];

        if (bound->args[i].kind != TSL_ARG_MEM || !bound->args[i].mem || !(part->facts.args[i].may & TSL_MAY_WRITE))
            continue;
        *w = (struct written){.argument = i, .mem = bound->args[i].mem};
        if (is_shared(c, i)) {
            *why = "two of its arguments are the same buffer";
            return false;
        }
        c->n++;
        if (make_room(c, w)) {
            *why = "there is no memory for copies";
            return false;
        }
        c->args[i].mem = w->scratch;
    }
    return true;
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

static cl_int run(struct checking *c, struct tsl_dkernel *kernel, const struct tsl_bound_args *args,
                  const struct tsl_window *window)
{
    const struct tsl_launch launch = {kernel, args, window};
    struct tsl_fence *fence = NULL;
    cl_int error = c->lane->member->driver->launch(c->lane, &launch, NULL, &fence);

    return error ? error : wait_for(c->lane, fence);
}

static cl_int run_variant(struct checking *c, const struct tsl_kernel_variant *v)
{
    const struct tsl_bound_args args = {.serial = tsl_args_new_serial(), .n = c->launch->args->n, .args = c->args};
    const struct tsl_window window = tsl_variant_window(v, c->op->command->args, c->launch->window);
    cl_int error = CL_SUCCESS;

    for (unsigned i = 0; i < c->n && !error; i++)
        error = copy(c->lane, in(c->written[i].scratch), in(c->written[i].before), c->written[i].mem->size);
    error = error ? error : run(c, v->kernel, &args, &window);
    for (unsigned i = 0; i < c->n && !error; i++)
        error = copy(c->lane, at(c->written[i].is), in(c->written[i].scratch), c->written[i].mem->size);
    return error;
}

static void describe(const struct checking *c, const struct written *w, const struct tsl_difference *d, char *text,
                     size_t size)
{
    const struct tsl_arg_fact *fact = &c->op->command->kernel->parts[c->op->port->index].facts.args[w->argument];

    snprintf(text, size, "its result differs from the original's: argument %u%s%s%s, byte %zu: %s instead of %s",
             w->argument, fact->name ? " (" : "", fact->name ? fact->name : "", fact->name ? ")" : "", d->offset, d->is,
             d->right);
}

/* True: its results are what it promises. */
static bool is_right(struct checking *c, const struct tsl_kernel_variant *v, char *why, size_t size)
{
    cl_int error = run_variant(c, v);

    if (error) {
        snprintf(why, size, "it failed with error %d", error);
        return false;
    }
    for (unsigned i = 0; i < c->n; i++) {
        const struct written *w = &c->written[i];
        struct tsl_difference difference;

        if (!tsl_promise_kept(&v->variant->promise, w->right, w->is, w->mem->size, &difference)) {
            describe(c, w, &difference, why, size);
            return false;
        }
    }
    return true;
}

static cl_int judge(struct checking *c, const struct tsl_variant_check *check)
{
    cl_int result = CL_SUCCESS;

    for (unsigned i = 0; i < check->n; i++) {
        struct tsl_variant *v = check->variants[i]->variant;
        char why[320];

        if (is_right(c, check->variants[i], why, sizeof(why))) {
            atomic_fetch_add(&v->n_proofs, 1);
            tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_INFO, "the variant %s of kernel %s on %s: equal", v->name, v->kernel,
                    c->op->port->name);
        } else if (check->fails) {
            tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_ERROR, "the variant %s of kernel %s on %s, command %llu: %s", v->name,
                    v->kernel, c->op->port->name, (unsigned long long)c->op->command->id, why);
            result = CL_OUT_OF_RESOURCES;
        } else {
            tsl_variant_put_out(v, why);
        }
    }
    return result;
}

/* The original on the memory itself, and its results. */
static cl_int run_original(struct checking *c)
{
    cl_int error = run(c, c->launch->kernel, c->launch->args, c->launch->window);

    for (unsigned i = 0; i < c->n && !error; i++)
        error = copy(c->lane, at(c->written[i].right), in(c->written[i].mem), c->written[i].mem->size);
    return error;
}

/* What the launch waits for has ended; false: it failed, which the launch is to see itself. */
static bool wait_before(struct tsl_lane *lane, const struct tsl_waits *waits)
{
    struct tsl_fence *fence = NULL;

    return !lane->member->driver->mark(lane, waits, &fence) && !wait_for(lane, fence);
}

cl_int tsl_variant_check(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_launch *launch,
                         const struct tsl_waits *waits, struct tsl_fence **fence, const struct tsl_variant_check *check)
{
    struct checking c = {.op = op, .lane = lane, .launch = launch};
    const char *why = "memory ran out";
    cl_int error;

    if (!wait_before(lane, waits) || !prepare(&c, &why)) {
        if (check->fails)
            tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_INFO, "variants of kernel %s are not compared: %s",
                    op->command->kernel->name, why);
        finish(&c);
        return lane->member->driver->launch(lane, launch, waits, fence);
    }
    tsl_op_share(op)->unmeasured = true; /* read under the lock, once the operation has ended */
    error = run_original(&c);
    error = error ? error : judge(&c, check);
    finish(&c);
    return error || !fence ? error : lane->member->driver->mark(lane, NULL, fence);
}
