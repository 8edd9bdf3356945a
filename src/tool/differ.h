/* Do two runs of a program say the same? */
#ifndef TSL_TOOL_DIFFER_H
#define TSL_TOOL_DIFFER_H

#include <stdbool.h>
#include <stddef.h>

enum tsl_difference {
    TSL_SAME,
    TSL_NUMBERS, /* words are the same, numbers are not */
    TSL_DIFFERENT,
    TSL_UNREADABLE,
};

/* Compares two texts. text: what differs first, for people ("line 3: 41.5 instead of 41.6"); empty if nothing does. */
enum tsl_difference tsl_differ_texts(const char *path, const char *reference, char *text, size_t size);

/* Compares two files byte by byte; in the same way ("from byte 512 on"). */
enum tsl_difference tsl_differ_files(const char *path, const char *reference, char *text, size_t size);

/* Copies a file. False: it can't be read or written; errno says why. */
bool tsl_copy_file(const char *from, const char *to);

#endif
