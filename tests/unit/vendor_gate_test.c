/* The driver over real vendors: gates, failures, and what must not be released meanwhile. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
#include "vendor_env.h"

#include <pthread.h>

static struct tsl_fence *new_gate(void)
{
    struct tsl_fence *gate;

    assert_int_equal(driver->gate_create(member, &gate), CL_SUCCESS);
    return gate;
}

/* True where there are gates. Where there are none, that is what is checked. */
static bool has_gates(void)
{
    struct tsl_fence *gate = NULL;

    assert_int_equal(member->caps.gates, !member->caps.submits_block && !is_platform("rusticl"));
    if (member->caps.gates)
        return true;
    assert_int_equal(driver->gate_create(member, &gate), CL_INVALID_OPERATION);
    assert_null(gate);
    return false;
}

/* Like finish(), after failures, which the vendor may report there too. */
static void drain(struct tsl_lane *l)
{
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    driver->finish(l);
}

static void work_behind_a_gate_waits_for_it(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate, *gated, *after;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct tsl_lane *other = new_lane(false);
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
        assert_int_equal(driver->mark(lane, NULL, &after), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(after, tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        /* Another lane goes on meanwhile. */
        assert_int_equal(driver->mark(other, NULL, NULL), CL_SUCCESS);
        finish(other);
        usleep(20000);
        assert_true(driver->fence_status(gate) > 0 && driver->fence_status(gated) > 0);
        assert_int_equal(atomic_load(&told.n), 0);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_INVALID_OPERATION);
        assert_int_equal(driver->gate_open(gated, CL_COMPLETE), CL_INVALID_VALUE);
        wait_until_told(&told);
        assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
        assert_int_equal(driver->fence_wait(gate), CL_COMPLETE);
        assert_int_equal(driver->fence_wait(gated), CL_COMPLETE);
        assert_int_equal(get_int(mem, 1023), 2);
        tsl_fence_unref(gate);
        tsl_fence_unref(gated);
        tsl_fence_unref(after);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void a_gate_that_fails_fails_what_waits(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *gate, *gated, *second;
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1, .fences = &gated};
    struct told told = {0}, told_second = {0}, late = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
        assert_int_equal(fill_ints(other, mem, 3, 1024, &again, &second), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(gated, tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(second, tell_test, &told_second), CL_SUCCESS);
        assert_int_equal(driver->flush(other), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        wait_until_told(&told);
        wait_until_told(&told_second);
        assert_true(atomic_load(&told.status) < 0 && atomic_load(&told_second.status) < 0);
        assert_true(driver->fence_wait(gated) < 0 && driver->fence_wait(second) < 0);
        assert_true(driver->fence_wait(gate) < 0);
        assert_int_equal(driver->fence_notify(gated, tell_test, &late), CL_SUCCESS);
        assert_true(late.n == 1 && late.status < 0);
        drain(lane);
        drain(other);
        /* Nothing of it ran, and the lanes still work. */
        assert_int_equal(get_int(mem, 1023), 1);
        assert_int_equal(fill_ints(other, mem, 4, 1024, NULL, NULL), CL_SUCCESS);
        finish(other);
        assert_int_equal(get_int(mem, 1023), 4);
        usleep(20000);
        assert_int_equal(atomic_load(&told.n), 1);
        tsl_fence_unref(gate);
        tsl_fence_unref(gated);
        tsl_fence_unref(second);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void what_waits_for_a_failure_fails_and_the_lane_goes_on(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate, *late;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &late), CL_SUCCESS);
        assert_int_equal(fill_ints(lane, mem, 3, 512, NULL, NULL), CL_SUCCESS);
        assert_true(driver->fence_wait(late) < 0);
        assert_int_equal(driver->fence_notify(late, tell_test, &told), CL_SUCCESS);
        assert_true(told.n == 1 && told.status < 0);
        assert_int_equal(get_int(mem, 511), 3);
        assert_int_equal(get_int(mem, 512), 1);
        tsl_fence_unref(gate);
        tsl_fence_unref(late);
    }
    driver->mem_free(mem);
}

static void a_gate_that_is_dropped_fails_what_waits(void **state)
{
    struct tsl_fence *gate, *gated;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    (void)state;
    if (!has_gates())
        return;
    gate = new_gate();
    assert_int_equal(driver->mark(lane, &waits, &gated), CL_SUCCESS);
    tsl_fence_unref(gate);
    assert_true(driver->fence_wait(gated) < 0);
    tsl_fence_unref(gated);
    drain(lane);
}

/* ---- Releases -----------------------------------------------------------------------------------------------------
 */

static struct tsl_vendor_cl real;
static atomic_int n_released;

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
    atomic_fetch_add(&n_released, 1);
    return real.clReleaseMemObject(mem);
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    atomic_fetch_add(&n_released, 1);
    return real.clReleaseKernel(kernel);
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    atomic_fetch_add(&n_released, 1);
    return real.clReleaseProgram(program);
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    atomic_fetch_add(&n_released, 1);
    return real.clReleaseCommandQueue(queue);
}

static void count_releases(void)
{
    assert_int_equal(driver->flush(lane), CL_SUCCESS); /* releases what others left */
    real = *table();
    atomic_store(&n_released, 0);
    table()->clReleaseMemObject = release_mem;
    table()->clReleaseKernel = release_kernel;
    table()->clReleaseProgram = release_program;
    table()->clReleaseCommandQueue = release_queue;
}

static void stop_counting(void)
{
    table()->clReleaseMemObject = real.clReleaseMemObject;
    table()->clReleaseKernel = real.clReleaseKernel;
    table()->clReleaseProgram = real.clReleaseProgram;
    table()->clReleaseCommandQueue = real.clReleaseCommandQueue;
}

static void free_one_of_each(void)
{
    struct tsl_dprogram *program = build("kernel void k(global int *p) { p[0] = 1; }");
    struct tsl_dkernel *kernel = new_kernel(program, "k");
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);

    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
    driver->lane_free(other);
}

static void nothing_is_released_while_a_gate_is_unset(void **state)
{
    struct tsl_fence *gates[2];

    (void)state;
    count_releases();
    free_one_of_each();
    if (tsl_vendor_member(member)->device->quirks.no_late_calls) {
        assert_int_equal(atomic_load(&n_released), 0);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
    }
    assert_int_equal(atomic_load(&n_released), 4);
    if (has_gates()) {
        gates[0] = new_gate();
        gates[1] = new_gate();
        free_one_of_each();
        assert_int_equal(atomic_load(&n_released), 4);
        assert_int_equal(driver->gate_open(gates[0], CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        assert_int_equal(atomic_load(&n_released), 4);
        assert_int_equal(driver->gate_open(gates[1], CL_OUT_OF_RESOURCES), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        assert_int_equal(atomic_load(&n_released), 8);
        tsl_fence_unref(gates[0]);
        tsl_fence_unref(gates[1]);
    }
    stop_counting();
}

static void a_release_does_not_wait_for_work_in_another_thread(void **state)
{
    struct tsl_vendor_device *device = tsl_vendor_member(member)->device;
    struct tsl_mem *mem = new_mem(4096);

    (void)state;
    count_releases();
    if (member->caps.submits_block)
        pthread_mutex_lock(&device->lock); /* as such work does */
    driver->mem_free(mem);
    assert_int_equal(atomic_load(&n_released), member->caps.submits_block ? 0 : 1);
    if (member->caps.submits_block)
        pthread_mutex_unlock(&device->lock);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(atomic_load(&n_released), 1);
    stop_counting();
}

/* ---- Races --------------------------------------------------------------------------------------------------------
 */

#define ROUNDS 300

struct race {
    struct tsl_fence *gate;
    cl_int status;
    pthread_barrier_t start;
};

static void *open_gates(void *arg)
{
    struct race *race = arg;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race->start);
        assert_int_equal(driver->gate_open(race->gate, race->status), CL_SUCCESS);
        pthread_barrier_wait(&race->start);
    }
    return NULL;
}

/* Submits work behind the gate, in two lanes, while another thread opens it. */
static void race_once(struct race *race, struct tsl_lane *other, struct tsl_mem *mem)
{
    struct tsl_waits waits = {.n = 1, .fences = &race->gate};
    struct tsl_fence *fences[8];
    struct told told[8] = {{0}};

    race->gate = new_gate();
    pthread_barrier_wait(&race->start);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(fill_ints(i & 1 ? lane : other, mem, i, 16, i % 3 ? &waits : NULL, &fences[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(fences[i], tell_test, &told[i]), CL_SUCCESS);
    }
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(driver->flush(other), CL_SUCCESS);
    for (int i = 0; i < 8; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(driver->fence_wait(fences[i]) < 0, atomic_load(&told[i].status) < 0);
        if (i % 3)
            assert_int_equal(atomic_load(&told[i].status) < 0, race->status < 0);
        tsl_fence_unref(fences[i]);
    }
    pthread_barrier_wait(&race->start);
    tsl_fence_unref(race->gate);
}

static void run_races(cl_int status)
{
    struct race race = {.status = status};
    struct tsl_lane *other = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    pthread_t opener;

    assert_int_equal(pthread_barrier_init(&race.start, NULL, 2), 0);
    assert_int_equal(pthread_create(&opener, NULL, open_gates, &race), 0);
    for (int i = 0; i < ROUNDS; i++)
        race_once(&race, other, mem);
    assert_int_equal(pthread_join(opener, NULL), 0);
    pthread_barrier_destroy(&race.start);
    drain(lane);
    drain(other);
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void gates_open_while_work_is_submitted(void **state)
{
    (void)state;
    if (has_gates())
        run_races(CL_COMPLETE);
}

static void gates_fail_while_work_is_submitted(void **state)
{
    (void)state;
    if (has_gates())
        run_races(CL_OUT_OF_RESOURCES);
}

static struct tsl_fence *gate_to_fail;

/* The vendor's enqueue, with a gate failing at the last moment before it. */
static cl_int CL_API_CALL fail_then_fill(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_size,
                                         size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *event)
{
    if (gate_to_fail)
        assert_int_equal(driver->gate_open(gate_to_fail, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    gate_to_fail = NULL;
    return real.clEnqueueFillBuffer(queue, mem, pattern, pattern_size, offset, size, n, events, event);
}

static void a_gate_may_fail_between_check_and_enqueue(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate, *fence;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct told told = {0};

    (void)state;
    real = *table();
    table()->clEnqueueFillBuffer = fail_then_fill;
    for (int i = 0; has_gates() && i < 2; i++) {
        gate = new_gate();
        /* The second time what fails is not in the wait list, but in front of it in the lane. */
        if (i)
            assert_int_equal(driver->mark(lane, &waits, NULL), CL_SUCCESS);
        gate_to_fail = gate;
        assert_int_equal(fill_ints(lane, mem, 1, 16, i ? NULL : &waits, &fence), CL_SUCCESS);
        told = (struct told){0};
        assert_int_equal(driver->fence_notify(fence, tell_test, &told), CL_SUCCESS);
        wait_until_told(&told);
        assert_true(atomic_load(&told.status) < 0 || i);
        tsl_fence_unref(fence);
        tsl_fence_unref(gate);
    }
    table()->clEnqueueFillBuffer = real.clEnqueueFillBuffer;
    drain(lane);
    driver->mem_free(mem);
}

/* ---- A chain over members -----------------------------------------------------------------------------------------
 */

static void open_gate(void *gate, cl_int status)
{
    assert_int_equal(driver->gate_open(gate, status), CL_SUCCESS);
}

/* The bridge: one fence's completion opens the next gate, from inside the vendor's callback. */
static void completion_opens_the_next_gate(void **state)
{
    struct tsl_fence *gates[20], *fences[20];
    struct tsl_mem *mem = new_mem(4096);
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        for (int i = 0; i < 20; i++) {
            struct tsl_waits waits = {.n = i ? 1 : 0, .fences = &gates[i ? i - 1 : 0]};

            assert_int_equal(fill_ints(lane, mem, i, 16, &waits, &fences[i]), CL_SUCCESS);
            gates[i] = new_gate();
        }
        for (int i = 0; i < 20; i++)
            assert_int_equal(driver->fence_notify(fences[i], open_gate, gates[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(gates[19], tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        wait_until_told(&told);
        assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
        assert_int_equal(get_int(mem, 0), 19);
        for (int i = 0; i < 20; i++) {
            tsl_fence_unref(fences[i]);
            tsl_fence_unref(gates[i]);
        }
    }
    driver->mem_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_behind_a_gate_waits_for_it),
        cmocka_unit_test(a_gate_that_fails_fails_what_waits),
        cmocka_unit_test(what_waits_for_a_failure_fails_and_the_lane_goes_on),
        cmocka_unit_test(a_gate_that_is_dropped_fails_what_waits),
        cmocka_unit_test(nothing_is_released_while_a_gate_is_unset),
        cmocka_unit_test(a_release_does_not_wait_for_work_in_another_thread),
        cmocka_unit_test(gates_open_while_work_is_submitted),
        cmocka_unit_test(gates_fail_while_work_is_submitted),
        cmocka_unit_test(a_gate_may_fail_between_check_and_enqueue),
        cmocka_unit_test(completion_opens_the_next_gate),
    };

    return cmocka_run_group_tests_name("vendor gates", tests, open_member, close_member);
}
