/*
 * Bytes that leave the process: little-endian encoding, and decoding that trusts nothing. Used by program binaries
 * (program/container.h) and by the compiler's wire format (compile_client/wire.h).
 */
#ifndef TSL_BASE_BYTES_H
#define TSL_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Writing: a buffer on the heap that grows. Start with zeroes; data is the caller's to free. ------------------ */

struct tsl_writer {
    uint8_t *data;
    size_t size, capacity;
    size_t message; /* where the last message begins (compile_client/wire.h) */
    bool failed;    /* out of memory: nothing more is written; check once at the end */
};

void tsl_write_u8(struct tsl_writer *writer, uint8_t value);
void tsl_write_u32(struct tsl_writer *writer, uint32_t value);
void tsl_write_u64(struct tsl_writer *writer, uint64_t value);
void tsl_write_raw(struct tsl_writer *writer, const void *data, size_t size);
/* A length in four bytes, then as many bytes. Blobs over 4 GiB - 2 fail. */
void tsl_write_blob(struct tsl_writer *writer, const void *data, size_t size);
/* The same for text; NULL differs from "". */
void tsl_write_text(struct tsl_writer *writer, const char *text);
/* Overwrites four bytes that are written already (a length known only later). */
void tsl_write_u32_at(struct tsl_writer *writer, size_t offset, uint32_t value);

/* ---- Reading: never past the end. After the first failure every read gives 0, NULL or nothing. ------------------- */

struct tsl_reader {
    const uint8_t *data; /* borrowed; what is read from it may point into it */
    size_t size, at;
    bool failed; /* the input ended early, or a value was out of its range; check once at the end */
};

static inline struct tsl_reader tsl_reader_of(const void *data, size_t size)
{
    struct tsl_reader reader = {(const uint8_t *)data, size, 0, false};

    return reader;
}

uint8_t tsl_read_u8(struct tsl_reader *reader);
uint32_t tsl_read_u32(struct tsl_reader *reader);
uint64_t tsl_read_u64(struct tsl_reader *reader);
/* 0 or 1; anything else fails. */
bool tsl_read_bool(struct tsl_reader *reader);
/* A value up to max; more fails. */
uint32_t tsl_read_u32_max(struct tsl_reader *reader, uint32_t max);
/* The number of items that follow, each of at least item_size > 0 bytes. Fails if the rest of the input can't hold so
 * many, so that no caller allocates for a false length. */
uint32_t tsl_read_count(struct tsl_reader *reader, size_t item_size);
/* size bytes, or NULL. */
const void *tsl_read_raw(struct tsl_reader *reader, size_t size);
/* A blob; *size is 0 after a failure. */
const void *tsl_read_blob(struct tsl_reader *reader, size_t *size);
/* Text as a string on the heap; NULL if none was written, or the reader failed. A NUL within it fails. */
char *tsl_read_text(struct tsl_reader *reader);
/* True if nothing failed and nothing is left. */
bool tsl_read_end(const struct tsl_reader *reader);

/* A sum against accidents (FNV-1a), no protection against forgery. */
uint64_t tsl_bytes_sum(const void *data, size_t size);

#endif
