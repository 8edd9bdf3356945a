#include "tool/report_data.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SPANS  300000u /* more are merged: some 3 MB */
#define MAX_QUEUES 16u

enum { WORK, WAITS, FAILED, NAMED = 4, COMMANDED = 8, SIZED = 16, MERGED = 32 };

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static struct tsl_page_lane *add_lane(struct tsl_page *page, unsigned index)
{
    struct tsl_page_lane *lane = &page->lanes[page->n_lanes++];

    *lane = (struct tsl_page_lane){.index = index};
    return lane;
}

static void add_unit(struct tsl_page *page, unsigned unit)
{
    struct tsl_page_lane *lane = add_lane(page, unit);

    lane->kind = TSL_PAGE_UNIT;
    tsl_meters_unit_name(page->meters, unit, lane->name);
}

static bool of_member(const struct tsl_meters *m, unsigned unit, const char *member)
{
    const char *its = m->timeline->lanes[m->units[unit].lane].member;

    return its && strcmp(its, member) == 0;
}

/* Was a unit of that member added already? */
static bool has_member(const struct tsl_page *page, unsigned unit)
{
    const struct tsl_meters *m = page->meters;

    for (unsigned u = 0; u < unit; u++)
        if (of_member(m, u, m->timeline->lanes[m->units[unit].lane].member))
            return true;
    return false;
}

/* A member's lanes stand together, then the host's, then the queues. */
static void add_lanes(struct tsl_page *page)
{
    const struct tsl_meters *m = page->meters;
    const struct tsl_timeline *t = m->timeline;

    if (m->n_cut) {
        struct tsl_page_lane *lane = add_lane(page, 0);

        lane->kind = TSL_PAGE_BANDS;
        snprintf(lane->name, sizeof lane->name, "cut launches");
    }
    for (unsigned u = 0; u < m->n_units; u++)
        for (unsigned v = u; v < m->n_units && t->lanes[m->units[u].lane].member && !has_member(page, u); v++)
            if (of_member(m, v, t->lanes[m->units[u].lane].member))
                add_unit(page, v);
    for (unsigned u = 0; u < m->n_units; u++)
        if (!t->lanes[m->units[u].lane].member)
            add_unit(page, u);
    for (unsigned i = 0, n = 0; i < t->n_lanes; i++) {
        if (t->lanes[i].kind != TSL_LANE_QUEUE)
            continue;
        if (++n > MAX_QUEUES) {
            page->n_left_out++;
            continue;
        }
        struct tsl_page_lane *lane = add_lane(page, i);

        lane->kind = TSL_PAGE_QUEUE;
        snprintf(lane->name, sizeof lane->name, "%.79s", t->lanes[i].name);
    }
}

/* ---- Spans of a lane --------------------------------------------------------------------------------------------- */

struct mark {
    uint64_t start_ns, end_ns, bytes;
    uint64_t busy_ns; /* of all that were merged; may be longer than the mark where they overlap */
    uint32_t name, command, n;
    unsigned kind;
};

/* The marks of a lane one after another: its spans, and of members what they waited for. */
struct walk {
    const struct tsl_page *page;
    const struct tsl_page_lane *lane;
    size_t span, wait;
};

/* The next span of the lane from walk->span on; NULL: none. */
static const struct tsl_tl_span *next_span(struct walk *walk)
{
    const struct tsl_meters *m = walk->page->meters;
    const struct tsl_timeline *t = m->timeline;
    bool is_unit = walk->lane->kind == TSL_PAGE_UNIT;
    unsigned lane = is_unit ? m->units[walk->lane->index].lane : walk->lane->index;

    for (; walk->span < t->n_spans; walk->span++)
        if (t->spans[walk->span].lane == lane &&
            (!is_unit || tsl_meters_is_of(m, walk->lane->index, &t->spans[walk->span])))
            return &t->spans[walk->span];
    return NULL;
}

static bool next_mark(struct walk *walk, struct mark *mark)
{
    const struct tsl_meters *m = walk->page->meters;
    const struct tsl_intervals *waits = walk->lane->kind == TSL_PAGE_UNIT ? &m->units[walk->lane->index].waits : NULL;
    const struct tsl_tl_span *span = next_span(walk);

    if (waits && walk->wait < waits->n && (!span || waits->list[walk->wait].start_ns < span->start_ns)) {
        const struct tsl_interval *wait = &waits->list[walk->wait++];

        *mark = (struct mark){.start_ns = wait->start_ns,
                              .end_ns = wait->end_ns,
                              .kind = WAITS,
                              .n = 1,
                              .busy_ns = wait->end_ns - wait->start_ns};
        return true;
    }
    if (!span)
        return false;
    walk->span++;
    *mark = (struct mark){.start_ns = span->start_ns,
                          .end_ns = span->end_ns,
                          .busy_ns = span->end_ns - span->start_ns,
                          .bytes = span->kind == TSL_SPAN_TRANSFER || span->kind == TSL_SPAN_HOST ? span->bytes : 0,
                          .name = span->name,
                          .command = span->command,
                          .n = 1,
                          .kind = span->error ? FAILED : WORK};
    return true;
}

/* Are both so short and close that they may be drawn as one? */
static bool merges(const struct mark *mark, const struct mark *next, uint64_t merge_ns)
{
    return merge_ns && mark->kind == next->kind && next->start_ns < mark->end_ns + merge_ns &&
           next->end_ns - next->start_ns < merge_ns;
}

static void merge(struct mark *mark, const struct mark *next)
{
    mark->end_ns = next->end_ns > mark->end_ns ? next->end_ns : mark->end_ns;
    mark->bytes += next->bytes;
    mark->busy_ns += next->busy_ns;
    mark->n += next->n;
}

/* The next mark with all that merge into it. *ahead is the one behind it, of n 0 at first and at the end. */
static bool next_merged(struct walk *walk, struct mark *mark, struct mark *ahead)
{
    if (!ahead->n && !next_mark(walk, ahead))
        return false;
    *mark = *ahead;
    while (next_mark(walk, ahead)) {
        if (!merges(mark, ahead, walk->page->merge_ns))
            return true;
        merge(mark, ahead);
    }
    ahead->n = 0;
    return true;
}

static size_t count_marks(const struct tsl_page *page, const struct tsl_page_lane *lane)
{
    struct walk walk = {page, lane, 0, 0};
    struct mark mark, ahead = {.n = 0};
    size_t n = 0;

    while (next_merged(&walk, &mark, &ahead))
        n++;
    return n;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

struct bytes {
    FILE *out;
    unsigned char held[3];
    unsigned n;
};

static void put_base64(struct bytes *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned value = (unsigned)b->held[0] << 16 | (unsigned)b->held[1] << 8 | b->held[2];

    for (unsigned i = 0; i < 4; i++)
        fputc(i <= b->n ? digits[value >> (18 - 6 * i) & 63] : '=', b->out);
    memset(b->held, 0, sizeof b->held);
    b->n = 0;
}

static void put(struct bytes *b, uint64_t value)
{
    do {
        b->held[b->n++] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        if (b->n == 3)
            put_base64(b);
    } while (value >>= 7);
}

static void put_signed(struct bytes *b, int64_t value)
{
    put(b, value < 0 ? (uint64_t)(-value) * 2 - 1 : (uint64_t)value * 2);
}

static uint64_t ticks(const struct tsl_page *page, uint64_t ns)
{
    return ns / page->tick_ns;
}

static void put_mark(const struct tsl_page *page, struct bytes *b, const struct mark *mark, const struct mark *before)
{
    unsigned flags = mark->kind;
    uint64_t start = ticks(page, mark->start_ns);

    flags |= mark->name != before->name ? NAMED : 0;
    flags |= mark->command != before->command ? COMMANDED : 0;
    flags |= mark->bytes ? SIZED : 0;
    flags |= mark->n > 1 ? MERGED : 0;
    put(b, flags);
    put(b, start - ticks(page, before->start_ns));
    put(b, ticks(page, mark->end_ns) - start);
    if (flags & NAMED)
        put(b, mark->name);
    if (flags & COMMANDED)
        put_signed(b, (int64_t)mark->command - (int64_t)before->command);
    if (flags & SIZED)
        put(b, mark->bytes);
    if (flags & MERGED) {
        put(b, mark->n);
        put(b, ticks(page, mark->busy_ns));
    }
}

static void put_lane(const struct tsl_page *page, struct bytes *b, const struct tsl_page_lane *lane)
{
    struct walk walk = {page, lane, 0, 0};
    struct mark mark, ahead = {.n = 0}, before = {.n = 0};

    put(b, count_marks(page, lane));
    while (next_merged(&walk, &mark, &ahead)) {
        if (mark.kind == WAITS) { /* It has no name and no command. */
            mark.name = before.name;
            mark.command = before.command;
        }
        put_mark(page, b, &mark, &before);
        before = mark;
    }
}

/* ---- Cut launches ------------------------------------------------------------------------------------------------ */

static int by_command(const void *a, const void *b)
{
    const struct tsl_tl_span *x = *(const struct tsl_tl_span *const *)a, *y = *(const struct tsl_tl_span *const *)b;

    if (x->command != y->command)
        return x->command < y->command ? -1 : 1;
    return x->share - y->share;
}

/* The shares of one cut launch, among all shares by command. */
struct band {
    const struct tsl_tl_span **shares;
    size_t n;
    uint64_t start_ns;
};

static int by_start(const void *a, const void *b)
{
    const struct band *x = a, *y = b;

    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* All shares, by command (heap); NULL without memory. */
static const struct tsl_tl_span **list_shares(const struct tsl_timeline *t, size_t *n)
{
    const struct tsl_tl_span **list = malloc((t->n_spans + 1) * sizeof *list);

    *n = 0;
    for (size_t i = 0; list && i < t->n_spans; i++)
        if (t->spans[i].kind == TSL_SPAN_KERNEL && t->spans[i].shares > 1)
            list[(*n)++] = &t->spans[i];
    if (list)
        qsort(list, *n, sizeof *list, by_command);
    return list;
}

static size_t gather_bands(const struct tsl_tl_span **shares, size_t n, struct band *bands)
{
    size_t n_bands = 0;

    for (size_t i = 0; i < n; i++) {
        struct band *band = n_bands ? &bands[n_bands - 1] : NULL;

        if (!band || shares[i]->command != band->shares[0]->command) {
            band = &bands[n_bands++];
            *band = (struct band){.shares = &shares[i], .start_ns = shares[i]->start_ns};
        }
        band->n++;
        band->start_ns = shares[i]->start_ns < band->start_ns ? shares[i]->start_ns : band->start_ns;
    }
    qsort(bands, n_bands, sizeof *bands, by_start);
    return n_bands;
}

static void put_share(const struct tsl_page *page, struct bytes *b, const struct tsl_tl_span *share, uint64_t start)
{
    uint64_t from = ticks(page, share->start_ns);

    put(b, tsl_meters_member_of(page->meters, share->lane));
    put(b, share->of ? share->items * 10000 / share->of : 10000 / share->shares);
    put(b, from - start);
    put(b, ticks(page, share->end_ns) - from);
    put(b, share->error != 0);
}

/* Where there are too many, every so many-th is left out: they are close together then. */
static void put_bands(const struct tsl_page *page, struct bytes *b, const struct band *bands, size_t n)
{
    size_t step = 1 + n / (MAX_SPANS / 8);
    uint64_t start_before = 0;
    int64_t command_before = 0;

    put(b, (n + step - 1) / step);
    for (size_t i = 0; i < n; i += step) {
        uint64_t start = ticks(page, bands[i].start_ns);
        int64_t command = bands[i].shares[0]->command;

        put(b, start - start_before);
        put(b, bands[i].shares[0]->name);
        put_signed(b, command - command_before);
        put(b, bands[i].n);
        for (size_t s = 0; s < bands[i].n; s++)
            put_share(page, b, bands[i].shares[s], start);
        start_before = start;
        command_before = command;
    }
}

static bool put_cut_launches(const struct tsl_page *page, struct bytes *b)
{
    size_t n;
    const struct tsl_tl_span **shares = list_shares(page->meters->timeline, &n);
    struct band *bands = shares ? malloc((n + 1) * sizeof *bands) : NULL;

    if (bands)
        put_bands(page, b, bands, gather_bands(shares, n, bands));
    free(shares);
    free(bands);
    return bands != NULL;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static size_t count_all(const struct tsl_page *page)
{
    size_t n = 0;

    for (unsigned i = 0; i < page->n_lanes; i++)
        if (page->lanes[i].kind != TSL_PAGE_BANDS)
            n += count_marks(page, &page->lanes[i]);
    return n;
}

bool tsl_page_make(struct tsl_page *page, const struct tsl_meters *meters)
{
    *page = (struct tsl_page){.meters = meters, .tick_ns = 1};
    page->lanes = calloc(1 + meters->n_units + meters->timeline->n_lanes, sizeof *page->lanes);
    if (!page->lanes)
        return false;
    add_lanes(page);
    while (meters->timeline->wall_ns / page->tick_ns > UINT64_C(1) << 26)
        page->tick_ns *= 2;
    for (uint64_t ns = meters->timeline->wall_ns >> 22; count_all(page) > MAX_SPANS; ns *= 2)
        page->merge_ns = ns ? ns : (ns = 1);
    return true;
}

void tsl_page_finish(struct tsl_page *page)
{
    free(page->lanes);
}

/* Nothing in it may end the element. */
static bool put_json(const cJSON *object, FILE *out)
{
    char *text = cJSON_PrintUnformatted(object);

    for (const char *at = text; at && *at; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
    free(text);
    return text != NULL;
}

static cJSON *lane_json(const struct tsl_page_lane *lane)
{
    static const char *const groups[] = {"band", "unit", "queue"};
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "kind", lane->kind == TSL_PAGE_BANDS ? "band" : "spans");
    cJSON_AddStringToObject(object, "group", groups[lane->kind]);
    return object;
}

bool tsl_page_put_meta(const struct tsl_page *page, FILE *out)
{
    const struct tsl_meters *m = page->meters;
    cJSON *object = cJSON_CreateObject(), *array = cJSON_AddArrayToObject(object, "names");
    bool good;

    for (unsigned i = 0; i < m->timeline->n_texts; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(m->timeline->texts[i]));
    array = cJSON_AddArrayToObject(object, "members");
    for (unsigned u = 0; u < m->n_members; u++)
        cJSON_AddItemToArray(array, cJSON_CreateString(m->timeline->lanes[m->units[u].lane].member));
    array = cJSON_AddArrayToObject(object, "lanes");
    for (unsigned i = 0; i < page->n_lanes; i++)
        cJSON_AddItemToArray(array, lane_json(&page->lanes[i]));
    cJSON_AddNumberToObject(object, "tick", (double)page->tick_ns);
    cJSON_AddNumberToObject(object, "wall", (double)m->timeline->wall_ns);
    good = put_json(object, out);
    cJSON_Delete(object);
    return good;
}

bool tsl_page_put_data(const struct tsl_page *page, FILE *out)
{
    struct bytes b = {.out = out};

    for (unsigned i = 0; i < page->n_lanes; i++) {
        if (page->lanes[i].kind != TSL_PAGE_BANDS)
            put_lane(page, &b, &page->lanes[i]);
        else if (!put_cut_launches(page, &b))
            return false;
    }
    if (b.n)
        put_base64(&b);
    return true;
}
