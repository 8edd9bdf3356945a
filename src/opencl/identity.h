/* Which physical device is it? The answers by which paths of several vendors are known to be one (members/members.h).
 */
#ifndef TSL_OPENCL_IDENTITY_H
#define TSL_OPENCL_IDENTITY_H

#include "driver/driver.h"
#include "opencl/cl.h"

/* Fills *identity. extensions: CL_DEVICE_EXTENSIONS; queries of extensions that it lacks are not made. */
void tsl_opencl_identity(const struct tsl_opencl_cl *cl, cl_device_id device, cl_device_type type,
                         const char *extensions, struct tsl_identity *identity);

/* Is the word in the blank-separated list? */
bool tsl_opencl_has_word(const char *list, const char *word);

#endif
