/*
 * Work-items that wait for each other by locks, in the forms that programs have: each gets on, also with groups of one,
 * which all other implementations let run together. Loops that only look like it are right, too.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* timeout: 120 */
#include "cpu_rig.h"
#include "test.h"

#include <stdio.h>

#define N 512u

/* WORK: one after the other. l: words of 0. */
static const char head[] = "#define WORK { int x = d[0]; d[0] = x + 1; d[1] = d[1] + x; }\n"
                           "#define K(name) kernel void name(volatile global int *d, volatile global int *l)\n"
                           "#define G size_t i = get_global_id(0)\n";

static const struct form {
    const char *name, *text;
} forms[] = {
    {"flag", "K(flag) { for (bool w = true; w;) if (atomic_xchg(l, 1) == 0) { WORK mem_fence(CLK_GLOBAL_MEM_FENCE); "
             "atomic_xchg(l, 0); w = false; } }"},
    {"plain_store", "K(plain_store) { int done = 0; while (!done) if (atomic_xchg(l, 1) == 0) { WORK *l = 0; "
                    "done = 1; } }"},
    {"do_while", "K(do_while) { int w; do { w = atomic_xchg(l, 1); if (!w) { WORK atomic_xchg(l, 0); } } while (w); }"},
    {"broken", "K(broken) { for (;;) if (atomic_cmpxchg(l, 0, 1) == 0) { WORK atomic_xchg(l, 0); break; } }"},
    {"returned",
     "K(returned) { while (true) { if (atomic_cmpxchg(l, 0, 1)) continue; WORK atomic_xchg(l, 0); return; } }"},
    {"tries",
     "K(tries) { for (int done = 0; !done;) for (int k = 0; k < 3 && !done; k++) if (atomic_xchg(l, 1) == 0) { "
     "WORK atomic_xchg(l, 0); done = 1; } }"},
    {"before", "K(before) { while (atomic_cmpxchg(l, 0, 1)); WORK atomic_xchg(l, 0); }"},
    {"counted", "K(counted) { for (;;) { if (atomic_inc(l) == 0) { WORK atomic_dec(l); break; } atomic_dec(l); } }"},
    {"bit", "K(bit) { while (atomic_or(l, 4) & 4); WORK atomic_and(l, ~4); }"},
    {"ticket", "K(ticket) { int t = atomic_inc(l); while (l[1] != t); WORK atomic_inc(l + 1); }"},
    {"looked_at",
     "K(looked_at) { for (;;) { if (*l == 0 && atomic_cmpxchg(l, 0, 1) == 0) break; } WORK atomic_xchg(l, 0); }"},
    {"one_of_many", "K(one_of_many) { G; volatile global int *m = l + 1 + i % 7; "
                    "while (atomic_xchg(m, 1)); m[16]++; atomic_xchg(m, 0); while (atomic_xchg(l, 1)); WORK "
                    "atomic_xchg(l, 0); }"},
    {"in_local",
     "K(in_local) { local int m; if (get_local_id(0) == 0) m = 0; barrier(CLK_LOCAL_MEM_FENCE); "
     "for (bool w = true; w;) if (atomic_xchg(&m, 1) == 0) { atomic_inc(l + 1); atomic_xchg(&m, 0); w = false; } "
     "barrier(CLK_LOCAL_MEM_FENCE); while (atomic_xchg(l, 1)); WORK atomic_xchg(l, 0); }"},
    {"by_first", "K(by_first) { if (get_local_id(0) == 0) while (atomic_xchg(l, 1)); barrier(CLK_GLOBAL_MEM_FENCE); "
                 "for (uint k = 0; k < get_local_size(0); k++) { if (k == get_local_id(0)) WORK "
                 "barrier(CLK_GLOBAL_MEM_FENCE); } if (get_local_id(0) == 0) atomic_xchg(l, 0); }"},
    /* Each gets on by itself. */
    {"sum_by_exchange",
     "K(sum_by_exchange) { int o, n; do { o = d[0]; n = o + 1; } while (atomic_cmpxchg(d, o, n) != o); "
     "atomic_add(d + 1, o); }"},
    {"queue", "K(queue) { int i; while ((i = atomic_inc(l)) < (int)get_global_size(0)) { atomic_inc(d); "
              "atomic_add(d + 1, i); } }"},
    {"marks", "K(marks) { G; for (uint k = 0; k < 4; k++) if (atomic_xchg(l + (i + k) % get_global_size(0), 1) == 0) { "
              "atomic_inc(d); atomic_add(d + 1, (i + k) % get_global_size(0)); } }"},
};

#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static cl_program make(struct cpu_rig *rig, unsigned f)
{
    char text[2000];

    snprintf(text, sizeof(text), "%s%s", head, forms[f].text);
    return cpu_rig_program(rig, text, "");
}

static unsigned check(struct cpu_rig *rig, cl_program made, unsigned f, unsigned k)
{
    const size_t global = N, locals[] = {1, 4, 16, 64};
    int zeros[N] = {0}, results[2];
    cl_mem d = cpu_rig_buffer(rig, sizeof(results), zeros), l = cpu_rig_buffer(rig, sizeof(zeros), zeros);
    cl_kernel kernel = clCreateKernel(made, forms[f].name, NULL);

    assert_non_null(kernel);
    clSetKernelArg(kernel, 0, sizeof(d), &d);
    clSetKernelArg(kernel, 1, sizeof(l), &l);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &locals[k], 0, NULL, NULL),
                     CL_SUCCESS);
    cpu_rig_read(rig, d, sizeof(results), results);
    clReleaseKernel(kernel);
    clReleaseMemObject(d);
    clReleaseMemObject(l);
    if (results[0] == N && results[1] == N * (N - 1) / 2)
        return 0;
    print_error("%s, groups of %zu: %d, %d\n", forms[f].name, locals[k], results[0], results[1]);
    return 1;
}

static void each_work_item_gets_on(void **state)
{
    cpu_rig_check_all(*state, &(struct cpu_rig_checks){N_FORMS, 4, make, check});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_work_item_gets_on)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
