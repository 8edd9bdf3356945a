/* Separate compilation and linking: the vendor's own. */
#include "base/settings.h"
#include "facts/build_options.h"
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/operations.h"
#include "opencl/prebuilt.h"
#include "opencl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As for builds: kernels are asked for their arguments. */
#define ARG_INFO " -cl-kernel-arg-info"

/* ---- Headers ----------------------------------------------------------------------------------------------------- */

/* The vendor's programs and names of the headers. */
struct headers {
    cl_uint n;
    cl_program *programs;
    const char **names;
};

static void free_headers(struct tsl_opencl_member *m, struct headers *headers)
{
    for (cl_uint i = 0; i < headers->n; i++)
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, headers->programs[i]);
    free(headers->programs);
    free(headers->names);
}

/* After an error the caller frees what was made, too. */
static cl_int make_headers(struct tsl_opencl_member *m, const struct tsl_program_headers *list, struct headers *headers)
{
    cl_int error = CL_SUCCESS;

    *headers = (struct headers){.n = 0};
    headers->programs = calloc(list->n + 1, sizeof(*headers->programs));
    headers->names = calloc(list->n + 1, sizeof(*headers->names));
    if (!headers->programs || !headers->names)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < list->n; i++) {
        const struct tsl_program_header *header = &list->headers[i];
        /* A vendor takes a length of 0 for "up to the closing 0", which a header of ours has. */
        cl_program program =
            m->cl->clCreateProgramWithSource(m->context, 1, (const char **)&header->text, &header->size, &error);

        if (!program)
            return error ? error : CL_OUT_OF_RESOURCES;
        headers->names[headers->n] = header->name;
        headers->programs[headers->n++] = program;
    }
    return CL_SUCCESS;
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

/* Source, with more options, or IL. */
static cl_int compile_text(struct tsl_opencl_member *m, cl_program program, const struct tsl_program_input *input,
                           const struct tsl_program_headers *list, char **log)
{
    struct headers headers;
    char *with_info = NULL;
    cl_int error = make_headers(m, list, &headers);

    if (!error && asprintf(&with_info, "%s%s", input->options, input->kind == TSL_PROGRAM_IL ? "" : ARG_INFO) < 0)
        error = CL_OUT_OF_HOST_MEMORY;
    if (!error) {
        error =
            m->cl->clCompileProgram(program, 1, &m->device->id, with_info, headers.n,
                                    headers.n ? headers.programs : NULL, headers.n ? headers.names : NULL, NULL, NULL);
        *log = tsl_opencl_build_log(m, program);
        free(with_info);
    }
    free_headers(m, &headers);
    return error;
}

static cl_int compile_by_vendor(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                const struct tsl_program_headers *headers, struct tsl_opencl_program *p, char **log)
{
    cl_int error;
    const char *deadly;

    if (tsl_member_is_lost(&m->base))
        return CL_DEVICE_NOT_AVAILABLE;
    if (!m->cl->clCompileProgram || !m->cl->clLinkProgram)
        return CL_COMPILER_NOT_AVAILABLE;
    if (!tsl_opencl_takes_options(m, input->options, log))
        return CL_INVALID_COMPILER_OPTIONS;
    deadly = tsl_opencl_deadly_text(&m->device->quirks, input, headers);
    if (deadly) {
        *log = strdup(deadly);
        return CL_COMPILE_PROGRAM_FAILURE;
    }
    p->program = tsl_opencl_create_program(m, input, &error);
    if (!p->program)
        return error ? error : CL_OUT_OF_RESOURCES;
    if (input->kind == TSL_PROGRAM_BINARY)
        return CL_SUCCESS; /* is only loaded */
    return compile_text(m, p->program, input, headers, log);
}

/* The names of the kernels in the text and the headers. */
static cl_int note_kernels(const struct tsl_program_input *input, const struct tsl_program_headers *headers,
                           char **kernels)
{
    bool added = true;

    *kernels = tsl_opencl_kernels_in(input->data, input->size);
    for (unsigned i = 0; i < headers->n && *kernels && added; i++) {
        char *more = tsl_opencl_kernels_in(headers->headers[i].text, headers->headers[i].size);

        added = more && tsl_opencl_add_kernels(kernels, more);
        free(more);
    }
    return *kernels && added ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int compile(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                      const struct tsl_program_headers *headers, struct tsl_opencl_program *p, char **log)
{
    cl_int error;

    if (input->kind != TSL_PROGRAM_SOURCE || !tsl_opencl_takes_prebuilt(m))
        return compile_by_vendor(m, input, headers, p, log);
    error = note_kernels(input, headers, &p->kernels);
    if (error || tsl_opencl_has_compiler(m))
        return error ? error : compile_by_vendor(m, input, headers, p, log);
    *log = strdup(tsl_settings()->binaries ? "this device has no compiler: binaries are looked for at linking\n"
                                           : TSL_OPENCL_NO_BINARIES);
    return tsl_settings()->binaries ? CL_SUCCESS : CL_COMPILER_NOT_AVAILABLE;
}

/* Anything that may print in a header may be in a kernel. */
static bool may_print(const struct tsl_program_input *input, const struct tsl_program_headers *headers)
{
    if (tsl_text_may_print(input->data, input->size, input->options))
        return true;
    for (unsigned i = 0; i < headers->n; i++)
        if (tsl_text_may_print(headers->headers[i].text, headers->headers[i].size, input->options))
            return true;
    return false;
}

static cl_int give(struct tsl_member *member, struct tsl_opencl_program *p, cl_int error, struct tsl_dprogram **program,
                   char **log)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);

    if (!*log)
        *log = strdup("");
    if (error) {
        if (p)
            tsl_opencl_release_programs(m, p);
        free(p);
        return tsl_opencl_error(m, error);
    }
    p->base.member = member;
    *program = &p->base;
    return CL_SUCCESS;
}

cl_int tsl_opencl_compile(struct tsl_member *member, const struct tsl_program_input *input,
                          const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);
    struct tsl_opencl_program *p = calloc(1, sizeof(*p));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    tsl_opencl_collect(m);
    if (p) {
        tsl_opencl_enter(m->device);
        error = compile(m, input, headers, p, log);
        tsl_opencl_leave(m->device);
        p->opaque = input->kind != TSL_PROGRAM_SOURCE;
        p->language = tsl_opencl_language(input);
        p->prints = p->opaque || may_print(input, headers);
    }
    return give(member, p, error, program, log);
}

/* ---- Linking ----------------------------------------------------------------------------------------------------- */

/* A failed link may leave a program that has the log. */
static cl_int link_with(struct tsl_opencl_member *m, const char *options, unsigned n, const cl_program *programs,
                        cl_program *linked, char **log)
{
    cl_int error = CL_SUCCESS;

    *linked = m->cl->clLinkProgram(m->context, 1, &m->device->id, options, n, programs, NULL, NULL, &error);
    if (*linked) {
        free(*log);
        *log = tsl_opencl_build_log(m, *linked);
    }
    return *linked || error ? error : CL_OUT_OF_RESOURCES;
}

/* Options that a linker may ignore are left out for a linker that doesn't know them: PoCL's calls the options invalid,
 * NVIDIA's says that the link failed. */
static cl_int link_by_vendor(struct tsl_opencl_member *m, const char *options, unsigned n, const cl_program *programs,
                             cl_program *linked, char **log)
{
    cl_int error;
    char *rest;

    if (!m->cl->clLinkProgram)
        return CL_LINKER_NOT_AVAILABLE;
    error = link_with(m, options, n, programs, linked, log);
    if (error != CL_INVALID_LINKER_OPTIONS && error != CL_LINK_PROGRAM_FAILURE)
        return error;
    if (!tsl_build_options_have_hints(options))
        return error;
    if (*linked)
        tsl_opencl_release(m, TSL_OPENCL_PROGRAM, *linked);
    *linked = NULL;
    rest = tsl_build_options_without_hints(options);
    error = rest ? link_with(m, rest, n, programs, linked, log) : CL_OUT_OF_HOST_MEMORY;
    free(rest);
    return error;
}

/* What is known of the inputs. Adds to *n_programs the inputs that the vendor has made. */
static cl_int gather(unsigned n, struct tsl_dprogram *const *inputs, struct tsl_opencl_program *p, cl_program *programs,
                     unsigned *n_programs)
{
    for (unsigned i = 0; i < n; i++) {
        const struct tsl_opencl_program *input = tsl_opencl_program(inputs[i]);

        p->prints |= input->prints;
        p->opaque |= input->opaque;
        p->language = p->language > input->language ? p->language : input->language;
        if (input->program)
            programs[(*n_programs)++] = input->program;
        if (input->kernels && !p->kernels && !(p->kernels = strdup("")))
            return CL_OUT_OF_HOST_MEMORY;
        if (input->kernels && !tsl_opencl_add_kernels(&p->kernels, input->kernels))
            return CL_OUT_OF_HOST_MEMORY;
    }
    return CL_SUCCESS;
}

/* Binaries that were made before come first, as in a build. Not for a library, which is only linked later. */
static cl_int link_inputs(struct tsl_opencl_member *m, const struct tsl_link_input *input, struct tsl_opencl_program *p,
                          char **log)
{
    cl_program *programs = calloc(input->n + 1, sizeof(*programs));
    bool library = tsl_build_options_have(input->options, "-create-library");
    unsigned n_programs = 0;
    cl_int error = programs ? gather(input->n, input->programs, p, programs, &n_programs) : CL_OUT_OF_HOST_MEMORY;

    tsl_opencl_enter(m->device);
    if (!error && p->kernels && !library)
        error = tsl_opencl_link_prebuilt(m, p->kernels, p, log);
    if (n_programs == input->n && (error == CL_LINKER_NOT_AVAILABLE || (!error && !p->program)))
        error = link_by_vendor(m, input->options, input->n, programs, &p->program, log);
    tsl_opencl_leave(m->device);
    free(programs);
    return error;
}

cl_int tsl_opencl_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                       char **log)
{
    struct tsl_opencl_program *p = calloc(1, sizeof(*p));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    if (p && !tsl_opencl_takes_options(tsl_opencl_member(member), input->options, log))
        error = CL_INVALID_LINKER_OPTIONS;
    else if (p)
        error = link_inputs(tsl_opencl_member(member), input, p, log);
    return give(member, p, error, program, log);
}
