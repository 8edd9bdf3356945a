/* The driver's table. */
#include "opencl/internal.h"

/* One vendor context holds one device, so nothing goes from one to another without the host. */
static bool can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    return from == to;
}

const struct tsl_driver tsl_vendor_driver = {
    .name = "opencl",
    .own_threads = true,
    .asks_roles = true,
    .probe = tsl_vendor_probe,
    .open = tsl_vendor_open,
    .close = tsl_vendor_close,
    .info = tsl_vendor_info,
    .lane_create = tsl_vendor_lane_create,
    .lane_free = tsl_vendor_lane_free,
    .flush = tsl_vendor_flush,
    .finish = tsl_vendor_finish,
    .mem_alloc = tsl_vendor_mem_alloc,
    .host_alloc = tsl_vendor_host_alloc,
    .svm_alloc = tsl_vendor_svm_alloc,
    .svm_reaches = tsl_vendor_svm_reaches,
    .mem_sub = tsl_vendor_mem_sub,
    .mem_free = tsl_vendor_mem_free,
    .image_formats = tsl_vendor_image_formats,
    .image_alloc = tsl_vendor_image_alloc,
    .image_of = tsl_vendor_image_of,
    .can_copy_peer = can_copy_peer,
    .copy = tsl_vendor_copy,
    .fill = tsl_vendor_fill,
    .launch = tsl_vendor_launch,
    .mark = tsl_vendor_mark,
    .fence_status = tsl_vendor_fence_status,
    .fence_wait = tsl_vendor_fence_wait,
    .fence_notify = tsl_vendor_fence_notify,
    .fence_times = tsl_vendor_fence_times,
    .fence_free = tsl_vendor_fence_free,
    .can_wait = tsl_vendor_can_wait,
    .gate_create = tsl_vendor_gate_create,
    .gate_open = tsl_vendor_gate_open,
    .build = tsl_vendor_build,
    .compile = tsl_vendor_compile,
    .link = tsl_vendor_link,
    .program_binary = tsl_vendor_program_binary,
    .program_free = tsl_vendor_program_free,
    .program_variables = tsl_vendor_program_variables,
    .program_kernels = tsl_vendor_program_kernels,
    .kernel_create = tsl_vendor_kernel_create,
    .kernel_free = tsl_vendor_kernel_free,
    .windows_ok = tsl_vendor_windows_ok,
};
