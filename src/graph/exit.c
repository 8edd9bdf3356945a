/*
 * The process's end. What it leaves under way is run, and perhaps compiled before, by vendors in threads of their own,
 * which exit, too, tears the vendors' libraries down under: PoCL 3.1 crashed so in three of ten programs that ended
 * right after a launch. So before all handlers, while all is as it was, exit sees to it that the ends of all commands
 * that members have are noticed, and waits for them. What waits for an event of the application's will never run.
 *
 * A thread of its own does it, for exit may have interrupted anything, under any lock.
 */
#include "graph/internal.h"

#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 1000000

static atomic_bool over; /* Exit goes on: drivers are called no more. */

/* A write that nobody has come for yet (lazy.c) isn't: its source may be gone by now. */
static bool is_under_way(const struct tsl_command *c)
{
    return c->state == TSL_SCHEDULED && !c->waits_for_place;
}

/* Sees to it that the ends of all commands of the stream that are under way are noticed. Are there any? */
static bool watch_stream(struct tsl_stream *stream)
{
    struct tsl_command *c;
    bool any = false;
    TAILQ_FOREACH(c, &stream->commands, link)
    {
        if (!is_under_way(c))
            continue;
        any = true;
        for (unsigned i = 0; i < c->frontier.n; i++)
            tsl_op_watch(TSL_FEW_AT(&c->frontier, i)->op);
    }
    return any;
}

static bool watch_graph(struct tsl_graph *graph)
{
    struct tsl_stream *stream;
    bool any = false;
    tsl_lock_take(&graph->lock);
    LIST_FOREACH(stream, &graph->streams, link)
    any |= watch_stream(stream);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    return any;
}

static bool watch_all(void)
{
    struct tsl_graph *graph = tsl_next_graph(NULL), *next;
    bool any = false;
    for (; graph; graph = next) {
        any |= watch_graph(graph);
        next = tsl_next_graph(graph);
        tsl_object_unref(&graph->context->object);
    }
    return any;
}

static void wait_for_all(struct tsl_job *job)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    (void)job;
    while (!atomic_load(&over) && watch_all())
        nanosleep(&nap, NULL);
}

static void at_end(void *unused)
{
    static struct tsl_worker worker = TSL_VENDORS_WORKER("tesela-end");
    static struct tsl_job job = {.run = wait_for_all};
    (void)unused;
    worker.waits = true;
    if (!tsl_simulation)
        tsl_worker_post(&worker, &job);
    tsl_worker_drain();
    atomic_store(&over, true);
}

/* What C++ calls for thread_local objects: glibc's exit() destroys those of its thread before it calls any handler. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* A compiler makes objects as it first needs them, and their destructors are called before handlers that were set
 * earlier, as the workers' was. Only of the main thread it's sure that it ends when the process does. */
void tsl_worker_expect_exit(void)
{
    static thread_local bool known;
    if (known)
        return;
    known = true;
    if (__cxa_thread_atexit_impl && syscall(SYS_gettid) == getpid())
        __cxa_thread_atexit_impl(at_end, NULL, &__dso_handle);
}
