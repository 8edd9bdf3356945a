#include "base/settings.h"
#include "tool/icd_folder.h"
#include "tool/nodes.h"
#include "tool/tool.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The same codes as env, nice and timeout have. */
enum { EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

enum { KEY_ICD = 0x100, KEY_NODES, KEY_NODE_MEMBERS, KEY_LAYER };

struct arguments {
    const char *icd, *nodes;
    bool layer;
    char **program; /* NULL: none given */
};

/* The options that become a setting for the program. */
static const struct setting_option {
    int key;
    const char *option;
    const char *variable;
} setting_options[] = {
    {'m', "members", "TESELA_MEMBERS"}, {'p', "policy", "TESELA_POLICY"},
    {'t', "trace", "TESELA_TRACE"},     {'l', "log", "TESELA_LOG"},
    {'v', "vendors", "TESELA_VENDORS"}, {KEY_NODE_MEMBERS, "offer", "TESELA_NODE_MEMBERS"},
};

static const struct argp_option options[] = {
    {"members", 'm', "LIST", 0, "Use these devices only (TESELA_MEMBERS)", 0},
    {"policy", 'p', "POLICY", 0,
     "How commands are placed: auto, eager, model, fastest, round-robin, weights=1,3,... "
     "(TESELA_POLICY)",
     0},
    {"trace", 't', "FILE", 0, "Write a timeline for ui.perfetto.dev (TESELA_TRACE)", 0},
    {"log", 'l', "LEVELS", 0, "Tell more, for instance info or graph:debug (TESELA_LOG)", 0},
    {"vendors", 'v', "FOLDER", 0, "Look for the vendors' .icd files here (TESELA_VENDORS)", 0},
    {"nodes", KEY_NODES, "N|FILE", 0,
     "Use other machines' devices, too: those of the hosts in FILE, or of N nodes here", 0},
    {"offer", KEY_NODE_MEMBERS, "LIST", 0, "Which of its devices a node offers (TESELA_NODE_MEMBERS)", 0},
    {"layer", KEY_LAYER, NULL, 0, "Be a layer of the loader, which stays as it is, in place of an .icd file", 1},
    {"icd", KEY_ICD, "FOLDER", 0, "The folder that has tesela.icd and nothing else", 1},
    {0},
};

/* The absolute path of a file or folder: the program may change its folder before it is opened. Heap; NULL: no
 * memory. */
static char *absolute(const char *path)
{
    char *here, *whole = NULL;

    if (path[0] == '/')
        return strdup(path);
    here = getcwd(NULL, 0);
    if (here && asprintf(&whole, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path) < 0)
        whole = NULL;
    free(here);
    return whole;
}

static void set(const struct setting_option *option, const char *arg, struct argp_state *state)
{
    const char *hint = tsl_settings_hint(option->variable, arg);
    bool is_path = option->key == 't' || option->key == 'v';
    char *value = is_path ? absolute(arg) : strdup(arg);

    if (hint)
        argp_error(state, "--%s=%s is not understood: use %s", option->option, arg, hint);
    if (!value || setenv(option->variable, value, 1) != 0)
        argp_failure(state, EXIT_OURS, errno, "--%s", option->option);
    free(value);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    for (size_t i = 0; i < sizeof setting_options / sizeof setting_options[0]; i++)
        if (key == setting_options[i].key) {
            set(&setting_options[i], arg, state);
            return 0;
        }
    switch (key) {
    case KEY_ICD:
        arguments->icd = arg;
        return 0;
    case KEY_NODES:
        arguments->nodes = arg;
        return 0;
    case KEY_LAYER:
        arguments->layer = true;
        return 0;
    case ARGP_KEY_ARG:
        arguments->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which program? For instance: tesela run -- clinfo");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Run an OpenCL program so that it sees one platform, Tesela, with one device behind which all others stand."
           "\v"
           "The exit status is the program's; 125 if tesela fails, 126 if the program can't be run, 127 if it isn't "
           "found.",
};

/*
 * Makes all loaders see Tesela alone. CUDA's (13.0) needs the slash behind the folder's name. Khronos' also loads the
 * files that OCL_ICD_FILENAMES names. Debian's takes OCL_ICD_DEFAULT_PLATFORM as an index, and there is only one
 * platform now.
 */
static bool point_loaders(const char *folder)
{
    static char vendors[TSL_ICD_VARIABLE], filenames[TSL_ICD_VARIABLE]; /* part of the environment from now on */
    bool done;

    tsl_icd_folder_variables(folder, vendors, filenames);
    done = putenv(vendors) == 0 && unsetenv("OCL_ICD_FILENAMES") == 0 && (!filenames[0] || putenv(filenames) == 0) &&
           unsetenv("OCL_ICD_DEFAULT_PLATFORM") == 0;
    if (!done)
        perror("tesela run");
    return done;
}

/*
 * Puts Tesela between the program and all platforms of its loader, wherever that finds them. Loaders put the first
 * layer nearest to the platforms, so the user's own layers see Tesela.
 */
static bool add_layer(const char *folder)
{
    const char *others = getenv("OPENCL_LAYERS");
    char library[PATH_MAX], *layers = NULL;
    bool done;

    if (!tsl_icd_folder_library(folder, library))
        return false;
    if (strchr(library, ':')) {
        fprintf(stderr, "tesela run: %s can't be a layer, as loaders take a colon for the end of a name.\n", library);
        return false;
    }
    if (others && strncmp(others, library, strlen(library)) == 0 && strchr(":", others[strlen(library)]))
        return true; /* It is there already. */
    done = asprintf(&layers, "%s%s%s", library, others && others[0] ? ":" : "", others ? others : "") >= 0 &&
           setenv("OPENCL_LAYERS", layers, 1) == 0;
    if (!done)
        perror("tesela run");
    free(layers);
    return done;
}

/* Khronos' loader takes a layer all the same, so it is not an error. */
static void warn_without_vendors(void)
{
    const char *set = getenv("OCL_ICD_VENDORS"), *folder = set && set[0] ? set : TSL_VENDORS_DEFAULT;
    struct dirent **entries;
    int n = scandir(folder, &entries, tsl_icd_folder_is_icd, NULL);

    if (n == 0 || (n < 0 && errno != ENOTDIR && strchr(folder, '/'))) /* It may name a file, or a library. */
        fprintf(stderr,
                "tesela run: there is no .icd file in %s, and Debian's loader opens layers only where it finds a "
                "platform: if the program sees none, run it without --layer\n",
                folder);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n >= 0)
        free(entries);
}

static int start(char **program)
{
    int error;

    execvp(program[0], program);
    error = errno;
    if (error != ENOENT) {
        fprintf(stderr, "tesela run: %s can't be run: %s\n", program[0], strerror(error));
        return EXIT_CANNOT_RUN;
    }
    if (strchr(program[0], '/') && access(program[0], F_OK) == 0) {
        fprintf(stderr, "tesela run: %s is there, but the interpreter that it asks for is not\n", program[0]);
        return EXIT_CANNOT_RUN;
    }
    fprintf(stderr, "tesela run: %s: program not found\n", program[0]);
    return EXIT_NOT_FOUND;
}

int tsl_tool_run(int argc, char **argv)
{
    struct arguments arguments = {.icd = NULL};
    char *folder;
    bool pointed;

    argp_err_exit_status = EXIT_OURS;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments) != 0)
        return EXIT_OURS;
    folder = arguments.icd ? tsl_icd_folder_check(arguments.icd) : tsl_icd_folder_find();
    if (!folder)
        return EXIT_OURS;
    pointed = arguments.layer ? add_layer(folder) : point_loaders(folder);
    free(folder);
    if (!pointed)
        return EXIT_OURS;
    if (arguments.layer && !getenv("OCL_ICD_FILENAMES"))
        warn_without_vendors();
    if (arguments.nodes && !tsl_tool_nodes_start(arguments.nodes))
        return EXIT_OURS;
    return start(arguments.program);
}
