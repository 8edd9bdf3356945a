/*
 * Sets of a context's members, and sets of spaces (tile/tile.h). Members and spaces are known by their numbers; the
 * sets are changed and asked by these functions alone, so that they can grow.
 */
#ifndef TSL_BASE_SETS_H
#define TSL_BASE_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Members of one process: their bits, the host's, and one for "nowhere" fit a set of spaces (tile/tile.h). A
 * library for more devices, of many nodes say, is built with -DTSL_MAX_MEMBERS=N. */
#ifndef TSL_MAX_MEMBERS
#define TSL_MAX_MEMBERS 30
#endif
#if TSL_MAX_MEMBERS > 30
#include "base/sets_wide.h"
#else

typedef uint32_t tsl_members;
typedef uint64_t tsl_spaces;

/* ---- Members --------------------------------------------------------------------------------------------------- */

#define TSL_MEMBERS_NONE ((tsl_members)0)
#define TSL_MEMBERS_ALL  (~(tsl_members)0)

static inline tsl_members tsl_members_of(unsigned member)
{
    return (tsl_members)1 << member;
}

static inline bool tsl_members_has(tsl_members set, unsigned member)
{
    return set >> member & 1;
}

static inline void tsl_members_add(tsl_members *set, unsigned member)
{
    *set |= (tsl_members)1 << member;
}

static inline void tsl_members_remove(tsl_members *set, unsigned member)
{
    *set &= ~((tsl_members)1 << member);
}

static inline bool tsl_members_is_empty(tsl_members set)
{
    return !set;
}

static inline unsigned tsl_members_count(tsl_members set)
{
    return (unsigned)__builtin_popcount(set);
}

/* Of a set that is not empty. */
static inline unsigned tsl_members_first(tsl_members set)
{
    return (unsigned)__builtin_ctz(set);
}

/* Is there a member with this number or a higher one? */
static inline bool tsl_members_reach(tsl_members set, unsigned member)
{
    return set >> member;
}

static inline bool tsl_members_are(tsl_members a, tsl_members b)
{
    return a == b;
}

/* Is a member in both? */
static inline bool tsl_members_meet(tsl_members a, tsl_members b)
{
    return a & b;
}

/* In both, in one of the two, in a alone. */
static inline tsl_members tsl_members_common(tsl_members a, tsl_members b)
{
    return a & b;
}

static inline tsl_members tsl_members_union(tsl_members a, tsl_members b)
{
    return a | b;
}

static inline tsl_members tsl_members_without(tsl_members a, tsl_members b)
{
    return a & ~b;
}

/* ---- Spaces ---------------------------------------------------------------------------------------------------- */

#define TSL_SPACES_NONE ((tsl_spaces)0)

static inline tsl_spaces tsl_spaces_of(unsigned space)
{
    return (tsl_spaces)1 << space;
}

static inline bool tsl_spaces_has(tsl_spaces set, unsigned space)
{
    return set & (tsl_spaces)1 << space;
}

static inline void tsl_spaces_add(tsl_spaces *set, unsigned space)
{
    *set |= (tsl_spaces)1 << space;
}

static inline void tsl_spaces_remove(tsl_spaces *set, unsigned space)
{
    *set &= ~((tsl_spaces)1 << space);
}

static inline bool tsl_spaces_is_empty(tsl_spaces set)
{
    return !set;
}

/* Of a set that is not empty: the lowest. */
static inline unsigned tsl_spaces_first(tsl_spaces set)
{
    return (unsigned)__builtin_ctzll(set);
}

static inline bool tsl_spaces_are(tsl_spaces a, tsl_spaces b)
{
    return a == b;
}

/* Does the set have that space and no other? */
static inline bool tsl_spaces_only(tsl_spaces set, unsigned space)
{
    return set == (tsl_spaces)1 << space;
}

static inline unsigned tsl_spaces_count(tsl_spaces set)
{
    return (unsigned)__builtin_popcountll(set);
}

/* In one of the two, in a alone. */
static inline tsl_spaces tsl_spaces_union(tsl_spaces a, tsl_spaces b)
{
    return a | b;
}

static inline tsl_spaces tsl_spaces_without(tsl_spaces a, tsl_spaces b)
{
    return a & ~b;
}

#endif
#endif
