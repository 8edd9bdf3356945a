/* The application's memory that is pinned where it lies (host_register): bytes, whatever parts of pages there are at
 * their ends; whom it waits for when it is let go; forks. */
/* timeout: 120 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=5 STANDIN_DEVICES=2 */
/* any: */
#include "cuda_bridge/pipeline.h"
#include "cuda_env.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE ((size_t)4096)
#define SIZE (256 * PAGE)

/* Pages of their own, one more on each side. */
static unsigned char *new_pages(void)
{
    unsigned char *pages = mmap(NULL, SIZE + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    return pages + PAGE;
}

static void free_pages(unsigned char *pages)
{
    assert_int_equal(munmap(pages - PAGE, SIZE + 2 * PAGE), 0);
}

static struct tsl_mem *pin(void *host, size_t size)
{
    struct tsl_mem *mem;

    assert_int_equal(driver->host_register(member, host, size, &mem), CL_SUCCESS);
    assert_ptr_equal(mem->member, member);
    return mem;
}

static bool cuda_knows(const void *at)
{
    bool knows;

    assert_int_equal(tsl_cuda_enter(tsl_cuda_member(member)), CL_SUCCESS);
    knows = tsl_cuda_is_pinned_at(at);
    tsl_cuda_leave(tsl_cuda_member(member));
    return knows;
}

/* To and fro, into memory that was scribbled over. */
static void go_round(struct tsl_mem *mem, unsigned char *host, size_t size)
{
    unsigned char *expected = malloc(size);

    assert_non_null(expected);
    fill_pattern(expected, size);
    memcpy(host, expected, size);
    put(mem, host, size);
    memset(host, 0x77, size);
    get(mem, host, size);
    assert_memory_equal(host, expected, size);
    free(expected);
}

/* Memory that begins and ends somewhere in its pages: bytes beside it stay, and only whole pages are pinned. */
static void any_memory_goes_to_and_fro(void **state)
{
    static const size_t begins[] = {0, 16, 4095}, ends[] = {0, 1, 4095};
    struct tsl_mem *mem = new_mem(SIZE + PAGE);
    unsigned char *pages = new_pages();

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        unsigned char *host = pages + begins[i % 3];
        size_t size = SIZE - PAGE + ends[i / 3] - begins[i % 3];
        struct tsl_mem *pinned = pin(host, size);

        pages[-1] = host[-1] = host[size] = 0x5a;
        go_round(mem, host, size);
        go_round(mem, host, 300000); /* its end lies within */
        go_round(mem, host + 5000, 100000);
        go_round(mem, host + 5000, 3);
        go_round(mem, host, 3);
        assert_int_equal(host[-1], 0x5a);
        assert_int_equal(host[size], 0x5a);
        assert_true(cuda_knows(pages + PAGE));
        assert_int_equal(cuda_knows(pages + begins[i % 3]), begins[i % 3] == 0);
        driver->mem_free(pinned);
        assert_false(cuda_knows(pages + PAGE));
        go_round(mem, host, size);
    }
    driver->mem_free(mem);
    free_pages(pages);
}

/* With rows that lie apart, within what is pinned and across its ends. */
static void boxes_go_to_and_fro(void **state)
{
    struct tsl_mem *mem = new_mem(SIZE);
    unsigned char *pages = new_pages(), *expected = malloc(SIZE);
    struct tsl_mem *pinned = pin(pages + 64 * PAGE, SIZE / 2);

    (void)state;
    for (size_t from = 0; from < 128 * PAGE; from += 32 * PAGE) {
        struct tsl_copy up = {.dst = {.mem = mem, .row_pitch = 3000},
                              .src = {.host = pages, .offset = from, .row_pitch = 3500},
                              .region = {2000, 140, 1}};
        struct tsl_copy down = {.dst = up.src, .src = up.dst, .region = {2000, 140, 1}};

        fill_pattern(pages, SIZE);
        memcpy(expected, pages, SIZE);
        assert_int_equal(driver->copy(lane, &up, NULL, NULL), CL_SUCCESS);
        finish(lane);
        for (size_t row = 0; row < 140; row++)
            memset(pages + from + 3500 * row, 0, 2000);
        assert_int_equal(driver->copy(lane, &down, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_memory_equal(pages, expected, SIZE);
    }
    driver->mem_free(pinned);
    driver->mem_free(mem);
    free(expected);
    free_pages(pages);
}

/* All members use what one has pinned. */
static void members_share_it(void **state)
{
    unsigned char *pages = new_pages(), *out = malloc(SIZE);
    struct tsl_mem *pinned = pin(pages, SIZE);

    (void)state;
    fill_pattern(pages, SIZE);
    for (unsigned i = 0; i < n_members; i++) {
        struct tsl_mem *mem;
        struct tsl_lane *l;

        assert_int_equal(driver->lane_create(members[i], false, &l), CL_SUCCESS);
        assert_int_equal(driver->mem_alloc(members[i], SIZE, 0, NULL, &mem), CL_SUCCESS);
        assert_int_equal(put_later(l, mem, pages, SIZE, NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(l, mem, out, SIZE, NULL, NULL), CL_SUCCESS);
        finish(l);
        assert_memory_equal(out, pages, SIZE);
        driver->lane_free(l);
        driver->mem_free(mem);
    }
    driver->mem_free(pinned);
    free(out);
    free_pages(pages);
}

/* What is pinned already, by us or by the application, in part or whole, stays whose it is. */
static void what_is_pinned_is_refused(void **state)
{
    unsigned char *pages = new_pages();
    struct tsl_mem *pinned = pin(pages, SIZE / 2), *none = NULL;

    (void)state;
    assert_int_not_equal(driver->host_register(member, pages + PAGE, SIZE, &none), CL_SUCCESS);
    assert_int_not_equal(driver->host_register(member, pages, SIZE / 2, &none), CL_SUCCESS);
    assert_int_not_equal(driver->host_register(member, pages + SIZE / 2 + 1, PAGE, &none), CL_SUCCESS);
    driver->mem_free(pin(pages + SIZE / 2, SIZE / 2)); /* What only touches it is not in its way. */
    driver->mem_free(pinned);
    assert_int_equal(tsl_cuda_enter(tsl_cuda_member(member)), CL_SUCCESS);
    assert_int_equal(tsl_cu.cuMemHostRegister_v2(pages, SIZE, CU_MEMHOSTREGISTER_PORTABLE), CUDA_SUCCESS);
    assert_int_not_equal(driver->host_register(member, pages, SIZE, &none), CL_SUCCESS);
    assert_int_equal(tsl_cu.cuMemHostUnregister(pages), CUDA_SUCCESS);
    tsl_cuda_leave(tsl_cuda_member(member));
    assert_null(none);
    driver->mem_free(pin(pages, SIZE));
    free_pages(pages);
}

/* CUDA refuses: an error, and transfers go on. */
static void a_refusal_is_no_harm(void **state)
{
    struct tsl_mem *mem = new_mem(SIZE), *none = NULL;
    unsigned char *pages = new_pages();

    (void)state;
    if (is_standin())
        standin.refuse("cuMemHostRegister_v2", 1, CUDA_ERROR_OUT_OF_MEMORY);
    else
        mprotect(pages, SIZE, PROT_READ);
    assert_int_equal(driver->host_register(member, pages, SIZE, &none), CL_OUT_OF_RESOURCES);
    mprotect(pages, SIZE, PROT_READ | PROT_WRITE);
    go_round(mem, pages, SIZE);
    driver->mem_free(pin(pages, SIZE));
    driver->mem_free(mem);
    free_pages(pages);
}

/* CUDA can't be asked when it is let go: the thread's own context stays current, and others may have the memory. */
static void what_cannot_be_let_go_is_forgotten(void **state)
{
    struct tsl_mem *mem = new_mem(SIZE), *pinned;
    unsigned char *pages = new_pages();

    (void)state;
    if (is_standin()) {
        pinned = pin(pages, SIZE);
        go_round(mem, pages, SIZE);
        standin.refuse("cuCtxPushCurrent_v2", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
        driver->mem_free(pinned);
        assert_int_equal(tsl_cuda_enter(tsl_cuda_member(member)), CL_SUCCESS);
        assert_int_equal(tsl_cu.cuMemHostUnregister(pages), CUDA_SUCCESS);
        tsl_cuda_leave(tsl_cuda_member(member));
        driver->mem_free(pin(pages, SIZE));
    }
    driver->mem_free(mem);
    free_pages(pages);
}

/* ---- Letting go while it is used --------------------------------------------------------------------------------- */

static atomic_bool is_free;

static void *let_go(void *arg)
{
    driver->mem_free(arg);
    atomic_store(&is_free, true);
    return NULL;
}

/* A transfer that was submitted ends first; one that is submitted meanwhile goes the other way. */
static void letting_go_waits_for_transfers(void **state)
{
    struct tsl_mem *mem = new_mem(SIZE), *pinned;
    unsigned char *pages = new_pages(), *expected = malloc(SIZE);
    struct tsl_lane *other = new_lane(false);
    pthread_t thread;

    (void)state;
    if (!is_standin()) {
        driver->lane_free(other);
        driver->mem_free(mem);
        free(expected);
        free_pages(pages);
        return; /* A GPU can't be stopped. */
    }
    for (int round = 0; round < 3; round++) {
        fill_pattern(expected, SIZE);
        put(mem, expected, SIZE);
        pinned = pin(pages, SIZE);
        atomic_store(&is_free, false);
        standin.stop(true);
        assert_int_equal(get_later(lane, mem, pages, SIZE / 2, NULL, NULL), CL_SUCCESS);
        assert_int_equal(pthread_create(&thread, NULL, let_go, pinned), 0);
        usleep(20000);
        assert_false(atomic_load(&is_free));
        assert_int_equal(get_later(other, mem, pages + SIZE / 2, 1000, NULL, NULL), CL_SUCCESS);
        standin.stop(false);
        pthread_join(thread, NULL);
        finish(lane);
        finish(other);
        assert_memory_equal(pages, expected, SIZE / 2);
        assert_memory_equal(pages + SIZE / 2, expected, 1000);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
    free(expected);
    free_pages(pages);
}

static atomic_bool ends;

static void *transfer(void *arg)
{
    unsigned char *half = arg;
    struct tsl_lane *l = new_lane(false);
    struct tsl_mem *mem = new_mem(SIZE / 2);

    while (!atomic_load(&ends)) {
        put_later(l, mem, half, SIZE / 2, NULL, NULL);
        get_later(l, mem, half, SIZE / 2, NULL, NULL);
        driver->flush(l);
        driver->finish(l);
    }
    driver->lane_free(l);
    driver->mem_free(mem);
    return NULL;
}

/* Pinned and let go again and again beside threads that transfer it. */
static void it_comes_and_goes_beside_transfers(void **state)
{
    unsigned char *pages = new_pages(), *expected = malloc(SIZE);
    pthread_t threads[2];

    (void)state;
    fill_pattern(expected, SIZE);
    memcpy(pages, expected, SIZE);
    atomic_store(&ends, false);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, transfer, pages + (size_t)i * (SIZE / 2));
    for (int i = 0; i < 50; i++) {
        struct tsl_mem *pinned = pin(pages + 100, SIZE - 100);

        usleep(500);
        driver->mem_free(pinned);
        usleep(200);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_memory_equal(pages, expected, SIZE);
    free(expected);
    free_pages(pages);
}

/* A fork ends it, as parent and child share the pages from then on; transfers go on, and the child reads its own. */
static void a_fork_ends_it(void **state)
{
    struct tsl_mem *mem = new_mem(SIZE), *pinned;
    unsigned char *pages = new_pages();
    int status;
    pid_t child;

    (void)state;
    pinned = pin(pages, SIZE);
    memset(pages, 3, SIZE);
    put(mem, pages, SIZE);
    child = fork();
    if (child == 0)
        _exit(pages[0] == 3 && pages[SIZE - 1] == 3 ? 0 : 1);
    assert_false(cuda_knows(pages));
    go_round(mem, pages, SIZE);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    driver->mem_free(pinned);
    driver->mem_free(pin(pages, SIZE));
    driver->mem_free(mem);
    free_pages(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_memory_goes_to_and_fro),
        cmocka_unit_test(boxes_go_to_and_fro),
        cmocka_unit_test(members_share_it),
        cmocka_unit_test(what_is_pinned_is_refused),
        cmocka_unit_test(a_refusal_is_no_harm),
        cmocka_unit_test(what_cannot_be_let_go_is_forgotten),
        cmocka_unit_test(letting_go_waits_for_transfers),
        cmocka_unit_test(it_comes_and_goes_beside_transfers),
        cmocka_unit_test(a_fork_ends_it),
    };

    return cmocka_run_group_tests_name("cuda", tests, open_member, close_member);
}
