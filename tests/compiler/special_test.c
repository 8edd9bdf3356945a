/*
 * Code for one local size, or for images' formats (cpu_device/special.c): it is made while launches go on, gives what
 * the general code gives, and nobody waits for it.
 */
/* timeout: 200 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_CACHE=off */
#include "cpu_bed.h"
#include "cpu_device/special.h"

#include "base/clock.h"

#include <signal.h>
#include <time.h>

#define N     4096u
#define LOCAL 32u

/* Each group turns its part round, and adds a number. */
static const char source[] =
    "kernel void turn(global int *x, uint n) { local int t[256]; uint l = get_local_id(0), m = get_local_size(0);\n"
    "    for (uint i = 0; i < 3; i++) { t[l] = x[get_global_id(0)] + n; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        x[get_global_id(0)] = t[m - 1 - l]; barrier(CLK_LOCAL_MEM_FENCE); } }\n"
    "kernel void flat(global int *x, uint n) { x[get_global_id(0)] += n; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(global int *x, uint n) {\n"
    "    x[get_global_id(0)] += get_local_id(0); }\n";

struct rig {
    struct tsl_dprogram *program;
    struct tsl_dkernel *kernel;
    struct tsl_mem *mem;
    int right[N];
};

static void open_rig(struct rig *rig, const char *text, const char *name)
{
    rig->program = bed_build(text, "");
    rig->kernel = bed_kernel(rig->program, name);
    rig->mem = new_mem(N * sizeof(int));
    for (unsigned i = 0; i < N; i++)
        bed_ints(rig->mem)[i] = rig->right[i] = (int)i;
}

static void close_rig(struct rig *rig)
{
    driver->kernel_free(rig->kernel);
    driver->program_free(rig->program);
    driver->mem_free(rig->mem);
}

static struct cpu_special *special(const struct rig *rig, uint64_t global, uint64_t local)
{
    struct tsl_wg_launch launch = {.global_size = {global, 1, 1}, .local_size = {local, 1, 1}};

    return cpu_special_of(((struct cpu_program *)rig->program)->specials, ((struct cpu_kernel *)rig->kernel)->code,
                          &launch);
}

static void launch_and_check(struct rig *rig)
{
    int before[LOCAL];

    bed_launch(lane, rig->kernel, rig->mem, 5, N, LOCAL, NULL, NULL);
    finish(lane);
    for (unsigned group = 0; group < N; group += LOCAL) {
        memcpy(before, rig->right + group, sizeof(before));
        for (unsigned i = 0; i < LOCAL; i++)
            rig->right[group + i] = before[LOCAL - 1 - i] + 15;
    }
    assert_memory_equal(bed_ints(rig->mem), rig->right, sizeof(rig->right));
}

/* At least `least`, within a minute. */
static void launch_until(struct rig *rig, enum cpu_special_state least)
{
    uint64_t end = tsl_clock_ns() + UINT64_C(60000000000);

    while (cpu_special_state(special(rig, N, LOCAL)) < least) {
        assert_true(tsl_clock_ns() < end);
        launch_and_check(rig);
    }
    assert_int_not_equal(cpu_special_state(special(rig, N, LOCAL)), CPU_NONE);
}

static void a_size_is_compiled_for_beside_the_launches(void **state)
{
    struct rig rig;

    (void)state;
    cpu_special_set_times(1000000, 2000000);
    open_rig(&rig, source, "turn");
    assert_int_equal(cpu_special_state(special(&rig, N, LOCAL)), CPU_COUNTING);
    launch_until(&rig, CPU_USED);
    for (int i = 0; i < 100; i++)
        launch_and_check(&rig);
    close_rig(&rig);
}

/* Opens the rig; the compiler's process is the caller's to continue. */
static int ask_a_stopped_compiler(struct rig *rig)
{
    int compiler;

    cpu_special_set_times(1000000, 2000000);
    open_rig(rig, source, "turn");
    compiler = tsl_client_process();
    assert_true(compiler > 0);
    assert_int_equal(kill(compiler, SIGSTOP), 0);
    launch_until(rig, CPU_ASKED);
    return compiler;
}

static void nobody_waits_for_the_compiler(void **state)
{
    struct rig rig;
    int compiler;

    (void)state;
    compiler = ask_a_stopped_compiler(&rig);
    for (int i = 0; i < 300; i++)
        launch_and_check(&rig);
    assert_int_equal(cpu_special_state(special(&rig, N, LOCAL)), CPU_ASKED);
    assert_int_equal(kill(compiler, SIGCONT), 0);
    launch_until(&rig, CPU_TRIAL);
    close_rig(&rig);
}

/* The thread that compiles for it has what it needs. */
static void a_program_may_go_meanwhile(void **state)
{
    struct rig rig;
    int compiler;

    (void)state;
    compiler = ask_a_stopped_compiler(&rig);
    close_rig(&rig);
    assert_int_equal(kill(compiler, SIGCONT), 0);
    /* Jobs are done one after the other: when this one is, so is that. */
    open_rig(&rig, source, "turn");
    launch_until(&rig, CPU_TRIAL);
    close_rig(&rig);
}

static void what_gains_nothing_is_left_alone(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig, source, "flat");
    assert_null(special(&rig, N, LOCAL));
    close_rig(&rig);
    open_rig(&rig, source, "fixed");
    assert_null(special(&rig, N, 8));
    close_rig(&rig);
    open_rig(&rig, source, "turn");
    assert_non_null(special(&rig, N, LOCAL));
    assert_ptr_equal(special(&rig, N, LOCAL), special(&rig, 2 * N, LOCAL));
    assert_null(special(&rig, N + 1, LOCAL)); /* a smaller last group */
    for (uint64_t size = 1; size <= 15; size++)
        assert_non_null(special(&rig, N * size, size));
    assert_null(special(&rig, N * 16, 16));
    close_rig(&rig);
}

/* Code that is made later would have others. */
static void variables_are_those_of_the_general_code(void **state)
{
    static const char text[] =
        "global uint total;\n"
        "kernel void turn(global int *x, uint n) { barrier(CLK_LOCAL_MEM_FENCE); x[get_global_id(0)] = n;\n"
        "    if (!get_local_id(0)) atomic_add((volatile global uint *)&total, n); }\n";
    struct rig rig;

    (void)state;
    rig.program = bed_build(text, "-cl-std=CL2.0");
    rig.kernel = bed_kernel(rig.program, "turn");
    rig.mem = new_mem(N * sizeof(int));
    assert_null(special(&rig, N, LOCAL));
    close_rig(&rig);
}

static void linked_programs_have_it_too(void **state)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source, .size = sizeof(source) - 1, .options = ""};
    struct tsl_dprogram *object;
    struct rig rig;
    char *log = NULL;

    (void)state;
    cpu_special_set_times(1000000, 2000000);
    open_rig(&rig, source, "turn");
    driver->kernel_free(rig.kernel);
    driver->program_free(rig.program);
    assert_int_equal(driver->compile(member, &input, NULL, &object, &log), CL_SUCCESS);
    free(log);
    assert_int_equal(driver->link(member, &(struct tsl_link_input){"", 1, &object}, &rig.program, &log), CL_SUCCESS);
    free(log);
    driver->program_free(object);
    rig.kernel = bed_kernel(rig.program, "turn");
    launch_until(&rig, CPU_TRIAL);
    close_rig(&rig);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

#define WIDTH 64u

static const char shades[] =
    "kernel void shade(read_only image1d_t image, global uint *x) {\n"
    "    uint i = get_global_id(0); x[i] += read_imageui(image, (int)(i % 65)).x; }\n"; /* one is outside */

/* Of one channel; pixel i holds i. */
static struct tsl_mem *image_of(cl_channel_type type, unsigned size)
{
    struct tsl_image_desc desc = {.format = {CL_R, type}, .type = CL_MEM_OBJECT_IMAGE1D};
    struct tsl_mem *image;

    desc.width = WIDTH;
    desc.height = desc.depth = desc.array_size = 1;
    desc.element_size = size;
    desc.row_pitch = desc.slice_pitch = (size_t)WIDTH * size;
    assert_int_equal(driver->image_alloc(member, &desc, CL_MEM_READ_ONLY, NULL, &image), CL_SUCCESS);
    for (unsigned i = 0; i < WIDTH; i++)
        memcpy(((struct cpu_mem *)image)->data + (size_t)i * size, &i, size);
    return image;
}

static struct cpu_special *special_with(const struct rig *rig, struct tsl_mem *image)
{
    const struct tsl_kc_image *desc = &((struct cpu_mem *)image)->image;
    uint64_t block[2] = {(uintptr_t)desc, 0};
    struct tsl_wg_launch launch = {.args = block, .global_size = {N, 1, 1}, .local_size = {LOCAL, 1, 1}};

    return cpu_special_of(((struct cpu_program *)rig->program)->specials, ((struct cpu_kernel *)rig->kernel)->code,
                          &launch);
}

static void shade_and_check(struct rig *rig, struct tsl_mem *image)
{
    struct tsl_bound_arg args[2] = {{.kind = TSL_ARG_MEM, .mem = image}, {.kind = TSL_ARG_MEM, .mem = rig->mem}};
    static atomic_uint serials = 1u << 20;
    struct tsl_bound_args bound = {.serial = atomic_fetch_add(&serials, 1), .n = 2, .args = args};
    struct tsl_window window = {.work_dim = 1, .global_size = {N, 1, 1}, .local_size = {LOCAL, 1, 1}, .whole = true};

    assert_int_equal(driver->launch(lane, &(struct tsl_launch){rig->kernel, &bound, &window}, NULL, NULL), CL_SUCCESS);
    finish(lane);
    for (unsigned i = 0; i < N; i++)
        rig->right[i] += i % 65 < WIDTH ? (int)(i % 65) : 0;
    assert_memory_equal(bed_ints(rig->mem), rig->right, sizeof(rig->right));
}

static void shade_until_compiled(struct rig *rig, struct tsl_mem *image)
{
    uint64_t end = tsl_clock_ns() + UINT64_C(60000000000);

    while (cpu_special_state(special_with(rig, image)) < CPU_USED) {
        assert_true(tsl_clock_ns() < end);
        shade_and_check(rig, image);
    }
    assert_int_not_equal(cpu_special_state(special_with(rig, image)), CPU_NONE);
    for (int i = 0; i < 20; i++)
        shade_and_check(rig, image);
}

static void formats_have_code_of_their_own(void **state)
{
    struct tsl_mem *bytes = image_of(CL_UNSIGNED_INT8, 1), *again = image_of(CL_UNSIGNED_INT8, 1);
    struct tsl_mem *words = image_of(CL_UNSIGNED_INT32, 4);
    struct rig rig;

    (void)state;
    cpu_special_set_times(1000000, 2000000);
    open_rig(&rig, shades, "shade");
    assert_non_null(special_with(&rig, bytes));
    assert_ptr_equal(special_with(&rig, bytes), special_with(&rig, again));
    assert_ptr_not_equal(special_with(&rig, bytes), special_with(&rig, words));
    shade_until_compiled(&rig, bytes);
    shade_until_compiled(&rig, words);
    for (int i = 0; i < 20; i++)
        shade_and_check(&rig, i & 1 ? again : words);
    close_rig(&rig);
    driver->mem_free(bytes);
    driver->mem_free(again);
    driver->mem_free(words);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

#ifdef HAS_SPIRV_MODULES
static void modules_have_it_too(void **state)
{
    struct rig rig;
    char *log = NULL;
    struct tsl_program_input input = {.kind = TSL_PROGRAM_IL, .options = ""};
    void *data = kc_module("turn", &input.size);

    (void)state;
    input.data = data;
    cpu_special_set_times(1000000, 2000000);
    open_rig(&rig, source, "turn");
    driver->kernel_free(rig.kernel);
    driver->program_free(rig.program);
    if (driver->build(member, &input, &rig.program, &log))
        fail_msg("%s", log);
    free(log);
    memset(data, 0, input.size); /* who builds again has a copy */
    rig.kernel = bed_kernel(rig.program, "turn");
    launch_until(&rig, CPU_TRIAL);
    close_rig(&rig);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_is_compiled_for_beside_the_launches),
        cmocka_unit_test(nobody_waits_for_the_compiler),
        cmocka_unit_test(a_program_may_go_meanwhile),
        cmocka_unit_test(linked_programs_have_it_too),
        cmocka_unit_test(formats_have_code_of_their_own),
#ifdef HAS_SPIRV_MODULES
        cmocka_unit_test(modules_have_it_too),
#endif
        cmocka_unit_test(variables_are_those_of_the_general_code),
        cmocka_unit_test(what_gains_nothing_is_left_alone),
    };

    return cmocka_run_group_tests_name("special", tests, bed_open, close_members);
}
