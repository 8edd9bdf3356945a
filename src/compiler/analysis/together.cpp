/*
 * if (data) out[i] = a; else out[i] = b: nobody knows which of the stores is made, but one of them is.
 */
#include "compiler/analysis/accesses.hpp"

#include <algorithm>

namespace kc
{

namespace
{

constexpr size_t most_ways = 8;

bool may_be_joined(const Access &one)
{
    return one.kind == TSL_ACCESS_WRITE && one.address[0] != no_node && !one.chosen &&
           !(one.flags & (TSL_ACCESS_SURE | TSL_ACCESS_VOLATILE | TSL_ACCESS_IMAGE));
}

bool are_same(const Access &a, const Access &b)
{
    return a.argument == b.argument && a.address[0] == b.address[0] && a.width == b.width && a.loops == b.loops;
}

} // namespace

/* Stores of the same bytes: is one of them made wherever their nearest common dominator runs? Then they are one, there.
 */
bool Accesses::join_way(llvm::ArrayRef<size_t> same)
{
    llvm::SmallVector<llvm::BasicBlock *, 8> blocks;
    llvm::BasicBlock *top = list[same[0]].block;
    Access one = list[same[0]];
    Touch touch = {&top->front(), nullptr, TSL_ACCESS_WRITE, one.width};
    Guards under;

    for (size_t i : same) {
        if (loops.getLoopFor(list[i].block) != loops.getLoopFor(top))
            return false;
        blocks.push_back(list[i].block);
        top = dominators.findNearestCommonDominator(top, list[i].block);
        one.narrow = std::min(one.narrow, list[i].narrow);
    }
    scope = loops.getLoopFor(blocks[0]);
    if (loops.getLoopFor(top) != scope || nodes.has_unknown(one.address[0]))
        return false;
    under = guards_of(top);
    require(under, reached(top, blocks));
    if (!under.exact)
        return false;
    touch.at = blocks[0]->getTerminator();
    touch.narrow = one.narrow;
    one.loops.clear();
    one.guards.clear();
    one.flags = 0;
    one.value = 0;
    finish(touch, one, under);
    list.back().line = one.line = list[same[0]].line;
    if (list.back().flags & TSL_ACCESS_SURE)
        return true;
    list.pop_back();
    return false;
}

void Accesses::join_ways()
{
    std::vector<bool> gone(list.size(), false);
    std::vector<Access> rest;
    size_t n = list.size();

    for (size_t i = 0; i < n; i++) {
        llvm::SmallVector<size_t, 8> same = {i};

        if (gone[i] || !may_be_joined(list[i]))
            continue;
        for (size_t k = i + 1; k < n && same.size() < most_ways; k++)
            if (!gone[k] && may_be_joined(list[k]) && are_same(list[i], list[k]))
                same.push_back(k);
        if (same.size() > 1 && join_way(same))
            for (size_t k : same)
                gone[k] = true;
    }
    gone.resize(list.size(), false);
    for (size_t i = 0; i < list.size(); i++)
        if (!gone[i])
            rest.push_back(std::move(list[i]));
    list = std::move(rest);
}

} // namespace kc
