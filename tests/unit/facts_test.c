/* Kernel facts: when two members' kernels have the same signature, and what a program's text tells. */
#include "facts/kernel_facts.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Facts with two arguments of these kinds and types. */
static struct tsl_kernel_facts facts(enum tsl_fact_kind kind0, const char *type0, enum tsl_fact_kind kind1,
                                     const char *type1)
{
    struct tsl_kernel_facts f = {.n_args = 2, .name = strdup("k"), .attributes = strdup("")};

    f.args = calloc(2, sizeof(*f.args));
    assert_non_null(f.args);
    f.args[0].kind = kind0;
    f.args[0].type_name = type0 ? strdup(type0) : NULL;
    f.args[1].kind = kind1;
    f.args[1].type_name = type1 ? strdup(type1) : NULL;
    return f;
}

static bool same(const char *a, const char *b)
{
    struct tsl_kernel_facts x = facts(TSL_FACT_GLOBAL, a, TSL_FACT_VALUE, "int");
    struct tsl_kernel_facts y = facts(TSL_FACT_GLOBAL, b, TSL_FACT_VALUE, "int");
    bool result = tsl_kernel_facts_same_signature(&x, &y);

    assert_int_equal(tsl_kernel_facts_same_signature(&y, &x), result);
    tsl_kernel_facts_finish(&x);
    tsl_kernel_facts_finish(&y);
    return result;
}

static void spelling_of_types_does_not_matter(void **state)
{
    (void)state;
    assert_true(same("float*", "float*"));
    assert_true(same("float*", "float *"));
    assert_true(same("unsigned int*", "uint*"));
    assert_true(same("struct pair*", "pair*"));
    assert_true(same("float*", NULL));
    assert_false(same("float*", "float4*"));
    assert_false(same("float*", "double*"));
    assert_false(same("int*", "uint*"));
    assert_false(same("structure*", "ure*"));
}

static void kinds_and_numbers_matter(void **state)
{
    struct tsl_kernel_facts a = facts(TSL_FACT_GLOBAL, "int*", TSL_FACT_VALUE, "int");
    struct tsl_kernel_facts b = facts(TSL_FACT_CONSTANT, "int*", TSL_FACT_VALUE, "int");
    struct tsl_kernel_facts unknown = facts(TSL_FACT_UNKNOWN, NULL, TSL_FACT_UNKNOWN, NULL);
    struct tsl_kernel_facts shorter = facts(TSL_FACT_GLOBAL, "int*", TSL_FACT_VALUE, "int");

    (void)state;
    assert_false(tsl_kernel_facts_same_signature(&a, &b));
    assert_true(tsl_kernel_facts_same_signature(&a, &unknown));
    shorter.n_args = 1;
    assert_false(tsl_kernel_facts_same_signature(&a, &shorter));
    shorter.n_args = 2;
    tsl_kernel_facts_finish(&a);
    tsl_kernel_facts_finish(&b);
    tsl_kernel_facts_finish(&unknown);
    tsl_kernel_facts_finish(&shorter);
}

static void finished_facts_are_empty_and_may_be_finished_again(void **state)
{
    struct tsl_kernel_facts a = facts(TSL_FACT_GLOBAL, "int*", TSL_FACT_VALUE, "int");

    (void)state;
    tsl_kernel_facts_finish(&a);
    assert_null(a.args);
    assert_int_equal(a.n_args, 0);
    tsl_kernel_facts_finish(&a);
}

static bool prints(const char *source, const char *options)
{
    return tsl_text_may_print(source, strlen(source), options);
}

static void text_that_may_print_is_found(void **state)
{
    (void)state;
    assert_false(prints("kernel void k(global int *p) { p[0] = 1; }", "-DX=1"));
    assert_true(prints("kernel void k(void) { printf(\"x\"); }", ""));
    assert_true(prints("kernel void k(void) { P(\"x\"); }", "-DP=printf"));
    assert_true(prints("#include \"more.cl\"\n", ""));
    assert_true(prints("#define GLUE(a, b) a##b\n", ""));
    /* The text ends where its size says. */
    assert_false(tsl_text_may_print("int i; printf", 6, ""));
}

static void images_are_known_by_their_whole_type(void **state)
{
    static const char *const images[] = {"image1d_t", "image1d_buffer_t", "image2d_array_depth_t", "image3d_t"};
    static const char *const others[] = {"",         "int",        "image",    "image_data*",
                                         "image2d*", "image2d_t*", "imaged_t", "sampler_t"};

    (void)state;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        assert_true(tsl_type_is_image(images[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tsl_type_is_image(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_of_types_does_not_matter),
        cmocka_unit_test(kinds_and_numbers_matter),
        cmocka_unit_test(images_are_known_by_their_whole_type),
        cmocka_unit_test(finished_facts_are_empty_and_may_be_finished_again),
        cmocka_unit_test(text_that_may_print_is_found),
    };

    return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
