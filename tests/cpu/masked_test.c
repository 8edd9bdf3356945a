/*
 * Neighbours that load and store neighbouring places, where not all of them do: at the borders of an image, behind
 * conditions of all kinds; and places that are counted from elsewhere, by numbers of either sign. On the built-in CPU
 * alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HEIGHT 9
#define LEFT   (-77) /* where nothing is stored */

static const char source[] =
    "#define I(x, y) ((y) * w + (x))\n"
    "kernel void border(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1); if (x == 0 || y == 0 || x == w - 1 || y == h - 1) return;\n"
    "    o[I(x, y)] = a[I(x, y)] + 3 * a[I(x - 1, y)] + 5 * a[I(x + 1, y)] + 7 * a[I(x, y - 1)] + 11 * a[I(x, y + 1)]; "
    "}\n"
    /* Those that the condition leaves out access something, too: before the others, or for one value of both. */
    "kernel void edge(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) { o[I(x, y)] = 13 * a[I(x, y)]; return; }\n"
    "    o[I(x, y)] = a[I(x, y)] + 3 * a[I(x - 1, y)] + 5 * a[I(x + 1, y)] + 7 * a[I(x, y - 1)] + 11 * a[I(x, y + 1)]; "
    "}\n"
    "kernel void both(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), c; if (x > 0 && y > 0 && x < w - 1 && y < h - 1)\n"
    "        c = a[I(x, y)] + 3 * a[I(x - 1, y)] + 5 * a[I(x + 1, y)] + 7 * a[I(x, y - 1)] + 11 * a[I(x, y + 1)];\n"
    "    else c = 13 * a[I(x, y)]; o[I(x, y)] = c; }\n"
    /* Counted from behind the end, and from before the beginning. */
    "kernel void behind(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1); global const int *end = a + w * h; global int *p = o - 1000;\n"
    "    if (x > 1 && x < w - 2) p[I(x, y) + 1000] = end[I(x, y - h)] + 3 * end[I(x, y) - w * h - 2]\n"
    "        + 5 * end[I(x + 2, y - h)]; }\n"
    "kernel void inside(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1); if (y < h && x < w) o[I(x, y)] += 3 * a[I(x, y)]; }\n"
    "kernel void edges(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1); if (x >= w || y >= h) return; uchar s = 0;\n"
    "    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {\n"
    "        int d = a[I(x + 1, y)] - a[I(x - 1, y)], e = a[I(x, y + 1)] - a[I(x, y - 1)];\n"
    "        s = convert_uchar_sat(sqrt((float)(d * d + e * e))); }\n"
    "    o[I(x, y)] = s; }\n"
    /* One condition within another: who is in the first is told by who is in both, but not by who isn't. */
    "kernel void within(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 5; if (x >= w - 1 || y >= h) return;\n"
    "    if (x > 2 && x != 21 && y > 0 && y < h - 1) s = 3 * a[I(x - 1, y)] + 7 * a[I(x + 1, y)] + a[I(x, y - 1)];\n"
    "    else s += 11 * a[I(x, y)];\n"
    "    o[I(x, y)] = s; }\n"
    /* Conditions that lanes' ends tell: of numbers without sign, of 64 bits, that are no equality, counted the other
     * way, and one of which is enough. */
    "#define FIVE(p) (3 * (p)[0] + 5 * (p)[1] + 7 * (p)[2] + 11 * (p)[3] - (p)[4])\n"
    "kernel void unsign(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 9; if ((uint)(x - 3) < (uint)(w - 9) && x + 4 < w)"
    "        s = FIVE(a + I(x, y));"
    "    o[I(x, y)] = s; }\n"
    "kernel void far(global const int *a, global int *o, int w, int h) {\n"
    "    size_t x = get_global_id(0), y = get_global_id(1); if (x - 3 < (size_t)(w - 9) && x + 4 < w)"
    "        o[I(x, y)] = FIVE(a + I(x, y)); }\n"
    "kernel void other(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 9; if (x != 20 && x + 7 < w) s = FIVE(a + I(x, y));"
    "    o[I(x, y)] = s; }\n"
    "kernel void turned(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 9; if (!(w - 8 <= x) && !(2 > x || y == 4))"
    "        s = FIVE(a + I(x, y)); o[I(x, y)] = s; }\n"
    "kernel void enough(global const int *a, global int *o, int w, int h) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 9; if ((x < 9 || x > 24) && x < w - 5) s = FIVE(a + I(x, "
    "y));"
    "    o[I(x, y)] = s; }\n"
    /* Numbers that wrap in the midst of a strip: x + m for large m. */
    "kernel void wraps(global const int *a, global int *o, int m, int n) {\n"
    "    uint i = get_global_id(0); int s = 9; if (i + (uint)m > 5 && i + (uint)m < (uint)n * 1000) s = FIVE(a + i);\n"
    "    o[i] = s; if ((int)(i + (uint)m) < 100) o[i + n] = FIVE(a + i); }\n"
    /* Who takes part: a[i] % m != 1, for m of 1 to 70: all, nearly all, half of them. */
    "kernel void some(global const int *a, global int *o, int m, int n) {\n"
    "    int i = get_global_id(0), v = a[i], s = 0; if (v % m != 1) { int r = a[i + n]; s = 2 * r + a[i + 2 * n]; o[i] "
    "= s; r += s; if (r & 1) o[i + n] = r + a[i + 3 * n]; else o[i + 2 * n] = r - v; }\n"
    "    o[i + 3 * n] = s + v; }\n"
    /* One condition twice, with more between than is worth copying, so that both are in one block. */
    "kernel void again(global const int *a, global int *o, int m, int n) {\n"
    "    int i = get_global_id(0); bool b = a[i] % m > 5; if (b) o[i] = 13 * a[i + n]; uint t = a[i + 2 * n];\n"
    "    t = t * t + 3; t ^= t >> 3; t *= 77; t += i; t ^= t << 5; t *= 91; t -= t >> 9; t ^= 0x1234; t *= t;\n"
    "    t += t >> 2; t ^= t << 1; o[i + 3 * n] = t;\n"
    "    if (!b) { o[i] = a[i + n] + 3 * a[i + 2 * n] + a[i + 3 * n]; o[i + n] = 7 * a[i + n]; } }\n"
    /* One work-item stores at one place, twice. */
    "kernel void twice(global const int *a, global int *o, int m, int n) {\n"
    "    int i = get_global_id(0), v = a[i]; global int *e = o + 2 * n; if (i == m) *e = v;\n"
    "    uint t = v; t = t * t + 3; t ^= t >> 3; t *= 77; t ^= t << 5; if (i == m && v % 3 == 0) *e = (int)t;\n"
    "    o[i] = t; }\n"
    "kernel void shared(global const int *a, global int *o, int m, int n) {\n"
    "    local int t[3 * 256]; int l = get_local_id(0), z = get_local_size(0), i = get_global_id(0); t[l] = a[i];\n"
    "    t[l + z] = a[i + n]; t[l + 2 * z] = 1; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int s = z / 2; s > 0; s >>= 1) { if (l < s) { int r = t[l + s] + t[l + z + s]; t[l] += r;\n"
    "        t[l + 2 * z] += t[l + z] * m + r; } barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    o[i] = t[l]; o[i + n] = t[l + 2 * z]; }\n";

static int *input(size_t n)
{
    int *in = malloc(n * sizeof(int));

    for (size_t i = 0; i < n; i++)
        in[i] = (int)(cpu_rig_random() >> 40);
    return in;
}

/* What the kernel makes of n numbers; heap. local[0] 0: NULL. */
static int *run(struct cpu_rig *rig, const char *name, const int *in, size_t n, const int *values, cl_uint dims,
                const size_t *global, const size_t *local)
{
    cl_program program = cpu_rig_program(rig, source, "");
    int *out = malloc(n * sizeof(int));
    cl_mem buffers[2];
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    for (size_t i = 0; i < n; i++)
        out[i] = LEFT;
    buffers[0] = cpu_rig_buffer(rig, n * sizeof(int), (void *)in);
    buffers[1] = cpu_rig_buffer(rig, n * sizeof(int), out);
    for (cl_uint k = 0; k < 2; k++) {
        assert_int_equal(clSetKernelArg(kernel, k, sizeof(buffers[k]), &buffers[k]), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 2 + k, sizeof(int), &values[k]), CL_SUCCESS);
    }
    assert_int_equal(
        clEnqueueNDRangeKernel(rig->queue, kernel, dims, NULL, global, local[0] ? local : NULL, 0, NULL, NULL),
        CL_SUCCESS);
    cpu_rig_read(rig, buffers[1], n * sizeof(int), out);
    for (int k = 0; k < 2; k++)
        clReleaseMemObject(buffers[k]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return out;
}

static int at_border(const int *a, int x, int y, int w)
{
    const int *p = a + y * w + x;

    return x == 0 || y == 0 || x == w - 1 || y == HEIGHT - 1 ? LEFT : *p + 3 * p[-1] + 5 * p[1] + 7 * p[-w] + 11 * p[w];
}

static int with_edge(const int *a, int x, int y, int w)
{
    return x == 0 || y == 0 || x == w - 1 || y == HEIGHT - 1 ? 13 * a[y * w + x] : at_border(a, x, y, w);
}

static int within_another(const int *a, int x, int y, int w)
{
    const int *p = a + y * w + x;

    if (x >= w - 1)
        return LEFT;
    return x > 2 && x != 21 && y > 0 && y < HEIGHT - 1 ? 3 * p[-1] + 7 * p[1] + p[-w] : 5 + 11 * *p;
}

static int five(const int *p)
{
    return 3 * p[0] + 5 * p[1] + 7 * p[2] + 11 * p[3] - p[4];
}

static int without_sign(const int *a, int x, int y, int w)
{
    return (unsigned)(x - 3) < (unsigned)(w - 9) && x + 4 < w ? five(a + y * w + x) : 9;
}

static int of_64_bits(const int *a, int x, int y, int w)
{
    return (uint64_t)(int64_t)(x - 3) < (uint64_t)(int64_t)(w - 9) && x + 4 < w ? five(a + y * w + x) : LEFT;
}

static int another_one(const int *a, int x, int y, int w)
{
    return x != 20 && x + 7 < w ? five(a + y * w + x) : 9;
}

static int the_other_way(const int *a, int x, int y, int w)
{
    return x < w - 8 && x >= 2 && y != 4 ? five(a + y * w + x) : 9;
}

static int one_is_enough(const int *a, int x, int y, int w)
{
    return (x < 9 || x > 24) && x < w - 5 ? five(a + y * w + x) : 9;
}

static int from_behind(const int *a, int x, int y, int w)
{
    const int *p = a + y * w + x;

    return x > 1 && x < w - 2 ? *p + 3 * p[-2] + 5 * p[2] : LEFT;
}

static void check_image(struct cpu_rig *rig, const char *name, int (*right)(const int *, int, int, int))
{
    static const int widths[] = {1, 2, 5, 16, 17, 33, 40, 64, 100, 1024};
    static const size_t locals[][2] = {{0, 0}, {1, 3}};

    for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++)
        for (size_t l = 0; l < sizeof(locals) / sizeof(locals[0]); l++) {
            const int w = widths[k], values[2] = {w, HEIGHT};
            const size_t n = (size_t)w * HEIGHT, global[2] = {(size_t)w, HEIGHT};
            int *in = input(n), *out = run(rig, name, in, n, values, 2, global, locals[l]);

            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < w; x++)
                    if (out[y * w + x] != right(in, x, y, w))
                        fail_msg("%s, %d wide, at %d %d: %d, not %d", name, w, x, y, out[y * w + x],
                                 right(in, x, y, w));
            free(in);
            free(out);
        }
}

static void borders_of_images(void **state)
{
    check_image(*state, "border", at_border);
}

static void both_sides_of_a_condition(void **state)
{
    check_image(*state, "edge", with_edge);
    check_image(*state, "both", with_edge);
}

static void a_condition_within_another(void **state)
{
    check_image(*state, "within", within_another);
}

static void counted_from_behind(void **state)
{
    check_image(*state, "behind", from_behind);
}

/* The right results of some, at o[i], o[i + n] … */
static void find_some(const int *a, int i, int m, int n, int o[4])
{
    int v = a[i], r;

    o[0] = o[1] = o[2] = LEFT;
    o[3] = v;
    if (v % m == 1)
        return;
    r = a[i + n];
    o[0] = 2 * r + a[i + 2 * n];
    o[3] = o[0] + v;
    r += o[0];
    if (r & 1)
        o[1] = r + a[i + 3 * n];
    else
        o[2] = r - v;
}

/* The same for again. */
static void find_again(const int *a, int i, int m, int n, int o[4])
{
    unsigned t = (unsigned)a[i + 2 * n];
    bool b = a[i] % m > 5;

    t = t * t + 3, t ^= t >> 3, t *= 77, t += (unsigned)i, t ^= t << 5, t *= 91, t -= t >> 9, t ^= 0x1234, t *= t;
    t += t >> 2, t ^= t << 1;
    o[0] = b ? 13 * a[i + n] : a[i + n] + 3 * a[i + 2 * n] + a[i + 3 * n];
    o[1] = b ? LEFT : 7 * a[i + n];
    o[2] = LEFT;
    o[3] = (int)t;
}

static int mixed(int v)
{
    unsigned t = (unsigned)v;

    t = t * t + 3, t ^= t >> 3, t *= 77, t ^= t << 5;
    return (int)t;
}

/* The same for twice. */
static void find_twice(const int *a, int i, int m, int n, int o[4])
{
    o[0] = mixed(a[i]);
    o[1] = o[2] = o[3] = LEFT;
    if (i == 0 && m >= 0 && m < n)
        o[2] = a[m] % 3 == 0 ? mixed(a[m]) : a[m];
}

/* The same for wraps. */
static void find_wraps(const int *a, int i, int m, int n, int o[4])
{
    unsigned k = (unsigned)i + (unsigned)m;

    o[0] = k > 5 && k < (unsigned)n * 1000 ? five(a + i) : 9;
    o[1] = (int)k < 100 ? five(a + i) : LEFT;
    o[2] = o[3] = LEFT;
}

static void check_data(void **state, const char *name, void (*find)(const int *, int, int, int, int[4]))
{
    static const int ms[] = {1, 2, 3, 17, 70, 1000, -503, INT_MAX - 301};
    static const size_t locals[] = {0, 1, 8, 32, 96};
    const int n = 96 * 11;

    for (size_t k = 0; k < sizeof(ms) / sizeof(ms[0]); k++)
        for (size_t l = 0; l < sizeof(locals) / sizeof(locals[0]); l++) {
            const int values[2] = {ms[k], n};
            const size_t global = (size_t)n;
            int *in = input(4 * (size_t)n), *out = run(*state, name, in, 4 * global, values, 1, &global, &locals[l]);

            for (int i = 0; i < n; i++) {
                int right[4];

                find(in, i, ms[k], n, right);
                for (int part = 0; part < 4; part++)
                    assert_int_equal(out[i + part * n], right[part]);
            }
            free(in);
            free(out);
        }
}

static void conditions_of_the_data(void **state)
{
    check_data(state, "some", find_some);
}

static void two_stores_at_one_place(void **state)
{
    check_data(state, "twice", find_twice);
}

static void numbers_that_wrap(void **state)
{
    check_data(state, "wraps", find_wraps);
}

static void conditions_of_the_ends(void **state)
{
    check_image(*state, "unsign", without_sign);
    check_image(*state, "far", of_64_bits);
    check_image(*state, "other", another_one);
    check_image(*state, "turned", the_other_way);
    check_image(*state, "enough", one_is_enough);
}

static void a_condition_twice(void **state)
{
    check_data(state, "again", find_again);
}

/* One group of the kernel shared, work-item by work-item between two barriers. */
static void reduce(const int *a, int first, int z, int m, int n, int *t)
{
    for (int l = 0; l < z; l++) {
        t[l] = a[first + l];
        t[l + z] = a[first + l + n];
        t[l + 2 * z] = 1;
    }
    for (int s = z / 2; s > 0; s >>= 1)
        for (int l = 0; l < s; l++) {
            int r = t[l + s] + t[l + z + s];

            t[l] = (int)((unsigned)t[l] + (unsigned)r);
            t[l + 2 * z] = (int)((unsigned)t[l + 2 * z] + (unsigned)t[l + z] * (unsigned)m + (unsigned)r);
        }
}

static void conditions_in_local_memory(void **state)
{
    static const int sizes[] = {2, 16, 64, 256};
    const int n = 1024;
    int t[3 * 256];

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const int z = sizes[k], values[2] = {3, n};
        const size_t global = (size_t)n, local = (size_t)z;
        int *in = input(2 * (size_t)n), *out = run(*state, "shared", in, 2 * global, values, 1, &global, &local);

        for (int i = 0; i < n; i++) {
            if (i % z == 0)
                reduce(in, i, z, 3, n, t);
            assert_int_equal(out[i], t[i % z]);
            assert_int_equal(out[i + n], t[i % z + 2 * z]);
        }
        free(in);
        free(out);
    }
}

#define WIDE 1024
#define ROWS 64

/* Rows of numbers, and behind them as many of which nothing can be read or written. */
static int *rows_before_nothing(void)
{
    const size_t size = WIDE * ROWS * sizeof(int);
    int *rows = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(rows, MAP_FAILED);
    assert_int_equal(mprotect((char *)rows + size, size, PROT_NONE), 0);
    return rows;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The least time of some launches that begin in that row. */
static double seconds_from(struct cpu_rig *rig, cl_kernel kernel, size_t row)
{
    const size_t offset[] = {0, row}, global[] = {WIDE, ROWS}, local[] = {32, 8};
    double least = 1e9;

    for (int i = 0; i < 15; i++) {
        double begin = now();
        assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 2, offset, global, local, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(clFinish(rig->queue), CL_SUCCESS);
        least = now() - begin < least ? now() - begin : least;
    }
    return least;
}

/* Work-items beyond an array's end that do nothing take no longer than those that compute, though no memory is there:
 * the processor takes hundreds of cycles for each access there, even if it is masked out. */
static void beyond_the_end(struct cpu_rig *rig, const char *name)
{
    int *rows[2] = {rows_before_nothing(), rows_before_nothing()};
    const int values[] = {WIDE, ROWS};
    cl_int error;
    cl_kernel kernel = clCreateKernel(cpu_rig_program(rig, source, ""), name, &error);
    cl_mem buffers[2];
    double inside, beyond;

    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint k = 0; k < 2; k++) {
        buffers[k] = clCreateBuffer(rig->context, CL_MEM_USE_HOST_PTR, WIDE * ROWS * sizeof(int), rows[k], &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, k, sizeof(buffers[k]), &buffers[k]), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 2 + k, sizeof(int), &values[k]), CL_SUCCESS);
    }
    inside = seconds_from(rig, kernel, 0);
    beyond = seconds_from(rig, kernel, ROWS);
    clReleaseKernel(kernel);
    for (int k = 0; k < 2; k++) {
        clReleaseMemObject(buffers[k]);
        munmap(rows[k], 2 * WIDE * ROWS * sizeof(int));
    }
    printf("%s: inside %.1f us, beyond %.1f us\n", name, inside * 1e6, beyond * 1e6);
    assert_true(beyond < 3 * inside);
}

static void rows_beyond_the_end(void **state)
{
    beyond_the_end(*state, "inside");
}

/* What is stored comes by many ways, and loads have a mask of their own. */
static void edges_beyond_the_end(void **state)
{
    beyond_the_end(*state, "edges");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_of_images),          cmocka_unit_test(both_sides_of_a_condition),
        cmocka_unit_test(a_condition_within_another), cmocka_unit_test(counted_from_behind),
        cmocka_unit_test(conditions_of_the_data),     cmocka_unit_test(a_condition_twice),
        cmocka_unit_test(conditions_in_local_memory), cmocka_unit_test(rows_beyond_the_end),
        cmocka_unit_test(edges_beyond_the_end),       cmocka_unit_test(conditions_of_the_ends),
        cmocka_unit_test(numbers_that_wrap),          cmocka_unit_test(two_stores_at_one_place),
    };

    return cmocka_run_group_tests_name("masked", tests, cpu_rig_setup, cpu_rig_teardown);
}
