#include "compiler/workgroup/cleanup/passes.h"

#include "compiler/support/older.h"

#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>

#define SHAPE_BEGIN                                                                                                   \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                                    \
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-" \
    "full),"                                                                                                          \
    "sroa,early-cse<memssa>,gvn,simplifycfg,"
#define SHAPE_END                                                                                \
    "instcombine<no-verify-fixpoint>,simplifycfg,adce,lower-switch,fix-irreducible,mergereturn," \
    "loop-simplify,lcssa)"

const char KC_PASSES_SHAPE[] = SHAPE_BEGIN "scalarizer,sroa,early-cse<memssa>," SHAPE_END;
const char KC_PASSES_SHAPE_OWN[] = SHAPE_BEGIN SHAPE_END;
const char KC_PASSES_SHAPE_PLAIN[] =
    "function(sroa,simplifycfg,lower-switch,fix-irreducible,mergereturn,loop-simplify,lcssa)";

const char KC_PASSES_PREPARE[] =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,"
    "early-cse<memssa>)";
/* The vectoriser runs before any unrolling: it turns a loop over lanes into a single iteration. */
const char KC_PASSES_VECTORISE[] = "function(loop-vectorize,simplifycfg,instsimplify)";
const char KC_PASSES_VECTORISED[] = "function(instcombine<no-verify-fixpoint>)";
const char KC_PASSES_FORGOTTEN[] = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/* Accesses through generic pointers to a known space become accesses to that space: LLVM's SLP vectoriser (19)
 * miscompiles the remaining casts between spaces, which it takes for casts between numbers. Then the rest of O3, for
 * functions that are inlined and simplified already. Loops are unswitched before they are rotated: the vectoriser's
 * run-time checks leave kernels' loops, while loops over groups and rows aren't copied, which after rotation would have
 * conditions to unswitch. */
const char KC_PASSES_FINISH[] =
    "function(infer-address-spaces,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm,simple-loop-unswitch<"
    "nontrivial;trivial>),"
    "simplifycfg,sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate,licm,simple-loop-unswitch<no-nontrivial;trivial>),"
    "simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa,early-cse<memssa>,gvn,sccp,bdce,instcombine<no-verify-fixpoint>,jump-threading,correlated-propagation,"
    "reassociate,dse,loop-mssa(licm),adce,simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop-vectorize,loop-load-elim,simplifycfg,slp-vectorizer,vector-combine,"
    "instcombine<no-verify-fixpoint>,loop-unroll,sroa,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,simplifycfg),globaldce";
/* For functions so large that these take longer than they gain: each of the passes once, no loop is copied, and no
 * scalars become vectors. */
const char KC_PASSES_FINISH_LARGE[] =
    "function(infer-address-spaces,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),"
    "simplifycfg,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa,early-cse<memssa>,gvn,"
    "instcombine<no-verify-fixpoint>,dse,loop-mssa(licm),adce,simplifycfg,instcombine<no-verify-fixpoint>,"
    "alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,simplifycfg)";
const char KC_PASSES_FINISH_PLAIN[] = "function(sroa,simplifycfg)";
const char KC_PASSES_SINK[] = "function(sink)";

/* In a loop that is marked parallel the vectoriser doesn't check dependences, not even within an iteration, when it
 * turns strided accesses into one (LLVM 14 to 19): a load would move before a store. So that is switched off. Where
 * lanes are a kernel argument's distance apart it makes vectors for the distance 1 alone; whether they are neighbours
 * is asked later (kc_wg_part_neighbours). Some processors' loop buffers make LLVM unroll every loop eightfold, which
 * takes long and gains nothing. Small loops are aligned to 2^5 bytes: aligned to 16, a reduction may by chance take a
 * quarter longer on AMD's Zen 3. */
static void set_options(void)
{
    static const char *const options[] = {
        "tesela-kc",
        "-enable-interleaved-mem-accesses=false",
        "-enable-mem-access-versioning=false",
        "-unroll-partial-threshold=128",
        "-unroll-max-count=4",
        "-assume-default-is-flat-addrspace", /* for infer-address-spaces */
#ifdef __x86_64__
        "-x86-experimental-pref-innermost-loop-alignment=5",
#endif
    };

    LLVMParseCommandLineOptions(sizeof(options) / sizeof(options[0]), options, NULL);
}

bool kc_wg_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    LLVMErrorRef error;

    pthread_once(&once, set_options);
    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
    error = kc_run_named_passes(module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    *why = LLVMGetErrorMessage(error);
    return false;
}
