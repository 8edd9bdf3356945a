/* `tesela doctor`: what keeps devices or programs from working here, and what to do. */
#include "tool/child.h"
#include "tool/findings.h"
#include "tool/tool.h"

#include "base/settings.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PROBLEMS = 1, EXIT_USAGE = 2, EXIT_NO_MEMORY = 3 };

enum { KEY_ROOT = 0x100 };

struct arguments {
    const char *root;
    bool json;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"root", KEY_ROOT, "FOLDER", 0,
     "Look for device files and loaders' folders below FOLDER, say the root of a container", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'j':
        arguments->json = true;
        return 0;
    case KEY_ROOT:
        if (access(arg, R_OK | X_OK) != 0)
            argp_error(state, "--root=%s: the folder can't be read: %s", arg, strerror(errno));
        arguments->root = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Look for what keeps devices or programs from working on Tesela: vendors' libraries that can't be loaded, "
           "a kernel compiler that doesn't work, device files without permission, containers without devices, "
           "variables that hide platforms, caches that can't be "
           "written, other users' files. Each is told in a sentence, with what to do."
           "\v"
           "The exit status is 0 if there is no problem, 1 if there is one.",
};

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static void add(struct tsl_findings *findings, const char *level, const char *remedy, const char *format, va_list list)
{
    cJSON *object = cJSON_CreateObject();
    char *what = NULL;

    if (vasprintf(&what, format, list) < 0)
        what = NULL;
    cJSON_AddStringToObject(object, "level", level);
    cJSON_AddStringToObject(object, "what", what ? what : "");
    cJSON_AddStringToObject(object, "remedy", remedy ? remedy : "");
    cJSON_AddItemToArray(findings->array, object);
    free(what);
}

void tsl_finding_problem(struct tsl_findings *findings, const char *remedy, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    add(findings, "problem", remedy, format, list);
    va_end(list);
    findings->n_problems++;
}

void tsl_finding_hint(struct tsl_findings *findings, const char *remedy, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    add(findings, "hint", remedy, format, list);
    va_end(list);
}

void tsl_findings_path(const struct tsl_findings *findings, const char *path, char whole[])
{
    snprintf(whole, PATH_MAX, "%s%s", findings->root, path);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static const char *text(const cJSON *object, const char *key)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

    return value ? value : "";
}

static void print_text(const struct tsl_findings *findings)
{
    const cJSON *finding;

    cJSON_ArrayForEach(finding, findings->array)
    {
        printf("%s %s.\n", text(finding, "level")[0] == 'p' ? "!" : "-", text(finding, "what"));
        if (text(finding, "remedy")[0])
            printf("    %s.\n", text(finding, "remedy"));
    }
    if (findings->n_problems)
        printf("%u problem%s.\n", findings->n_problems, findings->n_problems > 1 ? "s" : "");
    else
        puts("No problem was found.");
}

static bool print_json(const struct tsl_findings *findings)
{
    char *printed = cJSON_Print(findings->array);

    if (printed)
        puts(printed);
    free(printed);
    return printed != NULL;
}

/* What is wrong with settings is among the findings: it needn't be told twice. */
static void read_settings(void)
{
    int errors = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    tsl_settings();
    if (errors >= 0) {
        dup2(errors, STDERR_FILENO);
        close(errors);
    }
    if (nowhere >= 0)
        close(nowhere);
}

int tsl_tool_doctor(int argc, char **argv)
{
    struct arguments arguments = {.root = ""};
    struct tsl_findings findings = {.n_problems = 0};
    bool printed = true;

    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    findings.root = arguments.root;
    findings.array = cJSON_CreateArray();
    if (!findings.array) {
        fputs("tesela doctor: out of memory\n", stderr);
        return EXIT_NO_MEMORY;
    }
    read_settings();
    tsl_check_settings(&findings);
    tsl_check_loader(&findings);
    tsl_check_devices(&findings);
    tsl_check_caches(&findings);
    tsl_check_compiler(&findings);
    tsl_check_members(&findings);
    tsl_child_leave(); /* What was looked at until then may be wrong. */
    if (arguments.json)
        printed = print_json(&findings);
    else
        print_text(&findings);
    cJSON_Delete(findings.array);
    return !printed ? EXIT_NO_MEMORY : findings.n_problems ? EXIT_PROBLEMS : 0;
}
