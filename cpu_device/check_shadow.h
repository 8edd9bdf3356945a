/*
 * What the check of a launch's accesses knows while the launch runs (check.c), and what it tells at the end
 * (check_tell.c).
 */
#ifndef TSL_CPU_DEVICE_CHECK_SHADOW_H
#define TSL_CPU_DEVICE_CHECK_SHADOW_H

#include "cpu_device/internal.h"
#include "footprint/evaluate.h"

/* Marks of a byte. READ and WRITTEN: by work-groups that are not in the first half; shifted by IN_HALF: by those that
 * are. Such bytes are claimed. */
#define CPU_SHADOW_READ    1u
#define CPU_SHADOW_WRITTEN 2u
#define CPU_SHADOW_IN_HALF 2
#define CPU_SHADOW_STORED  16u /* by a plain store */
#define CPU_SHADOW_COUNTED 32u /* while the bytes of boxes are counted, at the end */

/* One argument's memory. */
struct cpu_checked {
    const char *begin; /* NULL: the argument is none, or is shared virtual memory, of which anything may be touched */
    uint64_t size;     /* bytes */
    _Atomic uint64_t *shadow; /* a byte of marks for each, eight in a word; NULL where begin is */
    uint64_t sampler;         /* of a sampler: what kernels see */
};

struct cpu_check {
    const struct tsl_kernel_facts *facts;
    const char *kernel;
    atomic_bool told; /* one fault of a launch is enough */
    unsigned n;
    struct cpu_checked *arguments;      /* n */
    struct tsl_argument_touch *touches; /* n */
    bool tells;                         /* how much is touched */
    /* If it tells: the first half of the work-groups, along the dimension in which the halves are said to write, then
     * to read, the fewest bytes. */
    unsigned half;                           /* 3: no dimension has two groups */
    uint64_t half_end;                       /* the group behind the first half */
    struct tsl_argument_touch *half_touches; /* n; of it, where half isn't 3 */
};

static inline uint8_t cpu_shadow_marks(const struct cpu_checked *argument, uint64_t byte)
{
    return (uint8_t)(atomic_load_explicit(&argument->shadow[byte / 8], memory_order_relaxed) >> byte % 8 * 8);
}

/* The marks of each of the bytes [at, end) that are in the first one's word, as they lie in it. */
static inline uint64_t cpu_shadow_spread(uint8_t marks, uint64_t at, uint64_t end)
{
    const uint64_t first = at % 8, n = end - at < 8 - first ? end - at : 8 - first;

    return UINT64_C(0x0101010101010101) * marks >> (64 - 8 * n) << 8 * first;
}

/* The first byte of the next word. */
static inline uint64_t cpu_shadow_next(uint64_t at)
{
    return (at | 7) + 1;
}

/* The argument's name, "?" where it isn't known. */
const char *cpu_check_name(const struct cpu_check *check, unsigned i);

/* Sets half, half_end and half_touches. False: no memory. */
bool cpu_check_choose_half(struct cpu_check *check, const struct tsl_window *window,
                           const struct tsl_argument_value *values);
/* Logs for each argument and direction how many bytes were touched and claimed. */
void cpu_check_tell(const struct cpu_check *check);

#endif
