/* Loading libcuda: a library that is absent is told from one that is broken. */
#include "cuda_bridge/load.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_library_that_is_not_there_is_absent(void **state)
{
    char *why;

    (void)state;
    assert_int_equal(tsl_cuda_load("/nonexistent/libcuda.so.1", &why), TSL_CUDA_ABSENT);
    assert_non_null(strstr(why, "no NVIDIA driver"));
    free(why);
    assert_int_equal(tsl_cuda_load("libcuda-that-nobody-has.so.1", &why), TSL_CUDA_ABSENT);
    free(why);
}

static void a_file_that_is_no_library_is_broken(void **state)
{
    char name[] = "/tmp/tesela-no-library-XXXXXX", *why;
    int file = mkstemp(name);

    (void)state;
    assert_true(file >= 0 && write(file, "not ELF\n", 8) == 8);
    close(file);
    assert_int_equal(tsl_cuda_load(name, &why), TSL_CUDA_BROKEN);
    assert_non_null(strstr(why, name));
    free(why);
    unlink(name);
}

static void a_library_without_a_function_is_broken_and_says_which(void **state)
{
    char *why;

    (void)state;
    assert_int_equal(tsl_cuda_load("libm.so.6", &why), TSL_CUDA_BROKEN);
    assert_non_null(strstr(why, "cuInit"));
    assert_non_null(strstr(why, "515"));
    free(why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_not_there_is_absent),
        cmocka_unit_test(a_file_that_is_no_library_is_broken),
        cmocka_unit_test(a_library_without_a_function_is_broken_and_says_which),
    };

    return cmocka_run_group_tests_name("cuda load", tests, NULL, NULL);
}
