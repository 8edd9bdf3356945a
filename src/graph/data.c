/* The data of a root memory object: its making and end, and the memory of its parts. */
#include "graph/data.h"

#include "base/lock.h"
#include "base/sets.h"
#include "driver/image.h"
#include "graph/coherence.h"
#include "graph/copies.h"
#include "graph/host_copy.h"
#include "graph/member_memory.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "graph/work.h"
#include "object/image.h"
#include "tile/ranges.h"
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

/* Flags that tell a driver how kernels access the memory. What the host does with it is no concern of drivers. */
#define ACCESS_FLAGS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

static struct tsl_residence *create_residences(struct tsl_data *data, unsigned n)
{
    struct tsl_residence *residences = calloc(n, sizeof(*residences));
    for (unsigned i = 0; residences && i < n; i++)
        residences[i].data = data;
    return residences;
}

struct tsl_data *tsl_data_create(struct tsl_buffer *owner, void *host_ptr)
{
    struct tsl_context *context = owner->context;
    struct tsl_data *data = calloc(1, sizeof(*data));
    tsl_spaces valid = host_ptr ? tsl_spaces_of(TSL_SPACE_HOST) : TSL_SPACES_NONE;
    if (!data)
        return NULL;
    data->context = context;
    data->owner = &owner->object;
    data->size = owner->size;
    data->image = owner->image ? &owner->image->desc : NULL;
    data->padded = data->image && tsl_image_has_padding(data->image);
    data->members = owner->image ? owner->image->members : TSL_MEMBERS_ALL;
    data->flags = owner->flags & ACCESS_FLAGS;
    data->last_member = -1;
    LIST_INIT(&data->sub_mems);
    data->residences = create_residences(data, context->n_members);
    if (owner->flags & CL_MEM_USE_HOST_PTR)
        data->host = host_ptr;
    if (data->residences && tsl_tiles_init(&data->tiles, owner->size, valid, true)) {
        atomic_fetch_add(&context->graph->objects_size, data->size);
        return data;
    }
    free(data->residences);
    free(data);
    return NULL;
}

void tsl_data_set_svm(struct tsl_data *data, const struct tsl_svm *svm)
{
    data->svm = svm;
}

static void free_mems(struct tsl_data *data)
{
    struct tsl_mem *mems[TSL_MAX_MEMBERS];
    if (data->spread && tsl_spread_take(data, mems))
        tsl_spread_free(data, mems);
    for (unsigned i = 0; i < data->context->n_members; i++)
        if (data->residences[i].mem)
            tsl_member_memory_free(&data->residences[i], data->residences[i].mem);
}

void tsl_data_destroy(struct tsl_data *data)
{
    struct tsl_context *context = data->context;
    if (data->registered)
        tsl_data_unregister(data);
    free_mems(data);
    tsl_lock_take(&context->graph->lock); /* The lock guards the operations to which uses refer. */
    tsl_residency_end_all(data);
    tsl_graph_changed(context->graph); /* A thread may be waiting for the memory. */
    tsl_tiles_finish(&data->tiles);
    if (data->host)
        tsl_tiles_join(&context->graph->host_map, (uintptr_t)data->host, (uintptr_t)data->host + data->size);
    tsl_graph_leave(context->graph, TSL_WHO_WORKER);
    if (data->host_owned)
        tsl_host_copy_free(data);
    free(data->residences);
    tsl_spread_destroy(context->graph, data->spread);
    atomic_fetch_sub(&context->graph->objects_size, data->size);
    tsl_ranges_finish(&data->mapped);
    tsl_coherence_forget(data->writers);
    free(data);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

struct tsl_sub_mems *tsl_sub_mems_create_locked(struct tsl_data *data)
{
    struct tsl_sub_mems *subs = calloc(1, sizeof(*subs));
    if (!subs)
        return NULL;
    subs->data = data;
    LIST_INSERT_HEAD(&data->sub_mems, subs, link);
    return subs;
}

void tsl_sub_mems_forget_locked(struct tsl_sub_mems *subs)
{
    if (subs)
        LIST_REMOVE(subs, link);
    free(subs);
}

struct tsl_sub_mems *tsl_sub_mems_create(struct tsl_data *data)
{
    tsl_lock_take(&data->context->graph->lock);
    struct tsl_sub_mems *subs = tsl_sub_mems_create_locked(data);
    tsl_lock_give(&data->context->graph->lock);
    return subs;
}

/* From here on no eviction finds these memories. An eviction that comes meanwhile leaves the root's memory to this
 * thread. */
static bool take_subs(struct tsl_sub_mems *subs)
{
    struct tsl_data *data = subs->data;
    bool any = false;
    tsl_lock_take(&data->context->graph->lock);
    LIST_REMOVE(subs, link);
    for (unsigned i = 0; i < data->context->n_members; i++) {
        if (subs->mems[i])
            data->residences[i].n_freeing++;
        if (subs->spread[i])
            data->spread->residence.n_freeing++;
        any |= subs->mems[i] || subs->spread[i];
    }
    tsl_lock_give(&data->context->graph->lock);
    return any;
}

/* What was evicted meanwhile, of one member or of all over which the object is spread. */
struct orphans {
    struct tsl_residence *residence;
    struct tsl_mem *own, *spread[TSL_MAX_MEMBERS];
};

static bool take_orphans_locked(struct orphans *orphans)
{
    struct tsl_residence *residence = orphans->residence;
    struct tsl_spread *spread = residence->data->spread;
    if (--residence->n_freeing > 0)
        return false;
    orphans->own = residence->orphan;
    residence->orphan = NULL;
    if (!tsl_residence_is_spread(residence))
        return orphans->own;
    memcpy(orphans->spread, spread->orphans, sizeof(spread->orphans));
    memset(spread->orphans, 0, sizeof(spread->orphans));
    return orphans->spread[spread->home];
}

static void free_orphans(struct tsl_residence *residence)
{
    struct tsl_data *data = residence->data;
    struct tsl_graph *graph = data->context->graph;
    struct orphans orphans = {.residence = residence};
    tsl_lock_take(&graph->lock);
    bool any = take_orphans_locked(&orphans);
    tsl_lock_give(&graph->lock);
    if (!any)
        return;
    if (orphans.own)
        tsl_member_memory_free(residence, orphans.own);
    tsl_spread_free(data, orphans.spread);
    tsl_lock_take(&graph->lock);
    tsl_space_port(graph, data, tsl_space_of_residence(residence))->n_leaving--;
    tsl_graph_changed(graph);
    tsl_lock_give(&graph->lock);
}

static void free_sub(struct tsl_mem *mem, struct tsl_residence *residence)
{
    if (!mem)
        return;
    mem->member->driver->mem_free(mem);
    free_orphans(residence);
}

void tsl_sub_mems_destroy(struct tsl_sub_mems *subs)
{
    if (subs && take_subs(subs))
        for (unsigned i = 0; i < subs->data->context->n_members; i++) {
            struct tsl_spread *spread = subs->data->spread;
            free_sub(subs->mems[i], &subs->data->residences[i]);
            free_sub(subs->spread[i], spread ? &spread->residence : NULL);
        }
    free(subs);
}
