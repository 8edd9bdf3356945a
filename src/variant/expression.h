/*
 * Expressions of variants (docs/user/variants.md): conditions on a launch, and sizes of launches. They compute with the
 * launch's scalars and sizes, in 64 bits, as C does:
 *
 *     n % 64 == 0 && global0 == n && bytes(a) >= 4 * n * n
 *
 * A result that doesn't fit, or a division by zero, makes the whole expression unknown.
 */
#ifndef TSL_VARIANT_EXPRESSION_H
#define TSL_VARIANT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_expression;

/* What names may stand for: arguments of a kernel by their names, and what every launch has. */
struct tsl_expression_names {
    unsigned n;
    const char *const *names; /* of the arguments; NULL or "": it can't be named */
};

struct tsl_expression_value {
    bool known;
    bool real; /* then it is d, else i */
    int64_t i;
    double d;
};

/* What a launch has in their place. */
struct tsl_expression_launch {
    const struct tsl_expression_value *scalars; /* by argument; not known: the argument is no scalar */
    const uint64_t *bytes;                      /* by argument: of its memory; 0: none */
    uint64_t global[3], local[3], offset[3];    /* local 0: left to the device */
};

/* NULL: *why is a sentence (heap; NULL without memory). */
struct tsl_expression *tsl_expression_parse(const char *text, const struct tsl_expression_names *names, char **why);
void tsl_expression_free(struct tsl_expression *expression); /* NULL allowed */

/* False: the value is unknown, or no integer. */
bool tsl_expression_integer(const struct tsl_expression *expression, const struct tsl_expression_launch *launch,
                            int64_t *value);
/* Is it known, and not 0? */
bool tsl_expression_holds(const struct tsl_expression *expression, const struct tsl_expression_launch *launch);

#endif
