/* Which devices the machine has, as the kernel tells, whatever drivers there are. root: a folder that stands for /; "":
 * / itself. Not thread-safe. */
#ifndef TSL_TOOL_HARDWARE_H
#define TSL_TOOL_HARDWARE_H

#include <stdbool.h>

/* Is there a display controller of that vendor on the PCI bus, as sysfs spells it ("0x10de")? Containers see it, too.
 */
bool tsl_has_gpu_of(const char *root, const char *vendor);
#define TSL_PCI_NVIDIA "0x10de"
#define TSL_PCI_AMD    "0x1002"

/* Is an NVIDIA GPU's device file here, whatever libraries there are? */
bool tsl_has_nvidia_files(const char *root);

#endif
