/*
 * Random kernels on the built-in CPU under TESELA_CHECK=access, in random launches: is each access within the kernel's
 * footprint, and is stored what is said to be surely written? Each launch is also cut, where that is legal: each share
 * runs on a memory of its own that holds nothing but what the share is said to need, and what the shares wrote, put
 * together, must be what the whole launch wrote. Then faults are put into footprints, and each kind must be found.
 *
 * FOOTPRINT_KERNELS and FOOTPRINT_SEED make another hunt; a kernel that fails is printed with what runs it alone.
 */
/* timeout: 300 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_CHECK=access TESELA_CACHE=off */
#include "cpu_bed.h"
#include "cpu_device/program.h"
#include "footprint/cut.h"
#include "random_kernel.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>

#define PER_PROGRAM 50u
#define LAUNCHES    3u
#define ROOT        (3u * RANDOM_KERNEL_BYTES)
#define BUFFERS     3u
#define MEMORIES    (BUFFERS + RANDOM_N_IMAGES)
#define MAX_SHARES  5u
#define TEXT        65536u

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

enum fault { NO_FAULT, DROPPED_GUARD, WRAPPED_INDEX, LOST_STRIDE, FALSE_SURE, MISSING_ALIAS, WHOLE_HULL, N_FAULTS };

static const char *const fault_names[N_FAULTS] = {"none",
                                                  "a dropped guard",
                                                  "an index that doesn't wrap",
                                                  "a lost stride",
                                                  "a false sure write",
                                                  "a missing alias",
                                                  "a hull moved whole"};

static enum fault fault;

/* A narrower number made wide again is its wide original. */
static bool forget_wrap(struct tsl_footprint *footprint, uint32_t i)
{
    struct tsl_node *node = &footprint->nodes[i];
    const struct tsl_node *narrow = &footprint->nodes[node->a];

    if ((node->op != TSL_NODE_ZEXT && node->op != TSL_NODE_SEXT) || narrow->op != TSL_NODE_TRUNC ||
        footprint->nodes[narrow->a].bits != node->bits || narrow->bits >= 32)
        return false;
    *node = (struct tsl_node){.op = TSL_NODE_OR, .bits = node->bits, .a = narrow->a, .b = narrow->a};
    return true;
}

static bool forget_stride(struct tsl_footprint *footprint, uint32_t i)
{
    struct tsl_node *node = &footprint->nodes[i];

    if (node->op != TSL_NODE_MUL)
        return false;
    node->op = TSL_NODE_OR;
    node->b = node->a;
    return true;
}

/* False: the fault has no place in the footprint, or is none of the footprint's. */
static bool put_fault(struct tsl_footprint *footprint)
{
    bool any = false;

    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        struct tsl_access *access = &footprint->accesses[i];

        if (fault == DROPPED_GUARD && access->n_guards > 0 && access->flags & TSL_ACCESS_SURE) {
            access->n_guards--;
            any = true;
        }
        if (fault == FALSE_SURE && access->kind == TSL_ACCESS_WRITE && access->address[0] != TSL_FOOTPRINT_NONE &&
            !(access->flags & TSL_ACCESS_SURE)) {
            access->flags |= TSL_ACCESS_SURE;
            any = true;
        }
    }
    for (uint32_t i = 0; i < footprint->n_nodes; i++)
        any |= (fault == WRAPPED_INDEX && forget_wrap(footprint, i)) ||
               (fault == LOST_STRIDE && forget_stride(footprint, i));
    return any;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static struct tsl_mem *roots[MEMORIES]; /* the buffers', then the images */
static uint8_t initial[MEMORIES][ROOT], whole_result[MEMORIES][ROOT], result[MEMORIES][ROOT];
static bool with_images; /* have the kernels some? */

static unsigned n_memories(void)
{
    return with_images ? MEMORIES : BUFFERS;
}

/* Which argument the memory is. */
static unsigned argument_of(unsigned memory)
{
    return memory < BUFFERS ? memory : RANDOM_IMAGES + memory - BUFFERS;
}

struct launch {
    struct random_launch chosen;
    struct tsl_window window;
    struct cpu_mem views[BUFFERS];
    unsigned root_of[MEMORIES];
    struct tsl_sampler_desc sampler;
    uint64_t seen_sampler;
    struct tsl_bound_arg args[RANDOM_WITH_IMAGES];
    struct tsl_argument_value values[RANDOM_WITH_IMAGES];
    struct tsl_cut_memory memories[RANDOM_WITH_IMAGES];
};

static uint8_t *data_of(unsigned root)
{
    return (uint8_t *)((struct cpu_mem *)roots[root])->data;
}

/* Buffers mostly have a memory each; sometimes two or all of them lie in one, and overlap or don't. */
static void place_buffers(uint64_t *state, struct launch *launch)
{
    const bool together = random_kernel_chance(state, 4) == 0 || fault == MISSING_ALIAS;

    for (unsigned i = 0; i < BUFFERS; i++) {
        unsigned root = together && (i == 1 || random_kernel_chance(state, 3) == 0) ? 0 : i;
        unsigned offset =
            random_kernel_chance(state, 3) ? 0 : 128 * random_kernel_chance(state, (ROOT - RANDOM_KERNEL_BYTES) / 128);
        unsigned most = ROOT - RANDOM_KERNEL_BYTES - offset;

        launch->root_of[i] = root;
        launch->views[i] = *(struct cpu_mem *)roots[root];
        launch->views[i].data += offset;
        launch->views[i].base.size = RANDOM_KERNEL_BYTES + random_kernel_chance(state, most + 1);
        launch->args[i] = mem_arg(&launch->views[i].base);
        launch->values[i].memory = launch->views[i].base.size;
        launch->memories[i] = (struct tsl_cut_memory){.root = roots[fault == MISSING_ALIAS ? i : root],
                                                      .offset = offset,
                                                      .size = launch->values[i].memory,
                                                      .may_write = true};
    }
}

static void place_images(uint64_t *state, struct launch *launch)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP};

    for (unsigned i = BUFFERS; i < MEMORIES; i++) {
        const struct cpu_mem *image = (const struct cpu_mem *)roots[i];
        const unsigned argument = argument_of(i);

        launch->root_of[i] = i;
        launch->args[argument] = mem_arg(roots[i]);
        launch->values[argument] = (struct tsl_argument_value){
            .value = &image->image, .size = sizeof(image->image), .memory = image->base.size, .pixels = &image->pixels};
        launch->memories[argument] =
            (struct tsl_cut_memory){.root = roots[i], .size = image->base.size, .may_write = true};
    }
    launch->sampler =
        (struct tsl_sampler_desc){.addressing = modes[random_kernel_chance(state, 2)], .filter = CL_FILTER_NEAREST};
    launch->seen_sampler = tsl_kc_sampler(&launch->sampler);
    launch->args[RANDOM_SAMPLER] = (struct tsl_bound_arg){.kind = TSL_ARG_SAMPLER, .value = &launch->sampler};
    launch->values[RANDOM_SAMPLER] =
        (struct tsl_argument_value){.value = &launch->seen_sampler, .size = sizeof(launch->seen_sampler)};
}

static void set_value(struct launch *launch, unsigned i, const void *value, size_t size)
{
    launch->args[i] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = size, .value = (void *)(uintptr_t)value};
    launch->values[i] = (struct tsl_argument_value){.value = value, .size = size};
}

static void choose_launch(uint64_t *state, const struct random_kernel *kernel, struct launch *launch)
{
    const struct random_values *values = &launch->chosen.values;

    memset(launch, 0, sizeof(*launch));
    random_kernel_launch(state, kernel, &launch->chosen);
    launch->window = (struct tsl_window){.work_dim = kernel->dims, .whole = true};
    for (unsigned d = 0; d < 3; d++) {
        launch->window.global_offset[d] = launch->chosen.offset[d];
        launch->window.global_size[d] = launch->chosen.size[d];
        launch->window.local_size[d] = launch->chosen.local[d];
    }
    place_buffers(state, launch);
    if (with_images)
        place_images(state, launch);
    launch->args[RANDOM_LOCAL] = (struct tsl_bound_arg){.kind = TSL_ARG_LOCAL, .size = 4 * RANDOM_KERNEL_LOCAL};
    set_value(launch, RANDOM_VALUES, &values->n, sizeof(values->n));
    set_value(launch, RANDOM_VALUES + 1, &values->m, sizeof(values->m));
    set_value(launch, RANDOM_VALUES + 2, &values->w, sizeof(values->w));
    set_value(launch, RANDOM_VALUES + 3, &values->u, sizeof(values->u));
    set_value(launch, RANDOM_VALUES + 4, &values->q, sizeof(values->q));
    set_value(launch, RANDOM_VALUES + 5, &values->v, sizeof(values->v));
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

static void for_rows(const struct tsl_byte_set *set, uint64_t memory,
                     void (*visit)(void *data, uint64_t offset, uint64_t size), void *data)
{
    if (set->unknown)
        visit(data, 0, memory);
    for (unsigned b = 0; b < set->n; b++) {
        const struct tsl_byte_box *box = &set->boxes[b];

        for (uint64_t i = 0; i < box->count[0] * box->count[1]; i++)
            visit(data, box->offset + i % box->count[0] * box->stride[0] + i / box->count[0] * box->stride[1],
                  box->width);
    }
}

/* From one memory to another. */
struct move {
    uint8_t *to;
    const uint8_t *from;
};

static void move_row(void *data, uint64_t offset, uint64_t size)
{
    const struct move *move = data;

    memcpy(move->to + offset, move->from + offset, size);
}

static void move_set(const struct tsl_byte_set *set, uint64_t memory, uint8_t *to, const uint8_t *from)
{
    struct move move = {to, from};
    uint64_t begin, end;

    if (fault == WHOLE_HULL && tsl_byte_set_hull(set, memory, &begin, &end))
        move_row(&move, begin, end - begin);
    else
        for_rows(set, memory, move_row, &move);
}

static void unmark_row(void *data, uint64_t offset, uint64_t size)
{
    memset((uint8_t *)data + offset, 0, size);
}

static void mark_row(void *data, uint64_t offset, uint64_t size)
{
    memset((uint8_t *)data + offset, 1, size);
}

/* A share's memory holds what it reads, and what it may write and isn't sure to; all else is rubbish. */
static void fetch(const struct launch *launch, const struct tsl_argument_touch *touches)
{
    static uint8_t needed[ROOT];

    for (unsigned i = 0; i < n_memories(); i++)
        memset(data_of(i), 0xa5, roots[i]->size);
    for (unsigned i = 0; i < n_memories(); i++) {
        const unsigned root = launch->root_of[i], argument = argument_of(i);
        const uint64_t memory = launch->values[argument].memory, offset = launch->memories[argument].offset;

        memset(needed, 0, memory);
        for_rows(&touches[argument].write, memory, mark_row, needed);
        for_rows(&touches[argument].sure, memory, unmark_row, needed);
        for_rows(&touches[argument].read, memory, mark_row, needed);
        for (uint64_t at = 0; at < memory; at++)
            if (needed[at])
                data_of(root)[offset + at] = initial[root][offset + at];
    }
}

static void collect(const struct launch *launch, const struct tsl_argument_touch *touches)
{
    for (unsigned i = 0; i < n_memories(); i++) {
        const unsigned root = launch->root_of[i], argument = argument_of(i);
        const uint64_t offset = launch->memories[argument].offset;

        move_set(&touches[argument].write, launch->values[argument].memory, result[root] + offset,
                 data_of(root) + offset);
    }
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static struct {
    unsigned kernels, unknown, launches, cut, shares, racy, forbidden[TSL_N_CUT_WHYS];
} count;

static const char *wrong; /* what was found; NULL: nothing */

/* In one piece, so group after group: work-groups that write the same bytes do so in the same order each time. */
static bool run_window(struct tsl_dkernel *kernel, const struct launch *launch, const struct tsl_window *window)
{
    struct tsl_bound_args bound = bind(with_images ? RANDOM_WITH_IMAGES : RANDOM_ARGUMENTS, launch->args);
    struct tsl_fence *fence;
    cl_int status;

    atomic_store(&((struct cpu_kernel *)kernel)->group_ps, 1);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, window}, NULL, &fence), CL_SUCCESS);
    status = driver->fence_wait(fence);
    tsl_fence_unref(fence);
    if (status != CL_COMPLETE)
        wrong = window->whole ? "the whole launch failed" : "a share failed";
    return status == CL_COMPLETE;
}

/* May a share read what another one writes? Then both results are right. */
static bool is_racy(const struct launch *launch, unsigned n, const struct tsl_argument_touch *const *shares)
{
    for (unsigned s = 0; s < n; s++)
        for (unsigned t = 0; t < n; t++)
            for (unsigned i = 0; i < n_memories() * n_memories(); i++) {
                const unsigned of_a = i / n_memories(), of_b = i % n_memories();
                const unsigned a = argument_of(of_a), b = argument_of(of_b);
                int64_t shift = (int64_t)(launch->memories[b].offset - launch->memories[a].offset);

                if (s != t && launch->root_of[of_a] == launch->root_of[of_b] &&
                    tsl_byte_sets_meet(&shares[s][a].read, &shares[t][b].write, shift, launch->values[a].memory,
                                       launch->values[b].memory))
                    return true;
            }
    return false;
}

static void compare_results(void)
{
    for (unsigned i = 0; i < n_memories(); i++)
        for (unsigned at = 0; at < roots[i]->size; at++)
            if (result[i][at] != whole_result[i][at]) {
                if (fault == NO_FAULT)
                    print_error("byte %u of memory %u is %02x, not %02x, was %02x\n", at, i, result[i][at],
                                whole_result[i][at], initial[i][at]);
                wrong = "the shares' results differ from the whole launch's";
                return;
            }
}

/* Forwards or backwards: shares may run in any order. */
static void run_shares(struct tsl_dkernel *kernel, const struct launch *launch, unsigned n,
                       const struct tsl_window *windows, const struct tsl_argument_touch *const *shares, bool backwards)
{
    memcpy(result, initial, sizeof(result));
    for (unsigned i = 0; i < n; i++) {
        const unsigned s = backwards ? n - 1 - i : i;

        if (windows[s].group_count[0] == 0 || windows[s].group_count[1] == 0 || windows[s].group_count[2] == 0)
            continue;
        fetch(launch, shares[s]);
        if (!run_window(kernel, launch, &windows[s]))
            return;
        collect(launch, shares[s]);
        count.shares++;
    }
    compare_results();
}

/* One to five shares, some of them empty, mostly along the dimension that is told. */
static void cut_launch(uint64_t *state, struct tsl_dkernel *kernel, const struct launch *launch)
{
    static struct tsl_argument_touch touches[MAX_SHARES][RANDOM_WITH_IMAGES];
    const struct tsl_footprint *footprint = ((struct cpu_kernel *)kernel)->facts->footprint;
    const struct tsl_argument_touch *shares[MAX_SHARES];
    struct tsl_window windows[MAX_SHARES];
    struct tsl_cut_verdict verdict;
    uint64_t ends[MAX_SHARES], groups;
    unsigned n = 1 + random_kernel_chance(state, MAX_SHARES);
    unsigned d = tsl_cut_dimension(footprint, &launch->window, launch->values, launch->memories, &verdict);

    if (tsl_cut_kernel(footprint) != TSL_CUT_OK)
        return;
    count.forbidden[verdict.why]++;
    if (d == 3 || random_kernel_chance(state, 4) == 0)
        d = random_kernel_chance(state, launch->window.work_dim);
    groups = tsl_cut_groups(&launch->window, d);
    for (unsigned s = 0; s < n; s++) {
        ends[s] = s + 1 == n ? groups : random_kernel_chance(state, (unsigned)groups + 1);
        for (unsigned t = s; t > 0 && ends[t] < ends[t - 1]; t--) {
            uint64_t less = ends[t];

            ends[t] = ends[t - 1];
            ends[t - 1] = less;
        }
    }
    tsl_cut_windows(&launch->window, d, n, ends, windows);
    for (unsigned s = 0; s < n; s++) {
        tsl_footprint_evaluate(footprint, &windows[s], launch->values, touches[s]);
        shares[s] = touches[s];
    }
    if (!tsl_cut_shares(footprint, n, shares, NULL, launch->memories, &verdict))
        return;
    if (is_racy(launch, n, shares)) {
        count.racy++;
        return;
    }
    count.cut++;
    run_shares(kernel, launch, n, windows, shares, random_kernel_chance(state, 2));
}

static void fill_initial(uint64_t *state)
{
    for (unsigned i = 0; i < n_memories(); i++)
        for (unsigned at = 0; at < ROOT; at += 8) {
            random_kernel_chance(state, 1);
            memcpy(&initial[i][at], state, 8);
        }
}

static void try_launch(uint64_t *state, struct tsl_dkernel *kernel, const struct launch *launch)
{
    fill_initial(state);
    for (unsigned i = 0; i < n_memories(); i++)
        memcpy(data_of(i), initial[i], roots[i]->size);
    count.launches++;
    if (!run_window(kernel, launch, &launch->window))
        return;
    for (unsigned i = 0; i < n_memories(); i++)
        memcpy(whole_result[i], data_of(i), roots[i]->size);
    if (((struct cpu_kernel *)kernel)->facts->footprint)
        cut_launch(state, kernel, launch);
}

/* ---- Hunts ------------------------------------------------------------------------------------------------------- */

static uint64_t state_of(uint64_t seed)
{
    uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

    state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    state ^= state >> 32;
    return state ? state : 1;
}

static void print_failure(uint64_t seed, const char *text, const struct launch *launch)
{
    const struct random_values *v = &launch->chosen.values;

    print_error("FOOTPRINT_SEED=%" PRIu64 " FOOTPRINT_KERNELS=1: %s\n", seed, wrong);
    fputs(text, stderr);
    for (unsigned d = 0; d < launch->window.work_dim; d++)
        print_error("dimension %u: offset %zu, size %zu, local %zu\n", d, launch->chosen.offset[d],
                    launch->chosen.size[d], launch->chosen.local[d]);
    print_error("n %d, m %d, w %d, u %u, q %" PRId64 ", v.x %d, v.y %d, v.z %d\n", v->n, v->m, v->w, v->u, v->q, v->v.x,
                v->v.y, v->v.z);
    for (unsigned i = 0; i < BUFFERS; i++)
        print_error("argument %u: memory %u, offset %" PRIu64 ", %" PRIu64 " bytes\n", i, launch->root_of[i],
                    launch->memories[i].offset, launch->memories[i].size);
}

struct made {
    struct random_kernel kernel;
    uint64_t state; /* of its launches */
    char text[TEXT];
};

static struct made made[PER_PROGRAM];

static struct tsl_dprogram *build_program(uint64_t first, unsigned n)
{
    static char source[PER_PROGRAM * TEXT / 4];
    size_t used = (size_t)snprintf(source, sizeof(source), "%s", random_kernel_head);

    for (unsigned i = 0; i < n; i++) {
        char name[16];

        made[i].state = state_of(first + i);
        snprintf(name, sizeof(name), "k%u", i);
        (with_images ? random_kernel_write_images : random_kernel_write)(&made[i].state, name, &made[i].kernel,
                                                                         made[i].text, sizeof(made[i].text));
        used += (size_t)snprintf(source + used, sizeof(source) - used, "%s", made[i].text);
        assert_true(used < sizeof(source));
    }
    /* The footprint is the same with and without optimisation, which takes most of the time. */
    return bed_build(source, first / PER_PROGRAM % 16 ? "-cl-std=CL2.0 -w -cl-opt-disable" : "-cl-std=CL2.0 -w");
}

/* Was something found? */
static bool try_kernel(struct tsl_dprogram *program, unsigned i, uint64_t seed)
{
    char name[16];
    struct tsl_dkernel *kernel;
    struct tsl_footprint *footprint;
    struct launch launch;

    snprintf(name, sizeof(name), "k%u", i);
    kernel = bed_kernel(program, name);
    footprint = ((struct cpu_kernel *)kernel)->facts->footprint;
    wrong = NULL;
    count.kernels++;
    count.unknown += !footprint;
    if (fault == NO_FAULT || fault >= MISSING_ALIAS || (footprint && put_fault(footprint)))
        for (unsigned l = 0; l < LAUNCHES && !wrong; l++) {
            choose_launch(&made[i].state, &made[i].kernel, &launch);
            try_launch(&made[i].state, kernel, &launch);
        }
    if (wrong && fault == NO_FAULT)
        print_failure(seed, made[i].text, &launch);
    driver->kernel_free(kernel);
    return wrong;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

/* How often something was found: until that is enough, or n kernels were tried. */
static unsigned hunt(uint64_t first, uint64_t n, unsigned enough)
{
    unsigned found = 0;

    memset(&count, 0, sizeof(count));
    for (uint64_t seed = first, end = first + n; seed < end && found < enough;) {
        uint64_t left = PER_PROGRAM - seed % PER_PROGRAM;
        unsigned of_program = (unsigned)(end - seed < left ? end - seed : left);
        struct tsl_dprogram *program = build_program(seed, of_program);

        for (unsigned i = 0; i < of_program && found < enough; i++)
            found += try_kernel(program, i, seed++);
        driver->program_free(program);
        if (count.kernels % 5000 == 0)
            print_error("%u kernels, found %u\n", count.kernels, found);
    }
    return found;
}

static void all_are_true(uint64_t n)
{
    unsigned found;

    fault = NO_FAULT;
    found = hunt(setting("FOOTPRINT_SEED", 1), setting("FOOTPRINT_KERNELS", n), UINT_MAX);
    print_message(
        "%u kernels (%u without footprint), %u launches, of these may be cut %u; not: writes meet %u, unknown "
        "%u, atomics %u, few groups %u; %u run cut in %u shares, %u not as they race\n",
        count.kernels, count.unknown, count.launches, count.forbidden[TSL_CUT_OK], count.forbidden[TSL_CUT_WRITES_MEET],
        count.forbidden[TSL_CUT_WRITES_UNKNOWN], count.forbidden[TSL_CUT_ATOMICS],
        count.forbidden[TSL_CUT_TOO_FEW_GROUPS], count.cut, count.shares, count.racy);
    assert_int_equal(found, 0);
}

static void footprints_are_true(void **state)
{
    (void)state;
    with_images = false;
    all_are_true(300);
}

static void footprints_of_images_are_true(void **state)
{
    (void)state;
    with_images = true;
    all_are_true(150);
    assert_true(count.cut > 0 || getenv("FOOTPRINT_KERNELS"));
    with_images = false;
}

/* What the check tells of false footprints is no news. */
static unsigned hunt_silently(void)
{
    int errors = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    unsigned found;

    assert_true(errors >= 0 && nowhere >= 0);
    dup2(nowhere, STDERR_FILENO);
    found = hunt(1, 1000, 2);
    dup2(errors, STDERR_FILENO);
    close(errors);
    close(nowhere);
    return found;
}

static void faults_are_found(void **state)
{
    (void)state;
    for (fault = DROPPED_GUARD; fault < N_FAULTS; fault++) {
        unsigned found = hunt_silently();

        print_message("%s: found in %u of %u kernels\n", fault_names[fault], found, count.kernels);
        assert_int_equal(found, 2);
    }
    fault = NO_FAULT;
}

static struct tsl_mem *new_image(unsigned i)
{
    static const cl_image_format formats[RANDOM_N_IMAGES] = {
        {CL_RGBA, CL_UNSIGNED_INT8}, {CL_R, CL_UNSIGNED_INT32}, {CL_RG, CL_SIGNED_INT16}, {CL_RGBA, CL_UNORM_INT8}};
    static const cl_mem_object_type types[RANDOM_N_IMAGES] = {CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D,
                                                              CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};
    const unsigned *size = random_image_sizes[i];
    const bool array = types[i] == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const struct tsl_image_desc desc = {.format = formats[i],
                                        .type = types[i],
                                        .width = size[0],
                                        .height = size[1],
                                        .depth = array ? 1 : size[2],
                                        .array_size = array ? size[2] : 1,
                                        .element_size = 4,
                                        .row_pitch = 4 * size[0],
                                        .slice_pitch = 4 * size[0] * size[1]};
    struct tsl_mem *image;

    assert_int_equal(driver->image_alloc(member, &desc, CL_MEM_READ_WRITE, NULL, &image), CL_SUCCESS);
    assert_true(image->size <= ROOT);
    return image;
}

static int open_bed(void **state)
{
    int error = bed_open(state);

    for (unsigned i = 0; i < MEMORIES && !error; i++)
        roots[i] = i < BUFFERS ? new_mem(ROOT) : new_image(i - BUFFERS);
    return error;
}

static int close_bed(void **state)
{
    for (unsigned i = 0; i < MEMORIES; i++)
        driver->mem_free(roots[i]);
    return close_members(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(footprints_are_true),
        cmocka_unit_test(footprints_of_images_are_true),
        cmocka_unit_test(faults_are_found),
    };

    /* A hunt is for true footprints alone. */
    return _cmocka_run_group_tests("footprint_hunt", tests, getenv("FOOTPRINT_KERNELS") ? 2 : 3, open_bed, close_bed);
}
