/*
 * Inside of programs: shared by program.c and build.c.
 */
#ifndef TSL_CORE_BUILD_H
#define TSL_CORE_BUILD_H

#include "core/program.h"

/* Gives back what a part holds (driver calls) and leaves it unbuilt; what was loaded for it stays. */
void tsl_program_part_clear(struct tsl_program_part *part, struct tsl_member *member);

/* The binaries that were told are those of the build before. */
void tsl_program_forget_binaries_locked(struct tsl_program *program) TSL_REQUIRES(program->lock);

#endif
