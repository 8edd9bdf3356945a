/*
 * A sentence about a line of a file that the user wrote.
 */
#ifndef TSL_BASE_LINE_SAID_H
#define TSL_BASE_LINE_SAID_H

#include <stdarg.h>

/* Gives "NAME:LINE: WHAT" to say(arg, …), with `ending` behind it; without memory nothing. */
void tsl_line_said(void (*say)(void *arg, const char *sentence), void *arg, const char *name, unsigned line,
                   const char *ending, const char *format, va_list args) __attribute__((format(printf, 6, 0)));

#endif
