/*
 * SHA-256 (FIPS 180-4): names entries on disk and checks their contents. Not for secrets.
 */
#ifndef TSL_COMPILE_CLIENT_DIGEST_H
#define TSL_COMPILE_CLIENT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define TSL_DIGEST_SIZE 32u

struct tsl_digest {
    uint32_t state[8];
    uint64_t size; /* bytes added so far */
    uint8_t block[64];
};

void tsl_digest_begin(struct tsl_digest *digest);
void tsl_digest_add(struct tsl_digest *digest, const void *data, size_t size);
void tsl_digest_end(struct tsl_digest *digest, uint8_t result[TSL_DIGEST_SIZE]);

#endif
