#include "tool/intervals.h"

#include <stdlib.h>
#include <string.h>

/* Room grows at powers of two. */
static bool reserve(struct tsl_intervals *set)
{
    struct tsl_interval *grown;

    if (set->n & (set->n - 1))
        return true;
    grown = realloc(set->list, (set->n ? 2 * set->n : 1) * sizeof *grown);
    if (!grown)
        return false;
    set->list = grown;
    return true;
}

bool tsl_intervals_add(struct tsl_intervals *set, uint64_t start_ns, uint64_t end_ns)
{
    struct tsl_interval *last = set->n ? &set->list[set->n - 1] : NULL;

    if (end_ns <= start_ns)
        return true;
    if (last && start_ns <= last->end_ns) {
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return true;
    }
    if (!reserve(set))
        return false;
    set->list[set->n++] = (struct tsl_interval){start_ns, end_ns};
    return true;
}

bool tsl_intervals_unite(struct tsl_intervals *set, const struct tsl_intervals *other)
{
    struct tsl_intervals out = {NULL, 0};
    size_t i = 0, k = 0;

    while (i < set->n || k < other->n) {
        bool mine = k == other->n || (i < set->n && set->list[i].start_ns <= other->list[k].start_ns);
        const struct tsl_interval *next = mine ? &set->list[i++] : &other->list[k++];

        if (!tsl_intervals_add(&out, next->start_ns, next->end_ns)) {
            free(out.list);
            return false;
        }
    }
    free(set->list);
    *set = out;
    return true;
}

uint64_t tsl_intervals_length(const struct tsl_intervals *set)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < set->n; i++)
        ns += set->list[i].end_ns - set->list[i].start_ns;
    return ns;
}

uint64_t tsl_intervals_common(const struct tsl_intervals *a, const struct tsl_intervals *b)
{
    uint64_t ns = 0;

    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const struct tsl_interval *x = &a->list[i], *y = &b->list[k];
        uint64_t start_ns = x->start_ns > y->start_ns ? x->start_ns : y->start_ns;
        uint64_t end_ns = x->end_ns < y->end_ns ? x->end_ns : y->end_ns;

        ns += end_ns > start_ns ? end_ns - start_ns : 0;
        if (x->end_ns < y->end_ns)
            i++;
        else
            k++;
    }
    return ns;
}

size_t tsl_intervals_find(const struct tsl_intervals *set, uint64_t ns)
{
    size_t low = 0, high = set->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (set->list[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A unit becomes busy, or ends. */
struct step {
    uint64_t ns;
    int change;
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->change - y->change;
}

bool tsl_intervals_depth(const struct tsl_unit *units, unsigned n, uint64_t sums[2])
{
    size_t n_steps = 0, at = 0;
    struct step *steps;
    int depth = 0;

    for (unsigned u = 0; u < n; u++)
        n_steps += 2 * units[u].busy.n;
    steps = malloc((n_steps + 1) * sizeof *steps);
    if (!steps)
        return false;
    for (unsigned u = 0; u < n; u++)
        for (size_t i = 0; i < units[u].busy.n; i++) {
            steps[at++] = (struct step){units[u].busy.list[i].start_ns, 1};
            steps[at++] = (struct step){units[u].busy.list[i].end_ns, -1};
        }
    qsort(steps, n_steps, sizeof *steps, compare_steps);
    for (size_t i = 0; i < n_steps; i++) {
        uint64_t ns = i ? steps[i].ns - steps[i - 1].ns : 0;

        sums[0] += depth >= 1 ? ns : 0;
        sums[1] += depth >= 2 ? ns : 0;
        depth += steps[i].change;
    }
    free(steps);
    return true;
}
