/* The structures of a node's server. Its thread alone touches them, but for the list of events. */
#ifndef TSL_NODE_INTERNAL_H
#define TSL_NODE_INTERNAL_H

#include "base/worker.h"
#include "node/built.h"
#include "node/common.h"
#include "node/content.h"
#include "node/function.h"
#include "node/server.h"
#include "node/stage.h"

#include <pthread.h>
#include <sys/queue.h>
#include <uthash.h>

/* A frame's bytes, which requests borrow from. */
struct node_bytes {
    unsigned refs;
    uint8_t *data;
};

enum node_kind { NODE_LANE, NODE_MEM, NODE_PROGRAM, NODE_KERNEL, NODE_WORK };

/* Base. What a program made: in its session by number, until it frees it, and counted. */
struct node_object {
    enum node_kind kind;
    uint64_t id;
    unsigned refs;
    struct node_session *session;
    struct tsl_member *member;
    UT_hash_handle hh;
};

struct node_mem {
    struct node_object object;
    struct tsl_mem *mem;
    cl_int error; /* mem is NULL: it could not be had; work on it fails with that */
    size_t size;
    struct node_mem *of; /* a reference; NULL: memory of its own */
    bool is_image;
    /* Shared virtual memory: where it is, and whose: mapped here, or the driver's. Else NULL. */
    char *shared_at;
    struct node_region *region; /* a reference */
    struct tsl_mem *shared;
};

/* Memory at an address that a program has, too: of the members that take any. */
struct node_region {
    unsigned refs;
    char *begin;
    size_t size;
    LIST_ENTRY(node_region) link; /* of the session's */
};

LIST_HEAD(node_regions, node_region);

struct node_program {
    struct node_object object;
    struct tsl_dprogram *program;
    struct node_built *built; /* a reference, whose program it is; NULL: the program is this one's own */
    bool linkable;            /* of COMPILE, or a library: it has no kernels, and may be linked */
    bool changes;             /* it is being given a text for windows */
    bool has_kernels;         /* some were asked for */
    unsigned n_jobs;          /* that are about it */
};

/* What a member's groups may have. 0: its device doesn't tell. */
struct node_limits {
    size_t group_size, items[3];
};

/* Arguments of launches: of the kernel's last one, and of those that still wait. */
struct node_args {
    unsigned refs;
    struct tsl_bound_args bound;
    struct tsl_bound_arg *args;
    struct node_mem **mems; /* references; NULL where an argument is no memory */
    struct node_bytes *bytes;
    struct tsl_remote_arg *said; /* the parts are there */
    struct tsl_bound_svm *svm;   /* bound.n_svm */
    struct node_mem **svm_mems;  /* references */
    cl_int error;
};

struct node_kernel {
    struct node_object object;
    struct node_program *program; /* a reference */
    struct node_kernel
        *original; /* a reference: this one stands in its place, and has its facts. NULL: it has its own */
    struct tsl_variant *variant; /* a reference: what a call in its place calls; NULL: it is no call */
    struct tsl_dkernel *kernel;
    struct tsl_kernel_facts facts;
    bool windows;
    struct node_args *args; /* a reference; NULL: no launch yet */
};

TAILQ_HEAD(node_works, node_work);

struct node_lane {
    struct node_object object;
    struct tsl_lane *lane;
    struct node_works works; /* not ended: given to the driver, then those that wait here */
    struct node_work *next;  /* the first that waits here */
    cl_int error;            /* the first of work that nobody asks about */
    bool freed;
    TAILQ_ENTRY(node_lane) link; /* of the session's */
};

enum node_state { NODE_WAITS, NODE_GIVEN, NODE_DONE };

/* A gate of another node that the end of work opens. */
struct node_opening {
    unsigned node;
    uint64_t gate;
    struct node_opening *next;
};

/* Work of a lane; or a gate, which has none. */
struct node_work {
    struct node_object object;
    enum node_state state;
    struct tsl_remote_request request;
    struct node_bytes *bytes;        /* which the request borrows from; NULL: nothing */
    struct node_lane *lane;          /* a reference until it is done */
    bool is_gate, lacks_data, stays; /* stays: later work may name it */
    bool has_opener, by_peer;        /* of a gate: another node's work opens it; that node has */
    unsigned opener_node;
    uint64_t opener, opened_ns;
    struct node_opening *openings; /* ours */
    bool receiving;                /* its data are being received: they stay where they are */
    bool asked;                    /* of a PULL: the other node was asked for its data, … */
    uint64_t asked_ns;             /* … then, … */
    unsigned n_after;              /* … to be read after this work of that node's */
    uint64_t *after;
    struct node_fetch *fetch; /* another node's question, which this READ answers; ours */
    bool ended;               /* the driver is through with it */
    bool told;                /* the driver tells its end, or told it */
    cl_int status, failed;    /* failed: why it isn't done at all */
    unsigned n_waits;
    struct node_work **waits; /* references until it is done */
    struct node_mem *mems[4]; /* references until it is done: dst, src, other, before */
    struct node_kernel *kernel;
    struct node_args *args;
    void *data; /* of node_stage_take: of a WRITE, READ or PULL, data_size bytes behind others */
    size_t data_at, data_size;
    uint32_t slot; /* of the common memory, instead: of the program's, or of ours for a READ; 0: none */
    uint8_t *slot_data;
    struct tsl_fence *fence; /* the driver's, until it is done */
    TAILQ_ENTRY(node_work) link;
    struct node_work *next_event;
    cl_int event_status;
};

/* A question that a thread of the crew answers. */
struct node_job {
    struct tsl_job job;
    struct node_server *server;
    struct node_session *session;
    struct tsl_remote_request request;
    struct node_bytes *bytes;
    void *content;                 /* which the request borrows from; NULL: nothing */
    struct node_object *of, *made; /* a reference each; made: what the answer makes, by its number */
    uint32_t n_inputs;             /* of LINK */
    struct tsl_dprogram **inputs;  /* inputs[i]: of node_object input_objects[i], of which it has a reference */
    struct node_object **input_objects;
    struct tsl_member *member;
    cl_int status;
    struct node_built
        *other; /* of WINDOWS_BY: a reference, the program's instead of the one it has; NULL: that stays */
    struct tsl_writer answer;
    bool is_same; /* the answer is what the program knows */
    struct node_job *next;
};

/* What another node asks for of a program's memory. It waits while that memory, of which the program has told here, is
 * still on its way, and until the driver has what it is to come after. */
struct node_fetch {
    unsigned node;
    uint32_t program;
    struct tsl_remote_request request;
    TAILQ_ENTRY(node_fetch) link;
};

/* Another node has opened a gate of which the program hasn't told here yet. */
struct node_early {
    uint32_t program;
    uint64_t gate;
    TAILQ_ENTRY(node_early) link;
};

TAILQ_HEAD(node_fetches, node_fetch);
TAILQ_HEAD(node_earlies, node_early);
TAILQ_HEAD(node_lanes, node_lane);

/* One program. */
struct node_session {
    struct node_server *server;
    uint32_t program;
    bool closing;
    unsigned n_jobs, n_receiving;
    size_t reading_size;        /* bytes of READs from when a driver has them until MPI has taken the data */
    bool reads_wait;            /* for that to become less */
    struct node_common *common; /* NULL: none */
    struct node_object *objects;
    struct node_lanes lanes;
    struct node_regions regions;
    struct tsl_writer out;
    struct node_work *expects; /* whose payload comes next; a reference */
    uint64_t last_id;          /* of work and gates, whose numbers grow */
    uint32_t told_lost;        /* members of whose loss it knows, as bits */
    struct node_session *next;
};

/* Programs whose end is remembered: a node may ask for what is theirs a moment later. */
#define NODE_N_GONE 64

/* Bytes that READs of a program may hold here at a time: more of them wait. So few that they are still in the
 * processor's caches when MPI takes them, and enough for a device to be ahead of it. */
#define NODE_MOST_READING ((size_t)8 << 20)

/* Some sets of them are words. */
#define NODE_MOST_MEMBERS 30

struct node_server {
    struct node_out out;
    bool lost_peers[TSL_REMOTE_MAX_NODES];
    struct node_contents contents;
    struct node_builts builts;
    struct node_functions functions;
    struct node_fetches fetches; /* that wait */
    struct node_earlies earlies;
    uint32_t gone[NODE_N_GONE];
    unsigned n_gone;
    unsigned n_members;
    struct tsl_member *members[TSL_MAX_MEMBERS];
    struct node_limits limits[TSL_MAX_MEMBERS];
    struct node_session *sessions;
    uint64_t last_serial;
    struct tsl_member *pins; /* the first that has pinned memory, which is good for all of its driver's; NULL: none */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    struct node_work *ended, **last_ended;
    struct node_job *jobs;
};

/* server.c: that program's, unless it is closing. */
struct node_session *node_find_session(struct node_server *server, uint32_t program);

/* An event was put down; without the lock. */
void node_wake(struct node_server *server);

/* object.c */
struct node_object *node_find(struct node_session *session, uint64_t id, enum node_kind kind);
/* Of that size, with one reference, in the session by its number. NULL: no memory, or the number is taken. */
void *node_create(struct node_session *session, size_t size, enum node_kind kind, uint64_t id,
                  struct tsl_member *member);
void node_ref(struct node_object *object);
void node_unref(struct node_object *object); /* NULL allowed */
/* The program's reference, by number. False: there is none of that kind. */
bool node_forget(struct node_session *session, uint64_t id, enum node_kind kind);
void node_args_unref(struct node_args *args);
struct node_bytes *node_bytes_ref(struct node_bytes *bytes);
void node_bytes_unref(struct node_bytes *bytes);

/* peer.c */
/* For data of the PULL that its lane has next, and of those that go on behind it, the other nodes are asked, if it is
 * time. */
void node_ask_peers(struct node_lane *lane);
/* The answer to another node's question; frees that. */
void node_tell_peer(struct node_work *work);
/* What other nodes have asked for may be there, or its turn may have come. True: some of it has begun. */
bool node_look_for_fetches(struct node_session *session);
/* Gates of other nodes that the end of this work opens; if it didn't end well the program does. */
void node_open_others(struct node_work *work);
bool node_take_opens(struct node_session *session, const struct tsl_remote_request *request);
bool node_take_opened_by(struct node_session *session, const struct tsl_remote_request *request);
/* Was that new gate opened before the program told of it? Forgets that. */
bool node_was_opened_early(struct node_session *session, uint64_t gate);
/* That program's are dropped; those still to come, too. */
void node_drop_fetches(struct node_server *server, uint32_t program);

/* session.c */
bool node_make_lane(struct node_session *session, uint64_t id, uint64_t flags, struct tsl_member *member);
bool node_take_request(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes);
void node_reply(struct node_session *session, const struct tsl_remote_reply *reply);
/* Those that wait, as a frame. */
void node_send_replies(struct node_session *session);
void node_answer(struct node_session *session, uint32_t number, cl_int status, const void *data, size_t size);
void node_finish_session(struct node_session *session);

/* svm.c */
enum tsl_remote_svm node_svm_of(const struct tsl_member *member);
bool node_make_svm(struct node_session *session, const struct tsl_remote_request *request, struct tsl_member *member);
/* Of memory that goes. */
void node_free_svm(struct node_mem *mem);
/* The regions of a launch; false: one is no such memory of that member's. */
bool node_bind_svm(struct node_session *session, const struct tsl_remote_request *request,
                   const struct tsl_member *member, struct node_args *args);
/* Is the address that the argument says in one of the launch's regions, or NULL? */
bool node_has_address(const struct node_args *args, const struct tsl_remote_arg *arg);

/* jobs.c */
bool node_post_job(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes);
void node_end_job(struct node_job *job);

/* work.c */
bool node_take_work(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes);
bool node_take_gate(struct node_session *session, const struct tsl_remote_request *request);
bool node_take_open(struct node_session *session, const struct tsl_remote_request *request);
bool node_take_data(struct node_session *session, const struct tsl_remote_request *request);
/* Work of nobody's: it has no number. */
struct node_work *node_create_work(struct node_session *session, struct tsl_member *member);
/* The last of a lane. */
void node_append_work(struct node_lane *lane, struct node_work *work);
/* What can go on does. */
void node_settle(struct node_session *session);
void node_free_work(struct node_work *work);
void node_flush(struct node_lane *lane);

/* submit.c: gives it to the driver. */
cl_int node_submit(struct node_work *work, const struct tsl_waits *waits);
/* Do the data of that READ go by the common memory? */
bool node_goes_by_common(const struct node_work *work);
/* Is what it says sound, and are the memories there? Sets work->mems, kernel, args. False: the message makes no sense.
 */
bool node_check_work(struct node_work *work);

#endif
