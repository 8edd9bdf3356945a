/* A launch of a kernel of which nothing is known begins by a window, and goes on as that tells: in virtual time, seen
 * in what runs, in what it takes, and in what the program sees of failures and times. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off */
/* variant: off TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off TESELA_SPLIT=off */
#include "base/clock.h"
#include "base/settings.h"
#include "caught.h"
#include "footprint_bed.h"
#include "object/queue.h"
#include "place/place.h"
#include "test.h"
#include "timed.h"
#include "windows_ran.h"

#define ITEMS   (1u << 21)
#define GROUP   64u
#define FILLS   (8 * GROUP) /* two groups for each of a fake member's four units */
#define LONG_NS 500u        /* an item: the launch takes a second */
#define WINDOW  (ITEMS / 256)

/* ---- Kernels ---- */

/* Each item twice would be seen. */
static void update_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes[i]++;
}

/* The same backwards: nobody knows that no two items write the same. */
static void scatter_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes[ITEMS - 1 - i]++;
}

/* Every item is counted once, in the first word. */
static void count_body(const struct tsl_fake_run *run)
{
    uint32_t *words = run->args[0].ptr;

    note(run);
    words[0] += (uint32_t)(run->end[0] - run->first[0]);
}

/* Each item sets its own byte, each group another one at the begin. */
static void own_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;

    note(run);
    memset(bytes + run->first[0], 1, run->end[0] - run->first[0]);
    memset(bytes + run->first[0] / GROUP, 1, (run->end[0] - run->first[0]) / GROUP);
}

/* ... or as many as it has items, which aren't its own. */
static void far_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;

    note(run);
    memset(bytes + run->first[0], 1, run->end[0] - run->first[0]);
    memset(bytes + run->first[0] / 2, 1, (run->end[0] - run->first[0]) / 2 + GROUP / 2);
}

static void no_body(const struct tsl_fake_run *run)
{
    note(run);
}

/* By copies that become one: SCATTER and COUNT. In a domain alone: TICKET, as what the operations give back is
 * used, and OWN, as writes may meet, but hardly any is far from home; FAR has as many of each, and TWICE surely writes
 * the same. Of the last nothing is known but its arguments. */
enum { UPDATE, OTHER, SCATTER, COUNT, TICKET, OWN, TWICE, FAR, LUMP, N_KERNELS };
static const struct {
    const char *name;
    tsl_fake_body_fn *body;
} kernels[N_KERNELS] = {
    [UPDATE] = {"update", update_body}, [OTHER] = {"other", update_body},  [SCATTER] = {"scatter", scatter_body},
    [COUNT] = {"count", count_body},    [TICKET] = {"ticket", count_body}, [OWN] = {"own", own_body},
    [TWICE] = {"twice", own_body},      [FAR] = {"far", far_body},         [LUMP] = {"lump", no_body},
};

static void make_footprint(struct bed *bed, unsigned number)
{
    bed_begin(bed, 1);
    if (number == SCATTER) {
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
    } else if (number == OWN || number == TWICE || number == FAR) {
        uint32_t item = bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), group = bed_leaf(bed, TSL_NODE_GROUP_ID, 0);
        uint32_t far = bed_two(bed, TSL_NODE_MUL, group, bed_constant(bed, 64, GROUP / 2));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, item);
        struct tsl_access *second =
            bed_access(bed, 0, TSL_ACCESS_WRITE, number == FAR ? GROUP : 1, number == FAR ? far : group);
        second->flags = number == TWICE ? second->flags : 0;
    } else if (number == COUNT || number == TICKET) {
        struct tsl_access *access = bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, bed_constant(bed, 64, 0));
        access->atomic = TSL_ATOMIC_ADD;
        access->flags |= number == TICKET ? TSL_ACCESS_RESULT : 0;
    } else {
        bed_access(bed, 0, TSL_ACCESS_READ, 1, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
    }
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        struct tsl_fake_traits traits = {.atomics = i == COUNT || i == TICKET};

        make_footprint(&beds[i], i);
        traits.footprint = i == LUMP ? NULL : &beds[i].footprint;
        tsl_fake_kernel(kernels[i].name, kernels[i].body, 1, one, access);
        tsl_fake_kernel_traits(kernels[i].name, &traits);
    }
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_buffer *buffer, *counter;

static void begin_members(const struct tsl_fake_member *members, unsigned n, cl_command_queue_properties properties)
{
    name_kernels();
    timed_begin(&t, members, n,
                "kernel update a\nkernel other a\nkernel scatter a\nkernel count a\nkernel ticket a\nkernel own "
                "a\nkernel twice a\nkernel far a\n"
                "kernel lump a\n",
                properties);
    buffer = timed_buffer(&t, ITEMS);
    counter = timed_buffer(&t, GROUP);
    n_ran = 0;
}

static void begin(const struct tsl_fake_member *member, unsigned n, cl_command_queue_properties properties)
{
    begin_members((struct tsl_fake_member[]){*member, *member, *member, *member}, n, properties);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    tsl_object_release(&counter->object);
    timed_end(&t);
    tsl_lead_fill = 1;
    return 0;
}

static void launch_in(struct tsl_enqueue e, unsigned number, size_t items, struct tsl_buffer *on)
{
    struct tsl_window window = {
        .work_dim = 1, .global_size = {items, 1, 1}, .local_size = {GROUP, 1, 1}, .whole = true};
    struct tsl_kernel *kernel;

    e.type = CL_COMMAND_NDRANGE_KERNEL;
    assert_int_equal(tsl_kernel_create(t.program, kernels[number].name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &on), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

static void launch(unsigned number, struct tsl_event *wait, struct tsl_event **event)
{
    launch_in((struct tsl_enqueue){.queue = t.queue, .event = event, .n_wait = wait ? 1 : 0, .wait = &wait}, number,
              ITEMS, number == COUNT || number == TICKET ? counter : buffer);
}

static uint64_t time_of(unsigned number)
{
    uint64_t before = tsl_clock_ns();

    launch(number, NULL, NULL);
    return timed_finish(&t) - before;
}

/* ---- Tests ---- */

/* Members of one kind that take no time to move: a long launch is cut at its first time, and ends nearly as soon as if
 * everything had been known. */
static void ends_near_the_ideal(unsigned number, unsigned n)
{
    double ideal_ns = (double)ITEMS * LONG_NS / n, ns = (double)time_of(number);

    assert_true(ns >= ideal_ns);
    assert_true(ns <= 1.15 * ideal_ns);
    for (unsigned i = 0; i < n; i++)
        assert_true(items_of(0, i) > ITEMS / n / 2);
}

static void begin_long(unsigned n)
{
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, n, 0);
}

static void begin_domain(unsigned n)
{
    begin(
        &(struct tsl_fake_member){
            .name = "fake", .item_ns = LONG_NS, .gates = true, .peer = true, .domain = 1, .domain_atomics = true},
        n, 0);
}

static void assert_count(uint32_t all)
{
    for (unsigned i = 0; i < 4; i++)
        timed_assert_bytes(t.queue, counter, i, 1, (unsigned char)(all >> 8 * i));
}

static void two_share_the_first_launch(void **state)
{
    (void)state;
    begin_long(2);
    ends_near_the_ideal(UPDATE, 2);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
}

static void four_share_the_first_launch(void **state)
{
    (void)state;
    begin_long(4);
    ends_near_the_ideal(UPDATE, 4);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
}

/* Whose shares need copies: what is left is merged with what the windows have left. */
static void shares_may_need_copies(void **state)
{
    (void)state;
    begin_long(2);
    ends_near_the_ideal(SCATTER, 2);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
    time_of(SCATTER);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 2);
}

/* Whose atomic operations are added up: the windows' have been made already. */
static void shares_may_be_added_up(void **state)
{
    (void)state;
    begin_long(4);
    ends_near_the_ideal(COUNT, 4);
    assert_count(ITEMS);
    time_of(COUNT);
    assert_count(2 * ITEMS);
}

/* Whose atomic operations need one memory: what the windows have left there is spread with it. */
static void shares_may_need_a_domain(void **state)
{
    (void)state;
    begin_domain(2);
    ends_near_the_ideal(TICKET, 2);
    assert_count(ITEMS);
    time_of(TICKET);
    assert_count(2 * ITEMS);
}

/* A large object is spread for its sake if each share stays in its own member's part but for few bytes. */
static void large_objects_are_touched_at_home(void **state)
{
    (void)state;
    begin_domain(2);
    ends_near_the_ideal(OWN, 2);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
    time_of(OWN);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
}

static void runs_whole(unsigned number)
{
    begin_domain(2);
    assert_true((double)time_of(number) >= 0.9 * ITEMS * LONG_NS);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
}

static void what_is_far_runs_whole(void **state)
{
    (void)state;
    runs_whole(FAR);
}

/* What stays there would hang on which share comes last. */
static void what_is_written_twice_runs_whole(void **state)
{
    (void)state;
    runs_whole(TWICE);
}

/* Members of two kinds, of which none says how fast it is: one has a try within the launch, and a part of what is left.
 */
static void one_that_never_ran_it_shares_it(void **state)
{
    struct tsl_fake_member members[] = {{.name = "a", .item_ns = 4 * LONG_NS, .gates = true},
                                        {.name = "b", .item_ns = 8 * LONG_NS, .gates = true}};

    (void)state;
    begin_members(members, 2, 0);
    double ideal_ns = (double)ITEMS * LONG_NS * 8 / 3, ns = (double)time_of(UPDATE);
    assert_true(ns >= ideal_ns);
    assert_true(ns <= 1.15 * ideal_ns);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
}

/* Its member gets so much other work that a window seems to end sooner where the kernel never ran. A window has no
 * windows of its own. */
static void its_member_is_busy(void **state)
{
    struct tsl_fake_member members[] = {{.name = "a", .item_ns = 4 * LONG_NS, .gates = true},
                                        {.name = "b", .item_ns = 8 * LONG_NS, .gates = true}};
    struct tsl_queue *second;
    struct tsl_buffer *other;

    (void)state;
    begin_members(members, 2, 0);
    other = timed_buffer(&t, GROUP);
    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &second), CL_SUCCESS);
    launch_in((struct tsl_enqueue){.queue = second}, LUMP, 16 * ITEMS, other);
    assert_int_equal(tsl_queue_finish(second), CL_SUCCESS);
    launch(UPDATE, NULL, NULL);
    for (unsigned i = 0; i < 4; i++)
        launch_in((struct tsl_enqueue){.queue = second}, LUMP, 16 * ITEMS, other);
    timed_finish(&t);
    assert_int_equal(tsl_queue_finish(second), CL_SUCCESS);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
    tsl_queue_let_go(second);
    tsl_object_release(&second->object);
    tsl_object_release(&other->object);
}

/* The member that began is lost, and one that is much slower is all that is left. */
static void a_slow_one_is_left(void **state)
{
    (void)state;
    begin_members((struct tsl_fake_member[]){{.name = "fast", .item_ns = LONG_NS, .speed = 8, .gates = true},
                                             {.name = "slow", .item_ns = LONG_NS, .gates = true}},
                  2, 0);
    launch(UPDATE, NULL, NULL);
    tsl_fake_lose(0, tsl_clock_ns() + WINDOW * LONG_NS * 3 / 16); /* in the second window */
    catch_stderr();
    tsl_queue_finish(t.queue); /* Perhaps what the first one wrote is lost. */
    free(release_stderr());
    assert_true(items_of(0, 1) >= ITEMS - 2 * WINDOW);
}

/* A launch that turns out to be short has one window, and runs whole. The next ones have none. */
static void a_short_one_loses_a_window(void **state)
{
    (void)state;
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = 1, .speed = 10, .gates = true}, 2, 0);
    uint64_t ns = time_of(UPDATE);
    assert_int_equal(n_ran, 2);
    assert_int_equal(ran[0].member, ran[1].member);
    assert_int_equal(ran[0].end[0], WINDOW);
    assert_true(ns <= (ITEMS + WINDOW) / 10 + 1000);
    n_ran = 0;
    time_of(UPDATE);
    assert_int_equal(n_ran, 1);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 2);
}

/* A launch that is a few times what fills a member begins by no window, unless the program has had a long launch. */
static void a_few_times_what_fills_a_member(bool after_a_long_one)
{
    begin(
        &(struct tsl_fake_member){.name = "fake", .item_ns = 1000, .speed = after_a_long_one ? 2 : 1e4, .gates = true},
        2, 0);
    tsl_lead_fill = ITEMS / 4.0 / FILLS;
    time_of(UPDATE);
    assert_int_equal(n_ran, 1);
    n_ran = 0;
    uint64_t ns = time_of(OTHER);
    assert_int_equal(n_ran, after_a_long_one ? 3 : 1);
    if (after_a_long_one)
        assert_true((double)ns < 0.64 * ITEMS * LONG_NS);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 2);
}

static void a_large_window_after_a_long_launch(void **state)
{
    (void)state;
    a_few_times_what_fills_a_member(true);
}

static void none_after_a_short_launch(void **state)
{
    (void)state;
    a_few_times_what_fills_a_member(false);
}

/* What is left is cut only if it surely takes longer than to begin on another member. */
static void a_large_window_of_a_short_launch(void **state)
{
    struct tsl_buffer *small;

    (void)state;
    begin_long(2);
    time_of(UPDATE);
    n_ran = 0;
    tsl_lead_fill = ITEMS / 16.0 / 4 / FILLS;
    small = timed_buffer(&t, ITEMS / 16);
    launch_in((struct tsl_enqueue){.queue = t.queue}, OTHER, ITEMS / 16, small); /* 65 ms, 49 of them are left */
    timed_finish(&t);
    assert_int_equal(n_ran, 2);
    assert_int_equal(ran[0].member, ran[1].member);
    timed_assert_bytes(t.queue, small, 0, ITEMS / 16, 1);
    tsl_object_release(&small->object);
}

/* What may be cut by no rung on these members isn't divided. */
static void what_may_not_be_cut_has_none(void **state)
{
    (void)state;
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, 0);
    time_of(TICKET);
    assert_int_equal(n_ran, 1);
    assert_int_equal(ran[0].end[0] - ran[0].first[0], ITEMS);
    time_of(LUMP);
    assert_int_equal(n_ran, 2);
}

/* Launches behind it, in both kinds of queues, see all of it. */
static void those_behind_it_wait(cl_command_queue_properties properties)
{
    struct tsl_event *first, *second;

    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, properties);
    launch(UPDATE, NULL, &first);
    launch(OTHER, first, &second);
    launch(UPDATE, second, NULL);
    timed_finish(&t);
    assert_int_equal(tsl_event_status(first), CL_COMPLETE);
    assert_int_equal(tsl_event_status(second), CL_COMPLETE);
    timed_assert_bytes(t.queue, buffer, 0, ITEMS, 3);
    tsl_object_release(&first->object);
    tsl_object_release(&second->object);
}

static void an_in_order_queue_waits(void **state)
{
    (void)state;
    those_behind_it_wait(0);
}

static void an_event_waits(void **state)
{
    (void)state;
    those_behind_it_wait(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* The launch fails with its first window or its second, or with a part of what is left; and so does what waits. */
static void fails_with_a_window(unsigned number)
{
    for (unsigned at = 1; at < 4; at++) {
        struct tsl_event *first, *second;

        begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, 0);
        tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, at, -1234);
        launch(number, NULL, &first);
        launch(OTHER, first, &second);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        assert_int_equal(tsl_event_status(first), -1234);
        assert_int_equal(tsl_event_status(second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        for (unsigned i = 0; i < n_ran; i++)
            assert_true(ran[i].end[0] <= WINDOW * at || at == 3);
        tsl_object_release(&first->object);
        tsl_object_release(&second->object);
        end(NULL);
    }
}

static void it_fails_with_a_window(void **state)
{
    (void)state;
    fails_with_a_window(UPDATE);
    fails_with_a_window(SCATTER);
}

/* Its member is lost in its first window: that is done again elsewhere. In its second one: what the first has left,
 * which may be anywhere, was there alone. */
static void it_loses_its_member(void **state)
{
    (void)state;
    for (unsigned windows = 0; windows < 2; windows++) {
        struct tsl_event *event;

        begin_long(2);
        launch(SCATTER, NULL, &event);
        tsl_fake_lose(0, tsl_clock_ns() + (2 * windows + 1) * WINDOW * LONG_NS / 2);
        catch_stderr();
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        free(release_stderr());
        assert_int_equal(tsl_event_status(event) == CL_COMPLETE, windows == 0);
        assert_int_equal(items_of(0, 1), windows == 0 ? ITEMS : 0);
        if (windows == 0)
            timed_assert_bytes(t.queue, buffer, 0, ITEMS, 1);
        tsl_object_release(&event->object);
        end(NULL);
    }
}

/* Without an event the queue tells of it once. */
static void a_failure_is_told_once(void **state)
{
    (void)state;
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, 0);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -1234);
    launch(UPDATE, NULL, NULL);
    assert_int_equal(tsl_queue_finish(t.queue), -1234);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
}

static cl_ulong profile(struct tsl_event *event, cl_profiling_info param)
{
    cl_ulong ns = 0;

    assert_int_equal(tsl_event_profile(event, param, &ns), CL_SUCCESS);
    return ns;
}

/* From the begin of its first window to the end of the rest. */
static void its_times_are_of_all(void **state)
{
    struct tsl_event *event;

    (void)state;
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, CL_QUEUE_PROFILING_ENABLE);
    uint64_t before = tsl_clock_ns();
    launch(UPDATE, NULL, &event);
    uint64_t after = timed_finish(&t);
    cl_ulong queued = profile(event, CL_PROFILING_COMMAND_QUEUED), submit = profile(event, CL_PROFILING_COMMAND_SUBMIT),
             start = profile(event, CL_PROFILING_COMMAND_START), stop = profile(event, CL_PROFILING_COMMAND_END);
    assert_true(n_ran > 2);
    assert_true(before <= queued && queued <= submit && submit <= start && start < stop && stop <= after);
    assert_true(stop - start >= ITEMS / 2ull * LONG_NS);
    tsl_object_release(&event->object);
}

static void without_cuts_it_has_none(void **state)
{
    (void)state;
    begin(&(struct tsl_fake_member){.name = "fake", .item_ns = LONG_NS, .gates = true}, 2, 0);
    time_of(UPDATE);
    assert_int_equal(n_ran, 1);
}

int main(void)
{
    const struct CMUnitTest on[] = {
        cmocka_unit_test_teardown(two_share_the_first_launch, end),
        cmocka_unit_test_teardown(four_share_the_first_launch, end),
        cmocka_unit_test_teardown(shares_may_need_copies, end),
        cmocka_unit_test_teardown(shares_may_be_added_up, end),
        cmocka_unit_test_teardown(shares_may_need_a_domain, end),
        cmocka_unit_test_teardown(large_objects_are_touched_at_home, end),
        cmocka_unit_test_teardown(what_is_far_runs_whole, end),
        cmocka_unit_test_teardown(what_is_written_twice_runs_whole, end),
        cmocka_unit_test_teardown(one_that_never_ran_it_shares_it, end),
        cmocka_unit_test_teardown(its_member_is_busy, end),
        cmocka_unit_test_teardown(a_slow_one_is_left, end),
        cmocka_unit_test_teardown(a_short_one_loses_a_window, end),
        cmocka_unit_test_teardown(a_large_window_after_a_long_launch, end),
        cmocka_unit_test_teardown(none_after_a_short_launch, end),
        cmocka_unit_test_teardown(a_large_window_of_a_short_launch, end),
        cmocka_unit_test_teardown(what_may_not_be_cut_has_none, end),
        cmocka_unit_test_teardown(an_in_order_queue_waits, end),
        cmocka_unit_test_teardown(an_event_waits, end),
        cmocka_unit_test(it_fails_with_a_window),
        cmocka_unit_test(it_loses_its_member),
        cmocka_unit_test_teardown(a_failure_is_told_once, end),
        cmocka_unit_test_teardown(its_times_are_of_all, end),
    };
    const struct CMUnitTest off[] = {cmocka_unit_test_teardown(without_cuts_it_has_none, end)};

    return tsl_settings()->split == TSL_SPLIT_OFF ? cmocka_run_group_tests(off, NULL, NULL)
                                                  : cmocka_run_group_tests(on, NULL, NULL);
}
