/* The test FPGA's kernels, and its binaries. */
#include "fpga_inside.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = "TESELA TEST FPGA 1\n";

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* x[i] = value */
static void set_all(struct fpga_range range, void *const *args)
{
    int *x = args[0], value;

    memcpy(&value, args[1], sizeof value);
    for (size_t i = range.begin; i < range.end; i++)
        x[i] = value;
}

/* x[i] += value */
static void add_to(struct fpga_range range, void *const *args)
{
    int *x = args[0], value;

    memcpy(&value, args[1], sizeof value);
    for (size_t i = range.begin; i < range.end; i++)
        x[i] += value;
}

/* c[i] = a[i] + b[i] */
static void vector_add(struct fpga_range range, void *const *args)
{
    const int *a = args[0], *b = args[1];
    int *c = args[2];

    for (size_t i = range.begin; i < range.end; i++)
        c[i] = a[i] + b[i];
}

/* x[i] = 3 * x[i] */
static void triple(struct fpga_range range, void *const *args)
{
    int *x = args[0];

    for (size_t i = range.begin; i < range.end; i++)
        x[i] *= 3;
}

static const struct fpga_design designs[] = {
    {"set_all", 2, {0, sizeof(int)}, set_all},
    {"add_to", 2, {0, sizeof(int)}, add_to},
    {"vector_add", 3, {0, 0, 0}, vector_add},
    {"triple", 1, {0}, triple},
};

#define N_DESIGNS (sizeof designs / sizeof designs[0])

/* ---- Binaries ---------------------------------------------------------------------------------------------------- */

const struct fpga_design *fpga_design_of(const char *name)
{
    for (size_t i = 0; i < N_DESIGNS; i++)
        if (!strcmp(designs[i].name, name))
            return &designs[i];
    return NULL;
}

static bool read_line(const char *mode, cl_program program, const char *line, bool *has_mode)
{
    const struct fpga_design *design;

    if (!strncmp(line, "mode ", 5)) {
        *has_mode = true;
        return !strcmp(line + 5, mode);
    }
    design = strncmp(line, "kernel ", 7) ? NULL : fpga_design_of(line + 7);
    if (!design || program->n_designs == FPGA_KERNELS)
        return false;
    program->designs[program->n_designs++] = design;
    return true;
}

bool fpga_parse(const char *mode, cl_program program)
{
    size_t at = sizeof magic - 1;
    bool has_mode = false;

    if (program->size < at || memcmp(program->binary, magic, at) != 0)
        return false;
    while (at < program->size) {
        const char *end = memchr(program->binary + at, '\n', program->size - at);
        char line[64];

        if (!end || (size_t)(end - program->binary) - at >= sizeof line)
            return false;
        snprintf(line, sizeof line, "%.*s", (int)(end - program->binary - (ptrdiff_t)at), program->binary + at);
        if (!read_line(mode, program, line, &has_mode))
            return false;
        at = (size_t)(end - program->binary) + 1;
    }
    return has_mode;
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static unsigned counts[N_DESIGNS][2]; /* guarded by the lock */

static unsigned *count_of(const char *kernel, const char *mode)
{
    const struct fpga_design *design = fpga_design_of(kernel);

    return design ? &counts[design - designs][!strcmp(mode, "hardware")] : NULL;
}

void fpga_count_run(const char *kernel, const char *mode)
{
    pthread_mutex_lock(&fpga_lock);
    ++*count_of(kernel, mode);
    pthread_mutex_unlock(&fpga_lock);
}

__attribute__((visibility("default"))) fpga_runs_fn fpga_runs;

unsigned fpga_runs(const char *kernel, const char *mode)
{
    const unsigned *count = count_of(kernel, mode);
    unsigned runs;

    pthread_mutex_lock(&fpga_lock);
    runs = count ? *count : 0;
    pthread_mutex_unlock(&fpga_lock);
    return runs;
}
