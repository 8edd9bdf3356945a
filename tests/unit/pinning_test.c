/* Memory that the program lends (CL_MEM_USE_HOST_PTR) is pinned where it lies once so much went to and fro that it pays
 * by what the member says, not before, and isn't pinned any more when the program gave its buffer up, whatever still
 * holds that. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "core_end.h"
#include "driver/fake.h"
#include "graph/copies.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "members/members.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 4096u

static struct tsl_context *context;
static struct tsl_queue *queue;
static struct tsl_program *program;
static unsigned char memory[2 * SIZE] __attribute__((aligned(64)));

static void add_body(const struct tsl_fake_run *run)
{
    unsigned char *p = run->args[0].ptr;

    for (size_t i = 0; i < run->args[0].size; i++)
        p[i]++;
}

static void begin(unsigned register_after, unsigned n)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    static const char *const text = "kernel add a\n";
    struct tsl_fake_setup setup = {.n_members = n, .threads = true};
    struct tsl_device *device;

    for (unsigned i = 0; i < n; i++)
        setup.members[i] = (struct tsl_fake_member){.gates = true, .register_after = register_after};
    tsl_fake_kernel("add", add_body, 1, kinds, access);
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    device = tsl_device_root();
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &text, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
    memset(memory, 0, sizeof memory);
}

static void end(void)
{
    tsl_object_release(&program->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    end_core();
}

static struct tsl_buffer *lend(unsigned char *at, cl_mem_flags flags)
{
    struct tsl_buffer *buffer;

    assert_int_equal(tsl_buffer_create(context, CL_MEM_READ_WRITE | flags, SIZE, at, NULL, &buffer), CL_SUCCESS);
    return buffer;
}

static struct tsl_kernel *kernel_of(struct tsl_buffer *buffer)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(program, "add", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    return kernel;
}

/* after: NULL, or what it waits for. */
static void launch(struct tsl_kernel *kernel, struct tsl_event *after)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL, .n_wait = after ? 1 : 0, .wait = &after};

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

/* A kernel adds one to all bytes, and the program sees that: all of it goes to the member and comes back. */
static void go_round(struct tsl_buffer *buffer, unsigned char expected)
{
    struct tsl_enqueue map = {.queue = queue, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_enqueue unmap = {.queue = queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT};
    struct tsl_kernel *kernel = kernel_of(buffer);
    unsigned char *at;
    void *ptr;

    launch(kernel, NULL);
    tsl_object_release(&kernel->object);
    assert_int_equal(tsl_enqueue_map(&map, buffer, CL_MAP_READ | CL_MAP_WRITE, 0, SIZE, &ptr), CL_SUCCESS);
    at = ptr;
    for (unsigned i = 0; i < SIZE; i++)
        assert_int_equal(at[i], expected);
    assert_int_equal(tsl_enqueue_unmap(&unmap, buffer, ptr), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
}

static bool gets_pinned(const void *at)
{
    for (int i = 0; i < 5000 && !tsl_fake_registered(at, SIZE); i++)
        usleep(1000);
    return tsl_fake_registered(at, SIZE);
}

/* Whether that succeeded or not. */
static bool was_tried(struct tsl_buffer *buffer)
{
    bool tried = false;

    for (int i = 0; i < 5000 && !tried; i++) {
        usleep(1000);
        tsl_lock_take(&context->graph->lock);
        tried = buffer->data->pinning == TSL_PINNING_OVER;
        tsl_lock_give(&context->graph->lock);
    }
    return tried;
}

/* The thread that pins has nothing to do in a while. */
static bool stays_unpinned(const void *at)
{
    usleep(20000);
    return !tsl_fake_registered(at, SIZE);
}

static void it_is_pinned_once_that_pays(void **state)
{
    struct tsl_buffer *buffer;

    (void)state;
    begin(4, 1);
    buffer = lend(memory, CL_MEM_USE_HOST_PTR);
    go_round(buffer, 1);
    assert_true(stays_unpinned(memory));
    go_round(buffer, 2);
    assert_true(gets_pinned(memory));
    assert_false(tsl_fake_registered(memory + SIZE, SIZE));
    go_round(buffer, 3);
    assert_true(tsl_buffer_release(buffer));
    assert_false(tsl_fake_registered(memory, SIZE));
    end();
}

/* With two members each round goes from one to the other by way of the host, and either may pin. */
static void one_member_pins_it_for_all(void **state)
{
    struct tsl_buffer *buffer;

    (void)state;
    begin(1, 2);
    buffer = lend(memory, CL_MEM_USE_HOST_PTR);
    for (unsigned char i = 1; i <= 4; i++)
        go_round(buffer, i);
    assert_true(gets_pinned(memory));
    assert_int_equal(tsl_fake_live().mems, 3);
    assert_true(tsl_buffer_release(buffer));
    assert_false(tsl_fake_registered(memory, SIZE));
    end();
}

static void other_memory_is_left_alone(void **state)
{
    struct tsl_buffer *copied, *own;
    struct tsl_kernel *kernel;

    (void)state;
    begin(1, 1);
    copied = lend(memory, CL_MEM_COPY_HOST_PTR);
    own = lend(NULL, CL_MEM_ALLOC_HOST_PTR);
    for (unsigned char i = 1; i <= 4; i++)
        go_round(copied, i);
    kernel = kernel_of(own);
    launch(kernel, NULL);
    tsl_object_release(&kernel->object);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_true(stays_unpinned(memory));
    assert_int_equal(tsl_fake_live().mems, 2);
    tsl_buffer_release(copied);
    tsl_buffer_release(own);
    end();
}

static void no_member_no_pins(void **state)
{
    struct tsl_buffer *buffer;

    (void)state;
    begin(0, 1);
    buffer = lend(memory, CL_MEM_USE_HOST_PTR);
    for (unsigned char i = 1; i <= 4; i++)
        go_round(buffer, i);
    assert_true(stays_unpinned(memory));
    tsl_buffer_release(buffer);
    end();
}

/* A kernel has it as an argument, and commands behind a user event will use it: the program's last reference counts,
 * and nothing is pinned again after it. */
static void it_is_let_go_with_the_last_reference(void **state)
{
    struct tsl_buffer *buffer;
    struct tsl_kernel *kernel;
    struct tsl_event *event;

    (void)state;
    begin(1, 1);
    buffer = lend(memory, CL_MEM_USE_HOST_PTR);
    go_round(buffer, 1);
    assert_true(gets_pinned(memory));
    kernel = kernel_of(buffer);
    assert_int_equal(tsl_event_create_user(context, &event), CL_SUCCESS);
    tsl_object_retain(&buffer->object);
    assert_true(tsl_buffer_release(buffer));
    assert_true(tsl_fake_registered(memory, SIZE));
    launch(kernel, event);
    assert_true(tsl_buffer_release(buffer));
    assert_false(tsl_fake_registered(memory, SIZE));
    assert_int_equal(tsl_event_set_user(event, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_true(stays_unpinned(memory));
    tsl_object_release((struct tsl_object *)event);
    tsl_object_release(&kernel->object);
    end();
}

/* What can't be pinned, as its pages are another buffer's already, goes on as before. */
static void what_is_refused_goes_on(void **state)
{
    struct tsl_buffer *first, *second;

    (void)state;
    begin(1, 1);
    first = lend(memory, CL_MEM_USE_HOST_PTR);
    second = lend(memory + SIZE / 2, CL_MEM_USE_HOST_PTR);
    go_round(first, 1);
    assert_true(gets_pinned(memory));
    memset(memory, 0, sizeof memory);
    go_round(second, 1);
    assert_true(was_tried(second));
    assert_false(tsl_fake_registered(memory + SIZE, SIZE / 2));
    tsl_buffer_release(first);
    go_round(second, 2);
    assert_true(stays_unpinned(memory));
    tsl_buffer_release(second);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_pinned_once_that_pays),          cmocka_unit_test(one_member_pins_it_for_all),
        cmocka_unit_test(other_memory_is_left_alone),           cmocka_unit_test(no_member_no_pins),
        cmocka_unit_test(it_is_let_go_with_the_last_reference), cmocka_unit_test(what_is_refused_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
