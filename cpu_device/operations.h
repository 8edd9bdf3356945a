/* The operations of the driver's table (driver.c), by the files that define them. */
#ifndef TSL_CPU_DEVICE_OPERATIONS_H
#define TSL_CPU_DEVICE_OPERATIONS_H

#include "cpu_device/cpu.h"

cl_int cpu_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);
cl_int cpu_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
/* What a kernel gets for an argument that is memory. */
char *cpu_mem_address(const struct tsl_bound_arg *bound);
cl_int cpu_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full);
cl_int cpu_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void cpu_mem_free(struct tsl_mem *mem);
cl_int cpu_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int cpu_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                       struct tsl_mem **mem);
cl_int cpu_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);
cl_int cpu_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                struct tsl_fence **fence);
cl_int cpu_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                  struct tsl_fence **fence);
cl_int cpu_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                struct tsl_fence **fence);
cl_int cpu_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                   struct tsl_fence **fence);
bool cpu_can_combine(struct tsl_member *member);
cl_int cpu_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                  struct tsl_fence **fence);
cl_int cpu_fence_status(struct tsl_fence *fence);
cl_int cpu_fence_wait(struct tsl_fence *fence);
cl_int cpu_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int cpu_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void cpu_fence_free(struct tsl_fence *fence);
cl_int cpu_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int cpu_gate_open(struct tsl_fence *gate, cl_int status);
void cpu_gate_by(struct tsl_fence *gate, struct tsl_fence *opener);
bool cpu_fence_is_sure(struct tsl_fence *fence);
cl_int cpu_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                 char **log);
cl_int cpu_compile(struct tsl_member *member, const struct tsl_program_input *input,
                   const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int cpu_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                char **log);
cl_int cpu_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void cpu_program_free(struct tsl_dprogram *program);
/* Counts the variables that a kernel touches. */
bool cpu_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int cpu_program_kernels(struct tsl_dprogram *program, char **names);
cl_int cpu_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                         struct tsl_kernel_facts *facts);
cl_int cpu_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                      char **log);
void cpu_kernel_free(struct tsl_dkernel *kernel);
bool cpu_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

#endif
