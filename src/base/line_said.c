#include "base/line_said.h"

#include <stdio.h>
#include <stdlib.h>

void tsl_line_said(void (*say)(void *arg, const char *sentence), void *arg, const char *name, unsigned line,
                   const char *ending, const char *format, va_list args)
{
    char *what = NULL, *sentence = NULL;

    if (vasprintf(&what, format, args) < 0)
        what = NULL;
    if (what && asprintf(&sentence, "%s:%u: %s%s", name, line, what, ending) >= 0) {
        say(arg, sentence);
        free(sentence);
    }
    free(what);
}
