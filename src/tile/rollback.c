/* What was valid before a claim, for as long as that may fail. */
#include "tile/tile.h"

#include <stdlib.h>

/* Chains this long are cut: claims of many members in turn, none of which has ended. */
#define MAX_CHAIN 32

struct tsl_prior *tsl_prior_ref(struct tsl_prior *prior)
{
    if (prior)
        prior->refs++;
    return prior;
}

/* A loop instead of recursion. */
static void unref(struct tsl_prior *prior)
{
    while (prior && --prior->refs == 0) {
        struct tsl_prior *older = prior->older;
        tsl_user_unref(prior->user);
        free(prior);
        prior = older;
    }
}

bool tsl_prior_equal(const struct tsl_prior *a, const struct tsl_prior *b)
{
    return a == b || (a && b && a->user == b->user && a->valid == b->valid && a->older == b->older);
}

/* How many of the chain still say something; the others go. */
static unsigned shorten(struct tsl_prior *prior)
{
    unsigned n = 0;
    while (prior) {
        n++;
        if (prior->older && prior->older->user->done) {
            unref(prior->older);
            prior->older = NULL;
        }
        prior = prior->older;
    }
    return n;
}

bool tsl_tile_keep(struct tsl_tile *tile, struct tsl_user *user, uint32_t valid, struct tsl_prior **like)
{
    struct tsl_prior *prior = *like, *older = tile->prior;
    unsigned n = !older ? 0 : older->n < MAX_CHAIN ? older->n : shorten(older);
    if (n >= MAX_CHAIN) { /* What this one goes back to may be no good either. */
        tsl_tile_unkeep(tile, NULL);
        older = NULL;
        valid = 0;
        n = 0;
    }
    if (prior && prior->valid == valid && prior->older == older) {
        unref(older);
        tile->prior = tsl_prior_ref(prior);
        return true;
    }
    prior = malloc(sizeof(*prior));
    if (!prior)
        return false;
    user->refs++;
    *prior = (struct tsl_prior){.refs = 1, .n = n + 1, .user = user, .valid = valid, .older = older};
    tile->prior = *like = prior;
    return true;
}

struct tsl_prior *tsl_tile_kept(struct tsl_tile *tile, const struct tsl_user *user)
{
    struct tsl_prior *prior = tile->prior;
    while (prior && prior->user != user)
        prior = prior->older;
    return prior;
}

void tsl_tile_unkeep(struct tsl_tile *tile, struct tsl_prior *prior)
{
    struct tsl_prior *older = prior ? tsl_prior_ref(prior->older) : NULL;
    unref(tile->prior);
    tile->prior = older;
}

/* The newest of the chain is the tile's alone, if there is memory for that. False: there is none. */
static bool own(struct tsl_prior **place)
{
    struct tsl_prior *prior = *place, *copy;
    if (prior->refs == 1)
        return true;
    copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *prior;
    copy->refs = 1;
    copy->user->refs++;
    tsl_prior_ref(copy->older);
    prior->refs--;
    *place = copy;
    return true;
}

void tsl_tile_spoil(struct tsl_tile *tile, unsigned space)
{
    bool alone = true; /* Else other tiles lose it, too. */
    for (struct tsl_prior **place = &tile->prior; *place; place = &(*place)->older) {
        alone = alone && own(place);
        (*place)->valid &= ~TSL_SPACE_BIT(space);
    }
}
