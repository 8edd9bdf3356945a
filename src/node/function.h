/*
 * Functions of shared objects that programs have in the place of kernels (driver/call.h): this node's own copy of the
 * file, if it is the same, called as the program's process would. All of a job's programs share one, its trial and what
 * is known of it. Any thread.
 */
#ifndef TSL_NODE_FUNCTION_H
#define TSL_NODE_FUNCTION_H

#include "compile_client/digest.h"

#include <pthread.h>
#include <sys/queue.h>

struct tsl_call_file;
struct tsl_variant;

/* A job has so many at most: libraries stay loaded. */
#define NODE_MOST_FUNCTIONS 256u

struct node_function;

struct node_functions {
    pthread_mutex_t lock; /* a leaf */
    SLIST_HEAD(, node_function) list;
    unsigned n;
};

void node_functions_init(struct node_functions *functions);
void node_functions_finish(struct node_functions *functions);
/* A reference to what calls the function of the file, whose bytes have that digest. NULL: *why is a sentence. A path
 * stands for the bytes that it had first. */
struct tsl_variant *node_function_take(struct node_functions *functions, const struct tsl_call_file *file,
                                       const uint8_t digest[TSL_DIGEST_SIZE], const char **why);

#endif
