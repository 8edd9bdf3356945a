/* Programs: PTX, which CUDA's driver makes machine code of (and keeps in a cache of its own), and its kernels. */
#include "cuda_bridge/program.h"
#include "cuda_bridge/compile.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"

#include "base/log.h"
#include "compile_client/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SIZE 8192

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* CUDA takes option values as they are where they fit into a pointer. */
static CUresult load_module(CUmodule *module, const char *ptx, char *log)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_SIZE};

    log[0] = '\0';
    return tsl_cu.cuModuleLoadDataEx(module, ptx, 2, options, values);
}

/* Says in *log what CUDA's own compiler said. */
static cl_int load(struct tsl_cuda_member *member, const struct tsl_cuda_image *image, CUmodule *module, char **log)
{
    char *said = calloc(1, LOG_SIZE);
    const char *name = "";
    CUresult result;
    cl_int error = said ? tsl_cuda_enter(member) : CL_OUT_OF_HOST_MEMORY;

    if (!error) {
        result = load_module(module, image->data, said);
        tsl_cuda_leave(member);
        error = tsl_cuda_error(member, result);
        tsl_cu.cuGetErrorName(result, &name);
        if (error && result != CUDA_ERROR_OUT_OF_MEMORY && !tsl_member_is_lost(&member->base))
            error = CL_BUILD_PROGRAM_FAILURE;
    }
    if (error && asprintf(log, "CUDA could not load the program: %s%s%s", name ? name : "", said && *said ? "\n" : "",
                          said ? said : "") < 0)
        *log = NULL;
    free(said);
    return error;
}

static void unload(struct tsl_cuda_member *member, CUmodule module)
{
    if (tsl_cuda_enter(member))
        return;
    tsl_cuda_error(member, tsl_cu.cuModuleUnload(module));
    tsl_cuda_leave(member);
}

/* A program of an image, loaded unless it is only to be linked. `executable`: only that will do. */
static cl_int load_image(struct tsl_cuda_member *member, const void *data, size_t size, bool executable,
                         struct tsl_dprogram **program, char **log)
{
    static atomic_uint_fast64_t numbers;
    struct tsl_cuda_program *p = calloc(1, sizeof(*p));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (!p)
        return error;
    p->number = atomic_fetch_add(&numbers, 1) + 1;
    if (!tsl_cuda_image_decode(data, size, &p->image)) {
        *log = strdup("this is no binary of Tesela's for an NVIDIA GPU, or a damaged one");
        error = CL_INVALID_BINARY;
        goto no_image;
    }
    if (executable && p->image.kind != TSL_CUDA_IMAGE_PTX) {
        *log = strdup("this program was compiled, but not linked");
        error = CL_INVALID_BINARY;
        goto no_binary;
    }
    p->binary = malloc(size);
    if (!p->binary)
        goto no_binary;
    memcpy(p->binary, data, size);
    p->binary_size = size;
    error = p->image.kind == TSL_CUDA_IMAGE_PTX ? load(member, &p->image, &p->module, log) : CL_SUCCESS;
    if (error)
        goto no_binary;
    p->base.member = &member->base;
    *program = &p->base;
    return CL_SUCCESS;

no_binary:
    free(p->binary);
    tsl_cuda_image_finish(&p->image);
no_image:
    free(p);
    return error;
}

/* Wrong facts about a kernel's parameters would make CUDA read beyond them, so only our own images will do. */
static cl_int load_binary(struct tsl_cuda_member *member, const struct tsl_program_input *input, bool executable,
                          struct tsl_dprogram **program, char **log)
{
    if (!input->foreign)
        return load_image(member, input->data, input->size, executable, program, log);
    *log = strdup("only binaries that Tesela gave can be loaded on this member");
    return CL_INVALID_BINARY;
}

/* Loads what the compiler made; its log, and CUDA's where that says more, becomes the caller's. */
static cl_int load_made(struct tsl_cuda_member *member, cl_int error, struct tsl_cuda_made *made,
                        struct tsl_dprogram **program, char **log)
{
    char *said = NULL;

    if (!error)
        error = load_image(member, made->image, made->size, false, program, &said);
    free(made->image);
    *log = said ? said : made->log ? made->log : strdup("");
    if (said)
        free(made->log);
    return error;
}

cl_int tsl_cuda_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                      char **log)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    struct tsl_cuda_made made = {.image = NULL};
    cl_int error = CL_INVALID_OPERATION;

    *log = NULL;
    if (input->kind == TSL_PROGRAM_SOURCE || input->kind == TSL_PROGRAM_IL)
        return load_made(m, tsl_cuda_make_build(m, input, &made), &made, program, log);
    if (input->kind == TSL_PROGRAM_BINARY)
        error = load_binary(m, input, true, program, log);
    if (!*log)
        *log = strdup("");
    return error;
}

cl_int tsl_cuda_compile(struct tsl_member *member, const struct tsl_program_input *input,
                        const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    struct tsl_cuda_made made = {.image = NULL};
    cl_int error = CL_INVALID_OPERATION;

    *log = NULL;
    if (input->kind == TSL_PROGRAM_SOURCE || input->kind == TSL_PROGRAM_IL)
        return load_made(m, tsl_cuda_make_compile(m, input, headers, &made), &made, program, log);
    if (input->kind == TSL_PROGRAM_BINARY)
        error = load_binary(m, input, false, program, log);
    if (!*log)
        *log = strdup("");
    return error;
}

/* Does the list of options ask for a library? Whole words only. */
static bool wants_library(const char *options)
{
    static const char word[] = "-create-library";
    const char *at = options;

    while ((at = strstr(at, word))) {
        char before = at == options ? ' ' : at[-1], after = at[strlen(word)];

        if (before == ' ' && (after == ' ' || after == '\0'))
            return true;
        at += strlen(word);
    }
    return false;
}

cl_int tsl_cuda_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                     char **log)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    enum tsl_cuda_image_kind kind = wants_library(input->options) ? TSL_CUDA_IMAGE_OBJECT : TSL_CUDA_IMAGE_PTX;
    struct tsl_cuda_made made = {.image = NULL};

    *log = NULL;
    return load_made(m, tsl_cuda_make_link(m, input, kind, &made), &made, program, log);
}

cl_int tsl_cuda_program_binary(struct tsl_dprogram *program, void **data, size_t *size)
{
    struct tsl_cuda_program *p = tsl_cuda_program(program);

    *data = malloc(p->binary_size);
    if (!*data)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(*data, p->binary, p->binary_size);
    *size = p->binary_size;
    return CL_SUCCESS;
}

void tsl_cuda_program_free(struct tsl_dprogram *program)
{
    struct tsl_cuda_program *p = tsl_cuda_program(program);

    if (p->module)
        unload(tsl_cuda_member(program->member), p->module);
    tsl_cuda_image_finish(&p->image);
    free(p->binary);
    free(p);
}

bool tsl_cuda_program_variables(struct tsl_dprogram *program, size_t *bytes)
{
    const struct tsl_cuda_image *image = &tsl_cuda_program(program)->image;
    bool any = false;

    *bytes = 0;
    for (unsigned i = 0; i < image->n_kernels; i++)
        any |= image->facts[i].opaque;
    return any;
}

cl_int tsl_cuda_program_kernels(struct tsl_dprogram *program, char **names)
{
    const struct tsl_cuda_image *image = &tsl_cuda_program(program)->image;
    size_t size = 1;
    char *end;

    for (unsigned i = 0; i < image->n_kernels; i++)
        size += strlen(image->facts[i].name) + 1;
    *names = end = calloc(1, size);
    if (!end)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < image->n_kernels; i++)
        end += sprintf(end, "%s%s", i ? ";" : "", image->facts[i].name);
    return CL_SUCCESS;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static const struct tsl_kernel_facts *find(const struct tsl_cuda_image *image, const char *name)
{
    for (unsigned i = 0; i < image->n_kernels; i++)
        if (!strcmp(image->facts[i].name, name))
            return &image->facts[i];
    return NULL;
}

/* Facts that own themselves: by the wire, which knows every field. */
static bool copy_facts(const struct tsl_kernel_facts *facts, struct tsl_kernel_facts *copy)
{
    struct tsl_writer writer = {.data = NULL};
    struct tsl_reader reader;
    bool copied;

    tsl_wire_put_facts(&writer, facts);
    reader = tsl_reader_of(writer.data, writer.size);
    copied = !writer.failed && tsl_wire_get_facts(&reader, copy);
    free(writer.data);
    return copied;
}

static CUresult ask(CUfunction function, CUfunction_attribute attribute, int *value)
{
    *value = 0;
    return tsl_cu.cuFuncGetAttribute(value, attribute, function);
}

/* Looks it up, and asks for it what only CUDA knows. Asking also loads it, so that no launch has to: CUDA may wait for
 * the device then. */
static cl_int look_up(struct tsl_cuda_member *member, const struct tsl_cuda_program *program, const char *name,
                      struct tsl_cuda_kernel *kernel, struct tsl_kernel_facts *facts)
{
    int max_threads = 0, shared = 0, local = 0;
    cl_int error = tsl_cuda_enter(member);
    CUresult result;

    if (error)
        return error;
    result = tsl_cu.cuModuleGetFunction(&kernel->function, program->module, name);
    if (!result)
        result = ask(kernel->function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &max_threads);
    if (!result)
        result = ask(kernel->function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared);
    if (!result)
        result = ask(kernel->function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local);
    tsl_cuda_leave(member);
    if (result == CUDA_ERROR_NOT_FOUND)
        return CL_INVALID_KERNEL_NAME;
    kernel->max_threads = (unsigned)max_threads;
    kernel->static_shared = (unsigned)shared;
    facts->work_group_size = (size_t)max_threads;
    facts->preferred_multiple = (size_t)member->gpu->warp;
    facts->local_mem_size = (cl_ulong)shared;
    facts->private_mem_size = (cl_ulong)local;
    return tsl_cuda_error(member, result);
}

cl_int tsl_cuda_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                              struct tsl_kernel_facts *facts)
{
    struct tsl_cuda_program *p = tsl_cuda_program(program);
    const struct tsl_kernel_facts *known = find(&p->image, name);
    struct tsl_cuda_kernel *k;
    cl_int error;

    if (!known)
        return CL_INVALID_KERNEL_NAME;
    k = calloc(1, sizeof(*k));
    if (!k)
        return CL_OUT_OF_HOST_MEMORY;
    if (!copy_facts(known, facts)) {
        free(k);
        return CL_OUT_OF_HOST_MEMORY;
    }
    k->base.program = program;
    k->module = p->number;
    k->facts = known;
    error = look_up(tsl_cuda_member(program->member), p, name, k, facts);
    if (error) {
        tsl_kernel_facts_finish(facts);
        free(k);
        return error;
    }
    *kernel = &k->base;
    return CL_SUCCESS;
}

/* CUDA's functions live as long as their module. */
void tsl_cuda_kernel_free(struct tsl_dkernel *kernel)
{
    free(tsl_cuda_kernel(kernel));
}

/* Ids and sizes come as parameters, so every kernel answers as for the whole launch. */
bool tsl_cuda_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    (void)kernel;
    return facts->proven;
}
