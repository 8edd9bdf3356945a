/*
 * Random programs on real members: one in-order queue, or two that wait for each other by events, with everything that
 * touches memory: kernels on buffers and overlapping sub-buffers, host tasks, reads and writes (also of rectangles)
 * that share the application's memory, copies, fills, maps that stay open while other commands come, migrations. No
 * call blocks where OpenCL allows that. A sequential interpreter checks every byte.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin PROOF_ROUNDS=60 */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread PROOF_ROUNDS=20 */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin PROOF_ROUNDS=8 */
/* any: */
#include "proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { size = 1024, n_buffers = 4, n_areas = 3, n_commands = 80 };

static const char *const source = "kernel void work(global uchar *x, global const uchar *y, uint k)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    x[i] = 5 * x[i] + y[i] + k;\n"
                                  "}\n";

static struct proof proof;
static cl_kernel work;
static size_t align; /* of sub-buffers, in bytes */

/* A buffer, or the application's memory, and what must be in it. */
struct memory {
    unsigned char should[size];
    unsigned char *is; /* an area's memory; of a buffer: where it is mapped, else NULL */
    cl_mem buffer;     /* NULL: an area */
    size_t begin, end; /* what is mapped */
    bool mapped_to_write;
};

static struct memory buffers[n_buffers], areas[n_areas];
static cl_command_queue queues[2];
static unsigned n_queues;
static cl_event last; /* of the command before; ordered by it across the queues */

/* ---- Chance ------------------------------------------------------------------------------------------------------ */

static uint64_t chance;

static unsigned below(size_t n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((chance >> 33) % n);
}

struct range {
    size_t begin, n;
};

static struct range random_range(size_t unit)
{
    size_t begin = below(size / unit) * unit;

    return (struct range){begin, (1 + below((size - begin) / unit)) * unit};
}

/* Buffers that are mapped keep out of other commands' way. */
static struct memory *random_buffer(const struct memory *other_than)
{
    struct memory *m;

    do
        m = &buffers[below(n_buffers)];
    while (m->is || m == other_than);
    return m;
}

/* Memory that a transfer may go to or come from, with `n` bytes behind *offset: an area or what is mapped. */
static struct memory *random_host(size_t n, size_t *offset, bool to_write)
{
    struct memory *m = &buffers[below(n_buffers)];

    if (m->is && m->end - m->begin >= n && (m->mapped_to_write || !to_write)) {
        *offset = m->begin + below(m->end - m->begin - n + 1);
        return m;
    }
    *offset = below(size - n + 1);
    return &areas[below(n_areas)];
}

static unsigned char *host_at(struct memory *m, size_t offset)
{
    return m->buffer ? m->is + (offset - m->begin) : m->is + offset;
}

/* ---- Order: within one queue, or from queue to queue by events --------------------------------------------------- */

struct order {
    cl_command_queue queue;
    cl_uint n;
    cl_event wait;
    cl_event *event;
};

static struct order next_order(void)
{
    struct order o = {.queue = queues[0]};

    if (n_queues == 1)
        return o;
    o.queue = queues[below(n_queues)];
    o.n = last != NULL;
    o.wait = last;
    o.event = &last;
    return o;
}

static const cl_event *list(const struct order *o)
{
    return o->n ? &o->wait : NULL;
}

static void did(const struct order *o, cl_int error)
{
    proof_did(&proof, error);
    if (o->n)
        proof_ok(clReleaseEvent(o->wait));
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static cl_mem part_of(struct memory *m, struct range r, cl_mem_flags flags)
{
    return proof_sub_buffer(m->buffer, flags, r.begin, r.n);
}

static void do_kernel(void)
{
    struct memory *x = random_buffer(NULL), *y = random_buffer(x);
    struct range rx = random_range(align), ry = random_range(align);
    struct order o = next_order();
    cl_uint k = below(256);
    size_t n = rx.n < ry.n ? rx.n : ry.n;
    cl_mem parts[] = {part_of(x, rx, 0), below(2) ? part_of(y, ry, CL_MEM_READ_ONLY) : part_of(y, ry, 0)};

    proof_set(work, 2, parts, 1, &k);
    did(&o, clEnqueueNDRangeKernel(o.queue, work, 1, NULL, &n, NULL, o.n, list(&o), o.event));
    for (int i = 0; i < 2; i++)
        proof_ok(clReleaseMemObject(parts[i]));
    for (size_t i = 0; i < n; i++)
        x->should[rx.begin + i] = (unsigned char)(5 * x->should[rx.begin + i] + y->should[ry.begin + i] + k);
}

struct task {
    unsigned char *bytes;
    size_t n;
    unsigned k;
};

static void change(unsigned char *bytes, size_t n, unsigned k)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(3 * bytes[i] + k);
}

static void CL_CALLBACK run_task(void *args)
{
    struct task *t = args;

    change(t->bytes, t->n, t->k);
}

static void do_task(void)
{
    struct memory *x = random_buffer(NULL);
    struct range r = random_range(align);
    struct order o = next_order();
    struct task t = {.n = r.n, .k = below(256)};
    const void *slot = &t.bytes;
    cl_mem part = part_of(x, r, 0);

    did(&o, clEnqueueNativeKernel(o.queue, run_task, &t, sizeof(t), 1, &part, &slot, o.n, list(&o), o.event));
    proof_ok(clReleaseMemObject(part));
    change(x->should + r.begin, r.n, t.k);
}

static void do_read(void)
{
    struct range r = random_range(1);
    size_t offset;
    struct memory *x = random_buffer(NULL), *host = random_host(r.n, &offset, true);
    struct order o = next_order();

    did(&o,
        clEnqueueReadBuffer(o.queue, x->buffer, CL_FALSE, r.begin, r.n, host_at(host, offset), o.n, list(&o), o.event));
    memcpy(host->should + offset, x->should + r.begin, r.n);
}

static void do_write(void)
{
    struct range r = random_range(1);
    size_t offset;
    struct memory *x = random_buffer(NULL), *host = random_host(r.n, &offset, false);
    struct order o = next_order();

    did(&o, clEnqueueWriteBuffer(o.queue, x->buffer, CL_FALSE, r.begin, r.n, host_at(host, offset), o.n, list(&o),
                                 o.event));
    memcpy(x->should + r.begin, host->should + offset, r.n);
}

static void do_copy(void)
{
    struct range r = random_range(1);
    struct memory *x = random_buffer(NULL), *y = random_buffer(x);
    size_t offset = below(size - r.n + 1);
    struct order o = next_order();

    did(&o, clEnqueueCopyBuffer(o.queue, x->buffer, y->buffer, r.begin, offset, r.n, o.n, list(&o), o.event));
    memcpy(y->should + offset, x->should + r.begin, r.n);
}

static void do_fill(void)
{
    struct memory *x = random_buffer(NULL);
    size_t n_pattern = (size_t)1 << below(8);
    struct range r = random_range(n_pattern);
    unsigned char pattern[128];
    struct order o = next_order();

    for (size_t i = 0; i < n_pattern; i++)
        pattern[i] = (unsigned char)below(256);
    did(&o, clEnqueueFillBuffer(o.queue, x->buffer, pattern, n_pattern, r.begin, r.n, o.n, list(&o), o.event));
    for (size_t i = 0; i < r.n; i++)
        x->should[r.begin + i] = pattern[i % n_pattern];
}

/* ---- Rectangles -------------------------------------------------------------------------------------------------- */

struct rect {
    size_t origin[3], row_pitch, slice_pitch;
};

static size_t at(const struct rect *r, size_t x, size_t y, size_t z)
{
    return (r->origin[2] + z) * r->slice_pitch + (r->origin[1] + y) * r->row_pitch + r->origin[0] + x;
}

/* A box of 1 to 8 bytes, rows and slices anywhere in 1024 bytes of 8 × 11 × 11 at most, by chance without gaps. */
static struct rect random_rect(const size_t region[3])
{
    struct rect r;

    r.row_pitch = region[0] + below(12 - region[0]);
    r.slice_pitch = r.row_pitch * (region[1] + below(9 - region[1]));
    r.origin[0] = below(r.row_pitch - region[0] + 1);
    r.origin[1] = below(r.slice_pitch / r.row_pitch - region[1] + 1);
    r.origin[2] = below(9 - region[2]);
    return r;
}

static void copy_rect(unsigned char *to, const struct rect *t, const unsigned char *from, const struct rect *f,
                      const size_t region[3])
{
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                to[at(t, x, y, z)] = from[at(f, x, y, z)];
}

static void do_rect(void)
{
    const size_t region[3] = {1 + below(8), 1 + below(8), 1 + below(8)};
    const struct rect r = random_rect(region), s = random_rect(region);
    struct memory *x = random_buffer(NULL), *y = random_buffer(x), *area = &areas[below(n_areas)];
    struct order o = next_order();
    unsigned way = below(3);

    if (way == 0) {
        did(&o, clEnqueueReadBufferRect(o.queue, x->buffer, CL_FALSE, r.origin, s.origin, region, r.row_pitch,
                                        r.slice_pitch, s.row_pitch, s.slice_pitch, area->is, o.n, list(&o), o.event));
        copy_rect(area->should, &s, x->should, &r, region);
    } else if (way == 1) {
        did(&o, clEnqueueWriteBufferRect(o.queue, x->buffer, CL_FALSE, r.origin, s.origin, region, r.row_pitch,
                                         r.slice_pitch, s.row_pitch, s.slice_pitch, area->is, o.n, list(&o), o.event));
        copy_rect(x->should, &r, area->should, &s, region);
    } else {
        did(&o, clEnqueueCopyBufferRect(o.queue, x->buffer, y->buffer, r.origin, s.origin, region, r.row_pitch,
                                        r.slice_pitch, s.row_pitch, s.slice_pitch, o.n, list(&o), o.event));
        copy_rect(y->should, &s, x->should, &r, region);
    }
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

static unsigned n_mapped(void)
{
    unsigned n = 0;

    for (int i = 0; i < n_buffers; i++)
        n += buffers[i].is != NULL;
    return n;
}

static void compare(const unsigned char *is, const unsigned char *should, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (is[i] != should[i]) {
            print_error("byte %zu of %s is %u and should be %u\n", i, what, is[i], should[i]);
            fail();
        }
}

/* A map that reads or writes blocks, so that the program can look; one that invalidates is written when complete. */
static void do_map(void)
{
    static const cl_map_flags all_flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                             CL_MAP_WRITE_INVALIDATE_REGION};
    cl_map_flags flags = all_flags[below(4)];
    cl_int error;

    if (n_mapped() == 2)
        return;
    struct memory *x = random_buffer(NULL);
    struct range r = random_range(1);
    struct order o = next_order();
    unsigned char *p =
        clEnqueueMapBuffer(o.queue, x->buffer, CL_TRUE, flags, r.begin, r.n, o.n, list(&o), o.event, &error);
    did(&o, error);
    if (flags != CL_MAP_WRITE_INVALIDATE_REGION)
        compare(p, x->should + r.begin, r.n, "what was mapped");
    x->is = p;
    x->begin = r.begin;
    x->end = r.begin + r.n;
    x->mapped_to_write = flags != CL_MAP_READ;
    if (flags == CL_MAP_WRITE_INVALIDATE_REGION)
        memset(x->should + r.begin, 0x55, r.n);
    if (flags == CL_MAP_WRITE_INVALIDATE_REGION)
        memset(p, 0x55, r.n);
    if (x->mapped_to_write) {
        change(p, r.n, 1);
        change(x->should + r.begin, r.n, 1);
    }
}

static void unmap(struct memory *x)
{
    struct order o = next_order();

    did(&o, clEnqueueUnmapMemObject(o.queue, x->buffer, x->is, o.n, list(&o), o.event));
    x->is = NULL;
}

static void do_unmap(void)
{
    struct memory *x = &buffers[below(n_buffers)];

    if (x->is)
        unmap(x);
}

static void do_migrate(void)
{
    struct memory *x = random_buffer(NULL);
    struct order o = next_order();

    did(&o, clEnqueueMigrateMemObjects(o.queue, 1, &x->buffer, below(2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0, o.n, list(&o),
                                       o.event));
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static void do_something(void)
{
    static void (*const all[])(void) = {do_kernel, do_kernel, do_kernel, do_task,   do_read, do_read,
                                        do_write,  do_write,  do_copy,   do_fill,   do_rect, do_rect,
                                        do_map,    do_unmap,  do_unmap,  do_migrate};

    all[below(sizeof(all) / sizeof(all[0]))]();
}

static void begin_program(unsigned number)
{
    static unsigned char memory[n_areas + 1][size];

    chance = number * 1000003u;
    n_queues = 1 + number % 2;
    last = NULL;
    for (int i = 0; i < n_areas; i++) {
        areas[i] = (struct memory){.is = memory[i]};
        for (int j = 0; j < size; j++)
            areas[i].should[j] = memory[i][j] = (unsigned char)below(256);
    }
    for (int i = 0; i < n_buffers; i++) {
        cl_mem_flags flags = i == 0 ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;

        buffers[i] = (struct memory){0};
        memcpy(buffers[i].should, memory[i % n_areas], size);
        memcpy(memory[n_areas], memory[i % n_areas], i == 0 ? size : 0);
        buffers[i].buffer = proof_buffer(&proof, flags, size, i == 0 ? memory[n_areas] : memory[i % n_areas]);
    }
}

static void check_program(void)
{
    unsigned char bytes[size];
    char what[32];

    for (int i = 0; i < n_buffers; i++)
        if (buffers[i].is)
            unmap(&buffers[i]);
    if (last)
        proof_ok(clReleaseEvent(last));
    for (int i = 0; i < 2; i++)
        proof_ok(clFinish(queues[i]));
    for (int i = 0; i < n_areas; i++) {
        snprintf(what, sizeof(what), "area %d", i);
        compare(areas[i].is, areas[i].should, size, what);
    }
    for (int i = 0; i < n_buffers; i++) {
        snprintf(what, sizeof(what), "buffer %d", i);
        proof_did(&proof, clEnqueueReadBuffer(queues[0], buffers[i].buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL));
        compare(bytes, buffers[i].should, size, what);
        proof_ok(clReleaseMemObject(buffers[i].buffer));
    }
}

static void random_programs(void **state)
{
    const char *rounds = getenv("PROOF_ROUNDS"), *only = getenv("PROOF_ONLY");
    unsigned first = only ? (unsigned)atoi(only) : 1, n = only ? 1 : (unsigned)atoi(rounds ? rounds : "10");

    (void)state;
    for (unsigned number = first; number < first + n; number++) {
        print_message("program %u (again: PROOF_ONLY=%u)\n", number, number);
        begin_program(number);
        for (unsigned turn = 0; turn < n_commands; turn++)
            do_something();
        check_program();
    }
}

static int open_proof(void **state)
{
    cl_uint bits;

    (void)state;
    proof_open(&proof, source);
    work = proof_kernel(&proof, "work");
    proof_ok(clGetDeviceInfo(proof.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits, NULL));
    align = bits / 8;
    proof_must(align <= size / 2);
    for (int i = 0; i < 2; i++)
        queues[i] = proof_queue(&proof, i ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        proof_ok(clReleaseCommandQueue(queues[i]));
    proof_ok(clReleaseKernel(work));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
