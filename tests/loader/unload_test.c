/*
 * Programs that open the OpenCL loader themselves and close it again, as plug-ins do: with nothing left, with
 * everything left alive and under way, many times, and before the program ends. This test isn't linked with the loader,
 * so that closing it really takes it away (Tesela itself stays: its threads may be at work). Nobody looks for leaks
 * here: the loader's own lists are left over at each closing.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread TESELA_POLICY=round-robin ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none LOADER_GOES=yes ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none LOADER_GOES=yes ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: beside TESELA_VENDORS={build}/vendors ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* timeout: 120 */
#include "child.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { size = 64 << 10, n_rounds = 20, n_threads = 8 };

/* The calls that the test needs, as the loader has them. */
#define CALLS(X)             \
    X(clGetPlatformIDs)      \
    X(clGetPlatformInfo)     \
    X(clGetDeviceIDs)        \
    X(clCreateContext)       \
    X(clCreateCommandQueue)  \
    X(clCreateBuffer)        \
    X(clCreateUserEvent)     \
    X(clSetUserEventStatus)  \
    X(clSetEventCallback)    \
    X(clEnqueueFillBuffer)   \
    X(clEnqueueReadBuffer)   \
    X(clFlush)               \
    X(clFinish)              \
    X(clReleaseEvent)        \
    X(clReleaseMemObject)    \
    X(clReleaseCommandQueue) \
    X(clReleaseContext)

#define MEMBER(name) __typeof__(&name) name;
struct loader {
    void *handle;
    CALLS(MEMBER)
};

static struct loader open_loader(void)
{
    struct loader loader = {.handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)};

    must(loader.handle);
#define LOOK_UP(name)                                     \
    *(void **)&loader.name = dlsym(loader.handle, #name); \
    must(loader.name);
    CALLS(LOOK_UP)
    return loader;
}

static void close_loader(const struct loader *loader)
{
    const char *goes = getenv("LOADER_GOES");

    must(dlclose(loader->handle) == 0);
    /* Some vendors hold the loader themselves. */
    must(!goes || !dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD));
}

struct things {
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer;
    cl_event user;
};

static cl_device_id our_device(const struct loader *cl)
{
    cl_platform_id platforms[16];
    cl_device_id device = NULL;
    cl_uint n = 0;
    char name[64] = "";

    must(cl->clGetPlatformIDs(16, platforms, &n) == CL_SUCCESS);
    for (cl_uint i = 0; i < n && strcmp(name, "Tesela"); i++) {
        must(cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) == CL_SUCCESS);
        must(cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS);
    }
    must(!strcmp(name, "Tesela"));
    return device;
}

static struct things make(const struct loader *cl)
{
    cl_device_id device = our_device(cl);
    struct things t = {.context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, NULL)};

    t.queue = cl->clCreateCommandQueue(t.context, device, 0, NULL);
    t.buffer = cl->clCreateBuffer(t.context, CL_MEM_READ_WRITE, size, NULL, NULL);
    t.user = cl->clCreateUserEvent(t.context, NULL);
    must(t.context && t.queue && t.buffer && t.user);
    return t;
}

static void use(const struct loader *cl, const struct things *t)
{
    unsigned char byte = 0;

    must(cl->clEnqueueFillBuffer(t->queue, t->buffer, "x", 1, 0, size, 0, NULL, NULL) == CL_SUCCESS);
    must(cl->clEnqueueReadBuffer(t->queue, t->buffer, CL_TRUE, size - 1, 1, &byte, 0, NULL, NULL) == CL_SUCCESS);
    must(byte == 'x');
}

static atomic_uint n_called;

static void CL_CALLBACK count(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)status, (void)arg;
    n_called++;
}

/* Work behind the user event, and a callback owed. */
static void start(const struct loader *cl, const struct things *t)
{
    cl_event behind;

    must(cl->clEnqueueFillBuffer(t->queue, t->buffer, "y", 1, 0, size, 1, &t->user, &behind) == CL_SUCCESS);
    must(cl->clSetEventCallback(behind, CL_COMPLETE, count, NULL) == CL_SUCCESS);
    must(cl->clFlush(t->queue) == CL_SUCCESS);
    must(cl->clReleaseEvent(behind) == CL_SUCCESS);
}

static void release(const struct loader *cl, const struct things *t)
{
    must(cl->clSetUserEventStatus(t->user, CL_COMPLETE) == CL_SUCCESS);
    must(cl->clReleaseEvent(t->user) == CL_SUCCESS);
    must(cl->clReleaseMemObject(t->buffer) == CL_SUCCESS);
    must(cl->clReleaseCommandQueue(t->queue) == CL_SUCCESS);
    must(cl->clReleaseContext(t->context) == CL_SUCCESS);
}

/* ---- Ways to close it -------------------------------------------------------------------------------------------- */

static void with_nothing_left(void)
{
    for (int i = 0; i < n_rounds; i++) {
        struct loader cl = open_loader();
        struct things t = make(&cl);

        use(&cl, &t);
        start(&cl, &t);
        release(&cl, &t);
        close_loader(&cl);
    }
    while (n_called < n_rounds) /* What was released before it was done is done all the same. */
        usleep(1000);
}

static void with_all_left_alive(void)
{
    for (int i = 0; i < n_rounds; i++) {
        struct loader cl = open_loader();
        struct things t = make(&cl);

        use(&cl, &t);
        start(&cl, &t);
        close_loader(&cl);
    }
}

/* The same objects by another loader: handles are Tesela's, which stayed. */
static void with_things_used_by_the_next(void)
{
    struct loader cl = open_loader();
    struct things t = make(&cl);

    start(&cl, &t);
    close_loader(&cl);
    cl = open_loader();
    release(&cl, &t);
    while (n_called == 0)
        usleep(1000);
    close_loader(&cl);
}

static void *open_and_close(void *arg)
{
    (void)arg;
    for (int i = 0; i < n_rounds; i++) {
        struct loader cl = open_loader();
        struct things t = make(&cl);

        use(&cl, &t);
        release(&cl, &t);
        must(dlclose(cl.handle) == 0);
    }
    return NULL;
}

static void by_many_threads(void)
{
    pthread_t threads[n_threads];

    for (int i = 0; i < n_threads; i++)
        must(pthread_create(&threads[i], NULL, open_and_close, NULL) == 0);
    for (int i = 0; i < n_threads; i++)
        must(pthread_join(threads[i], NULL) == 0);
}

static void before_anything_was_asked(void)
{
    for (int i = 0; i < n_rounds; i++) {
        struct loader cl = open_loader();

        close_loader(&cl);
    }
    with_nothing_left();
}

/* ---- Tests ---- */

static void nothing_left(void **state)
{
    (void)state;
    assert_int_equal(ending(with_nothing_left), 7);
}

static void all_left_alive(void **state)
{
    (void)state;
    assert_int_equal(ending(with_all_left_alive), 7);
}

static void used_by_the_next(void **state)
{
    (void)state;
    assert_int_equal(ending(with_things_used_by_the_next), 7);
}

static void many_threads(void **state)
{
    (void)state;
    assert_int_equal(ending(by_many_threads), 7);
}

static void nothing_asked(void **state)
{
    (void)state;
    assert_int_equal(ending(before_anything_was_asked), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_left), cmocka_unit_test(all_left_alive), cmocka_unit_test(used_by_the_next),
        cmocka_unit_test(many_threads), cmocka_unit_test(nothing_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
