/* piece.c: small pinned pieces, and what is due when work that uses one has ended. */
#ifndef TSL_CUDA_BRIDGE_PIECE_H
#define TSL_CUDA_BRIDGE_PIECE_H

#include "cuda_bridge/pin.h"

#define TSL_CUDA_PIECE_MAX \
    ((size_t)256 << 10) /* bytes; short writes take several, what is larger goes through the pipeline */

struct tsl_cuda_piece {
    void *host;
    struct tsl_cuda_block *block;
    struct tsl_cuda_piece *next; /* in the block's free ones */
};

/* Pinned memory that pieces of one class are cut from. All is guarded by pool_lock. */
struct tsl_cuda_block {
    struct tsl_cuda_pinned pinned;
    unsigned class; /* pieces' size is TSL_CUDA_PIECE_MAX >> class */
    unsigned n, n_free;
    struct tsl_cuda_piece *free;
    LIST_ENTRY(tsl_cuda_block) link;
    TAILQ_ENTRY(tsl_cuda_block) open_link; /* while it has free ones */
    struct tsl_cuda_piece pieces[];
};

/* A box of the application's memory, and its bytes packed in a piece. */
struct tsl_cuda_due {
    struct tsl_cuda_lane *lane; /* a reference */
    CUevent event;              /* recorded behind the copy between device and piece */
    uint64_t sent;              /* its number in the lane */
    uint64_t number;
    struct tsl_cuda_piece *piece;
    bool to_host;           /* copy the piece to place when the event is there; else only give the piece back */
    struct tsl_place place; /* host memory */
    size_t region[3];
    uintptr_t begin, end; /* of all of it */
    TAILQ_ENTRY(tsl_cuda_due) link;
};

/* A pinned piece of at least size bytes (at most TSL_CUDA_PIECE_MAX); entered. NULL: no memory. */
struct tsl_cuda_piece *tsl_cuda_piece_get(struct tsl_cuda_member *member, size_t size);
void tsl_cuda_piece_put(struct tsl_cuda_member *member, struct tsl_cuda_piece *piece);
void tsl_cuda_pieces_init(struct tsl_cuda_member *member);
/* Gives back unused blocks, if they are too many. Not entered; in the bridge thread, as CUDA may wait. */
void tsl_cuda_pieces_trim(struct tsl_cuda_member *member);
void tsl_cuda_pieces_finish(struct tsl_cuda_member *member);

/* Records the due behind what was submitted to the lane; takes it over. On error nothing was recorded, and the due
 * is still the caller's. Entered, lane->lock held. */
cl_int tsl_cuda_due_add(struct tsl_cuda_lane *lane, struct tsl_cuda_due *due);
/* Does all dues up to the number whose work has ended. Entered. */
void tsl_cuda_dues_run(struct tsl_cuda_member *member, uint64_t up_to);
/* Does the oldest dues as far as their work has ended: keeps the list short. Entered. */
void tsl_cuda_dues_collect(struct tsl_cuda_member *member);
/* Is a due left that will write there? Does those that can be done first. Entered. */
bool tsl_cuda_dues_meet(struct tsl_cuda_member *member, const struct tsl_place *place, const size_t region[3]);
/* The number of the newest due of a read; 0: none is left. What a write is due, its piece, nobody waits for. */
uint64_t tsl_cuda_dues_now(struct tsl_cuda_member *member);

/* Copy the box of the place to and from packed bytes. */
void tsl_cuda_pack(void *packed, const struct tsl_place *place, const size_t region[3]);
void tsl_cuda_unpack(const struct tsl_place *place, const void *packed, const size_t region[3]);

#endif
