/* The test FPGA's queues: which command may begin, and a thread for each device that does them. */
#include "fpga_inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Its clock isn't the host's. */
#define CLOCK_AHEAD_NS 5000000000u

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned n_transfers[2]; /* by alignment; guarded by the lock */

__attribute__((visibility("default"))) fpga_transfers_fn fpga_transfers;

unsigned fpga_transfers(bool aligned)
{
    unsigned n;

    pthread_mutex_lock(&fpga_lock);
    n = n_transfers[aligned];
    pthread_mutex_unlock(&fpga_lock);
    return n;
}

cl_ulong fpga_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec + CLOCK_AHEAD_NS;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static bool is_barrier(const struct _cl_event *command)
{
    return command->type == CL_COMMAND_MARKER && command->n_waits == 0;
}

static bool waits_are_over(const struct _cl_event *command)
{
    for (cl_uint i = 0; i < command->n_waits; i++)
        if (command->waits[i]->status > CL_COMPLETE)
            return false;
    return true;
}

/* A command of this queue that may begin; NULL: none. The first is looked at first. */
static cl_event next_of_locked(cl_command_queue queue)
{
    bool in_order = !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event command;

    TAILQ_FOREACH(command, &queue->commands, link)
    {
        bool first = command == TAILQ_FIRST(&queue->commands);

        if (command->flushed && waits_are_over(command) && (first || !is_barrier(command)))
            return command;
        if (in_order || is_barrier(command))
            return NULL;
    }
    return NULL;
}

static cl_event next_locked(cl_device_id device)
{
    cl_command_queue queue;
    cl_event command = NULL;

    TAILQ_FOREACH(queue, &device->queues, link)
    {
        command = next_of_locked(queue);
        if (command)
            break;
    }
    return command;
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

static char *row_of(const struct fpga_side *side, size_t row, size_t slice)
{
    char *base = side->mem ? side->mem->data : side->host;

    return base + (side->origin[2] + slice) * side->slice_pitch + (side->origin[1] + row) * side->row_pitch +
           side->origin[0];
}

static void count_transfer(const struct _cl_event *command)
{
    const struct fpga_side *host = !command->src.mem ? &command->src : !command->dst.mem ? &command->dst : NULL;

    if (!host)
        return;
    pthread_mutex_lock(&fpga_lock);
    n_transfers[(uintptr_t)row_of(host, 0, 0) % FPGA_DMA_ALIGN == 0]++;
    pthread_mutex_unlock(&fpga_lock);
}

static void copy(const struct _cl_event *command)
{
    count_transfer(command);
    for (size_t slice = 0; slice < command->region[2]; slice++)
        for (size_t row = 0; row < command->region[1]; row++)
            memmove(row_of(&command->dst, row, slice), row_of(&command->src, row, slice), command->region[0]);
}

static void fill(const struct _cl_event *command)
{
    char *to = row_of(&command->dst, 0, 0);

    for (size_t i = 0; i < command->region[0]; i += command->pattern_size)
        memcpy(to + i, command->pattern, command->pattern_size);
}

static void launch(cl_event command)
{
    const struct fpga_design *design = command->kernel->design;
    void *args[FPGA_MAX_ARGS];

    for (cl_uint i = 0; i < design->n_args; i++)
        args[i] = design->sizes[i] ? (void *)command->args[i].value
                                   : (command->args[i].mem ? command->args[i].mem->data : NULL);
    design->run(command->range, args);
    fpga_count_run(design->name, command->context->device->mode);
}

static void work(cl_event command)
{
    switch (command->type) {
    case CL_COMMAND_MARKER:
        break;
    case CL_COMMAND_NDRANGE_KERNEL:
        launch(command);
        break;
    case CL_COMMAND_FILL_BUFFER:
        fill(command);
        break;
    default:
        copy(command);
        break;
    }
}

static cl_int wait_error(const struct _cl_event *command)
{
    for (cl_uint i = 0; i < command->n_waits; i++)
        if (command->waits[i]->status < 0)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return CL_COMPLETE;
}

/* Gives the lock for the application's functions. The status is final. */
static void tell(cl_event event)
{
    while (event->callbacks) {
        struct fpga_callback *callback = event->callbacks;
        cl_int status = event->status < 0 ? event->status : callback->at;

        event->callbacks = callback->next;
        pthread_mutex_unlock(&fpga_lock);
        callback->fn(event, status, callback->arg);
        free(callback);
        pthread_mutex_lock(&fpga_lock);
    }
}

static void set_status_locked(cl_event event, cl_int status)
{
    event->status = status;
    pthread_cond_broadcast(&changed);
    tell(event);
}

/* What a command keeps besides its event. */
static void drop_locked(cl_event command)
{
    for (cl_uint i = 0; i < command->n_waits; i++)
        fpga_unref_locked(command->waits[i]);
    free(command->waits);
    command->waits = NULL;
    command->n_waits = 0;
    fpga_unref_locked(command->dst.mem);
    fpga_unref_locked(command->src.mem);
    for (unsigned i = 0; i < FPGA_MAX_ARGS; i++)
        fpga_unref_locked(command->args[i].mem);
    fpga_unref_locked(command->kernel);
    command->dst.mem = command->src.mem = NULL;
    command->kernel = NULL;
}

static void run_locked(cl_event command)
{
    cl_int status = wait_error(command);

    command->status = CL_RUNNING;
    command->times[2] = fpga_now();
    if (status == CL_COMPLETE) {
        pthread_mutex_unlock(&fpga_lock);
        work(command);
        pthread_mutex_lock(&fpga_lock);
    }
    command->times[3] = fpga_now();
    TAILQ_REMOVE(&command->queue->commands, command, link);
    drop_locked(command);
    set_status_locked(command, status);
    fpga_unref_locked(command);
}

static void *run_device(void *arg)
{
    cl_device_id device = arg;

    pthread_mutex_lock(&fpga_lock);
    for (;;) {
        cl_event command = next_locked(device);

        if (command)
            run_locked(command);
        else
            pthread_cond_wait(&changed, &fpga_lock);
    }
    return NULL;
}

void fpga_start_thread_locked(cl_device_id device)
{
    pthread_t thread;

    if (device->has_thread || pthread_create(&thread, NULL, run_device, device))
        return;
    pthread_detach(thread);
    device->has_thread = true;
}

/* ---- The API ----------------------------------------------------------------------------------------------------- */

static void flush_locked(cl_command_queue queue)
{
    cl_event command;

    TAILQ_FOREACH(command, &queue->commands, link)
    {
        if (command->flushed)
            continue;
        command->flushed = true;
        command->status = CL_SUBMITTED;
        command->times[1] = fpga_now();
    }
    pthread_cond_broadcast(&changed);
}

cl_int fpga_check_waits(cl_uint n, const cl_event *waits)
{
    if ((n == 0) != (waits == NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < n; i++)
        if (!fpga_is(waits[i], FPGA_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
    return CL_SUCCESS;
}

cl_int fpga_enqueue(cl_event command, cl_uint n, const cl_event *waits, bool blocking, cl_event *event)
{
    cl_int status = CL_SUCCESS;

    command->waits = calloc(n + 1, sizeof(cl_event));
    pthread_mutex_lock(&fpga_lock);
    command->status = CL_QUEUED;
    command->times[0] = fpga_now();
    for (; command->n_waits < n; command->n_waits++) {
        command->waits[command->n_waits] = waits[command->n_waits];
        fpga_ref_locked(waits[command->n_waits]);
    }
    TAILQ_INSERT_TAIL(&command->queue->commands, command, link);
    if (event || blocking)
        fpga_ref_locked(command);
    if (event)
        *event = command;
    if (blocking) {
        flush_locked(command->queue);
        while (command->status > CL_COMPLETE)
            pthread_cond_wait(&changed, &fpga_lock);
        status = command->status;
        if (!event)
            fpga_unref_locked(command);
    }
    pthread_mutex_unlock(&fpga_lock);
    return status;
}

cl_int CL_API_CALL fpga_flush(cl_command_queue queue)
{
    if (!fpga_is(queue, FPGA_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&fpga_lock);
    flush_locked(queue);
    pthread_mutex_unlock(&fpga_lock);
    return CL_SUCCESS;
}

cl_int CL_API_CALL fpga_finish(cl_command_queue queue)
{
    if (!fpga_is(queue, FPGA_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&fpga_lock);
    flush_locked(queue);
    while (!TAILQ_EMPTY(&queue->commands))
        pthread_cond_wait(&changed, &fpga_lock);
    pthread_mutex_unlock(&fpga_lock);
    return CL_SUCCESS;
}

cl_int CL_API_CALL fpga_wait_for_events(cl_uint n, const cl_event *events)
{
    cl_int error = fpga_check_waits(n, events);

    if (error || !n)
        return error ? CL_INVALID_EVENT : CL_INVALID_VALUE;
    pthread_mutex_lock(&fpga_lock);
    for (cl_uint i = 0; i < n; i++)
        if (events[i]->queue && events[i]->status > CL_COMPLETE)
            flush_locked(events[i]->queue);
    for (cl_uint i = 0; i < n; i++) {
        while (events[i]->status > CL_COMPLETE)
            pthread_cond_wait(&changed, &fpga_lock);
        if (events[i]->status < 0)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    pthread_mutex_unlock(&fpga_lock);
    return error;
}

cl_int CL_API_CALL fpga_set_event_callback(cl_event event, cl_int at, void(CL_CALLBACK *fn)(cl_event, cl_int, void *),
                                           void *arg)
{
    struct fpga_callback *callback;

    if (!fpga_is(event, FPGA_EVENT))
        return CL_INVALID_EVENT;
    /* Of the three moments only the end is told. */
    if (!fn || at != CL_COMPLETE)
        return CL_INVALID_VALUE;
    callback = malloc(sizeof *callback);
    if (!callback)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&fpga_lock);
    *callback = (struct fpga_callback){fn, arg, at, event->callbacks};
    event->callbacks = callback;
    fpga_ref_locked(event);
    if (event->status <= CL_COMPLETE)
        tell(event);
    fpga_unref_locked(event);
    pthread_mutex_unlock(&fpga_lock);
    return CL_SUCCESS;
}

cl_event CL_API_CALL fpga_create_user_event(cl_context context, cl_int *error)
{
    cl_event event = fpga_is(context, FPGA_CONTEXT) ? fpga_create(FPGA_EVENT, sizeof *event) : NULL;

    if (error)
        *error = event ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (!event)
        return NULL;
    pthread_mutex_lock(&fpga_lock);
    fpga_ref_locked(context);
    event->context = context;
    event->type = CL_COMMAND_USER;
    event->status = CL_SUBMITTED;
    pthread_mutex_unlock(&fpga_lock);
    return event;
}

cl_int CL_API_CALL fpga_set_user_event_status(cl_event event, cl_int status)
{
    cl_int error = CL_SUCCESS;

    if (!fpga_is(event, FPGA_EVENT) || event->type != CL_COMMAND_USER)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&fpga_lock);
    if (event->status <= CL_COMPLETE)
        error = CL_INVALID_OPERATION;
    else
        set_status_locked(event, status);
    pthread_mutex_unlock(&fpga_lock);
    return error;
}

NAMED(fpga_set_event_callback, clSetEventCallback);
NAMED(fpga_create_user_event, clCreateUserEvent);
NAMED(fpga_set_user_event_status, clSetUserEventStatus);
