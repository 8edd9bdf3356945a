/*
 * What nodes have of each other. A PULL's data come from the node whose memory they are: asked for when the PULL is the
 * next of its lane, all that it waits for has ended and all before it has too, since the other node reads at once. If
 * only work of that node is missing, the question names it, and is asked before that work has ended.
 *
 * The end of work that another node's waits for opens a gate there, by a message of its node's. Both messages go the
 * same way, so the gate is open before the data are there that were read behind that work.
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
                                    .ranges = work->request.ranges,
                                    .n_waits = work->n_after,
                                    .waits = work->after};
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

/* Does work of the node that has the data open the gate? Then that node can wait for it. */
static bool is_theirs(const struct node_work *wait, const struct node_work *pull)
{
    return wait->has_opener && wait->opener_node == pull->request.of;
}

/* False: no memory. */
static bool set_after(struct node_work *work, const uint64_t *after, unsigned n)
{
    if (n == 0)
        return true;
    work->after = malloc(n * sizeof(*after));
    if (!work->after)
        return false;
    memcpy(work->after, after, n * sizeof(*after));
    work->n_after = n;
    return true;
}

/* What the question names of all that the PULL waits for. */
#define MOST_AFTER 16

/* Sets why it must fail, if it must, and what the data are to be read after. */
static bool may_begin(struct node_work *work, const struct node_lane *lane)
{
    uint64_t after[MOST_AFTER];
    unsigned n = 0;

    if (TAILQ_FIRST(&lane->works) != work)
        return false;
    for (unsigned i = 0; i < work->n_waits; i++) {
        const struct node_work *wait = work->waits[i];

        if (wait->state != NODE_DONE && (n == MOST_AFTER || !is_theirs(wait, work)))
            return false;
        if (wait->state != NODE_DONE)
            after[n++] = wait->opener;
        else if (wait->status < 0 && !work->failed)
            work->failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return set_after(work, after, n);
}

/* The one before it, which is of the same copy, was asked for: its data are read after the same work. */
static bool goes_on(struct node_work *work)
{
    const struct node_work *before = TAILQ_PREV(work, node_works, link);

    return work->request.goes_on && is_pull(before) && before->asked && set_after(work, before->after, before->n_after);
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
    free(fetch->request.waits);
    free(fetch);
}

static void refuse(struct node_server *server, const struct node_fetch *fetch, cl_int status)
{
    struct tsl_writer writer = {.size = 0};

    put_head(&writer, fetch, status, 0);
    send(server, fetch->node, fetch->program, &writer);
}

static bool begin(struct node_session *session, struct node_fetch *fetch);

/* What its data were to be read after has failed, or has ended at least. That may concern nobody: whether the PULL must
 * fail is known where that waits. */
static bool read_again(struct node_work *work)
{
    struct node_fetch *fetch = work->fetch;

    if (!work->status || !work->n_waits)
        return false;
    fetch->request.n_ranges = work->request.n_ranges;
    fetch->request.ranges = work->request.ranges;
    work->request.ranges = NULL;
    work->request.n_ranges = 0;
    work->fetch = NULL;
    if (!begin(work->object.session, fetch)) {
        refuse(work->object.session->server, fetch, work->status);
        free_fetch(fetch);
    }
    return true;
}

void node_tell_peer(struct node_work *work)
{
    struct node_session *session = work->object.session;
    struct node_server *server = session->server;
    struct tsl_writer writer = {.size = 0};

    if (read_again(work))
        return;
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

/* What of that work has not ended. */
static bool take_waits(struct node_session *session, struct node_work *work, const struct node_fetch *fetch)
{
    const struct tsl_remote_request *r = &fetch->request;

    work->waits = r->n_waits ? calloc(r->n_waits, sizeof(*work->waits)) : NULL;
    if (r->n_waits && !work->waits)
        return false;
    for (uint32_t i = 0; i < r->n_waits; i++) {
        struct node_work *wait = (struct node_work *)node_find(session, r->waits[i], NODE_WORK);

        if (!wait || wait->state == NODE_DONE)
            continue;
        node_ref(&wait->object);
        work->waits[work->n_waits++] = wait;
    }
    return true;
}

/* Takes the question, if that is sound. */
static bool begin(struct node_session *session, struct node_fetch *fetch)
{
    struct node_object *mem = node_find(session, fetch->request.src.mem, NODE_MEM);
    struct node_lane *lane = mem ? lane_for(session, mem->member) : NULL;
    struct node_work *work = lane ? node_create_work(session, mem->member) : NULL;
    struct tsl_writer writer = {.size = 0};

    if (!work)
        return false;
    if (!take_waits(session, work, fetch)) {
        node_unref(&work->object);
        return false;
    }
    work->request = fetch->request;
    work->request.n_waits = 0;
    work->request.waits = NULL;
    fetch->request.ranges = NULL; /* The work's now. */
    free(fetch->request.waits);
    fetch->request.waits = NULL;
    fetch->request.n_waits = 0;
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

/* With the driver, or over: work that isn't here any more. What waits in this server for others doesn't stand in the
 * lane of questions, where it could hold up what it needs itself. */
static bool has_begun(struct node_session *session, uint64_t id)
{
    const struct node_work *work = (struct node_work *)node_find(session, id, NODE_WORK);

    return work ? work->state != NODE_WAITS : id <= session->last_id;
}

static bool its_turn_is_there(struct node_session *session, const struct node_fetch *fetch)
{
    if (fetch->program != session->program || !node_find(session, fetch->request.src.mem, NODE_MEM))
        return false;
    for (uint32_t i = 0; i < fetch->request.n_waits; i++)
        if (!has_begun(session, fetch->request.waits[i]))
            return false;
    return true;
}

bool node_look_for_fetches(struct node_session *session)
{
    struct node_server *server = session->server;
    struct node_fetch *fetch, *next;
    bool did = false;

    if (session->closing)
        return false;
    for (fetch = TAILQ_FIRST(&server->fetches); fetch; fetch = next) {
        next = TAILQ_NEXT(fetch, link);
        if (!its_turn_is_there(session, fetch))
            continue;
        TAILQ_REMOVE(&server->fetches, fetch, link);
        did = true;
        if (begin(session, fetch))
            continue;
        refuse(server, fetch, CL_INVALID_MEM_OBJECT);
        free_fetch(fetch);
    }
    return did;
}

static void drop_earlies(struct node_server *server, uint32_t program)
{
    struct node_early *early, *next;

    for (early = TAILQ_FIRST(&server->earlies); early; early = next) {
        next = TAILQ_NEXT(early, link);
        if (early->program != program)
            continue;
        TAILQ_REMOVE(&server->earlies, early, link);
        free(early);
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
    drop_earlies(server, program);
    server->gone[server->n_gone++ % NODE_N_GONE] = program;
}

/* ---- Gates of other nodes ---------------------------------------------------------------------------------------- */

/* Without memory the program's word opens it. */
static void open_there(struct node_session *session, unsigned node, uint64_t gate)
{
    struct tsl_writer writer = {.size = 0};

    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_request(&writer, &(struct tsl_remote_request){.kind = TSL_REMOTE_OPEN, .id = gate});
    if (!session->closing)
        send(session->server, node, session->program, &writer);
    else
        free(writer.data);
}

void node_open_others(struct node_work *work)
{
    for (struct node_opening *opening = work->openings; opening && work->status == CL_COMPLETE; opening = opening->next)
        open_there(work->object.session, opening->node, opening->gate);
}

static bool is_another(const struct node_server *server, uint32_t node)
{
    return node < server->out.n_nodes && node != server->out.index;
}

bool node_take_opens(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_work *work = (struct node_work *)node_find(session, request->id, NODE_WORK);
    struct node_opening *opening;

    if (!work || work->is_gate || !is_another(session->server, request->param))
        return false;
    if (work->state == NODE_DONE) {
        if (work->status == CL_COMPLETE)
            open_there(session, request->param, request->of);
        return true;
    }
    opening = malloc(sizeof(*opening));
    if (!opening)
        return true; /* The program's word opens it. */
    *opening = (struct node_opening){request->param, request->of, work->openings};
    work->openings = opening;
    return true;
}

bool node_take_opened_by(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_work *gate = (struct node_work *)node_find(session, request->id, NODE_WORK);

    if (!gate || !gate->is_gate || !is_another(session->server, request->param))
        return false;
    gate->has_opener = true;
    gate->opener_node = request->param;
    gate->opener = request->of;
    return true;
}

bool node_was_opened_early(struct node_session *session, uint64_t gate)
{
    struct node_early *early;

    TAILQ_FOREACH(early, &session->server->earlies, link)
    {
        if (early->program != session->program || early->gate != gate)
            continue;
        TAILQ_REMOVE(&session->server->earlies, early, link);
        free(early);
        return true;
    }
    return false;
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
    request->waits = NULL;
    TAILQ_INSERT_TAIL(&server->fetches, fetch, link);
    if (session)
        node_settle(session);
}

/* Numbers of gates grow in what a program says: one that isn't there and is no later one was opened and freed. */
static void take_opening(struct node_server *server, uint32_t program, uint64_t id)
{
    struct node_session *session = node_find_session(server, program);
    struct node_work *gate = session ? (struct node_work *)node_find(session, id, NODE_WORK) : NULL;
    struct node_early *early;

    if (gate && gate->is_gate && gate->state != NODE_DONE) {
        gate->by_peer = true;
        gate->state = NODE_DONE;
        gate->status = CL_COMPLETE;
        gate->opened_ns = tsl_clock_ns();
        node_settle(session);
    }
    if (gate || is_gone(server, program) || (session && id <= session->last_id))
        return;
    early = malloc(sizeof(*early));
    if (!early)
        return; /* The program's word opens it. */
    *early = (struct node_early){.program = program, .gate = id};
    TAILQ_INSERT_TAIL(&server->earlies, early, link);
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
            if (request.kind == TSL_REMOTE_READ)
                take_question(server, node, program, &request);
            else if (request.kind == TSL_REMOTE_OPEN)
                take_opening(server, program, request.id);
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
