/*
 * Insides and rims. Where shares of a launch lack what their neighbours wrote last (halos), each is divided: its inside
 * lacks nothing and begins at once, its rims wait for what moves. The insides are planned and submitted first, so that
 * the moves, and what is left of the planning, go by while they run.
 *
 * Insides and rims are shares as any others: they write different bytes, and have no edges among each other. How wide
 * rims must be is found by trying, and remembered with the kernel.
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_CUT_RIMS_H
#define TSL_GRAPH_CUT_RIMS_H

#include <stdbool.h>

struct tsl_candidate;
struct tsl_command;
struct tsl_cut;
struct tsl_parts;
struct tsl_share;

/* Divides the shares of a launch that is cut exactly, if that hides moves; else leaves them. Of the candidates move_ns
 * is what the shares lack. */
void tsl_cut_divide(struct tsl_cut *cut, const struct tsl_parts *parts, const struct tsl_candidate *candidates);
/* Was the kernel's last launch that was cut in so many shares divided? */
bool tsl_cut_was_divided(const struct tsl_cut *cut);
/* Places a rim, whose member and work are set, behind that member's inside, which is placed. */
void tsl_cut_place_rim(const struct tsl_cut *cut, struct tsl_share *rim);
/* An inside of the command lacked something after all: rims are looked for anew. */
void tsl_cut_rims_too_small(struct tsl_command *command);

#endif
