#include "cpu_device/team/team.h"

#include <omp.h>

__attribute__((visibility("default"))) tsl_team_fn tsl_team_run;

unsigned tsl_team_run(unsigned n, void (*work)(void *arg), void *arg)
{
    unsigned got = 0;

    /* For this thread alone: the application's settings are its own. */
    omp_set_dynamic(0);
#pragma omp parallel num_threads(n) shared(got, work, arg)
    {
#pragma omp single nowait
        got = (unsigned)omp_get_num_threads();
        work(arg);
    }
    return got;
}
