/* Threads of this process, by their names. */
#ifndef TSL_TESTS_THREAD_NAMES_H
#define TSL_TESTS_THREAD_NAMES_H

#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* So many have names that begin like this. */
static inline unsigned n_threads_called(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned n = 0;

    assert_non_null(tasks);
    while ((entry = readdir(tasks))) {
        char path[300], comm[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(comm, sizeof comm, file))
            n += strncmp(comm, name, strlen(name)) == 0;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return n;
}

#endif
