/* The CUDA bridge when CUDA fails: nothing hangs, nothing is told as done that wasn't, the others go on. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 */
#include "cuda_env.h"
#include "members/ready.h"

#include <stdio.h>

#define INVALID_HANDLE 400

/* Of a member that can't be opened, which is found out when it is needed, one reads what CUDA said, and the other
 * serves. First: all is opened again. */
static void a_member_that_cannot_be_opened_says_why(void **state)
{
    static const struct {
        const char *call;
        unsigned n, error;
    } refusals[] = {{"cuDevicePrimaryCtxRetain", 1, CUDA_ERROR_OUT_OF_MEMORY},
                    {"cuMemPoolCreate", 1, CUDA_ERROR_OUT_OF_MEMORY},
                    {"cuStreamCreate", 1, CUDA_ERROR_OUT_OF_MEMORY},
                    {"cuStreamCreate", 2, CUDA_ERROR_LAUNCH_FAILED}}; /* of a context that is dead */
    unsigned alive;

    close_members(state);
    alive = standin.alive();
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        char number[16];

        members = tsl_members_open(&n_members);
        assert_int_equal(n_members, 2);
        standin.refuse(refusals[i].call, refusals[i].n, refusals[i].error);
        assert_int_equal(tsl_ready_first(members, 2), CL_SUCCESS);
        assert_true(tsl_member_is_lost(members[0]) && !tsl_member_is_lost(members[1]));
        assert_true(tsl_member_is_ready(members[1]));
        snprintf(number, sizeof(number), "error %u", refusals[i].error);
        assert_non_null(strstr(members[0]->lost_why, refusals[i].call));
        assert_non_null(strstr(members[0]->lost_why, number));
        tsl_members_reset();
        assert_int_equal(standin.alive(), alive);
    }
    assert_int_equal(standin.violations(), 0);
    assert_int_equal(open_members(state), CL_SUCCESS);
}

static void refusals_are_errors_and_leave_nothing_behind(void **state)
{
    static const char *const calls[] = {"cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuEventCreate"};
    struct tsl_mem *mem = new_mem(4096);
    unsigned char bytes[4096] = {1};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (unsigned n = 1; n < 4; n++) {
            struct tsl_fence *fence = NULL;
            cl_int error;

            standin.refuse(calls[i], n, INVALID_HANDLE);
            error = put_later(lane, mem, bytes, sizeof(bytes), NULL, &fence);
            standin.refuse(calls[i], 0, 0);
            if (error) {
                assert_null(fence);
                continue;
            }
            assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
            tsl_fence_unref(fence);
        }
    get(mem, bytes, sizeof(bytes));
    driver->mem_free(mem);
}

static void memory_runs_out_with_the_right_error(void **state)
{
    struct tsl_mem *mem = NULL;
    struct tsl_lane *none = NULL;

    (void)state;
    standin.refuse("cuMemAllocFromPoolAsync", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(driver->mem_alloc(member, 4096, 0, NULL, &mem), CL_SUCCESS); /* trimmed, tried again */
    driver->mem_free(mem);
    standin.refuse("cuStreamCreate", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(driver->lane_create(member, false, &none), CL_OUT_OF_RESOURCES);
    assert_null(none);
}

/* A transfer by the pipeline of which one chunk fails ends with an error; the next one works. */
static void a_piped_transfer_fails_as_a_whole(void **state)
{
    size_t size = 8 << 20;
    struct tsl_mem *mem = new_mem(size);
    unsigned char *bytes = calloc(1, size);

    (void)state;
    for (unsigned n = 1; n < 3; n++) { /* There are at least two chunks. */
        struct tsl_fence *fence, *after;

        standin.refuse("cuMemcpyHtoDAsync_v2", n, INVALID_HANDLE);
        assert_int_equal(put_later(lane, mem, bytes, size, NULL, &fence), CL_SUCCESS);
        assert_int_equal(fill_ints(lane, mem, 1, 4, NULL, &after), CL_SUCCESS);
        assert_true(driver->fence_wait(fence) < 0);
        assert_int_equal(driver->fence_wait(after), CL_COMPLETE);
        tsl_fence_unref(fence);
        tsl_fence_unref(after);
    }
    standin.refuse("cuMemcpyHtoDAsync_v2", 0, 0);
    put(mem, bytes, size);
    driver->mem_free(mem);
    free(bytes);
}

/* Held work that CUDA refuses when its turn comes. */
static void held_work_that_is_refused_fails_its_fence(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *fence, *after;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 2, 16, &waits, &fence), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, mem, 3, 16, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, NULL, &after), CL_SUCCESS);
    standin.refuse("cuMemsetD32Async", 1, INVALID_HANDLE);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_true(driver->fence_wait(fence) < 0);
    assert_int_equal(driver->fence_wait(after), CL_COMPLETE);
    assert_int_equal(get_int(mem, 15), 3);
    tsl_fence_unref(gate);
    tsl_fence_unref(fence);
    tsl_fence_unref(after);
    driver->mem_free(mem);
}

/* The same without a fence: the lane's next one tells, once. */
static void held_work_without_a_fence_fails_the_next_one(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *next, *after;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 2, 16, &waits, NULL), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, NULL, &next), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, NULL, &after), CL_SUCCESS);
    standin.refuse("cuMemsetD32Async", 1, INVALID_HANDLE);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(next), CL_OUT_OF_RESOURCES);
    assert_int_equal(driver->fence_wait(after), CL_COMPLETE);
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    tsl_fence_unref(gate);
    tsl_fence_unref(next);
    tsl_fence_unref(after);
    driver->mem_free(mem);
}

/* The member stands still, so that it isn't lost before all that a test wants to be under way is. */
static void stand_still(void)
{
    struct tsl_fence *fence;

    assert_int_equal(driver->mark(lane, NULL, &fence), CL_SUCCESS); /* The first one waits for the clock. */
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    standin.stop(true);
}

static struct tsl_fence *launch_wild(struct tsl_dkernel *kernel)
{
    struct tsl_bound_arg arg = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args args = bind(1, &arg);
    struct tsl_window window = whole(1, 1);
    struct tsl_fence *fence;

    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence), CL_SUCCESS);
    standin.stop(false);
    return fence;
}

/* The clock is looked at once a second. A device that shows nothing then holds up nobody who submits, and times go on.
 */
static void a_device_that_stands_still_takes_work(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_times times;
    struct tsl_fence *fence;

    (void)state;
    stand_still();
    usleep(1100000);
    assert_int_equal(fill_ints(lane, mem, 3, 16, NULL, &fence), CL_SUCCESS);
    assert_true(driver->fence_status(fence) > CL_COMPLETE);
    standin.stop(false);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_int_equal(driver->fence_times(fence, &times), CL_SUCCESS);
    assert_true(times.start_ns <= times.end_ns);
    assert_int_equal(get_int(mem, 15), 3);
    tsl_fence_unref(fence);
    driver->mem_free(mem);
}

/* Whatever it was that ended the context, by all errors of which CUDA says so. */
static void each_error_that_ends_a_context_costs_the_member(void **state)
{
    static const unsigned errors[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999};

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct tsl_dprogram *program = build_kernels(member);
        struct tsl_dkernel *kernel = new_kernel(program, "wild");
        struct tsl_fence *fence;

        standin.wild(errors[i]);
        stand_still();
        fence = launch_wild(kernel);
        assert_true(driver->fence_wait(fence) < 0);
        assert_true(atomic_load(&member->lost));
        assert_false(atomic_load(&members[1]->lost));
        tsl_fence_unref(fence);
        driver->kernel_free(kernel);
        driver->program_free(program);
        close_members(state);
        assert_int_equal(open_members(state), CL_SUCCESS);
    }
    standin.wild(CUDA_ERROR_ILLEGAL_ADDRESS);
}

#define N_PIPED    8
#define PIPED_SIZE ((size_t)8 << 20)

/* Transfers in both directions are under way, and others wait for their turn: each ends, and what is told as done is.
 */
static void what_the_pipeline_has_ends_with_the_member(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(true)};
    struct tsl_fence *fences[N_PIPED], *fence;
    struct tsl_mem *mems[N_PIPED];
    unsigned char *bytes[N_PIPED];
    unsigned n_failed = 0;

    for (unsigned i = 0; i < N_PIPED; i++) {
        bytes[i] = calloc(1, PIPED_SIZE);
        mems[i] = new_mem(PIPED_SIZE);
        assert_int_equal(fill_ints(lane, mems[i], 7, PIPED_SIZE / 4, NULL, NULL), CL_SUCCESS);
    }
    finish(lane);
    stand_still();
    for (unsigned i = 0; i < N_PIPED; i++) {
        struct tsl_lane *its = lanes[i / 2 % 2];

        if (i % 2)
            assert_int_equal(get_later(its, mems[i], bytes[i], PIPED_SIZE, NULL, &fences[i]), CL_SUCCESS);
        else
            assert_int_equal(put_later(its, mems[i], bytes[i], PIPED_SIZE, NULL, &fences[i]), CL_SUCCESS);
    }
    fence = launch_wild(kernel);
    assert_true(driver->fence_wait(fence) < 0);
    for (unsigned i = 0; i < N_PIPED; i++) {
        cl_int status = driver->fence_wait(fences[i]);

        n_failed += status < 0;
        for (size_t k = 0; i % 2 && status == CL_COMPLETE && k < PIPED_SIZE; k += 4)
            assert_int_equal(bytes[i][k], 7);
        tsl_fence_unref(fences[i]);
        driver->mem_free(mems[i]);
        free(bytes[i]);
    }
    assert_int_not_equal(n_failed, 0);
    assert_true(atomic_load(&member->lost));
    assert_false(atomic_load(&members[1]->lost));
    tsl_fence_unref(fence);
    driver->lane_free(lanes[0]);
    driver->lane_free(lanes[1]);
    driver->kernel_free(kernel);
    driver->program_free(program);
    close_members(state);
    assert_int_equal(open_members(state), CL_SUCCESS);
}

/* ---- What fails comes after what its lane was given before ------------------------------------------------------- */

/* A small read goes through memory of ours, whose bytes somebody takes on. */
static void read_then(struct tsl_lane *l, struct tsl_mem *mem, int *bytes)
{
    assert_int_equal(fill_ints(l, mem, 7, 1024, NULL, NULL), CL_SUCCESS);
    finish(l);
    memset(bytes, 0, 4096);
    assert_int_equal(get_later(l, mem, bytes, 4096, NULL, NULL), CL_SUCCESS);
}

static void a_read_in_front_of_a_failure_is_done(void **state)
{
    struct tsl_lane *l = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *failed = new_gate(), *late;
    struct tsl_waits waits = {.n = 1, .fences = &failed};
    int bytes[1024];

    (void)state;
    assert_int_equal(driver->gate_open(failed, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    for (int notify = 0; notify < 2; notify++) {
        struct told told = {0};

        read_then(l, mem, bytes);
        assert_int_equal(fill_ints(l, mem, 8, 1024, &waits, &late), CL_SUCCESS);
        assert_int_equal(driver->flush(l), CL_SUCCESS);
        if (notify) {
            assert_int_equal(driver->fence_notify(late, tell_test, &told), CL_SUCCESS);
            wait_until_told(&told);
            assert_true(told.status < 0);
        }
        assert_true(notify || driver->fence_wait(late) < 0);
        assert_true(bytes[0] == 7 && bytes[1023] == 7);
        tsl_fence_unref(late);
    }
    tsl_fence_unref(failed);
    driver->lane_free(l);
    driver->mem_free(mem);
}

static void a_read_in_front_of_who_is_told_of_a_refusal_is_done(void **state)
{
    struct tsl_lane *l = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *late;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    int bytes[1024] = {0};

    (void)state;
    assert_int_equal(fill_ints(l, mem, 7, 1024, NULL, NULL), CL_SUCCESS);
    finish(l);
    assert_int_equal(fill_ints(l, mem, 8, 1024, &waits, NULL), CL_SUCCESS);
    assert_int_equal(get_later(l, mem, bytes, sizeof(bytes), NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->mark(l, NULL, &late), CL_SUCCESS);
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    standin.refuse("cuMemsetD32Async", 1, INVALID_HANDLE);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_true(driver->fence_wait(late) < 0);
    assert_int_equal(bytes[0], 7);
    finish(l);
    tsl_fence_unref(gate);
    tsl_fence_unref(late);
    driver->lane_free(l);
    driver->mem_free(mem);
}

static void held_work_that_is_refused_ends_in_its_turn(void **state)
{
    struct tsl_lane *l = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *before, *late;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    (void)state;
    standin.stop(true);
    assert_int_equal(fill_ints(l, mem, 1, 1024, NULL, &before), CL_SUCCESS);
    assert_int_equal(fill_ints(l, mem, 2, 1024, &waits, &late), CL_SUCCESS);
    standin.refuse("cuMemsetD32Async", 1, INVALID_HANDLE);
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    usleep(20000);
    assert_true(driver->fence_status(late) > 0 && driver->fence_status(before) > 0);
    standin.stop(false);
    assert_true(driver->fence_wait(late) < 0);
    assert_int_equal(driver->fence_status(before), CL_COMPLETE);
    finish(l);
    tsl_fence_unref(gate);
    tsl_fence_unref(late);
    tsl_fence_unref(before);
    driver->lane_free(l);
    driver->mem_free(mem);
}

static void what_a_lost_member_holds_waits_nevertheless(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_lane *l = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *late, *fence;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    assert_int_equal(fill_ints(l, mem, 2, 1024, &waits, &late), CL_SUCCESS);
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    stand_still();
    fence = launch_wild(kernel);
    assert_true(driver->fence_wait(fence) < 0);
    assert_true(atomic_load(&member->lost));
    usleep(20000);
    assert_true(driver->fence_status(late) > 0);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_true(driver->fence_wait(late) < 0);
    tsl_fence_unref(fence);
    tsl_fence_unref(late);
    tsl_fence_unref(gate);
    driver->lane_free(l);
    driver->mem_free(mem);
    driver->kernel_free(kernel);
    driver->program_free(program);
    close_members(state);
    assert_int_equal(open_members(state), CL_SUCCESS);
}

/* Last: the member is lost afterwards. */
static void a_wild_kernel_costs_its_member_and_no_other(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_mem *mem = new_mem(1 << 20), *theirs = NULL;
    struct tsl_fence *gate = new_gate(), *fence, *held, *copied;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct tsl_lane *other = new_lane(false), *their_lane;
    struct told told = {0}, told_held = {0};
    unsigned char *bytes = calloc(1, 1 << 20);
    int value = 0;

    (void)state;
    assert_int_equal(fill_ints(other, mem, 2, 16, &waits, &held), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(held, tell_test, &told_held), CL_SUCCESS);
    stand_still();
    fence = launch_wild(kernel);
    assert_int_equal(driver->fence_notify(fence, tell_test, &told), CL_SUCCESS);
    assert_true(driver->fence_wait(fence) < 0);
    wait_until_told(&told);
    assert_true(atomic_load(&told.status) < 0);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    wait_until_told(&told_held);
    assert_true(atomic_load(&told_held.status) < 0);
    /* Every call is an error from now on, and none hangs. */
    assert_true(put_later(lane, mem, bytes, 1 << 20, NULL, &copied) < 0);
    assert_true(driver->mem_alloc(member, 4096, 0, NULL, &theirs) < 0);
    assert_true(driver->mark(lane, NULL, &copied) < 0);
    assert_true(driver->finish(lane) < 0 && driver->finish(other) < 0);
    /* The other member works. */
    assert_int_equal(driver->lane_create(members[1], false, &their_lane), CL_SUCCESS);
    assert_int_equal(driver->mem_alloc(members[1], 64, 0, NULL, &theirs), CL_SUCCESS);
    assert_int_equal(fill_ints(their_lane, theirs, 9, 16, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(their_lane, theirs, &value, 4, NULL, NULL), CL_SUCCESS);
    finish(their_lane);
    assert_int_equal(value, 9);
    driver->mem_free(theirs);
    driver->lane_free(their_lane);
    tsl_fence_unref(gate);
    tsl_fence_unref(fence);
    tsl_fence_unref(held);
    driver->lane_free(other);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
    free(bytes);
}

/* What a lost member had can't be given back; only rules must not be broken. */
static int close_lost(void **state)
{
    (void)state;
    driver->lane_free(lane);
    tsl_members_reset();
    assert_int_equal(standin.violations(), 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_that_cannot_be_opened_says_why),
        cmocka_unit_test(refusals_are_errors_and_leave_nothing_behind),
        cmocka_unit_test(memory_runs_out_with_the_right_error),
        cmocka_unit_test(a_piped_transfer_fails_as_a_whole),
        cmocka_unit_test(held_work_that_is_refused_fails_its_fence),
        cmocka_unit_test(held_work_without_a_fence_fails_the_next_one),
        cmocka_unit_test(a_device_that_stands_still_takes_work),
        cmocka_unit_test(each_error_that_ends_a_context_costs_the_member),
        cmocka_unit_test(what_the_pipeline_has_ends_with_the_member),
        cmocka_unit_test(a_read_in_front_of_a_failure_is_done),
        cmocka_unit_test(a_read_in_front_of_who_is_told_of_a_refusal_is_done),
        cmocka_unit_test(held_work_that_is_refused_ends_in_its_turn),
        cmocka_unit_test(what_a_lost_member_holds_waits_nevertheless),
        cmocka_unit_test(a_wild_kernel_costs_its_member_and_no_other),
    };

    return cmocka_run_group_tests_name("cuda failures", tests, open_member, close_lost);
}
