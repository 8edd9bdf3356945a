/* The machine of a simulation, and what runs its threads. */
#include "sim.h"

#include "driver/members.h"
#include "graph/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t sim_random(struct sim *sim)
{
    uint64_t z = sim->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

unsigned sim_pick(struct sim *sim, unsigned n)
{
    return (unsigned)(sim_random(sim) % n);
}

bool sim_once_in(struct sim *sim, unsigned n)
{
    return sim_pick(sim, n) == 0;
}

/* ---- What is said ---- */

static char *format_text(const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0)
        abort();
    return text;
}

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;

    if (sim->failure)
        return;
    va_start(arguments, format);
    sim->failure = format_text(format, arguments);
    va_end(arguments);
}

void sim_tell(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(format, arguments);
    va_end(arguments);
    if (sim->options.verbose) {
        fprintf(stderr, "%s\n", text);
        fflush(stderr);
    }
    sim->story = realloc(sim->story, sim->story_size + strlen(text) + 2);
    if (!sim->story)
        abort();
    sim->story_size += (size_t)sprintf(sim->story + sim->story_size, "%s\n", text);
    free(text);
}

/* What the members did, for a reader of a failure. */
static void tell_records(struct sim *sim)
{
    static const char *const kinds[TSL_FAKE_N_KINDS] = {"write", "read", "copy", "peer", "fill", "launch", "mark"};
    struct tsl_fake_record record;

    for (size_t i = 0; tsl_fake_record(i, &record); i++)
        sim_tell(sim, "# %llu: member %u (from %u) lane %u: %s %s %zu: %d", (unsigned long long)record.id,
                 record.member, record.from, record.lane, kinds[record.kind], record.kernel ? record.kernel : "",
                 record.size, record.status);
}

/* A program that hangs can't be unwound. */
static void give_up(struct sim *sim, const char *why)
{
    char *stuck = tsl_fake_stuck();

    fprintf(stderr, "%sseed %llu, %u steps: %s\n%s", sim->story, (unsigned long long)sim->options.seed,
            sim->options.n_steps, why, stuck);
    abort();
}

/* ---- Threads as jobs that chance runs ---- */

#define MAX_WORKERS 64

static struct sim *running; /* the simulation in force in this one-threaded process */
static struct {
    struct tsl_worker *worker;
    unsigned n_posts;
    bool busy; /* one of its jobs is below on the stack */
} workers[MAX_WORKERS];
static unsigned n_workers;

static void posted(struct tsl_worker *worker)
{
    unsigned i = 0;

    while (i < n_workers && workers[i].worker != worker)
        i++;
    if (i == MAX_WORKERS)
        abort();
    if (i == n_workers) {
        workers[i].worker = worker;
        n_workers++;
    }
    workers[i].n_posts++;
}

static bool run_job(void)
{
    unsigned first = n_workers ? sim_pick(running, n_workers) : 0;

    for (unsigned k = 0; k < n_workers; k++) {
        unsigned i = (first + k) % n_workers;

        if (!workers[i].n_posts || workers[i].busy)
            continue;
        workers[i].n_posts--;
        workers[i].busy = true;
        tsl_worker_step(workers[i].worker);
        workers[i].busy = false;
        return true;
    }
    return false;
}

static bool step(void)
{
    uint64_t number = sim_random(running) >> 1;

    if (sim_pick(running, 2))
        return run_job() || tsl_fake_step(number);
    return tsl_fake_step(number) || run_job();
}

/* A call of the core blocks until something changes. */
static void block(void)
{
    if (!step())
        give_up(running, "the program hangs: nothing is left that could run");
}

/* A call of the driver blocks: other threads go on meanwhile. */
static bool meanwhile(void *arg)
{
    (void)arg;
    return run_job();
}

/* No driver is called under the graph's lock: nobody else than the one thread can hold it (programs are built by
 * threads of their own, at the beginning). */
static struct tsl_graph *watched; /* NULL: not now */

static void check_lock(void *arg, const char *operation)
{
    (void)arg;
    if (!watched)
        return;
    if (pthread_mutex_trylock(&watched->lock.mutex))
        sim_fail(running, "%s was called under the graph's lock", operation);
    else
        pthread_mutex_unlock(&watched->lock.mutex);
}

static const struct tsl_simulation simulation = {.posted = posted, .block = block};

void sim_world_move(struct sim *sim)
{
    struct timespec moment = {.tv_nsec = 20000};

    if (sim->options.threads) {
        if (sim_once_in(sim, 8))
            nanosleep(&moment, NULL);
        return;
    }
    if (sim->options.sabotage) /* So that what comes too early does so at the worst time: when somebody waits. */
        return;
    for (unsigned n = sim_pick(sim, 6); n > 0; n--)
        step();
}

/* ---- Kernels ---- */

static struct sim_argument argument(const struct tsl_fake_run *run, unsigned i)
{
    struct sim_argument a;

    memcpy(&a, run->args[i].value, sizeof a);
    return a;
}

static void add_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 2);

    sim_add_bytes((unsigned char *)run->args[0].ptr + a.dst, (unsigned char *)run->args[1].ptr + a.src, a.size,
                  a.value);
}

static void print_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 2);
    unsigned i = __atomic_fetch_add(&a.sim->n_printed, 1, __ATOMIC_RELAXED);

    add_body(run);
    a.sim->printed[i] = a.node;
}

static void hide_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    sim_add_bytes(a.sim->hidden + a.dst, (unsigned char *)run->args[0].ptr + a.src, a.size, a.value);
}

static void show_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    sim_add_bytes((unsigned char *)run->args[0].ptr + a.dst, a.sim->hidden + a.src, a.size, a.value);
}

static void hide_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    tsl_fake_touch(run, 0, a.src, a.size, false);
}

static void show_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    tsl_fake_touch(run, 0, a.dst, a.size, true);
}

static void part_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    sim_set_bytes((unsigned char *)run->args[0].ptr + a.dst, a.size, a.value);
}

static void add_touch(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 2);

    tsl_fake_touch(run, 1, a.src, a.size, false);
    tsl_fake_touch(run, 0, a.dst, a.size, true);
}

static void set_body(const struct tsl_fake_run *run)
{
    struct sim_argument a = argument(run, 1);

    sim_set_bytes(run->args[0].ptr, run->args[0].size, a.value);
}

static void register_kernels(void)
{
    static const enum tsl_fact_kind add_kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const unsigned add_roles[] = {TSL_ROLE_READ | TSL_ROLE_WRITE, TSL_ROLE_READ, 0};
    static const enum tsl_fact_kind set_kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const unsigned set_roles[] = {TSL_ROLE_WRITE, 0}, hide_roles[] = {TSL_ROLE_READ, 0};
    static const unsigned show_roles[] = {TSL_ROLE_READ | TSL_ROLE_WRITE, 0};

    tsl_fake_kernel("add", add_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("add", &(struct tsl_fake_traits){.touch = add_touch});
    tsl_fake_kernel("mix", add_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("mix", &(struct tsl_fake_traits){.touch = add_touch, .unproven = true});
    tsl_fake_kernel("print", print_body, 3, add_kinds, add_roles);
    tsl_fake_kernel_traits("print", &(struct tsl_fake_traits){.touch = add_touch, .prints = true});
    tsl_fake_kernel("set", set_body, 2, set_kinds, set_roles);
    tsl_fake_kernel("part", part_body, 2, set_kinds, set_roles);
    tsl_fake_kernel_traits("part", &(struct tsl_fake_traits){.touch = show_touch});
    tsl_fake_kernel("hide", hide_body, 2, set_kinds, hide_roles);
    tsl_fake_kernel_traits("hide", &(struct tsl_fake_traits){.touch = hide_touch, .opaque = true});
    tsl_fake_kernel("show", show_body, 2, set_kinds, show_roles);
    tsl_fake_kernel_traits("show", &(struct tsl_fake_traits){.touch = show_touch, .opaque = true});
}

/* ---- Members ---- */

/* What any kernel needs: its arguments name two buffers at most. */
#define SMALL_MEMORY (2 * SIM_MAX_SIZE)

static struct tsl_fake_member random_member(struct sim *sim)
{
    return (struct tsl_fake_member){
        .gates = !sim_once_in(sim, 4),
        .peer = sim_once_in(sim, 2),
        .submits_block = sim_once_in(sim, 4),
        .zero_copy = sim_once_in(sim, 6),
        .lazy_memory = sim_once_in(sim, 3),
        .memory_size = sim_once_in(sim, 3) ? SMALL_MEMORY + 64 * sim_pick(sim, 8) : 0,
        .context = sim_once_in(sim, 3) ? 1 : 0,
        .no_profile = sim_once_in(sim, 4),
        .speed = 1 + sim_pick(sim, 8),
        .delay_ns = sim_once_in(sim, 3) ? 0 : 1000 * sim_pick(sim, 50),
        .bandwidth = sim_once_in(sim, 2) ? 0 : 10000000,
    };
}

static void make_members(struct sim *sim)
{
    struct tsl_fake_setup *setup = &sim->setup;

    *setup = (struct tsl_fake_setup){
        .n_members = 1 + sim_pick(sim, 3),
        .threads = sim->options.threads,
        .seed = sim_random(sim),
        .on_block = sim->options.threads ? NULL : meanwhile,
        .on_call = sim->options.threads ? NULL : check_lock,
        .abort_on_violation = getenv("SIM_ABORT") != NULL,
    };
    for (unsigned i = 0; i < setup->n_members; i++)
        setup->members[i] = random_member(sim);
    for (unsigned i = 0; i < setup->n_members; i++)
        if (sim->options.failures && setup->members[i].memory_size && sim_once_in(sim, 2))
            setup->members[i].told_size = UINT64_C(1) << 30;
    tsl_fake_begin(setup);
    if (sim->options.sabotage)
        tsl_fake_sabotage((enum tsl_fake_sabotage)(sim->options.sabotage - 1), sim->options.sabotage_at);
    for (unsigned i = 0; i < setup->n_members; i++) {
        const struct tsl_fake_member *is = &setup->members[i];

        sim_tell(sim, "# member %u:%s%s%s%s%s context %u, delay %llu ns, memory %llu", i, is->gates ? " gates" : "",
                 is->peer ? " peer" : "", is->submits_block ? " submits_block" : "", is->zero_copy ? " zero_copy" : "",
                 is->lazy_memory ? " lazy" : "", is->context, (unsigned long long)is->delay_ns,
                 (unsigned long long)is->memory_size);
        if (is->told_size)
            sim_tell(sim, "# member %u says that it has more", i);
    }
}

static void must(struct sim *sim, cl_int error, const char *what)
{
    if (error) {
        fprintf(stderr, "%sseed %llu: %s: error %d\n", sim->story, (unsigned long long)sim->options.seed, what, error);
        abort();
    }
}

/* ---- The context and what is in it ---- */

static void make_program(struct sim *sim)
{
    static const char *const text = "kernel add dst,src,value\nkernel mix dst,src,value\nkernel print dst,src,value\n"
                                    "kernel set dst,value\nkernel part dst,value\nkernel hide src,value\n"
                                    "kernel show dst,value\n";

    must(sim, tsl_program_create_source(sim->context, 1, &text, NULL, &sim->program), "program");
    must(sim, tsl_program_build(sim->program, NULL, "", NULL, NULL), "build");
}

static void make_queues(struct sim *sim)
{
    sim->n_queues = 1 + sim_pick(sim, SIM_MAX_QUEUES);
    for (unsigned i = 0; i < sim->n_queues; i++) {
        cl_command_queue_properties flags = sim_once_in(sim, 4) ? CL_QUEUE_PROFILING_ENABLE : 0;

        sim->in_order[i] = !sim_once_in(sim, 3);
        if (!sim->in_order[i])
            flags |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        sim->last_of_queue[i] = -1;
        must(sim, tsl_queue_create(sim->context, sim->context->devices[0], flags, NULL, 0, &sim->queues[i]), "queue");
        sim_tell(sim, "# queue %u: %s%s", i, sim->in_order[i] ? "in order" : "out of order",
                 flags & CL_QUEUE_PROFILING_ENABLE ? ", profiling" : "");
    }
}

static void make_buffer(struct sim *sim, unsigned i)
{
    struct sim_buffer *b = &sim->buffers[i];
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    void *host = NULL;

    b->size = 128 + 64 * sim_pick(sim, (SIM_MAX_SIZE - 128) / 64 + 1);
    if (sim_once_in(sim, 3)) {
        b->host_ptr = true;
        flags |= CL_MEM_USE_HOST_PTR;
    } else if (!sim_once_in(sim, 4)) {
        flags |= CL_MEM_COPY_HOST_PTR;
    }
    b->filled = flags != CL_MEM_READ_WRITE;
    if (b->filled) {
        host = sim->host_ptrs[i];
        sim_set_bytes(host, b->size, (unsigned char)i);
    }
    must(sim, tsl_buffer_create(sim->context, flags, b->size, host, NULL, &b->root), "buffer");
    if (sim_once_in(sim, 2)) {
        b->sub_offset = 64 * sim_pick(sim, (unsigned)(b->size / 64));
        b->sub_size = 1 + sim_pick(sim, (unsigned)(b->size - b->sub_offset));
        must(sim, tsl_buffer_create_sub(b->root, CL_MEM_READ_WRITE, b->sub_offset, b->sub_size, &b->sub), "sub");
    }
    sim_tell(sim, "# buffer %u: %zu bytes%s, sub of %zu at %zu", i, b->size,
             b->host_ptr ? " of the host"
             : b->filled ? " filled"
                         : "",
             b->sub_size, b->sub_offset);
}

void sim_world_begin(struct sim *sim)
{
    struct tsl_device *device = tsl_device_root();

    running = sim;
    n_workers = 0;
    memset(workers, 0, sizeof workers);
    if (!sim->options.threads)
        tsl_simulation = &simulation;
    register_kernels();
    make_members(sim);
    tsl_members_register(&tsl_fake_driver);
    must(sim, tsl_context_create(NULL, 0, &device, 1, &sim->context), "context");
    make_program(sim);
    watched = sim->options.threads ? NULL : sim->context->graph;
}

void sim_things_begin(struct sim *sim)
{
    make_queues(sim);
    sim->n_buffers = 1 + sim_pick(sim, SIM_MAX_BUFFERS);
    for (unsigned i = 0; i < sim->n_buffers; i++)
        make_buffer(sim, i);
}

/* ---- The end ---- */

static void release_buffers(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_buffers; i++) {
        if (sim->buffers[i].sub)
            tsl_object_release(&sim->buffers[i].sub->object);
        tsl_object_release(&sim->buffers[i].root->object);
    }
}

static void release_queues(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_queues; i++) {
        tsl_queue_let_go(sim->queues[i]);
        tsl_object_release(&sim->queues[i]->object);
    }
}

/* In any order, and while commands may still run. */
void sim_things_end(struct sim *sim)
{
    bool queues_first = sim_once_in(sim, 2);

    if (queues_first)
        release_queues(sim);
    release_buffers(sim);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].event)
            tsl_object_release(&sim->nodes[i].event->object);
    if (!queues_first)
        release_queues(sim);
}

/* Until the last thread has let go of the context. */
static void drain(struct sim *sim)
{
    struct timespec moment = {.tv_nsec = 1000000};

    if (!sim->options.threads)
        while (step())
            continue;
    for (unsigned n = 0; sim->options.threads && (tsl_object_live(TSL_CONTEXT) || tsl_fake_busy()) && n < 5000; n++)
        nanosleep(&moment, NULL);
}

static void check_leaks(struct sim *sim)
{
    static const enum tsl_kind kinds[] = {TSL_CONTEXT, TSL_QUEUE, TSL_BUFFER, TSL_PROGRAM, TSL_KERNEL, TSL_EVENT};
    static const char *const names[] = {"contexts", "queues", "buffers", "programs", "kernels", "events"};
    struct tsl_fake_live live = tsl_fake_live();

    char text[160] = "";

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (tsl_object_live(kinds[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %zu %s", tsl_object_live(kinds[i]), names[i]);
    if (*text)
        sim_fail(sim, "left:%s", text);
    if (live.lanes + live.mems + live.subs + live.fences + live.gates + live.programs + live.kernels) {
        char *leaks = tsl_fake_leaks();

        sim_fail(sim, "left in the driver: %u lanes, %u programs, %u kernels\n%s", live.lanes, live.programs,
                 live.kernels, leaks);
        free(leaks);
    }
}

void sim_world_end(struct sim *sim)
{
    if ((sim->failure || tsl_fake_violation(0)) && getenv("SIM_RECORDS"))
        tell_records(sim);
    tsl_object_release(&sim->program->object);
    tsl_object_release(&sim->context->object);
    drain(sim);
    watched = NULL;
    tsl_fake_check_end();
    if (tsl_fake_violation(0))
        sim_fail(sim, "%s", tsl_fake_violation(0));
    check_leaks(sim);
    if (sim->failure && tsl_object_live(TSL_CONTEXT))
        give_up(sim, sim->failure); /* what is left would spoil the next run */
    if (sim->options.sabotaged)
        *sim->options.sabotaged = tsl_fake_sabotaged();
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
    tsl_simulation = NULL;
}
