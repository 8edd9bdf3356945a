/* Work that is sent to the GPU before the gates for which it waits are open. */
/* timeout: 120 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=7 STANDIN_DEVICES=2 */
/* variant: cpu TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda,cpu TESELA_VENDORS={build}/vendors-none */
/* any: */
#include "cuda_bridge/ahead.h"
#include "cuda_env.h"

#include <unistd.h>

/* ---- Work of another technology, as gates see it ----------------------------------------------------------------- */

struct other {
    struct tsl_fence fence;
    atomic_bool sure;
};

static bool is_sure(struct tsl_fence *fence)
{
    return atomic_load(&((struct other *)fence)->sure);
}

static void free_nothing(struct tsl_fence *fence)
{
    (void)fence;
}

static const struct tsl_driver other_driver = {.name = "other", .fence_is_sure = is_sure, .fence_free = free_nothing};
static struct other unsure = {.fence = {.driver = &other_driver, .refs = 1}};
static struct other sure = {.fence = {.driver = &other_driver, .refs = 1}, .sure = true};

/* A gate that this work opens. */
static struct tsl_fence *gate_of(struct other *other)
{
    struct tsl_fence *gate = new_gate();

    driver->gate_by(gate, &other->fence);
    return gate;
}

/* ---- What tests do ----------------------------------------------------------------------------------------------- */

static struct tsl_dprogram *program;
static struct tsl_dkernel *add;
static struct tsl_lane *second;
static struct tsl_mem *mem;

#define ARENA ((size_t)64 << 10) /* ints */
static struct tsl_mem *arena_mem;
static int *arena;

/* Adds value to the first n ints. */
static struct tsl_fence *add_to(struct tsl_lane *l, struct tsl_mem *to, int value, size_t n,
                                const struct tsl_waits *waits)
{
    struct tsl_bound_arg args[] = {mem_arg(to), VALUE_ARG(int, value)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(n, 16);
    struct tsl_fence *fence;

    assert_int_equal(driver->launch(l, &(struct tsl_launch){add, &bound, &window}, waits, &fence), CL_SUCCESS);
    return fence;
}

static struct tsl_fence *add_ints(struct tsl_lane *l, int value, size_t n, const struct tsl_waits *waits)
{
    return add_to(l, mem, value, n, waits);
}

static int set_up(void **state)
{
    struct tsl_fence *fence;
    int error = open_member(state);

    program = build_kernels(member);
    add = new_kernel(program, "add_value");
    second = new_lane(false);
    mem = new_mem(4096);
    assert_int_equal(driver->host_alloc(member, ARENA * sizeof(int), (void **)&arena, &arena_mem), CL_SUCCESS);
    tsl_cuda_long_ns = UINT64_MAX;
    /* CUDA loads a kernel at its first launch, and waits for all streams meanwhile. */
    fence = add_ints(lane, 1, 16, NULL);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    assert_int_equal(fill_ints(lane, mem, 100, 1024, NULL, NULL), CL_SUCCESS);
    finish(lane);
    return error;
}

static int tear_down(void **state)
{
    driver->mem_free(arena_mem);
    driver->mem_free(mem);
    driver->lane_free(second);
    driver->kernel_free(add);
    driver->program_free(program);
    return close_member(state);
}

/* What a dead context had is never given back. */
static int tear_down_lost(void **state)
{
    driver->mem_free(arena_mem);
    driver->mem_free(mem);
    driver->lane_free(second);
    driver->kernel_free(add);
    driver->program_free(program);
    close_members(state);
    assert_int_equal(is_standin() ? standin.violations() : 0, 0);
    return 0;
}

static unsigned calls(const char *name)
{
    return is_standin() ? standin.calls(name) : 0;
}

#define assert_calls(name, before, n)                      \
    do {                                                   \
        if (is_standin())                                  \
            assert_int_equal(calls(name), (before) + (n)); \
    } while (0)

/* Pinned, so that copies go straight; taken in turns. */
static size_t arena_used;

static int *from_arena(size_t n, int value)
{
    int *at = arena + arena_used % ARENA;

    assert_true(n <= 1024);
    arena_used += 1024;
    for (size_t i = 0; i < n; i++)
        at[i] = value;
    return at;
}

/* Sets the first n ints, which hold nothing good. */
static struct tsl_fence *move_to(struct tsl_lane *l, struct tsl_mem *to, int value, size_t n,
                                 const struct tsl_waits *waits)
{
    struct tsl_copy copy = linear(to, NULL, 0, NULL, from_arena(n, value), 0, n * sizeof(int));
    struct tsl_fence *fence;

    copy.loose = true;
    assert_int_equal(driver->copy(l, &copy, waits, &fence), CL_SUCCESS);
    return fence;
}

static struct tsl_fence *move_back(struct tsl_lane *l, int *to, size_t n, const struct tsl_waits *waits)
{
    struct tsl_copy copy = linear(NULL, to, 0, mem, NULL, 0, n * sizeof(int));
    struct tsl_fence *fence;

    copy.loose = true;
    assert_int_equal(driver->copy(l, &copy, waits, &fence), CL_SUCCESS);
    return fence;
}

#define LAUNCHES "cuLaunchKernel"
#define WAITS    "cuStreamWaitValue32_v2"
#define UP       "cuMemcpyHtoDAsync_v2"
#define DOWN     "cuMemcpyDtoHAsync_v2"

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void a_move_goes_ahead_of_a_gate_that_is_sure_to_open(void **state)
{
    struct tsl_fence *gate = gate_of(&sure);
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1}, both = {.n = 2};
    unsigned launches = calls(LAUNCHES), streams = calls(WAITS), up = calls(UP), down = calls(DOWN);
    struct tsl_fence *fences[4];
    struct tsl_mem *pinned;
    int *back = from_arena(1024, 0);
    void *host;

    (void)state;
    fences[0] = move_to(lane, mem, 7, 512, &waits);
    assert_calls(UP, up, 1);
    assert_calls(WAITS, streams, 1);
    /* A move that waits for it in turn goes too, and what only stands behind it; a kernel doesn't. */
    again.fences = &fences[0];
    fences[1] = move_back(second, back, 1024, &again);
    fences[2] = add_ints(lane, 100, 16, NULL);
    assert_calls(DOWN, down, 1);
    assert_calls(LAUNCHES, launches, 1);
    both.fences = (struct tsl_fence *[]){fences[0], fences[2]}; /* Two kernels at once would change the same ints. */
    fences[3] = add_ints(second, 10, 1024, &both);
    assert_calls(LAUNCHES, launches, 1);
    assert_calls(WAITS, streams, 1);
    usleep(3000);
    /* Pinning may wait for the GPU, with a lock that those may want who open gates. */
    assert_int_equal(driver->host_alloc(member, 64, &host, &pinned), CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < 4; i++)
        assert_true(driver->fence_status(fences[i]) > CL_COMPLETE);
    assert_false(driver->fence_peek(fences[0]));
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
        tsl_fence_unref(fences[i]);
    }
    assert_int_equal(back[511], 7);
    assert_int_equal(back[1023], 100);
    assert_int_equal(get_int(mem, 1023), 110);
    assert_int_equal(get_int(mem, 511), 17);
    assert_int_equal(get_int(mem, 0), 117);
    tsl_fence_unref(gate);
}

static void others_are_held(void **state)
{
    struct tsl_fence *gates[4], *fences[4];
    struct tsl_waits waits = {.n = 1, .fences = gates}, three = {.n = 3, .fences = gates + 1};
    unsigned streams = calls(WAITS), up = calls(UP), launches = calls(LAUNCHES);
    struct tsl_lane *lanes[] = {new_lane(false), new_lane(false)};
    struct tsl_copy copy;

    (void)state;
    gates[0] = gate_of(&unsure);
    fences[0] = move_to(second, mem, 1, 16, &waits); /* nobody knows when that gate opens */
    for (int i = 1; i < 4; i++)
        gates[i] = gate_of(&sure);
    waits.fences = gates + 1;
    assert_int_equal(fill_ints(lane, mem, 5, 16, &waits, &fences[1]), CL_SUCCESS); /* what is there may be good */
    fences[2] = move_to(lanes[0], mem, 10, 16, &three);                            /* more gates than it can know of */
    copy = linear(mem, NULL, 2048, NULL, from_arena(16, 3), 0, 64);
    assert_int_equal(driver->copy(lanes[1], &copy, &waits, &fences[3]), CL_SUCCESS); /* as the fill */
    assert_calls(UP, up, 0);
    assert_calls(LAUNCHES, launches, 0);
    assert_calls(WAITS, streams, 0);
    usleep(2000);
    for (int i = 0; i < 4; i++)
        assert_true(driver->fence_status(fences[i]) > CL_COMPLETE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(driver->gate_open(gates[i], CL_COMPLETE), CL_SUCCESS);
        tsl_fence_unref(gates[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
        tsl_fence_unref(fences[i]);
    }
    assert_int_equal(get_int(mem, 512), 3);
    driver->lane_free(lanes[0]);
    driver->lane_free(lanes[1]);
}

/* The opener fails: who waits for that fails, kernels don't run, and what only stands behind it is done. */
static void failure_reaches_what_went_ahead(void **state)
{
    struct tsl_fence *gate = gate_of(&sure), *fences[4];
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1};
    struct told told = {0}, later = {0};

    (void)state;
    fences[0] = move_to(lane, mem, 1, 256, &waits);
    again.fences = &fences[0];
    fences[1] = move_back(second, from_arena(1024, 0), 1024, &again);
    again.fences = &fences[1];
    fences[2] = add_ints(second, 1000, 1024, &again);
    fences[3] = add_ints(lane, 100, 512, NULL);
    assert_int_equal(driver->fence_notify(fences[0], tell_test, &told), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(fences[2], tell_test, &later), CL_SUCCESS);
    usleep(1000);
    assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    wait_until_told(&told);
    wait_until_told(&later);
    assert_true(atomic_load(&told.status) < 0 && atomic_load(&later.status) < 0);
    for (int i = 0; i < 3; i++) {
        assert_true(driver->fence_wait(fences[i]) < 0);
        assert_false(driver->fence_peek(fences[i]));
    }
    assert_int_equal(driver->fence_wait(fences[3]), CL_COMPLETE);
    /* Who comes now learns it at once. */
    tsl_fence_unref(fences[2]);
    again.fences = &fences[1];
    fences[2] = add_ints(lane, 1000, 1024, &again);
    assert_true(driver->fence_wait(fences[2]) < 0);
    assert_int_equal(get_int(mem, 1023), 100);
    assert_int_equal(get_int(mem, 511), 200);
    for (int i = 0; i < 4; i++)
        tsl_fence_unref(fences[i]);
    tsl_fence_unref(gate);
}

/* Words serve again; and there is an end to what goes ahead. All are opened before
 * any is waited for: streams share channels to the GPU, and what waits there holds up others. */
static void many_gates_in_any_order(void **state)
{
    enum { N = 48, ROUNDS = 20 };
    struct tsl_fence *gates[N], *fences[N];
    struct tsl_lane *lanes[N];
    struct tsl_mem *own[N], *all = new_mem(N * member->caps.base_align);

    (void)state;
    assert_int_equal(fill_ints(lane, all, 0, all->size / sizeof(int), NULL, NULL), CL_SUCCESS);
    finish(lane);
    for (size_t i = 0; i < N; i++) {
        lanes[i] = new_lane(false);
        assert_int_equal(driver->mem_sub(all, i * member->caps.base_align, sizeof(int), &own[i]), CL_SUCCESS);
    }
    for (int round = 0; round < ROUNDS; round++) {
        unsigned streams = calls(WAITS);

        for (int i = 0; i < N; i++) {
            struct tsl_waits waits = {.n = 1, .fences = &gates[i]};

            gates[i] = gate_of(&sure);
            fences[i] = move_to(lanes[i], own[i], round, 1, &waits);
        }
        if (is_standin())
            assert_in_range(calls(WAITS) - streams, 1, N - 1);
        for (int i = 0; i < N; i++) {
            int at = (i * 29 + round) % N;
            bool fails = (at + round) % 5 == 0;

            assert_int_equal(driver->gate_open(gates[at], fails ? CL_OUT_OF_RESOURCES : CL_COMPLETE), CL_SUCCESS);
        }
        for (int i = 0; i < N; i++) {
            assert_int_equal(driver->fence_wait(fences[i]) < 0, (i + round) % 5 == 0);
            tsl_fence_unref(gates[i]);
            tsl_fence_unref(fences[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        if ((i + ROUNDS - 1) % 5)
            assert_int_equal(get_int(own[i], 0), ROUNDS - 1);
        driver->mem_free(own[i]);
        driver->lane_free(lanes[i]);
    }
    driver->mem_free(all);
}

/* Where a stream waited for long, nothing goes ahead for a while. */
static void a_long_wait_teaches(void **state)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    struct tsl_fence *gates[3], *fences[3];
    unsigned streams = calls(WAITS);
    uint64_t until = 0;

    (void)state;
    tsl_cuda_long_ns = 20000000;
    for (int i = 0; i < 3; i++) {
        struct tsl_waits waits = {.n = 1, .fences = &gates[i]};

        if (i == 1) { /* However slow this machine is. */
            until = atomic_exchange(&m->ahead_ns, UINT64_MAX);
            assert_true(until > 0);
        }
        if (i == 2) {
            atomic_store(&m->ahead_ns, until);
            usleep(1000000 / 20);
            tsl_cuda_long_ns = UINT64_MAX;
        }
        gates[i] = gate_of(&sure);
        fences[i] = move_to(lane, mem, i, 16, &waits);
        assert_calls(WAITS, streams, i == 2 ? 2 : 1);
        if (i == 0)
            usleep(25000);
        assert_int_equal(driver->gate_open(gates[i], CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
        tsl_fence_unref(gates[i]);
        tsl_fence_unref(fences[i]);
    }
    assert_int_equal(get_int(mem, 0), 2);
}

/* A kernel on another lane kills the context while a stream waits. */
static void a_member_that_is_lost_meanwhile_fails_what_waits(void **state)
{
    struct tsl_fence *gate = gate_of(&sure), *fence;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct tsl_dkernel *wild = new_kernel(program, "wild");
    struct tsl_bound_arg arg = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args bound = bind(1, &arg);
    struct tsl_window window = whole(1, 1);

    (void)state;
    if (is_standin()) { /* On a real GPU the process would be without CUDA from here on. */
        fence = move_to(lane, mem, 1, 1024, &waits);
        driver->launch(second, &(struct tsl_launch){wild, &bound, &window}, NULL,
                       NULL); /* It may end so soon that this fails. */
        assert_true(driver->finish(second) < 0);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
        assert_true(driver->fence_wait(fence) < 0);
        tsl_fence_unref(fence);
    } else {
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    }
    tsl_fence_unref(gate);
    driver->kernel_free(wild);
}

/* ---- The built-in CPU as the other ------------------------------------------------------------------------------- */

static void open_gate(void *gate, cl_int status)
{
    struct tsl_fence *g = gate;

    g->driver->gate_open(g, status);
    tsl_fence_unref(g);
}

/* As the graph makes them. */
static struct tsl_fence *gate_after(struct tsl_member *m, struct tsl_fence *opener)
{
    struct tsl_fence *gate;

    assert_int_equal(m->driver->gate_create(m, &gate), CL_SUCCESS);
    if (m->driver->gate_by)
        m->driver->gate_by(gate, opener);
    assert_int_equal(opener->driver->fence_notify(opener, open_gate, tsl_fence_ref(gate)), CL_SUCCESS);
    return gate;
}

static struct tsl_fence *move_after(struct tsl_lane *l, struct tsl_copy copy, struct tsl_fence *before)
{
    struct tsl_waits waits = {.n = before ? 1 : 0, .fences = &before};
    struct tsl_fence *fence;

    copy.loose = true;
    assert_int_equal(l->member->driver->copy(l, &copy, &waits, &fence), CL_SUCCESS);
    l->member->driver->flush(l);
    return fence;
}

/* One hop there and back: the GPU adds one, its bytes go to the host, the CPU copies them, they go back. */
static void chains_that_alternate_run_ahead(void **state)
{
    enum { N = 300 };
    struct tsl_member *cpu = n_members > 1 ? members[n_members - 1] : NULL;
    unsigned streams = calls(WAITS);
    struct tsl_mem *pinned, *cpu_mems[2];
    struct tsl_lane *cpu_lane;
    struct tsl_fence *last = NULL;
    char *host;

    (void)state;
    if (!cpu || strcmp(cpu->driver->name, "cpu") != 0) {
        assert_true(!cpu || cpu->driver == driver); /* Another variant has one. */
        return;
    }
    assert_int_equal(driver->host_alloc(member, 8192, (void **)&host, &pinned), CL_SUCCESS);
    memset(host, 0, 8192);
    assert_int_equal(cpu->driver->lane_create(cpu, false, &cpu_lane), CL_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cpu->driver->mem_alloc(cpu, 4096, 0, host + 4096 * i, &cpu_mems[i]), CL_SUCCESS);
    for (int i = 0; i < N; i++) {
        struct tsl_waits waits = {.n = last ? 1 : 0, .fences = &last};
        struct tsl_fence *added = add_ints(lane, 1, 1024, &waits), *down, *done, *gate;

        down = move_after(second, linear(NULL, host, 0, mem, NULL, 0, 4096), added);
        gate = gate_after(cpu, down);
        done = move_after(cpu_lane, linear(cpu_mems[1], NULL, 0, cpu_mems[0], NULL, 0, 4096), gate);
        tsl_fence_unref(gate);
        gate = gate_after(member, done);
        if (last)
            tsl_fence_unref(last);
        last = move_after(second, linear(mem, NULL, 0, NULL, host + 4096, 0, 4096), gate);
        tsl_fence_unref(gate);
        tsl_fence_unref(added);
        tsl_fence_unref(down);
        tsl_fence_unref(done);
    }
    assert_int_equal(driver->fence_wait(last), CL_COMPLETE);
    tsl_fence_unref(last);
    assert_int_equal(get_int(mem, 0), 100 + N);
    assert_int_equal(get_int(mem, 1023), 100 + N);
    assert_int_equal(((int *)host)[1500], 100 + N);
    if (is_standin())
        assert_true(calls(WAITS) > streams);
    for (int i = 0; i < 2; i++)
        cpu->driver->mem_free(cpu_mems[i]);
    cpu->driver->lane_free(cpu_lane);
    driver->mem_free(pinned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_move_goes_ahead_of_a_gate_that_is_sure_to_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_are_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failure_reaches_what_went_ahead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_gates_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_wait_teaches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chains_that_alternate_run_ahead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_member_that_is_lost_meanwhile_fails_what_waits, set_up, tear_down_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
