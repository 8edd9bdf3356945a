/*
 * Kernels that are a loop over what is to be done, launched with far fewer work-items: the result is that of the
 * launch as it was asked for, also where arguments are one memory, where rounds depend on each other, and where nothing
 * is left to do.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_CACHE=off */
/* variant: cut TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_CACHE=off TESELA_SPLIT=always */
/* variant: beside TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=cpu,opencl TESELA_CACHE=off TESELA_SPLIT=always */
/* variant: whole TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_CACHE=off TESELA_SPLIT=off */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n = (1 << 18) + 77, items = 1024, group = 64, spare = 64 };

static const char *const source =
    "#define LOOP for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "kernel void add(global int *to, global const int *from, int n) { LOOP to[i] += 3 * from[i]; }\n"
    "kernel void shift(global int *to, global const int *from, int n) { LOOP to[i] = from[i] + 1; }\n"
    "__attribute__((reqd_work_group_size(96, 1, 1)))\n"
    "kernel void sized(global int *to, global const int *from, int n) { LOOP to[i] += from[i]; }\n"
    "kernel void pairs(global int2 *to, global const int *from, int n) { LOOP { to[i].x = from[i]; to[i].y += i; } }\n"
    "kernel void behind(global int *to, global const int *from, int n)\n"
    "{ LOOP to[i] = i < (int)get_global_size(0) ? from[i] : to[i - (int)get_global_size(0)] + 1; }\n"
    "kernel void sums(global int *to, global const int *from, int n)\n"
    "{ int s = 0; LOOP s += from[i]; to[get_global_id(0)] = s; }\n"
    "kernel void groups(global int *to, global const int *from, int n)\n"
    "{ int all = get_num_groups(0) * get_local_size(0), i;\n"
    "  for (i = get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += all) to[i] = from[n - 1 - i]; }\n";

static struct proof proof;
static cl_mem to, from;
static int *was, *given, *is;

static void begin(void)
{
    size_t size = sizeof(int) * (2 * n + spare);

    proof_open(&proof, source);
    was = malloc(size);
    given = malloc(size);
    is = malloc(size);
    for (int i = 0; i < 2 * n + spare; i++) {
        was[i] = i * 7 % 1009;
        given[i] = i * 5 % 997;
    }
    to = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, was);
    from = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, given);
}

static void end(void)
{
    proof_ok(clReleaseMemObject(to));
    proof_ok(clReleaseMemObject(from));
    proof_close(&proof);
    free(was);
    free(given);
    free(is);
}

static void launch(const char *name, cl_mem first, cl_mem second, int count, bool sized)
{
    cl_kernel kernel = proof_kernel(&proof, name);
    size_t global = strcmp(name, "sized") ? items : items / 96 * 96, local = group;
    cl_uint rounds = (cl_uint)count;

    proof_set(kernel, 2, (cl_mem[]){first, second}, 1, &rounds);
    proof_did(&proof,
              clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &global, sized ? &local : NULL, 0, NULL, NULL));
    proof_ok(clReleaseKernel(kernel));
}

static void assert_is(cl_mem buffer, const int *wanted)
{
    size_t size = sizeof(int) * (2 * n + spare);

    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffer, CL_TRUE, 0, size, is, 0, NULL, NULL));
    for (int i = 0; i < 2 * n + spare; i++)
        if (is[i] != wanted[i])
            fail_msg("element %d is %d, not %d", i, is[i], wanted[i]);
}

static void loops_do_what_they_did(void **state)
{
    (void)state;
    begin();
    launch("add", to, from, n, true);
    launch("add", to, from, n, false);
    launch("add", to, from, 0, true);
    launch("add", to, from, -5, true);
    launch("add", to, from, items / 2, true);
    for (int i = 0; i < n; i++)
        was[i] += (i < items / 2 ? 9 : 6) * given[i];
    assert_is(to, was);
    launch("pairs", to, from, n, true);
    for (int i = 0; i < n; i++) {
        was[2 * i] = given[i];
        was[2 * i + 1] += i;
    }
    assert_is(to, was);
    launch("groups", to, from, n, true);
    for (int i = 0; i < n; i++)
        was[i] = given[n - 1 - i];
    assert_is(to, was);
    launch("sized", to, from, n, false);
    for (int i = 0; i < n; i++)
        was[i] += given[i];
    assert_is(to, was);
    assert_is(from, given);
    end();
}

static void rounds_that_depend_on_others_stay(void **state)
{
    (void)state;
    begin();
    launch("behind", to, from, n, true);
    for (int i = 0; i < n; i++)
        was[i] = i < items ? given[i] : was[i - items] + 1;
    assert_is(to, was);
    launch("sums", to, from, n, true);
    for (int g = 0; g < items; g++) {
        was[g] = 0;
        for (int i = g; i < n; i += items)
            was[g] += given[i];
    }
    assert_is(to, was);
    end();
}

/* The second argument is the first one's memory, as many elements before it as there are work-items: each round needs
 * what its own work-item wrote in the round before. */
static void memory_of_two_arguments_is_seen(void **state)
{
    cl_mem later;

    (void)state;
    begin();
    later = proof_sub_buffer(to, 0, items * sizeof(int), sizeof(int) * n);
    launch("shift", later, to, n - items, true);
    for (int i = 0; i < n - items; i++)
        was[items + i] = was[i] + 1;
    assert_is(to, was);
    launch("add", to, to, n, true);
    launch("shift", to, to, n, true);
    for (int i = 0; i < n; i++)
        was[i] = 4 * was[i] + 1;
    assert_is(to, was);
    proof_ok(clReleaseMemObject(later));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_do_what_they_did),
        cmocka_unit_test(rounds_that_depend_on_others_stay),
        cmocka_unit_test(memory_of_two_arguments_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
