/*
 * What nodes have of each other. A PULL's data come from the node whose memory they are: asked for when the PULL is the
 * next of its lane, all that it waits for has ended and all before it has too, since the other node reads at once.
 */
#include "base/clock.h"
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of a lane's copy that are on their way at a time. */
#define MOST_ASKED 16

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static uint8_t none[TSL_REMOTE_FRAME_SIZE];

/* Frees the writer. False: no memory. */
static bool send(struct node_server *server, unsigned node, uint32_t program, struct tsl_writer *writer)
{
    uint8_t *data = writer->failed ? NULL : node_stage_take(NULL, writer->size);

    if (data) {
        memcpy(data, writer->data, writer->size);
        server->out.peer(server->out.arg, node, program, data, writer->size);
    }
    free(writer->data);
    return data != NULL;
}

static void ask(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct tsl_remote_request as = {.kind = TSL_REMOTE_READ,
                                    .id = work->object.id,
                                    .src = work->request.src,
                                    .n_ranges = work->request.n_ranges,
                                    .ranges = work->request.ranges};
    struct tsl_writer writer = {.size = 0};

    work->asked = true;
    work->asked_ns = tsl_clock_ns();
    memcpy(as.region, work->request.region, sizeof(as.region));
    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_request(&writer, &as);
    if (!send(session->server, (unsigned)work->request.of, session->program, &writer))
        work->failed = CL_OUT_OF_HOST_MEMORY;
}

static bool is_pull(const struct node_work *work)
{
    return work && work->request.kind == TSL_REMOTE_PULL;
}

/* Sets why it must fail, if it must. */
static bool may_begin(struct node_work *work, const struct node_lane *lane)
{
    for (unsigned i = 0; i < work->n_waits; i++) {
        const struct node_work *wait = work->waits[i];

        if (wait->state != NODE_DONE)
            return false;
        if (wait->status < 0 && !work->failed)
            work->failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return TAILQ_FIRST(&lane->works) == work;
}

/* The one before it, which is of the same copy, was asked for. */
static bool goes_on(struct node_work *work)
{
    const struct node_work *before = TAILQ_PREV(work, node_works, link);

    return work->request.goes_on && is_pull(before) && before->asked;
}

void node_ask_peers(struct node_lane *lane)
{
    struct node_work *work = lane->next;
    unsigned n = 0;

    for (; is_pull(work) && n < MOST_ASKED; work = TAILQ_NEXT(work, link), n++) {
        if (work->asked || work->failed)
            continue;
        if (!goes_on(work) && !may_begin(work, lane))
            return;
        if (!work->failed)
            ask(work);
    }
}

/* ---- Being asked ------------------------------------------------------------------------------------------------- */

/* Room for the answer's head before the data; the same with each status. */
static bool put_head(struct tsl_writer *writer, const struct node_fetch *fetch, cl_int status, size_t size)
{
    tsl_write_raw(writer, none, sizeof(none));
    tsl_remote_put_reply(
        writer, &(struct tsl_remote_reply){
                    .kind = TSL_REMOTE_READ_IS, .id = fetch->request.id, .status = status, .size = status ? 0 : size});
    return !writer->failed;
}

static void free_fetch(struct node_fetch *fetch)
{
    free(fetch->request.ranges);
    free(fetch);
}

static void refuse(struct node_server *server, const struct node_fetch *fetch, cl_int status)
{
    struct tsl_writer writer = {.size = 0};

    put_head(&writer, fetch, status, 0);
    send(server, fetch->node, fetch->program, &writer);
}

void node_tell_peer(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct node_server *server = session->server;
    struct tsl_writer writer = {.size = 0};

    if (work->status || !put_head(&writer, work->fetch, CL_SUCCESS, work->data_size)) {
        refuse(server, work->fetch, work->status ? work->status : CL_OUT_OF_HOST_MEMORY);
    } else {
        memcpy(work->data, writer.data, writer.size);
        server->out.peer(server->out.arg, work->fetch->node, session->program, work->data,
                         work->data_at + work->data_size);
        work->data = NULL;
    }
    free(writer.data);
}

/* A lane of the session's own for each member, under a number from the end. */
static struct node_lane *lane_for(struct node_session *session, struct tsl_member *member)
{
    uint64_t id = UINT64_MAX;

    for (unsigned i = 0; session->server->members[i] != member; i++)
        id--;
    if (!node_find(session, id, NODE_LANE) && !node_make_lane(session, id, TSL_LANE_MOVES, member))
        return NULL;
    return (struct node_lane *)node_find(session, id, NODE_LANE);
}

/* Takes the question, if that is sound. */
static bool begin(struct node_session *session, struct node_fetch *fetch)
{
    struct node_object *mem = node_find(session, fetch->request.src.mem, NODE_MEM);
    struct node_lane *lane = lane_for(session, mem->member);
    struct node_work *work = lane ? node_create_work(session, mem->member) : NULL;
    struct tsl_writer writer = {.size = 0};

    if (!work)
        return false;
    work->request = fetch->request;
    fetch->request.ranges = NULL; /* The work's now. */
    if (!put_head(&writer, fetch, CL_SUCCESS, 0) || !node_check_work(work)) {
        free(writer.data);
        node_unref(&work->object);
        return false;
    }
    work->data_at = writer.size;
    free(writer.data);
    work->fetch = fetch;
    node_append_work(lane, work);
    node_unref(&work->object); /* Only its lane has it. */
    return true;
}

void node_look_for_fetches(struct node_session *session)
{
    struct node_server *server = session->server;
    struct node_fetch *fetch, *next;

    for (fetch = TAILQ_FIRST(&server->fetches); fetch; fetch = next) {
        next = TAILQ_NEXT(fetch, link);
        if (fetch->program != session->program || !node_find(session, fetch->request.src.mem, NODE_MEM))
            continue;
        TAILQ_REMOVE(&server->fetches, fetch, link);
        if (begin(session, fetch))
            continue;
        refuse(server, fetch, CL_INVALID_MEM_OBJECT);
        free_fetch(fetch);
    }
}

void node_drop_fetches(struct node_server *server, uint32_t program)
{
    struct node_fetch *fetch, *next;

    for (fetch = TAILQ_FIRST(&server->fetches); fetch; fetch = next) {
        next = TAILQ_NEXT(fetch, link);
        if (fetch->program != program)
            continue;
        TAILQ_REMOVE(&server->fetches, fetch, link);
        free_fetch(fetch);
    }
    server->gone[server->n_gone++ % NODE_N_GONE] = program;
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static bool is_gone(const struct node_server *server, uint32_t program)
{
    for (unsigned i = 0; i < NODE_N_GONE; i++)
        if (server->gone[i] == program)
            return true;
    return false;
}

static void take_question(struct node_server *server, unsigned node, uint32_t program,
                          struct tsl_remote_request *request)
{
    struct node_session *session = node_find_session(server, program);
    struct node_fetch *fetch;

    if (is_gone(server, program))
        return;
    fetch = calloc(1, sizeof(*fetch));
    if (!fetch) {
        refuse(server, &(struct node_fetch){.node = node, .program = program, .request = *request},
               CL_OUT_OF_HOST_MEMORY);
        return;
    }
    *fetch = (struct node_fetch){.node = node, .program = program, .request = *request};
    request->ranges = NULL;
    TAILQ_INSERT_TAIL(&server->fetches, fetch, link);
    if (!session)
        return;
    node_look_for_fetches(session);
    node_settle(session);
}

/* data, of which the answer takes possession if it is wanted, hold size bytes at `at`. False: it isn't. */
static bool take_data(struct node_server *server, unsigned node, uint32_t program, const struct tsl_remote_reply *reply,
                      uint8_t *data, size_t at, size_t size)
{
    struct node_session *session = node_find_session(server, program);
    struct node_work *work = session ? (struct node_work *)node_find(session, reply->id, NODE_WORK) : NULL;
    bool good = reply->status == CL_SUCCESS;

    if (!is_pull(work) || work->request.of != node || !work->asked || !work->lacks_data || work->failed)
        return false;
    good = good && size == work->data_size && reply->size == size;
    if (good) {
        work->data = data;
        work->data_at = at;
        work->lacks_data = false;
    } else {
        work->failed = reply->status < 0 ? reply->status : CL_OUT_OF_RESOURCES;
    }
    node_settle(session);
    return good;
}

void node_server_take_peer(struct node_server *server, unsigned node, uint32_t program, uint8_t *data, size_t at,
                           size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data + at, size);
    struct tsl_remote_request request;
    struct tsl_remote_reply reply;
    bool taken = false;

    _Static_assert((int)TSL_REMOTE_READ > (int)TSL_REMOTE_LAST_REPLY, "a question is no answer");
    if (tsl_remote_get_reply(&reader, &reply) && reply.kind == TSL_REMOTE_READ_IS) {
        taken = take_data(server, node, program, &reply, data, at + reader.at, size - reader.at);
    } else {
        reader = tsl_reader_of(data + at, size);
        if (tsl_remote_get_request(&reader, &request)) {
            if (request.kind == TSL_REMOTE_READ && request.n_waits == 0)
                take_question(server, node, program, &request);
            tsl_remote_request_finish(&request);
        }
    }
    if (!taken)
        node_stage_give(data);
}

void node_server_lose_peer(struct node_server *server, unsigned node)
{
    struct node_session *session;
    struct node_lane *lane;
    struct node_work *work;

    if (node >= TSL_REMOTE_MAX_NODES)
        return;
    server->lost_peers[node] = true;
    for (session = server->sessions; session; session = session->next) {
        TAILQ_FOREACH(lane, &session->lanes, link)
        {
            TAILQ_FOREACH(work, &lane->works, link)
            {
                if (is_pull(work) && work->request.of == node && work->lacks_data && !work->failed)
                    work->failed = CL_DEVICE_NOT_AVAILABLE;
            }
        }
        node_settle(session);
    }
}
