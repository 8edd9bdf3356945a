/*
 * What a window's accesses do to the arguments' memory.
 */
#include "footprint/part.h"

#include <stddef.h>
#include <string.h>

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
                     uint32_t width, struct tsl_argument_touch *touch, uint32_t index)
{
    const uint64_t memory = e->arguments[access->argument].memory;
    struct tsl_raw_box boxes[MAX_COVER];
    unsigned n = tsl_cover(&e->now, address, width, true, boxes);

    if (n == 0)
        touch_all(touch, access, index);
    for (unsigned i = 0; i < n; i++)
        touch_box(touch, access->kind, &boxes[i], memory);
    if (!(access->flags & TSL_ACCESS_SURE))
        return;
    n = tsl_cover(&e->now, address, width, false, boxes);
    for (unsigned i = 0; i < n; i++)
        tsl_byte_set_add_raw(&touch->sure, &boxes[i], memory, true);
}

/* ---- Pixels ----------------------------------------------------------------------------------------------------- */

/* Where the pixels begin, as one form. False: it isn't known which they are, some may lie beside the image, or it can't
 * be said so. */
static bool form_of_pixels(const struct tsl_evaluation *e, const struct tsl_pixel_layout *pixels,
                           const struct tsl_value *coordinates, struct tsl_form *form)
{
    tsl_form_set(form, 0);
    if (e->access->address[0] == TSL_FOOTPRINT_NONE)
        return false;
    for (unsigned d = 0; d < 3; d++) {
        struct tsl_range range;

        if (e->access->address[d] == TSL_FOOTPRINT_NONE)
            continue;
        if (coordinates[d].kind != VALUE_FORM || !tsl_value_range(e, &coordinates[d], &range) || range.low < 0 ||
            range.high >= pixels->size[d] || !tsl_form_add(form, &coordinates[d].form, (int64_t)pixels->step[d]))
            return false;
    }
    return true;
}

/* The bytes of a box of pixels, as far as it is in the image; false: none is. */
static bool bytes_of_pixels(const struct tsl_pixel_layout *pixels, const struct tsl_pixel_box *box,
                            struct tsl_raw_box *bytes)
{
    uint64_t n[3], offset = 0;

    for (unsigned d = 0; d < 3; d++) {
        if (box->origin[d] >= pixels->size[d])
            return false;
        n[d] = box->size[d] < pixels->size[d] - box->origin[d] ? box->size[d] : pixels->size[d] - box->origin[d];
        offset += box->origin[d] * pixels->step[d];
    }
    *bytes = (struct tsl_raw_box){(int64_t)offset, n[0] * pixels->step[0], {0, 0}, {1, 1}};
    for (unsigned d = 1, at = 0; d < 3; d++) {
        if (n[d] == 1)
            continue;
        if (at == 0 && bytes->width == pixels->step[d]) {
            bytes->width *= n[d];
            continue;
        }
        bytes->stride[at] = pixels->step[d];
        bytes->count[at++] = n[d];
    }
    return true;
}

static void record_pixels(struct tsl_evaluation *e, const struct tsl_value *coordinates,
                          struct tsl_argument_touch *touch, uint32_t index)
{
    const struct tsl_argument_value *argument = &e->arguments[e->access->argument];
    struct tsl_pixel_box box;
    struct tsl_raw_box bytes;
    struct tsl_form form;
    bool empty;

    if (!argument->pixels)
        touch_all(touch, e->access, index);
    else if (form_of_pixels(e, argument->pixels, coordinates, &form))
        add_form(e, e->access, &form, (uint32_t)argument->pixels->step[0], touch, index);
    else if (!tsl_pixel_box_of(e, coordinates, &box, &empty))
        touch_all(touch, e->access, index);
    else if (!empty && bytes_of_pixels(argument->pixels, &box, &bytes))
        touch_box(touch, e->access->kind, &bytes, argument->memory);
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

static void record(struct tsl_evaluation *e, const struct tsl_value *address, void *data)
{
    const struct tsl_access *access = e->access;
    const uint32_t index = (uint32_t)(access - e->footprint->accesses);
    struct tsl_argument_touch *touch = (struct tsl_argument_touch *)data + access->argument;
    struct tsl_raw_box box = {address->low, 0, {0, 0}, {1, 1}};

    add_facts(touch, access);
    if (access->flags & TSL_ACCESS_IMAGE) {
        record_pixels(e, address, touch, index);
    } else if (address->kind == VALUE_ANY) {
        touch_all(touch, access, index);
    } else if (address->kind == VALUE_FORM) {
        add_form(e, access, &address->form, access->width, touch, index);
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

bool tsl_footprint_stride(const struct tsl_footprint *footprint, const struct tsl_argument_value *arguments, int64_t *n)
{
    const struct tsl_window window = {
        .work_dim = 1, .global_size = {2, 1, 1}, .local_size = {1, 1, 1}, .group_count = {2, 1, 1}, .whole = true};
    struct tsl_evaluation *e = tsl_evaluation_begin(footprint, &window, arguments);
    bool known = e && tsl_evaluation_constant(e, footprint->stride - 1, n);

    tsl_evaluation_end(e);
    return known;
}

static bool is_of(uint32_t argument, const uint64_t *some)
{
    return !some || (argument < 64 && *some >> argument & 1);
}

/* some: NULL: all arguments. */
static bool evaluate(const struct tsl_footprint *footprint, const struct tsl_window *window,
                     const struct tsl_argument_value *arguments, const uint64_t *some,
                     struct tsl_argument_touch *touches)
{
    struct tsl_evaluation *e = tsl_evaluation_begin(footprint, window, arguments);

    for (uint32_t i = 0; i < footprint->n_arguments; i++)
        if (is_of(i, some))
            begin_touch(&touches[i]);
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        if (!is_of(access->argument, some))
            continue;
        if (e) {
            tsl_evaluation_walk(e, access, record, touches);
        } else {
            add_facts(&touches[access->argument], access);
            touch_all(&touches[access->argument], access, i);
        }
    }
    const bool within = e && e->steps > 0 && e->n_all_parts + MAX_PARTS <= MAX_ALL_PARTS;
    tsl_evaluation_end(e);
    return within;
}

bool tsl_footprint_evaluate(const struct tsl_footprint *footprint, const struct tsl_window *window,
                            const struct tsl_argument_value *arguments, struct tsl_argument_touch *touches)
{
    return evaluate(footprint, window, arguments, NULL, touches);
}

bool tsl_footprint_evaluate_some(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                 const struct tsl_argument_value *arguments, uint64_t some,
                                 struct tsl_argument_touch *touches)
{
    return evaluate(footprint, window, arguments, &some, touches);
}

/* Most sets have a few boxes of the many for which there is room. */
static void copy_set(struct tsl_byte_set *to, const struct tsl_byte_set *from)
{
    to->unknown = from->unknown;
    to->n = from->n;
    memcpy(to->boxes, from->boxes, from->n * sizeof(*from->boxes));
}

void tsl_argument_touch_copy(struct tsl_argument_touch *to, const struct tsl_argument_touch *from)
{
    const size_t sets = offsetof(struct tsl_argument_touch, reads);

    copy_set(&to->read, &from->read);
    copy_set(&to->write, &from->write);
    copy_set(&to->sure, &from->sure);
    memcpy((char *)to + sets, (const char *)from + sets, sizeof(*to) - sets);
}
