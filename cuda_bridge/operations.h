/* The operations of the table (driver.c), by the files that define them. */
#ifndef TSL_CUDA_BRIDGE_OPERATIONS_H
#define TSL_CUDA_BRIDGE_OPERATIONS_H

#include "cuda_bridge/cuda_bridge.h"

cl_int tsl_cuda_probe(tsl_found_fn *found, void *arg);
cl_int tsl_cuda_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);
cl_int tsl_cuda_open(const struct tsl_path *path, struct tsl_member **member);
cl_int tsl_cuda_prepare(struct tsl_member *member);
void tsl_cuda_close(struct tsl_member *member);
cl_int tsl_cuda_lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane);
void tsl_cuda_lane_free(struct tsl_lane *lane);
cl_int tsl_cuda_flush(struct tsl_lane *lane);
cl_int tsl_cuda_finish(struct tsl_lane *lane);
cl_int tsl_cuda_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
cl_int tsl_cuda_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void tsl_cuda_mem_free(struct tsl_mem *mem);
cl_int tsl_cuda_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int tsl_cuda_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                            void *host, struct tsl_mem **mem);
cl_int tsl_cuda_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);
bool tsl_cuda_can_copy_peer(struct tsl_member *from, struct tsl_member *to);
cl_int tsl_cuda_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int tsl_cuda_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int tsl_cuda_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_cuda_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                        struct tsl_fence **fence);
bool tsl_cuda_can_combine(struct tsl_member *member);
void tsl_cuda_warm(struct tsl_member *member);
cl_int tsl_cuda_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_cuda_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);
cl_int tsl_cuda_fence_status(struct tsl_fence *fence);
cl_int tsl_cuda_fence_wait(struct tsl_fence *fence);
cl_int tsl_cuda_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int tsl_cuda_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void tsl_cuda_fence_free(struct tsl_fence *fence);
bool tsl_cuda_can_wait(struct tsl_member *member, const struct tsl_fence *fence);
cl_int tsl_cuda_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int tsl_cuda_gate_open(struct tsl_fence *gate, cl_int status);
void tsl_cuda_gate_by(struct tsl_fence *gate, struct tsl_fence *opener);
bool tsl_cuda_fence_peek(const struct tsl_fence *fence);
bool tsl_cuda_fence_is_sure(struct tsl_fence *fence);
bool tsl_cuda_fence_ends_well(const struct tsl_fence *fence);
cl_int tsl_cuda_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                      char **log);
cl_int tsl_cuda_compile(struct tsl_member *member, const struct tsl_program_input *input,
                        const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int tsl_cuda_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                     char **log);
cl_int tsl_cuda_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void tsl_cuda_program_free(struct tsl_dprogram *program);
/* Counts the variables that a kernel touches. */
bool tsl_cuda_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int tsl_cuda_program_kernels(struct tsl_dprogram *program, char **names);
cl_int tsl_cuda_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                              struct tsl_kernel_facts *facts);
cl_int tsl_cuda_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                           char **log);
void tsl_cuda_kernel_free(struct tsl_dkernel *kernel);
bool tsl_cuda_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

#endif
