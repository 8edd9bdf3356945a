/*
 * Tests provoke every error that the specification lists for a call, or say why it can't happen. The lists are those of
 * the OpenCL API specification's text ("... returns one of the following errors", version 3.0.17), but for
 * CL_OUT_OF_RESOURCES and CL_OUT_OF_HOST_MEMORY, which the fault tests provoke.
 */
#ifndef TSL_TESTS_ERRORS_H
#define TSL_TESTS_ERRORS_H

#include "begin.h"

#include <stdbool.h>

static struct {
    const char *call, *error;
} met[1000];
static size_t n_met, n_wrong;

/* The error code of calls that create an object. */
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
/* The error can't happen here; why: the reason, for readers. */
#define NEVER(call, error, why) meet(#call, #error)

static inline bool is_met(const char *call, size_t call_size, const char *error, size_t error_size)
{
    for (size_t i = 0; i < n_met; i++)
        if (strlen(met[i].call) == call_size && !memcmp(met[i].call, call, call_size) &&
            strlen(met[i].error) == error_size && !memcmp(met[i].error, error, error_size))
            return true;
    return false;
}

/* ---- Shared objects ---- */

static cl_context context, other;
static cl_command_queue queue;
static cl_event good, failed, abroad; /* user events; the last one is of the other context */

static inline void begin_errors(cl_command_queue_properties flags)
{
    context = make_context();
    other = make_context();
    queue = make_queue(context, flags);
    good = make_user_event(context);
    failed = make_user_event(context);
    abroad = make_user_event(other);
    assert_int_equal(clSetUserEventStatus(good, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(failed, -5), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(abroad, CL_COMPLETE), CL_SUCCESS);
}

static inline void end_errors(void)
{
    clReleaseEvent(good);
    clReleaseEvent(failed);
    clReleaseEvent(abroad);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    clReleaseContext(other);
}

/* ---- Wait lists of all enqueues: they get the_queue(), n_list and list ---- */

static cl_uint n_list;
static const cl_event *list;
static bool queue_is_wrong;

static inline cl_command_queue the_queue(void)
{
    return queue_is_wrong ? (cl_command_queue)context : queue;
}

#define WAIT_LISTS(call, result)                                                 \
    do {                                                                         \
        const cl_event null = NULL, no_event = (cl_event)queue;                  \
        n_list = 1, list = NULL;                                                 \
        E(call, CL_INVALID_EVENT_WAIT_LIST, "events without a list", result);    \
        n_list = 0, list = &good;                                                \
        E(call, CL_INVALID_EVENT_WAIT_LIST, "a list of none", result);           \
        n_list = 1, list = &null;                                                \
        E(call, CL_INVALID_EVENT_WAIT_LIST, "a list of NULL", result);           \
        list = &no_event;                                                        \
        E(call, CL_INVALID_EVENT_WAIT_LIST, "a list of something else", result); \
        list = &abroad;                                                          \
        E(call, CL_INVALID_CONTEXT, "an event of another context", result);      \
        n_list = 0, list = NULL;                                                 \
        queue_is_wrong = true;                                                   \
        E(call, CL_INVALID_COMMAND_QUEUE, "another object for a queue", result); \
        queue_is_wrong = false;                                                  \
    } while (0)
#define AFTER_FAILED(call, result)                                                                             \
    do {                                                                                                       \
        n_list = 1, list = &failed;                                                                            \
        E(call, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "blocking, after an event that failed", result); \
        n_list = 0, list = NULL;                                                                               \
    } while (0)
#define TRANSFER_NEVER(call)                                                                       \
    do {                                                                                           \
        NEVER(call, CL_MISALIGNED_SUB_BUFFER_OFFSET, "fpga_test.c, whose members differ in that"); \
        NEVER(call, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c");                   \
    } while (0)

/* ---- The lists ---- */

/* Each row is a call and its errors. */
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
