#include "program/idle.h"

#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* Of the kernel only what is left behind is in use, and the program. The newest is the first. */
struct tsl_idle {
    struct tsl_idle *next;
    struct tsl_kernel kernel;
};

static void take_over(struct tsl_kernel *to, const struct tsl_kernel *from)
{
    to->name = from->name;
    to->place_key = from->place_key;
    to->eligible = from->eligible;
    to->parts = from->parts;
    to->facts = from->facts;
    to->has_variants = from->has_variants;
    to->no_arg_info = from->no_arg_info;
    to->parameter_size = from->parameter_size;
    to->cut = from->cut;
    to->n_stayed = from->n_stayed;
}

/* Those that are too many. */
static struct tsl_idle *cut_list_locked(struct tsl_program *program) TSL_REQUIRES(program->lock)
{
    struct tsl_idle **at = &program->idle, *rest;

    for (unsigned i = 0; i < TSL_IDLE_KERNELS && *at; i++)
        at = &(*at)->next;
    rest = *at;
    *at = NULL;
    return rest;
}

bool tsl_idle_keep(struct tsl_kernel *kernel)
{
    struct tsl_program *program = kernel->program;
    struct tsl_idle *idle = calloc(1, sizeof(*idle)), *rest;

    if (!idle)
        return false;
    take_over(&idle->kernel, kernel);
    idle->kernel.program = program;
    tsl_lock_take(&program->lock);
    idle->next = program->idle;
    program->idle = idle;
    rest = cut_list_locked(program);
    tsl_lock_give(&program->lock);
    tsl_idle_free(rest);
    return true;
}

static struct tsl_idle *find_locked(struct tsl_program *program, const char *name) TSL_REQUIRES(program->lock)
{
    for (struct tsl_idle **at = &program->idle; *at; at = &(*at)->next) {
        struct tsl_idle *found = *at;

        if (strcmp(found->kernel.name, name) == 0) {
            *at = found->next;
            return found;
        }
    }
    return NULL;
}

bool tsl_idle_take(struct tsl_kernel *kernel, const char *name)
{
    struct tsl_program *program = kernel->program;
    struct tsl_idle *found;

    tsl_lock_take(&program->lock);
    found = find_locked(program, name);
    tsl_lock_give(&program->lock);
    if (!found)
        return false;
    take_over(kernel, &found->kernel);
    free(found);
    return true;
}

struct tsl_idle *tsl_idle_take_all(struct tsl_program *program)
{
    struct tsl_idle *all = program->idle;

    program->idle = NULL;
    return all;
}

void tsl_idle_free(struct tsl_idle *idle)
{
    while (idle) {
        struct tsl_idle *next = idle->next;

        tsl_kernel_clear(&idle->kernel);
        free(idle);
        idle = next;
    }
}
