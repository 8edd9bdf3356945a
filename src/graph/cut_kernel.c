#include "graph/cut_kernel.h"

#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/footing.h"
#include "object/buffer.h"
#include "object/svm.h"
#include "program/program.h"

enum tsl_cut_why tsl_cut_kernel_on(const struct tsl_command *c, const struct tsl_kernel_part *part)
{
    const struct tsl_footprint *footprint = part->facts.footprint;
    enum tsl_cut_why why = tsl_cut_kernel(footprint);
    if (why == TSL_CUT_OK && part->facts.prints)
        return TSL_CUT_PRINTS;
    if (why == TSL_CUT_OK && part->facts.opaque)
        return TSL_CUT_PROGRAM_SCOPE;
    if (why == TSL_CUT_OK &&
        (footprint->n_arguments > TSL_FOOTING_MAX_ARGUMENTS || footprint->n_arguments != c->args->n))
        return TSL_CUT_NO_FOOTPRINT;
    return why;
}

bool tsl_cut_kernel_has_svm(const struct tsl_args *args)
{
    bool has = args->n_all > args->n;
    for (cl_uint i = 0; i < args->n && !has; i++)
        has = args->args[i].kind == TSL_ARG_SVM || (args->args[i].buffer && tsl_svm_of(args->args[i].buffer));
    return has;
}

/* On any of the members: programs may be other code elsewhere, and their facts less well known. */
static bool may_write(const struct tsl_command *c, tsl_members members, cl_uint argument,
                      const struct tsl_buffer *buffer)
{
    unsigned access = 0;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (tsl_members_has(members, i))
            access |= tsl_footing_access(&c->kernel->parts[i].facts, argument, buffer);
    return access & TSL_MAY_WRITE;
}

void tsl_cut_kernel_memories(const struct tsl_command *c, const struct tsl_footprint *footprint, tsl_members members,
                             struct tsl_cut_memory *memories, struct tsl_footing_values *values)
{
    tsl_footing_values(c->args, footprint->n_arguments, values);
    for (cl_uint i = 0; i < footprint->n_arguments; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        memories[i] = (struct tsl_cut_memory){.root = NULL};
        if (b)
            memories[i] = (struct tsl_cut_memory){.root = tsl_data_of(b),
                                                  .image = b->image ? b : NULL,
                                                  .offset = b->offset,
                                                  .size = b->size,
                                                  .may_write = may_write(c, members, i, b),
                                                  .whole = tsl_buffer_root((struct tsl_buffer *)(uintptr_t)b)->size};
    }
}

void tsl_cut_kernel_say(const struct tsl_kernel *kernel, const struct tsl_footprint *footprint,
                        const struct tsl_cut_verdict *verdict, char *text, size_t size)
{
    const char *names[TSL_FOOTING_MAX_ARGUMENTS] = {NULL};
    cl_uint n = footprint && footprint->n_arguments <= TSL_FOOTING_MAX_ARGUMENTS ? footprint->n_arguments : 0;
    for (cl_uint i = 0; i < n && i < kernel->facts->n_args; i++)
        names[i] = kernel->facts->args[i].name;
    tsl_cut_say(footprint, names, verdict, text, size);
}
