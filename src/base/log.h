/*
 * The log: one line on standard error for each message, "tesela: ROOM: LEVEL: text".
 *
 * TESELA_LOG names levels and rooms: "info" is for all rooms, "graph:debug,tile:info" for some; without it errors are
 * shown and nothing else. When a message is off, tsl_log costs one relaxed load, and its arguments are not evaluated.
 * Takes no lock, so it may be called under any; keeps errno; each line is one write(2), so lines of several threads
 * and processes don't mix. Not for code that a loader's enumeration reaches (see settings.h).
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

enum tsl_log_room {
    TSL_ROOM_ICD,
    TSL_ROOM_API,
    TSL_ROOM_CORE,
    TSL_ROOM_TILE,
    TSL_ROOM_GRAPH,
    TSL_ROOM_PLACE,
    TSL_ROOM_DRIVER,
    TSL_ROOM_VENDOR,
    TSL_ROOM_COMPILE,
    TSL_ROOM_TRACE,
    TSL_N_ROOMS,
};

/* Bit room * TSL_N_LOG_LEVELS + level is set if such a message is shown; all are until the settings were read. */
extern _Atomic uint64_t tsl_log_mask;

static inline uint64_t tsl_log_bit(enum tsl_log_room room, enum tsl_log_level level)
{
    return UINT64_C(1) << ((unsigned)room * TSL_N_LOG_LEVELS + (unsigned)level);
}

/* May a message be shown? A true may still be wrong before the first message; use it to spare work, no more. */
static inline bool tsl_log_on(enum tsl_log_room room, enum tsl_log_level level)
{
    return atomic_load_explicit(&tsl_log_mask, memory_order_relaxed) & tsl_log_bit(room, level);
}

/* tsl_log(TSL_ROOM_GRAPH, TSL_LOG_DEBUG, "command %u is ready", id): no newline at the end. */
#define tsl_log(room, level, ...)                    \
    do {                                             \
        if (tsl_log_on(room, level)) {               \
            tsl_log_write(room, level, __VA_ARGS__); \
        }                                            \
    } while (0)

/* The same, but only the first time that this place in the code is reached with the message on. */
#define tsl_log_once(room, level, ...)                                                        \
    do {                                                                                      \
        static _Atomic bool said_;                                                            \
        if (tsl_log_on(room, level) && !atomic_load_explicit(&said_, memory_order_relaxed)) { \
            tsl_log_write_once(&said_, room, level, __VA_ARGS__);                             \
        }                                                                                     \
    } while (0)

/* Behind the macros. Reads the settings if nobody has, asks again whether the message is on, and writes it. */
void tsl_log_write(enum tsl_log_room room, enum tsl_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tsl_log_write_once(_Atomic bool *said, enum tsl_log_room room, enum tsl_log_level level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Reads a TESELA_LOG value: a comma list of LEVEL, "off" or ROOM:LEVEL, where the rooms' own items win over those for
 * all rooms wherever they stand. Returns false, and leaves *mask alone, if it can't be understood.
 */
bool tsl_log_parse(const char *text, uint64_t *mask);

/* Replaces what the settings say; for tests and for the tool. */
void tsl_log_set(uint64_t mask);

/* What is shown when TESELA_LOG is unset: every room's errors. */
uint64_t tsl_log_default(void);

/* "graph", "debug": the words of TESELA_LOG. */
const char *tsl_log_room_name(enum tsl_log_room room);
const char *tsl_log_level_name(enum tsl_log_level level);

#endif
