/* Where the threads run: what TESELA_CONFIG says of the CPU's groups, as far as this machine has it. */
#include "cpu_device/place.h"
#include "base/numa.h"
#include "base/settings.h"
#include "driver/config.h"
#include "driver/report.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void no_sentence(void *arg, const char *sentence)
{
    (void)arg, (void)sentence;
}

/* Line CPU `number` of this machine; NULL: there is none. */
static const struct tsl_config_device *config_line(unsigned number)
{
    const struct tsl_config *config = tsl_config_get(no_sentence, NULL);

    for (size_t i = 0; i < config->n; i++)
        if (config->devices[i].kind == TSL_CONFIG_CPU && number-- == 0)
            return &config->devices[i];
    return NULL;
}

static unsigned count_lines(void)
{
    return tsl_config_count_cpus(tsl_config_get(no_sentence, NULL));
}

unsigned cpu_place_count(void)
{
    unsigned n = count_lines();

    return n > 1 ? n : 1;
}

static bool has_own_memory(unsigned number)
{
    const struct tsl_config_device *line = config_line(number);

    return (line && line->transfers) || tsl_settings()->zero_copy != TSL_ZERO_COPY_ON;
}

unsigned cpu_place_count_apart(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < cpu_place_count(); i++)
        n += has_own_memory(i);
    return n;
}

cl_ulong cpu_place_memory(unsigned number)
{
    cl_ulong size = (cl_ulong)sysconf(_SC_PHYS_PAGES) * (cl_ulong)sysconf(_SC_PAGESIZE);

    return has_own_memory(number) ? size / cpu_place_count_apart() : size;
}

const char *cpu_place_id(unsigned number)
{
    const struct tsl_config_device *line = config_line(number);

    return line ? line->id : "cpu";
}

/* The processors of the nodes that this process may use. False: there are none. */
static bool processors_of(const struct tsl_config_device *line, const cpu_set_t *allowed, cpu_set_t *set,
                          unsigned *n_missing)
{
    cpu_set_t node;

    CPU_ZERO(set);
    *n_missing = 0;
    for (unsigned i = line->first_numa; i <= line->last_numa; i++) {
        if (tsl_numa_processors(i, &node))
            CPU_OR(set, set, &node);
        else
            ++*n_missing;
    }
    CPU_AND(set, set, allowed);
    return CPU_COUNT(set) > 0;
}

/* Without this two threads would now and then share a processor while another is idle. Where the application says how
 * OpenMP places threads, that holds for ours, which are OpenMP's; and where there are fewer threads than processors
 * they stay free to avoid other work. */
static bool stay_apart(const struct cpu_place *place)
{
    return place->n_threads > 1 && place->n_threads == (unsigned)CPU_COUNT(&place->processors) &&
           !getenv("OMP_PROC_BIND") && !getenv("OMP_PLACES") && !getenv("GOMP_CPU_AFFINITY");
}

/* Moves up to n processors of those that are taken, or aren't, to `mine`; how many. */
static unsigned move(unsigned n, bool taken_ones, const cpu_set_t *there, const cpu_set_t *taken, cpu_set_t *mine)
{
    unsigned moved = 0;

    for (int i = 0; i < CPU_SETSIZE && moved < n; i++)
        if (CPU_ISSET(i, there) && (CPU_ISSET(i, taken) != 0) == taken_ones) {
            CPU_SET(i, mine);
            moved++;
        }
    return moved;
}

unsigned cpu_place_take(unsigned n, const cpu_set_t *there, cpu_set_t *taken, cpu_set_t *mine)
{
    unsigned n_own, n_shared;

    CPU_ZERO(mine);
    n_own = move(n, false, there, taken, mine);
    n_shared = move(n - n_own, true, there, taken, mine);
    CPU_OR(taken, taken, mine);
    return n_shared;
}

/* One line has all the processors of its nodes, so that its threads can avoid other work. Of several each has as many
 * as it has threads, in the order of the lines. */
static void follow(const struct tsl_config_device *line, const cpu_set_t *allowed, bool several, cpu_set_t *taken,
                   struct cpu_place *place)
{
    cpu_set_t there;

    *place = (struct cpu_place){.bound = true, .transfers = line->transfers, .n_threads = line->n_threads};
    if (!processors_of(line, allowed, &there, &place->n_missing))
        there = *allowed;
    if (place->n_threads > (unsigned)CPU_COUNT(&there))
        place->n_threads = (unsigned)CPU_COUNT(&there);
    place->processors = there;
    if (several)
        place->n_shared = cpu_place_take(place->n_threads, &there, taken, &place->processors);
}

static void get_allowed(cpu_set_t *allowed)
{
    CPU_ZERO(allowed);
    if (sched_getaffinity(0, sizeof(*allowed), allowed))
        CPU_SET(0, allowed);
}

void cpu_place_get(unsigned number, struct cpu_place *place)
{
    bool several = count_lines() > 1;
    const struct tsl_config_device *line;
    cpu_set_t allowed, taken;

    get_allowed(&allowed);
    CPU_ZERO(&taken);
    *place = (struct cpu_place){.n_threads = (unsigned)CPU_COUNT(&allowed), .processors = allowed};
    /* What a line has depends on those before it. */
    for (unsigned i = 0; i <= number && (line = config_line(i)); i++)
        follow(line, &allowed, several, &taken, place);
    place->apart = stay_apart(place);
}

void cpu_place_complain(unsigned number, const struct cpu_place *place)
{
    const struct tsl_config_device *line = config_line(number);

    if (!line)
        return;
    if (place->n_missing)
        tsl_driver_report_problem(
            "%s:%u: of the NUMA nodes %u-%u this system lacks %u: the CPU's threads run on the others",
            tsl_settings()->config, line->line, line->first_numa, line->last_numa, place->n_missing);
    if (place->n_threads < line->n_threads)
        tsl_driver_report_problem(
            "%s:%u: %u threads are more than the %u processors that this process may use there: the "
            "CPU runs with %u",
            tsl_settings()->config, line->line, line->n_threads, place->n_threads, place->n_threads);
    if (place->n_shared)
        tsl_driver_report_problem("%s:%u: lines CPU before this one have taken %u of the %u processors on which its "
                                  "threads run: they share them",
                                  tsl_settings()->config, line->line, place->n_shared, place->n_threads);
}
