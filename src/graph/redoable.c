#include "graph/redoable.h"

#include "graph/command.h"
#include "graph/data.h"
#include "graph/state.h"
#include "program/program.h"

/* No two of its shares write the same: by the rung `exact` later ones may do so. A window by which a launch begins, and
 * what is left of such a launch, have one share where they aren't cut. */
static bool has_shares_apart(const struct tsl_command *c)
{
    return c->n_more ? c->rung == TSL_RUNG_EXACT && !c->later_wins : c->is_lead || c->n_leads;
}

void tsl_redoable_begin(struct tsl_command *c)
{
    if (!has_shares_apart(c) || c->out_of_core || c->joints || c->graph->n_ports < 2)
        return;
    c->may_redo = true;
    LIST_INSERT_HEAD(&c->graph->redoable, c, redo);
}

void tsl_redoable_end(struct tsl_command *c)
{
    if (!c->may_redo)
        return;
    c->may_redo = false;
    LIST_REMOVE(c, redo);
}

bool tsl_redoable_names(const struct tsl_command *c, const struct tsl_data *data)
{
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer && tsl_data_of(c->args->args[i].buffer) == data)
            return true;
    return false;
}

void tsl_redoable_note_write(const struct tsl_command *by, const struct tsl_data *data)
{
    struct tsl_command *c, *next;
    for (c = LIST_FIRST(&by->graph->redoable); c; c = next) {
        next = LIST_NEXT(c, redo);
        if (c != by && tsl_redoable_names(c, data))
            tsl_redoable_end(c);
    }
}
