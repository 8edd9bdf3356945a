/* The CUDA bridge beyond what every driver promises (contract/): peers, watches, work that is held, kernels. */
/* timeout: 120 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=7 STANDIN_DEVICES=2 */
/* variant: apart TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=3 STANDIN_DEVICES=3 TESELA_PEERS=off */
/* any: */
#include "cuda_bridge/piece.h"
#include "cuda_env.h"

static void members_are_nvidias(void **state)
{
    cl_uint vendor;
    char small[4];

    (void)state;
    assert_true(member->caps.gates && member->caps.profiles);
    assert_int_equal(driver->info(member->path, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL), CL_SUCCESS);
    assert_int_equal(vendor, 0x10de);
    assert_int_equal(driver->info(member->path, CL_DEVICE_EXTENSIONS, sizeof(small), small, NULL), CL_INVALID_VALUE);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static void members_copy_to_each_other(void **state)
{
    size_t size = 3 << 20;
    unsigned char *in = malloc(size), *out = calloc(1, size);
    struct tsl_mem *mine = new_mem(size), *theirs;
    struct tsl_copy copy;

    (void)state;
    fill_pattern(in, size);
    put(mine, in, size);
    for (unsigned i = 1; i < n_members; i++) {
        struct tsl_lane *other;
        struct tsl_fence *fence;
        struct tsl_waits waits = {.n = 1, .fences = &fence};

        assert_true(driver->can_copy_peer(member, members[i]));
        assert_int_equal(driver->lane_create(members[i], false, &other), CL_SUCCESS);
        assert_int_equal(driver->mem_alloc(members[i], size, 0, NULL, &theirs), CL_SUCCESS);
        copy = linear(theirs, NULL, 0, mine, NULL, 0, size);
        assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_SUCCESS);
        /* The other member waits for this one's fence natively. */
        assert_int_equal(get_later(other, theirs, out, size, &waits, NULL), CL_SUCCESS);
        finish(other);
        assert_memory_equal(in, out, size);
        memset(out, 0, size);
        copy = (struct tsl_copy){.dst = {.mem = mine, .row_pitch = 512, .slice_pitch = 0},
                                 .src = {.mem = theirs, .offset = 100, .row_pitch = 1024, .slice_pitch = 0},
                                 .region = {300, 1000, 1}};
        assert_int_equal(driver->copy(other, &copy, NULL, NULL), CL_SUCCESS);
        finish(other);
        get(mine, out, size);
        assert_memory_equal(out + 512 * 999, in + 100 + 1024 * 999, 300);
        put(mine, in, size);
        tsl_fence_unref(fence);
        driver->mem_free(theirs);
        driver->lane_free(other);
    }
    driver->mem_free(mine);
    free(in);
    free(out);
}

/* Also where they can't reach each other's memory: big copies in both directions at once, each behind a fill. */
static void members_copy_both_ways_at_once(void **state)
{
    const size_t size = (size_t)9 << 20;
    unsigned char *out = malloc(size);

    (void)state;
    for (unsigned i = 1; i < n_members; i++) {
        struct tsl_member *sides[] = {member, members[i]};
        struct tsl_mem *from[2], *to[2];
        struct tsl_lane *lanes[2];
        struct tsl_fence *filled[2];

        for (int k = 0; k < 2; k++) {
            assert_int_equal(driver->lane_create(sides[k], false, &lanes[k]), CL_SUCCESS);
            assert_int_equal(driver->mem_alloc(sides[k], size, 0, NULL, &from[k]), CL_SUCCESS);
            assert_int_equal(driver->mem_alloc(sides[k], size, 0, NULL, &to[k]), CL_SUCCESS);
            assert_int_equal(fill_ints(lanes[k], from[k], 7 + k, size / sizeof(int), NULL, &filled[k]), CL_SUCCESS);
        }
        for (int k = 0; k < 2; k++) { /* Each fetches from the other. */
            struct tsl_copy copy = linear(to[k], NULL, 0, from[1 - k], NULL, 0, size);
            struct tsl_waits waits = {.n = 1, .fences = &filled[1 - k]};

            assert_int_equal(driver->copy(lanes[k], &copy, &waits, NULL), CL_SUCCESS);
        }
        for (int k = 0; k < 2; k++) {
            assert_int_equal(get_later(lanes[k], to[k], out, size, NULL, NULL), CL_SUCCESS);
            finish(lanes[k]);
            for (size_t j = 0; j < size / sizeof(int); j++)
                assert_int_equal(((int *)out)[j], 7 + 1 - k);
        }
        for (int k = 0; k < 2; k++) {
            tsl_fence_unref(filled[k]);
            driver->mem_free(from[k]);
            driver->mem_free(to[k]);
            driver->lane_free(lanes[k]);
        }
    }
    free(out);
}

/* Of a copy by way of the host CUDA refuses something on the way: it fails, and the next one is done. */
static void a_copy_to_another_member_that_fails_spoils_nothing(void **state)
{
    static const struct {
        const char *call;
        unsigned n;
    } refusals[] = {{"cuCtxPushCurrent_v2", 2},  {"cuCtxPushCurrent_v2", 3},  {"cuStreamCreate", 1},
                    {"cuEventCreate", 1},        {"cuEventCreate", 2},        {"cuMemcpyDtoHAsync_v2", 1},
                    {"cuMemcpyHtoDAsync_v2", 1}, {"cuMemcpyHtoDAsync_v2", 2}, {"cuStreamWaitEvent", 1}};
    const size_t size = (size_t)9 << 20;
    unsigned char *in = malloc(size), *out = malloc(size);
    struct tsl_mem *mine = new_mem(size), *theirs;
    struct tsl_lane *other;
    struct tsl_copy copy;

    (void)state;
    fill_pattern(in, size);
    put(mine, in, size);
    for (size_t i = 0; is_standin() && n_members > 1 && i < 2 * sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct tsl_fence *fence = NULL;

        assert_int_equal(driver->lane_create(members[1], false, &other), CL_SUCCESS);
        assert_int_equal(driver->mem_alloc(members[1], size, 0, NULL, &theirs), CL_SUCCESS);
        copy = i % 2 ? linear(theirs, NULL, 0, mine, NULL, 0, size) : linear(mine, NULL, 0, theirs, NULL, 0, size);
        assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
        finish(lane);
        standin.refuse(refusals[i / 2].call, refusals[i / 2].n, CUDA_ERROR_OUT_OF_MEMORY);
        if (!driver->copy(lane, &copy, NULL, &fence)) {
            driver->fence_wait(fence); /* It may be done: not all of these calls are needed. */
            tsl_fence_unref(fence);
        }
        standin.refuse(refusals[i / 2].call, 0, 0);
        put(mine, in, size);
        copy = linear(theirs, NULL, 0, mine, NULL, 0, size);
        assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
        finish(lane);
        memset(out, 0, size);
        assert_int_equal(get_later(other, theirs, out, size, NULL, NULL), CL_SUCCESS);
        finish(other);
        assert_memory_equal(in, out, size);
        driver->mem_free(theirs);
        driver->lane_free(other);
    }
    driver->mem_free(mine);
    free(in);
    free(out);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Takes as many of the largest as there is room for, and gives them back; what the next one is answered. */
static cl_int fill_memory(void)
{
    struct tsl_mem *all[32] = {NULL};
    cl_int error = CL_SUCCESS;
    unsigned n = 0;

    while (!error && n < 32) {
        error = driver->mem_alloc(member, (size_t)member->caps.max_alloc_size, 0, NULL, &all[n]);
        n += !error;
    }
    while (n)
        driver->mem_free(all[--n]);
    return error;
}

static void full_memory_is_an_error_and_given_back_memory_serves_again(void **state)
{
    size_t part = (size_t)member->caps.memory_size / 8;
    struct tsl_mem *some = new_mem(part);

    (void)state;
    assert_int_equal(fill_memory(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    for (size_t i = 1; i <= 12; i++) {
        driver->mem_free(some);
        some = new_mem(part - (i << 16));
    }
    driver->mem_free(some);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* A watch, wherever it stands, tells of its own fence and of no other. */
static void nothing_is_told_before_it_is_there(void **state)
{
    enum { N = 6 };
    static const int order[N] = {4, 1, 5, 0, 3, 2};
    struct tsl_lane *other = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct told told[N] = {0};
    struct tsl_fence *fences[N];

    (void)state;
    if (is_standin())
        standin.stop(true);
    for (int i = 0; i < N; i++)
        assert_int_equal(fill_ints(other, mem, i, 16, NULL, &fences[i]), CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(driver->fence_notify(fences[order[i]], tell_test, &told[order[i]]), CL_SUCCESS);
    if (is_standin()) {
        usleep(20000);
        for (int i = 0; i < N; i++)
            assert_int_equal(atomic_load(&told[i].n), 0);
        standin.stop(false);
    }
    for (int i = 0; i < N; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(atomic_load(&told[i].status), CL_COMPLETE);
        tsl_fence_unref(fences[i]);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

static void a_gate_that_fails_fails_what_waits(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *gate = new_gate(), *gated, *second, *third;
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1, .fences = &gated};
    struct told told = {0}, told_second = {0}, late = {0};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
    assert_int_equal(fill_ints(other, mem, 3, 1024, &again, &second), CL_SUCCESS);
    /* What only stands behind it is done all the same. */
    assert_int_equal(fill_ints(lane, mem, 7, 16, NULL, &third), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(gated, tell_test, &told), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(second, tell_test, &told_second), CL_SUCCESS);
    assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    wait_until_told(&told);
    wait_until_told(&told_second);
    assert_true(atomic_load(&told.status) < 0 && atomic_load(&told_second.status) < 0);
    assert_true(driver->fence_wait(gated) < 0 && driver->fence_wait(second) < 0);
    assert_true(driver->fence_wait(gate) < 0);
    assert_int_equal(driver->fence_wait(third), CL_COMPLETE);
    assert_int_equal(driver->fence_notify(gated, tell_test, &late), CL_SUCCESS);
    assert_true(late.n == 1 && late.status < 0);
    finish(lane);
    finish(other);
    assert_int_equal(get_int(mem, 1023), 1);
    assert_int_equal(get_int(mem, 15), 7);
    /* Also what comes after the failure. */
    assert_int_equal(fill_ints(other, mem, 4, 1024, &waits, NULL), CL_SUCCESS);
    finish(other);
    assert_int_equal(get_int(mem, 1023), 1);
    tsl_fence_unref(gate);
    tsl_fence_unref(gated);
    tsl_fence_unref(second);
    tsl_fence_unref(third);
    driver->lane_free(other);
    driver->mem_free(mem);
}

/* Copies and launches that are held keep what they were given. */
static void held_work_keeps_what_it_was_given(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "add_value");
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), **list = malloc(sizeof(*list));
    struct tsl_waits waits = {.n = 1, .fences = list};
    int *value = malloc(sizeof(*value)), in[1024], out[1024] = {0};
    struct tsl_bound_arg *args = malloc(2 * sizeof(*args));
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(1024, 64);

    (void)state;
    for (int i = 0; i < 1024; i++)
        in[i] = i;
    *list = gate;
    *value = 1000;
    args[0] = mem_arg(mem);
    args[1] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(*value), .value = value};
    assert_int_equal(put_later(lane, mem, in, sizeof(in), &waits, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(lane, mem, out, sizeof(out), NULL, NULL), CL_SUCCESS);
    *value = 5;
    args[0] = mem_arg(NULL);
    *list = NULL;
    free(value);
    free(args);
    free(list);
    usleep(5000);
    assert_int_equal(out[5], 0);
    in[5] = 77; /* written before the gate opens: that is what gates are for */
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    finish(lane);
    assert_int_equal(out[1023], 2023);
    assert_int_equal(out[5], 1077);
    tsl_fence_unref(gate);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

/* The memory is a part of what the kernel is given: it is where the part would be. The whole begins within the memory,
 * as the stand-in knows no other addresses. */
static void a_part_stands_for_a_whole(void **state)
{
    enum { FIRST = 512, N = 1024 };
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "add_value");
    struct tsl_mem *mem = new_mem(2 * N * sizeof(int));
    const struct tsl_bound_part part = {.shift = (N - FIRST) * (int64_t)sizeof(int), .size = 2 * FIRST * sizeof(int)};
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 7)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(N, 64);

    (void)state;
    assert_true(member->caps.takes_parts);
    args[0].part = &part;
    window.global_offset[0] = FIRST;
    assert_int_equal(fill_ints(lane, mem, 5, 2 * N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, N - 1), 5);
    assert_int_equal(get_int(mem, N), 12);
    assert_int_equal(get_int(mem, 2 * N - 1), 12);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void a_kernel_adds(void **state)
{
    enum { N = 100000 };
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "vector_add");
    struct tsl_mem *a = new_mem(4 * N), *b = new_mem(4 * N), *sum = new_mem(4 * N);
    struct tsl_bound_arg args[] = {mem_arg(a), mem_arg(b), mem_arg(sum)};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(N, 0);
    int *in = malloc(4 * N), *out = calloc(N, 4);

    (void)state;
    for (int i = 0; i < N; i++)
        in[i] = 3 * i;
    assert_int_equal(put_later(lane, a, in, 4 * N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, b, 5, N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(sum, out, 4 * N);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], 3 * i + 5);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(a);
    driver->mem_free(b);
    driver->mem_free(sum);
    free(in);
    free(out);
}

static uint64_t packed(const uint64_t v[3])
{
    return v[0] + 1000 * v[1] + 1000000 * v[2];
}

/* Each work-item in the window told once what it should; the others told nothing. */
static void check_ids(const struct tsl_window *w, const uint64_t *out)
{
    size_t n = w->global_size[0] * w->global_size[1] * w->global_size[2];

    for (size_t i = 0; i < n; i++, out += 8) {
        const uint64_t x[3] = {i % w->global_size[0], i / w->global_size[0] % w->global_size[1],
                               i / w->global_size[0] / w->global_size[1]};
        uint64_t group[3], local[3], size[3], groups[3];
        bool in = true;

        for (int d = 0; d < 3; d++) {
            group[d] = x[d] / w->local_size[d];
            local[d] = x[d] % w->local_size[d];
            groups[d] = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
            size[d] = w->global_size[d] - group[d] * w->local_size[d];
            if (size[d] > w->local_size[d])
                size[d] = w->local_size[d];
            in &= w->whole || (group[d] >= w->group_begin[d] && group[d] < w->group_begin[d] + w->group_count[d]);
        }
        assert_int_equal(out[7], in ? w->work_dim : 0);
        for (int d = 0; in && d < 3; d++)
            assert_int_equal(out[d], x[d] + w->global_offset[d]);
        if (!in)
            continue;
        assert_int_equal(out[3], packed(group));
        assert_int_equal(out[4], packed(local));
        assert_int_equal(out[5], packed(size));
        assert_int_equal(out[6], packed(groups));
    }
}

static void ids_answer_as_for_the_whole_launch(void **state)
{
    static const struct tsl_window windows[] = {
        {1, {0}, {64, 1, 1}, {16, 1, 1}, {0}, {0}, true},
        {1, {100, 0, 0}, {70, 1, 1}, {16, 1, 1}, {0}, {0}, true},
        {1, {0}, {5, 1, 1}, {8, 1, 1}, {0}, {0}, true},
        {2, {3, 9, 0}, {20, 13, 1}, {8, 4, 1}, {0}, {0}, true},
        {3, {1, 2, 3}, {9, 7, 5}, {4, 2, 2}, {0}, {0}, true},
        {1, {0}, {64, 1, 1}, {16, 1, 1}, {1, 0, 0}, {2, 1, 1}, false},
        {1, {7, 0, 0}, {70, 1, 1}, {16, 1, 1}, {3, 0, 0}, {2, 1, 1}, false},
        {2, {3, 9, 0}, {20, 13, 1}, {8, 4, 1}, {1, 2, 0}, {2, 2, 1}, false},
        {3, {0}, {9, 7, 5}, {4, 2, 2}, {2, 3, 2}, {1, 1, 1}, false},
        {2, {0}, {2, 70000, 1}, {2, 1, 1}, {0}, {0}, true}, /* more groups than a grid has in y */
    };
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "tell_ids");

    (void)state;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        const struct tsl_window *w = &windows[i];
        size_t size = 64 * w->global_size[0] * w->global_size[1] * w->global_size[2];
        struct tsl_mem *mem = new_mem(size);
        struct tsl_bound_arg arg = mem_arg(mem);
        struct tsl_bound_args bound = bind(1, &arg);
        uint64_t *out = malloc(size);

        assert_int_equal(fill_ints(lane, mem, 0, size / 4, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, w}, NULL, NULL), CL_SUCCESS);
        get(mem, out, size);
        check_ids(w, out);
        driver->mem_free(mem);
        free(out);
    }
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void local_arguments_lie_apart(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "reverse");
    struct tsl_mem *mem = new_mem(4 * 256);
    struct tsl_bound_arg args[] = {
        mem_arg(mem), {.kind = TSL_ARG_LOCAL, .size = 4 * 33}, {.kind = TSL_ARG_LOCAL, .size = 4 * 64}};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(256, 32);
    int in[256], out[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        in[i] = i;
    put(mem, in, sizeof(in));
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(mem, out, sizeof(out));
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], 1000 + i / 32 * 32 + 31 - i % 32);
    args[1].size = 1 << 20;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    args[1].size = SIZE_MAX; /* None at all, if it were rounded up. */
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

static void kernels_are_listed_and_known(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel = NULL;
    char *names;

    (void)state;
    assert_int_equal(driver->program_kernels(program, &names), CL_SUCCESS);
    assert_string_equal(names, "vector_add;tell_ids;add_value;reverse;nothing;wild");
    free(names);
    assert_int_equal(driver->kernel_create(program, "none", &kernel, &facts), CL_INVALID_KERNEL_NAME);
    assert_null(kernel);
    assert_int_equal(driver->kernel_create(program, "vector_add", &kernel, &facts), CL_SUCCESS);
    assert_true(facts.n_args == 3 && facts.args[0].may == TSL_MAY_READ && facts.args[2].may == TSL_MAY_WRITE);
    assert_true(facts.work_group_size >= 32 && facts.preferred_multiple == 32);
    assert_true(driver->windows_ok(kernel, &facts));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static cl_int build_bytes(const void *data, size_t size, enum tsl_program_kind kind, struct tsl_dprogram **program,
                          char **log)
{
    struct tsl_program_input input = {.kind = kind, .data = data, .size = size, .options = ""};

    *program = NULL;
    return driver->build(member, &input, program, log);
}

static void binaries_come_back_and_damaged_ones_are_refused(void **state)
{
    struct tsl_dprogram *program = build_kernels(member), *again;
    void *data;
    size_t size;
    char *log;

    (void)state;
    assert_int_equal(driver->program_binary(program, &data, &size), CL_SUCCESS);
    assert_int_equal(build_bytes(data, size, TSL_PROGRAM_BINARY, &again, &log), CL_SUCCESS);
    free(log);
    driver->program_free(again);
    for (size_t cut = 0; cut < size; cut += cut < 1000 ? 1 : 997) {
        assert_int_equal(build_bytes(data, cut, TSL_PROGRAM_BINARY, &again, &log), CL_INVALID_BINARY);
        assert_non_null(log);
        free(log);
    }
    assert_int_equal(
        driver->build(member,
                      &(struct tsl_program_input){
                          .kind = TSL_PROGRAM_BINARY, .data = data, .size = size, .options = "", .foreign = true},
                      &again, &log),
        CL_INVALID_BINARY);
    free(log);
    free(data);
    driver->program_free(program);
}

static void ptx_that_is_none_is_told_of(void **state)
{
    struct tsl_dprogram *program;
    char *log;
    size_t size;
    void *image = tsl_cuda_image_encode(TSL_CUDA_IMAGE_PTX, 75, 0, NULL, "nonsense", 8, &size);

    (void)state;
    assert_int_equal(build_bytes(image, size, TSL_PROGRAM_BINARY, &program, &log), CL_BUILD_PROGRAM_FAILURE);
    assert_null(program);
    assert_true(strlen(log) > 20);
    free(log);
    free(image);
}

/* ---- Pinned pieces ----------------------------------------------------------------------------------------------- */

static void fill_with_pieces(size_t size, unsigned n)
{
    struct tsl_mem **mems = calloc(n, sizeof(struct tsl_mem *));
    void *host;

    assert_non_null(mems);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(driver->host_alloc(member, size, &host, &mems[i]), CL_SUCCESS);
        memset(host, 1, size);
    }
    for (unsigned i = 0; i < n; i++)
        driver->mem_free(mems[i]);
    free(mems);
}

/* Of what small pieces were cut from no more than 16 MiB stay pinned without use. */
static void unused_pieces_are_given_back(void **state)
{
    unsigned most;

    (void)state;
    most = is_standin() ? standin.alive() + 16 : 0;
    for (unsigned round = 0; round < 3; round++) {
        fill_with_pieces((size_t)256 << 10, 64);
        fill_with_pieces((size_t)4 << 10, 4096);
    }
    for (unsigned i = 0; is_standin() && i < 10000 && standin.alive() > most; i++)
        usleep(1000);
    if (is_standin())
        assert_true(standin.alive() <= most);
    fill_with_pieces((size_t)16 << 10, 1024);
}

static atomic_bool trims;

static void *trim_pieces(void *arg)
{
    (void)arg;
    while (atomic_load(&trims))
        tsl_cuda_pieces_trim(tsl_cuda_member(member));
    return NULL;
}

/* A block that is new isn't given back as unused before its first piece is taken. */
static void new_pieces_are_not_given_back(void **state)
{
    pthread_t threads[4];

    (void)state;
    fill_with_pieces((size_t)4 << 10, 4096); /* As many unused blocks as are kept. */
    atomic_store(&trims, true);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, trim_pieces, NULL), 0);
    for (unsigned i = 0; i < 2000; i++)
        fill_with_pieces((size_t)256 << 10, 1);
    atomic_store(&trims, false);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* ---- The application's own CUDA ---------------------------------------------------------------------------------- */

static struct {
    CUresult (*current)(CUcontext *context);
    CUresult (*create)(CUcontext *context, unsigned flags, CUdevice device);
    CUresult (*destroy)(CUcontext context);
    CUresult (*alloc)(CUdeviceptr *address, size_t size); /* these only on a real GPU */
    CUresult (*free)(CUdeviceptr address);
    CUresult (*set)(CUdeviceptr address, unsigned value, size_t n);
    CUresult (*get)(void *host, CUdeviceptr address, size_t size);
} own;

static void find_own(void)
{
    const char *name = getenv("TESELA_CUDA_LIBRARY");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    assert_non_null(library);
    *(void **)&own.current = dlsym(library, "cuCtxGetCurrent");
    *(void **)&own.create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&own.destroy = dlsym(library, "cuCtxDestroy_v2");
    *(void **)&own.alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&own.free = dlsym(library, "cuMemFree_v2");
    *(void **)&own.set = dlsym(library, "cuMemsetD32_v2");
    *(void **)&own.get = dlsym(library, "cuMemcpyDtoH_v2");
    dlclose(library);
    assert_non_null(own.current);
}

/* Is this context current, and, of a real GPU, does it compute? */
static void expect_current(CUcontext context, CUdeviceptr address)
{
    CUcontext now = NULL;
    unsigned value = 0;

    assert_int_equal(own.current(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, context);
    if (!address)
        return;
    assert_int_equal(own.set(address, 77, 256), CUDA_SUCCESS);
    assert_int_equal(own.get(&value, address + 1020, sizeof(value)), CUDA_SUCCESS);
    assert_int_equal(value, 77);
}

/* Each way into the driver, with what the application made current looked at behind each. */
static void use_driver_beside(CUcontext context, CUdeviceptr address)
{
    size_t size = 4 << 20;
    struct tsl_mem *mem = new_mem(size);
    unsigned char *bytes = calloc(1, size);
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 3)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(64, 64);
    struct tsl_fence *fence;

    expect_current(context, address);
    program = build_kernels(member);
    kernel = new_kernel(program, "add_value");
    expect_current(context, address);
    put(mem, bytes, size);
    expect_current(context, address);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, &fence), CL_SUCCESS);
    expect_current(context, address);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    expect_current(context, address);
    get(mem, bytes, size);
    expect_current(context, address);
    assert_int_equal(bytes[0], 3);
    finish(lane);
    tsl_fence_unref(fence);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
    free(bytes);
    expect_current(context, address);
}

static void the_applications_contexts_stay_current(void **state)
{
    CUdevice device = tsl_cuda_member(member)->gpu->device;
    CUcontext primary, mine, popped;
    CUdeviceptr address = 0;

    (void)state;
    find_own();
    use_driver_beside(NULL, 0);
    assert_int_equal(tsl_cu.cuDevicePrimaryCtxRetain(&primary, device), CUDA_SUCCESS);
    assert_int_equal(tsl_cu.cuCtxPushCurrent_v2(primary), CUDA_SUCCESS);
    use_driver_beside(primary, 0);
    assert_int_equal(own.create(&mine, 0, device), CUDA_SUCCESS); /* and makes it current */
    assert_ptr_not_equal(mine, primary);
    if (!is_standin())
        assert_int_equal(own.alloc(&address, 1024), CUDA_SUCCESS);
    use_driver_beside(mine, address);
    if (address)
        assert_int_equal(own.free(address), CUDA_SUCCESS);
    assert_int_equal(own.destroy(mine), CUDA_SUCCESS);
    assert_int_equal(tsl_cu.cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    assert_ptr_equal(popped, primary);
    tsl_cu.cuDevicePrimaryCtxRelease_v2(device);
}

/* ---- Small reads of many threads --------------------------------------------------------------------------------- */

#define N_READERS 4
#define N_READS   4000

/* Each on a lane of its own. *wrong (unsigned): how many reads brought something else, or failed. */
static void *read_small(void *wrong)
{
    struct tsl_lane *l;
    struct tsl_mem *mem;
    unsigned *n = wrong;
    int value;

    if (driver->lane_create(member, false, &l) || driver->mem_alloc(member, 64, CL_MEM_READ_WRITE, NULL, &mem)) {
        *n = N_READS;
        return NULL;
    }
    for (int i = 1; i <= N_READS; i++) {
        struct tsl_fence *fence;

        value = 0;
        if (fill_ints(l, mem, i, 1, NULL, NULL) || get_later(l, mem, &value, sizeof(value), NULL, &fence)) {
            ++*n;
            continue;
        }
        driver->flush(l);
        *n += driver->fence_wait(fence) != CL_COMPLETE || value != i;
        tsl_fence_unref(fence);
    }
    driver->finish(l);
    driver->mem_free(mem);
    driver->lane_free(l);
    return NULL;
}

static void small_reads_of_many_threads_bring_what_is_there(void **state)
{
    unsigned wrong[N_READERS] = {0};
    pthread_t threads[N_READERS];

    (void)state;
    for (int i = 0; i < N_READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_small, &wrong[i]), 0);
    for (int i = 0; i < N_READERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N_READERS; i++)
        assert_int_equal(wrong[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_nvidias),
        cmocka_unit_test(members_copy_to_each_other),
        cmocka_unit_test(members_copy_both_ways_at_once),
        cmocka_unit_test(a_copy_to_another_member_that_fails_spoils_nothing),
        cmocka_unit_test(full_memory_is_an_error_and_given_back_memory_serves_again),
        cmocka_unit_test(nothing_is_told_before_it_is_there),
        cmocka_unit_test(a_gate_that_fails_fails_what_waits),
        cmocka_unit_test(held_work_keeps_what_it_was_given),
        cmocka_unit_test(a_part_stands_for_a_whole),
        cmocka_unit_test(a_kernel_adds),
        cmocka_unit_test(ids_answer_as_for_the_whole_launch),
        cmocka_unit_test(local_arguments_lie_apart),
        cmocka_unit_test(kernels_are_listed_and_known),
        cmocka_unit_test(binaries_come_back_and_damaged_ones_are_refused),
        cmocka_unit_test(ptx_that_is_none_is_told_of),
        cmocka_unit_test(unused_pieces_are_given_back),
        cmocka_unit_test(new_pieces_are_not_given_back),
        cmocka_unit_test(the_applications_contexts_stay_current),
        cmocka_unit_test(small_reads_of_many_threads_bring_what_is_there),
    };

    return cmocka_run_group_tests_name("cuda", tests, open_member, close_member);
}
