/* Which physical device is it? The answers by which paths of several vendors are known to be one (driver/members.h). */
#ifndef TSL_VENDOR_IDENTITY_H
#define TSL_VENDOR_IDENTITY_H

#include "driver/driver.h"
#include "vendor/cl.h"

/* Fills *identity. extensions: CL_DEVICE_EXTENSIONS; queries of extensions that it lacks are not made. */
void tsl_vendor_identity(const struct tsl_vendor_cl *cl, cl_device_id device, cl_device_type type,
                         const char *extensions, struct tsl_identity *identity);

/* Is the word in the blank-separated list? */
bool tsl_vendor_has_word(const char *list, const char *word);

#endif
