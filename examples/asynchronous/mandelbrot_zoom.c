/*
 * A zoom into the Mandelbrot set for one device, overlapped by hand: kernels in one queue, reads in a second one,
 * events between the two, two pinned buffers in turn.
 */
#include "asynchronous/pinned.h"
#include "problem/zoom.h"

static size_t n_pictures = 32, width = 1024, height = 1024, limit = 1000;

static const struct option_row options[] = {{"pictures", &n_pictures, NULL, "how many"},
                                            {"width", &width, NULL, "of a picture"},
                                            {"height", &height, NULL, "of a picture"},
                                            {"limit", &limit, NULL, "iterations at most"},
                                            {0}};

struct pipeline {
    cl_command_queue reads;
    cl_kernel kernel;
    cl_mem buffers[2];
    struct pinned pinned[2];
    cl_event computed[2], read[2]; /* of pictures with even and odd numbers */
};

static void enqueue(const struct example *e, struct pipeline *s, const struct zoom *z, size_t i)
{
    const struct view *view = &z->pictures[i].view;
    size_t side = i % 2;
    forget(&s->computed[side]);
    set_view(s->kernel, s->buffers[side], view, 0, view->height);
    launch(e->queue, s->kernel, view->width, view->height, PIXEL_GROUP, s->read[side], &s->computed[side]);
    must(clFlush(e->queue), "clFlush");
    forget(&s->read[side]);
    must(clEnqueueReadBuffer(s->reads, s->buffers[side], CL_FALSE, 0, z->bytes, s->pinned[side].at, 1,
                             &s->computed[side], &s->read[side]),
         "clEnqueueReadBuffer");
    must(clFlush(s->reads), "clFlush");
}

static void take(struct pipeline *s, struct zoom *z, size_t i)
{
    must(clWaitForEvents(1, &s->read[i % 2]), "clWaitForEvents");
    count_and_store(s->pinned[i % 2].at, &z->pictures[i]);
}

static void run(const struct example *e, struct pipeline *s, struct zoom *z)
{
    for (size_t i = 0; i < z->n; i++) {
        enqueue(e, s, z, i);
        if (i > 0)
            take(s, z, i - 1);
    }
    take(s, z, z->n - 1);
    finish(e->queue);
}

static void create(const struct example *e, struct pipeline *s, const struct zoom *z)
{
    *s = (struct pipeline){.reads = second_queue(e), .kernel = make_kernel(e->program, "mandelbrot")};
    for (int i = 0; i < 2; i++) {
        s->buffers[i] = make_buffer(e->context, CL_MEM_WRITE_ONLY, z->bytes);
        s->pinned[i] = pin(e, z->bytes);
    }
}

static void destroy(const struct example *e, struct pipeline *s)
{
    for (int i = 0; i < 2; i++) {
        forget(&s->computed[i]);
        forget(&s->read[i]);
        clReleaseMemObject(s->buffers[i]);
        unpin(e, &s->pinned[i]);
    }
    clReleaseKernel(s->kernel);
    clReleaseCommandQueue(s->reads);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "A zoom into the Mandelbrot set; each picture is counted and stored on the host.\n"
                                 "Overlapped by hand: two queues, events, pinned buffers.",
                        .options = options,
                        .source = mandelbrot_source};
    struct zoom z;
    struct pipeline s;
    example_begin(&e, argc, argv);
    zoom_create(&z, n_pictures, width, height, limit);
    create(&e, &s, &z);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, &s, &z);
        report(&e, r, now() - begin, 0);
    }
    bool right = zoom_check(&z, e.picture);
    destroy(&e, &s);
    zoom_destroy(&z);
    return example_end(&e, right, "pixels of the last picture against the host");
}
