/* Where threads and memory of the host are kept: next to the device that they serve, or on the node that is asked for.
 */
#include "fake_nodes.h"

#include <pthread.h>
#include <sys/syscall.h>

static struct fake_nodes nodes;

static void homes(void **state)
{
    (void)state;
    assert_int_equal(tsl_numa_home(-1, 1, 2), 1);
    assert_int_equal(tsl_numa_home(-1, -1, 2), -1);
    /* One node is everywhere. */
    assert_int_equal(tsl_numa_home(-1, 0, 1), -1);
    /* TESELA_CONFIG's node is for all. */
    assert_int_equal(tsl_numa_home(0, 1, 2), 0);
    assert_int_equal(tsl_numa_home(3, -1, 1), 3);
}

static void devices_have_nodes(void **state)
{
    cpu_set_t set;

    (void)state;
    assert_int_equal(tsl_numa_node_of_pci(0, 0xf0, 0, 0), 1);
    assert_int_equal(tsl_numa_node_of_pci(0, 0xf1, 0, 0), 0);
    assert_int_equal(tsl_numa_node_of_pci(0, 0xf2, 0, 0), -1);
    assert_true(tsl_numa_processors(1, &set));
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET(nodes.processors[1], &set));
    assert_int_equal(tsl_numa_node_of(&set), nodes.processors[0] == nodes.processors[1] ? 0 : 1);
    assert_false(tsl_numa_processors(2, &set));
}

static void processors_have_bits(void **state)
{
    cpu_set_t set;

    (void)state;
    CPU_ZERO(&set);
    assert_true(tsl_numa_bits_of(&set, 4) == 0);
    CPU_SET(0, &set);
    CPU_SET(3, &set);
    assert_true(tsl_numa_bits_of(&set, 4) == 9);
    assert_true(tsl_numa_bits_of(&set, 256) == 1);
    CPU_SET(255, &set);
    assert_true(tsl_numa_bits_of(&set, 256) == ((uint64_t)1 << 63 | 1));
    /* More than the system said that it has: some bit. */
    assert_true(tsl_numa_bits_of(&set, 4) != 0);
}

static void *tell_place(void *stays)
{
    *(bool *)stays = stays_on(0, nodes.processors[1]);
    return NULL;
}

static bool runs_on_node_1(int of_device)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool stays;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    tsl_numa_thread(&attributes, of_device);
    assert_int_equal(pthread_create(&thread, &attributes, tell_place, &stays), 0);
    pthread_attr_destroy(&attributes);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return stays;
}

static void threads_are_next_to_devices(void **state)
{
    bool apart = nodes.processors[0] != nodes.processors[1];

    (void)state;
    assert_true(runs_on_node_1(1));
    if (apart) {
        assert_false(runs_on_node_1(0));
        assert_false(runs_on_node_1(-1));
    }
    tsl_numa_set(1);
    assert_true(runs_on_node_1(0));
    assert_true(runs_on_node_1(-1));
    tsl_numa_set(-1);
}

/* Nothing is taken that the program left out for itself. */
static void threads_stay_where_the_process_may_run(void **state)
{
    cpu_set_t before, one;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(nodes.processors[0], &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    if (nodes.processors[0] != nodes.processors[1])
        assert_false(runs_on_node_1(1));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* The policy of this thread, -1 where the system doesn't tell. */
static int policy(unsigned long *first_nodes)
{
    unsigned long mask[16] = {0};
    int mode;

    if (syscall(SYS_get_mempolicy, &mode, mask, 8 * sizeof mask, NULL, 0))
        return -1;
    *first_nodes = mask[0];
    return mode;
}

/* Node 0 is there on every system; of the fake one the system itself knows nothing. */
static void memory_is_next_to_devices(void **state)
{
    const int preferred = 1;
    struct tsl_numa_policy before, inner;
    unsigned long mask = 0;

    (void)state;
    if (policy(&mask) != 0) /* refused, or chosen by whoever runs the tests */
        return;
    tsl_numa_prefer(0, &before);
    assert_true(before.changed);
    assert_int_equal(policy(&mask), preferred);
    assert_int_equal(mask, 1);
    tsl_numa_prefer(0, &inner); /* a policy that is there stays */
    assert_false(inner.changed);
    tsl_numa_restore(&inner);
    assert_int_equal(policy(&mask), preferred);
    tsl_numa_restore(&before);
    assert_int_equal(policy(&mask), 0);
    tsl_numa_prefer(-1, &before);
    assert_false(before.changed);
    tsl_numa_restore(&before);
    assert_int_equal(policy(&mask), 0);
}

static int set_up(void **state)
{
    (void)state;
    make_fake_nodes(&nodes);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_fake_nodes(&nodes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(homes),
        cmocka_unit_test(devices_have_nodes),
        cmocka_unit_test(processors_have_bits),
        cmocka_unit_test(threads_are_next_to_devices),
        cmocka_unit_test(threads_stay_where_the_process_may_run),
        cmocka_unit_test(memory_is_next_to_devices),
    };

    return cmocka_run_group_tests_name("numa", tests, set_up, tear_down);
}
