/* GPUs that are made ready late: programs are built and kernels made for them before, by what a GPU of the same kind
 * tells, and run when they are ready. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 */
/* two: */
#include "cuda_bridge/warm.h"
#include "cuda_env.h"
#include "members/ready.h"

#include <pthread.h>

#define N 100

static struct tsl_member *second;

static int set_up(void **state)
{
    int error = open_member(state);

    if (n_members < 2)
        return error;
    second = members[1];
    assert_true(tsl_member_is_ready(member) && !tsl_member_is_ready(second));
    return error;
}

/* Adds 5 to N ints on the second member, and checks them. */
static void run_on_second(struct tsl_dkernel *kernel)
{
    struct tsl_lane *other;
    struct tsl_mem *mem;
    struct tsl_window window = whole(N, 0);
    int ints[N] = {0}, result[N];

    assert_int_equal(driver->lane_create(second, false, &other), CL_SUCCESS);
    assert_int_equal(driver->mem_alloc(second, sizeof(ints), CL_MEM_READ_WRITE, NULL, &mem), CL_SUCCESS);
    assert_int_equal(put_later(other, mem, ints, sizeof(ints), NULL, NULL), CL_SUCCESS);
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 5)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_launch launch = {.kernel = kernel, .args = &bound, .window = &window};
    assert_int_equal(driver->launch(other, &launch, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(other, mem, result, sizeof(result), NULL, NULL), CL_SUCCESS);
    finish(other);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(result[i], 5);
    driver->mem_free(mem);
    driver->lane_free(other);
}

static void what_was_made_before_runs_later(void **state)
{
    struct tsl_dprogram *program, *mine, *unused;
    struct tsl_dkernel *kernel, *dropped, *after;

    (void)state;
    if (n_members < 2)
        skip();
    mine = build_kernels(member);
    program = build_kernels(second);
    unused = build_kernels(second);
    kernel = new_kernel(program, "add_value");
    dropped = new_kernel(program, "vector_add");
    driver->kernel_free(dropped);
    driver->program_free(unused);
    driver->program_free(mine);
    assert_false(tsl_member_is_ready(second));
    assert_int_equal(driver->prepare(second), CL_SUCCESS);
    assert_true(tsl_member_is_ready(second));
    run_on_second(kernel);
    after = new_kernel(program, "add_value");
    run_on_second(after);
    driver->kernel_free(kernel);
    driver->kernel_free(after);
    driver->program_free(program);
}

static bool was_warmed(struct tsl_member *of)
{
    return tsl_cuda_member(of)->gather.own.tried;
}

/* What moves between the two need is made then, as far as it can be: the stand-in has no such kernel. For the first,
 * which is in use, that was begun meanwhile. */
static void both_are_warmed(void **state)
{
    (void)state;
    if (n_members < 2)
        skip();
    assert_false(was_warmed(member) || was_warmed(second));
    assert_int_equal(driver->prepare(second), CL_SUCCESS);
    tsl_cuda_warm_finish();
    assert_true(was_warmed(member) && !was_warmed(second));
    driver->warm(second);
    assert_true(was_warmed(member) && was_warmed(second));
}

/* As a call of the core's does that can't wait. */
static void a_call_makes_it_ready(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;

    (void)state;
    if (n_members < 2)
        skip();
    program = build_kernels(second);
    kernel = new_kernel(program, "add_value");
    assert_false(tsl_member_is_ready(second));
    run_on_second(kernel);
    assert_true(tsl_member_is_ready(second));
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void kernels_are_told_of_alike(void **state)
{
    struct tsl_dprogram *programs[2];
    struct tsl_kernel_facts facts[2];
    struct tsl_dkernel *kernels[2];

    (void)state;
    if (n_members < 2)
        skip();
    for (unsigned i = 0; i < 2; i++) {
        programs[i] = build_kernels(members[i]);
        assert_int_equal(driver->kernel_create(programs[i], "reverse", &kernels[i], &facts[i]), CL_SUCCESS);
    }
    assert_int_equal(facts[0].work_group_size, facts[1].work_group_size);
    assert_int_equal(facts[0].local_mem_size, facts[1].local_mem_size);
    assert_int_equal(facts[0].private_mem_size, facts[1].private_mem_size);
    assert_false(tsl_member_is_ready(second));
    for (unsigned i = 0; i < 2; i++) {
        tsl_kernel_facts_finish(&facts[i]);
        driver->kernel_free(kernels[i]);
        driver->program_free(programs[i]);
    }
}

static void *make_ready(void *arg)
{
    (void)arg;
    driver->prepare(second);
    return NULL;
}

/* Programs and kernels come and go while another thread makes the member ready. */
static void it_gets_ready_meanwhile(void **state)
{
    struct tsl_dprogram *kept;
    struct tsl_dkernel *kernel;
    pthread_t threads[2];

    (void)state;
    if (n_members < 2)
        skip();
    kept = build_kernels(second);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_ready, NULL), 0);
    for (unsigned i = 0; i < 40; i++) {
        struct tsl_dprogram *program = build_kernels(second);
        struct tsl_dkernel *one = new_kernel(program, "vector_add"), *two = new_kernel(kept, "nothing");

        driver->kernel_free(one);
        driver->kernel_free(two);
        driver->program_free(program);
    }
    kernel = new_kernel(kept, "add_value");
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(tsl_member_is_ready(second));
    run_on_second(kernel);
    driver->kernel_free(kernel);
    driver->program_free(kept);
}

/* It never was ready, so nothing of CUDA's is left of it. */
static void one_that_never_was_ready_is_closed(void **state)
{
    struct tsl_dprogram *program;

    (void)state;
    if (n_members < 2)
        skip();
    program = build_kernels(second);
    driver->program_free(program);
    assert_false(tsl_member_is_ready(second));
}

/* CUDA refuses the context: the member is lost, and what was made for it before is freed as ever. */
static void one_that_cannot_be_made_ready_is_lost(void **state)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    struct tsl_dprogram *program, *none = NULL;
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel, *no_kernel;
    struct tsl_lane *no_lane;
    char *log;
    void *image = kernels_image(&input.size);

    (void)state;
    input.data = image;
    if (n_members < 2 || !is_standin()) {
        free(image);
        skip();
    }
    program = build_kernels(second);
    kernel = new_kernel(program, "add_value");
    standin.refuse("cuDevicePrimaryCtxRetain", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(driver->prepare(second), CL_DEVICE_NOT_AVAILABLE);
    assert_true(tsl_member_is_lost(second));
    assert_int_equal(driver->prepare(second), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->lane_create(second, false, &no_lane), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->build(second, &input, &none, &log), CL_DEVICE_NOT_AVAILABLE);
    free(log);
    assert_int_equal(driver->kernel_create(program, "nothing", &no_kernel, &facts), CL_DEVICE_NOT_AVAILABLE);
    driver->kernel_free(kernel);
    driver->program_free(program);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_made_before_runs_later, set_up, close_member),
        cmocka_unit_test_setup_teardown(both_are_warmed, set_up, close_member),
        cmocka_unit_test_setup_teardown(a_call_makes_it_ready, set_up, close_member),
        cmocka_unit_test_setup_teardown(kernels_are_told_of_alike, set_up, close_member),
        cmocka_unit_test_setup_teardown(it_gets_ready_meanwhile, set_up, close_member),
        cmocka_unit_test_setup_teardown(one_that_never_was_ready_is_closed, set_up, close_member),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_made_ready_is_lost, set_up, close_member),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
