/*
 * Implicit transfers, row by row: what moves when a kernel (K) or the host (H) reads or writes x, by whether the host's
 * (sh) and the device's (sd) copy are current, and which are current afterwards (Alonso, table 2.2; CtrlEvents, table
 * 1). Read from the timeline; the data are checked too.
 *
 * All kernels go to one of two members, which is "the device"; with two, a write by the host stays on the host. That
 * holds for devices with memory of their own, so TESELA_ZERO_COPY is off. Devices that work on the host's memory have
 * the host's copy: nothing ever moves, not even between two of them that take turns.
 * Launches run whole: what moves for shares is another matter (proof_parts_test.c).
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=fastest TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=weights=1,0 TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=weights=1,0 TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* variant: zero_copy TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=fastest TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* variant: zero_copy_round TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* variant: zero_copy_oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_LOG=tile:warn TESELA_SPLIT=off */
/* two: TESELA_ZERO_COPY=off TESELA_POLICY=fastest TESELA_LOG=tile:warn TESELA_SPLIT=off */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n_ints = 3072, x_size = n_ints * sizeof(cl_int), big_size = 64 << 20, part_size = 4096 };

static const char *const source =
    "kernel void reads_constant(global int *y, constant int *x) { y[get_global_id(0)] = x[get_global_id(0)]; }\n"
    "kernel void reads(global int *y, global const int *x) { y[get_global_id(0)] = x[get_global_id(0)]; }\n"
    "kernel void gathers(global int *y, global const int *x, uint n) { y[get_global_id(0)] = "
    "x[(uint)x[get_global_id(0)] "
    "% n]; }\n"
    "kernel void overwrites(global int *x, uint value) { x[get_global_id(0)] = value + get_global_id(0); }\n"
    /* It always does; but as far as a compiler knows that depends on what x holds. No square is 5 or 7 modulo 8, so
     * fresh memory may hold anything. */
    "kernel void writes(global int *x, uint value) { uint i = get_global_id(0), was = x[i]; "
    "if ((was * was & 7) != 5) x[i] = value + i; }\n";

/* How the table's commands are spelled in OpenCL: each has two ways. */
enum command { k_reads, k_writes, h_reads, h_writes };
enum { n_ways = 2 };

struct x {
    cl_mem root, read_only, write_only, host_read_only, y;
    cl_int value; /* element i is value + i, once something was written */
};

/* Do the devices work on the host's memory? */
static bool zero_copy(void)
{
    const char *setting = getenv("TESELA_ZERO_COPY");

    return !setting || strcmp(setting, "off") != 0;
}

/* Bytes that move where these are to be fetched. */
static size_t moved_of(size_t size)
{
    return zero_copy() ? 0 : size;
}

static struct proof proof;
static cl_kernel reads_constant, reads, gathers, overwrites, writes;

static struct x make_x(size_t size)
{
    struct x x = {.root = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL)};

    x.read_only = proof_sub_buffer(x.root, CL_MEM_READ_ONLY, 0, size);
    x.write_only = proof_sub_buffer(x.root, CL_MEM_WRITE_ONLY, 0, size);
    x.host_read_only = proof_sub_buffer(x.root, CL_MEM_HOST_READ_ONLY, 0, size);
    x.y = proof_buffer(&proof, CL_MEM_READ_WRITE, x_size, NULL);
    return x;
}

static void release_x(const struct x *x)
{
    cl_mem all[] = {x->read_only, x->write_only, x->host_read_only, x->root, x->y};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        proof_ok(clReleaseMemObject(all[i]));
}

/* ---- Commands: each returns its number --------------------------------------------------------------------------- */

static uint64_t launch(cl_kernel kernel)
{
    size_t n = n_ints;

    return proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
}

static uint64_t do_k_reads(struct x *x, unsigned way)
{
    cl_mem buffers[] = {x->y, way ? x->read_only : x->root};

    proof_set(way ? reads : reads_constant, 2, buffers, 0, NULL);
    return launch(way ? reads : reads_constant);
}

/* Elements from anywhere in x. */
static uint64_t do_k_gathers(struct x *x, size_t size)
{
    cl_mem buffers[] = {x->y, x->root};
    cl_uint n = (cl_uint)(size / sizeof(cl_int));

    proof_set(gathers, 2, buffers, 1, &n);
    return launch(gathers);
}

static uint64_t do_k_overwrites(struct x *x)
{
    cl_uint value = (cl_uint)++x->value;

    proof_set(overwrites, 1, &x->root, 1, &value);
    return launch(overwrites);
}

static uint64_t do_k_writes(struct x *x, unsigned way)
{
    cl_uint value = (cl_uint)++x->value;

    proof_set(writes, 1, way ? &x->write_only : &x->root, 1, &value);
    return launch(writes);
}

struct task {
    cl_int *x;
    cl_int *saw;  /* where the first element read is kept, or NULL */
    cl_int value; /* to write */
};

static void CL_CALLBACK task(void *args)
{
    struct task *t = args;

    if (t->saw)
        *t->saw = t->x[n_ints - 1];
    for (cl_int i = 0; !t->saw && i < n_ints; i++)
        t->x[i] = t->value + i;
}

static uint64_t run_task(struct task t, cl_mem buffer)
{
    const void *slot = &t.x;

    t.x = NULL;
    return proof_did(&proof, clEnqueueNativeKernel(proof.queue, task, &t, sizeof(t), 1, &buffer, &slot, 0, NULL, NULL));
}

static void run_mapped(struct task t, struct x *x, cl_map_flags flags)
{
    cl_int error;

    t.x = clEnqueueMapBuffer(proof.queue, x->root, CL_TRUE, flags, 0, x_size, 0, NULL, NULL, &error);
    proof_did(&proof, error);
    task(&t);
    proof_did(&proof, clEnqueueUnmapMemObject(proof.queue, x->root, t.x, 0, NULL, NULL));
}

static void do_h_reads(struct x *x, unsigned way)
{
    static cl_int saw;
    struct task t = {.saw = &saw};

    saw = -1;
    if (way)
        run_mapped(t, x, CL_MAP_READ);
    else
        run_task(t, x->host_read_only);
    proof_ok(clFinish(proof.queue));
    if (x->value)
        assert_int_equal(saw, x->value + n_ints - 1);
}

static void do_h_writes(struct x *x, unsigned way)
{
    struct task t = {.value = ++x->value};

    if (way)
        run_mapped(t, x, CL_MAP_WRITE);
    else
        run_task(t, x->root);
}

/* Runs it and says what moved for it. */
static struct proof_moved do_command(enum command command, struct x *x, unsigned way)
{
    uint64_t before = proof.n_commands;

    if (command == k_reads)
        do_k_reads(x, way);
    else if (command == k_writes)
        do_k_writes(x, way);
    else if (command == h_reads)
        do_h_reads(x, way);
    else
        do_h_writes(x, way);
    proof_ok(clFinish(proof.queue));
    return proof_moved(proof_trace(&proof), before + 1, proof.n_commands);
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* A write by the host makes its copy the current one, a kernel's the device's; a kernel that reads makes both. */
static void bring_into(struct x *x, bool sh, bool sd)
{
    cl_int data[n_ints];

    if (!sh && sd)
        do_k_writes(x, 0);
    if (sh) {
        x->value += 100;
        for (cl_int i = 0; i < n_ints; i++)
            data[i] = x->value + i;
        proof_did(&proof, clEnqueueWriteBuffer(proof.queue, x->root, CL_TRUE, 0, x_size, data, 0, NULL, NULL));
    }
    if (sh && sd)
        do_k_reads(x, 0);
    proof_ok(clFinish(proof.queue));
}

static void check_data(struct x *x)
{
    cl_int data[n_ints];

    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x->root, CL_TRUE, 0, x_size, data, 0, NULL, NULL));
    for (cl_int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], x->value + i);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

struct row {
    enum command command;
    bool sh, sd;   /* before */
    bool to, from; /* does x move to the device, to the host? */
    bool sh_after, sd_after;
    bool warns; /* read before anything was written: then what is where afterwards does not matter */
};

static int saved_error = -1;

/* Standard error goes into a file meanwhile. */
static FILE *catch_log(void)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    saved_error = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return file;
}

static bool log_warned(FILE *file)
{
    char text[4096] = "";

    dup2(saved_error, STDERR_FILENO);
    close(saved_error);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return strstr(text, "read before anything was written") != NULL;
}

/* Is that copy current? Then a reader there moves nothing. */
static void check_after(const struct row *row, unsigned way, bool host)
{
    struct x x = make_x(x_size);

    bring_into(&x, row->sh, row->sd);
    do_command(row->command, &x, way);
    struct proof_moved probe = do_command(host ? h_reads : k_reads, &x, 0);
    assert_int_equal(probe.to_members, host || row->sd_after ? 0 : moved_of(x_size));
    assert_int_equal(probe.from_members, !host || row->sh_after ? 0 : moved_of(x_size));
    check_data(&x);
    release_x(&x);
}

static void check_way(const struct row *row, unsigned way)
{
    struct x x = make_x(x_size);

    bring_into(&x, row->sh, row->sd);
    FILE *log = catch_log();
    struct proof_moved moved = do_command(row->command, &x, way);
    bool warned = log_warned(log);
    assert_int_equal(moved.to_members, row->to ? moved_of(x_size) : 0);
    assert_int_equal(moved.from_members, row->from ? moved_of(x_size) : 0);
    assert_int_equal(warned, row->warns);
    if (!row->warns)
        check_data(&x);
    release_x(&x);
}

static void check_row(void **state)
{
    const struct row *row = *state;

    for (unsigned way = 0; way < n_ways; way++) {
        check_way(row, way);
        if (!row->warns) {
            check_after(row, way, true);
            check_after(row, way, false);
        }
    }
}

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    reads_constant = proof_kernel(&proof, "reads_constant");
    reads = proof_kernel(&proof, "reads");
    gathers = proof_kernel(&proof, "gathers");
    overwrites = proof_kernel(&proof, "overwrites");
    writes = proof_kernel(&proof, "writes");
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clReleaseKernel(reads_constant));
    proof_ok(clReleaseKernel(reads));
    proof_ok(clReleaseKernel(writes));
    proof_close(&proof);
    return 0;
}

/* ---- Beyond the table -------------------------------------------------------------------------------------------- */

/* The thesis fetches old bytes even when all are overwritten. Where that is proven, Tesela does not. */
static void full_overwrites_move_nothing(void **state)
{
    struct x x = make_x(x_size);
    struct task t;
    cl_int error;

    (void)state;
    bring_into(&x, false, true);
    uint64_t before = proof.n_commands;
    bring_into(&x, true, false); /* a write of all of it, over the device's current copy */
    t = (struct task){.value = ++x.value};
    do_k_writes(&x, 0);
    uint64_t kernel = proof.n_commands;
    t.value = ++x.value;
    t.x = clEnqueueMapBuffer(proof.queue, x.root, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, x_size, 0, NULL, NULL,
                             &error);
    proof_did(&proof, error);
    task(&t);
    proof_did(&proof, clEnqueueUnmapMemObject(proof.queue, x.root, t.x, 0, NULL, NULL));
    cl_int pattern = 7;
    proof_did(&proof, clEnqueueFillBuffer(proof.queue, x.y, &pattern, sizeof(pattern), 0, x_size, 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    const struct proof_trace *trace = proof_trace(&proof);
    struct proof_moved write = proof_moved(trace, before + 1, kernel - 1);
    struct proof_moved rest = proof_moved(trace, kernel + 1, proof.n_commands);
    assert_int_equal(write.from_members + write.to_members, 0);
    assert_int_equal(rest.from_members + rest.to_members, 0);
    check_data(&x);
    release_x(&x);
}

static cl_int *ints(size_t size)
{
    cl_int *data = malloc(size);

    assert_non_null(data);
    for (size_t i = 0; i < size / sizeof(*data); i++)
        data[i] = (cl_int)i;
    return data;
}

/* What a kernel surely overwrites needn't be there before it (the thesis transfers it anyway). */
static void what_is_overwritten_stays_where_it_is(void **state)
{
    struct x x = make_x(x_size);

    (void)state;
    bring_into(&x, true, false);
    uint64_t number = do_k_overwrites(&x);
    proof_ok(clFinish(proof.queue));
    struct proof_moved moved = proof_moved(proof_trace(&proof), number, number);
    assert_int_equal(moved.to_members, 0);
    assert_int_equal(moved.from_members, 0);
    check_data(&x);
    release_x(&x);
}

/* Of a big object only the part that a kernel reads moves to the device. */
static void what_is_read_of_64_mib_moves_alone(void **state)
{
    struct x x = make_x(big_size);
    cl_int *data = ints(big_size);

    (void)state;
    proof_did(&proof, clEnqueueWriteBuffer(proof.queue, x.root, CL_TRUE, 0, big_size, data, 0, NULL, NULL));
    uint64_t number = do_k_reads(&x, 1);
    proof_ok(clFinish(proof.queue));
    assert_int_equal(proof_moved(proof_trace(&proof), number, number).to_members, moved_of(x_size));
    free(data);
    release_x(&x);
}

/* Only what changed moves to the device, and nothing when nothing did. */
static void four_kib_of_64_mib_to_the_device(void **state)
{
    struct x x = make_x(big_size);
    cl_int *data = ints(big_size);
    const size_t offset = 10 * 1000 * part_size;

    (void)state;
    proof_did(&proof, clEnqueueWriteBuffer(proof.queue, x.root, CL_TRUE, 0, big_size, data, 0, NULL, NULL));
    uint64_t first = do_k_gathers(&x, big_size);
    proof_did(&proof, clEnqueueWriteBuffer(proof.queue, x.root, CL_TRUE, offset, part_size, data, 0, NULL, NULL));
    uint64_t second = do_k_gathers(&x, big_size);
    uint64_t third = do_k_gathers(&x, big_size);
    proof_ok(clFinish(proof.queue));
    const struct proof_trace *trace = proof_trace(&proof);
    assert_int_equal(proof_moved(trace, first, first).to_members, moved_of(big_size));
    assert_int_equal(proof_moved(trace, second, second).to_members, moved_of(part_size));
    if (!zero_copy())
        assert_int_equal(proof_move(trace, second, true)->offset, offset);
    assert_int_equal(proof_moved(trace, third, third).to_members, 0);
    assert_int_equal(proof_moved(trace, first, third).from_members, 0);
    free(data);
    release_x(&x);
}

/* The same from the device: a kernel writes 4 KiB of it, the host maps all of it. */
static void four_kib_of_64_mib_to_the_host(void **state)
{
    struct x x = make_x(big_size);
    cl_int *data = ints(big_size);
    const size_t offset = 10 * 1000 * part_size, n = part_size / sizeof(cl_int);
    cl_mem part = proof_sub_buffer(x.root, 0, offset, part_size);
    cl_uint value = 123;
    cl_int error;

    (void)state;
    proof_did(&proof, clEnqueueWriteBuffer(proof.queue, x.root, CL_TRUE, 0, big_size, data, 0, NULL, NULL));
    do_k_reads(&x, 1);
    proof_set(writes, 1, &part, 1, &value);
    proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, writes, 1, NULL, &n, NULL, 0, NULL, NULL));
    uint64_t before = proof.n_commands;
    for (int round = 0; round < 2; round++) {
        cl_int *mapped =
            clEnqueueMapBuffer(proof.queue, x.root, CL_TRUE, CL_MAP_READ, 0, big_size, 0, NULL, NULL, &error);
        proof_did(&proof, error);
        assert_int_equal(mapped[offset / sizeof(cl_int) - 1], offset / sizeof(cl_int) - 1);
        assert_int_equal(mapped[offset / sizeof(cl_int)], 123);
        assert_int_equal(mapped[offset / sizeof(cl_int) + n - 1], 123 + n - 1);
        assert_int_equal(mapped[offset / sizeof(cl_int) + n], offset / sizeof(cl_int) + n);
        proof_did(&proof, clEnqueueUnmapMemObject(proof.queue, x.root, mapped, 0, NULL, NULL));
    }
    proof_ok(clFinish(proof.queue));
    const struct proof_trace *trace = proof_trace(&proof);
    assert_int_equal(proof_moved(trace, before + 1, before + 2).from_members, moved_of(part_size));
    assert_int_equal(proof_moved(trace, before + 3, before + 4).from_members, 0);
    proof_ok(clReleaseMemObject(part));
    free(data);
    release_x(&x);
}

/* ---- Roles of host tasks ----------------------------------------------------------------------------------------- */

struct roles_task {
    cl_int *in, *out, *both; /* n each, or NULL */
    cl_int n;
};

static void CL_CALLBACK add_roles(void *args)
{
    const struct roles_task *t = args;

    for (cl_int i = 0; i < t->n; i++) {
        t->out[i] = t->in[i] + 1000;
        t->both[i] += t->in[i];
    }
}

/* A task names a quarter of one object for each role. Before, the device has all of it. */
static void a_task_moves_what_its_roles_say(void **state)
{
    enum { n = n_ints / 4, quarter = x_size / 4 };
    struct x x = make_x(x_size);
    cl_mem parts[] = {proof_sub_buffer(x.root, CL_MEM_HOST_READ_ONLY, 0, quarter),
                      proof_sub_buffer(x.root, CL_MEM_HOST_WRITE_ONLY, quarter, quarter),
                      proof_sub_buffer(x.root, CL_MEM_READ_WRITE, 2 * quarter, quarter)};
    struct roles_task t = {.n = n};
    const void *slots[] = {&t.in, &t.out, &t.both};
    cl_int data[n_ints];

    (void)state;
    bring_into(&x, false, true);
    uint64_t number =
        proof_did(&proof, clEnqueueNativeKernel(proof.queue, add_roles, &t, sizeof(t), 3, parts, slots, 0, NULL, NULL));
    uint64_t reader = do_k_reads(&x, 1);
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x.root, CL_TRUE, 0, x_size, data, 0, NULL, NULL));
    for (cl_int i = 0; i < n_ints; i++) {
        cl_int was = x.value + i, in = x.value + i % n;
        assert_int_equal(data[i], i / n == 1 ? in + 1000 : i / n == 2 ? was + in : was);
    }
    const struct proof_trace *trace = proof_trace(&proof);
    assert_int_equal(proof_moved(trace, number, number).from_members, moved_of(2 * quarter));
    assert_int_equal(proof_moved(trace, number, number).to_members, 0);
    assert_int_equal(proof_moved(trace, reader, reader).to_members, moved_of(2 * quarter));
    for (int i = 0; i < 3; i++)
        proof_ok(clReleaseMemObject(parts[i]));
    release_x(&x);
}

static void CL_CALLBACK write_one(void *args)
{
    const struct task *t = args;

    t->x[1] = t->value;
}

/* Of a whole buffer that the host only writes a task may write some bytes; the others stay. */
static void a_task_that_writes_some_keeps_the_rest(void **state)
{
    struct x x = make_x(x_size);
    cl_mem y = proof_buffer(&proof, CL_MEM_HOST_WRITE_ONLY, x_size, NULL);
    struct task t = {.value = -7};
    const void *slot = &t.x;
    cl_int data[n_ints];

    (void)state;
    bring_into(&x, false, true);
    proof_did(&proof, clEnqueueCopyBuffer(proof.queue, x.root, y, 0, 0, x_size, 0, NULL, NULL));
    proof_did(&proof, clEnqueueNativeKernel(proof.queue, write_one, &t, sizeof(t), 1, &y, &slot, 0, NULL, NULL));
    proof_did(&proof, clEnqueueCopyBuffer(proof.queue, y, x.root, 0, 0, x_size, 0, NULL, NULL));
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x.root, CL_TRUE, 0, x_size, data, 0, NULL, NULL));
    for (cl_int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], i == 1 ? -7 : x.value + i);
    proof_ok(clReleaseMemObject(y));
    release_x(&x);
}

/* The standard's word for "I don't need what it holds". */
static void undefined_contents_move_nothing(void **state)
{
    struct x x = make_x(x_size);

    (void)state;
    bring_into(&x, false, true);
    proof_did(&proof, clEnqueueMigrateMemObjects(proof.queue, 1, &x.root,
                                                 CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
                                                 0, NULL, NULL));
    struct proof_moved moved = do_command(h_writes, &x, 0);
    assert_int_equal(moved.from_members, 0);
    assert_int_equal(moved.to_members, 0);
    check_data(&x);
    release_x(&x);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static struct row rows[] = {
    {k_reads, 0, 0, .warns = true},
    {k_reads, 0, 1, .to = false, .from = false, .sh_after = 0, .sd_after = 1},
    {k_reads, 1, 0, .to = true, .from = false, .sh_after = 1, .sd_after = 1},
    {k_reads, 1, 1, .to = false, .from = false, .sh_after = 1, .sd_after = 1},
    {k_writes, 0, 0, .to = false, .from = false, .sh_after = 0, .sd_after = 1},
    {k_writes, 0, 1, .to = false, .from = false, .sh_after = 0, .sd_after = 1},
    {k_writes, 1, 0, .to = true, .from = false, .sh_after = 0, .sd_after = 1},
    {k_writes, 1, 1, .to = false, .from = false, .sh_after = 0, .sd_after = 1},
    {h_reads, 0, 0, .warns = true},
    {h_reads, 0, 1, .to = false, .from = true, .sh_after = 1, .sd_after = 1},
    {h_reads, 1, 0, .to = false, .from = false, .sh_after = 1, .sd_after = 0},
    {h_reads, 1, 1, .to = false, .from = false, .sh_after = 1, .sd_after = 1},
    {h_writes, 0, 0, .to = false, .from = false, .sh_after = 1, .sd_after = 0},
    {h_writes, 0, 1, .to = false, .from = true, .sh_after = 1, .sd_after = 0},
    {h_writes, 1, 0, .to = false, .from = false, .sh_after = 1, .sd_after = 0},
    {h_writes, 1, 1, .to = false, .from = false, .sh_after = 1, .sd_after = 0},
};

#define ROW(name, i)                            \
    {                                           \
        (name), check_row, NULL, NULL, &rows[i] \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW("K reads x, sh 0 sd 0: warn", 0),
        ROW("K reads x, sh 0 sd 1: nothing", 1),
        ROW("K reads x, sh 1 sd 0: transfer to the device, sd = 1", 2),
        ROW("K reads x, sh 1 sd 1: nothing", 3),
        ROW("K writes x, sh 0 sd 0: sd = 1", 4),
        ROW("K writes x, sh 0 sd 1: nothing", 5),
        ROW("K writes x, sh 1 sd 0: transfer to the device, sd = 1, sh = 0", 6),
        ROW("K writes x, sh 1 sd 1: sh = 0", 7),
        ROW("H reads x, sh 0 sd 0: warn", 8),
        ROW("H reads x, sh 0 sd 1: transfer to the host, sh = 1", 9),
        ROW("H reads x, sh 1 sd 0: nothing", 10),
        ROW("H reads x, sh 1 sd 1: nothing", 11),
        ROW("H writes x, sh 0 sd 0: sh = 1", 12),
        ROW("H writes x, sh 0 sd 1: transfer to the host, sh = 1, sd = 0", 13),
        ROW("H writes x, sh 1 sd 0: nothing", 14),
        ROW("H writes x, sh 1 sd 1: sd = 0", 15),
        cmocka_unit_test(full_overwrites_move_nothing),
        cmocka_unit_test(what_is_overwritten_stays_where_it_is),
        cmocka_unit_test(what_is_read_of_64_mib_moves_alone),
        cmocka_unit_test(four_kib_of_64_mib_to_the_device),
        cmocka_unit_test(four_kib_of_64_mib_to_the_host),
        cmocka_unit_test(a_task_moves_what_its_roles_say),
        cmocka_unit_test(a_task_that_writes_some_keeps_the_rest),
        cmocka_unit_test(undefined_contents_move_nothing),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
