/* The kernels that random programs run on fake members. */
#ifndef TSL_TESTS_KERNELS_H
#define TSL_TESTS_KERNELS_H

/* Gives the fake driver their bodies, which sim_world_source() names. */
void kernels_register(void);

#endif
