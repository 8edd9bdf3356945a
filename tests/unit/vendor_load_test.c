/* Loading vendors: .icd files of all kinds, good and bad, ourselves among them, and what is said of each. */
#include "members/members.h"

#include "build_folder.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tesela-icd-XXXXXX";
static const char *build;
static char *library, *copy, *link_name;

static char *text(const char *format, const char *a, const char *b)
{
    char *result;

    /* The formats are this file's own, with two %s. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    assert_true(asprintf(&result, format, a, b) > 0);
#pragma GCC diagnostic pop
    return result;
}

static void write_icd(const char *name, const char *content)
{
    char *file = text("%s/%s", folder, name);
    FILE *stream = fopen(file, "w");

    assert_non_null(stream);
    assert_true(fputs(content, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    free(file);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    char bytes[65536];
    size_t n;

    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* What an installed PoCL's file says. */
static char *pocl_line(void)
{
    char *file = text("%s/vendors-pocl/%s", build, "pocl.icd"), *line = NULL;
    FILE *stream = fopen(file, "r");
    size_t size = 0;

    assert_non_null(stream);
    assert_true(getline(&line, &size, stream) > 0);
    fclose(stream);
    free(file);
    return line;
}

static int make_folder(void **state)
{
    char *pocl, *padded;

    (void)state;
    build = build_folder();
    assert_non_null(mkdtemp(folder));
    library = text("%s/%s", build, "libtesela.so");
    copy = text("%s/%s", folder, "libcopy.so");
    link_name = text("%s/%s", folder, "liblink.so");
    copy_file(library, copy);
    assert_int_equal(symlink(library, link_name), 0);
    pocl = pocl_line();
    padded = text("  %s \nsecond line\n", strtok(pocl, "\n"), "");
    write_icd("00-ourselves.icd", library);
    write_icd("01-copy.icd", copy);
    write_icd("02-link.icd", link_name);
    write_icd("10-empty.icd", "");
    write_icd("11-blank.icd", " \t\n");
    write_icd("12-missing.icd", "libno_such_vendor.so.1\n");
    write_icd("13-no-library.icd", "/etc/passwd\n");
    write_icd("14-no-icd.icd", "libm.so.6\n");
    write_icd("15-loader.icd", "libOpenCL.so.1\n");
    write_icd("50-pocl.icd", padded);
    write_icd("60-again.icd", pocl);
    write_icd("90-readme.txt", "libno_such_vendor.so.2\n");
    free(pocl);
    free(padded);
    setenv("TESELA_VENDORS", folder, 1);
    setenv("TESELA_MEMBERS", "opencl", 1);
    return 0;
}

static int remove_folder(void **state)
{
    char *command = text("rm -r '%s'%s", folder, "");

    (void)state;
    tsl_members_reset();
    assert_int_equal(system(command), 0);
    free(command);
    free(library);
    free(copy);
    free(link_name);
    return 0;
}

static const char *problem(const char *part)
{
    const struct tsl_found_list *list = tsl_members_probe();

    for (unsigned i = 0; i < list->n_problems; i++)
        if (strstr(list->problems[i].sentence, part))
            return list->problems[i].sentence;
    return NULL;
}

static void we_are_no_vendor_of_ourselves(void **state)
{
    const struct tsl_found_list *list = tsl_members_probe();

    (void)state;
    for (unsigned i = 0; i < list->n; i++)
        assert_null(strstr(list->rows[i].path.platform_name, "Tesela"));
    assert_null(problem("00-ourselves"));
    assert_null(problem("01-copy"));
    assert_null(problem("02-link"));
}

static void a_file_that_is_no_use_is_a_sentence(void **state)
{
    const struct tsl_found_list *list = tsl_members_probe();

    (void)state;
    assert_non_null(problem("10-empty.icd names no library"));
    assert_non_null(problem("11-blank.icd names no library"));
    assert_non_null(problem("libno_such_vendor.so.1"));
    assert_non_null(strstr(problem("13-no-library.icd"), "/etc/passwd"));
    assert_non_null(problem("14-no-icd.icd: libm.so.6 is not an OpenCL ICD"));
    assert_non_null(problem("15-loader.icd: libOpenCL.so.1 is not an OpenCL ICD"));
    assert_null(problem("90-readme"));
    /* Where there is no NVIDIA driver that is told as well. */
    assert_int_equal(list->n_problems, problem("CUDA: ") ? 7 : 6);
}

static void a_vendor_named_twice_is_found_once(void **state)
{
    const struct tsl_found_list *list = tsl_members_probe();

    (void)state;
    assert_true(list->n >= 1);
    for (unsigned i = 0; i < list->n; i++)
        assert_memory_equal(list->rows[i].path.id, "opencl:0.", 9);
    assert_true(list->rows[0].used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(we_are_no_vendor_of_ourselves),
        cmocka_unit_test(a_file_that_is_no_use_is_a_sentence),
        cmocka_unit_test(a_vendor_named_twice_is_found_once),
    };

    return cmocka_run_group_tests_name("vendor load", tests, make_folder, remove_folder);
}
