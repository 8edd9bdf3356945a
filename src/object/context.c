#include "object/context.h"

#include "base/fork.h"
#include "base/settings.h"
#include "graph/life.h"
#include "members/members.h"
#include "members/ready.h"

#include <stdlib.h>
#include <string.h>

/* Called when the context's resources are gone; newest first (OpenCL 3.0, 4.4). */
static void run_destructors(struct tsl_context *context)
{
    struct tsl_context_destructor *destructor;

    while ((destructor = context->destructors)) {
        context->destructors = destructor->next;
        destructor->fn((cl_context)context, destructor->arg);
        free(destructor);
    }
}

/* Also destroys a context that clCreateContext could not finish. */
static void destroy(struct tsl_object *object)
{
    struct tsl_context *context = (struct tsl_context *)object;

    tsl_graph_destroy(context->graph);
    for (cl_uint i = 0; i < context->n_devices; i++)
        tsl_object_hide(&context->devices[i]->object);
    free(context->devices);
    free(context->members);
    free(context->properties);
    run_destructors(context);
    tsl_lock_finish(&context->lock);
}

static bool keep_properties(struct tsl_context *context, const cl_context_properties *properties, size_t n)
{
    if (n == 0)
        return true;
    context->properties = malloc(n * sizeof *properties);
    if (!context->properties)
        return false;
    memcpy(context->properties, properties, n * sizeof *properties);
    context->n_properties = n;
    return true;
}

/* Keeps each device once; repetitions are ignored (OpenCL 3.0, 4.4). */
static bool keep_devices(struct tsl_context *context, struct tsl_device *const *devices, cl_uint n)
{
    context->devices = malloc(n * sizeof *context->devices);
    if (!context->devices)
        return false;
    for (cl_uint i = 0; i < n; i++) {
        if (tsl_context_has_device(context, devices[i]))
            continue;
        tsl_object_show(&devices[i]->object);
        context->devices[context->n_devices++] = devices[i];
    }
    return true;
}

static bool is_behind(const struct tsl_member *member, struct tsl_device *const *devices, cl_uint n)
{
    for (cl_uint i = 0; i < n; i++)
        if (tsl_device_has(devices[i], member))
            return true;
    return false;
}

/* Keeps those of all members that are behind the context's devices. */
static bool keep_members(struct tsl_context *context, struct tsl_member *const *members, unsigned n)
{
    context->members = calloc(n, sizeof(struct tsl_member *));
    for (unsigned i = 0; context->members && i < n; i++)
        if (is_behind(members[i], context->devices, context->n_devices))
            context->members[context->n_members++] = members[i];
    return context->members;
}

/* Where the user says so, or says what all members are to do. */
static bool needs_all(void)
{
    const struct tsl_settings *settings = tsl_settings();
    bool shares = settings->policy != TSL_POLICY_AUTO && settings->policy != TSL_POLICY_MODEL &&
                  settings->policy != TSL_POLICY_FASTEST;

    return settings->open == TSL_OPEN_ALL || shares || tsl_split_always(settings->split) ||
           settings->reproducible == TSL_REPRODUCIBLE_YES;
}

/* Others are made ready when there is work for them. CL_DEVICE_NOT_AVAILABLE: none can be. */
static cl_int make_members_ready(const struct tsl_context *context)
{
    if (needs_all())
        tsl_ready_all(context->members, context->n_members);
    return tsl_ready_first(context->members, context->n_members);
}

cl_int tsl_context_create(const cl_context_properties *properties, size_t n_properties,
                          struct tsl_device *const *devices, cl_uint n_devices, struct tsl_context **result)
{
    unsigned n_members;
    struct tsl_member *const *members = tsl_members_open(&n_members);
    struct tsl_context *context;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (n_members == 0) {
        tsl_device_log_no_member();
        return CL_DEVICE_NOT_AVAILABLE;
    }
    context = tsl_object_create(TSL_CONTEXT, sizeof *context, &devices[0]->object, destroy);
    if (!context)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_lock_init(&context->lock);
    if (keep_properties(context, properties, n_properties) && keep_devices(context, devices, n_devices) &&
        keep_members(context, members, n_members))
        error = make_members_ready(context);
    if (error == CL_SUCCESS)
        error = tsl_graph_create(context, &context->graph);
    if (error) {
        tsl_object_release(&context->object);
        return error;
    }
    *result = context;
    return CL_SUCCESS;
}

bool tsl_context_has_device(const struct tsl_context *context, const struct tsl_device *device)
{
    for (cl_uint i = 0; i < context->n_devices; i++)
        if (context->devices[i] == device)
            return true;
    return false;
}

tsl_members tsl_context_members_of(const struct tsl_context *context, const struct tsl_device *device)
{
    tsl_members set = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < context->n_members; i++)
        if (tsl_device_has(device, context->members[i]))
            tsl_members_add(&set, i);
    return set;
}

cl_int tsl_context_on_destroy(struct tsl_context *context, tsl_context_destructor_fn *fn, void *arg)
{
    struct tsl_context_destructor *destructor;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES; /* A thread of the parent process may have held the lock. */
    destructor = malloc(sizeof *destructor);
    if (!destructor)
        return CL_OUT_OF_HOST_MEMORY;
    destructor->fn = fn;
    destructor->arg = arg;
    tsl_lock_take(&context->lock);
    destructor->next = context->destructors;
    context->destructors = destructor;
    tsl_lock_give(&context->lock);
    return CL_SUCCESS;
}
