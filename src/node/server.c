/* The server: its programs, its events, its steps. */
#include "node/server.h"
#include "base/clock.h"
#include "base/log.h"
#include "members/members.h"
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>

/* What opening left is done before anybody is served: later it would hold up all programs. */
static bool is_ready(struct tsl_member *member)
{
    return !member->driver->prepare || tsl_member_is_ready(member) || !member->driver->prepare(member);
}

/* A driver that works inside submissions would stand in the way of all others; one without order is only for tests. */
static bool can_serve(struct tsl_member *member)
{
    if (!member->caps.submits_block && member->caps.ordered_lanes)
        return is_ready(member);
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s serves no other machine: it works in the thread that submits",
            member->path->id);
    return false;
}

static void read_limits(struct node_limits *limits, const struct tsl_path *path)
{
    size_t items[16] = {0};

    if (path->driver->info(path, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(limits->group_size), &limits->group_size, NULL))
        limits->group_size = 0;
    if (!path->driver->info(path, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL))
        memcpy(limits->items, items, sizeof(limits->items));
}

struct node_server *node_server_create(const struct node_out *out)
{
    struct node_server *server = calloc(1, sizeof(*server));
    struct tsl_member *const *members;
    pthread_condattr_t monotonic;
    unsigned n;

    if (!server)
        return NULL;
    server->out = *out;
    server->last_ended = &server->ended;
    node_contents_init(&server->contents);
    node_builts_init(&server->builts);
    node_functions_init(&server->functions);
    TAILQ_INIT(&server->fetches);
    TAILQ_INIT(&server->earlies);
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    members = tsl_members_open(&n);
    for (unsigned i = 0; i < n && server->n_members < NODE_MOST_MEMBERS; i++)
        if (can_serve(members[i]))
            server->members[server->n_members++] = members[i];
    for (unsigned i = 0; i < server->n_members; i++)
        read_limits(&server->limits[i], server->members[i]->path);
    for (unsigned i = server->n_members; i-- > 0;)
        if (server->members[i]->caps.pins_host)
            server->pins = server->members[i];
    return server;
}

void node_server_destroy(struct node_server *server)
{
    while (!TAILQ_EMPTY(&server->fetches))
        node_drop_fetches(server, TAILQ_FIRST(&server->fetches)->program);
    while (!TAILQ_EMPTY(&server->earlies))
        node_drop_fetches(server, TAILQ_FIRST(&server->earlies)->program);
    node_builts_finish(&server->builts);
    node_functions_finish(&server->functions);
    node_contents_finish(&server->contents);
    pthread_cond_destroy(&server->wake);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

struct node_session *node_find_session(struct node_server *server, uint32_t program)
{
    struct node_session *session;

    for (session = server->sessions; session; session = session->next)
        if (session->program == program && !session->closing)
            return session;
    return NULL;
}

static struct node_session *find(struct node_server *server, uint32_t program, bool make)
{
    struct node_session *session = node_find_session(server, program);

    if (session || !make)
        return session;
    session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->server = server;
    session->program = program;
    TAILQ_INIT(&session->lanes);
    session->next = server->sessions;
    server->sessions = session;
    return session;
}

/* What waits for the program, which says nothing more, fails. */
static void close_session(struct node_session *session)
{
    struct node_work *expects = session->expects;
    struct node_object *object, *next;
    struct node_lane *lane;

    session->closing = true;
    session->expects = NULL;
    HASH_ITER(hh, session->objects, object, next)
    {
        struct node_work *work = (struct node_work *)object;

        if (object->kind != NODE_WORK || work->state == NODE_DONE)
            continue;
        if (work->is_gate) {
            work->state = NODE_DONE;
            work->status = CL_DEVICE_NOT_AVAILABLE;
        } else if (work->lacks_data && !work->receiving) {
            work->failed = CL_DEVICE_NOT_AVAILABLE;
        }
    }
    if (expects)
        node_unref(&expects->object);
    TAILQ_FOREACH(lane, &session->lanes, link)
    {
        node_flush(lane);
    }
    node_settle(session);
}

static bool take_all(struct node_session *session, struct node_bytes *bytes, size_t at, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(bytes->data + at, size);
    struct tsl_remote_request request;
    bool sound = true;

    while (sound && reader.at < reader.size) {
        sound = tsl_remote_get_request(&reader, &request);
        if (!sound)
            break;
        sound = node_take_request(session, &request, bytes);
        tsl_remote_request_finish(&request);
    }
    return sound;
}

bool node_server_take(struct node_server *server, uint32_t program, uint8_t *data, size_t at, size_t size)
{
    struct node_session *session = find(server, program, true);
    struct node_bytes *bytes = calloc(1, sizeof(*bytes));
    bool sound = false;

    if (bytes) {
        *bytes = (struct node_bytes){1, data};
        sound = session && take_all(session, bytes, at, size);
        node_bytes_unref(bytes);
    } else {
        free(data);
    }
    if (session)
        node_settle(session);
    if (session && !sound)
        close_session(session);
    return sound;
}

struct node_work *node_server_expect(struct node_server *server, uint32_t program, size_t size, void **bytes)
{
    struct node_session *session = find(server, program, false);
    struct node_work *work = session ? session->expects : NULL;

    if (!work || work->data_size != size)
        return NULL;
    session->expects = NULL;
    session->n_receiving++;
    work->receiving = true;
    *bytes = work->data;
    return work;
}

void node_server_arrived(struct node_server *server, struct node_work *work)
{
    struct node_session *session = work->object.session;

    (void)server;
    session->n_receiving--;
    work->receiving = false;
    work->lacks_data = false;
    node_unref(&work->object);
    node_settle(session);
}

void *node_server_room(struct node_server *server, size_t size)
{
    return node_stage_take(server->pins, size);
}

void node_server_bye(struct node_server *server, uint32_t program)
{
    struct node_session *session = find(server, program, false);

    if (session)
        close_session(session);
    node_drop_fetches(server, program);
}

bool node_server_is_empty(const struct node_server *server)
{
    return !server->sessions;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool take_events(struct node_server *server)
{
    struct node_work *work, *next_work;
    struct node_job *job, *next_job;

    pthread_mutex_lock(&server->lock);
    work = server->ended;
    job = server->jobs;
    server->ended = NULL;
    server->last_ended = &server->ended;
    server->jobs = NULL;
    pthread_mutex_unlock(&server->lock);
    if (!work && !job)
        return false;
    for (; work; work = next_work) {
        next_work = work->next_event;
        work->ended = true;
        work->status = work->event_status;
        node_unref(&work->object);
    }
    for (; job; job = next_job) {
        next_job = job->next;
        node_end_job(job);
    }
    for (struct node_session *session = server->sessions; session; session = session->next)
        node_settle(session);
    return true;
}

static bool is_over(const struct node_session *session)
{
    return session->closing && !session->n_jobs && !session->n_receiving && !session->reading_size;
}

/* No lane has work, and no payload is on its way. */
static bool is_idle(struct node_session *session)
{
    struct node_lane *lane;

    TAILQ_FOREACH(lane, &session->lanes, link)
    {
        if (!TAILQ_EMPTY(&lane->works))
            return false;
    }
    return true;
}

/* Data of READs have left. */
static bool go_on_reading(struct node_session *session)
{
    if (!session->reads_wait || session->reading_size >= NODE_MOST_READING)
        return false;
    session->reads_wait = false;
    node_settle(session);
    return true;
}

bool node_server_step(struct node_server *server)
{
    bool did = take_events(server);

    for (struct node_session **at = &server->sessions; *at;) {
        struct node_session *session = *at;

        did = go_on_reading(session) || did;
        if (session->out.size || session->out.failed)
            node_send_replies(session);
        if (is_over(session) && is_idle(session)) {
            *at = session->next;
            node_finish_session(session);
            continue;
        }
        at = &session->next;
    }
    return did;
}

bool node_server_has_events(struct node_server *server)
{
    bool has;

    pthread_mutex_lock(&server->lock);
    has = server->ended || server->jobs;
    pthread_mutex_unlock(&server->lock);
    return has;
}

void node_wake(struct node_server *server)
{
    if (server->out.wake)
        server->out.wake(server->out.arg);
}

void node_server_wait(struct node_server *server, unsigned us)
{
    struct timespec until = tsl_clock_until((long)us * 1000);

    pthread_mutex_lock(&server->lock);
    if (!server->ended && !server->jobs)
        pthread_cond_timedwait(&server->wake, &server->lock, &until);
    pthread_mutex_unlock(&server->lock);
}
