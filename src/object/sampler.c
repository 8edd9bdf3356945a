#include "object/sampler.h"

#include <string.h>

static void destroy(struct tsl_object *object)
{
    tsl_object_hide(&((struct tsl_sampler *)object)->context->object);
}

cl_int tsl_sampler_create(struct tsl_context *context, const struct tsl_sampler_desc *desc,
                          const cl_sampler_properties *properties, size_t n_properties, struct tsl_sampler **result)
{
    struct tsl_sampler *sampler = tsl_object_create(TSL_SAMPLER, sizeof(*sampler), &context->object, destroy);
    if (!sampler)
        return CL_OUT_OF_HOST_MEMORY;
    sampler->context = context;
    tsl_object_show(&context->object);
    sampler->desc = *desc;
    sampler->n_properties = n_properties;
    if (properties)
        memcpy(sampler->properties, properties, n_properties * sizeof(*properties));
    *result = sampler;
    return CL_SUCCESS;
}
