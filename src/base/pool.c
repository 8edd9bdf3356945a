/* Lists of elements of one size. */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

struct element {
    struct element *next;
};

void tsl_pool_init(struct tsl_pool *pool, size_t size)
{
    pthread_spin_init(&pool->lock, PTHREAD_PROCESS_PRIVATE);
    pool->size = size;
    pool->free = NULL;
}

void tsl_pool_finish(struct tsl_pool *pool)
{
    struct element *element;
    while ((element = pool->free)) {
        pool->free = element->next;
        free(element);
    }
    pthread_spin_destroy(&pool->lock);
}

void *tsl_pool_take(struct tsl_pool *pool)
{
    pthread_spin_lock(&pool->lock);
    struct element *element = pool->free;
    if (element)
        pool->free = element->next;
    pthread_spin_unlock(&pool->lock);
    return element ? memset(element, 0, pool->size) : calloc(1, pool->size);
}

void tsl_pool_put(struct tsl_pool *pool, void *memory)
{
    struct element *element = memory;
    pthread_spin_lock(&pool->lock);
    element->next = pool->free;
    pool->free = element;
    pthread_spin_unlock(&pool->lock);
}
