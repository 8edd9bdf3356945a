/* The settings: every variable is understood, nonsense is reported and replaced by the default. */
#include "base/settings.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* An environment: names and values in turn, closed by NULL. */
static const char *get(const char *name, void *data)
{
    for (const char *const *pair = data; pair[0]; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

static void parse(struct tsl_settings *settings, const char *name, const char *value)
{
    const char *pairs[] = {name, value, NULL};

    tsl_settings_parse(settings, get, pairs);
}

static void defaults(void **state)
{
    const char *nothing[] = {NULL};
    struct tsl_settings settings;

    (void)state;
    tsl_settings_parse(&settings, get, nothing);
    assert_int_equal(settings.n_members, 0);
    assert_null(settings.members);
    assert_string_equal(settings.vendors, "/etc/OpenCL/vendors");
    assert_int_equal(settings.policy, TSL_POLICY_AUTO);
    assert_int_equal(settings.n_weights, 0);
    assert_int_equal(settings.order, TSL_ORDER_ASYNC);
    assert_int_equal(settings.limits, TSL_LIMITS_ALL);
    assert_int_equal(settings.device_type, TSL_DEVICE_TYPE_AUTO);
    assert_int_equal(settings.profiling, TSL_PROFILING_SERIAL);
    assert_int_equal(settings.reproducible, TSL_REPRODUCIBLE_NO);
    assert_int_equal(settings.zero_copy, TSL_ZERO_COPY_ON);
    assert_int_equal(settings.gates, TSL_GATES_AUTO);
    assert_int_equal(settings.vendor_roles, TSL_VENDOR_ROLES_AUTO);
    assert_int_equal(settings.check, 0);
    assert_null(settings.nodes);
    assert_null(settings.config);
    assert_null(settings.cache);
    assert_null(settings.trace);
    assert_int_equal(settings.log, tsl_log_default());
    assert_null(settings.complaints);
    tsl_settings_finish(&settings);
}

/* An empty value counts as unset, as a shell user would expect of TESELA_TRACE= PROGRAM. */
static void empty_is_unset(void **state)
{
    const char *pairs[] = {"TESELA_TRACE", "", "TESELA_POLICY", "", "TESELA_MEMBERS", "", NULL};
    struct tsl_settings settings;

    (void)state;
    tsl_settings_parse(&settings, get, pairs);
    assert_null(settings.trace);
    assert_null(settings.complaints);
    tsl_settings_finish(&settings);
}

static void members(void **state)
{
    struct tsl_settings settings;

    (void)state;
    parse(&settings, "TESELA_MEMBERS", " cpu, opencl:0.1 ,,Portable Computing Language,");
    assert_null(settings.complaints);
    assert_int_equal(settings.n_members, 3);
    assert_string_equal(settings.members[0], "cpu");
    assert_string_equal(settings.members[1], "opencl:0.1");
    assert_string_equal(settings.members[2], "Portable Computing Language");
    tsl_settings_finish(&settings);
}

static void memory(void **state)
{
    struct tsl_settings settings;

    (void)state;
    parse(&settings, "TESELA_MEMORY", " cpu = 512M,, cuda:0=20g,a=b=4096,x=3T ,y=5K");
    assert_null(settings.complaints);
    assert_int_equal(settings.n_memory, 5);
    assert_string_equal(settings.memory[0].member, "cpu");
    assert_int_equal(settings.memory[0].size, UINT64_C(512) << 20);
    assert_string_equal(settings.memory[1].member, "cuda:0");
    assert_int_equal(settings.memory[1].size, UINT64_C(20) << 30);
    assert_string_equal(settings.memory[2].member, "a=b");
    assert_int_equal(settings.memory[2].size, 4096);
    assert_int_equal(settings.memory[3].size, UINT64_C(3) << 40);
    assert_int_equal(settings.memory[4].size, 5 << 10);
    tsl_settings_finish(&settings);
}

static void policies(void **state)
{
    static const struct {
        const char *value;
        enum tsl_policy policy;
    } rows[] = {
        {"auto", TSL_POLICY_AUTO},
        {"eager", TSL_POLICY_EAGER},
        {"model", TSL_POLICY_MODEL},
        {"fastest", TSL_POLICY_FASTEST},
        {"round-robin", TSL_POLICY_ROUND_ROBIN},
        {"Eager", TSL_POLICY_EAGER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tsl_settings settings;

        parse(&settings, "TESELA_POLICY", rows[i].value);
        assert_null(settings.complaints);
        assert_int_equal(settings.policy, rows[i].policy);
        tsl_settings_finish(&settings);
    }
}

static void weights(void **state)
{
    struct tsl_settings settings;

    (void)state;
    parse(&settings, "TESELA_POLICY", "weights=1,3, 0.5,0");
    assert_null(settings.complaints);
    assert_int_equal(settings.policy, TSL_POLICY_WEIGHTS);
    assert_int_equal(settings.n_weights, 4);
    assert_float_equal(settings.weights[0], 1, 0);
    assert_float_equal(settings.weights[1], 3, 0);
    assert_float_equal(settings.weights[2], 0.5, 0);
    assert_float_equal(settings.weights[3], 0, 0);
    tsl_settings_finish(&settings);
    parse(&settings, "TESELA_POLICY", "weights-whole=2,1");
    assert_int_equal(settings.policy, TSL_POLICY_WEIGHTS_WHOLE);
    assert_int_equal(settings.n_weights, 2);
    assert_float_equal(settings.weights[0], 2, 0);
    tsl_settings_finish(&settings);
    parse(&settings, "TESELA_POLICY", "weights=2500000,1e-3"); /* The first is told as 2.5e+06. */
    assert_int_equal(settings.n_weights, 2);
    assert_float_equal(settings.weights[0], 2.5e6, 0);
    assert_float_equal(settings.weights[1], 1e-3, 0);
    tsl_settings_finish(&settings);
}

static void words_and_files(void **state)
{
    const char *pairs[] = {"TESELA_DEVICE_TYPE",
                           "cpu",
                           "TESELA_TRACE",
                           "/tmp/%p.json",
                           "TESELA_VENDORS",
                           "/v",
                           "TESELA_LIMITS",
                           "fastest",
                           "TESELA_CACHE",
                           "/c",
                           "TESELA_ZERO_COPY",
                           "off",
                           "TESELA_GATES",
                           "off",
                           "TESELA_CPU",
                           "OpenCL",
                           "TESELA_VENDOR_ROLES",
                           "OFF",
                           "TESELA_LOG",
                           "info",
                           NULL};
    struct tsl_settings settings;

    (void)state;
    tsl_settings_parse(&settings, get, pairs);
    assert_int_equal(settings.gates, TSL_GATES_OFF);
    assert_int_equal(settings.cpu, TSL_CPU_OPENCL);
    assert_int_equal(settings.vendor_roles, TSL_VENDOR_ROLES_OFF);
    assert_int_equal(settings.device_type, TSL_DEVICE_TYPE_CPU);
    assert_int_equal(settings.limits, TSL_LIMITS_FASTEST);
    assert_string_equal(settings.trace, "/tmp/%p.json");
    assert_string_equal(settings.vendors, "/v");
    assert_string_equal(settings.cache, "/c");
    assert_int_equal(settings.zero_copy, TSL_ZERO_COPY_OFF);
    assert_true(settings.log & tsl_log_bit(TSL_LOG_IN_TILE, TSL_LOG_INFO));
    tsl_settings_finish(&settings);
}

/* Each value that makes no sense is named in a sentence, with what would make sense; the default is in force. */
static void nonsense(void **state)
{
    static const char *const rows[][2] = {
        {"TESELA_MEMBERS", " , "},
        {"TESELA_POLICY", "fastes"},
        {"TESELA_POLICY", "weights"},
        {"TESELA_POLICY", "weights="},
        {"TESELA_POLICY", "weights=1,,2"},
        {"TESELA_POLICY", "weights=1,-2"},
        {"TESELA_POLICY", "weights=0,0"},
        {"TESELA_POLICY", "weights=1.2.3"},
        {"TESELA_POLICY", "weights=nan"},
        {"TESELA_POLICY", "weights=0x8,1"},
        {"TESELA_POLICY", "weights=1e999"},
        {"TESELA_POLICY", "weights=e3"},
        {"TESELA_POLICY", "weights-whole"},
        {"TESELA_POLICY", "weights-whole=1,-2"},
        {"TESELA_SPLIT", "never"},
        {"TESELA_MEMORY", "cpu"},
        {"TESELA_MEMORY", "=5M"},
        {"TESELA_MEMORY", "cpu="},
        {"TESELA_MEMORY", "cpu=0"},
        {"TESELA_MEMORY", "cpu=5MB"},
        {"TESELA_MEMORY", "cpu=-5"},
        {"TESELA_MEMORY", "cpu=1.5G"},
        {"TESELA_MEMORY", "cpu=99999999T"},
        {"TESELA_MEMORY", "cpu=1M,gpu"},
        {"TESELA_MEMORY", ","},
        {"TESELA_ORDER", "fifo"},
        {"TESELA_LIMITS", "none"},
        {"TESELA_DEVICE_TYPE", "fpga"},
        {"TESELA_REPRODUCIBLE", "perhaps"},
        {"TESELA_PROFILING", "on"},
        {"TESELA_CHECK", "access,speed"},
        {"TESELA_CACHE", "relative/folder"},
        {"TESELA_LOG", "graph:loud"},
        {"TESELA_CPU", "pocl"},
        {"TESELA_NVIDIA", "rocm"},
        {"TESELA_CUDA_LIBRARY", "relative.so"},
        {"TESELA_ZERO_COPY", "sometimes"},
        {"TESELA_FILTER", "sometimes"},
        {"TESELA_PINNED", "sometimes"},
        {"TESELA_STAGING", "sometimes"},
        {"TESELA_PEERS", "few"},
        {"TESELA_NODES_COMMON", "sometimes"},
        {"TESELA_OPEN", "none"},
        {"TESELA_SENDERS", "many"},
        {"TESELA_SVM", "shared"},
        {"TESELA_GATES", "sometimes"},
        {"TESELA_VENDOR_ROLES", "sometimes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tsl_settings settings;

        parse(&settings, rows[i][0], rows[i][1]);
        if (!settings.complaints)
            fail_msg("%s=%s passed", rows[i][0], rows[i][1]);
        assert_ptr_equal(strstr(settings.complaints, "tesela: "), settings.complaints);
        assert_non_null(strstr(settings.complaints, rows[i][0]));
        assert_non_null(strstr(settings.complaints, "not understood: use "));
        assert_int_equal(settings.policy, TSL_POLICY_AUTO);
        assert_int_equal(settings.n_weights, 0);
        assert_null(settings.weights);
        assert_null(settings.cache);
        assert_int_equal(settings.log, tsl_log_default());
        tsl_settings_finish(&settings);
    }
}

static void cache_follows_xdg(void **state)
{
    const char *both[] = {"HOME", "/home/a", "XDG_CACHE_HOME", "/x", NULL};
    const char *relative[] = {"HOME", "/home/a", "XDG_CACHE_HOME", "x", NULL};
    struct tsl_settings settings;

    (void)state;
    tsl_settings_parse(&settings, get, both);
    assert_string_equal(settings.cache, "/x/tesela");
    tsl_settings_finish(&settings);
    tsl_settings_parse(&settings, get, relative);
    assert_string_equal(settings.cache, "/home/a/.cache/tesela");
    tsl_settings_finish(&settings);
}

struct shown {
    char text[2048];
};

static void append(const char *name, const char *value, void *data)
{
    struct shown *shown = data;
    size_t length = strlen(shown->text);

    snprintf(shown->text + length, sizeof shown->text - length, "%s=%s\n", name, value);
}

/* What is shown is what one would have to write. */
static void each_shows_what_is_in_force(void **state)
{
    const char *pairs[] = {"TESELA_MEMBERS",
                           "a, b",
                           "TESELA_POLICY",
                           "weights=1,2.5",
                           "TESELA_LOG",
                           "warn,tile:debug",
                           "TESELA_CHECK",
                           "split,variants,coherence,access",
                           "TESELA_MEMORY",
                           "a=512m,b=1536K,c=7",
                           NULL};
    struct tsl_settings settings;
    struct shown shown = {""};

    (void)state;
    tsl_settings_parse(&settings, get, pairs);
    tsl_settings_each(&settings, append, &shown);
    assert_string_equal(
        shown.text,
        "TESELA_MEMBERS=a,b\nTESELA_MEMORY=a=512M,b=1536K,c=7\nTESELA_VENDORS=/etc/OpenCL/vendors\n"
        "TESELA_CPU=built-in\nTESELA_NVIDIA=cuda\nTESELA_CUDA_LIBRARY=\n"
        "TESELA_POLICY=weights=1,2.5\nTESELA_SPLIT=auto\nTESELA_ORDER=async\nTESELA_NODES=\nTESELA_NODES_COMMON=on\n"
        "TESELA_CONFIG="
        "\nTESELA_BINARIES=\n"
        "TESELA_VARIANTS=\nTESELA_PROCESSOR=\nTESELA_SPIRV=\nTESELA_TRACE=\n"
        "TESELA_LIMITS=all\nTESELA_LARGER=no\nTESELA_DEVICE_TYPE=auto\nTESELA_DEVICE_NAME=own\nTESELA_REPRODUCIBLE=no\n"
        "TESELA_PROFILING=serial\nTESELA_ZERO_COPY=on\nTESELA_FILTER=hardware\nTESELA_PINNED=auto\nTESELA_STAGING=off\n"
        "TESELA_PEERS=on\nTESELA_OPEN=auto\nTESELA_SENDERS=auto\nTESELA_SVM=auto\nTESELA_GATES="
        "auto\nTESELA_VENDOR_ROLES=auto\n"
        "TESELA_CHECK=access,coherence,split,variants\nTESELA_CACHE=\n"
        "TESELA_LOG=warn,tile:debug\n");
    tsl_settings_finish(&settings);
}

static void cache_may_be_off(void **state)
{
    const char *pairs[] = {"TESELA_CACHE", "Off", "HOME", "/home/a", "XDG_CACHE_HOME", "/x", NULL};
    struct tsl_settings settings;
    struct shown shown = {""};

    (void)state;
    tsl_settings_parse(&settings, get, pairs);
    assert_null(settings.complaints);
    assert_null(settings.cache);
    tsl_settings_each(&settings, append, &shown);
    assert_non_null(strstr(shown.text, "TESELA_CACHE=off\n"));
    tsl_settings_finish(&settings);
}

/* What a child process says on standard error while it reads its environment twice. */
static size_t read_twice_in_child(char *said, size_t size)
{
    int ends[2], status;
    size_t length = 0;
    ssize_t part;
    pid_t child;

    assert_return_code(pipe(ends), 0);
    child = fork();
    assert_return_code(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        _exit(tsl_settings()->policy == TSL_POLICY_AUTO && tsl_settings() == tsl_settings() ? 0 : 1);
    }
    close(ends[1]);
    while ((part = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)part;
    said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return length;
}

/* The process's own environment is read at the first call, and complained of once. */
static void environment_is_read_once(void **state)
{
    char said[1024];

    (void)state;
    setenv("TESELA_POLICY", "quickest", 1);
    read_twice_in_child(said, sizeof said);
    unsetenv("TESELA_POLICY");
    assert_string_equal(said,
                        "tesela: TESELA_POLICY=quickest is not understood: use auto, eager, model, fastest, "
                        "round-robin, weights=1,3,... or weights-whole=1,3,... with a number for each member. It goes "
                        "on with auto.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(empty_is_unset),
        cmocka_unit_test(members),
        cmocka_unit_test(memory),
        cmocka_unit_test(policies),
        cmocka_unit_test(weights),
        cmocka_unit_test(words_and_files),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(cache_follows_xdg),
        cmocka_unit_test(cache_may_be_off),
        cmocka_unit_test(each_shows_what_is_in_force),
        cmocka_unit_test(environment_is_read_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
