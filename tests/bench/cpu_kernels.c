/*
 * Kernels on the built-in CPU and on a vendor's own OpenCL (PoCL), side by side in one run: rounds alternate between
 * the two, each in a process of its own; medians and their ratio are printed. Results are compared. Not a test.
 */
#include "measure.h"
#include "ten_lines.h"

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

#define MAX_ROUNDS 99
#define N          ((size_t)1 << 20) /* elements of each buffer */
#define SIDE       ((size_t)256)     /* of matrices */

static const char source[] =
    "kernel void vadd(global const float *a, global const float *b, global float *o) {\n"
    "  size_t i = get_global_id(0); o[i] = a[i] + b[i]; }\n"
    "kernel void matmul(global const float *a, global const float *b, global float *o) {\n"
    "  int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
    "  for (int k = 0; k < 256; k++) s += a[y * 256 + k] * b[k * 256 + x];\n"
    "  o[y * 256 + x] = s; }\n"
    "kernel void tiled(global const float *a, global const float *b, global float *o) {\n"
    "  local float ta[16][16], tb[16][16]; int x = get_global_id(0), y = get_global_id(1);\n"
    "  int i = get_local_id(0), j = get_local_id(1); float s = 0;\n"
    "  for (int t = 0; t < 16; t++) {\n"
    "    ta[j][i] = a[y * 256 + t * 16 + i]; tb[j][i] = b[(t * 16 + j) * 256 + x];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int k = 0; k < 16; k++) s += ta[j][k] * tb[k][i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  o[y * 256 + x] = s; }\n"
    "kernel void mandelbrot(global const float *a, global const float *b, global float *o) {\n"
    "  int x = get_global_id(0), y = get_global_id(1); float cx = x / 100.0f - 2, cy = y / 100.0f - 1.3f, u = 0, v = "
    "0;\n"
    "  int n = 0; while (n < 200 && u * u + v * v < 4) { float t = u * u - v * v + cx; v = 2 * u * v + cy; u = t; n++; "
    "}\n"
    "  o[y * 256 + x] = n; }\n"
    "float cnd(float d) { float k = 1 / (1 + 0.2316419f * fabs(d));\n"
    "  float c = 0.39894228f * exp(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f +\n"
    "            k * (-1.821255978f + k * 1.330274429f)))));\n"
    "  return d > 0 ? 1 - c : c; }\n"
    "kernel void blackscholes(global const float *a, global const float *b, global float *o) {\n"
    "  size_t i = get_global_id(0); float s = 10 + a[i] * 90, x = 10 + b[i] * 90, t = 1 + a[i] * 9;\n"
    "  float q = sqrt(t), d1 = (log(s / x) + (0.02f + 0.045f) * t) / (0.3f * q), d2 = d1 - 0.3f * q;\n"
    "  o[i] = s * cnd(d1) - x * exp(-0.02f * t) * cnd(d2); }\n"
    "kernel void stencil(global const float *a, global const float *b, global float *o) {\n"
    "  int x = get_global_id(0), y = get_global_id(1), w = 1024; if (x == 0 || y == 0 || x == w - 1 || y == w - 1) "
    "return;\n"
    "  o[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w "
    "+ x]); "
    "}\n"
    "kernel void nbody(global const float4 *a, global const float *b, global float4 *o) {\n"
    "  int i = get_global_id(0); float4 p = a[i], f = 0;\n"
    "  for (int j = 0; j < 1024; j++) { float4 d = a[j] - p; float r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;\n"
    "    float w = rsqrt(r); f += d * (w * w * w * a[j].w); }\n"
    "  o[i] = f; }\n"
    "kernel void reduce(global const float *a, global const float *b, global float *o) {\n"
    "  local float t[256]; int l = get_local_id(0); t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; "
    "barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  if (l == 0) o[get_group_id(0)] = t[0]; }\n"
    "kernel void scan(global const float *a, global const float *b, global float *o) {\n"
    "  local float t[2][256]; int l = get_local_id(0), w = 0; t[0][l] = a[get_global_id(0)]; "
    "barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int s = 1; s < 256; s <<= 1) { t[1 - w][l] = l >= s ? t[w][l] + t[w][l - s] : t[w][l]; w = 1 - w;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  o[get_global_id(0)] = t[w][l]; }\n"
    "kernel void histogram(global const float *a, global const float *b, global uint *o) {\n"
    "  local uint h[256]; int l = get_local_id(0); h[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int i = 0; i < 16; i++) atomic_inc(&h[(uint)(a[get_group_id(0) * 4096 + i * 256 + l] * 255) & 255]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); atomic_add(&o[l], h[l]); }\n"
    "kernel void transpose(global const float *a, global const float *b, global float *o) {\n"
    "  local float t[16][17]; int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = "
    "get_local_id(1);\n"
    "  t[j][i] = a[y * 1024 + x]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  o[(get_group_id(0) * 16 + j) * 1024 + get_group_id(1) * 16 + i] = t[i][j]; }\n"
    "kernel void convolve(global const float *a, global const float *b, global float *o) {\n"
    "  int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
    "  for (int j = -2; j <= 2; j++) for (int i = -2; i <= 2; i++)\n"
    "    s += a[clamp(y + j, 0, 1023) * 1024 + clamp(x + i, 0, 1023)] * b[(j + 2) * 5 + i + 2];\n"
    "  o[y * 1024 + x] = s; }\n"
    "kernel void sparse(global const float *a, global const float *b, global float *o) {\n"
    "  uint r = get_global_id(0); float s = 0;\n"
    "  for (uint k = 0; k < 4 + r % 29; k++) s += a[r * 32 + k] * b[(r * 977 + k * k * 331) & 0xfffff];\n"
    "  o[r] = s; }\n"
    "kernel void bitonic(global const float *a, global const float *b, global float *o) {\n"
    "  local float t[256]; int l = get_local_id(0); t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int k = 2; k <= 256; k <<= 1) for (int j = k >> 1; j > 0; j >>= 1) {\n"
    "    int p = l ^ j; float x = t[l], y = t[p]; bool up = (l & k) == 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    t[l] = (l < p) == up ? fmin(x, y) : fmax(x, y); barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  o[get_global_id(0)] = t[l]; }\n"
    "kernel void search(global const uchar *a, global const uchar *b, global uint *o) {\n"
    "  size_t i = get_global_id(0); uint n = 0; for (int k = 0; k < 8 && a[i + k] == b[k]; k++) n++;\n"
    "  if (n >= 2) atomic_inc(&o[n]); }\n"
    "kernel void fft(global const float *a, global const float *b, global float *o) {\n"
    "  local float2 s[2][256]; int l = get_local_id(0), g = get_group_id(0) * 256, w = 0;\n"
    "  s[0][l] = (float2)(a[g + l], b[g + l]); s[0][l + 128] = (float2)(a[g + l + 128], b[g + l + 128]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int n = 1; n < 256; n *= 2) {\n"
    "    int k = l & (n - 1), j = 2 * l - k; float c, d = sincos(-M_PI_F * k / n, &c);\n"
    "    float2 u = s[w][l], v = s[w][l + 128]; v = (float2)(v.x * c - v.y * d, v.x * d + v.y * c);\n"
    "    s[1 - w][j] = u + v; s[1 - w][j + n] = u - v; w = 1 - w; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  o[g + l] = fabs(s[w][l].x) * a[g + l]; o[g + l + 128] = fabs(s[w][l + 128].y) * b[g + l]; }\n"
    "kernel void empty(global const float *a, global const float *b, global float *o) {}\n";

static const struct bench {
    const char *kernel;
    cl_uint dims;
    size_t global[2], local[2]; /* local[0] 0: NULL */
    unsigned times;             /* launches in a measured round */
} benches[] = {
    {"vadd", 1, {N}, {0}, 8},
    {"vadd", 1, {N}, {1}, 1},
    {"vadd", 1, {7 * 149000}, {7}, 2},
    {"vadd", 1, {N}, {64}, 8},
    {"vadd", 1, {N}, {256}, 8},
    {"matmul", 2, {SIDE, SIDE}, {16, 16}, 2},
    {"matmul", 2, {SIDE, SIDE}, {0}, 2},
    {"tiled", 2, {SIDE, SIDE}, {16, 16}, 2},
    {"mandelbrot", 2, {SIDE, SIDE}, {16, 16}, 2},
    {"mandelbrot", 2, {SIDE, SIDE}, {0}, 2},
    {"blackscholes", 1, {N}, {256}, 1},
    {"blackscholes", 1, {N}, {0}, 1},
    {"stencil", 2, {1024, 1024}, {16, 16}, 4},
    {"stencil", 2, {1024, 1024}, {0}, 4},
    {"nbody", 1, {1024}, {64}, 2},
    {"reduce", 1, {N}, {256}, 4},
    {"scan", 1, {N}, {256}, 1},
    {"histogram", 1, {N / 16}, {256}, 1},
    {"transpose", 2, {1024, 1024}, {16, 16}, 2},
    {"convolve", 2, {1024, 1024}, {16, 16}, 1},
    {"sparse", 1, {N / 32}, {64}, 4},
    {"bitonic", 1, {N / 4}, {256}, 1},
    {"search", 1, {N}, {64}, 2},
    {"fft", 1, {N / 2}, {128}, 1},
    {"empty", 1, {1}, {0}, 10000},
};

#define N_BENCHES (sizeof(benches) / sizeof(benches[0]))
/* Figures after those of the kernels. Ten lines: a build, then the first launch; as nobody has seen it before, then
 * once more. */
enum { FINISH = N_BENCHES, ALL, TEN, TEN_RUN, AGAIN, AGAIN_RUN, N_FIGURES };
#define N_TENS 7

struct options {
    const char *vendors, *tesela, *self, *only;
    int rounds;
    bool child;
};

struct report {
    char platform[64], device[128];
    double seconds[N_FIGURES];
    double sum[N_BENCHES];
};

/* ---- In the child ------------------------------------------------------------------------------------------------ */

struct rig {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    cl_mem a, b, out;
    float *host;
};

static double now(void)
{
    return now_us() * 1e-6;
}

/* How long it takes, in seconds; the program is then rig's. */
static double build(struct rig *rig, const char *text)
{
    double begin = now();
    cl_int error;

    rig->program = clCreateProgramWithSource(rig->context, 1, &text, NULL, &error);
    must(clBuildProgram(rig->program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    return now() - begin;
}

/* Nobody has seen it before. */
static const char *made_new(const char *program, char *text, size_t size)
{
    snprintf(text, size, "%s/* %d %f */", program, (int)getpid(), now());
    return text;
}

static void open_rig(struct rig *rig, struct report *report)
{
    size_t size = N * 16;
    cl_platform_id platform;
    cl_int error;

    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &rig->device, NULL), "clGetDeviceIDs");
    must(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(report->platform), report->platform, NULL), "its name");
    must(clGetDeviceInfo(rig->device, CL_DEVICE_NAME, sizeof(report->device), report->device, NULL), "its name");
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    must(error, "clCreateCommandQueue");
    rig->host = malloc(size);
    for (size_t i = 0; i < size / 4; i++)
        rig->host[i] = (float)(i * 2654435761u >> 8 & 0xffff) / 65536;
    rig->a = clCreateBuffer(rig->context, CL_MEM_COPY_HOST_PTR, size, rig->host, &error);
    rig->b = clCreateBuffer(rig->context, CL_MEM_COPY_HOST_PTR, size, rig->host, &error);
    rig->out = clCreateBuffer(rig->context, 0, size, NULL, &error);
    must(error, "clCreateBuffer");
}

static void launch(struct rig *rig, const struct bench *bench, cl_kernel kernel, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        must(clEnqueueNDRangeKernel(rig->queue, kernel, bench->dims, NULL, bench->global,
                                    bench->local[0] ? bench->local : NULL, 0, NULL, NULL),
             bench->kernel);
    must(clFinish(rig->queue), bench->kernel);
}

static double sum_of(struct rig *rig)
{
    double sum = 0;

    must(clEnqueueReadBuffer(rig->queue, rig->out, CL_TRUE, 0, N * 4, rig->host, 0, NULL, NULL), "read");
    for (size_t i = 0; i < N; i++)
        sum += isfinite(rig->host[i]) ? rig->host[i] * (double)(i % 7 + 1) : 1;
    return sum;
}

static cl_kernel kernel_of(struct rig *rig, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(rig->program, name, &error);

    must(error, name);
    must(clSetKernelArg(kernel, 0, sizeof(rig->a), &rig->a), "clSetKernelArg");
    must(clSetKernelArg(kernel, 1, sizeof(rig->b), &rig->b), "clSetKernelArg");
    must(clSetKernelArg(kernel, 2, sizeof(rig->out), &rig->out), "clSetKernelArg");
    return kernel;
}

/* The best of twenty: what is measured is the code, not who else is on the machine. */
static double measure(struct rig *rig, const struct bench *bench, double *sum)
{
    cl_kernel kernel = kernel_of(rig, bench->kernel);
    double best = 1e9;
    cl_uint zero = 0;

    must(clEnqueueFillBuffer(rig->queue, rig->out, &zero, 4, 0, N * 16, 0, NULL, NULL), "fill");
    launch(rig, bench, kernel, 1); /* PoCL compiles it for the local size */
    *sum = sum_of(rig);
    for (int i = 0; i < 20; i++) {
        double begin = now(), took;

        launch(rig, bench, kernel, bench->times);
        took = (now() - begin) / bench->times;
        best = took < best ? took : best;
    }
    clReleaseKernel(kernel);
    return best;
}

static double empty_and_finish(struct rig *rig)
{
    cl_kernel kernel = kernel_of(rig, "empty");
    const struct bench *bench = &benches[N_BENCHES - 1];
    double begin;

    launch(rig, bench, kernel, 1);
    begin = now();
    for (int i = 0; i < 2000; i++)
        launch(rig, bench, kernel, 1);
    clReleaseKernel(kernel);
    return (now() - begin) / 2000;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double run_product(struct rig *rig)
{
    size_t size[2] = {64, 64};
    double begin = now();
    cl_kernel kernel = kernel_of(rig, "product");
    cl_int n = 64;

    must(clSetKernelArg(kernel, 3, sizeof(n), &n), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(rig->queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL), "product");
    must(clFinish(rig->queue), "product");
    clReleaseKernel(kernel);
    return now() - begin;
}

/* Fills the four figures from TEN on with medians. */
static void ten_lines(struct rig *rig, double *figures)
{
    double all[4][N_TENS];
    char text[1024];

    for (int i = 0; i < N_TENS; i++) {
        made_new(TEN_LINES, text, sizeof(text));
        for (int again = 0; again < 2; again++) {
            all[2 * again][i] = build(rig, text);
            all[2 * again + 1][i] = run_product(rig);
            clReleaseProgram(rig->program);
        }
    }
    for (int f = 0; f < 4; f++) {
        qsort(all[f], N_TENS, sizeof(all[f][0]), compare);
        figures[TEN + f] = all[f][N_TENS / 2];
    }
}

static bool is_wanted(const char *kernel, const char *only)
{
    return !only || strcmp(kernel, only) == 0;
}

static int child(const char *only)
{
    char text[sizeof(source) + 64];
    struct report report = {.platform = ""};
    struct rig rig;

    open_rig(&rig, &report);
    report.seconds[ALL] = build(&rig, made_new(source, text, sizeof(text)));
    for (size_t i = 0; i < N_BENCHES; i++)
        if (is_wanted(benches[i].kernel, only))
            report.seconds[i] = measure(&rig, &benches[i], &report.sum[i]);
    report.seconds[FINISH] = empty_and_finish(&rig);
    ten_lines(&rig, report.seconds);
    return fwrite(&report, sizeof(report), 1, stdout) == 1 ? 0 : 1;
}

/* ---- In the parent ----------------------------------------------------------------------------------------------- */

static bool run(const struct options *options, bool ours, struct report *report)
{
    int ends[2], status;
    size_t got = 0;
    ssize_t n = 1;
    pid_t process;

    if (pipe(ends))
        return false;
    process = fork();
    if (process == 0) {
        setenv("OCL_ICD_VENDORS", ours ? options->tesela : options->vendors, 1);
        setenv("TESELA_MEMBERS", "cpu", 0);
        dup2(ends[1], 1);
        execl(options->self, options->self, "--child", options->only ? "--only" : NULL, options->only, NULL);
        _exit(1);
    }
    close(ends[1]);
    while (got < sizeof(*report) && n > 0) {
        n = read(ends[0], (char *)report + got, sizeof(*report) - got);
        got += n > 0 ? (size_t)n : 0;
    }
    close(ends[0]);
    waitpid(process, &status, 0);
    return status == 0 && got == sizeof(*report);
}

static double median(const struct report *reports, int n, size_t figure)
{
    double all[MAX_ROUNDS];

    for (int i = 0; i < n; i++)
        all[i] = reports[i].seconds[figure];
    qsort(all, (size_t)n, sizeof(all[0]), compare);
    return all[n / 2];
}

static void name_of(size_t figure, char *name, size_t size)
{
    static const char *const others[] = {"empty, launch + finish", "build them all, cold",    "build ten lines, cold",
                                         "… and the first launch", "build ten lines, cached", "… and the first launch"};
    const struct bench *b = &benches[figure];

    if (figure >= N_BENCHES)
        snprintf(name, size, "%s", others[figure - N_BENCHES]);
    else if (b->local[0])
        snprintf(name, size, "%s, local %zu%s", b->kernel, b->local[0], b->dims == 2 ? " x 16" : "");
    else
        snprintf(name, size, "%s, local NULL", b->kernel);
}

static void show(const struct options *options, const struct report *theirs, const struct report *ours)
{
    int rounds = options->rounds, n = 0;
    double logs = 0;

    printf("native: %s on %s\nTesela: %s\n\n", theirs->platform, theirs->device, ours->device);
    printf("%-28s %12s %12s %7s\n", "", "native us", "Tesela us", "ratio");
    for (size_t f = 0; f < N_FIGURES; f++) {
        double their = median(theirs, rounds, f), our = median(ours, rounds, f);
        bool differ = f < N_BENCHES && fabs(theirs->sum[f] - ours->sum[f]) > 1e-4 * (1 + fabs(theirs->sum[f]));
        char name[64];

        if (f < N_BENCHES && !is_wanted(benches[f].kernel, options->only))
            continue;
        name_of(f, name, sizeof(name));
        printf("%-28s %12.1f %12.1f %7.2f%s\n", name, their * 1e6, our * 1e6, our / their,
               differ ? "  RESULTS DIFFER" : "");
        if (differ)
            printf("    native %.9g, Tesela %.9g\n", theirs->sum[f], ours->sum[f]);
        if (f < N_BENCHES) {
            logs += log(our / their);
            n++;
        }
    }
    printf("geometric mean of the kernels: %.2f\n", exp(logs / n));
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'n':
        options->vendors = value;
        return 0;
    case 't':
        options->tesela = value;
        return 0;
    case 'r':
        options->rounds = atoi(value);
        return options->rounds > 0 && options->rounds <= MAX_ROUNDS ? 0 : EINVAL;
    case 'o':
        options->only = value;
        return 0;
    case 'c':
        options->child = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option all[] = {
        {"native", 'n', "FOLDER", 0, "with the vendor's .icd file (build/vendors-pocl)", 0},
        {"tesela", 't', "FOLDER", 0, "with Tesela's (build/icd)", 0},
        {"rounds", 'r', "N", 0, "of each (default 3)", 0},
        {"only", 'o', "KERNEL", 0, "this kernel alone", 0},
        {"child", 'c', NULL, OPTION_HIDDEN, NULL, 0},
        {0},
    };
    struct argp argp = {
        all,
        parse,
        NULL,
        "Kernels on the built-in CPU beside a vendor's own OpenCL. TESELA_MEMBERS, which is \"cpu\" unless "
        "it is set, and Tesela's other variables hold.",
        NULL,
        NULL,
        NULL};
    struct options options = {
        .vendors = "build/vendors-pocl", .tesela = "build/icd/", .self = "/proc/self/exe", .rounds = 3};
    static struct report theirs[MAX_ROUNDS], ours[MAX_ROUNDS];

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.child)
        return child(options.only);
    for (int i = 0; i < options.rounds; i++) {
        if (!run(&options, false, &theirs[i]) || !run(&options, true, &ours[i])) {
            fprintf(stderr, "cpu_kernels: a measuring process failed\n");
            return 1;
        }
        must_be_tesela(ours[i].platform, options.tesela);
    }
    show(&options, theirs, ours);
    return 0;
}
