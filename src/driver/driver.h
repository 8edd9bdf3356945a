/*
 * The driver contract: what the core asks of a technology (vendor OpenCL, CUDA, the built-in CPU, the fake one for
 * tests, another node) to drive its members. Its parts, in reading order: the rules here, member.h, work.h,
 * program.h, the table below. docs/dev/driver.md says how to write a driver.
 *
 * A driver is one `static const struct tsl_driver` with every operation set, except those marked "may be NULL".
 * tsl_driver_check() asserts that once, at registration. The structures that a driver makes (member, lane, mem, fence,
 * dprogram, dkernel) begin with the base structure of that name.
 *
 * ---- Rules for every operation, unless its comment says otherwise ------------------------------------------------
 *
 * - Locks: the core holds none of its locks, so a driver may call a tsl_notify_fn from inside any operation.
 * - Threads: an operation may be called from several threads at once. Submissions (copy, fill, combine, launch) to one
 *   lane come from one thread at a time, in order.
 * - Blocking: "Blocks" says that an operation may wait for a device, a compiler or a disk. The others do not wait for
 *   work. Submissions and flush may only block where the member's caps say submits_block; the core then calls them from
 *   a thread of their own.
 * - Arguments: pointers are not NULL. What they point to is borrowed for the call.
 * - Results: an object that is given out by a pointer argument is the caller's, to be freed by the operation of that
 *   name. It is written on success only.
 * - Errors are OpenCL error codes, passed up unchanged; CL_SUCCESS is 0. After an error nothing was done, no reference
 *   is owed, and host memory that was named is no longer used. What a lost member does: member.h.
 * - Host memory that a submission reads or writes stays valid and unchanged (or untouched, where it is written) until
 *   the fence of that work completes.
 * - Times are in nanoseconds of the one clock (base/clock.h); the driver maps its devices' clocks to it.
 * - After fork() the child calls nothing of a driver.
 *
 * ---- The life of a member ----------------------------------------------------------------------------------------
 *
 * probe finds paths, once in a process. The registry opens those that are to be used, once, fills index and
 * caps.images, and hands the member to contexts, which share it. What of that takes long may come later (prepare).
 * Everything that it is given (lanes, memory, programs, kernels, fences) is given back before close. Most processes
 * never close: the members live until exit, whose handlers call no driver. A member may be lost meanwhile.
 *
 * ---- The life of a lane ------------------------------------------------------------------------------------------
 *
 * Work that is submitted to a lane is done in its order: each piece after the lane's earlier ones and after its own
 * waits (with caps.ordered_lanes false only after its waits). It need not begin before flush; a driver that lets work
 * wait for a fence of another lane flushes that lane first. If one of its waits fails, the piece is not done and fails;
 * what only stands behind it in the lane is done all the same. finish waits for all. lane_free waits for nothing: the
 * work goes on, as if flushed, and its fences live on.
 *
 * ---- The life of a fence -----------------------------------------------------------------------------------------
 *
 * A submission gives a fence to the caller who asks for one, with one reference. Fences are counted (tsl_fence_ref,
 * tsl_fence_unref); the last unref calls fence_free. A fence may outlive its lane, not its member. Whoever waits for it
 * by name (tsl_waits) needs no reference once the submission has returned; the driver keeps what it needs.
 *
 * A fence completes once, with CL_COMPLETE or a negative error, and stays so. It completes after all that its lane was
 * given before, and after all that its work waits for, also with an error: what comes later counts on that, and doesn't
 * wait for those once more. fence_status alone may tell of a later one first; the caller then waits for the earlier
 * one, which may have failed.
 *
 * A gate is a fence that the host completes: made by gate_create, opened exactly once by gate_open, freed like a fence.
 */
#ifndef TSL_DRIVER_DRIVER_H
#define TSL_DRIVER_DRIVER_H

#include "driver/call.h"
#include "driver/member.h"
#include "driver/program.h"
#include "driver/work.h"

struct tsl_kernel_facts;

/* What a lane is for; bits. */
enum tsl_lane_use {
    TSL_LANE_PROFILES = 1, /* fence_times will be asked of its fences */
    TSL_LANE_MOVES = 2     /* its work is what launches wait for: a device that chooses begins it before others' */
};

struct tsl_driver {
    bool passing;     /* its members mean nothing to later runs (tests): what is learned about them isn't kept */
    bool own_threads; /* works, and compiles, in threads of its own in this process: exit waits for it (graph/exit.c) */
    bool submits_slowly; /* a submission takes its thread some microseconds, and several members' can be made at once
                            (graph/senders.h) */
    bool flushes_all;    /* a flush of one lane sends what all lanes of the member were given, and is as dear as a
                            submission */
    bool asks_access;    /* its facts come from signatures alone: our compiler's findings in a program's text are wanted
                            (program/text_access.h), for members whose caps say access_holds, or for all
                            (TESELA_VENDOR_ROLES) */
    const char *name; /* "opencl", "cuda", "cpu", "remote", "fake", "host": the part of a path's id before the colon */

    /* ---- Members ---- */

    /* Finds this driver's paths and reports each. Loads libraries; makes no contexts. Called once, under the registry's
     * lock; sentences for the user go to driver/report.h. An error: the driver has no paths. Blocks. */
    cl_int (*probe)(tsl_found_fn *found, void *arg);

    /* Makes a member of a path: driver, path and caps filled, all else zero. Called once for each path, under the
     * registry's lock; on error the path is left out, and tsl_driver_report_why() may have said why. Blocks; what takes
     * more than a few milliseconds is left to prepare. */
    cl_int (*open)(const struct tsl_path *path, struct tsl_member **member);

    /* Does for a member that isn't ready what open left (member.h). From any thread, beside all other operations, also
     * from several threads at once: one does it, the others wait. Success: the member is ready, or was. On error it is
     * lost, and tsl_member_lose() has told why. Blocks, and mustn't be left alone where the process ends. May be NULL:
     * all members are ready from the beginning. */
    cl_int (*prepare)(struct tsl_member *member);

    /* Ends a member of which nothing is left. No other call for it is under way or follows. Blocks. */
    void (*close)(struct tsl_member *member);

    /* clGetDeviceInfo of the physical device, same conventions: value NULL asks for the size, size_ret may be NULL.
     * Works on a path, so that listing opens no members. CL_INVALID_VALUE: the device doesn't know the query, or size
     * is too small. Blocks. */
    cl_int (*info)(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);

    /* ---- Lanes ---- */

    /* use: enum tsl_lane_use. May take as long as a few empty submissions. */
    cl_int (*lane_create)(struct tsl_member *member, unsigned use, struct tsl_lane **lane);

    /* Never fails. What is on its way goes on. No other call for the lane is under way or follows. */
    void (*lane_free)(struct tsl_lane *lane);

    /* Sends all that was submitted before to the device. Any thread, also beside submissions. On error some of it may
     * not have been sent: finish and fence_wait try again. */
    cl_int (*flush)(struct tsl_lane *lane);

    /* Flushes, waits for all that was submitted before, and returns the first error of work without a fence that no
     * finish has told yet, if the technology tells. Nothing of the lane reads or writes the host's memory afterwards,
     * also after an error. One call at a time for a lane, also beside submissions. Blocks. */
    cl_int (*finish)(struct tsl_lane *lane);

    /* ---- Memory ---- */

    /* Device memory of size > 0 bytes. flags: the application's access flags (CL_MEM_READ_ONLY …), a hint. host: NULL,
     * or host memory of that size that the member may use itself as the storage (zero_copy members do, those with
     * caps.svm_is_mem use memory of svm_alloc of a member that reaches this one), valid until mem_free, though the
     * technology may hear of that later. It is aligned to caps.base_align, unless it is the application's own
     * (CL_MEM_USE_HOST_PTR): that is aligned as its kernels need it (OpenCL C 3.0, C.3), no more.
     * CL_MEM_OBJECT_ALLOCATION_FAILURE: there is no more; the core makes room and asks again. A lazy technology may say
     * so, or CL_OUT_OF_RESOURCES, at the first submission that uses the memory. Blocks. */
    cl_int (*mem_alloc)(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);

    /* Memory of the host's that stays where it is, for transfers by DMA: *host is its address, good while *mem lives.
     * *mem is good for mem_free alone. With caps.pins_at_once the graph's lock may be held, and then it does not block;
     * else it blocks. May be NULL; needed for caps.pins_host. */
    cl_int (*host_alloc)(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem);

    /* Pins memory of the application's where it lies, until mem_free(*mem), so that transfers from and to it need no
     * other, of any member of this driver. The application goes on using it. *mem is good for mem_free alone, which
     * waits for transfers that were submitted. Any error: transfers go on as without, and nobody is told. Neither
     * stands in the way of a submission that has begun. Blocks. May be NULL; needed for caps.register_from. */
    cl_int (*host_register)(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem);

    /* Shared virtual memory: memory of the host's at *host, whose addresses are good for kernels on this member and on
     * those that svm_reaches names. While no launch that names it runs it is the host's as any memory; with
     * CL_MEM_SVM_FINE_GRAIN_BUFFER also meanwhile, as far as caps.svm says. *mem is good for mem_free, which may have
     * to wait for the member's work, and to be named in launches. Blocks. May be NULL; needed for caps.svm unless
     * caps.svm_anywhere. */
    cl_int (*svm_alloc)(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                        struct tsl_mem **mem);

    /* Are addresses of svm_alloc on `from` good on `to`, a member of the same driver? Constant. NULL where svm_alloc
     * is.
     */
    bool (*svm_reaches)(struct tsl_member *from, struct tsl_member *to);

    /* Memory in one range of addresses, whose parts lie on several members. mems has room for request->n: mems[i] is
     * member i's. All name the same bytes, all of them, also of parts that are elsewhere; each is used as if it were of
     * mem_alloc, by work of its member alone, and is freed by itself. The range goes with the last of them.
     *
     * What a member wrote is there for work of another that waits for it, without a copy. At the same time members may
     * write to different bytes, and do atomics on the same where caps.domain_atomics says so.
     *
     * CL_MEM_OBJECT_ALLOCATION_FAILURE: *full says which member has no more, by its index in the request; the core
     * makes room there and asks again. CL_INVALID_BUFFER_SIZE: a part is larger than its member's memory, or there is
     * none; CL_INVALID_VALUE: the members are of no domain, or of several, or a part begins at no granule.
     *
     * Far dearer than mem_alloc, and dearer with each part, not with each byte (CUDA: docs/dev/cuda.md): for memory
     * that stays. The last mem_free is as dear, and may wait for what lanes hold that were given work on it. Blocks.
     * May be NULL; needed for caps.domain. */
    cl_int (*spread_alloc)(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full);

    /* A part of mem that may be bound as an argument; offset is a multiple of caps.base_align. mem outlives it. */
    cl_int (*mem_sub)(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);

    /* Never fails. No work on it is left, or is submitted. Waits only where host_register, svm_alloc and
     * spread_alloc say so. */
    void (*mem_free)(struct tsl_mem *mem);

    /* ---- Images: all three are NULL in drivers without ---- */

    /* clGetSupportedImageFormats of the member, same conventions; n_formats may be NULL. It tells only of formats whose
     * pixels have 1, 2, 4, 8 or 16 bytes. Blocks. */
    cl_int (*image_formats)(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);

    /* An image with memory of its own, for mem_free. flags and host as in mem_alloc, with zero_copy_images in the place
     * of zero_copy: host then has the layout that desc says. The format is one of image_formats, the sizes are within
     * caps.images. Errors as mem_alloc's. Blocks. */
    cl_int (*image_alloc)(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                          struct tsl_mem **mem);

    /* An image of the bytes that mem (of mem_alloc or mem_sub) begins with, by desc's pitches: a 1D image from a
     * buffer, or, within caps.images.pitch_align and base_align, a 2D one. It is only bound as an argument: copies and
     * fills go to mem, which outlives it. For mem_free. */
    cl_int (*image_of)(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);

    /* Does work that fails make all fail that comes after it on that member, in its lane or by its fence? Else work may
     * fail for itself. */
    bool fails_on;

    /* ---- Submissions. waits may be NULL. fence NULL: none is wanted; else *fence is the caller's reference. ---- */

    /* May a copy in a lane of `to` go straight from the one's memory to the other's, members of the same driver? In a
     * lane of `from` not all drivers do it (CL_INVALID_MEM_OBJECT). Constant. */
    bool (*can_copy_peer)(struct tsl_member *from, struct tsl_member *to);

    /* CL_INVALID_MEM_OBJECT: a side can't be reached from this lane. */
    cl_int (*copy)(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence);

    /* The same as a copy of each range, for less than these cost. CL_INVALID_OPERATION: that can't be had for this
     * memory or for these ranges; nothing was submitted. The fence tells of all of it. May be NULL: nothing can. */
    cl_int (*gather)(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                     struct tsl_fence **fence);

    /* The pattern may be gone when it returns. CL_INVALID_MEM_OBJECT: dst isn't memory of the lane's member. */
    cl_int (*fill)(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                   struct tsl_fence **fence);

    /* Makes two ranges one. Only after can_combine said yes. Elements that stay as they are in dst stay so also if the
     * work fails. CL_INVALID_MEM_OBJECT: a side isn't memory of the lane's
     * member. May be NULL, with can_combine. */
    cl_int (*combine)(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                      struct tsl_fence **fence);

    /* Can the member combine? The first call makes ready what that takes, a kernel say; the answer stays. Blocks. May
     * be NULL: no member can. */
    bool (*can_combine)(struct tsl_member *member);

    /* Makes what moves between the member and others of the driver's that are ready need, so that the first ones don't
     * wait for it. Blocks. The member is ready. May be NULL: nothing is to be made. */
    void (*warm)(struct tsl_member *member);

    /* Runs the window. Values of arguments may be gone when it returns; memory that they name is in use until the work
     * has ended. Errors as clEnqueueNDRangeKernel's; CL_INVALID_OPERATION: it can't run such a window. */
    cl_int (*launch)(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                     struct tsl_fence **fence);

    /* A piece of work that does nothing: it ends when all that was submitted to the lane before, and the waits, have.
     * Unlike the other submissions it may come from any thread at any time. */
    cl_int (*mark)(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);

    /* ---- Fences ---- */

    /* CL_QUEUED … CL_COMPLETE or a negative error. */
    cl_int (*fence_status)(struct tsl_fence *fence);

    /* Waits until it completes and returns how. The lane was flushed, or is flushed by this call if that failed.
     * Blocks.
     */
    cl_int (*fence_wait)(struct tsl_fence *fence);

    /* Calls fn exactly once when the fence completes, before it returns if it has. The driver keeps what it needs of
     * the fence until then: the caller may drop its reference at once. No lock of the driver's is held around fn that
     * gate_open or a submission could want. On error fn isn't called. */
    cl_int (*fence_notify)(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);

    /* Of a fence that completed well. CL_PROFILING_INFO_NOT_AVAILABLE: the lane doesn't profile, or the technology
     * doesn't tell. */
    cl_int (*fence_times)(struct tsl_fence *fence, struct tsl_times *times);

    /* By tsl_fence_unref alone: the last reference is gone. Never fails; may be called inside a notification. */
    void (*fence_free)(struct tsl_fence *fence);

    /* May a submission on the member name this fence, of any driver, in its waits? Constant for a fence. */
    bool (*can_wait)(struct tsl_member *member, const struct tsl_fence *fence);

    /* Only with caps.gates; CL_INVALID_OPERATION without. The gate is to be opened before its last reference goes. */
    cl_int (*gate_create)(struct tsl_member *member, struct tsl_fence **gate);

    /* Completes a gate with CL_COMPLETE or a negative error, which fails what waits for it. Neither blocks nor runs
     * work in the caller; may be called inside a notification. CL_INVALID_OPERATION: it was opened before;
     * CL_INVALID_VALUE: it is no gate, or status is no end. */
    cl_int (*gate_open)(struct tsl_fence *gate, cl_int status);

    /* Names the fence, of another member, whose end will open the gate, once and before anything waits for the gate:
     * the driver may then look for that end itself (fence_peek, fence_is_sure) and open the gate if it is a good one,
     * and gate_open may find the gate open. What waits for the gate may have run by then, but its fences complete after
     * gate_open. A flush of the fence's lane follows. Takes a reference of its own if it wants one. May be NULL. */
    void (*gate_by)(struct tsl_fence *gate, struct tsl_fence *opener);

    /* Has it ended well, as far as can be seen without a lock or a call of the technology? Called by other drivers,
     * under any of their locks. May be NULL. */
    bool (*fence_peek)(const struct tsl_fence *fence);

    /* Will it end soon (a millisecond or so) whatever else happens: is all that it needs with its device or running, so
     * that neither the application, nor a call of a technology, nor a thread that may be inside one is needed? Once
     * true it stays so, and is believed to the letter: a GPU may stand still until then. Called by other drivers, under
     * any of their locks; takes no lock under which a technology is called. May be NULL. */
    bool (*fence_is_sure)(struct tsl_fence *fence);

    /* Will it end well, unless its member is lost? Then who only comes after it, however it ends, may wait for it as it
     * is, and needs no mark, which would stand behind what the lane was given since. Once true it stays so. May be
     * NULL: that is never known. */
    bool (*fence_ends_well)(const struct tsl_fence *fence);

    /* ---- Programs ---- */

    /* *log is always set, whatever is returned (heap, may be empty, the caller's). CL_BUILD_PROGRAM_FAILURE and
     * clBuildProgram's other errors. Blocks. */
    cl_int (*build)(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                    char **log);

    /* Makes what can be linked: of SOURCE, or by loading a BINARY that program_binary gave of such a program or of a
     * library. What it makes is only linked, asked for its binary, and freed. headers may be empty. *log as
     * build's. Blocks. May be NULL, with link: the member has no part in such programs. */
    cl_int (*compile)(struct tsl_member *member, const struct tsl_program_input *input,
                      const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);

    /* Makes of those a program with kernels or, if the options say so, a library. The inputs may be freed afterwards.
     * *log as build's. Blocks. May be NULL, with compile. */
    cl_int (*link)(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                   char **log);

    /* The built binary (heap, the caller's); NULL, 0 and success if there is nothing to keep. */
    cl_int (*program_binary)(struct tsl_dprogram *program, void **data, size_t *size);

    /* Never fails, waits for nothing. Its kernels were freed before. */
    void (*program_free)(struct tsl_dprogram *program);

    /* Has it program-scope variables, which are in this member's memory alone? A vendor may count constants as such.
     * *size: their bytes, 0 if that isn't known; always written. May be NULL: programs with variables don't build. */
    bool (*program_variables)(struct tsl_dprogram *program, size_t *size);

    /* Was it made of a text as that stands, and of the input's options, or of a binary of which the input says so? Then
     * what our compiler reads in the text holds for its kernels. May be NULL: no, or they are known anyway. */
    bool (*program_of_text)(struct tsl_dprogram *program);

    /* Names of the kernels, separated by ';' (heap, the caller's). */
    cl_int (*program_kernels)(struct tsl_dprogram *program, char **names);

    /* One kernel, and the facts about it on this member: filled, then the caller's to give to tsl_kernel_facts_finish.
     * CL_INVALID_KERNEL_NAME: there is none of the name. */
    cl_int (*kernel_create)(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                            struct tsl_kernel_facts *facts);

    /* A kernel that takes the original's arguments and is launched in its place. The original outlives it, and stays as
     * it is; kernel_free frees it. A call that refuses a launch leaves that to the original. *log is set as build's.
     * CL_INVALID_OPERATION: this member has no such kernels (calls, or code); CL_INVALID_BINARY: no code for it, or
     * there is no such function. Blocks. May be NULL: no member has any. */
    cl_int (*substitute)(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                         char **log);

    /* Never fails, waits for nothing. No launch of it is left to submit; what was submitted goes on. */
    void (*kernel_free)(struct tsl_dkernel *kernel);

    /* Gives a built program a text of its source that our compiler made (compile_client/window_text.h), with its
     * options. What this driver can compile of it runs as the program's kernels that are created afterwards, windows or
     * not; facts.of_windows tells which do. Called once, before any kernel of the program. An error: the kernels are as
     * without, and nobody is told but the log. Blocks. May be NULL. */
    cl_int (*windows_by)(struct tsl_dprogram *program, const struct tsl_program_input *text);

    /* Can this kernel run in windows, with ids and sizes as for the whole launch? facts: all that is known of it, by
     * the driver or by others. It answers and does nothing else; the core asks once, before the first launch, and after
     * a no launches no window but the whole. */
    bool (*windows_ok)(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);
};

/* Aborts, naming the operation, if a required operation is NULL: a programming error, found by every test. */
void tsl_driver_check(const struct tsl_driver *driver);

static inline struct tsl_fence *tsl_fence_ref(struct tsl_fence *fence)
{
    /* Relaxed: the caller has a reference already. */
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
