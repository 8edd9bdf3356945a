/* Kernels that stand in another one's place on the CUDA bridge: calls of functions, and code of anybody's. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */
#include "cuda_env.h"

#include <unistd.h>

enum { N = 4096 };

/* What a call was given. */
static struct call_seen {
    unsigned n_calls;
    void *stream;
    unsigned n_args;
    struct tsl_call_arg args[2];
    int value;
    size_t global_size;
    cl_int answer;
} seen;

static cl_int note_call(void *self, const struct tsl_call_launch *launch)
{
    struct call_seen *s = self;

    s->n_calls++;
    s->stream = launch->stream;
    s->n_args = launch->n_args;
    for (unsigned i = 0; i < 2; i++)
        s->args[i] = launch->args[i];
    memcpy(&s->value, launch->args[1].at, sizeof(s->value));
    s->global_size = launch->window->global_size[0];
    return s->answer;
}

struct rig {
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel, *other;
    struct tsl_mem *mem;
    struct tsl_bound_arg args[2];
    int value;
};

static cl_int substitute(struct rig *r, const struct tsl_substitute *what)
{
    char *log = NULL;
    cl_int error = driver->substitute(r->kernel, what, &r->other, &log);

    assert_non_null(log);
    free(log);
    return error;
}

static void begin(struct rig *r)
{
    seen = (struct call_seen){.answer = CL_SUCCESS};
    *r = (struct rig){.program = build_kernels(member), .mem = new_mem(4 * N), .value = 7};
    r->kernel = new_kernel(r->program, "add_value");
    r->args[0] = mem_arg(r->mem);
    r->args[1] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(r->value), .value = &r->value};
    assert_int_equal(fill_ints(lane, r->mem, 5, N, NULL, NULL), CL_SUCCESS);
}

static void end(struct rig *r)
{
    if (r->other)
        driver->kernel_free(r->other);
    driver->kernel_free(r->kernel);
    driver->program_free(r->program);
    driver->mem_free(r->mem);
}

static cl_int launch(struct rig *r, const struct tsl_window *window, const struct tsl_waits *waits)
{
    struct tsl_bound_args bound = bind(2, r->args);

    return driver->launch(lane, &(struct tsl_launch){r->other, &bound, window}, waits, NULL);
}

static void a_call_gets_the_arguments_and_the_stream(void **state)
{
    const struct tsl_call call = {note_call, &seen};
    struct tsl_window window = whole(N, 64);
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(substitute(&r, &(struct tsl_substitute){.call = &call}), CL_SUCCESS);
    assert_int_equal(launch(&r, &window, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(seen.n_calls, 1);
    assert_non_null(seen.stream);
    assert_int_equal(seen.n_args, 2);
    assert_int_equal(seen.args[0].kind, TSL_ARG_MEM);
    assert_int_equal(seen.args[0].size, 4 * N);
    assert_non_null(seen.args[0].at);
    assert_int_equal(seen.args[1].kind, TSL_ARG_VALUE);
    assert_int_equal(seen.value, 7);
    assert_int_equal(seen.global_size, N);
    assert_int_equal(get_int(r.mem, 9), 5); /* It enqueued nothing, and the original didn't run. */
    end(&r);
}

static void a_call_that_refuses_leaves_the_original(void **state)
{
    const struct tsl_call call = {note_call, &seen};
    struct tsl_window window = whole(N, 64);
    struct rig r;

    (void)state;
    begin(&r);
    seen.answer = TSL_CALL_REFUSED;
    assert_int_equal(substitute(&r, &(struct tsl_substitute){.call = &call}), CL_SUCCESS);
    assert_int_equal(launch(&r, &window, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(seen.n_calls, 1);
    assert_int_equal(get_int(r.mem, N - 1), 12);
    end(&r);
}

static void a_call_waits_as_a_launch_does(void **state)
{
    const struct tsl_call call = {note_call, &seen};
    struct tsl_window window = whole(N, 64);
    struct tsl_fence *gate;
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(driver->gate_create(member, &gate), CL_SUCCESS);
    assert_int_equal(substitute(&r, &(struct tsl_substitute){.call = &call}), CL_SUCCESS);
    assert_int_equal(launch(&r, &window, &(struct tsl_waits){1, &gate}), CL_SUCCESS);
    r.value = 99; /* The launch keeps what it was given. */
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    finish(lane);
    assert_int_equal(seen.n_calls, 1);
    assert_int_equal(seen.value, 7);
    assert_int_equal(seen.args[0].size, 4 * N);
    tsl_fence_unref(gate);
    end(&r);
}

static void many_calls_in_a_row_are_all_made(void **state)
{
    const struct tsl_call call = {note_call, &seen};
    struct tsl_window window = whole(N, 64);
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(substitute(&r, &(struct tsl_substitute){.call = &call}), CL_SUCCESS);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(launch(&r, &window, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(seen.n_calls, 200);
    end(&r);
}

static void foreign_code_runs(void **state)
{
    const size_t size = (size_t)(cuda_kernels_end - cuda_kernels_ptx);
    const struct tsl_substitute what = {.code = cuda_kernels_ptx, .code_size = size, .function = "add_value"};
    struct tsl_window window = whole(N, 64);
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(substitute(&r, &what), CL_SUCCESS);
    assert_int_equal(launch(&r, &window, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(get_int(r.mem, N - 1), 12);
    window.global_offset[0] = 64;
    assert_int_equal(launch(&r, &window, NULL), CL_INVALID_OPERATION);
    window = whole(N, 64);
    window.whole = false;
    window.group_count[0] = 2, window.group_count[1] = window.group_count[2] = 1;
    assert_int_equal(launch(&r, &window, NULL), CL_INVALID_OPERATION);
    finish(lane);
    end(&r);
}

static void what_is_no_code_is_refused(void **state)
{
    const size_t size = (size_t)(cuda_kernels_end - cuda_kernels_ptx);
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(substitute(&r, &(struct tsl_substitute){.code = "nonsense", .code_size = 8, .function = "f"}),
                     CL_INVALID_BINARY);
    assert_int_equal(
        substitute(&r, &(struct tsl_substitute){.code = cuda_kernels_ptx, .code_size = size, .function = "missing"}),
        CL_INVALID_BINARY);
    finish(lane);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_gets_the_arguments_and_the_stream),
        cmocka_unit_test(a_call_that_refuses_leaves_the_original),
        cmocka_unit_test(a_call_waits_as_a_launch_does),
        cmocka_unit_test(many_calls_in_a_row_are_all_made),
        cmocka_unit_test(foreign_code_runs),
        cmocka_unit_test(what_is_no_code_is_refused),
    };

    return cmocka_run_group_tests(tests, open_member, close_member);
}
