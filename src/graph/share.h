/*
 * A share of a command's work: what one member does of it. A command has one, in place; a launch that is cut has more
 * (cut.h). What a share of a command that is no kernel does, and where, is in its operation alone.
 */
#ifndef TSL_GRAPH_SHARE_H
#define TSL_GRAPH_SHARE_H

#include "footprint/window.h"
#include "place/place.h"

struct tsl_args;
struct tsl_op;
struct tsl_slices;

/* How a launch is cut (cut.h). */
enum tsl_rung { TSL_RUNG_WHOLE, TSL_RUNG_EXACT, TSL_RUNG_DOMAIN, TSL_RUNG_MERGE, TSL_RUNG_REDUCE, TSL_N_RUNGS };

/* Why a launch runs whole. */
enum tsl_whole_why {
    TSL_WHOLE_ONE_MEMBER, /* nothing to cut it over, so nobody asked */
    TSL_WHOLE_SETTING,    /* TESELA_SPLIT, or a policy that cuts nothing */
    TSL_WHOLE_SMALL,
    TSL_WHOLE_NO_WINDOWS, /* no member can run a part of it */
    TSL_WHOLE_PAUSED,     /* cuts cost more than they gained of late */
    TSL_WHOLE_UNKNOWN,    /* nothing is known of the kernel yet */
    TSL_WHOLE_MEASURED,   /* to see what it takes whole */
    TSL_WHOLE_NO_PARTS,   /* no second member is free and known, or its part would be too small */
    TSL_WHOLE_UNPAID,     /* it would not end earlier */
    TSL_WHOLE_FORBIDDEN,  /* by what tsl_command.cut_why says */
    TSL_N_WHOLE_WHYS
};

struct tsl_share {
    struct tsl_window window;       /* of a kernel: the launch and the part of it that is this share's */
    struct tsl_args *args;          /* of a kernel whose shares work on copies (joints.h): owned; NULL: the command's */
    unsigned variant;               /* of a kernel: 0: the original; else 1 + which of its part's variants */
    bool unmeasured;                /* ... whose time says nothing: variants were compared meanwhile */
    struct tsl_placement placement; /* of a kernel: its member, and what is owed to the placer */
    struct tsl_slices *slices; /* of a launch that runs window by window: what it has in an area; owned reference */
    bool again;                /* of a launch that is cut: it failed, and is done once more (redo.h) */
    bool rim;                  /* of a launch that is cut: it waits for what moves (cut_rims.h) */
    bool moved;                /* of a launch that is cut: large data moved for it */
    double peer_ns;            /* ... and how long its moves between members were thought to take */
    double joint_ns;           /* ... and its copies (joints.h), of the first share; 0: it has none */
    uint64_t work;             /* ... its work, as so many items of even work (cut_work.h) */
    uint64_t asked_ns;         /* ... when that was decided */
    uint64_t ran_from_ns, ran_to_ns; /* of a launch, once its operation is done: when it ran; 0: unknown */
    bool partial;              /* of a kernel: its footprint was asked for, so not all of its arguments is claimed */
    struct tsl_op *op;         /* whose times the command reports; owned reference; NULL: none yet, or no work */
    uint64_t start_ns, end_ns; /* as told to the application first; 0: not yet */
};

#endif
