/*
 * Work-items that each write one component of vectors that they share: none loses another's. Each slot of a buffer has
 * a work-item of its own; the fourth slots of vectors of three, which are no components, are written like all others.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* timeout: 200 */
#include "cpu_rig.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define N_SLOTS 1024u

/* What a kernel leaves in slot i. */
static int old(unsigned i)
{
    return (int)(i % 20);
}

static int value(unsigned i)
{
    return (int)(i % 97 + 1);
}

static int added(unsigned i)
{
    return old(i) + value(i);
}

static int guarded(unsigned i)
{
    return i % 3 == 0 ? value(i) : old(i);
}

struct kind {
    const char *kernel;
    int (*right)(unsigned i);
    unsigned widths; /* a bit for each: 2, 3, 4, 8, 16 */
};

#define ALL   (1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 16)
#define FOURS (1u << 4 | 1u << 8 | 1u << 16)

/* -DT=the components' type -DV=the vectors' -DN=their width -DS=slots of one. V2: of two, H: of half the width. */
static const char types[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#define VALUE(i) ((T)((i) % 97 + 1))\n"
    "kernel void fill(global T *o) { size_t i = get_global_id(0); o[i] = (T)(i % 20); }\n"
    "kernel void get(global const T *o, global int *r) { size_t i = get_global_id(0); r[i] = (int)o[i]; }\n"
    "#define KIND(name, i_, ...) kernel void name(global T *o) { \\\n"
    "  uint g = get_global_id(0), i = i_, c = i % S; global V *p = (global V *)o + i / S; T x = VALUE(i); \\\n"
    "  if (c < N) { __VA_ARGS__ } else if (KEPT) o[i] = x; }\n"
    "#define KEPT true\n"
    "KIND(subscript, g, (*p)[c] = x;)\n"
    "KIND(across, g % 32 * 32 + g / 32, (*p)[c] = x;)\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void in_local(global T *o) {\n"
    "  local V l[64 / S]; local T *e = (local T *)l; uint i = get_global_id(0), k = get_local_id(0);\n"
    "  e[k] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (k % S < N) l[k / S][k % S] = VALUE(i); else e[k] = VALUE(i);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); o[i] = e[k]; }\n"
    "#if N == 2\n"
    "KIND(names, g, if (c) p->y = x; else p->x = x;)\n"
    "#elif N == 3\n"
    "KIND(names, g, switch (c) { case 0: p->x = x; break; case 1: p->y = x; break; default: p->z = x; })\n"
    "#elif N == 4\n"
    "KIND(names, g, switch (c) { case 0: p->x = x; break; case 1: p->y = x; break; case 2: p->z = x; break;\n"
    "  default: p->w = x; })\n"
    "#else\n"
    "KIND(names, g, switch (c) { case 0: p->s0 = x; break; case 3: p->s3 = x; break; case 6: p->s6 = x; break;\n"
    "  case 7: p->s7 = x; break; default: (*p)[c] = x; })\n"
    "#endif\n"
    "#if N == 3\n"
    "KIND(swizzles, g, if (c == 0) p->xz = (V2)(x, VALUE(i + 2)); else if (c == 1) p->y = x;)\n"
    "#elif N == 4\n"
    "KIND(swizzles, g, if (c == 0) p->zx = (V2)(VALUE(i + 2), x); else if (c == 1) p->yw = (V2)(x, VALUE(i + 2));)\n"
    "#elif N > 4\n"
    "KIND(swizzles, g, if (c == 2) p->s52 = (V2)(VALUE(i + 3), x); else if (c != 5) (*p)[c] = x;)\n"
    "#endif\n"
    "#if N >= 4\n"
    "KIND(halves, g, if (c < 2) { H v; for (uint k = 0; k < N / 2; k++) v[k] = VALUE(i - c + c * N / 2 + k);\n"
    "  if (c) p->hi = v; else p->lo = v; })\n"
    "KIND(alternate, g, if (c < 2) { H v; for (uint k = 0; k < N / 2; k++) v[k] = VALUE(i + 2 * k);\n"
    "  if (c) p->odd = v; else p->even = v; })\n"
    "#endif\n";
static const char forms[] =
    "#undef KEPT\n"
    "#define KEPT (o[i] += x, false)\n"
    "#if N == 2\n"
    "KIND(compound, g, if (c) p->y += x; else p->x += x;)\n"
    "#else\n"
    "KIND(compound, g, if (c == 0) p->x += x; else if (c == 1) { T t = p->y; p->y = t + x; } else (*p)[c] += x;)\n"
    "#endif\n"
    "#undef KEPT\n"
    "#define KEPT true\n"
    "KIND(looped, g, for (uint k = 0; k < N; k++) if (k == c) (*p)[k] = x;)\n"
    "KIND(of_volatile, g, volatile global V *v = p; if (c == 1) v->y = x; else (*v)[c] = x;)\n"
    "KIND(generic_pointer, g, V *any = p; if (c == 1) any->y = x; else (*any)[c] = x;)\n"
    "typedef struct { V v[2][2]; } Vs;\n"
    "KIND(member, g, global Vs *s = (global Vs *)o + i / (4 * S); s->v[i / S / 2 % 2][i / S % 2][c] = x;)\n"
    "void set(global V *p, uint c, T x) { (*p)[c] = x; }\n"
    "KIND(by_function, g, set(p, c, x);)\n"
    "void set_own(V *p, uint c, T x) { (*p)[c] = x; p->x += 1; }\n"
    "KIND(of_own, g, V v = (V)(0); set_own(&v, c, x); set_own(&v, 1, 5); v.x -= 2; o[i] = c == 1 ? x : v[c];)\n"
    "KIND(twice, g, if (c == 1) { T t = p->y; p->y = x - 1; p->y += 1; p->y = p->y; }\n"
    "  else (*p)[c] = (*p)[c] > 90 ? 0 : x;)\n"
    "#undef KEPT\n"
    "#define KEPT (i % 3 == 0)\n"
    "KIND(under_guard, g, if (i % 3 == 0) (*p)[c] = x;)\n"
    "#if N == 3\n"
    "kernel void threes(global T *o) { uint i = get_global_id(0);\n"
    "  if (i % 4 == 0) vstore3((V)(VALUE(i), VALUE(i + 1), VALUE(i + 2)), i / 4, o + i / 4);\n"
    "  else if (i % 4 == 3) o[i] = VALUE(i); }\n"
    "#endif\n";

static const struct kind of_types[] = {{"subscript", value, ALL},
                                       {"across", value, ALL},
                                       {"in_local", value, ALL},
                                       {"names", value, ALL},
                                       {"swizzles", value, ALL & ~(1u << 2)},
                                       {"halves", value, FOURS},
                                       {"alternate", value, FOURS},
                                       {NULL}};
static const struct kind of_forms[] = {{"compound", added, ALL},
                                       {"looped", value, ALL},
                                       {"of_volatile", value, ALL},
                                       {"generic_pointer", value, ALL},
                                       {"member", value, ALL},
                                       {"by_function", value, ALL},
                                       {"of_own", value, ALL},
                                       {"twice", value, ALL},
                                       {"under_guard", guarded, ALL},
                                       {"threes", value, 1u << 3},
                                       {NULL}};

static unsigned count_wrong(struct cpu_rig *rig, cl_program program, const struct kind *kind, const char *type,
                            unsigned width)
{
    cl_mem slots = cpu_rig_buffer(rig, N_SLOTS * sizeof(double), NULL);
    cl_mem buffers[2] = {slots, cpu_rig_buffer(rig, N_SLOTS * sizeof(int), NULL)};
    int got[N_SLOTS];
    unsigned wrong = 0;

    cpu_rig_run(rig, program, "fill", 1, &slots, 0, NULL, N_SLOTS);
    cpu_rig_run(rig, program, kind->kernel, 1, &slots, 0, NULL, N_SLOTS);
    cpu_rig_run(rig, program, "get", 2, buffers, 0, NULL, N_SLOTS);
    cpu_rig_read(rig, buffers[1], sizeof(got), got);
    for (unsigned i = 0; i < N_SLOTS; i++)
        wrong += got[i] != kind->right(i);
    if (wrong)
        print_message("%s of %s%u: %u of %u are wrong\n", kind->kernel, type, width, wrong, N_SLOTS);
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    return wrong;
}

static unsigned count_wrong_of(struct cpu_rig *rig, const char *type, unsigned width, bool all_forms)
{
    char source[sizeof(types) + sizeof(forms)], options[200];
    unsigned wrong = 0;
    cl_program program;

    snprintf(source, sizeof(source), "%s%s", types, all_forms ? forms : "");
    snprintf(options, sizeof(options), "-cl-std=CL3.0 -DT=%s -DV=%s%u -DN=%u -DS=%u -DV2=%s2 -DH=%s%u", type, type,
             width, width, width == 3 ? 4 : width, type, type, width / 2);
    program = cpu_rig_program(rig, source, options);
    for (const struct kind *kind = of_types; kind->kernel; kind++)
        if (kind->widths >> width & 1)
            wrong += count_wrong(rig, program, kind, type, width);
    for (const struct kind *kind = of_forms; all_forms && kind->kernel; kind++)
        if (kind->widths >> width & 1)
            wrong += count_wrong(rig, program, kind, type, width);
    clReleaseProgram(program);
    return wrong;
}

static void check(struct cpu_rig *rig, const char *type, bool all_forms)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        wrong += count_wrong_of(rig, type, widths[i], all_forms);
    assert_int_equal(wrong, 0);
}

static void components_of_ints_in_all_forms(void **state)
{
    check(*state, "uint", true);
}

static void components_of_bytes_in_all_forms(void **state)
{
    check(*state, "char", true);
}

static void components_of_other_types(void **state)
{
    check(*state, "ushort", false);
    check(*state, "long", false);
    check(*state, "float", false);
    check(*state, "double", false);
}

static void components_of_halves(void **state)
{
    struct cpu_rig *rig = *state;
    char extensions[4096];

    assert_int_equal(clGetDeviceInfo(rig->device, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL),
                     CL_SUCCESS);
    if (strstr(extensions, "cl_khr_fp16"))
        check(rig, "half", false);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_of_ints_in_all_forms),
        cmocka_unit_test(components_of_bytes_in_all_forms),
        cmocka_unit_test(components_of_other_types),
        cmocka_unit_test(components_of_halves),
    };

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
