/*
 * The copies of a root memory object: where they are, and what is known of each.
 *
 * The object's directory of tiles (tile/tile.h) says which copies hold the current bytes. The host has a copy at most;
 * a member has one while the object is resident there (residency.h). All is guarded by the graph's lock.
 */
#ifndef TSL_GRAPH_COPIES_H
#define TSL_GRAPH_COPIES_H

#include "base/sets.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/data.h"
#include "place/place.h"
#include "tile/ranges.h"
#include "tile/tile.h"

#include <sys/queue.h>

struct tsl_image_desc;
struct tsl_object;
struct tsl_residence;

/* Bytes [begin, end) of an object. */
struct tsl_range {
    uint64_t begin, end;
};

/* Pinning of memory that the application lent (pinning.c). */
enum tsl_pinning { TSL_PINNING_NOT, TSL_PINNING_POSTED, TSL_PINNING_RUNNING, TSL_PINNING_OVER };

struct tsl_data {
    struct tsl_context *context; /* not owned: the buffer's */
    /* What is mapped for writing (mapped.h): the application may write there, so the host's copy stays valid and no
     * move goes into it, whatever kernels claim meanwhile that may touch all of the object, but don't (OpenCL 3.0,
     * 5.4.2). */
    struct tsl_ranges mapped;
    size_t size;
    const struct tsl_svm *svm;          /* the owner's, if that is shared virtual memory; else NULL */
    const struct tsl_image_desc *image; /* the owner's, if that is an image; NULL: a buffer */
    bool padded;                        /* of an image with bytes that are no pixels: these are never moved */
    tsl_members members;                /* those that can hold the object; all can hold a buffer */
    cl_mem_flags flags;                 /* access flags, handed to drivers as hints */
    struct tsl_tiles tiles;             /* the directory */
    char *host;                         /* the host's copy; NULL until needed */
    size_t host_shift;                  /* so many bytes behind the begin of what was allocated for it */
    struct tsl_mem *pinned;             /* a member's memory in which the host's copy lies (host_alloc); or NULL */
    bool host_owned;                    /* the host's copy is ours, not the application's CL_MEM_USE_HOST_PTR */
    unsigned n_untidied;                /* looks at the directory since it was tidied (tidy.h) */
    bool lost;                          /* for want of memory: readers of the object fail */
    bool moved;                         /* ever, from one space to another */
    bool warned;                        /* "read before anything was written" was said */
    int last_member;                    /* the member whose kernel used the object last; -1: none yet */
    bool last_cut;                      /* that kernel was cut: it was one member of several */
    struct tsl_layout_mark layout;      /* the placer's */
    bool host_is_members;     /* a kernel wrote to the host's copy since the application last wrote all of the object */
    struct tsl_object *owner; /* the root memory object */
    enum tsl_pinning pinning;
    struct tsl_job pinning_job;       /* while posted or running it has a reference to the owner */
    struct tsl_mem *registered;       /* pins the application's memory; NULL: not pinned */
    uint64_t traffic;                 /* bytes moved between that memory and members that might pin it, until the job is
                                         posted */
    struct tsl_residence *residences; /* by member */
    /* spread.h, owned; NULL: it never was spread. Set once, under the lock; read without it, too. */
    struct tsl_spread *_Atomic spread;
    LIST_HEAD(, tsl_sub_mems) sub_mems; /* of its parts */
    struct tsl_writers *writers;        /* TESELA_CHECK=coherence: which command wrote what last, owned (coherence.h) */
};

/* A part's memory on the members: made at first need by the thread that drains the port, taken away with the root's. */
struct tsl_sub_mems {
    LIST_ENTRY(tsl_sub_mems) link;
    struct tsl_data *data;
    struct tsl_mem *mems[TSL_MAX_MEMBERS];   /* in the members' own copies */
    struct tsl_mem *spread[TSL_MAX_MEMBERS]; /* in the memory that is spread over them */
};

static inline struct tsl_mem **tsl_sub_mem(struct tsl_sub_mems *subs, unsigned member, bool spread)
{
    return spread ? &subs->spread[member] : &subs->mems[member];
}

#endif
