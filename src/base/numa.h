/*
 * Keeps the host's side of Tesela on one NUMA node (TESELA_CONFIG: NODE <name> <host_numa_node>): its threads and its
 * copies of memory objects. It takes a few system calls and no library. Where the system has no such node, that is
 * logged once and nothing is done.
 */
#ifndef TSL_BASE_NUMA_H
#define TSL_BASE_NUMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The node from now on; -1: any. Call it before the other functions. */
void tsl_numa_set(int node);

/* A thread that is started with these attributes runs on the node's processors. */
void tsl_numa_thread(pthread_attr_t *attributes);

/* Pages of [memory, memory + size) that aren't allocated yet come from the node, as far as it has memory. */
void tsl_numa_memory(void *memory, size_t size);

/* The processors of a node; false if the system has no such node. */
bool tsl_numa_processors(unsigned node, cpu_set_t *set);

/* The node of all these processors, or the node next to a PCI device; -1: several nodes, or unknown. */
int tsl_numa_node_of(const cpu_set_t *processors);
int tsl_numa_node_of_pci(unsigned domain, unsigned bus, unsigned device, unsigned function);

/* Parses a list of processors as the kernel writes it ("0-3,8"); false if it can't be understood. */
bool tsl_numa_read_list(const char *text, cpu_set_t *set);

#endif
