/* gate.c: gates, and releases, which wait while there are any. */
#ifndef TSL_OPENCL_GATE_H
#define TSL_OPENCL_GATE_H

#include "opencl/internal.h"

enum tsl_opencl_kind {
    TSL_OPENCL_QUEUE,
    TSL_OPENCL_MEM,
    TSL_OPENCL_SVM, /* a struct tsl_opencl_mem */
    TSL_OPENCL_PROGRAM,
    TSL_OPENCL_KERNEL,
};

/* Releases the object now or, if that would be wrong or would block, as soon as it would not: by a thread of ours, or
 * by tsl_opencl_collect(), whichever is first (with the quirk no_late_calls by the latter alone). */
void tsl_opencl_release(struct tsl_opencl_member *member, enum tsl_opencl_kind kind, void *object);
/* Releases what had to wait, if it need not wait any longer. Doesn't block. Not from a vendor's callback. */
void tsl_opencl_collect(struct tsl_opencl_member *member);
/* At open. */
void tsl_opencl_collect_init(struct tsl_opencl_member *member);
/* At close, when nothing is in use any more: releases all, and that thread has done with the member. */
void tsl_opencl_collect_last(struct tsl_opencl_member *member);

#endif
