/* Memory that another process finds, or doesn't where it isn't what was meant; and bells, which are rung for those that
 * rest alone. */
#include "node/bell.h"
#include "remote/memory_file.h"

#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)16384)

/* In another process. */
static int with_another(int (*run)(const void *arg), const void *arg)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(run(arg));
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int write_there(const void *arg)
{
    char *bytes = tsl_memory_file_map("test", SIZE, arg);

    if (!bytes)
        return 1;
    strcpy(bytes + SIZE - 100, "from there");
    return 0;
}

static void memory_is_found(void **state)
{
    struct tsl_memory_file is;
    char *bytes = tsl_memory_file_make("test", SIZE, &is);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(with_another(write_there, &is), 0);
    assert_string_equal(bytes + SIZE - 100, "from there");
    munmap(bytes, SIZE);
    close((int)is.file);
}

/* Another size, another name, another token, no file, one of another kind. */
static void other_memory_is_not_taken(void **state)
{
    struct tsl_memory_file is, other;
    char *bytes = tsl_memory_file_make("test", SIZE, &is);
    int ends[2];

    (void)state;
    assert_null(tsl_memory_file_map("test", 2 * SIZE, &is));
    assert_null(tsl_memory_file_map("text", SIZE, &is));
    other = is;
    other.token[15] ^= 1;
    assert_null(tsl_memory_file_map("test", SIZE, &other));
    other = is;
    other.file = 1000000;
    assert_null(tsl_memory_file_map("test", SIZE, &other));
    assert_int_equal(pipe(ends), 0);
    other.file = (uint32_t)ends[0];
    assert_null(tsl_memory_file_map("test", SIZE, &other));
    munmap(bytes, SIZE);
    close((int)is.file);
}

static bool was_rung(int milliseconds)
{
    struct pollfd bell = {.fd = bell_file(), .events = POLLIN};

    return poll(&bell, 1, milliseconds) == 1;
}

static int ring_from_there(const void *arg)
{
    bell_find(1, arg);
    bell_ring(1);
    bell_ring(1);
    return bell_n_found() == 1 ? 0 : 1;
}

static void a_bell_wakes_who_rests(void **state)
{
    struct bell_is is, read;
    struct tsl_writer writer = {.size = 0};

    (void)state;
    assert_true(bell_make(&is));
    bell_put(&writer, &is);
    assert_true(bell_get(writer.data, writer.size, &read));
    assert_false(bell_get(writer.data, writer.size - 1, &read));
    free(writer.data);
    assert_true(bell_make(&is));
    assert_int_equal(with_another(ring_from_there, &is), 0);
    assert_false(was_rung(0)); /* It doesn't rest. */
    for (unsigned i = 0; i < 3; i++) {
        bell_begin_rest();
        assert_false(was_rung(0));
        if (i == 1)
            bell_ring_own();
        else
            assert_int_equal(with_another(ring_from_there, &is), 0);
        assert_true(was_rung(10000));
        bell_end_rest();
        assert_false(was_rung(0));
    }
}

/* Whose pipe is another by now, or who is on another machine. */
static int find_nothing(const void *arg)
{
    struct bell_is is = *(const struct bell_is *)arg;

    is.pipe_id++;
    bell_find(1, &is);
    is.pipe_id--;
    is.host_id++;
    bell_find(2, &is);
    bell_ring(1);
    bell_ring(2);
    return (int)bell_n_found();
}

static void other_bells_are_not_rung(void **state)
{
    struct bell_is is;

    (void)state;
    assert_true(bell_make(&is));
    bell_begin_rest();
    assert_int_equal(with_another(find_nothing, &is), 0);
    assert_false(was_rung(10));
    bell_end_rest();
}

/* Nobody reads any more: that harms nobody. */
static void a_bell_outlives_its_owner(void **state)
{
    struct bell_is is;
    int ends[2];
    pid_t owner;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    owner = fork();
    if (owner == 0) {
        if (bell_make(&is))
            bell_begin_rest();
        if (write(ends[1], &is, sizeof(is)) == sizeof(is))
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &is, sizeof(is)), sizeof(is));
    bell_find(5, &is);
    assert_int_equal(bell_n_found(), 1);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    bell_ring(5);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_found),           cmocka_unit_test(other_memory_is_not_taken),
        cmocka_unit_test(a_bell_wakes_who_rests),    cmocka_unit_test(other_bells_are_not_rung),
        cmocka_unit_test(a_bell_outlives_its_owner),
    };

    return cmocka_run_group_tests_name("bell", tests, NULL, NULL);
}
