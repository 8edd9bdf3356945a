/* prebuilt.c: binaries that were made before (docs/user/fpga.md). */
#ifndef TSL_OPENCL_PREBUILT_H
#define TSL_OPENCL_PREBUILT_H

#include "opencl/program.h"

/* Is this member's program of source to be looked for among binaries that were made before? It has no
 * compiler, or a line FPGA of TESELA_CONFIG names it. */
bool tsl_opencl_takes_prebuilt(const struct tsl_opencl_member *m);
bool tsl_opencl_has_compiler(const struct tsl_opencl_member *m);
#define TSL_OPENCL_NO_BINARIES \
    "this device has no compiler: set TESELA_BINARIES to the folder that has binaries for it (docs/user/fpga.md)\n"
/* Fills the program with the binaries that are found (docs/user/fpga.md); *log (heap) says where they were looked for.
 * CL_COMPILER_NOT_AVAILABLE: there are none. CL_BUILD_PROGRAM_FAILURE: the device takes none of them. The caller
 * entered the device, and releases what the program holds on an error, too. Blocks on the disk. */
cl_int tsl_opencl_load_prebuilt(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                struct tsl_opencl_program *program, char **log);
/* The same for kernels that are linked (names with ';' between), with CL_LINKER_NOT_AVAILABLE and
 * CL_LINK_PROGRAM_FAILURE. */
cl_int tsl_opencl_link_prebuilt(struct tsl_opencl_member *m, const char *kernels, struct tsl_opencl_program *program,
                                char **log);

#endif
