/* From source to images: the kernel compiler's part, in its own process (compile_client/compile.h). */
#include "compile_client/compile.h"
#include "cuda_bridge/compile.h"
#include "cuda_bridge/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tsl_cuda_compiles(void)
{
    const char *why;

    return tsl_compile_available(&why);
}

/* What the compiler made, as an image. */
static void *image_of(const struct tsl_cuda_member *member, const struct tsl_wire_built *built,
                      enum tsl_cuda_image_kind kind, size_t *size)
{
    unsigned n = kind == TSL_CUDA_IMAGE_PTX ? built->n_kernels : 0;
    const struct tsl_kernel_facts **facts = calloc(n + 1, sizeof(*facts));
    void *image = NULL;

    for (unsigned i = 0; facts && i < n; i++)
        facts[i] = &built->kernels[i].facts;
    if (facts)
        image = tsl_cuda_image_encode(kind, (unsigned)member->gpu->capability, n, facts, built->artefact,
                                      built->artefact_size, size);
    free(facts);
    return image;
}

/* Relative paths in options and #include begin where the program is. */
static cl_int run(struct tsl_cuda_member *member, struct tsl_wire_build *build, enum tsl_cuda_image_kind kind,
                  struct tsl_cuda_made *made)
{
    char processor[16], *folder = getcwd(NULL, 0);
    struct tsl_compiled compiled;
    cl_int error;

    snprintf(processor, sizeof(processor), "sm_%d", member->gpu->capability);
    build->target = TSL_WIRE_PTX;
    build->processor = processor;
    build->folder = folder;
    error = tsl_compile(build, &compiled);
    made->log = strdup(compiled.built.log ? compiled.built.log : "");
    if (!error) {
        made->image = image_of(member, &compiled.built, kind, &made->size);
        if (!made->image)
            error = CL_OUT_OF_HOST_MEMORY;
    }
    tsl_compiled_finish(&compiled);
    free(folder);
    return error;
}

static cl_int take(const struct tsl_program_input *input, struct tsl_wire_build *build, struct tsl_cuda_made *made)
{
    cl_int error = tsl_compile_take(input, build);

    if (error == CL_COMPILER_NOT_AVAILABLE)
        made->log = strdup(TSL_COMPILE_NO_TRANSLATOR);
    return error;
}

cl_int tsl_cuda_make_build(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                           struct tsl_cuda_made *made)
{
    struct tsl_wire_build build = {.action = TSL_WIRE_WHOLE_BUILD};
    cl_int error = take(input, &build, made);

    if (!error)
        error = run(member, &build, TSL_CUDA_IMAGE_PTX, made);
    tsl_compile_drop(&build);
    return error;
}

static void free_headers(struct tsl_wire_build *build)
{
    for (unsigned i = 0; i < build->n_headers; i++)
        free(build->headers[i].text);
    free(build->headers);
}

static bool add_headers(struct tsl_wire_build *build, const struct tsl_program_headers *headers)
{
    unsigned n = headers ? headers->n : 0;

    build->headers = calloc(n + 1, sizeof(*build->headers));
    for (unsigned i = 0; build->headers && i < n; i++) {
        build->headers[i].name = (char *)headers->headers[i].name;
        build->headers[i].text = strndup(headers->headers[i].text, headers->headers[i].size);
        build->n_headers++;
        if (!build->headers[i].text)
            return false;
    }
    return build->headers != NULL;
}

cl_int tsl_cuda_make_compile(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                             const struct tsl_program_headers *headers, struct tsl_cuda_made *made)
{
    struct tsl_wire_build build = {.action = TSL_WIRE_COMPILE};
    cl_int error = take(input, &build, made);

    if (!error)
        error = add_headers(&build, headers) ? run(member, &build, TSL_CUDA_IMAGE_OBJECT, made) : CL_OUT_OF_HOST_MEMORY;

    free_headers(&build);
    tsl_compile_drop(&build);
    return error;
}

cl_int tsl_cuda_make_link(struct tsl_cuda_member *member, const struct tsl_link_input *input,
                          enum tsl_cuda_image_kind kind, struct tsl_cuda_made *made)
{
    struct tsl_wire_build build = {.action = TSL_WIRE_LINK, .options = (char *)input->options, .source = (char *)""};
    cl_int error;

    build.inputs = calloc(input->n + 1, sizeof(*build.inputs));
    if (!build.inputs)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < input->n; i++) {
        const struct tsl_cuda_image *image = &tsl_cuda_program(input->programs[i])->image;

        build.inputs[build.n_inputs++] = (struct tsl_wire_input){.data = image->data, .size = image->size};
    }
    error = run(member, &build, kind, made);
    free(build.inputs);
    return error;
}
