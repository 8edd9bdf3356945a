/* What is of OpenCL C 2: pointers that don't say where they lead, and its atomics. As programs.cl. */

uint both(uint *p, const uint *q)
{
    *p += *q + (to_local(p) ? 3 : to_global(p) ? 5 : 7);
    return *p;
}

kernel void generic_pointers(global uint *out, global const uint *in, local uint *scratch)
{
    uint i = (uint)get_global_id(0), l = (uint)get_local_id(0), own[3] = {i, l, 9};
    float whole, *place = &whole, x = convert_float(in[i]) * 0.5f;
    uint *where = own + 1;

    if (in[i] % 3 == 0)
        where = out + i;
    else if (in[i] % 3 == 1)
        where = scratch + l;
    if (l & 1)
        place = (float *)(scratch + l);

    out[i] = 1;
    scratch[l] = 2;
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    vstore2(vload2(0, own) + (uint2)(both(where, in + i), 1), 0, own);
    out[i] += own[0] + own[1] + *where + as_uint(fract(x, place)) + as_uint(*place);
}

kernel void atomics_2(global uint *out, global const uint *in, local uint *scratch)
{
    uint i = (uint)get_global_id(0), a = in[i], expected = 0;
    volatile global atomic_uint *g = (volatile global atomic_uint *)out;
    volatile local atomic_uint *l = (volatile local atomic_uint *)scratch;

    if (get_local_id(0) == 0)
        atomic_store_explicit(l, 4, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(l, a, memory_order_acq_rel, memory_scope_work_group);
    atomic_fetch_max_explicit(g + 1, a, memory_order_relaxed, memory_scope_device);
    atomic_fetch_or_explicit(g + 2, a, memory_order_seq_cst, memory_scope_device);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_fetch_add_explicit(g, atomic_load_explicit(l, memory_order_acquire, memory_scope_work_group),
                                  memory_order_relaxed, memory_scope_device);
    atomic_compare_exchange_strong_explicit(g + 3, &expected, 6, memory_order_acq_rel, memory_order_acquire,
                                            memory_scope_device);
    atomic_exchange_explicit(g + 4, 8, memory_order_release, memory_scope_device);
    atomic_fetch_sub(g + 5, 1);
}

void bump(atomic_uint *p, uint at)
{
    atomic_fetch_add_explicit(p + at, 1, memory_order_relaxed, memory_scope_work_group);
}

/* By pointers of all kinds; to the built-in CPU they are plain accesses (house/local_atomics). */
kernel void local_atomics(global uint *out, global const uint *in, local uint *scratch)
{
    local atomic_uint one, few[8];
    uint l = (uint)get_local_id(0), a = in[get_global_id(0)];
    atomic_uint *walking = (atomic_uint *)scratch;

    if (l == 0)
        atomic_init(&one, 7);
    if (l < 8)
        atomic_init(few + l, l);
    scratch[l] = 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&one, a, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_xor_explicit(few + a % 8, a, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max_explicit(few, a, memory_order_relaxed, memory_scope_work_group);
    bump(few, 1);
    bump(walking, a % (uint)get_local_size(0));
    atomic_fetch_add_explicit(walking, 2, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load_explicit(&one, memory_order_relaxed, memory_scope_work_group) +
                            atomic_load_explicit(few + l % 8, memory_order_relaxed, memory_scope_work_group) + scratch[l];
}
