/* The tool `tesela`: what it hands to the program it runs, and how it ends. */
#include <cjson/cJSON.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "build_folder.h"

static char tool[PATH_MAX];
static char said[65536]; /* by the last command, on both streams */

/* Runs a shell command in which $T is the tool; returns its exit status. */
static int shell(const char *command)
{
    char line[4096];
    size_t length;
    FILE *out;
    int status;

    snprintf(line, sizeof line, "{ %s\n} 2>&1", command);
    out = popen(line, "r");
    assert_non_null(out);
    length = fread(said, 1, sizeof said - 1, out);
    said[length] = '\0';
    status = pclose(out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void says(const char *text)
{
    if (!strstr(said, text))
        fail_msg("\"%s\" is missing in: %s", text, said);
}

/* The loader is pointed to the folder that has our .icd alone, and to nothing besides. */
static void run_points_the_loader(void **state)
{
    char expected[PATH_MAX + 32];

    (void)state;
    assert_int_equal(shell("OCL_ICD_VENDORS=/elsewhere OCL_ICD_FILENAMES=/some.so $T run -- env"), 0);
    snprintf(expected, sizeof expected, "OCL_ICD_VENDORS=%s/icd/\n", build_folder());
    says(expected);
    assert_null(strstr(said, "OCL_ICD_FILENAMES"));
}

/* Options become settings; files are meant from where the user stands, not from where the program goes. */
static void run_sets_settings(void **state)
{
    (void)state;
    assert_int_equal(shell("cd / && unset TESELA_VENDORS; $T run --members=cpu,pocl -p weights=1,3 --trace t.json "
                           "-l debug -- env"),
                     0);
    says("TESELA_MEMBERS=cpu,pocl\n");
    says("TESELA_POLICY=weights=1,3\n");
    says("TESELA_TRACE=/t.json\n");
    says("TESELA_LOG=debug\n");
    assert_null(strstr(said, "TESELA_VENDORS"));
    assert_int_equal(shell("$T run -v /v -- env"), 0);
    says("TESELA_VENDORS=/v\n");
}

/* The program's arguments are its own, whatever they look like, and so is its exit status. */
static void run_hands_arguments_and_status_through(void **state)
{
    (void)state;
    assert_int_equal(shell("$T run -- sh -c 'echo \"$0 $1\"; exit 7' --members -x"), 7);
    says("--members -x\n");
    assert_int_equal(shell("$T run sh -c 'exit 3'"), 3);
}

static void run_fails_clearly(void **state)
{
    (void)state;
    assert_int_equal(shell("$T run -- no-such-program-here"), 127);
    says("no-such-program-here: program not found");
    assert_int_equal(shell("$T run -- /no/such/program"), 127);
    assert_int_equal(shell("$T run -- /etc/passwd"), 126);
    says("Permission denied");
    assert_int_equal(shell("$T run"), 125);
    says("which program?");
    assert_int_equal(shell("$T run --policy=quickest -- true"), 125);
    says("use auto, eager, model, fastest, round-robin, weights=");
    assert_int_equal(shell("$T run --icd /etc -- true"), 125);
    says("/etc has no file tesela.icd");
}

/* A script whose interpreter is missing is told apart from a program that is missing. */
static void missing_interpreter(void **state)
{
    (void)state;
    assert_int_equal(shell("f=$(mktemp) && echo '#!/no/such/interpreter' > $f && chmod +x $f && $T run -- $f; s=$?; "
                           "rm -f $f; exit $s"),
                     126);
    says("the interpreter that it asks for is not");
}

/* An .icd file whose library went away is noticed before the program runs without Tesela. */
static void stale_icd(void **state)
{
    (void)state;
    assert_int_equal(shell("d=$(mktemp -d) && echo /no/such/lib.so > $d/tesela.icd && $T run --icd $d -- true; s=$?; "
                           "rm -r $d; exit $s"),
                     125);
    says("/no/such/lib.so, which can't be read");
}

/* ---- tesela info ---- */

#define INFO "TESELA_VENDORS=$TESELA_BUILD/vendors-pocl POCL_DEVICES='basic pthread' "

static const cJSON *item(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!found)
        fail_msg("\"%s\" is missing in: %s", key, said);
    return found;
}

static const char *text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(item(object, key));
}

/* Two devices of one host: one serves, and the other's row says why it doesn't and what would change that. */
static void info_shows_what_is_left_out(void **state)
{
    const cJSON *member, *left_out;
    cJSON *info;

    (void)state;
    assert_int_equal(shell("TESELA_CPU=opencl " INFO "$T info --json"), 0);
    info = cJSON_Parse(said);
    assert_string_equal(text(info, "version"), TESELA_VERSION);
    assert_int_equal(cJSON_GetArraySize(item(info, "members")), 1);
    assert_in_range(cJSON_GetArraySize(item(info, "left_out")), 1, 2); /* the built-in CPU, where it is built */
    member = cJSON_GetArrayItem(item(info, "members"), 0);
    left_out = cJSON_GetArrayItem(item(info, "left_out"), 0);
    assert_int_equal(item(member, "index")->valueint, 0);
    assert_string_equal(text(member, "type"), "CPU");
    assert_true(item(member, "compute_units")->valueint >= 1);
    assert_true(item(member, "memory_size")->valuedouble >= 1 << 20);
    assert_non_null(strstr(text(left_out, "why"), text(member, "path")));
    assert_non_null(strstr(text(left_out, "why"), "TESELA_MEMBERS"));
    cJSON_Delete(info);
}

/* TESELA_MEMBERS wins: it names both, and both serve. The settings tell where a value came from. */
static void info_follows_the_settings(void **state)
{
    const cJSON *settings;
    cJSON *info;

    (void)state;
    assert_int_equal(shell(INFO "TESELA_MEMBERS=basic,pthread $T info --json"), 0);
    info = cJSON_Parse(said);
    assert_int_equal(cJSON_GetArraySize(item(info, "members")), 2);
    assert_in_range(cJSON_GetArraySize(item(info, "left_out")), 0, 1); /* the built-in CPU, where it is built */
    settings = item(info, "settings");
    assert_string_equal(text(item(settings, "TESELA_MEMBERS"), "value"), "basic,pthread");
    assert_true(cJSON_IsTrue(item(item(settings, "TESELA_MEMBERS"), "set")));
    assert_string_equal(text(item(settings, "TESELA_POLICY"), "value"), "auto");
    assert_true(cJSON_IsFalse(item(item(settings, "TESELA_POLICY"), "set")));
    cJSON_Delete(info);
}

/* What is wrong in TESELA_CONFIG is told with file and line: among the problems, and on standard error; devices that
 * are asked for in vain, too. */
static void info_tells_what_is_wrong_in_the_config(void **state)
{
    (void)state;
    assert_int_equal(shell("f=$(mktemp) && printf 'NODE %s\\nOpenCL_GPU 0 0\\n\\nFPGA 0 1\\nOpenCL_GPU 7 7\\n' "
                           "$(uname -n) > $f && " INFO "TESELA_CONFIG=$f $T info > $f.out 2> $f.err; s=$?; "
                           "sed -n '/^Problems/,/^Settings/s|'$f'|out|p' $f.out; sed 's|'$f'|err|' $f.err; "
                           "rm -f $f $f.out $f.err; exit $s"),
                     0);
    says("out:4: write FPGA <platform> <device> <exec_mode>");
    says("out:5: there is no opencl:7.7 here");
    says("err:4: write FPGA <platform> <device> <exec_mode>");
    says("err:5: there is no opencl:7.7 here");
    assert_int_equal(shell("TESELA_CONFIG=/no/such/file " INFO "$T info"), 0);
    says("TESELA_CONFIG=/no/such/file can't be read");
    assert_int_equal(shell("TESELA_MEMBERS=cpu,nothing " INFO "$T info 2>&1 > /dev/null"), 0);
    says("error: TESELA_MEMBERS names \"nothing\", which fits no device");
}

/* The row of the problems of that kind; NULL: there is none. */
static const cJSON *problem_of(const cJSON *info, const char *kind)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, item(info, "problems"))
    {
        if (!strcmp(text(row, "kind"), kind))
            return row;
    }
    return NULL;
}

/* CUDA's library lacks everywhere where there is no NVIDIA GPU: that is no problem, unless the user named the file. */
static void info_tells_problems_by_their_kind(void **state)
{
    const cJSON *row;
    cJSON *info;

    (void)state;
    assert_int_equal(shell("TESELA_CUDA_LIBRARY=/no/such/libcuda.so.1 " INFO "$T info --json"), 0);
    info = cJSON_Parse(said);
    row = problem_of(info, "no-cuda");
    assert_non_null(row);
    assert_non_null(strstr(text(row, "what"), "there is no /no/such/libcuda.so.1"));
    assert_true(cJSON_IsFalse(item(row, "needless")));
    assert_null(problem_of(info, "no-vendors"));
    assert_string_equal(text(item(info, "compiler"), "kind"),
                        text(item(info, "compiler"), "why")[0] ? "absent" : "nothing");
    cJSON_Delete(info);
    assert_int_equal(shell("TESELA_CUDA_LIBRARY=/no/such/libcuda.so.1 " INFO "$T info"), 0);
    says("Problems\n    CUDA: there is no /no/such/libcuda.so.1");
    shell("TESELA_VENDORS=/no/such/folder $T info --json");
    info = cJSON_Parse(said);
    assert_non_null(problem_of(info, "no-vendors"));
    assert_true(cJSON_IsFalse(item(problem_of(info, "no-vendors"), "needless")));
    row = problem_of(info, "no-cuda");
    if (row && shell("ls /dev/nvidiactl || grep -qs 0x10de /sys/bus/pci/devices/*/vendor") != 0) {
        assert_true(cJSON_IsTrue(item(row, "needless")));
        assert_int_equal(shell(INFO "$T info"), 0);
        says("Not needed here, as far as can be seen\n    CUDA: there is no libcuda.so.1");
        assert_null(strstr(said, "Problems"));
    } else {
        print_message("a machine without NVIDIA's hardware was not looked at: this one has some\n");
    }
    cJSON_Delete(info);
}

static void info_tells_of_platforms_without_devices(void **state)
{
    const cJSON *row;
    cJSON *info;

    (void)state;
    assert_int_equal(shell("FPGA_WITHOUT_DEVICES=1 TESELA_VENDORS=$TESELA_BUILD/vendors-pocl-fpga $T info --json"), 0);
    info = cJSON_Parse(said);
    assert_in_range(cJSON_GetArraySize(item(info, "without_devices")), 1,
                    2); /* the built-in CPU, where it isn't built */
    row = cJSON_GetArrayItem(item(info, "without_devices"), 0);
    assert_string_equal(text(row, "name"), "Tesela test FPGA");
    assert_non_null(strstr(text(row, "why"), "no device"));
    cJSON_Delete(info);
    /* A library that wraps nothing has no platform. */
    assert_int_equal(shell("unset SABOTAGE_ICD; TESELA_VENDORS=$TESELA_BUILD/vendors-pocl-sabotage $T info"), 0);
    says("Platforms without devices\n    sabotage.icd: its library shows no platform");
}

/* The built-in CPU is told of, too, where there is no compiler for it: beside the tool when that alone was copied. */
static void info_tells_why_there_is_no_cpu(void **state)
{
    (void)state;
    assert_int_equal(
        shell("d=$(mktemp -d) && cp $T $d && TESELA_VENDORS=$TESELA_BUILD/vendors-none $d/tesela info; s=$?; "
              "rm -r $d; exit $s"),
        1);
    says("Platforms without devices\n    Tesela CPU: there is no kernel compiler (tesela-kc) beside the library");
}

/* Whose boards' OpenCL is too old is to read it there; a newer one serves, and one that only says less than it has. */
static void info_tells_of_devices_that_are_too_old(void **state)
{
    (void)state;
    assert_int_equal(shell("FPGA_VERSION='OpenCL 1.0' TESELA_VENDORS=$TESELA_BUILD/vendors-fpga $T info"), 0);
    says(
        "because: it speaks OpenCL 1.0 only, and has no user events and callbacks of events (1.1), which Tesela needs");
    assert_int_equal(shell("FPGA_PLATFORM_VERSION='OpenCL 1.0' FPGA_VERSION='OpenCL 1.0' "
                           "TESELA_VENDORS=$TESELA_BUILD/vendors-fpga $T info"),
                     0);
    assert_null(strstr(said, "OpenCL 1.0 only"));
    says("test board");
    assert_int_equal(shell("FPGA_VERSION='OpenCL 1.1' TESELA_VENDORS=$TESELA_BUILD/vendors-fpga $T info"), 0);
    assert_null(strstr(said, "OpenCL 1.0 only"));
    says("test board");
}

/* The text for people has the same in it. */
static void info_as_text(void **state)
{
    (void)state;
    assert_int_equal(shell("TESELA_CPU=opencl " INFO "$T info"), 0);
    says("Tesela " TESELA_VERSION "\n");
    says("  0 opencl:0.");
    says("Left out\n");
    says("because: ");
    says("* TESELA_VENDORS ");
    says("  TESELA_POLICY        auto\n");
}

/* Without a member the status says so, and the text says what to do. */
static void info_without_members(void **state)
{
    (void)state;
    assert_int_equal(shell("TESELA_VENDORS=/no/such/folder TESELA_MEMBERS=opencl $T info"), 1);
    says("There is no member");
    says("/no/such/folder");
    assert_int_equal(shell(INFO "TESELA_MEMBERS=cuda:7 $T info"), 1);
    says("cuda:7");
}

static void version_and_help(void **state)
{
    (void)state;
    assert_int_equal(shell("$T --version"), 0);
    assert_string_equal(said, "tesela " TESELA_VERSION "\n");
    assert_int_equal(shell("$T --help"), 0);
    says("run -- PROGRAM");
    assert_int_equal(shell("$T info --help"), 0);
    says("--json");
    assert_int_equal(shell("$T run --help"), 0);
    says("--members");
    assert_int_equal(shell("$T"), 2);
    assert_int_equal(shell("$T dance"), 2);
    says("no command 'dance'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_points_the_loader),
        cmocka_unit_test(run_sets_settings),
        cmocka_unit_test(run_hands_arguments_and_status_through),
        cmocka_unit_test(run_fails_clearly),
        cmocka_unit_test(missing_interpreter),
        cmocka_unit_test(stale_icd),
        cmocka_unit_test(info_shows_what_is_left_out),
        cmocka_unit_test(info_follows_the_settings),
        cmocka_unit_test(info_tells_what_is_wrong_in_the_config),
        cmocka_unit_test(info_tells_problems_by_their_kind),
        cmocka_unit_test(info_tells_of_platforms_without_devices),
        cmocka_unit_test(info_tells_why_there_is_no_cpu),
        cmocka_unit_test(info_tells_of_devices_that_are_too_old),
        cmocka_unit_test(info_as_text),
        cmocka_unit_test(info_without_members),
        cmocka_unit_test(version_and_help),
    };

    snprintf(tool, sizeof tool, "%s/tesela", build_folder());
    setenv("T", tool, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
