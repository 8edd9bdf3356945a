/* A machine without a device: Tesela's device exists, reports that it isn't available, and says why. */
/* variant: none TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=opencl */

#include "device_queries.h"

#include <stdio.h>
#include <unistd.h>

static void is_not_available(void **state)
{
    char text[1000];
    (void)state;

    assert_int_equal(number(CL_DEVICE_AVAILABLE), CL_FALSE);
    assert_int_equal(number(CL_DEVICE_COMPILER_AVAILABLE), CL_FALSE);
    assert_int_equal(number(CL_DEVICE_GLOBAL_MEM_SIZE), 0);
    get_text(CL_DEVICE_NAME, text);
    assert_string_equal(text, "Tesela virtual device");
}

/* Standard error while fn runs. */
static void captured(void (*fn)(void), char *text, size_t size)
{
    int kept = dup(2), ends[2];
    ssize_t n;

    fflush(stderr);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], 2);
    fn();
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    close(ends[1]);
    n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
}

static cl_int error = 1;

static void try_context(void)
{
    cl_device_id device = our_device();

    assert_null(clCreateContext(NULL, 1, &device, NULL, NULL, &error));
}

static void try_context_from_type(void)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)our_platform(), 0};

    assert_null(clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &error));
}

static void contexts_fail_with_a_sentence(void **state)
{
    void (*const tries[])(void) = {try_context, try_context_from_type};
    char text[1000];
    (void)state;

    for (size_t i = 0; i < LENGTH(tries); i++) {
        error = 1;
        captured(tries[i], text, sizeof text);
        assert_int_equal(error, CL_DEVICE_NOT_AVAILABLE);
        assert_non_null(strstr(text, "`tesela info`"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_not_available),
        cmocka_unit_test(every_query_is_answered),
        cmocka_unit_test(contexts_fail_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
