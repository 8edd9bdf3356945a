/*
 * Program binaries: one blob with every member's binary in it.
 */
#include "program/container.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TSLAPROG";

#define VERSION       2u  /* 1: footprints could lack bytes */
#define COUNT_OFFSET  12u /* where the number of entries stands */
#define SUM_OFFSET    16u
#define BODY_OFFSET   24u
#define MEMBER_BINARY 1u
#define PROGRAM_TEXT  2u

void tsl_container_begin(struct tsl_writer *writer)
{
    tsl_write_raw(writer, magic, sizeof(magic));
    tsl_write_u32(writer, VERSION);
    tsl_write_u32(writer, 0);
    tsl_write_u64(writer, 0);
}

static uint32_t count_at(const struct tsl_writer *writer)
{
    struct tsl_reader reader = tsl_reader_of(writer->data + COUNT_OFFSET, 4);

    return tsl_read_u32(&reader);
}

/* Where its length stands. */
static size_t begin_entry(struct tsl_writer *writer, uint32_t kind)
{
    size_t length_offset;

    tsl_write_u32(writer, kind);
    length_offset = writer->size;
    tsl_write_u32(writer, 0);
    return length_offset;
}

static void end_entry(struct tsl_writer *writer, size_t length_offset)
{
    if (writer->size - length_offset - 4 >= UINT32_MAX)
        writer->failed = true;
    tsl_write_u32_at(writer, length_offset, (uint32_t)(writer->size - length_offset - 4));
    if (!writer->failed)
        tsl_write_u32_at(writer, COUNT_OFFSET, count_at(writer) + 1);
}

void tsl_container_add(struct tsl_writer *writer, const struct tsl_path *path, const struct tsl_container_entry *entry)
{
    static const uint8_t no_uuid[CL_UUID_SIZE_KHR];
    size_t length_offset = begin_entry(writer, MEMBER_BINARY);

    tsl_write_text(writer, path->driver->name);
    tsl_write_text(writer, path->driver_version);
    tsl_write_text(writer, path->device_name);
    tsl_write_u8(writer, path->identity.has_uuid);
    tsl_write_raw(writer, path->identity.has_uuid ? path->identity.uuid : no_uuid, CL_UUID_SIZE_KHR);
    tsl_write_u32(writer, entry->type);
    tsl_write_blob(writer, entry->binary, entry->size);
    tsl_write_u8(writer, entry->non_uniform);
    tsl_write_u8(writer, entry->of_text);
    end_entry(writer, length_offset);
}

void tsl_container_add_text(struct tsl_writer *writer, const char *source, const char *options)
{
    size_t length_offset = begin_entry(writer, PROGRAM_TEXT);

    tsl_write_text(writer, source);
    tsl_write_text(writer, options);
    end_entry(writer, length_offset);
}

void tsl_container_end(struct tsl_writer *writer)
{
    uint64_t sum;

    if (writer->failed)
        return;
    sum = tsl_bytes_sum(writer->data + BODY_OFFSET, writer->size - BODY_OFFSET);
    tsl_write_u32_at(writer, SUM_OFFSET, (uint32_t)sum);
    tsl_write_u32_at(writer, SUM_OFFSET + 4, (uint32_t)(sum >> 32));
}

/* Does a text (not 0-terminated) of the container equal a string of ours, which may be NULL? */
static bool read_is(struct tsl_reader *reader, const char *expected)
{
    char *text = tsl_read_text(reader);
    bool is = text && expected ? strcmp(text, expected) == 0 : !text && !expected;

    free(text);
    return is;
}

static bool read_uuid_is(struct tsl_reader *reader, const struct tsl_identity *identity)
{
    bool has = tsl_read_bool(reader);
    const void *uuid = tsl_read_raw(reader, CL_UUID_SIZE_KHR);

    if (!uuid || has != identity->has_uuid)
        return false;
    return !has || memcmp(uuid, identity->uuid, CL_UUID_SIZE_KHR) == 0;
}

/* Reads one entry; true if it is for this path. */
static bool read_entry(struct tsl_reader *reader, const struct tsl_path *path, struct tsl_container_entry *entry)
{
    bool ours = read_is(reader, path->driver->name);

    /* Everything is read whatever the answer, so that damage is found. */
    ours &= read_is(reader, path->driver_version);
    ours &= read_is(reader, path->device_name);
    ours &= read_uuid_is(reader, &path->identity);
    entry->type = tsl_read_u32(reader);
    entry->binary = tsl_read_blob(reader, &entry->size);
    entry->non_uniform = !tsl_read_end(reader) && tsl_read_bool(reader);
    entry->of_text = !tsl_read_end(reader) && tsl_read_bool(reader);
    return ours && tsl_read_end(reader);
}

static bool read_head(struct tsl_reader *reader, uint32_t *count)
{
    const void *start = tsl_read_raw(reader, sizeof(magic));
    uint64_t sum;

    if (!start || memcmp(start, magic, sizeof(magic)) != 0 || tsl_read_u32(reader) != VERSION)
        return false;
    *count = tsl_read_u32(reader);
    sum = tsl_read_u64(reader);
    return !reader->failed && sum == tsl_bytes_sum(reader->data + reader->at, reader->size - reader->at);
}

bool tsl_container_is(const void *data, size_t size)
{
    return size >= sizeof(magic) && memcmp(data, magic, sizeof(magic)) == 0;
}

bool tsl_container_find(const void *data, size_t size, const struct tsl_path *path, struct tsl_container_entry *entry,
                        bool *damaged)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    uint32_t count;
    bool found = false;

    *damaged = !read_head(&reader, &count);
    if (*damaged)
        return false;
    for (uint32_t i = 0; i < count && !reader.failed && !found; i++) {
        uint32_t kind = tsl_read_u32(&reader);
        size_t contents_size;
        const void *contents = tsl_read_blob(&reader, &contents_size);
        struct tsl_reader inner = tsl_reader_of(contents, contents_size);

        found = contents && kind == MEMBER_BINARY && read_entry(&inner, path, entry);
    }
    *damaged = reader.failed;
    return found;
}

static bool read_text(struct tsl_reader *reader, char **source, char **options)
{
    *source = tsl_read_text(reader);
    *options = tsl_read_text(reader);
    if (*source && *options && tsl_read_end(reader))
        return true;
    free(*source);
    free(*options);
    *source = *options = NULL;
    return false;
}

bool tsl_container_text(const void *data, size_t size, char **source, char **options)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    uint32_t count;

    *source = *options = NULL;
    if (!read_head(&reader, &count))
        return false;
    for (uint32_t i = 0; i < count && !reader.failed; i++) {
        uint32_t kind = tsl_read_u32(&reader);
        size_t contents_size;
        const void *contents = tsl_read_blob(&reader, &contents_size);
        struct tsl_reader inner = tsl_reader_of(contents, contents_size);

        if (contents && kind == PROGRAM_TEXT)
            return read_text(&inner, source, options);
    }
    return false;
}
