#include "core/numa.h"

#include "core/log.h"

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

bool tsl_numa_processors(unsigned number, cpu_set_t *set)
{
    char path[80], text[4096] = "";
    FILE *file;
    bool good;

    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", number);
    file = fopen(path, "re");
    good = file && fgets(text, sizeof text, file) && tsl_numa_read_list(text, set);
    if (file)
        fclose(file);
    return good;
}

static bool processors_of(int number, cpu_set_t *set)
{
    bool good = tsl_numa_processors((unsigned)number, set);

    if (!good)
        tsl_log_once(TSL_ROOM_CORE, TSL_LOG_WARN,
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
        tsl_log_once(TSL_ROOM_CORE, TSL_LOG_INFO, "memory can't be put on NUMA node %d", number);
}
