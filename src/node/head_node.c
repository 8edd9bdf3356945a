/* The nodes: what they send goes to its program in order, data by way of the memory that it shares with us. */
#include "base/clock.h"
#include "node/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void head_lose(struct head *head, struct head_node *node, const char *why)
{
    struct head_program *program;

    if (node->lost)
        return;
    node->lost = true;
    fprintf(stderr, "tesela-head: node %u (%s) is lost: %s\n", node->index, node->is.host ? node->is.host : "?", why);
    for (unsigned i = 0; i < head->n_nodes; i++)
        if (!head->nodes[i].lost)
            mpi_io_say(&head->io, (int)i + 1, TSL_REMOTE_LOST, node->index);
    TAILQ_FOREACH(program, &head->programs, link)
    {
        if (program->greeted && !program->gone)
            head_put(
                program,
                &(struct tsl_remote_frame){.kind = TSL_REMOTE_LOST, .peer = node->index, .size = (uint32_t)strlen(why)},
                why);
    }
}

static void add_item(struct head_node *node, const struct tsl_remote_frame *frame, uint8_t *data)
{
    struct head_item *item = calloc(1, sizeof(*item));

    if (!item)
        mpi_io_abort(1);
    item->frame = *frame;
    item->data = data;
    item->slot = -1;
    TAILQ_INSERT_TAIL(&node->items, item, link);
}

static void take_hello(struct head_node *node, const uint8_t *data, size_t size)
{
    node->hello = tsl_remote_get_hello(data, size, &node->is);
}

static void take_bell(struct head_node *node, const uint8_t *data, size_t size)
{
    if (bell_get(data, size, &node->bell))
        bell_find((int)node->index + 1, &node->bell);
    else
        node->bell.host_id = 0;
}

static void take_frame(struct head *head, struct head_node *node, uint8_t *data, size_t size)
{
    struct tsl_remote_frame frame;
    struct head_program *program;

    if (size < TSL_REMOTE_FRAME_SIZE || !tsl_remote_get_frame(data, &frame)) {
        head_lose(head, node, "it sends what makes no sense");
        free(data);
        return;
    }
    if (frame.kind == TSL_REMOTE_MESSAGES && frame.size == size - TSL_REMOTE_FRAME_SIZE) {
        add_item(node, &frame, data);
        return;
    }
    if (frame.kind == TSL_REMOTE_PAYLOAD)
        add_item(node, &frame, NULL);
    node->has_quit |= frame.kind == TSL_REMOTE_QUIT;
    if (frame.kind == TSL_REMOTE_HELLO)
        take_hello(node, data + TSL_REMOTE_FRAME_SIZE, size - TSL_REMOTE_FRAME_SIZE);
    if (frame.kind == TSL_REMOTE_BELL)
        take_bell(node, data + TSL_REMOTE_FRAME_SIZE, size - TSL_REMOTE_FRAME_SIZE);
    program = frame.kind == TSL_REMOTE_BYE ? head_find(head, frame.peer) : NULL;
    if (program)
        program->gone = true; /* It said what makes no sense. */
    free(data);
}

static void *room(int rank, size_t size)
{
    (void)rank;
    return malloc(size);
}

bool head_hear(struct head *head)
{
    size_t size;
    int rank;
    uint8_t *data = mpi_io_take(&head->io, &rank, &size, room);

    if (!data)
        return false;
    if (rank < 1 || (unsigned)rank > head->n_nodes) {
        free(data);
        return true;
    }
    head->nodes[rank - 1].heard_ns = tsl_clock_ns();
    take_frame(head, &head->nodes[rank - 1], data, size);
    return true;
}

/* ---- Handing on -------------------------------------------------------------------------------------------------- */

static int take_slot(struct head_program *program)
{
    for (unsigned i = 0; i < TSL_REMOTE_N_SLOTS; i++)
        if (!program->slot_taken[i]) {
            program->slot_taken[i] = true;
            return (int)i;
        }
    return -1;
}

/* Payloads are received in the order in which they were announced, so one without a place stops those behind it. */
static bool receive(struct head *head, struct head_node *node, struct head_item *item)
{
    struct head_program *program = head_find(head, item->frame.peer);
    uint8_t *bytes;

    if (program) {
        item->slot = take_slot(program);
        if (item->slot < 0)
            return false;
        bytes = program->slots + (TSL_REMOTE_N_SLOTS + (unsigned)item->slot) * TSL_REMOTE_PIECE;
        program->n_sending++;
    } else {
        bytes = item->data = malloc(item->frame.size);
    }
    if (!bytes)
        mpi_io_abort(1);
    mpi_io_receive(&head->io, (int)node->index + 1, bytes, item->frame.size, &item->request);
    item->receives = true;
    return true;
}

/* One at a time: MPI may take the whole time of a copy for each, and what has come is handed on in between, so that the
 * program takes it meanwhile. */
static bool receive_next(struct head *head, struct head_node *node)
{
    struct head_item *item;

    TAILQ_FOREACH(item, &node->items, link)
    {
        if (item->frame.kind == TSL_REMOTE_PAYLOAD && !item->receives)
            return receive(head, node, item);
    }
    return false;
}

static bool is_here(struct head *head, struct head_node *node, struct head_item *item)
{
    enum mpi_io_state state;

    if (item->frame.kind != TSL_REMOTE_PAYLOAD || item->here)
        return true;
    state = item->receives ? mpi_io_look(&head->io, &item->request) : MPI_IO_ON_WAY;
    if (state == MPI_IO_FAILED)
        head_lose(head, node, "its process has ended");
    item->here = state != MPI_IO_ON_WAY;
    return item->here;
}

/* The program whose memory it is in, gone or not. */
static struct head_program *find_any(struct head *head, uint32_t number)
{
    struct head_program *program;

    TAILQ_FOREACH(program, &head->programs, link)
    {
        if (program->number == number)
            return program;
    }
    return NULL;
}

static void hand_on(struct head *head, struct head_node *node, struct head_item *item)
{
    struct head_program *program = find_any(head, item->frame.peer);
    struct tsl_remote_frame frame = {.kind = item->frame.kind, .peer = node->index, .size = item->frame.size};

    if (program && item->slot >= 0) {
        program->n_sending--;
        frame.slot = (uint32_t)item->slot;
        program->slot_taken[item->slot] = !node->lost;
    }
    /* Programs have been told of a loss. */
    if (program && !program->gone && !node->lost && (item->slot >= 0 || frame.kind == TSL_REMOTE_MESSAGES))
        head_put(program, &frame, item->data ? item->data + TSL_REMOTE_FRAME_SIZE : NULL);
    TAILQ_REMOVE(&node->items, item, link);
    free(item->data);
    free(item);
}

bool head_hand_on(struct head *head)
{
    bool did = false;

    for (unsigned i = 0; i < head->n_nodes; i++) {
        struct head_node *node = &head->nodes[i];
        struct head_item *item;

        did = receive_next(head, node) || did;
        while ((item = TAILQ_FIRST(&node->items)) && is_here(head, node, item)) {
            hand_on(head, node, item);
            did = true;
        }
    }
    return did;
}
