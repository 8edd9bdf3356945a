/* Random copies and fills in several lanes of one or two members, with a model of what is where. A fence that completes
 * tells of all that came before: whatever way a driver has for a size, bytes have arrived by then, and the program's
 * memory is its own again. */
/* timeout: 120 */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind ORDER_PROGRAMS=10 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=5 STANDIN_DEVICES=2 */
/* any: ORDER_PROGRAMS=200 */
#include "../cuda/standin_env.h"
#include "driver_env.h"
#include "find_compiler.h"

#include <stdint.h>
#include <stdio.h>

#define SIZE      ((size_t)3 << 20)
#define N_OPS     60 /* bits of a set */
#define N_MEMS    4
#define N_OBJECTS (N_MEMS + 3) /* the rest is the program's memory */
#define N_LANES   4

/* Memory of a member's, or the program's. */
struct object {
    struct tsl_mem *mem; /* NULL: the program's, at bytes */
    unsigned char *bytes, *model;
    int writer;        /* the last operation that writes there; -1: none */
    uint64_t readers;  /* since then */
    uint64_t touchers; /* ever */
    bool unchecked;
};

struct op {
    unsigned lane;
    struct tsl_fence *fence; /* its own, or of a mark behind it; NULL: none yet */
    uint64_t before;         /* what surely ends before it ends */
};

static struct {
    uint64_t random;
    struct tsl_lane *lanes[N_LANES];
    int last[N_LANES]; /* operation of the lane; -1: none */
    struct object objects[N_OBJECTS];
    struct op ops[N_OPS];
    unsigned n_ops;
    uint64_t done;
} p;

/* ---- Chance ------------------------------------------------------------------------------------------------------ */

static unsigned pick(unsigned n)
{
    p.random = p.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(p.random >> 33) % n;
}

static bool once_in(unsigned n)
{
    return pick(n) == 0;
}

/* Of each way that a driver may have for a size. */
static size_t some_size(void)
{
    static const size_t most[] = {64, 4096, (size_t)256 << 10, (size_t)768 << 10, SIZE};

    return 1 + pick((unsigned)most[pick(5)]);
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

static struct tsl_member *member_of(unsigned i)
{
    return n_members > 1 && members[1]->driver == driver ? members[i % 2] : member;
}

static void set_all(struct object *o, unsigned char value)
{
    for (size_t i = 0; i < SIZE; i++)
        o->model[i] = (unsigned char)(pattern_of(i) + value);
}

static void begin_program(uint64_t seed)
{
    memset(&p, 0, sizeof p);
    p.random = seed;
    for (unsigned i = 0; i < N_LANES; i++) {
        assert_int_equal(driver->lane_create(member_of(i), false, &p.lanes[i]), CL_SUCCESS);
        p.last[i] = -1;
    }
    for (unsigned i = 0; i < N_OBJECTS; i++) {
        struct object *o = &p.objects[i];

        *o = (struct object){.model = malloc(SIZE), .writer = -1};
        set_all(o, (unsigned char)i);
        if (i >= N_MEMS) {
            o->bytes = malloc(SIZE);
            memcpy(o->bytes, o->model, SIZE);
            continue;
        }
        assert_int_equal(driver->mem_alloc(member_of(i), SIZE, CL_MEM_READ_WRITE, NULL, &o->mem), CL_SUCCESS);
        assert_int_equal(put_later(p.lanes[i % N_LANES], o->mem, o->model, SIZE, NULL, NULL), CL_SUCCESS);
        finish(p.lanes[i % N_LANES]);
    }
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* A fence behind the operation, flushed. */
static struct tsl_fence *fence_of(unsigned i)
{
    struct op *op = &p.ops[i];

    if (!op->fence)
        assert_int_equal(driver->mark(p.lanes[op->lane], NULL, &op->fence), CL_SUCCESS);
    assert_int_equal(driver->flush(p.lanes[op->lane]), CL_SUCCESS);
    return op->fence;
}

static void check_what_is_done(void)
{
    for (unsigned i = N_MEMS; i < N_OBJECTS; i++) {
        struct object *o = &p.objects[i];

        if (o->touchers & ~p.done)
            continue;
        if (o->unchecked)
            assert_memory_equal(o->bytes, o->model, SIZE);
        o->unchecked = false;
        if (once_in(4)) { /* It is the program's again. */
            set_all(o, (unsigned char)pick(256));
            memcpy(o->bytes, o->model, SIZE);
        }
    }
}

static void wait_for(unsigned i)
{
    assert_int_equal(driver->fence_wait(fence_of(i)), CL_COMPLETE);
    p.done |= p.ops[i].before | UINT64_C(1) << i;
    check_what_is_done();
}

struct needs {
    unsigned n;
    struct tsl_fence *fences[N_OPS];
    uint64_t before; /* the new operation's */
};

/* The new operation of the lane comes after that one. */
static void come_after(struct needs *needs, unsigned l, unsigned i)
{
    if ((needs->before | p.done) >> i & 1)
        return;
    if (!driver->can_wait(member_of(l), fence_of(i))) {
        wait_for(i);
        return;
    }
    needs->fences[needs->n++] = p.ops[i].fence;
    needs->before |= p.ops[i].before | UINT64_C(1) << i;
}

/* After what conflicts with it, and now and then after something else. */
static void order(struct needs *needs, unsigned l, const struct object *dst, const struct object *src)
{
    uint64_t conflicts = dst->readers;

    *needs = (struct needs){.n = 0};
    if (p.last[l] >= 0)
        needs->before = p.ops[p.last[l]].before | UINT64_C(1) << p.last[l];
    conflicts |= dst->writer >= 0 ? UINT64_C(1) << dst->writer : 0;
    conflicts |= src && src->writer >= 0 ? UINT64_C(1) << src->writer : 0;
    for (unsigned i = 0; i < p.n_ops; i++)
        if (conflicts >> i & 1 || once_in(20))
            come_after(needs, l, i);
}

static void note(const struct needs *needs, unsigned l, struct tsl_fence *fence, struct object *dst, struct object *src)
{
    uint64_t bit = UINT64_C(1) << p.n_ops;

    p.ops[p.n_ops] = (struct op){.lane = l, .fence = fence, .before = needs->before};
    p.last[l] = (int)p.n_ops++;
    dst->writer = p.last[l];
    dst->readers = 0;
    dst->touchers |= bit;
    dst->unchecked = true;
    if (src) {
        src->readers |= bit;
        src->touchers |= bit;
    }
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static void copy_some(unsigned l, struct object *dst, struct object *src)
{
    size_t size = some_size(), to = pick((unsigned)(SIZE - size + 1)), from = pick((unsigned)(SIZE - size + 1));
    struct tsl_copy copy = linear(dst->mem, dst->bytes, to, src->mem, src->bytes, from, size);
    struct tsl_fence *fence = NULL;
    struct needs needs;

    order(&needs, l, dst, src);
    assert_int_equal(driver->copy(p.lanes[l], &copy, &(struct tsl_waits){.n = needs.n, .fences = needs.fences},
                                  once_in(2) ? &fence : NULL),
                     CL_SUCCESS);
    memcpy(dst->model + to, src->model + from, size);
    note(&needs, l, fence, dst, src);
}

static void fill_some(unsigned l, struct object *dst)
{
    size_t n = 1 + some_size() / 8, to = pick((unsigned)(SIZE / 4 - n + 1));
    uint32_t value = pick(1u << 31);
    struct tsl_fill fill = {{.mem = dst->mem, .offset = 4 * to}, {4 * n, 1, 1}, &value, sizeof value};
    struct tsl_fence *fence = NULL;
    struct needs needs;

    order(&needs, l, dst, NULL);
    assert_int_equal(driver->fill(p.lanes[l], &fill, &(struct tsl_waits){.n = needs.n, .fences = needs.fences},
                                  once_in(2) ? &fence : NULL),
                     CL_SUCCESS);
    for (size_t i = 0; i < n; i++)
        memcpy(dst->model + 4 * (to + i), &value, sizeof value);
    note(&needs, l, fence, dst, NULL);
}

/* A lane reaches its member's memory, the program's, and that of others from which it may copy. */
static bool is_possible(unsigned l, const struct object *dst, const struct object *src)
{
    struct tsl_member *own = member_of(l);

    if (dst == src || (!dst->mem && !src->mem) || (dst->mem && dst->mem->member != own))
        return false;
    return !src->mem || src->mem->member == own || (dst->mem && driver->can_copy_peer(src->mem->member, own));
}

static void do_one(void)
{
    unsigned l = pick(N_LANES);
    struct object *dst = &p.objects[pick(N_OBJECTS)], *src = &p.objects[pick(N_OBJECTS)];

    if (is_possible(l, dst, src))
        copy_some(l, dst, src);
    else if (dst->mem && dst->mem->member == member_of(l))
        fill_some(l, dst);
    if (once_in(3))
        assert_int_equal(driver->flush(p.lanes[l]), CL_SUCCESS);
    if (p.n_ops && once_in(4))
        wait_for(pick(p.n_ops));
}

static void end_program(void)
{
    unsigned char *bytes = malloc(SIZE);

    for (unsigned i = 0; i < N_LANES; i++)
        finish(p.lanes[i]);
    for (unsigned i = 0; i < N_OBJECTS; i++) {
        struct object *o = &p.objects[i];

        if (o->mem)
            assert_int_equal(get_later(p.lanes[i % 2], o->mem, bytes, SIZE, NULL, NULL), CL_SUCCESS);
        finish(p.lanes[i % 2]);
        assert_memory_equal(o->mem ? bytes : o->bytes, o->model, SIZE);
        if (o->mem)
            driver->mem_free(o->mem);
        free(o->bytes);
        free(o->model);
    }
    for (unsigned i = 0; i < p.n_ops; i++)
        tsl_fence_unref(p.ops[i].fence);
    for (unsigned i = 0; i < N_LANES; i++)
        driver->lane_free(p.lanes[i]);
    free(bytes);
}

static void fences_tell_of_all_before(void **state)
{
    const char *number = getenv("ORDER_PROGRAMS"), *first = getenv("ORDER_SEED");
    unsigned long n = number ? strtoul(number, NULL, 10) : 40, seed = first ? strtoul(first, NULL, 10) : 1;

    (void)state;
    for (unsigned long i = 0; i < n; i++) {
        fprintf(stderr, "%sORDER_SEED=%lu", i ? "\r" : "", seed + i);
        begin_program(seed + i);
        while (p.n_ops < N_OPS - 1)
            do_one();
        end_program();
    }
    fputc('\n', stderr);
}

static int close_all(void **state)
{
    close_members(state);
    check_standin();
    return 0;
}

static int open_all(void **state)
{
    int error;

    find_compiler();
    error = open_members(state);
    find_standin();
    return error;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fences_tell_of_all_before)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
