/*
 * Frames by MPI. Between a head (rank 0) and a node a frame is one message; what a PAYLOAD announces is the next
 * message of another tag. One thread of a process calls all of it.
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
};

void mpi_io_init(struct mpi_io *io);
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

/* NULL: no memory, so the job ends. */
typedef void *mpi_io_room_fn(int rank, size_t size);
/* The next frame that has come, of any rank: size bytes in all; NULL: none. It is in what `room` gives for so many
 * bytes of that rank. */
uint8_t *mpi_io_take(int *rank, size_t *size, mpi_io_room_fn *room);

/* The process that started this one, MPI's, has ended, and with it the job: MPI doesn't always end the others. */
bool mpi_io_is_orphan(void);

/* How long a loop rests before it looks again: not at all for a while after it did something, then longer and longer.
 * Microseconds. */
unsigned mpi_io_rest(bool did);

#endif
