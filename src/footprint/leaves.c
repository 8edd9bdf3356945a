/*
 * Values of leaves: what a launch gives, and the variables of a part.
 */
#include "footprint/part.h"

static struct tsl_value scalar(const struct tsl_evaluation *e, const struct tsl_node *node)
{
    const struct tsl_argument_value *argument = &e->arguments[node->a];
    size_t size = node->bits == 1 ? 1 : node->bits / 8u;
    const uint8_t *bytes = argument->value;
    uint64_t value = 0;

    if (!bytes || argument->size < size || node->b > argument->size - size)
        return tsl_value_any();
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[node->b + i] << (8 * i);
    if (node->bits == 1)
        return tsl_value_of(value != 0);
    /* Extended by its sign, as constants are. */
    return tsl_value_of((int64_t)(value << (64 - node->bits)) >> (64 - node->bits));
}

static struct tsl_value of_variable(int v)
{
    struct tsl_value value = tsl_value_of(0);

    if (v < 0)
        return tsl_value_any();
    value.form.k[v] = 1;
    return value;
}

/* The global id less its offset. */
static struct tsl_value position(struct tsl_evaluation *e, unsigned dimension)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    int8_t *v = &e->now.global[dimension];

    if (extent->begin == extent->end - 1)
        return tsl_value_of(extent->begin);
    if (*v < 0)
        *v = (int8_t)tsl_part_add(&e->now, extent->begin, extent->end - 1);
    return of_variable(*v);
}

static struct tsl_value group_id(struct tsl_evaluation *e, unsigned dimension)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    int8_t *v = &e->now.group[dimension];
    const int64_t first = extent->begin / extent->local, last = (extent->end - 1) / extent->local;

    if (!e->groups_known)
        return tsl_value_any();
    if (first == last)
        return tsl_value_of(first);
    if (extent->local == 1 || position(e, dimension).kind == VALUE_ANY)
        return position(e, dimension);
    if (*v < 0) {
        *v = (int8_t)tsl_part_add(&e->now, first, last);
        if (*v >= 0)
            e->now.lazy |= (uint16_t)(1u << *v);
    }
    return of_variable(*v);
}

/* The position less what the groups before have; so a group's id times the size plus this is the position again. */
static struct tsl_value local_id(struct tsl_evaluation *e, unsigned dimension)
{
    struct tsl_value value = position(e, dimension), group = group_id(e, dimension);

    if (value.kind == VALUE_ANY || group.kind == VALUE_ANY ||
        !tsl_form_add(&value.form, &group.form, -e->extents[dimension].local))
        return tsl_value_any();
    return value;
}

static struct tsl_value group_size(struct tsl_evaluation *e, unsigned dimension)
{
    const struct tsl_extent *extent = &e->extents[dimension];
    struct tsl_value place;
    int64_t full;

    if (!e->groups_known)
        return tsl_value_any();
    full = extent->size / extent->local * extent->local;
    place = position(e, dimension);
    if (extent->end <= full)
        return tsl_value_of(extent->local);
    if (place.kind == VALUE_ANY)
        return tsl_value_between(1, extent->local);
    place.form.constant -= full;
    switch (tsl_branch(e, place.form)) {
    case TRUTH_YES:
        return tsl_value_of(extent->size - full);
    case TRUTH_NO:
        return tsl_value_of(extent->local);
    default:
        return tsl_value_between(1, extent->local);
    }
}

static struct tsl_value counter(struct tsl_evaluation *e, uint32_t loop)
{
    for (uint32_t i = 0; i < e->access->n_loops; i++)
        if (e->access->loops[i] == loop && e->now.counter[i] >= 0)
            return of_variable(e->now.counter[i]);
    e->early = true;
    return tsl_value_any();
}

struct tsl_value tsl_leaf(struct tsl_evaluation *e, const struct tsl_node *node)
{
    const struct tsl_extent *extent = &e->extents[node->a < 3 ? node->a : 0];
    struct tsl_value value;

    switch (node->op) {
    case TSL_NODE_CONSTANT:
        return tsl_value_of(node->value);
    case TSL_NODE_SCALAR:
        return scalar(e, node);
    case TSL_NODE_COUNTER:
        return counter(e, node->a);
    case TSL_NODE_GLOBAL_ID:
        value = position(e, node->a);
        value.form.constant += extent->offset;
        return value;
    case TSL_NODE_LOCAL_ID:
        return local_id(e, node->a);
    case TSL_NODE_GROUP_ID:
        return group_id(e, node->a);
    case TSL_NODE_GLOBAL_SIZE:
        return tsl_value_of(extent->size);
    case TSL_NODE_LOCAL_SIZE:
        return e->groups_known ? tsl_value_of(extent->local) : tsl_value_any();
    case TSL_NODE_GROUP_SIZE:
        return group_size(e, node->a);
    case TSL_NODE_NUM_GROUPS:
        return e->groups_known ? tsl_value_of(extent->groups) : tsl_value_any();
    case TSL_NODE_GLOBAL_OFFSET:
        return tsl_value_of(extent->offset);
    default:
        return tsl_value_any();
    }
}
