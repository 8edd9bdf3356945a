/*
 * Inside of programs: variables of program scope (OpenCL C 3.0, 6.7.1) are in one member's memory, and nothing makes
 * those of two members one. So a program that has some runs on one member of each device.
 */
#ifndef TSL_PROGRAM_VARIABLES_H
#define TSL_PROGRAM_VARIABLES_H

#include "program/build.h"

/* Leaves members out, as if they had failed, where several would have variables of their own behind one device: the
 * first that has some stays, one with the feature if there is one, or one that was built before and isn't built now.
 * Some vendors count what is constant as variables: if a member that knows better has built the program without any, it
 * has none. Calls drivers. */
void tsl_variables_settle(struct tsl_build *build);

#endif
