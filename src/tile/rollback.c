/* What was valid before a claim, for as long as that may fail. */
#include "tile/tile.h"

#include <stdlib.h>

/* Longer chains are cut: claims of many members in turn, none of which has ended. */
#define MAX_CHAIN 32

struct tsl_rollback *tsl_rollback_ref(struct tsl_rollback *rollback)
{
    if (rollback)
        rollback->refs++;
    return rollback;
}

/* A loop instead of recursion. */
static void unref(struct tsl_rollback *rollback)
{
    while (rollback && --rollback->refs == 0) {
        struct tsl_rollback *older = rollback->older;
        tsl_user_unref(rollback->user);
        free(rollback);
        rollback = older;
    }
}

bool tsl_rollback_equal(const struct tsl_rollback *a, const struct tsl_rollback *b)
{
    return a == b || (a && b && a->user == b->user && a->space == b->space && a->copy == b->copy &&
                      tsl_spaces_are(a->valid, b->valid) && a->older == b->older);
}

/* The length of the chain; what is behind a claim that has ended well is dropped first. The record of that claim says
 * that the tile doesn't go back. */
static unsigned shorten(struct tsl_rollback *rollback)
{
    unsigned n = 0;
    for (; rollback; rollback = rollback->older) {
        n++;
        if (!rollback->user->done)
            continue;
        unref(rollback->older);
        rollback->older = NULL;
    }
    return n;
}

bool tsl_tile_keep(struct tsl_tile *tile, struct tsl_user *user, unsigned space, tsl_spaces valid,
                   struct tsl_rollback **like)
{
    struct tsl_rollback *rollback = *like, *older = tile->rollback;
    unsigned n = !older ? 0 : older->n < MAX_CHAIN ? older->n : shorten(older);
    if (n >= MAX_CHAIN) { /* What this claim would go back to may be no good either. */
        tsl_tile_unkeep(tile, NULL);
        older = NULL;
        valid = TSL_SPACES_NONE;
        n = 0;
    }
    if (rollback && tsl_spaces_are(rollback->valid, valid) && rollback->older == older) {
        unref(older);
        tile->rollback = tsl_rollback_ref(rollback);
        return true;
    }
    rollback = malloc(sizeof(*rollback));
    if (!rollback)
        return false;
    user->refs++;
    *rollback =
        (struct tsl_rollback){.refs = 1, .n = n + 1, .user = user, .space = space, .valid = valid, .older = older};
    tile->rollback = *like = rollback;
    return true;
}

struct tsl_rollback *tsl_tile_kept(struct tsl_tile *tile, const struct tsl_user *user)
{
    struct tsl_rollback *rollback = tile->rollback;
    while (rollback && rollback->user != user)
        rollback = rollback->older;
    return rollback;
}

void tsl_tile_unkeep(struct tsl_tile *tile, struct tsl_rollback *rollback)
{
    struct tsl_rollback *older = rollback ? tsl_rollback_ref(rollback->older) : NULL;
    unref(tile->rollback);
    tile->rollback = older;
}

/* Makes the first entry of the chain the tile's alone. False: there is no memory for a copy. */
static bool own(struct tsl_rollback **place)
{
    struct tsl_rollback *rollback = *place, *copy;
    if (rollback->refs == 1)
        return true;
    copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *rollback;
    copy->refs = 1;
    copy->user->refs++;
    tsl_rollback_ref(copy->older);
    rollback->refs--;
    *place = copy;
    return true;
}

/* What the newer record keeps where the space of the older one is none to go back to. Its own copy may differ from
 * others by what its operation wrote. */
static tsl_spaces kept_without(const struct tsl_rollback *newer, const struct tsl_rollback *rollback)
{
    if (!tsl_spaces_has(newer->valid, rollback->space))
        return newer->valid;
    tsl_spaces rest = tsl_spaces_without(newer->valid, tsl_spaces_of(rollback->space));
    tsl_spaces valid = tsl_spaces_union(rest, rollback->valid);
    tsl_spaces elsewhere = tsl_spaces_without(valid, tsl_spaces_of(newer->space));
    return tsl_spaces_is_empty(elsewhere) ? valid : elsewhere;
}

bool tsl_tile_hand_on(struct tsl_tile *tile, struct tsl_rollback *rollback)
{
    for (struct tsl_rollback **place = &tile->rollback; *place != rollback; place = &(*place)->older) {
        if (!own(place))
            return false;
        (*place)->valid = kept_without(*place, rollback);
    }
    return tsl_tile_unkeep_one(tile, rollback);
}

bool tsl_tile_unkeep_one(struct tsl_tile *tile, struct tsl_rollback *rollback)
{
    struct tsl_rollback **place = &tile->rollback;
    for (; *place != rollback; place = &(*place)->older)
        if (!own(place))
            return false;
    *place = tsl_rollback_ref(rollback->older);
    unref(rollback);
    return true;
}

void tsl_tile_spoil(struct tsl_tile *tile, unsigned space)
{
    bool alone = true; /* Else other tiles lose the space, too. */
    for (struct tsl_rollback **place = &tile->rollback; *place; place = &(*place)->older) {
        alone = alone && own(place);
        tsl_spaces_remove(&(*place)->valid, space);
    }
}
