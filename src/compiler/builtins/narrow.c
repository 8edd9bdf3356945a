/*
 * Atomic operations and fences of OpenCL 1 order nothing between work-groups: the operations are relaxed (OpenCL C 3.0,
 * 6.15.12.8), a mem_fence is of its work-group (6.15.10). The code that is made of them is stronger, so that what reads
 * it off (compiler/analysis/flags.cpp) needs a mark.
 */
#include "compiler/builtins/builtins.h"
#include "compiler/support/llvm.h"

#include <string.h>

/* Names without what C++ puts around them; a P begins the parameters of all of them, a j those of fences. */
static bool is_of_opencl_1(const char *name)
{
    static const char *const names[] = {"atomic_addP",      "atomic_subP",    "atomic_incP", "atomic_decP",
                                        "atomic_xchgP",     "atomic_minP",    "atomic_maxP", "atomic_andP",
                                        "atomic_orP",       "atomic_xorP",    "mem_fencej",  "read_mem_fencej",
                                        "write_mem_fencej", "atomic_cmpxchgP"};

    if (strncmp(name, "_Z", 2) != 0)
        return false;
    name += 2;
    name += strspn(name, "0123456789");
    if (strncmp(name, "atom_", strlen("atom_")) == 0) /* The names before OpenCL 1.1. */
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool may_order(LLVMValueRef at)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(at);

    return code == LLVMAtomicRMW || code == LLVMAtomicCmpXchg || code == LLVMFence;
}

void kc_mark_narrow(LLVMModuleRef library)
{
    LLVMContextRef context = LLVMGetModuleContext(library);
    unsigned kind = LLVMGetMDKindIDInContext(context, KC_NARROW, sizeof(KC_NARROW) - 1);
    LLVMValueRef mark = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));

    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        if (!is_of_opencl_1(kc_name(f)))
            continue;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
                if (may_order(at))
                    LLVMSetMetadata(at, kind, mark);
    }
}
