/*
 * Where data lie, for all launches together: when are they distributed over members?
 *
 * A launch that would gain by being cut may lose that by the moves which its parts need. These are made once, if the
 * launches that come after it are cut as well: a program of twenty kernels and as many objects gains by what none of
 * its kernels could pay for alone, and loses if each of them distributes what it uses for itself and the next one
 * brings that together.
 *
 * *Regret.* So there is one account. What each launch loses by staying whole is added up, and what it would take to
 * move each object that such launches use, once. When the first has reached the second, an epoch begins: data are
 * distributed. In it the first move of each object is paid by the account, and a launch is cut if it gains without
 * these. So the program takes at most twice what it would with the best layout, however long it is. What moves again
 * counts against the launch that needs it. If that keeps launches whole their losses count for the next epoch.
 *
 * *Doubt.* The next epoch costs twice as much regret, until cuts without such moves have gained what an epoch takes.
 *
 * *Foresight.* Where an earlier run of the program tells that a kernel will lose much more than its moves take, the
 * first epoch begins as soon as it is known how launches get on without it; at once where little moves, but
 * members have to get ready.
 *
 * *The end.* An epoch ends when the ledger (pays.c) is overdrawn, or if the program is seen to get on no faster
 * (pace.c).
 */
#include "place/internal.h"

#include <math.h>

#define FORESIGHT 2    /* times what moves cost an earlier run of the program must promise to gain by them */
#define DOUBTED   64   /* times as much regret it takes where cuts gained nothing in earlier runs of the program */
#define FORESEEN  0.05 /* of what that run's launches take is what an epoch's moves may take which they promise */

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

void tsl_placer_moves(struct tsl_placer *placer, struct tsl_layout_mark *mark, double ns,
                      struct tsl_candidate *candidate)
{
    struct tsl_layout *layout = &placer->layout;

    layout->question += layout->answered;
    layout->answered = false;
    mark->question = layout->question;
    candidate->unpaid_ns += layout->epoch && mark->paid == layout->epoch ? 0 : ns;
    candidate->uncounted_ns += mark->counted == layout->epoch + 1 ? 0 : ns;
}

void tsl_placer_decided(struct tsl_placer *placer, struct tsl_layout_mark *mark)
{
    const struct tsl_layout *layout = &placer->layout;

    if (mark->question != layout->question || !layout->answered)
        return;
    if (layout->decision == TSL_LAYOUT_PAID)
        mark->paid = layout->epoch;
    else if (layout->decision == TSL_LAYOUT_COUNTED)
        mark->counted = layout->epoch + 1;
}

/* ---- The account ------------------------------------------------------------------------------------------------- */

void tsl_layout_begin(struct tsl_placer *placer)
{
    placer->layout.answered = true;
    placer->layout.decision = TSL_LAYOUT_NONE;
}

void tsl_layout_close(struct tsl_placer *placer)
{
    struct tsl_layout *layout = &placer->layout;

    layout->credit_ns = layout->lost_ns = layout->moves_ns = 0;
    layout->is_open = false;
    tsl_pace_end(placer);
}

static bool pay(struct tsl_layout *layout, const struct tsl_ask *ask, double ns)
{
    layout->paid_at_ns = ask->now_ns;
    layout->credit_ns -= ns;
    layout->spent_ns += ns;
    layout->decision = TSL_LAYOUT_PAID;
    return true;
}

static bool begin_epoch(struct tsl_placer *placer, const struct tsl_ask *ask, double credit_ns, double ns)
{
    struct tsl_layout *layout = &placer->layout;

    layout->epoch++;
    layout->credit_ns = credit_ns;
    layout->doubt = fmin(fmax(layout->doubt, 1) * 2, TSL_MOST_DOUBT);
    layout->lost_ns = layout->moves_ns = layout->spent_ns = layout->earned_ns = 0;
    tsl_pays_ask_all(placer);
    layout->is_open = true;
    tsl_pace_begin(placer, ask->now_ns);
    return pay(layout, ask, ns);
}

/* Would the kernel's launches lose much more than that, if the program goes on as an earlier run of it did? */
static bool foresees(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts,
                     double loss_ns, double ns)
{
    return tsl_placer_ahead_ns(placer, ask->kernel) * fmin(loss_ns / parts->whole_run_ns, 1) >= ns * FORESIGHT;
}

double tsl_layout_earned(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_layout_moves *moves,
                         double ns)
{
    struct tsl_layout *layout = &placer->layout;
    double paid_ns = layout->epoch ? fmin(moves->unpaid_ns, fmax(layout->credit_ns, 0)) : 0;

    if (paid_ns > 0)
        pay(layout, ask, paid_ns);
    layout->earned_ns += ns;
    if (layout->earned_ns >= layout->spent_ns) {
        layout->earned_ns = 0;
        layout->doubt /= 2;
    }
    return paid_ns;
}

/* The objects' first moves of this epoch are paid, if there is credit. */
static bool is_paid(struct tsl_layout *layout, const struct tsl_ask *ask, const struct tsl_layout_moves *moves,
                    double loss_ns)
{
    double first_ns = moves->unpaid_ns + moves->use_ns;

    if (!layout->epoch || loss_ns <= moves->ns - moves->unpaid_ns)
        return false;
    return layout->credit_ns >= first_ns && pay(layout, ask, first_ns);
}

bool tsl_layout_pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts,
                     const struct tsl_layout_moves *moves, double loss_ns)
{
    struct tsl_layout *layout = &placer->layout;
    double all_ns = moves->ns + moves->use_ns;

    /* Where something moves for one launch some of it mostly moves for each: what is lost is what would be gained
     * beside the wait for that. */
    loss_ns -= tsl_pays_latency_ns(placer, 1);
    if (loss_ns <= 0)
        return false;
    if (is_paid(layout, ask, moves, loss_ns))
        return true;
    if (!ask->again)
        layout->lost_ns += loss_ns * tsl_pays_stands_for(placer, ask->kernel);
    layout->moves_ns += moves->uncounted_ns;
    layout->decision = TSL_LAYOUT_COUNTED;
    double doubt = fmax(layout->doubt, tsl_pace_was_slower(placer) ? DOUBTED : 1);
    if (layout->lost_ns >= (fmax(layout->moves_ns, moves->ns) + moves->use_ns) * doubt)
        return begin_epoch(placer, ask, layout->lost_ns, all_ns);
    bool moves_much = moves->ns > parts->run_ns;
    if (doubt > 1 || (moves_much && !tsl_pace_knows(placer)) || !foresees(placer, ask, parts, loss_ns, all_ns))
        return false;
    return begin_epoch(placer, ask, fmax(all_ns, tsl_placer_program_ahead_ns(placer) * FORESEEN), all_ns);
}
