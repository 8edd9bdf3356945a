/*
 * Included before everything in the copy of the core that faults.cmake makes: the fault that is on, and allocations
 * that fail when they are told to. The copy includes each system header that declares an allocation before the names
 * are taken over.
 */
#ifndef TSL_TESTS_BROKEN_H
#define TSL_TESTS_BROKEN_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The number of the fault in faults.cmake's list, from 1; 0: none. */
extern unsigned sim_fault;

/* The allocation of the core that fails, from 1, counted from when this was set; 0: none. */
extern unsigned sim_failing_allocation;
/* So many that follow fail, too. */
extern unsigned sim_failing_more;
/* How many there were since. */
extern unsigned sim_n_allocations;

void *sim_malloc(size_t size);
void *sim_calloc(size_t n, size_t size);
void *sim_realloc(void *old, size_t size);
char *sim_strdup(const char *text);
char *sim_strndup(const char *text, size_t size);
void *sim_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);

#ifndef SIM_OWN_ALLOCATIONS
#undef strdup
#undef strndup
#define malloc(size)                              sim_malloc(size)
#define calloc(n, size)                           sim_calloc(n, size)
#define realloc(old, size)                        sim_realloc(old, size)
#define strdup(text)                              sim_strdup(text)
#define strndup(text, size)                       sim_strndup(text, size)
#define mmap(at, size, prot, flags, file, offset) sim_mmap(at, size, prot, flags, file, offset)
#endif

#endif
