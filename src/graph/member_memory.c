/* Members' memory: the books, and who could hold what. */
#include "graph/member_memory.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sets.h"
#include "graph/data.h"
#include "graph/space.h"
#include "graph/state.h"
#include "program/program.h"
#include "tile/tile.h"

/* ---- Books ------------------------------------------------------------------------------------------------------- */

/* After so long a limit that was found is doubted: the memory may be free again. */
#define DOUBT_NS UINT64_C(5000000000)

static void add(atomic_uint_fast64_t *number, uint64_t size)
{
    atomic_fetch_add_explicit(number, size, memory_order_relaxed);
}

static void take(atomic_uint_fast64_t *number, uint64_t size)
{
    atomic_fetch_sub_explicit(number, size, memory_order_relaxed);
}

static uint64_t nominal_size(const struct tsl_member *member)
{
    return member->caps.memory_size ? member->caps.memory_size : UINT64_MAX;
}

/* The bytes with which a plan may reckon. */
static uint64_t room_size(struct tsl_member *member)
{
    uint64_t found = atomic_load_explicit(&member->books.found_size, memory_order_relaxed);
    if (!found)
        return nominal_size(member);
    if (tsl_clock_ns() - atomic_load_explicit(&member->books.found_ns, memory_order_relaxed) < DOUBT_NS)
        return found;
    atomic_store_explicit(&member->books.found_size, 0, memory_order_relaxed);
    return nominal_size(member);
}

void tsl_member_memory_learn(const struct tsl_port *port, size_t fresh_size)
{
    struct tsl_member_books *books = &port->member->books;
    uint64_t held = atomic_load_explicit(&books->held_size, memory_order_relaxed);
    if (held <= fresh_size)
        return;
    atomic_store_explicit(&books->found_ns, tsl_clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&books->found_size, held - fresh_size, memory_order_relaxed);
    tsl_log(TSL_LOG_IN_TILE, TSL_LOG_INFO, "%s has no memory for more than %llu bytes of buffers", port->name,
            (unsigned long long)(held - fresh_size));
}

/* Is it shared virtual memory, which takes no memory of the member's own? */
static bool is_shared(const struct tsl_residence *residence)
{
    const struct tsl_svm *svm = residence->data->svm;
    return svm && tsl_members_has(svm->members, (unsigned)(residence - residence->data->residences));
}

cl_int tsl_member_memory_alloc(struct tsl_port *port, struct tsl_data *data)
{
    struct tsl_member *member = port->member;
    struct tsl_residence *residence = &data->residences[port->index];
    bool own = tsl_space_of(port, data) != TSL_SPACE_HOST;
    void *host = own ? NULL : data->host;
    cl_int error = data->image ? member->driver->image_alloc(member, data->image, data->flags, host, &residence->mem)
                               : member->driver->mem_alloc(member, data->size, data->flags, host, &residence->mem);
    if (error) /* In words that an enqueue may return. */
        return error == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
    residence->held_size = is_shared(residence) ? 0 : data->size;
    add(&member->books.held_size, residence->held_size);
    if (own)
        port->fresh_size += data->size;
    return CL_SUCCESS;
}

void tsl_member_memory_free(const struct tsl_residence *residence, struct tsl_mem *mem)
{
    struct tsl_member *member = mem->member;
    uint64_t size = residence->held_size;
    member->driver->mem_free(mem);
    take(&member->books.held_size, size);
}

bool tsl_member_memory_has(struct tsl_member *member, uint64_t size)
{
    return room_size(member) >= size;
}

bool tsl_member_memory_full(const struct tsl_port *port, uint64_t size)
{
    struct tsl_member *member = port->member;
    uint64_t planned = atomic_load_explicit(&member->books.planned_size, memory_order_relaxed);
    if (planned + size <= nominal_size(member) &&
        !atomic_load_explicit(&member->books.found_size, memory_order_relaxed))
        return false;
    return planned + size > room_size(member);
}

void tsl_member_memory_hold(struct tsl_member *member, uint64_t size)
{
    add(&member->books.held_size, size);
}

void tsl_member_memory_let_go(struct tsl_member *member, uint64_t size)
{
    take(&member->books.held_size, size);
}

void tsl_member_memory_plan(struct tsl_member *member, uint64_t size)
{
    add(&member->books.planned_size, size);
}

void tsl_member_memory_unplan(struct tsl_member *member, uint64_t size)
{
    take(&member->books.planned_size, size);
}

/* Changes what is planned by the object's bytes on this port, or of a spread one by its parts. */
static void plan(const struct tsl_port *port, const struct tsl_residence *residence,
                 void (*change)(atomic_uint_fast64_t *number, uint64_t size))
{
    const struct tsl_data *data = residence->data;
    if (!tsl_residence_is_spread(residence)) {
        change(&port->member->books.planned_size, data->size);
        return;
    }
    for (unsigned i = 0; i < port->graph->n_ports; i++)
        if (tsl_members_has(data->spread->members, i))
            change(&port->graph->ports[i].member->books.planned_size, data->spread->sizes[i]);
}

void tsl_member_memory_reserve(const struct tsl_port *port, const struct tsl_residence *residence)
{
    plan(port, residence, add);
}

void tsl_member_memory_release(const struct tsl_port *port, const struct tsl_residence *residence)
{
    plan(port, residence, take);
}

/* ---- Who could hold it ------------------------------------------------------------------------------------------- */

/* own: of the total, what isn't the host's copy itself. largest: of what isn't spread: a part may be as large as the
 * memory. */
struct need {
    uint64_t total, own, largest;
};

static bool holds(const struct tsl_member *member, const struct need *need)
{
    if (member->caps.max_alloc_size && need->largest > member->caps.max_alloc_size)
        return false;
    return need->own <= nominal_size(member);
}

static const struct tsl_data *data_of_arg(const struct tsl_args *args, cl_uint i)
{
    return args->args[i].buffer ? tsl_data_of(args->args[i].buffer) : NULL;
}

static bool named_before(const struct tsl_args *args, cl_uint i)
{
    for (cl_uint j = 0; j < i; j++)
        if (data_of_arg(args, j) == data_of_arg(args, i))
            return true;
    return false;
}

/* What the arguments need on this member. exact: an object that is named twice counts once. */
static struct need need_of(const struct tsl_args *args, unsigned member, bool exact)
{
    struct need need = {0, 0, 0};
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_data *data = data_of_arg(args, i);
        if (!data || is_shared(&data->residences[member]) || (exact && named_before(args, i)))
            continue;
        size_t size = tsl_space_size_on(data, member);
        need.total += size;
        if (tsl_space_of(&data->context->graph->ports[member], data) != TSL_SPACE_HOST)
            need.own += size;
        if (!tsl_space_is_spread(data, member) && size > need.largest)
            need.largest = size;
    }
    return need;
}

bool tsl_member_memory_holds_parts(const struct tsl_graph *graph, const struct tsl_args *args)
{
    for (unsigned k = 0; k < graph->n_ports && graph->n_spread; k++) {
        uint64_t total = 0;
        for (cl_uint i = 0; i < args->n_all; i++) {
            const struct tsl_data *data = data_of_arg(args, i);
            if (data && tsl_space_is_spread(data, k) && !named_before(args, i))
                total += data->spread->sizes[k];
        }
        if (total > nominal_size(graph->ports[k].member))
            return false;
    }
    return true;
}

static tsl_members holders(const struct tsl_graph *graph, tsl_members members, const struct tsl_args *args, bool exact)
{
    tsl_members can = members;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct need need = need_of(args, i, exact);
        if (tsl_members_has(members, i) && !holds(graph->ports[i].member, &need))
            tsl_members_remove(&can, i);
    }
    return can;
}

/* Does each of the members hold the arguments as if each were an object, and in the member's own memory? Mostly they
 * do. */
bool tsl_member_memory_holds_whole(const struct tsl_graph *graph, tsl_members members, const struct tsl_args *args)
{
    struct need most = {0, 0, 0};
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_data *data = data_of_arg(args, i);
        most.own += data ? data->size : 0;
        most.largest = data && data->size > most.largest ? data->size : most.largest;
    }
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && !holds(graph->ports[i].member, &most))
            return false;
    return true;
}

tsl_members tsl_member_memory_holders(struct tsl_graph *graph, tsl_members members, const struct tsl_args *args)
{
    if (!graph->n_spread && tsl_member_memory_holds_whole(graph, members, args))
        return members;
    if (!tsl_member_memory_holds_parts(graph, args))
        return TSL_MEMBERS_NONE;
    tsl_members can = holders(graph, members, args, false);
    if (tsl_members_are(can, members))
        return can;
    return holders(graph, members, args, true);
}

void tsl_member_memory_need(const struct tsl_args *args, tsl_members members, uint64_t *total, uint64_t *largest)
{
    struct need need = need_of(args, tsl_members_first(members), true);
    *total = need.total;
    *largest = need.largest;
}

bool tsl_member_memory_holds_two(const struct tsl_port *port, const struct tsl_data *a, const struct tsl_data *b)
{
    size_t size_a = tsl_space_size_on(a, port->index), size_b = tsl_space_size_on(b, port->index);
    struct need need = {.total = size_a};
    need.largest = tsl_space_is_spread(a, port->index) ? 0 : size_a;
    if (!tsl_space_is_spread(b, port->index) && size_b > need.largest)
        need.largest = size_b;
    bool on_host = tsl_space_of(port, a) == TSL_SPACE_HOST;
    if (a != b)
        need.total += size_b;
    if (!tsl_members_has(tsl_members_common(a->members, b->members), port->index) ||
        on_host != (tsl_space_of(port, b) == TSL_SPACE_HOST))
        return false;
    need.own = on_host ? 0 : need.total;
    return holds(port->member, &need);
}
