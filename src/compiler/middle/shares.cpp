#include "compiler/middle/shares.h"

#include "compiler/workgroup/workgroup.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdlib>

namespace
{

/* A share of fewer instructions, with what is inlined, takes less time than a process saves. */
constexpr uint64_t LEAST = 4000;

constexpr unsigned GLOBAL_SPACE = 1, CONSTANT_SPACE = 4;

/* How many instructions a function has when everything is inlined. */
class weights
{
  public:
    bool recursive = false, odd = false; /* odd: a function is called by another type than its own, and not inlined */

    uint64_t of(llvm::Function &function)
    {
        auto [at, is_new] = known.try_emplace(&function, 0);
        uint64_t sum = 0;

        if (!is_new) {
            recursive |= at->second == 0 && !function.isDeclaration();
            return at->second;
        }
        if (function.isDeclaration())
            return 0;
        for (llvm::Instruction &instruction : llvm::instructions(function)) {
            auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);

            sum += 1 + (call && call->getCalledFunction() ? of(*call->getCalledFunction()) : 0);
            odd |= call && !call->getCalledFunction() &&
                   llvm::isa<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
        }
        return known[&function] = sum;
    }

  private:
    llvm::DenseMap<llvm::Function *, uint64_t> known; /* 0: it is being counted, or has no body */
};

/* Each share would have variables of its own. */
bool has_variables(llvm::Module &module)
{
    for (llvm::GlobalVariable &variable : module.globals())
        if (variable.getAddressSpace() == GLOBAL_SPACE && !variable.isConstant())
            return true;
    return false;
}

uint64_t bytes_of_constants(llvm::Module &module)
{
    uint64_t sum = 0;

    for (llvm::GlobalVariable &variable : module.globals())
        if (variable.getAddressSpace() == CONSTANT_SPACE)
            sum += module.getDataLayout().getTypeAllocSize(variable.getValueType());
    return sum;
}

/* So many shares that none takes longer than the largest kernel. */
uint64_t number_of_shares(const llvm::SmallVectorImpl<uint64_t> &weight, unsigned most)
{
    uint64_t total = 0, largest = 1;

    for (uint64_t one : weight) {
        total += one;
        largest = std::max(largest, one);
    }
    return std::min({static_cast<uint64_t>(most), (total + largest - 1) / largest, total / LEAST});
}

/* The heaviest kernels first, each to where there is least yet. */
void share_out(const llvm::SmallVectorImpl<uint64_t> &weight, struct kc_shares *shares)
{
    llvm::SmallVector<uint64_t, 16> load(shares->n, 0);
    llvm::SmallVector<uint32_t, 64> order;

    for (uint32_t i = 0; i < shares->n_kernels; i++)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    for (uint32_t i : order) {
        auto least = std::min_element(load.begin(), load.end());

        *least += weight[i];
        shares->share[i] = static_cast<unsigned>(least - load.begin());
    }
}

bool is_kernel(llvm::Function &function)
{
    return function.hasFnAttribute(KC_KERNEL_ATTRIBUTE);
}

} // namespace

void kc_shares_create(LLVMModuleRef module, unsigned most, uint64_t constants, struct kc_shares *shares)
{
    llvm::Module &whole = *llvm::unwrap(module);
    llvm::SmallVector<uint64_t, 64> weight;
    weights counted;
    uint64_t n;

    for (llvm::Function &function : whole)
        if (is_kernel(function))
            weight.push_back(counted.of(function));
    n = counted.recursive || counted.odd || has_variables(whole) ? 1 : number_of_shares(weight, most);
    if (constants && bytes_of_constants(whole))
        n = std::min(n, constants / bytes_of_constants(whole));
    *shares = {static_cast<unsigned>(std::max<uint64_t>(n, 1)), static_cast<uint32_t>(weight.size()), nullptr};
    shares->share = static_cast<unsigned *>(calloc(weight.size() + 1, sizeof(*shares->share)));
    share_out(weight, shares);
}

void kc_shares_finish(struct kc_shares *shares)
{
    free(shares->share);
}

void kc_shares_keep(const struct kc_shares *shares, LLVMModuleRef module, unsigned share)
{
    llvm::SmallVector<llvm::Function *, 64> others;
    uint32_t i = 0;

    for (llvm::Function &function : *llvm::unwrap(module))
        if (is_kernel(function) && shares->share[i++] != share)
            others.push_back(&function);
    for (llvm::Function *function : others)
        function->eraseFromParent();
}
