/* Chains of matrix products on one device, overlapped by hand: writes in a queue of their own, events, two pinned
 * buffers and two sets of matrices in turn. */
#ifndef EXAMPLE_CHAIN_PIPELINE_H
#define EXAMPLE_CHAIN_PIPELINE_H

#include "problem/chains.h"

#include "asynchronous/pinned.h"

struct pipeline {
    cl_command_queue writes;
    cl_kernel product, squares;
    cl_mem c[STAGES], steps[2][STAGES + 1], *sums;
    struct pinned pinned[2];
    cl_event written[2], used[2]; /* used: the first product of the chain has read A */
};

/* Makes A[i], the start of the pipeline's chain k. */
static inline void bring(struct pipeline *p, struct chains *c, size_t k, size_t i)
{
    size_t side = k % 2;
    if (p->written[side])
        must(clWaitForEvents(1, &p->written[side]), "clWaitForEvents");
    forget(&p->written[side]);
    make_start(p->pinned[side].at, &c->each[i]);
    must(clEnqueueWriteBuffer(p->writes, p->steps[side][0], CL_FALSE, 0, c->bytes, p->pinned[side].at,
                              p->used[side] ? 1 : 0, p->used[side] ? &p->used[side] : NULL, &p->written[side]),
         "clEnqueueWriteBuffer");
    must(clFlush(p->writes), "clFlush");
}

/* Of chain i's result, which lies in `side`. */
static inline void norm(const struct example *e, struct pipeline *p, const struct chains *c, size_t side, size_t i)
{
    enqueue_squares(e->queue, p->squares, p->steps[side][STAGES], p->sums[i], c->n, NULL);
    must(clEnqueueReadBuffer(e->queue, p->sums[i], CL_FALSE, 0, SUM_GROUPS * sizeof(float), c->sums + i * SUM_GROUPS, 0,
                             NULL, NULL),
         "clEnqueueReadBuffer");
}

static inline void compute(const struct example *e, struct pipeline *p, const struct chains *c, size_t k, size_t i)
{
    size_t side = k % 2;
    forget(&p->used[side]);
    for (size_t s = 0; s < STAGES; s++) {
        set_product(p->product, p->steps[side][s], p->c[s], p->steps[side][s + 1], c->n);
        launch(e->queue, p->product, c->n, c->n, TILE, s == 0 ? p->written[side] : NULL,
               s == 0 ? &p->used[side] : NULL);
    }
    norm(e, p, c, side, i);
    must(clFlush(e->queue), "clFlush");
}

static inline void write_factors(const struct example *e, struct pipeline *p, const struct chains *c)
{
    for (size_t s = 0; s < STAGES; s++)
        write_all(e->queue, p->c[s], c->bytes, c->c[s]);
}

static inline void create_pipeline(const struct example *e, struct pipeline *p, const struct chains *c)
{
    *p = (struct pipeline){.writes = second_queue(e),
                           .product = make_kernel(e->program, "product"),
                           .squares = make_kernel(e->program, "squares"),
                           .sums = allocate(c->count, sizeof(cl_mem))};
    for (size_t s = 0; s < STAGES; s++)
        p->c[s] = make_buffer(e->context, CL_MEM_READ_ONLY, c->bytes);
    for (size_t i = 0; i < 2 * (STAGES + 1); i++)
        p->steps[i / (STAGES + 1)][i % (STAGES + 1)] = make_buffer(e->context, CL_MEM_READ_WRITE, c->bytes);
    for (size_t i = 0; i < c->count; i++)
        p->sums[i] = make_buffer(e->context, CL_MEM_WRITE_ONLY, SUM_GROUPS * sizeof(float));
    p->pinned[0] = pin(e, c->bytes);
    p->pinned[1] = pin(e, c->bytes);
}

static inline void destroy_pipeline(const struct example *e, struct pipeline *p, const struct chains *c)
{
    for (size_t s = 0; s < STAGES; s++)
        clReleaseMemObject(p->c[s]);
    for (size_t i = 0; i < 2 * (STAGES + 1); i++)
        clReleaseMemObject(p->steps[i / (STAGES + 1)][i % (STAGES + 1)]);
    for (size_t i = 0; i < c->count; i++)
        clReleaseMemObject(p->sums[i]);
    for (int side = 0; side < 2; side++) {
        forget(&p->written[side]);
        forget(&p->used[side]);
        unpin(e, &p->pinned[side]);
    }
    free(p->sums);
    clReleaseKernel(p->product);
    clReleaseKernel(p->squares);
    clReleaseCommandQueue(p->writes);
}

#endif
