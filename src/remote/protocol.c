/* Requests and replies as bytes. */
#include "remote/protocol.h"
#include "remote/codec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void code_place(const struct codec *c, struct tsl_remote_place *place)
{
    code_u64(c, &place->mem);
    code_u64(c, &place->offset);
    code_u64(c, &place->row_pitch);
    code_u64(c, &place->slice_pitch);
}

static void code_side(const struct codec *c, struct tsl_remote_place *place)
{
    code_u64(c, &place->mem);
    code_u64(c, &place->offset);
}

static void code_region(const struct codec *c, uint64_t region[3])
{
    for (unsigned d = 0; d < 3; d++)
        code_u64(c, &region[d]);
}

static void code_ranges(const struct codec *c, struct tsl_remote_request *r)
{
    code_list(c, &r->n_ranges, (void **)&r->ranges, 2 * sizeof(uint64_t), sizeof(r->ranges[0]), TSL_REMOTE_MAX_RANGES);
    for (uint32_t i = 0; i < r->n_ranges; i++) {
        code_u64(c, &r->ranges[i].begin);
        code_u64(c, &r->ranges[i].end);
    }
}

static void code_work(const struct codec *c, struct tsl_remote_request *r)
{
    code_u64(c, &r->lane);
    code_bool(c, &r->named);
    code_bool(c, &r->tell);
    code_list(c, &r->n_waits, (void **)&r->waits, sizeof(uint64_t), sizeof(uint64_t), TSL_REMOTE_MAX_WAITS);
    for (uint32_t i = 0; i < r->n_waits; i++)
        code_u64(c, &r->waits[i]);
}

static void code_image(const struct codec *c, struct tsl_image_desc *image)
{
    code_u32(c, &image->format.image_channel_order);
    code_u32(c, &image->format.image_channel_data_type);
    code_u32(c, &image->type);
    code_size(c, &image->width);
    code_size(c, &image->height);
    code_size(c, &image->depth);
    code_size(c, &image->array_size);
    code_size(c, &image->element_size);
    code_size(c, &image->row_pitch);
    code_size(c, &image->slice_pitch);
}

static void code_window(const struct codec *c, struct tsl_window *window)
{
    code_u32(c, &window->work_dim);
    fail_unless(c, window->work_dim >= 1 && window->work_dim <= 3);
    for (unsigned d = 0; d < 3; d++) {
        code_size(c, &window->global_offset[d]);
        code_size(c, &window->global_size[d]);
        code_size(c, &window->local_size[d]);
        code_size(c, &window->group_begin[d]);
        code_size(c, &window->group_count[d]);
    }
    code_bool(c, &window->whole);
}

static void code_arg(const struct codec *c, struct tsl_remote_arg *arg)
{
    uint8_t kind = (uint8_t)arg->kind;
    bool has_value = arg->kind == TSL_ARG_VALUE || arg->kind == TSL_ARG_SAMPLER || arg->kind == TSL_ARG_SVM;
    size_t size = has_value ? arg->size : 0;

    code_u8(c, &kind);
    fail_unless(c, kind > TSL_ARG_UNSET && kind <= TSL_ARG_SVM);
    arg->kind = (enum tsl_arg_kind)kind;
    code_u64(c, &arg->mem);
    code_u64(c, &arg->size);
    code_blob(c, &arg->value, &size);
    if (kind == TSL_ARG_VALUE || kind == TSL_ARG_SAMPLER || kind == TSL_ARG_SVM)
        fail_unless(c, size == arg->size && (kind != TSL_ARG_SAMPLER || size == sizeof(struct tsl_sampler_desc)));
    code_bool(c, &arg->has_part);
    if (arg->has_part) {
        uint64_t shift = (uint64_t)arg->part.shift;

        code_u64(c, &shift);
        arg->part.shift = (int64_t)shift;
        code_size(c, &arg->part.size);
    }
}

/* The least bytes of an argument in a message. */
#define MIN_ARG_SIZE (1 + 8 + 8 + 4 + 1)

static void code_launch(const struct codec *c, struct tsl_remote_request *r)
{
    code_u64(c, &r->of);
    code_window(c, &r->window);
    code_bool(c, &r->has_args);
    if (!r->has_args)
        return;
    code_list(c, &r->n_args, (void **)&r->args, MIN_ARG_SIZE, sizeof(r->args[0]), TSL_REMOTE_MAX_ARGS);
    for (uint32_t i = 0; i < r->n_args; i++)
        code_arg(c, &r->args[i]);
    code_list(c, &r->n_svm, (void **)&r->svm, 9, sizeof(r->svm[0]), TSL_REMOTE_MAX_PARTS);
    for (uint32_t i = 0; i < r->n_svm; i++) {
        code_u64(c, &r->svm[i].mem);
        code_bool(c, &r->svm[i].unnamed);
    }
}

static void code_special(const struct codec *c, struct tsl_program_special *special)
{
    uint64_t value = special->value;

    code_u32(c, &special->id);
    code_size(c, &special->size);
    code_u64(c, &value);
    special->value = value;
    fail_unless(c, special->size <= sizeof(special->value));
}

static void code_build(const struct codec *c, struct tsl_remote_build *build)
{
    code_u32(c, &build->kind);
    fail_unless(c, build->kind <= TSL_PROGRAM_BUILTIN);
    code_bool(c, &build->foreign);
    code_blob(c, &build->data, &build->size);
    code_text(c, &build->options);
    fail_unless(c, build->options != NULL);
    code_bool(c, &build->has_text);
    if (build->has_text) {
        code_blob(c, &build->text, &build->text_size);
        code_text(c, &build->text_options);
        fail_unless(c, build->text_options != NULL);
    }
    code_list(c, &build->n_specials, (void **)&build->specials, 20, sizeof(build->specials[0]), TSL_REMOTE_MAX_ARGS);
    for (uint32_t i = 0; i < build->n_specials; i++)
        code_special(c, &build->specials[i]);
}

static void code_content(const struct codec *c, struct tsl_remote_request *r)
{
    code_build(c, &r->build);
    if (r->kind != TSL_REMOTE_COMPILE)
        return;
    code_list(c, &r->n_headers, (void **)&r->headers, 8, sizeof(r->headers[0]), TSL_REMOTE_MAX_PARTS);
    for (uint32_t i = 0; i < r->n_headers; i++) {
        code_text(c, &r->headers[i].name);
        code_blob(c, &r->headers[i].text, &r->headers[i].size);
        fail_unless(c, r->headers[i].name != NULL);
    }
}

/* What is linked. */
static void code_programs(const struct codec *c, struct tsl_remote_request *r)
{
    code_list(c, &r->n_programs, (void **)&r->programs, 8, sizeof(r->programs[0]), TSL_REMOTE_MAX_PARTS);
    for (uint32_t i = 0; i < r->n_programs; i++)
        code_u64(c, &r->programs[i]);
}

static void code_digest(const struct codec *c, uint8_t digest[TSL_DIGEST_SIZE])
{
    for (unsigned i = 0; i < TSL_DIGEST_SIZE; i++)
        code_u8(c, &digest[i]);
}

static void code_combine(const struct codec *c, struct tsl_remote_request *r)
{
    code_side(c, &r->dst);
    code_side(c, &r->src);
    code_side(c, &r->other);
    code_side(c, &r->before);
    code_u64(c, &r->size);
    code_u32(c, &r->width);
    code_u32(c, &r->how);
    fail_unless(c, r->how < TSL_N_COMBINE_HOWS && (r->width == 1 || r->width == 2 || r->width == 4 || r->width == 8));
}

static void code_transfer(const struct codec *c, struct tsl_remote_request *r)
{
    if (r->kind == TSL_REMOTE_COMBINE) {
        code_combine(c, r);
        return;
    }
    if (r->kind != TSL_REMOTE_READ)
        code_place(c, &r->dst);
    if (r->kind == TSL_REMOTE_COPY || r->kind == TSL_REMOTE_READ || r->kind == TSL_REMOTE_PULL)
        code_place(c, &r->src);
    if (r->kind == TSL_REMOTE_PULL) {
        code_u64(c, &r->of);
        code_bool(c, &r->goes_on);
    }
    code_region(c, r->region);
    if (r->kind == TSL_REMOTE_READ || r->kind == TSL_REMOTE_PULL)
        code_ranges(c, r);
    code_bool(c, &r->loose);
    code_bool(c, &r->later);
    if (r->kind == TSL_REMOTE_WRITE || r->kind == TSL_REMOTE_FILL)
        code_blob(c, &r->data, &r->data_size);
}

/* Of a function in a file. */
static void code_file(const struct codec *c, struct tsl_remote_request *r)
{
    code_bool(c, &r->is_file);
    if (!r->is_file)
        return;
    code_bool(c, &r->trial);
    code_text(c, &r->name);
    code_text(c, &r->library);
    fail_unless(c, r->name && r->library && r->size);
}

/* What makes, frees and asks has these few numbers in common. */
static void code_object(const struct codec *c, struct tsl_remote_request *r)
{
    code_u32(c, &r->member);
    code_u64(c, &r->of);
    code_u64(c, &r->offset);
    code_u64(c, &r->size);
    code_u64(c, &r->flags);
    code_u32(c, &r->param);
    code_u32(c, &r->slot);
    fail_unless(c, r->slot <= TSL_REMOTE_N_COMMON);
    code_status(c, &r->status);
    if (r->kind == TSL_REMOTE_IMAGE || r->kind == TSL_REMOTE_IMAGE_OF)
        code_image(c, &r->image);
    if (r->kind == TSL_REMOTE_DATA || r->kind == TSL_REMOTE_WINDOWS || tsl_remote_has_content(r->kind))
        code_blob(c, &r->data, &r->data_size);
    if (r->kind == TSL_REMOTE_KERNEL || r->kind == TSL_REMOTE_LINK || r->kind == TSL_REMOTE_SUBSTITUTE) {
        code_text(c, &r->text);
        fail_unless(c, r->text != NULL);
    }
    if (tsl_remote_has_content(r->kind) || r->kind == TSL_REMOTE_BINARY || r->kind == TSL_REMOTE_KERNEL)
        code_digest(c, r->digest);
    if (r->kind == TSL_REMOTE_SUBSTITUTE)
        code_file(c, r);
    if (r->kind == TSL_REMOTE_LINK)
        code_programs(c, r);
}

static void code_request(const struct codec *c, struct tsl_remote_request *r)
{
    uint8_t kind = (uint8_t)r->kind;

    code_u8(c, &kind);
    fail_unless(c, kind >= TSL_REMOTE_MEMBERS && kind <= TSL_REMOTE_LAST_REQUEST);
    r->kind = (enum tsl_remote_request_kind)kind;
    code_u32(c, &r->answer);
    code_u64(c, &r->id);
    if (!tsl_remote_is_work(r->kind)) {
        code_object(c, r);
        return;
    }
    code_work(c, r);
    if (r->kind == TSL_REMOTE_LAUNCH)
        code_launch(c, r);
    else if (r->kind != TSL_REMOTE_MARK)
        code_transfer(c, r);
}

/* A message is its length in four bytes, and itself. */
static size_t begin(struct tsl_writer *writer)
{
    size_t at = writer->size;

    tsl_write_u32(writer, 0);
    return at;
}

static void end(struct tsl_writer *writer, size_t at)
{
    if (writer->failed)
        return;
    if (writer->size - at - 4 > TSL_REMOTE_MAX_FRAME)
        writer->failed = true;
    else
        tsl_write_u32_at(writer, at, (uint32_t)(writer->size - at - 4));
}

void tsl_remote_put_request(struct tsl_writer *writer, const struct tsl_remote_request *request)
{
    struct tsl_remote_request copy = *request; /* A writer changes nothing; the codec takes what it may change. */
    size_t at = begin(writer);

    code_request(&(struct codec){.writer = writer}, &copy);
    end(writer, at);
}

bool tsl_remote_get_request(struct tsl_reader *reader, struct tsl_remote_request *request)
{
    size_t size;
    const void *body = tsl_read_blob(reader, &size);
    struct tsl_reader message = tsl_reader_of(body, size);

    memset(request, 0, sizeof(*request));
    if (reader->failed)
        return false;
    code_request(&(struct codec){.reader = &message}, request);
    if (tsl_read_end(&message))
        return true;
    tsl_remote_request_finish(request);
    reader->failed = true;
    return false;
}

void tsl_remote_put_content(struct tsl_writer *writer, const struct tsl_remote_request *request)
{
    struct tsl_remote_request copy = *request;

    code_content(&(struct codec){.writer = writer}, &copy);
}

bool tsl_remote_get_content(const void *data, size_t size, struct tsl_remote_request *request)
{
    struct tsl_reader reader = tsl_reader_of(data, size);

    code_content(&(struct codec){.reader = &reader}, request);
    return tsl_read_end(&reader);
}

void tsl_remote_digest(const void *data, size_t size, uint8_t digest[TSL_DIGEST_SIZE])
{
    struct tsl_digest sum;

    tsl_digest_begin(&sum);
    tsl_digest_add(&sum, data, size);
    tsl_digest_end(&sum, digest);
}

/* What isn't a whole file may have no end, or wait for one who writes. */
static FILE *open_file(const char *path)
{
    int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    FILE *file = NULL;

    if (number >= 0 && fstat(number, &about) == 0 && S_ISREG(about.st_mode))
        file = fdopen(number, "r");
    if (!file && number >= 0)
        close(number);
    return file;
}

bool tsl_remote_digest_file(const char *path, uint8_t digest[TSL_DIGEST_SIZE])
{
    FILE *file = open_file(path);
    struct tsl_digest sum;
    char bytes[1 << 14];
    size_t n;
    bool sound;

    if (!file)
        return false;
    tsl_digest_begin(&sum);
    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        tsl_digest_add(&sum, bytes, n);
    tsl_digest_end(&sum, digest);
    sound = !ferror(file);
    fclose(file);
    return sound;
}

void tsl_remote_request_finish(struct tsl_remote_request *request)
{
    free(request->waits);
    free(request->args);
    free(request->svm);
    free(request->ranges);
    free(request->text);
    free(request->name);
    free(request->library);
    free(request->build.options);
    free(request->build.text_options);
    free(request->build.specials);
    for (uint32_t i = 0; i < request->n_headers; i++)
        free(request->headers[i].name);
    free(request->headers);
    free(request->programs);
    request->headers = NULL;
    request->programs = NULL;
    request->n_headers = request->n_programs = 0;
    request->waits = NULL;
    request->args = NULL;
    request->svm = NULL;
    request->ranges = NULL;
    request->text = request->name = request->library = NULL;
    request->build = (struct tsl_remote_build){.n_specials = 0};
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static void code_reply(const struct codec *c, struct tsl_remote_reply *r)
{
    uint8_t kind = (uint8_t)r->kind;

    code_u8(c, &kind);
    fail_unless(c, kind >= TSL_REMOTE_DONE && kind <= TSL_REMOTE_LAST_REPLY);
    r->kind = (enum tsl_remote_reply_kind)kind;
    code_u64(c, &r->id);
    code_status(c, &r->status);
    code_u64(c, &r->now_ns);
    if (r->kind == TSL_REMOTE_DONE) {
        code_bool(c, &r->has_times);
        fail_unless(c, r->status <= CL_COMPLETE);
        if (r->has_times) {
            code_u64(c, &r->start_ns);
            code_u64(c, &r->end_ns);
        }
        return;
    }
    code_u32(c, &r->slot);
    fail_unless(c, r->slot <= TSL_REMOTE_N_COMMON);
    code_u64(c, &r->size);
    code_blob(c, &r->data, &r->data_size);
}

void tsl_remote_put_reply(struct tsl_writer *writer, const struct tsl_remote_reply *reply)
{
    struct tsl_remote_reply copy = *reply;
    size_t at = begin(writer);

    code_reply(&(struct codec){.writer = writer}, &copy);
    end(writer, at);
}

bool tsl_remote_get_reply(struct tsl_reader *reader, struct tsl_remote_reply *reply)
{
    size_t size;
    const void *body = tsl_read_blob(reader, &size);
    struct tsl_reader message = tsl_reader_of(body, size);

    memset(reply, 0, sizeof(*reply));
    if (reader->failed)
        return false;
    code_reply(&(struct codec){.reader = &message}, reply);
    if (!tsl_read_end(&message))
        reader->failed = true;
    return !reader->failed;
}
