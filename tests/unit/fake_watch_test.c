/* The fake driver finds each way to break the contract: what it misses, no test of the core sees. */
#include "footprint_bed.h"

#include "fake_bed.h"

#include <pthread.h>

/* ---- Races ---- */

static void two_fills(struct tsl_lane *first, struct tsl_lane *second, size_t second_offset, struct tsl_fence *gate)
{
    fill(first, mem[0], 0, 8, 1, gate ? WAITS(gate) : NULL, NULL);
    fill(second, mem[0], second_offset, 8, 2, NULL, NULL);
    d->flush(first);
    d->flush(second);
    tsl_fake_run(false);
}

/* Lane order, and distance, are no race; two lanes on the same bytes are, whatever the order in which they ran. */
static void test_race_between_lanes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 16; seed++) {
        begin(&(struct tsl_fake_setup){.n_members = 1, .seed = seed});
        two_fills(lane[0], lane[0], 4, NULL);
        d->finish(lane[0]);
        two_fills(lane[0], other_lane, 8, NULL);
        d->finish(lane[0]);
        d->finish(other_lane);
        assert_found(TSL_FAKE_RACE, 0);
        two_fills(lane[0], other_lane, 7, NULL);
        assert_found(TSL_FAKE_RACE, 1);
        end();
    }
}

/* Two readers don't race; a reader and a writer do. */
static void test_race_reader_writer(void **state)
{
    unsigned char bytes[3][8] = {{0}};

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, NULL);
    d->finish(lane[0]);
    copy(lane[0], host(bytes[0]), at(mem[0], 0), 8, NULL, NULL);
    copy(other_lane, host(bytes[1]), at(mem[0], 0), 8, NULL, NULL);
    d->flush(lane[0]);
    d->flush(other_lane);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 0);
    fill(other_lane, mem[0], 0, 8, 2, NULL, NULL);
    d->flush(other_lane);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 1); /* with the read in lane 0, which the host never saw complete */
    end();
}

/* A chain of waits over lanes orders its ends; cutting it out does not. */
static void test_race_transitive(void **state)
{
    struct tsl_fence *a, *b;
    unsigned char byte;

    (void)state;
    for (unsigned cut = 0; cut < 2; cut++) {
        struct tsl_lane *third;

        begin_manual(1);
        d->lane_create(member[0], false, &third);
        fill(lane[0], mem[0], 0, 8, 1, NULL, &a);
        fill(lane[0], mem[0], 16, 8, 1, NULL, NULL);
        d->mark(other_lane, WAITS(a), &b);
        fill(third, mem[0], 0, 8, 2, cut ? NULL : WAITS(b), NULL);
        d->flush(lane[0]);
        d->flush(other_lane);
        d->flush(third);
        tsl_fake_run(false);
        copy(third, host(&byte), at(mem[0], 16), 1, NULL, NULL); /* the chain began before that fill */
        d->flush(third);
        tsl_fake_run(false);
        assert_found(TSL_FAKE_RACE, cut ? 2 : 1);
        d->finish(third);
        d->lane_free(third);
        tsl_fence_unref(a);
        tsl_fence_unref(b);
        end();
    }
}

static void ignore(void *arg, cl_int status)
{
    (void)arg;
    (void)status;
}

/* What the host was told orders what it submits afterwards; that it ran before, and nobody asked, does not. */
static void test_race_host_knowledge(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    for (unsigned ask = 0; ask < 4; ask++) {
        begin_manual(1);
        fill(lane[0], mem[0], 0, 8, 1, NULL, NULL);
        d->mark(lane[0], NULL, &fence);
        if (ask == 3)
            d->fence_notify(fence, ignore, NULL);
        d->flush(lane[0]);
        if (ask == 2)
            assert_int_equal(d->fence_wait(fence), CL_COMPLETE);
        tsl_fake_run(false);
        if (ask == 1)
            assert_int_equal(d->fence_status(fence), CL_COMPLETE);
        fill(other_lane, mem[0], 0, 8, 2, NULL, NULL);
        d->flush(other_lane);
        tsl_fake_run(false);
        assert_found(TSL_FAKE_RACE, ask ? 0 : 1);
        tsl_fence_unref(fence);
        end();
    }
}

/* What waits for a gate knows what the host knew when it opened it, not what it learnt afterwards. */
static void test_race_through_gate(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct tsl_fence *gate, *fence, *own;

        begin_manual(1);
        d->gate_create(member[0], &gate);
        fill(other_lane, mem[0], 0, 8, 2, WAITS(gate), &own);
        fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
        d->flush(lane[0]);
        d->flush(other_lane);
        tsl_fake_run(false);
        if (late)
            d->gate_open(gate, CL_COMPLETE);
        assert_int_equal(wait_for(fence), CL_COMPLETE);
        if (!late)
            d->gate_open(gate, CL_COMPLETE);
        tsl_fake_run(false);
        assert_found(TSL_FAKE_RACE, late);
        tsl_fence_unref(gate);
        tsl_fence_unref(own);
        end();
    }
}

/* Host memory counts, for two members and for the application itself. */
static void test_race_host_memory(void **state)
{
    unsigned char bytes[8] = {0};
    struct tsl_fence *fence;

    (void)state;
    begin_manual(2);
    copy(lane[0], host(bytes), at(mem[0], 0), 8, NULL, &fence);
    copy(lane[1], at(mem[1], 0), host(bytes + 7), 1, NULL, NULL);
    d->flush(lane[0]);
    d->flush(lane[1]);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 1);
    d->finish(lane[1]);
    tsl_fake_host_access(bytes, 1, false);
    assert_found(TSL_FAKE_RACE, 1);
    assert_int_equal(wait_for(fence), CL_COMPLETE);
    tsl_fake_host_access(bytes, 8, true);
    end();
}

/* Kernels race by what they really touch where they tell, and not by atomics; unordered halves of one memory are fine.
 */
static void test_race_kernels(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *half, *count;
    struct tsl_bound_arg arg = {.kind = TSL_ARG_MEM};
    struct tsl_window one = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};

    (void)state;
    tsl_fake_kernel("count", count_body, 1, (enum tsl_fact_kind[]){TSL_FACT_GLOBAL},
                    (unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE});
    tsl_fake_kernel_traits("count", &(struct tsl_fake_traits){.atomics = true});
    begin_manual(1);
    program = build(0, "kernel stamp a,b\nkernel count a\n");
    half = kernel_of(program, "stamp");
    count = kernel_of(program, "count");
    stamp(lane[0], half, mem[0], 0, 128, 1, NULL);
    stamp(other_lane, half, mem[0], 128, 128, 2, NULL);
    d->flush(lane[0]);
    d->flush(other_lane);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 0);
    stamp(other_lane, half, mem[0], 127, 2, 2, NULL);
    d->finish(other_lane);
    assert_found(TSL_FAKE_RACE, 1);
    d->finish(lane[0]);
    arg.mem = mem[0];
    for (unsigned i = 0; i < 4; i++)
        d->launch(
            i % 2 ? lane[0] : other_lane,
            &(struct tsl_launch){count, &(struct tsl_bound_args){.serial = next_serial++, .n = 1, .args = &arg}, &one},
            NULL, NULL);
    d->finish(lane[0]);
    d->finish(other_lane);
    assert_found(TSL_FAKE_RACE, 0);
    d->kernel_free(half);
    d->kernel_free(count);
    d->program_free(program);
    end();
}

/* A zero-copy member's memory is host memory: a copy of another member to the same bytes races with its fill. */
static void test_race_zero_copy(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2, .members[0].zero_copy = true};
    unsigned char bytes[16] = {0};
    struct tsl_mem *same;

    (void)state;
    begin(&setup);
    d->mem_alloc(member[0], sizeof bytes, 0, bytes, &same);
    fill(lane[0], same, 0, 8, 9, NULL, NULL);
    copy(lane[1], host(bytes), at(mem[1], 0), 8, NULL, NULL);
    d->finish(lane[0]);
    d->finish(lane[1]);
    assert_found(TSL_FAKE_RACE, 1);
    d->mem_free(same);
    end();
}

/* In a lane without order only waits and marks order. */
static void test_race_unordered_lane(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 1, .members[0].unordered_lanes = true};
    struct tsl_fence *mark;

    (void)state;
    begin(&setup);
    two_fills(lane[0], lane[0], 0, NULL);
    assert_found(TSL_FAKE_RACE, 1);
    d->mark(lane[0], NULL, &mark);
    fill(lane[0], mem[0], 0, 8, 3, WAITS(mark), NULL);
    d->finish(lane[0]);
    assert_found(TSL_FAKE_RACE, 0);
    tsl_fence_unref(mark);
    end();
}

/* Forgetting what is long known doesn't forget what isn't. */
static void test_race_after_many(void **state)
{
    (void)state;
    begin_manual(1);
    fill(other_lane, mem[0], 255, 1, 2, NULL, NULL);
    d->flush(other_lane);
    for (unsigned i = 0; i < 2000; i++) {
        fill(lane[0], mem[0], i * 7 % 254, 1, 1, NULL, NULL);
        d->finish(lane[0]);
    }
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 0);
    fill(lane[0], mem[0], 255, 1, 1, NULL, NULL);
    d->finish(lane[0]);
    assert_found(TSL_FAKE_RACE, 1);
    end();
}

/* ---- The other violations ---- */

static void test_use_after_free(void **state)
{
    struct tsl_mem *gone;
    struct tsl_fence *fence;
    struct tsl_lane *left;
    struct tsl_place dst;
    unsigned char byte = 0;

    (void)state;
    begin_manual(1);
    d->mem_alloc(member[0], 8, 0, NULL, &gone);
    d->mem_free(gone);
    dst = at(gone, 0);
    assert_int_not_equal(d->fill(lane[0], &(struct tsl_fill){dst, {8, 1, 1}, &byte, 1}, NULL, NULL), CL_SUCCESS);
    assert_found(TSL_FAKE_USE_FREED, 1);
    d->mem_free(gone);
    assert_found(TSL_FAKE_USE_FREED, 1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    d->finish(lane[0]);
    tsl_fence_unref(fence);
    d->fence_status(fence);
    assert_found(TSL_FAKE_USE_FREED, 1);
    assert_int_not_equal(d->mark(lane[0], WAITS(fence), NULL), CL_SUCCESS);
    assert_found(TSL_FAKE_USE_FREED, 1);
    d->lane_create(member[0], false, &left);
    d->lane_free(left);
    d->flush(left);
    assert_found(TSL_FAKE_USE_FREED, 1);
    end();
}

/* Memory may go when the host knows that all work on it is complete; that it is complete is not enough. */
static void test_free_while_busy(void **state)
{
    struct tsl_mem *early, *sub;

    (void)state;
    begin_manual(1);
    d->mem_alloc(member[0], 128, 0, NULL, &early);
    assert_int_equal(d->mem_sub(early, 64, 64, &sub), CL_SUCCESS);
    fill(lane[0], sub, 0, 8, 1, NULL, NULL);
    d->flush(lane[0]);
    tsl_fake_run(false);
    d->mem_free(sub);
    assert_found(TSL_FAKE_FREE_BUSY, 1);
    d->finish(lane[0]);
    d->mem_free(early);
    d->mem_alloc(member[0], 128, 0, NULL, &early);
    d->mem_sub(early, 0, 64, &sub);
    d->mem_free(early);
    assert_found(TSL_FAKE_FREE_BUSY, 1);
    d->mem_free(sub);
    end();
}

static void test_gates(void **state)
{
    struct tsl_fence *gate, *left;

    (void)state;
    begin_manual(1);
    d->gate_create(member[0], &gate);
    tsl_fence_unref(gate);
    assert_found(TSL_FAKE_GATE_UNOPENED, 1);
    d->gate_create(member[0], &gate);
    assert_int_equal(d->gate_open(gate, CL_RUNNING), CL_INVALID_OPERATION);
    assert_int_equal(d->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(d->gate_open(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_found(TSL_FAKE_GATE_TWICE, 2);
    tsl_fence_unref(gate);
    d->gate_create(member[0], &left);
    tsl_fake_check_end();
    assert_found(TSL_FAKE_GATE_UNOPENED, 1);
    d->gate_open(left, CL_COMPLETE);
    tsl_fence_unref(left);
    end();
}

static void test_bad_waits(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    begin_manual(2);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    assert_int_equal(d->mark(lane[1], WAITS(fence), NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_found(TSL_FAKE_BAD_WAIT, 1);
    wait_for(fence);
    assert_found(TSL_FAKE_UNFLUSHED, 1);
    end();
}

/* Members of one context wait for each other's fences. */
static void test_shared_context(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 3, .members = {{.context = 1}, {.context = 1}}};
    struct tsl_fence *fence;

    (void)state;
    begin(&setup);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    d->flush(lane[0]);
    assert_true(d->can_wait(member[1], fence));
    assert_false(d->can_wait(member[2], fence));
    assert_int_equal(d->mark(lane[1], WAITS(fence), NULL), CL_SUCCESS);
    assert_int_equal(d->finish(lane[1]), CL_SUCCESS);
    tsl_fence_unref(fence);
    end();
}

static void test_bad_arguments(void **state)
{
    unsigned char bytes[8] = {0};
    struct tsl_place dst;
    struct tsl_mem *sub;

    (void)state;
    begin_manual(2);
    assert_int_equal(copy(lane[0], at(mem[0], SIZE - 7), host(bytes), 8, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(copy(lane[0], at(mem[1], 0), host(bytes), 8, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(copy(lane[0], at(mem[0], 4), at(mem[0], 0), 8, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(copy(lane[0], host(NULL), at(mem[0], 0), 8, NULL, NULL), CL_INVALID_VALUE);
    dst = at(mem[0], 2);
    assert_int_equal(d->fill(lane[0], &(struct tsl_fill){dst, {8, 1, 1}, bytes, 4}, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(d->fill(lane[0], &(struct tsl_fill){dst, {8, 1, 1}, bytes, 3}, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(d->mem_sub(mem[0], 8, 8, &sub), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_int_equal(d->mem_sub(mem[0], 64, SIZE, &sub), CL_INVALID_VALUE);
    assert_found(TSL_FAKE_BAD_ARGUMENT, 8);
    end();
}

/* One serial, other contents: a driver that keeps set arguments would launch with the old ones. */
static void test_serials(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;

    (void)state;
    begin_manual(1);
    program = build(0, "kernel stamp a,b\n");
    kernel = kernel_of(program, "stamp");
    stamp(lane[0], kernel, mem[0], 0, 8, 1, NULL);
    next_serial--;
    stamp(lane[0], kernel, mem[0], 8, 8, 1, NULL); /* another window, the same arguments */
    assert_found(TSL_FAKE_SERIAL, 0);
    next_serial--;
    stamp(lane[0], kernel, mem[0], 8, 8, 2, NULL);
    assert_found(TSL_FAKE_SERIAL, 1);
    d->kernel_free(kernel);
    d->program_free(program);
    end();
}

static void call_in_notify(void *arg, cl_int status)
{
    (void)status;
    d->flush(arg);
}

static void test_calls_in_notification(void **state)
{
    struct tsl_fence *fence;

    (void)state;
    begin_manual(1);
    fill(lane[0], mem[0], 0, 8, 1, NULL, &fence);
    d->fence_notify(fence, call_in_notify, lane[0]);
    d->flush(lane[0]);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_IN_NOTIFY, 1);
    tsl_fence_unref(fence);
    end();
}

/* A wait behind a gate that nobody will open is told, not suffered. */
static void test_stuck(void **state)
{
    struct tsl_fence *gate, *fence;
    char *why;

    (void)state;
    begin_manual(1);
    d->gate_create(member[0], &gate);
    fill(lane[0], mem[0], 0, 8, 1, WAITS(gate), &fence);
    d->flush(lane[0]);
    assert_int_equal(d->fence_wait(fence), CL_OUT_OF_RESOURCES);
    assert_found(TSL_FAKE_STUCK, 1);
    why = tsl_fake_stuck();
    assert_non_null(strstr(why, "waits for a gate of fake:0"));
    free(why);
    tsl_fake_check_end();
    assert_int_equal(tsl_fake_violations(TSL_FAKE_UNFINISHED), 1);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_GATE_UNOPENED), 1);
    tsl_fake_forget();
    d->gate_open(gate, CL_COMPLETE);
    tsl_fence_unref(gate);
    assert_int_equal(wait_for(fence), CL_COMPLETE);
    end();
}

/* ---- Footprints ---- */

/* A stamp of so many bytes that lacks `less` of them and begins `late`. */
static size_t late, less;

static void wrong_touch(const struct tsl_fake_run *run)
{
    tsl_fake_touch(run, 0, late + run->first[0], run->end[0] - run->first[0] - less, true);
}

/* What a run touches lies within its kernel's footprint, and what that says is surely written is written. */
static void test_footprints(void **state)
{
    static struct bed bed;
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;

    (void)state;
    begin_manual(1);
    bed_begin(&bed, 1);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 1, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    tsl_fake_kernel_traits("stamp", &(struct tsl_fake_traits){.touch = wrong_touch, .footprint = &bed.footprint});
    program = build(0, "kernel stamp a,b\n");
    kernel = kernel_of(program, "stamp");
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        late = wrong & 1;
        less = wrong >> 1;
        stamp(lane[0], kernel, mem[0], 0, 16, 1, NULL);
        d->finish(lane[0]);
        assert_found(TSL_FAKE_FOOTPRINT, (unsigned[]){0, 2, 1, 1}[wrong]);
    }
    tsl_fake_kernel_traits("stamp", &(struct tsl_fake_traits){.footprint = &bed.footprint});
    stamp(lane[0], kernel, mem[0], 0, 16, 1, NULL);
    stamp(other_lane, kernel, mem[0], 0, 17, 1, NULL);
    d->flush(lane[0]);
    d->flush(other_lane);
    tsl_fake_run(false);
    assert_found(TSL_FAKE_RACE, 1); /* Without a touch function it touches what the footprint says. */
    d->kernel_free(kernel);
    d->program_free(program);
    register_kernels();
    end();
}

/* ---- Threads ---- */

static pthread_barrier_t both;

static void meet_inside(void *arg, const char *operation)
{
    (void)arg;
    if (!strcmp(operation, "fill"))
        pthread_barrier_wait(&both);
}

static void *fill_something(void *arg)
{
    fill(arg, mem[0], 0, 1, 1, NULL, NULL);
    return NULL;
}

/* Two threads are made to meet inside submissions to one lane. */
static void test_two_threads_submit(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 1, .threads = true, .on_call = meet_inside};
    pthread_t thread;

    (void)state;
    pthread_barrier_init(&both, NULL, 2);
    begin(&setup);
    assert_int_equal(pthread_create(&thread, NULL, fill_something, lane[0]), 0);
    fill_something(lane[0]);
    pthread_join(thread, NULL);
    assert_found(TSL_FAKE_TWO_THREADS, 1);
    end();
    pthread_barrier_destroy(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_race_between_lanes),
        TEST(test_race_reader_writer),
        TEST(test_race_transitive),
        TEST(test_race_host_knowledge),
        TEST(test_race_through_gate),
        TEST(test_race_host_memory),
        TEST(test_race_kernels),
        TEST(test_race_zero_copy),
        TEST(test_race_unordered_lane),
        TEST(test_race_after_many),
        TEST(test_use_after_free),
        TEST(test_free_while_busy),
        TEST(test_gates),
        TEST(test_bad_waits),
        TEST(test_shared_context),
        TEST(test_bad_arguments),
        TEST(test_serials),
        TEST(test_calls_in_notification),
        TEST(test_stuck),
        TEST(test_footprints),
        TEST(test_two_threads_submit),
    };

    register_kernels();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
