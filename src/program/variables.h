/*
 * Inside of programs: a program-scope variable (OpenCL C 3.0, 6.7.1) is in one member's memory, and members don't share
 * it. So a program with such variables runs on one member of each device.
 */
#ifndef TSL_PROGRAM_VARIABLES_H
#define TSL_PROGRAM_VARIABLES_H

#include "program/build.h"

/* Where several members behind one device would have variables of their own, leaves all but one out as if they had
 * failed: the first that has some stays, preferably one with the feature, or one that was built before and isn't built
 * now. Some vendors count constants as variables: if a member with a reliable count has built the program without any,
 * it has none. Calls drivers. */
void tsl_variables_settle(struct tsl_build *build);

#endif
