/* The first words of a head that a test plays. */
#ifndef TSL_TESTS_NODES_HELLO_H
#define TSL_TESTS_NODES_HELLO_H

#include "remote/protocol.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* With the memory that head and program share. */
static void send_hello(int to, int memory, uint32_t n_nodes)
{
    struct tsl_remote_hello hello = {
        .version = TSL_REMOTE_VERSION, .name = (char *)"x", .host = (char *)"", .n_nodes = n_nodes};
    uint8_t none[TSL_REMOTE_FRAME_SIZE] = {0};
    struct tsl_writer writer = {.size = 0};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);

    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_hello(&writer, &hello);
    tsl_remote_put_frame(
        writer.data,
        &(struct tsl_remote_frame){.kind = TSL_REMOTE_HELLO, .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)});
    part = (struct iovec){writer.data, writer.size};
    *first = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(first), &memory, sizeof(int));
    assert_true(sendmsg(to, &message, MSG_NOSIGNAL) > 0);
    free(writer.data);
}

#endif
