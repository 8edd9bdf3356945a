/* A share that fails with its member is done again on another one: in random programs, where it must succeed if what it
 * needs is good elsewhere, and in one program, whose log tells of it. */
/* timeout: 200 */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always TESELA_LOG=graph:warn */
/* variant: exact TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:exact TESELA_LOG=graph:warn */
#include "base/clock.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/redo.h"
#include "sim.h"
#include "timed.h"

#include <stdio.h>
#include <string.h>

#define SIZE 256u

static struct timed t;
static struct tsl_buffer *src, *dst;

static void shift_body(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[i] = (unsigned char)(((unsigned char *)run->args[1].ptr)[i + 1] + 1);
}

static void update_body(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[i]++;
}

static uint32_t id(struct bed *bed, int64_t plus)
{
    return bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, plus));
}

static void begin(bool zero_copy)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static struct bed shift, update;
    const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .zero_copy = zero_copy};

    bed_begin(&shift, 2);
    bed_access(&shift, 1, TSL_ACCESS_READ, 1, id(&shift, 1));
    bed_access(&shift, 0, TSL_ACCESS_WRITE, 1, id(&shift, 0));
    bed_begin(&update, 2);
    bed_access(&update, 0, TSL_ACCESS_READ, 1, id(&update, 0));
    bed_access(&update, 0, TSL_ACCESS_WRITE, 1, id(&update, 0));
    tsl_fake_kernel("shift", shift_body, 2, kinds, (const unsigned[]){TSL_MAY_WRITE, TSL_MAY_READ});
    tsl_fake_kernel_traits("shift", &(struct tsl_fake_traits){.footprint = &shift.footprint});
    tsl_fake_kernel("update", update_body, 2, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ});
    tsl_fake_kernel_traits("update", &(struct tsl_fake_traits){.footprint = &update.footprint});
    timed_begin(&t, (struct tsl_fake_member[]){member, member, member}, 3, "kernel shift a,b\nkernel update a,b\n", 0);
    src = timed_buffer(&t, SIZE + 1);
    dst = timed_buffer(&t, SIZE + 1);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&src->object);
    tsl_object_release(&dst->object);
    timed_end(&t);
    return 0;
}

static void launch_with(const char *name, struct tsl_buffer *first, struct tsl_buffer *second, struct tsl_event **event)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {SIZE, 1, 1}, .local_size = {4, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = event};
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(t.program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

static void launch(const char *name, struct tsl_buffer *first, struct tsl_buffer *second)
{
    launch_with(name, first, second, NULL);
}

/* All is on its way when the member is lost, at once. */
static cl_int finish_with_loss(unsigned member, char **text)
{
    cl_int error;

    tsl_fake_lose(member, 1);
    catch_stderr();
    error = tsl_queue_finish(t.queue);
    *text = release_stderr();
    return error;
}

static void test_again(void **state)
{
    unsigned long long before = tsl_redo_count();
    char *text;

    (void)state;
    begin(false);
    launch("shift", dst, src);
    assert_int_equal(finish_with_loss(1, &text), CL_SUCCESS);
    assert_int_equal(tsl_redo_count(), before + 1);
    assert_non_null(strstr(text, "it is done again on fake:"));
    free(text);
    timed_assert_bytes(t.queue, dst, 0, SIZE, 1);
}

/* Who was told that the launch runs isn't told later that it waits, though its first share does. */
static void test_status(void **state)
{
    unsigned long long before = tsl_redo_count();
    struct tsl_event *event;
    cl_int last = CL_QUEUED;

    (void)state;
    begin(false);
    launch_with("shift", dst, src, &event);
    tsl_fake_lose(0, tsl_clock_ns() + 20000);
    catch_stderr();
    for (unsigned i = 0; i < 1000 && last > CL_COMPLETE; i++) {
        cl_int status = tsl_event_status(event);

        assert_true(status <= last);
        last = status;
        tsl_fake_step(TSL_FAKE_EARLIEST);
    }
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    free(release_stderr());
    assert_int_equal(tsl_redo_count(), before + 1);
    tsl_object_release(&event->object);
}

/* In its place: what the failed share may have changed is as it was where the launch found it. */
static void test_in_place(void **state)
{
    unsigned long long before = tsl_redo_count();
    char *text;

    (void)state;
    begin(false);
    launch("update", dst, src);
    assert_int_equal(finish_with_loss(2, &text), CL_SUCCESS);
    assert_int_equal(tsl_redo_count(), before + 1);
    free(text);
    timed_assert_bytes(t.queue, dst, 0, SIZE, 1);
}

/* Members share the host's memory: who knows what the failed share has changed there? */
static void test_in_place_on_host(void **state)
{
    unsigned long long before = tsl_redo_count();
    char *text;

    (void)state;
    begin(true);
    launch("update", dst, src);
    assert_int_equal(finish_with_loss(1, &text), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(tsl_redo_count(), before);
    assert_non_null(strstr(text, "isn't done again"));
    free(text);
}

/* What was enqueued behind it changes what it was given. */
static void test_changed_since(void **state)
{
    unsigned long long before = tsl_redo_count();
    char *text;

    (void)state;
    begin(false);
    launch("shift", dst, src);
    launch("update", src, dst);
    assert_int_not_equal(finish_with_loss(1, &text), CL_SUCCESS);
    assert_true(tsl_redo_count() <= before + 1); /* The second one, at most. */
    free(text);
}

static void test_programs(void **state)
{
    struct sim_hunt hunt = {.seed = 90000,
                            .n = 800,
                            .n_jobs = 2,
                            .shrink = true,
                            .first_only = true,
                            .command = "build/tests/sim",
                            .like = {.failures = true, .losses = true, .footprints = true, .split = SIM_SPLIT_ALWAYS},
                            .set = SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS | SIM_CHOOSE_SPLIT};
    char *text;

    (void)state;
    if (sim_hunt(&hunt, &text, NULL)) {
        fprintf(stderr, "%s\n", text); /* cmocka cuts long messages. */
        fail();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs), /* First: other kernels of these names would be in its way. */
        cmocka_unit_test_teardown(test_again, end),
        cmocka_unit_test_teardown(test_status, end),
        cmocka_unit_test_teardown(test_in_place, end),
        cmocka_unit_test_teardown(test_in_place_on_host, end),
        cmocka_unit_test_teardown(test_changed_since, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
