#include "node/common.h"
#include "node/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct node_common {
    struct node_server *server;
    struct tsl_remote_common is;
    int file; /* -1: closed, as the program has it */
    uint8_t *bytes;
    bool is_mapped, is_used;
    bool taken[TSL_REMOTE_N_COMMON]; /* of the node's slots */
    struct tsl_mem *pinned;          /* for a driver that gains by it; NULL: none */
};

/* Of a size that stays. */
static bool make_file(struct node_common *common)
{
    common->file = memfd_create(TSL_REMOTE_COMMON_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    common->is.pid = (uint32_t)getpid();
    common->is.file = (uint32_t)common->file;
    return common->file >= 0 && !ftruncate(common->file, (off_t)TSL_REMOTE_COMMON_SIZE) &&
           !fcntl(common->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) &&
           getrandom(common->is.token, sizeof(common->is.token), 0) == sizeof(common->is.token);
}

struct node_common *node_common_create(struct node_server *server)
{
    struct node_common *common = calloc(1, sizeof(*common));
    void *bytes = MAP_FAILED;

    if (!common)
        return NULL;
    common->server = server;
    if (make_file(common))
        bytes = mmap(NULL, TSL_REMOTE_COMMON_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, common->file, 0);
    if (bytes == MAP_FAILED) {
        node_common_destroy(common);
        return NULL;
    }
    common->bytes = bytes;
    memcpy(common->bytes, common->is.token, sizeof(common->is.token));
    return common;
}

static void close_file(struct node_common *common)
{
    if (common->file >= 0)
        close(common->file);
    common->file = -1;
}

void node_common_destroy(struct node_common *common)
{
    if (!common)
        return;
    if (common->pinned)
        common->pinned->member->driver->mem_free(common->pinned);
    if (common->bytes)
        munmap(common->bytes, TSL_REMOTE_COMMON_SIZE);
    close_file(common);
    free(common);
}

const struct tsl_remote_common *node_common_is(const struct node_common *common)
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
