#include "base/own_file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static char told[PATH_MAX];

bool tsl_own_file(char path[PATH_MAX])
{
    Dl_info here;

    if (told[0])
        return realpath(told, path) != NULL;
    return dladdr((void *)tsl_own_file, &here) && here.dli_fname && realpath(here.dli_fname, path);
}

void tsl_own_file_is(const char *path)
{
    snprintf(told, sizeof told, "%s", path);
}
