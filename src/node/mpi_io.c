#include "node/mpi_io.h"
#include "base/clock.h"
#include "base/thread.h"
#include "node/bell.h"

#ifdef TESELA_MPI_SURVIVES
#include <mpi-ext.h>
#endif

#include <dlfcn.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Data of a megabyte come and go all the time: malloc would give the pages of each back to the system. */
#define KEPT_SIZE (256 << 20)

static pid_t parent;

/* Longer than the tool waits, which has a sentence for it, and ends the job: this is for what the tool can't end. */
#define MEET_SECONDS 30u
#define LONGER       10u

void mpi_io_start(int *argc, char ***argv)
{
    const char *text = getenv("TESELA_NODES_START");
    unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;
    int level;

    alarm(LONGER + (seconds >= 1 && seconds <= 3600 ? (unsigned)seconds : MEET_SECONDS));
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    alarm(0);
}

/* On a machine with more processes than processors Open MPI yields in each look, and so waits for the turns of what
 * computes there. The tool tells it not to (mpi_yield_when_idle); Open MPI 5 yields all the same where it takes the
 * machine's slots to be too few. What it sets that with is no part of its interface, so it may be missing. */
static void stop_yields(void)
{
    void (*set)(bool yields);

    *(void **)&set = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
    if (set)
        set(false);
}

void mpi_io_init(struct mpi_io *io)
{
    parent = getppid();
    stop_yields();
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    mallopt(M_TRIM_THRESHOLD, KEPT_SIZE);
    TAILQ_INIT(&io->sendings);
#ifdef TESELA_MPI_SURVIVES
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
}

#ifdef TESELA_MPI_SURVIVES

/* By ULFM MPI_Abort may end its own process alone: Open MPI 5.0.11 does so with 0, and from four processes on always.
 * The head's parent is mpirun, which ends all when it is told to, also those that stand still. */
static void tell_mpirun(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && parent > 1 && getppid() == parent)
        kill(parent, SIGTERM);
}

#else

static void tell_mpirun(void)
{
}

#endif

void mpi_io_abort(int status)
{
    tell_mpirun();
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

/* ---- Ranks that end ---------------------------------------------------------------------------------------------- */

#ifdef TESELA_MPI_SURVIVES

/* False: the call has failed, as a rank has ended. */
static bool is_good(struct mpi_io *io, int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, size;

    if (error == MPI_SUCCESS)
        return true;
    MPI_Error_class(error, &class);
    if (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING) {
        io->failed = true;
        return false;
    }
    MPI_Error_string(error, text, &size);
    fprintf(stderr, "tesela: MPI says: %s, so the nodes' job ends\n", text);
    mpi_io_abort(1);
}

bool mpi_io_look_for_lost(struct mpi_io *io, void (*lost)(int rank))
{
    MPI_Group all, ended;
    int n;

    if (!io->failed)
        return false;
    io->failed = false;
    /* What is told is no obstacle to hearing others any more. */
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &ended);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(ended, &n);
    for (int i = 0; i < n; i++) {
        int rank;

        MPI_Group_translate_ranks(ended, 1, &i, all, &rank);
        lost(rank);
    }
    MPI_Group_free(&ended);
    MPI_Group_free(&all);
    return n > 0;
}

#else

/* MPI ends the job by itself. */
static bool is_good(struct mpi_io *io, int error)
{
    (void)io;
    return error == MPI_SUCCESS;
}

bool mpi_io_look_for_lost(struct mpi_io *io, void (*lost)(int rank))
{
    (void)io;
    (void)lost;
    return false;
}

#endif

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Without memory for a few bytes nothing goes on: the job ends rather than a message is lost. */
static void *have(void *data)
{
    if (!data) {
        fprintf(stderr, "tesela: memory ran out, so the nodes' job ends\n");
        mpi_io_abort(1);
    }
    return data;
}

static void *need(size_t size)
{
    return have(malloc(size));
}

static void send(struct mpi_io *io, int rank, int tag, const void *bytes, size_t size, const struct mpi_sending *as)
{
    struct mpi_sending *sending = need(sizeof(*sending));

    *sending = *as;
    if (!is_good(io, MPI_Isend(bytes, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &sending->request)))
        sending->request = MPI_REQUEST_NULL; /* To nobody: it is over. */
    bell_ring(rank);
    TAILQ_INSERT_TAIL(&io->sendings, sending, link);
}

void mpi_io_send(struct mpi_io *io, int rank, const struct tsl_remote_frame *frame, uint8_t *data,
                 void (*give)(void *data))
{
    struct mpi_sending as = {.data = data, .give = give};

    tsl_remote_put_frame(data, frame);
    send(io, rank, MPI_IO_FRAME, data, TSL_REMOTE_FRAME_SIZE + frame->size, &as);
}

void mpi_io_say(struct mpi_io *io, int rank, enum tsl_remote_frame_kind kind, uint32_t peer)
{
    mpi_io_send(io, rank, &(struct tsl_remote_frame){.kind = kind, .peer = peer}, need(TSL_REMOTE_FRAME_SIZE), NULL);
}

void mpi_io_send_payload(struct mpi_io *io, int rank, uint32_t peer, const void *bytes, size_t size,
                         const struct mpi_sending *then)
{
    struct tsl_remote_frame frame = {.kind = TSL_REMOTE_PAYLOAD, .peer = peer, .size = (uint32_t)size};
    struct mpi_sending as = {.data = need(TSL_REMOTE_FRAME_SIZE)};

    tsl_remote_put_frame(as.data, &frame);
    send(io, rank, MPI_IO_FRAME, as.data, TSL_REMOTE_FRAME_SIZE, &as);
    send(io, rank, MPI_IO_PAYLOAD, bytes, size, then);
}

bool mpi_io_step(struct mpi_io *io)
{
    struct mpi_sending *sending, *next;
    bool did = false;

    for (sending = TAILQ_FIRST(&io->sendings); sending; sending = next) {
        int ended = 0;

        next = TAILQ_NEXT(sending, link);
        if (is_good(io, MPI_Test(&sending->request, &ended, MPI_STATUS_IGNORE)) && !ended)
            continue;
        did = true;
        TAILQ_REMOVE(&io->sendings, sending, link);
        if (sending->done)
            sending->done(sending->arg, sending->value);
        (sending->give ? sending->give : free)(sending->data);
        free(sending);
    }
    return did;
}

bool mpi_io_is_idle(const struct mpi_io *io)
{
    return TAILQ_EMPTY(&io->sendings);
}

/* ---- Receiving --------------------------------------------------------------------------------------------------- */

void mpi_io_receive(struct mpi_io *io, int rank, void *bytes, size_t size, MPI_Request *request)
{
    if (!is_good(io, MPI_Irecv(bytes, (int)size, MPI_BYTE, rank, MPI_IO_PAYLOAD, MPI_COMM_WORLD, request)))
        *request = MPI_REQUEST_NULL;
}

enum mpi_io_state mpi_io_look(struct mpi_io *io, MPI_Request *request)
{
    int ended = 0;

    if (*request == MPI_REQUEST_NULL || !is_good(io, MPI_Test(request, &ended, MPI_STATUS_IGNORE)))
        return MPI_IO_FAILED;
    return ended ? MPI_IO_HERE : MPI_IO_ON_WAY;
}

uint8_t *mpi_io_take(struct mpi_io *io, int *rank, size_t *size, mpi_io_room_fn *room)
{
    MPI_Message message;
    MPI_Status status;
    uint8_t *data;
    int is = 0, n;

    if (!is_good(io, MPI_Improbe(MPI_ANY_SOURCE, MPI_IO_FRAME, MPI_COMM_WORLD, &is, &message, &status)) || !is)
        return NULL;
    MPI_Get_count(&status, MPI_BYTE, &n);
    data = have(room(status.MPI_SOURCE, (size_t)n + 1));
    if (!is_good(io, MPI_Mrecv(data, n, MPI_BYTE, &message, MPI_STATUS_IGNORE)))
        return NULL; /* The room of this last frame of a rank is given up. */
    *rank = status.MPI_SOURCE;
    *size = (size_t)n;
    return data;
}

bool mpi_io_has_frame(struct mpi_io *io)
{
    int is = 0;

    return is_good(io, MPI_Iprobe(MPI_ANY_SOURCE, MPI_IO_FRAME, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE)) && is;
}

#define LOOK_NS 50000000u /* from one look to the next */

bool mpi_io_is_orphan(void)
{
    static uint64_t looked_ns;
    uint64_t now = tsl_clock_ns();

    if (now - looked_ns < LOOK_NS)
        return false;
    looked_ns = now;
    return getppid() != parent;
}

/* Until when the processor counts as wanted by others: twice as long each time that a yield soon shows it again, as a
 * yield costs a turn of theirs. A quick one in between shows no more than that they wait for something. */
static uint64_t wanted_until_ns, wanted_for_ns;

#define OTHERS_NS 300000u /* a turn of one that computes; others, such as the program, take some microseconds */
#define WANTED_NS 20000000u
#define MOST_NS   (64 * WANTED_NS)

void mpi_io_yield(void)
{
    uint64_t begin = tsl_clock_ns(), end;

    sched_yield();
    end = tsl_clock_ns();
    if (end - begin <= OTHERS_NS)
        return;
    if (begin - wanted_until_ns > 2 * wanted_for_ns)
        wanted_for_ns = WANTED_NS;
    else if (wanted_for_ns < MOST_NS)
        wanted_for_ns *= 2;
    wanted_until_ns = end + wanted_for_ns;
}

/* A turn for each rest is time of those who want the processor. What comes late after a long quiet has been awaited for
 * so long anyway. */
static unsigned rest_beside_others(uint64_t quiet_us)
{
    uint64_t us = quiet_us / 4;

    return us < 200 ? 200 : us > 1000 ? 1000 : (unsigned)us;
}

/* Only what doesn't ring waits for the end of it: the other side of a large message, a process that has ended. */
#define RUNG_US 1000u

/* Where there are processors enough a loop looks for two milliseconds without a rest; else programs need them more. Who
 * yields a processor that another thread computes on waits for the end of its turn, some milliseconds. Who sleeps has
 * it as soon as it wakes, so there a loop rests from the first look on. */
unsigned mpi_io_rest(bool did, bool rings)
{
    static uint64_t last_ns;
    static long processors;
    uint64_t now = tsl_clock_ns(), us;

    if (!processors) {
        processors = sysconf(_SC_NPROCESSORS_ONLN);
        prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul); /* Short rests are as short as they are said to be. */
        tsl_thread_take_short_turns();
    }
    if (did)
        last_ns = now;
    us = (now - last_ns) / 1000;
    if (rings && (processors < 8 || now < wanted_until_ns))
        return did ? 0 : RUNG_US;
    if (now < wanted_until_ns)
        return did ? 0 : rest_beside_others(us);
    if (us < (processors >= 8 ? 2000 : 200))
        return 0;
    if (rings)
        return RUNG_US;
    return us < 5000 ? 20 : us < 50000 ? 200 : 1000;
}
