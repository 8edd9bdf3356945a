/*
 * Footprints made by hand or by chance, and what a launch of one really touches, execution by execution.
 */
#ifndef TSL_TESTS_FOOTPRINT_BED_H
#define TSL_TESTS_FOOTPRINT_BED_H

#include "footprint/evaluate.h"

#include <stdlib.h>
#include <string.h>

#define BED_NODES     512u
#define BED_ACCESSES  16u
#define BED_LOOPS     8u
#define BED_ARGUMENTS 4u

/* ---- Making ----------------------------------------------------------------------------------------------------- */

/* A footprint and room for it. */
struct bed {
    struct tsl_footprint footprint;
    struct tsl_node nodes[BED_NODES];
    struct tsl_access accesses[BED_ACCESSES];
    struct tsl_loop loops[BED_LOOPS];
};

static inline void bed_begin(struct bed *bed, uint32_t n_arguments)
{
    bed->footprint = (struct tsl_footprint){
        .n_arguments = n_arguments, .nodes = bed->nodes, .accesses = bed->accesses, .loops = bed->loops};
}

/* The node, each once. */
static inline uint32_t bed_node(struct bed *bed, struct tsl_node node)
{
    for (uint32_t i = 0; i < bed->footprint.n_nodes; i++) {
        const struct tsl_node *old = &bed->nodes[i];

        if (old->op == node.op && old->bits == node.bits && old->a == node.a && old->b == node.b && old->c == node.c &&
            old->value == node.value)
            return i;
    }
    if (bed->footprint.n_nodes == BED_NODES)
        abort();
    bed->nodes[bed->footprint.n_nodes] = node;
    return bed->footprint.n_nodes++;
}

static inline uint32_t bed_constant(struct bed *bed, uint8_t bits, int64_t value)
{
    return bed_node(bed, (struct tsl_node){.op = TSL_NODE_CONSTANT, .bits = bits, .value = value});
}

/* An id, size or counter. */
static inline uint32_t bed_leaf(struct bed *bed, uint8_t op, uint32_t of)
{
    return bed_node(bed, (struct tsl_node){.op = op, .bits = 64, .a = of});
}

static inline uint32_t bed_scalar(struct bed *bed, uint8_t bits, uint32_t argument, uint32_t offset)
{
    return bed_node(bed, (struct tsl_node){.op = TSL_NODE_SCALAR, .bits = bits, .a = argument, .b = offset});
}

/* Of two operands; comparisons have 1 bit, all others those of their operands. */
static inline uint32_t bed_two(struct bed *bed, uint8_t op, uint32_t a, uint32_t b)
{
    uint8_t bits = op >= TSL_NODE_EQ ? 1 : bed->nodes[a].bits;

    return bed_node(bed, (struct tsl_node){.op = op, .bits = bits, .a = a, .b = b});
}

static inline uint32_t bed_as(struct bed *bed, uint8_t op, uint8_t bits, uint32_t a)
{
    return bed_node(bed, (struct tsl_node){.op = op, .bits = bits, .a = a});
}

static inline uint32_t bed_select(struct bed *bed, uint32_t a, uint32_t b, uint32_t c)
{
    return bed_node(bed, (struct tsl_node){.op = TSL_NODE_SELECT, .bits = bed->nodes[b].bits, .a = a, .b = b, .c = c});
}

static inline uint32_t bed_loop(struct bed *bed, uint32_t count, bool exact)
{
    bed->loops[bed->footprint.n_loops] = (struct tsl_loop){count, exact};
    return bed->footprint.n_loops++;
}

/* One more access, of a buffer; the caller changes what it likes. */
static inline struct tsl_access *bed_access(struct bed *bed, uint32_t argument, uint8_t kind, uint32_t width,
                                            uint32_t address)
{
    struct tsl_access *access = &bed->accesses[bed->footprint.n_accesses++];

    *access =
        (struct tsl_access){.argument = argument,
                            .kind = kind,
                            .width = width,
                            .address = {address, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE},
                            .flags = kind == TSL_ACCESS_WRITE && address != TSL_FOOTPRINT_NONE ? TSL_ACCESS_SURE : 0,
                            .narrow = kind == TSL_ACCESS_WRITE ? width : 0};
    return access;
}

/* ---- Running ---------------------------------------------------------------------------------------------------- */

static inline uint64_t bed_chance(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What one work-item sees. */
struct bed_item {
    const struct bed *bed;
    const struct tsl_window *window;
    const struct tsl_argument_value *arguments;
    uint64_t group[3], local[3], counters[BED_LOOPS];
    uint64_t *chance; /* unknown and undefined values */
};

static inline uint64_t bed_mask(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline int64_t bed_signed(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static inline uint64_t bed_leaf_value(const struct bed_item *item, const struct tsl_node *node)
{
    const struct tsl_window *w = item->window;
    const unsigned d = node->a < 3 ? node->a : 0;
    const uint64_t n_groups = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
    const uint64_t begin = item->group[d] * w->local_size[d], left = w->global_size[d] - begin;
    uint64_t value = 0;

    switch (node->op) {
    case TSL_NODE_CONSTANT:
        return (uint64_t)node->value;
    case TSL_NODE_SCALAR:
        if (!item->arguments[node->a].value || node->b + (node->bits + 7u) / 8u > item->arguments[node->a].size)
            return bed_chance(item->chance);
        memcpy(&value, (const char *)item->arguments[node->a].value + node->b, (node->bits + 7u) / 8u);
        return node->bits == 1 ? value != 0 : value;
    case TSL_NODE_COUNTER:
        return item->counters[node->a];
    case TSL_NODE_GLOBAL_ID:
        return w->global_offset[d] + begin + item->local[d];
    case TSL_NODE_LOCAL_ID:
        return item->local[d];
    case TSL_NODE_GROUP_ID:
        return item->group[d];
    case TSL_NODE_GLOBAL_SIZE:
        return w->global_size[d];
    case TSL_NODE_LOCAL_SIZE:
        return w->local_size[d];
    case TSL_NODE_GROUP_SIZE:
        return left < w->local_size[d] ? left : w->local_size[d];
    case TSL_NODE_NUM_GROUPS:
        return n_groups;
    case TSL_NODE_GLOBAL_OFFSET:
        return w->global_offset[d];
    default:
        return bed_chance(item->chance);
    }
}

static inline uint64_t bed_divide(const struct bed_item *item, uint8_t op, uint64_t a, uint64_t b, unsigned bits)
{
    const int64_t x = bed_signed(a, bits), y = bed_signed(b, bits);

    if (b == 0)
        return bed_chance(item->chance);
    switch (op) {
    case TSL_NODE_UDIV:
        return a / b;
    case TSL_NODE_UREM:
        return a % b;
    case TSL_NODE_SDIV:
        return y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
    default:
        return y == -1 ? 0 : (uint64_t)(x % y);
    }
}

static inline uint64_t bed_two_value(const struct bed_item *item, uint8_t op, uint64_t a, uint64_t b, unsigned bits)
{
    const int64_t x = bed_signed(a, bits), y = bed_signed(b, bits);

    switch (op) {
    case TSL_NODE_ADD:
        return a + b;
    case TSL_NODE_SUB:
        return a - b;
    case TSL_NODE_MUL:
        return a * b;
    case TSL_NODE_SHL:
        return b >= bits ? bed_chance(item->chance) : a << b;
    case TSL_NODE_LSHR:
        return b >= bits ? bed_chance(item->chance) : a >> b;
    case TSL_NODE_ASHR:
        return b >= bits ? bed_chance(item->chance) : (uint64_t)(x >> b);
    case TSL_NODE_AND:
        return a & b;
    case TSL_NODE_OR:
        return a | b;
    case TSL_NODE_XOR:
        return a ^ b;
    case TSL_NODE_UMIN:
        return a < b ? a : b;
    case TSL_NODE_UMAX:
        return a > b ? a : b;
    case TSL_NODE_SMIN:
        return x < y ? a : b;
    case TSL_NODE_SMAX:
        return x > y ? a : b;
    case TSL_NODE_EQ:
        return a == b;
    case TSL_NODE_NE:
        return a != b;
    case TSL_NODE_ULT:
        return a < b;
    case TSL_NODE_ULE:
        return a <= b;
    case TSL_NODE_SLT:
        return x < y;
    case TSL_NODE_SLE:
        return x <= y;
    default:
        return bed_divide(item, op, a, b, bits);
    }
}

/* The node for a work-item, as so many bits, zero-extended. */
static inline uint64_t bed_value(const struct bed_item *item, uint32_t at)
{
    const struct tsl_node *node = &item->bed->nodes[at];
    const unsigned operand_bits = tsl_node_operands(node->op) ? item->bed->nodes[node->a].bits : 64;
    uint64_t value;

    if (tsl_node_operands(node->op) == 0)
        value = bed_leaf_value(item, node);
    else if (node->op == TSL_NODE_SELECT)
        value = bed_value(item, bed_value(item, node->a) ? node->b : node->c);
    else if (node->op == TSL_NODE_ZEXT || node->op == TSL_NODE_TRUNC)
        value = bed_value(item, node->a);
    else if (node->op == TSL_NODE_SEXT)
        value = (uint64_t)bed_signed(bed_value(item, node->a), operand_bits);
    else
        value = bed_two_value(item, node->op, bed_value(item, node->a), bed_value(item, node->b), operand_bits);
    return value & bed_mask(node->bits);
}

typedef void bed_visit(void *data, const struct bed_item *item, const struct tsl_access *access);

struct bed_run {
    bed_visit *visit;
    void *data;
    uint64_t budget; /* executions */
    uint64_t most;   /* iterations of a loop: what runs longer is cut off */
    bool cut;        /* not all were done */
    uint32_t early;  /* guards of the access, as bits, that name no counter: they keep loops from running */
};

static inline bool bed_names_counter(const struct bed *bed, uint32_t at)
{
    const struct tsl_node *node = &bed->nodes[at];
    const uint32_t operands[3] = {node->a, node->b, node->c};

    for (unsigned i = 0; i < tsl_node_operands(node->op); i++)
        if (bed_names_counter(bed, operands[i]))
            return true;
    return node->op == TSL_NODE_COUNTER;
}

/* Do the guards hold of which `which` has the bits? */
static inline bool bed_guards_hold(const struct bed_item *item, const struct tsl_access *access, uint32_t which)
{
    for (uint32_t i = 0; i < access->n_guards; i++)
        if (which & UINT32_C(1) << i && !bed_value(item, access->guards[i]))
            return false;
    return true;
}

static inline void bed_execute(struct bed_run *run, struct bed_item *item, const struct tsl_access *access,
                               uint32_t depth)
{
    const struct tsl_loop *loop;
    uint64_t count = 5; /* where it isn't known */

    if (depth == access->n_loops) {
        if (!bed_guards_hold(item, access, ~run->early))
            return;
        if (run->budget == 0) {
            run->cut = true;
            return;
        }
        run->budget--;
        run->visit(run->data, item, access);
        return;
    }
    loop = &item->bed->loops[access->loops[depth]];
    if (loop->count != TSL_FOOTPRINT_NONE)
        count = bed_value(item, loop->count);
    if (count > run->most) {
        count = run->most;
        run->cut = true;
    }
    if (!loop->exact)
        count = count ? bed_chance(item->chance) % (count + 1) : 0;
    for (uint64_t i = 0; i < count; i++) {
        item->counters[access->loops[depth]] = i;
        bed_execute(run, item, access, depth + 1);
    }
}

/* Visits each execution of an access in a window. */
static inline void bed_for_each(struct bed_run *run, struct bed_item *item, const struct tsl_access *access)
{
    const struct tsl_window *w = item->window;
    uint64_t first[3], behind[3];

    run->early = 0;
    for (uint32_t i = 0; i < access->n_guards; i++)
        if (!bed_names_counter(item->bed, access->guards[i]))
            run->early |= UINT32_C(1) << i;
    for (unsigned d = 0; d < 3; d++) {
        first[d] = w->whole ? 0 : w->group_begin[d];
        behind[d] = w->whole ? (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d]
                             : w->group_begin[d] + w->group_count[d];
    }
    for (item->group[2] = first[2]; item->group[2] < behind[2]; item->group[2]++)
        for (item->group[1] = first[1]; item->group[1] < behind[1]; item->group[1]++)
            for (item->group[0] = first[0]; item->group[0] < behind[0]; item->group[0]++)
                for (item->local[2] = 0; item->local[2] < w->local_size[2]; item->local[2]++)
                    for (item->local[1] = 0; item->local[1] < w->local_size[1]; item->local[1]++)
                        for (item->local[0] = 0; item->local[0] < w->local_size[0]; item->local[0]++) {
                            bool inside = true;

                            for (unsigned d = 0; d < 3; d++)
                                inside &= item->group[d] * w->local_size[d] + item->local[d] < w->global_size[d];
                            if (inside && bed_guards_hold(item, access, run->early))
                                bed_execute(run, item, access, 0);
                        }
}

/* Marks the set's bytes that lie in the memory. */
static inline void bed_mark(const struct tsl_byte_set *set, uint8_t *bytes, uint64_t memory)
{
    memset(bytes, set->unknown, memory);
    for (unsigned n = 0; n < set->n; n++) {
        const struct tsl_byte_box *box = &set->boxes[n];

        for (uint64_t j = 0; j < box->count[1]; j++)
            for (uint64_t i = 0; i < box->count[0]; i++)
                for (uint64_t k = 0; k < box->width; k++) {
                    uint64_t at = box->offset + j * box->stride[1] + i * box->stride[0] + k;

                    if (at < memory)
                        bytes[at] = 1;
                }
    }
}

/* Is the box as tsl_byte_box promises, within the memory? */
static inline bool bed_box_is_valid(const struct tsl_byte_box *box, uint64_t memory)
{
    const uint64_t inner = (box->count[0] - 1) * box->stride[0] + box->width;

    if (box->width == 0 || box->count[0] == 0 || box->count[1] == 0)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if ((box->count[i] == 1) != (box->stride[i] == 0))
            return false;
    if (box->count[0] > 1 && box->stride[0] < box->width)
        return false;
    if (box->count[1] > 1 && box->stride[1] < inner)
        return false;
    return box->offset + (box->count[1] - 1) * box->stride[1] + inner <= memory;
}

#endif
