/*
 * The driver alone runs a chain of 1 000 commands on one member: no thread of ours wakes for it (or exists). Read from
 * the kernel's counts of context switches of each thread named tesela-….
 * Launches run whole, as shares make work for our threads.
 */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_SPLIT=off */
/* variant: untraced TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread PROOF_TRACE=off TESELA_SPLIT=off */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=fastest TESELA_SPLIT=off */
/* any: TESELA_POLICY=fastest TESELA_SPLIT=off */
/* alone */
#include "proof.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n_commands = 1000, n_ints = 64, size = n_ints * sizeof(cl_int) };

static const char *const source = "kernel void add(global int *x, uint value) { x[get_global_id(0)] += value; }\n";

static struct proof proof;
static cl_kernel add;
static cl_mem x;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static bool is_ours(const char *task)
{
    char path[320], name[32] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
    file = fopen(path, "r");
    if (!file)
        return false; /* It has ended. */
    if (!fgets(name, sizeof(name), file))
        name[0] = '\0';
    fclose(file);
    return strncmp(name, "tesela-", 7) == 0;
}

/* A thread that slept and was woken has slept again, or runs: then it is found in another state. */
static unsigned long switches_of(const char *task)
{
    char path[320], line[256];
    unsigned long n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1)
            break;
    if (file)
        fclose(file);
    return n;
}

struct wakes {
    unsigned n_threads;
    unsigned long n_switches;
};

static struct wakes count(void)
{
    struct wakes w = {0};
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;

    proof_must(tasks != NULL);
    while ((entry = readdir(tasks)))
        if (entry->d_name[0] != '.' && is_ours(entry->d_name)) {
            w.n_threads++;
            w.n_switches += switches_of(entry->d_name);
        }
    closedir(tasks);
    return w;
}

/* What was left from before ends first. */
static struct wakes count_when_quiet(void)
{
    struct wakes before, after = count();

    do {
        before = after;
        usleep(50000);
        after = count();
    } while (before.n_switches != after.n_switches);
    return after;
}

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

static void launch(cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const size_t n = n_ints;

    proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, add, 1, NULL, &n, NULL, n_wait, wait, event));
}

static void by_the_queue(void)
{
    for (int i = 0; i < n_commands; i++)
        launch(0, NULL, NULL);
}

static void by_events(void)
{
    cl_event last = NULL, next;

    for (int i = 0; i < n_commands; i++) {
        launch(last != NULL, last ? &last : NULL, &next);
        if (last)
            proof_ok(clReleaseEvent(last));
        last = next;
    }
    proof_ok(clReleaseEvent(last));
}

/* Each is waited for before the next. */
static void one_by_one(void)
{
    for (int i = 0; i < n_commands; i++) {
        launch(0, NULL, NULL);
        proof_ok(clFinish(proof.queue));
    }
}

static void check_quiet(void (*chain)(void), cl_int added)
{
    struct wakes before = count_when_quiet(), after;
    cl_int data[n_ints];

    chain();
    proof_ok(clFinish(proof.queue));
    after = count_when_quiet();
    assert_int_equal(after.n_threads, before.n_threads);
    assert_int_equal(after.n_switches, before.n_switches);
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], added);
}

static void a_chain_wakes_none_of_our_threads(void **state)
{
    (void)state;
    check_quiet(by_the_queue, n_commands);
    check_quiet(by_events, 2 * n_commands);
    check_quiet(one_by_one, 3 * n_commands);
}

/* The count is worth something: a callback does wake a thread. */
static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
    (void)event;
    (void)status;
    (void)data;
}

static void a_callback_does(void **state)
{
    struct wakes before, after;
    cl_event event;

    (void)state;
    launch(0, NULL, &event);
    proof_ok(clWaitForEvents(1, &event));
    proof_ok(clSetEventCallback(event, CL_COMPLETE, called, NULL));
    before = count_when_quiet();
    proof_ok(clSetEventCallback(event, CL_COMPLETE, called, NULL));
    usleep(20000);
    after = count_when_quiet();
    assert_true(after.n_threads > 0 && after.n_switches > before.n_switches);
    proof_ok(clReleaseEvent(event));
}

static int open_proof(void **state)
{
    static cl_int data[n_ints];
    const cl_uint one = 1;

    (void)state;
    proof_open(&proof, source);
    memset(data, -1, size);
    x = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, data);
    add = proof_kernel(&proof, "add");
    proof_set(add, 1, &x, 1, &one);
    launch(0, NULL, NULL); /* The first moves x to the member, and makes it 0. */
    proof_ok(clFinish(proof.queue));
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseKernel(add));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_wakes_none_of_our_threads),
        cmocka_unit_test(a_callback_does),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
