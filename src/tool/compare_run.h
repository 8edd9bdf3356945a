/* Running a program in all ways, in turns: what `tesela compare` measures. */
#ifndef TSL_TOOL_COMPARE_RUN_H
#define TSL_TOOL_COMPARE_RUN_H

#include "tool/ways.h"

struct tsl_comparison {
    struct tsl_ways ways;
    char **program;                         /* ends with NULL */
    const char *compared[TSL_MAX_COMPARED]; /* files that the program writes */
    unsigned n_compared;
    bool unwritten[TSL_MAX_COMPARED]; /* no way that ended well wrote the file */
    unsigned rounds;
    unsigned limit_s;
    int reference;       /* the way that the others' output is compared with; -1: none ended well */
    bool varies;         /* the reference's own output differs from run to run ... */
    char how_varies[96]; /* ... and how */
    int unstarted;       /* an errno: the program can't be run at all; 0 */
};

/* First each way once, which warms caches, is traced and compared, and isn't timed; then the rounds. A way that fails
 * isn't run again. */
void tsl_compare_run(struct tsl_comparison *comparison);

#endif
