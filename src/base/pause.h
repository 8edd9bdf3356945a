/* For loops that wait for another thread without sleep. */
#ifndef TSL_BASE_PAUSE_H
#define TSL_BASE_PAUSE_H

/* Leaves the core to its other thread for a moment, some 10 to 100 ns. */
static inline void tsl_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Some 0.5 µs: to look more often would slow the core's other thread down. */
static inline void tsl_pause_long(void)
{
    for (unsigned i = 0; i < 12; i++)
        tsl_pause();
}

#endif
