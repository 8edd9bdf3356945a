/* Programs that are connected: what they say goes to the nodes unread. */
#include "base/clock.h"
#include "node/head.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEAT_NS     1000000000u
#define MEMORY_SIZE (2 * TSL_REMOTE_N_SLOTS * TSL_REMOTE_PIECE)

struct head_program *head_find(struct head *head, uint32_t number)
{
    struct head_program *program;

    TAILQ_FOREACH(program, &head->programs, link)
    {
        if (program->number == number)
            return program->gone ? NULL : program;
    }
    return NULL;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

void head_write(struct head_program *program)
{
    struct tsl_writer *out = &program->out;

    while (out->size > program->out_at && !program->gone) {
        ssize_t n = send(program->socket, out->data + program->out_at, out->size - program->out_at,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            program->gone = true;
            return;
        }
        program->out_at += (size_t)n;
    }
    tsl_remote_reuse(out);
    program->out_at = 0;
}

void head_put(struct head_program *program, const struct tsl_remote_frame *frame, const void *body)
{
    uint8_t bytes[TSL_REMOTE_FRAME_SIZE];

    tsl_remote_put_frame(bytes, frame);
    tsl_write_raw(&program->out, bytes, sizeof(bytes));
    if (body && frame->kind != TSL_REMOTE_PAYLOAD)
        tsl_write_raw(&program->out, body, frame->size);
    if (program->out.failed)
        program->gone = true;
}

/* One that takes nothing needs no more of them. */
void head_beat(struct head *head)
{
    static uint64_t beat_ns;
    uint64_t now = tsl_clock_ns();
    struct head_program *program;

    if (now - beat_ns < BEAT_NS)
        return;
    beat_ns = now;
    TAILQ_FOREACH(program, &head->programs, link)
    {
        if (program->greeted && !program->gone && program->out.size == program->out_at)
            head_put(program, &(struct tsl_remote_frame){.kind = TSL_REMOTE_BEAT}, NULL);
    }
}

/* ---- Greeting ---------------------------------------------------------------------------------------------------- */

/* The answer has the descriptor of the shared memory with it, so it is sent by itself, on a socket with room. */
static bool send_hello(const struct head *head, const struct head_program *program)
{
    struct tsl_remote_hello hello = {.version = TSL_REMOTE_VERSION,
                                     .name = (char *)"tesela-head " TESELA_VERSION,
                                     .host = (char *)"",
                                     .host_id = tsl_remote_host_id(),
                                     .n_nodes = head->n_nodes};
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_writer writer = {.size = 0};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    bool sent;

    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_hello(&writer, &hello);
    if (writer.failed)
        return false;
    tsl_remote_put_frame(
        writer.data,
        &(struct tsl_remote_frame){.kind = TSL_REMOTE_HELLO, .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)});
    part = (struct iovec){writer.data, writer.size};
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(first), &program->memory, sizeof(int));
    sent = sendmsg(program->socket, &message, MSG_NOSIGNAL) == (ssize_t)writer.size;
    free(writer.data);
    return sent;
}

static bool greet(struct head *head, struct head_program *program, const void *body, size_t size)
{
    struct tsl_remote_hello hello;
    bool same;

    if (program->greeted || !tsl_remote_get_hello(body, size, &hello))
        return false;
    same = hello.version == TSL_REMOTE_VERSION;
    tsl_remote_hello_finish(&hello);
    program->memory = memfd_create("tesela-nodes", MFD_CLOEXEC);
    if (program->memory < 0 || ftruncate(program->memory, MEMORY_SIZE))
        return false;
    program->slots = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, program->memory, 0);
    if (program->slots == MAP_FAILED) {
        program->slots = NULL;
        return false;
    }
    program->greeted = send_hello(head, program) && same;
    for (unsigned i = 0; program->greeted && i < head->n_nodes; i++)
        if (head->nodes[i].lost)
            head_put(program, &(struct tsl_remote_frame){.kind = TSL_REMOTE_LOST, .peer = i}, NULL);
    return program->greeted;
}

void head_accept(struct head *head)
{
    int s = accept4(head->listener, NULL, NULL, SOCK_CLOEXEC);
    struct head_program *program = s >= 0 ? calloc(1, sizeof(*program)) : NULL;

    if (!program) {
        if (s >= 0)
            close(s);
        return;
    }
    program->socket = s;
    program->memory = -1;
    program->number = ++head->last_number;
    TAILQ_INSERT_TAIL(&head->programs, program, link);
}

/* ---- Receiving --------------------------------------------------------------------------------------------------- */

static void slot_is_free(void *arg, unsigned slot)
{
    struct head_program *program = arg;

    program->n_sending--;
    if (!program->gone)
        head_put(program, &(struct tsl_remote_frame){.kind = TSL_REMOTE_SLOT, .slot = slot}, NULL);
}

static bool send_messages(struct head *head, struct head_program *program, const struct tsl_remote_frame *frame,
                          const uint8_t *body)
{
    uint8_t *data = malloc(TSL_REMOTE_FRAME_SIZE + frame->size);
    struct tsl_remote_frame as = {.kind = TSL_REMOTE_MESSAGES, .peer = program->number, .size = frame->size};

    if (!data)
        return false;
    memcpy(data + TSL_REMOTE_FRAME_SIZE, body, frame->size);
    mpi_io_send(&head->io, (int)frame->peer + 1, &as, data, NULL);
    return true;
}

static void send_payload(struct head *head, struct head_program *program, const struct tsl_remote_frame *frame)
{
    struct mpi_sending then = {.done = slot_is_free, .arg = program, .value = frame->slot};

    program->n_sending++;
    mpi_io_send_payload(&head->io, (int)frame->peer + 1, program->number,
                        program->slots + frame->slot * TSL_REMOTE_PIECE, frame->size, &then);
}

static bool take(struct head *head, struct head_program *program, const struct tsl_remote_frame *frame,
                 const uint8_t *body)
{
    if (!program->greeted)
        return frame->kind == TSL_REMOTE_HELLO && greet(head, program, body, frame->size);
    if (frame->kind == TSL_REMOTE_SLOT) {
        program->slot_taken[frame->slot] = false;
        return true;
    }
    if (frame->peer >= head->n_nodes)
        return false;
    if (frame->kind == TSL_REMOTE_MESSAGES)
        return head->nodes[frame->peer].lost || send_messages(head, program, frame, body);
    if (frame->kind != TSL_REMOTE_PAYLOAD)
        return false;
    if (head->nodes[frame->peer].lost)
        head_put(program, &(struct tsl_remote_frame){.kind = TSL_REMOTE_SLOT, .slot = frame->slot}, NULL);
    else
        send_payload(head, program, frame);
    return true;
}

/* Takes the whole frames that are there. False: they make no sense. */
static bool take_frames(struct head *head, struct head_program *program)
{
    size_t at = 0;

    while (program->in_size - at >= TSL_REMOTE_FRAME_SIZE) {
        struct tsl_remote_frame frame;
        size_t whole;

        if (!tsl_remote_get_frame(program->in + at, &frame))
            return false;
        whole = TSL_REMOTE_FRAME_SIZE + (frame.kind == TSL_REMOTE_PAYLOAD ? 0 : frame.size);
        if (program->in_size - at < whole)
            break;
        if (!take(head, program, &frame, program->in + at + TSL_REMOTE_FRAME_SIZE))
            return false;
        at += whole;
    }
    memmove(program->in, program->in + at, program->in_size - at);
    program->in_size -= at;
    tsl_remote_shrink(&program->in, &program->in_capacity, program->in_size);
    return true;
}

static bool make_room(struct head_program *program)
{
    size_t more = program->in_capacity ? 2 * program->in_capacity : 1 << 18;
    uint8_t *data;

    if (program->in_size < program->in_capacity)
        return true;
    data = realloc(program->in, more);
    if (!data)
        return false;
    program->in = data;
    program->in_capacity = more;
    return true;
}

bool head_read(struct head *head, struct head_program *program)
{
    ssize_t n;

    if (program->gone)
        return false;
    if (!make_room(program)) {
        program->gone = true;
        return true;
    }
    n = recv(program->socket, program->in + program->in_size, program->in_capacity - program->in_size, MSG_DONTWAIT);
    if (n < 0)
        return false;
    program->in_size += (size_t)n;
    if (n == 0 || !take_frames(head, program))
        program->gone = true;
    return true;
}

void head_leave(struct head *head, struct head_program *program)
{
    for (unsigned i = 0; i < head->n_nodes; i++)
        if (!head->nodes[i].lost)
            mpi_io_say(&head->io, (int)i + 1, TSL_REMOTE_BYE, program->number);
    TAILQ_REMOVE(&head->programs, program, link);
    close(program->socket);
    if (program->memory >= 0)
        close(program->memory);
    if (program->slots)
        munmap(program->slots, MEMORY_SIZE);
    free(program->in);
    free(program->out.data);
    free(program);
}
