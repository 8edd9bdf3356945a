/*
 * Sequences of API calls, chosen by bytes, on the fake driver in virtual time: live handles, freed ones, handles of the
 * wrong kind and NULL; sizes that fit and absurd ones. What a correct program must not do stays out (host memory that
 * isn't there, user events that are never set while somebody waits); everything else may be asked, and must end in an
 * error or in a result. At the end all is released: nothing may be left, and the driver was used as its contract says.
 *
 * No expression takes bytes twice but a list in braces, which compilers evaluate from left to right: the kept inputs
 * mean the same whoever compiles this.
 */
#include "api.h"
#include "machine.h"

#include <CL/cl_tesela.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_HANDLES 96
#define POOL_SIZE ((size_t)512 << 10)
#define MOST_SIZE ((size_t)64 << 10) /* of a buffer: what the largest member has */

/* In the order in which they are released at the end. */
enum kind { EVENT, KERNEL, PROGRAM, MEM, QUEUE, CONTEXT, DEVICE, PLATFORM, SAMPLER, N_KINDS };

static struct {
    enum kind kind;
    void *handle;
    bool user; /* a user event */
    bool sub;  /* a sub-device */
} handles[N_HANDLES];
static unsigned n_handles;

static struct {
    cl_mem mem;
    void *at;
} mapped[16];
static unsigned n_mapped;

/* Of shared virtual memory. */
enum { MOST_REGIONS = 6 };
static struct {
    cl_context context;
    char *at;
    size_t size;
} regions[MOST_REGIONS];
static unsigned n_regions;

static unsigned char pools[N_HANDLES][POOL_SIZE], objects[N_HANDLES][MOST_SIZE];
static struct fuzz_input *in;

/* ---- What calls are given ---------------------------------------------------------------------------------------- */

static void keep(enum kind kind, void *handle)
{
    if (!handle)
        return;
    if (n_handles == N_HANDLES)
        fuzz_finding("too many handles", NULL);
    handles[n_handles].kind = kind;
    handles[n_handles].user = handles[n_handles].sub = false;
    handles[n_handles++].handle = handle;
}

/* Of that kind mostly, the newest first; now and then any other, or NULL. */
static void *some(enum kind kind)
{
    unsigned choice = fuzz_byte(in);
    if (choice >= 250)
        return NULL;
    if (choice >= 240)
        return handles[choice % n_handles].handle;
    for (unsigned i = n_handles, back = choice % 8; i-- > 0;)
        if (handles[i].kind == kind && back-- == 0)
            return handles[i].handle;
    for (unsigned i = 0; i < n_handles; i++)
        if (handles[i].kind == kind)
            return handles[i].handle;
    return NULL;
}

static size_t some_size(void)
{
    static const size_t sizes[] = {0,
                                   1,
                                   4,
                                   16,
                                   64,
                                   100,
                                   128,
                                   256,
                                   1000,
                                   4096,
                                   16 << 10,
                                   32 << 10,
                                   1 << 20,
                                   SIZE_MAX,
                                   SIZE_MAX / 2 + 1,
                                   SIZE_MAX - 3,
                                   (size_t)1 << 33};
    unsigned choice = fuzz_byte(in);
    return choice < 128 ? choice : sizes[choice % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* Each context's transfers have memory of their own: what commands of two contexts do to the same at the same time
 * nobody orders, and a correct program doesn't ask for it. */
static unsigned char *pool_of(cl_command_queue queue)
{
    cl_context context = NULL;
    unsigned i = 0;
    tsl_api_clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    while (i < n_handles && handles[i].handle != context)
        i++;
    return pools[i % N_HANDLES];
}

/* Of 64 KiB at most: no buffer is larger, so no call with a size that passes the checks goes past the pool's end. */
static void *some_host(cl_command_queue queue)
{
    unsigned choice = fuzz_byte(in);
    return choice == 255 ? NULL : pool_of(queue) + choice * 1024;
}

/* For an object to be made. What lies in the memory of one with CL_MEM_USE_HOST_PTR is undefined while it isn't mapped,
 * and so is all of two that share some: each has its own, which no transfer is given. */
static void *some_object_host(void)
{
    return fuzz_byte(in) == 255 ? NULL : objects[n_handles];
}

/* Kernels write, so no buffer is CL_MEM_READ_ONLY alone: a correct program keeps its word. */
static cl_mem_flags some_flags(void)
{
    static const cl_mem_flags flags[] = {
        CL_MEM_READ_WRITE,      CL_MEM_WRITE_ONLY,     CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR,    CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
        CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS,
        (cl_mem_flags)1 << 40};
    cl_mem_flags set = 0;
    for (unsigned n = fuzz_pick(in, 4); n-- > 0;)
        set |= flags[fuzz_pick(in, sizeof(flags) / sizeof(flags[0]))];
    return set;
}

/* A wait list and a place for an event, as every enqueue takes them. */
struct around {
    cl_uint n;
    bool no_list;
    cl_event list[3], event;
};

static struct around some_around(void)
{
    struct around a = {.n = 0};
    unsigned choice = fuzz_byte(in);
    a.n = choice & 3;
    for (unsigned i = 0; i < a.n; i++)
        a.list[i] = some(EVENT);
    /* Also a list without entries, and none where n says some. */
    a.no_list = a.n == 0 ? choice & 0x80 : choice >= 0xf8;
    return a;
}

#define AROUND(a) (a).n, (a).no_list ? NULL : (a).list, &(a).event

static void keep_event(struct around *a)
{
    if (fuzz_pick(in, 2))
        keep(EVENT, a->event);
    else if (a->event)
        tsl_api_clReleaseEvent(a->event);
}

/* Whoever blocks waits for user events too, and nobody else is here to set them. */
static void open_gates(cl_int status)
{
    for (unsigned i = 0; i < n_handles; i++)
        if (handles[i].kind == EVENT && handles[i].user)
            tsl_api_clSetUserEventStatus(handles[i].handle, status);
}

static cl_bool some_blocking(void)
{
    cl_bool blocking = fuzz_pick(in, 4) == 0;
    if (blocking)
        open_gates(CL_COMPLETE);
    return blocking;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)status, (void)arg;
}

static void CL_CALLBACK on_mem(cl_mem mem, void *arg)
{
    (void)mem, (void)arg;
}

static void CL_CALLBACK on_context(cl_context context, void *arg)
{
    (void)context, (void)arg;
}

static void CL_CALLBACK native(void *arg)
{
    (void)arg;
}

static void create_context(void)
{
    cl_device_id devices[2] = {some(DEVICE), some(DEVICE)};
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)some(PLATFORM), 0};
    const cl_context_properties *asked = fuzz_pick(in, 2) ? properties : NULL;
    keep(CONTEXT, tsl_api_clCreateContext(asked, fuzz_pick(in, 3), devices, NULL, NULL, NULL));
}

static void create_queue(void)
{
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, fuzz_pick(in, 8), 0};
    cl_context context = some(CONTEXT);
    keep(QUEUE, tsl_api_clCreateCommandQueueWithProperties(context, some(DEVICE), properties, NULL));
}

static void create_buffer(void)
{
    cl_mem_flags flags = some_flags();
    void *host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? some_object_host() : NULL;
    cl_context context = some(CONTEXT);
    keep(MEM, tsl_api_clCreateBuffer(context, flags, some_size(), host, NULL));
}

static void create_sub_buffer(void)
{
    cl_buffer_region region = {some_size(), some_size()};
    cl_mem mem = some(MEM);
    cl_mem_flags flags = some_flags();
    const cl_buffer_region *asked = fuzz_pick(in, 8) ? &region : NULL;
    keep(MEM, tsl_api_clCreateSubBuffer(mem, flags, CL_BUFFER_CREATE_TYPE_REGION, asked, NULL));
}

static void create_program(void)
{
    static const char *const texts[] = {"kernel add x\nkernel mix a,b,c,d\n", "error no\n",
                                        "kernel add x\nkernel blur a,b\n", "variables 64\nkernel add x\n",
                                        "error 1 no\nkernel add x\n"};
    const char *text = texts[fuzz_pick(in, 5)];
    keep(PROGRAM, tsl_api_clCreateProgramWithSource(some(CONTEXT), 1, &text, NULL, NULL));
}

static void build_program(void)
{
    static const char *const options[] = {"", "-w", "-DX=1", "-unknown", "-cl-std=CL1.2 -cl-kernel-arg-info"};
    cl_program program = some(PROGRAM);
    tsl_api_clBuildProgram(program, 0, NULL, options[fuzz_pick(in, 5)], NULL, NULL);
}

static void binaries(void)
{
    unsigned char bytes[3][512], *pointers[3] = {bytes[0], bytes[1], bytes[2]};
    size_t sizes[3] = {0};
    cl_device_id device = some(DEVICE);
    cl_program program = some(PROGRAM);
    if (tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL))
        return;
    if (sizes[0] > sizeof(bytes[0]) || sizes[1] || sizes[2] || sizes[0] == 0 ||
        tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(pointers), pointers, NULL))
        return;
    for (unsigned n = fuzz_pick(in, 3); n-- > 0;) {
        unsigned char wrong = (unsigned char)fuzz_byte(in);
        bytes[0][fuzz_byte(in) % sizes[0]] = wrong;
    }
    const unsigned char *one = bytes[0];
    keep(PROGRAM, tsl_api_clCreateProgramWithBinary(some(CONTEXT), 1, &device, sizes, &one, NULL, NULL));
}

static void create_kernel(void)
{
    static const char *const names[] = {"add", "mix", "none", ""};
    cl_program program = some(PROGRAM);
    keep(KERNEL, tsl_api_clCreateKernel(program, names[fuzz_pick(in, 4)], NULL));
}

static void set_arg(void)
{
    cl_kernel kernel = some(KERNEL);
    cl_uint index = fuzz_pick(in, 6);
    cl_mem mem = some(MEM);
    cl_uint value = fuzz_byte(in);
    switch (fuzz_pick(in, 4)) {
    case 0:
        tsl_api_clSetKernelArg(kernel, index, sizeof(value), &value);
        break;
    case 1:
        tsl_api_clSetKernelArg(kernel, index, some_size() % 4096, NULL);
        break;
    default:
        tsl_api_clSetKernelArg(kernel, index, sizeof(mem), &mem);
    }
}

static void launch(void)
{
    size_t offset[3] = {some_size(), 0, 0}, global[3] = {some_size(), fuzz_byte(in), 1};
    size_t local[3] = {fuzz_byte(in), 1, fuzz_pick(in, 2)};
    struct around a = some_around();
    cl_uint dim = fuzz_pick(in, 5);
    bool large = global[0] > 65536; /* Legal, but the fake members run each. */
    cl_command_queue queue = some(QUEUE);
    cl_kernel kernel = some(KERNEL);
    const size_t *from = fuzz_pick(in, 2) ? offset : NULL, *all = large && fuzz_pick(in, 8) ? NULL : global;
    const size_t *group = fuzz_pick(in, 2) ? local : NULL;
    tsl_api_clEnqueueNDRangeKernel(queue, kernel, dim, from, all, group, AROUND(a));
    keep_event(&a);
}

static void transfer(void)
{
    cl_command_queue queue = some(QUEUE);
    cl_mem mem = some(MEM), other = some(MEM);
    size_t offset = some_size(), size = some_size(), to = some_size();
    unsigned char pattern[128] = {(unsigned char)size};
    void *host = some_host(queue);
    struct around a = some_around();
    switch (fuzz_pick(in, 4)) {
    case 0:
        tsl_api_clEnqueueReadBuffer(queue, mem, some_blocking(), offset, size, host, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueWriteBuffer(queue, mem, some_blocking(), offset, size, host, AROUND(a));
        break;
    case 2:
        tsl_api_clEnqueueCopyBuffer(queue, mem, other, offset, to, size, AROUND(a));
        break;
    default:
        tsl_api_clEnqueueFillBuffer(queue, mem, pattern, fuzz_byte(in), offset, size, AROUND(a));
    }
    keep_event(&a);
}

/* The application's side always lies within 64 KiB: its pitches and origin are its own affair. */
static void rectangle(void)
{
    cl_command_queue queue = some(QUEUE);
    cl_mem mem = some(MEM), other = some(MEM);
    size_t origin[3] = {some_size(), some_size(), some_size()};
    size_t host_origin[3] = {fuzz_pick(in, 16), fuzz_pick(in, 4), fuzz_pick(in, 4)};
    size_t region[3] = {fuzz_pick(in, 16), fuzz_pick(in, 6), fuzz_pick(in, 4)};
    size_t row = fuzz_byte(in), slice = row * fuzz_pick(in, 8), row2 = some_size(), slice2 = some_size();
    void *host = some_host(queue);
    struct around a = some_around();
    switch (fuzz_pick(in, 3)) {
    case 0:
        tsl_api_clEnqueueReadBufferRect(queue, mem, some_blocking(), origin, host_origin, region, row2, slice2, row,
                                        slice, host, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueWriteBufferRect(queue, mem, some_blocking(), origin, host_origin, region, row2, slice2, row,
                                         slice, host, AROUND(a));
        break;
    default:
        tsl_api_clEnqueueCopyBufferRect(queue, mem, other, origin, host_origin, region, row2, slice2, row, slice,
                                        AROUND(a));
    }
    keep_event(&a);
}

static void map(void)
{
    cl_mem mem = some(MEM);
    struct around a = some_around();
    cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MAP_READ | CL_MAP_WRITE, 0,
                            99};
    size_t offset = some_size(), size = some_size();
    cl_command_queue queue = some(QUEUE);
    cl_bool blocking = some_blocking();
    void *at = tsl_api_clEnqueueMapBuffer(queue, mem, blocking, flags[fuzz_pick(in, 6)], offset, size, AROUND(a), NULL);
    if (at && n_mapped < sizeof(mapped) / sizeof(mapped[0])) {
        mapped[n_mapped].mem = mem;
        mapped[n_mapped++].at = at;
    }
    keep_event(&a);
}

static void unmap(void)
{
    struct around a = some_around();
    unsigned i = fuzz_pick(in, 16);
    cl_mem mem = i < n_mapped ? mapped[i].mem : some(MEM);
    cl_command_queue queue = some(QUEUE);
    tsl_api_clEnqueueUnmapMemObject(queue, mem, i < n_mapped ? mapped[i].at : some_host(queue), AROUND(a));
    keep_event(&a);
}

static void sync_call(void)
{
    cl_command_queue queue = some(QUEUE);
    struct around a = some_around();
    switch (fuzz_pick(in, 6)) {
    case 0:
        tsl_api_clEnqueueMarkerWithWaitList(queue, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueBarrierWithWaitList(queue, AROUND(a));
        break;
    case 2:
        tsl_api_clEnqueueMarker(queue, &a.event);
        break;
    case 3:
        tsl_api_clEnqueueBarrier(queue);
        break;
    case 4:
        tsl_api_clEnqueueWaitForEvents(queue, a.n, a.list);
        break;
    default:
        tsl_api_clFlush(queue);
    }
    keep_event(&a);
}

static void wait_call(void)
{
    cl_event events[2] = {some(EVENT), some(EVENT)};
    open_gates(fuzz_pick(in, 8) ? CL_COMPLETE : -5);
    switch (fuzz_pick(in, 3)) {
    case 0:
        tsl_api_clFinish(some(QUEUE));
        break;
    case 1:
        tsl_api_clWaitForEvents(fuzz_pick(in, 3), events);
        break;
    default:
        tsl_api_clSetCommandQueueProperty(some(QUEUE), fuzz_pick(in, 5), fuzz_pick(in, 2), NULL);
    }
}

static void user_event(void)
{
    cl_event event = fuzz_pick(in, 3) ? tsl_api_clCreateUserEvent(some(CONTEXT), NULL) : NULL;
    if (event) {
        keep(EVENT, event);
        handles[n_handles - 1].user = true;
        return;
    }
    event = some(EVENT);
    tsl_api_clSetUserEventStatus(event, (cl_int)fuzz_pick(in, 4) - 2);
}

static void callback(void)
{
    cl_event event;
    switch (fuzz_pick(in, 3)) {
    case 0:
        event = some(EVENT);
        tsl_api_clSetEventCallback(event, (cl_int)fuzz_pick(in, 5) - 1, on_event, NULL);
        break;
    case 1:
        tsl_api_clSetMemObjectDestructorCallback(some(MEM), on_mem, NULL);
        break;
    default:
        tsl_api_clSetContextDestructorCallback(some(CONTEXT), on_context, NULL);
    }
}

static void migrate(void)
{
    cl_mem mems[2] = {some(MEM), some(MEM)};
    struct around a = some_around();
    cl_command_queue queue = some(QUEUE);
    cl_uint n = fuzz_pick(in, 3);
    tsl_api_clEnqueueMigrateMemObjects(queue, n, mems, fuzz_pick(in, 5), AROUND(a));
    keep_event(&a);
}

static void native_kernel(void)
{
    struct {
        void *slot[2];
    } args = {{0}};
    cl_mem mems[2] = {some(MEM), some(MEM)};
    const void *slots[2] = {&args.slot[0], &args.slot[1]};
    struct around a = some_around();
    cl_command_queue queue = some(QUEUE);
    void(CL_CALLBACK * function)(void *) = fuzz_pick(in, 8) ? native : NULL;
    tsl_api_clEnqueueNativeKernel(queue, function, &args, sizeof(args), fuzz_pick(in, 3), mems, slots, AROUND(a));
    keep_event(&a);
}

static void query(void)
{
    unsigned char answer[1024];
    size_t size = fuzz_pick(in, 4) ? sizeof(answer) : fuzz_byte(in), got;
    unsigned low = fuzz_byte(in), high = fuzz_byte(in);
    cl_uint name = 0x1000u + (low | high << 8) % 0x400;
    void *value = fuzz_pick(in, 4) ? answer : NULL;
    cl_program program;
    switch (fuzz_pick(in, 9)) {
    case 0:
        tsl_api_clGetDeviceInfo(some(DEVICE), name, size, value, &got);
        break;
    case 1:
        tsl_api_clGetContextInfo(some(CONTEXT), 0x1080u + name % 8, size, value, &got);
        break;
    case 2:
        tsl_api_clGetCommandQueueInfo(some(QUEUE), 0x1090u + name % 12, size, value, &got);
        break;
    case 3:
        tsl_api_clGetMemObjectInfo(some(MEM), 0x1100u + name % 16, size, value, &got);
        break;
    case 4:
        tsl_api_clGetProgramInfo(some(PROGRAM), 0x1160u + name % 5, size, value, &got); /* binaries have a call above */
        break;
    case 5:
        program = some(PROGRAM);
        tsl_api_clGetProgramBuildInfo(program, some(DEVICE), 0x1181u + name % 6, size, value, &got);
        break;
    case 6:
        tsl_api_clGetKernelInfo(some(KERNEL), 0x1190u + name % 8, size, value, &got);
        break;
    case 7:
        tsl_api_clGetEventInfo(some(EVENT), 0x11D0u + name % 6, size, value, &got);
        break;
    default:
        tsl_api_clGetEventProfilingInfo(some(EVENT), 0x1280u + name % 6, size, value, &got);
    }
}

static cl_int release(enum kind kind, void *handle)
{
    switch (kind) {
    case EVENT:
        return tsl_api_clReleaseEvent(handle);
    case KERNEL:
        return tsl_api_clReleaseKernel(handle);
    case PROGRAM:
        return tsl_api_clReleaseProgram(handle);
    case MEM:
        return tsl_api_clReleaseMemObject(handle);
    case QUEUE:
        return tsl_api_clReleaseCommandQueue(handle);
    case CONTEXT:
        return tsl_api_clReleaseContext(handle);
    default:
        return CL_INVALID_VALUE;
    }
}

/* A user event must be set by whoever still can. */
static void release_some(void)
{
    enum kind kind = fuzz_pick(in, DEVICE);
    void *handle = some(kind);
    for (unsigned i = 0; i < n_handles; i++)
        if (handles[i].handle == handle && handles[i].user)
            tsl_api_clSetUserEventStatus(handle, CL_COMPLETE);
    release(kind, handle);
}

static void retain_some(void)
{
    switch (fuzz_pick(in, 6)) {
    case 0:
        tsl_api_clRetainEvent(some(EVENT));
        break;
    case 1:
        tsl_api_clRetainKernel(some(KERNEL));
        break;
    case 2:
        tsl_api_clRetainProgram(some(PROGRAM));
        break;
    case 3:
        tsl_api_clRetainMemObject(some(MEM));
        break;
    case 4:
        tsl_api_clRetainCommandQueue(some(QUEUE));
        break;
    default:
        tsl_api_clRetainContext(some(CONTEXT));
    }
}

static void let_time_pass(void)
{
    for (unsigned n = fuzz_pick(in, 8); n-- > 0 && fuzz_step();)
        continue;
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

static size_t some_length(void)
{
    unsigned choice = fuzz_byte(in);
    return choice >= 250 ? some_size() : choice % 20;
}

/* Those with host memory are small enough for it, whatever their pitches. */
static void create_image(void)
{
    static const cl_image_format formats[] = {{CL_RGBA, CL_UNSIGNED_INT8}, {CL_R, CL_FLOAT},   {CL_RGBA, CL_FLOAT},
                                              {CL_R, CL_UNSIGNED_INT8},    {CL_INTENSITY, 99}, {CL_RG, CL_HALF_FLOAT}};
    cl_context context = some(CONTEXT);
    cl_mem_flags flags = some_flags();
    bool has_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_BUFFER + fuzz_pick(in, 8)};
    desc.image_width = has_host ? fuzz_pick(in, 20) : some_length();
    desc.image_height = has_host ? fuzz_pick(in, 8) : some_length();
    desc.image_depth = has_host ? fuzz_pick(in, 4) : some_length();
    desc.image_array_size = fuzz_pick(in, 5);
    desc.image_row_pitch = fuzz_pick(in, 4) ? 0 : fuzz_byte(in) * 4;
    desc.image_slice_pitch = fuzz_pick(in, 4) ? 0 : desc.image_row_pitch * fuzz_pick(in, 9);
    desc.mem_object = fuzz_pick(in, 3) ? NULL : some(MEM);
    const cl_image_format *format = fuzz_pick(in, 16) ? &formats[fuzz_pick(in, 6)] : NULL;
    const cl_image_desc *asked = fuzz_pick(in, 32) ? &desc : NULL;
    keep(MEM, tsl_api_clCreateImage(context, flags, format, asked, has_host ? some_object_host() : NULL, NULL));
}

static void image_transfer(void)
{
    cl_command_queue queue = some(QUEUE);
    cl_mem image = some(MEM), other = some(MEM);
    size_t origin[3] = {some_length(), fuzz_pick(in, 6), fuzz_pick(in, 4)}, to[3] = {fuzz_pick(in, 8), 0, 0};
    size_t region[3] = {fuzz_pick(in, 16), fuzz_pick(in, 6), fuzz_pick(in, 4)}, offset = some_size();
    size_t row = fuzz_byte(in), slice = row * fuzz_pick(in, 8);
    unsigned char color[16] = {(unsigned char)offset};
    void *host = some_host(queue);
    struct around a = some_around();
    switch (fuzz_pick(in, 6)) {
    case 0:
        tsl_api_clEnqueueReadImage(queue, image, some_blocking(), origin, region, row, slice, host, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueWriteImage(queue, image, some_blocking(), origin, region, row, slice, host, AROUND(a));
        break;
    case 2:
        tsl_api_clEnqueueCopyImage(queue, image, other, origin, to, region, AROUND(a));
        break;
    case 3:
        tsl_api_clEnqueueCopyImageToBuffer(queue, image, other, origin, region, offset, AROUND(a));
        break;
    case 4:
        tsl_api_clEnqueueCopyBufferToImage(queue, other, image, offset, origin, region, AROUND(a));
        break;
    default:
        tsl_api_clEnqueueFillImage(queue, image, color, origin, region, AROUND(a));
    }
    keep_event(&a);
}

static void map_image(void)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, 0};
    cl_command_queue queue = some(QUEUE);
    cl_mem image = some(MEM);
    size_t origin[3] = {some_length(), fuzz_pick(in, 4), 0}, region[3] = {fuzz_pick(in, 16), fuzz_pick(in, 6), 1},
           pitches[2];
    struct around a = some_around();
    cl_bool blocking = some_blocking();
    cl_map_flags how = flags[fuzz_pick(in, 4)];
    size_t *slice = fuzz_pick(in, 4) ? &pitches[1] : NULL;
    void *at =
        tsl_api_clEnqueueMapImage(queue, image, blocking, how, origin, region, &pitches[0], slice, AROUND(a), NULL);
    if (at && n_mapped < sizeof(mapped) / sizeof(mapped[0])) {
        mapped[n_mapped].mem = image;
        mapped[n_mapped++].at = at;
    }
    keep_event(&a);
}

static void sampler(void)
{
    cl_sampler made;
    cl_kernel kernel;
    cl_context context;
    cl_bool normalized;
    cl_addressing_mode addressing;
    switch (fuzz_pick(in, 4)) {
    case 0:
        tsl_api_clReleaseSampler(some(SAMPLER));
        break;
    case 1:
        made = some(SAMPLER);
        kernel = some(KERNEL);
        tsl_api_clSetKernelArg(kernel, fuzz_pick(in, 4), sizeof(made), &made);
        break;
    default:
        context = some(CONTEXT);
        normalized = fuzz_pick(in, 3);
        addressing = CL_ADDRESS_NONE + fuzz_pick(in, 6);
        keep(SAMPLER,
             tsl_api_clCreateSampler(context, normalized, addressing, CL_FILTER_NEAREST + fuzz_pick(in, 3), NULL));
    }
}

static void query_image(void)
{
    unsigned char answer[256];
    cl_image_format formats[4];
    size_t size = fuzz_byte(in);
    void *object;
    cl_mem_flags flags;
    cl_mem_object_type type;
    cl_uint n;
    switch (fuzz_pick(in, 4)) {
    case 0:
        object = some(MEM);
        tsl_api_clGetImageInfo(object, 0x1110u + fuzz_pick(in, 14), size, answer, NULL);
        break;
    case 1:
        object = some(SAMPLER);
        tsl_api_clGetSamplerInfo(object, 0x1150u + fuzz_pick(in, 8), size, answer, NULL);
        break;
    case 2:
        object = some(CONTEXT);
        flags = some_flags();
        type = CL_MEM_OBJECT_BUFFER + fuzz_pick(in, 8);
        tsl_api_clGetSupportedImageFormats(object, flags, type, fuzz_pick(in, 5), formats, &n);
        break;
    default:
        keep(KERNEL, tsl_api_clCloneKernel(some(KERNEL), NULL));
    }
}

static bool is_mem(cl_mem mem)
{
    return !tsl_api_clGetMemObjectInfo(mem, CL_MEM_TYPE, 0, NULL, NULL);
}

/* A kernel on images, whole: as single calls it is found too rarely, and nobody but the vendor can tell its arguments'
 * kinds, so all but memory would be refused. */
static void blur(void)
{
    cl_mem from = some(MEM), to = some(MEM);
    size_t n = fuzz_pick(in, 16);
    struct around a = some_around();
    cl_kernel kernel = is_mem(from) && is_mem(to) ? tsl_api_clCreateKernel(some(PROGRAM), "blur", NULL) : NULL;
    tsl_api_clSetKernelArg(kernel, 0, sizeof(from), &from);
    tsl_api_clSetKernelArg(kernel, 1, sizeof(to), &to);
    tsl_api_clEnqueueNDRangeKernel(some(QUEUE), kernel, 1, NULL, &n, NULL, AROUND(a));
    tsl_api_clReleaseKernel(kernel);
    keep_event(&a);
}

static void (*const image_calls[])(void) = {
    create_image, create_image, image_transfer, image_transfer, image_transfer, map_image, sampler, query_image, blur};

/* ---- What came last ---------------------------------------------------------------------------------------------- */

static void sub_devices(void)
{
    static const cl_device_partition_property lists[][3] = {{CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0},
                                                            {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0},
                                                            {CL_DEVICE_PARTITION_EQUALLY, 1, 0},
                                                            {0}};
    cl_device_id made[4], device = some(DEVICE);
    cl_uint n = 0;
    unsigned list = fuzz_pick(in, 5), room = fuzz_pick(in, 5);
    bool asks = fuzz_pick(in, 4) == 0 || n_handles + 4 > N_HANDLES - 2;
    if (tsl_api_clCreateSubDevices(device, list < 4 ? lists[list] : NULL, room, asks ? NULL : made, &n) || asks)
        return;
    for (cl_uint i = 0; i < n; i++) {
        keep(DEVICE, made[i]);
        handles[n_handles - 1].sub = true;
    }
}

static void create_otherwise(void)
{
    cl_ulong properties[5] = {fuzz_pick(in, 4) ? CL_SAMPLER_NORMALIZED_COORDS + fuzz_pick(in, 4) : 0, fuzz_pick(in, 3),
                              fuzz_pick(in, 4) ? CL_SAMPLER_NORMALIZED_COORDS + fuzz_pick(in, 4) : 0, fuzz_byte(in)};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = some_length(), .image_height = 1};
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_context context = some(CONTEXT);
    cl_mem_flags flags;
    switch (fuzz_pick(in, 4)) {
    case 0:
        flags = some_flags() & CL_MEM_WRITE_ONLY;
        keep(MEM, tsl_api_clCreateBufferWithProperties(context, properties, flags, some_size(), NULL, NULL));
        break;
    case 1:
        keep(MEM, tsl_api_clCreateImageWithProperties(context, properties, 0, &format, &desc, NULL, NULL));
        break;
    case 2:
        keep(SAMPLER, tsl_api_clCreateSamplerWithProperties(context, properties, NULL));
        break;
    default:
        keep(CONTEXT, tsl_api_clCreateContextFromType(NULL, 1ul << fuzz_pick(in, 8), NULL, NULL, NULL));
    }
}

/* "kernel add x" as its first string, and two constants, of 4 and 8 bytes; a byte of it may be wrong. */
static void create_il(void)
{
    uint32_t module[] = {0x07230203, 0x10000,
                         0,          40,
                         0,          5u << 16 | 7,
                         30,         0x6e72656b,
                         0x61206c65, 0x78206464,
                         0,          4u << 16 | 71,
                         10,         1,
                         3,          4u << 16 | 71,
                         11,         1,
                         5,          4u << 16 | 21,
                         20,         32,
                         0,          4u << 16 | 21,
                         21,         64,
                         0,          4u << 16 | 50,
                         20,         10,
                         7,          5u << 16 | 50,
                         21,         11,
                         7,          0};
    unsigned at = fuzz_byte(in) % sizeof(module);
    size_t size = fuzz_pick(in, 4) ? sizeof(module) : fuzz_byte(in) % (sizeof(module) + 1);
    module[5] = 6u << 16 | 7;
    if (fuzz_pick(in, 2))
        ((unsigned char *)module)[at] = (unsigned char)fuzz_byte(in);
    cl_context context = some(CONTEXT);
    keep(PROGRAM, tsl_api_clCreateProgramWithIL(context, fuzz_pick(in, 16) ? module : NULL, size, NULL));
}

static void other_programs(void)
{
    static const char *const names[] = {"add", "mix", "add;mix", "none", "", ";add"};
    cl_device_id devices[2] = {some(DEVICE), some(DEVICE)};
    const cl_ulong value = 7;
    cl_context context;
    cl_program program;
    cl_uint n, id;
    size_t size;
    switch (fuzz_pick(in, 4)) {
    case 0:
        context = some(CONTEXT);
        n = fuzz_pick(in, 3);
        keep(PROGRAM, tsl_api_clCreateProgramWithBuiltInKernels(context, n, devices, names[fuzz_pick(in, 6)], NULL));
        break;
    case 1:
        create_il();
        break;
    case 2:
        program = some(PROGRAM);
        id = fuzz_pick(in, 7);
        size = fuzz_pick(in, 10);
        tsl_api_clSetProgramSpecializationConstant(program, id, size, fuzz_pick(in, 8) ? &value : NULL);
        break;
    default:
        program = some(PROGRAM);
        n = fuzz_pick(in, 3);
        tsl_api_clBuildProgram(program, n, fuzz_pick(in, 4) ? devices : NULL, "", NULL, NULL);
    }
}

static void CL_CALLBACK on_program(cl_program program, void *arg)
{
    (void)program, (void)arg;
}

static void compile_and_link(void)
{
    static const char *const options[] = {NULL, "-create-library", "-unknown", "-w"};
    const char *names[] = {"one.h", fuzz_pick(in, 8) ? "two.h" : NULL};
    cl_program programs[2] = {some(PROGRAM), some(PROGRAM)};
    cl_device_id devices[2] = {some(DEVICE), some(DEVICE)};
    cl_uint n = fuzz_pick(in, 3), n_devices = fuzz_pick(in, 3);
    const char *text = options[fuzz_pick(in, 4)];
    bool compile = fuzz_pick(in, 2);
    void *object = some(compile ? PROGRAM : CONTEXT);
    void(CL_CALLBACK * told)(cl_program, void *) = fuzz_pick(in, 2) ? on_program : NULL;
    const cl_device_id *those = n_devices ? devices : NULL;
    if (compile)
        tsl_api_clCompileProgram(object, n_devices, those, text, n, n ? programs : NULL, n ? names : NULL, told, NULL);
    else
        keep(PROGRAM, tsl_api_clLinkProgram(object, n_devices, those, text, n, programs, told, NULL, NULL));
}

static void all_kernels(void)
{
    cl_kernel made[4] = {NULL};
    cl_uint n = 0, room = fuzz_pick(in, 5);
    if (n_handles + 4 > N_HANDLES - 2)
        return;
    cl_program program = some(PROGRAM);
    if (tsl_api_clCreateKernelsInProgram(program, room, fuzz_pick(in, 4) ? made : NULL, &n))
        return;
    for (cl_uint i = 0; i < 4; i++)
        keep(KERNEL, made[i]);
}

static void other_launches(void)
{
    size_t offset[3] = {some_size(), 0, 0}, global[3] = {some_size(), fuzz_byte(in), 1}, local[3];
    cl_uint dim = fuzz_pick(in, 5);
    struct around a = some_around();
    bool asks = fuzz_pick(in, 2);
    cl_command_queue queue = some(QUEUE);
    cl_kernel kernel = some(KERNEL);
    if (asks) {
        const size_t *from = fuzz_pick(in, 2) ? offset : NULL, *all = fuzz_pick(in, 8) ? global : NULL;
        tsl_api_clGetKernelSuggestedLocalWorkSize(queue, kernel, dim, from, all, fuzz_pick(in, 8) ? local : NULL);
    } else {
        tsl_api_clEnqueueTask(queue, kernel, AROUND(a));
    }
    keep_event(&a);
}

static void query_kernel(void)
{
    unsigned char answer[256];
    size_t size = fuzz_byte(in), got;
    unsigned which = fuzz_pick(in, 4);
    void *object = some(which < 3 ? KERNEL : PLATFORM);
    cl_device_id device;
    cl_uint index;
    switch (which) {
    case 0:
        index = fuzz_pick(in, 6);
        tsl_api_clGetKernelArgInfo(object, index, 0x1196u + fuzz_pick(in, 6), size, answer, &got);
        break;
    case 1:
        device = some(DEVICE);
        tsl_api_clGetKernelWorkGroupInfo(object, device, 0x11B0u + fuzz_pick(in, 7), size, answer, &got);
        break;
    case 2:
        device = some(DEVICE);
        tsl_api_clGetKernelSubGroupInfo(object, device, 0x2033u + fuzz_pick(in, 3), 0, NULL, size, answer, &got);
        break;
    default:
        tsl_api_clGetPlatformInfo(object, 0x900u + fuzz_pick(in, 9), size, answer, &got);
    }
}

/* ---- Shared virtual memory --------------------------------------------------------------------------------------- */

static cl_context context_of(cl_command_queue queue)
{
    cl_context context = NULL;
    tsl_api_clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    return context;
}

static void allocate_shared(void)
{
    static const cl_svm_mem_flags flags[] = {0, CL_MEM_READ_WRITE, CL_MEM_SVM_FINE_GRAIN_BUFFER,
                                             CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, CL_MEM_USE_HOST_PTR};
    cl_context context = some(CONTEXT);
    size_t size = some_size();
    cl_uint alignment = fuzz_byte(in);
    char *at = n_regions < MOST_REGIONS ? tsl_api_clSVMAlloc(context, flags[fuzz_pick(in, 5)], size, alignment) : NULL;
    if (!at)
        return;
    memset(at, 1, size);
    regions[n_regions].context = context;
    regions[n_regions].size = size;
    regions[n_regions++].at = at;
}

static void forget_region(unsigned i)
{
    regions[i] = regions[--n_regions];
}

/* Its bytes and some behind them. */
static void *some_shared(void)
{
    unsigned i = fuzz_pick(in, MOST_REGIONS), offset = fuzz_byte(in);
    return i < n_regions ? regions[i].at + offset : NULL;
}

/* One of its bytes, for what takes all other memory for the application's. */
static void *some_shared_of(cl_context context)
{
    unsigned i = fuzz_pick(in, MOST_REGIONS), offset = fuzz_byte(in);
    return i < n_regions && regions[i].context == context ? regions[i].at + offset % regions[i].size : NULL;
}

static void free_shared(void)
{
    unsigned i = fuzz_pick(in, MOST_REGIONS);
    cl_command_queue queue = some(QUEUE);
    if (i >= n_regions)
        return;
    void *at = regions[i].at;
    if (fuzz_pick(in, 2))
        tsl_api_clSVMFree(regions[i].context, at);
    else if (context_of(queue) != regions[i].context ||
             tsl_api_clEnqueueSVMFree(queue, 1, &at, NULL, NULL, 0, NULL, NULL) != CL_SUCCESS)
        return;
    forget_region(i);
}

/* Who is given memory that is none of the context's takes it for the application's. */
static void copy_shared(void)
{
    struct around a = some_around();
    cl_command_queue queue = some(QUEUE);
    cl_context context = context_of(queue);
    void *one = context ? some_shared_of(context) : NULL, *two = context ? some_shared_of(context) : NULL;
    void *host = some_host(queue);
    size_t size = some_size();
    bool blocking = fuzz_pick(in, 2);
    if (blocking)
        open_gates(CL_COMPLETE);
    switch (fuzz_pick(in, 5)) {
    case 0:
        tsl_api_clEnqueueSVMMemcpy(queue, blocking, one, two, size, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueSVMMemcpy(queue, blocking, one, host, one ? size : 0, AROUND(a));
        break;
    case 2:
        tsl_api_clEnqueueSVMMemcpy(queue, blocking, host, two, two ? size : 0, AROUND(a));
        break;
    case 3:
        tsl_api_clEnqueueSVMMemcpy(queue, blocking, host, pool_of(queue), size % 1024, AROUND(a));
        break;
    default:
        tsl_api_clEnqueueSVMMemFill(queue, one, pools[0], (size_t)1 << fuzz_pick(in, 9), size, AROUND(a));
    }
    keep_event(&a);
}

static void use_shared(void)
{
    struct around a = some_around();
    cl_command_queue queue = some(QUEUE);
    void *pointers[] = {some_shared(), some_shared()};
    const void *moved[] = {pointers[0], pointers[1]};
    size_t size = some_size(), sizes[] = {size, 0};
    cl_kernel kernel = some(KERNEL);
    unsigned i = fuzz_pick(in, MOST_REGIONS);
    switch (fuzz_pick(in, 8)) {
    case 0:
        tsl_api_clEnqueueSVMMap(queue, CL_FALSE, fuzz_pick(in, 8), pointers[0], size, AROUND(a));
        break;
    case 1:
        tsl_api_clEnqueueSVMUnmap(queue, pointers[0], AROUND(a));
        break;
    case 2:
        tsl_api_clEnqueueSVMMigrateMem(queue, 2, moved, sizes, fuzz_pick(in, 4), AROUND(a));
        break;
    case 3:
    case 4:
        tsl_api_clSetKernelArgSVMPointer(kernel, fuzz_pick(in, 4), pointers[0]);
        break;
    case 5:
        tsl_api_clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8 * fuzz_pick(in, 3), pointers);
        break;
    case 6:
        if (i < n_regions)
            keep(MEM, tsl_api_clCreateBuffer(regions[i].context, some_flags() | CL_MEM_USE_HOST_PTR, size,
                                             regions[i].at + fuzz_byte(in), NULL));
        break;
    default:
        tsl_api_clSetProgramReleaseCallback(some(PROGRAM), on_program, NULL);
    }
    keep_event(&a);
}

static void shared_memory(void)
{
    static void (*const calls_of_it[])(void) = {allocate_shared, allocate_shared, free_shared, copy_shared,
                                                use_shared,      use_shared,      use_shared};
    calls_of_it[fuzz_pick(in, sizeof(calls_of_it) / sizeof(calls_of_it[0]))]();
}

static void (*const last_calls[])(void) = {sub_devices,      create_otherwise, other_programs,
                                           compile_and_link, all_kernels,      other_launches,
                                           query_kernel,     shared_memory,    shared_memory};

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void (*const calls[])(void) = {
    create_context, create_queue,  create_buffer, create_buffer, create_sub_buffer,
    create_program, build_program, create_kernel, set_arg,       set_arg,
    launch,         launch,        transfer,      transfer,      transfer,
    rectangle,      map,           unmap,         sync_call,     wait_call,
    user_event,     callback,      migrate,       native_kernel, query,
    release_some,   retain_some,   let_time_pass, binaries,
};

/* The largest bytes are for what came last, so that the corpus keeps its meaning. */
static void one_call(void)
{
    unsigned choice = fuzz_byte(in);
    if (choice >= 253)
        last_calls[fuzz_pick(in, sizeof(last_calls) / sizeof(last_calls[0]))]();
    else if (choice >= 232)
        image_calls[choice % (sizeof(image_calls) / sizeof(image_calls[0]))]();
    else
        calls[choice % (sizeof(calls) / sizeof(calls[0]))]();
}

/* What most programs begin with, so that not every input must find it. */
static void begin_program(void)
{
    const char *text = "kernel add x\nkernel mix a,b,c,d\nkernel blur a,b\n";
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    tsl_api_clGetPlatformIDs(1, &platform, NULL);
    tsl_api_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    keep(PLATFORM, platform);
    keep(DEVICE, device);
    cl_context context = tsl_api_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    keep(CONTEXT, context);
    keep(QUEUE, tsl_api_clCreateCommandQueue(context, device, 0, NULL));
    keep(QUEUE, tsl_api_clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL));
    keep(MEM, tsl_api_clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, NULL));
    cl_program program = tsl_api_clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    keep(PROGRAM, program);
    tsl_api_clBuildProgram(program, 0, NULL, "", NULL, NULL);
    keep(KERNEL, tsl_api_clCreateKernel(program, "add", NULL));
}

static void end_program(void)
{
    open_gates(CL_COMPLETE);
    for (unsigned i = 0; i < n_handles; i++)
        while (handles[i].kind == SAMPLER && tsl_api_clReleaseSampler(handles[i].handle) == CL_SUCCESS)
            continue;
    for (unsigned i = 0; i < n_handles; i++)
        if (handles[i].kind == QUEUE)
            tsl_api_clFinish(handles[i].handle);
    while (n_regions > 0) {
        n_regions--;
        tsl_api_clSVMFree(regions[n_regions].context, regions[n_regions].at);
    }
    for (unsigned kind = 0; kind < DEVICE; kind++)
        for (unsigned i = 0; i < n_handles; i++)
            while (handles[i].kind == kind && release(kind, handles[i].handle) == CL_SUCCESS)
                continue;
    for (unsigned i = 0; i < n_handles; i++)
        if (handles[i].sub)
            tsl_api_clReleaseDevice(handles[i].handle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    in = &input;
    n_handles = n_mapped = n_regions = 0;
    fuzz_machine_begin(in);
    begin_program();
    while (fuzz_more(in) && n_handles < N_HANDLES - 2)
        one_call();
    end_program();
    fuzz_machine_end();
    return 0;
}
