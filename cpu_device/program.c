/* Programs: shared objects that the kernel compiler makes, and their kernels. */
#include "cpu_device/program.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/settings.h"
#include "cpu_device/operations.h"
#include "cpu_device/special.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

#define PATH_SIZE 256

/* Bits as dots that lead nowhere. */
static char *add_dots(char *at, uint64_t bits, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at += sprintf(at, bits >> i & 1 ? "/." : "/");
    return at;
}

/* The dynamic linker takes files of one path for one library, and numbers of files come again. So each load has a path
 * of its own: its serial number stands in it, and the address of where that is counted, as there may be another copy of
 * Tesela in the process. path: PATH_SIZE bytes. */
static void unique_path(int file, char *path)
{
    static atomic_uint serials;
    char *at = path + sprintf(path, "/proc/self/fd");

    at = add_dots(at, (uintptr_t)&serials, 64);
    at = add_dots(at, atomic_fetch_add(&serials, 1), 32);
    sprintf(at, "/%d", file);
}

/* From memory: a file of no name. */
static void *load(const void *data, size_t size, const char **why)
{
    int file = memfd_create("tesela-kernels", MFD_CLOEXEC);
    void *handle = NULL;
    char path[PATH_SIZE];
    int error;

    if (file < 0)
        return NULL;
    error = tsl_file_write(file, data, size);
    unique_path(file, path);
    if (!error)
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *why = handle ? NULL : error == EFBIG ? "it is larger than the files that this process may write" : dlerror();
    close(file);
    return handle;
}

struct search {
    uintptr_t inside, begin, end;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || search->inside < begin ||
            search->inside >= begin + header->p_memsz)
            continue;
        search->begin = begin;
        search->end = begin + header->p_memsz;
        return 1;
    }
    return 0;
}

static void find_code(struct cpu_code *code)
{
    struct search search = {.inside = (uintptr_t)code->module->kernels[0].run};

    dl_iterate_phdr(look_at_object, &search);
    code->begin = search.begin;
    code->end = search.end;
}

bool cpu_code_load(struct cpu_code *code, const void *data, size_t size)
{
    const char *why = NULL;

    *code = (struct cpu_code){.handle = load(data, size, &why)};
    if (code->handle)
        code->module = dlsym(code->handle, TSL_WG_SYMBOL);
    if (!code->module || code->module->magic != TSL_WG_MAGIC || code->module->abi != TSL_WG_ABI) {
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR, "the kernel compiler's result can't be loaded: %s",
                why ? why : "it is no shared object of ours");
        cpu_code_unload(code);
        return false;
    }
    if (code->module->n_kernels)
        find_code(code);
    return true;
}

void cpu_code_unload(struct cpu_code *code)
{
    if (code->handle)
        dlclose(code->handle);
    *code = (struct cpu_code){.handle = NULL};
}

static cl_int load_program(struct cpu_program *p)
{
    const struct tsl_wire_built *built = &p->compiled.built;

    p->base.code_size = built->artefact_size;
    return cpu_code_load(&p->code, built->artefact, built->artefact_size) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static bool has_variables(const struct tsl_wire_built *built)
{
    bool any = false;

    for (uint32_t i = 0; i < built->n_kernels; i++)
        any |= built->kernels[i].facts.opaque;
    return any;
}

static cl_int not_built(cl_int error, char **log)
{
    *log = strdup(error == CL_COMPILER_NOT_AVAILABLE ? TSL_COMPILE_NO_TRANSLATOR : "");
    return error;
}

/* The options of a build whose kernels' accesses are checked (heap); NULL: they aren't, or no memory. */
static char *checked_options(const struct tsl_wire_build *build)
{
    char *options = NULL;

    if (tsl_settings()->check & TSL_CHECK_ACCESS &&
        asprintf(&options, "%s " TSL_WG_CHECK_OPTION, build->options ? build->options : "") < 0)
        options = NULL;
    return options;
}

static cl_int build_as(struct tsl_member *member, const struct tsl_wire_build *build, bool loadable,
                       struct tsl_dprogram **program, char **log)
{
    struct cpu_program *p = calloc(1, sizeof(*p));
    cl_int error;

    if (!p)
        return not_built(CL_OUT_OF_HOST_MEMORY, log);
    p->base.member = member;
    error = tsl_compile(build, &p->compiled);
    *log = strdup(p->compiled.built.log ? p->compiled.built.log : "");
    if (!error && loadable)
        error = load_program(p);
    /* Variables are in the code that is loaded: code that is made later would have others. */
    if (!error && loadable && !has_variables(&p->compiled.built))
        p->specials = cpu_specials_create(build, &p->compiled.built, p->code.module);
    if (error) {
        cpu_program_free(&p->base);
        return error;
    }
    *program = &p->base;
    return CL_SUCCESS;
}

static cl_int build(struct tsl_member *member, const struct tsl_wire_build *build, bool loadable,
                    struct tsl_dprogram **program, char **log)
{
    struct tsl_wire_build request = *build;
    char *options = checked_options(build);
    cl_int error;

    if (options)
        request.options = options;
    error = build_as(member, &request, loadable, program, log);
    free(options);
    return error;
}

/* A binary is the compiler's own message: facts and artefact. */
static cl_int open_binary(struct tsl_member *member, const struct tsl_program_input *input, bool loadable,
                          struct tsl_dprogram **program, char **log)
{
    struct cpu_program *p = calloc(1, sizeof(*p));
    struct tsl_wire_header header;
    cl_int error = CL_INVALID_BINARY;

    *log = strdup("");
    if (!p)
        return CL_OUT_OF_HOST_MEMORY;
    p->base.member = member;
    p->compiled.message = malloc(input->size ? input->size : 1);
    if (!p->compiled.message) {
        free(p);
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(p->compiled.message, input->data, input->size);
    if (tsl_wire_look(p->compiled.message, input->size, &header) == TSL_WIRE_WHOLE && header.type == TSL_WIRE_BUILT &&
        tsl_wire_decode_built((char *)p->compiled.message + TSL_WIRE_HEADER_SIZE, header.body_size, &p->compiled.built))
        error = loadable ? load_program(p) : CL_SUCCESS;
    else
        p->compiled.built = (struct tsl_wire_built){.n_kernels = 0};
    if (error) {
        cpu_program_free(&p->base);
        return error;
    }
    *program = &p->base;
    return CL_SUCCESS;
}

cl_int cpu_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                 char **log)
{
    struct tsl_wire_build request = {.action = TSL_WIRE_WHOLE_BUILD, .target = TSL_WIRE_CPU};
    cl_int error;

    if (input->kind == TSL_PROGRAM_BINARY)
        return open_binary(member, input, true, program, log);
    if (input->kind == TSL_PROGRAM_BUILTIN) {
        *log = strdup("the built-in CPU has no built-in kernels");
        return CL_INVALID_OPERATION;
    }
    error = tsl_compile_take(input, &request);
    error = error ? not_built(error, log) : build(member, &request, true, program, log);
    tsl_compile_drop(&request);
    return error;
}

cl_int cpu_compile(struct tsl_member *member, const struct tsl_program_input *input,
                   const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log)
{
    struct tsl_wire_build request = {.action = TSL_WIRE_COMPILE, .target = TSL_WIRE_CPU};
    cl_int error;

    if (input->kind == TSL_PROGRAM_BINARY)
        return open_binary(member, input, false, program, log);
    request.n_headers = headers ? headers->n : 0;
    request.headers = calloc(request.n_headers + 1, sizeof(*request.headers));
    for (uint32_t i = 0; i < request.n_headers; i++)
        request.headers[i] = (struct tsl_wire_text){(char *)headers->headers[i].name,
                                                    strndup(headers->headers[i].text, headers->headers[i].size)};
    error = tsl_compile_take(input, &request);
    error = error ? not_built(error, log) : build(member, &request, false, program, log);
    for (uint32_t i = 0; i < request.n_headers; i++)
        free(request.headers[i].text);
    free(request.headers);
    tsl_compile_drop(&request);
    return error;
}

cl_int cpu_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                char **log)
{
    struct tsl_wire_build request = {
        .action = TSL_WIRE_LINK, .target = TSL_WIRE_CPU, .options = (char *)input->options};
    cl_int error;

    request.source = (char *)"";
    request.n_inputs = input->n;
    request.inputs = calloc(input->n + 1, sizeof(*request.inputs));
    for (unsigned i = 0; i < input->n; i++) {
        const struct tsl_wire_built *built = &((struct cpu_program *)input->programs[i])->compiled.built;

        request.inputs[i] = (struct tsl_wire_input){built->artefact, built->artefact_size};
    }
    error = build(member, &request, !strstr(input->options, "-create-library"), program, log);
    free(request.inputs);
    return error;
}

cl_int cpu_program_binary(struct tsl_dprogram *program, void **data, size_t *size)
{
    const struct cpu_program *p = (struct cpu_program *)program;
    struct tsl_writer writer = {0};

    tsl_wire_encode_built(&writer, 0, &p->compiled.built);
    if (writer.failed) {
        free(writer.data);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *data = writer.data;
    *size = writer.size;
    return CL_SUCCESS;
}

void cpu_program_free(struct tsl_dprogram *program)
{
    struct cpu_program *p = (struct cpu_program *)program;

    cpu_specials_free(p->specials);
    cpu_code_unload(&p->code);
    tsl_compiled_finish(&p->compiled);
    free(p);
}

bool cpu_program_variables(struct tsl_dprogram *program, size_t *bytes)
{
    *bytes = 0;
    return has_variables(&((struct cpu_program *)program)->compiled.built);
}

cl_int cpu_program_kernels(struct tsl_dprogram *program, char **names)
{
    const struct cpu_program *p = (struct cpu_program *)program;
    size_t size = 1;

    for (uint32_t i = 0; i < p->compiled.built.n_kernels; i++)
        size += strlen(p->compiled.built.kernels[i].facts.name) + 1;
    *names = calloc(1, size);
    if (!*names)
        return CL_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < p->compiled.built.n_kernels; i++) {
        if (i)
            strcat(*names, ";");
        strcat(*names, p->compiled.built.kernels[i].facts.name);
    }
    return CL_SUCCESS;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* A copy by way of the wire format: it copies every part, and sees every failure. */
static bool copy_facts(const struct tsl_kernel_facts *from, struct tsl_kernel_facts *to)
{
    struct tsl_writer writer = {0};
    struct tsl_reader reader;
    bool done;

    tsl_wire_put_facts(&writer, from);
    reader = tsl_reader_of(writer.data, writer.size);
    done = !writer.failed && tsl_wire_get_facts(&reader, to);
    free(writer.data);
    return done;
}

cl_int cpu_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                         struct tsl_kernel_facts *facts)
{
    struct cpu_program *p = (struct cpu_program *)program;
    const struct tsl_kernel_facts *known = NULL;
    struct cpu_kernel *k;

    for (uint32_t i = 0; i < p->compiled.built.n_kernels; i++)
        if (!strcmp(p->compiled.built.kernels[i].facts.name, name))
            known = &p->compiled.built.kernels[i].facts;
    k = known ? calloc(1, sizeof(*k)) : NULL;
    if (!k)
        return known ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_KERNEL_NAME;
    k->base.program = program;
    k->facts = known;
    for (unsigned d = 0; d < 3; d++)
        k->own_size[d] = known->recommended_size[d];
    for (uint32_t i = 0; p->code.module && i < p->code.module->n_kernels; i++)
        if (!strcmp(p->code.module->kernels[i].name, name))
            k->code = &p->code.module->kernels[i];
    if (!k->code || !copy_facts(known, facts)) {
        cl_int error = k->code ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_KERNEL_NAME;

        free(k);
        return error;
    }
    *kernel = &k->base;
    return CL_SUCCESS;
}

/* It has the original's code, too, for launches that the call refuses. */
cl_int cpu_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                      char **log)
{
    const struct cpu_kernel *of = (struct cpu_kernel *)original;
    struct cpu_kernel *k;

    *log = strdup(what->call ? "" : "the built-in CPU takes OpenCL C and functions, no machine code in files");
    if (!what->call)
        return CL_INVALID_OPERATION;
    k = calloc(1, sizeof(*k));
    if (!k)
        return CL_OUT_OF_HOST_MEMORY;
    k->base = of->base;
    k->code = of->code;
    k->facts = of->facts;
    memcpy(k->own_size, of->own_size, sizeof(k->own_size));
    k->call = *what->call;
    *kernel = &k->base;
    return CL_SUCCESS;
}

void cpu_kernel_free(struct tsl_dkernel *kernel)
{
    free(kernel);
}

/* Ids answer as for the whole launch, whatever the kernel asks. */
bool cpu_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    (void)kernel, (void)facts;
    return true;
}
