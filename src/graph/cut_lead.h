/*
 * Which windows a launch begins by (lead.h). Under the graph's lock.
 */
#ifndef TSL_GRAPH_CUT_LEAD_H
#define TSL_GRAPH_CUT_LEAD_H

#include <stdbool.h>

struct tsl_candidate;
struct tsl_command;
struct tsl_cut;
struct tsl_parts;

/* Is it known of the launch that it is long, and are members being opened that it could use? Then it goes on by windows
 * meanwhile, though its kernel is known. */
bool tsl_cut_lead_is_worth(const struct tsl_command *command, const struct tsl_parts *parts);
/* The launch, whose candidates are marked, begins by a window, if it may, and if that is a small part of it. parts: the
 * placer's answer. */
void tsl_cut_lead_first(struct tsl_cut *cut, const struct tsl_parts *parts);

/* What is left of a launch that began by windows ... */
enum tsl_cut_lead_next {
    TSL_CUT_LEAD_ENDS,  /* is to be looked at as any launch */
    TSL_CUT_LEAD_WHOLE, /* runs whole */
    TSL_CUT_LEAD_MADE,  /* has another window */
};
enum tsl_cut_lead_next tsl_cut_lead_next(struct tsl_cut *cut, struct tsl_candidate *candidates);

#endif
