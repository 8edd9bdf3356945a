#include "compiler/support/child_process.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int kc_memory_file(const void *data, size_t size)
{
    int file = memfd_create("tesela-kc", 0);

    while (size && file >= 0) {
        ssize_t n = write(file, data, size);

        if (n < 0 && errno != EINTR) {
            int error = errno;

            close(file);
            errno = error;
            return -1;
        }
        if (n > 0) {
            data = (const char *)data + n;
            size -= (size_t)n;
        }
    }
    return file;
}

char *kc_path_of(int file, char *path)
{
    snprintf(path, KC_PATH_SIZE, "/dev/fd/%d", file);
    return path;
}

int kc_run_child(char *const *arguments, int errors)
{
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if ((errors < 0 || !posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)) &&
        !posix_spawn(&child, arguments[0], &actions, NULL, arguments, environment))
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR) {
                status = -1;
                break;
            }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

bool kc_read_whole(int file, struct kc_bytes *bytes)
{
    struct stat about;

    if (fstat(file, &about) || about.st_size == 0)
        return false;
    *bytes = (struct kc_bytes){calloc(1, (size_t)about.st_size + 1), (size_t)about.st_size};
    if (bytes->data && pread(file, bytes->data, bytes->size, 0) == (ssize_t)bytes->size)
        return true;
    free(bytes->data);
    return false;
}
