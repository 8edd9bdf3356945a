/* When the fake driver's operations run: step by step in virtual time, or by a worker thread for each member. */
#include "driver/fake/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What may happen next ---- */

static bool is_done(void *arg, struct fake_op *before)
{
    (void)arg;
    return before->state == FAKE_DONE;
}

bool tsl_fake_ready_locked(const struct fake_op *op)
{
    if (op->state != FAKE_QUEUED)
        return false;
    /* A lost member's work fails unflushed, but after its waits. */
    if (op->id > op->lane->flushed && !tsl_fake_lost_locked(fake_lane_member(op->lane)))
        return false;
    if (op->drops_waits)
        return !op->lane->ordered || op == op->lane->first;
    for (unsigned i = 0; i < op->n_waits; i++)
        if (!tsl_fake_fence_complete_locked(op->waits[i]))
            return false;
    return tsl_fake_each_before(op, is_done, NULL);
}

enum what { BEGIN, END, TELL };

struct choice {
    enum what what;
    struct fake_op *op;
    struct fake_notify *notify;
    uint64_t time_ns; /* when it would happen */
};

struct choices {
    struct choice *items;
    size_t n, room;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static enum fake_engine engine_of(const struct fake_op *op)
{
    if (op->kind == TSL_FAKE_DID_READ)
        return FAKE_DOWN;
    if (op->kind == TSL_FAKE_DID_WRITE || op->kind == TSL_FAKE_DID_PEER)
        return FAKE_UP;
    return FAKE_COMPUTE;
}

/* Only one operation at a time is at its engine. */
static bool needs_engine(const struct fake_op *op)
{
    bool beside = op->kind == TSL_FAKE_DID_LAUNCH && fake_lane_member(op->lane)->is.side_by_side;

    return op->kind != TSL_FAKE_DID_MARK && !beside;
}

static bool latest_end(void *arg, struct fake_op *before)
{
    uint64_t *ns = arg;

    *ns = later(*ns, before->end_ns);
    return true;
}

/* The moment from which an operation that is ready can run, in virtual time. */
static uint64_t start_time(const struct fake_op *op)
{
    uint64_t ns = op->submit_ns;

    tsl_fake_each_before(op, latest_end, &ns);
    for (unsigned i = 0; i < op->n_waits; i++)
        if (!op->waits[i]->op)
            ns = later(ns, op->waits[i]->end_ns);
    if (needs_engine(op))
        ns = later(ns, fake_lane_member(op->lane)->engine_free_ns[engine_of(op)]);
    return ns;
}

static void add_choice(struct choices *all, struct choice choice)
{
    all->items = tsl_fake_grow(all->items, all->n, &all->room, sizeof choice);
    all->items[all->n++] = choice;
}

static void collect_lane(struct choices *all, const struct fake_lane *lane)
{
    for (struct fake_op *op = lane->first; op; op = lane->ordered ? NULL : op->lane_next) {
        if (op->state == FAKE_RUNNING && !op->busy)
            add_choice(all, (struct choice){.what = END, .op = op, .time_ns = op->end_ns});
        else if (tsl_fake_ready_locked(op))
            add_choice(all, (struct choice){.what = BEGIN, .op = op, .time_ns = start_time(op)});
    }
}

static void collect_notifications(struct choices *all)
{
    for (struct fake_notify *notify = tsl_fake.due; notify; notify = notify->next)
        add_choice(all, (struct choice){.what = TELL, .notify = notify});
}

static struct choices collect_all(void)
{
    struct choices all = {0};

    collect_notifications(&all);
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        for (struct fake_lane *lane = tsl_fake.members[i].lanes; lane; lane = lane->next)
            collect_lane(&all, lane);
    return all;
}

/* ---- An operation begins and ends ---- */

/* Where the middle of the window lies along dimension 0, twice: 0 to 2. */
static double ramp_of(const struct tsl_window *window)
{
    double items = (double)window->local_size[0];

    return (double)(2 * window->group_begin[0] + window->group_count[0]) * items / (double)window->global_size[0];
}

static double cost_of(const struct fake_op *op)
{
    const struct tsl_fake_traits *traits = &op->launch.kernel->body->traits;
    uint32_t times = 1;

    if (traits->cost_arg)
        memcpy(&times, op->launch.args[traits->cost_arg - 1].bound.value, sizeof times);
    return times * (traits->ramp ? ramp_of(&op->launch.window) : 1);
}

static uint64_t bandwidth(const struct fake_op *op)
{
    const struct tsl_fake_member *is = &fake_lane_member(op->lane)->is;
    bool own = is->own_bandwidth && op->copy.src.mem && op->copy.dst.mem && !op->peer;
    return own ? is->own_bandwidth : is->bandwidth;
}

static uint64_t duration(const struct fake_op *op)
{
    const struct tsl_fake_member *is = &fake_lane_member(op->lane)->is;
    uint64_t item_ns;

    if (op->kind == TSL_FAKE_DID_MARK || op->acted)
        return 0;
    if (op->kind != TSL_FAKE_DID_LAUNCH)
        return is->delay_ns + (bandwidth(op) ? (uint64_t)(1e9 * (double)op->size / (double)bandwidth(op)) : 0);
    item_ns = op->launch.kernel->body->traits.item_ns;
    if (!item_ns)
        item_ns = is->item_ns;
    double n_items = op->size > is->fill_items ? (double)op->size : is->fill_items;
    return is->delay_ns + (uint64_t)((double)item_ns * cost_of(op) * n_items / is->speed);
}

static bool is_lost(const struct fake_op *op)
{
    return tsl_fake_lost_locked(fake_lane_member(op->lane)) || (op->peer && tsl_fake_lost_locked(op->peer));
}

/* The end that is known before it begins: an error, or CL_COMPLETE. Sets acted if nothing is to be done. */
static cl_int fate(struct fake_op *op)
{
    if (is_lost(op)) {
        op->acted = true;
        return CL_DEVICE_NOT_AVAILABLE;
    }
    for (unsigned i = 0; i < op->n_waits; i++) {
        if (tsl_fake_fence_status_locked(op->waits[i]) < 0 && !op->drops_waits) {
            op->acted = true;
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
    }
    if (tsl_fake_spread_is_lost_locked(op, NULL)) {
        op->acted = true;
        return CL_OUT_OF_RESOURCES;
    }
    return op->failure ? op->failure : CL_COMPLETE;
}

static void begin_locked(struct fake_op *op)
{
    struct fake_member *member = fake_lane_member(op->lane);

    op->state = FAKE_RUNNING;
    op->status = fate(op);
    tsl_fake_settle_locked(op);
    if (!op->acted && !op->drops_waits)
        tsl_fake_order_locked(op);
    op->start_ns = tsl_fake.setup.threads ? tsl_fake_now_locked() : start_time(op);
    op->end_ns = op->start_ns + duration(op);
    if (needs_engine(op))
        member->engine_free_ns[engine_of(op)] = op->end_ns;
}

static void act_unlocked(struct fake_op *op)
{
    op->acted = true;
    op->acting = true;
    pthread_mutex_unlock(&tsl_fake.lock);
    tsl_fake_act(op);
    pthread_mutex_lock(&tsl_fake.lock);
    op->acting = false;
    pthread_cond_broadcast(&tsl_fake.changed);
}

static void end_locked(struct fake_op *op)
{
    struct fake_lane *lane = op->lane;

    if (is_lost(op))
        op->status = CL_DEVICE_NOT_AVAILABLE;
    else if (op->status == CL_COMPLETE && tsl_fake_spread_is_lost_locked(op, NULL))
        op->status = CL_OUT_OF_RESOURCES;
    else if (!op->acted)
        act_unlocked(op);
    op->state = FAKE_DONE;
    if (tsl_fake.setup.threads)
        op->end_ns = tsl_fake_now_locked();
    if (op->status < 0 && !op->fence && !lane->error)
        lane->error = op->status;
    while (lane->first && lane->first->state == FAKE_DONE)
        lane->first = lane->first->lane_next;
    tsl_fake.n_busy--;
    tsl_fake_write_down_locked(op);
    if (op->fence)
        tsl_fake_fence_done_locked(op->fence);
    pthread_cond_broadcast(&tsl_fake.changed);
}

/* Takes the notification from the list and calls it, without the lock. */
static void tell_unlocked(struct fake_notify *notify)
{
    struct fake_notify **place = &tsl_fake.due;
    cl_int status = tsl_fake_fence_status_locked(notify->fence);

    while (*place != notify)
        place = &(*place)->next;
    *place = notify->next;
    if (notify->fence->op)
        tsl_fake_observe_locked(notify->fence->op);
    tsl_fake.n_delivering++;
    pthread_mutex_unlock(&tsl_fake.lock);
    tsl_fake_in_notify(1);
    notify->fn(notify->arg, status);
    tsl_fake_in_notify(-1);
    pthread_mutex_lock(&tsl_fake.lock);
    tsl_fake.n_delivering--;
    pthread_cond_broadcast(&tsl_fake.changed);
}

/* ---- Manual mode ---- */

static void set_time(uint64_t ns)
{
    if (ns > tsl_fake.now_ns)
        __atomic_store_n(&tsl_fake.now_ns, ns, __ATOMIC_RELAXED);
}

/* Of two things at the same time an end comes first, and of two that begin the one that was submitted first. */
static bool comes_first(const struct choice *a, const struct choice *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->what != b->what)
        return a->what > b->what;
    return a->what == BEGIN && a->op->id < b->op->id;
}

static struct choice earliest(const struct choices *all)
{
    struct choice best = all->items[0];

    for (size_t i = 1; i < all->n; i++)
        if (comes_first(&all->items[i], &best))
            best = all->items[i];
    return best;
}

static void happen(const struct choice *choice)
{
    switch (choice->what) {
    case BEGIN:
        begin_locked(choice->op);
        if (!choice->op->acted && tsl_fake_random_locked() & 1)
            act_unlocked(choice->op);
        set_time(choice->op->start_ns);
        break;
    case END:
        set_time(choice->op->end_ns);
        end_locked(choice->op);
        break;
    case TELL:
        tell_unlocked(choice->notify);
        break;
    }
}

/* Sabotage at its worst: what lost its waits goes first, what said too early that it is done goes last. */
static struct choice worst(const struct choices *all, struct choice choice, uint64_t number)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].op && all->items[i].op->drops_waits)
            return all->items[i];
    for (size_t i = 0; choice.op && choice.op->early && i < all->n; i++)
        choice = all->items[(number + i) % all->n];
    return choice;
}

bool tsl_fake_step(uint64_t number)
{
    struct choices all;

    pthread_mutex_lock(&tsl_fake.step_lock);
    pthread_mutex_lock(&tsl_fake.lock);
    all = collect_all();
    if (all.n) {
        struct choice choice = number == TSL_FAKE_EARLIEST ? earliest(&all) : all.items[number % all.n];

        if (tsl_fake.sabotaged)
            choice = worst(&all, choice, number);
        happen(&choice);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
    pthread_mutex_unlock(&tsl_fake.step_lock);
    free(all.items);
    return all.n > 0;
}

static uint64_t own_choice(bool in_time)
{
    uint64_t number;

    if (in_time)
        return TSL_FAKE_EARLIEST;
    pthread_mutex_lock(&tsl_fake.lock);
    number = tsl_fake_random_locked() >> 1;
    pthread_mutex_unlock(&tsl_fake.lock);
    return number;
}

void tsl_fake_run(bool in_time)
{
    while (tsl_fake_step(own_choice(in_time)))
        continue;
}

bool tsl_fake_busy(void)
{
    bool busy;

    pthread_mutex_lock(&tsl_fake.lock);
    busy = tsl_fake.n_busy || tsl_fake.due || tsl_fake.n_delivering;
    pthread_mutex_unlock(&tsl_fake.lock);
    return busy;
}

/* ---- Blocking calls ---- */

/* Something happens: in the driver, or, now and then and when nothing is left here, in the rest of the program. */
static bool something(void)
{
    const struct tsl_fake_setup *setup = &tsl_fake.setup;
    bool others_first = setup->on_block && (own_choice(false) & 3) == 0;

    if (others_first && setup->on_block(setup->on_block_arg))
        return true;
    return tsl_fake_step(own_choice(setup->in_time)) ||
           (setup->on_block && !others_first && setup->on_block(setup->on_block_arg));
}

bool tsl_fake_block_locked(bool (*done)(void *arg), void *arg, const char *what)
{
    while (!done(arg)) {
        bool stepped;

        if (tsl_fake.stopping)
            return false;
        if (tsl_fake.setup.threads) {
            pthread_cond_wait(&tsl_fake.changed, &tsl_fake.lock);
            continue;
        }
        pthread_mutex_unlock(&tsl_fake.lock);
        stepped = something();
        pthread_mutex_lock(&tsl_fake.lock);
        if (!stepped && !done(arg)) {
            tsl_fake_violate_locked(TSL_FAKE_STUCK, "%s will never return", what);
            return false;
        }
    }
    return true;
}

static void tell_why_locked(FILE *out, const struct fake_op *op)
{
    fprintf(out, "%s", tsl_fake_op_name(op));
    if (op->id > op->lane->flushed)
        fputs(" is not flushed", out);
    for (unsigned i = 0; i < op->n_waits; i++) {
        const struct fake_fence *fence = op->waits[i];

        if (tsl_fake_fence_complete_locked(fence))
            continue;
        if (fence->op)
            fprintf(out, ", waits for %s", tsl_fake_op_name(fence->op));
        else
            fprintf(out, ", waits for a gate of fake:%u", fake_member(fence->base.member)->number);
    }
    fputs("\n", out);
}

char *tsl_fake_stuck(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    pthread_mutex_lock(&tsl_fake.lock);
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        for (struct fake_lane *lane = tsl_fake.members[i].lanes; lane; lane = lane->next)
            if (lane->first)
                tell_why_locked(out, lane->first);
    pthread_mutex_unlock(&tsl_fake.lock);
    fclose(out);
    return text;
}

/* ---- Threads ---- */

static struct fake_op *pick_locked(const struct fake_member *member)
{
    struct choices all = {0};
    struct fake_op *op;

    for (struct fake_lane *lane = member->lanes; lane; lane = lane->next)
        collect_lane(&all, lane);
    op = all.n ? all.items[tsl_fake_random_locked() % all.n].op : NULL;
    free(all.items);
    return op;
}

static void sleep_for(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    while (ns && nanosleep(&left, &left) && errno == EINTR)
        continue;
}

static void work_locked(struct fake_op *op)
{
    op->busy = true;
    begin_locked(op);
    if (!op->acted && tsl_fake_random_locked() & 1)
        act_unlocked(op);
    pthread_mutex_unlock(&tsl_fake.lock);
    sleep_for(op->end_ns - op->start_ns);
    pthread_mutex_lock(&tsl_fake.lock);
    end_locked(op);
}

static void *work(void *arg)
{
    struct fake_member *member = arg;

    pthread_mutex_lock(&tsl_fake.lock);
    while (!tsl_fake.stopping) {
        struct fake_op *op;

        if (tsl_fake.due)
            tell_unlocked(tsl_fake.due);
        else if ((op = pick_locked(member)))
            work_locked(op);
        else
            pthread_cond_wait(&tsl_fake.changed, &tsl_fake.lock);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
    return NULL;
}

void tsl_fake_workers_start(void)
{
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++) {
        struct fake_member *member = &tsl_fake.members[i];

        if (pthread_create(&member->worker, NULL, work, member))
            abort();
    }
}

void tsl_fake_workers_stop(void)
{
    pthread_mutex_lock(&tsl_fake.lock);
    tsl_fake.stopping = true;
    pthread_cond_broadcast(&tsl_fake.changed);
    pthread_mutex_unlock(&tsl_fake.lock);
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        pthread_join(tsl_fake.members[i].worker, NULL);
}
