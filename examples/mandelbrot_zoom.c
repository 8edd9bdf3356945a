/*
 * A zoom into the Mandelbrot set: pictures in a loop into two buffers in turn; work on the host counts the pixels
 * inside the set and stores each picture.
 */
#include "problem/zoom.h"

static size_t n_pictures = 32, width = 1024, height = 1024, limit = 1000;

static const struct option_row options[] = {{"pictures", &n_pictures, NULL, "how many"},
                                            {"width", &width, NULL, "of a picture"},
                                            {"height", &height, NULL, "of a picture"},
                                            {"limit", &limit, NULL, "iterations at most"},
                                            {0}};

static void run(const struct example *e, cl_kernel kernel, const cl_mem *buffers, struct zoom *z)
{
    for (size_t i = 0; i < z->n; i++) {
        struct picture_of *p = &z->pictures[i];
        set_view(kernel, buffers[i % 2], &p->view, 0, p->view.height);
        launch(e->queue, kernel, p->view.width, p->view.height, PIXEL_GROUP, NULL, NULL);
        enqueue_task(e, buffers[i % 2], z->bytes, CL_MAP_READ, count_and_store, p);
    }
    finish(e->queue);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "A zoom into the Mandelbrot set; each picture is counted and stored on the host.",
                        .options = options,
                        .source = mandelbrot_source};
    struct zoom z;
    example_begin(&e, argc, argv);
    zoom_create(&z, n_pictures, width, height, limit);

    cl_kernel kernel = make_kernel(e.program, "mandelbrot");
    cl_mem buffers[2] = {make_buffer(e.context, CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, z.bytes),
                         make_buffer(e.context, CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, z.bytes)};
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, kernel, buffers, &z);
        report(&e, r, now() - begin, 0);
    }
    bool right = zoom_check(&z, e.picture);

    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    clReleaseKernel(kernel);
    zoom_destroy(&z);
    return example_end(&e, right, "pixels of the last picture against the host");
}
