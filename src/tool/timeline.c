#include "tool/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

/* Rows of a file: a lane has eight, and there are four thousand lanes at most. */
#define MAX_TIDS 65536u

/* What reading needs beside its result. */
struct reader {
    struct tsl_timeline *out;
    uint32_t *lane_of;    /* by tid: the lane's index + 1; 0: none */
    uint32_t *text_slots; /* a hash table of texts: their index + 1; 0: free */
    size_t n_slots;       /* a power of two */
    size_t span_capacity;
    bool no_memory;
    bool unknown; /* the file doesn't begin as a timeline of ours */
};

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static size_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

static bool grow_texts(struct reader *r)
{
    size_t n = r->n_slots ? r->n_slots * 2 : 256;
    uint32_t *slots = calloc(n, sizeof *slots);
    char **texts = realloc(r->out->texts, n / 2 * sizeof *texts);

    if (texts)
        r->out->texts = texts;
    if (!slots || !texts) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < r->out->n_texts; i++) {
        size_t at = hash(texts[i]) & (n - 1);

        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = i + 1;
    }
    free(r->text_slots);
    r->text_slots = slots;
    r->n_slots = n;
    return true;
}

/* The text's index; 0 without memory. */
static uint32_t intern(struct reader *r, const char *text)
{
    size_t at;

    if (r->out->n_texts + 1 > r->n_slots / 2 && !grow_texts(r)) {
        r->no_memory = true;
        return 0;
    }
    for (at = hash(text) & (r->n_slots - 1); r->text_slots[at]; at = (at + 1) & (r->n_slots - 1))
        if (strcmp(r->out->texts[r->text_slots[at] - 1], text) == 0)
            return r->text_slots[at] - 1;
    r->out->texts[r->out->n_texts] = strdup(text);
    if (!r->out->texts[r->out->n_texts]) {
        r->no_memory = true;
        return 0;
    }
    r->text_slots[at] = ++r->out->n_texts;
    return r->out->n_texts - 1;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    return text ? text : "";
}

/* 0 for what is missing or can't be. */
static double number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 9e15 ? item->valuedouble : 0;
}

/* False for a time that is missing or can't be. */
static bool time_of(const cJSON *event, const char *key, double *us)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    *us = cJSON_IsNumber(item) ? item->valuedouble : -1;
    return *us >= 0 && *us < 9e15;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

/* "to opencl:0.1 pthread" -> TO, "opencl:0.1". */
static void describe_lane(struct tsl_tl_lane *lane)
{
    const char *name = lane->name;

    if (strcmp(name, "host") == 0) {
        lane->kind = TSL_LANE_HOST;
        return;
    }
    if (strncmp(name, "queue ", 6) == 0) {
        lane->kind = TSL_LANE_QUEUE;
        return;
    }
    lane->kind = TSL_LANE_MEMBER;
    if (strncmp(name, "to ", 3) == 0) {
        lane->kind = TSL_LANE_TO;
        name += 3;
    } else if (strncmp(name, "from ", 5) == 0) {
        lane->kind = TSL_LANE_FROM;
        name += 5;
    }
    lane->member = strndup(name, strcspn(name, " "));
}

/* The lane of that name, made if it is new: its index + 1; 0 without memory. */
static uint32_t find_lane(struct reader *r, const char *name)
{
    struct tsl_timeline *out = r->out;
    struct tsl_tl_lane *lanes;

    for (unsigned i = 0; i < out->n_lanes; i++)
        if (strcmp(out->lanes[i].name, name) == 0)
            return i + 1;
    lanes = realloc(out->lanes, (out->n_lanes + 1) * sizeof *lanes);
    if (!lanes)
        return 0;
    out->lanes = lanes;
    lanes[out->n_lanes] = (struct tsl_tl_lane){.name = strdup(name)};
    if (!lanes[out->n_lanes].name)
        return 0;
    describe_lane(&lanes[out->n_lanes]);
    return ++out->n_lanes;
}

/* Rows of processes that wrote to one file are told apart by their names alone. */
static bool read_metadata(struct reader *r, const cJSON *event)
{
    const char *name = text_of(cJSON_GetObjectItemCaseSensitive(event, "args"), "name");
    double tid = number_of(event, "tid");

    if (strcmp(text_of(event, "name"), "process_name") == 0 && !r->out->program)
        r->out->program = strdup(name);
    if (strcmp(text_of(event, "name"), "thread_name") != 0)
        return true;
    if (tid >= MAX_TIDS || !name[0])
        return false;
    r->lane_of[(unsigned)tid] = find_lane(r, name);
    r->no_memory |= !r->lane_of[(unsigned)tid];
    return true;
}

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static struct tsl_tl_span *add_span(struct reader *r)
{
    struct tsl_timeline *out = r->out;

    if (out->n_spans == r->span_capacity) {
        size_t capacity = r->span_capacity ? r->span_capacity * 2 : 1024;
        struct tsl_tl_span *grown = realloc(out->spans, capacity * sizeof *grown);

        if (!grown) {
            r->no_memory = true;
            return NULL;
        }
        out->spans = grown;
        r->span_capacity = capacity;
    }
    out->spans[out->n_spans] = (struct tsl_tl_span){.lane = 0};
    return &out->spans[out->n_spans++];
}

static enum tsl_rung rung_of(const char *word)
{
    static const char *const words[] = {
        [TSL_RUNG_NONE] = "",         [TSL_RUNG_WHOLE] = "whole", [TSL_RUNG_EXACT] = "exact",
        [TSL_RUNG_DOMAIN] = "domain", [TSL_RUNG_MERGE] = "merge", [TSL_RUNG_REDUCE] = "reduce"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum tsl_rung)i;
    return TSL_RUNG_OTHER;
}

static void read_args(struct reader *r, const cJSON *args, struct tsl_tl_span *span)
{
    span->command = (uint32_t)number_of(args, "command");
    span->from = intern(r, text_of(args, "from"));
    span->to = intern(r, text_of(args, "to"));
    span->bytes = (uint64_t)number_of(args, "bytes");
    span->items = (uint64_t)number_of(args, "items");
    span->of = (uint64_t)number_of(args, "of");
    span->share = (uint16_t)fmin(number_of(args, "share"), UINT16_MAX);
    span->shares = (uint16_t)fmin(number_of(args, "shares"), UINT16_MAX);
    span->rung = (uint8_t)rung_of(text_of(args, "rung"));
    span->variant = intern(r, text_of(args, "variant"));
    span->why = intern(r, text_of(args, "why"));
    span->expected_us = (uint32_t)fmin(ceil(number_of(args, "expected_ns") / 1e3), UINT32_MAX);
    span->again = number_of(args, "again") > 0;
    span->error = (int16_t)strtol(text_of(args, "error"), NULL, 10);
}

static bool read_verdict(struct reader *r, const cJSON *event, const cJSON *args)
{
    struct tsl_timeline *out = r->out;
    struct tsl_tl_verdict *grown = realloc(out->verdicts, (out->n_verdicts + 1) * sizeof *grown);

    if (!grown) {
        r->no_memory = true;
        return true;
    }
    out->verdicts = grown;
    grown[out->n_verdicts++] = (struct tsl_tl_verdict){.kernel = intern(r, text_of(event, "name")),
                                                       .why = intern(r, text_of(args, "why")),
                                                       .sentence = strdup(text_of(args, "sentence"))};
    return true;
}

/* False: none that this version knows. */
static bool kind_of(const char *category, enum tsl_span_kind *kind)
{
    static const char *const words[] = {[TSL_SPAN_KERNEL] = "kernel",
                                        [TSL_SPAN_TRANSFER] = "transfer",
                                        [TSL_SPAN_COMMAND] = "command",
                                        [TSL_SPAN_HOST] = "host"};
    unsigned n = sizeof words / sizeof words[0], i = 0;

    while (i < n && strcmp(category, words[i]) != 0)
        i++;
    *kind = (enum tsl_span_kind)i;
    return i < n;
}

static bool read_span(struct reader *r, const cJSON *event)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
    double tid = number_of(event, "tid"), start_us, us;
    const char *category = text_of(event, "cat");
    struct tsl_tl_span *span;
    enum tsl_span_kind kind;

    if (strcmp(category, "verdict") == 0)
        return read_verdict(r, event, args);
    if (!kind_of(category, &kind))
        return category[0] != '\0'; /* another version's, which is left out; all have one */
    if (tid >= MAX_TIDS || !r->lane_of[(unsigned)tid] || !time_of(event, "ts", &start_us) ||
        !time_of(event, "dur", &us) || start_us * 1e3 + us * 1e3 > 9e15)
        return false;
    span = add_span(r);
    if (!span)
        return true;
    span->lane = r->lane_of[(unsigned)tid] - 1;
    span->kind = (uint8_t)kind;
    span->name = intern(r, text_of(event, "name"));
    span->start_ns = (uint64_t)llround(start_us * 1e3);
    span->end_ns = span->start_ns + (uint64_t)llround(us * 1e3);
    read_args(r, args, span);
    return true;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* One event; false: damaged. What this reader doesn't know it leaves out. */
static bool read_event(struct reader *r, const char *line, size_t length)
{
    cJSON *event = cJSON_ParseWithLength(line, length);
    const char *phase = text_of(event, "ph");
    bool good = event != NULL;

    if (strcmp(phase, "M") == 0)
        good = read_metadata(r, event);
    else if (strcmp(phase, "X") == 0)
        good = read_span(r, event);
    cJSON_Delete(event);
    return good;
}

/* Arrows are of no use here, and half of the file: they are known without being parsed. */
static bool is_arrow(const char *line)
{
    return strncmp(line, "{\"ph\":\"s\"", 9) == 0 || strncmp(line, "{\"ph\":\"f\"", 9) == 0;
}

static void read_line(struct reader *r, char *line, size_t length)
{
    while (length > 0 && strchr("\n\r, ", line[length - 1]))
        line[--length] = '\0';
    if (length == 0 || is_arrow(line))
        return;
    if (strcmp(line, "]") == 0)
        r->out->unfinished = false;
    else
        r->out->n_damaged += !read_event(r, line, length);
}

/* Does it begin as a timeline of ours does: a bracket alone in its line, and the process's name? It may be a pipe, so
 * nothing is read twice. */
static bool read_head(struct reader *r, FILE *file, char **line, size_t *capacity)
{
    static const char head[] = "{\"ph\":\"M\"";
    ssize_t length;

    if (fgetc(file) != '[' || fgetc(file) != '\n')
        return false;
    length = getline(line, capacity, file);
    if (length < (ssize_t)sizeof head || strncmp(*line, head, sizeof head - 1) != 0)
        return false;
    read_line(r, *line, (size_t)length);
    return true;
}

static void read_lines(struct reader *r, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    r->out->unfinished = true;
    r->unknown = !read_head(r, file, &line, &capacity);
    while (!r->unknown && !r->no_memory && (length = getline(&line, &capacity, file)) > 0)
        read_line(r, line, (size_t)length);
    free(line);
}

/* NULL with errno set. A folder can be opened, too, and would read as an empty file. */
static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "re");
    struct stat about;

    if (file && fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(file);
        errno = EISDIR;
        return NULL;
    }
    return file;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct tsl_tl_span *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Sorts, and counts from the first start. */
static void settle(struct tsl_timeline *out)
{
    uint64_t first, last = 0;

    qsort(out->spans, out->n_spans, sizeof *out->spans, by_start);
    first = out->spans[0].start_ns;
    for (size_t i = 0; i < out->n_spans; i++) {
        out->spans[i].start_ns -= first;
        out->spans[i].end_ns -= first;
        if (out->spans[i].end_ns > last)
            last = out->spans[i].end_ns;
    }
    out->wall_ns = last;
}

static bool fail(struct tsl_timeline *out, char **why, const char *path, const char *text)
{
    tsl_timeline_finish(out);
    if (asprintf(why, "%s %s", path, text) < 0)
        *why = NULL;
    return false;
}

static bool read_file(struct reader *r, FILE *file)
{
    r->lane_of = calloc(MAX_TIDS, sizeof *r->lane_of);
    r->no_memory = !r->lane_of;
    intern(r, "");
    if (!r->no_memory)
        read_lines(r, file);
    free(r->lane_of);
    free(r->text_slots);
    for (unsigned i = 0; i < r->out->n_verdicts; i++)
        r->no_memory |= !r->out->verdicts[i].sentence;
    for (unsigned i = 0; i < r->out->n_lanes; i++)
        r->no_memory |= r->out->lanes[i].kind > TSL_LANE_QUEUE && !r->out->lanes[i].member;
    if (!r->out->program)
        r->out->program = strdup("");
    return !r->no_memory && r->out->program;
}

bool tsl_timeline_read(struct tsl_timeline *timeline, const char *path, char **why)
{
    struct reader reader = {.out = timeline};
    FILE *file = open_file(path);
    bool read;

    *timeline = (struct tsl_timeline){.lanes = NULL};
    if (!file) {
        if (asprintf(why, "%s can't be read: %s", path, strerror(errno)) < 0)
            *why = NULL;
        return false;
    }
    read = read_file(&reader, file);
    fclose(file);
    if (reader.unknown)
        return fail(timeline, why, path, "is no timeline of Tesela's: `tesela run --trace FILE -- PROGRAM' writes one");
    if (!read)
        return fail(timeline, why, path, "is too large for this machine's memory");
    if (timeline->n_spans == 0 && timeline->n_damaged)
        return fail(timeline, why, path, "is damaged: no event in it can be read");
    if (timeline->n_spans == 0)
        return fail(timeline, why, path, "holds no work: the program enqueued nothing while it was written");
    settle(timeline);
    return true;
}

void tsl_timeline_finish(struct tsl_timeline *timeline)
{
    for (unsigned i = 0; i < timeline->n_lanes; i++) {
        free(timeline->lanes[i].name);
        free(timeline->lanes[i].member);
    }
    for (unsigned i = 0; i < timeline->n_texts; i++)
        free(timeline->texts[i]);
    for (unsigned i = 0; i < timeline->n_verdicts; i++)
        free(timeline->verdicts[i].sentence);
    free(timeline->lanes);
    free(timeline->spans);
    free(timeline->texts);
    free(timeline->verdicts);
    free(timeline->program);
    *timeline = (struct tsl_timeline){.lanes = NULL};
}

static void warn(const struct tsl_timeline *timeline, const char *command, const char *path)
{
    if (timeline->n_damaged)
        fprintf(stderr, "%s: %u line%s of %s can't be read and %s left out\n", command, timeline->n_damaged,
                timeline->n_damaged > 1 ? "s" : "", path, timeline->n_damaged > 1 ? "are" : "is");
    else if (timeline->unfinished)
        fprintf(stderr, "%s: %s has no end: the program was killed, or still runs\n", command, path);
}

bool tsl_timeline_open(struct tsl_timeline *timeline, const char *path, const char *command)
{
    char *why = NULL;

    if (tsl_timeline_read(timeline, path, &why)) {
        warn(timeline, command, path);
        return true;
    }
    fprintf(stderr, "%s: %s\n", command, why ? why : "out of memory");
    free(why);
    return false;
}

/* What the words mean that the library says without a sentence. */
static const char *meaning(const char *word)
{
    static const struct {
        const char *word, *means;
    } meanings[] = {
        {"one-member", "one member alone could take the launch"},
        {"setting", "TESELA_SPLIT or TESELA_POLICY says that nothing is cut"},
        {"small", "the launches are too small to gain by a cut"},
        {"no-windows", "no member can run a part of it: the kernel asks for group ids or sizes, the driver can't, or "
                       "nothing is known of the kernel"},
        {"paused", "cuts had cost more than they gained, so nothing was cut for a while"},
        {"unknown", "nothing was known of the kernel yet, and its members differ, were busy, or the launch is small"},
        {"no-parts", "no second member was free that is known well enough, or its part would have been too small"},
        {"unpaid", "a cut was not expected to end earlier, moves included"},
        {"few-groups", "the launch has too few work-groups"},
    };

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(word, meanings[i].word) == 0)
            return meanings[i].means;
    return word;
}

const char *tsl_timeline_why(const struct tsl_timeline *timeline, uint32_t kernel, uint32_t why)
{
    for (unsigned i = 0; i < timeline->n_verdicts; i++)
        if (timeline->verdicts[i].kernel == kernel && timeline->verdicts[i].why == why)
            return timeline->verdicts[i].sentence;
    return meaning(tsl_timeline_text(timeline, why));
}
