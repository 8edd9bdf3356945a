/* The driver over real vendors: what must not be released while gates are unset, and a gate that fails late. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: gates TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread TESELA_GATES=on */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
#include "vendor_env.h"

#include "failed_wait.h"

#include "base/settings.h"

#include <pthread.h>
#include <unistd.h>

/* ---- Releases ---------------------------------------------------------------------------------------------------- */

static struct tsl_opencl_cl real;
static atomic_int n_released;

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
    cl_int error = real.clReleaseMemObject(mem);

    atomic_fetch_add(&n_released, 1);
    return error;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    cl_int error = real.clReleaseKernel(kernel);

    atomic_fetch_add(&n_released, 1);
    return error;
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    cl_int error = real.clReleaseProgram(program);

    atomic_fetch_add(&n_released, 1);
    return error;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    cl_int error = real.clReleaseCommandQueue(queue);

    atomic_fetch_add(&n_released, 1);
    return error;
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

/* By no call of ours: a thread of the driver's does it. */
static void must_release(int n)
{
    for (int i = 0; i < 5000 && atomic_load(&n_released) < n; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&n_released), n);
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
    if (tsl_opencl_member(member)->device->quirks.no_late_calls) {
        assert_int_equal(atomic_load(&n_released), 0);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
    }
    assert_int_equal(atomic_load(&n_released), 4);
    if (member->caps.gates) {
        gates[0] = new_gate();
        gates[1] = new_gate();
        free_one_of_each();
        assert_int_equal(atomic_load(&n_released), 4);
        assert_int_equal(driver->gate_open(gates[0], CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        assert_int_equal(atomic_load(&n_released), 4);
        assert_int_equal(driver->gate_open(gates[1], CL_OUT_OF_RESOURCES), CL_SUCCESS);
        must_release(8);
        tsl_fence_unref(gates[0]);
        tsl_fence_unref(gates[1]);
    }
    stop_counting();
}

static void a_release_does_not_wait_for_work_in_another_thread(void **state)
{
    struct tsl_opencl_device *device = tsl_opencl_member(member)->device;
    struct tsl_mem *mem = new_mem(4096);

    (void)state;
    count_releases();
    if (member->caps.submits_block)
        pthread_mutex_lock(&device->lock); /* as such work does */
    driver->mem_free(mem);
    assert_int_equal(atomic_load(&n_released), member->caps.submits_block ? 0 : 1);
    if (member->caps.submits_block)
        pthread_mutex_unlock(&device->lock);
    if (device->quirks.no_late_calls)
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
    must_release(1);
    stop_counting();
}

/* No caller of ours drops one unset; if one did, nothing should hang. */
static void a_gate_that_is_dropped_fails_what_waits(void **state)
{
    struct tsl_fence *gate, *gated;
    struct tsl_waits waits = {.n = 1, .fences = &gate};

    (void)state;
    if (!member->caps.gates)
        return;
    gate = new_gate();
    assert_int_equal(driver->mark(lane, &waits, &gated), CL_SUCCESS);
    tsl_fence_unref(gate);
    assert_true(driver->fence_wait(gated) < 0);
    tsl_fence_unref(gated);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    driver->finish(lane); /* which may report it, too */
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
    if (tsl_settings()->gates == TSL_GATES_ON) {
        print_message("only where gates are safe: PoCL would not come back\n");
        driver->mem_free(mem);
        return;
    }
    real = *table();
    table()->clEnqueueFillBuffer = fail_then_fill;
    for (int i = 0; member->caps.gates && i < 2; i++) {
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
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    driver->finish(lane); /* which may report the failures, too */
    driver->mem_free(mem);
}

static void what_waits_for_a_failure_comes_after_the_rest(void **state)
{
    (void)state;
    if (member->caps.gates)
        wait_for_a_failure_and_others();
    else
        print_message("no gates here\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_that_is_dropped_fails_what_waits),
        cmocka_unit_test(nothing_is_released_while_a_gate_is_unset),
        cmocka_unit_test(a_release_does_not_wait_for_work_in_another_thread),
        cmocka_unit_test(a_gate_may_fail_between_check_and_enqueue),
        cmocka_unit_test(what_waits_for_a_failure_comes_after_the_rest),
    };

    return cmocka_run_group_tests_name("vendor gates", tests, open_member, close_members);
}
