#include "node/function.h"

#include "remote/protocol.h"
#include "variant/call.h"
#include "variant/variant.h"

#include <stdlib.h>
#include <string.h>

struct node_function {
    uint8_t digest[TSL_DIGEST_SIZE];
    struct tsl_variant *variant;
    SLIST_ENTRY(node_function) link;
};

void node_functions_init(struct node_functions *functions)
{
    pthread_mutex_init(&functions->lock, NULL);
    SLIST_INIT(&functions->list);
}

void node_functions_finish(struct node_functions *functions)
{
    struct node_function *function;

    while ((function = SLIST_FIRST(&functions->list))) {
        SLIST_REMOVE_HEAD(&functions->list, link);
        tsl_variant_unref(function->variant);
        free(function);
    }
    pthread_mutex_destroy(&functions->lock);
}

static bool is_of(const struct node_function *function, const struct tsl_call_file *file,
                  const uint8_t digest[TSL_DIGEST_SIZE])
{
    const struct tsl_variant *v = function->variant;

    return memcmp(function->digest, digest, TSL_DIGEST_SIZE) == 0 && strcmp(v->file, file->library) == 0 &&
           strcmp(v->function, file->function) == 0 && v->align == file->align && v->trial == file->trial;
}

static struct tsl_variant *find_locked(struct node_functions *functions, const struct tsl_call_file *file,
                                       const uint8_t digest[TSL_DIGEST_SIZE])
{
    struct node_function *function;

    SLIST_FOREACH(function, &functions->list, link)
    {
        if (is_of(function, file, digest))
            return function->variant;
    }
    return NULL;
}

/* A library stays loaded, and the dynamic linker gives for a path what it has loaded by it. So a file that is another
 * by now can't be had. */
static bool has_changed_locked(const struct node_functions *functions, const struct tsl_call_file *file,
                               const uint8_t digest[TSL_DIGEST_SIZE])
{
    const struct node_function *function;

    SLIST_FOREACH(function, &functions->list, link)
    {
        if (strcmp(function->variant->file, file->library) == 0 && memcmp(function->digest, digest, TSL_DIGEST_SIZE))
            return true;
    }
    return false;
}

/* NULL: no memory, or there are too many. */
static struct tsl_variant *add_locked(struct node_functions *functions, const struct tsl_call_file *file,
                                      const uint8_t digest[TSL_DIGEST_SIZE])
{
    struct node_function *function = functions->n < NODE_MOST_FUNCTIONS ? calloc(1, sizeof(*function)) : NULL;

    if (!function)
        return NULL;
    memcpy(function->digest, digest, TSL_DIGEST_SIZE);
    function->variant = tsl_variant_of_file(file);
    if (!function->variant) {
        free(function);
        return NULL;
    }
    SLIST_INSERT_HEAD(&functions->list, function, link);
    functions->n++;
    return function->variant;
}

struct tsl_variant *node_function_take(struct node_functions *functions, const struct tsl_call_file *file,
                                       const uint8_t digest[TSL_DIGEST_SIZE], const char **why)
{
    uint8_t found[TSL_DIGEST_SIZE];
    struct tsl_variant *variant;

    /* By another name the dynamic linker looks elsewhere. */
    *why = "a node finds a library by its whole path alone";
    if (file->library[0] != '/')
        return NULL;
    *why = "its library isn't on this node, or isn't the same there";
    if (!tsl_remote_digest_file(file->library, found) || memcmp(found, digest, sizeof(found)))
        return NULL;
    *why = "the node has too many functions in the place of kernels, or no memory";
    pthread_mutex_lock(&functions->lock);
    variant = find_locked(functions, file, digest);
    if (!variant && has_changed_locked(functions, file, digest))
        *why = "its library has changed since the node took it: that takes a new start of the nodes";
    else if (!variant)
        variant = add_locked(functions, file, digest);
    if (variant)
        tsl_variant_ref(variant);
    pthread_mutex_unlock(&functions->lock);
    return variant;
}
