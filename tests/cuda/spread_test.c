/* Memory over several GPUs, where the bridge does more than the contract asks: it frees nothing under work, whatever
 * the caller does, and leaves nothing behind when CUDA refuses something. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 */
/* two: */
#include "cuda_bridge/batch.h"
#include "cuda_env.h"

#include <pthread.h>

#define LOCAL 64

static bool has_domain;
static size_t granule, n_ints;  /* of a range: enough that a GPU isn't through with it at once */
static struct tsl_lane *others; /* of the second member */

static int set_up(void **state)
{
    int error = open_members(state);

    find_standin();
    has_domain = n_members > 1 && driver->spread_alloc && member->caps.domain &&
                 member->caps.domain == members[1]->caps.domain && members[1]->driver == driver;
    assert_true(has_domain || !is_standin());
    granule = member->caps.domain_granule;
    n_ints = is_standin() ? (size_t)1 << 16 : (size_t)1 << 25;
    return error || (has_domain && driver->lane_create(members[1], false, &others));
}

/* A lost GPU keeps what it had. */
static int tear_down(void **state)
{
    bool lost = has_domain && tsl_member_is_lost(members[1]);

    if (has_domain)
        driver->lane_free(others);
    close_members(state);
    if (lost)
        assert_int_equal(standin.violations(), 0);
    else
        check_standin();
    return 0;
}

static cl_int try_pair(size_t size, struct tsl_mem *mems[2], unsigned *full)
{
    const size_t half = (size / 2 + granule - 1) / granule * granule, sizes[2] = {half, half};

    return driver->spread_alloc(&(struct tsl_spread_request){2, members, sizes}, mems, full);
}

static void new_pair(struct tsl_mem *mems[2])
{
    unsigned full;

    assert_int_equal(try_pair(n_ints * sizeof(int), mems, &full), CL_SUCCESS);
}

static void free_pair(struct tsl_mem *const mems[2])
{
    driver->mem_free(mems[0]);
    driver->mem_free(mems[1]);
}

/* A context that ended would say so. */
static void expect_all_well(void)
{
    struct tsl_mem *mems[2];

    new_pair(mems);
    assert_int_equal(fill_ints(others, mems[1], 6, n_ints, NULL, NULL), CL_SUCCESS);
    finish(others);
    assert_int_equal(get_int(mems[0], n_ints - 1), 6);
    free_pair(mems);
    finish(lane);
    assert_false(tsl_member_is_lost(member) || tsl_member_is_lost(members[1]));
    if (is_standin())
        assert_int_equal(standin.violations(), 0);
}

/* ---- Freed under work -------------------------------------------------------------------------------------------- */

struct freeing {
    struct tsl_mem *mems[2];
    atomic_bool done;
};

static void *free_both(void *arg)
{
    struct freeing *freeing = arg;

    free_pair(freeing->mems);
    atomic_store(&freeing->done, true);
    return NULL;
}

static void what_streams_have_is_waited_for(void **state)
{
    struct freeing freeing = {.done = false};
    pthread_t thread;

    (void)state;
    if (!has_domain)
        return;
    new_pair(freeing.mems);
    if (is_standin())
        standin.stop(true);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(fill_ints(lane, freeing.mems[0], i, n_ints / 2, NULL, NULL), CL_SUCCESS);
        assert_int_equal(fill_ints(others, freeing.mems[1], i, n_ints, NULL, NULL), CL_SUCCESS);
    }
    assert_int_equal(pthread_create(&thread, NULL, free_both, &freeing), 0);
    if (is_standin()) {
        usleep(50000);
        assert_false(atomic_load(&freeing.done));
        standin.stop(false);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_all_well();
}

static void launch_on(struct tsl_lane *l, struct tsl_dkernel *kernel, struct tsl_mem *mem)
{
    struct tsl_bound_arg list[3] = {mem_arg(mem), mem_arg(mem), mem_arg(mem)};
    struct tsl_bound_args args = bind(3, list);
    struct tsl_window window = whole(LOCAL, LOCAL);

    assert_int_equal(driver->launch(l, &(struct tsl_launch){kernel, &args, &window}, NULL, NULL), CL_SUCCESS);
}

/* Launches that the lane has saved are sent before their memory goes. */
static void what_lanes_saved_is_waited_for(void **state)
{
    uint64_t quick_ns = tsl_cuda_quick_ns;
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mems[2];

    (void)state;
    if (!has_domain)
        return;
    program = build_kernels(members[1]);
    kernel = new_kernel(program, "vector_add");
    new_pair(mems);
    tsl_cuda_quick_ns = UINT64_C(10000000000);
    for (int i = 0; i < 1000; i++) {
        launch_on(others, kernel, mems[1]);
        if (i == 20)
            finish(others);
    }
    free_pair(mems);
    tsl_cuda_quick_ns = quick_ns;
    expect_all_well();
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void a_lane_may_be_gone_before(void **state)
{
    struct tsl_mem *mems[2];

    (void)state;
    if (!has_domain)
        return;
    new_pair(mems);
    for (int i = 0; i < 30; i++) {
        struct tsl_lane *l = new_lane(false);

        assert_int_equal(fill_ints(l, mems[0], i, n_ints, NULL, NULL), CL_SUCCESS);
        driver->lane_free(l);
    }
    free_pair(mems);
    expect_all_well();
}

/* A range doesn't keep every lane that was ever given work on it. */
static void lanes_that_are_done_are_let_go(void **state)
{
    struct tsl_mem *mems[2];
    unsigned alive;

    (void)state;
    if (!has_domain)
        return;
    new_pair(mems);
    finish(lane);
    alive = is_standin() ? standin.alive() : 0;
    for (int i = 0; i < 100; i++) {
        struct tsl_lane *l = new_lane(false);
        struct tsl_fence *fence;

        assert_int_equal(fill_ints(l, mems[0], i, 64, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        tsl_fence_unref(fence);
        driver->lane_free(l);
    }
    if (is_standin())
        assert_in_range(standin.alive(), alive, alive + 4);
    free_pair(mems);
    expect_all_well();
}

/* What the host saw end isn't waited for, though the lanes go on with other work. */
static void other_work_of_the_lanes_is_not_waited_for(void **state)
{
    struct tsl_mem *mems[2], *own;
    struct tsl_fence *fence;

    (void)state;
    if (!is_standin())
        return;
    new_pair(mems);
    own = new_mem(4096);
    assert_int_equal(fill_ints(lane, mems[0], 1, n_ints, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    standin.stop(true);
    assert_int_equal(fill_ints(lane, own, 1, 1024, NULL, NULL), CL_SUCCESS);
    free_pair(mems);
    standin.stop(false);
    finish(lane);
    driver->mem_free(own);
    expect_all_well();
}

/* ---- CUDA refuses ------------------------------------------------------------------------------------------------ */

static void refusals_leave_nothing_behind(void **state)
{
    static const struct {
        const char *call;
        unsigned n, result;
        cl_int error;
    } refusals[] = {
        {"cuMemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY, CL_OUT_OF_RESOURCES},
        {"cuMemCreate", 1, CUDA_ERROR_INVALID_VALUE, CL_INVALID_VALUE},
        {"cuMemCreate", 2, CUDA_ERROR_INVALID_VALUE, CL_INVALID_VALUE},
        {"cuMemMap", 1, CUDA_ERROR_INVALID_VALUE, CL_INVALID_VALUE},
        {"cuMemMap", 2, CUDA_ERROR_OUT_OF_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE},
        {"cuMemSetAccess", 1, CUDA_ERROR_INVALID_VALUE, CL_INVALID_VALUE},
    };
    unsigned alive;

    (void)state;
    if (!is_standin())
        return;
    alive = standin.alive();
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct tsl_mem *mems[2] = {NULL, NULL};
        unsigned full = 99;

        standin.refuse(refusals[i].call, refusals[i].n, refusals[i].result);
        assert_int_equal(try_pair(granule, mems, &full), refusals[i].error);
        assert_int_equal(full, refusals[i].error == CL_MEM_OBJECT_ALLOCATION_FAILURE ? 1 : 99);
        assert_true(!mems[0] && !mems[1]);
        assert_int_equal(standin.alive(), alive);
    }
    expect_all_well();
}

/* What a member's pool keeps for later goes before the core is asked for room. */
static void pools_are_emptied_first(void **state)
{
    struct tsl_mem *mems[2];
    unsigned trims, full;

    (void)state;
    if (!is_standin())
        return;
    trims = standin.calls("cuMemPoolTrimTo");
    standin.refuse("cuMemCreate", 2, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(try_pair(granule, mems, &full), CL_SUCCESS);
    assert_int_equal(standin.calls("cuMemPoolTrimTo"), trims + 1);
    free_pair(mems);
    expect_all_well();
}

/* ---- A GPU is lost: the last test -------------------------------------------------------------------------------- */

static void launches_on_what_is_lost_are_refused(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel, *wild;
    struct tsl_mem *mems[2];
    struct tsl_fence *fence = NULL;
    struct tsl_bound_arg list[3], address = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args args, wild_args = bind(1, &address);
    struct tsl_window window = whole(LOCAL, LOCAL), one = whole(1, 1);

    (void)state;
    if (!is_standin())
        return;
    program = build_kernels(members[1]);
    kernel = new_kernel(program, "vector_add");
    wild = new_kernel(program, "wild");
    new_pair(mems);
    for (int i = 0; i < 3; i++)
        list[i] = mem_arg(mems[0]);
    args = bind(3, list);
    standin.stop(true); /* Else it may be lost before the launch returns. */
    assert_int_equal(driver->launch(others, &(struct tsl_launch){wild, &wild_args, &one}, NULL, &fence), CL_SUCCESS);
    standin.stop(false);
    assert_int_equal(driver->fence_wait(fence), CL_DEVICE_NOT_AVAILABLE);
    tsl_fence_unref(fence);
    driver->kernel_free(kernel);
    driver->kernel_free(wild);
    driver->program_free(program);
    program = build_kernels(member);
    kernel = new_kernel(program, "vector_add");
    fence = NULL;
    assert_true(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence) < 0);
    assert_null(fence);
    assert_int_equal(fill_ints(lane, mems[0], 1, 16, NULL, NULL), CL_SUCCESS);
    finish(lane);
    free_pair(mems);
    driver->kernel_free(kernel);
    driver->program_free(program);
    assert_int_equal(standin.violations(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_streams_have_is_waited_for),
        cmocka_unit_test(what_lanes_saved_is_waited_for),
        cmocka_unit_test(a_lane_may_be_gone_before),
        cmocka_unit_test(lanes_that_are_done_are_let_go),
        cmocka_unit_test(other_work_of_the_lanes_is_not_waited_for),
        cmocka_unit_test(refusals_leave_nothing_behind),
        cmocka_unit_test(pools_are_emptied_first),
        cmocka_unit_test(launches_on_what_is_lost_are_refused),
    };

    return cmocka_run_group_tests_name("memory over GPUs", tests, set_up, tear_down);
}
