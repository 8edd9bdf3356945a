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

__attribute__((format(printf, 3, 0))) static void say(enum tsl_trouble trouble, enum tsl_log_level level,
                                                      const char *format, va_list args)
{
    char *sentence = NULL;

    if (vasprintf(&sentence, format, args) < 0)
        return;
    tsl_log(TSL_LOG_IN_DRIVER, level, "%s", sentence);
    if (sink)
        sink->problem(trouble, sentence);
    else
        free(sentence);
}

void tsl_driver_report_problem(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(TSL_TROUBLE_OTHER, TSL_LOG_WARN, format, args);
    va_end(args);
}

void tsl_driver_report_trouble(enum tsl_trouble trouble, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(trouble, TSL_LOG_WARN, format, args);
    va_end(args);
}

void tsl_driver_report_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(TSL_TROUBLE_OTHER, TSL_LOG_ERROR, format, args);
    va_end(args);
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
