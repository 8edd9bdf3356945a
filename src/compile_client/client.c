#include "compile_client/client.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "compile_client/process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

/* Far longer than the compiler lets a build take: after this time it hangs itself. */
#define PATIENCE_MS (20 * 60 * 1000)

enum call_state { WAITING, ANSWERED, LOST };

/* A request under way; on its caller's stack. */
struct call {
    struct call *next;
    uint64_t request;
    enum call_state state;
    struct tsl_reply reply;
};

static struct tsl_lock lock = {PTHREAD_MUTEX_INITIALIZER}; /* leaf; held while sending, never while receiving */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct client {
    struct tsl_spawned spawned; /* process 0: none */
    int socket;                 /* while there is a process */
    bool greeted;               /* its HELLO has arrived */
    bool ever_greeted;          /* the HELLO of any process has arrived */
    bool reading;               /* a thread reads, for all callers */
    enum tsl_client_lack lack;  /* of the last try that failed */
    bool hopeless;              /* it speaks another version: starting it again is no use */
    uint64_t requests;          /* numbers given so far */
    struct tsl_writer in;       /* received, not yet a whole message */
    struct call *calls;
} client TSL_GUARDED_BY(lock);

/* ---- The program ------------------------------------------------------------------------------------------------- */

static struct program {
    pthread_once_t once;
    char path[PATH_MAX];
    const char *why;                 /* NULL: path is right */
    enum tsl_client_lack lack;       /* of why */
    char unrunnable[PATH_MAX + 128]; /* a sentence for why */
    char *const *arguments;
} program = {.once = PTHREAD_ONCE_INIT};

static void find_program(void)
{
    static const char *const places[] = {"/tesela/tesela-kc", "/kc/tesela-kc"};

    if (program.path[0])
        return; /* set by a test */
    if (tsl_spawn_find(places, 2, program.path))
        return;
    program.lack = TSL_CLIENT_ABSENT;
    if (getauxval(AT_SECURE))
        program.why = "programs with raised rights start no kernel compiler";
    else if (!program.path[0])
        program.why = "there is no kernel compiler (tesela-kc) beside the library: Tesela was built without it, or "
                      "without LLVM";
    else {
        snprintf(
            program.unrunnable, sizeof(program.unrunnable),
            "the kernel compiler %s can't be run: the file's rights forbid it, or its file system is mounted noexec",
            program.path);
        program.why = program.unrunnable;
        program.lack = TSL_CLIENT_UNRUNNABLE;
    }
}

const char *tsl_client_program(const char **why)
{
    pthread_once(&program.once, find_program);
    *why = program.why;
    return program.why ? NULL : program.path;
}

void tsl_client_set_program(const char *path, char *const *arguments)
{
    snprintf(program.path, sizeof(program.path), "%s", path);
    program.arguments = arguments;
}

/* ---- Life of the process ----------------------------------------------------------------------------------------- */

/* The process is gone or of no use: every waiting caller is told. */
static void lose(void) TSL_REQUIRES(lock)
{
    if (!client.spawned.process)
        return;
    close(client.socket);
    tsl_spawn_end(&client.spawned);
    client.greeted = false;
    free(client.in.data);
    client.in = (struct tsl_writer){0};
    for (struct call *call = client.calls; call; call = call->next)
        if (call->state == WAITING)
            call->state = LOST;
    pthread_cond_broadcast(&changed);
}

static bool send_all(const uint8_t *data, size_t size) TSL_REQUIRES(lock)
{
    while (size) {
        ssize_t n = send(client.socket, data, size, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* If HELLO can't be sent, neither can the request behind it, whose failure is noticed. */
static void send_hello(void) TSL_REQUIRES(lock)
{
    static char name[] = "libtesela " TESELA_VERSION;
    struct tsl_writer hello = {0};

    tsl_wire_encode_hello(&hello, &(struct tsl_wire_hello){TSL_WIRE_VERSION, TSL_WIRE_VERSION, name});
    if (!hello.failed)
        send_all(hello.data, hello.size);
    free(hello.data);
}

/* False with errno. */
static bool start(const char *path) TSL_REQUIRES(lock)
{
    static char name[] = "tesela-kc", serve[] = "--serve", number[] = "3";
    char *arguments[16] = {name, serve, number};
    int ends[2], error;
    bool started;

    _Static_assert(TSL_SPAWN_SOCKET == 3, "the number above");
    for (unsigned i = 0; program.arguments && program.arguments[i] && i < 12; i++)
        arguments[3 + i] = program.arguments[i];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    started = tsl_spawn(path, arguments, ends[1], &client.spawned);
    error = errno;
    close(ends[1]);
    client.socket = ends[0];
    if (started) {
        tsl_log(TSL_LOG_IN_COMPILER, TSL_LOG_INFO, "the kernel compiler is process %d", (int)client.spawned.process);
        send_hello();
    } else
        close(ends[0]);
    errno = error;
    return started;
}

/* Mostly nothing is wrong with the file. */
static enum tsl_client_lack lack_of(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
    case EAGAIN:
    case ENOSYS:
        return TSL_CLIENT_FORBIDDEN;
    case EMFILE:
    case ENFILE:
        return TSL_CLIENT_NO_FILES;
    case ENOMEM:
        return TSL_CLIENT_NO_MEMORY;
    default:
        return TSL_CLIENT_BROKEN;
    }
}

/* What to do where starting it fails so. */
static const char *const remedies[] = {
    [TSL_CLIENT_FORBIDDEN] = "TESELA_CPU=opencl takes another OpenCL, which must start no process either: Mesa's "
                             "rusticl doesn't, PoCL's linker is one",
    [TSL_CLIENT_NO_FILES] = "ulimit -n tells how many a process may have open",
    [TSL_CLIENT_NO_MEMORY] = "this machine, or its container, has none left for another process",
    [TSL_CLIENT_BROKEN] = "install Tesela again",
};

/* *why (heap) is a sentence, or NULL where there is no memory for it. */
static void tell(enum tsl_client_lack lack, const char *sentence, char **why) TSL_REQUIRES(lock)
{
    client.lack = lack;
    *why = strdup(sentence);
}

static void tell_unstarted(const char *path, int error, char **why) TSL_REQUIRES(lock)
{
    client.lack = lack_of(error);
    if (asprintf(why, "the kernel compiler %s can't be started here: %s (%s)", path, strerror(error),
                 remedies[client.lack]) < 0)
        *why = NULL;
}

/* Makes sure that a process runs; false, and *why (heap), if none can be started. */
static bool have_process(char **why) TSL_REQUIRES(lock)
{
    const char *reason, *path = tsl_client_program(&reason);

    if (client.spawned.process)
        return true;
    *why = NULL;
    if (!path)
        tell(program.lack, reason, why);
    else if (client.hopeless)
        tell(TSL_CLIENT_OTHER, "the kernel compiler beside the library is of another version: install Tesela again",
             why);
    else {
        if (start(path))
            return true;
        tell_unstarted(path, errno, why);
    }
    return false;
}

enum tsl_client_lack tsl_client_lack(void)
{
    enum tsl_client_lack lack;

    pthread_once(&program.once, find_program);
    tsl_lock_take(&lock);
    lack = program.why ? program.lack : client.lack;
    tsl_lock_give(&lock);
    return lack;
}

int tsl_client_process(void)
{
    int process;

    tsl_lock_take(&lock);
    process = client.spawned.process;
    tsl_lock_give(&lock);
    return process;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* False: the process must be given up. */
static bool take_hello(const uint8_t *body, size_t size) TSL_REQUIRES(lock)
{
    struct tsl_wire_hello hello;

    if (client.greeted || !tsl_wire_decode_hello(body, size, &hello))
        return false;
    client.greeted = hello.lowest <= TSL_WIRE_VERSION && hello.highest >= TSL_WIRE_VERSION;
    client.ever_greeted |= client.greeted;
    client.hopeless |= !client.greeted;
    tsl_log(TSL_LOG_IN_COMPILER, TSL_LOG_INFO, "it is %s%s", hello.name,
            client.greeted ? "" : ", which is another version than the library: install Tesela again");
    tsl_wire_hello_finish(&hello);
    return client.greeted;
}

static bool take_answer(const struct tsl_wire_header *header, const uint8_t *body) TSL_REQUIRES(lock)
{
    if (header->type == TSL_WIRE_HELLO)
        return take_hello(body, header->body_size);
    if (!client.greeted || header->type == TSL_WIRE_BUILD)
        return false;
    for (struct call *call = client.calls; call; call = call->next)
        if (call->request == header->request && call->state == WAITING) {
            call->reply = (struct tsl_reply){header->type, malloc(header->body_size), header->body_size};
            if (call->reply.body)
                memcpy(call->reply.body, body, header->body_size);
            call->state = call->reply.body ? ANSWERED : LOST;
            return true;
        }
    return false;
}

static bool take_answers(void) TSL_REQUIRES(lock)
{
    struct tsl_wire_header header;
    size_t at = 0;
    enum tsl_wire_frame frame;

    while ((frame = tsl_wire_look(client.in.data + at, client.in.size - at, &header)) == TSL_WIRE_WHOLE) {
        if (!take_answer(&header, client.in.data + at + TSL_WIRE_HEADER_SIZE))
            return false;
        at += TSL_WIRE_HEADER_SIZE + header.body_size;
    }
    if (at) {
        memmove(client.in.data, client.in.data + at, client.in.size - at);
        client.in.size -= at;
    }
    return frame == TSL_WIRE_PARTIAL && !client.in.failed;
}

/* Waits for bytes and reads at most size of them. 0: the end, an error, or nothing came for so long. */
static ssize_t receive(int socket, void *buffer, size_t size, int patience_ms)
{
    for (;;) {
        struct pollfd polled = {.fd = socket, .events = POLLIN};
        int ready = poll(&polled, 1, patience_ms);
        ssize_t n = ready > 0 ? recv(socket, buffer, size, MSG_DONTWAIT) : 0;

        if ((ready < 0 && errno == EINTR) || (n < 0 && (errno == EINTR || errno == EAGAIN)))
            continue;
        return n > 0 ? n : 0;
    }
}

/* One step of reading, for all waiting callers. While `reading` is set no other thread ends the process, closes its
 * socket or uses the buffer, which is static as the caller's stack may be small. */
static void read_some(int patience_ms) TSL_REQUIRES(lock)
{
    static char buffer[1 << 16];
    int socket = client.socket;
    ssize_t n;

    client.reading = true;
    tsl_lock_give(&lock);
    n = receive(socket, buffer, sizeof(buffer), patience_ms);
    tsl_lock_take(&lock);
    client.reading = false;
    if (n > 0)
        tsl_write_raw(&client.in, buffer, (size_t)n);
    if (n == 0 || client.in.failed || !take_answers())
        lose();
    pthread_cond_broadcast(&changed);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void set_request(struct tsl_writer *message, uint64_t request)
{
    tsl_write_u32_at(message, 16, (uint32_t)request);
    tsl_write_u32_at(message, 20, (uint32_t)(request >> 32));
}

/* If sending fails while another thread reads, that thread is made to notice. */
static void send_message(const struct tsl_writer *message) TSL_REQUIRES(lock)
{
    if (!send_all(message->data, message->size)) {
        if (client.reading)
            shutdown(client.socket, SHUT_RDWR);
        else
            lose();
    }
}

static void wait_for(struct call *call) TSL_REQUIRES(lock)
{
    while (call->state == WAITING) {
        if (client.reading)
            tsl_lock_wait(&lock, &changed);
        else
            read_some(PATIENCE_MS);
    }
}

static void forget(const struct call *call) TSL_REQUIRES(lock)
{
    struct call **at = &client.calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

/* One try. */
static enum call_state try_call(struct tsl_writer *message, struct call *call) TSL_REQUIRES(lock)
{
    *call = (struct call){.next = client.calls, .request = ++client.requests};
    client.calls = call;
    set_request(message, call->request);
    send_message(message);
    wait_for(call);
    forget(call);
    return call->state;
}

#define ENDS_AT_ONCE "the kernel compiler ends as soon as it is started: are the libraries of LLVM and Clang installed?"

/* The process may have ended because it was idle, or been killed: hence a second try. After the third it may be this
 * request's fault. */
static cl_int call_locked(struct tsl_writer *message, struct call *call, char **why) TSL_REQUIRES(lock)
{
    for (unsigned tries = 0; tries < 3; tries++) {
        if (!have_process(why))
            return CL_COMPILER_NOT_AVAILABLE;
        if (try_call(message, call) == ANSWERED)
            return CL_SUCCESS;
    }
    if (client.ever_greeted) {
        *why = strdup("the kernel compiler ended, again and again, before it answered");
        return CL_OUT_OF_RESOURCES;
    }
    tell(TSL_CLIENT_ENDS_AT_ONCE, ENDS_AT_ONCE, why);
    return CL_COMPILER_NOT_AVAILABLE;
}

/* Its first word; a process that says none in time is given up. */
static void wait_for_hello(uint64_t until_ns) TSL_REQUIRES(lock)
{
    while (client.spawned.process && !client.greeted) {
        uint64_t now = tsl_clock_ns();

        if (client.reading)
            tsl_lock_wait(&lock, &changed);
        else
            read_some(now < until_ns ? (int)((until_ns - now) / 1000000) + 1 : 0);
    }
}

static void tell_silent(unsigned limit_ms, char **why) TSL_REQUIRES(lock)
{
    client.lack = TSL_CLIENT_BROKEN;
    if (asprintf(why, "the kernel compiler %s was started and says nothing, after %u s: install Tesela again",
                 program.path, limit_ms / 1000) < 0)
        *why = NULL;
}

static bool greet_locked(unsigned limit_ms, char **why) TSL_REQUIRES(lock)
{
    const uint64_t until_ns = tsl_clock_ns() + limit_ms * UINT64_C(1000000);

    if (!have_process(why))
        return false;
    wait_for_hello(until_ns);
    if (client.greeted)
        return true;
    if (client.hopeless)
        have_process(why); /* starts none, and says why */
    else if (tsl_clock_ns() < until_ns)
        tell(TSL_CLIENT_ENDS_AT_ONCE, ENDS_AT_ONCE, why);
    else
        tell_silent(limit_ms, why);
    return false;
}

/* ---- Forks ------------------------------------------------------------------------------------------------------- */

static atomic_bool forked;

/* A forked child has no part in the conversation, and must not keep it open. What the parent's threads hold is out of
 * reach. */
static void in_child(void) TSL_UNCHECKED
{
    if (!atomic_exchange(&forked, true) && client.spawned.process) {
        close(client.socket);
        close(client.spawned.handle);
    }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static bool after_fork(char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    *why = NULL;
    if (atomic_load(&forked) || tsl_forked()) {
        *why = strdup("after a fork the child can't use the kernel compiler of its parent");
        return true;
    }
    pthread_once(&once, watch_forks);
    return false;
}

cl_int tsl_client_call(struct tsl_writer *message, struct tsl_reply *reply, char **why)
{
    struct call call;
    cl_int error;

    if (after_fork(why))
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&lock);
    error = call_locked(message, &call, why);
    tsl_lock_give(&lock);
    if (error == CL_SUCCESS)
        *reply = call.reply;
    return error;
}

bool tsl_client_greet(unsigned limit_ms, char **why)
{
    bool greets;

    if (after_fork(why))
        return false;
    tsl_lock_take(&lock);
    greets = greet_locked(limit_ms, why);
    tsl_lock_give(&lock);
    return greets;
}
