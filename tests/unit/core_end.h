/* The end of a test of the core on the fake driver: its objects are let go, and what members do may last a little. */
#ifndef TEST_CORE_END_H
#define TEST_CORE_END_H

#include "device/device.h"
#include "driver/fake.h"
#include "handle/object.h"
#include "members/members.h"

#include "test.h"

#include <sched.h>

static inline void end_core(void)
{
    while (tsl_object_live(TSL_CONTEXT) || tsl_fake_busy())
        sched_yield();
    if (tsl_fake_violation(0))
        print_error("%s\n", tsl_fake_violation(0));
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
    assert_int_equal(tsl_fake_live().mems, 0);
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
}

#endif
