/* Chance, and what is told of a program. */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t sim_mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void sim_chance(struct sim *sim, unsigned purpose, unsigned number)
{
    sim->random = sim_mix(sim_mix(sim_mix(sim->options.seed) + 16 * sim->number + purpose) + number);
}

uint64_t sim_random(struct sim *sim)
{
    sim->random += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix(sim->random);
}

unsigned sim_pick(struct sim *sim, unsigned n)
{
    return (unsigned)(sim_random(sim) % n);
}

bool sim_once_in(struct sim *sim, unsigned n)
{
    return sim_pick(sim, n) == 0;
}

static char *format_text(const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0)
        abort();
    return text;
}

void sim_rest(void)
{
    static _Thread_local uint64_t n;

    if (sim_mix(++n) % 8 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;

    if (sim->failure)
        return;
    va_start(arguments, format);
    sim->failure = format_text(format, arguments);
    va_end(arguments);
}

void sim_tell(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(format, arguments);
    va_end(arguments);
    if (sim->options.verbose) {
        fprintf(stderr, "%s\n", text);
        fflush(stderr);
    }
    sim->story = realloc(sim->story, sim->story_size + strlen(text) + 2);
    if (!sim->story)
        abort();
    sim->story_size += (size_t)sprintf(sim->story + sim->story_size, "%s\n", text);
    free(text);
}
