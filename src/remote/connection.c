/* The way to the head: the socket, the shared memory, what is said and what is asked. */
#include "base/settings.h"
#include "base/thread.h"
#include "driver/report.h"
#include "remote/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* The head reads whatever it has to say itself, so this waits for no work: a head that reads nothing for so many
 * seconds stands still. A call ends after one (open_socket), so time in which this process itself stands still counts
 * as no more. What fails is noticed by the receiver. */
static void send_all(int socket, const void *data, size_t size)
{
    const uint8_t *at = data;
    unsigned n_seconds = 0;

    while (size) {
        ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

        if (n > 0) {
            at += n;
            size -= (size_t)n;
            n_seconds = 0;
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
            return;
        } else if (errno != EINTR && ++n_seconds >= tsl_remote_silence()) {
            tsl_driver_report_error("the head of the nodes' job takes nothing any more (TESELA_NODES_SILENCE)");
            shutdown(socket, SHUT_RDWR);
            return;
        }
    }
}

/* The writer begins with room for the frame. */
static void begin_out(struct tsl_writer *out)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];

    if (out->size == 0)
        tsl_write_raw(out, none, sizeof(none));
}

void remote_send_locked(struct remote_node *node)
{
    struct tsl_remote_frame frame = {.kind = TSL_REMOTE_MESSAGES, .peer = node->index};
    struct tsl_writer *out = &node->out;

    if (out->size <= TSL_REMOTE_FRAME_SIZE)
        return;
    if (out->failed) {
        /* A request is missing: nothing that follows would be right. */
        shutdown(node->connection->socket, SHUT_RDWR);
        return;
    }
    frame.size = (uint32_t)(out->size - TSL_REMOTE_FRAME_SIZE);
    tsl_remote_put_frame(out->data, &frame);
    send_all(node->connection->socket, out->data, out->size);
    tsl_remote_reuse(out);
    node->urgent = false;
}

void remote_say_locked(struct remote_node *node, const struct tsl_remote_request *request)
{
    begin_out(&node->out);
    tsl_remote_put_request(&node->out, request);
    if (node->out.size > REMOTE_MOST_OUT || node->out.failed)
        remote_send_locked(node);
}

static void flush_locked(struct remote_node *node)
{
    struct remote_lane *lane;

    if (LIST_EMPTY(&node->unflushed) && !node->urgent)
        return; /* What else was said can wait for the next frame. */
    while ((lane = LIST_FIRST(&node->unflushed))) {
        LIST_REMOVE(lane, link);
        lane->unflushed = false;
        remote_say_locked(node, &(struct tsl_remote_request){.kind = TSL_REMOTE_FLUSH, .id = lane->id});
    }
    remote_send_locked(node);
}

void remote_flush_all_locked(struct remote_connection *c)
{
    if (!c->unflushed)
        return;
    c->unflushed = false;
    for (unsigned i = 0; i < c->n_nodes; i++)
        if (!c->nodes[i].lost)
            flush_locked(&c->nodes[i]);
}

void remote_send_soon_locked(struct remote_node *node)
{
    if (!remote_is_receiver) {
        remote_send_locked(node);
    } else if (!node->owed) {
        node->owed = true;
        SLIST_INSERT_HEAD(&node->connection->owed, node, link);
    }
}

void remote_send_owed(struct remote_connection *c)
{
    struct remote_node *node;

    if (SLIST_EMPTY(&c->owed)) /* Its own thread's alone. */
        return;
    remote_lock(c);
    while ((node = SLIST_FIRST(&c->owed))) {
        SLIST_REMOVE_HEAD(&c->owed, link);
        node->owed = false;
        if (!node->lost)
            remote_send_locked(node);
    }
    remote_unlock(c);
}

void remote_frame_locked(struct remote_node *node, const struct tsl_remote_frame *frame)
{
    uint8_t bytes[TSL_REMOTE_FRAME_SIZE];

    remote_send_locked(node);
    tsl_remote_put_frame(bytes, frame);
    send_all(node->connection->socket, bytes, sizeof(bytes));
}

static bool has_room(const struct tsl_remote_request *request)
{
    size_t text = request->text ? strlen(request->text) : 0;

    return request->data_size <= REMOTE_MOST_ASKED && text <= REMOTE_MOST_ASKED - request->data_size;
}

cl_int remote_ask(struct remote_node *node, struct tsl_remote_request *request, void **data, size_t *size)
{
    struct remote_connection *c = node->connection;
    struct remote_call call = {.node = node, .status = CL_DEVICE_NOT_AVAILABLE};
    bool fits = has_room(request);

    if (!fits)
        call.status = CL_OUT_OF_RESOURCES;
    remote_lock(c);
    if (!node->lost && fits) {
        call.number = request->answer = ++c->last_call ? c->last_call : ++c->last_call;
        call.next = c->calls;
        c->calls = &call;
        call.before_ns = tsl_clock_ns();
        remote_say_locked(node, request);
        remote_flush_all_locked(c); /* FINISH may wait for any of it. */
        remote_send_locked(node);
        while (!call.done)
            pthread_cond_wait(&c->changed, &c->lock);
        for (struct remote_call **at = &c->calls; *at; at = &(*at)->next)
            if (*at == &call) {
                *at = call.next;
                break;
            }
    }
    remote_unlock(c);
    if (data) {
        *data = call.data;
        *size = call.size;
    } else {
        free(call.data);
    }
    return call.status;
}

/* ---- Connecting -------------------------------------------------------------------------------------------------- */

static bool receive_all(int socket, void *data, size_t size)
{
    uint8_t *at = data;

    while (size) {
        ssize_t n = recv(socket, at, size, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The head's HELLO, and with its first byte the descriptor of the shared memory. */
static bool receive_hello(int socket, struct tsl_remote_hello *hello, int *memory)
{
    uint8_t head[TSL_REMOTE_FRAME_SIZE], body[4096];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {head, sizeof(head)};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *first = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct tsl_remote_frame frame;

    *memory = -1;
    if (first && first->cmsg_type == SCM_RIGHTS && first->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(memory, CMSG_DATA(first), sizeof(int));
    return n > 0 && receive_all(socket, head + n, sizeof(head) - (size_t)n) && tsl_remote_get_frame(head, &frame) &&
           frame.kind == TSL_REMOTE_HELLO && frame.size <= sizeof(body) && receive_all(socket, body, frame.size) &&
           tsl_remote_get_hello(body, frame.size, hello);
}

static void send_hello(int socket)
{
    struct tsl_remote_hello hello = {.version = TSL_REMOTE_VERSION,
                                     .name = "libtesela " TESELA_VERSION,
                                     .host = "",
                                     .host_id = tsl_remote_host_id()};
    struct tsl_remote_frame frame = {.kind = TSL_REMOTE_HELLO};
    struct tsl_writer out = {.size = 0};

    begin_out(&out);
    tsl_remote_put_hello(&out, &hello);
    if (!out.failed) {
        frame.size = (uint32_t)(out.size - TSL_REMOTE_FRAME_SIZE);
        tsl_remote_put_frame(out.data, &frame);
        send_all(socket, out.data, out.size);
    }
    free(out.data);
}

static void set_patience(int socket, int option, unsigned n_seconds)
{
    struct timeval time = {.tv_sec = n_seconds};

    setsockopt(socket, SOL_SOCKET, option, &time, sizeof(time));
}

static int open_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int s = strlen(path) < sizeof(address.sun_path) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

    if (s < 0)
        return -1;
    strcpy(address.sun_path, path);
    set_patience(s, SO_SNDTIMEO, 1);
    set_patience(s, SO_RCVTIMEO, tsl_remote_silence());
    if (!connect(s, (struct sockaddr *)&address, sizeof(address)))
        return s;
    close(s);
    return -1;
}

static void init(struct remote_connection *c)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_cond_init(&c->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
    TAILQ_INIT(&c->fences);
    for (unsigned i = 0; i < c->n_nodes; i++) {
        c->nodes[i].connection = c;
        c->nodes[i].index = i;
        TAILQ_INIT(&c->nodes[i].told);
        TAILQ_INIT(&c->nodes[i].parcels);
        tsl_clock_map_init(&c->nodes[i].clock);
    }
}

/* Says why not where the head is another version. */
static bool greet(struct remote_connection *c, int *memory)
{
    struct tsl_remote_hello hello;

    send_hello(c->socket);
    if (!receive_hello(c->socket, &hello, memory)) {
        tsl_driver_report_error("the head of the nodes' job gave no answer, so no node serves");
        return false;
    }
    if (hello.version != TSL_REMOTE_VERSION)
        tsl_driver_report_error("the nodes' job speaks version %u of the protocol, this library version %u: no node "
                                "serves. Install one version of Tesela everywhere",
                                hello.version, TSL_REMOTE_VERSION);
    c->n_nodes = hello.version == TSL_REMOTE_VERSION ? hello.n_nodes : 0;
    tsl_remote_hello_finish(&hello);
    c->host_id = tsl_remote_host_id();
    return c->n_nodes > 0;
}

/* Nobody joins it. */
static bool start_thread(pthread_t *thread, void *(*run)(void *connection), struct remote_connection *c)
{
    return !tsl_thread_start(thread, NULL, run, c) && !pthread_detach(*thread);
}

static bool start(struct remote_connection *c, int memory)
{
    size_t size = 2 * TSL_REMOTE_N_SLOTS * TSL_REMOTE_PIECE;

    c->slots = memory >= 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
    c->nodes = calloc(c->n_nodes, sizeof(c->nodes[0]));
    if (c->slots == MAP_FAILED || !c->nodes)
        return false;
    init(c);
    set_patience(c->socket, SO_RCVTIMEO, 1);
    return start_thread(&c->receiver, remote_receive, c) && start_thread(&c->courier, remote_carry, c);
}

/* Only the registry calls it, under its lock. What was made stays until the process ends. */
struct remote_connection *remote_connect(void)
{
    static struct remote_connection *made;
    const char *path = tsl_settings()->nodes;
    struct remote_connection *c;
    int memory = -1;

    if (made || !path)
        return made;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->socket = open_socket(path);
    if (c->socket < 0) {
        tsl_driver_report_error("there is no head of a nodes' job at %s, so no node serves", path);
        free(c);
        return NULL;
    }
    if (greet(c, &memory) && start(c, memory))
        made = c;
    if (memory >= 0)
        close(memory);
    if (!made) {
        /* A thread may have begun: what it uses is not freed. */
        shutdown(c->socket, SHUT_RDWR);
        return NULL;
    }
    return made;
}
