/*
 * The driver of other nodes' members. Where TESELA_NODES names the socket of a job's head, each member of each node is
 * a path, "remote:NODE.MEMBER"; elsewhere there is none. docs/dev/nodes.md tells how it works.
 */
#ifndef TSL_REMOTE_REMOTE_DRIVER_H
#define TSL_REMOTE_REMOTE_DRIVER_H

#include "driver/driver.h"

extern const struct tsl_driver tsl_remote_driver;

#endif
