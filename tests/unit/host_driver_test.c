/* The host as a member: boxes are copied and filled in the call, and fences are complete at once. */
#include "driver/host.h"

#include "base/clock.h"
#include "test.h"

#include <limits.h>
#include <string.h>

static struct tsl_member *host;
static const struct tsl_driver *driver;
static struct tsl_lane *lane;

static int set_up(void **state)
{
    (void)state;
    host = tsl_host_member();
    driver = host->driver;
    tsl_driver_check(driver);
    return driver->lane_create(host, true, &lane);
}

static int tear_down(void **state)
{
    (void)state;
    driver->lane_free(lane);
    return 0;
}

static void it_says_what_it_is(void **state)
{
    struct tsl_fence *gate;
    struct tsl_mem *mem;

    (void)state;
    assert_string_equal(driver->name, "host");
    assert_int_equal(host->index, UINT_MAX);
    assert_true(host->caps.submits_block);
    assert_false(host->caps.gates);
    assert_int_equal(driver->gate_create(host, &gate), CL_INVALID_OPERATION);
    assert_int_equal(driver->mem_alloc(host, 4, 0, NULL, &mem), CL_INVALID_OPERATION);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){NULL, NULL, NULL}, NULL, NULL), CL_INVALID_OPERATION);
}

static void a_contiguous_box_is_copied_whole(void **state)
{
    char src[64], dst[64] = {0};
    struct tsl_copy copy = {
        .dst = {.host = dst, .offset = 2, .row_pitch = 4, .slice_pitch = 8},
        .src = {.host = src, .offset = 1, .row_pitch = 4, .slice_pitch = 8},
        .region = {4, 2, 3},
    };

    (void)state;
    for (int i = 0; i < 64; i++)
        src[i] = (char)(i + 1);
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(dst + 2, src + 1, 24);
    assert_int_equal(dst[1], 0);
    assert_int_equal(dst[26], 0);
}

static void a_box_with_gaps_leaves_the_gaps_alone(void **state)
{
    char src[256], dst[256];
    struct tsl_copy copy = {
        .dst = {.host = dst, .offset = 5, .row_pitch = 10, .slice_pitch = 50},
        .src = {.host = src, .offset = 3, .row_pitch = 7, .slice_pitch = 30},
        .region = {4, 3, 2},
    };

    (void)state;
    for (int i = 0; i < 256; i++)
        src[i] = (char)i;
    memset(dst, -1, sizeof(dst));
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 10; x++)
                assert_int_equal(dst[5 + z * 50 + y * 10 + x], x < 4 ? src[3 + z * 30 + y * 7 + x] : (char)-1);
}

static void patterns_of_all_sizes_are_repeated(void **state)
{
    unsigned char pattern[128], dst[1024];

    (void)state;
    for (unsigned i = 0; i < 128; i++)
        pattern[i] = (unsigned char)(i + 1);
    for (size_t size = 1; size <= 128; size *= 2) {
        struct tsl_place place = {.host = dst, .offset = 128};

        memset(dst, 0, sizeof(dst));
        assert_int_equal(driver->fill(lane, &(struct tsl_fill){place, {3 * size, 1, 1}, pattern, size}, NULL, NULL),
                         CL_SUCCESS);
        for (size_t i = 0; i < sizeof(dst); i++)
            assert_int_equal(dst[i], i >= 128 && i < 128 + 3 * size ? pattern[(i - 128) % size] : 0);
    }
}

static void boxes_are_filled(void **state)
{
    const size_t region[3] = {4, 3, 2};
    unsigned char dst[256];
    struct tsl_place place = {.host = dst, .offset = 6, .row_pitch = 10, .slice_pitch = 50};

    (void)state;
    memset(dst, 0, sizeof(dst));
    assert_int_equal(
        driver->fill(lane, &(struct tsl_fill){place, {region[0], region[1], region[2]}, "ab", 2}, NULL, NULL),
        CL_SUCCESS);
    for (size_t i = 0; i < sizeof(dst); i++) {
        size_t z = (i - 6) / 50, y = (i - 6) % 50 / 10, x = (i - 6) % 10;

        assert_int_equal(dst[i], i >= 6 && z < 2 && y < 3 && x < 4 ? "ab"[x % 2] : 0);
    }
}

static int n_calls;
static cl_int last_status;

static void count(void *arg, cl_int status)
{
    assert_ptr_equal(arg, &n_calls);
    n_calls++;
    last_status = status;
}

static void fences_are_complete_and_tell_times(void **state)
{
    uint64_t before = tsl_clock_ns();
    struct tsl_fence *first, *second;
    struct tsl_times times;
    struct tsl_waits waits = {.n = 1, .fences = &first};

    (void)state;
    assert_int_equal(driver->mark(lane, NULL, &first), CL_SUCCESS);
    assert_true(driver->can_wait(host, first));
    assert_int_equal(driver->mark(lane, &waits, &second), CL_SUCCESS);
    assert_int_equal(driver->fence_status(second), CL_COMPLETE);
    assert_int_equal(driver->fence_wait(second), CL_COMPLETE);
    n_calls = 0;
    last_status = 77;
    assert_int_equal(driver->fence_notify(second, count, &n_calls), CL_SUCCESS);
    assert_int_equal(n_calls, 1);
    assert_int_equal(last_status, CL_COMPLETE);
    assert_int_equal(driver->fence_times(second, &times), CL_SUCCESS);
    assert_true(before <= times.start_ns && times.start_ns <= times.end_ns && times.end_ns <= tsl_clock_ns());
    tsl_fence_unref(first);
    tsl_fence_unref(second);
}

static void what_is_not_the_hosts_is_refused(void **state)
{
    char byte = 1;
    struct tsl_mem mem = {.size = 1};
    struct tsl_copy copy = {.dst = {.mem = &mem}, .src = {.host = &byte}, .region = {1, 1, 1}};
    struct tsl_driver other = {.name = "other"};
    struct tsl_fence foreign = {.driver = &other}, *list[] = {&foreign}, *fence = NULL;
    struct tsl_waits waits = {.n = 1, .fences = list};

    (void)state;
    assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_INVALID_VALUE);
    assert_int_equal(driver->fill(lane, &(struct tsl_fill){copy.dst, {1, 1, 1}, &byte, 1}, NULL, &fence),
                     CL_INVALID_VALUE);
    assert_false(driver->can_wait(host, &foreign));
    assert_int_equal(driver->mark(lane, &waits, &fence), CL_INVALID_EVENT_WAIT_LIST);
    assert_null(fence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
        cmocka_unit_test(a_contiguous_box_is_copied_whole),
        cmocka_unit_test(a_box_with_gaps_leaves_the_gaps_alone),
        cmocka_unit_test(patterns_of_all_sizes_are_repeated),
        cmocka_unit_test(boxes_are_filled),
        cmocka_unit_test(fences_are_complete_and_tell_times),
        cmocka_unit_test(what_is_not_the_hosts_is_refused),
    };

    return cmocka_run_group_tests_name("host driver", tests, set_up, tear_down);
}
