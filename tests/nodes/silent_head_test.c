/* A head that greets and then reads nothing any more: who has something to say to it waits for so long as the setting
 * says, and the connection is over. */
/* timeout: 60 */
#include "base/clock.h"
#include "remote/internal.h"

#include "hello.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEMORY_SIZE (2 * TSL_REMOTE_N_SLOTS * TSL_REMOTE_PIECE)
#define SECOND      1000000000u

static char path[64];
static int listener, head_socket = -1;

static void *greet(void *arg)
{
    int memory = memfd_create("silent", MFD_CLOEXEC);

    (void)arg;
    assert_int_equal(ftruncate(memory, MEMORY_SIZE), 0);
    head_socket = accept(listener, NULL, NULL);
    send_hello(head_socket, memory, 1);
    close(memory);
    return NULL;
}

static struct remote_connection *connect_to_head(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct remote_connection *c;
    pthread_t thread;

    snprintf(path, sizeof(path), "/tmp/tesela-silent-%d", (int)getpid());
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    setenv("TESELA_NODES", path, 1);
    setenv("TESELA_NODES_SILENCE", "2", 1);
    assert_int_equal(pthread_create(&thread, NULL, greet, NULL), 0);
    c = remote_connect();
    assert_int_equal(pthread_join(thread, NULL), 0);
    unlink(path);
    return c;
}

static bool is_broken(struct remote_connection *c)
{
    bool broken;

    remote_lock(c);
    broken = c->broken;
    remote_unlock(c);
    return broken;
}

static void who_speaks_to_it_goes_on(void **state)
{
    struct remote_connection *c = connect_to_head();
    struct tsl_remote_request word = {.kind = TSL_REMOTE_PING}, question = word;
    uint64_t begin = tsl_clock_ns();

    (void)state;
    alarm(50);
    assert_non_null(c);
    /* More than sockets hold. */
    for (unsigned i = 0; i < 1u << 20 && !is_broken(c); i++) {
        remote_lock(c);
        if (!c->nodes[0].lost)
            remote_say_locked(&c->nodes[0], &word);
        remote_unlock(c);
    }
    for (unsigned i = 0; i < 5000 && !is_broken(c); i++)
        usleep(1000);
    assert_true(is_broken(c));
    assert_in_range(tsl_clock_ns() - begin, SECOND, 40ull * SECOND);
    assert_int_equal(remote_ask(&c->nodes[0], &question, NULL, NULL), CL_DEVICE_NOT_AVAILABLE);
    close(head_socket);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_speaks_to_it_goes_on)};

    return cmocka_run_group_tests_name("silent_head", tests, NULL, NULL);
}
