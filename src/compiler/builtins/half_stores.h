/*
 * Stores of halves, all widths, by functions bits_FROM_MODE that make one half's bits. Vectors that are aligned are
 * stored in one piece.
 */
#define EACH_SPACE(DO, ...) DO(private, __VA_ARGS__) DO(local, __VA_ARGS__) DO(global, __VA_ARGS__)

#define STORE(SPACE, FROM, MODE)                                         \
    void OVERLOADABLE vstore_half##MODE(FROM x, size_t i, SPACE half *p) \
    {                                                                    \
        ((SPACE ushort *)p)[i] = bits_##FROM##MODE(x);                   \
    }
/* One by one. STEP: vectors of three are four apart where they are aligned. */
#define PUT_2(F)    \
    q[0] = F(x.s0); \
    q[1] = F(x.s1);
#define PUT_3(F) PUT_2(F) q[2] = F(x.s2);
#define PUT_4(F) PUT_3(F) q[3] = F(x.s3);
#define PUT_8(F)             \
    PUT_4(F) q[4] = F(x.s4); \
    q[5] = F(x.s5);          \
    q[6] = F(x.s6);          \
    q[7] = F(x.s7);
#define PUT_16(F)            \
    PUT_8(F) q[8] = F(x.s8); \
    q[9] = F(x.s9);          \
    q[10] = F(x.sa);         \
    q[11] = F(x.sb);         \
    q[12] = F(x.sc);         \
    q[13] = F(x.sd);         \
    q[14] = F(x.se);         \
    q[15] = F(x.sf);
#define STORE_EACH(SPACE, FROM, MODE, NAME, N, STEP)                           \
    void OVERLOADABLE NAME##_half##N##MODE(FROM##N x, size_t i, SPACE half *p) \
    {                                                                          \
        SPACE ushort *q = (SPACE ushort *)p + i * STEP;                        \
                                                                               \
        PUT_##N(bits_##FROM##MODE)                                             \
    }
#define STORE_WHOLE(SPACE, FROM, MODE, N)                                           \
    void OVERLOADABLE vstorea_half##N##MODE(FROM##N x, size_t i, SPACE half *p)     \
    {                                                                               \
        ((SPACE ushort##N *)p)[i] = (ushort##N)(EACH_OF_##N(bits_##FROM##MODE, x)); \
    }
#define STORES(SPACE, FROM, MODE)                 \
    STORE(SPACE, FROM, MODE)                      \
    STORE_EACH(SPACE, FROM, MODE, vstore, 2, 2)   \
    STORE_EACH(SPACE, FROM, MODE, vstore, 3, 3)   \
    STORE_EACH(SPACE, FROM, MODE, vstore, 4, 4)   \
    STORE_EACH(SPACE, FROM, MODE, vstore, 8, 8)   \
    STORE_EACH(SPACE, FROM, MODE, vstore, 16, 16) \
    STORE_EACH(SPACE, FROM, MODE, vstorea, 3, 4)  \
    STORE_WHOLE(SPACE, FROM, MODE, 2)             \
    STORE_WHOLE(SPACE, FROM, MODE, 4)             \
    STORE_WHOLE(SPACE, FROM, MODE, 8)             \
    STORE_WHOLE(SPACE, FROM, MODE, 16)
