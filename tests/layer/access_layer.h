/*
 * A layer of OpenCL (OPENCL_LAYERS=build/tests/roles-layer.so) that looks whether it is true what our kernel compiler
 * says of vendors' kernels (program/text_access.h): before and after each launch it compares the bytes of all buffers
 * that the kernel is said to read only. It stands between any program and the loader, so that it is the vendor's
 * compiler that is looked at, without Tesela's core. TESELA_BUILD: where the compiler is. A difference is told on
 * standard error, and ends the process.
 *
 * ROLES_COUNTS: a file with what it counts, a struct roles_counts, for all processes that name it. ROLES_LIE=1: all
 * kernels are said to write nothing.
 */
#ifndef TSL_TESTS_ROLES_LAYER_H
#define TSL_TESTS_ROLES_LAYER_H

#include <stdatomic.h>

struct roles_counts {
    atomic_ulong known, unknown;   /* kernels: whose roles are known, or not */
    atomic_ulong launches, copies; /* that were looked at; buffers that were compared in these */
    atomic_ulong shared;           /* buffers that weren't: the launch may write them by way of another argument */
    atomic_ulong skipped;          /* launches that weren't looked at: something under way didn't end, or no memory */
    atomic_ulong differences;
};

#endif
