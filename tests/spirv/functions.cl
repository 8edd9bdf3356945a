/* As programs.cl: built-in functions, with pointers into all address spaces. */
kernel void built_ins(global uint *out, global const uint *in, local uint *scratch)
{
    size_t i = get_global_id(0);
    uint a = in[i], b = in[i + 1];
    float x = convert_float(a % 1000) * 0.25f, part, whole;
    int exponent, quotient;
    float4 v = convert_float4(vload4(i % 7, in) & 15) + (float4)(x, x + 1, x - 1, 2);
    uint r = as_uint(sin(x)) ^ as_uint(native_sqrt(x)) ^ as_uint(dot(v, v.wzyx)) ^ as_uint(length(v.xyz));
    local float *shared = (local float *)scratch + get_local_id(0);

    part = fract(x, &whole);
    r += as_uint(part) ^ as_uint(whole);
    r ^= as_uint(frexp(x + 1, &exponent)) + (uint)exponent;
    r ^= as_uint(remquo(x, 7.5f, &quotient)) + (uint)quotient;
    r ^= as_uint(modf(x, shared)) ^ as_uint(*shared);
    r += convert_uchar_sat_rte(x) + (uint)convert_short_rtz(-x) + popcount(a) + clz(b) + rotate(a, 5u) + mul_hi(a, b);
    r ^= as_uint(cross(v, v.yzxw).z) ^ as_uint(clamp(x, 1.0f, 9.0f)) ^ as_uint(mix(x, 2.0f, 0.5f));
    r += any(v.xy > v.zw) + isnan(x) + (uint)all(isless(v, v + 1)) + select(a, b, (uint)(x > 3));
    r ^= shuffle((uint4)(a, b, 1, 2), (uint4)(1, 0, 3, 2)).x + upsample((ushort)a, (ushort)b);
    r += (uint)(convert_double(a) / 3.0) ^ as_uint(convert_float_rtn(1.0 / (double)(b | 1)));
    r ^= as_uint(x / (float)(b | 1)) ^ as_uint(sqrt(x)) ^ as_uint(1 / sqrt(x + 1)) ^ as_uint((v / (x + 3)).y);
    out[i] = r;
}
