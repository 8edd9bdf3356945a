/* A tree by begins, in which each node knows how far the ranges below it reach (an interval tree). */
#include <stdlib.h>

/* sys/tree.h calls this for a node below which something has changed, but not for all nodes above that. */
#define RB_AUGMENT(ranged) reach(ranged)

#include "tile/ranges.h"

static uint64_t last_of(const struct tsl_ranged *ranged)
{
    return ranged ? ranged->last : 0;
}

static void reach(struct tsl_ranged *ranged)
{
    for (; ranged; ranged = RB_PARENT(ranged, node)) {
        uint64_t left = last_of(RB_LEFT(ranged, node)), right = last_of(RB_RIGHT(ranged, node));
        ranged->last = left > right ? left : right;
        if (ranged->end > ranged->last)
            ranged->last = ranged->end;
    }
}

static int compare(const struct tsl_ranged *a, const struct tsl_ranged *b)
{
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

RB_GENERATE(tsl_ranged_tree, tsl_ranged, node, compare)

bool tsl_ranges_add(struct tsl_ranges *ranges, uint64_t begin, uint64_t end)
{
    struct tsl_ranged *new = malloc(sizeof(*new));
    if (!new)
        return false;
    *new = (struct tsl_ranged){.begin = begin, .end = end, .last = end, .n = 1};
    struct tsl_ranged *there = RB_INSERT(tsl_ranged_tree, &ranges->tree, new);
    if (there) {
        there->n++;
        free(new);
    }
    return true;
}

void tsl_ranges_remove(struct tsl_ranges *ranges, uint64_t begin, uint64_t end)
{
    struct tsl_ranged key = {.begin = begin, .end = end};
    struct tsl_ranged *ranged = RB_FIND(tsl_ranged_tree, &ranges->tree, &key);
    if (!ranged || --ranged->n > 0)
        return;
    RB_REMOVE(tsl_ranged_tree, &ranges->tree, ranged);
    free(ranged);
}

void tsl_ranges_finish(struct tsl_ranges *ranges)
{
    struct tsl_ranged *ranged;
    while ((ranged = RB_ROOT(&ranges->tree))) {
        RB_REMOVE(tsl_ranged_tree, &ranges->tree, ranged);
        free(ranged);
    }
}

/* The first range at or below the node that ends behind begin; NULL: none. */
static const struct tsl_ranged *first_behind(const struct tsl_ranged *ranged, uint64_t begin)
{
    while (ranged) {
        if (last_of(RB_LEFT(ranged, node)) > begin)
            ranged = RB_LEFT(ranged, node);
        else if (ranged->end > begin)
            return ranged;
        else
            ranged = RB_RIGHT(ranged, node);
    }
    return NULL;
}

/* The range, if it begins before end; else NULL, as all ranges behind it begin at least as late. */
static const struct tsl_ranged *if_before(const struct tsl_ranged *ranged, uint64_t end)
{
    return ranged && ranged->begin < end ? ranged : NULL;
}

const struct tsl_ranged *tsl_ranges_meeting(const struct tsl_ranges *ranges, uint64_t begin, uint64_t end)
{
    return if_before(first_behind(RB_ROOT(&ranges->tree), begin), end);
}

const struct tsl_ranged *tsl_ranges_next_meeting(const struct tsl_ranged *ranged, uint64_t begin, uint64_t end)
{
    const struct tsl_ranged *next = first_behind(RB_RIGHT(ranged, node), begin);
    while (!next && RB_PARENT(ranged, node)) {
        const struct tsl_ranged *below = ranged;
        ranged = RB_PARENT(ranged, node);
        if (below == RB_RIGHT(ranged, node))
            continue;
        next = ranged->end > begin ? ranged : first_behind(RB_RIGHT(ranged, node), begin);
    }
    return if_before(next, end);
}
