/*
 * Small vectors: growing arrays that hold a few elements in place and more on the heap.
 *
 * A vector of zeros is empty. Elements are moved when the vector grows, so pointers to them don't last.
 */
#ifndef TSL_BASE_SMALL_VECTOR_H
#define TSL_BASE_SMALL_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* T: the elements' type. N: how many are held in place. */
#define TSL_SMALL_VECTOR(T, N)                           \
    struct {                                             \
        unsigned n, capacity; /* capacity 0: in place */ \
        T *heap;                                         \
        T in_place[N];                                   \
    }

/* A pointer to element i. */
#define TSL_SMALL_AT(vector, i) ((vector)->capacity ? &(vector)->heap[i] : &(vector)->in_place[i])

/* Makes room for one element more; false without memory, and nothing has changed then. */
bool tsl_small_grow(unsigned *capacity, void **heap, const void *in_place, unsigned n, unsigned n_in_place,
                    size_t size);

#define TSL_SMALL_RESERVE(vector)                                                                  \
    tsl_small_grow(&(vector)->capacity, (void **)&(vector)->heap, (vector)->in_place, (vector)->n, \
                   sizeof((vector)->in_place) / sizeof((vector)->in_place[0]), sizeof((vector)->in_place[0]))

/* Appends the value; false without memory. */
#define TSL_SMALL_PUSH(vector, value) \
    (TSL_SMALL_RESERVE(vector) ? (*TSL_SMALL_AT(vector, (vector)->n) = (value), (vector)->n++, true) : false)

/* Frees what is on the heap; the vector is empty then. */
#define TSL_SMALL_FINISH(vector) (free((vector)->heap), (vector)->heap = NULL, (vector)->capacity = 0, (vector)->n = 0)

#endif
