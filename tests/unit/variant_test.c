/* Variants of kernels: what descriptions say, what conditions make of a launch, and when results keep a promise. */
#include "facts/kernel_facts.h"
#include "test.h"
#include "variant/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"a", "n", "alpha"};
static const struct tsl_expression_value scalars[] = {
    {.known = false}, {.known = true, .i = 96}, {.known = true, .real = true, .d = 1.5}};
static const uint64_t bytes[] = {4096, 0, 0};
static const struct tsl_expression_launch launch = {
    .scalars = scalars, .bytes = bytes, .global = {128, 4, 1}, .local = {16, 2, 1}, .offset = {0, 3, 0}};

static struct tsl_expression *parse(const char *text)
{
    const struct tsl_expression_names known = {3, names};
    char *why;
    struct tsl_expression *e = tsl_expression_parse(text, &known, &why);

    assert_true(e || why);
    free(why);
    return e;
}

static void expressions_compute_as_c_does(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } right[] = {
        {"1 + 2 * 3", 7},    {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},   {"n % 64", 32},
        {"-n / 5", -19},     {"!n", 0},
        {"!0 + !5", 1},      {"n == 96 && 2 < 3", 1},
        {"0 || n != 96", 0}, {"global0 / local0", 8},
        {"offset1", 3},      {"bytes(a) >= 4 * n", 1},
        {"alpha == 1.5", 1}, {"0 && n / 0", 0},
        {"1 || n / 0", 1},   {"0x10 + 1", 17},
        {"n<=96", 1},        {"2*global1-1", 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        struct tsl_expression *e = parse(right[i].text);
        int64_t value = 0;

        assert_non_null(e);
        if (!tsl_expression_integer(e, &launch, &value) || value != right[i].value)
            fail_msg("%s is %lld", right[i].text, (long long)value);
        tsl_expression_free(e);
    }
}

static void what_can_not_be_known_holds_never(void **state)
{
    static const char *const texts[] = {"n / 0 == 0", "n % 0", "a == a", "9223372036854775807 + n > 0",
                                        "-9223372036854775807 * 4 < 0"};
    static const char *const wrong[] = {"",    "1 +",   "(1",     "m",   "bytes(m)", "bytes n",
                                        "1 1", "a = 1", "local3", "1 $", "12x"};
    int64_t value;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tsl_expression *e = parse(texts[i]);

        assert_non_null(e);
        assert_false(tsl_expression_holds(e, &launch));
        tsl_expression_free(e);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (parse(wrong[i]))
            fail_msg("\"%s\" was understood", wrong[i]);
    struct tsl_expression *real = parse("alpha * 2");
    assert_false(tsl_expression_integer(real, &launch, &value));
    assert_true(tsl_expression_holds(real, &launch));
    tsl_expression_free(real);
}

static void deep_expressions_are_refused(void **state)
{
    char text[1000] = "";

    (void)state;
    memset(text, '(', 500);
    assert_null(parse(text));
    memset(text, '-', 900);
    assert_null(parse(text));
}

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

static char said[1024];

static void hear(void *arg, const char *sentence)
{
    (void)arg;
    strncat(said, sentence, sizeof(said) - strlen(said) - 1);
}

static struct tsl_variant *read(const char *text)
{
    said[0] = 0;
    return tsl_variant_parse(text, "v", "/folder", hear, NULL);
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define HEAD   "KERNEL k\nPROGRAM " DIGEST "\nARGUMENTS a:buffer n:int t:local\n"

static void all_lines_are_read(void **state)
{
    struct tsl_variant *v = read("# a remark\n" HEAD "OPTIONS -DX  # and one here\nMEMBERS cuda, cpu\r\n"
                                 "FUNCTION lib.so f\nguard n > 3\nGUARD n < 9\nALIGN 64\nWINDOWS yes\n"
                                 "RESULT ulps 4 double\nUSE always\nTRIAL no\n");

    (void)state;
    assert_string_equal(said, "");
    assert_non_null(v);
    assert_string_equal(v->kernel, "k");
    assert_int_equal(v->n_digests, 1);
    assert_string_equal(v->digests[0], "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    assert_string_equal(v->options, "-DX");
    assert_string_equal(v->members, "cuda, cpu");
    assert_int_equal(v->n_args, 3);
    assert_int_equal(v->arg_types[1], TSL_VARIANT_INT);
    assert_int_equal(v->kind, TSL_VARIANT_FUNCTION);
    assert_string_equal(v->file, "/folder/lib.so");
    assert_string_equal(v->function, "f");
    assert_int_equal(v->n_guards, 2);
    assert_int_equal(v->align, 64);
    assert_true(v->windows && v->always && !v->trial);
    assert_int_equal(v->promise.kind, TSL_PROMISE_ULPS);
    assert_true(v->promise.doubles && v->promise.bound == 4);
    tsl_variant_unref(v);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"KERNEL a b\n", "v:1: KERNEL"},
        {"PROGRAM 123\n", "v:1: PROGRAM"},
        {"ARGUMENTS a\n", "v:1: ARGUMENTS"},
        {"\nCODE x.ptx\n", "v:2: the implementation"},
        {"GUARD m > 1\n", "v:1: a name"},
        {"RESULT about 3\n", "v:1: RESULT"},
        {"ALIGN 3\n", "v:1: ALIGN"},
        {"SPEED 3\n", "v:1: SPEED is not understood"},
        {HEAD, "OPENCL, CODE, FUNCTION or GIVEN is missing"},
        {"PROGRAM any\nARGUMENTS a:int\nOPENCL f\n", "KERNEL is missing"},
        {"KERNEL k\nARGUMENTS a:int\nOPENCL f\n", "PROGRAM is missing"},
        {HEAD "OPENCL f\nGLOBAL n\nWINDOWS yes\n", "WINDOWS"},
        {HEAD "OPENCL f\nGLOBAL n,n,n,n\n", "three dimensions"},
        {HEAD "OPENCL f\nCODE g h\n", "one of"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_null(read(wrong[i].text));
        if (!strstr(said, wrong[i].says))
            fail_msg("of \"%s\" it says: %s", wrong[i].text, said);
    }
}

static void a_kernel_is_known_by_name_program_and_options(void **state)
{
    char digest[65];
    struct tsl_variant_kernel kernel = {"k", digest, ""};
    struct tsl_variant *v, *any;
    char text[400];

    (void)state;
    tsl_variant_digest("abc", 3, digest);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    snprintf(text, sizeof(text), "KERNEL k\nPROGRAM %s\nARGUMENTS n:int\nOPENCL f\n", digest);
    v = read(text);
    any = read("KERNEL k\nPROGRAM any\nOPTIONS *\nARGUMENTS n:int\nOPENCL f\n");
    assert_true(tsl_variant_is_for(v, &kernel) && tsl_variant_is_for(any, &kernel));
    kernel.options = "-DX";
    assert_true(!tsl_variant_is_for(v, &kernel) && tsl_variant_is_for(any, &kernel));
    kernel.options = "";
    kernel.name = "l";
    assert_true(!tsl_variant_is_for(v, &kernel) && !tsl_variant_is_for(any, &kernel));
    kernel.name = "k";
    digest[0] = 'c';
    assert_true(!tsl_variant_is_for(v, &kernel) && tsl_variant_is_for(any, &kernel));
    assert_true(tsl_variant_is_unproven(any) && !tsl_variant_is_unproven(v));
    tsl_variant_unref(v);
    tsl_variant_unref(any);
}

static void arguments_have_to_fit(void **state)
{
    struct tsl_arg_fact args[3] = {
        {.kind = TSL_FACT_GLOBAL}, {.kind = TSL_FACT_VALUE, .size = 4}, {.kind = TSL_FACT_LOCAL}};
    struct tsl_kernel_facts facts = {.n_args = 3, .args = args};
    struct tsl_variant *v = read(HEAD "OPENCL f\n");

    (void)state;
    assert_true(tsl_variant_fits(v, &facts));
    args[1].size = 8;
    assert_false(tsl_variant_fits(v, &facts));
    args[1].size = 0;
    assert_true(tsl_variant_fits(v, &facts));
    args[0].kind = TSL_FACT_IMAGE;
    assert_false(tsl_variant_fits(v, &facts));
    args[0].kind = TSL_FACT_UNKNOWN;
    assert_true(tsl_variant_fits(v, &facts));
    facts.n_args = 2;
    assert_false(tsl_variant_fits(v, &facts));
    tsl_variant_unref(v);
}

/* ---- Promises ---------------------------------------------------------------------------------------------------- */

static bool kept(enum tsl_promise_kind kind, double bound, const float *right, const float *is, unsigned n,
                 struct tsl_difference *difference)
{
    const struct tsl_promise promise = {.kind = kind, .bound = bound};

    return tsl_promise_kept(&promise, right, is, n * sizeof(float), difference);
}

static void promises_are_kept_or_broken(void **state)
{
    const float right[] = {1, 100, -3, 0}, near[] = {1, 100.00001f, -3, 1e-7f}, far[] = {1, 100, -3.1f, 0};
    const float none[] = {NAN, INFINITY}, other[] = {NAN, -INFINITY};
    struct tsl_difference difference;

    (void)state;
    assert_true(kept(TSL_PROMISE_BITWISE, 0, right, right, 4, &difference));
    assert_false(kept(TSL_PROMISE_BITWISE, 0, right, near, 4, &difference));
    assert_int_equal(difference.offset, 4);
    assert_true(kept(TSL_PROMISE_ULPS, 2, right, near, 3, &difference));
    assert_false(kept(TSL_PROMISE_ULPS, 2, right, near, 4, &difference)); /* nothing but 0 is near 0 */
    assert_true(kept(TSL_PROMISE_RELATIVE, 1e-6, right, near, 4, &difference));
    assert_false(kept(TSL_PROMISE_RELATIVE, 1e-6, right, far, 4, &difference));
    assert_int_equal(difference.offset, 8);
    assert_string_equal(difference.right, "-3");
    assert_true(kept(TSL_PROMISE_RELATIVE, 1e-6, none, none, 2, &difference));
    assert_false(kept(TSL_PROMISE_RELATIVE, 1e-6, none, other, 2, &difference));
}

static void bytes_behind_the_last_element_are_compared(void **state)
{
    const struct tsl_promise promise = {.kind = TSL_PROMISE_RELATIVE, .bound = 1};
    struct tsl_difference difference;

    (void)state;
    assert_true(tsl_promise_kept(&promise, "abcdef", "abcdef", 6, &difference));
    assert_false(tsl_promise_kept(&promise, "abcdef", "abcdeg", 6, &difference));
    assert_int_equal(difference.offset, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_compute_as_c_does),
        cmocka_unit_test(what_can_not_be_known_holds_never),
        cmocka_unit_test(deep_expressions_are_refused),
        cmocka_unit_test(all_lines_are_read),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(a_kernel_is_known_by_name_program_and_options),
        cmocka_unit_test(arguments_have_to_fit),
        cmocka_unit_test(promises_are_kept_or_broken),
        cmocka_unit_test(bytes_behind_the_last_element_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
