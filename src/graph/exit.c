/*
 * The process's end. What it leaves under way is run, and perhaps compiled before, by vendors in threads of their own,
 * which exit, too, tears the vendors' libraries down under: PoCL 3.1 crashed so in three of ten programs that ended
 * right after a launch. So before all handlers, while all is as it was, exit sees to it that the ends of all commands
 * that members have are noticed, and waits for them. What waits for an event of the application's will never run.
 *
 * A thread of its own does it, for exit may have interrupted anything, under any lock.
 */
#include "graph/internal.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 1000000

static atomic_bool over; /* Exit goes on: drivers are called no more. */

static bool is_under_way(const struct tsl_stream *stream)
{
    const struct tsl_command *c;
    TAILQ_FOREACH(c, &stream->commands, link)
    if (c->state == TSL_SCHEDULED)
        return true;
    return false;
}

/* The newest that is older: the list begins with the newest. */
static struct tsl_stream *stream_before(struct tsl_graph *graph, unsigned id)
{
    struct tsl_stream *stream = LIST_FIRST(&graph->streams);
    while (stream && stream->id >= id)
        stream = LIST_NEXT(stream, link);
    return stream;
}

/* The lock is held, and given meanwhile: streams may come and go. */
static bool let_go(struct tsl_graph *graph)
{
    struct tsl_stream *stream;
    bool under_way = false;
    unsigned id = UINT_MAX;
    while ((stream = stream_before(graph, id))) {
        id = stream->id;
        stream->refs++;
        tsl_stream_let_go(stream);
        under_way |= is_under_way(stream);
        tsl_stream_unref(stream);
    }
    return under_way;
}

/* Is anything under way? */
static bool let_all_go(void)
{
    bool under_way = false;
    struct tsl_graph *graph = tsl_next_graph(NULL), *next;
    for (; graph; graph = next) {
        tsl_lock_take(&graph->lock);
        under_way |= let_go(graph);
        tsl_graph_leave(graph, TSL_WHO_WORKER);
        next = tsl_next_graph(graph);
        tsl_object_unref(&graph->context->object);
    }
    return under_way;
}

static void wait_for_all(struct tsl_job *job)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    (void)job;
    while (!atomic_load(&over) && let_all_go())
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
