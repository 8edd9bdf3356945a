#include "tool/meters.h"

#include "tool/intervals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static bool is_task(const struct tsl_timeline *t, const struct tsl_tl_span *span)
{
    return strcmp(tsl_timeline_text(t, span->name), "native kernel") == 0;
}

/* The unit's kind; false: the span is no unit's work (a command as it was reported, a marker). */
static bool unit_kind(const struct tsl_timeline *t, const struct tsl_tl_span *span, enum tsl_unit_kind *kind)
{
    static const enum tsl_unit_kind kinds[] = {
        [TSL_LANE_MEMBER] = TSL_UNIT_KERNELS, [TSL_LANE_TO] = TSL_UNIT_TO, [TSL_LANE_FROM] = TSL_UNIT_FROM};
    enum tsl_lane_kind lane = t->lanes[span->lane].kind;

    if (span->kind == TSL_SPAN_COMMAND || lane == TSL_LANE_QUEUE ||
        (span->kind == TSL_SPAN_HOST && strcmp(tsl_timeline_text(t, span->name), "mark") == 0))
        return false;
    *kind = lane != TSL_LANE_HOST ? kinds[lane] : is_task(t, span) ? TSL_UNIT_TASKS : TSL_UNIT_COPIES;
    return true;
}

/* Makes a unit for each lane and kind that has work: kernels first, else as the file names the lanes.
 * unit_of[2 * lane + (is it tasks)] is its index. */
static bool make_units(struct tsl_meters *m, uint32_t *unit_of)
{
    const struct tsl_timeline *t = m->timeline;
    unsigned char *kinds = calloc(2 * (size_t)t->n_lanes, 1); /* as unit_of; 1 + the kind, 0: no work */

    m->units = calloc(2 * (size_t)t->n_lanes, sizeof *m->units);
    for (size_t i = 0; kinds && i < t->n_spans; i++) {
        enum tsl_unit_kind kind;

        if (unit_kind(t, &t->spans[i], &kind))
            kinds[2 * t->spans[i].lane + (kind == TSL_UNIT_TASKS)] = (unsigned char)(1 + kind);
    }
    for (unsigned kind = TSL_UNIT_KERNELS; kinds && m->units && kind <= TSL_UNIT_COPIES; kind++) {
        for (unsigned i = 0; i < 2 * t->n_lanes; i++)
            if (kinds[i] == 1 + kind) {
                unit_of[i] = m->n_units;
                m->units[m->n_units++] = (struct tsl_unit){.kind = kind, .lane = i / 2};
            }
        if (kind == TSL_UNIT_KERNELS)
            m->n_members = m->n_units;
    }
    bool good = kinds && m->units;

    free(kinds);
    return good;
}

static struct tsl_unit *unit_of_span(const struct tsl_meters *m, const uint32_t *unit_of,
                                     const struct tsl_tl_span *span)
{
    enum tsl_unit_kind kind;

    if (!unit_kind(m->timeline, span, &kind))
        return NULL;
    return &m->units[unit_of[2 * span->lane + (kind == TSL_UNIT_TASKS)]];
}

/* Spans come in the order of their starts, so each unit's intervals grow at their ends. */
static bool fill_units(struct tsl_meters *m, const uint32_t *unit_of)
{
    const struct tsl_timeline *t = m->timeline;
    uint64_t end_ns = 0;

    m->begin_ns = UINT64_MAX;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tsl_tl_span *span = &t->spans[i];
        struct tsl_unit *unit = unit_of_span(m, unit_of, span);

        if (!unit)
            continue;
        unit->n++;
        unit->bytes += span->bytes;
        unit->n_failed += span->error != 0;
        if (!tsl_intervals_add(&unit->busy, span->start_ns, span->end_ns))
            return false;
        m->begin_ns = span->start_ns < m->begin_ns ? span->start_ns : m->begin_ns;
        end_ns = span->end_ns > end_ns ? span->end_ns : end_ns;
    }
    m->begin_ns = m->begin_ns == UINT64_MAX ? 0 : m->begin_ns;
    m->wall_ns = end_ns > m->begin_ns ? end_ns - m->begin_ns : 0;
    for (unsigned u = 0; u < m->n_units; u++) {
        m->units[u].busy_ns = tsl_intervals_length(&m->units[u].busy);
        if (m->units[u].busy_ns > m->units[m->bottleneck].busy_ns)
            m->bottleneck = u;
    }
    return true;
}

/* ---- Waiting for data -------------------------------------------------------------------------------------------- */

static bool same_member(const struct tsl_meters *m, unsigned lane, const char *member)
{
    const char *of = m->timeline->lanes[lane].member;

    return of && member && strcmp(of, member) == 0;
}

/* Transfers by the commands that they are for, and in the order of their starts. */
struct by_command {
    const struct tsl_tl_span **list;
    size_t n;
};

static int compare_commands(const void *a, const void *b)
{
    const struct tsl_tl_span *x = *(const struct tsl_tl_span *const *)a, *y = *(const struct tsl_tl_span *const *)b;

    if (x->command != y->command)
        return x->command < y->command ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool list_transfers(const struct tsl_timeline *t, struct by_command *out)
{
    out->list = malloc((t->n_spans + 1) * sizeof *out->list);
    out->n = 0;
    if (!out->list)
        return false;
    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].kind == TSL_SPAN_TRANSFER ||
            (t->spans[i].kind == TSL_SPAN_HOST && t->lanes[t->spans[i].lane].kind == TSL_LANE_HOST))
            out->list[out->n++] = &t->spans[i];
    qsort(out->list, out->n, sizeof *out->list, compare_commands);
    return true;
}

static size_t first_of(const struct by_command *transfers, uint32_t command)
{
    size_t low = 0, high = transfers->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (transfers->list[middle]->command < command)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_clipped(struct tsl_intervals *to, const struct tsl_interval *gap, uint64_t start_ns, uint64_t end_ns)
{
    start_ns = start_ns > gap->start_ns ? start_ns : gap->start_ns;
    end_ns = end_ns < gap->end_ns ? end_ns : gap->end_ns;
    return start_ns >= end_ns || tsl_intervals_add(to, start_ns, end_ns);
}

/* What of the gap before a kernel went by while the kernel's own command moved bytes, or something moved bytes to the
 * member (incoming). */
static bool wait_in_gap(struct tsl_unit *unit, const struct tsl_interval *gap, const struct by_command *transfers,
                        uint32_t command, const struct tsl_intervals *incoming)
{
    struct tsl_intervals own = {NULL, 0}, both = {NULL, 0};
    bool good = true;

    for (size_t i = first_of(transfers, command); good && i < transfers->n && transfers->list[i]->command == command;
         i++)
        good = add_clipped(&own, gap, transfers->list[i]->start_ns, transfers->list[i]->end_ns);
    for (size_t i = tsl_intervals_find(incoming, gap->start_ns);
         good && i < incoming->n && incoming->list[i].start_ns < gap->end_ns; i++)
        good = add_clipped(&both, gap, incoming->list[i].start_ns, incoming->list[i].end_ns);
    good = good && tsl_intervals_unite(&both, &own);
    for (size_t i = 0; good && i < both.n; i++)
        good = tsl_intervals_add(&unit->waits, both.list[i].start_ns, both.list[i].end_ns);
    free(own.list);
    free(both.list);
    return good;
}

static const struct tsl_intervals *incoming_of(const struct tsl_meters *m, const struct tsl_unit *unit)
{
    static const struct tsl_intervals none = {NULL, 0};

    for (unsigned u = 0; u < m->n_units; u++)
        if (m->units[u].kind == TSL_UNIT_TO && same_member(m, m->units[u].lane, m->timeline->lanes[unit->lane].member))
            return &m->units[u].busy;
    return &none;
}

/* Each gap ends with a span of the unit. */
static bool find_waits(struct tsl_meters *m, struct tsl_unit *unit, const struct by_command *transfers)
{
    const struct tsl_intervals *incoming = incoming_of(m, unit);
    uint64_t busy_until = m->begin_ns;

    for (size_t i = 0; i < m->timeline->n_spans; i++) {
        const struct tsl_tl_span *span = &m->timeline->spans[i];
        struct tsl_interval gap = {busy_until, span->start_ns};
        enum tsl_unit_kind kind;

        if (span->lane != unit->lane || !unit_kind(m->timeline, span, &kind))
            continue;
        if (gap.end_ns > gap.start_ns && !wait_in_gap(unit, &gap, transfers, span->command, incoming))
            return false;
        busy_until = span->end_ns > busy_until ? span->end_ns : busy_until;
    }
    unit->waits_ns = tsl_intervals_length(&unit->waits);
    return true;
}

static bool find_all_waits(struct tsl_meters *m)
{
    struct by_command transfers;
    bool good = list_transfers(m->timeline, &transfers);

    for (unsigned u = 0; good && u < m->n_members; u++)
        good = find_waits(m, &m->units[u], &transfers);
    free(transfers.list);
    return good;
}

/* ---- Overlap ----------------------------------------------------------------------------------------------------- */

static bool unite_units(const struct tsl_meters *m, bool kernels, struct tsl_intervals *out)
{
    for (unsigned u = 0; u < m->n_units; u++)
        if ((m->units[u].kind == TSL_UNIT_KERNELS) == kernels && m->units[u].kind != TSL_UNIT_TASKS &&
            !tsl_intervals_unite(out, &m->units[u].busy))
            return false;
    return true;
}

/* Transfers from a member that a kernel's command asked for: with one member alone there were none. */
static bool unite_detours(const struct tsl_meters *m, struct tsl_intervals *out)
{
    const struct tsl_timeline *t = m->timeline;

    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].kind == TSL_SPAN_TRANSFER && strcmp(tsl_timeline_text(t, t->spans[i].name), "move") == 0 &&
            strcmp(tsl_timeline_text(t, t->spans[i].from), "host") != 0 &&
            !tsl_intervals_add(out, t->spans[i].start_ns, t->spans[i].end_ns))
            return false;
    return true;
}

static bool find_overlap(struct tsl_meters *m)
{
    struct tsl_intervals kernels = {NULL, 0}, moves = {NULL, 0}, detours = {NULL, 0};
    struct tsl_unit *units = m->units;
    uint64_t sums[2] = {0, 0};
    bool good = unite_units(m, true, &kernels) && unite_units(m, false, &moves) && unite_detours(m, &detours);

    if (good) {
        m->kernels_ns = tsl_intervals_length(&kernels);
        m->transfers_ns = tsl_intervals_length(&moves);
        m->hidden_ns = tsl_intervals_common(&kernels, &moves);
        m->detours_ns = tsl_intervals_length(&detours) - tsl_intervals_common(&kernels, &detours);
        good = tsl_intervals_depth(units, m->n_units, sums);
        m->any_ns = sums[0];
        m->both_ns = sums[1];
    }
    free(kernels.list);
    free(moves.list);
    free(detours.list);
    return good;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

#define N_COUNTS (sizeof((struct tsl_kernel_row *)NULL)->whys / sizeof(struct tsl_text_count))

/* One more launch of that text, in a list of N_COUNTS. */
static void count_text(struct tsl_text_count *list, unsigned *n, uint32_t text)
{
    unsigned i = 0;

    while (i < *n && list[i].text != text)
        i++;
    if (i == N_COUNTS)
        return;
    if (i == *n)
        list[(*n)++] = (struct tsl_text_count){text, 0};
    list[i].n++;
    for (; i > 0 && list[i].n > list[i - 1].n; i--) {
        struct tsl_text_count swapped = list[i];

        list[i] = list[i - 1];
        list[i - 1] = swapped;
    }
}

static void add_to_row(struct tsl_meters *m, struct tsl_kernel_row *row, const struct tsl_tl_span *span, unsigned unit)
{
    uint64_t ns = span->end_ns - span->start_ns;

    row->busy_ns += ns;
    row->uses[unit].busy_ns += ns;
    if (span->expected_us && !span->error) {
        row->expected_ns += span->expected_us * UINT64_C(1000);
        row->expected_real_ns += ns;
    }
    if (span->items && !span->error) {
        row->uses[unit].items += span->items;
        row->uses[unit].ns += ns;
    }
    row->n_failed += span->error != 0;
    m->n_failed += span->error != 0;
    if (span->share > 0)
        return;
    row->n_launches++;
    row->n_cut += span->shares > 1;
    row->n_rungs[span->rung]++;
    m->n_launches++;
    m->n_cut += span->shares > 1;
    if (span->why)
        count_text(row->whys, &row->n_whys, span->why);
    if (span->variant)
        count_text(row->variants, &row->n_variants, span->variant);
}

static int compare_rows(const void *a, const void *b)
{
    const struct tsl_kernel_row *x = a, *y = b;

    return (x->busy_ns < y->busy_ns) - (x->busy_ns > y->busy_ns);
}

/* A row for each name. rows: by text, the row's index + 1. */
static struct tsl_kernel_row *row_of(struct tsl_meters *m, uint32_t *rows, uint32_t name)
{
    struct tsl_kernel_row *grown;

    if (rows[name])
        return &m->kernels[rows[name] - 1];
    grown = realloc(m->kernels, (m->n_kernels + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    m->kernels = grown;
    grown += m->n_kernels;
    *grown = (struct tsl_kernel_row){.name = name, .uses = calloc(m->n_units, sizeof *grown->uses)};
    if (!grown->uses)
        return NULL;
    rows[name] = ++m->n_kernels;
    return grown;
}

static bool find_kernels(struct tsl_meters *m, const uint32_t *unit_of)
{
    const struct tsl_timeline *t = m->timeline;
    uint32_t *rows = calloc(t->n_texts, sizeof *rows);
    bool good = rows != NULL;

    for (size_t i = 0; good && i < t->n_spans; i++) {
        const struct tsl_tl_span *span = &t->spans[i];
        struct tsl_kernel_row *row;

        /* Copies and fills within a member's memory are no launches. */
        if (span->kind != TSL_SPAN_KERNEL || (span->shares == 0 && span->bytes))
            continue;
        row = row_of(m, rows, span->name);
        good = row != NULL;
        if (good)
            add_to_row(m, row, span, unit_of[2 * span->lane]);
    }
    free(rows);
    if (good && m->n_kernels)
        qsort(m->kernels, m->n_kernels, sizeof *m->kernels, compare_rows);
    return good;
}

/* ---- What was gained --------------------------------------------------------------------------------------------- */

/* A kernel that took less of all kernels' time than this may be unknown on a member whose time alone is estimated. */
#define NEGLIGIBLE 0.02

/* Work-items a nanosecond; 0: it never ran there. */
static double speed(const struct tsl_kernel_row *row, unsigned member)
{
    const struct tsl_kernel_use *use = &row->uses[member];

    return use->items && use->ns ? (double)use->items / (double)use->ns : 0;
}

static double items_of(const struct tsl_meters *m, const struct tsl_kernel_row *row)
{
    double items = 0;

    for (unsigned u = 0; u < m->n_members; u++)
        items += (double)row->uses[u].items;
    return items;
}

/* All of the kernels' work on one member, ns; 0: not known. */
static double kernels_alone(const struct tsl_meters *m, unsigned member, double all_ns)
{
    double ns = 0, unknown_ns = 0;

    for (unsigned k = 0; k < m->n_kernels; k++) {
        const struct tsl_kernel_row *row = &m->kernels[k];

        if (speed(row, member) > 0)
            ns += items_of(m, row) / speed(row, member);
        else
            unknown_ns += (double)row->busy_ns;
    }
    return unknown_ns > NEGLIGIBLE * all_ns ? 0 : ns + unknown_ns;
}

static double kernels_together(const struct tsl_meters *m)
{
    double ns = 0;

    for (unsigned k = 0; k < m->n_kernels; k++) {
        double speeds = 0;

        for (unsigned u = 0; u < m->n_members; u++)
            speeds += speed(&m->kernels[k], u);
        if (speeds > 0)
            ns += items_of(m, &m->kernels[k]) / speeds;
    }
    return ns;
}

static bool find_gain(struct tsl_meters *m)
{
    double all_ns = 0, idle_ns = (double)(m->wall_ns - m->kernels_ns - m->detours_ns);

    m->alone_ns = calloc(m->n_members + 1, sizeof *m->alone_ns);
    m->best_alone = m->n_members;
    if (!m->alone_ns)
        return false;
    for (unsigned k = 0; k < m->n_kernels; k++)
        all_ns += (double)m->kernels[k].busy_ns;
    for (unsigned u = 0; u < m->n_members; u++) {
        double ns = kernels_alone(m, u, all_ns);

        m->alone_ns[u] = ns > 0 ? (uint64_t)(ns + idle_ns) : 0;
        if (ns > 0 && (m->best_alone == m->n_members || m->alone_ns[u] < m->alone_ns[m->best_alone]))
            m->best_alone = u;
    }
    m->together_ns = (uint64_t)kernels_together(m);
    return true;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

bool tsl_meters_make(struct tsl_meters *meters, const struct tsl_timeline *timeline)
{
    uint32_t *unit_of = calloc(2 * (size_t)timeline->n_lanes, sizeof *unit_of);
    bool good;

    *meters = (struct tsl_meters){.timeline = timeline};
    good = unit_of && make_units(meters, unit_of) && fill_units(meters, unit_of) && find_all_waits(meters) &&
           find_overlap(meters) && find_kernels(meters, unit_of) && find_gain(meters);
    free(unit_of);
    if (!good)
        tsl_meters_finish(meters);
    return good;
}

void tsl_meters_finish(struct tsl_meters *meters)
{
    for (unsigned u = 0; u < meters->n_units; u++) {
        free(meters->units[u].busy.list);
        free(meters->units[u].waits.list);
    }
    for (unsigned k = 0; k < meters->n_kernels; k++)
        free(meters->kernels[k].uses);
    free(meters->units);
    free(meters->kernels);
    free(meters->alone_ns);
    *meters = (struct tsl_meters){.timeline = NULL};
}

unsigned tsl_meters_member_of(const struct tsl_meters *meters, unsigned lane)
{
    unsigned u = 0;

    while (u < meters->n_members && meters->units[u].lane != lane)
        u++;
    return u;
}

bool tsl_meters_is_of(const struct tsl_meters *meters, unsigned unit, const struct tsl_tl_span *span)
{
    enum tsl_unit_kind kind;

    return span->lane == meters->units[unit].lane && unit_kind(meters->timeline, span, &kind) &&
           kind == meters->units[unit].kind;
}

void tsl_meters_unit_name(const struct tsl_meters *meters, unsigned unit, char name[80])
{
    const struct tsl_unit *u = &meters->units[unit];
    const char *member = meters->timeline->lanes[u->lane].member;

    switch (u->kind) {
    case TSL_UNIT_KERNELS:
        snprintf(name, 80, "%.60s computes", member);
        return;
    case TSL_UNIT_TASKS:
        snprintf(name, 80, "host tasks");
        return;
    case TSL_UNIT_COPIES:
        snprintf(name, 80, "host copies");
        return;
    default:
        snprintf(name, 80, "%s %.60s", u->kind == TSL_UNIT_TO ? "to" : "from", member);
    }
}
