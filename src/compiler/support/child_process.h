/*
 * Runs other programs for a build: a linker, a translator. They get files in memory, as /dev/fd/N.
 */
#ifndef KC_SUPPORT_CHILD_PROCESS_H
#define KC_SUPPORT_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

struct kc_bytes {
    void *data; /* heap */
    size_t size;
};

/* A file in memory with these contents, or -1. Without close-on-exec, so that children can open it by its path. */
int kc_memory_file(const void *data, size_t size);

#define KC_PATH_SIZE 32u

/* Writes the file's path to path[KC_PATH_SIZE]; returns path. */
char *kc_path_of(int file, char *path);

/* Runs arguments[0] (an absolute path; NULL ends the list) with an empty environment; its output goes to the file
 * `errors`, or where ours goes (-1). Returns the status as wait does; -1: it can't be started. */
int kc_run_child(char *const *arguments, int errors);

/* Reads all of a file that isn't empty; appends a 0. */
bool kc_read_whole(int file, struct kc_bytes *bytes);

#endif
