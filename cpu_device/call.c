/* Launches that are calls of functions: their arguments live until the call, as the launch's are gone by then. */
#include "cpu_device/call.h"
#include "cpu_device/operations.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 128u /* the largest type's */

struct cpu_call {
    struct tsl_call call;
    struct tsl_window window;
    uint64_t n_pieces;
    unsigned n_args;
    struct tsl_call_arg *args; /* behind the structure, and values behind them */
};

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t values_size(const struct tsl_bound_args *args)
{
    size_t size = 0;

    for (cl_uint i = 0; i < args->n; i++)
        size += args->args[i].kind == TSL_ARG_VALUE ? aligned(args->args[i].size) : 0;
    return size;
}

/* Shared memory is there by its address; how much of it the function may touch is not known. */
static void set_arg(const struct tsl_bound_arg *bound, struct tsl_call_arg *arg, char **values)
{
    *arg = (struct tsl_call_arg){.kind = bound->kind, .size = bound->size};
    if (bound->kind == TSL_ARG_VALUE) {
        arg->at = memcpy(*values, bound->value, bound->size);
        *values += aligned(bound->size);
    } else if (bound->kind == TSL_ARG_MEM) {
        arg->size = bound->mem ? bound->mem->size : 0;
        arg->at = bound->mem ? cpu_mem_address(bound) : NULL;
    } else if (bound->kind == TSL_ARG_SVM) {
        arg->kind = TSL_ARG_MEM;
        arg->size = 0;
        memcpy(&arg->at, bound->value, sizeof(arg->at));
    }
}

struct cpu_call *cpu_call_create(const struct tsl_call *call, const struct tsl_launch *launch, uint64_t n_pieces)
{
    size_t head = aligned(sizeof(struct cpu_call) + launch->args->n * sizeof(struct tsl_call_arg));
    struct cpu_call *c = aligned_alloc(ALIGN, head + values_size(launch->args));
    char *values = (char *)c + head;

    if (!c)
        return NULL;
    *c = (struct cpu_call){.call = *call,
                           .window = *launch->window,
                           .n_pieces = n_pieces,
                           .n_args = launch->args->n,
                           .args = (struct tsl_call_arg *)(c + 1)};
    for (cl_uint i = 0; i < launch->args->n; i++)
        set_arg(&launch->args->args[i], &c->args[i], &values);
    return c;
}

void cpu_call_free(struct cpu_call *call)
{
    free(call);
}

cl_int cpu_call_run(const struct cpu_call *call, const struct cpu_member *member)
{
    const struct tsl_call_launch launch = {.n_args = call->n_args,
                                           .args = call->args,
                                           .window = &call->window,
                                           .processors = &member->place.processors,
                                           .n_threads = member->n_threads};

    return call->call.run(call->call.self, &launch);
}

uint64_t cpu_call_pieces(const struct cpu_call *call)
{
    return call->n_pieces;
}
