/*
 * A few answers, the one that was used longest ago giving way.
 */
#include "footprint/cache.h"

#include <stdlib.h>
#include <string.h>

#define N_ENTRIES 64u /* a launch that is cut in shares asks for each share, and for their insides and rims */

/* A key is words: the window's, then the memory of each argument, of kernels with images with a layout of pixels behind
 * it, then the scalars, each with a word that is 1 where it is known. */
#define WINDOW_WORDS 16u
#define LAYOUT_WORDS (sizeof(struct tsl_pixel_layout) / sizeof(uint64_t))

struct entry {
    uint64_t used; /* when, by the cache's clock; 0: empty */
    uint64_t id;   /* when it was filled */
    uint64_t hash; /* of the key */
    bool serves;   /* no bound was met, so parts of it are what they would be by themselves */
    uint64_t *key;
    struct tsl_argument_touch *touches;
};

/* Bytes of an argument that a node names. */
struct scalar {
    uint32_t argument, offset, size;
    uint64_t used;  /* bits that matter */
    uint64_t moves; /* arguments, as bits, whose touches depend on it */
};

#define ALL_ARGUMENTS UINT64_MAX

struct tsl_footprint_cache {
    const struct tsl_footprint *footprint;
    uint64_t clock;
    size_t n_words;
    uint32_t n_scalars;
    struct scalar *scalars;
    bool images;   /* some access is of an image */
    unsigned last; /* entry that was filled last */
    uint64_t *key; /* of the present question */
    struct entry entries[N_ENTRIES];
};

/* The bits of a scalar that some node asks for: a counter of steps often matters by its last bit alone. */
static uint64_t used_bits(const struct tsl_footprint *footprint, uint32_t of)
{
    uint64_t used = 0;

    for (uint32_t i = 0; i < footprint->n_nodes; i++) {
        const struct tsl_node *node = &footprint->nodes[i];
        const uint32_t operands[3] = {node->a, node->b, node->c};

        for (unsigned k = 0; k < tsl_node_operands(node->op); k++)
            if (operands[k] == of)
                used |= node->op == TSL_NODE_TRUNC ? (UINT64_C(1) << node->bits) - 1 : UINT64_MAX;
    }
    return used;
}

static bool is_named(const struct tsl_footprint *footprint, uint32_t node)
{
    bool named = false;

    for (uint32_t i = 0; i < footprint->n_loops; i++)
        named |= footprint->loops[i].count == node;
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        for (unsigned k = 0; k < 3; k++)
            named |= access->address[k] == node;
        for (uint32_t k = 0; k < access->n_guards; k++)
            named |= access->guards[k] == node;
    }
    return named;
}

/* For each node the arguments, as bits, whose touches depend on it. Operands stand before what they are of. */
static void find_dependants(const struct tsl_footprint *footprint, uint64_t *moves)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];
        const uint64_t argument = UINT64_C(1) << access->argument;

        for (unsigned k = 0; k < 3; k++)
            if (access->address[k] != TSL_FOOTPRINT_NONE)
                moves[access->address[k]] |= argument;
        for (uint32_t k = 0; k < access->n_guards; k++)
            moves[access->guards[k]] |= argument;
        for (uint32_t k = 0; k < access->n_loops; k++)
            if (footprint->loops[access->loops[k]].count != TSL_FOOTPRINT_NONE)
                moves[footprint->loops[access->loops[k]].count] |= argument;
    }
    for (uint32_t i = footprint->n_nodes; i-- > 0;) {
        const struct tsl_node *node = &footprint->nodes[i];
        const uint32_t operands[3] = {node->a, node->b, node->c};

        for (unsigned k = 0; k < tsl_node_operands(node->op); k++)
            moves[operands[k]] |= moves[i];
    }
}

static bool add_scalar(struct tsl_footprint_cache *cache, const struct tsl_footprint *footprint, uint32_t index,
                       uint64_t moves)
{
    const struct tsl_node *node = &footprint->nodes[index];
    const uint64_t used = is_named(footprint, index) ? UINT64_MAX : used_bits(footprint, index);
    const struct scalar scalar = {node->a, node->b, node->bits == 1 ? 1 : node->bits / 8u, used, moves};
    struct scalar *more;

    for (uint32_t i = 0; i < cache->n_scalars; i++) {
        struct scalar *other = &cache->scalars[i];

        if (other->argument == scalar.argument && other->offset == scalar.offset && other->size == scalar.size) {
            other->used |= scalar.used;
            other->moves |= scalar.moves;
            return true;
        }
    }
    more = realloc(cache->scalars, (cache->n_scalars + 1) * sizeof(scalar));
    if (!more)
        return false;
    cache->scalars = more;
    cache->scalars[cache->n_scalars++] = scalar;
    return true;
}

static bool add_scalars(struct tsl_footprint_cache *cache, const struct tsl_footprint *footprint)
{
    const bool few = footprint->n_arguments <= 64;
    uint64_t *moves = calloc(footprint->n_nodes ? footprint->n_nodes : 1, sizeof(*moves));
    bool good = moves;

    if (good && few)
        find_dependants(footprint, moves);
    for (uint32_t i = 0; good && i < footprint->n_nodes; i++)
        if (footprint->nodes[i].op == TSL_NODE_SCALAR)
            good = add_scalar(cache, footprint, i, few ? moves[i] : ALL_ARGUMENTS);
    free(moves);
    return good;
}

struct tsl_footprint_cache *tsl_footprint_cache_create(const struct tsl_footprint *footprint)
{
    struct tsl_footprint_cache *cache = calloc(1, sizeof(*cache));
    bool good = cache && add_scalars(cache, footprint);

    for (uint32_t i = 0; good && i < footprint->n_accesses; i++)
        cache->images |= footprint->accesses[i].flags & TSL_ACCESS_IMAGE;
    if (!good) {
        tsl_footprint_cache_destroy(cache);
        return NULL;
    }
    cache->footprint = footprint;
    cache->n_words =
        WINDOW_WORDS + footprint->n_arguments * (cache->images ? 1 + LAYOUT_WORDS : 1u) + 2 * (size_t)cache->n_scalars;
    cache->key = malloc(cache->n_words * sizeof(*cache->key));
    if (!cache->key) {
        tsl_footprint_cache_destroy(cache);
        return NULL;
    }
    return cache;
}

void tsl_footprint_cache_destroy(struct tsl_footprint_cache *cache)
{
    if (!cache)
        return;
    for (unsigned i = 0; i < N_ENTRIES; i++) {
        free(cache->entries[i].key);
        free(cache->entries[i].touches);
    }
    free(cache->scalars);
    free(cache->key);
    free(cache);
}

/* What isn't set for the window is 0. */
static uint64_t *write_window(uint64_t *key, const struct tsl_window *window)
{
    *key++ = (uint64_t)window->work_dim << 1 | window->whole;
    for (unsigned d = 0; d < 3; d++) {
        const bool there = d < window->work_dim, part = there && !window->whole;

        *key++ = there ? window->global_offset[d] : 0;
        *key++ = there ? window->global_size[d] : 0;
        *key++ = there ? window->local_size[d] : 0;
        *key++ = part ? window->group_begin[d] : 0;
        *key++ = part ? window->group_count[d] : 0;
    }
    return key;
}

/* Zeros are no layout. */
static uint64_t *write_argument(const struct tsl_footprint_cache *cache, uint64_t *key,
                                const struct tsl_argument_value *argument)
{
    *key++ = argument->memory;
    if (!cache->images)
        return key;
    memset(key, 0, LAYOUT_WORDS * sizeof(*key));
    if (argument->pixels)
        memcpy(key, argument->pixels, sizeof(*argument->pixels));
    return key + LAYOUT_WORDS;
}

static void write_key(const struct tsl_footprint_cache *cache, const struct tsl_window *window,
                      const struct tsl_argument_value *arguments)
{
    uint64_t *key = write_window(cache->key, window);

    for (uint32_t i = 0; i < cache->footprint->n_arguments; i++)
        key = write_argument(cache, key, &arguments[i]);
    for (uint32_t i = 0; i < cache->n_scalars; i++) {
        const struct scalar *scalar = &cache->scalars[i];
        const struct tsl_argument_value *argument = &arguments[scalar->argument];

        key[0] = argument->value && argument->size >= scalar->size && scalar->offset <= argument->size - scalar->size;
        key[1] = 0;
        if (key[0])
            memcpy(&key[1], (const char *)argument->value + scalar->offset, scalar->size);
        key[1] &= scalar->used;
        key += 2;
    }
}

static size_t words_of_argument(const struct tsl_footprint_cache *cache)
{
    return cache->images ? 1 + LAYOUT_WORDS : 1;
}

/* The arguments whose touches may be others by the present question than by the entry's. */
static uint64_t find_moved(const struct tsl_footprint_cache *cache, const struct entry *entry)
{
    const size_t n = words_of_argument(cache);
    const uint64_t *now = cache->key + WINDOW_WORDS, *then = entry->key + WINDOW_WORDS;
    uint64_t moved = 0;

    if (memcmp(entry->key, cache->key, WINDOW_WORDS * sizeof(*now)) != 0 || cache->footprint->n_arguments > 64)
        return ALL_ARGUMENTS;
    for (uint32_t i = 0; i < cache->footprint->n_arguments; i++, now += n, then += n)
        if (memcmp(now, then, n * sizeof(*now)) != 0)
            moved |= UINT64_C(1) << i;
    for (uint32_t i = 0; i < cache->n_scalars; i++, now += 2, then += 2)
        if (now[0] != then[0] || now[1] != then[1])
            moved |= cache->scalars[i].moves;
    return moved;
}

/* The entry of which most arguments' touches serve again, or one of which all but few do; NULL: none. Mostly it is that
 * of the launch before, so the search begins at the last one. */
static const struct entry *find_like(const struct tsl_footprint_cache *cache, uint64_t *moved)
{
    const struct entry *best = NULL;
    const int few = (int)cache->footprint->n_arguments / 4;
    int n_moved = (int)cache->footprint->n_arguments;

    *moved = ALL_ARGUMENTS;
    for (unsigned i = 0; i < N_ENTRIES && n_moved > few; i++) {
        const struct entry *entry = &cache->entries[(cache->last - i) % N_ENTRIES];
        const uint64_t its = entry->used && entry->serves ? find_moved(cache, entry) : ALL_ARGUMENTS;

        if (its != ALL_ARGUMENTS && __builtin_popcountll(its) < n_moved) {
            best = entry;
            *moved = its;
            n_moved = __builtin_popcountll(its);
        }
    }
    return best;
}

static void evaluate(const struct tsl_footprint_cache *cache, const struct entry *like, uint64_t moved,
                     struct entry *entry, const struct tsl_window *window, const struct tsl_argument_value *arguments)
{
    for (uint32_t i = 0; like && like != entry && i < cache->footprint->n_arguments; i++)
        if (!(moved >> i & 1))
            tsl_argument_touch_copy(&entry->touches[i], &like->touches[i]);
    entry->serves = like && tsl_footprint_evaluate_some(cache->footprint, window, arguments, moved, entry->touches);
    if (!entry->serves)
        entry->serves = tsl_footprint_evaluate(cache->footprint, window, arguments, entry->touches);
}

static bool fill(struct tsl_footprint_cache *cache, struct entry *entry, const struct tsl_window *window,
                 const struct tsl_argument_value *arguments)
{
    const uint32_t n = cache->footprint->n_arguments;
    uint64_t moved;
    const struct entry *like = find_like(cache, &moved);

    entry->used = 0;
    if (!entry->key)
        entry->key = malloc(cache->n_words * sizeof(*entry->key));
    if (!entry->touches)
        entry->touches = calloc(n ? n : 1, sizeof(*entry->touches));
    if (!entry->key || !entry->touches)
        return false;
    evaluate(cache, like, moved, entry, window, arguments);
    memcpy(entry->key, cache->key, cache->n_words * sizeof(*entry->key));
    return true;
}

/* Of the present question. */
static uint64_t hash(const struct tsl_footprint_cache *cache)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < cache->n_words; i++)
        hash = (hash ^ cache->key[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    return hash;
}

/* NULL: no memory. */
static struct entry *find(struct tsl_footprint_cache *cache, const struct tsl_window *window,
                          const struct tsl_argument_value *arguments)
{
    struct entry *oldest = &cache->entries[0];

    write_key(cache, window, arguments);
    const uint64_t wanted = hash(cache);
    for (unsigned i = 0; i < N_ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];

        if (entry->used && entry->hash == wanted &&
            memcmp(entry->key, cache->key, cache->n_words * sizeof(*cache->key)) == 0) {
            entry->used = ++cache->clock;
            return entry;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    if (!fill(cache, oldest, window, arguments))
        return NULL;
    oldest->hash = wanted;
    oldest->id = oldest->used = ++cache->clock;
    cache->last = (unsigned)(oldest - cache->entries);
    return oldest;
}

const struct tsl_argument_touch *tsl_footprint_cache_evaluate(struct tsl_footprint_cache *cache,
                                                              const struct tsl_window *window,
                                                              const struct tsl_argument_value *arguments, uint64_t *id)
{
    struct entry *found = find(cache, window, arguments);

    if (found && id)
        *id = found->id;
    return found ? found->touches : NULL;
}
