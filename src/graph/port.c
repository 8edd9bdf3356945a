/* Ports, and the threads of ours that drain some. */
#include "graph/port.h"

#include "base/crew.h"
#include "base/lock.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/lane.h"
#include "graph/senders.h"
#include "graph/submit.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/context.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* Threads of ours for work that executes inside the submitting call: one for the host's copies, some for the
 * application's host tasks (one in a simulation), one for each member that works so. They are never joined, so they
 * belong to the process. */
static struct tsl_worker host_worker = TSL_VENDORS_WORKER("tesela-host");
static struct tsl_crew task_crew = TSL_CREW("tesela-task");
static struct tsl_worker task_worker = TSL_WORKER("tesela-task");
static struct tsl_worker member_workers[TSL_MAX_MEMBERS];
static pthread_once_t workers_once = PTHREAD_ONCE_INIT;

static void init_workers(void)
{
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++)
        member_workers[i] = (struct tsl_worker)TSL_VENDORS_WORKER("tesela-member");
}

static void drain_job(struct tsl_job *job)
{
    struct tsl_port *port = (struct tsl_port *)((char *)job - offsetof(struct tsl_port, job));
    struct tsl_graph *graph = port->graph;
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    port->posted = false;
    tsl_port_drain(port);
    tsl_graph_leave_port(port);
    tsl_object_unref(&context->object);
}

struct task {
    struct tsl_job job; /* first */
    struct tsl_op *op;
};

/* Runs the task, and takes the next one, which mostly has become ready by that: to wake another thread takes longer
 * than many tasks. NULL: there is none, or others have waited for longer. */
static struct tsl_op *run_and_take(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    tsl_senders_wake_behind(op);
    tsl_submit_task(op);
    if (tsl_crew_is_behind(&task_crew))
        return NULL;
    tsl_graph_work(graph, TSL_WHO_TASK);
    return tsl_port_take_task(&graph->tasks, NULL);
}

static void run_task(struct tsl_job *job)
{
    struct tsl_op *op = ((struct task *)job)->op;
    struct tsl_graph *graph = op->port->graph;
    struct tsl_context *context = graph->context;
    free(job);
    tsl_lock_take(&graph->lock);
    while (op)
        op = run_and_take(op);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}

bool tsl_port_post_task(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct task *task = malloc(sizeof(*task));
    if (!task)
        return false;
    *task = (struct task){.job.run = run_task, .op = op};
    tsl_object_ref(&graph->context->object);
    if (tsl_simulation ? tsl_worker_post(&task_worker, &task->job) : tsl_crew_post(&task_crew, &task->job))
        return true;
    graph->surplus_refs++;
    free(task);
    return false;
}

void tsl_port_init(struct tsl_port *port, struct tsl_graph *graph, struct tsl_member *member, unsigned index)
{
    bool host = index == TSL_HOST_INDEX;
    pthread_once(&workers_once, init_workers);
    *port = (struct tsl_port){.graph = graph, .member = member, .index = index, .lacking = port, .job.run = drain_job};
    port->space = host || member->caps.zero_copy ? TSL_SPACE_HOST : TSL_SPACE_MEMBER(index);
    port->sync = host || member->caps.submits_block;
    port->name = host ? "host" : member->path->id;
    port->worker = host ? &host_worker : port->sync ? &member_workers[member->index] : NULL;
    port->beside = port == &graph->tasks;
    STAILQ_INIT(&port->ready);
    TAILQ_INIT(&port->residents);
    TAILQ_INIT(&port->launches);
    /* Only a trace asks for the times of all moves. */
    unsigned timed = TSL_LANE_MOVES | TSL_LANE_PROFILES, usual = tsl_trace_on() ? timed : TSL_LANE_MOVES;
    tsl_graph_lane_init(&port->up, port, NULL, usual);
    tsl_graph_lane_init(&port->down, port, NULL, usual);
    tsl_graph_lane_init(&port->timed_up, port, NULL, timed);
    tsl_graph_lane_init(&port->timed_down, port, NULL, timed);
}

void tsl_port_finish(struct tsl_port *port)
{
    if (port->beside)
        tsl_crew_dismiss(&task_crew);
    tsl_graph_lane_finish(&port->up);
    tsl_graph_lane_finish(&port->down);
    tsl_graph_lane_finish(&port->timed_up);
    tsl_graph_lane_finish(&port->timed_down);
    tsl_arena_finish(port);
}
