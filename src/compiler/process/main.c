/*
 * tesela-kc: the kernel compiler's process. The library starts it with --serve; the other uses are for looking at the
 * compiler's work, for the build of Tesela itself, and for tests.
 */
#include "compiler/builtins/builtins.h"
#include "compiler/front/front.h"
#include "compiler/process/build.h"
#include "compiler/process/parts.h"
#include "compiler/process/server.h"
#include "compiler/process/view.h"
#include "compiler/support/child_process.h"
#include "compiler/support/llvm.h"

#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: tesela-kc [OPTION...] FILE\n"
    "Shows what Tesela's kernel compiler makes of an OpenCL C program.\n"
    "\n"
    "  --emit WHAT         front: LLVM IR as it leaves the front end; linked: as the back ends get it; facts "
    "(default);\n"
    "                      lanes: what runs item by item on the CPU, and why;\n"
    "                      so: the shared object for the CPU; ptx; roles, roles-footprint: those that hold for any "
    "compiler;\n"
    "                      windows: the text with which vendors launch windows; windows-roles, windows-footprint: its "
    "own\n"
    "  --footprint         what each kernel reads and writes, the same as --emit footprint\n"
    "  --options TEXT      build options, as for clBuildProgram\n"
    "  --processor NAME    sm_75 and later; for the CPU any that LLVM knows, this machine's without the option\n"
    "  --kernel NAME       this kernel alone\n"
    "  --local X,Y,Z       work-group functions for this local size alone\n"
    "  --known NUMBERS     for an argument that is known: its number, a sampler's bits, and of an image "
    "channel_order,\n"
    "                      channel_type, element_size, n_channels, kind and alpha (struct tsl_kc_image)\n"
    "  --jobs N            compile kernels in up to N processes\n"
    "  --translator FILE   the program is SPIR-V, which this program reads (llvm-spirv)\n"
    "  -o FILE             write there instead of standard output\n"
    "  --version, --help\n"
    "\n"
    "For the library:\n"
    "  --serve SOCKET [--time-limit SECONDS] [--memory-limit MIB] [--idle-limit SECONDS] [--jobs N]\n"
    "For the build of Tesela:\n"
    "  --make-builtins OUT LIBCLC.bc FILE.cl...\n"
    "  --list-builtins     names of the functions that programs are linked with\n";

/* ---- Command line ------------------------------------------------------------------------------------------------ */

struct command {
    const char *emit, *out;
    unsigned n_processes;
    struct tsl_wire_build request;
};

static char *read_source(const char *path, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct kc_bytes text = {NULL, 0};

    if (file >= 0 && !kc_read_whole(file, &text))
        text.data = calloc(1, 1); /* empty */
    if (file >= 0)
        close(file);
    *size = text.size;
    return text.data;
}

static void print_facts(const struct kc_build *build, FILE *out)
{
    static const char *const kinds[] = {"unknown", "value", "global", "constant", "local", "image", "sampler", "pipe"};
    static const char *const accesses[] = {"none", "read", "write", "read+write"};

    for (uint32_t i = 0; i < build->n_kernels; i++) {
        const struct tsl_kernel_facts *facts = &build->kernels[i].facts;

        fprintf(out, "kernel %s%s%s%s%s%s%s\n", facts->name, facts->whole_launch ? " whole-launch" : "",
                facts->prints ? " prints" : "", facts->atomics ? " atomics" : "", facts->opaque ? " opaque" : "",
                facts->attributes[0] ? " " : "", facts->attributes);
        for (cl_uint k = 0; k < facts->n_args; k++)
            fprintf(out, "  %s: %s, %s, %s, %zu bytes\n", facts->args[k].name, facts->args[k].type_name,
                    kinds[facts->args[k].kind], accesses[facts->args[k].may & 3], facts->args[k].size);
    }
}

static void print_footprints(const struct kc_build *build, FILE *out)
{
    for (uint32_t i = 0; i < build->n_kernels; i++)
        kc_view_footprint(&build->kernels[i].facts, out);
}

static bool show_access(const struct command *command, struct kc_build *build, FILE *out)
{
    if (!kc_build_access(build))
        return false;
    if (strcmp(command->emit, "windows") == 0)
        fwrite(build->artefact.data, 1, build->artefact.size, out);
    else if (strcmp(command->emit, "roles") == 0 || strcmp(command->emit, "windows-roles") == 0)
        print_facts(build, out);
    else
        print_footprints(build, out);
    return true;
}

/* What comes before the machine code. */
static bool show_step(const struct command *command, struct kc_build *build, FILE *out)
{
    char *text;

    if (strcmp(command->emit, "front") && !kc_build_link(build))
        return false;
    if (strcmp(command->emit, "footprint") == 0) {
        kc_build_kernels(build);
        print_footprints(build, out);
        return true;
    }
    text = LLVMPrintModuleToString(build->module);
    fputs(text, out);
    LLVMDisposeMessage(text);
    return true;
}

static bool show(const struct command *command, struct kc_build *build, FILE *out)
{
    static const char *const steps[] = {"front", "linked", "footprint"};

    if (build->request->target == TSL_WIRE_ACCESS || build->request->target == TSL_WIRE_WINDOWS)
        return show_access(command, build, out);
    if (!kc_build_module(build))
        return false;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (strcmp(command->emit, steps[i]) == 0)
            return show_step(command, build, out);
    if (strcmp(command->emit, "lanes") == 0)
        build->notes = out;
    if (!kc_build_prepare(build) || !kc_parts_build(build))
        return false;
    if (strcmp(command->emit, "facts") == 0)
        print_facts(build, out);
    else if (!build->notes)
        fwrite(build->artefact.data, 1, build->artefact.size, out);
    return true;
}

static int run(struct command *command, const char *path)
{
    struct kc_prepared prepared = {.context = LLVMContextCreate()};
    FILE *out = command->out ? fopen(command->out, "w") : stdout;
    struct kc_build build;
    char folder[4096];
    bool done;

    command->request.source = read_source(path, &command->request.il_size);
    command->request.il = command->request.source;
    command->request.folder = getcwd(folder, sizeof(folder));
    if (!command->request.source || !out) {
        fprintf(stderr, "tesela-kc: %s: no such file\n", out ? path : command->out);
        return 2;
    }
    if (strcmp(command->emit, "so") == 0 || strcmp(command->emit, "lanes") == 0)
        command->request.target = TSL_WIRE_CPU;
    else if (strcmp(command->emit, "ptx") == 0)
        command->request.target = TSL_WIRE_PTX;
    else if (strncmp(command->emit, "roles", 5) == 0)
        command->request.target = TSL_WIRE_ACCESS;
    else if (strncmp(command->emit, "windows", 7) == 0)
        command->request.target = TSL_WIRE_WINDOWS;
    kc_build_begin(&build, &command->request, &prepared);
    build.n_processes = strcmp(command->emit, "lanes") ? command->n_processes : 1;
    done = show(command, &build, out);
    fflush(build.log);
    fputs(build.text, stderr);
    kc_build_finish(&build);
    kc_prepared_finish(&prepared);
    free(command->request.source);
    if (fclose(out))
        done = false;
    return done ? 0 : 1;
}

static int list_builtins(void)
{
    char *why = NULL;
    LLVMModuleRef library = kc_builtins_open(LLVMContextCreate(), KC_BUILTINS_CPU, &why);

    if (!library)
        return fprintf(stderr, "tesela-kc: %s\n", why), 1;
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            puts(kc_name(f));
    return 0;
}

/* ---- For the library --------------------------------------------------------------------------------------------- */

static unsigned n_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Code and messages pass through files in memory, for which the application's limit isn't meant; it can't be raised
 * beyond what the application itself may have. */
static void let_files_grow(void)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
}

static int serve(int socket, struct kc_limits *limits)
{
    struct kc_prepared prepared = {.context = LLVMContextCreate()};
    char *why = NULL;

    signal(SIGPIPE, SIG_IGN);
    let_files_grow();
    if (!limits->parallel)
        limits->parallel = n_processors();
    if (limits->parallel > KC_MAX_PARALLEL)
        limits->parallel = KC_MAX_PARALLEL;
    kc_prepared_open(&prepared, TSL_WIRE_CPU, &why); /* if it fails, builds report why */
    free(why);
    return kc_serve(socket, &prepared, limits);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

enum {
    EMIT = 256,
    FOOTPRINT,
    OPTIONS,
    PROCESSOR,
    KERNEL,
    LOCAL,
    KNOWN,
    TRANSLATOR,
    SERVE,
    TIME,
    MEMORY,
    IDLE,
    JOBS,
    MAKE,
    LIST,
    VERSION,
    HELP
};

static const struct option options[] = {{"emit", 1, NULL, EMIT},           {"footprint", 0, NULL, FOOTPRINT},
                                        {"options", 1, NULL, OPTIONS},     {"processor", 1, NULL, PROCESSOR},
                                        {"kernel", 1, NULL, KERNEL},       {"local", 1, NULL, LOCAL},
                                        {"known", 1, NULL, KNOWN},         {"translator", 1, NULL, TRANSLATOR},
                                        {"serve", 1, NULL, SERVE},         {"time-limit", 1, NULL, TIME},
                                        {"memory-limit", 1, NULL, MEMORY}, {"idle-limit", 1, NULL, IDLE},
                                        {"jobs", 1, NULL, JOBS},           {"make-builtins", 0, NULL, MAKE},
                                        {"list-builtins", 0, NULL, LIST},  {"version", 0, NULL, VERSION},
                                        {"help", 0, NULL, HELP},           {NULL, 0, NULL, 0}};

#define MOST_KNOWN 16

struct line {
    struct command command;
    struct kc_limits limits;
    struct tsl_wire_known known[MOST_KNOWN];
    int socket; /* -1: not a server */
    bool make;
};

static int bad_usage(void)
{
    fputs(usage, stderr);
    return 2;
}

/* The limits are numbers. */
static void read_limit(struct line *line, int option)
{
    uint64_t value = strtoull(optarg, NULL, 10);

    if (option == TIME)
        line->limits.seconds = value;
    else if (option == MEMORY)
        line->limits.memory = value << 20;
    else if (option == IDLE)
        line->limits.idle = value;
    else if (option == JOBS)
        line->command.n_processes = line->limits.parallel = (unsigned)value;
    else
        line->socket = (int)value;
}

static bool take_local(struct line *line)
{
    unsigned long size[3] = {1, 1, 1};

    if (sscanf(optarg, "%lu,%lu,%lu", &size[0], &size[1], &size[2]) < 1)
        return false;
    for (unsigned d = 0; d < 3; d++)
        line->command.request.local_size[d] = size[d];
    return true;
}

static bool take_known(struct line *line)
{
    struct tsl_wire_build *request = &line->command.request;
    struct tsl_wire_known *known = &line->known[request->n_known];

    if (request->n_known == MOST_KNOWN ||
        sscanf(optarg, "%i,%i,%i,%i,%i,%i,%i,%i", (int *)&known->arg, (int *)&known->sampler,
               (int *)&known->channel_order, (int *)&known->channel_type, (int *)&known->element_size,
               (int *)&known->n_channels, (int *)&known->kind, (int *)&known->alpha) < 2)
        return false;
    request->known = line->known;
    request->n_known++;
    return true;
}

/* False: an unknown option, or an invalid value. */
static bool read_option(struct line *line, int option)
{
    switch (option) {
    case EMIT:
        line->command.emit = optarg;
        return true;
    case FOOTPRINT:
        line->command.emit = "footprint";
        return true;
    case OPTIONS:
        line->command.request.options = optarg;
        return true;
    case PROCESSOR:
        line->command.request.processor = optarg;
        return true;
    case KERNEL:
        line->command.request.kernel = optarg;
        return true;
    case LOCAL:
        return take_local(line);
    case KNOWN:
        return take_known(line);
    case TRANSLATOR:
        line->command.request.translator = optarg;
        return true;
    case 'o':
        line->command.out = optarg;
        return true;
    case MAKE:
        line->make = true;
        return true;
    case SERVE:
    case TIME:
    case MEMORY:
    case IDLE:
    case JOBS:
        read_limit(line, option);
        return true;
    default:
        return false;
    }
}

int main(int n, char **args)
{
    static char none[] = "";
    struct line line = {.command = {.emit = "facts", .n_processes = 1, .request = {.options = none}},
                        .limits = {.seconds = 600, .memory = UINT64_C(8) << 30, .idle = 600},
                        .socket = -1};
    int option;

    while ((option = getopt_long(n, args, "o:", options, NULL)) >= 0) {
        if (option == VERSION || option == HELP)
            return puts(option == HELP ? usage : kc_version()) < 0;
        if (option == LIST)
            return list_builtins();
        if (!read_option(&line, option))
            return bad_usage();
    }
    if (line.socket >= 0)
        return serve(line.socket, &line.limits);
    if (line.make)
        return n - optind < 2
                   ? bad_usage()
                   : kc_builtins_make(args[optind], args[optind + 1], (unsigned)(n - optind - 2), args + optind + 2);
    return n - optind != 1 ? bad_usage() : run(&line.command, args[optind]);
}
