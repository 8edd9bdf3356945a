/* Folders that Tesela and vendors write: may they, and are they this user's own? */
#include "tool/findings.h"

#include "base/settings.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LEAST_FREE   (UINT64_C(64) << 20)
#define MOST_ENTRIES 100000u

static const char *owner_name(uid_t owner, char number[24])
{
    const struct passwd *user = getpwuid(owner);

    snprintf(number, 24, "user %u", (unsigned)owner);
    return user ? user->pw_name : number;
}

/* The first entry of a folder, or of folders in it, that is another user's; false: none. */
static bool find_foreign(const char *folder, unsigned depth, unsigned *n, char found[PATH_MAX], uid_t *owner)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    bool is_found = false;

    while (list && !is_found && (entry = readdir(list)) && (*n)++ < MOST_ENTRIES) {
        char path[PATH_MAX];
        struct stat about;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path || lstat(path, &about) != 0)
            continue;
        if (about.st_uid != geteuid()) {
            memcpy(found, path, sizeof path);
            *owner = about.st_uid;
            is_found = true;
        } else if (S_ISDIR(about.st_mode) && depth > 0) {
            is_found = find_foreign(path, depth - 1, n, found, owner);
        }
    }
    if (list)
        closedir(list);
    return is_found;
}

static void check_owners(struct tsl_findings *f, const char *what, const char *folder)
{
    char found[PATH_MAX], number[24], remedy[PATH_MAX + 64];
    unsigned n = 0;
    uid_t owner;

    if (!find_foreign(folder, 3, &n, found, &owner))
        return;
    snprintf(remedy, sizeof remedy, "`sudo chown -R %u %s', or delete it; programs that run by sudo leave such files",
             (unsigned)geteuid(), folder);
    tsl_finding_problem(f, remedy, "%s in %s has files of another user: %s belongs to %s", what, folder, found,
                        owner_name(owner, number));
}

/* The folder itself, or the first one above it that exists. */
static void existing_parent(char *path)
{
    while (access(path, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path) {
            strcpy(path, "/");
            return;
        }
        *slash = '\0';
    }
}

static void check_room(struct tsl_findings *f, const char *what, const char *folder)
{
    struct statvfs disk;

    if (statvfs(folder, &disk) == 0 && disk.f_blocks && (uint64_t)disk.f_bavail * disk.f_frsize < LEAST_FREE)
        tsl_finding_problem(f, "Free some space there, or name another folder with TESELA_CACHE",
                            "%s: the disk of %s is full but for %llu MB", what, folder,
                            (unsigned long long)disk.f_bavail * disk.f_frsize >> 20);
}

/* Tried, as rights say nothing of file systems that are read-only or full. errno says why not. */
static bool can_write(const char *folder)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/.tesela-XXXXXX", folder) >= (int)sizeof path || !mkdtemp(path))
        return false;
    rmdir(path);
    return true;
}

/* Without trust in the cache itself its folder of kernels may still be trusted, but not what Tesela learns. */
static void check_own_folder(struct tsl_findings *f, const char *folder, bool has_kernels)
{
    const char *effect = has_kernels || !can_write(folder) ? "it isn't used: kernels are compiled anew each time"
                                                           : "what Tesela learns of kernels' times isn't kept in it";
    struct stat about;
    char number[24], remedy[PATH_MAX + 96];

    if (stat(folder, &about) != 0)
        return;
    if (about.st_uid != geteuid()) {
        snprintf(remedy, sizeof remedy, "`sudo chown -R %u %s', or name another folder with TESELA_CACHE",
                 (unsigned)geteuid(), folder);
        tsl_finding_problem(f, remedy, "the cache %s belongs to %s, so %s", folder, owner_name(about.st_uid, number),
                            effect);
    } else if (about.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(remedy, sizeof remedy, "`chmod go-w %s', or name a folder in it with TESELA_CACHE", folder);
        tsl_finding_problem(f, remedy, "the cache %s may be written by others, so %s", folder, effect);
    }
}

static bool is_foreign(const char *folder)
{
    struct stat about;

    return stat(folder, &about) == 0 && about.st_uid != geteuid();
}

static void check_own_cache(struct tsl_findings *f)
{
    const struct tsl_settings *settings = tsl_settings();
    char parent[PATH_MAX], kernels[PATH_MAX];
    bool foreign;

    if (settings->cache_off)
        tsl_finding_hint(f, "Unset it",
                         "TESELA_CACHE=off: kernels are compiled anew each time, and nothing is learned");
    if (!settings->cache && !settings->cache_off)
        tsl_finding_problem(f, "Set HOME, or TESELA_CACHE to a folder",
                            "neither HOME nor XDG_CACHE_HOME is set, so kernels are compiled anew each time");
    if (!settings->cache)
        return;
    snprintf(parent, sizeof parent, "%s", settings->cache);
    existing_parent(parent);
    foreign = is_foreign(settings->cache);
    if (!can_write(parent) && !foreign)
        tsl_finding_problem(f, "Name a folder that can be written with TESELA_CACHE",
                            "the cache %s can't be written (%s: %s), so kernels are compiled anew each time",
                            settings->cache, parent, strerror(errno));
    else
        check_room(f, "the cache of kernels", parent);
    snprintf(kernels, sizeof kernels, "%s/kernels", settings->cache);
    check_own_folder(f, settings->cache, false);
    check_own_folder(f, kernels, true);
    check_owners(f, "the cache of kernels", settings->cache);
}

/* The folder that the variable names, or ~/.cache/NAME. */
static void check_other_cache(struct tsl_findings *f, const char *name, const char *variable)
{
    const char *set = getenv(variable), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[PATH_MAX], what[64], remedy[96];

    if (set && set[0])
        snprintf(path, sizeof path, "%s", set);
    else if (cache && cache[0] == '/')
        snprintf(path, sizeof path, "%s/%s", cache, name);
    else if (home && home[0] == '/')
        snprintf(path, sizeof path, "%s/.cache/%s", home, name);
    else
        return;
    snprintf(what, sizeof what, "the cache of %s", name);
    snprintf(remedy, sizeof remedy, "Make it this user's own, delete it, or name another folder with %s", variable);
    if (access(path, F_OK) == 0 && access(path, W_OK | X_OK) != 0)
        tsl_finding_problem(f, remedy, "%s, %s, can't be written (%s)", what, path, strerror(errno));
    check_owners(f, what, path);
}

void tsl_check_caches(struct tsl_findings *f)
{
    check_own_cache(f);
    check_other_cache(f, "pocl", "POCL_CACHE_DIR");
    check_other_cache(f, "mesa_shader_cache", "MESA_SHADER_CACHE_DIR");
}
