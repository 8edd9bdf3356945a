#include "members/ready.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/worker.h"

#include <pthread.h>

/* Exit waits for it: it calls vendors. */
static struct tsl_worker opener = TSL_VENDORS_WORKER("tesela-open");

static struct {
    pthread_mutex_t lock; /* a leaf */
    struct tsl_member *members[TSL_MAX_MEMBERS];
    unsigned n;
} wanted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint_fast64_t longest_ns;

/* ---- One member -------------------------------------------------------------------------------------------------- */

/* Blocks. */
static void ask_combine_now(struct tsl_member *member)
{
    const struct tsl_driver *driver = member->driver;
    bool can = driver->can_combine && driver->can_combine(member);

    atomic_store_explicit(&member->combines, can ? TSL_COMBINES_YES : TSL_COMBINES_NO, memory_order_release);
}

/* Whoever comes second, this or what makes the member ready, sees what the other did. */
void tsl_ready_ask_combine(struct tsl_member *member)
{
    unsigned unasked = TSL_COMBINES_UNASKED;

    atomic_compare_exchange_strong(&member->combines, &unasked, TSL_COMBINES_WANTED);
    if (atomic_load(&member->combines) == TSL_COMBINES_WANTED && !atomic_load(&member->unready))
        ask_combine_now(member);
}

bool tsl_ready_combines(const struct tsl_member *member)
{
    return atomic_load_explicit(&member->combines, memory_order_acquire) == TSL_COMBINES_YES;
}

/* Of two threads that make a member ready one waits for the other. */
static void note_longer(atomic_uint_fast64_t *longest, uint64_t ns)
{
    uint_fast64_t known = atomic_load(longest);

    while (ns > known && !atomic_compare_exchange_weak(longest, &known, ns))
        ;
}

static cl_int prepare(struct tsl_member *member)
{
    uint64_t began_ns = tsl_clock_ns(), ns;
    cl_int error = member->driver->prepare(member);

    ns = tsl_clock_ns() - began_ns;
    if (error) {
        tsl_member_lose(member, "it could not be opened");
        return CL_DEVICE_NOT_AVAILABLE;
    }
    note_longer(&longest_ns, ns);
    note_longer(&member->opened_ns, ns);
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s %s: opened in %.1f ms", member->path->id, member->path->device_name,
            (double)ns / 1e6);
    return CL_SUCCESS;
}

static cl_int make_ready(struct tsl_member *member)
{
    cl_int error = CL_SUCCESS;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    if (!tsl_member_is_ready(member))
        error = prepare(member);
    if (!error && atomic_load(&member->combines) == TSL_COMBINES_WANTED)
        ask_combine_now(member);
    return error;
}

uint64_t tsl_ready_longest_ns(void)
{
    return atomic_load(&longest_ns);
}

/* ---- Several ----------------------------------------------------------------------------------------------------- */

/* Of equals the first. Lost ones don't count; NULL: all are lost. */
static struct tsl_member *fastest(struct tsl_member *const *members, unsigned n)
{
    struct tsl_member *best = NULL;

    for (unsigned i = 0; i < n; i++)
        if (!tsl_member_is_lost(members[i]) && (!best || members[i]->caps.speed > best->caps.speed))
            best = members[i];
    return best;
}

cl_int tsl_ready_first(struct tsl_member *const *members, unsigned n)
{
    struct tsl_member *best;

    while ((best = fastest(members, n)))
        if (make_ready(best) == CL_SUCCESS)
            return CL_SUCCESS;
    return CL_DEVICE_NOT_AVAILABLE;
}

void tsl_ready_all(struct tsl_member *const *members, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        make_ready(members[i]);
}

/* ---- In the background ------------------------------------------------------------------------------------------- */

/* NULL: no member is wanted any more. */
static struct tsl_member *take_wanted(void)
{
    struct tsl_member *best;

    pthread_mutex_lock(&wanted.lock);
    best = fastest(wanted.members, wanted.n);
    for (unsigned i = 0; best && i < wanted.n; i++)
        if (wanted.members[i] == best) {
            wanted.members[i] = wanted.members[--wanted.n];
            break;
        }
    if (!best)
        wanted.n = 0;
    pthread_mutex_unlock(&wanted.lock);
    return best;
}

static void make_wanted(struct tsl_job *job)
{
    struct tsl_member *made[TSL_MAX_MEMBERS], *member;
    unsigned n = 0;

    (void)job;
    while (n < TSL_MAX_MEMBERS && !tsl_worker_is_ending() && (member = take_wanted()))
        if (make_ready(member) == CL_SUCCESS && member->driver->warm)
            made[n++] = member;
    for (unsigned i = 0; i < n && !tsl_worker_is_ending(); i++)
        made[i]->driver->warm(made[i]);
}

/* Is there anything to do for it? */
static bool is_wanting(const struct tsl_member *member)
{
    return !tsl_member_is_lost(member) &&
           (!tsl_member_is_ready(member) || atomic_load(&member->combines) == TSL_COMBINES_WANTED);
}

static void want_locked(struct tsl_member *member)
{
    for (unsigned i = 0; i < wanted.n; i++)
        if (wanted.members[i] == member)
            return;
    if (wanted.n < TSL_MAX_MEMBERS)
        wanted.members[wanted.n++] = member;
}

void tsl_ready_later(struct tsl_member *const *members, unsigned n)
{
    static struct tsl_job job = {.run = make_wanted};
    bool any;

    if (tsl_forked())
        return; /* A thread of the parent process may have held the lock. */
    pthread_mutex_lock(&wanted.lock);
    for (unsigned i = 0; i < n; i++)
        if (is_wanting(members[i]))
            want_locked(members[i]);
    any = wanted.n;
    pthread_mutex_unlock(&wanted.lock);
    if (any)
        tsl_worker_post(&opener, &job);
}

bool tsl_ready_then(struct tsl_job *job)
{
    return tsl_worker_post(&opener, job);
}

void tsl_ready_forget(void)
{
    pthread_mutex_lock(&wanted.lock);
    wanted.n = 0;
    pthread_mutex_unlock(&wanted.lock);
    if (!tsl_simulation)
        tsl_worker_wait(&opener);
    atomic_store(&longest_ns, 0);
}
