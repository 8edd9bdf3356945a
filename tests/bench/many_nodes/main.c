/*
 * What the n-th node costs: the core's own time for a launch that one of n members gets, and for one that is cut over
 * all, with halos between neighbours; the messages that these are; the memory that knows where the bytes are. Members
 * do nothing (members.h), so what is left is decisions. See usage() below; docs/lab/nodes.md has what it printed.
 */
#include "members.h"
#include "plot.h"

#include "base/clock.h"
#include "driver/fake.h"
#include "footprint_bed.h"
#include "graph/graph.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"

#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ITEMS_EACH ((size_t)1 << 16) /* of a member */
#define N_PLACED   512u              /* launches that are placed whole */
#define N_STEPS    40u
#define N_ROUNDS   5u /* of which the quickest is told */
#define IN_FLIGHT  4u /* steps that the program is ahead */

static struct row_options {
    double step_us, latency_us, frame_us;
    unsigned least, most;
    const char *plot;
} options = {.step_us = 2100, .latency_us = 30, .frame_us = 10, .least = 1, .most = 256};

static void usage(const char *program)
{
    printf(
        "usage: %s [OPTION...]\n"
        "\n"
        "Prints what a launch costs the core with 1, 2, 4 ... members: placed whole on one of them, and cut over all\n"
        "(a stencil; a halo comes from each neighbour). Reckons from that what steps of a given length scale to.\n"
        "\n"
        "  --least N         members at first (1)\n"
        "  --most N          members at most (256; %d can be)\n"
        "  --step US         microseconds of a step on one device (2100)\n"
        "  --latency US      of a command, there and back (30)\n"
        "  --frame US        of the head, for a frame and its answer (10)\n"
        "  --plot FILE       draws it, as SVG\n",
        program, TSL_MAX_MEMBERS);
}

static void must(cl_int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "many_nodes: %s: error %d\n", what, error);
    exit(1);
}

/* Microseconds that this thread, the only one, has worked. */
static double worked_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static struct {
    struct tsl_context *context;
    struct tsl_queue *queue;
    struct tsl_program *program;
    struct tsl_kernel *update, *stencil;
} it;

static uint32_t id_plus(struct bed *bed, int64_t number)
{
    return bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, number));
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static struct bed update, stencil;

    bed_begin(&update, 1);
    bed_access(&update, 0, TSL_ACCESS_READ, 1, id_plus(&update, 0));
    bed_access(&update, 0, TSL_ACCESS_WRITE, 1, id_plus(&update, 0));
    tsl_fake_kernel("update", NULL, 1, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE});
    tsl_fake_kernel_traits("update", &(struct tsl_fake_traits){.footprint = &update.footprint, .whole_launch = true});
    bed_begin(&stencil, 2);
    for (unsigned i = 0; i < 3; i++)
        bed_access(&stencil, 1, TSL_ACCESS_READ, 1, id_plus(&stencil, i));
    bed_access(&stencil, 0, TSL_ACCESS_WRITE, 1, id_plus(&stencil, 1));
    tsl_fake_kernel("stencil", NULL, 2, kinds, (const unsigned[]){TSL_MAY_WRITE, TSL_MAY_READ});
    tsl_fake_kernel_traits("stencil", &(struct tsl_fake_traits){.footprint = &stencil.footprint});
}

static void begin(unsigned n)
{
    static const char *source = "kernel update a\nkernel stencil to,from\n";
    struct tsl_device *device;

    name_kernels();
    many_begin(n);
    device = tsl_device_root();
    must(tsl_context_create(NULL, 0, &device, 1, &it.context), "context");
    must(tsl_queue_create(it.context, device, 0, NULL, 0, &it.queue), "queue");
    must(tsl_program_create_source(it.context, 1, &source, NULL, &it.program), "program");
    must(tsl_program_build(it.program, NULL, "", NULL, NULL), "build");
    must(tsl_kernel_create(it.program, "update", &it.update), "kernel");
    must(tsl_kernel_create(it.program, "stencil", &it.stencil), "kernel");
}

static struct tsl_buffer *make_buffer(size_t size)
{
    struct tsl_buffer *buffer;

    must(tsl_buffer_create(it.context, CL_MEM_READ_WRITE, size, NULL, NULL, &buffer), "buffer");
    return buffer;
}

static void launch(struct tsl_kernel *kernel, size_t n_items, unsigned n, struct tsl_buffer *const *buffers)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n_items, 1, 1}, .local_size = {64, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = it.queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    for (unsigned i = 0; i < n; i++)
        must(tsl_kernel_set_arg(kernel, i, sizeof(cl_mem), &buffers[i]), "argument");
    must(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), "launch");
    while (many_step())
        continue;
}

/* ---- What is measured -------------------------------------------------------------------------------------------- */

struct measured {
    double placed_us;                                           /* of the core, a launch of one member */
    double step_us;                                             /* a launch that is cut over all */
    double requests, replies, frames, between, pulls, launches; /* of a step */
    double bytes; /* of the directories and all else that stays for one plate */
};

/* Many small buffers, each updated again and again: where to is asked each time. */
static double measure_placed(unsigned n)
{
    unsigned n_buffers = 4 * n < 64 ? 64 : 4 * n;
    struct tsl_buffer **buffers = calloc(n_buffers, sizeof(*buffers));
    double before, us = INFINITY;

    for (unsigned i = 0; i < n_buffers; i++)
        buffers[i] = make_buffer(4096);
    for (unsigned i = 0; i < 2 * n_buffers; i++)
        launch(it.update, 4096, 1, &buffers[i % n_buffers]);
    many_end_work();
    for (unsigned r = 0; r < N_ROUNDS; r++) {
        before = worked_us();
        for (unsigned i = 0; i < N_PLACED; i++) {
            launch(it.update, 4096, 1, &buffers[i % n_buffers]);
            if (i % 64 == 63)
                many_end_work();
        }
        many_end_work();
        us = fmin(us, (worked_us() - before) / N_PLACED);
    }
    for (unsigned i = 0; i < n_buffers; i++)
        tsl_object_release(&buffers[i]->object);
    many_end_work();
    free(buffers);
    return us;
}

static void steps(struct tsl_buffer *const plates[2], size_t n_items, unsigned n_steps)
{
    for (unsigned i = 0; i < n_steps; i++) {
        struct tsl_buffer *buffers[2] = {plates[1 - i % 2], plates[i % 2]};

        launch(it.stencil, n_items, 2, buffers);
        must(tsl_queue_flush(it.queue), "flush");
        if (i % IN_FLIGHT == IN_FLIGHT - 1)
            many_end_work();
    }
    many_end_work();
}

static void measure_steps(unsigned n, struct measured *m)
{
    size_t n_items = n * ITEMS_EACH, used = mallinfo2().uordblks;
    struct tsl_buffer *plates[2] = {make_buffer(n_items + 2), make_buffer(n_items + 2)};
    struct many_counts counts;
    double before;

    steps(plates, n_items, 8);
    m->bytes = (double)(mallinfo2().uordblks - used) / 2 - (double)n * sizeof(struct tsl_mem);
    many_counts = (struct many_counts){0};
    m->step_us = INFINITY;
    for (unsigned r = 0; r < N_ROUNDS; r++) {
        before = worked_us();
        steps(plates, n_items, N_STEPS);
        m->step_us = fmin(m->step_us, (worked_us() - before) / N_STEPS);
    }
    counts = many_counts;
    m->requests = (double)counts.requests / (N_ROUNDS * N_STEPS);
    m->replies = (double)counts.replies / (N_ROUNDS * N_STEPS);
    m->frames = (double)counts.frames / (N_ROUNDS * N_STEPS);
    m->between = (double)counts.between / (N_ROUNDS * N_STEPS);
    m->pulls = (double)counts.pulls / (N_ROUNDS * N_STEPS);
    m->launches = (double)counts.launches / (N_ROUNDS * N_STEPS);
}

/* In a process of its own, as members are opened once. */
static bool measure(unsigned n, struct measured *m)
{
    int ends[2], status = 1;
    pid_t child;

    if (pipe(ends))
        return false;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        begin(n);
        measure_steps(n, m);
        m->placed_us = measure_placed(n);
        _exit(write(ends[1], m, sizeof(*m)) == sizeof(*m) ? 0 : 1);
    }
    close(ends[1]);
    status = read(ends[0], m, sizeof(*m)) == sizeof(*m) ? 0 : 1;
    close(ends[0]);
    return waitpid(child, NULL, 0) == child && status == 0;
}

/* ---- What follows from it ---------------------------------------------------------------------------------------- */

/* Steps one behind the other: the program says one while devices compute those before, halos come meanwhile. A step
 * takes as long as what takes longest: deciding it, handing its frames on, a halo's way there and back, or computing,
 * of which each device has so much. */
static double step_of(const struct measured *m, unsigned n, double computing_us)
{
    double alone = fmax(m->step_us, computing_us);

    return n == 1 ? alone : fmax(alone, fmax(options.latency_us, m->frames * options.frame_us));
}

static double strong(const struct measured *m, unsigned n)
{
    return options.step_us / step_of(m, n, options.step_us / n);
}

/* A plate that grows with n. */
static double weak(const struct measured *m, unsigned n)
{
    return options.step_us / step_of(m, n, options.step_us);
}

static void print_row(unsigned n, const struct measured *m)
{
    printf("| %u | %.1f | %.0f | %.2f | %.1f | %.1f | %.1f | %.1f | %.0f | %.0f | %.1f | %.2f |\n", n, m->placed_us,
           m->step_us, m->step_us / n, m->requests / n, m->replies / n, m->pulls / n, m->between / n, m->frames,
           m->bytes / 1024, strong(m, n), weak(m, n));
    fflush(stdout);
}

static bool read_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"least", required_argument, NULL, 'a'}, {"most", required_argument, NULL, 'm'},
        {"step", required_argument, NULL, 's'},  {"latency", required_argument, NULL, 'l'},
        {"frame", required_argument, NULL, 'f'}, {"plot", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},        {0}};
    int c;

    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == 'a')
            options.least = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 'm')
            options.most = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 's')
            options.step_us = strtod(optarg, NULL);
        else if (c == 'l')
            options.latency_us = strtod(optarg, NULL);
        else if (c == 'f')
            options.frame_us = strtod(optarg, NULL);
        else if (c == 'p')
            options.plot = optarg;
        else
            return false;
    }
    return options.least >= 1 && options.least <= options.most && options.most <= TSL_MAX_MEMBERS &&
           options.step_us > 0;
}

int main(int argc, char **argv)
{
    struct plot plot = {.n = 0};
    struct measured m;

    if (!read_options(argc, argv)) {
        usage(argv[0]);
        return 2;
    }
    setenv("TESELA_SPLIT", "auto", 1);
    setenv("TESELA_POLICY", "auto", 1);
    setenv("TESELA_CACHE", "off", 1);
    setenv("TESELA_LOG", "error", 1);
    unsetenv("TESELA_MEMBERS");
    printf("| members | placed, us | cut, us | for each, us | requests each | replies each | halos each | ends each | "
           "frames | memory, KiB | strong, times | weak |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (unsigned n = options.least;; n = 2 * n < options.most ? 2 * n : options.most) {
        if (!measure(n, &m)) {
            fprintf(stderr, "many_nodes: %u members: no answer\n", n);
            return 1;
        }
        print_row(n, &m);
        plot_add(&plot, &(struct plot_point){n, m.placed_us, m.step_us, m.step_us / n, strong(&m, n), weak(&m, n)});
        if (n == options.most)
            break;
    }
    return options.plot && !plot_write(&plot, options.plot, options.step_us) ? 1 : 0;
}
