#include "tool/trace_argument.h"

error_t tsl_trace_argument(int key, char *arg, struct argp_state *state, const char **trace)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*trace)
            argp_error(state, "one timeline at a time");
        *trace = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which timeline? `tesela run --trace FILE -- PROGRAM' writes one");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
