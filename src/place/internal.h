/*
 * The inside of placement: one policy per file, chosen once when the placer is made.
 */
#ifndef TSL_PLACE_INTERNAL_H
#define TSL_PLACE_INTERNAL_H

#include "base/settings.h"
#include "driver/driver.h"
#include "place/model.h"
#include "place/place.h"

/* What was placed on a member and isn't known to have ended. */
struct tsl_load {
    unsigned epoch;
    unsigned n;          /* launches of this epoch */
    unsigned n_watched;  /* launches whose end will be noticed soon after it */
    double ns;           /* what those of this epoch take together, estimated */
    double other_ns;     /* ... of it those that are no parts of launches which are cut */
    double late_ns;      /* how much longer, as it is late */
    uint64_t since_ns;   /* when the one that is running now began: when the last one ended */
    double unwatched_ns; /* placed since the last watched one */
    double link_free_ns; /* when moves to the member that are planned will have ended */
    unsigned n_untimed;  /* since the last timed one ... */
    double untimed_ns;   /* ... and what they take */
};

#define TSL_MUCH_FASTER 2.0 /* times, by what members say of themselves */

#define TSL_FULL_ITEMS (1u << 20) /* a part of fewer may not fill a device */

/* What the model knows a kernel's parts by, apart from its launches of the same size. */
static inline uint64_t tsl_part_key(uint64_t kernel)
{
    return kernel ^ UINT64_C(0x9e3779b97f4a7c15);
}

/* What asking about one kernel's launches came to (pays.c). */
struct tsl_asked {
    uint64_t kernel;
    double cut_ns;           /* what its cut launches take together, since one ran whole to be measured */
    unsigned n_refused;      /* launches that it didn't pay to cut, one after another */
    unsigned skip;           /* so many more aren't asked about */
    unsigned n_stand;        /* for so many launches that weren't asked about the next one stands, with itself */
    struct tsl_samples plan; /* how long the host takes to plan a cut that isn't divided, as measured */
};

#define TSL_N_ASKED 64

typedef void tsl_choose_fn(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);

/* What earlier runs of the program said. */
struct tsl_past {
    bool is_read;
    double takes_ns, squares, among_ns, saved_ns, waited_ns;
};

/* What gains.c adds up; what is kept for later runs, since the model was told last. */
struct tsl_gains {
    unsigned n;         /* launches */
    double launches_ns; /* what they take whole, without moves */
    double squares;   /* of these, scaled: whoever knows both knows how long launches are that take most of the time */
    double among_ns;  /* of those that could have run, or ran in parts, on several members */
    double net_ns;    /* what cuts gained, less the moves between members */
    double helped_ns; /* what the model knows of what other members did */
    double all_ns, all_squares;    /* in all */
    double of_ns[TSL_MAX_MEMBERS]; /* ... by members, of whole launches that had a choice */
    bool chose;                    /* some launch had one */
    struct tsl_past past;
};

/* What became of a launch whose parts' moves are against it. */
enum tsl_layout_decision {
    TSL_LAYOUT_NONE,    /* they aren't, or it gains nothing without them either */
    TSL_LAYOUT_COUNTED, /* it runs whole, and counts for the next epoch */
    TSL_LAYOUT_PAID,    /* it is cut */
};

/* What launches take whole, and the time in which they were placed. */
struct tsl_pace {
    double work_ns, time_ns;
};

#define TSL_MOST_DOUBT 64 /* times what they cost: moves are never dearer */

/* The account of layout.c, and the paces of pace.c. */
struct tsl_layout {
    uint32_t epoch;    /* the one in which data are distributed; 0: none has begun */
    uint32_t question; /* the launch that was asked about last, by number ... */
    bool answered;     /* ... it was */
    enum tsl_layout_decision decision;
    double lost_ns;   /* by launches that stayed whole since the epoch began */
    double moves_ns;  /* what the first moves of their objects take */
    double doubt;     /* times so much as these the first must be, before the next epoch begins; below 1: 1 */
    double credit_ns; /* what first moves may still take in this epoch */
    double spent_ns;  /* what they have taken */
    double earned_ns; /* by cuts without such moves, less what brought data together, since so much was earned last */
    bool is_open;     /* an epoch has begun and hasn't ended */
    uint64_t began_ns, paid_at_ns; /* ... then; the last launch whose moves it paid was asked about then */
    double watch_ns;               /* the pace is judged after so long */
    uint64_t first_kernel;         /* the first that was launched since it was judged last */
    double booked_ns;              /* what the ledger says of what is watched */
    unsigned n_slow;               /* so many times, one after another, it wasn't higher */
    struct tsl_pace pace, whole_pace;
    bool is_watched;      /* the pace with cut launches is, in an epoch or not ... */
    bool is_due;          /* ... and is to be judged */
    unsigned phase;       /* of epochs, by number */
    unsigned n_watched;   /* launches, and parts of such, that have ended since the pace was judged last */
    uint64_t end_ns;      /* when one ended last ... */
    double owed_ns;       /* ... what of the time until then nothing counts for yet ... */
    double allowed_ns;    /* ... and what may */
    uint64_t cut_at_ns;   /* when it was asked about the launch that was cut last ... */
    double cut_ns;        /* ... what that takes whole ... */
    double cut_booked_ns; /* ... and what the ledger has for it */
};

/* Of apart.c. */
struct tsl_apart {
    bool together;   /* whole launches go to one member, home, if they can */
    bool has_choice; /* the launch that is asked about may run on several members */
    unsigned home;
    unsigned step;     /* ways that were watched since that was decided last */
    double rest_ns;    /* for so long nothing is watched, ... */
    double n_rest;     /* ... the last time for so many windows, ... */
    bool was_together; /* ... as that was found to be faster */
    uint64_t last_ns;  /* a launch ended, ... */
    double left_ns;    /* ... and so much of the time before that was not counted yet */
    unsigned n;        /* launches, since this way is watched, the first of that kernel */
    uint64_t first_kernel;
    struct tsl_pace window;        /* what is watched since then */
    double ran_ns, thought_ns;     /* of those that were timed: what they took, and were thought to take */
    double paces[2];               /* what was watched last: apart, together */
    double of_ns[TSL_MAX_MEMBERS]; /* what whole launches took, by members, since the rest began ... */
    double moved_ns;               /* ... and their moves */
};

/* What the parts of a launch lack. */
struct tsl_layout_moves {
    double ns;           /* all of it, and the wait for it */
    double unpaid_ns;    /* of objects that haven't moved yet in this epoch */
    double uncounted_ns; /* of those that don't count yet for the next one */
    double use_ns;       /* first launches on members */
};

struct tsl_placer {
    tsl_choose_fn *choose;
    unsigned n;
    bool one_kind;                        /* TESELA_REPRODUCIBLE */
    double speed[TSL_MAX_MEMBERS];        /* caps.speed */
    double second_speed;                  /* ... of the second fastest; 0: there is none */
    double first_use_ns[TSL_MAX_MEMBERS]; /* caps.first_launch_ns */
    uint64_t kind[TSL_MAX_MEMBERS];       /* tsl_kind_of */
    bool profiles[TSL_MAX_MEMBERS];       /* caps.profiles */
    double fill[TSL_MAX_MEMBERS];         /* caps.fill_items */
    unsigned domain[TSL_MAX_MEMBERS];     /* caps.domain */
    tsl_members rivals[TSL_MAX_MEMBERS];  /* others that compute on the same processors */
    bool is_gpu[TSL_MAX_MEMBERS];
    double weight[TSL_MAX_MEMBERS];        /* weights: shares, at least one > 0 */
    double credit[TSL_MAX_MEMBERS];        /* weights: what each has earned and not had */
    unsigned last;                         /* round-robin: the member that was chosen last */
    struct tsl_load load[TSL_MAX_MEMBERS]; /* eager, auto */
    struct tsl_model *model;               /* auto; NULL for the other policies */
    uint64_t program;                      /* auto: what the model knows this process' program by */
    double purse_ns;                       /* auto: what tries may cost */
    double leads_ns;                       /* auto: what windows at the begin of launches have cost, of late */
    double longest_ns;                     /* auto: the longest launch, or part of one, that was measured */
    unsigned n_units[TSL_MAX_MEMBERS];     /* compute units; 1: not known */
    uint64_t trying;                       /* auto: what a variant is known by whose try hasn't ended; 0: none */
    double regret_ns[TSL_MAX_MEMBERS];     /* auto: what was lost by leaving data where they are instead of moving them
                                              there */
    double doubt[TSL_MAX_MEMBERS];         /* auto: ... times so much as the move it must be; below 1: 1 */
    unsigned n_moves;                      /* auto: planned */
    enum tsl_split split;                  /* which launches are cut */
    bool by_weight;                        /* weights: launches are cut by them */
    bool used[TSL_MAX_MEMBERS];            /* auto: a launch was placed there */
    struct tsl_asked asked[TSL_N_ASKED];   /* auto: by kernel */
    double last_of[TSL_MAX_MEMBERS];       /* auto: the parts of the launch that was cut last */
    struct tsl_layout layout;              /* auto: are data distributed over members? */
    struct tsl_samples cut;                /* auto: what a cut costs beside the longest part, as measured */
    struct tsl_samples latency;            /* auto: by how much later than by the moves alone a launch that waits for
                                              moves between members begins, as measured */
    uint64_t timing_ns;                    /* auto: when the cut was asked for whose parts are being placed */
    bool times, follows;                   /* auto: a part of it is timed; all are, because one before was */
    struct tsl_samples plan;               /* auto: how long the host takes to plan a cut of whatever kernel */
    struct tsl_samples plan_divided;       /* ... of a launch that is divided into insides and rims */
    unsigned n_undivided;                  /* launches for which that was too long */
    struct tsl_samples joints;             /* auto: how many times as long as expected it takes to make copies and to
                                              make them one, as measured */
    struct tsl_gains gains;
    struct tsl_apart apart;       /* auto */
    double ledger_ns;             /* auto: what cuts gained, less the moves between members, of late */
    double back_ns;               /* auto: the most that would move to bring together what cuts distributed */
    unsigned n_cuts;              /* auto: launches that were cut since the last pause */
    unsigned paused;              /* auto: so many launches more run whole */
    double pause_ns;              /* auto: ... and so long they took the last time, estimated; 0: never */
    unsigned most_parts;          /* auto: launches are cut in so many parts at most; 0: in any number */
    unsigned n_gained, n_trusted; /* auto: cuts that gained since then; after so many more parts are tried */
    double whole_ns;              /* auto: what the last launch that might be cut takes whole */
    unsigned n_uncut;             /* auto: launches that were left whole though they could be cut */
};

/* What tells members apart that differ in kind: equal ones take the same time for the same work. Stable from run to
 * run; i: stands for a member without a path (tests). Never 0, TSL_KIND_HOST or TSL_KIND_WORK … */
uint64_t tsl_kind_of(const struct tsl_member *member, unsigned i);

/* Leaves only one kind of members eligible, where the settings ask for that: in `kept`, to which the ask then points.
 */
void tsl_placer_narrow(const struct tsl_placer *placer, struct tsl_ask *ask,
                       struct tsl_candidate kept[TSL_MAX_MEMBERS]);

/* How many members have a part. */
static inline unsigned tsl_placer_count(const struct tsl_placer *placer, const double of[TSL_MAX_MEMBERS])
{
    unsigned n = 0;

    for (unsigned i = 0; i < placer->n; i++)
        n += of[i] > 0;
    return n;
}

static inline bool tsl_placer_rivals(const struct tsl_placer *placer, unsigned a, unsigned b)
{
    return tsl_members_has(placer->rivals[a], b);
}

/* Is this the better of two otherwise equal candidates? The faster one is; then the one that comes first. */
static inline bool tsl_placer_faster(const struct tsl_placer *placer, unsigned i, unsigned than)
{
    return placer->speed[i] > placer->speed[than] || (placer->speed[i] == placer->speed[than] && i < than);
}

/* simple.c */
void tsl_place_eager(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
void tsl_place_fastest(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
void tsl_place_round_robin(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
void tsl_place_weights(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
/* Takes the shares from the settings, which name them in the order of all members: those without one have none; if
 * nothing is left, all have the same. */
void tsl_place_weights_init(struct tsl_placer *placer, struct tsl_member *const *members, const double *weights,
                            size_t n_weights);

/* auto.c */
void tsl_place_auto(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
/* Places the launch on the placement's member, which another policy chose: what waits there is known to all. */
void tsl_auto_book(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
/* A try has ended, or another launch: what was spent, what may be. */
void tsl_auto_done(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended);

/* lead.c: a launch took so long, of which windows may cost a part. */
void tsl_lead_earn(struct tsl_placer *placer, double ns, bool measured);

/* Part of what launches take that tries may cost. */
#define TSL_TRY_PART 0.02

struct tsl_option;
/* The member where the launch ends first (best), or one to which data move since what was lost without that has paid
 * for it. */
unsigned tsl_auto_or_move(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                          unsigned best);
/* A member to try instead of the best one, or that. *slack: below 0, or what it was set to (auto.c). */
unsigned tsl_auto_to_try(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                         unsigned best, double *slack);

/* What the launch takes if it runs whole, on the member where it ends first. */
struct tsl_whole {
    unsigned member;
    bool known;                     /* by runs of this kernel on that kind of member */
    bool measured;                  /* at about that size */
    double run_ns, end_ns, move_ns; /* end_ns: from now */
};
struct tsl_whole tsl_auto_whole(struct tsl_placer *placer, const struct tsl_ask *ask);
/* How long a part of `size` work-items takes on a member: known, or feared by what the others take; *known says which.
 * The kernel is known on some kind. */
double tsl_auto_part_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                        bool *known);
/* How long the member's part of so many work-items takes at worst, of late; 0: that was seen too rarely. */
double tsl_auto_part_most_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size);
/* May a part of that size take less than the whole launch takes, although it is judged as if it didn't? It doesn't fill
 * the member, and none like it was seen there. */
bool tsl_auto_part_unseen(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size);
/* tsl_placer_windows(), and what it learns from. */
enum tsl_by_windows tsl_auto_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                                     bool tries);
void tsl_auto_windows_ended(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, unsigned n_chained,
                            uint64_t ns);
void tsl_auto_place_part(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                         struct tsl_placement *placement);

/* parts.c: how long cuts wait for moves is seen by two that are timed, one behind the other. So all parts are timed of
 * a cut behind one of which a part is. */
void tsl_parts_time(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement);
/* parts.c: a launch was placed whole on that member. */
void tsl_parts_book_whole(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member);

/* pays.c: by how much later than by the moves alone a launch starts that waits for moves between members, which take
 * peer_ns; 0 without such moves. */
double tsl_pays_latency_ns(const struct tsl_placer *placer, double peer_ns);
/* pays.c: should the launch not be asked about, but run whole, to be measured or since it is not worth asking? */
/* pays.c: for so many launches of the kernel the one that is asked about stands. */
unsigned tsl_pays_stands_for(struct tsl_placer *placer, uint64_t kernel);
/* pays.c: the ledger said so much too little. */
void tsl_pays_correct(struct tsl_placer *placer, double ns);
/* pays.c: nothing is cut for a while. */
void tsl_pays_pause(struct tsl_placer *placer);
/* pays.c: all kernels' next launches are asked about. */
void tsl_pays_ask_all(struct tsl_placer *placer);
bool tsl_pays_skips(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts);
bool tsl_pays_measures(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                       struct tsl_parts *parts);

/* layout.c: a launch is decided. */
void tsl_layout_begin(struct tsl_placer *placer);
/* It would gain loss_ns by being cut, moves apart, and these are against it. Are they made all the same? */
bool tsl_layout_pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts,
                     const struct tsl_layout_moves *moves, double loss_ns);
/* A launch is cut that pays for its own moves, and takes so much less than whole without any. Returns what of the moves
 * the epoch pays. */
double tsl_layout_earned(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_layout_moves *moves,
                         double ns);
/* pace.c: an epoch begins, or no launches are cut any more; a launch is to be cut, in one or not; a launch, or a part
 * of one, is placed. */
void tsl_pace_begin(struct tsl_placer *placer, uint64_t now_ns);
void tsl_pace_end(struct tsl_placer *placer);
void tsl_pace_cut(struct tsl_placer *placer, uint64_t now_ns);
void tsl_pace_placed(struct tsl_placer *placer, struct tsl_placement *placement, uint64_t now_ns);
/* A launch, or a part of one, has ended. */
void tsl_pace_ended(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended);
/* Is it known how launches get on without that? */
bool tsl_pace_knows(const struct tsl_placer *placer);
/* Did they get on no faster with distributed data in earlier runs of the program, as a rule? */
bool tsl_pace_was_slower(struct tsl_placer *placer);
/* apart.c: it is asked where a launch may run whole. Is it to be kept with the others; may it run there? It was placed,
 * and has ended. */
void tsl_apart_asked(struct tsl_placer *placer, const struct tsl_ask *ask);
bool tsl_apart_holds(const struct tsl_placer *placer);
bool tsl_apart_allows(const struct tsl_placer *placer, unsigned member);
void tsl_apart_placed(struct tsl_placer *placer, struct tsl_placement *placement, double move_ns);
void tsl_apart_ended(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended);
/* Cuts have lost too much: nothing moves any more on the account of others. */
void tsl_layout_close(struct tsl_placer *placer);

/* load.c: what waits on each member. */

/* A launch of a known kernel was placed whole; one of an unknown kernel has ended; one was cut that takes so much
 * whole; the ledger has an entry; the model is told of all that. */
void tsl_gains_launched(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, double whole_ns);
void tsl_gains_ended(struct tsl_placer *placer, double whole_ns);
void tsl_gains_cut(struct tsl_placer *placer, double whole_ns);
void tsl_gains_booked(struct tsl_placer *placer, double ns);
void tsl_gains_tell(struct tsl_placer *placer);
/* Are launches about as long as in earlier runs of the program, or shorter? */
bool tsl_gains_are_alike(struct tsl_placer *placer);

/* How long until all that was placed there has ended. */
double tsl_load_left_ns(const struct tsl_load *load, uint64_t now_ns);
/* How long until the member's processors have done that, and what was placed on its rivals. */
double tsl_busy_ns(const struct tsl_placer *placer, unsigned member, uint64_t now_ns);
void tsl_load_add(struct tsl_load *load, struct tsl_placement *placement, uint64_t now_ns);
void tsl_load_remove(struct tsl_load *load, const struct tsl_placement *placement, const struct tsl_ended *ended);

#endif
