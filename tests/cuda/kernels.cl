/*
 * The kernels of the CUDA bridge's tests, as the kernel compiler would hand them over (src/compile_client/ptx.h). kernels.ptx
 * is made of this by hand, so that the tests need no compiler:
 *   clang-19 -cl-std=CL1.2 --target=nvptx64-nvidia-cuda -Xclang -target-feature -Xclang +ptx63 -march=sm_75 -O2 -S \
 *       -o kernels.ptx kernels.cl
 */
struct launch {
    ulong first_id[3], group_begin[3], num_groups[3], global_size[3], global_offset[3];
    uint local_size[3], work_dim;
};

#define TID(d)   ((uint)__nvvm_read_ptx_sreg_tid_##d())
#define NTID(d)  ((uint)__nvvm_read_ptx_sreg_ntid_##d())
#define CTAID(d) ((uint)__nvvm_read_ptx_sreg_ctaid_##d())

#define ID(h, d, i) ((h).first_id[i] + (ulong)CTAID(d) * NTID(d) + TID(d))

kernel void vector_add(global const int *a, global const int *b, global int *out, struct launch h)
{
    ulong i = ID(h, x, 0);

    out[i] = a[i] + b[i];
}

kernel void tell_ids(global ulong *out, struct launch h)
{
    ulong x = ID(h, x, 0), y = ID(h, y, 1), z = ID(h, z, 2);

    out += 8 * (x - h.global_offset[0] +
                h.global_size[0] * (y - h.global_offset[1] + h.global_size[1] * (z - h.global_offset[2])));
    out[0] = x;
    out[1] = y;
    out[2] = z;
    out[3] = h.group_begin[0] + CTAID(x) + 1000 * (h.group_begin[1] + CTAID(y)) +
             1000000 * (h.group_begin[2] + CTAID(z));
    out[4] = TID(x) + 1000 * TID(y) + 1000000 * TID(z);
    out[5] = NTID(x) + 1000 * NTID(y) + 1000000 * NTID(z);
    out[6] = h.num_groups[0] + 1000 * h.num_groups[1] + 1000000 * h.num_groups[2];
    out[7] += h.work_dim;
}

kernel void add_value(global int *data, int value, struct launch h)
{
    data[ID(h, x, 0)] += value;
}

kernel void nothing(struct launch h)
{
}

kernel void wild(ulong address, struct launch h)
{
    *(volatile global int *)address = 1;
}
