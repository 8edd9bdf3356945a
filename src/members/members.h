/*
 * The registry: which members this process has. Discovery happens once, at first real use (context creation, or a
 * device query that needs it), never in platform enumeration (loaders hold a once-lock there).
 */
#ifndef TSL_MEMBERS_MEMBERS_H
#define TSL_MEMBERS_MEMBERS_H

#include "driver/driver.h"
#include "driver/report.h"

/* One row of `tesela info`: a path, and whether it serves. */
struct tsl_found {
    struct tsl_path path;
    bool used;     /* chosen by TESELA_MEMBERS, the config or the defaults */
    char *why_not; /* when not used: a sentence (left out by TESELA_MEMBERS, the same device as …, error …) */
    struct tsl_member *member; /* opened on demand by tsl_members_open; NULL before or when it failed */
};

/* A platform, or a library, that was found and gave no device, and why (heap). */
struct tsl_empty {
    char *name, *why;
};

struct tsl_problem {
    enum tsl_trouble trouble;
    char *sentence;
};

struct tsl_found_list {
    unsigned n;
    struct tsl_found *rows;       /* in the order of drivers, then of their probe */
    struct tsl_problem *problems; /* vendors that could not be loaded at all, and the like */
    unsigned n_problems;
    struct tsl_empty *empty; /* not problems: a vendor whose hardware is missing, say */
    unsigned n_empty;
};

/* Probes all drivers, once per process, thread-safe; later calls return the same list. Never NULL. May block.
 * An empty list with a sentence in problems is returned, and must not be kept, to the child of a fork() that came after
 * the first call, and to a driver or vendor that comes back here from inside its own probe or open (hwloc's OpenCL
 * plug-in, which PoCL loads, does). */
const struct tsl_found_list *tsl_members_probe(void);

/* Opens (once) all members in use and returns them in order of index. *n may be 0. A member that fails to open is left
 * out: its row isn't used any more and has the reason. May block. The array lives until the process ends. *n is 0 also
 * where tsl_members_probe returns an empty list; such an answer must not be kept. */
struct tsl_member *const *tsl_members_open(unsigned *n);

/* Registers a driver before the first probe (tests register the fake one). */
void tsl_members_register(const struct tsl_driver *driver);

/* Tests only: and the drivers that are built in are not probed, which takes the time of loading their libraries. */
void tsl_members_register_alone(const struct tsl_driver *driver);

/* Tests only: forgets everything; the caller made sure that nothing is in use. */
void tsl_members_reset(void);

#endif
