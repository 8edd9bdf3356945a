/* A machine of fake members, and what runs its threads. */
#include "sim.h"

#include "base/clock.h"
#include "base/settings.h"
#include "driver/fake.h"
#include "graph/chain.h"
#include "graph/graph.h"
#include "graph/join.h"
#include "graph/lead.h"
#include "graph/redo.h"
#include "graph/runs.h"
#include "graph/schedule.h"
#include "graph/slabs.h"
#include "graph/state.h"
#include "graph/tidy.h"
#include "graph/touch.h"
#include "jobs.h"
#include "kernels.h"
#include "members/members.h"
#include "place/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct sim_world *running; /* the simulation in force in this process */
static struct tsl_fake_setup setup;
static unsigned long long n_again_before;      /* this run */
static atomic_bool lost[TSL_FAKE_MAX_MEMBERS]; /* by sim_world_lose, in this run: of any program */

bool sim_world_has_threads(void)
{
    return running->options.threads;
}

/* What the members did, for a reader of a failure. */
static void tell_records(struct sim *sim)
{
    static const char *const kinds[TSL_FAKE_N_KINDS] = {"write", "read",    "copy",   "peer",
                                                        "fill",  "combine", "launch", "mark"};
    struct tsl_fake_record record;

    for (size_t i = 0; tsl_fake_record(i, &record); i++)
        sim_tell(sim, "# %llu: member %u (from %u) lane %u: %s %s %zu: %d", (unsigned long long)record.id,
                 record.member, record.from, record.lane, kinds[record.kind], record.kernel ? record.kernel : "",
                 record.size, record.status);
}

/* A program that hangs can't be unwound. */
static void give_up(const char *why)
{
    for (unsigned i = 0; i < running->n_sims; i++)
        fprintf(stderr, "%s", running->sims[i]->story);
    fprintf(stderr, "%s\n%s", why, tsl_fake_stuck());
    abort();
}

/* ---- Threads as jobs that chance runs ---- */

static uint64_t chance; /* of what runs next; not the programs', which are to stay what they are */

static uint64_t next_chance(void)
{
    chance += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix(chance);
}

static bool run_job(void)
{
    return jobs_run(jobs_n_workers() ? next_chance() : 0);
}

/* The application's other threads. */
static bool run_other(void)
{
    unsigned first = (unsigned)(next_chance() % running->n_sims);

    for (unsigned k = 0; k < running->n_sims; k++)
        if (sim_later_run(running->sims[(first + k) % running->n_sims], first))
            return true;
    return false;
}

static bool run_thread(void)
{
    if (next_chance() % 4 == 0)
        return run_other() || run_job();
    return run_job() || run_other();
}

static bool step(void)
{
    uint64_t number = next_chance() >> 1;

    if (next_chance() % 2)
        return run_thread() || tsl_fake_step(number);
    return tsl_fake_step(number) || run_thread();
}

/* A call of the core blocks until something changes. */
static void block(void)
{
    if (!step())
        give_up("the program hangs: nothing is left that could run");
}

/* A call of the driver blocks: other threads go on meanwhile. */
static bool meanwhile(void *arg)
{
    (void)arg;
    return run_thread();
}

/* No driver is called under the graph's lock: nobody else than the one thread can hold it. */
static void check_lock(void *arg, const char *operation)
{
    (void)arg;
    for (unsigned i = 0; running->sims[0]->queues[0] && i < running->n_contexts; i++) {
        struct tsl_context *context = (struct tsl_context *)running->contexts[i];

        if (!context)
            continue;
        if (pthread_mutex_trylock(&context->graph->lock.mutex))
            sim_fail(running->sims[0], "%s was called under the graph's lock", operation);
        else
            pthread_mutex_unlock(&context->graph->lock.mutex);
    }
}

static const struct tsl_simulation simulation = {.posted = jobs_posted, .block = block};

void sim_world_move(struct sim *sim)
{
    if (sim->options.threads) {
        sim_rest();
        return;
    }
    chance = sim_mix(sim_mix(sim->options.seed) + 1000 + sim->step);
    if (sim->options.sabotage) /* So that what comes too early does so at the worst time: when somebody waits. */
        return;
    for (uint64_t n = next_chance() % 6; n > 0; n--)
        step();
}

/* ---- Members ---- */

static struct tsl_fake_member random_member(struct sim *sim)
{
    struct tsl_fake_member member = {
        .gates = !sim_once_in(sim, 4),
        .peer = sim_once_in(sim, 2),
        .submits_block = sim_once_in(sim, 4),
        .zero_copy = sim_once_in(sim, 6),
        .zero_copy_images = sim_once_in(sim, 2),
        .images = !sim_once_in(sim, 4),
        .lazy_memory = sim_once_in(sim, 3),
        .context = sim_once_in(sim, 3) ? 1 : 0,
        .no_profile = sim_once_in(sim, 4),
        .speed = 1 + sim_pick(sim, 8),
        .delay_ns = sim_once_in(sim, 3) ? 0 : 1000 * sim_pick(sim, 50),
        .bandwidth = sim_once_in(sim, 2) ? 0 : 10000000,
    };

    /* Any one command finds room. */
    if (sim->options.small_memory)
        member.memory_size = 2 * SIM_MAX_SIZE + 64 * sim_pick(sim, 16);
    if (sim->options.plain & SIM_PLAIN_MEMBERS)
        member = (struct tsl_fake_member){.gates = true, .images = member.images, .memory_size = member.memory_size};
    return member;
}

/* Members among which launches are cut. Not by the program's chance. */
static void split_member(const struct sim_world *world, unsigned i)
{
    uint64_t number = sim_mix(world->options.seed + 300 + i);

    setup.members[i].no_windows = number % 8 == 0;
    setup.members[i].no_combine = number >> 20 & 8 && number >> 20 & 4;
    if (sim_mix(world->options.seed + 299) % (world->options.losses ? 3 : 8) ==
        0) /* All shares of a launch work on the same bytes. */
        setup.members[i].zero_copy = true;
    if (world->options.split != SIM_SPLIT_AUTO)
        return;
    setup.members[i].item_ns = 10000 + number / 8 % 8 * 5000;
    if (number / 64 % 4) /* What is known of one is known of all. */
        setup.members[i].name = "fake";
}

/* In some worlds members are a domain, or pairs of them are: what a launch may write anywhere is spread over them. Not
 * by the program's chance. */
static void domain_member(const struct sim_world *world, unsigned i)
{
    uint64_t way = sim_mix(world->options.seed + 699) % 8, number = sim_mix(world->options.seed + 700 + i);

    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_DOMAIN)
        way = 4 + way % 4;
    if (way < 4 || (way < 6 && number % 4 == 0))
        return;
    setup.members[i].domain = way == 7 ? 1 + i / 2 : 1;
    setup.members[i].domain_atomics = sim_mix(world->options.seed + 698) % 4 > 0;
    setup.members[i].domain_granule = number / 4 % 2 ? 256 : 64;
    setup.members[i].zero_copy = false;
    if (world->options.tiny_memory && sim_mix(world->options.seed + 697) % 4) /* What none of them holds all do. */
        setup.members[i].memory_size = 128 + 64 * (sim_mix(world->options.seed + 696) % 12);
}

/* Members that hold a part of a launch's buffers, or little more; some hold all, and most of these are slow. Not by the
 * program's chance. */
static void tiny_member(const struct sim_world *world, unsigned i)
{
    uint64_t number = sim_mix(world->options.seed + 500 + i);

    setup.members[i].memory_size = 128 + 64 * (number % 16);
    setup.members[i].max_alloc_size = 1 << 20;
    setup.members[i].told_size = 0;
    setup.members[i].base_align = number / 16 % 2 ? 8 : 16;
    setup.members[i].takes_parts = number / 32 % 8 != 0;
    setup.members[i].zero_copy = number / 256 % 8 == 0;
    if (number / 2048 % 4)
        return;
    setup.members[i].memory_size = 1 << 20;
    setup.members[i].zero_copy = number / 8192 % 2;
    setup.members[i].speed = number / 16384 % 4 ? 0.05 : setup.members[i].speed;
}

/* In some worlds members get ready late, or by the first call that needs them. Not by the program's chance. */
static void late_member(const struct sim_world *world, unsigned i)
{
    uint64_t number = sim_mix(world->options.seed + 600 + i);

    if (world->options.sabotage || sim_mix(world->options.seed + 599) % 8)
        return;
    setup.members[i].opens_later = number % 4 != 0;
    setup.members[i].opens_ns = number / 4 % 64 * 1000;
}

/* On some members out-of-order queues have several lanes. Not by the program's chance. */
static void abreast_member(const struct sim_world *world, unsigned i)
{
    setup.members[i].lanes_abreast = sim_mix(world->options.seed + 800 + i) % 2;
}

static void make_members(struct sim_world *world)
{
    struct sim *sim = world->sims[0];

    setup = (struct tsl_fake_setup){
        .n_members = 1 + sim_pick(sim, 3),
        .threads = world->options.threads,
        .seed = sim_random(sim),
        .on_block = world->options.threads ? NULL : meanwhile,
        .on_call = world->options.threads ? NULL : check_lock,
        .abort_on_violation = world->options.abort_at_violation,
    };
    if (world->options.split)
        setup.n_members = 1 + (unsigned)(sim_mix(world->options.seed + 77) % 4);
    /* The core makes rows where there is one member. */
    if (world->options.plain & SIM_PLAIN_ONE ||
        (world->options.repeats && sim_mix(world->options.seed) % (world->options.split ? 8 : 2)))
        setup.n_members = 1;
    for (unsigned i = 0; i < setup.n_members; i++)
        setup.members[i] = random_member(sim);
    for (unsigned i = 0; i < setup.n_members && world->options.split; i++)
        split_member(world, i);
    for (unsigned i = 0; i < setup.n_members && !(world->options.plain & SIM_PLAIN_MEMBERS); i++)
        abreast_member(world, i);
    for (unsigned i = 0; i < setup.n_members && world->options.pins; i++)
        setup.members[i].register_after = (unsigned)(sim_mix(world->options.seed + i) % 3);
    for (unsigned i = 0; i < setup.n_members; i++)
        if (world->options.failures && world->options.small_memory && sim_once_in(sim, 2))
            setup.members[i].told_size = UINT64_C(1) << 30;
    for (unsigned i = 0; i < setup.n_members && world->options.tiny_memory; i++)
        tiny_member(world, i);
    for (unsigned i = 0; i < setup.n_members && world->options.split; i++)
        domain_member(world, i);
    for (unsigned i = 0; i < setup.n_members; i++)
        late_member(world, i);
    /* Not by chance, which would change the programs. The first: so few that programs of this length have joins, ranges
     * of many rows, slabs, and tiles with too many uses of parts. */
    tsl_join_at = 2 + (unsigned)(sim_mix(world->options.seed) % 4);
    tsl_runs_most = 1u << sim_mix(world->options.seed + 11) % 5;
    tsl_runs_large = sim_mix(world->options.seed + 13) % 2 ? 1 : (size_t)64 << 10;
    tsl_runs_far = sim_mix(world->options.seed + 13) % 2 ? 16 : 4096;
    tsl_slabs_large = sim_mix(world->options.seed + 19) % 4 ? 1 : 4096;
    tsl_slabs_most = 2u << sim_mix(world->options.seed + 20) % 6;
    tsl_chain_window_ns = sim_mix(world->options.seed + 14) % 4 ? 0 : 1e4; /* Tiny windows are chained, too. */
    tsl_touch_parts = 1u << sim_mix(world->options.seed + 12) % 4;
    tsl_touch_tiles = 1u << sim_mix(world->options.seed + 14) % 6;
    tsl_tidy_tiles = 1u << sim_mix(world->options.seed + 16) % 5;
    tsl_tidy_turns = 1 + (unsigned)(sim_mix(world->options.seed + 17) % 3);
    tsl_schedule_most = (unsigned)(sim_mix(world->options.seed + 18) % 4);
    tsl_lead_items = sim_mix(world->options.seed + 15) % 4 ? 1 : 1u << 14; /* Tiny launches begin by windows, too. */
    tsl_lead_fill = 0;
    tsl_lead_long_ns = sim_mix(world->options.seed + 15) / 4 % 2 ? 1e4 : 2e6;
    for (unsigned i = 0; i < setup.n_members; i++)
        setup.members[i].tells_late = sim_mix(world->options.seed + 1 + i) % 4 != 0;
    tsl_fake_begin(&setup);
    for (unsigned i = 0; i < setup.n_members; i++) {
        const struct tsl_fake_member *is = &setup.members[i];

        sim_tell(sim, "# member %u:%s%s%s%s%s%s%s%s context %u, delay %llu ns, memory %llu", i,
                 is->gates ? " gates" : "", is->images ? " images" : "",
                 is->zero_copy_images ? " zero_copy_images" : "", is->peer ? " peer" : "",
                 is->submits_block ? " submits_block" : "", is->zero_copy ? " zero_copy" : "",
                 is->lazy_memory ? " lazy" : "", is->tells_late ? " tells_late" : "", is->context,
                 (unsigned long long)is->delay_ns, (unsigned long long)is->memory_size);
        if (is->register_after)
            sim_tell(sim, "# member %u pins memory of the program's after %u times", i, is->register_after);
        if (is->told_size)
            sim_tell(sim, "# member %u says that it has more", i);
        if (is->opens_later)
            sim_tell(sim, "# member %u gets ready late, in %llu ns", i, (unsigned long long)is->opens_ns);
        if (is->domain)
            sim_tell(sim, "# member %u is of the domain %u", i, is->domain);
        if (is->no_windows)
            sim_tell(sim, "# member %u runs launches whole", i);
    }
}

void sim_world_take_back(struct sim *sim, const void *ptr, size_t size)
{
    if (tsl_fake_registered(ptr, size))
        sim_fail(sim, "memory of the program's is pinned though it gave the buffer up");
}

void sim_world_begin(struct sim_world *world)
{
    cl_platform_id platform;

    running = world;
    n_again_before = tsl_redo_count();
    for (unsigned i = 0; i < TSL_FAKE_MAX_MEMBERS; i++)
        lost[i] = false;
    world->n_failing = world->options.losses ? 8 : 0; /* So that nothing else is made to fail. */
    jobs_forget();
    chance = sim_mix(world->options.seed);
    if (!world->options.threads)
        tsl_simulation = &simulation;
    kernels_register();
    make_members(world);
    if (world->options.sabotage)
        tsl_fake_sabotage((enum tsl_fake_sabotage)(world->options.sabotage - 1), world->options.sabotage_at);
    tsl_members_register_alone(&tsl_fake_driver);
    world->cl = &tsl_dispatch_table;
    world->n_members = setup.n_members;
    world->has_effects = true;
    for (unsigned i = 0; i < setup.n_members; i++) {
        world->has_images |= setup.members[i].images;
        world->spreads |= setup.members[i].domain > 0;
    }
    /* A context knows nothing of what another holds, nor of what a member says wrongly of itself; and what should make
     * room may fail. What was spread since a launch was enqueued can't be in windows, and may have a part where there
     * is no room for it beside the launch's others. */
    world->tight = (world->options.small_memory || world->options.tiny_memory) &&
                   (world->options.failures || world->n_contexts > 1);
    world->tight |= world->options.tiny_memory && world->spreads;
    world->notes_runs = true;
    world->keeps_order = tsl_settings()->split == TSL_SPLIT_OFF || tsl_settings()->split == TSL_SPLIT_ALWAYS_EXACT;
    world->callbacks_wait =
        !world->options.threads && getenv("TESELA_ORDER") && !strcmp(getenv("TESELA_ORDER"), "sync");
    world->all_profile = true;
    for (unsigned i = 0; i < setup.n_members; i++)
        world->all_profile &= !setup.members[i].no_profile;
    if (tsl_api_clGetPlatformIDs(1, &platform, NULL) ||
        world->cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &world->device, NULL))
        abort();
}

void sim_world_host_access(const void *ptr, size_t size, bool write)
{
    tsl_fake_host_access(ptr, size, write);
}

static void lose(struct sim *sim, unsigned member)
{
    uint64_t when = tsl_clock_ns() + 1000 * sim_pick(sim, 100);

    sim->world->lost = true;
    sim_tell(sim, "# member %u is lost at %llu ns", member, (unsigned long long)when);
    tsl_fake_lose(member, when);
}

bool sim_world_lose(struct sim *sim)
{
    unsigned member = sim_pick(sim, setup.n_members);
    uint64_t when = tsl_clock_ns() + 1000 * sim_pick(sim, 60);
    bool others = false;

    for (unsigned i = 0; i < setup.n_members; i++)
        others |= i != member && !lost[i] && !setup.members[i].no_windows;
    if (!others || lost[member])
        return false;
    lost[member] = sim->world->lost = true;
    sim_tell(sim, "# member %u is lost at %llu ns", member, (unsigned long long)when);
    tsl_fake_lose(member, when);
    return true;
}

bool sim_world_is_shared(void)
{
    bool shared = false;

    for (unsigned i = 0; i < setup.n_members; i++)
        shared |= setup.members[i].zero_copy;
    return shared;
}

void sim_world_inject(struct sim *sim, cl_int code)
{
    static const enum tsl_fake_call calls[] = {TSL_FAKE_COPY, TSL_FAKE_FILL,  TSL_FAKE_LAUNCH, TSL_FAKE_COMBINE,
                                               TSL_FAKE_MARK, TSL_FAKE_ALLOC, TSL_FAKE_GATE,   TSL_FAKE_NOTIFY,
                                               TSL_FAKE_SUB,  TSL_FAKE_LANE,  TSL_FAKE_FLUSH};
    const unsigned n_calls = sizeof calls / sizeof *calls;
    unsigned member = sim_pick(sim, setup.n_members), i = sim_pick(sim, n_calls + 1), k = 1 + sim_pick(sim, 3);
    bool work = i < 4 && sim_once_in(sim, 2);

    if (i == n_calls) {
        lose(sim, member);
        return;
    }
    sim_tell(sim, "# %s %u of member %u will fail: %d", work ? "work" : "call", calls[i], member, code);
    if (work)
        tsl_fake_fail_work(member, calls[i], k, code);
    else
        tsl_fake_fail_call(member, calls[i], k, code);
}

void sim_world_inject_launch(struct sim *sim, unsigned first, cl_int code)
{
    unsigned member = sim_pick(sim, setup.n_members), k = first + sim_pick(sim, 3);
    bool work = sim_once_in(sim, 4);

    if (sim_once_in(sim, 12)) {
        lose(sim, member);
        return;
    }
    sim_tell(sim, "# %s %u from now on of member %u will fail: %d", work ? "the work of launch" : "launch", k, member,
             code);
    if (work)
        tsl_fake_fail_work(member, TSL_FAKE_LAUNCH, k, code);
    else
        tsl_fake_fail_call(member, TSL_FAKE_LAUNCH, k, code);
}

/* ---- The end ---- */

/* Until the last thread has let go of the contexts. */
static void drain(void)
{
    struct timespec moment = {.tv_nsec = 1000000};

    chance = sim_mix(running->options.seed);
    if (!running->options.threads)
        while (step())
            continue;
    for (unsigned n = 0; running->options.threads && (tsl_object_live(TSL_CONTEXT) || tsl_fake_busy()) && n < 5000; n++)
        nanosleep(&moment, NULL);
}

static void check_leaks(struct sim *sim)
{
    static const enum tsl_kind kinds[] = {TSL_CONTEXT, TSL_QUEUE, TSL_BUFFER, TSL_PROGRAM, TSL_KERNEL, TSL_EVENT};
    static const char *const names[] = {"contexts", "queues", "buffers", "programs", "kernels", "events"};
    struct tsl_fake_live live = tsl_fake_live();
    char text[160] = "";

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (tsl_object_live(kinds[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %zu %s", tsl_object_live(kinds[i]), names[i]);
    if (*text)
        sim_fail(sim, "left:%s", text);
    if (live.lanes + live.mems + live.subs + live.fences + live.gates + live.programs + live.kernels) {
        char *leaks = tsl_fake_leaks();

        sim_fail(sim, "left in the driver: %u lanes, %u programs, %u kernels\n%s", live.lanes, live.programs,
                 live.kernels, leaks);
        free(leaks);
    }
}

void sim_world_end(struct sim_world *world)
{
    struct sim *sim = world->sims[0];

    drain();
    if (world->options.counts)
        world->options.counts->n_again += tsl_redo_count() - n_again_before;
    if (world->options.records)
        tell_records(sim);
    tsl_fake_check_end();
    if (tsl_fake_violation(0))
        sim_fail(sim, "%s", tsl_fake_violation(0));
    check_leaks(sim);
    if (sim->failure && tsl_object_live(TSL_CONTEXT))
        give_up(sim->failure); /* what is left would spoil the next run */
    if (world->options.sabotaged)
        *world->options.sabotaged = tsl_fake_sabotaged();
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
    tsl_simulation = NULL;
}
