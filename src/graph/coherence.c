/* TESELA_CHECK=coherence: reading what counts as equal, and comparing it. */
#include "graph/coherence.h"

#include "base/log.h"
#include "base/sets.h"
#include "driver/image.h"
#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/memory_order.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/record.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "object/buffer.h"
#include "object/svm.h"
#include "program/program.h"
#include "tile/ranges.h"
#include "tile/tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t tsl_coherence_piece = (uint64_t)1 << 20;

#define MAX_COPIES (TSL_MAX_MEMBERS + 2) /* the host's, the members', and one that is spread over some of them */

/* A graph has one piece of scratch memory for each copy of a check, so its checks come one after the other. */
struct tsl_checks {
    bool all;
    struct tsl_op *last;       /* the last TSL_OP_CHECK that was planned (owned reference); NULL: none yet */
    char *scratch[MAX_COPIES]; /* of a check's copies; tsl_coherence_piece bytes each; NULL until needed */
};

/* Which command may have written last: bytes up to `end`, from the end of the entry before. */
struct writer {
    uint64_t end;
    uint64_t command; /* its number; 0: none has written there since the check began */
    char name[48];
};

/* Of an object: in the order of bytes, without gaps. */
struct tsl_writers {
    unsigned n;
    struct writer list[];
};

/* One copy that is compared. */
struct copy {
    unsigned space;
    const char *name, *bytes;
    struct tsl_op *read; /* owned reference */
};

/* One box of bytes, in several copies. It names its object for messages alone, as that may be gone. */
struct tsl_check {
    const void *object;
    size_t size; /* of the object */
    struct tsl_image_box box;
    size_t row_pitch, slice_pitch;
    uint64_t command;
    char name[48];
    unsigned n;
    struct copy copies[MAX_COPIES];
    struct tsl_writers *writers; /* as they were when the check was planned; owned; NULL: unknown */
    tsl_compare_fn *compare;     /* of a pair; NULL: the copies must be equal */
    struct tsl_data *data;       /* of a pair: the first one's, which the command keeps */
};

struct tsl_checks *tsl_coherence_create(bool all)
{
    struct tsl_checks *checks = calloc(1, sizeof(*checks));
    if (checks)
        checks->all = all;
    return checks;
}

void tsl_coherence_destroy(struct tsl_checks *checks)
{
    if (!checks)
        return;
    tsl_op_unref(checks->last);
    for (unsigned i = 0; i < MAX_COPIES; i++)
        free(checks->scratch[i]);
    free(checks);
}

/* ---- Who wrote --------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct tsl_command *c)
{
    return c->kernel ? c->kernel->name : tsl_command_name(c->type);
}

static void add(struct tsl_writers *to, uint64_t begin, uint64_t end, const struct writer *writer)
{
    struct writer *last = to->n ? &to->list[to->n - 1] : NULL;
    if (begin >= end)
        return;
    if (!last || last->command != writer->command)
        to->list[to->n++] = *writer;
    to->list[to->n - 1].end = end;
}

/* The part of the entries from begin to end. */
static void add_part(struct tsl_writers *to, const struct tsl_writers *from, uint64_t begin, uint64_t end)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < from->n; at = from->list[i].end, i++)
        add(to, at > begin ? at : begin, from->list[i].end < end ? from->list[i].end : end, &from->list[i]);
}

static struct tsl_writers *room_for(unsigned n)
{
    struct tsl_writers *writers = malloc(sizeof(*writers) + n * sizeof(writers->list[0]));
    if (writers)
        writers->n = 0;
    return writers;
}

/* Without memory the message will name an older command. */
void tsl_coherence_note_write(struct tsl_command *c, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct writer writer = {.command = c->id}, nobody = {.name = "nobody"};
    if (!c->graph->checks->all)
        return;
    struct tsl_writers *before = data->writers, *now = room_for((before ? before->n : 1) + 2);
    if (!now)
        return;
    snprintf(writer.name, sizeof(writer.name), "%s", name_of(c));
    if (before)
        add_part(now, before, 0, begin);
    else
        add(now, 0, begin, &nobody);
    add(now, begin, end, &writer);
    if (before)
        add_part(now, before, end, data->size);
    else
        add(now, end, data->size, &nobody);
    free(before);
    data->writers = now;
}

void tsl_coherence_forget(struct tsl_writers *writers)
{
    free(writers);
}

/* ---- Planning ---------------------------------------------------------------------------------------------------- */

static void go(struct tsl_op *op, const struct tsl_checks *checks)
{
    if (checks->last)
        tsl_op_depend(op, checks->last, false);
    tsl_op_after_opaque(op);
    tsl_op_go(op);
}

/* Reads the check's box of one copy into scratch memory. What fails here is no failure of the command. */
static bool read_copy(struct tsl_command *c, struct tsl_check *check, struct tsl_data *data, unsigned space)
{
    struct tsl_checks *checks = c->graph->checks;
    struct tsl_port *port = tsl_space_port(c->graph, data, space);
    struct tsl_op *op = tsl_op_create(c, port, tsl_port_is_host(port) ? NULL : &port->down, TSL_OP_COPY);
    if (!op)
        return false;
    struct tsl_toucher t = {.op = op};
    op->is_side = true;
    op->want_fence = true;
    op->src = (struct tsl_side){.data = data,
                                .space = space,
                                .offset = check->box.offset,
                                .row_pitch = check->row_pitch,
                                .slice_pitch = check->slice_pitch};
    op->dst = (struct tsl_side){
        .host = checks->scratch[check->n], .row_pitch = check->row_pitch, .slice_pitch = check->slice_pitch};
    memcpy(op->region, check->box.region, sizeof(op->region));
    if (!tsl_dependences_add(&c->frontier, op, false))
        tsl_memory_order_begin(c);
    uint64_t end = check->box.offset + tsl_side_hull(op, &op->src);
    cl_int error = tsl_touch_copy(c->graph, &t, data, check->box.offset, end, space, TSL_MAY_READ);
    if (error)
        op->poison = error;
    check->copies[check->n++] = (struct copy){space, port->name, op->dst.host, op};
    go(op, checks);
    return true;
}

/* Takes the check. */
static void compare_copies(struct tsl_command *c, struct tsl_check *check)
{
    struct tsl_checks *checks = c->graph->checks;
    struct tsl_op *op = tsl_op_create(c, &c->graph->host, NULL, TSL_OP_CHECK);
    if (!op) { /* The copies that were read go once they are. */
        tsl_coherence_end(check);
        return;
    }
    op->check = check;
    for (unsigned i = 0; i < check->n; i++)
        tsl_op_depend(op, check->copies[i].read, false);
    if (!tsl_dependences_add(&c->own, op, true))
        tsl_memory_order_begin(c);
    go(op, checks);
    tsl_op_unref(checks->last);
    checks->last = op;
}

static struct tsl_check *create(struct tsl_command *c, const struct tsl_data *data, const struct tsl_image_box *box)
{
    const struct tsl_place place = tsl_move_place(data, box);
    struct tsl_check *check = calloc(1, sizeof(*check));
    if (!check)
        return NULL;
    check->object = data->owner;
    check->size = data->size;
    check->box = *box;
    check->row_pitch = place.row_pitch;
    check->slice_pitch = place.slice_pitch;
    check->command = c->id;
    snprintf(check->name, sizeof(check->name), "%s", name_of(c));
    uint64_t end = box->offset + tsl_box_hull(box->region, place.row_pitch, place.slice_pitch);
    check->writers = data->writers ? room_for(data->writers->n) : NULL;
    if (check->writers)
        add_part(check->writers, data->writers, box->offset, end);
    return check;
}

/* False: no memory; the check is without that copy. */
static bool add_copy(struct tsl_command *c, struct tsl_check *check, struct tsl_data *data, unsigned space)
{
    char **scratch = &c->graph->checks->scratch[check->n];
    if (!*scratch)
        *scratch = malloc(tsl_coherence_piece);
    return *scratch && read_copy(c, check, data, space);
}

/* False: no memory; the box isn't checked, or without some copies. */
static bool check_box(struct tsl_command *c, struct tsl_data *data, const struct tsl_image_box *box, tsl_spaces spaces)
{
    struct tsl_check *check = create(c, data, box);
    bool all = check;
    for (; all && !tsl_spaces_is_empty(spaces); tsl_spaces_remove(&spaces, tsl_spaces_first(spaces)))
        all = add_copy(c, check, data, tsl_spaces_first(spaces));
    if (check)
        compare_copies(c, check);
    return all;
}

/* The copies of the piece that must be equal. */
static tsl_spaces copies_of(const struct tsl_data *data, const struct tsl_tile *tile, uint64_t begin, uint64_t end)
{
    tsl_spaces spaces = tile->valid;
    if (tsl_ranges_meeting(&data->mapped, begin, end))
        tsl_spaces_remove(&spaces, TSL_SPACE_HOST);
    return tsl_spaces_has(spaces, TSL_SPACE_LOST) ? TSL_SPACES_NONE : spaces;
}

static bool check_piece(struct tsl_command *c, struct tsl_data *data, uint64_t begin, uint64_t end, tsl_spaces spaces)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_move_boxes(data, begin, end, boxes);
    bool all = true;
    for (unsigned i = 0; i < n && all; i++)
        all = check_box(c, data, &boxes[i], spaces);
    return all;
}

/* Reading leaves uses, by which tiles are cut, so the tile is looked up anew for each piece. */
static bool check_data(struct tsl_command *c, struct tsl_data *data)
{
    uint64_t end;
    bool all = true;
    tsl_tiles_check(&data->tiles, data->size);
    for (uint64_t at = 0; at < data->size && all; at = end) {
        const struct tsl_tile *tile = tsl_tiles_at(&data->tiles, at);
        uint64_t piece_end = (at / tsl_coherence_piece + 1) * tsl_coherence_piece;
        end = tile->end < piece_end ? tile->end : piece_end;
        tsl_spaces spaces = copies_of(data, tile, at, end);
        if (tsl_spaces_count(spaces) > 1)
            all = check_piece(c, data, at, end, spaces);
    }
    return all;
}

static struct tsl_buffer *named(const struct tsl_command *c, cl_uint i)
{
    cl_uint n_args = c->args ? c->args->n_all : 0;
    if (i < 2)
        return i == 0 ? c->src : c->dst;
    return i - 2 < n_args ? c->args->args[i - 2].buffer : c->buffers[i - 2 - n_args];
}

static bool was_named(const struct tsl_command *c, cl_uint i)
{
    for (cl_uint k = 0; k < i; k++)
        if (named(c, k) && tsl_data_of(named(c, k)) == tsl_data_of(named(c, i)))
            return true;
    return false;
}

void tsl_coherence_plan(struct tsl_command *c)
{
    cl_uint n = c->graph->checks->all ? 2 + (c->args ? c->args->n_all : 0) + c->n_buffers : 0;
    bool all = true;
    for (cl_uint i = 0; i < n; i++) {
        struct tsl_data *data = named(c, i) ? tsl_data_of(named(c, i)) : NULL;
        bool is_shared = data && data->svm && !data->svm->coarse;
        if (data && !data->lost && !is_shared && !was_named(c, i))
            all &= check_data(c, data);
    }
    if (!all)
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_WARN, "TESELA_CHECK: no memory to compare all copies after command %llu",
                (unsigned long long)c->id);
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

struct pair {
    struct tsl_data *data, *other;
    unsigned space; /* other's */
    tsl_compare_fn *compare;
};

static bool check_pair_box(struct tsl_command *c, const struct pair *pair, const struct tsl_image_box *box,
                           unsigned space)
{
    struct tsl_check *check = create(c, pair->data, box);
    bool both = check && add_copy(c, check, pair->data, space) && add_copy(c, check, pair->other, pair->space);
    if (!check)
        return false;
    check->compare = pair->compare;
    check->data = pair->data;
    if (both)
        compare_copies(c, check);
    else
        tsl_coherence_end(check);
    return both;
}

static bool check_pair_piece(struct tsl_command *c, const struct pair *pair, uint64_t begin, uint64_t end,
                             unsigned space)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_move_boxes(pair->data, begin, end, boxes);
    bool all = true;
    for (unsigned i = 0; i < n && all; i++)
        all = check_pair_box(c, pair, &boxes[i], space);
    return all;
}

bool tsl_coherence_plan_pair(struct tsl_command *c, struct tsl_data *data, struct tsl_data *other, unsigned space,
                             tsl_compare_fn *compare)
{
    const struct pair pair = {data, other, space, compare};
    uint64_t end;
    bool all = true;
    for (uint64_t at = 0; at < data->size && all; at = end) {
        const struct tsl_tile *tile = tsl_tiles_at(&data->tiles, at);
        uint64_t piece_end = (at / tsl_coherence_piece + 1) * tsl_coherence_piece;
        end = tile->end < piece_end ? tile->end : piece_end;
        tsl_spaces spaces = copies_of(data, tile, at, end);
        if (!tsl_spaces_is_empty(spaces))
            all = check_pair_piece(c, &pair, at, end, tsl_spaces_first(spaces));
    }
    return all;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

/* The first byte at or behind `from` in which the copies are equal, or aren't; the end of the row: none. */
static size_t find(const char *a, const char *b, size_t from, size_t end, bool equal)
{
    while (from < end && (a[from] == b[from]) != equal)
        from++;
    return from;
}

static const struct writer *writer_at(const struct tsl_check *check, uint64_t byte)
{
    static const struct writer nobody = {.name = "nobody"};
    for (unsigned i = 0; check->writers && i < check->writers->n; i++)
        if (byte < check->writers->list[i].end)
            return &check->writers->list[i];
    return &nobody;
}

/* from, to: bytes of the box. */
static void tell(const struct tsl_check *check, const struct copy *a, const struct copy *b, size_t from, size_t to)
{
    uint64_t first = check->box.offset + from, last = check->box.offset + to - 1;
    const struct writer *writer = writer_at(check, first);
    char wrote[96] = "no command wrote";
    if (writer->command)
        snprintf(wrote, sizeof(wrote), "command %llu (%s) may have written", (unsigned long long)writer->command,
                 writer->name);
    tsl_log(
        TSL_LOG_IN_TILE, TSL_LOG_ERROR,
        "TESELA_CHECK: after command %llu (%s) bytes %llu to %llu of the memory object %p (%zu bytes) differ between "
        "%s (0x%02x …) and %s (0x%02x …), whose copies should be equal; %s there last: please report this",
        (unsigned long long)check->command, check->name, (unsigned long long)first, (unsigned long long)last,
        check->object, check->size, a->name, (unsigned char)a->bytes[from], b->name, (unsigned char)b->bytes[from],
        wrote);
}

static bool are_equal(const struct tsl_check *check, const struct copy *a, const struct copy *b)
{
    const size_t *region = check->box.region;
    for (size_t i = 0; i < region[1] * region[2]; i++) {
        size_t row = i / region[1] * check->slice_pitch + i % region[1] * check->row_pitch, end = row + region[0];
        if (memcmp(a->bytes + row, b->bytes + row, region[0]) == 0)
            continue;
        size_t from = find(a->bytes, b->bytes, row, end, false);
        tell(check, a, b, from, find(a->bytes, b->bytes, from, end, true));
        return false;
    }
    return true;
}

static cl_int compare_pair(struct tsl_op *op)
{
    const struct tsl_check *check = op->check;
    const struct copy *a = &check->copies[0], *b = &check->copies[1];
    const size_t *region = check->box.region;
    const struct tsl_compared what = {.data = check->data,
                                      .offset = check->box.offset,
                                      .region = {region[0], region[1], region[2]},
                                      .row_pitch = check->row_pitch,
                                      .slice_pitch = check->slice_pitch,
                                      .a = a->read->status < 0 ? NULL : a->bytes,
                                      .b = b->read->status < 0 ? NULL : b->bytes};
    return check->compare(op->command, &what);
}

/* Copies that could not be read are left out: what should have written them failed, or their member is lost. */
cl_int tsl_coherence_compare(struct tsl_op *op)
{
    const struct tsl_check *check = op->check;
    const struct copy *first = NULL;
    if (check->compare)
        return compare_pair(op);
    for (unsigned i = 0; i < check->n; i++) {
        const struct copy *copy = &check->copies[i];
        if (copy->read->status < 0)
            continue;
        if (first && !are_equal(check, first, copy))
            return CL_OUT_OF_RESOURCES;
        first = first ? first : copy;
    }
    return CL_SUCCESS;
}

void tsl_coherence_end(struct tsl_check *check)
{
    if (!check)
        return;
    for (unsigned i = 0; i < check->n; i++)
        tsl_op_unref(check->copies[i].read);
    free(check->writers);
    free(check);
}
