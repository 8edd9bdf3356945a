/*
 * What the examples share: options, the choice of a device, work on the host, times in one form, the end. Programs for
 * one device need example_begin() to example_end(); nothing in here is asked of a program that uses OpenCL.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <CL/cl.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64, MAX_OPTIONS = 16 };

/* An option of one program, with a value: a number or a word. */
struct option_row {
    const char *name;
    size_t *number;
    const char **word; /* never NULL */
    const char *help;
};

struct example {
    const char *about;                /* what the program does, for --help */
    const struct option_row *options; /* its own, closed by a row without a name */
    const char *source;               /* of its kernels */
    bool several;                     /* it takes several devices and opens them itself */
    /* Set by example_begin(). */
    const char *platform, *devices, *picture;
    size_t repetitions, seconds; /* seconds: 0 for no limit */
    double begin, processor;     /* processor: its time when the repetition began */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    bool has_tasks; /* the device runs functions of the host */
};

/* Ends the program if there is an error, saying what failed. */
static inline void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: %s failed with error %d\n", program_invocation_short_name, what, error);
    exit(1);
}

static inline void refuse(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    exit(2);
}

/* Memory for n elements, on a page's boundary. */
static inline void *allocate(size_t n, size_t element_size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, n * element_size + 1))
        must(CL_OUT_OF_HOST_MEMORY, "posix_memalign");
    return memory;
}

/* Seconds of a clock that only goes forward. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds that all threads of the process have computed. */
static inline double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A number in [0, 1) that looks random and is the same in each run. */
static inline float value_at(size_t i)
{
    return (float)((i * UINT64_C(2654435761) >> 8) % 4096) / 4096;
}

static inline bool near(double got, double expected, double tolerance)
{
    return fabs(got - expected) <= tolerance * fmax(1e-6, fabs(expected));
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* All devices of the platforms with `wanted` (NULL: anything) in their names, at most MAX_DEVICES, in the loader's
 * order. */
static inline cl_uint find_devices(const char *wanted, cl_device_id *devices)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0, n = 0;
    must(clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n_platforms && i < MAX_PLATFORMS; i++) {
        char name[256] = "";
        cl_uint more = 0;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
        if (wanted && !strstr(name, wanted))
            continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MAX_DEVICES - n, devices + n, &more) == CL_SUCCESS)
            n += more < MAX_DEVICES - n ? more : MAX_DEVICES - n;
        if (n == MAX_DEVICES)
            break;
    }
    return n;
}

static inline void list_devices(const char *wanted)
{
    cl_device_id devices[MAX_DEVICES];
    cl_uint n = find_devices(wanted, devices);
    for (cl_uint i = 0; i < n; i++) {
        cl_platform_id platform;
        cl_device_type type = 0;
        char name[256] = "", platform_name[256] = "";
        clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof(name), name, NULL);
        clGetDeviceInfo(devices[i], CL_DEVICE_TYPE, sizeof(type), &type, NULL);
        clGetDeviceInfo(devices[i], CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(platform_name), platform_name, NULL);
        printf("%u\t%s\t%s\t%s\n", i,
               type & CL_DEVICE_TYPE_GPU   ? "gpu"
               : type & CL_DEVICE_TYPE_CPU ? "cpu"
                                           : "other",
               platform_name, name);
    }
    exit(0);
}

/* Builds the example's kernels for the device; prints the compiler's words if they don't build. */
static inline cl_program build_program(const struct example *e, cl_context context, cl_device_id device)
{
    char log[16384] = "";
    cl_int error;
    const char *source = e->source;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    must(error, "clCreateProgramWithSource");
    error = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    must(error, "clBuildProgram");
    return program;
}

static inline void open_device(struct example *e)
{
    cl_device_id devices[MAX_DEVICES];
    cl_uint n = find_devices(e->platform, devices), number = e->devices ? (cl_uint)atoi(e->devices) : 0;
    cl_device_exec_capabilities can = 0;
    cl_int error;
    if (number >= n)
        refuse(e->devices ? e->devices : "no device", "there is no such device here: see --list");
    e->device = devices[number];
    e->context = clCreateContext(NULL, 1, &e->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    /* Of OpenCL 1: platforms of that version have no other. */
    e->queue = clCreateCommandQueue(e->context, e->device, 0, &error);
    must(error, "clCreateCommandQueue");
    e->program = build_program(e, e->context, e->device);
    clGetDeviceInfo(e->device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(can), &can, NULL);
    e->has_tasks = can & CL_EXEC_NATIVE_KERNEL;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static inline void print_help(const struct example *e)
{
    printf("usage: %s [OPTION...]\n\n%s\n\n", program_invocation_short_name, e->about);
    for (const struct option_row *row = e->options; row->name; row++)
        if (row->number)
            printf("  --%-22s %s (%zu)\n", row->name, row->help, *row->number);
        else
            printf("  --%-22s %s%s%s%s\n", row->name, row->help, **row->word ? " (" : "", *row->word,
                   **row->word ? ")" : "");
    printf("  --%-22s how often it is done; each time is a line of its own (1)\n"
           "  --%-22s no more of them after so many seconds, but two\n"
           "  --%-22s only platforms with this in their names\n"
           "  --%-22s %s\n"
           "  --%-22s write a picture or what else there is to see (PGM or PPM)\n"
           "  --%-22s list the devices with their numbers, and end\n"
           "  --%-22s this text\n",
           "repetitions N", "seconds N", "platform NAME", e->several ? "devices N,N..." : "device N",
           e->several ? "the numbers of the devices, as --list shows them (all)"
                      : "the number of the device, as --list shows it (0)",
           "picture FILE", "list", "help");
    exit(0);
}

static inline size_t read_number(const char *name, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || end == text || number == 0 || number > (size_t)1 << 40)
        refuse(name, "a number above nought is needed");
    return (size_t)number;
}

static inline void read_options(struct example *e, int argc, char **argv)
{
    enum { REPETITIONS = 1000, SECONDS, PLATFORM, DEVICE, PICTURE, LIST, HELP };
    struct option options[MAX_OPTIONS + 8] = {{0}};
    int n = 0;
    for (; e->options[n].name; n++)
        options[n] = (struct option){e->options[n].name, required_argument, NULL, n};
    options[n] = (struct option){"repetitions", required_argument, NULL, REPETITIONS};
    options[n + 1] = (struct option){"platform", required_argument, NULL, PLATFORM};
    options[n + 2] = (struct option){e->several ? "devices" : "device", required_argument, NULL, DEVICE};
    options[n + 3] = (struct option){"picture", required_argument, NULL, PICTURE};
    options[n + 4] = (struct option){"list", no_argument, NULL, LIST};
    options[n + 5] = (struct option){"help", no_argument, NULL, HELP};
    options[n + 6] = (struct option){"seconds", required_argument, NULL, SECONDS};
    bool list = false;
    for (int which; (which = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (which == '?')
            exit(2);
        else if (which == REPETITIONS)
            e->repetitions = read_number("--repetitions", optarg);
        else if (which == SECONDS)
            e->seconds = read_number("--seconds", optarg);
        else if (which == PLATFORM)
            e->platform = optarg;
        else if (which == DEVICE)
            e->devices = optarg;
        else if (which == PICTURE)
            e->picture = optarg;
        else if (which == LIST)
            list = true;
        else if (which == HELP)
            print_help(e);
        else if (e->options[which].number)
            *e->options[which].number = read_number(e->options[which].name, optarg);
        else
            *e->options[which].word = optarg;
    }
    if (optind < argc)
        refuse(argv[optind], "no such argument: see --help");
    if (list)
        list_devices(e->platform);
}

/* Reads the options and, unless the program takes several devices, opens the device. */
static inline void example_begin(struct example *e, int argc, char **argv)
{
    e->repetitions = 1;
    read_options(e, argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!e->several)
        open_device(e);
    e->begin = now();
}

/* Begins one more repetition, after n, if there is one to do. */
static inline bool again(struct example *e, size_t n)
{
    e->processor = processor_time();
    return n < e->repetitions && (n < 2 || e->seconds == 0 || now() - e->begin < (double)e->seconds);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static inline cl_mem make_buffer(cl_context context, cl_mem_flags flags, size_t size)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, flags, size, NULL, &error);
    must(error, "clCreateBuffer");
    return mem;
}

static inline cl_kernel make_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    must(error, name);
    return kernel;
}

static inline void set_mem(cl_kernel kernel, cl_uint i, cl_mem mem)
{
    must(clSetKernelArg(kernel, i, sizeof(mem), &mem), "clSetKernelArg");
}

static inline void set_int(cl_kernel kernel, cl_uint i, size_t value)
{
    cl_int number = (cl_int)value;
    must(clSetKernelArg(kernel, i, sizeof(number), &number), "clSetKernelArg");
}

static inline void set_float(cl_kernel kernel, cl_uint i, float value)
{
    must(clSetKernelArg(kernel, i, sizeof(value), &value), "clSetKernelArg");
}

static inline size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* A rectangle of work-items in groups of group × group, enough for width × height; waits for an event unless NULL, and
 * leaves one unless `done` is NULL. */
static inline void launch(cl_command_queue queue, cl_kernel kernel, size_t width, size_t height, size_t group,
                          cl_event after, cl_event *done)
{
    const size_t global[2] = {round_up(width, group), round_up(height, group)}, local[2] = {group, group};
    must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, after ? 1 : 0, after ? &after : NULL, done),
         "clEnqueueNDRangeKernel");
}

static inline void write_all(cl_command_queue queue, cl_mem mem, size_t size, const void *from)
{
    must(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, size, from, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static inline void read_now(cl_command_queue queue, cl_mem mem, size_t offset, size_t size, void *to)
{
    must(clEnqueueReadBuffer(queue, mem, CL_TRUE, offset, size, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static inline void finish(cl_command_queue queue)
{
    must(clFinish(queue), "clFinish");
}

/* ---- Work on the host -------------------------------------------------------------------------------------------- */

struct task {
    void (*work)(void *memory, void *argument);
    void *memory, *argument;
};

static void CL_CALLBACK run_task(void *block)
{
    struct task *task = block;
    task->work(task->memory, task->argument);
}

/*
 * Enqueues work on the host in the queue's order, with a buffer's bytes at hand: as a native kernel, where the device
 * has such; else the program waits here and does it. What the work may do with the buffer is told by `access` and, to a
 * native kernel, by the buffer's flags (CL_MEM_HOST_READ_ONLY). The argument lives until the work is done.
 */
static inline void enqueue_task(const struct example *e, cl_mem mem, size_t size, cl_map_flags access,
                                void (*work)(void *memory, void *argument), void *argument)
{
    struct task task = {work, NULL, argument};
    const void *place = &task.memory;
    cl_int error;
    if (e->has_tasks) {
        error = clEnqueueNativeKernel(e->queue, run_task, &task, sizeof(task), 1, &mem, &place, 0, NULL, NULL);
        if (error != CL_INVALID_OPERATION) /* Some devices say that they can and can't. */
            return must(error, "clEnqueueNativeKernel");
    }
    task.memory = clEnqueueMapBuffer(e->queue, mem, CL_TRUE, access, 0, size, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    run_task(&task);
    must(clEnqueueUnmapMemObject(e->queue, mem, task.memory, 0, NULL, NULL), "clEnqueueUnmapMemObject");
}

/* ---- Times, pictures, the end ------------------------------------------------------------------------------------ */

/* One line: "time: program=NAME OPTION=VALUE… repetition=N seconds=S processor=S", the last all threads' time, and
 * kernels=S where it is above nought: the part in which nothing but kernels ran. */
static inline void report(const struct example *e, size_t repetition, double seconds, double kernels)
{
    printf("time: program=%s", program_invocation_short_name);
    for (const struct option_row *row = e->options; row->name; row++)
        if (row->number)
            printf(" %s=%zu", row->name, *row->number);
        else if (**row->word)
            printf(" %s=%s", row->name, *row->word);
    printf(" repetition=%zu seconds=%.6f processor=%.6f", repetition, seconds, processor_time() - e->processor);
    if (kernels > 0)
        printf(" kernels=%.6f", kernels);
    printf("\n");
}

/* Writes a picture: three bytes a pixel (PPM) or one (PGM). */
static inline void write_picture(const char *path, size_t width, size_t height, unsigned n_channels,
                                 const unsigned char *bytes)
{
    FILE *out = fopen(path, "wb");
    bool good = out && fprintf(out, "P%c\n%zu %zu\n255\n", n_channels == 3 ? '6' : '5', width, height) > 0 &&
                fwrite(bytes, n_channels, width * height, out) == width * height;
    if (out && fclose(out) != 0)
        good = false;
    if (!good)
        refuse(path, strerror(errno));
    printf("picture: %s\n", path);
}

/* A picture of numbers, from black at the least to white at the greatest; large ones are thinned to `most` columns. */
static inline void write_heights(const char *path, const float *at, size_t width, size_t height, size_t most)
{
    size_t step = (width + most - 1) / most, w = width / step, h = height / step;
    unsigned char *bytes = allocate(w * h, 1);
    float least = at[0], greatest = at[0];
    for (size_t i = 0; i < width * height; i++) {
        least = fminf(least, at[i]);
        greatest = fmaxf(greatest, at[i]);
    }
    for (size_t i = 0; i < w * h; i++) {
        float value = at[i / w * step * width + i % w * step] - least;
        bytes[i] = (unsigned char)(greatest > least ? 255 * value / (greatest - least) : 0);
    }
    write_picture(path, w, h, 1, bytes);
    free(bytes);
}

/* Says whether the answer is right and lets go of what example_begin() made; returns the program's exit status. */
static inline int example_end(struct example *e, bool right, const char *checked)
{
    printf("answer: %s (%s)\n", right ? "right" : "WRONG", checked);
    if (!e->several) {
        clReleaseProgram(e->program);
        clReleaseCommandQueue(e->queue);
        clReleaseContext(e->context);
    }
    return right ? 0 : 1;
}

#endif
