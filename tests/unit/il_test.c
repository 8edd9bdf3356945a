/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/vendors-none */
/*
 * Programs of an intermediate language: they are built on the members that take it, with the constants that were set,
 * and reading a module never goes beyond its end.
 */
#include "api.h"
#include "facts/il.h"
#include "program/program_info.h"

#include "program_bed.h"

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#define OP(op, n_words) ((uint32_t)(n_words) << 16 | (op))

/* Constants 3 (int), 5 (long), 9 (bool) and 4 (of a type that isn't told); "kernel one a" for the fake members. */
static const uint32_t module[] = {
    0x07230203, 0x00010000, 0,          40,         0,                      /* header */
    OP(7, 6),   30,         0x6e72656b, 0x6f206c65, 0x6120656e, 0x00000000, /* OpString "kernel one a" */
    OP(71, 4),  10,         1,          3,          OP(71, 4),  11,         1,  5,         OP(71, 4), 12,
    1,          9, /* OpDecorate … SpecId … */
    OP(71, 4),  13,         1,          4,          OP(71, 3),  10,         26, OP(71, 4), 14,        1,
    6, /* and others */
    OP(21, 4),  20,         32,         0,          OP(21, 4),  21,         64, 0,         OP(20, 2), 22, /* types */
    OP(50, 4),  20,         10,         7,          OP(50, 5),  21,         11, 7,         0,         OP(48, 3),
    22,         12, /* constants */
    OP(50, 4),  25,         13,         7,
};

/* Three members, of which the first two take the language. */
static void begin(const char *first, const char *second)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    const struct tsl_fake_setup setup = {.n_members = 3, .members = {{.il = first}, {.il = second}}};

    tsl_fake_kernel("one", body, 1, kinds, access);
    begin_context(&setup);
}

static void constants_are_found(void **state)
{
    uint32_t swapped[sizeof(module) / sizeof(module[0])];
    const cl_ulong value = 1;
    (void)state;

    for (size_t i = 0; i < sizeof(module) / sizeof(module[0]); i++)
        swapped[i] = bswap_32(module[i]);
    for (int turn = 0; turn < 2; turn++) {
        struct tsl_il *il = tsl_il_create(turn ? swapped : module, sizeof(module));

        assert_non_null(il);
        assert_true(tsl_il_is(il->module, il->size));
        assert_int_equal(tsl_il_set(il, 3, 4, &value), CL_SUCCESS);
        assert_int_equal(tsl_il_set(il, 3, 8, &value), CL_INVALID_VALUE);
        assert_int_equal(tsl_il_set(il, 3, 4, NULL), CL_INVALID_VALUE);
        assert_int_equal(tsl_il_set(il, 5, 8, &value), CL_SUCCESS);
        assert_int_equal(tsl_il_set(il, 9, 1, &value), CL_SUCCESS);
        assert_int_equal(tsl_il_set(il, 4, 4, &value), CL_INVALID_SPEC_ID); /* of no type */
        assert_int_equal(tsl_il_set(il, 6, 4, &value), CL_INVALID_SPEC_ID); /* of no constant */
        assert_int_equal(tsl_il_set(il, 26, 4, &value), CL_INVALID_SPEC_ID);
        tsl_il_destroy(il);
    }
}

/* Into a module of either order of bytes; what it has no value for stays. */
static void values_are_put_in(void **state)
{
    enum { N = sizeof(module) / sizeof(module[0]), CONSTANTS = N - 16 };
    static const struct tsl_program_special values[] = {{.id = 3, .size = 4, .value = 42},
                                                        {.id = 5, .size = 8, .value = UINT64_C(0x900000008)},
                                                        {.id = 9, .size = 1, .value = 0},
                                                        {.id = 77, .size = 4, .value = 1}};
    uint32_t swapped[N], wanted[N];
    (void)state;

    memcpy(wanted, module, sizeof(module));
    assert_int_equal(wanted[CONSTANTS], OP(50, 4));
    wanted[CONSTANTS + 3] = 42;
    wanted[CONSTANTS + 7] = 8;
    wanted[CONSTANTS + 8] = 9;
    wanted[CONSTANTS + 9] = OP(49, 3);
    for (size_t i = 0; i < N; i++)
        swapped[i] = bswap_32(module[i]);
    for (int turn = 0; turn < 2; turn++) {
        void *ours = tsl_il_with_values(turn ? swapped : module, sizeof(module), 4, values);
        void *same = tsl_il_with_values(turn ? swapped : module, sizeof(module), 0, NULL);

        assert_memory_equal(ours, wanted, sizeof(wanted));
        assert_memory_equal(same, module, sizeof(module));
        free(ours);
        free(same);
    }
}

/* The rest of the word is the sign's, where the type has one. */
static void small_values_fill_their_word(void **state)
{
    uint32_t words[] = {0x07230203, 0x00010000, 0,  40, 0,         OP(71, 4), 10, 1, 3,
                        OP(21, 4),  20,         16, 1,  OP(50, 4), 20,        10, 7};
    const struct tsl_program_special value = {.id = 3, .size = 2, .value = 0xfffe};
    (void)state;

    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        uint32_t *ours;

        words[12] = is_signed;
        ours = tsl_il_with_values(words, sizeof(words), 1, &value);
        assert_int_equal(ours[16], is_signed ? 0xfffffffe : 0xfffe);
        free(ours);
    }
}

/* Each beginning of the module, and each with a word that is another: nothing is read behind the end. */
static void damaged_modules_are_read(void **state)
{
    const struct tsl_program_special value = {.id = 3, .size = 4, .value = 42};
    (void)state;
    assert_false(tsl_il_is(NULL, 20));
    assert_false(tsl_il_is(module, 16));
    assert_false(tsl_il_is(module, 22));
    assert_false(tsl_il_is(module + 1, 20));
    for (size_t size = 20; size <= sizeof(module); size += 4) {
        for (size_t i = 0; i < size / 4; i++) {
            static const uint32_t others[] = {0, 0xffffffff, 0xffff0032, OP(50, 1), OP(71, 3)};

            for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
                uint32_t *copy = malloc(size);
                struct tsl_il *il;

                assert_non_null(copy);
                memcpy(copy, module, size);
                copy[i] = others[k];
                il = tsl_il_create(copy, size);
                free(copy);
                assert_non_null(il);
                free(tsl_il_with_values(il->module, il->size, 1, &value));
                tsl_il_destroy(il);
            }
        }
    }
}

static void the_device_says_what_a_member_takes(void **state)
{
    cl_name_version versions[8];
    char text[64], extensions[4096];
    size_t size;

    (void)state;
    begin("SPIR-V_1.2 SPIR-V_1.0", "SPIR-V_1.4 Other_7.0");
    assert_int_equal(tsl_device_info(devices[0], CL_DEVICE_IL_VERSION, sizeof(text), text, NULL), CL_SUCCESS);
    assert_string_equal(text, "SPIR-V_1.0 SPIR-V_1.2 SPIR-V_1.4");
    assert_int_equal(tsl_device_info(devices[0], CL_DEVICE_ILS_WITH_VERSION, sizeof(versions), versions, &size),
                     CL_SUCCESS);
    assert_int_equal(size, 3 * sizeof(versions[0]));
    assert_int_equal(versions[2].version, CL_MAKE_VERSION(1, 4, 0));
    assert_string_equal(versions[2].name, "SPIR-V");
    assert_int_equal(tsl_device_info(devices[0], CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL),
                     CL_SUCCESS);
    assert_non_null(strstr(extensions, "cl_khr_il_program"));
}

static struct tsl_program *make(void)
{
    struct tsl_program *program;

    assert_int_equal(tsl_program_create_il(context, module, sizeof(module), &program), CL_SUCCESS);
    return program;
}

static void log_has(struct tsl_program *program, const char *text)
{
    char *log = tsl_program_log(program, 7);

    assert_non_null(log);
    if (!strstr(log, text))
        fail_msg("the log lacks \"%s\":\n%s", text, log);
    free(log);
}

static void it_is_built_where_it_can(void **state)
{
    uint32_t back[sizeof(module) / sizeof(module[0])] = {0};
    const struct tsl_info info = {sizeof(back), back, NULL};
    const cl_uint value = 42;
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin("SPIR-V_1.0", "SPIR-V_1.0");
    program = make();
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_IL, &info), CL_SUCCESS);
    assert_memory_equal(back, module, sizeof(module));
    assert_int_equal(tsl_program_set_special(program, 3, 4, &value), CL_SUCCESS);
    assert_int_equal(tsl_program_set_special(program, 8, 4, &value), CL_INVALID_SPEC_ID);
    assert_int_equal(tsl_program_set_special(program, 5, 4, &value), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_build(program, NULL, NULL, NULL, NULL), CL_SUCCESS);
    log_has(program, "special 3 = 42\n");
    log_has(program, "this device takes no programs of an intermediate language");
    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_SUCCESS);
    assert_int_equal(kernel->eligible, 3);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void what_cannot_be_is_refused(void **state)
{
    const cl_uint value = 42;
    const char *source = "kernel one a";
    struct tsl_program *program;

    (void)state;
    begin("SPIR-V_1.0", NULL);
    assert_int_equal(tsl_program_create_il(context, NULL, sizeof(module), &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_il(context, module, 0, &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_il(context, module + 1, 40, &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_source(context, 1, &source, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_set_special(program, 3, 4, &value), CL_INVALID_PROGRAM);
    tsl_object_release(&program->object);
}

static void without_a_member_there_is_none(void **state)
{
    const cl_uint value = 42;
    const char *source = "kernel one a";
    struct tsl_program *program;
    char text[8];

    (void)state;
    begin(NULL, "Other_1.0");
    assert_int_equal(tsl_device_info(devices[0], CL_DEVICE_IL_VERSION, sizeof(text), text, NULL), CL_SUCCESS);
    assert_string_equal(text, "");
    assert_int_equal(tsl_program_create_il(context, module, sizeof(module), &program), CL_INVALID_OPERATION);
    assert_int_equal(tsl_program_create_source(context, 1, &source, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_set_special(program, 3, 4, &value), CL_INVALID_OPERATION);
    tsl_object_release(&program->object);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_found),     cmocka_unit_test(damaged_modules_are_read),
        cmocka_unit_test(values_are_put_in),       cmocka_unit_test(small_values_fill_their_word),
        TEST(the_device_says_what_a_member_takes), TEST(it_is_built_where_it_can),
        TEST(what_cannot_be_is_refused),           TEST(without_a_member_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
