/*
 * Modules of an intermediate language: SPIR-V, of which only the specialization constants are read. The members'
 * compilers judge the rest.
 */
#ifndef TSL_FACTS_IL_H
#define TSL_FACTS_IL_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/* The value of a specialization constant, as the application set it. */
struct tsl_program_special {
    cl_uint id;
    size_t size; /* bytes, as the module has it */
    cl_ulong value;
};

/* A constant that applications may set before a build. */
struct tsl_il_constant {
    struct tsl_program_special special;
    bool is_set;
};

struct tsl_il {
    void *module; /* as the application gave it */
    size_t size;  /* bytes */
    unsigned n_constants;
    struct tsl_il_constant *constants; /* the owner guards their values */
};

/* Do the bytes begin like a module? */
bool tsl_il_is(const void *module, size_t size);

/* A copy of a module for which tsl_il_is said yes; NULL without memory. */
struct tsl_il *tsl_il_create(const void *module, size_t size);
void tsl_il_destroy(struct tsl_il *il); /* NULL allowed */

/* CL_INVALID_SPEC_ID: the module has no such constant; CL_INVALID_VALUE: its size is another, or value is NULL. */
cl_int tsl_il_set(struct tsl_il *il, cl_uint id, size_t size, const void *value);

/* The constants that were set: heap, the caller frees; NULL without memory. */
struct tsl_program_special *tsl_il_specials(const struct tsl_il *il, unsigned *n);

/* The module with these values in it, in this machine's byte order, for compilers that take no others: heap, of the
 * same size, the caller frees; NULL without memory. */
void *tsl_il_with_values(const void *module, size_t size, unsigned n, const struct tsl_program_special *values);

#endif
