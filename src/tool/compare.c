/* `tesela compare`: what does a program gain, and does it say the same? */
#include "tool/compare_run.h"
#include "tool/icd_folder.h"
#include "tool/tool.h"

#include "base/settings.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

/* The first ones as `tesela run` has them. */
enum { EXIT_DIFFERS = 1, EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

enum { KEY_ICD = 0x100, KEY_LIMIT };

struct arguments {
    struct tsl_comparison *comparison;
    const char *icd, *vendors;
    bool json;
};

static const struct argp_option options[] = {
    {"rounds", 'r', "N", 0, "Time each way so many times, in turns (3)", 0},
    {"file", 'f', "FILE", 0, "Compare also this file, which the program writes; may be given several times", 0},
    {"members", 'm', "LIST", 0, "Tesela uses these devices only (TESELA_MEMBERS)", 0},
    {"vendors", 'v', "FOLDER", 0, "The vendors' .icd files (TESELA_VENDORS)", 0},
    {"limit", KEY_LIMIT, "SECONDS", 0, "End a run that takes longer (600; 0: never)", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"icd", KEY_ICD, "FOLDER", 0, "The folder that has tesela.icd and nothing else", 1},
    {0},
};

static unsigned number(const char *arg, unsigned most, const char *option, struct argp_state *state)
{
    char *end;
    unsigned long value = strtoul(arg, &end, 10);

    if (!arg[0] || *end || arg[0] == '-' || value > most)
        argp_error(state, "--%s=%s: a number from 0 to %u is needed", option, arg, most);
    return (unsigned)value;
}

static void set_variable(const char *name, const char *value, struct argp_state *state)
{
    const char *hint = tsl_settings_hint(name, value);

    if (hint)
        argp_error(state, "%s=%s is not understood: use %s", name, value, hint);
    if (setenv(name, value, 1) != 0)
        argp_failure(state, EXIT_OURS, errno, "%s", name);
}

static void add_file(struct tsl_comparison *c, const char *file, struct argp_state *state)
{
    if (c->n_compared == TSL_MAX_COMPARED)
        argp_error(state, "at most %u files are compared", TSL_MAX_COMPARED);
    c->compared[c->n_compared++] = file;
}

static void set_vendors(struct arguments *arguments, const char *folder, struct argp_state *state)
{
    char *path = realpath(folder, NULL);

    if (!path)
        argp_failure(state, EXIT_OURS, errno, "--vendors=%s", folder);
    set_variable("TESELA_VENDORS", path, state);
    free(path);
    arguments->vendors = getenv("TESELA_VENDORS");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'r':
        arguments->comparison->rounds = number(arg, TSL_MAX_ROUNDS, "rounds", state);
        return 0;
    case KEY_LIMIT:
        arguments->comparison->limit_s = number(arg, 1000000, "limit", state);
        return 0;
    case 'f':
        add_file(arguments->comparison, arg, state);
        return 0;
    case 'm':
        set_variable("TESELA_MEMBERS", arg, state);
        return 0;
    case 'v':
        set_vendors(arguments, arg, state);
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case KEY_ICD:
        arguments->icd = arg;
        return 0;
    case ARGP_KEY_ARG:
        arguments->comparison->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which program? For instance: tesela compare -- clpeak");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc =
        "Run a program natively on each vendor's OpenCL, on Tesela with each member alone, and on Tesela over all "
        "members, in turns, and print one table: how long it took, which members computed, what moved, and whether its "
        "output or files differ."
        "\v"
        "The program gets no input, and what it prints is kept from the terminal. Each way is run once before it is "
        "timed. The exit status is 1 if a way fails or differs, or a named file isn't written; 125 if tesela fails, "
        "126 if the program can't be run, 127 if it isn't found.",
};

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const char *outcome(const struct tsl_comparison *c, const struct tsl_way *way)
{
    if (way->absent)
        return "no device";
    if (!way->ran)
        return "not run";
    if (way->failed)
        return "failed";
    if (way == &c->ways.ways[c->reference])
        return "reference";
    if (way->files != TSL_SAME)
        return "files differ";
    if (way->output == TSL_SAME)
        return "same";
    if (c->varies)
        return "varies";
    return way->output == TSL_NUMBERS ? "numbers differ" : "differs";
}

static bool is_bad(const struct tsl_comparison *c, const struct tsl_way *way)
{
    return way->failed || way->files != TSL_SAME || (way->output != TSL_SAME && !c->varies);
}

static void print_way(const struct tsl_comparison *c, struct tsl_way *way)
{
    double median = (double)tsl_way_median_ns(way) / 1e9;

    printf("%-46.46s ", way->name);
    if (way->n_walls)
        printf("%9.3f %9.3f %9.3f  ", median, (double)way->walls_ns[0] / 1e9,
               (double)way->walls_ns[way->n_walls - 1] / 1e9);
    else
        printf("%9s %9s %9s  ", "-", "-", "-");
    if (way->traced)
        printf("%10.4g", (double)way->moved / 1e6);
    else
        printf("%10s", "");
    printf("  %-14s %s\n", outcome(c, way), way->kind == TSL_WAY_NATIVE ? "" : way->computed);
}

static struct tsl_way *best_of(struct tsl_ways *ways, enum tsl_way_kind kind)
{
    struct tsl_way *best = NULL;

    for (unsigned w = 0; w < ways->n; w++)
        if (ways->ways[w].kind == kind && ways->ways[w].n_walls && !ways->ways[w].failed &&
            (!best || tsl_way_median_ns(&ways->ways[w]) < tsl_way_median_ns(best)))
            best = &ways->ways[w];
    return best;
}

static double gain(struct tsl_way *than, struct tsl_way *way)
{
    return (double)tsl_way_median_ns(than) / (double)tsl_way_median_ns(way);
}

static void print_gain(struct tsl_ways *ways)
{
    struct tsl_way *all = best_of(ways, TSL_WAY_ALL), *native = best_of(ways, TSL_WAY_NATIVE),
                   *alone = best_of(ways, TSL_WAY_ALONE);

    if (all && native)
        printf("%s is %.2f times as fast as the best native run (%s).\n", all->name, gain(native, all), native->name);
    if (all && alone)
        printf("%s is %.2f times as fast as the best member alone (%s).\n", all->name, gain(alone, all), alone->name);
}

/* What the table can't tell is said, too: times of a program that used no device are no gain. */
static void print_gain_or_why_none(struct tsl_ways *ways)
{
    unsigned n_native = 0, n_absent = 0, n_ended = 0, n_traced = 0;

    for (unsigned w = 0; w < ways->n; w++) {
        n_native += ways->ways[w].kind == TSL_WAY_NATIVE;
        n_absent += ways->ways[w].absent;
        n_ended += ways->ways[w].kind != TSL_WAY_NATIVE && ways->ways[w].ran && !ways->ways[w].failed;
        n_traced += ways->ways[w].traced;
    }
    if (!n_native)
        printf("No other OpenCL is in %s, so nothing ran natively.\n", ways->vendors);
    else if (n_native == n_absent)
        printf("No other OpenCL in %s shows a device, so nothing ran natively.\n", ways->vendors);
    if (n_ended && !n_traced)
        puts("The program enqueued nothing on Tesela, so the times say nothing about devices.");
    else
        print_gain(ways);
}

static void print_table(struct tsl_comparison *c)
{
    printf("%-46s %9s %9s %9s  %10s  %-14s %s\n", "", "median s", "best", "worst", "moved MB", "output",
           "who computed");
    for (unsigned w = 0; w < c->ways.n; w++)
        print_way(c, &c->ways.ways[w]);
    putchar('\n');
    print_gain_or_why_none(&c->ways);
    for (unsigned w = 0; w < c->ways.n; w++)
        if (c->ways.ways[w].differs[0] && !c->ways.ways[w].failed)
            printf("%s: %s%s.\n", c->ways.ways[w].name, c->ways.ways[w].differs,
                   c->ways.ways[w].files == TSL_SAME && c->varies ? "; but the output varies from run to run" : "");
    if (c->varies)
        printf("The output of two runs in the same way (%s) differs: %s.\n", c->ways.ways[c->reference].name,
               c->how_varies);
}

static cJSON *way_json(const struct tsl_comparison *c, struct tsl_way *way)
{
    static const char *const kinds[] = {"native", "alone", "all"};
    cJSON *object = cJSON_CreateObject(), *walls;

    cJSON_AddStringToObject(object, "way", way->name);
    cJSON_AddStringToObject(object, "kind", kinds[way->kind]);
    cJSON_AddNumberToObject(object, "median_s", (double)tsl_way_median_ns(way) / 1e9);
    walls = cJSON_AddArrayToObject(object, "walls_s");
    for (unsigned i = 0; i < way->n_walls; i++)
        cJSON_AddItemToArray(walls, cJSON_CreateNumber((double)way->walls_ns[i] / 1e9));
    cJSON_AddStringToObject(object, "output", outcome(c, way));
    cJSON_AddStringToObject(object, "differs", way->differs);
    cJSON_AddStringToObject(object, "failure", way->how);
    if (way->traced) {
        cJSON_AddStringToObject(object, "computed", way->computed);
        cJSON_AddNumberToObject(object, "moved", (double)way->moved);
    }
    return object;
}

static void print_json(struct tsl_comparison *c)
{
    cJSON *array = cJSON_CreateArray();
    char *text;

    for (unsigned w = 0; w < c->ways.n; w++)
        cJSON_AddItemToArray(array, way_json(c, &c->ways.ways[w]));
    text = cJSON_Print(array);
    puts(text ? text : "[]");
    free(text);
    cJSON_Delete(array);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int unstarted(const struct tsl_comparison *c)
{
    if (c->unstarted == ENOENT && strchr(c->program[0], '/') && access(c->program[0], F_OK) == 0) {
        fprintf(stderr, "tesela compare: %s is there, but the interpreter that it asks for is not\n", c->program[0]);
        return EXIT_CANNOT_RUN;
    }
    if (c->unstarted == ENOENT) {
        fprintf(stderr, "tesela compare: %s: program not found\n", c->program[0]);
        return EXIT_NOT_FOUND;
    }
    fprintf(stderr, "tesela compare: %s can't be run: %s\n", c->program[0], strerror(c->unstarted));
    return EXIT_CANNOT_RUN;
}

/* Files that the user named and nobody wrote; false: some. */
static bool all_written(const struct tsl_comparison *c)
{
    bool all = true;

    for (unsigned i = 0; i < c->n_compared && c->reference >= 0; i++)
        if (c->unwritten[i]) {
            fprintf(stderr, "tesela compare: the program wrote no file %s, so it isn't compared\n", c->compared[i]);
            all = false;
        }
    return all;
}

/* On standard error: what the table doesn't tell. */
static void say_end(const struct tsl_comparison *c)
{
    if (tsl_child_stopped())
        fprintf(stderr, "tesela compare: stopped (%s), so %s\n", strsignal(tsl_child_stopped()),
                c->reference < 0 ? "nothing was compared" : "the table has what was run until then");
    else if (c->reference < 0)
        fputs("tesela compare: the program ended well in no way, so there is nothing to compare\n", stderr);
}

static int compare(struct tsl_comparison *c, bool json)
{
    int status;

    tsl_compare_run(c);
    if (c->unstarted)
        return unstarted(c);
    say_end(c);
    if (json)
        print_json(c);
    else if (c->reference >= 0)
        print_table(c);
    status = all_written(c) ? 0 : EXIT_DIFFERS;
    for (unsigned w = 0; w < c->ways.n; w++)
        if (is_bad(c, &c->ways.ways[w]))
            status = EXIT_DIFFERS;
    return status;
}

int tsl_tool_compare(int argc, char **argv)
{
    struct tsl_comparison comparison = {.rounds = 3, .limit_s = 600};
    struct arguments arguments = {.comparison = &comparison, .vendors = getenv("TESELA_VENDORS")};
    int status = EXIT_OURS;
    char *folder;

    argp_err_exit_status = EXIT_OURS;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0)
        return EXIT_OURS;
    folder = arguments.icd ? tsl_icd_folder_check(arguments.icd) : tsl_icd_folder_find();
    if (!folder)
        return EXIT_OURS;
    if (!arguments.vendors || !arguments.vendors[0])
        arguments.vendors = TSL_VENDORS_DEFAULT;
    if (tsl_ways_find(&comparison.ways, arguments.vendors, folder))
        status = compare(&comparison, arguments.json);
    tsl_ways_finish(&comparison.ways);
    free(folder);
    tsl_child_leave();
    return status;
}
