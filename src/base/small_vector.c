/* The growth of small vectors. */
#include "base/small_vector.h"

#include <string.h>

bool tsl_small_grow(unsigned *capacity, void **heap, const void *in_place, unsigned n, unsigned n_in_place, size_t size)
{
    if (n < (*capacity ? *capacity : n_in_place))
        return true;
    unsigned wanted = *capacity ? 2 * *capacity : 4 * n_in_place;
    void *grown = realloc(*heap, wanted * size);
    if (!grown)
        return false;
    if (!*capacity)
        memcpy(grown, in_place, n * size);
    *heap = grown;
    *capacity = wanted;
    return true;
}
