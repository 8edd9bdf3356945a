/*
 * TESELA_CHECK=access with TESELA_LOG=driver:debug: how much of what a launch claims does it touch? Told of the launch,
 * and of the first half of its work-groups: what two members would claim of the arguments if they shared the launch.
 */
#include "base/log.h"
#include "cpu_device/check_shadow.h"
#include "facts/kernel_facts.h"
#include "footprint/cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXT (TSL_FOOTPRINT_MAX_TEXT + 64u)

/* ---- The half ---------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(const struct cpu_check *check, const struct tsl_argument_touch *touches, bool writes)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < check->n; i++)
        if (check->arguments[i].begin)
            sum += tsl_byte_set_size(writes ? &touches[i].write : &touches[i].read, check->arguments[i].size);
    return sum;
}

static bool is_less(const struct cpu_check *check, const struct tsl_argument_touch *a,
                    const struct tsl_argument_touch *b)
{
    const uint64_t in_a = sum_of(check, a, true), in_b = sum_of(check, b, true);

    return in_a < in_b || (in_a == in_b && sum_of(check, a, false) < sum_of(check, b, false));
}

bool cpu_check_choose_half(struct cpu_check *check, const struct tsl_window *window,
                           const struct tsl_argument_value *values)
{
    struct tsl_argument_touch *tried = calloc(check->n + 1, sizeof(*tried)), *best;

    check->half_touches = calloc(check->n + 1, sizeof(*check->half_touches));
    for (unsigned d = window->work_dim; tried && check->half_touches && d-- > 0;) {
        const uint64_t n = tsl_cut_groups(window, d), ends[2] = {n / 2, n};
        struct tsl_window halves[2];

        if (n < 2)
            continue;
        tsl_cut_windows(window, d, 2, ends, halves);
        tsl_footprint_evaluate(check->facts->footprint, &halves[0], values, tried);
        if (check->half < 3 && !is_less(check, tried, check->half_touches))
            continue;
        check->half = d;
        check->half_end = halves[1].group_begin[d];
        best = tried;
        tried = check->half_touches;
        check->half_touches = best;
    }
    free(tried);
    return tried && check->half_touches;
}

/* ---- What is told ------------------------------------------------------------------------------------------------ */

/* One argument in one direction. */
struct account {
    uint64_t touched, claimed, half_touched, half_claimed; /* bytes */
};

/* Sets or takes away the mark of the box' bytes, and returns of how many. */
static uint64_t turn(const struct cpu_checked *argument, const struct tsl_byte_box *box, bool on)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < box->count[0] * box->count[1]; i++) {
        const uint64_t row = box->offset + i % box->count[0] * box->stride[0] + i / box->count[0] * box->stride[1];

        for (uint64_t at = row; at < row + box->width; at++) {
            const uint8_t marks = cpu_shadow_marks(argument, at);

            if (((marks & CPU_SHADOW_COUNTED) != 0) == on)
                continue;
            n++;
            atomic_fetch_xor_explicit(&argument->shadow[at / 8], cpu_shadow_spread(CPU_SHADOW_COUNTED, at, at + 1),
                                      memory_order_relaxed);
        }
    }
    return n;
}

/* Boxes may meet: each byte counts once. */
static uint64_t size_of(const struct cpu_checked *argument, const struct tsl_byte_set *set)
{
    uint64_t size = 0;

    if (set->n <= 1)
        return tsl_byte_set_size(set, argument->size);
    for (unsigned i = 0; i < set->n; i++)
        size += turn(argument, &set->boxes[i], true);
    for (unsigned i = 0; i < set->n; i++)
        turn(argument, &set->boxes[i], false);
    return size;
}

static void count(const struct cpu_checked *argument, const struct tsl_byte_set *set, uint8_t mark,
                  struct account *account)
{
    uint64_t begin, end;

    if (!tsl_byte_set_hull(set, argument->size, &begin, &end))
        return;
    for (uint64_t i = begin; i < end; i++) {
        uint8_t marks = cpu_shadow_marks(argument, i);

        account->touched += (marks & (mark | mark << CPU_SHADOW_IN_HALF)) != 0;
        account->half_touched += (marks & mark << CPU_SHADOW_IN_HALF) != 0;
    }
}

static bool is_endless(const struct tsl_footprint *footprint, const struct tsl_access *access)
{
    for (uint32_t i = 0; i < access->n_loops; i++)
        if (footprint->loops[access->loops[i]].count == TSL_FOOTPRINT_NONE)
            return true;
    return false;
}

/* Why all of the argument is claimed: " (line 3: it is loaded from memory)". */
static void say_why(const struct cpu_check *check, uint32_t access, char *text, size_t size)
{
    const struct tsl_footprint *footprint = check->facts->footprint;
    const struct tsl_access *at = access < footprint->n_accesses ? &footprint->accesses[access] : NULL;
    char address[TSL_FOOTPRINT_MAX_TEXT] = "";

    if (at && is_endless(footprint, at))
        snprintf(address, sizeof(address), "it isn't known how often a loop around it runs");
    else if (at && !at->why && at->address[0] != TSL_FOOTPRINT_NONE)
        tsl_footprint_print_node(footprint, at->address[0], address, sizeof(address));
    snprintf(text, size, " (line %" PRIu32 ": %s)", at ? at->line : 0, at && at->why ? at->why : address);
}

static void tell(const struct cpu_check *check, unsigned i, const struct account *account, bool writes)
{
    const struct tsl_argument_touch *touch = &check->touches[i];
    const struct tsl_byte_set *set = writes ? &touch->write : &touch->read;
    char half[128] = "", sure[64] = "", why[MAX_TEXT] = "";

    if (set->unknown)
        say_why(check, writes ? touch->why_write : touch->why_read, why, sizeof(why));
    if (writes)
        snprintf(sure, sizeof(sure), ", %" PRIu64 " surely", size_of(&check->arguments[i], &touch->sure));
    if (check->half < 3)
        snprintf(half, sizeof(half), "; the first half of the work-groups %" PRIu64 " of %" PRIu64,
                 account->half_touched, account->half_claimed);
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_DEBUG,
            "access: kernel %s argument %u (%s): %s %" PRIu64 " of %" PRIu64 " bytes claimed%s%s%s%s", check->kernel, i,
            cpu_check_name(check, i), writes ? "wrote" : "read", account->touched, account->claimed, sure, half,
            set->unknown ? "; all is claimed as more isn't known" : "", why);
}

static void tell_direction(const struct cpu_check *check, unsigned i, bool writes)
{
    const struct cpu_checked *argument = &check->arguments[i];
    const struct tsl_argument_touch *touch = &check->touches[i];
    const struct tsl_argument_touch *half = check->half < 3 ? &check->half_touches[i] : NULL;
    const struct tsl_byte_set *set = writes ? &touch->write : &touch->read;
    struct account account = {.claimed = size_of(argument, set)};

    if (half)
        account.half_claimed = size_of(argument, writes ? &half->write : &half->read);
    count(argument, set, writes ? CPU_SHADOW_WRITTEN : CPU_SHADOW_READ, &account);
    tell(check, i, &account, writes);
}

void cpu_check_tell(const struct cpu_check *check)
{
    for (unsigned i = 0; i < check->n; i++) {
        if (!check->arguments[i].shadow)
            continue;
        if (check->touches[i].reads)
            tell_direction(check, i, false);
        if (check->touches[i].writes)
            tell_direction(check, i, true);
    }
}
