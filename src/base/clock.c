#include "base/clock.h"

#include <stddef.h>

/* Two quartz clocks, each off by less than 50 parts in a million, drift apart by less, even if a device is hot. */
#define DRIFT_PPM 200

static uint64_t (*virtual_now)(void *data);
static void *virtual_data;

uint64_t tsl_clock_ns(void)
{
    struct timespec now;

    if (virtual_now)
        return virtual_now(virtual_data);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

struct timespec tsl_clock_until(long ns)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec += ns % 1000000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

void tsl_clock_set(uint64_t (*now)(void *data), void *data)
{
    virtual_now = now;
    virtual_data = data;
}

void tsl_command_times_fit(struct tsl_command_times *times, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t length = end_ns > start_ns ? end_ns - start_ns : 0;
    uint64_t room;

    if (times->submit < times->queued)
        times->submit = times->queued;
    if (times->end < times->submit)
        times->end = times->submit;
    room = times->end - times->submit;
    if (length > room)
        length = room;
    if (start_ns < times->submit)
        start_ns = times->submit;
    if (start_ns > times->end - length)
        start_ns = times->end - length;
    times->start = start_ns;
    times->end = start_ns + length;
}

void tsl_clock_map_init(struct tsl_clock_map *map)
{
    *map = (struct tsl_clock_map){.fed = false};
    tsl_lock_init(&map->lock);
}

void tsl_clock_map_finish(struct tsl_clock_map *map)
{
    tsl_lock_finish(&map->lock);
}

/* How far the bounds grow between two times of the device's clock. */
static int64_t drift(uint64_t from, uint64_t to)
{
    uint64_t elapsed = to > from ? to - from : from - to;

    return (int64_t)(elapsed / (1000000 / DRIFT_PPM)) + 1;
}

static void feed_locked(struct tsl_clock_map *map, uint64_t device_ns, int64_t low, int64_t high)
    TSL_REQUIRES(map->lock)
{
    if (map->fed) {
        int64_t grown = drift(map->device_ns, device_ns);
        int64_t old_low = map->low - grown, old_high = map->high + grown;

        if (low <= old_high && old_low <= high) {
            low = low > old_low ? low : old_low;
            high = high < old_high ? high : old_high;
        }
    }
    map->fed = true;
    map->low = low;
    map->high = high;
    map->device_ns = device_ns;
}

void tsl_clock_map_feed(struct tsl_clock_map *map, uint64_t device_ns, uint64_t host_before_ns, uint64_t host_after_ns)
{
    if (host_after_ns < host_before_ns)
        return;
    tsl_lock_take(&map->lock);
    feed_locked(map, device_ns, (int64_t)(host_before_ns - device_ns), (int64_t)(host_after_ns - device_ns));
    tsl_lock_give(&map->lock);
}

static int64_t offset_of(struct tsl_clock_map *map)
{
    int64_t offset = 0;

    tsl_lock_take(&map->lock);
    if (map->fed)
        offset = map->low + (map->high - map->low) / 2;
    tsl_lock_give(&map->lock);
    return offset;
}

/* Saturates: a device may report times from before our clock began, such as 0 for a command that it never ran. */
static uint64_t shift(uint64_t device_ns, int64_t offset)
{
    if (offset < 0 && device_ns < -(uint64_t)offset)
        return 0;
    return device_ns + (uint64_t)offset;
}

uint64_t tsl_clock_map_ns(struct tsl_clock_map *map, uint64_t device_ns)
{
    return shift(device_ns, offset_of(map));
}

void tsl_clock_map_span(struct tsl_clock_map *map, uint64_t *start_ns, uint64_t *end_ns)
{
    int64_t offset = offset_of(map);

    *start_ns = shift(*start_ns, offset);
    *end_ns = shift(*end_ns, offset);
}
