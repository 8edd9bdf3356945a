/*
 * A node's side: what programs ask of its members, whatever brings their requests. A client of driver/driver.h.
 *
 * One thread calls all of it. What may take long (builds, questions to devices) is done by a crew; its ends, and ends
 * of work, wait in the server until a step.
 */
#ifndef TSL_NODE_SERVER_H
#define TSL_NODE_SERVER_H

#include "remote/protocol.h"

struct node_server;

/* How replies leave, in order. All own what they are given: messages are heap, the others of node_stage_take. */
struct node_out {
    void *arg;
    unsigned index, n_nodes; /* this node among the job's */
    /* Data begin with room for a frame. */
    void (*messages)(void *arg, uint32_t program, uint8_t *data, size_t size);
    void (*payload)(void *arg, uint32_t program, void *data, size_t size);
    /* A frame PEER to another node, about that program. Data begin with room for a frame. */
    void (*peer)(void *arg, unsigned node, uint32_t program, uint8_t *data, size_t size);
    void (*wake)(void *arg); /* from any thread: there is something for a step; NULL: nobody waits elsewhere */
};

/* For the members that the registry opens, without those that can't serve this way. NULL: no memory. */
struct node_server *node_server_create(const struct node_out *out);
/* Programs have gone. */
void node_server_destroy(struct node_server *server);

/* A frame of requests of that program, which begins to be one by it. data is the server's (heap). False: it said what
 * makes no sense, and is as gone. */
bool node_server_take(struct node_server *server, uint32_t program, uint8_t *data, size_t at, size_t size);
/* A payload of that size comes: where it goes, until node_server_arrived. NULL: none is expected. */
struct node_work *node_server_expect(struct node_server *server, uint32_t program, size_t size, void **bytes);
void node_server_arrived(struct node_server *server, struct node_work *work);
/* Where a frame of so many bytes of another node is to be received; NULL: no memory. */
void *node_server_room(struct node_server *server, size_t size);
/* A frame PEER of another node about that program; data is the server's (of node_server_room), the frame's are size
 * bytes at `at`. */
void node_server_take_peer(struct node_server *server, unsigned node, uint32_t program, uint8_t *data, size_t at,
                           size_t size);
/* Another node is gone. */
void node_server_lose_peer(struct node_server *server, unsigned node);
/* That program is gone: what it made goes when its work has ended. */
void node_server_bye(struct node_server *server, uint32_t program);
/* No program has anything here any more. */
bool node_server_is_empty(const struct node_server *server);

/* Does what has become possible, and hands replies out. True: there was something. */
bool node_server_step(struct node_server *server);
/* Until there is something for a step, or so many microseconds. */
void node_server_wait(struct node_server *server, unsigned us);
bool node_server_has_events(struct node_server *server);

#endif
