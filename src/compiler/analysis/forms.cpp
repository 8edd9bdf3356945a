#include "compiler/analysis/forms.hpp"

#include <algorithm>

namespace kc
{

namespace
{

constexpr size_t most_terms = 24;
constexpr unsigned deepest_form = 60;

void add_term(Form &form, uint32_t term, int64_t factor)
{
    int64_t &sum = form.terms[term];

    sum = wrapped((uint64_t)sum + (uint64_t)factor, form.bits);
    if (!sum)
        form.terms.erase(term);
}

void add_form(Form &to, const Form &from, int64_t factor)
{
    for (const auto &term : from.terms)
        add_term(to, term.first, wrapped((uint64_t)term.second * (uint64_t)factor, to.bits));
    to.constant = wrapped((uint64_t)to.constant + (uint64_t)from.constant * (uint64_t)factor, to.bits);
}

} // namespace

/* Products stand in one order. */
uint32_t Forms::times(uint32_t a, uint32_t b)
{
    llvm::SmallVector<uint32_t, 8> factors;
    llvm::SmallVector<uint32_t, 8> todo = {a, b};
    uint32_t node;

    while (!todo.empty()) {
        node = todo.pop_back_val();
        if (nodes[node].op == TSL_NODE_MUL) {
            todo.push_back(nodes[node].a);
            todo.push_back(nodes[node].b);
        } else
            factors.push_back(node);
    }
    std::sort(factors.begin(), factors.end());
    node = factors[0];
    for (size_t i = 1; i < factors.size(); i++)
        node = nodes.binary(TSL_NODE_MUL, node, factors[i]);
    return node;
}

Form Forms::product(const Form &a, const Form &b)
{
    Form result = {a.bits, {}, wrapped((uint64_t)a.constant * (uint64_t)b.constant, a.bits)};

    for (const auto &x : a.terms) {
        add_term(result, x.first, wrapped((uint64_t)x.second * (uint64_t)b.constant, a.bits));
        for (const auto &y : b.terms)
            add_term(result, times(x.first, y.first), wrapped((uint64_t)x.second * (uint64_t)y.second, a.bits));
    }
    for (const auto &y : b.terms)
        add_term(result, y.first, wrapped((uint64_t)y.second * (uint64_t)a.constant, a.bits));
    return result;
}

/* What is no sum, made of what is canonical. */
uint32_t Forms::inside(uint32_t node)
{
    const tsl_node n = nodes[node];

    switch (n.op) {
    case TSL_NODE_ZEXT:
        return nodes.zext(canonical(n.a), n.bits);
    case TSL_NODE_SEXT:
        return nodes.sext(canonical(n.a), n.bits);
    case TSL_NODE_TRUNC:
        return nodes.trunc(canonical(n.a), n.bits);
    default:
        return node;
    }
}

const Form &Forms::form_of(uint32_t node)
{
    auto known = forms.find(node);
    const tsl_node n = nodes[node];
    Form form = {n.bits, {}, 0};

    if (known != forms.end())
        return known->second;
    depth++;
    if (n.op == TSL_NODE_CONSTANT)
        form.constant = n.value;
    else if ((n.op == TSL_NODE_ADD || n.op == TSL_NODE_SUB) && n.bits > 1 && depth < deepest_form) {
        form = form_of(n.a);
        add_form(form, form_of(n.b), n.op == TSL_NODE_ADD ? 1 : -1);
    } else if (n.op == TSL_NODE_MUL && n.bits > 1 && depth < deepest_form &&
               (form_of(n.a).terms.size() + 1) * (form_of(n.b).terms.size() + 1) <= most_terms)
        form = product(form_of(n.a), form_of(n.b));
    else {
        uint32_t term = depth < deepest_form ? inside(node) : node;

        /* What was cut or extended may have become simpler. */
        if (term != node && nodes[term].op != n.op)
            form = form_of(term);
        else
            form.terms[term] = 1;
    }
    depth--;
    return forms[node] = form;
}

uint32_t Forms::node_of(const Form &form)
{
    uint32_t sum = no_node;

    for (const auto &term : form.terms) {
        uint32_t one = nodes.times(term.first, term.second);

        sum = sum == no_node ? one : nodes.binary(TSL_NODE_ADD, sum, one);
    }
    return sum == no_node ? nodes.constant(form.bits, form.constant) : nodes.plus(sum, form.constant);
}

uint32_t Forms::canonical(uint32_t node)
{
    return node_of(form_of(node));
}

/* They differ by a fixed sum, or in one conversion alone, of numbers that do. */
uint32_t Forms::row(uint32_t first, uint32_t second, uint32_t counter)
{
    Form step, start;
    uint32_t n, mine, other, within;

    if (first == second)
        return first;
    start = form_of(first);
    step = form_of(second);
    add_form(step, start, -1);
    n = nodes.trunc(counter, nodes.bits(first));
    if (step.terms.size() != 2 || step.constant)
        return canonical(nodes.binary(TSL_NODE_ADD, first, nodes.binary(TSL_NODE_MUL, node_of(step), n)));
    mine = step.terms.begin()->first;
    other = step.terms.rbegin()->first;
    if (!start.terms.count(mine))
        std::swap(mine, other);
    if (!start.terms.count(mine) || start.terms.count(other) || step.terms[mine] != -step.terms[other] ||
        nodes[mine].op != nodes[other].op || (nodes[mine].op != TSL_NODE_SEXT && nodes[mine].op != TSL_NODE_ZEXT) ||
        nodes.bits(nodes[mine].a) != nodes.bits(nodes[other].a))
        return canonical(nodes.binary(TSL_NODE_ADD, first, nodes.binary(TSL_NODE_MUL, node_of(step), n)));
    within = row(nodes[mine].a, nodes[other].a, counter);
    n = nodes[mine].op == TSL_NODE_SEXT ? nodes.sext(within, nodes.bits(mine)) : nodes.zext(within, nodes.bits(mine));
    add_term(start, n, step.terms[other]);
    add_term(start, mine, step.terms[mine]);
    return canonical(node_of(start));
}

uint32_t Forms::substituted(uint32_t node, uint32_t counter, uint32_t by, llvm::DenseMap<uint32_t, uint32_t> &done)
{
    auto known = done.find(node);
    const tsl_node n = nodes[node];
    uint32_t result = node;

    if (node == counter)
        return by;
    if (!(nodes.counters(node) >> nodes[counter].a & 1))
        return node;
    if (known != done.end())
        return known->second;
    if (n.op >= TSL_NODE_ZEXT && n.op <= TSL_NODE_TRUNC) {
        uint32_t a = substituted(n.a, counter, by, done);

        result = n.op == TSL_NODE_ZEXT   ? nodes.zext(a, n.bits)
                 : n.op == TSL_NODE_SEXT ? nodes.sext(a, n.bits)
                                         : nodes.trunc(a, n.bits);
    } else if (n.op == TSL_NODE_ADD || n.op == TSL_NODE_MUL) {
        uint32_t a = substituted(n.a, counter, by, done);

        result = nodes.binary((tsl_node_op)n.op, a, substituted(n.b, counter, by, done));
    }
    done[node] = result;
    return result;
}

uint32_t Forms::at(uint32_t node, uint32_t counter, int64_t value)
{
    return replaced(node, counter, nodes.constant(64, value));
}

uint32_t Forms::replaced(uint32_t node, uint32_t counter, uint32_t other)
{
    llvm::DenseMap<uint32_t, uint32_t> done;

    return canonical(substituted(node, counter, other, done));
}

} // namespace kc
