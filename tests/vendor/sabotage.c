/* The vendor that fails. See sabotage.h. */
#include "sabotage.h"

#include "opencl/cl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct tsl_opencl_cl real; /* the wrapped vendor's functions */
static cl_platform_id real_platform;
static char platform_name[256];

static cl_icd_dispatch table;

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};

static struct _cl_platform_id platform = {&table};

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static const char *const names[] = {
#define NAME(version, name, required) #name,
    TSL_OPENCL_FUNCTIONS(NAME)
#undef NAME
};

#define N_NAMES (sizeof names / sizeof names[0])

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over what follows; nobody is called under it */
static unsigned calls[N_NAMES], run_calls[N_NAMES];
static struct {
    char function[64];
    unsigned left; /* calls; 0: nothing is to happen */
    cl_int error;
    bool lose, happened;
} plan;
/* What begins work is refused from when the device is being lost; what asks hears the truth until it is, when nothing
 * is under way any more: so no work that the caller takes for never begun or ended touches its memory. */
static enum { WELL, LOSING, LOST } health;
static unsigned n_beginning; /* calls that may begin work and passed the check of `health` */
static pthread_cond_t none_begins = PTHREAD_COND_INITIALIZER;
static _Thread_local unsigned beginning; /* of n_beginning, this thread's */
static _Thread_local bool telling;       /* is this thread the wrapped vendor's, in a callback? */
static cl_int finish_error;
static cl_event stalled; /* launches wait for it; NULL: none do */
static int n_objects, n_events;

/* What the vendor was told of an event's end. Never freed: the vendor may still call. */
struct note {
    cl_event event;
    void(CL_CALLBACK *fn)(cl_event event, cl_int status, void *arg);
    void *arg;
    bool told;
    struct note *next;
};

static struct note *notes;

/* An event that is to fail in its turn, and the work that does it, which may fail itself. */
#define MAX_FAILURES 1024
static struct failure {
    cl_event event, work; /* NULL once the caller released the event */
    cl_event target;      /* the event, with a reference until it has failed */
    cl_int error;
    bool marked, done; /* work is a mere marker; it was done */
} failures[MAX_FAILURES];
static unsigned n_failures; /* by one thread at a time: a plan is carried out once */

/* The queues, to end what is under way when the device is lost. */
#define MAX_KNOWN 4096
static cl_command_queue queues[MAX_KNOWN];

static void known_locked(cl_command_queue queue, bool add)
{
    cl_command_queue from = add ? NULL : queue;

    for (unsigned i = 0; i < MAX_KNOWN; i++)
        if (queues[i] == from) {
            queues[i] = add ? queue : NULL;
            return;
        }
}

static unsigned index_of(const char *function)
{
    unsigned i = 0;

    while (i < N_NAMES && strcmp(names[i], function) != 0)
        i++;
    return i;
}

/* ---- Losing the device ------------------------------------------------------------------------------------------- */

static bool is_lost(void)
{
    bool is;

    pthread_mutex_lock(&lock);
    is = health == LOST;
    pthread_mutex_unlock(&lock);
    return is;
}

/* May a call begin work? If so, end_beginning() when it has. */
static bool may_begin(void)
{
    bool may;

    pthread_mutex_lock(&lock);
    may = health == WELL;
    n_beginning += may;
    beginning += may;
    pthread_mutex_unlock(&lock);
    return may;
}

static void end_beginning(void)
{
    pthread_mutex_lock(&lock);
    n_beginning--;
    beginning--;
    pthread_cond_broadcast(&none_begins);
    pthread_mutex_unlock(&lock);
}

static struct note *next_untold(void)
{
    struct note *note;

    pthread_mutex_lock(&lock);
    for (note = notes; note && note->told; note = note->next)
        ;
    if (note)
        note->told = true;
    pthread_mutex_unlock(&lock);
    return note;
}

/* The queues that there are, each with a reference. The number of them. */
static unsigned take(cl_command_queue *taken)
{
    unsigned n = 0;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_KNOWN; i++)
        if (queues[i]) {
            taken[n++] = queues[i];
            (*(const cl_icd_dispatch *const *)queues[i])->clRetainCommandQueue(queues[i]);
        }
    pthread_mutex_unlock(&lock);
    return n;
}

static void wait_for_beginning(void)
{
    pthread_mutex_lock(&lock);
    while (n_beginning > beginning)
        pthread_cond_wait(&none_begins, &lock);
    pthread_mutex_unlock(&lock);
}

/* Some vendors' clFinish (rusticl's, Mesa 22.3) doesn't wait for what was flushed before: a last command's event does.
 */
static void finish_really(cl_command_queue queue)
{
    cl_event last = NULL;

    if (real.clEnqueueMarkerWithWaitList && !real.clEnqueueMarkerWithWaitList(queue, 0, NULL, &last)) {
        real.clFlush(queue);
        real.clWaitForEvents(1, &last);
        real.clReleaseEvent(last);
    }
    real.clFinish(queue);
}

/* Ends what is under way, so that nothing of it touches memory any more, and tells. */
static void *end_all(void *unused)
{
    static cl_command_queue busy[MAX_KNOWN];
    struct note *note;
    unsigned n;

    wait_for_beginning();
    n = take(busy);
    for (unsigned i = 0; i < n; i++) {
        finish_really(busy[i]);
        real.clReleaseCommandQueue(busy[i]);
    }
    pthread_mutex_lock(&lock);
    health = LOST;
    pthread_mutex_unlock(&lock);
    while ((note = next_untold()))
        note->fn(note->event, CL_DEVICE_NOT_AVAILABLE, note->arg);
    return unused;
}

/* Once `health` is LOSING. The wrapped vendor's queue doesn't end while one of its threads is in a callback. */
static void lose(void)
{
    pthread_t thread;

    if (!telling)
        end_all(NULL);
    else if (pthread_create(&thread, NULL, end_all, NULL) || pthread_detach(thread))
        abort();
}

/* ---- Before and after a call ------------------------------------------------------------------------------------- */

/* Counts the call. The error that it is to fail with, or 0. */
static cl_int before(const char *function, unsigned *count)
{
    bool now, loses;
    cl_int error;

    pthread_mutex_lock(&lock);
    ++*count;
    now = plan.left && !strcmp(plan.function, function) && --plan.left == 0;
    loses = now && plan.lose;
    plan.happened |= now;
    if (loses)
        health = LOSING;
    error = health == LOST ? CL_DEVICE_NOT_AVAILABLE : now ? plan.error : CL_SUCCESS;
    pthread_mutex_unlock(&lock);
    if (loses) {
        lose();
        error = CL_DEVICE_NOT_AVAILABLE;
    }
    return error;
}

/* Of an event that failed: the device, when it is being lost, whatever the wrapped vendor calls it. */
static cl_int because_lost(cl_int error)
{
    bool is;

    pthread_mutex_lock(&lock);
    is = health != WELL;
    pthread_mutex_unlock(&lock);
    return is ? CL_DEVICE_NOT_AVAILABLE : error;
}

#define BEFORE(name) before(#name, &calls[index_of(#name)])

static cl_int after(cl_int error)
{
    return is_lost() ? CL_DEVICE_NOT_AVAILABLE : error;
}

static void count(int objects, int events)
{
    pthread_mutex_lock(&lock);
    n_objects += objects + events;
    n_events += events;
    pthread_mutex_unlock(&lock);
}

/* ---- Calls that are only passed on ------------------------------------------------------------------------------- */

#define ASK(name, params, ...)                \
    static cl_int CL_API_CALL name##_w params \
    {                                         \
        cl_int failed = BEFORE(name);         \
                                              \
        if (failed)                           \
            return failed;                    \
        return after(real.name(__VA_ARGS__)); \
    }

#define INFO size_t size, void *value, size_t *size_ret

ASK(clGetSupportedImageFormats,
    (cl_context c, cl_mem_flags f, cl_mem_object_type t, cl_uint n, cl_image_format *formats, cl_uint *n_ret), c, f, t,
    n, formats, n_ret)
ASK(clGetProgramInfo, (cl_program p, cl_program_info i, INFO), p, i, size, value, size_ret)
ASK(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info i, INFO), p, d, i, size, value,
    size_ret)
ASK(clGetKernelInfo, (cl_kernel k, cl_kernel_info i, INFO), k, i, size, value, size_ret)
ASK(clGetKernelWorkGroupInfo, (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, INFO), k, d, i, size, value,
    size_ret)
ASK(clGetKernelArgInfo, (cl_kernel k, cl_uint n, cl_kernel_arg_info i, INFO), k, n, i, size, value, size_ret)
ASK(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, INFO), e, i, size, value, size_ret)
ASK(clGetDeviceAndHostTimer, (cl_device_id d, cl_ulong *a, cl_ulong *b), d, a, b)
ASK(clSetKernelArg, (cl_kernel k, cl_uint i, size_t size, const void *value), k, i, size, value)
ASK(clSetUserEventStatus, (cl_event e, cl_int status), e, status)
ASK(clFlush, (cl_command_queue q), q)
ASK(clBuildProgram,
    (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *), void *a),
    p, n, d, o, f, a)
ASK(clCompileProgram,
    (cl_program p, cl_uint n, const cl_device_id *d, const char *o, cl_uint nh, const cl_program *h, const char **hn,
     void(CL_CALLBACK *f)(cl_program, void *), void *a),
    p, n, d, o, nh, h, hn, f, a)

static cl_int CL_API_CALL clFinish_w(cl_command_queue queue)
{
    cl_int failed = BEFORE(clFinish), error;

    if (failed)
        return failed;
    error = real.clFinish(queue);
    pthread_mutex_lock(&lock);
    if (!error) {
        error = finish_error;
        finish_error = CL_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return after(error);
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

#define MAKE(type, name, params, ...)                         \
    static type CL_API_CALL name##_w params                   \
    {                                                         \
        cl_int failed = BEFORE(name), here = CL_SUCCESS;      \
        type object = failed ? NULL : real.name(__VA_ARGS__); \
                                                              \
        if (error)                                            \
            *error = failed ? failed : here;                  \
        count(object != NULL, 0);                             \
        return object;                                        \
    }

/* With the error in &here. */
MAKE(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t size, void *host, cl_int *error), c, f, size, host,
     &here)
MAKE(cl_mem, clCreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *error), m, f,
     t, i, &here)
MAKE(cl_mem, clCreateImage,
     (cl_context c, cl_mem_flags f, const cl_image_format *t, const cl_image_desc *d, void *host, cl_int *error), c, f,
     t, d, host, &here)
MAKE(cl_sampler, clCreateSampler, (cl_context c, cl_bool n, cl_addressing_mode a, cl_filter_mode f, cl_int *error), c,
     n, a, f, &here)
MAKE(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *error),
     c, n, s, l, &here)
MAKE(cl_program, clCreateProgramWithBinary,
     (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *s,
      cl_int *error),
     c, n, d, l, b, s, &here)
MAKE(cl_program, clLinkProgram,
     (cl_context c, cl_uint n, const cl_device_id *d, const char *o, cl_uint np, const cl_program *p,
      void(CL_CALLBACK *f)(cl_program, void *), void *a, cl_int *error),
     c, n, d, o, np, p, f, a, &here)
MAKE(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *error), p, n, &here)

static cl_int CL_API_CALL clCreateKernelsInProgram_w(cl_program p, cl_uint n, cl_kernel *kernels, cl_uint *n_ret)
{
    cl_int failed = BEFORE(clCreateKernelsInProgram), error;

    if (failed)
        return failed;
    error = real.clCreateKernelsInProgram(p, n, kernels, n_ret);
    count(error || !kernels ? 0 : (int)n, 0);
    return error;
}

#define DROP(name, params, object)            \
    static cl_int CL_API_CALL name##_w params \
    {                                         \
        cl_int failed = BEFORE(name);         \
        cl_int error = real.name(object);     \
                                              \
        if (!error)                           \
            count(-1, 0);                     \
        return failed ? failed : error;       \
    }

DROP(clReleaseContext, (cl_context c), c)
DROP(clReleaseMemObject, (cl_mem m), m)
DROP(clReleaseSampler, (cl_sampler s), s)
DROP(clReleaseProgram, (cl_program p), p)
DROP(clReleaseKernel, (cl_kernel k), k)

static cl_context CL_API_CALL clCreateContext_w(const cl_context_properties *properties, cl_uint n,
                                                const cl_device_id *devices,
                                                void(CL_CALLBACK *fn)(const char *, const void *, size_t, void *),
                                                void *arg, cl_int *error)
{
    const cl_context_properties own[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)real_platform, 0};
    cl_int failed = BEFORE(clCreateContext), here = CL_SUCCESS;
    cl_context context = failed ? NULL : real.clCreateContext(own, n, devices, fn, arg, &here);

    (void)properties;
    if (error)
        *error = failed ? failed : here;
    count(context != NULL, 0);
    return context;
}

static cl_command_queue CL_API_CALL clCreateCommandQueue_w(cl_context context, cl_device_id device,
                                                           cl_command_queue_properties properties, cl_int *error)
{
    cl_int failed = BEFORE(clCreateCommandQueue), here = CL_SUCCESS;
    cl_command_queue queue = failed ? NULL : real.clCreateCommandQueue(context, device, properties, &here);

    if (error)
        *error = failed ? failed : here;
    count(queue != NULL, 0);
    pthread_mutex_lock(&lock);
    if (queue)
        known_locked(queue, true);
    pthread_mutex_unlock(&lock);
    return queue;
}

static cl_int CL_API_CALL clReleaseCommandQueue_w(cl_command_queue queue)
{
    cl_int failed = BEFORE(clReleaseCommandQueue), error;

    pthread_mutex_lock(&lock);
    known_locked(queue, false);
    pthread_mutex_unlock(&lock);
    error = real.clReleaseCommandQueue(queue);
    if (!error)
        count(-1, 0);
    return failed ? failed : error;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static cl_event CL_API_CALL clCreateUserEvent_w(cl_context context, cl_int *error)
{
    cl_int failed = BEFORE(clCreateUserEvent), here = CL_SUCCESS;
    cl_event event = failed ? NULL : real.clCreateUserEvent(context, &here);

    if (error)
        *error = failed ? failed : here;
    count(0, event != NULL);
    return event;
}

static cl_int CL_API_CALL clReleaseEvent_w(cl_event event)
{
    cl_int failed = BEFORE(clReleaseEvent), error;
    cl_event work = NULL;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_failures; i++)
        if (failures[i].event == event) {
            work = failures[i].work;
            failures[i].event = failures[i].work = NULL;
        }
    pthread_mutex_unlock(&lock);
    if (work)
        real.clReleaseEvent(work);
    error = real.clReleaseEvent(event);
    if (!error)
        count(0, -1);
    return failed ? failed : error;
}

/* What is to fail the event, with a reference; NULL: nothing. */
static cl_event work_of(cl_event event)
{
    cl_event work = NULL;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_failures && !work; i++)
        if (failures[i].event == event)
            work = failures[i].work;
    if (work)
        (*(const cl_icd_dispatch *const *)work)->clRetainEvent(work);
    pthread_mutex_unlock(&lock);
    return work;
}

static void tell_failure(cl_event event, cl_int error);

/* Its turn has come. */
static void fail(struct failure *failure)
{
    cl_event target;
    cl_int error;
    bool first;

    pthread_mutex_lock(&lock);
    first = !failure->done;
    failure->done = true;
    target = failure->target;
    error = failure->error;
    pthread_mutex_unlock(&lock);
    if (!first)
        return;
    real.clSetUserEventStatus(target, error);
    tell_failure(target, error);
    real.clReleaseEvent(target);
}

/* Its marker is complete, whether that was told or not. */
static void fail_marked(cl_event event)
{
    struct failure *failure = NULL;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_failures && !failure; i++)
        if (failures[i].event == event && failures[i].marked)
            failure = &failures[i];
    pthread_mutex_unlock(&lock);
    if (failure)
        fail(failure);
}

/* What was to fail the event has failed: then so has the event. */
static void settle(cl_event event, bool wait)
{
    cl_event work = work_of(event);
    cl_int status = CL_COMPLETE;

    if (!work)
        return;
    if (wait)
        real.clWaitForEvents(1, &work);
    real.clGetEventInfo(work, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (status < 0)
        real.clSetUserEventStatus(event, status);
    else if (status == CL_COMPLETE)
        fail_marked(event);
    real.clReleaseEvent(work);
}

static cl_int CL_API_CALL clGetEventInfo_w(cl_event event, cl_event_info param, INFO)
{
    cl_int failed = BEFORE(clGetEventInfo), error;

    settle(event, false);
    if (failed)
        return failed;
    error = real.clGetEventInfo(event, param, size, value, size_ret);
    if (!error && param == CL_EVENT_COMMAND_EXECUTION_STATUS && size >= sizeof(cl_int) && value && *(cl_int *)value < 0)
        return because_lost(error);
    return after(error);
}

static cl_int CL_API_CALL clWaitForEvents_w(cl_uint n, const cl_event *events)
{
    cl_int failed = BEFORE(clWaitForEvents);

    for (cl_uint i = 0; i < n; i++)
        settle(events[i], true);
    return failed ? failed : after(real.clWaitForEvents(n, events));
}

/* The wrapped vendor need not. */
static void tell_failure(cl_event event, cl_int error)
{
    struct note *note;

    do {
        pthread_mutex_lock(&lock);
        for (note = notes; note && (note->told || note->event != event); note = note->next)
            ;
        if (note)
            note->told = true;
        pthread_mutex_unlock(&lock);
        if (note)
            note->fn(event, error, note->arg);
    } while (note);
}

static void CL_CALLBACK tell(cl_event event, cl_int status, void *data)
{
    struct note *note = data;
    bool first;

    pthread_mutex_lock(&lock);
    first = !note->told;
    note->told = true;
    if (health == LOST || (health == LOSING && status < 0))
        status = CL_DEVICE_NOT_AVAILABLE;
    pthread_mutex_unlock(&lock);
    if (!first)
        return;
    telling = true;
    note->fn(event, status, note->arg);
    telling = false;
}

/* Was it made to fail? */
static bool is_failing(cl_event event)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_failures && !found; i++)
        found = failures[i].event == event;
    pthread_mutex_unlock(&lock);
    return found;
}

/* And has it? */
static bool has_failed(cl_event event)
{
    cl_int status = CL_QUEUED;

    if (is_failing(event))
        real.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status < 0;
}

static cl_int CL_API_CALL clSetEventCallback_w(cl_event event, cl_int at,
                                               void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *arg)
{
    cl_int failed = BEFORE(clSetEventCallback), error;
    struct note *note = failed ? NULL : malloc(sizeof *note);

    if (failed)
        return failed;
    *note = (struct note){event, fn, arg, false, NULL};
    pthread_mutex_lock(&lock);
    note->next = notes;
    notes = note;
    pthread_mutex_unlock(&lock);
    error = real.clSetEventCallback(event, at, tell, note);
    pthread_mutex_lock(&lock);
    if (!error && health == LOST && !note->told)
        error = CL_DEVICE_NOT_AVAILABLE;
    if (error)
        note->told = true;
    pthread_mutex_unlock(&lock);
    if (!error && has_failed(event))
        tell_failure(event, CL_OUT_OF_RESOURCES);
    return error;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static cl_context context_of(cl_command_queue queue)
{
    cl_context context = NULL;
    const cl_icd_dispatch *dispatch = *(const cl_icd_dispatch *const *)queue;

    dispatch->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    return context;
}

static void CL_CALLBACK fail_now(void *arg)
{
    fail(*(struct failure **)arg);
}

static void CL_CALLBACK fail_behind(cl_event marker, cl_int status, void *arg)
{
    (void)marker;
    (void)status;
    fail(arg);
}

static bool has_native_kernels(cl_command_queue queue)
{
    const cl_icd_dispatch *dispatch = *(const cl_icd_dispatch *const *)queue;
    cl_device_exec_capabilities can = 0;
    cl_device_id device = NULL;

    dispatch->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    dispatch->clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
    return can & CL_EXEC_NATIVE_KERNEL;
}
static bool are_complete(cl_uint n, const cl_event *events)
{
    cl_int status = CL_COMPLETE;

    for (cl_uint i = 0; i < n && status == CL_COMPLETE; i++)
        real.clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status == CL_COMPLETE;
}

/* In place of a command whose work is to fail, in its turn: work that fails the event, or, where the vendor has none
 * such, a marker. */
static cl_int fail_work(cl_command_queue queue, cl_int error, cl_event *event)
{
    const cl_icd_dispatch *theirs = *(const cl_icd_dispatch *const *)queue;
    struct failure *failure = &failures[n_failures];
    bool has_native = has_native_kernels(queue);
    cl_event work = NULL;

    if (!event) {
        pthread_mutex_lock(&lock);
        finish_error = error;
        pthread_mutex_unlock(&lock);
        return CL_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    failure->event = failure->target = real.clCreateUserEvent(context_of(queue), NULL);
    failure->error = error;
    n_failures++;
    pthread_mutex_unlock(&lock);
    theirs->clRetainEvent(failure->target);
    *event = failure->event;
    if (has_native)
        theirs->clEnqueueNativeKernel(queue, fail_now, &failure, sizeof failure, 0, NULL, NULL, 0, NULL, &work);
    else
        theirs->clEnqueueMarkerWithWaitList(queue, 0, NULL, &work);
    pthread_mutex_lock(&lock);
    failure->work = work;
    failure->marked = !has_native;
    pthread_mutex_unlock(&lock);
    if (!has_native)
        theirs->clSetEventCallback(work, CL_COMPLETE, fail_behind, failure);
    count(0, 1);
    return CL_SUCCESS;
}

/* Is this command's work to fail? Not one that may fail by itself: then the next is taken. */
static cl_int failure_for(const char *run_name, unsigned *run_count, cl_uint n, const cl_event *waits)
{
    cl_int error = before(run_name, run_count);

    if (!error || is_lost() || (are_complete(n, waits) && n_failures < MAX_FAILURES))
        return error;
    pthread_mutex_lock(&lock);
    plan.left = 1;
    plan.happened = false;
    pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

/* Some vendors never complete what waits for an event that has failed; others refuse to enqueue it, as is done here. */
static cl_int refused(cl_uint n, const cl_event *waits)
{
    for (cl_uint i = 0; i < n; i++)
        if (is_failing(waits[i]))
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return CL_SUCCESS;
}

#define WAITS cl_uint n, const cl_event *w, cl_event *event

#define ENQUEUE(name, params, ...)                                             \
    static cl_int CL_API_CALL name##_w params                                  \
    {                                                                          \
        cl_int failed = BEFORE(name), error = refused(n, w);                   \
                                                                               \
        if (failed || error)                                                   \
            return failed ? failed : error;                                    \
        failed = failure_for("run:" #name, &run_calls[index_of(#name)], n, w); \
        if (!may_begin())                                                      \
            return CL_DEVICE_NOT_AVAILABLE;                                    \
        error = failed ? fail_work(q, failed, event) : real.name(__VA_ARGS__); \
        if (!failed && !error && event)                                        \
            count(0, 1);                                                       \
        end_beginning();                                                       \
        return error;                                                          \
    }

ENQUEUE(clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t size, void *host, WAITS), q, m,
        b, o, size, host, n, w, event)
ENQUEUE(clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t size, const void *host, WAITS),
        q, m, b, o, size, host, n, w, event)
ENQUEUE(clEnqueueCopyBuffer, (cl_command_queue q, cl_mem from, cl_mem to, size_t of, size_t ot, size_t size, WAITS), q,
        from, to, of, ot, size, n, w, event)
ENQUEUE(clEnqueueReadBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *ho, const size_t *r, size_t rp,
         size_t sp, size_t hrp, size_t hsp, void *host, WAITS),
        q, m, b, o, ho, r, rp, sp, hrp, hsp, host, n, w, event)
ENQUEUE(clEnqueueWriteBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *ho, const size_t *r, size_t rp,
         size_t sp, size_t hrp, size_t hsp, const void *host, WAITS),
        q, m, b, o, ho, r, rp, sp, hrp, hsp, host, n, w, event)
ENQUEUE(clEnqueueCopyBufferRect,
        (cl_command_queue q, cl_mem from, cl_mem to, const size_t *of, const size_t *ot, const size_t *r, size_t rf,
         size_t sf, size_t rt, size_t st, WAITS),
        q, from, to, of, ot, r, rf, sf, rt, st, n, w, event)
ENQUEUE(clEnqueueReadImage,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, void *host,
         WAITS),
        q, m, b, o, r, rp, sp, host, n, w, event)
ENQUEUE(clEnqueueWriteImage,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp,
         const void *host, WAITS),
        q, m, b, o, r, rp, sp, host, n, w, event)
ENQUEUE(clEnqueueCopyImage,
        (cl_command_queue q, cl_mem from, cl_mem to, const size_t *of, const size_t *ot, const size_t *r, WAITS), q,
        from, to, of, ot, r, n, w, event)
ENQUEUE(clEnqueueCopyImageToBuffer,
        (cl_command_queue q, cl_mem from, cl_mem to, const size_t *of, const size_t *r, size_t ot, WAITS), q, from, to,
        of, r, ot, n, w, event)
ENQUEUE(clEnqueueCopyBufferToImage,
        (cl_command_queue q, cl_mem from, cl_mem to, size_t of, const size_t *ot, const size_t *r, WAITS), q, from, to,
        of, ot, r, n, w, event)
ENQUEUE(clEnqueueFillBuffer, (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t size, WAITS), q,
        m, p, ps, o, size, n, w, event)
ENQUEUE(clEnqueueMarkerWithWaitList, (cl_command_queue q, WAITS), q, n, w, event)

static cl_int enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                             const size_t *l, WAITS)
{
    cl_event list[64], gate;
    cl_int error;

    pthread_mutex_lock(&lock);
    gate = stalled;
    pthread_mutex_unlock(&lock);
    if (!gate || n >= 64)
        return real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
    for (cl_uint i = 0; i < n; i++)
        list[i] = w[i];
    list[n] = gate;
    error = real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n + 1, list, event);
    pthread_mutex_lock(&lock);
    plan.happened = true;
    pthread_mutex_unlock(&lock);
    return error;
}

static cl_int CL_API_CALL clEnqueueNDRangeKernel_w(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o,
                                                   const size_t *g, const size_t *l, WAITS)
{
    cl_int failed = BEFORE(clEnqueueNDRangeKernel), error = refused(n, w);

    if (failed || error)
        return failed ? failed : error;
    failed = failure_for("run:clEnqueueNDRangeKernel", &run_calls[index_of("clEnqueueNDRangeKernel")], n, w);
    if (!may_begin())
        return CL_DEVICE_NOT_AVAILABLE;
    error = failed ? fail_work(q, failed, event) : enqueue_kernel(q, k, d, o, g, l, n, w, event);
    if (!failed && !error && event)
        count(0, 1);
    end_beginning();
    return error;
}

/* ---- Platform and devices ---------------------------------------------------------------------------------------- */

static cl_int CL_API_CALL clGetPlatformIDs_w(cl_uint n, cl_platform_id *ids, cl_uint *n_ret)
{
    if (ids && n)
        ids[0] = &platform;
    if (n_ret)
        *n_ret = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL clGetPlatformInfo_w(cl_platform_id id, cl_platform_info param, INFO)
{
    cl_int failed = BEFORE(clGetPlatformInfo);

    (void)id;
    if (failed || param != CL_PLATFORM_NAME)
        return failed ? failed : real.clGetPlatformInfo(real_platform, param, size, value, size_ret);
    if (size_ret)
        *size_ret = strlen(platform_name) + 1;
    if (value && size <= strlen(platform_name))
        return CL_INVALID_VALUE;
    if (value)
        strcpy(value, platform_name);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL clGetDeviceIDs_w(cl_platform_id id, cl_device_type type, cl_uint n, cl_device_id *ids,
                                           cl_uint *n_ret)
{
    cl_int failed = BEFORE(clGetDeviceIDs);

    (void)id;
    return failed ? failed : real.clGetDeviceIDs(real_platform, type, n, ids, n_ret);
}

static cl_int CL_API_CALL clGetDeviceInfo_w(cl_device_id id, cl_device_info param, INFO)
{
    cl_int failed = BEFORE(clGetDeviceInfo);

    return failed ? failed : after(real.clGetDeviceInfo(id, param, size, value, size_ret));
}

/* What isn't wrapped isn't there: clEnqueueMarker and clEnqueueWaitForEvents (OpenCL 1.1), built-in kernels, IL. */
static cl_icd_dispatch table = {
    .clGetPlatformIDs = clGetPlatformIDs_w,
    .clGetPlatformInfo = clGetPlatformInfo_w,
    .clGetDeviceIDs = clGetDeviceIDs_w,
    .clGetDeviceInfo = clGetDeviceInfo_w,
    .clCreateContext = clCreateContext_w,
    .clReleaseContext = clReleaseContext_w,
    .clCreateCommandQueue = clCreateCommandQueue_w,
    .clReleaseCommandQueue = clReleaseCommandQueue_w,
    .clCreateBuffer = clCreateBuffer_w,
    .clCreateSubBuffer = clCreateSubBuffer_w,
    .clReleaseMemObject = clReleaseMemObject_w,
    .clGetSupportedImageFormats = clGetSupportedImageFormats_w,
    .clCreateImage = clCreateImage_w,
    .clCreateSampler = clCreateSampler_w,
    .clReleaseSampler = clReleaseSampler_w,
    .clCreateProgramWithSource = clCreateProgramWithSource_w,
    .clCreateProgramWithBinary = clCreateProgramWithBinary_w,
    .clReleaseProgram = clReleaseProgram_w,
    .clBuildProgram = clBuildProgram_w,
    .clCompileProgram = clCompileProgram_w,
    .clLinkProgram = clLinkProgram_w,
    .clGetProgramInfo = clGetProgramInfo_w,
    .clGetProgramBuildInfo = clGetProgramBuildInfo_w,
    .clCreateKernel = clCreateKernel_w,
    .clCreateKernelsInProgram = clCreateKernelsInProgram_w,
    .clReleaseKernel = clReleaseKernel_w,
    .clSetKernelArg = clSetKernelArg_w,
    .clGetKernelInfo = clGetKernelInfo_w,
    .clGetKernelArgInfo = clGetKernelArgInfo_w,
    .clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo_w,
    .clWaitForEvents = clWaitForEvents_w,
    .clGetEventInfo = clGetEventInfo_w,
    .clReleaseEvent = clReleaseEvent_w,
    .clSetEventCallback = clSetEventCallback_w,
    .clGetEventProfilingInfo = clGetEventProfilingInfo_w,
    .clGetDeviceAndHostTimer = clGetDeviceAndHostTimer_w,
    .clFlush = clFlush_w,
    .clFinish = clFinish_w,
    .clCreateUserEvent = clCreateUserEvent_w,
    .clSetUserEventStatus = clSetUserEventStatus_w,
    .clEnqueueReadBuffer = clEnqueueReadBuffer_w,
    .clEnqueueWriteBuffer = clEnqueueWriteBuffer_w,
    .clEnqueueCopyBuffer = clEnqueueCopyBuffer_w,
    .clEnqueueReadBufferRect = clEnqueueReadBufferRect_w,
    .clEnqueueWriteBufferRect = clEnqueueWriteBufferRect_w,
    .clEnqueueCopyBufferRect = clEnqueueCopyBufferRect_w,
    .clEnqueueFillBuffer = clEnqueueFillBuffer_w,
    .clEnqueueReadImage = clEnqueueReadImage_w,
    .clEnqueueWriteImage = clEnqueueWriteImage_w,
    .clEnqueueCopyImage = clEnqueueCopyImage_w,
    .clEnqueueCopyImageToBuffer = clEnqueueCopyImageToBuffer_w,
    .clEnqueueCopyBufferToImage = clEnqueueCopyBufferToImage_w,
    .clEnqueueMarkerWithWaitList = clEnqueueMarkerWithWaitList_w,
    .clEnqueueNDRangeKernel = clEnqueueNDRangeKernel_w,
};

/* ---- Another vendor's ways --------------------------------------------------------------------------------------- */

static struct tsl_opencl_cl plain; /* the wrapped vendor's functions, where those in `real` ask first */

static const cl_icd_dispatch *theirs_of(cl_mem m)
{
    return *(const cl_icd_dispatch *const *)m;
}

static cl_mem_object_type type_of(cl_mem m)
{
    cl_mem_object_type type = 0;

    theirs_of(m)->clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof type, &type, NULL);
    return type;
}

/* Where copies between a 1D array and another type of image aren't refused they are wrong. */
static bool takes_copy(cl_mem from, cl_mem to, const size_t *region)
{
    cl_mem_object_type a = type_of(from), b = type_of(to);

    if (a == b || (a != CL_MEM_OBJECT_IMAGE1D_ARRAY && b != CL_MEM_OBJECT_IMAGE1D_ARRAY))
        return true;
    return a != CL_MEM_OBJECT_BUFFER && b != CL_MEM_OBJECT_BUFFER && region[1] == 1;
}

static bool takes_pitches(cl_mem image, const size_t *region, size_t row, size_t slice)
{
    size_t size = 0;

    theirs_of(image)->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof size, &size, NULL);
    return slice % (row ? row : region[0] * size) == 0;
}

static cl_int CL_API_CALL read_image(cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r,
                                     size_t rp, size_t sp, void *host, WAITS)
{
    return takes_pitches(m, r, rp, sp) ? plain.clEnqueueReadImage(q, m, b, o, r, rp, sp, host, n, w, event)
                                       : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL write_image(cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r,
                                      size_t rp, size_t sp, const void *host, WAITS)
{
    return takes_pitches(m, r, rp, sp) ? plain.clEnqueueWriteImage(q, m, b, o, r, rp, sp, host, n, w, event)
                                       : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL copy_image(cl_command_queue q, cl_mem from, cl_mem to, const size_t *of, const size_t *ot,
                                     const size_t *r, WAITS)
{
    return takes_copy(from, to, r) ? plain.clEnqueueCopyImage(q, from, to, of, ot, r, n, w, event) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue q, cl_mem from, cl_mem to, const size_t *of,
                                               const size_t *r, size_t ot, WAITS)
{
    return takes_copy(from, to, r) ? plain.clEnqueueCopyImageToBuffer(q, from, to, of, r, ot, n, w, event)
                                   : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL copy_buffer_to_image(cl_command_queue q, cl_mem from, cl_mem to, size_t of, const size_t *ot,
                                               const size_t *r, WAITS)
{
    return takes_copy(from, to, r) ? plain.clEnqueueCopyBufferToImage(q, from, to, of, ot, r, n, w, event)
                                   : CL_INVALID_VALUE;
}

/* There it damages its memory. (PoCL aborts when it is asked for a binary with such names: there is none.) */
static cl_int CL_API_CALL program_info(cl_program p, cl_program_info i, size_t size, void *v, size_t *r)
{
    size_t length = 0;

    plain.clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &length);
    if (length > 256 && i == CL_PROGRAM_KERNEL_NAMES)
        return CL_OUT_OF_RESOURCES;
    if (length <= 256 || i != CL_PROGRAM_BINARY_SIZES || size < sizeof(size_t))
        return plain.clGetProgramInfo(p, i, size, v, r);
    memset(v, 0, size);
    return CL_SUCCESS;
}

static cl_program CL_API_CALL link_program(cl_context c, cl_uint n, const cl_device_id *d, const char *o, cl_uint np,
                                           const cl_program *p, void(CL_CALLBACK *f)(cl_program, void *), void *a,
                                           cl_int *error)
{
    if (!strstr(o, "-cl-no-signed-zeroes") && !strstr(o, "-cl-no-subgroup-ifp"))
        return plain.clLinkProgram(c, n, d, o, np, p, f, a, error);
    *error = CL_LINK_PROGRAM_FAILURE;
    return NULL;
}

/* NVIDIA's OpenCL, driver 580. */
static void be_like_nvidia(void)
{
    plain = real;
    real.clEnqueueReadImage = read_image;
    real.clEnqueueWriteImage = write_image;
    real.clEnqueueCopyImage = copy_image;
    real.clEnqueueCopyImageToBuffer = copy_image_to_buffer;
    real.clEnqueueCopyBufferToImage = copy_buffer_to_image;
    real.clGetProgramInfo = program_info;
    real.clLinkProgram = link_program;
}

/* ---- The way in -------------------------------------------------------------------------------------------------- */

typedef void *(CL_API_CALL *extension_address_fn)(const char *name);
typedef cl_int(CL_API_CALL *platform_ids_fn)(cl_uint n, cl_platform_id *platforms, cl_uint *n_platforms);

/* A pointer to a function out of one to data, and the other way, as POSIX promises that it works. */
#define TO_FUNCTION(function, address) (*(void **)&(function) = (address))
#define ADDRESS(function)              (*(void **)&(function))

/* All functions of the version that it says; the others aren't ours to have, either. */
static void fill_real(unsigned version)
{
    const cl_icd_dispatch *theirs = *(const cl_icd_dispatch *const *)real_platform;

#define TAKE(since, name, required) \
    if (since <= version)           \
        real.name = theirs->name;   \
    if (!real.name)                 \
        table.name = NULL;
    TSL_OPENCL_FUNCTIONS(TAKE)
#undef TAKE
}

static unsigned version_of(void)
{
    char text[1024] = "";
    unsigned major = 1, minor = 1;
    const cl_icd_dispatch *theirs = *(const cl_icd_dispatch *const *)real_platform;

    theirs->clGetPlatformInfo(real_platform, CL_PLATFORM_VERSION, sizeof text, text, NULL);
    sscanf(text, "OpenCL %u.%u", &major, &minor);
    return 100 * major + 10 * minor;
}

static void find_real(void)
{
    const char *icd = getenv("SABOTAGE_ICD");
    FILE *file = icd ? fopen(icd, "r") : NULL;
    char line[4096] = "", name[200] = "";
    extension_address_fn address;
    platform_ids_fn ids;
    void *library;

    if (!file || !fgets(line, sizeof line, file))
        return;
    fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    library = dlopen(line, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return;
    TO_FUNCTION(address, dlsym(library, "clGetExtensionFunctionAddress"));
    TO_FUNCTION(ids, address("clIcdGetPlatformIDsKHR"));
    if (ids(1, &real_platform, NULL) || !real_platform)
        return;
    fill_real(version_of());
    if (getenv("SABOTAGE_LIKE") && strcmp(getenv("SABOTAGE_LIKE"), "nvidia") == 0)
        be_like_nvidia();
    real.clGetPlatformInfo(real_platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (getenv("SABOTAGE_NAME"))
        snprintf(platform_name, sizeof platform_name, "%s", getenv("SABOTAGE_NAME"));
    else
        snprintf(platform_name, sizeof platform_name, "%s (sabotaged)", name);
}

/* Without a vendor to wrap there is no platform. */
static cl_int CL_API_CALL platform_ids(cl_uint n, cl_platform_id *ids, cl_uint *n_ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_real);
    return real_platform ? clGetPlatformIDs_w(n, ids, n_ret) : CL_PLATFORM_NOT_FOUND_KHR;
}

EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    static platform_ids_fn ids = platform_ids;
    static cl_int(CL_API_CALL * info)(cl_platform_id, cl_platform_info, INFO) = clGetPlatformInfo_w;

    if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
        return ADDRESS(ids);
    return strcmp(name, "clGetPlatformInfo") ? NULL : ADDRESS(info);
}

/* ---- Control ----------------------------------------------------------------------------------------------------- */

static void set_plan(const char *function, unsigned n, cl_int error, bool loses)
{
    pthread_mutex_lock(&lock);
    snprintf(plan.function, sizeof plan.function, "%s", function ? function : "");
    plan.left = function ? n : 0;
    plan.error = error;
    plan.lose = loses;
    plan.happened = false;
    pthread_mutex_unlock(&lock);
}

EXPORT sabotage_fail_fn sabotage_fail;
EXPORT sabotage_lose_fn sabotage_lose;
EXPORT sabotage_stall_fn sabotage_stall;
EXPORT sabotage_happened_fn sabotage_happened;
EXPORT sabotage_calls_fn sabotage_calls;
EXPORT sabotage_name_fn sabotage_name;
EXPORT sabotage_alive_fn sabotage_alive;

void sabotage_fail(const char *function, unsigned n, cl_int error)
{
    set_plan(function, n, error, false);
}

void sabotage_lose(const char *function, unsigned n)
{
    set_plan(function, n, CL_DEVICE_NOT_AVAILABLE, true);
}

/* In a context of its queues: there is one, as Tesela makes them. */
void sabotage_stall(bool stall)
{
    cl_event gate = NULL;

    if (stall)
        for (unsigned i = 0; i < MAX_KNOWN && !gate; i++)
            if (queues[i])
                gate = real.clCreateUserEvent(context_of(queues[i]), NULL);
    pthread_mutex_lock(&lock);
    if (stall) {
        stalled = gate;
        plan.happened = false;
    } else {
        gate = stalled;
        stalled = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!stall && gate) {
        real.clSetUserEventStatus(gate, CL_COMPLETE);
        real.clReleaseEvent(gate);
    }
}

bool sabotage_happened(void)
{
    bool happened;

    pthread_mutex_lock(&lock);
    happened = plan.happened;
    pthread_mutex_unlock(&lock);
    return happened;
}

unsigned sabotage_calls(const char *function)
{
    unsigned i = index_of(function), n;

    pthread_mutex_lock(&lock);
    n = i < N_NAMES ? calls[i] : 0;
    pthread_mutex_unlock(&lock);
    return n;
}

const char *sabotage_name(unsigned i)
{
    return i < N_NAMES ? names[i] : NULL;
}

int sabotage_alive(int *events)
{
    int n;

    pthread_mutex_lock(&lock);
    n = n_objects;
    *events = n_events;
    pthread_mutex_unlock(&lock);
    return n;
}
