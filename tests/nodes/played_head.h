/* A head that a test plays alone: the program's connection to it, and its word each second. */
#ifndef TSL_TESTS_NODES_PLAYED_HEAD_H
#define TSL_TESTS_NODES_PLAYED_HEAD_H

#include "remote/internal.h"

#include "hello.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEMORY_SIZE (2 * TSL_REMOTE_N_SLOTS * TSL_REMOTE_PIECE)

/* The head's side of the connection, greeted, with one node. */
static inline int greet(int listener)
{
    int memory = memfd_create("played", MFD_CLOEXEC), s = accept(listener, NULL, NULL);

    assert_true(s >= 0);
    assert_int_equal(ftruncate(memory, MEMORY_SIZE), 0);
    send_hello(s, memory, 1);
    close(memory);
    return s;
}

/* False: nobody hears it any more. */
static inline bool send_beat(int to)
{
    uint8_t bytes[TSL_REMOTE_FRAME_SIZE];

    tsl_remote_put_frame(bytes, &(struct tsl_remote_frame){.kind = TSL_REMOTE_BEAT});
    return send(to, bytes, sizeof(bytes), MSG_NOSIGNAL) == (ssize_t)sizeof(bytes);
}

/* The program is patient for two seconds. play: the head's thread, which gets the listening socket. */
static inline struct remote_connection *connect_to_head(int *listener, void *(*play)(void *listener), pthread_t *thread)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct remote_connection *c;

    snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/tesela-played-%d", (int)getpid());
    *listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(*listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(*listener, 1), 0);
    setenv("TESELA_NODES", address.sun_path, 1);
    setenv("TESELA_NODES_SILENCE", "2", 1);
    assert_int_equal(pthread_create(thread, NULL, play, listener), 0);
    c = remote_connect();
    unlink(address.sun_path);
    assert_non_null(c);
    return c;
}

#endif
