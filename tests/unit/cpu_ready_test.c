/* What is ready on the built-in CPU, and who takes it (cpu_device/ready.c), with no team behind it. */
#include "cpu_device/queue.h"
#include "cpu_device/ready.h"
#include "cpu_device/team.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct cpu_member member;

static int set_up(void **state)
{
    (void)state;
    memset(&member, 0, sizeof(member));
    member.n_threads = 4;
    member.ready_end = &member.ready;
    pthread_mutex_init(&member.lock, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pthread_mutex_destroy(&member.lock);
    return 0;
}

static struct cpu_task *new_task(uint64_t n_pieces, unsigned max_joined)
{
    struct cpu_task *task = calloc(1, sizeof(*task));

    task->fence.member = &member.base;
    task->n_pieces = n_pieces;
    task->max_joined = max_joined;
    return task;
}

static struct cpu_task *new_ready(uint64_t n_pieces, unsigned max_joined)
{
    struct cpu_task *task = new_task(n_pieces, max_joined);

    pthread_mutex_lock(&member.lock);
    cpu_ready_locked(&member, task);
    pthread_mutex_unlock(&member.lock);
    return task;
}

static struct cpu_share join_list(void)
{
    struct cpu_share share;

    pthread_mutex_lock(&member.lock);
    share = cpu_join_listed_locked(&member);
    pthread_mutex_unlock(&member.lock);
    return share;
}

/* As cpu_complete does. */
static void complete(struct cpu_task *task)
{
    pthread_mutex_lock(&member.lock);
    if (task->board)
        task->board->task = NULL;
    pthread_mutex_unlock(&member.lock);
    free(task);
}

static void all_is_gone(void)
{
    assert_int_equal(atomic_load(&member.n_ready), 0);
    assert_int_equal(atomic_load(&member.n_listed), 0);
    assert_null(member.ready);
    assert_ptr_equal(member.ready_end, &member.ready);
    for (unsigned i = 0; i < CPU_BOARDS; i++)
        assert_null(member.boards[i].task);
}

static void pieces_come_in_order_and_once(void **state)
{
    struct cpu_task *wide = new_ready(3, 4), *small = new_ready(2, 2);
    struct cpu_share a = cpu_join_board(&member), b = cpu_join_board(&member), c = join_list();

    (void)state;
    assert_ptr_equal(a.task, wide);
    assert_ptr_equal(b.task, wide);
    assert_ptr_equal(c.task, small);
    assert_int_equal(a.piece + 10 * b.piece + 100 * c.piece, 10);
    assert_true(cpu_take(&a));
    assert_int_equal(a.piece, 2);
    assert_false(cpu_take(&b));
    assert_false(cpu_take(&a));
    assert_null(cpu_join_board(&member).task);
    assert_true(cpu_take(&c));
    assert_null(join_list().task);
    assert_false(cpu_done(&b));
    assert_true(cpu_done(&a));
    assert_true(cpu_done(&c));
    complete(wide);
    complete(small);
    all_is_gone();
}

/* A thread has the same part of each task, and helps with others' parts when its own is done. */
static void threads_have_parts_of_their_own(void **state)
{
    static const uint64_t picked[] = {2, 3, 4, 5, 0};
    static const int at[] = {1, 1, 2, 1, CPU_NOWHERE};
    struct cpu_task *task = new_ready(8, 4);
    struct cpu_share share = cpu_join_board(&member);

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(cpu_pick(&share, at[i]), picked[i]);
        assert_true(cpu_take(&share));
    }
    assert_int_equal(cpu_pick(&share, 3), 6);
    assert_true(cpu_take(&share));
    assert_int_equal(cpu_pick(&share, 2), 7);
    assert_true(cpu_take(&share));
    assert_int_equal(cpu_pick(&share, 2), 1);
    assert_false(cpu_take(&share));
    assert_true(cpu_done(&share));
    complete(task);
    all_is_gone();
}

/* Lanes that each make their next task ready when one is complete are served in turns. */
static void the_oldest_board_is_first(void **state)
{
    struct cpu_task *tasks[CPU_BOARDS + 1];
    struct cpu_share share;

    (void)state;
    for (unsigned i = 0; i < CPU_BOARDS; i++)
        tasks[i] = new_ready(2, 4);
    for (unsigned round = 0; round < 3 * CPU_BOARDS; round++) {
        share = cpu_join_board(&member);
        assert_ptr_equal(share.task, tasks[0]);
        assert_true(cpu_take(&share));
        assert_true(cpu_done(&share));
        complete(share.task);
        tasks[CPU_BOARDS] = new_ready(2, 4);
        assert_ptr_not_equal(tasks[CPU_BOARDS]->board, NULL);
        memmove(tasks, tasks + 1, CPU_BOARDS * sizeof(tasks[0]));
    }
    for (unsigned i = 0; i < CPU_BOARDS; i++) {
        share = cpu_join_board(&member);
        assert_true(cpu_take(&share) && cpu_done(&share));
        complete(share.task);
    }
    all_is_gone();
}

/* Of one piece, for fewer threads than the team has, failed before it began, or one too many. */
static void others_stand_in_the_list(void **state)
{
    struct cpu_task *tasks[CPU_BOARDS + 1], *one = new_ready(1, 4), *few = new_ready(9, 3), *failed = new_task(9, 4);
    struct cpu_share share;

    (void)state;
    failed->wait_error = CL_OUT_OF_RESOURCES;
    pthread_mutex_lock(&member.lock);
    cpu_ready_locked(&member, failed);
    pthread_mutex_unlock(&member.lock);
    for (unsigned i = 0; i <= CPU_BOARDS; i++)
        tasks[i] = new_ready(2, 4);
    assert_null(one->board);
    assert_null(few->board);
    assert_null(failed->board);
    assert_non_null(tasks[CPU_BOARDS - 1]->board);
    assert_null(tasks[CPU_BOARDS]->board);
    assert_int_equal(atomic_load(&member.n_listed), 4);
    assert_int_equal(atomic_load(&member.n_ready), 4 + CPU_BOARDS);
    assert_int_equal(cpu_room_locked(&member, 100), 1 + 3 + 4 + 2 + 2 * CPU_BOARDS);

    share = join_list();
    assert_true(share.task == one && cpu_done(&share));
    for (unsigned i = 0; i < 3; i++) {
        struct cpu_share of_few = join_list();

        assert_ptr_equal(of_few.task, few);
        if (i == 2)
            cpu_take_all(&of_few);
        assert_int_equal(cpu_done(&of_few), i == 2);
    }
    share = join_list();
    assert_true(share.task == failed && cpu_done(&share));
    share = join_list();
    assert_true(share.task == tasks[CPU_BOARDS] && cpu_take(&share) && cpu_done(&share));
    while ((share = cpu_join_board(&member)).task) {
        cpu_take_all(&share);
        assert_true(cpu_done(&share));
    }
    for (unsigned i = 0; i <= CPU_BOARDS; i++)
        complete(tasks[i]);
    complete(one);
    complete(few);
    complete(failed);
    all_is_gone();
}

/* A team of one has no board: there it is the limit that keeps who waits and the thread from sharing a processor. */
static void a_team_of_one_has_a_list_alone(void **state)
{
    struct cpu_task *task;
    struct cpu_share share;

    (void)state;
    member.n_threads = 1;
    task = new_ready(3, 1);
    member.n_threads = 4;
    assert_null(task->board);
    share = join_list();
    assert_null(join_list().task);
    cpu_take_all(&share);
    assert_true(cpu_done(&share));
    complete(task);
    all_is_gone();
}

static void who_leaves_makes_room(void **state)
{
    struct cpu_task *task = new_ready(4, 1);
    struct cpu_share a = join_list(), b = join_list(), c;

    (void)state;
    assert_ptr_equal(a.task, task);
    assert_null(b.task);
    assert_int_equal(atomic_load(&member.n_ready), 0);
    cpu_leave(&a);
    assert_int_equal(atomic_load(&member.n_ready), 1);
    assert_false(cpu_done(&a));
    c = join_list();
    assert_ptr_equal(c.task, task);
    assert_int_equal(c.piece, 1);
    assert_true(cpu_take(&c) && cpu_take(&c));
    cpu_leave(&c); /* nothing is left for anybody */
    assert_int_equal(atomic_load(&member.n_ready), 0);
    assert_true(cpu_done(&c));
    complete(task);
    all_is_gone();
}

/* ---- Who is called ----------------------------------------------------------------------------------------------- */

#define N_TEAM 12

/* A team of which some sleep, some are awake and idle, and others at work. */
static void set_team(struct cpu_thread *threads, unsigned n_idle, unsigned n_working)
{
    member.threads = threads;
    member.n_threads = N_TEAM;
    member.n_wakes = 3;
    atomic_store(&member.n_begun, N_TEAM);
    atomic_store(&member.n_sleeping, N_TEAM - n_idle - n_working);
    atomic_store(&member.n_working, n_working);
    for (unsigned i = 0; i < N_TEAM; i++) {
        threads[i].worker.member = &member;
        threads[i].asleep = i >= n_idle + n_working;
    }
}

static unsigned called(void)
{
    struct cpu_wakes wakes;

    if (!cpu_may_call(&member))
        return 0;
    pthread_mutex_lock(&member.lock);
    wakes = cpu_choose_locked(&member, CPU_NOWHERE);
    pthread_mutex_unlock(&member.lock);
    return wakes.n;
}

static void end_all(struct cpu_task *task)
{
    struct cpu_share share = task->board ? cpu_join_board(&member) : join_list();

    assert_ptr_equal(share.task, task);
    cpu_take_all(&share);
    assert_true(cpu_done(&share));
    complete(task);
}

/* Where as many are awake and at nothing as there are pieces, a call would only take its time. */
static void nobody_is_called_for_pieces_that_others_find(void **state)
{
    struct cpu_thread threads[N_TEAM] = {0};
    struct cpu_task *task = new_ready(5, N_TEAM);

    (void)state;
    assert_non_null(task->board);
    set_team(threads, 5, 2);
    assert_int_equal(called(), 0);
    set_team(threads, 4, 2);
    assert_int_equal(called(), 1);
    assert_int_equal(called(), 0); /* who was called is awake */
    set_team(threads, 1, 0);
    assert_int_equal(called(), 3);
    assert_int_equal(called(), 1);
    assert_int_equal(called(), 0);
    set_team(threads, 0, 0);
    assert_int_equal(called(), 3);
    end_all(task);
    assert_int_equal(called(), 0);
    all_is_gone();
}

static void those_in_the_list_are_counted_too(void **state)
{
    struct cpu_thread threads[N_TEAM] = {0};
    struct cpu_task *few = new_ready(9, 2), *wide = new_ready(2, N_TEAM);

    (void)state;
    assert_null(few->board);
    assert_non_null(wide->board);
    set_team(threads, 4, 1);
    assert_int_equal(called(), 0);
    set_team(threads, 2, 1);
    assert_int_equal(called(), 2);
    end_all(few);
    end_all(wide);
    all_is_gone();
}

/* Nobody looks: one of those who sleep takes the place of who called. */
static void where_all_are_at_work_one_is_spared(void **state)
{
    struct cpu_thread threads[N_TEAM] = {0};
    struct cpu_task *task = new_ready(5, N_TEAM);

    (void)state;
    set_team(threads, 0, 3);
    atomic_store(&member.n_helping, N_TEAM - 3);
    assert_int_equal(called(), 1);
    assert_true(threads[3].due || threads[N_TEAM - 1].due);
    assert_int_equal(called(), 0);
    set_team(threads, 1, 3);
    assert_int_equal(called(), 0);
    end_all(task);
    all_is_gone();
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

#define N_TAKERS  6
#define N_TASKS   20000
#define MAX_WIDTH 40

static struct {
    atomic_uint done[N_TASKS][MAX_WIDTH], n_complete, n_erred;
    uint64_t pieces[N_TASKS];
    struct cpu_task *tasks[N_TASKS];
} together;

static unsigned index_of(const struct cpu_task *task)
{
    return task->n_unsure; /* nobody else uses it here */
}

/* One of three stops with an error now and then, and one leaves. */
static void *take(void *arg)
{
    unsigned which = (unsigned)(uintptr_t)arg, turn = 0;

    while (atomic_load(&together.n_complete) < N_TASKS) {
        struct cpu_share share = turn++ % 2 ? join_list() : cpu_join_board(&member);
        unsigned i, n = 0;

        if (!share.task)
            continue;
        i = index_of(share.task);
        do {
            atomic_fetch_add(&together.done[i][cpu_pick(&share, (int)(which % 4))], 1);
            n++;
        } while ((which % 3 || n < 5) && cpu_take(&share));
        if (which % 3 == 0 && turn % 7 == 0) {
            cpu_take_all(&share);
            atomic_fetch_add(&together.n_erred, 1);
        } else if (which % 3 == 0) {
            cpu_leave(&share);
        }
        if (cpu_done(&share)) {
            complete(share.task);
            atomic_fetch_add(&together.n_complete, 1);
        }
    }
    return NULL;
}

/* No piece twice; none forgotten, unless somebody took what was left; each task complete once. */
static void many_threads_take_each_piece_once(void **state)
{
    pthread_t threads[N_TAKERS];
    unsigned twice = 0, missing = 0;

    (void)state;
    for (uintptr_t i = 0; i < N_TAKERS; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (unsigned i = 0; i < N_TASKS; i++) {
        struct cpu_task *task = new_task(1 + i * 7 % MAX_WIDTH, i % 3 ? 4 : 1 + i % 2);

        together.pieces[i] = task->n_pieces;
        task->n_unsure = i;
        pthread_mutex_lock(&member.lock);
        cpu_ready_locked(&member, task);
        pthread_mutex_unlock(&member.lock);
    }
    for (unsigned i = 0; i < N_TAKERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N_TASKS; i++)
        for (unsigned piece = 0; piece < together.pieces[i]; piece++) {
            twice += atomic_load(&together.done[i][piece]) > 1;
            missing += atomic_load(&together.done[i][piece]) == 0;
        }
    assert_int_equal(twice, 0);
    assert_true(missing <= atomic_load(&together.n_erred) * MAX_WIDTH);
    assert_int_equal(atomic_load(&together.n_complete), N_TASKS);
    all_is_gone();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_come_in_order_and_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_have_parts_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_board_is_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_stand_in_the_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_team_of_one_has_a_list_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_leaves_makes_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_is_called_for_pieces_that_others_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(those_in_the_list_are_counted_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_all_are_at_work_one_is_spared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_threads_take_each_piece_once, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
