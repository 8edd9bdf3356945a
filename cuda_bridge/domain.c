/* Domains: GPUs of which each reaches the memory of each other one. */
#include "cuda_bridge/domain.h"
#include "cuda_bridge/spread.h"

#include "base/settings.h"

/* 0: the GPU is in no domain. */
static size_t granule_of(const struct tsl_cuda_gpu *gpu)
{
    const CUmemAllocationProp prop = tsl_cuda_pages_of(gpu);
    size_t size = 0;

    if (!gpu->serves || !gpu->maps_memory ||
        tsl_cu.cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM))
        return 0;
    return size;
}

static bool reach_each_other(const struct tsl_cuda_gpu *a, const struct tsl_cuda_gpu *b)
{
    int there = 0, back = 0;

    return !tsl_cu.cuDeviceCanAccessPeer(&there, a->device, b->device) && there &&
           !tsl_cu.cuDeviceCanAccessPeer(&back, b->device, a->device) && back;
}

static bool has_atomics(const struct tsl_cuda_gpu *from, const struct tsl_cuda_gpu *to)
{
    int native = 0;

    return !tsl_cu.cuDeviceGetP2PAttribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from->device,
                                           to->device) &&
           native;
}

/* Do all that are in the domain so far and this one reach each other? */
static bool fits(const struct tsl_cuda_gpu *gpus, unsigned i, unsigned domain)
{
    for (unsigned k = 0; k < i; k++)
        if (gpus[k].domain == domain && !reach_each_other(&gpus[k], &gpus[i]))
            return false;
    return true;
}

/* The i-th joins the first domain that it fits into. Else it begins one, whose number is i + 1. */
static void join(struct tsl_cuda_gpu *gpus, unsigned i)
{
    unsigned domain = 1;

    while (domain <= i && (gpus[domain - 1].domain != domain || !fits(gpus, i, domain)))
        domain++;
    gpus[i].domain = domain;
}

/* What all GPUs of the domain have in common; one GPU alone makes none. */
static void settle(struct tsl_cuda_gpu *gpus, unsigned n, unsigned domain)
{
    size_t granule = 0;
    unsigned n_in = 0;
    bool atomics = true;

    for (unsigned i = 0; i < n; i++) {
        if (gpus[i].domain != domain)
            continue;
        n_in++;
        granule = gpus[i].domain_granule > granule ? gpus[i].domain_granule : granule;
        for (unsigned k = 0; k < n; k++)
            atomics &= k == i || gpus[k].domain != domain || has_atomics(&gpus[i], &gpus[k]);
    }
    for (unsigned i = 0; i < n; i++)
        if (gpus[i].domain == domain) {
            gpus[i].domain = n_in > 1 ? domain : 0;
            gpus[i].domain_granule = n_in > 1 ? granule : 0;
            gpus[i].domain_atomics = n_in > 1 && atomics;
        }
}

void tsl_cuda_find_domains(struct tsl_cuda_gpu *gpus, unsigned n)
{
    if (tsl_settings()->peers == TSL_PEERS_OFF)
        return;
    for (unsigned i = 0; i < n; i++) {
        gpus[i].domain_granule = granule_of(&gpus[i]);
        if (gpus[i].domain_granule)
            join(gpus, i);
    }
    for (unsigned i = 0; i < n; i++)
        if (gpus[i].domain == i + 1)
            settle(gpus, n, i + 1);
}
