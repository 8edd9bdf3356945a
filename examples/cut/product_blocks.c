/* The product of a long matrix and a square one in blocks of rows, distributed over several devices before it begins:
 * consecutive blocks to each device, or block by block in turn. */
#include "cut/devices.h"
#include "problem/rows.h"

static size_t rows = 100000, inner = 1000, n_blocks = 20;
static const char *how = "cyclic";

static const struct option_row options[] = {{"rows", &rows, NULL, "of A and C"},
                                            {"inner", &inner, NULL, "columns of A, rows and columns of B"},
                                            {"blocks", &n_blocks, NULL, "blocks of rows"},
                                            {"cut", NULL, &how, "block or cyclic"},
                                            {0}};

struct parts {
    cl_mem b[MAX_DEVICES], *a, *c; /* b: one for each device */
};

static void enqueue_block(struct units *units, const struct parts *parts, const struct rows *m, size_t i)
{
    struct unit *u = unit_of(units, how, i, n_blocks);
    struct block block = block_of(m->rows, i, n_blocks);
    write_part(u, parts->a[i], block.rows * m->inner * sizeof(float), m->a + block.first * m->inner);
    set_product(u->kernel, parts->a[i], parts->b[u - units->at], parts->c[i], block.rows);
    set_int(u->kernel, 4, m->inner);
    set_int(u->kernel, 5, m->columns);
    launch_part(u, m->columns, block.rows, TILE);
}

static void run(struct units *units, const struct parts *parts, struct rows *m)
{
    for (unsigned i = 0; i < units->n; i++)
        write_part(&units->at[i], parts->b[i], m->inner * m->columns * sizeof(float), m->b);
    for (size_t i = 0; i < n_blocks; i++)
        enqueue_block(units, parts, m, i);
    for (unsigned i = 0; i < units->n; i++)
        must(clFlush(units->at[i].queue), "clFlush");
    for (size_t i = 0; i < n_blocks; i++) {
        struct block block = block_of(m->rows, i, n_blocks);
        read_part(unit_of(units, how, i, n_blocks), parts->c[i], block.rows * m->columns * sizeof(float),
                  m->c + block.first * m->columns);
    }
    finish_units(units);
}

static void create(struct units *units, struct parts *parts, const struct rows *m)
{
    for (unsigned i = 0; i < units->n; i++)
        parts->b[i] = make_part(&units->at[i], CL_MEM_READ_ONLY, m->inner * m->columns * sizeof(float));
    parts->a = allocate(n_blocks, sizeof(cl_mem));
    parts->c = allocate(n_blocks, sizeof(cl_mem));
    for (size_t i = 0; i < n_blocks; i++) {
        const struct unit *u = unit_of(units, how, i, n_blocks);
        size_t n = block_of(m->rows, i, n_blocks).rows;
        parts->a[i] = make_part(u, CL_MEM_READ_ONLY, n * m->inner * sizeof(float));
        parts->c[i] = make_part(u, CL_MEM_WRITE_ONLY, n * m->columns * sizeof(float));
    }
}

static void destroy(const struct units *units, struct parts *parts)
{
    for (size_t i = 0; i < n_blocks; i++) {
        clReleaseMemObject(parts->a[i]);
        clReleaseMemObject(parts->c[i]);
    }
    for (unsigned i = 0; i < units->n; i++)
        clReleaseMemObject(parts->b[i]);
    free(parts->a);
    free(parts->c);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "The product of a long matrix and a square one, over several devices by hand.",
                        .options = options,
                        .source = plain_product_source,
                        .several = true};
    struct units units;
    struct parts parts;
    struct rows m;
    example_begin(&e, argc, argv);
    if (n_blocks > rows)
        refuse("--blocks", "there are more blocks than rows");
    rows_create(&m, rows, inner, inner);
    open_units(&e, &units, "plain_product");
    create(&units, &parts, &m);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&units, &parts, &m);
        report(&e, r, now() - begin, 0);
    }
    bool right = rows_check_product(&m);
    destroy(&units, &parts);
    close_units(&units);
    rows_destroy(&m);
    return example_end(&e, right, "elements of the product against the host");
}
