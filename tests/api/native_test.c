/*
 * Native kernels are asynchronous host tasks: the call returns before they run, and while one runs, everything that
 * doesn't depend on it goes on, including the host's own copies.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: own_memory TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* any: */
#include "begin.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { n_ints = 256, size = n_ints * sizeof(cl_int) };

static cl_context context;
static cl_command_queue queue, other;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    other = make_queue(context, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseCommandQueue(other) || clReleaseContext(context);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static sem_t begun, may_end;
static pthread_t caller;
static atomic_bool enqueues; /* the caller is inside clEnqueueNativeKernel */
static atomic_int n_ends;

struct task {
    cl_int *buffer; /* put there by Tesela */
    cl_int add;
};

static void CL_CALLBACK long_task(void *args)
{
    const struct task *task = args;

    sem_post(&begun);
    sem_wait(&may_end);
    for (int i = 0; i < n_ints; i++)
        task->buffer[i] += task->add;
    atomic_fetch_add(&n_ends, 1);
}

static void CL_CALLBACK tell_thread(void *args)
{
    const struct task *task = args;

    *task->buffer = !pthread_equal(pthread_self(), caller) || !atomic_load(&enqueues);
}

static cl_int enqueue(cl_command_queue in, void(CL_CALLBACK *fn)(void *), cl_mem buffer, cl_int add, cl_event *event)
{
    struct task task = {NULL, add};
    const void *location = &task.buffer;

    return clEnqueueNativeKernel(in, fn, &task, sizeof task, 1, &buffer, &location, 0, NULL, event);
}

static cl_kernel make_kernel(cl_program *program)
{
    const char *source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }";
    cl_kernel kernel;
    cl_int error;

    *program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(*program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(*program, "twice", &error);
    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

static void twice(cl_command_queue in, cl_kernel kernel, cl_mem buffer)
{
    const size_t n = n_ints;

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(in, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
}

static void assert_all(cl_command_queue in, cl_mem buffer, cl_int expected)
{
    cl_int values[n_ints];

    assert_int_equal(clEnqueueReadBuffer(in, buffer, CL_TRUE, 0, size, values, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(values[i], expected);
}

static cl_mem make_filled(cl_int value)
{
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, size);

    assert_int_equal(clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, size, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    return buffer;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* If the call, or what follows, waited for the task, this would never end. */
static void others_go_on_beside_a_task(void **state)
{
    cl_int value = 5, values[n_ints], status;
    cl_mem mine = make_filled(1), free_one = make_filled(3);
    cl_program program;
    cl_kernel kernel = make_kernel(&program);
    cl_event event;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 0);
    assert_int_equal(enqueue(queue, long_task, mine, 10, &event), CL_SUCCESS);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    sem_wait(&begun);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                     CL_SUCCESS);
    assert_true(status > CL_COMPLETE);
    /* In the same queue, behind the task, what doesn't touch its buffer; and in another. */
    twice(queue, kernel, free_one);
    twice(other, kernel, free_one);
    for (int i = 0; i < n_ints; i++)
        values[i] = value;
    assert_int_equal(clEnqueueWriteBuffer(other, free_one, CL_TRUE, 0, size, values, 0, NULL, NULL), CL_SUCCESS);
    assert_all(other, free_one, 5);
    twice(other, kernel, free_one);
    assert_int_equal(clFinish(other), CL_SUCCESS);
    assert_all(other, free_one, 10);
    assert_int_equal(atomic_load(&n_ends), 0);
    /* What does touch it waits, in order. */
    twice(queue, kernel, mine);
    sem_post(&may_end);
    assert_all(queue, mine, 22);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseEvent(event);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(mine);
    clReleaseMemObject(free_one);
}

/* A thread that waits for the task may run it. */
static void a_task_is_no_work_of_the_call(void **state)
{
    cl_mem buffer = make_filled(0);

    (void)state;
    caller = pthread_self();
    for (int i = 0; i < 50; i++) {
        cl_int found = 0;

        atomic_store(&enqueues, true);
        assert_int_equal(enqueue(queue, tell_thread, buffer, 0, NULL), CL_SUCCESS);
        atomic_store(&enqueues, false);
        if (i % 2)
            assert_int_equal(clFinish(queue), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, &found, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(found, 1);
    }
    clReleaseMemObject(buffer);
}

/* ---- The application's memory ---- */

static cl_int memory[n_ints];
static cl_int seen;

static void CL_CALLBACK write_words(void *args)
{
    (void)args;
    usleep(100000);
    for (int i = 0; i < n_ints; i++)
        memory[i] = 7;
}

static void CL_CALLBACK look_at_words(void *args)
{
    (void)args;
    seen = memory[n_ints - 1];
}

static void without_a_buffer(void(CL_CALLBACK *fn)(void *))
{
    assert_int_equal(clEnqueueNativeKernel(queue, fn, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_SUCCESS);
}

/* A task names no memory but buffers: in an in-order queue it comes after what reads and writes the application's, and
 * before what does so behind it. */
static void tasks_keep_their_turn(void **state)
{
    const cl_int nothing[n_ints] = {0};
    cl_mem buffer = make_filled(1), named = make_filled(0);
    cl_program program;
    cl_kernel kernel = make_kernel(&program);

    (void)state;
    memset(memory, 0, sizeof memory);
    without_a_buffer(write_words);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    twice(queue, kernel, buffer);
    without_a_buffer(write_words);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    without_a_buffer(look_at_words);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(seen, 14);
    /* The same where the task names a buffer that has nothing to do with it. */
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, nothing, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < 20; i++)
        twice(queue, kernel, buffer);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(enqueue(queue, look_at_words, named, 0, NULL), CL_SUCCESS);
    assert_int_equal(enqueue(queue, write_words, named, 0, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    assert_all(queue, buffer, 7);
    assert_int_equal(seen, 0);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseMemObject(named);
}

static void CL_CALLBACK write_there(void *args)
{
    cl_int *there;

    memcpy(&there, args, sizeof there);
    usleep(100000);
    for (int i = 0; i < n_ints; i++)
        there[i] = 42;
}

static void CL_CALLBACK look_there(void *args)
{
    cl_int *there;

    memcpy(&there, args, sizeof there);
    seen = there[n_ints - 1];
}

static void at(void(CL_CALLBACK *fn)(void *), cl_int *there, cl_uint n_wait, const cl_event *wait)
{
    assert_int_equal(clEnqueueNativeKernel(queue, fn, &there, sizeof there, 0, NULL, NULL, n_wait, wait, NULL),
                     CL_SUCCESS);
}

/* What is mapped, or lent to a buffer, a task may write until it is unmapped, or written by a command, behind it. */
static void tasks_write_what_is_mapped(void **state)
{
    _Alignas(4096) static cl_int lent[1024];
    cl_int error;
    cl_mem buffer = make_filled(1), named = make_filled(0);
    cl_mem own = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof lent, lent, &error);
    cl_program program;
    cl_kernel kernel = make_kernel(&program);
    cl_int *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);

    (void)state;
    at(write_there, mapped, 0, NULL);
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
    twice(queue, kernel, buffer);
    assert_all(queue, buffer, 84);
    at(write_there, lent, 0, NULL);
    assert_int_equal(clEnqueueWriteBuffer(queue, own, CL_FALSE, 0, size, lent, 0, NULL, NULL), CL_SUCCESS);
    twice(queue, kernel, own);
    assert_all(queue, own, 84);
    /* A map's bytes are there when the task is. */
    twice(queue, kernel, buffer);
    mapped = clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_READ, 0, size, 0, NULL, NULL, &error);
    const void *location = NULL;
    struct {
        cl_int *there;
        void *slot;
    } args = {mapped, NULL};
    location = &args.slot;
    assert_int_equal(clEnqueueNativeKernel(queue, look_there, &args, sizeof args, 1, &named, &location, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
    twice(queue, kernel, buffer);
    assert_all(queue, buffer, 336);
    assert_int_equal(seen, 168);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseMemObject(named);
    clReleaseMemObject(own);
}

static cl_event task_in_other(cl_int *there)
{
    cl_event event;

    assert_int_equal(clEnqueueNativeKernel(other, write_there, &there, sizeof there, 0, NULL, NULL, 0, NULL, &event),
                     CL_SUCCESS);
    return event;
}

/* An in-order queue that waited for another's task once is behind it from then on, whatever waits for what between. */
static void tasks_of_another_queue(void **state)
{
    cl_mem buffer = make_filled(1), between = make_filled(1);
    const size_t n = n_ints;
    cl_program program;
    cl_kernel kernel = make_kernel(&program);
    cl_event task, kernels;
    cl_int error, *mapped;

    (void)state;
    memset(memory, 0, sizeof memory);
    task = task_in_other(memory);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &task, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    assert_all(queue, buffer, 42);
    clReleaseEvent(task);
    mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
    memset(mapped, 0, size);
    task = task_in_other(mapped);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof between, &between), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 1, &task, &kernels), CL_SUCCESS);
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, mapped, 1, &kernels, NULL), CL_SUCCESS);
    twice(queue, kernel, buffer);
    assert_all(queue, buffer, 84);
    clReleaseEvent(task);
    clReleaseEvent(kernels);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseMemObject(between);
}

/* One that doesn't run, as what it waits for failed, hides no other. */
static void a_task_that_fails_hides_no_other(void **state)
{
    cl_mem buffer = make_filled(1);
    cl_event failed = make_user_event(context);

    (void)state;
    memset(memory, 0, sizeof memory);
    assert_int_equal(clSetUserEventStatus(failed, -5), CL_SUCCESS);
    at(write_there, memory, 0, NULL);
    at(look_there, memory, 1, &failed);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL), CL_SUCCESS);
    clFinish(queue);
    assert_all(queue, buffer, 42);
    clReleaseEvent(failed);
    clReleaseMemObject(buffer);
}

/* ---- At the same time -------------------------------------------------------------------------------------------- */

/* What a kernel and a task tell each other, in memory that both use as it is. */
enum { TASK_RUNS, KERNEL_RUNS, KERNEL_SAW, n_words };

struct meeting {
    atomic_int *words;
    bool *met;
};

static void CL_CALLBACK meet(void *args)
{
    const struct meeting *meeting = args;
    time_t end = time(NULL) + 30;

    while (!atomic_load(&meeting->words[KERNEL_RUNS]) && time(NULL) < end)
        usleep(100);
    *meeting->met = atomic_load(&meeting->words[KERNEL_RUNS]);
    atomic_store(&meeting->words[TASK_RUNS], 1);
}

/* Neither ends before the other has begun. */
static void a_task_runs_while_a_kernel_does(void **state)
{
    const char *source = "kernel void meet(volatile global int *words, ulong tries) {\n"
                         "    atomic_xchg(&words[1], 1);\n"
                         "    for (ulong i = 0; i < tries && !words[2]; i++) words[2] = atomic_add(&words[0], 0); }";
    _Alignas(4096) static atomic_int words[1024];
    const size_t one = 1;
    cl_ulong tries = 4000000000;
    bool met = false;
    struct meeting meeting = {words, &met};
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    cl_int error;

    (void)state;
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "meet", &error);
    buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof words, words, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof tries, &tries), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(other, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFlush(other), CL_SUCCESS);
    assert_int_equal(clEnqueueNativeKernel(queue, meet, &meeting, sizeof meeting, 0, NULL, NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clFinish(other), CL_SUCCESS);
    assert_true(met);
    assert_int_equal(atomic_load(&words[KERNEL_SAW]), 1);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* Two tasks wait for each other: run one after the other, the first would wait in vain. */
struct encounter {
    sem_t *mine, *others;
    atomic_int *n_met;
};

static void CL_CALLBACK meet_other(void *args)
{
    const struct encounter *encounter = args;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    sem_post(encounter->mine);
    atomic_fetch_add(encounter->n_met, sem_timedwait(encounter->others, &until) == 0);
}

static void meet_in(cl_command_queue a, cl_command_queue b)
{
    cl_command_queue queues[] = {a, b};
    atomic_int n_met = 0;
    sem_t sems[2];

    for (int i = 0; i < 2; i++)
        sem_init(&sems[i], 0, 0);
    for (int i = 0; i < 2; i++) {
        struct encounter encounter = {&sems[i], &sems[1 - i], &n_met};

        assert_int_equal(
            clEnqueueNativeKernel(queues[i], meet_other, &encounter, sizeof encounter, 0, NULL, NULL, 0, NULL, NULL),
            CL_SUCCESS);
        assert_int_equal(clFlush(queues[i]), CL_SUCCESS);
    }
    assert_int_equal(clFinish(a), CL_SUCCESS);
    assert_int_equal(clFinish(b), CL_SUCCESS);
    assert_int_equal(atomic_load(&n_met), 2);
    for (int i = 0; i < 2; i++)
        sem_destroy(&sems[i]);
}

static void tasks_of_two_queues_run_at_once(void **state)
{
    (void)state;
    meet_in(queue, other);
}

static void unordered_tasks_run_at_once(void **state)
{
    cl_command_queue unordered = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

    (void)state;
    meet_in(unordered, unordered);
    clReleaseCommandQueue(unordered);
}

static atomic_int n_now, n_most, n_ran;

static void CL_CALLBACK count_now(void *args)
{
    int now = atomic_fetch_add(&n_now, 1) + 1, most = atomic_load(&n_most);

    (void)args;
    while (now > most && !atomic_compare_exchange_weak(&n_most, &most, now))
        continue;
    usleep(2000);
    atomic_fetch_sub(&n_now, 1);
    atomic_fetch_add(&n_ran, 1);
}

/* As many at a time as the machine has processors, two at least; in an in-order queue one after the other. */
static void so_many_tasks_run_at_once(void **state)
{
    cl_command_queue unordered = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_command_queue queues[] = {queue, unordered};
    long n = sysconf(_SC_NPROCESSORS_ONLN), most[] = {1, n > 2 ? n : 2};

    (void)state;
    for (int q = 0; q < 2; q++) {
        atomic_store(&n_most, 0);
        atomic_store(&n_ran, 0);
        for (int i = 0; i < 40; i++)
            assert_int_equal(clEnqueueNativeKernel(queues[q], count_now, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
                             CL_SUCCESS);
        assert_int_equal(clFinish(queues[q]), CL_SUCCESS);
        assert_int_equal(atomic_load(&n_ran), 40);
        assert_in_range(atomic_load(&n_most), 1, most[q]);
    }
    clReleaseCommandQueue(unordered);
}

/* Those that change the same buffer take turns, whatever queue they are in. */
static void tasks_on_one_buffer_take_turns(void **state)
{
    cl_command_queue unordered = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffer = make_filled(0);

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 20);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(enqueue(unordered, long_task, buffer, 1, NULL), CL_SUCCESS);
        assert_int_equal(enqueue(other, long_task, buffer, 1, NULL), CL_SUCCESS);
    }
    assert_int_equal(clFinish(unordered), CL_SUCCESS);
    assert_int_equal(clFinish(other), CL_SUCCESS);
    assert_all(queue, buffer, 20);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(unordered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_go_on_beside_a_task),      cmocka_unit_test(a_task_is_no_work_of_the_call),
        cmocka_unit_test(tasks_keep_their_turn),           cmocka_unit_test(tasks_write_what_is_mapped),
        cmocka_unit_test(tasks_of_another_queue),          cmocka_unit_test(a_task_that_fails_hides_no_other),
        cmocka_unit_test(tasks_of_two_queues_run_at_once), cmocka_unit_test(unordered_tasks_run_at_once),
        cmocka_unit_test(so_many_tasks_run_at_once),       cmocka_unit_test(tasks_on_one_buffer_take_turns),
    };
    const struct CMUnitTest on_the_processors[] = {cmocka_unit_test(a_task_runs_while_a_kernel_does)};
    const char *members = getenv("TESELA_MEMBERS");

    /* Elsewhere kernels and tasks need not see each other's memory while they run. */
    if (members && strcmp(members, "cpu") == 0 && cmocka_run_group_tests(on_the_processors, setup, teardown))
        return 1;
    return cmocka_run_group_tests(tests, setup, teardown);
}
