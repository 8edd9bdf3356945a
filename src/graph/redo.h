/*
 * A share of a cut launch that fails because its member is lost is done again on another one.
 *
 * Only of a launch that is cut by the rung `exact` in place, of a window by which one began (lead.h) or of the rest of
 * that, whole, and only where that can't be wrong:
 * - No share of it overwrites what an earlier one has written (cut.h): a second try would come last.
 * - What failed is the loss: the share itself, or moves of its own command to the lost member. All that the share reads
 *   was as it should be.
 * - Nobody has planned to write what the launch is given since it was planned. So what the directory says of these
 *   objects is what the launch found, and what its shares have claimed.
 * - Nothing that was planned since waits for the share without failing with it: that would go on before the share's
 *   second try has ended.
 * - For each byte that the share needs as it was (what it reads, and what it may leave as it was) there is a copy on a
 *   member that lives, or on the host, in which no share of the launch may write that byte, the failed one included: a
 *   share may have written a part of what it writes.
 * - There it writes nothing that another share may write.
 *
 * Then the share is planned anew, as if it were enqueued now: it fetches, claims and runs. The failed operation stays
 * failed for whatever was planned strictly behind it, as ever. The command goes on, and succeeds if the second try
 * does; that may be done again itself.
 *
 * A loss that comes of the work itself (a kernel's fault) would only be repeated: drivers tell (driver/member.h).
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_REDO_H
#define TSL_GRAPH_REDO_H

#include <stdbool.h>

struct tsl_op;

/* The operation failed, of a launch that may be done again, and is done; what comes after it doesn't know yet. True:
 * its failure isn't the command's: the share is done again, or the share that needs this move decides. */
bool tsl_redo_forgives(struct tsl_op *op);
/* Shares of the process that were done again. Takes no lock. */
unsigned long long tsl_redo_count(void);

#endif
