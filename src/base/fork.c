/* Notices a fork in the child. */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool forked;

static void in_child(void)
{
    atomic_store(&forked, true);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void tsl_fork_expect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

bool tsl_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}
