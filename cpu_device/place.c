/* Where the threads run: what TESELA_CONFIG says of the CPU, as far as this machine has it. */
#include "cpu_device/place.h"
#include "base/numa.h"
#include "base/settings.h"
#include "driver/config.h"
#include "driver/report.h"

#include <sched.h>
#include <stdlib.h>

static void no_sentence(void *arg, const char *sentence)
{
    (void)arg, (void)sentence;
}

static const struct tsl_config_device *config_line(void)
{
    const struct tsl_config *config = tsl_config_get(no_sentence, NULL);

    for (size_t i = 0; i < config->n; i++)
        if (config->devices[i].kind == TSL_CONFIG_CPU)
            return &config->devices[i];
    return NULL;
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

static void follow(const struct tsl_config_device *line, struct cpu_place *place)
{
    cpu_set_t set;
    unsigned n_missing;

    place->bound = true;
    place->transfers = line->transfers;
    place->n_threads = line->n_threads;
    if (processors_of(line, &place->processors, &set, &n_missing))
        place->processors = set;
    place->n_missing = n_missing;
    if (place->n_threads > (unsigned)CPU_COUNT(&place->processors))
        place->n_threads = (unsigned)CPU_COUNT(&place->processors);
}

void cpu_place_get(struct cpu_place *place)
{
    const struct tsl_config_device *line = config_line();

    *place = (struct cpu_place){.n_threads = 1};
    if (sched_getaffinity(0, sizeof(place->processors), &place->processors))
        CPU_SET(0, &place->processors);
    place->n_threads = (unsigned)CPU_COUNT(&place->processors);
    if (line)
        follow(line, place);
    place->apart = stay_apart(place);
}

void cpu_place_complain(const struct cpu_place *place)
{
    const struct tsl_config_device *line = config_line();

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
}
