/*
 * The ABI of work-group functions: what the kernel compiler's shared objects for the CPU export, and what the CPU
 * driver passes to them. This header is for both sides; nothing else is shared between them.
 *
 * A shared object exports one symbol, TSL_WG_SYMBOL, a struct tsl_wg_module. It has no constructors and no state that
 * is written but the program's own variables, may be mapped by several processes, and needs nothing but libc, libm and
 * libgcc_s. Its machine code is for the processor that was named in the build request. Layouts are those of the C
 * compiler for x86-64 and AArch64 Linux; all sizes are in bytes.
 */
#ifndef TSL_COMPILE_CLIENT_WORK_GROUP_H
#define TSL_COMPILE_CLIENT_WORK_GROUP_H

#include <stdint.h>

#define TSL_WG_MAGIC  0x47574c54u /* "TLWG" */
#define TSL_WG_ABI    3u          /* changes with anything below */
#define TSL_WG_SYMBOL "tesela_work_groups"

/* Local memory and scratch begin at multiples of this, and so does each __local argument within local memory. Enough
 * for every OpenCL type (long16) and for a cache line. */
#define TSL_WG_ALIGN 128u

struct tsl_wg_launch;
struct tsl_wg_thread;

/*
 * What a kernel's printf calls: format is C's, with the arguments as C promotes them (the compiler has rewritten vector
 * conversions to one for each component). Appends to the launch's output; called from several threads at once. Returns
 * what printf returns to the kernel: 0, or -1 where the text was lost.
 */
typedef int tsl_wg_print_fn(const struct tsl_wg_launch *launch, const struct tsl_wg_thread *thread, const char *format,
                            ...);

/*
 * What a kernel that was built with TSL_WG_CHECK_OPTION calls before each access to memory that may be an argument's:
 * bytes [address, address + size), none where a pixel lies beside its image; kind: TSL_WG_CHECK_ bits, none for a read;
 * line: of the source, 0 if unknown. Called from several threads at once.
 */
#define TSL_WG_CHECK_OPTION "-tesela-check-access"
#define TSL_WG_CHECK_WRITE  1u
#define TSL_WG_CHECK_ATOMIC 2u /* with WRITE: reads, and may write */
typedef void tsl_wg_check_fn(const struct tsl_wg_launch *launch, const void *address, uint64_t size, uint32_t kind,
                             uint32_t line);

/*
 * A whole launch, constant while it runs; a window changes nothing in it. Sizes past work_dim are 1, offsets 0. The
 * last group of a dimension is smaller where global_size isn't a multiple of local_size: only kernels of OpenCL C 2.0
 * and later without -cl-uniform-work-group-size are launched so (TSL_WG_REMAINDERS).
 */
struct tsl_wg_launch {
    uint32_t abi; /* TSL_WG_ABI */
    uint32_t work_dim;
    uint64_t global_offset[3];
    uint64_t global_size[3];
    uint64_t local_size[3]; /* as enqueued: what get_enqueued_local_size answers */
    uint64_t num_groups[3]; /* global_size / local_size, rounded up */
    const void *args;       /* the argument block: struct tsl_wg_kernel.args says where what stands */
    tsl_wg_print_fn *print; /* never NULL if the kernel has TSL_WG_PRINTS */
    tsl_wg_check_fn *check; /* never NULL if the kernel has TSL_WG_CHECKS */
    void *user;             /* the driver's own; generated code leaves it alone */
};

/* What each thread has for itself while it runs groups of a launch. Contents are undefined at the start of a group. */
struct tsl_wg_thread {
    void *local;   /* local memory: first the kernel's static variables (local_size bytes), then the __local arguments,
                      at the offsets that the argument block gives. NULL if there is none */
    void *scratch; /* values of work-items that live across barriers: scratch_size + scratch_item_size * n bytes, n: the
                      product of the launch's local_size, rounded up to a multiple of 64. NULL if that is 0 */
    void *user;    /* the driver's own; generated code leaves it alone */
    /* The ends of both, by which to_global() and its like tell pointers apart (compiler/builtins/cpu/space.cl). */
    void *local_end, *scratch_end;
};

/*
 * Runs the n groups (x, y, z), (x + 1, y, z) … (x + n - 1, y, z), one after the other; n > 0, x + n <= num_groups[0].
 * Group numbers are those of the whole launch. Threads may run any groups of a launch at once.
 */
typedef void tsl_wg_fn(const struct tsl_wg_launch *launch, const struct tsl_wg_thread *thread, uint64_t x, uint64_t n,
                       uint64_t y, uint64_t z);

/* How an argument stands in the argument block. */
enum tsl_wg_arg_kind {
    TSL_WG_VALUE,   /* size bytes, the value (structures too) */
    TSL_WG_POINTER, /* 8 bytes, the address (__global and __constant); may be NULL */
    TSL_WG_LOCAL,   /* 8 bytes, where the argument's memory begins: offset from thread->local, multiple of TSL_WG_ALIGN,
                       at least the kernel's local_size */
    TSL_WG_IMAGE,   /* 8 bytes, address of a struct tsl_kc_image (compile_client/kernel_image.h) */
    TSL_WG_SAMPLER, /* 8 bytes, a sampler's bits (compile_client/kernel_image.h) */
};

struct tsl_wg_arg {
    uint32_t kind;   /* enum tsl_wg_arg_kind */
    uint32_t offset; /* in the argument block: arguments in order, each at the next multiple of its align */
    uint32_t size;
    uint32_t align; /* power of two, at most TSL_WG_ALIGN; the block itself begins at a multiple of TSL_WG_ALIGN */
};

/* Bits of tsl_wg_kernel.flags. */
#define TSL_WG_PRINTS     1u /* calls launch->print */
#define TSL_WG_BARRIERS   2u /* has barriers: a hint, groups cost more than their work-items */
#define TSL_WG_REMAINDERS 4u /* launches may have smaller last groups */
#define TSL_WG_FLAT       8u /* nothing depends on the local size: the driver may choose another one */

#define TSL_WG_CHECKS  16u /* calls launch->check */
#define TSL_WG_FLUSHES 32u /* subnormal numbers may count as zero */

struct tsl_wg_kernel {
    const char *name; /* as the source has it. The function itself is called "tsl_wg." and this, for debuggers */
    tsl_wg_fn *run;
    uint32_t flags; /* TSL_WG_ bits; unknown ones are ignored */
    uint32_t n_args;
    const struct tsl_wg_arg *args;
    uint64_t args_size;         /* of the argument block */
    uint64_t local_size;        /* of static local memory, a multiple of TSL_WG_ALIGN */
    uint64_t scratch_size;      /* see struct tsl_wg_thread */
    uint64_t scratch_item_size; /* likewise, for each work-item of a group */
    uint64_t only_local[3];     /* run takes launches of this local size alone (specialised, or required by the source;
                                   with TSL_WG_REMAINDERS last groups may be smaller); 0 0 0: any */
};

struct tsl_wg_module {
    uint32_t magic; /* TSL_WG_MAGIC */
    uint32_t abi;   /* TSL_WG_ABI; a driver leaves objects of another ABI alone */
    uint32_t n_kernels;
    uint32_t reserved;                   /* 0 */
    const struct tsl_wg_kernel *kernels; /* in any order */
};

#endif
