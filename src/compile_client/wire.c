/*
 * The compiler's wire: framing and messages. Facts are in wire_facts.c.
 */
#include "compile_client/wire.h"

#include <stdlib.h>

/* The offset of the body's length in the header. */
#define SIZE_OFFSET 12

/* The least bytes of a header file's text, of an input, of a kernel and of a file in a message. */
#define MIN_TEXT_SIZE   8
#define MIN_INPUT_SIZE  4
#define MIN_KERNEL_SIZE 80
#define MIN_FILE_SIZE   20
#define KNOWN_SIZE      32

/* ---- Framing ----------------------------------------------------------------------------------------------------- */

static uint32_t limit_of(uint32_t type)
{
    switch (type) {
    case TSL_WIRE_HELLO:
        return TSL_WIRE_MAX_HELLO;
    case TSL_WIRE_BUILD:
        return TSL_WIRE_MAX_BUILD;
    case TSL_WIRE_BUILT:
        return TSL_WIRE_MAX_BUILT;
    case TSL_WIRE_ERROR:
        return TSL_WIRE_MAX_ERROR;
    default:
        return 0;
    }
}

static uint32_t version_of(uint32_t type)
{
    return type == TSL_WIRE_HELLO ? TSL_WIRE_HELLO_VERSION : TSL_WIRE_VERSION;
}

enum tsl_wire_frame tsl_wire_look(const void *data, size_t size, struct tsl_wire_header *header)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    uint32_t magic, type;

    *header = (struct tsl_wire_header){.body_size = 0};
    magic = tsl_read_u32(&reader);
    if (!reader.failed && magic != TSL_WIRE_MAGIC)
        return TSL_WIRE_BROKEN;
    header->version = tsl_read_u32(&reader);
    type = tsl_read_u32(&reader);
    header->body_size = tsl_read_u32(&reader);
    header->request = tsl_read_u64(&reader);
    if (reader.failed) {
        header->body_size = 0;
        return TSL_WIRE_PARTIAL;
    }
    /* No message has an empty body. */
    if (header->version != version_of(type) || header->body_size == 0 || header->body_size > limit_of(type))
        return TSL_WIRE_BROKEN;
    header->type = (enum tsl_wire_type)type;
    return size - reader.at < header->body_size ? TSL_WIRE_PARTIAL : TSL_WIRE_WHOLE;
}

void tsl_wire_begin(struct tsl_writer *writer, enum tsl_wire_type type, uint64_t request)
{
    writer->message = writer->size;
    tsl_write_u32(writer, TSL_WIRE_MAGIC);
    tsl_write_u32(writer, version_of(type));
    tsl_write_u32(writer, type);
    tsl_write_u32(writer, 0);
    tsl_write_u64(writer, request);
}

void tsl_wire_end(struct tsl_writer *writer)
{
    size_t body_size = writer->size - writer->message - TSL_WIRE_HEADER_SIZE;
    struct tsl_reader type;

    if (writer->failed)
        return;
    type = tsl_reader_of(writer->data + writer->message + 8, 4);
    if (body_size > limit_of(tsl_read_u32(&type)))
        writer->failed = true;
    tsl_write_u32_at(writer, writer->message + SIZE_OFFSET, (uint32_t)body_size);
}

/* ---- HELLO ------------------------------------------------------------------------------------------------------- */

void tsl_wire_encode_hello(struct tsl_writer *writer, const struct tsl_wire_hello *hello)
{
    tsl_wire_begin(writer, TSL_WIRE_HELLO, 0);
    tsl_write_u32(writer, hello->lowest);
    tsl_write_u32(writer, hello->highest);
    tsl_write_text(writer, hello->name);
    tsl_wire_end(writer);
}

bool tsl_wire_decode_hello(const void *body, size_t size, struct tsl_wire_hello *hello)
{
    struct tsl_reader reader = tsl_reader_of(body, size);

    hello->lowest = tsl_read_u32(&reader);
    hello->highest = tsl_read_u32(&reader);
    hello->name = tsl_read_text(&reader);
    if (tsl_read_end(&reader) && hello->name && hello->lowest > 0 && hello->lowest <= hello->highest)
        return true;
    tsl_wire_hello_finish(hello);
    return false;
}

void tsl_wire_hello_finish(struct tsl_wire_hello *hello)
{
    free(hello->name);
    hello->name = NULL;
}

/* ---- BUILD ------------------------------------------------------------------------------------------------------- */

static void put_known(struct tsl_writer *writer, const struct tsl_wire_known *known)
{
    tsl_write_u32(writer, known->arg);
    tsl_write_u32(writer, known->sampler);
    tsl_write_u32(writer, known->channel_order);
    tsl_write_u32(writer, known->channel_type);
    tsl_write_u32(writer, known->element_size);
    tsl_write_u32(writer, known->n_channels);
    tsl_write_u32(writer, known->kind);
    tsl_write_u32(writer, known->alpha);
}

void tsl_wire_encode_build(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_build *build)
{
    tsl_wire_begin(writer, TSL_WIRE_BUILD, request);
    tsl_write_u32(writer, build->action);
    tsl_write_u32(writer, build->target);
    tsl_write_text(writer, build->processor);
    tsl_write_text(writer, build->options);
    tsl_write_text(writer, build->folder);
    tsl_write_text(writer, build->source);
    tsl_write_text(writer, build->translator);
    tsl_write_blob(writer, build->il, build->il_size);
    tsl_write_text(writer, build->kernel);
    for (unsigned d = 0; d < 3; d++)
        tsl_write_u64(writer, build->local_size[d]);
    tsl_write_u32(writer, build->n_known);
    for (uint32_t i = 0; i < build->n_known; i++)
        put_known(writer, &build->known[i]);
    tsl_write_u32(writer, build->n_headers);
    for (uint32_t i = 0; i < build->n_headers; i++) {
        tsl_write_text(writer, build->headers[i].name);
        tsl_write_text(writer, build->headers[i].text);
    }
    tsl_write_u32(writer, build->n_inputs);
    for (uint32_t i = 0; i < build->n_inputs; i++)
        tsl_write_blob(writer, build->inputs[i].data, build->inputs[i].size);
    tsl_wire_end(writer);
}

static void get_known(struct tsl_reader *reader, struct tsl_wire_build *build)
{
    uint32_t n = tsl_read_count(reader, KNOWN_SIZE);

    build->known = n && n <= TSL_WIRE_MAX_KNOWN ? calloc(n, sizeof(build->known[0])) : NULL;
    if (n && !build->known)
        reader->failed = true;
    for (; build->n_known < n && !reader->failed; build->n_known++)
        build->known[build->n_known] = (struct tsl_wire_known){.arg = tsl_read_u32(reader),
                                                               .sampler = tsl_read_u32(reader),
                                                               .channel_order = tsl_read_u32(reader),
                                                               .channel_type = tsl_read_u32(reader),
                                                               .element_size = tsl_read_u32(reader),
                                                               .n_channels = tsl_read_u32(reader),
                                                               .kind = tsl_read_u32(reader),
                                                               .alpha = tsl_read_u32(reader)};
}

static void get_headers(struct tsl_reader *reader, struct tsl_wire_build *build)
{
    uint32_t n = tsl_read_count(reader, MIN_TEXT_SIZE);

    build->headers = n && n <= TSL_WIRE_MAX_HEADERS ? calloc(n, sizeof(build->headers[0])) : NULL;
    if (n && !build->headers)
        reader->failed = true;
    for (; build->n_headers < n && !reader->failed; build->n_headers++) {
        struct tsl_wire_text *header = &build->headers[build->n_headers];

        header->name = tsl_read_text(reader);
        header->text = tsl_read_text(reader);
        if (!header->name || !header->text)
            reader->failed = true;
    }
}

static void get_inputs(struct tsl_reader *reader, struct tsl_wire_build *build)
{
    uint32_t n = tsl_read_count(reader, MIN_INPUT_SIZE);

    build->inputs = n && n <= TSL_WIRE_MAX_INPUTS ? calloc(n, sizeof(build->inputs[0])) : NULL;
    if (n && !build->inputs)
        reader->failed = true;
    for (; build->n_inputs < n && !reader->failed; build->n_inputs++)
        build->inputs[build->n_inputs].data = tsl_read_blob(reader, &build->inputs[build->n_inputs].size);
}

bool tsl_wire_decode_build(const void *body, size_t size, struct tsl_wire_build *build)
{
    struct tsl_reader reader = tsl_reader_of(body, size);

    *build = (struct tsl_wire_build){.action = tsl_read_u32_max(&reader, TSL_WIRE_LAST_ACTION)};
    build->target = tsl_read_u32_max(&reader, TSL_WIRE_LAST_TARGET);
    build->processor = tsl_read_text(&reader);
    build->options = tsl_read_text(&reader);
    build->folder = tsl_read_text(&reader);
    build->source = tsl_read_text(&reader);
    build->translator = tsl_read_text(&reader);
    build->il = tsl_read_blob(&reader, &build->il_size);
    build->kernel = tsl_read_text(&reader);
    for (unsigned d = 0; d < 3; d++)
        build->local_size[d] = tsl_read_u64(&reader);
    get_known(&reader, build);
    get_headers(&reader, build);
    get_inputs(&reader, build);
    if (tsl_read_end(&reader) && build->options && build->source)
        return true;
    tsl_wire_build_finish(build);
    return false;
}

void tsl_wire_build_finish(struct tsl_wire_build *build)
{
    for (uint32_t i = 0; i < build->n_headers; i++) {
        free(build->headers[i].name);
        free(build->headers[i].text);
    }
    free(build->headers);
    free(build->inputs);
    free(build->known);
    free(build->processor);
    free(build->options);
    free(build->folder);
    free(build->source);
    free(build->translator);
    free(build->kernel);
    *build = (struct tsl_wire_build){.n_headers = 0};
}

/* ---- BUILT ------------------------------------------------------------------------------------------------------- */

void tsl_wire_encode_built(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_built *built)
{
    tsl_wire_begin(writer, TSL_WIRE_BUILT, request);
    tsl_write_u32(writer, (uint32_t)built->result);
    tsl_write_text(writer, built->log ? built->log : "");
    tsl_write_blob(writer, built->artefact, built->artefact_size);
    tsl_write_u32(writer, built->n_kernels);
    for (uint32_t i = 0; i < built->n_kernels; i++) {
        tsl_wire_put_facts(writer, &built->kernels[i].facts);
    }
    tsl_write_u32(writer, built->n_files);
    for (uint32_t i = 0; i < built->n_files; i++) {
        tsl_write_text(writer, built->files[i].path);
        tsl_write_u64(writer, built->files[i].size);
        tsl_write_u64(writer, built->files[i].sum);
    }
    tsl_wire_end(writer);
}

static void get_kernels(struct tsl_reader *reader, struct tsl_wire_built *built)
{
    uint32_t n = tsl_read_count(reader, MIN_KERNEL_SIZE);

    built->kernels = n && n <= TSL_WIRE_MAX_KERNELS ? calloc(n, sizeof(built->kernels[0])) : NULL;
    if (n && !built->kernels)
        reader->failed = true;
    for (; built->n_kernels < n && !reader->failed; built->n_kernels++) {
        if (!tsl_wire_get_facts(reader, &built->kernels[built->n_kernels].facts))
            return;
    }
}

static void get_files(struct tsl_reader *reader, struct tsl_wire_built *built)
{
    uint32_t n = tsl_read_count(reader, MIN_FILE_SIZE);

    built->files = n && n <= TSL_WIRE_MAX_FILES ? calloc(n, sizeof(built->files[0])) : NULL;
    if (n && !built->files)
        reader->failed = true;
    for (; built->n_files < n && !reader->failed; built->n_files++) {
        struct tsl_wire_file *file = &built->files[built->n_files];

        file->path = tsl_read_text(reader);
        file->size = tsl_read_u64(reader);
        file->sum = tsl_read_u64(reader);
        if (!file->path)
            reader->failed = true;
    }
}

bool tsl_wire_decode_built(const void *body, size_t size, struct tsl_wire_built *built)
{
    struct tsl_reader reader = tsl_reader_of(body, size);

    *built = (struct tsl_wire_built){.result = (cl_int)tsl_read_u32(&reader)};
    built->log = tsl_read_text(&reader);
    built->artefact = tsl_read_blob(&reader, &built->artefact_size);
    get_kernels(&reader, built);
    get_files(&reader, built);
    if (tsl_read_end(&reader) && built->log && built->result <= CL_SUCCESS)
        return true;
    tsl_wire_built_finish(built);
    return false;
}

void tsl_wire_built_finish(struct tsl_wire_built *built)
{
    for (uint32_t i = 0; i < built->n_kernels; i++)
        tsl_kernel_facts_finish(&built->kernels[i].facts);
    for (uint32_t i = 0; i < built->n_files; i++)
        free(built->files[i].path);
    free(built->files);
    free(built->kernels);
    free(built->log);
    *built = (struct tsl_wire_built){.n_kernels = 0};
}

/* ---- ERROR ------------------------------------------------------------------------------------------------------- */

void tsl_wire_encode_error(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_error *error)
{
    tsl_wire_begin(writer, TSL_WIRE_ERROR, request);
    tsl_write_u32(writer, (uint32_t)error->error);
    tsl_write_text(writer, error->text);
    tsl_wire_end(writer);
}

bool tsl_wire_decode_error(const void *body, size_t size, struct tsl_wire_error *error)
{
    struct tsl_reader reader = tsl_reader_of(body, size);

    error->error = (cl_int)tsl_read_u32(&reader);
    error->text = tsl_read_text(&reader);
    /* An error that says CL_SUCCESS would be taken for success. */
    if (tsl_read_end(&reader) && error->text && error->error < CL_SUCCESS)
        return true;
    tsl_wire_error_finish(error);
    return false;
}

void tsl_wire_error_finish(struct tsl_wire_error *error)
{
    free(error->text);
    error->text = NULL;
}
