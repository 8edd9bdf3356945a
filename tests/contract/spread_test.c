/* What drivers with domains promise of memory that is spread over members (driver/driver.h): on the fake driver, on the
 * stand-in for libcuda, on the built-in CPU as several members with memory of their own, and on GPUs that reach each
 * other's memory. SPREAD_MEMBERS: so many are in one domain. CPU_LINE: what a line CPU of TESELA_CONFIG says, of three.
 */
/* timeout: 120 */
/* variant: fake FAKE=yes SPREAD_MEMBERS=3 TESELA_VENDORS={build}/vendors-none */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 SPREAD_MEMBERS=2 */
/* variant: standin4 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=4 STANDIN_SEED=5 SPREAD_MEMBERS=4 */
/* variant: islands TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=4 STANDIN_ISLAND=2 SPREAD_MEMBERS=2 */
/* variant: alone TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 STANDIN_ISLAND=1 SPREAD_MEMBERS=0 */
/* variant: off TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 TESELA_PEERS=off SPREAD_MEMBERS=0 */
/* variant: cpu CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none SPREAD_MEMBERS=3 */
/* variant: host CPU_LINE="1 0-0 0" TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none SPREAD_MEMBERS=0 */
/* variant: copies CPU_LINE="1 0-0 0" TESELA_ZERO_COPY=off TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none SPREAD_MEMBERS=3 */
/* two: */
#include "../cuda/cuda_env.h"
#include "build_folder.h"
#include "compile_client/client.h"
#include "cpu_lines.h"
#include "driver/fake.h"

#include <pthread.h>

#define MAX_ON 4

/* The members of the first member's domain, each with a lane and a kernel; none if there are fewer than two. */
static unsigned n_on;
static struct tsl_member *on[MAX_ON];
static struct tsl_lane *lanes[MAX_ON];
static struct tsl_dprogram *programs[MAX_ON];
static struct tsl_dkernel *adds[MAX_ON];
static size_t granule;

/* ---- Setup ------------------------------------------------------------------------------------------------------- */

static void add_body(const struct tsl_fake_run *run)
{
    const int *a = run->args[0].ptr, *b = run->args[1].ptr;
    int *out = run->args[2].ptr;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        out[i] = a[i] + b[i];
}

static void add_touch(const struct tsl_fake_run *run)
{
    size_t begin = run->first[0] * sizeof(int), size = run->end[0] * sizeof(int) - begin;

    for (cl_uint i = 0; i < 3; i++)
        tsl_fake_touch(run, i, begin, size, i == 2);
}

/* Three of four members are in a domain. */
static void begin_fake(void)
{
    static const enum tsl_fact_kind kinds[3] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static const unsigned access[3] = {TSL_MAY_READ, TSL_MAY_READ, TSL_MAY_WRITE};
    struct tsl_fake_setup setup = {.n_members = 4, .threads = true, .seed = 1};

    for (unsigned i = 0; i < 4; i++)
        setup.members[i] = (struct tsl_fake_member){.gates = true, .context = 1, .memory_size = 64 << 20};
    for (unsigned i = 0; i < 3; i++)
        setup.members[i].domain = 7;
    tsl_fake_kernel("vector_add", add_body, 3, kinds, access);
    tsl_fake_kernel_traits("vector_add", &(struct tsl_fake_traits){.touch = add_touch});
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
}

static bool is_fake(void)
{
    return driver == &tsl_fake_driver;
}

static bool is_cpu(void)
{
    return strcmp(driver->name, "cpu") == 0;
}

static void set_compiler(void)
{
    static char path[4096];

    build_compiler(path, sizeof(path));
    tsl_client_set_program(path, NULL);
}

static struct tsl_dprogram *build_add(struct tsl_member *m)
{
    const char *text = is_fake() ? "kernel vector_add a,b,out\n"
                                 : "kernel void vector_add(global const int *a, global const int *b, global int *out) "
                                   "{ size_t i = get_global_id(0); out[i] = a[i] + b[i]; }";
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .text = text, .text_size = strlen(text)};
    struct tsl_dprogram *program;
    char *log;

    if (!is_fake() && !is_cpu())
        return build_kernels(m);
    input.options = input.text_options = "";
    assert_int_equal(driver->build(m, &input, &program, &log), CL_SUCCESS);
    free(log);
    return program;
}

static void find_domain(void)
{
    for (unsigned i = 0; i < n_members && n_on < MAX_ON; i++)
        if (members[i]->driver == driver && member->caps.domain && members[i]->caps.domain == member->caps.domain)
            on[n_on++] = members[i];
    if (n_on < 2)
        n_on = 0;
    granule = member->caps.domain_granule;
    for (unsigned i = 0; i < n_on; i++) {
        assert_int_equal(driver->lane_create(on[i], false, &lanes[i]), CL_SUCCESS);
        programs[i] = build_add(on[i]);
        adds[i] = new_kernel(programs[i], "vector_add");
    }
}

static int set_up(void **state)
{
    int error;

    if (getenv("FAKE"))
        begin_fake();
    cpu_lines_use(3);
    if (getenv("CPU_LINE"))
        set_compiler();
    error = open_members(state);
    find_standin();
    find_domain();
    return error;
}

static int tear_down(void **state)
{
    for (unsigned i = 0; i < n_on; i++) {
        driver->kernel_free(adds[i]);
        driver->program_free(programs[i]);
        driver->lane_free(lanes[i]);
    }
    close_members(state);
    if (getenv("FAKE")) {
        assert_int_equal(tsl_fake_live().spreads, 0);
        assert_int_equal(tsl_fake_live().mems, 0);
        for (unsigned i = 0; tsl_fake_violation(i); i++)
            fail_msg("%s", tsl_fake_violation(i));
        tsl_fake_end();
    }
    check_standin();
    return 0;
}

/* ---- Short forms ------------------------------------------------------------------------------------------------- */

static cl_int try_spread(unsigned n, const size_t *sizes, struct tsl_mem **mems, unsigned *full)
{
    return driver->spread_alloc(&(struct tsl_spread_request){n, on, sizes}, mems, full);
}

/* Equal parts on all. */
static size_t new_spread(size_t n_granules, struct tsl_mem **mems)
{
    size_t sizes[MAX_ON];
    unsigned full;

    for (unsigned i = 0; i < n_on; i++)
        sizes[i] = n_granules * granule;
    assert_int_equal(try_spread(n_on, sizes, mems, &full), CL_SUCCESS);
    for (unsigned i = 0; i < n_on; i++) {
        assert_ptr_equal(mems[i]->member, on[i]);
        assert_int_equal(mems[i]->size, n_on * n_granules * granule);
    }
    return mems[0]->size;
}

static void free_spread(struct tsl_mem *const *mems)
{
    for (unsigned i = 0; i < n_on; i++)
        driver->mem_free(mems[i]);
}

static void move(unsigned i, const struct tsl_copy *copy)
{
    assert_int_equal(driver->copy(lanes[i], copy, NULL, NULL), CL_SUCCESS);
    finish(lanes[i]);
}

static void write_all(unsigned i, struct tsl_mem *mem, const void *bytes)
{
    struct tsl_copy copy = linear(mem, NULL, 0, NULL, bytes, 0, mem->size);

    move(i, &copy);
}

static void read_all(unsigned i, struct tsl_mem *mem, void *bytes)
{
    struct tsl_copy copy = linear(NULL, bytes, 0, mem, NULL, 0, mem->size);

    move(i, &copy);
}

static unsigned char *new_pattern(size_t size)
{
    unsigned char *bytes = malloc(size);

    assert_non_null(bytes);
    fill_pattern(bytes, size);
    return bytes;
}

static void expect_bytes(unsigned i, struct tsl_mem *mem, const unsigned char *expected)
{
    unsigned char *found = calloc(1, mem->size);

    read_all(i, mem, found);
    assert_memory_equal(found, expected, mem->size);
    free(found);
}

/* ---- What members say -------------------------------------------------------------------------------------------- */

static void members_say_their_domain(void **state)
{
    const char *expected = getenv("SPREAD_MEMBERS");

    (void)state;
    if (expected)
        assert_int_equal(n_on, atoi(expected));
    for (unsigned i = 0; i < n_members; i++) {
        const struct tsl_member_caps *caps = &members[i]->caps;

        if (!caps->domain)
            continue;
        assert_non_null(members[i]->driver->spread_alloc);
        assert_true(caps->domain_granule && !(caps->domain_granule & (caps->domain_granule - 1)));
        for (unsigned k = 0; k < i; k++)
            if (members[k]->driver == members[i]->driver && members[k]->caps.domain == caps->domain) {
                assert_int_equal(members[k]->caps.domain_granule, caps->domain_granule);
                assert_int_equal(members[k]->caps.domain_atomics, caps->domain_atomics);
            }
    }
}

/* ---- One memory -------------------------------------------------------------------------------------------------- */

/* Drivers whose members wait for no others leave that to the core. */
static struct tsl_waits after(unsigned i, struct tsl_fence **fence)
{
    if (driver->can_wait(on[i], *fence))
        return (struct tsl_waits){1, fence};
    assert_int_equal(driver->fence_wait(*fence), CL_COMPLETE);
    return (struct tsl_waits){0};
}

/* One writes all of it, then each of the others changes its share, then all see all: each after the one before, by its
 * fence alone. */
static void what_one_writes_another_reads(void **state)
{
    struct tsl_mem *mems[MAX_ON];
    struct tsl_fence *last, *next;
    unsigned char *bytes, *found[MAX_ON];
    size_t size;

    (void)state;
    if (!n_on)
        return;
    size = new_spread(3, mems);
    bytes = new_pattern(size);
    assert_int_equal(put_later(lanes[0], mems[0], bytes, size, NULL, &last), CL_SUCCESS);
    for (unsigned i = 1; i < n_on; i++) {
        struct tsl_fill fill = {{.mem = mems[i], .offset = i * size / n_on - 16}, {32, 1, 1}, &i, sizeof(i)};

        struct tsl_waits waits;

        assert_int_equal(driver->flush(lanes[i - 1]), CL_SUCCESS);
        waits = after(i, &last);
        assert_int_equal(driver->fill(lanes[i], &fill, &waits, &next), CL_SUCCESS);
        tsl_fence_unref(last);
        last = next;
    }
    assert_int_equal(driver->flush(lanes[n_on - 1]), CL_SUCCESS);
    for (unsigned i = 0; i < n_on; i++) {
        struct tsl_waits waits = after(i, &last);

        found[i] = calloc(1, size);
        assert_int_equal(get_later(lanes[i], mems[i], found[i], size, &waits, NULL), CL_SUCCESS);
    }
    for (unsigned i = 0; i < n_on; i++)
        finish(lanes[i]);
    for (unsigned i = 1; i < n_on; i++)
        for (size_t k = 0; k < 32; k += sizeof(i))
            memcpy(bytes + i * size / n_on - 16 + k, &i, sizeof(i));
    for (unsigned i = 0; i < n_on; i++) {
        assert_memory_equal(found[i], bytes, size);
        free(found[i]);
    }
    tsl_fence_unref(last);
    free(bytes);
    free_spread(mems);
}

static void parts_may_be_empty_and_the_last_one_ends_anywhere(void **state)
{
    size_t sizes[MAX_ON] = {0};
    struct tsl_mem *mems[MAX_ON];
    unsigned full;

    (void)state;
    for (unsigned last = 0; last < n_on; last++) {
        unsigned char *bytes;

        memset(sizes, 0, sizeof(sizes));
        sizes[0] = 2 * granule;
        sizes[last] = (last ? 0 : 2 * granule) + 12345 % granule;
        assert_int_equal(try_spread(n_on, sizes, mems, &full), CL_SUCCESS);
        assert_int_equal(mems[0]->size, 2 * granule + 12345 % granule);
        bytes = new_pattern(mems[0]->size);
        write_all(last, mems[last], bytes);
        for (unsigned i = 0; i < n_on; i++)
            expect_bytes(i, mems[i], bytes);
        free(bytes);
        free_spread(mems);
    }
}

static void some_of_the_members_are_enough(void **state)
{
    struct tsl_mem *mem;
    size_t size = granule;
    unsigned full;
    unsigned char *bytes;

    (void)state;
    if (!n_on)
        return;
    assert_int_equal(try_spread(1, &size, &mem, &full), CL_SUCCESS);
    bytes = new_pattern(size);
    write_all(0, mem, bytes);
    expect_bytes(0, mem, bytes);
    free(bytes);
    driver->mem_free(mem);
}

/* ---- Copies and fills -------------------------------------------------------------------------------------------- */

/* From one border to another, over the border in a box, and to memory of one member's own. */
static void copies_go_across_borders(void **state)
{
    struct tsl_mem *mems[MAX_ON], *own;
    unsigned char *bytes, *found;
    size_t size, part;

    (void)state;
    if (!n_on)
        return;
    size = new_spread(2, mems);
    part = size / n_on;
    bytes = new_pattern(size);
    found = calloc(1, size);
    for (unsigned i = 0; i < n_on; i++) {
        struct tsl_copy within = linear(mems[i], NULL, 7, mems[i], NULL, part - 50, 100);
        struct tsl_copy box = {
            .dst = {.mem = mems[i], .offset = 200, .row_pitch = 8},
            .src = {.mem = mems[i], .offset = part - 64, .row_pitch = 32},
            .region = {8, 4, 1},
        };
        struct tsl_copy out, back;

        write_all(i, mems[i], bytes);
        move(i, &within);
        move(i, &box);
        read_all((i + 1) % n_on, mems[(i + 1) % n_on], found);
        assert_memory_equal(found + 7, bytes + part - 50, 100);
        for (size_t row = 0; row < 4; row++)
            assert_memory_equal(found + 200 + 8 * row, bytes + part - 64 + 32 * row, 8);
        assert_int_equal(driver->mem_alloc(on[i], size, CL_MEM_READ_WRITE, NULL, &own), CL_SUCCESS);
        write_all(i, mems[i], bytes);
        out = linear(own, NULL, 0, mems[i], NULL, 0, size);
        back = linear(mems[i], NULL, 1, own, NULL, 0, size - 1);
        move(i, &out);
        expect_bytes(i, own, bytes);
        move(i, &back);
        read_all(i, mems[i], found);
        assert_memory_equal(found + 1, bytes, size - 1);
        driver->mem_free(own);
    }
    free(found);
    free(bytes);
    free_spread(mems);
}

/* Between ranges, and from and to a member's own memory in another's lane, where members copy so. */
static void members_copy_to_each_other(void **state)
{
    struct tsl_mem *from[MAX_ON], *to[MAX_ON], *own;
    unsigned char *bytes;
    size_t size;

    (void)state;
    if (!n_on || !driver->can_copy_peer(on[0], on[1]))
        return;
    size = new_spread(1, from);
    new_spread(1, to);
    bytes = new_pattern(size);
    assert_int_equal(driver->mem_alloc(on[1], size, CL_MEM_READ_WRITE, NULL, &own), CL_SUCCESS);
    write_all(0, from[0], bytes);
    move(0, &(struct tsl_copy){.dst = {.mem = to[1]}, .src = {.mem = from[0]}, .region = {size, 1, 1}});
    expect_bytes(0, to[0], bytes);
    move(0, &(struct tsl_copy){.dst = {.mem = own}, .src = {.mem = from[0]}, .region = {size, 1, 1}});
    expect_bytes(1, own, bytes);
    memset(bytes, 5, size);
    write_all(1, own, bytes);
    move(1, &(struct tsl_copy){.dst = {.mem = to[0]}, .src = {.mem = own}, .region = {size, 1, 1}});
    expect_bytes(1, to[1], bytes);
    driver->mem_free(own);
    free(bytes);
    free_spread(from);
    free_spread(to);
}

static void fills_go_across_borders(void **state)
{
    static const size_t pattern_sizes[] = {1, 2, 4, 16, 128};
    struct tsl_mem *mems[MAX_ON];
    unsigned char pattern[128], *expected;
    size_t size, begin;

    (void)state;
    if (!n_on)
        return;
    fill_pattern(pattern, sizeof(pattern));
    size = new_spread(2, mems);
    begin = size / n_on - 128;
    expected = calloc(1, size);
    for (size_t k = 0; k < sizeof(pattern_sizes) / sizeof(pattern_sizes[0]); k++) {
        unsigned i = (unsigned)k % n_on, other = (i + 1) % n_on;
        struct tsl_fill fill = {{.mem = mems[i], .offset = begin}, {size - 2 * begin, 1, 1}, pattern, pattern_sizes[k]};

        memset(expected, 0, size);
        write_all(other, mems[other], expected);
        assert_int_equal(driver->fill(lanes[i], &fill, NULL, NULL), CL_SUCCESS);
        finish(lanes[i]);
        for (size_t at = 0; at < fill.region[0]; at++)
            expected[begin + at] = pattern[at % pattern_sizes[k]];
        expect_bytes(other, mems[other], expected);
    }
    free(expected);
    free_spread(mems);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

#define LOCAL 64

/* Member i adds the share-th share of all. */
static void add_share(unsigned i, unsigned share, struct tsl_mem *const *mems, size_t n)
{
    struct tsl_bound_arg list[3] = {mem_arg(mems[0]), mem_arg(mems[1]), mem_arg(mems[2])};
    struct tsl_bound_args args = bind(3, list);
    struct tsl_window window = whole(n, LOCAL);
    size_t groups = n / LOCAL, begin = groups * share / n_on;

    window.whole = false;
    window.group_begin[0] = begin;
    window.group_count[0] = groups * (share + 1) / n_on - begin;
    window.group_count[1] = window.group_count[2] = 1;
    assert_int_equal(driver->launch(lanes[i], &(struct tsl_launch){adds[i], &args, &window}, NULL, NULL), CL_SUCCESS);
}

/* All members add at once, each its share; `turn`: of whose part that is. */
static void add_all(struct tsl_mem *(*spreads)[MAX_ON], size_t n, unsigned turn)
{
    for (unsigned i = 0; i < n_on; i++) {
        struct tsl_mem *mine[3] = {spreads[0][i], spreads[1][i], spreads[2][i]};

        add_share(i, (i + turn) % n_on, mine, n);
    }
    for (unsigned i = 0; i < n_on; i++)
        assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
    for (unsigned i = 0; i < n_on; i++)
        finish(lanes[i]);
}

static void launches_of_all_work_on_it_at_once(void **state)
{
    struct tsl_mem *spreads[3][MAX_ON];
    size_t size = 0, n;
    int *values, *found;

    (void)state;
    if (!n_on)
        return;
    for (int k = 0; k < 3; k++)
        size = new_spread(4, spreads[k]);
    n = size / sizeof(int);
    values = malloc(size);
    found = malloc(size);
    for (size_t i = 0; i < n; i++)
        values[i] = (int)i;
    write_all(0, spreads[0][0], values);
    write_all(1, spreads[1][1], values);
    for (unsigned turn = 0; turn < n_on; turn++) {
        memset(found, 0, size);
        write_all(turn, spreads[2][turn], found);
        add_all(spreads, n, turn);
        read_all(turn, spreads[2][turn], found);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(found[i], 2 * values[i]);
    }
    free(found);
    free(values);
    for (int k = 0; k < 3; k++)
        free_spread(spreads[k]);
}

static void parts_of_it_are_arguments(void **state)
{
    struct tsl_mem *mems[MAX_ON], *sub;
    size_t size, at, n = 1024;
    int *values;
    struct tsl_window window = whole(n, LOCAL);

    (void)state;
    if (!n_on)
        return;
    size = new_spread(16384 / granule + 1, mems);
    at = (size / n_on - n * 2) / on[1]->caps.base_align * on[1]->caps.base_align;
    values = calloc(1, size);
    for (size_t i = 0; i < size / sizeof(int); i++)
        values[i] = (int)i;
    write_all(0, mems[0], values);
    assert_int_equal(driver->mem_sub(mems[1], at, n * sizeof(int), &sub), CL_SUCCESS);
    {
        struct tsl_bound_arg list[3] = {mem_arg(sub), mem_arg(sub), mem_arg(sub)};
        struct tsl_bound_args args = bind(3, list);

        assert_int_equal(driver->launch(lanes[1], &(struct tsl_launch){adds[1], &args, &window}, NULL, NULL),
                         CL_SUCCESS);
        finish(lanes[1]);
    }
    driver->mem_free(sub);
    for (size_t i = 0; i < n; i++)
        values[at / sizeof(int) + i] *= 2;
    expect_bytes(0, mems[0], (unsigned char *)values);
    free(values);
    free_spread(mems);
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct tsl_mem *mems[MAX_ON] = {NULL};
    struct tsl_member *twice[2] = {on[0], on[0]};
    unsigned full;

    (void)state;
    if (!n_on)
        return;
    assert_int_equal(try_spread(2, (size_t[]){granule - 1, granule}, mems, &full), CL_INVALID_VALUE);
    assert_int_equal(
        driver->spread_alloc(&(struct tsl_spread_request){2, twice, (size_t[]){granule, granule}}, mems, &full),
        CL_INVALID_VALUE);
    assert_int_equal(try_spread(2, (size_t[]){0, 0}, mems, &full), CL_INVALID_BUFFER_SIZE);
    assert_int_equal(try_spread(2, (size_t[]){granule, SIZE_MAX / 2}, mems, &full), CL_INVALID_BUFFER_SIZE);
    for (unsigned i = 0; i < n_members; i++) {
        struct tsl_member *other[2] = {on[0], members[i]};

        if (members[i]->driver != driver || members[i]->caps.domain == on[0]->caps.domain)
            continue;
        assert_int_equal(
            driver->spread_alloc(&(struct tsl_spread_request){2, other, (size_t[]){granule, granule}}, mems, &full),
            CL_INVALID_VALUE);
    }
    assert_null(mems[0]);
    if (is_fake()) {
        assert_true(tsl_fake_violations(TSL_FAKE_BAD_ARGUMENT) > 0);
        tsl_fake_forget();
    }
}

/* The first part would be there, the second isn't: neither is left taken. What the host has isn't counted. */
static void too_much_is_refused_and_nothing_is_left(void **state)
{
    struct tsl_mem *mems[MAX_ON] = {NULL};
    size_t sizes[MAX_ON] = {0}, taken = 0;
    unsigned full = 99;

    (void)state;
    if (!n_on || is_cpu())
        return;
    sizes[0] = on[0]->caps.memory_size / 4 / granule * granule;
    sizes[1] = on[1]->caps.memory_size / granule * granule;
    assert_int_equal(driver->mem_alloc(on[1], granule, CL_MEM_READ_WRITE, NULL, &mems[1]), CL_SUCCESS);
    taken = is_fake() ? tsl_fake_live().mem_size : standin.alive ? standin.alive() : 0;
    for (int round = 0; round < 6; round++) {
        struct tsl_mem *none[MAX_ON] = {NULL};

        assert_int_equal(try_spread(n_on, sizes, none, &full), CL_MEM_OBJECT_ALLOCATION_FAILURE);
        assert_int_equal(full, 1);
        assert_null(none[0]);
        full = 99;
    }
    if (is_fake())
        assert_int_equal(tsl_fake_live().mem_size, taken);
    if (is_standin())
        assert_int_equal(standin.alive(), taken);
    driver->mem_free(mems[1]);
    sizes[1] = sizes[0] = on[0]->caps.memory_size / 2 / granule * granule;
    assert_int_equal(try_spread(n_on, sizes, mems, &full), CL_SUCCESS);
    free_spread(mems);
}

/* ---- Freeing ----------------------------------------------------------------------------------------------------- */

/* One member is done with it while another has work on it on its way. */
static void it_lives_until_the_last_is_freed(void **state)
{
    struct tsl_mem *mems[MAX_ON];
    struct tsl_fence *fences[20];
    unsigned char *found;
    size_t size;

    (void)state;
    if (!n_on)
        return;
    size = new_spread(2, mems);
    found = calloc(1, size);
    if (is_standin())
        standin.stop(true);
    for (int k = 0; k < 20; k++)
        assert_int_equal(fill_ints(lanes[1], mems[1], 0x01010101 * (k + 1), size / 4, NULL, &fences[k]), CL_SUCCESS);
    assert_int_equal(driver->flush(lanes[1]), CL_SUCCESS);
    for (unsigned i = 0; i < n_on; i++)
        if (i != 1)
            driver->mem_free(mems[i]);
    if (is_standin())
        standin.stop(false);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(driver->fence_wait(fences[k]), CL_COMPLETE);
        tsl_fence_unref(fences[k]);
    }
    read_all(1, mems[1], found);
    for (size_t k = 0; k < size; k++)
        assert_int_equal(found[k], 20);
    driver->mem_free(mems[1]);
    free(found);
}

#define ROUNDS 1000

static void a_thousand_come_and_go(void **state)
{
    struct tsl_mem *mems[MAX_ON];
    unsigned alive;

    (void)state;
    if (!n_on)
        return;
    alive = is_standin() ? standin.alive() : 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        new_spread(1 + round % 3, mems);
        if (round % 10 == 0) {
            struct tsl_fence *fence;
            unsigned i = round / 10 % n_on;

            assert_int_equal(fill_ints(lanes[i], mems[i], 3, mems[i]->size / 4, NULL, &fence), CL_SUCCESS);
            assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
            assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
            tsl_fence_unref(fence);
        }
        free_spread(mems);
    }
    if (is_fake())
        assert_int_equal(tsl_fake_live().mem_size, 0);
    if (is_standin()) /* Events are kept for later ones. */
        assert_in_range(standin.alive(), alive, alive + 8);
}

/* Each thread with a member's lane, and ranges of its own over all of them. */
static void *come_and_go(void *arg)
{
    unsigned i = *(unsigned *)arg;

    for (int round = 0; round < 100; round++) {
        struct tsl_mem *mems[MAX_ON];
        size_t size = new_spread(1, mems), last = size / 4 - 1;
        struct tsl_copy copy;
        int value = 0;

        assert_int_equal(fill_ints(lanes[i], mems[i], round, size / 4, NULL, NULL), CL_SUCCESS);
        copy = linear(NULL, &value, 0, mems[i], NULL, 4 * last, 4);
        move(i, &copy);
        assert_int_equal(value, round);
        free_spread(mems);
    }
    return NULL;
}

static void they_come_and_go_in_several_threads(void **state)
{
    static unsigned numbers[MAX_ON] = {0, 1, 2, 3};
    pthread_t threads[MAX_ON];

    (void)state;
    for (unsigned i = 0; i < n_on; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &numbers[i]), 0);
    for (unsigned i = 0; i < n_on; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_say_their_domain),
        cmocka_unit_test(what_one_writes_another_reads),
        cmocka_unit_test(parts_may_be_empty_and_the_last_one_ends_anywhere),
        cmocka_unit_test(some_of_the_members_are_enough),
        cmocka_unit_test(copies_go_across_borders),
        cmocka_unit_test(members_copy_to_each_other),
        cmocka_unit_test(fills_go_across_borders),
        cmocka_unit_test(launches_of_all_work_on_it_at_once),
        cmocka_unit_test(parts_of_it_are_arguments),
        cmocka_unit_test(requests_that_make_no_sense_are_refused),
        cmocka_unit_test(too_much_is_refused_and_nothing_is_left),
        cmocka_unit_test(it_lives_until_the_last_is_freed),
        cmocka_unit_test(a_thousand_come_and_go),
        cmocka_unit_test(they_come_and_go_in_several_threads),
    };

    return cmocka_run_group_tests_name("memory over members", tests, set_up, tear_down);
}
