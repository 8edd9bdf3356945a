/* TESELA_CHECK=split: what differs, in words. */
#include "base/log.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/data.h"
#include "graph/footing.h"
#include "graph/split_check.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

enum number { RAW, SIGNED, UNSIGNED, FLOATING };

struct element {
    const char *name; /* of the type */
    enum number number;
    unsigned size;
};

static const struct element elements[] = {
    {"char", SIGNED, 1},   {"uchar", UNSIGNED, 1}, {"short", SIGNED, 2},    {"ushort", UNSIGNED, 2},
    {"int", SIGNED, 4},    {"uint", UNSIGNED, 4},  {"long", SIGNED, 8},     {"ulong", UNSIGNED, 8},
    {"half", FLOATING, 2}, {"float", FLOATING, 4}, {"double", FLOATING, 8},
};

/* Of "float4*": float. What isn't known is bytes. */
static struct element element_of(const char *type)
{
    size_t length = type ? strcspn(type, "0123456789* ") : 0;
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
        if (length == strlen(elements[i].name) && strncmp(type, elements[i].name, length) == 0)
            return elements[i];
    return (struct element){"byte", RAW, 1};
}

static uint64_t bits_of(const struct element *e, const char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, e->size); /* All our machines are little-endian. */
    return bits;
}

static double half_value(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double value = exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static double float_value(const struct element *e, uint64_t bits)
{
    float single;
    double wide;
    if (e->size == 2)
        return half_value(bits);
    memcpy(&single, &bits, sizeof(single));
    memcpy(&wide, &bits, sizeof(wide));
    return e->size == 4 ? (double)single : wide;
}

static void print(const struct element *e, const char *at, char text[64])
{
    uint64_t bits = bits_of(e, at);
    int unused = 64 - 8 * (int)e->size;
    if (e->number == SIGNED)
        snprintf(text, 64, "%lld", (long long)(int64_t)(bits << unused) >> unused);
    else if (e->number == UNSIGNED)
        snprintf(text, 64, "%llu", (unsigned long long)bits);
    else if (e->number == FLOATING)
        snprintf(text, 64, "%.*g (0x%0*llx)", e->size == 8 ? 17 : 9, float_value(e, bits), 2 * (int)e->size,
                 (unsigned long long)bits);
    else
        snprintf(text, 64, "0x%02llx", (unsigned long long)bits);
}

/* Compilers of unlike members may round differently: so much of the larger number isn't told as a fault. */
static bool differ_by_rounding(const struct element *e, const char *a, const char *b)
{
    double x = float_value(e, bits_of(e, a)), y = float_value(e, bits_of(e, b));
    double tolerance = e->size == 2 ? 1e-2 : e->size == 4 ? 1e-4 : 1e-9;
    return (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

/* ---- Where it is ------------------------------------------------------------------------------------------------- */

/* What each share touches, as far as it is known: evaluated when the first difference of a comparison is found. */
struct looker {
    struct tsl_command *command;
    const struct tsl_compared *what;
    cl_uint n_arguments;
    struct tsl_argument_touch *touches; /* of each share, n_arguments; heap; NULL: unknown */
};

static const struct tsl_kernel_facts *facts_of(struct tsl_command *c, unsigned share)
{
    return &c->kernel->parts[tsl_command_share(c, share)->placement.member].facts;
}

static void look(struct looker *l)
{
    struct tsl_command *c = l->command;
    struct tsl_footing_values values;
    if (l->touches)
        return;
    l->n_arguments = facts_of(c, 0)->footprint ? facts_of(c, 0)->footprint->n_arguments : 0;
    l->touches = malloc((size_t)(c->n_more + 1) * (l->n_arguments + 1) * sizeof(*l->touches));
    for (unsigned s = 0; s <= c->n_more && l->touches; s++) {
        const struct tsl_footprint *footprint = facts_of(c, s)->footprint;
        if (!footprint || footprint->n_arguments != l->n_arguments) {
            free(l->touches);
            l->touches = NULL;
            return;
        }
        tsl_footing_values(c->args, l->n_arguments, &values);
        tsl_footprint_evaluate(footprint, &tsl_command_share(c, s)->window, values.of,
                               l->touches + (size_t)s * l->n_arguments);
    }
}

static bool box_has(const struct tsl_byte_box *box, uint64_t byte)
{
    if (byte < box->offset)
        return false;
    uint64_t at = byte - box->offset, j = box->stride[1] ? at / box->stride[1] : 0;
    at -= j * box->stride[1];
    uint64_t i = box->stride[0] ? at / box->stride[0] : 0;
    i = i < box->count[0] ? i : box->count[0] - 1;
    return j < box->count[1] && at - i * box->stride[0] < box->width;
}

static bool set_has(const struct tsl_byte_set *set, uint64_t byte)
{
    bool has = set->unknown;
    for (unsigned i = 0; i < set->n && !has; i++)
        has = box_has(&set->boxes[i], byte);
    return has;
}

static bool is_in(const struct looker *l, cl_uint argument, uint64_t byte)
{
    const struct tsl_buffer *b = l->command->args->args[argument].buffer;
    return b && tsl_data_of(b) == l->what->data && byte >= b->offset && byte - b->offset < b->size;
}

static bool may_write(const struct looker *l, unsigned share, cl_uint argument, uint64_t byte)
{
    const struct tsl_buffer *b = l->command->args->args[argument].buffer;
    return is_in(l, argument, byte) &&
           set_has(&l->touches[(size_t)share * l->n_arguments + argument].write, byte - b->offset);
}

/* A byte of the object, as the kernel sees it. */
struct place {
    int argument;      /* by which it is written, or else given; -1: no argument leads there */
    uint64_t byte;     /* of the argument's memory */
    int share;         /* the first that may have written there; -1: none, as far as is known */
    unsigned n_shares; /* so many may have */
    struct element element;
};

static void find_shares(const struct looker *l, uint64_t byte, struct place *place)
{
    struct tsl_command *c = l->command;
    for (unsigned s = 0; s <= c->n_more && l->touches; s++) {
        bool writes = false;
        for (cl_uint i = 0; i < l->n_arguments && !writes; i++) {
            writes = may_write(l, s, i, byte);
            if (writes && place->share < 0)
                place->argument = (int)i;
        }
        if (writes && place->share < 0)
            place->share = (int)s;
        place->n_shares += writes;
    }
}

/* byte: of the object. */
static struct place find(struct looker *l, uint64_t byte)
{
    struct tsl_command *c = l->command;
    struct place place = {-1, byte, -1, 0, {"byte", RAW, 1}};
    look(l);
    for (cl_uint i = 0; i < c->args->n && place.argument < 0; i++)
        if (is_in(l, i, byte))
            place.argument = (int)i;
    find_shares(l, byte, &place);
    if (place.argument < 0)
        return place;
    place.byte -= c->args->args[place.argument].buffer->offset;
    if ((cl_uint)place.argument < c->kernel->facts->n_args)
        place.element = element_of(c->kernel->facts->args[place.argument].type_name);
    return place;
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

static const char *member_of(struct tsl_command *c, unsigned share)
{
    return c->graph->ports[tsl_command_share(c, share)->placement.member].name;
}

static void print_argument(const struct tsl_command *c, const struct place *place, char *text, size_t size)
{
    const struct tsl_kernel_facts *facts = c->kernel->facts;
    const char *name = NULL;
    if (place->argument >= 0 && (cl_uint)place->argument < facts->n_args)
        name = facts->args[place->argument].name;
    if (place->argument < 0)
        snprintf(text, size, "beside all arguments, byte %llu of a buffer", (unsigned long long)place->byte);
    else if (place->element.number == RAW)
        snprintf(text, size, "argument %d%s%s%s, byte %llu", place->argument, name ? " (" : "", name ? name : "",
                 name ? ")" : "", (unsigned long long)place->byte);
    else
        snprintf(text, size, "argument %d%s%s%s, byte %llu, %s number %llu", place->argument, name ? " (" : "",
                 name ? name : "", name ? ")" : "",
                 (unsigned long long)(place->byte - place->byte % place->element.size), place->element.name,
                 (unsigned long long)(place->byte / place->element.size));
}

static void print_window(const struct tsl_window *window, char *text, size_t size)
{
    size_t length = 0;
    *text = 0;
    for (unsigned d = 0; d < window->work_dim && !window->whole && length < size; d++)
        if (window->group_count[d] < (window->global_size[d] + window->local_size[d] - 1) / window->local_size[d])
            length += (size_t)snprintf(text + length, size - length, ", groups %zu to %zu of dimension %u",
                                       window->group_begin[d], window->group_begin[d] + window->group_count[d] - 1, d);
}

static void print_share(struct tsl_command *c, const struct place *place, char *text, size_t size)
{
    char window[128];
    if (place->share < 0) {
        snprintf(text, size, "no share may write there, by what is known of the kernel");
        return;
    }
    print_window(&tsl_command_share(c, (unsigned)place->share)->window, window, sizeof(window));
    snprintf(text, size, "share %d of %u (on %s%s)%s may write there", place->share, c->n_more + 1,
             member_of(c, (unsigned)place->share), window, place->n_shares > 1 ? " and others" : "");
}

/* The element, or the byte where not all of the element was compared. row: bytes of the row, from offset `begin` of the
 * object. */
struct row {
    const char *a, *b;
    uint64_t begin;
    size_t size;
};

static bool fit(const struct row *row, size_t at, struct place *place, size_t *first)
{
    size_t into = place->byte % place->element.size;
    *first = at - (into < at ? into : at);
    if (into <= at && *first + place->element.size <= row->size)
        return true;
    place->element = (struct element){"byte", RAW, 1};
    *first = at;
    return false;
}

static void tell(struct looker *l, const struct row *row, size_t first, const struct place *place)
{
    struct tsl_command *c = l->command;
    const struct tsl_split_check *check = c->split_check;
    char argument[160], share[256], cut[64], whole[64];
    print_argument(c, place, argument, sizeof(argument));
    print_share(c, place, share, sizeof(share));
    print(&place->element, row->a + first, cut);
    print(&place->element, row->b + first, whole);
    tsl_log(
        TSL_LOG_IN_PLACE, TSL_LOG_ERROR,
        "TESELA_CHECK: launch %llu of %s, cut by the rung %s, differs from the same launch run whole on %s: %s: %s, "
        "whole %s; %s",
        (unsigned long long)c->id, c->kernel->name, c->out_of_core ? "exact into windows" : tsl_rung_name(c->rung),
        c->graph->ports[check->share.placement.member].name, argument, cut, whole, share);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

/* Did all that may have written there run on members like that of the whole launch? */
static bool is_alike(struct tsl_command *c)
{
    bool alike = true;
    for (unsigned s = 0; s <= c->n_more; s++)
        alike &= tsl_placer_alike(c->graph->placer, tsl_command_share(c, s)->placement.member,
                                  c->split_check->share.placement.member);
    return alike;
}

/* True: a difference was told. */
static bool compare_row(struct looker *l, const struct row *row)
{
    struct tsl_split_check *check = l->command->split_check;
    size_t at = 0, first;
    while (at < row->size && memcmp(row->a + at, row->b + at, row->size - at) != 0) {
        while (row->a[at] == row->b[at])
            at++;
        struct place place = find(l, row->begin + at);
        bool all = fit(row, at, &place, &first);
        if (!all || place.element.number != FLOATING || is_alike(l->command) ||
            !differ_by_rounding(&place.element, row->a + first, row->b + first)) {
            tell(l, row, first, &place);
            return true;
        }
        check->n_rounded++;
        at = first + place.element.size;
    }
    return false;
}

cl_int tsl_split_check_compare(struct tsl_command *c, const struct tsl_compared *what)
{
    struct tsl_split_check *check = c->split_check;
    struct looker l = {.command = c, .what = what};
    check->unread |= !what->a || !what->b;
    if (!what->a || !what->b || check->told)
        return CL_SUCCESS;
    for (size_t i = 0; i < what->region[1] * what->region[2] && !check->told; i++) {
        size_t at = i / what->region[1] * what->slice_pitch + i % what->region[1] * what->row_pitch;
        const struct row row = {what->a + at, what->b + at, what->offset + at, what->region[0]};
        check->told = compare_row(&l, &row);
    }
    free(l.touches);
    return check->told ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}
