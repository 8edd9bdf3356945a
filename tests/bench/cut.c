/*
 * Ordinary programs with one queue and large launches, to see what is gained by more members: vector addition, matrix
 * product, Mandelbrot, Black-Scholes, an iterated stencil, and two whose writes or reads are known only at run time (a
 * scatter, an n-body step). Nothing in it knows Tesela. Data stay on the device; each program runs several rounds, the
 * result is compared with the host's at some places. Prints milliseconds of the best and the middle round, of the
 * first, which learns, and from the first buffer to the end of the first round. Not a test.
 *
 * cut [-p PLATFORM] [-s SHIFT] [-r ROUNDS] [PROGRAM …]   SHIFT halves the sizes so often
 */
#include "measure.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#define MAX_ROUNDS 64

static const char source[] =
    "kernel void add(global const float *a, global const float *b, global float *c) {\n"
    "  size_t i = get_global_id(0); c[i] = a[i] + b[i];\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void product(global const float *a, global const float *b, global float *out, int n) {\n"
    "  local float s[16][16], t[16][16];\n"
    "  int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1); float sum = 0;\n"
    "  for (int k = 0; k < n; k += 16) {\n"
    "    s[j][i] = a[y * n + k + i]; t[j][i] = b[(k + j) * n + x]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int m = 0; m < 16; m++) sum += s[j][m] * t[m][i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  out[y * n + x] = sum;\n"
    "}\n"
    "kernel void mandelbrot(global uint *out, uint width, uint height, uint limit) {\n"
    "  uint x = get_global_id(0), y = get_global_id(1); if (x >= width || y >= height) return;\n"
    "  float cx = -2.0f + 3.0f * x / width, cy = -1.2f + 2.4f * y / height, a = 0, b = 0; uint n = 0;\n"
    "  for (; n < limit && a * a + b * b < 4.0f; n++) { float t = a * a - b * b + cx; b = 2 * a * b + cy; a = t; }\n"
    "  out[y * width + x] = n;\n"
    "}\n"
    "float phi(float d) {\n"
    "  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));\n"
    "  float s = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * "
    "1.330274429f))));\n"
    "  float c = 0.39894228f * exp(-0.5f * d * d) * s; return d > 0 ? 1 - c : c;\n"
    "}\n"
    "kernel void black_scholes(global const float *price, global float *call, global float *put, int repeat) {\n"
    "  int i = get_global_id(0); float s = 10 + 90 * price[i], x = 20 + 60 * price[i], sum = 0, dif = 0;\n"
    "  for (int k = 0; k < repeat; k++) {\n"
    "    float t = 0.25f + 0.001f * k, v = 0.3f, r = 0.02f, q = sqrt(t);\n"
    "    float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * q), d2 = d1 - v * q, e = x * exp(-r * t);\n"
    "    sum += s * phi(d1) - e * phi(d2); dif += e * phi(-d2) - s * phi(-d1);\n"
    "  }\n"
    "  call[i] = sum; put[i] = dif;\n"
    "}\n"
    "kernel void stencil(global const float *a, global float *b, int w, int h) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)\n"
    "    b[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * "
    "w + "
    "x]);\n"
    "}\n"
    "kernel void scatter(global const uint *to, global const float *a, global float *b) {\n"
    "  size_t i = get_global_id(0); float v = a[i]; for (int k = 0; k < 512; k++) v = fma(v, 0.999f, 0.001f);\n"
    "  b[to[i]] = v;\n"
    "}\n"
    "kernel void bodies(global const float4 *at, global float4 *force, int n) {\n"
    "  int i = get_global_id(0); float4 p = at[i], f = 0;\n"
    "  for (int k = 0; k < n; k++) {\n"
    "    float4 d = at[k] - p; float r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f; f += d * (at[k].w * rsqrt(r * r * "
    "r));\n"
    "  }\n"
    "  force[i] = f;\n"
    "}\n";

static struct rig {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    unsigned shift, rounds;
    double begin_us; /* of the program that runs */
} rig;

static void arg(cl_kernel k, cl_uint i, size_t size, const void *value)
{
    must(clSetKernelArg(k, i, size, value), "clSetKernelArg");
}

static void launch(cl_kernel k, cl_uint dim, size_t x, size_t y, size_t lx, size_t ly)
{
    size_t global[2] = {x, y}, local[2] = {lx, ly};
    must(clEnqueueNDRangeKernel(rig.queue, k, dim, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static void put(cl_mem mem, size_t size, const void *data)
{
    must(clEnqueueWriteBuffer(rig.queue, mem, CL_TRUE, 0, size, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static void get(cl_mem mem, size_t offset, size_t size, void *data)
{
    must(clEnqueueReadBuffer(rig.queue, mem, CL_TRUE, offset, size, data, 0, NULL, NULL), "clEnqueueReadBuffer");
}

/* Values between 0 and 1, the same in each run. */
static float value_at(size_t i)
{
    return (float)((i * UINT64_C(2654435761) >> 8) % 4096) / 4096;
}

static float *values(size_t n)
{
    float *v = malloc(n * sizeof(*v));
    if (!v)
        must(CL_OUT_OF_HOST_MEMORY, "malloc");
    for (size_t i = 0; i < n; i++)
        v[i] = value_at(i);
    return v;
}

static cl_mem filled(size_t n)
{
    float *v = values(n);
    cl_mem mem = device_buffer(rig.context, n * sizeof(*v));
    put(mem, n * sizeof(*v), v);
    free(v);
    return mem;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a round does, with what it needs. */
struct work {
    const char *name;
    void (*round)(struct work *w);
    bool (*right)(struct work *w);
    cl_kernel kernel;
    cl_mem mem[4];
    size_t n, side;
};

static void run(struct work *w)
{
    double ms[MAX_ROUNDS], first, until_first = 0;
    for (unsigned i = 0; i < rig.rounds; i++) {
        double begin = now_us();
        w->round(w);
        must(clFinish(rig.queue), w->name);
        ms[i] = (now_us() - begin) / 1e3;
        until_first = i == 0 ? (now_us() - rig.begin_us) / 1e3 : until_first;
    }
    first = ms[0];
    bool right = w->right(w);
    qsort(ms, rig.rounds, sizeof(*ms), ascending);
    printf("%-14s best %10.3f  middle %10.3f  first %10.3f  with data %10.3f ms  %s\n", w->name, ms[0],
           ms[rig.rounds / 2], first, until_first, right ? "right" : "WRONG");
    fflush(stdout);
    for (int i = 0; i < 4; i++)
        if (w->mem[i])
            clReleaseMemObject(w->mem[i]);
    clReleaseKernel(w->kernel);
}

static bool near(float a, float b)
{
    return fabsf(a - b) <= 1e-3f * fmaxf(1, fabsf(b));
}

/* ---- The programs ------------------------------------------------------------------------------------------------ */

static void set_mems(struct work *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        arg(w->kernel, i, sizeof(cl_mem), &w->mem[i]);
}

static void add_round(struct work *w)
{
    launch(w->kernel, 1, w->n, 1, 256, 1);
}

static bool add_right(struct work *w)
{
    bool right = true;
    for (size_t i = 0; i < w->n && right; i += w->n / 64 + 1) {
        float v;
        get(w->mem[2], i * sizeof(v), sizeof(v), &v);
        right = v == 2 * value_at(i);
    }
    return right;
}

static void add(void)
{
    struct work w = {
        "add", add_round, add_right, program_kernel(rig.program, "add"), {NULL}, (size_t)1 << (28 - rig.shift), 0};
    w.mem[0] = filled(w.n);
    w.mem[1] = filled(w.n);
    w.mem[2] = device_buffer(rig.context, w.n * sizeof(float));
    set_mems(&w, 3);
    run(&w);
}

static void product_round(struct work *w)
{
    launch(w->kernel, 2, w->side, w->side, 16, 16);
}

static bool product_right(struct work *w)
{
    bool right = true;
    for (size_t t = 0; t < 16 && right; t++) {
        size_t y = t * 997 % w->side, x = t * 771 % w->side;
        double sum = 0;
        float v;
        for (size_t k = 0; k < w->side; k++)
            sum += (double)value_at(y * w->side + k) * value_at(k * w->side + x);
        get(w->mem[2], (y * w->side + x) * sizeof(v), sizeof(v), &v);
        right = near(v, (float)sum);
    }
    return right;
}

static void product(void)
{
    struct work w = {"product",
                     product_round,
                     product_right,
                     program_kernel(rig.program, "product"),
                     {NULL},
                     0,
                     (size_t)8192 >> rig.shift};
    int n = (int)w.side;
    w.mem[0] = filled(w.side * w.side);
    w.mem[1] = filled(w.side * w.side);
    w.mem[2] = device_buffer(rig.context, w.side * w.side * sizeof(float));
    set_mems(&w, 3);
    arg(w.kernel, 3, sizeof(n), &n);
    run(&w);
}

static void mandelbrot_round(struct work *w)
{
    launch(w->kernel, 2, w->side, w->side, 16, 16);
}

static bool mandelbrot_right(struct work *w)
{
    unsigned v;
    get(w->mem[0], (w->side / 2 * w->side + w->side * 2 / 3) * sizeof(v), sizeof(v), &v);
    return v == 2000; /* The point 0 never leaves. */
}

static void mandelbrot(void)
{
    struct work w = {"mandelbrot",
                     mandelbrot_round,
                     mandelbrot_right,
                     program_kernel(rig.program, "mandelbrot"),
                     {NULL},
                     0,
                     (size_t)8192 >> rig.shift};
    unsigned side = (unsigned)w.side, limit = 2000;
    w.mem[0] = device_buffer(rig.context, w.side * w.side * sizeof(unsigned));
    set_mems(&w, 1);
    arg(w.kernel, 1, sizeof(side), &side);
    arg(w.kernel, 2, sizeof(side), &side);
    arg(w.kernel, 3, sizeof(limit), &limit);
    run(&w);
}

static bool options_right(struct work *w)
{
    /* Call and put differ by the price less what is paid for it later. */
    bool right = true;
    for (size_t i = 0; i < w->n && right; i += w->n / 16 + 1) {
        float call, put_, p = value_at(i);
        double s = 10 + 90 * (double)p, x = 20 + 60 * (double)p, sum = 0;
        for (int k = 0; k < 2048; k++)
            sum += s - x * exp(-0.02 * (0.25 + 0.001 * k));
        get(w->mem[1], i * sizeof(float), sizeof(float), &call);
        get(w->mem[2], i * sizeof(float), sizeof(float), &put_);
        right = fabs(call - put_ - sum) <= 2e-3 * fmax(fabs(sum), 2048);
    }
    return right;
}

static void options(void)
{
    struct work w = {"black-scholes",
                     add_round,
                     options_right,
                     program_kernel(rig.program, "black_scholes"),
                     {NULL},
                     (size_t)1 << (22 - rig.shift),
                     0};
    int repeat = 2048;
    w.mem[0] = filled(w.n);
    w.mem[1] = device_buffer(rig.context, w.n * sizeof(float));
    w.mem[2] = device_buffer(rig.context, w.n * sizeof(float));
    set_mems(&w, 3);
    arg(w.kernel, 3, sizeof(repeat), &repeat);
    run(&w);
}

#define STEPS 100

static void stencil_round(struct work *w)
{
    for (unsigned i = 0; i < STEPS; i++) {
        arg(w->kernel, 0, sizeof(cl_mem), &w->mem[i % 2]);
        arg(w->kernel, 1, sizeof(cl_mem), &w->mem[1 - i % 2]);
        launch(w->kernel, 2, w->side, w->side, 32, 8);
    }
}

/* A field that is linear stays as it is. */
static bool stencil_right(struct work *w)
{
    bool right = true;
    float *row = malloc(w->side * sizeof(*row));
    for (size_t y = 1; row && y < w->side && right; y += w->side / 61 + 1) {
        get(w->mem[0], y * w->side * sizeof(float), w->side * sizeof(float), row);
        for (size_t x = 0; x < w->side && right; x++)
            right = near(row[x], (float)(x + y) / 1024);
    }
    free(row);
    return right;
}

static void stencil(void)
{
    struct work w = {"stencil x100",
                     stencil_round,
                     stencil_right,
                     program_kernel(rig.program, "stencil"),
                     {NULL},
                     0,
                     (size_t)16384 >> rig.shift};
    int side = (int)w.side;
    float *v = malloc(w.side * w.side * sizeof(*v));
    if (!v)
        must(CL_OUT_OF_HOST_MEMORY, "malloc");
    for (size_t i = 0; i < w.side * w.side; i++)
        v[i] = (float)(i % w.side + i / w.side) / 1024;
    for (int i = 0; i < 2; i++) {
        w.mem[i] = device_buffer(rig.context, w.side * w.side * sizeof(*v));
        put(w.mem[i], w.side * w.side * sizeof(*v), v);
    }
    free(v);
    arg(w.kernel, 2, sizeof(side), &side);
    arg(w.kernel, 3, sizeof(side), &side);
    run(&w);
}

static size_t place_of(size_t i, size_t n)
{
    return (i * 1103515245 + 12345) % n; /* n is a power of two: each once */
}

static bool scatter_right(struct work *w)
{
    bool right = true;
    for (size_t i = 0; i < w->n && right; i += w->n / 64 + 1) {
        float v, expected = value_at(i);
        for (int k = 0; k < 512; k++)
            expected = fmaf(expected, 0.999f, 0.001f);
        get(w->mem[2], place_of(i, w->n) * sizeof(v), sizeof(v), &v);
        right = near(v, expected);
    }
    return right;
}

static void scatter(void)
{
    struct work w = {"scatter",
                     add_round,
                     scatter_right,
                     program_kernel(rig.program, "scatter"),
                     {NULL},
                     (size_t)1 << (26 - rig.shift),
                     0};
    unsigned *to = malloc(w.n * sizeof(*to));
    if (!to)
        must(CL_OUT_OF_HOST_MEMORY, "malloc");
    for (size_t i = 0; i < w.n; i++)
        to[i] = (unsigned)place_of(i, w.n);
    w.mem[0] = device_buffer(rig.context, w.n * sizeof(*to));
    put(w.mem[0], w.n * sizeof(*to), to);
    free(to);
    w.mem[1] = filled(w.n);
    w.mem[2] = device_buffer(rig.context, w.n * sizeof(float));
    set_mems(&w, 3);
    run(&w);
}

static bool bodies_right(struct work *w)
{
    size_t i = w->n / 3;
    double sum[3] = {0};
    float force[4];
    for (size_t k = 0; k < w->n; k++) {
        double d[3], r = 0.01;
        for (int c = 0; c < 3; c++) {
            d[c] = (double)value_at(4 * k + c) - value_at(4 * i + c);
            r += d[c] * d[c];
        }
        for (int c = 0; c < 3; c++)
            sum[c] += d[c] * value_at(4 * k + 3) / sqrt(r * r * r);
    }
    get(w->mem[1], i * sizeof(force), sizeof(force), force);
    bool right = true;
    for (int c = 0; c < 3; c++)
        right &= fabs(force[c] - sum[c]) <= 2e-3 * fmax(1000, fabs(sum[c]));
    return right;
}

static void bodies(void)
{
    struct work w = {
        "n-body", add_round, bodies_right, program_kernel(rig.program, "bodies"), {NULL}, (size_t)1 << (18 - rig.shift),
        0};
    int n = (int)w.n;
    w.mem[0] = filled(4 * w.n);
    w.mem[1] = device_buffer(rig.context, 4 * w.n * sizeof(float));
    set_mems(&w, 2);
    arg(w.kernel, 2, sizeof(n), &n);
    run(&w);
}

/* ---- Main -------------------------------------------------------------------------------------------------------- */

static cl_platform_id find_platform(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint n;
    must(clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < 16; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
        if (!wanted || strstr(name, wanted))
            return platforms[i];
    }
    fprintf(stderr, "cut: no platform \"%s\"\n", wanted);
    exit(1);
}

static void set_up(const char *platform)
{
    const char *text = source;
    cl_int error;
    must(clGetDeviceIDs(find_platform(platform), CL_DEVICE_TYPE_ALL, 1, &rig.device, NULL), "clGetDeviceIDs");
    rig.context = clCreateContext(NULL, 1, &rig.device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig.queue = clCreateCommandQueueWithProperties(rig.context, rig.device, NULL, &error);
    must(error, "clCreateCommandQueueWithProperties");
    rig.program = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(rig.program, 1, &rig.device, "", NULL, NULL), "clBuildProgram");
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"add", add},         {"product", product}, {"mandelbrot", mandelbrot}, {"black-scholes", options},
                {"stencil", stencil}, {"scatter", scatter}, {"n-body", bodies}};

int main(int argc, char **argv)
{
    const char *platform = NULL;
    rig.rounds = 9;
    for (int option; (option = getopt(argc, argv, "p:s:r:")) != -1;) {
        if (option == 'p')
            platform = optarg;
        else if (option == 's')
            rig.shift = (unsigned)atoi(optarg);
        else if (option == 'r')
            rig.rounds = (unsigned)atoi(optarg);
        else
            return 2;
    }
    if (rig.rounds < 1 || rig.rounds > MAX_ROUNDS || rig.shift > 10)
        return 2;
    set_up(platform);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        bool wanted = optind == argc;
        for (int a = optind; a < argc; a++)
            wanted |= strcmp(argv[a], programs[i].name) == 0;
        rig.begin_us = now_us();
        if (wanted)
            programs[i].run();
    }
    return 0;
}
