/* Launches whose shares may write anywhere, on members of a domain: what they write is spread over the members, one
 * copy for all, and the program sees what it would see of one device. */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
#include "base/clock.h"
#include "base/settings.h"
#include "footprint_bed.h"
#include "graph/copies.h"
#include "graph/evict_now.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"

#define SIZE 1024u

/* ---- Kernels ---- */

static unsigned ran_on; /* members, bits */

/* Item i writes byte (i * 5 + value) mod SIZE: each byte once, by whichever share. */
static void scatter_body(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    ran_on |= 1u << run->member;
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[(i * 5 + value) % SIZE] = (unsigned char)(i + value);
}

static void scatter_touch(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++) {
        uint32_t value;

        memcpy(&value, run->args[1].value, sizeof value);
        tsl_fake_touch(run, 0, (i * 5 + value) % SIZE, 1, true);
    }
}

/* Items with odd numbers alone, which leave the other bytes as they were. */
static void sparse_body(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    ran_on |= 1u << run->member;
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        if (i % 2)
            ((unsigned char *)run->args[0].ptr)[(i * 5 + value) % SIZE] = (unsigned char)(i + value);
}

/* Each item adds to its own byte. */
static void update_body(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    ran_on |= 1u << run->member;
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[i] += (unsigned char)value;
}

/* Reads alone. */
static void look_body(const struct tsl_fake_run *run)
{
    ran_on |= 1u << run->member;
}

static void name_kernels(void)
{
    static struct bed scatter, update, count, turns, look;
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    const unsigned roles[] = {TSL_MAY_READ | TSL_MAY_WRITE, 0};

    bed_begin(&scatter, 2);
    bed_access(&scatter, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE)->flags = 0;
    bed_begin(&update, 2);
    bed_access(&update, 0, TSL_ACCESS_READ, 1, bed_leaf(&update, TSL_NODE_GLOBAL_ID, 0));
    bed_access(&update, 0, TSL_ACCESS_WRITE, 1, bed_leaf(&update, TSL_NODE_GLOBAL_ID, 0));
    bed_begin(&count, 2);
    bed_access(&count, 0, TSL_ACCESS_ATOMIC, 1, bed_leaf(&count, TSL_NODE_GLOBAL_ID, 0));
    tsl_fake_kernel("scatter", scatter_body, 2, kinds, roles);
    tsl_fake_kernel_traits("scatter",
                           &(struct tsl_fake_traits){.footprint = &scatter.footprint, .touch = scatter_touch});
    tsl_fake_kernel("sparse", sparse_body, 2, kinds, roles);
    tsl_fake_kernel_traits("sparse",
                           &(struct tsl_fake_traits){.footprint = &scatter.footprint, .touch = scatter_touch});
    tsl_fake_kernel("update", update_body, 2, kinds, roles);
    tsl_fake_kernel_traits("update", &(struct tsl_fake_traits){.footprint = &update.footprint});
    bed_begin(&turns, 2);
    bed_access(&turns, 0, TSL_ACCESS_ATOMIC, 1, bed_leaf(&turns, TSL_NODE_GLOBAL_ID, 0))->flags |= TSL_ACCESS_RESULT;
    bed_access(&turns, 0, TSL_ACCESS_READ, 1,
               bed_two(&turns, TSL_NODE_ADD, bed_leaf(&turns, TSL_NODE_GLOBAL_ID, 0), bed_constant(&turns, 64, 1)));
    tsl_fake_kernel("turns", update_body, 2, kinds, roles);
    tsl_fake_kernel_traits("turns", &(struct tsl_fake_traits){.footprint = &turns.footprint});
    bed_begin(&look, 2);
    bed_access(&look, 0, TSL_ACCESS_READ, 1, bed_leaf(&look, TSL_NODE_GLOBAL_ID, 0));
    tsl_fake_kernel("look", look_body, 2, kinds, (const unsigned[]){TSL_MAY_READ, 0});
    tsl_fake_kernel_traits("look", &(struct tsl_fake_traits){.footprint = &look.footprint});
    tsl_fake_kernel("count", update_body, 2, kinds, roles);
    tsl_fake_kernel_traits("count", &(struct tsl_fake_traits){.footprint = &count.footprint});
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_buffer *buffer; /* of zeros */
static unsigned char model[SIZE];
static tsl_members takers; /* may take launches */

static void begin_with(const struct tsl_fake_member *machine, unsigned n)
{
    name_kernels();
    timed_begin(&t, machine, n,
                "kernel scatter a,s\nkernel sparse a,s\nkernel update a,s\nkernel count a,s\nkernel turns a,s\n"
                "kernel look a,s\n",
                0);
    buffer = timed_buffer(&t, SIZE);
    memset(model, 0, sizeof model);
    ran_on = 0;
    takers = (1u << n) - 1;
}

static void begin(unsigned n, uint64_t memory)
{
    struct tsl_fake_member member = {
        .item_ns = 1000, .gates = true, .side_by_side = true, .peer = true, .domain = 1, .memory_size = memory};
    begin_with((struct tsl_fake_member[]){member, member, member, member}, n);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    timed_end(&t);
    return 0;
}

static struct tsl_kernel *make_kernel(const char *name, uint32_t value)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(t.program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    return kernel;
}

static void launch_items(struct tsl_kernel *kernel, tsl_members members, size_t n)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n, 1, 1}, .local_size = {16, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, members), CL_SUCCESS);
}

static void launch_on(struct tsl_kernel *kernel, tsl_members members)
{
    launch_items(kernel, members, SIZE);
}

static void launch(const char *name, uint32_t value)
{
    struct tsl_kernel *kernel = make_kernel(name, value);

    launch_on(kernel, takers);
    tsl_object_release(&kernel->object);
    for (unsigned i = 0; i < SIZE; i++)
        if (!strcmp(name, "sparse") && i % 2 == 0)
            continue;
        else if (name[0] == 's')
            model[(i * 5 + value) % SIZE] = (unsigned char)(i + value);
        else
            model[i] += (unsigned char)value;
}

static void assert_right(void)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};
    unsigned char bytes[SIZE];

    assert_int_equal(tsl_enqueue_read(&e, buffer, bytes, &box), CL_SUCCESS);
    assert_memory_equal(bytes, model, SIZE);
}

static bool is_spread(void)
{
    return tsl_spread_is(tsl_data_of(buffer)->spread);
}

/* ---- Tests ---- */

static void shares_write_anywhere(void **state)
{
    (void)state;
    begin(2, 0);
    launch("scatter", 3);
    assert_right();
    assert_true(is_spread());
    assert_int_equal(ran_on, 3);
}

/* What is spread serves all kinds of commands, and launches of any rung, in order. */
static void a_long_program(void **state)
{
    (void)state;
    begin(4, 0);
    for (uint32_t i = 0; i < 40; i++)
        launch(i % 3 ? "update" : "scatter", i);
    assert_right();
    assert_int_equal(ran_on, 15);
    for (uint32_t i = 0; i < 10; i++) {
        struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
        struct tsl_box_copy box = {.region = {100, 1, 1}, .dst_offset = i * 75};
        unsigned char bytes[100];

        memset(bytes, (int)i, sizeof bytes);
        assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &box), CL_SUCCESS);
        memset(model + i * 75, (int)i, sizeof bytes);
        launch("update", 1);
        launch("scatter", 7 * i);
    }
    assert_right();
}

/* The bytes that were on one member before come along. */
static void what_a_member_had_comes_along(void **state)
{
    (void)state;
    begin(3, 0);
    launch("update", 9); /* in exact shares: each member has a part */
    assert_false(is_spread());
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    launch("sparse", 1);
    launch("update", 2);
    assert_true(is_spread());
    assert_right();
}

/* A launch that was planned before the object was spread works on the member's own copy, though it reaches the driver
 * later: where there are no gates, when the moves before it are done. */
static void what_is_on_its_way_comes_along(void **state)
{
    struct tsl_fake_member member = {.item_ns = 1000, .side_by_side = true, .peer = true, .domain = 1};

    (void)state;
    begin_with((struct tsl_fake_member[]){member, member, member}, 3);
    launch("update", 9);
    takers = 1;
    launch("update", 4);
    takers = 7;
    launch("sparse", 1);
    assert_true(is_spread());
    launch("update", 2);
    assert_right();
}

/* Where a member's own copy didn't come along, it stays until it does. */
static void what_did_not_come_along_stays(void **state)
{
    (void)state;
    begin(3, 0);
    launch("update", 9);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    struct tsl_kernel *kernel = make_kernel("sparse", 1);
    launch_on(kernel, 7);
    tsl_object_release(&kernel->object);
    assert_true(tsl_queue_finish(t.queue) < 0);
    assert_true(is_spread());
    assert_right();
    launch("sparse", 2);
    assert_right();
}

/* A part that kernels were given before has memory in both, each while it is used. */
static void parts_come_along(void **state)
{
    (void)state;
    begin(2, 0);
    struct tsl_buffer *root = buffer, *part;
    assert_int_equal(tsl_buffer_create_sub(root, 0, 256, 512, &part), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        struct tsl_kernel *kernel;
        buffer = part;
        kernel = make_kernel("update", 1 + i);
        launch_items(kernel, takers, 512);
        tsl_object_release(&kernel->object);
        for (unsigned k = 256; k < 768; k++)
            model[k] += (unsigned char)(1 + i);
        buffer = root;
        launch("sparse", 1 + i);
        assert_true(is_spread());
    }
    assert_right();
    tsl_object_release(&part->object);
}

/* Arguments that a member was given before are bound anew: the object has another memory there now. The fake driver
 * sees to that. */
static void arguments_are_bound_anew(void **state)
{
    (void)state;
    begin(2, 0);
    struct tsl_kernel *kernel = make_kernel("scatter", 3);
    launch_on(kernel, 1u << 0);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_false(is_spread());
    launch_on(kernel, 3);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_true(is_spread());
    tsl_object_release(&kernel->object);
}

/* Memory that is short goes home and comes again. */
static void it_can_be_evicted(void **state)
{
    struct tsl_buffer *others[6];

    (void)state;
    begin(2, 3 * SIZE);
    launch("scatter", 5);
    assert_right();
    assert_true(is_spread());
    struct tsl_buffer *first = buffer;
    unsigned char saved[SIZE];
    memcpy(saved, model, SIZE);
    for (unsigned i = 0; i < 6; i++) {
        buffer = others[i] = timed_buffer(&t, SIZE);
        memset(model, 0, SIZE);
        launch(i % 2 ? "update" : "scatter", i + 1);
        assert_right();
    }
    buffer = first;
    memcpy(model, saved, SIZE);
    assert_right();
    launch("scatter", 11);
    assert_right();
    for (unsigned i = 0; i < 6; i++)
        tsl_object_release(&others[i]->object);
}

/* Takes the room of a member for other objects. */
static void fill_member(unsigned member, struct tsl_buffer **others, unsigned n)
{
    struct tsl_buffer *first = buffer;
    tsl_members all = takers;
    unsigned char saved[SIZE];

    memcpy(saved, model, SIZE);
    takers = 1u << member;
    for (unsigned i = 0; i < n; i++) {
        buffer = others[i] = timed_buffer(&t, SIZE);
        launch("update", i + 1);
    }
    buffer = first;
    takers = all;
    memcpy(model, saved, SIZE);
}

static void assert_filled(struct tsl_buffer **others, unsigned n)
{
    struct tsl_buffer *first = buffer;
    unsigned char saved[SIZE];

    memcpy(saved, model, SIZE);
    for (unsigned i = 0; i < n; i++) {
        buffer = others[i];
        memset(model, (int)i + 1, SIZE);
        assert_right();
        tsl_object_release(&others[i]->object);
    }
    buffer = first;
    memcpy(model, saved, SIZE);
}

/* What went home is as if it had never been spread: one member works on a copy of its own, and it may be spread again.
 */
static void what_was_evicted_is_ordinary(void **state)
{
    struct tsl_buffer *others[3];

    (void)state;
    begin(2, 3 * SIZE);
    launch("scatter", 5);
    assert_true(is_spread());
    fill_member(0, others, 3);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_false(is_spread());
    assert_null(tsl_data_of(buffer)->spread->mems[0]);
    takers = 2;
    launch("update", 3);
    assert_true(tsl_data_of(buffer)->residences[1].resident);
    takers = 3;
    launch("update", 4);
    assert_false(is_spread());
    assert_right();
    assert_filled(others, 3);
    launch("sparse", 6);
    assert_true(is_spread());
    launch("update", 1);
    assert_right();
}

/* Nobody waits: each launch works on the memory for which it was planned, though the object has left it since, and come
 * back, and left again. */
static void it_leaves_and_comes_back_on_the_way(void **state)
{
    struct tsl_buffer *others[4][3];

    (void)state;
    begin(2, 3 * SIZE);
    for (unsigned i = 0; i < 4; i++) {
        launch("sparse", i);
        launch("update", 2);
        fill_member(i % 2, others[i], 3);
        if (i == 1)
            launch("update", 5);
    }
    launch("sparse", 9);
    assert_right();
    for (unsigned i = 0; i < 4; i++)
        assert_filled(others[i], 3);
}

/* While its eviction waits for a launch that reads it, the object is ordinary for the next ones. */
static void what_is_leaving_is_ordinary(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MIGRATE_MEM_OBJECTS};
    struct tsl_buffer *others[3];

    (void)state;
    begin(2, 3 * SIZE);
    launch("scatter", 5);
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_migrate(&e, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_true(is_spread());
    struct tsl_kernel *kernel = make_kernel("look", 0);
    launch_on(kernel, 3);
    tsl_object_release(&kernel->object);
    fill_member(0, others, 3);
    assert_false(is_spread());
    takers = 2;
    launch("update", 3);
    assert_right();
    for (unsigned i = 0; i < 3; i++)
        tsl_object_release(&others[i]->object);
}

/* What could not go home is there alone, so the object stays spread. */
static void what_can_not_go_home_stays(void **state)
{
    struct tsl_buffer *others[3];

    (void)state;
    begin(2, 3 * SIZE);
    launch("scatter", 5);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    fill_member(0, others, 2);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    fill_member(0, others + 2, 1);
    tsl_queue_finish(t.queue);
    assert_true(is_spread());
    assert_right();
    launch("sparse", 2);
    assert_right();
    for (unsigned i = 0; i < 3; i++)
        tsl_object_release(&others[i]->object);
}

/* Others have taken a member's memory, so the launch that would spread the object fails, as any does whose member has
 * no room; later ones find it ordinary. */
static void others_take_the_room_of_a_part(void **state)
{
    struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .side_by_side = true, .domain = 1};
    struct tsl_mem *taken;

    (void)state;
    member.memory_size = 2 * SIZE;
    member.told_size = 1 << 30;
    begin_with((struct tsl_fake_member[]){member, member}, 2);
    launch("update", 3);
    assert_right();
    struct tsl_member *second = t.context->graph->ports[1].member;
    assert_int_equal(second->driver->mem_alloc(second, SIZE, 0, NULL, &taken), CL_SUCCESS);
    struct tsl_kernel *kernel = make_kernel("sparse", 1);
    launch_on(kernel, 3);
    tsl_object_release(&kernel->object);
    tsl_queue_finish(t.queue);
    takers = 1;
    launch("update", 2);
    assert_false(is_spread());
    assert_right();
    second->driver->mem_free(taken);
    takers = 3;
    launch("sparse", 2);
    assert_right();
}

/* A member is lost, and with it a part of the memory; the bytes are on the host, too. */
static void a_member_of_it_is_lost(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MIGRATE_MEM_OBJECTS};

    (void)state;
    begin(2, 0);
    launch("scatter", 3);
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_migrate(&e, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_true(is_spread());
    tsl_fake_lose(1, 0);
    struct tsl_kernel *kernel = make_kernel("update", 0);
    launch_on(kernel, 2);
    tsl_object_release(&kernel->object);
    assert_true(tsl_queue_finish(t.queue) < 0);
    takers = 1;
    launch("update", 2);
    assert_false(is_spread());
    assert_right();
}

/* A member with less memory gets less of each object: launches whose objects the other one could hold must have room.
 */
static void parts_go_by_memory(void **state)
{
    struct tsl_fake_member small = {.item_ns = 1000, .gates = true, .side_by_side = true, .domain = 1}, large = small;

    (void)state;
    small.memory_size = 2 * SIZE;
    large.memory_size = 4 * SIZE;
    begin_with((struct tsl_fake_member[]){small, large}, 2);
    launch("sparse", 3);
    assert_true(is_spread());
    const struct tsl_spread *spread = tsl_data_of(buffer)->spread;
    assert_int_equal(spread->sizes[0], SIZE / 4);
    assert_int_equal(spread->sizes[1], SIZE / 4 * 3);
    assert_right();
}

/* The driver says which member has no room for its part: there room is made, whichever asked. */
static void room_is_made_where_it_lacks(void **state)
{
    struct tsl_fake_member home = {.item_ns = 1000, .gates = true, .side_by_side = true, .domain = 1}, other = home;
    struct tsl_buffer *others[2];

    (void)state;
    other.memory_size = 2 * SIZE;
    other.told_size = 1 << 30;
    begin_with((struct tsl_fake_member[]){home, other}, 2);
    struct tsl_buffer *last = buffer;
    takers = 2;
    for (unsigned i = 0; i < 2; i++) {
        buffer = others[i] = timed_buffer(&t, SIZE);
        launch("update", 1);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    }
    takers = 3;
    buffer = last;
    memset(model, 0, sizeof model);
    launch("sparse", 3);
    assert_true(is_spread());
    assert_right();
    for (unsigned i = 0; i < 2; i++) {
        buffer = others[i];
        memset(model, 1, sizeof model);
        assert_right();
        tsl_object_release(&others[i]->object);
    }
    buffer = last;
}

/* Where the members' atomic operations on each other's memory are whole. */
static void atomics_are_done_by_all(void **state)
{
    struct tsl_fake_member member = {
        .item_ns = 1000, .gates = true, .side_by_side = true, .peer = true, .domain = 1, .domain_atomics = true};

    (void)state;
    begin_with((struct tsl_fake_member[]){member, member}, 2);
    for (uint32_t i = 1; i < 4; i++)
        launch("count", i);
    assert_right();
    assert_true(is_spread());
    assert_int_equal(ran_on, 3);
}

/* A work-item may find out that another share's are through, and look at what these have left. */
static void whoever_looks_at_others_runs_whole(void **state)
{
    struct tsl_fake_member member = {
        .item_ns = 1000, .gates = true, .side_by_side = true, .peer = true, .domain = 1, .domain_atomics = true};

    (void)state;
    begin_with((struct tsl_fake_member[]){member, member}, 2);
    launch("turns", 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_false(is_spread());
    assert_true(ran_on == 1 || ran_on == 2);
}

static void atomics_run_whole(void **state)
{
    (void)state;
    begin(2, 0);
    launch("count", 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_false(is_spread());
    assert_true(ran_on == 1 || ran_on == 2);
}

static void without_a_domain_it_runs_whole(void **state)
{
    struct tsl_fake_member one = {.item_ns = 1000, .gates = true, .side_by_side = true, .no_combine = true};
    struct tsl_fake_member other = one;

    (void)state;
    one.domain = 1;
    other.domain = 2;
    begin_with((struct tsl_fake_member[]){one, other}, 2);
    launch("scatter", 3);
    assert_right();
    assert_false(is_spread());
    assert_true(ran_on == 1 || ran_on == 2);
}

/* A share that fails fails the launch; later work finds the memory in order. */
static void a_share_fails(void **state)
{
    (void)state;
    begin(2, 0);
    launch("scatter", 3);
    assert_right();
    tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, CL_OUT_OF_RESOURCES);
    launch("update", 1);
    assert_true(tsl_queue_finish(t.queue) < 0);
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};
    memset(model, 7, SIZE);
    assert_int_equal(tsl_enqueue_write(&e, buffer, model, &box), CL_SUCCESS);
    launch("scatter", 2);
    assert_right();
}

#define test(name) cmocka_unit_test_teardown(name, end)

/* ---- Without a setting ---- */

/* One of a domain. */
static const struct tsl_fake_member peer = {.name = "fake",
                                            .item_ns = 10000,
                                            .gates = true,
                                            .side_by_side = true,
                                            .peer = true,
                                            .domain = 1,
                                            .domain_atomics = true};

/* Enqueues it for both members; its event's status. */
static cl_int status_of(const char *name)
{
    struct tsl_kernel *kernel = make_kernel(name, 1);
    struct tsl_window window = {.work_dim = 1, .global_size = {SIZE, 1, 1}, .local_size = {16, 1, 1}, .whole = true};
    struct tsl_event *event;
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = &event};
    cl_int status;

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, 3), CL_SUCCESS);
    tsl_object_release(&kernel->object);
    tsl_queue_finish(t.queue);
    status = tsl_event_status(event);
    tsl_object_release(&event->object);
    return status;
}

/* Its parts were evicted, and others have the room of one now: what was cut by the rung `domain` runs whole. */
static void refused_launches_run_whole(void **state)
{
    struct tsl_fake_member member = peer;
    struct tsl_mem *taken[64];
    unsigned n_taken = 0, n_failed = 0;

    (void)state;
    member.memory_size = 4 * SIZE;
    member.told_size = 1 << 30;
    begin_with((struct tsl_fake_member[]){member, member}, 2);
    for (uint32_t i = 1; i < 40 && !is_spread(); i++) {
        launch("count", i);
        assert_right();
    }
    assert_true(is_spread());
    struct tsl_graph *g = t.context->graph;
    struct tsl_member *second = g->ports[1].member;
    tsl_lock_take(&g->lock);
    while (tsl_evict_now_idle(g, &g->ports[1], second))
        ;
    tsl_lock_give(&g->lock);
    while (n_taken < 64 && second->driver->mem_alloc(second, 256, 0, NULL, &taken[n_taken]) == CL_SUCCESS)
        n_taken++;
    for (unsigned i = 0; i < 12; i++)
        n_failed += status_of("count") != CL_COMPLETE;
    assert_in_range(n_failed, 0, 1);
    for (unsigned i = 0; i < n_taken; i++)
        second->driver->mem_free(taken[i]);
}

/* The rung comes last, once the kernel is known. */
static void small_objects_that_atomics_change_are_spread(void **state)
{
    (void)state;
    begin_with((struct tsl_fake_member[]){peer, peer}, 2);
    for (uint32_t i = 1; i < 40 && !is_spread(); i++) {
        launch("count", i);
        assert_right();
    }
    launch("count", 1);
    assert_right();
    assert_true(is_spread());
    assert_int_equal(ran_on, 3);
}

static int run_auto(void)
{
    const struct CMUnitTest tests[] = {test(small_objects_that_atomics_change_are_spread),
                                       test(refused_launches_run_whole)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(shares_write_anywhere),
        test(a_long_program),
        test(what_a_member_had_comes_along),
        test(what_is_on_its_way_comes_along),
        test(what_did_not_come_along_stays),
        test(parts_come_along),
        test(arguments_are_bound_anew),
        test(it_can_be_evicted),
        test(what_was_evicted_is_ordinary),
        test(it_leaves_and_comes_back_on_the_way),
        test(what_is_leaving_is_ordinary),
        test(what_can_not_go_home_stays),
        test(others_take_the_room_of_a_part),
        test(a_member_of_it_is_lost),
        test(parts_go_by_memory),
        test(room_is_made_where_it_lacks),
        test(atomics_are_done_by_all),
        test(whoever_looks_at_others_runs_whole),
        test(atomics_run_whole),
        test(without_a_domain_it_runs_whole),
        test(a_share_fails),
    };

    if (!tsl_split_always(tsl_settings()->split))
        return run_auto();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
