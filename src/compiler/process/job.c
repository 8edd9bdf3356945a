#include "compiler/process/job.h"

#include "compiler/process/build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* At most so many bytes of LLVM's last messages are shown when it dies. */
#define MAX_LAST_WORDS 16384

uint64_t kc_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- The child --------------------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Sanitizers map terabytes of address space. */
static void limit_memory(uint64_t more)
{
    (void)more;
}
#else
/* The size of this process's address space in bytes. */
static uint64_t address_space(void)
{
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (file < 0 || read(file, text, sizeof(text) - 1) < 0)
        text[0] = 0;
    if (file >= 0)
        close(file);
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_memory(uint64_t more)
{
    rlim_t size = address_space() + more;

    setrlimit(RLIMIT_AS, &(struct rlimit){size, size});
}
#endif

static void limit(const struct kc_limits *limits)
{
    struct rlimit core = {0, 0}, seconds = {limits->seconds + 1, limits->seconds + 2};

    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_CPU, &seconds);
    limit_memory(limits->memory);
}

static void write_all(int file, const void *data, size_t size)
{
    while (size) {
        ssize_t n = write(file, data, size);

        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            data = (const char *)data + n;
            size -= (size_t)n;
        }
    }
}

static _Noreturn void work(struct kc_prepared *prepared, unsigned n_processes, uint64_t request, const void *body,
                           size_t size, int pipe)
{
    struct tsl_wire_build message;
    struct tsl_writer reply = {0};
    struct kc_build build;

    if (tsl_wire_decode_build(body, size, &message)) {
        kc_build_begin(&build, &message, prepared);
        build.n_processes = n_processes;
        kc_build_run(&build);
        kc_build_encode(&build, request, &reply);
    } else
        tsl_wire_encode_error(
            &reply, request,
            &(struct tsl_wire_error){CL_INVALID_VALUE, "the kernel compiler was sent what it can't read"});
    if (!reply.failed)
        write_all(pipe, reply.data, reply.size);
    _exit(0);
}

static void close_others(int pipe)
{
    close_range(3, (unsigned)pipe - 1, 0);
    close_range((unsigned)pipe + 1, ~0u, 0);
}

bool kc_job_start(struct kc_job *job, struct kc_prepared *prepared, const struct kc_limits *limits, uint64_t request,
                  const void *body, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(body, size);
    uint32_t action = tsl_read_u32_max(&reader, TSL_WIRE_LAST_ACTION);
    char *why = NULL;
    int ends[2];

    /* Once for all children. If it fails, the build reports why. */
    kc_prepared_open(prepared, tsl_read_u32_max(&reader, TSL_WIRE_LAST_TARGET), &why);
    free(why);
    *job = (struct kc_job){.request = request,
                           .action = action,
                           .errors = memfd_create("errors", MFD_CLOEXEC),
                           .deadline = kc_now() + limits->seconds * 1000000000u};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        close(job->errors);
        return false;
    }
    job->child = fork();
    if (job->child == 0) {
        setpgid(0, 0); /* so that a linker that it runs is killed with it */
        dup2(job->errors, STDERR_FILENO);
        close_others(ends[1]);
        limit(limits);
        work(prepared, limits->parallel, request, body, size, ends[1]);
    }
    close(ends[1]);
    job->pipe = ends[0];
    fcntl(job->pipe, F_SETFL, O_NONBLOCK);
    if (job->child > 0)
        return true;
    close(job->pipe);
    close(job->errors);
    return false;
}

/* ---- Its end ----------------------------------------------------------------------------------------------------- */

bool kc_job_read(struct kc_job *job)
{
    static char buffer[1 << 16];
    ssize_t n;

    while ((n = read(job->pipe, buffer, sizeof(buffer))) > 0)
        tsl_write_raw(&job->reply, buffer, (size_t)n);
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void kill_group(const struct kc_job *job)
{
    kill(-job->child, SIGKILL);
    kill(job->child, SIGKILL); /* it may not be in its own group yet */
}

void kc_job_check(struct kc_job *job, uint64_t now)
{
    if (now < job->deadline || job->late)
        return;
    job->late = true;
    kill_group(job);
}

static int reap(const struct kc_job *job)
{
    int status = 0;

    while (waitpid(job->child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* The child's output on standard error (heap). */
static char *last_words(const struct kc_job *job)
{
    char *text = calloc(1, MAX_LAST_WORDS + 1);

    if (text && pread(job->errors, text, MAX_LAST_WORDS, 0) < 0)
        text[0] = 0;
    return text;
}

static void put_failure(const struct kc_job *job, int status, struct tsl_writer *out)
{
    static const cl_int failures[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE};
    struct tsl_wire_built built = {.result = failures[job->action]};
    char *words = last_words(job), *log = NULL;
    int written;

    if (job->late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        written = asprintf(&log, "error: the kernel compiler was stopped: this build took too long\n");
    else if (words && (strstr(words, "out of memory") || strstr(words, "std::bad_alloc")))
        written = asprintf(&log, "error: the kernel compiler was stopped: this build needs too much memory\n");
    else if (WIFSIGNALED(status))
        written = asprintf(&log, "error: the kernel compiler died of this program (%s)\n%s",
                           strsignal(WTERMSIG(status)), words ? words : "");
    else
        written = asprintf(&log, "error: the kernel compiler gave up (status %d)\n%s", WEXITSTATUS(status),
                           words ? words : "");
    built.log = written < 0 ? "error: the kernel compiler died\n" : log;
    tsl_wire_encode_built(out, job->request, &built);
    free(words);
    if (written >= 0)
        free(log);
}

void kc_job_end(struct kc_job *job, struct tsl_writer *out)
{
    struct tsl_wire_header header;
    int status = reap(job);

    kill(-job->child, SIGKILL); /* processes that it may have left behind */
    if (!job->reply.failed && tsl_wire_look(job->reply.data, job->reply.size, &header) == TSL_WIRE_WHOLE)
        tsl_write_raw(out, job->reply.data, job->reply.size);
    else
        put_failure(job, status, out);
    free(job->reply.data);
    close(job->pipe);
    close(job->errors);
}

void kc_job_kill(struct kc_job *job)
{
    kill_group(job);
    reap(job);
    free(job->reply.data);
    close(job->pipe);
    close(job->errors);
}
