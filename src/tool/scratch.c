#include "tool/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new folder below that one (heap); NULL with errno set. */
static char *make_below(const char *folder)
{
    char *path = NULL;
    int error;

    if (asprintf(&path, "%s/tesela-XXXXXX", folder) < 0)
        return NULL;
    if (mkdtemp(path))
        return path;
    error = errno;
    free(path);
    errno = error;
    return NULL;
}

/* Containers with a read-only root have a /dev/shm that can be written, but often no other place. */
char *tsl_scratch_make(const char *command)
{
    const char *set = getenv("TMPDIR"), *first = set && set[0] ? set : "/tmp";
    const char *const places[] = {first, "/tmp", "/var/tmp", "/dev/shm"};
    char *path = NULL;
    int error = 0;

    for (size_t i = 0; i < sizeof places / sizeof places[0] && !path; i++) {
        path = make_below(places[i]);
        if (!path && i == 0)
            error = errno;
    }
    if (!path)
        fprintf(stderr, "%s: no temporary folder can be made in %s (%s); TMPDIR names another place\n", command, first,
                strerror(error));
    return path;
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
