/* Which kernels are a loop over what is to be done, whose launches may have a work-item for each round (footprint's
 * `stride`), and which look like one but aren't. */
#include "footprint/evaluate.h"

#include "kc_env.h"

#define LOOP(type, n) "for (" type " i = get_global_id(0); i < " n "; i += get_global_size(0)) "

static const struct {
    const char *source;
    int64_t rounds; /* of arguments n = 1000, m = 7; 0: it is no such loop */
} kernels[] = {
    {"kernel void axpy(global const float *restrict a, global float *restrict b, float f, int n)\n"
     "{ " LOOP("int", "n") "b[i] += f * a[i]; }",
     1000},
    {"kernel void sizes(global const float *a, global float *b, ulong n) { " LOOP("size_t", "n") "b[i] = 2 * a[i]; }",
     1000},
    {"kernel void vectors(global const uint4 *a, global uint4 *b, uint n)\n"
     "{ " LOOP("uint", "n") "b[i].x = a[i].y + a[n - 1 - i].x; }",
     1000},
    {"kernel void groups(global const float *a, global float *b, long n)\n"
     "{ int lid = get_local_id(0), all = get_global_size(0), first = get_local_size(0) * get_group_id(0); long i;\n"
     "  for (i = first + lid; i < n; i += all) b[i] = a[i] + b[i]; }",
     1000},
    {"kernel void group_sizes(global float *b, int n)\n"
     "{ for (int i = get_global_id(0); i < n; i += get_num_groups(0) * get_local_size(0)) b[i] = 1; }",
     1000},
    {"kernel void structures(global struct { float x, y; int k; } *b, int n)\n"
     "{ " LOOP("int", "n") "{ b[i].x += b[i].y; b[i].k = 3; } }",
     1000},
    {"kernel void branches(global float *b, int n) { " LOOP("int",
                                                            "n") "if (b[i] < 0) b[i] = -b[i] * n; else b[i]++; }",
     1000},
    {"kernel void inner(global const float *a, global float *b, int n, int m)\n"
     "{ " LOOP("int", "n") "{ float s = 0; for (int k = 0; k < m; k++) s += a[(i * 7 + k) % n]; b[i] = s; } }",
     1000},
    {"kernel void bases(global char *to, long at, global const char *from, long there, long n)\n"
     "{ global float *b = (global float *)(to + at); global const float *a = (global const float *)(from + there);\n"
     "  int lid = get_local_id(0), all = get_global_size(0), first = get_local_size(0) * get_group_id(0); long i;\n"
     "  for (i = first + lid; i < n; i += all) { b[i] = 2 * a[i]; b[i] *= a[i + 1]; } }",
     1000},
    {"kernel void two_bases(global float *b, long at, long there, long n)\n"
     "{ for (long i = get_global_id(0); i < n; i += get_global_size(0)) b[at + i] = b[there + i]; }",
     0},
    {"kernel void gamma(global float *b, int n) { " LOOP("int", "n") "b[i] = tgamma(b[i]) + erfc(b[i]); }", 1000},
    {"kernel void bounds(global float *b, int n, int m) { " LOOP("int", "n * m + 3") "b[i] = i; }", 7003},
    {"kernel void whiles(global float *b, int n)\n"
     "{ int i = get_global_id(0); while (i < n) { b[i] = 1; i += get_global_size(0); } }",
     1000},
    /* What else depends on the launch. */
    {"kernel void size(global float *b, int n) { " LOOP("int", "n") "b[i] = get_global_size(0); }", 0},
    {"__attribute__((noinline)) float scaled(float x) { return x * get_global_size(0); }\n"
     "kernel void called(global float *b, int n) { " LOOP("int", "n") "b[i] = scaled(b[i]); }",
     0},
    {"kernel void linear(global float *b, int n) { " LOOP("int", "n") "b[i] = get_global_linear_id(); }", 0},
    {"kernel void local_id(global float *b, int n) { " LOOP("int", "n") "b[i] = get_local_id(0); }", 0},
    {"kernel void some(global float *b, int n) { if (get_global_id(0) < 100) " LOOP("int", "n") "b[i] = 1; }", 0},
    {"kernel void twice(global float *b, int n)\n"
     "{ for (int i = get_global_id(0); i < n; i += 2 * get_global_size(0)) b[i] = 1; }",
     0},
    {"kernel void from_one(global float *b, int n)\n"
     "{ for (int i = get_global_id(0) + 1; i < n; i += get_global_size(0)) b[i] = 1; }",
     0},
    {"kernel void other(global float *b, int n)\n"
     "{ for (int i = get_global_id(1); i < n; i += get_global_size(1)) b[i] = 1; }",
     0},
    {"kernel void ends_elsewhere(global float *b, int n)\n"
     "{ for (int i = get_global_id(0); i < n - (int)get_group_id(0); i += get_global_size(0)) b[i] = 1; }",
     0},
    {"kernel void behind(global float *b, int n) { int i = get_global_id(0);\n"
     "  for (; i < n; i += get_global_size(0)) b[i] = 1; b[0] = i; }",
     0},
    /* What goes from round to round. */
    {"kernel void sum(global const float *a, global float *b, int n)\n"
     "{ float s = 0; " LOOP("int", "n") "s += a[i]; b[get_global_id(0)] = s; }",
     0},
    {"kernel void counts(global float *b, int n) { int k = 0; " LOOP("int", "n") "b[i] = k++; }", 0},
    {"kernel void before(global float *b, int n) { " LOOP("int", "n") "b[i] = i > 0 ? b[i - 1] + 1 : 0; }", 0},
    {"kernel void next(global float *b, int n) { " LOOP("int", "n") "b[i] = b[i + 1]; }", 0},
    {"kernel void wide(global float *b, int n) { " LOOP("int", "n") "vstore2((float2)(i, i), 0, b + i); }", 0},
    {"kernel void remainders(global float *b, int n) { " LOOP("int", "n") "b[i % 1024] += 1; }", 0},
    {"kernel void breaks(global float *b, int n) { " LOOP("int", "n") "{ if (b[i] > 3) break; b[i] = 1; } }", 0},
    {"kernel void atomics(global int *b, int n) { " LOOP("int", "n") "atomic_inc(b + (i & 7)); }", 0},
    {"kernel void array(global float *b, int n, int m)\n"
     "{ float t[64]; for (int k = 0; k < 64; k++) t[k] = 0;\n"
     "  " LOOP("int", "n") "{ t[(i * m) & 63] += 1; b[i] = t[i & 63]; } }",
     0},
    {"kernel void locals(global float *b, int n)\n"
     "{ local float t; " LOOP("int", "n") "{ b[i] = t; t = i; } }",
     0},
    {"kernel void waits(global float *b, int n) { " LOOP("int", "n") "{ b[i] = 1; barrier(CLK_GLOBAL_MEM_FENCE); } }",
     0},
    {"kernel void prints(global float *b, int n) { " LOOP("int", "n") "{ b[i] = 1; printf(\"%d\", i); } }", 0},
};

static int64_t rounds_of(const struct tsl_kernel_facts *facts)
{
    static const int64_t n = 1000, m = 7;
    struct tsl_argument_value values[8] = {{.memory = 1u << 20}};
    int64_t rounds = 0;

    for (unsigned i = 0; i < facts->n_args; i++) {
        const char *type = facts->args[i].type_name;
        bool long_one = strcmp(type, "long") == 0 || strcmp(type, "ulong") == 0;

        values[i] = (struct tsl_argument_value){.memory = 1u << 20};
        if (!strchr(type, '*'))
            values[i] = (struct tsl_argument_value){.value = strcmp(facts->args[i].name, "m") ? &n : &m,
                                                    .size = long_one ? 8 : 4};
    }
    if (!facts->footprint->stride)
        return 0;
    assert_true(tsl_footprint_stride(facts->footprint, values, &rounds));
    return rounds;
}

static void loops_are_told_from_what_looks_like_them(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct tsl_compiled compiled;
        int64_t rounds;

        assert_int_equal(kc_build(kernels[i].source, "-cl-std=CL3.0 -cl-kernel-arg-info", &compiled), CL_SUCCESS);
        rounds = rounds_of(&compiled.built.kernels[0].facts);
        if (rounds != kernels[i].rounds)
            print_error("%lld rounds instead of %lld of\n%s\n", (long long)rounds, (long long)kernels[i].rounds,
                        kernels[i].source);
        wrong += rounds != kernels[i].rounds;
        tsl_compiled_finish(&compiled);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_told_from_what_looks_like_them),
    };

    kc_use(NULL);
    kc_use_no_cache();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
