/*
 * Other programs that a build has work done by: a linker, a translator. They get files in memory, as /dev/fd/N.
 */
#ifndef KC_SUPPORT_CHILD_PROCESS_H
#define KC_SUPPORT_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

struct kc_bytes {
    void *data; /* heap */
    size_t size;
};

/* A file in memory with these contents, or -1. It has a name that children can open: no close-on-exec. */
int kc_memory_file(const void *data, size_t size);

#define KC_PATH_SIZE 32u

/* Its name, into path[KC_PATH_SIZE]; returns that. */
char *kc_path_of(int file, char *path);

/* Runs arguments[0] (a whole path; a NULL ends the list) without an environment; what it has to say goes to the file
 * `errors`, or where ours goes (-1). Returns the status as wait has it; -1: it can't be started. */
int kc_run_child(char *const *arguments, int errors);

/* All of a file that isn't empty; behind it there is a 0. */
bool kc_read_whole(int file, struct kc_bytes *bytes);

#endif
