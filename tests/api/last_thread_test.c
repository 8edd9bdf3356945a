/* A process whose main thread ended by pthread_exit ends with the last thread of the application's, and not before.
 * What that thread's stack alone led to is no leak. */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
#include "begin.h"
#include "child.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;

static void begin(void)
{
    const char *text = "kernel void add(global int *x) { x[get_global_id(0)]++; }";
    cl_program program;
    cl_mem buffer;

    context = make_context();
    queue = make_queue(context, 0);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, 256);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    must(clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == CL_SUCCESS);
    kernel = clCreateKernel(program, "add", NULL);
    must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS);
}

static cl_event launch(cl_event after)
{
    const size_t n = 64;
    cl_event event;

    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, after != NULL, after ? &after : NULL, &event) ==
         CL_SUCCESS);
    must(clFlush(queue) == CL_SUCCESS);
    return event;
}

static void start(void *(*run)(void *), void *arg)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, run, arg) == 0);
}

static void nobody_is_left(void)
{
    begin();
    launch(NULL);
    must(clFinish(queue) == CL_SUCCESS);
    pthread_exit(NULL);
}

static void *work_on(void *unused)
{
    usleep(400000);
    launch(NULL);
    must(clFinish(queue) == CL_SUCCESS);
    exit(5);
    return unused;
}

static void another_works_on(void)
{
    begin();
    start(work_on, NULL);
    pthread_exit(NULL);
}

static void *work_shortly(void *unused)
{
    usleep(200000);
    launch(NULL);
    return unused;
}

static void another_ends_later(void)
{
    begin();
    start(work_shortly, NULL);
    pthread_exit(NULL);
}

static void CL_CALLBACK end_as_told(cl_event event, cl_int status, void *unused)
{
    (void)event;
    (void)status;
    (void)unused;
    usleep(700000);
    _exit(6);
}

static void *let_go(void *event)
{
    usleep(200000);
    must(clSetUserEventStatus(event, CL_COMPLETE) == CL_SUCCESS);
    return NULL;
}

/* What is under way, and its callback, go on with no thread of the application's. */
static void a_callback_is_to_come(void)
{
    begin();
    cl_event gate = clCreateUserEvent(context, NULL);
    must(clSetEventCallback(launch(gate), CL_COMPLETE, end_as_told, NULL) == CL_SUCCESS);
    start(let_go, gate);
    pthread_exit(NULL);
}

static void *take_signals(void *signals)
{
    int number = 0;

    usleep(400000);
    kill(getpid(), SIGTERM);
    must(sigwait(signals, &number) == 0);
    exit(number == SIGTERM ? 8 : 9);
}

/* A thread that waits for signals has them blocked as ours have. */
static void another_waits_for_signals(void)
{
    static sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    begin();
    start(take_signals, &all);
    pthread_exit(NULL);
}

static void what_never_ends(void)
{
    const struct itimerval second = {.it_value = {1, 0}};

    begin();
    launch(clCreateUserEvent(context, NULL));
    setitimer(ITIMER_REAL, &second, NULL);
    pthread_exit(NULL);
}

static void it_ends_by_itself(void **state)
{
    (void)state;
    assert_int_equal(ending(nobody_is_left), 0);
    assert_int_equal(ending(another_ends_later), 0);
}

static void it_goes_on_while_anything_does(void **state)
{
    (void)state;
    assert_int_equal(ending(another_works_on), 5);
    assert_int_equal(ending(a_callback_is_to_come), 6);
    assert_int_equal(ending(another_waits_for_signals), 8);
}

static void a_signal_ends_it(void **state)
{
    (void)state;
    assert_int_equal(ending(what_never_ends), 1000 + SIGALRM);
}

/* ThreadSanitizer's runtime has a thread of its own, which stays: with it no process ends by its last thread. */
#ifdef __SANITIZE_THREAD__
#define SANITIZER_STAYS 1
#else
#define SANITIZER_STAYS 0
#endif

int main(void)
{
    if (SANITIZER_STAYS) {
        puts("not with ThreadSanitizer, whose own thread never ends");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_by_itself),
        cmocka_unit_test(it_goes_on_while_anything_does),
        cmocka_unit_test(a_signal_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
