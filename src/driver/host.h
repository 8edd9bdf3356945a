/*
 * The host itself as a member: copies and fills between host pointers, done in the caller, so that the graph moves
 * bytes by one table whatever the places are. It is no member of the registry, has no memory of its own (places with
 * mem are refused) and launches nothing.
 */
#ifndef TSL_DRIVER_HOST_H
#define TSL_DRIVER_HOST_H

#include "driver/driver.h"

/* The one host member; its index is UINT_MAX. Never closed. */
struct tsl_member *tsl_host_member(void);

#endif
