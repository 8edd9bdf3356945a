/*
 * The program tesela-head, rank 0 of a nodes' job: the only one that programs talk to.
 *
 *     tesela-head FOLDER PROCESS
 *
 * It makes the file FOLDER/met when MPI has connected all processes, and the socket FOLDER/socket when all nodes are
 * there, or says in FOLDER/why what is wrong. It ends the job when that process has ended and no program is connected.
 */
#include "base/clock.h"
#include "node/head.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
/* Nodes look for devices before they say the first. */
#define START_NS (60 * SECOND)

static struct head head = {.listener = -1, .programs = TAILQ_HEAD_INITIALIZER(head.programs)};
static const char *folder;
/* A node that says nothing for so long is lost: it says something each second. */
static uint64_t silence_ns;
static pid_t watched;
static int watched_handle = -1; /* pidfd: a number alone may be another process's later */

/* Locked for as long as this process lives, under its name from then on. */
static void hold_folder(void)
{
    char made[4096], path[4096];
    int file;

    snprintf(made, sizeof(made), "%s/head.new", folder);
    snprintf(path, sizeof(path), "%s/head", folder);
    file = open(made, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 || flock(file, LOCK_EX | LOCK_NB) || rename(made, path))
        fprintf(stderr, "tesela-head: %s can't be locked: %s\n", path, strerror(errno));
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

static void say_that_all_have_met(void)
{
    char path[4096];
    int file;

    snprintf(path, sizeof(path), "%s/met", folder);
    file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

static _Noreturn void fail(const char *sentence)
{
    char path[4096];
    FILE *file;

    fprintf(stderr, "tesela-head: %s\n", sentence);
    snprintf(path, sizeof(path), "%s/why", folder);
    file = fopen(path, "we");
    if (file) {
        fprintf(file, "%s\n", sentence);
        fclose(file);
    }
    mpi_io_abort(1);
}

static bool all_are_there(void)
{
    for (unsigned i = 0; i < head.n_nodes; i++)
        if (!head.nodes[i].hello)
            return false;
    return true;
}

static void lose_rank(int rank)
{
    if (rank >= 1 && (unsigned)rank <= head.n_nodes)
        head_lose(&head, &head.nodes[rank - 1], "its process has ended");
}

static void check_that_all_live(void)
{
    char sentence[64];

    mpi_io_look_for_lost(&head.io, lose_rank);
    for (unsigned i = 0; i < head.n_nodes; i++) {
        if (!head.nodes[i].lost)
            continue;
        snprintf(sentence, sizeof(sentence), "node %u has ended before it was ready", i);
        fail(sentence);
    }
}

static void check_versions(void)
{
    char sentence[256];

    for (unsigned i = 0; i < head.n_nodes; i++) {
        if (head.nodes[i].is.version == TSL_REMOTE_VERSION)
            continue;
        snprintf(sentence, sizeof(sentence),
                 "node %u speaks version %u of the nodes' protocol and this machine version %u: install one version of "
                 "Tesela on all",
                 i, head.nodes[i].is.version, TSL_REMOTE_VERSION);
        fail(sentence);
    }
}

static void wait_for_nodes(void)
{
    uint64_t end = tsl_clock_ns() + START_NS;

    while (!all_are_there()) {
        if (!head_hear(&head))
            usleep(1000);
        check_that_all_live();
        if (tsl_clock_ns() > end)
            fail("not all nodes have answered within a minute");
    }
    check_versions();
}

static void send_bell(const struct bell_is *is, int of, int to)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_writer writer = {.size = 0};

    tsl_write_raw(&writer, none, sizeof(none));
    bell_put(&writer, is);
    if (writer.failed)
        fail("memory ran out");
    mpi_io_send(&head.io, to,
                &(struct tsl_remote_frame){.kind = TSL_REMOTE_BELL,
                                           .peer = (uint32_t)of,
                                           .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)},
                writer.data, NULL);
}

/* A node hears of the bells of its machine: all processes send to all. */
static void send_bells(const struct bell_is *own)
{
    for (unsigned to = 0; to < head.n_nodes; to++) {
        const struct bell_is *bell = &head.nodes[to].bell;

        if (own && bell->host_id == own->host_id)
            send_bell(own, 0, (int)to + 1);
        for (unsigned of = 0; bell->host_id && of < head.n_nodes; of++)
            if (of != to && head.nodes[of].bell.host_id == bell->host_id)
                send_bell(&head.nodes[of].bell, (int)of + 1, (int)to + 1);
    }
}

static void listen_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[sizeof(address.sun_path)];
    int n = snprintf(path, sizeof(path), "%s/socket.new", folder);

    if (n < 0 || (size_t)n >= sizeof(path))
        fail("the folder's name is too long for a socket");
    strcpy(address.sun_path, path);
    head.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (head.listener < 0 || bind(head.listener, (struct sockaddr *)&address, sizeof(address)) ||
        listen(head.listener, 64))
        fail("the socket for programs can't be made");
    /* Under its name it is ready. */
    path[n - 4] = 0;
    if (rename(address.sun_path, path))
        fail("the socket for programs can't be named");
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static bool watched_lives(void)
{
    static uint64_t looked_ns;
    static bool lives = true;
    uint64_t now = tsl_clock_ns();

    if (!lives || now - looked_ns < SECOND / 20)
        return lives;
    looked_ns = now;
    if (watched_handle >= 0)
        lives = poll(&(struct pollfd){.fd = watched_handle, .events = POLLIN}, 1, 0) == 0;
    else
        lives = !kill(watched, 0) || errno == EPERM;
    return lives;
}

/* While the head itself stood still nobody was heard: that is no silence of the nodes. */
static void look_for_silence(void)
{
    static uint64_t looked_ns;
    uint64_t now = tsl_clock_ns(), stood_ns = looked_ns && now - looked_ns > SECOND ? now - looked_ns : 0;

    looked_ns = now;
    for (unsigned i = 0; i < head.n_nodes && stood_ns; i++)
        head.nodes[i].heard_ns += stood_ns;
    for (unsigned i = 0; i < head.n_nodes; i++)
        if (!head.nodes[i].lost && now - head.nodes[i].heard_ns > silence_ns)
            head_lose(&head, &head.nodes[i], "it has said nothing for too long (TESELA_NODES_SILENCE)");
}

#define MOST_FRAMES 16 /* of nodes, in a step */

static bool serve_programs(void)
{
    struct head_program *program, *next;
    bool did = false;

    for (program = TAILQ_FIRST(&head.programs); program; program = next) {
        next = TAILQ_NEXT(program, link);
        while (head_read(&head, program))
            did = true;
        if (program->gone && !program->n_sending)
            head_leave(&head, program);
    }
    return did;
}

static bool hear_all(void)
{
    unsigned n = 0;

    while (n < MOST_FRAMES && head_hear(&head))
        n++;
    return n > 0;
}

/* What a step brings about for a program leaves at once, at its end. */
static void write_to_programs(void)
{
    struct head_program *program;

    TAILQ_FOREACH(program, &head.programs, link)
    {
        head_write(program);
    }
}

static bool step(void)
{
    bool did = serve_programs();

    did = hear_all() || did;
    did = head_hand_on(&head) || did;
    did = mpi_io_step(&head.io) || did;
    did = mpi_io_look_for_lost(&head.io, lose_rank) || did;
    write_to_programs();
    return did;
}

/* Until a program says something, the bell is rung, or so many microseconds. */
static void rest(unsigned us, bool rings)
{
    struct pollfd polls[64] = {{.fd = head.listener, .events = POLLIN},
                               {.fd = rings ? bell_file() : -1, .events = POLLIN}};
    struct timespec time = {.tv_nsec = (long)us * 1000};
    struct head_program *program;
    nfds_t n = 2;

    TAILQ_FOREACH(program, &head.programs, link)
    {
        if (n == 64)
            break;
        if (program->gone)
            continue;
        polls[n++] = (struct pollfd){.fd = program->socket,
                                     .events = (short)(POLLIN | (program->out.size > program->out_at ? POLLOUT : 0))};
    }
    if (rings)
        bell_begin_rest();
    if (!rings || !mpi_io_has_frame(&head.io))
        ppoll(polls, n, &time, NULL);
    if (rings)
        bell_end_rest();
    if (polls[0].revents)
        head_accept(&head);
}

static void clean(void)
{
    char path[4096];
    static const char *const names[] = {"socket", "socket.new", "why", "head", "head.new", "met"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void look_for_parent(void)
{
    if (!mpi_io_is_orphan())
        return;
    fprintf(stderr, "tesela-head: what started the nodes' job has ended, so the job ends\n");
    clean();
    _exit(1);
}

/* Not while MPI alone uses the memory of one that is gone: data of a node that stands still would never come. */
static bool programs_are_there(void)
{
    const struct head_program *program;

    TAILQ_FOREACH(program, &head.programs, link)
    {
        if (!program->gone)
            return true;
    }
    return false;
}

/* Do all nodes, and is nothing on its way that doesn't? */
static bool all_ring(void)
{
    if (bell_n_found() < head.n_nodes || !mpi_io_is_idle(&head.io))
        return false;
    for (unsigned i = 0; i < head.n_nodes; i++)
        if (!TAILQ_EMPTY(&head.nodes[i].items))
            return false;
    return true;
}

static void serve(void)
{
    unsigned n = 0;

    while (watched_lives() || programs_are_there()) {
        bool did = step(), rings = all_ring();
        unsigned us = mpi_io_rest(did, rings);

        /* Connections are only looked for there. */
        if (us || ++n % 256 == 0)
            rest(us, us && rings);
        else if (!did)
            mpi_io_yield();
        head_beat(&head);
        look_for_silence();
        look_for_parent();
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static bool all_live(void)
{
    for (unsigned i = 0; i < head.n_nodes; i++)
        if (head.nodes[i].lost)
            return false;
    return true;
}

static bool all_have_quit(void)
{
    for (unsigned i = 0; i < head.n_nodes; i++)
        if (!head.nodes[i].has_quit)
            return false;
    return true;
}

static void say_quit(void)
{
    for (unsigned i = 0; i < head.n_nodes; i++)
        mpi_io_say(&head.io, (int)i + 1, TSL_REMOTE_QUIT, 0);
}

/* A node that is lost would never come to the end. */
static void step_to_end(void)
{
    unsigned us = mpi_io_rest(step(), false);

    if (us)
        usleep(us);
    look_for_silence();
    look_for_parent();
    if (!all_live())
        mpi_io_abort(1);
}

/* What nodes have still sent is received, also for programs that are gone: a node ends when its messages have left. */
static void end(void)
{
    close(head.listener);
    clean();
    say_quit();
    while (!all_have_quit() || !TAILQ_EMPTY(&head.programs) || !mpi_io_is_idle(&head.io))
        step_to_end();
    say_quit();
    while (!mpi_io_is_idle(&head.io))
        step_to_end();
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    struct bell_is bell;
    bool has_bell;
    int size;

    if (argc == 3) {
        folder = argv[1];
        hold_folder();
    }
    mpi_io_start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || size < 2 || (unsigned)size > TSL_REMOTE_MAX_NODES + 1) {
        fprintf(stderr, "tesela-head is started by `tesela run --nodes`\n");
        mpi_io_abort(2);
    }
    say_that_all_have_met();
    silence_ns = tsl_remote_silence() * SECOND;
    watched = (pid_t)atol(argv[2]);
    watched_handle = (int)syscall(SYS_pidfd_open, watched, 0);
    mpi_io_init(&head.io);
    head.n_nodes = (unsigned)size - 1;
    head.nodes = calloc(head.n_nodes, sizeof(head.nodes[0]));
    if (!head.nodes)
        fail("memory ran out");
    for (unsigned i = 0; i < head.n_nodes; i++) {
        head.nodes[i].index = i;
        head.nodes[i].heard_ns = tsl_clock_ns();
        TAILQ_INIT(&head.nodes[i].items);
    }
    has_bell = bell_make(&bell);
    wait_for_nodes();
    send_bells(has_bell ? &bell : NULL);
    for (unsigned i = 0; i < head.n_nodes; i++)
        head.nodes[i].heard_ns = tsl_clock_ns();
    listen_there();
    serve();
    end();
    return 0;
}
