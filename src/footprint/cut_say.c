/*
 * Why a launch isn't cut, for people.
 */
#include "footprint/cut.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_PLACE (TSL_FOOTPRINT_MAX_TEXT + 64u)

static const char *const sentences[TSL_N_CUT_WHYS] = {
    [TSL_CUT_OK] = "nothing forbids to cut it",
    [TSL_CUT_NO_FOOTPRINT] = "it is not known what the kernel accesses",
    [TSL_CUT_PRINTS] = "the kernel may call printf",
    [TSL_CUT_PROGRAM_SCOPE] = "the kernel uses program-scope variables that are not constant",
    [TSL_CUT_POINTERS] = "the kernel follows pointers that come out of memory or numbers",
    [TSL_CUT_SPINS] = "a loop of the kernel waits for what other work-groups write",
    [TSL_CUT_VOLATILE] = "the kernel makes volatile accesses to global memory",
    [TSL_CUT_FENCES] = "the kernel has fences or atomic operations of a scope wider than its work-group",
    [TSL_CUT_SVM] = "an argument is shared virtual memory (TESELA_SVM=off reports none to programs)",
    [TSL_CUT_TOO_FEW_GROUPS] = "the launch has too few work-groups",
    [TSL_CUT_NO_MEMORY] = "the host has no memory left to find out",
};

static const char *const words[TSL_N_CUT_WHYS] = {
    [TSL_CUT_OK] = "legal",
    [TSL_CUT_NO_FOOTPRINT] = "no-footprint",
    [TSL_CUT_PRINTS] = "printf",
    [TSL_CUT_PROGRAM_SCOPE] = "program-scope",
    [TSL_CUT_POINTERS] = "pointers",
    [TSL_CUT_SPINS] = "spins",
    [TSL_CUT_VOLATILE] = "volatile",
    [TSL_CUT_FENCES] = "fences",
    [TSL_CUT_SVM] = "svm",
    [TSL_CUT_TOO_FEW_GROUPS] = "few-groups",
    [TSL_CUT_ATOMICS] = "atomics",
    [TSL_CUT_WRITES_UNKNOWN] = "writes-unknown",
    [TSL_CUT_WRITES_MEET] = "writes-meet",
    [TSL_CUT_TOO_LARGE] = "too-large",
    [TSL_CUT_NO_MEMORY] = "no-memory",
    [TSL_CUT_ATOMIC_RESULTS] = "atomic-results",
    [TSL_CUT_ATOMICS_AND_OTHERS] = "atomics-and-others",
    [TSL_CUT_ATOMICS_UNLIKE] = "atomics-unlike",
};

const char *tsl_cut_word(enum tsl_cut_why why)
{
    return words[why];
}

struct argument_name {
    char text[96];
};

/* "argument 1 (out)"; of launches like one that was refused before nobody looks which argument it is */
static struct argument_name name_of(const char *const *names, uint32_t argument)
{
    struct argument_name name = {"an argument"};

    if (argument == TSL_FOOTPRINT_NONE)
        return name;
    if (names && names[argument])
        snprintf(name.text, sizeof(name.text), "argument %" PRIu32 " (%.64s)", argument, names[argument]);
    else
        snprintf(name.text, sizeof(name.text), "argument %" PRIu32, argument);
    return name;
}

/* " (line 14: the index is loaded from memory)", or what of it is known; "" at last. */
static void place_of(const struct tsl_footprint *footprint, uint32_t index, char *text, size_t size)
{
    const struct tsl_access *access;
    char line[32] = "", what[TSL_FOOTPRINT_MAX_TEXT] = "";

    text[0] = 0;
    if (!footprint || index >= footprint->n_accesses)
        return;
    access = &footprint->accesses[index];
    if (access->line)
        snprintf(line, sizeof(line), "line %" PRIu32, access->line);
    if (access->why)
        snprintf(what, sizeof(what), "%s", access->why);
    else if (access->address[0] != TSL_FOOTPRINT_NONE) {
        size_t n = (size_t)snprintf(what, sizeof(what), access->flags & TSL_ACCESS_IMAGE ? "at pixel " : "at byte ");

        tsl_footprint_print_node(footprint, access->address[0], what + n, sizeof(what) - n);
    }
    if (line[0] || what[0])
        snprintf(text, size, " (%s%s%s)", line, line[0] && what[0] ? ": " : "", what);
}

/* The first volatile access; NONE: not known. */
static uint32_t volatile_access(const struct tsl_footprint *footprint)
{
    for (uint32_t i = 0; footprint && i < footprint->n_accesses; i++)
        if (footprint->accesses[i].flags & TSL_ACCESS_VOLATILE && footprint->accesses[i].kind != TSL_ACCESS_ATOMIC)
            return i;
    return TSL_FOOTPRINT_NONE;
}

void tsl_cut_say(const struct tsl_footprint *footprint, const char *const *names, const struct tsl_cut_verdict *verdict,
                 char *text, size_t size)
{
    const struct argument_name name = name_of(names, verdict->argument), other = name_of(names, verdict->other);
    char place[MAX_PLACE];

    place_of(footprint, verdict->why == TSL_CUT_VOLATILE ? volatile_access(footprint) : verdict->access, place,
             sizeof(place));
    if (verdict->why == TSL_CUT_ATOMICS)
        snprintf(text, size, "%s is changed by atomic operations%s", name.text, place);
    else if (verdict->why == TSL_CUT_ATOMIC_RESULTS)
        snprintf(text, size, "%s is changed by atomic operations whose results are used%s", name.text, place);
    else if (verdict->why == TSL_CUT_ATOMICS_AND_OTHERS)
        snprintf(text, size, "%s is changed by atomic operations and accessed in other ways, too%s", name.text, place);
    else if (verdict->why == TSL_CUT_ATOMICS_UNLIKE)
        snprintf(text, size, "%s is changed by atomic operations of which not all are one that commutes%s", name.text,
                 place);
    else if (verdict->why == TSL_CUT_TOO_LARGE)
        snprintf(text, size, "each part of it needs too much of %s at once%s", name.text, place);
    else if (verdict->why == TSL_CUT_WRITES_UNKNOWN)
        snprintf(text, size, "%s is written at places that are not known before the launch%s", name.text, place);
    else if (verdict->why == TSL_CUT_WRITES_MEET && verdict->argument == verdict->other)
        snprintf(text, size, "work-groups may write the same bytes of %s%s", name.text, place);
    else if (verdict->why == TSL_CUT_WRITES_MEET)
        snprintf(text, size, "work-groups may write the same bytes by %s%s and by %s, which lie in one buffer",
                 name.text, place, other.text);
    else
        snprintf(text, size, "%s%s", sentences[verdict->why], place);
}
