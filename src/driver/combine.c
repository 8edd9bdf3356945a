/* Combining in the host's memory: loops that the C compiler makes vectors of. */
#include "driver/combine.h"

/* dst may be another range, element for element, which stands in no vector's way. */
#ifdef __clang__
#define IN_VECTORS _Pragma("clang loop vectorize(assume_safety)")
#else
#define IN_VECTORS _Pragma("GCC ivdep")
#endif

/* So many elements are looked at together. What didn't change, the most by far as a rule, is found by loops without
 * stores, and needs none where dst is b. */
#define BLOCK 1024u

#define CHANGED(name, type)                                                       \
    static bool is_same_##name(const type *a, const type *before, size_t n)       \
    {                                                                             \
        type differs = 0;                                                         \
        for (size_t i = 0; i < n; i++)                                            \
            differs |= a[i] ^ before[i];                                          \
        return !differs;                                                          \
    }                                                                             \
    static void changed_##name(const struct tsl_combine_bytes *c)                 \
    {                                                                             \
        const type *a = c->a, *b = c->b, *before = c->before;                     \
        type *dst = c->dst;                                                       \
        for (size_t at = 0, end = c->size / sizeof(type), n; at < end; at += n) { \
            n = end - at < BLOCK ? end - at : BLOCK;                              \
            if (dst == b && is_same_##name(a + at, before + at, n))               \
                continue;                                                         \
            IN_VECTORS                                                            \
            for (size_t i = at; i < at + n; i++) {                                \
                type x = a[i], y = b[i], was = before[i];                         \
                dst[i] = x != was ? x : y;                                        \
            }                                                                     \
        }                                                                         \
    }

CHANGED(8, uint8_t)
CHANGED(16, uint16_t)
CHANGED(32, uint32_t)
CHANGED(64, uint64_t)

#define FOLD(name, type, expression)                                   \
    static void name(const struct tsl_combine_bytes *c)                \
    {                                                                  \
        const type *a = c->a, *b = c->b;                               \
        type *dst = c->dst;                                            \
        IN_VECTORS                                                     \
        for (size_t i = 0, end = c->size / sizeof(type); i < end; i++) \
            dst[i] = expression;                                       \
    }

#define FOLDS(bits)                                              \
    FOLD(add_##bits, uint##bits##_t, a[i] + b[i])                \
    FOLD(and_##bits, uint##bits##_t, a[i] & b[i])                \
    FOLD(or_##bits, uint##bits##_t, a[i] | b[i])                 \
    FOLD(xor_##bits, uint##bits##_t, a[i] ^ b[i])                \
    FOLD(smin_##bits, int##bits##_t, a[i] < b[i] ? a[i] : b[i])  \
    FOLD(smax_##bits, int##bits##_t, a[i] > b[i] ? a[i] : b[i])  \
    FOLD(umin_##bits, uint##bits##_t, a[i] < b[i] ? a[i] : b[i]) \
    FOLD(umax_##bits, uint##bits##_t, a[i] > b[i] ? a[i] : b[i])

FOLDS(32)
FOLDS(64)

typedef void run_fn(const struct tsl_combine_bytes *c);

/* By the logarithm of the width. */
static run_fn *const runs[TSL_N_COMBINE_HOWS][4] = {
    [TSL_COMBINE_CHANGED] = {changed_8, changed_16, changed_32, changed_64},
    [TSL_COMBINE_ADD] = {NULL, NULL, add_32, add_64},
    [TSL_COMBINE_AND] = {NULL, NULL, and_32, and_64},
    [TSL_COMBINE_OR] = {NULL, NULL, or_32, or_64},
    [TSL_COMBINE_XOR] = {NULL, NULL, xor_32, xor_64},
    [TSL_COMBINE_SMIN] = {NULL, NULL, smin_32, smin_64},
    [TSL_COMBINE_SMAX] = {NULL, NULL, smax_32, smax_64},
    [TSL_COMBINE_UMIN] = {NULL, NULL, umin_32, umin_64},
    [TSL_COMBINE_UMAX] = {NULL, NULL, umax_32, umax_64},
};

static run_fn *run_of(enum tsl_combine_how how, unsigned width)
{
    if ((unsigned)how >= TSL_N_COMBINE_HOWS || !width || width > 8 || width & (width - 1))
        return NULL;
    return runs[how][__builtin_ctz(width)];
}

void tsl_combine_run(const struct tsl_combine_bytes *bytes)
{
    run_of(bytes->how, bytes->width)(bytes);
}

bool tsl_combine_is_of(const struct tsl_combine *c, const struct tsl_member *member)
{
    return c->dst.mem->member == member && c->a.mem->member == member && c->b.mem->member == member &&
           (!c->before.mem || c->before.mem->member == member);
}

bool tsl_combine_is_sound(const struct tsl_combine *combine)
{
    const struct tsl_combine_side *sides[] = {&combine->dst, &combine->a, &combine->b, &combine->before};
    bool changed = combine->how == TSL_COMBINE_CHANGED;

    if (!run_of(combine->how, combine->width) || !combine->size || combine->size % combine->width ||
        changed != (combine->before.mem != NULL))
        return false;
    for (unsigned i = 0; i < 3u + changed; i++)
        if (!sides[i]->mem || sides[i]->offset % combine->width || combine->size > sides[i]->mem->size ||
            sides[i]->offset > sides[i]->mem->size - combine->size)
            return false;
    return true;
}
