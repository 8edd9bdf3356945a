/*
 * What programs were made of, by its digest: in memory, and on disk where the compiler's results are. So no program
 * says again what this node, or another one with the same folder, has heard. Any thread.
 */
#ifndef TSL_NODE_CONTENT_H
#define TSL_NODE_CONTENT_H

#include "compile_client/digest.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

/* Bytes in memory. */
#define NODE_MOST_CONTENT ((size_t)64 << 20)

struct node_content;

struct node_contents {
    pthread_mutex_t lock;                             /* a leaf */
    TAILQ_HEAD(node_content_list, node_content) list; /* last used first */
    size_t size;
};

void node_contents_init(struct node_contents *contents);
void node_contents_finish(struct node_contents *contents);
/* Its bytes (heap, the caller's); NULL: they were never heard, or are gone. */
void *node_content_get(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], size_t *size);
/* False: the digest is another's. */
bool node_content_keep(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], const void *data,
                       size_t size);

#endif
