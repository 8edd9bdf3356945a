/*
 * The time of each built-in function of OpenCL C on one platform beside others: mathematics for float and double,
 * storage in half precision, integers of all widths, conversions of all pairs, atomics, functions of groups, images.
 * Each kernel calls one function 64 times, on registers.
 */
#include "sweep/sweep.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* A new value of x from x and y, which stay near 1, and i. Text has T for the type, I for int of its width, S for its
 * scalar, and N for the width, empty for 1. */
struct function {
    const char *name, *value;
};

static const struct function mathematics[] = {
    {"loop alone", "x*0.5f+y"},
    {"div", "y/x+0.5f"},
    {"sqrt", "sqrt(x)+y"},
    {"rsqrt", "rsqrt(x)+y"},
    {"cbrt", "cbrt(x)+y"},
    {"fma", "fma(x,y,y)*0.5f"},
    {"mad", "mad(x,y,y)*0.5f"},
    {"sin", "sin(x)+y"},
    {"cos", "cos(x)+y"},
    {"tan", "tan(x)*0.1f+y"},
    {"asin", "asin(x*0.2f)+y"},
    {"acos", "acos(x*0.2f)*0.3f+y"},
    {"atan", "atan(x)+y"},
    {"sinh", "sinh(x)*0.1f+y"},
    {"cosh", "cosh(x)*0.1f+y"},
    {"tanh", "tanh(x)+y"},
    {"asinh", "asinh(x)+y"},
    {"acosh", "acosh(x+1)+y"},
    {"atanh", "atanh(x*0.2f)+y"},
    {"sinpi", "sinpi(x)+y"},
    {"cospi", "cospi(x)+y"},
    {"tanpi", "tanpi(x*0.2f)*0.1f+y"},
    {"asinpi", "asinpi(x*0.2f)+y"},
    {"acospi", "acospi(x*0.2f)+y"},
    {"atanpi", "atanpi(x)+y"},
    {"exp", "exp(x)*0.1f+y"},
    {"exp2", "exp2(x)*0.1f+y"},
    {"exp10", "exp10(x)*0.01f+y"},
    {"expm1", "expm1(x)*0.1f+y"},
    {"log", "log(x)+y"},
    {"log2", "log2(x)+y"},
    {"log10", "log10(x)+y"},
    {"log1p", "log1p(x)+y"},
    {"logb", "logb(x)+y+1"},
    {"pow", "pow(x,y)*0.5f+y"},
    {"powr", "powr(x,y)*0.5f+y"},
    {"pown", "pown(x,(I)(i&7))*0.01f+y"},
    {"rootn", "rootn(x,(I)3)+y"},
    {"hypot", "hypot(x,y)*0.3f+y"},
    {"atan2", "atan2(x,y)+y"},
    {"atan2pi", "atan2pi(x,y)+y"},
    {"fmod", "fmod(x*7,y)+y"},
    {"remainder", "remainder(x*7,y)+y"},
    {"remquo", "({I p;remquo(x*7,y,&p)+y;})"},
    {"erf", "erf(x)+y"},
    {"erfc", "erfc(x)+y"},
    {"tgamma", "tgamma(x)*0.1f+y"},
    {"lgamma", "lgamma(x)*0.1f+y"},
    {"lgamma_r", "({I p;lgamma_r(x,&p)*0.1f+y;})"},
    {"floor", "floor(x*3)*0.2f+y"},
    {"ceil", "ceil(x*3)*0.2f+y"},
    {"trunc", "trunc(x*3)*0.2f+y"},
    {"rint", "rint(x*3)*0.2f+y"},
    {"round", "round(x*3)*0.2f+y"},
    {"fract", "({T p;fract(x*3,&p)+y;})"},
    {"modf", "({T p;modf(x*3,&p)+y;})"},
    {"frexp", "({I p;frexp(x*3,&p)+y;})"},
    {"ldexp", "ldexp(x,(I)((i&3)-2))+y"},
    {"ilogb", "convert_T(ilogb(x))+y+1"},
    {"sincos", "({T p;sincos(x,&p)+p+y;})"},
    {"nextafter", "nextafter(x,y)"},
    {"copysign", "copysign(x,y)*0.5f+y"},
    {"fdim", "fdim(x,y)+y"},
    {"fmax", "fmax(x,y)*0.5f+y"},
    {"fmin", "fmin(x,y)*0.5f+y"},
    {"maxmag", "maxmag(x,y)*0.5f+y"},
    {"minmag", "minmag(x,y)*0.5f+y"},
    {"fabs", "fabs(x)*0.5f+y"},
    {"clamp", "clamp(x*2,(T)0.1f,(T)1.5f)*0.5f+y"},
    {"mix", "mix(x,y,(T)0.3f)"},
    {"smoothstep", "smoothstep((T)0,(T)2,x)+y"},
    {"step", "step(y,x)+y"},
    {"sign", "sign(x-0.9f)+y"},
    {"degrees", "degrees(x)*0.01f+y"},
};

static const struct function quick[] = {
    {"native_sin", "native_sin(x)+y"},
    {"native_cos", "native_cos(x)+y"},
    {"native_tan", "native_tan(x)*0.1f+y"},
    {"native_exp", "native_exp(x)*0.1f+y"},
    {"native_exp2", "native_exp2(x)*0.1f+y"},
    {"native_exp10", "native_exp10(x)*0.01f+y"},
    {"native_log", "native_log(x)+y"},
    {"native_log2", "native_log2(x)+y"},
    {"native_log10", "native_log10(x)+y"},
    {"native_sqrt", "native_sqrt(x)+y"},
    {"native_rsqrt", "native_rsqrt(x)+y"},
    {"native_recip", "native_recip(x)+y"},
    {"native_divide", "native_divide(y,x)+y*0.5f"},
    {"native_powr", "native_powr(x,y)*0.5f+y"},
    {"half_sin", "half_sin(x)+y"},
    {"half_cos", "half_cos(x)+y"},
    {"half_tan", "half_tan(x)*0.1f+y"},
    {"half_exp", "half_exp(x)*0.1f+y"},
    {"half_exp2", "half_exp2(x)*0.1f+y"},
    {"half_log", "half_log(x)+y"},
    {"half_log2", "half_log2(x)+y"},
    {"half_sqrt", "half_sqrt(x)+y"},
    {"half_rsqrt", "half_rsqrt(x)+y"},
    {"half_recip", "half_recip(x)+y"},
    {"half_divide", "half_divide(y,x)+y*0.5f"},
    {"half_powr", "half_powr(x,y)*0.5f+y"},
};

/* Where results are no numbers that are kept, x goes on without them. */
static const struct function storage[] = {
    {"vstore_half", "({ushort h[16];vstore_halfN(x,0,(private half *)h);(T)(h[0])*1e-5f+x*0.5f+y;})"},
    {"vstore_half_rte", "({ushort h[16];vstore_halfN_rte(x,0,(private half *)h);(T)(h[0])*1e-5f+x*0.5f+y;})"},
    {"vstore_half_rtz", "({ushort h[16];vstore_halfN_rtz(x,0,(private half *)h);(T)(h[0])*1e-5f+x*0.5f+y;})"},
    {"vstore_half_rtp", "({ushort h[16];vstore_halfN_rtp(x,0,(private half *)h);(T)(h[0])*1e-5f+x*0.5f+y;})"},
    {"vstore_half_rtn", "({ushort h[16];vstore_halfN_rtn(x,0,(private half *)h);(T)(h[0])*1e-5f+x*0.5f+y;})"},
};

static const struct function geometry[] = {
    {"dot", "x*0.5f+dot(x,y)*0.1f"},
    {"length", "x*0.5f+length(x)*0.1f"},
    {"fast_length", "x*0.5f+fast_length(x)*0.1f"},
    {"normalize", "normalize(x)+y"},
    {"fast_normalize", "fast_normalize(x)+y"},
    {"distance", "x*0.5f+distance(x,y+y)*0.1f"},
    {"cross", "cross(x,y)*0.5f+y"},
    {"shuffle", "shuffle(x,as_uint4(x)&3u)*0.5f+y*0.5f"},
    {"bitselect", "bitselect(x,y,as_float4((uint4)0xffff))*0.5f+y*0.5f"},
};

/* x and y stay small, or wrap where that is defined; U is the unsigned type. */
static const struct function integers[] = {
    {"mul", "((x*y)&(T)0x7fff)+(T)i"},
    {"div", "(y*(T)57)/((x&(T)63)+(T)1)+(T)i"},
    {"mod", "(y*(T)57)%((x&(T)63)+(T)1)+(T)i"},
    {"shift", "(x<<(T)3)+(y>>(T)1)+(T)i"},
    {"mul_hi", "mul_hi(x,(T)(y*(T)57))+(T)i"},
    {"mad_hi", "mad_hi(x,(T)(y*(T)57),(T)i)"},
    {"mad_sat", "mad_sat(x,y,(T)i)-(T)9"},
    {"add_sat", "add_sat(x,y)+(T)i"},
    {"sub_sat", "sub_sat(x,y)+(T)i"},
    {"hadd", "hadd(x,y)+(T)i"},
    {"rhadd", "rhadd(x,y)+(T)i"},
    {"abs", "as_T(abs((T)(x-y)))+(T)i"},
    {"abs_diff", "as_T(abs_diff(x,y))+(T)i"},
    {"clz", "clz(x)+y+(T)i"},
    {"popcount", "popcount(x)*y+(T)i"},
    {"rotate", "rotate(x,(T)(y&(T)7))+(T)i"},
    {"clamp", "clamp(x,(T)3,(T)99)+y+(T)i"},
    {"min", "min(x,y)+(T)i"},
    {"max", "max(x,y)-(T)i"},
    {"bitselect", "bitselect(x,y,(T)0x55)+(T)i"},
    {"select", "select(x,y,convert_T(x>y))+(T)i"},
};

static const struct function of_ints[] = {
    {"mul24", "mul24(x&(T)0xffff,y)+(T)i"},
    {"mad24", "mad24(x&(T)0xffff,y,(T)i)"},
};

static const char *const integer_types[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"};
static const char *const all_types[] = {"char", "uchar", "short", "ushort", "int",
                                        "uint", "long",  "ulong", "float",  "double"};

static unsigned size_of(const char *type)
{
    static const char *const by_size[] = {"char", "short", "int float", "long double"};
    const char *bare = type[0] == 'u' ? type + 1 : type;
    for (unsigned i = 0; i < N_OF(by_size); i++)
        if (strstr(by_size[i], bare))
            return 1u << i;
    return 0;
}

static bool is_float(const char *type)
{
    return !strcmp(type, "float") || !strcmp(type, "double");
}

/* ---- Functions of registers -------------------------------------------------------------------------------------- */

static const char *width_text(unsigned width)
{
    static const char *const texts[17] = {[1] = "", [2] = "2", [4] = "4", [8] = "8", [16] = "16"};
    return texts[width];
}

static enum sweep_check check_of(const char *type)
{
    return !strcmp(type, "float") ? SWEEP_FLOATS : !strcmp(type, "double") ? SWEEP_DOUBLES : SWEEP_EQUAL;
}

static void add_function(struct sweep_rows *rows, const struct function *f, const char *type, unsigned width)
{
    const char *n = width_text(width), *begin = is_float(type) ? "0.7f+(g&255)*0.001f" : "(g&63)+3",
               *other = is_float(type) ? "0.5f+(g&15)*0.01f" : "(g&15)+5";
    char *source =
        sweep_text("#undef T\n#undef I\n#undef convert_T\n#undef as_T\n#undef vstore_halfN\n#undef vstore_halfN_rte\n"
                   "#undef vstore_halfN_rtz\n#undef vstore_halfN_rtp\n#undef vstore_halfN_rtn\n"
                   "#define T %s%s\n#define I %s%s\n#define convert_T convert_%s%s\n#define as_T as_%s%s\n"
                   "#define vstore_halfN vstore_half%s\n#define vstore_halfN_rte vstore_half%s_rte\n"
                   "#define vstore_halfN_rtz vstore_half%s_rtz\n#define vstore_halfN_rtp vstore_half%s_rtp\n"
                   "#define vstore_halfN_rtn vstore_half%s_rtn\n"
                   "kernel void %%s(global const uchar *in, global uchar *out) { uint g = get_global_id(0);\n"
                   "  T x = (T)(%s)(%s), y = (T)(%s)(%s);\n  for (int i = 0; i < 64; i++) x = %s;\n"
                   "  ((global T *)out)[g] = x; }\n",
                   type, n, "int", n, type, n, type, n, n, n, n, n, n, type, begin, type, other, f->value);
    struct sweep_row *row = sweep_add(rows, sweep_text("%s %s%s", f->name, type, n), source);
    row->written = (size_t)size_of(type) * width;
    row->check = check_of(type);
}

static void add_functions(struct sweep_rows *rows, const struct function *list, size_t n, const char *type,
                          unsigned width)
{
    for (size_t i = 0; i < n; i++)
        add_function(rows, &list[i], type, width);
}

static void add_mathematics(struct sweep_rows *rows, bool wide)
{
    static const unsigned widths[] = {1, 4, 2, 8, 16};
    for (unsigned w = 0; w < (wide ? N_OF(widths) : 2); w++) {
        add_functions(rows, mathematics, N_OF(mathematics), "float", widths[w]);
        add_functions(rows, quick, N_OF(quick), "float", widths[w]);
        add_functions(rows, storage, N_OF(storage), "float", widths[w]);
        if (w != 1 || wide)
            add_functions(rows, mathematics, N_OF(mathematics), "double", widths[w]);
    }
    add_functions(rows, geometry, N_OF(geometry), "float", 4);
}

static void add_integers(struct sweep_rows *rows, bool wide)
{
    static const unsigned widths[] = {1, 4, 2, 8, 16};
    for (unsigned t = 0; t < N_OF(integer_types); t++)
        for (unsigned w = 0; w < (wide ? N_OF(widths) : 2); w++) {
            add_functions(rows, integers, N_OF(integers), integer_types[t], widths[w]);
            if (!strcmp(integer_types[t], "int") || !strcmp(integer_types[t], "uint"))
                add_functions(rows, of_ints, N_OF(of_ints), integer_types[t], widths[w]);
        }
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static void add_conversion(struct sweep_rows *rows, const char *to, const char *from, const char *how, unsigned width)
{
    const char *n = width_text(width), *begin = is_float(from) ? "0.7f+(g&63)*1.01f" : "(g&63)+3";
    char *source =
        sweep_text("kernel void %%s(global const uchar *in, global uchar *out) { uint g = get_global_id(0);\n"
                   "  %s%s x = (%s%s)(%s)(%s); %s%s a = 0;\n"
                   "  for (int i = 0; i < 64; i++) a += convert_%s%s%s(x + (%s%s)(%s)(i & 7));\n"
                   "  ((global %s%s *)out)[g] = a; }\n",
                   from, n, from, n, from, begin, to, n, to, n, how, from, n, from, to, n);
    struct sweep_row *row = sweep_add(rows, sweep_text("convert_%s%s%s(%s%s)", to, n, how, from, n), source);
    row->written = (size_t)size_of(to) * width;
    row->check = check_of(to);
}

static void add_conversions(struct sweep_rows *rows, unsigned width)
{
    for (unsigned t = 0; t < N_OF(all_types); t++)
        for (unsigned f = 0; f < N_OF(all_types); f++) {
            add_conversion(rows, all_types[t], all_types[f], "", width);
            if (!is_float(all_types[t]))
                add_conversion(rows, all_types[t], all_types[f], "_sat", width);
            if (is_float(all_types[f]) != is_float(all_types[t]))
                add_conversion(rows, all_types[t], all_types[f], is_float(all_types[t]) ? "_rtz" : "_sat_rte", width);
        }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static const struct function atomics[] = {
    {"atomic_add", "atomic_add(p,(int)g)"},         {"atomic_inc", "atomic_inc(p)"},
    {"atomic_min", "atomic_min(p,-(int)(g&1023))"}, {"atomic_max", "atomic_max(p,(int)(g&1023))"},
    {"atomic_or", "atomic_or(p,(int)(g&1023))"},    {"atomic_cmpxchg", "atomic_cmpxchg(p,0,7)"},
};

/* where: how the address is found, for 1024 counters of all items or 64 of a group. */
static void add_atomics(struct sweep_rows *rows)
{
    for (unsigned i = 0; i < N_OF(atomics); i++) {
        struct sweep_row *row = sweep_add(
            rows, sweep_text("%s global, spread", atomics[i].name),
            sweep_text("kernel void %%s(global const uchar *in, global uchar *out) { uint g = get_global_id(0);\n"
                       "  for (int i = 0; i < 16; i++) { global int *p = (global int *)out + ((g + i * 37) & 1023);\n"
                       "    %s; } }\n",
                       atomics[i].value));
        row->accumulates = true;
        row = sweep_add(
            rows, sweep_text("%s global, one", atomics[i].name),
            sweep_text("kernel void %%s(global const uchar *in, global uchar *out) { uint g = get_global_id(0);\n"
                       "  global int *p = (global int *)out; %s; }\n",
                       atomics[i].value));
        row->accumulates = true;
        sweep_add(rows, sweep_text("%s local", atomics[i].name),
                  sweep_text("kernel void %%s(global const uchar *in, global uchar *out) { local int c[64];\n"
                             "  uint g = get_global_id(0), l = get_local_id(0); c[l] = 0; "
                             "barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "  for (int i = 0; i < 64; i++) { local int *p = &c[(l + i * 5) & 63]; %s; }\n"
                             "  barrier(CLK_LOCAL_MEM_FENCE); ((global int *)out)[g] = c[l]; }\n",
                             atomics[i].value));
    }
}

static const struct function of_groups[] = {
    {"work_group_reduce_add", "work_group_reduce_add(x & 15) + i"},
    {"work_group_reduce_max", "work_group_reduce_max(x) + i"},
    {"work_group_scan_inclusive_add", "work_group_scan_inclusive_add(x & 15) + i"},
    {"work_group_scan_exclusive_min", "work_group_scan_exclusive_min(x) / 2 + i + y"},
    {"work_group_broadcast", "work_group_broadcast(x, 5) + y"},
    {"work_group_any", "work_group_any(x > 900) + x + y"},
    {"work_group_all", "work_group_all(x < 900) + x + y"},
};

static void add_group_functions(struct sweep_rows *rows)
{
    for (unsigned i = 0; i < N_OF(of_groups); i++)
        sweep_add(rows, sweep_text("%s", of_groups[i].name),
                  sweep_text("kernel void %%s(global const uchar *in, global uchar *out) { uint g = get_global_id(0);\n"
                             "  int x = (g & 255) + 3, y = (g & 15) + 5;\n"
                             "  for (int i = 0; i < 8; i++) x = %s;\n  ((global int *)out)[g] = x; }\n",
                             of_groups[i].value));
}

static const struct function images[] = {
    {"read_imagef, integers", "read_imagef(from, (int2)((g + i * 7) & 511, (g >> 9) + i & 511))"},
    {"read_imagef, nearest",
     "read_imagef(from, CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE, (float2)((g & 511) + i, g >> 9))"},
    {"read_imagef, linear",
     "read_imagef(from, CLK_FILTER_LINEAR | CLK_ADDRESS_CLAMP_TO_EDGE, (float2)((g & 511) + i * 0.3f, g >> 9))"},
    {"read_imagef, linear, repeated",
     "read_imagef(from, CLK_FILTER_LINEAR | CLK_ADDRESS_REPEAT | CLK_NORMALIZED_COORDS_TRUE, (float2)(g * 0.003f, i * "
     "0.1f))"},
    {"write_imagef", "(write_imagef(to, (int2)((g + i) & 511, (g >> 9) & 511), a), (float4)1)"},
};

static const char *const formats[SWEEP_FORMATS] = {
    [SWEEP_RGBA_FLOAT] = "",        [SWEEP_R_FLOAT] = ", R float",      [SWEEP_RGBA_UNORM8] = ", RGBA bytes",
    [SWEEP_R_UNORM8] = ", R bytes", [SWEEP_RG_UNORM16] = ", RG shorts",
};

static struct sweep_row *add_image(struct sweep_rows *rows, const char *name, enum sweep_format format, char *source)
{
    struct sweep_row *row = sweep_add(rows, sweep_text("%s%s", name, formats[format]), source);

    row->given = SWEEP_IMAGES;
    row->format = format;
    row->check = SWEEP_FLOATS;
    row->written = 16;
    return row;
}

/* Few work-items, each of which reads two rows: nothing but reads that overlap hides how long a read takes. */
static void add_image_row(struct sweep_rows *rows, enum sweep_format format)
{
    add_image(rows, "read_imagef, rows by few", format,
              sweep_text("kernel void %%s(global const uchar *in, global uchar *out, read_only image2d_t from, "
                         "write_only image2d_t to) {\n  int g = get_global_id(0); float4 a = 0;\n"
                         "  const sampler_t s = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;\n"
                         "  for (int i = 0; i < get_image_width(from); i++) {\n"
                         "    float4 d = read_imagef(from, s, (int2)(i, g & 511)) - read_imagef(from, s, (int2)(i + 3, "
                         "(g & 511) + 2));\n    a += d * d; }\n  ((global float4 *)out)[g] = a; }\n"))
        ->groups = 16;
}

static void add_images(struct sweep_rows *rows)
{
    for (enum sweep_format format = 0; format < SWEEP_FORMATS; format++) {
        for (unsigned i = 0; i < N_OF(images); i++)
            add_image(rows, images[i].name, format,
                      sweep_text("kernel void %%s(global const uchar *in, global uchar *out, read_only image2d_t from, "
                                 "write_only image2d_t to) {\n  uint g = get_global_id(0); float4 a = 0;\n"
                                 "  for (uint i = 0; i < 16; i++) a += %s;\n  ((global float4 *)out)[g] = a; }\n",
                                 images[i].value));
        add_image_row(rows, format);
    }
}

static void fill(struct sweep_rows *rows, bool wide)
{
    add_mathematics(rows, wide);
    add_integers(rows, wide);
    add_conversions(rows, 1);
    if (wide)
        add_conversions(rows, 4);
    add_atomics(rows);
    add_group_functions(rows);
    add_images(rows);
}

int main(int argc, char **argv)
{
    static const struct sweep_table table = {
        .name = "builtins",
        .what = "Times each built-in function of OpenCL C on the first platform beside the others: names of platforms "
                "as the loader shows them, or the beginnings of names, or numbers.",
        .prelude = "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n",
        .fill = fill,
    };
    return sweep_main(argc, argv, &table);
}
