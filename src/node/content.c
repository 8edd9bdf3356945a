#include "node/content.h"
#include "base/settings.h"
#include "compile_client/cache.h"
#include "remote/protocol.h"

#include <stdlib.h>
#include <string.h>

struct node_content {
    uint8_t digest[TSL_DIGEST_SIZE];
    void *data;
    size_t size;
    TAILQ_ENTRY(node_content) link;
};

void node_contents_init(struct node_contents *contents)
{
    pthread_mutex_init(&contents->lock, NULL);
    TAILQ_INIT(&contents->list);
}

static void drop_locked(struct node_contents *contents, struct node_content *content)
{
    TAILQ_REMOVE(&contents->list, content, link);
    contents->size -= content->size;
    free(content->data);
    free(content);
}

void node_contents_finish(struct node_contents *contents)
{
    while (!TAILQ_EMPTY(&contents->list))
        drop_locked(contents, TAILQ_FIRST(&contents->list));
    pthread_mutex_destroy(&contents->lock);
}

static void *copy_of(const void *data, size_t size)
{
    void *copy = malloc(size + 1);

    if (copy)
        memcpy(copy, data, size);
    return copy;
}

/* ---- In memory --------------------------------------------------------------------------------------------------- */

/* The found one is the last used. */
static struct node_content *find_locked(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE])
{
    struct node_content *content;

    TAILQ_FOREACH(content, &contents->list, link)
    {
        if (memcmp(content->digest, digest, TSL_DIGEST_SIZE))
            continue;
        TAILQ_REMOVE(&contents->list, content, link);
        TAILQ_INSERT_HEAD(&contents->list, content, link);
        return content;
    }
    return NULL;
}

static void *get_from_memory(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], size_t *size)
{
    const struct node_content *content;
    void *data = NULL;

    pthread_mutex_lock(&contents->lock);
    content = find_locked(contents, digest);
    if (content) {
        *size = content->size;
        data = copy_of(content->data, content->size);
    }
    pthread_mutex_unlock(&contents->lock);
    return data;
}

/* Without memory it isn't kept. */
static void keep_in_memory(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], const void *data,
                           size_t size)
{
    struct node_content *content = size <= NODE_MOST_CONTENT / 4 ? calloc(1, sizeof(*content)) : NULL;

    if (!content)
        return;
    memcpy(content->digest, digest, TSL_DIGEST_SIZE);
    content->size = size;
    content->data = copy_of(data, size);
    pthread_mutex_lock(&contents->lock);
    if (content->data && !find_locked(contents, digest)) {
        TAILQ_INSERT_HEAD(&contents->list, content, link);
        contents->size += size;
        content = NULL;
    }
    while (contents->size > NODE_MOST_CONTENT)
        drop_locked(contents, TAILQ_LAST(&contents->list, node_content_list));
    pthread_mutex_unlock(&contents->lock);
    if (content)
        free(content->data);
    free(content);
}

/* ---- On disk ----------------------------------------------------------------------------------------------------- */

/* The name is that of no result of the compiler. */
static struct tsl_cache_key key_of(const uint8_t digest[TSL_DIGEST_SIZE])
{
    static const char what[] = "what a program is made of";
    struct tsl_cache_key key;
    struct tsl_digest sum;

    tsl_digest_begin(&sum);
    tsl_digest_add(&sum, what, sizeof(what));
    tsl_digest_add(&sum, digest, TSL_DIGEST_SIZE);
    tsl_digest_end(&sum, key.digest);
    return key;
}

static bool is_of(const void *data, size_t size, const uint8_t digest[TSL_DIGEST_SIZE])
{
    uint8_t found[TSL_DIGEST_SIZE];

    tsl_remote_digest(data, size, found);
    return memcmp(found, digest, sizeof(found)) == 0;
}

static void *get_from_disk(const uint8_t digest[TSL_DIGEST_SIZE], size_t *size)
{
    const char *cache = tsl_settings()->cache;
    const struct tsl_cache_key key = key_of(digest);
    void *data = cache ? tsl_cache_get(cache, &key, size) : NULL;

    if (!data || is_of(data, *size, digest))
        return data;
    free(data);
    return NULL;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

void *node_content_get(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], size_t *size)
{
    void *data = get_from_memory(contents, digest, size);

    if (data)
        return data;
    data = get_from_disk(digest, size);
    if (data)
        keep_in_memory(contents, digest, data, *size);
    return data;
}

bool node_content_keep(struct node_contents *contents, const uint8_t digest[TSL_DIGEST_SIZE], const void *data,
                       size_t size)
{
    const char *cache = tsl_settings()->cache;
    const struct tsl_cache_key key = key_of(digest);

    if (!is_of(data, size, digest))
        return false;
    keep_in_memory(contents, digest, data, size);
    if (cache)
        tsl_cache_put(cache, &key, data, size, TSL_CACHE_LIMIT);
    return true;
}
