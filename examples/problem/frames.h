/*
 * Frames of a film, each of three planes (Y whole, U and V of half the width and height), and the Sobel operator, which
 * finds edges. Frames come from a file or from memory and go to a file or to memory.
 */
#ifndef EXAMPLE_FRAMES_H
#define EXAMPLE_FRAMES_H

#include "example.h"

#include <unistd.h>

enum { PLANES = 3, SOBEL_GROUP = 16 };

static const char sobel_source[] =
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void sobel(global const uchar *from, global uchar *to, int w, int h)\n"
    "{\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x >= w || y >= h)\n"
    "    return;\n"
    "  uchar edge = 0;\n"
    "  if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {\n"
    "    global const uchar *p = from + y * w + x;\n"
    "    int a = p[-w - 1], b = p[-w], c = p[1 - w], d = p[-1], f = p[1], g = p[w - 1], i = p[w], j = p[w + 1];\n"
    "    int gx = c + 2 * f + j - a - 2 * d - g, gy = g + 2 * i + j - a - 2 * b - c;\n"
    "    edge = convert_uchar_sat(sqrt((float)(gx * gx + gy * gy)));\n"
    "  }\n"
    "  to[y * w + x] = edge;\n"
    "}\n";

struct frames {
    size_t n, width[PLANES], height[PLANES],
        offset[PLANES + 1];   /* offset: of planes in a frame; the last is its size */
    unsigned char *from, *to; /* all frames, where they are in memory, else NULL */
    FILE *in, *out;           /* where they are in files, else NULL */
};

/* The host's side of one plane of one frame. */
struct plane_of {
    struct frames *frames;
    size_t frame, plane;
};

/* A disc that wanders over waves. */
static inline void draw_plane(const struct frames *f, size_t frame, size_t plane, unsigned char *to)
{
    size_t w = f->width[plane], h = f->height[plane];
    long cx = (long)((frame * 17 + w / 3) % w), cy = (long)(h / 2), r = (long)(h / 4);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            long dx = (long)x - cx, dy = (long)y - cy;
            to[y * w + x] =
                (unsigned char)(dx * dx + dy * dy < r * r ? 220 - plane * 40 : (x * 3 + y * 2 + frame * 5) % 97);
        }
}

static inline FILE *temporary_file(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/frames-XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0)
        refuse(path, strerror(errno));
    unlink(path);
    return fdopen(file, "w+b");
}

static inline void make_frames(struct frames *f)
{
    size_t size = f->offset[PLANES];
    unsigned char *frame = allocate(size, 1);
    for (size_t i = 0; i < f->n; i++) {
        for (size_t p = 0; p < PLANES; p++)
            draw_plane(f, i, p, frame + f->offset[p]);
        if (f->in && fwrite(frame, 1, size, f->in) != size)
            refuse("the file of frames", strerror(errno));
        if (f->from)
            memcpy(f->from + i * size, frame, size);
    }
    free(frame);
}

/* mode: FTF, FTM, MTF or MTM, from and to files and memory. Files lie in `folder` and have no names. */
static inline void frames_create(struct frames *f, size_t n, size_t width, size_t height, const char *mode,
                                 const char *folder)
{
    *f = (struct frames){.n = n};
    if (strlen(mode) != 3 || !strchr("FM", mode[0]) || mode[1] != 'T' || !strchr("FM", mode[2]))
        refuse("--mode", "FTF, FTM, MTF or MTM is needed");
    for (size_t p = 0; p < PLANES; p++) {
        f->width[p] = p ? width / 2 : width;
        f->height[p] = p ? height / 2 : height;
        f->offset[p + 1] = f->offset[p] + f->width[p] * f->height[p];
    }
    if (mode[0] == 'F')
        f->in = temporary_file(folder);
    else
        f->from = allocate(n, f->offset[PLANES]);
    if (mode[2] == 'F')
        f->out = temporary_file(folder);
    else
        f->to = allocate(n, f->offset[PLANES]);
    make_frames(f);
}

static inline void frames_destroy(struct frames *f)
{
    free(f->from);
    free(f->to);
    if (f->in)
        fclose(f->in);
    if (f->out)
        fclose(f->out);
}

/* Planes pass through files in their order, so a round begins at the start. */
static inline void frames_rewind(struct frames *f)
{
    if (f->in)
        rewind(f->in);
    if (f->out)
        rewind(f->out);
}

static inline size_t plane_size(const struct frames *f, size_t plane)
{
    return f->width[plane] * f->height[plane];
}

/* Work on the host: brings a plane into `memory`. */
static inline void load_plane(void *memory, void *argument)
{
    const struct plane_of *p = argument;
    struct frames *f = p->frames;
    size_t size = plane_size(f, p->plane);
    if (f->from)
        memcpy(memory, f->from + p->frame * f->offset[PLANES] + f->offset[p->plane], size);
    else if (fread(memory, 1, size, f->in) != size)
        refuse("the file of frames", "a plane is missing");
}

/* Work on the host: takes a plane with its edges from `memory`. */
static inline void store_plane(void *memory, void *argument)
{
    const struct plane_of *p = argument;
    struct frames *f = p->frames;
    size_t size = plane_size(f, p->plane);
    if (f->to)
        memcpy(f->to + p->frame * f->offset[PLANES] + f->offset[p->plane], memory, size);
    else if (fwrite(memory, 1, size, f->out) != size)
        refuse("the file of edges", strerror(errno));
}

static inline unsigned char edge_at(const unsigned char *from, size_t w, size_t h, size_t x, size_t y)
{
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return 0;
    const unsigned char *above = from + (y - 1) * w + x, *here = above + w, *below = here + w;
    int gx = above[1] + 2 * here[1] + below[1] - above[-1] - 2 * here[-1] - below[-1];
    int gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
    return (unsigned char)fmin(255, nearbyint(sqrt(gx * gx + gy * gy)));
}

static inline void read_edges(struct frames *f, size_t frame, unsigned char *to)
{
    size_t size = f->offset[PLANES];
    if (f->to)
        memcpy(to, f->to + frame * size, size);
    else if (fseek(f->out, (long)(frame * size), SEEK_SET) || fread(to, 1, size, f->out) != size)
        refuse("the file of edges", "a frame is missing");
}

/* Compares all planes of a frame with the host's; a conversion that truncates differs by one. */
static inline bool frame_check(struct frames *f, size_t frame, const unsigned char *edges)
{
    unsigned char *from = allocate(f->offset[PLANES], 1);
    bool right = true;
    for (size_t p = 0; p < PLANES; p++) {
        size_t w = f->width[p];
        draw_plane(f, frame, p, from);
        for (size_t i = 0; i < w * f->height[p]; i++)
            right = right && abs(edges[f->offset[p] + i] - edge_at(from, w, f->height[p], i % w, i / w)) <= 1;
    }
    free(from);
    return right;
}

/* Checks the first and the last frame and some between, and writes one as a picture if that is wanted. */
static inline bool frames_check(struct frames *f, const char *picture)
{
    unsigned char *edges = allocate(f->offset[PLANES], 1);
    bool right = true;
    for (size_t i = 0; i < f->n; i += f->n / 5 + 1) {
        size_t frame = i == 0 ? f->n - 1 : i - 1;
        read_edges(f, frame, edges);
        right = right && frame_check(f, frame, edges);
    }
    if (picture)
        write_picture(picture, f->width[0], f->height[0], 1, edges);
    free(edges);
    return right;
}

#endif
