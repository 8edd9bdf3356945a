/*
 * From the list of accesses to a footprint: neighbours are joined, what nothing needs is left out, and where there is
 * too much of it, an argument is touched anywhere.
 */
#include "compiler/analysis/output.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace kc
{

namespace
{

const char too_many[] = "the kernel has too many accesses to tell them apart";
constexpr size_t most_to_roll = 4096;

/* An address as what it has in common with its neighbours, and how far from that it is. */
std::pair<uint32_t, int64_t> parts_of(const Nodes &nodes, uint32_t address)
{
    if (address == no_node)
        return {no_node, 0};
    if (nodes[address].op == TSL_NODE_CONSTANT)
        return {no_node - 1, nodes[address].value};
    if (nodes[address].op == TSL_NODE_ADD && nodes.is_constant(nodes[address].b))
        return {nodes[address].a, nodes[nodes[address].b].value};
    return {address, 0};
}

} // namespace

bool are_alike(const Access &a, const Access &b)
{
    return a.argument == b.argument && a.kind == b.kind && a.atomic == b.atomic && a.flags == b.flags &&
           a.loops == b.loops && a.guards == b.guards && a.value == b.value && a.address[1] == b.address[1] &&
           a.address[2] == b.address[2] && a.why == b.why;
}

/* Accesses that lie one behind the other become one: the elements of a structure or a vector, or a loop that was
 * unrolled. Atomic ones stay as they are, as do constants that are stored, but for equal ones. */
void Accesses::join()
{
    struct Order {
        size_t index;
        uint32_t base;
        int64_t offset;
    };
    std::vector<Access> joined;
    std::vector<Order> order;

    for (size_t i = 0; i < list.size(); i++) {
        auto parts = parts_of(nodes, list[i].flags & TSL_ACCESS_IMAGE ? no_node : list[i].address[0]);

        order.push_back({i, parts.first, parts.second});
    }
    std::stable_sort(order.begin(), order.end(), [](const Order &a, const Order &b) {
        return std::tie(a.base, a.offset) < std::tie(b.base, b.offset);
    });
    for (size_t i = 0; i < order.size(); i++) {
        Access &one = list[order[i].index];

        if (one.width == UINT32_MAX) /* it is in another */
            continue;
        for (size_t k = i + 1; k < order.size() && order[k].base == order[i].base; k++) {
            Access &other = list[order[k].index];
            auto distance = (uint64_t)order[k].offset - (uint64_t)order[i].offset;
            bool same = distance == 0 && one.width == other.width && one.address[0] == other.address[0];
            bool behind = one.kind != TSL_ACCESS_ATOMIC &&
                          !(one.flags & (TSL_ACCESS_CONSTANT | TSL_ACCESS_IMAGE | TSL_ACCESS_VOLATILE)) &&
                          one.address[0] != no_node && distance <= one.width && distance + other.width < INT32_MAX;

            if (distance > one.width)
                break;
            if (other.width == UINT32_MAX || (!same && !behind) || !are_alike(one, other))
                continue;
            one.width = std::max(one.width, (uint32_t)(distance + other.width));
            one.narrow = std::min(one.narrow, other.narrow);
            one.line = one.line && other.line ? std::min(one.line, other.line) : one.line + other.line;
            other.width = UINT32_MAX;
        }
    }
    for (Access &one : list)
        if (one.width != UINT32_MAX)
            joined.push_back(std::move(one));
    list = std::move(joined);
}

/* Of the argument and direction that has most accesses, of reads first, all become one, anywhere. False: there is
 * nothing left to give up. */
bool Accesses::give_up_one()
{
    using Group = std::tuple<bool, uint32_t, uint8_t, uint8_t, unsigned>;
    std::map<Group, unsigned> numbers;
    std::vector<Access> rest;
    auto group_of = [](const Access &one) {
        return Group(one.kind == TSL_ACCESS_READ, one.argument, one.kind, one.atomic,
                     one.flags & ~(TSL_ACCESS_SURE | TSL_ACCESS_CONSTANT));
    };
    const Access *sum = nullptr;

    for (const Access &one : list)
        numbers[group_of(one)] += one.address[0] != no_node;
    auto most = std::max_element(numbers.begin(), numbers.end(), [](const auto &a, const auto &b) {
        return std::make_pair(a.second > 0 && std::get<0>(a.first), a.second) <
               std::make_pair(b.second > 0 && std::get<0>(b.first), b.second);
    });
    if (most == numbers.end() || !most->second)
        return false;
    for (Access &one : list) {
        if (group_of(one) != most->first) {
            rest.push_back(std::move(one));
            continue;
        }
        one.flags &= ~(TSL_ACCESS_SURE | TSL_ACCESS_CONSTANT);
        one.value = 0;
        one.address[0] = one.address[1] = one.address[2] = no_node;
        one.loops.clear();
        one.guards.clear();
        one.why = too_many;
        if (sum)
            one.narrow = std::min(one.narrow, sum->narrow);
        one.width = one.flags & TSL_ACCESS_IMAGE ? 0 : std::max(one.narrow, 1u);
        sum = &one;
    }
    rest.push_back(*sum);
    list = std::move(rest);
    return true;
}

/* No more accesses than may be told of. */
void Accesses::limit()
{
    while (list.size() > TSL_FOOTPRINT_MAX_ACCESSES && give_up_one())
        continue;
}

/* A footprint as the format has it, with numbers of its own for nodes and loops. */
struct Accesses::Output {
    explicit Output(Accesses *source) : from(source)
    {
        look_at_loops();
    }

    Accesses *from;
    std::vector<tsl_node> nodes;
    std::vector<tsl_access> accesses;
    std::vector<tsl_loop> loops;
    std::vector<uint32_t> first;    /* of the loops that each is made of */
    std::vector<uint64_t> members;  /* all of them */
    std::vector<uint64_t> together; /* for each of them, those that are around the same access */
    llvm::DenseMap<uint32_t, uint32_t> node_numbers, loop_numbers;
    std::map<std::tuple<uint8_t, uint8_t, uint32_t, uint32_t, uint32_t, int64_t>, uint32_t> known_nodes;
    std::map<std::vector<uint64_t>, uint32_t> known_accesses;

    /* Loops that run equally often and are never around one access are one. */
    bool may_be(uint32_t loop, uint32_t number) const
    {
        const LoopFacts &mine = from->more_loops[loop], &other = from->more_loops[first[number]];

        return mine.count != no_node && mine.count == other.count && mine.exact == other.exact &&
               !from->nodes.counters(mine.count) && !(together[loop] & members[number]);
    }

    uint32_t number_of_loop(uint32_t loop)
    {
        auto place = loop_numbers.try_emplace(loop, 0);
        uint32_t number = 0;

        if (!place.second)
            return place.first->second;
        while (number < loops.size() && !may_be(loop, number))
            number++;
        if (number == loops.size()) {
            loops.push_back({no_node, false});
            first.push_back(loop);
            members.push_back(0);
        }
        members[number] |= UINT64_C(1) << loop;
        return place.first->second = number;
    }

    void look_at_loops()
    {
        together.assign(most_loops, 0);
        for (const Access &one : from->list) {
            uint64_t all = 0;

            for (uint32_t loop : one.loops)
                all |= UINT64_C(1) << loop;
            for (uint32_t loop : one.loops)
                together[loop] |= all & ~(UINT64_C(1) << loop);
        }
    }

    uint32_t number_of(uint32_t node)
    {
        auto known = node_numbers.find(node);
        tsl_node copy;

        if (node == no_node || known != node_numbers.end())
            return node == no_node ? node : known->second;
        copy = from->nodes[node];
        if (copy.op == TSL_NODE_COUNTER)
            copy.a = number_of_loop(copy.a);
        if (copy.op >= TSL_NODE_ADD)
            copy.a = number_of(copy.a);
        if (copy.op >= TSL_NODE_ADD && !(copy.op >= TSL_NODE_ZEXT && copy.op <= TSL_NODE_TRUNC))
            copy.b = number_of(copy.b);
        if (copy.op == TSL_NODE_SELECT)
            copy.c = number_of(copy.c);
        /* Unknown values, and loops, are here the same that were several. */
        auto place =
            known_nodes.try_emplace({copy.op, copy.bits, copy.a, copy.b, copy.c, copy.value}, (uint32_t)nodes.size());

        if (place.second)
            nodes.push_back(copy);
        return node_numbers[node] = place.first->second;
    }

    /* Is there such an access already? Then it is that one. */
    bool is_there(const tsl_access &access)
    {
        std::vector<uint64_t> key = {access.argument, access.kind,   access.atomic,  access.flags,   access.width,
                                     access.value,    access.narrow, access.n_loops, access.n_guards};

        key.insert(key.end(), access.address, access.address + 3);
        key.insert(key.end(), access.loops, access.loops + access.n_loops);
        key.insert(key.end(), access.guards, access.guards + access.n_guards);
        auto place = known_accesses.try_emplace(std::move(key), (uint32_t)accesses.size());

        if (place.second)
            return false;
        tsl_access &other = accesses[place.first->second];

        if (access.line && (access.line < other.line || !other.line))
            other.line = access.line;
        return true;
    }

    void add_loop(uint32_t loop)
    {
        uint32_t number = number_of_loop(loop), count = number_of(from->more_loops[loop].count);

        loops[number] = {count, count != no_node && from->more_loops[loop].exact};
    }

    /* False: it is there already. */
    bool add(const Access &one)
    {
        tsl_access access = {};

        access.argument = one.argument;
        access.kind = one.kind;
        access.atomic = one.atomic;
        access.flags = (uint8_t)one.flags;
        access.width = one.width;
        for (unsigned i = 0; i < 3; i++)
            access.address[i] = number_of(one.address[i]);
        for (uint32_t loop : one.loops) {
            add_loop(loop);
            access.loops[access.n_loops++] = number_of_loop(loop);
        }
        for (uint32_t guard : one.guards)
            access.guards[access.n_guards++] = number_of(guard);
        access.value = one.value;
        access.line = one.line;
        access.narrow = one.narrow;
        access.why = one.why.empty() ? nullptr : const_cast<char *>(one.why.c_str());
        if (is_there(access))
            return false;
        accesses.push_back(access);
        return true;
    }

    bool fits() const
    {
        return nodes.size() <= TSL_FOOTPRINT_MAX_NODES && loops.size() <= TSL_FOOTPRINT_MAX_LOOPS;
    }
};

/* Leaves out accesses that are the same once unknown values are. */
void Accesses::drop_equal()
{
    Output output(this);

    list.erase(std::remove_if(list.begin(), list.end(), [&](const Access &one) { return !output.add(one); }),
               list.end());
}

void Accesses::write(tsl_writer &writer)
{
    tsl_footprint footprint = {};

    tidy();
    join();
    for (unsigned i = 0; i < 3 && list.size() < most_to_roll && roll(); i++)
        continue;
    if (list.size() > TSL_FOOTPRINT_MAX_ACCESSES)
        drop_equal();
    limit();

    Output output(this);

    for (const Access &one : list)
        output.add(one);
    while (!output.fits() && give_up_one()) {
        output = Output(this);
        for (const Access &one : list)
            output.add(one);
    }
    size_t n_nodes = output.nodes.size();
    footprint.stride = stride == no_node ? 0 : output.number_of(stride) + 1;
    if (!output.fits()) {
        output.nodes.resize(n_nodes);
        footprint.stride = 0;
    }
    footprint.elements = footprint.stride ? stride_elements : 0;
    footprint.flags = flags;
    footprint.n_arguments = facts.n_args;
    footprint.n_nodes = (uint32_t)output.nodes.size();
    footprint.n_accesses = (uint32_t)output.accesses.size();
    footprint.n_loops = (uint32_t)output.loops.size();
    footprint.nodes = output.nodes.data();
    footprint.accesses = output.accesses.data();
    footprint.loops = output.loops.data();
    tsl_footprint_encode(&writer, &footprint);
}

} // namespace kc
