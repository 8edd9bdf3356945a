/* `tesela info --why`: what kept the launches of a program's kernels from being cut, or cut better. */
#ifndef TSL_TOOL_WHY_H
#define TSL_TOOL_WHY_H

/*
 * Tells it of one kernel, or of all (NULL), from a timeline, or from a run of the program that writes one. words: the
 * timeline's path alone, or the program with its arguments; ends with NULL. Returns the tool's exit status: 1 if there
 * is nothing to tell, with a sentence on standard error.
 */
int tsl_why(const char *kernel, char **words);

#endif
