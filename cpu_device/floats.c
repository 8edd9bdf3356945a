/* How floats are computed: each thread of an application may have a way of its own, kernels have one. */
#include "cpu_device/floats.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

/* Rounded to nearest, no traps, subnormal numbers kept, nothing raised yet: as threads begin. */
#define PLAIN 0x1f80u
/* Results and operands that are subnormal are zero. */
#define FLUSH 0x8040u

struct cpu_floats cpu_floats_plain(void)
{
    struct cpu_floats before = {_mm_getcsr()};

    _mm_setcsr(PLAIN);
    return before;
}

void cpu_floats_back(const struct cpu_floats *before)
{
    _mm_setcsr(before->control);
}

void cpu_floats_flush(void)
{
    _mm_setcsr(PLAIN | FLUSH);
}
#else
struct cpu_floats cpu_floats_plain(void)
{
    struct cpu_floats before;

    fegetenv(&before.control);
    fesetenv(FE_DFL_ENV);
    return before;
}

void cpu_floats_back(const struct cpu_floats *before)
{
    fesetenv(&before->control);
}

void cpu_floats_flush(void)
{
}
#endif
