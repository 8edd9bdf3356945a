/*
 * What a timeline says in numbers: how busy each unit was, what it waited for, which one was the bottleneck, what each
 * kernel did where, and what was gained.
 *
 * A *unit* is what can work by itself: a member's kernels, each direction of a member's transfers, the host's tasks,
 * the host's copies. Shares of time are of the run: from the first operation's start to the last one's end.
 */
#ifndef TSL_TOOL_METERS_H
#define TSL_TOOL_METERS_H

#include "tool/timeline.h"

#include <cjson/cJSON.h>

struct tsl_interval {
    uint64_t start_ns, end_ns;
};

/* Ascending, without overlaps. */
struct tsl_intervals {
    struct tsl_interval *list; /* heap */
    size_t n;
};

enum tsl_unit_kind { TSL_UNIT_KERNELS, TSL_UNIT_TO, TSL_UNIT_FROM, TSL_UNIT_TASKS, TSL_UNIT_COPIES };

struct tsl_unit {
    enum tsl_unit_kind kind;
    unsigned lane; /* of the timeline */
    size_t n;      /* operations */
    uint64_t busy_ns, bytes;
    struct tsl_intervals busy;
    /* Of kernels: idle with the next kernel's bytes on their way to the member; the rest of the idle time is waiting
     * for work. */
    struct tsl_intervals waits;
    uint64_t waits_ns;
    unsigned n_failed;
};

/* One kernel on one member. */
struct tsl_kernel_use {
    uint64_t items, ns; /* of spans that tell both and didn't fail */
    uint64_t busy_ns;   /* of all */
};

struct tsl_kernel_row {
    uint32_t name;                          /* text of the timeline */
    size_t n_launches, n_cut, n_failed;     /* launches */
    size_t n_rungs[TSL_RUNG_OTHER + 1];     /* launches by rung */
    uint64_t busy_ns;                       /* of all its spans */
    uint64_t expected_ns, expected_real_ns; /* of the spans whose time was expected: by then, and really */
    struct tsl_kernel_use *uses;            /* by unit; meters' n_units elements, heap */
    struct tsl_text_count {
        uint32_t text; /* of the timeline */
        size_t n;
    } whys[8], variants[8]; /* of launches; most frequent first */
    unsigned n_whys, n_variants;
};

struct tsl_meters {
    const struct tsl_timeline *timeline;
    uint64_t begin_ns, wall_ns; /* the run within the timeline */
    struct tsl_unit *units;     /* kernels first, members in their order in the file; n_members of them */
    unsigned n_units, n_members;
    unsigned bottleneck;            /* a unit */
    uint64_t any_ns;                /* some unit was busy */
    uint64_t both_ns;               /* two or more were */
    uint64_t kernels_ns;            /* some member computed */
    uint64_t hidden_ns;             /* some transfer or host copy went on while a member computed ... */
    uint64_t transfers_ns;          /* ... of so much time with one */
    uint64_t detours_ns;            /* nobody computed, and bytes came from a member for another command than a read */
    struct tsl_kernel_row *kernels; /* most time first */
    unsigned n_kernels;
    size_t n_launches, n_cut, n_failed;
    uint64_t *alone_ns;  /* by member: the run on it alone, estimated; 0: not known. Heap */
    unsigned best_alone; /* of the known ones; n_members: none is known */
    uint64_t
        together_ns; /* the kernels on all members at their measured speeds, without moves or waiting; 0: unknown */
};

/* False without memory; there is nothing to finish then. The timeline must outlive the meters. */
bool tsl_meters_make(struct tsl_meters *meters, const struct tsl_timeline *timeline);
void tsl_meters_finish(struct tsl_meters *meters);

/* The unit's name for people: "opencl:0.1 computes", "to opencl:0.1"; at most 80 bytes with the NUL. */
void tsl_meters_unit_name(const struct tsl_meters *meters, unsigned unit, char name[80]);

/* Share of the run, 0 to 1. */
static inline double tsl_meters_share(const struct tsl_meters *meters, uint64_t ns)
{
    return meters->wall_ns ? (double)ns / (double)meters->wall_ns : 0;
}

/* The member whose kernels ran in that lane; n_members: none. */
unsigned tsl_meters_member_of(const struct tsl_meters *meters, unsigned lane);

/* Is the span the unit's work? */
bool tsl_meters_is_of(const struct tsl_meters *meters, unsigned unit, const struct tsl_tl_span *span);

/* The object that `tesela meters --json` prints; NULL without memory. */
cJSON *tsl_meters_json(const struct tsl_meters *meters);

#endif
