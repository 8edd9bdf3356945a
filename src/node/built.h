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
    bool making, listed;
    struct tsl_member *member;
    uint8_t digest[TSL_DIGEST_SIZE];
    struct tsl_dprogram *program; /* constant once it is made; NULL: the build failed */
    struct tsl_writer answer;     /* likewise: of the build */
    size_t content_size;          /* likewise: bytes of what it was made of */
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
void node_built_unref(struct node_builts *builts, struct node_built *built); /* NULL allowed */

#endif
