/*
 * The driver contract, its first part: paths to devices and members, which are paths that were opened.
 * Reading order: driver.h (the rules), this, work.h, program.h, then the table in driver.h.
 */
#ifndef TSL_DRIVER_MEMBER_H
#define TSL_DRIVER_MEMBER_H

#include "driver/image.h"

#include "base/sets.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tsl_driver;

/* ---- Paths: what a probe finds --------------------------------------------------------------------------------- */

/* What two paths have in common when they lead to one physical device. Unknown parts are zero / false. */
struct tsl_identity {
    bool has_uuid;
    uint8_t uuid[CL_UUID_SIZE_KHR];
    bool has_pci;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    bool is_host_cpu;    /* a CPU device of this host: the host itself */
    uint64_t processors; /* those of the host that such a device may compute on, a bit for each, on large hosts for
                            neighbours together; the registry finds it out. 0: any */
    bool has_numa;       /* on one NUMA node, or next to it; of PCI devices and host CPUs the registry finds it out */
    unsigned numa_node;
    uint64_t host_id; /* of another machine, on which all the above is meant; 0: this one */
};

/*
 * Preferences (struct tsl_path). A driver of ours that reaches a device by itself comes before all vendors' OpenCL,
 * whose preferences (opencl/quirks.c) lie between these two; a setting puts it behind them.
 */
#define TSL_OWN_FIRST 40
#define TSL_OWN_LAST  0

/* A driver's way to a device. Owned by the registry (members/members.h); strings are the registry's. */
struct tsl_path {
    const struct tsl_driver *driver;
    char id[32];           /* "opencl:0.1", "cuda:1", "cpu", "fake:0": what TESELA_MEMBERS names */
    char *platform_name;   /* CL_PLATFORM_NAME or the technology's name */
    const char *kind_name; /* stands for platform_name where times are learned, which equal devices share. Constant, the
                              driver's; NULL: platform_name */
    char *device_name;     /* CL_DEVICE_NAME */
    char *driver_version;  /* CL_DRIVER_VERSION */
    uint64_t compiler; /* another number where its compiler is another, of this version or not; 0: as driver_version */
    cl_device_type type;
    struct tsl_identity identity;
    int preference;        /* of several paths to one device the one with the highest serves by default; see above */
    const char *turned_by; /* the setting that makes vendors' OpenCL preferred to this path, such as TESELA_CPU=opencl,
                              set or not; constant, the driver's. NULL: no setting does */
    bool exclusive; /* no other path to the same device may serve beside this one, whatever TESELA_MEMBERS names */
    char *why_not;  /* NULL: usable; else a sentence: why this path can't be used (e.g. 32-bit addresses) */
    void *priv;     /* the driver's own, e.g. cl_device_id */
};

/* The NUMA node of this machine that the device is on or next to; -1: unknown, or another machine's. */
static inline int tsl_path_numa_node(const struct tsl_path *path)
{
    return path->identity.has_numa && !path->identity.host_id ? (int)path->identity.numa_node : -1;
}

/* Two platforms' ways to the processors of one host: what one computes the other can't meanwhile. Paths of one platform
 * have processors of their own, as the lines CPU of TESELA_CONFIG have, and so have nodes that are bound to different
 * ones. */
static inline bool tsl_path_shares_processors(const struct tsl_path *a, const struct tsl_path *b)
{
    const struct tsl_identity *x = &a->identity, *y = &b->identity;
    bool apart = x->processors && y->processors && !(x->processors & y->processors);

    return x->is_host_cpu && y->is_host_cpu && x->host_id == y->host_id && !apart &&
           (a->driver != b->driver || strcmp(a->platform_name, b->platform_name) != 0);
}

/* Called by probe() once for each path found, in the driver's stable order. Takes ownership of the heap strings. */
typedef void tsl_found_fn(void *arg, const struct tsl_path *path);

/* ---- Members ---------------------------------------------------------------------------------------------------- */

/* What a member is like. Filled by open(), constant afterwards. */
struct tsl_member_caps {
    bool zero_copy;        /* kernels work on the host's copy itself; the member has no space of its own */
    bool zero_copy_images; /* with zero_copy: also on that of images; else these have a space of their own */
    bool submits_block;    /* submissions (or flush) may execute the work in the calling thread */
    bool gates;            /* gate_create works: a submission may wait for something that the host opens later */
    bool gates_ahead;   /* … on the device: work behind a gate that fails may have moved bytes all the same (loose) */
    bool ordered_lanes; /* work of one lane completes in submission order (always true for OpenCL and CUDA) */
    bool lanes_abreast; /* launches of several lanes run at the same time where each leaves room: out-of-order queues
                           have several (graph/abreast.h) */
    bool profiles;      /* fence_times gives the device's own times */
    cl_ulong memory_size;    /* bytes of device memory */
    cl_ulong max_alloc_size; /* bytes of the largest single allocation */
    cl_ulong unbound_size;   /* bytes of one that the device could have, where TESELA_MEMORY lowered max_alloc_size; set
                                by the registry, else 0 */
    size_t base_align;       /* bytes; CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8 */
    bool pins_host;          /* transfers from and to memory of host_alloc are faster than others */
    bool pins_at_once;       /* host_alloc is quick and waits for nothing: it may be called under the graph's lock */
    size_t register_from;    /* bytes of memory from which host_register may pay; 0: it never does */
    unsigned register_after; /* … namely once so many times its size went between it and the member */
    size_t dma_align;        /* bytes; transfers from and to other host addresses are slow. 0: all are alike */
    double
        first_launch_ns; /* beside others, on a member that is ready: code is loaded, memory is taken; 0: not known */
    uint32_t fill_items; /* work-items that it runs at a time, where it is known that fewer mostly take as long (GPUs);
                            0: it has few processors, each of which has several to do */
    double speed;        /* rough relative compute speed, > 0: only for the order of members before any measurement */
    /* What kernels can do with the host's memory whose addresses they get (shared virtual memory): CL_DEVICE_SVM_…
     * bits, 0: nothing. It holds for memory of svm_alloc or, with svm_anywhere, for any. */
    cl_device_svm_capabilities svm;
    bool svm_anywhere;
    bool svm_is_mem;    /* mem_alloc takes memory of svm_alloc for its own storage, as zero_copy members do with any */
    bool svm_is_copied; /* a launch that names such memory takes all of it there and back */
    bool access_holds;  /* this compiler was compared with ours: what ours finds in a program's text holds here, too */
    bool takes_parts;   /* launches take arguments of which only a part is there (tsl_bound_part) */
    bool no_views_of_parts; /* image_of makes no 1D images of what mem_sub gave */
    /* Members of one driver with the same domain > 0 can share memory that is spread over them (spread_alloc): their
     * kernels work on one copy at the same time. 0: it is in none. */
    unsigned domain;
    bool domain_atomics;   /* atomics of system scope on such memory are whole, whichever of the members do them */
    size_t domain_granule; /* bytes, a power of two: parts of such memory begin at multiples of it */
    struct tsl_image_limits images; /* filled by the registry, which asks info */
};

/* The core's books of a member's memory, in bytes, over all contexts (graph/residency.c). Drivers leave it zero. */
struct tsl_member_books {
    atomic_uint_fast64_t planned_size; /* of the objects that have a place there, as planned */
    atomic_uint_fast64_t held_size;    /* allocated now */
    atomic_uint_fast64_t found_size;   /* what was allocated when there turned out to be no more; 0: not so yet */
    atomic_uint_fast64_t found_ns;     /* when that was */
};

/* Can a member combine (tsl_driver.can_combine), as far as was asked? */
enum tsl_combines {
    TSL_COMBINES_UNASKED,
    TSL_COMBINES_WANTED, /* to be asked as soon as the member is ready */
    TSL_COMBINES_NO,
    TSL_COMBINES_YES,
};

/* Base of a driver's own member structure, embedded first. Made by open(), lives until close(). */
struct tsl_member {
    const struct tsl_driver *driver;
    const struct tsl_path *path;
    struct tsl_member_caps caps;
    unsigned index; /* position in the registry's list of members in use, 0 … TSL_MAX_MEMBERS-1; set by the registry */
    struct tsl_member_books books;
    atomic_bool lost;       /* by tsl_member_lose */
    char *_Atomic lost_why; /* the reason that was told, before `lost` was set; heap, the registry's; NULL: none */
    atomic_bool unready;    /* open left what is costly to prepare, which hasn't done it yet */
    atomic_uint_fast64_t opened_ns; /* what that took; the core's (members/ready.h), 0: it wasn't done */
    atomic_uint combines;           /* enum tsl_combines; the core's (members/ready.h) */
    /* The work that it had may be the reason of its loss, so nobody should do that again: a fault of a kernel, say. Set
     * by the driver before tsl_member_lose. */
    atomic_bool lost_by_work;
};

/*
 * Members that aren't ready. What a member is like is known when it was opened, mostly without a context of the
 * technology; that is made when the member is needed. A driver whose members take long to open leaves that to
 * tsl_driver.prepare and sets `unready` in open.
 *
 * - Every operation may be called for such a member. Those that need what is missing do as prepare does, and so block
 *   for as long.
 * - Those do not: info, build, compile, link and all questions about programs, kernel_create, kernel_free, windows_ok,
 *   image_formats, svm_reaches, can_copy_peer, can_wait and close. They tell what they will tell when it is ready.
 * Where a driver can't know that without it, it makes the member ready first.
 * - The core gives work to other members meanwhile, where it may choose.
 * - If it can't be made ready it is lost. Nobody gets another error.
 */

/* By the driver, when the member is as any other. Sequentially consistent, for tsl_ready_ask_combine. */
static inline void tsl_member_set_ready(struct tsl_member *member)
{
    atomic_store(&member->unready, false);
}

static inline bool tsl_member_is_ready(const struct tsl_member *member)
{
    return !atomic_load_explicit(&member->unready, memory_order_acquire);
}

/*
 * Lost members. A device may die in use: its context ends with an error, or it falls off the bus. Its member is then
 * lost, for good. A failure of one piece of work is no loss if the device can do the next piece.
 *
 * - The driver decides, and says so by tsl_member_lose(): before it returns or tells the first error that the loss is
 *   the reason of, so that whoever learns of such an error finds the member lost.
 * - Work that had not ended by then ends with CL_DEVICE_NOT_AVAILABLE, or well if it was done all the same. It ends in
 *   its turn, as other work that fails does: after its waits, and after what its lane was given before.
 * - Refused with CL_DEVICE_NOT_AVAILABLE are lane_create, mem_alloc, host_alloc, host_register, svm_alloc, image_alloc,
 *   spread_alloc over it, copy, fill, combine, launch, mark, build, kernel_create.
 * - finish waits (nothing of the lane writes to the host's memory afterwards) and returns CL_DEVICE_NOT_AVAILABLE.
 * - fence_status and fence_wait tell how the fence ended; every notification that was accepted comes. The operations
 *   that free give back what is the host's; what was the device's may be gone. can_wait and close are as ever.
 * - flush, fence_notify, fence_times, gate_create, gate_open, mem_sub, image_of, compile, link, info and questions
 *   about programs do what they always do, or return CL_DEVICE_NOT_AVAILABLE (fence_times: that there are none). After
 *   gate_open what waits for the gate ends in either case.
 * - Work in other members' lanes that reads or writes the lost member's memory fails, with any error; only their own
 *   loss makes others lost.
 * - Of spread memory the lost member's part is lost. Other members' work that touches that part fails; a launch that is
 *   given the memory may fail whatever it touches. Copies of other parts are done, for as long as the technology can:
 *   such a loss may cost the others their lives, too.
 *
 * The core asks tsl_member_is_lost(). The error by itself tells less: a vendor may have a reason of its own for it.
 */

/* Bytes of the largest single allocation that mem_alloc has to refuse no sooner than the device does. */
static inline cl_ulong tsl_member_alloc_limit(const struct tsl_member *member)
{
    return member->caps.unbound_size ? member->caps.unbound_size : member->caps.max_alloc_size;
}

/* By the driver, as said above, from any thread; takes no lock. The first call logs why: a part of a sentence, behind
 * "… is lost:"; NULL logs nothing. */
void tsl_member_lose(struct tsl_member *member, const char *why);

static inline bool tsl_member_is_lost(const struct tsl_member *member)
{
    /* Relaxed: an error that comes of the loss reaches its hearer by way of the driver, which set this before. */
    return atomic_load_explicit(&member->lost, memory_order_relaxed);
}

/* Can memory be spread over the two, or are they one? */
static inline bool tsl_member_shares_domain(const struct tsl_member *a, const struct tsl_member *b)
{
    return a->driver == b->driver && a->caps.domain && a->caps.domain == b->caps.domain;
}

#endif
