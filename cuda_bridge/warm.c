#include "cuda_bridge/warm.h"

#include "base/worker.h"
#include "cuda_bridge/memory.h"
#include "cuda_bridge/operations.h"

#include <stddef.h>

/* Exit waits for it: it calls the driver, and our compiler. */
static struct tsl_worker warmer = TSL_VENDORS_WORKER("tesela-warm");

static void make(struct tsl_cuda_member *member)
{
    tsl_gather_kernels_make(&member->gather, &member->base);
}

static void run(struct tsl_job *job)
{
    if (!tsl_worker_is_ending())
        make((struct tsl_cuda_member *)((char *)job - offsetof(struct tsl_cuda_member, warm)));
}

void tsl_cuda_warm_init(struct tsl_cuda_member *member)
{
    member->warm.run = run;
}

void tsl_cuda_warm_others(const struct tsl_cuda_member *member)
{
    for (unsigned slot = 0; slot < TSL_MAX_MEMBERS; slot++) {
        struct tsl_cuda_member *other = tsl_cuda_member_at(slot);

        if (other && other != member && tsl_member_is_ready(&other->base) && tsl_cuda_can_reach(member, other))
            tsl_worker_post(&warmer, &other->warm);
    }
}

void tsl_cuda_warm_finish(void)
{
    tsl_worker_wait(&warmer);
}

/* The others first: what they have compiled is found in the cache. Members live as long as the thread that calls this.
 */
void tsl_cuda_warm(struct tsl_member *member)
{
    unsigned peers = atomic_load(&tsl_cuda_member(member)->peers);

    for (unsigned slot = 0; slot < TSL_MAX_MEMBERS; slot++) {
        struct tsl_cuda_member *other = peers & 1u << slot ? tsl_cuda_member_at(slot) : NULL;

        if (other && tsl_member_is_ready(&other->base))
            make(other);
    }
    if (peers)
        make(tsl_cuda_member(member));
}
