#include "base/log.h"

#include "base/file.h"
#include "base/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Longer messages (build logs) are cut: a line must fit one write(2) from the stack. */
#define LINE_SIZE 2048

static const char *const level_names[TSL_N_LOG_LEVELS] = {
    [TSL_LOG_ERROR] = "error",
    [TSL_LOG_WARN] = "warn",
    [TSL_LOG_INFO] = "info",
    [TSL_LOG_DEBUG] = "debug",
};

static const char *const module_names[TSL_N_LOG_MODULES] = {
    [TSL_LOG_IN_ICD] = "icd",       [TSL_LOG_IN_API] = "api",           [TSL_LOG_IN_BASE] = "base",
    [TSL_LOG_IN_DEVICE] = "device", [TSL_LOG_IN_PROGRAM] = "program",   [TSL_LOG_IN_TILE] = "tile",
    [TSL_LOG_IN_GRAPH] = "graph",   [TSL_LOG_IN_PLACE] = "place",       [TSL_LOG_IN_DRIVER] = "driver",
    [TSL_LOG_IN_OPENCL] = "opencl", [TSL_LOG_IN_COMPILER] = "compiler", [TSL_LOG_IN_TRACE] = "trace",
};

#define MODULE(name) (1u << TSL_LOG_IN_##name)

/* Former names of modules, which users' scripts may still use. */
static const struct {
    const char *name;
    unsigned modules;
} old_names[] = {
    {"core", MODULE(BASE) | MODULE(DEVICE) | MODULE(PROGRAM)},
    {"vendor", MODULE(OPENCL)},
    {"compile", MODULE(COMPILER)},
};

/* All bits are set until the settings are read, so that the first message of any kind reads them. */
_Atomic uint64_t tsl_log_mask = UINT64_MAX;

const char *tsl_log_module_name(enum tsl_log_module module)
{
    return module_names[module];
}

const char *tsl_log_level_name(enum tsl_log_level level)
{
    return level_names[level];
}

void tsl_log_set(uint64_t mask)
{
    /* UINT64_MAX means that the settings are not read yet; the bits past the last module have no other use. */
    atomic_store_explicit(&tsl_log_mask, mask & ~(UINT64_C(1) << 63), memory_order_relaxed);
}

/* The settings are read without the log's help: tsl_settings reports its complaints itself. */
static void read_settings(void)
{
    uint64_t unread = UINT64_MAX;
    uint64_t mask = tsl_settings()->log & ~(UINT64_C(1) << 63);

    atomic_compare_exchange_strong_explicit(&tsl_log_mask, &unread, mask, memory_order_relaxed, memory_order_relaxed);
}

/* Keeps a message on one line, whatever it contains. */
static void flatten(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
}

static void write_line(const char *line, size_t length)
{
    tsl_file_write(STDERR_FILENO, line, length);
}

static void write_message(enum tsl_log_module module, enum tsl_log_level level, const char *format, va_list args)
{
    char line[LINE_SIZE];
    int head = snprintf(line, sizeof line, "tesela: %s: %s: ", module_names[module], level_names[level]);
    int body = vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    size_t length = (size_t)head + (body > 0 ? (size_t)body : 0);

    if (length > sizeof line - 1) {
        length = sizeof line - 1;
        memcpy(line + length - 3, "...", 3);
    }
    flatten(line, length);
    line[length] = '\n';
    write_line(line, length + 1);
}

static bool still_on(enum tsl_log_module module, enum tsl_log_level level)
{
    if (atomic_load_explicit(&tsl_log_mask, memory_order_relaxed) == UINT64_MAX)
        read_settings();
    return tsl_log_on(module, level);
}

void tsl_log_write(enum tsl_log_module module, enum tsl_log_level level, const char *format, ...)
{
    int error = errno;
    va_list args;

    if (still_on(module, level)) {
        va_start(args, format);
        write_message(module, level, format, args);
        va_end(args);
    }
    errno = error;
}

void tsl_log_write_once(_Atomic bool *said, enum tsl_log_module module, enum tsl_log_level level, const char *format,
                        ...)
{
    int error = errno;
    va_list args;

    if (still_on(module, level) && !atomic_exchange_explicit(said, true, memory_order_relaxed)) {
        va_start(args, format);
        write_message(module, level, format, args);
        va_end(args);
    }
    errno = error;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* The bits of a module's first n levels. */
static uint64_t levels_bits(size_t n)
{
    return (UINT64_C(1) << n) - 1;
}

/* "warn" gives the bits of error and warn, "off" none. */
static bool parse_level(const char *text, size_t length, uint64_t *bits)
{
    if (is_word(text, length, "off")) {
        *bits = 0;
        return true;
    }
    for (size_t level = 0; level < TSL_N_LOG_LEVELS; level++)
        if (is_word(text, length, level_names[level])) {
            *bits = levels_bits(level + 1);
            return true;
        }
    return false;
}

/* The set of modules that a word names; 0 if it names none. */
static unsigned parse_modules(const char *text, size_t length)
{
    for (unsigned module = 0; module < TSL_N_LOG_MODULES; ++module)
        if (is_word(text, length, module_names[module]))
            return 1u << module;
    for (size_t i = 0; i < sizeof(old_names) / sizeof(old_names[0]); i++)
        if (is_word(text, length, old_names[i].name))
            return old_names[i].modules;
    return 0;
}

struct items {
    uint64_t all; /* levels of the modules that have no item of their own */
    unsigned own; /* set of the modules that have one */
    uint64_t levels[TSL_N_LOG_MODULES];
};

static bool parse_item(const char *item, size_t length, struct items *items)
{
    const char *colon = memchr(item, ':', length);
    unsigned modules;
    uint64_t levels;

    if (!colon)
        return parse_level(item, length, &items->all);
    modules = parse_modules(item, (size_t)(colon - item));
    if (!modules || !parse_level(colon + 1, length - (size_t)(colon + 1 - item), &levels))
        return false;
    items->own |= modules;
    for (unsigned module = 0; module < TSL_N_LOG_MODULES; module++)
        if (modules & (1u << module))
            items->levels[module] = levels;
    return true;
}

static bool parse_items(const char *text, struct items *items)
{
    for (;;) {
        size_t length;

        text += strspn(text, " ,");
        length = strcspn(text, " ,");
        if (length == 0)
            return true;
        if (!parse_item(text, length, items))
            return false;
        text += length;
    }
}

bool tsl_log_parse(const char *text, uint64_t *mask)
{
    struct items items = {.all = levels_bits(TSL_LOG_ERROR + 1)};

    if (!parse_items(text, &items))
        return false;
    *mask = 0;
    for (unsigned module = 0; module < TSL_N_LOG_MODULES; module++)
        *mask |= (items.own & (1u << module) ? items.levels[module] : items.all) << (module * TSL_N_LOG_LEVELS);
    return true;
}

uint64_t tsl_log_default(void)
{
    uint64_t mask = 0;

    tsl_log_parse("error", &mask);
    return mask;
}
