#include "variant/compare.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double element(const struct tsl_promise *promise, const char *at)
{
    double d;
    float f;

    if (promise->doubles) {
        memcpy(&d, at, sizeof(d));
        return d;
    }
    memcpy(&f, at, sizeof(f));
    return (double)f;
}

static size_t width_of(const struct tsl_promise *promise)
{
    return promise->doubles ? sizeof(double) : sizeof(float);
}

/* The distance of this value's neighbours in its type. */
static double ulp_of(const struct tsl_promise *promise, double value)
{
    double size = fabs(value);

    if (promise->doubles)
        return nextafter(size, INFINITY) - size;
    return (double)nextafterf((float)size, INFINITY) - size;
}

/* The root of the mean square of what is finite: small sums of large terms are wrong by a part of the terms. */
static double typical_size(const struct tsl_promise *promise, const char *at, size_t n)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < n; i++) {
        double value = element(promise, at + i * width_of(promise));

        if (isfinite(value) && isfinite(value * value)) {
            sum += value * value;
            count++;
        }
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

static bool are_close(const struct tsl_promise *promise, double right, double is, double typical)
{
    if (isnan(right) || isnan(is))
        return isnan(right) && isnan(is);
    if (isinf(right) || isinf(is))
        return right == is;
    if (promise->kind == TSL_PROMISE_ULPS)
        return fabs(right - is) <= promise->bound * ulp_of(promise, right);
    return fabs(right - is) <= promise->bound * fmax(fabs(right), typical);
}

static void note_bytes(struct tsl_difference *difference, size_t offset, const char *right, const char *is)
{
    difference->offset = offset;
    snprintf(difference->right, sizeof(difference->right), "0x%02x", (unsigned char)right[offset]);
    snprintf(difference->is, sizeof(difference->is), "0x%02x", (unsigned char)is[offset]);
}

static bool bytes_equal(const char *right, const char *is, size_t begin, size_t end, struct tsl_difference *difference)
{
    if (begin == end || !memcmp(right + begin, is + begin, end - begin))
        return true;
    for (size_t i = begin; i < end; i++)
        if (right[i] != is[i]) {
            note_bytes(difference, i, right, is);
            break;
        }
    return false;
}

bool tsl_promise_kept(const struct tsl_promise *promise, const void *right, const void *is, size_t size,
                      struct tsl_difference *difference)
{
    size_t width = width_of(promise), n = size / width;
    double typical;

    if (promise->kind == TSL_PROMISE_BITWISE)
        return bytes_equal(right, is, 0, size, difference);
    typical = promise->kind == TSL_PROMISE_RELATIVE ? typical_size(promise, right, n) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *a = (const char *)right + i * width, *b = (const char *)is + i * width;

        if (!memcmp(a, b, width) || are_close(promise, element(promise, a), element(promise, b), typical))
            continue;
        difference->offset = i * width;
        snprintf(difference->right, sizeof(difference->right), "%.9g", element(promise, a));
        snprintf(difference->is, sizeof(difference->is), "%.9g", element(promise, b));
        return false;
    }
    return bytes_equal(right, is, n * width, size, difference);
}
