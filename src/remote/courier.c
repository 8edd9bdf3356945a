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
    TAILQ_INSERT_TAIL(&c->parcels, parcel, link);
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

static int free_slot_locked(const struct remote_connection *c)
{
    for (unsigned i = 0; i < TSL_REMOTE_N_SLOTS; i++)
        if (!c->slot_taken[i])
            return (int)i;
    return -1;
}

/* The first parcel whose node has room, so that a node that doesn't take its data stops no other's; NULL: none. Of one
 * node the order stays. */
static struct remote_parcel *next_locked(struct remote_connection *c)
{
    struct remote_parcel *parcel;

    if (free_slot_locked(c) < 0)
        return NULL;
    TAILQ_FOREACH(parcel, &c->parcels, link)
    {
        if (parcel->node->lost || parcel->node->sent_size < REMOTE_MOST_SENT)
            break;
    }
    if (parcel)
        TAILQ_REMOVE(&c->parcels, parcel, link);
    return parcel;
}

static void note_begin_locked(struct remote_connection *c, uint64_t id)
{
    struct remote_fence *fence;

    HASH_FIND(hh, c->by_id, &id, sizeof(id), fence);
    if (fence)
        fence->begin_ns = tsl_clock_ns();
}

/* The lock is given back while the program's memory is read; a loss waits for that. */
static void carry_locked(struct remote_connection *c, const struct remote_parcel *parcel)
{
    struct remote_node *node = parcel->node;
    struct tsl_remote_request data = {.kind = TSL_REMOTE_DATA, .id = parcel->id, .size = parcel->size};
    unsigned slot = (unsigned)free_slot_locked(c);
    uint8_t *bytes = c->slots + slot * TSL_REMOTE_PIECE;

    c->slot_taken[slot] = true;
    c->copying = node;
    note_begin_locked(c, parcel->id);
    remote_unlock(c);
    remote_pack(bytes, &parcel->host, parcel->region);
    remote_lock(c);
    c->copying = NULL;
    pthread_cond_broadcast(&c->changed);
    if (node->lost || parcel->size <= TSL_REMOTE_INLINE)
        c->slot_taken[slot] = false;
    if (node->lost)
        return;
    if (parcel->size <= TSL_REMOTE_INLINE) {
        data.data = bytes;
        data.data_size = parcel->size;
    }
    node->sent_size += parcel->size;
    remote_say_locked(node, &data);
    if (parcel->size > TSL_REMOTE_INLINE)
        remote_frame_locked(
            node, &(struct tsl_remote_frame){
                      .kind = TSL_REMOTE_PAYLOAD, .peer = node->index, .slot = slot, .size = (uint32_t)parcel->size});
    else
        remote_send_locked(node);
}

void *remote_carry(void *connection)
{
    struct remote_connection *c = connection;
    struct remote_parcel *parcel;

    pthread_setname_np(pthread_self(), "tesela-carry");
    remote_lock(c);
    for (;;) {
        while (!(parcel = next_locked(c)))
            pthread_cond_wait(&c->room, &c->lock);
        if (!parcel->node->lost)
            carry_locked(c, parcel);
        free(parcel);
    }
    return NULL;
}
