/*
 * Tiles: where the copies of a memory object's bytes are, and who is using them.
 *
 * A tile is a byte range with one state. A map of tiles is ordered and free of overlap; commands split tiles where they
 * must, equal neighbours merge again. Two kinds of maps use the same code:
 * - the directory of a root memory object: covers [0, size) always; `valid` says which spaces hold the current bytes;
 *   `uses` are the operations on their way that touch a member's copy;
 * - the host map of a context: ranges of host addresses that operations on their way touch, whoever owns that memory
 * (the application's pointers, mapped regions, our host copies: two operations conflict there if their addresses meet);
 *   `valid` is not used, ranges without uses are absent.
 *
 * Invariants (tests/unit/tile_test.c): ordered, no overlap; a directory covers its object; neighbours of a directory
 * differ in `valid` or in `uses`; a use of a finished operation says nothing and may vanish at any time.
 *
 * Locks: all under the graph's lock. Memory: tiles come from the process' heap; the functions return false when it is
 * exhausted, and then have changed nothing but splits.
 */
#ifndef TSL_TILE_TILE_H
#define TSL_TILE_TILE_H

#include "base/sets.h"

#include <bsd/sys/tree.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A space is a memory in which a copy can live: 0 is the host's, 1+i that of the context's member i. An object whose
 * memory lies on several members has one more, which is theirs together (graph/spread.h). The last stands for none: a
 * failure has left the bytes nowhere, and whoever reads them fails. */
#define TSL_SPACE_HOST      0u
#define TSL_SPACE_MEMBER(i) (1u + (i))
#define TSL_SPACE_SPREAD    (TSL_MAX_MEMBERS > 30 ? TSL_MAX_MEMBERS + 1u : 62u)
#define TSL_SPACE_LOST      (TSL_MAX_MEMBERS > 30 ? TSL_MAX_MEMBERS + 2u : 63u)

/* What a map needs to know of an operation; the first field of struct tsl_op (graph/op.h). */
struct tsl_user {
    unsigned refs;    /* by uses, edges, frontiers …; plain, under the graph's lock */
    bool done;        /* done: its uses say nothing any more. Set by tsl_user_end */
    const void *lane; /* operations of one lane finish in the order of `order`; NULL: no such promise */
    uint64_t order;   /* 0 until its place in the lane is fixed: after all that have theirs */
    uint64_t group; /* users of one group come in no order among each other, and claim with nobody between them; 0: the
                       user is alone */
};

/* So many users are done, ever and of all graphs: a tile that was pruned since needn't be looked at again. */
extern atomic_uint_fast64_t tsl_users_done;

static inline void tsl_user_end(struct tsl_user *user)
{
    user->done = true;
    atomic_fetch_add_explicit(&tsl_users_done, 1, memory_order_relaxed);
}

/* Called when the last reference to a user is dropped. */
void tsl_user_unref(struct tsl_user *user);
extern void (*tsl_user_free)(struct tsl_user *user); /* set once by the graph */

/* Will user be done after `before`, because they share a lane? */
bool tsl_user_after(const struct tsl_user *user, const struct tsl_user *before);
/* Are they two of one group? */
static inline bool tsl_user_beside(const struct tsl_user *user, const struct tsl_user *other)
{
    return user->group && user->group == other->group && user != other;
}

struct tsl_use {
    struct tsl_user *user; /* owned reference */
    uint16_t space;
    bool write;
    bool told;     /* the user won't write here, and the copy isn't taken for valid any more because of this use */
    bool partial;  /* the user touches a part of the tile alone, and left earlier uses in place */
    bool to_all;   /* one of several writes, one to each copy that is valid: it replaces no write before it */
    bool replaced; /* a write that a later one took over: what it brings is the later one's matter */
    bool left;     /* a write to a copy that was evicted since: later uses of the space have nothing to do with it */
    uint64_t only_for; /* a later use makes this one redundant for all but that group's users, of which it is one; 0: it
                          is redundant for nobody */
};

/* Is the use redundant for the user? */
static inline bool tsl_use_is_redundant(const struct tsl_use *use, const struct tsl_user *user)
{
    return use->only_for && (!user || use->only_for != user->group);
}

struct tsl_uses {
    unsigned n, capacity;
    struct tsl_use *list; /* inline_list, or heap when more */
    struct tsl_use inline_list[3];
};

/*
 * A rollback record: what was valid before an operation, which had the old bytes in its own copy, made that copy the
 * only valid one. If the operation fails, the tile goes back to this (rollback.c). Records form chains, the newest
 * first; the operation of a newer record fails if that of an older one does, or it claimed the tile beside that. Tiles
 * share records. When the operation of a record has ended well, nothing goes back to that record or to those behind it.
 */
struct tsl_rollback {
    unsigned refs;              /* tiles', and newer ones' */
    unsigned n;                 /* the chain has so many records from here, or fewer */
    struct tsl_user *user;      /* whose claim it was (owned reference) */
    unsigned space;             /* that of the copy which it claimed */
    unsigned copy;              /* which of those that the space has one after the other, with evictions between */
    tsl_spaces valid;           /* none: nothing that is known to be good */
    struct tsl_rollback *older; /* owned reference; NULL: none */
};

struct tsl_tile {
    RB_ENTRY(tsl_tile) node;
    uint64_t begin, end;           /* bytes (directory) or addresses (host map); begin < end */
    tsl_spaces valid;              /* where the current bytes are */
    struct tsl_rollback *rollback; /* owned reference; NULL: none */
    uint64_t restored; /* when the tile last went back to a rollback record, on the user's clock; 0: since then all of
                          it was claimed anew */
    uint64_t pruned;   /* tsl_users_done then */
    struct tsl_uses uses;
};

#define TSL_TILES_BEGINS 512u

struct tsl_tiles {
    RB_HEAD(tsl_tile_tree, tsl_tile) tree;
    struct tsl_tile *last; /* the tile found last: chains of commands ask for the same ranges again */
    /* Some of the tiles, by where they begin, as most are asked for by that: TSL_TILES_BEGINS places, of which each has
     * the last of its tiles or none. NULL: there are few tiles, or no memory. */
    struct tsl_tile **begins;
    size_t n;
    bool directory;
};

/* A directory of size bytes, all with that valid set; or an empty host map (size 0). */
bool tsl_tiles_init(struct tsl_tiles *tiles, uint64_t size, tsl_spaces valid, bool directory);
void tsl_tiles_finish(struct tsl_tiles *tiles);

/* Splits so that tiles begin at `begin` and end at `end` exactly, makes tiles for uncovered parts of a host map, and
 * returns the first tile of [begin, end) (begin < end), NULL without memory. */
struct tsl_tile *tsl_tiles_cut(struct tsl_tiles *tiles, uint64_t begin, uint64_t end);
/* The tile that begins where this one ends, while it lies before end; else NULL. */
struct tsl_tile *tsl_tiles_next(struct tsl_tile *tile, uint64_t end);
/* The tile that contains position, without splitting; NULL if none (host map). */
struct tsl_tile *tsl_tiles_at(struct tsl_tiles *tiles, uint64_t position);
/* The first tile that meets [begin, end), without splitting; NULL if none. Continue with tsl_tiles_next_meeting. */
struct tsl_tile *tsl_tiles_meeting(struct tsl_tiles *tiles, uint64_t begin, uint64_t end);
struct tsl_tile *tsl_tiles_next_meeting(struct tsl_tile *tile, uint64_t end);

/* Joins equal neighbours in and around [begin, end); drops tiles without uses from a host map. */
void tsl_tiles_join(struct tsl_tiles *tiles, uint64_t begin, uint64_t end);
/* A directory's tiles in [begin, end) of `size` bytes at most that have copies besides those of a neighbour forget
 * these and become one with it, where nobody uses either and neither goes back to a record; one with the neighbour
 * before also where that is used, if each of its uses may be taken for one of the tile's bytes, too. */
void tsl_tiles_absorb(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, uint64_t size,
                      bool (*may_grow)(const struct tsl_use *use));

/* Drops the uses of finished operations. */
void tsl_tile_prune(struct tsl_tile *tile);
/* Adds a use, and drops those that it makes redundant: an earlier use of the same lane and space that says no more; for
 * a write all uses of that space but those that are left, as whatever conflicts later waits for this writer, which
 * waits for them. Where the user is one of a group they stay for the others of the group, for which they are not
 * redundant; and uses of the group stay beside it. */
bool tsl_tile_use(struct tsl_tile *tile, struct tsl_user *user, unsigned space, bool write);
/* The same for a use that may be partial or one of several: of what tsl_tile_use would drop only those go of which
 * `covers` says that the new one says as much. */
typedef bool tsl_tile_covers(void *arg, const struct tsl_use *old);
bool tsl_tile_use_part(struct tsl_tile *tile, const struct tsl_use *use, tsl_tile_covers *covers, void *arg);
/* Adds a write without order: earlier uses stay. */
bool tsl_tile_use_too(struct tsl_tile *tile, struct tsl_user *user, unsigned space);
/* The user takes the space's copy away; its use is on the tile and comes after all others of that space. Earlier writes
 * stay until they are done, and are left: if one of them fails, moves that took the bytes on from this space must be
 * told. */
void tsl_tile_leave(struct tsl_tile *tile, const struct tsl_user *user, unsigned space);

/* The user is about to have the only valid copy of the tile, in that space; before, these were good. *like: NULL, or
 * the record of a tile before, by the same user: it serves again where it says the same. False: no memory. */
bool tsl_tile_keep(struct tsl_tile *tile, struct tsl_user *user, unsigned space, tsl_spaces valid,
                   struct tsl_rollback **like);
/* The record that the user kept; NULL: none, or the tile's state no longer comes from the user's claim. */
struct tsl_rollback *tsl_tile_kept(struct tsl_tile *tile, const struct tsl_user *user);
/* Drops that record of the tile's and all newer ones; NULL: all. */
void tsl_tile_unkeep(struct tsl_tile *tile, struct tsl_rollback *rollback);
/* Drops that record of the tile's alone. False: no memory. */
bool tsl_tile_unkeep_one(struct tsl_tile *tile, struct tsl_rollback *rollback);
/* The same; newer records that go back to its space go back to what it kept instead. */
bool tsl_tile_hand_on(struct tsl_tile *tile, struct tsl_rollback *rollback);
/* No record of the tile goes back to that space any more. */
void tsl_tile_spoil(struct tsl_tile *tile, unsigned space);
/* Do they say the same? */
bool tsl_rollback_equal(const struct tsl_rollback *a, const struct tsl_rollback *b);
struct tsl_rollback *tsl_rollback_ref(struct tsl_rollback *rollback); /* NULL allowed */

/* Checks the invariants; aborts if one is broken (tests, TESELA_CHECK=coherence). */
void tsl_tiles_check(const struct tsl_tiles *tiles, uint64_t size);

RB_PROTOTYPE(tsl_tile_tree, tsl_tile, node, tsl_tile_compare)

#endif
