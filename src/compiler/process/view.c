#include "compiler/process/view.h"

#include "footprint/format.h"

#include <inttypes.h>

static void print_flags(unsigned flags, FILE *out)
{
    static const char *const names[] = {"prints", "fences", "spins", "pointers", "program", "volatile"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags >> i & 1)
            fprintf(out, " %s", names[i]);
}

static void print_node(const struct tsl_footprint *footprint, uint32_t node, FILE *out)
{
    char text[1024] = "?";

    if (node != TSL_FOOTPRINT_NONE)
        tsl_footprint_print_node(footprint, node, text, sizeof(text));
    fputs(text, out);
}

static void print_kind(const struct tsl_access *access, FILE *out)
{
    static const char *const kinds[] = {"read", "write", "atomic"};
    static const char *const atomics[] = {"other", "add", "and", "or", "xor", "smin", "smax", "umin", "umax"};

    fprintf(out, "%s%s%s", access->flags & TSL_ACCESS_SURE ? "sure " : "",
            access->flags & TSL_ACCESS_VOLATILE ? "volatile " : "", kinds[access->kind]);
    if (access->kind == TSL_ACCESS_ATOMIC)
        fprintf(out, " %s%s", atomics[access->atomic], access->flags & TSL_ACCESS_RESULT ? " with result" : "");
    if (access->flags & TSL_ACCESS_CONSTANT)
        fprintf(out, " of 0x%" PRIx64, access->value);
}

static void print_access(const struct tsl_kernel_facts *facts, const struct tsl_access *access, FILE *out)
{
    const struct tsl_footprint *footprint = facts->footprint;

    fprintf(out, "  %s: ", facts->args[access->argument].name);
    print_kind(access, out);
    fprintf(out, ", %" PRIu32 " bytes", access->width);
    if (access->narrow && access->narrow != access->width)
        fprintf(out, " by %" PRIu32, access->narrow);
    if (access->line)
        fprintf(out, ", line %" PRIu32, access->line);
    fprintf(out, "\n      at ");
    for (unsigned i = 0; i < 3 && (i == 0 || access->address[i] != TSL_FOOTPRINT_NONE); i++) {
        fprintf(out, "%s", i ? " ; " : "");
        print_node(footprint, access->address[i], out);
    }
    fprintf(out, "%s%s\n", access->why ? ": " : "", access->why ? access->why : "");
    for (uint32_t i = 0; i < access->n_loops; i++) {
        const struct tsl_loop *loop = &footprint->loops[access->loops[i]];

        fprintf(out, "      for i%" PRIu32 " < ", access->loops[i]);
        print_node(footprint, loop->count, out);
        fprintf(out, "%s\n", loop->exact ? "" : " at most");
    }
    for (uint32_t i = 0; i < access->n_guards; i++) {
        fprintf(out, "      if ");
        print_node(footprint, access->guards[i], out);
        fputc('\n', out);
    }
}

void kc_view_footprint(const struct tsl_kernel_facts *facts, FILE *out)
{
    const struct tsl_footprint *footprint = facts->footprint;

    fprintf(out, "kernel %s%s", facts->name, footprint ? "" : " unknown");
    print_flags(footprint ? footprint->flags : 0, out);
    fputc('\n', out);
    if (footprint && footprint->stride) {
        char text[TSL_FOOTPRINT_MAX_TEXT];

        tsl_footprint_print_node(footprint, footprint->stride - 1, text, sizeof(text));
        fprintf(out, "  a loop over %s\n", text);
    }
    for (uint32_t i = 0; footprint && i < footprint->n_accesses; i++)
        print_access(facts, &footprint->accesses[i], out);
}
