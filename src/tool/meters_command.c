/* `tesela meters`: a timeline in numbers. */
#include "tool/meters.h"
#include "tool/tool.h"
#include "tool/trace_argument.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_UNREADABLE = 1, EXIT_USAGE = 2, EXIT_NO_MEMORY = 3 };

struct arguments {
    const char *trace;
    bool json;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'j':
        arguments->json = true;
        return 0;
    default:
        return tsl_trace_argument(key, arg, state, &arguments->trace);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE",
    .doc = "Show how busy each unit of a run was (each member's kernels, each direction of transfers, the host's tasks "
           "and copies), what it waited for, what overlapped, and which one was the bottleneck."
           "\v"
           "TRACE is a file that `tesela run --trace' or TESELA_TRACE wrote. The exit status is 1 if it can't be read.",
};

static void print_units(const struct tsl_meters *m)
{
    char name[80];

    printf("%-28s %8s %8s %8s %10s %10s %8s\n", "unit", "busy", "waits", "waits", "operations", "bytes", "GB/s");
    printf("%-28s %8s %8s %8s\n", "", "", "for data", "for work");
    for (unsigned u = 0; u < m->n_units; u++) {
        const struct tsl_unit *unit = &m->units[u];

        tsl_meters_unit_name(m, u, name);
        printf("%-28s %7.1f%%", name, 100 * tsl_meters_share(m, unit->busy_ns));
        if (unit->kind == TSL_UNIT_KERNELS)
            printf(" %7.1f%% %7.1f%%", 100 * tsl_meters_share(m, unit->waits_ns),
                   100 * tsl_meters_share(m, m->wall_ns - unit->busy_ns - unit->waits_ns));
        else
            printf(" %8s %8s", "", "");
        printf(" %10zu", unit->n);
        if (unit->kind != TSL_UNIT_KERNELS && unit->bytes)
            printf(" %10.3g %8.2f", (double)unit->bytes,
                   unit->busy_ns ? (double)unit->bytes / (double)unit->busy_ns : 0);
        puts("");
    }
}

static void print_overlap(const struct tsl_meters *m)
{
    char name[80];

    tsl_meters_unit_name(m, m->bottleneck, name);
    printf("\nBottleneck: %s, busy for %.1f%% of %.3f s.\n", name,
           100 * tsl_meters_share(m, m->units[m->bottleneck].busy_ns), (double)m->wall_ns / 1e9);
    printf("Overlap: some unit was busy for %.1f%% of the time, two or more for %.1f%%.\n",
           100 * tsl_meters_share(m, m->any_ns), 100 * tsl_meters_share(m, m->both_ns));
    if (m->transfers_ns)
        printf("Transfers and copies: %.1f%% of their time some member computed.\n",
               100 * (double)m->hidden_ns / (double)m->transfers_ns);
    printf("Launches: %zu, of which %zu were cut over several members", m->n_launches, m->n_cut);
    printf(m->n_failed ? " and %zu failed.\n" : ".\n", m->n_failed);
}

static void print_gain(const struct tsl_meters *m)
{
    if (m->best_alone < m->n_members && m->n_members > 1)
        printf("Against the best member alone (%s): %.2f times as fast, estimated.\n",
               m->timeline->lanes[m->units[m->best_alone].lane].member,
               (double)m->alone_ns[m->best_alone] / (double)m->wall_ns);
    if (m->together_ns && m->n_members > 1)
        printf("Of what all members could do together: %.0f%%, estimated.\n",
               100 * tsl_meters_share(m, m->together_ns));
}

static bool print_json(const struct tsl_meters *m)
{
    cJSON *object = tsl_meters_json(m);
    char *printed = object ? cJSON_Print(object) : NULL;

    if (printed)
        puts(printed);
    free(printed);
    cJSON_Delete(object);
    return printed != NULL;
}

static bool print(const struct tsl_meters *m, bool json)
{
    if (json)
        return print_json(m);
    if (m->n_units == 0) {
        puts("No member and no link did any work.");
        return true;
    }
    print_units(m);
    print_overlap(m);
    print_gain(m);
    return true;
}

int tsl_tool_meters(int argc, char **argv)
{
    struct arguments arguments = {.trace = NULL};
    struct tsl_timeline timeline;
    struct tsl_meters meters;
    bool printed = false;

    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    if (!tsl_timeline_open(&timeline, arguments.trace, argv[0]))
        return EXIT_UNREADABLE;
    if (tsl_meters_make(&meters, &timeline)) {
        printed = print(&meters, arguments.json);
        tsl_meters_finish(&meters);
    }
    tsl_timeline_finish(&timeline);
    return printed ? 0 : EXIT_NO_MEMORY;
}
