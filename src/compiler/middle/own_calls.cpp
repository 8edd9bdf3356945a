#include "compiler/middle/own_calls.h"

#include "compiler/workgroup/workgroup.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstdint>

namespace
{

/* Front ends' instructions, which have their variables in memory: two or three times those of the code. A kernel that
 * has fewer with all that it calls is never so large that calls pay. */
constexpr uint64_t LEAST_KERNEL = 10000;

/* A shorter function, with all that it calls, costs less than a call and its values in memory. */
constexpr uint64_t LEAST_FUNCTION = 300;

constexpr unsigned PROGRAMS_SPACE = 1, GROUPS_SPACE = 3;

bool is_marked(const llvm::Function &function)
{
    return function.hasFnAttribute(KC_KERNEL_ATTRIBUTE);
}

/* The functions in which a variable is used, through constants, too. */
void add_users(const llvm::Value &value, llvm::SmallPtrSetImpl<const llvm::Function *> &functions)
{
    for (const llvm::User *user : value.users()) {
        if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
            functions.insert(instruction->getFunction());
        else if (llvm::isa<llvm::Constant>(user) && !llvm::isa<llvm::GlobalValue>(user))
            add_users(*user, functions);
    }
}

bool shares_variables(const llvm::Module &module)
{
    return llvm::any_of(module.globals(), [](const llvm::GlobalVariable &variable) {
        return variable.getAddressSpace() == PROGRAMS_SPACE && !variable.isConstant();
    });
}

class Choice
{
  public:
    explicit Choice(llvm::Module &module)
    {
        for (const llvm::GlobalVariable &variable : module.globals())
            if (variable.getAddressSpace() == GROUPS_SPACE)
                add_users(variable, bound);
        for (llvm::Function &function : module)
            if (is_marked(function))
                visit(function);
    }

    /* Is a kernel so large that calls may pay? */
    bool may_pay() const
    {
        return !odd && largest >= LEAST_KERNEL;
    }

    /* Functions that a kernel would have several times become called ones. False: there are none. */
    bool make()
    {
        bool any = false;

        std::reverse(order.begin(), order.end()); /* callers first */
        for (llvm::Function *function : order) {
            bool called = is_worth(*function);

            for (llvm::Function *callee : known[function].callees)
                known[callee].times += called || is_marked(*function) ? 1 : known[function].times;
            if (called)
                keep(*function);
            any |= called;
        }
        return any;
    }

  private:
    struct About {
        bool done = false;
        uint64_t size = 0;  /* with everything inlined */
        uint64_t times = 0; /* that it would be inlined */
        llvm::SmallVector<llvm::Function *, 8> callees;
    };

    llvm::DenseMap<llvm::Function *, About> known;
    llvm::SmallVector<llvm::Function *, 64> order;       /* callees first */
    llvm::SmallPtrSet<const llvm::Function *, 16> bound; /* to a kernel: they have barriers, ids, local memory */
    uint64_t largest = 0;
    bool odd = false; /* recursion, or calls of what isn't known */

    void visit(llvm::Function &function)
    {
        About about;

        known[&function]; /* is being visited */
        for (llvm::Instruction &at : llvm::instructions(function)) {
            about.size++;
            if (auto *call = llvm::dyn_cast<llvm::CallBase>(&at))
                visit_call(function, *call, about);
        }
        about.done = true;
        if (is_marked(function))
            largest = std::max(largest, about.size);
        known[&function] = about;
        order.push_back(&function);
    }

    void visit_call(llvm::Function &function, const llvm::CallBase &call, About &about)
    {
        llvm::Function *callee = call.getCalledFunction();

        if (call.isInlineAsm() || (callee && callee->isIntrinsic()))
            return;
        odd |= !callee;
        if (!callee || callee->isDeclaration()) {
            bound.insert(&function);
            return;
        }
        if (!known.contains(callee))
            visit(*callee);
        odd |= !known[callee].done;
        if (bound.contains(callee))
            bound.insert(&function);
        about.size += known[callee].size;
        about.callees.push_back(callee);
    }

    bool is_worth(llvm::Function &function)
    {
        return !is_marked(function) && !bound.contains(&function) && !function.hasAddressTaken() &&
               function.hasFnAttribute(llvm::Attribute::AlwaysInline) && known[&function].times > 1 &&
               known[&function].size >= LEAST_FUNCTION;
    }

    static void keep(llvm::Function &function)
    {
        function.removeFnAttr(llvm::Attribute::AlwaysInline);
        function.addFnAttr(llvm::Attribute::NoInline);
        function.setName("__tsl_called_" + function.getName());
    }
};

} // namespace

LLVMModuleRef kc_calls_copy(LLVMModuleRef module)
{
    std::unique_ptr<llvm::Module> copy;

    if (shares_variables(*llvm::unwrap(module)) || !Choice(*llvm::unwrap(module)).may_pay())
        return nullptr; /* of nearly all programs: no copy is made of them */
    copy = llvm::CloneModule(*llvm::unwrap(module));
    return Choice(*copy).make() ? llvm::wrap(copy.release()) : nullptr;
}
