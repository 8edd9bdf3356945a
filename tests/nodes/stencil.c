/* A plain OpenCL program for tests of nodes: vectors are added, and a plate is relaxed step by step, on the one device
 * that there is. It compares each byte with the host's own result.
 *
 *     stencil STEPS [SECONDS]   0 steps: without end, or for so long, until a command fails; the exit status is 3 then
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
        if (steps == 0 && i % 16 == 15 && until && time(NULL) > until)
            return 0;
        if (i == 15 && steps == 0) {
            puts("running");
            fflush(stdout);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    time_t until = argc > 2 ? time(NULL) + atol(argv[2]) : 0;

    begin();
    if (add_vectors()) {
        fprintf(stderr, "stencil: the sums are wrong\n");
        return 1;
    }
    if (relax_plate(argc > 1 ? strtoul(argv[1], NULL, 10) : 20, until)) {
        fprintf(stderr, "stencil: the plate is wrong\n");
        return 1;
    }
    puts("right");
    return 0;
}
