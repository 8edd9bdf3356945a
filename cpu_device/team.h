/* team.c: the threads. */
#ifndef TSL_CPU_DEVICE_TEAM_H
#define TSL_CPU_DEVICE_TEAM_H

#include "cpu_device/internal.h"

cl_int cpu_team_start(struct cpu_member *member);
void cpu_team_stop(struct cpu_member *member); /* waits for the threads */

/* Wakes some threads for what is ready; each of them wakes as many when it has begun, so all are awake soon without one
 * thread having to wake them all. Their number grows with the root of the team's, as a thread that sleeps takes much
 * longer to wake than another takes to call it: two rounds, whatever the number. No thread is woken for pieces that
 * idle threads which are awake will find. There are never more awake than processors, with the helping threads counted
 * in. No thread is woken on a processor where another is at work (or calls this) unless all sleep: the system would
 * have both share it, while another processor is idle. Where that leaves no thread for a launch, as all that are awake
 * have long pieces, one of the spared threads looks again soon, as the caller may be asleep by then. */
#define CPU_WAKES_LEAST 2
#define CPU_WAKES_MOST  16
#define CPU_SPARE_NS    500000

struct cpu_wakes {
    struct cpu_thread *threads[CPU_WAKES_MOST];
    unsigned n;
};

void cpu_wake(struct cpu_member *member);
void cpu_wake_from(struct cpu_member *member, int at); /* by a thread that knows where it is */
/* Might cpu_choose_locked find a thread? A look without the lock. */
bool cpu_may_call(const struct cpu_member *member);
/* In two steps: chosen under the lock, signalled without it. at: as a worker's. */
struct cpu_wakes cpu_choose_locked(struct cpu_member *member, int at);
void cpu_signal(const struct cpu_wakes *wakes);
/* Any that sleeps, to be signalled without the lock; NULL: none does. */
struct cpu_thread *cpu_rouse_locked(struct cpu_member *member);
/* The thread of the team on whose processor the caller is; CPU_NOWHERE. */
int cpu_here(const struct cpu_member *member);

/* Looks for something that will be there soon, for as long as it takes to sleep and be woken, without giving the
 * processor away: another thread that wants it would have it for milliseconds. */
#define CPU_LOOK_NS 20000u
#define CPU_LOOKS   16u /* between two looks at the clock */

/* Looking ends so long after the last piece of all threads, not only of this one, as the next launch often comes then;
 * and in all no later than some pieces take. */
#define CPU_LOOK_ALL_NS 150000u

struct cpu_look {
    uint64_t begin, last; /* when another thread was last in a piece */
};

bool cpu_may_look(struct cpu_member *member, struct cpu_look *look); /* false: that was long enough */

/* A waiting thread does pieces on the same processor. */
static inline bool cpu_is_crowded(const struct cpu_thread *thread)
{
    return atomic_load_explicit(&thread->n_helping, memory_order_relaxed) > 0;
}

/* As long as a gate isn't open, one thread looks for longer: other devices take longer than threads. Then it sleeps in
 * steps. It goes on with what the gate held back, so no thread need be woken, nor the other technology called. */
#define CPU_GATE_LOOK_NS 200000u
#define CPU_GATE_REST_NS 500000

static inline void cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
