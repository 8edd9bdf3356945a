/* timeout: 200 */
/*
 * Random kernels whose work-items go different ways (support/item_program.h), at many local sizes and mostly as vectors
 * of work-items, against an interpreter. Also cut over several members: those whose atomics are of one kind are
 * reduced.
 *
 * ITEMS_SEED and ITEMS_COUNT run others than the usual ones: thousands, after a change to the compiler. A kernel that
 * fails is printed with what runs it alone.
 */
/* variant: own TESELA_MEMBERS=cpu TESELA_CACHE=off */
/* variant: avx2 TESELA_MEMBERS=cpu TESELA_CACHE=off TESELA_PROCESSOR=x86-64-v3 ITEMS_SEED=1000 ITEMS_COUNT=60 */
/* variant: sse TESELA_MEMBERS=cpu TESELA_CACHE=off TESELA_PROCESSOR=x86-64-v2 ITEMS_SEED=2000 ITEMS_COUNT=75 */
/* variant: cut TESELA_MEMBERS=cpu,opencl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_ZERO_COPY=off TESELA_SPLIT=always TESELA_CACHE=off ITEMS_SEED=3000 ITEMS_COUNT=15 */
/* variant: domain CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu TESELA_SPLIT=always:domain TESELA_CACHE=off ITEMS_SEED=4000 ITEMS_COUNT=30 */
#include "cpu_lines.h"
#include "cpu_rig.h"
#include "item_program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 25u
#define ITEMS   480u

static const size_t locals[] = {0, 96, 60, 64, 32, 7}; /* 64 and 7 leave smaller last groups */

struct results {
    uint32_t out[ITEMS], words[IP_N_WORDS];
};

static uint32_t in[IP_N_IN];

static void begin(struct results *results)
{
    memset(results->out, 0, sizeof(results->out));
    for (unsigned i = 0; i < IP_N_WORDS; i++)
        results->words[i] = ip_first_word(i);
}

/* local 0: Tesela's choice. */
static void run(struct cpu_rig *rig, cl_kernel kernel, uint32_t n, size_t local, struct results *results)
{
    const size_t items = ITEMS;
    cl_mem buffers[3] = {cpu_rig_buffer(rig, sizeof(in), in), cpu_rig_buffer(rig, sizeof(results->out), results->out),
                         cpu_rig_buffer(rig, sizeof(results->words), results->words)};

    for (cl_uint i = 0; i < 3; i++)
        assert_int_equal(clSetKernelArg(kernel, i, sizeof(buffers[i]), &buffers[i]), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof(n), &n), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &items, local ? &local : NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    cpu_rig_read(rig, buffers[1], sizeof(results->out), results->out);
    cpu_rig_read(rig, buffers[2], sizeof(results->words), results->words);
    for (unsigned i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
}

/* Prints the first differences. */
static bool is_right(const char *what, unsigned n, const uint32_t *got, const uint32_t *right)
{
    unsigned n_wrong = 0;

    for (unsigned i = 0; i < n && n_wrong < 4; i++)
        if (got[i] != right[i] && ++n_wrong)
            print_error("%s %u is 0x%x, not 0x%x\n", what, i, got[i], right[i]);
    return !n_wrong;
}

/* Is each local size's result right? */
static bool check(struct cpu_rig *rig, cl_program made, unsigned at, uint64_t seed, const struct ip_program *program)
{
    char name[16];
    cl_int error;
    bool right = true;

    snprintf(name, sizeof(name), "k%u", at);
    cl_kernel kernel = clCreateKernel(made, name, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (unsigned i = 0; i < sizeof(locals) / sizeof(locals[0]) && right; i++) {
        if (locals[i] && ITEMS % locals[i] && !cpu_rig_has(rig, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT))
            continue;
        struct results got, wanted;
        const struct ip_launch launch = {ITEMS, 23 + i, in, wanted.out, wanted.words};

        begin(&got);
        begin(&wanted);
        ip_run(program, &launch);
        run(rig, kernel, launch.n, locals[i], &got);
        right = is_right("out", ITEMS, got.out, wanted.out) & is_right("word", IP_N_WORDS, got.words, wanted.words);
        if (!right)
            print_error("ITEMS_SEED=%lu ITEMS_COUNT=1: local size %zu, n %u\n", (unsigned long)seed, locals[i],
                        launch.n);
    }
    clReleaseKernel(kernel);
    if (right)
        return true;
    ip_print_head(stderr);
    ip_print(program, name, stderr);
    return false;
}

/* How many of the n kernels from that seed on are wrong. By the seed of the first it is told which atomics they use. */
static unsigned check_some(struct cpu_rig *rig, uint64_t seed, unsigned n)
{
    struct ip_program *programs[AT_ONCE];
    char *source = NULL;
    size_t size;
    unsigned n_wrong = 0;
    FILE *text = open_memstream(&source, &size);

    assert_non_null(text);
    ip_print_head(text);
    for (unsigned i = 0; i < n; i++) {
        char name[16];

        programs[i] = ip_create(seed + i);
        snprintf(name, sizeof(name), "k%u", i);
        ip_print(programs[i], name, text);
    }
    fclose(text);
    cl_program made = cpu_rig_program(rig, source, seed / AT_ONCE % 2 ? "-cl-std=CL3.0 -DC11" : "-cl-std=CL3.0");
    for (unsigned i = 0; i < n; i++) {
        n_wrong += !check(rig, made, i, seed + i, programs[i]);
        ip_free(programs[i]);
    }
    clReleaseProgram(made);
    free(source);
    return n_wrong;
}

static void random_kernels_do_what_they_say(void **state)
{
    const uint64_t seed = cpu_rig_count("ITEMS_SEED", 0), end = seed + cpu_rig_count("ITEMS_COUNT", 75);
    unsigned n_wrong = 0;

    for (unsigned i = 0; i < IP_N_IN; i++)
        in[i] = (uint32_t)(cpu_rig_random() >> 32);
    for (uint64_t s = seed; s < end;) {
        unsigned n = AT_ONCE - (unsigned)(s % AT_ONCE);

        n = s + n > end ? (unsigned)(end - s) : n;
        n_wrong += check_some(*state, s, n);
        s += n;
        if (s % 1000 == 0)
            print_message("to %lu: %u wrong\n", (unsigned long)s, n_wrong);
    }
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_kernels_do_what_they_say)};

    cpu_lines_use(2);
    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
