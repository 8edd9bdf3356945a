/* A folder like the system's, in which this machine has two NUMA nodes and two devices: f0:00.0 next to node 1, f1:00.0
 * next to node 0. The nodes' processors are two that this process may use, or the same one. */
#ifndef TSL_TESTS_FAKE_NODES_H
#define TSL_TESTS_FAKE_NODES_H

#include "base/numa.h"
#include "test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_nodes {
    char folder[64];
    int processors[2]; /* of each node */
};

static inline void write_fake_file(const struct fake_nodes *nodes, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s%s", nodes->folder, name);
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static inline void choose_fake_processors(struct fake_nodes *nodes)
{
    cpu_set_t allowed;
    int n = 0;

    CPU_ZERO(&allowed);
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &allowed))
            nodes->processors[n++] = i;
    if (n == 1)
        nodes->processors[1] = nodes->processors[0];
}

/* From here to remove_fake_nodes base/numa.c takes the folder for the system. */
static inline void make_fake_nodes(struct fake_nodes *nodes)
{
    char number[16];

    strcpy(nodes->folder, "/tmp/tesela-nodes-XXXXXX");
    assert_non_null(mkdtemp(nodes->folder));
    choose_fake_processors(nodes);
    write_fake_file(nodes, "/sys/devices/system/node/online", "0-1");
    snprintf(number, sizeof number, "%d", nodes->processors[0]);
    write_fake_file(nodes, "/sys/devices/system/node/node0/cpulist", number);
    snprintf(number, sizeof number, "%d", nodes->processors[1]);
    write_fake_file(nodes, "/sys/devices/system/node/node1/cpulist", number);
    write_fake_file(nodes, "/sys/bus/pci/devices/0000:f0:00.0/numa_node", "1");
    write_fake_file(nodes, "/sys/bus/pci/devices/0000:f1:00.0/numa_node", "0");
    tsl_numa_look_in(nodes->folder);
}

static inline void remove_fake_nodes(struct fake_nodes *nodes)
{
    char command[128];

    tsl_numa_look_in("");
    snprintf(command, sizeof command, "rm -r '%s'", nodes->folder);
    assert_int_equal(system(command), 0);
}

/* May the thread run on that processor and no other? */
static inline bool stays_on(pid_t thread, int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    return !sched_getaffinity(thread, sizeof set, &set) && CPU_COUNT(&set) == 1 && CPU_ISSET(processor, &set);
}

#endif
