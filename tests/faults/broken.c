#define SIM_OWN_ALLOCATIONS
#include "broken.h"

#include <errno.h>
#include <execinfo.h>
#include <unistd.h>

unsigned sim_fault, sim_failing_allocation, sim_failing_more, sim_n_allocations;

/* For addr2line, should the program go wrong. */
static void tell_where(void)
{
    void *frames[12];

    backtrace_symbols_fd(frames, backtrace(frames, 12), STDERR_FILENO);
}

/* Programs are built by several threads. */
static int fails(void)
{
    unsigned n = __atomic_add_fetch(&sim_n_allocations, 1, __ATOMIC_RELAXED);

    if (!sim_failing_allocation || n < sim_failing_allocation || n > sim_failing_allocation + sim_failing_more)
        return 0;
    if (n == sim_failing_allocation)
        tell_where();
    errno = ENOMEM;
    return 1;
}

void *sim_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

void *sim_calloc(size_t n, size_t size)
{
    return fails() ? NULL : calloc(n, size);
}

void *sim_realloc(void *old, size_t size)
{
    return fails() ? NULL : realloc(old, size);
}

char *sim_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

char *sim_strndup(const char *text, size_t size)
{
    return fails() ? NULL : strndup(text, size);
}

void *sim_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return fails() ? MAP_FAILED : mmap(at, size, protection, flags, file, offset);
}
