#include "driver/own_program.h"

#include "base/log.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"

#include <stdlib.h>
#include <string.h>

void tsl_own_program_init(struct tsl_own_program *own)
{
    memset(own, 0, sizeof(*own));
    pthread_mutex_init(&own->lock, NULL);
}

cl_int tsl_own_kernel(struct tsl_dprogram *program, const char *name, size_t group, struct tsl_dkernel **kernel)
{
    struct tsl_kernel_facts facts = {.name = NULL};
    cl_int error = program->member->driver->kernel_create(program, name, kernel, &facts);
    bool small = !error && facts.work_group_size && facts.work_group_size < group;

    if (small)
        program->member->driver->kernel_free(*kernel);
    if (!error)
        tsl_kernel_facts_finish(&facts);
    if (error || small)
        *kernel = NULL;
    return small ? CL_INVALID_WORK_GROUP_SIZE : error;
}

static cl_int make_all(struct tsl_own_program *own, struct tsl_member *member, const struct tsl_own_source *source,
                       struct tsl_dkernel **kernels)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source->text, .size = source->size, .options = ""};
    char *log = NULL;
    cl_int error = member->driver->build(member, &input, &own->program, &log);

    if (error)
        own->program = NULL;
    else
        error = source->create(own->program, kernels);
    if (error)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s %s (error %d)%s%s", member->path->id, source->lacks, error,
                log && *log ? ": " : "", log ? log : "");
    free(log);
    return error;
}

static void free_all(struct tsl_own_program *own, const struct tsl_own_source *source, struct tsl_dkernel **kernels)
{
    if (!own->program)
        return;
    for (size_t i = 0; i < source->n_kernels; i++) {
        if (kernels[i])
            own->program->member->driver->kernel_free(kernels[i]);
        kernels[i] = NULL;
    }
    own->program->member->driver->program_free(own->program);
    own->program = NULL;
}

bool tsl_own_program_make(struct tsl_own_program *own, struct tsl_member *member, const struct tsl_own_source *source,
                          struct tsl_dkernel **kernels)
{
    /* Acquire: another thread may have made them. */
    if (atomic_load_explicit(&own->made, memory_order_acquire))
        return true;
    pthread_mutex_lock(&own->lock);
    if (!own->tried) {
        own->tried = true;
        if (make_all(own, member, source, kernels))
            free_all(own, source, kernels);
        else
            atomic_store_explicit(&own->made, true, memory_order_release);
    }
    pthread_mutex_unlock(&own->lock);
    return atomic_load_explicit(&own->made, memory_order_relaxed);
}

void tsl_own_program_finish(struct tsl_own_program *own, const struct tsl_own_source *source,
                            struct tsl_dkernel **kernels)
{
    free_all(own, source, kernels);
    pthread_mutex_destroy(&own->lock);
}
