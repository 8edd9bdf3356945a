/*
 * An OpenCL layer (OPENCL_LAYERS=build/tests/access-layer.so) that checks our kernel compiler's findings about vendors'
 * kernels (program/text_access.h): before and after each launch it compares the bytes of all buffers that the kernel
 * should only read. It is between any program and the loader, and so checks the vendor's compiler without Tesela.
 * TESELA_BUILD: the folder of our compiler. A difference is reported on standard error, and ends the process.
 *
 * ACCESS_COUNTS: a file with a struct access_counts, shared by all processes that name it. ACCESS_LIE=1: all kernels
 * count as writing nothing.
 */
#ifndef TSL_TESTS_ACCESS_LAYER_H
#define TSL_TESTS_ACCESS_LAYER_H

#include <stdatomic.h>

struct access_counts {
    atomic_ulong known, unknown;   /* kernels: whose access is known, or not */
    atomic_ulong launches, copies; /* checked; buffers compared in these */
    atomic_ulong shared;           /* buffers left out: the launch may write them through another argument */
    atomic_ulong skipped;          /* launches left out: a command in flight didn't end, or no memory */
    atomic_ulong differences;
};

#endif
