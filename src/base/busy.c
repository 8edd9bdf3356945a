/* Threads that run host tasks. */
#include "base/busy.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdint.h>

static atomic_uint n_busy;
static _Atomic uint64_t begun_ns; /* the last one */

void tsl_busy_begin(void)
{
    atomic_store_explicit(&begun_ns, tsl_clock_ns(), memory_order_relaxed);
    atomic_fetch_add_explicit(&n_busy, 1, memory_order_relaxed);
}

void tsl_busy_end(void)
{
    atomic_fetch_sub_explicit(&n_busy, 1, memory_order_relaxed);
}

unsigned tsl_busy_threads(void)
{
    unsigned n = atomic_load_explicit(&n_busy, memory_order_relaxed);

    if (n && tsl_clock_ns() - atomic_load_explicit(&begun_ns, memory_order_relaxed) >= TSL_BUSY_NS)
        return 0;
    return n;
}
