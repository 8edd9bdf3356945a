/*
 * Hotspot for one device, overlapped by hand: kernels in one queue, reads in a second one, events between the two, two
 * pinned buffers in turn. While the host copies one result away, the next one is computed and read.
 */
#include "problem/heat.h"

#include "asynchronous/pinned.h"

static size_t size = 1000, iterations = 300;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns of the grid"}, {"iterations", &iterations, NULL, "steps in all"}, {0}};

struct pipeline {
    cl_command_queue reads;
    cl_kernel kernel;
    cl_mem power, start, grids[2];
    struct pinned pinned[2];
    cl_event computed[2], read[2]; /* of the launches with even and odd numbers */
};

/* Launch i overwrites what launch i - 2 left, so it waits for that to be read. */
static void enqueue(const struct example *e, struct pipeline *p, const struct heat *heat, size_t i)
{
    size_t side = i % 2;
    forget(&p->computed[side]);
    set_mem(p->kernel, 1, i == 0 ? p->start : p->grids[1 - side]);
    set_mem(p->kernel, 2, p->grids[side]);
    set_int(p->kernel, 4, heat_steps_of(heat, i));
    launch(e->queue, p->kernel, heat->n, heat->n, HEAT_GROUP, p->read[side], &p->computed[side]);
    must(clFlush(e->queue), "clFlush");
    forget(&p->read[side]);
    must(clEnqueueReadBuffer(p->reads, p->grids[side], CL_FALSE, 0, heat->bytes, p->pinned[side].at, 1,
                             &p->computed[side], &p->read[side]),
         "clEnqueueReadBuffer");
    must(clFlush(p->reads), "clFlush");
}

static void save(struct pipeline *p, struct heat *heat, size_t i)
{
    must(clWaitForEvents(1, &p->read[i % 2]), "clWaitForEvents");
    heat_save(p->pinned[i % 2].at, heat);
}

static void run(const struct example *e, struct pipeline *p, struct heat *heat)
{
    write_all(e->queue, p->power, heat->bytes, heat->power);
    write_all(e->queue, p->start, heat->bytes, heat->start);
    set_mem(p->kernel, 0, p->power);
    set_int(p->kernel, 3, heat->n);
    for (size_t i = 0; i < heat->n_launches; i++) {
        enqueue(e, p, heat, i);
        if (i > 0)
            save(p, heat, i - 1);
    }
    save(p, heat, heat->n_launches - 1);
    finish(e->queue);
}

static void create(const struct example *e, struct pipeline *p, const struct heat *heat)
{
    *p = (struct pipeline){.reads = second_queue(e), .kernel = make_kernel(e->program, "heat")};
    p->power = make_buffer(e->context, CL_MEM_READ_ONLY, heat->bytes);
    p->start = make_buffer(e->context, CL_MEM_READ_ONLY, heat->bytes);
    for (int i = 0; i < 2; i++) {
        p->grids[i] = make_buffer(e->context, CL_MEM_READ_WRITE, heat->bytes);
        p->pinned[i] = pin(e, heat->bytes);
    }
}

static void destroy(const struct example *e, struct pipeline *p)
{
    for (int i = 0; i < 2; i++) {
        forget(&p->computed[i]);
        forget(&p->read[i]);
        clReleaseMemObject(p->grids[i]);
        unpin(e, &p->pinned[i]);
    }
    clReleaseMemObject(p->power);
    clReleaseMemObject(p->start);
    clReleaseKernel(p->kernel);
    clReleaseCommandQueue(p->reads);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Heat over a chip, step by step; each fourth step is copied away on the host.\n"
                                 "Overlapped by hand: two queues, events, pinned buffers.",
                        .options = options,
                        .source = heat_source};
    struct heat heat;
    struct pipeline p;
    example_begin(&e, argc, argv);
    heat_create(&heat, size, iterations);
    create(&e, &p, &heat);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, &p, &heat);
        report(&e, r, now() - begin, 0);
    }
    bool right = heat_check(&heat);
    if (e.picture)
        write_heights(e.picture, heat.saved, size, size, 1024);
    destroy(&e, &p);
    heat_destroy(&heat);
    return example_end(&e, right, "three cells and all that they depend on, computed on the host");
}
