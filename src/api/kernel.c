/* Kernels and their arguments (OpenCL 3.0, 5.9). */
#include "api.h"
#include "api/handles.h"
#include "graph/graph.h"
#include "program/kernel_info.h"

/* ---- Life -------------------------------------------------------------------------------------------------------- */

cl_kernel CL_API_CALL tsl_api_clCreateKernel(cl_program program, const char *kernel_name, cl_int *errcode_ret)
{
    struct tsl_program *of = tsl_program_from(program);
    struct tsl_kernel *kernel = NULL;
    cl_int error;

    if (!of)
        return tsl_created(NULL, CL_INVALID_PROGRAM, errcode_ret);
    if (!kernel_name)
        return tsl_created(NULL, CL_INVALID_VALUE, errcode_ret);
    error = tsl_kernel_create(of, kernel_name, &kernel);
    if (!error)
        tsl_graph_expect(kernel);
    return tsl_created(kernel, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel *kernels,
                                                    cl_uint *num_kernels_ret)
{
    struct tsl_program *of = tsl_program_from(program);
    cl_uint n;
    cl_int error;

    if (!of)
        return CL_INVALID_PROGRAM;
    error = tsl_kernel_create_all(of, num_kernels, kernels, &n);
    for (cl_uint i = 0; !error && kernels && i < n; i++)
        tsl_graph_expect(tsl_kernel_from(kernels[i]));
    if (error == CL_SUCCESS && num_kernels_ret)
        *num_kernels_ret = n;
    return error;
}

cl_kernel CL_API_CALL tsl_api_clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret)
{
    struct tsl_kernel *source = tsl_kernel_from(source_kernel), *kernel = NULL;
    cl_int error = source ? tsl_kernel_clone(source, &kernel) : CL_INVALID_KERNEL;

    return tsl_created(kernel, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clRetainKernel(cl_kernel kernel)
{
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    if (!it)
        return CL_INVALID_KERNEL;
    tsl_object_retain(&it->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseKernel(cl_kernel kernel)
{
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    return it && tsl_object_release(&it->object) ? CL_SUCCESS : CL_INVALID_KERNEL;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL tsl_api_clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value)
{
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    return it ? tsl_kernel_set_arg(it, arg_index, arg_size, arg_value) : CL_INVALID_KERNEL;
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL tsl_api_clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name, size_t param_value_size,
                                           void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    return it ? tsl_kernel_info(it, param_name, &info) : CL_INVALID_KERNEL;
}

cl_int CL_API_CALL tsl_api_clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx, cl_kernel_arg_info param_name,
                                              size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    return it ? tsl_kernel_arg_info(it, arg_indx, param_name, &info) : CL_INVALID_KERNEL;
}

cl_int CL_API_CALL tsl_api_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                    cl_kernel_work_group_info param_name, size_t param_value_size,
                                                    void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_kernel *it = tsl_kernel_from(kernel);
    struct tsl_device *of = tsl_device_from(device);

    if (!it)
        return CL_INVALID_KERNEL;
    /* Without a device argument the program's only device is meant. */
    if (!device && it->program->n_devices == 1)
        of = it->program->devices[0];
    if (!of || !tsl_program_has_device(it->program, of))
        return CL_INVALID_DEVICE;
    return tsl_kernel_work_group_info(it, of, param_name, &info);
}
