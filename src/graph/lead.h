/*
 * Leads: windows by which a launch begins, one after another, where nothing is known of its kernel, or where it is
 * known to be long and members are being opened that it could use. What they take tells whether the rest is to be cut
 * over members, and how. So a program's first launch is cut, too.
 *
 * A lead is a command of its own in the launch's queue, before the launch, with the launch's kernel, arguments and
 * events to wait for. The application sees nothing of it. It is scheduled like any command. The launch stays held until
 * its lead is complete, and so does all that waits for the launch: nothing is planned that the rest, which nobody has
 * planned yet, might come before. Then the launch, whose window is the rest, is asked about again.
 *
 * - Legal? Where the kernel may be cut at all, by whatever rung: its groups wait for none of each other and have no
 *   order, and windows on one member's copy, one after another, are one of the orders that the whole launch might have
 *   had. What they have left there no merge need find. The rung is asked for where shares run at the same time: for
 *   what is left, and for a lead that is cut itself, among the shares of that alone. They find what the leads before
 *   have left as they would find what another launch has left: a merge takes it for the old bytes, a reduction for the
 *   first sum, a domain spreads it.
 * - Of use? Only where what is left might be cut by some rung, as far as that can be told of members that aren't ready.
 *   By the rung `exact` the lead and the rest are apart as shares are: either may be done again though what the other
 *   has written is lost.
 * - A launch fails if a lead of its does, and with the same error. Its times begin when the first lead's do. Leads and
 *   the rest may be done again as shares may (redo.h).
 * - One lead shows whether the launch is long; one that isn't runs whole. What a kernel's first launch on a member
 *   takes has the driver's first steps in it, so of a long one a second lead as large as the first tells how fast it
 *   is. While members are being opened that a long launch could use, it goes on by further leads. So does a very long
 *   one, once, by a lead that is cut, in which members have a try that never ran the kernel.
 * - What leads cost is bounded by the placer (place/lead.c).
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_LEAD_H
#define TSL_GRAPH_LEAD_H

#include "footprint/window.h"

#include <stdbool.h>

struct tsl_ask;
struct tsl_command;

/* A second lead is made where what is left takes so long at least. Constant but for tests. */
extern double tsl_lead_long_ns;

/* Begins the held launch by the first of these windows; the second is what is left of it. on: what is asked about the
 * launch, and the member that has the window; NULL: the window has its place as any launch, and may be cut. Then
 * lead_due is set: whoever asks holds the launch and schedules its lead. False: nothing has changed, as the member has
 * enough to do, or there is no memory. */
struct tsl_lead_on {
    const struct tsl_ask *ask;
    unsigned member;
};
bool tsl_lead_make(struct tsl_command *command, const struct tsl_lead_on *on, const struct tsl_window windows[2]);
/* Must the launch, which has a lead, be held for it? Else it has one no longer, and has failed if the lead has. */
bool tsl_lead_holds(struct tsl_command *command);
/* What is left of a launch that began by leads was placed. */
void tsl_lead_settle(const struct tsl_command *command);

#endif
