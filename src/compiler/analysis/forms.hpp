/*
 * Expressions as sums: of products of what isn't a sum, each with a number in front, and a number. Exact, as sums and
 * products wrap. Equal sums become one node, and two can be subtracted.
 */
#ifndef KC_ANALYSIS_FORMS_HPP
#define KC_ANALYSIS_FORMS_HPP

#include "compiler/analysis/nodes.hpp"

#include <map>
#include <optional>

namespace kc
{

struct Form {
    unsigned bits;
    std::map<uint32_t, int64_t> terms; /* node: number in front */
    int64_t constant;
};

class Forms
{
  public:
    explicit Forms(Nodes &table) : nodes(table)
    {
    }

    /* The same value. */
    uint32_t canonical(uint32_t node);

    /* For two expressions that begin a row one that is the first where counter (64 bits) is 0, and the second where it
     * is 1; no_node: they differ in more than a sum. All canonical. */
    uint32_t row(uint32_t first, uint32_t second, uint32_t counter);

    /* The expression with a number in the place of a counter, canonical. */
    uint32_t at(uint32_t node, uint32_t counter, int64_t value);

    /* With another counter in its place. */
    uint32_t replaced(uint32_t node, uint32_t counter, uint32_t other);

  private:
    const Form &form_of(uint32_t node);
    Form product(const Form &a, const Form &b);
    uint32_t times(uint32_t a, uint32_t b);
    uint32_t inside(uint32_t node);
    uint32_t node_of(const Form &form);
    uint32_t substituted(uint32_t node, uint32_t counter, uint32_t by, llvm::DenseMap<uint32_t, uint32_t> &done);

    Nodes &nodes;
    std::unordered_map<uint32_t, Form> forms;
    unsigned depth = 0;
};

} // namespace kc

#endif
