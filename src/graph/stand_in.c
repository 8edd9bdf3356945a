#include "graph/stand_in.h"

#include "graph/data.h"
#include "graph/scratch.h"
#include "graph/state.h"
#include "handle/object.h"
#include "object/buffer.h"

#include <stdbool.h>
#include <stdlib.h>

static bool grow(struct tsl_buffer ***list, unsigned n, unsigned *room)
{
    if (n < *room)
        return true;
    unsigned more = *room ? 2 * *room : 8;
    struct tsl_buffer **grown = realloc(*list, more * sizeof(*grown));
    if (!grown)
        return false;
    *list = grown;
    *room = more;
    return true;
}

struct tsl_buffer *tsl_stand_ins_take(struct tsl_stand_ins *list, struct tsl_graph *graph, size_t size, unsigned member)
{
    if (!grow(&list->held, list->n_held, &list->room_held))
        return NULL;
    struct tsl_buffer *buffer = tsl_scratch_take(graph, size, member);
    if (buffer)
        list->held[list->n_held++] = buffer;
    return buffer;
}

/* As tsl_buffer_create_sub, under the graph's lock. */
static struct tsl_buffer *part_of(struct tsl_stand_ins *list, struct tsl_buffer *root, const struct tsl_buffer *like)
{
    if (!grow(&list->parts, list->n_parts, &list->room_parts))
        return NULL;
    struct tsl_sub_mems *subs = tsl_sub_mems_create_locked(root->data);
    struct tsl_buffer *part = subs ? tsl_buffer_new(root->context, like->flags, like->offset, like->size) : NULL;
    if (!part) {
        tsl_sub_mems_forget_locked(subs);
        return NULL;
    }
    tsl_object_show(&root->object);
    part->parent = root;
    part->sub_mems = subs;
    list->parts[list->n_parts++] = part;
    return part;
}

struct tsl_buffer *tsl_stand_ins_for(struct tsl_stand_ins *list, struct tsl_buffer *root, const struct tsl_buffer *like)
{
    return like->parent ? part_of(list, root, like) : root;
}

void tsl_stand_ins_finish(struct tsl_stand_ins *list)
{
    for (unsigned i = 0; i < list->n_parts; i++)
        tsl_object_release(&list->parts[i]->object);
    for (unsigned i = 0; i < list->n_held; i++)
        tsl_object_unref(&list->held[i]->object);
    free(list->parts);
    free(list->held);
}
