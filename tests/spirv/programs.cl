/* Programs for spirv_test.c, which builds them of this text and of the SPIR-V that was made of it: both do the same. */

/* ---- Work-groups ---- */

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
groups(global uint *out, global const uint *in, local uint *scratch)
{
    uint i = (uint)get_global_id(0), l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    event_t copied = async_work_group_copy(scratch, in + get_group_id(0) * n, n, 0);

    wait_group_events(1, &copied);
    for (uint half_n = n / 2; half_n > 0; half_n /= 2) {
        if (l < half_n)
            scratch[l] += scratch[l + half_n] * 3;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = scratch[0] + l + (uint)get_num_groups(0) * 7 + (uint)get_global_size(0) + get_work_dim() +
             (uint)get_global_offset(0);
}

/* ---- Atomics: of each, what is left ---- */

kernel void atomics(global uint *out, global const uint *in, local uint *scratch)
{
    uint i = (uint)get_global_id(0), l = (uint)get_local_id(0), a = in[i];
    global uint *g = out + 8;

    if (l < 8)
        scratch[l] = l == 2 ? ~0u : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&scratch[0], a);
    atomic_sub(&scratch[1], a);
    atomic_min(&scratch[2], a);
    atomic_max((local int *)&scratch[3], (int)a);
    atomic_or(&scratch[4], a);
    atomic_xor(&scratch[5], a);
    atomic_inc(&scratch[6]);
    atomic_dec(&scratch[7]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        atomic_add(g + l, scratch[l]);
    atomic_cmpxchg(g + 8, 0, 5);
    atomic_xchg(g + 9, 17);
    atomic_and(g + 10, a & 0);
    atom_add((global ulong *)(g + 12), (ulong)a << 20);
}

/* ---- Types and flow ---- */

typedef struct {
    uint4 v;
    ushort s[3];
    struct {
        uchar c;
        ulong l;
    } in;
} parts;

constant uint table[5] = {3, 1, 4, 1, 5};
constant parts fixed = {{1, 2, 3, 4}, {5, 6, 7}, {8, 9}};

__attribute__((noinline)) uint deep(uint x, uint n, private uint *sum)
{
    for (uint i = 0; i < n; i++) {
        *sum += table[(x + i) % 5];
        if (*sum % 11 == 3)
            break;
    }
    return *sum ^ x;
}

kernel void flow(global uint *out, global const uint *in, local uint *scratch)
{
    uint i = (uint)get_global_id(0), few[7], sum = 0;
    parts p = fixed;

    for (uint k = 0; k < 7; k++)
        few[k] = in[(i + k) % get_global_size(0)];
    switch (few[0] % 4) {
    case 0:
        p.v.y = few[1];
        break;
    case 1:
        p.s[few[2] % 3] = (ushort)few[3];
    case 2:
        p.in.l += few[4];
        break;
    default:
        p.in.c = (uchar)few[5];
    }
    while (few[few[0] % 7] > 100)
        few[few[0] % 7] /= 3;
    out[i] = deep(few[1], few[2] % 20, &sum) + p.v.y + p.s[0] + p.s[1] + p.s[2] + p.in.c + (uint)p.in.l + few[6];
}
