/*
 * How fast kernels themselves run: the same kernels through a vendor's own OpenCL and through Tesela, whose compiler
 * they may have come from, in two processes of one run; times are the least of some rounds, results are compared. Not a
 * test.
 */
#include "kernel_source.h"
#include "measure.h"

#include <CL/cl.h>
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N      1024              /* rows and columns */
#define LARGE  ((size_t)1 << 24) /* elements */
#define ROUNDS 7
#define SAMPLE 4096 /* results that are compared */

static const struct {
    const char *name;
    cl_uint dim;
    size_t global[2], local[2];
    size_t n_results;
} kernels[] = {
    {"vector_add", 1, {LARGE, 1}, {256, 1}, LARGE},
    {"product", 2, {N, N}, {16, 16}, (size_t)N *N},
    {"tiled_product", 2, {N, N}, {16, 16}, (size_t)N *N},
    {"black_scholes", 1, {LARGE, 1}, {256, 1}, LARGE},
    {"stencil", 2, {4 * N, 4 * N}, {32, 8}, (size_t)16 * N *N},
    {"mandelbrot", 2, {N, N}, {16, 16}, (size_t)N *N},
    {"reduction", 1, {LARGE / 16, 1}, {256, 1}, LARGE / 4096},
    {"bodies", 1, {65536, 1}, {256, 1}, 65536},
    {"waves", 1, {LARGE, 1}, {256, 1}, LARGE},
};

#define N_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

struct report {
    double us[N_KERNELS];
    float results[N_KERNELS][SAMPLE];
};

/* ---- In the child ------------------------------------------------------------------------------------------------ */

struct rig {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_mem mems[3];
    float *host;
};

static void set_up(struct rig *rig, bool tesela)
{
    cl_platform_id platform;
    char name[200];
    const char *text = kernel_source;
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL), "clGetPlatformInfo");
    if (tesela)
        must_be_tesela(name, getenv("OCL_ICD_VENDORS"));
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &rig->device, NULL), "clGetDeviceIDs");
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    must(error, "clCreateCommandQueue");
    rig->program = clCreateProgramWithSource(rig->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(rig->program, 1, &rig->device, "", NULL, NULL), "clBuildProgram");
    rig->host = malloc(LARGE * sizeof(float));
    must(rig->host ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < LARGE; k++)
            rig->host[k] = (float)((k * 2654435761u + (unsigned)i * 40503u) % 65536) / 65536.0f - 0.5f;
        rig->mems[i] = clCreateBuffer(rig->context, CL_MEM_READ_WRITE, LARGE * sizeof(float), NULL, &error);
        must(error, "clCreateBuffer");
        must(
            clEnqueueWriteBuffer(rig->queue, rig->mems[i], CL_TRUE, 0, LARGE * sizeof(float), rig->host, 0, NULL, NULL),
            "write");
    }
}

/* One launch's time out of several in a row. */
static double launches_us(struct rig *rig, cl_kernel kernel, size_t k, int n)
{
    double start = now_us();
    for (int i = 0; i < n; i++)
        must(clEnqueueNDRangeKernel(rig->queue, kernel, kernels[k].dim, NULL, kernels[k].global, kernels[k].local, 0,
                                    NULL, NULL),
             kernels[k].name);
    must(clFinish(rig->queue), "clFinish");
    return (now_us() - start) / n;
}

static void measure(struct rig *rig, size_t k, struct report *report)
{
    cl_int error, n = N;
    cl_kernel kernel = clCreateKernel(rig->program, kernels[k].name, &error);
    must(error, kernels[k].name);
    for (cl_uint i = 0; i < 3; i++)
        must(clSetKernelArg(kernel, i, sizeof(cl_mem), &rig->mems[i]), "clSetKernelArg");
    must(clSetKernelArg(kernel, 3, sizeof(n), &n), "clSetKernelArg");
    launches_us(rig, kernel, k, 3);
    report->us[k] = launches_us(rig, kernel, k, 10);
    for (int r = 1; r < ROUNDS; r++)
        report->us[k] = fmin(report->us[k], launches_us(rig, kernel, k, 10));
    must(clEnqueueReadBuffer(rig->queue, rig->mems[2], CL_TRUE, 0, kernels[k].n_results * sizeof(float), rig->host, 0,
                             NULL, NULL),
         "read");
    for (size_t i = 0; i < SAMPLE; i++)
        report->results[k][i] = rig->host[i * (kernels[k].n_results / SAMPLE)];
    clReleaseKernel(kernel);
}

static int child(int output, bool tesela)
{
    static struct report report;
    struct rig rig;
    set_up(&rig, tesela);
    for (size_t k = 0; k < N_KERNELS; k++)
        measure(&rig, k, &report);
    for (size_t done = 0; done < sizeof(report);) {
        ssize_t n = write(output, (char *)&report + done, sizeof(report) - done);
        if (n <= 0)
            return 1;
        done += (size_t)n;
    }
    return 0;
}

/* ---- In the parent ----------------------------------------------------------------------------------------------- */

struct options {
    const char *vendors, *icd;
};

static bool run(const struct options *options, bool tesela, struct report *report)
{
    int ends[2], status;
    size_t done = 0;
    ssize_t n;
    if (pipe(ends))
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("OCL_ICD_VENDORS", tesela ? options->icd : options->vendors, 1);
        setenv("TESELA_VENDORS", options->vendors, 1);
        _exit(child(ends[1], tesela));
    }
    close(ends[1]);
    while (done < sizeof(*report) && (n = read(ends[0], (char *)report + done, sizeof(*report) - done)) > 0)
        done += (size_t)n;
    close(ends[0]);
    return waitpid(pid, &status, 0) == pid && status == 0 && done == sizeof(*report);
}

/* The largest difference, as a part of the result or of 1e-3. */
static double difference(const struct report *a, const struct report *b, size_t k)
{
    double most = 0;
    for (size_t i = 0; i < SAMPLE; i++) {
        double x = (double)a->results[k][i], y = (double)b->results[k][i];
        most = fmax(most, fabs(x - y) / fmax(fmax(fabs(x), fabs(y)), 1e-3));
    }
    return most;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    if (key == 'v')
        options->vendors = arg;
    else if (key == 'i')
        options->icd = arg;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"vendors", 'v', "DIR", 0, "folder with the vendor's .icd file (default: PoCL's)", 0},
        {"icd", 'i', "DIR", 0, "folder with tesela.icd (default: this build's)", 0},
        {0},
    };
    static const struct argp argp = {.options = table,
                                     .parser = parse,
                                     .doc =
                                         "Kernels by a vendor's own OpenCL beside the same by Tesela: the least time "
                                         "of one launch, and how far the results are apart."};
    static struct report native, ours;
    struct options options = {.vendors = BENCH_BUILD "/vendors-pocl", .icd = BENCH_BUILD "/icd/"};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (!run(&options, false, &native) || !run(&options, true, &ours)) {
        fprintf(stderr, "kernels: a run failed\n");
        return 1;
    }
    printf("%-16s %12s %12s %8s %14s\n", "us", "native", "Tesela", "ratio", "difference");
    for (size_t k = 0; k < N_KERNELS; k++)
        printf("%-16s %12.1f %12.1f %8.2f %14.2g\n", kernels[k].name, native.us[k], ours.us[k],
               ours.us[k] / native.us[k], difference(&native, &ours, k));
    return 0;
}
