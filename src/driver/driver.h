/*
 * The driver contract: what the core asks of a technology (vendor OpenCL, CUDA, the built-in CPU, the fake one for
 * tests, later another node) to drive its members.
 *
 * A driver is one `static const struct tsl_driver` with every operation set, except those marked "may be NULL".
 * tsl_driver_check() asserts that once, at registration.
 *
 * Rules for every operation
 * - Errors are OpenCL error codes, passed up unchanged; CL_SUCCESS is 0. On error nothing was done and nothing is owed.
 * - The core holds none of its locks in any call, so a driver may call back (tsl_notify_fn) from inside any operation.
 * - Submissions (copy, fill, launch, native, mark) for one port of the core come from one thread at a time, in order,
 *   but those for different contexts, and every other operation, may come from several threads at once.
 * - "May block" says whether an operation may wait for a device or a compiler. Submissions must not, unless the member
 *   says so in its caps (submits_block); the core then calls them from a thread of their own.
 * - Pointers to host memory stay valid and unchanged (or untouched, where written) until the work's fence completes.
 * - Times are in nanoseconds of the one clock (base/clock.h); the driver maps its devices' clocks to it.
 * - After fork() the child calls nothing of a driver.
 */
#ifndef TSL_DRIVER_DRIVER_H
#define TSL_DRIVER_DRIVER_H

#include "driver/image.h"
#include "facts/window.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_driver;
struct tsl_kernel_facts;

/* Members of one process: their bits, the host's, and one for "nowhere" fit a 32-bit set of spaces (tile/tile.h). */
#define TSL_MAX_MEMBERS 30

/* ---- Paths: what a probe finds --------------------------------------------------------------------------------- */

/* What two paths have in common when they lead to one physical device. Unknown parts are zero / false. */
struct tsl_identity {
    bool has_uuid;
    uint8_t uuid[CL_UUID_SIZE_KHR];
    bool has_pci;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    bool is_host_cpu; /* a CPU device of this host: the host itself */
    bool has_numa;    /* on one NUMA node, or next to it; of PCI devices and host CPUs the registry finds it out */
    unsigned numa_node;
};

/* A driver's way to a device. Owned by the registry (members/members.h); strings are the registry's. */
struct tsl_path {
    const struct tsl_driver *driver;
    char id[32];          /* "opencl:0.1", "cuda:1", "cpu", "fake:0": what TESELA_MEMBERS names */
    char *platform_name;  /* CL_PLATFORM_NAME or the technology's name */
    char *device_name;    /* CL_DEVICE_NAME */
    char *driver_version; /* CL_DRIVER_VERSION */
    cl_device_type type;
    struct tsl_identity identity;
    int preference; /* of several paths to one device the one with the highest serves by default; 0: nothing known */
    bool exclusive; /* no other path to the same device may serve beside this one, whatever TESELA_MEMBERS names */
    char *why_not;  /* NULL: usable; else a sentence: why this path can't be used (e.g. 32-bit addresses) */
    void *priv;     /* the driver's own, e.g. cl_device_id */
};

/* Called by probe() once for each path found, in the driver's stable order. Takes ownership of the heap strings. */
typedef void tsl_found_fn(void *arg, const struct tsl_path *path);

/*
 * ---- Members ----------------------------------------------------------------------------------------------------
 *
 * Lost members. A device may die in use: its context ends with an error, or it falls off the bus. Its member is then
 * lost, for good; a failure of one piece of work, however bad, is none if the next piece can be done.
 *
 * - The driver decides, and says so by tsl_member_lose(): before it returns or tells the first error that the loss is
 *   the reason of, so that whoever learns of such an error finds the member lost.
 * - Work that had not ended by then ends with CL_DEVICE_NOT_AVAILABLE, or well if it was done all the same. It ends in
 *   its turn, as other work that fails does: after its waits, and after what its lane was given before.
 * - Refused with CL_DEVICE_NOT_AVAILABLE are lane_create, mem_alloc, host_alloc, host_register, svm_alloc, image_alloc,
 *   copy, fill, launch, mark, build, kernel_create.
 * - finish waits (nothing of the lane writes to the host's memory afterwards) and returns CL_DEVICE_NOT_AVAILABLE.
 * - fence_status and fence_wait tell how the fence ended; every notification that was accepted comes. What frees
 *   something frees what is the host's; what was the device's may be gone. can_wait and close are as ever.
 * - flush, fence_notify, fence_times, gate_create, gate_open, mem_sub, image_of, compile, link, info and questions
 *   about programs do what they always do, or return CL_DEVICE_NOT_AVAILABLE (fence_times: that there are none). After
 *   gate_open what waits for the gate ends in either case.
 * - Work in other members' lanes that reads or writes the lost member's memory fails, with any error; only their own
 *   loss makes others lost.
 *
 * The core asks tsl_member_is_lost(). The error by itself tells less: a vendor may have a reason of its own for it.
 */

/* What a member is like. Filled by open(), constant afterwards. */
struct tsl_member_caps {
    bool zero_copy;        /* kernels work on the host's copy itself; the member has no space of its own */
    bool zero_copy_images; /* with zero_copy: also on that of images; else these have a space of their own */
    bool submits_block;    /* submissions (or flush) may execute the work in the calling thread */
    bool gates;            /* gate_create works: a submission may wait for something that the host opens later */
    bool gates_ahead;      /* … on the device: what is behind a gate that fails may move bytes nevertheless (loose) */
    bool ordered_lanes;    /* work of one lane completes in submission order (always true for OpenCL and CUDA) */
    bool profiles;         /* fence_times gives the device's own times */
    cl_ulong memory_size;  /* bytes of device memory */
    cl_ulong max_alloc_size; /* bytes of the largest single allocation */
    size_t base_align;       /* bytes; CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8 */
    bool pins_host;          /* transfers from and to memory of host_alloc are faster than others */
    bool pins_at_once;       /* host_alloc is quick and needs nobody: it may be called under the graph's lock */
    size_t register_from;    /* bytes of memory from which host_register may pay; 0: it never does */
    unsigned register_after; /* … namely once so many times its size went between it and the member */
    size_t dma_align;        /* bytes; transfers from and to other host addresses are slow. 0: all are alike */
    double speed; /* rough relative compute speed, > 0: only for the order of members before any measurement */
    /* What kernels make of memory of the host's whose addresses they get (shared virtual memory): CL_DEVICE_SVM_… bits;
     * 0: they can't use such. Of svm_alloc, or, with svm_anywhere, any. */
    cl_device_svm_capabilities svm;
    bool svm_anywhere;
    bool svm_is_mem; /* mem_alloc takes memory of svm_alloc for its own storage, as zero_copy members do with any */
    bool roles_hold; /* what ours says of programs was compared with what this compiler makes of them */
    bool no_views_of_parts;         /* image_of makes no 1D images of what mem_sub gave */
    struct tsl_image_limits images; /* filled by the registry, which asks info */
};

/* The core's books of a member's memory, in bytes, over all contexts (graph/residency.c). Drivers leave it zero. */
struct tsl_member_books {
    atomic_uint_fast64_t planned_size; /* of the objects that have a place there, as planned */
    atomic_uint_fast64_t held_size;    /* allocated now */
    atomic_uint_fast64_t found_size;   /* what was allocated when there turned out to be no more; 0: not so yet */
    atomic_uint_fast64_t found_ns;     /* when that was */
};

/* Base of a driver's own member structure (embed it first). Made by open(), lives until close(). */
struct tsl_member {
    const struct tsl_driver *driver;
    const struct tsl_path *path;
    struct tsl_member_caps caps;
    unsigned index; /* position in the registry's list of members in use, 0 … TSL_MAX_MEMBERS-1; set by the registry */
    struct tsl_member_books books;
    atomic_bool lost; /* by tsl_member_lose */
};

/* By the driver, as said above, from any thread; takes no lock. The first call logs why: a part of a sentence, behind
 * "… is lost:"; NULL logs nothing. */
void tsl_member_lose(struct tsl_member *member, const char *why);

static inline bool tsl_member_is_lost(const struct tsl_member *member)
{
    /* Relaxed: who was told of an error that comes of the loss was told later than the driver set this. */
    return atomic_load_explicit(&member->lost, memory_order_relaxed);
}

/* ---- Things a member holds (each is the base of a driver's own structure, embedded first) ------------------------ */

struct tsl_lane { /* an ordered stream of submissions on one member: an in-order queue, a CUDA stream */
    struct tsl_member *member;
};

struct tsl_mem { /* device memory, a range of such (mem_sub), or an image */
    struct tsl_member *member;
    size_t size; /* bytes; of an image its span in the canonical layout (driver/image.h) */
};

struct tsl_dprogram { /* a program built for one member */
    struct tsl_member *member;
};

struct tsl_dkernel { /* a kernel of a dprogram; thread-safe: the driver serialises set-arguments-and-enqueue */
    struct tsl_dprogram *program;
};

/*
 * Completion of a piece of work, whatever the technology (the papers' generic event). Reference-counted; the last
 * unref calls the driver's fence_free. A gate is a fence that the host completes (a user event).
 *
 * It completes after all that its lane was given before, and after all that its work waits for, also with an error:
 * what comes later counts on that, and doesn't wait for those once more. fence_status alone may tell of a later one
 * first.
 */
struct tsl_fence {
    const struct tsl_driver *driver;
    struct tsl_member *member;
    atomic_uint refs;
};

/* Called once when a fence completes. status: CL_COMPLETE or a negative error. It may run in any thread, also inside a
 * call into the driver; it must not block and must not call the driver, gate_open and fence_free excepted. The driver
 * keeps what it needs of the fence until then: the caller may drop its reference right after fence_notify. */
typedef void tsl_notify_fn(void *arg, cl_int status);

/* ---- Submissions ------------------------------------------------------------------------------------------------ */

/* What a submission waits for besides its lane's order: fences for which can_wait() is true on that member. */
struct tsl_waits {
    unsigned n;
    struct tsl_fence *const *fences; /* borrowed for the call */
};

/* One side of a copy: device memory, or host memory where mem is NULL. Of an image whose memory is its own
 * (image_alloc) the places are those of the canonical layout, whatever the technology's own is: a box has the image's
 * own row step and slice pitch (driver/image.h) and whole pixels; a range (one row, however long) begins and ends at
 * pixels, goes on from row to row, and meets no padding. */
struct tsl_place {
    struct tsl_mem *mem;
    void *host;         /* used when mem is NULL */
    size_t offset;      /* bytes from the start of mem or host to the first byte of the box */
    size_t row_pitch;   /* bytes; ignored while region[1] and region[2] are 1 */
    size_t slice_pitch; /* bytes; ignored while region[2] is 1 */
};

/* A box of bytes to copy. region[0] is in bytes, region[1] in rows, region[2] in slices; none is 0. src and dst do not
 * overlap. At least one side is memory of the lane's member; the other is that member's, host memory, or memory of
 * another member for which can_copy_peer() is true. */
struct tsl_copy {
    struct tsl_place dst, src;
    size_t region[3];
    bool loose; /* nothing good is in dst: it may be written though the copy fails for what it waits for */
};

/* What a kernel's argument is bound to on one member. */
enum tsl_arg_kind {
    TSL_ARG_UNSET,
    TSL_ARG_VALUE,   /* size bytes at value */
    TSL_ARG_MEM,     /* mem, also an image; NULL is a null pointer */
    TSL_ARG_LOCAL,   /* size bytes of local memory */
    TSL_ARG_SAMPLER, /* value points to a struct tsl_sampler_desc */
    TSL_ARG_SVM,     /* value points to an address in one of the launch's shared regions, or to NULL */
};

struct tsl_sampler_desc {
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};

struct tsl_bound_arg {
    enum tsl_arg_kind kind;
    size_t size;
    const void *value;
    struct tsl_mem *mem;
};

/* Shared virtual memory that a launch may touch, by its arguments' addresses or by others that it finds there. */
struct tsl_bound_svm {
    char *host;
    size_t size;
    struct tsl_mem *mem; /* of svm_alloc, maybe another member's; NULL: the process's heap (all are svm_anywhere) */
    bool unnamed;        /* no argument leads there (CL_KERNEL_EXEC_INFO_SVM_PTRS) */
};

/* A kernel's arguments as they were at the enqueue, bound to one member's memory. Immutable. All are set, and of the
 * kinds that the kernel's facts tell; where these say TSL_FACT_UNKNOWN the driver refuses what doesn't fit. Two calls
 * for one member with the same serial (never 0, never used again in the process) carry the same arguments: a driver
 * that has them set already sets nothing. */
struct tsl_bound_args {
    uint64_t serial;
    cl_uint n;
    const struct tsl_bound_arg *args;
    cl_uint n_svm; /* each once */
    const struct tsl_bound_svm *svm;
};

/* When a piece of work ran. All in ns of the one clock; queued and submitted are the core's. */
struct tsl_times {
    uint64_t start_ns, end_ns;
};

/* What to build a program from. All strings are the caller's, for the call. */
enum tsl_program_kind { TSL_PROGRAM_SOURCE, TSL_PROGRAM_BINARY, TSL_PROGRAM_IL, TSL_PROGRAM_BUILTIN };

/* IL: the value of a specialization constant, as the application set it. */
struct tsl_program_special {
    cl_uint id;
    size_t size; /* bytes, as the module has it */
    cl_ulong value;
};

struct tsl_program_input {
    enum tsl_program_kind kind;
    const void *data;    /* source text, binary, IL, or the names of built-in kernels */
    size_t size;         /* bytes, without a terminating NUL */
    const char *options; /* never NULL; as the application gave them */
    /* SOURCE: as the application gave it and its options, before what the core changes for this member; a driver may
     * know the program by them. NULL: data and options are that. */
    const char *text;
    size_t text_size;
    const char *text_options;
    unsigned n_specials; /* IL: what differs from the module's own */
    const struct tsl_program_special *specials;
    bool foreign; /* BINARY: anybody's bytes, not what program_binary gave; who can't stand such refuses them */
};

/* What #include finds in a separate compilation. The caller's, for the call. */
struct tsl_program_header {
    const char *name;
    const char *text;
    size_t size; /* bytes, without a terminating NUL */
};

struct tsl_program_headers {
    unsigned n;
    const struct tsl_program_header *headers;
};

/* ---- The table -------------------------------------------------------------------------------------------------- */

struct tsl_driver {
    bool passing;     /* its members mean nothing to later runs (tests): what is learned about them isn't kept */
    bool own_threads; /* works, and compiles, in threads of its own in this process: exit waits for it (graph/exit.c) */
    bool asks_roles;  /* its facts come from signatures: what ours finds in a program's text is wanted
                       * (program/text_access.h),   of members whose caps say roles_hold, or of all (TESELA_VENDOR_ROLES)
                       */
    const char *name; /* "opencl", "cuda", "cpu", "fake", "host": the part of a path's id before the colon */

    /* Finds this driver's paths and reports each. Loads libraries; makes no contexts. May block. Called once. */
    cl_int (*probe)(tsl_found_fn *found, void *arg);

    /* Opens a path for use. May block. close() is called at most once, when nothing of the member is left. */
    cl_int (*open)(const struct tsl_path *path, struct tsl_member **member);
    void (*close)(struct tsl_member *member);

    /* clGetDeviceInfo of the physical device, same conventions (param_value NULL asks for the size). Works on a path,
     * so that listing does not open members. CL_INVALID_VALUE for queries that the device doesn't know. */
    cl_int (*info)(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);

    /* Lanes. profile: fence_times will be asked. flush sends everything to the device, finish waits for all of it,
     * also when the member is lost (nothing of it may write to the host's memory afterwards), and returns the first
     * error of work without a fence that it hasn't told yet, if the technology tells; of a lane one call at a time.
     * flush may block only if the member's caps say submits_block; finish blocks. lane_free waits for nothing: the work
     * goes on. */
    cl_int (*lane_create)(struct tsl_member *member, bool profile, struct tsl_lane **lane);
    void (*lane_free)(struct tsl_lane *lane);
    cl_int (*flush)(struct tsl_lane *lane);
    cl_int (*finish)(struct tsl_lane *lane);

    /* Device memory of size > 0 bytes. flags: the application's access flags (CL_MEM_READ_ONLY …), a hint. host: NULL,
     * or host memory of that size that the member may use itself as the storage (zero_copy members do), valid until
     * mem_free, though the technology may hear of that later. It is aligned to caps.base_align, unless it is the
     * application's own (CL_MEM_USE_HOST_PTR): that is aligned as its kernels need it (OpenCL C 3.0, C.3), no more.
     * mem_sub gives a part of mem (offset a multiple of caps.base_align) that may be bound as an argument; mem outlives
     * it. mem_free is called when no work on it is left. With caps.svm_is_mem host may be memory of svm_alloc, of a
     * member that reaches this one; then it is the storage. */
    cl_int (*mem_alloc)(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
    /* Memory of the host's that stays where it is, for transfers by DMA: *host is its address, while the mem lives,
     * which is good for nothing but mem_free. Blocks. NULL in drivers without; needed for caps.pins_host. */
    cl_int (*host_alloc)(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem);
    /* Pins memory of the application's where it lies, until mem_free(*mem), so that transfers from and to it need no
     * other: of this driver's members, and of this mem or not. It stays the application's, which may use it meanwhile
     * as before. Any error: transfers go on as without; that is no failure. *mem is good for nothing but mem_free,
     * which waits for transfers that were submitted. Both block, need no lock and stand in the way of no submission
     * that has begun. NULL in drivers without; needed for caps.register_from. */
    cl_int (*host_register)(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem);
    /* Shared virtual memory: of the host's, whose addresses are good for kernels, too, on this member and on those that
     * svm_reaches tells. It is the host's as any memory while no launch that names it runs; with
     * CL_MEM_SVM_FINE_GRAIN_BUFFER in flags also meanwhile, as far as caps.svm says so. alignment: a power of two. *mem
     * is good for mem_free, which may have to wait for the member's work, and to be named in launches. Blocks. Both
     * NULL in drivers without; needed for caps.svm unless caps.svm_anywhere. */
    cl_int (*svm_alloc)(struct tsl_member *member, cl_svm_mem_flags flags, size_t size, size_t alignment, void **host,
                        struct tsl_mem **mem);
    bool (*svm_reaches)(struct tsl_member *from, struct tsl_member *to);
    cl_int (*mem_sub)(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
    void (*mem_free)(struct tsl_mem *mem);

    /* Images; all three NULL: the member has none.
     *
     * image_formats: clGetSupportedImageFormats of the member, same conventions; may block. Only formats are told whose
     * pixels have 1, 2, 4, 8 or 16 bytes.
     *
     * image_alloc makes an image with memory of its own, mem_free frees it. flags and host as in mem_alloc, with
     * zero_copy_images in the place of zero_copy: host then has the layout that desc says. desc is the caller's, for
     * the call. The format is one of image_formats, the sizes are within the limits.
     *
     * image_of makes an image of the bytes that mem (from mem_alloc or mem_sub) begins with, by desc's pitches: a 1D
     * image from a buffer, or, within caps.images.pitch_align and base_align, a 2D one. It is only bound as an
     * argument: copies and fills go to mem, which outlives it. */
    cl_int (*image_formats)(struct tsl_member *member, cl_mem_flags flags, cl_mem_object_type type, cl_uint n,
                            cl_image_format *formats, cl_uint *n_formats);
    cl_int (*image_alloc)(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                          struct tsl_mem **mem);
    cl_int (*image_of)(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);

    /* Submissions. All return at once (see submits_block). *fence: NULL asks for none; else the caller gets one
     * reference to the fence of this piece of work. waits may be NULL. */
    bool (*can_copy_peer)(struct tsl_member *from, struct tsl_member *to);
    cl_int (*copy)(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence);
    /* Fills a box (region as a copy's) with the pattern; its size (1 … 128, a power of two) divides dst's offset,
     * region[0] and the pitches that count. Of an image the pattern is one pixel, as its bytes are. */
    cl_int (*fill)(struct tsl_lane *lane, const struct tsl_place *dst, const size_t region[3], const void *pattern,
                   size_t pattern_size, const struct tsl_waits *waits, struct tsl_fence **fence);
    cl_int (*launch)(struct tsl_lane *lane, struct tsl_dkernel *kernel, const struct tsl_bound_args *args,
                     const struct tsl_window *window, const struct tsl_waits *waits, struct tsl_fence **fence);
    /* Completes when everything submitted to the lane before, and the waits, have. Unlike the other submissions it may
     * come from any thread at any time. */
    cl_int (*mark)(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);

    /* Fences. status: CL_QUEUED … CL_COMPLETE or a negative error, without blocking. wait blocks until completion (the
     * lane was flushed) and returns the final status. notify: fn is called exactly once, at once if already complete.
     * times: CL_PROFILING_INFO_NOT_AVAILABLE where the lane doesn't profile. can_wait: may a submission on member wait
     * for this fence natively? gate_create/gate_open: a fence that the host completes; status CL_COMPLETE or negative;
     * gate_open neither blocks nor runs work in the caller. Every gate must be opened once. */
    cl_int (*fence_status)(struct tsl_fence *fence);
    cl_int (*fence_wait)(struct tsl_fence *fence);
    cl_int (*fence_notify)(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
    cl_int (*fence_times)(struct tsl_fence *fence, struct tsl_times *times);
    void (*fence_free)(struct tsl_fence *fence);
    bool (*can_wait)(struct tsl_member *member, const struct tsl_fence *fence);
    cl_int (*gate_create)(struct tsl_member *member, struct tsl_fence **gate);
    cl_int (*gate_open)(struct tsl_fence *gate, cl_int status);

    /* Fences of other technologies as gates see them; each may be NULL. gate_by, once and before anything waits for the
     * gate, names the fence whose end will open it: then the driver may look for that end itself, and gate_open may
     * find the gate open. fence_peek: has it ended well, as far as can be seen without a lock or a call of the
     * technology? fence_is_sure: will it end soon (a millisecond or so) whatever else happens: is all that it needs
     * with its device or running, so that neither the application, nor a call of a technology, nor a thread that may be
     * inside one is needed? It takes no lock under which a technology is called. Once true it stays so. */
    void (*gate_by)(struct tsl_fence *gate, struct tsl_fence *opener);
    bool (*fence_peek)(const struct tsl_fence *fence);
    bool (*fence_is_sure)(struct tsl_fence *fence);

    /* Programs. build blocks, is called from several threads at once for different members, and always sets *log
     * (heap, may be empty, the caller frees), whatever it returns. program_binary: the built binary (heap, the caller
     * frees); NULL and success if there is nothing to keep. */
    cl_int (*build)(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                    char **log);
    /* Separate compilation; both NULL: the member has no part in such programs. compile makes what can be linked: of
     * SOURCE, or by loading a BINARY that program_binary gave of such a program or of a library. link makes of those a
     * program with kernels or, when the options say -create-library, a library; its inputs may be freed afterwards.
     * Otherwise as build; programs that have no kernels yet are only linked, asked for their binary, and freed. */
    cl_int (*compile)(struct tsl_member *member, const struct tsl_program_input *input,
                      const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
    cl_int (*link)(struct tsl_member *member, const char *options, unsigned n, struct tsl_dprogram *const *programs,
                   struct tsl_dprogram **program, char **log);
    cl_int (*program_binary)(struct tsl_dprogram *program, void **data, size_t *size);
    void (*program_free)(struct tsl_dprogram *program); /* its kernels were freed before */
    /* Has it program-scope variables, which are in this member's memory alone? Vendors may count constants as such.
     * *bytes: their size, 0 if it isn't known. NULL: programs with variables don't build. */
    bool (*program_variables)(struct tsl_dprogram *program, size_t *bytes);
    /* Names of the kernels, separated by ';' (heap, the caller frees). */
    cl_int (*program_kernels)(struct tsl_dprogram *program, char **names);
    /* One kernel and the facts about it on this member (facts: filled, then the caller's to give to
     * tsl_kernel_facts_finish). */
    cl_int (*kernel_create)(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                            struct tsl_kernel_facts *facts);
    void (*kernel_free)(struct tsl_dkernel *kernel);
    /* Can this kernel run in windows, with ids and sizes as for the whole launch? facts: what is known of it, by
     * whomever. It answers and does nothing else, and is asked once, before the first launch; where it says no the
     * core launches no window but the whole. */
    bool (*windows_ok)(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);
};

/* Aborts, naming the operation, if a required operation is NULL: a programming error, found by every test. */
void tsl_driver_check(const struct tsl_driver *driver);

static inline struct tsl_fence *tsl_fence_ref(struct tsl_fence *fence)
{
    /* Relaxed: whoever takes a reference already has one. */
    atomic_fetch_add_explicit(&fence->refs, 1, memory_order_relaxed);
    return fence;
}

/* NULL is allowed. May call the driver (fence_free): not under a core lock. */
static inline void tsl_fence_unref(struct tsl_fence *fence)
{
    /* Release orders this owner's uses before the free, acquire orders the others' before ours. */
    if (fence && atomic_fetch_sub_explicit(&fence->refs, 1, memory_order_acq_rel) == 1)
        fence->driver->fence_free(fence);
}

#endif
