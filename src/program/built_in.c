/*
 * Programs of built-in kernels: each member contributes the kernels that it has, ready from the beginning.
 */
#include "base/fork.h"
#include "base/log.h"
#include "device/device_facts.h"
#include "program/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of `wanted` that are in `own` (both ';'-separated): heap, "" for none, NULL without memory. */
static char *common_names(const char *wanted, const char *own)
{
    char *common = strdup(""), *list = strdup(wanted), *rest = NULL;

    for (char *name = list ? strtok_r(list, ";", &rest) : NULL; name && common; name = strtok_r(NULL, ";", &rest)) {
        char *longer = NULL;

        if (!tsl_program_names_have(own, name))
            continue;
        if (asprintf(&longer, "%s%s%s", common, common[0] ? ";" : "", name) < 0)
            longer = NULL;
        free(common);
        common = longer;
    }
    if (!list) {
        free(common);
        return NULL;
    }
    free(list);
    return common;
}

/* One member's part. CL_INVALID_VALUE: it has none of the kernels. */
static cl_int make_part(struct tsl_program *program, unsigned i, const char *wanted)
{
    struct tsl_member *member = program->context->members[i];
    struct tsl_program_part *part = &program->parts[i];
    char *own = tsl_names_built_ins(member), *names = common_names(wanted, own ? own : "");
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BUILTIN, .data = names, .options = ""};
    cl_int error = names ? CL_INVALID_VALUE : CL_OUT_OF_HOST_MEMORY;

    free(own);
    if (names && names[0]) {
        input.size = strlen(names);
        error = member->driver->build(member, &input, &part->program, &part->log);
        if (error != CL_SUCCESS) {
            tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_WARN,
                    "%s names the built-in kernels %s, but can't make them (error %d)", member->path->id, names, error);
            error = CL_OUT_OF_RESOURCES;
        }
    }
    if (error != CL_SUCCESS) {
        free(names);
        return error;
    }
    part->kernel_names = names;
    part->status = CL_BUILD_SUCCESS;
    part->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return CL_SUCCESS;
}

/* Does some member behind the device have each of the kernels? */
static bool device_has_all(const struct tsl_program *program, const struct tsl_device *device, char *wanted)
{
    tsl_members members = tsl_context_members_of(program->context, device);
    char *rest = NULL;
    bool all = *wanted;

    for (char *name = strtok_r(wanted, ";", &rest); name && all; name = strtok_r(NULL, ";", &rest)) {
        bool some = false;

        for (unsigned i = 0; tsl_members_reach(members, i); i++)
            some |= tsl_members_has(members, i) && tsl_program_names_have(program->parts[i].kernel_names, name);
        all = some;
    }
    return all;
}

static cl_int make_parts(struct tsl_program *program, const char *wanted)
{
    cl_int error = CL_SUCCESS;

    for (unsigned i = 0; i < program->context->n_members; i++) {
        cl_int own = make_part(program, i, wanted);

        if (own != CL_SUCCESS && own != CL_INVALID_VALUE)
            error = own;
    }
    for (cl_uint i = 0; i < program->n_devices; i++) {
        char *list = strdup(wanted);

        if (!list)
            return CL_OUT_OF_HOST_MEMORY;
        if (!device_has_all(program, program->devices[i], list))
            error = error == CL_SUCCESS ? CL_INVALID_VALUE : error;
        else
            error = CL_SUCCESS;
        free(list);
        if (error != CL_SUCCESS)
            return error;
    }
    return error;
}

cl_int tsl_program_create_built_in(struct tsl_context *context, const struct tsl_targets *targets, const char *names,
                                   struct tsl_program **result)
{
    struct tsl_program *program;
    cl_int error =
        tsl_forked() ? CL_OUT_OF_RESOURCES : tsl_program_create_empty(context, targets->n, targets->devices, &program);

    if (error != CL_SUCCESS)
        return error;
    program->built_in = true;
    program->kernel_names = strdup(names);
    error = program->kernel_names ? make_parts(program, names) : CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS)
        *result = program;
    else
        tsl_object_release(&program->object);
    return error;
}
