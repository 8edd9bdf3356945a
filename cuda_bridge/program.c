/* Programs: PTX, which CUDA's driver makes machine code of (and keeps in a cache of its own), and its kernels. */
#include "cuda_bridge/program.h"
#include "cuda_bridge/compile.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/memory.h"
#include "cuda_bridge/module.h"
#include "cuda_bridge/operations.h"

#include "compile_client/ptx.h"
#include "compile_client/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tsl_kernel_facts *find(const struct tsl_cuda_image *image, const char *name)
{
    for (unsigned i = 0; i < image->n_kernels; i++)
        if (!strcmp(image->facts[i].name, name))
            return &image->facts[i];
    return NULL;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static bool takes_image(const struct tsl_kernel_facts *facts)
{
    for (cl_uint i = 0; i < facts->n_args; i++)
        if (facts->args[i].kind == TSL_FACT_IMAGE)
            return true;
    return false;
}

/* The name of the kernel that reads images by textures in this one's place (compile_client/ptx.h), on the heap. NULL:
 * there can't be one, or there is no memory. A program's own kernel of that name isn't one. */
static char *twin_name(const struct tsl_cuda_image *image, const struct tsl_kernel_facts *facts)
{
    char *name;

    if (!takes_image(facts) || asprintf(&name, "%s" TSL_PTX_TEXTURES, facts->name) < 0)
        return NULL;
    if (!find(image, name))
        return name;
    free(name);
    return NULL;
}

/* False: the member got ready meanwhile. */
static bool put_off(struct tsl_cuda_member *member, struct tsl_cuda_program *p)
{
    bool late;

    pthread_mutex_lock(&member->late_lock);
    late = p->late = !tsl_member_is_ready(&member->base);
    if (late)
        LIST_INSERT_HEAD(&member->late, p, link);
    pthread_mutex_unlock(&member->late_lock);
    return late;
}

/* For a member that isn't ready the same code on a GPU of the same kind tells whether CUDA takes it. Without such a GPU
 * the member is made ready. */
static cl_int load(struct tsl_cuda_member *member, struct tsl_cuda_program *p, char **log)
{
    struct tsl_cuda_member *twin = tsl_member_is_ready(&member->base) ? NULL : tsl_cuda_twin(member);
    cl_int error = tsl_member_is_lost(&member->base) ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;

    if (!error && twin)
        error = tsl_cuda_module_get(twin, &p->image, false, &p->twin, log);
    if (error || (twin && put_off(member, p)))
        return error;
    tsl_cuda_module_put(p->twin);
    p->twin = NULL;
    return tsl_cuda_module_get(member, &p->image, true, &p->module, log);
}

static cl_int resolve_locked(struct tsl_cuda_member *member, struct tsl_cuda_program *p,
                             const struct tsl_cuda_module *module)
{
    struct tsl_cuda_about about;
    struct tsl_cuda_kernel *k;
    char *twin;
    cl_int error = tsl_cuda_enter(member);

    if (error)
        return error;
    while (!error && (k = LIST_FIRST(&p->late_kernels))) {
        twin = twin_name(&p->image, k->facts);
        error = tsl_cuda_error(member, tsl_cuda_module_ask(module, k->facts->name, twin, &about));
        free(twin);
        if (error)
            break;
        k->function = about.function;
        k->by_textures = about.by_textures;
        k->late = false;
        LIST_REMOVE(k, link);
    }
    tsl_cuda_leave(member);
    return error;
}

/* The lock is given meanwhile. */
static cl_int load_late_locked(struct tsl_cuda_member *member, struct tsl_cuda_program *p)
{
    struct tsl_cuda_module *module = NULL, *unused;
    char *log = NULL;
    cl_int error;

    p->loading = true;
    pthread_mutex_unlock(&member->late_lock);
    error = tsl_cuda_module_get(member, &p->image, true, &module, &log);
    free(log);
    pthread_mutex_lock(&member->late_lock);
    p->loading = false;
    pthread_cond_broadcast(&member->late_loaded);
    if (!error)
        error = resolve_locked(member, p, module);
    unused = error ? module : p->twin;
    if (!error) {
        p->module = module;
        p->twin = NULL;
        p->late = false;
        LIST_REMOVE(p, link);
    }
    pthread_mutex_unlock(&member->late_lock);
    tsl_cuda_module_put(unused);
    pthread_mutex_lock(&member->late_lock);
    return error;
}

cl_int tsl_cuda_programs_catch_up(struct tsl_cuda_member *member)
{
    struct tsl_cuda_program *p;
    cl_int error = CL_SUCCESS;

    pthread_mutex_lock(&member->late_lock);
    while (!error && (p = LIST_FIRST(&member->late)))
        error = load_late_locked(member, p);
    if (!error)
        tsl_member_set_ready(&member->base);
    pthread_mutex_unlock(&member->late_lock);
    return error;
}

static uint64_t next_number(void)
{
    static atomic_uint_fast64_t numbers;

    return atomic_fetch_add(&numbers, 1) + 1;
}

/* A program of an image, loaded unless it is only to be linked. `executable`: only that will do. */
static cl_int load_image(struct tsl_cuda_member *member, const void *data, size_t size, bool executable,
                         struct tsl_dprogram **program, char **log)
{
    struct tsl_cuda_program *p = calloc(1, sizeof(*p));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (!p)
        return error;
    p->number = next_number();
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
    p->binary_size = p->base.code_size = size;
    LIST_INIT(&p->late_kernels);
    p->base.member = &member->base;
    error = p->image.kind == TSL_CUDA_IMAGE_PTX ? load(member, p, log) : CL_SUCCESS;
    if (error)
        goto no_binary;
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
    struct tsl_cuda_member *member = tsl_cuda_member(program->member);

    pthread_mutex_lock(&member->late_lock);
    while (p->loading)
        pthread_cond_wait(&member->late_loaded, &member->late_lock);
    if (p->late)
        LIST_REMOVE(p, link);
    pthread_mutex_unlock(&member->late_lock);
    tsl_cuda_module_put(p->module);
    tsl_cuda_module_put(p->twin);
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

/* The program's own module or, while that isn't loaded, its twin. With a reference. */
static struct tsl_cuda_module *hold_module(struct tsl_cuda_program *p, bool *own)
{
    struct tsl_cuda_member *member = tsl_cuda_member(p->base.member);
    struct tsl_cuda_module *module;

    pthread_mutex_lock(&member->late_lock);
    *own = p->module;
    module = tsl_cuda_module_ref(p->module ? p->module : p->twin);
    pthread_mutex_unlock(&member->late_lock);
    return module;
}

/* What only CUDA knows of the kernel. */
static cl_int ask(struct tsl_cuda_module *module, const char *name, const char *twin, struct tsl_cuda_about *about)
{
    struct tsl_cuda_member *member = tsl_cuda_module_member(module);
    cl_int error = tsl_cuda_enter_open(member);
    CUresult result;

    if (error)
        return error;
    result = tsl_cuda_module_ask(module, name, twin, about);
    tsl_cuda_leave(member);
    return result == CUDA_ERROR_NOT_FOUND ? CL_INVALID_KERNEL_NAME : tsl_cuda_error(member, result);
}

/* Its function is looked up when the program is loaded. False: it is by now. */
static bool put_off_kernel(struct tsl_cuda_program *p, struct tsl_cuda_kernel *kernel)
{
    struct tsl_cuda_member *member = tsl_cuda_member(p->base.member);

    pthread_mutex_lock(&member->late_lock);
    kernel->late = !p->module;
    if (kernel->late)
        LIST_INSERT_HEAD(&p->late_kernels, kernel, link);
    pthread_mutex_unlock(&member->late_lock);
    return kernel->late;
}

static cl_int look_up(struct tsl_cuda_program *program, struct tsl_cuda_kernel *kernel, struct tsl_kernel_facts *facts)
{
    struct tsl_cuda_about about = {.function = NULL};
    char *twin = twin_name(&program->image, kernel->facts);
    bool own = false;
    cl_int error = tsl_member_is_lost(program->base.member) ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;

    while (!error && !own) {
        struct tsl_cuda_module *module = hold_module(program, &own);

        error = ask(module, kernel->facts->name, twin, &about);
        tsl_cuda_module_put(module);
        kernel->function = about.function;
        kernel->by_textures = about.by_textures;
        if (!error && !own && put_off_kernel(program, kernel))
            break;
    }
    free(twin);
    kernel->max_threads = (unsigned)about.max_threads;
    kernel->static_shared = (unsigned)about.shared_size;
    facts->work_group_size = (size_t)about.max_threads;
    facts->told_group_size = about.max_threads > TSL_CUDA_USUAL_GROUP ? TSL_CUDA_USUAL_GROUP : 0;
    facts->preferred_multiple = (size_t)tsl_cuda_member(program->base.member)->gpu->warp;
    facts->local_mem_size = (cl_ulong)about.shared_size;
    facts->private_mem_size = (cl_ulong)about.local_size;
    return error;
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
    error = look_up(p, k, facts);
    if (error) {
        tsl_kernel_facts_finish(facts);
        free(k);
        return error;
    }
    *kernel = &k->base;
    return CL_SUCCESS;
}

/* ---- Substitutes ------------------------------------------------------------------------------------------------- */

static cl_int ask_foreign(struct tsl_cuda_kernel *kernel, const char *name)
{
    struct tsl_cuda_about about;
    cl_int error = ask(kernel->foreign, name, NULL, &about);

    if (error)
        return error == CL_INVALID_KERNEL_NAME ? CL_INVALID_BINARY : error;
    kernel->module = next_number();
    kernel->function = about.function;
    kernel->max_threads = (unsigned)about.max_threads;
    kernel->static_shared = (unsigned)about.shared_size;
    return CL_SUCCESS;
}

/* Code of anybody's: PTX, or what CUDA's tools make of it. */
static cl_int load_foreign(struct tsl_cuda_member *member, const struct tsl_substitute *what,
                           struct tsl_cuda_kernel *kernel, char **log)
{
    struct tsl_cuda_image image = {.kind = TSL_CUDA_IMAGE_PTX, .size = what->code_size};
    cl_int error;

    image.data = malloc(what->code_size + 1);
    if (!image.data)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(image.data, what->code, what->code_size);
    image.data[what->code_size] = 0;
    error = tsl_cuda_module_get(member, &image, true, &kernel->foreign, log);
    free(image.data);
    if (error)
        return error == CL_BUILD_PROGRAM_FAILURE ? CL_INVALID_BINARY : error;
    error = ask_foreign(kernel, what->function);
    if (error)
        tsl_cuda_module_put(kernel->foreign);
    return error;
}

/* The member is ready from then on, and so the original has its function. */
static cl_int make_ready(struct tsl_cuda_member *member)
{
    cl_int error = tsl_cuda_enter(member);

    if (!error)
        tsl_cuda_leave(member);
    return error;
}

/* A call has the original's function, too, for launches that it refuses. */
cl_int tsl_cuda_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                           char **log)
{
    struct tsl_cuda_member *member = tsl_cuda_member(original->program->member);
    struct tsl_cuda_kernel *k = malloc(sizeof(*k));
    cl_int error = k ? make_ready(member) : CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    if (!error) {
        *k = *tsl_cuda_kernel(original);
        if (what->call)
            k->call = *what->call;
        else
            error = load_foreign(member, what, k, log);
    }
    if (!*log)
        *log = strdup(error == CL_INVALID_BINARY ? "there is no such function in it" : "");
    if (error) {
        free(k);
        return error;
    }
    *kernel = &k->base;
    return CL_SUCCESS;
}

/* CUDA's functions live as long as their module. */
void tsl_cuda_kernel_free(struct tsl_dkernel *kernel)
{
    struct tsl_cuda_kernel *k = tsl_cuda_kernel(kernel);
    struct tsl_cuda_member *member = tsl_cuda_member(kernel->program->member);

    pthread_mutex_lock(&member->late_lock);
    if (k->late)
        LIST_REMOVE(k, link);
    pthread_mutex_unlock(&member->late_lock);
    tsl_cuda_module_put(k->foreign);
    free(k);
}

/* Ids and sizes come as parameters, so every kernel answers as for the whole launch. */
bool tsl_cuda_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    (void)kernel;
    return facts->proven;
}
