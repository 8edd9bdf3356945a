/* OpenCL C for NVIDIA GPUs: from source to a launch, and separate compilation. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */
#include "compile_client/client.h"
#include "compile_client/compile.h"
#include "cuda_env.h"

#include <stdio.h>
#include <unistd.h>

/* The stand-in knows these kernels by name; a real GPU computes what they say. */
static const char source[] =
    "#ifdef WITH_HEADER\n"
    "#include \"sum.h\"\n"
    "#else\n"
    "int sum(int a, int b) { return a + b; }\n"
    "#endif\n"
    "kernel void vector_add(global const int *a, global const int *b, global int *out) {\n"
    "    out[get_global_id(0)] = sum(a[get_global_id(0)], b[get_global_id(0)]);\n"
    "}\n"
    "kernel void reverse(global int *data, local int *one, local int *two) {\n"
    "    size_t i = get_local_id(0);\n"
    "    one[i] = data[get_global_id(0)];\n"
    "    two[i] = 1000;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    data[get_global_id(0)] = one[get_local_size(0) - 1 - i] + two[i];\n"
    "}\n"
    "kernel void tell_ids(global ulong *out) {\n"
    "    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "    out += 8 * (x - get_global_offset(0) + get_global_size(0) * (y - get_global_offset(1) +\n"
    "                get_global_size(1) * (z - get_global_offset(2))));\n"
    "    out[0] = x; out[1] = y; out[2] = z;\n"
    "    out[3] = get_group_id(0) + 1000 * get_group_id(1) + 1000000 * get_group_id(2);\n"
    "    out[4] = get_local_id(0) + 1000 * get_local_id(1) + 1000000 * get_local_id(2);\n"
    "    out[5] = get_local_size(0) + 1000 * get_local_size(1) + 1000000 * get_local_size(2);\n"
    "    out[6] = get_num_groups(0) + 1000 * get_num_groups(1) + 1000000 * get_num_groups(2);\n"
    "    out[7] += get_work_dim();\n"
    "}\n";

static struct tsl_program_input input_of(const char *text, const char *options)
{
    return (struct tsl_program_input){
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .options = options};
}

/* Without a compiler (it was built without LLVM) that is what is told. */
static bool compiles(void)
{
    struct tsl_program_input input = input_of(source, "");
    struct tsl_dprogram *program = NULL;
    const char *why;
    char *log = NULL;

    if (tsl_compile_available(&why))
        return true;
    assert_int_equal(driver->build(member, &input, &program, &log), CL_COMPILER_NOT_AVAILABLE);
    assert_non_null(log);
    free(log);
    return false;
}

static void check_sum(struct tsl_dprogram *program)
{
    enum { N = 1000 };
    struct tsl_dkernel *kernel = new_kernel(program, "vector_add");
    struct tsl_mem *a = new_mem(4 * N), *b = new_mem(4 * N), *sum = new_mem(4 * N);
    struct tsl_bound_arg args[] = {mem_arg(a), mem_arg(b), mem_arg(sum)};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(N, 0);
    int in[N], out[N];

    for (int i = 0; i < N; i++)
        in[i] = i;
    put(a, in, sizeof(in));
    assert_int_equal(fill_ints(lane, b, 7, N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(sum, out, sizeof(out));
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], i + 7);
    driver->kernel_free(kernel);
    driver->mem_free(a);
    driver->mem_free(b);
    driver->mem_free(sum);
}

static struct tsl_dprogram *build_source(void)
{
    struct tsl_program_input input = input_of(source, "");
    struct tsl_dprogram *program;
    char *log;
    cl_int error = driver->build(member, &input, &program, &log);

    if (error)
        fail_msg("build: %d, %s", error, log);
    free(log);
    return program;
}

static void source_runs(void **state)
{
    struct tsl_dprogram *program;

    (void)state;
    if (!compiles())
        return;
    program = build_source();
    check_sum(program);
    driver->program_free(program);
}

static const char printing[] =
    "kernel void vector_add(global const int *a, global const int *b, global int *out) {\n"
    "    out[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)]; printf(\"printed\\n\");\n"
    "}\n";

/* Where standard output goes meanwhile; what it was. */
static int redirect(int file)
{
    int kept = dup(STDOUT_FILENO);

    fflush(stdout);
    assert_true(kept >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    return kept;
}

/* A program with a kernel that prints, and where it does. */
struct printing {
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem[3];
    FILE *file;
    int kept; /* what standard output was */
    unsigned n_synchronised;
};

static bool open_printing(struct printing *p)
{
    struct tsl_program_input input = input_of(printing, "");
    char *log;

    p->file = tmpfile();
    if (!compiles() || !p->file)
        return false;
    assert_int_equal(driver->build(member, &input, &p->program, &log), CL_SUCCESS);
    free(log);
    p->kernel = new_kernel(p->program, "vector_add");
    for (int i = 0; i < 3; i++)
        p->mem[i] = new_mem(4);
    p->n_synchronised = standin.calls ? standin.calls("cuEventSynchronize") : 0;
    p->kept = redirect(fileno(p->file));
    return true;
}

static struct tsl_fence *print(struct printing *p)
{
    struct tsl_bound_arg args[] = {mem_arg(p->mem[0]), mem_arg(p->mem[1]), mem_arg(p->mem[2])};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(1, 0);
    struct tsl_fence *fence;

    assert_int_equal(driver->launch(lane, &(struct tsl_launch){p->kernel, &bound, &window}, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    return fence;
}

/* The stand-in prints nothing: it counts what makes CUDA do it. */
static void close_printing(struct printing *p)
{
    close(redirect(p->kept));
    close(p->kept);
    if (standin.calls)
        assert_true(standin.calls("cuEventSynchronize") > p->n_synchronised);
    else
        assert_int_equal(lseek(fileno(p->file), 0, SEEK_END), strlen("printed\n"));
    fclose(p->file);
    driver->kernel_free(p->kernel);
    driver->program_free(p->program);
    for (int i = 0; i < 3; i++)
        driver->mem_free(p->mem[i]);
}

/* Nobody waits, the fence is only looked at. */
static void what_a_kernel_prints_is_there_when_it_is_complete(void **state)
{
    struct printing p;
    struct tsl_fence *fence;

    (void)state;
    if (!open_printing(&p))
        return;
    fence = print(&p);
    while (driver->fence_status(fence) > CL_COMPLETE)
        continue;
    close_printing(&p);
    assert_int_equal(driver->fence_status(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
}

/* The bridge thread sees the lane's flag, and asks CUDA nothing. */
static void what_a_kernel_prints_is_there_when_that_is_told(void **state)
{
    struct printing p;
    struct tsl_fence *fence;
    struct told told = {0};

    (void)state;
    if (!open_printing(&p))
        return;
    if (is_standin())
        standin.stop(true);
    fence = print(&p);
    assert_int_equal(driver->fence_notify(fence, tell_test, &told), CL_SUCCESS);
    if (is_standin())
        standin.stop(false);
    wait_until_told(&told);
    close_printing(&p);
    assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
    tsl_fence_unref(fence);
}

static void facts_come_from_the_compiler(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    if (!compiles())
        return;
    program = build_source();
    assert_int_equal(driver->kernel_create(program, "vector_add", &kernel, &facts), CL_SUCCESS);
    assert_true(facts.proven && !facts.prints && !facts.opaque);
    assert_int_equal(facts.args[0].may, TSL_MAY_READ);
    assert_int_equal(facts.args[2].may, TSL_MAY_WRITE);
    assert_true(driver->windows_ok(kernel, &facts));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void local_memory_and_barriers_work(void **state)
{
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem;
    struct tsl_bound_arg args[3] = {
        {0}, {.kind = TSL_ARG_LOCAL, .size = 4 * 33}, {.kind = TSL_ARG_LOCAL, .size = 4 * 64}};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(256, 32);
    int in[256], out[256];

    (void)state;
    if (!compiles())
        return;
    program = build_source();
    kernel = new_kernel(program, "reverse");
    mem = new_mem(sizeof(in));
    args[0] = mem_arg(mem);
    for (int i = 0; i < 256; i++)
        in[i] = i;
    put(mem, in, sizeof(in));
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(mem, out, sizeof(out));
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], 1000 + i / 32 * 32 + 31 - i % 32);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

/* A window with a smaller last group: the compiler's ids and ours agree. */
static void ids_come_out_right(void **state)
{
    const struct tsl_window window = {2, {3, 9, 0}, {20, 13, 1}, {8, 4, 1}, {1, 2, 0}, {2, 2, 1}, false};
    size_t size = 64 * 20 * 13;
    uint64_t *out = malloc(size), *at;
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem;
    struct tsl_bound_arg arg = {0};
    struct tsl_bound_args bound = bind(1, &arg);

    (void)state;
    if (!compiles()) {
        free(out);
        return;
    }
    program = build_source();
    kernel = new_kernel(program, "tell_ids");
    mem = new_mem(size);
    arg = mem_arg(mem);
    assert_int_equal(fill_ints(lane, mem, 0, size / 4, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(mem, out, size);
    assert_int_equal(out[7], 0); /* group (0, 0) is outside */
    at = out + 8 * (19 + 20 * 12);
    assert_true(at[0] == 22 && at[1] == 21 && at[2] == 0 && at[7] == 2);
    assert_int_equal(at[3], 2 + 1000 * 3);
    assert_int_equal(at[4], 3);
    assert_int_equal(at[5], 4 + 1000 * 1 + 1000000);
    assert_int_equal(at[6], 3 + 1000 * 4 + 1000000);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
    free(out);
}

/* The stand-in adds the bits of the sampler that it is given to what it reads, a GPU those of `linear`. */
static const char image_source[] =
    "kernel void image_add(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1)); uint4 p = read_imageui(from, s, at);\n"
    "  write_imageui(to, at, p + (uint4)(0x25, 0, 0, 0));\n"
    "}\n";

static struct tsl_image_desc image_desc(size_t row_pitch)
{
    return (struct tsl_image_desc){.format = {CL_R, CL_UNSIGNED_INT32},
                                   .type = CL_MEM_OBJECT_IMAGE2D,
                                   .width = 37,
                                   .height = 11,
                                   .depth = 1,
                                   .array_size = 1,
                                   .element_size = 4,
                                   .row_pitch = row_pitch,
                                   .slice_pitch = row_pitch * 11};
}

/* An image of its own memory, and one of a buffer's with wider rows. */
static void images_and_samplers_are_passed(void **state)
{
    struct tsl_program_input input = input_of(image_source, "-cl-std=CL1.2");
    struct tsl_image_desc tight = image_desc(37 * 4), wide = image_desc(64 * 4);
    const struct tsl_sampler_desc linear = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR}; /* 0x25 */
    const struct tsl_sampler_desc nearest = {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST};
    struct tsl_bound_arg args[3] = {{0}, {0}, {.kind = TSL_ARG_SAMPLER, .size = sizeof(linear), .value = &linear}};
    struct tsl_bound_args bound = bind(3, args);
    const struct tsl_window window = {2, {0, 0, 0}, {37, 11, 1}, {37, 1, 1}, {0, 0, 0}, {0, 0, 0}, true};
    struct tsl_mem *from, *buffer, *to;
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    uint32_t in[11][37], out[11][64];
    char *log;

    (void)state;
    if (!compiles())
        return;
    if (!standin.calls) /* A GPU reads by it. */
        args[2].value = &nearest;
    assert_int_equal(driver->build(member, &input, &program, &log), CL_SUCCESS);
    free(log);
    kernel = new_kernel(program, "image_add");
    assert_int_equal(driver->image_alloc(member, &tight, CL_MEM_READ_ONLY, NULL, &from), CL_SUCCESS);
    assert_int_equal(from->size, sizeof(in));
    buffer = new_mem(sizeof(out));
    assert_int_equal(driver->image_of(buffer, &wide, &to), CL_SUCCESS);
    for (unsigned i = 0; i < 37 * 11; i++)
        in[i / 37][i % 37] = i * 1000;
    put(from, in, sizeof(in));
    assert_int_equal(fill_ints(lane, buffer, 7, sizeof(out) / 4, NULL, NULL), CL_SUCCESS);
    args[0] = mem_arg(from);
    args[1] = mem_arg(buffer); /* no image */
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    args[1] = mem_arg(to);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(buffer, out, sizeof(out));
    for (unsigned y = 0; y < 11; y++)
        for (unsigned x = 0; x < 64; x++)
            assert_int_equal(out[y][x], x < 37 ? in[y][x] + 0x25 : 7);
    driver->mem_free(to);
    driver->mem_free(buffer);
    driver->mem_free(from);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

/* A row of eight pixels of this format, behind `shift` bytes of a buffer, is read; the kernel's first argument. Returns
 * how many texels were. On a GPU it returns `expected`. */
static unsigned texels_read(cl_channel_order order, size_t shift, unsigned expected)
{
    struct tsl_program_input input = input_of(image_source, "-cl-std=CL1.2");
    struct tsl_image_desc desc = image_desc(8 * 4);
    const struct tsl_sampler_desc nearest = {CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST};
    struct tsl_bound_arg args[3] = {{0}, {0}, {.kind = TSL_ARG_SAMPLER, .size = sizeof(nearest), .value = &nearest}};
    struct tsl_bound_args bound = bind(3, args);
    const struct tsl_window window = {2, {0, 0, 0}, {8, 1, 1}, {8, 1, 1}, {0, 0, 0}, {0, 0, 0}, true};
    struct tsl_mem *buffer = new_mem(1024), *part = NULL, *from, *to;
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    uint32_t in[8], out[8];
    unsigned n;
    char *log;

    desc.width = 8, desc.height = 1, desc.slice_pitch = desc.row_pitch;
    assert_int_equal(driver->build(member, &input, &program, &log), CL_SUCCESS);
    free(log);
    kernel = new_kernel(program, "image_add");
    assert_int_equal(driver->image_alloc(member, &desc, CL_MEM_WRITE_ONLY, NULL, &to), CL_SUCCESS);
    desc.format.image_channel_order = order;
    assert_int_equal(driver->mem_sub(buffer, shift, 512, &part), CL_SUCCESS);
    assert_int_equal(driver->image_of(part, &desc, &from), CL_SUCCESS);
    for (unsigned i = 0; i < 8; i++)
        in[i] = 100 * i;
    put(part, in, sizeof(in));
    args[0] = mem_arg(from), args[1] = mem_arg(to);
    n = standin.calls ? standin.texels() : 0;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    get(to, out, sizeof(out));
    for (unsigned i = 0; i < 8 && order == CL_R; i++)
        assert_int_equal(out[i], 100 * i + (standin.calls ? 0x10 : 0x25));
    n = standin.calls ? standin.texels() - n : expected;
    driver->mem_free(to);
    driver->mem_free(from);
    driver->mem_free(part);
    driver->mem_free(buffer);
    driver->kernel_free(kernel);
    driver->program_free(program);
    return n;
}

/* Also where the memory of a texture has to begin before the image. An order that textures don't know is read by
 * loads. */
static void images_are_read_by_textures_where_they_can(void **state)
{
    (void)state;
    if (!compiles())
        return;
    assert_int_equal(texels_read(CL_R, 0, 8), 8);
    assert_int_equal(texels_read(CL_R, 256, 8), 8);
    assert_int_equal(texels_read(CL_A, 0, 0), 0);
}

static void errors_are_told_as_the_compiler_says(void **state)
{
    struct tsl_program_input input = input_of("kernel void k(void) { undefined_thing = 1; }", "");
    struct tsl_dprogram *program = NULL;
    char *log;

    (void)state;
    if (!compiles())
        return;
    assert_int_equal(driver->build(member, &input, &program, &log), CL_BUILD_PROGRAM_FAILURE);
    assert_null(program);
    assert_non_null(strstr(log, "undefined_thing"));
    free(log);
}

static void parts_are_compiled_and_linked(void **state)
{
    const struct tsl_program_header header = {"sum.h", "int sum(int a, int b);\n", 23};
    const struct tsl_program_headers headers = {1, &header};
    struct tsl_program_input main_input = input_of(source, "-DWITH_HEADER");
    struct tsl_program_input sum_input = input_of("int sum(int a, int b) { return a + b; }\n", "");
    struct tsl_program_input again = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    struct tsl_dprogram *parts[2], *library, *program, *loaded;
    void *data;
    char *log;

    (void)state;
    if (!compiles())
        return;
    assert_int_equal(driver->compile(member, &main_input, &headers, &parts[0], &log), CL_SUCCESS);
    free(log);
    assert_int_equal(driver->compile(member, &sum_input, NULL, &parts[1], &log), CL_SUCCESS);
    free(log);
    assert_int_equal(driver->link(member, &(struct tsl_link_input){"-create-library", 1, &parts[1]}, &library, &log),
                     CL_SUCCESS);
    free(log);
    /* By way of a binary, too; which is no program that could be built by itself. */
    assert_int_equal(driver->program_binary(library, &data, &again.size), CL_SUCCESS);
    again.data = data;
    assert_int_equal(driver->build(member, &again, &program, &log), CL_INVALID_BINARY);
    free(log);
    assert_int_equal(driver->compile(member, &again, NULL, &loaded, &log), CL_SUCCESS);
    free(log);
    free(data);
    driver->program_free(parts[1]);
    parts[1] = loaded;
    assert_int_equal(driver->link(member, &(struct tsl_link_input){"", 2, parts}, &program, &log), CL_SUCCESS);
    free(log);
    for (int i = 0; i < 2; i++)
        driver->program_free(parts[i]);
    driver->program_free(library);
    check_sum(program);
    driver->program_free(program);
}

/* The compiler is beside the library, which isn't where this program is. */
static int open_with_compiler(void **state)
{
    static char *const none[] = {NULL};
    const char *build = getenv("TESELA_BUILD");
    char path[4096];

    snprintf(path, sizeof(path), "%s/kc/tesela-kc", build ? build : ".");
    setenv("TESELA_CACHE", "/dev/null/none", 1); /* Nothing is kept. */
    if (access(path, X_OK) == 0)
        tsl_client_set_program(path, none);
    return open_member(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_runs),
        cmocka_unit_test(what_a_kernel_prints_is_there_when_it_is_complete),
        cmocka_unit_test(what_a_kernel_prints_is_there_when_that_is_told),
        cmocka_unit_test(facts_come_from_the_compiler),
        cmocka_unit_test(local_memory_and_barriers_work),
        cmocka_unit_test(ids_come_out_right),
        cmocka_unit_test(images_and_samplers_are_passed),
        cmocka_unit_test(images_are_read_by_textures_where_they_can),
        cmocka_unit_test(errors_are_told_as_the_compiler_says),
        cmocka_unit_test(parts_are_compiled_and_linked),
    };

    return cmocka_run_group_tests_name("cuda compile", tests, open_with_compiler, close_member);
}
