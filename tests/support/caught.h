/* Standard error, caught for a while. */
#ifndef TSL_TESTS_CAUGHT_H
#define TSL_TESTS_CAUGHT_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int caught_stderr; /* the real one */
static FILE *caught;

static inline void catch_stderr(void)
{
    caught = tmpfile();
    assert_non_null(caught);
    caught_stderr = dup(STDERR_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
}

/* What was written since catch_stderr; the caller frees. */
static inline char *release_stderr(void)
{
    long size;
    char *text;

    dup2(caught_stderr, STDERR_FILENO);
    close(caught_stderr);
    fseek(caught, 0, SEEK_END);
    size = ftell(caught);
    rewind(caught);
    text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, caught), size);
    fclose(caught);
    return text;
}

#endif
