#include "sweep/sweep.h"

#include "measure.h"
#include "sweep/platform.h"

#include <argp.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <unistd.h>

#define BATCH 24 /* kernels of one program */

struct options {
    const struct sweep_table *table;
    char *wanted[SWEEP_PLATFORMS];
    unsigned n_wanted, rounds;
    size_t items;
    const char *json;
    regex_t only;
    bool filters, wide, list;
};

/* What a row came to on each platform. */
struct result {
    const struct sweep_row *row;
    double us[SWEEP_PLATFORMS]; /* 0: it couldn't be built or run there */
    double ratio;               /* 0: there is nothing to compare with */
    bool wrong;
};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

char *sweep_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        must(CL_OUT_OF_HOST_MEMORY, "a row's text");
    return text;
}

struct sweep_row *sweep_add(struct sweep_rows *rows, char *name, char *source)
{
    if (rows->n == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 256;
        rows->list = realloc(rows->list, rows->room * sizeof(*rows->list));
        if (!rows->list)
            must(CL_OUT_OF_HOST_MEMORY, "the rows");
    }
    struct sweep_row *row = &rows->list[rows->n++];
    *row = (struct sweep_row){.name = name, .source = source, .local = 64, .written = 4};
    return row;
}

static void finish_rows(struct sweep_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        free(rows->list[i].name);
        free(rows->list[i].source);
    }
    free(rows->list);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool close_to(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-3 * fmax(fmax(fabs(a), fabs(b)), 1);
}

static bool is_equal(enum sweep_check check, const unsigned char *a, const unsigned char *b, size_t size)
{
    if (check == SWEEP_EQUAL)
        return !memcmp(a, b, size);
    size_t width = check == SWEEP_FLOATS ? sizeof(float) : sizeof(double);
    for (size_t at = 0; at + width <= size; at += width) {
        float f[2];
        double d[2];
        memcpy(&f[0], a + at, sizeof(f[0]));
        memcpy(&f[1], b + at, sizeof(f[1]));
        memcpy(&d[0], a + at, width == sizeof(double) ? width : 0);
        memcpy(&d[1], b + at, width == sizeof(double) ? width : 0);
        if (width == sizeof(float) ? !close_to((double)f[0], (double)f[1]) : !close_to(d[0], d[1]))
            return false;
    }
    return true;
}

/* The results of a row, by the host's answer or by each other. */
static void check(struct result *result, const struct sweep_platform *platforms, unsigned n, size_t items)
{
    const struct sweep_row *row = result->row;
    const unsigned char *right = NULL;
    unsigned char *answer = NULL;
    size_t size = sweep_result_size(row, items);
    if (row->answer) {
        right = answer = calloc(1, size);
        if (!answer)
            must(CL_OUT_OF_HOST_MEMORY, "an answer");
        row->answer(row, platforms[0].input, answer, items);
    }
    for (unsigned p = 0; p < n; p++) {
        if (!result->us[p])
            continue;
        if (right && !is_equal(row->check, right, platforms[p].result, size)) {
            fprintf(stderr, "%s: another result on %s\n", row->name, platforms[p].name);
            result->wrong |= row->answer == NULL || p == 0;
        }
        right = right ? right : platforms[p].result;
    }
    free(answer);
}

static void rate(struct result *result, unsigned n)
{
    double others = 0;
    for (unsigned p = 1; p < n; p++)
        if (result->us[p] && (!others || result->us[p] < others))
            others = result->us[p];
    result->ratio = others && result->us[0] ? result->us[0] / others : 0;
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const struct result *)a)->ratio, y = ((const struct result *)b)->ratio;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* Rounds alternate between the platforms; the least time counts, as all else is noise of the machine. */
static void time_row(struct result *result, struct sweep_platform *platforms, const struct options *o, unsigned k)
{
    for (unsigned round = 0; round <= o->rounds; round++)
        for (unsigned p = 0; p < o->n_wanted; p++) {
            double us = sweep_run(&platforms[p], result->row, k, o->items);
            if (round == 1 || (round && us < result->us[p]))
                result->us[p] = us;
        }
    for (unsigned p = 0; p < o->n_wanted; p++)
        if (result->us[p] && !sweep_fetch(&platforms[p], result->row, o->items))
            result->us[p] = 0;
    check(result, platforms, o->n_wanted, o->items);
    rate(result, o->n_wanted);
}

static void run_batch(struct result *results, size_t n, struct sweep_platform *platforms, const struct options *o)
{
    const struct sweep_row *rows[BATCH];
    for (size_t i = 0; i < n; i++)
        rows[i] = results[i].row;
    for (unsigned p = 0; p < o->n_wanted; p++)
        sweep_build(&platforms[p], o->table->prelude, rows, (unsigned)n);
    for (unsigned i = 0; i < n; i++)
        time_row(&results[i], platforms, o, i);
    for (unsigned p = 0; p < o->n_wanted; p++)
        sweep_drop(&platforms[p]);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void print_head(const struct sweep_platform *platforms, unsigned n)
{
    printf("%8s", "ratio");
    for (unsigned p = 0; p < n; p++)
        printf("  %12.12s", platforms[p].name);
    printf("  microseconds of the least round\n");
}

static void print(const struct result *results, size_t n, const struct sweep_platform *platforms, unsigned n_platforms)
{
    double sum = 0;
    size_t n_rated = 0, n_slow = 0, n_wrong = 0, n_missing = 0;
    print_head(platforms, n_platforms);
    for (size_t i = 0; i < n; i++) {
        printf("%8.2f", results[i].ratio);
        for (unsigned p = 0; p < n_platforms; p++)
            printf("  %12.1f", results[i].us[p]);
        printf("  %s%s\n", results[i].row->name, results[i].wrong ? "  WRONG" : "");
        n_wrong += results[i].wrong;
        n_missing += results[i].us[0] <= 0;
        if (results[i].ratio <= 0)
            continue;
        sum += log(results[i].ratio);
        n_rated++;
        n_slow += results[i].ratio > 1.1;
    }
    printf("%zu rows", n);
    if (n_rated)
        printf(", of which %zu can be compared: geometric mean %.3f, %zu over 1.10", n_rated,
               exp(sum / (double)n_rated), n_slow);
    printf("; %zu wrong", n_wrong);
    if (n_missing)
        printf("; %zu not run on %s", n_missing, platforms[0].name);
    printf("\n");
}

static void write_json(const char *path, const struct result *results, size_t n, const struct sweep_platform *platforms,
                       unsigned n_platforms)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        exit(1);
    }
    fprintf(out, "[\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(out, " {\"row\": \"%s\", \"ratio\": %.4f, \"wrong\": %s", results[i].row->name, results[i].ratio,
                results[i].wrong ? "true" : "false");
        for (unsigned p = 0; p < n_platforms; p++)
            fprintf(out, ", \"%s\": %.2f", platforms[p].name, results[i].us[p]);
        fprintf(out, "}%s\n", i + 1 < n ? "," : "");
    }
    fprintf(out, "]\n");
    if (fclose(out)) {
        perror(path);
        exit(1);
    }
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static const struct argp_option choices[] = {
    {"only", 'o', "REGEX", 0, "rows whose name matches", 0},
    {"items", 'i', "N", 0, "work-items of each launch (default: 262144)", 0},
    {"rounds", 'r', "N", 0, "timed rounds (default: 7); one more goes before them", 0},
    {"wide", 'w', NULL, 0, "all widths and types, not only the usual ones", 0},
    {"json", 'j', "FILE", 0, "also write the rows there", 0},
    {"list", 'l', NULL, 0, "only print the rows' names", 0},
    {0},
};

static void take_number(struct argp_state *state, const char *arg, size_t *number)
{
    char *end;
    *number = strtoul(arg, &end, 0);
    if (!*arg || *end || !*number)
        argp_error(state, "%s is no positive number", arg);
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    size_t number = 0;
    switch (key) {
    case 'o':
        o->filters = !regcomp(&o->only, arg, REG_EXTENDED | REG_NOSUB);
        if (!o->filters)
            argp_error(state, "%s is no regular expression", arg);
        return 0;
    case 'i':
        take_number(state, arg, &o->items);
        return 0;
    case 'r':
        take_number(state, arg, &number);
        o->rounds = (unsigned)number;
        return 0;
    case 'w':
        o->wide = true;
        return 0;
    case 'j':
        o->json = arg;
        return 0;
    case 'l':
        o->list = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->n_wanted == SWEEP_PLATFORMS)
            argp_error(state, "no more than %d platforms", SWEEP_PLATFORMS);
        o->wanted[o->n_wanted++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static size_t pick(const struct sweep_rows *rows, const struct options *o, struct result *results)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!o->filters || !regexec(&o->only, rows->list[i].name, 0, NULL, 0))
            results[n++] = (struct result){.row = &rows->list[i]};
    return n;
}

static bool measure(struct result *results, size_t n, const struct options *o)
{
    struct sweep_platform platforms[SWEEP_PLATFORMS];
    bool wrong = false;
    for (unsigned p = 0; p < o->n_wanted; p++)
        sweep_open(&platforms[p], o->wanted[p], o->items);
    for (size_t at = 0; at < n; at += BATCH) {
        size_t some = n - at < BATCH ? n - at : BATCH;
        run_batch(&results[at], some, platforms, o);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%zu of %zu rows ", at + some, n);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r");
    qsort(results, n, sizeof(*results), by_ratio);
    print(results, n, platforms, o->n_wanted);
    if (o->json)
        write_json(o->json, results, n, platforms, o->n_wanted);
    for (size_t i = 0; i < n; i++)
        wrong |= results[i].wrong;
    for (unsigned p = 0; p < o->n_wanted; p++)
        sweep_close(&platforms[p]);
    return wrong;
}

int sweep_main(int argc, char **argv, const struct sweep_table *table)
{
    struct options o = {.table = table, .rounds = 7, .items = 1 << 18};
    struct sweep_rows rows = {0};
    const struct argp argp = {choices, take, "PLATFORM...", table->what, NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (!o.n_wanted && !o.list)
        o.wanted[o.n_wanted++] = (char[]){"Tesela"};
    if (table->multiple)
        o.items = (o.items + table->multiple - 1) / table->multiple * table->multiple;
    table->fill(&rows, o.wide);
    struct result *results = calloc(rows.n ? rows.n : 1, sizeof(*results));
    if (!results)
        must(CL_OUT_OF_HOST_MEMORY, "the results");
    size_t n = pick(&rows, &o, results);
    bool wrong = false;
    for (size_t i = 0; i < n && o.list; i++)
        puts(results[i].row->name);
    if (!o.list)
        wrong = measure(results, n, &o);
    if (o.filters)
        regfree(&o.only);
    free(results);
    finish_rows(&rows);
    return wrong;
}
