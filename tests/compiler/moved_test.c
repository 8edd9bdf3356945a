/*
 * The kernel compiler on a machine that has LLVM's libraries and nothing else of Clang: it compiles while Clang's
 * folders of resources are hidden (by an empty file system over each, in a process of its own), with what it reads of
 * them in itself. Where nothing may be mounted, what is left of the test says why.
 */
#include "kc_env.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPILED = 0, FAILED, FORBIDDEN = 77 };

static char source[] = "/tmp/tesela-moved-XXXXXX";
static char compiler[4096];

/* False with errno. Root needs no namespace of users, and others may have none. */
static bool leave(void)
{
    if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
        return false;
    return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* *n: folders that are there. */
static bool hide(size_t *n)
{
    glob_t found;
    bool hidden = true;

    *n = 0;
    if (glob("/usr/lib/llvm-*/lib/clang", 0, NULL, &found))
        return true;
    *n = found.gl_pathc;
    for (size_t i = 0; i < found.gl_pathc && hidden; i++)
        hidden = !mount("none", found.gl_pathv[i], "tmpfs", 0, NULL);
    globfree(&found);
    return hidden;
}

static bool is_hidden(void)
{
    glob_t found;

    if (glob("/usr/lib/llvm-*/lib/clang/*/include/opencl-c-base.h", 0, NULL, &found))
        return true;
    globfree(&found);
    return false;
}

/* The child's part: does not return. */
static _Noreturn void compile(bool hiding, const char *emit)
{
    size_t n = 0;

    if (hiding && (!leave() || !hide(&n))) {
        print_message("nothing can be mounted here: %s\n", strerror(errno));
        _exit(FORBIDDEN);
    }
    if (hiding && (n == 0 || !is_hidden()))
        _exit(FAILED);
    execl(compiler, compiler, "--emit", emit, "-o", "/dev/null", source, (char *)NULL);
    _exit(FAILED);
}

static int run(bool hiding, const char *emit)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        compile(hiding, emit);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Is the text somewhere in the compiler's file? */
static bool has_text(const char *text)
{
    FILE *file = fopen(compiler, "r");
    struct stat about;
    char *data;
    bool has;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &about), 0);
    data = malloc((size_t)about.st_size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)about.st_size, file), about.st_size);
    fclose(file);
    has = memmem(data, (size_t)about.st_size, text, strlen(text));
    free(data);
    return has;
}

static void it_compiles_without_clangs_files(void **state)
{
    static const char *const kinds[] = {"facts", "so", "ptx", "roles"};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int result = run(true, kinds[i]);

        assert_int_equal(run(false, kinds[i]), COMPILED);
        assert_true(result == COMPILED || result == FORBIDDEN);
    }
}

/* So a cache's entries, which are those of one compiler's file, are those of one header, too. */
static void it_has_the_header_in_itself(void **state)
{
    (void)state;
    assert_true(has_text("#ifndef _OPENCL_BASE_H_"));
    assert_false(has_text("/lib/clang/"));
}

/* Messages don't tell of a folder that nobody can open. */
static void messages_name_the_header_alone(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    kc_use(NULL);
    kc_use_no_cache();
    assert_int_equal(kc_build("#define M_PI_F 3\nkernel void f(global int *x) { x[0] = M_PI_F; }", "", &compiled),
                     CL_SUCCESS);
    kc_assert_log(&compiled, "opencl-c-base.h:");
    assert_null(strstr(compiled.built.log, "<clang>"));
    tsl_compiled_finish(&compiled);
}

static int set_up(void **state)
{
    static const char text[] = "kernel void f(global float4 *x) { x[get_global_id(0)] = sqrt(x[get_global_id(0)]);"
                               " barrier(CLK_LOCAL_MEM_FENCE); x[0].x = M_PI_F; }\n";
    int file = mkstemp(source);

    (void)state;
    build_compiler(compiler, sizeof(compiler));
    return file >= 0 && write(file, text, sizeof(text) - 1) == sizeof(text) - 1 && close(file) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_compiles_without_clangs_files),
        cmocka_unit_test(it_has_the_header_in_itself),
        cmocka_unit_test(messages_name_the_header_alone),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
