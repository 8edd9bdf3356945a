/* The turns of operations in memory order (memory_order.c). */
#include "graph/command.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/progress.h"

void tsl_memory_order_next(struct tsl_graph *graph)
{
    struct tsl_command *all = graph->memory_order, *c;
    struct tsl_op *op = STAILQ_FIRST(&graph->parked);
    if (!all || graph->n_under_way > 0 || graph->scheduling)
        return;
    if (op) {
        STAILQ_REMOVE_HEAD(&graph->parked, ready);
        tsl_op_set_out(op);
        tsl_op_unref(op);
        return;
    }
    graph->memory_order = NULL;
    graph->ask_again = true;
    while ((c = all)) {
        all = c->next;
        c->in_memory_order = false;
        tsl_command_step(c);
    }
}
