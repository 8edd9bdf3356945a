#include "trace/trace.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/settings.h"
#include "trace/flow.h"
#include "trace/lanes.h"
#include "trace/sink.h"
#include "trace/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Atomic int tsl_trace_state = TSL_TRACE_UNKNOWN;

static _Atomic uint64_t last_id;

/* A leaf: while it is held no other lock is taken and no other module called. */
static struct tsl_lock lock = {PTHREAD_MUTEX_INITIALIZER};

static struct tsl_sink sink TSL_GUARDED_BY(lock) = {.fd = -1};
static struct tsl_lanes lanes TSL_GUARDED_BY(lock);
static struct tsl_flow flow TSL_GUARDED_BY(lock);
static struct tsl_text text TSL_GUARDED_BY(lock); /* the current event */
static bool first_event TSL_GUARDED_BY(lock);     /* no comma before it */
static _Atomic pid_t writer;                      /* the process that writes the file */
static uint64_t n_arrows TSL_GUARDED_BY(lock);
static char *pattern TSL_GUARDED_BY(lock); /* the file's name with its %p; heap */

static void set_state_locked(enum tsl_trace_state state) TSL_REQUIRES(lock)
{
    atomic_store_explicit(&tsl_trace_state, (int)state, memory_order_relaxed);
}

static bool is_on_locked(void) TSL_REQUIRES(lock)
{
    return sink.fd >= 0;
}

/* ---- Events ---- */

/* {"ph":"X","name":"...","pid":1,"tid":2 */
static void begin_event_locked(const char *phase, const char *name, uint32_t tid) TSL_REQUIRES(lock)
{
    tsl_text_clear(&text);
    tsl_text_add(&text, first_event ? "{\"ph\":\"" : ",\n{\"ph\":\"");
    tsl_text_add(&text, phase);
    tsl_text_add(&text, "\",\"name\":");
    tsl_text_string(&text, name);
    tsl_text_add(&text, ",\"pid\":");
    tsl_text_u64(&text, (uint64_t)writer);
    tsl_text_add(&text, ",\"tid\":");
    tsl_text_u64(&text, tid);
}

static void stop_locked(int error) TSL_REQUIRES(lock)
{
    tsl_log(TSL_LOG_IN_TRACE, TSL_LOG_ERROR, "the timeline can't be written any further, and ends here: %s",
            strerror(error));
    tsl_sink_close(&sink);
    set_state_locked(TSL_TRACE_OFF);
}

static void end_event_locked(void) TSL_REQUIRES(lock)
{
    int error;

    tsl_text_add(&text, "}");
    /* An event that doesn't fit into memory is dropped; the next may fit. */
    if (text.failed || !is_on_locked())
        return;
    error = tsl_sink_put(&sink, text.data, text.size);
    if (error)
        stop_locked(error);
    first_event = false;
}

static void add_string_field_locked(const char *key, const char *value) TSL_REQUIRES(lock)
{
    tsl_text_add(&text, ",");
    tsl_text_string(&text, key);
    tsl_text_add(&text, ":");
    tsl_text_string(&text, value);
}

static void add_time_field_locked(const char *key, uint64_t ns) TSL_REQUIRES(lock)
{
    tsl_text_add(&text, ",");
    tsl_text_string(&text, key);
    tsl_text_add(&text, ":");
    tsl_text_us(&text, ns);
}

static void add_args_locked(const struct tsl_trace_arg *args) TSL_REQUIRES(lock)
{
    tsl_text_add(&text, ",\"args\":{");
    for (const struct tsl_trace_arg *arg = args; arg && arg->key; arg++) {
        if (arg != args)
            tsl_text_add(&text, ",");
        tsl_text_string(&text, arg->key);
        tsl_text_add(&text, ":");
        if (arg->type == TSL_TRACE_U64)
            tsl_text_u64(&text, arg->u64);
        else
            tsl_text_string(&text, arg->text);
    }
    tsl_text_add(&text, "}");
}

/* Metadata: the name of the process or of a row, or a row's place. */
static void put_name_locked(const char *what, uint32_t tid, const char *name) TSL_REQUIRES(lock)
{
    begin_event_locked("M", what, tid);
    add_args_locked(tsl_trace_args(tsl_trace_text("name", name)));
    end_event_locked();
}

static void announce_row_locked(uint32_t lane, unsigned row) TSL_REQUIRES(lock)
{
    uint32_t tid = tsl_lanes_tid(lane, row);

    put_name_locked("thread_name", tid, lanes.lanes[lane - 1].name);
    begin_event_locked("M", "thread_sort_index", tid);
    add_args_locked(tsl_trace_args(tsl_trace_u64("sort_index", tsl_lanes_order(&lanes, lane, row))));
    end_event_locked();
}

/* One end of an arrow; viewers attach it to the span that is open in that row at that time. */
static void put_arrow_end_locked(const char *phase, uint32_t tid, uint64_t ns) TSL_REQUIRES(lock)
{
    begin_event_locked(phase, "dependence", tid);
    add_string_field_locked("cat", "dependence");
    add_time_field_locked("ts", ns);
    tsl_text_add(&text, ",\"id\":");
    tsl_text_u64(&text, n_arrows);
    if (phase[0] == 'f')
        add_string_field_locked("bp", "e");
    end_event_locked();
}

/* An arrow leaves the end of a span and arrives at the start of another. If the spans' times overlap (two devices'
 * clocks), it must still go forward in time and touch both. */
static void draw_arrow_locked(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data)
    TSL_REQUIRES(lock)
{
    uint64_t leave = from->end_ns > from->start_ns ? from->end_ns - 1 : from->end_ns;
    uint64_t arrive = to->start_ns;

    (void)data;
    if (leave > arrive)
        leave = arrive > from->start_ns ? arrive : from->start_ns;
    if (arrive < leave)
        arrive = leave;
    n_arrows++;
    put_arrow_end_locked("s", from->tid, leave);
    put_arrow_end_locked("f", to->tid, arrive);
}

/* ---- Opening, closing, forking ---- */

/* The path with %p replaced by the process; heap, NULL if memory lacks. */
static char *expand_path(const char *with_p)
{
    char *path = NULL;
    size_t size;
    FILE *out = open_memstream(&path, &size);

    if (!out)
        return NULL;
    for (const char *at = with_p; *at; at++)
        if (at[0] == '%' && at[1] == 'p') {
            fprintf(out, "%ld", (long)getpid());
            at++;
        } else {
            fputc(*at, out);
        }
    if (fclose(out) == 0)
        return path;
    free(path);
    return NULL;
}

static void close_locked(void) TSL_REQUIRES(lock)
{
    if (is_on_locked()) {
        /* An error is ignored: viewers read the file without its last line, too. */
        tsl_sink_put(&sink, "\n]\n", 3);
        tsl_sink_close(&sink);
    }
    tsl_flow_finish(&flow);
    tsl_text_finish(&text);
    tsl_lanes_forget_rows(&lanes);
    set_state_locked(TSL_TRACE_OFF);
}

static void before_fork(void) TSL_ACQUIRES(lock)
{
    tsl_lock_take(&lock);
}

static void after_fork_in_parent(void) TSL_RELEASES(lock)
{
    tsl_lock_give(&lock);
}

/* The file remains the parent's. If the name has %p, the child opens its own at its first event. */
static void after_fork_in_child(void) TSL_RELEASES(lock)
{
    if (is_on_locked()) {
        tsl_sink_drop(&sink);
        close_locked();
        set_state_locked(strstr(pattern, "%p") ? TSL_TRACE_UNKNOWN : TSL_TRACE_OFF);
    }
    tsl_lock_give(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int begin_file_locked(const char *path) TSL_REQUIRES(lock)
{
    int error = tsl_sink_open(&sink, path);

    if (!error && !tsl_flow_init(&flow, draw_arrow_locked, NULL)) {
        tsl_sink_drop(&sink);
        error = ENOMEM;
    }
    if (!error)
        error = tsl_sink_put(&sink, "[\n", 2);
    return error;
}

/* Opens the file that `pattern` names, or logs the reason and leaves the trace off. */
static void open_locked(void) TSL_REQUIRES(lock)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *path = expand_path(pattern);
    int error = path ? begin_file_locked(path) : ENOMEM;

    if (error) {
        tsl_log(TSL_LOG_IN_TRACE, TSL_LOG_ERROR, "the timeline %s can't be written, so there is none: %s", pattern,
                strerror(error));
        tsl_sink_drop(&sink);
        close_locked();
    } else {
        pthread_once(&once, watch_forks);
        writer = getpid();
        first_event = true;
        set_state_locked(TSL_TRACE_ON);
        put_name_locked("process_name", 0, program_invocation_short_name);
    }
    free(path);
}

static void set_pattern_locked(const char *path) TSL_REQUIRES(lock)
{
    free(pattern);
    pattern = strdup(path);
}

bool tsl_trace_open(void)
{
    const char *path = tsl_settings()->trace;
    bool on;

    tsl_lock_take(&lock);
    if (atomic_load_explicit(&tsl_trace_state, memory_order_relaxed) == TSL_TRACE_UNKNOWN) {
        if (!pattern && path)
            set_pattern_locked(path);
        if (pattern)
            open_locked();
        else
            set_state_locked(TSL_TRACE_OFF);
    }
    on = is_on_locked();
    tsl_lock_give(&lock);
    return on;
}

bool tsl_trace_open_file(const char *path)
{
    bool on;

    tsl_lock_take(&lock);
    close_locked();
    set_pattern_locked(path);
    if (pattern)
        open_locked();
    on = is_on_locked();
    tsl_lock_give(&lock);
    return on;
}

void tsl_trace_close(void)
{
    /* A child that was forked without pthread_atfork's handlers has no file and can't trust the lock. */
    if (writer != getpid())
        return;
    tsl_lock_take(&lock);
    close_locked();
    tsl_lock_give(&lock);
}

/* Runs when the process ends or the library is unloaded; calls only the C library. */
__attribute__((destructor)) static void finish(void)
{
    tsl_trace_close();
}

/* ---- Interface ---- */

static uint32_t lane_locked(const char *name, enum tsl_trace_kind kind) TSL_REQUIRES(lock)
{
    bool made;
    uint32_t lane = tsl_lanes_find(&lanes, name, kind, &made);

    if (!lane)
        tsl_log_once(TSL_LOG_IN_TRACE, TSL_LOG_WARN,
                     "the timeline is full of lanes; what happens in %s and others is "
                     "left out",
                     name);
    if (made)
        announce_row_locked(lane, tsl_lanes_row(&lanes, lane, 0, 0, &made));
    return lane;
}

uint32_t tsl_trace_lane(const char *name, enum tsl_trace_kind kind)
{
    uint32_t lane = 0;

    if (!tsl_trace_on())
        return 0;
    tsl_lock_take(&lock);
    if (is_on_locked())
        lane = lane_locked(name, kind);
    tsl_lock_give(&lock);
    return lane;
}

static void put_span_locked(const struct tsl_trace_span *span) TSL_REQUIRES(lock)
{
    uint64_t end_ns = span->end_ns > span->start_ns ? span->end_ns : span->start_ns;
    bool made;
    unsigned row = tsl_lanes_row(&lanes, span->lane, span->start_ns, end_ns, &made);
    uint32_t tid = tsl_lanes_tid(span->lane, row);

    if (made)
        announce_row_locked(span->lane, row);
    begin_event_locked("X", span->name, tid);
    add_string_field_locked("cat", span->category);
    add_time_field_locked("ts", span->start_ns);
    add_time_field_locked("dur", end_ns - span->start_ns);
    add_args_locked(span->args);
    end_event_locked();
    if (span->id && is_on_locked())
        tsl_flow_placed(&flow, span->id, &(struct tsl_flow_place){tid, span->start_ns, end_ns});
}

void tsl_trace_span(const struct tsl_trace_span *span)
{
    if (span->lane == 0 || !tsl_trace_on())
        return;
    tsl_lock_take(&lock);
    if (is_on_locked() && span->lane <= lanes.n)
        put_span_locked(span);
    tsl_lock_give(&lock);
}

uint64_t tsl_trace_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

void tsl_trace_flow(uint64_t from, uint64_t to)
{
    if (from == 0 || to == 0 || !tsl_trace_on())
        return;
    tsl_lock_take(&lock);
    if (is_on_locked())
        tsl_flow_want(&flow, from, to);
    tsl_lock_give(&lock);
}
