#include "compiler/workgroup/map.h"

#include "compiler/workgroup/memory.h"

#include <stdlib.h>

struct kc_map_entry {
    const void *key; /* NULL: free */
    uintptr_t value;
};

static size_t place_of(const struct kc_map *map, const void *key)
{
    /* Fibonacci hashing: LLVM's pointers differ in their middle bits. */
    size_t i = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20) & (map->capacity - 1);

    while (map->entries[i].key && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

static void grow(struct kc_map *map)
{
    struct kc_map old = *map;

    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->entries = kc_alloc(map->capacity, sizeof(*map->entries));
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key)
            map->entries[place_of(map, old.entries[i].key)] = old.entries[i];
    free(old.entries);
}

void kc_map_set(struct kc_map *map, const void *key, uintptr_t value)
{
    size_t i;

    if (map->n * 2 >= map->capacity)
        grow(map);
    i = place_of(map, key);
    if (!map->entries[i].key)
        map->n++;
    map->entries[i].key = key;
    map->entries[i].value = value;
}

uintptr_t kc_map_get(const struct kc_map *map, const void *key)
{
    return map->capacity ? map->entries[place_of(map, key)].value : 0;
}

void kc_map_clear(struct kc_map *map)
{
    free(map->entries);
    *map = (struct kc_map){.n = 0};
}
