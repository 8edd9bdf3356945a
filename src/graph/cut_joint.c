/*
 * The rungs `merge` and `reduce`: which objects of a launch get copies, so that its shares can run at the same time.
 *
 * As few as possible: those that forbid an exact cut (cut_apart.h). Which these are is remembered with the kernel for
 * launches of the same shape.
 */
#include "base/settings.h"
#include "driver/member.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut_apart.h"
#include "graph/cut_inside.h"
#include "graph/state.h"
#include "members/ready.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- The joints -------------------------------------------------------------------------------------------------- */

static bool is_written(const struct tsl_cut *cut, const void *root)
{
    cl_uint n = cut->footprint->n_arguments;
    for (unsigned s = 0; s < cut->n; s++)
        for (cl_uint i = 0; i < n; i++)
            if (cut->memories[i].root == root && cut->memories[i].may_write && cut->touches[s * n + i].writes)
                return true;
    return false;
}

static bool is_listed(const struct tsl_joints *joints, const void *root)
{
    for (unsigned j = 0; j < joints->n; j++)
        if (joints->list[j].root == root)
            return true;
    return false;
}

static bool list_joints(const struct tsl_cut_apart *s)
{
    struct tsl_cut *cut = s->cut;
    const struct tsl_argument_touch *shares[TSL_CUT_MAX_SHARES];
    struct tsl_joints *joints = cut->joints;
    for (unsigned i = 0; i < cut->n; i++)
        shares[i] = cut->touches + (size_t)i * cut->footprint->n_arguments;
    for (uint32_t i = 0; i < cut->footprint->n_arguments; i++) {
        const void *root = cut->memories[i].root;
        if (!(s->taken & UINT64_C(1) << i) || is_listed(joints, root) || !is_written(cut, root))
            continue;
        if (joints->n == TSL_JOINTS_MAX)
            return false;
        if (!tsl_joint_find(cut->footprint, cut->n, shares, cut->memories, root, &joints->list[joints->n],
                            &cut->verdict))
            return false;
        joints->n++;
    }
    return joints->n > 0;
}

/* The windows are made: which memory do they need copies of? */
static bool find_joints(struct tsl_cut_apart *s)
{
    struct tsl_cut *cut = s->cut;
    unsigned shares[TSL_MAX_MEMBERS] = {0};
    if (!tsl_cut_apart_shares(s))
        return false;
    free(cut->joints);
    cut->joints = calloc(1, sizeof(*cut->joints));
    if (!cut->joints)
        return tsl_cut_give_up(cut, TSL_CUT_NO_MEMORY);
    if (!list_joints(s))
        return false;
    for (unsigned i = 0; i < cut->n; i++)
        shares[cut->members[i]]++;
    return tsl_joints_may(cut->command, cut->joints, shares);
}

/* ---- The rung ---------------------------------------------------------------------------------------------------- */

static bool combines(const struct tsl_cut *cut, unsigned i)
{
    const struct tsl_member *member = cut->command->graph->ports[i].member;
    bool asked = tsl_member_is_ready(member) || !cut->ahead;
    return cut->command->kernel->parts[i].combines && (!asked || tsl_ready_combines(member));
}

/* Members that can make copies one. One alone has two shares, which only tests want. */
static bool keep_members(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    const struct tsl_command *c = cut->command;
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (parts->of[i] > 0 && combines(cut, i))
            tsl_members_add(&members, i);
    if (!tsl_cut_keep_parts(cut, parts, members))
        return false;
    if (tsl_members_count(members) == 1 && c->graph->cuts_always)
        parts->n_windows = 2;
    return tsl_members_count(members) * parts->n_windows > 1;
}

static bool search(struct tsl_cut *cut, const struct tsl_parts *parts)
{
    struct tsl_joint_memo *memo = &cut->command->kernel->cut.joint;
    struct tsl_cut_apart s;
    tsl_cut_apart_begin(&s, cut, memo->state == TSL_JOINT_WORKS ? memo->arguments : 0);
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_MERGE)
        tsl_cut_apart_take_all(&s);
    if (memo->state == TSL_JOINT_WORKS)
        cut->dimension = memo->dimension;
    else if (!tsl_cut_apart_dimension(&s))
        return false;
    tsl_cut_make_windows(cut, parts, 0);
    if (cut->n < 2)
        return tsl_cut_lacks_shares(cut);
    if (!find_joints(&s))
        return false;
    *memo = (struct tsl_joint_memo){TSL_JOINT_WORKS, s.taken, cut->dimension};
    return true;
}

/* Was a launch like this refused before, so that it is looked at ever more rarely, as cut.c counts? */
static bool is_hopeless(const struct tsl_cut *cut)
{
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    return !cut->command->graph->cuts_always && memo->joint.state == TSL_JOINT_REFUSED && tsl_cut_is_hopeless(memo);
}

bool tsl_cut_by_joints(struct tsl_cut *cut, struct tsl_parts *parts)
{
    const struct tsl_graph *graph = cut->command->graph;
    struct tsl_parts kept = *parts;
    struct tsl_cut_verdict before = cut->verdict;
    if (is_hopeless(cut) || (!parts->known && !graph->cuts_always) || !keep_members(cut, &kept))
        return false;
    if (!search(cut, &kept)) {
        cut->verdict = cut->verdict.why == TSL_CUT_OK ? before : cut->verdict; /* There was no room, say. */
        free(cut->joints);
        cut->joints = NULL;
        cut->command->kernel->cut.joint.state = TSL_JOINT_REFUSED;
        return false;
    }
    *parts = kept;
    return true;
}
