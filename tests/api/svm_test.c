/* Shared virtual memory: addresses shared by host and kernels, buffers made of it, and its commands. */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl */
/* variant: pocl_coarse TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_SVM=coarse */
/* variant: own_memory TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* variant: turns TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: turns_oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* timeout: 200 */
/* any: */
#include "begin.h"

#include <CL/cl_tesela.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static const char source[] =
    "kernel void add(global uint *x, uint by) { x[get_global_id(0)] += by; }\n"
    "kernel void add_from(global uint *x, global const uint *y) { x[get_global_id(0)] += y[get_global_id(0)]; }\n"
    "typedef struct node { global struct node *next; uint value; } node;\n"
    "kernel void walk(global node *n, uint by) { for (; n; n = n->next) n->value += by; }\n"
    "typedef struct { global uint *to; } slot;\n"
    "kernel void through(global const slot *table, uint n) { for (uint i = 0; i < n; i++) table[i].to[0] += i + 1; }\n";

struct node {
    struct node *next;
    cl_uint value;
};

enum { WORDS = 4096, BYTES = WORDS * sizeof(cl_uint) };

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel add, add_from, walk, through;

static int setup(void **state)
{
    const char *text = source;
    cl_device_id device = our_device();
    cl_int error;

    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    assert_int_equal(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    add = clCreateKernel(program, "add", &error);
    add_from = clCreateKernel(program, "add_from", &error);
    walk = clCreateKernel(program, "walk", &error);
    through = clCreateKernel(program, "through", &error);
    return !add || !add_from || !walk || !through;
}

static int teardown(void **state)
{
    (void)state;
    clReleaseKernel(add);
    clReleaseKernel(add_from);
    clReleaseKernel(walk);
    clReleaseKernel(through);
    clReleaseProgram(program);
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static void *make(size_t size)
{
    void *made = clSVMAlloc(context, CL_MEM_READ_WRITE, size, 0);

    assert_non_null(made);
    assert_int_equal((uintptr_t)made % 128, 0);
    return made;
}

static void map(void *pointer, size_t size, cl_map_flags flags)
{
    assert_int_equal(clEnqueueSVMMap(queue, CL_TRUE, flags, pointer, size, 0, NULL, NULL), CL_SUCCESS);
}

static void unmap(void *pointer)
{
    assert_int_equal(clEnqueueSVMUnmap(queue, pointer, 0, NULL, NULL), CL_SUCCESS);
}

static void launch(cl_kernel kernel, size_t n)
{
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
}

static void set_uint(cl_kernel kernel, cl_uint index, cl_uint value)
{
    assert_int_equal(clSetKernelArg(kernel, index, sizeof value, &value), CL_SUCCESS);
}

static void set_pointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    assert_int_equal(clSetKernelArgSVMPointer(kernel, index, pointer), CL_SUCCESS);
}

/* ---- Addresses ---- */

static void is_told(void **state)
{
    cl_device_svm_capabilities has = 0;

    (void)state;
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL), CL_SUCCESS);
    assert_true(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    assert_false(has & (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM | CL_DEVICE_SVM_ATOMICS));
}

/* The host links nodes of one region, and of two; kernels follow, and what they write the host finds. */
static void lists_are_followed(void **state)
{
    enum { N = 100 };
    struct node *one = make(N * sizeof *one), *two = make(N * sizeof *two);
    void *both[] = {two};

    (void)state;
    map(one, N * sizeof *one, CL_MAP_WRITE);
    map(two, N * sizeof *two, CL_MAP_WRITE);
    for (cl_uint i = 0; i < N; i++) {
        one[i] = (struct node){&two[i], i};
        two[i] = (struct node){i + 1 < N ? &one[i + 1] : NULL, 1000 + i};
    }
    unmap(one);
    unmap(two);
    assert_int_equal(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof both, both), CL_SUCCESS);
    set_pointer(walk, 0, &one[10]);
    set_uint(walk, 1, 7);
    for (int i = 0; i < 4; i++)
        launch(walk, 1);
    map(one, N * sizeof *one, CL_MAP_READ);
    map(two, N * sizeof *two, CL_MAP_READ);
    for (cl_uint i = 0; i < N; i++) {
        assert_int_equal(one[i].value, i + (i >= 10 ? 28 : 0));
        assert_int_equal(two[i].value, 1000 + i + (i >= 10 ? 28 : 0));
    }
    unmap(one);
    unmap(two);
    assert_int_equal(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clSVMFree(context, one);
    clSVMFree(context, two);
}

/* Arguments may point anywhere, and nowhere. */
static void arguments_point_into_regions(void **state)
{
    cl_uint *x = make(BYTES), back[WORDS];

    (void)state;
    assert_int_equal(clEnqueueSVMMemFill(queue, x, &(cl_uint){5}, sizeof(cl_uint), BYTES, 0, NULL, NULL), CL_SUCCESS);
    set_pointer(add, 0, x + 3);
    set_uint(add, 1, 2);
    launch(add, 10);
    set_pointer(add_from, 0, x + 1000);
    set_pointer(add_from, 1, x);
    launch(add_from, 16);
    set_pointer(walk, 0, NULL);
    set_uint(walk, 1, 1);
    launch(walk, 1);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, back, x, BYTES, 0, NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned expected = i >= 3 && i < 13 ? 7 : 5;

        if (i >= 1000 && i < 1016)
            expected = 5 + (i >= 1003 && i < 1013 ? 7 : 5);
        assert_int_equal(back[i], expected);
    }
    clSVMFree(context, x);
}

/* What is freed while kernels have it lives until they have ended; afterwards nobody can be given it. */
static void what_is_in_use_stays(void **state)
{
    cl_mem sum = make_buffer(context, CL_MEM_READ_WRITE, BYTES);
    cl_uint back;

    (void)state;
    assert_int_equal(clEnqueueFillBuffer(queue, sum, &(cl_uint){0}, 4, 0, BYTES, 0, NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 50; i++) {
        cl_uint *x = make(BYTES);

        assert_int_equal(clEnqueueSVMMemFill(queue, x, &i, sizeof i, BYTES, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(add_from, 0, sizeof sum, &sum), CL_SUCCESS);
        set_pointer(add_from, 1, x);
        launch(add_from, WORDS);
        clSVMFree(context, x);
        assert_int_equal(clSetKernelArgSVMPointer(add_from, 1, x), CL_INVALID_ARG_VALUE);
    }
    assert_int_equal(clEnqueueReadBuffer(queue, sum, CL_TRUE, BYTES - 4, 4, &back, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(back, 49 * 50 / 2);
    clReleaseMemObject(sum);
}

/* ---- clEnqueueSVMFree ---- */

static struct {
    pthread_mutex_t lock;
    cl_uint n_calls, seen;
    void *pointer;
} freed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void CL_CALLBACK free_all(cl_command_queue of, cl_uint n, void *pointers[], void *arg)
{
    pthread_mutex_lock(&freed.lock);
    freed.n_calls++;
    freed.seen = *(cl_uint *)pointers[0];
    freed.pointer = of == queue && n == 1 && arg == &freed ? pointers[0] : NULL;
    pthread_mutex_unlock(&freed.lock);
    for (cl_uint i = 0; i < n; i++)
        clSVMFree(context, pointers[i]);
}

static void is_freed_in_order(void **state)
{
    cl_uint *x = make(BYTES), *y = make(BYTES);
    void *pointers[] = {x}, *others[] = {y, NULL};
    cl_event start = make_user_event(context), event;
    cl_command_type type;

    (void)state;
    assert_int_equal(clEnqueueSVMMemFill(queue, x, &(cl_uint){1}, 4, BYTES, 1, &start, NULL), CL_SUCCESS);
    set_pointer(add, 0, x);
    set_uint(add, 1, 41);
    launch(add, 1);
    assert_int_equal(clEnqueueSVMFree(queue, 1, pointers, free_all, &freed, 0, NULL, &event), CL_SUCCESS);
    pointers[0] = NULL; /* The list was taken. */
    assert_int_equal(freed.n_calls, 0);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    assert_int_equal(type, CL_COMMAND_SVM_FREE);
    assert_int_equal(clSetUserEventStatus(start, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(freed.n_calls, 1);
    assert_int_equal(freed.seen, 42);
    assert_ptr_equal(freed.pointer, x);
    assert_int_equal(clEnqueueSVMFree(queue, 2, others, NULL, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clSetKernelArgSVMPointer(add, 0, y), CL_INVALID_ARG_VALUE);
    clReleaseEvent(start);
    clReleaseEvent(event);
}

/* Whatever became of what it comes after. */
static void is_freed_behind_a_failure(void **state)
{
    cl_uint *x = make(BYTES);
    void *pointers[] = {x};
    cl_event start = make_user_event(context), event;

    (void)state;
    assert_int_equal(clEnqueueSVMMemFill(queue, x, &(cl_uint){1}, 4, BYTES, 1, &start, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMFree(queue, 1, pointers, NULL, NULL, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(start, -5), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    clFinish(queue);
    assert_int_equal(clSetKernelArgSVMPointer(add, 0, x), CL_INVALID_ARG_VALUE);
    clReleaseEvent(start);
    clReleaseEvent(event);
}

/* What was listed may be freed: the list is of no more then. */
static void the_list_forgets_what_is_freed(void **state)
{
    cl_uint *x = make(BYTES), *y = make(BYTES), *z = make(BYTES);
    void *both[] = {y, z, y, z};
    cl_kernel twin;

    (void)state;
    assert_int_equal(clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof both, both), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemFill(queue, x, &(cl_uint){0}, 4, BYTES, 0, NULL, NULL), CL_SUCCESS);
    set_pointer(add, 0, x);
    set_uint(add, 1, 1);
    launch(add, 1);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    twin = clCloneKernel(add, NULL);
    clSVMFree(context, y);
    launch(add, 1);
    launch(twin, 1);
    clSVMFree(context, z);
    launch(add, 1);
    map(x, BYTES, CL_MAP_READ);
    assert_int_equal(x[0], 4);
    unmap(x);
    assert_int_equal(clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL), CL_SUCCESS);
    clReleaseKernel(twin);
    clSVMFree(context, x);
}

/* ---- Buffers of shared memory ---- */

/* Fine-grained memory needs no map, whoever works on it by whatever name, as long as kernels don't run. */
static void fine_grain_needs_no_map(void **state)
{
    cl_device_svm_capabilities has = 0;
    cl_uint *x = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, BYTES, 0);
    cl_mem buffer;

    (void)state;
    clGetDeviceInfo(our_device(), CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL);
    if (!(has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)) {
        assert_null(x);
        return;
    }
    assert_non_null(x);
    buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, x, NULL);
    set_uint(add, 1, 5);
    for (cl_uint i = 0; i < 10; i++) {
        x[3] = 10 * i;
        if (i % 2)
            assert_int_equal(clSetKernelArg(add, 0, sizeof buffer, &buffer), CL_SUCCESS);
        else
            set_pointer(add, 0, x);
        launch(add, WORDS);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        assert_int_equal(x[3], 10 * i + 5);
    }
    clReleaseMemObject(buffer);
    clSVMFree(context, x);
}

static void buffers_are_the_memory(void **state)
{
    cl_uint *x = make(BYTES), value;
    cl_int error;
    cl_bool uses = CL_FALSE;
    cl_mem whole = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, x, &error), none = whole;
    cl_mem part = clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE, 64 * 4, x + 5, &error);
    const cl_buffer_region region = {8192, 1024};
    cl_mem sub = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    size_t offset = 1;
    void *host = NULL;

    (void)state;
    assert_non_null(part);
    assert_non_null(sub);
    assert_int_equal(clGetMemObjectInfo(part, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL), CL_SUCCESS);
    assert_true(uses);
    clGetMemObjectInfo(sub, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL);
    assert_true(uses);
    clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    assert_int_equal(offset, 0);
    clGetMemObjectInfo(part, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
    assert_ptr_equal(host, x + 5);
    clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof none, &none, NULL);
    assert_null(none);
    clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof none, &none, NULL);
    assert_ptr_equal(none, whole);
    clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    assert_int_equal(offset, 8192);
    assert_null(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, x + 1, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);

    assert_int_equal(clEnqueueFillBuffer(queue, whole, &(cl_uint){1}, 4, 0, BYTES, 0, NULL, NULL), CL_SUCCESS);
    set_uint(add, 1, 1);
    assert_int_equal(clSetKernelArg(add, 0, sizeof part, &part), CL_SUCCESS);
    launch(add, 64);
    set_pointer(add, 0, x + 5);
    launch(add, 1);
    assert_int_equal(clSetKernelArg(add, 0, sizeof sub, &sub), CL_SUCCESS);
    launch(add, 256);
    assert_int_equal(clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 4, &value, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(value, 3);
    map(x, BYTES, CL_MAP_READ);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(x[i], i == 5 ? 3 : (i > 5 && i < 69) || (i >= 2048 && i < 2304) ? 2 : 1);
    unmap(x);
    clReleaseMemObject(sub);
    clReleaseMemObject(whole);
    clSVMFree(context, x); /* The part keeps it. */
    assert_int_equal(clEnqueueReadBuffer(queue, part, CL_TRUE, 4, 4, &value, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(value, 2);
    clReleaseMemObject(part);
}

/* ---- Copies of memory that is none of ours ---- */

static void all_kinds_of_copies(void **state)
{
    cl_uint *x = make(BYTES), *y = make(BYTES), *plain = malloc(BYTES), *other = malloc(BYTES);

    (void)state;
    for (unsigned i = 0; i < WORDS; i++)
        plain[i] = i * 3;
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_FALSE, x, plain, BYTES, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_FALSE, y + 1, x, BYTES - 4, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_FALSE, y, x + 7, 4, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_FALSE, other, y, BYTES, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_FALSE, plain, other, BYTES, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemFill(queue, other, &(cl_ushort){9}, 2, BYTES, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, other, other, 0, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, x + 1, x, BYTES / 2, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    for (unsigned i = 0; i < WORDS; i++) {
        assert_int_equal(plain[i], i ? (i - 1) * 3 : 21);
        assert_int_equal(other[i], 0x90009);
    }
    clSVMFree(context, x);
    clSVMFree(context, y);
    free(plain);
    free(other);
}

/* ---- Random programs, beside a model ---- */

enum { REGIONS = 3, OBJECTS = REGIONS + 4 };

/* A place that commands work on: an address or a buffer, and what the model has there. */
static struct {
    cl_uint *model;
    cl_uint *address; /* NULL: it is no shared memory */
    cl_mem buffer;    /* NULL: it is known by its address */
    cl_uint words;
} objects[OBJECTS];
static cl_uint *regions[REGIONS], models[REGIONS + 1][WORDS];
static struct slot {
    cl_uint *to;
} * table;
static unsigned state_of_dice;

static unsigned dice(unsigned n)
{
    state_of_dice = state_of_dice * 1664525 + 1013904223;
    return (state_of_dice >> 8) % n;
}

static cl_mem buffer_of(cl_uint *at, size_t words)
{
    cl_mem made = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, words * 4, at, NULL);

    assert_non_null(made);
    return made;
}

static void make_objects(void)
{
    const cl_buffer_region region = {4096, 4096};

    for (unsigned i = 0; i < REGIONS; i++) {
        objects[i].address = regions[i] = make(BYTES);
        objects[i].model = models[i];
        objects[i].words = WORDS;
    }
    for (unsigned i = REGIONS; i < OBJECTS; i++)
        objects[i].words = WORDS, objects[i].address = NULL;
    objects[REGIONS].buffer = buffer_of(regions[0], WORDS);
    objects[REGIONS].model = models[0];
    objects[REGIONS + 1].buffer = buffer_of(regions[1] + 33, 1000);
    objects[REGIONS + 1].model = models[1] + 33;
    objects[REGIONS + 1].words = 1000;
    objects[REGIONS + 2].buffer =
        clCreateSubBuffer(objects[REGIONS].buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    objects[REGIONS + 2].model = models[0] + 1024;
    objects[REGIONS + 2].words = 1024;
    objects[REGIONS + 3].buffer = make_buffer(context, CL_MEM_READ_WRITE, BYTES);
    objects[REGIONS + 3].model = models[REGIONS];
    table = make(REGIONS * sizeof *table);
    map(table, REGIONS * sizeof *table, CL_MAP_WRITE);
    for (unsigned i = 0; i < REGIONS; i++)
        table[i].to = regions[i] + 100 * i;
    unmap(table);
    memset(models, 0, sizeof models);
    for (unsigned i = 0; i < REGIONS; i++)
        assert_int_equal(clEnqueueSVMMemFill(queue, regions[i], &(cl_uint){0}, 4, BYTES, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueFillBuffer(queue, objects[REGIONS + 3].buffer, &(cl_uint){0}, 4, 0, BYTES, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void set_object(cl_kernel kernel, cl_uint index, unsigned o, cl_uint at)
{
    if (objects[o].buffer)
        assert_int_equal(clSetKernelArg(kernel, index, sizeof(cl_mem), &objects[o].buffer), CL_SUCCESS);
    else
        set_pointer(kernel, index, objects[o].address + at);
}

/* Commands are done one after the other, in two queues: each waits for the one before. */
static cl_command_queue two[2];
static cl_event last;

#define IN_TURN(call)                                   \
    do {                                                \
        cl_command_queue q = two[dice(2)];              \
        cl_event before = last;                         \
        cl_uint n_wait = before ? 1 : 0;                \
        const cl_event *wait = before ? &before : NULL; \
        assert_int_equal((call), CL_SUCCESS);           \
        if (before)                                     \
            clReleaseEvent(before);                     \
    } while (0)

static void random_launch(void)
{
    unsigned o = dice(OBJECTS), from = dice(OBJECTS);
    cl_uint at = objects[o].buffer ? 0 : dice(500), from_at = objects[from].buffer ? 0 : dice(500);
    cl_uint by = dice(1000);
    size_t n = 1 + dice(500);

    if (dice(2)) {
        set_object(add, 0, o, at);
        set_uint(add, 1, by);
        for (unsigned i = 0; i < n; i++)
            objects[o].model[at + i] += by;
        IN_TURN(clEnqueueNDRangeKernel(q, add, 1, NULL, &n, NULL, n_wait, wait, &last));
        return;
    }
    /* Work-items mustn't read what others write. */
    if (objects[o].model + at < objects[from].model + from_at + n &&
        objects[from].model + from_at < objects[o].model + at + n)
        return;
    set_object(add_from, 0, o, at);
    set_object(add_from, 1, from, from_at);
    for (unsigned i = 0; i < n; i++)
        objects[o].model[at + i] += objects[from].model[from_at + i];
    IN_TURN(clEnqueueNDRangeKernel(q, add_from, 1, NULL, &n, NULL, n_wait, wait, &last));
}

static void random_through(void)
{
    size_t one = 1;
    cl_uint n = 1 + dice(REGIONS);

    set_pointer(through, 0, table);
    set_uint(through, 1, n);
    assert_int_equal(clSetKernelExecInfo(through, CL_KERNEL_EXEC_INFO_SVM_PTRS, n * sizeof *regions, regions),
                     CL_SUCCESS);
    for (unsigned i = 0; i < n; i++)
        models[i][100 * i] += i + 1;
    IN_TURN(clEnqueueNDRangeKernel(q, through, 1, NULL, &one, NULL, n_wait, wait, &last));
}

static void random_copy(void)
{
    unsigned to = dice(REGIONS), from = dice(REGIONS), at = dice(WORDS / 2), from_at = dice(WORDS / 2);
    size_t n = 1 + dice(WORDS / 2);

    if (to == from)
        return;
    memcpy(models[to] + at, models[from] + from_at, n * 4);
    IN_TURN(clEnqueueSVMMemcpy(q, dice(2), regions[to] + at, regions[from] + from_at, n * 4, n_wait, wait, &last));
}

static void random_fill(void)
{
    unsigned to = dice(REGIONS), at = dice(WORDS / 2);
    size_t n = 1 + dice(WORDS / 2);
    cl_uint value = dice(1000);

    for (unsigned i = 0; i < n; i++)
        models[to][at + i] = value;
    IN_TURN(clEnqueueSVMMemFill(q, regions[to] + at, &value, 4, n * 4, n_wait, wait, &last));
}

static void random_map(void)
{
    unsigned of = dice(REGIONS), at = dice(WORDS / 2);
    size_t n = 1 + dice(WORDS / 2);

    IN_TURN(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, regions[of] + at, n * 4, n_wait, wait, &last));
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(regions[of][at + i], models[of][at + i]);
        regions[of][at + i] += i;
        models[of][at + i] += i;
    }
    IN_TURN(clEnqueueSVMUnmap(q, regions[of] + at, n_wait, wait, &last));
}

/* By the buffers, part of which are shared memory. */
static void random_transfer(void)
{
    static cl_uint words[WORDS];
    unsigned o = REGIONS + dice(OBJECTS - REGIONS), at = dice(400), to = REGIONS + 3;
    size_t n = 1 + dice(500);

    switch (dice(3)) {
    case 0:
        for (unsigned i = 0; i < n; i++)
            words[i] = objects[o].model[at + i] = dice(1000);
        IN_TURN(clEnqueueWriteBuffer(q, objects[o].buffer, CL_TRUE, at * 4, n * 4, words, n_wait, wait, &last));
        return;
    case 1:
        IN_TURN(clEnqueueReadBuffer(q, objects[o].buffer, CL_TRUE, at * 4, n * 4, words, n_wait, wait, &last));
        assert_memory_equal(words, objects[o].model + at, n * 4);
        return;
    default:
        if (o == to)
            return;
        memcpy(objects[to].model + 2000, objects[o].model + at, n * 4);
        IN_TURN(
            clEnqueueCopyBuffer(q, objects[o].buffer, objects[to].buffer, at * 4, 8000, n * 4, n_wait, wait, &last));
    }
}

static void check_all(void)
{
    static cl_uint words[WORDS];

    for (unsigned i = 0; i < REGIONS; i++) {
        IN_TURN(clEnqueueSVMMemcpy(q, CL_TRUE, words, regions[i], BYTES, n_wait, wait, &last));
        assert_memory_equal(words, models[i], BYTES);
    }
    IN_TURN(clEnqueueReadBuffer(q, objects[REGIONS + 3].buffer, CL_TRUE, 0, BYTES, words, n_wait, wait, &last));
    assert_memory_equal(words, models[REGIONS], BYTES);
}

static void random_programs(void **state)
{
    static void (*const kinds[])(void) = {random_launch, random_launch, random_launch, random_through,
                                          random_copy,   random_fill,   random_map,    random_transfer};
    (void)state;
    two[0] = queue;
    two[1] = make_queue(context, CL_QUEUE_PROFILING_ENABLE);
    for (unsigned seed = 1; seed <= 8; seed++) {
        state_of_dice = seed * 7919;
        make_objects();
        for (unsigned i = 0; i < 150; i++)
            kinds[dice(LENGTH(kinds))]();
        check_all();
        clReleaseEvent(last);
        last = NULL;
        for (unsigned i = REGIONS; i < OBJECTS; i++)
            clReleaseMemObject(objects[i].buffer);
        for (unsigned i = 0; i < REGIONS; i++)
            clSVMFree(context, regions[i]);
        clSVMFree(context, table);
    }
    clReleaseCommandQueue(two[1]);
}

/* ---- Sub-devices ---- */

/* A queue of a member works with addresses if the member says that it does, and refuses them else. */
static void members_keep_their_word(void **state)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id members[8], root = our_device();
    cl_uint n = 0;
    cl_int error;

    (void)state;
    assert_int_equal(clCreateSubDevices(root, by_member, 8, members, &n), CL_SUCCESS);
    cl_context of_all = clCreateContext(NULL, n, members, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    const char *text = source;
    cl_program built = clCreateProgramWithSource(of_all, 1, &text, NULL, &error);
    assert_int_equal(clBuildProgram(built, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(built, "add", &error);
    cl_uint *x = clSVMAlloc(of_all, CL_MEM_READ_WRITE, BYTES, 0), expected = 0;
    assert_non_null(x);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, x), CL_SUCCESS);
    set_uint(kernel, 1, 1);
    for (cl_uint i = 0; i < 2 * n; i++) {
        cl_device_svm_capabilities has = 0;
        size_t one = 1;
        cl_command_queue of = clCreateCommandQueueWithProperties(of_all, members[i % n], NULL, &error);

        clGetDeviceInfo(members[i % n], CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL);
        error = clEnqueueSVMMemFill(of, x, &expected, 4, BYTES, 0, NULL, NULL);
        assert_int_equal(error, has ? CL_SUCCESS : CL_INVALID_OPERATION);
        error = clEnqueueNDRangeKernel(of, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
        assert_int_equal(error, has ? CL_SUCCESS : CL_INVALID_OPERATION);
        expected += has != 0;
        error = clEnqueueSVMMap(of, CL_TRUE, CL_MAP_READ, x, BYTES, 0, NULL, NULL);
        assert_int_equal(error, has ? CL_SUCCESS : CL_INVALID_OPERATION);
        if (has)
            assert_int_equal(clEnqueueSVMUnmap(of, x, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clFinish(of), CL_SUCCESS);
        clReleaseCommandQueue(of);
    }
    assert_int_equal(x[0], expected);
    assert_true(expected > 0);
    clSVMFree(of_all, x);
    clReleaseKernel(kernel);
    clReleaseProgram(built);
    clReleaseContext(of_all);
    for (cl_uint i = 0; i < n; i++)
        clReleaseDevice(members[i]);
}

/* ---- Threads ---- */

static void *allocate_and_work(void *arg)
{
    cl_command_queue own = make_queue(context, 0);
    cl_kernel kernel = clCreateKernel(program, "add", NULL);

    (void)arg;
    for (cl_uint i = 0; i < 60; i++) {
        cl_uint *x = make(256), back = 0;
        size_t n = 64;

        assert_int_equal(clEnqueueSVMMemFill(own, x, &i, 4, 256, 0, NULL, NULL), CL_SUCCESS);
        set_pointer(kernel, 0, x);
        set_uint(kernel, 1, 3);
        assert_int_equal(clEnqueueNDRangeKernel(own, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueSVMMemcpy(own, CL_TRUE, &back, x + 63, 4, 0, NULL, NULL), CL_SUCCESS);
        if (back != i + 3)
            abort();
        clSVMFree(context, x);
    }
    clReleaseKernel(kernel);
    clReleaseCommandQueue(own);
    return NULL;
}

static void threads_allocate_beside_each_other(void **state)
{
    pthread_t threads[6];

    (void)state;
    for (unsigned i = 0; i < LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_work, NULL), 0);
    for (unsigned i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_told),
        cmocka_unit_test(lists_are_followed),
        cmocka_unit_test(arguments_point_into_regions),
        cmocka_unit_test(what_is_in_use_stays),
        cmocka_unit_test(is_freed_in_order),
        cmocka_unit_test(is_freed_behind_a_failure),
        cmocka_unit_test(the_list_forgets_what_is_freed),
        cmocka_unit_test(fine_grain_needs_no_map),
        cmocka_unit_test(buffers_are_the_memory),
        cmocka_unit_test(all_kinds_of_copies),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(members_keep_their_word),
        cmocka_unit_test(threads_allocate_beside_each_other),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
