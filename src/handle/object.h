/*
 * Handle memory. Every OpenCL handle of ours is a struct that begins with struct tsl_object, in type-stable memory: a
 * freed handle keeps a live dispatch word (the loader reads it in whatever it is given) and a dead tag, so it is
 * recognised as CL_INVALID_…; memory of one kind is only ever reused for the same kind, the longest-freed first.
 *
 * Three counts:
 *   users    what clRetain/clRelease change and CL_…_REFERENCE_COUNT reports.
 *   visible  1 while users > 0, plus one for every live object through which the application may get at this handle
 *            (a queue's context, a sub-buffer's parent). At 0 the handle is dead to the application.
 *   refs     1 while visible > 0, plus one for every internal holder (a command in flight). At 0 the object is
 *            destroyed.
 */
#ifndef TSL_HANDLE_OBJECT_H
#define TSL_HANDLE_OBJECT_H

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_dispatch; /* icd/dispatch.h: the table of 150 slots */

enum tsl_kind { /* values are odd on purpose: unlikely as the third word of a foreign object */
                TSL_DEAD = 0,
                TSL_PLATFORM = 0x54534c01,
                TSL_DEVICE = 0x54534c03,
                TSL_CONTEXT = 0x54534c05,
                TSL_QUEUE = 0x54534c07,
                TSL_BUFFER = 0x54534c09, /* every cl_mem, sub-buffers and images too */
                TSL_SAMPLER = 0x54534c0b,
                TSL_PROGRAM = 0x54534c0d,
                TSL_KERNEL = 0x54534c0f,
                TSL_EVENT = 0x54534c11,
};
#define TSL_N_KINDS 10

struct tsl_object {
    const struct tsl_dispatch *dispatch; /* first word: cl_khr_icd */
    void *dispatch_data;                 /* second word: the loader's, since cl_khr_icd 2; children inherit it */
    _Atomic(uint32_t) kind;              /* enum tsl_kind; TSL_DEAD once the application can't reach it any more */
    atomic_uint users, visible, refs;
};

/* Returns zeroed memory of size bytes (the same for every call of a kind) with users = visible = refs = 1; the dispatch
 * words are copied from parent (NULL: the ICD's table). destroy is called with the object when refs falls to 0 and
 * undoes what the object owns; the memory is reused afterwards. NULL when out of memory. Thread-safe. */
typedef void tsl_destroy_fn(struct tsl_object *object);
void *tsl_object_create(enum tsl_kind kind, size_t size, const struct tsl_object *parent, tsl_destroy_fn *destroy);

/* For objects without a parent: the loader's two words, which all objects made from them inherit. data is NULL as long
 * as no loader has told its own. */
void tsl_object_set_dispatch(struct tsl_object *object, const struct tsl_dispatch *dispatch, void *data);

/* Is this a live handle of ours of that kind? Reads the first word of a non-NULL foreign handle, no more. */
bool tsl_object_is(const void *handle, enum tsl_kind kind);

/* Is this the address of a live handle of ours of that kind? Safe for any bit pattern: it reads only our own memory
 * (used to tell a cl_mem argument from eight bytes of data). Takes a lock. */
bool tsl_object_is_address(const void *address, enum tsl_kind kind);

/* users++ and users--, and the other counts where users leaves or reaches 0. The caller has checked the handle. release
 * returns false when users was 0 already: the handle lives only through its children, and the application has no
 * reference to give back. */
void tsl_object_retain(struct tsl_object *object);
bool tsl_object_release(struct tsl_object *object);
cl_uint tsl_object_users(const struct tsl_object *object);

/* Count children through which the application reaches this object. hide allows NULL. */
void tsl_object_show(struct tsl_object *object);
bool tsl_object_try_show(struct tsl_object *object); /* false: the application can't reach it any more */
void tsl_object_hide(struct tsl_object *object);

/* Count internal holders. unref allows NULL. unref may destroy: not under a lock of ours unless the object's destroy
 * says that it may. */
void tsl_object_ref(struct tsl_object *object);
bool tsl_object_try_ref(struct tsl_object *object); /* false: it is being destroyed, or was */
bool tsl_object_dying(struct tsl_object *object);   /* it is being destroyed; its memory is still valid */
void tsl_object_unref(struct tsl_object *object);

/* The number of live objects of a kind (tests count leaks with it). */
size_t tsl_object_live(enum tsl_kind kind);

#endif
