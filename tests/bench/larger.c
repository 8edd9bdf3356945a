/*
 * A stencil of many launches, enqueued without a wait, on a grid that is larger than the device: how much is lost
 * against the same in the device's memory. Runs itself as two programs, one as it is, one with TESELA_MEMORY for a part
 * of the grids' bytes. The result is compared with the host's in some bands of rows. Prints milliseconds of the
 * launches alone (the data are on the device if they can be), and with the grids' way there and back. Not a test.
 *
 * larger [-w WIDTH] [-h HEIGHT] [-n LAUNCHES] [-l X,Y] [-r ROUNDS] [-p PARTS] MEMBER   as TESELA_MEMORY names it
 */
#include "measure.h"

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 32
#define BANDS      5u
#define BAND       4u /* rows */

static const char *source =
    "kernel void stencil(global float *to, global const float *from, int w, int h) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)\n"
    "    to[(size_t)y * w + x] = 0.25f * (from[(size_t)y * w + x - 1] + from[(size_t)y * w + x + 1] +\n"
    "                                     from[(size_t)(y - 1) * w + x] + from[(size_t)(y + 1) * w + x]);\n"
    "}\n";

static struct options {
    size_t width, height, local[2];
    unsigned launches, rounds, parts;
} options = {8192, 8192, {0, 0}, 100, 3, 3};

static float first(size_t x, size_t y)
{
    return (float)((x * 2654435761u + y * 40503u) % 1000) * 0.001f;
}

static float *band(size_t begin, size_t end)
{
    float *rows = malloc((end - begin) * options.width * sizeof(float));
    for (size_t y = begin; rows && y < end; y++)
        for (size_t x = 0; x < options.width; x++)
            rows[(y - begin) * options.width + x] = first(x, y);
    return rows;
}

/* The rows [begin, end) after all launches, from rows as far beside them as there are launches. */
static void check_band(const float *got, size_t begin, size_t end)
{
    size_t w = options.width, n = options.launches, low = begin > n ? begin - n : 0,
           high = end + n < options.height ? end + n : options.height;
    float *from = band(low, high), *to = band(low, high);
    must(from && to ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the check");
    for (unsigned i = 0; i < n; i++) {
        for (size_t y = low + 1; y + 1 < high; y++)
            for (size_t x = 1; x + 1 < w; x++) {
                const float *at = &from[(y - low) * w + x];
                to[(y - low) * w + x] = 0.25f * (at[-1] + at[1] + *(at - w) + at[w]);
            }
        float *old = from;
        from = to;
        to = old;
    }
    for (size_t y = begin; y < end; y++)
        for (size_t x = 0; x < w; x++) {
            float wanted = from[(y - low) * w + x], difference = got[y * w + x] - wanted;
            if (difference > 1e-3f || difference < -1e-3f) {
                fprintf(stderr, "larger: row %zu, column %zu is %f, not %f\n", y, x, (double)got[y * w + x],
                        (double)wanted);
                exit(1);
            }
        }
    free(from);
    free(to);
}

static void check(const float *got)
{
    for (unsigned i = 0; i < BANDS; i++) {
        size_t begin = (options.height - BAND) * i / (BANDS - 1);
        check_band(got, begin, begin + BAND);
    }
}

/* ---- One run ---- */

struct rig {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem grids[2];
};

static void open_rig(struct rig *rig)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_program program;
    cl_int error, w = (cl_int)options.width, h = (cl_int)options.height;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    rig->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, device, 0, &error);
    must(error, "clCreateCommandQueue");
    program = clCreateProgramWithSource(rig->context, 1, &source, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    rig->kernel = program_kernel(program, "stencil");
    for (unsigned i = 0; i < 2; i++)
        rig->grids[i] = device_buffer(rig->context, options.width * options.height * sizeof(float));
    must(clSetKernelArg(rig->kernel, 2, sizeof w, &w), "clSetKernelArg");
    must(clSetKernelArg(rig->kernel, 3, sizeof h, &h), "clSetKernelArg");
}

static void launch(const struct rig *rig, unsigned i)
{
    size_t size[2] = {options.width, options.height};
    must(clSetKernelArg(rig->kernel, 0, sizeof(cl_mem), &rig->grids[1 - i % 2]), "clSetKernelArg");
    must(clSetKernelArg(rig->kernel, 1, sizeof(cl_mem), &rig->grids[i % 2]), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(rig->queue, rig->kernel, 2, NULL, size, options.local[0] ? options.local : NULL, 0,
                                NULL, NULL),
         "clEnqueueNDRangeKernel");
}

static void transfer(const struct rig *rig, unsigned i, float *bytes, bool write)
{
    size_t size = options.width * options.height * sizeof(float);
    if (write)
        must(clEnqueueWriteBuffer(rig->queue, rig->grids[i], CL_TRUE, 0, size, bytes, 0, NULL, NULL), "a write");
    else
        must(clEnqueueReadBuffer(rig->queue, rig->grids[i], CL_TRUE, 0, size, bytes, 0, NULL, NULL), "a read");
}

/* The least of all rounds, and with the way there and back. */
static void run(void)
{
    struct rig rig;
    float *grid = band(0, options.height), *got = malloc(options.width * options.height * sizeof(float));
    double least = 1e30, least_all = 1e30;
    must(grid && got ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the grids");
    open_rig(&rig);
    for (unsigned r = 0; r < options.rounds; r++) {
        double begin = now_us();
        for (unsigned i = 0; i < 2; i++)
            transfer(&rig, i, grid, true);
        must(clFinish(rig.queue), "clFinish");
        double ready = now_us();
        for (unsigned i = 0; i < options.launches; i++)
            launch(&rig, i);
        must(clFinish(rig.queue), "clFinish");
        double end = now_us();
        transfer(&rig, options.launches % 2, got, false);
        double all = now_us() - begin;
        least = end - ready < least ? end - ready : least;
        least_all = all < least_all ? all : least_all;
        fprintf(stderr, "round %u: %.1f ms, with all transfers %.1f\n", r, (end - ready) / 1e3, all / 1e3);
        if (r == 0)
            check(got);
    }
    printf("%f %f\n", least / 1e3, least_all / 1e3);
}

/* ---- Both ---- */

static void run_bounded(char **argv, const char *memory, double *ms, double *all_ms)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        setenv("LARGER_CHILD", "yes", 1);
        if (memory) {
            setenv("TESELA_MEMORY", memory, 1);
            setenv("TESELA_LARGER", "yes", 1);
        }
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    if (child < 0 || !file || fscanf(file, "%lf %lf", ms, all_ms) != 2) {
        fprintf(stderr, "larger: the run %s failed\n", memory ? memory : "in core");
        exit(1);
    }
    fclose(file);
    waitpid(child, NULL, 0);
}

static void compare(char **argv, const char *member)
{
    double ms[2], all_ms[2], bytes = 2.0 * (double)options.width * (double)options.height * sizeof(float);
    char memory[128];
    snprintf(memory, sizeof memory, "%s=%.0f", member, bytes / options.parts);
    run_bounded(argv, NULL, &ms[0], &all_ms[0]);
    run_bounded(argv, memory, &ms[1], &all_ms[1]);
    printf("%u launches on %zu x %zu, %.0f MB: in core %.1f ms, with transfers %.1f\n", options.launches, options.width,
           options.height, bytes / 1e6, ms[0], all_ms[0]);
    printf("%s: %.1f ms, with transfers %.1f: lost %.1f %%, with transfers %.1f %%\n", memory, ms[1], all_ms[1],
           (ms[1] / ms[0] - 1) * 100, (all_ms[1] / all_ms[0] - 1) * 100);
}

int main(int argc, char **argv)
{
    for (int o; (o = getopt(argc, argv, "w:h:n:l:r:p:")) >= 0;) {
        if (o == 'w')
            options.width = strtoul(optarg, NULL, 10);
        else if (o == 'h')
            options.height = strtoul(optarg, NULL, 10);
        else if (o == 'n')
            options.launches = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'r')
            options.rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'p')
            options.parts = (unsigned)strtoul(optarg, NULL, 10);
        else if (o != 'l' || sscanf(optarg, "%zu,%zu", &options.local[0], &options.local[1]) != 2)
            return 2;
    }
    if (getenv("LARGER_CHILD"))
        run();
    else if (optind < argc)
        compare(argv, argv[optind]);
    else
        return 2;
    return 0;
}
