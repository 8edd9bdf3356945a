#include "node/node_main.h"
#include "base/clock.h"
#include "compile_client/client.h"
#include "node/bell.h"
#include "node/mpi_io.h"
#include "node/server.h"
#include "node/stage.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD 0

/* Data that are being received. */
struct receiving {
    MPI_Request request;
    struct node_work *work; /* NULL: nobody wants them; bytes are ours */
    void *bytes;
    TAILQ_ENTRY(receiving) link;
};

TAILQ_HEAD(receivings, receiving);

static struct {
    struct mpi_io io;
    struct node_server *server;
    struct receivings receivings;
    uint64_t beat_ns;
    unsigned n_quits, n_others; /* others: the head among them */
    bool has_quit;
} node;

#define BEAT_NS 1000000000u

/* ---- To the head ------------------------------------------------------------------------------------------------- */

static void send_messages(void *arg, uint32_t program, uint8_t *data, size_t size)
{
    (void)arg;
    mpi_io_send(&node.io, HEAD,
                &(struct tsl_remote_frame){
                    .kind = TSL_REMOTE_MESSAGES, .peer = program, .size = (uint32_t)(size - TSL_REMOTE_FRAME_SIZE)},
                data, NULL);
}

static void send_payload(void *arg, uint32_t program, void *data, size_t size)
{
    (void)arg;
    mpi_io_send_payload(&node.io, HEAD, program, data, size,
                        &(struct mpi_sending){.data = data, .give = node_stage_give});
}

static void send_peer(void *arg, unsigned index, uint32_t program, uint8_t *data, size_t size)
{
    (void)arg;
    mpi_io_send(&node.io, (int)index + 1,
                &(struct tsl_remote_frame){
                    .kind = TSL_REMOTE_PEER, .peer = program, .size = (uint32_t)(size - TSL_REMOTE_FRAME_SIZE)},
                data, node_stage_give);
}

static bool beat(void)
{
    uint64_t now = tsl_clock_ns();

    if (now - node.beat_ns < BEAT_NS)
        return false;
    node.beat_ns = now;
    mpi_io_say(&node.io, HEAD, TSL_REMOTE_BEAT, 0);
    return true;
}

static void send_hello(void)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    char host[256] = "";
    struct tsl_remote_hello hello = {.version = TSL_REMOTE_VERSION,
                                     .name = (char *)"tesela-node " TESELA_VERSION,
                                     .host = host,
                                     .host_id = tsl_remote_host_id()};
    struct tsl_writer writer = {.size = 0};

    gethostname(host, sizeof(host) - 1);
    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_hello(&writer, &hello);
    if (writer.failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    mpi_io_send(
        &node.io, HEAD,
        &(struct tsl_remote_frame){.kind = TSL_REMOTE_HELLO, .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)},
        writer.data, NULL);
}

static void send_bell(void)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_writer writer = {.size = 0};
    struct bell_is is;

    if (!bell_make(&is))
        return;
    tsl_write_raw(&writer, none, sizeof(none));
    bell_put(&writer, &is);
    if (writer.failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    mpi_io_send(
        &node.io, HEAD,
        &(struct tsl_remote_frame){.kind = TSL_REMOTE_BELL, .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)},
        writer.data, NULL);
}

static void wake(void *arg)
{
    (void)arg;
    bell_ring_own();
}

/* ---- From the head ----------------------------------------------------------------------------------------------- */

/* MPI brings the bytes whether somebody wants them or not. */
static void receive_payload(const struct tsl_remote_frame *frame)
{
    struct receiving *receiving = calloc(1, sizeof(*receiving));

    if (receiving)
        receiving->work = node_server_expect(node.server, frame->peer, frame->size, &receiving->bytes);
    if (receiving && !receiving->work)
        receiving->bytes = malloc(frame->size);
    if (!receiving || !receiving->bytes) {
        fprintf(stderr, "tesela-node: memory ran out, so the nodes' job ends\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    mpi_io_receive(&node.io, HEAD, receiving->bytes, frame->size, &receiving->request);
    TAILQ_INSERT_TAIL(&node.receivings, receiving, link);
}

static bool look_after_payloads(void)
{
    struct receiving *receiving, *next;
    bool did = false;

    for (receiving = TAILQ_FIRST(&node.receivings); receiving; receiving = next) {
        next = TAILQ_NEXT(receiving, link);
        if (mpi_io_look(&node.io, &receiving->request) != MPI_IO_HERE)
            break; /* They come in order. Without a head this process ends. */
        did = true;
        TAILQ_REMOVE(&node.receivings, receiving, link);
        if (receiving->work)
            node_server_arrived(node.server, receiving->work);
        else
            free(receiving->bytes);
        free(receiving);
    }
    return did;
}

static void tell_nonsense(uint32_t program)
{
    fprintf(stderr, "tesela-node: a program (%u) said what makes no sense, so it is served no more\n", program);
    mpi_io_say(&node.io, HEAD, TSL_REMOTE_BYE, program);
}

/* The head says all but PEER, nodes that alone. */
static bool is_sound(const struct tsl_remote_frame *frame, int rank, size_t size)
{
    bool is_peer = frame->kind == TSL_REMOTE_PEER,
         has_body = is_peer || frame->kind == TSL_REMOTE_MESSAGES || frame->kind == TSL_REMOTE_BELL;

    return is_peer == (rank != HEAD) && (!has_body || frame->size == size - TSL_REMOTE_FRAME_SIZE);
}

/* Frames of nodes are PEER. */
static void *room(int rank, size_t size)
{
    return rank == HEAD ? malloc(size) : node_server_room(node.server, size);
}

static void take_bell(const struct tsl_remote_frame *frame, const uint8_t *body)
{
    struct bell_is is;

    if (frame->peer <= node.n_others && bell_get(body, frame->size, &is))
        bell_find((int)frame->peer, &is);
}

static bool take_frame(void)
{
    struct tsl_remote_frame frame;
    size_t size;
    int rank;
    uint8_t *data = mpi_io_take(&node.io, &rank, &size, room);

    if (!data)
        return false;
    if (size < TSL_REMOTE_FRAME_SIZE || !tsl_remote_get_frame(data, &frame) || !is_sound(&frame, rank, size)) {
        fprintf(stderr, "tesela-node: rank %d sent what makes no sense\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    if (frame.kind == TSL_REMOTE_PEER) {
        node_server_take_peer(node.server, (unsigned)rank - 1, frame.peer, data, TSL_REMOTE_FRAME_SIZE, frame.size);
        return true;
    }
    if (frame.kind == TSL_REMOTE_MESSAGES) {
        if (!node_server_take(node.server, frame.peer, data, TSL_REMOTE_FRAME_SIZE, frame.size))
            tell_nonsense(frame.peer);
        return true;
    }
    if (frame.kind == TSL_REMOTE_BELL)
        take_bell(&frame, data + TSL_REMOTE_FRAME_SIZE);
    free(data);
    if (frame.kind == TSL_REMOTE_PAYLOAD)
        receive_payload(&frame);
    else if (frame.kind == TSL_REMOTE_LOST)
        node_server_lose_peer(node.server, frame.peer);
    else if (frame.kind == TSL_REMOTE_BYE)
        node_server_bye(node.server, frame.peer);
    else if (frame.kind == TSL_REMOTE_QUIT)
        node.n_quits++;
    return true;
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static void lose_rank(int rank)
{
    if (rank == HEAD)
        _exit(1);
    node_server_lose_peer(node.server, (unsigned)rank - 1);
}

/* Frames that are taken before replies leave: what many small ones bring about is told in one. */
#define MOST_FRAMES 16

static bool take_frames(void)
{
    unsigned n = 0;

    while (n < MOST_FRAMES && take_frame())
        n++;
    return n > 0;
}

static bool step(void)
{
    bool did = take_frames();

    did = look_after_payloads() || did;
    did = node_server_step(node.server) || did;
    did = mpi_io_step(&node.io) || did;
    did = mpi_io_look_for_lost(&node.io, lose_rank) || did;
    return beat() || did;
}

/* What is on its way is received until all have sent all: data of a program that was killed, and of its questions to
 * other nodes, stop nobody's end. */
static void look_for_end(void)
{
    if (node.n_quits == 0 || node.has_quit || !mpi_io_is_idle(&node.io))
        return;
    mpi_io_say(&node.io, HEAD, TSL_REMOTE_QUIT, 0);
    node.has_quit = true;
}

/* Not while something is on its way that doesn't ring. */
static bool all_ring(void)
{
    return bell_n_found() == node.n_others && mpi_io_is_idle(&node.io) && TAILQ_EMPTY(&node.receivings);
}

/* Until something comes that is rung for, or so many microseconds. */
static void rest_until_rung(unsigned us)
{
    struct pollfd bell = {.fd = bell_file(), .events = POLLIN};
    struct timespec time = {.tv_nsec = (long)us * 1000};

    bell_begin_rest();
    if (!mpi_io_has_frame(&node.io) && !node_server_has_events(node.server))
        ppoll(&bell, 1, &time, NULL);
    bell_end_rest();
}

static void serve(void)
{
    while (node.n_quits < 2) {
        bool did = step(), rings = all_ring();
        unsigned rest = mpi_io_rest(did, rings);

        look_for_end();
        if (mpi_io_is_orphan())
            _exit(1);
        if (rest && rings)
            rest_until_rung(rest);
        else if (rest)
            node_server_wait(node.server, rest);
        else if (!did)
            mpi_io_yield();
    }
    while (!mpi_io_is_idle(&node.io))
        mpi_io_step(&node.io);
}

/* What programs set for themselves isn't meant for nodes. */
static void set_environment(void)
{
    const char *members = getenv("TESELA_NODE_MEMBERS");

    unsetenv("TESELA_NODES");
    unsetenv("TESELA_TRACE");
    unsetenv("TESELA_MEMORY");
    if (members)
        setenv("TESELA_MEMBERS", members, 1);
    else
        unsetenv("TESELA_MEMBERS");
}

/* Beside this program once installed; in a build tree in a folder beside its own. Else the CPU serves nobody. */
static void find_compiler(void)
{
    static const char *const places[] = {"tesela-kc", "../kc/tesela-kc"};
    char own[4096], path[sizeof(own) + 32];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (n <= 0)
        return;
    own[n] = 0;
    *strrchr(own, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", own, places[i]);
        if (access(path, X_OK))
            continue;
        tsl_client_set_program(path, NULL);
        return;
    }
}

int node_main(int argc, char **argv)
{
    struct node_out out = {.messages = send_messages, .payload = send_payload, .peer = send_peer, .wake = wake};
    int rank, size;

    set_environment();
    find_compiler();
    mpi_io_start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out.index = (unsigned)rank - 1;
    out.n_nodes = (unsigned)size - 1;
    node.n_others = out.n_nodes;
    mpi_io_init(&node.io);
    TAILQ_INIT(&node.receivings);
    node.server = node_server_create(&out);
    if (!node.server)
        MPI_Abort(MPI_COMM_WORLD, 1);
    send_bell(); /* The head passes on what it has when all have said HELLO. */
    send_hello();
    serve();
    MPI_Finalize();
    return 0;
}
