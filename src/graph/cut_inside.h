/*
 * The inside of cutting launches: a launch that is looked at, and what cut.c and the files that find its rungs and its
 * rims have of each other. Under the graph's lock.
 */
#ifndef TSL_GRAPH_CUT_INSIDE_H
#define TSL_GRAPH_CUT_INSIDE_H

#include "footprint/cut.h"
#include "graph/footing.h"
#include "graph/joints.h"
#include "graph/share.h"
#include "place/place.h"

#include <stdatomic.h>

struct tsl_command;
struct tsl_cut_memo;

/* Shares of a launch, at most: one for each member, and where they are divided two rims for each. */
#define TSL_CUT_MAX_SHARES (TSL_MAX_MEMBERS > 30 ? 3u * TSL_MAX_MEMBERS : 32u)

/* A launch that may be cut. */
struct tsl_cut {
    struct tsl_command *command;
    const struct tsl_ask *ask;
    struct tsl_kernel_part *part; /* by whose footprint the launch is judged */
    const struct tsl_footprint *footprint;
    struct tsl_window window; /* the launch, with a local size */
    enum tsl_rung rung;
    unsigned dimension;
    struct tsl_cut_memory memories[TSL_FOOTING_MAX_ARGUMENTS];
    struct tsl_footing_values values;
    tsl_members spread_over;           /* by the rung `domain`; else none */
    uint64_t spread;                   /* then: the arguments whose memory is spread over these (bits) */
    bool changes_by_turns;             /* ... and some of it is changed by atomic operations */
    struct tsl_joints *joints;         /* by the rungs `merge` and `reduce`, heap; else NULL */
    uint64_t ends[TSL_CUT_MAX_SHARES]; /* where shares end, the empty ones, too, in groups from the window's first */
    unsigned n;                        /* shares that are not empty */
    unsigned n_inside;                 /* the first so many are insides, the others rims; 0: they aren't divided */
    unsigned members[TSL_CUT_MAX_SHARES];
    struct tsl_window windows[TSL_CUT_MAX_SHARES];
    struct tsl_argument_touch *touches; /* n times the footprint's arguments; heap */
    struct tsl_cut_verdict verdict;     /* why not */
    bool lacks_part;                    /* nothing forbids the cut, but all members but one have less than a group */
    bool later_wins;                    /* by the rung `exact`: shares surely overwrite earlier ones' bytes */
    bool ahead;                         /* what is left of the launch will be cut: members that aren't ready are asked
                                           then whether they combine */
};

/* Always false: sets the verdict. */
bool tsl_cut_give_up(struct tsl_cut *cut, enum tsl_cut_why why);
/* Always false: of fewer than two shares sets the verdict, or what is lacking if the launch has groups for more. */
bool tsl_cut_lacks_shares(struct tsl_cut *cut);
/* The shares of these parts; attempt: graph/borders.h. False: there are no such borders. */
bool tsl_cut_make_windows(struct tsl_cut *cut, const struct tsl_parts *parts, unsigned attempt);
/* Work-items of the whole launch, of which the ask may be about what is left. */
uint64_t tsl_cut_launch_items(const struct tsl_cut *cut);
/* Marks the candidates that can run a part of the launch, and takes the footprint of the first. False: there is none.
 */
bool tsl_cut_mark(struct tsl_cut *cut, struct tsl_candidate *candidates);
/* The candidates that are marked. */
tsl_members tsl_cut_members(const struct tsl_cut *cut);
/* Gives the launch a local size, if the program leaves that to us. */
void tsl_cut_choose_size(struct tsl_cut *cut);
/* What each share touches. */
bool tsl_cut_evaluate(struct tsl_cut *cut);
/* Do the shares write different bytes of these memories, also by what is claimed for them? False: the verdict tells. */
bool tsl_cut_is_apart(struct tsl_cut *cut, const struct tsl_cut_memory *memories);
/* cut_exact.c: the rung `exact`. Halves of the launch are exact: so are other shares whose borders lie as well. Sets
 * later_wins. */
bool tsl_cut_exactly(struct tsl_cut *cut, struct tsl_parts *parts);
/* Was the kernel's last launch of the same shape? */
bool tsl_cut_exact_remembers(const struct tsl_cut *cut);
/* Do the shares write different bytes of the launch's memories? Equal questions are answered from memory. False: the
 * verdict tells. */
bool tsl_cut_is_exact(struct tsl_cut *cut);
/* cut_later.c. Of which memory has each share a copy for itself? The arguments (bits); sets `own` of the memories. None
 * where the shares aren't in the order of groups. */
uint64_t tsl_cut_later_find_own(struct tsl_cut *cut);
/* Do later shares surely overwrite what earlier ones may write, also by what is claimed for them? The shares are
 * evaluated, and `own` is set. */
bool tsl_cut_later_share_wins(const struct tsl_cut *cut);
/* Of a kernel whose launches were refused before, is this one not to be looked at? They are ever more rarely. */
bool tsl_cut_is_hopeless(const struct tsl_cut_memo *memo);
/* Takes the parts of members away that have none of these; the others' become larger. False: none is left. */
bool tsl_cut_keep_parts(const struct tsl_cut *cut, struct tsl_parts *parts, tsl_members members);

/* Where the launch's work lies; of another dimension than the last one nothing is known. */
const struct tsl_work_memo *tsl_cut_work_memo(const struct tsl_cut *cut);

/* cut_domain.c: the rung `domain`. The parts change if the launch is cut so, else they don't. */
bool tsl_cut_in_domain(struct tsl_cut *cut, struct tsl_parts *parts);

/* cut_joint.c: merge and reduce. The verdict says why the rung before was none. */
bool tsl_cut_by_joints(struct tsl_cut *cut, struct tsl_parts *parts);

#endif
