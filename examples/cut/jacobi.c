/*
 * A plate by Jacobi's method over several devices, cut into blocks of rows by weights. Each device keeps a row of each
 * neighbour's; after each step these go from device to device by way of the host.
 */
#include "cut/devices.h"
#include "problem/plate.h"

static size_t size = 6000, iterations = 50;
static const char *weights = "";

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns"},
                                            {"iterations", &iterations, NULL, "steps"},
                                            {"weights", NULL, &weights, "each device's, N,N...; else equal"},
                                            {0}};

/* A device's rows with one more above and below, where the plate has such. */
struct part {
    cl_mem plates[2];
    struct block held;
    float *up[2], *down[2]; /* rows for the neighbours above and below, on their way, of even and odd steps */
};

static void create(const struct units *units, struct part *parts)
{
    for (unsigned i = 0; i < units->n; i++) {
        struct block rows = units->at[i].rows;
        size_t first = rows.first > 0 ? rows.first - 1 : 0, end = rows.first + rows.rows;
        end = end < size ? end + 1 : end;
        if (rows.rows == 0)
            refuse("--weights", "each device needs some rows here");
        parts[i].held = (struct block){first, end - first};
        for (int side = 0; side < 2; side++) {
            parts[i].plates[side] = make_part(&units->at[i], CL_MEM_READ_WRITE, (end - first) * size * sizeof(float));
            parts[i].up[side] = allocate(size, sizeof(float));
            parts[i].down[side] = allocate(size, sizeof(float));
        }
    }
}

static void destroy(const struct units *units, struct part *parts)
{
    for (unsigned i = 0; i < units->n; i++)
        for (int side = 0; side < 2; side++) {
            clReleaseMemObject(parts[i].plates[side]);
            free(parts[i].up[side]);
            free(parts[i].down[side]);
        }
}

static void transfer(const struct unit *u, cl_mem mem, size_t row, float *host, bool write)
{
    size_t bytes = size * sizeof(float);
    cl_int error = write ? clEnqueueWriteBuffer(u->queue, mem, CL_FALSE, row * bytes, bytes, host, 0, NULL, NULL)
                         : clEnqueueReadBuffer(u->queue, mem, CL_FALSE, row * bytes, bytes, host, 0, NULL, NULL);
    must(error, "a transfer");
}

/* A row is written by the neighbour's queue while this one goes on; the next step's rows are therefore others, and by
 * the time these are used again all queues have been waited for. */
static void exchange(const struct units *units, const struct part *parts, size_t side)
{
    for (unsigned i = 0; i < units->n; i++) {
        const struct part *p = &parts[i];
        size_t first = units->at[i].rows.first - p->held.first;
        if (i > 0)
            transfer(&units->at[i], p->plates[side], first, p->up[side], false);
        if (i + 1 < units->n)
            transfer(&units->at[i], p->plates[side], first + units->at[i].rows.rows - 1, p->down[side], false);
    }
    finish_units(units);
    for (unsigned i = 0; i < units->n; i++) {
        if (i > 0)
            transfer(&units->at[i], parts[i].plates[side], 0, parts[i - 1].down[side], true);
        if (i + 1 < units->n)
            transfer(&units->at[i], parts[i].plates[side], parts[i].held.rows - 1, parts[i + 1].up[side], true);
    }
}

static void compute(const struct units *units, const struct part *parts)
{
    for (size_t k = 0; k < iterations; k++) {
        for (unsigned i = 0; i < units->n; i++) {
            const struct unit *u = &units->at[i];
            set_mem(u->kernel, 0, parts[i].plates[k % 2]);
            set_mem(u->kernel, 1, parts[i].plates[1 - k % 2]);
            set_int(u->kernel, 2, size);
            set_int(u->kernel, 3, parts[i].held.rows);
            launch_part(u, size, parts[i].held.rows, PLATE_GROUP);
            must(clFlush(u->queue), "clFlush");
        }
        exchange(units, parts, 1 - k % 2);
    }
    finish_units(units);
}

static void run(const struct example *e, const struct units *units, const struct part *parts, struct plate *p,
                size_t repetition)
{
    double begin = now();
    for (unsigned i = 0; i < units->n; i++)
        for (int side = 0; side < 2; side++)
            write_part(&units->at[i], parts[i].plates[side], parts[i].held.rows * size * sizeof(float),
                       p->start + parts[i].held.first * size);
    finish_units(units);
    double written = now();
    compute(units, parts);
    double computed = now();
    for (unsigned i = 0; i < units->n; i++)
        read_part(&units->at[i], parts[i].plates[iterations % 2], parts[i].held.rows * size * sizeof(float),
                  p->end + parts[i].held.first * size);
    finish_units(units);
    report(e, repetition, now() - begin, computed - written);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "A plate by Jacobi's method, over several devices by hand.",
                        .options = options,
                        .source = plate_source,
                        .several = true};
    struct units units;
    struct part parts[MAX_DEVICES];
    struct plate p;
    example_begin(&e, argc, argv);
    if (size < 3)
        refuse("--size", "three rows are the least");
    plate_create(&p, size);
    open_units(&e, &units, "jacobi");
    divide(&units, size, 1, weights);
    create(&units, parts);
    for (size_t r = 0; again(&e, r); r++)
        run(&e, &units, parts, &p, r);
    bool right = plate_check(&p, iterations);
    if (e.picture)
        write_heights(e.picture, p.end, size, size, 1024);
    destroy(&units, parts);
    close_units(&units);
    plate_destroy(&p);
    return example_end(&e, right, "points and all that they depend on, computed on the host");
}
