/* ready.c: what is ready, and which thread takes it. */
#ifndef TSL_CPU_DEVICE_READY_H
#define TSL_CPU_DEVICE_READY_H

#include "cpu_device/internal.h"

void cpu_ready_locked(struct cpu_member *member, struct cpu_task *task);

/* What a thread has of a task. */
struct cpu_share {
    struct cpu_task *task; /* NULL: nothing */
    uint64_t piece;        /* its turn among the pieces that were taken */
    uint64_t n;            /* pieces that it has done, or has taken so that no thread does them; not reported yet */
};

/* Joins a task, with a piece of it. */
struct cpu_share cpu_join_board(struct cpu_member *member); /* one at a board; without the lock */
struct cpu_share cpu_join_listed_locked(struct cpu_member *member);
struct cpu_share cpu_join_quick_locked(struct cpu_member *member); /* a quick one of the list */
struct cpu_share cpu_join_lane_locked(struct cpu_member *member, const struct cpu_lane *lane); /* one of the lane's */
/* The piece to do, once for each that was joined with or taken. A thread does the same part of each launch as long as
 * all are equally quick, so that what it wrote is in its cache. at: the thread of the team, or CPU_NOWHERE. */
uint64_t cpu_pick(const struct cpu_share *share, int at);
/* One more piece of it, without the lock; false: none is left. */
bool cpu_take(struct cpu_share *share);
void cpu_take_all(struct cpu_share *share); /* so that no thread does the pieces that are left */
void cpu_leave(struct cpu_share *share);    /* pieces may be left for others */
bool cpu_done(struct cpu_share *share);     /* true: the caller completes the task; else it may be gone */
/* Is there something for more than one thread? */
bool cpu_is_wide_locked(const struct cpu_member *member);
/* For how many more threads there are pieces, at most `most`. */
unsigned cpu_room_locked(const struct cpu_member *member, unsigned most);
/* Is all that is ready at boards, and no more than one piece for each of n threads? Without the lock; no, where that
 * can't be seen. */
bool cpu_is_served(const struct cpu_member *member, unsigned n);
/* Is something ready of lanes for which no thread waits? Looks at the first few. */
bool cpu_is_unhelped_locked(const struct cpu_member *member);

/* Is a quick one there? A look without the lock. */
static inline bool cpu_has_quick(const struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_quick, memory_order_relaxed) > 0;
}

static inline bool cpu_is_ready(const struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_ready, memory_order_relaxed) > 0;
}

#endif
