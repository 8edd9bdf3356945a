/*
 * Do the device and the host work on the same memory? Every vendor takes CL_MEM_USE_HOST_PTR, and all may copy: the
 * specification makes host and device agree around maps only (OpenCL 3.0, 5.2.1). Where the quirks say that a device
 * has no memory but the host's, it is tried: what the host writes between two commands, without any map, must be what
 * the device reads in the second, and what the device writes must be there for the host when the command is complete.
 * Then fences are all the order that is needed, as between threads.
 */
#include "opencl/member.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define PAGE   4096u
#define ROUNDS 3u

struct trial {
    const struct tsl_opencl_cl *cl;
    cl_command_queue queue;
    cl_mem shared, other; /* of PAGE bytes: the host's memory, and the device's own */
    unsigned char *page;  /* the host's memory */
    unsigned char seen[PAGE];
};

static void set_bytes(unsigned char *bytes, unsigned round)
{
    for (unsigned i = 0; i < PAGE; i++)
        bytes[i] = (unsigned char)(i * 7 + (i >> 8) + 31 * round);
}

static cl_int copy(const struct trial *t, cl_mem from, cl_mem to)
{
    return t->cl->clEnqueueCopyBuffer(t->queue, from, to, 0, 0, PAGE, 0, NULL, NULL);
}

/* Blocks, so all before it in the queue is over. */
static cl_int read_other(struct trial *t)
{
    return t->cl->clEnqueueReadBuffer(t->queue, t->other, CL_TRUE, 0, PAGE, t->seen, 0, NULL, NULL);
}

static bool device_sees(struct trial *t, unsigned round)
{
    set_bytes(t->page, 2 * round);
    return !copy(t, t->shared, t->other) && !read_other(t) && !memcmp(t->seen, t->page, PAGE);
}

static bool host_sees(struct trial *t, unsigned round)
{
    unsigned char written[PAGE];

    set_bytes(written, 2 * round + 1);
    return !t->cl->clEnqueueWriteBuffer(t->queue, t->other, CL_TRUE, 0, PAGE, written, 0, NULL, NULL) &&
           !copy(t, t->other, t->shared) && !read_other(t) && !memcmp(t->page, written, PAGE);
}

static bool try_all(struct trial *t)
{
    bool same = true;

    for (unsigned round = 0; round < ROUNDS && same; round++)
        same = device_sees(t, round) && host_sees(t, round);
    return same;
}

static cl_mem create(const struct tsl_opencl_member *m, cl_mem_flags flags, void *host)
{
    cl_int error;

    return m->cl->clCreateBuffer(m->context, CL_MEM_READ_WRITE | flags, PAGE, host, &error);
}

static bool run(const struct tsl_opencl_member *m, struct trial *t)
{
    cl_int error;
    bool same = false;

    t->cl = m->cl;
    t->queue = m->cl->clCreateCommandQueue(m->context, m->device->id, 0, &error);
    t->shared = create(m, CL_MEM_USE_HOST_PTR, t->page);
    t->other = create(m, 0, NULL);
    if (t->queue && t->shared && t->other)
        same = try_all(t);
    if (t->other)
        m->cl->clReleaseMemObject(t->other);
    if (t->shared)
        m->cl->clReleaseMemObject(t->shared);
    if (t->queue)
        m->cl->clReleaseCommandQueue(t->queue);
    return same;
}

bool tsl_opencl_shares_memory(const struct tsl_opencl_member *m)
{
    struct trial *t;
    bool same;

    if (!m->device->quirks.shares_memory)
        return false;
    t = calloc(1, sizeof(*t));
    if (!t)
        return false;
    t->page = aligned_alloc(PAGE, PAGE);
    same = t->page && run(m, t);
    tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_INFO, "%s %s", m->base.path->id,
            same ? "works on the host's memory" : "was thought to work on the host's memory, but does not");
    free(t->page);
    free(t);
    return same;
}
