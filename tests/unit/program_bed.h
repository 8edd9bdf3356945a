/* What tests of programs on fake members share: a context without the graph that a real one has, and its end. */
#ifndef TSL_TESTS_PROGRAM_BED_H
#define TSL_TESTS_PROGRAM_BED_H

#include "driver/fake.h"
#include "members/members.h"
#include "object/context.h"

#include "test.h"

static struct tsl_context *context;
static struct tsl_device *devices[1];

static inline void no_destroy(struct tsl_object *object)
{
    (void)object;
}

/* A kernel of the fake driver's, which does nothing. */
static inline void body(const struct tsl_fake_run *run)
{
    (void)run;
}

/* Register kernels before. */
static inline void begin_context(const struct tsl_fake_setup *setup)
{
    unsigned n;

    tsl_fake_begin(setup);
    tsl_members_register(&tsl_fake_driver);
    context = tsl_object_create(TSL_CONTEXT, sizeof(*context), NULL, no_destroy);
    assert_non_null(context);
    devices[0] = tsl_device_root();
    context->n_devices = 1;
    context->devices = devices;
    context->members = (struct tsl_member **)(uintptr_t)tsl_members_open(&n);
    context->n_members = n;
    assert_int_equal(n, setup->n_members);
}

/* A teardown: everything must have been given back. */
static inline int end(void **state)
{
    struct tsl_fake_live live = tsl_fake_live();
    bool clean = live.programs == 0 && live.kernels == 0 && tsl_fake_violations(TSL_FAKE_N_FAULTS) == 0;

    (void)state;
    tsl_object_release(&context->object);
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
    return clean && tsl_object_live(TSL_PROGRAM) == 0 && tsl_object_live(TSL_KERNEL) == 0 ? 0 : -1;
}

#endif
