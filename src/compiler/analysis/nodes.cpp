#include "compiler/analysis/nodes.hpp"

#include <cstring>

namespace kc
{

unsigned legal_bits(unsigned bits)
{
    return bits <= 1 ? 1 : bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : bits <= 64 ? 64 : 0;
}

int64_t wrapped(uint64_t value, unsigned bits)
{
    unsigned shift = 64 - bits;

    return (int64_t)(value << shift) >> shift;
}

namespace
{

uint64_t unsigned_of(int64_t value, unsigned bits)
{
    return bits == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << bits) - 1);
}

bool is_comparison(unsigned op)
{
    return op >= TSL_NODE_EQ && op <= TSL_NODE_SLE;
}

bool commutes(unsigned op)
{
    return op == TSL_NODE_ADD || op == TSL_NODE_MUL || (op >= TSL_NODE_AND && op <= TSL_NODE_SMAX) ||
           op == TSL_NODE_EQ || op == TSL_NODE_NE;
}

unsigned n_operands(unsigned op)
{
    return op < TSL_NODE_ADD ? 0 : op < TSL_NODE_SELECT ? 2 : op == TSL_NODE_SELECT ? 3 : op <= TSL_NODE_TRUNC ? 1 : 2;
}

bool compare(unsigned op, int64_t a, int64_t b, unsigned bits)
{
    uint64_t ua = unsigned_of(a, bits), ub = unsigned_of(b, bits);

    switch (op) {
    case TSL_NODE_EQ:
        return a == b;
    case TSL_NODE_NE:
        return a != b;
    case TSL_NODE_ULT:
        return ua < ub;
    case TSL_NODE_ULE:
        return ua <= ub;
    case TSL_NODE_SLT:
        return a < b;
    default:
        return a <= b;
    }
}

/* False: it has no value of its own. */
bool divide(unsigned op, int64_t a, int64_t b, unsigned bits, int64_t &value)
{
    uint64_t ua = unsigned_of(a, bits), ub = unsigned_of(b, bits);

    if (b == 0 || (b == -1 && a == INT64_MIN))
        return false;
    value = op == TSL_NODE_UDIV   ? (int64_t)(ua / ub)
            : op == TSL_NODE_UREM ? (int64_t)(ua % ub)
            : op == TSL_NODE_SDIV ? a / b
                                  : a % b;
    return true;
}

bool shift(unsigned op, int64_t a, int64_t b, unsigned bits, int64_t &value)
{
    if (unsigned_of(b, bits) >= bits)
        return false;
    value = op == TSL_NODE_SHL    ? (int64_t)((uint64_t)a << b)
            : op == TSL_NODE_LSHR ? (int64_t)(unsigned_of(a, bits) >> b)
                                  : a >> b;
    return true;
}

int64_t arithmetic(unsigned op, int64_t a, int64_t b, unsigned bits)
{
    uint64_t ua = unsigned_of(a, bits), ub = unsigned_of(b, bits);

    switch (op) {
    case TSL_NODE_ADD:
        return (int64_t)(ua + ub);
    case TSL_NODE_SUB:
        return (int64_t)(ua - ub);
    case TSL_NODE_MUL:
        return (int64_t)(ua * ub);
    case TSL_NODE_AND:
        return a & b;
    case TSL_NODE_OR:
        return a | b;
    case TSL_NODE_XOR:
        return a ^ b;
    case TSL_NODE_UMIN:
        return ua < ub ? a : b;
    case TSL_NODE_UMAX:
        return ua > ub ? a : b;
    case TSL_NODE_SMIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

} // namespace

/* ---- The table --------------------------------------------------------------------------------------------------- */

uint32_t Nodes::add(const tsl_node &node)
{
    std::string key(reinterpret_cast<const char *>(&node.value), sizeof(node.value));
    const uint32_t rest[] = {node.op, node.bits, node.a, node.b, node.c};

    key.append(reinterpret_cast<const char *>(rest), sizeof(rest));
    auto place = known.emplace(std::move(key), (uint32_t)all.size());
    if (place.second) {
        about.push_back(look(node, -1));
        all.push_back(node);
    }
    return place.first->second;
}

/* Remainders and masks bound what isn't known; so does a narrow type. */
Nodes::About Nodes::look(const tsl_node &node, int why) const
{
    const uint32_t operands[] = {node.a, node.b, node.c};
    About result = {0, node.op >= TSL_NODE_GLOBAL_ID && node.op <= TSL_NODE_GROUP_ID, false, false, why};

    if (node.op == TSL_NODE_GROUP_SIZE)
        result.ids = true; /* the last group's may be smaller */
    if (node.op == TSL_NODE_COUNTER)
        result.counters = UINT64_C(1) << node.a;
    if (node.op == TSL_NODE_UNKNOWN) {
        result.unknown = true;
        result.loose = node.bits > 16;
    }
    for (unsigned i = 0; i < n_operands(node.op); i++) {
        const About &operand = about[operands[i]];

        result.counters |= operand.counters;
        result.ids |= operand.ids;
        result.unknown |= operand.unknown;
        result.loose |= operand.loose;
        if (result.why < 0)
            result.why = operand.why;
    }
    if ((node.op == TSL_NODE_UREM || node.op == TSL_NODE_SREM || node.op == TSL_NODE_UMIN) && !about[node.b].unknown)
        result.loose = false;
    if (node.op == TSL_NODE_AND && node.bits > 1 &&
        ((is_constant(node.a) && all[node.a].value >= 0) || (is_constant(node.b) && all[node.b].value >= 0)))
        result.loose = false;
    if (node.bits <= 16)
        result.loose = false;
    return result;
}

const std::string &Nodes::why(uint32_t node) const
{
    static const std::string none;

    return about[node].why < 0 ? none : reasons[(size_t)about[node].why];
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

uint32_t Nodes::constant(unsigned bits, int64_t value)
{
    return add({TSL_NODE_CONSTANT, (uint8_t)bits, 0, 0, 0, bits == 1 ? -(value & 1) : wrapped((uint64_t)value, bits)});
}

uint32_t Nodes::leaf(tsl_node_op op, unsigned bits, uint32_t a, uint32_t b)
{
    return add({(uint8_t)op, (uint8_t)bits, a, b, 0, 0});
}

uint32_t Nodes::unknown(unsigned bits, const std::string &why)
{
    const tsl_node node = {TSL_NODE_UNKNOWN, (uint8_t)bits, 0, 0, 0, 0};
    size_t i = 0;

    while (i < reasons.size() && reasons[i] != why)
        i++;
    if (i == reasons.size())
        reasons.push_back(why);
    about.push_back(look(node, (int)i));
    all.push_back(node);
    return (uint32_t)all.size() - 1;
}

bool Nodes::fold(const tsl_node &node, int64_t &value) const
{
    const tsl_node &a = all[node.a], &b = all[node.b];

    if (a.op != TSL_NODE_CONSTANT || b.op != TSL_NODE_CONSTANT)
        return false;
    if (is_comparison(node.op))
        value = compare(node.op, a.value, b.value, a.bits);
    else if (node.op >= TSL_NODE_UDIV && node.op <= TSL_NODE_SREM)
        return divide(node.op, a.value, b.value, a.bits, value);
    else if (node.op >= TSL_NODE_SHL && node.op <= TSL_NODE_ASHR)
        return shift(node.op, a.value, b.value, a.bits, value);
    else
        value = arithmetic(node.op, a.value, b.value, a.bits);
    return true;
}

uint32_t Nodes::simpler_logic(const tsl_node &node)
{
    bool is_and = node.op == TSL_NODE_AND;

    if (node.a == node.b)
        return node.op == TSL_NODE_XOR ? constant(1, 0) : node.a;
    if (node.op == TSL_NODE_XOR)
        return is_false(node.b) ? node.a : no_node;
    if (is_true(node.a) || is_true(node.b))
        return is_and ? (is_true(node.a) ? node.b : node.a) : constant(1, 1);
    if (is_false(node.a) || is_false(node.b))
        return is_and ? constant(1, 0) : (is_false(node.a) ? node.b : node.a);
    return no_node;
}

/* What is 0 or 1 on one side. A constant stands on the right where the order doesn't matter. */
uint32_t Nodes::simpler(const tsl_node &node)
{
    const tsl_node &b = all[node.b];

    if (node.bits == 1 && node.op >= TSL_NODE_AND && node.op <= TSL_NODE_XOR)
        return simpler_logic(node);
    if (b.op != TSL_NODE_CONSTANT || is_comparison(node.op))
        return no_node;
    switch (node.op) {
    case TSL_NODE_ADD:
        if (b.value && all[node.a].op == TSL_NODE_ADD && is_constant(all[node.a].b))
            return plus(all[node.a].a, (int64_t)((uint64_t)b.value + (uint64_t)all[all[node.a].b].value));
        return b.value ? no_node : node.a;
    case TSL_NODE_SUB:
        return b.value == INT64_MIN ? no_node : plus(node.a, -b.value);
    case TSL_NODE_SHL:
    case TSL_NODE_LSHR:
    case TSL_NODE_ASHR:
    case TSL_NODE_OR:
    case TSL_NODE_XOR:
        return b.value ? no_node : node.a;
    case TSL_NODE_MUL:
        return b.value == 0 ? node.b : b.value == 1 && node.bits > 1 ? node.a : no_node;
    case TSL_NODE_UDIV:
    case TSL_NODE_SDIV:
        return b.value == 1 && node.bits > 1 ? node.a : no_node;
    default:
        return no_node;
    }
}

uint32_t Nodes::binary(tsl_node_op op, uint32_t a, uint32_t b)
{
    unsigned bits = is_comparison(op) ? 1 : all[a].bits;
    tsl_node node = {(uint8_t)op, (uint8_t)bits, a, b, 0, 0};
    int64_t value;
    uint32_t simple;

    if (commutes(op) && (is_constant(a) || (!is_constant(b) && a > b)))
        std::swap(node.a, node.b);
    if (fold(node, value))
        return constant(bits, value);
    simple = simpler(node);
    return simple == no_node ? add(node) : simple;
}

uint32_t Nodes::select(uint32_t condition, uint32_t a, uint32_t b)
{
    if (a == b || is_true(condition))
        return a;
    if (is_false(condition))
        return b;
    if (bits(a) == 1 && (is_false(b) || is_true(b)))
        return is_false(b) ? binary(TSL_NODE_AND, condition, a) : binary(TSL_NODE_OR, opposite(condition), a);
    if (bits(a) == 1 && (is_false(a) || is_true(a)))
        return is_true(a) ? binary(TSL_NODE_OR, condition, b) : binary(TSL_NODE_AND, opposite(condition), b);
    return add({TSL_NODE_SELECT, all[a].bits, condition, a, b, 0});
}

uint32_t Nodes::convert(tsl_node_op op, uint32_t a, unsigned bits)
{
    return add({(uint8_t)op, (uint8_t)bits, a, 0, 0, 0});
}

uint32_t Nodes::zext(uint32_t a, unsigned bits)
{
    if (all[a].bits == bits)
        return a;
    if (is_constant(a))
        return constant(bits, (int64_t)unsigned_of(all[a].value, all[a].bits));
    return all[a].op == TSL_NODE_ZEXT ? zext(all[a].a, bits) : convert(TSL_NODE_ZEXT, a, bits);
}

uint32_t Nodes::sext(uint32_t a, unsigned bits)
{
    if (all[a].bits == bits)
        return a;
    if (is_constant(a))
        return constant(bits, all[a].value);
    return all[a].op == TSL_NODE_ZEXT || all[a].op == TSL_NODE_SEXT
               ? (all[a].op == TSL_NODE_ZEXT ? zext(all[a].a, bits) : sext(all[a].a, bits))
               : convert(TSL_NODE_SEXT, a, bits);
}

uint32_t Nodes::trunc(uint32_t a, unsigned bits)
{
    const tsl_node node = all[a];

    if (node.bits == bits)
        return a;
    if (is_constant(a))
        return constant(bits, node.value);
    if (node.op == TSL_NODE_TRUNC)
        return trunc(node.a, bits);
    if (node.op == TSL_NODE_ZEXT || node.op == TSL_NODE_SEXT) {
        unsigned from = all[node.a].bits;

        if (from >= bits)
            return trunc(node.a, bits);
        return node.op == TSL_NODE_ZEXT ? zext(node.a, bits) : sext(node.a, bits);
    }
    return convert(TSL_NODE_TRUNC, a, bits);
}

uint32_t Nodes::opposite(uint32_t a)
{
    static const tsl_node_op others[] = {TSL_NODE_NE,  TSL_NODE_EQ,  TSL_NODE_ULE,
                                         TSL_NODE_ULT, TSL_NODE_SLE, TSL_NODE_SLT};
    const tsl_node node = all[a];

    if (is_constant(a))
        return constant(1, !node.value);
    if (node.op == TSL_NODE_EQ || node.op == TSL_NODE_NE)
        return binary(others[node.op - TSL_NODE_EQ], node.a, node.b);
    if (is_comparison(node.op))
        return binary(others[node.op - TSL_NODE_EQ], node.b, node.a);
    if (node.op == TSL_NODE_AND || node.op == TSL_NODE_OR)
        return binary(node.op == TSL_NODE_AND ? TSL_NODE_OR : TSL_NODE_AND, opposite(node.a), opposite(node.b));
    if (node.op == TSL_NODE_XOR && is_true(node.b))
        return node.a;
    return binary(TSL_NODE_XOR, a, constant(1, 1));
}

uint32_t Nodes::times(uint32_t a, int64_t b)
{
    return binary(TSL_NODE_MUL, a, constant(bits(a), b));
}

uint32_t Nodes::plus(uint32_t a, int64_t b)
{
    return binary(TSL_NODE_ADD, a, constant(bits(a), b));
}

} // namespace kc
