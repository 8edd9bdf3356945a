/* Faults in kernels: a null pointer, say. The handler acts only if the thread is inside generated code of ours (the
 * address says so), or in a function of the C library that this calls to fill and copy memory. It leaves the kernel by
 * a jump back to cpu_fault_run(), and the launch fails. All other signals go to the handler that was there before. */
#include "cpu_device/fault.h"
#include "base/log.h"
#include "cpu_device/launch.h"
#include "cpu_device/operations.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

struct running {
    sigjmp_buf back;
    uintptr_t begin, end; /* of the program's code */
    int signal;
    void *address;
};

/* Initial-exec: reading it in a signal handler must not allocate. */
static _Thread_local struct running *volatile running __attribute__((tls_model("initial-exec")));
static struct sigaction before[N_SIGNALS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uintptr_t program_counter(const void *context)
{
    const ucontext_t *c = context;

#if defined(__x86_64__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.pc;
#else
    (void)c;
    return 0;
#endif
}

/* The address to which a function without a frame of its own returns (memset and memcpy have none). */
__attribute__((no_sanitize_address)) static uintptr_t return_address(const void *context)
{
    const ucontext_t *c = context;

#if defined(__x86_64__)
    return *(const uintptr_t *)c->uc_mcontext.gregs[REG_RSP]; /* NOLINT: the top of the stack */
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.regs[30];
#else
    (void)c;
    return 0;
#endif
}

static bool is_code_of(const struct running *r, uintptr_t address)
{
    return address >= r->begin && address < r->end;
}

/* A loop that fills memory may have become a call of memset. Where the stack can't be read either, that is a fault
 * outside. */
static bool is_in_kernel(struct running *r, const void *context)
{
    bool called;

    if (!r || is_code_of(r, program_counter(context)))
        return r;
    running = NULL;
    called = is_code_of(r, return_address(context));
    running = r;
    return called;
}

/* The default action: the instruction is tried again, and ends the program as it would have without us; a signal that
 * was sent is sent once more, or ignored where the program asked for that. */
static void leave_to_default(const struct sigaction *action, int signal, const siginfo_t *info)
{
    bool sent = info->si_code <= 0;

    if (sent && !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN)
        return;
    sigaction(signal, action, NULL);
    if (sent)
        raise(signal);
}

/* As the system would call the handler: with what it wants blocked, once only if it wants that. */
static void call(size_t i, int signal, siginfo_t *info, void *context)
{
    struct sigaction action = before[i];
    sigset_t block = action.sa_mask, old;

    if (!(action.sa_flags & SA_NODEFER))
        sigaddset(&block, signal);
    if (action.sa_flags & SA_RESETHAND)
        before[i] = (struct sigaction){.sa_handler = SIG_DFL};
    pthread_sigmask(SIG_BLOCK, &block, &old);
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, context);
    else
        action.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void pass_on(size_t i, int signal, siginfo_t *info, void *context)
{
    const struct sigaction *action = &before[i];

    if (!(action->sa_flags & SA_SIGINFO) && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN))
        leave_to_default(action, signal, info);
    else
        call(i, signal, info, context);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    struct running *r = running;

    if (is_in_kernel(r, context)) {
        r->signal = signal;
        r->address = info->si_addr;
        running = NULL;
        siglongjmp(r->back, 1);
    }
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (signals[i] == signal)
            pass_on(i, signal, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
}

void cpu_fault_install(void)
{
    pthread_once(&once, install);
}

/* Where the compiler found that no right program comes (cleanup/dead_ends.c). */
static bool is_dead_end(int signal, const void *address)
{
#if defined(__x86_64__)
    static const unsigned char trap[] = {0x0f, 0x0b}; /* ud2 */

    return signal == SIGILL && memcmp(address, trap, sizeof(trap)) == 0;
#else
    (void)signal, (void)address;
    return false;
#endif
}

static const char *describe(int signal, const void *address)
{
    return signal == SIGFPE               ? "divided by zero"
           : is_dead_end(signal, address) ? "did what OpenCL C doesn't define, as an access beyond an array's end"
           : signal == SIGILL             ? "ran an instruction that this processor lacks"
                                          : "used memory that isn't there";
}

/* Once for all rows of a piece, as a short row takes no longer than this. */
cl_int cpu_fault_run(struct cpu_rows *rows, void (*run)(struct cpu_rows *rows))
{
    struct running here;

    here.begin = rows->version->begin;
    here.end = rows->version->end;
    if (sigsetjmp(here.back, 0)) {
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR,
                "kernel %s %s (address %p) in a work-group of row %llu %llu: it failed", rows->launch->code->name,
                describe(here.signal, here.address), here.address,
                (unsigned long long)cpu_row_y(rows->launch, rows->row),
                (unsigned long long)cpu_row_z(rows->launch, rows->row));
        return CL_OUT_OF_RESOURCES;
    }
    running = &here;
    run(rows);
    running = NULL;
    return CL_SUCCESS;
}
