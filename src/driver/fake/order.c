/*
 * The race detector. Two operations that touch the same bytes, one of them writing, must be ordered by what the
 * contract promises: the order of a lane that has one, waits, and what the host knew. It knows that a piece of work is
 * complete from the moment when it was told so (fence_status, fence_wait, finish, a notification), and with it all that
 * came before that work; what it submits afterwards comes after, and so does what waits for a gate that it opens
 * afterwards.
 *
 * The host is taken as one: what one of its threads was told, all know. Each look at something complete has a number
 * (the epoch). An operation remembers the look at which it was observed, and how many looks the host had taken when the
 * last thing happened that it waits for: its submission, or the opening of a gate somewhere before it. So X comes
 * before Y if X was observed at a look that Y knows of, or if there is a path from Y back to X over lane order and
 * waits.
 *
 * It is checked when Y begins (its gates are open then) against all that began before. Pairs whose later part never
 * begins are not checked.
 */
#include "driver/fake/internal.h"

#include <stdlib.h>

/* ---- What comes before what ---- */

/* A mark of an unordered lane comes after everything back to the mark before it, which comes after the rest. */
static bool each_before_mark(const struct fake_op *op, bool (*visit)(void *, struct fake_op *), void *arg)
{
    for (struct fake_op *before = op->lane_prev; before; before = before->lane_prev) {
        if (!visit(arg, before))
            return false;
        if (before->kind == TSL_FAKE_DID_MARK)
            return true;
    }
    return true;
}

bool tsl_fake_each_before(const struct fake_op *op, bool (*visit)(void *, struct fake_op *), void *arg)
{
    if (op->lane->ordered && op->lane_prev && !visit(arg, op->lane_prev))
        return false;
    if (!op->lane->ordered && op->kind == TSL_FAKE_DID_MARK && !each_before_mark(op, visit, arg))
        return false;
    for (unsigned i = 0; i < op->n_waits; i++)
        if (op->waits[i]->op && !visit(arg, op->waits[i]->op))
            return false;
    return true;
}

static bool known(const struct fake_op *op, uint64_t epoch)
{
    return op->observed && op->observed <= epoch;
}

struct search {
    const struct fake_op *wanted;
    uint64_t epoch;
    struct fake_op *todo;
};

static bool search_visit(void *arg, struct fake_op *before)
{
    struct search *search = arg;

    if (before == search->wanted)
        return false;
    /* What came before a known operation is known, too, so it need not be searched; ids only fall. */
    if (before->id > search->wanted->id && before->stamp != tsl_fake.stamp && !known(before, search->epoch)) {
        before->stamp = tsl_fake.stamp;
        before->todo = search->todo;
        search->todo = before;
    }
    return true;
}

static bool ordered_locked(const struct fake_op *before, struct fake_op *after)
{
    struct search search = {.wanted = before, .epoch = after->epoch, .todo = after};

    if (known(before, after->epoch))
        return true;
    tsl_fake.stamp++;
    after->todo = NULL;
    while (search.todo) {
        struct fake_op *op = search.todo;

        search.todo = op->todo;
        if (!tsl_fake_each_before(op, search_visit, &search))
            return true;
    }
    return false;
}

/* ---- What the host knows ---- */

static bool observe_visit(void *arg, struct fake_op *before)
{
    struct fake_op **todo = arg;

    if (!before->observed) {
        before->observed = tsl_fake.epoch;
        before->todo = *todo;
        *todo = before;
    }
    return true;
}

void tsl_fake_observe_locked(struct fake_op *op)
{
    struct fake_op *todo = NULL;

    if (op->observed)
        return;
    tsl_fake.epoch++;
    observe_visit(&todo, op);
    while (todo) {
        op = todo;
        todo = op->todo;
        for (unsigned i = 0; i < op->n_uses; i++)
            op->uses[i]->n_unknown--;
        tsl_fake_each_before(op, observe_visit, &todo);
    }
}

/* The epoch of an operation that begins: all that it waits for has happened. */
static bool latest_epoch(void *arg, struct fake_op *before)
{
    uint64_t *epoch = arg;

    if (before->epoch > *epoch)
        *epoch = before->epoch;
    return true;
}

void tsl_fake_settle_locked(struct fake_op *op)
{
    tsl_fake_each_before(op, latest_epoch, &op->epoch);
    for (unsigned i = 0; i < op->n_waits; i++)
        if (!op->waits[i]->op && op->waits[i]->epoch > op->epoch)
            op->epoch = op->waits[i]->epoch;
}

/* ---- What is touched ---- */

void tsl_fake_accesses_add(struct fake_accesses *list, struct fake_access access)
{
    list->items = tsl_fake_grow(list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = access;
}

/* A box of bytes as ranges, rows that touch each other in one. */
static void gather_place(struct fake_op *op, const struct tsl_place *place, const size_t region[3], bool write)
{
    struct fake_mem *mem = (struct fake_mem *)place->mem;
    uintptr_t base = (uintptr_t)(mem ? (void *)mem->bytes : place->host) + place->offset;
    struct fake_access last = {
        .mem = mem && !mem->root->hosts ? mem->root : NULL, .lo = base, .hi = base, .write = write, .op = op};

    for (size_t slice = 0; slice < region[2]; slice++) {
        for (size_t row = 0; row < region[1]; row++) {
            uintptr_t lo = base + slice * place->slice_pitch + row * place->row_pitch;

            if (lo != last.hi) {
                tsl_fake_accesses_add(&tsl_fake.gathered, last);
                last.lo = lo;
            }
            last.hi = lo + region[0];
        }
    }
    tsl_fake_accesses_add(&tsl_fake.gathered, last);
}

static void gather_argument(struct fake_op *op, const struct fake_mem *mem, size_t offset, size_t size, bool write)
{
    const struct tsl_fake_traits *traits = &op->launch.kernel->body->traits;
    uintptr_t there = (uintptr_t)mem->root->bytes, lo = (uintptr_t)mem->bytes + offset;

    if (!mem->root->hosts && !mem->root->spread && size &&
        (lo < there || lo - there > mem->root->base.size || size > mem->root->base.size - (lo - there)))
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "%s touches %zu bytes at %zu of memory that isn't there",
                                tsl_fake_op_name(op), size, offset);
    tsl_fake_accesses_add(&tsl_fake.gathered, (struct fake_access){
                                                  .mem = mem->root->hosts ? NULL : mem->root,
                                                  .lo = (uintptr_t)mem->bytes + offset,
                                                  .hi = (uintptr_t)mem->bytes + offset + size,
                                                  .write = write,
                                                  .atomic = traits->atomics,
                                                  .races = traits->races ? op->launch.serial : 0,
                                                  .meets = mem->root->spread ? op->launch.alike : 0,
                                                  .op = op,
                                              });
}

void tsl_fake_touch(const struct tsl_fake_run *run, cl_uint arg, size_t offset, size_t size, bool write)
{
    struct fake_touched *touched = run->touched;
    struct fake_op *op = touched->op;
    const struct fake_mem *mem = op->launch.args[arg].mem;

    if (!mem || offset > mem->base.size || size > mem->base.size - offset) {
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "%s touches %zu bytes at %zu of argument %u",
                                tsl_fake_op_name(op), size, offset, arg);
        return;
    }
    tsl_fake_check_touch_locked(touched, arg, offset, size, write);
    gather_argument(op, mem, offset, size, write);
}

static void gather_launch(struct fake_op *op)
{
    const struct fake_launch *launch = &op->launch;
    const struct fake_body *body = launch->kernel->body;
    struct tsl_fake_arg args[launch->n_args + 1];
    struct fake_touched touched = {.op = op};
    struct tsl_fake_run run;

    if (body->traits.touch || body->traits.footprint) {
        tsl_fake_run_set_up(&run, args, op);
        run.touched = &touched;
        tsl_fake_check_begin_locked(&touched);
        if (body->traits.touch)
            body->traits.touch(&run);
        else
            tsl_fake_touch_all_locked(&run);
        tsl_fake_check_end_locked(&touched);
        return;
    }
    for (cl_uint i = 0; i < launch->n_args; i++) {
        const struct fake_mem *mem = launch->args[i].mem;

        if (mem && body->access[i])
            gather_argument(op, mem, 0, mem->base.size, body->access[i] & TSL_MAY_WRITE);
    }
}

static void gather_side(struct fake_op *op, const struct tsl_combine_side *side, bool write)
{
    const struct tsl_place place = {.mem = side->mem, .offset = side->offset};
    const size_t region[3] = {op->combine.size, 1, 1};

    gather_place(op, &place, region, write);
}

static void gather_combine(struct fake_op *op)
{
    gather_side(op, &op->combine.a, false);
    gather_side(op, &op->combine.b, false);
    if (op->combine.before.mem)
        gather_side(op, &op->combine.before, false);
    gather_side(op, &op->combine.dst, true);
}

void tsl_fake_gather_locked(struct fake_op *op)
{
    tsl_fake.gathered.n = 0;
    if (op->launch.kernel) {
        gather_launch(op);
    } else if (op->kind == TSL_FAKE_DID_FILL) {
        gather_place(op, &op->fill.dst, op->fill.region, true);
    } else if (op->kind == TSL_FAKE_DID_COMBINE) {
        gather_combine(op);
    } else if (op->kind != TSL_FAKE_DID_MARK) {
        gather_place(op, &op->copy.src, op->copy.region, false);
        gather_place(op, &op->copy.dst, op->copy.region, true);
    }
}

/* ---- The check ---- */

static bool conflict(const struct fake_access *a, const struct fake_access *b)
{
    bool may_meet = (a->atomic && b->atomic) || (a->races && a->races == b->races && a->write != b->write) ||
                    (a->meets && a->meets == b->meets);

    return a->lo < b->hi && b->lo < a->hi && (a->write || b->write) && !may_meet;
}

static void tell_race(const struct fake_access *old, const struct fake_access *new)
{
    uintptr_t lo = old->lo > new->lo ? old->lo : new->lo, hi = old->hi < new->hi ? old->hi : new->hi;
    uintptr_t base = new->mem ? (uintptr_t) new->mem->bytes : 0;

    tsl_fake_violate_locked(TSL_FAKE_RACE, "nothing orders %s (%s) before %s (%s): both touch %s %#zx to %#zx",
                            tsl_fake_op_name(old->op), old->write ? "writes" : "reads",
                            new->op ? tsl_fake_op_name(new->op) : "the application", new->write ? "writes" : "reads",
                            new->mem ? "device memory from" : "host memory from", (size_t)(lo - base),
                            (size_t)(hi - base));
}

/* An access that will race with the old one will race with the new one, too, or is ordered after both. */
static bool stands_for(const struct fake_access *new, const struct fake_access *old)
{
    return new->lo <= old->lo && old->hi <= new->hi && (new->write || !old->write) && (!new->atomic || old->atomic) &&
           (!new->races || (old->races == new->races && old->write == new->write)) &&
           (!new->meets || old->meets == new->meets);
}

/* The oldest state of knowledge that an operation not begun yet may still have. */
static uint64_t least_epoch_locked(void)
{
    uint64_t least = tsl_fake.epoch;

    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        for (struct fake_lane *lane = tsl_fake.members[i].lanes; lane; lane = lane->next)
            for (struct fake_op *op = lane->first; op; op = op->lane_next)
                if (op->state == FAKE_QUEUED && op->epoch < least)
                    least = op->epoch;
    return least;
}

/* Forgets what everything to come knows about, when the list would grow. */
static void prune_locked(struct fake_accesses *history)
{
    uint64_t least;
    size_t kept = 0;

    if (history->n < history->room)
        return;
    least = least_epoch_locked();
    for (size_t i = 0; i < history->n; i++)
        if (!known(history->items[i].op, least))
            history->items[kept++] = history->items[i];
    history->n = kept;
}

static void check_access_locked(struct fake_accesses *history, const struct fake_access *new)
{
    size_t kept = 0;

    for (size_t i = 0; i < history->n; i++) {
        struct fake_access *old = &history->items[i];
        bool meets = conflict(old, new), covered = stands_for(new, old);

        if (old->op != new->op && (meets || covered)) {
            bool before = ordered_locked(old->op, new->op);

            if (meets && !before)
                tell_race(old, new);
            if (covered && before)
                continue;
        }
        history->items[kept++] = *old;
    }
    history->n = kept;
    prune_locked(history);
    tsl_fake_accesses_add(history, *new);
}

static struct fake_accesses *history_of(struct fake_mem *root)
{
    if (!root)
        return &tsl_fake.host;
    return root->spread ? &root->spread->history : &root->history;
}

void tsl_fake_order_locked(struct fake_op *op)
{
    tsl_fake_gather_locked(op);
    for (size_t i = 0; i < tsl_fake.gathered.n; i++) {
        struct fake_access access = tsl_fake.gathered.items[i];

        if (access.hi > access.lo)
            check_access_locked(history_of(access.mem), &access);
    }
}

void tsl_fake_host_access(const void *ptr, size_t size, bool write)
{
    struct fake_access new = {.lo = (uintptr_t)ptr, .hi = (uintptr_t)ptr + size, .write = write};

    pthread_mutex_lock(&tsl_fake.lock);
    for (size_t i = 0; i < tsl_fake.host.n; i++) {
        const struct fake_access *old = &tsl_fake.host.items[i];

        if (conflict(old, &new) && !old->op->observed)
            tell_race(old, &new);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
}
