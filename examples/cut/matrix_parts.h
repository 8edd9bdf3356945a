/* The parts of A, B and C that a device has when a sum or a product is cut into blocks of rows. */
#ifndef EXAMPLE_MATRIX_PARTS_H
#define EXAMPLE_MATRIX_PARTS_H

#include "cut/devices.h"
#include "problem/rows.h"

struct matrix_parts {
    cl_mem a[MAX_DEVICES], b[MAX_DEVICES], c[MAX_DEVICES];
};

/* whole_b: each device needs all of B. */
static inline void parts_create(struct matrix_parts *p, const struct units *units, const struct rows *m, bool whole_b)
{
    for (unsigned i = 0; i < units->n; i++) {
        const struct unit *u = &units->at[i];
        size_t n = u->rows.rows;
        p->a[i] = make_part(u, CL_MEM_READ_ONLY, n * m->inner * sizeof(float));
        p->b[i] = make_part(u, CL_MEM_READ_ONLY, (whole_b ? m->inner : n) * m->columns * sizeof(float));
        p->c[i] = make_part(u, CL_MEM_WRITE_ONLY, n * m->columns * sizeof(float));
        set_mem(u->kernel, 0, p->a[i]);
        set_mem(u->kernel, 1, p->b[i]);
        set_mem(u->kernel, 2, p->c[i]);
    }
}

static inline void parts_destroy(struct matrix_parts *p, const struct units *units)
{
    for (unsigned i = 0; i < units->n; i++) {
        clReleaseMemObject(p->a[i]);
        clReleaseMemObject(p->b[i]);
        clReleaseMemObject(p->c[i]);
    }
}

static inline void parts_write(const struct matrix_parts *p, const struct units *units, const struct rows *m,
                               bool whole_b)
{
    for (unsigned i = 0; i < units->n; i++) {
        const struct unit *u = &units->at[i];
        size_t first = u->rows.first, n = u->rows.rows;
        write_part(u, p->a[i], n * m->inner * sizeof(float), m->a + first * m->inner);
        write_part(u, p->b[i], (whole_b ? m->inner : n) * m->columns * sizeof(float),
                   m->b + (whole_b ? 0 : first * m->columns));
    }
    finish_units(units);
}

static inline void parts_read(const struct matrix_parts *p, const struct units *units, struct rows *m)
{
    for (unsigned i = 0; i < units->n; i++)
        read_part(&units->at[i], p->c[i], units->at[i].rows.rows * m->columns * sizeof(float),
                  m->c + units->at[i].rows.first * m->columns);
    finish_units(units);
}

/* Writes, computes and reads e->repetitions times, and tells the times. */
static inline void parts_run(struct example *e, const struct matrix_parts *p, const struct units *units, struct rows *m,
                             bool whole_b)
{
    for (size_t r = 0; again(e, r); r++) {
        double begin = now();
        parts_write(p, units, m, whole_b);
        double written = now();
        for (unsigned i = 0; i < units->n; i++)
            launch_part(&units->at[i], m->columns, units->at[i].rows.rows, TILE);
        finish_units(units);
        double computed = now();
        parts_read(p, units, m);
        report(e, r, now() - begin, computed - written);
    }
}

#endif
