/* A head that greets, lives, and reads nothing: who has something to say to it waits for so long as the setting says,
 * and the connection is over. */
/* timeout: 60 */
#include "base/clock.h"

#include "played_head.h"

#define SECOND 1000000000u

static void *live_and_read_nothing(void *listener)
{
    int s = greet(*(int *)listener);

    while (send_beat(s))
        usleep(500000);
    close(s);
    return NULL;
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
    struct tsl_remote_request word = {.kind = TSL_REMOTE_PING}, question = word;
    struct remote_connection *c;
    uint64_t begin;
    pthread_t head;
    int listener;

    (void)state;
    alarm(50);
    c = connect_to_head(&listener, live_and_read_nothing, &head);
    begin = tsl_clock_ns();
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
    close(listener);
    pthread_join(head, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_speaks_to_it_goes_on)};

    return cmocka_run_group_tests_name("silent_head", tests, NULL, NULL);
}
