/*
 * Memory of one size that comes and goes with every command. It is kept in a list instead of freed, so that a steady
 * stream of commands allocates nothing. Thread-safe; the lock is a leaf held for a few instructions.
 */
#ifndef TSL_BASE_POOL_H
#define TSL_BASE_POOL_H

#include <pthread.h>
#include <stddef.h>

struct tsl_pool {
    pthread_spinlock_t lock;
    size_t size; /* bytes of an element, at least a pointer's */
    void *free;
};

void tsl_pool_init(struct tsl_pool *pool, size_t size);
void tsl_pool_finish(struct tsl_pool *pool); /* all elements must have been put back */
void *tsl_pool_take(struct tsl_pool *pool);  /* zeroed; NULL without memory */
void tsl_pool_put(struct tsl_pool *pool, void *element);

#endif
