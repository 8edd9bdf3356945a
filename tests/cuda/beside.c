/*
 * What another context on the GPU feels of what a program does there: a context of its own launches a small kernel and
 * waits for it, again and again, alone for a second and then while the program runs that the arguments name. Run it
 * where there is a GPU, for instance with `hop`, whose streams wait for flags (docs/lab/performance.md). Not a test.
 */
#include "cuda_env.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SAMPLES 4000000

static double samples[MAX_SAMPLES];

static double now_us(void)
{
    return (double)tsl_clock_ns() / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("%s failed: %d\n", what, (int)result);
    exit(1);
}

static CUfunction make_context(void)
{
    const char *name = getenv("TESELA_CUDA_LIBRARY");
    CUresult (*create)(CUcontext * context, unsigned flags, CUdevice device);
    CUfunction function;
    CUcontext context;
    CUmodule module;
    char *why;

    if (tsl_cuda_load(name ? name : "libcuda.so.1", &why) != TSL_CUDA_THERE) {
        printf("%s\n", why);
        exit(1);
    }
    *(void **)&create = dlsym(dlopen(name ? name : "libcuda.so.1", RTLD_NOW), "cuCtxCreate_v2");
    must(tsl_cu.cuInit(0), "cuInit");
    must(create(&context, 0, 0), "cuCtxCreate");
    must(tsl_cu.cuModuleLoadDataEx(&module, cuda_kernels_ptx, 0, NULL, NULL), "cuModuleLoadDataEx");
    must(tsl_cu.cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
    return function;
}

static double one(CUfunction function, CUstream stream)
{
    char hidden[136] = {0};
    void *parameters[] = {hidden};
    double start = now_us();

    must(tsl_cu.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL), "cuLaunchKernel");
    must(tsl_cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
    return now_us() - start;
}

/* Until the child has ended; 0: for a second. */
static void measure(CUfunction function, CUstream stream, pid_t child, const char *what)
{
    double end = now_us() + 1e6;
    unsigned n = 0;

    while (n < MAX_SAMPLES && (child ? waitpid(child, NULL, WNOHANG) == 0 : now_us() < end))
        samples[n++] = one(function, stream);
    if (!n)
        return;
    qsort(samples, n, sizeof(*samples), by_size);
    printf("%s: %u kernels, median %.1f us, 99 in 100 within %.1f, 9999 in 10000 within %.1f, longest %.1f\n", what, n,
           samples[n / 2], samples[(size_t)n * 99 / 100], samples[(size_t)n * 9999 / 10000], samples[n - 1]);
}

int main(int n, char **args)
{
    CUfunction function;
    CUstream stream;
    int begin[2];
    pid_t child;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (pipe(begin))
        return 1;
    child = fork(); /* before CUDA is used here */
    if (child == 0) {
        close(begin[1]);
        if (read(begin[0], &(char){0}, 1) == 1 && n > 1)
            execvp(args[1], args + 1);
        _exit(127);
    }
    function = make_context();
    must(tsl_cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    measure(function, stream, 0, "alone");
    if (write(begin[1], "", 1) != 1)
        return 1;
    measure(function, stream, child, "beside it");
    return 0;
}
