/* The windows of launches that ran on fake members, in the order in which their work was done. Kernels' bodies note
 * them. */
#ifndef TSL_TESTS_WINDOWS_RAN_H
#define TSL_TESTS_WINDOWS_RAN_H

#include "driver/fake.h"

#include <string.h>

static struct {
    unsigned member;
    size_t first[3], end[3];
} ran[64];
static unsigned n_ran; /* at most as many as there is room for */

static inline void note(const struct tsl_fake_run *run)
{
    if (n_ran == sizeof ran / sizeof *ran)
        return;
    ran[n_ran].member = run->member;
    memcpy(ran[n_ran].first, run->first, sizeof run->first);
    memcpy(ran[n_ran].end, run->end, sizeof run->end);
    n_ran++;
}

/* Items of dimension 0 that a member ran in windows since `from`. */
static inline size_t items_of(unsigned from, unsigned member)
{
    size_t n = 0;

    for (unsigned i = from; i < n_ran; i++)
        if (ran[i].member == member)
            n += ran[i].end[0] - ran[i].first[0];
    return n;
}

#endif
