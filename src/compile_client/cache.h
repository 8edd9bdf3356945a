/*
 * What was compiled, kept on disk by content and shared by processes. An entry is a file "kernels/<digest>" in the
 * cache folder, written aside and renamed into place, so that readers see whole entries or none; it begins with a
 * digest of its contents, so that damage is seen. Files and folder are trusted only if they are the effective user's
 * own and nobody else may write to them: what is kept there is code.
 */
#ifndef TSL_COMPILE_CLIENT_CACHE_H
#define TSL_COMPILE_CLIENT_CACHE_H

#include "compile_client/digest.h"

#include <stdbool.h>

struct tsl_cache_key {
    uint8_t digest[TSL_DIGEST_SIZE];
};

/* Bytes that all entries together may take, by and large: now and then it is looked, and when it is more, those not
 * used for longest go. */
#define TSL_CACHE_LIMIT (UINT64_C(512) << 20)

/* folder: an absolute path. Any thread, no locks. get: the contents (heap), or NULL. put: failures are only logged, as
 * nothing is lost but time. limit: normally TSL_CACHE_LIMIT. */
void *tsl_cache_get(const char *folder, const struct tsl_cache_key *key, size_t *size);
void tsl_cache_put(const char *folder, const struct tsl_cache_key *key, const void *data, size_t size, uint64_t limit);

#endif
