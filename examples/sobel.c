/*
 * Edges in the frames of a film. Work on the host brings the planes of a frame and takes them away, from and to a file
 * or memory; between the two a kernel goes over each plane. There are two sets of buffers, so that the next frame can
 * be brought before the last one is taken away.
 */
#include "problem/frames.h"

static size_t n_frames = 20, width = 1920, height = 1080;
static const char *mode = "FTF", *folder = "/tmp";

static const struct option_row options[] = {
    {"frames", &n_frames, NULL, "how many"},      {"width", &width, NULL, "of a frame"},
    {"height", &height, NULL, "of a frame"},      {"mode", NULL, &mode, "FTF, FTM, MTF, MTM: from, to file or memory"},
    {"folder", NULL, &folder, "where files lie"}, {0}};

struct set {
    cl_mem from[PLANES], to[PLANES];
};

static void load(const struct example *e, const struct set *set, struct plane_of *planes)
{
    for (size_t p = 0; p < PLANES; p++)
        enqueue_task(e, set->from[p], plane_size(planes[p].frames, p), CL_MAP_WRITE_INVALIDATE_REGION, load_plane,
                     &planes[p]);
}

static void compute(const struct example *e, cl_kernel kernel, const struct set *set, const struct frames *f)
{
    for (size_t p = 0; p < PLANES; p++) {
        set_mem(kernel, 0, set->from[p]);
        set_mem(kernel, 1, set->to[p]);
        set_int(kernel, 2, f->width[p]);
        set_int(kernel, 3, f->height[p]);
        launch(e->queue, kernel, f->width[p], f->height[p], SOBEL_GROUP, NULL, NULL);
    }
}

static void store(const struct example *e, const struct set *set, struct plane_of *planes)
{
    for (size_t p = 0; p < PLANES; p++)
        enqueue_task(e, set->to[p], plane_size(planes[p].frames, p), CL_MAP_READ, store_plane, &planes[p]);
}

/* planes: PLANES for each frame. */
static void run(const struct example *e, cl_kernel kernel, const struct set *sets, struct frames *f,
                struct plane_of *planes)
{
    frames_rewind(f);
    load(e, &sets[0], planes);
    for (size_t i = 0; i < f->n; i++) {
        compute(e, kernel, &sets[i % 2], f);
        if (i + 1 < f->n)
            load(e, &sets[(i + 1) % 2], planes + (i + 1) * PLANES);
        store(e, &sets[i % 2], planes + i * PLANES);
    }
    finish(e->queue);
}

static struct plane_of *list_planes(struct frames *f)
{
    struct plane_of *planes = allocate(f->n * PLANES, sizeof(*planes));
    for (size_t i = 0; i < f->n * PLANES; i++)
        planes[i] = (struct plane_of){f, i / PLANES, i % PLANES};
    return planes;
}

static void make_sets(const struct example *e, const struct frames *f, struct set *sets)
{
    for (size_t i = 0; i < 2 * PLANES; i++) {
        size_t size = plane_size(f, i % PLANES);
        sets[i / PLANES].from[i % PLANES] = make_buffer(e->context, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, size);
        sets[i / PLANES].to[i % PLANES] = make_buffer(e->context, CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, size);
    }
}

int main(int argc, char **argv)
{
    struct example e = {
        .about = "Edges in the frames of a film, plane by plane.", .options = options, .source = sobel_source};
    struct frames frames;
    struct set sets[2];
    example_begin(&e, argc, argv);
    frames_create(&frames, n_frames, width, height, mode, folder);
    struct plane_of *planes = list_planes(&frames);
    cl_kernel kernel = make_kernel(e.program, "sobel");
    make_sets(&e, &frames, sets);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, kernel, sets, &frames, planes);
        report(&e, r, now() - begin, 0);
    }
    bool right = frames_check(&frames, e.picture);
    for (size_t i = 0; i < 2 * PLANES; i++) {
        clReleaseMemObject(sets[i / PLANES].from[i % PLANES]);
        clReleaseMemObject(sets[i / PLANES].to[i % PLANES]);
    }
    clReleaseKernel(kernel);
    free(planes);
    frames_destroy(&frames);
    return example_end(&e, right, "up to five frames, computed on the host");
}
