/*
 * How good placement is, in virtual time on fake members: whole programs run through the core, and the time they take
 * is compared with that of a list schedule which knows every cost: each task, in order, where it ends first (or, where
 * no history can tell what the next task takes, of one that gives each task to who is free first). One in-order queue,
 * no waits in between, as ordinary programs are.
 *
 *   known: each kernel ran a few times on each member before, as it did in earlier runs: within 10 %
 *   alone: the program ran twice before, and nobody showed Tesela anything else: only told
 *   slow: a member 50 times slower than the others was added, whether it says so or not: under 3 % more, first run or
 * not
 *
 * And, of writes that wait for their reader's place, whether it is reckoned what way they have; a pipeline as programs
 * write it, with waits and host tasks in the one queue; and that a wait is for no more than it says.
 */
/* timeout: 300 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
#include "base/settings.h"
#include "test.h"
#include "timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TASKS   512
#define MAX_BUFFERS 160
#define MAX_ARGS    5
#define ITEMS       1000 /* of each launch: so an item_ns of 1000 is a millisecond */

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

struct task {
    uint32_t cost; /* microseconds on a member of speed 1 */
    unsigned n_args;
    unsigned args[MAX_ARGS];
};

/* The kernel `workN` reads N - 1 buffers and writes (reads too) the last one. */
struct work {
    const char *name;
    unsigned n_tasks, n_buffers;
    size_t size;     /* of each buffer */
    bool unforeseen; /* what a task takes can't be known from earlier ones */
    struct task tasks[MAX_TASKS];
};

static void add(struct work *w, uint32_t cost, unsigned n_args, const unsigned *args)
{
    struct task *task = &w->tasks[w->n_tasks++];

    task->cost = cost;
    task->n_args = n_args;
    memcpy(task->args, args, n_args * sizeof *args);
    for (unsigned i = 0; i < n_args; i++)
        if (args[i] >= w->n_buffers)
            w->n_buffers = args[i] + 1;
}

static uint32_t random_cost(uint32_t *state, uint32_t low, uint32_t high)
{
    *state = *state * 1664525 + 1013904223;
    return low + (*state >> 8) % (high - low);
}

static void independent(struct work *w, unsigned n)
{
    *w = (struct work){.name = "independent equal tasks", .size = 4096};
    for (unsigned i = 0; i < n; i++)
        add(w, 2000, 1, (unsigned[]){i % MAX_BUFFERS});
}

/* Rows of a Mandelbrot set: one kernel, one size, times that nobody can foresee. */
static void rows(struct work *w)
{
    *w = (struct work){.name = "unequal tasks", .size = 4096, .unforeseen = true};
    for (unsigned i = 0; i < 128; i++) {
        double y = fabs(i / 64.0 - 1);

        add(w, (uint32_t)(100 + 20000 * exp(-y * y * 8)), 1, (unsigned[]){i});
    }
}

static void scattered(struct work *w)
{
    uint32_t state = 7;

    *w = (struct work){.name = "tasks of random times", .size = 4096};
    for (unsigned i = 0; i < 128; i++)
        add(w, random_cost(&state, 500, 9500), 1, (unsigned[]){i});
}

static void chain(struct work *w, unsigned n)
{
    *w = (struct work){.name = "a chain", .size = 1 << 20};
    for (unsigned i = 0; i < n; i++)
        add(w, 1000, 2, (unsigned[]){i % 2, 1 - i % 2});
}

/* Two chains at once. */
static void chains(struct work *w)
{
    *w = (struct work){.name = "two chains", .size = 1 << 20};
    for (unsigned i = 0; i < 200; i++)
        add(w, 1000, 1, (unsigned[]){i % 2});
}

/* Many chains, one after the other. */
static void pipelines(struct work *w)
{
    *w = (struct work){.name = "sixteen chains of four", .size = 64 << 10};
    for (unsigned i = 0; i < 16; i++)
        for (unsigned stage = 0; stage < 4; stage++)
            add(w, 4000, 2, (unsigned[]){5 * i + stage, 5 * i + stage + 1});
}

static void fork_join(struct work *w)
{
    *w = (struct work){.name = "fork and join", .size = 256 << 10};
    for (unsigned round = 0; round < 20; round++) {
        add(w, 1000, 1, (unsigned[]){0});
        for (unsigned i = 1; i <= 4; i++)
            add(w, 6000, 2, (unsigned[]){0, i});
        add(w, 1000, 5, (unsigned[]){1, 2, 3, 4, 0});
    }
}

/* Moving a buffer takes longer than computing on it, and each is used several times. */
static void heavy(struct work *w)
{
    *w = (struct work){.name = "much data", .size = 8 << 20};
    for (unsigned round = 0; round < 5; round++)
        for (unsigned i = 0; i < 16; i++)
            add(w, 2000, 1, (unsigned[]){i});
}

/* ---- The schedule with known costs ------------------------------------------------------------------------------- */

struct machine {
    unsigned n;
    struct tsl_fake_member members[4];
};

/* Time of a schedule: members compute one launch after the other, and move in each direction one buffer after the
 * other; everything happens as early as it can in the order of the program. In microseconds. */
struct state {
    double compute[4], up[4], down[4];
    double there[MAX_BUFFERS][5]; /* when the copy is in member i's memory, [4]: the host's; INFINITY: not */
    double read[MAX_BUFFERS][5];  /* when the last reader of it has ended */
};

static double later_of(double a, double b)
{
    return a > b ? a : b;
}

static double transfer_us(const struct machine *m, unsigned i, size_t size)
{
    return (double)m->members[i].delay_ns / 1e3 + (double)size * 1e6 / (double)m->members[i].bandwidth;
}

static void fetch(const struct machine *m, struct state *s, size_t size, unsigned b, unsigned i)
{
    for (unsigned k = 0; isinf(s->there[b][4]) && k < m->n; k++)
        if (!isinf(s->there[b][k])) {
            s->there[b][4] = s->down[k] = later_of(s->down[k], s->there[b][k]) + transfer_us(m, k, size);
            break;
        }
    s->there[b][i] = s->up[i] = later_of(s->up[i], s->there[b][4]) + transfer_us(m, i, size);
}

static double run_task(const struct machine *m, struct state *s, const struct work *w, const struct task *t, unsigned i)
{
    double start = s->compute[i], end;
    unsigned written = t->args[t->n_args - 1];

    for (unsigned k = 0; k < t->n_args; k++) {
        if (isinf(s->there[t->args[k]][i]))
            fetch(m, s, w->size, t->args[k], i);
        start = later_of(start, s->there[t->args[k]][i]);
    }
    start = later_of(start, s->read[written][i]);
    end = s->compute[i] = start + (double)m->members[i].delay_ns / 1e3 + t->cost / m->members[i].speed;
    for (unsigned k = 0; k < t->n_args; k++)
        s->read[t->args[k]][i] = later_of(s->read[t->args[k]][i], end);
    for (unsigned k = 0; k < 5; k++)
        s->there[written][k] = k == i ? end : INFINITY;
    return end;
}

/* Everything is at the host, or, `warm`, where the schedule before left it. */
static struct state fresh(void)
{
    struct state s;

    memset(&s, 0, sizeof s);
    for (unsigned b = 0; b < MAX_BUFFERS; b++)
        for (unsigned i = 0; i < 4; i++)
            s.there[b][i] = INFINITY;
    return s;
}

static double makespan(const struct machine *m, const struct work *w, const unsigned char *where)
{
    struct state s = fresh();
    double end = 0;

    for (unsigned t = 0; t < w->n_tasks; t++)
        end = later_of(end, run_task(m, &s, w, &w->tasks[t], where[t]));
    return end;
}

/* Each task where it ends first, then a search that changes one task, or swaps two, as long as that helps. */
static double oracle(const struct machine *m, const struct work *w, double *listed)
{
    static unsigned char where[MAX_TASKS];
    struct state s = fresh();
    uint32_t random = 1;
    double best;

    for (unsigned t = 0; t < w->n_tasks; t++) {
        double ends[4];

        for (unsigned i = 0; i < m->n; i++) {
            struct state after = s;

            ends[i] = run_task(m, &after, w, &w->tasks[t], i);
            where[t] = i == 0 || ends[i] < ends[where[t]] ? (unsigned char)i : where[t];
        }
        run_task(m, &s, w, &w->tasks[t], where[t]);
    }
    best = *listed = makespan(m, w, where);
    for (unsigned round = 0; round < 1000; round++) {
        unsigned a = random_cost(&random, 0, w->n_tasks), b = random_cost(&random, 0, w->n_tasks);
        unsigned char was_a = where[a], was_b = where[b];
        double now;

        where[a] = round % 2 ? was_b : (unsigned char)random_cost(&random, 0, m->n);
        where[b] = round % 2 ? was_a : was_b;
        now = makespan(m, w, where);
        if (now <= best)
            best = now;
        else {
            where[b] = was_b;
            where[a] = was_a;
        }
    }
    return best;
}

/* Where nobody can know what a task takes, the best that can be done is to give the next one to who is free first. */
static double on_demand(const struct machine *m, const struct work *w)
{
    struct state s = fresh();
    double end = 0;

    for (unsigned t = 0; t < w->n_tasks; t++) {
        unsigned first = 0;

        for (unsigned i = 1; i < m->n; i++)
            if (s.compute[i] < s.compute[first])
                first = i;
        end = later_of(end, run_task(m, &s, w, &w->tasks[t], first));
    }
    return end;
}

/* ---- The real thing ---------------------------------------------------------------------------------------------- */

static void nothing(const struct tsl_fake_run *run)
{
    (void)run;
}

static void register_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_GLOBAL,
                                               TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static char names[MAX_ARGS][8];

    for (unsigned n = 1; n <= MAX_ARGS; n++) {
        unsigned access[MAX_ARGS + 1] = {0};

        for (unsigned i = 0; i < n; i++)
            access[i] = i == n - 1 ? TSL_MAY_READ | TSL_MAY_WRITE : TSL_MAY_READ;
        snprintf(names[n - 1], sizeof names[n - 1], "work%u", n);
        tsl_fake_kernel(names[n - 1], nothing, n + 1, kinds + MAX_ARGS - n, access);
        tsl_fake_kernel_traits(names[n - 1], &(struct tsl_fake_traits){.item_ns = 1, .cost_arg = n + 1});
    }
}

static double play_once(struct timed *t, const struct work *w, double *begin)
{
    struct tsl_buffer *buffers[MAX_BUFFERS];
    char name[8];
    double took;

    for (unsigned b = 0; b < w->n_buffers; b++)
        buffers[b] = timed_buffer(t, w->size);
    for (unsigned i = 0; i < w->n_tasks; i++) {
        const struct task *task = &w->tasks[i];
        struct tsl_buffer *args[MAX_ARGS];

        for (unsigned k = 0; k < task->n_args; k++)
            args[k] = buffers[task->args[k]];
        snprintf(name, sizeof name, "work%u", task->n_args);
        timed_launch(t, name, ITEMS, task->n_args, args, task->cost, NULL);
    }
    took = (double)timed_finish(t) / 1e3 - *begin;
    *begin += took;
    for (unsigned b = 0; b < w->n_buffers; b++)
        tsl_object_release(&buffers[b]->object);
    return took;
}

/* A few runs of each kernel of the program on each member, and of each move. */
static void show(struct timed *t, const struct work *w)
{
    struct tsl_buffer *buffers[MAX_ARGS];
    char name[8];

    for (unsigned b = 0; b < MAX_ARGS; b++)
        buffers[b] = timed_buffer(t, w->size);
    for (unsigned i = 0; i < 4 * t->n_members * w->n_tasks && i < 4 * t->n_members * 8; i++) {
        const struct task *task = &w->tasks[i / 4 / t->n_members * 7 % w->n_tasks];

        t->members = 1u << i % t->n_members;
        snprintf(name, sizeof name, "work%u", task->n_args);
        timed_launch(t, name, ITEMS, task->n_args, buffers, task->cost, NULL);
        timed_finish(t);
    }
    t->members = ~0u;
    for (unsigned b = 0; b < MAX_ARGS; b++)
        tsl_object_release(&buffers[b]->object);
}

/* Microseconds of the first run and of the third (which knows what the others showed), or, known, of one that knows all
 * that can be. */
static void play(const struct machine *m, const struct work *w, bool known, double *cold, double *warm)
{
    static const char *const text = "kernel work1 a,n\nkernel work2 a,b,n\nkernel work3 a,b,c,n\n"
                                    "kernel work4 a,b,c,d,n\nkernel work5 a,b,c,d,e,n\n";
    struct timed t;
    double begin;

    register_kernels();
    timed_begin(&t, m->members, m->n, text, 0);
    if (known)
        show(&t, w);
    begin = (double)timed_finish(&t) / 1e3;
    *cold = play_once(&t, w, &begin);
    play_once(&t, w, &begin);
    *warm = play_once(&t, w, &begin);
    timed_end(&t);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

#define FAST_LINK 4000000000u
#define LINK      1000000000u

static struct tsl_fake_member member(const char *name, double speed, uint64_t bandwidth)
{
    return (struct tsl_fake_member){
        .name = name, .speed = speed, .bandwidth = bandwidth, .delay_ns = 5000, .gates = true};
}

static struct work work;

static void compare(const struct machine *m)
{
    double known, cold, warm, listed, best = oracle(m, &work, &listed);

    if (work.unforeseen)
        best = listed = on_demand(m, &work);

    play(m, &work, true, &known, &warm);
    play(m, &work, false, &cold, &warm);
    print_message("%-24s %u members: %8.0f us, %.3f of the best; known %.3f, alone %.3f then %.3f\n", work.name, m->n,
                  listed, listed / best, known / listed, cold / listed, warm / listed);
    if (known > 1.10 * listed)
        fail_msg("%s: %.0f us, %.0f with known costs", work.name, known, listed);
}

static void each_work(void (*fn)(const struct machine *), const struct machine *m)
{
    independent(&work, 150);
    fn(m);
    rows(&work);
    fn(m);
    scattered(&work);
    fn(m);
    chain(&work, 200);
    fn(m);
    chains(&work);
    fn(m);
    pipelines(&work);
    fn(m);
    fork_join(&work);
    fn(m);
    heavy(&work);
    fn(m);
}

static void test_equal_members(void **state)
{
    struct machine m = {.n = 2, .members = {member("gpu", 1, LINK), member("gpu", 1, LINK)}};

    (void)state;
    each_work(compare, &m);
}

static void test_unequal_members(void **state)
{
    struct machine m = {.n = 3,
                        .members = {member("big", 1, FAST_LINK), member("mid", 0.5, LINK), member("cpu", 0.25, LINK)}};

    (void)state;
    each_work(compare, &m);
}

/* What the slow member costs, in the first run and afterwards. */
static void harm(const struct machine *without)
{
    struct machine with = *without;
    double cold[2], warm[2];

    play(without, &work, false, &cold[0], &warm[0]);
    with.members[with.n++] = member("slow", 0.02, LINK);
    play(&with, &work, false, &cold[1], &warm[1]);
    print_message("%-26s and a slow one: first run %.3f, warm %.3f\n", work.name, cold[1] / cold[0], warm[1] / warm[0]);
    if (cold[1] > 1.03 * cold[0] || warm[1] > 1.03 * warm[0])
        fail_msg("%s: a slow member costs more than 3 %%", work.name);
}

static void test_slow_member(void **state)
{
    struct machine one = {.n = 1, .members = {member("gpu", 1, LINK)}};
    struct machine two = {.n = 2, .members = {member("gpu", 1, LINK), member("gpu", 1, LINK)}};

    (void)state;
    each_work(harm, &one);
    each_work(harm, &two);
}

/* ---- Open writes ---- */

#define OPEN_SIZE ((size_t)8 << 20)

static void write_and_run(struct timed *t, struct tsl_buffer *buffer, bool blocking)
{
    static char bytes[OPEN_SIZE];
    struct tsl_enqueue e = {.queue = t->queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = blocking};
    struct tsl_box_copy box = {.region = {OPEN_SIZE, 1, 1}};

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &box), CL_SUCCESS);
    timed_launch(t, "work1", ITEMS, 1, &buffer, 100, NULL);
    timed_finish(t);
}

static unsigned last_member(void)
{
    struct tsl_fake_record record;
    unsigned i = 0;

    while (timed_run(i, &record))
        i++;
    assert_true(i > 0 && timed_run(i - 1, &record));
    return record.member;
}

/* The host's copy is valid, so the processors lack nothing but what is being written; and that is sooner with the GPU,
 * whose link is faster than copies on the host. Bytes that are in the host's copy already are another matter. */
static void test_open_write(void **state)
{
    struct tsl_fake_member members[] = {member("cpu", 1, LINK), member("gpu", 1, 50000000000u)};
    struct timed t;
    struct tsl_buffer *buffer;

    (void)state;
    members[0].zero_copy = true;
    register_kernels();
    timed_begin(&t, members, 2, "kernel work1 a,n\n", 0);
    work = (struct work){.name = "open writes", .size = OPEN_SIZE};
    add(&work, 100, 1, (unsigned[]){0});
    show(&t, &work);
    buffer = timed_buffer(&t, OPEN_SIZE);
    t.members = 1;
    write_and_run(&t, buffer, true);
    t.members = ~0u;
    write_and_run(&t, buffer, false);
    assert_int_equal(last_member(), 1);
    t.members = 1;
    timed_launch(&t, "work1", ITEMS, 1, &buffer, 100, NULL);
    timed_finish(&t);
    t.members = ~0u;
    write_and_run(&t, buffer, true);
    assert_int_equal(last_member(), 0);
    tsl_object_release(&buffer->object);
    timed_end(&t);
}

/* ---- A pipeline as programs write it ---- */

#define STAGES      4
#define CHAINS      16
#define STAGE_US    3200
#define MATRIX_SIZE ((size_t)16 << 20)

static struct pipeline {
    struct tsl_buffer *factors[STAGES], *steps[CHAINS][STAGES + 1];
    char *host;
} line;

static void CL_CALLBACK host_task(void *arg)
{
    (void)arg;
}

static void step_of(struct timed *t, unsigned chain, unsigned stage, struct tsl_event **before)
{
    struct tsl_buffer *args[] = {line.steps[chain][stage], line.factors[stage], line.steps[chain][stage + 1]};
    struct tsl_event *event;

    t->wait = *before;
    timed_launch(t, "work3", ITEMS, 3, args, STAGE_US, &event);
    t->wait = NULL;
    if (*before)
        tsl_object_release(&(*before)->object);
    *before = event;
    assert_int_equal(tsl_queue_flush(t->queue), CL_SUCCESS);
}

/* Host tasks keep their turn in a queue: programs that want them beside the rest give them one. */
static double run_line(struct timed *t, struct tsl_queue *tasks)
{
    double begin = (double)timed_finish(t);

    for (unsigned i = 0; i < CHAINS; i++) {
        struct tsl_enqueue write = {.queue = t->queue, .type = CL_COMMAND_WRITE_BUFFER};
        struct tsl_enqueue native = {.queue = tasks, .type = CL_COMMAND_NATIVE_KERNEL, .n_wait = 1};
        struct tsl_box_copy box = {.region = {MATRIX_SIZE, 1, 1}};
        struct tsl_event *event = NULL;
        void **args = malloc(sizeof(*args)), **slots[] = {args};

        assert_int_equal(tsl_enqueue_write(&write, line.steps[i][0], line.host, &box), CL_SUCCESS);
        for (unsigned s = 0; s < STAGES; s++)
            step_of(t, i, s, &event);
        native.wait = &event;
        assert_int_equal(tsl_enqueue_native(&native, host_task, args, 1, &line.steps[i][STAGES], slots), CL_SUCCESS);
        tsl_object_release(&event->object);
    }
    assert_int_equal(tsl_queue_finish(tasks), CL_SUCCESS);
    return ((double)timed_finish(t) - begin) / 1e3;
}

/* Matrices are written, go through four stages, each with an event, and end in a host task; where they lie is as the
 * round before left them, so nearly all that is placed lacks something. */
static void test_pipeline(void **state)
{
    struct tsl_fake_member members[] = {member("gpu", 1, 25000000000u), member("gpu", 1, 25000000000u)};
    struct tsl_queue *tasks;
    struct timed t;

    (void)state;
    register_kernels();
    line.host = calloc(1, MATRIX_SIZE);
    timed_begin(&t, members, 2, "kernel work3 a,b,c,n\n", 0);
    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &tasks), CL_SUCCESS);
    for (unsigned s = 0; s < STAGES; s++)
        line.factors[s] = timed_buffer(&t, MATRIX_SIZE);
    for (unsigned i = 0; i < CHAINS; i++)
        for (unsigned s = 0; s <= STAGES; s++)
            line.steps[i][s] = timed_buffer(&t, MATRIX_SIZE);
    for (unsigned round = 0; round < 4; round++) {
        double part = run_line(&t, tasks) / (CHAINS * STAGES * STAGE_US / 2.0);

        print_message("a pipeline, round %u: %.3f of the best\n", round, part);
        if (part > (round ? 1.10 : 1.25))
            fail_msg("members are idle");
    }
    for (unsigned s = 0; s < STAGES; s++)
        tsl_object_release(&line.factors[s]->object);
    for (unsigned i = 0; i < CHAINS; i++)
        for (unsigned s = 0; s <= STAGES; s++)
            tsl_object_release(&line.steps[i][s]->object);
    tsl_queue_let_go(tasks);
    tsl_object_release(&tasks->object);
    timed_end(&t);
    free(line.host);
}

/* A kernel waits for the event of one before it in its in-order queue, and so doesn't wait for the long one before that
 * one, which runs elsewhere on other data. */
static void test_wait_in_one_queue(void **state)
{
    struct tsl_fake_member members[] = {member("gpu", 1, LINK), member("gpu", 1, LINK)};
    struct tsl_buffer *first, *second;
    struct tsl_fake_record runs[3];
    struct tsl_event *event;
    struct timed t;

    (void)state;
    register_kernels();
    timed_begin(&t, members, 2, "kernel work1 a,n\n", 0);
    first = timed_buffer(&t, 4096);
    second = timed_buffer(&t, 4096);
    t.members = 1;
    timed_launch(&t, "work1", ITEMS, 1, &first, 50000, NULL);
    t.members = 2;
    timed_launch(&t, "work1", ITEMS, 1, &second, 100, &event);
    t.wait = event;
    timed_launch(&t, "work1", ITEMS, 1, &second, 100, NULL);
    t.wait = NULL;
    timed_finish(&t);
    for (unsigned i = 0; i < 3; i++)
        assert_true(timed_run(i, &runs[i]));
    assert_int_equal(runs[2].member, 0); /* the long one ends last */
    assert_true(runs[1].start_ns >= runs[0].end_ns && runs[1].end_ns < runs[2].end_ns / 2);
    tsl_object_release(&event->object);
    tsl_object_release(&first->object);
    tsl_object_release(&second->object);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_members), cmocka_unit_test(test_unequal_members),
        cmocka_unit_test(test_slow_member),   cmocka_unit_test(test_open_write),
        cmocka_unit_test(test_pipeline),      cmocka_unit_test(test_wait_in_one_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
