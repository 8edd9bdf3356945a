/*
 * A map from LLVM's pointers (values, blocks) to numbers or pointers: open addressing; grows; is cleared as a whole.
 */
#ifndef KC_WORKGROUP_MAP_H
#define KC_WORKGROUP_MAP_H

#include <stddef.h>
#include <stdint.h>

struct kc_map {
    struct kc_map_entry *entries;
    size_t capacity, n; /* capacity: 0 or a power of two */
};

/* key is not NULL; an older value is replaced. */
void kc_map_set(struct kc_map *map, const void *key, uintptr_t value);

/* 0 if the key is unknown. */
uintptr_t kc_map_get(const struct kc_map *map, const void *key);

static inline void kc_map_set_pointer(struct kc_map *map, const void *key, void *value)
{
    kc_map_set(map, key, (uintptr_t)value);
}

static inline void *kc_map_get_pointer(const struct kc_map *map, const void *key)
{
    return (void *)kc_map_get(map, key); /* NOLINT: it was stored as a pointer */
}

/* Forgets everything; the map can be used again. */
void kc_map_clear(struct kc_map *map);

#endif
