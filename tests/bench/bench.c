/*
 * The same small OpenCL program on a vendor's own OpenCL and on Tesela over that vendor, side by side in one run: a
 * process each, which take turns sample by sample, so that what else the machine does meets both. Printed are medians
 * and their ratio, that of the lower quartiles (what a quieter machine would show), and what disturbs less: the
 * processor time of the process and how often its threads gave up a processor. Not a test.
 */
#include "measure.h"

#include <CL/cl.h>
#include <argp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS 999
#define ANSWERS    STDOUT_FILENO /* of a child, to its parent */

enum figure {
    EMPTY,
    MANY,
    SET,
    EVENTS,
    WRITE,
    READ,
    WRITE_PINNED,
    READ_PINNED,
    MAP,
    THERE_AND_BACK,
    BUILD,
    AGAIN,
    N_FIGURES
};

/* What one sample found: the figure, and for each of its operations microseconds of processor time and switches. */
struct sample {
    double value, processor_us, switches;
};

struct options {
    const char *vendors, *icd, *self;
    const char *platform, *device; /* parts of the native one's names; NULL: the first */
    int rounds;
    const char *mebibytes; /* of each transfer */
    bool child, counted;
};

static size_t big; /* the same in bytes */

/* ---- What is measured, in the child ------------------------------------------------------------------------------ */

struct rig {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_kernel kernel, set;
    cl_mem buffer, pinned;
    char *host, *fast; /* fast: what the pinned buffer's memory is mapped to */
    void *mapped;
};

static double now(void)
{
    return now_us() * 1e-6;
}

static cl_program build_with(const struct rig *rig, long number)
{
    char source[200];
    const char *text = source;
    cl_int error;
    snprintf(source, sizeof(source),
             "kernel void add(global int *x) { x[get_global_id(0)] += 1; }\n"
             "kernel void set(global int *x, int y) { x[get_global_id(0)] = y + %ld; }\n",
             number);
    cl_program program = clCreateProgramWithSource(rig->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &rig->device, "", NULL, NULL), "clBuildProgram");
    return program;
}

/* A number in the source keeps vendors' caches of binaries out of it. */
static cl_program build(const struct rig *rig)
{
    static int n;
    return build_with(rig, (long)getpid() * 1000 + (long)time(NULL) % 1000 + n++);
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
    fprintf(stderr, "bench: no device with \"%s\" in its name, of a platform with \"%s\", by OCL_ICD_VENDORS=%s\n",
            options->device, options->platform, getenv("OCL_ICD_VENDORS"));
    exit(1);
}

static void set_up(struct rig *rig)
{
    cl_int error;
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    must(error, "clCreateCommandQueue");
    cl_program program = build(rig);
    rig->kernel = clCreateKernel(program, "add", &error);
    must(error, "clCreateKernel");
    rig->buffer = clCreateBuffer(rig->context, CL_MEM_READ_WRITE, big, NULL, &error);
    must(error, "clCreateBuffer");
    must(clSetKernelArg(rig->kernel, 0, sizeof(rig->buffer), &rig->buffer), "clSetKernelArg");
    rig->set = clCreateKernel(program, "set", &error);
    must(error, "clCreateKernel");
    must(clSetKernelArg(rig->set, 0, sizeof(rig->buffer), &rig->buffer), "clSetKernelArg");
    rig->host = malloc(big);
    must(rig->host ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    memset(rig->host, 1, big);
    rig->pinned = clCreateBuffer(rig->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, big, NULL, &error);
    must(error, "clCreateBuffer");
    rig->fast =
        clEnqueueMapBuffer(rig->queue, rig->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, big, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    memset(rig->fast, 1, big);
}

static void launch(struct rig *rig, cl_event wait, cl_event *event)
{
    size_t one = 1;
    must(clEnqueueNDRangeKernel(rig->queue, rig->kernel, 1, NULL, &one, &one, wait ? 1 : 0, wait ? &wait : NULL, event),
         "clEnqueueNDRangeKernel");
}

/* Each function does the operations of one sample. */
static void empty(struct rig *rig)
{
    for (int i = 0; i < 500; i++) {
        launch(rig, NULL, NULL);
        must(clFinish(rig->queue), "clFinish");
    }
}

/* Without the wait: account.py counts what the thread does in here. */
__attribute__((noinline)) void bench_counted(struct rig *rig);
void bench_counted(struct rig *rig)
{
    for (int i = 0; i < 10000; i++)
        launch(rig, NULL, NULL);
}

static void many(struct rig *rig)
{
    bench_counted(rig);
    must(clFinish(rig->queue), "clFinish");
}

static void set(struct rig *rig)
{
    size_t one = 1;
    for (cl_int i = 0; i < 10000; i++) {
        must(clSetKernelArg(rig->set, 1, sizeof(i), &i), "clSetKernelArg");
        must(clEnqueueNDRangeKernel(rig->queue, rig->set, 1, NULL, &one, &one, 0, NULL, NULL),
             "clEnqueueNDRangeKernel");
    }
    must(clFinish(rig->queue), "clFinish");
}

static void events(struct rig *rig)
{
    cl_event last = NULL, next;
    for (int i = 0; i < 2000; i++) {
        launch(rig, last, &next);
        if (last)
            clReleaseEvent(last);
        last = next;
    }
    must(clWaitForEvents(1, &last), "clWaitForEvents");
    clReleaseEvent(last);
}

static void write_from(const struct rig *rig, const void *host)
{
    must(clEnqueueWriteBuffer(rig->queue, rig->buffer, CL_TRUE, 0, big, host, 0, NULL, NULL), "write");
}

static void write_big(struct rig *rig)
{
    write_from(rig, rig->host);
}

static void write_pinned(struct rig *rig)
{
    write_from(rig, rig->fast);
}

/* So that the device's copy is the newest: reads and maps must fetch it. */
static void before_fetch(struct rig *rig)
{
    launch(rig, NULL, NULL);
}

static void read_to(const struct rig *rig, void *host)
{
    must(clEnqueueReadBuffer(rig->queue, rig->buffer, CL_TRUE, 0, big, host, 0, NULL, NULL), "read");
}

static void read_big(struct rig *rig)
{
    read_to(rig, rig->host);
}

static void read_pinned(struct rig *rig)
{
    read_to(rig, rig->fast);
}

static void map(struct rig *rig)
{
    cl_int error;
    rig->mapped = clEnqueueMapBuffer(rig->queue, rig->buffer, CL_TRUE, CL_MAP_READ, 0, big, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
}

static void unmap(struct rig *rig)
{
    must(clEnqueueUnmapMemObject(rig->queue, rig->buffer, rig->mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    must(clFinish(rig->queue), "clFinish");
}

/* Wherever a write waits for its reader, here all of the way is paid. */
static void there_and_back(struct rig *rig)
{
    must(clEnqueueWriteBuffer(rig->queue, rig->buffer, CL_FALSE, 0, big, rig->host, 0, NULL, NULL), "write");
    launch(rig, NULL, NULL);
    must(clEnqueueReadBuffer(rig->queue, rig->buffer, CL_TRUE, 0, big, rig->host, 0, NULL, NULL), "read");
}

static void build_anew(struct rig *rig)
{
    clReleaseProgram(build(rig));
}

/* Where a cache is kept, the first one leaves it there. */
static void build_again(struct rig *rig)
{
    clReleaseProgram(build_with(rig, 0));
}

static const struct {
    const char *name, *unit;
    double scale; /* from seconds for each operation; 0: GB/s of big bytes */
    int n;        /* operations in a sample */
    void (*before)(struct rig *), (*run)(struct rig *), (*after)(struct rig *); /* the first and last aren't timed */
} figures[N_FIGURES] = {
    {"empty kernel, enqueue + finish", "us", 1e6, 500, NULL, empty, NULL},
    {"10 000 kernels in order, each", "us", 1e6, 10000, NULL, many, NULL},
    {"the same, an argument set before", "us", 1e6, 10000, NULL, set, NULL},
    {"chain of 2 000 by events, each", "us", 1e6, 2000, NULL, events, NULL},
    {"write, pageable", "GB/s", 0, 1, NULL, write_big, NULL},
    {"read, pageable", "GB/s", 0, 1, before_fetch, read_big, NULL},
    {"write, pinned", "GB/s", 0, 1, NULL, write_pinned, NULL},
    {"read, pinned", "GB/s", 0, 1, before_fetch, read_pinned, NULL},
    {"map for reading", "us", 1e6, 1, before_fetch, map, unmap},
    {"write, kernel, read", "ms", 1e3, 1, NULL, there_and_back, NULL},
    {"build a two-kernel program", "ms", 1e3, 1, NULL, build_anew, NULL},
    {"build one that was built before", "ms", 1e3, 1, NULL, build_again, NULL},
};

static double processor_us(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1e6 +
           (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static struct sample take(struct rig *rig, enum figure f)
{
    struct rusage before, after;
    if (figures[f].before)
        figures[f].before(rig);
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    figures[f].run(rig);
    double seconds = (now() - start) / figures[f].n;
    getrusage(RUSAGE_SELF, &after);
    if (figures[f].after)
        figures[f].after(rig);
    return (struct sample){
        .value = figures[f].scale != 0 ? seconds * figures[f].scale : (double)big / seconds / 1e9,
        .processor_us = (processor_us(&after) - processor_us(&before)) / figures[f].n,
        .switches = (double)(after.ru_nvcsw - before.ru_nvcsw) / figures[f].n,
    };
}

/* Serves the parent: a byte says which sample it wants. */
static int child(const struct options *options)
{
    struct rig rig;
    char name[200] = "";
    unsigned char figure;
    rig.device = find(options, name, sizeof(name));
    set_up(&rig);
    if (options->counted) {
        many(&rig);
        bench_counted(&rig);
        must(clFinish(rig.queue), "clFinish");
        return 0;
    }
    for (int f = 0; f < N_FIGURES; f++) /* To warm up. */
        take(&rig, f);
    if (write(ANSWERS, name, sizeof(name)) != sizeof(name))
        return 1;
    while (read(STDIN_FILENO, &figure, 1) == 1 && figure < N_FIGURES) {
        struct sample sample = take(&rig, figure);
        if (write(ANSWERS, &sample, sizeof(sample)) != sizeof(sample))
            return 1;
    }
    return 0;
}

/* ---- Rounds, in the parent --------------------------------------------------------------------------------------- */

static struct side {
    pid_t pid;
    int wishes, answers; /* pipes to and from the child */
    char device[200];
    struct sample samples[N_FIGURES][MAX_ROUNDS];
} sides[2]; /* the vendor's, ours */

static void become(const struct options *options, bool tesela, int input, int output)
{
    const char *platform = options->platform ? options->platform : "", *device = options->device ? options->device : "";
    dup2(input, STDIN_FILENO);
    dup2(output, ANSWERS);
    setenv("OCL_ICD_VENDORS", tesela ? options->icd : options->vendors, 1);
    if (tesela)
        setenv("TESELA_VENDORS", options->vendors, 1);
    execl(options->self, options->self, "--child", "--platform", tesela ? "Tesela" : platform, "--device",
          tesela ? "" : device, "--size", options->mebibytes, (char *)NULL);
    _exit(127);
}

static bool receive(const struct side *side, void *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        ssize_t got = read(side->answers, (char *)bytes + n, size - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return true;
}

static bool start(const struct options *options, struct side *side)
{
    int wishes[2], answers[2];
    if (pipe2(wishes, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
        return false;
    side->pid = fork();
    if (side->pid == 0)
        become(options, side == &sides[1], wishes[0], answers[1]);
    close(wishes[0]);
    close(answers[1]);
    side->wishes = wishes[1];
    side->answers = answers[0];
    return side->pid > 0 && receive(side, side->device, sizeof(side->device));
}

static bool ask(struct side *side, enum figure f, int round)
{
    unsigned char wish = (unsigned char)f;
    return write(side->wishes, &wish, 1) == 1 && receive(side, &side->samples[f][round], sizeof(struct sample));
}

static bool finish(struct side *side)
{
    int status;
    close(side->wishes);
    return waitpid(side->pid, &status, 0) == side->pid && status == 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value below which so many of four lie; of one member of the samples. */
static double quartile(const struct sample *samples, int n, size_t member, int which)
{
    double values[MAX_ROUNDS];
    for (int i = 0; i < n; i++)
        memcpy(&values[i], (const char *)&samples[i] + member, sizeof(double));
    qsort(values, (size_t)n, sizeof(*values), compare);
    return values[n * which / 4];
}

/* Builds take long: a third of the rounds will do. */
static int n_samples(const struct options *options, enum figure f)
{
    return f >= BUILD ? (options->rounds + 2) / 3 : options->rounds;
}

static void print_figure(const struct options *options, enum figure f)
{
    int n = n_samples(options, f);
    double of[2][4];
    for (int side = 0; side < 2; side++) {
        const struct sample *samples = sides[side].samples[f];
        of[side][0] = quartile(samples, n, offsetof(struct sample, value), 2);
        of[side][1] = quartile(samples, n, offsetof(struct sample, value), figures[f].scale != 0 ? 1 : 3);
        of[side][2] = quartile(samples, n, offsetof(struct sample, processor_us), 2);
        of[side][3] = quartile(samples, n, offsetof(struct sample, switches), 2);
    }
    bool rate = figures[f].scale == 0;
    printf("%-33s %8.2f %8.2f %-4s  %5.2f %5.2f %10.2f %10.2f  %5.2f %8.3f %8.3f\n", figures[f].name, of[0][0],
           of[1][0], figures[f].unit, rate ? of[0][0] / of[1][0] : of[1][0] / of[0][0],
           rate ? of[0][1] / of[1][1] : of[1][1] / of[0][1], of[0][2], of[1][2], of[1][2] / of[0][2], of[0][3],
           of[1][3]);
}

static void print_table(const struct options *options)
{
    printf("native: %s\nTesela: %s over %s, %d rounds, transfers of %s MiB\n", sides[0].device, sides[1].device,
           options->vendors, options->rounds, options->mebibytes);
    printf("%-33s %22s  %11s %28s %17s\n%-33s %8s %8s       %5s %5s %10s %10s %6s %8s %8s\n", "", "medians", "ratio",
           "processor time, us", "switches", "", "native", "Tesela", "time", "quiet", "native", "Tesela", "ratio",
           "native", "Tesela");
    for (int f = 0; f < N_FIGURES; f++)
        print_figure(options, f);
}

static int rounds(const struct options *options)
{
    for (int side = 0; side < 2; side++)
        if (!start(options, &sides[side])) {
            fprintf(stderr, "bench: the run on %s failed\n", side ? "Tesela" : "the vendor's OpenCL");
            return 1;
        }
    for (int f = 0; f < N_FIGURES; f++)
        for (int i = 0; i < 2 * n_samples(options, f); i++) { /* Each goes first in turn. */
            int side = (i + i / 2) % 2;
            if (!ask(&sides[side], f, i / 2)) {
                fprintf(stderr, "bench: the run on %s failed\n", side ? "Tesela" : "the vendor's OpenCL");
                return 1;
            }
        }
    print_table(options);
    return finish(&sides[0]) && finish(&sides[1]) ? 0 : 1;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

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
    case 's':
        options->mebibytes = arg;
        big = (size_t)atoi(arg) << 20;
        if (!big)
            argp_error(state, "--size takes a number of MiB");
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
        {"rounds", 'r', "N", 0, "samples of each figure (default: 25)", 0},
        {"size", 's', "MIB", 0, "of each transfer (default: 64)", 0},
        {"child", 'c', NULL, OPTION_HIDDEN, NULL, 0},
        {"counted", 'n', NULL, OPTION_HIDDEN, NULL, 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "A vendor's own OpenCL beside Tesela over it, in one run. Both sides see the environment: POCL_DEVICES, "
               "and for Tesela TESELA_MEMBERS, TESELA_POLICY and the others."};
    struct options options = {.vendors = BENCH_BUILD "/vendors-pocl",
                              .icd = BENCH_BUILD "/icd/",
                              .self = "/proc/self/exe",
                              .rounds = 25,
                              .mebibytes = "64"};
    big = (size_t)64 << 20;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    return options.child ? child(&options) : rounds(&options);
}
