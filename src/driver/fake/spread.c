/* The fake driver's memory over several members: one piece of the host's that each of them has a memory of. */
#include "driver/fake/internal.h"

#include "driver/spread.h"

#include <stdlib.h>

/* Takes each part from its member's memory, or none. */
static cl_int take_parts_locked(struct fake_spread *spread, unsigned *full)
{
    for (unsigned i = 0; i < spread->n; i++) {
        const struct fake_part *part = &spread->parts[i];

        if (part->member->used_size + part->size > part->member->is.memory_size) {
            *full = i;
            return CL_MEM_OBJECT_ALLOCATION_FAILURE;
        }
    }
    for (unsigned i = 0; i < spread->n; i++)
        spread->parts[i].member->used_size += spread->parts[i].size;
    tsl_fake.live.mem_size += spread->size;
    return CL_SUCCESS;
}

static void give_parts_locked(struct fake_spread *spread)
{
    for (unsigned i = 0; i < spread->n; i++)
        spread->parts[i].member->used_size -= spread->parts[i].size;
    tsl_fake.live.mem_size -= spread->size;
}

static struct fake_spread *spread_new_locked(const struct tsl_spread_request *request, size_t size)
{
    struct fake_spread *spread = tsl_fake_new_locked(sizeof *spread);
    size_t begin = 0;

    spread->size = size;
    spread->n_mems = spread->n = request->n;
    spread->parts = tsl_fake_new_locked(request->n * sizeof *spread->parts);
    for (unsigned i = 0; i < request->n; i++) {
        spread->parts[i] = (struct fake_part){fake_member(request->members[i]), begin, request->sizes[i]};
        begin += request->sizes[i];
    }
    return spread;
}

static cl_int alloc_locked(const struct tsl_spread_request *request, size_t size, struct tsl_mem **mems, unsigned *full)
{
    struct fake_spread *spread = spread_new_locked(request, size);
    cl_int rc = take_parts_locked(spread, full);

    if (rc)
        return rc;
    spread->bytes = malloc(size);
    if (!spread->bytes)
        abort();
    tsl_fake_poison(spread->bytes, size, ++tsl_fake.stamp);
    spread->next = tsl_fake.spreads;
    tsl_fake.spreads = spread;
    tsl_fake.live.spreads++;
    for (unsigned i = 0; i < request->n; i++) {
        struct fake_mem *mem = tsl_fake_mem_new_locked(request->members[i], size);

        mem->spread = spread;
        mem->bytes = spread->bytes;
        tsl_fake.live.mems++;
        mems[i] = &mem->base;
    }
    return CL_SUCCESS;
}

cl_int tsl_fake_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full)
{
    size_t size;
    cl_int rc;

    if (!request->n) {
        tsl_fake_violate(TSL_FAKE_BAD_ARGUMENT, "spread_alloc over no members");
        return CL_INVALID_VALUE;
    }
    for (unsigned i = 0; i < request->n; i++)
        tsl_fake_need_ready(fake_member(request->members[i]));
    rc = tsl_fake_enter_locked(fake_member(request->members[0]), TSL_FAKE_SPREAD, "spread_alloc");
    if (rc)
        return rc;
    for (unsigned i = 0; i < request->n; i++)
        tsl_fake_lost_locked(fake_member(request->members[i])); /* Notices it. */
    rc = tsl_spread_check(request, &size);
    if (rc == CL_INVALID_VALUE)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "spread_alloc of members or parts that don't go together");
    if (rc == CL_SUCCESS)
        rc = alloc_locked(request, size, mems, full);
    tsl_fake_leave_locked();
    return rc;
}

void tsl_fake_spread_put_locked(struct fake_spread *spread)
{
    if (--spread->n_mems)
        return;
    give_parts_locked(spread);
    tsl_fake.live.spreads--;
    if (!spread->is_used) {
        free(spread->bytes);
        spread->bytes = NULL;
    }
    free(spread->history.items);
    spread->history = (struct fake_accesses){0};
}

/* ---- Lost members ------------------------------------------------------------------------------------------------ */

static bool is_lost(const struct fake_part *part, const struct fake_member *lost)
{
    return part->size && (lost ? part->member == lost : tsl_fake_lost_locked(part->member));
}

static bool touches(const struct fake_spread *spread, const struct fake_part *part)
{
    uintptr_t begin = (uintptr_t)spread->bytes + part->begin;

    for (size_t i = 0; i < tsl_fake.gathered.n; i++) {
        const struct fake_access *access = &tsl_fake.gathered.items[i];

        if (access->lo < begin + part->size && begin < access->hi)
            return true;
    }
    return false;
}

/* A launch counts as touching all that it is given. */
static bool touches_lost(struct fake_op *op, const struct fake_spread *spread, const struct fake_member *lost)
{
    for (unsigned i = 0; i < spread->n; i++) {
        const struct fake_part *part = &spread->parts[i];

        if (!is_lost(part, lost))
            continue;
        if (op->launch.kernel)
            return true;
        tsl_fake_gather_locked(op);
        if (touches(spread, part))
            return true;
    }
    return false;
}

bool tsl_fake_spread_is_lost_locked(struct fake_op *op, const struct fake_member *lost)
{
    for (unsigned i = 0; i < op->n_uses; i++)
        if (op->uses[i]->spread && touches_lost(op, op->uses[i]->spread, lost))
            return true;
    return false;
}

void tsl_fake_spread_poison_locked(const struct fake_member *lost)
{
    for (struct fake_spread *spread = tsl_fake.spreads; spread; spread = spread->next)
        for (unsigned i = 0; i < spread->n && spread->bytes; i++)
            if (spread->parts[i].member == lost)
                tsl_fake_poison(spread->bytes + spread->parts[i].begin, spread->parts[i].size, 0x105e);
}

void tsl_fake_spread_free_all(void)
{
    for (struct fake_spread *spread = tsl_fake.spreads; spread; spread = spread->next) {
        free(spread->bytes);
        free(spread->history.items);
    }
}
