/* place.c: the line CPU of TESELA_CONFIG, as far as this machine has it; without one all that the process may use. */
#ifndef TSL_CPU_DEVICE_PLACE_H
#define TSL_CPU_DEVICE_PLACE_H

#include <sched.h>
#include <stdbool.h>

struct cpu_place {
    unsigned n_threads;
    bool bound;           /* the line is there: threads stay on the processors, and no other thread helps them */
    bool apart;           /* each thread stays on a processor of its own */
    bool transfers;       /* memory of its own */
    cpu_set_t processors; /* allowed, of those nodes */
    unsigned n_missing;   /* nodes that aren't there */
};

void cpu_place_get(struct cpu_place *place);
/* Tells what the line asks for and this machine hasn't; inside probe. */
void cpu_place_complain(const struct cpu_place *place);

#endif
