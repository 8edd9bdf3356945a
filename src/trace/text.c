#include "trace/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tsl_text_finish(struct tsl_text *text)
{
    free(text->data);
    *text = (struct tsl_text){.data = NULL};
}

void tsl_text_clear(struct tsl_text *text)
{
    text->size = 0;
    text->failed = false;
}

static bool grow(struct tsl_text *text, size_t size)
{
    size_t capacity = text->capacity ? text->capacity : 512;
    char *data;

    while (capacity < size)
        capacity *= 2;
    data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

static void add(struct tsl_text *text, const char *bytes, size_t size)
{
    if (text->failed || (text->size + size > text->capacity && !grow(text, text->size + size)))
        return;
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
}

void tsl_text_add(struct tsl_text *text, const char *bytes)
{
    add(text, bytes, strlen(bytes));
}

void tsl_text_u64(struct tsl_text *text, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    add(text, digits + at, sizeof digits - at);
}

void tsl_text_us(struct tsl_text *text, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    char decimals[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};

    tsl_text_u64(text, ns / 1000);
    add(text, decimals, sizeof decimals);
}

/* Is this the second or a later byte of a UTF-8 character? */
static bool is_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the UTF-8 character at `at`, or 0 if there is none (RFC 3629: no surrogates, nothing overlong, nothing
 * past U+10FFFF). Reads no further than a byte that doesn't fit, so the closing NUL ends it. */
static size_t utf8_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xc2 || at[0] > 0xf4 || !is_tail(at[1]))
        return 0;
    if (at[0] < 0xe0)
        return 2;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || !is_tail(at[2]))
        return 0;
    if (at[0] < 0xf0)
        return 3;
    if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f) || !is_tail(at[3]))
        return 0;
    return 4;
}

static void add_escape(struct tsl_text *text, unsigned char byte)
{
    char escape[7];

    if (byte == '"' || byte == '\\')
        snprintf(escape, sizeof escape, "\\%c", byte);
    else
        snprintf(escape, sizeof escape, "\\u%04x", byte);
    tsl_text_add(text, escape);
}

/* The number of bytes from `at` that need no escape. */
static size_t plain_length(const unsigned char *at)
{
    size_t length = 0;

    while (at[length] >= 0x20 && at[length] < 0x7f && at[length] != '"' && at[length] != '\\')
        length++;
    return length;
}

void tsl_text_string(struct tsl_text *text, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;

    if (!string) {
        tsl_text_add(text, "null");
        return;
    }
    add(text, "\"", 1);
    while (*at) {
        size_t length = plain_length(at);

        if (length == 0 && *at < 0x80) {
            add_escape(text, *at++);
            continue;
        }
        if (length == 0)
            length = utf8_length(at);
        if (length == 0) {
            tsl_text_add(text, "\\ufffd");
            at++;
            continue;
        }
        add(text, (const char *)at, length);
        at += length;
    }
    add(text, "\"", 1);
}
