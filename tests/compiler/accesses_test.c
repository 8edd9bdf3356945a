/*
 * Footprints as the compiler tells them (compiler/analysis/accesses.h): for each work-item of a small launch all
 * expressions are computed, by the rules of footprint/format.h and nothing else, and the bytes so found must be those
 * that the kernel touches, which is said here in C.
 */
#include "footprint/format.h"

#include "kc_env.h"

#define MEMORY 8192 /* bytes of each argument; in the middle of them its pointer points */
#define ARGS   8

/* ---- The launch -------------------------------------------------------------------------------------------------- */

struct launch {
    uint64_t offset[3], global[3], local[3];
    int64_t scalars[ARGS]; /* of arguments that are numbers, or the first bytes of structures */
};

struct item {
    const struct launch *launch;
    uint64_t global[3], local[3], group[3];
};

/* What is touched of one argument. */
struct bytes {
    uint8_t read[MEMORY], written[MEMORY], sure[MEMORY];
    bool read_unknown, write_unknown;
};

struct touched {
    struct bytes args[ARGS];
};

/* ---- Expressions, computed --------------------------------------------------------------------------------------- */

struct values {
    int64_t value[TSL_FOOTPRINT_MAX_NODES];
    bool unknown[TSL_FOOTPRINT_MAX_NODES];
};

static int64_t wrap(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t bare(int64_t value, unsigned bits)
{
    return (uint64_t)value << (64 - bits) >> (64 - bits);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int64_t leaf(const struct item *item, const struct tsl_node *node, const uint64_t *counters)
{
    const struct launch *launch = item->launch;
    unsigned d = node->a;

    switch (node->op) {
    case TSL_NODE_CONSTANT:
        return node->value;
    case TSL_NODE_SCALAR: {
        int64_t value = 0;

        memcpy(&value, (const char *)&launch->scalars[node->a] + node->b, node->bits == 1 ? 1 : node->bits / 8);
        return node->bits == 1 ? -(value != 0) : wrap((uint64_t)value, node->bits);
    }
    case TSL_NODE_COUNTER:
        return (int64_t)counters[node->a];
    case TSL_NODE_GLOBAL_ID:
        return (int64_t)item->global[d];
    case TSL_NODE_LOCAL_ID:
        return (int64_t)item->local[d];
    case TSL_NODE_GROUP_ID:
        return (int64_t)item->group[d];
    case TSL_NODE_GLOBAL_SIZE:
        return (int64_t)launch->global[d];
    case TSL_NODE_LOCAL_SIZE:
        return (int64_t)launch->local[d];
    case TSL_NODE_GROUP_SIZE:
        return (int64_t)least(launch->local[d], launch->global[d] - item->group[d] * launch->local[d]);
    case TSL_NODE_NUM_GROUPS:
        return (int64_t)((launch->global[d] + launch->local[d] - 1) / launch->local[d]);
    default:
        return (int64_t)launch->offset[d];
    }
}

/* bits: of the operands. *unknown: it has no value. */
static int64_t operate(unsigned op, int64_t a, int64_t b, unsigned bits, bool *unknown)
{
    uint64_t ua = bare(a, bits), ub = bare(b, bits);

    if ((op >= TSL_NODE_UDIV && op <= TSL_NODE_SREM && !b) || (op >= TSL_NODE_SHL && op <= TSL_NODE_ASHR && ub >= bits))
        return *unknown = true, 0;
    switch (op) {
    case TSL_NODE_ADD:
        return (int64_t)(ua + ub);
    case TSL_NODE_SUB:
        return (int64_t)(ua - ub);
    case TSL_NODE_MUL:
        return (int64_t)(ua * ub);
    case TSL_NODE_SHL:
        return (int64_t)(ua << ub);
    case TSL_NODE_LSHR:
        return (int64_t)(ua >> ub);
    case TSL_NODE_ASHR:
        return a >> ub;
    case TSL_NODE_UDIV:
        return (int64_t)(ua / ub);
    case TSL_NODE_SDIV:
        return b == -1 ? (int64_t) - (uint64_t)a : a / b;
    case TSL_NODE_UREM:
        return (int64_t)(ua % ub);
    case TSL_NODE_SREM:
        return b == -1 ? 0 : a % b;
    case TSL_NODE_AND:
        return a & b;
    case TSL_NODE_OR:
        return a | b;
    case TSL_NODE_XOR:
        return a ^ b;
    case TSL_NODE_UMIN:
        return ua < ub ? a : b;
    case TSL_NODE_UMAX:
        return ua > ub ? a : b;
    case TSL_NODE_SMIN:
        return a < b ? a : b;
    case TSL_NODE_SMAX:
        return a > b ? a : b;
    case TSL_NODE_EQ:
        return -(a == b);
    case TSL_NODE_NE:
        return -(a != b);
    case TSL_NODE_ULT:
        return -(ua < ub);
    case TSL_NODE_ULE:
        return -(ua <= ub);
    case TSL_NODE_SLT:
        return -(a < b);
    default:
        return -(a <= b);
    }
}

static void compute_node(const struct tsl_footprint *footprint, uint32_t at, struct values *values)
{
    const struct tsl_node *node = &footprint->nodes[at];
    const uint32_t operands[] = {node->a, node->b, node->c};
    bool unknown = false;
    int64_t a = values->value[node->a];

    if (node->op == TSL_NODE_SELECT) {
        uint32_t chosen = a ? node->b : node->c;

        values->unknown[at] = values->unknown[node->a] || values->unknown[chosen];
        values->value[at] = values->value[chosen];
        return;
    }
    for (unsigned i = 0; i < tsl_node_operands(node->op); i++)
        unknown |= values->unknown[operands[i]];
    if (node->op == TSL_NODE_ZEXT)
        a = (int64_t)bare(a, footprint->nodes[node->a].bits);
    else if (node->op != TSL_NODE_SEXT && node->op != TSL_NODE_TRUNC)
        a = operate(node->op, a, values->value[node->b], footprint->nodes[node->a].bits, &unknown);
    values->value[at] = wrap((uint64_t)a, node->bits);
    values->unknown[at] = unknown;
}

static void compute(const struct tsl_footprint *footprint, const struct item *item, const uint64_t *counters,
                    struct values *values)
{
    for (uint32_t i = 0; i < footprint->n_nodes; i++)
        if (footprint->nodes[i].op == TSL_NODE_UNKNOWN) {
            values->unknown[i] = true;
            values->value[i] = 0;
        } else if (footprint->nodes[i].op < TSL_NODE_ADD) {
            values->unknown[i] = false;
            values->value[i] = leaf(item, &footprint->nodes[i], counters);
        } else
            compute_node(footprint, i, values);
}

/* ---- Accesses, made ---------------------------------------------------------------------------------------------- */

static void mark(uint8_t *map, int64_t offset, uint64_t width)
{
    for (uint64_t i = 0; i < width; i++)
        if (offset + (int64_t)i >= -MEMORY / 2 && offset + (int64_t)i < MEMORY / 2)
            map[offset + (int64_t)i + MEMORY / 2] = 1;
}

static void make(const struct tsl_access *access, const struct values *values, struct touched *touched)
{
    struct bytes *bytes = &touched->args[access->argument];
    int64_t address = values->value[access->address[0]];

    for (uint32_t i = 0; i < access->n_guards; i++)
        if (!values->value[access->guards[i]] && !values->unknown[access->guards[i]])
            return;
    if (values->unknown[access->address[0]]) {
        bytes->read_unknown |= access->kind != TSL_ACCESS_WRITE;
        bytes->write_unknown |= access->kind != TSL_ACCESS_READ;
        assert_false(access->flags & TSL_ACCESS_SURE);
        return;
    }
    if (access->kind != TSL_ACCESS_WRITE)
        mark(bytes->read, address, access->width);
    if (access->kind != TSL_ACCESS_READ)
        mark(bytes->written, address, access->width);
    if (access->flags & TSL_ACCESS_SURE)
        mark(bytes->sure, address, access->width);
}

static void make_in_loops(const struct tsl_footprint *footprint, const struct tsl_access *access,
                          const struct item *item, unsigned depth, uint64_t *counters, struct touched *touched)
{
    static struct values values;
    const struct tsl_loop *loop = depth < access->n_loops ? &footprint->loops[access->loops[depth]] : NULL;
    uint64_t count;

    compute(footprint, item, counters, &values);
    if (!loop) {
        make(access, &values, touched);
        return;
    }
    if (values.unknown[loop->count]) {
        touched->args[access->argument].read_unknown |= access->kind != TSL_ACCESS_WRITE;
        touched->args[access->argument].write_unknown |= access->kind != TSL_ACCESS_READ;
        return;
    }
    count = (uint64_t)values.value[loop->count];
    for (uint64_t i = 0; i < count && i < 300; i++) {
        counters[access->loops[depth]] = i;
        make_in_loops(footprint, access, item, depth + 1, counters, touched);
    }
    counters[access->loops[depth]] = 0;
}

static bool is_counted(const struct tsl_footprint *footprint, const struct tsl_access *access)
{
    for (uint32_t i = 0; i < access->n_loops; i++)
        if (footprint->loops[access->loops[i]].count == TSL_FOOTPRINT_NONE)
            return false;
    return true;
}

static void make_all(const struct tsl_footprint *footprint, const struct item *item, struct touched *touched)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];
        uint64_t counters[TSL_FOOTPRINT_MAX_LOOPS] = {0};

        if (access->address[0] == TSL_FOOTPRINT_NONE || !is_counted(footprint, access)) {
            touched->args[access->argument].read_unknown |= access->kind != TSL_ACCESS_WRITE;
            touched->args[access->argument].write_unknown |= access->kind != TSL_ACCESS_READ;
        } else
            make_in_loops(footprint, access, item, 0, counters, touched);
    }
}

/* ---- What is expected -------------------------------------------------------------------------------------------- */

/* The launch's work-item, and the scalars, for those who say what it does. */
static struct touched expected, found;
static const struct item *me;

#define GID(d)    ((int64_t)me->global[d])
#define LID(d)    ((int64_t)me->local[d])
#define GRP(d)    ((int64_t)me->group[d])
#define GSIZE     ((int64_t)me->launch->global[0])
#define LSIZE     ((int64_t)me->launch->local[0])
#define ARG(i)    ((int32_t)me->launch->scalars[i])
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static void reads(unsigned arg, int64_t offset, unsigned width)
{
    mark(expected.args[arg].read, offset, width);
}

static void stores(unsigned arg, int64_t offset, unsigned width)
{
    mark(expected.args[arg].written, offset, width);
    mark(expected.args[arg].sure, offset, width);
}

/* Only perhaps. */
static void may_store(unsigned arg, int64_t offset, unsigned width)
{
    mark(expected.args[arg].written, offset, width);
}

struct kernel {
    const char *source;
    void (*does)(void);
    struct launch launch;
    const char *unknown; /* of each argument r, w, b (both) or -; NULL: none is */
    unsigned flags;
};

static void for_each_item(const struct launch *launch, void (*visit)(const struct item *item, void *data), void *data)
{
    struct item item = {.launch = launch};
    uint64_t n[3];

    for (n[2] = 0; n[2] < launch->global[2]; n[2]++)
        for (n[1] = 0; n[1] < launch->global[1]; n[1]++)
            for (n[0] = 0; n[0] < launch->global[0]; n[0]++) {
                for (unsigned d = 0; d < 3; d++) {
                    item.global[d] = n[d] + launch->offset[d];
                    item.local[d] = n[d] % launch->local[d];
                    item.group[d] = n[d] / launch->local[d];
                }
                visit(&item, data);
            }
}

static void visit_found(const struct item *item, void *data)
{
    make_all(data, item, &found);
}

static void visit_expected(const struct item *item, void *data)
{
    const struct kernel *kernel = data;

    me = item;
    if (kernel->does)
        kernel->does();
}

static bool same_bytes(const char *what, unsigned arg, const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < MEMORY; i++)
        if (a[i] != b[i]) {
            print_error("argument %u: byte %d is %s%s\n", arg, i - MEMORY / 2, a[i] ? "" : "not ", what);
            return false;
        }
    return true;
}

static bool is_as_expected(const struct kernel *kernel)
{
    bool so = true;

    for (unsigned i = 0; i < ARGS; i++) {
        char letter = kernel->unknown && i < strlen(kernel->unknown) ? kernel->unknown[i] : '-';
        bool read = letter == 'r' || letter == 'b', write = letter == 'w' || letter == 'b';

        if (found.args[i].read_unknown != read || found.args[i].write_unknown != write) {
            print_error("argument %u is unknown otherwise than '%c'\n", i, letter);
            so = false;
        }
        so = so && (read || same_bytes("read", i, found.args[i].read, expected.args[i].read));
        so = so && (write || same_bytes("written", i, found.args[i].written, expected.args[i].written));
        so = so && same_bytes("surely written", i, found.args[i].sure, expected.args[i].sure);
    }
    return so;
}

static void fill_in(struct launch *launch)
{
    for (unsigned d = 0; d < 3; d++) {
        launch->global[d] = launch->global[d] ? launch->global[d] : 1;
        launch->local[d] = launch->local[d] ? launch->local[d] : 1;
    }
}

static bool check_kernel(const struct kernel *kernel)
{
    struct launch launch = kernel->launch;
    struct tsl_compiled compiled;
    const struct tsl_footprint *footprint;
    bool so;

    fill_in(&launch);
    memset(&expected, 0, sizeof(expected));
    memset(&found, 0, sizeof(found));
    assert_int_equal(kc_build(kernel->source, "-cl-std=CL3.0", &compiled), CL_SUCCESS);
    footprint = compiled.built.kernels[0].facts.footprint;
    assert_non_null(footprint);
    for_each_item(&launch, visit_found, (void *)(uintptr_t)footprint);
    for_each_item(&launch, visit_expected, (void *)(uintptr_t)kernel);
    so = is_as_expected(kernel);
    if (footprint->flags != kernel->flags) {
        print_error("flags are %x, not %x\n", footprint->flags, kernel->flags);
        so = false;
    }
    if (!so)
        print_error("of\n%s\n", kernel->source);
    tsl_compiled_finish(&compiled);
    return so;
}

static void check(const struct kernel *kernels, size_t n)
{
    unsigned n_wrong = 0;

    for (size_t i = 0; i < n; i++)
        n_wrong += !check_kernel(&kernels[i]);
    assert_int_equal(n_wrong, 0);
}

#define CHECK(kernels) check(kernels, sizeof(kernels) / sizeof((kernels)[0]))

/* ---- Straight ---------------------------------------------------------------------------------------------------- */

static void saxpy(void)
{
    if (GID(0) < ARG(2)) {
        reads(1, 4 * GID(0), 4);
        reads(0, 4 * GID(0), 4);
        stores(0, 4 * GID(0), 4);
    }
}

static void transpose(void)
{
    reads(0, 4 * (GID(1) * GSIZE + GID(0)), 4);
    stores(1, 4 * (GID(0) * ARG(2) + GID(1)), 4);
}

static void box(void)
{
    if (GID(0) >= ARG(1) || GID(1) >= ARG(2) || GID(2) == 1)
        return;
    stores(0, 2 * (GID(0) + 8 * (GID(1) + 4 * GID(2))), 2);
}

static void fields(void)
{
    if (GID(0) < ARG(1)) {
        stores(0, 12 * GID(0) + 4, 4);
        reads(0, 12 * GID(0), 4);
    }
}

static void vectors(void)
{
    reads(1, 16 * GID(0), 16);
    stores(0, 4 * 3 * GID(0), 12);
}

static void lanes(void)
{
    stores(0, 4 * ((int32_t)(me->launch->scalars[1] >> 32) + GID(0)), 4);
}

static void backwards(void)
{
    stores(0, -8 * GID(0) + 100, 8);
}

static void affine_addresses_are_exact(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global float *x, global float *y, int n) { int i = get_global_id(0);\n"
         "  if (i < n) x[i] += y[i]; }",
         saxpy,
         {.global = {16}, .local = {4}, .scalars = {0, 0, 13}},
         NULL,
         0},
        {"kernel void f(global int *x, global int *y, int n) {\n"
         "  y[get_global_id(0) * n + get_global_id(1)] = x[get_global_id(1) * get_global_size(0) + get_global_id(0)]; "
         "}",
         transpose,
         {.global = {8, 5}, .local = {4, 5}, .scalars = {0, 0, 6}},
         NULL,
         0},
        {"kernel void f(global short *x, int w, int h) { int i = get_global_id(0), j = get_global_id(1);\n"
         "  if (i >= w || j >= h) return;\n"
         "  if (get_global_id(2) != 1) x[i + 8 * (j + 4 * get_global_id(2))] = i; }",
         box,
         {.global = {8, 4, 3}, .local = {4, 2, 1}, .scalars = {0, 5, 3}},
         NULL,
         0},
        {"struct s { int a, b; float c; };\n"
         "kernel void f(global struct s *x, struct s v) { int i = get_global_id(0);\n"
         "  if (i < v.a) x[i].b = x[i].a + v.b; }",
         fields,
         {.global = {16}, .local = {8}, .scalars = {0, 9}},
         NULL,
         0},
        {"kernel void f(global int *x, global int4 *y) { size_t i = get_global_id(0);\n"
         "  vstore3((int3)(1, 2, y[i].z + y[i].w), i, x); }",
         vectors,
         {.global = {8}, .local = {8}},
         NULL,
         0},
        {"kernel void f(global int *x, int2 v) { x[get_global_id(0) + v.y] = 1; }",
         lanes,
         {.global = {8}, .local = {8}, .scalars = {0, INT64_C(17) << 32 | 5}},
         NULL,
         0},
        {"kernel void f(global long *x) { long i = -(long)get_global_id(0); *(global long *)((global char *)x + 100 + "
         "i * 8) = 1; }",
         backwards,
         {.global = {30}, .local = {3}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static void product(void)
{
    int w = ARG(3);

    if (GID(0) >= w || GID(1) >= w)
        return;
    for (int k = 0; k < w; k++) {
        reads(1, 4 * (GID(1) * w + k), 4);
        reads(2, 4 * (k * w + GID(0)), 4);
    }
    stores(0, 4 * (GID(1) * w + GID(0)), 4);
}

static void strided(void)
{
    for (int64_t i = GID(0); i < ARG(2); i += GSIZE) {
        reads(1, 4 * i, 4);
        stores(0, 4 * i, 4);
    }
}

static void by_table(void)
{
    static const int64_t areas[] = {9, 5, 30};
    int64_t area = ARG(2) < 3 ? areas[ARG(2)] : 0;

    for (int64_t b = 0; b < 3 && GID(0) < area; b++) {
        reads(1, 4 * GID(0), 4);
        stores(0, 4 * (b * area + GID(0)), 4);
    }
}

static void strided_rows(void)
{
    int64_t width = ARG(2);

    for (int64_t y = GID(0); y < ARG(3); y += GSIZE) {
        for (int64_t x = 0; x < width; x++)
            reads(1, 4 * (y * width + x), 4);
        stores(0, 4 * y, 4);
    }
}

static void strided_in_groups(void)
{
    for (int64_t i = LID(0); i < ARG(2); i += LSIZE) {
        reads(1, 4 * (GRP(0) * ARG(2) + i), 4);
        stores(0, 4 * (GRP(0) * ARG(2) + i), 4);
    }
}

static void triangle(void)
{
    for (int64_t j = GID(0) + 1; j < ARG(1); j++)
        stores(0, 4 * (GID(0) * ARG(1) + j), 4);
}

static void other_triangle(void)
{
    for (int64_t j = 0; j < GID(0); j++)
        stores(0, 4 * (GID(0) * ARG(1) + j), 4);
}

static void running(void)
{
    for (int j = 0; j < ARG(2); j++)
        reads(1, 4 * (GID(0) * ARG(2) + j), 4);
    stores(0, 4 * GID(0), 4);
}

static void downwards(void)
{
    for (int j = ARG(1) - 1; j >= 0; j--)
        stores(0, 4 * (j * GSIZE + GID(0)), 4);
}

static void by_threes(void)
{
    for (int j = 2; j < ARG(1); j += 3)
        stores(0, 4 * (j * GSIZE + GID(0)), 4);
}

static void nested(void)
{
    for (int i = 0; i < ARG(1); i++)
        for (int j = i; j < ARG(1); j++)
            for (int k = 0; k < 2; k++)
                stores(0, GID(0) * 64 + (i * ARG(1) + j) * 2 + k, 1);
}

static void broken_off(void)
{
    for (int j = 0; j < ARG(1); j++) {
        reads(2, 4 * j, 4);
        may_store(0, 4 * (GID(0) + j), 4);
    }
}

static void partly(void)
{
    for (int j = 0; j < ARG(1); j++)
        if (j != 2 && GID(0) > j)
            stores(0, 4 * (GID(0) * ARG(1) + j), 4);
}

static void by_two_bounds(void)
{
    for (int64_t i = GID(0); i < ARG(2) && i < ARG(3); i += GSIZE) {
        reads(1, 4 * i, 4);
        stores(0, 4 * i, 4);
    }
}

static void two_counted(void)
{
    for (int64_t i = 0, k = GID(0); i < 10 && k < ARG(2); i += 2, k += 3)
        stores(0, 4 * (16 * k + i), 4);
}

static void left_in_the_middle(void)
{
    for (int64_t i = GID(0); i < ARG(2); i += GSIZE) {
        reads(1, 4 * i, 4);
        if (i + 3 >= ARG(3))
            break;
        stores(0, 4 * i, 4);
    }
}

static void two_falling(void)
{
    for (int64_t i = ARG(2) - GID(0), k = 7; i >= 2 && k > 0; i -= ARG(3), k--)
        stores(0, 4 * (GID(0) * 64 + i), 4);
}

static void ended_by_data(void)
{
    for (int64_t i = GID(0); i < ARG(2); i += GSIZE)
        reads(1, 4 * i, 4);
    stores(0, 4 * GID(0), 4);
}

static void asked_at_the_end(void)
{
    int64_t i = GID(0);

    do {
        reads(1, 4 * i, 4);
        i += GSIZE;
    } while (i < ARG(2));
    stores(0, 4 * GID(0), 4);
}

/* Data may end it sooner. The end by equality with 0 never comes; three hundred rounds are looked at. */
static void until_equal(void)
{
    for (int64_t i = 0; i < (ARG(3) ? ARG(3) : 300); i++) {
        reads(1, 4 * i, 4);
        may_store(0, 4 * (1 + GID(0) + i), 4);
    }
}

/* The end by equality never comes: i begins beyond it. The other one does. */
static void never_equal(void)
{
    for (int64_t i = 1 + GID(0); i < 1 + GID(0) + ARG(2); i++)
        stores(0, 4 * i, 4);
}

/* A pyramid: the last round is made by the items within `rounds` of the group's edge, and within the grid. */
static void pyramid(void)
{
    int64_t rounds = ARG(1), from = (LSIZE - 2 * rounds) * GRP(0) - rounds, x = from + LID(0);

    if (x >= 0 && x < ARG(2))
        reads(3, 4 * x, 4);
    if (LID(0) >= rounds && LID(0) <= LSIZE - rounds - 1 && x >= 0 && x < ARG(2))
        stores(0, 4 * x, 4);
}

/* What is decided in a loop's last round is known behind it. */
static void last_rounds_are_followed(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global float *o, int rounds, int n, global const float *a) {\n"
         "  local float now[8], next[8]; int l = get_local_id(0), from = (8 - 2 * rounds) * get_group_id(0) - rounds;\n"
         "  int x = from + l, low = from < 0 ? -from : 0, high = from + 7 > n - 1 ? 7 - (from + 7 - n + 1) : 7;\n"
         "  if (x >= 0 && x <= n - 1) now[l] = a[x];\n"
         "  barrier(CLK_LOCAL_MEM_FENCE); bool made;\n"
         "  for (int i = 0; i < rounds; i++) { made = false;\n"
         "    if (l >= i + 1 && l <= 6 - i && l >= low && l <= high) { made = true;\n"
         "      next[l] = now[max(l - 1, low)] + now[min(l + 1, high)]; }\n"
         "    barrier(CLK_LOCAL_MEM_FENCE); if (i == rounds - 1) break;\n"
         "    if (made) now[l] = next[l]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
         "  if (made) o[x] = next[l]; }",
         pyramid,
         {.global = {64}, .local = {8}, .scalars = {0, 2, 27}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

static void loops_end_by_several_conditions(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global int *o, global int *a, uint n, uint m) {\n"
         "  for (uint i = get_global_id(0); i < n && i < m; i += get_global_size(0)) o[i] = a[i]; }",
         by_two_bounds,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61, 50}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n) {\n"
         "  for (int i = 0, k = get_global_id(0); i < 10 && k < n; i += 2, k += 3) o[16 * k + i] = 1; }",
         two_counted,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 15}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n, int m) {\n"
         "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {\n"
         "    int value = ((volatile global int *)a)[i]; if (i + 3 >= m) break; o[i] = value; } }",
         left_in_the_middle,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61, 50}},
         NULL,
         TSL_FOOTPRINT_WIDE_VOLATILE},
        {"kernel void f(global int *o, global int *a, int n, int step) { int g = get_global_id(0), k = 7;\n"
         "  for (int i = n - g; i >= 2 && k > 0; i -= step, k--) o[64 * g + i] = 1; }",
         two_falling,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61, 5}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n) { int s = 0;\n"
         "  for (int i = get_global_id(0); i < n && s != 7; i += get_global_size(0)) s += a[i];\n"
         "  o[get_global_id(0)] = s; }",
         ended_by_data,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n) { int i = get_global_id(0), s = 0;\n"
         "  do { s += a[i]; i += get_global_size(0); } while (s != 7 && i < n); o[get_global_id(0)] = s; }",
         asked_at_the_end,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, uint n, uint end) { ulong e = end, i = 0;\n"
         "  do { o[1 + get_global_id(0) + i] = 1; if (a[i] == 5) break; } while (++i != e); }",
         until_equal,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 0, 21}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, uint n, uint end) { ulong e = end, i = 0;\n"
         "  do { o[1 + get_global_id(0) + i] = 1; if (a[i] == 5) break; } while (++i != e); }",
         until_equal,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 0, 0}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, uint n, long end) { long g = get_global_id(0), i = g + 1;\n"
         "  do { if (i >= g + 1 + n) return; o[i] = 1; } while (++i != end); }",
         never_equal,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 21, 0}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

/* Eight elements, one distance apart, in an order of which two halves go downwards. */
static void rows_of_eight(void)
{
    for (int64_t k = 0; k < 8; k++) {
        reads(1, 4 * (GID(0) + ARG(2) * k), 4);
        stores(0, 4 * (GID(0) + ARG(2) * k), 4);
    }
}

#define COPY(k) "o[e + n * " #k "] = a[e + n * " #k "]; "

static void unrolled_rows_are_whole(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global int *o, global const int *a, int n) { int e = get_global_id(0);\n" COPY(3) COPY(2)
             COPY(1) COPY(0) COPY(7) COPY(5) COPY(6) COPY(4) "}",
         rows_of_eight,
         {.global = {8}, .local = {4}, .scalars = {0, 0, 9}},
         NULL,
         0},
        {"kernel void f(global int *o, global const int *a, int n) { int e = get_global_id(0);\n" COPY(4) COPY(6)
             COPY(2) COPY(0) COPY(7) COPY(5) COPY(3) COPY(1) "}",
         rows_of_eight,
         {.global = {8}, .local = {4}, .scalars = {0, 0, 9}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

static void loops_are_counted(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global float *o, global float *a, global float *b, int w) {\n"
         "  int x = get_global_id(0), y = get_global_id(1); float s = 0; if (x >= w || y >= w) return;\n"
         "  for (int k = 0; k < w; k++) s += a[y * w + k] * b[k * w + x];\n"
         "  o[y * w + x] = s; }",
         product,
         {.global = {12, 12}, .local = {4, 4}, .scalars = {0, 0, 0, 9}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n) {\n"
         "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i]; }",
         strided,
         {.global = {12}, .local = {4}, .offset = {2}, .scalars = {0, 0, 61}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, uint n) {\n"
         "  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i]; }",
         strided,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 61}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, uint n) {\n"
         "  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i]; }",
         NULL, /* starts wrap */
         {.global = {12}, .local = {4}, .offset = {UINT32_MAX - 4}, .scalars = {0, 0, 61}},
         "wr",
         0},
        {"uint area(uint d) { const uint areas[3] = {9, 5, 30}; return areas[d]; }\n"
         "kernel void f(global float *o, global const float *a, uint d) { uint i = get_global_id(0), n = area(d);\n"
         "  if (i < n) for (uint b = 0; b < 3; b++) o[b * n + i] = a[i]; }",
         by_table,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 1}},
         NULL,
         0},
        {"kernel void f(global float *o, global const float *a, uint w, uint h) {\n"
         "  for (uint y = get_global_id(0); y < h; y += get_global_size(0)) { global const float *row = a + y * w;\n"
         "    float s = 0; for (uint x = 0; x < w; ++x) s += row[x]; o[y] = s; } }",
         strided_rows,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 5, 30}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, int n) { o += n * get_group_id(0); a += n * get_group_id(0);\n"
         "  for (int i = get_local_id(0); i < n; i += get_local_size(0)) o[i] = a[i]; }",
         strided_in_groups,
         {.global = {16}, .local = {4}, .scalars = {0, 0, 13}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) { int i = get_global_id(0);\n"
         "  for (int j = i + 1; j < n; j++) o[i * n + j] = 1; }",
         triangle,
         {.global = {12}, .local = {4}, .scalars = {0, 10}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) { int i = get_global_id(0);\n"
         "  for (int j = 0; j < i; j++) o[i * n + j] = 1; }",
         other_triangle,
         {.global = {12}, .local = {4}, .scalars = {0, 10}},
         NULL,
         0},
        {"kernel void f(global int *o, global const int *p, int n) { p += n * get_global_id(0); int s = 0;\n"
         "  for (int i = n; i--;) s += *p++; o[get_global_id(0)] = s; }",
         running,
         {.global = {12}, .local = {4}, .scalars = {0, 0, 7}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) {\n"
         "  for (int i = n - 1; i >= 0; i--) o[i * get_global_size(0) + get_global_id(0)] = 1; }",
         downwards,
         {.global = {8}, .local = {4}, .scalars = {0, 7}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) {\n"
         "  for (int i = 2; i < n; i += 3) o[i * get_global_size(0) + get_global_id(0)] = 1; }",
         by_threes,
         {.global = {8}, .local = {4}, .scalars = {0, 12}},
         NULL,
         0},
        {"kernel void f(global int *o, uint n) {\n"
         "  for (uint i = n - 1; i < n; i--) o[i * get_global_size(0) + get_global_id(0)] = 1; }",
         NULL,
         {.global = {8}, .local = {4}, .scalars = {0, 7}},
         "w",
         0},
        {"kernel void f(global char *o, int n) { o += 64 * get_global_id(0); for (int i = 0; i < n; i++)\n"
         "  for (int j = i; j < n; j++) for (int k = 0; k < 2; k++) o[(i * n + j) * 2 + k] = k; }",
         nested,
         {.global = {4}, .local = {4}, .scalars = {0, 5}},
         NULL,
         0},
        {"kernel void f(global int *o, int n, global int *a) {\n"
         "  for (int j = 0; j < n; j++) { if (a[j] > 7) break; o[get_global_id(0) + j] = 1; } }",
         broken_off,
         {.global = {8}, .local = {4}, .scalars = {0, 12}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) { int g = get_global_id(0);\n"
         "  for (int j = 0; j < n; j++) if (j != 2 && g > j) o[g * n + j] = 1; }",
         partly,
         {.global = {8}, .local = {4}, .scalars = {0, 6}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

/* ---- Other arithmetic -------------------------------------------------------------------------------------------- */

static void clamped(void)
{
    int64_t n = ARG(2), i = GID(0);

    reads(1, 4 * MAX(i - 1, 0), 4);
    reads(1, 4 * MIN(i + 1, n - 1), 4);
    reads(1, 4 * MIN(MAX(5 - i, 0), 3) + 512, 4);
    stores(0, 4 * (i % n), 4);
    stores(0, 4 * (i / 3) + 256, 4);
}

static void divided(void)
{
    int64_t i = GID(0), n = ARG(1);

    stores(0, 4 * ((i & 15) * 16 + (i >> 4)), 4);
    stores(0, 4 * ((i + 5) % 8) + 1024, 4);
    stores(0, 4 * (i / n + i % n * 8) + 2048, 4);
}

static void chosen(void)
{
    int64_t i = GID(0);

    stores(0, 4 * (i < 5 ? i * 2 : i + 40), 4);
    stores(0, i % 2 ? 512 + 4 * i : 1024 - 4 * i, 4);
}

static void wrapped(void)
{
    stores(0, 4 * (int64_t)(uint32_t)((uint32_t)GID(0) * UINT32_C(0x80000001) << 1 >> 1), 4);
}

static void signed_bytes(void)
{
    stores(0, (int8_t)(GID(0) * 16 + 100), 1);
}

static void rotated(void)
{
    uint32_t i = (uint32_t)GID(0) * 0x20000001u, sum = i + 0xf0000000u;

    stores(0, 4 * (int64_t)((i << 3 | i >> 29) & 255), 4);
    stores(0, 4 * (int64_t)(((i << 31 | i >> 1) >> 27) + 256), 4);
    stores(0, 4 * (int64_t)(((sum < i ? UINT32_MAX : sum) >> 24) + 512), 4);
}

static void other_arithmetic_is_followed(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global int *o, global int *a, int n) { int i = get_global_id(0);\n"
         "  int v = a[max(i - 1, 0)] + a[min(i + 1, n - 1)] + a[clamp(5 - i, 0, 3) + 128];\n"
         "  o[i % n] = v; o[i / 3 + 64] = v; }",
         clamped,
         {.global = {16}, .local = {4}, .scalars = {0, 0, 10}},
         NULL,
         0},
        {"kernel void f(global int *o, int n) { int i = get_global_id(0);\n"
         "  o[(i & 15) * 16 + (i >> 4)] = 1; o[(i + 5) % 8 + 256] = 1; o[i / n + i % n * 8 + 512] = 1; }",
         divided,
         {.global = {64}, .local = {4}, .scalars = {0, 9}},
         NULL,
         0},
        {"kernel void f(global int *o) { int i = get_global_id(0), j; if (i < 5) j = i * 2; else j = i + 40; o[j] = "
         "1;\n"
         "  global int *p = o + 128; if (i % 2) p += i; else p = o + 256 - i; *p = i; }",
         chosen,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o) { uint i = (uint)get_global_id(0) * 0x80000001u; i = i << 1 >> 1; o[i] = 1; }",
         wrapped,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global char *o) { char i = get_global_id(0) * 16 + 100; o[i] = 1; }",
         signed_bytes,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o) { uint i = (uint)get_global_id(0) * 0x20000001u; o[rotate(i, 3u) & 255] = 1;\n"
         "  o[(rotate(i, 31u) >> 27) + 256] = 1; o[(add_sat(i, 0xf0000000u) >> 24) + 512] = 1; }",
         rotated,
         {.global = {16}, .local = {4}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static void copied(void)
{
    for (int64_t i = 0; i < ARG(3); i++) {
        reads(1, 4 * (GRP(0) * ARG(3) + i), 4);
        stores(0, 4 * (GRP(0) * ARG(3) + i), 4);
    }
}

static void structures(void)
{
    reads(1, 40 * GID(0), 40);
    stores(0, 40 * GID(0), 40);
}

static void copies_are_followed(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global int *o, global int *a, local int *t, int n) {\n"
         "  event_t e = async_work_group_copy(t, a + n * get_group_id(0), n, 0); wait_group_events(1, &e);\n"
         "  barrier(CLK_LOCAL_MEM_FENCE);\n"
         "  e = async_work_group_copy(o + n * get_group_id(0), t, n, 0); wait_group_events(1, &e); }",
         copied,
         {.global = {16}, .local = {4}, .scalars = {0, 0, 0, 9}},
         NULL,
         0},
        {"struct s { int a[10]; };\n"
         "kernel void f(global struct s *o, global struct s *a) { o[get_global_id(0)] = a[get_global_id(0)]; }",
         structures,
         {.global = {16}, .local = {4}},
         NULL,
         0},
    };

    (void)state;
    CHECK(kernels);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

#define IMAGES(what)                                                                                     \
    "kernel void f(read_only image2d_t a, write_only image2d_array_t b, sampler_t s, global int *o) {\n" \
    "  int2 p = (int2)(get_global_id(0), get_global_id(1)); " what " }"

static const struct tsl_access *access_of(const struct tsl_footprint *footprint, uint32_t argument)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].argument == argument)
            return &footprint->accesses[i];
    fail();
    return NULL;
}

/* Coordinates of one work-item; false: unknown. */
static bool pixel(const struct tsl_footprint *footprint, const struct tsl_access *access, const struct item *item,
                  int64_t *at)
{
    static struct values values;
    uint64_t counters[TSL_FOOTPRINT_MAX_LOOPS] = {0};

    compute(footprint, item, counters, &values);
    for (unsigned d = 0; d < 3; d++)
        at[d] = access->address[d] == TSL_FOOTPRINT_NONE ? INT64_MIN : values.value[access->address[d]];
    return access->address[0] != TSL_FOOTPRINT_NONE && !values.unknown[access->address[0]];
}

static void images_are_touched_at_coordinates(void **state)
{
    static const struct {
        const char *source;
        int64_t read[2]; /* of work-item (5, 7); 64: unknown */
    } cases[] = {
        {IMAGES("write_imagef(b, (int4)(p, 3, 0), read_imagef(a, p + (int2)(1, 2)));"), {6, 9}},
        {IMAGES("write_imagef(b, (int4)(p, 3, 0), read_imagef(a, s, p - (int2)(6, 2)));"), {0, 5}},
        {IMAGES("write_imagef(b, (int4)(p, 3, 0), read_imagef(a, CLK_ADDRESS_CLAMP, p + (int2)(60, 0)));"), {-1, 7}},
        {IMAGES("write_imagef(b, (int4)(p, 3, 0), read_imagef(a, CLK_ADDRESS_CLAMP_TO_EDGE, p * 10));"), {31, 15}},
        {IMAGES("write_imagef(b, (int4)(p, 3, 0), read_imagef(a, s, (float2)(1, 2)));"), {64, 64}},
    };
    /* Of an image of 32 by 16 pixels, in place of struct tsl_kc_image; and of a sampler that clamps to the edge. */
    static const int64_t image[] = {0, INT64_C(16) << 32 | 32, INT64_C(1) << 32 | 1};
    struct launch launch = {.global = {8, 8, 1}, .local = {1, 1, 1}, .scalars = {0, 0, 0x12}};
    struct item item = {.launch = &launch, .global = {5, 7, 0}};

    (void)state;
    memcpy(launch.scalars, image, 16); /* only the first argument's sizes are asked for */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tsl_footprint *footprint;
        const struct tsl_access *read, *write;
        struct tsl_compiled compiled;
        int64_t at[3];

        assert_int_equal(kc_build(cases[i].source, "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        footprint = compiled.built.kernels[0].facts.footprint;
        read = access_of(footprint, 0);
        write = access_of(footprint, 1);
        assert_int_equal(read->flags, TSL_ACCESS_IMAGE);
        assert_int_equal(write->flags, TSL_ACCESS_IMAGE | TSL_ACCESS_SURE);
        assert_true(pixel(footprint, write, &item, at));
        assert_true(at[0] == 5 && at[1] == 7 && at[2] == 3);
        assert_int_equal(pixel(footprint, read, &item, at), cases[i].read[0] != 64);
        assert_true(cases[i].read[0] == 64 || (at[0] == cases[i].read[0] && at[1] == cases[i].read[1]));
        tsl_compiled_finish(&compiled);
    }
}

/* ---- What isn't known -------------------------------------------------------------------------------------------- */

static void gathered(void)
{
    reads(2, 4 * GID(0), 4);
    stores(0, 4 * GID(0), 4);
}

static void scattered(void)
{
    reads(1, 4 * GID(0), 4);
}

static void guarded_by_data(void)
{
    reads(1, 4 * GID(0), 4);
    may_store(0, 4 * GID(0), 4);
}

static void on_each_way(void)
{
    reads(1, 4 * GID(0), 4);
    stores(0, 4 * GID(0), 4);
}

static void on_some_ways(void)
{
    reads(1, 4 * GID(0), 4);
    may_store(0, 4 * GID(0), 4);
}

static void either(void)
{
    reads(2, 4 * GID(0), 4);
    may_store(0, 4 * GID(0), 4);
    may_store(1, 4 * GID(0), 4);
}

static void remembered(void)
{
    for (unsigned k = 0; k < 5; k++)
        reads(1, 4 * k, 4);
    stores(0, 4 * GID(0), 4);
}

static void turned(void)
{
    for (unsigned i = 0; i < 100; i++)
        reads(3, 4 * i, 4);
}

static void perhaps(void)
{
    may_store(0, 4 * GID(0), 4);
}

static void data_makes_addresses_unknown(void **state)
{
    static const struct kernel kernels[] = {
        {"kernel void f(global int *o, global int *a, global int *i) { o[get_global_id(0)] = a[i[get_global_id(0)]]; }",
         gathered,
         {.global = {16}, .local = {4}},
         "-r",
         0},
        {"kernel void f(global int *o, global int *a) { o[a[get_global_id(0)]] = 1; }",
         scattered,
         {.global = {16}, .local = {4}},
         "w",
         0},
        {"kernel void f(global int *o, global int *a) { if (a[get_global_id(0)]) o[get_global_id(0)] = 1; }",
         guarded_by_data,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a) { int i = get_global_id(0);\n"
         "  if (a[i] > 3) o[i] = 1; else if (a[i] > 7) o[i] = i; else o[i] = 0; }",
         on_each_way,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a) { int i = get_global_id(0);\n"
         "  if (a[i] > 3) o[i] = 1; else if (a[i] < -7) o[i] = i; }",
         on_some_ways,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *p, global int *a) { global int *q = a[get_global_id(0)] ? o : p;\n"
         "  q[get_global_id(0)] = 1; }",
         either,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *p, global int *a) { int i = get_global_id(0), v = a[i] & 255;\n"
         "  for (int k = 0; k < 2; k++, v += 2) (v == 9 ? o : p)[i] = k; }",
         either,
         {.global = {16}, .local = {4}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *a, global int *b, int n) { global int *p; int some = 0;\n"
         "  for (int k = 0; k < n; k++) if (a[k] & 1) { p = &b[k]; some = 1; }\n"
         "  o[get_global_id(0)] = some ? *p : 0; }",
         remembered,
         {.global = {16}, .local = {4}, .scalars = {[3] = 5}},
         "--r",
         0},
        {"kernel void f(global int *o, global int *a, global int *b, int n) { global int *p = b;\n"
         "  for (int k = 0; k < n; k++) if (a[k] & 1) p = &b[k];\n"
         "  o[get_global_id(0)] = *p; }",
         remembered,
         {.global = {16}, .local = {4}, .scalars = {[3] = 5}},
         "--r",
         0},
        {"kernel void f(global int *o, global int *a, global int *b, int n) { int i = 0;\n"
         "  for (int k = 0; k < n; k++) if (a[k] & 1) i = k;\n"
         "  o[get_global_id(0)] = b[i]; }",
         remembered,
         {.global = {16}, .local = {4}, .scalars = {[3] = 5}},
         "--r",
         0},
        {"kernel void f(global int *o, global int *a, global int *b, global const int *c, int m) {\n"
         "  global int *p = a, *x = o, *q = b + m;\n"
         "  if (m < 2) *q = 7;\n"
         "  #pragma nounroll\n"
         "  for (int i = 0; i < 100; i++) { if (c[i] > 3) x = p; p = q; }\n"
         "  *x = 1; }",
         turned,
         {.global = {16}, .local = {4}, .scalars = {[4] = 5}},
         "www",
         0},
        {"kernel void f(global int *o, global int *s, int n, int m, int k) {\n"
         "  global int *p = n & 1 ? &s[m] : (global int *)0;\n"
         "  if (p == &s[k]) o[get_global_id(0)] = 1; }",
         perhaps,
         {.global = {16}, .local = {4}, .scalars = {[2] = 2, [3] = 5, [4] = 5}},
         NULL,
         0},
        {"kernel void f(global int *o, global int *s, int n, int m, int k) {\n"
         "  global int *p = n & 1 ? &s[m] : (global int *)0;\n"
         "  if (p != &s[k]) o[get_global_id(0)] = 1; }",
         perhaps,
         {.global = {16}, .local = {4}, .scalars = {[2] = 2, [3] = 5, [4] = 5}},
         NULL,
         0},
        {"kernel void f(global int *o, int n, int m, int k) { int2 v = ((int2)(n, m) & 15) + 1;\n"
         "  v[k & 1] = 50; o[v.x] = 1; }",
         NULL,
         {.global = {16}, .local = {4}, .scalars = {[1] = 3, [2] = 5, [3] = 0}},
         "w",
         0},
        {"kernel void f(global int *o, global int *a, ulong p) { *(global int *)p = 1; }",
         NULL,
         {.global = {16}, .local = {4}},
         "ww",
         TSL_FOOTPRINT_POINTERS},
    };

    (void)state;
    CHECK(kernels);
}

/* ---- Atomics, fences, loops that wait ---------------------------------------------------------------------------- */

struct atomic {
    const char *source;
    uint8_t operation;
    bool result;
};

static const struct tsl_access *only_atomic(const struct tsl_footprint *footprint)
{
    const struct tsl_access *found_one = NULL;

    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].kind == TSL_ACCESS_ATOMIC) {
            assert_null(found_one);
            found_one = &footprint->accesses[i];
        }
    return found_one;
}

static void atomics_tell_their_operation(void **state)
{
#define ATOMIC(what) "kernel void f(global int *a, global uint *u, global int *o) { " what " }"
    static const struct atomic atomics[] = {
        {ATOMIC("atomic_add(a, 3);"), TSL_ATOMIC_ADD, false},
        {ATOMIC("atomic_sub(a, 3);"), TSL_ATOMIC_ADD, false},
        {ATOMIC("atomic_inc(u);"), TSL_ATOMIC_ADD, false},
        {ATOMIC("atomic_min(a, 3);"), TSL_ATOMIC_SMIN, false},
        {ATOMIC("atomic_max(u, 3u);"), TSL_ATOMIC_UMAX, false},
        {ATOMIC("atomic_and(u, 3u);"), TSL_ATOMIC_AND, false},
        {ATOMIC("atomic_or(u, 3u);"), TSL_ATOMIC_OR, false},
        {ATOMIC("atomic_xor(a, 3);"), TSL_ATOMIC_XOR, false},
        {ATOMIC("o[get_global_id(0)] = atomic_dec(a);"), TSL_ATOMIC_ADD, true},
        {ATOMIC("atomic_xchg(a, 3);"), TSL_ATOMIC_OTHER, false},
        {ATOMIC("o[0] = atomic_cmpxchg(a, 3, 4);"), TSL_ATOMIC_OTHER, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(atomics) / sizeof(atomics[0]); i++) {
        const struct tsl_access *access;
        struct tsl_compiled compiled;

        assert_int_equal(kc_build(atomics[i].source, "", &compiled), CL_SUCCESS);
        access = only_atomic(compiled.built.kernels[0].facts.footprint);
        assert_non_null(access);
        assert_int_equal(access->atomic, atomics[i].operation);
        assert_int_equal((access->flags & TSL_ACCESS_RESULT) != 0, atomics[i].result);
        assert_int_equal(access->width, 4);
        tsl_compiled_finish(&compiled);
    }
}

struct flagged {
    const char *source;
    unsigned flags;
};

static void flags_tell_what_else_is_done(void **state)
{
    static const struct flagged kernels[] = {
        {"kernel void f(global int *a) { barrier(CLK_GLOBAL_MEM_FENCE); a[0] = 1; }", 0},
        {"kernel void f(global int *a) { a[0] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); a[1] = 1; }", 0},
        {"kernel void f(global int *a) { a[0] = 1; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel,\n"
         "  memory_scope_device); a[1] = 1; }",
         TSL_FOOTPRINT_FENCES},
        {"kernel void f(global int *a) { a[0] = 1; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel,\n"
         "  memory_scope_work_group); a[1] = 1; }",
         0},
        {"kernel void f(global int *a) { atomic_add(a, 1); }", 0},
        {"kernel void f(global int *a) { atom_add(a, 1); }", 0},
        {"kernel void f(global int *a) { a[1] = atom_cmpxchg(a, 1, 2); }", 0},
        {"kernel void f(global atomic_int *a) { atomic_fetch_add(a, 1); }", TSL_FOOTPRINT_FENCES},
        {"kernel void f(global atomic_int *a) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed); }", 0},
        {"kernel void f(volatile global int *a) { a[0] = 1; }", TSL_FOOTPRINT_WIDE_VOLATILE},
        {"kernel void f(global int *o, volatile local int *a) { a[0] = 1; o[0] = a[1]; }", 0},
        {"kernel void f(global int *a) { printf(\"%d\", a[0]); }", TSL_FOOTPRINT_PRINTS},
        {"constant int v[2] = {1, 2}; kernel void f(global int *a) { a[0] = v[a[1]]; }", 0},
        {"kernel void f(global int *a) { while (atomic_add(a, 0) == 0); }", TSL_FOOTPRINT_SPINS},
        {"kernel void f(global int *a, global int *b) { int x; do x = atomic_cmpxchg(a, 0, 1); while (x); b[0] = 1; }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(volatile global int *a) { while (!*a); }", TSL_FOOTPRINT_SPINS | TSL_FOOTPRINT_WIDE_VOLATILE},
        {"kernel void f(global int *a, int n) { int i = 0; while (i < n && !a[0]) { i++; a[1] = i; } }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(global int *a, global int *b, int n) { int i = 0; while (i < n && !a[i]) { i++; b[i] = i; } }",
         0},
        {"kernel void f(global int *r, global int *o) { int s = 0;\n"
         "  for (int i = r[get_global_id(0)]; i < r[get_global_id(0) + 1]; i++) s += i; o[get_global_id(0)] = s; }",
         0},
        {"kernel void f(global int *a, global int *b, int n) { for (int i = 0; i < n; i++) { if (atomic_add(a, 1) > "
         "3)\n"
         "  b[i] = 1; } }",
         0},
        {"kernel void f(global long *a) { global int *p = (global int *)a[0]; *p = 1; }", TSL_FOOTPRINT_POINTERS},
        /* The bound is loaded again only where something was found. */
        {"kernel void f(global const int *n, global const int *in, global int *a, global int *out) {\n"
         "  for (int i = 0; i < n[3]; i++) if ((in[i] & 15) == 5) { int at = atomic_inc(a); if (at < 100) out[at] = i; "
         "} "
         "}",
         0},
        {"kernel void f(global int *n, global const int *in, global int *a) {\n"
         "  for (int i = 0; i < n[3]; i++) if ((in[i] & 15) == 5) { if (atomic_inc(a) < 9) n[3] = i; } }",
         TSL_FOOTPRINT_SPINS},
        /* A search within it, which ends at what it finds. */
        {"int find(int x, int n, global const int *t) { for (int l = 0, r = n; r; r >>= 1) { int c = l + (r >> 1);\n"
         "  int d = x > t[c] ? 1 : x < t[c] ? -1 : 0; if (d > 0) { l = c + 1; r--; } if (d == 0) return c; } return "
         "-1; }\n"
         "kernel void f(global const int *t, global int *seen, global int *a, global int *out, int n, int m) {\n"
         "  for (int i = 0; i < m; i++) { int at = find(i * 77, n, t); if (at >= 0 && atomic_inc(&seen[at]) == 0)\n"
         "    { int k = atomic_inc(a); if (k >= 64) { atomic_dec(a); continue; } out[k] = i; } } }",
         0},
        /* How often a loop within it ran decides about its end. */
        {"kernel void f(global atomic_uint *a, global uint *out, uint n) { uint bits; do {\n"
         "  uint v = atomic_load_explicit(a, memory_order_relaxed, memory_scope_device); bits = 0;\n"
         "  do { v &= v - 1; bits++; } while (v); } while (bits != n); out[get_global_id(0)] = 1; }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(global uint *a, global uint *out, uint n) { uint bits; do { uint v = atomic_or(a, 0); bits = "
         "0;\n"
         "  do { v &= v - 1; bits++; } while (v); } while (bits != n); out[get_global_id(0)] = 1; }",
         TSL_FOOTPRINT_SPINS},
        /* What others say is handed on in local memory. */
        {"kernel void f(global int *a, global int *out, local int *l) { for (;;) {\n"
         "  if (get_local_id(0) == 0) l[0] = atomic_add(a, 0); barrier(CLK_LOCAL_MEM_FENCE); if (l[0]) break;\n"
         "  barrier(CLK_LOCAL_MEM_FENCE); } out[get_global_id(0)] = 1; }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(global int *a, global int *out, local int *l, int n) { int v = l[0]; l[1] = n;\n"
         "  while (!v) { if (atomic_add(a, 0)) { l[n] = 1; v = l[0]; } } out[get_global_id(0)] = v; }",
         TSL_FOOTPRINT_SPINS},
        /* What the search finds ends the loop, and others may change that. */
        {"int find(int x, int n, volatile global int *t) { for (int i = 0; i < n; i++) if (t[i] == x) return i; return "
         "-1; "
         "}\n"
         "kernel void f(volatile global int *t, global int *out, int n) { int k = 0; while (find(3, n, t) < 0) k++;\n"
         "  out[0] = k; }",
         TSL_FOOTPRINT_SPINS | TSL_FOOTPRINT_WIDE_VOLATILE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tsl_compiled compiled;
        unsigned flags;

        assert_int_equal(kc_build(kernels[i].source, "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        flags = compiled.built.kernels[0].facts.footprint->flags;
        if (flags != kernels[i].flags)
            print_error("%x instead of %x for\n%s\n", flags, kernels[i].flags, kernels[i].source);
        assert_int_equal(flags, kernels[i].flags);
        tsl_compiled_finish(&compiled);
    }
}

/* ---- Loops that end by their own exchange ------------------------------------------------------------------------ */

#define SUM(type, load, exchange)                                                                   \
    "kernel void f(global " type " *p, " type " x) { " type " o; do o = " load "; while (" exchange \
    "(p, o, o * x + 1) "                                                                            \
    "!= o); }"
#define UNION      "union { uint u; float f; } o, n; "
#define ADD        "atomic_cmpxchg((volatile global uint *)p, o.u, n.u)"
#define LOCK(take) "kernel void f(global int *p, global int *out) { int o = 0; " take " out[0]++; *p = 0; }"
#define RELAXED    "memory_order_relaxed, memory_order_relaxed, memory_scope_device"

static bool uses_results(const struct tsl_footprint *footprint)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].flags & TSL_ACCESS_RESULT)
            return true;
    return false;
}

static void exchange_loops_wait_for_nobody(void **state)
{
    static const char *const kernels[] = {
        SUM("int", "*p", "atomic_cmpxchg"),
        SUM("ulong", "*p", "atom_cmpxchg"),
        "kernel void f(volatile global float *p, float x) { " UNION "do { o.f = *p; n.f = o.f + x; } while (" ADD
        " != o.u); }",
        "kernel void f(volatile global float *p, float x) { " UNION "uint old; o.f = *p; do { n.f = o.f + x;\n"
        "  old = o.u; o.u = " ADD "; } while (o.u != old); }",
        "kernel void f(global float *p, float x) { float o, n; do { o = *p; n = o + x; }\n"
        "  while (atomic_cmpxchg((global int *)p, as_int(o), as_int(n)) != as_int(o)); }",
        "kernel void f(global int *p, int x) { int o = *p; while (atomic_cmpxchg(p, o, o * x) != o) o = *p; }",
        "kernel void f(global int *p, int n) { int o; do o = *p; while (n-- && atomic_cmpxchg(p, o, o * 3) != o); }",
        /* The first try stands before the loop. */
        "kernel void f(global const int *r, global const int *at, global float *p, global const float *x) {\n"
        "  int t = get_global_id(0); for (int i = r[t]; i < r[t + 1]; i++) {\n"
        "  global float *to = p + at[i]; uint o, n, back; o = as_uint(*to); n = as_uint(as_float(o) + x[t]);\n"
        "  while ((back = atomic_cmpxchg((global uint *)to, o, n)) != o)\n"
        "  { o = back; n = as_uint(as_float(o) + x[t]); } } }",
        /* Several, one behind the other and in a loop. */
        "kernel void f(global int *p, global int *q, global const int *at, int n) { for (int i = 0; i < n; i++) { int "
        "o;\n"
        "  do o = p[at[i]]; while (atomic_cmpxchg(p + at[i], o, o * 3) != o);\n"
        "  do o = q[at[i]]; while (atomic_cmpxchg(q + at[i], o, o * 5) != o); } }",
        "kernel void f(global atomic_int *p, int x) {\n"
        "  int o = atomic_load_explicit(p, memory_order_relaxed, memory_scope_device);\n"
        "  while (!atomic_compare_exchange_strong_explicit(p, &o, o * x, " RELAXED ")); }",
        "kernel void f(global atomic_long *p, long x) { long o = 0;\n"
        "  while (!atomic_compare_exchange_weak_explicit(p, &o, o * x, " RELAXED ")); }",
        "kernel void f(volatile global float *p, float x) {\n"
        "  while ((x = atomic_xchg(p, atomic_xchg(p, 0.0f) + x)) != 0.0f); }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tsl_compiled compiled;
        const struct tsl_footprint *footprint;

        assert_int_equal(kc_build(kernels[i], "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        footprint = compiled.built.kernels[0].facts.footprint;
        if (footprint->flags)
            print_error("%x for\n%s\n", footprint->flags, kernels[i]);
        assert_int_equal(footprint->flags, 0);
        assert_false(uses_results(footprint));
        tsl_compiled_finish(&compiled);
    }
}

static void others_may_learn_from_an_exchange_loop(void **state)
{
    static const struct flagged kernels[] = {
        /* It doesn't wait, but its value tells who was there before. */
        {"kernel void f(global int *p, global int *out) { int o; do o = *p; while (atomic_cmpxchg(p, o, o + 1) != o);\n"
         "  out[get_global_id(0)] = o; }",
         0},
        {"kernel void f(global int *p, global int *next) { int o, i = get_global_id(0);\n"
         "  do { o = *p; next[i] = o; } while (atomic_cmpxchg(p, o, i) != o); }",
         0},
        {"kernel void f(global int *p, global int *out) { int o; do o = *p; while (atomic_cmpxchg(p, o, o + 1) != o);\n"
         "  if (o == 99) out[0] = *p; }",
         0},
        /* A sum that is made while a loop around it waits. */
        {"kernel void f(global int *p, global int *q) { int o; do do o = *p; while (atomic_cmpxchg(p, o, o + 1) != "
         "o);\n"
         "  while (!atomic_add(q, 0)); }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(global int *p, global int *q) { int o; do do o = *p; while (atomic_cmpxchg(p, o, o + 1) != "
         "o);\n"
         "  while (o < 99); }",
         TSL_FOOTPRINT_SPINS},
        {"kernel void f(global int *p, volatile global int *q) { int o;\n"
         "  do o = *p; while (atomic_cmpxchg(p, o, o + 1) != o || !*q); }",
         TSL_FOOTPRINT_SPINS | TSL_FOOTPRINT_WIDE_VOLATILE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tsl_compiled compiled;

        assert_int_equal(kc_build(kernels[i].source, "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        if (compiled.built.kernels[0].facts.footprint->flags != kernels[i].flags)
            print_error("instead of %x for\n%s\n", kernels[i].flags, kernels[i].source);
        assert_int_equal(compiled.built.kernels[0].facts.footprint->flags, kernels[i].flags);
        assert_true(uses_results(compiled.built.kernels[0].facts.footprint));
        tsl_compiled_finish(&compiled);
    }
}

static void locks_wait(void **state)
{
    static const char *const kernels[] = {
        LOCK("while (atomic_cmpxchg(p, 0, 1));"),
        LOCK("while (atomic_xchg(p, 1));"),
        LOCK("do o = *p; while (o != 0 || atomic_cmpxchg(p, o, 1) != o);"),
        LOCK("do o = *p & ~1; while (atomic_cmpxchg(p, o, o | 1) != o);"),
        LOCK("while (atomic_cmpxchg(p, o, 1) != o) o = 0;"),
        LOCK("int k = 0; while (atomic_cmpxchg(p, o, 1) != o) { k++; o = k & 1; }"),
        LOCK("do o = *p; while (atomic_cmpxchg(p, o, o) != 0);"),
        LOCK("do o = *p; while (atomic_cmpxchg(p + 1, o, o + 1) != o);"),
        LOCK("do { o = *p; *p = o + 3; } while (atomic_cmpxchg(p, o, o + 1) != o);"),
        LOCK("do { o = *p; if (o & 1) continue; if (atomic_cmpxchg(p, o, o | 1) == o) break; } while (1);"),
        LOCK("while (atomic_xchg(p, atomic_xchg(p, 0)) != 1);"),
        LOCK("while (atomic_xchg(p, atomic_xchg(p + 1, 0)) != 0);"),
        LOCK("int i = 0, r; o = *p; while ((r = atomic_cmpxchg(p + (i & 3), o, 1)) != o) { o = r; i++; }"),
        "kernel void f(global atomic_int *p, global int *out) { int o = 0;\n"
        "  while (!atomic_compare_exchange_weak_explicit(p, &o, 1, " RELAXED ")) o = 0; out[0]++; }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tsl_compiled compiled;

        assert_int_equal(kc_build(kernels[i], "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        if (compiled.built.kernels[0].facts.footprint->flags != TSL_FOOTPRINT_SPINS)
            print_error("it should spin:\n%s\n", kernels[i]);
        assert_int_equal(compiled.built.kernels[0].facts.footprint->flags, TSL_FOOTPRINT_SPINS);
        tsl_compiled_finish(&compiled);
    }
}

/* ---- Loops that look again, and loops that count --------------------------------------------------------------- */

#define PER_GROUP(wait)                                           \
    "kernel void f(global uint *a, global uint *out, uint n) {\n" \
    "  uint other = get_group_id(0) ^ 1; a[get_group_id(0)] = 4; " wait " out[get_global_id(0)] = 1; }"
#define FENCE "barrier(CLK_GLOBAL_MEM_FENCE); "

static const struct flagged looking[] = {
    /* The place is computed in the loop, but to the same. */
    {PER_GROUP("do { " FENCE "} while (a[other] != 4);"), TSL_FOOTPRINT_SPINS},
    {PER_GROUP("while (!a[(other * 5 + n) % 7]) " FENCE), TSL_FOOTPRINT_SPINS},
    {PER_GROUP("for (uint t = 0; t < 1000000 && !a[other]; t++) " FENCE), TSL_FOOTPRINT_SPINS},
    /* All places again and again. */
    {PER_GROUP("uint s; do { " FENCE "s = 0; for (uint i = 0; i < n; i++) s += a[i]; } while (s != n);"),
     TSL_FOOTPRINT_SPINS},
    {PER_GROUP("for (uint t = 0; t < 1000000; t++) { uint s = 0; " FENCE
               "for (uint i = 0; i < n; i++) s += a[i]; if (s == n) break; }"),
     TSL_FOOTPRINT_SPINS},
    /* Backwards to the first one, for each element. */
    {PER_GROUP("uint m = 0, s; do { s = 0; m++; for (uint i = m + 1; i-- > 0;) s |= a[i]; } while (s != 7);"),
     TSL_FOOTPRINT_SPINS},
    {PER_GROUP("uint v; do { " FENCE "uint w = a[other], k = 0; do { k++; w >>= 1; } while (w); v = k; } while (v != "
               "3);"),
     TSL_FOOTPRINT_SPINS},
    /* Round and round, and where memory says. */
    {PER_GROUP("uint i = other; while (!a[i]) { a[n] = i; i = (i + 1) % n; }"), TSL_FOOTPRINT_SPINS},
    {PER_GROUP("uint i = other; while (a[i] != i) i = a[i];"), TSL_FOOTPRINT_SPINS},
    /* A flag says whether its end is reached at all. */
    {PER_GROUP("for (;;) { if (a[other]) { out[n] = 1; if (n > 3) break; } " FENCE "}"), TSL_FOOTPRINT_SPINS},
    /* What goes on or ends by a counter waits for nobody. */
    {PER_GROUP("uint i = other; while (!a[i]) { a[i] = 2; i++; }"), 0},
    {PER_GROUP("long i = other; while (!a[i]) { a[i] = 2; i -= 3; }"), 0},
    {PER_GROUP("size_t i = other; while (!a[i]) { a[i] = 2; i += get_global_size(0); }"), 0},
    {PER_GROUP("for (uint i = other; i < n && !a[i * 77 % n]; i++) out[i] = 2;"), 0},
    {PER_GROUP("uint s = 0, r = 0; do { s = 0; for (uint i = 0; i < 4; i++) s += a[r * 4 + i]; r++; } while (s != 4);"),
     0},
};

#define TAKE(loop) \
    "kernel void f(global uint *c, global uint *out, global const uint *in, uint n) { uint i, k = 0; " loop " }"

static const struct flagged counting[] = {
    {TAKE("while ((i = atomic_inc(c)) < n) out[i] = i;"), 0},
    {TAKE("for (;;) { i = atomic_add(c, 4); if (i >= n) break; for (k = 0; k < 4; k++) out[i + k] = k; }"), 0},
    {TAKE("do { i = atomic_sub(c, -1); if (i < n) out[i] = in[i]; } while (i < n);"), 0},
    {TAKE("while (n > (i = atomic_inc(&c[3]) + 5) && in[i] != 7) out[i] = i;"), 0},
    /* Only now and then. */
    {TAKE("i = get_global_id(0); while (i < n) { k += in[i]; if (k > 9) { out[i] = k; k = 0; i = atomic_inc(c); } }"),
     0},
    {TAKE("i = get_global_id(0); for (;;) { if (k < 9) k += in[i + k]; else { out[i] = k; i = atomic_inc(c); if (i < "
          "n)\n"
          "  k = in[i]; else break; } }"),
     0},
    {TAKE("i = get_global_id(0); for (;;) { if (k < 9) k += in[i + k]; else { out[i] = k; i = atomic_inc(c); if (i > "
          "n)\n"
          "  k = in[i]; else break; } }"),
     TSL_FOOTPRINT_SPINS},
    {TAKE("i = get_global_id(0); for (;;) { if (k < 9) k += out[k]; else { out[i] = k; i = atomic_inc(c); if (i < n)\n"
          "  k = in[i]; else break; } }"),
     TSL_FOOTPRINT_SPINS},
    /* Locks, and what waits for others' counting. */
    {TAKE("while (atomic_inc(c) > 0); out[0] += k; *c = 0;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_inc(c) != 0) atomic_dec(c); out[0] += k; atomic_dec(c);"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_inc(c) < n) atomic_dec(c); out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_inc(c) < n) { k++; *c = 0; } out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_add(c, 0) < n); out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_dec(c) < n); out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("atomic_inc(c); while (atomic_or(c, 0) < n); out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while (atomic_inc(c + k) < n) k = in[k]; out[0] = k;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while ((i = atomic_inc(c)) < out[1]) out[i + 2] = 1;"), TSL_FOOTPRINT_SPINS},
    {TAKE("do { i = atomic_inc(c); if (i == n) k = 1; } while (!k); out[0] = i;"), TSL_FOOTPRINT_SPINS},
    {TAKE("while ((i = atomic_inc(c)) < n) { out[i] = 1; while (!out[i ^ 1]) " FENCE "}"), TSL_FOOTPRINT_SPINS},
};

static void check_flags(const struct flagged *kernels, size_t n)
{
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++) {
        struct tsl_compiled compiled;
        unsigned flags;

        assert_int_equal(kc_build(kernels[i].source, "-cl-std=CL3.0", &compiled), CL_SUCCESS);
        flags = compiled.built.kernels[0].facts.footprint->flags;
        if (flags != kernels[i].flags)
            print_error("%x instead of %x for\n%s\n", flags, kernels[i].flags, kernels[i].source);
        wrong += flags != kernels[i].flags;
        tsl_compiled_finish(&compiled);
    }
    assert_int_equal(wrong, 0);
}

static void who_looks_again_waits(void **state)
{
    (void)state;
    check_flags(looking, sizeof(looking) / sizeof(looking[0]));
}

static void who_counts_to_the_end_waits_for_nobody(void **state)
{
    (void)state;
    check_flags(counting, sizeof(counting) / sizeof(counting[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_addresses_are_exact),
        cmocka_unit_test(unrolled_rows_are_whole),
        cmocka_unit_test(loops_are_counted),
        cmocka_unit_test(other_arithmetic_is_followed),
        cmocka_unit_test(copies_are_followed),
        cmocka_unit_test(data_makes_addresses_unknown),
        cmocka_unit_test(atomics_tell_their_operation),
        cmocka_unit_test(flags_tell_what_else_is_done),
        cmocka_unit_test(images_are_touched_at_coordinates),
        cmocka_unit_test(loops_end_by_several_conditions),
        cmocka_unit_test(last_rounds_are_followed),
        cmocka_unit_test(exchange_loops_wait_for_nobody),
        cmocka_unit_test(others_may_learn_from_an_exchange_loop),
        cmocka_unit_test(locks_wait),
        cmocka_unit_test(who_looks_again_waits),
        cmocka_unit_test(who_counts_to_the_end_waits_for_nobody),
    };

    kc_use(NULL);
    kc_use_no_cache();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
