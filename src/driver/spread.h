/* What drivers share of memory that is spread over members (spread_alloc). */
#ifndef TSL_DRIVER_SPREAD_H
#define TSL_DRIVER_SPREAD_H

#include "driver/member.h"
#include "driver/work.h"

/* Can the request be met, as far as that is seen without asking for memory? Else an error of spread_alloc's, which is
 * CL_DEVICE_NOT_AVAILABLE if a member is lost. *size: bytes of all parts; written on success. */
cl_int tsl_spread_check(const struct tsl_spread_request *request, size_t *size);

#endif
