/* The driver over real vendors: programs, what is told of kernels, launches. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
#include "opencl/member.h"
#include "vendor_env.h"

#include <pthread.h>

static const char source[] =
    "typedef struct { int a; float b; } pair;\n"
    "kernel void set(global int *out, int value) { out[get_global_id(0)] = value; }\n"
    "kernel void add(global const int *a, global const int *b, global int *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    out[i] = (a ? a[i] : 0) + (b ? b[i] : 1000);\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(global int *out) {\n"
    "    out[get_global_id(0)] = get_local_size(0);\n"
    "}\n"
    "kernel void mixed(global const float *restrict x, constant int *c, local int *l, pair s, float3 v,\n"
    "                  volatile global int *q, const uint k, ulong w) {\n"
    "    int i = get_local_id(0);\n"
    "    l[i] = c[i] * 2;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    q[get_global_id(0)] = l[get_local_size(0) - 1 - i] + s.a + (int)v.z + (int)x[0] + (int)k + (int)w;\n"
    "}\n";

static struct tsl_dprogram *program;

static int build_program(void **state)
{
    if (open_member(state))
        return -1;
    program = build(source);
    return 0;
}

static int free_program(void **state)
{
    driver->program_free(program);
    return close_members(state);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static cl_int build_text(const char *text, const char *options, struct tsl_dprogram **built, char **log)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .options = options};

    *built = NULL;
    *log = NULL;
    return driver->build(member, &input, built, log);
}

static void a_failed_build_says_why(void **state)
{
    struct tsl_dprogram *built;
    char *log;

    (void)state;
    assert_int_equal(build_text("kernel void k(void) { undefined_thing = 1; }", "", &built, &log),
                     CL_BUILD_PROGRAM_FAILURE);
    assert_null(built);
    assert_non_null(strstr(log, "undefined_thing"));
    free(log);
}

static void options_reach_the_compiler(void **state)
{
    struct tsl_dprogram *built;
    char *log;

    (void)state;
    assert_int_equal(
        build_text("kernel void k(global int *p) { p[0] = ANSWER; }", "-DANSWER=42 -cl-mad-enable", &built, &log),
        CL_SUCCESS);
    assert_non_null(log);
    free(log);
    driver->program_free(built);
    assert_int_not_equal(build_text("kernel void k(global int *p) { p[0] = ANSWER; }", "", &built, &log), CL_SUCCESS);
    free(log);
}

/* rusticl dies of such an option, so there it is refused before. */
static void quoted_options_do_no_harm(void **state)
{
    struct tsl_dprogram *built;
    char *log;
    cl_int error = build_text("kernel void k(global int *p) { p[0] = sizeof(Y); }", "-DY=\"1 + 1\"", &built, &log);

    (void)state;
    assert_non_null(log);
    if (is_platform("rusticl")) {
        assert_int_equal(error, CL_INVALID_BUILD_OPTIONS);
        assert_non_null(strstr(log, "quotes"));
    } else {
        assert_int_equal(error, CL_SUCCESS);
        driver->program_free(built);
    }
    free(log);
}

static bool has_name(const char *names, const char *name)
{
    const char *at = strstr(names, name);

    return at && (at == names || at[-1] == ';') && (!at[strlen(name)] || at[strlen(name)] == ';');
}

static void kernels_are_listed(void **state)
{
    struct tsl_opencl_device *device = tsl_opencl_member(member)->device;
    unsigned version = device->version;
    char *names;

    (void)state;
    /* Twice: as OpenCL 1.1 has it, by kernel objects, the second time. */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(driver->program_kernels(program, &names), CL_SUCCESS);
        assert_true(has_name(names, "set") && has_name(names, "add") && has_name(names, "four") &&
                    has_name(names, "mixed"));
        assert_int_equal(strlen(names), strlen("set;add;four;mixed"));
        free(names);
        device->version = 110;
    }
    device->version = version;
}

static void a_binary_builds_again(void **state)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    struct tsl_mem *mem = new_mem(64);
    struct tsl_dprogram *again;
    struct tsl_dkernel *kernel;
    struct tsl_window window = whole(16, 0);
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 77)};
    struct tsl_bound_args bound = bind(2, args);
    void *data;
    char *log;

    (void)state;
    assert_int_equal(driver->program_binary(program, &data, &input.size), CL_SUCCESS);
    assert_true(input.size > 0);
    input.data = data;
    assert_int_equal(driver->build(member, &input, &again, &log), CL_SUCCESS);
    free(log);
    free(data);
    kernel = new_kernel(again, "set");
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 15), 77);
    driver->kernel_free(kernel);
    driver->program_free(again);
    driver->mem_free(mem);
}

static void what_is_no_program_is_an_error(void **state)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .data = "no binary", .size = 9, .options = ""};
    struct tsl_dprogram *built = NULL;
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel = NULL;
    char *log = NULL;

    (void)state;
    /* The others stop the process: what reaches them must have come out of them (the core's container sees to it). */
    if (is_platform("Portable")) {
        assert_int_not_equal(driver->build(member, &input, &built, &log), CL_SUCCESS);
        assert_null(built);
        assert_non_null(log);
        free(log);
    }
    assert_int_equal(driver->kernel_create(program, "nobody", &kernel, &facts), CL_INVALID_KERNEL_NAME);
    assert_null(kernel);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static void arguments_are_told(void **state)
{
    static const struct {
        enum tsl_fact_kind kind;
        unsigned may;
        size_t size;
        const char *type, *name;
    } expected[] = {
        {TSL_FACT_GLOBAL, TSL_MAY_READ | TSL_MAY_WRITE, 0, "float*", "x"},
        {TSL_FACT_CONSTANT, TSL_MAY_READ, 0, "int*", "c"},
        {TSL_FACT_LOCAL, TSL_MAY_READ | TSL_MAY_WRITE, 0, "int*", "l"},
        {TSL_FACT_VALUE, TSL_MAY_READ | TSL_MAY_WRITE, 0, "pair", "s"},
        {TSL_FACT_VALUE, TSL_MAY_READ | TSL_MAY_WRITE, 16, "float3", "v"},
        {TSL_FACT_GLOBAL, TSL_MAY_READ | TSL_MAY_WRITE, 0, "int*", "q"},
        {TSL_FACT_VALUE, TSL_MAY_READ | TSL_MAY_WRITE, 4, "uint", "k"},
        {TSL_FACT_VALUE, TSL_MAY_READ | TSL_MAY_WRITE, 8, "ulong", "w"},
    };
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    assert_int_equal(driver->kernel_create(program, "mixed", &kernel, &facts), CL_SUCCESS);
    assert_string_equal(facts.name, "mixed");
    assert_int_equal(facts.n_args, 8);
    assert_true(facts.has_arg_info);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(facts.args[i].kind, expected[i].kind);
        assert_int_equal(facts.args[i].may, expected[i].may);
        assert_int_equal(facts.args[i].size, expected[i].size);
        assert_string_equal(facts.args[i].type_name, expected[i].type);
        assert_string_equal(facts.args[i].name, expected[i].name);
    }
    assert_true(facts.args[0].type_qualifier & CL_KERNEL_ARG_TYPE_RESTRICT);
    assert_true(facts.work_group_size >= 64);
    assert_true(facts.preferred_multiple >= 1);
    assert_int_equal(facts.reqd_size[0], 0);
    /* Nothing is proven; but a program's text tells that it doesn't print. */
    assert_true(facts.whole_launch && facts.atomics);
    assert_false(facts.proven || facts.prints || facts.opaque);
    assert_false(driver->windows_ok(kernel, &facts));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
}

static void required_sizes_are_told(void **state)
{
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    assert_int_equal(driver->kernel_create(program, "four", &kernel, &facts), CL_SUCCESS);
    assert_int_equal(facts.reqd_size[0], 4);
    assert_int_equal(facts.reqd_size[1], 1);
    assert_int_equal(facts.reqd_size[2], 1);
    assert_null(strstr(facts.attributes, "__attribute__"));
    if (!is_platform("Oclgrind"))
        assert_non_null(strstr(facts.attributes, "reqd_work_group_size(4"));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
}

/* As they are declared within the brackets, a blank between them (OpenCL 3.0, 5.9.4). */
static void several_attributes_are_told(void **state)
{
    struct tsl_dprogram *hinted =
        build("kernel __attribute__((vec_type_hint(float4))) "
              "__attribute__((work_group_size_hint(8, 2, 1))) void hinted(global int *out) {}");
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    assert_int_equal(driver->kernel_create(hinted, "hinted", &kernel, &facts), CL_SUCCESS);
    if (is_platform("Portable Computing Language"))
        assert_string_equal(facts.attributes, "work_group_size_hint(8, 2, 1 ) vec_type_hint (float4)");
    assert_null(strstr(facts.attributes, "__attribute__"));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    driver->program_free(hinted);
}

static void a_program_that_prints_says_so(void **state)
{
    struct tsl_dprogram *printing = build("kernel void hello(void) { printf(\"hello\\n\"); }");
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    assert_int_equal(driver->kernel_create(printing, "hello", &kernel, &facts), CL_SUCCESS);
    assert_true(facts.prints);
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    driver->program_free(printing);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void arguments_of_all_kinds_arrive(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "mixed");
    struct tsl_mem *x = new_mem(64), *c = new_mem(64), *q = new_mem(256);
    struct pair {
        int a;
        float b;
    };
    struct tsl_bound_arg args[] = {
        mem_arg(x),
        mem_arg(c),
        {.kind = TSL_ARG_LOCAL, .size = 4 * sizeof(int)},
        VALUE_ARG(struct pair, 100, 1.0f),
        VALUE_ARG(cl_float3, .s = {1, 2, 1000, 0}),
        mem_arg(q),
        VALUE_ARG(cl_uint, 10000),
        VALUE_ARG(cl_ulong, 100000),
    };
    struct tsl_bound_args bound = bind(8, args);
    struct tsl_window window = whole(8, 4);
    float seven[16] = {1000000.0f};
    int constants[16] = {1, 2, 3, 4};

    (void)state;
    put(x, seven, sizeof(seven));
    put(c, constants, sizeof(constants));
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(get_int(q, i), 1111100 + 2 * constants[3 - i % 4]);
    driver->kernel_free(kernel);
    driver->mem_free(x);
    driver->mem_free(c);
    driver->mem_free(q);
}

static cl_api_clSetKernelArg real_set_arg;
static unsigned n_set;

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    n_set++;
    return real_set_arg(kernel, index, size, value);
}

static void unchanged_arguments_are_not_set_again(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "set");
    struct tsl_mem *mem = new_mem(64);
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 1)}, others[] = {mem_arg(mem), VALUE_ARG(int, 2)};
    struct tsl_bound_args bound = bind(2, args), other = bind(2, others), bad = bind(1, args);
    struct tsl_window window = whole(16, 0);

    (void)state;
    real_set_arg = table()->clSetKernelArg;
    table()->clSetKernelArg = set_arg;
    n_set = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(n_set, 2);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &other, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(n_set, 4);
    assert_int_equal(get_int(mem, 15), 2);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 15), 1);
    /* An argument that can't be set leaves nothing believed. */
    bad.args = (struct tsl_bound_arg[]){{.kind = TSL_ARG_UNSET}};
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bad, &window}, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    n_set = 0;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(n_set, 2);
    finish(lane);
    table()->clSetKernelArg = real_set_arg;
    driver->kernel_free(kernel);
    driver->mem_free(mem);
}

static void a_null_buffer_is_a_null_pointer(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "add");
    struct tsl_mem *out = new_mem(64), *a = new_mem(64);
    struct tsl_bound_arg args[] = {mem_arg(a), mem_arg(NULL), mem_arg(out)};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(16, 0);

    (void)state;
    assert_int_equal(fill_ints(lane, a, 5, 16, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(out, 15), 1005);
    driver->kernel_free(kernel);
    driver->mem_free(a);
    driver->mem_free(out);
}

static void a_part_of_memory_is_an_argument(void **state)
{
    size_t align = member->caps.base_align;
    struct tsl_dkernel *kernel = new_kernel(program, "set");
    struct tsl_mem *mem = new_mem(3 * align), *part;
    struct tsl_bound_arg args[] = {mem_arg(NULL), VALUE_ARG(int, 6)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(align / 4, 0);

    (void)state;
    assert_int_equal(driver->mem_sub(mem, align, align, &part), CL_SUCCESS);
    args[0].mem = part;
    assert_int_equal(fill_ints(lane, mem, 1, 3 * align / 4, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, align / 4 - 1), 1);
    assert_int_equal(get_int(mem, align / 4), 6);
    assert_int_equal(get_int(mem, 2 * align / 4 - 1), 6);
    assert_int_equal(get_int(mem, 2 * align / 4), 1);
    driver->kernel_free(kernel);
    driver->mem_free(part);
    driver->mem_free(mem);
}

static void a_required_size_need_not_be_named(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "four");
    struct tsl_mem *mem = new_mem(64);
    struct tsl_bound_arg args[] = {mem_arg(mem)};
    struct tsl_bound_args bound = bind(1, args);
    struct tsl_window window = whole(16, 0);

    (void)state;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 15), 4);
    driver->kernel_free(kernel);
    driver->mem_free(mem);
}

static void launch_errors_come_from_the_launch(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "set");
    struct tsl_mem *mem = new_mem(64);
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 1)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(1 << 20, 1 << 20);
    struct tsl_fence *fence = NULL;

    (void)state;
    assert_true(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, &fence) < 0);
    assert_null(fence);
    finish(lane);
    driver->kernel_free(kernel);
    driver->mem_free(mem);
}

static void offsets_and_windows(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "set");
    struct tsl_mem *mem = new_mem(256 * sizeof(int));
    struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, 1)};
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_kernel_facts proven = {.proven = true, .whole_launch = true};
    struct tsl_window window = whole(64, 8);

    (void)state;
    window.global_offset[0] = 32;
    assert_int_equal(fill_ints(lane, mem, 0, 256, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 31), 0);
    assert_int_equal(get_int(mem, 32), 1);
    assert_int_equal(get_int(mem, 95), 1);
    assert_int_equal(get_int(mem, 96), 0);
    /* A real window: groups 2, 3 and 4 of 8, once it is proven that the kernel doesn't mind. */
    args[1] = VALUE_ARG(int, 2);
    bound = bind(2, args);
    window.whole = false;
    window.group_begin[0] = 2;
    window.group_count[0] = 3;
    assert_false(driver->windows_ok(kernel, &proven));
    proven.whole_launch = false;
    assert_true(driver->windows_ok(kernel, &proven));
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 32 + 15), 1);
    assert_int_equal(get_int(mem, 32 + 16), 2);
    assert_int_equal(get_int(mem, 32 + 39), 2);
    assert_int_equal(get_int(mem, 32 + 40), 1);
    /* A window that is all of it needs no proof. */
    window.group_begin[0] = 0;
    window.group_count[0] = 8;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 95), 2);
    driver->kernel_free(kernel);
    driver->mem_free(mem);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

#define THREADS  4
#define LAUNCHES 40

struct worker {
    struct tsl_dkernel *kernel; /* shared: each launch has its own arguments nevertheless */
    int value;
    bool right;
};

static void *launch_many(void *arg)
{
    struct worker *w = arg;
    struct tsl_lane *own = new_lane(false);
    struct tsl_mem *mem = new_mem(64);
    struct tsl_fence *fence = NULL;
    struct tsl_window window = whole(16, 0);
    int bytes[16] = {0};
    struct tsl_copy copy = linear(NULL, bytes, 0, mem, NULL, 0, sizeof(bytes));

    for (int i = 0; i < LAUNCHES; i++) {
        struct tsl_bound_arg args[] = {mem_arg(mem), VALUE_ARG(int, w->value + i)};
        struct tsl_bound_args bound = bind(2, args);

        assert_int_equal(driver->launch(own, &(struct tsl_launch){w->kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->copy(own, &copy, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->flush(own), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        tsl_fence_unref(fence);
        w->right &= bytes[0] == w->value + i && bytes[15] == w->value + i;
    }
    driver->mem_free(mem);
    driver->lane_free(own);
    return NULL;
}

static void one_kernel_in_several_threads(void **state)
{
    struct tsl_dkernel *kernel = new_kernel(program, "set");
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.kernel = kernel, .value = 1000 * (i + 1), .right = true};
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(workers[i].right);
    }
    driver->kernel_free(kernel);
}

/* ---- The host's memory ---- */

enum { n_shared = 1024 };

/* No map, no copy: only fences between what the kernel and the host do to it. */
static void work_in_place(int *host)
{
    struct tsl_dkernel *kernel = new_kernel(program, "add");
    size_t size = n_shared * sizeof(*host);
    struct tsl_mem *shared, *part, *own = new_mem(size);

    assert_int_equal(driver->mem_alloc(member, size, CL_MEM_READ_WRITE, host, &shared), CL_SUCCESS);
    assert_int_equal(driver->mem_sub(shared, size / 2, size / 2, &part), CL_SUCCESS);
    for (int round = 0; round < 5; round++) {
        struct tsl_bound_arg args[] = {mem_arg(shared), mem_arg(NULL), mem_arg(shared)};
        struct tsl_bound_arg half[] = {mem_arg(part), mem_arg(own), mem_arg(part)};
        struct tsl_bound_args bound = bind(3, args), bound_half = bind(3, half);
        struct tsl_window all = whole(n_shared, 0), part_window = whole(n_shared / 2, 0);

        for (int i = 0; i < n_shared; i++)
            host[i] = i + round;
        assert_int_equal(fill_ints(lane, own, 5, n_shared, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &all}, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound_half, &part_window}, NULL, NULL),
                         CL_SUCCESS);
        finish(lane);
        for (int i = 0; i < n_shared; i++)
            assert_int_equal(host[i], i + round + 1000 + (i < n_shared / 2 ? 0 : 5));
    }
    driver->kernel_free(kernel);
    driver->mem_free(part);
    driver->mem_free(shared);
    driver->mem_free(own);
}

static void the_host_s_memory_is_worked_on(void **state)
{
    char *page = aligned_alloc(4096, 8192);

    (void)state;
    assert_non_null(page);
    assert_true(member->caps.zero_copy);
    work_in_place((int *)page);
    work_in_place((int *)(page + 16)); /* as malloc() gives it to an application */
    free(page);
}

static cl_mem(CL_API_CALL *real_create)(cl_context, cl_mem_flags, size_t, void *, cl_int *);

/* A vendor that copies, as most may. */
static cl_mem CL_API_CALL create_copy(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    if (flags & CL_MEM_USE_HOST_PTR)
        flags ^= CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    return real_create(context, flags, size, host, error);
}

/* The quirks say what to try, the trial says what is. */
static void a_vendor_that_copies_is_found_out(void **state)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);

    (void)state;
    assert_true(tsl_opencl_shares_memory(m));
    real_create = table()->clCreateBuffer;
    table()->clCreateBuffer = create_copy;
    assert_false(tsl_opencl_shares_memory(m));
    table()->clCreateBuffer = real_create;
    m->device->quirks.shares_memory = false;
    assert_false(tsl_opencl_shares_memory(m));
    m->device->quirks.shares_memory = true;
}

static void *build_and_free(void *arg)
{
    for (int i = 0; i < 3; i++)
        driver->program_free(build("kernel void k(global int *p) { p[0] = 1; }"));
    return arg;
}

static void builds_in_several_threads(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, build_and_free, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_build_says_why),
        cmocka_unit_test(options_reach_the_compiler),
        cmocka_unit_test(quoted_options_do_no_harm),
        cmocka_unit_test(kernels_are_listed),
        cmocka_unit_test(a_binary_builds_again),
        cmocka_unit_test(what_is_no_program_is_an_error),
        cmocka_unit_test(arguments_are_told),
        cmocka_unit_test(required_sizes_are_told),
        cmocka_unit_test(several_attributes_are_told),
        cmocka_unit_test(a_program_that_prints_says_so),
        cmocka_unit_test(arguments_of_all_kinds_arrive),
        cmocka_unit_test(unchanged_arguments_are_not_set_again),
        cmocka_unit_test(a_null_buffer_is_a_null_pointer),
        cmocka_unit_test(a_part_of_memory_is_an_argument),
        cmocka_unit_test(a_required_size_need_not_be_named),
        cmocka_unit_test(launch_errors_come_from_the_launch),
        cmocka_unit_test(offsets_and_windows),
        cmocka_unit_test(the_host_s_memory_is_worked_on),
        cmocka_unit_test(a_vendor_that_copies_is_found_out),
        cmocka_unit_test(one_kernel_in_several_threads),
        cmocka_unit_test(builds_in_several_threads),
    };

    return cmocka_run_group_tests_name("vendor kernels", tests, build_program, free_program);
}
