/*
 * Samplers: three words that a launch takes along. There are none before there are images; kernels' arguments know them
 * already.
 */
#ifndef TSL_CORE_SAMPLER_H
#define TSL_CORE_SAMPLER_H

#include "core/context.h"
#include "core/object.h"

struct tsl_sampler {
    struct tsl_object object;
    struct tsl_context *context; /* shown */
    struct tsl_sampler_desc desc;
};

#endif
