/* The built-in CPU as several members, for tests: TESELA_CONFIG with a line for each. */
#ifndef TSL_TESTS_CPU_LINES_H
#define TSL_TESTS_CPU_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char cpu_lines_path[] = "/tmp/tesela_lines_XXXXXX";

static inline void cpu_lines_remove(void)
{
    unlink(cpu_lines_path);
}

/* Where CPU_LINE is set, what a line CPU says: so many members are of it. Before anything is asked of Tesela. Ends the
 * program with a sentence if that can't be. */
static inline void cpu_lines_use(unsigned n)
{
    const char *line = getenv("CPU_LINE");
    char host[256] = "";
    int file, written;

    if (!line)
        return;
    file = mkstemp(cpu_lines_path);
    written = gethostname(host, sizeof(host) - 1) ? -1 : dprintf(file, "NODE %s\n", host);
    for (unsigned i = 0; i < n && written > 0; i++)
        written = dprintf(file, "CPU %s\n", line);
    if (file < 0 || written <= 0) {
        perror(cpu_lines_path);
        exit(2);
    }
    close(file);
    atexit(cpu_lines_remove);
    setenv("TESELA_CONFIG", cpu_lines_path, 1);
}

#endif
