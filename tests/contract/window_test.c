/* Windows of launches: random boxes of work-groups, of launches in one to three dimensions, with offsets and smaller
 * last groups, answer whatever a kernel may ask as the whole launch does, and touch nothing else. Vendors get the text
 * that the kernel compiler makes for them. */
/* timeout: 120 */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic WINDOWS=50 */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread WINDOWS=50 */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind WINDOWS=150 */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl WINDOWS=100 */
#include "compile_client/client.h"
#include "compile_client/compile.h"
#include "driver_env.h"
#include "facts/build_options.h"

#include <stdio.h>

enum { N_ANSWERS = 24 };

/* Asks by functions that come later, macros, brackets, parameters of functions, another kernel, in a loop's head and
 * in the place of a dimension; and begins with words that a vendor might understand otherwise. */
static const char source[] =
    "#ifdef __opencl_c_integer_dot_product_input_4x8bit\n"
    "#define FIRST 0\n"
    "#elif defined(cl_khr_fp64) || __OPENCL_VERSION__ >= 120\n"
    "#define FIRST 0\n"
    "#else\n"
    "#define FIRST 0\n"
    "#endif\n"
    "#define PUT(i, x) to[i] = (ulong)(x)\n"
    "#define ASK(what, d) get_##what(d)\n"
    "ulong groups(uint d);\n"
    "static ulong linear(void) {\n"
    "    return (ASK(global_id, 2) - get_global_offset(2)) * get_global_size(1) * get_global_size(0) +\n"
    "        (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - "
    "get_global_offset(0);\n"
    "}\n"
    "uint one(uint d) { return d; }\n"
    "kernel void sizes(global ulong *to, uint more) {\n"
    "    for (uint d = 0; d < min((uint)get_num_groups(more) * 3u, 3u); d++)\n"
    "        PUT(d, get_global_size(one(d)));\n"
    "}\n"
    "kernel void ask(global ulong *all, const ulong4 origin, ulong width, ulong height, uint more) {\n"
    "    size_t at = ((get_global_id(2) - origin.z) * height + get_global_id(1) - origin.y) * width +\n"
    "        get_global_id(0) - origin.x;\n"
    "    global ulong *to = all + at * 24;\n"
    "    sizes(to, more);\n"
    "    for (int d = 0; d < 3; d++) {\n"
    "        PUT(3 + d, ASK(group_id, d)); PUT(6 + d, groups(d)); PUT(9 + d, get_global_offset(d));\n"
    "        PUT(12 + d, get_local_id(d)); PUT(15 + d, get_local_size(d));\n"
    "    }\n"
    "    to[18] = linear() + FIRST; to[19] = get_work_dim();\n"
    "    to[20] = get_global_offset(14 + more); to[21] = get_num_groups(more) + get_global_size(6 + more);\n"
    "    to[22] = as_uint(convert_float((uint)(get_group_id(one(0)))));\n"
    "    to[23] = CLK_LOCAL_MEM_FENCE != CLK_GLOBAL_MEM_FENCE;\n"
    "}\n"
    "ulong groups(uint d) { return get_num_groups(d); }\n";

static struct tsl_dprogram *program;
static struct tsl_dkernel *kernel;
static bool takes_texts; /* the member runs a text for windows: it has none of its own (TEXTS=no: a node's) */
static bool remainders;  /* launches may have smaller last groups */
static unsigned n_windows = 400;

static bool takes_remainders(void)
{
    cl_bool may = CL_FALSE;
    size_t size;

    return driver->info(member->path, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(may), &may, &size) ==
               CL_SUCCESS &&
           may;
}

static void give_windows(const char *options)
{
    struct tsl_wire_build request = {.target = TSL_WIRE_WINDOWS, .source = (char *)source, .options = (char *)options};
    struct tsl_compiled compiled;
    struct tsl_program_input text = {.kind = TSL_PROGRAM_SOURCE, .options = options};

    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    if (!compiled.built.artefact_size)
        fail_msg("%s", compiled.built.log);
    text.data = compiled.built.artefact;
    text.size = compiled.built.artefact_size;
    assert_int_equal(driver->windows_by(program, &text), takes_texts ? CL_SUCCESS : CL_INVALID_OPERATION);
    tsl_compiled_finish(&compiled);
}

/* With remainders in the newest language that has them and that the compiler takes (oclgrind's headers have errors in
 * that of 3.0). */
static void build_program(void)
{
    static const char *const versions[] = {"-cl-std=CL3.0", "-cl-std=CL2.0", ""};
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source)};
    struct tsl_kernel_facts facts;
    cl_int error = CL_SUCCESS;
    char *log = NULL;

    for (unsigned i = remainders ? 0 : 2; i < 3 && !program; i++) {
        free(log);
        input.options = versions[i];
        error = driver->build(member, &input, &program, &log);
    }
    if (error)
        fail_msg("build: %d, %s", error, log);
    free(log);
    remainders &= *input.options != 0;
    if (driver->windows_by)
        give_windows(input.options);
    assert_int_equal(driver->kernel_create(program, "ask", &kernel, &facts), CL_SUCCESS);
    assert_int_equal(facts.n_args, 5);
    assert_true(driver->windows_ok(kernel, &facts));
    assert_true(facts.of_windows == takes_texts);
    tsl_kernel_facts_finish(&facts);
}

static int open_and_build(void **state)
{
    static char path[4096];
    const char *build = getenv("TESELA_BUILD"), *n = getenv("WINDOWS"), *texts = getenv("TEXTS");

    if (build && snprintf(path, sizeof(path), "%s/kc/tesela-kc", build) > 0 && access(path, X_OK) == 0)
        tsl_client_set_program(path, NULL);
    if (n)
        n_windows = (unsigned)atoi(n);
    if (open_members(state))
        return -1;
    takes_texts = driver->windows_by && !(texts && strcmp(texts, "no") == 0);
    remainders = takes_remainders();
    build_program();
    return 0;
}

static int close_and_free(void **state)
{
    driver->kernel_free(kernel);
    driver->program_free(program);
    return close_members(state);
}

static unsigned random_below(unsigned n)
{
    static uint64_t seed = 4711;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* A launch, and a box of its groups. */
static struct tsl_window random_window(void)
{
    struct tsl_window w = {.work_dim = 1 + random_below(3), .whole = random_below(8) == 0};

    for (unsigned d = 0; d < 3; d++) {
        bool inside = d < w.work_dim;
        size_t local = inside ? 1 + random_below(5) : 1, groups = inside ? 1 + random_below(6) : 1;

        w.local_size[d] = local;
        w.global_size[d] = local * groups - (inside && remainders ? random_below((unsigned)local) : 0);
        w.global_offset[d] = inside && random_below(2) ? random_below(1000) : 0;
        w.group_begin[d] = random_below((unsigned)groups);
        w.group_count[d] = 1 + random_below((unsigned)(groups - w.group_begin[d]));
    }
    return w;
}

static bool is_inside(const struct tsl_window *w, const size_t group[3])
{
    for (unsigned d = 0; d < 3; d++)
        if (!w->whole && (group[d] < w->group_begin[d] || group[d] >= w->group_begin[d] + w->group_count[d]))
            return false;
    return true;
}

/* What the work-item at that place of the launch answers. */
static void expect(const struct tsl_window *w, const size_t place[3], uint64_t answers[N_ANSWERS])
{
    for (unsigned d = 0; d < 3; d++) {
        size_t group = place[d] / w->local_size[d], left = w->global_size[d] - group * w->local_size[d];

        answers[d] = w->global_size[d];
        answers[3 + d] = group;
        answers[6 + d] = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
        answers[9 + d] = w->global_offset[d];
        answers[12 + d] = place[d] % w->local_size[d];
        answers[15 + d] = left < w->local_size[d] ? left : w->local_size[d];
    }
    answers[18] = (place[2] * w->global_size[1] + place[1]) * w->global_size[0] + place[0];
    answers[19] = w->work_dim;
    answers[20] = 0;
    answers[21] = 2;
    float group = (float)(uint32_t)answers[3];
    uint32_t bits;
    memcpy(&bits, &group, sizeof(bits));
    answers[22] = bits;
    answers[23] = 1;
}

static void check(const struct tsl_window *w, const uint64_t *found)
{
    uint64_t expected[N_ANSWERS];
    size_t place[3];

    for (place[2] = 0; place[2] < w->global_size[2]; place[2]++)
        for (place[1] = 0; place[1] < w->global_size[1]; place[1]++)
            for (place[0] = 0; place[0] < w->global_size[0]; place[0]++, found += N_ANSWERS) {
                const size_t group[3] = {place[0] / w->local_size[0], place[1] / w->local_size[1],
                                         place[2] / w->local_size[2]};

                expect(w, place, expected);
                if (!is_inside(w, group))
                    memset(expected, 0xee, sizeof(expected));
                for (unsigned i = 0; i < N_ANSWERS; i++)
                    if (found[i] != expected[i])
                        fail_msg("answer %u at %zu %zu %zu is %lu instead of %lu", i, place[0], place[1], place[2],
                                 (unsigned long)found[i], (unsigned long)expected[i]);
            }
}

static void run(const struct tsl_window *w, struct tsl_mem *mem, uint64_t *found)
{
    const cl_ulong origin[4] = {w->global_offset[0], w->global_offset[1], w->global_offset[2], 0};
    const struct tsl_bound_arg args[] = {mem_arg(mem),
                                         {.kind = TSL_ARG_VALUE, .size = sizeof(origin), .value = origin},
                                         VALUE_ARG(cl_ulong, w->global_size[0]),
                                         VALUE_ARG(cl_ulong, w->global_size[1]),
                                         VALUE_ARG(cl_uint, 3)};
    const struct tsl_bound_args bound = bind(5, args);
    size_t size = w->global_size[0] * w->global_size[1] * w->global_size[2] * N_ANSWERS * sizeof(uint64_t);

    memset(found, 0xee, size);
    put(mem, found, size);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, w}, NULL, NULL), CL_SUCCESS);
    get(mem, found, size);
}

static void windows_answer_as_the_whole_launch(void **state)
{
    size_t most = (size_t)30 * 30 * 30 * N_ANSWERS * sizeof(uint64_t);
    struct tsl_mem *mem = new_mem(most);
    uint64_t *found = malloc(most);

    (void)state;
    for (unsigned i = 0; i < n_windows; i++) {
        struct tsl_window w = random_window();

        run(&w, mem, found);
        check(&w, found);
    }
    free(found);
    driver->mem_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_answer_as_the_whole_launch),
    };

    return cmocka_run_group_tests(tests, open_and_build, close_and_free);
}
