/*
 * LLVM's optimisation passes around the work-group pass, and ours between and after them.
 */
#ifndef KC_WORKGROUP_CLEANUP_PASSES_H
#define KC_WORKGROUP_CLEANUP_PASSES_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdio.h>

/* Brings a kernel into the form of shape.h: with vector operations scalarised, so that lanes can be vectors, with the
 * program's own vectors, or with no optimisation at all. */
extern const char KC_PASSES_SHAPE[], KC_PASSES_SHAPE_OWN[], KC_PASSES_SHAPE_PLAIN[];
/* For work-group functions: variables into registers, loops over lanes into vector code, then the rest of O3. */
extern const char KC_PASSES_PREPARE[], KC_PASSES_VECTORISE[], KC_PASSES_VECTORISED[], KC_PASSES_FORGOTTEN[];
extern const char KC_PASSES_FINISH[], KC_PASSES_FINISH_LARGE[], KC_PASSES_FINISH_PLAIN[];
/* After kc_wg_part_masked_stores(full): what only a store needs is skipped if no lane stores. */
extern const char KC_PASSES_SINK[];

bool kc_wg_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why);

/* The first between KC_PASSES_PREPARE and _VECTORISE, the second between _VECTORISE and _VECTORISED: what lanes bring
 * by many ways to where they meet becomes few selects. */
void kc_wg_sort_ways(LLVMModuleRef module);
void kc_wg_join_ways(LLVMModuleRef module);

/* Before KC_PASSES_VECTORISE: LLVM's vectoriser leaves a loop as it is in which two stores have one address that is the
 * same for all lanes (an error's number that is set in two places). It tells addresses by their names, so the second
 * store gets another. */
void kc_wg_name_stores(LLVMModuleRef module);

/* Between KC_PASSES_VECTORISED and _FORGOTTEN, which makes registers of variables: those that strips have marked as
 * forgotten are stored as undefined. LLVM would drop such stores before. */
void kc_wg_end_forgotten(LLVMModuleRef module);

/* Finds functions that are too large for KC_PASSES_FINISH. Then those of one kind, large ones or the others, are kept
 * from all passes until the next call; KC_SPARE_NONE: from none, and it is forgotten which are large. */
enum kc_spare { KC_SPARE_NONE, KC_SPARE_LARGE, KC_SPARE_OTHERS };
void kc_wg_find_large(LLVMModuleRef module);
void kc_wg_spare(LLVMModuleRef module, enum kc_spare which);

/* Tells code generation what not to try in a module with large functions or blocks. */
void kc_wg_bound_emission(LLVMModuleRef module);

/* Atomics through generic pointers that are seen to be to local memory become atomics of local memory: in SPIR-V
 * modules all are generic. Before local memory becomes one block of the thread's, as its accesses can't be told apart
 * afterwards. */
void kc_wg_place_atomics(LLVMBuilderRef b, LLVMValueRef function);

/* Writes a sentence for each loop over lanes that the vectoriser left as it was, with the first line of the source in
 * it that is known. After KC_PASSES_VECTORISE. */
void kc_wg_note_loops(LLVMModuleRef module, FILE *notes);

/* Only one thread runs a group, so no other thread sees its local memory: atomics there become plain accesses. After
 * the vectoriser, which could otherwise vectorise them. */
void kc_wg_relax_local_atomics(LLVMModuleRef module);

/* Vectors of the program's are loaded in pieces of 64 bits, for lanes that gather. Where work-items run one by one all
 * the same, halves that are cut out of such a piece become loads of their own, which LLVM's SLP vectoriser joins to
 * vectors: an item takes fewer steps, so that more items wait for memory at a time. After the vectoriser for lanes. */
void kc_wg_halve_loads(LLVMModuleRef module);

/* Lanes that load or store at one address under a condition ("if (get_local_id(0) == 0) *sum = …"): the vectoriser
 * makes gathers and scatters, which take as long for no lane as for all. They become one access, behind a branch. */
void kc_wg_guard_splats(LLVMModuleRef module);

/* Sums and differences of bytes, which C makes 32 bits of, are computed in 16 where these hold them: half the steps,
 * and half the registers. */
void kc_wg_narrow_sums(LLVMModuleRef module);

/* Lanes that load and store consecutive elements under a mask ("if (x > 0 && x < w - 1) …"), which mostly has all
 * lanes: the code is duplicated for that case, without the accesses of masked-out lanes. A stencil takes an eighth
 * less, with AVX-512 a third. Once more for no lane: a masked load where no memory is costs hundreds of cycles, and
 * work-groups that reach beyond an image's last row have one in each strip. */
void kc_wg_part_full_masks(LLVMModuleRef module);

/* Gathers by indices that LLVM knows not to be negative have lost their sign. x86 takes sixteen 32-bit indices at once
 * only if they are signed, else eight of 64 bits: a convolution takes a tenth longer. Restores the sign; after LLVM's
 * passes, which would undo it. */
void kc_wg_sign_indices(LLVMModuleRef module);

/* Leading zeros of bytes and of 16-bit numbers that are extended to 32 bits are counted in 32 bits. AVX-512 has no
 * other instruction, so the back end goes to 32 bits and back, and the result waits for that. Where there is that
 * instruction (AVX512CD); after LLVM's passes, which would undo it. */
void kc_wg_count_wide(LLVMModuleRef module);

/* Sixteen lanes that split 64-bit numbers (pairs of floats loaded in one piece): x86's back end converts and shifts;
 * shuffles of both registers take two steps instead of twelve. Likewise for lanes that put such pairs together. After
 * LLVM's passes, which would undo it. */
void kc_wg_shuffle_halves(LLVMModuleRef module);

/* Gathers and scatters that may access neighbours (indices clamped to the edges of an image, the butterflies of a
 * Fourier transform): a test at run time selects one plain access. After LLVM's passes, whose view ends at branches.
 * lanes: also stores lane by lane (analysis/lane_stores.h), which otherwise stay. */
void kc_wg_part_neighbours(LLVMModuleRef module, bool lanes);

/* Gathers in which each lane goes along a row of its own (analysis/rows.h): AMD's processors take a step for each
 * element and many more around them. Where rows begin is known before the loop, so that plain loads, a lane each, take
 * half the time. After LLVM's passes, which would move the begins back. */
void kc_wg_load_rows(LLVMModuleRef module);

/* Vectors of the program's (float4 … uint16) that lie behind each other, one for each lane: lanes gather them piece by
 * piece, eight bytes at a time. They are loaded as they lie in memory, and dealt out to the pieces by shuffles: a
 * quarter of the steps, and less where gathers are slow. may_be_apart: vectors of 32 bytes and more, too, that lie
 * anywhere. After LLVM's passes. */
void kc_wg_load_vectors(LLVMModuleRef module, bool may_be_apart);

/* Likewise for vectors that lanes scatter, wherever they lie (a pixel of an image): each lane's becomes one store,
 * where all lanes store. AMD's processors scatter by many small steps, also where no lane does. */
void kc_wg_store_vectors(LLVMModuleRef module);

/* What LLVM found to be undefined (a value from beyond an array's end decides where a loop ends) becomes a loop without
 * an end, or code without one, behind which the processor goes on with whatever lies there. Both trap instead, so the
 * launch fails (x86). The first in one function, at any time; the second last of all. */
void kc_wg_stop_endless(LLVMBuilderRef b, LLVMValueRef function);
void kc_wg_stop_dead_ends(LLVMModuleRef module);

/* A masked access where no memory is costs hundreds of cycles, also for no lane: the processor sees only then that it
 * isn't a fault. Work-groups that reach beyond an array's last row do that in each strip. So a branch tests whether any
 * lane stores; what only the store needs is behind it.
 * full: also whether all do. Without AVX-512 a masked store costs AMD's processors as much as ten others, whatever the
 * mask, and loads from there wait for it. Where mostly some lanes do, that costs a fifth. Also after LLVM's passes. */
void kc_wg_part_masked_stores(LLVMModuleRef module, bool full);

#endif
