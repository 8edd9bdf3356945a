#include "node/stage.h"
#include "remote/protocol.h"

#include <stdlib.h>

/* Stands before the data, whose alignment it keeps. */
struct head {
    struct tsl_mem *pinned; /* of which all of this is; NULL: heap */
    size_t size, *sum;      /* sum: to which the size was added; NULL: to none */
    char room[64 - 3 * sizeof(void *)];
};

_Static_assert(sizeof(struct head) == 64, "data begin at a cache line of what is aligned so");

static struct head *take_pinned(struct tsl_member *member, size_t size)
{
    struct tsl_mem *mem;
    void *host;

    if (tsl_member_is_lost(member) || member->driver->host_alloc(member, size, &host, &mem))
        return NULL;
    *(struct head *)host = (struct head){.pinned = mem};
    return host;
}

/* Small data go through pinned memory of the driver's own. */
void *node_stage_take(struct tsl_member *member, size_t size)
{
    bool pins = member && member->caps.pins_host && member->caps.pins_at_once && size > TSL_REMOTE_INLINE;
    struct head *head = pins ? take_pinned(member, sizeof(*head) + size) : NULL;

    if (!head) {
        head = malloc(sizeof(*head) + size);
        if (!head)
            return NULL;
        *head = (struct head){.pinned = NULL};
    }
    head->size = size;
    return head + 1;
}

void node_stage_count(void *data, size_t *sum)
{
    struct head *head = (struct head *)data - 1;

    head->sum = sum;
    *sum += head->size;
}

void node_stage_give(void *data)
{
    struct head *head = data ? (struct head *)data - 1 : NULL;

    if (!head)
        return;
    if (head->sum)
        *head->sum -= head->size;
    if (head->pinned)
        head->pinned->member->driver->mem_free(head->pinned);
    else
        free(head);
}
