/* The data of a root memory object: its directory, its host copy, its memory on the members. */
#include "graph/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Flags that a member's driver may know: how kernels access the memory. What the host does to it is our own affair. */
#define ACCESS_FLAGS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

struct tsl_data *tsl_data_create(struct tsl_context *context, size_t size, cl_mem_flags flags, void *host_ptr)
{
    struct tsl_data *data = calloc(1, sizeof(*data));
    uint32_t valid = host_ptr ? TSL_SPACE_BIT(TSL_SPACE_HOST) : 0;
    if (!data)
        return NULL;
    data->context = context;
    data->size = size;
    data->flags = flags & ACCESS_FLAGS;
    data->home = -1;
    data->mems = calloc(context->n_members, sizeof(*data->mems));
    if (flags & CL_MEM_USE_HOST_PTR)
        data->host = host_ptr;
    if (data->mems && tsl_tiles_init(&data->tiles, size, valid, true))
        return data;
    free(data->mems);
    free(data);
    return NULL;
}

static size_t pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void tsl_data_destroy(struct tsl_data *data)
{
    struct tsl_context *context = data->context;
    for (unsigned i = 0; i < context->n_members; i++)
        if (data->mems[i])
            data->mems[i]->member->driver->mem_free(data->mems[i]);
    tsl_lock_take(&context->graph->lock); /* Uses hold operations. */
    tsl_tiles_finish(&data->tiles);
    if (data->host)
        tsl_tiles_join(&context->graph->host_map, (uintptr_t)data->host, (uintptr_t)data->host + data->size);
    tsl_graph_leave(context->graph, TSL_WHO_WORKER);
    if (data->host_owned)
        munmap(data->host, pages(data->size));
    free(data->mems);
    TSL_FEW_FINISH(&data->mapped);
    free(data);
}

/* Whole pages: aligned for every device's DMA, zero until written, and taken from the system only when touched. */
char *tsl_data_host(struct tsl_data *data)
{
    if (data->host)
        return data->host;
    void *host = mmap(NULL, pages(data->size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        return NULL;
    data->host = host;
    data->host_owned = true;
    return data->host;
}

void tsl_sub_mems_destroy(struct tsl_sub_mems *subs)
{
    for (unsigned i = 0; subs && i < TSL_MAX_MEMBERS; i++)
        if (subs->mems[i])
            subs->mems[i]->member->driver->mem_free(subs->mems[i]);
    free(subs);
}
