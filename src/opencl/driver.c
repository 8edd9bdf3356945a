/* The driver's table. */
#include "opencl/operations.h"

/* One vendor context holds one device, so nothing goes from one to another without the host. */
static bool can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    return from == to;
}

const struct tsl_driver tsl_opencl_driver = {
    .name = "opencl",
    .own_threads = true,
    .asks_access = true,
    .probe = tsl_opencl_probe,
    .open = tsl_opencl_open,
    .close = tsl_opencl_close,
    .info = tsl_opencl_info,
    .lane_create = tsl_opencl_lane_create,
    .lane_free = tsl_opencl_lane_free,
    .flush = tsl_opencl_flush,
    .finish = tsl_opencl_finish,
    .mem_alloc = tsl_opencl_mem_alloc,
    .host_alloc = tsl_opencl_host_alloc,
    .svm_alloc = tsl_opencl_svm_alloc,
    .svm_reaches = tsl_opencl_svm_reaches,
    .mem_sub = tsl_opencl_mem_sub,
    .mem_free = tsl_opencl_mem_free,
    .image_formats = tsl_opencl_image_formats,
    .image_alloc = tsl_opencl_image_alloc,
    .image_of = tsl_opencl_image_of,
    .can_copy_peer = can_copy_peer,
    .copy = tsl_opencl_copy,
    .fill = tsl_opencl_fill,
    .combine = tsl_opencl_combine,
    .can_combine = tsl_opencl_can_combine,
    .launch = tsl_opencl_launch,
    .mark = tsl_opencl_mark,
    .fence_status = tsl_opencl_fence_status,
    .fence_wait = tsl_opencl_fence_wait,
    .fence_notify = tsl_opencl_fence_notify,
    .fence_times = tsl_opencl_fence_times,
    .fence_free = tsl_opencl_fence_free,
    .can_wait = tsl_opencl_can_wait,
    .gate_create = tsl_opencl_gate_create,
    .gate_open = tsl_opencl_gate_open,
    .build = tsl_opencl_build,
    .compile = tsl_opencl_compile,
    .link = tsl_opencl_link,
    .program_binary = tsl_opencl_program_binary,
    .program_free = tsl_opencl_program_free,
    .program_variables = tsl_opencl_program_variables,
    .program_of_text = tsl_opencl_program_of_text,
    .program_kernels = tsl_opencl_program_kernels,
    .kernel_create = tsl_opencl_kernel_create,
    .kernel_free = tsl_opencl_kernel_free,
    .windows_by = tsl_opencl_windows_by,
    .windows_ok = tsl_opencl_windows_ok,
};
