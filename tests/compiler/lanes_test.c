/*
 * What tesela-kc tells of kernels that don't run as vectors of work-items, or not all of them: which construct, in
 * which line, and what is done about it.
 */
#include "kc_env.h"

#include <unistd.h>

/* Each kernel is one line of the program. */
static const struct {
    const char *source, *told; /* told: after "kernel NAME: "; NULL: nothing */
} kernels[] = {
    {"kernel void k0(global uint *o) { o[get_global_id(0)] *= 3; }", NULL},
    {"kernel void k1(global uint *o, uint n) { uint v = get_global_id(0); for (uint i = 0; i < n; i++) {"
     " for (int k = 0; k < 9; k++) v = (v ^ v >> 13) * 0x5bd1e995u + k; if (v % 9 == 7) atomic_inc(o + v % 3); } o[v & "
     "63] = v; }",
     "line 2: a call or an atomic or volatile access is made item by item, what is around it is not"},
    {"kernel void k2(global uint *o) { atomic_inc(o + get_global_id(0) % 5); }",
     "line 3: a call or an atomic or volatile access: with little around it"},
    {"kernel void k3(global const float *v, global const int *c, global const int *p, global float *y) {"
     " int i = get_global_id(0); float s = 0; for (int k = p[i]; k < p[i + 1]; k++) s += v[c[k]]; y[i] = s; }",
     "line 4: a loop that does little but gather: the kernel runs item by item"},
    {"kernel void k4(global float4 *o) { o[get_global_id(0)] += o[get_global_id(0) + 64]; }",
     "keeps the program's vectors and runs item by item"},
    {"kernel void k5(global float *o, int h) { o[get_global_id(0) * h + get_global_id(1)] *= 2; }",
     "runs along dimension 1 where groups have room for it"},
    {"kernel void k6(read_only image2d_t i, sampler_t s, global float4 *o) {"
     " o[get_global_id(0)] = read_imagef(i, s, (float2)(get_global_id(0), 1)); }",
     "line 7: runs item by item, as it calls a built-in function that has no vector form"},
    {"kernel void k7(global volatile int *o, global int *p) { if (get_local_id(0) == 3) o[0] = 1; while (!o[0]) {}"
     " p[get_global_id(0)] = 5; }",
     "runs item by item, as work-items wait for each other"},
    {"kernel void k8(global uint *o) { local uint c[64]; uint l = get_local_id(0), n = get_local_size(0);"
     " for (uint i = l; i < 64; i += n) c[i] = 0; barrier(CLK_LOCAL_MEM_FENCE); c[l] = o[get_global_id(0)];"
     " barrier(CLK_LOCAL_MEM_FENCE); for (uint step = get_local_size(0) / 2; step; step /= 2) {"
     " if (l < step) c[l] += c[l + step]; barrier(CLK_LOCAL_MEM_FENCE); } if (l == 0) o[get_group_id(0)] = c[0]; }",
     NULL},
    {"kernel void k9(global uint *o) { atomic_add(o, o[get_global_id(0)]); }", NULL},
    {"kernel void k10(global const float *a, global const float *b, global float *c, int n) {"
     " int x = get_global_id(0), y = get_global_id(1); float s = 0;"
     " for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x]; c[y * n + x] = s; }",
     "rows of work-items load the same again: groups have several rows"},
    {"kernel void k11(global const float *a, global const float *b, global float *c, int n) {"
     " int x = get_global_id(0), y = get_global_id(1); float s = 0;"
     " for (int k = 0; k < n; k++) s += a[k] * b[(k * n + y) * n + x]; c[y * n + x] = s; }",
     NULL},
    {"kernel void k12(global const float *a, global const float *b, global float *c, int n) {"
     " int x = get_global_id(0); float s = 0;"
     " for (int k = 0; k < n; k++) s += a[x * n + k] * b[k]; c[x] = s; }",
     "line 13: each work-item walks along a row of its own: as many at once as stay in the nearest cache"},
    {"kernel void k13(global const float *a, global const float *b, global float *c) {"
     " int x = get_global_id(0); float s = 0;"
     " for (int k = 0; k < 9; k++) s += a[x * 9 + k] * b[k]; c[x] = s; }",
     NULL},
    {"kernel __attribute__((reqd_work_group_size(1001, 1, 1))) void k14(global float *o) { o[get_global_id(0)] += "
     "get_local_id(0); }",
     "the last work-items of each row run one by one"},
    {"kernel __attribute__((reqd_work_group_size(24, 1, 1))) void k15(global float *o) { o[get_global_id(0)] += "
     "get_local_id(0); }",
     NULL},
    {"kernel __attribute__((reqd_work_group_size(3, 8, 1))) void k16(global float *o) { o[get_global_id(0)] += "
     "get_local_id(0); }",
     "runs item by item, as rows of its size have no room for a strip"},
    {"kernel void k17(global const float *a, global float *o, global int *e) {"
     " int i = get_global_id(0); float v = a[i]; if (v > 5) *e = 1; else v /= 3 + v * v; if (v < -5) *e = 2; o[i] = v; "
     "}",
     NULL},
};

#define N (sizeof(kernels) / sizeof(kernels[0]))

static char folder[] = "/tmp/tesela-lanes-XXXXXX";

static void write_program(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (size_t k = 0; k < N; k++)
        fprintf(file, "%s\n", kernels[k].source);
    assert_int_equal(fclose(file), 0);
}

static char *told_of(const char *path)
{
    char command[3 * 4096], *text = calloc(1, 65536);
    FILE *told;
    size_t n;

    assert_non_null(text);
    snprintf(command, sizeof(command), "ASAN_OPTIONS=detect_leaks=0 %s/kc/tesela-kc --emit lanes %s",
             getenv("TESELA_BUILD"), path);
    told = popen(command, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(told);
    n = fread(text, 1, 65535, told);
    text[n] = 0;
    assert_int_equal(pclose(told), 0);
    return text;
}

static void each_construct_is_told(void **state)
{
    char path[64], *text;

    (void)state;
    snprintf(path, sizeof(path), "%s/k.cl", folder);
    write_program(path);
    text = told_of(path);
    for (size_t k = 0; k < N; k++) {
        char sentence[256];

        snprintf(sentence, sizeof(sentence), "kernel k%zu: %s", k, kernels[k].told ? kernels[k].told : "");
        if ((strstr(text, sentence) != NULL) != (kernels[k].told != NULL))
            fail_msg("of k%zu there should be '%s', but there is: %s", k, sentence, text);
    }
    if (strstr(text, "tsl_wg.k17: ")) /* LLVM's vectoriser leaves two stores at one place, if they have one name */
        fail_msg("k17 is left to one work-item after the other: %s", text);
    free(text);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_construct_is_told)};
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
