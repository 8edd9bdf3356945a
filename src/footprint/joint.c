/*
 * Which copies of shares can become one, and how.
 */
#include "footprint/joint.h"

#define NONE TSL_FOOTPRINT_NONE

/* What all shares do to the root's memory. */
struct joint_view {
    const struct tsl_footprint *footprint;
    const struct tsl_cut_memory *memories;
    const struct tsl_argument_touch *const *shares;
    unsigned n;
    const void *root;
};

/* Does share s touch argument i, which lies in the root? */
static const struct tsl_argument_touch *touch_in(const struct joint_view *v, unsigned s, uint32_t i)
{
    const struct tsl_argument_touch *touch = &v->shares[s][i];

    return v->memories[i].root == v->root && (touch->reads || touch->writes) ? touch : NULL;
}

static bool refuse(struct tsl_cut_verdict *verdict, enum tsl_cut_why why, uint32_t argument, uint32_t access)
{
    *verdict = (struct tsl_cut_verdict){why, argument, NONE, access};
    return false;
}

static uint32_t access_of(const struct joint_view *v, uint32_t argument, enum tsl_access_kind kind)
{
    for (uint32_t i = 0; i < v->footprint->n_accesses; i++)
        if (v->footprint->accesses[i].argument == argument && v->footprint->accesses[i].kind == kind)
            return i;
    return NONE;
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void widen(uint64_t *begin, uint64_t *end, uint64_t from, uint64_t to)
{
    *begin = from < *begin ? from : *begin;
    *end = to > *end ? to : *end;
}

/* What a merge doesn't know may lie anywhere in the root, also where the argument is a part of it. A program that has
 * its parts' places in a table gives its kernels the first part, from which they go on to the others. That is undefined
 * (OpenCL 3.0, 5.2.1), and does everywhere what the program expects. */
static void add_set(struct tsl_joint *joint, const struct tsl_byte_set *set, const struct tsl_cut_memory *memory,
                    bool written)
{
    uint64_t from = 0, to = memory->whole;

    if (joint->reduce || !set->unknown || !memory->whole) {
        if (!tsl_byte_set_hull(set, memory->size, &from, &to))
            return;
        from += memory->offset;
        to += memory->offset;
    }
    if (written)
        widen(&joint->begin, &joint->end, from, to);
    else
        widen(&joint->touched_begin, &joint->touched_end, from, to);
}

/* Bytes of the root's end that are no whole element can't have been written by a store of whole ones. */
static bool find_ranges(const struct joint_view *v, struct tsl_joint *joint)
{
    uint64_t size = 0;

    joint->begin = joint->touched_begin = UINT64_MAX;
    joint->end = joint->touched_end = 0;
    for (uint32_t i = 0; i < v->footprint->n_arguments; i++) {
        const struct tsl_cut_memory *memory = &v->memories[i];

        for (unsigned s = 0; s < v->n; s++) {
            const struct tsl_argument_touch *touch = touch_in(v, s, i);

            if (touch && touch->reads)
                add_set(joint, &touch->read, memory, false);
            if (touch && touch->writes && memory->may_write)
                add_set(joint, &touch->write, memory, true);
        }
        if (memory->root == v->root)
            size = larger(size, larger(memory->whole, memory->offset + memory->size));
    }
    if (joint->begin >= joint->end)
        return false;
    joint->begin -= joint->begin % joint->width;
    joint->end += (joint->width - joint->end % joint->width) % joint->width;
    if (joint->end > size)
        joint->end = size - size % joint->width;
    widen(&joint->touched_begin, &joint->touched_end, joint->begin, joint->end);
    return joint->begin < joint->end;
}

/* ---- Merge ------------------------------------------------------------------------------------------------------- */

/* The largest width that divides both, of those that elements may have. */
static uint32_t common_width(uint32_t a, uint32_t b)
{
    uint32_t both = a | b | 8;

    return both & -both;
}

static bool can_merge(const struct joint_view *v, struct tsl_joint *joint, struct tsl_cut_verdict *verdict)
{
    joint->width = 8;
    for (uint32_t i = 0; i < v->footprint->n_arguments; i++) {
        for (unsigned s = 0; s < v->n; s++) {
            const struct tsl_argument_touch *touch = touch_in(v, s, i);

            if (!touch)
                continue;
            if (v->memories[i].image)
                return refuse(verdict, TSL_CUT_WRITES_UNKNOWN, i, access_of(v, i, TSL_ACCESS_WRITE));
            if (touch->writes && v->memories[i].may_write)
                joint->width = common_width(joint->width, touch->narrow ? touch->narrow : 1);
        }
    }
    return true;
}

/* ---- Reduce ------------------------------------------------------------------------------------------------------ */

static bool can_reduce(const struct joint_view *v, struct tsl_joint *joint, struct tsl_cut_verdict *verdict)
{
    const struct tsl_argument_touch *first = NULL;

    for (uint32_t i = 0; i < v->footprint->n_arguments; i++) {
        for (unsigned s = 0; s < v->n; s++) {
            const struct tsl_argument_touch *touch = touch_in(v, s, i);
            uint32_t access = access_of(v, i, TSL_ACCESS_ATOMIC);

            if (!touch)
                continue;
            if (touch->plain)
                return refuse(verdict, TSL_CUT_ATOMICS_AND_OTHERS, i, access);
            if (touch->result_used)
                return refuse(verdict, TSL_CUT_ATOMIC_RESULTS, i, access);
            first = first ? first : touch;
            if (touch->atomic == TSL_ATOMIC_OTHER || touch->atomic != first->atomic ||
                (touch->atomic_width != 4 && touch->atomic_width != 8) || touch->atomic_width != first->atomic_width)
                return refuse(verdict, TSL_CUT_ATOMICS_UNLIKE, i, access);
        }
    }
    joint->reduce = true;
    joint->atomic = first->atomic;
    joint->width = first->atomic_width;
    return true;
}

static bool has_atomics(const struct joint_view *v)
{
    for (uint32_t i = 0; i < v->footprint->n_arguments; i++)
        for (unsigned s = 0; s < v->n; s++)
            if (touch_in(v, s, i) && touch_in(v, s, i)->atomics)
                return true;
    return false;
}

bool tsl_joint_find(const struct tsl_footprint *footprint, unsigned n, const struct tsl_argument_touch *const *shares,
                    const struct tsl_cut_memory *memories, const void *root, struct tsl_joint *joint,
                    struct tsl_cut_verdict *verdict)
{
    const struct joint_view view = {footprint, memories, shares, n, root};

    *joint = (struct tsl_joint){.root = root};
    if (!(has_atomics(&view) ? can_reduce(&view, joint, verdict) : can_merge(&view, joint, verdict)))
        return false;
    return find_ranges(&view, joint) || refuse(verdict, TSL_CUT_WRITES_UNKNOWN, NONE, NONE);
}

uint64_t tsl_joint_neutral(const struct tsl_joint *joint)
{
    uint64_t ones = joint->width == 8 ? UINT64_MAX : UINT32_MAX;

    switch (joint->atomic) {
    case TSL_ATOMIC_AND:
    case TSL_ATOMIC_UMIN:
        return ones;
    case TSL_ATOMIC_SMIN:
        return ones >> 1;
    case TSL_ATOMIC_SMAX:
        return ones ^ ones >> 1;
    default:
        return 0;
    }
}

/* ---- Before any launch ------------------------------------------------------------------------------------------- */

/* Marks what depends on a work-item's place; `unknown`: on what isn't known. Operands stand before their nodes. */
static void mark_nodes(const struct tsl_footprint *f, uint8_t *marks)
{
    enum { PLACE = 1, UNKNOWN = 2 };

    for (uint32_t i = 0; i < f->n_nodes; i++) {
        const struct tsl_node *node = &f->nodes[i];
        unsigned n = tsl_node_operands(node->op);

        marks[i] = node->op == TSL_NODE_GLOBAL_ID || node->op == TSL_NODE_GROUP_ID ? PLACE
                   : node->op == TSL_NODE_UNKNOWN                                  ? UNKNOWN
                                                                                   : 0;
        marks[i] |= n > 0 ? marks[node->a] : 0;
        marks[i] |= n > 1 ? marks[node->b] : 0;
        marks[i] |= n > 2 ? marks[node->c] : 0;
    }
}

bool tsl_joint_may_need(const struct tsl_footprint *footprint)
{
    uint8_t marks[TSL_FOOTPRINT_MAX_NODES];

    if (tsl_cut_kernel(footprint) != TSL_CUT_OK)
        return false;
    mark_nodes(footprint, marks);
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        if (access->kind == TSL_ACCESS_ATOMIC)
            return true;
        if (access->kind == TSL_ACCESS_WRITE && !(access->flags & TSL_ACCESS_IMAGE) &&
            (access->address[0] == NONE || marks[access->address[0]] != 1))
            return true;
    }
    return false;
}
