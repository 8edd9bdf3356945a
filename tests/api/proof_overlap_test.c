/*
 * One in-order queue, 32 blocks of the Mandelbrot set in buffers of their own, two members in turn: kernels run on both
 * at the same time, yet the program sees its events complete in the order of the queue, by callbacks, by waits, and
 * from another thread that polls.
 * Launches run whole, each on one of the two.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_SPLIT=off */
/* two: TESELA_POLICY=round-robin TESELA_SPLIT=off */
/* alone */
#include "proof.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    n_blocks = 32,
    width = 512,
    block_rows = 8,
    height = n_blocks * block_rows,
    size = width * block_rows * 4,
    long_us = 1000
};

static const char *const source = "#pragma OPENCL FP_CONTRACT OFF\n"
                                  "kernel void mandelbrot(global uint *out, uint first_row, uint limit)\n"
                                  "{\n"
                                  "    uint x = get_global_id(0), y = get_global_id(1);\n"
                                  "    float cx = -2.1f + 2.8f / 512 * x, cy = -1.2f + 2.4f / 256 * (first_row + y);\n"
                                  "    float zx = 0, zy = 0;\n"
                                  "    uint n = 0;\n"
                                  "    while (n < limit && zx * zx + zy * zy <= 4) {\n"
                                  "        float t = zx * zx - zy * zy + cx;\n"
                                  "        zy = 2 * zx * zy + cy;\n"
                                  "        zx = t;\n"
                                  "        n++;\n"
                                  "    }\n"
                                  "    out[y * get_global_size(0) + x] = n;\n"
                                  "}\n";

static struct proof proof;
static cl_kernel kernel;
static cl_uint limit = 4000; /* of iterations; more where that takes no time */
static cl_mem blocks[n_blocks];
static cl_event events[n_blocks];
static uint64_t commands[n_blocks];

/* ---- Who watches ------------------------------------------------------------------------------------------------- */

static atomic_uint n_called, n_called_late;

static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
    cl_event *slot = data;

    proof_must(status == CL_COMPLETE && event == *slot);
    if (atomic_fetch_add(&n_called, 1) != (unsigned)(slot - events))
        atomic_fetch_add(&n_called_late, 1);
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    proof_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    proof_must(status >= CL_COMPLETE);
    return status;
}

/* Never sees event i + 1 complete and event i incomplete afterwards. Ends when all are complete. */
static void *watch(void *arg)
{
    unsigned *n_looks = arg, n_complete = 0;

    while (n_complete < n_blocks) {
        unsigned last = n_blocks;

        while (last > n_complete && status_of(events[last - 1]) != CL_COMPLETE)
            last--;
        for (unsigned i = n_complete; i < last; i++)
            proof_must(status_of(events[i]) == CL_COMPLETE);
        n_complete = last;
        (*n_looks)++;
    }
    return NULL;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static uint64_t enqueue_block(cl_uint i, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const size_t global_size[2] = {width, block_rows};
    cl_uint values[] = {i * block_rows, limit};

    proof_set(kernel, 1, &blocks[i], 2, values);
    return proof_did(&proof,
                     clEnqueueNDRangeKernel(proof.queue, kernel, 2, NULL, global_size, NULL, n_waits, waits, event));
}

/* In microseconds, by the faster member: the least of some runs on each. */
static double time_block(cl_uint i)
{
    double least = 1e9;

    for (unsigned run = 0; run < 8; run++) {
        uint64_t begin = proof_now_ns();

        enqueue_block(i, 0, NULL, NULL);
        proof_ok(clFinish(proof.queue));
        least = fmin(least, (double)(proof_now_ns() - begin) / 1e3);
    }
    return least;
}

/* A member's first launches may take some milliseconds more, of the thread that submits them (a GPU's do): blocks are
 * to take longer than that altogether. */
static void choose_limit(void)
{
    while (time_block(n_blocks / 2) < long_us && limit < 1000000)
        limit *= 2;
}

/* The blocks begin when the watchers are there: not before `start` is set. */
static void enqueue_blocks(cl_event start)
{
    for (cl_uint i = 0; i < n_blocks; i++) {
        commands[i] = enqueue_block(i, i == 0, i == 0 ? &start : NULL, &events[i]);
        proof_ok(clSetEventCallback(events[i], CL_COMPLETE, called, &events[i]));
    }
}

static cl_uint iterations_at(unsigned x, unsigned y)
{
    float cx = -2.1f + 2.8f / 512 * (float)x, cy = -1.2f + 2.4f / 256 * (float)y;
    float zx = 0, zy = 0;
    cl_uint n = 0;

    while (n < limit && zx * zx + zy * zy <= 4) {
        float t = zx * zx - zy * zy + cx;

        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    return n;
}

/* Where a compiler rounds otherwise, a pixel at the boundary may differ. */
static void check_picture(void)
{
    static cl_uint pixels[n_blocks][width * block_rows];
    unsigned differing = 0, checked = 0;

    for (unsigned i = 0; i < n_blocks; i++)
        proof_did(&proof, clEnqueueReadBuffer(proof.queue, blocks[i], CL_FALSE, 0, size, pixels[i], 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    for (unsigned i = 0; i < width * height; i += 13, checked++)
        differing += pixels[i / (width * block_rows)][i % (width * block_rows)] != iterations_at(i % width, i / width);
    assert_true(differing * 100 <= checked);
}

/* How long both members were at work, and how long one at least, in microseconds. */
static void measure(const struct proof_trace *trace, double *both, double *any)
{
    *both = *any = 0;
    for (unsigned i = 0; i < n_blocks; i++) {
        const struct proof_span *a = proof_work(trace, commands[i]);

        *any += a->end - a->start;
        for (unsigned j = 0; j < i; j++) {
            const struct proof_span *b = proof_work(trace, commands[j]);

            if (strcmp(a->member, b->member) && proof_overlap(a, b))
                *both += (a->end < b->end ? a->end : b->end) - (a->start > b->start ? a->start : b->start);
        }
    }
    *any -= *both;
}

static void kernels_overlap_and_events_complete_in_order(void **state)
{
    pthread_t watcher;
    unsigned n_looks = 0;
    double both, any;
    cl_int error;

    (void)state;
    cl_event start = clCreateUserEvent(proof.context, &error);
    proof_ok(error);
    choose_limit();
    enqueue_blocks(start);
    assert_int_equal(pthread_create(&watcher, NULL, watch, &n_looks), 0);
    proof_ok(clFlush(proof.queue));
    proof_ok(clSetUserEventStatus(start, CL_COMPLETE));
    for (unsigned i = 0; i < n_blocks; i++) {
        proof_ok(clWaitForEvents(1, &events[i]));
        for (unsigned j = 0; j <= i; j++)
            assert_int_equal(status_of(events[j]), CL_COMPLETE);
    }
    pthread_join(watcher, NULL);
    check_picture();
    const struct proof_trace *trace = proof_trace(&proof);
    for (unsigned i = 0; i + 1 < n_blocks; i++)
        assert_string_not_equal(proof_work(trace, commands[i])->member, proof_work(trace, commands[i + 1])->member);
    measure(trace, &both, &any);
    print_message("both members at work %.1f ms of %.1f ms, up to %u iterations; %u looks at the events\n", both / 1e3,
                  any / 1e3, limit, n_looks);
    assert_true(both > any / 5);
    while (atomic_load(&n_called) < n_blocks) /* Callbacks have their own thread. */
        sched_yield();
    assert_int_equal(atomic_load(&n_called_late), 0);
    proof_ok(clReleaseEvent(start));
}

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    kernel = proof_kernel(&proof, "mandelbrot");
    for (unsigned i = 0; i < n_blocks; i++)
        blocks[i] = proof_buffer(&proof, CL_MEM_WRITE_ONLY, size, NULL);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    for (int i = 0; i < n_blocks; i++) {
        proof_ok(clReleaseEvent(events[i]));
        proof_ok(clReleaseMemObject(blocks[i]));
    }
    proof_ok(clReleaseKernel(kernel));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_overlap_and_events_complete_in_order),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
