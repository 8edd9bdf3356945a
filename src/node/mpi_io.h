/*
 * Frames by MPI. Between a head (rank 0) and a node a frame is one message; what a PAYLOAD announces is the next
 * message of another tag. One thread of a process calls all of it.
 *
 * Where MPI survives the end of a rank (TESELA_MPI_SURVIVES: Open MPI 5 with ULFM), that is told by
 * mpi_io_look_for_lost, and what was on its way to or from the rank is over. Else MPI ends the job.
 */
#ifndef TSL_NODE_MPI_IO_H
#define TSL_NODE_MPI_IO_H

#include "remote/protocol.h"

#include <mpi.h>
#include <sys/queue.h>

#define MPI_IO_FRAME   1
#define MPI_IO_PAYLOAD 2

struct mpi_sending {
    MPI_Request request;
    void *data;               /* given back at its end; NULL: not ours */
    void (*give)(void *data); /* NULL: free */
    void (*done)(void *arg, unsigned value);
    void *arg;
    unsigned value;
    TAILQ_ENTRY(mpi_sending) link;
};

TAILQ_HEAD(mpi_sendings, mpi_sending);

struct mpi_io {
    struct mpi_sendings sendings;
    bool failed; /* a call told of a rank's end */
};

enum mpi_io_state { MPI_IO_ON_WAY, MPI_IO_HERE, MPI_IO_FAILED };

/* MPI's own start, in which all processes of the job meet: one that waits for others for too long ends. */
void mpi_io_start(int *argc, char ***argv);
void mpi_io_init(struct mpi_io *io);
/* Ends the job, or, where MPI survives the end of a process and this isn't the head, this one. */
_Noreturn void mpi_io_abort(int status);
/* data: with room for the frame before what it is about, which is frame->size bytes; the io's from now on, which gives
 * it back by `give`, or frees it if that is NULL. */
void mpi_io_send(struct mpi_io *io, int rank, const struct tsl_remote_frame *frame, uint8_t *data,
                 void (*give)(void *data));
/* A frame without more. */
void mpi_io_say(struct mpi_io *io, int rank, enum tsl_remote_frame_kind kind, uint32_t peer);
/* A payload, announced; done(arg, value) is called when the bytes are free again. */
void mpi_io_send_payload(struct mpi_io *io, int rank, uint32_t peer, const void *bytes, size_t size,
                         const struct mpi_sending *then);
/* Looks after what was sent. True: something has ended. */
bool mpi_io_step(struct mpi_io *io);
bool mpi_io_is_idle(const struct mpi_io *io);

/* A payload that was announced, into size bytes. */
void mpi_io_receive(struct mpi_io *io, int rank, void *bytes, size_t size, MPI_Request *request);
/* FAILED: its sender has ended, and what is in the bytes means nothing. */
enum mpi_io_state mpi_io_look(struct mpi_io *io, MPI_Request *request);
/* Calls lost for each rank that has ended, perhaps more than once. True: there was one. */
bool mpi_io_look_for_lost(struct mpi_io *io, void (*lost)(int rank));

/* NULL: no memory, so the job ends. */
typedef void *mpi_io_room_fn(int rank, size_t size);
/* The next frame that has come, of any rank: size bytes in all; NULL: none. It is in what `room` gives for so many
 * bytes of that rank. */
uint8_t *mpi_io_take(struct mpi_io *io, int *rank, size_t *size, mpi_io_room_fn *room);

/* The process that started this one, MPI's, has ended, and with it the job: MPI doesn't always end the others. */
bool mpi_io_is_orphan(void);

/* How long a loop rests before it looks again: not at all for a while after it did something, then longer and longer.
 * rings: who sends something rings for it (bell.h), so the loop may rest for longer, and sooner where processors are
 * few. Microseconds. */
unsigned mpi_io_rest(bool did, bool rings);
/* Has a frame come? A look before a rest. */
bool mpi_io_has_frame(struct mpi_io *io);
/* Between two looks without a rest: others may have the processor. */
void mpi_io_yield(void);

#endif
