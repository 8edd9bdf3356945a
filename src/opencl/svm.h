/* svm.c: shared virtual memory. */
#ifndef TSL_OPENCL_SVM_H
#define TSL_OPENCL_SVM_H

#include "opencl/program.h"
#include "opencl/submit.h"

/* Fills the caps about shared virtual memory. The caller entered the device. */
void tsl_opencl_svm_caps(const struct tsl_opencl_device *device, struct tsl_member_caps *caps);
/* Frees the memory. By tsl_opencl_release, as soon as nothing forbids it. */
void tsl_opencl_svm_free(struct tsl_opencl_mem *mem);
/* Does the launch name coarse-grained memory of the member's? Then that is unmapped before it, and mapped again behind
 * it. Between tsl_opencl_begin and end. */
bool tsl_opencl_svm_wants_turns(const struct tsl_opencl_member *m, const struct tsl_bound_args *args);
cl_int tsl_opencl_svm_unmap_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args);
cl_int tsl_opencl_svm_map_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args);
/* Before the kernel's arguments are set: tells the kernel of the memory to which no argument leads, and takes back what
 * it was told before. Under the kernel's lock. */
cl_int tsl_opencl_svm_prepare(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k,
                              const struct tsl_bound_args *args);

#endif
