/* Random footprints in random windows, each evaluated and also run, work-item by work-item: no byte is touched outside
 * what may be, and none is sure that isn't written. How often the answer is exact is counted, so that an evaluator that
 * knows less and less is found, too. FOOTPRINT_CASES and FOOTPRINT_SEED make another hunt. */
/* timeout: 60 */
#include "footprint_bed.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#define MEMORY 4096u

static uint64_t state;

static unsigned chance(unsigned n)
{
    return (unsigned)(bed_chance(&state) % n);
}

/* ---- Footprints of any kind ------------------------------------------------------------------------------------- */

static const uint8_t all_bits[] = {8, 16, 32, 64};

static uint32_t any(struct bed *bed, uint8_t bits, unsigned depth, unsigned n_loops);

static int64_t constant(uint8_t bits)
{
    static const int64_t likely[] = {0, 1, 2, 3, 4, 5, 7, 8, 10, 12, 15, 16, 31, 63, -1, -2, -4, -8, 100, 127, 64};
    int64_t value = likely[chance(sizeof(likely) / sizeof(likely[0]))];

    if (chance(12) == 0)
        value = (int64_t)bed_chance(&state);
    return bits == 1 ? -(int64_t)chance(2) : bed_signed((uint64_t)value, bits);
}

static uint32_t leaf(struct bed *bed, uint8_t bits, unsigned n_loops)
{
    static const uint8_t ops[] = {TSL_NODE_GLOBAL_ID,  TSL_NODE_GLOBAL_ID,    TSL_NODE_GLOBAL_ID,  TSL_NODE_LOCAL_ID,
                                  TSL_NODE_GROUP_ID,   TSL_NODE_GLOBAL_SIZE,  TSL_NODE_LOCAL_SIZE, TSL_NODE_GROUP_SIZE,
                                  TSL_NODE_NUM_GROUPS, TSL_NODE_GLOBAL_OFFSET};
    unsigned which = chance(20);
    uint32_t node;

    if (which < 5)
        return bed_constant(bed, bits, constant(bits));
    if (which < 7)
        return bed_scalar(bed, bits, 3, 8 * chance(3));
    if (which == 7 && chance(3) == 0)
        return bed_node(bed, (struct tsl_node){.op = TSL_NODE_UNKNOWN, .bits = bits});
    if (which < 12 && n_loops > 0)
        node = bed_leaf(bed, TSL_NODE_COUNTER, chance(n_loops));
    else
        node = bed_leaf(bed, ops[chance(sizeof(ops))], chance(4) ? 0 : chance(3));
    return bits == 64 ? node : bed_as(bed, TSL_NODE_TRUNC, bits, node);
}

static uint32_t condition(struct bed *bed, unsigned depth, unsigned n_loops)
{
    unsigned which = chance(12);
    uint8_t bits = all_bits[chance(4)];

    if (depth == 0 || which == 0)
        return leaf(bed, 1, n_loops);
    if (which == 1)
        return bed_select(bed, condition(bed, depth - 1, n_loops), condition(bed, depth - 1, n_loops),
                          condition(bed, depth - 1, n_loops));
    if (which < 4)
        return bed_two(bed, (uint8_t)(TSL_NODE_AND + chance(3)), condition(bed, depth - 1, n_loops),
                       condition(bed, depth - 1, n_loops));
    return bed_two(bed, (uint8_t)(TSL_NODE_EQ + chance(6)), any(bed, bits, depth - 1, n_loops),
                   chance(2) ? bed_constant(bed, bits, constant(bits)) : any(bed, bits, depth - 1, n_loops));
}

static uint32_t any(struct bed *bed, uint8_t bits, unsigned depth, unsigned n_loops)
{
    unsigned which = chance(16);
    uint8_t other;

    if (bits == 1)
        return condition(bed, depth, n_loops);
    if (depth == 0 || which < 2)
        return leaf(bed, bits, n_loops);
    if (which < 8)
        return bed_two(bed, (uint8_t)(TSL_NODE_ADD + chance(3)), any(bed, bits, depth - 1, n_loops),
                       chance(2) ? bed_constant(bed, bits, constant(bits)) : any(bed, bits, depth - 1, n_loops));
    if (which < 12)
        return bed_two(bed, (uint8_t)(TSL_NODE_SHL + chance(TSL_NODE_SELECT - TSL_NODE_SHL)),
                       any(bed, bits, depth - 1, n_loops),
                       chance(4) ? bed_constant(bed, bits, constant(bits)) : any(bed, bits, depth - 1, n_loops));
    if (which == 12)
        return bed_select(bed, condition(bed, depth - 1, n_loops), any(bed, bits, depth - 1, n_loops),
                          any(bed, bits, depth - 1, n_loops));
    other = chance(8) ? all_bits[chance(4)] : 1;
    if (other == bits)
        return any(bed, bits, depth - 1, n_loops);
    return bed_as(bed, other > bits ? TSL_NODE_TRUNC : (uint8_t)(TSL_NODE_ZEXT + chance(2)), bits,
                  any(bed, other, depth - 1, n_loops));
}

/* ---- Footprints as programs have them --------------------------------------------------------------------------- */

static uint32_t small(struct bed *bed, uint8_t bits, unsigned n)
{
    return bed_constant(bed, bits, (int64_t)chance(n));
}

/* An id or counter as so many bits, perhaps plus or times something. */
static uint32_t simple(struct bed *bed, uint8_t bits, unsigned n_loops)
{
    uint32_t node;

    if (n_loops > 0 && chance(2))
        node = bed_leaf(bed, TSL_NODE_COUNTER, chance(n_loops));
    else
        node = bed_leaf(bed, TSL_NODE_GLOBAL_ID, chance(3) ? 0 : 1);
    if (chance(6) == 0) {
        unsigned d = chance(2);

        node = bed_leaf(bed, TSL_NODE_LOCAL_ID, d);
        if (chance(4))
            node = bed_two(
                bed, TSL_NODE_ADD, node,
                bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GROUP_ID, d), bed_leaf(bed, TSL_NODE_LOCAL_SIZE, d)));
    }
    if (bits < 64)
        node = bed_as(bed, TSL_NODE_TRUNC, bits, node);
    if (chance(3) == 0)
        node = bed_two(bed, chance(2) ? TSL_NODE_ADD : TSL_NODE_SUB, node, small(bed, bits, 6));
    return node;
}

static uint32_t shaped(struct bed *bed, uint8_t bits, unsigned n_loops)
{
    uint32_t a = simple(bed, bits, n_loops), b;

    switch (chance(9)) {
    case 0: /* row * pitch + column */
    case 1:
    case 2:
        b = bed_two(bed, TSL_NODE_MUL, simple(bed, bits, n_loops), bed_constant(bed, bits, 5 + (int64_t)chance(20)));
        return bed_two(bed, TSL_NODE_ADD, b, a);
    case 3:
        return bed_two(bed, chance(2) ? TSL_NODE_UREM : TSL_NODE_UDIV, a,
                       bed_constant(bed, bits, 2 + (int64_t)chance(9)));
    case 4: /* clamped */
        a = bed_two(bed, TSL_NODE_SMAX, a, bed_constant(bed, bits, (int64_t)chance(4)));
        return bed_two(bed, TSL_NODE_SMIN, a, bed_constant(bed, bits, 5 + (int64_t)chance(20)));
    case 5:
        return bed_two(bed, TSL_NODE_AND, a, bed_constant(bed, bits, chance(2) ? 7 : -4));
    case 6:
        b = bed_two(bed, TSL_NODE_ULT, a, bed_constant(bed, bits, (int64_t)chance(20)));
        return bed_select(bed, b, a, simple(bed, bits, n_loops));
    case 7: /* grid stride */
        if (n_loops == 0)
            return a;
        b = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_COUNTER, n_loops - 1),
                    bed_leaf(bed, TSL_NODE_GLOBAL_SIZE, 0));
        b = bed_two(bed, TSL_NODE_ADD, b, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
        return bits == 64 ? b : bed_as(bed, TSL_NODE_TRUNC, bits, b);
    default:
        return a;
    }
}

static uint32_t shaped_address(struct bed *bed, unsigned n_loops, uint32_t width)
{
    uint8_t bits = chance(2) ? 32 : 64;
    uint32_t node = shaped(bed, bits, n_loops);

    if (bits == 32)
        node = bed_as(bed, chance(2) ? TSL_NODE_SEXT : TSL_NODE_ZEXT, 64, node);
    node = bed_two(bed, TSL_NODE_MUL, node, bed_constant(bed, 64, chance(5) ? width : 2 * width));
    return chance(2) ? node : bed_two(bed, TSL_NODE_ADD, node, bed_constant(bed, 64, (int64_t)(chance(8) * width)));
}

static uint32_t shaped_guard(struct bed *bed, unsigned n_loops)
{
    uint8_t bits = chance(2) ? 32 : 64;
    uint32_t a = chance(3) ? simple(bed, bits, n_loops) : shaped(bed, bits, n_loops);
    uint32_t b = chance(3) ? bed_constant(bed, bits, (int64_t)chance(30)) : simple(bed, bits, n_loops);

    return bed_two(bed, (uint8_t)(TSL_NODE_EQ + chance(6)), a, b);
}

static uint32_t shaped_count(struct bed *bed, unsigned n_loops)
{
    uint32_t a = bed_constant(bed, 64, (int64_t)chance(7));

    if (chance(3))
        return a;
    a = bed_two(bed, chance(2) ? TSL_NODE_ADD : TSL_NODE_SUB, simple(bed, 64, n_loops), a);
    return bed_two(bed, TSL_NODE_SMIN, bed_two(bed, TSL_NODE_SMAX, a, bed_constant(bed, 64, 0)),
                   bed_constant(bed, 64, 24));
}

/* ---- Cases ------------------------------------------------------------------------------------------------------ */

static void choose_window(struct tsl_window *window)
{
    window->work_dim = 1 + chance(3);
    window->whole = chance(3) == 0;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t groups;

        window->local_size[d] = d < window->work_dim ? 1 + chance(d ? 3 : 8) : 1;
        groups = d < window->work_dim ? 1 + chance(d ? 3 : 5) : 1;
        window->global_size[d] = groups * window->local_size[d];
        if (window->local_size[d] > 1 && chance(3) == 0)
            window->global_size[d] -= chance((unsigned)window->local_size[d]);
        window->global_offset[d] = d < window->work_dim && chance(4) == 0 ? chance(10) : 0;
        window->group_begin[d] = chance((unsigned)groups);
        window->group_count[d] = 1 + chance((unsigned)(groups - window->group_begin[d]));
    }
}

static void make_access(struct bed *bed, bool shapes)
{
    const unsigned n_loops = bed->footprint.n_loops, width = 1u << chance(4);
    const uint8_t kind = (uint8_t)(chance(5) ? TSL_ACCESS_WRITE : chance(2) ? TSL_ACCESS_READ : TSL_ACCESS_ATOMIC);
    uint32_t address = shapes ? shaped_address(bed, n_loops, width) : any(bed, 64, 1 + chance(4), n_loops);
    struct tsl_access *access = bed_access(bed, chance(2), kind, width, address);

    access->n_loops = n_loops;
    for (uint32_t i = 0; i < n_loops; i++)
        access->loops[i] = i;
    access->n_guards = chance(4);
    for (uint32_t i = 0; i < access->n_guards; i++)
        access->guards[i] = shapes ? shaped_guard(bed, n_loops) : condition(bed, 1 + chance(3), n_loops);
    if (kind == TSL_ACCESS_WRITE && chance(8) == 0)
        access->flags = 0;
    if (kind == TSL_ACCESS_READ && chance(30) == 0)
        access->address[0] = TSL_FOOTPRINT_NONE;
}

static void make_case(struct bed *bed, bool shapes)
{
    const unsigned n_loops = chance(5) < 3 ? 0 : 1 + chance(3) % 2 + (chance(4) == 0), n_accesses = 1 + chance(3);

    bed_begin(bed, BED_ARGUMENTS);
    for (unsigned i = 0; i < n_loops; i++) {
        uint32_t count = shapes ? shaped_count(bed, i) : any(bed, 64, chance(3), i);
        bool known = chance(12) != 0;

        bed_loop(bed, known ? count : TSL_FOOTPRINT_NONE, known && chance(8) != 0);
    }
    for (unsigned i = 0; i < n_accesses; i++)
        make_access(bed, shapes);
}

/* ---- The check -------------------------------------------------------------------------------------------------- */

/* What really was touched. */
struct seen {
    uint64_t memory;
    uint8_t read[MEMORY], write[MEMORY];
    bool reads, writes;
};

static struct seen seen[2];

static void visit(void *data, const struct bed_item *item, const struct tsl_access *access)
{
    struct seen *mine = &seen[access->argument];
    int64_t address;

    (void)data;
    mine->reads |= access->kind != TSL_ACCESS_WRITE;
    mine->writes |= access->kind != TSL_ACCESS_READ;
    if (access->address[0] == TSL_FOOTPRINT_NONE)
        return;
    address = (int64_t)bed_value(item, access->address[0]);
    for (uint32_t i = 0; i < access->width; i++) {
        int64_t at;

        if (__builtin_add_overflow(address, i, &at) || at < 0 || (uint64_t)at >= mine->memory)
            continue;
        if (access->kind != TSL_ACCESS_WRITE)
            mine->read[at] = 1;
        if (access->kind != TSL_ACCESS_READ)
            mine->write[at] |= access->kind == TSL_ACCESS_WRITE && access->flags & TSL_ACCESS_SURE ? 3 : 1;
    }
}

struct tally {
    uint64_t n, exact, sure, cut; /* arguments that are written: all, may is what is, sure is what is */
    uint64_t bytes, claimed;
};

static const char *wrong; /* the first thing that was */

static void check(const char *what, bool right)
{
    if (!right && !wrong)
        wrong = what;
}

static void check_argument(const struct tsl_argument_touch *touch, const struct seen *real, bool cut,
                           struct tally *tally)
{
    static uint8_t read[MEMORY], write[MEMORY], sure[MEMORY];
    bool exact = true, all_sure = true;

    bed_mark(&touch->read, read, real->memory);
    bed_mark(&touch->write, write, real->memory);
    bed_mark(&touch->sure, sure, real->memory);
    check("an unknown sure set", !touch->sure.unknown);
    check("reads", touch->reads || !real->reads);
    check("writes", touch->writes || !real->writes);
    for (uint64_t i = 0; i < real->memory; i++) {
        check("a byte read outside", read[i] || !real->read[i]);
        check("a byte written outside", write[i] || !real->write[i]);
        check("a sure byte that isn't written", cut || !sure[i] || real->write[i] & 2);
        check("a sure byte that may not be written", write[i] || !sure[i]);
        exact &= write[i] == (real->write[i] != 0);
        all_sure &= sure[i] == (real->write[i] >> 1);
        tally->bytes += real->write[i] != 0;
        tally->claimed += write[i];
    }
    for (unsigned set = 0; set < 3; set++) {
        const struct tsl_byte_set *boxes = set == 0 ? &touch->read : set == 1 ? &touch->write : &touch->sure;

        for (unsigned i = 0; i < boxes->n; i++)
            check("a box of no right form", bed_box_is_valid(&boxes->boxes[i], real->memory));
    }
    tally->cut += cut;
    if (!real->writes || cut)
        return;
    tally->n++;
    tally->exact += exact;
    tally->sure += all_sure;
}

static void print_sets(const struct tsl_argument_touch *touch, const struct seen *real)
{
    for (unsigned set = 0; set < 3; set++) {
        const struct tsl_byte_set *boxes = set == 0 ? &touch->read : set == 1 ? &touch->write : &touch->sure;

        fprintf(stderr, "  %s%s:", set == 0 ? "read" : set == 1 ? "write" : "sure", boxes->unknown ? " unknown" : "");
        for (unsigned i = 0; i < boxes->n; i++)
            fprintf(stderr, " %" PRIu64 "+%" PRIu64 " %" PRIu64 "*%" PRIu64 " %" PRIu64 "*%" PRIu64 ";",
                    boxes->boxes[i].offset, boxes->boxes[i].width, boxes->boxes[i].count[0], boxes->boxes[i].stride[0],
                    boxes->boxes[i].count[1], boxes->boxes[i].stride[1]);
        fprintf(stderr, "\n");
    }
    fprintf(stderr, "  real:");
    for (uint64_t i = 0; i < real->memory; i++)
        if (real->write[i] || real->read[i])
            fprintf(stderr, " %" PRIu64 "%s%s", i, real->read[i] ? "r" : "",
                    real->write[i] & 2 ? "W"
                    : real->write[i]   ? "w"
                                       : "");
    fprintf(stderr, "\n");
}

static void print_case(const struct bed *bed, const struct tsl_window *w, const struct tsl_argument_touch *touches)
{
    for (unsigned d = 0; d < w->work_dim; d++)
        fprintf(stderr, "  dimension %u: offset %zu size %zu local %zu groups %zu+%zu%s\n", d, w->global_offset[d],
                w->global_size[d], w->local_size[d], w->group_begin[d], w->group_count[d], w->whole ? " (whole)" : "");
    for (uint32_t i = 0; i < bed->footprint.n_loops; i++) {
        char text[1024] = "?";

        if (bed->loops[i].count != TSL_FOOTPRINT_NONE)
            tsl_footprint_print_node(&bed->footprint, bed->loops[i].count, text, sizeof(text));
        fprintf(stderr, "  loop %u: %s%s\n", i, text, bed->loops[i].exact ? "" : " at most");
    }
    for (uint32_t i = 0; i < bed->footprint.n_accesses; i++) {
        const struct tsl_access *access = &bed->accesses[i];
        char text[1024] = "?";

        if (access->address[0] != TSL_FOOTPRINT_NONE)
            tsl_footprint_print_node(&bed->footprint, access->address[0], text, sizeof(text));
        fprintf(stderr, "  argument %u kind %u width %u flags %u: %s\n", access->argument, access->kind, access->width,
                access->flags, text);
        for (uint32_t j = 0; j < access->n_guards; j++) {
            tsl_footprint_print_node(&bed->footprint, access->guards[j], text, sizeof(text));
            fprintf(stderr, "    if %s\n", text);
        }
    }
    for (unsigned i = 0; i < 2; i++)
        print_sets(&touches[i], &seen[i]);
}

static void run_case(uint64_t seed, bool shapes, struct tally *tally)
{
    static struct bed bed;
    struct tsl_argument_touch touches[BED_ARGUMENTS];
    struct tsl_argument_value arguments[BED_ARGUMENTS] = {{0}};
    struct tsl_window window;
    uint64_t scalars[3], unknown = seed | 1;
    struct bed_item item = {.bed = &bed, .window = &window, .arguments = arguments, .chance = &unknown};
    struct bed_run run = {.visit = visit, .budget = 20000, .most = 24};

    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (unsigned i = 0; i < 8; i++)
        chance(2);
    choose_window(&window);
    make_case(&bed, shapes);
    for (unsigned i = 0; i < 3; i++)
        scalars[i] = chance(10) ? chance(40) : bed_chance(&state);
    arguments[3] = (struct tsl_argument_value){.value = scalars, .size = chance(10) ? sizeof(scalars) : 9};
    for (unsigned i = 0; i < 2; i++) {
        arguments[i].memory = chance(4) ? 256u + chance(MEMORY - 256) : 1 + chance(200);
        memset(&seen[i], 0, sizeof(seen[i]));
        seen[i].memory = arguments[i].memory;
    }
    if (!tsl_footprint_is_valid(&bed.footprint)) {
        wrong = "a footprint that isn't valid";
        return;
    }
    tsl_footprint_evaluate(&bed.footprint, &window, arguments, touches);
    for (uint32_t i = 0; i < bed.footprint.n_accesses; i++)
        bed_for_each(&run, &item, &bed.accesses[i]);
    for (unsigned i = 0; i < 2; i++)
        check_argument(&touches[i], &seen[i], run.cut, tally);
    if (wrong)
        print_case(&bed, &window, touches);
}

static uint64_t setting(const char *name, uint64_t other)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : other;
}

static struct tally hunt(bool shapes, uint64_t cases)
{
    struct tally tally = {0};
    uint64_t first = setting("FOOTPRINT_SEED", 1);

    cases = setting("FOOTPRINT_CASES", cases);
    wrong = NULL;
    for (uint64_t i = 0; i < cases && !wrong; i++) {
        run_case(first + i, shapes, &tally);
        if (wrong)
            fprintf(stderr, "FOOTPRINT_SEED=%" PRIu64 " FOOTPRINT_CASES=1: %s\n", first + i, wrong);
    }
    print_message("%s: %" PRIu64
                  " arguments written, may exact %.1f %%, sure exact %.1f %%, bytes claimed %.2f; %" PRIu64
                  " not run whole\n",
                  shapes ? "shapes" : "any", tally.n, 100.0 * (double)tally.exact / (double)(tally.n + !tally.n),
                  100.0 * (double)tally.sure / (double)(tally.n + !tally.n),
                  (double)tally.claimed / (double)(tally.bytes + !tally.bytes), tally.cut);
    assert_null(wrong);
    return tally;
}

/* Of many arguments so many in a hundred must be exact: fewer means that the evaluator knows less than it did. */
static void check_share(const struct tally *tally, unsigned exact, unsigned sure)
{
    if (tally->n < 1000)
        return;
    assert_true(tally->exact * 100 >= tally->n * exact);
    assert_true(tally->sure * 100 >= tally->n * sure);
}

/* Nodes of all kinds in any order: hardly a program, but all that the format allows. */
static void test_any(void **unused)
{
    struct tally tally = hunt(false, 8000);

    (void)unused;
    check_share(&tally, 70, 80);
}

/* What programs do: rows and columns, divisions, clamps, guards, loops of all counts. */
static void test_shapes(void **unused)
{
    struct tally tally = hunt(true, 8000);

    (void)unused;
    check_share(&tally, 91, 88);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
