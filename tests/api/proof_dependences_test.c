/*
 * Dependences between commands, row by row: what a kernel (K), a host task (H), a transfer to (HTD) or from (DTH) the
 * device waits for when all of them are in one in-order queue, and what it need not wait for (Alonso, table 4.1;
 * CtrlEvents, section 4.2). Commands that others wait for are made long; their order is read from the timeline and from
 * the data.
 *
 * With "fastest" all kernels go to one of two members, which the table calls "the same device"; with round-robin
 * consecutive ones go to different members, and the transfers in between must not change any result.
 * Launches run whole: each has one span of time.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=fastest TESELA_SPLIT=off */
/* variant: pocl_round TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_SPLIT=off */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=weights=1,0 PROOF_SPIN=20000 TESELA_SPLIT=off */
/* variant: oclgrind_round TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin PROOF_SPIN=20000 TESELA_SPLIT=off */
/* any: TESELA_SPLIT=off */
#include "proof.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_ints = 4096, size = n_ints * sizeof(cl_int), task_ms = 30 };

/* The one work-item that spins makes the kernel long. It reads or writes x's last element only when it has spun. */
static const char *const source = "uint spin(uint n)\n"
                                  "{\n"
                                  "    uint v = n;\n"
                                  "    for (uint i = 0; i < n; i++)\n"
                                  "        v = v * 1664525 + 1013904223;\n"
                                  "    return v == 4294967295u;\n" /* Hardly ever. */
                                  "}\n"
                                  "kernel void reads(global int *y, global const int *x, uint n)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    uint more = i == get_global_size(0) - 1 ? spin(n) : 0;\n"
                                  "    y[i] = x[i] + more;\n"
                                  "}\n"
                                  "kernel void writes(global int *x, uint value, uint n)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    uint more = i == get_global_size(0) - 1 ? spin(n) : 0;\n"
                                  "    x[i] = value + i + more;\n"
                                  "}\n";

static struct proof proof;
static cl_kernel reads, writes;
static cl_mem x, x_read_only, x_host_read_only, y[2];
static cl_int x_value;    /* element i of x is x_value + i */
static cl_int y_value[2]; /* what was x_value when y[i] was made of x */
static struct seen {
    cl_int first, last; /* what a host task saw */
} seen;

/* ---- Commands: each returns its number --------------------------------------------------------------------------- */

static uint64_t launch(cl_kernel kernel)
{
    size_t n = n_ints;

    return proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
}

static uint64_t k_reads(unsigned into, cl_uint spin)
{
    cl_mem buffers[] = {y[into], x_read_only};

    proof_set(reads, 2, buffers, 1, &spin);
    y_value[into] = x_value;
    return launch(reads);
}

static uint64_t k_writes(cl_uint spin)
{
    cl_uint values[] = {(cl_uint)(x_value += 1000), spin};

    proof_set(writes, 1, &x, 2, values);
    return launch(writes);
}

struct task {
    cl_int *x;
    struct seen *seen;
    cl_int value;
    long ms;
};

static void CL_CALLBACK run_task(void *args)
{
    struct task *t = args;

    nanosleep(&(struct timespec){.tv_nsec = t->ms * 1000000}, NULL);
    if (t->seen)
        *t->seen = (struct seen){t->x[0], t->x[n_ints - 1]};
    for (cl_int i = 0; !t->seen && i < n_ints; i++)
        t->x[i] = t->value + i;
}

static uint64_t task(struct task t, cl_mem buffer)
{
    const void *slot = &t.x;

    return proof_did(&proof,
                     clEnqueueNativeKernel(proof.queue, run_task, &t, sizeof(t), 1, &buffer, &slot, 0, NULL, NULL));
}

static uint64_t h_reads(long ms)
{
    return task((struct task){.seen = &seen, .ms = ms}, x_host_read_only);
}

static uint64_t h_writes(long ms)
{
    return task((struct task){.value = x_value += 1000, .ms = ms}, x);
}

static uint64_t migrate(cl_mem_migration_flags flags)
{
    return proof_did(&proof, clEnqueueMigrateMemObjects(proof.queue, 1, &x, flags, 0, NULL, NULL));
}

/* To the device whose kernel used x last. */
static uint64_t htd(void)
{
    return migrate(0);
}

static uint64_t dth(void)
{
    return migrate(CL_MIGRATE_MEM_OBJECT_HOST);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static void check_buffer(cl_mem buffer, cl_int value)
{
    static cl_int data[n_ints];

    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (cl_int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], value + i);
}

static void check_data(void)
{
    check_buffer(x, x_value);
    for (int i = 0; i < 2; i++)
        if (y_value[i])
            check_buffer(y[i], y_value[i]);
}

static void check_seen(cl_int value)
{
    assert_int_equal(seen.first, value);
    assert_int_equal(seen.last, value + n_ints - 1);
}

static const struct proof_trace *finish(void)
{
    proof_ok(clFinish(proof.queue));
    return proof_trace(&proof);
}

static void check_after(const struct proof_span *before, const struct proof_span *after)
{
    assert_true(proof_ordered(before, after));
}

static bool one_device(void)
{
    return !proof_policy_is("round-robin");
}

/* b did not wait for a. Said of one device alone: between two, transfers may make it wait. */
static void check_free(const struct proof_span *a, const struct proof_span *b)
{
    if (one_device())
        assert_true(b->start < a->end);
}

static const struct proof_span *work(uint64_t command)
{
    return proof_work(proof_trace(&proof), command);
}

static const struct proof_span *to_device(uint64_t command)
{
    return proof_move(proof_trace(&proof), command, true);
}

static const struct proof_span *from_device(uint64_t command)
{
    return proof_move(proof_trace(&proof), command, false);
}

/* Of several members that are alike another may get the work. */
static bool same_member(const struct proof_span *move, const struct proof_span *kernel)
{
    return strcmp(move->to, kernel->member) == 0;
}

/* x is current on the host alone, or on the device alone, and has been used on the device. */
static void begin(bool on_host)
{
    k_writes(0);
    if (on_host)
        h_writes(0);
    finish();
    y_value[0] = y_value[1] = 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* K reads x: waits for K writes x and HTD x of the same device. */
static void k_reads_x(void **state)
{
    (void)state;
    begin(false);
    uint64_t writer = k_writes(proof_spin());
    uint64_t reader = k_reads(0, 0);
    h_writes(task_ms);
    uint64_t transfer = htd();
    uint64_t late_reader = k_reads(1, 0);
    finish();
    check_after(work(writer), work(reader));
    check_data();
    if (!one_device())
        return;
    check_after(to_device(transfer), work(late_reader));
    if (same_member(to_device(transfer), work(late_reader)))
        assert_int_equal(proof_moved(proof_trace(&proof), late_reader, late_reader).to_members, 0);
}

/* K writes x: waits for K reads x, K writes x, HTD x and DTH x of the same device. */
static void k_writes_x(void **state)
{
    (void)state;
    begin(false);
    uint64_t reader = k_reads(0, proof_spin());
    uint64_t after_reader = k_writes(proof_spin());
    uint64_t after_writer = k_writes(0);
    uint64_t out = dth();
    uint64_t after_out = k_writes(0);
    finish();
    check_data();
    if (one_device()) {
        check_after(work(reader), work(after_reader));
        check_after(from_device(out), work(after_out));
    }
    if (one_device()) /* Elsewhere it is another copy, and all of that is overwritten. */
        check_after(work(after_reader), work(after_writer));
    begin(true);
    uint64_t in = htd();
    uint64_t after_in = k_writes(0);
    finish();
    check_data();
    if (one_device())
        check_after(to_device(in), work(after_in));
}

/* H reads x: waits for H writes x and DTH x; not for kernels that read. */
static void h_reads_x(void **state)
{
    (void)state;
    begin(true);
    uint64_t writer = h_writes(task_ms);
    uint64_t reader = h_reads(0);
    finish();
    check_after(work(writer), work(reader));
    check_seen(x_value);
    uint64_t kernel = k_writes(proof_spin());
    uint64_t out = dth();
    uint64_t after_out = h_reads(0);
    finish();
    check_after(work(kernel), from_device(out));
    check_after(from_device(out), work(after_out));
    check_seen(x_value);
    uint64_t long_reader = k_reads(0, proof_spin());
    uint64_t meanwhile = h_reads(0);
    finish();
    check_free(work(long_reader), work(meanwhile));
    check_seen(x_value);
    check_data();
}

/* H writes x: waits for H reads x, H writes x, HTD x and DTH x, on whichever device; not for kernels that read. */
static void h_writes_x(void **state)
{
    (void)state;
    begin(true);
    cl_int old = x_value;
    uint64_t reader = h_reads(task_ms);
    uint64_t after_reader = h_writes(task_ms);
    uint64_t after_writer = h_writes(0);
    uint64_t in = htd();
    uint64_t kernel = k_reads(0, proof_spin());
    uint64_t after_in = h_writes(0);
    finish();
    check_after(work(reader), work(after_reader));
    check_seen(old);
    check_after(work(after_reader), work(after_writer));
    check_after(to_device(in), work(after_in));
    check_free(work(kernel), work(after_in));
    check_data();
    uint64_t writer = k_writes(proof_spin());
    uint64_t out = dth();
    uint64_t after_out = h_writes(0);
    finish();
    check_after(work(writer), from_device(out));
    check_after(from_device(out), work(after_out));
    check_data();
}

/* HTD x: waits for K reads x and K writes x of the same device, and for H writes x and DTH x. */
static void htd_x(void **state)
{
    (void)state;
    begin(false);
    k_reads(1, 0);
    uint64_t reader = k_reads(0, proof_spin());
    uint64_t writer = h_writes(task_ms);
    uint64_t in = htd();
    finish();
    if (one_device())
        check_after(work(reader), to_device(in));
    check_after(work(writer), to_device(in));
    check_data();
    uint64_t kernel = k_writes(proof_spin());
    uint64_t out = dth();
    uint64_t task_between = h_writes(0);
    uint64_t in_again = htd();
    finish();
    check_after(work(kernel), to_device(in_again));
    check_after(from_device(out), to_device(in_again));
    check_after(work(task_between), to_device(in_again));
    check_data();
}

/* DTH x: waits for K writes x and HTD x of the same device, and for H reads x and H writes x. */
static void dth_x(void **state)
{
    (void)state;
    begin(true);
    cl_int old = x_value;
    uint64_t reader = h_reads(task_ms);
    uint64_t in = htd();
    uint64_t kernel = k_writes(proof_spin());
    uint64_t out = dth();
    finish();
    check_seen(old);
    check_after(work(reader), from_device(out));
    check_after(to_device(in), from_device(out));
    check_after(work(kernel), from_device(out));
    check_data();
    uint64_t writer = h_writes(task_ms);
    k_writes(0);
    uint64_t out_again = dth();
    finish();
    check_after(work(writer), from_device(out_again));
    check_data();
}

static void CL_CALLBACK note_free(cl_mem buffer, void *data)
{
    (void)buffer;
    *(_Atomic uint64_t *)data = proof_now_ns();
}

/* Free x, wait x: after all of them, on every device. */
static void free_x_and_wait_x(void **state)
{
    static _Atomic uint64_t freed;
    uint64_t all[6], waited;

    (void)state;
    freed = 0;
    begin(true);
    cl_mem kept[] = {x, x_read_only, x_host_read_only};
    proof_ok(clSetMemObjectDestructorCallback(x, note_free, (void *)(uintptr_t)&freed));
    all[0] = k_reads(0, proof_spin());
    all[1] = k_writes(proof_spin());
    all[2] = h_reads(task_ms);
    all[3] = h_writes(task_ms);
    all[4] = htd();
    all[5] = k_reads(1, proof_spin());
    for (int i = 2; i >= 0; i--)
        proof_ok(clReleaseMemObject(kept[i]));
    assert_int_equal(freed, 0);
    proof_ok(clFinish(proof.queue));
    waited = proof_now_ns();
    const struct proof_trace *trace = proof_trace(&proof);
    for (int i = 0; i < 200 && !freed; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_not_equal(freed, 0);
    for (int i = 0; i < 6; i++) {
        const struct proof_span *s = i == 4 ? proof_find(trace, "command", all[i], NULL) : work(all[i]);
        assert_true(s->end * 1e3 <= (double)waited);
        assert_true(s->end * 1e3 <= (double)freed + 1e6);
    }
    check_buffer(y[0], y_value[0]);
    check_buffer(y[1], y_value[1]);
}

/* ---- Set-up ------------------------------------------------------------------------------------------------------ */

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    reads = proof_kernel(&proof, "reads");
    writes = proof_kernel(&proof, "writes");
    x = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);
    x_read_only = proof_sub_buffer(x, CL_MEM_READ_ONLY, 0, size);
    x_host_read_only = proof_sub_buffer(x, CL_MEM_HOST_READ_ONLY, 0, size);
    for (int i = 0; i < 2; i++)
        y[i] = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        proof_ok(clReleaseMemObject(y[i]));
    proof_ok(clReleaseKernel(reads));
    proof_ok(clReleaseKernel(writes));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k_reads_x),         cmocka_unit_test(k_writes_x), cmocka_unit_test(h_reads_x),
        cmocka_unit_test(h_writes_x),        cmocka_unit_test(htd_x),      cmocka_unit_test(dth_x),
        cmocka_unit_test(free_x_and_wait_x), /* The last: x is gone afterwards. */
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
