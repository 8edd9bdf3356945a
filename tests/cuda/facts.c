/*
 * What CUDA's documentation doesn't say and the bridge has to do with, asked of a real GPU (no test). Prints which
 * calls wait while a stream waits for a flag, what is answered without a current context and in a dead one, and whether
 * boxes and amounts beyond 32 bits are copied and filled right. Ends in 1 if one of the latter isn't.
 *
 *     TESELA_MEMBERS=cuda:0 build/tests/cuda_facts [--only-large]
 */
#include "cuda_bridge/piece.h"
#include "cuda_env.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define GIB ((size_t)1 << 30)

static int n_wrong;

static struct tsl_cuda_member *own(void)
{
    return tsl_cuda_member(member);
}

static double now_ms(void)
{
    return (double)tsl_clock_ns() / 1e6;
}

/* ---- Which calls wait -------------------------------------------------------------------------------------------- */

#define CLOSED_MS 300

static struct tsl_cuda_piece *word;
static CUstream gated, other;
static CUevent event;
static struct tsl_mem *mem;
static void *pinned, *pageable;
static uint32_t number;

static void *open_later(void *arg)
{
    (void)arg;
    usleep(CLOSED_MS * 1000);
    atomic_store((_Atomic uint32_t *)word->host, number);
    return NULL;
}

static CUresult alloc_pinned(void)
{
    return tsl_cu.cuMemHostAlloc(&pinned, (size_t)1 << 20, CU_MEMHOSTALLOC_PORTABLE);
}

static CUresult free_pinned(void)
{
    return tsl_cu.cuMemFreeHost(pinned);
}

static CUresult pin(void)
{
    return tsl_cu.cuMemHostRegister_v2(pageable, (size_t)1 << 20, CU_MEMHOSTREGISTER_PORTABLE);
}

static CUresult unpin(void)
{
    return tsl_cu.cuMemHostUnregister(pageable);
}

static CUresult alloc_small(void)
{
    struct tsl_mem *more;
    cl_int error = driver->mem_alloc(member, (size_t)1 << 20, 0, NULL, &more);

    if (!error)
        driver->mem_free(more);
    return (CUresult)-error;
}

static CUresult alloc_large(void)
{
    struct tsl_mem *more;
    cl_int error = driver->mem_alloc(member, member->caps.memory_size / 8 * 3, 0, NULL, &more);

    if (!error)
        driver->mem_free(more);
    return (CUresult)-error;
}

static CUresult copy_up(void)
{
    return tsl_cu.cuMemcpyHtoDAsync_v2(tsl_cuda_mem(mem)->address, pageable, (size_t)1 << 20, other);
}

static CUresult copy_down(void)
{
    return tsl_cu.cuMemcpyDtoHAsync_v2(pageable, tsl_cuda_mem(mem)->address, (size_t)1 << 20, other);
}

static CUresult copy_up_behind(void)
{
    return tsl_cu.cuMemcpyHtoDAsync_v2(tsl_cuda_mem(mem)->address, pageable, (size_t)1 << 20, gated);
}

static CUresult copy_down_behind(void)
{
    return tsl_cu.cuMemcpyDtoHAsync_v2(pageable, tsl_cuda_mem(mem)->address, (size_t)1 << 20, gated);
}

static CUresult make_stream(void)
{
    CUstream stream;
    CUresult result = tsl_cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);

    return result ? result : tsl_cu.cuStreamDestroy_v2(stream);
}

static CUresult make_event(void)
{
    CUevent made;
    CUresult result = tsl_cu.cuEventCreate(&made, CU_EVENT_DISABLE_TIMING);

    return result ? result : tsl_cu.cuEventDestroy_v2(made);
}

static CUresult load_and_unload(void)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "nothing");

    driver->kernel_free(kernel);
    driver->program_free(program);
    return CUDA_SUCCESS;
}

static CUresult push_and_pop(void)
{
    CUcontext context;
    CUresult result = tsl_cu.cuCtxPushCurrent_v2(own()->context);

    return result ? result : tsl_cu.cuCtxPopCurrent_v2(&context);
}

static CUresult record_and_query(void)
{
    CUresult result = tsl_cu.cuEventRecord(event, other);

    return result ? result : tsl_cu.cuEventQuery(event); /* 600: it isn't there yet */
}

/* One call while a stream waits. */
static void try_beside_a_gate(const char *name, CUresult (*call)(void))
{
    pthread_t opener;
    CUresult result;
    double begin, took;

    number++;
    tsl_cu.cuStreamWaitValue32_v2(gated, (CUdeviceptr)(uintptr_t)word->host, number, CU_STREAM_WAIT_VALUE_GEQ);
    pthread_create(&opener, NULL, open_later, NULL);
    usleep(2000);
    begin = now_ms();
    result = call();
    took = now_ms() - begin;
    printf("  %-34s %s (%.2f ms, error %u)\n", name, took > CLOSED_MS * 2 / 3 ? "WAITS" : "goes on", took, result);
    pthread_join(opener, NULL);
    tsl_cu.cuStreamSynchronize(gated);
    tsl_cu.cuStreamSynchronize(other);
}

static void look_at_calls_beside_a_gate(void)
{
    tsl_cuda_enter(own());
    word = tsl_cuda_piece_get(own(), 4);
    atomic_store((_Atomic uint32_t *)word->host, 0);
    tsl_cu.cuStreamCreate(&gated, CU_STREAM_NON_BLOCKING);
    tsl_cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    tsl_cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    pageable = mmap(NULL, (size_t)1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mem = new_mem((size_t)1 << 20);
    printf("while a stream waits for a flag:\n");
    try_beside_a_gate("push and pop", push_and_pop);
    try_beside_a_gate("record and query on another stream", record_and_query);
    try_beside_a_gate("cuStreamCreate, Destroy", make_stream);
    try_beside_a_gate("cuEventCreate, Destroy", make_event);
    try_beside_a_gate("cuMemHostAlloc 1 MiB", alloc_pinned);
    try_beside_a_gate("cuMemFreeHost", free_pinned);
    try_beside_a_gate("cuMemHostRegister", pin);
    try_beside_a_gate("cuMemHostUnregister", unpin);
    try_beside_a_gate("mem_alloc, mem_free 1 MiB", alloc_small);
    try_beside_a_gate("mem_alloc, mem_free of 3/8", alloc_large);
    try_beside_a_gate("pageable up, another stream", copy_up);
    try_beside_a_gate("pageable down, another stream", copy_down);
    try_beside_a_gate("pageable up, behind it", copy_up_behind);
    try_beside_a_gate("pageable down, behind it", copy_down_behind);
    try_beside_a_gate("load and unload a module", load_and_unload);
    tsl_cu.cuEventRecord(event, other);
    tsl_cu.cuStreamSynchronize(other);
    tsl_cuda_leave(own());
    printf("without a current context: cuEventQuery %u, cuEventSynchronize %u, cuEventRecord %u, cuMemHostAlloc %u\n",
           tsl_cu.cuEventQuery(event), tsl_cu.cuEventSynchronize(event), tsl_cu.cuEventRecord(event, other),
           alloc_pinned());
    driver->mem_free(mem);
}

/* ---- Beyond 32 bits ---------------------------------------------------------------------------------------------- */

static void say(const char *what, bool right, double from_ms)
{
    printf("  %-60s %s (%.0f ms)\n", what, right ? "right" : "WRONG", now_ms() - from_ms);
    n_wrong += !right;
}

static uint64_t value_at(size_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static void write_values(uint64_t *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        host[i] = value_at(i);
}

static bool all_values(const uint64_t *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (host[i] != value_at(i))
            return false;
    return true;
}

/* Pageable memory up, within the GPU, and down again, at places beyond 4 GiB. */
static void look_at_large_copies(struct tsl_mem *from, struct tsl_mem *to, uint64_t *host, size_t size)
{
    struct tsl_copy copy = linear(to, NULL, 24, from, NULL, 8, size);
    double begin = now_ms();
    bool right;

    write_values(host, size / 8);
    right =
        !driver->copy(
            lane, &(struct tsl_copy){.dst = {.mem = from, .offset = 8}, .src = {.host = host}, .region = {size, 1, 1}},
            NULL, NULL) &&
        !driver->copy(lane, &copy, NULL, NULL) && !driver->finish(lane);
    memset(host, 0, size);
    copy = linear(NULL, host, 0, to, NULL, 24, size);
    right = right && !driver->copy(lane, &copy, NULL, NULL) && !driver->finish(lane) && all_values(host, size / 8);
    say("4.5 GiB up, across and down", right, begin);
}

/* Fills as long, by a pattern that CUDA doesn't know and by one that it does. */
static void look_at_large_fills(struct tsl_mem *to, uint64_t *host, size_t size)
{
    const uint64_t pattern[2] = {UINT64_C(0x1122334455667788), UINT64_C(0x99aabbccddeeff00)};
    const struct tsl_place place = {.mem = to};

    for (size_t unit = 1; unit <= 16; unit *= 4) {
        struct tsl_copy down = linear(NULL, host, 0, to, NULL, 0, size);
        double begin = now_ms();
        bool right = !driver->fill(lane, &(struct tsl_fill){place, {size, 1, 1}, pattern, unit}, NULL, NULL) &&
                     !driver->copy(lane, &down, NULL, NULL) && !driver->finish(lane);
        char what[60], expected[16];

        for (size_t i = 0; i < 16; i++)
            expected[i] = ((const char *)pattern)[i % unit];
        for (size_t i = 0; right && i < size; i += 16)
            right = !memcmp((char *)host + i, expected, 16);
        snprintf(what, sizeof(what), "4.5 GiB filled by %zu bytes", unit);
        say(what, right, begin);
    }
}

/* A box of host memory up and down again. */
static void look_at_box(const char *what, char *host, const struct tsl_copy *up)
{
    const size_t *n = up->region;
    struct tsl_copy down = {.dst = up->src, .src = up->dst, .region = {n[0], n[1], n[2]}};
    double begin = now_ms();
    bool right;

    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y++)
            memset(host + z * up->src.slice_pitch + y * up->src.row_pitch, (int)(z * 7 + y), n[0]);
    right = !driver->copy(lane, up, NULL, NULL) && !driver->finish(lane);
    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y++)
            memset(host + z * up->src.slice_pitch + y * up->src.row_pitch, 0, n[0]);
    right = right && !driver->copy(lane, &down, NULL, NULL) && !driver->finish(lane);
    for (size_t z = 0; right && z < n[2]; z++)
        for (size_t y = 0; right && y < n[1]; y++)
            right = host[z * up->src.slice_pitch + y * up->src.row_pitch + n[0] - 1] == (char)(z * 7 + y);
    say(what, right, begin);
}

static void look_at_boxes(struct tsl_mem *to, char *host)
{
    struct tsl_mem *piece = NULL;
    void *small = NULL;

    look_at_box("3 slices, 2 GiB apart on the GPU", host,
                &(struct tsl_copy){.dst = {to, NULL, 64, 4096, 2 * GIB},
                                   .src = {NULL, host, 0, 1024, 1 << 20},
                                   .region = {1000, 900, 3}});
    look_at_box("3 rows, 2 GiB apart on the GPU: more than CUDA's pitch", host,
                &(struct tsl_copy){
                    .dst = {to, NULL, 64, 2 * GIB, 0}, .src = {NULL, host, 0, 1 << 20, 0}, .region = {1 << 20, 3, 1}});
    look_at_box("2 rows, a byte less than that apart", host,
                &(struct tsl_copy){.dst = {to, NULL, 64, 2 * GIB - 1, 0},
                                   .src = {NULL, host, 0, 1 << 20, 0},
                                   .region = {1 << 20, 2, 1}});
    look_at_box(
        "a million rows of 12 bytes", host,
        &(struct tsl_copy){.dst = {to, NULL, 64, 16, 0}, .src = {NULL, host, 0, 20, 0}, .region = {12, 1000000, 1}});
    look_at_box(
        "70000 slices of 2 rows of 8 bytes", host,
        &(struct tsl_copy){.dst = {to, NULL, 64, 16, 48}, .src = {NULL, host, 0, 16, 64}, .region = {8, 2, 70000}});
    if (driver->host_alloc(member, (size_t)32 << 20, &small, &piece))
        return;
    look_at_box(
        "a million rows of 12 bytes, pinned", small,
        &(struct tsl_copy){.dst = {to, NULL, 64, 16, 0}, .src = {NULL, small, 0, 20, 0}, .region = {12, 1000000, 1}});
    look_at_box(
        "70000 slices of 2 rows of 8 bytes, pinned", small,
        &(struct tsl_copy){.dst = {to, NULL, 64, 16, 48}, .src = {NULL, small, 0, 16, 64}, .region = {8, 2, 70000}});
    driver->mem_free(piece);
}

static void look_at_large_launch(void)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "nothing");
    struct tsl_bound_args bound = bind(0, NULL);
    struct tsl_window window = whole(5 * GIB, 64);
    double begin = now_ms();

    say("a launch of 5 * 2^30 work-items",
        !driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL) && !driver->finish(lane),
        begin);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void look_at_what_is_large(void)
{
    size_t size = GIB / 2 * 9;
    struct tsl_mem *from = NULL, *to = NULL;
    void *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    printf("beyond 32 bits:\n");
    if (host == MAP_FAILED || driver->mem_alloc(member, size + 64, 0, NULL, &from) ||
        driver->mem_alloc(member, size + 64, 0, NULL, &to)) {
        printf("  there is no such memory here\n");
        return;
    }
    look_at_large_copies(from, to, host, size);
    look_at_large_fills(to, host, size);
    look_at_boxes(to, host);
    look_at_large_launch();
    driver->mem_free(from);
    driver->mem_free(to);
    munmap(host, size);
}

/* ---- In a dead context ------------------------------------------------------------------------------------------- */

static void look_at_a_dead_context(void)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_bound_arg arg = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args bound = bind(1, &arg);
    struct tsl_window window = whole(1, 1);
    CUcontext context = own()->context, popped = NULL;
    void *more = NULL;
    CUresult r[9];
    cl_int error;

    tsl_cuda_enter(own());
    r[0] = tsl_cu.cuMemHostAlloc(&more, 4096, CU_MEMHOSTALLOC_PORTABLE);
    tsl_cuda_leave(own());
    driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL);
    error = driver->finish(lane);
    printf("a wild kernel: finish says %d, the member is %s\n", error,
           atomic_load(&member->lost) ? "lost" : "NOT lost");
    n_wrong += !atomic_load(&member->lost);
    r[1] = tsl_cu.cuCtxPushCurrent_v2(context);
    r[2] = tsl_cu.cuEventQuery(event);
    r[3] = tsl_cu.cuEventSynchronize(event);
    r[4] = tsl_cu.cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE);
    r[5] = r[0] ? r[0] : tsl_cu.cuMemFreeHost(more);
    r[6] = tsl_cu.cuEventDestroy_v2(event);
    r[7] = tsl_cu.cuStreamDestroy_v2(other);
    r[8] = tsl_cu.cuCtxPopCurrent_v2(&popped);
    printf(
        "  push %u, query %u, synchronise %u, pin %u, give pinned back %u, destroy event %u, stream %u, pop %u (%s)\n",
        r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], popped == context ? "the same" : "ANOTHER");
    driver->kernel_free(kernel);
    driver->program_free(program);
}

int main(int n, char **args)
{
    double begin = now_ms();

    open_members(NULL);
    alarm(0);
    if (n < 2 || strcmp(args[1], "--only-large") != 0)
        look_at_calls_beside_a_gate();
    look_at_what_is_large();
    if (n < 2 || strcmp(args[1], "--only-large") != 0)
        look_at_a_dead_context();
    driver->lane_free(lane);
    tsl_members_reset();
    printf("closed; %d wrong, %.1f s\n", n_wrong, (now_ms() - begin) / 1e3);
    return n_wrong != 0;
}
