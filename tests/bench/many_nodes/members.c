#include "members.h"

#include "base/clock.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/fake.h"
#include "jobs.h"
#include "members/members.h"

#include <stdio.h>
#include <stdlib.h>

struct many_counts many_counts;

struct note {
    tsl_notify_fn *fn;
    void *arg;
};

struct fence {
    struct tsl_fence base;
    cl_int status;
    uint64_t ran_ns, at_ns, number;
    bool has_opener; /* of a gate: another node's work, whose node opens it */
    TSL_SMALL_VECTOR(struct note, 2) notes;
};

/* Work on its way: a heap, what ends first before all else. */
static struct {
    size_t n, capacity;
    struct fence **list;
} on_way;
static bool dirty[TSL_MAX_MEMBERS]; /* what was said since the last frame is to leave with the next flush */
static bool is_any_dirty;
static unsigned owed[TSL_MAX_MEMBERS], n_owed; /* whose gates opened, and no other node does */
static uint64_t free_ns[TSL_MAX_MEMBERS];      /* when it has done all that it was given */
static struct tsl_driver driver;

/* What work-items and all else say to have taken: a step is worth cutting. */
#define ITEM_NS  32u
#define OTHER_NS 5000u

static void *allocate(size_t size)
{
    void *made = calloc(1, size);

    if (!made)
        abort();
    return made;
}

static void said(const struct tsl_member *member)
{
    (void)member;
    many_counts.requests++;
}

static void make_dirty(const struct tsl_member *member)
{
    dirty[member->index] = is_any_dirty = true;
}

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

static struct fence *make_fence(struct tsl_member *member)
{
    struct fence *fence = allocate(sizeof(*fence));

    fence->base.driver = &driver;
    fence->base.member = member;
    atomic_init(&fence->base.refs, 1);
    fence->status = CL_SUBMITTED;
    return fence;
}

/* Does one end before the other? Equal times: in the order of submission. */
static bool is_before(const struct fence *a, const struct fence *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void swap(size_t a, size_t b)
{
    struct fence *kept = on_way.list[a];

    on_way.list[a] = on_way.list[b];
    on_way.list[b] = kept;
}

static void insert(struct fence *fence)
{
    static uint64_t last_number;
    size_t i = on_way.n++;

    if (on_way.n > on_way.capacity) {
        on_way.capacity = 2 * on_way.n + 64;
        on_way.list = realloc(on_way.list, on_way.capacity * sizeof(struct fence *));
        if (!on_way.list)
            abort();
    }
    fence->number = ++last_number;
    on_way.list[i] = fence;
    for (; i && is_before(on_way.list[i], on_way.list[(i - 1) / 2]); i = (i - 1) / 2)
        swap(i, (i - 1) / 2);
}

static struct fence *take_first(void)
{
    struct fence *first = on_way.n ? on_way.list[0] : NULL;

    if (!first)
        return NULL;
    on_way.list[0] = on_way.list[--on_way.n];
    for (size_t i = 0, child; (child = 2 * i + 1) < on_way.n; i = child) {
        if (child + 1 < on_way.n && is_before(on_way.list[child + 1], on_way.list[child]))
            child++;
        if (!is_before(on_way.list[child], on_way.list[i]))
            break;
        swap(i, child);
    }
    return first;
}

/* ran_ns: what it takes; members do one thing after the other. */
static cl_int submit(struct tsl_lane *lane, uint64_t ran_ns, struct tsl_fence **wanted)
{
    uint64_t *free_at = &free_ns[lane->member->index], now = tsl_clock_ns();

    said(lane->member);
    make_dirty(lane->member);
    *free_at = (*free_at > now ? *free_at : now) + ran_ns;
    if (wanted) {
        struct fence *fence = make_fence(lane->member);

        many_counts.replies++;
        fence->ran_ns = ran_ns;
        fence->at_ns = *free_at;
        tsl_fence_ref(&fence->base);
        insert(fence);
        *wanted = &fence->base;
    }
    return CL_SUCCESS;
}

/* Gates that opened by one end: a frame for each node. */
static void send_owed(void)
{
    for (unsigned i = 0; i < n_owed; i++) {
        many_counts.frames++;
        for (unsigned k = 0; k < i; k++)
            if (owed[k] == owed[i]) {
                many_counts.frames--;
                break;
            }
    }
    n_owed = 0;
}

static void end(struct fence *fence, cl_int status)
{
    fence->status = status;
    for (unsigned i = 0; i < fence->notes.n; i++)
        TSL_SMALL_AT(&fence->notes, i)->fn(TSL_SMALL_AT(&fence->notes, i)->arg, status);
    TSL_SMALL_FINISH(&fence->notes);
}

static bool end_first(void)
{
    struct fence *fence = take_first();

    if (!fence)
        return false;
    if (fence->at_ns > tsl_clock_ns())
        tsl_fake_advance(fence->at_ns - tsl_clock_ns());
    end(fence, CL_COMPLETE);
    send_owed();
    tsl_fence_unref(&fence->base);
    return true;
}

static cl_int fence_status(struct tsl_fence *fence)
{
    return ((struct fence *)fence)->status;
}

static cl_int fence_wait(struct tsl_fence *fence)
{
    while (((struct fence *)fence)->status > CL_COMPLETE)
        if (!many_step() && !end_first())
            abort();
    return CL_COMPLETE;
}

static cl_int fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct fence *f = (struct fence *)fence;
    struct note note = {fn, arg};

    if (f->status <= CL_COMPLETE)
        fn(arg, f->status);
    else if (!TSL_SMALL_PUSH(&f->notes, note))
        abort();
    return CL_SUCCESS;
}

static cl_int fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    *times = (struct tsl_times){((struct fence *)fence)->at_ns - ((struct fence *)fence)->ran_ns,
                                ((struct fence *)fence)->at_ns};
    return CL_SUCCESS;
}

static void fence_free(struct tsl_fence *fence)
{
    said(fence->member);
    free(fence);
}

static bool can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->driver == &driver && fence->member == member;
}

static cl_int gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    said(member);
    *gate = &make_fence(member)->base;
    return CL_SUCCESS;
}

/* Both nodes are told, in the frames that leave next. */
static void gate_by(struct tsl_fence *gate, struct tsl_fence *opener)
{
    if (opener->driver != &driver || opener->member == gate->member || ((struct fence *)opener)->status <= CL_COMPLETE)
        return;
    ((struct fence *)gate)->has_opener = true;
    said(gate->member);
    said(opener->member);
    make_dirty(opener->member);
}

/* Where the other node opens it, too, the program's word waits for the next frame. */
static cl_int gate_open(struct tsl_fence *gate, cl_int status)
{
    said(gate->member);
    if (((struct fence *)gate)->has_opener) {
        many_counts.between++;
        make_dirty(gate->member);
    } else {
        owed[n_owed++ % TSL_MAX_MEMBERS] = gate->member->index;
    }
    end((struct fence *)gate, status);
    return CL_SUCCESS;
}

/* ---- Lanes and memory -------------------------------------------------------------------------------------------- */

static cl_int lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    (void)use;
    *lane = allocate(sizeof(**lane));
    (*lane)->member = member;
    return CL_SUCCESS;
}

static void lane_free(struct tsl_lane *lane)
{
    free(lane);
}

/* For all nodes, as a node's work may wait for another's. */
static cl_int flush(struct tsl_lane *lane)
{
    (void)lane;
    for (unsigned i = 0; is_any_dirty && i < TSL_MAX_MEMBERS; i++) {
        many_counts.frames += dirty[i];
        dirty[i] = false;
    }
    is_any_dirty = false;
    return CL_SUCCESS;
}

static cl_int finish(struct tsl_lane *lane)
{
    flush(lane);
    many_end_work();
    return CL_SUCCESS;
}

static cl_int mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    (void)flags;
    (void)host;
    *mem = allocate(sizeof(**mem));
    **mem = (struct tsl_mem){member, size};
    return CL_SUCCESS;
}

static cl_int mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    (void)offset;
    return mem_alloc(mem->member, size, 0, NULL, sub);
}

static void mem_free(struct tsl_mem *mem)
{
    free(mem);
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

static bool can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    (void)from;
    (void)to;
    return true;
}

static cl_int copy(struct tsl_lane *lane, const struct tsl_copy *what, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    (void)waits;
    if (!what->src.mem)
        many_counts.writes++;
    else if (!what->dst.mem)
        many_counts.reads++;
    else
        many_counts.pulls++;
    return submit(lane, OTHER_NS, fence);
}

static cl_int fill(struct tsl_lane *lane, const struct tsl_fill *what, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    (void)what;
    (void)waits;
    return submit(lane, OTHER_NS, fence);
}

static cl_int launch(struct tsl_lane *lane, const struct tsl_launch *what, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    (void)waits;
    many_counts.launches++;
    return submit(lane, ITEM_NS * tsl_window_items(what->window), fence);
}

static cl_int mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    (void)waits;
    return submit(lane, OTHER_NS, fence);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void set_operations(void)
{
    driver = tsl_fake_driver;
    driver.flushes_all = true;
    driver.prepare = NULL;
    driver.host_register = NULL;
    driver.combine = NULL;
    driver.can_combine = NULL;
    driver.lane_create = lane_create;
    driver.lane_free = lane_free;
    driver.flush = flush;
    driver.finish = finish;
    driver.mem_alloc = mem_alloc;
    driver.mem_sub = mem_sub;
    driver.mem_free = mem_free;
    driver.can_copy_peer = can_copy_peer;
    driver.copy = copy;
    driver.fill = fill;
    driver.launch = launch;
    driver.mark = mark;
    driver.fence_status = fence_status;
    driver.fence_wait = fence_wait;
    driver.fence_notify = fence_notify;
    driver.fence_times = fence_times;
    driver.fence_free = fence_free;
    driver.can_wait = can_wait;
    driver.gate_create = gate_create;
    driver.gate_open = gate_open;
    driver.gate_by = gate_by;
}

bool many_step(void)
{
    return jobs_run(0);
}

void many_end_work(void)
{
    do
        while (many_step())
            continue;
    while (end_first());
}

static void block(void)
{
    if (many_step())
        return;
    if (end_first())
        return;
    fprintf(stderr, "many_nodes: the core waits for nothing\n");
    abort();
}

static const struct tsl_simulation simulation = {.posted = jobs_posted, .block = block};

void many_begin(unsigned n)
{
    static struct tsl_fake_setup setup;
    struct tsl_member *const *members;
    unsigned n_open;

    setup = (struct tsl_fake_setup){.n_members = n, .seed = 1};
    for (unsigned i = 0; i < n; i++)
        setup.members[i] = (struct tsl_fake_member){.name = "a node's",
                                                    .gates = true,
                                                    .peer = true,
                                                    .no_combine = true,
                                                    .memory_size = (uint64_t)1 << 40,
                                                    .item_ns = 10,
                                                    .bandwidth = 10000000000};
    jobs_forget();
    tsl_simulation = &simulation;
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
    set_operations();
    members = tsl_members_open(&n_open);
    for (unsigned i = 0; i < n_open; i++)
        members[i]->driver = &driver;
}
