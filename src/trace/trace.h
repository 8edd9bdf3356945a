/*
 * The timeline: TESELA_TRACE=FILE writes what happened as a Chrome trace (JSON array format), which Perfetto
 * (ui.perfetto.dev) and chrome://tracing show.
 *
 * The file holds one event a line:
 *   {"ph":"M","name":"thread_name",...}  names a lane: the lane's spans carry its "pid" and "tid". Spans of a lane
 *                                        that overlap go on rows of their own; rows of one lane have one name and
 *                                        several tids.
 *   {"ph":"X","name":..,"cat":..,"ts":..,"dur":..,"pid":..,"tid":..,"args":{..}}
 *                                        a span; ts and dur in microseconds of tsl_clock_ns, with three decimals
 *   {"ph":"s"|"f","cat":"dependence",..} the two ends of an arrow
 * Categories and what their args hold are below. A program that dies leaves a file that both viewers still read: only
 * the closing bracket lacks, and at most newlines follow. A forked child writes a file of its own if the name has %p
 * in it, else nothing.
 *
 * Cost: tsl_trace_on() is a relaxed load while the trace is off; a span is formatted and copied to a mapped page, with
 * no system call. All functions are thread-safe and take one leaf lock, so they may be called under any lock of ours;
 * they call nothing outside of Tesela and the C library. When the file can't be written, an error is logged and the
 * trace goes off.
 */
#ifndef TSL_TRACE_TRACE_H
#define TSL_TRACE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum tsl_trace_state {
    TSL_TRACE_UNKNOWN, /* not asked yet: the first tsl_trace_on reads the settings */
    TSL_TRACE_OFF,
    TSL_TRACE_ON,
};

extern _Atomic int tsl_trace_state;

/* Reads the settings and opens the file; called by tsl_trace_on. */
bool tsl_trace_open(void);

/* Check this before collecting times and names for a span. Not for code that a loader's enumeration reaches. */
static inline bool tsl_trace_on(void)
{
    int state = atomic_load_explicit(&tsl_trace_state, memory_order_relaxed);

    return state != TSL_TRACE_OFF && (state == TSL_TRACE_ON || tsl_trace_open());
}

/* The contents of a lane; also the lanes' order from top to bottom. */
enum tsl_trace_kind {
    TSL_TRACE_HOST,      /* what our threads and the application's calls do: one lane, "host" */
    TSL_TRACE_QUEUE,     /* an application's queue: commands with their reported times, "queue 1" */
    TSL_TRACE_KERNELS,   /* a member at work: kernels, fills, native kernels, "opencl:0.1 pthread-..." */
    TSL_TRACE_TRANSFERS, /* one direction of a member's link, "to opencl:0.1 ..." or "from opencl:0.1 ..." */
};

/*
 * Returns the lane of that name, and creates it at the first call. Returns 0, which all other functions accept and
 * ignore, if the trace is off or there are too many lanes. The name is copied.
 */
uint32_t tsl_trace_lane(const char *name, enum tsl_trace_kind kind);

/* Categories that tests and `tesela report` rely on. */
/* In KERNELS; args: "command", "member", "queue". Of launches, each share of which is a span: "items" (work-items of
 * the share), "of" (those of the launch), "share" (from 0), "shares", "rung" ("whole", "exact", "domain", "merge",
 * "reduce"), "why" (a word: what kept the launch from a better rung), "expected_ns" (of the span, by earlier runs of
 * the kernel). What failed has "error", a number as text, here and in COMMAND and TRANSFER. Args that would say nothing
 * are left out. */
#define TSL_TRACE_CAT_KERNEL "kernel"
#define TSL_TRACE_CAT_TRANSFER                                                                                      \
    "transfer"                          /* in TRANSFERS; args: "bytes", "buffer", "offset", "from", "to", "command" \
                                         */
#define TSL_TRACE_CAT_COMMAND "command" /* in QUEUE; args: "command", "queue", "member" */
#define TSL_TRACE_CAT_HOST    "host"    /* in HOST: host tasks, copies by the host */
#define TSL_TRACE_CAT_VERDICT                                                               \
    "verdict" /* in HOST, without length: the first time that a reason kept a kernel from a \
                 better rung; name: the kernel's; args: "why" as above, "sentence" */

/* One argument of a span; made by the macros below, listed by tsl_trace_args. */
struct tsl_trace_arg {
    const char *key; /* NULL ends the list */
    enum { TSL_TRACE_U64, TSL_TRACE_TEXT } type;
    union {
        uint64_t u64;
        const char *text; /* NULL is written as null */
    };
};

#define tsl_trace_u64(key_, value_)  ((struct tsl_trace_arg){.key = (key_), .type = TSL_TRACE_U64, .u64 = (value_)})
#define tsl_trace_text(key_, value_) ((struct tsl_trace_arg){.key = (key_), .type = TSL_TRACE_TEXT, .text = (value_)})
#define tsl_trace_args(...)          ((const struct tsl_trace_arg[]){__VA_ARGS__, {.key = 0}})

/*
 * A span of time. Strings are read during the call only, need not be UTF-8, and may be long.
 *
 *     if (tsl_trace_on()) {
 *         tsl_trace_span(&(struct tsl_trace_span){
 *             .lane = member->to_lane, .category = TSL_TRACE_CAT_TRANSFER, .name = "write", .start_ns = start, .end_ns
 *             = end, .id = move->trace_id, .args = tsl_trace_args(tsl_trace_u64("bytes", size), tsl_trace_text("from",
 *             "host"))});
 *     }
 */
struct tsl_trace_span {
    uint32_t lane;
    const char *category;
    const char *name;
    uint64_t start_ns;                /* tsl_clock_ns */
    uint64_t end_ns;                  /* not before start_ns; taken as start_ns if it is */
    uint64_t id;                      /* from tsl_trace_id; 0: no arrow begins or ends here */
    const struct tsl_trace_arg *args; /* NULL: none */
};

void tsl_trace_span(const struct tsl_trace_span *span);

/* A new id for a span at which arrows begin or end, counting from 1. One id names one span. */
uint64_t tsl_trace_id(void);

/*
 * An arrow from the span `from` to the span `to` (`to` waited for `from`). May be called before or after either span is
 * written; drawn once both are. Forgotten if one of them isn't written while the next 16 384 ids are handed out. Either
 * id may be 0: no arrow.
 */
void tsl_trace_flow(uint64_t from, uint64_t to);

/*
 * For tests: closes the file as the end of the process does; the trace is off afterwards. tsl_trace_open_file opens
 * another, whatever the settings say, and returns whether it did.
 */
void tsl_trace_close(void);
bool tsl_trace_open_file(const char *path);

#endif
