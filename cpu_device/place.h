/* place.c: the lines CPU of TESELA_CONFIG, as far as this machine has what they ask for. Each is a member; without one
 * there is one member, which has all that the process may use. */
#ifndef TSL_CPU_DEVICE_PLACE_H
#define TSL_CPU_DEVICE_PLACE_H

#include "driver/member.h"

#include <sched.h>
#include <stdbool.h>

struct cpu_place {
    unsigned n_threads;
    bool bound;           /* there is a line: threads stay on the processors, and no other thread helps them */
    bool apart;           /* each thread stays on a processor of its own */
    bool transfers;       /* memory of its own */
    cpu_set_t processors; /* allowed, of those nodes */
    unsigned n_missing;   /* nodes that aren't there */
    unsigned n_shared;    /* processors that earlier lines have, too */
};

/* How many members the host's processors are: 1 at least. */
unsigned cpu_place_count(void);
/* That of member `number`, which is less than the count. */
void cpu_place_get(unsigned number, struct cpu_place *place);
/* How many of them have memory of their own. That is the host's all the same: they share it. */
unsigned cpu_place_count_apart(void);
/* Bytes of memory that member `number` has: the host's or, with memory of its own, an equal part of it. */
cl_ulong cpu_place_memory(unsigned number);
/* The number of the member that a path of ours leads to. */
static inline unsigned cpu_place_number(const struct tsl_path *path)
{
    return (unsigned)(uintptr_t)path->priv;
}
/* Tells what the member's line asks for and this machine hasn't; inside probe. */
void cpu_place_complain(unsigned number, const struct cpu_place *place);
/* The member's id, as TESELA_MEMBERS has it: "cpu", or "cpu:1" where there are several. */
const char *cpu_place_id(unsigned number);

/* Takes n of the processors that are there: first those that aren't taken yet. Adds them to `taken`; how many were
 * taken before. n is no more than are there. Pure. */
unsigned cpu_place_take(unsigned n, const cpu_set_t *there, cpu_set_t *taken, cpu_set_t *mine);

#endif
