/* Members' memory: how much of it is planned and held, and who could hold what. */
#ifndef TSL_GRAPH_MEMBER_MEMORY_H
#define TSL_GRAPH_MEMBER_MEMORY_H

#include "base/sets.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_args;
struct tsl_data;
struct tsl_graph;
struct tsl_mem;
struct tsl_member;
struct tsl_port;
struct tsl_residence;

/* Allocates (by the thread that drains the port) and frees, without the lock; the member's books are kept. */
cl_int tsl_member_memory_alloc(struct tsl_port *port, struct tsl_data *data);
void tsl_member_memory_free(const struct tsl_residence *residence, struct tsl_mem *mem);
/* So many bytes were allocated there otherwise, are so no longer. Atomic. */
void tsl_member_memory_hold(struct tsl_member *member, uint64_t size);
void tsl_member_memory_let_go(struct tsl_member *member, uint64_t size);
/* So many bytes are planned to be there otherwise, are so no longer. Atomic. */
void tsl_member_memory_plan(struct tsl_member *member, uint64_t size);
void tsl_member_memory_unplan(struct tsl_member *member, uint64_t size);
/* The object is planned to be there, is so no longer; a spread one on all its members. */
void tsl_member_memory_reserve(const struct tsl_port *port, const struct tsl_residence *residence);
void tsl_member_memory_release(const struct tsl_port *port, const struct tsl_residence *residence);
/* Has the member so much memory in all, by what is known? */
bool tsl_member_memory_has(struct tsl_member *member, uint64_t size);
/* Do plans already use so much of the member's memory that there is none for `size` bytes more? */
bool tsl_member_memory_full(const struct tsl_port *port, uint64_t size);
/* The driver refused memory: for some seconds plans reckon with what is held, without what it may not have really yet
 * (port.h). */
void tsl_member_memory_learn(const struct tsl_port *port, size_t fresh_size);
/* Which of the members could hold all that these arguments name, if they held nothing else? Takes no lock. */
tsl_members tsl_member_memory_holders(struct tsl_graph *graph, tsl_members members, const struct tsl_args *args);
/* Would each of the members hold all that these arguments name if nothing were spread? No where that isn't plain. */
bool tsl_member_memory_holds_whole(const struct tsl_graph *graph, tsl_members members, const struct tsl_args *args);
/* Could each member hold its parts of all that is spread among these arguments? Whoever works on one needs all parts.
 */
bool tsl_member_memory_holds_parts(const struct tsl_graph *graph, const struct tsl_args *args);
/* What the arguments need on the first of these members, which hold it not. */
void tsl_member_memory_need(const struct tsl_args *args, tsl_members members, uint64_t *total, uint64_t *largest);
/* Could this one hold the two? They may be the same. */
bool tsl_member_memory_holds_two(const struct tsl_port *port, const struct tsl_data *a, const struct tsl_data *b);

#endif
