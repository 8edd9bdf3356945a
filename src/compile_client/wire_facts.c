/*
 * Kernel facts as bytes.
 */
#include "compile_client/wire.h"

#include "footprint/format.h"

#include <stdlib.h>

/* The least that one argument takes: kind, may, size, three qualifiers, two texts without contents. */
#define MIN_ARG_SIZE (1 + 1 + 8 + 4 + 4 + 8 + 4 + 4)

enum flag {
    HAS_ARG_INFO = 1,
    WHOLE_LAUNCH = 2,
    PRINTS = 4,
    OPAQUE = 8,
    ATOMICS = 16,
    PROVEN = 32,
    FP64 = 64,
    ALL_FLAGS = 127,
};

static void put_arg(struct tsl_writer *writer, const struct tsl_arg_fact *arg)
{
    tsl_write_u8(writer, (uint8_t)arg->kind);
    tsl_write_u8(writer, (uint8_t)arg->may);
    tsl_write_u64(writer, arg->size);
    tsl_write_u32(writer, arg->address);
    tsl_write_u32(writer, arg->access);
    tsl_write_u64(writer, arg->type_qualifier);
    tsl_write_text(writer, arg->type_name);
    tsl_write_text(writer, arg->name);
}

/* Behind its format: of one that the reader doesn't know nothing is known. */
static void put_footprint(struct tsl_writer *writer, const struct tsl_footprint *footprint)
{
    size_t start;

    tsl_write_u32(writer, footprint ? TSL_FOOTPRINT_FORMAT : 0);
    start = writer->size;
    tsl_write_u32(writer, 0);
    if (footprint)
        tsl_footprint_encode(writer, footprint);
    if (!writer->failed)
        tsl_write_u32_at(writer, start, (uint32_t)(writer->size - start - 4));
}

void tsl_wire_put_facts(struct tsl_writer *writer, const struct tsl_kernel_facts *facts)
{
    unsigned flags = (facts->has_arg_info ? HAS_ARG_INFO : 0u) | (facts->whole_launch ? WHOLE_LAUNCH : 0u) |
                     (facts->prints ? PRINTS : 0u) | (facts->opaque ? OPAQUE : 0u) | (facts->atomics ? ATOMICS : 0u) |
                     (facts->proven ? PROVEN : 0u) | (facts->fp64 ? FP64 : 0u);

    tsl_write_text(writer, facts->name);
    tsl_write_text(writer, facts->attributes);
    tsl_write_u32(writer, flags);
    tsl_write_u64(writer, facts->work_group_size);
    tsl_write_u64(writer, facts->told_group_size);
    tsl_write_u64(writer, facts->preferred_multiple);
    for (unsigned d = 0; d < 3; d++)
        tsl_write_u64(writer, facts->reqd_size[d]);
    for (unsigned d = 0; d < 3; d++)
        tsl_write_u64(writer, facts->recommended_size[d]);
    tsl_write_u64(writer, facts->local_mem_size);
    tsl_write_u64(writer, facts->private_mem_size);
    tsl_write_u32(writer, facts->n_args);
    for (cl_uint i = 0; i < facts->n_args; i++)
        put_arg(writer, &facts->args[i]);
    put_footprint(writer, facts->footprint);
}

static void get_arg(struct tsl_reader *reader, struct tsl_arg_fact *arg)
{
    unsigned kind = tsl_read_u8(reader), may = tsl_read_u8(reader);

    if (kind > TSL_FACT_PIPE || may > (TSL_MAY_READ | TSL_MAY_WRITE))
        reader->failed = true;
    arg->kind = reader->failed ? TSL_FACT_UNKNOWN : (enum tsl_fact_kind)kind;
    arg->may = may;
    arg->size = tsl_read_u64(reader);
    arg->address = tsl_read_u32(reader);
    arg->access = tsl_read_u32(reader);
    arg->type_qualifier = tsl_read_u64(reader);
    arg->type_name = tsl_read_text(reader);
    arg->name = tsl_read_text(reader);
}

static void get_flags(struct tsl_reader *reader, struct tsl_kernel_facts *facts)
{
    uint32_t flags = tsl_read_u32_max(reader, ALL_FLAGS);

    facts->has_arg_info = flags & HAS_ARG_INFO;
    facts->whole_launch = flags & WHOLE_LAUNCH;
    facts->prints = flags & PRINTS;
    facts->opaque = flags & OPAQUE;
    facts->atomics = flags & ATOMICS;
    facts->proven = flags & PROVEN;
    facts->fp64 = flags & FP64;
}

/* A footprint that is malformed, or another kernel's, fails the reader. */
static struct tsl_footprint *get_footprint(struct tsl_reader *reader, uint32_t n_args)
{
    uint32_t format = tsl_read_u32(reader);
    size_t size;
    const void *data = tsl_read_blob(reader, &size);
    struct tsl_footprint *footprint;

    if (reader->failed || format != TSL_FOOTPRINT_FORMAT)
        return NULL;
    footprint = tsl_footprint_decode(data, size);
    if (!footprint || footprint->n_arguments != n_args)
        reader->failed = true;
    return footprint;
}

/* A local size has three factors or none, and its product fits a size_t. */
static bool is_size(const size_t *local)
{
    size_t product = 1;

    if (!local[0] && !local[1] && !local[2])
        return true;
    for (unsigned d = 0; d < 3; d++)
        if (!local[d] || __builtin_mul_overflow(product, local[d], &product))
            return false;
    return true;
}

bool tsl_wire_get_facts(struct tsl_reader *reader, struct tsl_kernel_facts *facts)
{
    uint32_t n;

    *facts = (struct tsl_kernel_facts){.n_args = 0};
    facts->name = tsl_read_text(reader);
    facts->attributes = tsl_read_text(reader);
    get_flags(reader, facts);
    facts->work_group_size = tsl_read_u64(reader);
    facts->told_group_size = tsl_read_u64(reader);
    facts->preferred_multiple = tsl_read_u64(reader);
    for (unsigned d = 0; d < 3; d++)
        facts->reqd_size[d] = tsl_read_u64(reader);
    for (unsigned d = 0; d < 3; d++)
        facts->recommended_size[d] = tsl_read_u64(reader);
    facts->local_mem_size = tsl_read_u64(reader);
    facts->private_mem_size = tsl_read_u64(reader);
    n = tsl_read_count(reader, MIN_ARG_SIZE);
    if (!facts->name || !facts->attributes || !is_size(facts->reqd_size) || !is_size(facts->recommended_size) ||
        n > TSL_WIRE_MAX_ARGS)
        reader->failed = true;
    if (n && !reader->failed)
        facts->args = calloc(n, sizeof(facts->args[0]));
    if (n && !facts->args)
        reader->failed = true;
    for (; facts->n_args < n && !reader->failed; facts->n_args++)
        get_arg(reader, &facts->args[facts->n_args]);
    if (!reader->failed)
        facts->footprint = get_footprint(reader, n);
    if (!reader->failed)
        return true;
    tsl_kernel_facts_finish(facts);
    return false;
}
