/* A machine of whatever members the environment chooses, reached through the OpenCL loader as any program does. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void sim_world_take_back(struct sim *sim, const void *ptr, size_t size)
{
    (void)sim, (void)ptr, (void)size;
}

bool sim_world_has_threads(void)
{
    return true;
}

/* What programs call, by the loader's functions. */
static const struct tsl_dispatch loader = {
    .clCreateContext = clCreateContext,
    .clReleaseContext = clReleaseContext,
    .clCreateCommandQueue = clCreateCommandQueue,
    .clReleaseCommandQueue = clReleaseCommandQueue,
    .clCreateBuffer = clCreateBuffer,
    .clCreateSubBuffer = clCreateSubBuffer,
    .clReleaseMemObject = clReleaseMemObject,
    .clSetMemObjectDestructorCallback = clSetMemObjectDestructorCallback,
    .clCreateProgramWithSource = clCreateProgramWithSource,
    .clBuildProgram = clBuildProgram,
    .clReleaseProgram = clReleaseProgram,
    .clCreateKernel = clCreateKernel,
    .clReleaseKernel = clReleaseKernel,
    .clSetKernelArg = clSetKernelArg,
    .clCreateUserEvent = clCreateUserEvent,
    .clSetUserEventStatus = clSetUserEventStatus,
    .clSetEventCallback = clSetEventCallback,
    .clRetainEvent = clRetainEvent,
    .clReleaseEvent = clReleaseEvent,
    .clGetEventInfo = clGetEventInfo,
    .clGetEventProfilingInfo = clGetEventProfilingInfo,
    .clWaitForEvents = clWaitForEvents,
    .clFlush = clFlush,
    .clFinish = clFinish,
    .clEnqueueReadBuffer = clEnqueueReadBuffer,
    .clEnqueueReadBufferRect = clEnqueueReadBufferRect,
    .clEnqueueWriteBuffer = clEnqueueWriteBuffer,
    .clEnqueueWriteBufferRect = clEnqueueWriteBufferRect,
    .clEnqueueCopyBuffer = clEnqueueCopyBuffer,
    .clEnqueueCopyBufferRect = clEnqueueCopyBufferRect,
    .clEnqueueFillBuffer = clEnqueueFillBuffer,
    .clEnqueueMapBuffer = clEnqueueMapBuffer,
    .clEnqueueUnmapMemObject = clEnqueueUnmapMemObject,
    .clEnqueueMigrateMemObjects = clEnqueueMigrateMemObjects,
    .clEnqueueNDRangeKernel = clEnqueueNDRangeKernel,
    .clEnqueueNativeKernel = clEnqueueNativeKernel,
    .clEnqueueMarkerWithWaitList = clEnqueueMarkerWithWaitList,
    .clEnqueueBarrierWithWaitList = clEnqueueBarrierWithWaitList,
};

static const char *const source =
    "struct argument { ulong sim; uint dst, src, size, n_rows, pitch, slice_pitch, src_pitch, src_slice_pitch; ushort "
    "node; uchar value, unused; };\n"
    "kernel void add(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ for (uint i = 0; get_global_id(0) == 0 && i < a.size; i++) dst[a.dst + i] = src[a.src + i] + i + a.value; }\n"
    "kernel void blend(global uchar *dst, global uchar *src, struct argument a)\n"
    "{ for (uint i = 0; get_global_id(0) == 0 && i < a.size; i++) dst[a.dst + i] = src[a.src + i] + i + a.value; }\n"
    "kernel void set(global uchar *dst, struct argument a)\n"
    "{ for (uint i = get_global_id(0); i < a.size; i += get_global_size(0)) dst[a.dst + i] = a.value ^ (i * 5); }\n"
    "kernel void part(global uchar *dst, struct argument a)\n"
    "{ for (uint i = get_global_id(0); i < a.size; i += get_global_size(0)) dst[a.dst + i] = a.value ^ (i * 5); }\n"
    "uint item(void) { return get_global_id(0) - get_global_offset(0); }\n"
    "kernel void slice(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ dst[a.dst + get_global_id(0)] = a.value ^ (item() * 5); }\n"
    "kernel void guarded(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ uint i = get_global_id(0); if (i < a.size) dst[a.dst + i] = a.value ^ (i * 5); }\n"
    "kernel void some(global uchar *dst, struct argument a)\n"
    "{ uint i = get_global_id(0), row = i / a.pitch, k = i % a.pitch;\n"
    "  if (k < a.size) dst[a.dst + i] = a.value ^ ((row * a.size + k) * 5); }\n"
    "kernel void column(global uchar *dst, struct argument a)\n"
    "{ uint i = get_global_id(0);\n"
    "  for (uint k = 0; k < a.size; k++) dst[a.dst + i * a.pitch + k] = a.value ^ ((i * a.size + k) * 5); }\n"
    "kernel void update(global uchar *dst, struct argument a)\n"
    "{ dst[a.dst + get_global_id(0)] = dst[a.src + get_global_id(0)] + item() + a.value; }\n"
    "kernel void shift(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ dst[a.dst + get_global_id(0)] = src[a.src + get_global_id(0)] + item() + a.value; }\n"
    "kernel void gather(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ dst[a.dst + get_global_id(0)] = src[a.src + get_global_id(0)] + item() + a.value; }\n"
    "kernel void box(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ uint i = get_global_id(0), j = get_global_id(1), n = (j * a.n_rows + i) * a.size;\n"
    "  for (uint k = 0; k < a.size; k++)\n"
    "    dst[a.dst + j * a.slice_pitch + i * a.pitch + k] =\n"
    "      src[a.src + j * a.src_slice_pitch + i * a.src_pitch + k] + n + k + a.value; }\n"
    "kernel void turned(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ uint i = get_global_id(1), j = get_global_id(0), n = (j * a.n_rows + i) * a.size;\n"
    "  for (uint k = 0; k < a.size; k++)\n"
    "    dst[a.dst + j * a.slice_pitch + i * a.pitch + k] =\n"
    "      src[a.src + j * a.src_slice_pitch + i * a.src_pitch + k] + n + k + a.value; }\n"
    "kernel void brick(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ uint i = get_global_id(0), j = get_global_id(1), k = get_global_id(2), n = (j * a.n_rows + i) * a.size;\n"
    "  dst[a.dst + j * a.slice_pitch + i * a.pitch + k] =\n"
    "    src[a.src + j * a.src_slice_pitch + i * a.src_pitch + k] + n + k + a.value; }\n"
    "kernel void stencil(global uchar *dst, global const uchar *src, struct argument a)\n"
    "{ global const uchar *s = src + a.src + get_global_id(0);\n"
    "  dst[a.dst + get_global_id(0)] = s[0] + 3 * s[a.src_pitch] + 5 * s[2 * a.src_pitch] + item() + a.value; }\n"
    "kernel void relax(global uchar *dst, struct argument a)\n"
    "{ uint i = get_global_id(0); global uchar *pair = dst + a.dst + 2 * i;\n"
    "  pair[1] = dst[a.src + 2 * i] + i + a.value; pair[0] = a.value ^ (i * 5); }\n"
    "kernel void stripes(global uchar *dst, struct argument a)\n"
    "{ uint i = get_global_id(0);\n"
    "  for (uint row = 0; row < a.n_rows; row++)\n"
    "    dst[a.dst + row * a.pitch + i] = a.value ^ ((row * a.size + i) * 5); }\n"
    "kernel void smear(global uchar *dst, struct argument a)\n"
    "{ uint i = get_global_id(0); global uchar *to = dst + a.dst + i;\n"
    "  to[0] = a.value ^ (i * 5); to[1] = a.value ^ ((i + 1) * 5); }\n"
    "kernel void scatter(global uchar *dst, struct argument a)\n"
    "{ uint i = a.size - 1 - (uint)rint((float)get_global_id(0)); dst[a.dst + i] = a.value ^ (i * 5); }\n"
    "kernel void xor(global uchar *dst, struct argument a)\n"
    "{ uint i = 4 * get_global_id(0), word = 0;\n"
    "  for (uint k = 0; k < 4; k++) word |= ((a.value ^ ((i + k) * 5)) & 255) << 8 * k;\n"
    "  atomic_xor((global uint *)(dst + a.dst + i), word); }\n";

const char *sim_world_source(void)
{
    return source;
}

void sim_world_begin(struct sim_world *world)
{
    cl_platform_id platform;
    cl_uint bits;

    world->cl = &loader;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &world->device, NULL) ||
        clGetDeviceInfo(world->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL)) {
        fprintf(stderr, "no OpenCL device\n");
        exit(1);
    }
    world->align = bits / 8 > 64 ? bits / 8 : 64;
}

/* What isn't over must not be judged, however busy the machine is. The limit of the whole program is less. */
#define MOST_MS 600000u

/* Callbacks may come a little after the last wait, and take their time. */
void sim_world_end(struct sim_world *world)
{
    for (unsigned i = 0; i < world->n_sims; i++) {
        struct sim *sim = world->sims[i];

        for (unsigned n = 0; n < sim->n_callbacks; n++)
            for (unsigned ms = 0; ms < MOST_MS && !sim->callbacks[n].n_left; ms++)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        for (unsigned n = 0; n < sim->n_buffers; n++)
            for (unsigned ms = 0; ms < MOST_MS && !sim->buffers[n].n_destroyed; ms++)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void sim_world_move(struct sim *sim)
{
    (void)sim;
    sim_rest();
}

void sim_world_host_access(const void *ptr, size_t size, bool write)
{
    (void)ptr;
    (void)size;
    (void)write;
}

void sim_world_inject(struct sim *sim, cl_int code)
{
    (void)code;
    sim_fail(sim, "nothing can be made to fail here");
}

bool sim_world_lose(struct sim *sim)
{
    (void)sim;
    return false;
}

bool sim_world_is_shared(void)
{
    return false;
}

void sim_world_inject_launch(struct sim *sim, unsigned first, cl_int code)
{
    (void)first;
    sim_world_inject(sim, code);
}
