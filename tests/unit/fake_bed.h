/* What the fake driver's own tests share: a setup with a lane and memory on each member, and three kernels. */
#ifndef TSL_TESTS_FAKE_BED_H
#define TSL_TESTS_FAKE_BED_H

#include "driver/fake.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const struct tsl_driver *const d = &tsl_fake_driver;

#define SIZE 256

static struct tsl_member *member[TSL_FAKE_MAX_MEMBERS];
static struct tsl_lane *lane[TSL_FAKE_MAX_MEMBERS], *other_lane; /* the other is member 0's second */
static struct tsl_mem *mem[TSL_FAKE_MAX_MEMBERS];
static unsigned n_members;

static inline void begin(const struct tsl_fake_setup *setup)
{
    tsl_fake_begin(setup);
    n_members = setup->n_members;
    for (unsigned i = 0; i < n_members; i++) {
        member[i] = tsl_fake_open(i);
        assert_non_null(member[i]);
        assert_int_equal(d->lane_create(member[i], true, &lane[i]), CL_SUCCESS);
        assert_int_equal(d->mem_alloc(member[i], SIZE, 0, NULL, &mem[i]), CL_SUCCESS);
    }
    assert_int_equal(d->lane_create(member[0], true, &other_lane), CL_SUCCESS);
}

static inline void begin_manual(unsigned n)
{
    struct tsl_fake_setup setup = {.n_members = n, .seed = 1};

    for (unsigned i = 0; i < n; i++)
        setup.members[i].gates = true;
    begin(&setup);
}

/* Ends a setup in which nothing may be left over but what the test provoked. */
static inline void end(void)
{
    struct tsl_fake_live live;

    d->finish(other_lane);
    d->lane_free(other_lane);
    for (unsigned i = 0; i < n_members; i++)
        d->finish(lane[i]);
    for (unsigned i = 0; i < n_members; i++) {
        d->mem_free(mem[i]);
        d->lane_free(lane[i]);
    }
    live = tsl_fake_live();
    assert_int_equal(
        live.lanes + live.mems + live.subs + live.fences + live.gates + live.programs + live.kernels + live.spreads, 0);
    assert_int_equal(live.mem_size, 0);
    if (tsl_fake_violations(TSL_FAKE_N_FAULTS))
        fail_msg("%s", tsl_fake_violation(0));
    tsl_fake_end();
}

/* Exactly n violations of one kind were found, and none of another; they are forgotten. */
static inline void assert_found(enum tsl_fake_fault fault, unsigned n)
{
    for (unsigned i = 0; tsl_fake_violation(i); i++)
        print_message("  found: %s\n", tsl_fake_violation(i));
    assert_int_equal(tsl_fake_violations(fault), n);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), n);
    tsl_fake_forget();
}

static inline cl_int copy(struct tsl_lane *on, struct tsl_place dst, struct tsl_place src, size_t size,
                          const struct tsl_waits *waits, struct tsl_fence **fence)
{
    return d->copy(on, &(struct tsl_copy){.dst = dst, .src = src, .region = {size, 1, 1}}, waits, fence);
}

static inline struct tsl_place at(struct tsl_mem *m, size_t offset)
{
    return (struct tsl_place){.mem = m, .offset = offset};
}

static inline struct tsl_place host(void *ptr)
{
    return (struct tsl_place){.host = ptr};
}

static inline void fill(struct tsl_lane *on, struct tsl_mem *m, size_t offset, size_t size, unsigned char value,
                        const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_place dst = at(m, offset);

    assert_int_equal(d->fill(on, &(struct tsl_fill){dst, {size, 1, 1}, &value, 1}, waits, fence), CL_SUCCESS);
}

static inline cl_int wait_for(struct tsl_fence *fence)
{
    cl_int status = d->fence_wait(fence);

    tsl_fence_unref(fence);
    return status;
}

#define WAITS(...)                                                                                      \
    (&(struct tsl_waits){.n = sizeof((struct tsl_fence *[]){__VA_ARGS__}) / sizeof(struct tsl_fence *), \
                         .fences = (struct tsl_fence *[]){__VA_ARGS__}})

static inline unsigned char read_byte(unsigned i, size_t offset)
{
    unsigned char byte = 0;

    assert_int_equal(copy(lane[i], host(&byte), at(mem[i], offset), 1, NULL, NULL), CL_SUCCESS);
    assert_int_equal(d->finish(lane[i]), CL_SUCCESS);
    return byte;
}

/* ---- Kernels ---- */

static inline void add_body(const struct tsl_fake_run *run)
{
    int *to = run->args[0].ptr;
    const int *from = run->args[1].ptr;
    int value;

    memcpy(&value, run->args[2].value, sizeof value);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        to[i] = from[i] + value;
}

/* Writes one byte of its own for each work-item. */
static inline void stamp_body(const struct tsl_fake_run *run)
{
    unsigned char value;

    memcpy(&value, run->args[1].value, 1);
    memset((unsigned char *)run->args[0].ptr + run->first[0] + run->window->global_offset[0], value,
           run->end[0] - run->first[0]);
}

static inline void stamp_touch(const struct tsl_fake_run *run)
{
    tsl_fake_touch(run, 0, run->first[0] + run->window->global_offset[0], run->end[0] - run->first[0], true);
}

static inline void count_body(const struct tsl_fake_run *run)
{
    __atomic_fetch_add((int *)run->args[0].ptr, 1, __ATOMIC_RELAXED);
}

static inline void register_kernels(void)
{
    enum tsl_fact_kind add_kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    unsigned add_access[] = {TSL_MAY_WRITE, TSL_MAY_READ, 0};
    enum tsl_fact_kind stamp_kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    unsigned stamp_access[] = {TSL_MAY_READ | TSL_MAY_WRITE, 0};

    tsl_fake_kernel("add", add_body, 3, add_kinds, add_access);
    tsl_fake_kernel("stamp", stamp_body, 2, stamp_kinds, stamp_access);
    tsl_fake_kernel_traits("stamp", &(struct tsl_fake_traits){.touch = stamp_touch});
    tsl_fake_kernel("count", count_body, 1, stamp_kinds, stamp_access);
    tsl_fake_kernel_traits("count", &(struct tsl_fake_traits){.atomics = true});
}

static inline struct tsl_dprogram *build(unsigned i, const char *text)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .options = ""};
    struct tsl_dprogram *program = NULL;
    char *log = NULL;

    assert_int_equal(d->build(member[i], &input, &program, &log), CL_SUCCESS);
    free(log);
    return program;
}

static inline struct tsl_dkernel *kernel_of(struct tsl_dprogram *program, const char *name)
{
    struct tsl_dkernel *kernel = NULL;
    struct tsl_kernel_facts facts;

    assert_int_equal(d->kernel_create(program, name, &kernel, &facts), CL_SUCCESS);
    tsl_kernel_facts_finish(&facts);
    return kernel;
}

static uint64_t next_serial = 1;

static inline cl_int stamp(struct tsl_lane *on, struct tsl_dkernel *kernel, struct tsl_mem *m, size_t offset,
                           size_t size, unsigned char value, struct tsl_fence **fence)
{
    struct tsl_bound_arg args[] = {{.kind = TSL_ARG_MEM, .mem = m},
                                   {.kind = TSL_ARG_VALUE, .size = 1, .value = &value}};
    struct tsl_window window = {.work_dim = 1, .global_offset = {offset}, .global_size = {size, 1, 1}, .whole = true};

    return d->launch(
        on,
        &(struct tsl_launch){kernel, &(struct tsl_bound_args){.serial = next_serial++, .n = 2, .args = args}, &window},
        NULL, fence);
}

/* After a test that failed half-way. */
static int clean_up(void **state)
{
    (void)state;
    tsl_fake_end();
    return 0;
}

#define TEST(test) cmocka_unit_test_teardown(test, clean_up)

#endif
