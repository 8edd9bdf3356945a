/*
 * A plate by Jacobi's method, in one launch a step. It ends after so many steps, or earlier when no point changes by
 * more than a tolerance, which every tenth step is asked.
 */
#include "problem/plate.h"

static size_t size = 6000, iterations = 50;
static const char *tolerance = "0";

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns"},
    {"iterations", &iterations, NULL, "steps at most"},
    {"tolerance", NULL, &tolerance, "end when no point changes by more; 0: don't ask"},
    {0}};

struct device_side {
    cl_kernel jacobi, change;
    cl_mem plates[2], most;
};

static float greatest_change(const struct example *e, const struct device_side *d)
{
    const size_t global = size;
    float *most = allocate(size, sizeof(*most)), found = 0;
    set_mem(d->change, 0, d->plates[0]);
    set_mem(d->change, 1, d->plates[1]);
    set_mem(d->change, 2, d->most);
    set_int(d->change, 3, size);
    must(clEnqueueNDRangeKernel(e->queue, d->change, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    read_now(e->queue, d->most, 0, size * sizeof(*most), most);
    for (size_t i = 0; i < size; i++)
        found = fmaxf(found, most[i]);
    free(most);
    return found;
}

/* Returns the number of steps. */
static size_t compute(const struct example *e, const struct device_side *d, double least)
{
    set_int(d->jacobi, 2, size);
    set_int(d->jacobi, 3, size);
    for (size_t i = 0; i < iterations; i++) {
        set_mem(d->jacobi, 0, d->plates[i % 2]);
        set_mem(d->jacobi, 1, d->plates[1 - i % 2]);
        launch(e->queue, d->jacobi, size, size, PLATE_GROUP, NULL, NULL);
        if (least > 0 && i % 10 == 9 && (double)greatest_change(e, d) <= least)
            return i + 1;
    }
    return iterations;
}

int main(int argc, char **argv)
{
    struct example e = {.about = "A plate by Jacobi's method.", .options = options, .source = plate_source};
    struct device_side d;
    struct plate p;
    size_t n_steps = 0;
    example_begin(&e, argc, argv);
    if (size < 3)
        refuse("--size", "three rows are the least");
    plate_create(&p, size);
    d = (struct device_side){
        make_kernel(e.program, "jacobi"),
        make_kernel(e.program, "change"),
        {make_buffer(e.context, CL_MEM_READ_WRITE, p.bytes), make_buffer(e.context, CL_MEM_READ_WRITE, p.bytes)},
        make_buffer(e.context, CL_MEM_WRITE_ONLY, size * sizeof(float))};
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        write_all(e.queue, d.plates[0], p.bytes, p.start);
        write_all(e.queue, d.plates[1], p.bytes, p.start);
        finish(e.queue);
        double written = now();
        n_steps = compute(&e, &d, atof(tolerance));
        finish(e.queue);
        double computed = now();
        read_now(e.queue, d.plates[n_steps % 2], 0, p.bytes, p.end);
        report(&e, r, now() - begin, computed - written);
    }
    bool right = plate_check(&p, n_steps);
    if (e.picture)
        write_heights(e.picture, p.end, size, size, 1024);
    clReleaseMemObject(d.plates[0]);
    clReleaseMemObject(d.plates[1]);
    clReleaseMemObject(d.most);
    clReleaseKernel(d.jacobi);
    clReleaseKernel(d.change);
    plate_destroy(&p);
    return example_end(&e, right, "points and all that they depend on, computed on the host");
}
