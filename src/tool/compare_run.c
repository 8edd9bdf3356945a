#include "tool/compare_run.h"

#include "tool/meters.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 0, SECOND = 1 };

/* A file of way w in the scratch folder: "out-3", or "file-3-0". */
static void scratch_path(const struct tsl_comparison *c, const char *what, unsigned w, int n, char path[PATH_MAX])
{
    if (n < 0)
        snprintf(path, PATH_MAX, "%s/%s-%u", c->ways.scratch, what, w);
    else
        snprintf(path, PATH_MAX, "%s/%s-%u-%d", c->ways.scratch, what, w, n);
}

/* Where what a run prints lies: of the first two of a way it is kept. */
static void output_path(const struct tsl_comparison *c, unsigned w, unsigned round, char path[PATH_MAX])
{
    scratch_path(c, "out", w, round <= SECOND ? (int)round : SECOND + 1, path);
}

static void show_progress(const struct tsl_comparison *c, unsigned round, unsigned w)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (w == c->ways.n)
        fputs("\r\033[K", stderr);
    else if (round == WARM)
        fprintf(stderr, "\r\033[Kfirst run: %s", c->ways.ways[w].name);
    else
        fprintf(stderr, "\r\033[Kround %u of %u: %s", round, c->rounds, c->ways.ways[w].name);
    fflush(stderr);
}

/* Many programs tell on standard output what went wrong. */
static void say_failure(const struct tsl_comparison *c, unsigned w, unsigned round, const char *err)
{
    const struct tsl_way *way = &c->ways.ways[w];
    char words[TSL_LAST_WORDS], out[PATH_MAX];

    output_path(c, w, round, out);
    if (!tsl_child_last_words(err, words))
        tsl_child_last_words(out, words);
    fprintf(stderr, "%stesela compare: %s: the program %s%s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", way->name,
            way->how, words[0] ? "; its last words: " : "", words);
}

/* ---- What a trace tells ------------------------------------------------------------------------------------------ */

/* Kernels' time by member, over all of the program's processes. */
struct tally {
    struct {
        char member[48];
        uint64_t ns;
    } members[TSL_MAX_WAYS];
    unsigned n;
    uint64_t moved;
};

static void add_time(struct tally *tally, const char *member, uint64_t ns)
{
    unsigned i = 0;

    while (i < tally->n && strcmp(tally->members[i].member, member) != 0)
        i++;
    if (i == TSL_MAX_WAYS)
        return;
    if (i == tally->n) {
        snprintf(tally->members[i].member, sizeof tally->members[i].member, "%.47s", member);
        tally->n++;
    }
    tally->members[i].ns += ns;
}

static bool read_trace(const char *path, struct tally *tally)
{
    struct tsl_timeline timeline;
    struct tsl_meters meters;
    char *why = NULL;

    if (!tsl_timeline_read(&timeline, path, &why)) {
        free(why);
        return false;
    }
    if (tsl_meters_make(&meters, &timeline)) {
        for (unsigned u = 0; u < meters.n_units; u++) {
            const struct tsl_unit *unit = &meters.units[u];

            if (unit->kind == TSL_UNIT_KERNELS)
                add_time(tally, timeline.lanes[unit->lane].member, unit->busy_ns);
            else if (unit->kind == TSL_UNIT_TO || unit->kind == TSL_UNIT_FROM)
                tally->moved += unit->bytes;
        }
        tsl_meters_finish(&meters);
    }
    tsl_timeline_finish(&timeline);
    return true;
}

static void tell_tally(const struct tally *tally, struct tsl_way *way)
{
    double all = 0;
    size_t used = 0;

    if (!tally->n)
        snprintf(way->computed, sizeof way->computed, "no kernel ran");
    for (unsigned i = 0; i < tally->n; i++)
        all += (double)tally->members[i].ns;
    for (unsigned i = 0; i < tally->n && used < sizeof way->computed; i++)
        used += (size_t)snprintf(way->computed + used, sizeof way->computed - used, "%s%s %.0f%%", i ? ", " : "",
                                 tally->members[i].member, 100 * (double)tally->members[i].ns / (all > 0 ? all : 1));
    way->moved = tally->moved;
    way->traced = true;
}

/* Reads and removes the traces of the run just ended. */
static void read_traces(const struct tsl_comparison *c, struct tsl_way *way)
{
    struct tally tally = {.n = 0};
    DIR *folder = opendir(c->ways.scratch);
    struct dirent *entry;
    bool some = false;

    while (folder && (entry = readdir(folder))) {
        char path[PATH_MAX];

        if (strncmp(entry->d_name, "trace-", 6) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", c->ways.scratch, entry->d_name);
        some |= read_trace(path, &tally);
        unlink(path);
    }
    if (folder)
        closedir(folder);
    if (some)
        tell_tally(&tally, way);
    else
        snprintf(way->computed, sizeof way->computed, "nothing was enqueued");
}

/* ---- Output and files -------------------------------------------------------------------------------------------- */

/* Keeps what the program wrote to its files: of those that it touched. */
static void keep_files(const struct tsl_comparison *c, unsigned w, const struct timespec *before)
{
    for (unsigned i = 0; i < c->n_compared; i++) {
        char path[PATH_MAX];
        struct stat about;

        scratch_path(c, "file", w, (int)i, path);
        if (stat(c->compared[i], &about) != 0)
            continue;
        if (about.st_mtim.tv_sec > before->tv_sec ||
            (about.st_mtim.tv_sec == before->tv_sec && about.st_mtim.tv_nsec > before->tv_nsec))
            tsl_copy_file(c->compared[i], path);
    }
}

/* Did some way that ended well write the file? */
static bool is_written(const struct tsl_comparison *c, unsigned file)
{
    char path[PATH_MAX];
    bool written = false;

    for (unsigned w = 0; w < c->ways.n && !written; w++) {
        scratch_path(c, "file", w, (int)file, path);
        written = c->ways.ways[w].ran && !c->ways.ways[w].failed && access(path, F_OK) == 0;
    }
    return written;
}

static void compare_files(struct tsl_comparison *c, unsigned w)
{
    struct tsl_way *way = &c->ways.ways[w];

    for (unsigned i = 0; i < c->n_compared && way->files == TSL_SAME; i++) {
        char path[PATH_MAX], reference[PATH_MAX], text[96];

        if (c->unwritten[i])
            continue;
        scratch_path(c, "file", w, (int)i, path);
        scratch_path(c, "file", (unsigned)c->reference, (int)i, reference);
        way->files = tsl_differ_files(path, reference, text, sizeof text);
        if (way->files != TSL_SAME && access(path, F_OK) != 0)
            snprintf(text, sizeof text, "wasn't written");
        if (way->files != TSL_SAME)
            snprintf(way->differs, sizeof way->differs, "%.56s %s", c->compared[i], text);
    }
}

static void compare_way(struct tsl_comparison *c, unsigned w)
{
    struct tsl_way *way = &c->ways.ways[w];
    char path[PATH_MAX], reference[PATH_MAX], text[96];

    if (!way->ran || way->failed || c->reference < 0)
        return;
    scratch_path(c, "out", w, WARM, path);
    scratch_path(c, "out", (unsigned)c->reference, WARM, reference);
    way->output = tsl_differ_texts(path, reference, text, sizeof text);
    if (way->output != TSL_SAME)
        snprintf(way->differs, sizeof way->differs, "output, %s", text);
    compare_files(c, w);
}

/* Programs that print times say something else each time. */
static void look_at_reference(struct tsl_comparison *c)
{
    char path[PATH_MAX], reference[PATH_MAX];

    if (c->reference < 0)
        return;
    scratch_path(c, "out", (unsigned)c->reference, SECOND, path);
    scratch_path(c, "out", (unsigned)c->reference, WARM, reference);
    if (access(path, R_OK) == 0)
        c->varies = tsl_differ_texts(path, reference, c->how_varies, sizeof c->how_varies) != TSL_SAME;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static struct tsl_child_result run_way(const struct tsl_comparison *c, unsigned w, unsigned round, const char *err)
{
    static const char *const unset[] = {"OCL_ICD_FILENAMES", "OCL_ICD_DEFAULT_PLATFORM", "OPENCL_LAYERS",
                                        "TESELA_TRACE", NULL};
    const struct tsl_way *way = &c->ways.ways[w];
    const char *set[5] = {way->loader};
    char trace[PATH_MAX + 32], out[PATH_MAX];
    unsigned n = 1;

    if (way->filenames)
        set[n++] = way->filenames;
    if (way->members)
        set[n++] = way->members;
    snprintf(trace, sizeof trace, "TESELA_TRACE=%s/trace-%%p.json", c->ways.scratch);
    if (round == WARM && way->kind != TSL_WAY_NATIVE)
        set[n++] = trace;
    output_path(c, w, round, out);
    return tsl_child_run(&(struct tsl_child){
        .program = c->program, .set = set, .unset = unset, .out = out, .err = err, .limit_s = c->limit_s});
}

/* What the program writes from now on is younger than this. Files' times are those of a clock of some milliseconds. */
static void mark_time(const struct tsl_comparison *c, struct timespec *now)
{
    clock_gettime(CLOCK_REALTIME_COARSE, now);
    if (c->n_compared)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Half of it is nothing to compare. */
static void forget_output(const struct tsl_comparison *c, unsigned w, unsigned round)
{
    char path[PATH_MAX];

    output_path(c, w, round, path);
    unlink(path);
}

static void run_once(struct tsl_comparison *c, unsigned w, unsigned round)
{
    struct tsl_way *way = &c->ways.ways[w];
    struct tsl_child_result result;
    struct timespec before;
    char err[PATH_MAX];

    if (way->failed || way->absent || tsl_child_stopped())
        return;
    show_progress(c, round, w);
    scratch_path(c, "err", w, -1, err);
    mark_time(c, &before);
    result = run_way(c, w, round, err);
    if (result.end == TSL_CHILD_STOPPED) {
        forget_output(c, w, round);
        return;
    }
    if (result.end == TSL_CHILD_UNSTARTED)
        c->unstarted = result.number;
    way->ran = true;
    tsl_child_say(&result, &(struct tsl_child){.limit_s = c->limit_s}, way->how, sizeof way->how);
    way->failed = way->how[0] != '\0';
    if (way->failed && !c->unstarted)
        say_failure(c, w, round, err);
    if (round == WARM && way->kind != TSL_WAY_NATIVE)
        read_traces(c, way);
    if (round == WARM)
        keep_files(c, w, &before);
    else if (!way->failed)
        way->walls_ns[way->n_walls++] = result.wall_ns;
}

/* The first way that ends well; vendors come first. */
static int find_reference(const struct tsl_comparison *c)
{
    for (unsigned w = 0; w < c->ways.n; w++)
        if (c->ways.ways[w].ran && !c->ways.ways[w].failed)
            return (int)w;
    return -1;
}

void tsl_compare_run(struct tsl_comparison *c)
{
    for (unsigned w = 0; w < c->ways.n && !c->unstarted; w++)
        run_once(c, w, WARM);
    c->reference = find_reference(c);
    for (unsigned i = 0; i < c->n_compared; i++)
        c->unwritten[i] = !is_written(c, i);
    for (unsigned w = 0; w < c->ways.n && !c->unstarted; w++)
        compare_way(c, w);
    for (unsigned round = 1; round <= c->rounds && !c->unstarted; round++)
        for (unsigned w = 0; w < c->ways.n; w++)
            run_once(c, w, round);
    show_progress(c, 0, c->ways.n);
    look_at_reference(c);
}
