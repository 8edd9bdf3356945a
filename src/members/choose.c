#include "members/choose.h"

#include "base/settings.h"
#include "driver/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void leave_out(struct tsl_found *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void leave_out(struct tsl_found *row, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    row->used = false;
    if (vasprintf(&row->why_not, format, args) < 0)
        row->why_not = NULL; /* Left out all the same; only the sentence is lost. */
    va_end(args);
}

static bool same_platform(const struct tsl_path *a, const struct tsl_path *b)
{
    return a->driver == b->driver && !strcmp(a->platform_name, b->platform_name);
}

static bool same_pci(const struct tsl_identity *a, const struct tsl_identity *b)
{
    return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus && a->pci_device == b->pci_device &&
           a->pci_function == b->pci_function;
}

bool tsl_same_device(const struct tsl_path *a, const struct tsl_path *b)
{
    const struct tsl_identity *x = &a->identity, *y = &b->identity;

    if (x->host_id != y->host_id)
        return false;
    if (x->is_host_cpu || y->is_host_cpu)
        return x->is_host_cpu && y->is_host_cpu;
    if (x->has_uuid && y->has_uuid) {
        if (!memcmp(x->uuid, y->uuid, sizeof(x->uuid)))
            return true;
        /* Slices of one GPU have one address and different UUIDs; but two vendors may make up UUIDs differently. */
        if (same_platform(a, b))
            return false;
    }
    return x->has_pci && y->has_pci && same_pci(x, y);
}

/* Whole parts only: opencl:1 begins opencl:1.0, not opencl:10.0. */
static bool id_begins_with(const struct tsl_path *path, const char *item)
{
    size_t n = strlen(item);

    return !strncasecmp(path->id, item, n) && (n == 0 || strchr(":.", path->id[n - 1]) || strchr(":.", path->id[n]));
}

static bool name_contains(const struct tsl_path *path, const char *item)
{
    return strcasestr(path->platform_name, item) || strcasestr(path->device_name, item);
}

bool tsl_path_fits(const struct tsl_path *path, const char *item)
{
    return id_begins_with(path, item) || name_contains(path, item);
}

typedef bool fits_fn(const struct tsl_path *path, const char *item);

/* True if some path fits. */
static bool want_those(const struct tsl_found *rows, unsigned n, fits_fn *fits, const char *item, bool *wanted)
{
    bool any = false;

    for (unsigned i = 0; i < n; i++)
        if (fits(&rows[i].path, item))
            wanted[i] = any = true;
    return any;
}

/* An item that begins an id is not taken for a name: cpu is the built-in CPU, not every device with "cpu" in its name,
 * and cuda not "NVIDIA CUDA". */
static void want_named(const struct tsl_found *rows, unsigned n, char *const *items, size_t n_items, bool *wanted,
                       bool *matched)
{
    for (size_t i = 0; i < n_items; i++)
        matched[i] = want_those(rows, n, id_begins_with, items[i], wanted) ||
                     want_those(rows, n, name_contains, items[i], wanted);
}

/* How preferred the path is where that setting is made; NULL: as things are. */
static int preference_with(const struct tsl_path *path, const char *setting)
{
    return setting && path->turned_by && !strcmp(setting, path->turned_by) ? TSL_OWN_LAST : path->preference;
}

/* The path by which the row's device serves: the most preferred, of equals the first. setting: see above. */
static const struct tsl_found *best_for(const struct tsl_found *rows, unsigned n, const struct tsl_found *row,
                                        const char *setting)
{
    const struct tsl_found *best = NULL;

    for (unsigned i = 0; i < n; i++) {
        if (rows[i].path.why_not || (&rows[i] != row && !tsl_same_device(&rows[i].path, &row->path)))
            continue;
        if (!best || preference_with(&rows[i].path, setting) > preference_with(&best->path, setting))
            best = &rows[i];
    }
    return best;
}

/* What is to be said of a setting: it would make the row serve, or it is why a path of ours doesn't. */
static const char *word_of_setting(const struct tsl_found *rows, unsigned n, const struct tsl_found *row,
                                   const struct tsl_found *best, const char **setting)
{
    *setting = "";
    if (best->path.turned_by && best_for(rows, n, row, best->path.turned_by) == row) {
        *setting = best->path.turned_by;
        return " has this one serve, ";
    }
    if (!best->path.turned_by && row->path.turned_by) {
        *setting = row->path.turned_by;
        return " prefers vendors' OpenCL, ";
    }
    return "";
}

/* The row that keeps this one, though it was named, from serving: of those for one device of which one stands no other
 * beside it, the most preferred serves; of equals the first. */
static const struct tsl_found *excluded_by(const struct tsl_found *rows, const bool *wanted, unsigned n,
                                           const struct tsl_found *row)
{
    const struct tsl_found *best = row;
    bool exclusive = row->path.exclusive;

    for (unsigned i = 0; i < n; i++) {
        if (&rows[i] == row || !wanted[i] || rows[i].path.why_not || !tsl_same_device(&rows[i].path, &row->path))
            continue;
        exclusive |= rows[i].path.exclusive;
        if (rows[i].path.preference > best->path.preference ||
            (rows[i].path.preference == best->path.preference && &rows[i] < best))
            best = &rows[i];
    }
    return exclusive && best != row ? best : NULL;
}

static void choose_best(struct tsl_found *rows, unsigned n, struct tsl_found *row)
{
    const struct tsl_found *best = best_for(rows, n, row, NULL);
    const char *setting, *word;

    if (best == row) {
        row->used = true;
        return;
    }
    word = word_of_setting(rows, n, row, best, &setting);
    leave_out(row, "the same device is used as %s (%s); %s%sTESELA_MEMBERS can name %s", best->path.id,
              best->path.device_name, setting, word,
              best->path.exclusive || row->path.exclusive ? "this one alone" : "both");
}

static void choose_named(struct tsl_found *rows, const bool *wanted, unsigned n, struct tsl_found *row)
{
    const struct tsl_found *other = excluded_by(rows, wanted, n, row);

    if (other)
        leave_out(row,
                  "the same device is used as %s (%s), and the two can't serve at once; TESELA_MEMBERS can name "
                  "this one alone",
                  other->path.id, other->path.device_name);
    else
        row->used = true;
}

static void choose_one(struct tsl_found *rows, const bool *wanted, unsigned n, bool by_name, struct tsl_found *row)
{
    row->used = false;
    if (row->path.why_not)
        leave_out(row, "%s", row->path.why_not);
    else if (!wanted[row - rows])
        leave_out(row, "TESELA_MEMBERS does not name it");
    else if (by_name)
        choose_named(rows, wanted, n, row);
    else
        choose_best(rows, n, row);
}

void tsl_choose(struct tsl_found *rows, unsigned n, char *const *items, size_t n_items, bool *matched)
{
    bool *wanted = calloc(n + 1, sizeof(*wanted));
    unsigned n_used = 0;

    for (unsigned i = 0; wanted && i < n; i++)
        wanted[i] = !n_items;
    if (wanted)
        want_named(rows, n, items, n_items, wanted, matched);
    for (unsigned i = 0; i < n; i++) {
        struct tsl_found *row = &rows[i];

        if (wanted)
            choose_one(rows, wanted, n, n_items, row);
        else
            leave_out(row, "memory ran out while members were chosen");
        if (row->used && ++n_used > TSL_MAX_MEMBERS)
            leave_out(row, "there are %d members already, no more are possible", TSL_MAX_MEMBERS);
    }
    free(wanted);
}

/* The line that names the path, counted from 0; config->n: none does. */
static size_t line_of(const struct tsl_path *path, const struct tsl_config *config)
{
    size_t i = 0;

    while (i < config->n && strcmp(path->id, config->devices[i].id))
        i++;
    return i;
}

/* Rows move to the place that the order of the lines gives them; those without a line stay behind in their order. */
static void sort_by_lines(struct tsl_found *rows, unsigned n, const struct tsl_config *config)
{
    for (unsigned i = 1; i < n; i++) {
        struct tsl_found row = rows[i];
        size_t line = line_of(&row.path, config);
        unsigned to = i;

        for (; to > 0 && line_of(&rows[to - 1].path, config) > line; to--)
            rows[to] = rows[to - 1];
        rows[to] = row;
    }
}

void tsl_choose_by_config(struct tsl_found *rows, unsigned n, const struct tsl_config *config, bool *matched)
{
    unsigned n_used = 0;

    memset(matched, 0, config->n * sizeof(*matched));
    sort_by_lines(rows, n, config);
    for (unsigned i = 0; i < n; i++) {
        struct tsl_found *row = &rows[i];
        size_t line = line_of(&row->path, config);

        if (line < config->n)
            matched[line] = true;
        row->used = line < config->n && !row->path.why_not;
        if (row->path.why_not)
            leave_out(row, "%s", row->path.why_not);
        else if (!row->used)
            leave_out(row, "TESELA_CONFIG does not name it");
        if (row->used && ++n_used > TSL_MAX_MEMBERS)
            leave_out(row, "there are %d members already, no more are possible", TSL_MAX_MEMBERS);
    }
}

void tsl_choose_bounds(const struct tsl_found *rows, unsigned n, const struct tsl_memory_bound *items, size_t n_items,
                       uint64_t *bounds, bool *matched)
{
    bool fits[n + 1];

    memset(bounds, 0, n * sizeof(*bounds));
    for (size_t i = 0; i < n_items; i++) {
        memset(fits, 0, sizeof(fits));
        matched[i] = want_those(rows, n, id_begins_with, items[i].member, fits) ||
                     want_those(rows, n, name_contains, items[i].member, fits);
        for (unsigned k = 0; k < n; k++)
            if (fits[k])
                bounds[k] = items[i].size;
    }
}
