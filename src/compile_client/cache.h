/*
 * Compiled programs on disk, named by a digest of all that they depend on and shared by processes. An entry is a file
 * "kernels/<digest>" in the cache folder, written under a temporary name and renamed, so that readers see whole entries
 * or none. It begins with a digest of its contents, which reveals damage. Files and folder are trusted only if they are
 * the effective user's own and nobody else may write to them: they hold code.
 */
#ifndef TSL_COMPILE_CLIENT_CACHE_H
#define TSL_COMPILE_CLIENT_CACHE_H

#include "compile_client/digest.h"

#include <stdbool.h>

struct tsl_cache_key {
    uint8_t digest[TSL_DIGEST_SIZE];
};

/* The bytes that all entries together may take, roughly: the total is looked at now and then, and when it is more, the
 * least recently used entries are dropped. */
#define TSL_CACHE_LIMIT (UINT64_C(512) << 20)

/* folder: an absolute path. Any thread, no locks. get: the contents (heap), or NULL. put: failures are only logged, as
 * they cost nothing but time. limit: normally TSL_CACHE_LIMIT. */
void *tsl_cache_get(const char *folder, const struct tsl_cache_key *key, size_t *size);
void tsl_cache_put(const char *folder, const struct tsl_cache_key *key, const void *data, size_t size, uint64_t limit);

#endif
