/* The structures of tesela-head: programs that are connected, nodes, and what is on its way between them. One thread.
 */
#ifndef TSL_NODE_HEAD_H
#define TSL_NODE_HEAD_H

#include "node/bell.h"
#include "node/mpi_io.h"

#include <poll.h>

/* What a node sent and its program has not got: handed on in order. */
struct head_item {
    struct tsl_remote_frame frame;
    uint8_t *data; /* MESSAGES: heap, with room for the frame before; PAYLOAD of a program that is gone: scratch */
    int slot;      /* PAYLOAD: where it is received; -1: no place yet */
    bool receives, here; /* PAYLOAD */
    MPI_Request request;
    TAILQ_ENTRY(head_item) link;
};

TAILQ_HEAD(head_items, head_item);

struct head_node {
    unsigned index; /* its rank is one more */
    bool lost, hello, has_quit;
    struct tsl_remote_hello is;
    struct bell_is bell; /* host_id 0: none */
    uint64_t heard_ns;
    struct head_items items;
};

struct head_program {
    uint32_t number;
    int socket;
    bool greeted, gone;
    uint8_t *slots; /* its own, then ours; mapped */
    int memory;
    bool slot_taken[TSL_REMOTE_N_SLOTS]; /* of ours */
    unsigned n_sending;                  /* payloads that MPI takes from its slots */
    uint8_t *in;                         /* what was received and not taken: in_size bytes */
    size_t in_size, in_capacity;
    struct tsl_writer out; /* what is to be sent, from out_at on */
    size_t out_at;
    TAILQ_ENTRY(head_program) link;
};

TAILQ_HEAD(head_programs, head_program);

struct head {
    struct mpi_io io;
    unsigned n_nodes;
    struct head_node *nodes;
    int listener;
    uint32_t last_number;
    struct head_programs programs;
};

/* head_program.c: the sockets. */
void head_accept(struct head *head);
/* Reads and takes what has come. True: there was something. */
bool head_read(struct head *head, struct head_program *program);
/* Sends what waits, as far as the socket takes it. */
void head_write(struct head_program *program);
/* Says it with the next write. */
void head_put(struct head_program *program, const struct tsl_remote_frame *frame, const void *body);
/* Tells programs each second that the head lives. */
void head_beat(struct head *head);
struct head_program *head_find(struct head *head, uint32_t number);
/* Ends it, once MPI uses its memory no more. */
void head_leave(struct head *head, struct head_program *program);

/* head_node.c: the nodes. */
bool head_hear(struct head *head);
/* Hands on what nodes sent. */
bool head_hand_on(struct head *head);
void head_lose(struct head *head, struct head_node *node, const char *why);

#endif
