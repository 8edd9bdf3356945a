/* The timeline: what is put into it comes out as JSON that viewers read, whatever happens to the program. */
#include "trace/trace.h"

#include "base/log.h"
#include "trace/flow.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/tesela-trace-test-XXXXXX";

/* ---- Reading a timeline ---- */

static char *read_text(const char *name)
{
    FILE *file = fopen(name, "r");
    struct stat status;
    char *text;

    assert_non_null(file);
    assert_return_code(fstat(fileno(file), &status), 0);
    text = calloc(1, (size_t)status.st_size + 3);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)status.st_size, file), status.st_size);
    fclose(file);
    return text;
}

static cJSON *parse_text(char *text)
{
    cJSON *events = cJSON_Parse(text);

    if (!cJSON_IsArray(events))
        fail_msg("not a JSON array: %.300s", text);
    free(text);
    return events;
}

/* A file that was closed as it should be. */
static cJSON *read_closed(const char *name)
{
    char *text = read_text(name);

    assert_string_equal(text + strlen(text) - 3, "\n]\n");
    return parse_text(text);
}

static const char *text_of(const cJSON *event, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, key));

    return text ? text : "";
}

static double number_of(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* The n-th event (from 0) of a phase with a name (NULL: any), or NULL. */
static const cJSON *find(const cJSON *events, const char *phase, const char *name, unsigned n)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events)
    {
        if (strcmp(text_of(event, "ph"), phase) == 0 && (!name || strcmp(text_of(event, "name"), name) == 0) &&
            n-- == 0)
            return event;
    }
    return NULL;
}

static unsigned count(const cJSON *events, const char *phase, const char *name)
{
    unsigned n = 0;

    while (find(events, phase, name, n))
        n++;
    return n;
}

/* The name of the lane in which an event stands. */
static const char *lane_of(const cJSON *events, const cJSON *event)
{
    const cJSON *names;

    for (unsigned n = 0; (names = find(events, "M", "thread_name", n)); n++)
        if (number_of(names, "tid") == number_of(event, "tid"))
            return text_of(cJSON_GetObjectItem(names, "args"), "name");
    fail_msg("an event stands in a lane without a name");
    return NULL;
}

static void put(uint32_t lane, const char *name, uint64_t start_ns, uint64_t end_ns, uint64_t id)
{
    tsl_trace_span(&(struct tsl_trace_span){.lane = lane,
                                            .category = TSL_TRACE_CAT_KERNEL,
                                            .name = name,
                                            .start_ns = start_ns,
                                            .end_ns = end_ns,
                                            .id = id});
}

/* ---- Tests ---- */

static int open_trace(void **state)
{
    (void)state;
    assert_true(tsl_trace_open_file(path));
    return 0;
}

static int close_trace(void **state)
{
    (void)state;
    tsl_trace_close();
    unlink(path);
    return 0;
}

/* Without TESELA_TRACE nothing is on, no lane is made, and calls do nothing. */
static void off(void **state)
{
    (void)state;
    assert_int_equal(atomic_load(&tsl_trace_state), TSL_TRACE_UNKNOWN);
    assert_false(tsl_trace_on());
    assert_int_equal(atomic_load(&tsl_trace_state), TSL_TRACE_OFF);
    assert_int_equal(tsl_trace_lane("host", TSL_TRACE_HOST), 0);
    put(0, "nothing", 1, 2, 1);
    put(1, "nothing", 1, 2, 1);
    tsl_trace_flow(1, 2);
}

/* The form that tests and `tesela report` rely on. */
static void span_form(void **state)
{
    uint32_t lane = tsl_trace_lane("to opencl:0.1", TSL_TRACE_TRANSFERS);
    const cJSON *span, *args;
    cJSON *events;

    (void)state;
    tsl_trace_span(
        &(struct tsl_trace_span){.lane = lane,
                                 .category = TSL_TRACE_CAT_TRANSFER,
                                 .name = "write",
                                 .start_ns = 1234567,
                                 .end_ns = 1234567 + 2001,
                                 .args = tsl_trace_args(tsl_trace_u64("bytes", UINT64_C(1) << 40),
                                                        tsl_trace_text("from", "host"), tsl_trace_text("to", NULL))});
    tsl_trace_close();
    events = read_closed(path);
    span = find(events, "X", "write", 0);
    assert_non_null(span);
    assert_string_equal(text_of(span, "cat"), "transfer");
    assert_float_equal(number_of(span, "ts"), 1234.567, 1e-9);
    assert_float_equal(number_of(span, "dur"), 2.001, 1e-9);
    assert_int_equal(number_of(span, "pid"), getpid());
    assert_string_equal(lane_of(events, span), "to opencl:0.1");
    args = cJSON_GetObjectItem(span, "args");
    assert_float_equal(number_of(args, "bytes"), (double)(UINT64_C(1) << 40), 0);
    assert_string_equal(text_of(args, "from"), "host");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(args, "to")));
    assert_non_null(find(events, "M", "process_name", 0));
    cJSON_Delete(events);
}

/* Names come from programs and vendors: anything may be in them, and the file stays valid. */
static void strings_are_escaped(void **state)
{
    static const char *const names[][2] = {
        {"quote\" back\\slash", "quote\" back\\slash"},
        {"tab\t line\n bell\a", "tab\t line\n bell\a"},
        {"mosa\xc3\xadque \xe2\x82\xac \xf0\x9f\x98\x80", "mosa\xc3\xadque \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"latin \xe9t\xe9", "latin \xef\xbf\xbdt\xef\xbf\xbd"},
        {"surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd"},
        {"\x7f", "\x7f"},
        {"", ""},
    };
    uint32_t lane = tsl_trace_lane("lane \"1\"\n", TSL_TRACE_HOST);
    cJSON *events;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(lane, names[i][0], i * 10, i * 10 + 5, 0);
    tsl_trace_close();
    events = read_closed(path);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(text_of(find(events, "X", NULL, i), "name"), names[i][1]);
    assert_string_equal(lane_of(events, find(events, "X", NULL, 0)), "lane \"1\"\n");
    cJSON_Delete(events);
}

/* A long kernel name is not cut, even one longer than the windows in which the file is written. */
static void long_names(void **state)
{
    uint32_t lane = tsl_trace_lane("host", TSL_TRACE_HOST);
    size_t size = 600000;
    char *name = malloc(size);
    cJSON *events;

    (void)state;
    assert_non_null(name);
    memset(name, 'k', size - 1);
    name[size - 1] = '\0';
    put(lane, name, 1, 2, 0);
    tsl_trace_close();
    events = read_closed(path);
    assert_string_equal(text_of(find(events, "X", NULL, 0), "name"), name);
    cJSON_Delete(events);
    free(name);
}

/* Many spans: the file grows over several windows, and none is lost or broken at a seam. */
static void many_spans(void **state)
{
    uint32_t lane = tsl_trace_lane("host", TSL_TRACE_HOST);
    const cJSON *event;
    unsigned n = 0;
    cJSON *events;

    (void)state;
    for (unsigned i = 0; i < 20000; i++)
        put(lane, "k", i * 10, i * 10 + 10, 0);
    tsl_trace_close();
    events = read_closed(path);
    cJSON_ArrayForEach(event, events)
    {
        if (strcmp(text_of(event, "ph"), "X") == 0)
            assert_float_equal(number_of(event, "ts"), n++ / 100.0, 1e-6);
    }
    assert_int_equal(n, 20000);
    cJSON_Delete(events);
}

/* Lanes are known by name; each is announced once. */
static void lanes(void **state)
{
    uint32_t first = tsl_trace_lane("cpu", TSL_TRACE_KERNELS), other = tsl_trace_lane("cuda:0", TSL_TRACE_KERNELS);
    cJSON *events;

    (void)state;
    assert_int_not_equal(first, 0);
    assert_int_not_equal(other, first);
    assert_int_equal(tsl_trace_lane("cpu", TSL_TRACE_KERNELS), first);
    put(first, "a", 1, 2, 0);
    put(other, "b", 1, 2, 0);
    put(other + 100, "in no lane", 1, 2, 0);
    tsl_trace_close();
    events = read_closed(path);
    assert_int_equal(count(events, "M", "thread_name"), 2);
    assert_string_equal(lane_of(events, find(events, "X", "a", 0)), "cpu");
    assert_string_equal(lane_of(events, find(events, "X", "b", 0)), "cuda:0");
    assert_null(find(events, "X", "in no lane", 0));
    cJSON_Delete(events);
}

/* Spans that overlap in one lane go to rows of that name; spans that touch share a row. */
static void overlap_makes_rows(void **state)
{
    uint32_t lane = tsl_trace_lane("cpu", TSL_TRACE_KERNELS);
    const cJSON *a, *b, *c, *d;
    cJSON *events;

    (void)state;
    put(lane, "a", 100, 200, 0);
    put(lane, "b", 150, 250, 0);
    put(lane, "c", 200, 300, 0);
    put(lane, "d", 400, 300, 0); /* ends before it starts: has no length */
    tsl_trace_close();
    events = read_closed(path);
    a = find(events, "X", "a", 0);
    b = find(events, "X", "b", 0);
    c = find(events, "X", "c", 0);
    d = find(events, "X", "d", 0);
    assert_true(number_of(a, "tid") != number_of(b, "tid"));
    assert_true(number_of(a, "tid") == number_of(c, "tid"));
    assert_true(number_of(d, "dur") == 0);
    assert_string_equal(lane_of(events, b), "cpu");
    cJSON_Delete(events);
}

/* ---- Arrows ---- */

static void check_arrow(const cJSON *events, unsigned n, const char *from_name, const char *to_name)
{
    const cJSON *leave = find(events, "s", "dependence", n), *arrive = find(events, "f", "dependence", n);
    const cJSON *from = find(events, "X", from_name, 0), *to = find(events, "X", to_name, 0);

    assert_non_null(leave);
    assert_non_null(arrive);
    assert_true(number_of(leave, "id") == number_of(arrive, "id"));
    assert_string_equal(text_of(arrive, "bp"), "e");
    assert_true(number_of(leave, "tid") == number_of(from, "tid"));
    assert_true(number_of(arrive, "tid") == number_of(to, "tid"));
    assert_true(number_of(leave, "ts") <= number_of(arrive, "ts"));
    assert_true(number_of(leave, "ts") >= number_of(from, "ts"));
    assert_true(number_of(leave, "ts") <= number_of(from, "ts") + number_of(from, "dur"));
    assert_true(number_of(arrive, "ts") >= number_of(to, "ts"));
}

/* An arrow is drawn once both of its spans are, whichever of the three comes last. */
static void arrows_in_any_order(void **state)
{
    uint32_t lane = tsl_trace_lane("cpu", TSL_TRACE_KERNELS), other = tsl_trace_lane("gpu", TSL_TRACE_KERNELS);
    uint64_t a = tsl_trace_id(), b = tsl_trace_id(), c = tsl_trace_id(), never = tsl_trace_id();
    cJSON *events;

    (void)state;
    tsl_trace_flow(a, b);
    tsl_trace_flow(a, never);
    tsl_trace_flow(0, b);
    tsl_trace_flow(a, 0);
    put(lane, "a", 100, 200, a);
    put(other, "b", 200, 300, b);
    put(lane, "c", 300, 400, c);
    tsl_trace_flow(b, c);
    tsl_trace_close();
    events = read_closed(path);
    assert_int_equal(count(events, "s", NULL), 2);
    assert_int_equal(count(events, "f", NULL), 2);
    check_arrow(events, 0, "a", "b");
    check_arrow(events, 1, "b", "c");
    cJSON_Delete(events);
}

/* The later span may be written first, and clocks of two devices may disagree by a little. */
static void arrows_against_time(void **state)
{
    uint32_t lane = tsl_trace_lane("cpu", TSL_TRACE_KERNELS), other = tsl_trace_lane("gpu", TSL_TRACE_KERNELS);
    uint64_t a = tsl_trace_id(), b = tsl_trace_id(), c = tsl_trace_id();
    cJSON *events;

    (void)state;
    tsl_trace_flow(a, b);
    put(other, "b", 190, 300, b);
    put(lane, "a", 100, 200, a);
    put(lane, "c", 210, 210, c);
    tsl_trace_flow(c, b);
    tsl_trace_close();
    events = read_closed(path);
    assert_int_equal(count(events, "s", NULL), 2);
    check_arrow(events, 0, "a", "b");
    check_arrow(events, 1, "c", "b");
    cJSON_Delete(events);
}

/* What is remembered for arrows has a bound: old ids are forgotten, with their arrows. */
static void old_ids_are_forgotten(void **state)
{
    uint32_t lane = tsl_trace_lane("cpu", TSL_TRACE_KERNELS);
    uint64_t old = tsl_trace_id(), young = old;
    cJSON *events;

    (void)state;
    put(lane, "old", 100, 200, old);
    for (unsigned i = 0; i < 3; i++)
        tsl_trace_flow(old, old + TSL_FLOW_SPANS / 2);
    while (young < old + TSL_FLOW_SPANS)
        young = tsl_trace_id();
    put(lane, "young", 300, 400, young);
    tsl_trace_flow(old, young);
    put(lane, "middle", 500, 600, old + TSL_FLOW_SPANS / 2);
    tsl_trace_close();
    events = read_closed(path);
    assert_int_equal(count(events, "X", NULL), 3);
    assert_int_equal(count(events, "s", NULL), 0);
    cJSON_Delete(events);
}

/* ---- Ends of processes ---- */

/* Runs in a child process; returns its wait status. */
static int in_child(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_return_code(child, 0);
    if (child == 0) {
        act();
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void trace_from_the_environment(void)
{
    setenv("TESELA_TRACE", path, 1);
    if (tsl_trace_on())
        put(tsl_trace_lane("cpu", TSL_TRACE_KERNELS), "last words", 100, 200, 0);
}

static void write_and_exit(void)
{
    trace_from_the_environment();
    exit(0);
}

static void write_and_die(void)
{
    trace_from_the_environment();
    kill(getpid(), SIGKILL);
}

/* The setting opens the file at the first question, and the end of the process closes it. */
static void exit_closes(void **state)
{
    cJSON *events;

    (void)state;
    assert_int_equal(in_child(write_and_exit), 0);
    events = read_closed(path);
    assert_int_equal(count(events, "X", "last words"), 1);
    cJSON_Delete(events);
    unlink(path);
}

/* A killed program leaves all that it did; only the closing bracket lacks, which viewers don't ask for. */
static void killed_program_leaves_its_timeline(void **state)
{
    cJSON *events;
    char *text;

    (void)state;
    assert_int_equal(WTERMSIG(in_child(write_and_die)), SIGKILL);
    text = read_text(path);
    text[strlen(text)] = ']';
    events = parse_text(text);
    assert_int_equal(count(events, "X", "last words"), 1);
    cJSON_Delete(events);
    unlink(path);
}

static void write_in_child(void)
{
    if (tsl_trace_on())
        put(tsl_trace_lane("cpu", TSL_TRACE_KERNELS), "child", 100, 200, 0);
    exit(0);
}

/* A forked child leaves its parent's file alone. */
static void child_writes_nothing(void **state)
{
    uint32_t lane = tsl_trace_lane("cpu", TSL_TRACE_KERNELS);
    cJSON *events;

    (void)state;
    put(lane, "before", 100, 200, 0);
    assert_int_equal(in_child(write_in_child), 0);
    put(lane, "after", 300, 400, 0);
    tsl_trace_close();
    events = read_closed(path);
    assert_int_equal(count(events, "X", NULL), 2);
    cJSON_Delete(events);
}

/* With %p in its name each process has a file of its own. */
static void child_writes_its_own_file(void **state)
{
    char pattern[100], child_file[100];
    cJSON *events;
    pid_t child;
    int status;

    (void)state;
    snprintf(pattern, sizeof pattern, "%s-%%p", path);
    assert_true(tsl_trace_open_file(pattern));
    tsl_trace_lane("cpu", TSL_TRACE_KERNELS);
    child = fork();
    assert_return_code(child, 0);
    if (child == 0)
        write_in_child();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    tsl_trace_close();

    snprintf(child_file, sizeof child_file, "%s-%d", path, child);
    events = read_closed(child_file);
    assert_string_equal(lane_of(events, find(events, "X", "child", 0)), "cpu");
    assert_int_equal(number_of(find(events, "X", "child", 0), "pid"), child);
    cJSON_Delete(events);
    unlink(child_file);
    snprintf(child_file, sizeof child_file, "%s-%d", path, getpid());
    events = read_closed(child_file);
    assert_int_equal(count(events, "X", NULL), 0);
    cJSON_Delete(events);
    unlink(child_file);
}

/* ---- Files that can't be written ---- */

static void no_such_folder(void **state)
{
    (void)state;
    tsl_log_set(0);
    assert_false(tsl_trace_open_file("/nonexistent/folder/trace.json"));
    assert_false(tsl_trace_on());
    assert_int_equal(tsl_trace_lane("cpu", TSL_TRACE_KERNELS), 0);
    tsl_log_set(tsl_log_default());
}

/* A full disk ends the timeline, never the program. */
static void full_disk(void **state)
{
    (void)state;
    tsl_log_set(0);
    tsl_trace_open_file("/dev/full");
    if (tsl_trace_on())
        put(tsl_trace_lane("cpu", TSL_TRACE_KERNELS), "a", 100, 200, 1);
    assert_false(tsl_trace_on());
    tsl_log_set(tsl_log_default());
}

/* ---- Threads ---- */

#define N_THREADS 4
#define N_SPANS   2000

static void *write_spans(void *argument)
{
    uint32_t lane = tsl_trace_lane(argument, TSL_TRACE_KERNELS);
    uint64_t last = 0;

    for (unsigned i = 0; i < N_SPANS; i++) {
        uint64_t id = tsl_trace_id();

        tsl_trace_flow(last, id);
        put(lane, "k", i * 100, i * 100 + 50, id);
        last = id;
    }
    return NULL;
}

/* Several threads write at once: everything is there, every arrow too. */
static void threads(void **state)
{
    static char names[N_THREADS][8];
    pthread_t running[N_THREADS];
    const cJSON *event;
    unsigned n_spans = 0, n_arrows = 0;
    cJSON *events;

    (void)state;
    for (int i = 0; i < N_THREADS; i++) {
        snprintf(names[i], sizeof names[i], "cpu:%d", i);
        assert_int_equal(pthread_create(&running[i], NULL, write_spans, names[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(running[i], NULL);
    tsl_trace_close();
    events = read_closed(path);
    cJSON_ArrayForEach(event, events)
    {
        n_spans += strcmp(text_of(event, "ph"), "X") == 0;
        n_arrows += strcmp(text_of(event, "ph"), "f") == 0;
    }
    assert_int_equal(n_spans, N_THREADS * N_SPANS);
    assert_int_equal(n_arrows, N_THREADS * (N_SPANS - 1));
    cJSON_Delete(events);
}

#define traced(test) cmocka_unit_test_setup_teardown(test, open_trace, close_trace)

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* These come before anything reads the settings in this process: their children read them. */
        cmocka_unit_test(exit_closes),
        cmocka_unit_test(killed_program_leaves_its_timeline),
        cmocka_unit_test(off),
        traced(span_form),
        traced(strings_are_escaped),
        traced(long_names),
        traced(many_spans),
        traced(lanes),
        traced(overlap_makes_rows),
        traced(arrows_in_any_order),
        traced(arrows_against_time),
        traced(old_ids_are_forgotten),
        traced(child_writes_nothing),
        cmocka_unit_test(no_such_folder),
        cmocka_unit_test(full_disk),
        traced(threads),
        cmocka_unit_test(child_writes_its_own_file),
    };

    close(mkstemp(path));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
