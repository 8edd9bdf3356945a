/*
 * Each function of the vendor's that Tesela calls fails in turn, at each of its first calls, in a program with buffers,
 * copies, boxes, maps, kernels, user events, wait lists and times on two members. The failed call or event reports the
 * failure, and so does everything that depends on it. Results that were reported as right are right, the other member's
 * work is done, nothing hangs, and in the end every object of the vendor's is released. The device is also lost at any
 * moment, or stops.
 *
 * Member 0 is PoCL; member 1 is PoCL, oclgrind or rusticl behind tests/vendor/sabotage.h. oclgrind computes inside its
 * calls (SABOTAGE_SYNCHRONOUS), one at a time: it can't stop, nor be lost by another thread, and only later work
 * releases waiting commands. Every part runs in a process of its own, as a lost device stays lost.
 */
/* variant: copying SABOTAGE_ICD={build}/vendors-pocl/pocl.icd TESELA_VENDORS={build}/vendors-pocl-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_ZERO_COPY=off TESELA_LOG=off */
/* variant: shared SABOTAGE_ICD={build}/vendors-pocl/pocl.icd TESELA_VENDORS={build}/vendors-pocl-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_LOG=off */
/* variant: oclgrind SABOTAGE_ICD={build}/vendors-oclgrind/oclgrind.icd SABOTAGE_SYNCHRONOUS=yes TESELA_VENDORS={build}/vendors-pocl-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_ZERO_COPY=off TESELA_LOG=off */
/* variant: rusticl SABOTAGE_ICD={build}/vendors-rusticl/rusticl.icd TESELA_VENDORS={build}/vendors-pocl-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_LOG=off */
/* timeout: 600 */
#include "begin.h"
#include "build_folder.h"

#include "../vendor/sabotage.h"

#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N     2048u /* ints of a buffer, half of them in each cell */
#define HALF  (N / 2)
#define WIDTH 64u /* ints of a row, where a buffer is a box */

static const char *const source = "kernel void inc(global int *x) { x[get_global_id(0)]++; }\n"
                                  "kernel void add(global int *x, global const int *y)\n"
                                  "{ x[get_global_id(0)] += y[get_global_id(0)]; }\n";

static sabotage_fail_fn *sabotage;
static sabotage_lose_fn *lose;
static sabotage_stall_fn *stall;
static sabotage_happened_fn *happened;
static sabotage_calls_fn *calls;
static sabotage_name_fn *name_of;
static sabotage_alive_fn *alive;

static cl_device_id good, bad;

/* ---- Saying what is wrong; a child ends with it ------------------------------------------------------------------ */

static char now[256] = "in the beginning";

static void expected(bool is, int line, const char *what, int a, int b)
{
    if (is)
        return;
    fprintf(stderr, "sabotage_test.c:%d: %s: %s (%d, %d)\n", line, now, what, a, b);
    _exit(1);
}

#define EXPECT(is, a, b) expected((is), __LINE__, #is, (int)(a), (int)(b))

static void too_long(int signal)
{
    static const char text[] = ": doesn't end\n";

    (void)signal;
    if (write(STDERR_FILENO, now, strlen(now)) < 0 || write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

enum buffer { A, B, C, D, N_BUFFERS };
enum queue { S, T, G, QUIET, N_QUEUES }; /* of the bad member, with times; of the good one, twice */
enum kind {
    WRITE,
    INC,
    COPY,
    FILL,
    ADD,
    MAP_READ,
    MAP_WRITE,
    BOX_WRITE,
    BOX_COPY,
    BOX_READ,
    HALF_INC,
    READ,
    MARKER,
    SET, /* the user event that gated steps wait for */
};

struct step {
    enum kind kind;
    enum queue queue;
    enum buffer to, from;
    int value;
    bool gated;
};

static const struct step script[] = {
    {WRITE, S, A, 0, 1, false},    {INC, S, A, 0, 0, true},        {COPY, S, B, A, 0, false},
    {FILL, T, C, 0, 5, false},     {ADD, T, C, B, 0, false},       {SET, S, 0, 0, 0, false},
    {MAP_READ, S, B, 0, 0, false}, {BOX_WRITE, S, D, 0, 7, false}, {HALF_INC, S, D, 0, 0, false},
    {BOX_COPY, S, B, D, 0, false}, {BOX_READ, S, D, 0, 0, false},  {INC, G, A, 0, 0, false},
    {INC, S, A, 0, 0, false},      {MAP_WRITE, S, C, 0, 9, false}, {ADD, G, D, A, 0, false},
    {MARKER, T, 0, 0, 0, false},   {INC, T, C, 0, 0, false},       {READ, S, A, 0, 0, false},
    {READ, T, B, 0, 0, false},     {READ, G, C, 0, 0, false},      {READ, S, D, 0, 0, false},
};

#define N_STEPS LENGTH(script)

/* What a half of a buffer holds, as far as that can be known. */
struct cell {
    bool known;
    int value;
};

struct done {
    cl_int error;  /* of the call */
    cl_int status; /* of the event, if the call went well */
    cl_event event;
    bool waits_failed; /* an event that it names has failed */
    int *memory;       /* what it reads into or writes from; N ints */
    void *map;
};

struct built {
    cl_context context;
    cl_program program;
    cl_kernel inc, add;
};

/* In a context that stays: what had to wait is released by later calls for the member. */
static cl_command_queue later_queue;
static cl_mem later_buffer;

static void begin_later(cl_context context)
{
    later_queue = clCreateCommandQueue(context, bad, 0, NULL);
    later_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, NULL);
}

static void end_later(void)
{
    clReleaseMemObject(later_buffer);
    clReleaseCommandQueue(later_queue);
    later_queue = NULL;
}

static void call_later(void)
{
    if (!later_queue)
        return;
    clEnqueueWriteBuffer(later_queue, later_buffer, CL_TRUE, 0, sizeof(int), &(int){1}, 0, NULL, NULL);
    clFinish(later_queue);
}

struct run {
    struct built built;
    bool fresh; /* made for this run alone */
    cl_command_queue queues[N_QUEUES];
    cl_mem buffers[N_BUFFERS], half, quiet;
    cl_event gate;
    struct done steps[N_STEPS];
    int quiet_memory[N];
    cl_event quiet_event;
    atomic_int n_called; /* callbacks of ours */
    int n_asked;
    unsigned n_failures; /* calls and events */
    cl_int first_error;  /* of a call or an event */
};

static void failed(struct run *r, cl_int error)
{
    if (!error)
        return;
    r->n_failures++;
    if (!r->first_error)
        r->first_error = error;
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *arg)
{
    struct run *r = arg;

    (void)event, (void)status;
    atomic_fetch_add(&r->n_called, 1);
}

static atomic_int n_reported; /* in words, to the context's function */

static void CL_CALLBACK reported(const char *text, const void *data, size_t size, void *arg)
{
    EXPECT(strstr(text, " failed on opencl:") && !data && !size, 0, 0);
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void build(struct run *r)
{
    struct built *b = &r->built;
    cl_int error;

    b->context = clCreateContext(NULL, 2, (cl_device_id[]){good, bad}, reported, &n_reported, &error);
    EXPECT(!error, error, 0);
    b->program = clCreateProgramWithSource(b->context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    EXPECT(!error, error, 0);
    failed(r, clBuildProgram(b->program, 1, &bad, "", NULL, NULL));
    EXPECT(!clBuildProgram(b->program, 1, &good, "", NULL, NULL), 0, 0);
    b->inc = clCreateKernel(b->program, "inc", &error);
    EXPECT(!error, error, 0);
    b->add = clCreateKernel(b->program, "add", &error);
    EXPECT(!error, error, 0);
}

/* A step whose queue lacks isn't done. */
static void make(struct run *r)
{
    const cl_queue_properties times[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_buffer_region region = {HALF * sizeof(int), HALF * sizeof(int)};
    cl_context context = r->built.context;
    cl_int error;

    r->queues[S] = clCreateCommandQueue(context, bad, 0, &error);
    failed(r, error);
    r->queues[T] = clCreateCommandQueueWithProperties(context, bad, times, &error);
    failed(r, error);
    for (int i = G; i < N_QUEUES; i++) {
        r->queues[i] = clCreateCommandQueue(context, good, 0, &error);
        EXPECT(!error, error, i);
    }
    for (int i = 0; i < N_BUFFERS; i++) {
        r->buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(int), NULL, &error);
        EXPECT(!error, error, i);
    }
    r->half = clCreateSubBuffer(r->buffers[D], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    EXPECT(!error, error, 0);
    r->quiet = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(int), NULL, &error);
    EXPECT(!error, error, 0);
    r->gate = clCreateUserEvent(context, &error);
    EXPECT(!error, error, 0);
    for (size_t i = 0; i < N_STEPS; i++) {
        r->steps[i].memory = malloc(N * sizeof(int));
        for (size_t k = 0; k < N; k++)
            r->steps[i].memory[k] = script[i].value;
    }
}

static void drop_built(struct built *b)
{
    clReleaseKernel(b->inc);
    clReleaseKernel(b->add);
    clReleaseProgram(b->program);
    clReleaseContext(b->context);
}

static void drop(struct run *r)
{
    for (size_t i = 0; i < N_STEPS; i++)
        if (r->steps[i].event)
            clReleaseEvent(r->steps[i].event);
    clReleaseEvent(r->quiet_event);
    clReleaseEvent(r->gate);
    clReleaseMemObject(r->half);
    clReleaseMemObject(r->quiet);
    for (int i = 0; i < N_BUFFERS; i++)
        clReleaseMemObject(r->buffers[i]);
    for (int i = 0; i < N_QUEUES; i++)
        if (r->queues[i])
            clReleaseCommandQueue(r->queues[i]);
    if (r->fresh)
        drop_built(&r->built);
    for (size_t i = 0; i < N_STEPS; i++)
        free(r->steps[i].memory);
}

/* The other member's own work, which nothing may disturb. */
static void work_quietly(struct run *r, bool last)
{
    const size_t n = N;
    int zero = 0;

    if (!last)
        EXPECT(!clEnqueueFillBuffer(r->queues[QUIET], r->quiet, &zero, sizeof zero, 0, N * sizeof(int), 0, NULL, NULL),
               0, 0);
    EXPECT(!clSetKernelArg(r->built.inc, 0, sizeof r->quiet, &r->quiet), 0, 0);
    for (int i = 0; i < 3; i++)
        EXPECT(!clEnqueueNDRangeKernel(r->queues[QUIET], r->built.inc, 1, NULL, &n, NULL, 0, NULL, NULL), 0, 0);
    if (last)
        EXPECT(!clEnqueueReadBuffer(r->queues[QUIET], r->quiet, CL_FALSE, 0, N * sizeof(int), r->quiet_memory, 0, NULL,
                                    &r->quiet_event),
               0, 0);
}

static cl_int launch(cl_command_queue queue, cl_kernel kernel, size_t n, cl_mem to, cl_mem from, cl_uint n_waits,
                     const cl_event *waits, cl_event *event)
{
    cl_int error = clSetKernelArg(kernel, 0, sizeof to, &to);

    EXPECT(!error, error, 0);
    if (from)
        EXPECT(!clSetKernelArg(kernel, 1, sizeof from, &from), 0, 0);
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, n_waits, waits, event);
}

static void enqueue(struct run *r, size_t i, cl_uint n, const cl_event *w)
{
    static const size_t origin[3], region[3] = {WIDTH * sizeof(int), N / WIDTH, 1};
    const size_t row = WIDTH * sizeof(int);
    const struct step *step = &script[i];
    struct done *d = &r->steps[i];
    cl_mem to = r->buffers[step->to], from = r->buffers[step->from];
    cl_command_queue q = r->queues[step->queue];
    size_t size = N * sizeof(int);
    cl_map_flags flags = step->kind == MAP_READ ? CL_MAP_READ : CL_MAP_WRITE_INVALIDATE_REGION;

    switch (step->kind) {
    case WRITE:
        d->error = clEnqueueWriteBuffer(q, to, CL_FALSE, 0, size, d->memory, n, w, &d->event);
        break;
    case INC:
        d->error = launch(q, r->built.inc, N, to, NULL, n, w, &d->event);
        break;
    case HALF_INC:
        d->error = launch(q, r->built.inc, HALF, r->half, NULL, n, w, &d->event);
        break;
    case ADD:
        d->error = launch(q, r->built.add, N, to, from, n, w, &d->event);
        break;
    case COPY:
        d->error = clEnqueueCopyBuffer(q, from, to, 0, 0, size, n, w, &d->event);
        break;
    case FILL:
        d->error = clEnqueueFillBuffer(q, to, &step->value, sizeof(int), 0, size, n, w, &d->event);
        break;
    case MAP_READ:
    case MAP_WRITE:
        d->map = clEnqueueMapBuffer(q, to, CL_FALSE, flags, 0, size, n, w, &d->event, &d->error);
        break;
    case BOX_WRITE:
        d->error = clEnqueueWriteBufferRect(q, to, CL_FALSE, origin, origin, region, row, 0, row, 0, d->memory, n, w,
                                            &d->event);
        break;
    case BOX_READ:
        d->error = clEnqueueReadBufferRect(q, to, CL_FALSE, origin, origin, region, row, 0, row, 0, d->memory, n, w,
                                           &d->event);
        break;
    case BOX_COPY:
        d->error = clEnqueueCopyBufferRect(q, from, to, origin, origin, region, row, 0, row, 0, n, w, &d->event);
        break;
    case READ:
        d->error = clEnqueueReadBuffer(q, to, CL_FALSE, 0, size, d->memory, n, w, &d->event);
        break;
    case MARKER:
        d->error = clEnqueueMarkerWithWaitList(q, n, w, &d->event);
        break;
    case SET:
        EXPECT(!clSetUserEventStatus(r->gate, CL_COMPLETE), i, 0);
        break;
    }
}

/* Maps are used and given back at once. */
static void use_map(struct run *r, size_t i)
{
    const struct step *step = &script[i];
    struct done *d = &r->steps[i];
    cl_event unmapped;
    cl_int error, status;

    if (d->error || !d->map)
        return;
    if (clWaitForEvents(1, &d->event) == CL_SUCCESS) {
        if (step->kind == MAP_READ)
            memcpy(d->memory, d->map, N * sizeof(int));
        else
            memcpy(d->map, d->memory, N * sizeof(int));
    }
    error = clEnqueueUnmapMemObject(r->queues[step->queue], r->buffers[step->to], d->map, 0, NULL, &unmapped);
    failed(r, error);
    if (error)
        return;
    clWaitForEvents(1, &unmapped);
    EXPECT(!clGetEventInfo(unmapped, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), i, 0);
    EXPECT(status <= 0, status, i);
    failed(r, status);
    clReleaseEvent(unmapped);
}

/* A step of another queue waits for the step before it. */
static void do_steps(struct run *r)
{
    const cl_event *before = NULL;
    enum queue last = S;

    for (size_t i = 0; i < N_STEPS; i++) {
        const struct step *step = &script[i];
        struct done *d = &r->steps[i];
        cl_event waits[2];
        cl_uint n = 0;

        if (!r->queues[step->queue]) {
            d->error = CL_INVALID_COMMAND_QUEUE;
            continue;
        }
        if (before && step->kind != SET && step->queue != last)
            waits[n++] = *before;
        if (step->gated)
            waits[n++] = r->gate;
        enqueue(r, i, n, n ? waits : NULL);
        failed(r, d->error);
        if (d->error)
            d->event = NULL;
        if (d->event) {
            before = &d->event;
            last = step->queue;
        }
        if (d->event && i % 3 == 0) {
            EXPECT(!clSetEventCallback(d->event, CL_COMPLETE, called, r), i, 0);
            r->n_asked++;
        }
        use_map(r, i);
        if (i == N_STEPS / 2)
            clFlush(r->queues[step->queue]);
    }
}

/* ---- What must have come of it ----------------------------------------------------------------------------------- */

static void look(struct run *r)
{
    size_t before = N_STEPS;

    for (int i = 0; i < N_QUEUES; i++)
        if (r->queues[i]) {
            cl_int error = clFinish(r->queues[i]);

            EXPECT(i != QUIET || !error, error, 0);
            failed(r, error);
        }
    for (size_t i = 0; i < N_STEPS; i++) {
        struct done *d = &r->steps[i];

        if (!d->event)
            continue;
        EXPECT(!clGetEventInfo(d->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof d->status, &d->status, NULL), i, 0);
        EXPECT(d->status <= CL_COMPLETE, d->status, i);
        failed(r, d->status);
        /* As the specification has it for wait lists (OpenCL 3.0, 5.11). */
        if (before < N_STEPS && script[before].queue != script[i].queue && r->steps[before].status < 0)
            EXPECT(d->status < 0, i, r->steps[before].status);
        before = i;
    }
    for (int i = 0; i < 2000 && atomic_load(&r->n_called) < r->n_asked; i++)
        usleep(1000);
    EXPECT(atomic_load(&r->n_called) == r->n_asked, atomic_load(&r->n_called), r->n_asked);
    EXPECT(!clWaitForEvents(1, &r->quiet_event), 0, 0);
    for (unsigned i = 0; i < N; i++)
        EXPECT(r->quiet_memory[i] == 6, r->quiet_memory[i], i);
}

static bool touches_from(enum kind kind)
{
    return kind == COPY || kind == BOX_COPY || kind == ADD;
}

static bool only_reads(enum kind kind)
{
    return kind == READ || kind == BOX_READ || kind == MAP_READ || kind == MARKER || kind == SET;
}

static struct cell after(const struct step *step, struct cell to, struct cell from, unsigned half)
{
    switch (step->kind) {
    case WRITE:
    case FILL:
    case BOX_WRITE:
    case MAP_WRITE:
        return (struct cell){true, step->value};
    case COPY:
    case BOX_COPY:
        return from;
    case ADD:
        return (struct cell){to.known && from.known, to.value + from.value};
    case INC:
        to.value++;
        return to;
    case HALF_INC:
        to.value += half;
        return to;
    default:
        return to;
    }
}

/* For who looks for what is wrong. */
static void show(const struct run *r)
{
    for (size_t i = 0; i < N_STEPS && getenv("SABOTAGE_SHOW"); i++)
        fprintf(stderr, "  step %zu: error %d, status %d, first int %d\n", i, r->steps[i].error, r->steps[i].status,
                r->steps[i].memory[0]);
}

static bool is_right(const struct run *r, const struct done *d, unsigned half, int value)
{
    bool right = true;

    for (unsigned k = half * HALF; k < (half + 1) * HALF && right; k++)
        right = d->memory[k] == value;
    if (!right)
        show(r);
    return right;
}

/* What was read must be right, where everything that leads to it was told to be done. */
static void judge(const struct run *r)
{
    struct cell cells[N_BUFFERS][2] = {{{false, 0}}};

    for (size_t i = 0; i < N_STEPS; i++) {
        const struct step *step = &script[i];
        const struct done *d = &r->steps[i];

        if (d->error || step->kind == SET || step->kind == MARKER)
            continue;
        for (unsigned half = 0; half < 2; half++) {
            struct cell *cell = &cells[step->to][half];

            if (d->status < 0 && !only_reads(step->kind)) {
                cell->known = false;
                /* Nobody has proven that a kernel leaves alone what it has as `const`. */
                if (step->kind == ADD)
                    cells[step->from][half].known = false;
            } else if (!only_reads(step->kind))
                *cell = after(step, *cell, cells[touches_from(step->kind) ? step->from : step->to][half], half);
            else if (d->status == CL_COMPLETE && cell->known)
                EXPECT(is_right(r, d, half, cell->value), i, cell->value);
        }
    }
}

/* Nothing but what there may be: no event; of the rest, contexts keep some queues. Polls, as fences and lanes go when
 * the last who holds them does. */
static void nothing_is_left(int most)
{
    int events = 1, left = 0;

    for (int i = 0; i < 20000; i++) {
        left = alive(&events);
        if (!events && left <= most)
            break;
        call_later();
        usleep(1000);
    }
    EXPECT(!events && left <= most, events, left);
}

static bool is_synchronous(void)
{
    return getenv("SABOTAGE_SYNCHRONOUS") != NULL;
}

static int left_now(void)
{
    int events;

    return alive(&events);
}

/* What an event told of by a number of its own was told in words, too; not of each command that a device was gone. */
static void hear(const struct run *r, int n_before)
{
    size_t own = N_STEPS;

    for (size_t i = 0; i < N_STEPS; i++)
        if (r->steps[i].event && r->steps[i].status < 0 &&
            r->steps[i].status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
            r->steps[i].status != CL_DEVICE_NOT_AVAILABLE)
            own = i;
    for (int i = 0; own < N_STEPS && i < 2000 && atomic_load(&n_reported) == n_before; i++)
        usleep(1000);
    EXPECT(own == N_STEPS || atomic_load(&n_reported) > n_before, own, n_before);
}

#define MANY 1000

/* With a context, a program and kernels of its own, or with what was built before. */
static void run_once(struct run *r, const struct built *built)
{
    int n_before;

    memset(r, 0, sizeof *r);
    r->fresh = !built;
    if (built)
        r->built = *built;
    else
        build(r);
    make(r);
    n_before = atomic_load(&n_reported);
    work_quietly(r, false);
    do_steps(r);
    work_quietly(r, true);
    look(r);
    hear(r, n_before);
    judge(r);
    drop(r);
    nothing_is_left(MANY);
}

/* ---- Parts, in processes of their own ---------------------------------------------------------------------------- */

static void find_functions(void)
{
    char path[512];
    void *library;

    snprintf(path, sizeof path, "%s/tests/sabotage-icd.so", build_folder());
    library = dlopen(path, RTLD_NOW | RTLD_NODELETE);
    EXPECT(library != NULL, 0, 0);
    *(void **)&sabotage = dlsym(library, "sabotage_fail");
    *(void **)&lose = dlsym(library, "sabotage_lose");
    *(void **)&stall = dlsym(library, "sabotage_stall");
    *(void **)&happened = dlsym(library, "sabotage_happened");
    *(void **)&calls = dlsym(library, "sabotage_calls");
    *(void **)&name_of = dlsym(library, "sabotage_name");
    *(void **)&alive = dlsym(library, "sabotage_alive");
    EXPECT(sabotage && lose && stall && happened && calls && name_of && alive, 0, 0);
}

static void find_members(void)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id members[2];
    cl_uint n = 0;

    EXPECT(!clCreateSubDevices(our_device(), by_member, 2, members, &n), n, 0);
    EXPECT(n == 2, n, 0);
    good = members[0];
    bad = members[1];
}

/* Runs fn in a process of its own; what it says comes first. */
static void in_child(void (*fn)(unsigned), unsigned arg)
{
    int status;
    pid_t child = fork();

    assert_return_code(child, 0);
    if (child == 0) {
        signal(SIGALRM, too_long);
        alarm(280); /* sanitizers and busy machines take their time */
        find_functions();
        fn(arg);
        _exit(0);
    }
    assert_return_code(waitpid(child, &status, 0), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The errors that calls and events may show besides the one that was made. */
static bool follows(cl_int error)
{
    return error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || error == CL_INVALID_PROGRAM_EXECUTABLE ||
           error == CL_BUILD_PROGRAM_FAILURE || error == CL_INVALID_COMMAND_QUEUE;
}

static void fail_at(struct run *r, const struct built *built, const char *function, unsigned n, cl_int error)
{
    snprintf(now, sizeof now, "%s, call %u fails with %d%s", function, n, error, built ? "" : ", of all");
    if (getenv("SABOTAGE_SHOW"))
        fprintf(stderr, "%s\n", now);
    sabotage(function, n, error);
    run_once(r, built);
    if (!happened())
        EXPECT(!r->n_failures, r->n_failures, r->first_error);
    if (r->n_failures)
        EXPECT(r->first_error == error || follows(r->first_error), r->first_error, 0);
    sabotage(NULL, 0, 0);
    strcat(now, ", afterwards");
    run_once(r, built);
    EXPECT(!r->n_failures, r->n_failures, r->first_error);
}

/* The n-th calls that are tried: the first few, and some later. */
static unsigned next_call(unsigned n)
{
    return n < 4 ? n + 1 : n * 2;
}

#define MAX_NAMES 128

/* How often each function is called in a run. */
static void count_calls(struct run *r, const struct built *built, unsigned *n)
{
    run_once(r, built);
    for (unsigned i = 0; name_of(i); i++)
        n[i] = calls(name_of(i));
    run_once(r, built);
    EXPECT(!r->n_failures, r->n_failures, r->first_error);
    for (unsigned i = 0; name_of(i); i++)
        n[i] = calls(name_of(i)) - n[i];
}

/* Work that fails, though its call succeeds. */
static void fail_work(struct run *r, const struct built *built, const char *function, unsigned most)
{
    char name[64];

    if (strncmp(function, "clEnqueue", 9) != 0)
        return;
    snprintf(name, sizeof name, "run:%s", function);
    for (unsigned n = 1; n <= most; n++)
        fail_at(r, built, name, n, CL_OUT_OF_RESOURCES);
}

static void fail_each(unsigned arg)
{
    struct run *r = malloc(sizeof *r);
    unsigned all[MAX_NAMES] = {0}, used[MAX_NAMES] = {0}, n_tried = 0;
    struct built built;

    (void)arg;
    find_members();
    memset(r, 0, sizeof *r);
    build(r);
    built = r->built;
    begin_later(built.context);
    call_later();
    strcpy(now, "nothing fails");
    count_calls(r, NULL, all);
    count_calls(r, &built, used);
    int after_first = left_now();
    for (unsigned i = 0; name_of(i); i++) {
        cl_int error = strstr(name_of(i), "Create") ? CL_OUT_OF_HOST_MEMORY : CL_OUT_OF_RESOURCES;

        n_tried += all[i] > 0;
        for (unsigned n = 1; n <= used[i]; n = next_call(n))
            fail_at(r, &built, name_of(i), n, error);
        fail_work(r, &built, name_of(i), used[i]);
        if (all[i] > used[i])
            for (unsigned n = 1; n <= all[i]; n = next_call(n))
                fail_at(r, NULL, name_of(i), n, error);
    }
    EXPECT(n_tried >= 25, n_tried, 0);
    strcpy(now, "in the end");
    end_later();
    drop_built(&built);
    /* The member's context; or, where something always waits to be released, no more than after the first run. */
    nothing_is_left(is_synchronous() ? after_first : 1);
    free(r);
}

static const struct {
    const char *function;
    unsigned n;
} losses[] = {
    {"clCreateCommandQueue", 2},
    {"clCreateBuffer", 2},
    {"clSetKernelArg", 1},
    {"clEnqueueWriteBuffer", 1},
    {"clEnqueueNDRangeKernel", 1},
    {"clEnqueueNDRangeKernel", 3},
    {"clEnqueueReadBuffer", 2},
    {"clEnqueueFillBuffer", 1},
    {"clFlush", 3},
    {"clWaitForEvents", 2},
    {"clGetEventInfo", 5},
    {"clGetEventInfo", 40},
    {"clSetEventCallback", 2},
    {"clReleaseEvent", 9},
    {"clBuildProgram", 1},
    {"clEnqueueMarkerWithWaitList", 2},
};

/* Lost in the middle of a run; the next one finds it lost. */
static void lose_device(unsigned i)
{
    struct run *r = malloc(sizeof *r);
    struct built built;

    find_members();
    memset(r, 0, sizeof *r);
    snprintf(now, sizeof now, "lost at %s, call %u", losses[i].function, losses[i].n);
    build(r);
    built = r->built;
    begin_later(built.context);
    call_later();
    run_once(r, &built);
    EXPECT(!r->n_failures, r->n_failures, r->first_error);
    lose(losses[i].function, losses[i].n);
    run_once(r, strcmp(losses[i].function, "clBuildProgram") ? &built : NULL);
    if (happened() && r->n_failures)
        EXPECT(r->first_error == CL_DEVICE_NOT_AVAILABLE || follows(r->first_error), r->first_error, 0);
    strcat(now, ", afterwards");
    if (happened()) {
        run_once(r, &built);
        EXPECT(r->n_failures > 0, 0, 0);
    }
    end_later();
    drop_built(&built);
    nothing_is_left(2); /* a queue may have to wait for a call that no more comes */
    free(r);
}

/* Without a context of the vendor's there is no such member, and all else is as ever. */
static void lose_at_open(unsigned arg)
{
    cl_uint n = 0;

    (void)arg;
    strcpy(now, "no context");
    sabotage("clCreateContext", 1, CL_OUT_OF_RESOURCES);
    EXPECT(!clCreateSubDevices(our_device(),
                               (const cl_device_partition_property[]){CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0}, 0, NULL,
                               &n),
           0, 0);
    EXPECT(happened() && n == 1, happened(), n);
}

/* Launches that don't begin hold up what waits for them, and nothing else. */
static void stand_still(unsigned arg)
{
    struct run *r = calloc(1, sizeof *r);
    int value = -1;
    cl_event event;
    cl_int status;

    (void)arg;
    find_members();
    strcpy(now, "standing still");
    r->fresh = true;
    build(r);
    make(r);
    EXPECT(!clSetUserEventStatus(r->gate, CL_COMPLETE), 0, 0);
    EXPECT(!clEnqueueFillBuffer(r->queues[S], r->buffers[A], &(int){7}, sizeof(int), 0, N * sizeof(int), 0, NULL, NULL),
           0, 0);
    EXPECT(!clFinish(r->queues[S]), 0, 0);
    stall(true);
    EXPECT(!launch(r->queues[S], r->built.inc, N, r->buffers[A], NULL, 0, NULL, &event), 0, 0);
    EXPECT(!clEnqueueReadBuffer(r->queues[S], r->buffers[A], CL_FALSE, 0, sizeof(int), &value, 0, NULL, NULL), 0, 0);
    EXPECT(!clFlush(r->queues[S]), 0, 0);
    work_quietly(r, false);
    work_quietly(r, true);
    EXPECT(!clFinish(r->queues[QUIET]), 0, 0);
    EXPECT(r->quiet_memory[N - 1] == 6, r->quiet_memory[N - 1], 0);
    EXPECT(happened(), 0, 0);
    EXPECT(!clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), 0, 0);
    EXPECT(status > CL_COMPLETE && value == -1, status, value);
    stall(false);
    EXPECT(!clFinish(r->queues[S]), 0, 0);
    EXPECT(value == 8, value, 0);
    clReleaseEvent(event);
    drop(r);
    nothing_is_left(1);
    free(r);
}

/* The vendor takes two slices of one image for one place: they are copied all the same. */
static void overlap_wrongly(unsigned arg)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    static const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 8, .image_height = 4, .image_array_size = 2};
    static const size_t first[3] = {0, 0, 0}, second[3] = {0, 0, 1}, slice[3] = {8, 4, 1}, all[3] = {8, 4, 2};
    cl_uint pixels[64], got[64];
    cl_bool has_images = CL_FALSE;
    cl_context context;
    cl_command_queue queue;
    cl_mem image;
    cl_int error;

    (void)arg;
    find_members();
    strcpy(now, "a wrong overlap");
    EXPECT(!clGetDeviceInfo(bad, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, NULL), 0, 0);
    if (!has_images)
        return;
    context = clCreateContext(NULL, 1, &bad, NULL, NULL, &error);
    EXPECT(!error, error, 0);
    queue = clCreateCommandQueue(context, bad, 0, &error);
    EXPECT(!error, error, 0);
    image = clCreateImage(context, 0, &format, &desc, NULL, &error);
    EXPECT(!error, error, 0);
    for (cl_uint i = 0; i < 64; i++)
        pixels[i] = i * 0x01030507;
    EXPECT(!clEnqueueWriteImage(queue, image, CL_TRUE, first, all, 0, 0, pixels, 0, NULL, NULL), 0, 0);
    sabotage("clEnqueueCopyImage", 1, CL_MEM_COPY_OVERLAP);
    EXPECT(!clEnqueueCopyImage(queue, image, image, first, second, slice, 0, NULL, NULL), 0, 0);
    EXPECT(!clEnqueueReadImage(queue, image, CL_TRUE, first, all, 0, 0, got, 0, NULL, NULL), 0, 0);
    EXPECT(happened(), 0, 0);
    EXPECT(!memcmp(got, pixels, sizeof got / 2) && !memcmp(got + 32, pixels, sizeof got / 2), got[32], pixels[0]);
    clReleaseMemObject(image);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static void the_device_is_lost(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH(losses) && !is_synchronous(); i++)
        in_child(lose_device, i);
    in_child(lose_at_open, 0);
}

static void the_device_stands_still(void **state)
{
    (void)state;
    if (!is_synchronous())
        in_child(stand_still, 0);
}

static void an_overlap_is_none(void **state)
{
    (void)state;
    in_child(overlap_wrongly, 0);
}

static void each_function_fails(void **state)
{
    (void)state;
    in_child(fail_each, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_is_lost),
        cmocka_unit_test(the_device_stands_still),
        cmocka_unit_test(an_overlap_is_none),
        cmocka_unit_test(each_function_fails),
    };

    return cmocka_run_group_tests_name("sabotage", tests, NULL, NULL);
}
