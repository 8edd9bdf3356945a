/*
 * The analysis behind accesses.h, one object for each kernel. Its parts, a file each:
 *   nodes.cpp      the table of expressions
 *   values.cpp     instructions become expressions, as they compute
 *   leaves.cpp     what they begin with: arguments, and elements of vectors
 *   evolution.cpp  what changes from iteration to iteration, and how often loops run: LLVM's ScalarEvolution, read
 *   guards.cpp     conditions under which a block runs
 *   loops.cpp      loops of the footprint
 *   steps.cpp      numbers whose lower bits alone go on by fixed steps
 *   pointers.cpp   which argument an address is in, and where
 *   accesses.cpp   instructions and calls that touch memory
 *   flags.cpp      fences, and loops that wait for others
 *   again.cpp      what a loop looks at again, and what it counts itself
 *   exchanges.cpp  loops that end by their own atomic exchange, and so don't wait
 *   together.cpp   stores that are made on each of several ways
 *   forms.cpp      expressions as sums
 *   rolls.cpp      unrolled loops are loops again
 *   strides.cpp    kernels that are a loop over what the launch is to do
 *   output.cpp     the list becomes a footprint: neighbours joined, what isn't used left out
 *
 * An expression holds in a scope: a loop (null: the kernel), whose counter and those around it are in it. What another
 * loop computes is known there by its last value, if at all.
 */
#ifndef KC_ANALYSIS_ACCESSES_HPP
#define KC_ANALYSIS_ACCESSES_HPP

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/nodes.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <string>
#include <vector>

namespace kc
{

/* Conditions that all hold where a block runs; exact: and if they do, it does. */
struct Guards {
    llvm::SmallVector<uint32_t, 8> all;
    bool exact = true;
};

/* Somewhere that a pointer may point. */
struct Place {
    llvm::Value *root;    /* an argument or a variable; null: it came out of memory or a number */
    uint32_t offset;      /* 64 bits, bytes; no_node: anywhere in it */
    Guards guards;        /* under which it points there */
    std::string why;      /* of no_node */
    bool earlier = false; /* it comes from an iteration before, of which what is known of the last one says nothing */
};

struct LoopFacts {
    uint32_t index; /* of its counter; no_node: there are too many loops */
    uint32_t count; /* no_node: not known */
    bool exact;
    uint32_t running; /* holds in just those iterations that there are, of those that `count` allows; no_node: in all */
};

/* Where a number goes from one iteration of a loop to the next. */
enum class Course { fixed, up, down, any };

/* A number in a loop. */
struct Steps {
    llvm::Value *first;
    uint32_t step;
};

/* A loop goes on while `counted predicate bound` holds for what its next iteration begins with. */
struct Condition {
    uint32_t start, next, step, bound; /* of what is counted; next: what is tested first, a step from the start */
    const llvm::SCEV *first = nullptr, *last = nullptr; /* start and bound again; first null: not known so */
    llvm::CmpInst::Predicate predicate, at_first;       /* at_first: of first and last */
    bool from_first = false;                            /* it holds for the start, too */
    bool never_wraps = false;
    bool narrow = false; /* iterations are told apart in the bits of what is counted */
    uint32_t ends;       /* 1 bit: what is counted comes to the bound without a wrap */

    bool falls() const
    {
        return llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate);
    }
};

/* Of one loop. */
constexpr size_t most_conditions = 4;
using Conditions = llvm::SmallVector<Condition, most_conditions>;

/* As struct tsl_access, in the making. */
struct Access {
    uint32_t argument = 0;
    uint8_t kind = 0, atomic = 0;
    unsigned flags = 0;
    uint32_t width = 0;
    uint32_t address[3] = {no_node, no_node, no_node};
    llvm::SmallVector<uint32_t, 4> loops;
    llvm::SmallVector<uint32_t, 8> guards;
    uint64_t value = 0;
    uint32_t line = 0, narrow = 0;
    std::string why;
    llvm::BasicBlock *block = nullptr;
    bool chosen = false; /* the pointer is one of several: where the block runs, the access may be another one's */
};

/* What one instruction does. */
struct Touch {
    llvm::Instruction *at;
    llvm::Value *pointer;
    tsl_access_kind kind;
    uint32_t width; /* bytes */
    unsigned flags = 0;
    tsl_atomic_op atomic = TSL_ATOMIC_OTHER;
    uint64_t value = 0;
    uint32_t narrow = 0;
    bool anywhere = false;     /* the address is but where it begins */
    uint32_t length = no_node; /* 64 bits: `width` bytes so many times, one behind the other */
};

class Forms;

class Accesses
{
  public:
    Accesses(llvm::Function &kernel, const tsl_kernel_facts &kernel_facts);
    void find();
    void write(tsl_writer &writer);

  private:
    /* values.cpp */
    uint32_t of(llvm::Value *value);
    uint32_t of_instruction(llvm::Instruction &at);
    uint32_t of_binary(llvm::BinaryOperator &at);
    uint32_t operate(unsigned opcode, uint32_t a, uint32_t b);
    uint32_t of_raised(llvm::Value *value, unsigned up);
    uint32_t of_shift(llvm::BinaryOperator &at);
    uint32_t of_cast(llvm::CastInst &at);
    uint32_t of_comparison(llvm::ICmpInst &at);
    uint32_t of_pointers(llvm::ICmpInst &at);
    uint32_t of_call(llvm::CallInst &at);
    uint32_t of_query(llvm::CallInst &at);
    uint32_t of_both(llvm::CallInst &at, uint32_t a, uint32_t b);
    uint32_t of_intrinsic(llvm::CallInst &at, uint32_t a, uint32_t b);
    uint32_t compare(llvm::CmpInst::Predicate predicate, uint32_t a, uint32_t b);
    uint32_t not_known(llvm::Value *value, const char *why);

    /* leaves.cpp */
    uint32_t of_argument(llvm::Argument &argument, uint64_t offset, unsigned bits);
    uint32_t of_table(llvm::LoadInst &at, unsigned bits);
    uint32_t of_load(llvm::LoadInst &at);
    uint32_t of_loaded(llvm::LoadInst &at, unsigned skipped, unsigned bits);
    bool is_untouched(llvm::Value *pointer, unsigned steps);
    uint32_t of_element(llvm::Value *vector, unsigned i);
    uint32_t find_element(llvm::Value *vector, unsigned i);
    uint32_t of_lane(llvm::Instruction &at, unsigned i);
    bool from_other(llvm::Value *&vector, unsigned &i);

    /* evolution.cpp */
    uint32_t of(const llvm::SCEV *expression);
    uint32_t of_sum(const llvm::SCEVNAryExpr &sum, unsigned bits);
    const llvm::SCEVUDivExpr *subtracted_quotient(const llvm::SCEV *operand);
    uint32_t of_remainder(const llvm::SCEVNAryExpr &sum, unsigned bits);
    uint32_t of_extreme(const llvm::SCEVNAryExpr &extreme, unsigned bits);
    uint32_t of_recurrence(const llvm::SCEVAddRecExpr &recurrence, unsigned bits);
    uint32_t of_pointer(const llvm::SCEV *pointer, unsigned bits);
    uint32_t of_cut(const llvm::SCEVCastExpr &cut, unsigned bits);
    uint32_t of_extension(const llvm::SCEV *operand, unsigned bits);
    uint32_t clean(const llvm::SCEV *expression, bool is_signed);
    uint32_t of_phi(llvm::PHINode &phi);
    uint32_t of_carried(llvm::PHINode &phi, llvm::Loop &loop);
    uint32_t of_merged(llvm::PHINode &phi);
    uint32_t from_evolution(llvm::Value *value);

    /* guards.cpp */
    struct Question;
    Guards guards_of(llvm::BasicBlock *block);
    llvm::BasicBlock *above(llvm::BasicBlock *block);
    uint32_t reach(llvm::BasicBlock *from, Question &question);
    uint32_t reach_once(llvm::BasicBlock *from, Question &question);
    uint32_t reach_behind(llvm::Loop &loop, Question &question);
    uint32_t reach_next(llvm::BasicBlock *from, llvm::BasicBlock *next, Question &question);
    uint32_t reach_by_switch(llvm::SwitchInst &choice, Question &question);
    uint32_t reach_by_branch(llvm::BranchInst &branch, Question &question);
    uint32_t reached(llvm::BasicBlock *from, llvm::ArrayRef<llvm::BasicBlock *> goals);
    void require(Guards &to, uint32_t condition);
    uint32_t edge(llvm::BasicBlock *from, llvm::BasicBlock *to);

    /* loops.cpp */
    LoopFacts loop_of(llvm::Loop *loop);
    void count(llvm::Loop &loop, LoopFacts &facts);
    bool count_by_evolution(llvm::Loop &loop, LoopFacts &facts);
    bool count_by_condition(llvm::Loop &loop, Condition &condition, LoopFacts &facts);
    bool count_by_conditions(llvm::Loop &loop, Conditions &conditions, LoopFacts &facts);
    bool counted_of(llvm::Loop &loop, llvm::Value *tested, Condition &result);
    void count_until(Condition &result);
    bool condition_of(llvm::Loop &loop, llvm::ICmpInst &test, bool holds, Condition &result);
    bool conditions_in(llvm::Loop &loop, llvm::Value *test, bool holds, Conditions &result);
    bool conditions_of(llvm::Loop &loop, Conditions &result);
    uint32_t running(uint32_t index, const Condition &condition);
    uint32_t wide(const Condition &condition, uint32_t node);
    uint32_t largest(const Condition &condition);
    uint32_t at_most(const Condition &condition, uint32_t a, uint32_t b);
    uint32_t ids_fit(const Condition &condition, uint32_t start);
    uint32_t lowest_start(Condition &condition);
    uint32_t most(Condition &condition);
    uint32_t count_of(llvm::Loop &loop, const llvm::SCEV *taken, bool &complete);
    uint32_t lowest(uint32_t node, unsigned depth);
    bool is_size(uint32_t node);
    uint32_t counter(llvm::Loop *loop);

    /* steps.cpp */
    bool is_further(llvm::Value *value, llvm::PHINode &phi, unsigned bits, uint32_t &sum);
    bool find_steps(llvm::PHINode &phi, unsigned bits, Steps &result);
    uint32_t by_steps(llvm::PHINode &phi, unsigned bits);
    uint32_t lower_bits(llvm::Value *value, unsigned bits);
    bool condition_by_steps(llvm::Loop &loop, llvm::Value *tested, Condition &result);

    /* pointers.cpp */
    using Visited = llvm::SmallSet<std::pair<llvm::Value *, bool>, 8>; /* and whether of an earlier iteration */
    void places(llvm::Value *pointer, const Place &so_far, std::vector<Place> &result, Visited &visited);
    void places_of_instruction(llvm::Instruction &at, const Place &so_far, std::vector<Place> &result,
                               Visited &visited);
    void places_of_select(llvm::SelectInst &at, const Place &so_far, std::vector<Place> &result, Visited &visited);
    void places_of_phi(llvm::PHINode &phi, const Place &so_far, std::vector<Place> &result, Visited &visited);
    bool place_in_loop(llvm::PHINode &phi, const Place &so_far, std::vector<Place> &result, Visited &visited);
    uint32_t offset_of(llvm::GEPOperator &pointer);

    /* accesses.cpp */
    void lift_queries();
    void lower_queries();
    void visit(llvm::Instruction &at);
    void visit_call(llvm::CallInst &at);
    void visit_intrinsic(llvm::CallInst &at);
    void visit_memory(llvm::CallInst &at);
    void visit_image(llvm::CallInst &at, bool stores);
    void visit_unknown(llvm::CallInst &at);
    void touch(const Touch &touch);
    void touch_place(const Touch &touch, const Place &place);
    void touch_all(const Touch &touch, const std::string &why);
    void finish(const Touch &touch, Access &access, const Guards &guards);
    bool add_loops(llvm::Instruction &at, Access &access, const Guards &guards, bool &exact);

    /* flags.cpp */
    void find_flags();
    bool is_only_way_out(llvm::BasicBlock *block, llvm::Loop &loop);
    void add_conditions(llvm::Loop &loop, llvm::SmallVectorImpl<llvm::Value *> &to);
    bool add_ends(llvm::Loop &loop, llvm::SmallVectorImpl<llvm::Value *> &to);
    bool waits(llvm::Loop &loop);
    bool is_one_load(llvm::PHINode &phi);
    bool is_unwritten(llvm::LoadInst &load);
    bool is_told(llvm::LoadInst &load);
    bool hears(llvm::Loop &loop);
    std::vector<Place> places_of(llvm::LoadInst &load);
    bool may_change(llvm::Instruction &at, llvm::Loop &loop);

    /* again.cpp */
    using Exchanges = llvm::SmallVector<llvm::Instruction *, 4>;
    bool is_fixed(llvm::Value *value, llvm::Loop &loop);
    Course course_of_step(const llvm::SCEV *step);
    Course course_of_recurrence(const llvm::SCEVAddRecExpr &recurrence, llvm::Loop &loop);
    Course course_of_product(const llvm::SCEVNAryExpr &product, llvm::Loop &loop);
    Course course_of(const llvm::SCEV *at, llvm::Loop &loop);
    bool is_counted(llvm::Loop &loop);
    bool looks_again(llvm::LoadInst &load, llvm::Loop &loop);
    Exchanges additions_like(llvm::AtomicRMWInst &one, llvm::Loop &loop);
    bool is_counted_by(llvm::Value *value, llvm::ArrayRef<llvm::Instruction *> additions, llvm::Loop &loop);
    bool implies_below(llvm::Value *condition, bool holds, llvm::ArrayRef<llvm::Instruction *> additions,
                       llvm::Loop &loop);
    bool counts_to_its_end(llvm::AtomicRMWInst &at, llvm::Loop &loop);

    /* exchanges.cpp */
    bool is_same_place(llvm::Value *a, llvm::Value *b);
    bool is_loaded_for(llvm::Value *value, llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop);
    bool is_found_by(llvm::Value *value, llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop);
    bool expects_what_is_there(llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop);
    bool may_disturb(llvm::Instruction &at, llvm::ArrayRef<llvm::Value *> roots);
    bool is_undisturbed(llvm::Loop &loop, llvm::ArrayRef<llvm::Instruction *> exchanges);
    using GoesOn = llvm::function_ref<bool(llvm::Value *, bool)>;
    bool ends_there(llvm::BasicBlock *block, llvm::Loop &loop, GoesOn goes_on);
    bool ends_unless(llvm::Loop &loop, GoesOn goes_on);
    bool ends_by_comparison(llvm::Loop &loop, llvm::AtomicCmpXchgInst &exchange);
    bool ends_by_two(llvm::Loop &loop, llvm::AtomicRMWInst &earlier, llvm::AtomicRMWInst &later);
    Exchanges exchanges_of(llvm::Loop &loop);
    void add_sources(llvm::Loop &loop, Exchanges &exchanges);
    bool decides_about(llvm::Instruction &at, llvm::Loop &loop);
    bool stay_inside(llvm::Loop &loop, llvm::ArrayRef<llvm::Instruction *> sources);
    void find_exchanges();

    /* together.cpp */
    void join_ways();
    bool join_way(llvm::ArrayRef<size_t> same);

    /* rolls.cpp */
    struct Alike {
        size_t first; /* of `list`, as the next ones are */
        std::vector<size_t> left;
        std::unordered_map<uint32_t, size_t> by_address;
    };
    uint32_t loop_of_length(size_t n, const Access &access);
    std::vector<size_t> longest_row(const Alike &alike, uint32_t counter, Forms &forms, uint32_t &address);
    bool roll_some(Alike &alike, Forms &forms);
    bool roll();
    void tidy();

    /* strides.cpp */
    bool is_entry(llvm::ICmpInst &comparison, const llvm::BasicBlock *before, llvm::CmpInst::Predicate asked,
                  uint32_t bound);
    void find_stride();

    /* output.cpp */
    void join();
    bool give_up_one();
    void drop_equal();
    void limit();
    struct Output;

    llvm::Function &function;
    const tsl_kernel_facts &facts;
    const llvm::DataLayout &layout;
    llvm::TargetLibraryInfoImpl library_info;
    llvm::TargetLibraryInfo library;
    llvm::AssumptionCache assumptions;
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::ScalarEvolution evolution;

    Nodes nodes;
    llvm::Loop *scope = nullptr;
    unsigned depth = 0;
    llvm::DenseMap<std::pair<llvm::Value *, llvm::Loop *>, uint32_t> values;
    llvm::DenseMap<std::pair<std::pair<llvm::Value *, llvm::Loop *>, unsigned>, uint32_t> elements; /* of vectors */
    llvm::DenseMap<std::pair<const llvm::SCEV *, llvm::Loop *>, uint32_t> expressions;
    llvm::DenseMap<llvm::BasicBlock *, Guards> guards; /* of blocks, once asked for */
    llvm::DenseMap<llvm::Loop *, LoopFacts> loop_facts;
    std::vector<LoopFacts> more_loops; /* of the footprint: by index */
    llvm::DenseMap<llvm::Value *, bool> untouched;
    std::vector<std::pair<llvm::Instruction *, llvm::Instruction *>> lifted; /* with what they stood before */
    std::vector<uint32_t> rolled;                                            /* loops that were made of accesses */
    std::vector<Access> list;
    unsigned flags = 0;
    uint32_t stride = no_node; /* as the footprint's, in the making; the next one, too */
    uint64_t stride_elements = 0;
    llvm::SmallPtrSet<llvm::Value *, 8> written;     /* roots that are stored to */
    llvm::SmallPtrSet<llvm::Loop *, 4> exchanging;   /* loops that end by their own atomic exchange */
    llvm::SmallPtrSet<llvm::Instruction *, 8> quiet; /* theirs, whose values nothing but that loop uses */
};

/* The source's line, 0 where it isn't known. */
uint32_t line_of(const llvm::Instruction &at);

/* The same, behind a sentence. */
std::string with_line(const char *why, const llvm::Instruction &at);

/* Of an integer of one of the format's widths, else 0. */
unsigned bits_of(llvm::Type *type);

/* One of LLVM's functions that of_intrinsic follows. */
bool is_extreme(const llvm::CallInst &at);

/* Does the pointer lead to what a launch tells its work-groups? */
bool is_of_launch(const llvm::Value *pointer);

} // namespace kc

#endif
