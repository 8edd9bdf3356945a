/* What the model knows this process' program by, from run to run. */
#ifndef TSL_PLACE_PROGRAM_KEY_H
#define TSL_PLACE_PROGRAM_KEY_H

#include <stdint.h>

/* Its file with its first argument, which of an interpreter is the script. Reads /proc; without that all programs are
 * one. */
uint64_t tsl_program_key(void);

#endif
