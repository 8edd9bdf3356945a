/* Launches whose shares may write the same memory and work on copies of it: that the program sees what one device would
 * have done, where the copies become one, what it takes, and what it sees of failures. Seen in virtual time. */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always TESELA_LOG=place:info */
/* variant: merge TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:merge */
/* variant: reduce TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:reduce */
/* variant: exact TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:exact */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: places TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_SPLIT=always:merge */
#include "base/clock.h"
#include "base/settings.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"

#define ITEMS 1536u      /* in groups of 256 */
#define WORDS 8192u      /* of small buffers */
#define LARGE (1u << 20) /* words of large ones */
#define PRIME 7919u

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static unsigned ran_on, n_ran; /* members, a bit each; windows */

static void note(const struct tsl_fake_run *run)
{
    ran_on |= 1u << run->member;
    n_ran++;
}

static uint32_t *words_of(const struct tsl_fake_run *run, unsigned argument, size_t *n)
{
    *n = run->args[argument].size / 4;
    return run->args[argument].ptr;
}

static uint32_t value_of(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    return value;
}

/* Where item i writes, of n words: each item somewhere else. */
static size_t place_of(size_t i, size_t n)
{
    return i * PRIME % n;
}

static void scatter_body(const struct tsl_fake_run *run)
{
    size_t n;
    uint32_t *words = words_of(run, 0, &n);

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        words[place_of(i, n)] = (uint32_t)i + value_of(run);
}

/* Single bytes: those of one word are of several items. */
static void bytes_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes[place_of(i, run->args[0].size)] = (unsigned char)(i + value_of(run));
}

/* All store one value to one word, some of them. */
static void flag_body(const struct tsl_fake_run *run)
{
    size_t n;
    uint32_t *words = words_of(run, 0, &n);

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        if (i % 3 == 1)
            words[5] = value_of(run);
}

/* Each item adds to a word, by its own earlier ones too. */
static void histogram_body(const struct tsl_fake_run *run)
{
    size_t n;
    uint32_t *words = words_of(run, 0, &n);

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        words[i * i % 61] += value_of(run);
}

static void least_body(const struct tsl_fake_run *run)
{
    size_t n;
    int32_t *words = (int32_t *)words_of(run, 0, &n);

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++) {
        int32_t value = (int32_t)value_of(run) - (int32_t)i;

        words[i % 7] = value < words[i % 7] ? value : words[i % 7];
    }
}

/* Item i: its own word of the first buffer, and one somewhere in the second, both by what the third holds. */
static void both_body(const struct tsl_fake_run *run)
{
    size_t n, m;
    uint32_t *own = words_of(run, 0, &n), *any = words_of(run, 1, &m);
    const uint32_t *from = run->args[2].ptr;

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++) {
        own[i] = from[i] + 1;
        any[place_of(i, m)] = from[i] + 2;
    }
}

static void fill_body(const struct tsl_fake_run *run)
{
    size_t n;
    uint32_t *words = words_of(run, 0, &n);

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        words[i] = value_of(run);
}

enum { SCATTER, BYTES, FLAG, HISTOGRAM, LEAST, BOTH, FILL, EXCHANGE, N_KERNELS };

static const struct kernel {
    const char *name;
    tsl_fake_body_fn *body;
    bool atomics;
} kernels[N_KERNELS] = {
    [SCATTER] = {"scatter", scatter_body, false}, [BYTES] = {"bytes", bytes_body, false},
    [FLAG] = {"flag", flag_body, false},          [HISTOGRAM] = {"histogram", histogram_body, true},
    [LEAST] = {"least", least_body, true},        [BOTH] = {"both", both_body, false},
    [FILL] = {"fill", fill_body, false},          [EXCHANGE] = {"exchange", histogram_body, true},
};

static void own_word(struct bed *bed, uint32_t argument, uint8_t kind)
{
    bed_access(bed, argument, kind, 4,
               bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, 4)));
}

static void make_footprint(struct bed *bed, unsigned kernel)
{
    static const uint8_t atomics[N_KERNELS] = {
        [HISTOGRAM] = TSL_ATOMIC_ADD, [LEAST] = TSL_ATOMIC_SMIN, [EXCHANGE] = TSL_ATOMIC_OTHER};

    bed_begin(bed, kernel == BOTH ? 3 : 2);
    if (kernels[kernel].atomics) {
        bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, TSL_FOOTPRINT_NONE)->atomic = atomics[kernel];
        return;
    }
    if (kernel == FLAG)
        bed_access(bed, 0, TSL_ACCESS_WRITE, 4, bed_constant(bed, 64, 20))->flags = 0;
    else if (kernel == FILL)
        own_word(bed, 0, TSL_ACCESS_WRITE);
    else if (kernel != BOTH)
        bed_access(bed, 0, TSL_ACCESS_WRITE, kernel == BYTES ? 1 : 4, TSL_FOOTPRINT_NONE);
    if (kernel != BOTH)
        return;
    own_word(bed, 0, TSL_ACCESS_WRITE);
    bed_access(bed, 1, TSL_ACCESS_WRITE, 4, TSL_FOOTPRINT_NONE);
    own_word(bed, 2, TSL_ACCESS_READ);
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const enum tsl_fact_kind three[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        struct tsl_fake_traits traits = {.atomics = kernels[i].atomics, .footprint = &beds[i].footprint};
        const unsigned access[] = {i == BOTH || i == FILL ? TSL_MAY_WRITE : TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_WRITE,
                                   TSL_MAY_READ};

        make_footprint(&beds[i], i);
        tsl_fake_kernel(kernels[i].name, kernels[i].body, i == BOTH ? 3 : 2, i == BOTH ? three : one, access);
        tsl_fake_kernel_traits(kernels[i].name, &traits);
    }
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

static struct timed t;
static struct tsl_buffer *buffers[4];
static unsigned n_buffers;

static void begin_members(const struct tsl_fake_member *members, unsigned n)
{
    static const char *const text = "kernel scatter a,s\nkernel bytes a,s\nkernel flag a,s\nkernel histogram a,s\n"
                                    "kernel least a,s\nkernel both a,b,c\nkernel fill a,s\nkernel exchange a,s\n";

    name_kernels();
    timed_begin(&t, members, n, text, 0);
    n_buffers = ran_on = n_ran = 0;
}

static const struct tsl_fake_member plain = {.item_ns = 1000, .gates = true, .bandwidth = 1000000000};

static void begin(unsigned n)
{
    begin_members((struct tsl_fake_member[]){plain, plain, plain}, n);
}

static int end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < n_buffers; i++)
        tsl_object_release(&buffers[i]->object);
    timed_end(&t);
    return 0;
}

/* Of n words; model: their values; NULL: never written. */
static struct tsl_buffer *make_buffer(const uint32_t *model, size_t n)
{
    struct tsl_buffer *buffer;

    assert_int_equal(
        tsl_buffer_create(t.context, model ? CL_MEM_COPY_HOST_PTR : 0, n * 4, (void *)(uintptr_t)model, NULL, &buffer),
        CL_SUCCESS);
    return buffers[n_buffers++] = buffer;
}

static uint32_t *make_model(size_t n)
{
    uint32_t *model = malloc(n * 4);

    for (size_t i = 0; i < n; i++)
        model[i] = (uint32_t)(i * 2654435761u);
    return model;
}

static void launch(unsigned kernel, struct tsl_buffer *buffer, uint32_t value)
{
    timed_launch(&t, kernels[kernel].name, ITEMS, 1, &buffer, value, NULL);
}

/* As the whole launch would do it, on the model. */
static void apply(unsigned kernel, void *model, size_t size, uint32_t value)
{
    const struct tsl_fake_arg args[2] = {{.ptr = model, .size = size}, {.value = &value, .size = 4}};
    const struct tsl_fake_run run = {.n_args = 2, .args = args, .end = {ITEMS, 1, 1}};
    unsigned on = ran_on, n = n_ran;

    kernels[kernel].body(&run);
    ran_on = on;
    n_ran = n;
}

static void read_words(struct tsl_buffer *buffer, uint32_t *words, size_t n)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {n * 4, 1, 1}};

    assert_int_equal(tsl_enqueue_read(&e, buffer, words, &box), CL_SUCCESS);
}

static void assert_is(struct tsl_buffer *buffer, const uint32_t *model, size_t n)
{
    uint32_t *words = malloc(n * 4);

    read_words(buffer, words, n);
    assert_memory_equal(words, model, n * 4);
    free(words);
}

static uint64_t n_combined(unsigned member)
{
    return tsl_fake_counts(member).did[TSL_FAKE_DID_COMBINE];
}

/* ---- Right ------------------------------------------------------------------------------------------------------- */

/* Every kernel, one after the other on one buffer, over so many members. */
static void run_all(unsigned n_members)
{
    static const unsigned which[] = {SCATTER, HISTOGRAM, FLAG, BYTES, LEAST, SCATTER, FILL, HISTOGRAM, BYTES};
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer = make_buffer(model, WORDS);

    for (unsigned i = 0; i < sizeof which / sizeof *which; i++) {
        n_ran = ran_on = 0;
        launch(which[i], buffer, 1000 * i + 7);
        apply(which[i], model, WORDS * 4, 1000 * i + 7);
        timed_finish(&t);
        assert_int_equal(n_ran, n_members > 1 ? n_members : 2);
        assert_int_equal(ran_on, (1u << n_members) - 1);
        if (i % 2)
            assert_is(buffer, model, WORDS);
    }
    assert_is(buffer, model, WORDS);
    free(model);
}

static void two_members(void **state)
{
    (void)state;
    begin(2);
    run_all(2);
    assert_true(n_combined(0) + n_combined(1) > 0);
}

static void three_members(void **state)
{
    (void)state;
    begin(3);
    run_all(3);
}

/* Two copies in one memory. */
static void one_member(void **state)
{
    (void)state;
    begin(1);
    run_all(1);
}

static void members_that_reach_each_other(void **state)
{
    struct tsl_fake_member peer = plain;

    (void)state;
    peer.peer = true;
    begin_members((struct tsl_fake_member[]){peer, peer, peer}, 3);
    run_all(3);
}

static void members_on_the_hosts_memory(void **state)
{
    struct tsl_fake_member host = plain;

    (void)state;
    host.zero_copy = true;
    begin_members((struct tsl_fake_member[]){host, plain, host}, 3);
    run_all(3);
}

/* Members' memory is garbage before, another on each. */
static void what_was_never_written(void **state)
{
    uint32_t *model = calloc(WORDS, 4), *words = malloc(WORDS * 4);
    struct tsl_buffer *buffer;

    (void)state;
    begin(2);
    buffer = make_buffer(NULL, WORDS);
    launch(SCATTER, buffer, 1);
    apply(SCATTER, model, WORDS * 4, 1);
    read_words(buffer, words, WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        if (model[i])
            assert_int_equal(words[i], model[i]);
    assert_int_equal(ran_on, 3);
    free(model);
    free(words);
}

/* Each member makes a part of the result, which stays there until it is wanted. */
static void large_ranges_are_made_by_all(void **state)
{
    uint32_t *model = make_model(LARGE);
    struct tsl_buffer *buffer;

    (void)state;
    begin(3);
    buffer = make_buffer(model, LARGE);
    launch(SCATTER, buffer, 9);
    launch(HISTOGRAM, buffer, 5);
    apply(SCATTER, model, LARGE * 4, 9);
    apply(HISTOGRAM, model, LARGE * 4, 5);
    timed_finish(&t);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(n_combined(i), 2 + 3); /* Of a merge one share's copy is where the result is made. */
        assert_true(tsl_fake_counts(i).did_size[TSL_FAKE_DID_COMBINE] < (uint64_t)LARGE * 4 * 5 / 3 + 5 * 4096);
    }
    assert_is(buffer, model, LARGE);
    free(model);
}

static void parts_of_a_buffer(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *root, *part;

    (void)state;
    begin(2);
    root = make_buffer(model, WORDS);
    assert_int_equal(tsl_buffer_create_sub(root, 0, 4096, 16384, &part), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        launch(SCATTER, part, 4 + i);
        apply(SCATTER, model + 1024, 16384, 4 + i);
    }
    timed_finish(&t);
    assert_int_equal(ran_on, 3);
    assert_is(root, model, WORDS);
    tsl_object_release(&part->object);
    free(model);
}

/* One object exactly, one by copies, one only read. */
static void both_ways(void **state)
{
    uint32_t *models[3], *own, *any;

    (void)state;
    begin(2);
    for (unsigned i = 0; i < 3; i++) {
        models[i] = make_model(WORDS);
        make_buffer(models[i], WORDS);
    }
    own = models[0];
    any = models[1];
    timed_launch(&t, "both", ITEMS, 3, buffers, 0, NULL);
    for (size_t i = 0; i < ITEMS; i++) {
        own[i] = models[2][i] + 1;
        any[place_of(i, WORDS)] = models[2][i] + 2;
    }
    timed_finish(&t);
    assert_int_equal(ran_on, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_is(buffers[i], models[i], WORDS);
        free(models[i]);
    }
}

/* Two arguments of the launch are one buffer: its copies stand for both. */
static void one_buffer_twice(void **state)
{
    uint32_t *model = make_model(WORDS), *other = make_model(WORDS), words[WORDS];
    struct tsl_buffer *all[3];

    (void)state;
    begin(2);
    all[0] = make_buffer(other, WORDS);
    all[1] = all[2] = make_buffer(model, WORDS);
    timed_launch(&t, "both", ITEMS, 3, all, 0, NULL);
    timed_finish(&t);
    read_words(all[1], words, WORDS);
    assert_int_equal(ran_on, 3);
    for (size_t i = 0; i < ITEMS; i++) { /* What an item reads another one may have written, or not. */
        size_t at = place_of(i, WORDS);

        assert_true(words[at] != model[at]);
    }
    free(model);
    free(other);
}

/* ---- What it takes ----------------------------------------------------------------------------------------------- */

/* Launches one after the other use the same copies. */
static void copies_are_used_again(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;
    unsigned live;

    (void)state;
    begin(2);
    buffer = make_buffer(model, WORDS);
    for (unsigned i = 0; i < 3; i++)
        launch(SCATTER, buffer, i + 1);
    timed_finish(&t);
    live = tsl_fake_live().mems;
    for (unsigned i = 3; i < 40; i++)
        launch(SCATTER, buffer, i + 1);
    timed_finish(&t);
    assert_int_equal(tsl_fake_live().mems, live);
    for (unsigned i = 0; i < 40; i++)
        apply(SCATTER, model, WORDS * 4, i + 1);
    assert_is(buffer, model, WORDS);
    free(model);
}

static void without_room_it_runs_whole(void **state)
{
    struct tsl_fake_member small = plain;
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;

    (void)state;
    small.memory_size = WORDS * 4 * 2;
    begin_members((struct tsl_fake_member[]){small, small}, 2);
    buffer = make_buffer(model, WORDS);
    launch(SCATTER, buffer, 3);
    apply(SCATTER, model, WORDS * 4, 3);
    timed_finish(&t);
    assert_int_equal(n_ran, 1);
    assert_is(buffer, model, WORDS);
    free(model);
}

static void who_cannot_combine_has_no_part(void **state)
{
    struct tsl_fake_member not = plain;
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;

    (void)state;
    not .no_combine = true;
    begin_members((struct tsl_fake_member[]){plain, not, plain}, 3);
    buffer = make_buffer(model, WORDS);
    launch(SCATTER, buffer, 3);
    apply(SCATTER, model, WORDS * 4, 3);
    timed_finish(&t);
    assert_int_equal(ran_on, 5);
    assert_is(buffer, model, WORDS);
    free(model);
}

static void other_atomics_run_whole(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;
    char *text;

    (void)state;
    begin(2);
    buffer = make_buffer(model, WORDS);
    catch_stderr();
    launch(EXCHANGE, buffer, 3);
    text = release_stderr();
    timed_finish(&t);
    assert_int_equal(n_ran, 1);
    assert_non_null(strstr(text,
                           "launches of exchange run whole, as argument 0 (a0) is changed by atomic operations of "
                           "which not all are one that commutes"));
    free(text);
    free(model);
}

/* ---- Failures and times ------------------------------------------------------------------------------------------ */

/* The buffer is as it was: no share's copy goes into it. */
static void a_share_fails(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;

    (void)state;
    begin(2);
    buffer = make_buffer(model, WORDS);
    launch(SCATTER, buffer, 1);
    apply(SCATTER, model, WORDS * 4, 1);
    timed_finish(&t);
    tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, CL_OUT_OF_RESOURCES);
    launch(SCATTER, buffer, 77);
    assert_true(tsl_queue_finish(t.queue) < 0);
    assert_is(buffer, model, WORDS);
    launch(SCATTER, buffer, 5);
    apply(SCATTER, model, WORDS * 4, 5);
    timed_finish(&t);
    assert_is(buffer, model, WORDS);
    free(model);
}

/* The bytes from which a share's copy is made don't come: what differs from the object's is no change of the share's.
 */
static void a_fetch_fails(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;

    (void)state;
    begin(2);
    buffer = make_buffer(model, WORDS);
    t.members = 1;
    launch(FILL, buffer, 3);
    apply(FILL, model, WORDS * 4, 3);
    timed_finish(&t);
    t.members = ~0u;
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, CL_OUT_OF_RESOURCES);
    launch(SCATTER, buffer, 77);
    assert_true(tsl_queue_finish(t.queue) < 0);
    assert_is(buffer, model, WORDS);
    free(model);
}

static void fail_one(enum tsl_fake_call call, bool work)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer = make_buffer(model, WORDS);

    launch(SCATTER, buffer, 1);
    timed_finish(&t);
    for (unsigned i = 0; i < 2; i++)
        if (work)
            tsl_fake_fail_work(i, call, 1, CL_OUT_OF_RESOURCES);
        else
            tsl_fake_fail_call(i, call, 1, CL_OUT_OF_RESOURCES);
    launch(SCATTER, buffer, 77);
    assert_true(tsl_queue_finish(t.queue) < 0);
    free(model);
    model = calloc(WORDS, 4);
    launch(FILL, buffer, 5); /* Later work finds the memory in order. */
    apply(FILL, model, WORDS * 4, 5);
    timed_finish(&t);
    assert_is(buffer, model, ITEMS);
    free(model);
}

static void a_combine_fails(void **state)
{
    (void)state;
    begin(2);
    fail_one(TSL_FAKE_COMBINE, true);
}

static void a_combine_is_refused(void **state)
{
    (void)state;
    begin(2);
    fail_one(TSL_FAKE_COMBINE, false);
}

static void a_copy_fails(void **state)
{
    (void)state;
    begin(2);
    fail_one(TSL_FAKE_COPY, true);
}

/* The command ends when its copies are one. */
static void times(void **state)
{
    struct tsl_fake_record record, last = {.end_ns = 0};
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;
    struct tsl_queue *profiled;
    struct tsl_event *event;
    cl_ulong end_ns;

    (void)state;
    begin(2);
    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), CL_QUEUE_PROFILING_ENABLE, NULL, 0, &profiled),
                     CL_SUCCESS);
    struct timed of = t;
    of.queue = profiled;
    buffer = make_buffer(model, WORDS);
    timed_launch(&of, "scatter", ITEMS, 1, &buffer, 4, &event);
    assert_int_equal(tsl_queue_finish(profiled), CL_SUCCESS);
    for (size_t i = 0; tsl_fake_record(i, &record); i++)
        if (record.kind == TSL_FAKE_DID_COMBINE && record.end_ns > last.end_ns)
            last = record;
    assert_int_equal(tsl_event_profile(event, CL_PROFILING_COMMAND_END, &end_ns), CL_SUCCESS);
    assert_true(last.end_ns > 0);
    assert_int_equal(end_ns, last.end_ns);
    tsl_object_release(&event->object);
    tsl_queue_let_go(profiled);
    tsl_object_release(&profiled->object);
    free(model);
}

/* ---- One rung alone ---------------------------------------------------------------------------------------------- */

/* The number of windows in which a launch of each kernel runs. */
static void assert_windows(const unsigned expected[N_KERNELS])
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;

    begin(2);
    buffer = make_buffer(model, WORDS);
    for (unsigned k = 0; k < N_KERNELS; k++) {
        if (k == BOTH)
            continue;
        n_ran = 0;
        launch(k, buffer, 3);
        apply(k, model, WORDS * 4, 3);
        timed_finish(&t);
        assert_int_equal(n_ran, expected[k]);
        assert_is(buffer, model, WORDS);
    }
    free(model);
}

static void by_merge_alone(void **state)
{
    (void)state;
    assert_windows((const unsigned[]){2, 2, 2, 1, 1, 0, 2, 1});
    assert_true(n_combined(0) + n_combined(1) > 0);
}

static void by_reduce_alone(void **state)
{
    (void)state;
    assert_windows((const unsigned[]){1, 1, 1, 2, 2, 0, 1, 1});
}

static void exactly_alone(void **state)
{
    (void)state;
    assert_windows((const unsigned[]){1, 1, 1, 1, 1, 0, 2, 1});
    assert_int_equal(n_combined(0) + n_combined(1), 0);
}

/* ---- By what it is expected to gain ------------------------------------------------------------------------------ */

static uint64_t time_of_launch(unsigned kernel, struct tsl_buffer *buffer, uint32_t value)
{
    uint64_t before = tsl_clock_ns();

    n_ran = 0;
    launch(kernel, buffer, value);
    return timed_finish(&t) - before;
}

/* Long launches and small copies. */
static void it_is_cut_where_that_pays(void **state)
{
    static const unsigned which[] = {SCATTER, HISTOGRAM};
    struct tsl_fake_member member = {.name = "fake", .item_ns = 10000, .gates = true, .bandwidth = 1000000000};

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2);
    for (unsigned k = 0; k < 2; k++) {
        uint32_t *model = make_model(WORDS);
        struct tsl_buffer *buffer = make_buffer(model, WORDS);
        uint64_t whole_ns = 0, cut_ns = 0;

        for (uint32_t i = 0; i < 8; i++) {
            cut_ns = time_of_launch(which[k], buffer, i + 1);
            whole_ns = i ? whole_ns : cut_ns;
            apply(which[k], model, WORDS * 4, i + 1);
        }
        assert_int_equal(n_ran, 2);
        assert_true((double)cut_ns < 0.65 * (double)whole_ns);
        assert_is(buffer, model, WORDS);
        free(model);
    }
}

/* Short launches and large copies. */
static void it_runs_whole_where_copies_cost_more(void **state)
{
    struct tsl_fake_member member = {.name = "fake", .item_ns = 1000, .gates = true, .bandwidth = 1000000000};
    uint32_t *model = make_model(LARGE);
    struct tsl_buffer *buffer;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2);
    buffer = make_buffer(model, LARGE);
    for (uint32_t i = 0; i < 8; i++) {
        time_of_launch(SCATTER, buffer, i + 1);
        apply(SCATTER, model, LARGE * 4, i + 1);
        assert_int_equal(n_ran, 1);
    }
    assert_is(buffer, model, LARGE);
    free(model);
}

/* What is written over what shares made goes to none of them, as the next launch may be cut, too. */
static void writes_go_to_no_share(void **state)
{
    uint32_t *model = make_model(WORDS);
    struct tsl_buffer *buffer;
    struct tsl_enqueue e = {.type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {WORDS * 4, 1, 1}};

    (void)state;
    begin(2);
    buffer = make_buffer(model, WORDS);
    e.queue = t.queue;
    launch(SCATTER, buffer, 7);
    timed_finish(&t);
    assert_int_equal(ran_on, 3);
    tsl_fake_reset_counts();
    assert_int_equal(tsl_enqueue_write(&e, buffer, model, &box), CL_SUCCESS);
    assert_int_equal(tsl_fake_counts(0).did_size[TSL_FAKE_DID_WRITE] + tsl_fake_counts(1).did_size[TSL_FAKE_DID_WRITE],
                     0);
    assert_is(buffer, model, WORDS);
    free(model);
}

static int run_auto(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_is_cut_where_that_pays, end),
        cmocka_unit_test_teardown(it_runs_whole_where_copies_cost_more, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_one(CMUnitTestFunction test)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test, end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_members, end),
        cmocka_unit_test_teardown(three_members, end),
        cmocka_unit_test_teardown(one_member, end),
        cmocka_unit_test_teardown(members_that_reach_each_other, end),
        cmocka_unit_test_teardown(members_on_the_hosts_memory, end),
        cmocka_unit_test_teardown(what_was_never_written, end),
        cmocka_unit_test_teardown(large_ranges_are_made_by_all, end),
        cmocka_unit_test_teardown(parts_of_a_buffer, end),
        cmocka_unit_test_teardown(both_ways, end),
        cmocka_unit_test_teardown(one_buffer_twice, end),
        cmocka_unit_test_teardown(copies_are_used_again, end),
        cmocka_unit_test_teardown(without_room_it_runs_whole, end),
        cmocka_unit_test_teardown(who_cannot_combine_has_no_part, end),
        cmocka_unit_test_teardown(other_atomics_run_whole, end),
        cmocka_unit_test_teardown(a_share_fails, end),
        cmocka_unit_test_teardown(a_fetch_fails, end),
        cmocka_unit_test_teardown(a_combine_fails, end),
        cmocka_unit_test_teardown(a_combine_is_refused, end),
        cmocka_unit_test_teardown(a_copy_fails, end),
        cmocka_unit_test_teardown(times, end),
    };

    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_MERGE && tsl_settings()->policy == TSL_POLICY_AUTO)
        return run_one(writes_go_to_no_share);
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_MERGE)
        return run_one(by_merge_alone);
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_REDUCE)
        return run_one(by_reduce_alone);
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_EXACT)
        return run_one(exactly_alone);
    if (tsl_settings()->split == TSL_SPLIT_AUTO)
        return run_auto();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
