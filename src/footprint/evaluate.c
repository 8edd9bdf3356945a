/*
 * What a window's accesses do to the arguments' memory.
 */
#include "footprint/part.h"

static void set_unknown(struct tsl_byte_set *set, uint32_t *why, uint32_t access)
{
    if (set->unknown)
        return;
    set->unknown = true;
    set->n = 0;
    *why = access;
}

/* An access that is any of the argument. */
static void touch_all(struct tsl_argument_touch *touch, const struct tsl_access *access, uint32_t index)
{
    if (access->kind != TSL_ACCESS_WRITE)
        set_unknown(&touch->read, &touch->why_read, index);
    if (access->kind != TSL_ACCESS_READ)
        set_unknown(&touch->write, &touch->why_write, index);
}

static void touch_box(struct tsl_argument_touch *touch, uint8_t kind, const struct tsl_raw_box *box, uint64_t memory)
{
    if (kind != TSL_ACCESS_WRITE)
        tsl_byte_set_add_raw(&touch->read, box, memory, false);
    if (kind != TSL_ACCESS_READ)
        tsl_byte_set_add_raw(&touch->write, box, memory, false);
}

/* ---- Facts that need no address --------------------------------------------------------------------------------- */

static void add_atomic(struct tsl_argument_touch *touch, const struct tsl_access *access)
{
    if (touch->atomics && touch->atomic != access->atomic)
        touch->atomic = TSL_ATOMIC_OTHER;
    if (touch->atomics && touch->atomic_width != access->width)
        touch->atomic_width = 0;
    if (!touch->atomics) {
        touch->atomic = access->atomic;
        touch->atomic_width = access->width <= UINT8_MAX ? (uint8_t)access->width : 0;
    }
    touch->atomics = true;
    touch->result_used |= access->flags & TSL_ACCESS_RESULT;
}

/* The value of the access in elements of its narrowest store. */
static bool constant_of(const struct tsl_access *access, uint64_t *value)
{
    *value = access->value;
    return access->flags & TSL_ACCESS_CONSTANT && access->narrow == access->width;
}

static void add_store(struct tsl_argument_touch *touch, const struct tsl_access *access, bool first)
{
    uint64_t value;
    bool constant = constant_of(access, &value);

    if (first) {
        touch->constant = constant;
        touch->constant_value = constant ? value : 0;
        touch->narrow = access->narrow;
        return;
    }
    if (!constant || touch->narrow != access->narrow || touch->constant_value != value)
        touch->constant = false;
    if (!touch->constant)
        touch->constant_value = 0;
    if (access->narrow < touch->narrow)
        touch->narrow = access->narrow;
}

static void add_facts(struct tsl_argument_touch *touch, const struct tsl_access *access)
{
    touch->reads |= access->kind != TSL_ACCESS_WRITE;
    if (access->kind == TSL_ACCESS_ATOMIC)
        add_atomic(touch, access);
    else
        touch->plain = true;
    if (access->kind == TSL_ACCESS_WRITE)
        add_store(touch, access, touch->narrow == 0);
    touch->writes |= access->kind != TSL_ACCESS_READ;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

static void add_form(struct tsl_evaluation *e, const struct tsl_access *access, const struct tsl_form *address,
                     struct tsl_argument_touch *touch, uint32_t index)
{
    const uint64_t memory = e->arguments[access->argument].memory;
    struct tsl_raw_box boxes[MAX_COVER];
    unsigned n = tsl_cover(&e->now, address, access->width, true, boxes);

    if (n == 0)
        touch_all(touch, access, index);
    for (unsigned i = 0; i < n; i++)
        touch_box(touch, access->kind, &boxes[i], memory);
    if (!(access->flags & TSL_ACCESS_SURE))
        return;
    n = tsl_cover(&e->now, address, access->width, false, boxes);
    for (unsigned i = 0; i < n; i++)
        tsl_byte_set_add_raw(&touch->sure, &boxes[i], memory, true);
}

static void record(struct tsl_evaluation *e, const struct tsl_value *address, void *data)
{
    const struct tsl_access *access = e->access;
    const uint32_t index = (uint32_t)(access - e->footprint->accesses);
    struct tsl_argument_touch *touch = (struct tsl_argument_touch *)data + access->argument;
    struct tsl_raw_box box = {address->low, 0, {0, 0}, {1, 1}};

    add_facts(touch, access);
    if (access->flags & TSL_ACCESS_IMAGE || address->kind == VALUE_ANY) {
        touch_all(touch, access, index);
    } else if (address->kind == VALUE_FORM) {
        add_form(e, access, &address->form, touch, index);
    } else if (address->low < -INT64_MAX / 4 || address->high > INT64_MAX / 4) {
        touch_all(touch, access, index);
    } else {
        box.width = (uint64_t)(address->high - address->low) + access->width;
        touch_box(touch, access->kind, &box, e->arguments[access->argument].memory);
    }
}

static void begin_touch(struct tsl_argument_touch *touch)
{
    struct tsl_byte_set *const sets[3] = {&touch->read, &touch->write, &touch->sure};

    for (unsigned i = 0; i < 3; i++) {
        sets[i]->unknown = false;
        sets[i]->n = 0;
    }
    touch->reads = touch->writes = touch->atomics = touch->plain = touch->result_used = touch->constant = false;
    touch->atomic = touch->atomic_width = 0;
    touch->constant_value = 0;
    touch->narrow = 0;
    touch->why_read = touch->why_write = TSL_FOOTPRINT_NONE;
}

void tsl_footprint_evaluate(const struct tsl_footprint *footprint, const struct tsl_window *window,
                            const struct tsl_argument_value *arguments, struct tsl_argument_touch *touches)
{
    struct tsl_evaluation e;
    bool known = tsl_evaluation_begin(&e, footprint, window, arguments);

    for (uint32_t i = 0; i < footprint->n_arguments; i++)
        begin_touch(&touches[i]);
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        if (known) {
            tsl_evaluation_walk(&e, access, record, touches);
        } else {
            add_facts(&touches[access->argument], access);
            touch_all(&touches[access->argument], access, i);
        }
    }
}
