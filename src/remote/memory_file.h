/* Memory that processes of one machine and user have in common: one makes it, as a file without a name and of a size
 * that stays, and tells others how to find it. Those map it by way of /proc, which asks no more than that all are the
 * same user's. A number may mean another process elsewhere (containers), so a token is compared. */
#ifndef TSL_REMOTE_MEMORY_FILE_H
#define TSL_REMOTE_MEMORY_FILE_H

#include "base/bytes.h"

#define TSL_MEMORY_TOKEN_SIZE 16u

/* How it is found: the file /proc/pid/fd/file, which begins with the token. */
struct tsl_memory_file {
    uint32_t pid, file;
    uint8_t token[TSL_MEMORY_TOKEN_SIZE]; /* by chance */
};

void tsl_put_memory_file(struct tsl_writer *writer, const struct tsl_memory_file *is);
/* A failure stays in reader->failed. */
void tsl_get_memory_file(struct tsl_reader *reader, struct tsl_memory_file *is);

/* size: whole pages. is->file is the caller's to close when others have the memory. NULL: none can be had. */
void *tsl_memory_file_make(const char *name, size_t size, struct tsl_memory_file *is);
/* Another's, of that name and size. NULL: it isn't there. */
void *tsl_memory_file_map(const char *name, size_t size, const struct tsl_memory_file *is);

#endif
