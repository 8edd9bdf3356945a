#include "driver/report.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local const struct tsl_report_sink *sink;

void tsl_driver_report_to(const struct tsl_report_sink *to)
{
    sink = to;
}

void tsl_driver_report_problem(const char *format, ...)
{
    char *sentence = NULL;
    va_list args;
    int size;

    va_start(args, format);
    size = vasprintf(&sentence, format, args);
    va_end(args);
    if (size < 0)
        return;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_WARN, "%s", sentence);
    if (sink)
        sink->problem(sentence);
    else
        free(sentence);
}

void tsl_driver_report_empty(const char *name, const char *why)
{
    char *names, *whys;

    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s: %s", name, why);
    if (!sink)
        return;
    names = strdup(name);
    whys = strdup(why);
    if (names && whys) {
        sink->empty(names, whys);
        return;
    }
    free(names);
    free(whys);
}

void tsl_driver_report_why(const char *format, ...)
{
    char *words = NULL;
    va_list args;
    int size;

    if (!sink)
        return;
    va_start(args, format);
    size = vasprintf(&words, format, args);
    va_end(args);
    if (size >= 0)
        sink->why(words);
}
