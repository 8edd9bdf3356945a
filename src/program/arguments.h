/*
 * Private to arguments.c and kernel.c.
 */
#ifndef TSL_PROGRAM_ARGUMENTS_H
#define TSL_PROGRAM_ARGUMENTS_H

#include "program/program.h"

/* n unset arguments, with one reference; NULL without memory. */
struct tsl_args *tsl_args_create(cl_uint n);

/* Another reference to a kernel's arguments, set or not. */
struct tsl_args *tsl_args_share(struct tsl_kernel *kernel);

#endif
