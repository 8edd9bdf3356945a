/* Build options: what is certainly wrong is refused, -cl-std is found and replaced, macros are recognised. */
#include "facts/build_options.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct tsl_build_options read_ok(const char *text)
{
    struct tsl_build_options options;

    assert_int_equal(tsl_build_options_read(text, &options), CL_SUCCESS);
    return options;
}

static void refuse(const char *text)
{
    struct tsl_build_options options;

    assert_int_equal(tsl_build_options_read(text, &options), CL_INVALID_BUILD_OPTIONS);
}

static void no_std_unless_given(void **state)
{
    (void)state;
    assert_int_equal(read_ok("").std, 0);
    assert_int_equal(read_ok("   \t ").std, 0);
    assert_int_equal(read_ok("-DA=1 -cl-mad-enable -I /tmp -g -nonsense").std, 0);
}

static void std_is_found_and_the_last_counts(void **state)
{
    (void)state;
    assert_int_equal(read_ok("-cl-std=CL1.1").std, 110);
    assert_int_equal(read_ok("-g -cl-std=CL2.0 -w").std, 200);
    assert_int_equal(read_ok("-cl-std=CL1.2 -cl-std=CL3.0").std, 300);
}

static void a_std_within_a_macro_is_text(void **state)
{
    (void)state;
    assert_int_equal(read_ok("-D X=\"a -cl-std=CL2.0 b\"").std, 0);
    assert_int_equal(read_ok("-D -cl-std=CL2.0").std, 0);
}

static void unknown_versions_are_refused_and_cpp_is_the_vendors(void **state)
{
    (void)state;
    refuse("-cl-std=CL9.9");
    refuse("-cl-std=");
    refuse("-cl-std=CL1.25");
    assert_int_equal(read_ok("-cl-std=CLC++").std, 0);
    assert_int_equal(read_ok("-cl-std=CLC++2021").std, 0);
}

static void an_option_without_its_value_is_refused(void **state)
{
    (void)state;
    refuse("-D");
    refuse("-w -I  ");
    refuse("-U ");
    read_ok("-D A -I. -UB");
}

static void uniform_work_groups_are_seen(void **state)
{
    (void)state;
    assert_true(read_ok("-cl-std=CL2.0 -cl-uniform-work-group-size").uniform);
    assert_false(read_ok("-D -cl-uniform-work-group-size").uniform);
}

static void replaced(const char *text, unsigned std, const char *expected)
{
    struct tsl_build_options options = read_ok(text);
    char *result = tsl_build_options_with(&options, std, false);

    assert_string_equal(result, expected);
    free(result);
}

static void std_is_replaced_in_place(void **state)
{
    (void)state;
    replaced("-g -cl-std=CL3.0 -DA=\"x y\"", 120, "-g -cl-std=CL1.2 -DA=\"x y\"");
    replaced("-cl-std=CL2.0", 110, "-cl-std=CL1.1");
    replaced("-DA", 0, "-DA");
    /* C++ for OpenCL is nothing that we could say otherwise. */
    replaced("-cl-std=CLC++ -g", 0, "-cl-std=CLC++ -g");
}

static void uniform_work_groups_are_asked_for(void **state)
{
    struct tsl_build_options options = read_ok("-cl-std=CL3.0 -DA");
    char *same = tsl_build_options_with(&options, 300, true), *other = tsl_build_options_with(&options, 200, true);

    (void)state;
    assert_string_equal(same, "-cl-uniform-work-group-size -cl-std=CL3.0 -DA");
    assert_string_equal(other, "-cl-uniform-work-group-size -cl-std=CL2.0 -DA");
    free(same);
    free(other);
}

static void what_linkers_need_not_use_is_left_out(void **state)
{
    char *rest = tsl_build_options_without_hints("-create-library -enable-link-options\t-cl-denorms-are-zero -w "
                                                 "-cl-no-signed-zeros -cl-no-signed-zeroes -cl-no-such");
    char *none = tsl_build_options_without_hints(" -cl-fast-relaxed-math");

    (void)state;
    assert_string_equal(rest, "-create-library -w -cl-no-such ");
    assert_string_equal(none, "");
    free(rest);
    free(none);
}

static void levels_of_optimisation_are_left_out(void **state)
{
    char *rest = tsl_build_options_without_levels("-O3 -I. -O -Ofast -D -O1 -DA=\"-O3 b\" -cl-opt-disable -O0 -Os");

    (void)state;
    assert_string_equal(rest, "-I. -Ofast -D -O1 -DA=\"-O3 b\" -cl-opt-disable -Os ");
    assert_true(tsl_build_options_have_levels("-w\t-O2"));
    assert_false(tsl_build_options_have_levels("-w -O22 -o3 -Os -D -O3"));
    free(rest);
}

static void macros_are_found_in_every_spelling(void **state)
{
    struct tsl_build_options options = read_ok("-DA -D B=1 -UC -U D -DEE=\"-DF\" -w");

    (void)state;
    assert_true(tsl_build_options_name_macro(&options, "A"));
    assert_true(tsl_build_options_name_macro(&options, "B"));
    assert_true(tsl_build_options_name_macro(&options, "C"));
    assert_true(tsl_build_options_name_macro(&options, "D"));
    assert_true(tsl_build_options_name_macro(&options, "EE"));
    assert_false(tsl_build_options_name_macro(&options, "E"));
    assert_false(tsl_build_options_name_macro(&options, "F"));
    assert_false(tsl_build_options_name_macro(&options, "w"));
}

/* An apostrophe quotes nothing, in no vendor's options; a character constant is text of a macro. */
static void apostrophes_are_those_of_constants(void **state)
{
    static const char *const none[] = {"A", "'", "'A", "'AB'", "'\\", "'\\'", "\"A\""};
    static const struct {
        const char *text;
        size_t size;
    } some[] = {{"'A'", 3}, {"' ' ", 3}, {"'\"'", 3}, {"'\\''", 4}, {"'\\\\' 'A'", 4}, {"'\\x41'", 6}, {"'\\0'+1", 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(tsl_build_options_constant(none[i]), 0);
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        assert_int_equal(tsl_build_options_constant(some[i].text), some[i].size);
    assert_int_equal(read_ok("-D A=' ' -cl-std=CL2.0 -D B='\"' -cl-std=CL1.1 -D C='\"'").std, 110);
    assert_int_equal(read_ok("-D 'A -cl-std=CL2.0 B'").std, 200);
}

static void blanks_inside_words_are_found(void **state)
{
    static const char *const some[] = {"-D A=\"b c\"", "-I/a\\ b", "-g \"-I /a\"", "-D A=' '"};
    static const char *const none[] = {"", " -g  -w ", "-D A=\"b\" -w", "-D A='b -D C=d'", "-D A='\\'' -w"};

    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        assert_true(tsl_build_options_keep_blanks(some[i]));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(tsl_build_options_keep_blanks(none[i]));
}

static void words_that_compilers_take_for_files_are_found(void **state)
{
    static const char *const files[] = {"a.cl",
                                        "-",
                                        "-g a.cl",
                                        "-D A B",
                                        "-DA B",
                                        "-invalid- --build-- options",
                                        "-cl-nv-maxrregcount 32",
                                        "@options",
                                        "'-DA=b c'",
                                        "\"a b\"",
                                        "-D A -include b c"};
    static const char *const none[] = {"",         "  -g ",        "-D A",        "-D A=\"b c\" -w",
                                       "-I a -Ib", "-D -",         "-x cl -U A",  "\"-DA=b c\"",
                                       "-D\tA",    "-include a.h", "-I \"/a b\"", "-D -D -g"};

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (!tsl_build_options_name_file(files[i]))
            fail_msg("a file in: %s", files[i]);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        if (tsl_build_options_name_file(none[i]))
            fail_msg("no file in: %s", none[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_std_unless_given),
        cmocka_unit_test(std_is_found_and_the_last_counts),
        cmocka_unit_test(a_std_within_a_macro_is_text),
        cmocka_unit_test(unknown_versions_are_refused_and_cpp_is_the_vendors),
        cmocka_unit_test(an_option_without_its_value_is_refused),
        cmocka_unit_test(uniform_work_groups_are_seen),
        cmocka_unit_test(std_is_replaced_in_place),
        cmocka_unit_test(uniform_work_groups_are_asked_for),
        cmocka_unit_test(what_linkers_need_not_use_is_left_out),
        cmocka_unit_test(levels_of_optimisation_are_left_out),
        cmocka_unit_test(macros_are_found_in_every_spelling),
        cmocka_unit_test(apostrophes_are_those_of_constants),
        cmocka_unit_test(blanks_inside_words_are_found),
        cmocka_unit_test(words_that_compilers_take_for_files_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
