/*
 * Writing to files of ours, none of which is worth the application's life: beyond RLIMIT_FSIZE the thread that writes
 * gets SIGXFSZ, which ends the process where nobody handles it. Here it never does.
 * errno is kept.
 */
#ifndef TSL_BASE_FILE_H
#define TSL_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* All of it, or not: 0, or the errno. */
int tsl_file_write(int file, const void *data, size_t size);

/* As posix_fallocate: 0, or the error. */
int tsl_file_claim(int file, uint64_t begin, uint64_t size);

#endif
