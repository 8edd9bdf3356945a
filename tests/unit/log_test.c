/* The log: modules and levels choose what is shown, a message is one line, and what is off costs nothing. */
#include "base/log.h"

#include "base/settings.h"
#include "caught.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mask_of(const char *text)
{
    uint64_t mask = 0;

    assert_true(tsl_log_parse(text, &mask));
    return mask;
}

static void check_level(const char *text, enum tsl_log_module module, enum tsl_log_level level, bool shown)
{
    assert_int_equal((mask_of(text) & tsl_log_bit(module, level)) != 0, shown);
}

static void values(void **state)
{
    (void)state;
    check_level("info", TSL_LOG_IN_TILE, TSL_LOG_INFO, true);
    check_level("info", TSL_LOG_IN_TRACE, TSL_LOG_ERROR, true);
    check_level("info", TSL_LOG_IN_ICD, TSL_LOG_DEBUG, false);
    check_level("graph:debug,tile:info", TSL_LOG_IN_GRAPH, TSL_LOG_DEBUG, true);
    check_level("graph:debug,tile:info", TSL_LOG_IN_TILE, TSL_LOG_DEBUG, false);
    check_level("graph:debug,tile:info", TSL_LOG_IN_API, TSL_LOG_ERROR, true);
    check_level("graph:debug,tile:info", TSL_LOG_IN_API, TSL_LOG_WARN, false);
    check_level("GRAPH:Debug", TSL_LOG_IN_GRAPH, TSL_LOG_DEBUG, true);
    check_level("off", TSL_LOG_IN_GRAPH, TSL_LOG_ERROR, false);
    check_level("off,opencl:warn", TSL_LOG_IN_OPENCL, TSL_LOG_WARN, true);
    /* A module's own item wins wherever it stands. */
    check_level("opencl:debug,error", TSL_LOG_IN_OPENCL, TSL_LOG_DEBUG, true);
    check_level(" error , opencl:debug ", TSL_LOG_IN_OPENCL, TSL_LOG_DEBUG, true);
    /* What modules were called once. */
    check_level("off,vendor:warn", TSL_LOG_IN_OPENCL, TSL_LOG_WARN, true);
    check_level("compile:info", TSL_LOG_IN_COMPILER, TSL_LOG_INFO, true);
    check_level("core:debug", TSL_LOG_IN_BASE, TSL_LOG_DEBUG, true);
    check_level("core:debug", TSL_LOG_IN_DEVICE, TSL_LOG_DEBUG, true);
    check_level("core:debug", TSL_LOG_IN_PROGRAM, TSL_LOG_DEBUG, true);
    check_level("core:debug", TSL_LOG_IN_GRAPH, TSL_LOG_DEBUG, false);
}

static void nonsense_changes_nothing(void **state)
{
    static const char *const rows[] = {"loud",       "graph",        "graph:",     ":debug",
                                       "graph:loud", "cellar:debug", "info debugs"};
    uint64_t mask = 7;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_false(tsl_log_parse(rows[i], &mask));
    assert_int_equal(mask, 7);
}

static void line_form(void **state)
{
    char *text;

    (void)state;
    tsl_log_set(mask_of("graph:info"));
    catch_stderr();
    errno = EBADF;
    tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_INFO, "command %d is %s", 7, "ready");
    tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_DEBUG, "not shown");
    tsl_log(TSL_LOG_IN_TILE, TSL_LOG_INFO, "not shown");
    tsl_log(TSL_LOG_IN_TILE, TSL_LOG_ERROR, "two\nlines");
    assert_int_equal(errno, EBADF);
    text = release_stderr();
    assert_string_equal(text, "tesela: graph: info: command 7 is ready\ntesela: tile: error: two lines\n");
    free(text);
}

static void long_messages_are_cut(void **state)
{
    char long_text[5000];
    char *text;

    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    tsl_log_set(tsl_log_default());
    catch_stderr();
    tsl_log(TSL_LOG_IN_COMPILER, TSL_LOG_ERROR, "%s", long_text);
    text = release_stderr();
    assert_in_range(strlen(text), 1000, 4000);
    assert_string_equal(text + strlen(text) - 4, "...\n");
    free(text);
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

/* Arguments of a message that isn't shown are not even computed. */
static void off_costs_nothing(void **state)
{
    (void)state;
    tsl_log_set(mask_of("off"));
    tsl_log(TSL_LOG_IN_API, TSL_LOG_ERROR, "%d", evaluate());
    tsl_log_once(TSL_LOG_IN_API, TSL_LOG_ERROR, "%d", evaluate());
    assert_int_equal(evaluated, 0);
}

static void say_once(int number)
{
    tsl_log_once(TSL_LOG_IN_API, TSL_LOG_WARN, "said %d", number);
}

/* Once means once shown: a message that was off the first time is still to be said. */
static void once(void **state)
{
    char *text;

    (void)state;
    catch_stderr();
    tsl_log_set(mask_of("error"));
    say_once(1);
    tsl_log_set(mask_of("warn"));
    say_once(2);
    say_once(3);
    text = release_stderr();
    assert_string_equal(text, "tesela: api: warn: said 2\n");
    free(text);
}

#define N_THREADS 4
#define N_LINES   500

static void *write_lines(void *argument)
{
    for (int i = 0; i < N_LINES; i++)
        tsl_log(TSL_LOG_IN_BASE, TSL_LOG_ERROR, "from %d", *(int *)argument);
    return NULL;
}

/* Lines of several threads come out whole, in any order. */
static void lines_do_not_mix(void **state)
{
    pthread_t threads[N_THREADS];
    int numbers[N_THREADS];
    int n_lines = 0;
    char *text;

    (void)state;
    tsl_log_set(tsl_log_default());
    catch_stderr();
    for (int i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    text = release_stderr();
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_memory_equal(line, "tesela: base: error: from ", 26);
        assert_in_range(line[26], '0', '0' + N_THREADS - 1);
        assert_int_equal(line[27], '\n');
        n_lines++;
    }
    assert_int_equal(n_lines, N_THREADS * N_LINES);
    free(text);
}

/* Before anybody read the settings every message is tried; the first one reads them and is judged by them. */
static void settings_are_read_at_the_first_message(void **state)
{
    char *text;

    (void)state;
    setenv("TESELA_LOG", "place:warn", 1);
    atomic_store(&tsl_log_mask, UINT64_MAX);
    catch_stderr();
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "not shown");
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_WARN, "shown");
    text = release_stderr();
    assert_string_equal(text, "tesela: place: warn: shown\n");
    assert_int_equal(atomic_load(&tsl_log_mask), mask_of("place:warn"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(nonsense_changes_nothing),
        cmocka_unit_test(line_form),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(off_costs_nothing),
        cmocka_unit_test(once),
        cmocka_unit_test(lines_do_not_mix),
        cmocka_unit_test(settings_are_read_at_the_first_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
