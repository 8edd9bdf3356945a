/*
 * Windows by which launches of unknown kernels begin (graph/lead.h).
 *
 * How large? What a window takes says what the launch takes only where the window fills the member, and costs little
 * only where it is a small part of the launch. A launch that isn't many times what fills its member has none. It may
 * have one all the same where the program has had long launches: of one that takes 80 ms, is four times what fills its
 * member, and is shared by two from then on, a window is a quarter, and the launch ends after 0.63 of its time.
 *
 * What may they cost? A window costs some time even of a launch that is short, or that runs whole for other reasons.
 * That is added up and forgotten by a part of what launches take. When it is too much there are none for a while.
 */
#include "place/internal.h"

#include <math.h>

#define LEAST_PART  (1.0 / 256)
#define MOST_PART   (1.0 / 8)
#define LARGE_PART  (1.0 / 2) /* of a launch that may be long ... */
#define LONG_NS     2e7       /* ... as another one was */
#define UNIT_GROUPS 2.0       /* fill a compute unit of a member that says nothing else */
#define MOST_NS     1e7       /* is what they may have cost */
#define FORGET      0.01      /* of what launches take */

uint64_t tsl_lead_items = 1u << 14;
double tsl_lead_fill = 1;

double tsl_placer_lead(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t n_groups)
{
    double fill = placer->fill[member] > 0 ? placer->fill[member] / (double)ask->size
                                           : placer->n_units[member] * UNIT_GROUPS / (double)n_groups;
    double part = fmax(fill * tsl_lead_fill, LEAST_PART);

    if (!placer->model || placer->split == TSL_SPLIT_OFF || tsl_split_always(placer->split))
        return 0;
    bool large = part > tsl_placer_lead_most(placer);
    return ask->size < tsl_lead_items || large || placer->leads_ns > MOST_NS ? 0 : part;
}

double tsl_placer_lead_most(const struct tsl_placer *placer)
{
    return placer->longest_ns >= LONG_NS ? LARGE_PART : MOST_PART;
}

void tsl_placer_led(struct tsl_placer *placer, double ns)
{
    placer->leads_ns += ns;
}

void tsl_lead_earn(struct tsl_placer *placer, double ns, bool measured)
{
    placer->longest_ns = measured ? fmax(placer->longest_ns, ns) : placer->longest_ns;
    placer->leads_ns = fmax(placer->leads_ns - FORGET * ns, 0);
}
