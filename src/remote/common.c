/*
 * Memory that the program has in common with a node of its own machine, so that bytes are copied into it and out of it
 * once each, and go by no message. The node makes it and this process maps it by way of /proc, which asks no more than
 * that both are the same user's. Where it can't be had (containers, which have their own numbers of processes) all data
 * go by the head.
 */
#include "base/settings.h"
#include "remote/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opening another file, which has the number elsewhere, might wait or do something: its name is looked at before. */
static int open_file(const struct tsl_remote_common *is)
{
    static const char name[] = "/memfd:" TSL_REMOTE_COMMON_NAME;
    char path[64], link[sizeof(name)] = "";

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", is->pid, is->file);
    if (readlink(path, link, sizeof(link) - 1) <= 0 || strcmp(link, name) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Nobody can make it shorter while it is mapped. */
static bool has_the_size(int file)
{
    struct stat about;
    int seals = fcntl(file, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(file, &about) &&
           about.st_size == (off_t)TSL_REMOTE_COMMON_SIZE;
}

/* NULL: it isn't what the node means. */
static uint8_t *map(const struct tsl_remote_common *is)
{
    int file = open_file(is);
    void *bytes = MAP_FAILED;

    if (file >= 0 && has_the_size(file))
        bytes = mmap(NULL, TSL_REMOTE_COMMON_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (bytes == MAP_FAILED)
        return NULL;
    if (memcmp(bytes, is->token, sizeof(is->token)) == 0)
        return bytes;
    munmap(bytes, TSL_REMOTE_COMMON_SIZE);
    return NULL;
}

static bool is_wanted(const struct remote_node *node)
{
    return node->n_members && node->paths[0].is.identity.host_id == node->connection->host_id &&
           tsl_settings()->nodes_common == TSL_NODES_COMMON_ON;
}

void remote_share_memory(struct remote_node *node)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_COMMON};
    struct tsl_remote_common is;
    struct tsl_reader reader;
    uint8_t *bytes = NULL;
    void *data;
    size_t size;

    if (!is_wanted(node))
        return;
    if (!remote_ask(node, &request, &data, &size)) {
        reader = tsl_reader_of(data, size);
        if (tsl_remote_get_common(&reader, &is))
            bytes = map(&is);
    }
    free(data);
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
