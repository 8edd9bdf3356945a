#include "graph/senders.h"

#include "base/clock.h"
#include "base/pause.h"
#include "base/settings.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/command.h"
#include "graph/edge.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/submit.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/context.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#define LOOKS_US 1000
#define SOON_NS  200000 /* from one host task's beginning to the next one's */
#define JOIN_NS  500000 /* at most; submissions take longer where memory is taken or code is loaded */

/* They are never joined, so they belong to the process. */
static struct tsl_worker senders[TSL_MAX_MEMBERS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_senders(void)
{
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        senders[i] = (struct tsl_worker)TSL_VENDORS_WORKER("tesela-sender");
        senders[i].looks_us = LOOKS_US;
    }
}

/* ---- Who has one ------------------------------------------------------------------------------------------------- */

static bool may_have_one(const struct tsl_port *port)
{
    return !port->sync && (port->member->driver->submits_slowly || tsl_settings()->senders == TSL_SENDERS_ALWAYS);
}

/* Half of the processors are left to others: senders that look out keep theirs. */
static bool are_worth_it(unsigned n)
{
    cpu_set_t set;
    if (tsl_settings()->senders == TSL_SENDERS_ALWAYS)
        return n > 0;
    return n > 0 && tsl_settings()->senders == TSL_SENDERS_AUTO && !sched_getaffinity(0, sizeof(set), &set) &&
           (unsigned)CPU_COUNT(&set) >= 2 * (n + 1);
}

/* ---- Their work -------------------------------------------------------------------------------------------------- */

/* What becomes ready elsewhere meanwhile goes, too, before this counts as sent. */
static void submit(struct tsl_job *job)
{
    struct tsl_port *port = (struct tsl_port *)((char *)job - offsetof(struct tsl_port, job));
    struct tsl_graph *graph = port->graph;
    struct tsl_context *context = graph->context;
    tsl_lock_take_soon(&graph->lock);
    port->posted = false;
    tsl_port_drain(port);
    tsl_graph_send(graph, TSL_WHO_WORKER);
    atomic_fetch_sub(&graph->n_sending, 1);
    tsl_graph_leave_port(port);
    tsl_object_unref(&context->object);
}

/* ---- The doors --------------------------------------------------------------------------------------------------- */

void tsl_senders_appoint(struct tsl_graph *graph)
{
    unsigned n = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        n += may_have_one(&graph->ports[i]);
    if (!are_worth_it(n))
        return;
    pthread_once(&once, init_senders);
    graph->n_senders = n;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct tsl_port *port = &graph->ports[i];
        if (!may_have_one(port))
            continue;
        port->has_sender = true;
        port->worker = &senders[port->member->index];
        port->job.run = submit;
    }
}

void tsl_senders_wake(struct tsl_command *command)
{
    struct tsl_graph *graph = command->graph;
    if (graph->n_senders < 2 && tsl_settings()->senders != TSL_SENDERS_ALWAYS)
        return;
    for (unsigned i = 0; i <= command->n_more; i++) {
        struct tsl_port *port = &graph->ports[tsl_command_share(command, i)->placement.member];
        if (port->has_sender)
            tsl_worker_wake(port->worker);
    }
}

void tsl_senders_wake_behind(const struct tsl_op *task)
{
    struct tsl_graph *graph = task->port->graph;
    if (!graph->n_senders)
        return;
    uint64_t before_ns = graph->task_ns;
    graph->task_ns = tsl_clock_ns();
    if (graph->task_ns - before_ns >= SOON_NS)
        return;
    for (unsigned i = 0; i < task->out.n; i++) {
        const struct tsl_op *behind = TSL_SMALL_AT(&task->out, i)->to;
        if (behind && behind->port->has_sender)
            tsl_worker_wake(behind->port->worker);
    }
}

bool tsl_senders_take(struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    if (!port->has_sender || port->draining || (!port->posted && !tsl_worker_is_awake(port->worker)))
        return false;
    if (port->posted)
        return true; /* It will find what was added. */
    tsl_object_ref(&graph->context->object);
    atomic_fetch_add(&graph->n_sending, 1);
    port->posted = tsl_worker_post(port->worker, &port->job);
    if (port->posted)
        return true;
    atomic_fetch_sub(&graph->n_sending, 1);
    graph->surplus_refs++;
    return false;
}

void tsl_senders_join(struct tsl_graph *graph)
{
    if (!atomic_load(&graph->n_sending) || tsl_simulation)
        return;
    uint64_t end_ns = tsl_clock_ns() + JOIN_NS;
    tsl_graph_open(graph);
    while (atomic_load(&graph->n_sending) && tsl_clock_ns() < end_ns)
        tsl_pause();
    tsl_graph_close(graph);
}
