/* The driver of the host's own processors. One path, "cpu"; or one for each line CPU of TESELA_CONFIG. docs/dev/cpu.md
 * says how it works. */
#ifndef TSL_CPU_DEVICE_CPU_H
#define TSL_CPU_DEVICE_CPU_H

#include "driver/driver.h"

extern const struct tsl_driver tsl_cpu_driver;

#endif
