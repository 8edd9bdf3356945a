/*
 * Every error that the specification lists for a call is met, or it is said why it can't be. The lists are those of the
 * OpenCL API specification's text ("... returns one of the following errors", version 3.0.17), but for
 * CL_OUT_OF_RESOURCES and CL_OUT_OF_HOST_MEMORY, which the fault tests meet.
 */
#ifndef TSL_TESTS_ERRORS_H
#define TSL_TESTS_ERRORS_H

#include "begin.h"

#include <stdbool.h>

static struct {
    const char *call, *error;
} met[1000];
static size_t n_met, n_wrong;

/* What creates something says how it went in this. */
static cl_int code;
#define OF(create) ((void)(create), code)

static inline void meet(const char *call, const char *error)
{
    assert_true(n_met < LENGTH(met));
    met[n_met].call = call;
    met[n_met++].error = error;
}

static inline void expect(const char *call, cl_int expected, const char *name, const char *condition, cl_int error)
{
    meet(call, name);
    if (error == expected)
        return;
    print_error("%s, %s: it should be %s (%d), and is %d\n", call, condition, name, expected, error);
    n_wrong++;
}

#define E(call, expected, condition, result) expect(#call, expected, #expected, condition, result)
/* The condition can't hold here; the reason is for the reader. */
#define NEVER(call, error, why) meet(#call, #error)

static inline bool is_met(const char *call, size_t call_size, const char *error, size_t error_size)
{
    for (size_t i = 0; i < n_met; i++)
        if (strlen(met[i].call) == call_size && !memcmp(met[i].call, call, call_size) &&
            strlen(met[i].error) == error_size && !memcmp(met[i].error, error, error_size))
            return true;
    return false;
}

/* Each row is a call, and its errors. */
static inline void check_list(const char *const *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t call_size = strcspn(rows[i], " ");

        for (const char *error = rows[i] + call_size; *error;) {
            size_t size = strcspn(++error, " ");

            if (!is_met(rows[i], call_size, error, size)) {
                print_error("%.*s: %.*s was not met\n", (int)call_size, rows[i], (int)size, error);
                n_wrong++;
            }
            error += size;
        }
    }
    assert_int_equal(n_wrong, 0);
}

#endif
