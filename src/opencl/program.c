/* Programs: the vendor's compiler. */
#include "opencl/program.h"
#include "base/log.h"
#include "facts/build_options.h"
#include "facts/il.h"
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/operations.h"
#include "opencl/prebuilt.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clGetKernelArgInfo answers only if this was asked for; OpenCL 1.1 doesn't know it. */
#define ASK_INFO "-cl-kernel-arg-info"
#define ARG_INFO " " ASK_INFO

static cl_program create_binary(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error)
{
    const unsigned char *data = input->data;
    cl_int status = CL_SUCCESS;
    cl_program program;

    if (input->foreign && m->device->quirks.own_binaries) {
        *error = CL_INVALID_BINARY;
        return NULL;
    }
    program = m->cl->clCreateProgramWithBinary(m->context, 1, &m->device->id, &input->size, &data, &status, error);
    if (program && status) {
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, program);
        *error = status;
        return NULL;
    }
    return program;
}

static cl_program create_builtin(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error)
{
    char *names = strndup(input->data, input->size);
    cl_program program = NULL;

    *error = CL_OUT_OF_HOST_MEMORY;
    if (names)
        program = m->cl->clCreateProgramWithBuiltInKernels(m->context, 1, &m->device->id, names, error);
    free(names);
    return program;
}

static cl_program create_il(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error)
{
    cl_program program = m->cl->clCreateProgramWithIL(m->context, input->data, input->size, error);

    for (unsigned i = 0; program && i < input->n_specials; i++) {
        const struct tsl_program_special *special = &input->specials[i];

        *error = m->cl->clSetProgramSpecializationConstant
                     ? m->cl->clSetProgramSpecializationConstant(program, special->id, special->size, &special->value)
                     : CL_INVALID_OPERATION;
        if (*error) {
            tsl_opencl_release(m, TSL_OPENCL_PROGRAM, program);
            program = NULL;
        }
    }
    return program;
}

cl_program tsl_opencl_create_program(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error)
{
    const char *text = input->data;

    *error = CL_INVALID_OPERATION;
    switch (input->kind) {
    case TSL_PROGRAM_SOURCE:
        return m->cl->clCreateProgramWithSource(m->context, 1, &text, &input->size, error);
    case TSL_PROGRAM_BINARY:
        return create_binary(m, input, error);
    case TSL_PROGRAM_IL:
        return m->cl->clCreateProgramWithIL ? create_il(m, input, error) : NULL;
    case TSL_PROGRAM_BUILTIN:
        return m->cl->clCreateProgramWithBuiltInKernels ? create_builtin(m, input, error) : NULL;
    }
    return NULL;
}

/* Never NULL unless memory ran out. Trailing blanks and NULs go: an empty log is empty. */
char *tsl_opencl_build_log(struct tsl_opencl_member *m, cl_program program)
{
    size_t size = 0;
    char *log;

    if (m->cl->clGetProgramBuildInfo(program, m->device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) || size > INT_MAX)
        size = 0;
    log = calloc(1, size + 1);
    if (!log || !size)
        return log;
    if (m->cl->clGetProgramBuildInfo(program, m->device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL))
        *log = '\0';
    size = strlen(log);
    while (size && strchr(" \t\r\n", log[size - 1]))
        log[--size] = '\0';
    return log;
}

/* -O3 and the like are left out for a compiler that doesn't know them: programs give them to all devices but those that
 * they know to refuse them, and a level of optimisation changes no result. */
static cl_int build_with(struct tsl_opencl_member *m, const char *options, cl_program program)
{
    cl_int error = m->cl->clBuildProgram(program, 1, &m->device->id, options, NULL, NULL);
    char *rest;

    if (error != CL_INVALID_BUILD_OPTIONS || !tsl_build_options_have_levels(options))
        return error;
    rest = tsl_build_options_without_levels(options);
    error = rest ? m->cl->clBuildProgram(program, 1, &m->device->id, rest, NULL, NULL) : CL_OUT_OF_HOST_MEMORY;
    free(rest);
    return error;
}

/* Built-in kernels: some vendors want a build, others take them for built and refuse it. */
static cl_int build_created(struct tsl_opencl_member *m, const struct tsl_program_input *input, const char *options,
                            cl_program program)
{
    cl_int error = build_with(m, options, program);

    return input->kind == TSL_PROGRAM_BUILTIN && error == CL_INVALID_OPERATION ? CL_SUCCESS : error;
}

cl_int tsl_opencl_build_one(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                            const char *more_options, cl_program *program, char **log)
{
    char *options;
    cl_int error;

    if (asprintf(&options, "%s%s", input->options, more_options) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    *program = tsl_opencl_create_program(m, input, &error);
    if (*program) {
        error = build_created(m, input, options, *program);
        free(*log);
        *log = tsl_opencl_build_log(m, *program);
    }
    free(options);
    if (*program && error) {
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, *program);
        *program = NULL;
    }
    return *program || error ? error : CL_OUT_OF_RESOURCES;
}

/* Blanks in place of the option, where the application itself gave it. NULL without memory. */
static char *without_arg_info(const char *options)
{
    char *copy = strdup(options);

    for (char *at = copy; copy && (at = strstr(at, ASK_INFO)); at += strlen(ASK_INFO))
        if ((at == copy || at[-1] == ' ') && (!at[strlen(ASK_INFO)] || at[strlen(ASK_INFO)] == ' '))
            memset(at, ' ', strlen(ASK_INFO));
    return copy;
}

static cl_int build_without_arg_info(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                     cl_program *program, char **log)
{
    struct tsl_program_input plain = *input;
    char *options = without_arg_info(input->options);
    cl_int error;

    if (!options)
        return CL_OUT_OF_HOST_MEMORY;
    plain.options = options;
    error = tsl_opencl_build_one(m, &plain, "", program, log);
    free(options);
    return error;
}

static cl_int build_with_arg_info(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                  cl_program *program, char **log)
{
    bool ask = input->kind == TSL_PROGRAM_SOURCE && m->device->version >= 120;
    cl_int error = tsl_opencl_build_one(m, input, ask ? ARG_INFO : "", program, log);

    if (error && ask && m->device->quirks.arg_info_fails && *log && strstr(*log, "ptxas"))
        error = build_without_arg_info(m, input, program, log);
    return error;
}

bool tsl_opencl_takes_options(const struct tsl_opencl_member *m, const char *options, char **log)
{
    if (m->device->quirks.no_quotes && tsl_build_options_keep_blanks(options))
        *log = strdup("the compiler of this device takes no options with blanks inside quotes");
    else if (m->device->quirks.files_kill && tsl_build_options_name_file(options))
        *log = strdup("the options hold a word that doesn't begin with '-' and isn't the value of an option: "
                      "the compiler of this device would take it for a file");
    else
        return true;
    return false;
}

void tsl_opencl_release_programs(struct tsl_opencl_member *m, struct tsl_opencl_program *p)
{
    if (p->program)
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, p->program);
    if (p->windows)
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, p->windows);
    for (unsigned i = 0; i < p->n_more; i++)
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, p->more[i]);
    free(p->more);
    free(p->kernels);
    p->kernels = NULL;
    p->program = NULL;
    p->windows = NULL;
    p->more = NULL;
    p->n_more = 0;
}

static cl_int build(struct tsl_opencl_member *m, const struct tsl_program_input *input, struct tsl_opencl_program *p,
                    char **log)
{
    cl_int error = CL_COMPILER_NOT_AVAILABLE;
    const char *deadly;

    if (tsl_member_is_lost(&m->base))
        return CL_DEVICE_NOT_AVAILABLE;
    if (!tsl_opencl_takes_options(m, input->options, log))
        return CL_INVALID_BUILD_OPTIONS;
    if (input->kind == TSL_PROGRAM_SOURCE && tsl_opencl_takes_prebuilt(m)) {
        error = tsl_opencl_load_prebuilt(m, input, p, log);
        /* Only a device that has a compiler goes on. */
        if (error != CL_COMPILER_NOT_AVAILABLE || !tsl_opencl_has_compiler(m))
            return error;
    }
    deadly = tsl_opencl_deadly_text(&m->device->quirks, input, NULL);
    if (deadly) {
        *log = strdup(deadly);
        return CL_BUILD_PROGRAM_FAILURE;
    }
    error = build_with_arg_info(m, input, &p->program, log);
    p->of_text = !error && (input->kind == TSL_PROGRAM_SOURCE || (input->kind == TSL_PROGRAM_BINARY && input->text)) &&
                 !m->device->was_changed && !tsl_opencl_is_changed();
    return error;
}

/* A binary is known by its text. */
static bool may_print(const struct tsl_program_input *input)
{
    return input->kind == TSL_PROGRAM_SOURCE ? tsl_text_may_print(input->data, input->size, input->options)
                                             : tsl_text_may_print(input->text, input->text_size, input->text_options);
}

bool tsl_opencl_program_of_text(struct tsl_dprogram *program)
{
    return tsl_opencl_program(program)->of_text;
}

cl_int tsl_opencl_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                        char **log)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);
    struct tsl_opencl_program *p = calloc(1, sizeof(*p));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    tsl_opencl_collect(m);
    if (p) {
        tsl_opencl_enter(m->device);
        error = build(m, input, p, log);
        tsl_opencl_leave(m->device);
    }
    if (!*log)
        *log = strdup("");
    if (error) {
        if (p)
            tsl_opencl_release_programs(m, p);
        free(p);
        return tsl_opencl_error(m, error);
    }
    p->base.member = member;
    p->opaque = input->kind != TSL_PROGRAM_SOURCE && !p->of_text;
    p->language = tsl_opencl_language(input);
    p->built_in = input->kind == TSL_PROGRAM_BUILTIN;
    p->prints = p->opaque || may_print(input);
    *program = &p->base;
    return CL_SUCCESS;
}

/* A text for a vendor whose compiler is told to do something else isn't what our compiler has read. */
static cl_int build_windows(struct tsl_opencl_member *m, const struct tsl_program_input *text, cl_program *program,
                            char **log)
{
    if (tsl_member_is_lost(&m->base))
        return CL_DEVICE_NOT_AVAILABLE;
    if (m->device->was_changed || tsl_opencl_is_changed() || !tsl_opencl_takes_options(m, text->options, log) ||
        tsl_opencl_deadly_text(&m->device->quirks, text, NULL))
        return CL_INVALID_OPERATION;
    return tsl_opencl_build_one(m, text, "", program, log);
}

cl_int tsl_opencl_windows_by(struct tsl_dprogram *program, const struct tsl_program_input *text)
{
    struct tsl_opencl_program *p = tsl_opencl_program(program);
    struct tsl_opencl_member *m = tsl_opencl_member(program->member);
    char *log = NULL;
    cl_int error;

    if (!p->of_text || p->windows)
        return CL_INVALID_OPERATION;
    tsl_opencl_collect(m);
    tsl_opencl_enter(m->device);
    error = build_windows(m, text, &p->windows, &log);
    p->windows_print = tsl_text_may_print(text->data, text->size, text->options);
    tsl_opencl_leave(m->device);
    if (error)
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_INFO, "%s: a text for windows can't be compiled (error %d)%s%s",
                m->base.path->id, error, log && *log ? ": " : "", log ? log : "");
    free(log);
    return error;
}

cl_int tsl_opencl_get_binary(struct tsl_opencl_member *m, cl_program program, void **data, size_t *size)
{
    cl_int error = m->cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*size), size, NULL);

    *data = NULL;
    if (error || !*size)
        return error;
    *data = malloc(*size);
    if (!*data)
        return CL_OUT_OF_HOST_MEMORY;
    error = m->cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(*data), data, NULL);
    if (error)
        free(*data);
    return error;
}

cl_int tsl_opencl_program_binary(struct tsl_dprogram *program, void **data, size_t *size)
{
    struct tsl_opencl_member *m = tsl_opencl_member(program->member);
    struct tsl_opencl_program *p = tsl_opencl_program(program);
    cl_int error;

    /* Several can't be one; they are found again by the rule that found them. */
    *data = NULL;
    *size = 0;
    if (p->n_more || !p->program)
        return CL_SUCCESS;
    tsl_opencl_enter(m->device);
    error = tsl_opencl_get_binary(m, p->program, data, size);
    tsl_opencl_leave(m->device);
    return error;
}

void tsl_opencl_program_free(struct tsl_dprogram *program)
{
    struct tsl_opencl_program *p = tsl_opencl_program(program);
    struct tsl_opencl_member *member = tsl_opencl_member(program->member);

    tsl_opencl_release_programs(member, p);
    free(p);
}
