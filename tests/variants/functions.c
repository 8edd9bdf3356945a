/* Functions of variants, for tests: each stands for the kernel add_one(in, out, n) or says that it does. */
#include <CL/cl_tesela.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern cl_variant_function_tesela const functions_are_of_this_type[];
EXPORT cl_int add_one_well(const cl_variant_launch_tesela *launch, void *user_data);
EXPORT cl_int add_one_wrong(const cl_variant_launch_tesela *launch, void *user_data);
EXPORT cl_int crash(const cl_variant_launch_tesela *launch, void *user_data);
EXPORT cl_int refuse(const cl_variant_launch_tesela *launch, void *user_data);
EXPORT cl_int take_every_fifth(const cl_variant_launch_tesela *launch, void *user_data);

cl_variant_function_tesela const functions_are_of_this_type[] = {add_one_well, add_one_wrong, crash, refuse,
                                                                 take_every_fifth};

static cl_int add(const cl_variant_launch_tesela *launch, int what)
{
    const int *in = launch->arguments[0].at;
    int *out = launch->arguments[1].at, n;

    if (launch->structure_size != sizeof(*launch) || launch->n_arguments != 3 ||
        launch->arguments[0].kind != CL_VARIANT_MEMORY_TESELA || launch->arguments[2].kind != CL_VARIANT_VALUE_TESELA ||
        launch->arguments[2].size != sizeof(n))
        return CL_INVALID_KERNEL_ARGS;
    n = *(const int *)launch->arguments[2].at;
    for (size_t i = launch->begin[0]; i < launch->end[0] && i < (size_t)n; i++)
        out[i] = in[i] + what;
    return CL_SUCCESS;
}

cl_int add_one_well(const cl_variant_launch_tesela *launch, void *user_data)
{
    (void)user_data;
    return add(launch, 1);
}

cl_int add_one_wrong(const cl_variant_launch_tesela *launch, void *user_data)
{
    cl_int error = add(launch, 1);

    (void)user_data;
    if (!error && launch->begin[0] <= 37 && launch->end[0] > 37)
        ((int *)launch->arguments[1].at)[37]++;
    return error;
}

/* A null pointer, or what comes of it. */
cl_int crash(const cl_variant_launch_tesela *launch, void *user_data)
{
    (void)launch, (void)user_data;
    raise(SIGSEGV);
    _exit(3);
}

cl_int refuse(const cl_variant_launch_tesela *launch, void *user_data)
{
    (void)launch, (void)user_data;
    return CL_INVALID_OPERATION;
}

cl_int take_every_fifth(const cl_variant_launch_tesela *launch, void *user_data)
{
    static unsigned n; /* one call at a time */

    (void)user_data;
    return n++ % 5 ? CL_INVALID_OPERATION : add(launch, 1);
}
