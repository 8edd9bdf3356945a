/* floats.c: a thread's way of computing floats: how it rounds, what traps, what becomes of subnormal numbers. */
#ifndef TSL_CPU_DEVICE_FLOATS_H
#define TSL_CPU_DEVICE_FLOATS_H

#include <fenv.h>

struct cpu_floats {
#if defined(__x86_64__)
    unsigned control; /* MXCSR: kernels use nothing older */
#else
    fenv_t control;
#endif
};

/* The calling thread's becomes the kernels'; what it was before. */
struct cpu_floats cpu_floats_plain(void);
void cpu_floats_back(const struct cpu_floats *before);

/* As the kernels', but subnormal numbers are zero where the processor can have it so: computing with them takes a
 * hundred times as long. Until cpu_floats_plain(). */
void cpu_floats_flush(void);

#endif
