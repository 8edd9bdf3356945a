/* The host's copies of large buffers that the program maps are memory that a vendor pins, if it is told to; the bytes
 * are right, and nothing is left. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_ZERO_COPY=off TESELA_PINNED=on */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_PINNED=on TESELA_POLICY=round-robin */
#include "graph/copies.h"
#include "graph/graph.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SIZE ((size_t)2 << 20)
#define N    (SIZE / sizeof(cl_int))

static const char *const source = "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }\n";

static struct tsl_context *context;
static struct tsl_queue *queue;
static struct tsl_program *program;
static struct tsl_kernel *kernel;

static int begin(void **state)
{
    struct tsl_device *device = tsl_device_root();

    (void)state;
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &source, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(tsl_kernel_create(program, "add", &kernel), CL_SUCCESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    return 0;
}

static void add(struct tsl_buffer *buffer, cl_int y)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {N, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof y, &y), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

static cl_int *map(struct tsl_buffer *buffer, cl_map_flags flags, size_t size)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    void *ptr;

    assert_int_equal(tsl_enqueue_map(&e, buffer, flags, 0, size, &ptr), CL_SUCCESS);
    return ptr;
}

static void unmap(struct tsl_buffer *buffer, void *ptr)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT};

    assert_int_equal(tsl_enqueue_unmap(&e, buffer, ptr), CL_SUCCESS);
}

/* To and fro, by maps. */
static void test_maps(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct tsl_buffer *buffer;
        cl_int *mapped;

        assert_int_equal(tsl_buffer_create(context, 0, SIZE, NULL, NULL, &buffer), CL_SUCCESS);
        mapped = map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, SIZE);
        assert_non_null(buffer->data->pinned);
        for (size_t i = 0; i < N; i++)
            mapped[i] = (cl_int)i + round;
        unmap(buffer, mapped);
        add(buffer, 5);
        add(buffer, 6);
        mapped = map(buffer, CL_MAP_READ, SIZE);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(mapped[i], (cl_int)i + round + 11);
        unmap(buffer, mapped);
        tsl_object_release(&buffer->object);
    }
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
}

/* What was there before it could be pinned stays where it is; what is small isn't worth it. */
static void test_others(void **state)
{
    cl_int *bytes = calloc(N, sizeof *bytes), *mapped;
    struct tsl_buffer *late, *small, *early;

    (void)state;
    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, bytes, NULL, &late), CL_SUCCESS);
    assert_int_equal(
        tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, SIZE, bytes, NULL, &early),
        CL_SUCCESS);
    assert_int_equal(tsl_buffer_create(context, 0, 4096, NULL, NULL, &small), CL_SUCCESS);
    assert_non_null(early->data->pinned);
    unmap(small, map(small, CL_MAP_WRITE, 4096));
    add(late, 3);
    add(early, 4);
    mapped = map(late, CL_MAP_READ, SIZE);
    assert_int_equal(mapped[N - 1], 3);
    unmap(late, mapped);
    mapped = map(early, CL_MAP_READ, SIZE);
    assert_int_equal(mapped[N - 1], 4);
    unmap(early, mapped);
    assert_null(late->data->pinned);
    assert_null(small->data->pinned);
    tsl_object_release(&late->object);
    tsl_object_release(&early->object);
    tsl_object_release(&small->object);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_maps, begin, end),
        cmocka_unit_test_setup_teardown(test_others, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
