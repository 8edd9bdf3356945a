/*
 * The same small OpenCL program on a vendor's own OpenCL and on Tesela over that vendor, side by side in one run:
 * rounds alternate between the two, each in a process of its own; medians and their ratio are printed. Not a test.
 */
#include "measure.h"

#include <CL/cl.h>
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS 99
#define BIG        ((size_t)64 << 20)

enum figure { EMPTY, MANY, SET, EVENTS, WRITE, READ, MAP, THERE_AND_BACK, BUILD, N_FIGURES };

static const struct {
    const char *name, *unit;
    bool more_is_better;
} figures[N_FIGURES] = {
    {"empty kernel, enqueue + finish", "us", false},
    {"10 000 kernels in order, each", "us", false},
    {"the same, an argument set before", "us", false},
    {"chain of 2 000 by events, each", "us", false},
    {"write 64 MiB", "GB/s", true},
    {"read 64 MiB", "GB/s", true},
    {"map 64 MiB for reading", "us", false},
    {"64 MiB: write, kernel, read", "ms", false},
    {"build a two-kernel program", "ms", false},
};

struct options {
    const char *vendors, *icd, *self;
    const char *platform, *device; /* parts of the native one's names; NULL: the first */
    int rounds;
    bool child, counted;
};

/* What one process found. */
struct report {
    char device[200];
    double value[N_FIGURES];
};

/* ---- What is measured, in the child --------------------------------------------------------------------------------
 */

struct rig {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel, set;
    cl_mem buffer;
    char *host;
};

static double now(void)
{
    return now_us() * 1e-6;
}

/* A number in the source keeps vendors' caches of binaries out of it. */
static double build(struct rig *rig)
{
    char source[200];
    const char *text = source;
    cl_int error;
    snprintf(source, sizeof(source),
             "kernel void add(global int *x) { x[get_global_id(0)] += 1; }\n"
             "kernel void set(global int *x, int y) { x[get_global_id(0)] = y + %ld; }\n",
             (long)getpid() * 1000 + (long)time(NULL) % 1000);
    rig->program = clCreateProgramWithSource(rig->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    double start = now();
    must(clBuildProgram(rig->program, 1, &rig->device, "", NULL, NULL), "clBuildProgram");
    return (now() - start) * 1e3;
}

static bool fits(const char *name, const char *part)
{
    return !part || strstr(name, part);
}

/* The first device whose name fits, of the platforms whose names do; what it is called. */
static cl_device_id find(const struct options *options, char *name, size_t size)
{
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint n_platforms = 0, n_devices;
    must(clGetPlatformIDs(16, platforms, &n_platforms), "clGetPlatformIDs");
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        must(clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, size, name, NULL), "clGetPlatformInfo");
        if (!fits(name, options->platform) || clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n_devices))
            continue;
        for (cl_uint d = 0; d < n_devices && d < 16; d++) {
            must(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, size, name, NULL), "clGetDeviceInfo");
            if (fits(name, options->device))
                return devices[d];
        }
    }
    fprintf(stderr, "bench: no device here has such a name\n");
    exit(1);
}

static double set_up(struct rig *rig)
{
    cl_int error;
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    must(error, "clCreateCommandQueue");
    double build_ms = build(rig);
    rig->kernel = clCreateKernel(rig->program, "add", &error);
    must(error, "clCreateKernel");
    rig->buffer = clCreateBuffer(rig->context, CL_MEM_READ_WRITE, BIG, NULL, &error);
    must(error, "clCreateBuffer");
    must(clSetKernelArg(rig->kernel, 0, sizeof(rig->buffer), &rig->buffer), "clSetKernelArg");
    rig->set = clCreateKernel(rig->program, "set", &error);
    must(error, "clCreateKernel");
    must(clSetKernelArg(rig->set, 0, sizeof(rig->buffer), &rig->buffer), "clSetKernelArg");
    rig->host = malloc(BIG);
    must(rig->host ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    memset(rig->host, 1, BIG);
    return build_ms;
}

static void launch(struct rig *rig, cl_event wait, cl_event *event)
{
    size_t one = 1;
    must(clEnqueueNDRangeKernel(rig->queue, rig->kernel, 1, NULL, &one, &one, wait ? 1 : 0, wait ? &wait : NULL, event),
         "clEnqueueNDRangeKernel");
}

static double empty_us(struct rig *rig)
{
    double start = now();
    for (int i = 0; i < 2000; i++) {
        launch(rig, NULL, NULL);
        must(clFinish(rig->queue), "clFinish");
    }
    return (now() - start) / 2000 * 1e6;
}

void bench_counted(struct rig *rig);

static double many_us(struct rig *rig)
{
    double start = now();
    for (int i = 0; i < 10000; i++)
        launch(rig, NULL, NULL);
    must(clFinish(rig->queue), "clFinish");
    return (now() - start) / 10000 * 1e6;
}

/* The same without the wait: account.py counts what the thread does in here. */
__attribute__((noinline)) void bench_counted(struct rig *rig)
{
    for (int i = 0; i < 10000; i++)
        launch(rig, NULL, NULL);
}

static double set_us(struct rig *rig)
{
    size_t one = 1;
    double start = now();
    for (cl_int i = 0; i < 10000; i++) {
        must(clSetKernelArg(rig->set, 1, sizeof(i), &i), "clSetKernelArg");
        must(clEnqueueNDRangeKernel(rig->queue, rig->set, 1, NULL, &one, &one, 0, NULL, NULL),
             "clEnqueueNDRangeKernel");
    }
    must(clFinish(rig->queue), "clFinish");
    return (now() - start) / 10000 * 1e6;
}

static double events_us(struct rig *rig)
{
    cl_event last = NULL, next;
    double start = now();
    for (int i = 0; i < 2000; i++) {
        launch(rig, last, &next);
        if (last)
            clReleaseEvent(last);
        last = next;
    }
    must(clWaitForEvents(1, &last), "clWaitForEvents");
    clReleaseEvent(last);
    return (now() - start) / 2000 * 1e6;
}

static double write_gbs(struct rig *rig)
{
    double start = now();
    must(clEnqueueWriteBuffer(rig->queue, rig->buffer, CL_TRUE, 0, BIG, rig->host, 0, NULL, NULL), "write");
    return (double)BIG / (now() - start) / 1e9;
}

static double read_gbs(struct rig *rig)
{
    double start = now();
    must(clEnqueueReadBuffer(rig->queue, rig->buffer, CL_TRUE, 0, BIG, rig->host, 0, NULL, NULL), "read");
    return (double)BIG / (now() - start) / 1e9;
}

static double map_us(struct rig *rig)
{
    cl_int error;
    double start = now();
    void *mapped = clEnqueueMapBuffer(rig->queue, rig->buffer, CL_TRUE, CL_MAP_READ, 0, BIG, 0, NULL, NULL, &error);
    double us = (now() - start) * 1e6;
    must(error, "clEnqueueMapBuffer");
    must(clEnqueueUnmapMemObject(rig->queue, rig->buffer, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    must(clFinish(rig->queue), "clFinish");
    return us;
}

/* Wherever a write waits for its reader, here all of the way is paid. */
static double there_and_back_ms(struct rig *rig)
{
    double start = now();
    must(clEnqueueWriteBuffer(rig->queue, rig->buffer, CL_FALSE, 0, BIG, rig->host, 0, NULL, NULL), "write");
    launch(rig, NULL, NULL);
    must(clEnqueueReadBuffer(rig->queue, rig->buffer, CL_TRUE, 0, BIG, rig->host, 0, NULL, NULL), "read");
    return (now() - start) * 1e3;
}

/* Each once to warm up, then for real. */
static int child(const struct options *options)
{
    struct rig rig;
    char name[200];
    double value[N_FIGURES];
    rig.device = find(options, name, sizeof(name));
    value[BUILD] = set_up(&rig);
    if (options->counted) {
        many_us(&rig);
        bench_counted(&rig);
        must(clFinish(rig.queue), "clFinish");
        return 0;
    }
    for (int pass = 0; pass < 2; pass++) {
        value[EMPTY] = empty_us(&rig);
        value[MANY] = many_us(&rig);
        value[SET] = set_us(&rig);
        value[EVENTS] = events_us(&rig);
        value[WRITE] = write_gbs(&rig);
        launch(&rig, NULL, NULL); /* The device's copy is the newest: reads and maps must fetch it. */
        value[READ] = read_gbs(&rig);
        launch(&rig, NULL, NULL);
        value[MAP] = map_us(&rig);
        value[THERE_AND_BACK] = there_and_back_ms(&rig);
    }
    printf("%s\n", name);
    for (int f = 0; f < N_FIGURES; f++)
        printf("%.6g\n", value[f]);
    return 0;
}

/* ---- Rounds, in the parent ------------------------------------------------------------------------------------------
 */

static void become(const struct options *options, bool tesela, int output)
{
    const char *none = "";
    dup2(output, STDOUT_FILENO);
    setenv("OCL_ICD_VENDORS", tesela ? options->icd : options->vendors, 1);
    if (tesela)
        setenv("TESELA_VENDORS", options->vendors, 1);
    execl(options->self, options->self, "--child", "--platform",
          tesela || !options->platform ? none : options->platform, "--device",
          tesela || !options->device ? none : options->device, (char *)NULL);
    _exit(127);
}

static bool read_report(FILE *input, struct report *report)
{
    int n = 0;
    if (!fgets(report->device, sizeof(report->device), input))
        return false;
    report->device[strcspn(report->device, "\n")] = '\0';
    while (n < N_FIGURES && fscanf(input, "%lf", &report->value[n]) == 1)
        n++;
    return n == N_FIGURES;
}

static bool measure(const struct options *options, bool tesela, struct report *report)
{
    int ends[2], status;
    if (pipe(ends))
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become(options, tesela, ends[1]);
    close(ends[1]);
    FILE *input = fdopen(ends[0], "r");
    bool whole = read_report(input, report);
    fclose(input);
    return waitpid(pid, &status, 0) == pid && status == 0 && whole;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double all[2][N_FIGURES][MAX_ROUNDS];

static void print_table(const struct options *options)
{
    printf("%-34s %12s %12s  %s\n", "medians", "native", "Tesela", "time ratio, Tesela / native");
    for (int f = 0; f < N_FIGURES; f++) {
        double native = median(all[0][f], options->rounds), ours = median(all[1][f], options->rounds);
        printf("%-34s %12.2f %12.2f  %.2f   (%s)\n", figures[f].name, native, ours,
               figures[f].more_is_better ? native / ours : ours / native, figures[f].unit);
    }
}

static int rounds(const struct options *options)
{
    static struct report report[2];
    for (int round = 0; round < options->rounds; round++) {
        for (int side = 0; side < 2; side++) {
            if (!measure(options, side, &report[side])) {
                fprintf(stderr, "bench: the run on %s failed\n", side ? "Tesela" : "the vendor's OpenCL");
                return 1;
            }
            for (int f = 0; f < N_FIGURES; f++)
                all[side][f][round] = report[side].value[f];
        }
        fprintf(stderr, "round %d of %d\n", round + 1, options->rounds);
    }
    printf("native: %s\nTesela: %s over %s, %d rounds\n", report[0].device, report[1].device, options->vendors,
           options->rounds);
    print_table(options);
    return 0;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------
 */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'v':
        options->vendors = arg;
        return 0;
    case 'i':
        options->icd = arg;
        return 0;
    case 'r':
        options->rounds = atoi(arg);
        if (options->rounds < 1 || options->rounds > MAX_ROUNDS)
            argp_error(state, "--rounds takes a number from 1 to %d", MAX_ROUNDS);
        return 0;
    case 'p':
        options->platform = arg;
        return 0;
    case 'd':
        options->device = arg;
        return 0;
    case 'c':
        options->child = true;
        return 0;
    case 'n':
        options->child = options->counted = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"vendors", 'v', "DIR", 0, "folder with the vendor's .icd file (default: PoCL's)", 0},
        {"icd", 'i', "DIR", 0, "folder with tesela.icd (default: this build's)", 0},
        {"platform", 'p', "NAME", 0, "part of the native platform's name (default: the first)", 0},
        {"device", 'd', "NAME", 0, "part of the native device's name (default: the first)", 0},
        {"rounds", 'r', "N", 0, "alternating rounds (default: 5)", 0},
        {"child", 'c', NULL, OPTION_HIDDEN, NULL, 0},
        {"counted", 'n', NULL, OPTION_HIDDEN, NULL, 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "A vendor's own OpenCL beside Tesela over it, in one run. Both sides see the environment: POCL_DEVICES, "
               "and for Tesela TESELA_MEMBERS, TESELA_POLICY and the others."};
    struct options options = {
        .vendors = BENCH_BUILD "/vendors-pocl", .icd = BENCH_BUILD "/icd", .self = "/proc/self/exe", .rounds = 5};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options.child ? child(&options) : rounds(&options);
}
