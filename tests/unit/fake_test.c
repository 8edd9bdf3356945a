/* The fake driver does what the driver contract says, in both of its modes. */
#include "fake_bed.h"

#include "base/clock.h"

/* ---- The contract is kept ---- */

/* Bytes go out, are changed on the member, and come back; a rectangle is cut out rightly. */
static void test_copies(void **state)
{
    unsigned char out[SIZE], in[SIZE] = {0}, box[6] = {0};
    struct tsl_copy rectangle = {
        .dst = {.host = box, .row_pitch = 3}, .src = {.mem = NULL, .offset = 17, .row_pitch = 16}, .region = {3, 2, 1}};

    (void)state;
    begin_manual(1);
    for (unsigned i = 0; i < SIZE; i++)
        out[i] = (unsigned char)i;
    assert_int_equal(copy(lane[0], at(mem[0], 0), host(out), SIZE, NULL, NULL), CL_SUCCESS);
    fill(lane[0], mem[0], 4, 2, 99, NULL, NULL);
    assert_int_equal(copy(lane[0], at(mem[0], 100), at(mem[0], 4), 2, NULL, NULL), CL_SUCCESS);
    assert_int_equal(copy(lane[0], host(in), at(mem[0], 0), SIZE, NULL, NULL), CL_SUCCESS);
    rectangle.src.mem = mem[0];
    assert_int_equal(d->copy(lane[0], &rectangle, NULL, NULL), CL_SUCCESS);
    assert_int_equal(d->finish(lane[0]), CL_SUCCESS);
    out[4] = out[5] = out[100] = out[101] = 99;
    assert_memory_equal(in, out, SIZE);
    assert_memory_equal(box, ((unsigned char[]){17, 18, 19, 33, 34, 35}), 6);
    end();
}

/* Nothing runs before its lane is flushed, whatever steps are made. */
static void test_nothing_runs_unflushed(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, SIZE, 1, NULL, &fence);
    assert_false(tsl_fake_step(0));
    assert_true(tsl_fake_busy());
    assert_int_equal(d->fence_status(fence), CL_QUEUED);
    assert_int_equal(d->flush(lane[0]), CL_SUCCESS);
    assert_int_equal(d->fence_status(fence), CL_SUBMITTED);
    assert_true(tsl_fake_step(0));
    assert_int_equal(d->fence_status(fence), CL_RUNNING);
    assert_true(tsl_fake_step(0));
    assert_int_equal(d->fence_status(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    end();
}

/* A launch computes on the member's own copy; fresh memory of another member holds no copy of it. */
static void test_memory_is_separate(void **state)
{
    int from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {0}, stale[8] = {0}, seven = 7;
    struct tsl_dprogram *program;
    struct tsl_dkernel *add;
    struct tsl_mem *source;
    struct tsl_window window = {.work_dim = 1, .global_size = {8, 1, 1}, .local_size = {2, 1, 1}, .whole = true};

    (void)state;
    begin_manual(2);
    program = build(0, "# a comment\nkernel add to,from,value\n");
    add = kernel_of(program, "add");
    assert_int_equal(d->mem_alloc(member[0], sizeof from, 0, NULL, &source), CL_SUCCESS);
    copy(lane[0], at(source, 0), host(from), sizeof from, NULL, NULL);
    assert_int_equal(
        d->launch(lane[0],
                  &(struct tsl_launch){
                      add,
                      &(struct tsl_bound_args){
                          .serial = next_serial++,
                          .n = 3,
                          .args = (struct tsl_bound_arg[]){{.kind = TSL_ARG_MEM, .mem = mem[0]},
                                                           {.kind = TSL_ARG_MEM, .mem = source},
                                                           {.kind = TSL_ARG_VALUE, .size = 4, .value = &seven}}},
                      &window},
                  NULL, NULL),
        CL_SUCCESS);
    copy(lane[0], host(to), at(mem[0], 0), sizeof to, NULL, NULL);
    copy(lane[1], host(stale), at(mem[1], 0), sizeof stale, NULL, NULL);
    assert_int_equal(d->finish(lane[0]), CL_SUCCESS);
    assert_int_equal(d->finish(lane[1]), CL_SUCCESS);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(to[i], from[i] + 7);
    assert_memory_not_equal(to, stale, sizeof to);
    d->mem_free(source);
    d->kernel_free(add);
    d->program_free(program);
    end();
}

/* Two lanes of one member run in any order unless a wait orders them: over many seeds both orders are seen. */
static void test_lanes_are_independent(void **state)
{
    unsigned first_wins = 0;

    (void)state;
    for (unsigned seed = 0; seed < 64; seed++) {
        struct tsl_fake_record record;

        begin(&(struct tsl_fake_setup){.n_members = 1, .seed = seed});
        fill(lane[0], mem[0], 0, 8, 1, NULL, NULL);
        fill(other_lane, mem[0], 8, 8, 2, NULL, NULL);
        d->flush(lane[0]);
        d->flush(other_lane);
        tsl_fake_run(false);
        assert_true(tsl_fake_record(0, &record));
        first_wins += record.id == 1;
        end();
    }
    assert_in_range(first_wins, 10, 54);
}

/* In the order of time, speeds and bandwidths decide: two members' work overlaps, one member's kernels don't. */
static void test_virtual_time(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2, .in_time = true};
    struct tsl_fence *fence[3];
    struct tsl_times times[3];
    uint64_t begun;

    (void)state;
    setup.members[0].delay_ns = setup.members[1].delay_ns = 1000;
    setup.members[1].bandwidth = 1000000000;
    begin(&setup);
    begun = tsl_clock_ns();
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence[0]);
    fill(other_lane, mem[0], 8, 8, 2, NULL, &fence[1]);
    fill(lane[1], mem[1], 0, 8, 2, NULL, &fence[2]);
    d->flush(other_lane);
    d->flush(lane[1]);
    d->flush(lane[0]);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(d->fence_wait(fence[i]), CL_COMPLETE);
        assert_int_equal(d->fence_times(fence[i], &times[i]), CL_SUCCESS);
        tsl_fence_unref(fence[i]);
    }
    assert_int_equal(times[2].start_ns, begun);
    assert_int_equal(times[2].end_ns, begun + 1008);
    assert_true(times[0].start_ns == times[1].end_ns || times[1].start_ns == times[0].end_ns);
    assert_int_equal(tsl_clock_ns(), begun + 2000);
    end();
    assert_true(tsl_clock_ns() > begun + 1000000); /* the real clock is back */
}

static void count_notify(void *arg, cl_int status)
{
    int *told = arg;

    *told += status == CL_COMPLETE ? 1 : 100;
}

/* Each notification comes once: later, or at once for what is complete; in manual mode by a step of its own. */
static void test_notifications(void **state)
{
    struct tsl_fence *fence;
    int told = 0;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    assert_int_equal(d->fence_notify(fence, count_notify, &told), CL_SUCCESS);
    assert_int_equal(d->fence_notify(fence, count_notify, &told), CL_SUCCESS);
    d->flush(lane[0]);
    tsl_fake_step(0);
    tsl_fake_step(0);
    assert_int_equal(told, 0);
    tsl_fake_step(0);
    assert_int_equal(told, 1);
    tsl_fake_run(false);
    assert_int_equal(told, 2);
    d->fence_notify(fence, count_notify, &told);
    assert_int_equal(told, 3);
    tsl_fence_unref(fence);
    end();
}

static void open_notify(void *arg, cl_int status)
{
    d->gate_open(arg, status);
}

/* A gate holds back what waits for it, and what stands behind that in the lane; a notification may open it. */
static void test_gate_bridges_members(void **state)
{
    struct tsl_fence *source, *gate;
    unsigned char byte = 0;

    (void)state;
    begin_manual(2);
    fill(lane[0], mem[0], 0, 1, 42, NULL, NULL);
    copy(lane[0], host(&byte), at(mem[0], 0), 1, NULL, &source);
    assert_false(d->can_wait(member[1], source));
    assert_int_equal(d->gate_create(member[1], &gate), CL_SUCCESS);
    assert_true(d->can_wait(member[1], gate));
    copy(lane[1], at(mem[1], 0), host(&byte), 1, WAITS(gate), NULL);
    d->flush(lane[1]);
    assert_false(tsl_fake_step(0));
    d->fence_notify(source, open_notify, gate);
    d->flush(lane[0]);
    tsl_fake_run(false);
    assert_int_equal(read_byte(1, 0), 42);
    tsl_fence_unref(source);
    tsl_fence_unref(gate);
    end();
}

/* A failed wait fails what waits, which is not executed; what follows in the lane by order alone runs. */
static void test_failed_waits(void **state)
{
    struct tsl_fence *gate, *fence, *after;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 1, 1, NULL, NULL);
    d->gate_create(member[0], &gate);
    fill(lane[0], mem[0], 0, 1, 2, WAITS(gate), &fence);
    fill(lane[0], mem[0], 1, 1, 3, NULL, &after);
    d->flush(lane[0]);
    assert_int_equal(d->gate_open(gate, -77), CL_SUCCESS);
    assert_int_equal(wait_for(fence), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(wait_for(after), CL_COMPLETE);
    assert_int_equal(read_byte(0, 0), 1);
    assert_int_equal(read_byte(0, 1), 3);
    tsl_fence_unref(gate);
    end();
}

/* Work of a lane without order needs waits for one; a mark comes after all before it. */
static void test_unordered_lanes(void **state)
{
    unsigned last_first = 0;

    (void)state;
    for (unsigned seed = 0; seed < 32; seed++) {
        struct tsl_fake_setup setup = {.n_members = 1, .seed = seed, .members[0].unordered_lanes = true};
        struct tsl_fake_record record;
        struct tsl_fence *mark;

        begin(&setup);
        assert_false(member[0]->caps.ordered_lanes);
        fill(lane[0], mem[0], 0, 1, 1, NULL, NULL);
        fill(lane[0], mem[0], 1, 1, 1, NULL, NULL);
        d->mark(lane[0], NULL, &mark);
        fill(lane[0], mem[0], 0, 2, 2, WAITS(mark), NULL);
        d->finish(lane[0]);
        tsl_fake_record(0, &record);
        last_first += record.id == 2;
        tsl_fake_record(2, &record);
        assert_int_equal(record.kind, TSL_FAKE_DID_MARK);
        tsl_fence_unref(mark);
        end();
    }
    assert_in_range(last_first, 4, 28);
}

/* A zero-copy member computes on the host's memory itself. */
static void test_zero_copy(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 1, .members[0].zero_copy = true};
    unsigned char bytes[16] = {0};
    struct tsl_mem *same;

    (void)state;
    begin(&setup);
    d->mem_alloc(member[0], sizeof bytes, 0, bytes, &same);
    fill(lane[0], same, 4, 4, 9, NULL, NULL);
    d->finish(lane[0]);
    assert_int_equal(bytes[4], 9);
    assert_int_equal(tsl_fake_live().mem_size, SIZE);
    d->mem_free(same);
    end();
}

static void test_peer_copies(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 3, .members = {{.peer = true}, {.peer = true}}};

    (void)state;
    begin(&setup);
    assert_true(d->can_copy_peer(member[0], member[1]));
    assert_false(d->can_copy_peer(member[0], member[2]));
    fill(lane[0], mem[0], 0, 8, 5, NULL, NULL);
    d->finish(lane[0]);
    assert_int_equal(copy(lane[1], at(mem[1], 0), at(mem[0], 0), 8, NULL, NULL), CL_SUCCESS);
    assert_int_equal(read_byte(1, 7), 5);
    assert_int_equal(tsl_fake_counts(1).did[TSL_FAKE_DID_PEER], 1);
    assert_int_equal(tsl_fake_counts(1).did_size[TSL_FAKE_DID_PEER], 8);
    assert_int_equal(copy(lane[2], at(mem[2], 0), at(mem[0], 0), 8, NULL, NULL), CL_INVALID_VALUE);
    assert_found(TSL_FAKE_BAD_ARGUMENT, 1);
    end();
}

/* A full member refuses: at the allocation, or with lazy memory at the first use, with nothing done. */
static void test_memory_runs_out(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2};
    struct tsl_mem *more = NULL, *lazy = NULL;
    unsigned char byte = 1;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        setup.members[i] = (struct tsl_fake_member){.memory_size = SIZE + 100, .lazy_memory = i == 1};
    begin(&setup);
    assert_int_equal(d->mem_alloc(member[0], 101, 0, NULL, &more), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(d->mem_alloc(member[0], SIZE + 101, 0, NULL, &more), CL_INVALID_BUFFER_SIZE);
    assert_int_equal(d->mem_alloc(member[0], 100, 0, NULL, &more), CL_SUCCESS);
    d->mem_free(more);
    fill(lane[1], mem[1], 0, 1, 1, NULL, NULL);
    assert_int_equal(d->mem_alloc(member[1], 101, 0, NULL, &lazy), CL_SUCCESS);
    assert_int_equal(copy(lane[1], at(lazy, 0), host(&byte), 1, NULL, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    d->finish(lane[1]);
    assert_int_equal(tsl_fake_counts(1).did[TSL_FAKE_DID_WRITE], 0);
    d->mem_free(lazy);
    end();
}

/* Programs: names, failing builds on all and on one member, kernels that one lacks, binaries. */
static void try_programs(void)
{
    static const char text[] = "kernel add a,b,c\nkernel stamp a,b\nwithout 1 add\nlog hello\n";
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = text, .size = sizeof text - 1, .options = ""};
    struct tsl_dprogram *program = build(0, text), *again = NULL;
    struct tsl_dkernel *kernel = NULL;
    struct tsl_kernel_facts facts;
    char *names, *log;
    void *binary;
    size_t size;

    assert_int_equal(d->program_kernels(program, &names), CL_SUCCESS);
    assert_string_equal(names, "add;stamp");
    free(names);
    assert_int_equal(d->program_binary(program, &binary, &size), CL_SUCCESS);
    d->program_free(program);
    input = (struct tsl_program_input){.kind = TSL_PROGRAM_BINARY, .data = binary, .size = size, .options = ""};
    assert_int_equal(d->build(member[1], &input, &again, &log), CL_SUCCESS);
    assert_string_equal(log, "hello\n");
    free(log);
    free(binary);
    assert_int_equal(d->kernel_create(again, "add", &kernel, &facts), CL_INVALID_KERNEL_NAME);
    d->program_free(again);
    input =
        (struct tsl_program_input){.kind = TSL_PROGRAM_SOURCE, .data = "error 1 no luck\n", .size = 16, .options = ""};
    assert_int_equal(d->build(member[1], &input, &again, &log), CL_BUILD_PROGRAM_FAILURE);
    assert_string_equal(log, "error: no luck\n");
    free(log);
    d->program_free(build(0, "error 1 no luck\n"));
}

static void test_programs(void **state)
{
    (void)state;
    begin_manual(2);
    try_programs();
    end();
}

/* A window runs its part and no more, with ids as in the whole. */
static void test_windows(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    unsigned char value = 7;
    struct tsl_bound_arg args[2] = {{.kind = TSL_ARG_VALUE}, {.kind = TSL_ARG_VALUE, .size = 1, .value = &value}};
    struct tsl_window window = {.work_dim = 1,
                                .global_size = {64, 1, 1},
                                .local_size = {4, 1, 1},
                                .group_begin = {2, 0, 0},
                                .group_count = {3, 1, 1}};

    (void)state;
    begin_manual(1);
    program = build(0, "kernel stamp a,b\n");
    kernel = kernel_of(program, "stamp");
    args[0] = (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .mem = mem[0]};
    fill(lane[0], mem[0], 0, SIZE, 0, NULL, NULL);
    assert_int_equal(
        d->launch(lane[0],
                  &(struct tsl_launch){kernel, &(struct tsl_bound_args){.serial = next_serial++, .n = 2, .args = args},
                                       &window},
                  NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(read_byte(0, 7), 0);
    assert_int_equal(read_byte(0, 8), 7);
    assert_int_equal(read_byte(0, 19), 7);
    assert_int_equal(read_byte(0, 20), 0);
    window.group_count[0] = 15;
    d->launch(
        lane[0],
        &(struct tsl_launch){kernel, &(struct tsl_bound_args){.serial = next_serial++, .n = 2, .args = args}, &window},
        NULL, NULL);
    assert_found(TSL_FAKE_BAD_ARGUMENT, 1);
    d->kernel_free(kernel);
    d->program_free(program);
    end();
}

/* ---- Failures on order ---- */

static void test_failing_calls(void **state)
{
    struct tsl_place dst;
    struct tsl_mem *more;
    unsigned char one = 1;

    (void)state;
    begin_manual(1);
    dst = at(mem[0], 0);
    tsl_fake_fail_call(0, TSL_FAKE_ALLOC, 2, CL_OUT_OF_RESOURCES);
    assert_int_equal(d->mem_alloc(member[0], 8, 0, NULL, &more), CL_SUCCESS);
    d->mem_free(more);
    assert_int_equal(d->mem_alloc(member[0], 8, 0, NULL, &more), CL_OUT_OF_RESOURCES);
    tsl_fake_fail_call(0, TSL_FAKE_FILL, 1, -99);
    assert_int_equal(d->fill(lane[0], &(struct tsl_fill){dst, {8, 1, 1}, &one, 1}, NULL, NULL), -99);
    assert_int_equal(d->fill(lane[0], &(struct tsl_fill){dst, {8, 1, 1}, &one, 1}, NULL, NULL), CL_SUCCESS);
    tsl_fake_fail_call(0, TSL_FAKE_FLUSH, 1, -98);
    assert_int_equal(d->flush(lane[0]), -98);
    end();
}

/* Work that fails leaves garbage, tells its fence, and without a fence tells finish once. */
static void test_failing_work(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, NULL);
    tsl_fake_fail_work(0, TSL_FAKE_FILL, 1, -55);
    fill(lane[0], mem[0], 0, 8, 2, NULL, &fence);
    d->flush(lane[0]);
    assert_int_equal(wait_for(fence), -55);
    assert_true(read_byte(0, 3) > 2);
    tsl_fake_fail_work(0, TSL_FAKE_FILL, 1, -56);
    fill(lane[0], mem[0], 0, 8, 2, NULL, NULL);
    assert_int_equal(d->finish(lane[0]), -56);
    assert_int_equal(d->finish(lane[0]), CL_SUCCESS);
    end();
}

/* A lost member fails what it has, refuses what comes, and forgets its memory, also behind an unopened gate. */
static void test_lost_member(void **state)
{
    struct tsl_fence *gate, *gated, *done;
    struct tsl_mem *more;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &done);
    d->flush(lane[0]);
    assert_int_equal(wait_for(done), CL_COMPLETE);
    d->gate_create(member[0], &gate);
    fill(lane[0], mem[0], 0, 8, 2, WAITS(gate), &gated);
    d->flush(lane[0]);
    assert_false(tsl_fake_step(0));
    tsl_fake_lose(0, tsl_clock_ns() + 5);
    tsl_fake_advance(5);
    tsl_fake_run(false);
    assert_true(d->fence_status(gated) > CL_COMPLETE); /* Not before what it waits for. */
    assert_int_equal(d->mem_alloc(member[0], 8, 0, NULL, &more), CL_DEVICE_NOT_AVAILABLE);
    d->gate_open(gate, CL_COMPLETE);
    tsl_fake_run(false);
    assert_int_equal(d->fence_status(gated), CL_DEVICE_NOT_AVAILABLE);
    tsl_fence_unref(gated);
    tsl_fence_unref(gate);
    end();
}

/* ---- Threads ---- */

/* Workers run chains over members by gates and notifications, with delays; all arrives. */
static void test_threads(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true, .seed = 3};
    unsigned char byte[50] = {0};

    (void)state;
    setup.members[0] = (struct tsl_fake_member){.gates = true, .delay_ns = 20000};
    setup.members[1] = (struct tsl_fake_member){.gates = true, .submits_block = true};
    begin(&setup);
    for (unsigned i = 0; i < 50; i++) {
        struct tsl_fence *source, *gate;

        fill(lane[0], mem[0], i, 1, (unsigned char)(i + 1), NULL, NULL);
        copy(lane[0], host(&byte[i]), at(mem[0], i), 1, NULL, &source);
        assert_int_equal(d->gate_create(member[1], &gate), CL_SUCCESS);
        copy(lane[1], at(mem[1], i), host(&byte[i]), 1, WAITS(gate), NULL);
        d->fence_notify(source, open_notify, gate);
        d->flush(lane[0]);
        assert_int_equal(d->flush(lane[1]), CL_SUCCESS); /* blocks until the copy is done */
        assert_int_equal(read_byte(1, i), i + 1);
        tsl_fence_unref(source);
        tsl_fence_unref(gate);
    }
    end();
}

/* A blocking flush runs what it flushes, in manual mode by itself. */
static void test_submits_block(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 1, .members[0].submits_block = true};
    struct tsl_fence *fence;

    (void)state;
    begin(&setup);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    d->flush(lane[0]);
    assert_int_equal(d->fence_status(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    end();
}

/* A seed makes one run: the same steps in the same order. */
static void test_seeds_repeat(void **state)
{
    uint64_t order[2][20];

    (void)state;
    for (unsigned again = 0; again < 2; again++) {
        begin(&(struct tsl_fake_setup){.n_members = 2, .seed = 12});
        for (unsigned i = 0; i < 10; i++) {
            fill(lane[i % 2], mem[i % 2], i, 1, 1, NULL, NULL);
            fill(other_lane, mem[0], 100 + i, 1, 1, NULL, NULL);
        }
        d->flush(lane[0]);
        d->flush(lane[1]);
        d->flush(other_lane);
        tsl_fake_run(false);
        assert_int_equal(tsl_fake_n_records(), 20);
        for (unsigned i = 0; i < 20; i++) {
            struct tsl_fake_record record;

            tsl_fake_record(i, &record);
            order[again][i] = record.id;
        }
        end();
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
}

static cl_uint n_found;

static void found(void *arg, const struct tsl_path *path)
{
    (void)arg;
    assert_string_equal(path->id, n_found ? "fake:1" : "fake:0");
    assert_int_equal(path->why_not != NULL, n_found);
    n_found++;
    free(path->platform_name);
    free(path->device_name);
    free(path->driver_version);
    free(path->why_not);
}

static void test_probe(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2, .members[1].why_not = "It is broken."};

    (void)state;
    tsl_fake_begin(&setup);
    assert_int_equal(d->probe(found, NULL), CL_SUCCESS);
    assert_int_equal(n_found, 2);
    tsl_fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_copies),
        TEST(test_nothing_runs_unflushed),
        TEST(test_memory_is_separate),
        TEST(test_lanes_are_independent),
        TEST(test_virtual_time),
        TEST(test_notifications),
        TEST(test_gate_bridges_members),
        TEST(test_failed_waits),
        TEST(test_unordered_lanes),
        TEST(test_zero_copy),
        TEST(test_peer_copies),
        TEST(test_memory_runs_out),
        TEST(test_programs),
        TEST(test_windows),
        TEST(test_failing_calls),
        TEST(test_failing_work),
        TEST(test_lost_member),
        TEST(test_threads),
        TEST(test_submits_block),
        TEST(test_seeds_repeat),
        TEST(test_probe),
    };

    register_kernels();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
