/* The argument of the commands that read one timeline. */
#ifndef TSL_TOOL_TRACE_ARGUMENT_H
#define TSL_TOOL_TRACE_ARGUMENT_H

#include <argp.h>

/* What is left to a parser when its own options are done: takes the timeline's name into *trace, and ends the program
 * with a sentence where there is none or a second one. */
error_t tsl_trace_argument(int key, char *arg, struct argp_state *state, const char **trace);

#endif
