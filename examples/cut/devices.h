/* What programs that cut work over devices by hand need besides: the devices, each with a context, a queue and kernels
 * of its own, and which device has which part. */
#ifndef EXAMPLE_DEVICES_H
#define EXAMPLE_DEVICES_H

#include "example.h"
#include "problem/blocks.h"

struct unit {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    struct block rows; /* its part, where each device has one */
};

struct units {
    unsigned n;
    struct unit at[MAX_DEVICES];
};

static inline void open_unit(const struct example *e, struct unit *u, cl_device_id device, const char *kernel)
{
    cl_int error;
    u->device = device;
    u->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    u->queue = clCreateCommandQueue(u->context, device, 0, &error);
    must(error, "clCreateCommandQueue");
    u->program = build_program(e, u->context, device);
    u->kernel = make_kernel(u->program, kernel);
}

/* Opens the devices that --devices names, in that order. */
static inline void open_units(const struct example *e, struct units *units, const char *kernel)
{
    cl_device_id devices[MAX_DEVICES];
    cl_uint n = find_devices(e->platform, devices);
    units->n = 0;
    if (n == 0)
        refuse("no device", "see --list");
    for (cl_uint i = 0; !e->devices && i < n; i++)
        open_unit(e, &units->at[units->n++], devices[i], kernel);
    for (const char *next = e->devices; next && *next && units->n < MAX_DEVICES;) {
        char *end;
        unsigned long number = strtoul(next, &end, 10);
        if (end == next || (*end && *end != ',') || number >= n)
            refuse(next, "there is no such device here: see --list");
        open_unit(e, &units->at[units->n++], devices[number], kernel);
        next = *end ? end + 1 : end;
    }
}

static inline void close_units(struct units *units)
{
    for (unsigned i = 0; i < units->n; i++) {
        clReleaseKernel(units->at[i].kernel);
        clReleaseProgram(units->at[i].program);
        clReleaseCommandQueue(units->at[i].queue);
        clReleaseContext(units->at[i].context);
    }
}

/* Starts what was enqueued, everywhere, and waits for all of it. */
static inline void finish_units(const struct units *units)
{
    for (unsigned i = 0; i < units->n; i++)
        must(clFlush(units->at[i].queue), "clFlush");
    for (unsigned i = 0; i < units->n; i++)
        finish(units->at[i].queue);
}

/* Divides rows by weights, "1,2.5"; equal ones unless they are given. Borders are multiples of `grain` rows. */
static inline void divide(struct units *units, size_t rows, size_t grain, const char *weights)
{
    double weight[MAX_DEVICES], sum = 0, before = 0;
    const char *next = weights && *weights ? weights : NULL;
    for (unsigned i = 0; i < units->n; i++) {
        char *end = NULL;
        weight[i] = next ? strtod(next, &end) : 1;
        if (next && (end == next || !(weight[i] >= 0) || (*end == ',') != (i + 1 < units->n)))
            refuse("--weights", "a number for each device is needed, with commas between");
        next = next ? end + 1 : NULL;
        sum += weight[i];
    }
    if (!(sum > 0))
        refuse("--weights", "one above nought is needed");
    for (unsigned i = 0; i < units->n; i++) {
        size_t first = (size_t)(before / sum * (double)rows) / grain * grain;
        before += weight[i];
        size_t end = i + 1 == units->n ? rows : (size_t)(before / sum * (double)rows) / grain * grain;
        units->at[i].rows = (struct block){first, end - first};
    }
}

/* The device of block i of n: consecutive blocks ("block"), or one after the other ("cyclic"). */
static inline struct unit *unit_of(struct units *units, const char *how, size_t i, size_t n)
{
    if (!strcmp(how, "block"))
        return &units->at[i * units->n / n];
    if (!strcmp(how, "cyclic"))
        return &units->at[i % units->n];
    refuse("--cut", "one of the ways that --help names is needed");
    return NULL;
}

/* OpenCL has no empty buffers and no empty launches. */
static inline cl_mem make_part(const struct unit *u, cl_mem_flags flags, size_t size)
{
    return make_buffer(u->context, flags, size ? size : 1);
}

static inline void write_part(const struct unit *u, cl_mem mem, size_t size, const void *from)
{
    if (size)
        write_all(u->queue, mem, size, from);
}

static inline void read_part(const struct unit *u, cl_mem mem, size_t size, void *to)
{
    if (size)
        must(clEnqueueReadBuffer(u->queue, mem, CL_FALSE, 0, size, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static inline void launch_part(const struct unit *u, size_t width, size_t height, size_t group)
{
    if (height)
        launch(u->queue, u->kernel, width, height, group, NULL, NULL);
}

#endif
