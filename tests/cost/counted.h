/* The core, compiled so that it counts its steps from one basic block to the next. */
#ifndef TSL_TESTS_COUNTED_H
#define TSL_TESTS_COUNTED_H

/* By all threads; exact while there is one. */
extern unsigned long counted_blocks;

#endif
