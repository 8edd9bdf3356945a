/* What a vendor tells of a kernel. Nothing of it proves what the kernel does with its memory, except that __constant
 * and read-only images are not written: `const` may be cast away. Our own compiler may know more
 * (program/text_access.h). */
#include "opencl/program.h"

#include <stdlib.h>
#include <string.h>

static char *arg_string(const struct tsl_opencl_cl *cl, cl_kernel kernel, cl_uint index, cl_kernel_arg_info param)
{
    size_t size = 0;
    char *text;

    if (cl->clGetKernelArgInfo(kernel, index, param, 0, NULL, &size) || !size)
        return NULL;
    text = calloc(1, size + 1);
    if (text && cl->clGetKernelArgInfo(kernel, index, param, size, text, NULL)) {
        free(text);
        return NULL;
    }
    return text;
}

static bool begins(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

/* Bytes of a scalar or vector of OpenCL C by its name; 0: something else, such as a structure. */
static size_t value_size(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } scalars[] = {
        {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},    {"uint", 4},
        {"long", 8}, {"ulong", 8}, {"half", 2},  {"float", 4},  {"double", 8},
    };
    static const struct {
        const char *suffix;
        size_t n; /* a vector of three has the size of four (OpenCL C 3.0, 6.3.2) */
    } vectors[] = {{"", 1}, {"2", 2}, {"3", 4}, {"4", 4}, {"8", 8}, {"16", 16}};

    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        if (!begins(type, scalars[i].name))
            continue;
        for (size_t j = 0; j < sizeof(vectors) / sizeof(vectors[0]); j++)
            if (!strcmp(type + strlen(scalars[i].name), vectors[j].suffix))
                return scalars[i].size * vectors[j].n;
    }
    return 0;
}

static enum tsl_fact_kind kind_of(const struct tsl_arg_fact *arg)
{
    if (arg->type_qualifier & CL_KERNEL_ARG_TYPE_PIPE)
        return TSL_FACT_PIPE;
    if (tsl_type_is_image(arg->type_name))
        return TSL_FACT_IMAGE;
    if (!strcmp(arg->type_name, "sampler_t"))
        return TSL_FACT_SAMPLER;
    switch (arg->address) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
        return TSL_FACT_GLOBAL;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
        return TSL_FACT_CONSTANT;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
        return TSL_FACT_LOCAL;
    default:
        return TSL_FACT_VALUE;
    }
}

static unsigned may_of(const struct tsl_arg_fact *arg)
{
    if (arg->kind == TSL_FACT_CONSTANT)
        return TSL_MAY_READ;
    if (arg->kind == TSL_FACT_IMAGE && arg->access == CL_KERNEL_ARG_ACCESS_READ_ONLY)
        return TSL_MAY_READ;
    return TSL_MAY_READ | TSL_MAY_WRITE;
}

/* False: the vendor doesn't tell. */
static bool ask_arg(const struct tsl_opencl_cl *cl, cl_kernel kernel, cl_uint i, struct tsl_arg_fact *arg)
{
    if (!cl->clGetKernelArgInfo ||
        cl->clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(arg->address), &arg->address, NULL) ||
        cl->clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(arg->access), &arg->access, NULL) ||
        cl->clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(arg->type_qualifier),
                               &arg->type_qualifier, NULL))
        return false;
    arg->type_name = arg_string(cl, kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    arg->name = arg_string(cl, kernel, i, CL_KERNEL_ARG_NAME);
    return arg->type_name != NULL;
}

static void ask_args(const struct tsl_opencl_cl *cl, cl_kernel kernel, struct tsl_kernel_facts *facts)
{
    facts->has_arg_info = true;
    for (cl_uint i = 0; i < facts->n_args; i++) {
        struct tsl_arg_fact *arg = &facts->args[i];

        arg->may = TSL_MAY_READ | TSL_MAY_WRITE;
        if (!ask_arg(cl, kernel, i, arg)) {
            facts->has_arg_info = false;
            continue;
        }
        arg->kind = kind_of(arg);
        arg->may = may_of(arg);
        if (arg->kind == TSL_FACT_VALUE)
            arg->size = value_size(arg->type_name);
        if (!arg->name)
            facts->has_arg_info = false;
    }
}

/* A smaller number isn't told on: programs would launch by groups too small for any use. */
#define TOLD_LEAST 64

void tsl_opencl_ask_sizes(struct tsl_opencl_member *m, cl_kernel kernel, struct tsl_kernel_facts *facts)
{
    const struct tsl_opencl_cl *cl = m->cl;
    cl_device_id device = m->device->id;

    /* A vendor that doesn't know an answer leaves what a kernel without wishes would say. */
    if (cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size_t), &facts->work_group_size,
                                     NULL))
        facts->work_group_size = 1;
    if (m->device->quirks.small_groups) {
        facts->told_group_size = facts->work_group_size >= TOLD_LEAST ? facts->work_group_size : 0;
        cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), &facts->work_group_size, NULL);
    }
    if (cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t),
                                     &facts->preferred_multiple, NULL))
        facts->preferred_multiple = 1;
    if (cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(facts->reqd_size),
                                     facts->reqd_size, NULL))
        memset(facts->reqd_size, 0, sizeof(facts->reqd_size));
    if (cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(cl_ulong), &facts->local_mem_size,
                                     NULL))
        facts->local_mem_size = 0;
    if (cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(cl_ulong),
                                     &facts->private_mem_size, NULL))
        facts->private_mem_size = 0;
}

static char *kernel_string(const struct tsl_opencl_cl *cl, cl_kernel kernel, cl_kernel_info param)
{
    size_t size = 0;
    char *text;

    if (cl->clGetKernelInfo(kernel, param, 0, NULL, &size))
        return NULL;
    text = calloc(1, size + 1);
    if (text && size && cl->clGetKernelInfo(kernel, param, size, text, NULL)) {
        free(text);
        return NULL;
    }
    return text;
}

#define BLANKS " \t\r\n"

static char *skip(char *text, const char *expected)
{
    text += strspn(text, BLANKS);
    return begins(text, expected) ? text + strlen(expected) : NULL;
}

/* Where the bracket is that closes what was open before the text; NULL: nowhere. */
static char *find_closing(char *text)
{
    for (unsigned depth = 0; *text; text++) {
        if (*text == ')' && depth-- == 0)
            return text;
        depth += *text == '(';
    }
    return NULL;
}

/* What stands in the "__attribute__((" and "))" with which the text begins, ended by a 0; *rest: what comes behind.
 * NULL: the text begins otherwise. */
static char *unwrap(char *text, char **rest)
{
    char *begin = skip(text, "__attribute__"), *end;

    begin = begin ? skip(begin, "(") : NULL;
    begin = begin ? skip(begin, "(") : NULL;
    end = begin ? find_closing(begin) : NULL;
    *rest = end ? skip(end + 1, ")") : NULL;
    if (!*rest)
        return NULL;
    *end = '\0';
    return begin;
}

/* Some vendors keep what stands around each attribute in the source. */
static char *strip_attributes(char *text)
{
    char *to = text, *rest = text, *inner;

    while (rest && *rest && (inner = unwrap(rest, &rest))) {
        size_t length = strlen(inner);

        if (to != text)
            *to++ = ' ';
        memmove(to, inner, length + 1);
        to += length;
        rest += strspn(rest, BLANKS);
    }
    return text;
}

cl_int tsl_opencl_facts(struct tsl_opencl_program *program, cl_kernel kernel, struct tsl_kernel_facts *facts)
{
    struct tsl_opencl_member *m = tsl_opencl_member(program->base.member);
    const struct tsl_opencl_cl *cl = m->cl;
    cl_int error;

    /* What isn't known is taken to be the worse. */
    *facts = (struct tsl_kernel_facts){
        .whole_launch = true,
        .prints = program->prints,
        .opaque = program->opaque,
        .of_text = program->of_text,
        .atomics = true,
    };
    error = cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(facts->n_args), &facts->n_args, NULL);
    if (error)
        return error;
    facts->args = calloc(facts->n_args + 1, sizeof(*facts->args));
    facts->name = kernel_string(cl, kernel, CL_KERNEL_FUNCTION_NAME);
    if (m->device->version >= 120 && !m->device->quirks.no_attributes)
        facts->attributes = strip_attributes(kernel_string(cl, kernel, CL_KERNEL_ATTRIBUTES));
    if (!facts->attributes)
        facts->attributes = strdup("");
    if (!facts->args || !facts->name || !facts->attributes) {
        facts->n_args = facts->args ? facts->n_args : 0;
        tsl_kernel_facts_finish(facts);
        return CL_OUT_OF_HOST_MEMORY;
    }
    ask_args(cl, kernel, facts);
    tsl_opencl_ask_sizes(m, kernel, facts);
    if (program->built_in && cl->clGetKernelWorkGroupInfo(kernel, m->device->id, CL_KERNEL_GLOBAL_WORK_SIZE,
                                                          sizeof(facts->max_global_size), facts->max_global_size, NULL))
        memset(facts->max_global_size, 0, sizeof(facts->max_global_size));
    return CL_SUCCESS;
}
