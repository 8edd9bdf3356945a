/*
 * When it pays to pin the application's memory where it lies (host_register): what that costs, and what transfers take
 * with and without, on a real GPU; and what CUDA does where its documentation is silent. No test. Figures are medians.
 */
#include "cuda_env.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ROUNDS 7

static double now_us(void)
{
    return (double)tsl_clock_ns() / 1e3;
}

/* Of all threads of the process. */
static double processor_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_size);
    return values[ROUNDS / 2];
}

static void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    printf("%s failed: %d\n", what, error);
    exit(1);
}

/* ---- Cost and gain ----------------------------------------------------------------------------------------------- */

enum { WRITE, READ, WRITE_CPU, READ_CPU, FAST_WRITE, FAST_READ, FAST_WRITE_CPU, FAST_READ_CPU, PIN, UNPIN, N_FIGURES };

static void one(struct tsl_mem *mem, char *host, size_t size, bool up, double *us, double *cpu)
{
    unsigned times = size < 4 << 20 ? 16 : 1;
    struct tsl_fence *fence;
    double begin = now_us(), cpu_begin = processor_us();

    for (unsigned i = 0; i < times; i++) {
        must(up ? put_later(lane, mem, host, size, NULL, &fence) : get_later(lane, mem, host, size, NULL, &fence),
             "copy");
        must(driver->fence_wait(fence), "copy");
        tsl_fence_unref(fence);
    }
    *us = (now_us() - begin) / times;
    *cpu = (processor_us() - cpu_begin) / times;
}

static void round_of(struct tsl_mem *mem, char *host, size_t size, double figures[N_FIGURES])
{
    struct tsl_mem *pinned;
    double begin;

    one(mem, host, size, true, &figures[WRITE], &figures[WRITE_CPU]);
    one(mem, host, size, false, &figures[READ], &figures[READ_CPU]);
    begin = now_us();
    must(driver->host_register(member, host, size, &pinned), "host_register");
    figures[PIN] = now_us() - begin;
    one(mem, host, size, true, &figures[FAST_WRITE], &figures[FAST_WRITE_CPU]);
    one(mem, host, size, false, &figures[FAST_READ], &figures[FAST_READ_CPU]);
    begin = now_us();
    driver->mem_free(pinned);
    figures[UNPIN] = now_us() - begin;
}

static char *new_pages(size_t size, bool huge)
{
    char *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (host == MAP_FAILED)
        exit(1);
    madvise(host, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(host, 1, size);
    return host;
}

/* apart: the memory begins 16 bytes into a page, as malloc's does. */
static void measure(size_t size, bool huge, bool apart)
{
    char *pages = new_pages(size + 4096, huge), *host = pages + (apart ? 16 : 0);
    struct tsl_mem *mem = new_mem(size);
    double all[N_FIGURES][ROUNDS], m[N_FIGURES];

    for (int r = -1; r < ROUNDS; r++) {
        double figures[N_FIGURES];

        round_of(mem, host, size, figures);
        for (int k = 0; k < N_FIGURES && r >= 0; k++)
            all[k][r] = figures[k];
    }
    for (int k = 0; k < N_FIGURES; k++)
        m[k] = median(all[k]);
    printf("%9.3f %5s %10.1f %8.1f | %9.1f %9.1f | %9.1f %9.1f | %8.0f %8.0f | %8.0f %8.0f | %6.1f %6.1f\n",
           (double)size / 1048576,
           apart  ? "+16"
           : huge ? "huge"
                  : "",
           m[PIN], m[UNPIN], m[WRITE], m[READ], m[FAST_WRITE], m[FAST_READ], m[WRITE_CPU], m[READ_CPU],
           m[FAST_WRITE_CPU], m[FAST_READ_CPU],
           2 * (m[PIN] + m[UNPIN]) / (m[WRITE] + m[READ] - m[FAST_WRITE] - m[FAST_READ]),
           2 * (m[PIN] + m[UNPIN]) / (m[WRITE_CPU] + m[READ_CPU] - m[FAST_WRITE_CPU] - m[FAST_READ_CPU]));
    driver->mem_free(mem);
    munmap(pages, size + 4096);
}

static void measure_all(const char *title, size_t from, size_t to)
{
    printf("%s: us\n%9s %5s %10s %8s | %9s %9s | %9s %9s | %17s | %17s | %13s\n", title, "MiB", "", "pin", "unpin",
           "write", "read", "w pinned", "r pinned", "processors, w r", "... pinned", "pays after");
    for (size_t size = from; size <= to && size <= member->caps.memory_size / 4; size *= 4)
        measure(size, false, false);
}

/* ---- What CUDA does ---------------------------------------------------------------------------------------------- */

static CUstream stream;

static void neighbours(void)
{
    char *p = new_pages(1 << 20, false);
    CUmemorytype type = 0;
    CUresult a = tsl_cu.cuMemHostRegister_v2(p + 100, 8192, CU_MEMHOSTREGISTER_PORTABLE);
    CUresult b = tsl_cu.cuMemHostRegister_v2(p + 100 + 8192, 8192, CU_MEMHOSTREGISTER_PORTABLE);
    CUresult c = tsl_cu.cuMemHostRegister_v2(p + 4096, 4096, CU_MEMHOSTREGISTER_PORTABLE);
    CUresult d = tsl_cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)p);

    printf("8192 bytes from the 100th of a page: %u; the next 8192: %u; a page within: %u; the page's first byte: %u, "
           "type %u\n",
           a, b, c, d, type);
    printf("back: %u %u %u\n", tsl_cu.cuMemHostUnregister(p + 100), tsl_cu.cuMemHostUnregister(p + 100 + 8192),
           tsl_cu.cuMemHostUnregister(p + 4096));
    mprotect(p, 1 << 20, PROT_READ);
    printf("memory that may only be read: %u\n", tsl_cu.cuMemHostRegister_v2(p, 1 << 20, CU_MEMHOSTREGISTER_PORTABLE));
    tsl_cu.cuMemHostUnregister(p);
    munmap(p, 1 << 20);
}

/* Unregistered by CUDA alone while copies from and to it are on their way. */
static void unregister_while_used(void)
{
    const size_t size = (size_t)1 << 28;
    struct tsl_mem *mem = new_mem(size);
    char *p = new_pages(size, false);
    double begin, submitted, unpinned;
    CUresult result;

    must((cl_int)tsl_cu.cuMemHostRegister_v2(p, size, CU_MEMHOSTREGISTER_PORTABLE), "cuMemHostRegister");
    begin = now_us();
    for (int i = 0; i < 20; i++)
        tsl_cu.cuMemcpyDtoHAsync_v2(p, tsl_cuda_mem(mem)->address, size, stream);
    submitted = now_us();
    result = tsl_cu.cuMemHostUnregister(p);
    unpinned = now_us();
    printf("20 copies of 256 MiB: submitted after %.0f us, unregistered (%u) after %.0f, ", submitted - begin, result,
           unpinned - begin);
    printf("synchronised (%u) ", tsl_cu.cuStreamSynchronize(stream));
    printf("after %.0f\n", now_us() - begin);
    driver->mem_free(mem);
    munmap(p, size);
}

static atomic_bool pinning_ends;

static void *pin_and_unpin(void *arg)
{
    struct tsl_mem *pinned;

    for (int i = 0; i < 3; i++) {
        must(driver->host_register(member, arg, (size_t)1 << 29, &pinned), "host_register");
        driver->mem_free(pinned);
    }
    atomic_store(&pinning_ends, true);
    return NULL;
}

/* Launches of an empty kernel while another thread pins 512 MiB and lets go, three times. */
static void launches_meanwhile(struct tsl_dkernel *nothing)
{
    char *p = new_pages((size_t)1 << 29, false);
    struct tsl_bound_args args = {.serial = 1};
    struct tsl_window window = whole(64, 64);
    double longest[2] = {0}, sum[2] = {0};
    unsigned n[2] = {0};
    pthread_t thread;

    for (int with = 0; with < 2; with++) {
        double begin = now_us();

        if (with)
            pthread_create(&thread, NULL, pin_and_unpin, p);
        while (with ? !atomic_load(&pinning_ends) : now_us() - begin < 100000) {
            double start = now_us(), took;

            must(driver->launch(lane, &(struct tsl_launch){nothing, &args, &window}, NULL, NULL), "launch");
            must(driver->finish(lane), "finish");
            took = now_us() - start;
            longest[with] = took > longest[with] ? took : longest[with];
            sum[with] += took;
            n[with]++;
        }
    }
    pthread_join(thread, NULL);
    printf("launch and finish alone: mean %.1f us, longest %.0f; beside pinning: mean %.1f, longest %.0f (%u)\n",
           sum[0] / n[0], longest[0], sum[1] / n[1], longest[1], n[1]);
    munmap(p, (size_t)1 << 29);
}

/* After a fork the parent writes to memory that was registered before: does the GPU see that? */
static void forks(void)
{
    const size_t size = 1 << 20;
    struct tsl_mem *mem = new_mem(size);
    char *p = new_pages(size, false), *back = malloc(size);
    unsigned wrong = 0;
    int status;
    pid_t child;

    must((cl_int)tsl_cu.cuMemHostRegister_v2(p, size, CU_MEMHOSTREGISTER_PORTABLE), "cuMemHostRegister");
    child = fork();
    if (child == 0) {
        usleep(300000);
        for (size_t i = 0; i < size; i++)
            wrong += p[i] != 1;
        _exit(wrong != 0);
    }
    memset(p, 2, size);
    tsl_cu.cuMemcpyHtoDAsync_v2(tsl_cuda_mem(mem)->address, p, size, stream);
    tsl_cu.cuStreamSynchronize(stream);
    get(mem, back, size);
    for (size_t i = 0; i < size; i++)
        wrong += back[i] != 2;
    waitpid(child, &status, 0);
    printf("after a fork the GPU sees %u of %zu bytes wrong; the child ended with %d\n", wrong, size, status);
    tsl_cu.cuMemHostUnregister(p);
    driver->mem_free(mem);
    munmap(p, size);
    free(back);
}

/* ---- A busy machine ---------------------------------------------------------------------------------------------- */

static atomic_bool idle;

static void *spin(void *arg)
{
    while (!atomic_load_explicit(&idle, memory_order_relaxed))
        ;
    return arg;
}

static void measure_busy(void)
{
    pthread_t threads[256];
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    n = n > 256 ? 256 : n;
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, spin, NULL);
    measure_all("every processor busy with other threads", (size_t)1 << 20, (size_t)1 << 28);
    atomic_store(&idle, true);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    struct tsl_dkernel *nothing;
    void *state = NULL;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (open_member(&state))
        return 1;
    alarm(300);
    printf("%s, %s, %u members, %ld processors\n", member->path->device_name, member->path->driver_version, n_members,
           sysconf(_SC_NPROCESSORS_ONLN));
    lane = new_lane(false);
    nothing = new_kernel(build_kernels(member), "nothing");
    measure_all("pages of 4 KiB", 1 << 16, (size_t)1 << 30);
    measure((size_t)1 << 28, true, false);
    measure((size_t)1 << 28, false, true);
    must(tsl_cuda_enter(tsl_cuda_member(member)), "enter");
    must((cl_int)tsl_cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream");
    neighbours();
    unregister_while_used();
    forks();
    tsl_cuda_leave(tsl_cuda_member(member));
    launches_meanwhile(nothing);
    measure_busy();
    return 0;
}
