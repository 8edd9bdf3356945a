/* Frames and HELLO: the part of the protocol that heads read, too. */
#include "remote/protocol.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(uint8_t *bytes, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

void tsl_remote_put_frame(uint8_t bytes[TSL_REMOTE_FRAME_SIZE], const struct tsl_remote_frame *frame)
{
    put(bytes, frame->kind);
    put(bytes + 4, frame->peer);
    put(bytes + 8, frame->slot);
    put(bytes + 12, frame->size);
}

static bool is_sound(const struct tsl_remote_frame *frame)
{
    switch (frame->kind) {
    case TSL_REMOTE_HELLO:
    case TSL_REMOTE_LOST:
    case TSL_REMOTE_BELL:
        return frame->size <= 4096;
    case TSL_REMOTE_MESSAGES:
        return frame->size <= TSL_REMOTE_MAX_FRAME;
    case TSL_REMOTE_PAYLOAD:
        return frame->size > 0 && frame->size <= TSL_REMOTE_PIECE && frame->slot < TSL_REMOTE_N_SLOTS;
    case TSL_REMOTE_PEER:
        return frame->size > 0 && frame->size <= TSL_REMOTE_PIECE + 4096;
    case TSL_REMOTE_SLOT:
        return frame->size == 0 && frame->slot < TSL_REMOTE_N_SLOTS;
    case TSL_REMOTE_BYE:
    case TSL_REMOTE_QUIT:
    case TSL_REMOTE_BEAT:
        return frame->size == 0;
    }
    return false;
}

bool tsl_remote_get_frame(const uint8_t bytes[TSL_REMOTE_FRAME_SIZE], struct tsl_remote_frame *frame)
{
    struct tsl_reader reader = tsl_reader_of(bytes, TSL_REMOTE_FRAME_SIZE);

    frame->kind = (enum tsl_remote_frame_kind)tsl_read_u32_max(&reader, TSL_REMOTE_LAST_FRAME);
    frame->peer = tsl_read_u32(&reader);
    frame->slot = tsl_read_u32(&reader);
    frame->size = tsl_read_u32(&reader);
    return !reader.failed && is_sound(frame);
}

void tsl_remote_shrink(uint8_t **data, size_t *capacity, size_t used)
{
    uint8_t *less;

    if (*capacity <= TSL_REMOTE_KEPT || used > TSL_REMOTE_KEPT / 4)
        return;
    less = realloc(*data, TSL_REMOTE_KEPT / 4);
    if (!less)
        return;
    *data = less;
    *capacity = TSL_REMOTE_KEPT / 4;
}

void tsl_remote_reuse(struct tsl_writer *writer)
{
    writer->size = 0;
    tsl_remote_shrink(&writer->data, &writer->capacity, 0);
}

void tsl_remote_put_hello(struct tsl_writer *writer, const struct tsl_remote_hello *hello)
{
    tsl_write_u32(writer, TSL_REMOTE_MAGIC);
    tsl_write_u32(writer, hello->version);
    tsl_write_text(writer, hello->name);
    tsl_write_text(writer, hello->host);
    tsl_write_u64(writer, hello->host_id);
    tsl_write_u32(writer, hello->n_nodes);
}

bool tsl_remote_get_hello(const void *data, size_t size, struct tsl_remote_hello *hello)
{
    struct tsl_reader reader = tsl_reader_of(data, size);

    memset(hello, 0, sizeof(*hello));
    if (tsl_read_u32(&reader) != TSL_REMOTE_MAGIC)
        return false;
    hello->version = tsl_read_u32(&reader);
    if (reader.failed || hello->version != TSL_REMOTE_VERSION)
        return !reader.failed;
    hello->name = tsl_read_text(&reader);
    hello->host = tsl_read_text(&reader);
    hello->host_id = tsl_read_u64(&reader);
    hello->n_nodes = tsl_read_u32_max(&reader, TSL_REMOTE_MAX_NODES);
    if (tsl_read_end(&reader) && hello->name && hello->host)
        return true;
    tsl_remote_hello_finish(hello);
    return false;
}

void tsl_remote_hello_finish(struct tsl_remote_hello *hello)
{
    free(hello->name);
    free(hello->host);
    memset(hello, 0, sizeof(*hello));
}

#define SILENCE_SECONDS 20u

/* What isn't understood was told by the tool. */
unsigned tsl_remote_silence(void)
{
    const char *text = secure_getenv("TESELA_NODES_SILENCE");
    unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;

    return seconds >= 2 && seconds <= 3600 ? (unsigned)seconds : SILENCE_SECONDS;
}

/* A kernel makes up a number of its own when it starts. Without it the machine's name must do. */
uint64_t tsl_remote_host_id(void)
{
    char text[256] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof(text)) : -1;
    uint64_t id;

    if (file >= 0)
        close(file);
    if (n <= 0) {
        gethostname(text, sizeof(text));
        n = (ssize_t)strnlen(text, sizeof(text));
    }
    id = tsl_bytes_sum(text, (size_t)n);
    return id ? id : 1;
}
