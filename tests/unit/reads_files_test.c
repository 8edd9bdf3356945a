/* Which texts may read files when they are built. */
#include "compile_client/compile.h"
#include "test.h"

#include <string.h>

static bool reads(const char *source, const char *options)
{
    return tsl_compile_reads_files(source, strlen(source), options);
}

static void test_texts(void **state)
{
    (void)state;
    assert_false(reads("kernel void k(global int *a) { a[0] = 1; }\n", "-DX=1 -w"));
    assert_false(reads("#define X \\\n 1\nkernel void inclusive() {}\n", ""));
    assert_true(reads("", "-I folder"));
    assert_true(reads("#include \"a.h\"", ""));
    assert_true(reads("  # include <a.h>\n", ""));
    assert_true(reads("#inc\\\nlude \"a.h\"\n", ""));
    assert_true(reads("#i\\\r\nn\\\n\\\nclude \"a.h\"\n", ""));
    assert_true(reads("#in?"
                      "?/\nclude \"a.h\"\n",
                      ""));
}

/* It ends nowhere beyond its size. */
static void test_ends(void **state)
{
    (void)state;
    assert_false(tsl_compile_reads_files("include", 6, ""));
    assert_false(tsl_compile_reads_files("includ\\\n", 8, ""));
    assert_false(tsl_compile_reads_files("i\\", 2, ""));
    assert_false(tsl_compile_reads_files("", 0, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
