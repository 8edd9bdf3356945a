/*
 * Keeps threads and memory of the host on a NUMA node: what serves a device on the node that the device is next to,
 * without any setting, and all of Tesela's host side on one node where TESELA_CONFIG says so (NODE <name>
 * <host_numa_node>). It takes a few system calls and no library. Where the system refuses them (containers may), that
 * is logged once and nothing is done.
 */
#ifndef TSL_BASE_NUMA_H
#define TSL_BASE_NUMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The node of TESELA_CONFIG from now on; -1: none. Call it before the other functions. */
void tsl_numa_set(int node);

/* Where what serves a device has its place: on the node that is wanted (-1: none), else on the device's (-1: unknown,
 * or no device), which makes a difference where there are several. -1: anywhere. Pure. */
int tsl_numa_home(int wanted, int of_device, unsigned n_nodes);

/* A thread that is started with these attributes runs on the processors of its home, those that this thread may use.
 * of_device: the node of the device that it serves; -1: none. */
void tsl_numa_thread(pthread_attr_t *attributes, int of_device);

/* Pages of [memory, memory + size) that aren't allocated yet come from TESELA_CONFIG's node, as far as it has memory.
 */
void tsl_numa_memory(void *memory, size_t size);

/* What this thread allocates by other libraries until tsl_numa_restore comes from the home, as far as that has memory.
 * A policy that the program has chosen (numactl) stays, unless TESELA_CONFIG names a node. */
struct tsl_numa_policy {
    bool changed;
    int mode;
    unsigned long nodes[16];
};
void tsl_numa_prefer(int of_device, struct tsl_numa_policy *before);
void tsl_numa_restore(const struct tsl_numa_policy *before);

/* The processors of a node; false if the system has no such node. */
bool tsl_numa_processors(unsigned node, cpu_set_t *set);

/* The node of all these processors, or the node next to a PCI device; -1: several nodes, or unknown. */
int tsl_numa_node_of(const cpu_set_t *processors);
int tsl_numa_node_of_pci(unsigned domain, unsigned bus, unsigned device, unsigned function);

/* A bit for each of these processors of a system with n; of more than 64 neighbours share one. Pure. */
uint64_t tsl_numa_bits_of(const cpu_set_t *processors, unsigned n);

/* Parses a list of processors as the kernel writes it ("0-3,8"); false if it can't be understood. */
bool tsl_numa_read_list(const char *text, cpu_set_t *set);

/* For tests: what the system has is read below this folder, which outlives its use; "": the system's own. */
void tsl_numa_look_in(const char *folder);

#endif
