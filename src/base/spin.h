/*
 * A lock for a few instructions with hardly any contention: half the price of a mutex where no thread waits. A waiting
 * thread yields the processor. While it is held the heap may be used, but no other lock taken.
 */
#ifndef TSL_BASE_SPIN_H
#define TSL_BASE_SPIN_H

#include "base/lock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct TSL_CAPABILITY tsl_spin { /* all zero is free */
    atomic_bool taken;
};

static inline void tsl_spin_take(struct tsl_spin *spin) TSL_ACQUIRES(*spin) TSL_UNCHECKED
{
    /* Acquire: what the previous holder did under the lock is visible here. */
    while (atomic_exchange_explicit(&spin->taken, true, memory_order_acquire))
        sched_yield();
}

static inline void tsl_spin_give(struct tsl_spin *spin) TSL_RELEASES(*spin) TSL_UNCHECKED
{
    atomic_store_explicit(&spin->taken, false, memory_order_release);
}

#endif
