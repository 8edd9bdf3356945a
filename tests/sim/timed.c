#include "timed.h"

#include "base/clock.h"
#include "graph/join.h"
#include "jobs.h"
#include "members/members.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool step(void)
{
    return jobs_run(0) || tsl_fake_step(TSL_FAKE_EARLIEST);
}

static void block(void)
{
    if (!step()) {
        fprintf(stderr, "the program hangs\n%s", tsl_fake_stuck());
        abort();
    }
}

static bool meanwhile(void *arg)
{
    (void)arg;
    return jobs_run(0);
}

static const struct tsl_simulation simulation = {.posted = jobs_posted, .block = block};

void timed_begin(struct timed *t, const struct tsl_fake_member *members, unsigned n, const char *source,
                 cl_command_queue_properties properties)
{
    struct tsl_fake_setup setup = {.n_members = n, .in_time = true, .seed = 1, .on_block = meanwhile};
    struct tsl_device *device = tsl_device_root();

    for (unsigned i = 0; i < n; i++)
        setup.members[i] = members[i];
    jobs_forget();
    tsl_simulation = &simulation;
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    t->n_members = n;
    t->members = ~0u;
    t->wait = NULL;
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &t->context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(t->context, device, properties, NULL, 0, &t->queue), CL_SUCCESS);
    assert_int_equal(tsl_program_create_source(t->context, 1, &source, NULL, &t->program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(t->program, NULL, "", NULL, NULL), CL_SUCCESS);
}

void timed_end(struct timed *t)
{
    tsl_object_release(&t->program->object);
    tsl_queue_let_go(t->queue);
    tsl_object_release(&t->queue->object);
    tsl_object_release(&t->context->object);
    while (step())
        continue;
    tsl_fake_check_end();
    if (tsl_fake_violation(0))
        fail_msg("%s", tsl_fake_violation(0));
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
    tsl_simulation = NULL;
}

struct tsl_buffer *timed_buffer(struct timed *t, size_t size)
{
    void *bytes = calloc(1, size);
    struct tsl_buffer *buffer;

    assert_int_equal(tsl_buffer_create(t->context, CL_MEM_COPY_HOST_PTR, size, bytes, NULL, &buffer), CL_SUCCESS);
    free(bytes);
    return buffer;
}

void timed_launch(struct timed *t, const char *name, size_t n_items, unsigned n_buffers,
                  struct tsl_buffer *const *buffers, uint32_t value, struct tsl_event **event)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n_items, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t->queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = event};
    struct tsl_kernel *kernel;

    e.n_wait = t->wait ? 1 : 0;
    e.wait = &t->wait;

    assert_int_equal(tsl_kernel_create(t->program, name, &kernel), CL_SUCCESS);
    for (unsigned i = 0; i < n_buffers; i++)
        assert_int_equal(tsl_kernel_set_arg(kernel, i, sizeof(cl_mem), &buffers[i]), CL_SUCCESS);
    if (value)
        assert_int_equal(tsl_kernel_set_arg(kernel, n_buffers, sizeof value, &value), CL_SUCCESS);
    tsl_members members = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < t->n_members; i++)
        if (tsl_members_has(kernel->eligible, i) && (i >= 32 || t->members >> i & 1))
            tsl_members_add(&members, i);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, members), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

uint64_t timed_finish(struct timed *t)
{
    assert_int_equal(tsl_queue_finish(t->queue), CL_SUCCESS);
    return tsl_clock_ns();
}

bool timed_run(unsigned i, struct tsl_fake_record *record)
{
    for (size_t k = 0; tsl_fake_record(k, record); k++)
        if (record->kind == TSL_FAKE_DID_LAUNCH && i-- == 0)
            return true;
    return false;
}

void timed_assert_bytes(struct tsl_queue *queue, struct tsl_buffer *buffer, size_t from, size_t size,
                        unsigned char value)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {size, 1, 1}, .src_offset = from};
    unsigned char bytes[size];

    assert_int_equal(tsl_enqueue_read(&e, buffer, bytes, &box), CL_SUCCESS);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], value);
}

void timed_assert_moved(const struct timed *t, uint64_t up, uint64_t down)
{
    uint64_t went[2] = {0};

    for (unsigned i = 0; i < t->n_members; i++) {
        went[0] += tsl_fake_counts(i).did_size[TSL_FAKE_DID_WRITE];
        went[1] += tsl_fake_counts(i).did_size[TSL_FAKE_DID_READ];
    }
    assert_int_equal(went[0], up);
    assert_int_equal(went[1], down);
    tsl_fake_reset_counts();
}
