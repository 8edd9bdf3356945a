/*
 * A timeline that TESELA_TRACE wrote (trace/trace.h), as it is read back: lanes, and spans in the order of their
 * starts. Not thread-safe.
 */
#ifndef TSL_TOOL_TIMELINE_H
#define TSL_TOOL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tsl_lane_kind { TSL_LANE_HOST, TSL_LANE_QUEUE, TSL_LANE_MEMBER, TSL_LANE_TO, TSL_LANE_FROM };

struct tsl_tl_lane {
    char *name; /* as in the file: "opencl:0.1 pthread-...", "to opencl:0.1 pthread-...", "queue 1", "host" */
    enum tsl_lane_kind kind;
    char *member; /* of MEMBER, TO and FROM: "opencl:0.1"; else NULL */
};

enum tsl_span_kind { TSL_SPAN_KERNEL, TSL_SPAN_TRANSFER, TSL_SPAN_COMMAND, TSL_SPAN_HOST };
enum tsl_rung {
    TSL_RUNG_NONE,
    TSL_RUNG_WHOLE,
    TSL_RUNG_EXACT,
    TSL_RUNG_DOMAIN,
    TSL_RUNG_MERGE,
    TSL_RUNG_REDUCE,
    TSL_RUNG_OTHER
};

/* Texts are indices of tsl_timeline.texts; 0 is "". */
struct tsl_tl_span {
    uint64_t start_ns, end_ns; /* from the first span's start */
    uint32_t lane;
    uint32_t name;
    uint32_t command;
    uint32_t from, to; /* of transfers: "host", or members */
    uint64_t bytes;
    uint64_t items, of;     /* of launches: work-items of the share, and of the launch; 0: not told */
    uint32_t variant;       /* of launches: the implementation that ran; 0: the original */
    uint32_t why;           /* what kept the launch from a better rung */
    uint32_t expected_us;   /* 0: not known */
    uint16_t share, shares; /* shares 0: no launch, or a trace without shares */
    uint8_t kind;           /* enum tsl_span_kind */
    uint8_t rung;           /* enum tsl_rung */
    int16_t error;          /* 0: none */
    bool again;             /* a share that failed with its member is done once more */
};

/* Why launches of a kernel weren't cut, or not better. */
struct tsl_tl_verdict {
    uint32_t kernel, why; /* texts: the kernel's name, the reason's word */
    char *sentence;
};

struct tsl_timeline {
    char *program; /* the process's short name; "" if the file doesn't tell */
    struct tsl_tl_lane *lanes;
    unsigned n_lanes;
    struct tsl_tl_span *spans;
    size_t n_spans;
    char **texts;
    unsigned n_texts;
    struct tsl_tl_verdict *verdicts;
    unsigned n_verdicts;
    uint64_t wall_ns;   /* from the first span's start to the last one's end */
    unsigned n_damaged; /* lines that could not be read, and are left out */
    bool unfinished;    /* the closing bracket lacks: the program was killed, or still runs */
};

/* Reads the file. False: it can't be read, or is no timeline of Tesela's, or holds no work; then *why is a sentence
 * (heap; NULL without memory) and there is nothing to finish. */
bool tsl_timeline_read(struct tsl_timeline *timeline, const char *path, char **why);
void tsl_timeline_finish(struct tsl_timeline *timeline);

/* The same for commands: a sentence of that command on standard error tells why not, or what lacks. */
bool tsl_timeline_open(struct tsl_timeline *timeline, const char *path, const char *command);

static inline const char *tsl_timeline_text(const struct tsl_timeline *timeline, uint32_t text)
{
    return timeline->texts[text];
}

/* The sentence for the kernel's reason, or what the word means by itself; never NULL. */
const char *tsl_timeline_why(const struct tsl_timeline *timeline, uint32_t kernel, uint32_t why);

#endif
