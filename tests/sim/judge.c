/* The judge: the program's nodes one after the other, on plain memory. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct byte {
    unsigned char value;
    bool known; /* else whatever is there is right: never written, or what wrote it failed */
};

struct model {
    struct byte areas[SIM_MAX_BUFFERS + 1][SIM_ARENA_SIZE];
};

void sim_add_bytes(unsigned char *dst, const unsigned char *src, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        dst[i] = (unsigned char)(src[i] + i + value);
}

void sim_set_bytes(unsigned char *dst, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        dst[i] = (unsigned char)(value ^ (i * 5));
}

static struct byte *at(struct model *model, const struct sim_access *access, size_t i)
{
    size_t row = i / access->size;

    return &model->areas[access->area][access->offset + row * access->pitch + i % access->size];
}

static size_t n_bytes(const struct sim_access *access)
{
    return access->size * access->n_rows;
}

static void forget(struct model *model, const struct sim_access *access)
{
    for (size_t i = 0; i < n_bytes(access); i++)
        at(model, access, i)->known = false;
}

/* In the order in which the bodies do it, for source and destination may be the same bytes. */
static void add(struct model *model, const struct sim_node *node)
{
    for (size_t i = 0; i < n_bytes(&node->dst); i++) {
        const struct byte *from = at(model, &node->src, i);

        *at(model, &node->dst, i) =
            (struct byte){.value = (unsigned char)(from->value + i + node->value), .known = from->known};
    }
}

static void copy(struct model *model, const struct sim_node *node)
{
    for (size_t i = 0; i < n_bytes(&node->dst); i++)
        *at(model, &node->dst, i) = *at(model, &node->src, i);
}

static void put(struct model *model, const struct sim_node *node)
{
    size_t size = n_bytes(&node->dst);
    unsigned char bytes[SIM_ARENA_SIZE];

    if (node->kind == SIM_FILL)
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(node->value + i % node->pattern_size);
    else
        sim_set_bytes(bytes, size, node->value);
    for (size_t i = 0; i < size; i++)
        *at(model, &node->dst, i) = (struct byte){.value = bytes[i], .known = true};
}

static void compare(struct sim *sim, struct model *model, const struct sim_node *node, const struct sim_access *access)
{
    for (size_t i = 0; node->seen && i < n_bytes(access); i++) {
        const struct byte *right = at(model, access, i);

        if (right->known && right->value != node->seen[i]) {
            sim_fail(sim, "node %u saw %u in byte %zu of %zu, which should be %u", (unsigned)(node - sim->nodes),
                     node->seen[i], i, n_bytes(access), right->value);
            return;
        }
    }
}

static void execute(struct model *model, const struct sim_node *node)
{
    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        copy(model, node);
        break;
    case SIM_ADD:
    case SIM_MIX:
    case SIM_NATIVE:
        add(model, node);
        break;
    case SIM_FILL:
    case SIM_SET:
    case SIM_POKE:
        put(model, node);
        break;
    case SIM_MAP:
        if (node->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)
            forget(model, &node->dst);
        break;
    default:
        break;
    }
}

static void judge_node(struct sim *sim, struct model *model, const struct sim_node *node)
{
    if (node->status < 0) {
        forget(model, &node->dst);
        return;
    }
    execute(model, node);
    compare(sim, model, node, node->kind == SIM_READ ? &node->dst : &node->src);
}

static unsigned count(const struct sim_set *set)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SIM_WORDS; i++)
        n += (unsigned)__builtin_popcountll(set->words[i]);
    return n;
}

/* What comes before a node's predecessors comes before the node: so the number of nodes before is an order. */
void sim_judge(struct sim *sim)
{
    struct model *model = calloc(1, sizeof *model);

    sim_order_settle(sim);
    for (unsigned i = 0; i < SIM_ARENA_SIZE; i++)
        model->areas[SIM_ARENA][i].known = true;
    for (unsigned rank = 0; rank < sim->n_nodes && !sim->failure; rank++)
        for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++)
            if (count(&sim->nodes[i].before) == rank)
                judge_node(sim, model, &sim->nodes[i]);
    free(model);
}
