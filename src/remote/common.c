/*
 * Memory that the program has in common with a node of its own machine, so that bytes are copied into it and out of it
 * once each, and go by no message. Where it can't be had all data go by the head.
 */
#include "base/settings.h"
#include "remote/internal.h"

#include <stdlib.h>

static bool is_wanted(const struct remote_node *node)
{
    return node->n_members && node->paths[0].is.identity.host_id == node->connection->host_id &&
           tsl_settings()->nodes_common == TSL_NODES_COMMON_ON;
}

/* What the node offers; NULL: it can't be had here. */
static uint8_t *map(struct remote_node *node)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_COMMON};
    struct tsl_memory_file is;
    uint8_t *bytes = NULL;
    void *data;
    size_t size;

    if (!remote_ask(node, &request, &data, &size)) {
        struct tsl_reader reader = tsl_reader_of(data, size);

        tsl_get_memory_file(&reader, &is);
        if (tsl_read_end(&reader))
            bytes = tsl_memory_file_map(TSL_REMOTE_COMMON_NAME, TSL_REMOTE_COMMON_SIZE, &is);
    }
    free(data);
    return bytes;
}

void remote_share_memory(struct remote_node *node)
{
    uint8_t *bytes = is_wanted(node) ? map(node) : NULL;

    if (!bytes)
        return;
    remote_lock(node->connection);
    node->common = bytes;
    if (!node->lost)
        remote_say_locked(node, &(struct tsl_remote_request){.kind = TSL_REMOTE_COMMON_IS_MAPPED});
    remote_unlock(node->connection);
}

uint8_t *remote_common_slot(const struct remote_node *node, unsigned slot)
{
    return node->common + TSL_REMOTE_COMMON_HEAD + slot * TSL_REMOTE_PIECE;
}

const uint8_t *remote_common_slot_of_node(const struct remote_node *node, unsigned slot)
{
    return remote_common_slot(node, TSL_REMOTE_N_COMMON + slot);
}
