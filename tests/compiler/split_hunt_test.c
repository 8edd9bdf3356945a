/*
 * Random kernels cut over unlike members: each launch by the API, on all members that there are, must write what the
 * same launch writes on the built-in CPU as a whole.
 *
 * Work-items may read what others write in the same launch, and write the same bytes: then several results are right.
 * So a launch whose result differs counts as wrong only if it is the same in other orders of its work-groups, if each
 * of them has a memory of its own, and on another vendor's device.
 *
 * FOOTPRINT_KERNELS and FOOTPRINT_SEED make another hunt; a kernel that fails is printed with what runs it alone.
 */
/* timeout: 300 */
/* variant: cpu TESELA_MEMBERS=cpu,opencl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_SPLIT=always TESELA_ZERO_COPY=off TESELA_CACHE=off FOOTPRINT_KERNELS=20 */
/* variant: merge TESELA_MEMBERS=cpu,opencl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread pthread pthread" TESELA_SPLIT=always:merge TESELA_ZERO_COPY=off TESELA_CACHE=off FOOTPRINT_KERNELS=10 FOOTPRINT_SEED=1000 */
/* variant: domain CPU_LINE="1 0-0 1" TESELA_MEMBERS=cpu,opencl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_SPLIT=always:domain TESELA_ZERO_COPY=off TESELA_CACHE=off FOOTPRINT_KERNELS=15 FOOTPRINT_SEED=2000 */
#include "cpu_bed.h"
#include "cpu_lines.h"
#include "dispatch.h"
#include "footprint/cut.h"
#include "random_kernel.h"

#include <inttypes.h>

#define PER_PROGRAM 5u
#define LAUNCHES    3u
#define ROOT        (3u * RANDOM_KERNEL_BYTES)
#define BUFFERS     3u
#define TEXT        65536u
#define ORDERS      6u
#define MOST_GROUPS 1024u

static const char options[] = "-cl-std=CL3.0 -w";

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* Where a buffer lies. */
struct place {
    unsigned root;
    size_t offset, size;
};

struct launch {
    struct random_launch chosen;
    struct tsl_window window;
    struct place places[BUFFERS];
};

static uint8_t initial[BUFFERS][ROOT], right[BUFFERS][ROOT], result[BUFFERS][ROOT];
static size_t align = 128;
static bool remainders; /* last groups may be smaller on all members */

/* Mostly in a memory each; else together, where they may overlap. */
static void choose_places(uint64_t *state, struct place places[BUFFERS])
{
    const bool together = random_kernel_chance(state, 4) == 0;

    for (unsigned i = 0; i < BUFFERS; i++) {
        const unsigned blocks = (unsigned)((ROOT - RANDOM_KERNEL_BYTES) / align);
        size_t offset = random_kernel_chance(state, 3) ? 0 : align * random_kernel_chance(state, blocks);
        unsigned more = (unsigned)(ROOT - RANDOM_KERNEL_BYTES - offset);

        places[i] = (struct place){together && i < 2 ? 0 : i, offset,
                                   RANDOM_KERNEL_BYTES + random_kernel_chance(state, more + 1)};
    }
}

static void choose_launch(uint64_t *state, const struct random_kernel *kernel, struct launch *launch)
{
    struct tsl_window *window = &launch->window;

    random_kernel_launch(state, kernel, &launch->chosen);
    *window = (struct tsl_window){.work_dim = kernel->dims, .whole = true};
    for (unsigned d = 0; d < 3; d++) {
        if (!remainders)
            launch->chosen.size[d] -= launch->chosen.size[d] % launch->chosen.local[d];
        window->global_offset[d] = launch->chosen.offset[d];
        window->global_size[d] = launch->chosen.size[d];
        window->local_size[d] = launch->chosen.local[d];
    }
    choose_places(state, launch->places);
    for (unsigned i = 0; i < BUFFERS; i++)
        for (unsigned at = 0; at < ROOT; at += 8) {
            random_kernel_chance(state, 1);
            memcpy(&initial[i][at], state, 8);
        }
}

/* The sizes and places of the arguments that are values. */
struct scalar {
    size_t size;
    const void *value;
};

static void scalars_of(const struct launch *launch, struct scalar scalars[RANDOM_ARGUMENTS - RANDOM_VALUES])
{
    const struct random_values *v = &launch->chosen.values;
    const struct scalar all[] = {{sizeof(v->n), &v->n}, {sizeof(v->m), &v->m}, {sizeof(v->w), &v->w},
                                 {sizeof(v->u), &v->u}, {sizeof(v->q), &v->q}, {sizeof(v->v), &v->v}};

    memcpy(scalars, all, sizeof(all));
}

/* ---- One member, by its driver ------------------------------------------------------------------------------------ */

/* A member, and what a program's kernels and its memory are there. */
struct judge {
    struct tsl_member *member;
    const struct tsl_driver *driver;
    struct tsl_lane *lane;
    struct tsl_mem *roots[BUFFERS];
    struct tsl_dprogram *program;
};

static struct judge judges[2]; /* the built-in CPU, another vendor's */

static void finish_lane(const struct judge *j)
{
    assert_int_equal(j->driver->flush(j->lane), CL_SUCCESS);
    assert_int_equal(j->driver->finish(j->lane), CL_SUCCESS);
}

/* Between the host and the member's memory. */
static void move(struct judge *j, bool back, uint8_t memory[BUFFERS][ROOT])
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        struct tsl_copy copy = back ? linear(NULL, memory[i], 0, j->roots[i], NULL, 0, ROOT)
                                    : linear(j->roots[i], NULL, 0, NULL, memory[i], 0, ROOT);

        assert_int_equal(j->driver->copy(j->lane, &copy, NULL, NULL), CL_SUCCESS);
    }
}

/* Runs windows of the launch one after the other. */
static void judge_launch(struct judge *j, const char *name, const struct launch *launch, unsigned n,
                         const struct tsl_window *windows, uint8_t memory[BUFFERS][ROOT])
{
    struct scalar scalars[RANDOM_ARGUMENTS - RANDOM_VALUES];
    struct tsl_bound_arg args[RANDOM_ARGUMENTS];
    struct tsl_mem *subs[BUFFERS];
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    assert_int_equal(j->driver->kernel_create(j->program, name, &kernel, &facts), CL_SUCCESS);
    move(j, false, initial);
    for (unsigned i = 0; i < BUFFERS; i++) {
        const struct place *place = &launch->places[i];

        assert_int_equal(j->driver->mem_sub(j->roots[place->root], place->offset, place->size, &subs[i]), CL_SUCCESS);
        args[i] = mem_arg(subs[i]);
    }
    args[RANDOM_LOCAL] = (struct tsl_bound_arg){.kind = TSL_ARG_LOCAL, .size = 4 * RANDOM_KERNEL_LOCAL};
    scalars_of(launch, scalars);
    for (unsigned i = RANDOM_VALUES; i < RANDOM_ARGUMENTS; i++)
        args[i] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE,
                                         .size = scalars[i - RANDOM_VALUES].size,
                                         .value = (void *)(uintptr_t)scalars[i - RANDOM_VALUES].value};
    struct tsl_bound_args bound = bind(RANDOM_ARGUMENTS, args);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(j->driver->launch(j->lane, &(struct tsl_launch){kernel, &bound, &windows[i]}, NULL, NULL),
                         CL_SUCCESS);
        finish_lane(j);
    }
    move(j, true, memory);
    finish_lane(j);
    for (unsigned i = 0; i < BUFFERS; i++)
        j->driver->mem_free(subs[i]);
    j->driver->kernel_free(kernel);
    tsl_kernel_facts_finish(&facts);
}

static bool differ(uint8_t a[BUFFERS][ROOT], uint8_t b[BUFFERS][ROOT])
{
    return memcmp(a, b, sizeof(right)) != 0;
}

/* One window for each group. */
static unsigned groups_of(const struct launch *launch, struct tsl_window windows[MOST_GROUPS])
{
    size_t count[3];
    unsigned n = 0;

    for (unsigned d = 0; d < 3; d++)
        count[d] = tsl_cut_groups(&launch->window, d);
    for (size_t i = 0; i < count[0] * count[1] * count[2] && n < MOST_GROUPS; i++) {
        struct tsl_window *w = &windows[n++];

        *w = launch->window;
        w->whole = false;
        w->group_begin[0] = i % count[0];
        w->group_begin[1] = i / count[0] % count[1];
        w->group_begin[2] = i / count[0] / count[1];
        for (unsigned d = 0; d < 3; d++)
            w->group_count[d] = 1;
    }
    return n;
}

static void swap(struct tsl_window *a, struct tsl_window *b)
{
    struct tsl_window w = *a;

    *a = *b;
    *b = w;
}

static bool differs_by(const char *name, const struct launch *launch, unsigned n, const struct tsl_window *windows)
{
    static uint8_t other[BUFFERS][ROOT];

    judge_launch(&judges[0], name, launch, n, windows, other);
    return differ(other, right);
}

/* Does the result depend on the order of the work-groups? First backwards, then in any, then each of them last: of what
 * several write, every one's value is there in one of these. */
static bool depends_on_order(uint64_t *state, const char *name, const struct launch *launch)
{
    static struct tsl_window windows[MOST_GROUPS];
    const unsigned n = groups_of(launch, windows);

    for (unsigned order = 0; order < ORDERS; order++) {
        for (unsigned i = 0; i < (order ? n : n / 2); i++)
            swap(&windows[i], &windows[order ? random_kernel_chance(state, n) : n - 1 - i]);
        if (differs_by(name, launch, n, windows))
            return true;
    }
    for (unsigned i = 0; i < n; i++) {
        swap(&windows[i], &windows[n - 1]);
        if (differs_by(name, launch, n, windows))
            return true;
    }
    return false;
}

/* Does the result depend on what work-groups read that others write? Each runs on memory of its own, and what it
 * changes there counts. */
static bool depends_on_others(const char *name, const struct launch *launch)
{
    static struct tsl_window windows[MOST_GROUPS];
    static uint8_t other[BUFFERS][ROOT], all[BUFFERS][ROOT];
    const unsigned n = groups_of(launch, windows);

    memcpy(all, initial, sizeof(all));
    for (unsigned g = 0; g < n; g++) {
        judge_launch(&judges[0], name, launch, 1, &windows[g], other);
        for (unsigned i = 0; i < BUFFERS; i++)
            for (unsigned at = 0; at < ROOT; at++)
                if (other[i][at] != initial[i][at])
                    all[i][at] = other[i][at];
    }
    return differ(all, right);
}

/* Do items of one group, or the compilers, differ? */
static bool depends_on_member(const char *name, const struct launch *launch)
{
    static uint8_t other[BUFFERS][ROOT];

    judge_launch(&judges[1], name, launch, 1, &launch->window, other);
    return differ(other, right);
}

/* ---- All members, by the API -------------------------------------------------------------------------------------- */

static const struct tsl_dispatch *const cl = &tsl_dispatch_table;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem roots[BUFFERS];
static cl_program program;

static void set_arguments(cl_kernel kernel, const struct launch *launch, cl_mem subs[BUFFERS])
{
    struct scalar scalars[RANDOM_ARGUMENTS - RANDOM_VALUES];
    cl_int error;

    for (cl_uint i = 0; i < BUFFERS; i++) {
        const struct place *place = &launch->places[i];
        const cl_buffer_region region = {place->offset, place->size};

        subs[i] = cl->clCreateSubBuffer(roots[place->root], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(cl->clSetKernelArg(kernel, i, sizeof(subs[i]), &subs[i]), CL_SUCCESS);
    }
    assert_int_equal(cl->clSetKernelArg(kernel, RANDOM_LOCAL, 4 * RANDOM_KERNEL_LOCAL, NULL), CL_SUCCESS);
    scalars_of(launch, scalars);
    for (cl_uint i = RANDOM_VALUES; i < RANDOM_ARGUMENTS; i++)
        assert_int_equal(
            cl->clSetKernelArg(kernel, i, scalars[i - RANDOM_VALUES].size, scalars[i - RANDOM_VALUES].value),
            CL_SUCCESS);
}

static void run_on_all(const char *name, const struct launch *launch)
{
    const struct tsl_window *w = &launch->window;
    cl_mem subs[BUFFERS];
    cl_int error;
    cl_kernel kernel = cl->clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    set_arguments(kernel, launch, subs);
    for (unsigned i = 0; i < BUFFERS; i++)
        assert_int_equal(cl->clEnqueueWriteBuffer(queue, roots[i], CL_FALSE, 0, ROOT, initial[i], 0, NULL, NULL),
                         CL_SUCCESS);
    assert_int_equal(cl->clEnqueueNDRangeKernel(queue, kernel, w->work_dim, w->global_offset, w->global_size,
                                                w->local_size, 0, NULL, NULL),
                     CL_SUCCESS);
    for (unsigned i = 0; i < BUFFERS; i++)
        assert_int_equal(cl->clEnqueueReadBuffer(queue, roots[i], CL_FALSE, 0, ROOT, result[i], 0, NULL, NULL),
                         CL_SUCCESS);
    assert_int_equal(cl->clFinish(queue), CL_SUCCESS);
    for (unsigned i = 0; i < BUFFERS; i++)
        cl->clReleaseMemObject(subs[i]);
    cl->clReleaseKernel(kernel);
}

/* ---- Hunts -------------------------------------------------------------------------------------------------------- */

static struct {
    unsigned launches, orders, others, members, wrong;
} count;

struct made {
    struct random_kernel kernel;
    uint64_t state; /* of its launches */
    char text[TEXT];
};

static struct made made[PER_PROGRAM];

static void print_failure(uint64_t seed, const char *text, const struct launch *launch)
{
    const struct random_values *v = &launch->chosen.values;

    for (unsigned i = 0; i < BUFFERS; i++)
        for (unsigned at = 0, n = 0; at < ROOT && n < 4; at++)
            if (result[i][at] != right[i][at] && ++n)
                print_error("byte %u of memory %u is %02x, not %02x, was %02x\n", at, i, result[i][at], right[i][at],
                            initial[i][at]);
    print_error("FOOTPRINT_SEED=%" PRIu64 " FOOTPRINT_KERNELS=1\n", seed);
    fputs(text, stderr);
    for (unsigned d = 0; d < launch->window.work_dim; d++)
        print_error("dimension %u: offset %zu, size %zu, local %zu\n", d, launch->chosen.offset[d],
                    launch->chosen.size[d], launch->chosen.local[d]);
    print_error("n %d, m %d, w %d, u %u, q %" PRId64 ", v %d %d %d\n", v->n, v->m, v->w, v->u, v->q, v->v.x, v->v.y,
                v->v.z);
    for (unsigned i = 0; i < BUFFERS; i++)
        print_error("argument %u: memory %u, offset %zu, %zu bytes\n", i, launch->places[i].root,
                    launch->places[i].offset, launch->places[i].size);
}

static void try_kernel(unsigned i, uint64_t seed)
{
    char name[16];

    snprintf(name, sizeof(name), "k%u", i);
    for (unsigned l = 0; l < LAUNCHES; l++) {
        struct launch launch;

        choose_launch(&made[i].state, &made[i].kernel, &launch);
        if (launch.window.global_size[0] * launch.window.global_size[1] * launch.window.global_size[2] == 0)
            continue;
        count.launches++;
        judge_launch(&judges[0], name, &launch, 1, &launch.window, right);
        run_on_all(name, &launch);
        if (!differ(result, right))
            continue;
        if (depends_on_order(&made[i].state, name, &launch)) {
            count.orders++;
        } else if (depends_on_others(name, &launch)) {
            count.others++;
        } else if (depends_on_member(name, &launch)) {
            count.members++;
        } else {
            count.wrong++;
            print_failure(seed, made[i].text, &launch);
        }
    }
}

static void build_for(struct judge *j, const char *source)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source), .options = options};
    char *log = NULL;

    if (j->driver->build(j->member, &input, &j->program, &log))
        fail_msg("%s", log);
    free(log);
}

static void build(const char *source)
{
    cl_int error;

    program = cl->clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(cl->clBuildProgram(program, 1, &device, options, NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 2; i++)
        build_for(&judges[i], source);
}

static void hunt_in_program(uint64_t first, unsigned n)
{
    static char source[PER_PROGRAM * TEXT + 4096];
    size_t used = (size_t)snprintf(source, sizeof(source), "%s", random_kernel_head);

    for (unsigned i = 0; i < n; i++) {
        char name[16];

        made[i].state = (first + i + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
        snprintf(name, sizeof(name), "k%u", i);
        random_kernel_write(&made[i].state, name, &made[i].kernel, made[i].text, sizeof(made[i].text));
        used += (size_t)snprintf(source + used, sizeof(source) - used, "%s", made[i].text);
    }
    build(source);
    for (unsigned i = 0; i < n; i++)
        try_kernel(i, first + i);
    for (unsigned i = 0; i < 2; i++)
        judges[i].driver->program_free(judges[i].program);
    cl->clReleaseProgram(program);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void cut_launches_write_what_whole_ones_do(void **state)
{
    const uint64_t first = setting("FOOTPRINT_SEED", 0), end = first + setting("FOOTPRINT_KERNELS", 30);

    (void)state;
    for (uint64_t seed = first; seed < end;) {
        unsigned n = PER_PROGRAM - (unsigned)(seed % PER_PROGRAM);

        n = end - seed < n ? (unsigned)(end - seed) : n;
        hunt_in_program(seed, n);
        seed += n;
        if (seed % 100 == 0 || seed == end)
            print_message("to %" PRIu64 ": %u launches, %u differ by the order of groups, %u by what others write, "
                          "%u by the member, %u are wrong\n",
                          seed, count.launches, count.orders, count.others, count.members, count.wrong);
    }
    assert_int_equal(count.wrong, 0);
}

/* ---- The members --------------------------------------------------------------------------------------------------- */

static void open_judge(struct judge *j, const char *name)
{
    for (unsigned i = 0; i < n_members && !j->member; i++)
        if (strcmp(members[i]->driver->name, name) == 0)
            j->member = members[i];
    assert_non_null(j->member);
    j->driver = j->member->driver;
    assert_int_equal(j->driver->lane_create(j->member, 0, &j->lane), CL_SUCCESS);
    for (unsigned i = 0; i < BUFFERS; i++)
        assert_int_equal(j->driver->mem_alloc(j->member, ROOT, CL_MEM_READ_WRITE, NULL, &j->roots[i]), CL_SUCCESS);
}

static int open_all(void **state)
{
    cl_platform_id platform;
    cl_uint bits = 0;
    cl_bool may = CL_FALSE;
    cl_int error;

    if (bed_open(state))
        return -1;
    open_judge(&judges[0], "cpu");
    open_judge(&judges[1], "opencl");
    assert_int_equal(tsl_api_clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    cl->clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits, NULL);
    cl->clGetDeviceInfo(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(may), &may, NULL);
    align = bits / 8 > align ? bits / 8 : align;
    remainders = may;
    context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    queue = cl->clCreateCommandQueue(context, device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (unsigned i = 0; i < BUFFERS; i++)
        roots[i] = cl->clCreateBuffer(context, CL_MEM_READ_WRITE, ROOT, NULL, &error);
    return 0;
}

/* The members stay: what the API destroys it may destroy a little later. */
static int close_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BUFFERS; i++)
        cl->clReleaseMemObject(roots[i]);
    cl->clReleaseCommandQueue(queue);
    cl->clReleaseContext(context);
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < BUFFERS; i++)
            judges[k].driver->mem_free(judges[k].roots[i]);
        judges[k].driver->lane_free(judges[k].lane);
    }
    driver->lane_free(lane);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(cut_launches_write_what_whole_ones_do)};

    cpu_lines_use(2);
    return _cmocka_run_group_tests("split_hunt", tests, 1, open_all, close_all);
}
