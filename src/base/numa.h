/*
 * Where the host's side of Tesela lies on machines with several NUMA nodes (TESELA_CONFIG: NODE <name>
 * <host_numa_node>): its threads and its copies of memory objects stay on that node. A few system calls, no library.
 * Where the system knows no such node it is told once, and nothing is done.
 */
#ifndef TSL_BASE_NUMA_H
#define TSL_BASE_NUMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The node from now on; -1: anywhere. Before the first use of the others. */
void tsl_numa_set(int node);

/* A thread that is started with these attributes runs on the node's processors. */
void tsl_numa_thread(pthread_attr_t *attributes);

/* Pages of [memory, memory + size) that aren't there yet come from the node, as far as it has room. */
void tsl_numa_memory(void *memory, size_t size);

/* Those of a node; false: the system has no such node. */
bool tsl_numa_processors(unsigned node, cpu_set_t *set);

/* The node that all of these processors lie on, or that a PCI device is next to; -1: several, or it can't be told. */
int tsl_numa_node_of(const cpu_set_t *processors);
int tsl_numa_node_of_pci(unsigned domain, unsigned bus, unsigned device, unsigned function);

/* A list of processors as the kernel writes it ("0-3,8"): into set; false if it can't be understood. */
bool tsl_numa_read_list(const char *text, cpu_set_t *set);

#endif
