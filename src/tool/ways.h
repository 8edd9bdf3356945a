/*
 * The ways to run a program that `tesela compare` compares: natively on each vendor, on Tesela with one member alone,
 * on Tesela over all members.
 */
#ifndef TSL_TOOL_WAYS_H
#define TSL_TOOL_WAYS_H

#include "tool/child.h"
#include "tool/differ.h"

#include <stdbool.h>

#define TSL_MAX_WAYS     24
#define TSL_MAX_ROUNDS   100
#define TSL_MAX_COMPARED 16

enum tsl_way_kind { TSL_WAY_NATIVE, TSL_WAY_ALONE, TSL_WAY_ALL };

struct tsl_way {
    enum tsl_way_kind kind;
    char name[112];  /* for people */
    char *loader;    /* "OCL_ICD_VENDORS=..." (heap) */
    char *filenames; /* "OCL_ICD_FILENAMES=..." (heap); NULL: unset */
    char *members;   /* "TESELA_MEMBERS=..." (heap); NULL: as it is set, or not */
    bool absent;     /* natively: the vendor shows no device here, so nothing runs */
    bool ran;        /* the first run ended, well or not */
    bool failed;
    char how[128]; /* ... and how: "crashed (Segmentation fault)" */
    uint64_t walls_ns[TSL_MAX_ROUNDS];
    unsigned n_walls;
    char computed[160];                /* which members did which part of the kernels' time; "" if that isn't known */
    uint64_t moved;                    /* bytes between memories */
    bool traced;                       /* computed and moved are known */
    enum tsl_difference output, files; /* against the reference */
    char differs[160];                 /* what differs first */
};

struct tsl_ways {
    char *scratch; /* a folder for all that is written meanwhile (heap); removed at the end */
    struct tsl_way ways[TSL_MAX_WAYS];
    unsigned n;
    unsigned n_members;
    int forbidden;       /* an errno: no process can be started; 0 */
    const char *vendors; /* the folder of their .icd files, the caller's */
};

/*
 * Finds the ways. vendors: the folder of .icd files. icd_folder: that of Tesela's alone. False, with a sentence on
 * standard error: none was found, or nothing can be written. tsl_ways_finish is due in any case.
 */
bool tsl_ways_find(struct tsl_ways *ways, const char *vendors, const char *icd_folder);
void tsl_ways_finish(struct tsl_ways *ways);

/* The median of the way's times; 0 without any. Sorts them. */
uint64_t tsl_way_median_ns(struct tsl_way *way);

#endif
