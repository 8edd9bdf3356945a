/*
 * Launches one behind another on buffers that are together three times the device's memory, without a wait, on the
 * built-in CPU with a bound (TESELA_MEMORY), alone or beside a slower member that holds everything: programs of several
 * shapes compute what they would in core, and move their bytes once for many launches.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_MEMORY=cpu=2M TESELA_LARGER=yes TESELA_LOG=tile:off TESELA_CACHE=off */
/* variant: beside TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=cpu,opencl TESELA_MEMORY=cpu=2M TESELA_LARGER=yes TESELA_LOG=tile:off TESELA_CACHE=off */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { ints = 512 << 10, plane = 64 }; /* of a buffer, which is as large as the memory; items along a plane's side */

static const char *const source =
    "kernel void wave(global int *next, global const int *now, global const int *before, uint w, uint h)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * w + x, sum = -4 * now[i];\n"
    "    if (x > 0) sum += now[i - 1];\n"
    "    if (x + 1 < (int)w) sum += now[i + 1];\n"
    "    if (y > 0) sum += now[i - (int)w];\n"
    "    if (y + 1 < (int)h) sum += now[i + w];\n"
    "    next[i] = 2 * now[i] - before[i] + sum / 4;\n"
    "}\n"
    "kernel void heat(global int *to, global const int *from, uint w, uint n)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * w + y) * w + x;\n"
    "    int sum = from[i];\n"
    "    if (x > 0) sum += from[i - 1];\n"
    "    if (y > 0) sum += from[i - (int)w];\n"
    "    if (z > 0) sum += 3 * from[i - (int)(w * w)];\n"
    "    if (z + 1 < (int)n) sum += 5 * from[i + w * w];\n"
    "    to[i] = sum;\n"
    "}\n"
    "kernel void triad(global int *a, global const int *b, global const int *c, uint s)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    a[i] = b[i] + (int)s * c[i];\n"
    "}\n"
    "kernel void around(global int *to, global const int *from, uint n)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    to[i] = 3 * from[i] + from[i ? i - 1 : n - 1];\n"
    "}\n";

static struct proof proof;
static cl_mem mems[3];
static int *model[3];

/* ---- The model --------------------------------------------------------------------------------------------------- */

static void wave(unsigned *next, const unsigned *now, const unsigned *before, int w, int h)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            unsigned sum = 0 - 4 * now[i];
            sum += x > 0 ? now[i - 1] : 0;
            sum += x + 1 < w ? now[i + 1] : 0;
            sum += y > 0 ? now[i - w] : 0;
            sum += y + 1 < h ? now[i + w] : 0;
            next[i] = 2 * now[i] - before[i] + (unsigned)((int)sum / 4);
        }
}

static void heat(unsigned *to, const unsigned *from, int w, int n)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < w; y++)
            for (int x = 0; x < w; x++) {
                int i = (z * w + y) * w + x;
                unsigned sum = from[i];
                sum += x > 0 ? from[i - 1] : 0;
                sum += y > 0 ? from[i - w] : 0;
                sum += z > 0 ? 3 * from[i - w * w] : 0;
                sum += z + 1 < n ? 5 * from[i + w * w] : 0;
                to[i] = sum;
            }
}

static void triad(unsigned *a, const unsigned *b, const unsigned *c, unsigned s)
{
    for (int i = 0; i < ints; i++)
        a[i] = b[i] + s * c[i];
}

static void around(unsigned *to, const unsigned *from)
{
    for (int i = 0; i < ints; i++)
        to[i] = 3 * from[i] + from[i ? i - 1 : ints - 1];
}

static unsigned *of(unsigned buffer)
{
    return (unsigned *)model[buffer];
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* New buffers, of which launches take the first n. */
static void fill(unsigned n)
{
    for (unsigned b = 0; b < n; b++) {
        for (int i = 0; i < ints; i++)
            model[b][i] = (int)((unsigned)i * 2654435761u >> (20 + b));
        mems[b] = proof_buffer(&proof, CL_MEM_READ_WRITE, ints * sizeof(int), NULL);
        proof_did(&proof,
                  clEnqueueWriteBuffer(proof.queue, mems[b], CL_TRUE, 0, ints * sizeof(int), model[b], 0, NULL, NULL));
    }
}

static cl_event gate; /* what the first launch waits for, so that all wait, however slow this thread is */

static void launch(cl_kernel kernel, unsigned dimensions, const size_t *size)
{
    cl_int error = CL_SUCCESS;
    bool first = !gate;
    if (first)
        gate = clCreateUserEvent(proof.context, &error);
    proof_ok(error);
    proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, dimensions, NULL, size, NULL, first,
                                             first ? &gate : NULL, NULL));
}

/* The launches since `first` have moved all bytes `times` times at most; some lie on the device when they begin. */
static void check(unsigned n, uint64_t first, double times)
{
    int *got = malloc(ints * sizeof(int));
    proof_must(got != NULL);
    if (gate) {
        proof_ok(clSetUserEventStatus(gate, CL_COMPLETE));
        clReleaseEvent(gate);
        gate = NULL;
    }
    proof_ok(clFinish(proof.queue));
    struct proof_moved moved = proof_moved(proof_trace(&proof), first, proof.n_commands);
    double all = n * ints * sizeof(int);
    assert_true((double)moved.to_members < times * all && (double)moved.from_members < times * all);
    for (unsigned b = 0; b < n; b++) {
        proof_did(&proof,
                  clEnqueueReadBuffer(proof.queue, mems[b], CL_TRUE, 0, ints * sizeof(int), got, 0, NULL, NULL));
        for (int i = 0; i < ints; i++)
            if (got[i] != model[b][i])
                fail_msg("buffer %u has %d at %d, not %d", b, got[i], i, model[b][i]);
        clReleaseMemObject(mems[b]);
    }
    free(got);
}

/* Three grids in turns. */
static void waves(void **state)
{
    enum { width = 256, height = ints / width };
    const size_t size[2] = {width, height};
    cl_kernel kernel = proof_kernel(&proof, "wave");
    (void)state;
    fill(3);
    uint64_t first = proof.n_commands + 1;
    for (unsigned i = 0; i < 16; i++) {
        unsigned next = i % 3, now = (i + 2) % 3, before = (i + 1) % 3;
        proof_set(kernel, 3, (cl_mem[]){mems[next], mems[now], mems[before]}, 2, (cl_uint[]){width, height});
        launch(kernel, 2, size);
    }
    for (unsigned i = 0; i < 16; i++)
        wave(of(i % 3), of((i + 2) % 3), of((i + 1) % 3), width, height);
    check(3, first, 8);
    clReleaseKernel(kernel);
}

/* Two cubes to and fro: a plane more for each launch. */
static void cubes(void **state)
{
    enum { planes = ints / plane / plane };
    const size_t size[3] = {plane, plane, planes};
    cl_kernel kernel = proof_kernel(&proof, "heat");
    (void)state;
    fill(2);
    uint64_t first = proof.n_commands + 1;
    for (unsigned i = 0; i < 12; i++) {
        proof_set(kernel, 2, (cl_mem[]){mems[1 - i % 2], mems[i % 2]}, 2, (cl_uint[]){plane, planes});
        launch(kernel, 3, size);
    }
    for (unsigned i = 0; i < 12; i++)
        heat(of(1 - i % 2), of(i % 2), plane, planes);
    check(2, first, 9);
    clReleaseKernel(kernel);
}

/* The buffers of the i-th launch. */
static const unsigned *triad_of(unsigned i)
{
    static const unsigned buffers[][3] = {{2, 0, 0}, {1, 2, 2}, {2, 0, 1}, {0, 1, 2}, {1, 0, 1}};
    return buffers[i % 5];
}

/* Element by element, over all of three arrays: no depth is too large. */
static void triads(void **state)
{
    const size_t size = ints;
    cl_kernel kernel = proof_kernel(&proof, "triad");
    (void)state;
    fill(3);
    uint64_t first = proof.n_commands + 1;
    for (unsigned i = 0; i < 60; i++) {
        const unsigned *of_launch = triad_of(i);
        proof_set(kernel, 3, (cl_mem[]){mems[of_launch[0]], mems[of_launch[1]], mems[of_launch[2]]}, 1, &(cl_uint){i});
        launch(kernel, 1, &size);
    }
    for (unsigned i = 0; i < 60; i++)
        triad(of(triad_of(i)[0]), of(triad_of(i)[1]), of(triad_of(i)[2]), i);
    check(3, first, 1.5);
    clReleaseKernel(kernel);
}

/* The first item needs the last one's: nothing can be chained, but all is right. */
static void rings(void **state)
{
    const size_t size = ints;
    cl_kernel kernel = proof_kernel(&proof, "around");
    (void)state;
    fill(2);
    uint64_t first = proof.n_commands + 1;
    for (unsigned i = 0; i < 6; i++) {
        proof_set(kernel, 2, (cl_mem[]){mems[1 - i % 2], mems[i % 2]}, 1, &(cl_uint){ints});
        cl_int error = clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
        if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) /* Told before anything runs. */
            break;
        proof_ok(error);
        proof.n_commands++;
        around(of(1 - i % 2), of(i % 2));
    }
    check(2, first, 7);
    clReleaseKernel(kernel);
}

static int begin(void **state)
{
    (void)state;
    for (unsigned b = 0; b < 3; b++)
        if (!(model[b] = malloc(ints * sizeof(int))))
            return 1;
    proof_open(&proof, source);
    return 0;
}

static int end(void **state)
{
    (void)state;
    proof_close(&proof);
    for (unsigned b = 0; b < 3; b++)
        free(model[b]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves),
        cmocka_unit_test(cubes),
        cmocka_unit_test(triads),
        cmocka_unit_test(rings),
    };

    return cmocka_run_group_tests_name("chains of launches on buffers larger than the device", tests, begin, end);
}
