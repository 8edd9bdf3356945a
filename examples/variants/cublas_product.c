/*
 * The product of square matrices (the kernel `product` of examples/product.c) by cuBLAS, which is loaded when it is
 * first called. A function for cublas_product.variant; it needs neither CUDA's headers nor CUDA to be built.
 */
#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct cublasContext *handle;

static struct {
    pthread_once_t once;
    bool good;
    int (*create)(handle *result);
    int (*set_stream)(handle h, void *stream);
    int (*sgemm)(handle h, int a_as, int b_as, int rows, int columns, int inner, const float *alpha, const float *a,
                 int a_step, const float *b, int b_step, const float *beta, float *c, int c_step);
    int (*current)(void **context); /* of CUDA's driver */
} cu = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"};
    void *library = NULL, *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library || !driver)
        return;
    *(void **)&cu.create = dlsym(library, "cublasCreate_v2");
    *(void **)&cu.set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&cu.sgemm = dlsym(library, "cublasSgemm_v2");
    *(void **)&cu.current = dlsym(driver, "cuCtxGetCurrent");
    cu.good = cu.create && cu.set_stream && cu.sgemm && cu.current;
}

/* One handle for each GPU's context. No other call of this function runs meanwhile. */
static handle handle_of_context(void)
{
    static struct made {
        struct made *next;
        void *context;
        handle handle;
    } * all;
    void *context = NULL;
    struct made *made;

    if (cu.current(&context) || !context)
        return NULL;
    for (made = all; made; made = made->next)
        if (made->context == context)
            return made->handle;
    made = calloc(1, sizeof(*made));
    if (!made || cu.create(&made->handle)) {
        free(made);
        return NULL;
    }
    made->context = context;
    made->next = all;
    all = made;
    return made->handle;
}

cl_int cublas_product(const cl_variant_launch_tesela *launch, void *user_data);

/* product(a, b, c, n). cuBLAS has matrices by columns: there the rows' product A B is B A of what it takes for
 * matrices. */
cl_int cublas_product(const cl_variant_launch_tesela *launch, void *user_data)
{
    const cl_variant_argument_tesela *args = launch->arguments;
    const int n = *(const int *)args[3].at;
    const int column = (int)launch->begin[0], columns = (int)launch->end[0] - column;
    const int row = (int)launch->begin[1], rows = (int)launch->end[1] - row;
    const float one = 1, zero = 0, *a = (const float *)args[0].at + (size_t)row * n,
                *b = (const float *)args[1].at + column;
    float *c = (float *)args[2].at + (size_t)row * n + column;
    handle h;

    (void)user_data;
    pthread_once(&cu.once, load);
    if (!launch->stream || !cu.good)
        return CL_INVALID_OPERATION; /* The original runs. */
    h = handle_of_context();
    if (!h || cu.set_stream(h, launch->stream))
        return CL_INVALID_OPERATION;
    return cu.sgemm(h, 0, 0, columns, rows, n, &one, b, n, a, n, &zero, c, n) ? CL_INVALID_OPERATION : CL_SUCCESS;
}
