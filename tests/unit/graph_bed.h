/* For tests of the graph: a context of one fake member, two queues in order, and a program of fake kernels. */
#ifndef TSL_TESTS_GRAPH_BED_H
#define TSL_TESTS_GRAPH_BED_H

#include "core_end.h"
#include "driver/fake.h"
#include "graph/graph.h"
#include "members/members.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"
#include "test.h"

#include <string.h>

#define SIZE 64u /* of a buffer */

static struct tsl_context *context;
static struct tsl_queue *queue, *other;
static struct tsl_program *program;

static void add_word(void *to, const void *from)
{
    uint32_t sum, value;

    memcpy(&sum, to, sizeof sum);
    memcpy(&value, from, sizeof value);
    sum += value;
    memcpy(to, &sum, sizeof sum);
}

/* Of the kernel "add": adds its value to its buffer's first word. */
static void add_body(const struct tsl_fake_run *run)
{
    add_word(run->args[0].ptr, run->args[1].value);
}

/* delay_ns: how long the member's work takes. text: the program's, of kernels that the fake driver knows: "add", and
 * those that the test named before (tsl_fake_kernel). */
static void begin_graph(uint64_t delay_ns, const char *text)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ};
    struct tsl_fake_setup setup = {.n_members = 1, .threads = true, .members[0].delay_ns = delay_ns};
    struct tsl_device *device = tsl_device_root();

    tsl_fake_kernel("add", add_body, 2, kinds, access);
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &other), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &text, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
}

/* The test's own objects are released before. */
static void end_graph(void)
{
    tsl_object_release(&program->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_queue_let_go(other);
    tsl_object_release(&other->object);
    tsl_object_release(&context->object);
    end_core();
}

/* Of zeros. */
static struct tsl_buffer *make_buffer(void)
{
    static const unsigned char zeros[SIZE];
    struct tsl_buffer *buffer;

    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, (void *)(uintptr_t)zeros, NULL, &buffer),
                     CL_SUCCESS);
    return buffer;
}

static struct tsl_kernel *make_kernel(const char *name, struct tsl_buffer *buffer)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    return kernel;
}

#endif
