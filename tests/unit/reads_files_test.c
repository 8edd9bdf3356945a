/* Which texts may read files when they are built. */
#include "compile_client/compile.h"
#include "test.h"

#include <string.h>

static bool reads(const char *source)
{
    return tsl_compile_reads_files(source, strlen(source));
}

static bool is_relative(const char *source, const char *options)
{
    return tsl_compile_is_relative(source, strlen(source), options);
}

static void test_texts(void **state)
{
    (void)state;
    assert_false(reads("kernel void k(global int *a) { a[0] = 1; }\n"));
    assert_false(reads("#define X \\\n 1\nkernel void inclusive() {}\n"));
    assert_true(reads("#include \"a.h\""));
    assert_true(reads("  # include <a.h>\n"));
    assert_true(reads("#inc\\\nlude \"a.h\"\n"));
    assert_true(reads("#i\\\r\nn\\\n\\\nclude \"a.h\"\n"));
    assert_true(reads("#in?"
                      "?/\nclude \"a.h\"\n"));
}

static void test_folders(void **state)
{
    (void)state;
    assert_false(is_relative("kernel void k(global int *a) { a[0] = 1; }\n", "-I folder"));
    assert_false(is_relative("#include <a.h>\n#include\t <b.h>", "-I /folder -I/other -I \"/a folder\" -DX"));
    assert_true(is_relative("#include <a.h>\n", "-I /folder -I folder"));
    assert_true(is_relative("#include <a.h>\n", "-Ifolder"));
    assert_true(is_relative("#include <a.h>\n", "-I"));
    assert_true(is_relative("#include <a.h>\n#include \"b.h\"", "-I /folder"));
    assert_true(is_relative("#include FILE", "-I /folder"));
    assert_true(is_relative("#include", ""));
}

/* It ends nowhere beyond its size. */
static void test_ends(void **state)
{
    (void)state;
    assert_false(tsl_compile_reads_files("include", 6));
    assert_false(tsl_compile_reads_files("includ\\\n", 8));
    assert_false(tsl_compile_reads_files("i\\", 2));
    assert_false(tsl_compile_reads_files("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_folders),
                                       cmocka_unit_test(test_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
