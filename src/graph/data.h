/*
 * A door of the graph for the layers below it: the data of a root memory object, opaque. object/buffer.c,
 * object/image.c and object/svm.c come in here; life.h is the other such door, and copies.h has the inside.
 *
 * A root memory object (one that is no part of another) has one struct tsl_data; its parts use that one.
 */
#ifndef TSL_GRAPH_DATA_H
#define TSL_GRAPH_DATA_H

#include "object/buffer.h"

struct tsl_data;
struct tsl_sub_mems;

/* The data of the memory object's root. */
static inline struct tsl_data *tsl_data_of(const struct tsl_buffer *buffer)
{
    return tsl_buffer_root((struct tsl_buffer *)(uintptr_t)buffer)->data;
}

/* owner: a root whose size and flags are set, and whose image is, if it is one. host_ptr: NULL, or the application's
 * memory. NULL without memory. */
struct tsl_data *tsl_data_create(struct tsl_buffer *owner, void *host_ptr);
/* No command uses the data any more. Calls drivers: not under a lock. */
void tsl_data_destroy(struct tsl_data *data);
/* The data is that region of shared virtual memory. Before anybody uses it. */
void tsl_data_set_svm(struct tsl_data *data, const struct tsl_svm *svm);

/* The host's copy, allocated at first need and aligned as every member wants it; NULL without memory. Under the graph's
 * lock, or before anybody else knows the object. */
char *tsl_data_host(struct tsl_data *data);
/* The application will see much of the host's copy: if that is not made yet, it is made of pinned memory, where a
 * member likes that. Calls drivers: not under a lock. */
void tsl_data_pin(struct tsl_data *data);
/* The application may take the memory that it lent away as soon as its commands have ended: from here on the memory is
 * not pinned. Calls drivers and waits for transfers that were submitted: not under a lock. */
void tsl_data_unregister(struct tsl_data *data);

/* The memory of a part (a sub-buffer, an image of a buffer) on the members; NULL without memory. Takes the graph's
 * lock.
 */
struct tsl_sub_mems *tsl_sub_mems_create(struct tsl_data *data);
/* The same under the graph's lock. */
struct tsl_sub_mems *tsl_sub_mems_create_locked(struct tsl_data *data);
/* Nobody used it yet. Under the graph's lock; NULL allowed. */
void tsl_sub_mems_forget_locked(struct tsl_sub_mems *subs);
/* No command uses the part any more. Calls drivers: not under a lock. NULL allowed. */
void tsl_sub_mems_destroy(struct tsl_sub_mems *subs);

/* The object's last user let it go, and a destructor waits: the ends of commands that use the object, or other parts of
 * its root, will be noticed without anybody waiting for them. Takes the graph's lock. */
void tsl_data_let_go(struct tsl_buffer *buffer);

#endif
