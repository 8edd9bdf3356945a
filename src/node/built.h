/*
 * Drivers' programs that sessions share: what one program has built on a member another builds there by having it. Only
 * those without variables, which each program must have its own of. Some are kept when nobody has them any more. Any
 * thread; a driver is called under no lock.
 */
#ifndef TSL_NODE_BUILT_H
#define TSL_NODE_BUILT_H

#include "base/bytes.h"
#include "compile_client/digest.h"
#include "driver/driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

/* So many that nobody has are kept, … */
#define NODE_MOST_BUILT 64u
/* … which are so many bytes at most, as far as that is known: what each was made of, and its code. */
#define NODE_MOST_BUILT_SIZE ((size_t)64 << 20)
/* What counts for code of which the driver can't tell more. */
#define NODE_LEAST_CODE_SIZE ((size_t)256 << 10)

struct node_built {
    unsigned refs; /* sessions' programs and jobs */
    bool making;
    bool listed; /* others may have it; constant once it is made */
    struct tsl_member *member;
    uint8_t digest[TSL_DIGEST_SIZE];
    struct tsl_dprogram *program; /* constant once it is made; NULL: the build failed */
    struct tsl_writer answer;     /* likewise: of the build */
    size_t content_size;          /* likewise: bytes of what it was made of */
    unsigned n_kernels;           /* that were ever made of it; under the lock */
    /* Under the lock: the text for windows that it was given, by its digest. */
    bool has_windows, making_windows;
    uint8_t windows[TSL_DIGEST_SIZE];
    cl_int windows_status; /* constant once it was given */
    TAILQ_ENTRY(node_built) link;
};

struct node_builts {
    pthread_mutex_t lock; /* a leaf */
    pthread_cond_t made;
    TAILQ_HEAD(node_built_list, node_built) list; /* last used first */
};

void node_builts_init(struct node_builts *builts);
/* Nobody has any. */
void node_builts_finish(struct node_builts *builts);
/* A reference to what was made of that content on that member; else to a new one, which is still to be made (*is_new):
 * node_built_end must follow. Waits for another job that makes the same. NULL: no memory. */
struct node_built *node_built_take(struct node_builts *builts, struct tsl_member *member,
                                   const uint8_t digest[TSL_DIGEST_SIZE], bool *is_new);
/* It is made, or it isn't: others make it themselves then, as they do where it isn't shared. */
void node_built_end(struct node_builts *builts, struct node_built *built, bool is_shared);
/* Before a kernel of it is made. Waits for a text for windows that is being given. */
void node_built_begin_kernel(struct node_builts *builts, struct node_built *built);
void node_built_unref(struct node_builts *builts, struct node_built *built); /* NULL allowed */

/* ---- Texts for windows: given once, before any kernel ------------------------------------------------------------- */

enum node_windows {
    NODE_WINDOWS_ARE_THERE, /* it was given that text before: windows_status says how that went */
    NODE_WINDOWS_CLAIMED,   /* the caller gives it, and calls node_built_end_windows */
    NODE_WINDOWS_CANNOT_BE  /* there are kernels of it, or it has another text */
};

enum node_windows node_built_claim_windows(struct node_builts *builts, struct node_built *built,
                                           const uint8_t windows[TSL_DIGEST_SIZE]);
void node_built_end_windows(struct node_builts *builts, struct node_built *built, cl_int status);
/* As node_built_take: of the same content and member as `like`, with that text. The maker sets windows_status. */
struct node_built *node_built_take_with(struct node_builts *builts, const struct node_built *like,
                                        const uint8_t windows[TSL_DIGEST_SIZE], bool *is_new);

#endif
