/* Questions to a member's info whose answers are texts or lists. They call the driver: not under a core lock. */
#ifndef TSL_DRIVER_ASK_H
#define TSL_DRIVER_ASK_H

#include "driver/driver.h"

/* An answer of any size, with a NUL behind it (heap, the caller's); NULL if the member can't tell, or without memory.
 */
void *tsl_member_ask(const struct tsl_member *member, cl_device_info param, size_t *size);

/* A version that stands behind a prefix ("OpenCL C " in "OpenCL C 1.2 vendor's words"); 0 if there is none. */
cl_version tsl_member_version(const struct tsl_member *member, cl_device_info param, const char *prefix);

/* Does it know OpenCL 3.0, which has lists of features and versions? */
bool tsl_member_knows_3(const struct tsl_member *member);

/* Is the feature among CL_DEVICE_OPENCL_C_FEATURES, which members of OpenCL 3.0 have? */
bool tsl_member_lists_feature(const struct tsl_member *member, const char *name);

#define TSL_FEATURE_VARIABLES "__opencl_c_program_scope_global_variables"

/* Has it variables of program scope, by its features or as OpenCL C 2.0 has them? */
bool tsl_member_has_variables(const struct tsl_member *member);

#endif
