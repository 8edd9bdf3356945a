/* The kernel compiler, without which there is no built-in CPU, stands beside the library, which such a test isn't. */
#ifndef TSL_TESTS_FIND_COMPILER_H
#define TSL_TESTS_FIND_COMPILER_H

#include "compile_client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Before members are opened: the one of the folder that TESELA_BUILD names, if it is there. */
static inline void find_compiler(void)
{
    static char path[4096];
    const char *build = getenv("TESELA_BUILD");

    if (build && snprintf(path, sizeof(path), "%s/kc/tesela-kc", build) > 0 && access(path, X_OK) == 0)
        tsl_client_set_program(path, NULL);
}

#endif
