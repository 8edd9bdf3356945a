/*
 * Work-group collective functions give what they give on the host: of all types, in groups of one to three dimensions,
 * in last groups that are smaller, in loops and in branches that whole groups take.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: COLLECTIVES_MAY_LACK=1 */
/* timeout: 400 */
#include "cpu_rig.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_ITEMS 5000u
#define N_RESULTS  15u

/* Numbers are small and whole, so that sums are exact in any order, and halves of them the same in all types. */
static const char source[] =
    "size_t place(void) {\n"
    "  return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
    "}\n"
    "kernel void each(global const T *in, global T *out) {\n"
    "  size_t at = place() * 15; T x = in[place()];\n"
    "  uint3 last = (uint3)(get_local_size(0), get_local_size(1), get_local_size(2)) - 1u;\n"
    "  out[at] = work_group_all(x < (T)30); out[at + 1] = work_group_any(x < (T)10);\n"
    "  out[at + 2] = work_group_reduce_add(x); out[at + 3] = work_group_reduce_min(x);\n"
    "  out[at + 4] = work_group_reduce_max(x); out[at + 5] = work_group_scan_inclusive_add(x);\n"
    "  out[at + 6] = work_group_scan_inclusive_min(x); out[at + 7] = work_group_scan_inclusive_max(x);\n"
    "  out[at + 8] = work_group_scan_exclusive_add(x); out[at + 9] = work_group_scan_exclusive_min(x);\n"
    "  out[at + 10] = work_group_scan_exclusive_max(x);\n"
    "  if (get_work_dim() == 1) out[at + 11] = work_group_broadcast(x, last.x);\n"
    "  else if (get_work_dim() == 2) out[at + 11] = work_group_broadcast(x, last.x, last.y);\n"
    "  else out[at + 11] = work_group_broadcast(x, last.x, last.y, last.z);\n"
    "  for (int i = 0; i < 5; i++) {\n"
    "    if (get_group_id(0) & 1) x = work_group_scan_inclusive_max(x) + i;\n"
    "    else x = work_group_reduce_min(x) + in[place()];\n"
    "    if (work_group_any(x == (T)40)) { x = work_group_scan_exclusive_add(x) + 1; break; }\n"
    "  }\n"
    "  out[at + 12] = x;\n"
    "  for (int i = 0; i < 4 && work_group_all(x < (T)100); i++) x = x + 20 + work_group_reduce_max(x);\n"
    "  out[at + 13] = x;\n"
    "  out[at + 14] = work_group_reduce_add(get_local_id(0) < 3 ? x : (T)0);\n"
    "}\n";

struct type {
    const char *name;
    size_t size;
    bool is_signed, is_float;
    double least, most; /* what a scan of nothing gives */
};

static const struct type types[] = {
    {"int", 4, true, false, INT32_MIN, INT32_MAX},
    {"uint", 4, false, false, 0, UINT32_MAX},
    {"long", 8, true, false, (double)INT64_MIN, (double)INT64_MAX},
    {"ulong", 8, false, false, 0, (double)UINT64_MAX},
    {"float", 4, true, true, -INFINITY, INFINITY},
    {"double", 8, true, true, -INFINITY, INFINITY},
};

struct shape {
    cl_uint dimensions;
    size_t global[3], local[3];
};

static const struct shape shapes[] = {
    {1, {64, 1, 1}, {1, 1, 1}},      {1, {100, 1, 1}, {32, 1, 1}},    {1, {129, 1, 1}, {64, 1, 1}},
    {1, {90, 1, 1}, {7, 1, 1}},      {1, {1000, 1, 1}, {256, 1, 1}},  {1, {195, 1, 1}, {65, 1, 1}},
    {1, {2001, 1, 1}, {1000, 1, 1}}, {1, {4096, 1, 1}, {1024, 1, 1}}, {1, {4500, 1, 1}, {4096, 1, 1}},
    {2, {64, 8, 1}, {1, 8, 1}},      {2, {48, 32, 1}, {16, 16, 1}},   {2, {37, 21, 1}, {8, 5, 1}},
    {2, {40, 70, 1}, {3, 32, 1}},    {3, {12, 10, 9}, {4, 3, 2}},     {3, {16, 8, 8}, {8, 4, 8}},
    {3, {5, 7, 40}, {2, 3, 16}},
};

/* ---- What is right ----------------------------------------------------------------------------------------------- */

/* A group: the numbers of its work-items, in order, their values, and what functions give each of them. */
struct group {
    unsigned n, places[MOST_ITEMS];
    size_t id;
    double x[MOST_ITEMS], to[MOST_ITEMS];
};

enum operation { ADD, MIN, MAX };

static double apply(enum operation op, double a, double b)
{
    return op == ADD ? a + b : op == MIN ? fmin(a, b) : fmax(a, b);
}

static double nothing(const struct type *type, enum operation op)
{
    return op == ADD ? 0 : op == MIN ? type->most : type->least;
}

static double reduce(const struct group *group, enum operation op)
{
    double result = group->x[0];

    for (unsigned i = 1; i < group->n; i++)
        result = apply(op, result, group->x[i]);
    return result;
}

static void scan(struct group *group, const struct type *type, enum operation op, bool inclusive)
{
    double result = nothing(type, op);

    for (unsigned i = 0; i < group->n; i++) {
        double next = apply(op, result, group->x[i]);

        group->to[i] = inclusive ? next : result;
        result = next;
    }
}

static bool all_below(const struct group *group, double limit)
{
    return reduce(group, MAX) < limit;
}

static void keep(const struct group *group, double *right, unsigned result)
{
    for (unsigned i = 0; i < group->n; i++)
        right[group->places[i] * N_RESULTS + result] = group->to[i];
}

static void keep_one(struct group *group, double *right, unsigned result, double value)
{
    for (unsigned i = 0; i < group->n; i++)
        group->to[i] = value;
    keep(group, right, result);
}

static void loop_of(struct group *group, const struct type *type, const double *in)
{
    for (unsigned round = 0; round < 5; round++) {
        double least = reduce(group, MIN);
        bool any = false;

        scan(group, type, MAX, true);
        for (unsigned i = 0; i < group->n; i++) {
            group->x[i] = group->id & 1 ? group->to[i] + round : least + in[group->places[i]];
            any |= group->x[i] == 40;
        }
        if (!any)
            continue;
        scan(group, type, ADD, false);
        for (unsigned i = 0; i < group->n; i++)
            group->x[i] = group->to[i] + 1;
        return;
    }
}

static void results_of(struct group *group, const struct type *type, const double *in, const struct shape *shape,
                       double *right)
{
    keep_one(group, right, 0, all_below(group, 30));
    keep_one(group, right, 1, reduce(group, MIN) < 10);
    for (unsigned op = ADD; op <= MAX; op++) {
        keep_one(group, right, 2 + op, reduce(group, op));
        scan(group, type, op, true);
        keep(group, right, 5 + op);
        scan(group, type, op, false);
        keep(group, right, 8 + op);
    }
    keep_one(group, right, 11, group->x[group->n - 1]);
    loop_of(group, type, in);
    for (unsigned i = 0; i < group->n; i++)
        right[group->places[i] * N_RESULTS + 12] = group->x[i];
    for (unsigned round = 0; round < 4 && all_below(group, 100); round++) {
        double most = reduce(group, MAX);

        for (unsigned i = 0; i < group->n; i++)
            group->x[i] += 20 + most;
    }
    for (unsigned i = 0; i < group->n; i++)
        right[group->places[i] * N_RESULTS + 13] = group->x[i];
    for (unsigned i = 0; i < group->n; i++)
        if (group->places[i] % shape->global[0] % shape->local[0] >= 3)
            group->x[i] = 0;
    keep_one(group, right, 14, reduce(group, ADD));
}

static void gather(struct group *group, const struct shape *shape, const size_t id[3], const double *in)
{
    size_t at[3];

    group->n = 0;
    group->id = id[0];
    for (at[2] = id[2] * shape->local[2]; at[2] < (id[2] + 1) * shape->local[2] && at[2] < shape->global[2]; at[2]++)
        for (at[1] = id[1] * shape->local[1]; at[1] < (id[1] + 1) * shape->local[1] && at[1] < shape->global[1];
             at[1]++)
            for (at[0] = id[0] * shape->local[0]; at[0] < (id[0] + 1) * shape->local[0] && at[0] < shape->global[0];
                 at[0]++) {
                unsigned place = (unsigned)((at[2] * shape->global[1] + at[1]) * shape->global[0] + at[0]);

                group->places[group->n] = place;
                group->x[group->n++] = in[place];
            }
}

static void make_right(const struct type *type, const struct shape *shape, const double *in, double *right)
{
    struct group *group = malloc(sizeof(*group));
    size_t id[3];

    assert_non_null(group);
    for (id[2] = 0; id[2] * shape->local[2] < shape->global[2]; id[2]++)
        for (id[1] = 0; id[1] * shape->local[1] < shape->global[1]; id[1]++)
            for (id[0] = 0; id[0] * shape->local[0] < shape->global[0]; id[0]++) {
                gather(group, shape, id, in);
                results_of(group, type, in, shape, right);
            }
    free(group);
}

/* ---- What a device gives ----------------------------------------------------------------------------------------- */

static void put(const struct type *type, void *to, double value)
{
    if (type->is_float && type->size == 4)
        *(float *)to = (float)value;
    else if (type->is_float)
        *(double *)to = value;
    else if (type->size == 4)
        *(int32_t *)to = (int32_t)value;
    else
        *(int64_t *)to = (int64_t)value;
}

static double get(const struct type *type, const void *from)
{
    if (type->is_float)
        return type->size == 4 ? *(const float *)from : *(const double *)from;
    if (type->is_signed)
        return type->size == 4 ? *(const int32_t *)from : (double)*(const int64_t *)from;
    return type->size == 4 ? *(const uint32_t *)from : (double)*(const uint64_t *)from;
}

static bool can(const struct cpu_rig *rig, cl_kernel kernel, const struct shape *shape)
{
    size_t most, limits[3];
    bool whole = true;

    assert_int_equal(
        clGetKernelWorkGroupInfo(kernel, rig->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL),
        CL_SUCCESS);
    assert_int_equal(clGetDeviceInfo(rig->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(limits), limits, NULL),
                     CL_SUCCESS);
    for (unsigned d = 0; d < 3; d++) {
        whole &= shape->global[d] % shape->local[d] == 0;
        if (shape->local[d] > limits[d])
            return false;
    }
    return shape->local[0] * shape->local[1] * shape->local[2] <= most &&
           (whole || cpu_rig_has(rig, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT));
}

static void launch(struct cpu_rig *rig, cl_kernel kernel, const struct type *type, const struct shape *shape,
                   const double *in, void *out)
{
    unsigned n = (unsigned)(shape->global[0] * shape->global[1] * shape->global[2]);
    char *data = calloc(n, type->size);
    cl_mem from, to = cpu_rig_buffer(rig, (size_t)n * N_RESULTS * type->size, NULL);

    assert_non_null(data);
    for (unsigned i = 0; i < n; i++)
        put(type, data + i * type->size, in[i]);
    from = cpu_rig_buffer(rig, n * type->size, data);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(from), &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(
        clEnqueueNDRangeKernel(rig->queue, kernel, shape->dimensions, NULL, shape->global, shape->local, 0, NULL, NULL),
        CL_SUCCESS);
    cpu_rig_read(rig, to, (size_t)n * N_RESULTS * type->size, out);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    free(data);
}

static unsigned count_wrong(const struct type *type, const struct shape *shape, const double *right, const char *out)
{
    unsigned n = (unsigned)(shape->global[0] * shape->global[1] * shape->global[2]) * N_RESULTS, wrong = 0;

    for (unsigned i = 0; i < n; i++) {
        double got = get(type, out + i * type->size);

        if (got != right[i] && wrong++ < 3)
            fprintf(stderr, "%s, groups of %zu x %zu x %zu, work-item %u, result %u: %g, not %g\n", type->name,
                    shape->local[0], shape->local[1], shape->local[2], i / N_RESULTS, i % N_RESULTS, got, right[i]);
    }
    return wrong;
}

static unsigned check(struct cpu_rig *rig, cl_kernel kernel, const struct type *type, const struct shape *shape)
{
    static double in[MOST_ITEMS], right[MOST_ITEMS * N_RESULTS];
    static uint64_t out[MOST_ITEMS * N_RESULTS];

    for (unsigned i = 0; i < MOST_ITEMS; i++)
        in[i] = (double)(cpu_rig_random() % 40) - (type->is_signed ? 15 : 0);
    launch(rig, kernel, type, shape, in, out);
    make_right(type, shape, in, right);
    return count_wrong(type, shape, right, (const char *)out);
}

static bool has_doubles(const struct cpu_rig *rig)
{
    cl_device_fp_config config = 0;

    return clGetDeviceInfo(rig->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(config), &config, NULL) == CL_SUCCESS &&
           config;
}

static void collectives(void **state)
{
    struct cpu_rig *rig = *state;
    unsigned wrong = 0;

    if (!cpu_rig_has(rig, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT)) {
        assert_non_null(getenv("COLLECTIVES_MAY_LACK"));
        skip();
    }
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        char options[64];
        cl_program program;
        cl_kernel kernel;
        cl_int error;

        if (types[t].is_float && types[t].size == 8 && !has_doubles(rig))
            continue;
        snprintf(options, sizeof(options), "-cl-std=CL3.0 -DT=%s", types[t].name);
        program = cpu_rig_program(rig, source, options);
        kernel = clCreateKernel(program, "each", &error);
        assert_int_equal(error, CL_SUCCESS);
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
            if (can(rig, kernel, &shapes[s]))
                wrong += check(rig, kernel, &types[t], &shapes[s]);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Beside much local memory ------------------------------------------------------------------------------------ */

#define SPARE 1024u /* bytes of local memory that collective functions may have */
#define GROUP 512u

static const char near_limit[] =
    "kernel void near_limit(global const int *in, global long *out, local uchar *most, uint n) {\n"
    "  size_t g = get_global_id(0), l = get_local_id(0); int wrong = 0;\n"
    "  for (uint i = l; i < n; i += get_local_size(0)) most[i] = (uchar)(i * 7);\n"
    "  long sum = work_group_scan_exclusive_add((long)in[g]) + (long)work_group_reduce_add((float)in[g]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (uint i = l; i < n; i += get_local_size(0)) wrong += most[i] != (uchar)(i * 7);\n"
    "  out[g] = work_group_any(wrong) ? -1 : sum; }\n";

static void run_near_limit(struct cpu_rig *rig, cl_kernel kernel, cl_uint n, int32_t *in, int64_t *out)
{
    const size_t global = 2 * GROUP, local = GROUP;
    cl_mem from = cpu_rig_buffer(rig, 2 * GROUP * sizeof(*in), in), to;

    to = cpu_rig_buffer(rig, 2 * GROUP * sizeof(*out), NULL);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(from), &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, n, NULL), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof(n), &n), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
    cpu_rig_read(rig, to, 2 * GROUP * sizeof(*out), out);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}

static int64_t sum_of_group(const int32_t *in)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < GROUP; i++)
        sum += in[i];
    return sum;
}

/* Collective functions leave the device's local memory to the program, but for some bytes. */
static void beside_much_local_memory(void **state)
{
    struct cpu_rig *rig = *state;
    int32_t in[2 * GROUP];
    int64_t out[2 * GROUP], sum = 0;
    cl_ulong most = 0;
    cl_program program;
    cl_kernel kernel;
    cl_int error;

    if (!cpu_rig_has(rig, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT))
        skip();
    for (unsigned i = 0; i < 2 * GROUP; i++)
        in[i] = (int32_t)(cpu_rig_random() % 100);
    assert_int_equal(clGetDeviceInfo(rig->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(most), &most, NULL), CL_SUCCESS);
    program = cpu_rig_program(rig, near_limit, "-cl-std=CL3.0");
    kernel = clCreateKernel(program, "near_limit", &error);
    assert_int_equal(error, CL_SUCCESS);
    run_near_limit(rig, kernel, (cl_uint)(most - SPARE), in, out);
    for (unsigned i = 0; i < 2 * GROUP; i++) {
        sum = i % GROUP ? sum + in[i - 1] : 0;
        assert_int_equal(out[i], sum + sum_of_group(in + i / GROUP * GROUP));
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collectives), cmocka_unit_test(beside_much_local_memory)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
