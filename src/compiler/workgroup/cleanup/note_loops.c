#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <string.h>

#define MAX_PROPERTIES 8u

static bool is_width(LLVMValueRef property)
{
    LLVMValueRef parts[2];
    unsigned length;
    const char *text;

    if (!property || !LLVMIsAMDNode(property) || LLVMGetMDNodeNumOperands(property) != 2)
        return false;
    LLVMGetMDNodeOperands(property, parts);
    text = parts[0] && LLVMIsAMDString(parts[0]) ? LLVMGetMDString(parts[0], &length) : NULL;
    return text && strcmp(text, "llvm.loop.vectorize.width") == 0;
}

/* Is it the back edge of a loop that was to become a vector's? */
static bool is_lane_loop(LLVMValueRef branch, unsigned kind)
{
    LLVMValueRef properties[MAX_PROPERTIES], loop = branch ? LLVMGetMetadata(branch, kind) : NULL;
    unsigned n = loop ? LLVMGetMDNodeNumOperands(loop) : 0;

    if (n == 0 || n > MAX_PROPERTIES)
        return false;
    LLVMGetMDNodeOperands(loop, properties);
    for (unsigned k = 1; k < n; k++) /* the first one is the loop itself */
        if (is_width(properties[k]))
            return true;
    return false;
}

static unsigned first_line(LLVMBasicBlockRef block, LLVMBasicBlockRef latch)
{
    for (; block; block = LLVMGetNextBasicBlock(block)) {
        for (KC_EACH_INSTRUCTION(i, block))
            if (LLVMGetDebugLocLine(i))
                return LLVMGetDebugLocLine(i);
        if (block == latch)
            break;
    }
    return 0;
}

void kc_wg_note_loops(LLVMModuleRef module, FILE *notes)
{
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "llvm.loop", 9);
    size_t length;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef branch = LLVMGetBasicBlockTerminator(b);

            if (is_lane_loop(branch, kind))
                fprintf(notes, "%s: line %u: LLVM left what begins here to one work-item after the other\n",
                        LLVMGetValueName2(f, &length), first_line(LLVMGetSuccessor(branch, 0), b));
        }
}
