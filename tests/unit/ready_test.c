/* Members that take long to open: a program waits for one of them, whatever their number. The others get work when they
 * are ready, and fail, or are left alone, without harm. With real threads and times. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: all TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_OPEN=all */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always */
/* variant: fastest TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=fastest */
#include "base/clock.h"
#include "base/lock.h"
#include "base/settings.h"
#include "child.h"
#include "core_end.h"
#include "footprint_bed.h"
#include "graph/graph.h"
#include "graph/readiness.h"
#include "graph/state.h"
#include "graph/work.h"
#include "members/ready.h"
#include "object/context.h"
#include "place/internal.h"
#include "place/model_file.h"
#include "program/launch.h"
#include "test.h"

#include <stdlib.h>
#include <time.h>

#define MS         UINT64_C(1000000)
#define SIZE       1024u /* work-items of a launch, and bytes of a buffer */
#define ITEM_NS    (10 * MS / SIZE)
#define LEAD_ITEMS (1u << 14)

static struct tsl_context *context;
static struct tsl_queue *queue;
static struct tsl_program *program;
static struct tsl_kernel *kernel;
static struct tsl_buffer *buffer;

/* ---- A program --------------------------------------------------------------------------------------------------- */

static void fill_body(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    memset((unsigned char *)run->args[0].ptr + run->first[0], (int)value, run->end[0] - run->first[0]);
}

static void name_kernel(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static struct bed bed;

    bed_begin(&bed, 2);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 1, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    tsl_fake_kernel("fill", fill_body, 2, kinds, (const unsigned[]){TSL_MAY_WRITE, 0});
    tsl_fake_kernel_traits("fill", &(struct tsl_fake_traits){.footprint = &bed.footprint});
}

static struct tsl_fake_setup setup_of(unsigned n, uint64_t opens_ns)
{
    struct tsl_fake_setup setup = {.n_members = n, .threads = true};

    for (unsigned i = 0; i < n; i++)
        setup.members[i] = (struct tsl_fake_member){
            .name = "fake", .item_ns = ITEM_NS, .gates = true, .opens_later = true, .opens_ns = opens_ns};
    return setup;
}

static void begin_fake(const struct tsl_fake_setup *setup)
{
    name_kernel();
    tsl_fake_begin(setup);
    tsl_members_register(&tsl_fake_driver);
}

static void begin_program(void)
{
    static const char *text = "kernel fill a,s\n";
    static const unsigned char zeros[SIZE];
    struct tsl_device *device = tsl_device_root();

    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &text, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(tsl_kernel_create(program, "fill", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, (void *)(uintptr_t)zeros, NULL, &buffer),
                     CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
}

static void end_program(void)
{
    tsl_object_release(&buffer->object);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    end_core();
}

static void launch(uint32_t value)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {SIZE, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

static void launch_and_wait(uint32_t value)
{
    launch(value);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
}

static void assert_filled(unsigned char value)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1},
                               .src_row_pitch = SIZE,
                               .src_slice_pitch = SIZE,
                               .dst_row_pitch = SIZE,
                               .dst_slice_pitch = SIZE};
    unsigned char bytes[SIZE];

    assert_int_equal(tsl_enqueue_read(&e, buffer, bytes, &box), CL_SUCCESS);
    for (unsigned i = 0; i < SIZE; i++)
        assert_int_equal(bytes[i], value);
}

static uint64_t prepared(unsigned member)
{
    return tsl_fake_counts(member).calls[TSL_FAKE_PREPARE];
}

static uint64_t ran(unsigned member)
{
    return tsl_fake_counts(member).did[TSL_FAKE_DID_LAUNCH];
}

/* No operation was given to a member that wasn't ready. */
static void assert_no_stumble(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(tsl_fake_counts(i).calls[TSL_FAKE_STUMBLE], 0);
}

static bool is_ready(unsigned member)
{
    return tsl_member_is_ready(context->members[member]);
}

static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- Without a setting ------------------------------------------------------------------------------------------- */

static uint64_t first_kernel_ns(unsigned n)
{
    struct tsl_fake_setup setup = setup_of(n, 100 * MS);
    uint64_t began_ns = tsl_clock_ns(), ns;

    begin_fake(&setup);
    begin_program();
    launch_and_wait(1);
    ns = tsl_clock_ns() - began_ns;
    assert_filled(1);
    assert_int_equal(prepared(0), 1);
    for (unsigned i = 1; i < n; i++)
        assert_int_equal(prepared(i), 0);
    assert_no_stumble(n);
    end_program();
    return ns;
}

static void test_the_first_kernel_waits_for_one_member(void **state)
{
    uint64_t one_ns = first_kernel_ns(1), eight_ns = first_kernel_ns(8);

    (void)state;
    print_message("first kernel: %.1f ms with one member, %.1f ms with eight\n", (double)one_ns / 1e6,
                  (double)eight_ns / 1e6);
    assert_true(one_ns >= 100 * MS);
    assert_true(eight_ns < one_ns + 400 * MS); /* Much less than for all; a busy machine takes its time. */
}

static void test_the_fastest_is_first(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, MS);

    (void)state;
    setup.members[1].speed = 10;
    begin_fake(&setup);
    begin_program();
    launch_and_wait(2);
    assert_int_equal(ran(1), 1);
    assert_true(is_ready(1) && !is_ready(0) && !is_ready(2));
    assert_filled(2);
    assert_no_stumble(3);
    end_program();
}

/* Launches until the others are ready, and some more. */
static void work(unsigned n_more, uint32_t *value)
{
    bool ready = false;

    for (unsigned i = 0; i < 400 && !ready; i++) {
        launch_and_wait(++*value);
        ready = true;
        for (unsigned k = 0; k < context->n_members; k++)
            ready &= is_ready(k) || tsl_member_is_lost(context->members[k]);
    }
    assert_true(ready);
    for (unsigned i = 0; i < n_more; i++)
        launch_and_wait(++*value);
}

static void test_others_join(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 30 * MS);
    uint32_t value = 0;

    (void)state;
    begin_fake(&setup);
    begin_program();
    for (unsigned i = 0; i < 3; i++)
        launch_and_wait(++value);
    assert_int_equal(prepared(1) + prepared(2), 0); /* 30 ms of 60. */
    work(8, &value);
    assert_true(ran(1) > 0 && ran(2) > 0);
    assert_filled((unsigned char)value);
    assert_no_stumble(3);
    end_program();
}

static atomic_uint n_warm, n_too_early;

static void warm(struct tsl_member *member)
{
    sleep_ms(40);
    atomic_fetch_add(&n_too_early, ran(member->index) > 0);
    atomic_fetch_add(&n_warm, 1);
}

/* A member that is ready gets nothing until what its moves need is made. */
static void test_others_are_warmed(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 30 * MS);
    struct tsl_driver warms = tsl_fake_driver;
    uint32_t value = 0;

    (void)state;
    warms.warm = warm;
    atomic_store(&n_warm, 0);
    begin_fake(&setup);
    begin_program();
    for (unsigned i = 0; i < context->n_members; i++)
        context->members[i]->driver = &warms;
    for (unsigned i = 0; i < 400 && !(ran(1) && ran(2)); i++)
        launch_and_wait(++value);
    work(8, &value);
    assert_int_equal(n_too_early, 0);
    assert_int_equal(n_warm, 2); /* The first one is made ready for the program, which would wait for that. */
    assert_true(ran(1) > 0 && ran(2) > 0);
    assert_no_stumble(3);
    for (unsigned i = 0; i < context->n_members; i++)
        context->members[i]->driver = &tsl_fake_driver;
    end_program();
}

/* What was enqueued before the others were ready is theirs, too. */
static void test_a_long_queue_is_shared(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 20 * MS);

    (void)state;
    begin_fake(&setup);
    begin_program();
    for (uint32_t i = 1; i <= 60; i++)
        launch(i);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_true(ran(1) > 0);
    assert_filled(60);
    assert_no_stumble(2);
    end_program();
}

/* Small launches are no reason. */
static void test_small_launches_open_nothing(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 100 * MS);

    (void)state;
    setup.members[0].item_ns = setup.members[1].item_ns = 1;
    begin_fake(&setup);
    begin_program();
    for (uint32_t i = 1; i <= 200; i++)
        launch(i);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_filled(200);
    assert_int_equal(prepared(1), 0);
    end_program();
}

/* An earlier run of the program wrote that the kernel's launches take so long. */
static void know_of(uint64_t key, double ns)
{
    struct tsl_model *before = tsl_model_create();
    struct tsl_writer kept = {0};

    tsl_model_spent(before, key, ns);
    tsl_model_encode(before, &kept);
    assert_true(tsl_model_decode(context->graph->placer->model, kept.data, kept.size));
    free(kept.data);
    tsl_model_unref(before);
}

static void make_kernel_again(void)
{
    tsl_object_release(&kernel->object);
    assert_int_equal(tsl_kernel_create(program, "fill", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    tsl_graph_expect(kernel);
}

static void test_an_earlier_run_opens_others(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 30 * MS);

    (void)state;
    begin_fake(&setup);
    begin_program();
    know_of(kernel->place_key, 120 * MS); /* 5 * 30 would do */
    make_kernel_again();
    sleep_ms(60);
    assert_int_equal(prepared(1) + prepared(2), 0);
    know_of(kernel->place_key, 1000 * MS);
    make_kernel_again();
    sleep_ms(60);
    assert_int_equal(prepared(1) + prepared(2), 0); /* What is known by now stays. */
    end_program();
    begin_fake(&setup);
    begin_program();
    know_of(kernel->place_key, 1000 * MS);
    make_kernel_again();
    for (unsigned i = 0; i < 200 && !(is_ready(1) && is_ready(2)); i++)
        sleep_ms(10);
    assert_true(is_ready(1) && is_ready(2));
    end_program();
    begin_fake(&setup);
    begin_program();
    know_of(context->graph->placer->program, 1000 * MS);
    make_kernel_again(); /* of which nothing is known */
    sleep_ms(60);
    assert_int_equal(prepared(1) + prepared(2), 0);
    tsl_readiness_expect(context->graph);
    for (unsigned i = 0; i < 200 && !(is_ready(1) && is_ready(2)); i++)
        sleep_ms(10);
    assert_true(is_ready(1) && is_ready(2));
    end_program();
}

/* Kernels of which none would do alone open others together; each counts once. */
static void test_kernels_add_up(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 30 * MS);

    (void)state;
    begin_fake(&setup);
    begin_program();
    const uint64_t key = kernel->place_key;
    for (unsigned i = 0; i < 3; i++)
        know_of(key + i, 60 * MS); /* 5 * 30 would do */
    for (unsigned i = 0; i < 4; i++) {
        kernel->place_key = key + i / 2;
        tsl_graph_expect(kernel);
    }
    sleep_ms(60);
    assert_int_equal(prepared(1), 0);
    kernel->place_key = key + 2;
    tsl_graph_expect(kernel);
    for (unsigned i = 0; i < 200 && !is_ready(1); i++)
        sleep_ms(10);
    assert_true(is_ready(1));
    kernel->place_key = key;
    end_program();
}

/* Where no run so far had others, they are opened for what all took together, if this one will be long enough. */
static void test_earlier_runs_add_up(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 30 * MS);
    const uint64_t waited = UINT64_C(0x5be0cd19137e2179); /* place/gains.c */

    (void)state;
    begin_fake(&setup);
    begin_program();
    know_of(context->graph->placer->program, 50 * MS); /* 2 * 30 would do */
    know_of(context->graph->placer->program ^ waited, 1000 * MS);
    context->graph->placer->gains.past.is_read = false;
    tsl_readiness_expect(context->graph);
    sleep_ms(60);
    assert_int_equal(prepared(1), 0);
    end_program();
    begin_fake(&setup);
    begin_program();
    know_of(context->graph->placer->program, 80 * MS);
    know_of(context->graph->placer->program ^ waited, 40 * MS);
    context->graph->placer->gains.past.is_read = false;
    tsl_readiness_expect(context->graph);
    sleep_ms(60);
    assert_int_equal(prepared(1), 0); /* 5 * 30 would do */
    end_program();
    begin_fake(&setup);
    begin_program();
    know_of(context->graph->placer->program, 80 * MS);
    know_of(context->graph->placer->program ^ waited, 100 * MS);
    context->graph->placer->gains.past.is_read = false;
    tsl_readiness_expect(context->graph);
    for (unsigned i = 0; i < 200 && !is_ready(1); i++)
        sleep_ms(10);
    assert_true(is_ready(1));
    end_program();
}

/* As many are opened as what is ahead pays for; more when as much has run. */
static void test_some_are_opened(void **state)
{
    struct tsl_fake_setup setup = setup_of(4, 30 * MS);
    uint32_t value = 0;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        setup.members[i].speed = 2; /* The last one is opened last. */
    begin_fake(&setup);
    begin_program();
    know_of(kernel->place_key, 400 * MS); /* 5 * 2 * 30 pay for two, on a busy machine, too, 5 * 3 * 30 for three. */
    make_kernel_again();
    for (unsigned i = 0; i < 200 && prepared(1) + prepared(2) < 2; i++)
        sleep_ms(10);
    sleep_ms(60);
    assert_int_equal(prepared(1) + prepared(2), 2);
    assert_int_equal(prepared(3), 0);
    make_kernel_again();
    sleep_ms(60);
    assert_int_equal(prepared(3), 0);
    for (unsigned i = 0; i < 12; i++)
        launch_and_wait(++value);
    assert_true(ran(1) > 0 && ran(2) > 0);
    for (unsigned i = 0; i < 400 && !is_ready(3); i++)
        launch_and_wait(++value);
    assert_true(is_ready(3));
    assert_filled((unsigned char)value);
    assert_no_stumble(4);
    end_program();
}

/* How long the others took counts, not the first, which pays for more. */
static void test_what_opening_took_is_known_later(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 20 * MS);
    const struct tsl_placer *placer;

    (void)state;
    setup.members[0].opens_ns = 200 * MS;
    begin_fake(&setup);
    begin_program();
    placer = context->graph->placer;
    know_of(kernel->place_key, 100 * MS); /* 2 * 200 would do */
    make_kernel_again();
    sleep_ms(60);
    assert_int_equal(prepared(1), 0);
    assert_true(tsl_placer_opening_ns(placer, 1) == 0);
    tsl_lock_take(&context->graph->lock);
    tsl_readiness_open(context->graph);
    tsl_lock_give(&context->graph->lock);
    for (unsigned i = 0; i < 200 && !(tsl_placer_opening_ns(placer, 1) > 0); i++)
        sleep_ms(10);
    assert_in_range(tsl_placer_opening_ns(placer, 1), 20 * MS, 150 * MS);
    end_program();
    begin_fake(&setup);
    begin_program();
    tsl_placer_opened(context->graph->placer, 1, 20 * MS);
    know_of(kernel->place_key, 100 * MS);
    make_kernel_again();
    for (unsigned i = 0; i < 200 && !is_ready(1); i++)
        sleep_ms(10);
    assert_true(is_ready(1));
    end_program();
}

/* Launches took so long each, and so much together. */
static void know_runs(double ns, double all_ns)
{
    const struct tsl_placer *placer = context->graph->placer;

    know_of(kernel->place_key, all_ns);
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], kernel->place_key, SIZE, ns);
}

static atomic_bool may_end;

/* Not for ever: a launch that waited for that should fail the test, not hang it. */
static void warm_until_told(struct tsl_member *member)
{
    (void)member;
    for (unsigned i = 0; i < 300 && !atomic_load(&may_end); i++)
        sleep_ms(10);
    atomic_fetch_add(&n_warm, 1);
}

/* To wait for others that are only to be warmed would gain more than launches take. */
static void test_launches_go_on_while_others_are_warmed(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 20 * MS);
    struct tsl_driver warms = tsl_fake_driver;

    (void)state;
    warms.warm = warm_until_told;
    atomic_store(&n_warm, 0);
    atomic_store(&may_end, false);
    begin_fake(&setup);
    begin_program();
    for (unsigned i = 0; i < context->n_members; i++)
        context->members[i]->driver = &warms;
    know_runs(10 * MS, 1000 * MS);
    make_kernel_again();
    for (unsigned i = 0; i < 200 && !is_ready(1); i++)
        sleep_ms(10);
    assert_true(is_ready(1));
    launch_and_wait(1);
    assert_int_equal(n_warm, 0);
    assert_int_equal(ran(1), 0);
    assert_filled(1);
    atomic_store(&may_end, true);
    while (!atomic_load(&n_warm))
        sleep_ms(10);
    for (unsigned i = 0; i < context->n_members; i++)
        context->members[i]->driver = &tsl_fake_driver;
    end_program();
}

/* A single long launch waits for members that are about to be ready, and is cut over all. */
static void test_a_long_launch_waits_for_others(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 30 * MS);

    (void)state;
    begin_fake(&setup);
    begin_program();
    know_runs(1000 * MS, 1000 * MS);
    make_kernel_again();
    launch_and_wait(7);
    assert_int_equal(ran(0), 1);
    assert_int_equal(ran(1), 1);
    assert_int_equal(ran(2), 1);
    assert_filled(7);
    assert_no_stumble(3);
    end_program();
}

/* Launches of single-item groups, of a member that takes so long for them, begin by windows however small they are. */
static void begin_for_leads(const struct tsl_fake_setup *setup)
{
    tsl_lead_items = SIZE;
    tsl_lead_fill = 0;
    begin_fake(setup);
    begin_program();
}

static void launch_single_groups(uint32_t value)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {SIZE, 1, 1}, .local_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
}

static void end_for_leads(void)
{
    end_program();
    tsl_lead_items = LEAD_ITEMS;
    tsl_lead_fill = 1;
}

/* A long launch of a kernel that no run has seen begins on the one that is ready, goes on there by windows while the
 * others are opened for it, and is cut over all then. */
static void test_a_first_launch_goes_on_until_they_are_ready(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 30 * MS);

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        setup.members[i].item_ns = 2000 * MS / SIZE;
    begin_for_leads(&setup);
    launch_single_groups(7);
    assert_true(ran(0) > 3); /* Two windows tell how long it is, one at least comes while the others are opened. */
    assert_int_equal(ran(1), 1);
    assert_int_equal(ran(2), 1);
    assert_filled(7);
    assert_no_stumble(3);
    end_for_leads();
}

/* So does one that is known, but gains too little to wait for them. */
static void test_a_known_launch_goes_on_until_they_are_ready(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, 300 * MS);

    (void)state;
    setup.members[0].item_ns = setup.members[1].item_ns = 1000 * MS / SIZE;
    begin_for_leads(&setup);
    know_runs(1000 * MS, 1000 * MS);
    make_kernel_again();
    launch_single_groups(7);
    assert_true(ran(0) > 3);
    assert_int_equal(ran(1), 1);
    assert_filled(7);
    assert_no_stumble(2);
    end_for_leads();
}

/* One of many short ones doesn't, nor one of which an earlier run doesn't say that it could be cut. */
static void test_others_do_not_wait(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 300 * MS);
    uint64_t began;

    (void)state;
    setup.members[0].opens_ns = 10 * MS;
    begin_fake(&setup);
    begin_program();
    know_runs(10 * MS, 5000 * MS);
    make_kernel_again();
    began = tsl_clock_ns();
    launch_and_wait(7);
    assert_true(tsl_clock_ns() - began < 250 * MS);
    assert_int_equal(ran(0), 1);
    assert_int_equal(ran(1) + ran(2), 0);
    know_runs(100000 * MS, 1);
    launch_and_wait(8);
    assert_int_equal(ran(0), 2);
    assert_int_equal(ran(1) + ran(2), 0);
    end_program();
}

static void test_one_that_fails_is_left_out(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, 10 * MS);
    uint32_t value = 0;

    (void)state;
    begin_fake(&setup);
    tsl_fake_fail_call(1, TSL_FAKE_PREPARE, 1, CL_OUT_OF_RESOURCES);
    begin_program();
    work(8, &value);
    assert_true(tsl_member_is_lost(context->members[1]));
    assert_int_equal(ran(1), 0);
    assert_true(ran(2) > 0);
    assert_filled((unsigned char)value);
    assert_no_stumble(3);
    end_program();
}

static void test_the_next_is_taken_if_the_first_fails(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, MS);

    (void)state;
    begin_fake(&setup);
    tsl_fake_fail_call(0, TSL_FAKE_PREPARE, 1, CL_OUT_OF_RESOURCES);
    begin_program();
    launch_and_wait(5);
    assert_int_equal(ran(1), 1);
    assert_filled(5);
    end_program();
}

static void test_without_any_there_is_no_context(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, MS);
    struct tsl_device *device = tsl_device_root();

    (void)state;
    begin_fake(&setup);
    for (unsigned i = 0; i < 2; i++)
        tsl_fake_fail_call(i, TSL_FAKE_PREPARE, 1, CL_OUT_OF_RESOURCES);
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_DEVICE_NOT_AVAILABLE);
    end_core();
}

/* A kernel that only one of the others can run. */
static void test_work_that_needs_it_opens_it(void **state)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {SIZE, 1, 1}, .whole = true};
    struct tsl_fake_setup setup = setup_of(2, 5 * MS);
    struct tsl_enqueue e = {.type = CL_COMMAND_NDRANGE_KERNEL};
    uint32_t value = 9;

    (void)state;
    begin_fake(&setup);
    begin_program();
    e.queue = queue;
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, 2), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_int_equal(ran(1), 1);
    assert_filled(9);
    end_program();
}

/* ---- The process's end, and forks -------------------------------------------------------------------------------- */

#define LONG_MS 400u

/* Three members are to be opened; the thread is at the first of them. */
static void be_opening(void)
{
    struct tsl_fake_setup setup = setup_of(4, LONG_MS * MS);

    setup.members[0].opens_ns = 0;
    begin_fake(&setup);
    begin_program();
    tsl_lock_take(&context->graph->lock);
    tsl_readiness_open(context->graph);
    tsl_graph_leave(context->graph, TSL_WHO_APPLICATION);
    sleep_ms(50);
    must(prepared(1) == 1 && !is_ready(1));
}

/* Called behind the core's handler. */
static void check_exit(void)
{
    _exit(is_ready(1) && !is_ready(2) && !is_ready(3) && prepared(2) + prepared(3) == 0 ? 3 : 98);
}

static void exit_while_opening(void)
{
    atexit(check_exit);
    be_opening();
    exit(0);
}

static void test_exit_waits_for_no_more_than_one(void **state)
{
    uint64_t began_ns = tsl_clock_ns();

    (void)state;
    assert_int_equal(ending(exit_while_opening), 3);
    assert_true(tsl_clock_ns() - began_ns < 5000 * MS); /* It gives up after six at least. */
}

/* The child has no thread that opens, and must not wait for one. */
static void fork_while_opening(void)
{
    struct tsl_device *device = tsl_device_root();
    struct tsl_context *mine;
    uint32_t value = 0;
    int status;
    pid_t pid;

    be_opening();
    pid = fork();
    if (pid == 0) {
        alarm(20);
        tsl_ready_later(context->members, context->n_members);
        must(tsl_context_create(NULL, 0, &device, 1, &mine) == CL_DEVICE_NOT_AVAILABLE);
        exit(4);
    }
    must(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 4);
    work(0, &value);
    end_program();
    exit(5);
}

static void test_fork_while_opening(void **state)
{
    (void)state;
    assert_int_equal(ending(fork_while_opening), 5);
}

/* A context that goes away while its members are opened. */
static void end_while_opening(void)
{
    be_opening();
    end_program();
    exit(6);
}

static void test_a_context_ends_while_opening(void **state)
{
    (void)state;
    assert_int_equal(ending(end_while_opening), 6);
}

/* ---- With settings ----------------------------------------------------------------------------------------------- */

static void test_all_are_opened(void **state)
{
    struct tsl_fake_setup setup = setup_of(3, MS);

    (void)state;
    begin_fake(&setup);
    begin_program();
    for (unsigned i = 0; i < 3; i++)
        assert_true(is_ready(i) && prepared(i) == 1);
    launch_and_wait(1);
    assert_filled(1);
    assert_no_stumble(3);
    end_program();
}

static void test_only_the_fastest_is_opened(void **state)
{
    struct tsl_fake_setup setup = setup_of(2, MS);

    (void)state;
    setup.members[1].speed = 2;
    begin_fake(&setup);
    begin_program();
    for (uint32_t i = 1; i <= 10; i++)
        launch_and_wait(i);
    assert_true(is_ready(1) && !is_ready(0));
    assert_filled(10);
    end_program();
}

static int run_auto(void)
{
    const struct CMUnitTest tests[] = {
        /* Those that fork come first, while there are no other threads. */
        cmocka_unit_test(test_exit_waits_for_no_more_than_one),
        cmocka_unit_test(test_fork_while_opening),
        cmocka_unit_test(test_a_context_ends_while_opening),
        cmocka_unit_test(test_the_first_kernel_waits_for_one_member),
        cmocka_unit_test(test_the_fastest_is_first),
        cmocka_unit_test(test_others_join),
        cmocka_unit_test(test_others_are_warmed),
        cmocka_unit_test(test_a_long_queue_is_shared),
        cmocka_unit_test(test_small_launches_open_nothing),
        cmocka_unit_test(test_an_earlier_run_opens_others),
        cmocka_unit_test(test_kernels_add_up),
        cmocka_unit_test(test_earlier_runs_add_up),
        cmocka_unit_test(test_some_are_opened),
        cmocka_unit_test(test_what_opening_took_is_known_later),
        cmocka_unit_test(test_launches_go_on_while_others_are_warmed),
        cmocka_unit_test(test_a_long_launch_waits_for_others),
        cmocka_unit_test(test_a_first_launch_goes_on_until_they_are_ready),
        cmocka_unit_test(test_a_known_launch_goes_on_until_they_are_ready),
        cmocka_unit_test(test_others_do_not_wait),
        cmocka_unit_test(test_one_that_fails_is_left_out),
        cmocka_unit_test(test_the_next_is_taken_if_the_first_fails),
        cmocka_unit_test(test_without_any_there_is_no_context),
        cmocka_unit_test(test_work_that_needs_it_opens_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_are_opened)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_fastest(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_the_fastest_is_opened)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    if (tsl_settings()->open == TSL_OPEN_ALL || tsl_split_always(tsl_settings()->split))
        return run_all();
    return tsl_settings()->policy == TSL_POLICY_FASTEST ? run_fastest() : run_auto();
}
