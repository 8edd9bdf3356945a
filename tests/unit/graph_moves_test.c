/* What moves between memories, and what doesn't: bytes are counted by the fake driver, whose members take turns. */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "base/worker.h"
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

#define SIZE (64u * 1024)

static struct tsl_context *context;
static struct tsl_queue *queue;
static struct tsl_program *program;
static struct tsl_buffer *a, *b;
static unsigned char bytes[SIZE], back[SIZE];

/* ---- Kernels: one argument each ---- */

static void read_body(const struct tsl_fake_run *run)
{
    (void)run;
}

/* Adds 1 to the first byte, whatever it says that it may do. */
static void touch_body(const struct tsl_fake_run *run)
{
    ((unsigned char *)run->args[0].ptr)[0]++;
}

static void first_byte(const struct tsl_fake_run *run)
{
    tsl_fake_touch(run, 0, 0, 1, true);
}

static void register_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};

    tsl_fake_kernel("look", read_body, 1, kinds, (const unsigned[]){TSL_MAY_READ});
    tsl_fake_kernel("touch", touch_body, 1, kinds, (const unsigned[]){TSL_MAY_WRITE});
    tsl_fake_kernel_traits("touch", &(struct tsl_fake_traits){.touch = first_byte});
}

static void run(const char *name, struct tsl_buffer *buffer)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL};
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

/* The same offset on both sides. */
static struct tsl_box_copy box(size_t offset, size_t size)
{
    return (struct tsl_box_copy){.region = {size, 1, 1}, .dst_offset = offset, .src_offset = offset};
}

static void put(struct tsl_buffer *buffer, size_t offset, size_t size)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy where = box(offset, size);

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &where), CL_SUCCESS);
}

static void get(struct tsl_buffer *buffer, size_t offset, size_t size)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy where = box(offset, size);

    assert_int_equal(tsl_enqueue_read(&e, buffer, back, &where), CL_SUCCESS);
}

static void finish(void)
{
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
}

/* ---- The machine ---- */

static void begin_like(unsigned n, struct tsl_fake_member member)
{
    static const char *const text = "kernel look a\nkernel touch a\n";
    struct tsl_fake_setup setup = {.n_members = n, .threads = true};
    struct tsl_device *device = tsl_device_root();

    for (unsigned i = 0; i < n; i++)
        setup.members[i] = member;
    register_kernels();
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &text, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7);
    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, bytes, NULL, &a), CL_SUCCESS);
    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, bytes, NULL, &b), CL_SUCCESS);
}

static void begin(unsigned n, bool peer)
{
    begin_like(n, (struct tsl_fake_member){.gates = true, .peer = peer});
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&a->object);
    tsl_object_release(&b->object);
    tsl_object_release(&program->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    end_core();
    return 0;
}

/* Bytes that went each way since the last call, over all members. */
static void assert_moved(uint64_t up, uint64_t down, uint64_t across)
{
    uint64_t sums[TSL_FAKE_N_KINDS] = {0};

    finish();
    for (unsigned i = 0; i < TSL_FAKE_MAX_MEMBERS; i++)
        for (unsigned kind = 0; kind < TSL_FAKE_N_KINDS; kind++)
            sums[kind] += tsl_fake_counts(i).did_size[kind];
    assert_int_equal(sums[TSL_FAKE_DID_WRITE], up);
    assert_int_equal(sums[TSL_FAKE_DID_READ], down);
    assert_int_equal(sums[TSL_FAKE_DID_PEER], across);
    tsl_fake_reset_counts();
}

/* ---- Tests ---- */

/* A chain of kernels on one member: its data goes there once, and no thread of ours is woken. */
static void test_chain(void **state)
{
    unsigned long wakes;

    (void)state;
    begin(1, false);
    run("touch", a);
    assert_moved(SIZE, 0, 0);
    wakes = tsl_worker_wakes;
    for (unsigned i = 0; i < 1000; i++)
        run("touch", a);
    assert_moved(0, 0, 0);
    assert_int_equal(tsl_worker_wakes, wakes);
    get(a, 0, 1);
    assert_int_equal(back[0], (unsigned char)1001);
    assert_moved(0, 1, 0);
}

/* Of a buffer that is there already only what the host changed goes there again. */
static void test_part(void **state)
{
    (void)state;
    begin(2, false);
    run("look", a);
    run("look", a);
    assert_moved(2 * SIZE, 0, 0);
    put(a, 8192, 4096);
    run("look", a);
    assert_moved(4096, 0, 0);
    run("look", a);
    assert_moved(4096, 0, 0);
    for (unsigned i = 0; i < 10; i++)
        run("look", a);
    assert_moved(0, 0, 0);
}

/* Readers share: what one member fetched the other keeps; a writer takes it away from the others. */
static void test_readers_and_writers(void **state)
{
    (void)state;
    begin(2, false);
    run("look", a);
    run("look", a);
    run("look", a);
    assert_moved(2 * SIZE, 0, 0);
    run("touch", a); /* member 1 has all of it: nothing to fetch */
    assert_moved(0, 0, 0);
    run("look", a); /* member 0's copy is stale now */
    assert_moved(SIZE, SIZE, 0);
    run("look", a);
    assert_moved(0, 0, 0);
}

/* May write is not must write: a kernel that says WRITE gets the old bytes. A fill and a whole write say must. */
static void test_overwrites(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_FILL_BUFFER};
    unsigned char zero = 0;

    (void)state;
    begin(2, false);
    run("touch", a);
    assert_moved(SIZE, 0, 0);
    get(a, 1, SIZE - 1);
    assert_memory_equal(back + 1, bytes + 1, SIZE - 1);
    assert_moved(0, SIZE - 1, 0);
    e.queue = queue;
    assert_int_equal(tsl_enqueue_fill(&e, a, &zero, 1, 0, SIZE), CL_SUCCESS);
    assert_moved(0, 0, 0);
    put(a, 0, SIZE);
    assert_moved(0, 0, 0); /* the reader's place isn't known: it waits on the host */
    run("look", a);
    assert_moved(SIZE, 0, 0);
}

/* A box whose rows lie apart is filled by one operation, and what it meets stays in one piece: it is read by one. */
static void test_boxes(void **state)
{
    struct tsl_box_copy rows = {.region = {16, 8, 4}, .dst_offset = 32, .dst_row_pitch = 64, .dst_slice_pitch = 8 * 64};
    struct tsl_enqueue e = {.type = CL_COMMAND_FILL_BUFFER};
    struct tsl_fake_counts counts;

    (void)state;
    begin(1, false);
    e.queue = queue;
    run("touch", a);
    finish();
    tsl_fake_reset_counts();
    assert_int_equal(tsl_enqueue_fill_box(&e, a, "ab", 2, &rows), CL_SUCCESS);
    get(a, 0, SIZE);
    counts = tsl_fake_counts(0);
    assert_int_equal(counts.did[TSL_FAKE_DID_FILL], 1);
    assert_int_equal(counts.did_size[TSL_FAKE_DID_FILL], 16 * 8 * 4);
    assert_int_equal(counts.did[TSL_FAKE_DID_READ], 1);
    for (size_t i = 1; i < SIZE; i++)
        assert_int_equal(back[i], i < 4 * 8 * 64 && i % 64 >= 32 && i % 64 < 48 ? "ab"[i % 2] : bytes[i]);
}

/* Between members with a way to each other bytes don't touch the host. */
static void test_peers(void **state)
{
    (void)state;
    begin(2, true);
    run("touch", a);
    assert_moved(SIZE, 0, 0);
    run("touch", a);
    assert_moved(0, 0, SIZE);
    get(a, 0, 1);
    assert_int_equal(back[0], 2);
}

/* Buffers of which nobody speaks don't move. */
static void test_others_stay(void **state)
{
    (void)state;
    begin(2, false);
    run("touch", a);
    run("look", a);
    assert_moved(2 * SIZE, SIZE, 0);
    run("touch", b);
    assert_moved(SIZE, 0, 0);
    get(a, 100, 50);
    assert_memory_equal(back + 100, bytes + 100, 50);
    assert_moved(0, 0, 0); /* the host has a copy of it since it went through there */
}

/* A fully mapped write is fetched, an invalidating one isn't; an unmapped range goes where it is read. */
static void test_maps(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    void *ptr;

    (void)state;
    begin(1, false);
    e.queue = queue;
    run("touch", a);
    assert_moved(SIZE, 0, 0);
    assert_int_equal(tsl_enqueue_map(&e, a, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4096, &ptr), CL_SUCCESS);
    assert_moved(0, 0, 0);
    memset(ptr, 3, 4096);
    e.type = CL_COMMAND_UNMAP_MEM_OBJECT;
    assert_int_equal(tsl_enqueue_unmap(&e, a, ptr), CL_SUCCESS);
    run("touch", a);
    assert_moved(4096, 0, 0);
    e.type = CL_COMMAND_MAP_BUFFER;
    assert_int_equal(tsl_enqueue_map(&e, a, CL_MAP_READ, 0, 8192, &ptr), CL_SUCCESS);
    assert_moved(0, 8192, 0);
    assert_int_equal(*(unsigned char *)ptr, 4);
    assert_memory_equal((unsigned char *)ptr + 4096, bytes + 4096, 4096);
    assert_int_equal(tsl_enqueue_unmap(&e, a, ptr), CL_SUCCESS);
    run("look", a); /* a map for reading leaves the member's copy valid */
    assert_moved(0, 0, 0);
}

/* Operations that have ended, and the drivers' events with them, aren't kept for the host's copies that they moved. */
static void test_host_forgets(void **state)
{
    struct tsl_enqueue e = {0};
    void *ptr;

    (void)state;
    begin(2, false);
    e = (struct tsl_enqueue){.queue = queue, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    run("touch", a);
    run("touch", a);
    assert_int_equal(tsl_enqueue_map(&e, a, CL_MAP_READ, 0, SIZE, &ptr), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_unmap(&e, a, ptr), CL_SUCCESS);
    get(a, 0, SIZE);
    finish();
    tsl_lock_take(&context->graph->lock);
    assert_int_equal(context->graph->host_map.n, 0);
    tsl_lock_give(&context->graph->lock);
}

/* Members that work on the host's memory: nothing moves, whoever takes turns. */
static void test_zero_copy(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    unsigned char *ptr;

    (void)state;
    begin_like(2, (struct tsl_fake_member){.gates = true, .zero_copy = true});
    e.queue = queue;
    for (unsigned i = 0; i < 4; i++)
        run("touch", a);
    assert_int_equal(tsl_enqueue_map(&e, a, CL_MAP_READ | CL_MAP_WRITE, 0, SIZE, (void **)&ptr), CL_SUCCESS);
    assert_int_equal(ptr[0], 4);
    ptr[0] = 100;
    e.type = CL_COMMAND_UNMAP_MEM_OBJECT;
    assert_int_equal(tsl_enqueue_unmap(&e, a, ptr), CL_SUCCESS);
    run("touch", a);
    run("touch", a);
    finish();
    assert_int_equal(ptr[0], 102);
    assert_moved(0, 0, 0);
    assert_int_equal(tsl_fake_live().mem_size, 0);
    get(a, 0, 1); /* by the lane of the member that was there last: no other order is needed */
    assert_int_equal(back[0], 102);
    assert_moved(0, 1, 0);
}

/* A read or write that names the buffer's own host memory moves no more than what lacks there. */
static void test_in_place(void **state)
{
    static unsigned char own[SIZE];
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = box(0, SIZE);
    struct tsl_buffer *buffer;

    (void)state;
    begin(1, false);
    e.queue = queue;
    memcpy(own, bytes, SIZE);
    assert_int_equal(tsl_buffer_create(context, CL_MEM_USE_HOST_PTR, SIZE, own, NULL, &buffer), CL_SUCCESS);
    run("touch", buffer);
    assert_moved(SIZE, 0, 0);
    assert_int_equal(tsl_enqueue_read(&e, buffer, own, &all), CL_SUCCESS);
    assert_int_equal(own[0], 1);
    assert_moved(0, SIZE, 0);
    assert_int_equal(tsl_enqueue_read(&e, buffer, own, &all), CL_SUCCESS);
    assert_moved(0, 0, 0);
    own[0] = 9;
    e.type = CL_COMMAND_WRITE_BUFFER;
    assert_int_equal(tsl_enqueue_write(&e, buffer, own, &all), CL_SUCCESS);
    run("touch", buffer);
    assert_moved(SIZE, 0, 0);
    get(buffer, 0, 1);
    assert_int_equal(back[0], 10);
    tsl_object_release(&buffer->object);
}

/* ---- Writes that wait for their reader ---- */

static void put_later(struct tsl_buffer *buffer, size_t offset, size_t size)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_WRITE_BUFFER};
    struct tsl_box_copy where = box(offset, size);

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &where), CL_SUCCESS);
}

static struct tsl_buffer *fresh(void)
{
    struct tsl_buffer *buffer;

    assert_int_equal(tsl_buffer_create(context, 0, SIZE, NULL, NULL, &buffer), CL_SUCCESS);
    return buffer;
}

static bool has_host_copy(const struct tsl_buffer *buffer)
{
    return buffer->data->host != NULL;
}

/* From the application's memory to where the kernel is; the host has no copy, not even memory for one. */
static void test_write_to_reader(void **state)
{
    struct tsl_buffer *x, *y;

    (void)state;
    begin(2, false);
    x = fresh();
    y = fresh();
    put_later(x, 0, SIZE / 2);
    put_later(x, SIZE / 2, SIZE / 2);
    put_later(y, 0, SIZE);
    assert_moved(0, 0, 0); /* That finishes: these had nobody to go to. */
    assert_true(has_host_copy(x) && has_host_copy(y));
    tsl_object_release(&x->object);
    x = fresh();
    put_later(x, 0, SIZE / 2);
    put_later(x, SIZE / 2, SIZE / 2);
    run("touch", x);
    run("look", a); /* Of no interest to who was written. */
    assert_moved(2 * SIZE, 0, 0);
    assert_false(has_host_copy(x));
    get(x, 0, SIZE);
    assert_int_equal(back[0], bytes[0] + 1);
    assert_memory_equal(back + 1, bytes + 1, SIZE - 1);
    tsl_object_release(&x->object);
    tsl_object_release(&y->object);
}

/* What a kernel needs only a part of goes by way of the host; what overwrites it comes after it everywhere. */
static void test_write_to_other_readers(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_WRITE_BUFFER};
    struct tsl_box_copy where = box(0, 1);
    struct tsl_buffer *x, *part;
    unsigned char last = 77;

    (void)state;
    begin(2, false);
    x = fresh();
    assert_int_equal(tsl_buffer_create_sub(x, 0, 0, SIZE / 2, &part), CL_SUCCESS);
    put_later(x, 0, SIZE);
    run("look", part);
    assert_moved(SIZE / 2, 0, 0);
    assert_true(has_host_copy(x));
    put_later(x, 0, SIZE);
    e.queue = queue;
    assert_int_equal(tsl_enqueue_write(&e, x, &last, &where), CL_SUCCESS);
    run("look", x);
    assert_moved(SIZE + 1, 0, 0);
    get(x, 0, SIZE);
    assert_int_equal(back[0], 77);
    assert_memory_equal(back + 1, bytes + 1, SIZE - 1);
    tsl_object_release(&part->object);
    tsl_object_release(&x->object);
}

/* An unmap that is sure to fail, but must wait for its turn to say so: from its place in the queue on nothing is
 * mapped, and the host's copy is none that stays valid. */
static void test_failed_unmap(void **state)
{
    struct tsl_enqueue e = {.blocking = true, .type = CL_COMMAND_MAP_BUFFER};
    struct tsl_event *event, *wait;
    void *ptr;

    (void)state;
    begin_like(2, (struct tsl_fake_member){.gates = true, .delay_ns = 20000000});
    e.queue = queue;
    assert_int_equal(tsl_enqueue_map(&e, a, CL_MAP_READ | CL_MAP_WRITE, 0, SIZE, &ptr), CL_SUCCESS);
    run("touch", b);
    assert_int_equal(tsl_event_create_user(context, &event), CL_SUCCESS);
    e = (struct tsl_enqueue){.queue = queue, .type = CL_COMMAND_BARRIER};
    assert_int_equal(tsl_enqueue_marker(&e, true), CL_SUCCESS);
    e = (struct tsl_enqueue){
        .queue = queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT, .n_wait = 1, .wait = &event, .event = &wait};
    assert_int_equal(tsl_enqueue_unmap(&e, a, ptr), CL_SUCCESS);
    run("touch", a);
    assert_int_equal(tsl_event_set_user(event, -1), CL_SUCCESS);
    get(a, 0, 1);
    assert_int_equal(back[0], (unsigned char)(bytes[0] + 1));
    assert_int_equal(tsl_event_status(wait), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    tsl_object_release(&event->object);
    tsl_object_release(&wait->object);
}

/* A kernel that might have written, but couldn't run, as its input didn't come: the bytes are what they were, and where
 * they were. */
static void test_failed_fetch(void **state)
{
    (void)state;
    begin(2, false);
    run("touch", a);
    finish();
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    run("touch", a);
    run("touch", a);
    assert_true(tsl_queue_finish(queue) < 0);
    get(a, 0, SIZE);
    assert_int_equal(back[0], (unsigned char)(bytes[0] + 1));
    assert_memory_equal(back + 1, bytes + 1, SIZE - 1);
    run("touch", a);
    get(a, 0, 1);
    assert_int_equal(back[0], (unsigned char)(bytes[0] + 2));
}

/* Of two ranges that come as one transfer the first doesn't: its error is told, not that the second came after it. */
static void test_failed_piece(void **state)
{
    struct tsl_buffer *parts[2];

    (void)state;
    begin(2, true);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tsl_buffer_create_sub(a, CL_MEM_READ_WRITE, i * SIZE / 2, 1024, &parts[i]), CL_SUCCESS);
    run("look", b); /* Members take turns: this one has the parts, and the other one the rest. */
    run("look", a);
    run("touch", parts[0]);
    run("look", b);
    run("touch", parts[1]);
    assert_moved(2 * SIZE, 0, SIZE + 2 * 1024);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, -9001);
    run("look", a);
    assert_int_equal(tsl_queue_finish(queue), -9001);
    run("look", b);
    run("look", a);
    assert_moved(0, 0, 2 * 1024);
    get(a, 0, SIZE);
    assert_int_equal(back[0], (unsigned char)(bytes[0] + 1));
    assert_int_equal(back[SIZE / 2], (unsigned char)(bytes[SIZE / 2] + 1));
    for (unsigned i = 0; i < 2; i++)
        tsl_object_release(&parts[i]->object);
}

#define TEST(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_chain),
        TEST(test_part),
        TEST(test_readers_and_writers),
        TEST(test_overwrites),
        TEST(test_boxes),
        TEST(test_peers),
        TEST(test_others_stay),
        TEST(test_maps),
        TEST(test_host_forgets),
        TEST(test_zero_copy),
        TEST(test_failed_unmap),
        TEST(test_failed_fetch),
        TEST(test_failed_piece),
        TEST(test_in_place),
        TEST(test_write_to_reader),
        TEST(test_write_to_other_readers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
