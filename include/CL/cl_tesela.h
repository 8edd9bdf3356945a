/*
 * What Tesela offers beyond OpenCL: cl_tesela_members, the real devices ("members") behind the virtual one,
 * cl_tesela_variants, other implementations of a program's kernels, and cl_tesela_queue_policy, how a queue's commands
 * are ordered and placed.
 *
 * Khronos gives vendors blocks of 16 tokens below 0x10000; Tesela has none, so its tokens begin with its
 * CL_DEVICE_VENDOR_ID, 0x54534C ("TSL"), where Khronos assigns nothing.
 */
#ifndef CL_TESELA_H
#define CL_TESELA_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define cl_tesela_members                1
#define CL_TESELA_MEMBERS_EXTENSION_NAME "cl_tesela_members"

/*
 * cl_device_partition_property. clCreateSubDevices of the virtual device with
 *
 *     const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
 *
 * gives one sub-device for each member, in the order of `tesela info`. A queue of a sub-device runs its kernels on that
 * member alone, and its clEnqueueWriteBuffer, Copy, Fill and MigrateMemObjects bring the data to that member. Contexts
 * may hold sub-devices, the virtual device, or both; buffers are shared by all of a context's devices, of whatever
 * vendors. Among the properties of CL_DEVICE_PARTITION_PROPERTIES where the device has members.
 */
#define CL_DEVICE_PARTITION_BY_MEMBER_TESELA 0x54534C01

/*
 * cl_device_info, char[]: Tesela's name of the member behind a sub-device: "opencl:0.1" is the second device of the
 * first platform that it found; TESELA_MEMBERS and `tesela info` use the same names. Empty for the virtual device.
 */
#define CL_DEVICE_MEMBER_TESELA 0x54534C10

/* ---- cl_tesela_variants ------------------------------------------------------------------------------------------ */

#define cl_tesela_variants                1
#define CL_TESELA_VARIANTS_EXTENSION_NAME "cl_tesela_variants"

/*
 * A function that does what a launch of a kernel does. Tesela finds it in a shared object (the line FUNCTION of a
 * variant, docs/user/variants.md) or is given it by clAddKernelVariantTESELA.
 */

/* What an argument is. */
#define CL_VARIANT_VALUE_TESELA 0 /* size bytes at `at` */
#define CL_VARIANT_MEMORY_TESELA \
    1                             /* size bytes of a buffer: a host address, or a CUdeviceptr where there is a stream */
#define CL_VARIANT_LOCAL_TESELA 2 /* size bytes of local memory; `at` is NULL */

typedef struct cl_variant_argument_tesela {
    cl_uint kind;
    size_t size;
    void *at;
} cl_variant_argument_tesela;

/* A launch. All is the function's until it returns. */
typedef struct cl_variant_launch_tesela {
    size_t structure_size; /* of this structure: later versions may be longer */
    cl_uint work_dim;
    size_t global_offset[3];
    size_t global_size[3];
    size_t local_size[3]; /* 0 0 0: left to the device */
    size_t begin[3];      /* the work-items to do, from ... */
    size_t end[3];        /* ... up to, counted from global_offset; all of them without the line WINDOWS yes */
    cl_uint n_arguments;
    const cl_variant_argument_tesela *arguments;
    void *stream;      /* NULL: the work is to be done on return; else a CUstream in which it is to be enqueued, whose
                          context is current */
    cl_uint n_threads; /* how many threads the device has, where there is no stream */
} cl_variant_launch_tesela;

/* CL_SUCCESS: it is done (or enqueued). Anything else: nothing was written or enqueued, and the original kernel runs.
 */
typedef cl_int(CL_CALLBACK *cl_variant_function_tesela)(const cl_variant_launch_tesela *launch, void *user_data);

/*
 * Adds a variant to a program of which no kernel exists yet. description has the lines of docs/user/variants.md without
 * PROGRAM and OPTIONS, and may have NAME; files are found by absolute paths. With the line GIVEN the variant is
 * `function`, called with user_data from any thread, never by two at a time, for as long as the program and its kernels
 * live. function is NULL without that line.
 *
 * CL_INVALID_PROGRAM; CL_INVALID_VALUE: the description isn't understood (a sentence on standard error says why), or
 * function and the line GIVEN don't fit; CL_INVALID_OPERATION: the program has kernels; CL_OUT_OF_HOST_MEMORY. A
 * variant that turns out to be of no use (its file is missing, say) is left out later, with a sentence.
 *
 * Found by clGetExtensionFunctionAddressForPlatform.
 */
typedef cl_int(CL_API_CALL *clAddKernelVariantTESELA_fn)(cl_program program, const char *description,
                                                         cl_variant_function_tesela function, void *user_data);

/* ---- cl_tesela_queue_policy -------------------------------------------------------------------------------------- */

#define cl_tesela_queue_policy                1
#define CL_TESELA_QUEUE_POLICY_EXTENSION_NAME "cl_tesela_queue_policy"

/* What a queue has of policies; cl_uint. clGetCommandQueueInfo tells them. */
#define CL_QUEUE_ORDER_TESELA     0x54534C20
#define CL_QUEUE_PLACEMENT_TESELA 0x54534C21

/* Of CL_QUEUE_ORDER_TESELA. */
#define CL_ORDER_DEFAULT_TESELA      0 /* what TESELA_ORDER says */
#define CL_ORDER_ASYNCHRONOUS_TESELA 1 /* independent commands overlap */
#define CL_ORDER_SYNCHRONOUS_TESELA  2 /* an enqueue returns when its command is complete */

/* Of CL_QUEUE_PLACEMENT_TESELA. */
#define CL_PLACEMENT_DEFAULT_TESELA     0 /* what TESELA_POLICY says */
#define CL_PLACEMENT_EAGER_TESELA       1 /* the others are as the words of TESELA_POLICY; launches aren't cut */
#define CL_PLACEMENT_FASTEST_TESELA     2
#define CL_PLACEMENT_ROUND_ROBIN_TESELA 3

/*
 * Changes a policy of a queue, for commands that are enqueued after the call. It may be called at any time; commands
 * that were enqueued before keep what they had.
 *
 * CL_INVALID_COMMAND_QUEUE; CL_INVALID_VALUE: there is no such policy, or value of it.
 *
 * Found by clGetExtensionFunctionAddressForPlatform.
 */
typedef cl_int(CL_API_CALL *clSetQueuePolicyTESELA_fn)(cl_command_queue queue, cl_uint policy, cl_uint value);

#ifdef __cplusplus
}
#endif

#endif
