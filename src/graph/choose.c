/* Which member runs a kernel, and when that is decided: what the placer must know, and the commands that wait for a
 * place. */
#include "graph/choose.h"

#include "base/clock.h"
#include "base/sets.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/cut_count.h"
#include "graph/cut_work.h"
#include "graph/data.h"
#include "graph/edge.h"
#include "graph/either_way.h"
#include "graph/footing.h"
#include "graph/lead.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/out_of_core.h"
#include "graph/readiness.h"
#include "graph/space.h"
#include "graph/spread_room.h"
#include "graph/stay.h"
#include "graph/survey.h"
#include "graph/tidy.h"
#include "graph/variants.h"
#include "graph/window_times.h"
#include "place/model.h"
#include "place/model_file.h"
#include "place/place.h"
#include "program/program.h"

/* ---- The question ------------------------------------------------------------------------------------------------ */

/* How many commands behind a kernel are looked at. */
#define LOOK_AHEAD 256

static bool same_data(const struct tsl_buffer *a, const struct tsl_buffer *b)
{
    return a && b && tsl_data_of(a) == tsl_data_of(b);
}

/* May the later command need what the kernel does, or touch what the kernel touches? Judged by whole objects. A command
 * that is no kernel may. */
static bool may_need(const struct tsl_command *later, const struct tsl_command *kernel)
{
    if (!later->kernel || !later->args)
        return true;
    for (cl_uint i = 0; i < later->args->n_all; i++)
        for (cl_uint k = 0; k < kernel->args->n_all; k++)
            if (same_data(later->args->args[i].buffer, kernel->args->args[k].buffer))
                return true;
    return false;
}

/* None behind a kernel that has an event: whoever holds the event may need the kernel at any time. */
static unsigned n_behind(void *arg)
{
    struct tsl_command *c = arg, *later = c;
    unsigned n = 0;
    if (!c->in_order || c->has_event)
        return 0;
    for (unsigned i = 0; i < LOOK_AHEAD && (later = TAILQ_NEXT(later, link)) && !may_need(later, c); i++)
        n += later->kernel->place_key == c->kernel->place_key &&
             tsl_place_work_items(&later->share.window) == tsl_place_work_items(&c->share.window);
    return n;
}

/* What the host has, the program has written or read there since a kernel wrote it. */
static bool host_has(struct tsl_data *data)
{
    return tsl_spaces_has(tsl_tiles_at(&data->tiles, 0)->valid, TSL_SPACE_HOST);
}

/* Counts all of each argument that is written, but for what the host used last. */
static double back_ns(void *arg, unsigned member, int *home)
{
    const struct tsl_command *c = arg;
    const struct tsl_graph *g = c->graph;
    double ns = 0;
    *home = -1;
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        const struct tsl_buffer *buffer = c->args->args[i].buffer;
        struct tsl_data *data = buffer ? tsl_data_of(buffer) : NULL;
        if (!data || data->last_member < 0 || data->last_member == (int)member || host_has(data) ||
            !(tsl_footing_access(&c->kernel->parts[member].facts, i, buffer) & TSL_MAY_WRITE))
            continue;
        unsigned from = tsl_space_of(&g->ports[member], data), to = tsl_space_of(&g->ports[data->last_member], data);
        *home = data->last_member;
        if (from != to)
            ns +=
                tsl_placer_move_ns(g->placer, tsl_space_of_link(data, from), tsl_space_of_link(data, to), buffer->size);
    }
    return ns;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

uint64_t tsl_place_work_items(const struct tsl_window *window)
{
    return tsl_window_items(window);
}

/* The command's members that are not lost; if all are lost, all. */
static tsl_members living(const struct tsl_command *c)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (tsl_members_has(c->members, i) && !tsl_member_is_lost(c->graph->ports[i].member))
            tsl_members_add(&members, i);
    return tsl_members_is_empty(members) ? c->members : members;
}

static void make_candidates(const struct tsl_command *c, tsl_members members, struct tsl_candidate *candidates)
{
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        candidates[i] = (struct tsl_candidate){.eligible = tsl_members_has(members, i)};
}

/* Since a launch was to run in windows an object of its may have been spread, of which members have a part each now:
 * then one may hold it all. */
static void look_again(struct tsl_command *c)
{
    tsl_members can = c->out_of_core ? tsl_member_memory_holders(c->graph, c->members, c->args) : TSL_MEMBERS_NONE;
    if (tsl_members_is_empty(can))
        return;
    c->out_of_core = false;
    c->members = tsl_members_union(can, c->other_way);
    c->other_way = TSL_MEMBERS_NONE;
}

/* False: it goes whole after all. */
static bool goes_by_windows(struct tsl_command *c)
{
    look_again(c);
    if (!c->out_of_core)
        return false;
    if (tsl_out_of_core_place(c, living(c))) {
        tsl_either_way_placed(c);
        return true;
    }
    if (tsl_either_way_whole(c))
        return false;
    tsl_out_of_core_fail(c);
    return true;
}

static bool placed(struct tsl_command *c)
{
    c->graph->kernel_before = c->kernel->place_key;
    tsl_cut_count_places(c);
    return true;
}

/* Members that are about to be ready. */
static bool waits_for_others(struct tsl_command *c, const struct tsl_ask *ask)
{
    double run_ns =
        c->graph->readiness.will_be_over && tsl_cut_is_possible(c) ? tsl_placer_whole_ns(c->graph->placer, ask) : 0;
    c->awaits_members = run_ns > 0 && tsl_readiness_holds(c, run_ns);
    return c->awaits_members;
}

/* What is left of a launch and runs whole does so where it began: its data are there, and the kernel's code is. */
static void stay_with_lead(const struct tsl_command *c, struct tsl_candidate *candidates)
{
    for (unsigned i = 0; i < c->graph->n_ports && candidates[c->lead_member].eligible; i++)
        candidates[i].eligible &= i == c->lead_member;
}

static void tidy_args(const struct tsl_command *c)
{
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            tsl_tidy(tsl_data_of(c->args->args[i].buffer));
}

bool tsl_place_choose(struct tsl_command *c)
{
    struct tsl_graph *g = c->graph;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    if (!tsl_spread_room_make(c) || goes_by_windows(c))
        return true;
    c->share.variant = 0;
    if (g->n_ports == 1 && !tsl_cut_is_wanted(g) && !c->kernel->has_variants) {
        c->share.placement = (struct tsl_placement){.member = 0};
        return true;
    }
    tsl_members members = living(c);
    if (tsl_placer_learns(g->placer)) /* Others say themselves which member it is. */
        members = tsl_readiness_of(g, members);
    make_candidates(c, members, candidates);
    struct tsl_choices choices;
    tsl_variants_offer(c, members, candidates, &choices);
    struct tsl_ask ask = {.candidates = candidates,
                          .kernel = c->kernel->place_key,
                          .size = tsl_place_work_items(&c->share.window),
                          .now_ns = tsl_clock_ns(),
                          .again = c->share.placement.later,
                          .by = (enum tsl_place_by)c->place_by,
                          .n_behind = n_behind,
                          .back_ns = back_ns,
                          .arg = c};
    if (tsl_placer_is_ahead(g->placer, &ask, &c->share.placement.member)) {
        c->awaits_members = false;
        return false;
    }
    tidy_args(c);
    if (tsl_cut_again(c, &ask, candidates) || tsl_stay(c, &ask))
        return placed(c);
    ask.ready_ns = tsl_survey(c, &c->share.window, members, candidates);
    if (waits_for_others(c, &ask))
        return false;
    if (!tsl_cut_choose(c, &ask, candidates) && !c->lead_due) {
        if (c->n_leads)
            stay_with_lead(c, candidates);
        tsl_placer_choose(g->placer, &ask, &c->share.placement);
        tsl_readiness_placed(g, &c->share.placement, ask.now_ns);
    }
    if (c->share.placement.later || c->lead_due)
        return false;
    if (c->n_leads)
        tsl_lead_settle(c);
    tsl_variants_settle(c, &choices);
    return placed(c);
}

/* Every now and then a thread of ours writes what was learned. */
static struct tsl_worker keeper = TSL_WORKER("tesela-model");
static _Atomic(struct tsl_model *) to_keep; /* has a reference; NULL: nothing is to be written */

static void keep(struct tsl_job *job)
{
    struct tsl_model *model = atomic_exchange(&to_keep, NULL);
    (void)job;
    if (model)
        tsl_model_keep(model, tsl_clock_ns());
    tsl_model_unref(model);
}

static struct tsl_job keep_job = {.run = keep};

static void keep_what_was_learned(struct tsl_graph *g)
{
    struct tsl_model *model = tsl_placer_unkept(g->placer, tsl_clock_ns());
    if (!model || atomic_load(&to_keep))
        return;
    tsl_model_unref(atomic_exchange(&to_keep, tsl_model_ref(model)));
    tsl_worker_post(&keeper, &keep_job);
}

#define FIRST_STEPS_NS 200000000 /* beside a share that takes so long they are nothing */
#define IDLE_NS        10000     /* members that are free so soon begin together */

/* The times of a cut launch whose last share has ended. */
struct cut_times {
    uint64_t free_ns;                       /* when it was thought that all could begin */
    uint64_t first_start_ns, last_start_ns; /* of those that are no rims */
    uint64_t end_ns, longest_ns;            /* what a member ran for all in all, at most */
    uint64_t wall_ns;                       /* ... and took for it from when it could begin */
    uint64_t gap_ns;                        /* what a member waited between its inside and its rims, at most */
    double peer_ns;                         /* of the share whose moves were thought to take longest */
    bool usual; /* no share waited for large data, or was short and its kernel's first on that kind of member, with
                   which come its driver's first steps */
};

/* What one member did of a cut launch. */
struct member_times {
    uint64_t ran_ns, from_ns, to_ns;
};

static void add_free(const struct tsl_placement *placement, struct cut_times *t)
{
    uint64_t run_ns = (uint64_t)placement->run_ns,
             free_ns = placement->end_ns > run_ns ? placement->end_ns - run_ns : 0;
    t->free_ns = free_ns > t->free_ns ? free_ns : t->free_ns;
}

static void add_share(const struct tsl_share *share, struct cut_times *t, struct member_times *member)
{
    uint64_t from_ns = share->ran_from_ns, to_ns = share->ran_to_ns;
    if (!share->rim)
        add_free(&share->placement, t);
    t->first_start_ns = !share->rim && from_ns < t->first_start_ns ? from_ns : t->first_start_ns;
    t->last_start_ns = !share->rim && from_ns > t->last_start_ns ? from_ns : t->last_start_ns;
    t->end_ns = to_ns > t->end_ns ? to_ns : t->end_ns;
    t->peer_ns = share->peer_ns > t->peer_ns ? share->peer_ns : t->peer_ns;
    t->usual &= !(share->placement.first && to_ns - from_ns < FIRST_STEPS_NS) && !share->moved;
    member->from_ns = member->ran_ns && member->from_ns < from_ns ? member->from_ns : from_ns;
    member->to_ns = member->to_ns > to_ns ? member->to_ns : to_ns;
    member->ran_ns += to_ns - from_ns;
}

/* A member that had more to do before than the others begins later: that is not what the cut costs. It is known of the
 * cut launch right before when each was through with it. */
static void add_member(const struct tsl_graph *g, const struct member_times *member, unsigned i, bool follows,
                       struct cut_times *t)
{
    uint64_t span_ns = member->to_ns - member->from_ns, begin_ns = t->first_start_ns;
    t->longest_ns = member->ran_ns > t->longest_ns ? member->ran_ns : t->longest_ns;
    t->gap_ns = span_ns > member->ran_ns + t->gap_ns ? span_ns - member->ran_ns : t->gap_ns;
    if (follows && g->cut_ends_ns[i] > begin_ns)
        begin_ns = g->cut_ends_ns[i] < member->from_ns ? g->cut_ends_ns[i] : member->from_ns;
    if (member->to_ns > begin_ns + t->wall_ns)
        t->wall_ns = member->to_ns - begin_ns;
}

/* False: not all have ended, or it isn't known when they ran. */
static bool times_of_cut(struct tsl_command *c, struct cut_times *t, struct member_times *members)
{
    *t = (struct cut_times){.first_start_ns = UINT64_MAX, .usual = true};
    for (unsigned i = 0; i <= c->n_more; i++) {
        const struct tsl_share *share = tsl_command_share(c, i);
        if (share->placement.placed || !share->ran_to_ns)
            return false;
        add_share(share, t, &members[share->placement.member]);
    }
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (members[i].ran_ns)
            add_member(c->graph, &members[i], i, c->graph->cut_id + 1 == c->id, t);
    return true;
}

/* Tells what the cut cost. How long moves made it wait is seen where the launch before was cut as well, so that its end
 * is known. */
static void tell_cut(struct tsl_command *c)
{
    struct tsl_graph *g = c->graph;
    struct member_times members[TSL_MAX_MEMBERS] = {{0}};
    struct cut_times t;
    if (!times_of_cut(c, &t, members))
        return;
    if (t.usual)
        tsl_cut_work_learn(c);
    if (c->rung >= TSL_RUNG_MERGE) /* Copies begin before the shares and end behind them. */
        return;
    bool follows = g->cut_id + 1 == c->id;
    if (t.usual && (follows || t.free_ns < c->share.asked_ns + IDLE_NS))
        tsl_placer_parts_ended(g->placer, t.longest_ns, t.wall_ns);
    if (t.usual && t.peer_ns > 0 && follows) {
        uint64_t ready_ns = g->cut_end_ns > c->share.asked_ns ? g->cut_end_ns : c->share.asked_ns;
        double waited_ns = t.last_start_ns > ready_ns ? (double)(t.last_start_ns - ready_ns) : 0;
        tsl_placer_parts_waited(g->placer, t.peer_ns, waited_ns + (double)t.gap_ns);
    }
    g->cut_id = c->id;
    g->cut_end_ns = t.end_ns;
    for (unsigned i = 0; i < g->n_ports; i++)
        g->cut_ends_ns[i] = members[i].to_ns;
}

/* The time from when it could begin to the end of all that belongs to it, which is now or a little earlier. */
static void tell_joints(struct tsl_command *c)
{
    struct tsl_graph *g = c->graph;
    struct member_times members[TSL_MAX_MEMBERS] = {{0}};
    struct cut_times t;
    if (!times_of_cut(c, &t, members) || !t.usual)
        return;
    uint64_t begin_ns = g->complete_ns > c->share.asked_ns ? g->complete_ns : c->share.asked_ns,
             now_ns = tsl_clock_ns();
    if (now_ns > begin_ns + t.longest_ns)
        tsl_placer_joints_ended(g->placer, c->share.joint_ns, (double)(now_ns - begin_ns - t.longest_ns));
}

void tsl_place_complete(struct tsl_command *c)
{
    tsl_window_times_complete(c);
    if (c->joints && c->share.joint_ns > 0 && c->status == CL_COMPLETE)
        tell_joints(c);
    if (c->joints || c->graph->complete_ns)
        c->graph->complete_ns = tsl_clock_ns();
}

void tsl_place_ended(struct tsl_command *c, struct tsl_share *share, uint64_t start_ns, uint64_t end_ns)
{
    if (!share->placement.placed)
        return;
    share->ran_from_ns = start_ns;
    share->ran_to_ns = end_ns > start_ns ? end_ns : 0;
    struct tsl_ended ended = {.kernel = tsl_variants_key(c, share),
                              .size = share->work ? share->work : tsl_place_work_items(&share->window),
                              .ran_ns = end_ns > start_ns && !share->unmeasured ? end_ns - start_ns : 0,
                              .end_ns = end_ns,
                              .now_ns = tsl_clock_ns(),
                              .lone = !c->n_more && c->whole_why == TSL_WHOLE_FORBIDDEN};
    tsl_readiness_ended(c->graph, &share->placement, &ended);
    tsl_placer_done(c->graph->placer, &share->placement, &ended);
    if (c->n_more && !c->n_chained)
        tell_cut(c);
    c->graph->ask_again = true;
    keep_what_was_learned(c->graph);
}

void tsl_place_abandon(struct tsl_command *c)
{
    for (unsigned i = 0; i <= c->n_more; i++)
        tsl_place_ended(c, tsl_command_share(c, i), 0, 0);
}

/* ---- Later ------------------------------------------------------------------------------------------------------- */

bool tsl_place_hold(struct tsl_command *c)
{
    struct tsl_port *port;
    if (c->lead && tsl_lead_holds(c)) {
        c->n_hold++;
        return true;
    }
    if (!c->kernel || c->share.placement.placed || c->status != CL_COMPLETE || tsl_place_choose(c))
        return false;
    if (c->awaits_members || c->lead_due) {
        c->n_hold++;
        return true;
    }
    port = &c->graph->ports[c->share.placement.member];
    if (TAILQ_EMPTY(&port->launches)) { /* The end of nothing would ask again. */
        c->share.placement.later = false;
        return false;
    }
    tsl_op_watch(TAILQ_FIRST(&port->launches));
    c->n_hold++;
    return true;
}

void tsl_place_add_launch(struct tsl_port *port, struct tsl_op *op)
{
    struct tsl_op *last = TAILQ_LAST(&port->launches, tsl_op_list);
    if (!tsl_op_share(op)->placement.placed)
        return;
    /* Two launches of one queue on two lanes keep their order: the later one might run first, and its end would say
     * nothing of the earlier one. But those that an out-of-order queue has side by side are to be that. */
    bool beside = port->member->caps.lanes_abreast && last && last->command->abreast != op->command->abreast;
    if (last && last->lane != op->lane && last->command->queue == op->command->queue && !beside)
        tsl_op_depend(op, last, false);
    TAILQ_INSERT_TAIL(&port->launches, op, launch);
    op->listed = true;
    op->user.refs++;
}

void tsl_place_drop_launch(struct tsl_op *op)
{
    if (!op->listed)
        return;
    TAILQ_REMOVE(&op->port->launches, op, launch);
    op->listed = false;
    tsl_op_unref(op);
}
