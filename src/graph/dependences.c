/* Lists of operations that come before something. */
#include "graph/dependences.h"

#include "base/small_vector.h"
#include "graph/join.h"
#include "graph/op.h"
#include "graph/port.h"
#include "tile/tile.h"

/* Is the entry superfluous once op is in the list? It is if its operation is done (its failure was noted where it
 * counts), or if op ends later on the same lane. */
static bool superfluous(const struct tsl_dependence *d, const struct tsl_op *op, bool strict)
{
    if (d->op == op)
        return !d->strict || strict;
    if (d->op->user.done)
        return !d->strict || d->op->status >= 0;
    return !d->strict && tsl_user_after(&op->user, &d->op->user);
}

/* Does the list say already that op comes before? */
static bool covered(const tsl_dependences *list, const struct tsl_op *op, bool strict)
{
    for (unsigned i = 0; i < list->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(list, i);
        if (d->op == op && d->strict >= strict)
            return true;
        if (!strict && tsl_user_after(&d->op->user, &op->user))
            return true;
    }
    return false;
}

bool tsl_dependences_add(tsl_dependences *list, struct tsl_op *op, bool strict)
{
    if (covered(list, op, strict))
        return true;
    tsl_op_ref(op);
    for (unsigned i = list->n; i-- > 0;) {
        struct tsl_dependence *d = TSL_SMALL_AT(list, i);
        if (!superfluous(d, op, strict))
            continue;
        struct tsl_op *gone = d->op;
        *d = *TSL_SMALL_AT(list, list->n - 1);
        list->n--;
        tsl_op_unref(gone);
    }
    struct tsl_dependence new = {.op = op, .strict = strict};
    if (!TSL_SMALL_PUSH(list, new)) {
        tsl_op_unref(op);
        return false;
    }
    if (list->n > tsl_join_at)
        tsl_join_dependences(list, op->port->graph);
    return true;
}

void tsl_dependences_finish(tsl_dependences *list)
{
    for (unsigned i = 0; i < list->n; i++)
        tsl_op_unref(TSL_SMALL_AT(list, i)->op);
    TSL_SMALL_FINISH(list);
}
