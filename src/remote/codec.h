/* What messages are made of. One function for each part of a message does both directions, so that what is written and
 * what is read can't differ. */
#ifndef TSL_REMOTE_CODEC_H
#define TSL_REMOTE_CODEC_H

#include "base/bytes.h"

#include <CL/cl.h>
#include <stdlib.h>

/* One of the two. */
struct codec {
    struct tsl_writer *writer;
    struct tsl_reader *reader;
};

static inline void code_u8(const struct codec *c, uint8_t *value)
{
    if (c->writer)
        tsl_write_u8(c->writer, *value);
    else
        *value = tsl_read_u8(c->reader);
}

static inline void code_bool(const struct codec *c, bool *value)
{
    if (c->writer)
        tsl_write_u8(c->writer, *value);
    else
        *value = tsl_read_bool(c->reader);
}

static inline void code_u32(const struct codec *c, uint32_t *value)
{
    if (c->writer)
        tsl_write_u32(c->writer, *value);
    else
        *value = tsl_read_u32(c->reader);
}

static inline void code_status(const struct codec *c, cl_int *value)
{
    uint32_t bits = (uint32_t)*value;

    code_u32(c, &bits);
    *value = (cl_int)bits;
}

static inline void code_u64(const struct codec *c, uint64_t *value)
{
    if (c->writer)
        tsl_write_u64(c->writer, *value);
    else
        *value = tsl_read_u64(c->reader);
}

static inline void code_size(const struct codec *c, size_t *value)
{
    uint64_t wide = *value;

    code_u64(c, &wide);
    *value = (size_t)wide;
}

/* Read: borrowed. */
static inline void code_blob(const struct codec *c, const void **data, size_t *size)
{
    if (c->writer)
        tsl_write_blob(c->writer, *data, *size);
    else
        *data = tsl_read_blob(c->reader, size);
}

/* Read: heap. */
static inline void code_text(const struct codec *c, char **text)
{
    if (c->writer)
        tsl_write_text(c->writer, *text);
    else
        *text = tsl_read_text(c->reader);
}

static inline void fail_unless(const struct codec *c, bool sound)
{
    if (c->reader && !sound)
        c->reader->failed = true;
}

/* The number of items of at least item_size bytes; read: room for them is made, and *n is 0 after a failure. */
static inline void code_list(const struct codec *c, uint32_t *n, void **items, size_t wire_size, size_t size,
                             uint32_t max)
{
    if (c->writer) {
        tsl_write_u32(c->writer, *n);
        return;
    }
    *n = tsl_read_count(c->reader, wire_size);
    *items = *n && *n <= max ? calloc(*n, size) : NULL;
    if (*n && !*items) {
        c->reader->failed = true;
        *n = 0;
    }
}

#endif
