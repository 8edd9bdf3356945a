/* Answers about programs that were had before, on disk where the compiler's results are: a node is told what is known,
 * and says only what is otherwise. So they can't be wrong, whatever they were found by. */
#include "base/settings.h"
#include "compile_client/cache.h"
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

/* Smaller ones are as quickly said as asked about. */
#define LEAST_KNOWN 256

static void add_text(struct tsl_digest *sum, const char *text)
{
    tsl_digest_add(sum, text, strlen(text) + 1);
}

/* Equal devices of all nodes say the same of a program. */
static struct tsl_cache_key key_of(const struct remote_program *program, const struct tsl_remote_request *request)
{
    const struct tsl_remote_member *is = &remote_member_of(program->base.member)->path->is;
    const uint8_t kind = (uint8_t)request->kind;
    struct tsl_cache_key key;
    struct tsl_digest sum;

    tsl_digest_begin(&sum);
    add_text(&sum, "what a node says of a program");
    add_text(&sum, is->driver);
    add_text(&sum, is->platform_name);
    add_text(&sum, is->device_name);
    add_text(&sum, is->driver_version);
    tsl_digest_add(&sum, program->content, sizeof(program->content));
    tsl_digest_add(&sum, &kind, 1);
    add_text(&sum, request->text ? request->text : "");
    tsl_digest_end(&sum, key.digest);
    return key;
}

cl_int remote_ask_known(struct remote_program *program, struct tsl_remote_request *request, void **data, size_t *size)
{
    struct remote_node *node = remote_member_of(program->base.member)->node;
    const struct tsl_cache_key key = key_of(program, request);
    const char *cache = tsl_settings()->cache;
    size_t known_size = 0;
    void *known = cache ? tsl_cache_get(cache, &key, &known_size) : NULL;
    cl_int error;

    if (known)
        tsl_remote_digest(known, known_size, request->digest);
    error = remote_ask(node, request, data, size);
    if (error == TSL_REMOTE_SAME && known) {
        free(*data);
        *data = known;
        *size = known_size;
        return CL_SUCCESS;
    }
    free(known);
    if (error == CL_SUCCESS && cache && *size >= LEAST_KNOWN)
        tsl_cache_put(cache, &key, *data, *size, TSL_CACHE_LIMIT);
    return error > CL_SUCCESS ? CL_OUT_OF_RESOURCES : error;
}
