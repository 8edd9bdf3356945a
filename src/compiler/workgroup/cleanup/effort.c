/*
 * Bounds for the passes of LLVM's whose time grows faster than the code. Sizes are those of LLVM's IR.
 */
#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>
#include <string.h>

/* Longer functions have each of the passes after the vectoriser once, and some not at all: the SLP vectoriser takes
 * half of all time there. */
#define MOST_OF_FINISH 16000u

/* From here on moving chains of logic to mask registers takes longer than all else together (LLVM 14 to 19: twice the
 * code, five times as long), and splitting values' lifetimes at edges of blocks half of the allocation of registers. */
#define MOST_OF_DOMAINS 8000u
#define MOST_OF_REGIONS 8000u

/* The pass that prepares functions for the back end begins again at the first block each time that it has split one:
 * in longer functions of many blocks that took five times as long as all else together. From so many blocks on it goes
 * on instead. */
#define MOST_OF_PREPARATIONS   16000u
#define BLOCKS_OF_PREPARATIONS "256"

/* Longer blocks stay in the order of the selected instructions: both schedulers look at all pairs of accesses. */
#define MOST_OF_SCHEDULES 16000u

/* The largest function, and the largest block of all. */
struct sizes {
    unsigned function, block;
};

static struct sizes sizes_of(LLVMValueRef function)
{
    struct sizes sizes = {0, 0};

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        unsigned n = 0;

        for (KC_EACH_INSTRUCTION(i, b))
            n++;
        sizes.function += n;
        if (sizes.block < n)
            sizes.block = n;
    }
    return sizes;
}

/* LLVM's passes leave functions with the first attribute alone, which has to come with the second. The others tell that
 * the second is ours, and that the function was large at first. */
static const char spared[] = "optnone", companion[] = "noinline", ours[] = "tsl-spared", large[] = "tsl-large";

static bool has(LLVMValueRef function, const char *text)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, text, (unsigned)strlen(text)) != NULL;
}

static void drop(LLVMValueRef function, const char *text)
{
    LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, text, (unsigned)strlen(text));
}

static void spare(LLVMValueRef function)
{
    if (!LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kc_attribute_kind(companion))) {
        kc_add_attribute(function, companion);
        LLVMAddTargetDependentFunctionAttr(function, ours, "");
    }
    kc_add_attribute(function, spared);
}

static void spare_no_more(LLVMValueRef function)
{
    kc_remove_attribute(function, spared);
    if (has(function, ours))
        kc_remove_attribute(function, companion);
    drop(function, ours);
}

void kc_wg_find_large(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (sizes_of(f).function > MOST_OF_FINISH)
            LLVMAddTargetDependentFunctionAttr(f, large, "");
}

void kc_wg_spare(LLVMModuleRef module, enum kc_spare which)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        spare_no_more(f);
        if (which == KC_SPARE_NONE)
            drop(f, large);
        else if (!LLVMIsDeclaration(f) && has(f, large) == (which == KC_SPARE_LARGE))
            spare(f);
    }
}

static void set_option(const char *option)
{
    const char *const options[] = {"tesela-kc", option};

    LLVMParseCommandLineOptions(2, options, NULL);
}

void kc_wg_bound_emission(LLVMModuleRef module)
{
    struct sizes most = {0, 0};
    static bool done; /* LLVM takes an option once, for the whole process, which serves one build */

    if (done)
        return;
    done = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        struct sizes sizes = sizes_of(f);

        most.function = sizes.function > most.function ? sizes.function : most.function;
        most.block = sizes.block > most.block ? sizes.block : most.block;
    }
#ifdef __x86_64__
    if (most.function > MOST_OF_DOMAINS)
        set_option("-disable-x86-domain-reassignment");
#endif
    if (most.function > MOST_OF_REGIONS)
        set_option("-grow-region-complexity-budget=500");
    if (LLVM_VERSION_MAJOR >= 19 && most.function > MOST_OF_PREPARATIONS) /* older ones lack the option */
        set_option("-cgpp-huge-func=" BLOCKS_OF_PREPARATIONS);
    if (most.block > MOST_OF_SCHEDULES) {
        set_option("-enable-misched=false");
        set_option("-post-RA-scheduler=false");
    }
}
