/* The thread that carries data of the program's to where the head takes them, when their turn has come. */
#include "driver/box.h"
#include "driver/bulk.h"
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

void remote_pack(uint8_t *bytes, const struct tsl_place *place, const size_t region[3])
{
    const uint8_t *host = place->host;

    if (tsl_place_is_linear(place, region)) {
        memcpy(bytes, host + place->offset, region[0] * region[1] * region[2]);
        return;
    }
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++, bytes += region[0])
            memcpy(bytes, host + tsl_place_row(place, y, z), region[0]);
}

void remote_unpack(const struct tsl_place *place, const size_t region[3], const uint8_t *bytes)
{
    uint8_t *host = place->host;

    if (tsl_place_is_linear(place, region)) {
        memcpy(host + place->offset, bytes, region[0] * region[1] * region[2]);
        return;
    }
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++, bytes += region[0])
            memcpy(host + tsl_place_row(place, y, z), bytes, region[0]);
}

void remote_post_locked(struct remote_connection *c, struct remote_parcel *parcel)
{
    TAILQ_INSERT_TAIL(&parcel->node->parcels, parcel, link);
    pthread_cond_signal(&c->room);
}

void remote_release_parcel(void *arg, cl_int status)
{
    struct remote_parcel *parcel = arg;
    struct remote_connection *c = parcel->node->connection;

    (void)status; /* The node knows, too, and does nothing with the data. */
    if (atomic_fetch_sub(&parcel->n_left, 1) > 1)
        return;
    remote_lock(c);
    remote_post_locked(c, parcel);
    remote_unlock(c);
}

/* ---- Where data go ----------------------------------------------------------------------------------------------- */

/* In the memory that the node has in common with us; else in the head's. */
struct slot {
    unsigned number;
    bool *taken;
    uint8_t *bytes;
};

/* False: all are taken. */
static bool find_slot_locked(struct remote_node *node, struct slot *slot)
{
    struct remote_connection *c = node->connection;
    bool *taken = node->common ? node->common_taken : c->slot_taken;
    unsigned n = node->common ? TSL_REMOTE_N_COMMON : TSL_REMOTE_N_SLOTS, i = 0;

    while (i < n && taken[i])
        i++;
    if (i == n)
        return false;
    *slot = (struct slot){.number = i, .taken = &taken[i]};
    slot->bytes = node->common ? remote_common_slot(node, i) : c->slots + i * TSL_REMOTE_PIECE;
    return true;
}

/* The next parcel of a node that has room; NULL: none. Nodes take turns, so that one that takes no data stops no
 * other's. Parcels for lost nodes come without a slot. */
static struct remote_parcel *next_locked(struct remote_connection *c, struct slot *slot)
{
    for (unsigned i = 0; i < c->n_nodes; i++) {
        struct remote_node *node = &c->nodes[(c->last_served + 1 + i) % c->n_nodes];
        struct remote_parcel *parcel = TAILQ_FIRST(&node->parcels);

        if (!parcel || (!node->lost && (node->sent_size >= REMOTE_MOST_SENT || !find_slot_locked(node, slot))))
            continue;
        TAILQ_REMOVE(&node->parcels, parcel, link);
        c->last_served = node->index;
        return parcel;
    }
    return NULL;
}

/* ---- Carrying ---------------------------------------------------------------------------------------------------- */

/* What has failed needs no data, and the node may not know it any more. */
static struct remote_fence *unended_locked(struct remote_connection *c, uint64_t id)
{
    struct remote_fence *fence;

    HASH_FIND(hh, c->by_id, &id, sizeof(id), fence);
    return fence;
}

/* The lock is given back meanwhile; a loss waits for its end. False: nobody wants the bytes any more. */
static bool pack_unlocked(struct remote_connection *c, const struct remote_parcel *parcel, uint8_t *bytes)
{
    struct remote_fence *fence = unended_locked(c, parcel->id);

    if (!fence)
        return false;
    fence->begin_ns = tsl_clock_ns();
    c->copying = parcel->node;
    remote_unlock(c);
    remote_pack(bytes, &parcel->host, parcel->region);
    remote_lock(c);
    c->copying = NULL;
    pthread_cond_broadcast(&c->changed);
    return !parcel->node->lost && unended_locked(c, parcel->id);
}

static void carry_locked(struct remote_connection *c, const struct remote_parcel *parcel, const struct slot *slot)
{
    struct remote_node *node = parcel->node;
    struct tsl_remote_request data = {.kind = TSL_REMOTE_DATA, .id = parcel->id, .size = parcel->size};
    bool is_inline = parcel->size <= TSL_REMOTE_INLINE, by_common = !is_inline && node->common;

    *slot->taken = true;
    if (!pack_unlocked(c, parcel, slot->bytes)) {
        *slot->taken = false;
        return;
    }
    if (is_inline) {
        data.data = slot->bytes;
        data.data_size = parcel->size;
    }
    if (by_common)
        data.slot = slot->number + 1;
    else
        node->sent_size += parcel->size;
    remote_say_locked(node, &data);
    if (is_inline)
        *slot->taken = false;
    if (is_inline || by_common)
        remote_send_locked(node);
    else
        remote_frame_locked(node, &(struct tsl_remote_frame){.kind = TSL_REMOTE_PAYLOAD,
                                                             .peer = node->index,
                                                             .slot = slot->number,
                                                             .size = (uint32_t)parcel->size});
}

void *remote_carry(void *connection)
{
    struct remote_connection *c = connection;
    struct remote_parcel *parcel;
    struct slot slot;

    pthread_setname_np(pthread_self(), "tesela-carry");
    remote_lock(c);
    for (;;) {
        while (!(parcel = next_locked(c, &slot)))
            pthread_cond_wait(&c->room, &c->lock);
        if (!parcel->node->lost)
            carry_locked(c, parcel, &slot);
        free(parcel);
    }
    return NULL;
}
