#include "tool/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tsl_scratch_make(const char *command)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;

    if (asprintf(&path, "%s/tesela-XXXXXX", folder && folder[0] ? folder : "/tmp") < 0)
        return NULL;
    if (mkdtemp(path))
        return path;
    fprintf(stderr, "%s: %s can't be made (%s); TMPDIR names another place\n", command, path, strerror(errno));
    free(path);
    return NULL;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

void tsl_scratch_remove(char *folder)
{
    if (folder)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
}
