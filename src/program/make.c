/*
 * One member's part of a build, a compilation or a link.
 */
#include "device/device_facts.h"
#include "facts/il.h"
#include "program/build.h"
#include "program/dialect.h"

#include <stdlib.h>
#include <string.h>

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* For loaded code, which may have been made for another device. */
static void promise_remainders(struct tsl_build_job *job, bool has)
{
    bool promised = tsl_dialect_has_remainders(tsl_build_view(job));

    job->part.non_uniform = has && promised;
    job->part.unpromised = has && !promised;
}

static bool has_remainders(const struct tsl_program_part *part)
{
    return part->non_uniform || part->unpromised;
}

static void build_binary(struct tsl_build_job *job)
{
    struct tsl_member *member = tsl_build_member(job);
    const struct tsl_program_part *loaded = &job->build->program->parts[job->index];
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_BINARY, .data = loaded->binary, .size = loaded->binary_size, .options = job->build->text};

    if (loaded->of_text) {
        input.text = job->build->program->kept;
        input.text_size = strlen(input.text);
        input.text_options = job->build->program->kept_options;
    }
    if (loaded->binary)
        job->part.error = member->driver->build(member, &input, &job->part.program, &job->part.log);
    else
        job->part.error = CL_INVALID_BINARY;
    promise_remainders(job, has_remainders(loaded));
}

/* Calls the driver with the input: a compilation adds the headers, a build nothing. */
typedef cl_int make_fn(struct tsl_build_job *job, const struct tsl_program_input *input);

/* Gives `make` the source as this member is to see it. */
static void make_source(struct tsl_build_job *job, make_fn *make)
{
    const struct tsl_build_options *options = &job->build->options;
    const struct tsl_program *program = job->build->program;
    const struct tsl_path *path = tsl_build_member(job)->path;
    struct tsl_device *device = tsl_build_view(job);
    struct tsl_dialect dialect;
    char *source, *text;
    size_t size = program->source_size;

    tsl_dialect_choose(device, path, options, &dialect);
    source = tsl_dialect_source(device, path, options, &dialect, program->source, &size);
    text = tsl_build_options_with(options, dialect.std, dialect.kept_uniform);
    job->part.error = CL_OUT_OF_HOST_MEMORY;
    if (source && text) {
        struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE,
                                          .data = source,
                                          .size = size,
                                          .options = text,
                                          .text = program->source,
                                          .text_size = program->source_size,
                                          .text_options = job->build->text};

        job->part.error = make(job, &input);
        job->part.non_uniform = dialect.non_uniform;
        job->part.no_arg_info = !tsl_build_options_have(job->build->text, "-cl-kernel-arg-info");
    }
    free(source);
    free(text);
}

char *tsl_build_dialect(struct tsl_build_job *job)
{
    const struct tsl_build_options *options = &job->build->asked;
    const char *source = tsl_build_source(job->build);
    const struct tsl_path *path = tsl_build_member(job)->path;
    struct tsl_device *device = tsl_build_view(job);
    size_t size = strlen(source);
    struct tsl_dialect dialect;

    tsl_dialect_choose(device, path, options, &dialect);
    return dialect.translated ? NULL : tsl_dialect_source(device, path, options, &dialect, source, &size);
}

void tsl_build_windows(struct tsl_build_job *job)
{
    const struct tsl_build_options *options = &job->build->asked;
    struct tsl_member *member = tsl_build_member(job);
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE};
    struct tsl_dialect dialect;
    char *text, *plain;

    if (!member->driver->windows_by || !tsl_text_access_wait(job->build->access))
        return;
    input.data = tsl_text_access_windows(job->build->access, &input.size);
    tsl_dialect_choose(tsl_build_view(job), member->path, options, &dialect);
    if (!input.data || dialect.translated)
        return;
    text = tsl_build_options_with(options, dialect.std, dialect.kept_uniform);
    input.options = plain = text ? tsl_build_options_plain(text) : NULL;
    if (plain)
        job->of_windows = member->driver->windows_by(job->part.program, &input) == CL_SUCCESS;
    free(plain);
    free(text);
}

/* Gives `make` the module as it is, with the constants that were set before the build. */
static void make_il(struct tsl_build_job *job, make_fn *make)
{
    struct tsl_program *program = job->build->program;
    struct tsl_program_special *specials;
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_IL, .data = program->il->module, .size = program->il->size, .options = job->build->text};

    if (!tsl_names_takes_il(tsl_build_member(job))) {
        job->part.error = CL_COMPILER_NOT_AVAILABLE;
        job->part.log = strdup("this device takes no programs of an intermediate language\n");
        return;
    }
    tsl_lock_take(&program->lock);
    specials = tsl_il_specials(program->il, &input.n_specials);
    tsl_lock_give(&program->lock);
    input.specials = specials;
    job->part.error = specials ? make(job, &input) : CL_OUT_OF_HOST_MEMORY;
    promise_remainders(job, tsl_dialect_il_has_remainders(tsl_build_member(job)->path, &job->build->options));
    free(specials);
}

static cl_int build_text(struct tsl_build_job *job, const struct tsl_program_input *input)
{
    struct tsl_member *member = tsl_build_member(job);

    return member->driver->build(member, input, &job->part.program, &job->part.log);
}

static void run_build(struct tsl_build_job *job)
{
    if (job->build->program->source)
        make_source(job, build_text);
    else if (job->build->program->il)
        make_il(job, build_text);
    else
        build_binary(job);
}

const struct tsl_make tsl_make_build = {
    .verb = "built",
    .failure = CL_BUILD_PROGRAM_FAILURE,
    .bad_options = CL_INVALID_BUILD_OPTIONS,
    .run = run_build,
};

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

static cl_int compile_text(struct tsl_build_job *job, const struct tsl_program_input *input)
{
    const struct tsl_build *build = job->build;
    struct tsl_member *member = tsl_build_member(job);
    struct tsl_program_header *headers = calloc(build->n_inputs + 1, sizeof(*headers));
    struct tsl_program_headers list = {.n = build->n_inputs, .headers = headers};
    cl_int error;

    if (!headers)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < build->n_inputs; i++)
        headers[i] = (struct tsl_program_header){
            .name = build->names[i], .text = build->inputs[i]->source, .size = build->inputs[i]->source_size};
    error = member->driver->compile(member, input, &list, &job->part.program, &job->part.log);
    free(headers);
    return error;
}

static void run_compile(struct tsl_build_job *job)
{
    if (!tsl_build_member(job)->driver->compile)
        job->part.error = CL_COMPILER_NOT_AVAILABLE;
    else
        (job->build->program->il ? make_il : make_source)(job, compile_text);
}

const struct tsl_make tsl_make_compile = {
    .verb = "compiled",
    .failure = CL_COMPILE_PROGRAM_FAILURE,
    .bad_options = CL_INVALID_COMPILER_OPTIONS,
    .run = run_compile,
};

/* ---- Linking ----------------------------------------------------------------------------------------------------- */

/* This member's version of an input: compiled here, or loaded from a binary, which then is *own and the caller's to
 * free. */
static cl_int get_input(struct tsl_build_job *job, cl_uint i, struct tsl_dprogram **program, struct tsl_dprogram **own)
{
    const struct tsl_program_part *part = &job->build->inputs[i]->parts[job->index];
    struct tsl_member *member = tsl_build_member(job);
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_BINARY, .data = part->binary, .size = part->binary_size, .options = ""};
    const struct tsl_program_headers none = {.n = 0};
    char *log = NULL;
    cl_int error;

    *own = NULL;
    *program = part->program;
    if (!(part->program || part->binary) || part->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return part->error ? part->error : CL_INVALID_BINARY;
    if (part->program)
        return CL_SUCCESS;
    error = member->driver->compile(member, &input, &none, own, &log);
    free(log);
    *program = *own;
    return error;
}

static void link_inputs(struct tsl_build_job *job, struct tsl_dprogram **programs, struct tsl_dprogram **own)
{
    struct tsl_build *build = job->build;
    struct tsl_member *member = tsl_build_member(job);
    struct tsl_link_input input = {.n = build->n_inputs, .programs = programs};
    bool has = true;

    for (cl_uint i = 0; i < build->n_inputs; i++) {
        has &= has_remainders(&build->inputs[i]->parts[job->index]);
        job->part.no_arg_info |= build->inputs[i]->parts[job->index].no_arg_info;
        job->part.error = get_input(job, i, &programs[i], &own[i]);
        if (job->part.error != CL_SUCCESS) {
            job->part.log = strdup("a program to be linked isn't there for this device\n");
            return;
        }
    }
    promise_remainders(job, has);
    input.options = build->text;
    job->part.error = member->driver->link(member, &input, &job->part.program, &job->part.log);
}

static void run_link(struct tsl_build_job *job)
{
    cl_uint n = job->build->n_inputs;
    struct tsl_member *member = tsl_build_member(job);
    struct tsl_dprogram **programs = calloc(2 * (size_t)n, sizeof(*programs));

    job->part.error = programs ? CL_LINKER_NOT_AVAILABLE : CL_OUT_OF_HOST_MEMORY;
    if (programs && member->driver->compile && member->driver->link)
        link_inputs(job, programs, programs + n);
    for (cl_uint i = 0; programs && i < n; i++)
        if (programs[n + i])
            member->driver->program_free(programs[n + i]);
    free(programs);
}

const struct tsl_make tsl_make_link = {
    .verb = "linked",
    .failure = CL_LINK_PROGRAM_FAILURE,
    .bad_options = CL_INVALID_LINKER_OPTIONS,
    .run = run_link,
};
