/* Launches as graphs, alone, or together if they follow each other quickly: none is lost, none overtakes another, and
 * failures are told. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */
#include "cuda_bridge/batch.h"
#include "cuda_env.h"

#define N              64
#define INVALID_HANDLE 400

static struct tsl_dprogram *program;
static struct tsl_dkernel *kernel;
static struct tsl_lane *quick; /* without times */

/* Three buffers: each launch adds two into the third, then they change places. No two launches may be exchanged. */
static struct sums {
    struct tsl_mem *mems[3];
    unsigned values[3];
    unsigned turn;
} sums;

static void launch_sized(struct tsl_dkernel *with, size_t n, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    unsigned a = sums.turn % 3, b = (sums.turn + 1) % 3, sum = (sums.turn + 2) % 3;
    struct tsl_bound_arg args[] = {mem_arg(sums.mems[a]), mem_arg(sums.mems[b]), mem_arg(sums.mems[sum])};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(n, n);

    assert_int_equal(driver->launch(quick, &(struct tsl_launch){with, &bound, &window}, waits, fence), CL_SUCCESS);
    sums.values[sum] = sums.values[a] + sums.values[b];
    sums.turn++;
}

static void launch_next(struct tsl_fence **fence)
{
    launch_sized(kernel, N, NULL, fence);
}

static void launch_more(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        launch_next(NULL);
}

static void wait_for(struct tsl_fence *fence, cl_int status)
{
    assert_int_equal(driver->fence_wait(fence), status);
    tsl_fence_unref(fence);
}

static void check_sums(void)
{
    finish(quick);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(get_int(sums.mems[i], 0), (int)sums.values[i]);
        assert_int_equal(get_int(sums.mems[i], N - 1), (int)sums.values[i]);
    }
}

static void begin(void)
{
    for (unsigned i = 0; i < 3; i++) {
        int bytes[N];

        sums.values[i] = i + 1;
        for (unsigned k = 0; k < N; k++)
            bytes[k] = (int)i + 1;
        put(sums.mems[i], bytes, sizeof(bytes));
    }
    sums.turn = 0;
}

/* So that the lane finds its first launches done, and saves the next ones. */
static void warm_up(void)
{
    struct tsl_fence *fence;

    finish(quick);
    launch_more(12);
    assert_int_equal(driver->mark(quick, NULL, &fence), CL_SUCCESS);
    wait_for(fence, CL_COMPLETE);
    launch_more(4);
}

static unsigned calls(const char *name)
{
    return is_standin() ? standin.calls(name) : 0;
}

/* Of launches that were sent, however. */
static unsigned sent(void)
{
    return calls("cuLaunchKernel") + calls("cuGraphLaunch");
}

static void quick_launches_go_together_and_in_order(void **state)
{
    unsigned n_launches, n_chains, n_sent;

    (void)state;
    begin();
    warm_up();
    n_launches = calls("cuLaunchKernel");
    n_chains = calls("cuGraphLaunch");
    n_sent = sent();
    launch_more(31);
    assert_int_equal(sent(), n_sent);
    launch_more(1);
    assert_int_equal(calls("cuGraphLaunch"), n_chains + is_standin());
    launch_more(18);
    assert_int_equal(driver->flush(quick), CL_SUCCESS);
    assert_int_equal(calls("cuGraphLaunch"), n_chains + (1 + 2 + 2) * is_standin());
    assert_int_equal(calls("cuLaunchKernel"), n_launches);
    check_sums();
}

/* Whatever else comes to the lane comes after them. */
static void others_do_not_overtake(void **state)
{
    unsigned n_chains = calls("cuGraphLaunch");

    (void)state;
    begin();
    warm_up();
    for (unsigned round = 0; round < 60; round++) {
        struct tsl_fence *fence = NULL, *gate;
        struct tsl_waits waits = {.n = 1, .fences = &gate};

        launch_more(round);
        switch (round % 5) {
        case 0:
            launch_next(&fence);
            wait_for(fence, CL_COMPLETE);
            break;
        case 1:
            assert_int_equal(fill_ints(quick, sums.mems[0], (int)round, N, NULL, NULL), CL_SUCCESS);
            sums.values[0] = round;
            break;
        case 2:
            gate = new_gate();
            assert_int_equal(fill_ints(quick, sums.mems[1], (int)round, N, &waits, NULL), CL_SUCCESS);
            sums.values[1] = round;
            launch_more(40); /* Behind the gate. */
            assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
            tsl_fence_unref(gate);
            break;
        case 3:
            assert_int_equal(driver->mark(quick, NULL, &fence), CL_SUCCESS);
            wait_for(fence, CL_COMPLETE);
            break;
        default:
            check_sums();
            warm_up();
        }
    }
    check_sums();
    if (is_standin())
        assert_true(calls("cuGraphLaunch") > n_chains + 20);
}

/* What a lane still has when it goes is done all the same. */
static void a_lane_that_goes_leaves_nothing_behind(void **state)
{
    (void)state;
    begin();
    warm_up();
    launch_more(5);
    driver->lane_free(quick);
    quick = new_lane(false);
    for (int i = 0; i < 10000 && get_int(sums.mems[(sums.turn + 1) % 3], 0) != (int)sums.values[(sums.turn + 1) % 3];
         i++)
        usleep(1000);
    check_sums();
}

/* A GPU that has enough to do needs no chains; nor does a host that takes its time. */
static void only_quick_launches_on_an_idle_gpu_wait(void **state)
{
    uint64_t quick_ns = tsl_cuda_quick_ns;
    unsigned n_sent;

    (void)state;
    if (!is_standin())
        return;
    begin();
    finish(quick);
    n_sent = sent();
    standin.stop(true);
    launch_more(100);
    assert_int_equal(sent(), n_sent + 100);
    standin.stop(false);
    warm_up();
    n_sent = sent();
    tsl_cuda_quick_ns = 0;
    launch_more(100);
    assert_int_equal(sent(), n_sent + 100);
    tsl_cuda_quick_ns = quick_ns;
    check_sums();
}

static void chains_that_cannot_be_had_are_done_without(void **state)
{
    static const char *const refused[] = {"cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2",
                                          "cuGraphInstantiateWithFlags", "cuGraphCreate"};

    (void)state;
    if (!is_standin())
        return;
    for (unsigned i = 0; i < 4; i++) {
        driver->lane_free(quick);
        quick = new_lane(false);
        begin();
        warm_up();
        if (i == 1)
            launch_more(64);
        standin.refuse(refused[i], 1, INVALID_HANDLE);
        launch_more(80);
        check_sums();
        standin.refuse(refused[i], 0, 0);
    }
}

static void a_launch_that_fails_late_is_told(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    if (!is_standin())
        return;
    begin();
    warm_up();
    launch_more(3);
    standin.refuse("cuGraphLaunch", 2, INVALID_HANDLE);
    standin.refuse("cuLaunchKernel", 1, INVALID_HANDLE);
    assert_int_equal(driver->mark(quick, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_OUT_OF_RESOURCES);
    tsl_fence_unref(fence);
    assert_int_equal(driver->mark(quick, NULL, &fence), CL_SUCCESS);
    wait_for(fence, CL_COMPLETE);
    begin();
    warm_up();
    launch_more(3);
    standin.refuse("cuLaunchKernel", 2, INVALID_HANDLE);
    assert_int_equal(driver->flush(quick), CL_SUCCESS);
    assert_int_equal(driver->finish(quick), CL_OUT_OF_RESOURCES);
    assert_int_equal(driver->finish(quick), CL_SUCCESS);
    begin();
    launch_more(100);
    check_sums();
}

/* Also by the fence of a transfer that takes its own way. */
static void a_launch_that_fails_late_is_told_by_a_big_transfer(void **state)
{
    const size_t size = (size_t)4 << 20;
    struct tsl_mem *big = new_mem(size);
    unsigned char *out = malloc(size);
    struct tsl_fence *fence;

    (void)state;
    if (is_standin()) {
        driver->lane_free(quick);
        quick = new_lane(false);
        begin();
        warm_up();
        launch_more(3);
        standin.refuse("cuGraphLaunch", 1, INVALID_HANDLE);
        standin.refuse("cuLaunchKernel", 1, INVALID_HANDLE);
        assert_int_equal(get_later(quick, big, out, size, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_OUT_OF_RESOURCES);
        tsl_fence_unref(fence);
        assert_int_equal(driver->finish(quick), CL_SUCCESS);
    }
    driver->mem_free(big);
    free(out);
}

/* As an application that waits for each: the first ones go plainly, the rest as graphs that are made once. */
static void launches_that_come_often_are_graphs(void **state)
{
    unsigned n_made, n_graphs, n_plain;
    struct tsl_fence *fence, *before = NULL;

    (void)state;
    driver->lane_free(quick);
    quick = new_lane(false);
    begin();
    n_plain = calls("cuLaunchKernel");
    n_graphs = calls("cuGraphLaunch");
    n_made = calls("cuGraphInstantiateWithFlags");
    for (unsigned i = 0; i < 40; i++) {
        launch_next(NULL);
        check_sums();
    }
    for (unsigned i = 0; i < 40; i++) {
        struct tsl_waits waits = {.n = before ? 1 : 0, .fences = &before};

        launch_sized(kernel, N, &waits, &fence);
        if (before)
            tsl_fence_unref(before);
        before = fence;
    }
    wait_for(before, CL_COMPLETE);
    check_sums();
    assert_int_equal(calls("cuLaunchKernel"), n_plain + 3 * is_standin());
    assert_int_equal(calls("cuGraphLaunch"), n_graphs + 77 * is_standin());
    assert_int_equal(calls("cuGraphInstantiateWithFlags"), n_made + is_standin());
}

/* With a size more than a lane knows, none is seen often enough. Index 0 is in all of them. */
static void too_many_kinds_in_turn_are_no_graphs(void **state)
{
    unsigned n_made = 0, n_plain;

    (void)state;
    driver->lane_free(quick);
    quick = new_lane(false);
    begin();
    for (size_t n_kinds = 16; n_kinds <= 17; n_kinds++) {
        n_plain = calls("cuLaunchKernel");
        for (unsigned i = 0; i < 20 * n_kinds; i++) {
            launch_sized(kernel, N - i % n_kinds, NULL, NULL);
            finish(quick);
        }
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(get_int(sums.mems[i], 0), (int)sums.values[i]);
        if (!is_standin())
            continue;
        assert_int_equal(calls("cuLaunchKernel") - n_plain, n_kinds == 16 ? 3 * 16 : 20 * 17 - 16);
        if (n_kinds == 16)
            n_made = calls("cuGraphInstantiateWithFlags");
        assert_int_equal(calls("cuGraphInstantiateWithFlags"), n_made);
    }
}

/* A graph whose kernel is gone is never launched again, though CUDA may use its address once more. */
static void programs_come_and_go(void **state)
{
    (void)state;
    begin();
    for (unsigned round = 0; round < 40; round++) {
        struct tsl_dprogram *other = build_kernels(member);
        struct tsl_dkernel *with = new_kernel(other, "vector_add");

        for (unsigned i = 0; i < 6; i++) {
            launch_sized(with, N, NULL, NULL);
            if (round % 2)
                finish(quick);
        }
        check_sums();
        driver->kernel_free(with);
        driver->program_free(other);
    }
    launch_more(40);
    check_sums();
}

static int set_up(void **state)
{
    int error = open_member(state);

    tsl_cuda_quick_ns = UINT64_C(10000000000); /* However slow this machine is. */
    program = build_kernels(member);
    kernel = new_kernel(program, "vector_add");
    quick = new_lane(false);
    for (unsigned i = 0; i < 3; i++)
        sums.mems[i] = new_mem(N * sizeof(int));
    return error;
}

static int tear_down(void **state)
{
    finish(quick);
    for (unsigned i = 0; i < 3; i++)
        driver->mem_free(sums.mems[i]);
    driver->lane_free(quick);
    driver->kernel_free(kernel);
    driver->program_free(program);
    return close_member(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_launches_go_together_and_in_order),
        cmocka_unit_test(others_do_not_overtake),
        cmocka_unit_test(a_lane_that_goes_leaves_nothing_behind),
        cmocka_unit_test(only_quick_launches_on_an_idle_gpu_wait),
        cmocka_unit_test(chains_that_cannot_be_had_are_done_without),
        cmocka_unit_test(a_launch_that_fails_late_is_told),
        cmocka_unit_test(a_launch_that_fails_late_is_told_by_a_big_transfer),
        cmocka_unit_test(launches_that_come_often_are_graphs),
        cmocka_unit_test(too_many_kinds_in_turn_are_no_graphs),
        cmocka_unit_test(programs_come_and_go),
    };

    return cmocka_run_group_tests_name("cuda batches", tests, set_up, tear_down);
}
