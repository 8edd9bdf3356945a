#include "compiler/workgroup/transform/metadata.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <string.h>

static unsigned kind_of(struct kc_wg *wg, const char *name)
{
    return LLVMGetMDKindIDInContext(wg->context, name, (unsigned)strlen(name));
}

static LLVMMetadataRef string(struct kc_wg *wg, const char *text)
{
    return LLVMMDStringInContext2(wg->context, text, strlen(text));
}

/* A distinct node, which refers to itself: first a temporary stands for it. */
static LLVMMetadataRef own_node(struct kc_wg *wg, LLVMMetadataRef *operands, unsigned n)
{
    LLVMMetadataRef self = LLVMTemporaryMDNode(wg->context, NULL, 0), node;

    operands[0] = self;
    node = LLVMMDNodeInContext2(wg->context, operands, n);
    LLVMMetadataReplaceAllUsesWith(self, node);
    return node;
}

/* An access group is a distinct node without operands. LLVM's C interface can't make one, but its parser can. */
LLVMMetadataRef kc_access_group(struct kc_wg *wg)
{
    static const char text[] = "!groups = !{!0}\n!0 = distinct !{}\n";
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof(text) - 1, "");
    LLVMModuleRef module;
    LLVMValueRef group;
    LLVMBool discards = LLVMContextShouldDiscardValueNames(wg->context);
    char *error;

    LLVMContextSetDiscardValueNames(wg->context, 0); /* otherwise LLVM parses no text */
    if (LLVMParseIRInContext(wg->context, buffer, &module, &error))
        abort(); /* our own text */
    LLVMContextSetDiscardValueNames(wg->context, discards);
    LLVMGetNamedMetadataOperands(module, "groups", &group);
    LLVMDisposeModule(module);
    return LLVMValueAsMetadata(group);
}

/* A list with one scope, in a domain of its own. */
LLVMMetadataRef kc_alias_scope(struct kc_wg *wg)
{
    LLVMMetadataRef domain[] = {NULL}, scope[] = {NULL, own_node(wg, domain, 1)}, list = own_node(wg, scope, 2);

    return LLVMMDNodeInContext2(wg->context, &list, 1);
}

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i);
}

void kc_mark_parallel(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef group)
{
    if (is_access(access))
        LLVMSetMetadata(access, kind_of(wg, "llvm.access.group"), LLVMMetadataAsValue(wg->context, group));
}

LLVMValueRef kc_mark_inside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope)
{
    LLVMSetMetadata(access, kind_of(wg, "alias.scope"), LLVMMetadataAsValue(wg->context, scope));
    return access;
}

void kc_mark_outside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope)
{
    if (is_access(access))
        LLVMSetMetadata(access, kind_of(wg, "noalias"), LLVMMetadataAsValue(wg->context, scope));
}

static LLVMMetadataRef property(struct kc_wg *wg, const char *name, LLVMValueRef value)
{
    LLVMMetadataRef pair[2] = {string(wg, name), value ? LLVMValueAsMetadata(value) : NULL};

    return LLVMMDNodeInContext2(wg->context, pair, value ? 2 : 1);
}

void kc_mark_lane_loop(struct kc_wg *wg, LLVMValueRef branch, LLVMMetadataRef group, unsigned lanes, unsigned strips)
{
    LLVMValueRef yes = LLVMConstInt(LLVMInt1TypeInContext(wg->context), 1, 0);
    LLVMMetadataRef accesses[2] = {string(wg, "llvm.loop.parallel_accesses"), group};
    LLVMMetadataRef operands[] = {NULL, LLVMMDNodeInContext2(wg->context, accesses, 2),
                                  property(wg, "llvm.loop.vectorize.enable", yes),
                                  property(wg, "llvm.loop.vectorize.width", kc_i32(wg, lanes)),
                                  property(wg, "llvm.loop.interleave.count", kc_i32(wg, strips))};

    LLVMSetMetadata(branch, kind_of(wg, "llvm.loop"),
                    LLVMMetadataAsValue(wg->context, own_node(wg, operands, sizeof(operands) / sizeof(operands[0]))));
}

void kc_mark_plain_loop(struct kc_wg *wg, LLVMValueRef branch)
{
    LLVMMetadataRef operands[] = {
        NULL, property(wg, "llvm.loop.unroll.disable", NULL),
        property(wg, "llvm.loop.vectorize.enable", LLVMConstInt(LLVMInt1TypeInContext(wg->context), 0, 0))};

    LLVMSetMetadata(branch, kind_of(wg, "llvm.loop"),
                    LLVMMetadataAsValue(wg->context, own_node(wg, operands, sizeof(operands) / sizeof(operands[0]))));
}

void kc_mark_uneven_loop(struct kc_wg *wg, LLVMValueRef branch)
{
    LLVMMetadataRef operands[] = {NULL, property(wg, "llvm.loop.unroll.runtime.disable", NULL)};

    LLVMSetMetadata(branch, kind_of(wg, "llvm.loop"), LLVMMetadataAsValue(wg->context, own_node(wg, operands, 2)));
}

void kc_mark_forgotten(struct kc_wg *wg, LLVMValueRef call)
{
    LLVMSetMetadata(call, kind_of(wg, KC_FORGOTTEN),
                    LLVMMetadataAsValue(wg->context, LLVMMDNodeInContext2(wg->context, NULL, 0)));
}

void kc_forget_scopes(struct kc_wg *wg, LLVMValueRef instruction)
{
    static const char *const names[] = {"alias.scope", "noalias", "llvm.loop"};

    if (!LLVMHasMetadata(instruction))
        return;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        LLVMSetMetadata(instruction, kind_of(wg, names[k]), NULL);
}
