/*
 * TESELA_CHECK=split finds faults in the cutting: of the list in faults.cmake, those by which a launch that is cut
 * gives a wrong result. A few launches, each of its own kind, are made of a program's calls; each fault has a process.
 */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always TESELA_CHECK=split */
/* timeout: 120 */
#include "broken.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/runs.h"
#include "timed.h"

#include <string.h>
#include <sys/wait.h>

#define ITEMS  256u
#define PITCH  64u /* of rows */
#define FEW    4u
#define MANY   40u /* more rows than are claimed one by one */
#define SIZE   ((size_t)MANY * PITCH + ITEMS)
#define OFFSET 128u /* of the sub-buffer */

/* ---- Kernels ---- */

static unsigned char *bytes_of(const struct tsl_fake_run *run, unsigned argument)
{
    return run->args[argument].ptr;
}

/* There is a byte before the first item's, and one behind the last one's. */
static void stencil_body(const struct tsl_fake_run *run)
{
    const unsigned char *src = bytes_of(run, 1);

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run, 0)[i + 1] = (unsigned char)(src[i] + 3 * src[i + 1] + 5 * src[i + 2]);
}

static void update_body(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run, 0)[i] = (unsigned char)(3 * bytes_of(run, 0)[i] + i);
}

/* Only odd items write. */
static void some_body(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        if (i % 2)
            bytes_of(run, 0)[i] = (unsigned char)i;
}

static void rows(const struct tsl_fake_run *run, unsigned n)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        for (unsigned row = 0; row < n; row++)
            bytes_of(run, 0)[row * PITCH + i] = (unsigned char)(i + row);
}

static void few_body(const struct tsl_fake_run *run)
{
    rows(run, FEW);
}

static void many_body(const struct tsl_fake_run *run)
{
    rows(run, MANY);
}

enum { STENCIL, UPDATE, SOME, FEW_ROWS, MANY_ROWS, N_KERNELS };

static uint32_t id(struct bed *bed)
{
    return bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0);
}

static uint32_t plus(struct bed *bed, uint32_t a, int64_t number)
{
    return bed_two(bed, TSL_NODE_ADD, a, bed_constant(bed, 64, number));
}

static void write_rows(struct bed *bed, unsigned n)
{
    uint32_t loop = bed_loop(bed, bed_constant(bed, 64, n), true);
    uint32_t row = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_COUNTER, loop), bed_constant(bed, 64, PITCH));
    struct tsl_access *access = bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_two(bed, TSL_NODE_ADD, row, id(bed)));

    access->n_loops = 1;
    access->loops[0] = loop;
}

static void make_footprint(struct bed *bed, unsigned kernel)
{
    bed_begin(bed, kernel == STENCIL ? 2 : 1);
    if (kernel == STENCIL) {
        for (unsigned i = 0; i < 3; i++)
            bed_access(bed, 1, TSL_ACCESS_READ, 1, plus(bed, id(bed), i));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, plus(bed, id(bed), 1));
    } else if (kernel == FEW_ROWS || kernel == MANY_ROWS) {
        write_rows(bed, kernel == FEW_ROWS ? FEW : MANY);
    } else {
        if (kernel == UPDATE)
            bed_access(bed, 0, TSL_ACCESS_READ, 1, id(bed));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id(bed))->flags = kernel == UPDATE ? TSL_ACCESS_SURE : 0;
    }
}

static const struct {
    const char *name;
    tsl_fake_body_fn *body;
    unsigned access;
} kernels[N_KERNELS] = {
    [STENCIL] = {"stencil", stencil_body, TSL_MAY_WRITE},
    [UPDATE] = {"update", update_body, TSL_MAY_READ | TSL_MAY_WRITE},
    [SOME] = {"some", some_body, TSL_MAY_WRITE},
    [FEW_ROWS] = {"few", few_body, TSL_MAY_WRITE},
    [MANY_ROWS] = {"many", many_body, TSL_MAY_WRITE},
};

static void name_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        make_footprint(&beds[i], i);
        tsl_fake_kernel(kernels[i].name, kernels[i].body, i == STENCIL ? 2 : 1, kinds,
                        (const unsigned[]){kernels[i].access, TSL_MAY_READ});
        tsl_fake_kernel_traits(kernels[i].name, &(struct tsl_fake_traits){.footprint = &beds[i].footprint});
    }
}

/* ---- The program ---- */

static struct tsl_buffer *make_buffer(const struct timed *t, unsigned char seed)
{
    unsigned char bytes[SIZE];
    struct tsl_buffer *buffer;

    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(seed + 7 * i + (i >> 8));
    assert_int_equal(tsl_buffer_create(t->context, CL_MEM_COPY_HOST_PTR, SIZE, bytes, NULL, &buffer), CL_SUCCESS);
    return buffer;
}

static void launch(struct timed *t, unsigned kernel, size_t n_items, struct tsl_buffer *first,
                   struct tsl_buffer *second)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n_items, 1, 1}, .local_size = {4, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t->queue, .type = CL_COMMAND_NDRANGE_KERNEL};
    struct tsl_kernel *made;

    assert_int_equal(tsl_kernel_create(t->program, kernels[kernel].name, &made), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(made, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    if (second)
        assert_int_equal(tsl_kernel_set_arg(made, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, made, &window, made->eligible), CL_SUCCESS);
    tsl_object_release(&made->object);
}

/* The status of all together. */
static cl_int run_program(void)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true};
    struct timed t;
    cl_int error;

    name_kernels();
    timed_begin(&t, (struct tsl_fake_member[]){member, member, member}, 3,
                "kernel stencil a,b\nkernel update a\nkernel some a\nkernel few a\nkernel many a\n", 0);
    struct tsl_buffer *a = make_buffer(&t, 1), *b = make_buffer(&t, 100), *part;
    assert_int_equal(tsl_buffer_create_sub(a, 0, OFFSET, SIZE - OFFSET, &part), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        launch(&t, STENCIL, ITEMS, i % 2 ? a : b, i % 2 ? b : a);
        launch(&t, UPDATE, ITEMS, a, NULL);
        launch(&t, SOME, ITEMS, b, NULL);
        launch(&t, FEW_ROWS, PITCH, part, NULL);
        launch(&t, MANY_ROWS, PITCH, b, NULL);
    }
    error = tsl_queue_finish(t.queue);
    tsl_object_release(&part->object);
    tsl_object_release(&a->object);
    tsl_object_release(&b->object);
    if (!error)
        timed_end(&t);
    return error;
}

/* ---- Faults ---- */

static const struct {
    const char *name, *file, *meaning;
    int in_place;
} faults[] = {
#include "faults.inc"
};

/* Those that make a cut launch of this program wrong. */
static const char *const wrong[] = {"unfetched_output", "unfetched_input", "unfetched_share", "wrong_share",
                                    "dropped_range",    "misplaced_part",  "always_sure",     "illegal_cut",
                                    "lost_groups",      "stale_copy"};

static unsigned number_of(const char *name)
{
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!strcmp(faults[i].name, name))
            return i + 1;
    return 0;
}

/* 0: nothing was told, 1: a difference was, else something else is wrong. */
static int look_for(unsigned fault)
{
    char *text;
    cl_int error;

    sim_fault = fault;
    catch_stderr();
    error = run_program();
    text = release_stderr();
    if (!error && !*text)
        return 0;
    fputs(text, stderr);
    return error == CL_OUT_OF_RESOURCES && strstr(text, "TESELA_CHECK: launch ") ? 1 : 2;
}

static int in_a_process(unsigned fault)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(look_for(fault));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_right(void **state)
{
    (void)state;
    assert_int_equal(in_a_process(0), 0);
}

static void test_wrong(void **state)
{
    unsigned n_missed = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned number = number_of(wrong[i]);

        assert_int_not_equal(number, 0);
        if (in_a_process(number) == 1)
            continue;
        print_message("%s (%s): not found\n", wrong[i], faults[number - 1].meaning);
        n_missed++;
    }
    assert_int_equal(n_missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
