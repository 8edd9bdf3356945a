#include "graph/scratch.h"

#include "graph/copies.h"
#include "graph/data.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "handle/object.h"
#include "object/buffer.h"

#include <stdlib.h>

/* So many are kept; those used longest ago go. */
#define MOST 64u

static struct tsl_scratch *find(struct tsl_graph *graph, size_t size, unsigned member)
{
    struct tsl_scratch *s;
    TAILQ_FOREACH(s, &graph->scratch, link)
    if (!s->taken && s->member == member && s->buffer->size == size)
        return s;
    return NULL;
}

static struct tsl_scratch *make(struct tsl_graph *graph, size_t size, unsigned member)
{
    struct tsl_scratch *s = calloc(1, sizeof(*s));
    if (!s || tsl_buffer_create(graph->context, CL_MEM_READ_WRITE, size, NULL, NULL, &s->buffer)) {
        free(s);
        return NULL;
    }
    s->member = member;
    TAILQ_INSERT_TAIL(&graph->scratch, s, link);
    graph->n_scratch++;
    return s;
}

struct tsl_buffer *tsl_scratch_take(struct tsl_graph *graph, size_t size, unsigned member)
{
    struct tsl_scratch *s = find(graph, size, member);
    if (!s)
        s = make(graph, size, member);
    if (!s)
        return NULL;
    s->taken = true;
    TAILQ_REMOVE(&graph->scratch, s, link);
    TAILQ_INSERT_TAIL(&graph->scratch, s, link);
    tsl_object_ref(&s->buffer->object);
    return s->buffer;
}

static void drop(struct tsl_graph *graph, struct tsl_scratch *s)
{
    TAILQ_REMOVE(&graph->scratch, s, link);
    TAILQ_INSERT_TAIL(&graph->dead_scratch, s, link);
    graph->n_scratch--;
}

/* The uses of operations stay on the tiles, so whoever takes the buffer next comes after them. */
void tsl_scratch_give_all(struct tsl_graph *graph)
{
    struct tsl_scratch *s;
    TAILQ_FOREACH_REVERSE(s, &graph->scratch, tsl_scratch_list, link)
    {
        if (!s->taken)
            break;
        s->taken = false;
        tsl_valid_forget_all(s->buffer->data);
    }
    while (graph->n_scratch > MOST)
        drop(graph, TAILQ_FIRST(&graph->scratch));
}

uint64_t tsl_scratch_size(const struct tsl_graph *graph, unsigned member)
{
    const struct tsl_scratch *s;
    uint64_t size = 0;
    TAILQ_FOREACH(s, &graph->scratch, link)
    if (s->member == member && s->buffer->data->residences[member].resident)
        size += s->buffer->size;
    return size;
}

void tsl_scratch_drop_all(struct tsl_graph *graph)
{
    while (!TAILQ_EMPTY(&graph->scratch))
        drop(graph, TAILQ_FIRST(&graph->scratch));
}

void tsl_scratch_bury(struct tsl_graph *graph)
{
    struct tsl_scratch *s;
    while ((s = TAILQ_FIRST(&graph->dead_scratch))) {
        TAILQ_REMOVE(&graph->dead_scratch, s, link);
        tsl_graph_open(graph);
        tsl_object_release(&s->buffer->object);
        free(s);
        tsl_graph_close(graph);
    }
}
