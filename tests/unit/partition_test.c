/*
 * Sub-devices by NUMA node: members of a node together, in order of nodes; their queues stay on them, and each can be
 * cut by member in its turn. Five fake members: on nodes 1, 0, none, 1, 0.
 */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "base/numa.h"
#include "core_end.h"
#include "device/partition.h"
#include "driver/fake.h"
#include "graph/graph.h"
#include "members/members.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"
#include "test.h"

#include <CL/cl_tesela.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 4096, N = 5 };

static const cl_device_partition_property by_node[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                       CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0};
static const cl_device_partition_property next[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                    CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, 0};
static const cl_device_partition_property by_cache[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                        CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, 0};
static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};

static struct tsl_device *nodes[2];

static void touch(const struct tsl_fake_run *run)
{
    ((unsigned char *)run->args[0].ptr)[0]++;
}

static void start(unsigned last_node)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    struct tsl_fake_setup setup = {.n_members = N, .threads = true};
    unsigned const places[N] = {last_node, 0, 9, last_node, 0};

    for (unsigned i = 0; i < N; i++) {
        setup.members[i].has_numa = places[i] != 9;
        setup.members[i].numa_node = places[i];
    }
    tsl_fake_kernel("touch", touch, 1, kinds, access);
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
}

static int begin(void **state)
{
    cl_uint n = 0;

    (void)state;
    start(1);
    assert_int_equal(tsl_partition(tsl_device_root(), by_node, 2, nodes, &n), CL_SUCCESS);
    assert_int_equal(n, 2);
    return 0;
}

static void stop(void)
{
    end_core();
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&nodes[0]->object);
    tsl_object_release(&nodes[1]->object);
    stop();
    return tsl_object_live(TSL_DEVICE) ? -1 : 0;
}

static void must_be(struct tsl_device *device, unsigned n, const unsigned *members)
{
    assert_int_equal(device->n_members, n);
    for (unsigned i = 0; i < n; i++) {
        char id[16];

        snprintf(id, sizeof id, "fake:%u", members[i]);
        assert_string_equal(device->members[i]->path->id, id);
    }
}

static void answers(struct tsl_device *device, cl_device_info param, size_t size, const void *expected)
{
    char value[256];
    size_t n = 0;

    assert_int_equal(tsl_device_info(device, param, sizeof value, value, &n), CL_SUCCESS);
    assert_int_equal(n, size);
    assert_memory_equal(value, expected, size);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void members_of_a_node_are_one_device(void **state)
{
    struct tsl_device *more[2];
    cl_uint n;

    (void)state;
    must_be(nodes[0], 2, (const unsigned[]){1, 4});
    must_be(nodes[1], 2, (const unsigned[]){0, 3});
    assert_int_equal(tsl_partition(tsl_device_root(), next, 2, more, &n), CL_SUCCESS);
    must_be(more[0], 2, (const unsigned[]){1, 4});
    answers(more[0], CL_DEVICE_PARTITION_TYPE, sizeof by_node, by_node);
    tsl_object_release(&more[0]->object);
    tsl_object_release(&more[1]->object);
    assert_int_equal(tsl_partition(tsl_device_root(), by_node, 1, more, &n), CL_INVALID_VALUE);
    assert_int_equal(tsl_partition(tsl_device_root(), by_cache, 2, more, &n), CL_INVALID_VALUE);
}

static void a_node_is_cut_by_member(void **state)
{
    struct tsl_device *parts[2];
    cl_uint n;

    (void)state;
    assert_int_equal(tsl_partition(nodes[1], by_node, 2, parts, &n), CL_INVALID_VALUE);
    assert_int_equal(tsl_partition(nodes[1], by_member, 2, parts, &n), CL_SUCCESS);
    assert_int_equal(n, 2);
    must_be(parts[0], 1, (const unsigned[]){0});
    must_be(parts[1], 1, (const unsigned[]){3});
    answers(parts[1], CL_DEVICE_PARENT_DEVICE, sizeof(void *), &nodes[1]);
    answers(parts[1], CL_DEVICE_PARTITION_TYPE, sizeof by_member, by_member);
    tsl_object_release(&parts[0]->object);
    tsl_object_release(&parts[1]->object);
}

static void queries_tell_of_nodes(void **state)
{
    static const cl_device_partition_property both[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA,
                                                        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN};
    static const cl_device_affinity_domain domains = CL_DEVICE_AFFINITY_DOMAIN_NUMA |
                                                     CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
                                           none = 0;
    static const char name[] = "Tesela virtual device (NUMA node 1)";
    struct tsl_device *root = tsl_device_root();

    (void)state;
    answers(root, CL_DEVICE_PARTITION_PROPERTIES, sizeof both, both);
    answers(root, CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof domains, &domains);
    answers(root, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(cl_uint), &(cl_uint){N});
    answers(nodes[1], CL_DEVICE_PARTITION_PROPERTIES, sizeof both[0], both);
    answers(nodes[1], CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof none, &none);
    answers(nodes[1], CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(cl_uint), &(cl_uint){2});
    answers(nodes[1], CL_DEVICE_PARTITION_TYPE, sizeof by_node, by_node);
    answers(nodes[1], CL_DEVICE_NAME, sizeof name, name);
    answers(nodes[1], CL_DEVICE_REFERENCE_COUNT, sizeof(cl_uint), &(cl_uint){1});
    answers(nodes[1], CL_DEVICE_PARENT_DEVICE, sizeof(void *), &root);
}

/* A context of a node's device and of another member: the queue's launches take turns on the node's members alone. */
static void work_stays_on_the_node(void **state)
{
    static const char *const text = "kernel touch a\n";
    struct tsl_device *parts[N], *devices[2];
    struct tsl_context *context;
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    struct tsl_queue *queue;
    struct tsl_buffer *buffer;
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue enqueue = {.type = CL_COMMAND_NDRANGE_KERNEL};
    unsigned char zeros[SIZE] = {0};
    cl_uint n;

    (void)state;
    assert_int_equal(tsl_partition(tsl_device_root(), by_member, N, parts, &n), CL_SUCCESS);
    devices[0] = parts[2];
    devices[1] = nodes[1];
    assert_int_equal(tsl_context_create(NULL, 0, devices, 2, &context), CL_SUCCESS);
    assert_int_equal(context->n_members, 3);
    assert_int_equal(tsl_context_members_of(context, nodes[1]), 1u << 0 | 1u << 2);
    assert_int_equal(tsl_context_members_of(context, parts[2]), 1u << 1);
    assert_int_equal(tsl_queue_create(context, nodes[1], 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(context, 1, &text, NULL, &program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(tsl_buffer_create(context, CL_MEM_COPY_HOST_PTR, SIZE, zeros, NULL, &buffer), CL_SUCCESS);
    assert_int_equal(tsl_kernel_create(program, "touch", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    enqueue.queue = queue;
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(tsl_enqueue_kernel(&enqueue, kernel, &window, tsl_context_members_of(context, nodes[1])),
                         CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_int_equal(tsl_fake_counts(0).did[TSL_FAKE_DID_LAUNCH], 5);
    assert_int_equal(tsl_fake_counts(3).did[TSL_FAKE_DID_LAUNCH], 5);
    tsl_object_release(&kernel->object);
    tsl_object_release(&buffer->object);
    tsl_object_release(&program->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    for (unsigned i = 0; i < N; i++)
        tsl_object_release(&parts[i]->object);
}

static void one_node_is_not_cut(void **state)
{
    struct tsl_device *some[N];
    cl_device_affinity_domain none = 0;
    cl_uint n;

    (void)state;
    start(0);
    assert_int_equal(tsl_partition(tsl_device_root(), by_node, N, some, &n), CL_INVALID_VALUE);
    answers(tsl_device_root(), CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof none, &none);
    answers(tsl_device_root(), CL_DEVICE_PARTITION_PROPERTIES, sizeof by_member[0], by_member);
    stop();
}

/* This machine's own: each node's processors are on it, and all together are where there is but one. */
static void nodes_are_found(void **state)
{
    cpu_set_t all, node;
    unsigned n = 0;

    (void)state;
    CPU_ZERO(&all);
    for (unsigned i = 0; i < 64; i++) {
        if (!tsl_numa_processors(i, &node))
            continue;
        assert_int_equal(tsl_numa_node_of(&node), i);
        CPU_OR(&all, &all, &node);
        n++;
    }
    assert_int_equal(tsl_numa_node_of(&all) >= 0, n == 1);
    CPU_ZERO(&all);
    assert_int_equal(tsl_numa_node_of(&all), -1);
    assert_int_equal(tsl_numa_node_of_pci(0xfffe, 0xff, 0x1f, 7), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_of_a_node_are_one_device, begin, end),
        cmocka_unit_test_setup_teardown(a_node_is_cut_by_member, begin, end),
        cmocka_unit_test_setup_teardown(queries_tell_of_nodes, begin, end),
        cmocka_unit_test_setup_teardown(work_stays_on_the_node, begin, end),
        cmocka_unit_test(one_node_is_not_cut),
        cmocka_unit_test(nodes_are_found),
    };

    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
