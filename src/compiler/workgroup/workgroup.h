/*
 * From a kernel, which is written for one work-item, to a work-group function (compile_client/work_group.h).
 *
 * Input of the pass, and what it may rely on (compiler/front and compiler/middle/link.c provide it):
 * - One module, verified, with the host's triple and data layout, in a context of its own: one build, one thread.
 * - Address spaces as for NVPTX: 0 private and generic, 1 global, 3 local, 4 constant. x86 takes all for one memory;
 *   alias analysis still may use them.
 * - Kernels are defined functions with the attribute "tsl-kernel" and C's calling convention. They return void, are
 *   never called, and keep their metadata (kernel_arg_*, reqd_work_group_size, vec_type_hint …). Structures by
 *   value are pointers with byval; all other arguments are first-class values. `align` of byval holds.
 * - Everything else that is defined is internal. Libc's and libm's functions aside, functions that are called and not
 *   defined are listed below. Functions have been inlined into the kernels (recursion doesn't exist in OpenCL C), and
 *   the module was simplified (sroa, early-cse, instcombine, simplifycfg), not vectorised.
 * - Functions for which kc_is_called holds are called instead, also those of the program (compiler/middle/own_calls.h).
 * - No "target-cpu" or "target-features" attributes: the pass sets those of the machine.
 * - Variables in address space 3 are static local memory (no initialiser that counts); in 4 and 0 constant, with one.
 *
 * Calls left for the pass (all of them are `nounwind willreturn`, the first nine `memory(none)`; size_t is i64):
 *   i64 _Z12get_local_idj, _Z13get_global_idj, _Z12get_group_idj, _Z14get_local_sizej, _Z23get_enqueued_local_sizej,
 *       _Z14get_num_groupsj, _Z15get_global_sizej, _Z17get_global_offsetj (i32 dimension, constant or not);
 *   i32 _Z12get_work_dimv (void);
 *   void _Z7barrierj (i32 flags): convergent; every barrier of the language ends there;
 *   ptr __tsl_wg_launch (void), ptr __tsl_wg_thread (void), and ptr __tsl_wg_places (void), which is the latter and
 *       keeps private variables that have addresses off the stack: the work-group function's first two parameters,
 *       `memory(none)`, uniform. printf is made of them.
 * Past dimension 2 ids and offsets are 0, sizes 1. Linear ids, fences, async copies, work_group_… are made of these by
 * the builtins.
 */
#ifndef KC_WORKGROUP_WORKGROUP_H
#define KC_WORKGROUP_WORKGROUP_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KC_KERNEL_ATTRIBUTE "tsl-kernel"
#define KC_LAUNCH_FUNCTION  "__tsl_wg_launch"
#define KC_THREAD_FUNCTION  "__tsl_wg_thread"
#define KC_PLACES_FUNCTION  "__tsl_wg_places"

/* How one argument stands in the argument block: struct tsl_wg_arg, laid out by the caller. */
struct tsl_wg_arg;

struct kc_wg_input {
    LLVMModuleRef module;
    LLVMTargetMachineRef machine; /* the host's processor and features */
    LLVMValueRef kernel;
    const struct tsl_wg_arg *args; /* one for each parameter */
    uint64_t local_size[3];        /* specialised on, where something depends on it; 0 0 0: for any */
    bool remainders;               /* must work for launches with smaller last groups */
    bool optimise;                 /* false: -cl-opt-disable */
    bool by_item;                  /* work-items run one after the other */
    bool ask;                      /* the caller has another form of the kernel for that: see `large` */
    FILE *notes;                   /* gets a sentence for each part that runs item by item, and why; NULL: nothing */
};

struct kc_wg_output {
    LLVMValueRef run;    /* tsl_wg_fn, internal, in the same module; called "tsl_wg." and the kernel's name */
    uint64_t local_size; /* of static local memory; a multiple of TSL_WG_ALIGN */
    uint64_t scratch_size;
    uint64_t scratch_item_size;
    uint32_t flags;   /* TSL_WG_BARRIERS, TSL_WG_FLAT where it holds */
    bool large;       /* nothing was made, as vectors would be too much code: asked again, with `by_item` */
    uint64_t tile[2]; /* work-items of a good group in dimensions 0 and 1; 0 0: as many as fit, along dimension 0 */
};

/*
 * Makes the work-group function of one kernel. The kernel stays as it is (facts are read off it before or after).
 * Called once for each kernel of the module, then kc_wg_finish once. False: *why is a sentence for the build log (heap,
 * LLVMDisposeMessage), and the module is of no more use.
 */
bool kc_wg_build(const struct kc_wg_input *input, struct kc_wg_output *output, char **why);

/* Makes a function of the program's that kernels call as safe as kernels are: nothing in it traps or is unreachable. */
void kc_wg_called(LLVMValueRef function);

/*
 * Deletes the kernels and what is no longer needed, and runs the optimisation passes that are meant for work-group
 * functions (O3, vectorised), so that the module can go to code generation. The caller has made the exported table
 * before, which refers to the functions.
 */
bool kc_wg_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, bool optimise, FILE *notes, char **why);

#endif
