#include "place/model_file.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/log.h"
#include "place/model_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME    "models-3"
#define MAGIC        0x4d4c5354u /* "TSLM" */
#define VERSION      3u
#define MAX_SIZE     (4u << 20)
#define NO_DIMENSION 255u
#define FIRST_NS     UINT64_C(500000000)   /* from the first new sample to the first writing ... */
#define UNUSED_S     (30 * 24 * 3600)      /* an older version's file that wasn't written for so long is nobody's */
#define LATER_NS     UINT64_C(10000000000) /* ... and twice as long each time, up to this */

/* ---- The form ------------------------------------------------------------------------------------------------------
 * u32 magic, u32 version, u64 sum of all that follows; then the runs, pairs and ratios, each list with its length
 * first. Samples are a u8 count and as many floats, oldest first. All little-endian. */

static void put_float(struct tsl_writer *w, double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    tsl_write_u32(w, bits);
}

/* Only what can have been measured. */
static double get_float(struct tsl_reader *r)
{
    uint32_t bits = tsl_read_u32(r);
    float value;

    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value) || !(value > 0))
        r->failed = true;
    return tsl_samples_sane((double)value);
}

static void put_samples(struct tsl_writer *w, const struct tsl_samples *samples)
{
    unsigned oldest = samples->n < TSL_N_SAMPLES ? 0 : samples->next;

    tsl_write_u8(w, samples->n);
    for (unsigned i = 0; i < samples->n; i++)
        put_float(w, (double)samples->value[(oldest + i) % TSL_N_SAMPLES]);
}

static struct tsl_samples get_samples(struct tsl_reader *r)
{
    struct tsl_samples samples = {0};
    unsigned n = tsl_read_u8(r);

    if (n > TSL_N_SAMPLES)
        r->failed = true;
    for (unsigned i = 0; i < n && !r->failed; i++)
        tsl_samples_add(&samples, get_float(r));
    return samples;
}

/* A process that does less than the one before may be an exception: half of what is expected is kept. */
static uint64_t past_of(const struct tsl_model_run *run)
{
    return run->spent_ns > run->past_ns / 2 ? run->spent_ns : run->past_ns / 2;
}

/* A dimension, and as many floats as there are pieces; or NO_DIMENSION alone. */
static void put_density(struct tsl_writer *w, const struct tsl_model_density *density)
{
    tsl_write_u8(w, density ? (uint8_t)density->dimension : NO_DIMENSION);
    for (unsigned i = 0; density && i < TSL_DENSITY_PIECES; i++)
        put_float(w, (double)density->work.piece[i]);
}

static void put_run(struct tsl_writer *w, const struct tsl_model_run *run)
{
    tsl_write_u64(w, run->key.kernel);
    tsl_write_u64(w, run->key.class);
    tsl_write_u64(w, run->spent_ns ? past_of(run) : run->past_ns);
    put_samples(w, &run->work);
    tsl_write_u8(w, (uint8_t)run->n_kinds);
    for (unsigned i = 0; i < run->n_kinds; i++) {
        const struct tsl_slowness *slowness = &run->kinds[i];

        tsl_write_u64(w, slowness->kind);
        tsl_write_u32(w, slowness->n);
        tsl_write_u32(w, slowness->n_tries);
        put_samples(w, &slowness->first);
        put_float(w, slowness->n > TSL_MODEL_FIRST ? slowness->later : 1);
    }
    put_density(w, run->density);
}

static void get_density(struct tsl_reader *r, struct tsl_model_run *run)
{
    struct tsl_density work = {.uneven = true};
    unsigned dimension = tsl_read_u8(r);
    double sum = 0;

    if (dimension == NO_DIMENSION || dimension > 2) {
        r->failed |= dimension != NO_DIMENSION;
        return;
    }
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++)
        sum += (double)(work.piece[i] = (float)fmin(get_float(r), 1));
    if (fabs(sum - 1) > 1e-3)
        r->failed = true;
    if (!r->failed)
        tsl_model_lay_locked(run, dimension, &work);
}

static bool get_run(struct tsl_reader *r, struct tsl_model_run *run)
{
    run->key.kernel = tsl_read_u64(r);
    run->key.class = tsl_read_u64(r);
    run->past_ns = tsl_read_u64(r);
    run->work = get_samples(r);
    run->n_kinds = tsl_read_u8(r);
    if (run->n_kinds > TSL_MODEL_KINDS)
        return false;
    for (unsigned i = 0; i < run->n_kinds; i++) {
        struct tsl_slowness *slowness = &run->kinds[i];

        slowness->kind = tsl_read_u64(r);
        slowness->n = tsl_read_u32_max(r, TSL_MODEL_MOST);
        slowness->n_tries = tsl_read_u32_max(r, TSL_MODEL_MOST);
        slowness->first = get_samples(r);
        slowness->later = get_float(r);
        if ((slowness->n > 0) != (slowness->first.n > 0))
            return false;
    }
    get_density(r, run);
    /* Where there are kinds, the first one's times are the work. */
    return !r->failed && (run->n_kinds == 0 || (run->work.n > 0 && run->kinds[0].n > 0));
}

static void put_model_locked(struct tsl_writer *w, struct tsl_model *model)
{
    tsl_model_order_locked(model);
    tsl_write_u32(w, (uint32_t)HASH_COUNT(model->runs));
    for (const struct tsl_model_run *run = model->runs; run; run = run->hh.next)
        put_run(w, run);
    tsl_write_u32(w, model->n_pairs);
    for (unsigned i = 0; i < model->n_pairs; i++) {
        tsl_write_u64(w, model->pairs[i]->from);
        tsl_write_u64(w, model->pairs[i]->to);
        for (unsigned class = 0; class < TSL_MODEL_CLASSES; class ++)
            put_samples(w, &model->pairs[i]->ns[class]);
    }
    tsl_write_u32(w, model->n_ratios);
    for (unsigned i = 0; i < model->n_ratios; i++) {
        tsl_write_u64(w, model->ratios[i].a);
        tsl_write_u64(w, model->ratios[i].b);
        put_samples(w, &model->ratios[i].times);
    }
}

/* What this process knows itself stays, and counts as used later than all that is read; `at`: its place in the file,
 * where the oldest stands first. */
static void take_run_locked(struct tsl_model *model, const struct tsl_model_run *read, uint32_t at)
{
    struct tsl_model_run *run = tsl_model_add_locked(model, read->key.kernel, read->key.class);

    if (!run || run->used > TSL_MODEL_OWN)
        return;
    run->used = at;
    run->past_ns = read->past_ns;
    run->work = read->work;
    run->n_kinds = read->n_kinds;
    memcpy(run->kinds, read->kinds, sizeof run->kinds);
    free(run->density);
    run->density = NULL;
    if (read->density)
        tsl_model_lay_locked(run, read->density->dimension, &read->density->work);
}

static void get_pair_locked(struct tsl_reader *r, struct tsl_model *model)
{
    uint64_t from = tsl_read_u64(r), to = tsl_read_u64(r);
    struct tsl_model_pair *pair = r->failed ? NULL : tsl_model_pair_locked(model, from, to, true);

    for (unsigned class = 0; class < TSL_MODEL_CLASSES; class ++) {
        struct tsl_samples samples = get_samples(r);

        if (pair && !pair->ns[class].n && !r->failed)
            pair->ns[class] = samples;
    }
}

static void get_ratio_locked(struct tsl_reader *r, struct tsl_model *model)
{
    uint64_t a = tsl_read_u64(r), b = tsl_read_u64(r);
    struct tsl_samples times = get_samples(r);
    struct tsl_model_ratio *ratio = r->failed ? NULL : tsl_model_ratio_locked(model, a, b, true);

    if (ratio && !ratio->times.n)
        ratio->times = times;
}

/* The sum is right, so what is wrong is of another version of ours: what was read until then is as good as any. */
static bool get_model_locked(struct tsl_reader *r, struct tsl_model *model)
{
    uint32_t n = tsl_read_count(r, 27);

    for (uint32_t i = 0; i < n && !r->failed; i++) {
        struct tsl_model_run run = {0};

        bool good = get_run(r, &run);

        if (good)
            take_run_locked(model, &run, i);
        free(run.density);
        if (!good)
            return false;
    }
    n = tsl_read_count(r, 16);
    for (uint32_t i = 0; i < n && !r->failed; i++)
        get_pair_locked(r, model);
    n = tsl_read_count(r, 17);
    for (uint32_t i = 0; i < n && !r->failed; i++)
        get_ratio_locked(r, model);
    return tsl_read_end(r);
}

bool tsl_model_decode(struct tsl_model *model, const void *data, size_t size)
{
    struct tsl_reader r = tsl_reader_of(data, size);
    bool good = tsl_read_u32(&r) == MAGIC && tsl_read_u32(&r) == VERSION;
    uint64_t sum = good ? tsl_read_u64(&r) : 0;

    good = good && !r.failed && sum == tsl_bytes_sum(r.data + r.at, r.size - r.at);
    if (good) {
        pthread_mutex_lock(&model->lock);
        good = get_model_locked(&r, model);
        model->n_changes++;
        tsl_model_order_locked(model);
        pthread_mutex_unlock(&model->lock);
    }
    return good;
}

void tsl_model_encode(struct tsl_model *model, struct tsl_writer *writer)
{
    struct tsl_writer body = {0};

    pthread_mutex_lock(&model->lock);
    put_model_locked(&body, model);
    pthread_mutex_unlock(&model->lock);
    tsl_write_u32(writer, MAGIC);
    tsl_write_u32(writer, VERSION);
    tsl_write_u64(writer, tsl_bytes_sum(body.data, body.size));
    tsl_write_raw(writer, body.data, body.size);
    writer->failed |= body.failed;
    free(body.data);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* The file must be the user's own, and nobody else may write in its folder: others could steer what this user's
 * programs do. */
static bool is_trusted(int file, mode_t type)
{
    struct stat about;

    return fstat(file, &about) == 0 && (about.st_mode & S_IFMT) == type && about.st_uid == geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void make_folders(const char *path)
{
    char *copy = strdup(path);

    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    if (copy)
        mkdir(copy, 0700);
    free(copy);
}

static int open_folder(const char *path, bool make)
{
    int folder;

    if (make)
        make_folders(path);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && !is_trusted(folder, S_IFDIR)) {
        tsl_log_once(TSL_LOG_IN_PLACE, TSL_LOG_WARN,
                     "%s is left alone, because it isn't this user's own or others may write there", path);
        close(folder);
        folder = -1;
    }
    return folder;
}

static bool read_whole(int file, void *data, size_t size)
{
    for (char *at = data; size;) {
        ssize_t n = read(file, at, size);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* Its contents (heap); NULL: none, or not to be trusted. */
static void *read_file(const char *path, size_t *size)
{
    int folder = open_folder(path, false);
    int file = folder < 0 ? -1 : openat(folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    void *data = NULL;

    if (file >= 0 && is_trusted(file, S_IFREG) && fstat(file, &about) == 0 && about.st_size <= (off_t)MAX_SIZE) {
        *size = (size_t)about.st_size;
        data = malloc(*size + 1);
    }
    if (data && !read_whole(file, data, *size)) {
        free(data);
        data = NULL;
    }
    if (file >= 0)
        close(file);
    if (folder >= 0)
        close(folder);
    return data;
}

bool tsl_model_read(struct tsl_model *model, const char *path)
{
    size_t size = 0;
    void *data = read_file(path, &size);
    bool good = data && tsl_model_decode(model, data, size);

    if (data && !good)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "%s/" FILE_NAME " can't be read and is made anew", path);
    free(data);
    return good;
}

/* What earlier versions of ours kept. Another Tesela of this user's, in a wheel or a container say, may be one that
 * writes it after each run. */
static void remove_older(int folder)
{
    struct stat about;
    char name[32];

    for (unsigned version = 1; version < VERSION; version++) {
        snprintf(name, sizeof name, "models-%u", version);
        if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && about.st_mtime < time(NULL) - UNUSED_S)
            unlinkat(folder, name, 0);
    }
}

static bool write_aside(int folder, void *data, size_t size)
{
    char aside[64];
    int file;
    bool done;

    snprintf(aside, sizeof aside, "new-models-%d", (int)getpid());
    unlinkat(folder, aside, 0); /* of a process of that number that died */
    file = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    done = tsl_file_write(file, data, size) == 0;
    done &= close(file) == 0;
    if (done && renameat(folder, aside, folder, FILE_NAME) == 0) {
        remove_older(folder);
        return true;
    }
    unlinkat(folder, aside, 0);
    return false;
}

bool tsl_model_write(struct tsl_model *model, const char *path)
{
    struct tsl_writer whole = {0};
    int folder = open_folder(path, true);
    bool done = false;

    if (folder < 0)
        return false;
    tsl_model_encode(model, &whole);
    if (!whole.failed && whole.size <= MAX_SIZE)
        done = write_aside(folder, whole.data, whole.size);
    free(whole.data);
    close(folder);
    return done;
}

/* ---- The process's model ---- */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* above the model's; also: one writes at a time */
static struct tsl_model *kept;                                /* NULL: not yet asked for */

struct tsl_model *tsl_model_kept(const char *folder)
{
    struct tsl_model *model;

    if (!folder)
        return tsl_model_create();
    pthread_mutex_lock(&kept_lock);
    if (!kept) {
        kept = tsl_model_create();
        if (kept && (kept->folder = strdup(folder)))
            tsl_model_read(kept, folder);
    }
    model = kept ? tsl_model_ref(kept) : NULL;
    pthread_mutex_unlock(&kept_lock);
    return model;
}

bool tsl_model_is_due(struct tsl_model *model, uint64_t now_ns)
{
    bool due = false;

    if (!model->folder)
        return false;
    pthread_mutex_lock(&model->lock);
    if (model->n_new && !model->due_ns)
        model->due_ns = now_ns + FIRST_NS;
    due = model->n_new && now_ns >= model->due_ns;
    pthread_mutex_unlock(&model->lock);
    return due;
}

static void keep_locked(struct tsl_model *model, uint64_t now_ns, bool at_end)
{
    bool news;

    pthread_mutex_lock(&model->lock);
    news = model->n_new || (at_end && model->has_spent);
    model->n_new = 0;
    model->has_spent = false;
    model->wait_ns = model->wait_ns ? 2 * model->wait_ns : 2 * FIRST_NS;
    model->wait_ns = model->wait_ns < LATER_NS ? model->wait_ns : LATER_NS;
    model->due_ns = now_ns + model->wait_ns;
    pthread_mutex_unlock(&model->lock);
    if (news) {
        tsl_model_read(model, model->folder);
        if (!tsl_model_write(model, model->folder))
            tsl_log_once(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "what was learned can't be kept in %s", model->folder);
    }
}

void tsl_model_keep(struct tsl_model *model, uint64_t now_ns)
{
    if (!model->folder)
        return;
    pthread_mutex_lock(&kept_lock);
    keep_locked(model, now_ns, false);
    pthread_mutex_unlock(&kept_lock);
}

/* Does no thread have the lock? The one that ends the process may have been interrupted under it. */
static bool is_free(pthread_mutex_t *lock)
{
    bool is = pthread_mutex_trylock(lock) == 0;

    if (is)
        pthread_mutex_unlock(lock);
    return is;
}

void tsl_model_keep_at_exit(void)
{
    if (tsl_forked() || pthread_mutex_trylock(&kept_lock))
        return;
    if (kept && kept->folder && is_free(&kept->lock))
        keep_locked(kept, 0, true);
    pthread_mutex_unlock(&kept_lock);
}

void tsl_model_forget(void)
{
    pthread_mutex_lock(&kept_lock);
    tsl_model_unref(kept);
    kept = NULL;
    pthread_mutex_unlock(&kept_lock);
}
