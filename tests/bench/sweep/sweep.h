/*
 * Sweeps: many small kernels, each timed on several platforms in one process, platform by platform in turns. A row's
 * ratio is the time on the first platform by the least time on the others. The rows are printed worst first.
 */
#ifndef TSL_BENCH_SWEEP_H
#define TSL_BENCH_SWEEP_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/* How results are compared. */
enum sweep_check {
    SWEEP_EQUAL,  /* bytes */
    SWEEP_FLOATS, /* floats that differ by a thousandth at most */
    SWEEP_DOUBLES
};

/* What the kernel is given, behind `global const uchar *in, global uchar *out`. */
enum sweep_given {
    SWEEP_BUFFERS, /* nothing else */
    SWEEP_IMAGES   /* `read_only image2d_t, write_only image2d_t`, of 512 x 512 pixels */
};

/* Of these images. */
enum sweep_format {
    SWEEP_RGBA_FLOAT,
    SWEEP_R_FLOAT,
    SWEEP_RGBA_UNORM8,
    SWEEP_R_UNORM8,
    SWEEP_RG_UNORM16,
    SWEEP_FORMATS
};

struct sweep_row {
    char *name;    /* owned */
    char *source;  /* owned: the kernel's text with %s for its name */
    size_t local;  /* the group's size */
    size_t groups; /* 0: as many as the items ask for */
    enum sweep_given given;
    enum sweep_format format;
    enum sweep_check check;
    /* What the kernel should have written; NULL: the platforms' results are compared with each other. out is zero. */
    void (*answer)(const struct sweep_row *row, const unsigned char *in, unsigned char *out, size_t items);
    const void *of;   /* for answer */
    size_t written;   /* bytes of the result for each item; at least one element is compared */
    bool accumulates; /* the result is zero before each run */
};

struct sweep_rows {
    struct sweep_row *list;
    size_t n, room;
};

struct sweep_table {
    const char *name, *what; /* of the program, for --help */
    const char *prelude;     /* text in front of each program */
    size_t multiple;         /* of which the number of items must be one; 0: any */
    /* Appends all rows; wide: also those of widths and types that are left out otherwise. */
    void (*fill)(struct sweep_rows *rows, bool wide);
};

/* A new row with defaults: groups of 64, buffers, bytes compared. name and source are taken. */
struct sweep_row *sweep_add(struct sweep_rows *rows, char *name, char *source);
/* Like sprintf, into new memory. Ends the program where memory lacks. */
char *sweep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The program: parses arguments, runs the rows, prints. Returns the exit status: 1 if a result is wrong. */
int sweep_main(int argc, char **argv, const struct sweep_table *table);

#endif
