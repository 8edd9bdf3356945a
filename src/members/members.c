#include "members/members.h"

#include "base/log.h"
#include "base/numa.h"
#include "base/settings.h"
#include "cpu_device/cpu.h"
#include "cuda_bridge/cuda_bridge.h"
#include "driver/config.h"
#include "driver/report.h"
#include "members/choose.h"
#include "members/ready.h"
#include "opencl/opencl_driver.h"
#include "remote/remote_driver.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DRIVERS 8

/* The drivers that this library is built with, in the order of their members. */
static const struct tsl_driver *const built_in[] = {&tsl_opencl_driver, &tsl_cuda_driver, &tsl_cpu_driver,
                                                    &tsl_remote_driver};

#define N_BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

static struct {
    pthread_mutex_t lock; /* guards all that follows; held over probe and open, for which other threads wait */
    const struct tsl_driver *registered[MAX_DRIVERS];
    unsigned n_registered;
    bool alone; /* nothing but what is registered is probed */
    struct tsl_found_list list;
    bool probed;
    struct tsl_member *members[TSL_MAX_MEMBERS];
    unsigned n_members;
    bool opened;
    char *why; /* what the driver said of the path that it couldn't open; NULL: nothing */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The process that probed or began to. Another process that finds it set is a fork()ed child: it lacks the vendors'
 * threads, and the lock may be held for ever by a thread that it lacks, too. */
static _Atomic pid_t owner;

/* This thread is inside a driver's probe or open and holds the lock. */
static _Thread_local bool inside;

static struct tsl_problem forked_problem[] = {
    {.sentence = "this process was forked from one that used Tesela already, so it has no members"}};
static const struct tsl_found_list forked_list = {.problems = forked_problem, .n_problems = 1};
static struct tsl_problem inside_problem[] = {
    {.sentence = "a vendor asked for members while it was itself being probed or opened"}};
static const struct tsl_found_list inside_list = {.problems = inside_problem, .n_problems = 1};

static bool forked(void)
{
    pid_t self = getpid(), none = 0;

    return !atomic_compare_exchange_strong(&owner, &none, self) && none != self;
}

static void add_problem_locked(enum tsl_trouble trouble, char *sentence)
{
    struct tsl_found_list *list = &registry.list;
    struct tsl_problem *more = sentence ? realloc(list->problems, (list->n_problems + 1) * sizeof(*more)) : NULL;

    if (!more) {
        free(sentence);
        return;
    }
    list->problems = more;
    list->problems[list->n_problems++] = (struct tsl_problem){trouble, sentence};
}

static void add_empty_locked(char *name, char *why)
{
    struct tsl_found_list *list = &registry.list;
    struct tsl_empty *more = realloc(list->empty, (list->n_empty + 1) * sizeof(*more));

    if (!more) {
        free(name);
        free(why);
        return;
    }
    list->empty = more;
    list->empty[list->n_empty++] = (struct tsl_empty){name, why};
}

static void take_why_locked(char *words)
{
    free(registry.why);
    registry.why = words;
}

static const struct tsl_report_sink sink = {
    .problem = add_problem_locked, .empty = add_empty_locked, .why = take_why_locked};

/* Around calls of probe and open, with the lock. */
static void set_inside(bool is)
{
    inside = is;
    tsl_driver_report_to(is ? &sink : NULL);
}

static void finish_row(struct tsl_found *row)
{
    free(row->path.platform_name);
    free(row->path.device_name);
    free(row->path.driver_version);
    free(row->path.why_not);
    free(row->why_not);
}

/* Unless the driver knows better: it may have bound its processors. */
static void find_numa_node(struct tsl_identity *is, const cpu_set_t *processors)
{
    int node = -1;

    if (is->has_numa || is->host_id)
        return;
    if (is->has_pci)
        node = tsl_numa_node_of_pci(is->pci_domain, is->pci_bus, is->pci_device, is->pci_function);
    else if (is->is_host_cpu && processors)
        node = tsl_numa_node_of(processors);
    is->has_numa = node >= 0;
    is->numa_node = node >= 0 ? (unsigned)node : 0;
}

/* Where the process may run, unless the path says so itself, as another process's does. */
static void find_places(struct tsl_identity *is)
{
    cpu_set_t processors;
    bool knows = !sched_getaffinity(0, sizeof processors, &processors);

    find_numa_node(is, knows ? &processors : NULL);
    if (is->is_host_cpu && !is->host_id && !is->processors && knows)
        is->processors = tsl_numa_bits_of(&processors, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
}

static void found_locked(void *arg, const struct tsl_path *path)
{
    struct tsl_found_list *list = arg;
    struct tsl_found *more = realloc(list->rows, (list->n + 1) * sizeof(*more));
    struct tsl_found row = {.path = *path};

    if (!more || !path->platform_name || !path->device_name || !path->driver_version) {
        if (more)
            list->rows = more;
        finish_row(&row);
        add_problem_locked(TSL_TROUBLE_OTHER, strdup("memory ran out while members were looked for"));
        return;
    }
    list->rows = more;
    find_places(&row.path.identity);
    list->rows[list->n++] = row;
}

static void probe_driver_locked(const struct tsl_driver *driver)
{
    cl_int error = driver->probe(found_locked, &registry.list);

    if (error)
        tsl_driver_report_problem("driver %s could not look for devices (error %d)", driver->name, error);
}

static void say_problem(void *arg, const char *sentence)
{
    (void)arg;
    tsl_driver_report_error("%s", sentence);
}

/* What isn't there is told with its line, and the rest serves. */
static void choose_by_config_locked(const struct tsl_config *config)
{
    bool *matched = calloc(config->n + 1, sizeof(*matched));
    struct tsl_found_list *list = &registry.list;

    if (!matched) {
        add_problem_locked(TSL_TROUBLE_OTHER, strdup("memory ran out while members were chosen"));
        return;
    }
    tsl_choose_by_config(list->rows, list->n, config, matched);
    for (size_t i = 0; i < config->n; i++)
        if (!matched[i])
            tsl_driver_report_error("%s:%u: there is no %s here: `tesela info` shows what there is",
                                    tsl_settings()->config, config->devices[i].line, config->devices[i].id);
    free(matched);
}

static void choose_locked(void)
{
    const struct tsl_settings *settings = tsl_settings();
    const struct tsl_config *config = tsl_config_get(say_problem, NULL);
    struct tsl_found_list *list = &registry.list;
    bool *matched;

    tsl_numa_set(config->host_numa);
    if (config->found && !settings->n_members) {
        choose_by_config_locked(config);
        return;
    }
    matched = calloc(settings->n_members + 1, sizeof(*matched));

    if (!matched) {
        add_problem_locked(TSL_TROUBLE_OTHER, strdup("memory ran out while members were chosen"));
        return;
    }
    tsl_choose(list->rows, list->n, settings->members, settings->n_members, matched);
    for (size_t i = 0; i < settings->n_members; i++)
        if (!matched[i])
            tsl_driver_report_error(
                "TESELA_MEMBERS names \"%s\", which fits no device: `tesela info` shows what there is",
                settings->members[i]);
    free(matched);
}

static void log_rows_locked(void)
{
    for (unsigned i = 0; i < registry.list.n; i++) {
        const struct tsl_found *row = &registry.list.rows[i];

        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s %s (%s): %s", row->path.id, row->path.device_name,
                row->path.platform_name,
                row->used      ? "used"
                : row->why_not ? row->why_not
                               : "left out");
    }
}

static void probe_locked(void)
{
    if (registry.probed)
        return;
    registry.probed = true;
    set_inside(true);
    /* Drivers ask for it, too; what is wrong with it is told to the first caller. */
    tsl_config_get(say_problem, NULL);
    for (size_t i = 0; i < N_BUILT_IN && !registry.alone; i++) {
        tsl_driver_check(built_in[i]);
        probe_driver_locked(built_in[i]);
    }
    for (unsigned i = 0; i < registry.n_registered; i++)
        probe_driver_locked(registry.registered[i]);
    choose_locked();
    set_inside(false);
    log_rows_locked();
}

const struct tsl_found_list *tsl_members_probe(void)
{
    if (forked())
        return &forked_list;
    if (inside)
        return &inside_list;
    pthread_mutex_lock(&registry.lock);
    probe_locked();
    pthread_mutex_unlock(&registry.lock);
    return &registry.list;
}

/* TESELA_MEMORY. A member that works on the host's memory has none of its own to bound, so a bounded one has copies. */
static void bound_memory_locked(struct tsl_member *member, uint64_t size)
{
    struct tsl_member_caps *caps = &member->caps;

    if (!size || size >= caps->memory_size)
        return;
    caps->memory_size = size;
    caps->unbound_size = caps->max_alloc_size;
    caps->max_alloc_size = caps->max_alloc_size < size ? caps->max_alloc_size : size;
    caps->zero_copy = caps->zero_copy_images = false;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s is used as if it had %llu bytes of memory (TESELA_MEMORY)",
            member->path->id, (unsigned long long)size);
}

static void open_row_locked(struct tsl_found *row, uint64_t memory_bound)
{
    cl_int error = row->path.driver->open(&row->path, &row->member);
    const char *why = registry.why ? registry.why : "";

    if (!error) {
        row->member->caps.gates = row->member->caps.gates && tsl_settings()->gates != TSL_GATES_OFF;
        bound_memory_locked(row->member, memory_bound);
        tsl_image_ask_limits(row->member);
        row->member->index = registry.n_members;
        registry.members[registry.n_members++] = row->member;
        return;
    }
    row->member = NULL;
    row->used = false;
    if (asprintf(&row->why_not, "it could not be opened (error %d%s%s)", error, *why ? ": " : "", why) < 0)
        row->why_not = NULL;
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR, "%s %s could not be opened (error %d%s%s) and is left out", row->path.id,
            row->path.device_name, error, *why ? ": " : "", why);
    free(registry.why);
    registry.why = NULL;
}

/* What no device fits is told, and the rest serves. */
static void find_bounds_locked(uint64_t *bounds)
{
    const struct tsl_settings *settings = tsl_settings();
    bool matched[settings->n_memory + 1];

    tsl_choose_bounds(registry.list.rows, registry.list.n, settings->memory, settings->n_memory, bounds, matched);
    for (size_t i = 0; i < settings->n_memory; i++)
        if (!matched[i])
            tsl_driver_report_error(
                "TESELA_MEMORY names \"%s\", which fits no device: `tesela info` shows what there is",
                settings->memory[i].member);
}

static void open_locked(void)
{
    uint64_t bounds[registry.list.n + 1];

    if (registry.opened)
        return;
    registry.opened = true;
    set_inside(true);
    find_bounds_locked(bounds);
    for (unsigned i = 0; i < registry.list.n; i++)
        if (registry.list.rows[i].used)
            open_row_locked(&registry.list.rows[i], bounds[i]);
    set_inside(false);
}

struct tsl_member *const *tsl_members_open(unsigned *n)
{
    *n = 0;
    if (forked() || inside)
        return registry.members;
    pthread_mutex_lock(&registry.lock);
    probe_locked();
    open_locked();
    *n = registry.n_members;
    pthread_mutex_unlock(&registry.lock);
    return registry.members;
}

void tsl_members_register(const struct tsl_driver *driver)
{
    tsl_driver_check(driver);
    pthread_mutex_lock(&registry.lock);
    if (registry.probed || registry.n_registered == MAX_DRIVERS) {
        fprintf(stderr, "tesela: driver %s is registered too late, or is one too many\n", driver->name);
        abort();
    }
    registry.registered[registry.n_registered++] = driver;
    pthread_mutex_unlock(&registry.lock);
}

void tsl_members_register_alone(const struct tsl_driver *driver)
{
    tsl_members_register(driver);
    pthread_mutex_lock(&registry.lock);
    registry.alone = true;
    pthread_mutex_unlock(&registry.lock);
}

void tsl_members_reset(void)
{
    struct tsl_found_list *list = &registry.list;

    tsl_ready_forget();
    pthread_mutex_lock(&registry.lock);
    for (unsigned i = 0; i < registry.n_members; i++) {
        free(atomic_exchange(&registry.members[i]->lost_why, NULL));
        registry.members[i]->driver->close(registry.members[i]);
    }
    for (unsigned i = 0; i < list->n; i++)
        finish_row(&list->rows[i]);
    for (unsigned i = 0; i < list->n_problems; i++)
        free(list->problems[i].sentence);
    for (unsigned i = 0; i < list->n_empty; i++) {
        free(list->empty[i].name);
        free(list->empty[i].why);
    }
    free(list->rows);
    free(list->problems);
    free(list->empty);
    *list = (struct tsl_found_list){.n = 0};
    registry.probed = registry.opened = registry.alone = false;
    registry.n_members = registry.n_registered = 0;
    atomic_store(&owner, 0);
    pthread_mutex_unlock(&registry.lock);
}
