/* Folders for what the tool writes while a command runs. */
#ifndef TSL_TOOL_SCRATCH_H
#define TSL_TOOL_SCRATCH_H

#include <stdint.h>

/* Bytes for the timelines of an ordinary program. */
#define TSL_SCRATCH_ROOM (UINT64_C(64) << 20)

/* A new folder in TMPDIR, or where that can't be, in /tmp, /var/tmp or /dev/shm (heap): the first with so many bytes
 * free, else the first. Sentences of that command on standard error say that none has the room, or that there can't be
 * a folder (NULL). */
char *tsl_scratch_make(const char *command, uint64_t room);

/* Removes the folder with all that is in it, and frees the path. NULL allowed. */
void tsl_scratch_remove(char *folder);

#endif
