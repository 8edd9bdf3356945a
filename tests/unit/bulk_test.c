/* Big copies by several threads: every byte arrives, none beside, whatever the size and however many copy at once. */
#include "driver/bulk.h"

#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EDGE 64

static unsigned char byte_of(size_t i, unsigned seed)
{
    return (unsigned char)(i * 31 + i / 4096 + seed);
}

/* With a margin on both sides that stays as it was. */
static void copy_and_look(size_t size, unsigned seed)
{
    unsigned char *src = malloc(size + 1), *dst = malloc(size + 2 * EDGE);

    for (size_t i = 0; i < size; i++)
        src[i] = byte_of(i, seed);
    memset(dst, 0xee, size + 2 * EDGE);
    tsl_bulk_copy(dst + EDGE, src, size);
    assert_memory_equal(dst + EDGE, src, size);
    for (size_t i = 0; i < EDGE; i++) {
        assert_int_equal(dst[i], 0xee);
        assert_int_equal(dst[EDGE + size + i], 0xee);
    }
    free(src);
    free(dst);
}

static void sizes_of_all_kinds(void **state)
{
    static const size_t sizes[] = {0, 1, TSL_BULK_MIN - 1, TSL_BULK_MIN, TSL_BULK_MIN + 1, 3 * TSL_BULK_MIN + 12345};

    (void)state;
    for (unsigned helpers = 0; helpers < 4; helpers++) {
        tsl_bulk_set_helpers(helpers);
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            copy_and_look(sizes[i], i + helpers);
    }
}

static void *many(void *arg)
{
    for (unsigned i = 0; i < 10; i++)
        copy_and_look(TSL_BULK_MIN + 4099 * i, *(unsigned *)arg + i);
    return NULL;
}

static void several_callers_at_once(void **state)
{
    pthread_t threads[4];
    unsigned seeds[4];

    (void)state;
    tsl_bulk_set_helpers(3);
    for (unsigned i = 0; i < 4; i++) {
        seeds[i] = 100 * i;
        assert_int_equal(pthread_create(&threads[i], NULL, many, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Before any test sets it. */
static void helpers_are_few(void **state)
{
    (void)state;
    assert_in_range(tsl_bulk_helpers(), 0, TSL_BULK_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_are_few),
        cmocka_unit_test(sizes_of_all_kinds),
        cmocka_unit_test(several_callers_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
