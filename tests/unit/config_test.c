/* TESELA_CONFIG: the lines of this machine count, errors say file, line and what to write; and what is chosen by it. */
#include "base/numa.h"
#include "driver/config.h"
#include "members/choose.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[4096];

static void hear(void *arg, const char *sentence)
{
    (void)arg;
    strcat(strcat(said, sentence), "\n");
}

static struct tsl_config parse(const char *text)
{
    struct tsl_config config;

    said[0] = 0;
    tsl_config_parse(&config, text, "file", "node7.cluster", hear, NULL);
    return config;
}

static const char *const example = "# two machines\n"
                                   "NODE other 1\n"
                                   "CUDA 3\n"
                                   "\n"
                                   "NODE node7 1 # here\n"
                                   "  CUDA 0\n"
                                   "opencl_gpu 1 2\r\n"
                                   "CPU 24 0-1 0\n"
                                   "FPGA 2 0 emulation\n"
                                   "NODE third\n"
                                   "CUDA 5";

static void only_this_machine(void **state)
{
    struct tsl_config config = parse(example);

    (void)state;
    assert_string_equal(said, "");
    assert_true(config.found);
    assert_int_equal(config.host_numa, 1);
    assert_int_equal(config.n, 4);
    assert_string_equal(config.devices[0].id, "cuda:0");
    assert_string_equal(config.devices[1].id, "opencl:1.2");
    assert_int_equal(config.devices[1].kind, TSL_CONFIG_GPU);
    assert_string_equal(config.devices[2].id, "cpu");
    assert_int_equal(config.devices[2].n_threads, 24);
    assert_int_equal(config.devices[2].first_numa, 0);
    assert_int_equal(config.devices[2].last_numa, 1);
    assert_false(config.devices[2].transfers);
    assert_string_equal(config.devices[3].id, "opencl:2.0");
    assert_string_equal(config.devices[3].exec_mode, "emulation");
    assert_int_equal(config.devices[3].line, 9);
    tsl_config_finish(&config);
}

static void names_of_machines(void **state)
{
    static const char *const rows[] = {"NODE node7", "node NODE7", "NODE node7.cluster"};
    static const char *const others[] = {"NODE node", "NODE node7.elsewhere", "NODE node77"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tsl_config ours = parse(rows[i]), theirs;

        assert_true(ours.found);
        theirs = parse(others[i]);
        assert_false(theirs.found);
        assert_non_null(strstr(said, "NODE node7.cluster"));
    }
}

/* One wrong line is told, and the others serve. */
static void errors(void **state)
{
    static const char *const rows[][2] = {
        {"CUDA", "file:2: write CUDA <device>"},
        {"CUDA x", "file:2: write CUDA <device>"},
        {"CUDA -1", "file:2: write CUDA <device>"},
        {"CUDA 1 2", "file:2: write CUDA <device>"},
        {"OpenCL_GPU 1", "file:2: write OpenCL_GPU <platform> <device>"},
        {"OpenCL_GPU 1 99999999999999999999", "file:2: write OpenCL_GPU"},
        {"CPU 8 0 1", "file:2: write CPU <threads> <first_numa>-<last_numa> <transfers>"},
        {"CPU 0 0-1 1", "file:2: write CPU"},
        {"CPU 8 3-1 1", "file:2: write CPU"},
        {"CPU 8 0-1 perhaps", "file:2: write CPU"},
        {"FPGA 0 0", "file:2: write FPGA <platform> <device> <exec_mode>"},
        {"FPGA 0 0 ../x", "file:2: write FPGA"},
        {"FPGA 0 0 a b c d", "file:2: write FPGA"},
        {"NODE", "file:2: write NODE <name> [host_numa_node]"},
        {"NODE a b", "file:2: write NODE"},
        {"GPU 0", "file:2: \"GPU\" is no kind of device"},
        {"CUDA 7", "file:2: cuda:7 is named already in line 1"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        struct tsl_config config;

        snprintf(text, sizeof text, "NODE node7\n%s\nNODE node7\nCUDA 1", rows[i][0]);
        if (i == sizeof rows / sizeof rows[0] - 1)
            snprintf(text, sizeof text, "NODE node7\nCUDA 7\nCUDA 7\nCUDA 1");
        config = parse(text);
        if (i < sizeof rows / sizeof rows[0] - 1)
            assert_ptr_equal(strstr(said, rows[i][1]), said);
        else
            assert_ptr_equal(strstr(said, "file:3: cuda:7 is named already in line 2"), said);
        assert_string_equal(config.devices[config.n - 1].id, "cuda:1");
        tsl_config_finish(&config);
    }
}

static void devices_before_a_node(void **state)
{
    struct tsl_config config = parse("CUDA 0\nNODE node7\nCUDA 1\n");

    (void)state;
    assert_ptr_equal(strstr(said, "file:1: a device comes after the line of its machine"), said);
    assert_int_equal(config.n, 1);
    tsl_config_finish(&config);
}

/* Slips in another machine's part are told as well, but nothing of it counts. */
static void other_machines(void **state)
{
    struct tsl_config config = parse("NODE node7\nNODE other\nCUDA x\nCUDA 0\n");

    (void)state;
    assert_ptr_equal(strstr(said, "file:3:"), said);
    assert_int_equal(config.n, 0);
    tsl_config_finish(&config);
}

/* Groups of processors: as many as there are lines, each with numbers of its own. */
static void several_cpus(void **state)
{
    struct tsl_config config = parse("NODE node7\nCPU 24 0-1 0\nCUDA 0\nCPU 1 1-1 yes\nCPU 1 1-1 yes\n");

    (void)state;
    assert_string_equal(said, "");
    assert_int_equal(config.n, 4);
    assert_int_equal(tsl_config_count_cpus(&config), 3);
    assert_string_equal(config.devices[0].id, "cpu:0");
    assert_string_equal(config.devices[1].id, "cuda:0");
    assert_string_equal(config.devices[2].id, "cpu:1");
    assert_string_equal(config.devices[3].id, "cpu:2");
    assert_int_equal(config.devices[0].n_threads, 24);
    assert_false(config.devices[0].transfers);
    assert_int_equal(config.devices[2].n_threads, 1);
    assert_int_equal(config.devices[2].first_numa, 1);
    assert_true(config.devices[2].transfers);
    tsl_config_finish(&config);
}

/* A slip in one of several is told, and the others are numbered without it. */
static void several_cpus_and_a_slip(void **state)
{
    struct tsl_config config = parse("NODE node7\nCPU 2 0-0 0\nCPU none 0-0 0\nCPU 1 0-0 0\nCPU 1 0 0\n");

    (void)state;
    assert_ptr_equal(strstr(said, "file:3: write CPU <threads>"), said);
    assert_non_null(strstr(said, "\nfile:5: write CPU <threads>"));
    assert_int_equal(config.n, 2);
    assert_string_equal(config.devices[1].id, "cpu:1");
    assert_int_equal(config.devices[1].line, 4);
    tsl_config_finish(&config);
}

/* Members stand in the order of the lines, the others behind them in their own. */
static void in_the_order_of_the_lines(void **state)
{
    static const char *const expected[] = {"cpu:0", "cuda:0", "opencl:1.0", "cpu:1", "opencl:0.0", "cuda:1"};
    struct tsl_config config = parse("NODE node7\nCPU 1 0-0 0\nCUDA 0\nOpenCL_GPU 1 0\nCPU 2 0-0 0\n");
    struct tsl_found rows[6] = {{.path.id = "opencl:0.0"}, {.path.id = "opencl:1.0"}, {.path.id = "cuda:0"},
                                {.path.id = "cuda:1"},     {.path.id = "cpu:0"},      {.path.id = "cpu:1"}};
    bool matched[4];

    (void)state;
    tsl_choose_by_config(rows, 6, &config, matched);
    for (unsigned i = 0; i < 6; i++) {
        assert_string_equal(rows[i].path.id, expected[i]);
        assert_int_equal(rows[i].used, i < 4);
        free(rows[i].why_not);
    }
    assert_true(matched[0] && matched[1] && matched[2] && matched[3]);
    tsl_config_finish(&config);
}

/* Exactly the paths that are named, whatever else there is. */
static void chosen(void **state)
{
    struct tsl_config config = parse("NODE node7\nOpenCL_GPU 0 1\nCUDA 4\n");
    struct tsl_found rows[3] = {{.path.id = "opencl:0.1"}, {.path.id = "opencl:0.10"}, {.path.id = "opencl:1.0"}};
    bool matched[2];

    (void)state;
    tsl_choose_by_config(rows, 3, &config, matched);
    assert_true(rows[0].used && !rows[1].used && !rows[2].used);
    assert_true(matched[0] && !matched[1]);
    assert_non_null(strstr(rows[1].why_not, "TESELA_CONFIG"));
    free(rows[1].why_not);
    free(rows[2].why_not);
    tsl_config_finish(&config);
}

static void processors(void **state)
{
    cpu_set_t set;

    (void)state;
    assert_true(tsl_numa_read_list("0-3,8\n", &set));
    assert_int_equal(CPU_COUNT(&set), 5);
    assert_true(CPU_ISSET(8, &set) && !CPU_ISSET(4, &set));
    assert_true(tsl_numa_read_list("5", &set));
    assert_false(tsl_numa_read_list("", &set));
    assert_false(tsl_numa_read_list("a", &set));
    assert_false(tsl_numa_read_list("1-", &set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_this_machine),
        cmocka_unit_test(names_of_machines),
        cmocka_unit_test(errors),
        cmocka_unit_test(devices_before_a_node),
        cmocka_unit_test(other_machines),
        cmocka_unit_test(several_cpus),
        cmocka_unit_test(several_cpus_and_a_slip),
        cmocka_unit_test(in_the_order_of_the_lines),
        cmocka_unit_test(chosen),
        cmocka_unit_test(processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
