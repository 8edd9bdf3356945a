/* For tests of launches that no member can hold: kernels of a fake machine in virtual time, whose buffers are three
 * times its members' memory. */
#ifndef TSL_TESTS_LARGER_BED_H
#define TSL_TESTS_LARGER_BED_H

#include "base/clock.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"

#define MEMORY 8192u /* of a member; an area has a quarter */
#define AREA   (MEMORY / 4)
#define SIZE   (3 * MEMORY) /* of the large buffers, in bytes; a byte more on either side */
#define SMALL  512u

/* ---- Kernels ---- */

static void fill_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    memset(bytes + run->first[0], (int)value, run->end[0] - run->first[0]);
}

static void update_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes[i] = (unsigned char)(bytes[i] + value);
}

static void stencil_body(const struct tsl_fake_run *run)
{
    unsigned char *to = run->args[0].ptr;
    const unsigned char *from = run->args[1].ptr;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        to[i + 1] = (unsigned char)(from[i] + from[i + 1] + from[i + 2]);
}

/* Each item takes what the small buffer says for it: reads the large one at places that nobody knows. */
static void gather_body(const struct tsl_fake_run *run)
{
    unsigned char *to = run->args[0].ptr;
    const unsigned char *from = run->args[1].ptr;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        to[i] = from[i % SMALL];
}

static void count_body(const struct tsl_fake_run *run)
{
    *(unsigned char *)run->args[0].ptr += 1;
}

static uint32_t id_plus(struct bed *bed, int64_t number)
{
    return bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, number));
}

enum { FILL, UPDATE, STENCIL, GATHER, SCATTER, COUNT, N_KERNELS };
static const char *const names[N_KERNELS] = {"fill", "update", "stencil", "gather", "scatter", "count"};

static void make_footprint(struct bed *bed, unsigned kernel)
{
    bed_begin(bed, 2);
    if (kernel == UPDATE)
        bed_access(bed, 0, TSL_ACCESS_READ, 1, id_plus(bed, 0));
    for (unsigned i = 0; kernel == STENCIL && i < 3; i++)
        bed_access(bed, 1, TSL_ACCESS_READ, 1, id_plus(bed, i));
    if (kernel == GATHER)
        bed_access(bed, 1, TSL_ACCESS_READ, 1, TSL_FOOTPRINT_NONE);
    if (kernel == SCATTER)
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
    else if (kernel == COUNT)
        bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, bed_constant(bed, 64, 0));
    else
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id_plus(bed, kernel == STENCIL));
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const enum tsl_fact_kind two[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static tsl_fake_body_fn *const bodies[] = {fill_body,   update_body, stencil_body,
                                               gather_body, fill_body,   count_body};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        bool pair = i == STENCIL || i == GATHER;
        unsigned may = i == UPDATE || i == COUNT ? TSL_MAY_READ | TSL_MAY_WRITE : TSL_MAY_WRITE;

        make_footprint(&beds[i], i);
        tsl_fake_kernel(names[i], bodies[i], 2, pair ? two : one, (const unsigned[]){may, pair ? TSL_MAY_READ : 0});
        tsl_fake_kernel_traits(names[i], &(struct tsl_fake_traits){.footprint = &beds[i].footprint});
    }
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_buffer *a, *b, *small;

static const struct tsl_fake_member plain = {.item_ns = 10,
                                             .gates = true,
                                             .memory_size = MEMORY,
                                             .max_alloc_size = MEMORY,
                                             .bandwidth = 1000000000,
                                             .takes_parts = true};

static inline void begin(const struct tsl_fake_member *members, unsigned n)
{
    name_kernels();
    timed_begin(&t, members, n,
                "kernel fill a,s\nkernel update a,s\nkernel stencil a,b\nkernel gather a,b\nkernel scatter a,s\n"
                "kernel count a,s\n",
                0);
    a = timed_buffer(&t, SIZE + 2);
    b = timed_buffer(&t, SIZE + 2);
    small = timed_buffer(&t, SMALL);
    tsl_fake_reset_counts();
}

static inline int end(void **state)
{
    (void)state;
    tsl_object_release(&a->object);
    tsl_object_release(&b->object);
    tsl_object_release(&small->object);
    timed_end(&t);
    return 0;
}

static size_t local_size = 8;

static inline cl_int try(unsigned number, struct tsl_buffer *first, struct tsl_buffer *second, uint32_t value, size_t n,
                         struct tsl_event **event)
{
    struct tsl_window window = {
        .work_dim = 1, .global_size = {n, 1, 1}, .local_size = {local_size, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = event};
    struct tsl_kernel *kernel;
    cl_int error;

    assert_int_equal(tsl_kernel_create(t.program, names[number], &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    if (second)
        assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    else
        assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    error = tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible);
    tsl_object_release(&kernel->object);
    return error;
}

static inline void launch(unsigned number, struct tsl_buffer *first, struct tsl_buffer *second, uint32_t value)
{
    assert_int_equal(try(number, first, second, value, SIZE, NULL), CL_SUCCESS);
}

static inline unsigned n_windows(void)
{
    struct tsl_fake_record record;
    unsigned n = 0;

    while (timed_run(n, &record))
        n++;
    return n;
}

static inline void assert_bytes(struct tsl_buffer *buffer, size_t from, size_t size, unsigned char value)
{
    for (size_t at = from; at < from + size; at += 4096) /* The helper's bytes are on the stack. */
        timed_assert_bytes(t.queue, buffer, at, from + size - at < 4096 ? from + size - at : 4096, value);
}

#endif
