/*
 * Do whole launches get on faster on several members?
 *
 * Each launch goes where it ends first. What it moves there and back is a guess: which of the next ones need its
 * results, and where these will be, nobody knows. So a program of kernels that mostly need each other may lose by what
 * looked like a gain at each step. So where one member alone could do as much, the pace is measured in both ways, with
 * launches apart and with all of them on one member, in turns: what launches take that have ended, by the time that
 * passed. They are kept together for a while unless they got on clearly faster apart: what comes later may need on one
 * member what lies on several. For a longer one each time that they were apart in vain.
 *
 * Nothing is tried where launches are long, or together by themselves; where members of several kinds have them, whose
 * times can't be compared; nor while data are distributed for cut launches (layout.c), whose pace is measured for
 * itself.
 */
#include "place/internal.h"

#include "base/log.h"

#include <math.h>

#define WINDOW_NS  1.5e7 /* so long each way is watched, and ... */
#define WINDOW     32  /* ... so many launches, until the kernel comes again with which that began, if it does in ... */
#define CYCLE      4   /* ... so many times as many */
#define SETTLE_NS  5e6 /* data are brought together, or apart, meanwhile */
#define GAP_NS     1e6 /* so much time counts at most from one end to the next ones, and ... */
#define GAP        4   /* ... times what these took: the program may do something else meanwhile */
#define FIRST_REST 16  /* windows, after which that is asked again; twice as many each time, up to ... */
#define MOST_REST  128
#define LAST_STEP  3
#define LEAST_GAIN 1.05 /* each time: times of launches vary */
#define SHORT_NS   1e6  /* of a launch: to watch so many longer ones would take too long */
#define LONG_NS    1e7  /* of one: it isn't kept with others */
#define VARIES     1.25 /* times as long, or as short, as thought */
#define BUSY       0.9  /* of the time: one member could hardly do more */
#define MOVED      0.01 /* of what launches take, at least, their moves are thought to take: else these are no reason */
#define APART      0.05 /* of what launches take, at least, others than the most used member have */

static unsigned most_used(const struct tsl_placer *placer)
{
    const double *of_ns = placer->apart.of_ns;
    unsigned most = 0;

    for (unsigned i = 1; i < placer->n; i++)
        most = of_ns[i] > of_ns[most] ? i : most;
    return most;
}

/* Have others of its kind had launches that count, and none of another kind; and did these move data? */
static bool are_apart(const struct tsl_placer *placer, unsigned home)
{
    double sum = 0, alike = 0;

    for (unsigned i = 0; i < placer->n; i++) {
        sum += placer->apart.of_ns[i];
        alike += i != home && tsl_placer_alike(placer, i, home) ? placer->apart.of_ns[i] : 0;
    }
    return alike >= APART * sum && sum - alike - placer->apart.of_ns[home] < APART * sum &&
           placer->apart.moved_ns >= MOVED * sum;
}

/* Nothing is watched for so long. */
static void rest(struct tsl_apart *apart, double ns)
{
    apart->step = 0;
    apart->rest_ns = ns;
    apart->moved_ns = 0;
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++)
        apart->of_ns[i] = 0;
}

static void forget_window(struct tsl_apart *apart)
{
    apart->window = (struct tsl_pace){0};
    apart->ran_ns = apart->thought_ns = 0;
    apart->n = 0;
}

/* Launches are apart until it is known that this is slower, whatever was known. */
static void part(struct tsl_apart *apart)
{
    forget_window(apart);
    apart->together = false;
    rest(apart, SETTLE_NS);
}

/* Watches the next way: apart, together, and both once more. */
static void turn(struct tsl_apart *apart)
{
    apart->step++;
    apart->together = !apart->together;
    apart->rest_ns = SETTLE_NS;
}

/* It is decided until it is asked again. */
static void settle(struct tsl_placer *placer, bool together)
{
    struct tsl_apart *apart = &placer->apart;

    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "launches run %s: together at a pace of %.2f, apart of %.2f",
            together ? "together" : "apart", apart->paces[true], apart->paces[false]);
    double longer = together == apart->was_together ? apart->n_rest * 2 : 0;
    apart->n_rest = fmin(fmax(longer, FIRST_REST), MOST_REST);
    apart->together = apart->was_together = together;
    rest(apart, apart->n_rest * WINDOW_NS);
}

/* Are launches of the window short, and did they take what was thought? */
static bool is_sound(const struct tsl_apart *apart)
{
    return apart->window.work_ns <= SHORT_NS * apart->n && apart->ran_ns <= VARIES * apart->thought_ns &&
           apart->thought_ns <= VARIES * apart->ran_ns;
}

static void judge(struct tsl_placer *placer, bool sound)
{
    struct tsl_apart *apart = &placer->apart;

    if (apart->step == 0) { /* One member is busy all the time at best. */
        apart->home = most_used(placer);
        if (sound && apart->paces[false] < BUSY && are_apart(placer, apart->home))
            turn(apart);
        else
            rest(apart, FIRST_REST * WINDOW_NS);
    } else if (!sound) {
        part(apart);
    } else if (!apart->together) {
        turn(apart);
    } else if (apart->paces[true] * LEAST_GAIN < apart->paces[false]) {
        settle(placer, false);
    } else if (apart->step == LAST_STEP) {
        settle(placer, true);
    } else {
        turn(apart);
    }
}

static bool is_due(const struct tsl_apart *apart, uint64_t kernel)
{
    return apart->window.time_ns >= WINDOW_NS && apart->n >= WINDOW &&
           (kernel == apart->first_kernel || apart->n >= WINDOW * CYCLE);
}

/* Of launches whose ends are noticed together all count, or none. */
static void watch(struct tsl_placer *placer, const struct tsl_ended *ended, double work_ns, double time_ns, bool later)
{
    struct tsl_apart *apart = &placer->apart;

    if (later && is_due(apart, ended->kernel)) {
        bool sound = is_sound(apart);
        apart->paces[apart->together] = apart->window.work_ns / apart->window.time_ns;
        forget_window(apart);
        judge(placer, sound);
        return;
    }
    if (apart->n++ == 0)
        apart->first_kernel = ended->kernel;
    apart->ran_ns += (double)ended->ran_ns;
    apart->thought_ns += ended->ran_ns ? work_ns : 0;
    apart->window.work_ns += work_ns;
    apart->window.time_ns += time_ns;
}

void tsl_apart_asked(struct tsl_placer *placer, const struct tsl_ask *ask)
{
    struct tsl_apart *apart = &placer->apart;
    unsigned n = 0;

    for (unsigned i = 0; i < placer->n && n < 2; i++)
        n += ask->candidates[i].eligible;
    apart->has_choice = n == 2 && (!apart->together || ask->candidates[apart->home].eligible);
}

bool tsl_apart_holds(const struct tsl_placer *placer)
{
    return placer->apart.together && placer->apart.has_choice && !placer->layout.is_open;
}

void tsl_apart_placed(struct tsl_placer *placer, struct tsl_placement *placement, double move_ns)
{
    struct tsl_apart *apart = &placer->apart;

    if (!apart->has_choice)
        return;
    placement->way = apart->together ? TSL_TOGETHER : TSL_APART;
    apart->of_ns[placement->member] += placement->run_ns;
    apart->moved_ns += move_ns;
}

/* How much of the time since the last end counts with one that is noticed now, maybe together with others. */
static double counting_ns(struct tsl_apart *apart, uint64_t now_ns, double ran_ns)
{
    bool later = now_ns > apart->last_ns;

    apart->left_ns = later ? (double)(now_ns - apart->last_ns) : apart->left_ns;
    apart->last_ns = later ? now_ns : apart->last_ns;
    double time_ns = fmin(apart->left_ns, (later ? GAP_NS : 0) + GAP * ran_ns);
    apart->left_ns -= time_ns;
    return time_ns;
}

void tsl_apart_ended(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    struct tsl_apart *apart = &placer->apart;
    bool later = ended->now_ns > apart->last_ns;
    double time_ns = counting_ns(apart, ended->now_ns, placement->run_ns);

    if (placer->layout.is_open) {
        if (apart->step || apart->n)
            part(apart);
    } else if (apart->rest_ns > 0) {
        apart->rest_ns -= time_ns;
        if (apart->together && placement->run_ns > LONG_NS)
            part(apart);
    } else if (apart->step == 0 && apart->together) {
        part(apart);
    } else if (placement->way == (apart->together ? TSL_TOGETHER : TSL_APART)) { /* It was placed since. */
        watch(placer, ended, placement->run_ns, time_ns, later);
    }
}

bool tsl_apart_allows(const struct tsl_placer *placer, unsigned member)
{
    return !tsl_apart_holds(placer) || member == placer->apart.home;
}
