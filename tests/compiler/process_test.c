/*
 * The kernel compiler's process as a child of a stranger: it is started when needed and again when it died, it does no
 * harm whatever is compiled, and the program around it notices nothing.
 */
/* timeout: 200 */
#include "kc_env.h"

#include "base/clock.h"
#include "compile_client/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char good[] = "kernel void f(global int *x) { x[get_global_id(0)] = 1; }";

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Does the process run? Who takes orphans may leave zombies. */
static bool runs(int process)
{
    char path[64], state = 'Z';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", process);
    file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    if (file)
        fclose(file);
    return state != 'Z';
}

static void it_greets_before_there_is_anything_to_build(void **state)
{
    char *why = NULL;
    int process;

    (void)state;
    assert_true(tsl_client_greet(TSL_CLIENT_GREET_MS, &why));
    process = tsl_client_process();
    assert_true(process > 0 && !why);
    assert_true(tsl_client_greet(TSL_CLIENT_GREET_MS, &why)); /* the same one */
    assert_int_equal(tsl_client_process(), process);
    assert_int_equal(kc_result(good, "-D GREETED"), CL_SUCCESS);
    assert_int_equal(tsl_client_process(), process);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void it_is_started_when_needed_and_kept(void **state)
{
    int process;

    (void)state;
    assert_int_equal(tsl_client_process(), 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    process = tsl_client_process();
    assert_true(process > 0);
    assert_int_equal(kc_result(good, "-D A"), CL_SUCCESS);
    assert_int_equal(tsl_client_process(), process);
}

static void it_is_started_again_when_it_died(void **state)
{
    int process;

    (void)state;
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    process = tsl_client_process();
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    assert_int_not_equal(tsl_client_process(), process);
    assert_false(runs(process));
}

static void *kill_it(void *unused)
{
    (void)unused;
    pause_ms(300);
    kill(tsl_client_process(), SIGKILL);
    return NULL;
}

/* Preprocessing that doubles 40 times: neither time nor memory is enough. */
static const char endless[] =
    "#define A(x) x x\n#define B(x) A(A(A(A(A(x)))))\n#define C(x) B(B(B(B(x))))\n#define D(x) C(C(x))\n"
    "kernel void f(global int *x) { x[0] = 0 D(+ 1); }";

static void who_waits_learns_of_its_death(void **state)
{
    pthread_t killer;
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    assert_int_equal(pthread_create(&killer, NULL, kill_it, NULL), 0);
    /* Lost and sent again; the time limit ends it then. */
    assert_int_equal(kc_build(endless, "", &compiled), CL_BUILD_PROGRAM_FAILURE);
    tsl_compiled_finish(&compiled);
    pthread_join(killer, NULL);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
}

/* With nothing to do it goes by itself, and comes back. In a process of its own, as its compiler has another limit. */
static int use_idly(void)
{
    static char idle_limit[] = "--idle-limit", seconds[] = "2";
    static char *const limits[] = {idle_limit, seconds, NULL};
    int process;

    kc_use(limits);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    process = tsl_client_process();
    pause_ms(500);
    assert_true(runs(process));
    for (unsigned i = 0; i < 3000 && runs(process); i++)
        pause_ms(10);
    assert_false(runs(process));
    assert_int_equal(kc_result(good, "-D A"), CL_SUCCESS);
    return tsl_client_process() != process ? 0 : 1;
}

static void *build_many(void *failures)
{
    for (unsigned i = 0; i < 10; i++) {
        char source[128];

        snprintf(source, sizeof(source), "kernel void k%u(global float *x) { x[get_global_id(0)] = sin(x[0]) + %u; }",
                 i, i);
        if (kc_result(source, "") != CL_SUCCESS)
            ++*(unsigned *)failures;
    }
    return NULL;
}

static void builds_of_several_threads_go_side_by_side(void **state)
{
    pthread_t threads[8];
    unsigned failures[8] = {0};

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, build_many, &failures[i]), 0);
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

/* This program once more, as its own parent's compiler is left alone; its exit status. */
static int run_self(const char *what, const char *with)
{
    char *const arguments[] = {"process_test", (char *)what, (char *)with, NULL};
    int status;
    pid_t child = fork();

    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* A program that uses the compiler and ends without a word: the compiler ends too; whether or not it has a child that
 * goes on. */
static void check_end(const char *how)
{
    int ends[2], processes[2] = {0};
    char number[16];

    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof(number), "%d", ends[1]);
    assert_int_equal(run_self(how, number), 0);
    assert_int_equal(read(ends[0], processes, sizeof(processes)), sizeof(processes));
    close(ends[0]);
    close(ends[1]);
    for (unsigned i = 0; i < 500 && runs(processes[0]); i++)
        pause_ms(10);
    assert_false(runs(processes[0]));
    if (processes[1]) {
        assert_true(runs(processes[1]));
        kill(processes[1], SIGKILL);
    }
}

static void it_ends_with_the_program(void **state)
{
    (void)state;
    check_end("--use");
}

static void forked_children_do_not_keep_it(void **state)
{
    (void)state;
    check_end("--use-and-fork");
}

static void it_goes_when_nothing_is_to_do(void **state)
{
    (void)state;
    assert_int_equal(run_self("--idle", NULL), 0);
}

static int use_and_end(const char *pipe, bool forks)
{
    int processes[2] = {0};

    kc_result(good, "");
    processes[0] = tsl_client_process();
    if (forks) {
        processes[1] = fork();
        if (processes[1] == 0) {
            pause_ms(60000);
            _exit(0);
        }
    }
    return write(atoi(pipe), processes, sizeof(processes)) == sizeof(processes) ? 0 : 1;
}

/* ---- What is compiled does no harm ------------------------------------------------------------------------------- */

static void check_failure(const char *source, const char *part)
{
    struct tsl_compiled compiled;
    int process;

    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    process = tsl_client_process();
    assert_int_equal(kc_build(source, "", &compiled), CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, part);
    tsl_compiled_finish(&compiled);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    assert_int_equal(tsl_client_process(), process);
}

static void a_compiler_that_dies_is_a_build_failure(void **state)
{
    (void)state;
    check_failure("#pragma clang __debug llvm_fatal_error\n", "the kernel compiler died of this program");
    check_failure("#pragma clang __debug crash\n", "the kernel compiler died of this program");
}

static void a_compiler_without_end_is_a_build_failure(void **state)
{
    (void)state;
    check_failure(endless, "the kernel compiler was stopped: this build ");
}

/* What a build waits for that never comes: to be opened for writing. */
static const char hanging[] = "#include \"fifo\"\nkernel void f(void) {}";
static char hanging_folder[] = "/tmp/tesela-process-XXXXXX";

static void *build_hanging(void *ended)
{
    struct tsl_compiled compiled;
    char options[64];

    snprintf(options, sizeof(options), "-I %s", hanging_folder);
    if (kc_build(hanging, options, &compiled) == CL_BUILD_PROGRAM_FAILURE &&
        strstr(compiled.built.log, "this build took too long"))
        atomic_store((atomic_int *)ended, 1);
    else
        atomic_store((atomic_int *)ended, 2);
    tsl_compiled_finish(&compiled);
    return NULL;
}

/* One that does nothing, for as long as it may: others end meanwhile. */
static int use_beside_a_hanging_one(void)
{
    static char time_limit[] = "--time-limit", seconds[] = "8", jobs[] = "--jobs", two[] = "2";
    static char *const limits[] = {time_limit, seconds, jobs, two, NULL};
    atomic_int ended = 0;
    pthread_t thread;
    char path[64];

    kc_use(limits);
    assert_non_null(mkdtemp(hanging_folder));
    snprintf(path, sizeof(path), "%s/fifo", hanging_folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, build_hanging, &ended), 0);
    pause_ms(500);
    assert_int_equal(kc_result(good, "-D B"), CL_SUCCESS);
    assert_int_equal(atomic_load(&ended), 0);
    pthread_join(thread, NULL);
    unlink(path);
    rmdir(hanging_folder);
    return atomic_load(&ended) == 1 ? 0 : 1;
}

static void others_go_on_beside_a_build_that_hangs(void **state)
{
    (void)state;
    assert_int_equal(run_self("--hanging", NULL), 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* The sanitizers map terabytes: nothing limits memory there. */
#define MEMORY_SECONDS "3"
#define MEMORY_WORDS   "the kernel compiler was stopped: this build "
#else
#define MEMORY_SECONDS "300"
#define MEMORY_WORDS   "the kernel compiler was stopped: this build needs too much memory"
#endif

/* In a process of its own, as its compiler has another limit. */
static int use_too_much(const char *mib)
{
    static char time_limit[] = "--time-limit", seconds[] = MEMORY_SECONDS, memory_limit[] = "--memory-limit";
    char *const limits[] = {time_limit, seconds, memory_limit, (char *)mib, NULL};

    kc_use(limits);
    check_failure(endless, MEMORY_WORDS);
    return 0;
}

/* Wherever it was when there was no more. */
static void a_compiler_without_memory_is_a_build_failure(void **state)
{
    static const char *const all[] = {"40", "64", "75", "100", "150", "256"};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_int_equal(run_self("--memory", all[i]), 0);
}

/* ---- The program notices nothing --------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void on_child(int signal)
{
    (void)signal;
    signals++;
}

static void no_signal_and_no_child_is_seen(void **state)
{
    struct sigaction action = {.sa_handler = on_child}, before;

    (void)state;
    assert_int_equal(sigaction(SIGCHLD, &action, &before), 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    kill(tsl_client_process(), SIGKILL);
    pause_ms(100);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    assert_int_equal(signals, 0);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
}

/* The target of a link of the process in /proc; "" if there is none. */
static void link_of(int process, const char *name, char target[256])
{
    char path[512];
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%d/%s", process, name);
    size = readlink(path, target, 255);
    target[size < 0 ? 0 : size] = 0;
}

/* The line of /proc/…/status that begins so. */
static void status_of(int process, const char *name, char value[256])
{
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", process);
    file = fopen(path, "r");
    assert_non_null(file);
    value[0] = 0;
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            strcpy(value, line + strlen(name));
    fclose(file);
}

static void it_inherits_nothing(void **state)
{
    int file = open("/dev/zero", O_RDONLY), process;
    char path[64], text[256];
    struct dirent *entry;
    sigset_t blocked, before;
    DIR *files;
    FILE *environment;

    (void)state;
    /* A new one, from a thread with descriptors without close-on-exec, blocked and ignored signals. */
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    kill(tsl_client_process(), SIGKILL);
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    signal(SIGUSR1, SIG_IGN);
    setenv("LD_BIND_NOW", "1", 1);
    setenv("MALLOC_PERTURB_", "1", 1);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    process = tsl_client_process();

    for (int stream = 0; stream < 3; stream++) {
        snprintf(path, sizeof(path), "fd/%d", stream);
        link_of(process, path, text);
        assert_string_equal(text, "/dev/null");
    }
    link_of(process, "fd/3", text);
    assert_memory_equal(text, "socket:", 7);
    snprintf(path, sizeof(path), "/proc/%d/fd", process);
    files = opendir(path);
    assert_non_null(files);
    while ((entry = readdir(files))) {
        char name[300];

        if (atoi(entry->d_name) <= 3)
            continue;
        snprintf(name, sizeof(name), "fd/%s", entry->d_name);
        link_of(process, name, text);
        assert_null(strstr(text, "/dev/zero"));
    }
    closedir(files);

    snprintf(path, sizeof(path), "/proc/%d/environ", process);
    environment = fopen(path, "r");
    assert_non_null(environment);
    assert_int_equal(fgetc(environment), EOF);
    fclose(environment);
    link_of(process, "cwd", text);
    assert_string_equal(text, "/");
    status_of(process, "SigBlk:", text);
    assert_int_equal(strtoull(text, NULL, 16), 0);
    status_of(process, "SigIgn:", text);
    assert_int_equal(strtoull(text, NULL, 16) & ~(UINT64_C(1) << (SIGPIPE - 1) | UINT64_C(1) << (SIGXFSZ - 1)), 0);
    assert_int_not_equal(getsid(process), getsid(0));
    close(file);
}

/* Whoever reads the program's output sees its end when the program ends, not when the compiler does. */
static void outputs_are_not_kept_open(void **state)
{
    int ends[2];
    char byte;
    struct pollfd polled;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    kill(tsl_client_process(), SIGKILL);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    close(ends[1]);
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&polled, 1, 2000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

/* A program may have closed what others expect to be open. */
static void closed_streams_do_not_matter(void **state)
{
    int process;

    (void)state;
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    process = tsl_client_process();
    assert_int_equal(run_self("--closed", NULL), 0);
    assert_int_equal(tsl_client_process(), process);
}

static int use_closed(void)
{
    close(0);
    close(1);
    close(2);
    return kc_result(good, "") == CL_SUCCESS ? 0 : 1;
}

static void a_forked_child_is_told(void **state)
{
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
    child = fork();
    if (child == 0)
        _exit(kc_result(good, "") == CL_OUT_OF_RESOURCES ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(kc_result(good, ""), CL_SUCCESS);
}

/* ---- Where it can't be started ----------------------------------------------------------------------------------- */

/* From now on the system call fails with this error, in this process and those that it starts. */
static bool forbid(unsigned call, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int use_forbidden(void)
{
    struct tsl_compiled compiled;
    bool said;

    if (!forbid(SYS_execve, EPERM) || kc_build(good, "", &compiled) != CL_COMPILER_NOT_AVAILABLE)
        return 1;
    said = strstr(compiled.built.log, "can't be started here: Operation not permitted");
    tsl_compiled_finish(&compiled);
    /* And nobody is left behind. */
    return said && waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD ? 0 : 2;
}

static void where_programs_are_forbidden_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(run_self("--forbidden", NULL), 0);
}

/* Linux before 5.9: descriptors are closed one by one, however many there are. */
static int use_old_system(void)
{
    int many[300];

    if (!forbid(SYS_close_range, ENOSYS) || syscall(SYS_close_range, 1000, 1000, 0) == 0)
        return 1;
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
        many[i] = open("/dev/zero", O_RDONLY);
    assert_true(many[299] >= 300);
    it_inherits_nothing(NULL);
    outputs_are_not_kept_open(NULL);
    return 0;
}

static void nothing_is_inherited_on_old_systems_either(void **state)
{
    (void)state;
    assert_int_equal(run_self("--old-system", NULL), 0);
}

/* Is there no compiler, and does the log say why? */
static bool is_missing(const char *why)
{
    struct tsl_compiled compiled;
    bool missing = kc_build(good, "", &compiled) == CL_COMPILER_NOT_AVAILABLE && strstr(compiled.built.log, why);

    tsl_compiled_finish(&compiled);
    return missing;
}

/* Does it not even say its first word, and is the reason told? */
static bool is_mute(const char *why)
{
    char *said = NULL;
    bool mute = !tsl_client_greet(TSL_CLIENT_GREET_MS, &said) && said && strstr(said, why);

    free(said);
    return mute;
}

static int use_missing(void)
{
    tsl_client_set_program("/nowhere/tesela-kc", NULL);
    if (!is_mute("No such file or directory (install Tesela again)") || !is_missing("No such file or directory") ||
        tsl_client_lack() != TSL_CLIENT_BROKEN)
        return 1;
    tsl_client_set_program("/bin/true", NULL); /* it ends before it says a word */
    return is_mute("as soon as") && is_missing("as soon as") && tsl_client_lack() == TSL_CLIENT_ENDS_AT_ONCE ? 0 : 2;
}

static void where_it_is_missing_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(run_self("--missing", NULL), 0);
}

/* As the compiler: one of a later version. */
static int serve_another_version(void)
{
    struct tsl_wire_hello hello = {99, 99, (char *)"of tomorrow"};
    struct tsl_writer writer = {0};
    char byte;

    tsl_wire_encode_hello(&writer, &hello);
    if (write(TSL_SPAWN_SOCKET, writer.data, writer.size) < 0)
        return 1;
    while (read(TSL_SPAWN_SOCKET, &byte, 1) > 0)
        continue;
    return 0;
}

static int use_another_version(void)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[size > 0 ? size : 0] = 0;
    tsl_client_set_program(path, NULL);
    if (!is_mute("of another version: install Tesela again") || !is_missing("of another version"))
        return 1;
    /* And it isn't tried again. */
    return is_missing("of another version: install Tesela again") && tsl_client_process() == 0 ? 0 : 2;
}

static void another_version_is_told(void **state)
{
    (void)state;
    assert_int_equal(run_self("--another-version", NULL), 0);
}

/* As the compiler: one that only listens. */
static int serve_silence(void)
{
    char byte;

    while (read(TSL_SPAWN_SOCKET, &byte, 1) > 0)
        continue;
    return 0;
}

static int use_silence(void)
{
    static char silence[] = "--silence", *const arguments[] = {silence, NULL};
    uint64_t begin = tsl_clock_ns();
    char path[4096], *why = NULL;
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    bool greets, told;

    path[size > 0 ? size : 0] = 0;
    tsl_client_set_program(path, arguments);
    greets = tsl_client_greet(1000, &why);
    told = why && strstr(why, "says nothing, after 1 s");
    free(why);
    if (greets || !told || tsl_client_process() != 0)
        return 1;
    return tsl_clock_ns() - begin < UINT64_C(20000000000) ? 0 : 2;
}

static void silence_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run_self("--silent", NULL), 0);
}

/* Where the process may open no more files nothing is wrong with the installation. */
static int use_few_files(void)
{
    struct rlimit few = {.rlim_cur = 3, .rlim_max = 3};

    tsl_client_set_program("/bin/true", NULL);
    if (setrlimit(RLIMIT_NOFILE, &few))
        return 2;
    return is_mute("Too many open files (ulimit -n") ? 0 : 1;
}

static void few_files_are_no_fault_of_the_installation(void **state)
{
    (void)state;
    assert_int_equal(run_self("--few-files", NULL), 0);
}

/* Found beside the library, where it is not, and nowhere else. */
static int use_path(const char *folder)
{
    char path[4096], ran[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/tesela-kc", folder);
    snprintf(ran, sizeof(ran), "%s/ran", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n: >%s\n", ran);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("PATH", folder, 1);
    assert_int_equal(chdir(folder), 0);
    assert_true(is_missing("there is no kernel compiler (tesela-kc) beside the library"));
    assert_int_not_equal(access(ran, F_OK), 0);
    unlink(path);
    return 0;
}

static void it_is_not_looked_for_in_path(void **state)
{
    char folder[] = "/tmp/tesela-process-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(run_self("--path", folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A copy of this program that runs as another user than who started it: only root can make one. */
static void with_raised_rights_none_is_started(void **state)
{
    char folder[] = "/tmp/tesela-process-XXXXXX", command[512];

    (void)state;
    if (geteuid() != 0) {
        print_message("not as root: not tried\n");
        return;
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command),
             "chmod 755 %s && cp /proc/%d/exe %s/test && chown 65534 %s/test && chmod 4755 %s/test && "
             "%s/test --raised; status=$?; rm -r %s; exit $status",
             folder, (int)getpid(), folder, folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
}

/* What a process of its own does. */
static int run_mode(const char *mode, const char *with, char *const *limits)
{
    if (strcmp(mode, "--serve") == 0)
        return serve_another_version();
    if (strcmp(mode, "--path") == 0)
        return use_path(with);
    if (strcmp(mode, "--raised") == 0)
        _exit(is_missing("programs with raised rights start no kernel compiler") ? 0 : 1); /* no search for leaks */
    kc_use(limits);
    if (strncmp(mode, "--use", 5) == 0)
        return use_and_end(with, strcmp(mode, "--use-and-fork") == 0);
    if (strcmp(mode, "--memory") == 0)
        return use_too_much(with);
    return strcmp(mode, "--closed") == 0            ? use_closed()
           : strcmp(mode, "--missing") == 0         ? use_missing()
           : strcmp(mode, "--hanging") == 0         ? use_beside_a_hanging_one()
           : strcmp(mode, "--idle") == 0            ? use_idly()
           : strcmp(mode, "--another-version") == 0 ? use_another_version()
           : strcmp(mode, "--silent") == 0          ? use_silence()
           : strcmp(mode, "--few-files") == 0       ? use_few_files()
           : strcmp(mode, "--old-system") == 0      ? use_old_system()
                                                    : use_forbidden();
}

int main(int n, char **args)
{
    static char time_limit[] = "--time-limit", seconds[] = "3", memory_limit[] = "--memory-limit", mib[] = "512";
    static char *const limits[] = {time_limit, seconds, memory_limit, mib, NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_started_when_needed_and_kept),
        cmocka_unit_test(it_greets_before_there_is_anything_to_build),
        cmocka_unit_test(it_is_started_again_when_it_died),
        cmocka_unit_test(who_waits_learns_of_its_death),
        cmocka_unit_test(builds_of_several_threads_go_side_by_side),
        cmocka_unit_test(it_ends_with_the_program),
        cmocka_unit_test(forked_children_do_not_keep_it),
        cmocka_unit_test(it_goes_when_nothing_is_to_do),
        cmocka_unit_test(a_compiler_that_dies_is_a_build_failure),
        cmocka_unit_test(a_compiler_without_end_is_a_build_failure),
        cmocka_unit_test(others_go_on_beside_a_build_that_hangs),
        cmocka_unit_test(a_compiler_without_memory_is_a_build_failure),
        cmocka_unit_test(no_signal_and_no_child_is_seen),
        cmocka_unit_test(it_inherits_nothing),
        cmocka_unit_test(outputs_are_not_kept_open),
        cmocka_unit_test(closed_streams_do_not_matter),
        cmocka_unit_test(a_forked_child_is_told),
        cmocka_unit_test(where_programs_are_forbidden_it_says_so),
        cmocka_unit_test(nothing_is_inherited_on_old_systems_either),
        cmocka_unit_test(where_it_is_missing_it_says_so),
        cmocka_unit_test(another_version_is_told),
        cmocka_unit_test(silence_is_not_waited_for),
        cmocka_unit_test(few_files_are_no_fault_of_the_installation),
        cmocka_unit_test(it_is_not_looked_for_in_path),
        cmocka_unit_test(with_raised_rights_none_is_started),
    };

    kc_use_no_cache();
    if (n > 3 && strcmp(args[3], "--silence") == 0)
        return serve_silence();
    if (n > 1)
        return run_mode(args[1], n > 2 ? args[2] : "", limits);
    kc_use(limits);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
