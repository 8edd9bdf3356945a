/*
 * The one clock, and how the members' clocks are mapped to it.
 *
 * Every time that Tesela compares, reports (CL_PROFILING_COMMAND_...) or draws is in nanoseconds of this clock.
 */
#ifndef TSL_BASE_CLOCK_H
#define TSL_BASE_CLOCK_H

#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Now, in nanoseconds: CLOCK_MONOTONIC unless a simulation installed another clock. Never goes backwards. */
uint64_t tsl_clock_ns(void);

/* The time of CLOCK_MONOTONIC ns nanoseconds from now, for pthread_cond_timedwait, which ignores an installed clock. */
struct timespec tsl_clock_until(long ns);

/*
 * Installs a virtual clock: now(data) is called for each tsl_clock_ns, from any thread. NULL restores the real clock.
 * Call it only while no other thread asks for the time.
 */
void tsl_clock_set(uint64_t (*now)(void *data), void *data);

/* The four times of a command that OpenCL reports (OpenCL 3.0, 5.14), in nanoseconds of one clock. A driver's struct
 * tsl_times has the last two. */
struct tsl_command_times {
    uint64_t queued;
    uint64_t submit;
    uint64_t start;
    uint64_t end;
};

/*
 * Sets start and end from a driver's times. The caller has set queued and submit (taken by our clock when the
 * application enqueued and when the driver got the command) and end (when completion was seen). The span is moved into
 * [submit, end] where it sticks out, and shortened if it doesn't fit. Afterwards queued <= submit <= start <= end,
 * whatever the driver reported.
 */
void tsl_command_times_fit(struct tsl_command_times *times, uint64_t start_ns, uint64_t end_ns);

/*
 * Maps a device's clock to ours. Its input is sightings: "the device's clock showed D at a moment not before our A and
 * not after our B". Each sighting bounds the offset between the clocks to [A - D, B - D]. The map intersects these
 * bounds, widens them with time by the drift of two quartz clocks, and starts again from the newest sighting when they
 * contradict each other (the device was reset or slept).
 *
 * All functions are thread-safe; the lock is a leaf and is held for nanoseconds.
 */
struct tsl_clock_map {
    struct tsl_lock lock;
    bool fed;           /* false: offsets are unknown, the clocks are taken as one */
    int64_t low;        /* the offset (ours - device's) lies in [low, high] ... */
    int64_t high;       /* ... */
    uint64_t device_ns; /* ... as of this device time, the newest sighting's */
};

void tsl_clock_map_init(struct tsl_clock_map *map);
void tsl_clock_map_finish(struct tsl_clock_map *map);

/*
 * One sighting, see above. An exact pair, as clGetDeviceAndHostTimer gives, has host_before_ns == host_after_ns; a
 * vendor event's QUEUED time lies between our times before and after the clEnqueue call.
 */
void tsl_clock_map_feed(struct tsl_clock_map *map, uint64_t device_ns, uint64_t host_before_ns, uint64_t host_after_ns);

/* Maps one device time to our clock, by the middle of the bounds. */
uint64_t tsl_clock_map_ns(struct tsl_clock_map *map, uint64_t device_ns);

/* Maps a start and an end to our clock, with one offset, so that their order stays. */
void tsl_clock_map_span(struct tsl_clock_map *map, uint64_t *start_ns, uint64_t *end_ns);

#endif
