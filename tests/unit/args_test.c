/*
 * Kernel arguments: every error of clSetKernelArg; what a launch took never changes; the same value again is no change;
 * buffers live as long as somebody's arguments name them.
 */
#include "object/image.h"
#include "object/sampler.h"
#include "program/arguments.h"

#include "test.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { VALUE4, BUFFER, LOCAL, UNKNOWN, SAMPLER, IMAGE, VALUE_ANY, N_ARGS };

static struct tsl_arg_fact arg_facts[N_ARGS] = {
    [VALUE4] = {.kind = TSL_FACT_VALUE, .size = 4},
    [BUFFER] = {.kind = TSL_FACT_GLOBAL},
    [LOCAL] = {.kind = TSL_FACT_LOCAL},
    [UNKNOWN] = {.kind = TSL_FACT_UNKNOWN},
    [SAMPLER] = {.kind = TSL_FACT_SAMPLER},
    [IMAGE] = {.kind = TSL_FACT_IMAGE, .access = CL_KERNEL_ARG_ACCESS_READ_ONLY},
    [VALUE_ANY] = {.kind = TSL_FACT_VALUE},
};
static const struct tsl_kernel_facts facts = {.n_args = N_ARGS, .args = arg_facts};

static struct tsl_context context, other_context;
static struct tsl_program program = {.context = &context};
static struct tsl_kernel kernel;
static struct tsl_image image_of_buffer = {.desc = {.type = CL_MEM_OBJECT_IMAGE2D}};
static unsigned n_destroyed;

static void count_destroy(struct tsl_object *object)
{
    (void)object;
    n_destroyed++;
}

static struct tsl_buffer *make_buffer(cl_mem_object_type type, cl_mem_flags flags)
{
    struct tsl_buffer *buffer = tsl_object_create(TSL_BUFFER, sizeof(*buffer), NULL, count_destroy);

    assert_non_null(buffer);
    buffer->context = &context;
    buffer->type = type;
    buffer->flags = flags;
    if (type != CL_MEM_OBJECT_BUFFER)
        buffer->image = &image_of_buffer;
    return buffer;
}

static int setup(void **state)
{
    (void)state;
    n_destroyed = 0;
    kernel = (struct tsl_kernel){
        .program = &program, .facts = &facts, .parameter_size = 5000, .args = tsl_args_create(N_ARGS)};
    return kernel.args ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    tsl_args_unref(kernel.args);
    return 0;
}

static cl_int set(cl_uint index, size_t size, const void *value)
{
    return tsl_kernel_set_arg(&kernel, index, size, value);
}

/* Sets whatever a kernel of these seven needs. */
static void set_all(struct tsl_buffer *buffer, struct tsl_buffer *image, struct tsl_sampler *sampler)
{
    int four = 4;

    assert_int_equal(set(VALUE4, 4, &four), CL_SUCCESS);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(set(LOCAL, 64, NULL), CL_SUCCESS);
    assert_int_equal(set(UNKNOWN, 4, &four), CL_SUCCESS);
    assert_int_equal(set(SAMPLER, sizeof(cl_sampler), &sampler), CL_SUCCESS);
    assert_int_equal(set(IMAGE, sizeof(cl_mem), &image), CL_SUCCESS);
    assert_int_equal(set(VALUE_ANY, 4, &four), CL_SUCCESS);
}

static struct tsl_sampler *make_sampler(void)
{
    struct tsl_sampler *sampler = tsl_object_create(TSL_SAMPLER, sizeof(*sampler), NULL, count_destroy);

    assert_non_null(sampler);
    sampler->context = &context;
    sampler->desc.addressing = CL_ADDRESS_REPEAT;
    return sampler;
}

static struct tsl_args *take(void)
{
    struct tsl_args *args;

    assert_int_equal(tsl_kernel_args(&kernel, &args), CL_SUCCESS);
    return args;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void values_are_checked_by_size(void **state)
{
    int four = 4;

    (void)state;
    assert_int_equal(set(N_ARGS, 4, &four), CL_INVALID_ARG_INDEX);
    assert_int_equal(set(VALUE4, 4, NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(set(VALUE4, 3, &four), CL_INVALID_ARG_SIZE);
    assert_int_equal(set(VALUE4, 0, &four), CL_INVALID_ARG_SIZE);
    assert_int_equal(set(VALUE_ANY, 3, &four), CL_SUCCESS); /* nobody knows its size */
    assert_int_equal(set(VALUE_ANY, 0, &four), CL_INVALID_ARG_SIZE);
}

static void buffers_are_checked_by_handle(void **state)
{
    struct tsl_buffer *buffer = make_buffer(CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE);
    struct tsl_buffer *image = make_buffer(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE);
    struct tsl_sampler *sampler = make_sampler();

    (void)state;
    assert_int_equal(set(BUFFER, 4, &buffer), CL_INVALID_ARG_SIZE);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &sampler), CL_INVALID_MEM_OBJECT);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &image), CL_INVALID_MEM_OBJECT);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &buffer), CL_SUCCESS);
    buffer->context = &other_context;
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &buffer), CL_INVALID_CONTEXT);
    buffer->context = &context;
    tsl_object_release(&sampler->object);
    tsl_object_release(&image->object);
    tsl_object_release(&buffer->object);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &buffer), CL_INVALID_MEM_OBJECT);
}

static void a_null_pointer_is_a_buffer(void **state)
{
    struct tsl_buffer *none = NULL;

    (void)state;
    assert_int_equal(set(BUFFER, sizeof(cl_mem), NULL), CL_SUCCESS);
    assert_int_equal(kernel.args->args[BUFFER].kind, TSL_ARG_MEM);
    assert_null(kernel.args->args[BUFFER].buffer);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &none), CL_SUCCESS);
    assert_null(kernel.args->args[BUFFER].buffer);
}

static void local_memory_has_a_size_and_no_value(void **state)
{
    int four = 4;

    (void)state;
    assert_int_equal(set(LOCAL, 4, &four), CL_INVALID_ARG_VALUE);
    assert_int_equal(set(LOCAL, 0, NULL), CL_INVALID_ARG_SIZE);
    assert_int_equal(set(LOCAL, 4096, NULL), CL_SUCCESS);
    assert_int_equal(tsl_args_local_size(kernel.args), 4096);
}

static void samplers_and_images_are_checked(void **state)
{
    struct tsl_buffer *buffer = make_buffer(CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE);
    struct tsl_buffer *image = make_buffer(CL_MEM_OBJECT_IMAGE2D, CL_MEM_WRITE_ONLY);
    struct tsl_sampler *sampler = make_sampler();
    const struct tsl_sampler_desc *desc;

    (void)state;
    assert_int_equal(set(SAMPLER, sizeof(cl_sampler), &buffer), CL_INVALID_SAMPLER);
    assert_int_equal(set(SAMPLER, sizeof(cl_sampler), NULL), CL_INVALID_SAMPLER);
    assert_int_equal(set(SAMPLER, 4, &sampler), CL_INVALID_ARG_SIZE);
    assert_int_equal(set(SAMPLER, sizeof(cl_sampler), &sampler), CL_SUCCESS);
    desc = kernel.args->args[SAMPLER].value;
    assert_int_equal(desc->addressing, CL_ADDRESS_REPEAT);
    assert_int_equal(set(IMAGE, sizeof(cl_mem), &buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(set(IMAGE, sizeof(cl_mem), &image), CL_INVALID_ARG_VALUE); /* read_only against WRITE_ONLY */
    image->flags = CL_MEM_READ_WRITE;
    assert_int_equal(set(IMAGE, sizeof(cl_mem), &image), CL_SUCCESS);
    tsl_object_release(&sampler->object);
    tsl_object_release(&image->object);
    tsl_object_release(&buffer->object);
}

static void an_unknown_argument_is_what_it_is_given(void **state)
{
    struct tsl_buffer *buffer = make_buffer(CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE);
    uint64_t number = UINT64_C(0x1234567890abcdef);
    const struct tsl_arg *arg = &kernel.args->args[UNKNOWN];

    (void)state;
    assert_int_equal(set(UNKNOWN, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(arg->kind, TSL_ARG_MEM);
    assert_ptr_equal(arg->buffer, buffer);
    assert_int_equal(set(UNKNOWN, 8, &number), CL_SUCCESS);
    assert_int_equal(arg->kind, TSL_ARG_VALUE);
    assert_memory_equal(arg->value, &number, 8);
    assert_int_equal(set(UNKNOWN, 100, NULL), CL_SUCCESS);
    assert_int_equal(arg->kind, TSL_ARG_LOCAL);
    tsl_object_release(&buffer->object);
    /* A freed handle is eight bytes like any others. */
    assert_int_equal(set(UNKNOWN, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(arg->kind, TSL_ARG_VALUE);
}

static void a_refused_setting_leaves_the_old_one(void **state)
{
    int four = 4;

    (void)state;
    assert_int_equal(set(VALUE4, 4, &four), CL_SUCCESS);
    assert_int_equal(set(VALUE4, 8, &four), CL_INVALID_ARG_SIZE);
    assert_memory_equal(kernel.args->args[VALUE4].value, &four, 4);
}

/* ---- Snapshots --------------------------------------------------------------------------------------------------- */

static void a_launch_needs_all_arguments(void **state)
{
    struct tsl_sampler *sampler = make_sampler();
    struct tsl_args *args = NULL;
    int four = 4;

    (void)state;
    assert_int_equal(tsl_kernel_args(&kernel, &args), CL_INVALID_KERNEL_ARGS);
    for (cl_uint i = 0; i < N_ARGS; i++) {
        assert_int_equal(tsl_kernel_args(&kernel, &args), CL_INVALID_KERNEL_ARGS);
        switch (i) {
        case VALUE4:
        case UNKNOWN:
        case VALUE_ANY:
            assert_int_equal(set(i, 4, &four), CL_SUCCESS);
            break;
        case LOCAL:
            assert_int_equal(set(i, 4, NULL), CL_SUCCESS);
            break;
        case SAMPLER:
            assert_int_equal(set(i, sizeof(cl_sampler), &sampler), CL_SUCCESS);
            break;
        case IMAGE:
            /* There are no null images: make it one that takes a null pointer. */
            arg_facts[IMAGE].kind = TSL_FACT_GLOBAL;
            assert_int_equal(set(i, sizeof(cl_mem), NULL), CL_SUCCESS);
            arg_facts[IMAGE].kind = TSL_FACT_IMAGE;
            break;
        default:
            assert_int_equal(set(i, sizeof(cl_mem), NULL), CL_SUCCESS);
        }
    }
    assert_int_equal(tsl_kernel_args(&kernel, &args), CL_SUCCESS);
    tsl_args_let_go(args);
    tsl_object_release(&sampler->object);
}

/* Everything set; returns the handles to release. */
struct things {
    struct tsl_buffer *buffer, *image;
    struct tsl_sampler *sampler;
};

static struct things begin(void)
{
    struct things things = {make_buffer(CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE),
                            make_buffer(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE), make_sampler()};

    set_all(things.buffer, things.image, things.sampler);
    return things;
}

static void end(struct things *things)
{
    tsl_object_release(&things->buffer->object);
    tsl_object_release(&things->image->object);
    tsl_object_release(&things->sampler->object);
}

static void what_was_taken_never_changes(void **state)
{
    struct things things = begin();
    struct tsl_args *first = take(), *second;
    int five = 5;
    char big[200];

    (void)state;
    memset(big, 7, sizeof(big));
    assert_int_equal(set(VALUE4, 4, &five), CL_SUCCESS);
    assert_int_equal(set(VALUE_ANY, sizeof(big), big), CL_SUCCESS);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), NULL), CL_SUCCESS);
    second = take();
    assert_int_equal(*(int *)first->args[VALUE4].value, 4);
    assert_int_equal(first->args[VALUE_ANY].size, 4);
    assert_ptr_equal(first->args[BUFFER].buffer, things.buffer);
    assert_int_equal(*(int *)second->args[VALUE4].value, 5);
    assert_memory_equal(second->args[VALUE_ANY].value, big, sizeof(big));
    assert_null(second->args[BUFFER].buffer);
    tsl_args_let_go(first);
    tsl_args_let_go(second);
    end(&things);
}

static void serials_tell_changes_and_only_changes(void **state)
{
    struct things things = begin();
    struct tsl_args *args = take();
    uint64_t first = args->serial, second;
    int four = 4, five = 5;

    (void)state;
    tsl_args_let_go(args);
    assert_int_not_equal(first, 0);
    set_all(things.buffer, things.image, things.sampler);
    args = take();
    assert_int_equal(args->serial, first);
    assert_int_equal(set(VALUE4, 4, &five), CL_SUCCESS); /* while it is taken */
    tsl_args_let_go(args);
    args = take();
    second = args->serial;
    assert_int_not_equal(second, first);
    tsl_args_let_go(args);
    /* Back to the first values, in place: still a new serial, as drivers remember only the last. */
    assert_int_equal(set(VALUE4, 4, &four), CL_SUCCESS);
    args = take();
    assert_int_not_equal(args->serial, first);
    assert_int_not_equal(args->serial, second);
    tsl_args_let_go(args);
    end(&things);
}

static void the_same_value_again_copies_nothing(void **state)
{
    struct things things = begin();
    struct tsl_args *args = take();

    (void)state;
    set_all(things.buffer, things.image, things.sampler);
    assert_ptr_equal(kernel.args, args);
    tsl_args_let_go(args);
    end(&things);
}

/* A kernel keeps no buffer alive, a launch does (OpenCL 3.0, 5.9.2). */
static void buffers_live_as_long_as_launches_need_them(void **state)
{
    struct things things = begin();
    struct tsl_args *args = take(), *refused;

    (void)state;
    tsl_object_release(&things.buffer->object);
    assert_int_equal(n_destroyed, 0); /* the launch still has it */
    assert_int_equal(set(VALUE4, 4, &(int){6}), CL_SUCCESS);
    tsl_args_let_go(args);
    assert_int_equal(n_destroyed, 1);
    assert_int_equal(tsl_kernel_args(&kernel, &refused), CL_INVALID_KERNEL_ARGS);
    tsl_object_release(&things.image->object);
    tsl_object_release(&things.sampler->object);
    assert_int_equal(n_destroyed, 3);
}

/* Another buffer in the same memory is not the one that was set. */
static void *take_often(void *arg)
{
    for (unsigned i = 0; i < 20000; i++) {
        struct tsl_args *args;

        if (tsl_kernel_args(&kernel, &args) != CL_SUCCESS)
            break; /* the buffer is gone, and stays so */
        tsl_args_let_go(args);
    }
    return arg;
}

/* Launches come and go on two threads; halfway the application lets its buffer go, which then dies exactly once. */
static void launches_of_two_threads_share_references(void **state)
{
    struct things things = begin();
    pthread_t threads[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_often, NULL), 0);
    usleep(500);
    tsl_object_release(&things.buffer->object);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(n_destroyed, 1);
    tsl_object_release(&things.image->object);
    tsl_object_release(&things.sampler->object);
}

static void the_memory_of_a_gone_buffer_is_not_the_buffer(void **state)
{
    struct things things = begin();
    uint64_t id = things.buffer->id;

    (void)state;
    things.buffer->id = id + 1;
    assert_int_equal(tsl_kernel_args(&kernel, &(struct tsl_args *){NULL}), CL_INVALID_KERNEL_ARGS);
    assert_int_equal(set(BUFFER, sizeof(cl_mem), &things.buffer), CL_SUCCESS);
    tsl_args_let_go(take());
    end(&things);
}

static void large_values_are_kept_and_shrink_again(void **state)
{
    char big[5000], small[3] = "ab";

    (void)state;
    memset(big, 9, sizeof(big));
    assert_int_equal(set(VALUE_ANY, sizeof(big), big), CL_SUCCESS);
    assert_memory_equal(kernel.args->args[VALUE_ANY].value, big, sizeof(big));
    assert_int_equal(set(VALUE_ANY, sizeof(small), small), CL_SUCCESS);
    assert_memory_equal(kernel.args->args[VALUE_ANY].value, small, sizeof(small));
    assert_int_equal(set(VALUE_ANY, sizeof(big), big), CL_SUCCESS);
    assert_int_equal(set(VALUE_ANY, 40, NULL), CL_INVALID_ARG_VALUE);
    /* More than a member's parameters may have. */
    assert_int_equal(set(VALUE_ANY, sizeof(big) + 1, big), CL_INVALID_ARG_SIZE);
}

/* A clone shares its source's arguments until one of the two is set. */
static void clones_change_apart(void **state)
{
    struct things things = begin();
    struct tsl_kernel clone = kernel;
    int five = 5;

    (void)state;
    clone.args = tsl_args_share(&kernel);
    assert_int_equal(tsl_kernel_set_arg(&clone, VALUE4, 4, &five), CL_SUCCESS);
    assert_int_equal(*(int *)kernel.args->args[VALUE4].value, 4);
    assert_int_equal(*(int *)clone.args->args[VALUE4].value, 5);
    tsl_args_unref(clone.args);
    end(&things);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(values_are_checked_by_size),
        TEST(buffers_are_checked_by_handle),
        TEST(a_null_pointer_is_a_buffer),
        TEST(local_memory_has_a_size_and_no_value),
        TEST(samplers_and_images_are_checked),
        TEST(an_unknown_argument_is_what_it_is_given),
        TEST(a_refused_setting_leaves_the_old_one),
        TEST(a_launch_needs_all_arguments),
        TEST(what_was_taken_never_changes),
        TEST(serials_tell_changes_and_only_changes),
        TEST(the_same_value_again_copies_nothing),
        TEST(buffers_live_as_long_as_launches_need_them),
        TEST(launches_of_two_threads_share_references),
        TEST(the_memory_of_a_gone_buffer_is_not_the_buffer),
        TEST(large_values_are_kept_and_shrink_again),
        TEST(clones_change_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
