#include "tool/nodes.h"
#include "base/clock.h"
#include "tool/icd_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* MPI connects the processes within so many seconds, unless TESELA_NODES_START says otherwise: where MPI survives the
 * end of a process the others wait for ever if one ends meanwhile. The processes have the same limit (node/mpi_io.c).
 */
#define MEET_SECONDS 30
/* Vendors are loaded and devices opened then; the head's own limit is a minute. */
#define READY_SECONDS 65
/* The head's own default. */
#define SILENCE_SECONDS 20
#define MOST_NODES      256

/* The MPIs that it is built with, the first one taken unless TESELA_MPI names another. */
#ifndef TESELA_OPEN_MPIRUN
#define TESELA_OPEN_MPIRUN NULL
#endif
#ifndef TESELA_MPICH_MPIRUN
#define TESELA_MPICH_MPIRUN NULL
#endif

struct mpi {
    const char *name, *run; /* run: its program that starts jobs; NULL: not built */
    const char *head, *node;
    bool is_open_mpi;
};

static const struct mpi mpis[] = {
    {"openmpi", TESELA_OPEN_MPIRUN, "tesela-head", "tesela-node", true},
    {"mpich", TESELA_MPICH_MPIRUN, "tesela-head-mpich", "tesela-node-mpich", false},
};

/* NULL, with a sentence: none was built, or not the one that is wanted. */
static const struct mpi *choose_mpi(void)
{
    const char *wanted = getenv("TESELA_MPI");

    if (wanted && !*wanted)
        wanted = NULL;
    for (size_t i = 0; i < sizeof mpis / sizeof mpis[0]; i++)
        if (mpis[i].run && (!wanted || strcasecmp(wanted, mpis[i].name) == 0))
            return &mpis[i];
    if (wanted)
        fprintf(stderr,
                "tesela run: TESELA_MPI=%s: it may be openmpi or mpich, and this Tesela must have been built with it\n",
                wanted);
    else
        fprintf(stderr, "tesela run: --nodes needs MPI, and this Tesela was built without it: install the Debian "
                        "packages openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev, and build again\n");
    return NULL;
}

/* ---- How many ---------------------------------------------------------------------------------------------------- */

/* Where the nodes are. */
struct hosts {
    const char *path; /* NULL: all on this machine */
    unsigned n;       /* nodes */
    char list[8192];  /* MPICH's form, this machine, where the head is, first */
};

/* How many nodes a line asks for: slots=N behind the name, or the name ends in :N, as MPICH has it. The name is cut
 * off.
 */
static unsigned take_line(char *line)
{
    const char *slots = strstr(line, "slots=");
    char *name = line + strspn(line, " \t"), *colon;
    unsigned n = slots ? (unsigned)strtoul(slots + 6, NULL, 10) : 1;

    name[strcspn(name, " \t")] = 0;
    colon = strchr(name, ':');
    if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
        n = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = 0;
    }
    memmove(line, name, strlen(name) + 1);
    return n;
}

static void append_host(struct hosts *hosts, const char *name, unsigned n)
{
    size_t at = strlen(hosts->list);

    hosts->n += n;
    if (n)
        snprintf(hosts->list + at, sizeof hosts->list - at, ",%s:%u", name, n);
}

/* False, with a sentence: the file can't be read, or names none. */
static bool read_hosts(struct hosts *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[1024];

    if (!file) {
        fprintf(stderr, "tesela run: --nodes takes a number or a file of hosts, and %s can't be read: %s\n", path,
                strerror(errno));
        return false;
    }
    snprintf(hosts->list, sizeof hosts->list, "localhost:1");
    while (fgets(line, sizeof line, file)) {
        unsigned n;

        line[strcspn(line, "#\r\n")] = 0;
        if (!line[strspn(line, " \t")])
            continue;
        n = take_line(line);
        append_host(hosts, line, n);
    }
    fclose(file);
    hosts->path = path;
    if (hosts->n >= 1 && hosts->n <= MOST_NODES && strlen(hosts->list) < sizeof hosts->list - 1)
        return true;
    fprintf(stderr, "tesela run: %s names %u nodes; there may be 1 to %d\n", path, hosts->n, MOST_NODES);
    return false;
}

static bool find_hosts(struct hosts *hosts, const char *nodes)
{
    char *end;
    unsigned long n = strtoul(nodes, &end, 10);

    if (end == nodes || *end)
        return read_hosts(hosts, nodes);
    hosts->n = (unsigned)n;
    if (n >= 1 && n <= MOST_NODES)
        return true;
    fprintf(stderr, "tesela run: --nodes=%s: there may be 1 to %d nodes\n", nodes, MOST_NODES);
    return false;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

struct line {
    char *words[128];
    unsigned n;
};

static void add(struct line *line, const char *word)
{
    if (line->n + 1 < sizeof line->words / sizeof line->words[0])
        line->words[line->n++] = (char *)word;
}

/* Nodes on other hosts begin with an environment of their own. */
static void add_environment(struct line *line)
{
    static const char *const names[] = {"HWLOC_COMPONENTS", "TESELA_NODE_MEMBERS", "TESELA_VENDORS", "TESELA_LOG",
                                        "TESELA_CPU",       "TESELA_NVIDIA",       "TESELA_CACHE",   "TESELA_SVM",
                                        "TESELA_GATES",     "TESELA_NODES_START"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i])) {
            add(line, "-x");
            add(line, names[i]);
        }
}

struct job {
    const struct mpi *mpi;
    unsigned meet_seconds;
    char head[PATH_MAX], node[PATH_MAX], folder[PATH_MAX], socket[PATH_MAX];
    char count[16], process[32];
    struct hosts hosts;
    pid_t session; /* of its processes on this machine, the nodes' not among them */
};

static void add_open_mpi(struct line *line)
{
    add(line, "--oversubscribe");
    add(line, "--bind-to");
    add(line, "none");
    /* On a machine with more processes than processors MPI would yield in each look, and wait for the turns of what
     * computes there. */
    add(line, "--mca");
    add(line, "mpi_yield_when_idle");
    add(line, "0");
#ifdef TESELA_MPI_SURVIVES
    add(line, "--with-ft");
    add(line, "ulfm");
#endif
    if (geteuid() == 0)
        add(line, "--allow-run-as-root");
}

static void write_line(struct line *line, const struct job *job)
{
    bool open_mpi = job->mpi->is_open_mpi;

    add(line, job->mpi->run);
    if (open_mpi)
        add_open_mpi(line);
    if (job->hosts.path && !open_mpi) { /* One list for all, from which ranks take their places in turn. */
        add(line, "-hosts");
        add(line, job->hosts.list);
    }
    add(line, "-n");
    add(line, "1");
    if (job->hosts.path && open_mpi) {
        add(line, "--host");
        add(line, "localhost");
    }
    add(line, job->head);
    add(line, job->folder);
    add(line, job->process);
    add(line, ":");
    add(line, "-n");
    add(line, job->count);
    if (job->hosts.path && open_mpi) {
        add(line, "--hostfile");
        add(line, job->hosts.path);
    }
    if (open_mpi)
        add_environment(line);
    add(line, job->node);
    line->words[line->n] = NULL;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* In a folder beside the tool in a build tree, else where the library's other programs are once installed. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX];

    if (!tsl_tool_folder(own))
        return false;
    if (snprintf(path, PATH_MAX, "%s/nodes/%s", own, name) < PATH_MAX && access(path, X_OK) == 0)
        return true;
    return snprintf(path, PATH_MAX, "%s/%s/../%s", own, TESELA_ICD_FROM_TOOL, name) < PATH_MAX &&
           access(path, X_OK) == 0;
}

static bool make_folder(struct job *job)
{
    const char *run = getenv("XDG_RUNTIME_DIR");

    if (!run || access(run, W_OK))
        run = "/tmp";
    if (snprintf(job->folder, sizeof job->folder, "%s/tesela-nodes-XXXXXX", run) >= PATH_MAX - 32 ||
        !mkdtemp(job->folder)) {
        fprintf(stderr, "tesela run: no folder can be made in %s: %s\n", run, strerror(errno));
        return false;
    }
    snprintf(job->socket, sizeof job->socket, "%.*s/socket", PATH_MAX - 16, job->folder);
    return true;
}

/* What is meant for the program alone. MPI asks hwloc for devices, which would load Tesela for that. */
static void set_environment(void)
{
    unsetenv("TESELA_MEMBERS");
    unsetenv("TESELA_NODES");
    unsetenv("TESELA_TRACE");
    setenv("HWLOC_COMPONENTS", "-opencl", 1);
}

static void become(const struct line *line, int alive)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    set_environment();

    if (null >= 0)
        dup2(null, 0);
    fcntl(alive, F_SETFD, 0); /* It stays open for as long as the job runs. */
    execvp(line->words[0], line->words);
    fprintf(stderr, "tesela run: %s, which starts MPI's jobs, can't be run: %s\n", line->words[0], strerror(errno));
    _exit(1);
}

enum head_state { HEAD_NOT_THERE, HEAD_LIVES, HEAD_ENDED };

/* The head locks a file of the job's folder for as long as it lives, and removes it at an orderly end. */
static enum head_state look_at_head(const struct job *job)
{
    char path[PATH_MAX + 8];
    enum head_state state;
    int file;

    snprintf(path, sizeof path, "%s/head", job->folder);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return HEAD_NOT_THERE;
    state = flock(file, LOCK_SH | LOCK_NB) ? HEAD_LIVES : HEAD_ENDED;
    close(file);
    return state;
}

/* Open MPI's mpirun may stand still in its own end when a process of the job dies: it gets some time for that. */
#define END_SECONDS 10

static void supervise(const struct line *line, const struct job *job, int alive)
{
    enum head_state state = HEAD_NOT_THERE, last;
    unsigned n_ended = 0;
    pid_t child = fork();

    if (child == 0)
        become(line, alive);
    close(alive);
    while (child > 0 && waitpid(child, NULL, WNOHANG) == 0) {
        last = state;
        state = look_at_head(job);
        if (state == HEAD_NOT_THERE && last != HEAD_NOT_THERE)
            state = HEAD_ENDED;
        n_ended = state == HEAD_ENDED ? n_ended + 1 : 0;
        if (n_ended == END_SECONDS * 10)
            kill(child, SIGKILL);
        poll(NULL, 0, 100);
    }
    _exit(child < 0);
}

/* In a session of its own, so that the terminal's signals are the program's alone, and as nobody's child. Returns a
 * pipe that ends with it; -1 on error. */
static int start(const struct line *line, struct job *job)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    child = fork();
    if (child == 0) {
        setsid();
        child = fork();
        if (child == 0)
            supervise(line, job, ends[1]);
        _exit(child < 0);
    }
    close(ends[1]);
    job->session = child;
    if (child > 0 && waitpid(child, NULL, 0) == child)
        return ends[0];
    close(ends[0]);
    return -1;
}

static bool is_there(const struct job *job, const char *name)
{
    char path[PATH_MAX + 8];

    snprintf(path, sizeof path, "%s/%s", job->folder, name);
    return access(path, F_OK) == 0;
}

static void remove_folder(const struct job *job)
{
    static const char *const names[] = {"why", "head", "met"};
    char path[PATH_MAX + 8];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", job->folder, names[i]);
        unlink(path);
    }
    rmdir(job->folder);
}

enum why { ENDED, NEVER_MET, NEVER_READY };

/* What the head wrote of it; else what was waited for, or where to look. */
static void say_why(const struct job *job, enum why why)
{
    char path[PATH_MAX + 8], sentence[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/why", job->folder);
    file = fopen(path, "re");
    if (file && fgets(sentence, sizeof sentence, file))
        fprintf(stderr, "tesela run: the nodes could not be started: %s", sentence);
    else if (why == NEVER_READY)
        fprintf(stderr,
                "tesela run: the nodes could not be started: they have not become ready within %d seconds, and their "
                "head says nothing\n",
                READY_SECONDS);
    else if (why == NEVER_MET)
        fprintf(stderr,
                "tesela run: the nodes could not be started: MPI has not connected their processes within %u seconds, "
                "so one has ended or stands still, or a machine doesn't answer; TESELA_NODES_START gives them longer\n",
                job->meet_seconds);
    else
        fprintf(stderr, "tesela run: the nodes could not be started; what MPI says of it stands above\n");
    if (file)
        fclose(file);
    remove_folder(job);
}

/* MPI may have something to say, and ends its processes if it is told to. */
static void end_job(const struct job *job, struct pollfd *end, enum why why)
{
    if (why != ENDED)
        kill(-job->session, SIGTERM);
    poll(end, 1, 3000);
    kill(-job->session, SIGKILL);
}

#define SECOND UINT64_C(1000000000)

static bool wait_until_ready(const struct job *job, int alive)
{
    struct pollfd end = {.fd = alive, .events = POLLIN};
    uint64_t until = tsl_clock_ns() + job->meet_seconds * SECOND;
    enum why why = NEVER_MET;

    while (tsl_clock_ns() < until) {
        if (is_there(job, "socket"))
            return true;
        if (why == NEVER_MET && is_there(job, "met")) {
            why = NEVER_READY;
            until = tsl_clock_ns() + READY_SECONDS * SECOND;
        }
        if (poll(&end, 1, 10) > 0 || look_at_head(job) == HEAD_ENDED) {
            why = ENDED;
            break;
        }
    }
    end_job(job, &end, why);
    say_why(job, why);
    return false;
}

/* A number of seconds; the default, with a sentence, if it isn't one. Head and nodes find in the environment what is
 * taken here. */
static unsigned read_seconds(const char *name, unsigned least, unsigned default_seconds)
{
    const char *text = getenv(name);
    char *end;
    unsigned long seconds;

    if (!text)
        return default_seconds;
    seconds = strtoul(text, &end, 10);
    if (*text && *end == 0 && seconds >= least && seconds <= 3600)
        return (unsigned)seconds;
    if (*text)
        fprintf(stderr, "tesela run: %s=%s: it may be a number of seconds from %u to 3600; %u are taken\n", name, text,
                least, default_seconds);
    unsetenv(name);
    return default_seconds;
}

bool tsl_tool_nodes_start(const char *nodes)
{
    struct job job = {.mpi = NULL};
    struct line line = {.n = 0};
    bool ready;
    int alive;

    if (!find_hosts(&job.hosts, nodes))
        return false;
    job.mpi = choose_mpi();
    if (!job.mpi)
        return false;
    if (!find_program(job.mpi->head, job.head) || !find_program(job.mpi->node, job.node)) {
        fprintf(stderr,
                "tesela run: %s and %s are not beside this tool, nor where it would be installed; "
                "build or install Tesela again\n",
                job.mpi->head, job.mpi->node);
        return false;
    }
    job.meet_seconds = read_seconds("TESELA_NODES_START", 1, MEET_SECONDS);
    read_seconds("TESELA_NODES_SILENCE", 2, SILENCE_SECONDS);
    if (!make_folder(&job))
        return false;
    snprintf(job.count, sizeof job.count, "%u", job.hosts.n);
    snprintf(job.process, sizeof job.process, "%ld", (long)getpid());
    write_line(&line, &job);
    alive = start(&line, &job);
    if (alive < 0) {
        perror("tesela run: --nodes");
        rmdir(job.folder);
        return false;
    }
    ready = wait_until_ready(&job, alive);
    close(alive);
    return ready && setenv("TESELA_NODES", job.socket, 1) == 0;
}
