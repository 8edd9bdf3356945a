/* Reads this process's timeline while it is being written: one event per line. */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { patience_ms = 10000, settle_ms = 3 };

/* The largest difference of two devices' clocks, in microseconds. */
static const double slack = 1000;

static char path[512];

static void remove_file(void)
{
    if (!getenv("PROOF_KEEP"))
        unlink(path);
}

void proof_trace_start(void)
{
    const char *build = getenv("TESELA_BUILD"), *wanted = getenv("PROOF_TRACE");

    if (wanted && !strcmp(wanted, "off"))
        return;
    snprintf(path, sizeof(path), "%s/proof-%ld.json", build ? build : "/tmp", (long)getpid());
    setenv("TESELA_TRACE", path, 1);
    atexit(remove_file);
}

static FILE *open_file(void)
{
    return fopen(path, "r");
}

/* The end of the written part: newlines follow to the end of the file. */
static long end_of(FILE *file)
{
    long end;
    int c = '\n';

    fseek(file, 0, SEEK_END);
    end = ftell(file);
    while (end > 0 && c == '\n') {
        fseek(file, --end, SEEK_SET);
        c = fgetc(file);
    }
    return end > 0 ? end + 1 : 0;
}

long proof_trace_end(void)
{
    FILE *file = open_file();
    long end = file ? end_of(file) : 0;

    if (file)
        fclose(file);
    return end;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------ */

/* The text behind "key":, or NULL. Quotes within strings are escaped, so only keys match. */
static const char *value_of(const char *line, const char *key)
{
    char pattern[32];
    const char *at;

    snprintf(pattern, sizeof(pattern), "\"%s\":", key);
    at = strstr(line, pattern);
    return at ? at + strlen(pattern) : NULL;
}

static double number_of(const char *line, const char *key)
{
    const char *value = value_of(line, key);

    return value ? strtod(value, NULL) : 0;
}

static uint64_t integer_of(const char *line, const char *key)
{
    const char *value = value_of(line, key);

    return value ? strtoull(value, NULL, 10) : 0;
}

static void text_of(char *text, size_t size, const char *line, const char *key)
{
    const char *value = value_of(line, key);
    size_t n = value && *value == '"' ? strcspn(value + 1, "\"") : 0;

    snprintf(text, size, "%.*s", (int)n, n ? value + 1 : "");
}

static struct proof_span span_of(const char *line)
{
    struct proof_span s = {
        .command = integer_of(line, "command"),
        .bytes = integer_of(line, "bytes"),
        .buffer = integer_of(line, "buffer"),
        .offset = integer_of(line, "offset"),
        .start = number_of(line, "ts"),
    };

    s.end = s.start + number_of(line, "dur");
    text_of(s.name, sizeof(s.name), line, "name");
    text_of(s.category, sizeof(s.category), line, "cat");
    text_of(s.member, sizeof(s.member), line, "member");
    text_of(s.from, sizeof(s.from), line, "from");
    text_of(s.to, sizeof(s.to), line, "to");
    return s;
}

static void add(struct proof_trace *trace, const struct proof_span *span)
{
    if (trace->n == trace->capacity) {
        trace->capacity = 2 * trace->capacity + 64;
        trace->spans = realloc(trace->spans, trace->capacity * sizeof(*span));
        proof_must(trace->spans != NULL);
    }
    trace->spans[trace->n++] = *span;
    trace->n_commands += !strcmp(span->category, "command");
}

/* The length of a complete line, without its newline; else 0. The unwritten part is newlines, so a newline may follow
 * half a line, or come between an event and the comma that the next one adds. */
static size_t whole(const char *line)
{
    size_t n = strcspn(line, "\n");
    int open = 0;

    for (size_t i = 0; i < n; i++)
        open += (line[i] == '{') - (line[i] == '}');
    return open ? 0 : n;
}

/* Reads new lines; true if there were any. */
static bool read_on(struct proof_trace *trace)
{
    static char line[4096];
    size_t n_before = trace->n, n;
    FILE *file = open_file();

    if (!file)
        return false;
    fseek(file, trace->position, SEEK_SET);
    while (fgets(line, sizeof(line), file) && (n = whole(line)) > 0) {
        trace->position = ftell(file) - 1;
        if (line[n - 1] == '}')
            fseek(file, trace->position, SEEK_SET);
        else
            trace->position++;
        if (!strstr(line, "\"ph\":\"X\"") || !value_of(line, "command"))
            continue;
        struct proof_span span = span_of(line);
        add(trace, &span);
    }
    fclose(file);
    return trace->n > n_before;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A thread writes a span when it learns that its work has finished, so the last spans may be late. */
const struct proof_trace *proof_trace(struct proof *p)
{
    read_on(&p->trace);
    for (int ms = 0; p->trace.n_commands < p->n_commands; ms += settle_ms) {
        proof_must(ms < patience_ms);
        pause_ms(settle_ms);
        read_on(&p->trace);
    }
    proof_must(p->trace.n_commands == p->n_commands); /* else the test forgot to count one */
    do
        pause_ms(settle_ms);
    while (read_on(&p->trace));
    return &p->trace;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

const struct proof_span *proof_find(const struct proof_trace *trace, const char *category, uint64_t command,
                                    const char *name)
{
    for (size_t i = 0; i < trace->n; i++) {
        const struct proof_span *s = &trace->spans[i];

        if (s->command == command && !strcmp(s->category, category) && (!name || !strcmp(s->name, name)))
            return s;
    }
    return NULL;
}

const struct proof_span *proof_work(const struct proof_trace *trace, uint64_t command)
{
    const struct proof_span *s = proof_find(trace, "kernel", command, NULL);

    if (!s)
        s = proof_find(trace, "host", command, "native kernel");
    proof_must(s != NULL);
    return s;
}

static bool is_host(const char *place)
{
    return !strcmp(place, "host");
}

static bool is_move(const struct proof_span *s, bool to_member)
{
    return !strcmp(s->category, "transfer") && !is_host(to_member ? s->to : s->from);
}

const struct proof_span *proof_move(const struct proof_trace *trace, uint64_t command, bool to_member)
{
    const struct proof_span *found = NULL;

    for (size_t i = 0; i < trace->n && !found; i++)
        if (trace->spans[i].command == command && is_move(&trace->spans[i], to_member))
            found = &trace->spans[i];
    proof_must(found != NULL);
    return found;
}

struct proof_moved proof_moved(const struct proof_trace *trace, uint64_t first, uint64_t last)
{
    struct proof_moved moved = {0};

    for (size_t i = 0; i < trace->n; i++) {
        const struct proof_span *s = &trace->spans[i];

        if (s->command < first || s->command > last)
            continue;
        moved.to_members += is_move(s, true) ? s->bytes : 0;
        moved.from_members += is_move(s, false) ? s->bytes : 0;
    }
    return moved;
}

bool proof_ordered(const struct proof_span *a, const struct proof_span *b)
{
    if (b->start >= a->end - slack)
        return true;
    print_error("%s of command %lu ended at %.0f, but %s of command %lu began at %.0f already\n", a->name,
                (unsigned long)a->command, a->end, b->name, (unsigned long)b->command, b->start);
    return false;
}

bool proof_overlap(const struct proof_span *a, const struct proof_span *b)
{
    return a->start < b->end && b->start < a->end;
}
