/*
 * Machine code for one local size, and for images of certain formats. A kernel is compiled for any local size first.
 * Where it asks for more than global ids, the general code of small groups, or of phases between barriers, may take
 * much longer than code that knows the size (docs/lab/experiments.md). So once such a kernel has run for a while at
 * some size, a thread of ours has it compiled for that one; the cache knows it from then on. No launch waits for that.
 * When the code is there, pieces of launches run by chance the one or the other for a while, and what takes less time
 * stays.
 *
 * A kernel with images is compiled for the formats and samplers that it is given, too, and sooner: code for any format
 * takes several times as long.
 */
#include "cpu_device/special.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/worker.h"
#include "compile_client/kernel_image.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of one kernel that are watched, and that are compiled for. */
#define MAX_WATCHED  16u
#define MAX_COMPILED 4u

/* Images and samplers of a kernel; with more it is compiled for no formats. */
#define MAX_KNOWN 16u

/* Some code takes another time because other work comes between: it must be better by so much, in percent. */
#define GAIN       3u
#define MIN_PIECES 24u

struct side {
    atomic_uint_least64_t ns, groups, pieces;
};

/* What code is made for. */
struct key {
    uint64_t size[3]; /* 0 0 0: any local size that the general code takes */
    uint32_t n_known; /* images and samplers */
    struct tsl_wire_known known[MAX_KNOWN];
};

struct cpu_special {
    struct cpu_specials *all;
    struct cpu_special *next;
    struct tsl_job job;
    const struct tsl_wg_kernel *general; /* the program's; for launches, which it outlives */
    struct tsl_wg_kernel like;           /* a copy, and of the name: for the thread that compiles */
    struct key key;
    atomic_int state;
    atomic_uint turn;
    struct side sides[2]; /* general, special */
    atomic_bool by_chance;
    /* Written before the state is CPU_TRIAL (release), read after that was seen (acquire). */
    struct cpu_code loaded;
    const struct tsl_wg_kernel *code;
};

struct cpu_specials {
    atomic_uint refs; /* the program's, and one for each that is asked for */
    struct tsl_wire_build request;
    uint32_t n_kernels;
    const struct tsl_wg_kernel *kernels;
    struct watched {
        _Atomic(struct cpu_special *) list; /* entries are put in front, and stay */
        atomic_uint n_watched, n_compiled;
        bool images; /* the kernel has some, and is compiled for their formats */
    } watched[];
};

/* Nanoseconds of threads' time: before compiling for a size is worth it; and of each side, before the two are compared.
 */
static uint64_t ask_ns = 200000000, trial_ns = 10000000;

/* With images by so much sooner. */
#define SOONER 8u

void cpu_special_set_times(uint64_t ask, uint64_t trial)
{
    ask_ns = ask;
    trial_ns = trial;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void free_request(struct tsl_wire_build *request)
{
    for (uint32_t i = 0; i < request->n_inputs; i++)
        free((void *)(uintptr_t)request->inputs[i].data);
    free((void *)(uintptr_t)request->il);
    tsl_wire_build_finish(request);
}

static bool copy_inputs(const struct tsl_wire_build *from, struct tsl_wire_build *to)
{
    to->inputs = calloc(from->n_inputs + 1, sizeof(*to->inputs));
    if (!to->inputs)
        return false;
    for (; to->n_inputs < from->n_inputs; to->n_inputs++) {
        const struct tsl_wire_input *input = &from->inputs[to->n_inputs];
        void *data = malloc(input->size + 1);

        if (!data)
            return false;
        to->inputs[to->n_inputs] = (struct tsl_wire_input){memcpy(data, input->data, input->size), input->size};
    }
    return true;
}

static bool copy_il(const struct tsl_wire_build *from, struct tsl_wire_build *to)
{
    void *il = malloc(from->il_size);

    to->translator = strdup(from->translator);
    to->il = il ? memcpy(il, from->il, from->il_size) : NULL;
    to->il_size = from->il_size;
    return to->translator && to->il;
}

static bool copy_request(const struct tsl_wire_build *from, struct tsl_wire_build *to)
{
    *to = (struct tsl_wire_build){.action = from->action, .target = from->target};
    to->options = strdup(from->options ? from->options : "");
    to->source = strdup(from->source ? from->source : "");
    return to->options && to->source && (!from->translator || copy_il(from, to)) && copy_inputs(from, to);
}

static void unref(struct cpu_specials *all)
{
    if (atomic_fetch_sub(&all->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < all->n_kernels; i++)
        for (struct cpu_special *s = atomic_load(&all->watched[i].list), *next; s; s = next) {
            next = s->next;
            cpu_code_unload(&s->loaded);
            free((void *)(uintptr_t)s->like.name);
            free(s);
        }
    free_request(&all->request);
    free(all);
}

static bool takes_image(const struct tsl_wg_arg *arg)
{
    return arg->kind == TSL_WG_IMAGE;
}

static bool is_known(const struct tsl_wg_arg *arg)
{
    return arg->kind == TSL_WG_IMAGE || arg->kind == TSL_WG_SAMPLER;
}

static bool has_images(const struct tsl_wg_kernel *kernel)
{
    bool any = false;
    unsigned n = 0;

    for (uint32_t i = 0; i < kernel->n_args; i++) {
        any |= takes_image(&kernel->args[i]);
        n += is_known(&kernel->args[i]);
    }
    return any && n <= MAX_KNOWN;
}

struct cpu_specials *cpu_specials_create(const struct tsl_wire_build *request, const struct tsl_wire_built *built,
                                         const struct tsl_wg_module *module)
{
    struct cpu_specials *all;

    /* Files may be others by then, but for the translator of IL. */
    if ((built->n_files && !request->translator) || request->n_headers || tsl_settings()->reproducible)
        return NULL;
    all = calloc(1, sizeof(*all) + module->n_kernels * sizeof(all->watched[0]));
    if (!all)
        return NULL;
    atomic_init(&all->refs, 1);
    all->n_kernels = module->n_kernels;
    all->kernels = module->kernels;
    for (uint32_t i = 0; i < module->n_kernels; i++)
        all->watched[i].images = has_images(&module->kernels[i]);
    if (copy_request(request, &all->request))
        return all;
    unref(all);
    return NULL;
}

void cpu_specials_free(struct cpu_specials *all)
{
    if (all)
        unref(all);
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

/* Made for the size, and otherwise the same? */
static bool fits(const struct cpu_special *s, const struct tsl_wg_kernel *code)
{
    const uint64_t *size = s->key.size[0] ? s->key.size : s->like.only_local;
    bool whole = s->key.size[0] || code->flags & TSL_WG_REMAINDERS || !(s->like.flags & TSL_WG_REMAINDERS);

    return whole && memcmp(code->only_local, size, sizeof(s->key.size)) == 0 && code->n_args == s->like.n_args &&
           code->args_size == s->like.args_size && code->local_size == s->like.local_size;
}

static bool compile(struct cpu_special *s)
{
    struct tsl_wire_build request = s->all->request;
    struct tsl_compiled compiled;
    bool done;

    request.kernel = (char *)(uintptr_t)s->like.name;
    memcpy(request.local_size, s->key.size, sizeof(s->key.size));
    request.n_known = s->key.n_known;
    request.known = s->key.known;
    done = tsl_compile(&request, &compiled) == CL_SUCCESS &&
           cpu_code_load(&s->loaded, compiled.built.artefact, compiled.built.artefact_size) &&
           s->loaded.module->n_kernels == 1 && fits(s, &s->loaded.module->kernels[0]);
    tsl_compiled_finish(&compiled);
    if (done)
        s->code = &s->loaded.module->kernels[0];
    return done;
}

static struct tsl_worker compiler = TSL_WORKER("tesela-special");

static void run_job(struct tsl_job *job)
{
    struct cpu_special *s = (struct cpu_special *)((char *)job - offsetof(struct cpu_special, job));
    bool done = compile(s);

    if (!done)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "kernel %s can't be compiled for one local size", s->like.name);
    atomic_store_explicit(&s->state, done ? CPU_TRIAL : CPU_NONE, memory_order_release);
    unref(s->all);
}

/* The program outlives its launches, so it is there. */
static void ask(struct cpu_special *s)
{
    atomic_fetch_add(&s->all->refs, 1);
    s->job.run = run_job;
    if (tsl_worker_post(&compiler, &s->job))
        return;
    atomic_store(&s->state, CPU_NONE);
    unref(s->all);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static bool is_same(const struct key *a, const struct key *b)
{
    return memcmp(a->size, b->size, sizeof(a->size)) == 0 && a->n_known == b->n_known &&
           memcmp(a->known, b->known, a->n_known * sizeof(a->known[0])) == 0;
}

static struct cpu_special *find(struct watched *watched, const struct key *key)
{
    struct cpu_special *s = atomic_load_explicit(&watched->list, memory_order_acquire);

    while (s && !is_same(&s->key, key))
        s = s->next;
    return s;
}

/* Two threads may add the same key: the one behind is of no use then. */
static struct cpu_special *add(struct cpu_specials *all, struct watched *watched, const struct tsl_wg_kernel *general,
                               const struct key *key)
{
    struct cpu_special *s = NULL;

    if (atomic_fetch_add(&watched->n_watched, 1) < MAX_WATCHED)
        s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->all = all;
    s->general = general;
    s->like = *general;
    s->like.name = strdup(general->name);
    if (!s->like.name) {
        free(s);
        return NULL;
    }
    s->key.n_known = key->n_known;
    memcpy(s->key.size, key->size, sizeof(key->size));
    memcpy(s->key.known, key->known, key->n_known * sizeof(key->known[0]));
    s->next = atomic_load_explicit(&watched->list, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&watched->list, &s->next, s, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return s;
}

/* What the argument block says of an argument. */
static struct tsl_wire_known known_of(const struct tsl_wg_arg *arg, uint32_t number, const char *args)
{
    const struct tsl_kc_image *image;
    uint64_t sampler;

    if (!takes_image(arg)) {
        memcpy(&sampler, args + arg->offset, sizeof(sampler));
        return (struct tsl_wire_known){.arg = number, .sampler = (uint32_t)sampler};
    }
    memcpy(&image, args + arg->offset, sizeof(image));
    return (struct tsl_wire_known){.arg = number,
                                   .channel_order = image->channel_order,
                                   .channel_type = image->channel_type,
                                   .element_size = image->element_size,
                                   .n_channels = image->n_channels,
                                   .kind = image->kind,
                                   .alpha = image->alpha};
}

/* Is the launch one of whole groups, of a kernel that is compiled for any size but knows more with one? */
static bool gains_by_size(const struct tsl_wg_kernel *general, const struct tsl_wg_launch *launch)
{
    if (general->flags & TSL_WG_FLAT || (general->only_local[0] && !(general->flags & TSL_WG_REMAINDERS)))
        return false;
    for (unsigned d = 0; d < 3; d++)
        if (launch->global_size[d] % launch->local_size[d])
            return false;
    return true;
}

static void make_key(const struct watched *watched, const struct tsl_wg_kernel *general,
                     const struct tsl_wg_launch *launch, bool sized, struct key *key)
{
    key->n_known = 0;
    for (unsigned d = 0; d < 3; d++)
        key->size[d] = sized ? launch->local_size[d] : 0;
    for (uint32_t i = 0; i < general->n_args && watched->images; i++)
        if (is_known(&general->args[i]))
            key->known[key->n_known++] = known_of(&general->args[i], i, launch->args);
}

struct cpu_special *cpu_special_of(struct cpu_specials *all, const struct tsl_wg_kernel *general,
                                   const struct tsl_wg_launch *launch)
{
    struct watched *watched = all ? &all->watched[general - all->kernels] : NULL;
    bool sized = gains_by_size(general, launch);
    struct cpu_special *s;
    struct key key;

    if (!all || !(sized || watched->images))
        return NULL;
    make_key(watched, general, launch, sized, &key);
    s = find(watched, &key);
    if (!s && atomic_load_explicit(&watched->n_watched, memory_order_relaxed) < MAX_WATCHED)
        s = add(all, watched, general, &key);
    return s;
}

/* For images the code is faster nearly always: all pieces run it once it is there, and are compared with those before
 * it was asked for. Launches may have become longer meanwhile: if it seems no faster, chance decides after all. */
static bool takes_all(const struct cpu_special *s)
{
    return s->key.n_known > 0 && !atomic_load_explicit(&s->by_chance, memory_order_relaxed);
}

struct cpu_version cpu_special_choose(struct cpu_special *s, const struct cpu_version *general)
{
    int state = s ? atomic_load_explicit(&s->state, memory_order_acquire) : CPU_LEFT;
    bool all = s && takes_all(s), trial = state == CPU_TRIAL || (all && state == CPU_COUNTING);
    unsigned turn;

    if (state == CPU_TRIAL && all) {
        state = CPU_USED;
    } else if (state == CPU_TRIAL) {
        /* By chance, so that launches that differ in turns are compared fairly. */
        turn = atomic_fetch_add_explicit(&s->turn, 1, memory_order_relaxed) * 2654435761u;
        state = turn >> 31 ? CPU_USED : CPU_LEFT;
    }
    if (state != CPU_USED)
        return (struct cpu_version){general->code, general->begin, general->end, trial};
    return (struct cpu_version){s->code, s->loaded.begin, s->loaded.end, trial};
}

static void forget(struct cpu_special *s)
{
    for (int i = 0; i < 2; i++) {
        atomic_store(&s->sides[i].ns, 0);
        atomic_store(&s->sides[i].groups, 0);
        atomic_store(&s->sides[i].pieces, 0);
    }
}

static void decide(struct cpu_special *s)
{
    uint64_t ps[2];
    int trial = CPU_TRIAL;
    bool better;

    for (int i = 0; i < 2; i++) {
        uint64_t ns = atomic_load_explicit(&s->sides[i].ns, memory_order_relaxed);
        uint64_t groups = atomic_load_explicit(&s->sides[i].groups, memory_order_relaxed);
        uint64_t pieces = atomic_load_explicit(&s->sides[i].pieces, memory_order_relaxed);
        bool enough = (i == 0 && takes_all(s)) || (ns >= trial_ns && pieces >= MIN_PIECES);

        if (!groups || !enough)
            return;
        ps[i] = ns * 1000 / groups + 1;
    }
    better = ps[1] * 100 <= ps[0] * (100 - GAIN);
    if (!better && takes_all(s)) {
        forget(s);
        atomic_store(&s->by_chance, true);
    } else if (atomic_compare_exchange_strong(&s->state, &trial, better ? CPU_USED : CPU_LEFT)) {
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO,
                "kernel %s for local size %u x %u x %u, %u images and samplers, takes %u %% of the general one's time",
                s->general->name, (unsigned)s->key.size[0], (unsigned)s->key.size[1], (unsigned)s->key.size[2],
                (unsigned)s->key.n_known, (unsigned)(ps[1] * 100 / ps[0]));
    }
}

static void add_piece(struct side *side, uint64_t ns, uint64_t groups)
{
    atomic_fetch_add_explicit(&side->ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&side->groups, groups, memory_order_relaxed);
    atomic_fetch_add_explicit(&side->pieces, 1, memory_order_relaxed);
}

static void count(struct cpu_special *s, uint64_t ns, uint64_t groups)
{
    struct watched *watched = &s->all->watched[s->general - s->all->kernels];
    struct side *general = &s->sides[0];
    int counting = CPU_COUNTING;

    add_piece(general, ns, groups);
    if (atomic_load_explicit(&general->ns, memory_order_relaxed) < (takes_all(s) ? ask_ns / SOONER : ask_ns) ||
        !atomic_compare_exchange_strong(&s->state, &counting, CPU_ASKED))
        return;
    /* Else what was counted isn't the threads' own time. Nothing is added between CPU_ASKED and CPU_TRIAL. */
    if (!takes_all(s))
        forget(s);
    if (atomic_fetch_add(&watched->n_compiled, 1) < MAX_COMPILED)
        ask(s);
    else
        atomic_store(&s->state, CPU_NONE);
}

void cpu_special_learn(struct cpu_special *s, const struct cpu_version *version, uint64_t ns, uint64_t groups)
{
    int state = s ? atomic_load_explicit(&s->state, memory_order_relaxed) : CPU_LEFT;

    if (state == CPU_COUNTING)
        count(s, ns, groups);
    if (state != CPU_TRIAL || !version->trial)
        return;
    add_piece(&s->sides[version->code != s->general], ns, groups);
    decide(s);
}

enum cpu_special_state cpu_special_state(const struct cpu_special *s)
{
    return (enum cpu_special_state)atomic_load(&s->state);
}
