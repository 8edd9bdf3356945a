/* What a kernel and its arguments say about cuts of their launches, for all ways of cutting. Under the graph's lock. */
#ifndef TSL_GRAPH_CUT_KERNEL_H
#define TSL_GRAPH_CUT_KERNEL_H

#include "base/sets.h"
#include "footprint/cut.h"

#include <stdbool.h>
#include <stddef.h>

struct tsl_args;
struct tsl_command;
struct tsl_footing_values;
struct tsl_kernel;
struct tsl_kernel_part;

/* What forbids to cut launches of the command's kernel as that member has it. */
enum tsl_cut_why tsl_cut_kernel_on(const struct tsl_command *command, const struct tsl_kernel_part *part);
/* May the kernel touch shared memory, in which addresses lead from anywhere to anywhere? */
bool tsl_cut_kernel_has_svm(const struct tsl_args *args);
/* The command's arguments, as the rules of cuts take them: footprint->n_arguments of each array. members: on which the
 * parts would run. */
void tsl_cut_kernel_memories(const struct tsl_command *command, const struct tsl_footprint *footprint,
                             tsl_members members, struct tsl_cut_memory *memories, struct tsl_footing_values *values);
/* Why not, in the kernel's own names: tsl_cut_say. footprint NULL: not known. */
void tsl_cut_kernel_say(const struct tsl_kernel *kernel, const struct tsl_footprint *footprint,
                        const struct tsl_cut_verdict *verdict, char *text, size_t size);

#endif
