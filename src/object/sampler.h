/*
 * Samplers: three words that a launch takes along (struct tsl_sampler_desc, driver/driver.h).
 */
#ifndef TSL_OBJECT_SAMPLER_H
#define TSL_OBJECT_SAMPLER_H

#include "handle/object.h"
#include "object/context.h"

#define TSL_MAX_SAMPLER_PROPERTIES 7 /* three pairs, and the closing 0 */

struct tsl_sampler {
    struct tsl_object object;
    struct tsl_context *context; /* shown */
    struct tsl_sampler_desc desc;
    cl_sampler_properties properties[TSL_MAX_SAMPLER_PROPERTIES]; /* as given, with the closing 0 */
    size_t n_properties;                                          /* words; 0: none were given */
};

/* The arguments were checked. properties: NULL, or at most TSL_MAX_SAMPLER_PROPERTIES words. */
cl_int tsl_sampler_create(struct tsl_context *context, const struct tsl_sampler_desc *desc,
                          const cl_sampler_properties *properties, size_t n_properties, struct tsl_sampler **sampler);

#endif
