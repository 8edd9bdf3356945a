/* A process that may write no files any more: its builds end, well or with an error, and nothing of ours ends it. */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
#include "begin.h"
#include "child.h"

#include <sys/resource.h>
#include <time.h>

/* Can a compiler be started where no file may be written? ThreadSanitizer's runtime writes one before main(). */
#ifdef __SANITIZE_THREAD__
#define STARTS_LIMITED false
#else
#define STARTS_LIMITED true
#endif

static cl_int build(cl_context context, long number)
{
    char source[200];
    const char *text = source;
    cl_program program;

    snprintf(source, sizeof source, "kernel void set(global long *x) { x[0] = %ld; }", number);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    must(program);
    return clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
}

/* Numbers that no cache knows, so that each is compiled and written. */
static long new_number(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void forbid_files(void)
{
    must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) == 0);
}

static void limited_after_a_build(void)
{
    cl_context context = make_context();

    must(build(context, new_number()) == CL_SUCCESS);
    forbid_files();
    cl_int error = build(context, new_number());
    must(error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE);
}

static void limited_from_the_start(void)
{
    forbid_files();
    cl_int error = build(make_context(), new_number());
    must(error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE);
}

static void without_a_cache(void)
{
    setenv("TESELA_CACHE", "off", 1);
    limited_after_a_build();
}

static void with_a_timeline(void)
{
    char path[] = "/tmp/tesela-file-limit-XXXXXX";

    close(mkstemp(path));
    setenv("TESELA_TRACE", path, 1);
    limited_from_the_start();
    unlink(path);
}

static void nothing_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(ending(without_a_cache), 7);
    assert_int_equal(ending(limited_after_a_build), 7);
    if (!STARTS_LIMITED)
        return;
    assert_int_equal(ending(with_a_timeline), 7);
    assert_int_equal(ending(limited_from_the_start), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_ends_the_process)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
