/* Memory that a program of this machine has in common with the node: data go through its slots,
 * not by messages. One for each session that asks. */
#ifndef TSL_NODE_COMMON_H
#define TSL_NODE_COMMON_H

#include "remote/protocol.h"

struct node_common;
struct node_server;

/* NULL: there is none to be had. */
struct node_common *node_common_create(struct node_server *server);
/* No work uses it. NULL allowed. */
void node_common_destroy(struct node_common *common);
/* How the program finds it. */
const struct tsl_memory_file *node_common_is(const struct node_common *common);
/* The program has it: the node's own slots may be used. */
void node_common_set_mapped(struct node_common *common);

/* The program's data in its slot, counted from one; NULL: there is no such memory. common may be NULL. */
uint8_t *node_common_data(struct node_common *common, uint32_t slot);

/* Do READs go by it? */
bool node_common_serves(const struct node_common *common);
/* One of the node's slots, counted from one; 0: all are taken. */
uint32_t node_common_take(struct node_common *common, uint8_t **bytes);
bool node_common_has_room(const struct node_common *common);
/* False: nobody had it. */
bool node_common_give(struct node_common *common, uint32_t slot);

#endif
