#include "compiler/middle/texels.h"

#include "compiler/builtins/builtins.h"
#include "compiler/workgroup/workgroup.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace
{

/* What reads an image that the kernel doesn't write; and the shorter function that knows no format better than others,
 * for what texture units can't read. */
constexpr struct {
    const char *name, *any;
} READS[] = {{"__tsl_called_image_load", "__tsl_called_other_load"},
             {"__tsl_called_image_sample", "__tsl_called_other_sample"}};

/* No program's function has a space in its name. */
std::string twin_name(llvm::StringRef name)
{
    return (name + " by texels").str();
}

llvm::Function *add_twin(llvm::Function &function)
{
    llvm::ValueToValueMapTy map;
    llvm::Function *twin = llvm::CloneFunction(&function, map);

    twin->setName(twin_name(function.getName()));
    return twin;
}

llvm::CallInst *call_of(llvm::User *user, const llvm::Function &callee)
{
    auto *call = llvm::dyn_cast<llvm::CallInst>(user);

    return call && call->getCalledFunction() == &callee ? call : nullptr;
}

/* Answers what the function `in` asks, or all that is left to ask. */
void answer(llvm::Function &question, const llvm::Function *in, bool yes)
{
    for (llvm::User *user : llvm::make_early_inc_range(question.users())) {
        llvm::CallInst *call = call_of(user, question);

        if (!call || (in && call->getFunction() != in))
            continue;
        call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), yes));
        call->eraseFromParent();
    }
}

/* The functions that read, with twins. */
class readers
{
  public:
    explicit readers(llvm::Module &module)
    {
        llvm::Function *question = module.getFunction(KC_TEXELS_FUNCTION);

        for (const auto &[name, any] : READS) {
            llvm::Function *function = module.getFunction(name);

            if (!question || !function || function->isDeclaration())
                continue;
            all.push_back({function, add_twin(*function), module.getFunction(any)});
            answer(*question, all.back().twin, true);
        }
    }

    bool serve(llvm::Function &kernel) const
    {
        for (const reader &one : all)
            for (llvm::User *user : one.function->users())
                if (llvm::CallInst *call = call_of(user, *one.function); call && call->getFunction() == &kernel)
                    return true;
        return false;
    }

    /* Makes a twin of the kernel, which reads by texels; the kernel reads any image, without haste. */
    void part(llvm::Function &kernel) const
    {
        llvm::Function &twin = *add_twin(kernel);

        for (const reader &one : all) {
            redirect(twin, *one.function, *one.twin);
            redirect(kernel, *one.function, *one.any);
        }
    }

  private:
    struct reader {
        llvm::Function *function, *twin, *any;
    };
    llvm::SmallVector<reader, 2> all;

    static void redirect(llvm::Function &in, llvm::Function &from, llvm::Function &to)
    {
        for (llvm::User *user : llvm::make_early_inc_range(from.users()))
            if (llvm::CallInst *call = call_of(user, from); call && call->getFunction() == &in)
                call->setCalledFunction(&to);
    }
};

void add_twins(llvm::Module &module)
{
    readers readers(module);
    llvm::SmallVector<llvm::Function *, 16> kernels;

    for (llvm::Function &function : module)
        if (function.hasFnAttribute(KC_KERNEL_ATTRIBUTE) && readers.serve(function))
            kernels.push_back(&function);
    for (llvm::Function *kernel : kernels)
        readers.part(*kernel);
}

} // namespace

void kc_add_texel_twins(LLVMModuleRef ref, bool twins)
{
    llvm::Module &module = *llvm::unwrap(ref);

    if (twins)
        add_twins(module);
    if (llvm::Function *question = module.getFunction(KC_TEXELS_FUNCTION)) {
        answer(*question, nullptr, false);
        question->eraseFromParent();
    }
}

LLVMValueRef kc_texel_twin(LLVMModuleRef module, const char *name)
{
    return LLVMGetNamedFunction(module, twin_name(name).c_str());
}
