/*
 * Memory and bit sets of the work-group pass. Nothing here fails: in the compiler's process, running out of memory ends
 * the process, which is a failed build and no more.
 */
#ifndef KC_WORKGROUP_MEMORY_H
#define KC_WORKGROUP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed memory for n elements; aborts if there is none. The caller frees. */
static inline void *kc_alloc(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);

    if (!memory)
        abort();
    return memory;
}

/* Makes room for one more behind the n elements of a growing array (the capacity doubles at powers of two). */
static inline void *kc_more(void *array, size_t n, size_t size)
{
    void *more;

    if (n & (n - 1))
        return array;
    more = realloc(array, (n ? 2 * n : 1) * size);
    if (!more)
        abort();
    return more;
}

/* Sets of small numbers: blocks, slots, regions. */
struct kc_bits {
    uint64_t *words;
    size_t n_words;
};

static inline struct kc_bits kc_bits_create(size_t n)
{
    struct kc_bits bits = {.n_words = n / 64 + 1};

    bits.words = kc_alloc(bits.n_words, sizeof(*bits.words));
    return bits;
}

static inline void kc_bits_free(struct kc_bits *bits)
{
    free(bits->words);
    bits->words = NULL;
}

static inline bool kc_bits_get(const struct kc_bits *bits, size_t i)
{
    return bits->words[i / 64] >> i % 64 & 1;
}

static inline void kc_bits_set(struct kc_bits *bits, size_t i)
{
    bits->words[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void kc_bits_unset(struct kc_bits *bits, size_t i)
{
    bits->words[i / 64] &= ~((uint64_t)1 << i % 64);
}

static inline bool kc_bits_meet(const struct kc_bits *a, const struct kc_bits *b)
{
    for (size_t w = 0; w < a->n_words; w++)
        if (a->words[w] & b->words[w])
            return true;
    return false;
}

/* to |= from, without those in except (may be NULL); did that add any? All three have the same size. */
static inline bool kc_bits_merge(struct kc_bits *to, const struct kc_bits *from, const struct kc_bits *except)
{
    bool grew = false;

    for (size_t i = 0; i < to->n_words; i++) {
        uint64_t more = from->words[i] & ~(except ? except->words[i] : 0) & ~to->words[i];

        to->words[i] |= more;
        grew |= more != 0;
    }
    return grew;
}

#endif
