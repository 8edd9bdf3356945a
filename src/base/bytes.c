/*
 * Little-endian encoding, and decoding with bounds checks.
 */
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

/* The length that stands for "no text". */
#define NO_TEXT UINT32_MAX

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* Reserves space for more bytes; false if out of memory. */
static bool reserve(struct tsl_writer *writer, size_t more)
{
    size_t capacity = writer->capacity ? writer->capacity : 64;
    uint8_t *data;

    if (writer->failed || more > SIZE_MAX / 2 - writer->size) {
        writer->failed = true;
        return false;
    }
    while (capacity < writer->size + more)
        capacity *= 2;
    if (capacity == writer->capacity)
        return true;
    data = realloc(writer->data, capacity);
    if (!data) {
        writer->failed = true;
        return false;
    }
    writer->data = data;
    writer->capacity = capacity;
    return true;
}

void tsl_write_raw(struct tsl_writer *writer, const void *data, size_t size)
{
    if (size == 0 || !reserve(writer, size))
        return;
    memcpy(writer->data + writer->size, data, size);
    writer->size += size;
}

void tsl_write_u8(struct tsl_writer *writer, uint8_t value)
{
    tsl_write_raw(writer, &value, 1);
}

static void put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

void tsl_write_u32(struct tsl_writer *writer, uint32_t value)
{
    uint8_t bytes[4];

    put_u32(bytes, value);
    tsl_write_raw(writer, bytes, sizeof(bytes));
}

void tsl_write_u64(struct tsl_writer *writer, uint64_t value)
{
    tsl_write_u32(writer, (uint32_t)value);
    tsl_write_u32(writer, (uint32_t)(value >> 32));
}

void tsl_write_blob(struct tsl_writer *writer, const void *data, size_t size)
{
    if (size >= NO_TEXT) {
        writer->failed = true;
        return;
    }
    tsl_write_u32(writer, (uint32_t)size);
    tsl_write_raw(writer, data, size);
}

void tsl_write_text(struct tsl_writer *writer, const char *text)
{
    if (text)
        tsl_write_blob(writer, text, strlen(text));
    else
        tsl_write_u32(writer, NO_TEXT);
}

void tsl_write_u32_at(struct tsl_writer *writer, size_t offset, uint32_t value)
{
    if (!writer->failed)
        put_u32(writer->data + offset, value);
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

const void *tsl_read_raw(struct tsl_reader *reader, size_t size)
{
    const uint8_t *data;

    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return NULL;
    }
    if (size == 0)
        return ""; /* reader->data may be NULL */
    data = reader->data + reader->at;
    reader->at += size;
    return data;
}

uint8_t tsl_read_u8(struct tsl_reader *reader)
{
    const uint8_t *bytes = tsl_read_raw(reader, 1);

    return bytes ? bytes[0] : 0;
}

uint32_t tsl_read_u32(struct tsl_reader *reader)
{
    const uint8_t *bytes = tsl_read_raw(reader, 4);

    if (!bytes)
        return 0;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint64_t tsl_read_u64(struct tsl_reader *reader)
{
    uint64_t low = tsl_read_u32(reader);

    return low | (uint64_t)tsl_read_u32(reader) << 32;
}

uint32_t tsl_read_u32_max(struct tsl_reader *reader, uint32_t max)
{
    uint32_t value = tsl_read_u32(reader);

    if (value > max)
        reader->failed = true;
    return reader->failed ? 0 : value;
}

bool tsl_read_bool(struct tsl_reader *reader)
{
    uint8_t value = tsl_read_u8(reader);

    if (value > 1)
        reader->failed = true;
    return !reader->failed && value;
}

uint32_t tsl_read_count(struct tsl_reader *reader, size_t item_size)
{
    uint32_t count = tsl_read_u32(reader);

    if (count > (reader->size - reader->at) / item_size)
        reader->failed = true;
    return reader->failed ? 0 : count;
}

const void *tsl_read_blob(struct tsl_reader *reader, size_t *size)
{
    const void *data;

    *size = tsl_read_u32(reader);
    data = tsl_read_raw(reader, *size);
    if (!data)
        *size = 0;
    return data;
}

char *tsl_read_text(struct tsl_reader *reader)
{
    uint32_t size = tsl_read_u32(reader);
    const char *data;
    char *text;

    if (size == NO_TEXT)
        return NULL;
    data = tsl_read_raw(reader, size);
    if (!data)
        return NULL;
    text = memchr(data, 0, size) ? NULL : malloc((size_t)size + 1);
    if (!text) {
        reader->failed = true;
        return NULL;
    }
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

bool tsl_read_end(const struct tsl_reader *reader)
{
    return !reader->failed && reader->at == reader->size;
}

uint64_t tsl_bytes_sum(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}
