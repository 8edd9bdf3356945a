/* call.c: launches that are calls of functions (driver/call.h). */
#ifndef TSL_CPU_DEVICE_CALL_H
#define TSL_CPU_DEVICE_CALL_H

#include "cpu_device/internal.h"
#include "driver/call.h"

struct cpu_call;

/* A copy of what the launch is called with. n_pieces: of the original, should it have to run. NULL: no memory. */
struct cpu_call *cpu_call_create(const struct tsl_call *call, const struct tsl_launch *launch, uint64_t n_pieces);
void cpu_call_free(struct cpu_call *call); /* NULL is fine */
/* As struct tsl_call says. */
cl_int cpu_call_run(const struct cpu_call *call, const struct cpu_member *member);
uint64_t cpu_call_pieces(const struct cpu_call *call);

#endif
