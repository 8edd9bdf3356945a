/* For tests/compiler/special_test.c: each group turns its part round, and adds a number. */
kernel void turn(global int *x, uint n)
{
    local int t[256];
    uint l = (uint)get_local_id(0), m = (uint)get_local_size(0);

    for (uint i = 0; i < 3; i++) {
        t[l] = x[get_global_id(0)] + (int)n;
        barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = t[m - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
