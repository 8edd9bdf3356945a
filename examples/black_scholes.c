/* Prices of options by the formula of Black and Scholes: one launch, or many on the same array. */
#include "problem/prices.h"

static size_t size = 4 << 20, n_launches = 1;

static const struct option_row options[] = {
    {"size", &size, NULL, "options"}, {"launches", &n_launches, NULL, "launches on the same array"}, {0}};

int main(int argc, char **argv)
{
    struct example e = {
        .about = "Prices of options by the formula of Black and Scholes.", .options = options, .source = prices_source};
    struct prices p;
    example_begin(&e, argc, argv);
    prices_create(&p, size);
    size_t bytes = size * sizeof(float);
    cl_kernel kernel = make_kernel(e.program, "prices");
    cl_mem in = make_buffer(e.context, CL_MEM_READ_ONLY, bytes),
           call = make_buffer(e.context, CL_MEM_WRITE_ONLY, bytes),
           put = make_buffer(e.context, CL_MEM_WRITE_ONLY, bytes);
    set_prices(kernel, in, call, put, size);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        write_all(e.queue, in, bytes, p.in);
        finish(e.queue);
        double written = now();
        for (size_t i = 0; i < n_launches; i++)
            launch_prices(e.queue, kernel, size);
        finish(e.queue);
        double computed = now();
        read_now(e.queue, call, 0, bytes, p.call);
        read_now(e.queue, put, 0, bytes, p.put);
        report(&e, r, now() - begin, computed - written);
    }
    bool right = prices_check(&p);
    clReleaseMemObject(in);
    clReleaseMemObject(call);
    clReleaseMemObject(put);
    clReleaseKernel(kernel);
    prices_destroy(&p);
    return example_end(&e, right, "some thousand prices against the host");
}
