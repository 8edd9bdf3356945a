/*
 * Hotspot: 300 steps of heat over a chip, four to a launch. After each launch work on the host copies the result away,
 * as a program does that shows the temperature while it settles.
 */
#include "problem/heat.h"

static size_t size = 1000, iterations = 300;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns of the grid"}, {"iterations", &iterations, NULL, "steps in all"}, {0}};

static void run(const struct example *e, cl_kernel kernel, cl_mem power, cl_mem start, const cl_mem *grids,
                struct heat *heat)
{
    write_all(e->queue, power, heat->bytes, heat->power);
    write_all(e->queue, start, heat->bytes, heat->start);
    set_mem(kernel, 0, power);
    set_int(kernel, 3, heat->n);
    for (size_t i = 0; i < heat->n_launches; i++) {
        set_mem(kernel, 1, i == 0 ? start : grids[1 - i % 2]);
        set_mem(kernel, 2, grids[i % 2]);
        set_int(kernel, 4, heat_steps_of(heat, i));
        launch(e->queue, kernel, heat->n, heat->n, HEAT_GROUP, NULL, NULL);
        enqueue_task(e, grids[i % 2], heat->bytes, CL_MAP_READ, heat_save, heat);
    }
    finish(e->queue);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Heat over a chip, step by step; each fourth step is copied away on the host.",
                        .options = options,
                        .source = heat_source};
    struct heat heat;
    example_begin(&e, argc, argv);
    heat_create(&heat, size, iterations);

    cl_kernel kernel = make_kernel(e.program, "heat");
    cl_mem power = make_buffer(e.context, CL_MEM_READ_ONLY, heat.bytes);
    cl_mem start = make_buffer(e.context, CL_MEM_READ_ONLY, heat.bytes);
    cl_mem grids[2] = {make_buffer(e.context, CL_MEM_HOST_READ_ONLY, heat.bytes),
                       make_buffer(e.context, CL_MEM_HOST_READ_ONLY, heat.bytes)};
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, kernel, power, start, grids, &heat);
        report(&e, r, now() - begin, 0);
    }
    bool right = heat_check(&heat);
    if (e.picture)
        write_heights(e.picture, heat.saved, size, size, 1024);

    clReleaseMemObject(power);
    clReleaseMemObject(start);
    clReleaseMemObject(grids[0]);
    clReleaseMemObject(grids[1]);
    clReleaseKernel(kernel);
    heat_destroy(&heat);
    return example_end(&e, right, "three cells and all that they depend on, computed on the host");
}
