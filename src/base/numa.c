#include "base/numa.h"

#include "base/log.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int node = -1;

#define MPOL_PREFERRED 1 /* <linux/mempolicy.h>, which not every system has */

void tsl_numa_set(int number)
{
    atomic_store(&node, number);
}

bool tsl_numa_read_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    while (*text && *text != '\n') {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;

        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
            if (end == text)
                return false;
        }
        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_SET(first, set);
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',' && *end != '\n')
            return false;
    }
    return CPU_COUNT(set) > 0;
}

/* The first line of a file in sysfs; false if it can't be read. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    bool good = file && fgets(line, size, file);

    if (file)
        fclose(file);
    return good;
}

bool tsl_numa_processors(unsigned number, cpu_set_t *set)
{
    char path[80], text[4096];

    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", number);
    return read_line(path, text, sizeof text) && tsl_numa_read_list(text, set);
}

/* The system's nodes, as a set of their numbers. */
static bool read_nodes(cpu_set_t *nodes)
{
    char text[4096];

    return read_line("/sys/devices/system/node/online", text, sizeof text) && tsl_numa_read_list(text, nodes);
}

static int first_of(const cpu_set_t *set)
{
    int i = 0;

    while (!CPU_ISSET(i, set))
        i++;
    return i;
}

int tsl_numa_node_of(const cpu_set_t *processors)
{
    cpu_set_t nodes, of_node, both;

    if (!read_nodes(&nodes) || CPU_COUNT(processors) == 0)
        return -1;
    for (unsigned i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &nodes) || !tsl_numa_processors(i, &of_node))
            continue;
        CPU_AND(&both, &of_node, processors);
        if (CPU_EQUAL(&both, processors))
            return (int)i;
    }
    return -1;
}

/* The kernel says -1 on machines with one node, too. */
int tsl_numa_node_of_pci(unsigned domain, unsigned bus, unsigned device, unsigned function)
{
    char path[80], text[32];
    cpu_set_t nodes;
    long number;

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/numa_node", domain, bus, device, function);
    if (!read_line(path, text, sizeof text))
        return -1;
    number = strtol(text, NULL, 10);
    if (number >= 0)
        return (int)number;
    return read_nodes(&nodes) && CPU_COUNT(&nodes) == 1 ? first_of(&nodes) : -1;
}

static bool processors_of(int number, cpu_set_t *set)
{
    bool good = tsl_numa_processors((unsigned)number, set);

    if (!good)
        tsl_log_once(TSL_LOG_IN_BASE, TSL_LOG_WARN,
                     "TESELA_CONFIG names NUMA node %d for the host, which this system doesn't have: its threads and "
                     "memory may be anywhere",
                     number);
    return good;
}

void tsl_numa_thread(pthread_attr_t *attributes)
{
    int number = atomic_load(&node);
    cpu_set_t set;

    if (number >= 0 && processors_of(number, &set))
        pthread_attr_setaffinity_np(attributes, sizeof set, &set);
}

void tsl_numa_memory(void *memory, size_t size)
{
    int number = atomic_load(&node);
    unsigned long mask[16] = {0}, page = (unsigned long)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page, end = ((uintptr_t)memory + size) / page * page;

    if (number < 0 || (size_t)number >= sizeof mask * 8 || begin >= end)
        return;
    mask[(size_t)number / (8 * sizeof *mask)] = 1ul << ((size_t)number % (8 * sizeof *mask));
    if (syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, mask, sizeof mask * 8, 0))
        tsl_log_once(TSL_LOG_IN_BASE, TSL_LOG_INFO, "memory can't be put on NUMA node %d", number);
}
