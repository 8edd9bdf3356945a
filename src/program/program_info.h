/*
 * clGetProgramInfo and clGetProgramBuildInfo.
 */
#ifndef TSL_PROGRAM_PROGRAM_INFO_H
#define TSL_PROGRAM_PROGRAM_INFO_H

#include "base/info.h"
#include "program/program.h"

/* May call drivers (binaries). Arrays with one element per device are in the program's order of devices. */
cl_int tsl_program_info(struct tsl_program *program, cl_program_info param, const struct tsl_info *info);

/* device is one of the program's. */
cl_int tsl_program_build_info(struct tsl_program *program, struct tsl_device *device, cl_program_build_info param,
                              const struct tsl_info *info);

#endif
