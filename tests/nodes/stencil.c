/* A plain OpenCL program for tests of nodes: vectors are added, and a plate is relaxed step by step, on the one device
 * that there is. It compares each byte with the host's own result.
 *
 *     stencil STEPS [SECONDS [SECONDS]]   0 steps: without end, or for so long, until a command fails; the exit status
 * is 3 then. After that bytes go to and fro for the second time
 *
 * Its standard output says when something begins: launches ("running"), transfers ("transferring"), the end ("ending").
 */
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 512u

static const char *const source = "kernel void add(global const int *a, global const int *b, global int *c)\n"
                                  "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
                                  "kernel void relax(global const int *from, global int *to, int n)\n"
                                  "{ int x = get_global_id(0), y = get_global_id(1), i = y * n + x;\n"
                                  "  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) to[i] = from[i];\n"
                                  "  else to[i] = (from[i - 1] + from[i + 1] + from[i - n] + from[i + n]) / 4; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void check(cl_int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "stencil: %s: error %d\n", what, error);
    exit(3);
}

static void begin(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "queue");
    program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
}

static cl_mem make(size_t size, void *bytes)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | (bytes ? CL_MEM_COPY_HOST_PTR : 0), size, bytes, &error);

    check(error, "buffer");
    return mem;
}

static void run(cl_kernel kernel, cl_uint dims, size_t n)
{
    size_t global[2] = {n, n}, local[2] = {dims == 1 ? 64 : 16, 4};

    check(clEnqueueNDRangeKernel(queue, kernel, dims, NULL, global, local, 0, NULL, NULL), "launch");
}

static int add_vectors(void)
{
    static int a[N * N], b[N * N], c[N * N];
    cl_kernel kernel;
    cl_mem mems[3];
    cl_int error;

    for (unsigned i = 0; i < N * N; i++) {
        a[i] = (int)(i * 7);
        b[i] = (int)(i ^ 0x55);
    }
    kernel = clCreateKernel(program, "add", &error);
    check(error, "kernel");
    for (cl_uint i = 0; i < 3; i++) {
        mems[i] = make(sizeof(a), i == 0 ? a : i == 1 ? b : NULL);
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &mems[i]), "argument");
    }
    run(kernel, 1, N * N);
    check(clEnqueueReadBuffer(queue, mems[2], CL_TRUE, 0, sizeof(c), c, 0, NULL, NULL), "read");
    for (unsigned i = 0; i < N * N; i++)
        if (c[i] != a[i] + b[i])
            return 1;
    return 0;
}

static void relax(const int *from, int *to)
{
    for (unsigned y = 0; y < N; y++)
        for (unsigned x = 0; x < N; x++) {
            unsigned i = y * N + x;

            to[i] = x == 0 || y == 0 || x == N - 1 || y == N - 1
                        ? from[i]
                        : (from[i - 1] + from[i + 1] + from[i - N] + from[i + N]) / 4;
        }
}

static void say(const char *what)
{
    puts(what);
    fflush(stdout);
}

static int relax_plate(unsigned long steps, time_t until)
{
    static int plate[2][N * N], out[N * N];
    const int n = N;
    cl_kernel kernel;
    cl_mem mems[2];
    cl_int error;

    for (unsigned i = 0; i < N * N; i++)
        plate[0][i] = (int)(i * 2654435761u >> 12);
    mems[0] = make(sizeof(out), plate[0]);
    mems[1] = make(sizeof(out), NULL);
    kernel = clCreateKernel(program, "relax", &error);
    check(error, "kernel");
    check(clSetKernelArg(kernel, 2, sizeof(n), &n), "argument");
    for (unsigned long i = 0; steps == 0 || i < steps; i++) {
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &mems[i % 2]), "argument");
        check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &mems[(i + 1) % 2]), "argument");
        run(kernel, 2, N);
        relax(plate[i % 2], plate[(i + 1) % 2]);
        if (i % 16 == 15 || i + 1 == steps) {
            check(clEnqueueReadBuffer(queue, mems[(i + 1) % 2], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), "read");
            if (memcmp(out, plate[(i + 1) % 2], sizeof(out)))
                return 1;
        }
        if (i == 15 && steps == 0)
            say("running");
        if (steps == 0 && i % 16 == 15 && until && time(NULL) > until)
            return 0;
    }
    return 0;
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

#define LARGE ((size_t)12 << 20)

static void check_event(cl_event event)
{
    cl_int status;

    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL), "status");
    check(status, "command");
    clReleaseEvent(event);
}

/* Bytes go to one buffer, from there to another, through a kernel, and back, by commands that nobody waits for but the
 * last one. */
static int send_and_compare(cl_kernel kernel, const cl_mem mems[3], unsigned round)
{
    static int in[LARGE / sizeof(int)], out[LARGE / sizeof(int)];
    size_t n = LARGE / sizeof(int), begin = round * 4099u % (n / 2), at = begin * sizeof(int);
    cl_event events[4];

    for (size_t i = 0; i < n; i++)
        in[i] = (int)(i * 2654435761u + round);
    memset(out, 0, sizeof(out));
    check(clEnqueueWriteBuffer(queue, mems[0], CL_FALSE, 0, LARGE, in, 0, NULL, &events[0]), "write");
    check(clEnqueueCopyBuffer(queue, mems[0], mems[1], 0, 0, LARGE, 0, NULL, &events[1]), "copy");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, &events[2]), "launch");
    check(clEnqueueReadBuffer(queue, mems[2], CL_FALSE, at, LARGE - at, out + begin, 0, NULL, &events[3]), "read");
    check(clEnqueueReadBuffer(queue, mems[2], CL_TRUE, 0, at + sizeof(int), out, 0, NULL, NULL), "read");
    check(clFinish(queue), "finish");
    for (unsigned i = 0; i < 4; i++)
        check_event(events[i]);
    for (size_t i = 0; i < n; i++)
        if (out[i] != (int)(2u * (unsigned)in[i]))
            return 1;
    return 0;
}

static int transfer(time_t until)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    cl_mem mems[3];
    int wrong = 0;

    check(error, "kernel");
    for (cl_uint i = 0; i < 3; i++) {
        mems[i] = make(LARGE, NULL);
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &mems[i]), "argument");
    }
    say("transferring");
    for (unsigned round = 0; !wrong && time(NULL) <= until; round++)
        wrong = send_and_compare(kernel, mems, round);
    for (unsigned i = 0; i < 3; i++)
        clReleaseMemObject(mems[i]);
    clReleaseKernel(kernel);
    return wrong;
}

int main(int argc, char **argv)
{
    begin();
    if (add_vectors()) {
        fprintf(stderr, "stencil: the sums are wrong\n");
        return 1;
    }
    if (relax_plate(argc > 1 ? strtoul(argv[1], NULL, 10) : 20, argc > 2 ? time(NULL) + atol(argv[2]) : 0)) {
        fprintf(stderr, "stencil: the plate is wrong\n");
        return 1;
    }
    if (argc > 3 && transfer(time(NULL) + atol(argv[3]))) {
        fprintf(stderr, "stencil: what was sent is wrong\n");
        return 1;
    }
    say("ending");
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    puts("right");
    return 0;
}
