/*
 * Expressions of a footprint in the making. Equal nodes are one node, constants are folded, and beside each node stands
 * what it depends on. Each unknown value is a node of its own here; in a footprint they are all
 * one.
 */
#ifndef KC_ANALYSIS_NODES_HPP
#define KC_ANALYSIS_NODES_HPP

extern "C" {
#include "footprint/format.h"
}

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace kc
{

/* In place of a node: there is none. */
constexpr uint32_t no_node = TSL_FOOTPRINT_NONE;

/* Loops that a kernel may have: more than it may tell of, as most aren't around any access. */
constexpr uint32_t most_loops = 64;

/* The narrowest of the format's widths that holds so many bits; 0: none does. */
unsigned legal_bits(unsigned bits);

/* A number's lowest bits, with the sign that their highest one says; bits is 1 to 64. */
int64_t wrapped(uint64_t value, unsigned bits);

class Nodes
{
  public:
    uint32_t constant(unsigned bits, int64_t value);
    uint32_t leaf(tsl_node_op op, unsigned bits, uint32_t a = 0, uint32_t b = 0);
    /* Any value, one of its own each time: what two such nodes have in common isn't known. why: a sentence for users.
     */
    uint32_t unknown(unsigned bits, const std::string &why);
    /* Arithmetic and comparisons: both operands have the same bits. */
    uint32_t binary(tsl_node_op op, uint32_t a, uint32_t b);
    uint32_t select(uint32_t condition, uint32_t a, uint32_t b);
    /* To so many bits; what has them already stays. */
    uint32_t zext(uint32_t a, unsigned bits);
    uint32_t sext(uint32_t a, unsigned bits);
    uint32_t trunc(uint32_t a, unsigned bits);
    /* The other truth. */
    uint32_t opposite(uint32_t a);
    /* a * b, where b is a constant. */
    uint32_t times(uint32_t a, int64_t b);
    uint32_t plus(uint32_t a, int64_t b);

    const tsl_node &operator[](uint32_t node) const
    {
        return all[node];
    }
    unsigned bits(uint32_t node) const
    {
        return all[node].bits;
    }
    bool is_constant(uint32_t node) const
    {
        return all[node].op == TSL_NODE_CONSTANT;
    }
    bool is_constant(uint32_t node, int64_t value) const
    {
        return is_constant(node) && all[node].value == value;
    }
    bool is_true(uint32_t node) const
    {
        return all[node].bits == 1 && is_constant(node) && all[node].value != 0;
    }
    bool is_false(uint32_t node) const
    {
        return all[node].bits == 1 && is_constant(node, 0);
    }

    /* What it depends on: loops, one bit each; ids of the work-item; unknown values; those without a bound. */
    uint64_t counters(uint32_t node) const
    {
        return about[node].counters;
    }
    bool has_ids(uint32_t node) const
    {
        return about[node].ids;
    }
    bool has_unknown(uint32_t node) const
    {
        return about[node].unknown;
    }
    bool is_loose(uint32_t node) const
    {
        return about[node].loose;
    }
    /* Of a loose one: why its value isn't known. */
    const std::string &why(uint32_t node) const;

    size_t size() const
    {
        return all.size();
    }

  private:
    struct About {
        uint64_t counters;
        bool ids, unknown, loose;
        int why; /* of `reasons`; -1: none */
    };

    uint32_t add(const tsl_node &node);
    About look(const tsl_node &node, int why) const;
    bool fold(const tsl_node &node, int64_t &value) const;
    uint32_t simpler(const tsl_node &node);
    uint32_t simpler_logic(const tsl_node &node);
    uint32_t convert(tsl_node_op op, uint32_t a, unsigned bits);

    std::vector<tsl_node> all;
    std::vector<About> about;
    std::vector<std::string> reasons;
    std::unordered_map<std::string, uint32_t> known; /* by the node's bytes */
};

} // namespace kc

#endif
