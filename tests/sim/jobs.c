#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 64

static struct {
    struct tsl_worker *worker;
    unsigned n_posts;
    bool busy; /* its job is below on the stack */
} workers[MAX_WORKERS];
static unsigned n_workers;

void jobs_forget(void)
{
    n_workers = 0;
    memset(workers, 0, sizeof workers);
}

unsigned jobs_n_workers(void)
{
    return n_workers;
}

void jobs_posted(struct tsl_worker *worker)
{
    unsigned i = 0;

    while (i < n_workers && workers[i].worker != worker)
        i++;
    if (i == MAX_WORKERS)
        abort();
    if (i == n_workers)
        workers[n_workers++].worker = worker;
    workers[i].n_posts++;
}

bool jobs_run(uint64_t first)
{
    for (unsigned k = 0; k < n_workers; k++) {
        unsigned i = (unsigned)((first % n_workers + k) % n_workers);

        if (!workers[i].n_posts || workers[i].busy)
            continue;
        workers[i].n_posts--;
        workers[i].busy = true;
        tsl_worker_step(workers[i].worker);
        workers[i].busy = false;
        return true;
    }
    return false;
}
