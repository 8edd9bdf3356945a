/*
 * Work-items on NVIDIA GPUs: a window of a launch is a grid, and the last parameter of every kernel gives its place in
 * the launch (struct tsl_ptx_launch of compile_client/ptx.h). Linked last, in place of the work-group pass.
 */
#define OVERLOADABLE __attribute__((overloadable))

struct launch {
    ulong first_id[3];
    ulong group_begin[3];
    ulong num_groups[3];
    ulong global_size[3];
    ulong global_offset[3];
    uint local_size[3];
    uint work_dim;
};

/* The parameter. */
const struct launch *__tsl_ptx_launch(void);

/* The value for a dimension; `past` for dimensions over 2. */
#define CHOOSE(D, X, Y, Z, PAST) ((D) == 0 ? (X) : (D) == 1 ? (Y) : (D) == 2 ? (Z) : (PAST))
#define FIELD(D, NAME, PAST)                                                                                         \
    CHOOSE(D, __tsl_ptx_launch()->NAME[0], __tsl_ptx_launch()->NAME[1], __tsl_ptx_launch()->NAME[2], PAST)

uint OVERLOADABLE get_work_dim(void)
{
    return __tsl_ptx_launch()->work_dim;
}

size_t OVERLOADABLE get_local_id(uint d)
{
    return CHOOSE(d, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z(), 0);
}

size_t OVERLOADABLE get_local_size(uint d)
{
    return CHOOSE(d, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(), __nvvm_read_ptx_sreg_ntid_z(), 1);
}

static size_t block(uint d)
{
    return CHOOSE(d, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(), __nvvm_read_ptx_sreg_ctaid_z(), 0);
}

size_t OVERLOADABLE get_global_id(uint d)
{
    return FIELD(d, first_id, 0) + (d < 3 ? block(d) * get_local_size(d) + get_local_id(d) : 0);
}

size_t OVERLOADABLE get_group_id(uint d)
{
    return FIELD(d, group_begin, 0) + block(d);
}

size_t OVERLOADABLE get_num_groups(uint d)
{
    return FIELD(d, num_groups, 1);
}

size_t OVERLOADABLE get_global_size(uint d)
{
    return FIELD(d, global_size, 1);
}

size_t OVERLOADABLE get_global_offset(uint d)
{
    return FIELD(d, global_offset, 0);
}

size_t OVERLOADABLE get_enqueued_local_size(uint d)
{
    return FIELD(d, local_size, 1);
}

void OVERLOADABLE barrier(cl_mem_fence_flags flags)
{
    __syncthreads();
}
