#include "compile_client/cache.h"

#include "base/file.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUBFOLDER "kernels"

/* An entry: this, the digest of the contents, the contents. */
static const char magic[8] = "TSLC\0\0\0\1";

#define HEADER_SIZE (sizeof(magic) + TSL_DIGEST_SIZE)
#define NAME_SIZE   (2 * TSL_DIGEST_SIZE + 1)

/* How often the folder's size is looked at while as much as the limit is written. */
#define LOOKS 32

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* True if the file is ours and nobody else may write to it. */
static bool is_trusted(int file, mode_t type)
{
    struct stat about;

    return fstat(file, &about) == 0 && (about.st_mode & S_IFMT) == type && about.st_uid == geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Creates the missing parents of a path. */
static void make_parents(const char *path)
{
    char *copy = strdup(path);

    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    free(copy);
}

/* Opens the folder of entries. -1: it doesn't exist and wasn't to be created, or it isn't trusted. */
static int open_folder(const char *cache, bool make)
{
    char *path;
    int folder;

    if (cache[0] != '/' || asprintf(&path, "%s/" SUBFOLDER, cache) < 0)
        return -1;
    if (make) {
        make_parents(path);
        mkdir(path, 0700);
    }
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && !is_trusted(folder, S_IFDIR)) {
        tsl_log_once(TSL_LOG_IN_COMPILER, TSL_LOG_WARN,
                     "%s is left alone, because it isn't this user's own or others may write there", path);
        close(folder);
        folder = -1;
    }
    free(path);
    return folder;
}

static void name_of(const struct tsl_cache_key *key, char name[NAME_SIZE])
{
    for (unsigned i = 0; i < TSL_DIGEST_SIZE; i++)
        snprintf(name + 2 * i, 3, "%02x", key->digest[i]);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_all(int file, void *data, size_t size)
{
    for (uint8_t *to = data; size;) {
        ssize_t n = read(file, to, size);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            to += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static void sum(const void *data, size_t size, uint8_t result[TSL_DIGEST_SIZE])
{
    struct tsl_digest digest;

    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, data, size);
    tsl_digest_end(&digest, result);
}

/* The contents of an open entry (heap); NULL: damaged. */
static void *read_entry(int file, size_t *size)
{
    uint8_t header[HEADER_SIZE], found[TSL_DIGEST_SIZE];
    struct stat about;
    void *data = NULL;

    if (fstat(file, &about) == 0 && about.st_size >= (off_t)HEADER_SIZE && read_all(file, header, HEADER_SIZE) &&
        memcmp(header, magic, sizeof(magic)) == 0) {
        *size = (size_t)about.st_size - HEADER_SIZE;
        data = malloc(*size + 1);
    }
    if (data && read_all(file, data, *size)) {
        sum(data, *size, found);
        if (memcmp(found, header + sizeof(magic), sizeof(found)) == 0)
            return data;
    }
    free(data);
    return NULL;
}

/* Entries are dropped by the time of their last use; a day is exact enough and spares the disk. */
static void touch(int file)
{
    struct stat about;

    if (fstat(file, &about) == 0 && time(NULL) - about.st_mtime > 24 * 3600)
        futimens(file, NULL);
}

void *tsl_cache_get(const char *cache, const struct tsl_cache_key *key, size_t *size)
{
    int folder = open_folder(cache, false), file;
    char name[NAME_SIZE];
    void *data = NULL;

    *size = 0;
    if (folder < 0)
        return NULL;
    name_of(key, name);
    file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && is_trusted(file, S_IFREG)) {
        data = read_entry(file, size);
        touch(file);
        if (!data)
            unlinkat(folder, name, 0);
    }
    if (file >= 0)
        close(file);
    close(folder);
    return data;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static bool write_entry(int file, const void *data, size_t size)
{
    uint8_t digest[TSL_DIGEST_SIZE];

    sum(data, size, digest);
    return !tsl_file_write(file, magic, sizeof(magic)) && !tsl_file_write(file, digest, sizeof(digest)) &&
           !tsl_file_write(file, data, size);
}

/* Writes a file under a temporary name, then renames it: two writers of one entry write the same. */
static bool put(int folder, const char *name, const void *data, size_t size)
{
    static _Atomic unsigned number;
    char aside[64];
    int file;
    bool done;

    snprintf(aside, sizeof(aside), "new-%d-%u-%lx", (int)getpid(), number++, (unsigned long)time(NULL));
    file = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    done = write_entry(file, data, size);
    done &= close(file) == 0;
    if (done && renameat(folder, aside, folder, name) == 0)
        return true;
    unlinkat(folder, aside, 0);
    return false;
}

/* ---- The bound --------------------------------------------------------------------------------------------------- */

struct item {
    char name[NAME_SIZE];
    struct timespec used;
    uint64_t size;
};

static int older_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* All entries and the files that dead writers have left (heap, *n of them), and their bytes in *total. */
static struct item *list(int folder, size_t *n, uint64_t *total)
{
    DIR *files = fdopendir(dup(folder));
    struct item *items = NULL;
    size_t capacity = 0;

    *n = *total = 0;
    if (!files)
        return NULL;
    rewinddir(files);
    for (struct dirent *file; (file = readdir(files));) {
        struct stat about;

        if (strlen(file->d_name) >= NAME_SIZE || fstatat(folder, file->d_name, &about, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(about.st_mode))
            continue;
        if (*n == capacity) {
            struct item *more = realloc(items, (capacity = 2 * capacity + 64) * sizeof(*items));

            if (!more)
                break;
            items = more;
        }
        items[*n] = (struct item){.used = about.st_mtim, .size = (uint64_t)about.st_size};
        strcpy(items[*n].name, file->d_name);
        *total += items[(*n)++].size;
    }
    closedir(files);
    return items;
}

/* Listing twenty thousand entries takes 50 ms. So it is done once for each part (of LOOKS) of the limit that is
 * written, by any process. Keys are as good as random numbers. */
static bool is_time_to_trim(const struct tsl_cache_key *key, uint64_t size, uint64_t limit)
{
    uint64_t random;

    memcpy(&random, key->digest, sizeof(random));
    return random % (limit / LOOKS + 1) <= size;
}

/* Down to three quarters of the limit, so that not every entry causes a trim. */
static void trim(int folder, uint64_t limit)
{
    size_t n;
    uint64_t total;
    struct item *items = list(folder, &n, &total);

    if (total > limit) {
        qsort(items, n, sizeof(*items), older_first);
        for (size_t i = 0; i < n && total > limit / 4 * 3; i++)
            if (unlinkat(folder, items[i].name, 0) == 0)
                total -= items[i].size;
    }
    free(items);
}

void tsl_cache_put(const char *cache, const struct tsl_cache_key *key, const void *data, size_t size, uint64_t limit)
{
    int folder = open_folder(cache, true);
    char name[NAME_SIZE];

    if (folder < 0)
        return;
    name_of(key, name);
    if (HEADER_SIZE + size > limit / 2 || !put(folder, name, data, size))
        tsl_log_once(TSL_LOG_IN_COMPILER, TSL_LOG_INFO, "what was compiled can't be kept in %s", cache);
    else if (is_time_to_trim(key, HEADER_SIZE + size, limit))
        trim(folder, limit / LOOKS * (LOOKS - 1));
    close(folder);
}
