/*
 * Where Tesela's library lies: its compiler and its threads' library lie beside it.
 */
#ifndef TSL_BASE_OWN_FILE_H
#define TSL_BASE_OWN_FILE_H

#include <limits.h>
#include <stdbool.h>

/* The file that this code is in, without symbolic links: the library, or a test. False if that can't be known. */
bool tsl_own_file(char path[PATH_MAX]);

/* For the tool, which has the library's code in itself and lies elsewhere: the library's file. Said before any other
 * call. */
void tsl_own_file_is(const char *path);

#endif
