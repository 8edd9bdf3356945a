/* The CUDA bridge where no pinned memory is to be had: slower, and all is right. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */
#include "cuda_env.h"

static CUresult none(void **address, size_t bytes, unsigned flags)
{
    (void)bytes, (void)flags;
    *address = NULL;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult no_registering(void *address, size_t bytes, unsigned flags)
{
    (void)address, (void)bytes, (void)flags;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult (*pin)(void **address, size_t bytes, unsigned flags);
static CUresult (*registering)(void *address, size_t bytes, unsigned flags);

static void no_pinned_memory_is_given(void **state)
{
    struct tsl_mem *mem = NULL;
    void *host = NULL;

    (void)state;
    assert_int_equal(driver->host_alloc(member, 4096, &host, &mem), CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(driver->host_alloc(member, (size_t)1 << 20, &host, &mem), CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(driver->host_alloc(member, (size_t)5 << 20, &host, &mem), CL_OUT_OF_HOST_MEMORY);
    assert_null(mem);
}

static void assert_is_given(size_t size)
{
    struct tsl_mem *mem = NULL;
    void *host = NULL;

    assert_int_equal(driver->host_alloc(member, size, &host, &mem), CL_SUCCESS);
    memset(host, 1, size);
    driver->mem_free(mem);
}

/* Large memory is CUDA's own where ours can't be registered, and ours where CUDA has none. */
static void either_way_will_do(void **state)
{
    (void)state;
    tsl_cu.cuMemHostAlloc = pin;
    assert_is_given((size_t)5 << 20);
    tsl_cu.cuMemHostAlloc = none;
    tsl_cu.cuMemHostRegister_v2 = registering;
    assert_is_given((size_t)9 << 20);
    assert_is_given(((size_t)33 << 20) + 4096); /* by several threads */
    tsl_cu.cuMemHostRegister_v2 = no_registering;
}

static void transfers_of_all_sizes_work(void **state)
{
    static const size_t sizes[] = {1, 4096, (size_t)256 << 10, ((size_t)256 << 10) + 1, (size_t)9 << 20};
    size_t most = sizes[4];
    unsigned char *in = malloc(most), *out = malloc(most);
    struct tsl_mem *mem = new_mem(most);

    (void)state;
    fill_pattern(in, most);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct tsl_fence *fence;

        memset(out, 0, most);
        assert_int_equal(fill_ints(lane, mem, 0, most / 4, NULL, NULL), CL_SUCCESS);
        assert_int_equal(put_later(lane, mem, in, sizes[i], NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(lane, mem, out, sizes[i], NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        assert_memory_equal(in, out, sizes[i]);
        tsl_fence_unref(fence);
    }
    driver->mem_free(mem);
    free(in);
    free(out);
}

static void boxes_work(void **state)
{
    unsigned char in[8 * 100], out[8 * 100] = {0};
    struct tsl_mem *mem = new_mem(8 * 128);
    struct tsl_copy up = {.dst = {.mem = mem, .row_pitch = 32, .slice_pitch = 128},
                          .src = {.host = in, .row_pitch = 25, .slice_pitch = 100},
                          .region = {20, 4, 8}};
    struct tsl_copy down = {.dst = up.src, .src = up.dst, .region = {20, 4, 8}};

    (void)state;
    fill_pattern(in, sizeof(in));
    down.dst.host = out;
    assert_int_equal(driver->copy(lane, &up, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->copy(lane, &down, NULL, NULL), CL_SUCCESS);
    finish(lane);
    for (size_t row = 0; row < 32; row++)
        assert_memory_equal(out + row / 4 * 100 + row % 4 * 25, in + row / 4 * 100 + row % 4 * 25, 20);
    driver->mem_free(mem);
}

/* The lane has no flag then, and gates no words. */
static void order_and_notifications_work(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *filled, *read;
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1, .fences = &filled};
    struct tsl_lane *other = new_lane(false);
    struct told told = {0};
    int value = 0;

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 7, 16, &waits, &filled), CL_SUCCESS);
    assert_int_equal(get_later(other, mem, &value, sizeof(value), &again, &read), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(read, tell_test, &told), CL_SUCCESS);
    usleep(2000);
    assert_int_equal(atomic_load(&told.n), 0);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    wait_until_told(&told);
    assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
    assert_int_equal(value, 7);
    tsl_fence_unref(gate);
    tsl_fence_unref(filled);
    tsl_fence_unref(read);
    driver->lane_free(other);
    driver->mem_free(mem);
}

static int open_poor(void **state)
{
    int error = open_member(state);

    pin = tsl_cu.cuMemHostAlloc;
    registering = tsl_cu.cuMemHostRegister_v2;
    tsl_cu.cuMemHostAlloc = none;
    tsl_cu.cuMemHostRegister_v2 = no_registering;
    if (is_standin())
        standin.pageable(true);
    return error;
}

static int close_poor(void **state)
{
    tsl_cu.cuMemHostAlloc = pin;
    tsl_cu.cuMemHostRegister_v2 = registering;
    return close_member(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pinned_memory_is_given),    cmocka_unit_test(either_way_will_do),
        cmocka_unit_test(transfers_of_all_sizes_work),  cmocka_unit_test(boxes_work),
        cmocka_unit_test(order_and_notifications_work),
    };

    return cmocka_run_group_tests_name("cuda, poor", tests, open_poor, close_poor);
}
