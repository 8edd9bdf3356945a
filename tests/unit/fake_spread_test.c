/* Memory of the fake driver's that is spread over members: one memory, one history, and the books of each member. */
#include "fake_bed.h"

#include "base/clock.h"

#define GRANULE 256

static struct tsl_mem *spread[3];

/* Members of one domain, with memory for four granules beside what the bed takes. */
static void begin_domain(unsigned n)
{
    struct tsl_fake_setup setup = {.n_members = n, .seed = 1};

    for (unsigned i = 0; i < n; i++)
        setup.members[i] = (struct tsl_fake_member){
            .gates = true, .domain = 3, .context = 1, .memory_size = SIZE + 4 * GRANULE, .max_alloc_size = SIZE};
    begin(&setup);
}

static cl_int alloc(unsigned n, const size_t *sizes, unsigned *full)
{
    return d->spread_alloc(&(struct tsl_spread_request){n, member, sizes}, spread, full);
}

/* Two granules on each of two members. */
static void alloc_two(void)
{
    unsigned full;

    assert_int_equal(alloc(2, (size_t[]){2 * GRANULE, 2 * GRANULE}, &full), CL_SUCCESS);
}

static void free_two(void)
{
    d->mem_free(spread[0]);
    d->mem_free(spread[1]);
}

/* ---- Books ---- */

/* Each member gives what its part takes, whatever a single allocation may have; the memory is back with the last free.
 */
static void test_parts_are_counted(void **state)
{
    unsigned full = 9;

    (void)state;
    begin_domain(3);
    assert_int_equal(alloc(3, (size_t[]){4 * GRANULE, 0, GRANULE}, &full), CL_SUCCESS);
    assert_int_equal(spread[1]->size, 5 * GRANULE);
    assert_int_equal(tsl_fake_live().mem_size, 3 * SIZE + 5 * GRANULE);
    assert_int_equal(tsl_fake_live().spreads, 1);
    d->mem_free(spread[2]);
    d->mem_free(spread[0]);
    assert_int_equal(alloc(2, (size_t[]){GRANULE, GRANULE}, &full), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(full, 0);
    assert_int_equal(tsl_fake_live().spreads, 1);
    d->mem_free(spread[1]);
    assert_int_equal(tsl_fake_live().mem_size, 3 * SIZE);
    alloc_two();
    free_two();
    end();
}

static void test_failures_on_order(void **state)
{
    unsigned full;

    (void)state;
    begin_domain(2);
    tsl_fake_fail_call(0, TSL_FAKE_SPREAD, 2, CL_OUT_OF_RESOURCES);
    alloc_two();
    free_two();
    assert_int_equal(alloc(2, (size_t[]){GRANULE, GRANULE}, &full), CL_OUT_OF_RESOURCES);
    alloc_two();
    free_two();
    assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_SPREAD], 3);
    end();
}

static void test_bad_requests(void **state)
{
    unsigned full;

    (void)state;
    begin_domain(2);
    assert_int_equal(alloc(2, (size_t[]){GRANULE + 1, GRANULE}, &full), CL_INVALID_VALUE);
    assert_int_equal(alloc(0, NULL, &full), CL_INVALID_VALUE);
    assert_found(TSL_FAKE_BAD_ARGUMENT, 2);
    end();
}

/* ---- What is watched ---- */

/* Two members on the same bytes race, and on others they don't; a wait orders them. */
static void test_race_between_members(void **state)
{
    struct tsl_fence *first;

    (void)state;
    begin_domain(2);
    alloc_two();
    for (unsigned step = 0; step < 3; step++) {
        fill(lane[0], spread[0], 0, 8, 1, NULL, &first);
        fill(lane[1], spread[1], step == 1 ? 8 : 7, 8, 2, step == 0 ? WAITS(first) : NULL, NULL);
        d->flush(lane[0]);
        d->flush(lane[1]);
        tsl_fake_run(false);
        tsl_fence_unref(first);
        assert_found(TSL_FAKE_RACE, step == 2);
        d->finish(lane[0]);
        d->finish(lane[1]);
    }
    free_two();
    end();
}

/* A member's memory is busy by its own work alone, and then the bytes stay. */
static void test_freed_while_busy(void **state)
{
    unsigned char byte = 0;

    (void)state;
    begin_domain(2);
    alloc_two();
    fill(lane[0], spread[0], 0, 8, 1, NULL, NULL);
    fill(lane[0], spread[0], 3 * GRANULE, 8, 2, NULL, NULL);
    d->flush(lane[0]);
    d->mem_free(spread[1]);
    assert_found(TSL_FAKE_FREE_BUSY, 0);
    copy(lane[0], host(&byte), at(spread[0], 3 * GRANULE), 1, NULL, NULL);
    d->mem_free(spread[0]);
    assert_found(TSL_FAKE_FREE_BUSY, 1);
    d->finish(lane[0]);
    assert_int_equal(byte, 2);
    end();
}

/* ---- A member is lost ---- */

static cl_int fill_and_wait(unsigned i, size_t offset, size_t size)
{
    struct tsl_fence *fence;

    fill(lane[i], spread[i], offset, size, 5, NULL, &fence);
    d->flush(lane[i]);
    return wait_for(fence);
}

/* Its part is garbage: who touches that fails, also who began before. */
static void test_lost_part(void **state)
{
    struct tsl_fence *begun, *beside;
    unsigned char bytes[2] = {0};

    (void)state;
    for (unsigned seed = 0; seed < 8; seed++) {
        begin_domain(2);
        alloc_two();
        assert_int_equal(fill_and_wait(1, 0, 4 * GRANULE), CL_COMPLETE);
        fill(lane[1], spread[1], 2 * GRANULE - 1, 2, 7, NULL, &begun);
        fill(lane[1], spread[1], 3 * GRANULE, 1, 7, NULL, &beside);
        d->flush(lane[1]);
        tsl_fake_step(seed);
        tsl_fake_lose(0, tsl_clock_ns() + 5);
        tsl_fake_advance(5);
        assert_int_equal(wait_for(begun), CL_OUT_OF_RESOURCES);
        assert_int_equal(wait_for(beside), CL_COMPLETE);
        assert_int_equal(fill_and_wait(1, 0, 1), CL_OUT_OF_RESOURCES);
        copy(lane[1], host(&bytes[0]), at(spread[1], 3 * GRANULE), 1, NULL, NULL);
        copy(lane[1], host(&bytes[1]), at(spread[1], 3 * GRANULE + 1), 1, NULL, NULL);
        assert_int_equal(d->finish(lane[1]), CL_SUCCESS);
        assert_true(bytes[0] == 7 && bytes[1] == 5);
        assert_false(tsl_member_is_lost(member[1]));
        free_two();
        end();
    }
}

/* A launch that is given the memory fails, whatever it touches. */
static void test_lost_part_of_a_launch(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_fence *fence;

    (void)state;
    begin_domain(2);
    alloc_two();
    register_kernels();
    program = build(1, "kernel stamp to,value\n");
    kernel = kernel_of(program, "stamp");
    for (int lost = 0; lost < 2; lost++) {
        assert_int_equal(stamp(lane[1], kernel, spread[1], 3 * GRANULE, 8, 1, &fence), CL_SUCCESS);
        d->flush(lane[1]);
        assert_int_equal(wait_for(fence), lost ? CL_OUT_OF_RESOURCES : CL_COMPLETE);
        tsl_fake_lose(0, 0);
    }
    d->kernel_free(kernel);
    d->program_free(program);
    free_two();
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_parts_are_counted),     TEST(test_failures_on_order), TEST(test_bad_requests),
        TEST(test_race_between_members),  TEST(test_freed_while_busy),  TEST(test_lost_part),
        TEST(test_lost_part_of_a_launch),
    };

    return cmocka_run_group_tests_name("fake spread memory", tests, NULL, NULL);
}
