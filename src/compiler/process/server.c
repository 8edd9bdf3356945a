/*
 * One thread with one loop: nothing here may block, and forking is safe at any time.
 */
#include "compiler/process/server.h"

#include "compile_client/wire.h"
#include "compiler/front/front.h"
#include "compiler/process/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A request that waits for a free job. */
struct waiting {
    struct waiting *next;
    uint64_t request;
    size_t size;
    char body[];
};

struct server {
    int socket;
    struct kc_prepared *prepared;
    const struct kc_limits *limits;
    struct tsl_writer in; /* received; bytes from in_at on are not processed yet */
    size_t in_at;
    struct tsl_writer out; /* to send, from out_at on */
    size_t out_at;
    struct waiting *first, **last;
    struct kc_job jobs[KC_MAX_PARALLEL];
    unsigned n_jobs;
    uint64_t busy_at; /* time of the last activity, ns */
    unsigned n_answered;
    bool greeted, has_built_sample, over;
};

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void put_error(struct server *server, uint64_t request, cl_int error, char *text)
{
    tsl_wire_encode_error(&server->out, request, &(struct tsl_wire_error){error, text});
}

static void start_waiting(struct server *server)
{
    while (server->first && server->n_jobs < server->limits->parallel) {
        struct waiting *waiting = server->first;

        server->first = waiting->next;
        if (!server->first)
            server->last = &server->first;
        if (kc_job_start(&server->jobs[server->n_jobs], server->prepared, server->limits, waiting->request,
                         waiting->body, waiting->size))
            server->n_jobs++;
        else
            put_error(server, waiting->request, CL_OUT_OF_HOST_MEMORY,
                      "the kernel compiler could not start a process for this build");
        free(waiting);
    }
}

static void enqueue(struct server *server, uint64_t request, const void *body, size_t size)
{
    struct waiting *waiting = malloc(sizeof(*waiting) + size);

    if (!waiting) {
        put_error(server, request, CL_OUT_OF_HOST_MEMORY, "the kernel compiler is out of memory");
        return;
    }
    waiting->next = NULL;
    waiting->request = request;
    waiting->size = size;
    memcpy(waiting->body, body, size);
    *server->last = waiting;
    server->last = &waiting->next;
}

/* A version that we don't speak ends the conversation; our own HELLO has told why. */
static void greet(struct server *server, const void *body, size_t size)
{
    struct tsl_wire_hello hello;

    if (tsl_wire_decode_hello(body, size, &hello)) {
        server->greeted = hello.lowest <= TSL_WIRE_VERSION && hello.highest >= TSL_WIRE_VERSION;
        tsl_wire_hello_finish(&hello);
    }
    server->over |= !server->greeted;
}

static void take_message(struct server *server, const struct tsl_wire_header *header, const void *body)
{
    if (header->type == TSL_WIRE_HELLO)
        greet(server, body, header->body_size);
    else if (header->type == TSL_WIRE_BUILD && server->greeted)
        enqueue(server, header->request, body, header->body_size);
    else
        server->over = true;
}

static void take_messages(struct server *server)
{
    struct tsl_wire_header header;

    while (!server->over) {
        const uint8_t *data = server->in.data + server->in_at;
        enum tsl_wire_frame frame = tsl_wire_look(data, server->in.size - server->in_at, &header);

        if (frame == TSL_WIRE_PARTIAL)
            break;
        if (frame == TSL_WIRE_BROKEN)
            server->over = true;
        else {
            take_message(server, &header, data + TSL_WIRE_HEADER_SIZE);
            server->in_at += TSL_WIRE_HEADER_SIZE + header.body_size;
        }
    }
    if (server->in_at == server->in.size)
        server->in.size = server->in_at = 0;
}

/* The sample takes about as long as it saves in twenty builds: a process with so many builds is likely to have as many
 * again. Others neither wait for it nor lose a processor while they begin to launch. */
#define SAMPLE_AFTER 20u

/* Builds the sample, once. */
static void build_sample(struct server *server)
{
    if (server->has_built_sample || server->n_answered < SAMPLE_AFTER || server->n_jobs || server->first ||
        server->out.size)
        return;
    server->has_built_sample = true;
    kc_build_sample(server->prepared);
}

/* ---- The socket -------------------------------------------------------------------------------------------------- */

static void receive(struct server *server)
{
    static char buffer[1 << 16];
    ssize_t n;

    while ((n = recv(server->socket, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
        tsl_write_raw(&server->in, buffer, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || server->in.failed)
        server->over = true;
    take_messages(server);
}

static void send_some(struct server *server)
{
    while (server->out_at < server->out.size) {
        ssize_t n = send(server->socket, server->out.data + server->out_at, server->out.size - server->out_at,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            server->over |= errno != EAGAIN;
            return;
        }
        server->out_at += (size_t)n;
    }
    /* A large reply's memory is given back. */
    free(server->out.data);
    server->out = (struct tsl_writer){0};
    server->out_at = 0;
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static void read_jobs(struct server *server)
{
    uint64_t now = kc_now();

    for (unsigned i = 0; i < server->n_jobs;) {
        kc_job_check(&server->jobs[i], now);
        if (kc_job_read(&server->jobs[i]))
            i++;
        else {
            kc_job_end(&server->jobs[i], &server->out);
            server->n_answered++;
            server->busy_at = now;
            server->jobs[i] = server->jobs[--server->n_jobs];
        }
    }
}

/* Milliseconds until something has to be done; -1: for ever. */
static int patience(const struct server *server)
{
    uint64_t until = UINT64_MAX, now = kc_now();

    for (unsigned i = 0; i < server->n_jobs; i++)
        if (!server->jobs[i].late && server->jobs[i].deadline < until)
            until = server->jobs[i].deadline;
    if (!server->n_jobs && server->limits->idle)
        until = server->busy_at + server->limits->idle * 1000000000u;
    if (until == UINT64_MAX)
        return -1;
    return until <= now ? 0 : (int)((until - now) / 1000000u + 1);
}

static void wait_for_work(const struct server *server)
{
    struct pollfd polled[KC_MAX_PARALLEL + 1];
    bool sending = server->out_at < server->out.size;

    polled[0] = (struct pollfd){.fd = server->socket, .events = (short)(POLLIN | (sending ? POLLOUT : 0))};
    for (unsigned i = 0; i < server->n_jobs; i++)
        polled[1 + i] = (struct pollfd){.fd = server->jobs[i].pipe, .events = POLLIN};
    poll(polled, 1 + server->n_jobs, patience(server));
}

static bool is_idle_too_long(struct server *server)
{
    uint64_t now = kc_now();

    if (server->n_jobs || server->first || server->out.size) {
        server->busy_at = now;
        return false;
    }
    return server->limits->idle && now >= server->busy_at + server->limits->idle * 1000000000u;
}

int kc_serve(int socket, struct kc_prepared *prepared, const struct kc_limits *limits)
{
    static struct server server;

    server = (struct server){.socket = socket, .prepared = prepared, .limits = limits, .busy_at = kc_now()};
    server.last = &server.first;
    tsl_wire_encode_hello(&server.out,
                          &(struct tsl_wire_hello){TSL_WIRE_VERSION, TSL_WIRE_VERSION, (char *)kc_version()});
    send_some(&server);
    while (!server.over && !is_idle_too_long(&server)) {
        wait_for_work(&server);
        receive(&server);
        read_jobs(&server);
        start_waiting(&server);
        send_some(&server);
        build_sample(&server);
    }
    while (server.n_jobs)
        kc_job_kill(&server.jobs[--server.n_jobs]);
    return 0;
}
