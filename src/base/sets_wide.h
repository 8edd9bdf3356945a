/*
 * Sets of more members than a word has bits for: base/sets.h includes this instead of its own functions, which are
 * described there.
 */
#ifndef TSL_BASE_SETS_WIDE_H
#define TSL_BASE_SETS_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* A member each, the host, one for what several members have together, and one for "nowhere". */
#define TSL_N_SPACES (TSL_MAX_MEMBERS + 3)

#define TSL_SET_WORDS ((TSL_N_SPACES + 63) / 64)

struct tsl_set {
    uint64_t words[TSL_SET_WORDS];
};

static inline struct tsl_set tsl_set_of(unsigned i)
{
    struct tsl_set set = {{0}};

    set.words[i / 64] = (uint64_t)1 << i % 64;
    return set;
}

static inline bool tsl_set_has(const struct tsl_set *set, unsigned i)
{
    return set->words[i / 64] >> i % 64 & 1;
}

static inline void tsl_set_add(struct tsl_set *set, unsigned i)
{
    set->words[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void tsl_set_remove(struct tsl_set *set, unsigned i)
{
    set->words[i / 64] &= ~((uint64_t)1 << i % 64);
}

static inline bool tsl_set_is_empty(const struct tsl_set *set)
{
    uint64_t any = 0;

    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        any |= set->words[k];
    return !any;
}

static inline unsigned tsl_set_count(const struct tsl_set *set)
{
    unsigned n = 0;

    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        n += (unsigned)__builtin_popcountll(set->words[k]);
    return n;
}

/* Of a set that is not empty. */
static inline unsigned tsl_set_first(const struct tsl_set *set)
{
    unsigned k = 0;

    while (k + 1 < TSL_SET_WORDS && !set->words[k])
        k++;
    return 64 * k + (unsigned)__builtin_ctzll(set->words[k]);
}

/* Is there an item with this number or a higher one? */
static inline bool tsl_set_reach(const struct tsl_set *set, unsigned i)
{
    uint64_t any = i / 64 < TSL_SET_WORDS ? set->words[i / 64] >> i % 64 : 0;

    for (unsigned k = i / 64 + 1; k < TSL_SET_WORDS; k++)
        any |= set->words[k];
    return any;
}

static inline bool tsl_set_are(const struct tsl_set *a, const struct tsl_set *b)
{
    uint64_t differ = 0;

    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        differ |= a->words[k] ^ b->words[k];
    return !differ;
}

/* In both, in one of the two, in a alone. */
static inline struct tsl_set tsl_set_common(struct tsl_set a, const struct tsl_set *b)
{
    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        a.words[k] &= b->words[k];
    return a;
}

static inline struct tsl_set tsl_set_union(struct tsl_set a, const struct tsl_set *b)
{
    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        a.words[k] |= b->words[k];
    return a;
}

static inline struct tsl_set tsl_set_without(struct tsl_set a, const struct tsl_set *b)
{
    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        a.words[k] &= ~b->words[k];
    return a;
}

/* ---- Members --------------------------------------------------------------------------------------------------- */

typedef struct {
    struct tsl_set set;
} tsl_members;

#define TSL_MEMBERS_NONE ((tsl_members){{{0}}})
#define TSL_MEMBERS_ALL  (tsl_members_all())

static inline tsl_members tsl_members_all(void)
{
    tsl_members all = {{{0}}};

    for (unsigned k = 0; k < TSL_SET_WORDS; k++)
        all.set.words[k] = ~(uint64_t)0;
    return all;
}

static inline tsl_members tsl_members_of(unsigned member)
{
    return (tsl_members){tsl_set_of(member)};
}

static inline bool tsl_members_has(tsl_members set, unsigned member)
{
    return tsl_set_has(&set.set, member);
}

static inline void tsl_members_add(tsl_members *set, unsigned member)
{
    tsl_set_add(&set->set, member);
}

static inline void tsl_members_remove(tsl_members *set, unsigned member)
{
    tsl_set_remove(&set->set, member);
}

static inline bool tsl_members_is_empty(tsl_members set)
{
    return tsl_set_is_empty(&set.set);
}

static inline unsigned tsl_members_count(tsl_members set)
{
    return tsl_set_count(&set.set);
}

/* Of a set that is not empty. */
static inline unsigned tsl_members_first(tsl_members set)
{
    return tsl_set_first(&set.set);
}

/* Is there a member with this number or a higher one? */
static inline bool tsl_members_reach(tsl_members set, unsigned member)
{
    return tsl_set_reach(&set.set, member);
}

static inline bool tsl_members_are(tsl_members a, tsl_members b)
{
    return tsl_set_are(&a.set, &b.set);
}

/* In both, in one of the two, in a alone. */
static inline tsl_members tsl_members_common(tsl_members a, tsl_members b)
{
    return (tsl_members){tsl_set_common(a.set, &b.set)};
}

static inline tsl_members tsl_members_union(tsl_members a, tsl_members b)
{
    return (tsl_members){tsl_set_union(a.set, &b.set)};
}

static inline tsl_members tsl_members_without(tsl_members a, tsl_members b)
{
    return (tsl_members){tsl_set_without(a.set, &b.set)};
}

/* Is a member in both? */
static inline bool tsl_members_meet(tsl_members a, tsl_members b)
{
    return !tsl_members_is_empty(tsl_members_common(a, b));
}

/* ---- Spaces ---------------------------------------------------------------------------------------------------- */

typedef struct {
    struct tsl_set set;
} tsl_spaces;

#define TSL_SPACES_NONE ((tsl_spaces){{{0}}})

static inline tsl_spaces tsl_spaces_of(unsigned space)
{
    return (tsl_spaces){tsl_set_of(space)};
}

static inline bool tsl_spaces_has(tsl_spaces set, unsigned space)
{
    return tsl_set_has(&set.set, space);
}

static inline void tsl_spaces_add(tsl_spaces *set, unsigned space)
{
    tsl_set_add(&set->set, space);
}

static inline void tsl_spaces_remove(tsl_spaces *set, unsigned space)
{
    tsl_set_remove(&set->set, space);
}

static inline bool tsl_spaces_is_empty(tsl_spaces set)
{
    return tsl_set_is_empty(&set.set);
}

/* Of a set that is not empty: the lowest. */
static inline unsigned tsl_spaces_first(tsl_spaces set)
{
    return tsl_set_first(&set.set);
}

static inline bool tsl_spaces_are(tsl_spaces a, tsl_spaces b)
{
    return tsl_set_are(&a.set, &b.set);
}

/* Does the set have that space and no other? */
static inline bool tsl_spaces_only(tsl_spaces set, unsigned space)
{
    return tsl_spaces_are(set, tsl_spaces_of(space));
}

static inline unsigned tsl_spaces_count(tsl_spaces set)
{
    return tsl_set_count(&set.set);
}

/* In one of the two, in a alone. */
static inline tsl_spaces tsl_spaces_union(tsl_spaces a, tsl_spaces b)
{
    return (tsl_spaces){tsl_set_union(a.set, &b.set)};
}

static inline tsl_spaces tsl_spaces_without(tsl_spaces a, tsl_spaces b)
{
    return (tsl_spaces){tsl_set_without(a.set, &b.set)};
}

#endif
