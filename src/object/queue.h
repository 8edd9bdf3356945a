/*
 * Command queues of the application.
 */
#ifndef TSL_OBJECT_QUEUE_H
#define TSL_OBJECT_QUEUE_H

#include "handle/object.h"
#include "object/context.h"

struct tsl_command;

struct tsl_queue {
    struct tsl_object object;
    struct tsl_context *context;               /* shown */
    struct tsl_device *device;                 /* shown */
    _Atomic cl_command_queue_properties flags; /* changed by tsl_queue_set only */
    cl_queue_properties
        *properties; /* as given to clCreateCommandQueueWithProperties, closing 0 included; may be NULL */
    size_t n_properties;
    atomic_uint order, placement; /* CL_ORDER_… and CL_PLACEMENT_…; changed by tsl_queue_set_policy only */

    struct tsl_graph_queue *graph_queue; /* graph/life.h: this queue's part of the graph; owned */
};

cl_int tsl_queue_create(struct tsl_context *context, struct tsl_device *device, cl_command_queue_properties flags,
                        const cl_queue_properties *properties, size_t n_properties, struct tsl_queue **queue);

#endif
