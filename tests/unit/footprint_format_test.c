/* Footprints as bytes: they come back as they were, the same bytes for the same footprint; whatever is cut off, changed
 * or made up is refused or is a footprint that keeps every rule. */
#include "footprint_kernels.h"
#include "test.h"

#include <stdio.h>

static struct tsl_writer encoded(const struct tsl_footprint *footprint)
{
    struct tsl_writer writer = {0};

    tsl_footprint_encode(&writer, footprint);
    assert_false(writer.failed);
    return writer;
}

/* Has an access of each kind, loops, and a reason. */
static void everything(struct bed *bed)
{
    static char why[] = "the index comes from memory";
    struct tsl_access *access;

    kernel_product(bed);
    access = bed_access(bed, 0, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE);
    access->why = why;
    access = bed_access(bed, 1, TSL_ACCESS_ATOMIC, 4, bed_constant(bed, 64, 8));
    access->atomic = TSL_ATOMIC_XOR;
    access->flags = TSL_ACCESS_RESULT | TSL_ACCESS_VOLATILE;
    access = bed_access(bed, 2, TSL_ACCESS_WRITE, 8, bed_constant(bed, 64, -8));
    access->flags |= TSL_ACCESS_CONSTANT;
    access->value = UINT64_C(0x0123456789abcdef);
    access->narrow = 4;
    access->line = 7;
    access = bed_access(bed, 2, TSL_ACCESS_READ, 0, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
    access->flags = TSL_ACCESS_IMAGE;
    access->address[1] = bed_leaf(bed, TSL_NODE_GLOBAL_ID, 1);
    bed_loop(bed, TSL_FOOTPRINT_NONE, false);
    bed->footprint.flags = TSL_FOOTPRINT_ALL_FLAGS;
    bed->footprint.stride = 1 + bed_constant(bed, 64, 100);
    bed->footprint.elements = 5;
}

static void assert_equal(const struct tsl_footprint *a, const struct tsl_footprint *b)
{
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->n_arguments, b->n_arguments);
    assert_int_equal(a->stride, b->stride);
    assert_int_equal(a->elements, b->elements);
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_loops, b->n_loops);
    assert_int_equal(a->n_accesses, b->n_accesses);
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        assert_int_equal(a->nodes[i].op, b->nodes[i].op);
        assert_int_equal(a->nodes[i].bits, b->nodes[i].bits);
        assert_int_equal(a->nodes[i].a, b->nodes[i].a);
        assert_int_equal(a->nodes[i].b, b->nodes[i].b);
        assert_int_equal(a->nodes[i].c, b->nodes[i].c);
        assert_true(a->nodes[i].value == b->nodes[i].value);
    }
    for (uint32_t i = 0; i < a->n_loops; i++) {
        assert_int_equal(a->loops[i].count, b->loops[i].count);
        assert_int_equal(a->loops[i].exact, b->loops[i].exact);
    }
    for (uint32_t i = 0; i < a->n_accesses; i++) {
        struct tsl_access x = a->accesses[i], y = b->accesses[i];

        assert_true(!x.why == !y.why && (!x.why || strcmp(x.why, y.why) == 0));
        x.why = y.why = NULL;
        assert_memory_equal(&x, &y, sizeof(x));
    }
}

static void test_round_trip(void **state)
{
    static struct bed bed;
    struct tsl_writer first, second;
    struct tsl_footprint *back;

    (void)state;
    everything(&bed);
    assert_true(tsl_footprint_is_valid(&bed.footprint));
    first = encoded(&bed.footprint);
    back = tsl_footprint_decode(first.data, first.size);
    assert_non_null(back);
    assert_equal(&bed.footprint, back);
    second = encoded(back);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tsl_footprint_destroy(back);
    free(first.data);
    free(second.data);
}

static void test_empty(void **state)
{
    struct tsl_footprint nothing = {0}, *back;
    struct tsl_writer writer = encoded(&nothing);

    (void)state;
    back = tsl_footprint_decode(writer.data, writer.size);
    assert_non_null(back);
    assert_int_equal(back->n_accesses, 0);
    tsl_footprint_destroy(back);
    tsl_footprint_destroy(NULL);
    free(writer.data);
}

/* Every beginning of the bytes, and the bytes with one more. */
static void test_cut_off(void **state)
{
    static struct bed bed;
    struct tsl_writer writer;

    (void)state;
    everything(&bed);
    writer = encoded(&bed.footprint);
    for (size_t size = 0; size < writer.size; size++) {
        /* A copy of this size, so that who reads on is found by sanitizers. */
        uint8_t *copy = malloc(size + !size);

        assert_non_null(copy);
        memcpy(copy, writer.data, size);
        assert_null(tsl_footprint_decode(copy, size));
        free(copy);
    }
    tsl_write_u8(&writer, 0);
    assert_null(tsl_footprint_decode(writer.data, writer.size));
    free(writer.data);
}

/* Refused, or valid, and then it is evaluated and printed without harm. */
static bool try_bytes(const uint8_t *data, size_t size)
{
    static const uint64_t scalar = 77;
    struct tsl_footprint *footprint = tsl_footprint_decode(data, size);
    struct tsl_argument_value arguments[BED_ARGUMENTS] = {{0}};
    struct tsl_argument_touch touches[BED_ARGUMENTS];
    const struct tsl_window window = {2, {3, 0, 0}, {100, 7, 1}, {8, 2, 1}, {1, 1, 0}, {9, 3, 1}, false};
    struct tsl_writer writer;
    char text[64];

    if (!footprint)
        return false;
    assert_true(tsl_footprint_is_valid(footprint));
    writer = encoded(footprint);
    assert_int_equal(writer.size, size);
    assert_memory_equal(writer.data, data, size);
    free(writer.data);
    for (unsigned i = 0; i < BED_ARGUMENTS; i++)
        arguments[i] = (struct tsl_argument_value){.value = &scalar, .size = sizeof(scalar), .memory = 1000};
    if (footprint->n_arguments <= BED_ARGUMENTS)
        tsl_footprint_evaluate(footprint, &window, arguments, touches);
    if (footprint->n_nodes > 0)
        tsl_footprint_print_node(footprint, footprint->n_nodes - 1, text, sizeof(text));
    tsl_footprint_destroy(footprint);
    return true;
}

static void test_flipped_bits(void **state)
{
    static struct bed bed;
    struct tsl_writer writer;
    unsigned taken = 0;

    (void)state;
    everything(&bed);
    writer = encoded(&bed.footprint);
    for (size_t bit = 0; bit < 8 * writer.size; bit++) {
        writer.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        taken += try_bytes(writer.data, writer.size);
        writer.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(taken > 0);
    free(writer.data);
}

static void test_changed_bytes(void **state)
{
    static struct bed bed;
    struct tsl_writer writer;
    uint64_t chance = 88172645463325252u;

    (void)state;
    everything(&bed);
    writer = encoded(&bed.footprint);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t kept[4];
        size_t at[4];

        for (unsigned j = 0; j < 4; j++) {
            at[j] = bed_chance(&chance) % writer.size;
            kept[j] = writer.data[at[j]];
            if (j <= i % 4)
                writer.data[at[j]] = (uint8_t)(bed_chance(&chance) % 3 ? bed_chance(&chance) % 8 : bed_chance(&chance));
        }
        try_bytes(writer.data, writer.size);
        for (unsigned j = 4; j-- > 0;)
            writer.data[at[j]] = kept[j];
    }
    free(writer.data);
}

/* Numbers of things that aren't there are no reason to allocate. */
static void test_large_numbers(void **state)
{
    (void)state;
    for (unsigned at = 3; at < 6; at++) {
        struct tsl_writer writer = {0};

        tsl_write_u32(&writer, TSL_FOOTPRINT_FORMAT);
        for (unsigned i = 1; i < 6; i++)
            tsl_write_u32(&writer, i == at ? UINT32_MAX : 0);
        assert_null(tsl_footprint_decode(writer.data, writer.size));
        free(writer.data);
    }
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static struct bed bed;

/* A change to a good footprint makes it a bad one. */
#define ASSERT_BREAKS(change)                                 \
    do {                                                      \
        everything(&bed);                                     \
        assert_true(tsl_footprint_is_valid(&bed.footprint));  \
        change;                                               \
        assert_false(tsl_footprint_is_valid(&bed.footprint)); \
    } while (0)

static uint32_t find_node(uint8_t op)
{
    for (uint32_t i = 0; i < bed.footprint.n_nodes; i++)
        if (bed.nodes[i].op == op)
            return i;
    fail();
    return 0;
}

static void test_nodes_rules(void **state)
{
    (void)state;
    ASSERT_BREAKS(bed.nodes[0].op = TSL_N_NODE_OPS);
    ASSERT_BREAKS(bed.nodes[0].bits = 7);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_ADD)].a = find_node(TSL_NODE_ADD));
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_ADD)].b = BED_NODES);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_ADD)].bits = 16);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_ADD)].c = 1);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_ADD)].value = 1);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_SEXT)].bits = 32);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_TRUNC)].bits = 64);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_GROUP_ID)].a = 3);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_GROUP_ID)].bits = 32);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_SCALAR)].a = 4);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_SCALAR)].b = 1u << 20);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_COUNTER)].a = 2);
    ASSERT_BREAKS(bed.nodes[find_node(TSL_NODE_CONSTANT)].value = INT64_C(1) << 40);
}

static void test_access_rules(void **state)
{
    const uint32_t constant = 0;

    (void)state;
    (void)constant;
    ASSERT_BREAKS(bed.accesses[0].argument = 4);
    ASSERT_BREAKS(bed.accesses[0].kind = 3);
    ASSERT_BREAKS(bed.accesses[0].flags = 32);
    ASSERT_BREAKS(bed.accesses[0].flags = TSL_ACCESS_SURE);
    ASSERT_BREAKS(bed.accesses[0].flags = TSL_ACCESS_RESULT);
    ASSERT_BREAKS(bed.accesses[0].flags = TSL_ACCESS_CONSTANT);
    ASSERT_BREAKS(bed.accesses[0].atomic = TSL_ATOMIC_ADD);
    ASSERT_BREAKS(bed.accesses[0].width = 0);
    ASSERT_BREAKS(bed.accesses[0].narrow = 4);
    ASSERT_BREAKS(bed.accesses[0].value = 1);
    ASSERT_BREAKS(bed.accesses[0].address[1] = bed.accesses[0].address[0]);
    ASSERT_BREAKS(bed.accesses[0].address[0] = bed.footprint.n_nodes);
    ASSERT_BREAKS(bed.accesses[0].address[0] = find_node(TSL_NODE_ADD));
    ASSERT_BREAKS(bed.accesses[0].loops[0] = 2);
    ASSERT_BREAKS(bed.footprint.stride = bed.footprint.n_nodes + 1);
    ASSERT_BREAKS(bed.footprint.stride = 0); /* whose elements? */
    ASSERT_BREAKS(bed.footprint.stride = 1 + bed_constant(&bed, 32, 1));
    ASSERT_BREAKS(bed.accesses[0].n_loops = 0); /* its counter is in the address */
    ASSERT_BREAKS(bed.accesses[0].n_loops = TSL_FOOTPRINT_MAX_DEPTH + 1);
    ASSERT_BREAKS(bed.accesses[0].n_loops = 2);  /* twice the same */
    ASSERT_BREAKS(bed.accesses[0].n_guards = 1); /* a guard of 32 bits */
    ASSERT_BREAKS(bed.accesses[0].why = bed.accesses[3].why);
    ASSERT_BREAKS(bed.accesses[2].narrow = 0);
    ASSERT_BREAKS(bed.accesses[2].narrow = 5);
    ASSERT_BREAKS(bed.accesses[2].address[0] = TSL_FOOTPRINT_NONE); /* sure, and nowhere */
    ASSERT_BREAKS(bed.accesses[4].atomic = TSL_N_ATOMIC_OPS);
    ASSERT_BREAKS(bed.accesses[5].width = bed.accesses[5].narrow = 4); /* too large a value for it */
    ASSERT_BREAKS(bed.accesses[6].width = 4);
    ASSERT_BREAKS(bed.accesses[6].address[0] = TSL_FOOTPRINT_NONE); /* a y without x */
    ASSERT_BREAKS(bed.loops[1].exact = true);
    ASSERT_BREAKS(bed.loops[0].count = find_node(TSL_NODE_COUNTER)); /* of itself */
    ASSERT_BREAKS(bed.loops[0].count = find_node(TSL_NODE_UDIV));
    ASSERT_BREAKS(bed.footprint.flags = TSL_FOOTPRINT_ALL_FLAGS + 1);
    ASSERT_BREAKS(bed.footprint.n_arguments = TSL_FOOTPRINT_MAX_ARGUMENTS + 1);
}

static void test_print(void **state)
{
    char text[200];
    uint32_t node;

    (void)state;
    bed_begin(&bed, 4);
    node = kernel_at(
        &bed,
        kernel_index(&bed, kernel_add(&bed, kernel_id(&bed, 1), -1), bed_scalar(&bed, 32, 2, 0), kernel_id(&bed, 0)),
        4);
    tsl_footprint_print_node(&bed.footprint, node, text, sizeof(text));
    assert_string_equal(text, "sext64((trunc32(gid(1)) + -1) * arg2 + trunc32(gid(0))) * 4");
    memset(text, 'x', sizeof(text));
    tsl_footprint_print_node(&bed.footprint, node, text, 10);
    assert_string_equal(text, "sext64((t");
    tsl_footprint_print_node(&bed.footprint, node, text, 0);
    tsl_footprint_print_node(&bed.footprint, 999, text, sizeof(text));
    assert_string_equal(text, "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_empty),         cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_flipped_bits), cmocka_unit_test(test_changed_bytes), cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_nodes_rules),  cmocka_unit_test(test_access_rules),  cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
