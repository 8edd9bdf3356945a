/* Folders for what the tool writes while a command runs. */
#ifndef TSL_TOOL_SCRATCH_H
#define TSL_TOOL_SCRATCH_H

/* A new folder in TMPDIR, or where that can't be, in /tmp, /var/tmp or /dev/shm (heap). NULL, with a sentence of that
 * command on standard error, if there can't be one. */
char *tsl_scratch_make(const char *command);

/* Removes the folder with all that is in it, and frees the path. NULL allowed. */
void tsl_scratch_remove(char *folder);

#endif
