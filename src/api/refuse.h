/*
 * For entry points that Tesela doesn't support: the specification names an error for each, and loaders call them
 * without checking. The handle that leads to us is still checked first.
 */
#ifndef TSL_API_REFUSE_H
#define TSL_API_REFUSE_H

#include "api.h"
#include "api/handles.h"

/* Files that include this refuse calls, and so ignore most arguments. */
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
