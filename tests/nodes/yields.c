/*
 * Before MPI and the C library in the nodes' processes: how often does MPI yield where these look for messages? Each
 * process adds a line to the file NODES_YIELDS at its end: looks, and yields in them.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEN __attribute__((visibility("default")))

static unsigned long n_looks, n_yields;
static _Thread_local bool is_looking;

/* The next library's, as a function of any kind. */
static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
    if (!*(void **)function)
        abort();
}

SEEN int MPI_Improbe(int source, int tag, MPI_Comm comm, int *is, MPI_Message *message, MPI_Status *status)
{
    static int (*improbe)(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *);
    int error;

    if (!improbe)
        find(&improbe, "MPI_Improbe");
    n_looks++;
    is_looking = true;
    error = improbe(source, tag, comm, is, message, status);
    is_looking = false;
    return error;
}

SEEN int sched_yield(void)
{
    static int (*yield)(void);

    if (!yield)
        find(&yield, "sched_yield");
    n_yields += is_looking;
    return yield();
}

/* Some end without what a library could do at the end. */
SEEN int MPI_Finalize(void)
{
    int (*finalize)(void);
    const char *path = getenv("NODES_YIELDS");
    FILE *file = path ? fopen(path, "ae") : NULL;

    if (file) {
        fprintf(file, "%lu looks, %lu yields\n", n_looks, n_yields);
        fclose(file);
    }
    find(&finalize, "MPI_Finalize");
    return finalize();
}
