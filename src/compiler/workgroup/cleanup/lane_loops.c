#include "compiler/workgroup/cleanup/lane_loops.h"

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

bool kc_is_lane_loop(LLVMValueRef branch, unsigned kind)
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

unsigned kc_loop_kind(LLVMModuleRef module)
{
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "llvm.loop", 9);
}
