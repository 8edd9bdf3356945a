/*
 * What a variant promises of its results, and whether it keeps that.
 */
#ifndef TSL_VARIANT_COMPARE_H
#define TSL_VARIANT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum tsl_promise_kind {
    TSL_PROMISE_BITWISE,
    TSL_PROMISE_ULPS,     /* each element within so many units in the last place */
    TSL_PROMISE_RELATIVE, /* each within that part of its size, or of the results' typical size where it is smaller */
};

struct tsl_promise {
    enum tsl_promise_kind kind;
    double bound;
    bool doubles; /* elements are double, not float; BITWISE: it doesn't matter */
};

/* The first element that breaks the promise. */
struct tsl_difference {
    size_t offset;          /* bytes */
    char right[32], is[32]; /* both values as text */
};

/* Two results of `size` bytes. False: they differ by more. Bytes behind the last whole element must be equal. Values
 * that aren't finite must be of one kind. */
bool tsl_promise_kept(const struct tsl_promise *promise, const void *right, const void *is, size_t size,
                      struct tsl_difference *difference);

#endif
