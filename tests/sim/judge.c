/* The judge: the program's nodes one after the other, on plain memory. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct byte {
    unsigned char value, other; /* either is right: two values where a launch has read what its other items wrote */
    bool known;                 /* else whatever is there is right: never written, or what wrote it failed */
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

unsigned char sim_stencil_byte(unsigned char a, unsigned char b, unsigned char c, size_t i, unsigned char value)
{
    return (unsigned char)(a + 3 * b + 5 * c + i + value);
}

/* ---- Bytes ---- */

static struct byte known(size_t value)
{
    return (struct byte){.value = (unsigned char)value, .other = (unsigned char)value, .known = true};
}

static bool is_one(const struct byte *byte)
{
    return byte->known && byte->value == byte->other;
}

static size_t n_bytes(const struct sim_access *access)
{
    return access->size * sim_n_rows(access);
}

static struct byte *at(struct model *model, const struct sim_access *access, size_t i)
{
    return &model->areas[access->area][sim_row(access, i / access->size) + i % access->size];
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

        *at(model, &node->dst, i) = (struct byte){.value = (unsigned char)(from->value + i + node->value),
                                                  .other = (unsigned char)(from->other + i + node->value),
                                                  .known = from->known};
    }
}

static void stencil(struct model *model, const struct sim_node *node)
{
    size_t halo = sim_halo(node);

    for (size_t i = 0; i < n_bytes(&node->dst); i++) {
        const struct byte *from[3] = {at(model, &node->src, i), at(model, &node->src, i + halo),
                                      at(model, &node->src, i + 2 * halo)};
        struct byte *to = at(model, &node->dst, i);

        *to = known(sim_stencil_byte(from[0]->value, from[1]->value, from[2]->value, i, node->value));
        to->known = is_one(from[0]) && is_one(from[1]) && is_one(from[2]);
    }
}

/* The first byte of the neighbour may be read before or after it is written. That of the last pair is none of the
 * launch's. Pairs come in the order in which neighbours are old yet. */
static void relax(struct model *model, const struct sim_node *node)
{
    size_t n = n_bytes(&node->dst) / 2;
    bool forward = node->src.offset > node->dst.offset;

    for (size_t k = 0; k < n; k++) {
        size_t i = forward ? k : n - 1 - k, neighbour = forward ? i + 1 : i - 1, plus = i + node->value;
        const struct byte *from = at(model, &node->src, 2 * i);
        struct byte *second = at(model, &node->dst, 2 * i + 1);
        bool last = k + 1 == n;

        *second = known(from->value + plus);
        second->other = (unsigned char)((last ? from->other : node->value ^ (neighbour * 5)) + plus);
        second->known = last ? from->known : is_one(from);
        *at(model, &node->dst, 2 * i) = known(node->value ^ (i * 5));
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
        *at(model, access, i) = known(bytes[i]);
}

/* What the last item writes for the next one is all that stays of that. */
static void smear(const struct sim *sim, struct model *model, const struct sim_node *node)
{
    struct byte *last = at(model, &node->dst, n_bytes(&node->dst) - 1);

    put_bytes(model, &node->dst, node->value);
    if (sim->world->keeps_order)
        *last = known(last->value ^ SIM_EARLY);
}

/* Either of two values stays one of two. */
static void xor
    (struct model * model, const struct sim_node *node) {
        for (size_t i = 0; i < n_bytes(&node->dst); i++) {
            struct byte *byte = at(model, &node->dst, i);

            byte->value ^= (unsigned char)(node->value ^ (i * 5));
            byte->other ^= (unsigned char)(node->value ^ (i * 5));
        }
    }

    static void fill(struct model *model, const struct sim_node *node)
{
    for (size_t i = 0; i < n_bytes(&node->dst); i++)
        *at(model, &node->dst, i) = known(node->value + i % node->pattern_size);
}

static void execute(const struct sim *sim, struct model *model, const struct sim_node *node)
{
    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        copy(model, node);
        break;
    case SIM_ADD:
    case SIM_MIX:
    case SIM_PRINT:
    case SIM_HIDE:
    case SIM_SHOW:
    case SIM_UPDATE:
    case SIM_SHIFT:
    case SIM_GATHER:
    case SIM_BOX:
    case SIM_TURNED:
    case SIM_BRICK:
    case SIM_NATIVE:
        add(model, node);
        break;
    case SIM_STENCIL:
        stencil(model, node);
        break;
    case SIM_RELAX:
        relax(model, node);
        break;
    case SIM_XOR:
        xor(model, node);
        break;
    case SIM_FILL:
        fill(model, node);
        break;
    case SIM_SMEAR:
        smear(sim, model, node);
        break;
    case SIM_SET:
    case SIM_PART:
    case SIM_SLICE:
    case SIM_GUARDED:
    case SIM_SOME:
    case SIM_COLUMN:
    case SIM_SCATTER:
    case SIM_STRIPES:
    case SIM_POKE:
        put_bytes(model, &node->dst, node->value);
        break;
    case SIM_MIGRATE:
        forget(model, &node->dst);
        break;
    case SIM_MAP:
        if (node->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)
            forget(model, &node->dst);
        break;
    default:
        break;
    }
}

static bool is_wrong(const struct byte *right, unsigned char seen)
{
    return right->known && right->value != seen && right->other != seen;
}

/* What the host saw. */
static void compare(struct sim *sim, struct model *model, const struct sim_node *node)
{
    const struct sim_access *access = node->kind == SIM_READ ? &node->dst : &node->src;
    size_t n_wrong = 0, first = 0;

    for (size_t i = 0; node->seen && i < n_bytes(access); i++) {
        const struct byte *right = at(model, access, i);

        if (is_wrong(right, node->seen[i]) && !n_wrong++)
            first = i;
    }
    if (n_wrong)
        sim_fail(sim, "node %u saw %zu wrong bytes of %zu, the first at %zu: %u, which should be %u",
                 sim_index(sim, node), n_wrong, n_bytes(access), first, node->seen[first],
                 at(model, access, first)->value);
}

/* ---- Failures ---- */

static bool runs(const struct sim_node *node)
{
    return node->kind < SIM_N_KERNELS || node->kind == SIM_NATIVE;
}

/* What a failure of the node's spoils: of a transfer also what lies between its rows. */
static struct sim_access spoiled_by(const struct sim_node *node)
{
    const struct sim_access *access = &node->dst;

    return access->size && !runs(node) ? sim_range(access->area, access->offset, sim_hull(access), true) : *access;
}

static bool inside(const struct sim_access *access, unsigned area, size_t offset)
{
    for (size_t row = 0; access->area == area && row < sim_n_rows(access); row++)
        if (offset >= sim_row(access, row) && offset < sim_row(access, row) + access->size)
            return true;
    return false;
}

/* Where the old bytes of what a kernel writes surely, and doesn't read, are matters to nobody. */
static bool overwrites(const struct sim_node *node)
{
    return node->kind >= SIM_SLICE && node->kind < SIM_N_KERNELS && node->kind != SIM_SOME &&
           node->kind != SIM_SCATTER && !sim_in_place(node);
}

/* A command that fails leaves what it writes undefined, and nothing else, whatever its arguments allow it. A kernel or
 * host task that never ran has written nothing. Of a launch that was cut one share may have run and another not: what
 * the one wrote stays, what the other should have written goes back to what it was. */
static bool spoils(const struct sim *sim, const struct sim_node *node)
{
    bool stays = runs(node) && !overwrites(node) && sim->world->notes_runs && !node->ran;

    return node->status < 0 && !node->refused && !stays;
}

/* What others, in no order with a command that spoils its box, have written there between its rows, or read. */
static void forget_beside(struct model *model, const struct sim_access *access, const struct sim_node *failed)
{
    struct sim_access spoiled = spoiled_by(failed);

    for (size_t i = 0; i < n_bytes(access); i++) {
        struct byte *byte = at(model, access, i);
        size_t offset = (size_t)(byte - model->areas[access->area]);

        if (inside(&spoiled, access->area, offset))
            byte->known = false;
    }
}

/* May its shares have worked on copies, which had to become one after they had ended? Not those of kernels that surely
 * write one range, each item bytes of its own: unless it is asked for, they share it. */
static bool may_be_joined(const struct sim_node *node)
{
    const char *split = getenv("TESELA_SPLIT");
    bool always = split && !strcmp(split, "always:merge");

    switch (node->kind) {
    case SIM_SLICE:
    case SIM_GUARDED:
    case SIM_UPDATE:
    case SIM_SHIFT:
    case SIM_GATHER:
    case SIM_STENCIL:
    case SIM_RELAX:
        return node->cut && always;
    default:
        return node->cut && !(split && !strcmp(split, "always:exact"));
    }
}

/* What was never written, or spoiled, may have been nowhere else. */
static bool reads_known(struct model *model, const struct sim_node *node)
{
    for (size_t i = 0; i < n_bytes(&node->src); i++)
        if (!at(model, &node->src, i)->known)
            return false;
    return true;
}

static void judge_loss(struct sim *sim, struct model *model, const struct sim_node *node)
{
    if (node->must && node->cut && !may_be_joined(node) && reads_known(model, node))
        sim_fail(sim, "node %u failed (%d), though what its lost share needs is good elsewhere", sim_index(sim, node),
                 node->status);
}

static void judge_node(struct sim *sim, struct model *model, const struct sim_node *node)
{
    unsigned own = sim_index(sim, node);

    if (node->refused)
        return;
    if (node->status < 0) {
        struct sim_access spoiled = spoiled_by(node);

        judge_loss(sim, model, node);
        if (spoils(sim, node))
            forget(model, &spoiled);
        return;
    }
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (spoils(sim, &sim->nodes[i]) && !sim_set_has(&node->before, i) && !sim_set_has(&sim->nodes[i].before, own))
            forget_beside(model, &node->src, &sim->nodes[i]);
    execute(sim, model, node);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (spoils(sim, &sim->nodes[i]) && !sim_set_has(&node->before, i))
            forget_beside(model, &node->dst, &sim->nodes[i]);
    compare(sim, model, node);
}

/* Does nothing run beside the program's launches? Then the core may ask no footprints, and takes all that a launch is
 * given for touched (tsl_footing_matters). */
static bool is_alone(const struct sim *sim)
{
    for (unsigned i = 0; i < sim->world->n_sims; i++)
        if (sim->world->sims[i] && sim->world->sims[i] != sim && sim->world->sims[i]->context == sim->context)
            return false;
    return sim->n_queues == 1 && sim->in_order[0];
}

static bool is_given(const struct sim_node *node, const struct sim_access *access)
{
    return access->size && node->idle == (int)access->area;
}

/* By what they are given, too. */
static bool may_share_area(const struct sim_node *a, const struct sim_node *b)
{
    return is_given(a, &b->dst) || is_given(a, &b->src) || is_given(b, &a->dst) || is_given(b, &a->src) ||
           (a->idle >= 0 && a->idle == b->idle);
}

static bool share_area(const struct sim *sim, const struct sim_node *a, const struct sim_node *b)
{
    const struct sim_access *of_a[] = {&a->dst, &a->src}, *of_b[] = {&b->dst, &b->src};

    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++)
            if (of_a[i]->size && of_b[j]->size && of_a[i]->area == of_b[j]->area)
                return true;
    return may_share_area(a, b) && is_alone(sim);
}

static bool is_opaque(const struct sim_node *node)
{
    return node->kind == SIM_HIDE || node->kind == SIM_SHOW;
}

/* May another program of this context have what the node failed for? An opaque kernel waits for all before it, and all
 * that comes after it for the kernel, whatever they touch. */
static bool follows_others(const struct sim *sim, const struct sim_node *node)
{
    for (unsigned i = 0; i < sim->world->n_sims; i++) {
        const struct sim *other = sim->world->sims[i];

        for (unsigned k = 0; other && other != sim && other->context == sim->context && k < other->n_nodes; k++) {
            const struct sim_node *its = &other->nodes[k];

            if ((is_opaque(its) || is_opaque(node)) && !its->refused &&
                (its->status < 0 || its->silent || sim->world->lost))
                return true;
        }
    }
    return false;
}

/* Who failed for another's sake has such another: before it, or at the same memory in no order with it. Where a member
 * was lost that may have ended well: what was planned behind it fails if a share of it failed there and was done again,
 * or if its member can't tell any more how it ended. */
static bool has_cause(const struct sim *sim, const struct sim_node *node)
{
    unsigned own = sim_index(sim, node);

    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *other = &sim->nodes[i];

        if (i == own || other->refused || sim_set_has(&other->before, own) || (other->status >= 0 && !sim->world->lost))
            continue;
        if (sim_set_has(&node->before, i) || share_area(sim, node, other))
            return true;
    }
    return follows_others(sim, node);
}

/* What ended well may have failed all the same: because of another at the same memory that did (drivers run what only
 * stands behind it), or that it waited for, or of one that it can't be told from, or because its member was lost, or
 * lacked room, before that was noticed. */
static bool may_have_failed(const struct sim *sim, const struct sim_node *node)
{
    unsigned own = sim_index(sim, node);

    if (node->sure)
        return false;
    for (unsigned i = 0; i < node->n_waits; i++)
        if (sim->nodes[node->waits[i]].status < 0)
            return true;
    if (sim->options.failures && may_be_joined(node))
        return true;
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *other = &sim->nodes[i];

        if (i != own && other->status < 0 && !other->refused && share_area(sim, node, other) &&
            !sim_set_has(&other->before, own))
            return true;
    }
    return sim->world->unseen || sim->world->lost || sim->world->tight || sim->options.out_of_memory;
}

/* Launches without an event: whether they ran the machine knows. */
static void settle_silent(struct sim *sim)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (unsigned i = 0; i < sim->n_nodes; i++) {
            struct sim_node *node = &sim->nodes[i];

            if (!node->silent || node->refused || node->status < 0 || (node->ended && !may_have_failed(sim, node)))
                continue;
            node->status = SIM_FAILED_SILENTLY;
            changed = true;
        }
    }
}

static void judge_failures(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *node = &sim->nodes[i];

        /* What failed to make room is no command's, or another program's. */
        if (node->status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && !sim->options.small_memory &&
            !sim->options.tiny_memory && !has_cause(sim, node))
            sim_fail(sim, "node %u failed for another's sake, but none could be to blame", i);
        for (unsigned k = 0; k < i; k++)
            if (node->status < -1000 && sim->nodes[k].status == node->status)
                sim_fail(sim, "nodes %u and %u failed with the code of one failure: %d", k, i, node->status);
    }
}

/* ---- Order ---- */

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

/* ---- All ---- */

static void judge_callback(struct sim *sim, const struct sim_callback *callback)
{
    cl_int status = sim->nodes[callback->node].status;

    if (callback->n_called != 1)
        sim_fail(sim, "node %u: a callback came %u times", callback->node, callback->n_called);
    else if (callback->told != (status < 0 ? status : callback->when) &&
             !(callback->when != CL_COMPLETE && callback->told == callback->when))
        sim_fail(sim, "node %u: a callback for %d was told %d, the status is %d", callback->node, callback->when,
                 callback->told, status);
}

/* All is over: the application's memory is what the program made of it, and each callback was called once. */
static void judge_end(struct sim *sim, const struct model *model)
{
    for (unsigned i = 0; i < SIM_ARENA_SIZE; i++)
        if (is_wrong(&model->areas[SIM_ARENA][i], sim->arena[i])) {
            sim_fail(sim, "byte %u of the host's memory is %u, which should be %u", i, sim->arena[i],
                     model->areas[SIM_ARENA][i].value);
            return;
        }
    sim_check_padding(sim);
    for (unsigned i = 0; i < sim->n_callbacks; i++)
        judge_callback(sim, &sim->callbacks[i]);
    for (unsigned i = 0; i < sim->n_buffers; i++)
        if (sim->buffers[i].n_destroyed != 1)
            sim_fail(sim, "the destructor of buffer %c was called %u times", 'A' + (int)i, sim->buffers[i].n_destroyed);
}

static void begin(const struct sim *sim, struct model *model)
{
    for (unsigned i = 0; i < SIM_ARENA_SIZE; i++)
        model->areas[SIM_ARENA][i].known = model->areas[SIM_HIDDEN][i].known = true;
    for (unsigned i = 0; i < sim->n_buffers; i++) {
        struct sim_access all = sim_range(i, 0, sim->buffers[i].size, true);

        if (sim->buffers[i].filled)
            put_bytes(model, &all, (unsigned char)i);
    }
}

bool sim_failed_unseen(const struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].silent && sim->nodes[i].ran && !sim->nodes[i].ended)
            return true;
    return false;
}

static bool is_within(const struct sim_set *set, const struct sim_set *all)
{
    for (unsigned i = 0; i < SIM_WORDS; i++)
        if (set->words[i] & ~all->words[i])
            return false;
    return true;
}

/* The node that comes next: all before it were judged. Of several it has the fewest before it. */
static unsigned next(const struct sim *sim, const struct sim_set *judged)
{
    unsigned best = sim->n_nodes;

    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_set *before = &sim->nodes[i].before;

        if (!sim_set_has(judged, i) && is_within(before, judged) &&
            (best == sim->n_nodes || count(before) < count(&sim->nodes[best].before)))
            best = i;
    }
    return best;
}

/* The number of nodes before a node is no order: what comes after one that failed need not come after all that are
 * before that (host.c). */
static void judge_nodes(struct sim *sim, struct model *model)
{
    struct sim_set judged = {{0}};

    for (unsigned n = 0; n < sim->n_nodes && !sim->failure; n++) {
        unsigned i = next(sim, &judged);

        if (i == sim->n_nodes) {
            sim_fail(sim, "the order of the nodes has a circle");
            return;
        }
        judge_node(sim, model, &sim->nodes[i]);
        sim_set_add(&judged, i);
    }
}

void sim_judge(struct sim *sim)
{
    struct model *model = calloc(1, sizeof *model);

    if (!model)
        abort();
    sim_order_settle(sim);
    begin(sim, model);
    settle_silent(sim);
    judge_prints(sim);
    judge_failures(sim);
    judge_nodes(sim, model);
    if (!sim->failure)
        judge_end(sim, model);
    free(model);
}
