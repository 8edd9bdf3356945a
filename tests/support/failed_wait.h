/* Commands that wait for a failure, on members with gates: for the contract, and for a vendor whose gates are off by
 * default. */
#ifndef TSL_TESTS_FAILED_WAIT_H
#define TSL_TESTS_FAILED_WAIT_H

#include "driver_env.h"

/* A command that waits for a failure fails, but not before the commands ahead of it have ended: those of its lane, and
 * the others that it waits for. */
static inline void wait_for_a_failure_and_others(void)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *failed = new_gate(), *gate = new_gate(), *before, *late[3];
    struct tsl_waits for_gate = {.n = 1, .fences = &gate}, for_failed = {.n = 1, .fences = &failed};

    assert_int_equal(driver->gate_open(failed, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, mem, 1, 1024, &for_gate, &before), CL_SUCCESS);
    struct tsl_waits for_both = {.n = 2, .fences = (struct tsl_fence *[]){failed, before}};
    assert_int_equal(fill_ints(lane, mem, 2, 1024, &for_failed, &late[0]), CL_SUCCESS);
    assert_int_equal(fill_ints(other, mem, 3, 1024, &for_both, &late[1]), CL_SUCCESS);
    assert_int_equal(driver->mark(other, NULL, &late[2]), CL_SUCCESS);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(driver->flush(other), CL_SUCCESS);
    usleep(20000);
    for (int i = 0; i < 3; i++)
        assert_true(driver->fence_status(late[i]) > 0);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_true(driver->fence_wait(late[0]) < 0 && driver->fence_wait(late[1]) < 0);
    assert_int_equal(driver->fence_status(before), CL_COMPLETE);
    assert_true(driver->fence_wait(late[2]) <= CL_COMPLETE);
    assert_int_equal(get_int(mem, 1023), 1);
    for (int i = 0; i < 3; i++)
        tsl_fence_unref(late[i]);
    tsl_fence_unref(before);
    tsl_fence_unref(failed);
    tsl_fence_unref(gate);
    driver->lane_free(other);
    driver->mem_free(mem);
}

#endif
