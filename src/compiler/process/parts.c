#include "compiler/process/parts.h"

#include "compiler/middle/shares.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* More processes hardly gain: most programs have one kernel that takes longer than all others together. */
#define MAX_PARTS KC_MAX_OBJECTS

/* Of a GPU's constant memory a module may have 64 KiB. */
#define CONSTANT_SIZE 65536u

struct part {
    pid_t child;
    int file; /* in memory: its reply, as the whole build's */
    struct kc_bytes reply;
    struct tsl_wire_built built; /* borrows from the reply */
    bool decoded;
};

/* ---- One share --------------------------------------------------------------------------------------------------- */

static uint32_t n_dealt(const struct kc_shares *shares, unsigned number)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < shares->n_kernels; i++)
        n += shares->share[i] == number;
    return n;
}

/* The others rely on it. */
static bool has_all(struct kc_build *build, const struct kc_shares *shares, unsigned number)
{
    if (build->n_kernels == n_dealt(shares, number))
        return true;
    fprintf(build->log, "error: a kernel calls a function in a way that can't be compiled\n");
    build->result = CL_BUILD_PROGRAM_FAILURE;
    return false;
}

/* Kernels that call themselves are left out; programs that have such aren't shared. */
static bool build_share(struct kc_build *build, const struct kc_shares *shares, unsigned number, struct kc_bytes *code)
{
    if (shares->n > 1)
        kc_shares_keep(shares, build->module, number);
    return kc_build_simplify(build) && kc_build_kernels(build) && (shares->n == 1 || has_all(build, shares, number)) &&
           kc_build_code(build, (struct kc_share){number, shares->n > 1 ? shares->n_kernels : build->n_kernels}, code);
}

static void put(int file, const struct tsl_writer *writer)
{
    for (size_t at = 0; at < writer->size;) {
        ssize_t n = write(file, writer->data + at, writer->size - at);

        if (n < 0 && errno != EINTR)
            _exit(1);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* In the child. What the log had before is the parent's to tell. */
static _Noreturn void work(struct kc_build *build, const struct kc_shares *shares, unsigned number, int file)
{
    struct tsl_writer writer = {0};
    struct kc_bytes code = {NULL, 0};
    struct tsl_wire_built built = {.result = CL_SUCCESS};
    size_t told = build->text_size;

    if (!build_share(build, shares, number, &code))
        built.result = build->result;
    fflush(build->log);
    built.log = build->text + told;
    built.artefact = code.data;
    built.artefact_size = code.size;
    built.n_kernels = build->n_kernels;
    built.kernels = build->kernels;
    tsl_wire_encode_built(&writer, 0, &built);
    if (writer.failed)
        _exit(1);
    put(file, &writer);
    _exit(0);
}

static bool start(struct kc_build *build, const struct kc_shares *shares, unsigned number, struct part *part)
{
    pid_t parent = getpid();

    part->file = memfd_create("tesela-kc", MFD_CLOEXEC);
    part->child = part->file < 0 ? -1 : fork();
    if (part->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* Whoever waits for the build waits for all that have its pipe. */
        if (getppid() != parent)
            _exit(1);
        work(build, shares, number, part->file);
    }
    return part->child > 0;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static int wait_for(const struct part *part)
{
    int status = 0;

    while (waitpid(part->child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* Whoever waits for this process shall see what happened to its child. */
static _Noreturn void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
}

static void collect(struct part *part)
{
    int status = wait_for(part);
    struct tsl_wire_header header;

    part->decoded =
        kc_read_whole(part->file, &part->reply) &&
        tsl_wire_look(part->reply.data, part->reply.size, &header) == TSL_WIRE_WHOLE &&
        tsl_wire_decode_built((const char *)part->reply.data + TSL_WIRE_HEADER_SIZE, header.body_size, &part->built);
    if (!part->decoded)
        end_like(status);
}

static void end(struct part *part)
{
    if (part->decoded)
        tsl_wire_built_finish(&part->built);
    free(part->reply.data);
    if (part->child && part->file >= 0)
        close(part->file);
}

/* The processes that were started aren't needed. */
static void give_up(struct part *parts, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (parts[i].child > 0) {
            kill(parts[i].child, SIGKILL);
            wait_for(&parts[i]);
        }
}

/* The program's kernels in its order; those of the first share are in the build already. */
static void merge_kernels(struct kc_build *build, const struct kc_shares *shares, struct part *parts)
{
    struct tsl_wire_kernel *all = calloc(shares->n_kernels + 1, sizeof(*all));
    uint32_t next[MAX_PARTS] = {0};

    for (uint32_t i = 0; i < shares->n_kernels; i++) {
        unsigned share = shares->share[i];
        struct tsl_wire_kernel *from = share ? parts[share].built.kernels : build->kernels;

        all[i] = from[next[share]];
        from[next[share]++].facts = (struct tsl_kernel_facts){.name = NULL};
    }
    free(build->kernels);
    build->kernels = all;
    build->n_kernels = shares->n_kernels;
}

static bool merge(struct kc_build *build, const struct kc_shares *shares, struct part *parts, struct kc_bytes first)
{
    struct kc_bytes codes[MAX_PARTS] = {first};
    bool done = true;

    for (unsigned i = 1; i < shares->n; i++) {
        collect(&parts[i]);
        codes[i] = (struct kc_bytes){(void *)(uintptr_t)parts[i].built.artefact, parts[i].built.artefact_size};
        fputs(parts[i].built.log, build->log);
        if (parts[i].built.result != CL_SUCCESS)
            build->result = parts[i].built.result;
        done &= parts[i].built.result == CL_SUCCESS;
    }
    if (!done)
        return false;
    if (shares->n > 1)
        merge_kernels(build, shares, parts);
    return kc_build_join(build, codes, shares->n);
}

/* False: not all could be started, and none is left. */
static bool start_all(struct kc_build *build, const struct kc_shares *shares, struct part *parts)
{
    fflush(build->log);
    for (unsigned i = 1; i < shares->n; i++)
        if (!start(build, shares, i, &parts[i])) {
            give_up(parts, shares->n);
            return false;
        }
    return true;
}

static bool build_shares(struct kc_build *build, struct kc_shares *shares)
{
    struct part parts[MAX_PARTS] = {{0}}; /* the first is this process */
    struct kc_bytes code = {NULL, 0};
    unsigned n = shares->n;
    bool done;

    if (!start_all(build, shares, parts))
        shares->n = 1;
    done = build_share(build, shares, 0, &code);
    if (done)
        done = merge(build, shares, parts, code);
    else
        give_up(parts, shares->n);
    for (unsigned i = 1; i < n; i++)
        end(&parts[i]);
    free(code.data);
    return done;
}

bool kc_parts_build(struct kc_build *build)
{
    bool ptx = build->request->target == TSL_WIRE_PTX;
    unsigned most = build->n_processes < MAX_PARTS ? build->n_processes : MAX_PARTS;
    struct kc_shares shares;
    bool done;

    kc_shares_create(build->module, most, ptx ? CONSTANT_SIZE : 0, &shares);
    done = build_shares(build, &shares);
    kc_shares_finish(&shares);
    return done;
}
