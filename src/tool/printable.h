/* What programs print, as part of a sentence on a terminal. */
#ifndef TSL_TOOL_PRINTABLE_H
#define TSL_TOOL_PRINTABLE_H

/* Puts a question mark in the place of each byte that isn't part of a printable character in UTF-8: it may be a command
 * to the terminal, or half of a character that was cut. */
void tsl_make_printable(char *text);

#endif
