/* `tesela info`: asks the library's own list of members, so it shows what a program would get. */
#include "tool/info_data.h"
#include "tool/tool.h"
#include "tool/why.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { EXIT_NO_MEMBER = 1, EXIT_USAGE = 2, EXIT_NO_MEMORY = 3 };

enum { KEY_WHY = 0x100 };

struct arguments {
    bool json, why;
    const char *kernel; /* of why; NULL: all */
    char **words;       /* of why: a timeline, or a program with its arguments; NULL: none */
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"why", KEY_WHY, "KERNEL", OPTION_ARG_OPTIONAL,
     "Tell instead what kept the launches of KERNEL, or of all kernels, from being cut over several members: in the "
     "timeline TRACE, or in a run of PROGRAM, whose output is kept from the terminal",
     0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'j':
        arguments->json = true;
        return 0;
    case KEY_WHY:
        arguments->why = true;
        arguments->kernel = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (!arguments->why)
            return ARGP_ERR_UNKNOWN;
        arguments->words = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (arguments->why && !arguments->words)
            argp_error(state,
                       "--why: of which timeline, or of which program? For instance: tesela info --why -- ./program");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "\n--why[=KERNEL] TRACE\n--why[=KERNEL] [--] PROGRAM [ARGUMENT...]",
    .doc = "Show the members (the devices behind the virtual one) in their order, what was left out and why, and the "
           "settings in force."
           "\v"
           "The exit status is 0 if there is a member, 1 if there is none.",
};

static const char *text(const cJSON *object, const char *key)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    return value ? value : "";
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return item ? item->valuedouble : 0;
}

static void print_path(const cJSON *path)
{
    printf("%-12s %s\n", text(path, "path"), text(path, "device"));
    printf("%16s%s, %s, driver %s", "", text(path, "type"), text(path, "platform"), text(path, "driver_version"));
    if (number(path, "compute_units") > 0)
        printf(", %.0f compute unit%s", number(path, "compute_units"), number(path, "compute_units") > 1 ? "s" : "");
    if (number(path, "memory_size") > 0)
        printf(", %.1f GiB", number(path, "memory_size") / (1 << 30));
    if (number(path, "used_memory_size") < number(path, "memory_size") && number(path, "used_memory_size") > 0)
        printf(" of which %.3f GiB are used (TESELA_MEMORY)", number(path, "used_memory_size") / (1 << 30));
    putchar('\n');
}

static void print_members(const cJSON *members)
{
    const cJSON *member;

    if (cJSON_GetArraySize(members) == 0) {
        puts("There is no member, so programs can't create a context on Tesela. Install an OpenCL implementation");
        puts("(on Debian: apt install pocl-opencl-icd), or see below what was left out.");
        return;
    }
    puts("Members: the devices behind the virtual one");
    cJSON_ArrayForEach(member, members)
    {
        printf("  %u ", (unsigned)number(member, "index"));
        print_path(member);
    }
}

static void print_left_out(const cJSON *left_out)
{
    const cJSON *row;

    if (cJSON_GetArraySize(left_out) > 0)
        puts("\nLeft out");
    cJSON_ArrayForEach(row, left_out)
    {
        printf("    ");
        print_path(row);
        printf("%16sbecause: %s\n", "", text(row, "why"));
    }
}

/* Those that are needless, or the others, below a title. */
static void print_some_problems(const char *title, bool needless, const cJSON *problems, const char *first)
{
    const cJSON *row;

    if (first[0])
        printf("%s    %s\n", title, first);
    cJSON_ArrayForEach(row, problems)
    {
        if (cJSON_IsTrue(cJSON_GetObjectItem(row, "needless")) != needless)
            continue;
        printf("%s    %s\n", first[0] ? "" : title, text(row, "what"));
        first = title;
    }
}

/* Of the compiler only that it doesn't work: without any, the built-in CPU is among the platforms without devices. */
static void print_problems(const cJSON *problems, const cJSON *compiler)
{
    print_some_problems("\nProblems\n", false, problems, text(compiler, "path")[0] ? text(compiler, "why") : "");
    print_some_problems("\nNot needed here, as far as can be seen\n", true, problems, "");
}

static void print_empty(const cJSON *empty)
{
    const cJSON *row;

    if (cJSON_GetArraySize(empty) > 0)
        puts("\nPlatforms without devices");
    cJSON_ArrayForEach(row, empty)
    {
        printf("    %s: %s\n", text(row, "name"), text(row, "why"));
    }
}

static void print_variants(const cJSON *variants)
{
    const cJSON *row;

    if (cJSON_GetArraySize(variants) > 0)
        puts("\nVariants of kernels (TESELA_VARIANTS)");
    cJSON_ArrayForEach(row, variants)
    {
        printf("    %s: kernel %s on %s by %s, %s\n", text(row, "variant"), text(row, "kernel"),
               text(row, "members")[0] ? text(row, "members") : "all members", text(row, "implementation"),
               text(row, "file"));
        if (text(row, "why")[0])
            printf("%16sof no use: %s\n", "", text(row, "why"));
    }
}

static void print_settings(const cJSON *settings)
{
    const cJSON *setting;

    puts("\nSettings (* from the environment)");
    cJSON_ArrayForEach(setting, settings)
    {
        const char *value = text(setting, "value");

        printf("  %c %-20s %s\n", cJSON_IsTrue(cJSON_GetObjectItem(setting, "set")) ? '*' : ' ', setting->string,
               value[0] ? value : "-");
    }
}

static void print_text(const cJSON *info)
{
    printf("Tesela %s\n\n", text(info, "version"));
    print_members(cJSON_GetObjectItem(info, "members"));
    print_left_out(cJSON_GetObjectItem(info, "left_out"));
    print_problems(cJSON_GetObjectItem(info, "problems"), cJSON_GetObjectItem(info, "compiler"));
    print_empty(cJSON_GetObjectItem(info, "without_devices"));
    print_variants(cJSON_GetObjectItem(info, "variants"));
    print_settings(cJSON_GetObjectItem(info, "settings"));
}

static bool print_json(const cJSON *info)
{
    char *printed = cJSON_Print(info);

    if (!printed)
        return false;
    puts(printed);
    free(printed);
    return true;
}

int tsl_tool_info(int argc, char **argv)
{
    struct arguments arguments = {.json = false};
    bool printed = true;
    int status;
    cJSON *info;

    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0)
        return EXIT_USAGE;
    if (arguments.why)
        return tsl_why(arguments.kernel, arguments.words);
    info = tsl_info_gather();
    if (!info) {
        fputs("tesela info: out of memory\n", stderr);
        return EXIT_NO_MEMORY;
    }
    if (arguments.json)
        printed = print_json(info);
    else
        print_text(info);
    status = cJSON_GetArraySize(cJSON_GetObjectItem(info, "members")) > 0 ? 0 : EXIT_NO_MEMBER;
    cJSON_Delete(info);
    return printed ? status : EXIT_NO_MEMORY;
}
