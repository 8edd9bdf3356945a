/* The judge: the program's nodes one after the other, on plain memory. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct byte {
    unsigned char value;
    bool known; /* else whatever is there is right: never written, or what wrote it failed */
};

struct model {
    struct byte areas[SIM_N_AREAS][SIM_ARENA_SIZE];
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
    if (!access->size)
        return;
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

static void put_bytes(struct model *model, const struct sim_access *access, unsigned char value)
{
    unsigned char bytes[SIM_ARENA_SIZE];

    sim_set_bytes(bytes, n_bytes(access), value);
    for (size_t i = 0; i < n_bytes(access); i++)
        *at(model, access, i) = (struct byte){.value = bytes[i], .known = true};
}

static void fill(struct model *model, const struct sim_node *node)
{
    for (size_t i = 0; i < n_bytes(&node->dst); i++)
        *at(model, &node->dst, i) =
            (struct byte){.value = (unsigned char)(node->value + i % node->pattern_size), .known = true};
}

static void compare(struct sim *sim, struct model *model, const struct sim_node *node, const struct sim_access *access)
{
    size_t n_wrong = 0, first = 0;

    for (size_t i = 0; node->seen && i < n_bytes(access); i++) {
        const struct byte *right = at(model, access, i);

        if (right->known && right->value != node->seen[i] && !n_wrong++)
            first = i;
    }
    if (n_wrong)
        sim_fail(sim, "node %u saw %zu wrong bytes of %zu, the first at %zu: %u, which should be %u",
                 (unsigned)(node - sim->nodes), n_wrong, n_bytes(access), first, node->seen[first],
                 at(model, access, first)->value);
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
    case SIM_HIDE:
    case SIM_SHOW:
    case SIM_NATIVE:
        add(model, node);
        break;
    case SIM_FILL:
        fill(model, node);
        break;
    case SIM_SET:
    case SIM_PART:
    case SIM_POKE:
        put_bytes(model, &node->dst, node->value);
        break;
    case SIM_MAP:
        if (node->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)
            forget(model, &node->dst);
        break;
    default:
        break;
    }
}

static struct sim_access hull_of(const struct sim_access *access)
{
    struct sim_access hull = *access;

    hull.size += (hull.n_rows - 1) * hull.pitch;
    hull.n_rows = hull.size != 0;
    return hull;
}

static bool inside(const struct sim_access *range, unsigned area, size_t offset)
{
    return range->size && range->area == area && offset >= range->offset && offset < range->offset + range->size;
}

/* A command that fails takes with it what its arguments allow it to write: also what others, in no order with it, have
 * written there, or read. */
static void forget_beside(struct model *model, const struct sim_access *access, const struct sim_node *failed)
{
    struct sim_access hull = hull_of(&failed->dst);

    for (size_t i = 0; i < n_bytes(access); i++) {
        struct byte *byte = at(model, access, i);
        size_t offset = (size_t)(byte - model->areas[access->area]);

        if (inside(&hull, access->area, offset) || inside(&failed->may_dst, access->area, offset) ||
            inside(&failed->may_src, access->area, offset))
            byte->known = false;
    }
}

static void judge_node(struct sim *sim, struct model *model, const struct sim_node *node)
{
    unsigned index = (unsigned)(node - sim->nodes);

    if (node->status < 0) {
        struct sim_access hull = hull_of(&node->dst);

        forget(model, &hull);
        forget(model, &node->may_dst);
        forget(model, &node->may_src);
        return;
    }
    const struct sim_access *seen = node->kind == SIM_READ ? &node->dst : &node->src;

    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].status < 0 && !sim_set_has(&node->before, i) && !sim_set_has(&sim->nodes[i].before, index))
            forget_beside(model, &node->src, &sim->nodes[i]);
    execute(model, node);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].status < 0 && !sim_set_has(&node->before, i))
            forget_beside(model, &node->dst, &sim->nodes[i]);
    compare(sim, model, node, seen);
}

static unsigned count(const struct sim_set *set)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SIM_WORDS; i++)
        n += (unsigned)__builtin_popcountll(set->words[i]);
    return n;
}

/* Output comes in the order of the commands, as far as they have one. */
static void judge_prints(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_printed; i++)
        for (unsigned j = i + 1; j < sim->n_printed; j++)
            if (sim_set_has(&sim->nodes[sim->printed[i]].before, sim->printed[j]))
                sim_fail(sim, "node %u printed before node %u, which comes before it", sim->printed[i],
                         sim->printed[j]);
}

/* All is over: the application's memory is what the program made of it, and each callback was called once. */
static void judge_end(struct sim *sim, const struct model *model)
{
    for (unsigned i = 0; i < SIM_ARENA_SIZE; i++)
        if (model->areas[SIM_ARENA][i].known && model->areas[SIM_ARENA][i].value != sim->arena[i]) {
            sim_fail(sim, "byte %u of the host's memory is %u, which should be %u", i, sim->arena[i],
                     model->areas[SIM_ARENA][i].value);
            return;
        }
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *node = &sim->nodes[i];

        if (node->n_called != node->n_callbacks)
            sim_fail(sim, "node %u: %u callbacks came for %u", i, node->n_called, node->n_callbacks);
        if (node->n_callbacks && node->told != node->status)
            sim_fail(sim, "node %u: a callback was told %d, the status was %d", i, node->told, node->status);
    }
}

/* What comes before a node's predecessors comes before the node: so the number of nodes before is an order. */
void sim_judge(struct sim *sim)
{
    struct model *model = calloc(1, sizeof *model);

    sim_order_settle(sim);
    for (unsigned i = 0; i < SIM_ARENA_SIZE; i++)
        model->areas[SIM_ARENA][i].known = model->areas[SIM_HIDDEN][i].known = true;
    for (unsigned i = 0; i < sim->n_buffers; i++)
        if (sim->buffers[i].filled)
            put_bytes(model, &(struct sim_access){i, 0, sim->buffers[i].size, 1, 0, true}, (unsigned char)i);
    judge_prints(sim);
    for (unsigned rank = 0; rank < sim->n_nodes && !sim->failure; rank++)
        for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++)
            if (count(&sim->nodes[i].before) == rank)
                judge_node(sim, model, &sim->nodes[i]);
    if (!sim->failure)
        judge_end(sim, model);
    free(model);
}
