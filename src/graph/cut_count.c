#include "graph/cut_count.h"

#include "base/log.h"
#include "footprint/cut.h"
#include "graph/command.h"

#include <stdatomic.h>
#include <stdio.h>

static const char *const words[TSL_N_WHOLE_WHYS] = {
    [TSL_WHOLE_ONE_MEMBER] = "one-member", [TSL_WHOLE_SETTING] = "setting",   [TSL_WHOLE_SMALL] = "small",
    [TSL_WHOLE_NO_WINDOWS] = "no-windows", [TSL_WHOLE_PAUSED] = "paused",     [TSL_WHOLE_UNKNOWN] = "unknown",
    [TSL_WHOLE_MEASURED] = "measured",     [TSL_WHOLE_NO_PARTS] = "no-parts", [TSL_WHOLE_UNPAID] = "unpaid",
};

static atomic_ullong n_launches[TSL_N_RUNGS];
static atomic_ullong n_whole[TSL_N_WHOLE_WHYS];
static atomic_ullong n_forbidden[TSL_N_CUT_WHYS]; /* of n_whole[TSL_WHOLE_FORBIDDEN] */

static atomic_ullong n_shares[TSL_MAX_MEMBERS];
static atomic_ullong n_tries;

static void add(atomic_ullong *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void tsl_cut_count(const struct tsl_command *c, enum tsl_rung rung)
{
    add(&n_launches[rung]);
    if (rung != TSL_RUNG_WHOLE)
        return;
    add(&n_whole[c->whole_why]);
    if (c->whole_why == TSL_WHOLE_FORBIDDEN)
        add(&n_forbidden[c->cut_why]);
}

void tsl_cut_count_places(struct tsl_command *c)
{
    if (c->whole_counts && !c->n_more)
        tsl_cut_count(c, TSL_RUNG_WHOLE);
    c->whole_counts = false;
    for (unsigned i = 0; i <= c->n_more; i++) {
        const struct tsl_placement *placement = &tsl_command_share(c, i)->placement;
        add(&n_shares[placement->member]);
        if (placement->try)
            add(&n_tries);
    }
}

const char *tsl_whole_word(enum tsl_whole_why why)
{
    return words[why];
}

/* Adds " 12 few-groups," for one that was met. */
static size_t add_reason(char *text, size_t size, size_t n, atomic_ullong *counter, const char *word)
{
    unsigned long long met = atomic_load(counter);
    if (!met || !word || n >= size)
        return n;
    return n + (size_t)snprintf(text + n, size - n, "%s %llu %s", n ? "," : "", met, word);
}

static void tell_reasons(void)
{
    char text[512] = "";
    size_t n = 0;
    for (unsigned i = 0; i < TSL_N_WHOLE_WHYS; i++)
        n = add_reason(text, sizeof(text), n, &n_whole[i], words[i]);
    for (unsigned i = 0; i < TSL_N_CUT_WHYS; i++)
        n = add_reason(text, sizeof(text), n, &n_forbidden[i], tsl_cut_word(i));
    if (n)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "why launches ran whole:%s", text);
}

static void tell_places(void)
{
    char text[512] = "";
    size_t n = 0;
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        char word[32];
        snprintf(word, sizeof(word), "on member %u", i);
        n = add_reason(text, sizeof(text), n, &n_shares[i], word);
    }
    n = add_reason(text, sizeof(text), n, &n_tries, "of them tries");
    if (n)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "launches and shares that were placed:%s", text);
}

void tsl_cut_tell(void)
{
    tell_places();
    unsigned long long n[TSL_N_RUNGS], all = 0;
    for (unsigned r = 0; r < TSL_N_RUNGS; r++)
        all += n[r] = atomic_load(&n_launches[r]);
    if (!all)
        return;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO,
            "launches that might be cut: %llu were cut exactly, %llu in a domain, %llu by merge, %llu by reduce, "
            "%llu ran whole",
            n[TSL_RUNG_EXACT], n[TSL_RUNG_DOMAIN], n[TSL_RUNG_MERGE], n[TSL_RUNG_REDUCE], n[TSL_RUNG_WHOLE]);
    tell_reasons();
}
