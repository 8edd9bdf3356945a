/*
 * The state of the work-group pass over one kernel, and small helpers over LLVM's C interface.
 *
 * The pass in one page (each step is a file; its words are used throughout):
 *   analysis/own_vectors.c shall work-items keep the program's vectors, and run one after the other?
 *   transform/clone.c     the kernel is copied: the original stays, as facts are read off it
 *   transform/shape.c     the copy gets the form on which the steps rely: one return, natural loops, no vectors
 *                         (transform/vectors.c), each barrier at the start of a block of its own
 *   transform/read_first.c  atomic operations that mostly change nothing look first
 *   analysis/combined.c   which atomic operations does a strip make at once?
 *   analysis/flow.c       blocks, dominators, loops
 *   analysis/uniform.c    which values are the same for all work-items of a strip, or of the group; which blocks not
 *                         all of them pass together
 *   analysis/direction.c  do strips run along dimension 0 or 1?
 *   analysis/profit.c     does it pay to run several work-items at once, everywhere, or in some loops not?
 *   analysis/serial.c     atomic operations, calls and such loops become parts that lanes run one after the other
 *   analysis/rare_loops.c which loops do lanes run one after the other where few lanes come to them?
 *   transform/divisions.c divisions of whole numbers are made of those of floats
 *   transform/widen.c     consecutive indices computed in int are computed in 64 bits
 *   analysis/bounds.c     where regions begin: after barriers ("real" bounds) and, for the vectoriser, at loops and
 *                         uniform branches ("pseudo" bounds)
 *   analysis/slots.c      values used in another block become slots, or are computed again where they are used
 *   analysis/region.c     which blocks belong to which region, which slots live across, in which order regions run
 *   analysis/variables.c  where slots and variables are: registers, stack, scratch, local memory
 *   transform/either.c    if strips may run along two dimensions, the launch chooses
 *   transform/group.c, strip.c, few.c, forget.c, lane.c, query.c
 *                         the new function is written: loops over groups, regions, strips of lanes
 *   cleanup/passes.c      LLVM's passes before and after, with our own between and after them, a file each
 *
 * A strip is a row of work-items along dimension 0, as many as there are lanes. Within a strip a region is a loop over
 * the lanes, which the loop vectoriser turns into straight code: slots of the strip end up in vector registers. The
 * rest of a row runs in strips of one lane.
 */
#ifndef KC_WORKGROUP_IR_H
#define KC_WORKGROUP_IR_H

#include "compiler/support/older.h"
#include "compiler/workgroup/analysis/flow.h"
#include "compiler/workgroup/calls.h"
#include "compiler/workgroup/map.h"
#include "compiler/workgroup/memory.h"
#include "compiler/workgroup/transform/split.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Metadata of calls of llvm.lifetime.start that kc_wg_end_forgotten looks for. */
#define KC_FORGOTTEN "tsl.forgotten"

struct kc_wg {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMTypeRef i8, i32, i64, ptr;
    FILE *notes;           /* see kc_wg_input; may be NULL */
    LLVMValueRef kernel;   /* the original */
    LLVMValueRef function; /* the copy that the steps work on; deleted at the end */
    bool parts_serial;     /* instructions without a vector form have regions of their own (serial.h) */
    bool turned;           /* dimensions 0 and 1 have changed places (direction.h) */
    bool large;            /* its vectors would be too much code (profit.h) */
    struct kc_flow flow;
    LLVMBasicBlockRef *serial_loops; /* headers of loops that lanes run one after the other (serial.h) */
    unsigned n_serial_loops;
    LLVMBasicBlockRef *rare_entries; /* blocks before loops that few lanes may come to (rare_loops.h) */
    unsigned n_rare_entries;
};

/* The launch's dimension that is dimension d for the steps. */
static inline unsigned kc_dimension(const struct kc_wg *wg, unsigned d)
{
    return wg->turned && d < 2 ? 1 - d : d;
}

static inline bool kc_is_query(enum kc_call call)
{
    return call >= KC_CALL_LOCAL_ID && call <= KC_CALL_PLACES;
}

/* The function that a call calls; NULL: not a call, or an indirect one. */
LLVMValueRef kc_wg_callee(LLVMValueRef value);
bool kc_name_begins(LLVMValueRef global, const char *prefix);

/* Instructions of a block, from its first to its last. */
#define KC_EACH_INSTRUCTION(i, block)                \
    LLVMValueRef i = LLVMGetFirstInstruction(block); \
    i;                                               \
    i = LLVMGetNextInstruction(i)

/* Notes what is done with a kernel, if somebody wants to know. where: the instruction in question; NULL: all of it. */
void kc_note(const struct kc_wg *wg, LLVMValueRef where, const char *what);

LLVMValueRef kc_first_after_phis(LLVMBasicBlockRef block);
bool kc_is_void(LLVMValueRef value);
bool kc_is_volatile_or_atomic(LLVMValueRef value);

/* Enum attributes. at: an attribute index. */
void kc_wg_add_attribute(struct kc_wg *wg, LLVMValueRef function, unsigned at, const char *name);

/* A vector with the value in n elements. */
LLVMValueRef kc_splat(struct kc_wg *wg, LLVMValueRef value, unsigned n);
/* A mask as a number, lane 0 in its lowest bit; and (i1) whether all lanes are in it. */
LLVMValueRef kc_mask_bits(struct kc_wg *wg, LLVMValueRef mask);
LLVMValueRef kc_are_all(struct kc_wg *wg, LLVMValueRef mask);
LLVMValueRef kc_i32(struct kc_wg *wg, uint32_t value);
LLVMValueRef kc_i64(struct kc_wg *wg, uint64_t value);

/* base + offset bytes, in base's address space. */
LLVMValueRef kc_byte_offset(struct kc_wg *wg, LLVMValueRef base, LLVMValueRef offset, const char *name);

/* Bytes of a variable; a huge one has a size with which launches fail, but sums don't wrap. */
uint64_t kc_size_of(struct kc_wg *wg, LLVMTypeRef type);

#endif
