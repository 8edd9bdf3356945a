/*
 * How the library asks what kernels only read (program/text_access.h), and when the answer counts for a member's
 * kernel: only for one of the same name and arguments, compiled of the same text.
 */
#include "kc_env.h"

#include "base/clock.h"
#include "compile_client/process.h"
#include "program/text_access.h"

#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "typedef struct { int x; } S;\n"
                             "kernel void f(global int *a, global float *b, S c, local int *d) { b[0] = a[0] + c.x; }\n"
                             "kernel void g(global int *a) { a[0] = 1; }\n";

/* f's signature, as a vendor tells it. */
struct signature {
    struct tsl_kernel_facts facts;
    struct tsl_arg_fact args[4];
};

#define RW (TSL_MAY_READ | TSL_MAY_WRITE)

static void sign(struct signature *s)
{
    *s = (struct signature){.facts = {.name = "f", .n_args = 4, .of_text = true},
                            .args = {{.kind = TSL_FACT_GLOBAL, .may = RW, .type_name = "int*"},
                                     {.kind = TSL_FACT_GLOBAL, .may = RW, .type_name = "float *"},
                                     {.kind = TSL_FACT_VALUE, .type_name = "S"},
                                     {.kind = TSL_FACT_LOCAL, .may = RW, .type_name = NULL}}};
    s->facts.args = s->args;
}

static struct tsl_text_access *ask(const char *text, const char *options)
{
    struct tsl_text_access *access = tsl_text_access_ask(text, options, NULL);

    assert_non_null(access);
    assert_true(tsl_text_access_wait(access));
    return access;
}

static void the_answer_narrows(void **state)
{
    struct tsl_text_access *access = ask(source, "");
    struct signature s;

    (void)state;
    sign(&s);
    assert_true(tsl_text_access_narrow(access, &s.facts));
    assert_int_equal(s.args[0].may, TSL_MAY_READ);
    assert_int_equal(s.args[1].may, RW); /* not written alone: what is written partly is fetched */
    assert_int_equal(s.args[3].may, RW);
    assert_false(s.facts.proven);
    tsl_text_access_unref(access);
}

/* A vendor tells no kinds of a binary that it made of the text. */
static void kinds_come_from_the_text(void **state)
{
    struct tsl_text_access *access = ask(source, "");
    struct signature s;

    (void)state;
    sign(&s);
    for (unsigned i = 0; i < 4; i++)
        s.args[i] = (struct tsl_arg_fact){.kind = TSL_FACT_UNKNOWN, .may = RW};
    assert_true(tsl_text_access_narrow(access, &s.facts));
    assert_int_equal(s.args[0].kind, TSL_FACT_GLOBAL);
    assert_int_equal(s.args[0].may, TSL_MAY_READ);
    assert_int_equal(s.args[1].kind, TSL_FACT_GLOBAL);
    assert_int_equal(s.args[1].may, RW);
    assert_int_equal(s.args[2].kind, TSL_FACT_VALUE);
    assert_int_equal(s.args[3].kind, TSL_FACT_LOCAL);
    s.facts.n_args = 3;
    s.args[0].kind = s.args[1].kind = s.args[2].kind = TSL_FACT_UNKNOWN;
    assert_false(tsl_text_access_narrow(access, &s.facts));
    tsl_text_access_unref(access);
}

/* Each of these changes makes it another kernel, or one that may be. */
static void of_name(struct signature *s)
{
    s->facts.name = "h";
}
static void of_number(struct signature *s)
{
    s->facts.n_args = 3;
}
static void of_kind(struct signature *s)
{
    s->args[2].kind = TSL_FACT_GLOBAL;
}
static void of_unknown_kind(struct signature *s)
{
    s->args[3].kind = TSL_FACT_UNKNOWN;
}
static void of_type(struct signature *s)
{
    s->args[1].type_name = "double*";
}
static void of_text(struct signature *s)
{
    s->facts.of_text = false;
}
static void of_effects(struct signature *s)
{
    s->facts.opaque = true;
}

static void another_kernel_is_left_alone(void **state)
{
    static void (*const changes[])(struct signature * s) = {of_name, of_number, of_kind,   of_unknown_kind,
                                                            of_type, of_text,   of_effects};
    struct tsl_text_access *access = ask(source, "");

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct signature s;

        sign(&s);
        changes[i](&s);
        assert_false(tsl_text_access_narrow(access, &s.facts));
        assert_int_equal(s.args[0].may, RW);
    }
    tsl_text_access_unref(access);
}

static void nothing_known_changes_nothing(void **state)
{
    static const char *const texts[][2] = {
        {"this is an error", ""},
        {"#ifdef __oclgrind__\nint x;\n#endif\nkernel void f(global int *a, global float *b, int c, local int *d) {}",
         ""},
        /* A program-scope variable is written, which shows only by way of a cycle. */
        {"typedef struct { int x; } S; global int v; void h(global int *p, int n);\n"
         "void g(global int *p, int n) { if (n) h(p, n - 1); }\n"
         "void h(global int *p, int n) { v = 1; g(p, n); }\nkernel void k(global int *a) { h(a, 3); }\n"
         "kernel void f(global int *a, global float *b, S c, local int *d) { g(a, 3); }",
         "-cl-std=CL2.0"},
        {source, "-cl-vendors-own"},
        {source, "-I\"/tmp\""}};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tsl_text_access *access = ask(texts[i][0], texts[i][1]);
        struct signature s;

        sign(&s);
        assert_false(tsl_text_access_narrow(access, &s.facts));
        assert_false(tsl_text_access_narrow(NULL, &s.facts));
        tsl_text_access_unref(access);
    }
}

/* In a process of its own, which has started no other compiler. */
static int run_self(const char *what)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        execl("/proc/self/exe", "narrow_test", what, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status;
}

/* As the compiler: one that never says a word. */
static int serve_nothing(void)
{
    char byte;

    while (read(TSL_SPAWN_SOCKET, &byte, 1) > 0)
        continue;
    return 0;
}

static int ask_the_silent(void)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    uint64_t begun = tsl_clock_ns(), took;
    struct tsl_text_access *access;
    bool answered;

    path[size > 0 ? size : 0] = 0;
    tsl_client_set_program(path, NULL);
    access = tsl_text_access_ask(source, "", NULL);
    if (!access)
        return 1;
    answered = tsl_text_access_wait(access);
    took = tsl_clock_ns() - begun;
    tsl_text_access_unref(access);
    return answered || took < TSL_TEXT_ACCESS_PATIENCE || took > 20 * TSL_TEXT_ACCESS_PATIENCE ? 2 : 0;
}

static int ask_the_absent(void)
{
    struct tsl_text_access *access;
    struct signature s;
    bool known;

    tsl_client_set_program("/nowhere/tesela-kc", NULL);
    access = tsl_text_access_ask(source, "", NULL);
    if (!access)
        return 0;
    sign(&s);
    known = !tsl_text_access_wait(access) || tsl_text_access_narrow(access, &s.facts);
    tsl_text_access_unref(access);
    return known || s.args[0].may != RW;
}

static void patience_ends(void **state)
{
    (void)state;
    assert_int_equal(run_self("--silent"), 0);
}

static void no_compiler_is_no_error(void **state)
{
    (void)state;
    assert_int_equal(run_self("--absent"), 0);
}

static int set_up(void **state)
{
    (void)state;
    kc_use(NULL);
    kc_use_no_cache();
    return 0;
}

int main(int n, char **args)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_narrows),           cmocka_unit_test(kinds_come_from_the_text),
        cmocka_unit_test(another_kernel_is_left_alone), cmocka_unit_test(nothing_known_changes_nothing),
        cmocka_unit_test(no_compiler_is_no_error),      cmocka_unit_test(patience_ends),
    };

    if (n > 1 && strcmp(args[1], "--serve") == 0)
        return serve_nothing();
    kc_use_no_cache();
    if (n > 1)
        return strcmp(args[1], "--silent") == 0 ? ask_the_silent() : ask_the_absent();
    return cmocka_run_group_tests(tests, set_up, NULL);
}
