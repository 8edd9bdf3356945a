/*
 * A context: its device(s), the members behind them, and the graph of all its commands.
 */
#ifndef TSL_OBJECT_CONTEXT_H
#define TSL_OBJECT_CONTEXT_H

#include "base/lock.h"
#include "base/sets.h"
#include "device/device.h"
#include "handle/object.h"

#include <bsd/sys/tree.h>

struct tsl_graph;
struct tsl_svm;

RB_HEAD(tsl_svm_tree, tsl_svm);

typedef void(CL_CALLBACK tsl_context_error_fn)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK tsl_context_destructor_fn)(cl_context, void *);

struct tsl_context_destructor {
    struct tsl_context_destructor *next;
    tsl_context_destructor_fn *fn;
    void *arg;
};

struct tsl_context {
    struct tsl_object object;
    cl_uint n_devices;
    struct tsl_device **devices;
    cl_context_properties *properties; /* as given, with the closing 0; NULL if none were given */
    size_t n_properties;               /* words, closing 0 included */
    tsl_context_error_fn *error_fn;
    void *error_arg;
    struct tsl_context_destructor *destructors; /* newest first; under lock */
    struct tsl_lock lock;                       /* leaf */
    unsigned n_members;
    struct tsl_member **members; /* those behind the devices, in order of index; the array is owned */
    struct tsl_graph *graph;     /* graph/life.h: owned */
    struct tsl_svm_tree svm;     /* shared virtual memory that was not freed (object/svm.h); under lock */
};

/* The arguments were checked. CL_DEVICE_NOT_AVAILABLE: there is no member. May block (opens members). */
cl_int tsl_context_create(const cl_context_properties *properties, size_t n_properties,
                          struct tsl_device *const *devices, cl_uint n_devices, struct tsl_context **context);

/* clSetContextDestructorCallback: fn is called once, when the context and all that it owns is gone. */
cl_int tsl_context_on_destroy(struct tsl_context *context, tsl_context_destructor_fn *fn, void *arg);

/* Is this one of the context's devices? */
bool tsl_context_has_device(const struct tsl_context *context, const struct tsl_device *device);

/* Bits of the context's members that are behind one of its devices (all of them behind the virtual one). */
tsl_members tsl_context_members_of(const struct tsl_context *context, const struct tsl_device *device);

#endif
