/*
 * Values of leaves: what a launch gives, and the variables of a part.
 */
#include "footprint/part.h"

static void set_scalar(const struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *value)
{
    const struct tsl_argument_value *argument = &e->arguments[node->a];
    size_t size = node->bits == 1 ? 1 : node->bits / 8u;
    const uint8_t *bytes = argument->value;
    uint64_t word = 0;

    if (!bytes || argument->size < size || node->b > argument->size - size) {
        tsl_value_set_any(value);
        return;
    }
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[node->b + i] << (8 * i);
    if (node->bits == 1)
        tsl_value_set(value, word != 0);
    else /* Extended by its sign, as constants are. */
        tsl_value_set(value, (int64_t)(word << (64 - node->bits)) >> (64 - node->bits));
}

/* v: a variable, or -1. */
static void set_variable(struct tsl_evaluation *e, int v, struct tsl_value *value)
{
    e->varies = true;
    if (v < 0) {
        tsl_value_set_any(value);
        return;
    }
    tsl_value_set(value, 0);
    *tsl_form_at(&value->form, (unsigned)v) = 1;
}

/* The global id less its offset. */
static void set_position(struct tsl_evaluation *e, unsigned dimension, struct tsl_value *value)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    int8_t *v = &e->now.global[dimension];

    if (extent->begin == extent->end - 1) {
        tsl_value_set(value, extent->begin);
        return;
    }
    if (*v < 0)
        *v = (int8_t)tsl_part_add(&e->now, extent->begin, extent->end - 1);
    set_variable(e, *v, value);
}

static void set_group_id(struct tsl_evaluation *e, unsigned dimension, struct tsl_value *value)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    int8_t *v = &e->now.group[dimension];
    const int64_t first = extent->begin / extent->local, last = (extent->end - 1) / extent->local;

    if (!e->groups_known) {
        tsl_value_set_any(value);
        return;
    }
    if (first == last) {
        tsl_value_set(value, first);
        return;
    }
    set_position(e, dimension, value);
    if (extent->local == 1 || value->kind == VALUE_ANY)
        return;
    if (*v < 0) {
        *v = (int8_t)tsl_part_add(&e->now, first, last);
        if (*v >= 0)
            e->now.lazy |= (uint16_t)(1u << *v);
    }
    set_variable(e, *v, value);
}

/* The position less what the groups before have; so a group's id times the size plus this is the position again. */
static void set_local_id(struct tsl_evaluation *e, unsigned dimension, struct tsl_value *value)
{
    struct tsl_value group;

    set_position(e, dimension, value);
    set_group_id(e, dimension, &group);
    if (value->kind == VALUE_ANY || group.kind == VALUE_ANY ||
        !tsl_form_add(&value->form, &group.form, -e->extents[dimension].local))
        tsl_value_set_any(value);
}

static void set_group_size(struct tsl_evaluation *e, unsigned dimension, struct tsl_value *value)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    enum tsl_truth is_last = TRUTH_OPEN;
    int64_t full;

    if (!e->groups_known) {
        tsl_value_set_any(value);
        return;
    }
    full = extent->size / extent->local * extent->local;
    set_position(e, dimension, value);
    if (extent->end <= full) {
        tsl_value_set(value, extent->local);
        return;
    }
    if (value->kind == VALUE_FORM) {
        value->form.constant -= full;
        is_last = tsl_branch(e, &value->form);
    }
    if (is_last == TRUTH_OPEN)
        tsl_value_set_between(value, 1, extent->local);
    else
        tsl_value_set(value, is_last == TRUTH_YES ? extent->size - full : extent->local);
}

static void set_counter(struct tsl_evaluation *e, uint32_t loop, struct tsl_value *value)
{
    for (uint32_t i = 0; i < e->access->n_loops; i++) {
        if (e->access->loops[i] == loop && e->now.counter[i] >= 0) {
            set_variable(e, e->now.counter[i], value);
            return;
        }
    }
    e->early = true;
    set_variable(e, -1, value);
}

static void set_if(bool known, int64_t constant, struct tsl_value *value)
{
    if (known)
        tsl_value_set(value, constant);
    else
        tsl_value_set_any(value);
}

void tsl_leaf(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *value)
{
    const struct tsl_extent *extent = &e->extents[node->a < 3 ? node->a : 0];

    switch (node->op) {
    case TSL_NODE_CONSTANT:
        tsl_value_set(value, node->value);
        break;
    case TSL_NODE_SCALAR:
        set_scalar(e, node, value);
        break;
    case TSL_NODE_COUNTER:
        set_counter(e, node->a, value);
        break;
    case TSL_NODE_GLOBAL_ID:
        set_position(e, node->a, value);
        if (value->kind == VALUE_FORM)
            value->form.constant += extent->offset;
        break;
    case TSL_NODE_LOCAL_ID:
        set_local_id(e, node->a, value);
        break;
    case TSL_NODE_GROUP_ID:
        set_group_id(e, node->a, value);
        break;
    case TSL_NODE_GLOBAL_SIZE:
        tsl_value_set(value, extent->size);
        break;
    case TSL_NODE_LOCAL_SIZE:
        set_if(e->groups_known, extent->local, value);
        break;
    case TSL_NODE_GROUP_SIZE:
        set_group_size(e, node->a, value);
        break;
    case TSL_NODE_NUM_GROUPS:
        set_if(e->groups_known, extent->groups, value);
        break;
    case TSL_NODE_GLOBAL_OFFSET:
        tsl_value_set(value, extent->offset);
        break;
    default:
        tsl_value_set_any(value);
    }
}
