/*
 * Launches whose objects no GPU holds, but the memory of a domain (driver/member.h): the largest of them are spread
 * over all its members (spread.h), each of which then has room for its parts and for what stays whole. So all memory of
 * a domain serves one launch, which runs there as any other does, whole or cut.
 *
 * That comes before windows (out_of_core.h), whose bytes cross the bus with each launch, and before slower members that
 * hold all.
 */
#ifndef TSL_GRAPH_SPREAD_ROOM_H
#define TSL_GRAPH_SPREAD_ROOM_H

#include "base/sets.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;
struct tsl_data;

/* Is there such a domain among these members, of which command->members hold all? Then the command is its members'. At
 * the enqueue; takes no lock. */
bool tsl_spread_room_find(struct tsl_command *command, tsl_members members);
/* Which of the launch's arguments are spread (bits): asked before its room is looked for, as they may leave meanwhile.
 * At the enqueue; takes no lock. */
uint64_t tsl_spread_room_look(const struct tsl_command *command);
/* The launch was let in: where its members have room only as long as what was spread then stays so, that is noted. At
 * the enqueue; takes no lock. */
void tsl_spread_room_keep(struct tsl_command *command, uint64_t spread);
/* Spreads what was found or has left meanwhile, before the launch is placed. False: it can't be, and the command has
 * failed. Under the graph's lock.
 */
bool tsl_spread_room_make(struct tsl_command *command);
/* What can't have its spread memory any more leaves it, where the launch has room without: when it is planned. Under
 * the graph's lock. */
void tsl_spread_room_leave(struct tsl_command *command);
/* Spreads an object that a transfer or fill writes and no GPU holds, if a domain has room for all objects of the
 * context: so the bytes needn't go by way of the host's copy. One that can't have its spread memory any more leaves it.
 * An error is the command's. Under the graph's lock. */
cl_int tsl_spread_room_for(struct tsl_command *command, struct tsl_data *data);

#endif
