/* Members' memory is finite: who was used longest ago gives up its place, and nothing is lost. The fake members hold
 * three buffers (HELD); they watch that nothing is freed while it is used. */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "core_end.h"
#include "driver/fake.h"
#include "graph/graph.h"
#include "members/members.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "object/svm.h"
#include "program/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SIZE  4096u
#define HELD  3u
#define MANY  30u
#define ROOM  (HELD * SIZE)
#define PLAIN ((struct tsl_fake_member){.memory_size = ROOM, .gates = true})

/* A context with what is in it. */
struct bed {
    struct tsl_context *context;
    struct tsl_queue *queue;
    struct tsl_program *program;
    struct tsl_buffer *buffers[MANY];
};

static struct bed bed, other;
static unsigned char back[SIZE];

/* ---- Kernels ---- */

static void look_body(const struct tsl_fake_run *run)
{
    (void)run;
}

static void add_body(const struct tsl_fake_run *run)
{
    unsigned char *p = run->args[0].ptr;

    for (size_t i = 0; i < run->args[0].size; i++)
        p[i]++;
}

static void sum_body(const struct tsl_fake_run *run)
{
    unsigned char *to = run->args[0].ptr, *from = run->args[1].ptr;

    for (size_t i = 0; i < run->args[0].size; i++)
        to[i] = (unsigned char)(to[i] + from[i]);
}

static void register_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static const unsigned read[] = {TSL_MAY_READ}, both[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ};

    tsl_fake_kernel("look", look_body, 1, kinds, read);
    tsl_fake_kernel("add", add_body, 1, kinds, both);
    tsl_fake_kernel("sum", sum_body, 2, kinds, both);
}

static struct tsl_kernel *kernel_with(struct bed *b, const char *name, struct tsl_buffer *first,
                                      struct tsl_buffer *second)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(b->program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    if (second)
        assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    return kernel;
}

static cl_int launch(struct bed *b, struct tsl_kernel *kernel)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = b->queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    return tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible);
}

static cl_int run(struct bed *b, const char *name, struct tsl_buffer *first, struct tsl_buffer *second)
{
    struct tsl_kernel *kernel = kernel_with(b, name, first, second);
    cl_int error = launch(b, kernel);

    tsl_object_release(&kernel->object);
    return error;
}

static void must_run(struct bed *b, const char *name, unsigned i)
{
    assert_int_equal(run(b, name, b->buffers[i], NULL), CL_SUCCESS);
}

static void finish(struct bed *b)
{
    assert_int_equal(tsl_queue_finish(b->queue), CL_SUCCESS);
}

/* What a buffer holds at the beginning, plus so much. */
static void fill(unsigned char *bytes, size_t size, unsigned seed, unsigned plus)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 5 + seed * 31 + plus);
}

static void assert_holds(struct bed *b, unsigned i, unsigned plus)
{
    struct tsl_enqueue e = {.queue = b->queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};
    unsigned char expected[SIZE];

    fill(expected, SIZE, i, plus);
    assert_int_equal(tsl_enqueue_read(&e, b->buffers[i], back, &all), CL_SUCCESS);
    assert_memory_equal(back, expected, SIZE);
}

/* ---- The machine ---- */

static void open_bed(struct bed *b, unsigned n_buffers)
{
    static const char *const text = "kernel look a\nkernel add a\nkernel sum a,b\n";
    struct tsl_device *device = tsl_device_root();
    unsigned char bytes[SIZE];

    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &b->context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(b->context, device, 0, NULL, 0, &b->queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(b->context, 1, &text, NULL, &b->program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(b->program, NULL, "", NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < n_buffers; i++) {
        fill(bytes, SIZE, i, 0);
        assert_int_equal(tsl_buffer_create(b->context, CL_MEM_COPY_HOST_PTR, SIZE, bytes, NULL, &b->buffers[i]),
                         CL_SUCCESS);
    }
}

static void begin(const struct tsl_fake_member *members, unsigned n, unsigned n_buffers)
{
    struct tsl_fake_setup setup = {.n_members = n, .threads = true};

    memcpy(setup.members, members, n * sizeof *members);
    register_kernels();
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    open_bed(&bed, n_buffers);
}

static void close_bed(struct bed *b)
{
    for (unsigned i = 0; i < MANY; i++)
        if (b->buffers[i])
            tsl_object_release(&b->buffers[i]->object);
    tsl_object_release(&b->program->object);
    tsl_queue_let_go(b->queue);
    tsl_object_release(&b->queue->object);
    tsl_object_release(&b->context->object);
    memset(b, 0, sizeof *b);
}

static int end(void **state)
{
    (void)state;
    close_bed(&bed);
    end_core();
    return 0;
}

/* Bytes to and from all members since the last call. */
static void assert_moved(uint64_t up, uint64_t down)
{
    uint64_t to = 0, from = 0;

    for (unsigned i = 0; i < TSL_FAKE_MAX_MEMBERS; i++) {
        to += tsl_fake_counts(i).did_size[TSL_FAKE_DID_WRITE];
        from += tsl_fake_counts(i).did_size[TSL_FAKE_DID_READ];
    }
    assert_int_equal(to, up);
    assert_int_equal(from, down);
    tsl_fake_reset_counts();
}

/* ---- Tests ---- */

/* All of it is enqueued before any of it is waited for. */
static void run_thirty(struct tsl_fake_member member)
{
    begin(&member, 1, MANY);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < MANY; i++)
            must_run(&bed, "add", i);
    finish(&bed);
    assert_true(tsl_fake_live().mem_size <= ROOM);
    for (unsigned i = 0; i < MANY; i++)
        assert_holds(&bed, i, 3);
}

static void test_thirty(void **state)
{
    (void)state;
    run_thirty(PLAIN);
}

static void test_thirty_lazily(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.lazy_memory = true;
    run_thirty(member);
}

static void test_thirty_inside_the_call(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.submits_block = true;
    run_thirty(member);
}

/* The member says that it has more than is left: only its refusals tell. */
static void test_thirty_unforeseen(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.told_size = MANY * SIZE;
    run_thirty(member);
}

static void test_thirty_unforeseen_lazily(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.told_size = MANY * SIZE;
    member.lazy_memory = true;
    run_thirty(member);
}

/* Two members of which each holds three: buffers are written by turns. */
static void test_thirty_on_two(void **state)
{
    struct tsl_fake_member members[2] = {PLAIN, PLAIN};

    (void)state;
    begin(members, 2, MANY);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < MANY - 1; i++)
            assert_int_equal(run(&bed, "add", bed.buffers[i], NULL), CL_SUCCESS);
    finish(&bed);
    for (unsigned i = 0; i < MANY - 1; i++)
        assert_holds(&bed, i, 3);
}

/* Who was used longest ago goes, and only what the host lacks is copied to it. */
static void test_coldest_first(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    begin(&member, 1, 6);
    must_run(&bed, "look", 0);
    must_run(&bed, "add", 1);
    must_run(&bed, "look", 2);
    must_run(&bed, "look", 0);
    finish(&bed);
    assert_moved(3 * SIZE, 0);
    must_run(&bed, "look", 3); /* 1 goes: only the member had it */
    finish(&bed);
    assert_moved(SIZE, SIZE);
    must_run(&bed, "look", 4); /* 2 goes: the host has it too */
    finish(&bed);
    assert_moved(SIZE, 0);
    must_run(&bed, "look", 0);
    must_run(&bed, "look", 3);
    finish(&bed);
    assert_moved(0, 0);
    assert_holds(&bed, 1, 1);
    must_run(&bed, "add", 1);
    assert_holds(&bed, 1, 2);
}

/* A place that a command needs isn't taken for another of its arguments. */
static void test_arguments_stay(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.memory_size = 2 * SIZE;
    begin(&member, 1, 4);
    must_run(&bed, "look", 1); /* now the coldest */
    must_run(&bed, "look", 2);
    finish(&bed);
    tsl_fake_reset_counts();
    assert_int_equal(run(&bed, "sum", bed.buffers[0], bed.buffers[1]), CL_SUCCESS);
    finish(&bed);
    assert_moved(SIZE, 0);
}

/* The same arguments are bound to other memory after an eviction; the driver watches that it is told so. */
static void test_bound_again(void **state)
{
    struct tsl_fake_member member = PLAIN;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&member, 1, HELD + 1);
    kernel = kernel_with(&bed, "add", bed.buffers[0], NULL);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(launch(&bed, kernel), CL_SUCCESS);
        assert_int_equal(launch(&bed, kernel), CL_SUCCESS);
        for (unsigned i = 1; i <= HELD; i++)
            must_run(&bed, "look", i);
    }
    assert_holds(&bed, 0, 6);
    tsl_object_release(&kernel->object);
}

/* Parts go with the whole, and come again with it. */
static void test_parts(void **state)
{
    struct tsl_fake_member member = PLAIN;
    struct tsl_buffer *part[2];
    unsigned char expected[SIZE];
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};

    (void)state;
    begin(&member, 1, HELD + 1);
    e.queue = bed.queue;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tsl_buffer_create_sub(bed.buffers[0], CL_MEM_READ_WRITE, 1024 * i, 1024, &part[i]),
                         CL_SUCCESS);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(run(&bed, "add", part[0], NULL), CL_SUCCESS);
        assert_int_equal(run(&bed, "sum", part[1], part[0]), CL_SUCCESS);
        for (unsigned i = 1; i <= HELD; i++)
            must_run(&bed, "add", i);
    }
    finish(&bed);
    fill(expected, SIZE, 0, 0);
    for (size_t i = 0; i < 1024; i++) {
        expected[1024 + i] = (unsigned char)(expected[1024 + i] + 3 * expected[i] + 1 + 2 + 3);
        expected[i] = (unsigned char)(expected[i] + 3);
    }
    assert_int_equal(tsl_enqueue_read(&e, bed.buffers[0], back, &all), CL_SUCCESS);
    assert_memory_equal(back, expected, SIZE);
    tsl_object_release(&part[0]->object);
    tsl_object_release(&part[1]->object);
}

/* What another context left lying in the member's memory goes; what the member alone has is not lost. */
static void test_other_context(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    begin(&member, 1, HELD);
    for (unsigned i = 0; i < HELD; i++)
        must_run(&bed, "add", i);
    finish(&bed);
    open_bed(&other, HELD);
    for (unsigned i = 0; i < HELD; i++)
        must_run(&other, "add", i);
    finish(&other);
    for (unsigned i = 0; i < HELD; i++)
        must_run(&bed, "add", i);
    finish(&bed);
    for (unsigned i = 0; i < HELD; i++) {
        assert_holds(&bed, i, 2);
        assert_holds(&other, i, 1);
    }
    close_bed(&other);
}

/* Kernels go where there is memory for them; where there never can be, the call says so. */
static void test_too_big(void **state)
{
    struct tsl_fake_member members[2] = {PLAIN, PLAIN};
    struct tsl_enqueue e = {.type = CL_COMMAND_COPY_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};
    unsigned char expected[SIZE];

    (void)state;
    members[0].memory_size = SIZE;
    begin(members, 2, 4);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(run(&bed, "sum", bed.buffers[0], bed.buffers[1]), CL_SUCCESS);
    assert_int_equal(run(&bed, "sum", bed.buffers[0], bed.buffers[0]), CL_SUCCESS);
    finish(&bed);
    assert_true(tsl_fake_counts(1).did[TSL_FAKE_DID_LAUNCH] >= 3);
    tsl_fake_reset_counts();
    end(NULL);

    begin(members, 1, 4);
    assert_int_equal(run(&bed, "sum", bed.buffers[0], bed.buffers[1]), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(run(&bed, "add", bed.buffers[0], NULL), CL_SUCCESS);
    e.queue = bed.queue; /* A copy of two that the member can't hold at once is the host's work. */
    assert_int_equal(tsl_enqueue_copy(&e, bed.buffers[0], bed.buffers[1], &all), CL_SUCCESS);
    assert_int_equal(run(&bed, "add", bed.buffers[1], NULL), CL_SUCCESS);
    e.type = CL_COMMAND_READ_BUFFER;
    assert_int_equal(tsl_enqueue_read(&e, bed.buffers[1], back, &all), CL_SUCCESS);
    fill(expected, SIZE, 0, 2);
    assert_memory_equal(back, expected, SIZE);
}

/* Shared virtual memory is there already for members that know its addresses; others need a copy, and room for it. */
static void test_region_too_big(void **state)
{
    struct tsl_fake_member members[2] = {PLAIN, PLAIN};
    struct tsl_buffer *buffer, *region;
    char *bytes;
    size_t at;

    (void)state;
    members[0].svm = true;
    begin(members, 2, 1);
    bytes = tsl_svm_alloc(bed.context, CL_MEM_READ_WRITE, 2 * ROOM, 0);
    assert_non_null(bytes);
    memset(bytes, 1, 2 * ROOM);
    region = tsl_svm_find(bed.context, bytes, 1, &at);
    assert_int_equal(tsl_svm_buffer_create(region, CL_MEM_USE_HOST_PTR, 0, 2 * ROOM, NULL, &buffer), CL_SUCCESS);
    tsl_object_unref(&region->object);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(run(&bed, "add", buffer, NULL), CL_SUCCESS);
    finish(&bed);
    for (size_t i = 0; i < 2 * ROOM; i++)
        assert_int_equal(bytes[i], 5);
    assert_int_equal(tsl_fake_counts(1).did[TSL_FAKE_DID_LAUNCH], 0);
    tsl_object_release(&buffer->object);
    assert_true(tsl_svm_free(bed.context, bytes));
}

/* The copy that should have saved a victim fails: the bytes stay where they are. */
static void test_not_saved(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    begin(&member, 1, HELD + 1);
    for (unsigned i = 0; i < HELD; i++)
        must_run(&bed, "add", i);
    finish(&bed);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    must_run(&bed, "add", HELD); /* 0 should go, and can't: then 1 does */
    finish(&bed);
    for (unsigned i = 0; i <= HELD; i++)
        assert_holds(&bed, i, 1);
    for (unsigned i = 0; i <= HELD; i++)
        must_run(&bed, "add", i);
    for (unsigned i = 0; i <= HELD; i++)
        assert_holds(&bed, i, 2);
}

/* A launch fails, and so do the copy that should have saved its buffer before an eviction, the one that should have
 * brought the buffer back, and a launch behind that. The buffer's new memory was never filled: nobody reads it. */
static void test_not_back(void **state)
{
    struct tsl_fake_member member = PLAIN;
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};
    unsigned char expected[SIZE];

    (void)state;
    member.delay_ns = 20000000; /* Nothing of it has ended before all is planned. */
    begin(&member, 1, 1 + HELD);
    e.queue = bed.queue;
    tsl_fake_fail_call(0, TSL_FAKE_LAUNCH, 2, CL_OUT_OF_RESOURCES);
    for (unsigned n = 0; n < 2; n++)
        must_run(&bed, "add", 0);
    for (unsigned i = 1; i <= HELD; i++)
        must_run(&bed, "add", i);
    must_run(&bed, "add", 0);
    assert_int_not_equal(tsl_queue_finish(bed.queue), CL_SUCCESS);
    fill(expected, SIZE, 0, 1);
    if (tsl_enqueue_read(&e, bed.buffers[0], back, &all) == CL_SUCCESS)
        assert_memory_equal(back, expected, SIZE);
    for (unsigned i = 1; i <= HELD; i++)
        assert_holds(&bed, i, 1);
}

static void run_on(unsigned member, const char *name, unsigned i)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = bed.queue, .type = CL_COMMAND_NDRANGE_KERNEL};
    struct tsl_kernel *kernel = kernel_with(&bed, name, bed.buffers[i], NULL);

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, 1u << member), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

/* Bytes on their way from one member to another are to go on to the host from there, as both have no room for them any
 * more; then it turns out that they never get to the second. They are where they were. */
static void run_not_brought(bool again)
{
    struct tsl_fake_member member = PLAIN;

    member.peer = true;
    member.delay_ns = 20000000; /* Nothing of it has ended before all is planned. */
    begin((struct tsl_fake_member[]){member, member}, 2, 1 + 2 * HELD);
    run_on(0, "add", 0);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    run_on(1, "look", 0);
    for (unsigned i = 1; i <= HELD; i++)
        run_on(0, "look", i);
    for (unsigned i = 1; i <= HELD; i++)
        run_on(1, "look", HELD + i);
    if (again) /* From the host it is to come back. */
        run_on(1, "look", 0);
    assert_int_not_equal(tsl_queue_finish(bed.queue), CL_SUCCESS);
    assert_holds(&bed, 0, 1);
}

static void test_not_brought(void **state)
{
    (void)state;
    run_not_brought(false);
}

static void test_not_brought_again(void **state)
{
    (void)state;
    run_not_brought(true);
}

/* Buffers are released while their evictions are on the way. */
static void test_released_meanwhile(void **state)
{
    struct tsl_fake_member member = PLAIN;

    (void)state;
    member.delay_ns = 20000;
    begin(&member, 1, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        must_run(&bed, "add", i);
        if (i >= HELD && i % 3) {
            tsl_object_release(&bed.buffers[i - HELD]->object);
            bed.buffers[i - HELD] = NULL;
        }
    }
    finish(&bed);
    for (unsigned i = 0; i < MANY; i++)
        if (bed.buffers[i])
            assert_holds(&bed, i, 1);
}

#define TEST(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_thirty),
        TEST(test_thirty_lazily),
        TEST(test_thirty_inside_the_call),
        TEST(test_thirty_unforeseen),
        TEST(test_thirty_unforeseen_lazily),
        TEST(test_thirty_on_two),
        TEST(test_coldest_first),
        TEST(test_arguments_stay),
        TEST(test_bound_again),
        TEST(test_parts),
        TEST(test_other_context),
        TEST(test_too_big),
        TEST(test_region_too_big),
        TEST(test_not_saved),
        TEST(test_not_back),
        TEST(test_not_brought),
        TEST(test_not_brought_again),
        TEST(test_released_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
