/* The stand-in for libcuda that TESELA_CUDA_LIBRARY names, if it does. */
#ifndef TSL_TESTS_STANDIN_ENV_H
#define TSL_TESTS_STANDIN_ENV_H

#include "standin.h"
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The stand-in's own functions; NULL on a real GPU. */
static struct {
    standin_violations_fn *violations;
    standin_calls_fn *calls;
    standin_fail_fn *refuse;
    standin_stop_fn *stop;
    standin_alive_fn *alive;
    standin_texels_fn *texels;
    standin_pageable_fn *pageable;
    standin_wild_fn *wild;
    standin_pin_policy_fn *pin_policy;
} standin;

static inline bool is_standin(void)
{
    return standin.violations != NULL;
}

static inline void find_standin(void)
{
    const char *name = getenv("TESELA_CUDA_LIBRARY");
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (!library)
        return;
    *(void **)&standin.violations = dlsym(library, "standin_violations");
    *(void **)&standin.calls = dlsym(library, "standin_calls");
    *(void **)&standin.refuse = dlsym(library, "standin_fail");
    *(void **)&standin.stop = dlsym(library, "standin_stop");
    *(void **)&standin.alive = dlsym(library, "standin_alive");
    *(void **)&standin.texels = dlsym(library, "standin_texels");
    *(void **)&standin.pageable = dlsym(library, "standin_pageable");
    *(void **)&standin.wild = dlsym(library, "standin_wild");
    *(void **)&standin.pin_policy = dlsym(library, "standin_pin_policy");
}

/* After the members are closed. */
static inline void check_standin(void)
{
    if (!is_standin())
        return;
    assert_int_equal(standin.violations(), 0);
    assert_int_equal(standin.alive(), 0);
}

#endif
