#include "tool/tool.h"

#include "base/own_file.h"
#include "tool/icd_folder.h"

#include <argp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    const char *full_name; /* argv[0] of the command: argp names it in its messages */
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"info", "tesela info", tsl_tool_info},       {"run", "tesela run", tsl_tool_run},
    {"doctor", "tesela doctor", tsl_tool_doctor}, {"report", "tesela report", tsl_tool_report},
    {"meters", "tesela meters", tsl_tool_meters}, {"compare", "tesela compare", tsl_tool_compare},
};

/* The command's place in argv; the words behind it are the command's. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    int *command = state->input;

    (void)arg;
    if (key == ARGP_KEY_ARG) {
        *command = state->next - 1;
        state->next = state->argc;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS) {
        argp_state_help(state, stderr, ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Tesela: one virtual OpenCL device over all real ones."
           "\v"
           "Commands:\n"
           "  info                 Show the devices, used and left out, and the settings\n"
           "  doctor               Tell what keeps devices or programs from working\n"
           "  run -- PROGRAM       Run an OpenCL program on Tesela\n"
           "  compare -- PROGRAM   Run it natively, on each member and on all, and compare\n"
           "  report TRACE         Make a page that shows what happened in a run\n"
           "  meters TRACE         Tell how busy each device and link was\n"
           "\n"
           "`tesela COMMAND --help' tells more about one, the manual page tesela(1) about all.",
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct command *command;
    char library[PATH_MAX];
    int at = 0;

    argp_program_version = "tesela " TESELA_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &at) != 0 || at == 0)
        return 2;
    command = find_command(argv[at]);
    if (!command) {
        fprintf(stderr, "tesela: there is no command '%s'; `tesela --help' lists them.\n", argv[at]);
        return 2;
    }
    if (tsl_icd_folder_own_library(library))
        tsl_own_file_is(library);
    argv[at] = (char *)command->full_name;
    return command->run(argc - at, argv + at);
}
