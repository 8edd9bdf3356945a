#include "node/common.h"
#include "node/internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct node_common {
    struct node_server *server;
    struct tsl_memory_file is;
    bool has_file; /* else it is closed, as the program has it */
    uint8_t *bytes;
    bool is_mapped, is_used;
    bool taken[TSL_REMOTE_N_COMMON]; /* of the node's slots */
    struct tsl_mem *pinned;          /* for a driver that gains by it; NULL: none */
};

struct node_common *node_common_create(struct node_server *server)
{
    struct node_common *common = calloc(1, sizeof(*common));

    if (!common)
        return NULL;
    common->server = server;
    common->bytes = tsl_memory_file_make(TSL_REMOTE_COMMON_NAME, TSL_REMOTE_COMMON_SIZE, &common->is);
    common->has_file = common->bytes != NULL;
    if (common->bytes)
        return common;
    free(common);
    return NULL;
}

static void close_file(struct node_common *common)
{
    if (common->has_file)
        close((int)common->is.file);
    common->has_file = false;
}

void node_common_destroy(struct node_common *common)
{
    if (!common)
        return;
    if (common->pinned)
        common->pinned->member->driver->mem_free(common->pinned);
    munmap(common->bytes, TSL_REMOTE_COMMON_SIZE);
    close_file(common);
    free(common);
}

const struct tsl_memory_file *node_common_is(const struct node_common *common)
{
    return &common->is;
}

void node_common_set_mapped(struct node_common *common)
{
    common->is_mapped = true;
    close_file(common);
}

/* At its first use, as many programs never move much. Pinned by one member it is for all of its driver. */
static void pin(struct node_common *common)
{
    const struct node_server *server = common->server;

    common->is_used = true;
    for (unsigned i = 0; i < server->n_members; i++) {
        struct tsl_member *member = server->members[i];

        if (member->caps.register_from && !tsl_member_is_lost(member) &&
            !member->driver->host_register(member, common->bytes, TSL_REMOTE_COMMON_SIZE, &common->pinned))
            return;
    }
}

static uint8_t *slot_of(struct node_common *common, unsigned number)
{
    if (!common->is_used)
        pin(common);
    return common->bytes + TSL_REMOTE_COMMON_HEAD + number * TSL_REMOTE_PIECE;
}

uint8_t *node_common_data(struct node_common *common, uint32_t slot)
{
    return common && common->is_mapped ? slot_of(common, slot - 1) : NULL;
}

bool node_common_serves(const struct node_common *common)
{
    return common && common->is_mapped;
}

static unsigned first_free(const struct node_common *common)
{
    unsigned i = 0;

    while (i < TSL_REMOTE_N_COMMON && common->taken[i])
        i++;
    return i;
}

bool node_common_has_room(const struct node_common *common)
{
    return first_free(common) < TSL_REMOTE_N_COMMON;
}

uint32_t node_common_take(struct node_common *common, uint8_t **bytes)
{
    unsigned i = first_free(common);

    if (i == TSL_REMOTE_N_COMMON)
        return 0;
    common->taken[i] = true;
    *bytes = slot_of(common, TSL_REMOTE_N_COMMON + i);
    return i + 1;
}

bool node_common_give(struct node_common *common, uint32_t slot)
{
    if (!common || !slot || !common->taken[slot - 1])
        return false;
    common->taken[slot - 1] = false;
    return true;
}
