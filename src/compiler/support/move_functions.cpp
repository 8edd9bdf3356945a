/*
 * LLVM's linker processes a whole module to link some of its functions, and frees it afterwards: ten milliseconds for a
 * library of thousands of functions. Both modules are in one context, so functions can be moved instead.
 */
#include "compiler/support/move_functions.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include <cstring>

namespace
{

class taking
{
  public:
    taking(llvm::Module &to, llvm::Module &from) : module(to), library(from)
    {
    }

    /* False: something can't be read; why says what. */
    bool all()
    {
        for (llvm::GlobalObject &global : module.global_objects())
            if (global.isDeclaration())
                add(library.getNamedValue(global.getName()));
        while (!todo.empty())
            if (!bring(*todo.pop_back_val()))
                return false;
        return true;
    }

    std::string why;

  private:
    llvm::Module &module, &library;
    llvm::SmallVector<llvm::GlobalObject *, 32> todo;
    llvm::SmallPtrSet<const llvm::Value *, 32> seen;

    /* Adds a function or variable of the library that is used. */
    void add(llvm::Value *value)
    {
        auto *global = llvm::dyn_cast_or_null<llvm::GlobalObject>(value);

        if (global && global->getParent() == &library && seen.insert(global).second)
            todo.push_back(global);
    }

    /* Adds everything that a constant refers to. */
    void look(llvm::Value *value)
    {
        if (llvm::isa<llvm::GlobalValue>(value))
            add(value);
        else if (auto *constant = llvm::dyn_cast<llvm::Constant>(value)) {
            if (!constant->getNumOperands() || !seen.insert(constant).second)
                return;
            for (llvm::Value *part : constant->operands())
                look(part);
        }
    }

    void insert(llvm::GlobalObject &global)
    {
        if (auto *function = llvm::dyn_cast<llvm::Function>(&global)) {
            function->removeFromParent();
            module.getFunctionList().push_back(function);
        } else {
            auto *variable = llvm::cast<llvm::GlobalVariable>(&global);

            variable->removeFromParent();
#if LLVM_VERSION_MAJOR >= 17
            module.insertGlobalVariable(variable);
#else
            module.getGlobalList().push_back(variable);
#endif
        }
    }

    /* A program's own definition has precedence, as with a linker; a declaration is replaced by a definition. */
    bool bring(llvm::GlobalObject &global)
    {
        llvm::GlobalValue *known = global.hasLocalLinkage() ? nullptr : module.getNamedValue(global.getName());

        if (known && (global.isDeclaration() || !known->isDeclaration())) {
            global.replaceAllUsesWith(llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(known, global.getType()));
            return true;
        }
        if (llvm::Error error = global.materialize()) {
            why = llvm::toString(std::move(error));
            return false;
        }
        if (known) {
            known->replaceAllUsesWith(llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(&global, known->getType()));
            known->eraseFromParent();
        }
        insert(global);
        look_inside(global);
        return true;
    }

    void look_inside(llvm::GlobalObject &global)
    {
        if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&global)) {
            if (variable->hasInitializer())
                look(variable->getInitializer());
            return;
        }
        for (llvm::Instruction &instruction : llvm::instructions(llvm::cast<llvm::Function>(global)))
            for (llvm::Value *operand : instruction.operands())
                look(operand);
    }
};

} // namespace

bool kc_move_functions(LLVMModuleRef module, LLVMModuleRef library, char **why)
{
    taking taking(*llvm::unwrap(module), *llvm::unwrap(library));
    bool done = taking.all();

    *why = done ? nullptr : strdup(taking.why.c_str());
    return done;
}
