/*
 * Growing text, and JSON's encodings. Not thread-safe. When memory lacks, `failed` is set and further text is dropped;
 * the owner checks once, at the end.
 */
#ifndef TSL_TRACE_TEXT_H
#define TSL_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_text {
    char *data; /* without a closing NUL; NULL at first */
    size_t size;
    size_t capacity;
    bool failed;
};

void tsl_text_finish(struct tsl_text *text);

/* Empties the text and clears `failed`; keeps the memory. */
void tsl_text_clear(struct tsl_text *text);

/* Appends the bytes unchanged. */
void tsl_text_add(struct tsl_text *text, const char *bytes);

void tsl_text_u64(struct tsl_text *text, uint64_t value);

/* Nanoseconds as microseconds with three decimals, whatever the locale: 1234567 is "1234.567". */
void tsl_text_us(struct tsl_text *text, uint64_t ns);

/* A JSON string with its quotes; bytes that aren't UTF-8 become U+FFFD. NULL is written as null. */
void tsl_text_string(struct tsl_text *text, const char *string);

#endif
