/* What is ready, and which thread takes it: tasks that several threads may join without the lock stand at boards, all
 * others in a list. */
#include "cpu_device/ready.h"
#include "base/clock.h"
#include "cpu_device/queue.h"

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

/* Says whether one more thread may join a task of the list. */
static void open_locked(struct cpu_member *member, struct cpu_task *task, bool open)
{
    if (task->open != open) {
        atomic_fetch_add_explicit(&member->n_listed, open ? 1u : -1u, memory_order_relaxed);
        if (task->quick)
            atomic_fetch_add_explicit(&member->n_quick, open ? 1u : -1u, memory_order_relaxed);
        atomic_fetch_add(&member->n_ready, open ? 1u : -1u); /* not relaxed: see cpu_may_call */
    }
    task->open = open;
}

static void list_locked(struct cpu_member *member, struct cpu_task *task)
{
    task->quick = task->wait_error || cpu_is_quick(task);
    task->left = &task->own;
    atomic_store_explicit(task->left, task->n_pieces, memory_order_relaxed);
    task->next = NULL;
    *member->ready_end = task;
    member->ready_end = &task->next;
    open_locked(member, task, true);
}

/* NULL: it is to stand in the list. */
static struct cpu_board *board_for_locked(struct cpu_member *member, const struct cpu_task *task)
{
    if (task->n_pieces < 2 || task->max_joined < 2 || task->max_joined < member->n_threads || task->wait_error)
        return NULL;
    for (unsigned i = 0; i < CPU_BOARDS; i++)
        if (!member->boards[i].task)
            return &member->boards[i];
    return NULL;
}

/* Before the board's pieces are there to be taken. */
static void set_ranges(struct cpu_board *board, unsigned n_threads)
{
    board->n_ranges = n_threads <= CPU_RANGES ? n_threads : 0;
    for (unsigned i = 0; i < board->n_ranges; i++)
        atomic_store_explicit(&board->ranges[i].n_picked, 0, memory_order_relaxed);
}

void cpu_ready_locked(struct cpu_member *member, struct cpu_task *task)
{
    struct cpu_board *board = board_for_locked(member, task);

    if (!board) {
        list_locked(member, task);
        return;
    }
    task->board = board;
    task->left = &board->left;
    board->task = task;
    set_ranges(board, member->n_threads);
    atomic_store_explicit(&board->turn, ++member->n_turns, memory_order_relaxed);
    atomic_fetch_add(&member->n_ready, 1); /* not relaxed: see cpu_may_call */
    /* Release: a thread that takes a piece sees the task. */
    atomic_store_explicit(task->left, task->n_pieces, memory_order_release);
}

/* ---- Going ------------------------------------------------------------------------------------------------------- */

static void unlink_locked(struct cpu_member *member, struct cpu_task *task)
{
    struct cpu_task **link = &member->ready;

    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    if (member->ready_end == &task->next)
        member->ready_end = link;
    open_locked(member, task, false);
}

/* By the thread that took the last piece. */
static void none_left(struct cpu_task *task)
{
    struct cpu_member *member = cpu_member_of(task->fence.member);

    if (task->board) {
        atomic_fetch_sub_explicit(&member->n_ready, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&member->lock);
    unlink_locked(member, task);
    pthread_mutex_unlock(&member->lock);
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

static uint64_t left_at(const struct cpu_board *board)
{
    return atomic_load_explicit(&board->left, memory_order_relaxed);
}

/* False: none is there. before: with it. */
static bool take_one(_Atomic uint64_t *left, uint64_t *before)
{
    *before = atomic_load_explicit(left, memory_order_relaxed);
    while (*before > 0)
        if (atomic_compare_exchange_weak_explicit(left, before, *before - 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* The share of a thread that took n pieces; `before` were left then. */
static struct cpu_share share_of(struct cpu_task *task, uint64_t before, uint64_t n)
{
    if (before == task->n_pieces && task->profile)
        task->times.start_ns = tsl_clock_ns();
    return (struct cpu_share){.task = task, .piece = task->n_pieces - before, .n = n};
}

static struct cpu_share join_board(struct cpu_board *board)
{
    struct cpu_share share = {.task = NULL};
    uint64_t before;

    if (!take_one(&board->left, &before))
        return share;
    share = share_of(board->task, before, 1);
    if (before == 1)
        none_left(share.task);
    return share;
}

/* The one whose task came first; NULL: nothing is left at any. */
static struct cpu_board *oldest_board(struct cpu_member *member)
{
    struct cpu_board *oldest = NULL;
    uint64_t turn = 0;

    for (unsigned i = 0; i < CPU_BOARDS; i++) {
        struct cpu_board *board = &member->boards[i];
        uint64_t its = atomic_load_explicit(&board->turn, memory_order_relaxed);

        if (left_at(board) && (!oldest || its < turn)) {
            oldest = board;
            turn = its;
        }
    }
    return oldest;
}

struct cpu_share cpu_join_board(struct cpu_member *member)
{
    struct cpu_share share = {.task = NULL};
    struct cpu_board *board;

    while (!share.task && (board = oldest_board(member)))
        share = join_board(board);
    return share;
}

/* A task that failed before it began is had as a whole. */
static struct cpu_share join_listed_locked(struct cpu_member *member, struct cpu_task *task)
{
    struct cpu_share share = {.task = NULL};
    uint64_t before, n = task->wait_error ? task->n_pieces : 1;

    if (task->wait_error)
        before = atomic_exchange_explicit(task->left, 0, memory_order_relaxed);
    else if (!take_one(task->left, &before))
        return share;
    share = share_of(task, before, n);
    task->n_joined++;
    if (before == n)
        unlink_locked(member, task);
    else if (task->n_joined == task->max_joined)
        open_locked(member, task, false);
    return share;
}

static struct cpu_share join_list_locked(struct cpu_member *member, const struct cpu_lane *lane, bool quick)
{
    struct cpu_share share = {.task = NULL};

    for (struct cpu_task *task = member->ready, *next; task && !share.task; task = next) {
        next = task->next;
        if (task->open && (!lane || task->lane == lane) && (!quick || task->quick))
            share = join_listed_locked(member, task);
    }
    return share;
}

struct cpu_share cpu_join_listed_locked(struct cpu_member *member)
{
    return join_list_locked(member, NULL, false);
}

struct cpu_share cpu_join_quick_locked(struct cpu_member *member)
{
    return join_list_locked(member, NULL, true);
}

struct cpu_share cpu_join_lane_locked(struct cpu_member *member, const struct cpu_lane *lane)
{
    struct cpu_share share = join_list_locked(member, lane, false);

    for (unsigned i = 0; i < CPU_BOARDS && !share.task; i++)
        if (member->boards[i].task && member->boards[i].task->lane == lane)
            share = join_board(&member->boards[i]);
    return share;
}

/* False: all of the range's are picked. */
static bool pick_from(struct cpu_board *board, unsigned r, uint64_t *piece)
{
    uint64_t n_pieces = board->task->n_pieces, first = n_pieces * r / board->n_ranges, picked;
    uint64_t n = n_pieces * (r + 1) / board->n_ranges - first;
    atomic_uint *n_picked = &board->ranges[r].n_picked;

    if (atomic_load_explicit(n_picked, memory_order_relaxed) >= n)
        return false;
    picked = atomic_fetch_add_explicit(n_picked, 1, memory_order_relaxed);
    *piece = first + picked;
    return picked < n;
}

/* No more pieces are picked than were taken, so one is there for each that was. */
uint64_t cpu_pick(const struct cpu_share *share, int at)
{
    struct cpu_board *board = share->task->board;
    unsigned r = at == CPU_NOWHERE ? 0 : (unsigned)at;
    uint64_t piece;

    if (!board || !board->n_ranges)
        return share->piece;
    while (!pick_from(board, r % board->n_ranges, &piece))
        r++;
    return piece;
}

bool cpu_take(struct cpu_share *share)
{
    uint64_t before;

    if (!take_one(share->task->left, &before))
        return false;
    share->piece = share->task->n_pieces - before;
    share->n++;
    if (before == 1)
        none_left(share->task);
    return true;
}

void cpu_take_all(struct cpu_share *share)
{
    uint64_t before = atomic_exchange_explicit(share->task->left, 0, memory_order_relaxed);

    share->n += before;
    if (before)
        none_left(share->task);
}

void cpu_leave(struct cpu_share *share)
{
    struct cpu_task *task = share->task;
    struct cpu_member *member = cpu_member_of(task->fence.member);

    if (task->board)
        return;
    pthread_mutex_lock(&member->lock);
    task->n_joined--;
    if (atomic_load_explicit(task->left, memory_order_relaxed))
        open_locked(member, task, true);
    pthread_mutex_unlock(&member->lock);
}

bool cpu_done(struct cpu_share *share)
{
    uint64_t n_pieces = share->task->n_pieces;

    /* Release and acquire: the thread that completes the task has seen what all have written. */
    return atomic_fetch_add_explicit(&share->task->n_done, share->n, memory_order_acq_rel) + share->n == n_pieces;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

bool cpu_is_wide_locked(const struct cpu_member *member)
{
    return cpu_room_locked(member, 2) > 1;
}

static uint64_t room_at_boards(const struct cpu_member *member)
{
    uint64_t room = 0;

    for (unsigned i = 0; i < CPU_BOARDS; i++)
        room += left_at(&member->boards[i]);
    return room;
}

bool cpu_is_served(const struct cpu_member *member, unsigned n)
{
    uint64_t room = room_at_boards(member);

    return room > 0 && room <= n && !atomic_load_explicit(&member->n_listed, memory_order_relaxed);
}

unsigned cpu_room_locked(const struct cpu_member *member, unsigned most)
{
    uint64_t room = room_at_boards(member);

    for (const struct cpu_task *task = member->ready; task && room < most; task = task->next) {
        uint64_t left = atomic_load_explicit(task->left, memory_order_relaxed);

        if (task->open)
            room += left < task->max_joined - task->n_joined ? left : task->max_joined - task->n_joined;
    }
    return room < most ? (unsigned)room : most;
}

static bool is_unhelped_locked(const struct cpu_task *task)
{
    return !task->lane || !task->lane->n_helping;
}

bool cpu_is_unhelped_locked(const struct cpu_member *member)
{
    const struct cpu_task *task = member->ready;

    for (unsigned i = 0; i < CPU_BOARDS; i++)
        if (left_at(&member->boards[i]) && is_unhelped_locked(member->boards[i].task))
            return true;
    for (unsigned i = 0; i < 4 && task; i++, task = task->next)
        if (task->open && is_unhelped_locked(task))
            return true;
    return false;
}
