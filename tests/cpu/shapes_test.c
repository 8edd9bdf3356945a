/*
 * Kernels of shapes that are run in parts, or in another order: atomic operations and ragged loops amid other work,
 * strips along dimension 1, vectors of the program's own. On the built-in CPU alone, compared with plain C.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: zen TESELA_PROCESSOR=znver3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>

#define W     60u
#define H     52u
#define N     (W * H)
#define SUMS  64u
#define WORDS (16 * N) /* of the buffers a and o */

/*
 * a: numbers; o: results, one for each work-item or vector; r: sums of all work-items, zero at first but for four of
 * ones. i is a work-item's number, x + y * w.
 */
static const char source[] =
    "#define IDS uint x = get_global_id(0), y = get_global_id(1), i = y * w + x;\n"
    "#define KERNEL(name) kernel void name(global const uint *a, global uint *o, global uint *r, uint w, uint h)\n"
    "uint mix(uint v) { v ^= v >> 13; v *= 0x5bd1e995u; v ^= v << 7; return v + (v >> 15); }\n"

    /* atomic operations */
    "KERNEL(rare) { IDS uint v = a[i]; for (uint k = 0; k < 20; k++) { v = mix(v + k);\n"
    "    if (v % 61 == 7) atomic_inc(r + k % 3); } o[i] = v; }\n"
    "KERNEL(each) { IDS uint v = a[i]; for (uint k = 0; k < 9; k++) { v = mix(v); atomic_add(r + (v & 63), v >> 8);\n"
    "    v ^= k; } o[i] = v; }\n"
    "KERNEL(left_by_one) { IDS uint v = a[i], k = 0; for (; k < 30; k++) { v = mix(v + k);\n"
    "    if (v % 17 == 3) { atomic_xor(r + 1, v); break; } } o[i] = v + k; }\n"
    "KERNEL(places) { IDS uint v = mix(a[i]); if (v & 4) { uint p = atomic_inc(r); o[p] = 1; v += 3;\n"
    "    atomic_add(r + 1, v); } }\n"
    "KERNEL(exchanges) { IDS uint v = mix(a[i]); if (v % 3) for (;;) { uint old = r[0];\n"
    "    if (atomic_cmpxchg(r, old, old + v) == old) break; } o[i] = v; }\n"
    "KERNEL(after_returns) { IDS if (a[i] % 5 == 2) return; uint v = mix(a[i]);\n"
    "    if (v & 1) atomic_max(r + (v & 7), v); else if (v & 2) atomic_min(r + 8, ~v); o[i] = mix(v); }\n"
    "KERNEL(in_turns) { IDS uint v = a[i]; for (uint k = 0; k < v % 6; k++) { for (uint m = 0; m < (v >> 4) % 5; m++) "
    "{\n"
    "    v = mix(v); if (v & 8) atomic_add(r + m, 1u); } v += k; if (v % 11 == 1) return; } o[i] = v; }\n"
    "KERNEL(local_sums) { IDS local uint t[4]; uint l = get_local_id(0) + get_local_id(1) * get_local_size(0);\n"
    "    for (uint k = l; k < 4; k += get_local_size(0) * get_local_size(1)) t[k] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); uint v = mix(a[i]); if (v % 3 == 1) atomic_add(t + (v & 3), v >> 4);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); if (l == 0) for (int k = 0; k < 4; k++) atomic_add(r + k, t[k]); o[i] = v; }\n"

    /* ... whose results nobody wants, at addresses that work-items share */
    "KERNEL(shared_places) { IDS uint v = mix(a[i]); atomic_add(r, v); atomic_sub(r + 1, v >> 3); atomic_xor(r + 2, "
    "v);\n"
    "    atomic_or(r + 3, v & 0x11011u & x); atomic_max(r + 4, v); atomic_max((global int *)r + 5, (int)v);\n"
    "    atomic_min((global int *)r + 6, (int)v); atomic_inc(r + 7); atomic_min(r + 8, v); atomic_and(r + 9, v | "
    "~0x1010u);\n"
    "    atomic_dec(r + 10); atomic_max(r + 12 + get_group_id(0) % 1, v); o[i] = v; }\n"
    "KERNEL(shared_places_in_loops) { IDS uint v = a[i]; for (uint k = 0; k < 5 + v % 9; k++) { v = mix(v + k);\n"
    "    if (v % 61 == 7) atomic_add(r + 12 + k, v); else if (v % 3) { atomic_max(r + 32 + k, v); v += 5; }\n"
    "    atomic_min(r + 8 + k % 4, v); } o[i] = v; }\n"
    "KERNEL(shared_places_in_turns) { IDS uint v = mix(a[i]), q; if (v & 1) { atomic_inc(r + 1); q = a[3] & 15;\n"
    "    atomic_add(r + 16 + q, v); } if (i == 77) { atomic_add(r + 5, 7); atomic_or(r + 5, 16); o[i] = r[5]; }\n"
    "    if (v & 6) return; atomic_add(r + 6, 1); atomic_add(r + 40 + y % 24, v); }\n"
    "KERNEL(marks) { IDS uint v = a[i]; for (uint k = 0; k < 9; k++) { v = mix(v); atomic_or(r + 16 + (v & 15), 1u << "
    "(v >> 27));\n"
    "    atomic_max(r + 32 + (v >> 4 & 31), v); atomic_and(r + 8 + (v >> 9 & 3), ~(v & 1)); } o[i] = v; }\n"
    "KERNEL(shared_local) { IDS local uint t[3]; uint l = get_local_id(0) + get_local_id(1) * get_local_size(0);\n"
    "    if (l == 0) t[0] = t[1] = t[2] = 0; barrier(CLK_LOCAL_MEM_FENCE); uint v = mix(a[i]); atomic_add(t, v >> 5);\n"
    "    if (v & 1) atomic_max(t + 1, v); atomic_xor(t + 2, v & 0xff); barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l == 0) { atomic_add(r, t[0]); atomic_max(r + 1, t[1]); atomic_xor(r + 2, t[2]); } o[i] = v; }\n"
    "KERNEL(long_sums) { IDS ulong v = mix(a[i]) * 0x100000001ul; atom_add((volatile global ulong *)r, v);\n"
    "    atom_max((volatile global ulong *)r + 1, v); atom_min((volatile global long *)r + 2, (long)v); }\n"

    /* calls of built-in functions that are too large to be everywhere */
    "kernel void samples(global const uint *a, global uint *o, global uint *r, uint w, uint h,\n"
    "    read_only image2d_t image) { IDS const sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE; uint v = a[i];\n"
    "    for (uint k = 0; k < 3 + (v & 1); k++) { for (uint m = 0; m < 8; m++) v = mix(v + m);\n"
    "    if (v & 2) v += read_imageui(image, s, (float2)(v % 60 + 0.5f, k + 0.5f)).x; } o[i] = v; }\n"
    "KERNEL(calls) { IDS uint v = a[i]; for (uint k = 0; k < 3 + (v & 1); k++) { for (uint m = 0; m < 8; m++)\n"
    "    v = mix(v + m); if (v & 1) v += (uint)(tgamma((float)(v % 5 + 1)) + 0.5f); int sign = 7;\n"
    "    lgamma_r((float)(v % 7 + 1), &sign); v += sign; } o[i] = v; }\n"

    /* ragged loops */
    "KERNEL(sparse) { IDS uint v = a[i], s = 0, n = v % 40; for (uint k = 0; k < n; k++) s += a[(v + k * 7919) % "
    "2048];\n"
    "    for (uint k = 0; k < 12; k++) s = mix(s + k); o[i] = s; }\n"
    "KERNEL(sparse_in_turns) { IDS uint s = 0; for (uint m = 0; m < 5; m++) { uint p = a[(i + m) % 3000] % 2048, n = "
    "0;\n"
    "    while (a[p] % 7 && n < 50) { p = a[p] % 2048; n += p & 3; if (n == 13) break; } s = mix(s + p); } o[i] = s; "
    "}\n"
    "KERNEL(zeros) { IDS uint v = mix(a[i]); uchar b = (uchar)(v >> 8 & 255 >> v % 9); ushort s = (ushort)(v >> 5 &\n"
    "    65535 >> v % 17); o[i] = clz(b) + clz(s) * 9u + v; }\n"
    "KERNEL(copied) { IDS local uint t[64]; uint l = get_local_id(0) + get_local_id(1) * get_local_size(0);\n"
    "    for (uint k = l; k < 64; k += get_local_size(0) * get_local_size(1)) t[k] = a[k];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); uint s = a[i]; for (uint k = 0; k < 64; k++) s = mix(s + t[k]); o[i] = s; }\n"

    "KERNEL(rarely_in_a_loop) { IDS uint v = a[i], s = 0; if (v % 37 == 5) for (uint k = 0; k < 40 + (v >> 28); k++) "
    "{\n"
    "    s = mix(s + v + k); if (s % 97 == 3) break; if (s % 5 == 1) continue; v += k; } else v ^= 77; o[i] = v + s; "
    "}\n"
    "KERNEL(rarely_in_turns) { IDS uint v = a[i]; for (uint m = 0; m < v % 5 + 1; m++) { v = mix(v + m);\n"
    "    if (v % 19 == 3) { ulong t = v; uchar c = (uchar)v; uint p[4] = {1, 2, 3, 4}; bool odd = v & 1;\n"
    "    for (uint k = 0; k < 9 + m; k++) { p[k & 3] += mix(v + k);\n"
    "    for (uint n = 0; n < (p[k + 1 & 3] & 3); n++) { t = t * 3 + n; if (t % 151 == 7) { o[i] = (uint)t + k; "
    "return; } "
    "}\n"
    "    c += k; odd ^= c & 1; if ((c & 7) == 1) atomic_add(r + (c >> 3 & 3), odd ? 2 : 5); }\n"
    "    v += p[2] + (uint)(t >> 7) + c; } else if (v % 19 == 4) { uint k = 0; while (k < 99 && mix(k + v) % 31) k++;\n"
    "    v += k; } } o[i] = v; }\n"

    "KERNEL(shared_quotients) { IDS uint v = a[i]; if (v % 5 == 1) { if (v & 8) v = a[h % (w % 61 + 1) + 5]; }\n"
    "    else if (v % 7 == 2) v += a[(9000000000ul + w) % (h + 7ul)]; o[i] = v; }\n"

    /* rows of their own */
    "KERNEL(rows) { IDS uint s = 0; for (uint k = 0; k < h; k++) s = (s + a[x * h + k]) * 5u ^ a[y * h + k]; o[i] = s; "
    "}\n"
    "KERNEL(rows_at_times) { IDS uint s = a[i]; if (s & 6) for (uint k = 0; k + 1 < h; k += 1 + (s & 1))\n"
    "    s = s * 3u + a[x * h + k + 1] + a[(x + y) * h + 51 - k]; o[i] = s; }\n"
    "KERNEL(rows_in_rows) { IDS uint b = a[i] & 1, s = 0; for (uint k = 0; k < h % 6 + 1; k++) { uint c = r[b + k];\n"
    "    for (uint m = 0; m < h; m++) s += a[c + m] * (m + 1); } o[i] = s + b; }\n"
    "KERNEL(apart) { IDS uint n = w - 59; o[i * n] += a[i * n] * 3u; o[16 * w * h - 1 - i * n] = a[(x * n + y) * n]; "
    "}\n"

    /* structures that lie anywhere; no item may touch those of items that don't read them */
    "struct nine { ulong p, q, r, s, t, u, v, w; uint last; };\n"
    "struct five { ulong p, q, r, s; uint last; };\n"
    "#define OF_FIVE(m) (m.p * 3 + (m.q ^ m.r * 5) + (m.s >> 7))\n"
    "#define OF_NINE(m) (OF_FIVE(m) + (m.t ^ m.u * 9) + m.v * 11 + (m.w >> 3) + m.last)\n"
    "KERNEL(structures) { IDS uint n = mix(a[i]) % 6; ulong s = 0; for (uint k = 0; k < n; k++) {\n"
    "    struct nine m = ((global const struct nine *)a)[mix(a[i] + k) % 2500]; s += OF_NINE(m) + k; }\n"
    "    o[i] = (uint)(s ^ s >> 32); }\n"
    "KERNEL(all_structures) { IDS struct five m = ((global const struct five *)a)[mix(a[i]) % 4000];\n"
    "    ulong s = OF_FIVE(m); o[i] = (uint)(s ^ s >> 32) + m.last; }\n"
    "KERNEL(absent_structures) { IDS uint v = mix(a[i]), at = v % 3 ? v % 4000 : v | 0x80000000u; ulong s = 7;\n"
    "    if (v % 3) { struct five m = ((global const struct five *)a)[at]; s = OF_FIVE(m); }\n"
    "    o[i] = (uint)(s ^ s >> 32) + at; }\n"

    /* dimension 1 */
    "KERNEL(columns) { IDS if (x < w && y < h) o[x * h + y] = mix(a[x * h + y]); }\n"
    "KERNEL(transposes) { IDS o[x * h + y] = a[i] + 1; }\n"
    "KERNEL(gathers) { IDS o[i] = a[x * h + y] + 1; }\n"
    "KERNEL(who) { IDS o[x * h + y] = get_local_id(0) + 64 * get_local_id(1) + 4096 * get_group_id(0)\n"
    "    + 65536 * get_group_id(1) + 0x1000000u * get_local_size(1) + get_num_groups(0) + 3 * get_global_size(1); }\n"
    "KERNEL(column_sums) { IDS uint t[4] = {1, 2, 3, 4}, s = 0; for (uint k = 0; k < x % 7 + 2; k++) {\n"
    "    t[k & 3] += a[((x + k) % w) * h + y]; s = mix(s + t[(k * 3) & 3]); } o[x * h + y] = s + a[x * h + y]; }\n"
    "KERNEL(column_counts) { IDS uint v = mix(a[x * h + y]); if (v % 9 == 4) atomic_inc(r + x); o[x * h + y] = v; }\n"

    /* vectors */
    "KERNEL(fours) { IDS global uint4 *p = (global uint4 *)o; p[i] = ((global const uint4 *)a)[i] * 3u + p[i]; }\n"
    "KERNEL(some_fours) { IDS global uint4 *p = (global uint4 *)o; if (a[i] & 1) p[i] += ((global const uint4 *)a)[i]; "
    "}\n"
    "KERNEL(bytes) { IDS global uchar16 *p = (global uchar16 *)o; p[i] += ((global const uchar16 *)a)[i ^ 5]; }\n"
    "KERNEL(threes) { IDS vstore3(vload3(i, a) + (uint3)(1, 2, 3), i, o); }\n"
    "KERNEL(parts) { IDS global uint4 *p = (global uint4 *)o; uint4 v = ((global const uint4 *)a)[i]; p[i].xz = v.wy; "
    "}\n"
    "KERNEL(sixteens) { IDS uint16 v = ((global const uint16 *)a)[i]; for (uint k = 0; k < 6; k++) {\n"
    "    v ^= v >> 13; v *= 0x5bd1e995u; v ^= v << 7; v += v >> 15; } ((global uint16 *)o)[i] = v; }\n"
    "KERNEL(pieces) { IDS uint16 v = ((global const uint16 *)a)[i]; uint8 u = v.lo ^ v.hi * 3u; uint4 t = u.lo + "
    "u.hi;\n"
    "    uint s = t.x + t.y * 5u ^ t.z - t.w; for (uint k = 0; k < 9; k++) s = mix(s + k); o[i] = s; }\n"
    "KERNEL(pieces_at_times) { IDS uint s = a[i]; if (s & 6) { uint8 u = ((global const uint8 *)a)[i];\n"
    "    uint4 t = ((global const uint4 *)a)[i + 3]; if (s & 8) u ^= ((global const uint8 *)a)[(s >> 8) % 3000];\n"
    "    t += u.hi * 7u - u.lo; s = t.x * t.y + (t.z ^ t.w); for (uint k = 0; k < 9; k++) s = mix(s + k); } o[i] = s; "
    "}\n"
    "KERNEL(pieces_put) { IDS uint s = a[i]; for (uint k = 0; k < 19; k++) s = mix(s + k);\n"
    "    uint4 v = (uint4)(s, s ^ 1, s * 3u, ~s); ((global uint4 *)o)[i * 7u % (w * h)] = v;\n"
    "    if (v.y & 2) ((global uint4 *)o)[w * h + i] = v.wzyx; if (v.y & 4) o[8 * w * h + i * 3u] = s; }\n"
    "KERNEL(counted_pieces) { IDS uint16 v = ((global const uint16 *)a)[(i * 2654435761u ^ i >> 3) % (w * h)];\n"
    "    uint8 u = v.lo + v.hi; uint4 t = u.lo + u.hi; uint s = t.x + t.y + t.z + t.w; atomic_add(r + (s & 63), s >> "
    "9);\n"
    "    o[i] = s; }\n"
    "KERNEL(halves) { IDS global const ulong *b = (global const ulong *)a; ulong v = b[i * 7919u % (w * h)];\n"
    "    ulong p = (v + 3) & 63, q = (v * 5 ^ v >> 32) & 0xf0f0f0f0; atomic_xor(r + p, (uint)(v >> 32));\n"
    "    o[i] = (uint)v * 3 + (uint)q; }\n"
    "KERNEL(masked_halves) { IDS ulong v = ((global const ulong *)a)[i * 7919u % (w * h)];\n"
    "    atomic_xor(r + (v & 63), (uint)(v >> 32)); o[i] = 1; }\n"
    "KERNEL(no_halves) { IDS global const ulong *b = (global const ulong *)a + i * 17u % (w * h); ulong s = b[0],\n"
    "    t = b[1], u = b[2]; atomic_add(r + ((s >> 32) + s & 63), (uint)(s >> 31));\n"
    "    atomic_add(r + (t >> 32 & 63), t - (t >> 32) > 0x7fffffffffffffff ? 5 : 2);\n"
    "    atomic_add(r + (u >> 32 & 63), (u + (u >> 32) & 0x10000000ff) > 0xff ? 7 : 3); }\n"
    "KERNEL(scanned) { IDS local uint4 t[512]; uint l = get_local_id(0) + get_local_id(1) * get_local_size(0);\n"
    "    uint n = get_local_size(0) * get_local_size(1); t[l] = ((global const uint4 *)a)[i]; uint4 v = t[l];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); v += t[n - 1 - l].wzyx; barrier(CLK_LOCAL_MEM_FENCE); t[l] = v;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); ((global uint4 *)o)[i] = t[n - 1 - l] + v; }\n";

struct item {
    uint32_t x, y, i;
    const size_t *local;
};

static uint32_t a[WORDS], out[WORDS], right[WORDS], sums[SUMS], right_sums[SUMS];

static uint32_t mix(uint32_t v)
{
    v ^= v >> 13;
    v *= 0x5bd1e995u;
    v ^= v << 7;
    return v + (v >> 15);
}

/* ---- Atomic operations ------------------------------------------------------------------------------------------- */

static void rare(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 20; k++) {
        v = mix(v + k);
        right_sums[k % 3] += v % 61 == 7;
    }
    right[at->i] = v;
}

static void each(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 9; k++) {
        v = mix(v);
        right_sums[v & 63] += v >> 8;
        v ^= k;
    }
    right[at->i] = v;
}

static void left_by_one(const struct item *at)
{
    uint32_t v = a[at->i], k = 0;

    for (; k < 30; k++) {
        v = mix(v + k);
        if (v % 17 == 3) {
            right_sums[1] ^= v;
            break;
        }
    }
    right[at->i] = v + k;
}

static void places(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    if (!(v & 4))
        return;
    right[right_sums[0]++] = 1;
    right_sums[1] += v + 3;
}

static void exchanges(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    right_sums[0] += v % 3 ? v : 0;
    right[at->i] = v;
}

static void after_returns(const struct item *at)
{
    uint32_t v = mix(a[at->i]), *most = &right_sums[v & 7];

    if (a[at->i] % 5 == 2)
        return;
    if (v & 1 && v > *most)
        *most = v;
    if ((v & 3) == 2 && ~v < right_sums[8])
        right_sums[8] = ~v;
    right[at->i] = mix(v);
}

static void in_turns(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < v % 6; k++) {
        for (uint32_t m = 0; m < (v >> 4) % 5; m++) {
            v = mix(v);
            right_sums[m] += (v & 8) != 0;
        }
        v += k;
        if (v % 11 == 1)
            return;
    }
    right[at->i] = v;
}

static void local_sums(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    right_sums[v & 3] += v % 3 == 1 ? v >> 4 : 0;
    right[at->i] = v;
}

static void more(uint32_t *most, uint32_t v)
{
    *most = v > *most ? v : *most;
}

static void less(uint32_t *least, uint32_t v)
{
    *least = v < *least ? v : *least;
}

static void shared_places(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    right_sums[0] += v;
    right_sums[1] -= v >> 3;
    right_sums[2] ^= v;
    right_sums[3] |= v & 0x11011 & at->x;
    more(&right_sums[4], v);
    right_sums[5] = (int32_t)v > (int32_t)right_sums[5] ? v : right_sums[5];
    right_sums[6] = (int32_t)v < (int32_t)right_sums[6] ? v : right_sums[6];
    right_sums[7]++;
    less(&right_sums[8], v);
    right_sums[9] &= v | ~UINT32_C(0x1010);
    right_sums[10]--;
    more(&right_sums[12], v);
    right[at->i] = v;
}

static void shared_places_in_loops(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 5 + v % 9; k++) {
        v = mix(v + k);
        if (v % 61 == 7) {
            right_sums[12 + k] += v;
        } else if (v % 3) {
            more(&right_sums[32 + k], v);
            v += 5;
        }
        less(&right_sums[8 + k % 4], v);
    }
    right[at->i] = v;
}

static void shared_places_in_turns(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    if (v & 1) {
        right_sums[1]++;
        right_sums[16 + (a[3] & 15)] += v;
    }
    if (at->i == 77)
        right[77] = right_sums[5] = 7 | 16;
    if (v & 6)
        return;
    right_sums[6]++;
    right_sums[40 + at->y % 24] += v;
}

static void marks(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 9; k++) {
        v = mix(v);
        right_sums[16 + (v & 15)] |= UINT32_C(1) << (v >> 27);
        more(&right_sums[32 + (v >> 4 & 31)], v);
        right_sums[8 + (v >> 9 & 3)] &= ~(v & 1);
    }
    right[at->i] = v;
}

static void shared_local(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    right_sums[0] += v >> 5;
    if (v & 1)
        more(&right_sums[1], v);
    right_sums[2] ^= v & 0xff;
    right[at->i] = v;
}

static void long_sums(const struct item *at)
{
    uint64_t v = mix(a[at->i]) * UINT64_C(0x100000001), sum, most;
    int64_t least;

    memcpy(&sum, right_sums, sizeof(sum));
    memcpy(&most, right_sums + 2, sizeof(most));
    memcpy(&least, right_sums + 4, sizeof(least));
    sum += v;
    most = v > most ? v : most;
    least = (int64_t)v < least ? (int64_t)v : least;
    memcpy(right_sums, &sum, sizeof(sum));
    memcpy(right_sums + 2, &most, sizeof(most));
    memcpy(right_sums + 4, &least, sizeof(least));
}

static void calls(const struct item *at)
{
    static const uint32_t gamma[] = {1, 1, 2, 6, 24};
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 3 + (v & 1); k++) {
        for (uint32_t m = 0; m < 8; m++)
            v = mix(v + m);
        v += v & 1 ? gamma[v % 5] : 0;
        v += 1; /* the gamma function's sign */
    }
    right[at->i] = v;
}

static void samples(const struct item *at)
{
    uint32_t v = a[at->i];

    for (uint32_t k = 0; k < 3 + (v & 1); k++) {
        for (uint32_t m = 0; m < 8; m++)
            v = mix(v + m);
        v += v & 2 ? a[k * W + v % W] : 0;
    }
    right[at->i] = v;
}

/* ---- Ragged loops ------------------------------------------------------------------------------------------------ */

static void sparse(const struct item *at)
{
    uint32_t v = a[at->i], s = 0;

    for (uint32_t k = 0; k < v % 40; k++)
        s += a[(v + k * 7919) % 2048];
    for (uint32_t k = 0; k < 12; k++)
        s = mix(s + k);
    right[at->i] = s;
}

static void sparse_in_turns(const struct item *at)
{
    uint32_t s = 0;

    for (uint32_t m = 0; m < 5; m++) {
        uint32_t p = a[(at->i + m) % 3000] % 2048, n = 0;

        while (a[p] % 7 && n < 50) {
            p = a[p] % 2048;
            n += p & 3;
            if (n == 13)
                break;
        }
        s = mix(s + p);
    }
    right[at->i] = s;
}

static void rarely_in_a_loop(const struct item *at)
{
    uint32_t v = a[at->i], s = 0;

    for (uint32_t k = 0, end = 40 + (v >> 28), first = v; first % 37 == 5 && k < end; k++) {
        s = mix(s + v + k);
        end = 40 + (v >> 28);
        if (s % 97 == 3)
            break;
        if (s % 5 == 1)
            continue;
        v += k;
        end = 40 + (v >> 28);
    }
    right[at->i] = (a[at->i] % 37 == 5 ? v : v ^ 77) + s;
}

/* The loops of rarely_in_turns in its branch. False: it returns with *v. */
static bool go_round(uint32_t *v, uint32_t m)
{
    uint64_t t = *v;
    uint8_t c = (uint8_t)*v;
    uint32_t p[4] = {1, 2, 3, 4};
    bool odd = *v & 1;

    for (uint32_t k = 0; k < 9 + m; k++) {
        p[k & 3] += mix(*v + k);
        for (uint32_t n = 0; n < (p[(k + 1) & 3] & 3); n++) {
            t = t * 3 + n;
            if (t % 151 == 7) {
                *v = (uint32_t)t + k;
                return false;
            }
        }
        c = (uint8_t)(c + k);
        odd ^= c & 1;
        if ((c & 7) == 1)
            right_sums[c >> 3 & 3] += odd ? 2 : 5;
    }
    *v += p[2] + (uint32_t)(t >> 7) + c;
    return true;
}

static void rarely_in_turns(const struct item *at)
{
    uint32_t v = a[at->i];
    bool goes_on = true;

    for (uint32_t m = 0; goes_on && m < v % 5 + 1; m++) {
        v = mix(v + m);
        if (v % 19 == 3) {
            goes_on = go_round(&v, m);
        } else if (v % 19 == 4) {
            uint32_t k = 0;

            while (k < 99 && mix(k + v) % 31)
                k++;
            v += k;
        }
    }
    right[at->i] = v;
}

static void shared_quotients(const struct item *at)
{
    uint32_t v = a[at->i];

    if (v % 5 == 1)
        v = v & 8 ? a[H % (W % 61 + 1) + 5] : v;
    else if (v % 7 == 2)
        v += a[(UINT64_C(9000000000) + W) % (H + 7)];
    right[at->i] = v;
}

static void copied(const struct item *at)
{
    uint32_t s = a[at->i];

    for (uint32_t k = 0; k < 64; k++)
        s = mix(s + a[k]);
    right[at->i] = s;
}

/* ---- Rows of their own ------------------------------------------------------------------------------------------- */

static void rows(const struct item *at)
{
    uint32_t s = 0;

    for (uint32_t k = 0; k < H; k++)
        s = (s + a[at->x * H + k]) * 5 ^ a[at->y * H + k];
    right[at->i] = s;
}

static void rows_at_times(const struct item *at)
{
    uint32_t s = a[at->i];

    for (uint32_t k = 0; a[at->i] & 6 && k + 1 < H; k += 1 + (s & 1))
        s = s * 3 + a[at->x * H + k + 1] + a[(at->x + at->y) * H + 51 - k];
    right[at->i] = s;
}

/* The rows' table is all zero. */
static void rows_in_rows(const struct item *at)
{
    uint32_t s = 0;

    for (uint32_t m = 0; m < H; m++)
        s += a[m] * (m + 1);
    right[at->i] = s * (H % 6 + 1) + (a[at->i] & 1);
}

static void apart(const struct item *at)
{
    right[at->i] += a[at->i] * 3;
    right[WORDS - 1 - at->i] = a[at->x + at->y];
}

/* ---- Dimension 1 ------------------------------------------------------------------------------------------------- */

static uint32_t *column_of(const struct item *at)
{
    return &right[at->x * H + at->y];
}

struct nine {
    uint64_t p, q, r, s, t, u, v, w;
    uint32_t last;
};

struct five {
    uint64_t p, q, r, s;
    uint32_t last;
};

static uint64_t of_four(const uint64_t *m)
{
    return m[0] * 3 + (m[1] ^ m[2] * 5) + (m[3] >> 7);
}

static uint32_t folded(uint64_t sum)
{
    return (uint32_t)(sum ^ sum >> 32);
}

static void structures(const struct item *at)
{
    uint32_t n = mix(a[at->i]) % 6;
    uint64_t s = 0;

    for (uint32_t k = 0; k < n; k++) {
        struct nine m;

        memcpy(&m, (const char *)a + mix(a[at->i] + k) % 2500 * sizeof(m), sizeof(m));
        s += of_four(&m.p) + (m.t ^ m.u * 9) + m.v * 11 + (m.w >> 3) + m.last + k;
    }
    right[at->i] = folded(s);
}

static struct five five_at(uint32_t number)
{
    struct five m;

    memcpy(&m, (const char *)a + number * sizeof(m), sizeof(m));
    return m;
}

static void all_structures(const struct item *at)
{
    struct five m = five_at(mix(a[at->i]) % 4000);

    right[at->i] = folded(of_four(&m.p)) + m.last;
}

static void absent_structures(const struct item *at)
{
    uint32_t v = mix(a[at->i]), number = v % 3 ? v % 4000 : v | 0x80000000u;
    struct five m = five_at(v % 3 ? number : 0);

    right[at->i] = folded(v % 3 ? of_four(&m.p) : 7) + number;
}

static uint32_t zeros_above(uint32_t x, uint32_t width)
{
    uint32_t n = 0;

    while (n < width && !(x >> (width - 1 - n) & 1))
        n++;
    return n;
}

static void zeros(const struct item *at)
{
    uint32_t v = mix(a[at->i]);

    right[at->i] = zeros_above(v >> 8 & 255 >> v % 9, 8) + zeros_above(v >> 5 & 65535 >> v % 17, 16) * 9 + v;
}

static void columns(const struct item *at)
{
    *column_of(at) = mix(a[at->x * H + at->y]);
}

static void transposes(const struct item *at)
{
    *column_of(at) = a[at->i] + 1;
}

static void gathers(const struct item *at)
{
    right[at->i] = a[at->x * H + at->y] + 1;
}

static void who(const struct item *at)
{
    uint32_t w = (uint32_t)at->local[0], h = (uint32_t)at->local[1];

    *column_of(at) =
        at->x % w + 64 * (at->y % h) + 4096 * (at->x / w) + 65536 * (at->y / h) + 0x1000000u * h + W / w + 3 * H;
}

static void column_sums(const struct item *at)
{
    uint32_t t[4] = {1, 2, 3, 4}, s = 0;

    for (uint32_t k = 0; k < at->x % 7 + 2; k++) {
        t[k & 3] += a[((at->x + k) % W) * H + at->y];
        s = mix(s + t[(k * 3) & 3]);
    }
    *column_of(at) = s + a[at->x * H + at->y];
}

static void column_counts(const struct item *at)
{
    uint32_t v = mix(a[at->x * H + at->y]);

    right_sums[at->x] += v % 9 == 4;
    *column_of(at) = v;
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

static void fours(const struct item *at)
{
    for (uint32_t k = 4 * at->i; k < 4 * at->i + 4; k++)
        right[k] += a[k] * 3;
}

static void some_fours(const struct item *at)
{
    for (uint32_t k = 4 * at->i; k < 4 * at->i + 4 && a[at->i] & 1; k++)
        right[k] += a[k];
}

static void bytes(const struct item *at)
{
    const unsigned char *from = (const unsigned char *)&a[4 * (at->i ^ 5)];
    unsigned char *to = (unsigned char *)&right[4 * at->i];

    for (unsigned k = 0; k < 16; k++)
        to[k] = (unsigned char)(to[k] + from[k]);
}

static void threes(const struct item *at)
{
    for (uint32_t k = 0; k < 3; k++)
        right[3 * at->i + k] = a[3 * at->i + k] + k + 1;
}

static void parts(const struct item *at)
{
    right[4 * at->i] = a[4 * at->i + 3];
    right[4 * at->i + 2] = a[4 * at->i + 1];
}

static void sixteens(const struct item *at)
{
    for (uint32_t k = 16 * at->i; k < 16 * at->i + 16; k++) {
        right[k] = a[k];
        for (unsigned turn = 0; turn < 6; turn++)
            right[k] = mix(right[k]);
    }
}

static const uint32_t *mirrored(const struct item *at)
{
    size_t x = at->x / at->local[0] * at->local[0] + at->local[0] - 1 - at->x % at->local[0];
    size_t y = at->y / at->local[1] * at->local[1] + at->local[1] - 1 - at->y % at->local[1];

    return &a[4 * (y * W + x)];
}

static void pieces(const struct item *at)
{
    uint32_t u[8], t[4], s;
    const uint32_t *v = a + (size_t)at->i * 16;

    for (unsigned k = 0; k < 8; k++)
        u[k] = v[k] ^ v[k + 8] * 3;
    for (unsigned k = 0; k < 4; k++)
        t[k] = u[k] + u[k + 4];
    s = (t[0] + t[1] * 5) ^ (t[2] - t[3]);
    for (uint32_t k = 0; k < 9; k++)
        s = mix(s + k);
    right[at->i] = s;
}

static void pieces_at_times(const struct item *at)
{
    uint32_t u[8], t[4], s = a[at->i];

    for (unsigned k = 0; k < 8; k++)
        u[k] = a[at->i * 8 + k] ^ (s & 8 ? a[(s >> 8) % 3000 * 8 + k] : 0);
    for (unsigned k = 0; k < 4; k++)
        t[k] = a[(at->i + 3) * 4 + k] + u[k + 4] * 7 - u[k];
    if (s & 6) {
        s = t[0] * t[1] + (t[2] ^ t[3]);
        for (uint32_t k = 0; k < 9; k++)
            s = mix(s + k);
    }
    right[at->i] = s;
}

static void pieces_put(const struct item *at)
{
    uint32_t s = a[at->i];

    for (uint32_t k = 0; k < 19; k++)
        s = mix(s + k);
    const uint32_t v[] = {s, s ^ 1, s * 3, ~s};
    for (unsigned k = 0; k < 4; k++) {
        right[at->i * 7 % N * 4 + k] = v[k];
        if (v[1] & 2)
            right[(N + at->i) * 4 + k] = v[3 - k];
    }
    if (v[1] & 4)
        right[8 * N + at->i * 3] = s;
}

static void counted_pieces(const struct item *at)
{
    uint32_t s = 0, from = (at->i * UINT32_C(2654435761) ^ at->i >> 3) % N;

    for (unsigned k = 0; k < 16; k++)
        s += a[from * 16 + k];
    right_sums[s & 63] += s >> 9;
    right[at->i] = s;
}

static uint64_t long_at(uint32_t i)
{
    return a[2 * i] | (uint64_t)a[2 * i + 1] << 32;
}

static void halves(const struct item *at)
{
    uint64_t v = long_at(at->i * 7919 % N), q = (v * 5 ^ v >> 32) & 0xf0f0f0f0;

    right_sums[(v + 3) & 63] ^= (uint32_t)(v >> 32);
    right[at->i] = (uint32_t)v * 3 + (uint32_t)q;
}

/* The mask is what comes right behind the load. */
static void masked_halves(const struct item *at)
{
    uint64_t v = long_at(at->i * 7919 % N);

    right_sums[v & 63] ^= (uint32_t)(v >> 32);
    right[at->i] = 1;
}

static void no_halves(const struct item *at)
{
    uint32_t from = at->i * 17 % N;
    uint64_t s = long_at(from), t = long_at(from + 1), u = long_at(from + 2);

    right_sums[((s >> 32) + s) & 63] += (uint32_t)(s >> 31);
    right_sums[t >> 32 & 63] += t - (t >> 32) > INT64_MAX ? 5 : 2;
    right_sums[u >> 32 & 63] += ((u + (u >> 32)) & 0x10000000ff) > 0xff ? 7 : 3;
}

static void scanned(const struct item *at)
{
    const uint32_t *own = &a[4 * at->i], *other = mirrored(at);

    for (unsigned k = 0; k < 4; k++)
        right[4 * at->i + k] = own[k] + other[3 - k] + other[k] + own[3 - k];
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(const struct item *at);
    bool by_size; /* the result depends on the local size */
} kernels[] = {
    {"rare", rare, false},
    {"each", each, false},
    {"left_by_one", left_by_one, false},
    {"places", places, false},
    {"exchanges", exchanges, false},
    {"after_returns", after_returns, false},
    {"in_turns", in_turns, false},
    {"local_sums", local_sums, false},
    {"shared_places", shared_places, false},
    {"shared_places_in_loops", shared_places_in_loops, false},
    {"shared_places_in_turns", shared_places_in_turns, false},
    {"marks", marks, false},
    {"shared_local", shared_local, false},
    {"long_sums", long_sums, false},
    {"calls", calls, false},
    {"samples", samples, false},
    {"sparse", sparse, false},
    {"sparse_in_turns", sparse_in_turns, false},
    {"rarely_in_a_loop", rarely_in_a_loop, false},
    {"rarely_in_turns", rarely_in_turns, false},
    {"shared_quotients", shared_quotients, false},
    {"copied", copied, false},
    {"rows", rows, false},
    {"rows_at_times", rows_at_times, false},
    {"rows_in_rows", rows_in_rows, false},
    {"apart", apart, false},
    {"structures", structures, false},
    {"all_structures", all_structures, false},
    {"absent_structures", absent_structures, false},
    {"zeros", zeros, false},
    {"columns", columns, false},
    {"transposes", transposes, false},
    {"gathers", gathers, false},
    {"who", who, true},
    {"column_sums", column_sums, false},
    {"column_counts", column_counts, false},
    {"fours", fours, false},
    {"some_fours", some_fours, false},
    {"bytes", bytes, false},
    {"threes", threes, false},
    {"parts", parts, false},
    {"sixteens", sixteens, false},
    {"pieces", pieces, false},
    {"pieces_at_times", pieces_at_times, false},
    {"pieces_put", pieces_put, false},
    {"counted_pieces", counted_pieces, false},
    {"halves", halves, false},
    {"masked_halves", masked_halves, false},
    {"no_halves", no_halves, false},
    {"scanned", scanned, true},
};

static void set_args(cl_kernel kernel, const cl_mem buffers[3])
{
    cl_uint sizes[] = {W, H};

    for (cl_uint k = 0; k < 3; k++)
        assert_int_equal(clSetKernelArg(kernel, k, sizeof(buffers[k]), &buffers[k]), CL_SUCCESS);
    for (cl_uint k = 0; k < 2; k++)
        assert_int_equal(clSetKernelArg(kernel, 3 + k, sizeof(sizes[k]), &sizes[k]), CL_SUCCESS);
}

/* An image of the numbers. */
static cl_mem set_image(struct cpu_rig *rig, cl_kernel kernel)
{
    cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
    cl_int error;
    cl_mem image = clCreateImage(rig->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &about, a, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 5, sizeof(image), &image), CL_SUCCESS);
    return image;
}

/* local: 0 0 leaves the choice to Tesela. */
static void run(struct cpu_rig *rig, cl_program program, const char *name, const size_t local[2])
{
    size_t global[2] = {W, H};
    cl_mem buffers[3], image;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    memset(out, 0xee, sizeof(out));
    memset(sums, 0, sizeof(sums));
    memset(sums + 8, 0xff, 4 * sizeof(*sums));
    buffers[0] = cpu_rig_buffer(rig, sizeof(a), a);
    buffers[1] = cpu_rig_buffer(rig, sizeof(out), out);
    buffers[2] = cpu_rig_buffer(rig, sizeof(sums), sums);
    set_args(kernel, buffers);
    image = strcmp(name, "samples") == 0 ? set_image(rig, kernel) : NULL;
    error = clEnqueueNDRangeKernel(rig->queue, kernel, 2, NULL, global, local[0] ? local : NULL, 0, NULL, NULL);
    assert_int_equal(error, CL_SUCCESS);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    cpu_rig_read(rig, buffers[2], sizeof(sums), sums);
    clReleaseKernel(kernel);
    for (unsigned k = 0; k < 3; k++)
        clReleaseMemObject(buffers[k]);
    if (image)
        clReleaseMemObject(image);
}

static void put_all(void (*put)(const struct item *at), const size_t local[2])
{
    memset(right, 0xee, sizeof(right));
    memset(right_sums, 0, sizeof(right_sums));
    memset(right_sums + 8, 0xff, 4 * sizeof(*right_sums));
    for (uint32_t i = 0; i < N; i++)
        put(&(struct item){i % W, i / W, i, local});
}

static void compare(const char *name, const size_t local[2])
{
    for (unsigned i = 0; i < WORDS; i++)
        if (out[i] != right[i])
            fail_msg("%s, local size %zu x %zu: at %u %08x, not %08x", name, local[0], local[1], i, out[i], right[i]);
    for (unsigned k = 0; k < SUMS; k++)
        if (sums[k] != right_sums[k])
            fail_msg("%s, local size %zu x %zu: sum %u is %08x, not %08x", name, local[0], local[1], k, sums[k],
                     right_sums[k]);
}

static void in_all_shapes(void **state)
{
    static const size_t locals[][2] = {{0, 0}, {1, 1}, {60, 1}, {1, 52}, {4, 26}, {20, 13}, {10, 52}, {30, 4}};
    cl_program program = cpu_rig_program(*state, source, "");

    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        for (size_t l = 0; l < sizeof(locals) / sizeof(locals[0]); l++) {
            if (kernels[k].by_size && (!locals[l][0] || locals[l][0] * locals[l][1] > 512))
                continue;
            put_all(kernels[k].put, locals[l]);
            run(*state, program, kernels[k].name, locals[l]);
            compare(kernels[k].name, locals[l]);
        }
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_all_shapes)};

    for (unsigned i = 0; i < WORDS; i++)
        a[i] = (uint32_t)(cpu_rig_random() >> 32);
    return cmocka_run_group_tests_name("shapes", tests, cpu_rig_setup, cpu_rig_teardown);
}
