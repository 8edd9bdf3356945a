/*
 * Edges in the frames of a film for one device, overlapped by hand: writes, kernels and reads in three queues, events
 * between them, two sets of buffers and of pinned memory in turn. While the device works on one frame, the host brings
 * the next one and takes the last one away.
 */
#include "problem/frames.h"

#include "asynchronous/pinned.h"

static size_t n_frames = 20, width = 1920, height = 1080;
static const char *mode = "FTF", *folder = "/tmp";

static const struct option_row options[] = {
    {"frames", &n_frames, NULL, "how many"},      {"width", &width, NULL, "of a frame"},
    {"height", &height, NULL, "of a frame"},      {"mode", NULL, &mode, "FTF, FTM, MTF, MTM: from, to file or memory"},
    {"folder", NULL, &folder, "where files lie"}, {0}};

/* One plane's buffers, memory and events, of frames with even or odd numbers. */
struct slot {
    cl_mem from, to;
    struct pinned in, out;
    cl_event written, computed, read;
};

struct pipeline {
    cl_command_queue writes, reads;
    cl_kernel kernel;
    struct slot slots[2][PLANES];
};

/* The host may overwrite a slot's pinned memory once its last write has ended; the device its buffer once the last
 * kernel has. */
static void bring(struct pipeline *s, struct frames *f, size_t frame)
{
    for (size_t p = 0; p < PLANES; p++) {
        struct slot *slot = &s->slots[frame % 2][p];
        struct plane_of plane = {f, frame, p};
        if (slot->written)
            must(clWaitForEvents(1, &slot->written), "clWaitForEvents");
        forget(&slot->written);
        load_plane(slot->in.at, &plane);
        must(clEnqueueWriteBuffer(s->writes, slot->from, CL_FALSE, 0, plane_size(f, p), slot->in.at,
                                  slot->computed ? 1 : 0, slot->computed ? &slot->computed : NULL, &slot->written),
             "clEnqueueWriteBuffer");
    }
    must(clFlush(s->writes), "clFlush");
}

static void compute(const struct example *e, struct pipeline *s, const struct frames *f, size_t frame)
{
    const size_t local[2] = {SOBEL_GROUP, SOBEL_GROUP};
    for (size_t p = 0; p < PLANES; p++) {
        struct slot *slot = &s->slots[frame % 2][p];
        const size_t global[2] = {round_up(f->width[p], SOBEL_GROUP), round_up(f->height[p], SOBEL_GROUP)};
        cl_event waits[2] = {slot->written, slot->read};
        forget(&slot->computed);
        set_mem(s->kernel, 0, slot->from);
        set_mem(s->kernel, 1, slot->to);
        set_int(s->kernel, 2, f->width[p]);
        set_int(s->kernel, 3, f->height[p]);
        must(clEnqueueNDRangeKernel(e->queue, s->kernel, 2, NULL, global, local, slot->read ? 2 : 1, waits,
                                    &slot->computed),
             "clEnqueueNDRangeKernel");
    }
    must(clFlush(e->queue), "clFlush");
    for (size_t p = 0; p < PLANES; p++) {
        struct slot *slot = &s->slots[frame % 2][p];
        forget(&slot->read);
        must(clEnqueueReadBuffer(s->reads, slot->to, CL_FALSE, 0, plane_size(f, p), slot->out.at, 1, &slot->computed,
                                 &slot->read),
             "clEnqueueReadBuffer");
    }
    must(clFlush(s->reads), "clFlush");
}

static void take(struct pipeline *s, struct frames *f, size_t frame)
{
    for (size_t p = 0; p < PLANES; p++) {
        struct slot *slot = &s->slots[frame % 2][p];
        struct plane_of plane = {f, frame, p};
        must(clWaitForEvents(1, &slot->read), "clWaitForEvents");
        store_plane(slot->out.at, &plane);
    }
}

static void run(const struct example *e, struct pipeline *s, struct frames *f)
{
    frames_rewind(f);
    bring(s, f, 0);
    for (size_t i = 0; i < f->n; i++) {
        compute(e, s, f, i);
        if (i + 1 < f->n)
            bring(s, f, i + 1);
        take(s, f, i);
    }
    finish(e->queue);
}

static void create(const struct example *e, struct pipeline *s, const struct frames *f)
{
    *s = (struct pipeline){second_queue(e), second_queue(e), make_kernel(e->program, "sobel"), {{{0}}}};
    for (size_t i = 0; i < 2 * PLANES; i++) {
        struct slot *slot = &s->slots[i / PLANES][i % PLANES];
        size_t size = plane_size(f, i % PLANES);
        slot->from = make_buffer(e->context, CL_MEM_READ_ONLY, size);
        slot->to = make_buffer(e->context, CL_MEM_WRITE_ONLY, size);
        slot->in = pin(e, size);
        slot->out = pin(e, size);
    }
}

static void destroy(const struct example *e, struct pipeline *s)
{
    for (size_t i = 0; i < 2 * PLANES; i++) {
        struct slot *slot = &s->slots[i / PLANES][i % PLANES];
        forget(&slot->written);
        forget(&slot->computed);
        forget(&slot->read);
        clReleaseMemObject(slot->from);
        clReleaseMemObject(slot->to);
        unpin(e, &slot->in);
        unpin(e, &slot->out);
    }
    clReleaseKernel(s->kernel);
    clReleaseCommandQueue(s->writes);
    clReleaseCommandQueue(s->reads);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Edges in the frames of a film, plane by plane.\n"
                                 "Overlapped by hand: three queues, events, pinned buffers.",
                        .options = options,
                        .source = sobel_source};
    struct frames frames;
    struct pipeline s;
    example_begin(&e, argc, argv);
    frames_create(&frames, n_frames, width, height, mode, folder);
    create(&e, &s, &frames);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, &s, &frames);
        report(&e, r, now() - begin, 0);
    }
    bool right = frames_check(&frames, e.picture);
    destroy(&e, &s);
    frames_destroy(&frames);
    return example_end(&e, right, "up to five frames, computed on the host");
}
