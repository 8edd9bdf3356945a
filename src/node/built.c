#include "node/built.h"

#include <stdlib.h>
#include <string.h>

void node_builts_init(struct node_builts *builts)
{
    pthread_mutex_init(&builts->lock, NULL);
    pthread_cond_init(&builts->made, NULL);
    TAILQ_INIT(&builts->list);
}

static void destroy(struct node_built *built)
{
    if (built->program)
        built->member->driver->program_free(built->program);
    free(built->answer.data);
    free(built);
}

/* What is kept of it, as far as that is known. */
static size_t size_of(const struct node_built *built)
{
    size_t code = built->program ? built->program->code_size : 0;

    return built->content_size + built->answer.size + (code > NODE_LEAST_CODE_SIZE ? code : NODE_LEAST_CODE_SIZE);
}

/* Of those that nobody has, the ones that were used longest ago; they are given to *gone. */
static void trim_locked(struct node_builts *builts, unsigned most, struct node_built_list *gone)
{
    struct node_built *built, *next;
    size_t size = 0;
    unsigned n = 0;

    for (built = TAILQ_FIRST(&builts->list); built; built = next) {
        next = TAILQ_NEXT(built, link);
        if (built->refs)
            continue;
        size += size_of(built);
        if (++n <= most && size <= NODE_MOST_BUILT_SIZE)
            continue;
        TAILQ_REMOVE(&builts->list, built, link);
        TAILQ_INSERT_TAIL(gone, built, link);
    }
}

static void destroy_all(struct node_built_list *gone)
{
    struct node_built *built;

    while ((built = TAILQ_FIRST(gone))) {
        TAILQ_REMOVE(gone, built, link);
        destroy(built);
    }
}

void node_builts_finish(struct node_builts *builts)
{
    struct node_built_list gone = TAILQ_HEAD_INITIALIZER(gone);

    trim_locked(builts, 0, &gone);
    destroy_all(&gone);
    pthread_cond_destroy(&builts->made);
    pthread_mutex_destroy(&builts->lock);
}

/* windows: with that text; NULL: whatever text it has. What was made on a member that is lost since then isn't found.
 */
static struct node_built *find_locked(struct node_builts *builts, struct tsl_member *member,
                                      const uint8_t digest[TSL_DIGEST_SIZE], const uint8_t *windows)
{
    struct node_built *built;

    TAILQ_FOREACH(built, &builts->list, link)
    {
        if (built->member != member || memcmp(built->digest, digest, TSL_DIGEST_SIZE))
            continue;
        if (!windows || (built->has_windows && memcmp(built->windows, windows, TSL_DIGEST_SIZE) == 0))
            return tsl_member_is_lost(member) && !built->making ? NULL : built;
    }
    return NULL;
}

static void set_windows_locked(struct node_built *built, const uint8_t windows[TSL_DIGEST_SIZE])
{
    built->has_windows = true;
    memcpy(built->windows, windows, TSL_DIGEST_SIZE);
}

static struct node_built *create_locked(struct node_builts *builts, struct tsl_member *member,
                                        const uint8_t digest[TSL_DIGEST_SIZE], const uint8_t *windows)
{
    struct node_built *built = calloc(1, sizeof(*built));

    if (!built)
        return NULL;
    *built = (struct node_built){.making = true, .listed = true, .member = member};
    memcpy(built->digest, digest, TSL_DIGEST_SIZE);
    if (windows)
        set_windows_locked(built, windows);
    TAILQ_INSERT_HEAD(&builts->list, built, link);
    return built;
}

static struct node_built *take(struct node_builts *builts, struct tsl_member *member,
                               const uint8_t digest[TSL_DIGEST_SIZE], const uint8_t *windows, bool *is_new)
{
    struct node_built *built;

    *is_new = false;
    pthread_mutex_lock(&builts->lock);
    while ((built = find_locked(builts, member, digest, windows)) &&
           (built->making || (windows && built->making_windows)))
        pthread_cond_wait(&builts->made, &builts->lock);
    if (built) {
        TAILQ_REMOVE(&builts->list, built, link);
        TAILQ_INSERT_HEAD(&builts->list, built, link);
    } else {
        built = create_locked(builts, member, digest, windows);
        *is_new = built != NULL;
    }
    if (built)
        built->refs++;
    pthread_mutex_unlock(&builts->lock);
    return built;
}

struct node_built *node_built_take(struct node_builts *builts, struct tsl_member *member,
                                   const uint8_t digest[TSL_DIGEST_SIZE], bool *is_new)
{
    return take(builts, member, digest, NULL, is_new);
}

struct node_built *node_built_take_with(struct node_builts *builts, const struct node_built *like,
                                        const uint8_t windows[TSL_DIGEST_SIZE], bool *is_new)
{
    return take(builts, like->member, like->digest, windows, is_new);
}

void node_built_end(struct node_builts *builts, struct node_built *built, bool is_shared)
{
    pthread_mutex_lock(&builts->lock);
    built->making = false;
    built->listed = is_shared;
    if (!is_shared)
        TAILQ_REMOVE(&builts->list, built, link);
    pthread_cond_broadcast(&builts->made);
    pthread_mutex_unlock(&builts->lock);
}

void node_built_unref(struct node_builts *builts, struct node_built *built)
{
    struct node_built_list gone = TAILQ_HEAD_INITIALIZER(gone);

    if (!built)
        return;
    pthread_mutex_lock(&builts->lock);
    if (--built->refs == 0 && !built->listed)
        TAILQ_INSERT_TAIL(&gone, built, link);
    trim_locked(builts, NODE_MOST_BUILT, &gone);
    pthread_mutex_unlock(&builts->lock);
    destroy_all(&gone);
}

void node_built_begin_kernel(struct node_builts *builts, struct node_built *built)
{
    pthread_mutex_lock(&builts->lock);
    while (built->making_windows)
        pthread_cond_wait(&builts->made, &builts->lock);
    built->n_kernels++;
    pthread_mutex_unlock(&builts->lock);
}

/* ---- Texts for windows ------------------------------------------------------------------------------------------- */

static enum node_windows claim_locked(struct node_built *built, const uint8_t windows[TSL_DIGEST_SIZE])
{
    if (built->has_windows && memcmp(built->windows, windows, TSL_DIGEST_SIZE) == 0)
        return NODE_WINDOWS_ARE_THERE;
    if (built->has_windows || built->n_kernels)
        return NODE_WINDOWS_CANNOT_BE;
    set_windows_locked(built, windows);
    built->making_windows = true;
    return NODE_WINDOWS_CLAIMED;
}

enum node_windows node_built_claim_windows(struct node_builts *builts, struct node_built *built,
                                           const uint8_t windows[TSL_DIGEST_SIZE])
{
    enum node_windows found;

    pthread_mutex_lock(&builts->lock);
    while (built->making_windows)
        pthread_cond_wait(&builts->made, &builts->lock);
    found = claim_locked(built, windows);
    pthread_mutex_unlock(&builts->lock);
    return found;
}

void node_built_end_windows(struct node_builts *builts, struct node_built *built, cl_int status)
{
    pthread_mutex_lock(&builts->lock);
    built->windows_status = status;
    built->making_windows = false;
    pthread_cond_broadcast(&builts->made);
    pthread_mutex_unlock(&builts->lock);
}
