/*
 * Does a command or a tile cost the same, however many there are? An ordinary OpenCL program on the first device it
 * finds: each row does n things at once, and says what one of them took. Not a test. Natively (OCL_ICD_VENDORS of a
 * vendor) it shows what of the growth is the vendor's.
 */
#include "measure.h"

#include <CL/cl.h>
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIECE 64u /* bytes of a tile */

struct rig {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
};

struct row {
    const char *name;
    double (*seconds)(const struct rig *rig, size_t n);
};

static double now(void)
{
    return now_us() * 1e-6;
}

static cl_mem buffer_of(const struct rig *rig, size_t size)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(rig->context, CL_MEM_READ_WRITE, size, NULL, &error);
    must(error, "clCreateBuffer");
    return buffer;
}

static void fill(const struct rig *rig, cl_mem buffer, size_t offset, cl_uint n_waits, const cl_event *waits)
{
    cl_uint pattern = (cl_uint)offset;
    must(clEnqueueFillBuffer(rig->queue, buffer, &pattern, sizeof(pattern), offset, PIECE, n_waits, waits, NULL),
         "clEnqueueFillBuffer");
}

static void finish(const struct rig *rig)
{
    must(clFinish(rig->queue), "clFinish");
}

/* ---- What is measured -------------------------------------------------------------------------------------------- */

static double same_place(const struct rig *rig, size_t n)
{
    cl_mem buffer = buffer_of(rig, PIECE);
    double start = now();
    for (size_t i = 0; i < n; i++)
        fill(rig, buffer, 0, 0, NULL);
    finish(rig);
    double seconds = now() - start;
    clReleaseMemObject(buffer);
    return seconds;
}

/* Every second piece: as many tiles as commands, and no two of them can be joined. */
static double own_place(const struct rig *rig, size_t n)
{
    cl_mem buffer = buffer_of(rig, 2 * n * PIECE);
    double start = now();
    for (size_t i = 0; i < n; i++)
        fill(rig, buffer, 2 * i * PIECE, 0, NULL);
    finish(rig);
    double seconds = now() - start;
    clReleaseMemObject(buffer);
    return seconds;
}

/* One command over all the tiles that the others left. */
static double over_tiles(const struct rig *rig, size_t n)
{
    cl_mem buffer = buffer_of(rig, 2 * n * PIECE), copy = buffer_of(rig, 2 * n * PIECE);
    for (size_t i = 0; i < n; i++)
        fill(rig, buffer, 2 * i * PIECE, 0, NULL);
    finish(rig);
    double start = now();
    must(clEnqueueCopyBuffer(rig->queue, buffer, copy, 0, 0, 2 * n * PIECE, 0, NULL, NULL), "clEnqueueCopyBuffer");
    finish(rig);
    double seconds = now() - start;
    clReleaseMemObject(buffer);
    clReleaseMemObject(copy);
    return seconds;
}

static double held(const struct rig *rig, size_t n)
{
    cl_int error;
    cl_event gate = clCreateUserEvent(rig->context, &error);
    must(error, "clCreateUserEvent");
    cl_mem buffer = buffer_of(rig, PIECE);
    double start = now();
    for (size_t i = 0; i < n; i++)
        fill(rig, buffer, 0, i == 0, i == 0 ? &gate : NULL);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    finish(rig);
    double seconds = now() - start;
    clReleaseEvent(gate);
    clReleaseMemObject(buffer);
    return seconds;
}

static double waits(const struct rig *rig, size_t n)
{
    cl_event *events = malloc(n * sizeof(*events)), all;
    must(events ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    double start = now();
    for (size_t i = 0; i < n; i++)
        must(clEnqueueMarkerWithWaitList(rig->queue, 0, NULL, &events[i]), "clEnqueueMarkerWithWaitList");
    must(clEnqueueMarkerWithWaitList(rig->queue, (cl_uint)n, events, &all), "clEnqueueMarkerWithWaitList");
    must(clWaitForEvents(1, &all), "clWaitForEvents");
    for (size_t i = 0; i < n; i++)
        clReleaseEvent(events[i]);
    clReleaseEvent(all);
    double seconds = now() - start;
    free(events);
    return seconds;
}

static double objects(const struct rig *rig, size_t n)
{
    cl_mem *buffers = malloc(n * sizeof(*buffers));
    must(buffers ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    double start = now();
    for (size_t i = 0; i < n; i++)
        buffers[i] = buffer_of(rig, PIECE);
    for (size_t i = 0; i < n; i++)
        clReleaseMemObject(buffers[i]);
    double seconds = now() - start;
    free(buffers);
    return seconds;
}

static const struct row rows[] = {
    {"command, all on one range", same_place},     {"command, each on its own range", own_place},
    {"tile, of one command over all", over_tiles}, {"command, all held by a user event", held},
    {"event, all in one wait list", waits},        {"buffer, all alive at once", objects},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void open_rig(struct rig *rig)
{
    cl_platform_id platform;
    char name[200];
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &rig->device, NULL), "clGetDeviceIDs");
    must(clGetDeviceInfo(rig->device, CL_DEVICE_NAME, sizeof(name), name, NULL), "clGetDeviceInfo");
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    must(error, "clCreateCommandQueue");
    printf("%s: microseconds for each\n", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    size_t *most = state->input;
    if (key != 'n')
        return ARGP_ERR_UNKNOWN;
    *most = strtoull(arg, NULL, 10);
    if (*most < 100)
        argp_error(state, "--most takes a number from 100");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"most", 'n', "N", 0, "go up to N at once, by factors of ten from 100 (default: 1000000)", 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "What one command, tile, event or buffer costs when there are many, on the first OpenCL device: for "
               "Tesela set OCL_ICD_VENDORS to build/icd."};
    struct rig rig;
    size_t most = 1000000;
    argp_parse(&argp, argc, argv, 0, NULL, &most);
    open_rig(&rig);
    same_place(&rig, 1000); /* to warm up */
    printf("%-36s", "");
    for (size_t n = 100; n <= most; n *= 10)
        printf("%10zu", n);
    for (int r = 0; r < N_ROWS; r++) {
        printf("\n%-36s", rows[r].name);
        for (size_t n = 100; n <= most; n *= 10) {
            printf("%10.3f", rows[r].seconds(&rig, n) / (double)n * 1e6);
            fflush(stdout);
        }
    }
    printf("\n");
    return 0;
}
