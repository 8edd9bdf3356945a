/*
 * TESELA_CHECK=split: is a launch that was cut what it would have been whole?
 *
 * Before its shares are planned, such a launch is planned once more: whole, on the member of one of its shares, with
 * copies (stand_in.h) in the place of all memory that it may write. After them each object is compared with its copy.
 * The first difference is told, and the command fails. What was never written before the launch is filled with zeros
 * first, as it differs from member to member.
 *
 * Operations of the check are side operations: where they fail, or there is no room for them, the launch isn't
 * compared, which is told when the process ends.
 *
 * Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_SPLIT_CHECK_H
#define TSL_GRAPH_SPLIT_CHECK_H

#include "graph/coherence.h"
#include "graph/dependences.h"
#include "graph/share.h"
#include "graph/stand_in.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_buffer;
struct tsl_command;
struct tsl_data;

/* An object that the launch may write, and what the whole launch writes instead. */
struct tsl_split_pair {
    struct tsl_data *data;
    struct tsl_buffer *copy; /* borrowed of stand_ins */
};

/* Of one launch. */
struct tsl_split_check {
    struct tsl_share share; /* the whole launch */
    struct tsl_stand_ins stand_ins;
    bool unread;        /* something could not be compared */
    bool told;          /* the first difference */
    uint64_t n_rounded; /* floating-point elements that differ by rounding alone */
    unsigned n;
    struct tsl_split_pair pairs[];
};

/* Around the plan of a kernel. Nothing for launches that aren't cut, and without the setting. */
void tsl_split_check_begin(struct tsl_command *command, const tsl_dependences *order);
void tsl_split_check_end(struct tsl_command *command);
/* NULL allowed. Without the lock, once the command is reported. */
void tsl_split_check_destroy(struct tsl_split_check *check);

/* What both have of an object is compared (tsl_compare_fn). split_tell.c */
cl_int tsl_split_check_compare(struct tsl_command *command, const struct tsl_compared *what);

/* Tells how many launches were compared, where TESELA_LOG asks for it, or where some were not. At the process's end,
 * under no lock. */
void tsl_split_check_sum_up(void);

#endif
