/*
 * Kernels whose work-groups overwrite what others have stored: surplus work-items of a row write into the next one, and
 * each group leaves its result at the begin. On one device the later group's bytes stay, and so they must on two that
 * have memory of their own, between which such launches are cut. LATER_SHARES: how many shares the launches have.
 */
/* variant: copies CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_SPLIT=always:exact LATER_SHARES=2 */
/* variant: always CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_SPLIT=always LATER_SHARES=2 */
/* variant: checked CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_SPLIT=always TESELA_CHECK=access,split,coherence */
/* variant: shared CPU_LINE="1 0-0 0" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_SPLIT=always:exact LATER_SHARES=1 */
#include "cpu_lines.h"
#include "proof.h"

#include <string.h>

enum { ROW = 1000, WIDTH = 1024, HEIGHT = 300, GROUP = 64, SIZE = ROW * (HEIGHT - 1) + WIDTH, ROUNDS = 6 };

static const char *const source =
    "kernel void steps(global int *out, global const int *in, int row, int height)\n"
    "{\n"
    "    local int least[64];\n"
    "    int j = get_global_id(0), k = get_global_id(1), l = get_local_id(0);\n"
    "    out[k * row + j] = 1000000 + k * 2048 + j;\n"
    "    least[l] = 2000000;\n"
    "    if (j >= 2 && j < row - 2 && k >= 2 && k < height - 2)\n"
    "        least[l] = in[k * row + j] * 3 + in[k * row + j + 1];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int n = 32; n > 0; n >>= 1) {\n"
    "        if (l < n)\n"
    "            least[l] = min(least[l], least[l + n]);\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (l == 0)\n"
    "        out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = least[0];\n"
    "}\n"
    "kernel void twice(global int *out, global int *again, int row, int value)\n"
    "{\n"
    "    int j = get_global_id(0), k = get_global_id(1);\n"
    "    out[k * row + j] = value + k * 2048 + j;\n"
    "    if (get_local_id(0) == 0)\n"
    "        again[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = value - k - j;\n"
    "}\n"
    "kernel void add(global int *out, int value) { out[get_global_id(0)] += value; }\n";

static struct proof proof;
static cl_mem out, in;
static cl_int given[SIZE + 1], expected[SIZE + 1], found[SIZE + 1];

static void begin(void)
{
    proof_open(&proof, source);
    for (int i = 0; i <= SIZE; i++)
        given[i] = (int)((unsigned)i * 2654435761u % 300007);
    in = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, sizeof given, given);
    memset(expected, 0, sizeof expected);
    out = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, sizeof expected, expected);
}

static void end(void)
{
    proof_ok(clReleaseMemObject(out));
    proof_ok(clReleaseMemObject(in));
    proof_close(&proof);
}

/* second: NULL: the kernel has one buffer, and one number. */
static uint64_t launch(const char *name, cl_mem second, cl_uint a, cl_uint b, const size_t global[2])
{
    const size_t local[2] = {GROUP, 1};
    const unsigned n = second ? 2 : 1;
    cl_kernel kernel = proof_kernel(&proof, name);
    uint64_t command;

    proof_set(kernel, n, (cl_mem[]){out, second}, n, (cl_uint[]){a, b});
    command = proof_did(
        &proof, clEnqueueNDRangeKernel(proof.queue, kernel, global[1] ? 2 : 1, NULL, global, local, 0, NULL, NULL));
    proof_ok(clReleaseKernel(kernel));
    return command;
}

static void assert_out(void)
{
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, out, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    for (int i = 0; i <= SIZE; i++)
        if (found[i] != expected[i])
            fail_msg("element %d is %d, not %d", i, found[i], expected[i]);
}

/* Each part ran on a member. */
static void assert_cut(uint64_t command)
{
    const struct proof_trace *trace = proof_trace(&proof);
    const char *wanted = getenv("LATER_SHARES");
    int n = 0;

    for (size_t i = 0; i < trace->n; i++)
        n += trace->spans[i].command == command && strcmp(trace->spans[i].category, "kernel") == 0;
    if (wanted)
        assert_int_equal(n, atoi(wanted));
}

static int least_of_group(int k, int first, int height)
{
    int least = 2000000;

    for (int j = first; j < first + GROUP; j++)
        if (j >= 2 && j < ROW - 2 && k >= 2 && k < height - 2) {
            int value = given[k * ROW + j] * 3 + given[k * ROW + j + 1];

            least = value < least ? value : least;
        }
    return least;
}

/* The groups one after the other. */
static void expect_steps(int height)
{
    for (int group = 0; group < WIDTH / GROUP * HEIGHT; group++) {
        int k = group / (WIDTH / GROUP), first = group % (WIDTH / GROUP) * GROUP;

        for (int j = first; j < first + GROUP; j++)
            expected[k * ROW + j] = 1000000 + k * 2048 + j;
        expected[group] = least_of_group(k, first, height);
    }
}

static void groups_leave_results_at_the_begin(void **state)
{
    uint64_t command = 0;

    (void)state;
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        command = launch("steps", in, ROW, (cl_uint)(HEIGHT - i), (const size_t[]){WIDTH, HEIGHT});
        expect_steps(HEIGHT - i);
        if (i % 2 == 0)
            assert_out();
        if (i % 3 == 0)
            launch("add", NULL, 5, 0, (const size_t[]){GROUP * 77, 0});
        for (int k = 0; k < GROUP * 77 && i % 3 == 0; k++)
            expected[k] += 5;
    }
    assert_out();
    assert_cut(command);
    end();
}

/* By two arguments, which are one buffer. */
static void by_two_arguments(void **state)
{
    uint64_t command = 0;

    (void)state;
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        command = launch("twice", out, ROW, (cl_uint)(i * 7), (const size_t[]){WIDTH, HEIGHT});
        for (int group = 0; group < WIDTH / GROUP * HEIGHT; group++) {
            int k = group / (WIDTH / GROUP), first = group % (WIDTH / GROUP) * GROUP;

            for (int j = first; j < first + GROUP; j++)
                expected[k * ROW + j] = i * 7 + k * 2048 + j;
            expected[group] = i * 7 - k - first;
        }
        assert_out();
    }
    assert_cut(command);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_leave_results_at_the_begin),
        cmocka_unit_test(by_two_arguments),
    };

    cpu_lines_use(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
