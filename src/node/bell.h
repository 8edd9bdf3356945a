/*
 * Bells: MPI has no way to sleep until a message comes. So each process of the job has a bell, which those on the same
 * machine ring when they have sent it a message while it rests. A bell is a page of memory (tsl_memory_file), which
 * says whether its owner rests, and a pipe, whose reading end the owner waits for.
 */
#ifndef TSL_NODE_BELL_H
#define TSL_NODE_BELL_H

#include "remote/protocol.h"

/* How others find it. */
struct bell_is {
    uint64_t host_id, pipe_id;
    struct tsl_memory_file memory;
    uint32_t pipe; /* number of the writing end in the owner's process */
};

void bell_put(struct tsl_writer *writer, const struct bell_is *is);
bool bell_get(const void *data, size_t size, struct bell_is *is);

/* This process's; false: there is none. */
bool bell_make(struct bell_is *is);
/* Finds that of a rank; its owner may be on another machine, or out of reach. */
void bell_find(int rank, const struct bell_is *is);
/* How many were found. */
unsigned bell_n_found(void);
/* A message was sent to that rank. */
void bell_ring(int rank);
/* From any thread. */
void bell_ring_own(void);

/* The owner is about to rest: what came before this isn't rung for, so it looks once more, and then waits for the file
 * (readable: it was rung for) for as long as it likes. */
void bell_begin_rest(void);
int bell_file(void); /* -1: none */
void bell_end_rest(void);

#endif
