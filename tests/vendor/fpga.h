/*
 * A TEST VENDOR: an OpenCL ICD whose devices behave as FPGA boards do, and compute on the host. It is no FPGA, and says
 * nothing about one's speed. Platform "Tesela test FPGA", OpenCL 1.2, two accelerators:
 *
 *   0  a board      takes binaries of mode "hardware"
 *   1  an emulator  takes binaries of mode "emulation"
 *
 * Neither has a compiler. A binary is a text: the line "TESELA TEST FPGA 1", a line "mode NAME", and a line
 * "kernel NAME" for each kernel, which must be one of those of fpga_kernels.c. Host memory at multiples of 64 bytes is
 * what its DMA would take; transfers from and to other addresses are counted apart. Commands begin only when their
 * queue was flushed, work is done by a thread for each device.
 *
 * FPGA_WITHOUT_DEVICES in the environment: the boards are not there.
 *
 * What tests ask it beside OpenCL, by dlsym() in its library:
 */
#ifndef TSL_TESTS_FPGA_H
#define TSL_TESTS_FPGA_H

#include <stdbool.h>

/* Transfers from or to host memory so far: from aligned addresses, from others. */
typedef unsigned fpga_transfers_fn(bool aligned);
/* How often a kernel was run from a binary of this mode. */
typedef unsigned fpga_runs_fn(const char *kernel, const char *mode);
/* Objects of all kinds that are alive. */
typedef unsigned fpga_alive_fn(void);

#endif
