/*
 * What the CUDA bridge costs on a real GPU, beside CUDA itself: run it where there is one (no test; with --wild it ends
 * with a kernel that writes where there is no memory, with --only-wild it does nothing else). Figures are medians.
 */
#include "cuda_bridge/program.h"
#include "cuda_env.h"

#include <pthread.h>
#include <stdio.h>

#define ROUNDS 21

static CUresult (*plain_htod)(CUdeviceptr dst, const void *src, size_t bytes);
static CUresult (*plain_dtoh)(void *dst, CUdeviceptr src, size_t bytes);

static double now_us(void)
{
    return (double)tsl_clock_ns() / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof(*values), by_size);
    return values[n / 2];
}

static void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    printf("%s failed: %d\n", what, error);
    exit(1);
}

static void wait_for(struct tsl_fence *fence, const char *what)
{
    must(driver->fence_wait(fence), what);
    tsl_fence_unref(fence);
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

static void enter(void)
{
    must(tsl_cuda_enter(tsl_cuda_member(member)), "enter");
}

static void leave(void)
{
    tsl_cuda_leave(tsl_cuda_member(member));
}

/* Microseconds of one transfer of the application's memory, by the driver and by CUDA's plain call. */
static double transfer(struct tsl_mem *mem, unsigned char *host, size_t size, bool up, bool plain)
{
    CUdeviceptr address = tsl_cuda_mem(mem)->address;
    struct tsl_fence *fence;
    double start = now_us();

    if (plain && !plain_htod)
        return 1;
    if (plain) {
        enter();
        must((cl_int)(up ? plain_htod(address, host, size) : plain_dtoh(host, address, size)), "plain copy");
        leave();
        return now_us() - start;
    }
    must(up ? put_later(lane, mem, host, size, NULL, &fence) : get_later(lane, mem, host, size, NULL, &fence), "copy");
    wait_for(fence, "copy");
    return now_us() - start;
}

static void check_bytes(const unsigned char *host, size_t size, const char *what)
{
    for (size_t i = 0; i<size; i += size> 1 << 20 ? 4097 : 1)
        if (host[i] != (unsigned char)(i * 13 + i / 4096)) {
            printf("%s: byte %zu is wrong\n", what, i);
            exit(1);
        }
}

static void measure_transfers(void)
{
    static const size_t sizes[] = {4,       4096,     65536,    262144,    1 << 20,
                                   4 << 20, 16 << 20, 64 << 20, 256 << 20, (size_t)1 << 30};
    size_t most = (size_t)(member->caps.memory_size / 4 < (cl_ulong)1 << 30 ? member->caps.memory_size / 4 : 1 << 30);
    unsigned char *in = malloc(most), *out = malloc(most);
    struct tsl_mem *mem = new_mem(most);

    for (size_t i = 0; i < most; i++)
        in[i] = (unsigned char)(i * 13 + i / 4096);
    memset(out, 0, most);
    printf("pageable memory, one transfer and its end: us (GB/s)\n%12s %22s %22s %22s %22s\n", "bytes", "write, Tesela",
           "write, CUDA", "read, Tesela", "read, CUDA");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= most; i++) {
        unsigned rounds = sizes[i] > 64 << 20 ? 7 : ROUNDS;
        double us[4][ROUNDS];

        for (unsigned r = 0; r < rounds; r++)
            for (int k = 0; k < 4; k++) {
                us[k][r] = transfer(mem, k < 2 ? in : out, sizes[i], k < 2, k & 1);
                if (k == 2 || (k == 3 && plain_dtoh))
                    check_bytes(out, sizes[i], "read");
                if (k >= 2)
                    memset(out, 0, sizes[i]);
            }
        printf("%12zu", sizes[i]);
        for (int k = 0; k < 4; k++) {
            double m = median(us[k], rounds);

            printf(" %12.1f (%7.2f)", m, (double)sizes[i] / m / 1e3);
        }
        printf("\n");
    }
    driver->mem_free(mem);
    free(in);
    free(out);
}

static void measure_peers(void)
{
    size_t size = (size_t)(member->caps.memory_size / 4 < 256 << 20 ? member->caps.memory_size / 4 : 256 << 20);
    struct tsl_mem *mine, *theirs;
    double us[ROUNDS];

    if (n_members < 2)
        return;
    mine = new_mem(size);
    must(driver->mem_alloc(members[1], size, 0, NULL, &theirs), "mem_alloc");
    for (int small = 0; small < 2; small++) {
        struct tsl_copy copy = linear(theirs, NULL, 0, mine, NULL, 0, small ? 4096 : size);

        for (int r = 0; r < ROUNDS; r++) {
            struct tsl_fence *fence;
            double start = now_us();

            must(driver->copy(lane, &copy, NULL, &fence), "peer copy");
            wait_for(fence, "peer copy");
            us[r] = now_us() - start;
        }
        printf("GPU to GPU, %zu bytes: %.1f us, %.1f GB/s\n", copy.region[0], median(us, ROUNDS),
               (double)copy.region[0] / median(us, ROUNDS) / 1e3);
    }
    driver->mem_free(mine);
    driver->mem_free(theirs);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static struct tsl_dkernel *nothing;

static void launch(struct tsl_lane *l, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_bound_args args = {.serial = 1};
    struct tsl_window window = whole(64, 64);

    must(driver->launch(l, &(struct tsl_launch){nothing, &args, &window}, waits, fence), "launch");
}

static void launch_plain(CUstream stream)
{
    struct tsl_cuda_kernel *kernel = tsl_cuda_kernel(nothing);
    char hidden[136] = {0};
    void *parameters[] = {hidden};

    must((cl_int)tsl_cu.cuLaunchKernel(kernel->function, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL), "launch");
}

static double one_by_fence(struct tsl_lane *l)
{
    struct tsl_fence *fence;
    double start = now_us();

    launch(l, NULL, &fence);
    wait_for(fence, "launch");
    return now_us() - start;
}

static double one_by_finish(struct tsl_lane *l)
{
    double start = now_us();

    launch(l, NULL, NULL);
    must(driver->finish(l), "finish");
    return now_us() - start;
}

static double one_plain(struct tsl_lane *l)
{
    double start;

    enter();
    start = now_us();
    launch_plain(tsl_cuda_lane(l)->stream);
    must((cl_int)tsl_cu.cuStreamSynchronize(tsl_cuda_lane(l)->stream), "synchronize");
    start = now_us() - start;
    leave();
    return start;
}

static double many(struct tsl_lane *l)
{
    double start = now_us();

    for (int i = 0; i < 10000; i++)
        launch(l, NULL, NULL);
    must(driver->finish(l), "finish");
    return (now_us() - start) / 10000;
}

static double many_plain(struct tsl_lane *l)
{
    double start;

    enter();
    start = now_us();
    for (int i = 0; i < 10000; i++)
        launch_plain(tsl_cuda_lane(l)->stream);
    must((cl_int)tsl_cu.cuStreamSynchronize(tsl_cuda_lane(l)->stream), "synchronize");
    start = now_us() - start;
    leave();
    return start / 10000;
}

/* 2 000 launches, each of which waits for the one before it in the other lane. */
static double chain(struct tsl_lane *l)
{
    struct tsl_lane *other = new_lane(false), *lanes[] = {l, other};
    struct tsl_fence *last = NULL;
    double start = now_us();

    for (int i = 0; i < 2000; i++) {
        struct tsl_waits waits = {.n = last ? 1 : 0, .fences = &last};
        struct tsl_fence *fence;

        launch(lanes[i & 1], &waits, &fence);
        if (last)
            tsl_fence_unref(last);
        last = fence;
    }
    wait_for(last, "chain");
    start = now_us() - start;
    driver->lane_free(other);
    return start / 2000;
}

static _Atomic double told_us;

static void tell_time(void *arg, cl_int status)
{
    (void)arg, (void)status;
    atomic_store(&told_us, now_us());
}

static double told(struct tsl_lane *l)
{
    struct tsl_fence *fence;
    double start = now_us();

    atomic_store(&told_us, 0.0);
    launch(l, NULL, &fence);
    must(driver->fence_notify(fence, tell_time, NULL), "notify");
    while (atomic_load(&told_us) == 0.0)
        ;
    tsl_fence_unref(fence);
    return atomic_load(&told_us) - start;
}

/* From the opening of a gate, 200 us after the submission, to the end of the kernel behind it. */
static double gate(struct tsl_lane *l)
{
    struct tsl_fence *g = new_gate(), *fence;
    struct tsl_waits waits = {.n = 1, .fences = &g};
    double start = now_us();

    launch(l, &waits, &fence);
    while (now_us() - start < 200)
        ;
    start = now_us();
    driver->gate_open(g, CL_COMPLETE);
    wait_for(fence, "gate");
    tsl_fence_unref(g);
    return now_us() - start;
}

/* The same with a wait on the device for a flag in pinned memory. */
static double flag(struct tsl_lane *l)
{
    static _Atomic uint32_t *flags;
    CUstream stream = tsl_cuda_lane(l)->stream;
    double start;

    enter();
    if (!flags)
        must((cl_int)tsl_cu.cuMemHostAlloc((void **)&flags, 4096, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
    atomic_store(flags, 0);
    must((cl_int)tsl_cu.cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)flags, 1, CU_STREAM_WAIT_VALUE_GEQ),
         "cuStreamWaitValue32");
    launch_plain(stream);
    start = now_us();
    while (now_us() - start < 200)
        ;
    start = now_us();
    atomic_store(flags, 1);
    must((cl_int)tsl_cu.cuStreamSynchronize(stream), "synchronize");
    start = now_us() - start;
    leave();
    return start;
}

static double allocate(struct tsl_lane *l)
{
    double start = now_us();

    (void)l;
    driver->mem_free(new_mem(1 << 20));
    return now_us() - start;
}

static void measure_launches(void)
{
    static const struct {
        const char *name;
        double (*run)(struct tsl_lane *l);
    } rows[] = {
        {"empty kernel, launch and wait for its fence", one_by_fence},
        {"empty kernel, launch and finish", one_by_finish},
        {"the same by CUDA alone", one_plain},
        {"10 000 in order, each", many},
        {"the same by CUDA alone", many_plain},
        {"chain of 2 000 over two lanes, each", chain},
        {"launch to notification", told},
        {"gate opened to kernel done (held on the host)", gate},
        {"the same by a flag on the device, CUDA alone", flag},
        {"allocate and free 1 MiB", allocate},
    };
    struct tsl_lane *l = new_lane(false);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double us[ROUNDS];

        rows[i].run(l);
        for (int r = 0; r < ROUNDS; r++)
            us[r] = rows[i].run(l);
        printf("%-50s %8.2f us\n", rows[i].name, median(us, ROUNDS));
    }
    driver->lane_free(l);
}

/* ---- A kernel that goes wrong ------------------------------------------------------------------------------------ */

static void go_wild(struct tsl_dprogram *program)
{
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_bound_arg arg = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args args = bind(1, &arg);
    struct tsl_window window = whole(1, 1);
    struct tsl_fence *fence, *notified;
    struct tsl_mem *mem = NULL;
    cl_int error;

    must(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence), "launch");
    error = driver->fence_wait(fence);
    printf("wild kernel: its fence says %d; ", error);
    printf("allocation %d, ", driver->mem_alloc(member, 4096, 0, NULL, &mem));
    printf("mark %d, finish %d\n", driver->mark(lane, NULL, &notified), driver->finish(lane));
    for (unsigned i = 1; i < n_members; i++) {
        error = driver->mem_alloc(members[i], 4096, 0, NULL, &mem);
        printf("another member goes on: %d\n", error);
    }
}

int main(int n, char **args)
{
    struct tsl_dprogram *program;
    const char *name = getenv("TESELA_CUDA_LIBRARY");
    bool only_wild = n > 1 && !strcmp(args[1], "--only-wild");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW);
    void *state = NULL;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    *(void **)&plain_htod = dlsym(library, "cuMemcpyHtoD_v2");
    *(void **)&plain_dtoh = dlsym(library, "cuMemcpyDtoH_v2");
    if (open_member(&state))
        return 1;
    alarm(300);
    printf("%s, %s, %u members, %ld processors\n", member->path->device_name, member->path->driver_version, n_members,
           sysconf(_SC_NPROCESSORS_ONLN));
    program = build_kernels(member);
    nothing = new_kernel(program, "nothing");
    if (!only_wild) {
        measure_launches();
        measure_transfers();
        measure_peers();
    }
    if (only_wild || (n > 1 && !strcmp(args[1], "--wild")))
        go_wild(program);
    return 0;
}
