/* What kernels took on each member. */
#include "place/internal.h"

#include <stdlib.h>
#define HASH_NONFATAL_OOM 1 /* else uthash ends the process when memory is short */
#include <uthash.h>

struct key {
    const void *kernel;
    uint64_t class;
};

struct entry {
    struct key key;
    struct tsl_past past;
    uint64_t used; /* tick of the last use */
    UT_hash_handle hh;
};

struct tsl_history {
    struct entry *entries;
    uint64_t tick;
    double usual_ns[TSL_MAX_MEMBERS];
};

struct tsl_history *tsl_history_create(void)
{
    return calloc(1, sizeof(struct tsl_history));
}

void tsl_history_destroy(struct tsl_history *history)
{
    struct entry *entry, *next;

    if (!history)
        return;
    HASH_ITER(hh, history->entries, entry, next)
    {
        HASH_DEL(history->entries, entry);
        free(entry);
    }
    free(history);
}

size_t tsl_history_classes(const struct tsl_history *history)
{
    return HASH_COUNT(history->entries);
}

static struct key key_of(const void *kernel, uint64_t size)
{
    return (struct key){.kernel = kernel, .class = 63 - (uint64_t)__builtin_clzll(size)};
}

/* A walk over all, but only where programs make new classes without end. */
static void drop_oldest(struct tsl_history *history)
{
    struct entry *oldest = history->entries;

    for (struct entry *entry = oldest; entry; entry = entry->hh.next)
        if (entry->used < oldest->used)
            oldest = entry;
    HASH_DEL(history->entries, oldest);
    free(oldest);
}

static struct entry *add(struct tsl_history *history, const struct key *key)
{
    struct entry *entry = calloc(1, sizeof *entry), *added;

    if (!entry)
        return NULL;
    entry->key = *key;
    if (HASH_COUNT(history->entries) >= TSL_MAX_HISTORY)
        drop_oldest(history);
    HASH_ADD(hh, history->entries, key, sizeof *key, entry);
    HASH_FIND(hh, history->entries, key, sizeof *key, added);
    if (!added) /* uthash had no memory for its table */
        free(entry);
    return added;
}

struct tsl_past *tsl_history_get(struct tsl_history *history, const void *kernel, uint64_t size)
{
    struct key key = key_of(kernel, size);
    struct entry *entry;

    HASH_FIND(hh, history->entries, &key, sizeof key, entry);
    if (!entry)
        entry = add(history, &key);
    if (!entry)
        return NULL;
    entry->used = ++history->tick;
    return &entry->past;
}

/* The first run is often slow (a cold cache, a compiler that finishes its work at the first launch), so the second
 * replaces it; from then on the last few runs count. */
static double mixed(double old, double new, unsigned n_runs)
{
    return n_runs < 2 ? new : old + (new - old) / 4;
}

void tsl_history_add(struct tsl_history *history, unsigned member, const void *kernel, uint64_t size, uint64_t ns)
{
    struct tsl_past *past = tsl_history_get(history, kernel, size);
    double usual = history->usual_ns[member];

    history->usual_ns[member] = usual > 0 ? usual + ((double)ns - usual) / 8 : (double)ns;
    if (!past)
        return;
    past->item_ns[member] = mixed(past->item_ns[member], (double)ns / (double)size, past->n_runs[member]);
    if (past->n_runs[member] < 2)
        past->n_runs[member]++;
}

double tsl_history_usual_ns(const struct tsl_history *history, unsigned member)
{
    return history->usual_ns[member];
}
