/* A head that takes all that is said, lives for some seconds and then stands still: a program that only waits is told,
 * and not before. What a large request took is given back. */
/* timeout: 60 */
#include "base/clock.h"

#include "played_head.h"

#define SECOND    1000000000u
#define LIVES     4 /* seconds, twice the program's patience */
#define DATA_SIZE (16u << 20)

static atomic_bool is_over;

/* Reads what has come, and never answers. */
static void *live_and_stand_still(void *listener)
{
    static uint8_t bytes[1 << 20];
    uint64_t begin = tsl_clock_ns(), beat = 0;
    int s = greet(*(int *)listener);

    while (!is_over) {
        uint64_t now = tsl_clock_ns();

        if (now - begin < LIVES * (uint64_t)SECOND && now - beat > SECOND / 2 && send_beat(s))
            beat = now;
        if (recv(s, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
            usleep(1000);
    }
    close(s);
    return NULL;
}

static void who_waits_is_told(void **state)
{
    char *data = malloc(DATA_SIZE);
    struct tsl_remote_request question = {.kind = TSL_REMOTE_DATA, .data = data, .data_size = DATA_SIZE};
    struct remote_connection *c;
    uint64_t begin = tsl_clock_ns();
    pthread_t head;
    int listener;

    (void)state;
    alarm(50);
    memset(data, 1, DATA_SIZE);
    c = connect_to_head(&listener, live_and_stand_still, &head);
    remote_lock(c);
    remote_say_locked(&c->nodes[0], &question);
    assert_true(c->nodes[0].out.size == 0 && c->nodes[0].out.capacity <= TSL_REMOTE_KEPT);
    remote_unlock(c);
    question = (struct tsl_remote_request){.kind = TSL_REMOTE_PING};
    assert_int_equal(remote_ask(&c->nodes[0], &question, NULL, NULL), CL_DEVICE_NOT_AVAILABLE);
    assert_in_range(tsl_clock_ns() - begin, LIVES * (uint64_t)SECOND, 40ull * SECOND);
    is_over = true;
    pthread_join(head, NULL);
    close(listener);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_waits_is_told)};

    return cmocka_run_group_tests_name("still_head", tests, NULL, NULL);
}
