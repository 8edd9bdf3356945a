/* What the tests of the CUDA bridge share: the members, a lane, short ways to do what a test isn't about. They run on
 * the stand-in for libcuda that TESELA_CUDA_LIBRARY names, and, without it, on a real GPU. */
#ifndef TSL_TESTS_CUDA_ENV_H
#define TSL_TESTS_CUDA_ENV_H

#include "cuda_bridge/internal.h"
#include "driver/members.h"

#include "standin.h"
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tsl_member *member;
static struct tsl_member *const *members;
static unsigned n_members;
static const struct tsl_driver *driver;
static struct tsl_lane *lane;

/* The stand-in's own functions; NULL on a real GPU. */
static struct {
    standin_violations_fn *violations;
    standin_calls_fn *calls;
    standin_fail_fn *refuse;
    standin_stop_fn *stop;
    standin_alive_fn *alive;
} standin;

static inline bool is_standin(void)
{
    return standin.violations != NULL;
}

static inline void find_standin(void)
{
    const char *name = getenv("TESELA_CUDA_LIBRARY");
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (!library)
        return;
    *(void **)&standin.violations = dlsym(library, "standin_violations");
    *(void **)&standin.calls = dlsym(library, "standin_calls");
    *(void **)&standin.refuse = dlsym(library, "standin_fail");
    *(void **)&standin.stop = dlsym(library, "standin_stop");
    *(void **)&standin.alive = dlsym(library, "standin_alive");
}

static inline int open_member(void **state)
{
    (void)state;
    alarm(100); /* A lost completion shows as a wait that doesn't end. */
    members = tsl_members_open(&n_members);
    assert_true(n_members > 0);
    find_standin();
    member = members[0];
    driver = member->driver;
    assert_string_equal(driver->name, "cuda");
    return driver->lane_create(member, true, &lane);
}

static inline int close_member(void **state)
{
    (void)state;
    driver->lane_free(lane);
    tsl_members_reset();
    if (is_standin()) {
        assert_int_equal(standin.violations(), 0);
        assert_int_equal(standin.alive(), 0);
    }
    return 0;
}

static inline struct tsl_lane *new_lane(bool profile)
{
    struct tsl_lane *l;

    assert_int_equal(driver->lane_create(member, profile, &l), CL_SUCCESS);
    return l;
}

static inline struct tsl_mem *new_mem(size_t size)
{
    struct tsl_mem *mem;

    assert_int_equal(driver->mem_alloc(member, size, CL_MEM_READ_WRITE, NULL, &mem), CL_SUCCESS);
    assert_int_equal(mem->size, size);
    return mem;
}

static inline struct tsl_copy linear(struct tsl_mem *dst, void *dst_host, size_t dst_offset, struct tsl_mem *src,
                                     const void *src_host, size_t src_offset, size_t size)
{
    return (struct tsl_copy){
        .dst = {.mem = dst, .host = dst_host, .offset = dst_offset},
        .src = {.mem = src, .host = (void *)src_host, .offset = src_offset},
        .region = {size, 1, 1},
    };
}

static inline void finish(struct tsl_lane *l)
{
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    assert_int_equal(driver->finish(l), CL_SUCCESS);
}

static inline cl_int put_later(struct tsl_lane *l, struct tsl_mem *mem, const void *data, size_t size,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_copy copy = linear(mem, NULL, 0, NULL, data, 0, size);

    return driver->copy(l, &copy, waits, fence);
}

static inline cl_int get_later(struct tsl_lane *l, struct tsl_mem *mem, void *data, size_t size,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_copy copy = linear(NULL, data, 0, mem, NULL, 0, size);

    return driver->copy(l, &copy, waits, fence);
}

static inline void put(struct tsl_mem *mem, const void *data, size_t size)
{
    assert_int_equal(put_later(lane, mem, data, size, NULL, NULL), CL_SUCCESS);
    finish(lane);
}

static inline void get(struct tsl_mem *mem, void *data, size_t size)
{
    assert_int_equal(get_later(lane, mem, data, size, NULL, NULL), CL_SUCCESS);
    finish(lane);
}

static inline int get_int(struct tsl_mem *mem, size_t index)
{
    int value = -1;
    struct tsl_copy copy = linear(NULL, &value, 0, mem, NULL, index * sizeof(value), sizeof(value));

    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    finish(lane);
    return value;
}

/* Fills the first `n` ints. */
static inline cl_int fill_ints(struct tsl_lane *l, struct tsl_mem *mem, int value, size_t n,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_place place = {.mem = mem};

    return driver->fill(l, &place, n * sizeof(value), &value, sizeof(value), waits, fence);
}

static inline struct tsl_fence *new_gate(void)
{
    struct tsl_fence *gate;

    assert_int_equal(driver->gate_create(member, &gate), CL_SUCCESS);
    return gate;
}

/* ---- Programs: kernels.ptx, with facts such as the kernel compiler would give --------------------------------------
 */

extern const char cuda_kernels_ptx[], cuda_kernels_end[];

static inline void *kernels_image(size_t *size)
{
    static struct tsl_arg_fact pointer = {.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_READ | TSL_ROLE_WRITE};
    static struct tsl_arg_fact args[][3] = {
        {{.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_READ},
         {.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_READ},
         {.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_WRITE}},
        {{.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_READ | TSL_ROLE_WRITE}, {.kind = TSL_FACT_VALUE, .size = 4}},
        {{.kind = TSL_FACT_GLOBAL, .role = TSL_ROLE_READ | TSL_ROLE_WRITE},
         {.kind = TSL_FACT_LOCAL},
         {.kind = TSL_FACT_LOCAL}},
        {{.kind = TSL_FACT_VALUE, .size = 8}},
    };
    static struct tsl_kernel_facts facts[] = {
        {.name = "vector_add", .attributes = "", .n_args = 3, .args = args[0], .proven = true},
        {.name = "tell_ids", .attributes = "", .n_args = 1, .args = &pointer, .proven = true, .whole_launch = true},
        {.name = "add_value", .attributes = "", .n_args = 2, .args = args[1], .proven = true},
        {.name = "reverse", .attributes = "", .n_args = 3, .args = args[2], .proven = true},
        {.name = "nothing", .attributes = "", .proven = true},
        {.name = "wild", .attributes = "", .n_args = 1, .args = args[3]},
    };
    const struct tsl_kernel_facts *list[6];

    for (int i = 0; i < 6; i++)
        list[i] = &facts[i];
    return tsl_cuda_image_encode(TSL_CUDA_IMAGE_PTX, 75, 6, list, cuda_kernels_ptx,
                                 (size_t)(cuda_kernels_end - cuda_kernels_ptx), size);
}

static inline struct tsl_dprogram *build_kernels(struct tsl_member *m)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    struct tsl_dprogram *program;
    char *log;
    void *image = kernels_image(&input.size);
    cl_int error;

    assert_non_null(image);
    input.data = image;
    error = driver->build(m, &input, &program, &log);
    if (error)
        fail_msg("build: %d, %s", error, log);
    free(log);
    free(image);
    return program;
}

static inline struct tsl_dkernel *new_kernel(struct tsl_dprogram *program, const char *name)
{
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    assert_int_equal(driver->kernel_create(program, name, &kernel, &facts), CL_SUCCESS);
    assert_string_equal(facts.name, name);
    tsl_kernel_facts_finish(&facts);
    return kernel;
}

static inline struct tsl_bound_arg mem_arg(struct tsl_mem *mem)
{
    return (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .mem = mem};
}

/* A literal's address lives as long as its block. */
#define VALUE_ARG(type, ...) ((struct tsl_bound_arg){TSL_ARG_VALUE, sizeof(type), &(type){__VA_ARGS__}, NULL})

static inline struct tsl_bound_args bind(cl_uint n, const struct tsl_bound_arg *args)
{
    static _Atomic uint64_t serial;

    return (struct tsl_bound_args){.serial = ++serial, .n = n, .args = args};
}

static inline struct tsl_window whole(size_t global, size_t local)
{
    return (struct tsl_window){
        .work_dim = 1,
        .global_size = {global, 1, 1},
        .local_size = {local, local ? 1 : 0, local ? 1 : 0},
        .whole = true,
    };
}

/* How often a fence's completion was told, and what was told last. */
struct told {
    atomic_int n, status;
};

static inline void tell_test(void *arg, cl_int status)
{
    struct told *told = arg;

    atomic_store(&told->status, status);
    atomic_fetch_add(&told->n, 1);
}

/* Polls, for at most ten seconds. */
static inline void wait_until_told(struct told *told)
{
    for (int i = 0; i < 10000 && !atomic_load(&told->n); i++)
        usleep(1000);
    assert_int_equal(atomic_load(&told->n), 1);
}

#endif
