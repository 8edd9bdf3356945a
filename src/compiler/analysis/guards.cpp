/*
 * Under which conditions a block runs, within one iteration of each loop around it: from its immediate dominator on,
 * and so up to the kernel's entry. Loops on the way count as one step, which ends: a launch that doesn't end has no
 * result to be exact about.
 */
#include "compiler/analysis/accesses.hpp"

#include <llvm/IR/CFG.h>

namespace kc
{

/* Is one of the goals, which are all in one loop, reached from a block, before the iteration ends? */
struct Accesses::Question {
    llvm::ArrayRef<llvm::BasicBlock *> goals;
    unsigned budget;                                       /* blocks that may be looked at */
    llvm::SmallPtrSet<llvm::BasicBlock *, 16> region = {}; /* of which some way leads there */
    llvm::DenseMap<llvm::BasicBlock *, uint32_t> answers = llvm::DenseMap<llvm::BasicBlock *, uint32_t>();

    bool is_goal(llvm::BasicBlock *block) const
    {
        return llvm::is_contained(goals, block);
    }
};

namespace
{

/* What has no meaning when it runs doesn't. */
bool is_never(const llvm::BasicBlock &block)
{
    return llvm::isa<llvm::UnreachableInst>(block.front());
}

} // namespace

/* The immediate dominator, or the head of the outermost loop that it is in and the block is not. */
llvm::BasicBlock *Accesses::above(llvm::BasicBlock *block)
{
    llvm::DomTreeNode *node = dominators.getNode(block);
    llvm::BasicBlock *from = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::Loop *loop = from ? loops.getLoopFor(from) : nullptr;

    for (; loop && !loop->contains(block); loop = loop->getParentLoop())
        from = loop->getHeader();
    return from;
}

/* An end of the iteration reaches nothing more. */
uint32_t Accesses::reach_next(llvm::BasicBlock *from, llvm::BasicBlock *next, Question &question)
{
    llvm::Loop *loop = loops.getLoopFor(from);

    for (; !question.is_goal(next) && loop; loop = loop->getParentLoop())
        if (loop->getHeader() == next)
            return nodes.constant(1, 0);
    return reach(next, question);
}

uint32_t Accesses::reach_behind(llvm::Loop &loop, Question &question)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> exits;
    llvm::Loop *outer = loop.getParentLoop();
    uint32_t answer = no_node;

    loop.getExitBlocks(exits);
    for (llvm::BasicBlock *exit : exits) {
        uint32_t one = !question.is_goal(exit) && outer && outer->getHeader() == exit ? nodes.constant(1, 0)
                                                                                      : reach(exit, question);

        if (one == no_node || (answer != no_node && one != answer))
            return no_node;
        answer = one;
    }
    return answer;
}

uint32_t Accesses::reach_by_branch(llvm::BranchInst &branch, Question &question)
{
    llvm::BasicBlock *from = branch.getParent();
    uint32_t a, b, condition;

    if (branch.isConditional() && is_never(*branch.getSuccessor(0)))
        return reach_next(from, branch.getSuccessor(1), question);
    a = reach_next(from, branch.getSuccessor(0), question);
    if (branch.isUnconditional() || a == no_node || is_never(*branch.getSuccessor(1)))
        return a;
    b = reach_next(from, branch.getSuccessor(1), question);
    if (b == no_node || a == b)
        return b;
    condition = of(branch.getCondition());
    return nodes.select(condition, a, b);
}

uint32_t Accesses::reach_by_switch(llvm::SwitchInst &choice, Question &question)
{
    uint32_t value = of(choice.getCondition());
    llvm::BasicBlock *rest = choice.getDefaultDest();
    uint32_t answer;

    if (is_never(*rest) && choice.getNumCases())
        rest = choice.case_begin()->getCaseSuccessor();
    answer = reach_next(choice.getParent(), rest, question);

    for (auto one : choice.cases()) {
        uint32_t there = reach_next(choice.getParent(), one.getCaseSuccessor(), question);

        if (answer == no_node || there == no_node)
            return no_node;
        if (there != answer)
            answer = nodes.select(nodes.binary(TSL_NODE_EQ, value, of(one.getCaseValue())), there, answer);
    }
    return answer;
}

uint32_t Accesses::reach_once(llvm::BasicBlock *from, Question &question)
{
    llvm::Loop *loop = loops.getLoopFor(from);
    llvm::Instruction *end = from->getTerminator();

    if (loop && !loop->contains(question.goals[0]))
        return loop->getHeader() == from ? reach_behind(*loop, question) : no_node;
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(end))
        return reach_by_branch(*branch, question);
    if (auto *choice = llvm::dyn_cast<llvm::SwitchInst>(end))
        return reach_by_switch(*choice, question);
    return nodes.constant(1, 0);
}

/* A condition, or no_node: it is too much, or can't be said. */
uint32_t Accesses::reach(llvm::BasicBlock *from, Question &question)
{
    auto known = question.answers.find(from);
    uint32_t answer;

    if (question.is_goal(from))
        return nodes.constant(1, 1);
    if (!question.region.count(from))
        return nodes.constant(1, 0);
    if (known != question.answers.end())
        return known->second;
    if (!question.budget || depth > 400)
        return no_node;
    question.budget--;
    question.answers[from] = no_node; /* what leads back to itself isn't followed */
    depth++;
    answer = reach_once(from, question);
    depth--;
    question.answers[from] = answer;
    return answer;
}

uint32_t Accesses::reached(llvm::BasicBlock *from, llvm::ArrayRef<llvm::BasicBlock *> goals)
{
    Question question = {goals, 128};
    llvm::SmallVector<llvm::BasicBlock *, 16> todo(goals.begin(), goals.end());

    while (!todo.empty()) {
        llvm::BasicBlock *block = todo.pop_back_val();
        llvm::Loop *loop = loops.getLoopFor(block);

        for (llvm::BasicBlock *before : llvm::predecessors(block)) {
            bool again = loop && loop->getHeader() == block && loop->contains(before);

            if (!again && dominators.isReachableFromEntry(before) && question.region.insert(before).second &&
                before != from)
                todo.push_back(before);
        }
    }
    return reach(from, question);
}

/* Does control come to `to` from the block `from`, if it comes there? */
uint32_t Accesses::edge(llvm::BasicBlock *from, llvm::BasicBlock *to)
{
    llvm::BasicBlock *top = above(to);
    llvm::Loop *left = loops.getLoopFor(from);
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
    uint32_t first, last;

    if (!top || !branch)
        return no_node;
    if (left && !left->contains(to)) {
        for (; left->getParentLoop() && !left->getParentLoop()->contains(to); left = left->getParentLoop())
            if (!left->getExitingBlock())
                return no_node;
        return left->getExitingBlock() ? reached(top, left->getHeader()) : no_node;
    }
    first = reached(top, from);
    if (first == no_node || branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        return first;
    last = of(branch->getCondition());
    if (branch->getSuccessor(1) == to)
        last = nodes.opposite(last);
    return nodes.binary(TSL_NODE_AND, first, last);
}

/* Adds what can be said of a condition. */
void Accesses::require(Guards &to, uint32_t condition)
{
    if (condition == no_node) {
        to.exact = false;
        return;
    }
    if (nodes.is_true(condition))
        return;
    if (nodes[condition].op == TSL_NODE_AND) {
        const tsl_node node = nodes[condition];

        require(to, node.a);
        require(to, node.b);
    } else if (nodes.has_unknown(condition) || to.all.size() == TSL_FOOTPRINT_MAX_GUARDS)
        to.exact = false;
    else if (!llvm::is_contained(to.all, condition))
        to.all.push_back(condition);
}

Guards Accesses::guards_of(llvm::BasicBlock *block)
{
    auto known = guards.find(block);
    llvm::BasicBlock *top = above(block);
    llvm::Loop *before = scope;
    Guards result;

    if (known != guards.end())
        return known->second;
    if (top) {
        result = guards_of(top);
        scope = loops.getLoopFor(top);
        require(result, reached(top, block));
        scope = before;
    }
    return guards[block] = result;
}

} // namespace kc
