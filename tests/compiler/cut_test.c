/* Which launches of kernels compiled from text may be cut, along which dimension, and what users are told of others. */
#include "footprint/cut.h"

#include "kc_env.h"

#define ARGUMENTS 4
#define SIZE      (1u << 20)

/* Arguments: buffers of their own, but for those that `ints` names by a digit each, which are 64. */
struct kernel {
    const char *source;
    size_t global[3];
    unsigned dimension;
    const char *ints;
    const char *said;
};

static const struct kernel kernels[] = {
    {"kernel void add(global const float *a, global const float *b, global float *c, int n)\n"
     "{ int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }",
     {128},
     0,
     "3",
     NULL},
    {"kernel void stencil(global const float *in, global float *out, int w, int h)\n"
     "{ int x = get_global_id(0), y = get_global_id(1); if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;\n"
     "  out[y * w + x] = in[y * w + x] + in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x - 1]; }",
     {64, 64},
     1,
     "23",
     NULL},
    {"kernel void in_place(global float *m, int w)\n"
     "{ int x = get_global_id(0), y = get_global_id(1); m[(y + 1) * w + x] += m[y * w + x]; }",
     {64, 64},
     1,
     "1",
     NULL},
    {"kernel void transpose(global const float *in, global float *out, int w)\n"
     "{ int x = get_global_id(0), y = get_global_id(1); out[x * w + y] = in[y * w + x]; }",
     {64, 64},
     0,
     "2",
     NULL},
    /* Work-groups go along diagonals; of unrolled rows LLVM adds up the remainder and its multiples. */
    {"kernel void diagonals(global const float4 *in, global float4 *out, int w) { local float4 t[4][8];\n"
     "  int g = get_group_id(0), h = (get_group_id(0) + get_group_id(1)) % get_num_groups(0), x = get_local_id(0);\n"
     "  _Pragma(\"unroll\") for (int k = 0; k < 4; k++) t[k][x] = in[(g * 4 + k) * (w * 2) + h * 8 + x];\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  _Pragma(\"unroll\") for (int k = 0; k < 4; k++) out[(h * 4 + k) * (w * 2) + g * 8 + x] = t[k][7 - x]; }",
     {128, 16},
     0,
     "2",
     NULL},
    {"kernel void columns(global double *m, int w) { size_t c = get_global_id(0), r = get_global_id(1);\n"
     "  m[c * w + r] *= 2; }",
     {64, 64},
     0,
     "1",
     NULL},
    {"kernel void volume(global int *v) { v[(get_global_id(2) * get_global_size(1) + get_global_id(1)) *\n"
     "  get_global_size(0) + get_global_id(0)] = 1; }",
     {32, 16, 8},
     2,
     "",
     NULL},
    {"kernel void sums(global const float *in, global float *out) { local float t[8]; int l = get_local_id(0);\n"
     "  t[l] = in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  for (int s = 4; s; s /= 2) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
     "  if (l == 0) out[get_group_id(0)] = t[0]; }",
     {128},
     0,
     "",
     NULL},
    {"kernel void gather(global const int *in, global const int *at, global int *out)\n"
     "{ int i = get_global_id(0); out[i] = in[at[i]]; }",
     {128},
     0,
     "",
     NULL},
    {"kernel void pixels(read_only image2d_t in, write_only image2d_t out)\n"
     "{ int2 at = (int2)(get_global_id(0), get_global_id(1)); write_imagef(out, at, read_imagef(in, at)); }",
     {64, 64},
     1,
     "",
     NULL},
    /* In place, on a torus: each of 17 planes is written one cell further on, by what is kept in private arrays. */
    {"kernel void lattice(global float *f, int t) { uint n = get_global_id(0) % 128u, x = n % 16u, y = n / 16u % 8u;\n"
     "  uint j[17]; float h[17]; for (uint i = 0; i < 17; i++) { j[i] = (x + i) % 16u + (y + i % 3u) % 8u * 16u;\n"
     "    h[i] = f[(i + t % 2) % 17u * 128u + j[i]]; }\n"
     "  for (uint i = 0; i < 17; i++) { float v = h[i], w = h[16 - i]; for (uint k = 0; k < 2; k++) v = v * w + i - "
     "k;\n"
     "    v = v > 1 ? v - w : v * v + w; f[(i + t % 2) % 17u * 128u + j[i]] = v < w ? v : w * w + v; } }",
     {128},
     0,
     "1",
     NULL},
    {"kernel void rows(global float *m, int w) { int i = get_global_id(0); for (int k = 0; k < w; k++)\n"
     "  m[i * w + k] = k; }",
     {64},
     0,
     "1",
     NULL},
    {"kernel void histogram(global const uchar *in, global int *bins)\n"
     "{ atomic_inc(bins + in[get_global_id(0)]); }",
     {128},
     3,
     "",
     "argument 1 (bins) is changed by atomic operations (line 2"},
    {"kernel void raise(global atomic_int *flags, global int *out)\n"
     "{ atomic_store_explicit(flags + get_global_id(0), 3, memory_order_relaxed); out[get_global_id(0)] = 1; }",
     {128},
     3,
     "",
     "argument 0 (flags) is changed by atomic operations (line 2"},
    {"kernel void scatter(global const int *in, global const int *at, global int *out)\n"
     "{ int i = get_global_id(0);\n"
     "  out[at[i]] = in[i]; }",
     {128},
     3,
     "",
     "argument 2 (out) is written at places that are not known before the launch (line 3"},
    {"kernel void flag(global const int *in, global int *found)\n"
     "{ if (in[get_global_id(0)] == 7) *found = 1; }",
     {128},
     3,
     "",
     "work-groups may write the same bytes of argument 1 (found) (line 2"},
    {"kernel void differences(global const int *in, global int *out) { int i = get_global_id(0);\n"
     "  out[256 * i + (in[i] & 255) - (in[i + 1] & 255) + 255] = 1; }",
     {128},
     3,
     "",
     "work-groups may write the same bytes of argument 1 (out) (line 2"},
    {"kernel void sums_of_two(global const int *in, global char *out) { int i = get_global_id(0);\n"
     "  out[384 * i + (in[i] & 255) + (in[i + 1] & 255)] = 1; }",
     {128},
     3,
     "",
     "work-groups may write the same bytes of argument 1 (out) (line 2"},
    {"kernel void print(global int *a) { if (a[0]) printf(\"%d\", a[1]); a[get_global_id(0)] = 0; }",
     {128},
     3,
     "",
     "the kernel may call printf"},
    {"global int n; kernel void count(global int *a) { n = 1; a[get_global_id(0)] = 0; }",
     {128},
     3,
     "",
     "the kernel uses program-scope variables"},
    {"kernel void wait(global int *a, volatile global int *go)\n{ while (!*go) ; a[get_global_id(0)] = 0; }",
     {128},
     3,
     "",
     "a loop of the kernel waits"},
    {"kernel void look(global int *a, volatile global int *b)\n{ a[get_global_id(0)] = *b; }",
     {128},
     3,
     "",
     "the kernel makes volatile accesses to global memory (line 2"},
    {"kernel void fence(global int *a) { a[2 * get_global_id(0)] = 0;\n"
     "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);\n"
     "  a[2 * get_global_id(0) + 1] = 0; }",
     {128},
     3,
     "",
     "the kernel has fences"},
    {"struct list { global int *at; }; kernel void follow(global struct list *a) { *a[get_global_id(0)].at = 1; }",
     {128},
     3,
     "",
     "the kernel follows pointers"},
};

struct launch {
    cl_int number;
    struct tsl_window window;
    struct tsl_argument_value values[ARGUMENTS];
    struct tsl_cut_memory memories[ARGUMENTS];
    const char *names[ARGUMENTS];
};

static void prepare(const struct kernel *kernel, const struct tsl_kernel_facts *facts, struct launch *launch)
{
    *launch = (struct launch){.number = 64, .window = {.work_dim = 1, .whole = true}};
    for (unsigned d = 0; d < 3; d++) {
        launch->window.work_dim = kernel->global[d] ? d + 1 : launch->window.work_dim;
        launch->window.global_size[d] = kernel->global[d] ? kernel->global[d] : 1;
        launch->window.local_size[d] = d ? 1 : 8;
    }
    for (cl_uint i = 0; i < facts->n_args; i++) {
        launch->names[i] = facts->args[i].name;
        if (strchr(kernel->ints, (char)('0' + i))) {
            launch->values[i] = (struct tsl_argument_value){.value = &launch->number, .size = sizeof(launch->number)};
            continue;
        }
        launch->values[i].memory = SIZE;
        launch->memories[i] = (struct tsl_cut_memory){&launch->memories[i], NULL, 0, SIZE, true, 0, false};
        if (facts->args[i].kind == TSL_FACT_IMAGE)
            launch->memories[i].image = launch->memories[i].root;
    }
}

static bool is_right(const struct kernel *kernel)
{
    struct tsl_compiled compiled;
    struct tsl_cut_verdict verdict;
    const struct tsl_kernel_facts *facts;
    struct launch launch;
    char said[512];
    unsigned dimension;

    if (kc_build(kernel->source, "-cl-std=CL2.0 -cl-kernel-arg-info", &compiled) != CL_SUCCESS)
        fail_msg("%s", compiled.built.log);
    facts = &compiled.built.kernels[0].facts;
    prepare(kernel, facts, &launch);
    dimension = tsl_cut_dimension(facts->footprint, &launch.window, launch.values, launch.memories, &verdict);
    tsl_cut_say(facts->footprint, launch.names, &verdict, said, sizeof(said));
    tsl_compiled_finish(&compiled);
    if (dimension == kernel->dimension && (!kernel->said || strncmp(said, kernel->said, strlen(kernel->said)) == 0))
        return true;
    print_error("dimension %u: %s\nof\n%s\n", dimension, said, kernel->source);
    return false;
}

static void kernels_are_cut_where_they_may_be(void **state)
{
    unsigned n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        n_wrong += !is_right(&kernels[i]);
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_cut_where_they_may_be)};

    kc_use_no_cache();
    kc_use(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
