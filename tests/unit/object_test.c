/* Handles: what a freed one looks like, when an object dies, and that its memory never becomes something else. */
#include "handle/object.h"

#include "dispatch.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

struct thing {
    struct tsl_object object;
    char body[100];
};

static unsigned n_destroyed;

static void count_destroy(struct tsl_object *object)
{
    (void)object;
    n_destroyed++;
}

static void no_destroy(struct tsl_object *object)
{
    (void)object;
}

/* Kinds that no other test of this program uses in the same sense; sizes are the same for all. */
static struct thing *make(enum tsl_kind kind)
{
    struct thing *thing = tsl_object_create(kind, sizeof *thing, NULL, count_destroy);

    assert_non_null(thing);
    return thing;
}

static int setup(void **state)
{
    (void)state;
    n_destroyed = 0;
    return 0;
}

static void a_new_object_is_zeroed_and_counted_once(void **state)
{
    static const char zeroes[sizeof(((struct thing *)0)->body)];
    size_t live = tsl_object_live(TSL_BUFFER);
    (void)state;

    /* Twice as many as the first memory holds, and each dirtied, so that used memory comes back. */
    for (int i = 0; i < 256; i++) {
        struct thing *thing = make(TSL_BUFFER);

        assert_ptr_equal(thing->object.dispatch, &tsl_dispatch_table);
        assert_memory_equal(thing->body, zeroes, sizeof zeroes);
        assert_int_equal(tsl_object_users(&thing->object), 1);
        assert_int_equal(tsl_object_live(TSL_BUFFER), live + 1);
        memset(thing->body, 0x5a, sizeof thing->body);
        assert_true(tsl_object_release(&thing->object));
    }
    assert_int_equal(n_destroyed, 256);
    assert_int_equal(tsl_object_live(TSL_BUFFER), live);
}

static void a_freed_handle_is_recognised(void **state)
{
    struct thing *thing = make(TSL_BUFFER);
    (void)state;

    assert_true(tsl_object_is(thing, TSL_BUFFER));
    assert_false(tsl_object_is(thing, TSL_EVENT));
    tsl_object_retain(&thing->object);
    assert_true(tsl_object_release(&thing->object));
    assert_true(tsl_object_is(thing, TSL_BUFFER));
    assert_true(tsl_object_release(&thing->object));
    assert_int_equal(n_destroyed, 1);
    assert_false(tsl_object_is(thing, TSL_BUFFER));
    /* The loader reads this word before we get a say. */
    assert_ptr_equal(thing->object.dispatch, &tsl_dispatch_table);
    assert_false(tsl_object_release(&thing->object));
    assert_int_equal(n_destroyed, 1);
}

static void a_freed_handle_stays_dead_for_a_while(void **state)
{
    struct thing *freed = make(TSL_BUFFER);
    struct thing *others[300];
    (void)state;

    for (size_t i = 0; i < 300; i++)
        others[i] = make(TSL_BUFFER);
    tsl_object_release(&freed->object);
    for (int i = 0; i < 31; i++) {
        struct thing *next = make(TSL_BUFFER);

        assert_ptr_not_equal(next, freed);
        tsl_object_release(&next->object);
    }
    assert_false(tsl_object_is(freed, TSL_BUFFER));
    for (size_t i = 0; i < 300; i++)
        tsl_object_release(&others[i]->object);
}

static void memory_is_used_again(void **state)
{
    struct thing *freed = make(TSL_SAMPLER);
    bool again = false;
    (void)state;

    tsl_object_release(&freed->object);
    for (int i = 0; i < 1000 && !again; i++) {
        struct thing *next = make(TSL_SAMPLER);

        again = next == freed;
        tsl_object_release(&next->object);
    }
    assert_true(again);
}

static void a_child_keeps_the_handle_valid(void **state)
{
    struct thing *parent = make(TSL_CONTEXT);
    (void)state;

    tsl_object_show(&parent->object);
    assert_true(tsl_object_release(&parent->object));
    assert_true(tsl_object_is(parent, TSL_CONTEXT));
    assert_int_equal(tsl_object_users(&parent->object), 0);
    /* The application has nothing left to give back. */
    assert_false(tsl_object_release(&parent->object));
    assert_int_equal(n_destroyed, 0);
    tsl_object_hide(&parent->object);
    assert_false(tsl_object_is(parent, TSL_CONTEXT));
    assert_int_equal(n_destroyed, 1);
}

static void an_object_found_through_its_child_can_be_retained(void **state)
{
    struct thing *parent = make(TSL_CONTEXT);
    (void)state;

    tsl_object_show(&parent->object);
    tsl_object_release(&parent->object);
    tsl_object_retain(&parent->object);
    tsl_object_hide(&parent->object);
    assert_true(tsl_object_is(parent, TSL_CONTEXT));
    assert_int_equal(n_destroyed, 0);
    assert_true(tsl_object_release(&parent->object));
    assert_int_equal(n_destroyed, 1);
}

static void a_holder_of_ours_keeps_the_object_but_not_the_handle(void **state)
{
    struct thing *thing = make(TSL_BUFFER);
    size_t live = tsl_object_live(TSL_BUFFER);
    (void)state;

    tsl_object_ref(&thing->object);
    tsl_object_release(&thing->object);
    assert_false(tsl_object_is(thing, TSL_BUFFER));
    assert_int_equal(n_destroyed, 0);
    assert_int_equal(tsl_object_live(TSL_BUFFER), live);
    tsl_object_unref(&thing->object);
    assert_int_equal(n_destroyed, 1);
    tsl_object_unref(NULL);
    tsl_object_hide(NULL);
}

static void a_child_inherits_the_dispatch_words(void **state)
{
    struct tsl_dispatch layer = tsl_dispatch_table;
    struct tsl_object parent = {.dispatch = &layer, .dispatch_data = &n_destroyed};
    struct thing *child = tsl_object_create(TSL_BUFFER, sizeof *child, &parent, no_destroy);
    (void)state;

    assert_non_null(child);
    assert_ptr_equal(child->object.dispatch, &layer);
    assert_ptr_equal(child->object.dispatch_data, &n_destroyed);
    tsl_object_release(&child->object);
}

static void foreign_handles_are_not_ours(void **state)
{
    /* Another vendor's object of one word: nothing behind the first word may be read. */
    static const struct tsl_dispatch other_table;
    const struct tsl_dispatch *other = &other_table;
    (void)state;

    assert_false(tsl_object_is(NULL, TSL_BUFFER));
    assert_false(tsl_object_is(&other, TSL_BUFFER));
}

static void any_bits_may_be_asked_whether_they_are_a_handle(void **state)
{
    struct thing *thing = make(TSL_BUFFER);
    struct thing *event = make(TSL_EVENT);
    (void)state;

    assert_true(tsl_object_is_address(thing, TSL_BUFFER));
    assert_false(tsl_object_is_address(thing, TSL_EVENT));
    assert_false(tsl_object_is_address(event, TSL_BUFFER));
    assert_false(tsl_object_is_address(NULL, TSL_BUFFER));
    assert_false(tsl_object_is_address((void *)1, TSL_BUFFER));
    assert_false(tsl_object_is_address((void *)UINTPTR_MAX, TSL_BUFFER));
    for (size_t i = 1; i < 8 * sizeof *thing; i++)
        if (tsl_object_is_address((char *)thing + i, TSL_BUFFER))
            assert_true(tsl_object_is((char *)thing + i, TSL_BUFFER));
    assert_false(tsl_object_is_address((char *)thing + 8, TSL_BUFFER));
    tsl_object_release(&thing->object);
    assert_false(tsl_object_is_address(thing, TSL_BUFFER));
    tsl_object_release(&event->object);
}

/* ---- Threads: run under ThreadSanitizer, too ---- */

#define N_THREADS 4
#define N_ROUNDS  3000

static struct thing *_Atomic lately[N_THREADS];

/* Makes and frees, and asks about handles that another thread may be freeing, or making again, at that moment. */
static void *make_and_ask(void *arg)
{
    unsigned self = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < N_ROUNDS; i++) {
        struct thing *mine = tsl_object_create(TSL_QUEUE, sizeof *mine, NULL, no_destroy);
        struct thing *other = atomic_load(&lately[(self + 1) % N_THREADS]);

        if (!mine || !tsl_object_is(mine, TSL_QUEUE))
            return "a new handle is not valid";
        memset(mine->body, (int)self, sizeof mine->body);
        atomic_store(&lately[self], mine);
        if (tsl_object_is(other, TSL_EVENT) || tsl_object_is_address(other, TSL_EVENT))
            return "a handle changed its kind";
        tsl_object_is(other, TSL_QUEUE);
        for (size_t b = 0; b < sizeof mine->body; b++)
            if (mine->body[b] != (char)self)
                return "two threads got one object";
        tsl_object_release(&mine->object);
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    size_t live = tsl_object_live(TSL_QUEUE);
    pthread_t threads[N_THREADS];
    (void)state;

    for (uintptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_ask, (void *)i), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *complaint;

        pthread_join(threads[i], &complaint);
        if (complaint)
            fail_msg("%s", (char *)complaint);
    }
    assert_int_equal(tsl_object_live(TSL_QUEUE), live);
}

static void *retain_and_release(void *arg)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        tsl_object_retain(arg);
        tsl_object_ref(arg);
        tsl_object_release(arg);
        tsl_object_unref(arg);
    }
    return NULL;
}

static void counts_of_threads_add_up(void **state)
{
    struct thing *thing = make(TSL_KERNEL);
    pthread_t threads[N_THREADS];
    (void)state;

    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, thing), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(tsl_object_users(&thing->object), 1);
    assert_int_equal(n_destroyed, 0);
    tsl_object_release(&thing->object);
    assert_int_equal(n_destroyed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_object_is_zeroed_and_counted_once, setup),
        cmocka_unit_test_setup(a_freed_handle_is_recognised, setup),
        cmocka_unit_test_setup(a_freed_handle_stays_dead_for_a_while, setup),
        cmocka_unit_test_setup(memory_is_used_again, setup),
        cmocka_unit_test_setup(a_child_keeps_the_handle_valid, setup),
        cmocka_unit_test_setup(an_object_found_through_its_child_can_be_retained, setup),
        cmocka_unit_test_setup(a_holder_of_ours_keeps_the_object_but_not_the_handle, setup),
        cmocka_unit_test_setup(a_child_inherits_the_dispatch_words, setup),
        cmocka_unit_test_setup(foreign_handles_are_not_ours, setup),
        cmocka_unit_test_setup(any_bits_may_be_asked_whether_they_are_a_handle, setup),
        cmocka_unit_test_setup(threads_do_not_disturb_each_other, setup),
        cmocka_unit_test_setup(counts_of_threads_add_up, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
