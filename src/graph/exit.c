/*
 * The process's end. Some vendors run what they were given, and compile it before, in threads of their own, and exit
 * tears the compiler down under these threads: PoCL 3.1 crashed so in three of ten programs that ended right after a
 * launch. So before all handlers, while all is as it was, exit waits for launches that such drivers have, of kernels
 * that haven't run on the member yet. Exit submits nothing: what no driver has by then never runs, as the program may
 * have taken the memory away that a transfer goes to.
 *
 * A thread of its own waits. It is started with the first context that has such a member: exit may have interrupted
 * any thread, under any lock.
 */
#include "graph/exit.h"

#include "base/lock.h"
#include "base/worker.h"
#include "graph/cut_count.h"
#include "graph/graphs.h"
#include "graph/lane.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/split_check.h"
#include "graph/work.h"
#include "handle/object.h"
#include "place/model_file.h"
#include "program/program.h"

static struct tsl_worker waiter = TSL_VENDORS_WORKER("tesela-end");
static atomic_bool has_waiter;
static atomic_bool over; /* exit goes on: drivers are not asked any more */

/* The first launch on the lane of a kernel that hasn't run on that member yet; NULL: none. */
static struct tsl_op *first_cold(struct tsl_graph_lane *lane)
{
    struct tsl_op *op;
    TAILQ_FOREACH(op, &lane->flight, flight)
    if (op->kind == TSL_OP_LAUNCH && !op->awaited && !op->command->kernel->parts[op->port->index].has_run)
        return op;
    return NULL;
}

/* The lock is held, and given meanwhile. */
static void wait_in_lane(struct tsl_graph_lane *lane)
{
    struct tsl_op *op;
    while (!atomic_load(&over) && (op = first_cold(lane))) {
        op->awaited = true;
        op->user.refs++;
        tsl_op_wait(op);
        tsl_op_unref(op);
    }
}

static bool is_asked(const struct tsl_port *port)
{
    return !port->sync && port->member->driver->own_threads;
}

/* The queue stays meanwhile, as it has a reference more. */
static void wait_in_queue(struct tsl_graph_queue *queue)
{
    queue->refs++;
    for (unsigned i = 0; i < queue->n_lanes; i++)
        if (is_asked(queue->lanes[i].port)) {
            wait_in_lane(&queue->lanes[i]);
            wait_in_lane(&queue->timed_lanes[i]);
        }
    tsl_graph_queue_unref(queue);
}

/* The newest queue that is older than that id; NULL: none. The list begins with the newest queue, and changes while the
 * lock is given. */
static struct tsl_graph_queue *queue_before(struct tsl_graph *graph, unsigned id)
{
    struct tsl_graph_queue *queue = LIST_FIRST(&graph->queues);
    while (queue && queue->id >= id)
        queue = LIST_NEXT(queue, link);
    return queue;
}

static void wait_in_graph(struct tsl_graph *graph)
{
    struct tsl_graph_queue *queue;
    unsigned id = UINT_MAX;
    tsl_lock_take(&graph->lock);
    while ((queue = queue_before(graph, id))) {
        id = queue->id;
        wait_in_queue(queue);
    }
    tsl_lock_give(&graph->lock);
}

static void wait_in_all(struct tsl_job *job)
{
    struct tsl_graph *graph = tsl_graphs_next(NULL), *next;
    (void)job;
    for (; graph; graph = next) {
        wait_in_graph(graph);
        next = tsl_graphs_next(graph);
        tsl_object_unref(&graph->context->object);
    }
}

static void do_nothing(struct tsl_job *job)
{
    (void)job;
}

static void start_waiter(void)
{
    static struct tsl_job job = {.run = do_nothing};
    atomic_store(&has_waiter, tsl_worker_post(&waiter, &job));
}

static void wait_at_exit(void)
{
    static struct tsl_job job = {.run = wait_in_all};
    if (atomic_load(&has_waiter))
        tsl_worker_post(&waiter, &job);
}

static void stop_asking(void)
{
    atomic_store(&over, true);
    tsl_model_keep_at_exit();
    tsl_cut_tell();
    tsl_split_check_sum_up();
}

/* Nobody waits for what is under way: its end must be noticed nevertheless. */
static bool is_idle_locked(struct tsl_graph *graph) TSL_REQUIRES(graph->lock)
{
    struct tsl_graph_queue *queue;
    struct tsl_command *c;
    bool idle = !graph->callbacks;
    tsl_schedule_chains(graph, false);
    LIST_FOREACH(queue, &graph->queues, link)
    TAILQ_FOREACH(c, &queue->commands, link)
    {
        tsl_command_watch(c);
        idle = false;
    }
    return idle;
}

static bool is_idle(void)
{
    struct tsl_graph *graph = tsl_graphs_next(NULL), *next;
    bool idle = true;
    for (; graph; graph = next) {
        tsl_lock_take(&graph->lock);
        idle &= is_idle_locked(graph);
        tsl_graph_leave(graph, TSL_WHO_WORKER);
        next = tsl_graphs_next(graph);
        tsl_object_unref(&graph->context->object);
    }
    return idle && tsl_graph_callbacks_idle();
}

static const struct tsl_exit_hook hook = {.wait = wait_at_exit, .over = stop_asking, .is_idle = is_idle};

void tsl_exit_expect(const struct tsl_graph *graph)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool asked = false;
    for (unsigned i = 0; i < graph->n_ports; i++)
        asked |= is_asked(&graph->ports[i]);
    tsl_worker_expect_exit();
    atomic_store(&tsl_exit_hook, &hook);
    if (asked && !tsl_simulation)
        pthread_once(&once, start_waiter);
}
