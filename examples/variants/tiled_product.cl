/* The product of square matrices of a multiple of 64: each work-item makes 4 × 4 elements. For GPUs. */
#define TILE 64
#define DEEP 16

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void product(global const float *a, global const float *b,
                                                                     global float *c, int n)
{
    local float s[DEEP][TILE + 4], t[DEEP][TILE + 4];
    const int i = get_local_id(0), j = get_local_id(1), number = j * 16 + i;
    const int x = get_group_id(0) * TILE, y = get_group_id(1) * TILE;
    float sum[4][4] = {{0}};

    for (int k = 0; k < n; k += DEEP) {
        for (int m = number; m < TILE * DEEP; m += 256) {
            s[m % DEEP][m / DEEP] = a[(y + m / DEEP) * n + k + m % DEEP];
            t[m / TILE][m % TILE] = b[(k + m / TILE) * n + x + m % TILE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int m = 0; m < DEEP; m++) {
            float left[4], right[4];

            for (int e = 0; e < 4; e++) {
                left[e] = s[m][j * 4 + e];
                right[e] = t[m][i + e * 16];
            }
            for (int u = 0; u < 4; u++)
                for (int v = 0; v < 4; v++)
                    sum[u][v] += left[u] * right[v];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 4; v++)
            c[(y + j * 4 + u) * n + x + i + v * 16] = sum[u][v];
}
