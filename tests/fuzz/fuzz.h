/*
 * What fuzzers share. Each is one function over bytes, in libFuzzer's form: with the preset "fuzz" it is linked with
 * libFuzzer, which looks for inputs that reach new code; everywhere else with standalone.c, which feeds it the kept
 * corpus and random bytes.
 */
#ifndef TSL_TESTS_FUZZ_H
#define TSL_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, eaten from the front; when it is at its end, zeros come. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

static inline bool fuzz_more(const struct fuzz_input *in)
{
    return in->size > 0;
}

static inline unsigned fuzz_byte(struct fuzz_input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static inline unsigned fuzz_pick(struct fuzz_input *in, unsigned n)
{
    return fuzz_byte(in) % n;
}

#endif
