/*
 * LLVM's optimisation passes around the work-group pass.
 */
#ifndef KC_WORKGROUP_CLEANUP_PASSES_H
#define KC_WORKGROUP_CLEANUP_PASSES_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

/* A kernel into the form of shape.h: with operations on vectors taken apart, so that lanes can be vectors; or not. */
extern const char KC_PASSES_SHAPE[], KC_PASSES_SHAPE_PLAIN[];
/* Work-group functions: variables into registers, loops over lanes into vector code, then everything that O3 has. */
extern const char KC_PASSES_VECTORISE[], KC_PASSES_FINISH[], KC_PASSES_FINISH_PLAIN[];
/* After kc_wg_part_masked_stores(): what is of use to a store alone isn't done if no lane stores. */
extern const char KC_PASSES_SINK[];

bool kc_wg_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why);

/* Atomics by generic pointers that are seen to be of local memory get such: in SPIR-V modules all are generic. Before
 * local memory is one block of the thread's, as then nobody can tell. */
void kc_wg_place_atomics(LLVMBuilderRef b, LLVMValueRef function);

/* Only one thread runs a group, so no other sees its local memory: atomics there become plain accesses. After lanes
 * were vectorised, which plain accesses would let happen. */
void kc_wg_relax_local_atomics(LLVMModuleRef module);

/* Lanes that load or store at one address, if they come there ("if (get_local_id(0) == 0) *sum = …"): the vectoriser
 * gathers and scatters, which takes as long for no lane as for all of them. Now it is one access, behind a branch. */
void kc_wg_guard_splats(LLVMModuleRef module);

/* Where lanes load and store neighbouring places in a mask ("if (x > 0 && x < w - 1) …"), which mostly has all of them,
 * the code is written once more for that case, without what the lanes that are left out do: a stencil takes an eighth
 * less, with AVX-512 a third. */
void kc_wg_part_full_masks(LLVMModuleRef module);

/* Where lanes gather by indices that LLVM knows not to be negative, it has lost their sign; x86 takes sixteen indices
 * of 32 bits at once only if they have one, else of 64 and eight: a convolution takes a tenth longer. After
 * LLVM's passes, as these would undo it. */
void kc_wg_sign_indices(LLVMModuleRef module);

/* Where sixteen lanes take numbers of 64 bits apart (pairs of floats, which they load in one piece), x86's back end
 * converts and shifts; shuffles of both registers do it in two steps instead of twelve. So where lanes put such pairs
 * together. Also after LLVM's passes, as these would undo it. */
void kc_wg_shuffle_halves(LLVMModuleRef module);

/* Where nobody knows beforehand whether lanes gather or scatter neighbours (indices that are clamped to the edges of an
 * image, the butterflies of a Fourier transform), it is asked, and if they do, it is one plain access. After LLVM's
 * passes, as branches end what these see at once. lanes: also of stores lane by lane (join.h), which stay so elsewhere.
 */
void kc_wg_part_neighbours(LLVMModuleRef module, bool lanes);

/* Without AVX-512 a store in a mask costs AMD's processors as much as ten others, whatever is in the mask, and what is
 * loaded from there afterwards waits for it: so it is asked whether all lanes store, or none; where it is
 * mostly some, that costs a fifth. Also after LLVM's passes. */
void kc_wg_part_masked_stores(LLVMModuleRef module);

#endif
