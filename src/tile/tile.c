/* The map of tiles: ordering, splitting, joining, and the uses on a tile. The graph decides what these mean. */
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

void (*tsl_user_free)(struct tsl_user *user);

static int tsl_tile_compare(const struct tsl_tile *a, const struct tsl_tile *b)
{
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

RB_GENERATE(tsl_tile_tree, tsl_tile, node, tsl_tile_compare)

void tsl_user_unref(struct tsl_user *user)
{
    if (--user->refs == 0)
        tsl_user_free(user);
}

bool tsl_user_after(const struct tsl_user *user, const struct tsl_user *before)
{
    return user->lane && user->lane == before->lane && before->order &&
           (user->order == 0 || user->order >= before->order);
}

/* ---- Uses ------------------------------------------------------------------------------------------------------- */

static void uses_init(struct tsl_uses *uses)
{
    uses->n = 0;
    uses->capacity = sizeof(uses->inline_list) / sizeof(uses->inline_list[0]);
    uses->list = uses->inline_list;
}

static void uses_finish(struct tsl_uses *uses)
{
    for (unsigned i = 0; i < uses->n; i++)
        tsl_user_unref(uses->list[i].user);
    if (uses->list != uses->inline_list)
        free(uses->list);
    uses_init(uses);
}

static bool uses_reserve(struct tsl_uses *uses, unsigned n)
{
    if (n <= uses->capacity)
        return true;
    unsigned capacity = n < 2 * uses->capacity ? 2 * uses->capacity : n;
    struct tsl_use *list = malloc(capacity * sizeof(*list));
    if (!list)
        return false;
    memcpy(list, uses->list, uses->n * sizeof(*list));
    if (uses->list != uses->inline_list)
        free(uses->list);
    uses->list = list;
    uses->capacity = capacity;
    return true;
}

static bool uses_copy(struct tsl_uses *to, const struct tsl_uses *from)
{
    uses_init(to);
    if (!uses_reserve(to, from->n))
        return false;
    memcpy(to->list, from->list, from->n * sizeof(*from->list));
    to->n = from->n;
    for (unsigned i = 0; i < to->n; i++)
        to->list[i].user->refs++;
    return true;
}

static bool uses_have(const struct tsl_uses *uses, const struct tsl_use *use)
{
    for (unsigned i = 0; i < uses->n; i++) {
        const struct tsl_use *u = &uses->list[i];
        if (u->user == use->user && u->space == use->space && u->write == use->write && u->told == use->told &&
            u->partial == use->partial && u->replaced == use->replaced && u->left == use->left &&
            u->only_for == use->only_for)
            return true;
    }
    return false;
}

/* Are the lists equal but for their order? There are no duplicates. */
static bool uses_equal(const struct tsl_uses *a, const struct tsl_uses *b)
{
    if (a->n != b->n)
        return false;
    for (unsigned i = 0; i < a->n; i++)
        if (!uses_have(b, &a->list[i]))
            return false;
    return true;
}

/* Does the new use say all that the old one says? A later operation of the same lane finishes later. */
static bool use_covers(const struct tsl_use *new, const struct tsl_use *old)
{
    if (old->user->done)
        return true;
    if (old->space != new->space || old->left || tsl_user_beside(new->user, old->user))
        return false;
    if (new->write || tsl_use_is_redundant(old, new->user))
        return true;
    return !old->write && tsl_user_after(new->user, old->user);
}

static void uses_remove(struct tsl_uses *uses, unsigned i)
{
    struct tsl_user *user = uses->list[i].user;
    uses->list[i] = uses->list[--uses->n];
    tsl_user_unref(user);
}

/* Which uses are within the part of the tile that a new use is about. */
struct part {
    tsl_tile_covers *covers; /* NULL: it is about the whole tile */
    void *arg;
};

/* Takes away what the new use makes redundant. */
static void uses_hide(struct tsl_uses *uses, const struct tsl_use *new, const struct part *part)
{
    for (unsigned i = uses->n; i-- > 0;) {
        struct tsl_use *old = &uses->list[i];
        if (!use_covers(new, old))
            continue;
        bool hidden = old->user->done || tsl_use_is_redundant(old, new->user);
        bool stays = !hidden && part->covers && !part->covers(part->arg, old);
        bool for_group = !hidden && !stays && new->user->group && old->user != new->user;
        old->replaced |= new->write && !new->to_all;
        if (for_group)
            old->only_for = new->user->group;
        else if (!stays)
            uses_remove(uses, i);
    }
}

atomic_uint_fast64_t tsl_users_done;

void tsl_tile_prune(struct tsl_tile *tile)
{
    const uint64_t n_done = atomic_load_explicit(&tsl_users_done, memory_order_relaxed);

    if (tile->rollback && tile->rollback->user->done)
        tsl_tile_unkeep(tile, NULL);
    if (tile->pruned == n_done)
        return;
    tile->pruned = n_done;
    for (unsigned i = tile->uses.n; i-- > 0;)
        if (tile->uses.list[i].user->done)
            uses_remove(&tile->uses, i);
}

/* The same operation may touch the tile twice, through two arguments. */
static bool is_used_so(const struct tsl_tile *tile, const struct tsl_use *use)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *u = &tile->uses.list[i];
        if (u->user == use->user && u->space == use->space && (u->write || !use->write) && u->partial <= use->partial)
            return true;
    }
    return false;
}

static bool use_tile(struct tsl_tile *tile, const struct tsl_use *use, const struct part *part)
{
    if (use->user->done || is_used_so(tile, use))
        return true;
    if (!uses_reserve(&tile->uses, tile->uses.n + 1))
        return false;
    use->user->refs++; /* Before the old uses go: one of them may be the user's own. */
    uses_hide(&tile->uses, use, part);
    tile->uses.list[tile->uses.n++] = *use;
    return true;
}

bool tsl_tile_use(struct tsl_tile *tile, struct tsl_user *user, unsigned space, bool write)
{
    struct tsl_use use = {.user = user, .space = (uint16_t)space, .write = write};
    return use_tile(tile, &use, &(struct part){NULL, NULL});
}

bool tsl_tile_use_part(struct tsl_tile *tile, const struct tsl_use *use, tsl_tile_covers *covers, void *arg)
{
    return use_tile(tile, use, &(struct part){covers, arg});
}

bool tsl_tile_use_too(struct tsl_tile *tile, struct tsl_user *user, unsigned space)
{
    struct tsl_use use = {.user = user, .space = (uint16_t)space, .write = true};
    if (user->done || uses_have(&tile->uses, &use))
        return true;
    if (!uses_reserve(&tile->uses, tile->uses.n + 1))
        return false;
    user->refs++;
    tile->uses.list[tile->uses.n++] = use;
    return true;
}

void tsl_tile_leave(struct tsl_tile *tile, const struct tsl_user *user, unsigned space)
{
    for (unsigned i = tile->uses.n; i-- > 0;) {
        struct tsl_use *use = &tile->uses.list[i];
        if (use->space != space || use->user == user)
            continue;
        if (use->write)
            use->left = true;
        else
            uses_remove(&tile->uses, i);
    }
}

/* ---- Tiles ------------------------------------------------------------------------------------------------------ */

/* So many tiles are found as fast in the tree. */
#define FEW_TILES 32

static struct tsl_tile **place_of(const struct tsl_tiles *tiles, uint64_t begin)
{
    return &tiles->begins[begin * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (TSL_TILES_BEGINS - 1)];
}

static void note_begin(struct tsl_tiles *tiles, struct tsl_tile *tile)
{
    if (!tiles->begins && tiles->n > FEW_TILES)
        tiles->begins = calloc(TSL_TILES_BEGINS, sizeof(struct tsl_tile *));
    if (tiles->begins)
        *place_of(tiles, tile->begin) = tile;
}

static void forget_begin(struct tsl_tiles *tiles, const struct tsl_tile *tile)
{
    if (tiles->begins && *place_of(tiles, tile->begin) == tile)
        *place_of(tiles, tile->begin) = NULL;
}

static struct tsl_tile *tile_insert(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, tsl_spaces valid)
{
    struct tsl_tile *tile = malloc(sizeof(*tile));
    if (!tile)
        return NULL;
    tile->begin = begin;
    tile->end = end;
    tile->valid = valid;
    tile->rollback = NULL;
    tile->restored = 0;
    tile->pruned = 0;
    uses_init(&tile->uses);
    RB_INSERT(tsl_tile_tree, &tiles->tree, tile);
    tiles->n++;
    note_begin(tiles, tile);
    return tile;
}

static void tile_remove(struct tsl_tiles *tiles, struct tsl_tile *tile)
{
    if (tiles->last == tile)
        tiles->last = NULL;
    forget_begin(tiles, tile);
    RB_REMOVE(tsl_tile_tree, &tiles->tree, tile);
    tiles->n--;
    tsl_tile_unkeep(tile, NULL);
    uses_finish(&tile->uses);
    free(tile);
}

bool tsl_tiles_init(struct tsl_tiles *tiles, uint64_t size, tsl_spaces valid, bool directory)
{
    *tiles = (struct tsl_tiles){.directory = directory};
    RB_INIT(&tiles->tree);
    return size == 0 || tile_insert(tiles, 0, size, valid);
}

void tsl_tiles_finish(struct tsl_tiles *tiles)
{
    struct tsl_tile *tile;
    while ((tile = RB_ROOT(&tiles->tree)))
        tile_remove(tiles, tile);
    free(tiles->begins);
    tiles->begins = NULL;
}

/* The last tile that begins at or before position; NULL if none does. Not within its callers, which need it rarely. */
static __attribute__((noinline)) struct tsl_tile *tile_before(struct tsl_tiles *tiles, uint64_t position)
{
    struct tsl_tile key = {.begin = position};
    struct tsl_tile *noted = tiles->begins ? *place_of(tiles, position) : NULL;
    if (noted && noted->begin == position)
        return noted;
    struct tsl_tile *after = RB_NFIND(tsl_tile_tree, &tiles->tree, &key);
    if (after && after->begin == position) {
        note_begin(tiles, after);
        return after;
    }
    return after ? RB_PREV(tsl_tile_tree, &tiles->tree, after) : RB_MAX(tsl_tile_tree, &tiles->tree);
}

struct tsl_tile *tsl_tiles_at(struct tsl_tiles *tiles, uint64_t position)
{
    struct tsl_tile *tile = tiles->last;
    if (!tile || position < tile->begin || position >= tile->end)
        tile = tile_before(tiles, position);
    if (!tile || position >= tile->end)
        return NULL;
    return tiles->last = tile;
}

struct tsl_tile *tsl_tiles_meeting(struct tsl_tiles *tiles, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_at(tiles, begin);
    if (tile)
        return tile;
    struct tsl_tile key = {.begin = begin};
    tile = RB_NFIND(tsl_tile_tree, &tiles->tree, &key);
    return tile && tile->begin < end ? tile : NULL;
}

struct tsl_tile *tsl_tiles_next_meeting(struct tsl_tile *tile, uint64_t end)
{
    tile = RB_NEXT(tsl_tile_tree, NULL, tile);
    return tile && tile->begin < end ? tile : NULL;
}

struct tsl_tile *tsl_tiles_next(struct tsl_tile *tile, uint64_t end)
{
    return tile->end < end ? RB_NEXT(tsl_tile_tree, NULL, tile) : NULL;
}

/* Makes position a border between tiles (where one covers it). *at: the tile that begins there, if one does. */
static bool split(struct tsl_tiles *tiles, uint64_t position, struct tsl_tile **at)
{
    struct tsl_tile *left = tsl_tiles_at(tiles, position);
    *at = left;
    if (!left || left->begin == position)
        return true;
    struct tsl_uses uses;
    if (!uses_copy(&uses, &left->uses))
        return false;
    uint64_t end = left->end;
    left->end = position;
    struct tsl_tile *right = tile_insert(tiles, position, end, left->valid);
    if (!right) {
        left->end = end;
        uses_finish(&uses);
        return false;
    }
    right->rollback = tsl_rollback_ref(left->rollback);
    right->restored = left->restored;
    right->pruned = left->pruned;
    right->uses = uses;
    if (uses.list == uses.inline_list)
        right->uses.list = right->uses.inline_list;
    *at = right;
    return true;
}

/* Covers the gaps of a host map in [begin, end). */
static bool fill_gaps(struct tsl_tiles *tiles, uint64_t begin, uint64_t end)
{
    while (begin < end) {
        struct tsl_tile *tile = tsl_tiles_meeting(tiles, begin, end);
        uint64_t gap_end = tile ? tile->begin : end;
        if (gap_end > begin && !tile_insert(tiles, begin, gap_end, TSL_SPACES_NONE))
            return false;
        begin = tile ? tile->end : end;
    }
    return true;
}

static struct tsl_tile *cut_apart(struct tsl_tiles *tiles, uint64_t begin, uint64_t end)
{
    struct tsl_tile *first, *behind;
    if (!split(tiles, begin, &first))
        return NULL;
    if (!(first && first->end == end) && !split(tiles, end, &behind))
        return NULL;
    if (tiles->directory)
        return first;
    return fill_gaps(tiles, begin, end) ? tsl_tiles_at(tiles, begin) : NULL;
}

struct tsl_tile *tsl_tiles_cut(struct tsl_tiles *tiles, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_at(tiles, begin);
    if (tile && tile->begin == begin && tile->end == end)
        return tile;
    return cut_apart(tiles, begin, end);
}

static bool joinable(const struct tsl_tile *left, const struct tsl_tile *right)
{
    return left->end == right->begin && tsl_spaces_are(left->valid, right->valid) &&
           uses_equal(&left->uses, &right->uses) && left->restored == right->restored &&
           tsl_rollback_equal(left->rollback, right->rollback);
}

/* Joins the tile with what follows it; returns the tile after which to go on, NULL at the end. */
static struct tsl_tile *join_step(struct tsl_tiles *tiles, struct tsl_tile *tile)
{
    struct tsl_tile *next = RB_NEXT(tsl_tile_tree, NULL, tile);
    if (next)
        tsl_tile_prune(next);
    if (!tiles->directory && tile->uses.n == 0) {
        tile_remove(tiles, tile);
        return next;
    }
    if (!next || !joinable(tile, next))
        return next;
    uint64_t end = next->end;
    tile_remove(tiles, next);
    tile->end = end;
    return tile;
}

void tsl_tiles_join(struct tsl_tiles *tiles, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(tiles, begin, end);
    bool first = !tile || tile->begin < begin || tiles->n == 1;
    struct tsl_tile *before = first ? NULL : RB_PREV(tsl_tile_tree, NULL, tile);
    if (before && before->end == begin)
        tile = before;
    if (tile)
        tsl_tile_prune(tile);
    while (tile && tile->begin < end)
        tile = join_step(tiles, tile);
}

static bool is_quiet(struct tsl_tile *tile)
{
    tsl_tile_prune(tile);
    return tile->uses.n == 0 && !tile->rollback;
}

/* Are the neighbour's copies some of the tile's, and none of its bytes' go back to a record? */
static bool may_absorb(const struct tsl_tile *neighbour, const struct tsl_tile *tile)
{
    return neighbour && !tsl_spaces_is_empty(neighbour->valid) && !neighbour->rollback &&
           tsl_spaces_is_empty(tsl_spaces_without(neighbour->valid, tile->valid)) &&
           neighbour->restored == tile->restored;
}

static bool all_may_grow(const struct tsl_tile *tile, bool (*may_grow)(const struct tsl_use *use))
{
    for (unsigned i = 0; i < tile->uses.n; i++)
        if (!may_grow(&tile->uses.list[i]))
            return false;
    return true;
}

/* Does the tile become a part of the one before? */
static bool is_grown_over(struct tsl_tiles *tiles, struct tsl_tile *before, struct tsl_tile *tile,
                          bool (*may_grow)(const struct tsl_use *use))
{
    if (!may_absorb(before, tile) || !all_may_grow(before, may_grow))
        return false;
    before->end = tile->end;
    tile_remove(tiles, tile);
    return true;
}

void tsl_tiles_absorb(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, uint64_t size,
                      bool (*may_grow)(const struct tsl_use *use))
{
    struct tsl_tile *tile = tsl_tiles_meeting(tiles, begin, end), *next;
    struct tsl_tile *before = tile ? RB_PREV(tsl_tile_tree, NULL, tile) : NULL;
    if (before)
        tsl_tile_prune(before);
    for (; tile && tile->begin < end; tile = next) {
        next = RB_NEXT(tsl_tile_tree, NULL, tile);
        bool is_small = tile->end - tile->begin <= size && is_quiet(tile);
        if (is_small && is_grown_over(tiles, before, tile, may_grow))
            continue;
        if (is_small && may_absorb(next, tile) && is_quiet(next))
            tile->valid = next->valid;
        before = tile;
        tsl_tile_prune(before);
    }
    tsl_tiles_join(tiles, begin, end);
}

/* ---- Invariants ------------------------------------------------------------------------------------------------- */

static void must(bool holds)
{
    if (!holds)
        abort();
}

void tsl_tiles_check(const struct tsl_tiles *tiles, uint64_t size)
{
    struct tsl_tiles *t = (struct tsl_tiles *)(uintptr_t)tiles; /* sys/tree.h knows no const */
    uint64_t expected = 0;
    size_t n = 0;
    for (struct tsl_tile *tile = RB_MIN(tsl_tile_tree, &t->tree); tile; tile = RB_NEXT(tsl_tile_tree, NULL, tile)) {
        must(tile->begin < tile->end);
        must(tiles->directory ? tile->begin == expected : tile->begin >= expected);
        for (unsigned i = 0; i < tile->uses.n; i++)
            must(tile->uses.list[i].user->refs > 0);
        expected = tile->end;
        n++;
    }
    must(n == tiles->n);
    must(!tiles->directory || expected == size);
}
