/* Inside the generator of random kernels: what it knows while it writes, values, indices and conditions. */
#ifndef TSL_TESTS_RANDOM_VALUE_H
#define TSL_TESTS_RANDOM_VALUE_H

#include "random_kernel.h"

#define MAX_VALUE 400u
#define MAX_NAMES 24u
#define LIMIT     (INT64_C(1) << 30) /* no int leaves that, so that nothing overflows */
#define MAX_COST  160u               /* executions of one statement by a work-item */

/* An int: text that stands anywhere, and what it lies between. */
struct value {
    char text[MAX_VALUE];
    int64_t low, high;
};

struct element {
    const char *type;
    unsigned size;
    enum { WHOLE, PARTS, FIELDS, ARRAY } kind;
};

struct generator {
    uint64_t *state;
    struct random_kernel *kernel;
    char *text;
    size_t size, used;
    struct {
        char name[16];
        int64_t low, high;
    } names[MAX_NAMES];
    unsigned n_names, n_made;
    const struct element *of[2]; /* of a and b */
    struct value pattern[2];     /* where they are mostly written */
    unsigned scale[2];
    unsigned tame; /* of a hundred indices so many are of the pattern */
    unsigned depth, cost, n_statements;
    bool returned; /* some work-items may have ended: no barrier any more */
    bool images;   /* it has some */
};

struct text {
    char text[3 * MAX_VALUE];
};

/* Less than n. */
unsigned rk_chance(struct generator *g, unsigned n);
/* Writes to the kernel. */
void rk_put(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

int64_t rk_least(int64_t a, int64_t b);
int64_t rk_most(int64_t a, int64_t b);

struct value rk_make(int64_t low, int64_t high, const char *format, ...) __attribute__((format(printf, 3, 4)));
struct value rk_number(int64_t n);
struct value rk_add(const struct value *a, const struct value *b);
struct value rk_multiply(const struct value *a, const struct value *b);
/* Global ids of a dimension are less than that. */
int64_t rk_ids(const struct generator *g, unsigned d);
struct value rk_gid(const struct generator *g, unsigned d);
struct value rk_scalar(struct generator *g);
/* From memory: nobody knows it before. */
struct value rk_loaded(struct generator *g, unsigned depth);
struct value rk_expression(struct generator *g, unsigned depth);

/* The same, or something else where it isn't at least 0 and less than n. */
struct value rk_fitted(struct generator *g, struct value index, int64_t n);
/* Where kernels mostly write: each work-item, or each group, its own place. */
struct value rk_pattern(struct generator *g);
/* Of memory `of` (0: a, 1: b) in elements of so many bytes. */
struct value rk_index_of(struct generator *g, unsigned of, unsigned size);

/* Of an image, in dimension d: fitted, or as it comes. */
struct value rk_coordinate(struct generator *g, unsigned depth, unsigned image, unsigned d, bool fitted);

struct text rk_condition(struct generator *g, unsigned depth);

#endif
