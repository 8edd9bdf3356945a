/* Program binaries: what was put in comes out for the same driver, version and device, and any damage is noticed. */
#include "program/container.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct tsl_driver one = {.name = "one"}, two = {.name = "two"};

static struct tsl_path path_of(const struct tsl_driver *driver, const char *version, const char *device, int uuid)
{
    struct tsl_path path = {.driver = driver, .driver_version = (char *)version, .device_name = (char *)device};

    path.identity.has_uuid = uuid != 0;
    memset(path.identity.uuid, uuid, sizeof(path.identity.uuid));
    return path;
}

/* A container with "first" for one/1.0/A and "second" for two/2.0/B with a UUID. */
static struct tsl_writer make(void)
{
    struct tsl_writer writer = {0};
    struct tsl_path first = path_of(&one, "1.0", "A", 0), second = path_of(&two, "2.0", "B", 7);
    struct tsl_container_entry entry = {.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE, .binary = "first", .size = 5};

    tsl_container_begin(&writer);
    tsl_container_add(&writer, &first, &entry);
    entry.binary = "second";
    entry.size = 6;
    entry.non_uniform = entry.of_text = true;
    tsl_container_add_text(&writer, "the text", "-w");
    tsl_container_add(&writer, &second, &entry);
    tsl_container_end(&writer);
    assert_false(writer.failed);
    return writer;
}

static bool finds(const struct tsl_writer *container, struct tsl_path path, struct tsl_container_entry *entry)
{
    bool damaged, found = tsl_container_find(container->data, container->size, &path, entry, &damaged);

    assert_false(damaged);
    return found;
}

static void each_member_finds_its_own(void **state)
{
    struct tsl_writer container = make();
    struct tsl_container_entry entry;

    (void)state;
    assert_true(finds(&container, path_of(&one, "1.0", "A", 0), &entry));
    assert_int_equal(entry.size, 5);
    assert_memory_equal(entry.binary, "first", 5);
    assert_int_equal(entry.type, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_false(entry.non_uniform || entry.of_text);
    assert_true(finds(&container, path_of(&two, "2.0", "B", 7), &entry));
    assert_memory_equal(entry.binary, "second", 6);
    assert_true(entry.non_uniform && entry.of_text);
    free(container.data);
}

static void the_text_comes_back(void **state)
{
    struct tsl_writer container = make(), other = {0};
    char *source, *options;

    (void)state;
    assert_true(tsl_container_text(container.data, container.size, &source, &options));
    assert_string_equal(source, "the text");
    assert_string_equal(options, "-w");
    free(source);
    free(options);
    container.data[container.size - 1] ^= 1;
    assert_false(tsl_container_text(container.data, container.size, &source, &options));
    assert_null(source);
    assert_false(tsl_container_text(container.data, 20, &source, &options));
    tsl_container_begin(&other);
    tsl_container_end(&other);
    assert_false(tsl_container_text(other.data, other.size, &source, &options));
    free(other.data);
    free(container.data);
}

static void others_find_nothing(void **state)
{
    struct tsl_writer container = make();
    struct tsl_container_entry entry;

    (void)state;
    assert_false(finds(&container, path_of(&two, "1.0", "A", 0), &entry));
    assert_false(finds(&container, path_of(&one, "1.1", "A", 0), &entry));
    assert_false(finds(&container, path_of(&one, "1.0", "AA", 0), &entry));
    assert_false(finds(&container, path_of(&one, "1.0", "A", 7), &entry));
    assert_false(finds(&container, path_of(&two, "2.0", "B", 8), &entry));
    free(container.data);
}

static void every_changed_byte_is_noticed(void **state)
{
    struct tsl_writer container = make();
    struct tsl_path path = path_of(&two, "2.0", "B", 7);

    (void)state;
    for (size_t i = 0; i < container.size; i++) {
        struct tsl_container_entry entry;
        bool damaged, found;

        container.data[i] ^= 0x5a;
        found = tsl_container_find(container.data, container.size, &path, &entry, &damaged);
        /* The number of entries alone is outside of the sum: fewer hide an entry, more run into the end. */
        assert_true(damaged || i / 4 == 3);
        assert_true(!damaged || !found);
        container.data[i] ^= 0x5a;
    }
    free(container.data);
}

static void every_truncation_is_noticed(void **state)
{
    struct tsl_writer container = make();
    struct tsl_path path = path_of(&one, "1.0", "A", 0);

    (void)state;
    for (size_t size = 0; size < container.size; size++) {
        struct tsl_container_entry entry;
        uint8_t *part = malloc(size + 1);
        bool damaged;

        memcpy(part, container.data, size);
        part = realloc(part, size ? size : 1); /* so that reading past the end is seen */
        assert_false(tsl_container_find(part, size, &path, &entry, &damaged));
        assert_true(damaged);
        free(part);
    }
    free(container.data);
}

/* A correct sum around lies: lengths, counts and kinds of every value are refused or passed over, never believed. */
static void lies_with_a_correct_sum_do_no_harm(void **state)
{
    struct tsl_path path = path_of(&two, "2.0", "B", 7);
    unsigned seed = 1;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct tsl_writer container = make();
        struct tsl_container_entry entry;
        bool damaged;

        for (unsigned i = 0; i < 1 + round % 3; i++) {
            seed = seed * 1103515245 + 12345;
            container.data[12 + seed / 65536 % (container.size - 12)] = (uint8_t)(seed >> 8);
        }
        tsl_container_end(&container);
        if (tsl_container_find(container.data, container.size, &path, &entry, &damaged))
            assert_true((const uint8_t *)entry.binary + entry.size <= container.data + container.size);
        free(container.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_finds_its_own),   cmocka_unit_test(the_text_comes_back),
        cmocka_unit_test(others_find_nothing),         cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_truncation_is_noticed), cmocka_unit_test(lies_with_a_correct_sum_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
