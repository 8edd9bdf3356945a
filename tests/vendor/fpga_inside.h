/* What the files of the test FPGA share. One lock guards everything; no callback is called under it. */
#ifndef TSL_TESTS_FPGA_INSIDE_H
#define TSL_TESTS_FPGA_INSIDE_H

#include "fpga.h"

#include <CL/cl_icd.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/queue.h>

#define FPGA_DMA_ALIGN 64u
#define FPGA_MAX_ARGS  4u
#define FPGA_MEMORY    ((cl_ulong)256 << 20)
#define FPGA_KERNELS   8u /* that there may be in one binary */

enum fpga_kind {
    FPGA_PLATFORM,
    FPGA_DEVICE,
    FPGA_CONTEXT,
    FPGA_QUEUE,
    FPGA_MEM,
    FPGA_PROGRAM,
    FPGA_KERNEL,
    FPGA_EVENT
};

/* The beginning of every object. */
struct fpga_head {
    const cl_icd_dispatch *dispatch;
    enum fpga_kind kind;
    unsigned refs;
};

struct _cl_platform_id {
    struct fpga_head head;
};

struct _cl_device_id {
    struct fpga_head head;
    const char *name, *mode;
    bool has_thread;
    TAILQ_HEAD(, _cl_command_queue) queues;
};

struct _cl_context {
    struct fpga_head head;
    cl_device_id device; /* one, as Tesela makes them */
};

struct _cl_mem {
    struct fpga_head head;
    cl_context context;
    cl_mem parent; /* NULL: none */
    char *data;
    size_t size;
};

struct fpga_range {
    size_t begin, end;
};

/* A kernel that binaries may name. size 0: a buffer. */
struct fpga_design {
    const char *name;
    cl_uint n_args;
    size_t sizes[FPGA_MAX_ARGS];
    void (*run)(struct fpga_range range, void *const *args);
};

struct _cl_program {
    struct fpga_head head;
    cl_context context;
    char *binary; /* NULL: from source */
    size_t size;
    bool built;
    unsigned n_designs;
    const struct fpga_design *designs[FPGA_KERNELS];
};

/* Buffers by handle, values by their bytes. */
struct fpga_arg {
    cl_mem mem;
    unsigned char value[16];
    bool set;
};

struct _cl_kernel {
    struct fpga_head head;
    cl_program program;
    const struct fpga_design *design;
    struct fpga_arg args[FPGA_MAX_ARGS];
};

/* One side of a transfer: rows of bytes. */
struct fpga_side {
    cl_mem mem; /* NULL: host */
    char *host;
    size_t origin[3], row_pitch, slice_pitch;
};

struct fpga_callback {
    void(CL_CALLBACK *fn)(cl_event event, cl_int status, void *arg);
    void *arg;
    cl_int at;
    struct fpga_callback *next;
};

/* An event, and the command that it is of. */
struct _cl_event {
    struct fpga_head head;
    cl_context context;
    cl_command_queue queue; /* NULL: a user event */
    cl_command_type type;
    cl_int status;
    bool flushed;
    cl_uint n_waits;
    cl_event *waits; /* with references */
    struct fpga_callback *callbacks;
    cl_ulong times[4]; /* queued, submitted, start, end */
    TAILQ_ENTRY(_cl_event) link;
    /* What to do. */
    struct fpga_side dst, src;
    size_t region[3];
    unsigned char pattern[128];
    size_t pattern_size;
    cl_kernel kernel;
    struct fpga_range range;
    struct fpga_arg args[FPGA_MAX_ARGS];
};

struct _cl_command_queue {
    struct fpga_head head;
    cl_context context;
    cl_command_queue_properties properties;
    TAILQ_HEAD(fpga_commands, _cl_event) commands; /* not complete, in order; each has a reference */
    TAILQ_ENTRY(_cl_command_queue) link;
};

extern const cl_icd_dispatch fpga_dispatch;
extern pthread_mutex_t fpga_lock;

/* fpga.c. create: zeroed, one reference; NULL without memory. unref under the lock; NULL allowed. */
void *fpga_create(enum fpga_kind kind, size_t size);
void fpga_ref_locked(void *object);
void fpga_unref_locked(void *object);
/* Is it an object of that kind? */
bool fpga_is(const void *object, enum fpga_kind kind);

/* fpga_queue.c. A command into its queue, whose reference the caller gives; *event as in clEnqueue…; blocking: waits.
 */
cl_int fpga_check_waits(cl_uint n, const cl_event *waits);
cl_int fpga_enqueue(cl_event command, cl_uint n, const cl_event *waits, bool blocking, cl_event *event);
void fpga_start_thread_locked(cl_device_id device);
cl_ulong fpga_now(void);

/* What all boards have without a binary. */
#define FPGA_BUILT_IN "triple"

/* fpga_kernels.c. design_of: NULL: there is no such kernel. parse: false: these bytes are no binary for a device of
 * that mode. */
const struct fpga_design *fpga_design_of(const char *name);
bool fpga_parse(const char *mode, cl_program program);
void fpga_count_run(const char *kernel, const char *mode);

/* The API outside of fpga.c. */
cl_int CL_API_CALL fpga_flush(cl_command_queue queue);
cl_int CL_API_CALL fpga_finish(cl_command_queue queue);
cl_int CL_API_CALL fpga_wait_for_events(cl_uint n, const cl_event *events);
cl_int CL_API_CALL fpga_set_event_callback(cl_event event, cl_int at, void(CL_CALLBACK *fn)(cl_event, cl_int, void *),
                                           void *arg);
cl_event CL_API_CALL fpga_create_user_event(cl_context context, cl_int *error);
cl_int CL_API_CALL fpga_set_user_event_status(cl_event event, cl_int status);

/* Functions of OpenCL 1.1 by names of their own, as FPGAs' runtimes have them that say 1.0 (FPGA_PLATFORM_VERSION). */
#define NAMED(function, name) \
    extern __typeof__(function) name##TestFPGA __attribute__((alias(#function), visibility("default")))

#endif
