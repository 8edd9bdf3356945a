/*
 * For entry points of what Tesela doesn't offer (yet): the specification names an error for each, and the loaders call
 * them without looking. The handle that leads to us is still checked first.
 */
#ifndef TSL_API_REFUSE_H
#define TSL_API_REFUSE_H

#include "api.h"
#include "api/handles.h"

/* Who includes this refuses, and so doesn't look at most of the arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline void *tsl_refuse_create(cl_context context, cl_int why, cl_int *errcode_ret)
{
    return tsl_created(NULL, tsl_context_from(context) ? why : CL_INVALID_CONTEXT, errcode_ret);
}

static inline cl_int tsl_refuse_enqueue(cl_command_queue queue, cl_int why)
{
    return tsl_queue_from(queue) ? why : CL_INVALID_COMMAND_QUEUE;
}

#endif
