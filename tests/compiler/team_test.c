/*
 * The CPU driver's threads: work finds them whenever it comes, also as they fall asleep; what is large wakes all of
 * them, what is small nobody. Here the team does the work, not who waits: the end is learned by a notification.
 */
/* timeout: 200 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/* variant: one TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TEAM_LINE="CPU 1 0-0 0" */
/* variant: free TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none OMP_PROC_BIND=false */
#include "cpu_bed.h"
#include "cpu_device/team.h"

#include "base/clock.h"
#include "base/numa.h"

#include <pthread.h>
#include <semaphore.h>

#define LIMIT_NS UINT64_C(30000000000)

static const char source[] =
    "kernel void add(global int *x, uint n) { x[get_global_id(0)] += n; }\n"
    "kernel void spin(global int *x, uint n) { uint v = get_global_id(0);\n"
    "    for (uint i = 0; i < n; i++) v = v * 1664525 + (v >> 9); x[get_global_id(0)] = v; }\n"
    "kernel void count(global int *x, uint n) { uint v = get_global_id(0);\n"
    "    for (uint i = 0; i < n; i++) v = v * 1664525 + (v >> 9); x[get_global_id(0)] += v == n ? 2 : 1; }\n";

static struct tsl_dprogram *program;

static struct cpu_member *cpu(void)
{
    return (struct cpu_member *)member;
}

/* For the variant of one thread, where nobody else finds what it has missed. */
static void write_config(const char *line)
{
    static char path[] = "/tmp/tesela-team-XXXXXX";
    int file = mkstemp(path);
    char host[256] = "";

    gethostname(host, sizeof(host) - 1);
    assert_true(file >= 0 && dprintf(file, "NODE %s\n%s\n", host, line) > 0);
    close(file);
    setenv("TESELA_CONFIG", path, 1);
}

static int set_up(void **state)
{
    int error;

    if (getenv("TEAM_LINE"))
        write_config(getenv("TEAM_LINE"));
    error = bed_open(state);
    if (getenv("TEAM_LINE"))
        unlink(getenv("TESELA_CONFIG"));
    program = bed_build(source, "");
    return error;
}

static int tear_down(void **state)
{
    driver->program_free(program);
    return close_members(state);
}

static void ended(void *arg, cl_int status)
{
    assert_int_equal(status, CL_COMPLETE);
    sem_post(arg);
}

/* Nobody helps: if the team sleeps, it sleeps on. Takes the fence. */
static void must_end(struct tsl_fence *fence)
{
    struct timespec until;
    bool over = false;
    sem_t done;

    sem_init(&done, 0, 0);
    assert_int_equal(driver->fence_notify(fence, ended, &done), CL_SUCCESS);
    /* Awake, so that what follows comes when it is meant to. */
    for (uint64_t end = tsl_clock_ns() + 1000000; !over && tsl_clock_ns() < end;)
        over = sem_trywait(&done) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(LIMIT_NS / 1000000000);
    if (!over && sem_timedwait(&done, &until))
        fail_msg("%s", "the team was not woken");
    sem_destroy(&done);
    tsl_fence_unref(fence);
}

static void busy_wait(uint64_t ns)
{
    uint64_t end = tsl_clock_ns() + ns;

    while (tsl_clock_ns() < end)
        cpu_pause();
}

static unsigned sleepers(void)
{
    unsigned n;

    pthread_mutex_lock(&cpu()->lock);
    n = cpu()->n_sleeping;
    pthread_mutex_unlock(&cpu()->lock);
    return n;
}

static void wait_until_all_sleep(void)
{
    uint64_t end = tsl_clock_ns() + LIMIT_NS;

    while (sleepers() < cpu()->n_threads) {
        assert_true(tsl_clock_ns() < end);
        usleep(100);
    }
}

/* From shortly before to shortly after the time for which threads look before they sleep. */
static void pause_about(unsigned *random)
{
    *random = *random * 1664525 + 1013904223;
    busy_wait(CPU_LOOK_NS / 2 + (*random >> 8) % (CPU_LOOK_NS * 3 / 4));
}

/* Launches come as threads fall asleep. */
static void work_that_comes_as_they_fall_asleep(void **state)
{
    struct tsl_dkernel *add = bed_kernel(program, "add");
    struct tsl_mem *mem = new_mem(64 * sizeof(int));
    unsigned random = 1;

    (void)state;
    memset(bed_ints(mem), 0, 64 * sizeof(int));
    for (int i = 0; i < 4000; i++) {
        struct tsl_fence *fence;

        bed_launch(lane, add, mem, 1, 64, 0, NULL, &fence);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        must_end(fence);
        pause_about(&random);
    }
    assert_int_equal(bed_ints(mem)[63], 4000);
    driver->mem_free(mem);
    driver->kernel_free(add);
}

/* From lane to lane, by fences: whoever ends one makes the next one ready. */
static void chains_over_lanes_go_on(void **state)
{
    struct tsl_dkernel *add = bed_kernel(program, "add");
    struct tsl_mem *mem = new_mem(64 * sizeof(int));
    struct tsl_lane *lanes[3] = {new_lane(false), new_lane(false), new_lane(true)};
    unsigned random = 7;

    (void)state;
    memset(bed_ints(mem), 0, 64 * sizeof(int));
    for (int i = 0; i < 500; i++) {
        struct tsl_fence *last = NULL;

        for (int step = 0; step < 9; step++) {
            struct tsl_waits waits = {.n = last != NULL, .fences = &last};
            struct tsl_fence *fence;

            bed_launch(lanes[step % 3], add, mem, 1, 64, 0, &waits, &fence);
            if (last)
                tsl_fence_unref(last);
            last = fence;
        }
        for (int l = 0; l < 3; l++)
            assert_int_equal(driver->flush(lanes[l]), CL_SUCCESS);
        must_end(last);
        assert_int_equal(bed_ints(mem)[0], 9 * (i + 1));
        pause_about(&random);
    }
    for (int l = 0; l < 3; l++)
        driver->lane_free(lanes[l]);
    driver->mem_free(mem);
    driver->kernel_free(add);
}

/* How many threads of the team are at work, at most, until the lane's last task ends. */
static unsigned most_at_work(const struct cpu_lane *l)
{
    unsigned most = 0;
    bool over = false;

    while (!over) {
        pthread_mutex_lock(&cpu()->lock);
        if (atomic_load(&cpu()->n_working) > most)
            most = atomic_load(&cpu()->n_working);
        over = atomic_load(&l->last->status) <= CL_COMPLETE;
        pthread_mutex_unlock(&cpu()->lock);
        usleep(200);
    }
    return most;
}

/* On a busy machine a thread may not get a processor in all the time that the work takes. */
#define TRIES 5

/* A launch of many groups, alone or behind one of one group, which takes one thread for long enough. */
static void must_wake_all(bool behind_another)
{
    struct tsl_dkernel *spin = bed_kernel(program, "spin");
    struct tsl_mem *mem = new_mem(65536 * sizeof(int));
    unsigned most = 0;

    for (int i = 0; i < TRIES && most < cpu()->n_threads; i++) {
        struct tsl_fence *fence;

        wait_until_all_sleep();
        if (behind_another)
            bed_launch(lane, spin, mem, 20000000, 1, 1, NULL, NULL);
        bed_launch(lane, spin, mem, 200000, 65536, 0, NULL, &fence);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        most = most_at_work((struct cpu_lane *)lane);
        must_end(fence);
    }
    assert_int_equal(most, cpu()->n_threads);
    driver->mem_free(mem);
    driver->kernel_free(spin);
}

static void what_is_large_wakes_all(void **state)
{
    (void)state;
    must_wake_all(false);
}

/* It is one thread that makes it ready, while the others sleep. */
static void what_becomes_ready_wakes_all(void **state)
{
    (void)state;
    must_wake_all(true);
}

/* Both are of one group, so of one thread; each lane has one. */
static void independent_launches_share_the_threads(void **state)
{
    struct tsl_dkernel *spin = bed_kernel(program, "spin");
    struct tsl_mem *mem[2] = {new_mem(64), new_mem(64)};
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(false)};
    bool together = cpu()->n_threads < 2;

    (void)state;
    for (int i = 0; i < TRIES && !together; i++) {
        struct tsl_fence *fences[2];
        bool over = false;

        wait_until_all_sleep();
        for (int l = 0; l < 2; l++) {
            bed_launch(lanes[l], spin, mem[l], 100000000, 1, 1, NULL, &fences[l]);
            assert_int_equal(driver->flush(lanes[l]), CL_SUCCESS);
        }
        while (!over && !together) {
            cl_int status[2] = {driver->fence_status(fences[0]), driver->fence_status(fences[1])};

            together = status[0] == CL_RUNNING && status[1] == CL_RUNNING;
            over = status[0] <= CL_COMPLETE && status[1] <= CL_COMPLETE;
        }
        must_end(fences[0]);
        must_end(fences[1]);
    }
    assert_true(together);
    for (int l = 0; l < 2; l++) {
        driver->lane_free(lanes[l]);
        driver->mem_free(mem[l]);
    }
    driver->kernel_free(spin);
}

/* Where a thread of the team sleeps, if threads have places of their own. */
static void go_where_one_sleeps(void)
{
    cpu_set_t processor;

    CPU_ZERO(&processor);
    pthread_mutex_lock(&cpu()->lock);
    for (unsigned i = 0; i < cpu()->n_begun; i++)
        if (cpu()->threads[i].asleep && cpu()->threads[i].processor >= 0 && !CPU_COUNT(&processor))
            CPU_SET(cpu()->threads[i].processor, &processor);
    pthread_mutex_unlock(&cpu()->lock);
    if (CPU_COUNT(&processor))
        assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(processor), &processor), 0);
}

struct waiter {
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem;
    struct tsl_lane *lane;
};

/* Goes to a sleeping thread's place, and does there what it waits for. */
static void *wait_there(void *arg)
{
    struct waiter *w = arg;

    go_where_one_sleeps();
    bed_launch(w->lane, w->kernel, w->mem, 200000000, 1, 1, NULL, NULL);
    assert_int_equal(driver->finish(w->lane), CL_SUCCESS);
    return NULL;
}

/* All threads of the team but one have long pieces, and that one is spared, for its place is that of who makes the
 * second launch, or of another who waits; but these sleep, or work for themselves. */
static void must_begin_beside_long_ones(bool another_waits)
{
    struct tsl_dkernel *spin = bed_kernel(program, "spin");
    struct waiter waiter = {spin, new_mem(64), new_lane(false)};
    unsigned n = cpu()->n_threads;
    struct tsl_fence **fences = calloc(n, sizeof(struct tsl_fence *));
    struct tsl_lane **lanes = calloc(n, sizeof(struct tsl_lane *));
    struct tsl_mem *mem = new_mem(64);
    cpu_set_t before;
    bool begun = false;

    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(before), &before), 0);
    for (unsigned i = 0; i < n; i++)
        lanes[i] = new_lane(false);
    for (int try = 0; try < TRIES && !begun; try++) {
        pthread_t thread;

        wait_until_all_sleep();
        for (unsigned i = 0; i < n - 1; i++) {
            bed_launch(lanes[i], spin, mem, 200000000, 1, 1, NULL, &fences[i]);
            assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
            while (driver->fence_status(fences[i]) > CL_RUNNING)
                usleep(200);
        }
        if (another_waits)
            pthread_create(&thread, NULL, wait_there, &waiter);
        usleep(20000);
        go_where_one_sleeps();
        bed_launch(lanes[n - 1], spin, mem, 100, 1, 1, NULL, &fences[n - 1]);
        assert_int_equal(driver->flush(lanes[n - 1]), CL_SUCCESS);
        usleep(30000);
        begun = driver->fence_status(fences[n - 1]) <= CL_RUNNING && driver->fence_status(fences[0]) == CL_RUNNING;
        if (another_waits)
            pthread_join(thread, NULL);
        for (unsigned i = 0; i < n; i++)
            must_end(fences[i]);
        assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(before), &before), 0);
    }
    assert_true(begun);
    for (unsigned i = 0; i < n; i++)
        driver->lane_free(lanes[i]);
    driver->lane_free(waiter.lane);
    driver->mem_free(waiter.mem);
    driver->mem_free(mem);
    driver->kernel_free(spin);
    free(fences);
    free(lanes);
}

static void who_was_spared_comes_soon(void **state)
{
    (void)state;
    must_begin_beside_long_ones(false);
    must_begin_beside_long_ones(true);
}

/* Who waits does it; nobody is woken. Now and then a condition's waiter wakes by itself. */
static void what_is_small_wakes_nobody(void **state)
{
    struct tsl_dkernel *add = bed_kernel(program, "add");
    struct tsl_mem *mem = new_mem(1024 * sizeof(int));
    unsigned woken = 0;

    (void)state;
    memset(bed_ints(mem), 0, 1024 * sizeof(int));
    for (int i = 0; i < 20; i++)
        bed_launch(lane, add, mem, 1, 1024, 0, NULL, NULL); /* how long it takes is known then */
    finish(lane);
    for (int i = 0; i < 300; i++) {
        wait_until_all_sleep();
        bed_launch(lane, add, mem, 1, 1024, 0, NULL, NULL);
        assert_int_equal(driver->finish(lane), CL_SUCCESS);
        woken += sleepers() < cpu()->n_threads;
    }
    assert_int_equal(bed_ints(mem)[1023], 320);
    assert_in_range(woken, 0, 5);
    driver->mem_free(mem);
    driver->kernel_free(add);
}

/* The processors on which a thread of the team may run, when it has begun. */
static cpu_set_t processors_of(unsigned i)
{
    uint64_t end = tsl_clock_ns() + LIMIT_NS;
    bool begun = false;
    cpu_set_t set;

    while (!begun) {
        assert_true(tsl_clock_ns() < end);
        pthread_mutex_lock(&cpu()->lock);
        begun = cpu()->n_begun > i;
        pthread_mutex_unlock(&cpu()->lock);
    }
    assert_int_equal(pthread_getaffinity_np(cpu()->threads[i].self, sizeof(set), &set), 0);
    return set;
}

/* All that this process may use, and among them, if a line says so, those of its nodes; with as many threads as
 * processors each has one of its own, unless OpenMP's settings are the application's. */
static void threads_run_where_they_shall(void **state)
{
    bool apart = cpu()->n_threads > 1 && !getenv("OMP_PROC_BIND");
    cpu_set_t allowed, node, all, set;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    if (getenv("TEAM_LINE") && tsl_numa_processors(0, &node))
        CPU_AND(&allowed, &allowed, &node);
    CPU_ZERO(&all);
    for (unsigned i = 0; i < cpu()->n_threads; i++) {
        set = processors_of(i);
        CPU_OR(&all, &all, &set);
        assert_int_equal(CPU_COUNT(&set), apart ? 1 : CPU_COUNT(&allowed));
    }
    assert_true(CPU_EQUAL(&all, &allowed));
}

struct enqueuer {
    pthread_t thread;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem;
    struct tsl_lane *lane;
};

static void *enqueue(void *arg)
{
    struct enqueuer *e = arg;

    for (int i = 0; i < 400; i++) {
        bed_launch(e->lane, e->kernel, e->mem, 1, i % 3 ? 64 : 4096, i % 2 ? 0 : 16, NULL, NULL);
        if (i % 5 == 0)
            driver->flush(e->lane);
        if (i % 7 == 0)
            assert_int_equal(driver->finish(e->lane), CL_SUCCESS);
    }
    assert_int_equal(driver->finish(e->lane), CL_SUCCESS);
    return NULL;
}

static void many_threads_with_launches_of_their_own(void **state)
{
    struct enqueuer all[8];

    (void)state;
    for (int i = 0; i < 8; i++) {
        all[i] = (struct enqueuer){
            .kernel = bed_kernel(program, "add"), .mem = new_mem(4096 * sizeof(int)), .lane = new_lane(false)};
        memset(bed_ints(all[i].mem), 0, 4096 * sizeof(int));
        pthread_create(&all[i].thread, NULL, enqueue, &all[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(bed_ints(all[i].mem)[63], 400);
        assert_int_equal(bed_ints(all[i].mem)[4095], 134);
        driver->lane_free(all[i].lane);
        driver->mem_free(all[i].mem);
        driver->kernel_free(all[i].kernel);
    }
}

#define WIDE_ITEMS 16384
#define WIDE_TURNS 1000 /* of each item: several threads are worth it */

/* More lanes than there are boards, so that tasks stand in the list, too; some are helped with. */
static void *enqueue_wide(void *arg)
{
    struct enqueuer *e = arg;

    for (int i = 0; i < 60; i++) {
        bed_launch(e->lane, e->kernel, e->mem, WIDE_TURNS, WIDE_ITEMS, i % 2 ? 0 : 16, NULL, NULL);
        if (i % 10 == 0)
            assert_int_equal(driver->finish(e->lane), CL_SUCCESS);
    }
    assert_int_equal(driver->finish(e->lane), CL_SUCCESS);
    return NULL;
}

static void each_piece_is_done_once(void **state)
{
    struct enqueuer all[2 * CPU_BOARDS];

    (void)state;
    for (int i = 0; i < 2 * CPU_BOARDS; i++) {
        all[i] = (struct enqueuer){
            .kernel = bed_kernel(program, "count"), .mem = new_mem(WIDE_ITEMS * sizeof(int)), .lane = new_lane(false)};
        memset(bed_ints(all[i].mem), 0, WIDE_ITEMS * sizeof(int));
        pthread_create(&all[i].thread, NULL, enqueue_wide, &all[i]);
    }
    for (int i = 0; i < 2 * CPU_BOARDS; i++) {
        pthread_join(all[i].thread, NULL);
        for (int item = 0; item < WIDE_ITEMS; item++)
            assert_int_equal(bed_ints(all[i].mem)[item], 60);
        driver->lane_free(all[i].lane);
        driver->mem_free(all[i].mem);
        driver->kernel_free(all[i].kernel);
    }
}

/* Lanes full of wide launches, so that there is always one at a board; nobody helps with the small one. */
static void small_ones_come_between_wide_ones(void **state)
{
    struct tsl_dkernel *count = bed_kernel(program, "count");
    struct tsl_mem *mem = new_mem(WIDE_ITEMS * sizeof(int));
    struct tsl_lane *lanes[CPU_BOARDS], *small = new_lane(false);
    struct tsl_fence *last[CPU_BOARDS], *fence;

    (void)state;
    for (int i = 0; i < CPU_BOARDS; i++)
        lanes[i] = new_lane(false);
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < CPU_BOARDS; i++)
            bed_launch(lanes[i], count, mem, WIDE_TURNS, WIDE_ITEMS, 0, NULL, n == 99 ? &last[i] : NULL);
    for (int i = 0; i < CPU_BOARDS; i++)
        assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
    bed_launch(small, count, mem, 1, 1, 1, NULL, &fence);
    assert_int_equal(driver->flush(small), CL_SUCCESS);
    while (driver->fence_status(fence) > CL_COMPLETE)
        usleep(100);
    for (int i = 0; i < CPU_BOARDS; i++)
        assert_int_equal(driver->fence_status(last[i]), CL_SUBMITTED);
    tsl_fence_unref(fence);
    for (int i = 0; i < CPU_BOARDS; i++) {
        must_end(last[i]);
        driver->lane_free(lanes[i]);
    }
    driver->lane_free(small);
    driver->mem_free(mem);
    driver->kernel_free(count);
}

/* A small copy and a small launch of other lanes end while a long launch goes on, on one thread as on many. */
static void what_is_little_waits_for_no_long_launch(void **state)
{
    struct tsl_dkernel *spin = bed_kernel(program, "spin"), *add = bed_kernel(program, "add");
    size_t n = (size_t)4096 * cpu()->n_threads;
    struct tsl_mem *mem = new_mem(n * sizeof(int)), *other = new_mem(64 * sizeof(int));
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(false)};
    struct tsl_fill fill = {.dst = {.mem = other}, .region = {64, 1, 1}, .pattern = "\1", .pattern_size = 1};
    struct tsl_fence *filled, *added, *before;

    (void)state;
    bed_launch(lane, add, other, 1, 64, 0, NULL, &before); /* How long it takes is known then. */
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    must_end(before);
    bed_launch(lane, spin, mem, 2000, n, 0, NULL, &before);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    must_end(before);
    bed_launch(lane, spin, mem, 200000, n, 0, NULL, &before);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    busy_wait(5000000);
    assert_int_equal(driver->fill(lanes[0], &fill, NULL, &filled), CL_SUCCESS);
    bed_launch(lanes[1], add, other, 1, 64, 0, &(struct tsl_waits){.n = 1, .fences = &filled}, &added);
    assert_int_equal(driver->flush(lanes[1]), CL_SUCCESS);
    must_end(added);
    assert_true(driver->fence_status(before) > CL_COMPLETE);
    assert_int_equal(driver->fence_status(filled), CL_COMPLETE);
    assert_int_equal(bed_ints(other)[15], 0x01010102);
    must_end(before);
    tsl_fence_unref(filled);
    for (int l = 0; l < 2; l++)
        driver->lane_free(lanes[l]);
    driver->mem_free(mem);
    driver->mem_free(other);
    driver->kernel_free(spin);
    driver->kernel_free(add);
}

/* A wide launch that waited for what failed isn't done, and those after it are. */
static void what_waited_in_vain_is_not_done(void **state)
{
    struct tsl_dkernel *count = bed_kernel(program, "count");
    struct tsl_mem *mem = new_mem(WIDE_ITEMS * sizeof(int));
    struct tsl_fence *gate, *failed;

    (void)state;
    memset(bed_ints(mem), 0, WIDE_ITEMS * sizeof(int));
    assert_int_equal(driver->gate_create(member, &gate), CL_SUCCESS);
    bed_launch(lane, count, mem, WIDE_TURNS, WIDE_ITEMS, 16, &(struct tsl_waits){.n = 1, .fences = &gate}, &failed);
    bed_launch(lane, count, mem, WIDE_TURNS, WIDE_ITEMS, 16, NULL, NULL);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    finish(lane);
    assert_int_equal(driver->fence_status(failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    for (int item = 0; item < WIDE_ITEMS; item++)
        assert_int_equal(bed_ints(mem)[item], 1);
    tsl_fence_unref(failed);
    tsl_fence_unref(gate);
    driver->mem_free(mem);
    driver->kernel_free(count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_comes_as_they_fall_asleep),
        cmocka_unit_test(chains_over_lanes_go_on),
        cmocka_unit_test(what_is_large_wakes_all),
        cmocka_unit_test(what_becomes_ready_wakes_all),
        cmocka_unit_test(independent_launches_share_the_threads),
        cmocka_unit_test(who_was_spared_comes_soon),
        cmocka_unit_test(what_is_small_wakes_nobody),
        cmocka_unit_test(many_threads_with_launches_of_their_own),
        cmocka_unit_test(each_piece_is_done_once),
        cmocka_unit_test(small_ones_come_between_wide_ones),
        cmocka_unit_test(what_waited_in_vain_is_not_done),
        cmocka_unit_test(what_is_little_waits_for_no_long_launch),
        cmocka_unit_test(threads_run_where_they_shall),
    };

    const struct CMUnitTest of_one[] = {
        cmocka_unit_test(threads_run_where_they_shall),    cmocka_unit_test(work_that_comes_as_they_fall_asleep),
        cmocka_unit_test(chains_over_lanes_go_on),         cmocka_unit_test(many_threads_with_launches_of_their_own),
        cmocka_unit_test(each_piece_is_done_once),         cmocka_unit_test(small_ones_come_between_wide_ones),
        cmocka_unit_test(what_waited_in_vain_is_not_done), cmocka_unit_test(what_is_little_waits_for_no_long_launch),
    };

    if (getenv("TEAM_LINE"))
        return cmocka_run_group_tests_name("team", of_one, set_up, tear_down);
    return cmocka_run_group_tests_name("team", tests, set_up, tear_down);
}
