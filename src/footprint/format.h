/*
 * What a kernel does to its arguments' memory, as the kernel compiler says it: a list of accesses whose addresses are
 * expressions. The library evaluates them for a window of a launch (footprint/evaluate.h); no trip to the compiler is
 * needed then.
 *
 * Expressions are nodes of one table. A node's operands stand before it, so the table has no circle and one pass from
 * the first node to the last evaluates all of it. Every node is an integer of `bits` bits (1, 8, 16, 32 or 64), as in
 * LLVM's IR: addition, subtraction, multiplication and shifts wrap; an operation that takes its operands as signed or
 * as unsigned says so in its name. Nothing in the format leans on undefined overflow.
 *
 * An access stands for all of its executions by all work-items of a window: once for each combination of the counters
 * of the loops around it, where the loops' bounds allow it and its guards hold.
 *
 *   may    every byte that a work-item reads or writes by a load, store, atomic, or copy of the kernel is covered by an
 *          access of that direction, or that argument and direction has an access without address (unknown).
 *   sure   an access with TSL_ACCESS_SURE is executed for exactly those combinations for which its guards hold: nothing
 *          else decides. Its guards and the counts of its loops are exact then.
 *
 * The same bytes travel on the compiler's wire (tsl_wire_put_facts), lie in the compiler's cache and in
 * Tesela's program binaries. Decoding trusts nothing: what is not well-formed in every node is refused whole.
 */
#ifndef TSL_FOOTPRINT_FORMAT_H
#define TSL_FOOTPRINT_FORMAT_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define TSL_FOOTPRINT_FORMAT 2u

/* Limits of one kernel's footprint; a compiler that needs more says unknown. */
#define TSL_FOOTPRINT_MAX_ARGUMENTS 1024u
#define TSL_FOOTPRINT_MAX_NODES     4096u
#define TSL_FOOTPRINT_MAX_ACCESSES  256u
#define TSL_FOOTPRINT_MAX_LOOPS     32u
#define TSL_FOOTPRINT_MAX_GUARDS    16u /* of one access */
#define TSL_FOOTPRINT_MAX_DEPTH     8u  /* loops around one access */
#define TSL_FOOTPRINT_MAX_TEXT      256u

/* In place of a node's, an access' or a loop's index. */
#define TSL_FOOTPRINT_NONE UINT32_MAX

enum tsl_node_op {
    /* Leaves. */
    TSL_NODE_CONSTANT, /* value, as bits in two's complement, sign-extended to 64 */
    /* Bytes [b, b + bits/8) of the value of argument a, little-endian; bits 1: byte b is not 0. Of an image the value
     * is a struct tsl_kc_image (compile_client/kernel_image.h), of which the sizes are named (b 8 … 20); of a sampler
     * the 8 bytes of tsl_kc_sampler. */
    TSL_NODE_SCALAR,
    TSL_NODE_COUNTER,   /* 64 bits: iterations of loop a before this one, 0 … count - 1 */
    TSL_NODE_GLOBAL_ID, /* 64 bits, of dimension a (0 … 2), as get_global_id: with the offset */
    TSL_NODE_LOCAL_ID,  /* likewise, the next ones too */
    TSL_NODE_GROUP_ID,
    TSL_NODE_GLOBAL_SIZE,
    TSL_NODE_LOCAL_SIZE, /* get_enqueued_local_size: of full groups */
    TSL_NODE_GROUP_SIZE, /* get_local_size: of this work-item's group, smaller in the last one of a remainder */
    TSL_NODE_NUM_GROUPS,
    TSL_NODE_GLOBAL_OFFSET,
    /* Any value: loaded from memory, made of floating-point numbers … Each use of the node may have another value, so
     * one such node can stand for several unrelated values. */
    TSL_NODE_UNKNOWN,
    /* Operands a and b have the node's bits, but where said. */
    TSL_NODE_ADD,
    TSL_NODE_SUB,
    TSL_NODE_MUL,
    TSL_NODE_SHL, /* b is taken as unsigned; b >= bits: the access is undefined, any value */
    TSL_NODE_LSHR,
    TSL_NODE_ASHR,
    TSL_NODE_UDIV, /* b == 0: undefined, any value */
    TSL_NODE_SDIV, /* towards zero, as C's */
    TSL_NODE_UREM,
    TSL_NODE_SREM, /* the sign of a, as C's */
    TSL_NODE_AND,
    TSL_NODE_OR,
    TSL_NODE_XOR,
    TSL_NODE_UMIN,
    TSL_NODE_UMAX,
    TSL_NODE_SMIN,
    TSL_NODE_SMAX,
    TSL_NODE_SELECT, /* a (1 bit) ? b : c */
    /* One operand of other bits. */
    TSL_NODE_ZEXT,  /* of fewer bits */
    TSL_NODE_SEXT,  /* of fewer bits */
    TSL_NODE_TRUNC, /* of more bits */
    /* 1 bit; a and b have equal bits. */
    TSL_NODE_EQ,
    TSL_NODE_NE,
    TSL_NODE_ULT,
    TSL_NODE_ULE,
    TSL_NODE_SLT,
    TSL_NODE_SLE,
    TSL_N_NODE_OPS
};

struct tsl_node {
    uint8_t op;       /* enum tsl_node_op */
    uint8_t bits;     /* 1, 8, 16, 32, 64 */
    uint32_t a, b, c; /* what the op doesn't use is 0 */
    int64_t value;    /* of a constant, else 0 */
};

/* How many of a, b and c are nodes: 0 of leaves. */
unsigned tsl_node_operands(uint8_t op);

enum tsl_access_kind { TSL_ACCESS_READ, TSL_ACCESS_WRITE, TSL_ACCESS_ATOMIC };

enum tsl_atomic_op {
    TSL_ATOMIC_OTHER, /* exchange, compare and exchange, floating-point …: commutes with nothing */
    TSL_ATOMIC_ADD,   /* also inc; a subtraction adds the negative */
    TSL_ATOMIC_AND,
    TSL_ATOMIC_OR,
    TSL_ATOMIC_XOR,
    TSL_ATOMIC_SMIN,
    TSL_ATOMIC_SMAX,
    TSL_ATOMIC_UMIN,
    TSL_ATOMIC_UMAX,
    TSL_N_ATOMIC_OPS
};

#define TSL_ACCESS_SURE      1u  /* a store with an address, executed exactly where its guards hold and its loops run */
#define TSL_ACCESS_VOLATILE  2u  /* but for loads that only tell an atomic's loop what to expect */
#define TSL_ACCESS_RESULT    4u  /* of an atomic whose old value is used, for more than to end its own loop */
#define TSL_ACCESS_CONSTANT  8u  /* a store of `value`, the same for all; of a buffer, width at most 8 */
#define TSL_ACCESS_IMAGE     16u /* of an image: coordinates instead of an address */
#define TSL_ACCESS_ALL_FLAGS 31u

struct tsl_access {
    uint32_t argument; /* of the kernel: a pointer or an image */
    uint8_t kind;      /* enum tsl_access_kind; an atomic reads and may write */
    uint8_t atomic;    /* enum tsl_atomic_op, of an ATOMIC; else 0 */
    uint8_t flags;     /* TSL_ACCESS_ bits */
    uint32_t width;    /* bytes at the address, at least 1; of an image 0 */
    /* Buffers: address[0] is the offset of the first byte from the argument's pointer, 64 bits, signed. NONE: unknown,
     * any byte of the argument. Images: pixel coordinates x, y, z or layer, 64 bits signed each, those that the image
     * has not are NONE behind those that it has; address[0] NONE: any pixel. Reads that filter or leave the image name
     * no address. */
    uint32_t address[3];
    uint32_t n_loops; /* around it, each once, outermost first; addresses and guards name no other loops' counters */
    uint32_t loops[TSL_FOOTPRINT_MAX_DEPTH];
    uint32_t n_guards; /* all must hold; nodes of 1 bit */
    uint32_t guards[TSL_FOOTPRINT_MAX_GUARDS];
    uint64_t value;  /* of a CONSTANT store, as the bytes in memory, little-endian; else 0 */
    uint32_t line;   /* of the source, from 1; 0: not known */
    uint32_t narrow; /* bytes of the narrowest single element stored here (a float4 store: 16 stored at once, element
                        4), at least 1; 0: not a store to a buffer (kind WRITE) */
    char *why;       /* of an access without address: what forbids one, a sentence for users, or NULL; of others NULL.
                        At most MAX_TEXT bytes. Heap */
};

/* Runs from counter 0 for `count` iterations. */
struct tsl_loop {
    uint32_t count; /* node of 64 bits, unsigned; may name counters of loops around it, those before it in the lists of
                       all accesses that it is around. NONE: not known */
    bool exact;     /* exactly that often, whatever else happens; else at most, or not known */
};

#define TSL_FOOTPRINT_PRINTS        1u  /* may call printf */
#define TSL_FOOTPRINT_FENCES        2u  /* fences or atomics of a scope wider than the work-group */
#define TSL_FOOTPRINT_SPINS         4u  /* a loop whose exit depends on what others may write meanwhile */
#define TSL_FOOTPRINT_POINTERS      8u  /* dereferences pointers that came out of memory or numbers */
#define TSL_FOOTPRINT_PROGRAM       16u /* reads or writes program-scope variables that are not constant */
#define TSL_FOOTPRINT_WIDE_VOLATILE 32u /* volatile accesses to global memory */
#define TSL_FOOTPRINT_ALL_FLAGS     63u

/* One kernel's. */
struct tsl_footprint {
    uint32_t flags; /* TSL_FOOTPRINT_ bits */
    uint32_t n_arguments;
    uint32_t n_nodes, n_accesses, n_loops;
    /* 0, or 1 + the node of 64 bits, n, of a kernel that is one loop over what is to be done,
     * `for (i = get_global_id(0); i < n; i += get_global_size(0))`. All else that an iteration does depends on i, on
     * the arguments, and on memory that the kernel doesn't write, or of which it reads and writes other bytes for each
     * i. So a launch of n work-items in one dimension, without an offset, does the same as one of fewer, if memory that
     * the kernel writes is that of one argument alone. The numbers have no more than 31 bits in either. */
    uint32_t stride;
    /* Of such a kernel bits: the first 64 arguments whose memory is touched at x + c * i + d alone, less than c bytes
     * from the first to behind the last. All that are written are. */
    uint64_t elements;
    struct tsl_node *nodes;
    struct tsl_access *accesses;
    struct tsl_loop *loops;
};

/* Pure; appends to the writer. */
void tsl_footprint_encode(struct tsl_writer *writer, const struct tsl_footprint *footprint);
/* Any bytes. NULL: not well-formed, or no memory. Else heap, one allocation or several, freed by
 * tsl_footprint_destroy. */
struct tsl_footprint *tsl_footprint_decode(const void *data, size_t size);
void tsl_footprint_destroy(struct tsl_footprint *footprint); /* NULL allowed */
/* Are all indices, bits, kinds and orders as the comments say? What decode asks; for encoders' tests. */
bool tsl_footprint_is_valid(const struct tsl_footprint *footprint);
/* Does something depend on how the work-items are grouped: on groups' ids, numbers and sizes, or on local ids? */
bool tsl_footprint_names_groups(const struct tsl_footprint *footprint);
/* One access or expression as text, for logs: "write out[4 * gid(0) + 4]". At most size bytes with the NUL. */
void tsl_footprint_print_node(const struct tsl_footprint *footprint, uint32_t node, char *text, size_t size);

#endif
