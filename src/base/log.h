/*
 * The log: one line on standard error for each message, "tesela: MODULE: LEVEL: text".
 *
 * TESELA_LOG names levels and modules: "info" is for all modules, "graph:debug,tile:info" for some; without it errors
 * are shown and nothing else. When a message is off, tsl_log costs one relaxed load, and its arguments are not
 * evaluated. Takes no lock, so it may be called under any; keeps errno; each line is one write(2), so lines of several
 * threads and processes don't mix. Not for code that a loader's enumeration reaches (see settings.h).
 */
#ifndef TSL_BASE_LOG_H
#define TSL_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum tsl_log_level {
    TSL_LOG_ERROR, /* something the application asked for failed, and the error code alone doesn't say why */
    TSL_LOG_WARN,  /* it works, but probably not as its author meant */
    TSL_LOG_INFO,  /* once per object or decision: members found, programs built, a policy chosen */
    TSL_LOG_DEBUG, /* once per command or more */
    TSL_N_LOG_LEVELS,
};

/* Named like the folders of src/; the drivers of CUDA and the built-in CPU write as "driver". */
enum tsl_log_module {
    TSL_LOG_IN_ICD,
    TSL_LOG_IN_API,
    TSL_LOG_IN_BASE,
    TSL_LOG_IN_DEVICE,
    TSL_LOG_IN_PROGRAM,
    TSL_LOG_IN_TILE,
    TSL_LOG_IN_GRAPH,
    TSL_LOG_IN_PLACE,
    TSL_LOG_IN_DRIVER,
    TSL_LOG_IN_OPENCL,
    TSL_LOG_IN_COMPILER,
    TSL_LOG_IN_TRACE,
    TSL_N_LOG_MODULES,
};

/* Bit module * TSL_N_LOG_LEVELS + level is set if such a message is shown; all are until the settings were read. */
extern _Atomic uint64_t tsl_log_mask;

static inline uint64_t tsl_log_bit(enum tsl_log_module module, enum tsl_log_level level)
{
    return UINT64_C(1) << ((unsigned)module * TSL_N_LOG_LEVELS + (unsigned)level);
}

/* True if a message may be shown. Before the first message it may be true wrongly: use it only to spare work. */
static inline bool tsl_log_on(enum tsl_log_module module, enum tsl_log_level level)
{
    return atomic_load_explicit(&tsl_log_mask, memory_order_relaxed) & tsl_log_bit(module, level);
}

/* tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_DEBUG, "command %u is ready", id): no newline at the end. */
#define tsl_log(module, level, ...)                    \
    do {                                               \
        if (tsl_log_on(module, level)) {               \
            tsl_log_write(module, level, __VA_ARGS__); \
        }                                              \
    } while (0)

/* The same, but only the first time that this place in the code is reached with the message on. */
#define tsl_log_once(module, level, ...)                                                        \
    do {                                                                                        \
        static _Atomic bool said_;                                                              \
        if (tsl_log_on(module, level) && !atomic_load_explicit(&said_, memory_order_relaxed)) { \
            tsl_log_write_once(&said_, module, level, __VA_ARGS__);                             \
        }                                                                                       \
    } while (0)

/* Behind the macros. Reads the settings at the first call, checks again that the message is on, and writes it. */
void tsl_log_write(enum tsl_log_module module, enum tsl_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tsl_log_write_once(_Atomic bool *said, enum tsl_log_module module, enum tsl_log_level level, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/*
 * Parses a TESELA_LOG value: a comma list of LEVEL, "off" or MODULE:LEVEL. A module's own items win over those for all
 * modules, wherever they stand. Former module names are accepted: "core" for base, device and program, "vendor" for
 * opencl, "compile" for compiler. Returns false, and leaves *mask alone, if the text can't be understood.
 */
bool tsl_log_parse(const char *text, uint64_t *mask);

/* Replaces the settings' mask; for tests and for the tool. */
void tsl_log_set(uint64_t mask);

/* What is shown when TESELA_LOG is unset: every module's errors. */
uint64_t tsl_log_default(void);

/* "graph", "debug": the words of TESELA_LOG. */
const char *tsl_log_module_name(enum tsl_log_module module);
const char *tsl_log_level_name(enum tsl_log_level level);

#endif
