/*
 * Loops that were unrolled, rolled up again: accesses that are alike but for addresses that make a row become one, in a
 * loop of its own. Without it a small tile would be more boxes than anybody can tell apart.
 */
#include "compiler/analysis/accesses.hpp"
#include "compiler/analysis/forms.hpp"
#include "compiler/analysis/output.hpp"

#include <algorithm>

namespace kc
{

namespace
{

constexpr size_t shortest = 3;
constexpr size_t most_tries = 6; /* neighbours that may be the second of a row */

} // namespace

/* A loop of so many iterations that isn't around the access yet; no_node: there are too many loops. */
uint32_t Accesses::loop_of_length(size_t n, const Access &access)
{
    uint32_t count = nodes.constant(64, (int64_t)n), index = (uint32_t)more_loops.size();

    for (uint32_t loop : rolled)
        if (more_loops[loop].count == count && !llvm::is_contained(access.loops, loop))
            return loop;
    if (index == most_loops || access.loops.size() == TSL_FOOTPRINT_MAX_DEPTH)
        return no_node;
    more_loops.push_back({index, count, true, no_node});
    rolled.push_back(index);
    return index;
}

/* The longest row that begins with the first of the list: which of them are in it. */
std::vector<size_t> Accesses::longest_row(const Alike &alike, uint32_t counter, Forms &forms, uint32_t &address)
{
    std::vector<size_t> longest;

    for (size_t second = 1; second < alike.left.size() && second <= most_tries; second++) {
        std::vector<size_t> row = {alike.left[0], alike.left[second]};
        uint32_t one = forms.row(list[row[0]].address[0], list[row[1]].address[0], counter);

        if (nodes.has_unknown(one))
            continue;
        for (;;) {
            auto next = alike.by_address.find(forms.at(one, counter, (int64_t)row.size()));

            if (next == alike.by_address.end() || llvm::is_contained(row, next->second) ||
                list[next->second].width == UINT32_MAX)
                break;
            row.push_back(next->second);
        }
        if (row.size() > longest.size()) {
            longest = row;
            address = one;
        }
    }
    return longest;
}

/* False: there is nothing to roll up. */
bool Accesses::roll_some(Alike &alike, Forms &forms)
{
    constexpr uint32_t stand_in = most_loops - 1; /* until the row's length is known */
    uint32_t counter = nodes.leaf(TSL_NODE_COUNTER, 64, stand_in), address = no_node, loop;
    std::vector<size_t> row = longest_row(alike, counter, forms, address);
    Access &first = list[alike.left[0]];

    alike.left.erase(alike.left.begin());
    if (row.size() < shortest || more_loops.size() >= stand_in)
        return false;
    loop = loop_of_length(row.size(), first);
    if (loop == no_node || loop == stand_in)
        return false;
    alike.by_address.erase(first.address[0]); /* it is a row now: no other may take it for one access */
    first.address[0] = forms.replaced(address, counter, nodes.leaf(TSL_NODE_COUNTER, 64, loop));
    first.loops.push_back(loop);
    for (size_t i = 1; i < row.size(); i++) {
        Access &other = list[row[i]];

        first.narrow = std::min(first.narrow, other.narrow);
        if (other.line && (other.line < first.line || !first.line))
            first.line = other.line;
        other.width = UINT32_MAX; /* it is in the first */
        alike.left.erase(std::remove(alike.left.begin(), alike.left.end(), row[i]), alike.left.end());
    }
    return true;
}

bool Accesses::roll()
{
    Forms forms(nodes);
    std::vector<Alike> groups;
    bool some = false;

    for (size_t i = 0; i < list.size(); i++) {
        if (list[i].flags & TSL_ACCESS_IMAGE || list[i].address[0] == no_node || nodes.has_unknown(list[i].address[0]))
            continue;
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Alike &one) {
            return are_alike(list[one.first], list[i]) && list[one.first].width == list[i].width;
        });

        if (group == groups.end())
            group = groups.insert(groups.end(), Alike{i, {}, {}});
        if (group->by_address.try_emplace(list[i].address[0], i).second)
            group->left.push_back(i);
    }
    for (Alike &group : groups)
        while (group.left.size() >= shortest)
            some |= roll_some(group, forms);
    list.erase(std::remove_if(list.begin(), list.end(), [](const Access &one) { return one.width == UINT32_MAX; }),
               list.end());
    return some;
}

/* Addresses in one way of writing. */
void Accesses::tidy()
{
    Forms forms(nodes);

    for (Access &one : list)
        if (!(one.flags & TSL_ACCESS_IMAGE) && one.address[0] != no_node)
            one.address[0] = forms.canonical(one.address[0]);
}

} // namespace kc
