/*
 * Hotspot: how a chip's temperature settles, by explicit steps over a grid, up to four of them in one launch.
 * Work-groups of 16 × 16 keep their part with a halo of four cells in local memory. At the edge of the chip a cell has
 * itself for a neighbour.
 */
#ifndef EXAMPLE_HEAT_H
#define EXAMPLE_HEAT_H

#include "example.h"

enum { HEAT_STEPS = 4, HEAT_GROUP = 16 };

static const char heat_source[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define GROUP 16\n"
    "#define HALO 4\n"
    "#define SIDE (GROUP + 2 * HALO)\n"
    "kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1)))\n"
    "void heat(global const float *power, global const float *from, global float *to, int n, int steps)\n"
    "{\n"
    "  local float t[2][SIDE][SIDE], p[SIDE][SIDE];\n"
    "  int lx = get_local_id(0), ly = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);\n"
    "  int left = gx - lx - HALO, top = gy - ly - HALO, now = 0;\n"
    "  for (int j = ly; j < SIDE; j += GROUP)\n"
    "    for (int i = lx; i < SIDE; i += GROUP) {\n"
    "      int x = clamp(left + i, 0, n - 1), y = clamp(top + j, 0, n - 1);\n"
    "      t[0][j][i] = from[y * n + x];\n"
    "      p[j][i] = power[y * n + x];\n"
    "    }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int k = 1; k <= steps; k++) {\n"
    "    for (int j = ly; j < SIDE; j += GROUP)\n"
    "      for (int i = lx; i < SIDE; i += GROUP)\n"
    "        if (i >= k && i < SIDE - k && j >= k && j < SIDE - k) {\n"
    "          int x = left + i, y = top + j;\n"
    "          float v = t[now][j][i];\n"
    "          float up = y > 0 ? t[now][j - 1][i] : v, down = y < n - 1 ? t[now][j + 1][i] : v;\n"
    "          float west = x > 0 ? t[now][j][i - 1] : v, east = x < n - 1 ? t[now][j][i + 1] : v;\n"
    "          t[1 - now][j][i] = v + 0.1f * p[j][i] + 0.2f * (up + down + west + east - 4 * v) + 0.01f * (80 - v);\n"
    "        }\n"
    "    now = 1 - now;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  if (gx < n && gy < n)\n"
    "    to[gy * n + gx] = t[now][ly + HALO][lx + HALO];\n"
    "}\n";

/* The grid, and what becomes of it. */
struct heat {
    size_t n, iterations, n_launches, bytes;
    float *power, *start, *saved; /* n × n each; saved: the last result, as work on the host copied it away */
};

static inline void heat_create(struct heat *heat, size_t n, size_t iterations)
{
    *heat = (struct heat){.n = n, .iterations = iterations, .bytes = n * n * sizeof(float)};
    heat->n_launches = (iterations + HEAT_STEPS - 1) / HEAT_STEPS;
    heat->power = allocate(n * n, sizeof(float));
    heat->start = allocate(n * n, sizeof(float));
    heat->saved = allocate(n * n, sizeof(float));
    for (size_t i = 0; i < n * n; i++) {
        size_t x = i % n * 8 / n, y = i / n * 8 / n;
        heat->power[i] = (x * 3 + y * 5) % 7 == 0 ? 4 + value_at(i) : value_at(i) / 8;
        heat->start[i] = 80 + value_at(i + 17);
    }
    memset(heat->saved, 0, heat->bytes);
}

static inline void heat_destroy(struct heat *heat)
{
    free(heat->power);
    free(heat->start);
    free(heat->saved);
}

static inline size_t heat_steps_of(const struct heat *heat, size_t i)
{
    size_t left = heat->iterations - i * HEAT_STEPS;
    return left < HEAT_STEPS ? left : HEAT_STEPS;
}

/* Work on the host after each launch: copies the result away. */
static inline void heat_save(void *memory, void *argument)
{
    struct heat *heat = argument;
    memcpy(heat->saved, memory, heat->bytes);
}

/* A window of the grid: cells that a few others can depend on. */
struct heat_window {
    size_t left, top, width, height;
};

static inline struct heat_window heat_window_around(const struct heat *heat, size_t x, size_t y)
{
    size_t reach = heat->iterations, n = heat->n;
    size_t left = x > reach ? x - reach : 0, top = y > reach ? y - reach : 0;
    size_t right = x + reach + 1 < n ? x + reach + 1 : n, bottom = y + reach + 1 < n ? y + reach + 1 : n;
    return (struct heat_window){left, top, right - left, bottom - top};
}

static inline void heat_step(const struct heat *heat, struct heat_window w, const float *from, float *to)
{
    for (size_t y = 0; y < w.height; y++)
        for (size_t x = 0; x < w.width; x++) {
            size_t i = y * w.width + x;
            float v = from[i], power = heat->power[(w.top + y) * heat->n + w.left + x];
            float up = y > 0 ? from[i - w.width] : v, down = y + 1 < w.height ? from[i + w.width] : v;
            float west = x > 0 ? from[i - 1] : v, east = x + 1 < w.width ? from[i + 1] : v;
            to[i] = v + 0.1f * power + 0.2f * (up + down + west + east - 4 * v) + 0.01f * (80 - v);
        }
}

/* Computes a window on the host. What is wrong at its inner borders doesn't get to the cell (x, y) in time; a window
 * that is the whole grid is right everywhere. */
static inline bool heat_check_around(const struct heat *heat, size_t x, size_t y)
{
    struct heat_window w = heat_window_around(heat, x, y);
    float *cells[2] = {allocate(w.width * w.height, sizeof(float)), allocate(w.width * w.height, sizeof(float))};
    bool whole = w.width == heat->n && w.height == heat->n, right = true;
    for (size_t j = 0; j < w.height; j++)
        memcpy(cells[0] + j * w.width, heat->start + (w.top + j) * heat->n + w.left, w.width * sizeof(float));
    for (size_t i = 0; i < heat->iterations; i++)
        heat_step(heat, w, cells[i % 2], cells[1 - i % 2]);
    const float *end = cells[heat->iterations % 2];
    for (size_t i = 0; whole && i < heat->n * heat->n; i++)
        right = right && near(heat->saved[i], end[i], 1e-4);
    right = right && near(heat->saved[y * heat->n + x], end[(y - w.top) * w.width + x - w.left], 1e-4);
    free(cells[0]);
    free(cells[1]);
    return right;
}

static inline bool heat_check(const struct heat *heat)
{
    size_t n = heat->n;
    return heat_check_around(heat, 0, 0) && heat_check_around(heat, n / 2, n / 2) &&
           heat_check_around(heat, n - 1, n * 2 / 3);
}

#endif
