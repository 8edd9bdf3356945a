#include "base/numa.h"

#include "base/log.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int node = -1;
static const char *_Atomic root = "";
static atomic_uint n_nodes; /* of the system; 0: not counted yet */

/* <linux/mempolicy.h>, which not every system has */
#define MPOL_DEFAULT   0
#define MPOL_PREFERRED 1

void tsl_numa_set(int number)
{
    atomic_store(&node, number);
}

void tsl_numa_look_in(const char *folder)
{
    atomic_store(&root, folder);
    atomic_store(&n_nodes, 0);
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
static bool read_line(const char *name, char *line, int size)
{
    char path[512];
    FILE *file =
        snprintf(path, sizeof path, "%s%s", atomic_load(&root), name) < (int)sizeof path ? fopen(path, "re") : NULL;
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

uint64_t tsl_numa_bits_of(const cpu_set_t *processors, unsigned n)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, processors))
            bits |= (uint64_t)1 << (n > 64 ? (uint64_t)i * 64 / n : i) % 64;
    return bits;
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

/* ---- Where threads and memory are kept ---- */

static unsigned count_nodes(void)
{
    unsigned n = atomic_load(&n_nodes);
    cpu_set_t nodes;

    if (n == 0) {
        n = read_nodes(&nodes) ? (unsigned)CPU_COUNT(&nodes) : 1;
        atomic_store(&n_nodes, n);
    }
    return n;
}

int tsl_numa_home(int wanted, int of_device, unsigned n_system)
{
    if (wanted >= 0)
        return wanted;
    return n_system > 1 ? of_device : -1;
}

static int home(int of_device)
{
    return tsl_numa_home(atomic_load(&node), of_device, count_nodes());
}

/* Those of the node that this thread may use; where it may use none of them, all if the node was asked for. False:
 * nothing to keep to. */
static bool processors_at(int number, cpu_set_t *set)
{
    bool wanted = atomic_load(&node) >= 0;
    cpu_set_t allowed, both;

    if (!tsl_numa_processors((unsigned)number, set)) {
        if (wanted)
            tsl_log_once(TSL_LOG_IN_BASE, TSL_LOG_WARN,
                         "TESELA_CONFIG names NUMA node %d for the host, which this system doesn't have: its threads "
                         "and memory may be anywhere",
                         number);
        return false;
    }
    CPU_ZERO(&both);
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        CPU_AND(&both, set, &allowed);
    if (CPU_COUNT(&both) > 0)
        *set = both;
    return CPU_COUNT(&both) > 0 || wanted;
}

void tsl_numa_thread(pthread_attr_t *attributes, int of_device)
{
    int number = home(of_device);
    cpu_set_t set;

    if (number >= 0 && processors_at(number, &set))
        pthread_attr_setaffinity_np(attributes, sizeof set, &set);
}

#define LONG_BITS (8 * sizeof(unsigned long))
#define MASK_BITS (8 * sizeof(((struct tsl_numa_policy *)0)->nodes))

/* False: the number is too large. */
static bool set_mask(int number, unsigned long *mask)
{
    if (number < 0 || (size_t)number >= MASK_BITS)
        return false;
    mask[(size_t)number / LONG_BITS] = 1ul << ((size_t)number % LONG_BITS);
    return true;
}

static void say_refused(int number)
{
    tsl_log_once(TSL_LOG_IN_BASE, TSL_LOG_INFO, "memory can't be put on NUMA node %d", number);
}

void tsl_numa_memory(void *memory, size_t size)
{
    int number = atomic_load(&node);
    unsigned long mask[MASK_BITS / LONG_BITS] = {0}, page = (unsigned long)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page, end = ((uintptr_t)memory + size) / page * page;

    if (begin >= end || !set_mask(number, mask))
        return;
    if (syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, mask, MASK_BITS, 0))
        say_refused(number);
}

void tsl_numa_prefer(int of_device, struct tsl_numa_policy *before)
{
    int number = home(of_device);
    unsigned long mask[MASK_BITS / LONG_BITS] = {0};

    *before = (struct tsl_numa_policy){.changed = false};
    if (!set_mask(number, mask))
        return;
    if (syscall(SYS_get_mempolicy, &before->mode, before->nodes, MASK_BITS, NULL, 0))
        say_refused(number);
    else if (before->mode == MPOL_DEFAULT || atomic_load(&node) >= 0)
        before->changed = !syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, MASK_BITS);
}

void tsl_numa_restore(const struct tsl_numa_policy *before)
{
    if (before->changed)
        syscall(SYS_set_mempolicy, before->mode, before->nodes, MASK_BITS);
}
