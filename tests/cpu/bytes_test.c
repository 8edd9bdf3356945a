/*
 * Sums and differences of bytes, which are computed in 16 bits where these hold them: at the ends of what they hold,
 * beyond, in branches and loops, and where other work needs all bits. On the built-in CPU alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <stdio.h>

#define N      4128 /* groups of 96 */
#define BEHIND 4    /* bytes that the last ones look at */

/* Of unsigned bytes a to d, signed s and t, and a number i: what a kernel computes, and the host. */
#define EACH(X)                                                                        \
    X(edges, (c + 2 * b + d - a - 2 * s - t) * (a - d))                                \
    X(most, (a << 7) - s + (b & 1))                                                    \
    X(beyond, ((a << 7) + b) * 3 - c)                                                  \
    X(below, s * 128 + t * 127 - a - a)                                                \
    X(far_below, (s * 128 - b * 66) * 2 + d - c)                                       \
    X(all_of_it, s * 256 + a - (b - c) * 2)                                            \
    X(over_all_of_it, s * 256 - a - b + c + d)                                         \
    X(doubled, (a * 64 + b * 64 + c) * (d + 1) + (a * 64 + b * 64 + c + 254))          \
    X(shared, (a + b - c) + (a + b - c + d) * i + ((a + b - c + d + s) ^ i))           \
    X(compared, (a + b - c - d > 0 ? a - b + t : c + d - s) * (a + b < c + d ? 3 : i)) \
    X(divided, (a + b + c + d + s * 3) / 5 + ((a - b + c - d) >> 3))                   \
    X(by_itself, a *b - c * d + (a + s) * (b + t))                                     \
    X(halved, (int)((float)(a + b * 2 + c - d * 3) * 0.5f))                            \
    X(branch, i % 3 ? (a - b) + (c - d) * 5 - s : (a + b + c) * (d - t) - i)

#define KERNEL(name, what)                                                                                        \
    "kernel void " #name "(global const uchar *u, global const char *v, global int *o) {\n"                       \
    "    int i = get_global_id(0), a = u[i], b = u[i + 1], c = u[i + 2], d = u[i + 3], s = v[i], t = v[i + 1];\n" \
    "    o[i] = " #what "; }\n"
#define RIGHT(name, what)                                                    \
    static int right_##name(int a, int b, int c, int d, int s, int t, int i) \
    {                                                                        \
        (void)a, (void)b, (void)c, (void)d, (void)s, (void)t, (void)i;       \
        return what;                                                         \
    }
#define ROW(name, what) {#name, right_##name},

EACH(RIGHT)

static const struct {
    const char *name;
    int (*right)(int, int, int, int, int, int, int);
} rows[] = {EACH(ROW)};

/* A sum that goes on from round to round isn't bounded by its bytes. */
static const char source[] =
    EACH(KERNEL) "kernel void rounds(global const uchar *u, global const char *v, global int *o) {\n"
                 "    int i = get_global_id(0), sum = 0; for (int k = 0; k < 300; k++) sum += u[(i + k) % 4128] - v[i] "
                 "+ 2 * u[i];\n"
                 "    o[i] = sum; }\n";

static uint8_t unsigned_bytes[N + BEHIND];
static int8_t signed_bytes[N + BEHIND];
static int out[N];

static void run(struct cpu_rig *rig, const char *name)
{
    cl_program program = cpu_rig_program(rig, source, "");
    cl_mem buffers[] = {cpu_rig_buffer(rig, sizeof(unsigned_bytes), unsigned_bytes),
                        cpu_rig_buffer(rig, sizeof(signed_bytes), signed_bytes),
                        cpu_rig_buffer(rig, sizeof(out), NULL)};

    cpu_rig_run(rig, program, name, 3, buffers, 0, NULL, N);
    cpu_rig_read(rig, buffers[2], sizeof(out), out);
    for (int k = 0; k < 3; k++)
        clReleaseMemObject(buffers[k]);
    clReleaseProgram(program);
}

static void sums_of_bytes(void **state)
{
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        run(*state, rows[k].name);
        for (int i = 0; i < N; i++) {
            const uint8_t *u = &unsigned_bytes[i];
            int right = rows[k].right(u[0], u[1], u[2], u[3], signed_bytes[i], signed_bytes[i + 1], i);

            if (out[i] != right)
                fail_msg("%s of %d %d %d %d, %d %d, item %d: %d, not %d", rows[k].name, u[0], u[1], u[2], u[3],
                         signed_bytes[i], signed_bytes[i + 1], i, out[i], right);
        }
    }
}

static void sums_of_rounds(void **state)
{
    run(*state, "rounds");
    for (int i = 0; i < N; i++) {
        int sum = 0;

        for (int k = 0; k < 300; k++)
            sum += unsigned_bytes[(i + k) % N] - signed_bytes[i] + 2 * unsigned_bytes[i];
        assert_int_equal(out[i], sum);
    }
}

/* Every third byte is the least or the greatest. */
static void fill(void)
{
    for (int i = 0; i < N + BEHIND; i++) {
        uint64_t bits = cpu_rig_random();

        unsigned_bytes[i] = (uint8_t)(bits % 3 ? bits >> 8 : bits & 4 ? 255u : 0u);
        signed_bytes[i] = (int8_t)(bits / 8 % 3 ? bits >> 16 : bits & 32 ? 127u : 128u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_bytes), cmocka_unit_test(sums_of_rounds)};

    fill();
    return cmocka_run_group_tests_name("bytes", tests, cpu_rig_setup, cpu_rig_teardown);
}
