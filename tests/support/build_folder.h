/* The build folder, for tests that use other parts of the build. */
#ifndef TSL_TESTS_BUILD_FOLDER_H
#define TSL_TESTS_BUILD_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends the program with a sentence if the folder isn't known, before anything is created. */
static inline const char *build_folder(void)
{
    const char *folder = getenv("TESELA_BUILD");

    if (folder && *folder)
        return folder;
    fputs(
        "TESELA_BUILD isn't set: it names the folder of the build (TESELA_BUILD=build build/tests/…); ctest sets it\n",
        stderr);
    exit(2);
}

/* Writes the kernel compiler's path, of at most size bytes; ends the program if there is none. */
static inline void build_compiler(char *path, size_t size)
{
    snprintf(path, size, "%s/kc/tesela-kc", build_folder());
    if (access(path, X_OK) == 0)
        return;
    fprintf(stderr, "%s isn't there: build it, or set TESELA_BUILD to the folder of a build that has it\n", path);
    exit(2);
}

#endif
