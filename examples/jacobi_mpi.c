/*
 * A plate by Jacobi's method over ranks of MPI, each with a device of its own and a block of the plate, halos by hand.
 *
 *     mpirun -n 4 build/examples/jacobi_mpi --size 25000 --scaling strong
 *
 * Ranks of one machine take its devices in turn. A block has one more row and column on each side: the neighbours'
 * edges. After each step a rank's edges go by way of the host and MPI to its neighbours; with --mode async while the
 * points that need no halo are computed.
 */
#include "example.h"
#include "problem/plate.h"

#include <mpi.h>

enum { N_SIDES = 4 };
enum side { LEFT, RIGHT, ABOVE, BELOW };

static size_t size = 6000, iterations = 50;
static const char *mode = "async", *edges = "boxes", *scaling = "";

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns; with --scaling weak those of one rank"},
    {"iterations", &iterations, NULL, "steps"},
    {"mode", NULL, &mode, "sync: one thing after the other, async: halos while the inside is computed"},
    {"edges", NULL, &edges, "boxes: columns by 2D copies, buffers: by kernels that gather and spread them"},
    {"scaling", NULL, &scaling, "strong or weak: on 1, 2, 4 … ranks, beside each other"},
    {0}};

/* relax: the points [left, right) × [top, bottom) of a block. Points of the whole plate's edge are in none. */
static const char source[] =
    "kernel void relax(global const float *from, global float *to, int pitch, int left, int top, int right, int "
    "bottom)\n"
    "{\n"
    "  int x = left + get_global_id(0), y = top + get_global_id(1);\n"
    "  if (x < right && y < bottom)\n"
    "    to[y * pitch + x] = 0.25f * (from[y * pitch + x - 1] + from[y * pitch + x + 1] +\n"
    "                                 from[(y - 1) * pitch + x] + from[(y + 1) * pitch + x]);\n"
    "}\n"
    "kernel void gather(global const float *plate, global float *column, int pitch, int x)\n"
    "{\n"
    "  int y = get_global_id(0);\n"
    "  column[y] = plate[(y + 1) * pitch + x];\n"
    "}\n"
    "kernel void spread(global float *plate, global const float *column, int pitch, int x)\n"
    "{\n"
    "  int y = get_global_id(0);\n"
    "  plate[(y + 1) * pitch + x] = column[y];\n"
    "}\n";

/* Points of a block, as relax takes them. */
struct box {
    size_t left, top, right, bottom;
};

/* Memory of the host that transfers reach without a copy in between. */
struct edge {
    cl_mem pinned, column; /* column: of the device, for --edges buffers; else NULL */
    float *at;
};

struct block {
    MPI_Comm comm;
    int n_ranks, neighbours[N_SIDES];
    size_t n, x, y, width, height, pitch; /* n: of the plate; x, y: its first point there */
    struct box all, inside;               /* inside: what needs no halo */
    cl_mem plates[2];
    struct edge out[N_SIDES], in[N_SIDES];
    cl_command_queue compute, move;
    cl_kernel relax, gather, spread;
};

/* ---- A block and its memory -------------------------------------------------------------------------------------- */

/* Of n things the first of part i of so many. */
static size_t first_of(size_t n, int i, int parts)
{
    return n * (size_t)i / (size_t)parts;
}

static size_t length(const struct block *b, int side)
{
    return side == LEFT || side == RIGHT ? b->height : b->width;
}

/* The block's coordinates begin at 1: row and column 0 are halo. */
static void find_boxes(struct block *b)
{
    b->all = (struct box){b->x ? 1 : 2, b->y ? 1 : 2, b->width + (b->x + b->width < b->n),
                          b->height + (b->y + b->height < b->n)};
    b->inside = b->all;
    b->inside.left += b->neighbours[LEFT] != MPI_PROC_NULL;
    b->inside.top += b->neighbours[ABOVE] != MPI_PROC_NULL;
    b->inside.right -= b->neighbours[RIGHT] != MPI_PROC_NULL;
    b->inside.bottom -= b->neighbours[BELOW] != MPI_PROC_NULL;
}

static void cut(struct block *b, MPI_Comm comm, size_t n)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, at[2], rank;
    *b = (struct block){.n = n};
    MPI_Comm_size(comm, &b->n_ranks);
    MPI_Dims_create(b->n_ranks, 2, dims);
    if (n < 3 * (size_t)dims[0])
        refuse("--size", "three rows for each rank are the least");
    MPI_Cart_create(comm, 2, dims, periods, 0, &b->comm);
    MPI_Comm_rank(b->comm, &rank);
    MPI_Cart_coords(b->comm, rank, 2, at);
    MPI_Cart_shift(b->comm, 0, 1, &b->neighbours[ABOVE], &b->neighbours[BELOW]);
    MPI_Cart_shift(b->comm, 1, 1, &b->neighbours[LEFT], &b->neighbours[RIGHT]);
    b->y = first_of(n, at[0], dims[0]);
    b->x = first_of(n, at[1], dims[1]);
    b->height = first_of(n, at[0] + 1, dims[0]) - b->y;
    b->width = first_of(n, at[1] + 1, dims[1]) - b->x;
    b->pitch = b->width + 2;
    find_boxes(b);
}

static struct edge make_edge(const struct example *e, size_t bytes, bool columns)
{
    struct edge edge = {make_buffer(e->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes), NULL, NULL};
    cl_int error;
    edge.at =
        clEnqueueMapBuffer(e->queue, edge.pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    if (columns)
        edge.column = make_buffer(e->context, CL_MEM_READ_WRITE, bytes);
    return edge;
}

static void free_edge(const struct example *e, struct edge *edge)
{
    must(clEnqueueUnmapMemObject(e->queue, edge->pinned, edge->at, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    finish(e->queue);
    clReleaseMemObject(edge->pinned);
    if (edge->column)
        clReleaseMemObject(edge->column);
}

static void open_block(const struct example *e, struct block *b)
{
    size_t bytes = b->pitch * (b->height + 2) * sizeof(float);
    cl_int error;
    b->compute = e->queue;
    b->move = clCreateCommandQueue(e->context, e->device, 0, &error);
    must(error, "clCreateCommandQueue");
    for (int i = 0; i < 2; i++)
        b->plates[i] = make_buffer(e->context, CL_MEM_READ_WRITE, bytes);
    for (int side = 0; side < N_SIDES; side++) {
        bool columns = !strcmp(edges, "buffers") && (side == LEFT || side == RIGHT);
        b->out[side] = make_edge(e, length(b, side) * sizeof(float), columns);
        b->in[side] = make_edge(e, length(b, side) * sizeof(float), columns);
    }
    b->relax = make_kernel(e->program, "relax");
    b->gather = make_kernel(e->program, "gather");
    b->spread = make_kernel(e->program, "spread");
}

static void close_block(const struct example *e, struct block *b)
{
    for (int side = 0; side < N_SIDES; side++) {
        free_edge(e, &b->out[side]);
        free_edge(e, &b->in[side]);
    }
    clReleaseMemObject(b->plates[0]);
    clReleaseMemObject(b->plates[1]);
    clReleaseKernel(b->relax);
    clReleaseKernel(b->gather);
    clReleaseKernel(b->spread);
    clReleaseCommandQueue(b->move);
    MPI_Comm_free(&b->comm);
}

/* The start, halos with it. */
static float *start_of(const struct block *b)
{
    float *points = allocate(b->pitch * (b->height + 2), sizeof(float));
    for (size_t j = 0; j < b->height + 2; j++)
        for (size_t i = 0; i < b->pitch; i++) {
            size_t x = b->x + i - 1, y = b->y + j - 1; /* Beyond the plate neither is less than n. */
            points[j * b->pitch + i] = x < b->n && y < b->n ? start_value(b->n, y * b->n + x) : 0;
        }
    return points;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void launch_step(const struct block *b, cl_command_queue queue, size_t i, struct box box, cl_event after,
                        cl_event *done)
{
    const size_t width = box.right - box.left, height = box.bottom - box.top, across = width < 64 ? 1 : 64;
    const size_t local[2] = {across, across == 1 ? 64 : height < 4 ? 1 : 4};
    const size_t global[2] = {round_up(width, local[0]), round_up(height, local[1])};
    set_mem(b->relax, 0, b->plates[i % 2]);
    set_mem(b->relax, 1, b->plates[1 - i % 2]);
    set_int(b->relax, 2, b->pitch);
    set_int(b->relax, 3, box.left);
    set_int(b->relax, 4, box.top);
    set_int(b->relax, 5, box.right);
    set_int(b->relax, 6, box.bottom);
    must(clEnqueueNDRangeKernel(queue, b->relax, 2, NULL, global, local, after ? 1 : 0, after ? &after : NULL, done),
         "clEnqueueNDRangeKernel");
}

/* All that is not inside: of each side with a neighbour the points next to it, none twice. */
static void launch_rim(const struct block *b, size_t i, cl_event after)
{
    const struct box *all = &b->all, *in = &b->inside;
    const struct box rim[N_SIDES] = {{all->left, in->top, in->left, in->bottom},
                                     {in->right, in->top, all->right, in->bottom},
                                     {all->left, all->top, all->right, in->top},
                                     {all->left, in->bottom, all->right, all->bottom}};
    for (int side = 0; side < N_SIDES; side++)
        if (rim[side].left < rim[side].right && rim[side].top < rim[side].bottom)
            launch_step(b, b->move, i, rim[side], after, NULL);
}

static void launch_column(const struct block *b, cl_kernel kernel, cl_mem plate, cl_mem column, size_t x)
{
    set_mem(kernel, 0, plate);
    set_mem(kernel, 1, column);
    set_int(kernel, 2, b->pitch);
    set_int(kernel, 3, x);
    must(clEnqueueNDRangeKernel(b->move, kernel, 1, NULL, &b->height, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

/* ---- Halos ------------------------------------------------------------------------------------------------------- */

/* A row or a column of a plate, by a copy of a box. */
static void copy_box(const struct block *b, cl_mem plate, size_t x, size_t y, bool is_column, float *host, bool write)
{
    const size_t origin[3] = {x * sizeof(float), y, 0}, zero[3] = {0, 0, 0};
    const size_t region[3] = {(is_column ? 1 : b->width) * sizeof(float), is_column ? b->height : 1, 1};
    const size_t pitch = b->pitch * sizeof(float);
    cl_int error = write ? clEnqueueWriteBufferRect(b->move, plate, CL_FALSE, origin, zero, region, pitch, 0, region[0],
                                                    0, host, 0, NULL, NULL)
                         : clEnqueueReadBufferRect(b->move, plate, CL_FALSE, origin, zero, region, pitch, 0, region[0],
                                                   0, host, 0, NULL, NULL);
    must(error, "a copy of an edge");
}

/* Reads a side's own points, or writes its halo. */
static void transfer(const struct block *b, cl_mem plate, int side, bool write)
{
    const struct edge *edge = write ? &b->in[side] : &b->out[side];
    const size_t halo = write ? 1 : 0, bytes = length(b, side) * sizeof(float);
    const size_t x = side == LEFT ? 1 - halo : side == RIGHT ? b->width + halo : 1;
    const size_t y = side == ABOVE ? 1 - halo : side == BELOW ? b->height + halo : 1;
    if (!edge->column) {
        copy_box(b, plate, x, y, side == LEFT || side == RIGHT, edge->at, write);
        return;
    }
    if (!write)
        launch_column(b, b->gather, plate, edge->column, x);
    must(write ? clEnqueueWriteBuffer(b->move, edge->column, CL_FALSE, 0, bytes, edge->at, 0, NULL, NULL)
               : clEnqueueReadBuffer(b->move, edge->column, CL_FALSE, 0, bytes, edge->at, 0, NULL, NULL),
         "a copy of an edge");
    if (write)
        launch_column(b, b->spread, plate, edge->column, x);
}

/* Waits for what the queue `move` was given, so that the last step's halos have been taken, too; the new ones are on
 * their way to the device when it returns. */
static void exchange(const struct block *b, cl_mem plate)
{
    MPI_Request requests[2 * N_SIDES];
    static const int opposite[N_SIDES] = {RIGHT, LEFT, BELOW, ABOVE};
    for (int side = 0; side < N_SIDES; side++)
        if (b->neighbours[side] != MPI_PROC_NULL)
            transfer(b, plate, side, false);
    finish(b->move);
    for (int side = 0; side < N_SIDES; side++) {
        MPI_Irecv(b->in[side].at, (int)length(b, side), MPI_FLOAT, b->neighbours[side], opposite[side], b->comm,
                  &requests[side]);
        MPI_Isend(b->out[side].at, (int)length(b, side), MPI_FLOAT, b->neighbours[side], side, b->comm,
                  &requests[N_SIDES + side]);
    }
    MPI_Waitall(2 * N_SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < N_SIDES; side++)
        if (b->neighbours[side] != MPI_PROC_NULL)
            transfer(b, plate, side, true);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Adds the seconds of each part; a step begins when the one before has ended. */
static void compute_sync(const struct block *b, double *kernels, double *halos)
{
    for (size_t i = 0; i < iterations; i++) {
        double begin = now();
        launch_step(b, b->compute, i, b->all, NULL, NULL);
        finish(b->compute);
        double computed = now();
        exchange(b, b->plates[1 - i % 2]);
        finish(b->move);
        *kernels += computed - begin;
        *halos += now() - computed;
    }
}

/*
 * The rim first, for the neighbours, in the queue that moves halos; the inside beside that in the other. The rim of a
 * step needs the inside of the one before, and the halos, which are before it in its queue. The inside needs the rim of
 * the step before, which exchange() has waited for.
 */
static void compute_async(const struct block *b)
{
    cl_event inside = NULL;
    for (size_t i = 0; i < iterations; i++) {
        cl_event before = inside;
        launch_rim(b, i, before);
        must(clFlush(b->move), "clFlush");
        launch_step(b, b->compute, i, b->inside, NULL, &inside);
        must(clFlush(b->compute), "clFlush");
        exchange(b, b->plates[1 - i % 2]);
        if (before)
            clReleaseEvent(before);
    }
    finish(b->compute);
    finish(b->move);
    if (inside)
        clReleaseEvent(inside);
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* The block's corners, the middles of its sides, which lie at its neighbours', and its own middle. */
static bool check(const struct block *b, const float *points)
{
    bool right = true;
    for (size_t i = 0; i < 9; i++) {
        size_t x = (b->width - 1) * (i % 3) / 2, y = (b->height - 1) * (i / 3) / 2;
        float value = point_after(b->n, b->x + x, b->y + y, iterations);
        right = right && near((double)points[(y + 1) * b->pitch + x + 1], (double)value, 1e-4);
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_C_BOOL, MPI_LAND, b->comm);
    return right;
}

/* Seconds of all steps, the slowest rank's. */
static double run_block(const struct example *e, struct block *b, size_t repetition)
{
    size_t bytes = b->pitch * (b->height + 2) * sizeof(float);
    double parts[3] = {0, 0, 0}; /* all, kernels alone, halos alone */
    float *points = start_of(b);
    int rank;
    MPI_Comm_rank(b->comm, &rank);
    write_all(b->compute, b->plates[0], bytes, points);
    write_all(b->compute, b->plates[1], bytes, points);
    finish(b->compute);
    free(points);
    MPI_Barrier(b->comm);
    double begin = now();
    if (!strcmp(mode, "sync"))
        compute_sync(b, &parts[1], &parts[2]);
    else
        compute_async(b);
    parts[0] = now() - begin;
    MPI_Allreduce(MPI_IN_PLACE, parts, 3, MPI_DOUBLE, MPI_MAX, b->comm);
    if (rank == 0)
        report(e, repetition, parts[0], parts[1]);
    if (rank == 0 && parts[2] > 0)
        printf("parts: ranks=%d kernels=%.6f halos=%.6f\n", b->n_ranks, parts[1], parts[2]);
    return parts[0];
}

/* The quickest repetition of a plate on the ranks of comm. */
static double run_plate(struct example *e, MPI_Comm comm, size_t n, bool *right)
{
    struct block b;
    double quickest = INFINITY;
    cut(&b, comm, n);
    open_block(e, &b);
    for (size_t r = 0; r < e->repetitions; r++) {
        e->processor = processor_time();
        quickest = fmin(quickest, run_block(e, &b, r));
    }
    float *points = allocate(b.pitch * (b.height + 2), sizeof(float));
    read_now(b.compute, b.plates[iterations % 2], 0, b.pitch * (b.height + 2) * sizeof(float), points);
    *right = check(&b, points) && *right;
    free(points);
    close_block(e, &b);
    return quickest;
}

/* ---- Ranks and devices ------------------------------------------------------------------------------------------- */

/* Ranks of a machine take its devices, or those of --devices, in turn. */
static void open_mine(struct example *e)
{
    cl_device_id found[MAX_DEVICES];
    char number[16];
    size_t listed[MAX_DEVICES];
    cl_uint n = find_devices(e->platform, found), n_listed = 0;
    MPI_Comm machine;
    int rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    for (const char *next = e->devices; next && *next && n_listed < MAX_DEVICES;) {
        char *end;
        listed[n_listed++] = strtoul(next, &end, 10);
        if (end == next || (*end && *end != ','))
            refuse("--devices", "numbers with commas between are needed");
        next = *end ? end + 1 : end;
    }
    for (cl_uint i = 0; n_listed == 0 && i < n; i++)
        listed[i] = i;
    n_listed = n_listed ? n_listed : n;
    snprintf(number, sizeof(number), "%zu", n_listed ? listed[(cl_uint)rank % n_listed] : 0);
    e->devices = number;
    open_device(e);
    e->devices = NULL;
}

static size_t size_for(int n_ranks)
{
    return strcmp(scaling, "weak") ? size : (size_t)((double)size * sqrt(n_ranks));
}

/* MPI's own barrier would take the processors that others compute with. */
static void wait_for_all(void)
{
    MPI_Request request;
    int ended = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
        if (ended)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* On 1, 2, 4 … ranks and on all. */
static bool scale(struct example *e, int rank, int n_ranks)
{
    double alone = 0;
    bool right = true;
    for (int n = *scaling ? 1 : n_ranks;; n = 2 * n < n_ranks ? 2 * n : n_ranks) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm != MPI_COMM_NULL) {
            double seconds = run_plate(e, comm, size_for(n), &right);
            alone = n == 1 ? seconds : alone;
            if (rank == 0 && *scaling)
                printf("scaling: kind=%s ranks=%d size=%zu seconds=%.6f times=%.3f efficiency=%.3f\n", scaling, n,
                       size_for(n), seconds, alone / seconds * (strcmp(scaling, "weak") ? 1 : n),
                       alone / seconds / (strcmp(scaling, "weak") ? n : 1));
            MPI_Comm_free(&comm);
        }
        wait_for_all();
        if (n == n_ranks)
            break;
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    return right;
}

static void check_words(void)
{
    if (strcmp(mode, "sync") && strcmp(mode, "async"))
        refuse("--mode", "sync or async is needed");
    if (strcmp(edges, "boxes") && strcmp(edges, "buffers"))
        refuse("--edges", "boxes or buffers is needed");
    if (*scaling && strcmp(scaling, "strong") && strcmp(scaling, "weak"))
        refuse("--scaling", "strong or weak is needed");
}

int main(int argc, char **argv)
{
    struct example e = {.about = "A plate by Jacobi's method over ranks of MPI, a device each.",
                        .options = options,
                        .source = source,
                        .several = true};
    int rank, n_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    example_begin(&e, argc, argv);
    check_words();
    open_mine(&e);
    e.several = false; /* One device is open. */
    bool right = scale(&e, rank, n_ranks);
    int status = right ? 0 : 1;
    if (rank == 0)
        status = example_end(&e, right, "corners, sides and middles of blocks, computed on the host");
    MPI_Finalize();
    return status;
}
