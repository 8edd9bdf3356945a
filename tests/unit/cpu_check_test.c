/* The check of kernels' accesses (cpu_device/check.c): what lies outside a footprint, and what is said to be written
 * and isn't, fails the launch; what is as the footprint says doesn't. */
/* variant: quiet TESELA_LOG=off */
/* variant: telling TESELA_LOG=driver:debug */
#include "test.h"

#include "caught.h"
#include "cpu_device/check.h"
#include "cpu_device/program.h"
#include "facts/kernel_facts.h"
#include "footprint/format.h"

#include <stdlib.h>
#include <string.h>

#define N 64u

/* out[gid] is surely written, in[gid] is read: int each. */
static struct tsl_node nodes[] = {
    {.op = TSL_NODE_GLOBAL_ID, .bits = 64},
    {.op = TSL_NODE_CONSTANT, .bits = 64, .value = 4},
    {.op = TSL_NODE_MUL, .bits = 64, .a = 0, .b = 1},
};
#define AT_GID                                    \
    {                                             \
        2, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE \
    }
static struct tsl_access accesses[] = {
    {.argument = 0, .kind = TSL_ACCESS_READ, .width = 4, .address = AT_GID},
    {.argument = 1, .kind = TSL_ACCESS_WRITE, .flags = TSL_ACCESS_SURE, .width = 4, .address = AT_GID, .narrow = 4},
};
static struct tsl_footprint footprint = {
    .n_arguments = 2, .n_nodes = 3, .n_accesses = 2, .nodes = nodes, .accesses = accesses};

static int in[2 * N], out[2 * N];

struct rig {
    struct tsl_wg_kernel code;
    struct tsl_arg_fact arguments[2];
    struct tsl_kernel_facts facts;
    struct cpu_mem mems[2];
    struct tsl_bound_arg bound[2];
    struct tsl_bound_args args;
    struct cpu_launch launch;
};

static struct rig *begin(void **state)
{
    static struct rig rig;

    (void)state;
    rig = (struct rig){.code = {.name = "k", .flags = TSL_WG_CHECKS}};
    rig.facts = (struct tsl_kernel_facts){.n_args = 2, .args = rig.arguments, .footprint = &footprint};
    for (unsigned i = 0; i < 2; i++) {
        rig.mems[i] = (struct cpu_mem){.base = {.size = sizeof(in)}, .data = (char *)(i ? out : in)};
        rig.bound[i] = (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .mem = &rig.mems[i].base};
    }
    rig.args = (struct tsl_bound_args){.serial = 1, .n = 2, .args = rig.bound};
    rig.launch.code = &rig.code;
    rig.launch.wg.work_dim = 1;
    rig.launch.wg.user = &rig.launch;
    for (unsigned d = 0; d < 3; d++) {
        rig.launch.wg.global_size[d] = d ? 1 : N;
        rig.launch.wg.local_size[d] = d ? 1 : 16;
        rig.launch.count[d] = d ? 1 : N / 16;
    }
    assert_int_equal(cpu_check_begin(&rig.launch, &rig.facts, &rig.args), CL_SUCCESS);
    assert_non_null(rig.launch.check);
    return &rig;
}

/* Runs the kernel's accesses for work-items [0, n), the reads shifted by some elements. */
static void run(struct rig *rig, unsigned n, unsigned shift)
{
    for (unsigned i = 0; i < n; i++) {
        cpu_check_access(&rig->launch.wg, &in[i + shift], 4, 0, 1);
        cpu_check_access(&rig->launch.wg, &out[i], 4, TSL_WG_CHECK_WRITE, 1);
    }
}

static cl_int end(struct rig *rig)
{
    cl_int status = cpu_check_end(&rig->launch, CL_COMPLETE);

    cpu_check_free(rig->launch.check);
    return status;
}

static void what_is_said_passes(void **state)
{
    struct rig *rig = begin(state);

    run(rig, N, 0);
    assert_int_equal(end(rig), CL_COMPLETE);
}

static void reads_beyond_fail(void **state)
{
    struct rig *rig = begin(state);

    run(rig, N, 1);
    assert_int_equal(end(rig), CL_OUT_OF_RESOURCES);
}

static void writes_beyond_fail(void **state)
{
    struct rig *rig = begin(state);

    run(rig, N, 0);
    cpu_check_access(&rig->launch.wg, &out[N], 4, TSL_WG_CHECK_WRITE, 1);
    assert_int_equal(end(rig), CL_OUT_OF_RESOURCES);
}

static void writes_of_what_is_read_fail(void **state)
{
    struct rig *rig = begin(state);

    run(rig, N, 0);
    cpu_check_access(&rig->launch.wg, &in[0], 4, TSL_WG_CHECK_WRITE | TSL_WG_CHECK_ATOMIC, 1);
    assert_int_equal(end(rig), CL_OUT_OF_RESOURCES);
}

static void missing_writes_fail(void **state)
{
    struct rig *rig = begin(state);

    run(rig, N - 1, 0);
    assert_int_equal(end(rig), CL_OUT_OF_RESOURCES);
}

static void other_memory_is_no_matter(void **state)
{
    struct rig *rig = begin(state);
    int own = 0;

    run(rig, N, 0);
    cpu_check_access(&rig->launch.wg, &own, 4, TSL_WG_CHECK_WRITE, 1);
    assert_int_equal(end(rig), CL_COMPLETE);
}

/* Stores that begin in a buffer and end behind it write what is of the buffer. */
static void stores_across_the_end_count(void **state)
{
    struct rig *rig = begin(state);

    cpu_check_free(rig->launch.check);
    rig->mems[1].base.size = 4 * N - 2;
    assert_int_equal(cpu_check_begin(&rig->launch, &rig->facts, &rig->args), CL_SUCCESS);
    run(rig, N, 0);
    assert_int_equal(end(rig), CL_COMPLETE);
}

/* How much of what is claimed is touched, where the log asks for it: here the half of groups 0 and 1. */
static void what_is_touched_is_told(void **state)
{
    const char *setting = getenv("TESELA_LOG");
    char *text;

    catch_stderr();
    struct rig *rig = begin(state);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(cpu_check_enter(rig->launch.check, i / 16, 1, 0, 0), 1);
        cpu_check_access(&rig->launch.wg, &in[i], 4, 0, 1);
        cpu_check_access(&rig->launch.wg, &out[i], 4, TSL_WG_CHECK_WRITE, 1);
    }
    end(rig);
    text = release_stderr();
    if (setting && strcmp(setting, "driver:debug") == 0) {
        assert_non_null(strstr(text, "access: kernel k argument 0 (?): read 256 of 256 bytes claimed; "
                                     "the first half of the work-groups 128 of 128\n"));
        assert_non_null(strstr(text, "access: kernel k argument 1 (?): wrote 256 of 256 bytes claimed, 256 surely; "
                                     "the first half of the work-groups 128 of 128\n"));
    } else {
        assert_string_equal(text, "");
    }
    free(text);
}

/* A row of groups is run in pieces that are in one half each. */
static void halves_end_pieces(void **state)
{
    struct rig *rig = begin(state);
    const char *setting = getenv("TESELA_LOG");
    bool tells = setting && strcmp(setting, "driver:debug") == 0;

    assert_int_equal(cpu_check_enter(rig->launch.check, 1, 3, 0, 0), tells ? 1 : 3);
    assert_int_equal(cpu_check_enter(rig->launch.check, 2, 2, 0, 0), 2);
    run(rig, N, 0);
    assert_int_equal(end(rig), CL_COMPLETE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_passes),         cmocka_unit_test(reads_beyond_fail),
        cmocka_unit_test(writes_beyond_fail),          cmocka_unit_test(writes_of_what_is_read_fail),
        cmocka_unit_test(missing_writes_fail),         cmocka_unit_test(other_memory_is_no_matter),
        cmocka_unit_test(stores_across_the_end_count), cmocka_unit_test(halves_end_pieces),
        cmocka_unit_test(what_is_touched_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
