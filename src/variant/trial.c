#include "variant/trial.h"

#include "base/clock.h"
#include "compile_client/process.h"
#include "driver/call.h"
#include "variant/variant.h"

#include <CL/cl_tesela.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static uint64_t pages(uint64_t size)
{
    return (size + TSL_TRIAL_PAGE - 1) / TSL_TRIAL_PAGE * TSL_TRIAL_PAGE;
}

static uint64_t head_size(const struct tsl_call_launch *launch)
{
    return pages(sizeof(struct tsl_trial_file) + launch->n_args * sizeof(struct tsl_trial_arg));
}

/* Copies of memory that overlaps would be two memories. */
static bool overlaps(const struct tsl_call_launch *launch, unsigned i)
{
    const struct tsl_call_arg *a = &launch->args[i];

    for (unsigned k = 0; k < i; k++) {
        const struct tsl_call_arg *b = &launch->args[k];

        if (b->kind == TSL_ARG_MEM && b->at && (char *)a->at < (char *)b->at + b->size &&
            (char *)b->at < (char *)a->at + a->size)
            return true;
    }
    return false;
}

/* 0: this launch can't be tried. */
static uint64_t file_size(const struct tsl_call_launch *launch)
{
    uint64_t size = head_size(launch), memory = 0;

    for (unsigned i = 0; i < launch->n_args; i++) {
        const struct tsl_call_arg *arg = &launch->args[i];

        if (arg->kind == TSL_ARG_LOCAL || !arg->at)
            continue;
        memory += arg->size;
        if (arg->size > TSL_TRIAL_MAX_SIZE || memory > TSL_TRIAL_MAX_SIZE ||
            (arg->kind == TSL_ARG_MEM && overlaps(launch, i)))
            return 0;
        size += pages(arg->size);
    }
    return size;
}

/* What libraries read: where others are, and how many threads they may have. */
static void copy_environment(struct tsl_trial_file *file)
{
    static const char *const wanted[] = {"LD_LIBRARY_PATH=", "OMP_", "GOMP_", "OPENBLAS_", "MKL_"};
    size_t at = 0;

    for (char **variable = environ; variable && *variable; variable++) {
        size_t size = strlen(*variable) + 1;
        bool copied = false;

        for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
            copied |= !strncmp(*variable, wanted[i], strlen(wanted[i]));
        if (!copied || at + size + 1 > sizeof(file->environment))
            continue;
        memcpy(file->environment + at, *variable, size);
        at += size;
    }
}

static void copy_sizes(struct tsl_trial_file *file, const struct tsl_window *window)
{
    file->work_dim = window->work_dim;
    for (unsigned d = 0; d < 3; d++) {
        bool used = d < window->work_dim;

        file->offset[d] = used ? window->global_offset[d] : 0;
        file->global[d] = used ? window->global_size[d] : 1;
        file->local[d] = window->local_size[0] ? used ? window->local_size[d] : 1 : 0;
        file->begin[d] = used && !window->whole ? window->group_begin[d] * window->local_size[d] : 0;
        file->end[d] = file->begin[d] + (used ? tsl_window_items_of(window, d) : 1);
    }
}

static void copy_args(struct tsl_trial_file *file, const struct tsl_call_launch *launch)
{
    uint64_t at = head_size(launch);

    for (unsigned i = 0; i < launch->n_args; i++) {
        const struct tsl_call_arg *arg = &launch->args[i];
        struct tsl_trial_arg *copy = &file->args[i];

        *copy = (struct tsl_trial_arg){.kind = arg->kind == TSL_ARG_MEM     ? CL_VARIANT_MEMORY_TESELA
                                               : arg->kind == TSL_ARG_LOCAL ? CL_VARIANT_LOCAL_TESELA
                                                                            : CL_VARIANT_VALUE_TESELA,
                                       .size = arg->size};
        if (arg->kind == TSL_ARG_LOCAL || !arg->at)
            continue;
        copy->at = at;
        memcpy((char *)file + at, arg->at, arg->size);
        at += pages(arg->size);
    }
}

/* A file in memory, mapped; NULL with *why. */
static struct tsl_trial_file *make_file(const struct tsl_variant *v, const struct tsl_call_launch *launch,
                                        uint64_t size, int *descriptor, const char **why)
{
    struct tsl_trial_file *file = MAP_FAILED;

    *why = "there is no memory to try it in a process of its own";
    *descriptor = memfd_create("tesela-try", MFD_CLOEXEC);
    if (*descriptor >= 0 && ftruncate(*descriptor, (off_t)size) == 0)
        file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
    if (file == MAP_FAILED) {
        if (*descriptor >= 0)
            close(*descriptor);
        return NULL;
    }
    file->magic = TSL_TRIAL_MAGIC;
    file->size = size;
    file->n_args = launch->n_args;
    file->n_threads = launch->n_threads;
    snprintf(file->library, sizeof(file->library), "%s", v->file);
    snprintf(file->function, sizeof(file->function), "%s", v->function);
    copy_environment(file);
    copy_sizes(file, launch->window);
    copy_args(file, launch);
    return file;
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

/* False: it didn't end in time. */
static bool wait_for_end(int handle)
{
    uint64_t end = tsl_clock_ns() + TSL_TRIAL_SECONDS * UINT64_C(1000000000), now;
    struct pollfd ended = {.fd = handle, .events = POLLIN};

    while ((now = tsl_clock_ns()) < end)
        if (poll(&ended, 1, (int)((end - now) / 1000000) + 1) > 0)
            return true;
    return false;
}

static enum tsl_trial_result judge(struct tsl_trial_file *file, bool ended, const char **why)
{
    *why = "its function did not return in a trial";
    if (!ended)
        return TSL_TRIAL_FAILED;
    switch (atomic_load(&file->state)) {
    case TSL_TRIAL_IS_WELL:
        return TSL_TRIAL_WELL;
    case TSL_TRIAL_IS_REFUSED:
        return TSL_TRIAL_REFUSED;
    case TSL_TRIAL_NO_LIBRARY:
        *why = "its library can't be loaded";
        return TSL_TRIAL_FAILED;
    case TSL_TRIAL_NO_FUNCTION:
        *why = "its library has no such function";
        return TSL_TRIAL_FAILED;
    case TSL_TRIAL_STARTED:
        *why = "its library ended the process that loaded it for a trial";
        return TSL_TRIAL_FAILED;
    default:
        *why = "its function crashed in a trial";
        return TSL_TRIAL_FAILED;
    }
}

static enum tsl_trial_result run(struct tsl_trial_file *file, int descriptor, const char **why)
{
    /* From the library, and from a node's program. */
    static const char *const places[] = {"/tesela/tesela-try", "/try/tesela-try", "/tesela-try", "/../try/tesela-try"};
    static char name[] = "tesela-try";
    char path[PATH_MAX], *arguments[] = {name, NULL};
    struct tsl_spawned spawned;
    enum tsl_trial_result result;

    *why = "the program tesela-try, which tries it, is not beside the library: install Tesela again";
    if (!tsl_spawn_find(places, 4, path))
        return TSL_TRIAL_FAILED;
    *why = "the program tesela-try, which tries it, can't be started here: TRIAL no in its file does without";
    if (!tsl_spawn(path, arguments, descriptor, &spawned))
        return TSL_TRIAL_FAILED;
    if (spawned.handle < 0)
        return TSL_TRIAL_FAILED;
    result = judge(file, wait_for_end(spawned.handle), why);
    tsl_spawn_end(&spawned);
    return result;
}

enum tsl_trial_result tsl_trial(const struct tsl_variant *variant, const struct tsl_call_launch *launch,
                                const char **why)
{
    uint64_t size = file_size(launch);
    struct tsl_trial_file *file;
    enum tsl_trial_result result;
    int descriptor;

    if (!size)
        return TSL_TRIAL_IMPOSSIBLE;
    file = make_file(variant, launch, size, &descriptor, why);
    if (!file)
        return TSL_TRIAL_IMPOSSIBLE;
    result = run(file, descriptor, why);
    munmap(file, size);
    close(descriptor);
    return result;
}
