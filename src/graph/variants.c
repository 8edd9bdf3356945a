#include "graph/variants.h"

#include "base/log.h"
#include "base/settings.h"
#include "driver/driver.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/make_room.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/state.h"
#include "graph/variant_check.h"
#include "program/program.h"
#include "program/variants.h"
#include "variant/variant.h"

#include <stdio.h>

/* ---- The choice -------------------------------------------------------------------------------------------------- */

const struct tsl_kernel_variant *tsl_variants_of(const struct tsl_kernel *kernel, const struct tsl_share *share)
{
    return share->variant ? &kernel->parts[share->placement.member].variants[share->variant - 1] : NULL;
}

uint64_t tsl_variants_key(const struct tsl_command *command, const struct tsl_share *share)
{
    const struct tsl_kernel_variant *v = tsl_variants_of(command->kernel, share);

    return v ? v->place_key : command->kernel->place_key;
}

/* A variant that isn't measured goes before all others. */
static bool find_always(const struct tsl_kernel_part *part, const struct tsl_ways *ways, unsigned *found)
{
    for (*found = 1; *found < ways->n; ++*found)
        if (ways->allowed[*found] && part->variants[*found - 1].variant->always)
            return true;
    return false;
}

static void allow(const struct tsl_command *c, const struct tsl_kernel_part *part, bool parts, struct tsl_ways *ways)
{
    for (unsigned v = 1; v < ways->n; v++)
        ways->allowed[v] = tsl_variant_takes(&part->variants[v - 1], c->args, &c->share.window, parts);
}

static unsigned best_of(const struct tsl_command *c, unsigned member, const struct tsl_ways *ways)
{
    unsigned found;

    if (find_always(&c->kernel->parts[member], ways, &found))
        return found;
    return tsl_placer_best_variant(c->graph->placer, member, ways);
}

static void begin_ways(const struct tsl_command *c, const struct tsl_kernel_part *part, struct tsl_ways *ways)
{
    *ways = (struct tsl_ways){.n = part->n_variants + 1,
                              .keys = {c->kernel->place_key},
                              .allowed = {true},
                              .size = tsl_place_work_items(&c->share.window)};
    if (ways->n > TSL_MAX_WAYS)
        ways->n = TSL_MAX_WAYS;
    for (unsigned v = 1; v < ways->n; v++)
        ways->keys[v] = part->variants[v - 1].place_key;
}

void tsl_variants_offer(const struct tsl_command *c, tsl_members members, struct tsl_candidate *candidates,
                        struct tsl_choices *choices)
{
    if (!c->kernel->has_variants)
        return;
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        const struct tsl_kernel_part *part = &c->kernel->parts[i];
        struct tsl_ways *ways = &choices->ways[i];

        choices->whole[i] = choices->part[i] = ways->n = 0;
        if (!part->n_variants || !tsl_members_has(members, i) || tsl_settings()->check & TSL_CHECK_VARIANTS)
            continue;
        begin_ways(c, part, ways);
        if (part->windows) {
            allow(c, part, true, ways);
            choices->part[i] = best_of(c, i, ways);
        }
        allow(c, part, false, ways);
        choices->whole[i] = best_of(c, i, ways);
        candidates[i].kernel = ways->keys[choices->whole[i]];
        candidates[i].part_kernel = ways->keys[choices->part[i]];
    }
}

/* Shares that work on copies have to do to them just what the original does. */
static void settle_parts(struct tsl_command *c, const struct tsl_choices *choices)
{
    for (unsigned i = 0; i <= c->n_more; i++) {
        struct tsl_share *share = tsl_command_share(c, i);

        share->variant = c->rung >= TSL_RUNG_MERGE ? 0 : choices->part[share->placement.member];
    }
}

void tsl_variants_settle(struct tsl_command *c, const struct tsl_choices *choices)
{
    unsigned member = c->share.placement.member;

    if (!c->kernel->has_variants)
        return;
    if (c->n_more || !c->share.window.whole) {
        settle_parts(c, choices);
        return;
    }
    c->share.variant = choices->whole[member];
    unsigned found;
    const struct tsl_ways *ways = &choices->ways[member];
    if (!c->share.placement.placed || c->share.placement.try || ways->n < 2 ||
        find_always(&c->kernel->parts[member], ways, &found))
        return;
    c->share.variant = tsl_placer_try_variant(c->graph->placer, member, ways, choices->whole[member]);
    if (c->share.variant != choices->whole[member])
        tsl_placer_time(c->graph->placer, &c->share.placement);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static void tell_serving(const struct tsl_op *op, struct tsl_variant *v)
{
    unsigned bit = 1u << op->port->member->index;

    if (!(atomic_fetch_or(&v->told, bit) & bit))
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "kernel %s on %s runs as the variant %s", op->command->kernel->name,
                op->port->name, v->name);
}

/* Where the variant can't be launched, it is out, and the original runs. Errors that come of the member's memory, or of
 * its loss, are the launch's own. */
static cl_int launch_variant(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_kernel_variant *v,
                             const struct tsl_launch *launch, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const struct tsl_driver *driver = lane->member->driver;
    const struct tsl_window window = tsl_variant_window(v, op->command->args, launch->window);
    struct tsl_launch other = {v->kernel, launch->args, &window};
    cl_int error = driver->launch(lane, &other, waits, fence);
    char why[80];

    tell_serving(op, v->variant);
    if (!error || tsl_make_room_helps(op->port, error) || tsl_member_is_lost(lane->member))
        return error;
    snprintf(why, sizeof(why), "it can't be launched (error %d)", error);
    tsl_variant_put_out(v->variant, why);
    return driver->launch(lane, launch, waits, fence);
}

static cl_int check_all(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_launch *launch,
                        const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const struct tsl_kernel_part *part = &op->command->kernel->parts[op->port->index];
    const struct tsl_kernel_variant *taking[TSL_MAX_WAYS];
    unsigned n = 0;

    for (unsigned i = 0; i < part->n_variants && n < TSL_MAX_WAYS; i++)
        if (tsl_variant_takes(&part->variants[i], op->command->args, launch->window, !launch->window->whole))
            taking[n++] = &part->variants[i];
    if (!n || tsl_op_share(op)->slices || tsl_op_share(op)->args)
        return lane->member->driver->launch(lane, launch, waits, fence);
    return tsl_variant_check(op, lane, launch, waits, fence, &(struct tsl_variant_check){n, taking, true});
}

cl_int tsl_variants_launch(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_launch *launch,
                           const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const struct tsl_kernel_variant *v = tsl_variants_of(op->command->kernel, tsl_op_share(op));

    if (tsl_settings()->check & TSL_CHECK_VARIANTS)
        return check_all(op, lane, launch, waits, fence);
    if (!v || tsl_variant_state(v->variant) == TSL_VARIANT_OUT)
        return lane->member->driver->launch(lane, launch, waits, fence);
    if (tsl_variant_is_unproven(v->variant))
        return tsl_variant_check(op, lane, launch, waits, fence, &(struct tsl_variant_check){1, &v, false});
    return launch_variant(op, lane, v, launch, waits, fence);
}
