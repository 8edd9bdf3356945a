/*
 * The product of square matrices (the kernel `product` of examples/product.c and matrix_pow.c) by OpenBLAS, which is
 * loaded when it is first called. A function for openblas_product.variant.
 */
#include <CL/cl_tesela.h>
#include <dlfcn.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111 };

typedef void gemm_fn(int order, int a_as, int b_as, int rows, int columns, int inner, float alpha, const float *a,
                     int a_step, const float *b, int b_step, float beta, float *c, int c_step);
typedef void threads_fn(int n);

/* Any library that has the C interface of BLAS will do. */
static gemm_fn *load(int n_threads)
{
    static const char *const names[] = {"libopenblas.so.0", "libblis.so.4", "libcblas.so.3"};
    void *library = NULL;
    threads_fn *set_threads;

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    set_threads = (threads_fn *)dlsym(library, "openblas_set_num_threads");
    if (set_threads)
        set_threads(n_threads);
    return (gemm_fn *)dlsym(library, "cblas_sgemm");
}

cl_int openblas_product(const cl_variant_launch_tesela *launch, void *user_data);

/* product(a, b, c, n) */
cl_int openblas_product(const cl_variant_launch_tesela *launch, void *user_data)
{
    static gemm_fn *gemm; /* no other call runs meanwhile */
    const cl_variant_argument_tesela *args = launch->arguments;
    const int n = *(const int *)args[3].at;

    (void)user_data;
    if (!gemm)
        gemm = load((int)launch->n_threads);
    if (!gemm)
        return CL_INVALID_OPERATION; /* The original runs. */
    /* Work-item (x, y) makes column x of row y; parts of a launch have some of the rows or columns. */
    const int column = (int)launch->begin[0], columns = (int)launch->end[0] - column;
    const int row = (int)launch->begin[1], rows = (int)launch->end[1] - row;
    const float *a = (const float *)args[0].at + (size_t)row * n, *b = (const float *)args[1].at + column;
    float *c = (float *)args[2].at + (size_t)row * n + column;
    gemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, rows, columns, n, 1, a, n, b, n, 0, c, n);
    return CL_SUCCESS;
}
