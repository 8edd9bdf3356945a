/*
 * PTX: its kernels have the parameters that compile_client/ptx.h promises, and ptxas, where there is one, takes it for
 * three generations of processors.
 */
/* timeout: 200 */
#include "kc_env.h"

#include "../bench/kernel_source.h"

#include <unistd.h>

static const char *const processors[] = {"sm_75", "sm_80", "sm_90"};

static const char source[] =
    "typedef struct { float4 a; int b; } S;\n"
    "kernel void values(global const float *x, constant int *c, S s, int n, float3 v, long l, char k) {\n"
    "  ((global float *)x)[get_global_id(0)] = s.a.x + s.b + n + v.y + l + k + c[0];\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void locals(global int *x, local int *l, local float3 *m) "
    "{\n"
    "  local int own[64];\n"
    "  int i = get_local_id(0);\n"
    "  l[i] = x[get_global_id(0)]; own[i] = i; m[i] = i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  x[get_global_id(0)] = l[63 - i] + own[63 - i] + (int)m[63 - i].y;\n"
    "}\n"
    "kernel void ids(global ulong *x, uint d) {\n"
    "  *x++ = get_work_dim(); *x++ = get_global_id(d); *x++ = get_local_id(d); *x++ = get_group_id(d);\n"
    "  *x++ = get_global_size(d); *x++ = get_local_size(d); *x++ = get_num_groups(d); *x++ = get_global_offset(d);\n"
    "  *x++ = get_enqueued_local_size(d); *x++ = get_global_linear_id(); *x++ = get_local_linear_id();\n"
    "}\n"
    "kernel void prints(global int *x) {\n"
    "  printf(\"%d %v4d %s %5.2f %%\\n\", x[0], (int4)(x[1]), \"text\", 1.5f * x[2]);\n"
    "}\n"
    "kernel void atomics(global atomic_int *p, local atomic_uint *l, global long *q, global int *r) {\n"
    "  atomic_fetch_add(p, 1); atom_add(q, 2L); atomic_store_explicit(p, 3, memory_order_release);\n"
    "  r[0] = atomic_load_explicit(p, memory_order_acquire); int e = 3;\n"
    "  atomic_compare_exchange_strong(p, &e, 4); atomic_fetch_max(l, 2u); "
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE,\n"
    "  memory_order_seq_cst, memory_scope_device); mem_fence(CLK_LOCAL_MEM_FENCE); atomic_cmpxchg(r, 1, 2);\n"
    "}\n"
    "kernel void collectives(global int *x, global double *y) {\n"
    "  int i = get_global_id(0), v = x[i]; double w = y[i];\n"
    "  while (work_group_any(v > 5) && !work_group_all(v < 100)) v = work_group_reduce_add(v) / 2;\n"
    "  x[i] = work_group_scan_exclusive_min(v) + work_group_broadcast(v, 3);\n"
    "  y[i] = work_group_scan_inclusive_max(w) + work_group_reduce_min(w);\n"
    "}\n"
    "kernel void images(read_only image2d_t i, write_only image3d_t o, sampler_t s, global float4 *x, read_write "
    "image1d_array_t w) {\n"
    "  const sampler_t t = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;\n"
    "  x[0] = read_imagef(i, s, x[1].xy) + read_imagef(i, t, x[2].xy) + get_image_width(i);\n"
    "  write_imagef(o, (int4)(1, 2, 3, 0), x[0]); write_imagef(w, (int2)(0), read_imagef(w, (int2)(1)));\n"
    "}\n"
    "kernel void mathematics(global float4 *x, global double *y) {\n"
    "  float4 v = *x;\n"
    "  v = native_sin(v) + native_cos(v) + native_tan(v) + native_exp(v) + native_exp2(v) + native_exp10(v);\n"
    "  v += native_log(v) + native_log2(v) + native_log10(v) + native_powr(v, v) + native_sqrt(v) + native_rsqrt(v);\n"
    "  v += native_recip(v) + native_divide(v, v) + sin(v) + cos(v) + tan(v) + exp(v) + log(v) + pow(v, v) + sqrt(v);\n"
    "  v += fmod(v, v) + fma(v, v, v) + erf(v) + atan2(v, v) + cbrt(v);\n"
    "  v.x += tgamma(v.y) + lgamma(v.z) + erfc(v.w) + sinh(v.x);\n"
    "  *x = v + convert_float4_rte(convert_int4_sat(v)) + half_sin(v);\n"
    "  *y = sin(*y) + exp(*y) + pow(*y, 2.5) + fmod(*y, 3.0) + sqrt(*y) + log(*y);\n"
    "}\n";

static const char *find_ptxas(void)
{
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Where there is an assembler. Processors that it must know: those of the list. */
static void assemble(const struct tsl_compiled *compiled, const char *processor)
{
    char file[] = "/tmp/tesela-ptx-XXXXXX", command[256];
    int descriptor;

    if (!find_ptxas())
        return;
    descriptor = mkstemp(file);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, compiled->built.artefact, compiled->built.artefact_size),
                     compiled->built.artefact_size);
    close(descriptor);
    snprintf(command, sizeof(command), "%s -arch %s -o /dev/null %s", find_ptxas(), processor, file);
    assert_int_equal(system(command), 0);
    unlink(file);
}

static bool is_listed(const char *processor)
{
    for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
        if (!strcmp(processors[i], processor))
            return true;
    return false;
}

static struct tsl_compiled compile_request(struct tsl_wire_build *request, const char *processor)
{
    struct tsl_compiled compiled;

    request->target = TSL_WIRE_PTX;
    request->processor = (char *)processor;
    if (tsl_compile(request, &compiled) != CL_SUCCESS)
        fail_msg("%s: %s", processor, compiled.built.log);
    if (is_listed(processor))
        assemble(&compiled, processor);
    return compiled;
}

static struct tsl_compiled compile_with(const char *text, const char *processor, const char *options)
{
    struct tsl_wire_build request = kc_request(text, options);

    return compile_request(&request, processor);
}

static struct tsl_compiled compile(const char *text, const char *processor)
{
    return compile_with(text, processor, "-cl-std=CL3.0");
}

/* The parameters of a kernel, up to its closing bracket; heap. */
static char *parameters(const char *text, const char *kernel)
{
    char entry[64];
    const char *at;

    snprintf(entry, sizeof(entry), ".visible .entry %s(", kernel);
    at = strstr(text, entry);
    if (!at)
        fail_msg("no kernel %s", kernel);
    return strndup(at, (size_t)(strchr(at, ')') - at));
}

static void check_parameters(const char *text, const char *kernel, const char *const *wanted)
{
    char *all = parameters(text, kernel), *at = all;

    for (; *wanted; wanted++) {
        char *found = strstr(at, *wanted);

        if (!found)
            fail_msg("%s: no %s in its place: %s", kernel, *wanted, all);
        at = found + 1;
    }
    assert_null(strstr(at, ".param"));
    free(all);
}

static void parameters_are_as_promised(void **state)
{
    struct tsl_compiled compiled = compile(source, "sm_75");
    char *text = strndup(compiled.built.artefact, compiled.built.artefact_size);

    (void)state;
    assert_int_equal(strlen(text), compiled.built.artefact_size);
    check_parameters(text, "values",
                     (const char *[]){".param .u64", ".param .u64", ".param .align 16 .b8 values_param_2[32]",
                                      ".param .u32", ".param .align 16 .b8 values_param_4[16]", ".param .u64",
                                      ".param .u8", ".param .align 8 .b8 values_param_7[136]", NULL});
    check_parameters(text, "locals",
                     (const char *[]){".param .u64", ".param .u32 locals_param_1", ".param .u32 locals_param_2",
                                      ".param .align 8 .b8 locals_param_3[136]", NULL});
    check_parameters(text, "ids",
                     (const char *[]){".param .u64", ".param .u32", ".param .align 8 .b8 ids_param_2[136]", NULL});
    check_parameters(text, "images",
                     (const char *[]){".param .u64", ".param .u64", ".param .u64", ".param .u64", ".param .u64",
                                      ".param .align 8 .b8 images_param_5[136]", NULL});
    assert_non_null(strstr(text, "bar.sync"));
    assert_non_null(strstr(text, "vprintf"));
    assert_non_null(strstr(text, "membar.gl"));
    assert_int_equal(compiled.built.n_kernels, 8);
    free(text);
    tsl_compiled_finish(&compiled);
}

/* How often a text is found in the code made of a source. */
static unsigned count_in(const char *source_text, const char *wanted)
{
    struct tsl_compiled compiled = compile(source_text, "sm_75");
    char *text = strndup(compiled.built.artefact, compiled.built.artefact_size);
    unsigned n = 0;

    for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted))
        n++;
    free(text);
    tsl_compiled_finish(&compiled);
    return n;
}

/* The operations of OpenCL 1 order nothing, those of C11 do unless they are told not to. */
static void operations_without_order_have_no_fences(void **state)
{
    static const char loose[] =
        "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        "kernel void loose(volatile global int *x, volatile global ulong *y, global atomic_int *z) {\n"
        "  atomic_add(x, 3); x[1] = atomic_cmpxchg(x + 2, 1, 2); atomic_max(x + 3, x[4]); atom_add(y, 5ul);\n"
        "  atomic_fetch_add_explicit(z, 1, memory_order_relaxed, memory_scope_device); }\n";
    static const char strict[] = "kernel void strict(global atomic_int *z) { atomic_fetch_add(z, 7); }\n";
    static const char group[] =
        "kernel void group(local int *x, local atomic_int *z) {\n"
        "  x[get_local_id(0)] = 1; mem_fence(CLK_LOCAL_MEM_FENCE); x[get_local_id(0) + 1] = 2;\n"
        "  atomic_fetch_add(z, 7);\n"
        "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group); x[3] = 3; }\n";
    static const char device[] =
        "kernel void device(global int *x) { x[0] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); x[1] = 2;\n"
        "  write_mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); x[2] = 3; }\n";

    (void)state;
    assert_int_equal(count_in(group, "membar.cta"), 4);
    assert_int_equal(count_in(group, "membar"), 4);
    assert_int_equal(count_in(device, "membar.gl"), 2);
    assert_int_equal(count_in(device, "membar"), 2);
    assert_int_equal(count_in(loose, "membar"), 0);
    assert_int_equal(count_in(loose, "atom.") + count_in(loose, "red."), 5);
    assert_int_equal(count_in(strict, "membar"), 2);
}

/* Elements of a work-item's array that lie side by side are loaded and stored at once. */
static void arrays_lie_for_vectors(void **state)
{
    static const char text[] = "kernel void arrays(global int *x, int n) {\n"
                               "  int a[64]; size_t at = get_global_id(0) * 64;\n"
                               "  for (int i = 0; i < 64; i++) a[i] = x[at + i];\n"
                               "  a[n & 63] ^= a[x[at] & 63];\n"
                               "  for (int i = 0; i < 64; i++) x[at + i] = a[i]; }\n";

    (void)state;
    assert_int_equal(count_in(text, ".local .align 16"), 1);
    assert_true(count_in(text, "st.local.v4.u32") >= 16);
    assert_true(count_in(text, "ld.local.v4.u32") >= 16);
}

/* Structures and arrays go in the widest accesses, none byte by byte, and not by way of a work-item's memory. */
static void copies_are_wide(void **state)
{
    static const char text[] =
        "typedef struct { float4 a, b, c, d; float e; uint f; } record;\n"
        "typedef struct { uint of[300]; } table;\n"
        "kernel void move(global const record *in, global record *out, global const uint *at) {\n"
        "  size_t i = get_global_id(0); out[at[i]] = in[i]; }\n"
        "kernel void change(global const record *in, global record *out) {\n"
        "  size_t i = get_global_id(0); record r = in[i]; r.f += 3; out[i + 1] = r; }\n"
        "kernel void large(global const table *in, global table *out) {\n"
        "  out[get_global_id(0)] = in[get_global_id(0)]; }\n"
        "kernel void filled(global uint *out, int n) {\n"
        "  uint t[200] = {0}; for (int i = 0; i < n; i++) t[i * 7 % 200] += i; out[get_global_id(0)] = t[n]; }\n"
        "kernel void listed(global uint *out, int n) {\n"
        "  uchar t[36] = {1, 2, 3, 4, 5, 6, 7, 8, 9}; for (int i = 0; i < n; i++) t[i * 5 % 36] += i;\n"
        "  vstore4(vload4(n, t), 0, (global uchar *)out); }\n";

    (void)state;
    assert_int_equal(count_in(text, "ld.global.u8"), 0);
    assert_int_equal(count_in(text, "st.global.u8"), 0);
    assert_true(count_in(text, "ld.global.v4") >= 2 * 4);
    assert_true(count_in(text, "st.global.v4") >= 2 * 4);
    assert_true(count_in(text, "st.local.v4") >= 1 + 2);
}

/* Lengths that aren't known, or are no multiple of what is aligned, have a rest; what may overlap is loaded first. */
static void copies_have_any_length(void **state)
{
    static const char odd[] = "typedef struct { uchar of[203]; } odd;\n"
                              "kernel void copy(global const odd *in, global odd *out) { *out = *in; }\n";
    static const char unknown[] = "kernel void fill(global uint *p, ulong n) { __builtin_memset(p, 7, n); }\n";
    static const char huge[] = "kernel void copy(global uint *p, ulong n) {\n"
                               "  __builtin_memcpy(p + n, p, 1ul << 32); }\n";
    static const char moved[] = "kernel void move(global uint *p) { __builtin_memmove(p, p + 4, 100); }\n";

    (void)state;
    assert_int_equal(count_in(odd, "st.global.u8"), 1);
    assert_int_equal(count_in(unknown, "st.global.u32"), 1);
    assert_int_equal(count_in(unknown, "st.global.u8"), 1);
    assert_int_equal(count_in(huge, "st.global.u32"), 1);
    assert_int_equal(count_in(huge, "st.global.u8"), 0);
    struct tsl_compiled compiled = compile(moved, "sm_90");
    char *made = strndup(compiled.built.artefact, compiled.built.artefact_size);
    const char *stored = strstr(made, "st.global.u32");
    assert_non_null(stored);
    assert_null(strstr(stored, "ld.global.u32"));
    free(made);
    tsl_compiled_finish(&compiled);
}

/* Memory that several GPUs change is changed whole: of system scope are all operations but those on a group's memory.
 */
static void operations_are_whole_for_all_gpus(void **state)
{
    static const char text[] =
        "kernel void all(volatile global int *x, volatile local int *l, global atomic_int *z, global int *out) {\n"
        "  out[0] = atomic_add(x, 3); atomic_xchg(x + 1, 4); out[1] = atomic_cmpxchg(x + 2, 1, 2);\n"
        "  out[2] = atomic_inc(l); atomic_fetch_add_explicit(z, 1, memory_order_relaxed); }\n";

    (void)state;
    assert_int_equal(count_in(text, "\tatom.sys.") + count_in(text, "\tred.sys."), 4);
    assert_int_equal(count_in(text, "\tatom.shared."), 1);
    assert_int_equal(count_in(text, "\tatom.") + count_in(text, "\tred."), 5);
}

/* A table, an argument and one or the other, by helpers that take any; and a copy, whose function's name has address
 * spaces in it. */
static const char constants[] = "constant int table[4] = {1, 2, 3, 4};\n"
                                "typedef struct { int n[16]; } S;\n"
                                "int get(constant int *c, int i) { return c[i]; }\n"
                                "kernel void both(global int *x, constant int *c, constant S *s, int i) {\n"
                                "  S copy = s[i];\n"
                                "  x[0] = get(table, i) + get(c, i) + get(i > 1 ? table : c, i & 3) + copy.n[i];\n"
                                "  printf(\"addrspace(4) %d\\n\", x[0]);\n"
                                "}\n";

static void arguments_in_constant_memory_are_read_as_buffers(void **state)
{
    struct tsl_compiled compiled = compile(constants, "sm_75");
    char *text = strndup(compiled.built.artefact, compiled.built.artefact_size);

    (void)state;
    assert_null(strstr(text, "ld.const"));
    assert_null(strstr(text, "cvta.const"));
    assert_non_null(strstr(text, "ld.global"));
    assert_non_null(strstr(text, ".global .align 4 .b8 table[16]"));
    assert_non_null(strstr(text, "97, 100, 100, 114, 115, 112, 97, 99, 101, 40, 52, 41")); /* the text: addrspace(4) */
    free(text);
    tsl_compiled_finish(&compiled);
    compiled =
        compile("constant int table[2] = {1, 2};\nkernel void f(global int *x, int i) { *x = table[i]; }", "sm_75");
    assert_non_null(memmem(compiled.built.artefact, compiled.built.artefact_size, "ld.const", 8));
    tsl_compiled_finish(&compiled);
}

/* Nobody changes the table that sines of large numbers need: the launch is as any other. */
static void tables_of_functions_are_no_variables(void **state)
{
    struct tsl_compiled compiled = compile(
        "kernel void f(global float *x) { size_t i = get_global_id(0); x[i] = sin(x[i]) + cos(x[i]); }", "sm_75");

    (void)state;
    assert_false(compiled.built.kernels[0].facts.opaque);
    assert_int_equal(compiled.built.kernels[0].facts.footprint->flags & TSL_FOOTPRINT_PROGRAM, 0);
    tsl_compiled_finish(&compiled);
}

/* How often `part` is in the PTX, which is finished. */
static unsigned count(struct tsl_compiled *compiled, const char *part)
{
    char *made = strndup(compiled->built.artefact, compiled->built.artefact_size);
    unsigned n = 0;

    for (const char *at = made; (at = strstr(at, part)); at++)
        n++;
    free(made);
    tsl_compiled_finish(compiled);
    return n;
}

/* In what is made of the program. */
static unsigned n_times(const char *text, const char *options, const char *part)
{
    struct tsl_compiled compiled = compile_with(text, "sm_75", options);

    return count(&compiled, part);
}

/* CUDA refuses launches of other sizes than .reqntid says: those of smaller last groups, too. */
static void required_sizes_leave_room_for_last_groups(void **state)
{
    static const char uniform[] = "-cl-std=CL3.0 -cl-uniform-work-group-size";
    (void)state;

    assert_int_equal(n_times(source, "-cl-std=CL3.0", ".maxntid 64, 1, 1"), 1);
    assert_int_equal(n_times(source, "-cl-std=CL3.0", ".reqntid"), 0);
    assert_int_equal(n_times(source, uniform, ".reqntid 64, 1, 1"), 1);
    assert_int_equal(n_times(source, uniform, ".maxntid"), 0);
}

/* Of strings and of other tables; where an argument is in constant memory, in global memory. */
static void tables_of_addresses_are_assembled(void **state)
{
    static const char tables[] =
        "constant char *constant names[] = {\"zero\", \"one\", \"two\"};\n"
        "constant int a[4] = {10, 20, 30, 40};\n"
        "constant int *constant parts[2] = {a, a + 2};\n"
        "kernel void f(global int *x, int i) { x[0] = names[i][1] + parts[i & 1][i]; }\n"
        "#ifdef ARGUMENT\n"
        "kernel void g(global int *x, constant int *c, int i) { x[0] = names[i][1] + parts[i & 1][c[i]]; }\n"
        "#endif\n";
    (void)state;

    assert_int_equal(n_times(tables, "", ".const .align 8 .u64 names[3]"), 1);
    assert_int_equal(n_times(tables, "-DARGUMENT", ".global .align 8 .u64 names[3]"), 1);
}

/* OpenCL C 3.0, 7.4: divisions and roots of a program may be wrong by some ulps, unless it says otherwise. Functions
 * that are made of such count on right ones, but for smoothstep (an absolute error of 1e-5). */
static void divisions_and_roots_are_as_exact_as_asked(void **state)
{
    static const char own[] = "kernel void f(global float *x, global float2 *y, global double *z) {\n"
                              "  x[0] = x[1] / x[2]; x[3] = 1 / x[4]; x[5] = sqrt(x[6]); y[0] = sqrt(y[1]) / y[2];\n"
                              "  z[0] = z[1] / z[2] + sqrt(z[3]);\n"
                              "}\n";
    static const char functions[] = "kernel void f(global float *x) { x[0] = rootn(x[1], (int)x[2]); }\n";
    static const char exact[] = "-cl-fp32-correctly-rounded-divide-sqrt";

    (void)state;
    assert_int_equal(n_times(own, "", "div.full.f32"), 3);
    assert_int_equal(n_times(own, "", "rcp.approx.f32"), 1);
    assert_int_equal(n_times(own, "", "sqrt.approx.f32"), 3);
    assert_int_equal(n_times(own, "", "div.rn.f32"), 0);
    assert_int_equal(n_times(own, "", "div.rn.f64"), 1);
    assert_int_equal(n_times(own, "", "sqrt.rn.f64"), 1);
    assert_int_equal(n_times(own, exact, "div.rn.f32"), 3);
    assert_int_equal(n_times(own, exact, "rcp.rn.f32"), 1);
    assert_int_equal(n_times(own, exact, "sqrt.rn.f32"), 3);
    assert_int_equal(n_times(own, exact, "approx") + n_times(own, exact, "full"), 0);
    assert_int_equal(n_times(functions, "", "div.full") + n_times(functions, "", "sqrt.approx"), 0);
}

#ifdef HAS_SPIRV_MODULES
static unsigned n_times_in_module(const char *name, const char *options, const char *part)
{
    struct tsl_wire_build request = kc_request("", options);
    struct tsl_compiled compiled;

    request.il = kc_module(name, &request.il_size);
    request.translator = (char *)tsl_compile_translator();
    assert_non_null(request.translator);
    compiled = compile_request(&request, "sm_75");
    return count(&compiled, part);
}

/* Modules don't say; what builds them does. */
static void options_count_for_modules(void **state)
{
    static const char exact[] = "-cl-fp32-correctly-rounded-divide-sqrt";
    (void)state;

    /* Some of the functions have such inside. */
    assert_true(n_times_in_module("functions", "", "div.full.f32") >
                n_times_in_module("functions", exact, "div.full.f32"));
    assert_int_equal(n_times_in_module("functions", "", "sqrt.approx.f32"),
                     n_times_in_module("functions", exact, "sqrt.approx.f32") + 2);
    assert_int_not_equal(n_times_in_module("functions", exact, "div.rn.f32"), 0);
    assert_int_equal(n_times_in_module("programs", "", ".reqntid 64, 1, 1"), 0);
    assert_int_equal(n_times_in_module("programs", "-cl-uniform-work-group-size", ".reqntid 64, 1, 1"), 1);
}
#endif

static void products_are_carried_round_loops(void **state)
{
    static const char text[] = "kernel void f(global float *x, float a, float b) {\n"
                               "  float u = 0, v = 0; int i = 0;\n"
                               "  for (; i < 99 && u * u + v * v < 4; i++) {\n"
                               "    float t = u * u - v * v + a; v = 2 * u * v + b; u = t;\n"
                               "  }\n"
                               "  *x = i;\n"
                               "}\n";

    (void)state;
    assert_int_equal(n_times(text, "", "mul.rn.f32"), 1); /* v * v, for both */
}

/* What is made of the program, to be freed. */
static char *made_of(const char *text)
{
    struct tsl_compiled compiled = compile_with(text, "sm_75", "");
    char *made = strndup(compiled.built.artefact, compiled.built.artefact_size);

    tsl_compiled_finish(&compiled);
    return made;
}

/* Of `(k * ny + j) * nx + i` a loop's body has no product; of `k * ny + i`, which is one instruction, it has. */
static void indices_are_carried_round_loops(void **state)
{
#define LOOP(type, to, from)                                                                                    \
    "kernel void f(global float *x, global float *y, " type " nx, " type " ny, " type " nz) {\n"                \
    "  " type " i = get_global_id(0), j = get_global_id(1);\n"                                                  \
    "  __attribute__((opencl_unroll_hint(1))) for (" type " k = 0; k < nz; k++) y[" to "] = x[" from "] + 1;\n" \
    "}\n"
    static const struct {
        const char *text;
        bool multiplies;
    } loops[] = {
        {LOOP("int", "(k * ny + j) * nx + i", "(k * ny + j + 1) * nx + i - 1"), false},
        {LOOP("uint", "i + nx * (j + ny * (k + 1))", "i + nx * (j + ny * k)"), false},
        {LOOP("long", "(k * ny + j) * nx + i", "(k * ny + j + 1) * nx + i - 1"), false},
        {LOOP("int", "k * ny + i", "k * nx + j"), true},
    };
#undef LOOP

    (void)state;
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        char *made = made_of(loops[i].text), *load = strstr(made, "ld.global"), *begin = load;
        while (begin > made && *begin != '$')
            begin--;
        *strstr(load, "st.global") = '\0';
        bool multiplies = strstr(begin, "mul.lo") || strstr(begin, "mad.lo");
        if (multiplies != loops[i].multiplies)
            fail_msg("%s:\n%s", loops[i].text, begin);
        free(made);
    }
}

/* Accesses of a tile in local memory, whose constants are parts of several terms, have one register for all. */
static void tiles_have_one_address(void **state)
{
    static const char text[] =
        "kernel __attribute__((reqd_work_group_size(256, 1, 1))) void f(global float *x) {\n"
        "  local float tile[9000]; int l = get_local_id(0), row = l / 16 * 257, at = l % 4 * 8; float sum = 0;\n"
        "  for (int i = l; i < 9000; i += 256) tile[i] = x[i];\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  for (int k = 0; k < 8; k++) for (int i = 0; i < 8; i++) sum += tile[row + 4128 + (k * 32 + (i + at))];\n"
        "  x[get_global_id(0)] = sum;\n"
        "}\n";
    char *made = made_of(text), *first = strstr(made, "ld.shared"), *next = first;
    size_t n = strcspn(first, "+]");

    (void)state;
    n -= (size_t)(strchr(first, '[') - first);
    for (int i = 0; i < 64; i++, next = strstr(next + 1, "ld.shared"))
        if (!next || strncmp(strchr(next, '['), strchr(first, '['), n) != 0)
            fail_msg("access %d: %.40s\n%s", i, next ? next : "none", made);
    free(made);
}

/* Indices that differ by constants are one, and the constants parts of the accesses. */
static void indices_share_what_they_have(void **state)
{
    static const char text[] = "kernel void f(global float *x, global float *y, int n, int m) {\n"
                               "  int row = get_global_id(0), t = get_local_id(0) / 16; float sum = 0;\n"
                               "  for (int j = 0; j < m; j += 16)\n"
                               "    for (int k = 0; k < 4; k++) sum += x[row * n + (t + k * 4 + j)];\n"
                               "  y[row] = sum;\n"
                               "}\n";

    (void)state;
    assert_int_not_equal(n_times(text, "", "+48];"), 0);
    assert_int_equal(n_times(text, "", "ld.global.f32"), 4 * n_times(text, "", "+48];"));
}

/* An array that is used in a loop, and behind it where the loop is left out, too, has one address. */
static void ways_share_addresses(void **state)
{
    static const char text[] =
        "kernel void f(global char *p, global long *from, int n) {\n"
        "  long i = get_global_id(0); global float *x = (global float *)(p + from[0]), *y = (global float *)(p + "
        "from[1]);\n"
        "  if (i < from[2]) {\n"
        "    __attribute__((opencl_unroll_hint(1))) for (int k = 0; k < n; k++) { x[i] += y[i]; y[i] = x[i] * 3; }\n"
        "    x[i] *= 2; y[i] += 1;\n"
        "  }\n"
        "}\n";
    char *made = made_of(text);
    const char *at = made;
    char first[2][16], *load;
    unsigned n = 0;

    (void)state;
    for (; (load = strstr(at, "ld.global.f32")); n++) {
        char *begin = strchr(load, '[');
        begin[strcspn(begin, "]")] = '\0';
        if (n < 2)
            snprintf(first[n], sizeof(first[n]), "%s", begin);
        else if (strcmp(begin, first[0]) != 0 && strcmp(begin, first[1]) != 0)
            fail_msg("%s isn't %s or %s", begin, first[0], first[1]);
        at = begin + strlen(begin) + 1;
    }
    assert_true(n > 2);
    free(made);
}

/* Two loops in one, of which the second needs what the first had made outside of both. */
static void loops_in_loops_are_compiled(void **state)
{
    static const char text[] =
        "kernel void f(global float *x, uint nx, uint ny, uint nz, uint i, uint j) {\n"
        "  for (uint k = 0; k < nz; k++) {\n"
        "    uint a = (k * ny + j) * nx + i, b = (k * ny + j + 3) * nx + i, c = b << 1;\n"
        "    x[a] = 1;\n"
        "    __attribute__((opencl_unroll_hint(1))) for (uint m = 0; m < nz; m++) x[(m * ny + c) * nx + i] += 2;\n"
        "    __attribute__((opencl_unroll_hint(1))) for (uint m = 0; m < nz; m++) {\n"
        "      x[(m * ny + j) * nx + i] += 3; x[(m * ny + j + 3) * nx + i] += 4;\n"
        "    }\n"
        "  }\n"
        "}\n";

    (void)state;
    assert_int_not_equal(n_times(text, "", "st.global"), 0);
}

/* Sums whose parts share parts: a way through all of them would take for ever. */
static void long_sums_are_compiled_soon(void **state)
{
    static const char text[] = "#define S x = x + y; y = y + x; x = x - y * n; y = y * m + x;\n"
                               "#define S4 S S S S\n"
                               "kernel void f(global uint *a, uint n, uint m, uint k) {\n"
                               "  uint x = a[0], y = a[1];\n"
                               "  for (uint i = 0; i < k; i++) { S4 S4 S4 S4 a[(i * n + 3) * m + y] = x; }\n"
                               "  a[2] = x;\n"
                               "}\n";

    (void)state;
    assert_int_not_equal(n_times(text, "", "st.global"), 0);
}

/* Where control goes on from the first conditional branch if that isn't taken. */
static const char *behind_branch(const char *made)
{
    static const char jump[] = "\tbra.uni \t";
    const char *next = strchr(strstr(made, "\t@"), '\n') + 1;
    char label[64];

    if (strncmp(next, jump, strlen(jump)) != 0)
        return next;
    snprintf(label, sizeof(label), "\n%.*s:", (int)strcspn(next + strlen(jump), ";"), next + strlen(jump));
    return strstr(made, label);
}

/* ptxas has loads of a small branch's sides one behind the other, those first that come where it isn't taken. */
static void quick_sides_come_first(void **state)
{
    static const char *const sides[] = {"if (l == 63) v = x[g]; else v = t[l + 1];",
                                        "if (l != 63) v = t[l + 1]; else v = x[g];",
                                        "if (l < 63) v = t[l + 1]; else v = x[g];"};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        snprintf(text, sizeof(text),
                 "kernel void f(global float *x, local float *t) {\n"
                 "  size_t l = get_local_id(0), g = get_global_id(0); float v;\n"
                 "  t[l] = l; barrier(CLK_LOCAL_MEM_FENCE);\n  %s\n  x[g] = v + 1;\n}\n",
                 sides[i]);
        char *made = made_of(text);
        if (strncmp(strstr(behind_branch(made), "\tld."), "\tld.shared", strlen("\tld.shared")) != 0)
            fail_msg("%s:\n%s", text, made);
        free(made);
    }
}

/* LLVM's back end reads 16 bytes at once wherever they begin, and the second of two that are a parameter elsewhere. */
static void vectors_of_bytes_are_read_where_they_are(void **state)
{
    static const char text[] =
        "kernel void f(global uchar *x, global uchar16 *y, global uchar2 *z, uchar2 c, char2 d, int i) "
        "{\n"
        "  uchar own[48]; for (int k = 0; k < 48; k++) own[k] = x[k];\n"
        "  y[0] = vload16(0, x + i) + vload16(0, own + i); *z = c + as_uchar2(d);\n"
        "}\n";
    static const char aligned[] = "kernel void f(global uchar16 *x) { x[0] = x[1]; }\n";

    (void)state;
    assert_int_equal(n_times(text, "", "ld.global.v"), 0);
    assert_int_equal(n_times(text, "", "ld.local.v"), 0);
    assert_int_equal(n_times(text, "", ".param .u16 f_param_"), 2);
    assert_int_equal(n_times(text, "", "ld.param.u32"), 0);
    /* Before LLVM 18 in four. */
    assert_int_equal(4 * n_times(aligned, "", "ld.global.v4.u32") + n_times(aligned, "", "ld.global.v4.u8"), 4);
}

/* All that compares them, in all sizes: LLVM's back end has no code for two of them on sm_90. */
static void vectors_of_shorts_are_compared(void **state)
{
    static const char text[] =
        "#define F(T, U, n) kernel void T##n##_(global T##n *x, global U##n *y) { \\\n"
        "  U##n a = x[0] < x[1], b = x[0] == x[1], c = x[2] && x[3], e = !x[4], d = x[0] != (T)0; \\\n"
        "  y[0] = a | b | c | d | e; y[1] = a ? y[2] : y[3]; x[4] = max(x[5], clamp(x[6], x[7], x[8])); \\\n"
        "  if (any(x[9] >= x[10])) y[4] = select(y[5], y[6], x[11] > x[12]); }\n"
        "#define G(T, U) F(T, U, 2) F(T, U, 3) F(T, U, 4) F(T, U, 8) F(T, U, 16)\n"
        "G(short, short) G(ushort, short) G(char, char) G(uchar, char)\n";

    (void)state;
    for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
        struct tsl_compiled compiled = compile(text, processors[i]);

        assert_int_equal(compiled.built.n_kernels, 20);
        tsl_compiled_finish(&compiled);
    }
}

/* PTX's abs and neg leave a NaN's sign as it is; what sees it as a bit gets the bit that the program's operation makes.
 */
static void signs_are_bits_to_what_sees_them(void **state)
{
    static const char seen[] =
        "kernel void f(global double2 *x, global ulong2 *y, global uint4 *z, global float4 *w, int c) {\n"
        "  double2 a = fabs(x[0]); y[0] = as_ulong2(a) >> 52; x[1] = c ? a : x[2]; x[3] = a * x[4];\n"
        "  float4 b = -w[0]; z[0] = as_uint4(b) >> 23; w[1] = b * w[2];\n"
        "}\n"
        "kernel void g(global double *x, global int *y) { x[0] = frexp(x[1], y); x[2] = acospi(x[3]); }\n";
    static const char numbers[] = "kernel void f(global float *x) { x[0] = 1.0f + fabs(x[1]) * x[2]; }\n";

    (void)state;
    assert_int_equal(n_times(seen, "", "abs."), 0);
    assert_int_equal(n_times(seen, "", "neg.f32"), 0);
    assert_true(n_times(seen, "", "and.b64") >= 2);
    assert_int_equal(n_times(numbers, "", "abs.f32"), 1);
}

/* In functions of functions, where not each work-item comes. */
static void functions_print(void **state)
{
    static const char text[] =
        "void inner(global int *x, int i) { if (x[i] != 2) printf(\"%d %f\\n\", i, 2.0); }\n"
        "void outer(global int *x, int i) { if (x[i] > 0) inner(x, i); else printf(\"none\\n\"); }\n"
        "kernel void f(global int *x) { int i = get_global_id(0); if (x[i] != 5) outer(x, i); x[i]++; }\n";

    (void)state;
    assert_int_equal(n_times(text, "", "vprintf,"), 2);
}

/* CUDA's vprintf knows no "hh": bytes are passed as the integers that they are. */
static void bytes_are_printed_as_integers(void **state)
{
    static const char bytes[] = "kernel void k(global uchar2 *a) { printf(\"%#v2hhx %hhd\", a[0], a[1].x); }\n";

    (void)state;
    assert_int_equal(n_times(bytes, "", "104"), 0);                                        /* h */
    assert_int_equal(n_times(bytes, "", "{37, 35, 120, 44, 37, 35, 120, 32, 37, 100"), 1); /* %#x,%#x %d */
}

/* Nothing of a vector is loaded or stored but the components that the program names; what it stores as a whole, or
 * component after component, goes in one piece. */
static void components_are_stored_alone(void **state)
{
    static const char parts[] =
        "kernel void f(global float4 *x, float a) { x->y = a; }\n"
        "kernel void g(global float4 *x, local float4 *l, uint i, float a) { x[0][i] = a; l[0][i] = a; x[1].w += a; }\n"
        "kernel void h(global uint3 *x, volatile global uint3 *y, uint a) { x->z = a; y->x = a; y[1].y += 1; }\n";
    static const char wholes[] =
        "kernel void f(global float4 *x, float a) { x->xy = (float2)(a, 1); }\n"
        "kernel void g(global float4 *x, float4 a) { float4 v = x[a.x < 0]; v += a; *x = v; }\n"
        "kernel void h(global float4 *x, float a) {\n"
        "  x->x = a; x->y = a + 1; x->z = a + 2; x->w = a + 3;\n"
        "}\n";

    (void)state;
    assert_int_equal(n_times(parts, "", "st.global.v"), 0);
    assert_int_equal(n_times(parts, "", "st.shared.v"), 0);
    assert_int_equal(n_times(parts, "", "st.global.f32"), 3);
    assert_int_equal(n_times(parts, "", "st.shared.f32"), 1);
    assert_int_equal(n_times(parts, "", "st.global.u32"), 1);
    assert_int_equal(n_times(parts, "", "st.volatile.global.u32"), 2);
    assert_int_equal(n_times(wholes, "", "st.global.v2.f32"), 1);
    assert_int_equal(n_times(wholes, "", "st.global.v4.f32"), 2);
}

/* Each rounding is one instruction; what is aligned goes in one piece. */
static void halves_are_converted_by_instructions(void **state)
{
    static const char roundings[] =
        "kernel void f(global float *x, global double *y, global half *h) {\n"
        "  vstore_half(x[0], 0, h); vstore_half_rte(x[1], 1, h); vstore_half_rtz(x[2], 2, h);\n"
        "  vstore_half_rtp(x[3], 3, h); vstore_half_rtn(x[4], 4, h);\n"
        "  vstore_half(y[0], 5, h); vstore_half_rte(y[1], 6, h); vstore_half_rtz(y[2], 7, h);\n"
        "  vstore_half_rtp(y[3], 8, h); vstore_half_rtn(y[4], 9, h); x[5] = vload_half(10, h);\n"
        "}\n";
    static const char aligned[] = "kernel void f(global float4 *x, global half *h, local half *l) {\n"
                                  "  vstorea_half4_rte(x[0], 0, h); vstorea_half4_rtp(x[1], 1, l);\n"
                                  "  x[2] = vloada_half4(2, h);\n"
                                  "}\n";
    static const char *const instructions[] = {"cvt.rz.f16.f32", "cvt.rp.f16.f32", "cvt.rm.f16.f32", "cvt.rz.f16.f64",
                                               "cvt.rp.f16.f64", "cvt.rm.f16.f64", "cvt.f32.f16"};

    (void)state;
    for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
        assert_int_equal(n_times(roundings, "", instructions[i]), 1);
    assert_int_equal(n_times(roundings, "", "cvt.rn.f16.f32"), 2);
    assert_int_equal(n_times(roundings, "", "cvt.rn.f16.f64"), 2);
    assert_int_equal(n_times(roundings, "", "setp"), 0);
    assert_int_equal(n_times(aligned, "", "st.global.u16") + n_times(aligned, "", "st.global.b16"), 0);
    assert_int_equal(n_times(aligned, "", "st.shared.u16") + n_times(aligned, "", "st.shared.b16"), 0);
    assert_int_equal(n_times(aligned, "", "ld.global.u16") + n_times(aligned, "", "ld.global.b16"), 0);
    assert_int_equal(n_times(aligned, "", "ld.global.v4.f32"), 2); /* across conversions */
}

/* Roundings of conversions, and the ends of ranges, are the instruction's own. */
static void conversions_are_instructions(void **state)
{
    static const char text[] =
        "kernel void f(global float *x, global double *y, global uchar *a, global short *b, global int *c, global long "
        "*d) "
        "{\n"
        "  a[0] = convert_uchar_sat(x[0]); a[1] = convert_uchar_sat_rte(x[1]); b[0] = convert_short_sat_rtp(y[0]);\n"
        "  c[0] = convert_int_rtn(x[2]); c[1] = convert_int_sat_rte(y[1]); d[0] = convert_long_sat_rte(x[3]);\n"
        "  x[4] = convert_float_rtz(d[1]); x[5] = convert_float_rtp(y[2]); y[3] = convert_double_rtn(d[2]);\n"
        "}\n";
    static const char *const instructions[] = {"cvt.rzi.sat.u8.f32", "cvt.rni.sat.u8.f32", "cvt.rpi.sat.s16.f64",
                                               "cvt.rmi.s32.f32",    "cvt.rni.s32.f64",    "cvt.rni.s64.f32",
                                               "cvt.rz.f32.s64",     "cvt.rp.f32.f64",     "cvt.rm.f64.s64"};

    (void)state;
    for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
        assert_int_equal(n_times(text, "", instructions[i]), 1);
    assert_int_equal(n_times(text, "", "setp.nan"), 3); /* doubles, and what becomes long */
}

static void integers_have_their_instructions(void **state)
{
    static const char text[] =
        "kernel void f(global int *x, global uint *y, global long *z, global uchar4 *b) {\n"
        "  y[0] = abs_diff(x[0], x[1]); y[1] = abs_diff(y[2], y[3]); z[0] = mul_hi(z[1], z[2]);\n"
        "  x[2] = mul_hi(x[3], x[4]); x[5] = popcount(x[6]); x[7] = clz(x[8]);\n"
        "  y[4] = rotate(y[5], y[6]); b[0] = abs_diff(b[1], b[2]); b[3] = add_sat(b[4], b[5]);\n"
        "}\n";
    static const char turn[] = "kernel void f(global ulong *x) { x[0] = rotate(x[1], x[2]); }\n"
                               "kernel void g(global ulong *x) { x[0] = x[1] >> x[2] | x[1] << (64 - x[2]); }\n";
    static const char *const instructions[] = {"sad.s32", "sad.u32",        "mul.hi.s64",    "mul.hi.s32", "popc.b32",
                                               "clz.b32", "shf.l.wrap.b32", "vabsdiff4.u32", "prmt.b32"};

    (void)state;
    for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
        assert_int_not_equal(n_times(text, "", instructions[i]), 0);
    assert_int_equal(n_times(turn, "", "shf.l.wrap.b32"), 4);
    assert_int_equal(n_times(turn, "", "shl.b64"), 2); /* the halves put together */
    assert_int_equal(n_times(turn, "", "bra"), 0);
}

/* `x % n + i` in a loop is no division, product and difference. */
static void remainders_are_left_to_the_hardware(void **state)
{
    static const char text[] =
        "kernel void f(global uint *x, uint n) { for (uint i = 0; i < n; i++) x[0] = x[0] % (n & x[1]) + i; }\n"
        "kernel void g(global long *x, uint n) { for (uint i = 0; i < n; i++) x[0] = x[0] % (n & x[1]) + i; }\n";

    (void)state;
    assert_int_equal(n_times(text, "", "div."), 0);
    assert_int_not_equal(n_times(text, "", "rem.s64"), 0);
}

/* Of `v * v + i + 12345` the constant comes before the product, unless it can be part of an access. */
static void sums_with_products_end_with_these(void **state)
{
    static const char text[] = "kernel void f(global uint *x, uint n) {\n"
                               "  uint v = x[1];\n"
                               "  __attribute__((opencl_unroll_hint(1))) for (uint i = 0; i < n; i++)\n"
                               "    v = v * v + i + 12345;\n"
                               "  x[0] = v;\n"
                               "}\n";
    static const char index[] = "kernel void f(global uint *x) { ulong i = x[1]; x[0] = x[x[2] * i + x[3] + 5]; }\n";
    char *made = made_of(text);
    const char *constant = strstr(made, ", 12345;"), *product = strstr(made, "mad.lo.s32");

    (void)state;
    assert_non_null(constant);
    assert_non_null(product);
    assert_true(constant < product);
    free(made);
    assert_int_equal(n_times(index, "", "+20]"), 1);
}

/* Of a loop that is unrolled the counter has one register, not one for each copy of the body. */
static void unrolled_loops_have_one_counter(void **state)
{
    static const char text[] = "kernel void f(global long *x, int n) {\n"
                               "  long v = x[1], w = x[2]; for (int i = 0; i < n; i++) v = v * w + i; x[0] = v;\n"
                               "}\n";

    (void)state;
    assert_int_equal(n_times(text, "", "mov.u64"), 0);
}

/* A kernel that reads images is there twice. The one with textures reads by these, in whatever way the program does,
 * without a branch over formats. An image that a kernel may write isn't read so, nor any without the optimiser. */
static void images_are_read_by_textures(void **state)
{
    static const char text[] =
        "constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "constant sampler_t mixed = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n"
        "kernel void by_integers(global float4 *x, read_only image2d_t i) { x[0] = read_imagef(i, edge, (int2)(3, 4)); "
        "}\n"
        "kernel void by_floats(global float4 *x, read_only image2d_t i) { x[0] = read_imagef(i, mixed, x[1].xy); }\n"
        "kernel void integers(global int4 *x, read_only image3d_t i, sampler_t s) { x[0] = read_imagei(i, s, x[1]); }\n"
        "kernel void own(read_write image2d_t i) { write_imagef(i, (int2)(0), read_imagef(i, (int2)(1))); }\n"
        "kernel void writes(write_only image2d_t i) { write_imagef(i, (int2)(0), (float4)(1)); }\n";

    (void)state;
    assert_int_equal(n_times(text, "-cl-std=CL2.0", "$textures("), 3);
    assert_int_equal(n_times(text, "-cl-std=CL2.0", "tex.1d.v4"), 1 + 4 + 1);
    assert_int_equal(n_times(text, "-cl-std=CL2.0 -cl-opt-disable", "$textures("), 0);
}

/* Many of a constant sampler are no calls, and what repeats is never outside: no read asks. */
static void reads_that_repeat_are_short(void **state)
{
    static const char text[] =
        "constant sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;\n"
        "kernel void f(global float4 *x, read_only image3d_t i) {\n"
        "  float4 at = x[get_global_id(0)], sum = 0;\n"
        "#define R(k) sum += read_imagef(i, s, at + (float4)(k * 0.1f, 0, 0, 0));\n"
        "#define R10(k) R(k) R(k + 1) R(k + 2) R(k + 3) R(k + 4) R(k + 5) R(k + 6) R(k + 7) R(k + 8) R(k + 9)\n"
        "  R10(0) R10(10) R10(20) R10(30)\n"
        "  x[get_global_id(0)] = sum;\n"
        "}\n";
    char *made = made_of(text), *textures = strstr(made, "$textures(");

    (void)state;
    assert_int_equal(n_times(text, "", "tex.1d.v4"), 40);
    assert_null(strstr(textures, "call.uni"));
    assert_null(strstr(textures, ", -1,"));
    free(made);
}

/* Of two kernels, one of which has the name of the other's twin, neither is lost. */
static void a_kernel_may_be_called_like_a_twin(void **state)
{
    static const char text[] =
        "kernel void f$textures(global float *x) { x[0] = 1; }\n"
        "kernel void f(global float4 *x, read_only image2d_t i) { x[0] = read_imagef(i, (int2)(0)); }\n";

    (void)state;
    assert_int_equal(n_times(text, "", ".entry f("), 1);
    assert_int_equal(n_times(text, "", ".entry f$textures("), 1);
}

/* Functions that the back end would make of branches, selections and shifts. */
static void short_functions_are_short(void **state)
{
    static const char text[] =
        "kernel void f(global float *x, global double *y, global int *n) {\n"
        "  x[0] = round(x[1]); x[2] = copysign(x[3], x[4]); x[5] = clamp(x[6], x[7], x[8]); x[9] = maxmag(x[10], "
        "x[11]);\n"
        "  y[0] = copysign(y[1], y[2]); x[12] = smoothstep(x[13], x[14], x[15]); n[0] = mad_hi(n[1], n[2], n[3]);\n"
        "}\n";
    static const char bytes[] =
        "kernel void f(global uchar4 *b, global uchar16 *c) {\n"
        "  b[0] = b[1].wzyx; b[2] = shuffle2(b[3], b[4], (uchar4)(1, 4, 0, 6)); c[0] = c[1].s3210765432109876;\n"
        "}\n";

    (void)state;
    assert_int_equal(n_times(text, "", "bra"), 0);
    assert_int_equal(n_times(text, "", "lop3.b32"), 3);
    assert_int_equal(n_times(text, "", "setp"), 1); /* maxmag */
    assert_int_equal(n_times(text, "", "div.full.f32"), 1);
    assert_int_equal(n_times(text, "", "mul.hi.s32") + n_times(text, "", "mad.hi.s32"), 1);
    assert_int_equal(n_times(bytes, "", "bfe") + n_times(bytes, "", "bfi"), 0);
    assert_int_not_equal(n_times(bytes, "", "prmt.b32"), 0);
}

/* What a known mask gives is moved; what an unknown one gives is chosen from registers. */
static void shuffles_stay_in_registers(void **state)
{
    static const char known[] =
        "kernel void f(global float4 *x, global uchar4 *b) {\n"
        "  x[0] = shuffle(x[1], (uint4)(3, 0, 2, 1)); b[0] = shuffle(b[1], (uchar4)(3, 1, 0, 2));\n"
        "}\n";
    static const char unknown[] =
        "#define S(T, U, M, N) kernel void T##M##_##N(global T##M *x, global U##N *m, global T##N *y) {\\\n"
        "  y[0] = shuffle(x[0] + x[1], m[0]); y[1] = shuffle2(x[0] + x[1], x[2] + x[3], m[1]); }\n"
        "#define E(T, U) S(T, U, 2, 4) S(T, U, 4, 2) S(T, U, 4, 8) S(T, U, 8, 4)\n"
        "E(char, uchar) E(ushort, ushort) E(float, uint)\n"
        "S(uchar, uchar, 16, 16) S(short, ushort, 16, 8) S(double, ulong, 4, 2) S(long, ulong, 2, 16)\n";

    (void)state;
    assert_int_equal(n_times(known, "", "setp") + n_times(known, "", "selp"), 0);
    assert_int_equal(n_times(unknown, "", ".local"), 0);
    assert_int_not_equal(n_times(unknown, "", "selp.f32"), 0);
}

/* What is approximate is the hardware's. */
static void approximations_are_instructions(void **state)
{
    static const char text[] =
        "kernel void f(global float *x) {\n"
        "  x[0] = rsqrt(x[1]); x[2] = native_rsqrt(x[3]); x[4] = half_rsqrt(x[5]); x[6] = half_recip(x[7]);\n"
        "  x[8] = half_divide(x[9], x[10]); x[11] = half_sqrt(x[12]); x[13] = half_exp(x[14]); x[15] = "
        "native_sin(x[16]);\n"
        "  x[17] = native_log2(x[18]);\n"
        "}\n";
    static const struct {
        const char *instruction;
        unsigned n;
    } wanted[] = {{"rsqrt.approx.f32", 1},   {"rsqrt.approx.ftz.f32", 2}, {"rcp.approx.ftz.f32", 1},
                  {"div.full.ftz.f32", 1},   {"sqrt.approx.ftz.f32", 3},  {"ex2.approx.ftz.f32", 1},
                  {"sin.approx.ftz.f32", 1}, {"lg2.approx.ftz.f32", 1},   {"setp", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        assert_int_equal(n_times(text, "", wanted[i].instruction), wanted[i].n);
}

/* OpenCL 3.0, 5.8.6.2: subnormal numbers may be zero, functions may be the hardware's. */
static void options_gain(void **state)
{
    static const char text[] =
        "kernel void f(global float *x) {\n"
        "  x[0] = x[1] * x[2] + x[3] / x[4]; x[5] = sqrt(x[6]); x[7] = exp(x[8]); x[9] = pow(x[10], 2.5f);\n"
        "}\n"
        "kernel void g(global float *x, global double *y) { x[0] = sin(x[1]); x[2] = log(x[3]); y[0] = exp(y[1]); }\n";
    static const char zeros[] = "-cl-denorms-are-zero";
    static const char *const relaxed[] = {"-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math"};

    (void)state;
    assert_int_equal(n_times(text, "", "fma.rn.ftz.f32") + n_times(text, "", "div.full.ftz.f32"), 0);
    assert_int_not_equal(n_times(text, zeros, "fma.rn.ftz.f32"), 0);
    assert_int_not_equal(n_times(text, zeros, "div.full.ftz.f32"), 0);
    assert_int_not_equal(n_times(text, zeros, "sqrt.approx.ftz.f32"), 0);
    assert_int_equal(n_times(text, zeros, "sin.approx"), 0);
    for (size_t i = 0; i < sizeof(relaxed) / sizeof(relaxed[0]); i++) {
        assert_int_equal(n_times(text, relaxed[i], "sin.approx.ftz.f32"), 1);
        assert_int_equal(n_times(text, relaxed[i], "ex2.approx.ftz.f32"), 2);
        assert_int_equal(n_times(text, relaxed[i], "lg2.approx.ftz.f32"), 2);
        assert_int_equal(n_times(text, relaxed[i], "ld.global.f64"), 1);
    }
}

/* What takes all that is compiled here has had it by now (compile_with). */
static void assemblers_take_it(void **state)
{
    static const char *const texts[] = {source, kernel_source};

    (void)state;
    for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            struct tsl_compiled compiled = compile(texts[k], processors[i]);

            assert_non_null(memmem(compiled.built.artefact, compiled.built.artefact_size, processors[i], 5));
            tsl_compiled_finish(&compiled);
        }
        if (!find_ptxas())
            print_message("no ptxas here: %s is looked at as text only\n", processors[i]);
    }
}

static void newer_processors_get_code_that_they_can_run(void **state)
{
    struct tsl_compiled compiled = compile("kernel void f(void) {}", "sm_120");

    (void)state;
    assert_non_null(memmem(compiled.built.artefact, compiled.built.artefact_size, ".target sm_90", 13));
    tsl_compiled_finish(&compiled);
}

static int set_up(void **state)
{
    (void)state;
    kc_use(NULL);
    kc_use_no_cache();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_as_promised),
        cmocka_unit_test(operations_without_order_have_no_fences),
        cmocka_unit_test(arrays_lie_for_vectors),
        cmocka_unit_test(copies_are_wide),
        cmocka_unit_test(copies_have_any_length),
        cmocka_unit_test(operations_are_whole_for_all_gpus),
        cmocka_unit_test(required_sizes_leave_room_for_last_groups),
        cmocka_unit_test(arguments_in_constant_memory_are_read_as_buffers),
        cmocka_unit_test(tables_of_functions_are_no_variables),
        cmocka_unit_test(tables_of_addresses_are_assembled),
        cmocka_unit_test(divisions_and_roots_are_as_exact_as_asked),
#ifdef HAS_SPIRV_MODULES
        cmocka_unit_test(options_count_for_modules),
#endif
        cmocka_unit_test(products_are_carried_round_loops),
        cmocka_unit_test(indices_are_carried_round_loops),
        cmocka_unit_test(tiles_have_one_address),
        cmocka_unit_test(indices_share_what_they_have),
        cmocka_unit_test(ways_share_addresses),
        cmocka_unit_test(loops_in_loops_are_compiled),
        cmocka_unit_test(long_sums_are_compiled_soon),
        cmocka_unit_test(quick_sides_come_first),
        cmocka_unit_test(vectors_of_bytes_are_read_where_they_are),
        cmocka_unit_test(vectors_of_shorts_are_compared),
        cmocka_unit_test(signs_are_bits_to_what_sees_them),
        cmocka_unit_test(bytes_are_printed_as_integers),
        cmocka_unit_test(components_are_stored_alone),
        cmocka_unit_test(halves_are_converted_by_instructions),
        cmocka_unit_test(conversions_are_instructions),
        cmocka_unit_test(integers_have_their_instructions),
        cmocka_unit_test(remainders_are_left_to_the_hardware),
        cmocka_unit_test(sums_with_products_end_with_these),
        cmocka_unit_test(unrolled_loops_have_one_counter),
        cmocka_unit_test(functions_print),
        cmocka_unit_test(images_are_read_by_textures),
        cmocka_unit_test(reads_that_repeat_are_short),
        cmocka_unit_test(a_kernel_may_be_called_like_a_twin),
        cmocka_unit_test(short_functions_are_short),
        cmocka_unit_test(shuffles_stay_in_registers),
        cmocka_unit_test(approximations_are_instructions),
        cmocka_unit_test(options_gain),
        cmocka_unit_test(assemblers_take_it),
        cmocka_unit_test(newer_processors_get_code_that_they_can_run),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
