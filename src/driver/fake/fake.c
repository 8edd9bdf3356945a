/* The fake driver's setup: its members, their lanes, and the table. */
#include "driver/fake/internal.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake tsl_fake = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .step_lock = PTHREAD_MUTEX_INITIALIZER,
};

void *tsl_fake_new_locked(size_t size)
{
    struct fake_block *block = calloc(1, sizeof(max_align_t) + size);

    if (!block)
        abort();
    block->next = tsl_fake.blocks;
    tsl_fake.blocks = block;
    return (char *)block + sizeof(max_align_t);
}

void *tsl_fake_grow(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    *room = *room ? *room * 2 : 16;
    items = realloc(items, *room * size);
    if (!items)
        abort();
    return items;
}

/* Splitmix64: any seed will do, also 0. */
uint64_t tsl_fake_random_locked(void)
{
    uint64_t z = tsl_fake.random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t tsl_fake_now_locked(void)
{
    return tsl_fake.setup.threads ? tsl_clock_ns() : tsl_fake.now_ns;
}

/* The virtual clock: it is asked from inside the driver too, so it takes no lock. */
static uint64_t virtual_now(void *data)
{
    (void)data;
    return __atomic_load_n(&tsl_fake.now_ns, __ATOMIC_RELAXED);
}

void tsl_fake_advance(uint64_t ns)
{
    __atomic_fetch_add(&tsl_fake.now_ns, ns, __ATOMIC_RELAXED);
}

/* ---- Setup and end ---- */

static void init_member(unsigned i)
{
    struct fake_member *member = &tsl_fake.members[i];
    struct tsl_fake_member *is = &member->is;

    *member =
        (struct fake_member){.number = i, .is = tsl_fake.setup.members[i], .prepare_lock = PTHREAD_MUTEX_INITIALIZER};
    if (!is->speed)
        is->speed = 1;
    if (!is->type)
        is->type = CL_DEVICE_TYPE_GPU;
    if (!is->memory_size)
        is->memory_size = UINT64_C(1) << 30;
    if (!is->max_alloc_size)
        is->max_alloc_size = is->memory_size;
    if (!is->told_size)
        is->told_size = is->memory_size;
    if (!is->base_align)
        is->base_align = 64;
    if (!is->domain_granule)
        is->domain_granule = 256;
    if (!is->work_group_size)
        is->work_group_size = 256;
    if (!is->image_size)
        is->image_size = 1024;
}

void tsl_fake_begin(const struct tsl_fake_setup *setup)
{
    if (tsl_fake.on || setup->n_members > TSL_FAKE_MAX_MEMBERS) {
        fputs("tsl_fake_begin: one setup at a time, of at most TSL_FAKE_MAX_MEMBERS members\n", stderr);
        abort();
    }
    tsl_fake.setup = *setup;
    tsl_fake.random = setup->seed;
    tsl_fake.now_ns = 1000000;
    for (unsigned i = 0; i < setup->n_members; i++)
        init_member(i);
    tsl_fake.on = true;
    if (setup->threads)
        tsl_fake_workers_start();
    else
        tsl_clock_set(virtual_now, NULL);
}

static void free_all(void)
{
    struct fake_serial *serial, *next_serial;

    for (struct fake_mem *mem = tsl_fake.mems; mem; mem = mem->next) {
        if (mem->root == mem && !mem->hosts && !mem->spread)
            free(mem->bytes);
        free(mem->history.items);
    }
    tsl_fake_spread_free_all();
    HASH_ITER(hh, tsl_fake.serials, serial, next_serial)
    {
        HASH_DEL(tsl_fake.serials, serial);
    }
    for (struct fake_block *block = tsl_fake.blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    for (size_t i = 0; i < tsl_fake.n_violations; i++)
        free(tsl_fake.violations[i]);
    free(tsl_fake.violations);
    free(tsl_fake.records);
    free(tsl_fake.host.items);
    free(tsl_fake.gathered.items);
}

void tsl_fake_end(void)
{
    if (!tsl_fake.on)
        return;
    tsl_fake_check_end();
    if (tsl_fake.setup.threads)
        tsl_fake_workers_stop();
    else
        tsl_clock_set(NULL, NULL);
    free_all();
    tsl_fake = (struct fake){
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .step_lock = PTHREAD_MUTEX_INITIALIZER,
    };
}

/* ---- Members ---- */

static void fill_path(struct tsl_path *path, unsigned i)
{
    const struct tsl_fake_member *is = &tsl_fake.members[i].is;

    *path = (struct tsl_path){.driver = &tsl_fake_driver, .type = is->type, .priv = &tsl_fake.members[i]};
    snprintf(path->id, sizeof path->id, "fake:%u", i);
    path->platform_name = strdup("Fake");
    path->driver_version = strdup("1");
    if (is->name)
        path->device_name = strdup(is->name);
    else if (asprintf(&path->device_name, "fake %u", i) < 0)
        abort();
    path->why_not = is->why_not ? strdup(is->why_not) : NULL;
    path->identity = (struct tsl_identity){.has_numa = is->has_numa, .numa_node = is->numa_node};
}

static cl_int probe(tsl_found_fn *found, void *arg)
{
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++) {
        struct tsl_path path;

        fill_path(&path, i);
        found(arg, &path);
    }
    return CL_SUCCESS;
}

static struct tsl_member_caps caps_of(const struct tsl_fake_member *is)
{
    return (struct tsl_member_caps){
        .zero_copy = is->zero_copy,
        .zero_copy_images = is->zero_copy_images,
        .svm = is->svm ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER : 0,
        .svm_anywhere = is->svm,
        .submits_block = is->submits_block,
        .gates = is->gates,
        .ordered_lanes = !is->unordered_lanes,
        .lanes_abreast = is->lanes_abreast,
        .profiles = !is->no_profile,
        .memory_size = is->told_size,
        .max_alloc_size = is->max_alloc_size,
        .base_align = is->base_align,
        .takes_parts = is->takes_parts,
        .domain = is->domain,
        .domain_atomics = is->domain_atomics,
        .domain_granule = is->domain_granule,
        .register_from = is->register_after ? 1 : 0,
        .register_after = is->register_after,
        .fill_items = is->fill_items,
        .speed = is->speed,
    };
}

static cl_int open_path(const struct tsl_path *path, struct tsl_member **opened)
{
    struct fake_member *member = path->priv;
    cl_int rc = tsl_fake_enter_locked(member, TSL_FAKE_OPEN, "open");

    if (rc)
        return rc;
    if (member->open)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "%s was opened twice", path->id);
    member->open = true;
    member->base.driver = &tsl_fake_driver;
    member->base.path = path;
    member->base.caps = caps_of(&member->is);
    atomic_store(&member->base.unready, member->is.opens_later);
    *opened = &member->base;
    tsl_fake_leave_locked();
    return CL_SUCCESS;
}

static cl_int prepare(struct tsl_member *base)
{
    return tsl_fake_prepare(fake_member(base));
}

static void close_member(struct tsl_member *base)
{
    struct fake_member *member = fake_member(base);

    if (tsl_fake_enter_locked(member, TSL_FAKE_N_CALLS, "close"))
        return;
    if (!member->open)
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "fake:%u was closed twice", member->number);
    for (struct fake_lane *lane = member->lanes; lane; lane = lane->next)
        if (!lane->freed)
            tsl_fake_violate_locked(TSL_FAKE_FREE_BUSY, "fake:%u was closed with lane %u left", member->number,
                                    lane->number);
    member->open = false;
    tsl_fake_leave_locked();
}

struct tsl_member *tsl_fake_open(unsigned i)
{
    struct tsl_path path, *kept;
    struct tsl_member *member = NULL;

    fill_path(&path, i);
    pthread_mutex_lock(&tsl_fake.lock);
    kept = tsl_fake_new_locked(sizeof *kept);
    pthread_mutex_unlock(&tsl_fake.lock);
    *kept = path;
    free(path.platform_name);
    free(path.device_name);
    free(path.driver_version);
    free(path.why_not);
    kept->platform_name = kept->device_name = (char *)(uintptr_t) "fake";
    kept->driver_version = (char *)(uintptr_t) "1";
    kept->why_not = NULL;
    if (open_path(kept, &member))
        return NULL;
    member->index = i;
    return member;
}

/* ---- Lanes ---- */

static cl_int lane_create(struct tsl_member *base, unsigned use, struct tsl_lane **created)
{
    struct fake_member *member = fake_member(base);
    cl_int rc = tsl_fake_enter_locked(member, TSL_FAKE_LANE, "lane_create");
    struct fake_lane *lane;

    if (rc)
        return rc;
    lane = tsl_fake_new_locked(sizeof *lane);
    *lane = (struct fake_lane){
        .base.member = base,
        .number = tsl_fake.n_lanes++,
        .profile = use & TSL_LANE_PROFILES && !member->is.no_profile,
        .ordered = !member->is.unordered_lanes,
        .submitting = ATOMIC_FLAG_INIT,
        .next = member->lanes,
    };
    member->lanes = lane;
    tsl_fake.live.lanes++;
    *created = &lane->base;
    tsl_fake_leave_locked();
    return CL_SUCCESS;
}

static bool lane_alive_locked(struct fake_lane *lane, const char *operation)
{
    if (lane->freed)
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s: lane %u was freed", operation, lane->number);
    return !lane->freed;
}

static void send_locked(struct fake_lane *lane)
{
    if (lane->last)
        lane->flushed = lane->last->id;
    pthread_cond_broadcast(&tsl_fake.changed);
}

static void lane_free(struct tsl_lane *base)
{
    struct fake_lane *lane = (struct fake_lane *)base;

    if (tsl_fake_enter_locked(fake_lane_member(lane), TSL_FAKE_N_CALLS, "lane_free") == CL_SUCCESS) {
        if (lane_alive_locked(lane, "lane_free")) {
            send_locked(lane); /* as clReleaseCommandQueue: "performs an implicit flush" */
            lane->freed = true;
            tsl_fake.live.lanes--;
        }
        tsl_fake_leave_locked();
    }
}

static bool lane_done(void *arg)
{
    const struct fake_lane *lane = arg;

    return !lane->first || lane->first->id > lane->flushed;
}

static cl_int flush(struct tsl_lane *base)
{
    struct fake_lane *lane = (struct fake_lane *)base;
    cl_int rc = tsl_fake_enter_locked(fake_lane_member(lane), TSL_FAKE_FLUSH, "flush");

    if (rc)
        return rc;
    if (!lane_alive_locked(lane, "flush"))
        rc = CL_INVALID_COMMAND_QUEUE;
    else
        send_locked(lane);
    if (rc == CL_SUCCESS && fake_lane_member(lane)->is.submits_block)
        tsl_fake_block_locked(lane_done, lane, "flush");
    tsl_fake_leave_locked();
    return rc;
}

/* The host knows now that everything of the lane up to last is complete. */
static void observe_lane_locked(const struct fake_lane *lane, struct fake_op *last)
{
    for (struct fake_op *op = last; op; op = lane->ordered ? NULL : op->lane_prev)
        if (op->state == FAKE_DONE)
            tsl_fake_observe_locked(op);
}

/* After finish nothing of the lane goes on, also on a lost member. */
static void wait_for_lost(struct fake_lane *lane)
{
    pthread_mutex_lock(&tsl_fake.lock);
    if (lane_alive_locked(lane, "finish")) {
        struct fake_op *last = lane->last;

        send_locked(lane);
        tsl_fake_block_locked(lane_done, lane, "finish");
        observe_lane_locked(lane, last);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
}

static cl_int finish(struct tsl_lane *base)
{
    struct fake_lane *lane = (struct fake_lane *)base;
    cl_int rc = tsl_fake_enter_locked(fake_lane_member(lane), TSL_FAKE_FINISH, "finish");

    if (rc == CL_DEVICE_NOT_AVAILABLE)
        wait_for_lost(lane);
    if (rc)
        return rc;
    if (!lane_alive_locked(lane, "finish")) {
        rc = CL_INVALID_COMMAND_QUEUE;
    } else {
        struct fake_op *last = lane->last;

        send_locked(lane);
        if (!tsl_fake_block_locked(lane_done, lane, "finish"))
            rc = CL_OUT_OF_RESOURCES;
        observe_lane_locked(lane, last);
        if (rc == CL_SUCCESS)
            rc = lane->error;
        lane->error = CL_SUCCESS;
    }
    tsl_fake_leave_locked();
    return rc;
}

const struct tsl_driver tsl_fake_driver = {
    .name = "fake",
    .passing = true,
    .probe = probe,
    .open = open_path,
    .prepare = prepare,
    .close = close_member,
    .info = tsl_fake_info,
    .lane_create = lane_create,
    .lane_free = lane_free,
    .flush = flush,
    .finish = finish,
    .mem_alloc = tsl_fake_mem_alloc,
    .host_register = tsl_fake_host_register,
    .spread_alloc = tsl_fake_spread_alloc,
    .mem_sub = tsl_fake_mem_sub,
    .image_formats = tsl_fake_image_formats,
    .image_alloc = tsl_fake_image_alloc,
    .image_of = tsl_fake_image_of,
    .mem_free = tsl_fake_mem_free,
    .can_copy_peer = tsl_fake_can_copy_peer,
    .copy = tsl_fake_copy,
    .fill = tsl_fake_fill,
    .combine = tsl_fake_combine,
    .can_combine = tsl_fake_can_combine,
    .launch = tsl_fake_launch,
    .mark = tsl_fake_mark,
    .fence_status = tsl_fake_fence_status,
    .fence_wait = tsl_fake_fence_wait,
    .fence_notify = tsl_fake_fence_notify,
    .fence_times = tsl_fake_fence_times,
    .fence_free = tsl_fake_fence_free,
    .can_wait = tsl_fake_can_wait,
    .gate_create = tsl_fake_gate_create,
    .gate_open = tsl_fake_gate_open,
    .build = tsl_fake_build,
    .program_binary = tsl_fake_program_binary,
    .program_free = tsl_fake_program_free,
    .program_variables = tsl_fake_program_variables,
    .program_kernels = tsl_fake_program_kernels,
    .kernel_create = tsl_fake_kernel_create,
    .substitute = tsl_fake_substitute,
    .kernel_free = tsl_fake_kernel_free,
    .windows_by = tsl_fake_windows_by,
    .windows_ok = tsl_fake_windows_ok,
};
