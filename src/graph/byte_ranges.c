#include "graph/byte_ranges.h"

#include <stdlib.h>
#include <string.h>

void tsl_byte_ranges_finish(struct tsl_byte_ranges *set)
{
    free(set->list);
    *set = (struct tsl_byte_ranges){.n = 0};
}

static bool reserve(struct tsl_byte_ranges *set)
{
    if (set->n < set->capacity)
        return true;
    unsigned capacity = set->capacity ? 2 * set->capacity : 4;
    struct tsl_range *list = realloc(set->list, capacity * sizeof(*list));
    if (!list) {
        set->failed = true;
        return false;
    }
    set->list = list;
    set->capacity = capacity;
    return true;
}

void tsl_byte_ranges_add(struct tsl_byte_ranges *set, uint64_t begin, uint64_t end)
{
    unsigned first = set->n, last;
    if (begin == end || !reserve(set))
        return;
    while (first > 0 && set->list[first - 1].end >= begin)
        first--;
    for (last = first; last < set->n && set->list[last].begin <= end; last++) {
        begin = set->list[last].begin < begin ? set->list[last].begin : begin;
        end = set->list[last].end > end ? set->list[last].end : end;
    }
    memmove(&set->list[first + 1], &set->list[last], (set->n - last) * sizeof(*set->list));
    set->list[first] = (struct tsl_range){begin, end};
    set->n = set->n - (last - first) + 1;
}

void tsl_byte_ranges_add_all(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *other)
{
    set->failed |= other->failed;
    for (unsigned i = 0; i < other->n; i++)
        tsl_byte_ranges_add(set, other->list[i].begin, other->list[i].end);
}

void tsl_byte_ranges_add_without(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *in,
                                 const struct tsl_byte_ranges *out)
{
    unsigned k = 0;
    set->failed |= in->failed || out->failed;
    for (unsigned i = 0; i < in->n; i++) {
        uint64_t begin = in->list[i].begin, end = in->list[i].end;
        while (k < out->n && out->list[k].end <= begin)
            k++;
        for (unsigned o = k; o < out->n && out->list[o].begin < end; o++) {
            if (out->list[o].begin > begin)
                tsl_byte_ranges_add(set, begin, out->list[o].begin);
            begin = out->list[o].end;
        }
        if (begin < end)
            tsl_byte_ranges_add(set, begin, end);
    }
}

void tsl_byte_ranges_add_common(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *a,
                                const struct tsl_byte_ranges *b)
{
    unsigned k = 0;
    set->failed |= a->failed || b->failed;
    for (unsigned i = 0; i < a->n; i++) {
        while (k < b->n && b->list[k].end <= a->list[i].begin)
            k++;
        for (unsigned o = k; o < b->n && b->list[o].begin < a->list[i].end; o++)
            tsl_byte_ranges_add(set, a->list[i].begin > b->list[o].begin ? a->list[i].begin : b->list[o].begin,
                                a->list[i].end < b->list[o].end ? a->list[i].end : b->list[o].end);
    }
}
