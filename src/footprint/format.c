/*
 * A footprint as bytes: encoding, decoding, and the rules that every footprint keeps.
 *
 * The bytes: format, flags, n_arguments, stride, elements, then nodes, loops and accesses, each behind its number. A
 * node is its op, its bits and what its op uses. One footprint has one encoding: what is decoded is encoded as the same
 * bytes again.
 */
#include "footprint/format.h"

#include <stdlib.h>
#include <string.h>

/* The fewest bytes of one. */
#define NODE_SIZE   2u
#define LOOP_SIZE   5u
#define ACCESS_SIZE 51u

/* Scalars lie within this many bytes of an argument's value. */
#define MAX_SCALAR_OFFSET 65536u

unsigned tsl_node_operands(uint8_t op)
{
    if (op < TSL_NODE_ADD)
        return 0;
    if (op == TSL_NODE_SELECT)
        return 3;
    return op >= TSL_NODE_ZEXT && op <= TSL_NODE_TRUNC ? 1 : 2;
}

/* How many of a, b and c mean something: operands, or what a leaf is of. */
static unsigned n_indices(uint8_t op)
{
    if (op == TSL_NODE_CONSTANT || op == TSL_NODE_UNKNOWN)
        return 0;
    if (op == TSL_NODE_SCALAR)
        return 2;
    return op < TSL_NODE_ADD ? 1 : tsl_node_operands(op);
}

/* ---- Validity --------------------------------------------------------------------------------------------------- */

static bool bits_are_valid(uint8_t bits)
{
    return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool fits_signed(int64_t value, unsigned bits)
{
    return bits == 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
}

static bool leaf_is_valid(const struct tsl_footprint *footprint, const struct tsl_node *node)
{
    switch (node->op) {
    case TSL_NODE_CONSTANT:
        return fits_signed(node->value, node->bits);
    case TSL_NODE_SCALAR:
        return node->a < footprint->n_arguments && node->b <= MAX_SCALAR_OFFSET;
    case TSL_NODE_COUNTER:
        return node->bits == 64 && node->a < footprint->n_loops;
    case TSL_NODE_UNKNOWN:
        return true;
    default:
        return node->bits == 64 && node->a < 3;
    }
}

/* Of a node with operands: they stand before it and have the bits that its op asks for. */
static bool operands_are_valid(const struct tsl_node *nodes, uint32_t at)
{
    const struct tsl_node *node = &nodes[at];
    const uint32_t operands[3] = {node->a, node->b, node->c};
    uint8_t bits[3];

    for (unsigned i = 0; i < tsl_node_operands(node->op); i++) {
        if (operands[i] >= at)
            return false;
        bits[i] = nodes[operands[i]].bits;
    }
    switch (node->op) {
    case TSL_NODE_SELECT:
        return bits[0] == 1 && bits[1] == node->bits && bits[2] == node->bits;
    case TSL_NODE_ZEXT:
    case TSL_NODE_SEXT:
        return bits[0] < node->bits;
    case TSL_NODE_TRUNC:
        return bits[0] > node->bits;
    default:
        if (node->op >= TSL_NODE_EQ)
            return node->bits == 1 && bits[0] == bits[1];
        return bits[0] == node->bits && bits[1] == node->bits;
    }
}

static bool node_is_valid(const struct tsl_footprint *footprint, uint32_t at)
{
    const struct tsl_node *node = &footprint->nodes[at];
    const uint32_t indices[3] = {node->a, node->b, node->c};

    if (node->op >= TSL_N_NODE_OPS || !bits_are_valid(node->bits))
        return false;
    if (node->op != TSL_NODE_CONSTANT && node->value != 0)
        return false;
    for (unsigned i = n_indices(node->op); i < 3; i++)
        if (indices[i])
            return false;
    return node->op < TSL_NODE_ADD ? leaf_is_valid(footprint, node) : operands_are_valid(footprint->nodes, at);
}

/* The loops whose counters each node names, as bits; the nodes are valid. */
static void find_counters(const struct tsl_footprint *footprint, uint32_t *counters)
{
    for (uint32_t i = 0; i < footprint->n_nodes; i++) {
        const struct tsl_node *node = &footprint->nodes[i];
        unsigned n = tsl_node_operands(node->op);

        counters[i] = node->op == TSL_NODE_COUNTER ? UINT32_C(1) << node->a : 0;
        if (n > 0)
            counters[i] |= counters[node->a];
        if (n > 1)
            counters[i] |= counters[node->b];
        if (n > 2)
            counters[i] |= counters[node->c];
    }
}

/* A node of these bits that names counters of these loops alone. */
static bool root_is_valid(const struct tsl_footprint *footprint, uint32_t node, uint8_t bits, uint32_t loops,
                          const uint32_t *counters)
{
    return node < footprint->n_nodes && footprint->nodes[node].bits == bits && (counters[node] & ~loops) == 0;
}

static bool address_is_valid(const struct tsl_footprint *footprint, const struct tsl_access *access, uint32_t loops,
                             const uint32_t *counters)
{
    bool ended = false;

    for (unsigned i = 0; i < 3; i++) {
        if (access->address[i] == TSL_FOOTPRINT_NONE) {
            ended = true;
            continue;
        }
        if (ended || (i > 0 && !(access->flags & TSL_ACCESS_IMAGE)))
            return false;
        if (!root_is_valid(footprint, access->address[i], 64, loops, counters))
            return false;
    }
    return !access->why || (access->address[0] == TSL_FOOTPRINT_NONE && strlen(access->why) <= TSL_FOOTPRINT_MAX_TEXT);
}

/* What an access says of its kind: atomic, flags, width, value and narrow. */
static bool kind_is_valid(const struct tsl_access *access)
{
    const bool image = access->flags & TSL_ACCESS_IMAGE, store = access->kind == TSL_ACCESS_WRITE;
    const bool atomic = access->kind == TSL_ACCESS_ATOMIC;

    if (access->kind > TSL_ACCESS_ATOMIC || access->flags & ~TSL_ACCESS_ALL_FLAGS)
        return false;
    if (access->atomic >= (atomic ? TSL_N_ATOMIC_OPS : 1))
        return false;
    if (access->flags & TSL_ACCESS_SURE && (!store || access->address[0] == TSL_FOOTPRINT_NONE))
        return false;
    if (access->flags & TSL_ACCESS_RESULT && !atomic)
        return false;
    if (image ? access->width != 0 : access->width == 0)
        return false;
    if (access->narrow > access->width || (access->narrow > 0) != (store && !image))
        return false;
    if (!(access->flags & TSL_ACCESS_CONSTANT))
        return access->value == 0;
    return store && !image && access->width <= 8 && (access->width == 8 || access->value >> (8 * access->width) == 0);
}

static bool access_is_valid(const struct tsl_footprint *footprint, const struct tsl_access *access,
                            const uint32_t *counters)
{
    uint32_t loops = 0; /* around it, as bits */

    if (access->argument >= footprint->n_arguments || !kind_is_valid(access) ||
        access->n_loops > TSL_FOOTPRINT_MAX_DEPTH || access->n_guards > TSL_FOOTPRINT_MAX_GUARDS)
        return false;
    for (uint32_t i = 0; i < access->n_loops; i++) {
        uint32_t loop = access->loops[i], count;

        if (loop >= footprint->n_loops || loops & UINT32_C(1) << loop)
            return false;
        count = footprint->loops[loop].count;
        if (count != TSL_FOOTPRINT_NONE && !root_is_valid(footprint, count, 64, loops, counters))
            return false;
        loops |= UINT32_C(1) << loop;
    }
    for (uint32_t i = 0; i < access->n_guards; i++)
        if (!root_is_valid(footprint, access->guards[i], 1, loops, counters))
            return false;
    return address_is_valid(footprint, access, loops, counters);
}

static bool loop_is_valid(const struct tsl_footprint *footprint, const struct tsl_loop *loop)
{
    if (loop->count == TSL_FOOTPRINT_NONE)
        return !loop->exact;
    return loop->count < footprint->n_nodes && footprint->nodes[loop->count].bits == 64;
}

bool tsl_footprint_is_valid(const struct tsl_footprint *footprint)
{
    uint32_t counters[TSL_FOOTPRINT_MAX_NODES];

    if (footprint->flags & ~TSL_FOOTPRINT_ALL_FLAGS || footprint->n_arguments > TSL_FOOTPRINT_MAX_ARGUMENTS ||
        footprint->n_nodes > TSL_FOOTPRINT_MAX_NODES || footprint->n_accesses > TSL_FOOTPRINT_MAX_ACCESSES ||
        footprint->n_loops > TSL_FOOTPRINT_MAX_LOOPS)
        return false;
    for (uint32_t i = 0; i < footprint->n_nodes; i++)
        if (!node_is_valid(footprint, i))
            return false;
    for (uint32_t i = 0; i < footprint->n_loops; i++)
        if (!loop_is_valid(footprint, &footprint->loops[i]))
            return false;
    find_counters(footprint, counters);
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (!access_is_valid(footprint, &footprint->accesses[i], counters))
            return false;
    return footprint->stride ? root_is_valid(footprint, footprint->stride - 1, 64, 0, counters) : !footprint->elements;
}

/* ---- Encoding --------------------------------------------------------------------------------------------------- */

static void write_node(struct tsl_writer *writer, const struct tsl_node *node)
{
    const uint32_t indices[3] = {node->a, node->b, node->c};

    tsl_write_u8(writer, node->op);
    tsl_write_u8(writer, node->bits);
    for (unsigned i = 0; i < n_indices(node->op); i++)
        tsl_write_u32(writer, indices[i]);
    if (node->op == TSL_NODE_CONSTANT)
        tsl_write_u64(writer, (uint64_t)node->value);
}

static void write_list(struct tsl_writer *writer, const uint32_t *list, uint32_t n)
{
    tsl_write_u32(writer, n);
    for (uint32_t i = 0; i < n; i++)
        tsl_write_u32(writer, list[i]);
}

static void write_access(struct tsl_writer *writer, const struct tsl_access *access)
{
    tsl_write_u32(writer, access->argument);
    tsl_write_u8(writer, access->kind);
    tsl_write_u8(writer, access->atomic);
    tsl_write_u8(writer, access->flags);
    tsl_write_u32(writer, access->width);
    for (unsigned i = 0; i < 3; i++)
        tsl_write_u32(writer, access->address[i]);
    write_list(writer, access->loops, access->n_loops);
    write_list(writer, access->guards, access->n_guards);
    tsl_write_u64(writer, access->value);
    tsl_write_u32(writer, access->line);
    tsl_write_u32(writer, access->narrow);
    tsl_write_text(writer, access->why);
}

void tsl_footprint_encode(struct tsl_writer *writer, const struct tsl_footprint *footprint)
{
    tsl_write_u32(writer, TSL_FOOTPRINT_FORMAT);
    tsl_write_u32(writer, footprint->flags);
    tsl_write_u32(writer, footprint->n_arguments);
    tsl_write_u32(writer, footprint->stride);
    tsl_write_u64(writer, footprint->elements);
    tsl_write_u32(writer, footprint->n_nodes);
    for (uint32_t i = 0; i < footprint->n_nodes; i++)
        write_node(writer, &footprint->nodes[i]);
    tsl_write_u32(writer, footprint->n_loops);
    for (uint32_t i = 0; i < footprint->n_loops; i++) {
        tsl_write_u32(writer, footprint->loops[i].count);
        tsl_write_u8(writer, footprint->loops[i].exact);
    }
    tsl_write_u32(writer, footprint->n_accesses);
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        write_access(writer, &footprint->accesses[i]);
}

/* ---- Decoding --------------------------------------------------------------------------------------------------- */

/* Reads how many of at least item_size bytes follow, and allocates as many of `size` bytes, all 0; at most max. NULL:
 * there are none, or the reader failed. */
static void *read_array(struct tsl_reader *reader, uint32_t max, size_t item_size, size_t size, uint32_t *n)
{
    uint32_t count = tsl_read_count(reader, item_size);
    void *array;

    if (count > max)
        reader->failed = true;
    if (reader->failed || count == 0)
        return NULL;
    array = calloc(count, size);
    if (!array)
        reader->failed = true;
    *n = array ? count : 0;
    return array;
}

static void read_node(struct tsl_reader *reader, struct tsl_node *node)
{
    uint32_t *const indices[3] = {&node->a, &node->b, &node->c};

    node->op = tsl_read_u8(reader);
    node->bits = tsl_read_u8(reader);
    if (node->op >= TSL_N_NODE_OPS) {
        reader->failed = true;
        return;
    }
    for (unsigned i = 0; i < n_indices(node->op); i++)
        *indices[i] = tsl_read_u32(reader);
    if (node->op == TSL_NODE_CONSTANT)
        node->value = (int64_t)tsl_read_u64(reader);
}

static uint32_t read_list(struct tsl_reader *reader, uint32_t *list, uint32_t max)
{
    uint32_t n = tsl_read_u32_max(reader, max);

    for (uint32_t i = 0; i < n; i++)
        list[i] = tsl_read_u32(reader);
    return n;
}

static void read_access(struct tsl_reader *reader, struct tsl_access *access)
{
    access->argument = tsl_read_u32(reader);
    access->kind = tsl_read_u8(reader);
    access->atomic = tsl_read_u8(reader);
    access->flags = tsl_read_u8(reader);
    access->width = tsl_read_u32(reader);
    for (unsigned i = 0; i < 3; i++)
        access->address[i] = tsl_read_u32(reader);
    access->n_loops = read_list(reader, access->loops, TSL_FOOTPRINT_MAX_DEPTH);
    access->n_guards = read_list(reader, access->guards, TSL_FOOTPRINT_MAX_GUARDS);
    access->value = tsl_read_u64(reader);
    access->line = tsl_read_u32(reader);
    access->narrow = tsl_read_u32(reader);
    access->why = tsl_read_text(reader);
}

static void read_all(struct tsl_reader *reader, struct tsl_footprint *footprint)
{
    if (tsl_read_u32(reader) != TSL_FOOTPRINT_FORMAT)
        reader->failed = true;
    footprint->flags = tsl_read_u32(reader);
    footprint->n_arguments = tsl_read_u32(reader);
    footprint->stride = tsl_read_u32(reader);
    footprint->elements = tsl_read_u64(reader);
    footprint->nodes =
        read_array(reader, TSL_FOOTPRINT_MAX_NODES, NODE_SIZE, sizeof(*footprint->nodes), &footprint->n_nodes);
    for (uint32_t i = 0; i < footprint->n_nodes && !reader->failed; i++)
        read_node(reader, &footprint->nodes[i]);
    footprint->loops =
        read_array(reader, TSL_FOOTPRINT_MAX_LOOPS, LOOP_SIZE, sizeof(*footprint->loops), &footprint->n_loops);
    for (uint32_t i = 0; i < footprint->n_loops; i++) {
        footprint->loops[i].count = tsl_read_u32(reader);
        footprint->loops[i].exact = tsl_read_bool(reader);
    }
    footprint->accesses = read_array(reader, TSL_FOOTPRINT_MAX_ACCESSES, ACCESS_SIZE, sizeof(*footprint->accesses),
                                     &footprint->n_accesses);
    for (uint32_t i = 0; i < footprint->n_accesses && !reader->failed; i++)
        read_access(reader, &footprint->accesses[i]);
}

struct tsl_footprint *tsl_footprint_decode(const void *data, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    struct tsl_footprint *footprint = calloc(1, sizeof(*footprint));

    if (!footprint)
        return NULL;
    read_all(&reader, footprint);
    if (tsl_read_end(&reader) && tsl_footprint_is_valid(footprint))
        return footprint;
    tsl_footprint_destroy(footprint);
    return NULL;
}

void tsl_footprint_destroy(struct tsl_footprint *footprint)
{
    if (!footprint)
        return;
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        free(footprint->accesses[i].why);
    free(footprint->nodes);
    free(footprint->accesses);
    free(footprint->loops);
    free(footprint);
}

bool tsl_footprint_names_groups(const struct tsl_footprint *footprint)
{
    for (uint32_t i = 0; i < footprint->n_nodes; i++)
        switch (footprint->nodes[i].op) {
        case TSL_NODE_LOCAL_ID:
        case TSL_NODE_GROUP_ID:
        case TSL_NODE_LOCAL_SIZE:
        case TSL_NODE_GROUP_SIZE:
        case TSL_NODE_NUM_GROUPS:
            return true;
        default:
            break;
        }
    return false;
}
