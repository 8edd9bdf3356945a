/*
 * How long a short program takes on some members beside others: until its first kernel has ended, and until its process
 * has. Each process runs one program: it makes a context, builds, launches and leaves by exit. Those on the different
 * members take turns. Not a test.
 */
#include "measure.h"

#include <argp.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 99
#define MAX_SETS   8

/* Milliseconds since the process was started; of `leave`, what comes after main. */
enum stage { DEVICES, CONTEXT, BUILT, FIRST, LAST, LEAVE, WHOLE, N_STAGES };

static const char *const names[N_STAGES] = {"devices",     "context", "built", "first kernel",
                                            "last kernel", "leave",   "whole"};

struct options {
    const char *sets[MAX_SETS];
    unsigned n_sets, rounds, launches, loops;
    bool release;
};

/* ---- One program, in a process of its own ------------------------------------------------------------------------ */

#define SIZE ((size_t)1 << 20)

/* A name that the stand-in for libcuda knows. */
static const char *source = "kernel void add_value(global int *a, int n) {\n"
                            "  size_t i = get_global_id(0); int x = a[i];\n"
                            "  for (int k = 0; k < n; k++) x = 1664525 * x + 1013904223;\n"
                            "  a[i] = x;\n"
                            "}\n";

struct program {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem mem;
};

static void find_device(struct program *p)
{
    cl_platform_id platform;

    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &p->device, NULL), "clGetDeviceIDs");
    cl_uint units;
    must(clGetDeviceInfo(p->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL), "clGetDeviceInfo");
}

static void build(struct program *p, cl_int loops)
{
    cl_int error;

    p->program = clCreateProgramWithSource(p->context, 1, &source, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(p->program, 1, &p->device, "", NULL, NULL), "clBuildProgram");
    p->kernel = program_kernel(p->program, "add_value");
    p->mem = device_buffer(p->context, SIZE * sizeof(cl_int));
    must(clSetKernelArg(p->kernel, 0, sizeof p->mem, &p->mem), "clSetKernelArg");
    must(clSetKernelArg(p->kernel, 1, sizeof loops, &loops), "clSetKernelArg");
}

static void launch(const struct program *p)
{
    const size_t size = SIZE;

    must(clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &size, NULL, 0, NULL, NULL), "launch");
    must(clFinish(p->queue), "clFinish");
}

static void release(const struct program *p)
{
    clReleaseMemObject(p->mem);
    clReleaseKernel(p->kernel);
    clReleaseProgram(p->program);
    clReleaseCommandQueue(p->queue);
    clReleaseContext(p->context);
}

/* Writes the stages to the pipe. */
static void be_program(const struct options *o, double began_us, int to)
{
    const cl_int zero = 0;
    struct program p;
    double at[N_STAGES] = {0};
    cl_int error;

    find_device(&p);
    at[DEVICES] = now_us();
    p.context = clCreateContext(NULL, 1, &p.device, NULL, NULL, &error);
    must(error, "clCreateContext");
    at[CONTEXT] = now_us();
    p.queue = clCreateCommandQueueWithProperties(p.context, p.device, NULL, &error);
    must(error, "clCreateCommandQueue");
    build(&p, (cl_int)o->loops);
    at[BUILT] = now_us();
    must(clEnqueueFillBuffer(p.queue, p.mem, &zero, sizeof zero, 0, SIZE * sizeof zero, 0, NULL, NULL), "fill");
    launch(&p);
    at[FIRST] = now_us();
    for (unsigned i = 1; i < o->launches; i++)
        launch(&p);
    at[LAST] = at[LEAVE] = now_us();
    for (unsigned s = 0; s < LEAVE; s++)
        at[s] = (at[s] - began_us) / 1e3;
    if (o->release)
        release(&p);
    if (write(to, at, sizeof at) != sizeof at)
        _exit(1);
    exit(0);
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* Words: settings of the environment, and one without = for TESELA_MEMBERS. */
static void set_environment(const char *set)
{
    char *words = strdup(set), *rest = NULL;

    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        setenv(value ? word : "TESELA_MEMBERS", value ? value : word, 1);
    }
    free(words);
}

static void run_once(const struct options *o, const char *set, double at[N_STAGES])
{
    double began_us = now_us(), ended_us;
    int ends[2], status;
    pid_t pid;

    if (pipe(ends) || (pid = fork()) < 0)
        exit(1);
    if (!pid) {
        set_environment(set);
        be_program(o, began_us, ends[1]);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) ||
        read(ends[0], at, N_STAGES * sizeof *at) != (ssize_t)(N_STAGES * sizeof *at)) {
        fprintf(stderr, "%s: the program on %s failed\n", program_invocation_short_name, set);
        exit(1);
    }
    ended_us = now_us();
    at[LEAVE] = (ended_us - at[LEAVE]) / 1e3;
    at[WHOLE] = (ended_us - began_us) / 1e3;
    close(ends[0]);
    close(ends[1]);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double figures[MAX_SETS][N_STAGES][MAX_ROUNDS];

static void measure(const struct options *o)
{
    double at[N_STAGES];

    for (unsigned k = 0; k < o->n_sets; k++) /* One more, for caches. */
        run_once(o, o->sets[k], at);
    for (unsigned r = 0; r < o->rounds; r++)
        for (unsigned k = 0; k < o->n_sets; k++) {
            run_once(o, o->sets[k], at);
            for (unsigned s = 0; s < N_STAGES; s++)
                figures[k][s][r] = at[s];
        }
}

static void print(const struct options *o)
{
    printf("medians of %u, ms since the start; leave: after the last kernel\n%-40s", o->rounds, "");
    for (unsigned s = 0; s < N_STAGES; s++)
        printf("%14s", names[s]);
    for (unsigned k = 0; k < o->n_sets; k++) {
        printf("\n%-40s", o->sets[k]);
        for (unsigned s = 0; s < N_STAGES; s++)
            printf("%14.1f", median(figures[k][s], o->rounds));
    }
    printf("\n");
}

static unsigned number(const char *text, unsigned most, struct argp_state *state)
{
    long value = strtol(text, NULL, 10);

    if (value < 1 || value > (long)most)
        argp_error(state, "%s isn't from 1 to %u", text, most);
    return (unsigned)value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'r':
        o->rounds = number(text, MAX_ROUNDS, state);
        return 0;
    case 'n':
        o->launches = number(text, 1000000, state);
        return 0;
    case 'l':
        o->loops = number(text, 1000000000, state);
        return 0;
    case 'x':
        o->release = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->n_sets == MAX_SETS)
            argp_error(state, "too many sets");
        o->sets[o->n_sets++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option list[] = {
        {"rounds", 'r', "N", 0, "processes of each set (11)", 0},
        {"launches", 'n', "N", 0, "launches of each, one after the other (1)", 0},
        {"loops", 'l', "N", 0, "rounds of the kernel's loop, by which a launch takes longer (1000)", 0},
        {"release", 'x', NULL, 0, "the program releases what it made before it ends", 0},
        {0},
    };
    static const struct argp about = {
        list,
        parse,
        "SET...",
        "Run under `tesela run`. A SET is what TESELA_MEMBERS is to be, with settings before it: 'cuda:0' "
        "'cuda:0,cuda:1' 'TESELA_OPEN=all cuda'.",
        NULL,
        NULL,
        NULL};
    struct options o = {.rounds = 11, .launches = 1, .loops = 1000};

    argp_parse(&about, argc, argv, 0, NULL, &o);
    measure(&o);
    print(&o);
    return 0;
}
