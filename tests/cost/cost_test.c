/*
 * A command, tile or object costs the same however many others there are. Each row does n things at once, for three n,
 * and what is counted is how often the core goes from one basic block to the next, which the compiler tells: it is the
 * same on any machine, at any load. Twice as many may take a little more than twice as much, and far less than four
 * times.
 */
/* timeout: 120 */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off */
#include "counted.h"
#include "test.h"
#include "timed.h"

#include <stdlib.h>

#define PIECE 64u
#define LEAST 100u /* n; then twice, and four times */
#define MOST  (4 * LEAST)

static struct timed bed;
static unsigned char bytes[2 * MOST * PIECE];
static struct tsl_buffer *buffers[MOST + 1];
static struct tsl_event *events[MOST];
static unsigned long begun, counted;

static void begin_count(void)
{
    begun = counted_blocks;
}

static void end_count(void)
{
    counted = counted_blocks - begun;
}

/* ---- Calls ---- */

static void must(cl_int error)
{
    assert_int_equal(error, CL_SUCCESS);
}

static struct tsl_buffer *buffer_of(size_t size)
{
    struct tsl_buffer *buffer;
    must(tsl_buffer_create(bed.context, CL_MEM_READ_WRITE, size, NULL, NULL, &buffer));
    return buffer;
}

static struct tsl_enqueue call(cl_command_type type)
{
    return (struct tsl_enqueue){.queue = bed.queue, .type = type};
}

static void fill(struct tsl_buffer *buffer, size_t offset)
{
    struct tsl_enqueue e = call(CL_COMMAND_FILL_BUFFER);
    must(tsl_enqueue_fill(&e, buffer, "tile", 4, offset, PIECE));
}

static void read_to(struct tsl_buffer *buffer, size_t offset, size_t size, void *to)
{
    struct tsl_enqueue e = call(CL_COMMAND_READ_BUFFER);
    struct tsl_box_copy box = {.region = {size, 1, 1}, .src_offset = offset};
    must(tsl_enqueue_read(&e, buffer, to, &box));
}

static void write_from(struct tsl_buffer *buffer, const void *from)
{
    struct tsl_enqueue e = call(CL_COMMAND_WRITE_BUFFER);
    struct tsl_box_copy box = {.region = {PIECE, 1, 1}};
    must(tsl_enqueue_write(&e, buffer, from, &box));
}

static void marker(bool barrier, cl_uint n, struct tsl_event **wait, struct tsl_event **event)
{
    struct tsl_enqueue e = call(barrier ? CL_COMMAND_BARRIER : CL_COMMAND_MARKER);
    e.n_wait = n;
    e.wait = wait;
    e.event = event;
    must(tsl_enqueue_marker(&e, barrier));
}

static void launch(const char *kernel, struct tsl_buffer *a, struct tsl_buffer *b, struct tsl_event **event)
{
    struct tsl_buffer *args[] = {a, b};
    timed_launch(&bed, kernel, 1, b ? 2 : 1, args, 0, event);
}

static void release(struct tsl_event *event)
{
    tsl_object_release(&event->object);
}

/* All that follows in the queue is held until the event is set. */
static struct tsl_event *gate(void)
{
    struct tsl_event *event;
    must(tsl_event_create_user(bed.context, &event));
    marker(true, 1, &event, NULL);
    return event;
}

static void open_gate(struct tsl_event *event)
{
    must(tsl_event_set_user(event, CL_COMPLETE));
    release(event);
}

static void CL_CALLBACK task(void *args)
{
    (void)args;
}

/* What uses the buffer on a member waits for the host, and isn't with a driver until then. */
static void host_task(struct tsl_buffer *buffer)
{
    struct tsl_enqueue e = call(CL_COMMAND_NATIVE_KERNEL);
    void **args = calloc(1, sizeof(*args));
    struct tsl_buffer **list = malloc(sizeof(*list));
    assert_true(args && list);
    *list = buffer;
    must(tsl_enqueue_native(&e, task, args, 1, list, (void **const[]){args}));
    free(list);
}

static void make_buffers(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buffers[i] = buffer_of(PIECE);
}

static void drop_buffers(unsigned n)
{
    timed_finish(&bed);
    for (unsigned i = 0; i < n; i++)
        tsl_object_release(&buffers[i]->object);
}

/* ---- Rows ---- */

static void held(unsigned n)
{
    make_buffers(1);
    begin_count();
    struct tsl_event *event = gate();
    for (unsigned i = 0; i < n; i++)
        fill(buffers[0], 0);
    open_gate(event);
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void held_reads(unsigned n)
{
    make_buffers(1);
    fill(buffers[0], 0);
    begin_count();
    struct tsl_event *event = gate();
    for (unsigned i = 0; i < n; i++)
        read_to(buffers[0], 0, PIECE, bytes + i * PIECE);
    open_gate(event);
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void own_places(unsigned n)
{
    buffers[0] = buffer_of(2 * n * PIECE);
    begin_count();
    for (unsigned i = 0; i < n; i++)
        fill(buffers[0], 2 * i * PIECE);
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void readers_of_one(unsigned n)
{
    make_buffers(n + 1);
    begin_count();
    host_task(buffers[n]);
    for (unsigned i = 0; i < n; i++)
        launch("sum", buffers[i], buffers[n], NULL);
    launch("add", buffers[n], NULL, NULL);
    timed_finish(&bed);
    end_count();
    drop_buffers(n + 1);
}

/* Kernels and host tasks in turns. */
static void turns(unsigned n)
{
    make_buffers(1);
    begin_count();
    struct tsl_event *event = gate();
    for (unsigned i = 0; i < n / 2; i++) {
        launch("add", buffers[0], NULL, NULL);
        host_task(buffers[0]);
    }
    open_gate(event);
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void markers(unsigned n)
{
    make_buffers(1);
    begin_count();
    struct tsl_event *event = gate();
    for (unsigned i = 0; i < n; i++)
        marker(i % 8 == 0, 0, NULL, NULL);
    open_gate(event);
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void long_wait_list(unsigned n)
{
    struct tsl_event *all;
    make_buffers(n + 1);
    host_task(buffers[n]);
    begin_count();
    for (unsigned i = 0; i < n; i++)
        launch("sum", buffers[i], buffers[n], &events[i]);
    marker(false, n, events, &all);
    for (unsigned i = 0; i < n; i++)
        launch("add", buffers[i], NULL, NULL);
    must(tsl_events_wait(1, &all));
    must(tsl_events_wait(n, events));
    timed_finish(&bed);
    for (unsigned i = 0; i < n; i++)
        release(events[i]);
    release(all);
    end_count();
    drop_buffers(n + 1);
}

static void writes_first(unsigned n)
{
    make_buffers(n);
    begin_count();
    for (unsigned i = 0; i < n; i++)
        write_from(buffers[i], bytes + i * PIECE);
    for (unsigned i = 0; i < n; i++)
        launch("add", buffers[i], NULL, NULL);
    timed_finish(&bed);
    end_count();
    drop_buffers(n);
}

static void opaque(unsigned n)
{
    make_buffers(2);
    begin_count();
    host_task(buffers[0]);
    for (unsigned i = 0; i < n / 2; i++) {
        launch("dark", buffers[0], NULL, NULL);
        launch("add", buffers[i % 2], NULL, NULL);
    }
    timed_finish(&bed);
    end_count();
    drop_buffers(2);
}

/* Every second piece is somewhere else: a command over all needs that many moves. */
static void many_moves(unsigned n)
{
    struct tsl_buffer *all = buffer_of(2 * n * PIECE);
    fill(all, 0);
    launch("add", all, NULL, NULL);
    timed_finish(&bed);
    for (unsigned i = 0; i < n; i++) {
        must(tsl_buffer_create_sub(all, 0, 2 * i * PIECE, PIECE, &buffers[i]));
        host_task(buffers[i]);
    }
    timed_finish(&bed);
    begin_count();
    read_to(all, 0, 2 * n * PIECE, bytes);
    launch("add", all, NULL, NULL);
    timed_finish(&bed);
    end_count();
    drop_buffers(n);
    tsl_object_release(&all->object);
}

/* Pieces of one buffer, mapped all at once; step: the order of the unmaps, a number that has no divisor in common
 * with n. */
static void map_pieces(unsigned n, cl_map_flags flags, unsigned step, bool between)
{
    static void *ptrs[MOST];
    struct tsl_enqueue map = call(CL_COMMAND_MAP_BUFFER), unmap = call(CL_COMMAND_UNMAP_MEM_OBJECT);
    buffers[0] = buffer_of(2 * n * PIECE);
    begin_count();
    for (unsigned i = 0; i < n; i++)
        must(tsl_enqueue_map(&map, buffers[0], flags, 2 * i * PIECE, PIECE, &ptrs[i]));
    for (unsigned i = 0; between && i < n; i++)
        fill(buffers[0], (2 * i + 1) * PIECE);
    for (unsigned i = 0; i < n; i++)
        must(tsl_enqueue_unmap(&unmap, buffers[0], ptrs[(i + 1) * step % n]));
    timed_finish(&bed);
    end_count();
    drop_buffers(1);
}

static void maps(unsigned n)
{
    map_pieces(n, CL_MAP_WRITE, n - 1, false); /* The newest first: the others are looked for. */
}

static void maps_oldest_first(unsigned n)
{
    map_pieces(n, CL_MAP_WRITE, 1, false);
}

static void maps_to_read(unsigned n)
{
    map_pieces(n, CL_MAP_READ, 37, false);
}

/* What is written beside them must leave them alone. */
static void work_between_maps(unsigned n)
{
    map_pieces(n, CL_MAP_WRITE, 37, true);
}

/* Each takes the place of another: the members hold eight. */
static void evictions(unsigned n)
{
    make_buffers(n);
    begin_count();
    for (unsigned i = 0; i < 2 * n; i++)
        launch("add", buffers[i % n], NULL, NULL);
    timed_finish(&bed);
    end_count();
    drop_buffers(n);
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *arg)
{
    (void)event;
    (void)status;
    (void)arg;
}

static void callbacks(unsigned n)
{
    begin_count();
    struct tsl_event *event, *done;
    must(tsl_event_create_user(bed.context, &event));
    marker(false, 1, &event, &done);
    for (unsigned i = 0; i < n; i++)
        must(tsl_event_callback(done, CL_COMPLETE, called, NULL));
    open_gate(event);
    timed_finish(&bed);
    end_count();
    release(done);
}

static void objects(unsigned n)
{
    begin_count();
    make_buffers(n);
    drop_buffers(n);
    end_count();
}

static const struct row {
    const char *name;
    void (*run)(unsigned n);
    size_t memory_size; /* of a member; 0: plenty */
} rows[] = {
    {"command, held", held, 0},
    {"read of one range, held", held_reads, 0},
    {"command on its own range", own_places, 0},
    {"reader of one buffer that the host writes", readers_of_one, 0},
    {"kernel and host task in turns", turns, 0},
    {"marker and barrier", markers, 0},
    {"event of a wait list", long_wait_list, 0},
    {"write without a reader yet", writes_first, 0},
    {"kernel with effects unknown", opaque, 0},
    {"move of one command", many_moves, 0},
    {"range mapped", maps, 0},
    {"range mapped, the oldest unmapped first", maps_oldest_first, 0},
    {"range mapped to read", maps_to_read, 0},
    {"range filled beside mapped ones", work_between_maps, 0},
    {"eviction", evictions, 8 * PIECE},
    {"callback", callbacks, 0},
    {"buffer", objects, 0},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- The machine ---- */

static void nothing(const struct tsl_fake_run *run)
{
    (void)run;
}

static void register_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ};

    tsl_fake_kernel("add", nothing, 1, kinds, access);
    tsl_fake_kernel("sum", nothing, 2, kinds, access);
    tsl_fake_kernel("dark", nothing, 1, kinds, access);
    tsl_fake_kernel_traits("dark", &(struct tsl_fake_traits){.opaque = true});
}

static unsigned long count(const struct row *row, unsigned n, cl_command_queue_properties properties)
{
    struct tsl_fake_member members[2] = {{.gates = true, .memory_size = row->memory_size},
                                         {.gates = true, .memory_size = row->memory_size}};
    register_kernels();
    timed_begin(&bed, members, 2, "kernel add a\nkernel sum a,b\nkernel dark a\n", properties);
    row->run(n);
    timed_end(&bed);
    return counted;
}

/* How many times what the first n more took the next 2n more took; in hundredths. */
static unsigned long growth(const struct row *row, cl_command_queue_properties properties)
{
    unsigned long a = count(row, LEAST, properties);
    unsigned long b = count(row, 2 * LEAST, properties);
    unsigned long c = count(row, 4 * LEAST, properties);
    unsigned long hundredths = (c - b) * 100 / (b - a);

    print_message("%-42s %8lu %8lu %8lu  each %5lu  grows %lu.%02lu\n", row->name, a, b, c, (c - b) / (2 * LEAST),
                  hundredths / 100, hundredths % 100);
    return hundredths;
}

/* 2.00 is linear; four times and more is what each one costs growing with n. */
#define MOST_GROWTH 260

static void check(cl_command_queue_properties properties)
{
    unsigned n_steep = 0;
    for (unsigned i = 0; i < N_ROWS; i++)
        n_steep += growth(&rows[i], properties) > MOST_GROWTH;
    assert_int_equal(n_steep, 0);
}

static void test_in_order(void **state)
{
    (void)state;
    check(0);
}

static void test_out_of_order(void **state)
{
    (void)state;
    check(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

static void test_profiling(void **state)
{
    (void)state;
    check(CL_QUEUE_PROFILING_ENABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_profiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
