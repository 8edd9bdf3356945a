/*
 * Placement: which member runs a kernel, and whether that should be decided now. Pure: calls no driver, has no clock of
 * its own. A placer is one context's and is called under its graph's lock; what it has learned is in a model
 * (place/model.h) that all contexts of the process share.
 */
#ifndef TSL_PLACE_PLACE_H
#define TSL_PLACE_PLACE_H

#include "base/sets.h"
#include "driver/member.h"

#include <stdbool.h>
#include <stdint.h>

/* Shorter launches are neither cut nor worth another member. */
#define TSL_COUNTS_FROM_NS 5e4

struct tsl_density;
struct tsl_model;
struct tsl_placer;
struct tsl_settings;
struct tsl_member;

/* What the placer may know of one candidate at the moment. */
struct tsl_candidate {
    bool eligible;
    bool windows;          /* it can run a part of the launch */
    uint64_t missing_size; /* bytes that would have to move to it first */
    double move_ns;        /* how long that takes, by tsl_placer_move_ns; only looked at by policies that learn */
    double peer_ns;        /* the part of it for bytes that other members have, or left in the host's copy */
    double unpaid_ns, uncounted_ns; /* and those that the placer keeps account of (tsl_placer_moves) */
    /* What the kernel is known by there, where that isn't what the ask says (variants); 0: it is. */
    uint64_t kernel;      /* of the launch whole ... */
    uint64_t part_kernel; /* ... and of parts of it */
};

/* Whose words count: those of the settings, or another policy for this launch alone. */
enum tsl_place_by {
    TSL_PLACE_BY_SETTINGS, /* the values are those of CL_QUEUE_PLACEMENT_TESELA */
    TSL_PLACE_BY_EAGER,
    TSL_PLACE_BY_FASTEST,
    TSL_PLACE_BY_ROUND_ROBIN,
    TSL_N_PLACE_BYS
};

/* The question. All times are in nanoseconds of the one clock. */
struct tsl_ask {
    const struct tsl_candidate *candidates; /* one for each member of the context; at least one is eligible */
    uint64_t kernel;                        /* what the kernel is known by, the same from run to run (tsl_place_key) */
    uint64_t size;                          /* work-items */
    uint64_t n_groups;                      /* along the dimension that has most of them; 0: not known */
    uint64_t now_ns;
    uint64_t ready_ns; /* when what the command must wait for is estimated to have ended; 0: now */
    enum tsl_place_by by;
    unsigned
        n_stands; /* so many launches of the kernel, this one among them, which weren't asked about; 0 counts as 1 */
    bool again;   /* it was asked for the same launch before, and said later */
    /* How many launches of the same kernel at the same size wait behind it before the first that needs what it does;
     * may be 0 when nobody knows. Asked only where it matters; NULL: 0. */
    unsigned (*n_behind)(void *arg);
    /* How long what the launch writes on that member takes to get back to the one whose kernels used it last: *home;
     * -1: there is none. Asked likewise; NULL: there is none. */
    double (*back_ns)(void *arg, unsigned member, int *home);
    void *arg;
};

/* Whole launches are kept together on one member, or not (apart.c). */
enum tsl_way {
    TSL_NO_WAY, /* the launch had no choice */
    TSL_APART,
    TSL_TOGETHER,
};

/* The answer. Kept with the command, and given back to tsl_placer_done when its launch has ended. */
struct tsl_placement {
    unsigned member;
    bool later;  /* not now: that member has enough to do. Nothing is placed; ask again when a launch has ended */
    bool placed; /* tsl_placer_done is owed */
    bool timed;  /* tell tsl_placer_done how long it took */
    bool watch;  /* its end should be noticed soon, whatever waits for it */
    bool try;    /* not the best place by estimate: to learn how long it takes there */
    double try_delay_ns;   /* ... what its data were thought to take to get there, or back */
    uint64_t try_ready_ns; /* ... when they could set out */
    double try_risk_ns;    /* ... how much longer than run_ns it was feared to take */
    bool part;             /* of a launch that is cut */
    bool first;            /* of a part: no launch of the kernel at that size was seen on that kind of member */
    unsigned epoch;
    enum tsl_way way;
    bool known;       /* run_ns comes from runs of the kernel on that kind of member, not from fears */
    double run_ns;    /* estimated */
    double work_ns;   /* what of a launch it does, by what that takes whole; 0: not known ... */
    double booked_ns; /* ... what the ledger has for that ... */
    unsigned paced;   /* ... and the phase whose pace it tells (pace.c) */
    uint64_t end_ns;  /* when it will have ended, estimated; 0: not estimated by this policy */
};

struct tsl_placer *tsl_placer_create(const struct tsl_settings *settings, struct tsl_member *const *members,
                                     unsigned n);
void tsl_placer_destroy(struct tsl_placer *placer); /* NULL allowed */

/* Does the policy look at times (move_ns, ready_ns)? Else these need not be found out. */
bool tsl_placer_learns(const struct tsl_placer *placer);

/* Did cuts gain something in earlier runs of the program? True where there were none. */
bool tsl_placer_gains(const struct tsl_placer *placer);
/* What part of the launches' time further members saved in earlier runs of the program, 0 to 1; below 0: nobody knows,
 * as there were none, or launches are much longer now. */
double tsl_placer_help(struct tsl_placer *placer);
/* How long launches took in earlier runs until one had a choice. */
double tsl_placer_waited_ns(struct tsl_placer *placer);

/* How much longer launches of the kernel will take together in this process, judged by an earlier one; 0: not known. */
double tsl_placer_ahead_ns(const struct tsl_placer *placer, uint64_t kernel);
/* The same of all launches of this process' program. */
double tsl_placer_program_ahead_ns(const struct tsl_placer *placer);

/* The work of the kernel's launches of that size lies so along that dimension. */
void tsl_placer_set_density(struct tsl_placer *placer, uint64_t kernel, uint64_t size, unsigned dimension,
                            const struct tsl_density *work);
/* False: it isn't known to lie unevenly. */
bool tsl_placer_density(const struct tsl_placer *placer, uint64_t kernel, uint64_t size, unsigned *dimension,
                        struct tsl_density *work);

/* How long it takes to make such a member ready beside others that are; 0: not known. */
double tsl_placer_opening_ns(const struct tsl_placer *placer, unsigned member);
/* It took so long. */
void tsl_placer_opened(struct tsl_placer *placer, unsigned member, uint64_t ns);

/* How long the launch takes as a whole where it would end first; 0: not known. */
double tsl_placer_whole_ns(struct tsl_placer *placer, const struct tsl_ask *ask);

/* Which of these members kernels of which nothing is known will be given: one much faster than the others, by what they
 * say of themselves. -1: there is none such. */
int tsl_placer_likely(const struct tsl_placer *placer, tsl_members among);

/* If several may be given them, but all of these are of one domain: these. What one of them has isn't far from the
 * others. None: it isn't so. */
tsl_members tsl_placer_likely_peers(const struct tsl_placer *placer, tsl_members among);

/* The one of them that has least to do; -1: there is none. */
int tsl_placer_idlest(const struct tsl_placer *placer, tsl_members among, uint64_t now_ns);

void tsl_placer_choose(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);

/* Places a launch on that member, which alone has its data, if it ends there before it could begin on another: one that
 * takes less than a handover between members, or one with which no other is any help. */
bool tsl_placer_stay(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member,
                     struct tsl_placement *placement);

/*
 * A launch that some members hold, and others, the ask's candidates with windows, only window by window
 * (graph/out_of_core.h).
 */
enum tsl_by_windows {
    TSL_BY_WINDOWS_NO, /* whole */
    TSL_BY_WINDOWS_GUESSED,
    TSL_BY_WINDOWS_KNOWN, /* by what such launches took, or as no member that may be chosen holds it */
};

/* Does it end sooner window by window than whole? n_chained: so many launches would be chained, it among them; 1: none.
 * tries: the answer is what will be done, so it may also be the other one, to learn how long that takes. */
enum tsl_by_windows tsl_placer_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                                       bool tries);
/* It went window by window on that member, or on it and others, and took so long, from its begin to its last byte's
 * way home; of a chain all its launches together. Of the ask the kernel and its size are looked at. */
void tsl_placer_windows_ended(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, unsigned n_chained,
                              uint64_t ns);

/*
 * Several implementations of a kernel on one member (variants.c): the original, which is the first, and others.
 */
#define TSL_MAX_WAYS 16
struct tsl_ways {
    unsigned n;
    uint64_t keys[TSL_MAX_WAYS]; /* what each is known by, from run to run */
    bool allowed[TSL_MAX_WAYS];  /* it takes this launch; the original does */
    uint64_t size;               /* work-items of the launch */
};

/* The one that is known to be fastest; the original where nothing is known, or the policy doesn't measure. */
unsigned tsl_placer_best_variant(struct tsl_placer *placer, unsigned member, const struct tsl_ways *ways);
/* One to try in the place of the best, which the launch was placed with; or the best. */
unsigned tsl_placer_try_variant(struct tsl_placer *placer, unsigned member, const struct tsl_ways *ways, unsigned best);
/* How long the placed launch takes will be told. */
void tsl_placer_time(struct tsl_placer *placer, struct tsl_placement *placement);

/*
 * Parts of a launch that is cut over members. Three steps: which part of the work each member should do; what the
 * caller finds out of that, namely what would have to move for it; whether it pays.
 */
enum tsl_uncut {
    TSL_UNCUT_PARTS,    /* no second member is free and known, or its part would be too small */
    TSL_UNCUT_SMALL,    /* the launch is much too small, and launches like it are, too */
    TSL_UNCUT_PAUSED,   /* nothing is cut for a while, as cuts cost more than they gained */
    TSL_UNCUT_UNKNOWN,  /* nothing is known of the kernel yet */
    TSL_UNCUT_MEASURED, /* it runs whole to see what that takes */
    TSL_UNCUT_UNPAID,   /* it didn't pay for the launches before */
};

struct tsl_parts {
    double of[TSL_MAX_MEMBERS]; /* by member of the context; >= 0, the sum is 1 */
    tsl_members tried;          /* these have a very small part, to learn how long it takes there */
    unsigned n_windows;         /* on each member that has a part, one after another; more than 1 for tests only */
    enum tsl_uncut why;         /* why there are no parts, where the policy auto found none */
    unsigned whole_member;      /* where the launch would run whole; by the policy auto only */
    bool known;                 /* the times below are estimated, not unknown */
    bool unseen;                /* some don't fill their members, and such ones were never seen: they may take less */
    double run_ns;              /* the longest part, without moves */
    double whole_run_ns;        /* the launch whole, without moves */
    double whole_ns;            /* how long until the launch has ended if it isn't cut, with its moves */
    double whole_move_ns;       /* its moves alone */
    double whole_peer_ns;       /* ... of what other members have */
    double joint_ns;            /* what the caller found out: making copies for the parts, and these one again */
    bool divided;               /* ... and whether what is missing moves beside the parts (graph/cut_rims.h) */
    bool follows;               /* they are where the last cut has left the launch's data */
};

/* Are these two members of one kind, so that kernels give the same results there, bit by bit? */
bool tsl_placer_alike(const struct tsl_placer *placer, unsigned a, unsigned b);
/* Are any launches cut? */
bool tsl_placer_cuts(const struct tsl_placer *placer);
/* False: the launch is to run whole. */
bool tsl_placer_parts(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts);
/* The parts of a launch that has to be cut, as no member holds its data whole: members that surely are slower than
 * others, or of which that isn't known, may have none. */
void tsl_placer_must_cut(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts);
/* What the placer notes of a memory object, for the caller to keep with it. All 0 at first. */
struct tsl_layout_mark {
    uint32_t question, counted, paid;
};
/* Before it is asked whether parts pay: for the candidate's part so much of that object moves. */
void tsl_placer_moves(struct tsl_placer *placer, struct tsl_layout_mark *mark, double ns,
                      struct tsl_candidate *candidate);
/* After it was answered: of each of the launch's objects, those that don't move among them. */
void tsl_placer_decided(struct tsl_placer *placer, struct tsl_layout_mark *mark);
/* Does it pay? Of the ask's candidates move_ns is what their parts lack. */
bool tsl_placer_pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts);
/* Have the members among which launches are cut enough to do, and others like them? Then the launch should be asked
 * about, as if for the first time, when one of *member's has ended: what is cut far ahead of the members is cut by what
 * was known long before. */
bool tsl_placer_is_ahead(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned *member);

/* May a launch be cut as the one before, without being asked about? Then it is to be told. Of the ask's candidates
 * move_ns is what was found for that one. */
bool tsl_placer_repeats(const struct tsl_placer *placer, const struct tsl_ask *ask);
void tsl_placer_repeat(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts);
/* A launch of a kernel of which nothing is known may begin by a window of it, which shows what it takes. The least part
 * of the launch that says something, on that member; 0: it is too much of the launch, or such windows have cost enough.
 * n_groups: all the launch has. */
double tsl_placer_lead(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t n_groups);
/* The largest part of a launch that such a window may be. */
double tsl_placer_lead_most(const struct tsl_placer *placer);
/* Windows took ns, and the rest of their launch runs whole all the same. */
void tsl_placer_led(struct tsl_placer *placer, double ns);
/* Smaller launches have no such windows (work-items); how many times what fills a member they have at least. Constant
 * but for tests. */
extern uint64_t tsl_lead_items;
extern double tsl_lead_fill;
/* Is it worth more launches, and their planning, to hide moves that take so long behind what the parts do? */
bool tsl_placer_divides(struct tsl_placer *placer, const struct tsl_parts *parts, double move_ns);
/* How long that member takes for so many of the launch's work-items, by what was measured; 0: not known. */
double tsl_placer_part_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size);
/* Places a share of a launch: that member is given `size` of its work-items. */
void tsl_placer_place_part(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                           struct tsl_placement *placement);
/* Places a share's rim behind its inside, on the same member: so much work as `part` of the inside's. Nothing is
 * learned of it. */
void tsl_placer_place_rim(struct tsl_placer *placer, const struct tsl_placement *inside, double part, uint64_t now_ns,
                          struct tsl_placement *rim);
/* All shares of a launch have ended: the longest ran for longest_ns; from when its members could begin to the last end
 * it took wall_ns. */
void tsl_placer_parts_ended(struct tsl_placer *placer, uint64_t longest_ns, uint64_t wall_ns);

/* Shares worked on copies: these, and to make them one, took real_ns instead of expected_ns. */
void tsl_placer_joints_ended(struct tsl_placer *placer, double expected_ns, double real_ns);
/* To decide on a cut of the kernel, to plan and to submit it took the host so long. divided: into insides and rims. */
void tsl_placer_parts_planned(struct tsl_placer *placer, uint64_t kernel, double ns, bool divided);
/* Before its last share began, it waited for moves between members, of which peer_ns were thought to be the moves. */
void tsl_placer_parts_waited(struct tsl_placer *placer, double peer_ns, double waited_ns);

/* A placed launch has ended, or will never run. ran_ns: how long it ran; 0 is unknown or failed. end_ns: when it ended,
 * 0 is unknown. Does nothing for a placement that is not placed, and makes it so. */
struct tsl_ended {
    uint64_t kernel, size; /* as asked */
    uint64_t ran_ns, end_ns, now_ns;
    bool lone; /* it is known that no second member could have done a part of it */
};
void tsl_placer_done(struct tsl_placer *placer, struct tsl_placement *placement, const struct tsl_ended *ended);

/* What it has learned, where that is kept and is to be written now (tsl_model_keep, under no lock); else NULL. */
struct tsl_model *tsl_placer_unkept(struct tsl_placer *placer, uint64_t now_ns);

/* Spaces as in tile/tile.h: 0 is the host, 1 + i member i. */
double tsl_placer_move_ns(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size);
/* Should this move's time be measured? */
bool tsl_placer_wants_move(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size);
void tsl_placer_moved(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size, uint64_t ns);

/* The same of work in one member's memory, by its bytes. */
enum tsl_work { TSL_WORK_COPY, TSL_WORK_FILL, TSL_WORK_COMBINE };
double tsl_placer_work_ns(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size);
bool tsl_placer_wants_work(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size);
void tsl_placer_worked(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size, uint64_t ns);

#endif
