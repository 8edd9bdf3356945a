/* The structures of the driver of other nodes' members, and who guards them: almost all is the connection's lock's. */
#ifndef TSL_REMOTE_INTERNAL_H
#define TSL_REMOTE_INTERNAL_H

#include "base/clock.h"
#include "base/small_vector.h"
#include "remote/protocol.h"
#include "remote/remote_driver.h"

#include <pthread.h>
#include <sys/queue.h>
#include <uthash.h>

struct remote_connection;

/* ---- Nodes and members ------------------------------------------------------------------------------------------- */

struct remote_node {
    struct remote_connection *connection;
    unsigned index;
    bool lost;
    bool owed;   /* in the connection's list; the receiver's */
    bool urgent; /* a flush sends what was said, whether or not there is work */
    SLIST_ENTRY(remote_node) link;
    struct tsl_writer out;              /* requests that were not sent yet */
    LIST_HEAD(, remote_lane) unflushed; /* lanes with work that was said since their last FLUSH */
    struct tsl_clock_map clock;
    TAILQ_HEAD(, remote_fence) told;        /* ends that wait for other nodes', in the order in which they were told */
    TAILQ_HEAD(, remote_parcel) parcels;    /* whose turn has come */
    size_t sent_size;                       /* bytes of data that the node holds for us */
    uint8_t *common;                        /* memory that it has in common with us; NULL: none */
    bool common_taken[TSL_REMOTE_N_COMMON]; /* of our slots there */
    struct tsl_remote_reply data;           /* of which the payload comes next; kind 0: of none */
    unsigned n_members;
    struct remote_path *paths;
};

/* What a device said of itself. */
struct remote_fact {
    cl_device_info param;
    cl_int error;
    void *data;
    size_t size;
    SLIST_ENTRY(remote_fact) link;
};

/* What a path leads to. Constant, but for what is asked of the device once. */
struct remote_path {
    struct remote_node *node;
    unsigned index; /* of the member on its node */
    struct tsl_remote_member is;
    struct remote_member *member;    /* once opened; under the lock */
    SLIST_HEAD(, remote_fact) facts; /* under the lock; they stay */
};

struct remote_member {
    struct tsl_member base;
    const struct remote_path *path;
    struct remote_node *node;
    uint64_t used_size; /* bytes of memory: the books; under the lock */
    pthread_mutex_t asking;
    int combines; /* -1: not asked yet; under `asking` */
};

struct remote_lane {
    struct tsl_lane base;
    uint64_t id;
    bool profile;
    bool unflushed;
    LIST_ENTRY(remote_lane) link;   /* of the node's, while it is unflushed */
    struct remote_fence *last_held; /* the last work that may wait for the host; a reference. Under the lock */
};

struct remote_mem {
    struct tsl_mem base;
    uint64_t id;
    uint64_t booked_size;   /* 0: it is a part of another */
    struct remote_svm *svm; /* of svm_alloc: it has no number of its own; else NULL */
};

struct remote_program {
    struct tsl_dprogram base;
    uint64_t id;
    uint8_t content[TSL_DIGEST_SIZE]; /* of what it was made */
    char *kernels;
    bool has_variables, of_text;
    size_t variables_size;
};

struct remote_kernel {
    struct tsl_dkernel base;
    uint64_t id;
    uint64_t serial; /* of the arguments that the node has; under the lock */
};

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

struct remote_note {
    tsl_notify_fn *fn;
    void *arg;
};

/*
 * Work of which the end is told, or a gate. Under the lock, but for what is atomic or constant. While it is on its way
 * the connection has a reference.
 *
 * held: it may wait for something that the host must do first: a gate, or bytes that a READ brings to memory which a
 * later WRITE takes. Data of a WRITE that has such work before it are sent when that has ended.
 *
 * reads: a READ, or work that comes after one. When it has ended on its node its bytes may still be on their way to the
 * program, so what comes after it on another node hears of its end from the program.
 *
 * opener: of a gate that another node opens as soon as this work of its has ended well. What is behind such a gate may
 * be told to have ended before the program has heard of that work; it ends in the program's eyes when the gate has
 * (node.told).
 */
struct remote_fence {
    struct tsl_fence base;
    uint64_t id;
    atomic_int status;
    bool is_gate, on_way, held, reads, profile, has_times, is_told;
    cl_int told_status;
    struct remote_fence *opener; /* a reference */
    struct tsl_times times;
    struct remote_node *node;
    uint64_t lane_id; /* 0: a gate */
    uint64_t sent_ns;
    uint64_t begin_ns;          /* of a WRITE: when its data began to be sent; 0: they stand in it */
    struct remote_fence *first; /* of a transfer in pieces: the first one's, when it began; a reference, or NULL */
    struct tsl_place host;      /* of a READ: where its bytes go */
    size_t region[3];
    TSL_SMALL_VECTOR(struct remote_note, 2) notes;
    TSL_SMALL_VECTOR(struct remote_fence *, 2) waits; /* that had not ended; references */
    struct remote_fence *launch;                      /* whose times and error it tells, a reference; NULL: its own */
    UT_hash_handle hh;
    TAILQ_ENTRY(remote_fence) link; /* of all on their way, in the order of their numbers */
    TAILQ_ENTRY(remote_fence) told_link;
};

/* Data that are still to be sent. */
struct remote_parcel {
    TAILQ_ENTRY(remote_parcel) link;
    struct remote_node *node;
    uint64_t id; /* of the WRITE */
    struct tsl_place host;
    size_t region[3], size;
    atomic_uint n_left; /* work that must end first */
};

/* ---- The connection ---------------------------------------------------------------------------------------------- */

struct remote_call {
    struct remote_call *next;
    uint32_t number;
    struct remote_node *node;
    bool done;
    cl_int status;
    void *data; /* heap; the caller's */
    size_t size;
    uint64_t before_ns;
};

TAILQ_HEAD(remote_fences, remote_fence);

struct remote_connection {
    int socket;
    uint8_t *slots; /* ours, then the head's */
    unsigned n_nodes;
    struct remote_node *nodes;
    uint64_t host_id;
    pthread_t receiver, courier;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a fence or a call has ended */
    pthread_cond_t room;    /* for the courier: parcels, slots, room on a node */
    bool broken;
    uint64_t last_id;
    uint32_t last_call;
    struct remote_fence *by_id; /* those on their way, and gates */
    struct remote_fences fences;
    struct remote_call *calls;
    unsigned last_served; /* node of the last parcel */
    bool slot_taken[TSL_REMOTE_N_SLOTS];
    SLIST_HEAD(, remote_node) owed; /* what the receiver said is not sent; its own */
    struct remote_node *copying;    /* the courier reads a program's memory for a WRITE to that node */
    unsigned n_told;                /* fences in lists of what nodes have told */
    bool unflushed;                 /* some node may have lanes that are, or is urgent */
};

/* Data that one node may hold for us and has not put to their place: more wait here. */
#define REMOTE_MOST_SENT ((size_t)64 << 20)
/* Requests are sent without a flush when there are so many bytes. */
#define REMOTE_MOST_OUT ((size_t)64 << 10)
/* The longest text and data of what is asked: a frame has room for them and what was said before. */
#define REMOTE_MOST_ASKED (TSL_REMOTE_MAX_FRAME - ((size_t)2 << 20))

static inline void remote_lock(struct remote_connection *c)
{
    pthread_mutex_lock(&c->lock);
}

static inline void remote_unlock(struct remote_connection *c)
{
    pthread_mutex_unlock(&c->lock);
}

/* connection.c: one for the process, made at the first call; NULL without one. */
struct remote_connection *remote_connect(void);
/* Appends to what the node will get; sends it where that has become much. */
void remote_say_locked(struct remote_node *node, const struct tsl_remote_request *request);
void remote_send_locked(struct remote_node *node);
/* The same; in the receiver's thread when it has taken what was received. */
void remote_send_soon_locked(struct remote_node *node);
void remote_send_owed(struct remote_connection *c);
/* Says FLUSH for all lanes that have work since theirs, of all nodes, and sends all: what a node does may wait for
 * another's. */
void remote_flush_all_locked(struct remote_connection *c);
/* Another frame, behind all that was said. */
void remote_frame_locked(struct remote_node *node, const struct tsl_remote_frame *frame);
/* Asks, and waits for the answer. Its data are the caller's (heap, with a NUL behind). CL_DEVICE_NOT_AVAILABLE: the
 * node is lost, and there is none. CL_OUT_OF_RESOURCES: so much (a program of 300 MiB) is in no frame; the same. */
cl_int remote_ask(struct remote_node *node, struct tsl_remote_request *request, void **data, size_t *size);
static inline uint64_t remote_new_id_locked(struct remote_connection *c)
{
    return ++c->last_id;
}

/* receive.c */
extern _Thread_local bool remote_is_receiver;
void *remote_receive(void *connection);
/* Ends what can end on lost nodes, and unlocks. */
void remote_end_lost_unlock(struct remote_connection *c);

/* common.c */
/* Maps the memory that a node of this machine offers, if that can be had: else all data go by the head. */
void remote_share_memory(struct remote_node *node);
/* Ours; that of the node's. */
uint8_t *remote_common_slot(const struct remote_node *node, unsigned slot);
const uint8_t *remote_common_slot_of_node(const struct remote_node *node, unsigned slot);

/* courier.c */
void *remote_carry(void *connection);
void remote_post_locked(struct remote_connection *c, struct remote_parcel *parcel);
/* A note: one less to wait for. */
void remote_release_parcel(void *parcel, cl_int status);
/* Copies the rows of a box of the host's to bytes without gaps, and back. */
void remote_pack(uint8_t *bytes, const struct tsl_place *place, const size_t region[3]);
void remote_unpack(const struct tsl_place *place, const size_t region[3], const uint8_t *bytes);

/* fence.c */
struct remote_fence *remote_fence_of(const struct tsl_fence *fence);
/* One on its way in that lane, with a reference of the connection's beside the caller's. NULL without memory. */
struct remote_fence *remote_fence_create_locked(struct remote_lane *lane);
/* Ends it; the notes are called, and the connection's reference dropped, by remote_tell, without the lock. */
void remote_end_locked(struct remote_fence *fence, cl_int status);
void remote_tell(struct remote_fence *fence);
cl_int remote_fence_status(struct tsl_fence *fence);
cl_int remote_fence_wait(struct tsl_fence *fence);
cl_int remote_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int remote_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void remote_fence_free(struct tsl_fence *fence);
bool remote_can_wait(struct tsl_member *member, const struct tsl_fence *fence);
cl_int remote_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int remote_gate_open(struct tsl_fence *gate, cl_int status);
void remote_gate_by(struct tsl_fence *gate, struct tsl_fence *opener);
/* Has all that it waits for, as far as it was on its way then, ended? */
bool remote_waits_have_ended(struct remote_fence *fence);
/* Ends what was told to have ended and waited for others. */
void remote_end_told(struct remote_connection *c);

/* transfer.c */
cl_int remote_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence);
cl_int remote_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
bool remote_can_copy_peer(struct tsl_member *from, struct tsl_member *to);

/* submit.c */
cl_int remote_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                   struct tsl_fence **fence);
cl_int remote_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                      struct tsl_fence **fence);
cl_int remote_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int remote_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);

/* Without what its shared virtual memory needs. */
cl_int remote_launch_alone(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                           struct tsl_fence **fence);

/* memory.c */
struct remote_mem *remote_mem_of(const struct tsl_mem *mem);
cl_int remote_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
cl_int remote_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void remote_mem_free(struct tsl_mem *mem);
cl_int remote_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int remote_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                          struct tsl_mem **mem);
cl_int remote_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);

/* known.c */
/* Asks what depends on the program alone, BINARY or KERNEL, as remote_ask does; what was answered before isn't said
 * again. */
cl_int remote_ask_known(struct remote_program *program, struct tsl_remote_request *request, void **data, size_t *size);

/* other_code.c */
cl_int remote_windows_by(struct tsl_dprogram *program, const struct tsl_program_input *text);
cl_int remote_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                         char **log);

/* program.c */
/* What to build as a message says it, borrowed. */
void remote_describe(struct tsl_remote_build *build, const struct tsl_program_input *input);
cl_int remote_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                    char **log);
cl_int remote_compile(struct tsl_member *member, const struct tsl_program_input *input,
                      const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int remote_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                   char **log);
cl_int remote_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void remote_program_free(struct tsl_dprogram *program);
bool remote_program_variables(struct tsl_dprogram *program, size_t *size);
bool remote_program_of_text(struct tsl_dprogram *program);
cl_int remote_program_kernels(struct tsl_dprogram *program, char **names);
cl_int remote_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                            struct tsl_kernel_facts *facts);
void remote_kernel_free(struct tsl_dkernel *kernel);
bool remote_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);
bool remote_can_combine(struct tsl_member *member);

static inline struct remote_member *remote_member_of(const struct tsl_member *member)
{
    return (struct remote_member *)member;
}

#endif
