/* memory.c: which members reach whose memory. */
#ifndef TSL_CUDA_BRIDGE_MEMORY_H
#define TSL_CUDA_BRIDGE_MEMORY_H

#include "cuda_bridge/internal.h"

/* From open to close, a number among the open members. */
void tsl_cuda_take_slot(struct tsl_cuda_member *member);
void tsl_cuda_give_slot(struct tsl_cuda_member *member);
/* NULL: none has that slot. */
struct tsl_cuda_member *tsl_cuda_member_at(unsigned slot);
/* Can each reach the other's memory? The ways needn't be open yet. */
bool tsl_cuda_can_reach(const struct tsl_cuda_member *a, const struct tsl_cuda_member *b);
/* Opens the ways between this member's memory and that of the others that have joined. */
void tsl_cuda_peers_join(struct tsl_cuda_member *member);
/* A member that is ready and runs the same code; NULL: there is none. */
struct tsl_cuda_member *tsl_cuda_twin(const struct tsl_cuda_member *member);
/* Do copies between them go straight? Else through the pipeline. */
bool tsl_cuda_reaches(const struct tsl_cuda_member *from, const struct tsl_cuda_member *to);

#endif
