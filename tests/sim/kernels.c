/* The kernels of random programs, as bodies of fake members. Some touch a part of their arguments and have footprints
 * that say which: those work item by item, in any window. */
#include "kernels.h"

#include "driver/fake.h"
#include "footprint_bed.h"
#include "sim.h"

static const char *const source = "kernel add dst,src,value\nkernel blend dst,src,value\nkernel print dst,src,value\n"
                                  "kernel set dst,value\nkernel part dst,value\nkernel hide src,value\n"
                                  "kernel show dst,value\nkernel slice dst,src,value\nkernel guarded dst,src,value\n"
                                  "kernel some dst,value\nkernel column dst,value\nkernel update dst,value\n"
                                  "kernel shift dst,src,value\nkernel gather dst,src,value\n"
                                  "kernel box dst,src,value\nkernel turned dst,src,value\n"
                                  "kernel brick dst,src,value\nkernel stencil dst,src,value\n"
                                  "kernel relax dst,value\nkernel smear dst,value\n"
                                  "kernel stripes dst,value\n"
                                  "kernel scatter dst,value\nkernel xor dst,value\n";

const char *sim_world_source(void)
{
    return source;
}

static struct sim_argument argument(const struct tsl_fake_run *run)
{
    struct sim_argument a;

    memcpy(&a, run->args[run->n_args - 1].value, sizeof a);
    return a;
}

static struct sim *sim_of(const struct sim_argument *a)
{
    return (struct sim *)(uintptr_t)a->sim;
}

static unsigned long items_of(const size_t first[3], const size_t end[3])
{
    return (end[0] - first[0]) * (end[1] - first[1]) * (end[2] - first[2]);
}

static const size_t nothing[3];

/* A launch that is cut has run when all its shares have. */
static void note_end(const struct tsl_fake_run *run, const struct sim_argument *a)
{
    struct sim_node *node = &sim_of(a)->nodes[a->node];
    unsigned long own = items_of(run->first, run->end), all = items_of(nothing, run->window->global_size);

    if (atomic_fetch_add(&node->n_items_ended, own) + own == all)
        node->ended = true;
}

static void add_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    sim_add_bytes((unsigned char *)run->args[0].ptr + a.dst, (unsigned char *)run->args[1].ptr + a.src, a.size,
                  a.value);
    note_end(run, &a);
}

static void print_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    unsigned i = __atomic_fetch_add(&sim_of(&a)->n_printed, 1, __ATOMIC_RELAXED);

    add_body(run);
    sim_of(&a)->printed[i] = a.node;
}

static void hide_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    sim_add_bytes(sim_of(&a)->hidden + a.dst, (unsigned char *)run->args[0].ptr + a.src, a.size, a.value);
    note_end(run, &a);
}

static void show_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    sim_add_bytes((unsigned char *)run->args[0].ptr + a.dst, sim_of(&a)->hidden + a.src, a.size, a.value);
    note_end(run, &a);
}

/* They are called when work begins, or fails and spoils what it was to write; never for what doesn't begin. */
static struct sim_argument begun(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    struct sim_node *node = &sim_of(&a)->nodes[a.node];

    node->ran = true;
    if (items_of(run->first, run->end) < items_of(nothing, run->window->global_size))
        node->cut = true;
    return a;
}

static void hide_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 0, a.src, a.size, false);
}

static void write_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 0, a.dst, a.size, true);
}

static void add_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 1, a.src, a.size, false);
    tsl_fake_touch(run, 0, a.dst, a.size, true);
}

static void set_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    sim_set_bytes((unsigned char *)run->args[0].ptr + a.dst, a.size, a.value);
    note_end(run, &a);
}

/* Of unknown kinds: they take images in the place of buffers. */
static void register_whole(void)
{
    static const enum tsl_fact_kind add_kinds[] = {TSL_FACT_UNKNOWN, TSL_FACT_UNKNOWN, TSL_FACT_VALUE};
    static const unsigned add_roles[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ, 0};
    static const enum tsl_fact_kind set_kinds[] = {TSL_FACT_UNKNOWN, TSL_FACT_VALUE};
    static const unsigned set_roles[] = {TSL_MAY_WRITE, 0}, hide_roles[] = {TSL_MAY_READ, 0};
    static const unsigned show_roles[] = {TSL_MAY_READ | TSL_MAY_WRITE, 0};

    tsl_fake_kernel("add", add_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("add", &(struct tsl_fake_traits){.touch = add_touch});
    tsl_fake_kernel("blend", add_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("blend", &(struct tsl_fake_traits){.touch = add_touch, .unproven = true});
    tsl_fake_kernel("print", print_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("print", &(struct tsl_fake_traits){.touch = add_touch, .prints = true});
    tsl_fake_kernel("set", set_body, 2, set_kinds, set_roles);
    tsl_fake_kernel_traits("set", &(struct tsl_fake_traits){.touch = write_touch});
    tsl_fake_kernel("part", set_body, 2, set_kinds, set_roles);
    tsl_fake_kernel_traits("part", &(struct tsl_fake_traits){.touch = write_touch});
    tsl_fake_kernel("hide", hide_body, 2, set_kinds, hide_roles);
    tsl_fake_kernel_traits("hide", &(struct tsl_fake_traits){.touch = hide_touch, .opaque = true});
    tsl_fake_kernel("show", show_body, 2, set_kinds, show_roles);
    tsl_fake_kernel_traits("show", &(struct tsl_fake_traits){.touch = write_touch, .opaque = true});
}

/* ---- Kernels with footprints: what they do ---- */

static unsigned char *bytes_of(const struct tsl_fake_run *run, cl_uint arg, size_t offset)
{
    return (unsigned char *)run->args[arg].ptr + offset;
}

/* The last but one: of the kernels with one buffer that, too, is what they read. */
static cl_uint source_of(const struct tsl_fake_run *run)
{
    return run->n_args - 2;
}

/* The items that have something to do end there. */
static size_t end_of(const struct tsl_fake_run *run, const struct sim_argument *a)
{
    return run->end[0] < a->size ? run->end[0] : a->size;
}

/* An item for each byte; with more items than bytes, their guard. */
static void slice_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    unsigned char *dst = bytes_of(run, 0, a.dst + run->window->global_offset[0]);

    for (size_t i = run->first[0]; i < end_of(run, &a); i++)
        dst[i] = (unsigned char)(a.value ^ (i * 5));
    note_end(run, &a);
}

static void slice_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);
    size_t first = run->first[0], end = end_of(run, &a);

    if (end > first)
        tsl_fake_touch(run, 0, a.dst + run->window->global_offset[0] + first, end - first, true);
}

/* An item for each byte, also those between the rows, which stay. */
static void some_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    unsigned char *dst = bytes_of(run, 0, a.dst);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        if (i % a.pitch < a.size)
            dst[i] = (unsigned char)(a.value ^ ((i / a.pitch * a.size + i % a.pitch) * 5));
    note_end(run, &a);
}

static void some_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    for (size_t row = run->first[0] / a.pitch * a.pitch; row < run->end[0]; row += a.pitch) {
        size_t first = row > run->first[0] ? row : run->first[0];
        size_t end = row + a.size < run->end[0] ? row + a.size : run->end[0];

        if (end > first)
            tsl_fake_touch(run, 0, a.dst + first, end - first, true);
    }
}

static void shift_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    size_t offset = run->window->global_offset[0];
    unsigned char *dst = bytes_of(run, 0, a.dst + offset);
    const unsigned char *src = bytes_of(run, source_of(run), a.src + offset);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        dst[i] = (unsigned char)(src[i] + i + a.value);
    note_end(run, &a);
}

static void shift_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);
    size_t at = run->window->global_offset[0] + run->first[0], size = run->end[0] - run->first[0];

    tsl_fake_touch(run, source_of(run), a.src + at, size, false);
    tsl_fake_touch(run, 0, a.dst + at, size, true);
}

/* An item for each row. */
static void column_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        for (size_t k = 0; k < a.size; k++)
            *bytes_of(run, 0, a.dst + i * a.pitch + k) = (unsigned char)(a.value ^ ((i * a.size + k) * 5));
    note_end(run, &a);
}

static void column_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        tsl_fake_touch(run, 0, a.dst + i * a.pitch, a.size, true);
}

typedef void row_fn(const struct tsl_fake_run *run, const struct sim_argument *a, size_t row, size_t slice);

static void add_row(const struct tsl_fake_run *run, const struct sim_argument *a, size_t row, size_t slice)
{
    sim_add_bytes(bytes_of(run, 0, a->dst + slice * a->slice_pitch + row * a->pitch),
                  bytes_of(run, 1, a->src + slice * a->src_slice_pitch + row * a->src_pitch), a->size,
                  (unsigned char)(a->value + (slice * a->n_rows + row) * a->size));
}

static void touch_row(const struct tsl_fake_run *run, const struct sim_argument *a, size_t row, size_t slice)
{
    tsl_fake_touch(run, 1, a->src + slice * a->src_slice_pitch + row * a->src_pitch, a->size, false);
    tsl_fake_touch(run, 0, a->dst + slice * a->slice_pitch + row * a->pitch, a->size, true);
}

/* An item for each row of each slice, rows in that one of the first two dimensions, slices in the other. */
static void each_row(const struct tsl_fake_run *run, const struct sim_argument *a, unsigned rows, row_fn *visit)
{
    for (size_t j = run->first[1 - rows]; j < run->end[1 - rows]; j++)
        for (size_t i = run->first[rows]; i < run->end[rows]; i++)
            visit(run, a, i, j);
}

static void rows_body(const struct tsl_fake_run *run, unsigned rows)
{
    struct sim_argument a = argument(run);

    each_row(run, &a, rows, add_row);
    note_end(run, &a);
}

static void rows_touch(const struct tsl_fake_run *run, unsigned rows)
{
    struct sim_argument a = begun(run);

    each_row(run, &a, rows, touch_row);
}

static void box_body(const struct tsl_fake_run *run)
{
    rows_body(run, 0);
}

static void box_touch(const struct tsl_fake_run *run)
{
    rows_touch(run, 0);
}

static void turned_body(const struct tsl_fake_run *run)
{
    rows_body(run, 1);
}

static void turned_touch(const struct tsl_fake_run *run)
{
    rows_touch(run, 1);
}

/* Rows in dimension 0, slices in dimension 1, an item for each byte. */
static void brick_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    for (size_t k = run->first[2]; k < run->end[2]; k++)
        for (size_t j = run->first[1]; j < run->end[1]; j++)
            for (size_t i = run->first[0]; i < run->end[0]; i++)
                sim_add_bytes(bytes_of(run, 0, a.dst + j * a.slice_pitch + i * a.pitch + k),
                              bytes_of(run, 1, a.src + j * a.src_slice_pitch + i * a.src_pitch + k), 1,
                              (unsigned char)(a.value + (j * a.n_rows + i) * a.size + k));
    note_end(run, &a);
}

static void brick_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);
    size_t first = run->first[2], size = run->end[2] - first;

    for (size_t j = run->first[1]; j < run->end[1]; j++)
        for (size_t i = run->first[0]; i < run->end[0]; i++) {
            tsl_fake_touch(run, 1, a.src + j * a.src_slice_pitch + i * a.src_pitch + first, size, false);
            tsl_fake_touch(run, 0, a.dst + j * a.slice_pitch + i * a.pitch + first, size, true);
        }
}

/* The halo's size stands where other kernels have the source's pitch. */
static void stencil_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    size_t offset = run->window->global_offset[0], halo = a.src_pitch;
    unsigned char *dst = bytes_of(run, 0, a.dst + offset);
    const unsigned char *src = bytes_of(run, 1, a.src + offset);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        dst[i] = sim_stencil_byte(src[i], src[i + halo], src[i + 2 * halo], i, a.value);
    note_end(run, &a);
}

static void stencil_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);
    size_t at = run->window->global_offset[0] + run->first[0], size = run->end[0] - run->first[0];

    for (unsigned i = 0; i < 3; i++)
        tsl_fake_touch(run, 1, a.src + at + i * a.src_pitch, size, false);
    tsl_fake_touch(run, 0, a.dst + at, size, true);
}

/* Other threads may run other shares on the same memory. */
static void relax_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    unsigned char *dst = bytes_of(run, 0, a.dst);

    for (size_t i = run->first[0]; i < run->end[0]; i++) {
        unsigned char near = __atomic_load_n(bytes_of(run, 0, a.src + 2 * i), __ATOMIC_RELAXED);

        dst[2 * i + 1] = (unsigned char)(near + i + a.value);
        __atomic_store_n(&dst[2 * i], (unsigned char)(a.value ^ (i * 5)), __ATOMIC_RELAXED);
    }
    note_end(run, &a);
}

static void relax_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    for (size_t i = run->first[0]; i < run->end[0]; i++) {
        tsl_fake_touch(run, 0, a.src + 2 * i, 1, false);
        tsl_fake_touch(run, 0, a.dst + 2 * i, 2, true);
    }
}

/* An item for each byte of a row. */
static void stripes_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    for (size_t row = 0; row < a.n_rows; row++)
        for (size_t i = run->first[0]; i < run->end[0]; i++)
            *bytes_of(run, 0, a.dst + row * a.pitch + i) = (unsigned char)(a.value ^ ((row * a.size + i) * 5));
    note_end(run, &a);
}

static void stripes_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    for (size_t row = 0; row < a.n_rows; row++)
        tsl_fake_touch(run, 0, a.dst + row * a.pitch + run->first[0], run->end[0] - run->first[0], true);
}

/* An item's byte, and the next one for the next item, which comes later. Work-items of two members may write the same
 * to one byte of spread memory. */
static void smear_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);
    unsigned char early = sim_of(&a)->world->keeps_order ? SIM_EARLY : 0;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        for (unsigned next = 0; next < 2; next++)
            __atomic_store_n(bytes_of(run, 0, a.dst + i + next),
                             (unsigned char)(a.value ^ ((i + next) * 5) ^ (next ? early : 0)), __ATOMIC_RELAXED);
    note_end(run, &a);
}

static void smear_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 0, a.dst + run->first[0], run->end[0] - run->first[0] + 1, true);
}

/* Item i: the i-th byte from the end. */
static void scatter_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        *bytes_of(run, 0, a.dst + a.size - 1 - i) = (unsigned char)(a.value ^ ((a.size - 1 - i) * 5));
    note_end(run, &a);
}

static void scatter_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 0, a.dst + a.size - run->end[0], run->end[0] - run->first[0], true);
}

/* An item for each word. */
static void xor_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run);

    for (size_t i = 4 * run->first[0]; i < 4 * run->end[0]; i++)
        *bytes_of(run, 0, a.dst + i) ^= (unsigned char)(a.value ^ (i * 5));
    note_end(run, &a);
}

static void xor_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = begun(run);

    tsl_fake_touch(run, 0, a.dst + 4 * run->first[0], 4 * (run->end[0] - run->first[0]), true);
}

/* ---- Kernels with footprints: what their footprints say ---- */

/* A number of struct sim_argument, which is the kernel's last argument. */
static uint32_t number(struct bed *bed, size_t offset)
{
    uint32_t word = bed_scalar(bed, 32, bed->footprint.n_arguments - 1, (uint32_t)offset);

    return bed_as(bed, TSL_NODE_ZEXT, 64, word);
}

#define NUMBER(bed, name) number(bed, offsetof(struct sim_argument, name))

static uint32_t item(struct bed *bed)
{
    return bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0);
}

/* The item's byte of the destination, of the source. */
static uint32_t written(struct bed *bed)
{
    return bed_two(bed, TSL_NODE_ADD, item(bed), NUMBER(bed, dst));
}

static uint32_t read_from(struct bed *bed)
{
    return bed_two(bed, TSL_NODE_ADD, item(bed), NUMBER(bed, src));
}

static void slice_footprint(struct bed *bed)
{
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, written(bed));
}

static void smear_footprint(struct bed *bed)
{
    bed_access(bed, 0, TSL_ACCESS_WRITE, 2, written(bed))->narrow = 1; /* not aligned */
}

static void guarded_footprint(struct bed *bed)
{
    struct tsl_access *access = bed_access(bed, 0, TSL_ACCESS_WRITE, 1, written(bed));

    access->guards[access->n_guards++] = bed_two(bed, TSL_NODE_ULT, item(bed), NUMBER(bed, size));
}

static void some_footprint(struct bed *bed)
{
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, written(bed))->flags = 0;
}

static void update_footprint(struct bed *bed)
{
    bed_access(bed, 0, TSL_ACCESS_READ, 1, read_from(bed));
    slice_footprint(bed);
}

static void shift_footprint(struct bed *bed)
{
    bed_access(bed, 1, TSL_ACCESS_READ, 1, read_from(bed));
    slice_footprint(bed);
}

static void gather_footprint(struct bed *bed)
{
    bed_access(bed, 1, TSL_ACCESS_READ, 1, TSL_FOOTPRINT_NONE);
    slice_footprint(bed);
}

/* A loop over a row's bytes, from the item's row on. */
static void row_access(struct bed *bed, uint32_t argument, uint8_t kind, uint32_t begin)
{
    uint32_t loop = bed_loop(bed, NUMBER(bed, size), true);
    struct tsl_access *access =
        bed_access(bed, argument, kind, 1, bed_two(bed, TSL_NODE_ADD, begin, bed_leaf(bed, TSL_NODE_COUNTER, loop)));

    access->loops[access->n_loops++] = loop;
}

/* A place: the number at `begin`, and for each dimension its id times the number at pitches[d]; 0: that dimension is
 * none. */
static uint32_t place_at(struct bed *bed, size_t begin, const size_t pitches[2])
{
    uint32_t place = number(bed, begin);

    for (unsigned d = 0; d < 2; d++)
        if (pitches[d])
            place = bed_two(bed, TSL_NODE_ADD,
                            bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GLOBAL_ID, d), number(bed, pitches[d])),
                            place);
    return place;
}

#define AT(name) offsetof(struct sim_argument, name)

static void column_footprint(struct bed *bed)
{
    row_access(bed, 0, TSL_ACCESS_WRITE, place_at(bed, AT(dst), (const size_t[]){AT(pitch), 0}));
}

static void box_footprint(struct bed *bed)
{
    row_access(bed, 1, TSL_ACCESS_READ, place_at(bed, AT(src), (const size_t[]){AT(src_pitch), AT(src_slice_pitch)}));
    row_access(bed, 0, TSL_ACCESS_WRITE, place_at(bed, AT(dst), (const size_t[]){AT(pitch), AT(slice_pitch)}));
}

static void turned_footprint(struct bed *bed)
{
    row_access(bed, 1, TSL_ACCESS_READ, place_at(bed, AT(src), (const size_t[]){AT(src_slice_pitch), AT(src_pitch)}));
    row_access(bed, 0, TSL_ACCESS_WRITE, place_at(bed, AT(dst), (const size_t[]){AT(slice_pitch), AT(pitch)}));
}

static void brick_footprint(struct bed *bed)
{
    uint32_t byte = bed_leaf(bed, TSL_NODE_GLOBAL_ID, 2);
    uint32_t src = place_at(bed, AT(src), (const size_t[]){AT(src_pitch), AT(src_slice_pitch)});
    uint32_t dst = place_at(bed, AT(dst), (const size_t[]){AT(pitch), AT(slice_pitch)});

    bed_access(bed, 1, TSL_ACCESS_READ, 1, bed_two(bed, TSL_NODE_ADD, src, byte));
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_two(bed, TSL_NODE_ADD, dst, byte));
}

static void stencil_footprint(struct bed *bed)
{
    uint32_t at = read_from(bed);

    for (unsigned i = 0; i < 3; i++) {
        bed_access(bed, 1, TSL_ACCESS_READ, 1, at);
        at = bed_two(bed, TSL_NODE_ADD, at, NUMBER(bed, src_pitch));
    }
    slice_footprint(bed);
}

static void relax_footprint(struct bed *bed)
{
    uint32_t pair = bed_two(bed, TSL_NODE_MUL, item(bed), bed_constant(bed, 64, 2));

    bed_access(bed, 0, TSL_ACCESS_READ, 1, bed_two(bed, TSL_NODE_ADD, pair, NUMBER(bed, src)));
    bed_access(bed, 0, TSL_ACCESS_WRITE, 2, bed_two(bed, TSL_NODE_ADD, pair, NUMBER(bed, dst)))->narrow = 1;
}

static void stripes_footprint(struct bed *bed)
{
    uint32_t loop = bed_loop(bed, NUMBER(bed, n_rows), true);
    uint32_t row = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_COUNTER, loop), NUMBER(bed, pitch));
    struct tsl_access *access = bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_two(bed, TSL_NODE_ADD, written(bed), row));

    access->loops[access->n_loops++] = loop;
}

static void scatter_footprint(struct bed *bed)
{
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
}

static void xor_footprint(struct bed *bed)
{
    uint32_t word = bed_two(bed, TSL_NODE_MUL, item(bed), bed_constant(bed, 64, 4));

    bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, bed_two(bed, TSL_NODE_ADD, word, NUMBER(bed, dst)))->atomic =
        TSL_ATOMIC_XOR;
}

static const struct partial {
    const char *name;
    cl_uint n_args;
    tsl_fake_body_fn *body, *touch;
    void (*footprint)(struct bed *bed);
} partials[] = {
    {"slice", 3, slice_body, slice_touch, slice_footprint},
    {"guarded", 3, slice_body, slice_touch, guarded_footprint},
    {"some", 2, some_body, some_touch, some_footprint},
    {"column", 2, column_body, column_touch, column_footprint},
    {"update", 2, shift_body, shift_touch, update_footprint},
    {"shift", 3, shift_body, shift_touch, shift_footprint},
    {"gather", 3, shift_body, shift_touch, gather_footprint},
    {"box", 3, box_body, box_touch, box_footprint},
    {"turned", 3, turned_body, turned_touch, turned_footprint},
    {"brick", 3, brick_body, brick_touch, brick_footprint},
    {"stencil", 3, stencil_body, stencil_touch, stencil_footprint},
    {"relax", 2, relax_body, relax_touch, relax_footprint},
    {"smear", 2, smear_body, smear_touch, smear_footprint},
    {"stripes", 2, stripes_body, stripes_touch, stripes_footprint},
    {"scatter", 2, scatter_body, scatter_touch, scatter_footprint},
    {"xor", 2, xor_body, xor_touch, xor_footprint},
};

#define N_PARTIALS (sizeof partials / sizeof *partials)

static void register_partial(const struct partial *partial, struct bed *bed)
{
    static const enum tsl_fact_kind kinds[2][3] = {{TSL_FACT_GLOBAL, TSL_FACT_VALUE},
                                                   {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE}};
    const bool races = partial->footprint == relax_footprint;
    const bool atomics = partial->footprint == xor_footprint;
    const bool reads_itself = races || atomics || partial->footprint == update_footprint, two = partial->n_args == 3;
    const bool never = partial->footprint == guarded_footprint; /* Others may touch it in another launch. */
    const unsigned roles[3] = {TSL_MAY_WRITE | (reads_itself ? TSL_MAY_READ : 0), two && !never ? TSL_MAY_READ : 0, 0};

    bed_begin(bed, partial->n_args);
    partial->footprint(bed);
    tsl_fake_kernel(partial->name, partial->body, partial->n_args, kinds[two], roles);
    tsl_fake_kernel_traits(
        partial->name, &(struct tsl_fake_traits){
                           .touch = partial->touch, .footprint = &bed->footprint, .races = races, .atomics = atomics});
}

void kernels_register(void)
{
    static struct bed beds[N_PARTIALS]; /* They last while the names do. */

    register_whole();
    for (size_t i = 0; i < N_PARTIALS; i++)
        register_partial(&partials[i], &beds[i]);
}
