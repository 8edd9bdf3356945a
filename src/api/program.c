/* Programs (OpenCL 3.0, 5.8). */
#include "api.h"
#include "api/handles.h"
#include "program/program_info.h"
#include "program/variants.h"

#include <stdlib.h>

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

cl_program CL_API_CALL tsl_api_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                         const size_t *lengths, cl_int *errcode_ret)
{
    struct tsl_context *owner = tsl_context_from(context);
    struct tsl_program *program = NULL;
    cl_int error;

    if (!owner)
        return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
    if (count == 0 || !strings)
        return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    for (cl_uint i = 0; i < count; i++)
        if (!strings[i])
            return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    error = tsl_program_create_source(owner, count, strings, lengths, &program);
    return tsl_created(program, error, errcode_ret);
}

/* Fills the loads; binary_status, if given, tells what is wrong with each. */
static cl_int check_loads(struct tsl_context *context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
                          const unsigned char **binaries, struct tsl_program_load *loads)
{
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < n; i++) {
        struct tsl_device *device = tsl_device_from(devices[i]);

        if (!device || !tsl_context_has_device(context, device))
            return CL_INVALID_DEVICE;
        loads[i] = (struct tsl_program_load){.device = device, .binary = binaries[i], .size = lengths[i]};
        if (lengths[i] == 0 || !binaries[i])
            error = loads[i].status = CL_INVALID_VALUE;
    }
    return error;
}

static cl_int create_with_binary(struct tsl_context *context, cl_uint n, const cl_device_id *devices,
                                 const size_t *lengths, const unsigned char **binaries, cl_int *binary_status,
                                 struct tsl_program **program)
{
    struct tsl_program_load *loads = calloc(n, sizeof(*loads));
    cl_int error;

    if (!loads)
        return CL_OUT_OF_HOST_MEMORY;
    error = check_loads(context, n, devices, lengths, binaries, loads);
    if (error == CL_SUCCESS)
        error = tsl_program_create_binary(context, n, loads, program);
    for (cl_uint i = 0; binary_status && i < n && error != CL_INVALID_DEVICE; i++)
        binary_status[i] = loads[i].status;
    free(loads);
    return error;
}

cl_program CL_API_CALL tsl_api_clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
                                                         const cl_device_id *device_list, const size_t *lengths,
                                                         const unsigned char **binaries, cl_int *binary_status,
                                                         cl_int *errcode_ret)
{
    struct tsl_context *owner = tsl_context_from(context);
    struct tsl_program *program = NULL;
    cl_int error;

    if (!owner)
        return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
    if (num_devices == 0 || !device_list || !lengths || !binaries)
        return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    error = create_with_binary(owner, num_devices, device_list, lengths, binaries, binary_status, &program);
    return tsl_created(program, error, errcode_ret);
}

cl_program CL_API_CALL tsl_api_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                                                 const cl_device_id *device_list,
                                                                 const char *kernel_names, cl_int *errcode_ret)
{
    const struct tsl_targets targets = {num_devices, (struct tsl_device *const *)device_list};
    struct tsl_context *owner = tsl_context_from(context);
    struct tsl_program *program = NULL;
    cl_int error;

    if (!owner)
        return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
    if (num_devices == 0 || !device_list || !kernel_names)
        return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    for (cl_uint i = 0; i < num_devices; i++) {
        struct tsl_device *device = tsl_device_from(device_list[i]);

        if (!device || !tsl_context_has_device(owner, device))
            return tsl_created(NULL, CL_INVALID_DEVICE, errcode_ret);
    }
    error = tsl_program_create_built_in(owner, &targets, kernel_names, &program);
    return tsl_created(program, error, errcode_ret);
}

cl_program CL_API_CALL tsl_api_clCreateProgramWithIL(cl_context context, const void *il, size_t length,
                                                     cl_int *errcode_ret)
{
    struct tsl_context *owner = tsl_context_from(context);
    struct tsl_program *program = NULL;
    cl_int error = CL_INVALID_CONTEXT;

    if (owner)
        error = tsl_program_create_il(owner, il, length, &program);
    return tsl_created(program, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id, size_t spec_size,
                                                              const void *spec_value)
{
    struct tsl_program *it = tsl_program_from(program);

    return it ? tsl_program_set_special(it, spec_id, spec_size, spec_value) : CL_INVALID_PROGRAM;
}

/* Refused: no member has destructors of program-scope variables, after which it would be called. */
cl_int CL_API_CALL tsl_api_clSetProgramReleaseCallback(
    cl_program program, void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    (void)user_data;
    if (!tsl_program_from(program))
        return CL_INVALID_PROGRAM;
    return pfn_notify ? CL_INVALID_OPERATION : CL_INVALID_VALUE;
}

cl_int CL_API_CALL tsl_api_clRetainProgram(cl_program program)
{
    struct tsl_program *it = tsl_program_from(program);

    if (!it)
        return CL_INVALID_PROGRAM;
    tsl_object_retain(&it->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseProgram(cl_program program)
{
    struct tsl_program *it = tsl_program_from(program);

    return it && tsl_object_release(&it->object) ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* A list of devices, all of which must be the program's; no list means all of these. */
static cl_int check_targets(const struct tsl_program *program, cl_uint n, const cl_device_id *list,
                            struct tsl_targets *targets)
{
    if (!list != !n)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++) {
        const struct tsl_device *device = tsl_device_from(list[i]);

        if (!device || !tsl_program_has_device(program, device))
            return CL_INVALID_DEVICE;
    }
    *targets = n ? (struct tsl_targets){n, (struct tsl_device *const *)list}
                 : (struct tsl_targets){program->n_devices, program->devices};
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list,
                                          const char *options,
                                          void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                          void *user_data)
{
    struct tsl_program *it = tsl_program_from(program);
    struct tsl_targets targets;
    cl_int error;

    if (!it)
        return CL_INVALID_PROGRAM;
    if (!pfn_notify && user_data)
        return CL_INVALID_VALUE;
    error = check_targets(it, num_devices, device_list, &targets);
    return error == CL_SUCCESS ? tsl_program_build(it, &targets, options, pfn_notify, user_data) : error;
}

/* Programs of an array of handles, in an array on the heap. */
static cl_int programs_of(cl_uint n, const cl_program *handles, struct tsl_program ***programs)
{
    *programs = calloc(n + 1, sizeof(**programs));
    if (!*programs)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n; i++) {
        (*programs)[i] = tsl_program_from(handles[i]);
        if (!(*programs)[i])
            return CL_INVALID_PROGRAM;
    }
    return CL_SUCCESS;
}

/* Headers are programs with a source and a name, from the context of the program that includes them. */
static cl_int headers_of(const struct tsl_program *program, cl_uint n, const cl_program *handles,
                         const char *const *names, struct tsl_program ***programs)
{
    cl_int error = programs_of(n, handles, programs);

    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++) {
        if (!(*programs)[i]->source)
            error = CL_INVALID_PROGRAM;
        if ((*programs)[i]->context != program->context)
            error = CL_INVALID_CONTEXT;
        if (!names[i])
            error = CL_INVALID_VALUE;
    }
    return error;
}

cl_int CL_API_CALL tsl_api_clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list,
                                            const char *options, cl_uint num_input_headers,
                                            const cl_program *input_headers, const char **header_include_names,
                                            void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                            void *user_data)
{
    const struct tsl_program_notify notify = {pfn_notify, user_data};
    struct tsl_program *it = tsl_program_from(program), **headers = NULL;
    struct tsl_targets targets;
    cl_int error;

    if (!it)
        return CL_INVALID_PROGRAM;
    if ((!pfn_notify && user_data) || !num_input_headers != !input_headers ||
        !num_input_headers != !header_include_names)
        return CL_INVALID_VALUE;
    error = check_targets(it, num_devices, device_list, &targets);
    if (error == CL_SUCCESS)
        error = headers_of(it, num_input_headers, input_headers, header_include_names, &headers);
    if (error == CL_SUCCESS) {
        const struct tsl_program_includes includes = {num_input_headers, headers, header_include_names};

        error = tsl_program_compile(it, &targets, options, &includes, &notify);
    }
    free(headers);
    return error;
}

/* The program that a link fills, for the given devices or for all of the context. */
static cl_int create_linked(struct tsl_context *context, cl_uint n, const cl_device_id *list,
                            struct tsl_program **program)
{
    struct tsl_device **devices = calloc(n + 1, sizeof(*devices));
    cl_int error = devices ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++) {
        devices[i] = tsl_device_from(list[i]);
        if (!devices[i] || !tsl_context_has_device(context, devices[i]))
            error = CL_INVALID_DEVICE;
    }
    if (error == CL_SUCCESS)
        error = tsl_program_create_empty(context, n ? n : context->n_devices, n ? devices : context->devices, program);
    free(devices);
    return error;
}

static cl_int link_inputs(struct tsl_program *program, const char *options, cl_uint n, const cl_program *handles,
                          const struct tsl_program_notify *notify, bool *began)
{
    struct tsl_program **inputs = NULL;
    cl_int error = programs_of(n, handles, &inputs);

    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++)
        if (inputs[i]->context != program->context)
            error = CL_INVALID_CONTEXT;
    if (error == CL_SUCCESS) {
        const struct tsl_program_includes includes = {.n = n, .programs = inputs};

        error = tsl_program_link(program, options, &includes, notify, began);
    }
    free(inputs);
    return error;
}

/* A link that has begun returns a program even if it fails: its log says why. With invalid options it can't begin
 * (OpenCL 3.0, 5.8.5), but only the members know these; by then a callback has got the program. */
cl_program CL_API_CALL tsl_api_clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
                                             const char *options, cl_uint num_input_programs,
                                             const cl_program *input_programs,
                                             void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                             void *user_data, cl_int *errcode_ret)
{
    const struct tsl_program_notify notify = {pfn_notify, user_data};
    struct tsl_context *owner = tsl_context_from(context);
    struct tsl_program *program = NULL;
    bool began = false;
    cl_int error;

    if (!owner)
        return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
    if ((!pfn_notify && user_data) || !num_devices != !device_list || num_input_programs == 0 || !input_programs)
        return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    error = create_linked(owner, num_devices, device_list, &program);
    if (error != CL_SUCCESS)
        return tsl_created(NULL, error, errcode_ret);
    error = link_inputs(program, options, num_input_programs, input_programs, &notify, &began);
    if (errcode_ret)
        *errcode_ret = error;
    if (began && (error != CL_INVALID_LINKER_OPTIONS || pfn_notify))
        return (cl_program)program;
    tsl_object_release(&program->object);
    return NULL;
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL tsl_api_clGetProgramInfo(cl_program program, cl_program_info param_name, size_t param_value_size,
                                            void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_program *it = tsl_program_from(program);

    return it ? tsl_program_info(it, param_name, &info) : CL_INVALID_PROGRAM;
}

cl_int CL_API_CALL tsl_api_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                 cl_program_build_info param_name, size_t param_value_size,
                                                 void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_program *it = tsl_program_from(program);
    struct tsl_device *of = tsl_device_from(device);

    if (!it)
        return CL_INVALID_PROGRAM;
    if (!of || !tsl_program_has_device(it, of))
        return CL_INVALID_DEVICE;
    return tsl_program_build_info(it, of, param_name, &info);
}

/* ---- cl_tesela_variants ------------------------------------------------------------------------------------------ */

cl_int CL_API_CALL tsl_api_clAddKernelVariantTESELA(cl_program program, const char *description,
                                                    cl_variant_function_tesela function, void *user_data)
{
    struct tsl_program *it = tsl_program_from(program);

    if (!it)
        return CL_INVALID_PROGRAM;
    return description ? tsl_variants_add(it, description, function, user_data) : CL_INVALID_VALUE;
}
