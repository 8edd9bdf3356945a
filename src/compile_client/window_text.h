/*
 * What the compiler and the driver of vendors' OpenCL know of kernels of a text for windows (TSL_WIRE_WINDOWS).
 */
#ifndef TSL_COMPILE_CLIENT_WINDOW_TEXT_H
#define TSL_COMPILE_CLIENT_WINDOW_TEXT_H

/* Kernels that ask for more of the launch than global ids have so many parameters more than the application's, each a
 * ulong, behind these. In their order, three each: the first group's ids; numbers of groups, 0 where the vendor chooses
 * the groups' size; global sizes; global offsets. All are the whole launch's. */
#define TSL_WINDOW_PARAMETERS 12u

#endif
