/*
 * Work: when it is given to the driver, and when it has ended.
 *
 * A lane's work is given in order. What it waits for is named to the driver where that can wait for it; else (a gate,
 * data that have not come, work that waits here itself, another driver's work) it waits here, and what is behind it in
 * its lane with it. So any member has gates, whatever its driver can.
 *
 * Ends are told in order, too: work has ended when its lane's earlier work and all that it waits for have.
 */
#include "base/clock.h"
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>

struct node_work *node_create_work(struct node_session *session, struct tsl_member *member)
{
    struct node_work *work = calloc(1, sizeof(*work));

    if (work)
        work->object = (struct node_object){.kind = NODE_WORK, .refs = 1, .session = session, .member = member};
    return work;
}

/* id 0: nobody names it. */
static struct node_work *create(struct node_session *session, uint64_t id, struct tsl_member *member)
{
    return id ? node_create(session, sizeof(struct node_work), NODE_WORK, id, member)
              : node_create_work(session, member);
}

static void drop_uses(struct node_work *work)
{
    for (unsigned i = 0; i < work->n_waits; i++)
        node_unref(&work->waits[i]->object);
    for (unsigned i = 0; i < 4; i++)
        if (work->mems[i])
            node_unref(&work->mems[i]->object);
    if (work->kernel)
        node_unref(&work->kernel->object);
    node_args_unref(work->args);
    tsl_fence_unref(work->fence);
    free(work->waits);
    node_stage_give(work->data);
    if (work->request.kind == TSL_REMOTE_READ && work->slot) /* The program hears of none. */
        node_common_give(work->object.session->common, work->slot);
    work->slot = 0;
    node_bytes_unref(work->bytes);
    tsl_remote_request_finish(&work->request);
    free(work->after);
    memset(work->mems, 0, sizeof(work->mems));
    work->n_waits = 0;
    work->waits = NULL;
    work->kernel = NULL;
    work->args = NULL;
    work->fence = NULL;
    work->data = NULL;
    work->bytes = NULL;
    work->after = NULL;
}

void node_free_work(struct node_work *work)
{
    drop_uses(work);
    if (work->lane)
        node_unref(&work->lane->object);
    while (work->openings) {
        struct node_opening *opening = work->openings;

        work->openings = opening->next;
        free(opening);
    }
    free(work->fetch);
    free(work);
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

static bool find_waits(struct node_work *work)
{
    struct tsl_remote_request *r = &work->request;

    work->waits = r->n_waits ? calloc(r->n_waits, sizeof(*work->waits)) : NULL;
    if (r->n_waits && !work->waits)
        return false;
    for (uint32_t i = 0; i < r->n_waits; i++) {
        struct node_object *wait = node_find(work->object.session, r->waits[i], NODE_WORK);

        if (!wait || wait == &work->object)
            return false;
        node_ref(wait);
        work->waits[work->n_waits++] = (struct node_work *)wait;
    }
    return true;
}

void node_append_work(struct node_lane *lane, struct node_work *work)
{
    work->lane = lane;
    node_ref(&lane->object);
    node_ref(&work->object); /* the lane's */
    TAILQ_INSERT_TAIL(&lane->works, work, link);
    if (!lane->next)
        lane->next = work;
}

static void give_ready(struct node_lane *lane);

bool node_take_work(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes)
{
    bool finishes = request->kind == TSL_REMOTE_FINISH;
    struct node_lane *lane = (struct node_lane *)node_find(session, finishes ? request->id : request->lane, NODE_LANE);
    struct node_work *work;

    if (!lane || (!finishes && !request->id))
        return false;
    work = create(session, finishes ? 0 : request->id, lane->object.member);
    if (!work)
        return false;
    session->last_id = request->id > session->last_id && !finishes ? request->id : session->last_id;
    work->request = *request;
    request->waits = NULL;
    request->args = NULL;
    request->svm = NULL;
    request->ranges = NULL;
    work->bytes = node_bytes_ref(bytes);
    work->stays = request->named;
    work->lacks_data = request->kind == TSL_REMOTE_PULL || (request->kind == TSL_REMOTE_WRITE && request->later);
    if ((!finishes && !node_check_work(work)) || !find_waits(work)) {
        if (work->object.id)
            HASH_DELETE(hh, session->objects, &work->object);
        node_unref(&work->object);
        return false;
    }
    node_append_work(lane, work);
    if (finishes)
        node_unref(&work->object); /* Only its lane has it. */
    give_ready(lane);
    if (finishes)
        node_flush(lane);
    return true;
}

bool node_take_gate(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_work *gate =
        node_create(session, sizeof(*gate), NODE_WORK, request->id, session->server->members[request->member]);

    if (!gate)
        return false;
    gate->is_gate = gate->stays = true;
    session->last_id = request->id > session->last_id ? request->id : session->last_id;
    if (node_was_opened_early(session, request->id)) {
        gate->by_peer = true;
        gate->state = NODE_DONE;
        gate->status = CL_COMPLETE;
    }
    return true;
}

bool node_take_open(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_work *gate = (struct node_work *)node_find(session, request->id, NODE_WORK);

    if (!gate || !gate->is_gate || request->status > CL_COMPLETE)
        return false;
    if (gate->by_peer) { /* Another node was first. */
        gate->by_peer = false;
        return true;
    }
    if (gate->state == NODE_DONE)
        return false;
    gate->state = NODE_DONE;
    gate->status = request->status;
    gate->opened_ns = tsl_clock_ns();
    return true;
}

/* ---- Data of a WRITE --------------------------------------------------------------------------------------------- */

/* They stay where they are. Work that has ended without them gives the slot back at once. */
static bool take_slot(struct node_work *work, uint32_t slot)
{
    work->slot_data = node_common_data(work->object.session->common, slot);
    if (!work->slot_data)
        return false;
    work->lacks_data = false;
    if (work->state == NODE_DONE)
        node_reply(work->object.session, &(struct tsl_remote_reply){.kind = TSL_REMOTE_TAKEN, .slot = slot});
    else
        work->slot = slot;
    return true;
}

bool node_take_data(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_work *work = (struct node_work *)node_find(session, request->id, NODE_WORK);

    if (!work || work->request.kind != TSL_REMOTE_WRITE || !work->lacks_data || work->data || session->expects ||
        request->size != work->data_size)
        return false;
    if (request->slot)
        return take_slot(work, request->slot);
    work->data = node_stage_take(work->object.member, work->data_size);
    if (!work->data)
        return false;
    if (request->data_size == 0) {
        node_ref(&work->object);
        session->expects = work;
        return true;
    }
    if (request->data_size != work->data_size)
        return false;
    memcpy(work->data, request->data, work->data_size);
    work->lacks_data = false;
    return true;
}

/* ---- Giving it to the driver ------------------------------------------------------------------------------------- */

void node_flush(struct node_lane *lane)
{
    lane->object.member->driver->flush(lane->lane);
}

/* Other data take the room: a step goes on when some of these have left, or the program gives a slot back. */
static bool lacks_room(const struct node_work *work)
{
    struct node_session *session = work->object.session;
    bool lacks;

    if (work->request.kind != TSL_REMOTE_READ || work->fetch)
        return false;
    if (node_goes_by_common(work))
        return !node_common_has_room(session->common);
    lacks = session->reading_size >= NODE_MOST_READING;
    session->reads_wait = session->reads_wait || lacks;
    return lacks;
}

/* Sets why it must fail, if it must. */
static bool is_ready(struct node_work *work)
{
    const struct tsl_driver *driver = work->object.member->driver;

    if (!work->failed && (work->lacks_data || lacks_room(work)))
        return false;
    for (unsigned i = 0; i < work->n_waits; i++) {
        struct node_work *wait = work->waits[i];

        if ((wait->state == NODE_DONE && wait->status < 0) || (wait->state == NODE_GIVEN && wait->failed))
            work->failed = work->failed ? work->failed : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if (wait->state == NODE_DONE ||
            (wait->state == NODE_GIVEN && wait->fence && driver->can_wait(work->object.member, wait->fence)))
            continue;
        if (wait->state == NODE_GIVEN && wait->lane)
            node_flush(wait->lane);
        return false;
    }
    return true;
}

/* From any thread. */
static void note_end(void *arg, cl_int status)
{
    struct node_work *work = arg;
    struct node_server *server = work->object.session->server;

    pthread_mutex_lock(&server->lock);
    work->event_status = status;
    work->next_event = NULL;
    *server->last_ended = work;
    server->last_ended = &work->next_event;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
    node_wake(server);
}

static unsigned native_waits(const struct node_work *work, struct tsl_fence **fences)
{
    unsigned n = 0;

    for (unsigned i = 0; i < work->n_waits; i++)
        if (work->waits[i]->state == NODE_GIVEN)
            fences[n++] = work->waits[i]->fence;
    return n;
}

static cl_int submit_mark(struct node_work *work, const struct tsl_waits *waits)
{
    return work->object.member->driver->mark(work->lane->lane, waits, &work->fence);
}

/* What must fail becomes a mark, which ends in its turn. */
static void give(struct node_work *work)
{
    struct tsl_fence **fences = malloc((work->n_waits + 1) * sizeof(*fences));
    struct tsl_waits waits = {fences ? native_waits(work, fences) : 0, fences};
    bool is_mark = work->request.kind == TSL_REMOTE_MARK || work->request.kind == TSL_REMOTE_FINISH;
    cl_int error = CL_SUCCESS;

    if (!fences)
        work->failed = CL_OUT_OF_HOST_MEMORY;
    if (!work->failed && !is_mark)
        work->failed = node_submit(work, &waits);
    if (work->failed || is_mark)
        error = submit_mark(work, &waits);
    free(fences);
    work->state = NODE_GIVEN;
    if (error) {
        work->failed = work->failed ? work->failed : error;
        work->ended = true;
        return;
    }
    node_ref(&work->object); /* the event's */
    if (work->object.member->driver->fence_notify(work->fence, note_end, work)) {
        note_end(work, work->object.member->driver->fence_wait(work->fence));
    }
}

static void give_ready(struct node_lane *lane)
{
    node_ask_peers(lane);
    while (lane->next && is_ready(lane->next)) {
        struct node_work *work = lane->next;

        lane->next = TAILQ_NEXT(work, link);
        give(work);
        node_ask_peers(lane);
    }
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

static bool may_end(const struct node_work *work)
{
    for (unsigned i = 0; i < work->n_waits; i++)
        if (work->waits[i]->state != NODE_DONE)
            return false;
    return work->ended;
}

static void send_read(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct tsl_remote_reply reply = {.kind = TSL_REMOTE_READ_IS, .id = work->object.id, .size = work->data_size};

    if (work->data_size <= TSL_REMOTE_INLINE) {
        reply.data = work->data;
        reply.data_size = work->data_size;
        node_reply(session, &reply);
        return;
    }
    reply.slot = work->slot;
    node_reply(session, &reply);
    if (session->closing)
        return;
    if (work->slot) {
        work->slot = 0; /* The program's until it gives it back. */
        return;
    }
    node_send_replies(session);
    session->server->out.payload(session->server->out.arg, session->program, work->data, work->data_size);
    work->data = NULL;
}

/* The way from the other node counts, from when the bytes were asked for. A question that was early waited there. */
static uint64_t began_ns(const struct node_work *work, uint64_t start_ns)
{
    uint64_t began = work->asked_ns;

    if (!work->asked || (work->n_after && work->request.goes_on)) /* The first piece's counts. */
        return start_ns;
    for (unsigned i = 0; i < work->n_waits; i++)
        if (work->waits[i]->opened_ns > began)
            began = work->waits[i]->opened_ns;
    return began < start_ns ? began : start_ns;
}

static void tell(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct tsl_remote_reply reply = {.kind = TSL_REMOTE_DONE, .id = work->object.id, .status = work->status};
    struct tsl_times times;

    if (work->fence && !work->status && !work->object.member->driver->fence_times(work->fence, &times)) {
        reply.has_times = true;
        reply.start_ns = began_ns(work, times.start_ns);
        reply.end_ns = times.end_ns;
    }
    node_reply(session, &reply);
}

static void end_finish(struct node_work *work)
{
    struct node_lane *lane = work->lane;
    cl_int error = lane->object.member->driver->finish(lane->lane);

    error = error ? error : lane->error ? lane->error : work->status;
    lane->error = CL_SUCCESS;
    node_answer(work->object.session, work->request.answer, error, NULL, 0);
}

static void end_work(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct node_lane *lane = work->lane;

    work->state = NODE_DONE;
    work->status = work->failed ? work->failed : work->status;
    if (work->request.kind == TSL_REMOTE_FINISH)
        end_finish(work);
    node_open_others(work);
    if (work->fetch)
        node_tell_peer(work);
    else if (work->request.kind == TSL_REMOTE_READ && !work->status)
        send_read(work);
    if (work->request.kind == TSL_REMOTE_WRITE && work->request.later)
        node_reply(session, &(struct tsl_remote_reply){.kind = TSL_REMOTE_TAKEN,
                                                       .slot = work->slot,
                                                       .size = work->slot ? 0 : work->data_size});
    if (work->request.tell)
        tell(work);
    else if (work->status && !lane->error)
        lane->error = work->status;
    TAILQ_REMOVE(&lane->works, work, link);
    drop_uses(work);
    work->lane = NULL;
    if (!work->stays && work->object.id)
        node_forget(session, work->object.id, NODE_WORK);
    node_unref(&work->object);
    node_unref(&lane->object);
}

/* True: something has changed that others may wait for. */
static bool settle_lane(struct node_lane *lane)
{
    struct node_work *first, *next;
    bool changed = false;

    while ((first = TAILQ_FIRST(&lane->works)) && first->state == NODE_GIVEN && may_end(first)) {
        end_work(first);
        changed = true;
    }
    next = lane->next; /* An end may have added work. */
    give_ready(lane);
    if (lane->next == next)
        return changed;
    /* It has waited here, and its flush may be over. */
    node_flush(lane);
    return true;
}

void node_settle(struct node_session *session)
{
    struct node_lane *lane, *next;
    bool changed;

    do {
        changed = false;
        for (lane = TAILQ_FIRST(&session->lanes); lane; lane = next) {
            node_ref(&lane->object);
            changed = settle_lane(lane) || changed;
            next = TAILQ_NEXT(lane, link);
            node_unref(&lane->object);
        }
        changed = node_look_for_fetches(session) || changed;
    } while (changed);
}
