#include "tool/scratch.h"

#include "tool/child.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

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

/* UINT64_MAX where the file system doesn't tell. */
static uint64_t room_in(const char *folder)
{
    struct statvfs disk;

    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0)
        return UINT64_MAX;
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

/* In the first place that has the room; NULL, and *error is why not in the first one. */
static char *make_in(const char *const *places, size_t n, uint64_t room, int *error)
{
    char *path = NULL;

    for (size_t i = 0; i < n && !path; i++) {
        if (room_in(places[i]) >= room)
            path = make_below(places[i]);
        if (!path && i == 0)
            *error = errno;
    }
    return path;
}

/* Containers with a read-only root have a /dev/shm that can be written, but often no other place, and little room
 * there. */
char *tsl_scratch_make(const char *command, uint64_t room)
{
    const char *set = getenv("TMPDIR"), *first = set && set[0] ? set : "/tmp";
    const char *const places[] = {first, "/tmp", "/var/tmp", "/dev/shm"};
    size_t n = sizeof places / sizeof places[0];
    int error = 0;
    char *path;

    tsl_child_heed_signals(); /* The folder is to be removed before the tool ends. */
    path = make_in(places, n, room, &error);
    if (path)
        return path;
    path = make_in(places, n, 0, &error);
    if (path)
        fprintf(stderr,
                "%s: only %llu KB are free for temporary files (%s), so what the program prints and its timeline may "
                "be lost; TMPDIR names another place\n",
                command, (unsigned long long)room_in(path) >> 10, path);
    else
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
