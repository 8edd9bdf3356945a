/* The names of a program's kernels, separated by ';'. Heap; the caller frees them. */
#include "opencl/gate.h"
#include "opencl/operations.h"
#include "opencl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PTX, the binaries of NVIDIA's OpenCL ------------------------------------------------------------------------ */

static bool goes_on_with(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) >= strlen(word) && !memcmp(at, word, strlen(word));
}

/* Of the line's first word, or of the second behind `.visible` or `.weak`: where the name of an .entry begins, or NULL.
 */
static const char *entry_of(const char *line, const char *end)
{
    static const char *const linkage[] = {".visible ", ".weak "};

    for (size_t i = 0; i < sizeof(linkage) / sizeof(linkage[0]); i++)
        if (goes_on_with(line, end, linkage[i]))
            line += strlen(linkage[i]);
    return goes_on_with(line, end, ".entry ") ? line + strlen(".entry ") : NULL;
}

/* Characters of PTX's identifiers, as the PTX ISA has them. */
static size_t name_length(const char *name, const char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";
    size_t n = 0;

    while (name + n < end && name[n] && strchr(letters, name[n]))
        n++;
    return n;
}

char *tsl_opencl_ptx_names(const char *text, size_t size)
{
    const char *end = text + size, *next;
    char *names = calloc(1, size + 1), *to = names; /* Zero behind the last. */

    for (const char *line = text; names && line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *name = entry_of(line, newline ? newline : end);

        next = newline ? newline + 1 : end;
        if (!name)
            continue;
        if (to > names)
            *to++ = ';';
        to = mempcpy(to, name, name_length(name, next));
    }
    return names ? realloc(names, (size_t)(to - names) + 1) : NULL;
}

static bool is_ptx(const char *text, size_t size)
{
    return text && size > 2 && memmem(text, size, "\n.version ", strlen("\n.version "));
}

/* NULL: there is none, or no memory. */
static char *names_of_ptx(struct tsl_opencl_member *m, cl_program program)
{
    char *names = NULL;
    void *text = NULL;
    size_t size = 0;

    if (tsl_opencl_get_binary(m, program, &text, &size) != CL_SUCCESS)
        return NULL;
    if (is_ptx(text, size))
        names = tsl_opencl_ptx_names(text, size);
    free(text);
    return names;
}

/* ---- OpenCL 1.1: by kernel objects alone ------------------------------------------------------------------------- */

/* Adds the kernel's name to the list, behind a ';' unless it is the first. */
static cl_int add_name(const struct tsl_opencl_cl *cl, cl_kernel kernel, char **names)
{
    size_t size = 0, length = strlen(*names);
    cl_int error = cl->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size);
    char *longer = error ? NULL : realloc(*names, length + size + 2);

    if (!longer)
        return error ? error : CL_OUT_OF_HOST_MEMORY;
    *names = longer;
    if (length)
        longer[length++] = ';';
    longer[length + size] = 0;
    return cl->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, longer + length, NULL);
}

static cl_int names_of_all(struct tsl_opencl_member *m, const cl_kernel *kernels, cl_uint n, char **names)
{
    cl_int error;

    *names = strdup("");
    error = *names ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n && !error; i++)
        error = add_name(m->cl, kernels[i], names);
    for (cl_uint i = 0; i < n; i++)
        tsl_opencl_release(m, TSL_OPENCL_KERNEL, kernels[i]);
    if (error)
        free(*names);
    return error;
}

static cl_int names_11(struct tsl_opencl_member *m, cl_program program, char **names)
{
    const struct tsl_opencl_cl *cl = m->cl;
    cl_uint n = 0;
    cl_int error =
        cl->clCreateKernelsInProgram ? cl->clCreateKernelsInProgram(program, 0, NULL, &n) : CL_INVALID_OPERATION;
    cl_kernel *kernels = error ? NULL : calloc(n + 1, sizeof(cl_kernel));

    if (!kernels)
        return error ? error : CL_OUT_OF_HOST_MEMORY;
    error = n ? cl->clCreateKernelsInProgram(program, n, kernels, NULL) : CL_SUCCESS;
    if (!error)
        error = names_of_all(m, kernels, n, names);
    free(kernels);
    return error;
}

/* ---- OpenCL 1.2 -------------------------------------------------------------------------------------------------- */

static cl_int names_12(struct tsl_opencl_member *m, cl_program program, char **names)
{
    const struct tsl_opencl_cl *cl = m->cl;
    size_t size = 0;
    cl_int error = cl->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);

    if (error)
        return error;
    *names = calloc(1, size + 1);
    if (!*names)
        return CL_OUT_OF_HOST_MEMORY;
    error = size ? cl->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, *names, NULL) : CL_SUCCESS;
    if (error)
        free(*names);
    return error;
}

/* ---- Any --------------------------------------------------------------------------------------------------------- */

static cl_int names_of(struct tsl_opencl_member *m, cl_program program, char **names)
{
    bool overflow = m->device->quirks.names_overflow;

    *names = overflow ? names_of_ptx(m, program) : NULL;
    if (*names)
        return CL_SUCCESS;
    return m->device->version >= 120 && !overflow ? names_12(m, program, names) : names_11(m, program, names);
}

static cl_int get_names(struct tsl_opencl_program *p, char **names)
{
    struct tsl_opencl_member *m = tsl_opencl_member(p->base.member);
    cl_int error = names_of(m, p->program, names);

    for (unsigned i = 0; i < p->n_more && !error; i++) {
        char *more, *both = NULL;

        error = names_of(m, p->more[i], &more);
        if (error)
            more = NULL;
        else if (asprintf(&both, "%s;%s", *names, more) < 0) {
            both = NULL;
            error = CL_OUT_OF_HOST_MEMORY;
        }
        free(more);
        free(*names);
        *names = both;
    }
    return error;
}

cl_int tsl_opencl_program_kernels(struct tsl_dprogram *program, char **names)
{
    struct tsl_opencl_device *device = tsl_opencl_member(program->member)->device;
    struct tsl_opencl_program *p = tsl_opencl_program(program);
    cl_int error;

    tsl_opencl_enter(device);
    error = get_names(p, names);
    tsl_opencl_leave(device);
    return error;
}
