/* Callbacks that reach the application without a wait: that memory was destroyed, and how far a command is. */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TELLS_RUNNING=yes */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl TESELA_MEMBERS=opencl POCL_DEVICES=pthread TELLS_RUNNING=yes */
/* variant: turns TESELA_VENDORS={build}/vendors-pocl TESELA_MEMBERS=opencl,cpu POCL_DEVICES=pthread TESELA_POLICY=round-robin TELLS_RUNNING=yes */
/* any: */
#include "begin.h"

#include <stdatomic.h>
#include <unistd.h>

#define SIZE 4096

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel, long_kernel;

static int setup(void **state)
{
    const char *text = "kernel void add(global int *x) { x[get_global_id(0)]++; }\n"
                       "kernel void last(global int *x) {\n"
                       "  int v = x[0];\n"
                       "  for (int i = 0; i < 300000000; i++)\n    v = v * 1664525 + 1013904223;\n"
                       "  x[0] = v;\n}\n";
    cl_program program;
    cl_int error;

    (void)state;
    context = make_context();
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "add", &error);
    assert_int_equal(error, CL_SUCCESS);
    long_kernel = clCreateKernel(program, "last", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(long_kernel), CL_SUCCESS);
    return clReleaseContext(context);
}

/* Until the number is there, for 20 s at most. */
static void await(atomic_int *number, int wanted)
{
    for (unsigned ms = 0; atomic_load(number) != wanted && ms < 20000; ms++)
        usleep(1000);
    assert_int_equal(atomic_load(number), wanted);
}

/* ---- Memory that is gone ---- */

static void CL_CALLBACK gone(cl_mem mem, void *number)
{
    (void)mem;
    atomic_fetch_add((atomic_int *)number, 1);
}

static void use(cl_mem mem, unsigned how)
{
    static const cl_int seven = 7; /* read when nobody waits */
    size_t n = SIZE / sizeof(seven);

    if (how == 0) {
        assert_int_equal(clEnqueueFillBuffer(queue, mem, &seven, sizeof(seven), 0, SIZE, 0, NULL, NULL), CL_SUCCESS);
    } else if (how == 1) {
        assert_int_equal(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(seven), &seven, 0, NULL, NULL),
                         CL_SUCCESS);
    } else {
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof(mem), &mem), CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    }
}

/* As a program does that takes the memory back when it hears that nobody uses it: it flushes, and never waits. */
static void release_in_use(unsigned how, unsigned times, bool part)
{
    const cl_buffer_region all = {0, SIZE};
    static char lent[SIZE];
    atomic_int n_gone = 0;
    cl_int error;
    cl_mem whole = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, SIZE, lent, &error), mem = whole;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetMemObjectDestructorCallback(whole, gone, &n_gone), CL_SUCCESS);
    if (part) {
        mem = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &all, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clReleaseMemObject(whole), CL_SUCCESS);
    }
    for (unsigned i = 0; i < times; i++)
        use(mem, how);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    await(&n_gone, 1);
}

static void memory_is_gone_when_its_commands_are(void **state)
{
    const cl_command_queue_properties flags[] = {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        queue = make_queue(context, flags[i]);
        for (unsigned how = 0; how < 3; how++) {
            release_in_use(how, 1, false);
            release_in_use(how, 20, false);
            release_in_use(how, 3, true);
        }
        assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    }
}

/* ---- How far a command is ---- */

struct told {
    atomic_int n;
    cl_int status[8];
};

static void CL_CALLBACK tell(cl_event event, cl_int status, void *arg)
{
    struct told *told = arg;

    (void)event;
    told->status[told->n] = status;
    atomic_fetch_add(&told->n, 1);
}

static void ask(cl_event event, cl_int when, struct told *told)
{
    assert_int_equal(clSetEventCallback(event, when, tell, told), CL_SUCCESS);
}

/* It may be set by whoever hears that it is submitted. */
static void a_user_event_is_submitted_at_once(void **state)
{
    struct told told = {0};
    cl_event event = make_user_event(context);

    (void)state;
    ask(event, CL_COMPLETE, &told);
    ask(event, CL_SUBMITTED, &told);
    await(&told.n, 1);
    assert_int_equal(told.status[0], CL_SUBMITTED);
    assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
    await(&told.n, 2);
    assert_int_equal(told.status[1], CL_COMPLETE);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
}

/* It is submitted when it was flushed and nothing holds it, and that is told before it is complete. */
static void a_command_is_submitted_before_it_is_complete(void **state)
{
    struct told told = {0};
    const cl_int seven = 7;
    cl_event gate = make_user_event(context), event;
    cl_mem mem = make_buffer(context, CL_MEM_READ_WRITE, SIZE);

    (void)state;
    queue = make_queue(context, 0);
    assert_int_equal(clEnqueueFillBuffer(queue, mem, &seven, sizeof(seven), 0, SIZE, 1, &gate, &event), CL_SUCCESS);
    ask(event, CL_COMPLETE, &told);
    ask(event, CL_RUNNING, &told);
    ask(event, CL_SUBMITTED, &told);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    usleep(20000);
    assert_int_equal(told.n, 0);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    await(&told.n, 3);
    for (cl_int i = 0; i < 3; i++)
        assert_int_equal(told.status[i], CL_SUBMITTED - i);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static atomic_int door;

static void CL_CALLBACK wait_at_door(void *unused)
{
    (void)unused;
    for (unsigned ms = 0; !atomic_load(&door) && ms < 20000; ms++)
        usleep(1000);
}

/* Something long is before it. */
static void flushing_tells_of_it(void **state)
{
    struct told told = {0};
    const cl_int seven = 7;
    cl_event last;
    cl_mem mem = make_buffer(context, CL_MEM_READ_WRITE, SIZE);

    (void)state;
    queue = make_queue(context, 0);
    atomic_store(&door, 0);
    assert_int_equal(clEnqueueNativeKernel(queue, wait_at_door, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueFillBuffer(queue, mem, &seven, sizeof(seven), 0, SIZE, 0, NULL, &last), CL_SUCCESS);
    ask(last, CL_SUBMITTED, &told);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    await(&told.n, 1);
    ask(last, CL_SUBMITTED, &told);
    await(&told.n, 2);
    assert_int_equal(told.status[1], CL_SUBMITTED);
    atomic_store(&door, 1);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

/* Nobody flushes, and it is told all the same. */
static void what_is_begun_is_submitted(void **state)
{
    struct told told = {0};
    cl_event event;

    (void)state;
    queue = make_queue(context, 0);
    atomic_store(&door, 0);
    assert_int_equal(clEnqueueNativeKernel(queue, wait_at_door, NULL, 0, 0, NULL, NULL, 0, NULL, &event), CL_SUCCESS);
    ask(event, CL_SUBMITTED, &told);
    await(&told.n, 1);
    atomic_store(&door, 1);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                     CL_SUCCESS);
    return status;
}

/* Who is told that a command runs isn't alone with it. */
static void what_runs_is_told(void **state)
{
    struct told told = {0};
    const size_t one = 1;
    bool in_time = false;
    cl_event event;
    cl_mem mem = make_buffer(context, CL_MEM_READ_WRITE, SIZE);

    (void)state;
    queue = make_queue(context, 0);
    assert_int_equal(clSetKernelArg(long_kernel, 0, sizeof(mem), &mem), CL_SUCCESS);
    for (unsigned i = 0; i < 10 && !in_time; i++) { /* The first time it is compiled, too, and the machine is busy. */
        told.n = 0;
        assert_int_equal(clEnqueueNDRangeKernel(queue, long_kernel, 1, NULL, &one, NULL, 0, NULL, &event), CL_SUCCESS);
        ask(event, CL_RUNNING, &told);
        while (status_of(event) > CL_RUNNING)
            usleep(1000);
        await(&told.n, 1); /* where none tells that it runs, after the end */
        in_time = status_of(event) == CL_RUNNING;
        assert_int_equal(told.status[0], CL_RUNNING);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        assert_int_equal(told.n, 1);
        assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    }
    if (!in_time)
        print_message("these members tell of the end of work alone\n");
    assert_true(in_time || !getenv("TELLS_RUNNING"));
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

struct asked {
    atomic_int n;
    cl_int error, status;
    cl_ulong end;
};

static void CL_CALLBACK ask_the_event(cl_event event, cl_int status, void *arg)
{
    struct asked *asked = arg;
    size_t size = sizeof(asked->end);

    asked->error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(cl_int), &asked->status, NULL);
    if (!asked->error && status == CL_COMPLETE)
        asked->error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, size, &asked->end, NULL);
    if (!asked->error)
        asked->error = clRetainEvent(event);
    if (!asked->error)
        asked->error = clReleaseEvent(event);
    atomic_fetch_add(&asked->n, 1);
}

/* As programs do that give the event up when they have set the callback, which then asks for times. */
static void a_callback_has_its_event(void **state)
{
    static const cl_int when[] = {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE};
    struct asked asked[3] = {{.error = 1}, {.error = 1}, {.error = 1}};
    const cl_int seven = 7;
    cl_event event;
    cl_mem mem = make_buffer(context, CL_MEM_READ_WRITE, SIZE);

    (void)state;
    queue = make_queue(context, CL_QUEUE_PROFILING_ENABLE);
    assert_int_equal(clEnqueueFillBuffer(queue, mem, &seven, sizeof(seven), 0, SIZE, 0, NULL, &event), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(clSetEventCallback(event, when[i], ask_the_event, &asked[i]), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        await(&asked[i].n, 1);
        assert_int_equal(asked[i].error, CL_SUCCESS);
    }
    assert_int_equal(asked[2].status, CL_COMPLETE);
    assert_true(asked[2].end > 0);
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void CL_CALLBACK give_up(cl_event event, cl_int status, void *number)
{
    (void)status;
    if (clReleaseEvent(event) == CL_SUCCESS)
        atomic_fetch_add((atomic_int *)number, 1);
}

/* It may come, and end the event, while it is being set. */
static void a_callback_may_release_its_event(void **state)
{
    static const cl_int seven = 7;
    enum { N = 500 };
    atomic_int n = 0;
    cl_event event;
    cl_mem mem = make_buffer(context, CL_MEM_READ_WRITE, SIZE);

    (void)state;
    queue = make_queue(context, 0);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(clEnqueueFillBuffer(queue, mem, &seven, sizeof(seven), 0, SIZE, 0, NULL, &event), CL_SUCCESS);
        assert_int_equal(clSetEventCallback(event, i % 2 ? CL_COMPLETE : CL_SUBMITTED, give_up, &n), CL_SUCCESS);
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    await(&n, N);
    assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void CL_CALLBACK ask_the_program(cl_program program, void *arg)
{
    struct asked *asked = arg;

    asked->error =
        clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_STATUS, sizeof(cl_int), &asked->status, NULL);
    atomic_fetch_add(&asked->n, 1);
}

static void a_build_tells_of_a_program(void **state)
{
    const char *text = "kernel void none(global int *x) { x[0] = 1; }";
    struct asked asked = {.error = 1};
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", ask_the_program, &asked), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    await(&asked.n, 1);
    assert_int_equal(asked.error, CL_SUCCESS);
    assert_int_equal(asked.status, CL_BUILD_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_gone_when_its_commands_are, setup, teardown),
        cmocka_unit_test_setup_teardown(a_user_event_is_submitted_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_command_is_submitted_before_it_is_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(flushing_tells_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_begun_is_submitted, setup, teardown),
        cmocka_unit_test_setup_teardown(what_runs_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_callback_has_its_event, setup, teardown),
        cmocka_unit_test_setup_teardown(a_callback_may_release_its_event, setup, teardown),
        cmocka_unit_test_setup_teardown(a_build_tells_of_a_program, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
