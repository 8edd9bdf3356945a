/*
 * What the library, tesela-head and the nodes say to each other (docs/dev/nodes.md).
 *
 * A program's library has one stream socket to the head of its job, and memory that both share; the head has MPI to
 * each node. What travels on either is frames; a frame of messages carries requests to a node, or its replies, which
 * the head hands on unread. All that one program says to one node, and the other way, arrives in the order in which it
 * was said.
 *
 * Requests need no reply, but for those that ask something (answer > 0). The program chooses the numbers of what it
 * makes (lanes, memory, programs, kernels, work), never 0 and never one twice; members are named by their place in
 * MEMBERS. Work (COPY to MARK) of a lane is done in the order of its requests, each after what it waits for. DONE tells
 * how it ended, if it was asked to; a node forgets it when FENCE_FREE comes, or at its end if nobody may name it.
 *
 * Data of a WRITE or a READ, TSL_REMOTE_PIECE bytes at most, are a box's rows without gaps. They stand in the message
 * itself, up to TSL_REMOTE_INLINE bytes; else the next PAYLOAD frame has them: by the socket in a slot of the shared
 * memory, by MPI as a message of their own. A WRITE may come before its data, which DATA brings.
 *
 * Nodes speak with each other as well, about one program's memory: what a PULL needs its node asks the other for, by a
 * READ without a lane, and gets READ_IS, whose data stand behind it in the same frame. Waits of such a READ are the
 * other node's work. No reply is lost but with a node. Both may name ranges, at the same places of either memory, in
 * the place of a box: their bytes follow each other in the data. OPEN tells that work has ended well which is to open a
 * gate (OPENS). The program opens that gate, too, whatever happened: the first one counts.
 *
 * What a program is made of, the content of BUILD, COMPILE, WINDOWS_BY and SUBSTITUTE, has a digest and is only said to
 * a node that lacks it.
 * The other way BINARY and KERNEL have the digest of the answer that was had before, which isn't said again.
 *
 * Numbers are little-endian. Neither side trusts the other's bytes: a decode is safe on any, allocates no more than a
 * small constant times their number, and leaves nothing to free when it returns false. Both sides speak one version
 * alone; HELLO, whose layout stays for ever, is where another is refused.
 */
#ifndef TSL_REMOTE_PROTOCOL_H
#define TSL_REMOTE_PROTOCOL_H

#include "base/bytes.h"
#include "compile_client/digest.h"
#include "driver/driver.h"
#include "facts/il.h"
#include "facts/kernel_facts.h"
#include "remote/memory_file.h"

#define TSL_REMOTE_MAGIC   0x4e4c5354u /* "TSLN" */
#define TSL_REMOTE_VERSION 12u

#define TSL_REMOTE_INLINE     ((size_t)8 << 10)   /* bytes of data within a message */
#define TSL_REMOTE_PIECE      ((size_t)1 << 20)   /* bytes of data of one piece of work, and of a slot */
#define TSL_REMOTE_N_SLOTS    16u                 /* each way, of a program */
#define TSL_REMOTE_MAX_FRAME  ((size_t)300 << 20) /* bytes of messages */
#define TSL_REMOTE_MAX_NODES  256u
#define TSL_REMOTE_MAX_WAITS  65536u
#define TSL_REMOTE_MAX_ARGS   4096u
#define TSL_REMOTE_MAX_RANGES 4096u
#define TSL_REMOTE_MAX_PARTS  65536u /* headers of a compilation, programs that are linked */

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

enum tsl_remote_frame_kind {
    TSL_REMOTE_HELLO = 1,    /* each side's first: struct tsl_remote_hello */
    TSL_REMOTE_MESSAGES = 2, /* size bytes of requests or replies follow */
    TSL_REMOTE_PAYLOAD = 3,  /* size bytes of data: in the sender's slot, or the next message that MPI brings */
    TSL_REMOTE_SLOT = 4,     /* socket: what was in that slot of the receiver's was taken */
    TSL_REMOTE_LOST = 5,     /* head to program, and to nodes: node `peer` is gone; size bytes of text tell why */
    TSL_REMOTE_BYE = 6,      /* head to node: that program is gone, with all that it made */
    TSL_REMOTE_QUIT = 7,     /* head to node: the job ends; node to head: it has sent all; head to node: so have all */
    TSL_REMOTE_BEAT = 8,     /* node to head, head to program: it lives; each second */
    TSL_REMOTE_PEER = 9,     /* node to node: size bytes, a READ or its reply, and data behind that */
    TSL_REMOTE_BELL = 10,    /* node to head: its bell, struct bell_is; head to node: that of rank `peer` */
    TSL_REMOTE_LAST_FRAME = TSL_REMOTE_BELL,
};

#define TSL_REMOTE_FRAME_SIZE 16u

struct tsl_remote_frame {
    enum tsl_remote_frame_kind kind;
    uint32_t peer; /* socket: the node; MPI: the program */
    uint32_t slot;
    uint32_t size; /* bytes that follow, of PAYLOAD elsewhere */
};

void tsl_remote_put_frame(uint8_t bytes[TSL_REMOTE_FRAME_SIZE], const struct tsl_remote_frame *frame);
/* False: no frame of ours. */
bool tsl_remote_get_frame(const uint8_t bytes[TSL_REMOTE_FRAME_SIZE], struct tsl_remote_frame *frame);

/* Memory for requests and replies that is kept: what a large one took is given back. */
#define TSL_REMOTE_KEPT ((size_t)1 << 20)

/* Empties it. */
void tsl_remote_reuse(struct tsl_writer *writer);
/* The same for a buffer of *capacity bytes of which so many are in use. */
void tsl_remote_shrink(uint8_t **data, size_t *capacity, size_t used);

struct tsl_remote_hello {
    uint32_t version;
    char *name;       /* of the program that speaks, with its version */
    char *host;       /* of a node: the machine's name; else "" */
    uint64_t host_id; /* differs between machines; never 0 */
    uint32_t n_nodes; /* of a head */
};

void tsl_remote_put_hello(struct tsl_writer *writer, const struct tsl_remote_hello *hello);
/* True with another version, too: name and host are only read of our own. */
bool tsl_remote_get_hello(const void *data, size_t size, struct tsl_remote_hello *hello);
void tsl_remote_hello_finish(struct tsl_remote_hello *hello);
/* Seconds after which a node, or the head, that is not heard counts as lost: TESELA_NODES_SILENCE. */
unsigned tsl_remote_silence(void);
/* This machine's, as it is since its start. */
uint64_t tsl_remote_host_id(void);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

enum tsl_remote_request_kind {
    TSL_REMOTE_MEMBERS = 1, /* asks: struct tsl_remote_member of each */
    TSL_REMOTE_INFO,        /* asks for param of member: the bytes */
    TSL_REMOTE_FORMATS,     /* asks for image formats of type and flags: cl_image_format of each */
    TSL_REMOTE_PING,        /* asks: the reply has the node's time */

    TSL_REMOTE_LANE, /* id on member; flags: enum tsl_lane_use */
    TSL_REMOTE_LANE_FREE,
    TSL_REMOTE_FLUSH,
    TSL_REMOTE_FINISH, /* asks: the error of finish */

    TSL_REMOTE_ALLOC,    /* id on member, size, flags; may ask */
    TSL_REMOTE_SUB,      /* id of `of`, offset, size */
    TSL_REMOTE_IMAGE,    /* id on member, image, flags; may ask */
    TSL_REMOTE_IMAGE_OF, /* id of `of`, image */
    TSL_REMOTE_SVM, /* id on member, size, of: alignment, offset: the address, 0: the driver's; asks: the address */
    TSL_REMOTE_MEM_FREE,

    TSL_REMOTE_COPY,    /* dst, src, region */
    TSL_REMOTE_WRITE,   /* dst, region, data or later */
    TSL_REMOTE_READ,    /* src, region */
    TSL_REMOTE_PULL,    /* dst, src (memory of node `of`), region or ranges: a piece; goes_on */
    TSL_REMOTE_FILL,    /* dst, region, data: the pattern */
    TSL_REMOTE_COMBINE, /* dst, src, other, before: memory and offset; size, width, how */
    TSL_REMOTE_LAUNCH,  /* of: the kernel; window; args, or those of the kernel's last launch */
    TSL_REMOTE_MARK,

    TSL_REMOTE_GATE,       /* id on member */
    TSL_REMOTE_OPEN,       /* id, status */
    TSL_REMOTE_FENCE_FREE, /* id */
    TSL_REMOTE_DATA,       /* id: a WRITE; data, or slot: they are there, or a payload of size bytes comes next */
    TSL_REMOTE_OPENS,      /* when work id has ended well, gate `of` of node param opens */
    TSL_REMOTE_OPENED_BY,  /* gate id opens when work `of` of node param has ended well */

    TSL_REMOTE_COMMON,           /* asks: struct tsl_memory_file */
    TSL_REMOTE_COMMON_IS_MAPPED, /* data may go there from now on */
    TSL_REMOTE_SLOT_IS_FREE,     /* slot: what a READ brought there was taken */

    TSL_REMOTE_BUILD,   /* id on member, digest of its content; data: that, or nothing; asks: struct tsl_remote_built */
    TSL_REMOTE_COMPILE, /* the same; its content has headers, too */
    TSL_REMOTE_LINK,    /* id on member, text: options, programs of COMPILE; asks as BUILD */
    TSL_REMOTE_BINARY,  /* of program `of`; digest: of the answer that is known, or 0; asks */
    TSL_REMOTE_PROGRAM_FREE,
    TSL_REMOTE_KERNEL, /* id of program `of`, text: its name, digest as BINARY's; asks: its facts */
    TSL_REMOTE_KERNEL_FREE,
    TSL_REMOTE_WINDOWS, /* asks: may kernel `of` with data (facts) run in windows? */
    TSL_REMOTE_CAN_COMBINE,
    TSL_REMOTE_WINDOWS_BY, /* of program `of`, digest of the text's content; data as BUILD's; asks */
    TSL_REMOTE_SUBSTITUTE, /* id of kernel `of`, text: the function, digest; code as data, as BUILD's content; or file:
                              name, library (whose bytes have the digest), size: align, trial; asks: the log */
    TSL_REMOTE_LAST_REQUEST = TSL_REMOTE_SUBSTITUTE,
};

struct tsl_remote_place {
    uint64_t mem, offset, row_pitch, slice_pitch;
};

struct tsl_remote_arg {
    enum tsl_arg_kind kind;
    uint64_t mem, size;
    const void *value; /* of VALUE, SAMPLER, SVM: size bytes; borrowed from the message when decoded */
    bool has_part;
    struct tsl_bound_part part;
};

/* Shared virtual memory that a launch may touch. */
struct tsl_remote_bound_svm {
    uint64_t mem;
    bool unnamed;
};

struct tsl_remote_build {
    uint32_t kind; /* enum tsl_program_kind */
    bool foreign, has_text;
    const void *data, *text; /* borrowed from the message when decoded */
    size_t size, text_size;
    char *options, *text_options; /* NULL without a text */
    uint32_t n_specials;
    struct tsl_program_special *specials;
};

/* What #include finds. */
struct tsl_remote_header {
    char *name;
    const void *text; /* borrowed from the message when decoded */
    size_t size;
};

/* Of all kinds; what a kind has is said above. */
struct tsl_remote_request {
    enum tsl_remote_request_kind kind;
    uint32_t answer; /* the number of the reply that is awaited; 0: none */
    uint32_t member;
    uint64_t id, of;
    uint64_t offset, size, flags;
    uint32_t param;
    uint32_t slot; /* of the common memory, its number and one; 0: none */
    cl_int status;

    /* Of work. */
    uint64_t lane;
    bool named, tell; /* later work may wait for it; DONE is wanted */
    uint32_t n_waits;
    uint64_t *waits;
    struct tsl_remote_place dst, src, other, before;
    uint64_t region[3];
    uint32_t n_ranges; /* > 0: these instead of a region, and instead of offsets and pitches */
    struct tsl_range_of_bytes *ranges;
    bool loose, later;
    bool goes_on; /* what a PULL waits for is only the one before it, of the same copy */
    uint32_t width, how;
    const void *data; /* borrowed from the message when decoded */
    size_t data_size;
    struct tsl_image_desc image;
    struct tsl_window window;
    bool has_args;
    uint32_t n_args, n_svm;
    struct tsl_remote_arg *args;
    struct tsl_remote_bound_svm *svm;

    char *text;
    bool is_file, trial;
    char *name, *library; /* NULL but of a file */
    uint8_t digest[TSL_DIGEST_SIZE];
    uint32_t n_programs;
    uint64_t *programs;
    struct tsl_remote_build build; /* of a content, with the headers */
    uint32_t n_headers;
    struct tsl_remote_header *headers;
};

static inline bool tsl_remote_is_work(enum tsl_remote_request_kind kind)
{
    return kind >= TSL_REMOTE_COPY && kind <= TSL_REMOTE_MARK;
}

/* Is a part of it, made of its data, known by its digest? */
static inline bool tsl_remote_has_content(enum tsl_remote_request_kind kind)
{
    return kind == TSL_REMOTE_BUILD || kind == TSL_REMOTE_COMPILE || kind == TSL_REMOTE_WINDOWS_BY ||
           kind == TSL_REMOTE_SUBSTITUTE;
}

/* A whole request behind others. Failures stay in writer->failed. */
void tsl_remote_put_request(struct tsl_writer *writer, const struct tsl_remote_request *request);
/* The next of a frame's messages. True: the structure is the caller's to finish. */
bool tsl_remote_get_request(struct tsl_reader *reader, struct tsl_remote_request *request);
void tsl_remote_request_finish(struct tsl_remote_request *request);

/* What a BUILD, COMPILE or WINDOWS_BY makes a program of, build and headers, as bytes. get: the request, whose kind is
 * set, borrows from the data, and is to be finished whatever is returned. */
void tsl_remote_put_content(struct tsl_writer *writer, const struct tsl_remote_request *request);
bool tsl_remote_get_content(const void *data, size_t size, struct tsl_remote_request *request);
void tsl_remote_digest(const void *data, size_t size, uint8_t digest[TSL_DIGEST_SIZE]);
/* Of the bytes of a file. False: it can't be read, or is a pipe, a device, a folder. */
bool tsl_remote_digest_file(const char *path, uint8_t digest[TSL_DIGEST_SIZE]);

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

enum tsl_remote_reply_kind {
    TSL_REMOTE_DONE = 1, /* id: the work; status; its times, if there are */
    TSL_REMOTE_READ_IS,  /* id: the READ; data, or slot: they are there, or a payload of size bytes comes next */
    TSL_REMOTE_TAKEN,    /* size bytes of data that were sent lie in no staging any more; slot: nor in that one */
    TSL_REMOTE_ANSWER,   /* id: the request's number; status; data */
    TSL_REMOTE_MEMBER,   /* id: the member; it is lost, as data says */
    TSL_REMOTE_LAST_REPLY = TSL_REMOTE_MEMBER,
};

struct tsl_remote_reply {
    enum tsl_remote_reply_kind kind;
    cl_int status;
    bool has_times;
    uint32_t slot; /* as a request's */
    uint64_t id, size;
    uint64_t start_ns, end_ns, now_ns; /* of the node's clock; now: when the reply was made */
    const void *data;                  /* borrowed from the message when decoded */
    size_t data_size;
};

/* Statuses of an ANSWER beside OpenCL's. */
enum {
    TSL_REMOTE_LACKS = 1, /* the node has no such content: the request is made again, with that */
    TSL_REMOTE_SAME = 2,  /* the answer has the request's digest */
};

void tsl_remote_put_reply(struct tsl_writer *writer, const struct tsl_remote_reply *reply);
bool tsl_remote_get_reply(struct tsl_reader *reader, struct tsl_remote_reply *reply);

/* ---- What answers hold ------------------------------------------------------------------------------------------- */

/* Shared virtual memory that a member has: nothing, at any address that a program names, or where its driver likes. */
enum tsl_remote_svm { TSL_REMOTE_SVM_NONE, TSL_REMOTE_SVM_ANYWHERE, TSL_REMOTE_SVM_OWN };

struct tsl_remote_member {
    char *driver, *id, *platform_name, *device_name, *driver_version;
    cl_device_type type;
    struct tsl_identity identity;
    struct tsl_member_caps caps;                                               /* those that make sense elsewhere */
    bool windows, combines, images, variables, links, windows_by, substitutes; /* its driver has the operations */
    enum tsl_remote_svm svm;
    uint32_t peers; /* members of the node with whose memory it copies, as bits */
};

void tsl_remote_put_member(struct tsl_writer *writer, const struct tsl_remote_member *member);
bool tsl_remote_get_member(struct tsl_reader *reader, struct tsl_remote_member *member);
void tsl_remote_member_finish(struct tsl_remote_member *member);

/* Memory that a node offers a program of its machine (tsl_memory_file): behind TSL_REMOTE_COMMON_HEAD bytes the
 * program's slots, then the node's. Who has a slot says in which one data are; it is theirs again when the other side
 * says so. */
#define TSL_REMOTE_N_COMMON    16u /* slots each way */
#define TSL_REMOTE_COMMON_HEAD ((size_t)4096)
#define TSL_REMOTE_COMMON_SIZE (TSL_REMOTE_COMMON_HEAD + 2 * TSL_REMOTE_N_COMMON * TSL_REMOTE_PIECE)
#define TSL_REMOTE_COMMON_NAME "tesela-common" /* of the file */

struct tsl_remote_built {
    char *log, *kernels; /* names, as program_kernels gives them; NULL: none */
    bool has_variables, of_text;
    uint64_t variables_size;
};

void tsl_remote_put_built(struct tsl_writer *writer, const struct tsl_remote_built *built);
bool tsl_remote_get_built(struct tsl_reader *reader, struct tsl_remote_built *built);
void tsl_remote_built_finish(struct tsl_remote_built *built);

/* All that the contract's facts have, more than the compiler's wire carries. get: false leaves nothing to finish. */
void tsl_remote_put_facts(struct tsl_writer *writer, const struct tsl_kernel_facts *facts);
bool tsl_remote_get_facts(struct tsl_reader *reader, struct tsl_kernel_facts *facts);

#endif
