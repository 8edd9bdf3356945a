/* The thread that hears what the head brings: ends of work, bytes that were read, answers, losses. */
#include "driver/report.h"
#include "remote/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

struct blocked {
    unsigned n;
    uint64_t *lanes;
};

static bool is_blocked(const struct blocked *blocked, uint64_t lane)
{
    for (unsigned i = 0; i < blocked->n; i++)
        if (blocked->lanes[i] == lane)
            return true;
    return false;
}

static void block(struct blocked *blocked, uint64_t lane)
{
    uint64_t *more = realloc(blocked->lanes, (blocked->n + 1) * sizeof(*more));

    if (!more)
        return; /* Without memory what is behind ends early, with an error all the same. */
    blocked->lanes = more;
    blocked->lanes[blocked->n++] = lane;
}

/* Work of lost nodes ends in its turn: behind what it waits for and what its lane was given before, so not before a
 * gate that is still closed. Numbers of fences are in that order. */
void remote_end_lost_unlock(struct remote_connection *c)
{
    struct blocked blocked = {.n = 0};
    struct remote_fences ended = TAILQ_HEAD_INITIALIZER(ended);
    struct remote_fence *fence, *next;

    for (fence = TAILQ_FIRST(&c->fences); fence; fence = next) {
        next = TAILQ_NEXT(fence, link);
        if (!fence->node->lost || is_blocked(&blocked, fence->lane_id))
            continue;
        if (!remote_waits_have_ended(fence)) {
            block(&blocked, fence->lane_id);
            continue;
        }
        remote_end_locked(fence, CL_DEVICE_NOT_AVAILABLE);
        TAILQ_INSERT_TAIL(&ended, fence, link);
    }
    free(blocked.lanes);
    remote_unlock(c);
    while ((fence = TAILQ_FIRST(&ended))) {
        TAILQ_REMOVE(&ended, fence, link);
        remote_tell(fence);
    }
}

/* What it told and nobody has heard yet ends as all that it has not told. */
static void forget_told_locked(struct remote_node *node)
{
    struct remote_fence *fence;

    while ((fence = TAILQ_FIRST(&node->told))) {
        TAILQ_REMOVE(&node->told, fence, told_link);
        fence->is_told = false;
        node->connection->n_told--;
    }
}

/* Gates that the node was to open are opened by the program's word, which may not have left. */
static void send_to_others_locked(const struct remote_connection *c)
{
    for (unsigned i = 0; i < c->n_nodes; i++)
        if (!c->nodes[i].lost)
            remote_send_locked(&c->nodes[i]);
}

static void lose_locked(struct remote_node *node, const char *why)
{
    struct remote_connection *c = node->connection;

    if (node->lost)
        return;
    node->lost = true;
    forget_told_locked(node);
    for (unsigned i = 0; i < node->n_members; i++)
        if (node->paths[i].member)
            tsl_member_lose(&node->paths[i].member->base, why);
    for (struct remote_call *call = c->calls; call; call = call->next)
        if (call->node == node)
            call->done = true;
    free(node->out.data);
    node->out = (struct tsl_writer){.size = 0};
    pthread_cond_broadcast(&c->changed);
    pthread_cond_signal(&c->room);
    while (c->copying == node)
        pthread_cond_wait(&c->changed, &c->lock);
}

static void lose(struct remote_node *node, const char *why)
{
    remote_lock(node->connection);
    lose_locked(node, why);
    send_to_others_locked(node->connection);
    remote_end_lost_unlock(node->connection);
    remote_end_told(node->connection);
}

static void lose_all(struct remote_connection *c, const char *why)
{
    remote_lock(c);
    c->broken = true;
    for (unsigned i = 0; i < c->n_nodes; i++)
        lose_locked(&c->nodes[i], why);
    remote_end_lost_unlock(c);
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static struct remote_fence *find_locked(struct remote_connection *c, uint64_t id)
{
    struct remote_fence *fence;

    HASH_FIND(hh, c->by_id, &id, sizeof(id), fence);
    return fence;
}

/* The node knows when its device copied; the program's side of a transfer is known here. */
static void set_times_locked(struct remote_fence *fence, const struct tsl_remote_reply *reply, uint64_t now)
{
    struct tsl_times *times = &fence->times;

    tsl_clock_map_feed(&fence->node->clock, reply->now_ns, fence->sent_ns, now);
    *times = (struct tsl_times){reply->start_ns, reply->end_ns};
    tsl_clock_map_span(&fence->node->clock, &times->start_ns, &times->end_ns);
    if (fence->host.host)
        times->end_ns = now > times->end_ns ? now : times->end_ns;
    if (fence->begin_ns && fence->begin_ns < times->start_ns)
        times->start_ns = fence->begin_ns;
    fence->has_times = true;
}

/* False: the node says what makes no sense. */
static bool take_done(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    struct remote_connection *c = node->connection;
    struct remote_fence *fence;
    uint64_t now = tsl_clock_ns();

    remote_lock(c);
    fence = find_locked(c, reply->id);
    if (!fence || fence->node != node || fence->is_told) {
        remote_unlock(c);
        return false;
    }
    if (reply->has_times && fence->profile)
        set_times_locked(fence, reply, now);
    if (!TAILQ_EMPTY(&node->told) || !remote_waits_have_ended(fence)) {
        fence->is_told = true;
        fence->told_status = reply->status;
        TAILQ_INSERT_TAIL(&node->told, fence, told_link);
        c->n_told++;
        remote_unlock(c);
        return true;
    }
    remote_end_locked(fence, reply->status);
    remote_unlock(c);
    remote_tell(fence);
    remote_end_told(c);
    return true;
}

static bool take_read(struct remote_node *node, uint64_t id, const void *bytes, size_t size)
{
    struct remote_connection *c = node->connection;
    struct remote_fence *fence;
    bool sound;

    remote_lock(c);
    fence = find_locked(c, id);
    sound = fence && fence->node == node && fence->host.host &&
            size == fence->region[0] * fence->region[1] * fence->region[2];
    remote_unlock(c);
    /* Only this thread ends it. */
    if (sound)
        remote_unpack(&fence->host, fence->region, bytes);
    return sound;
}

/* The node hears with the next frame that goes there, when all was taken that has come, that the slot is free. */
static bool take_common(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    bool sound = node->common && reply->size <= TSL_REMOTE_PIECE &&
                 take_read(node, reply->id, remote_common_slot_of_node(node, reply->slot - 1), reply->size);

    remote_lock(node->connection);
    if (sound && !node->lost) {
        remote_say_locked(node, &(struct tsl_remote_request){.kind = TSL_REMOTE_SLOT_IS_FREE, .slot = reply->slot});
        remote_send_soon_locked(node);
    }
    remote_unlock(node->connection);
    return sound;
}

static bool take_answer(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    struct remote_connection *c = node->connection;
    struct remote_call *call;

    remote_lock(c);
    for (call = c->calls; call && call->number != reply->id; call = call->next)
        ;
    if (call && call->node == node && !call->done) {
        call->done = true;
        call->status = reply->status;
        call->data = malloc(reply->data_size + 1);
        if (call->data) {
            memcpy(call->data, reply->data ? reply->data : "", reply->data_size);
            ((char *)call->data)[reply->data_size] = 0;
            call->size = reply->data_size;
        } else {
            call->status = CL_OUT_OF_HOST_MEMORY;
        }
        tsl_clock_map_feed(&node->clock, reply->now_ns, call->before_ns, tsl_clock_ns());
        pthread_cond_broadcast(&c->changed);
    }
    remote_unlock(c);
    return call != NULL;
}

static void take_room(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    remote_lock(node->connection);
    node->sent_size -= reply->size < node->sent_size ? reply->size : node->sent_size;
    if (reply->slot)
        node->common_taken[reply->slot - 1] = false;
    pthread_cond_signal(&node->connection->room);
    remote_unlock(node->connection);
}

static bool take_lost_member(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    char why[256];

    if (reply->id >= node->n_members)
        return false;
    snprintf(why, sizeof(why), "its node says so: %.*s", (int)reply->data_size, (const char *)reply->data);
    remote_lock(node->connection);
    if (node->paths[reply->id].member)
        tsl_member_lose(&node->paths[reply->id].member->base, why);
    remote_unlock(node->connection);
    return true;
}

static bool take_reply(struct remote_node *node, const struct tsl_remote_reply *reply)
{
    switch (reply->kind) {
    case TSL_REMOTE_DONE:
        return take_done(node, reply);
    case TSL_REMOTE_READ_IS:
        if (reply->data_size)
            return take_read(node, reply->id, reply->data, reply->data_size);
        if (reply->slot)
            return take_common(node, reply);
        node->data = *reply;
        return true;
    case TSL_REMOTE_TAKEN:
        take_room(node, reply);
        return true;
    case TSL_REMOTE_ANSWER:
        return take_answer(node, reply);
    case TSL_REMOTE_MEMBER:
        return take_lost_member(node, reply);
    }
    return false;
}

static bool take_messages(struct remote_node *node, const void *data, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    struct tsl_remote_reply reply;

    while (reader.at < reader.size)
        if (node->data.kind || !tsl_remote_get_reply(&reader, &reply) || !take_reply(node, &reply))
            return false;
    return true;
}

static void give_slot(struct remote_node *node, uint32_t slot)
{
    remote_lock(node->connection);
    remote_frame_locked(node, &(struct tsl_remote_frame){.kind = TSL_REMOTE_SLOT, .slot = slot});
    remote_unlock(node->connection);
}

static bool take_payload(struct remote_node *node, const struct tsl_remote_frame *frame)
{
    struct remote_connection *c = node->connection;
    const uint8_t *bytes = c->slots + (TSL_REMOTE_N_SLOTS + frame->slot) * TSL_REMOTE_PIECE;
    bool sound = node->data.kind == TSL_REMOTE_READ_IS && node->data.size == frame->size &&
                 take_read(node, node->data.id, bytes, frame->size);

    node->data = (struct tsl_remote_reply){.size = 0};
    give_slot(node, frame->slot);
    return sound;
}

static void free_slot(struct remote_connection *c, unsigned slot)
{
    remote_lock(c);
    c->slot_taken[slot] = false;
    pthread_cond_signal(&c->room);
    remote_unlock(c);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* What was received and is not taken yet: data[at, end). */
struct inbox {
    uint8_t *data;
    size_t at, end, capacity;
};

static bool make_room(struct inbox *in, size_t size)
{
    uint8_t *more;

    if (in->at) {
        memmove(in->data, in->data + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = 0;
    }
    tsl_remote_shrink(&in->data, &in->capacity, in->end > size ? in->end : size);
    if (size <= in->capacity)
        return true;
    more = realloc(in->data, size);
    if (!more)
        return false;
    in->data = more;
    in->capacity = size;
    return true;
}

/* A head says something each second: one that is silent for so many stands still. A call ends after one (start), so
 * time in which this process itself stands still counts as no more. 0: the connection is over. */
static size_t receive_some(struct remote_connection *c, uint8_t *data, size_t size)
{
    unsigned n_seconds = 0;

    for (;;) {
        ssize_t n;

        remote_send_owed(c);
        n = recv(c->socket, data, size, 0);
        if (n > 0)
            return (size_t)n;
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            return 0;
        if (++n_seconds < tsl_remote_silence())
            continue;
        tsl_driver_report_error("the head of the nodes' job says nothing any more (TESELA_NODES_SILENCE)");
        shutdown(c->socket, SHUT_RDWR);
        return 0;
    }
}

/* At least size bytes from `at` on. */
static bool fill(struct remote_connection *c, struct inbox *in, size_t size)
{
    if (in->end - in->at >= size)
        return true;
    if (!make_room(in, size < 65536 ? 65536 : size))
        return false;
    while (in->end < size) {
        size_t n = receive_some(c, in->data + in->end, in->capacity - in->end);

        if (!n)
            return false;
        in->end += n;
    }
    return true;
}

static bool take_frame(struct remote_connection *c, const struct tsl_remote_frame *frame, const uint8_t *body)
{
    struct remote_node *node = frame->peer < c->n_nodes ? &c->nodes[frame->peer] : NULL;
    char why[4097];

    switch (frame->kind) {
    case TSL_REMOTE_BEAT:
        return true;
    case TSL_REMOTE_SLOT:
        free_slot(c, frame->slot);
        return true;
    case TSL_REMOTE_MESSAGES:
        if (node && !node->lost && !take_messages(node, body, frame->size))
            lose(node, "it says what makes no sense");
        return node != NULL;
    case TSL_REMOTE_PAYLOAD:
        if (node && node->lost)
            give_slot(node, frame->slot);
        else if (node && !take_payload(node, frame))
            lose(node, "it says what makes no sense");
        return node != NULL;
    case TSL_REMOTE_LOST:
        snprintf(why, sizeof(why), "%.*s", (int)frame->size, (const char *)body);
        if (node)
            lose(node, why);
        return node != NULL;
    default:
        return false;
    }
}

_Thread_local bool remote_is_receiver;

void *remote_receive(void *connection)
{
    struct remote_connection *c = connection;
    struct inbox in = {.data = NULL};
    struct tsl_remote_frame frame;
    size_t body;

    pthread_setname_np(pthread_self(), "tesela-remote");
    remote_is_receiver = true;
    while (fill(c, &in, TSL_REMOTE_FRAME_SIZE) && tsl_remote_get_frame(in.data + in.at, &frame)) {
        body = frame.kind == TSL_REMOTE_PAYLOAD ? 0 : frame.size;
        if (!fill(c, &in, TSL_REMOTE_FRAME_SIZE + body) ||
            !take_frame(c, &frame, in.data + in.at + TSL_REMOTE_FRAME_SIZE))
            break;
        in.at += TSL_REMOTE_FRAME_SIZE + body;
    }
    lose_all(c, "the nodes' job has ended");
    free(in.data);
    return NULL;
}
