/*
 * Variables of program scope. Vendors tell their size since OpenCL 2.0, some with that of what is constant (Intel),
 * which any version of the language has.
 */
#include "driver/ask.h"
#include "facts/build_options.h"
#include "opencl/gate.h"
#include "opencl/operations.h"
#include "opencl/program.h"

enum tsl_opencl_language tsl_opencl_language(const struct tsl_program_input *input)
{
    struct tsl_build_options options;

    if (input->kind != TSL_PROGRAM_SOURCE || tsl_build_options_read(input->options, &options) != CL_SUCCESS)
        return TSL_OPENCL_NEWER;
    if (options.std_begin == options.std_end)
        return TSL_OPENCL_BY_DEFAULT;
    if (options.std >= 200 && options.std < 300)
        return TSL_OPENCL_SECOND;
    return options.std && options.std < 200 ? TSL_OPENCL_OLD : TSL_OPENCL_NEWER;
}

/* Does the compiler take them where no version is asked for? Unless it says no, it may. */
static bool ask_default(struct tsl_opencl_member *m)
{
    static const char text[] = "global int variable; kernel void count() { variable++; }";
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = sizeof(text) - 1, .options = ""};
    cl_int error;
    cl_program program = tsl_opencl_create_program(m, &input, &error);

    if (!program)
        return true;
    error = m->cl->clBuildProgram(program, 1, &m->device->id, "", NULL, NULL);
    tsl_opencl_release(m, TSL_OPENCL_PROGRAM, program);
    return error != CL_BUILD_PROGRAM_FAILURE;
}

static bool takes_by_default(struct tsl_opencl_member *m)
{
    int known = atomic_load(&m->device->default_variables);

    if (!known) {
        known = ask_default(m) ? 1 : -1;
        atomic_store(&m->device->default_variables, known);
    }
    return known > 0;
}

static size_t size_of(struct tsl_opencl_member *m, cl_program program)
{
    size_t size = 0;

    if (!program || m->cl->clGetProgramBuildInfo(program, m->device->id, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                                 sizeof(size), &size, NULL) != CL_SUCCESS)
        return 0;
    return size;
}

/* A device that doesn't tell of the feature doesn't tell of variables either, and may have them all the same (PoCL
 * 3.1). */
bool tsl_opencl_program_variables(struct tsl_dprogram *program, size_t *bytes)
{
    const struct tsl_opencl_program *p = tsl_opencl_program(program);
    struct tsl_opencl_member *m = tsl_opencl_member(program->member);

    *bytes = 0;
    if (m->device->version < 200 || p->language == TSL_OPENCL_OLD)
        return false;
    tsl_opencl_enter(m->device);
    *bytes = size_of(m, p->program);
    for (unsigned i = 0; i < p->n_more; i++)
        *bytes += size_of(m, p->more[i]);
    if (*bytes && p->language == TSL_OPENCL_BY_DEFAULT && !takes_by_default(m))
        *bytes = 0;
    tsl_opencl_leave(m->device);
    return *bytes > 0 || (p->language == TSL_OPENCL_SECOND && !tsl_member_has_variables(program->member));
}
