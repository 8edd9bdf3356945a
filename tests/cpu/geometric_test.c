/*
 * Built-in geometric and common functions, of vectors and of vectors with scalars, against long double, with OpenCL's
 * limits (OpenCL C 3.0, 7.4), on the built-in CPU alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* timeout: 300 */
/*
 * Each function gets random vectors of each width that it takes, with zeros, equal ones and, where nothing can
 * overflow, numbers of all magnitudes: GEOMETRIC_COUNT says how many. GEOMETRIC_FUNCTION chooses one; GEOMETRIC_SHOW=1
 * prints the largest error of each, as a part of what is allowed.
 */
#include "cpu_rig.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4

typedef long double real;

struct vectors {
    unsigned n;
    bool is_double;
    real x[MOST], y[MOST], z[MOST];
};

/* ---- References: what is right, and how far off it a result may be ----------------------------------------------- */

typedef void reference_fn(const struct vectors *v, real *want);
typedef real tolerance_fn(const struct vectors *v);

#define EACH(NAME, EXPRESSION)                            \
    static void NAME(const struct vectors *v, real *want) \
    {                                                     \
        for (unsigned i = 0; i < v->n; i++) {             \
            real x = v->x[i], y = v->y[i], z = v->z[i];   \
            (void)x, (void)y, (void)z;                    \
            want[i] = EXPRESSION;                         \
        }                                                 \
    }

static real once(const struct vectors *v, real value)
{
    return v->is_double ? (real)(double)value : (real)(float)value;
}

static real smooth(real low, real high, real x)
{
    real t = fminl(fmaxl((x - low) / (high - low), 0), 1);

    return t * t * (3 - 2 * t);
}

EACH(clamp_, fminl(fmaxl(x, y), z))
EACH(max_, x < y ? y : x)
EACH(min_, y < x ? y : x)
EACH(mix_, x + (y - x) * z)
EACH(smoothstep_, smooth(x, y, z))
EACH(step_, y < x ? 0 : 1)
EACH(mad_once, v->is_double ? (real)fma((double)x, (double)y, (double)z) : (real)fmaf((float)x, (float)y, (float)z))
EACH(mad_twice, v->is_double ? (real)((double)x *(double)y + (double)z) : once(v, once(v, x *y) + z))
EACH(yes, 1)

static void cross_(const struct vectors *v, real *want)
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned j = (i + 1) % 3, k = (i + 2) % 3;
        want[i] = v->x[j] * v->y[k] - v->x[k] * v->y[j];
    }
    want[3] = 0;
}

static void dot_(const struct vectors *v, real *want)
{
    want[0] = 0;
    for (unsigned i = 0; i < v->n; i++)
        want[0] += v->x[i] * v->y[i];
}

static void distance_(const struct vectors *v, real *want)
{
    real sum = 0;

    for (unsigned i = 0; i < v->n; i++)
        sum += (v->x[i] - v->y[i]) * (v->x[i] - v->y[i]);
    want[0] = sqrtl(sum);
}

static real length_of(const struct vectors *v)
{
    real sum = 0;

    for (unsigned i = 0; i < v->n; i++)
        sum += v->x[i] * v->x[i];
    return sqrtl(sum);
}

static void length_(const struct vectors *v, real *want)
{
    want[0] = length_of(v);
}

EACH(normalize_, length_of(v) > 0 ? x / length_of(v) : 0)

static real epsilon(const struct vectors *v)
{
    return v->is_double ? DBL_EPSILON : FLT_EPSILON;
}

static real square_of_largest(const struct vectors *v)
{
    real largest = 0;

    for (unsigned i = 0; i < v->n; i++)
        largest = fmaxl(largest, fmaxl(fabsl(v->x[i]), fabsl(v->y[i])));
    return largest * largest;
}

static real of_cross(const struct vectors *v)
{
    return square_of_largest(v) * 3 * epsilon(v);
}

static real of_dot(const struct vectors *v)
{
    return square_of_largest(v) * (2 * v->n - 1) * epsilon(v);
}

/* Of double the last two are left to the implementation: this is what ours keeps. */
static real of_mix(const struct vectors *v)
{
    return v->is_double ? 1e-12L : 1e-3L;
}

static real of_smoothstep(const struct vectors *v)
{
    return v->is_double ? 1e-14L : 1e-5L;
}

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* What numbers it may be given. SQUARES: those whose squares neither overflow nor are subnormal; BLEND: x and y up to
 * 100, z from 0 to 1; EDGES: x below y, or y not above z. */
enum domain { ANY, SQUARES, BLEND, EDGES_XY, EDGES_YZ };
enum { X = 1, Y = 2, Z = 4 };

static const struct function {
    const char *name, *expression; /* of vectors x, y, z of type T, and their first elements x0, y0, z0 */
    reference_fn *reference;
    unsigned least, most; /* widths */
    bool scalar;          /* the result is one number */
    unsigned first_of;    /* X, Y, Z: of these only the first element is taken */
    enum domain domain;
    tolerance_fn *tolerance;         /* NULL: ulps */
    double ulps, more;               /* of float: ulps + more for each element */
    double double_ulps, double_more; /* -1: there is none for double */
    reference_fn *or_else;           /* NULL: only the reference is right */
} functions[] = {
    {"cross", "cross(x, y)", cross_, 3, 4, false, 0, SQUARES, of_cross, 0, 0, 0, 0, NULL},
    {"dot", "dot(x, y)", dot_, 1, 4, true, 0, SQUARES, of_dot, 0, 0, 0, 0, NULL},
    {"distance", "distance(x, y)", distance_, 1, 4, true, 0, ANY, NULL, 2.5, 2, 5.5, 2, NULL},
    {"length", "length(x)", length_, 1, 4, true, 0, ANY, NULL, 2.75, 0.5, 5.5, 1, NULL},
    {"normalize", "normalize(x)", normalize_, 1, 4, false, 0, ANY, NULL, 2, 1, 4.5, 1, NULL},
    {"fast_distance", "fast_distance(x, y)", distance_, 1, 4, true, 0, SQUARES, NULL, 8191.5, 2, -1, 0, NULL},
    {"fast_length", "fast_length(x)", length_, 1, 4, true, 0, SQUARES, NULL, 8191.5, 1, -1, 0, NULL},
    {"fast_normalize", "fast_normalize(x)", normalize_, 1, 4, false, 0, SQUARES, NULL, 8192, 1, -1, 0, NULL},
    {"clamp", "clamp(x, y, z)", clamp_, 1, 4, false, 0, EDGES_YZ, NULL, 0, 0, 0, 0, NULL},
    {"clamp to scalars", "clamp(x, y0, z0)", clamp_, 2, 4, false, Y | Z, EDGES_YZ, NULL, 0, 0, 0, 0, NULL},
    {"max", "max(x, y)", max_, 1, 4, false, 0, ANY, NULL, 0, 0, 0, 0, NULL},
    {"max with a scalar", "max(x, y0)", max_, 2, 4, false, Y, ANY, NULL, 0, 0, 0, 0, NULL},
    {"min", "min(x, y)", min_, 1, 4, false, 0, ANY, NULL, 0, 0, 0, 0, NULL},
    {"min with a scalar", "min(x, y0)", min_, 2, 4, false, Y, ANY, NULL, 0, 0, 0, 0, NULL},
    {"fmax with a scalar", "fmax(x, y0)", max_, 2, 4, false, Y, ANY, NULL, 0, 0, 0, 0, NULL},
    {"fmin with a scalar", "fmin(x, y0)", min_, 2, 4, false, Y, ANY, NULL, 0, 0, 0, 0, NULL},
    {"mix", "mix(x, y, z)", mix_, 1, 4, false, 0, BLEND, of_mix, 0, 0, 0, 0, NULL},
    {"mix by a scalar", "mix(x, y, z0)", mix_, 2, 4, false, Z, BLEND, of_mix, 0, 0, 0, 0, NULL},
    {"smoothstep", "smoothstep(x, y, z)", smoothstep_, 1, 4, false, 0, EDGES_XY, of_smoothstep, 0, 0, 0, 0, NULL},
    {"smoothstep between scalars", "smoothstep(x0, y0, z)", smoothstep_, 2, 4, false, X | Y, EDGES_XY, of_smoothstep, 0,
     0, 0, 0, NULL},
    {"step", "step(x, y)", step_, 1, 4, false, 0, ANY, NULL, 0, 0, 0, 0, NULL},
    {"step at a scalar", "step(x0, y)", step_, 2, 4, false, X, ANY, NULL, 0, 0, 0, 0, NULL},
    {"mad", "mad(x, y, z)", mad_once, 1, 4, false, 0, SQUARES, NULL, 0, 0, 0, 0, mad_twice},
    {"nan", "nan(U(x)) != nan(U(x)) ? (T)(1) : (T)(0)", yes, 1, 4, false, 0, ANY, NULL, 0, 0, 0, 0, NULL},
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static double limit_of(const struct function *f, unsigned n, bool is_double)
{
    return is_double ? f->double_ulps + f->double_more * n : f->ulps + f->more * n;
}

static bool is_for(const struct function *f, unsigned n, bool is_double)
{
    return n >= f->least && n <= f->most && !(is_double && f->double_ulps < 0);
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static real as_type(real value, bool is_double)
{
    volatile float single = (float)value;
    volatile double number = (double)value;

    return is_double ? number : single;
}

/* From -1 to 1. */
static real part(void)
{
    return (real)(int64_t)cpu_rig_random() / 9223372036854775808.0L;
}

static real number(enum domain domain, bool is_double)
{
    uint64_t bits = cpu_rig_random();
    int least = is_double ? -500 : -50, most = -least;

    if (bits % 8 == 0)
        return 0;
    if (bits % 8 < 5 || domain == BLEND)
        return as_type(part() * 100, is_double);
    if (domain == ANY) {
        least = is_double ? -1073 : -148;
        most = is_double ? 1023 : 127;
    }
    return as_type(ldexpl(part() < 0 ? -0.7L : 0.7L + part() / 4, least + (int)(bits >> 40) % (most - least)),
                   is_double);
}

static void swap_unless_ordered(real *low, real *high)
{
    real first = *low;

    if (first > *high) {
        *low = *high;
        *high = first;
    }
}

static void make(const struct function *f, unsigned n, bool is_double, struct vectors *v)
{
    *v = (struct vectors){.n = n, .is_double = is_double};
    for (unsigned i = 0; i < n; i++) {
        v->x[i] = number(f->domain, is_double);
        v->y[i] = cpu_rig_random() % 16 ? number(f->domain, is_double) : v->x[i];
        v->z[i] = f->domain == BLEND ? as_type(fabsl(part()), is_double) : number(f->domain, is_double);
        if (i > 0 && f->first_of & X)
            v->x[i] = v->x[0];
        if (i > 0 && f->first_of & Y)
            v->y[i] = v->y[0];
        if (i > 0 && f->first_of & Z)
            v->z[i] = v->z[0];
        if (f->domain == EDGES_YZ)
            swap_unless_ordered(&v->y[i], &v->z[i]);
        if (f->domain == EDGES_XY)
            swap_unless_ordered(&v->x[i], &v->y[i]);
        if (f->domain == EDGES_XY && v->x[i] == v->y[i])
            v->y[i] = as_type(v->x[i] + fabsl(v->x[i]) + 1, is_double);
    }
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

/* How far off, as a part of what is allowed. */
static double error_to(const struct function *f, const struct vectors *v, reference_fn *reference, const real *got)
{
    double limit = limit_of(f, v->n, v->is_double), worst = 0;
    real want[MOST];

    reference(v, want);
    for (unsigned i = 0; i < (f->scalar ? 1 : v->n); i++) {
        bool zeros = got[i] == 0 && want[i] == 0; /* whose sign nobody has said anything of */
        double error = zeros          ? 0
                       : f->tolerance ? (double)(fabsl(got[i] - want[i]) / f->tolerance(v))
                                      : cpu_rig_ulps(got[i], want[i], v->is_double);
        if (!f->tolerance && !zeros)
            error = limit > 0 ? error / limit : error > 0 ? INFINITY : 0;
        if (!(error <= worst)) /* also if it is none */
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

static double judge(const struct function *f, const struct vectors *v, const real *got)
{
    double error = error_to(f, v, f->reference, got);

    return error > 1 && f->or_else ? error_to(f, v, f->or_else, got) : error;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void write_kernel(FILE *source, unsigned number, unsigned n, bool is_double)
{
    const struct function *f = &functions[number];
    const char *t = is_double ? "double" : "float", *u = is_double ? "ulong" : "uint";

    fprintf(source, "#undef T\n#undef U\n");
    if (n == 1)
        fprintf(source, "#define T %s\n#define U(x) as_%s(x)\n", t, u);
    else
        fprintf(source, "#define T %s%u\n#define U(x) as_%s%u(x)\n", t, n, u, n);
    fprintf(source,
            "kernel void f%u_%u(global const %s *X, global const %s *Y, global const %s *Z, global %s *out) {\n",
            number, n, t, t, t, t);
    fprintf(source, "    size_t i = get_global_id(0); %s x0 = X[i * %u], y0 = Y[i * %u], z0 = Z[i * %u];\n", t, n, n,
            n);
    if (n == 1)
        fprintf(source, "    T x = x0, y = y0, z = z0;\n");
    else
        fprintf(source, "    T x = vload%u(i, X), y = vload%u(i, Y), z = vload%u(i, Z);\n", n, n, n);
    if (n == 1 || f->scalar)
        fprintf(source, "    out[i] = %s; }\n", f->expression);
    else
        fprintf(source, "    vstore%u(%s, i, out); }\n", n, f->expression);
}

static cl_program program_of(struct cpu_rig *rig, bool is_double)
{
    const char *one = getenv("GEOMETRIC_FUNCTION");
    char *text = NULL;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    cl_program program;

    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        for (unsigned n = 1; n <= MOST; n++)
            if (is_for(&functions[i], n, is_double) && (!one || strcmp(one, functions[i].name) == 0))
                write_kernel(source, i, n, is_double);
    fclose(source);
    program = cpu_rig_program(rig, text, "");
    free(text);
    return program;
}

static void put(void *array, size_t i, real value, bool is_double)
{
    if (is_double)
        ((double *)array)[i] = (double)value;
    else
        ((float *)array)[i] = (float)value;
}

static real get(const void *array, size_t i, bool is_double)
{
    return is_double ? (real)((const double *)array)[i] : (real)((const float *)array)[i];
}

static cl_mem load(struct cpu_rig *rig, const struct vectors *all, unsigned count, size_t which)
{
    unsigned n = all->n;
    size_t size = (size_t)count * n * (all->is_double ? sizeof(double) : sizeof(float));
    void *array = malloc(size);
    cl_mem memory;

    for (unsigned k = 0; k < count * n; k++)
        put(array, k, ((const real *)((const char *)&all[k / n] + which))[k % n], all->is_double);
    memory = cpu_rig_buffer(rig, size, array);
    free(array);
    return memory;
}

static void run(struct cpu_rig *rig, cl_program program, unsigned number, const struct vectors *all, unsigned count,
                double *out)
{
    static const size_t which[] = {offsetof(struct vectors, x), offsetof(struct vectors, y),
                                   offsetof(struct vectors, z)};
    size_t size = (size_t)count * all->n * (all->is_double ? sizeof(double) : sizeof(float));
    cl_mem memory[4];
    char name[24];

    for (unsigned i = 0; i < 3; i++)
        memory[i] = load(rig, all, count, which[i]);
    memory[3] = cpu_rig_buffer(rig, size, NULL);
    snprintf(name, sizeof(name), "f%u_%u", number, all->n);
    cpu_rig_run(rig, program, name, 4, memory, 0, NULL, count);
    cpu_rig_read(rig, memory[3], size, out);
    for (unsigned i = 0; i < 4; i++)
        clReleaseMemObject(memory[i]);
}

static void tell(const struct function *f, const struct vectors *v, const real *got, double error)
{
    print_error("%s (%s%u):", f->name, v->is_double ? "double" : "float", v->n);
    for (unsigned i = 0; i < v->n; i++)
        print_error(" (%.17Lg %.17Lg %.17Lg)", v->x[i], v->y[i], v->z[i]);
    print_error(" is");
    for (unsigned i = 0; i < (f->scalar ? 1 : v->n); i++)
        print_error(" %.17Lg", got[i]);
    print_error(": %g times what is allowed\n", error);
}

/* How many results were too far off. */
static unsigned check(struct cpu_rig *rig, cl_program program, unsigned number, unsigned n, bool is_double)
{
    const struct function *f = &functions[number];
    unsigned count = cpu_rig_count("GEOMETRIC_COUNT", 3000), wrong = 0, per_vector = f->scalar ? 1 : n;
    struct vectors *all = malloc(count * sizeof(*all));
    double *out = malloc((size_t)count * n * sizeof(*out)), worst = 0;

    for (unsigned i = 0; i < count; i++)
        make(f, n, is_double, &all[i]);
    run(rig, program, number, all, count, out);
    for (unsigned i = 0; i < count; i++) {
        real got[MOST];
        double error;

        for (unsigned k = 0; k < per_vector; k++)
            got[k] = get(out, (size_t)i * per_vector + k, is_double);
        error = judge(f, &all[i], got);
        worst = error > worst ? error : worst;
        if (error > 1 && wrong++ < 4)
            tell(f, &all[i], got, error);
    }
    if (getenv("GEOMETRIC_SHOW"))
        print_message("%-28s %s%u %8.3g%s\n", f->name, is_double ? "double" : "float", n, worst,
                      wrong ? "  WRONG" : "");
    free(all);
    free(out);
    return wrong;
}

static void check_all(struct cpu_rig *rig, bool is_double)
{
    const char *one = getenv("GEOMETRIC_FUNCTION");
    cl_program program = program_of(rig, is_double);
    unsigned wrong = 0, checked = 0;

    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        for (unsigned n = 1; n <= MOST; n++)
            if (is_for(&functions[i], n, is_double) && (!one || strcmp(one, functions[i].name) == 0)) {
                wrong += check(rig, program, i, n, is_double);
                checked++;
            }
    clReleaseProgram(program);
    assert_int_equal(wrong, 0);
    assert_true(checked > 0 || is_double);
}

static void floats(void **state)
{
    check_all(*state, false);
}

static void doubles(void **state)
{
    check_all(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(doubles)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
