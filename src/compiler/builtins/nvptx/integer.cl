/*
 * Functions of integers for which NVIDIA GPUs have instructions, or that take fewer of them in other words: high halves of
 * products, absolute differences, saturation, rotations, and vectors of bytes, four in one register.
 */
#include "common.h"

/* NAME of vectors whose result is of another type. */
#define TO_OTHER(T, U, N)                                        \
    U##N OVERLOADABLE NAME(T##N x, T##N y)                       \
    {                                                            \
        return (U##N)(COMPONENTS_##N(X2));                       \
    }
#define TO_OTHERS(T, U) TO_OTHER(T, U, 2) TO_OTHER(T, U, 3) TO_OTHER(T, U, 4) TO_OTHER(T, U, 8) TO_OTHER(T, U, 16)

/* ---- High halves of products ---------------------------------------------------------------------------------------
 */

/* LLVM's, by names: Clang takes long long for 128 bits here. */
int product_s32(int x, int y) __asm("llvm.nvvm.mulhi.i");
uint product_u32(uint x, uint y) __asm("llvm.nvvm.mulhi.ui");
long product_s64(long x, long y) __asm("llvm.nvvm.mulhi.ll");
ulong product_u64(ulong x, ulong y) __asm("llvm.nvvm.mulhi.ull");

#define PRODUCT(T, HIGH)                             \
    T OVERLOADABLE mul_hi(T x, T y)                  \
    {                                                \
        return HIGH(x, y);                           \
    }                                                \
    T OVERLOADABLE mad_hi(T x, T y, T z)             \
    {                                                \
        return HIGH(x, y) + z;                       \
    }
#define MUL_HI(I) mul_hi(x.s##I, y.s##I)
#define MAD_HI(I) mad_hi(x.s##I, y.s##I, z.s##I)
#define PRODUCT_SIZE(T, N)                           \
    T OVERLOADABLE mul_hi(T x, T y)                  \
    {                                                \
        return (T)(COMPONENTS_##N(MUL_HI));          \
    }                                                \
    T OVERLOADABLE mad_hi(T x, T y, T z)             \
    {                                                \
        return (T)(COMPONENTS_##N(MAD_HI));          \
    }
PRODUCT(int, product_s32)
PRODUCT(uint, product_u32)
PRODUCT(long, product_s64)
PRODUCT(ulong, product_u64)
EACH_SIZE(PRODUCT_SIZE, int)
EACH_SIZE(PRODUCT_SIZE, uint)
EACH_SIZE(PRODUCT_SIZE, long)
EACH_SIZE(PRODUCT_SIZE, ulong)

/* ---- Absolute differences ------------------------------------------------------------------------------------------
 */

#define NAME abs_diff
uint OVERLOADABLE abs_diff(int x, int y)
{
    return (uint)__nvvm_sad_i(x, y, 0);
}

uint OVERLOADABLE abs_diff(uint x, uint y)
{
    return (uint)__nvvm_sad_ui((int)x, (int)y, 0);
}

#define NARROW_ABS_DIFF(T, U, WIDE)                  \
    U OVERLOADABLE abs_diff(T x, T y)                \
    {                                                \
        return (U)abs_diff((WIDE)x, (WIDE)y);        \
    }
NARROW_ABS_DIFF(char, uchar, int)
NARROW_ABS_DIFF(uchar, uchar, uint)
NARROW_ABS_DIFF(short, ushort, int)
NARROW_ABS_DIFF(ushort, ushort, uint)
TO_OTHER(char, uchar, 2)
TO_OTHER(char, uchar, 3)
TO_OTHER(uchar, uchar, 2)
TO_OTHER(uchar, uchar, 3)
TO_OTHERS(short, ushort)
TO_OTHERS(ushort, ushort)
TO_OTHERS(int, uint)
TO_OTHERS(uint, uint)
#undef NAME

/* ---- Rotations -----------------------------------------------------------------------------------------------------
 */

uint two_u32(uint high, uint low, uint n) __asm("llvm.fshl.i32");
ulong two_u64(ulong high, ulong low, ulong n) __asm("llvm.fshl.i64");

/* Of what is narrower than a register: two copies side by side. */
static inline uint two_u8(uint x, uint n)
{
    return x * 0x101 << (n & 7) >> 8;
}

static inline uint two_u16(uint x, uint n)
{
    return x * 0x10001 << (n & 15) >> 16;
}

#define NAME rotate
#define ROTATE(T, U, ROTATED)                        \
    T OVERLOADABLE rotate(T x, T n)                  \
    {                                                \
        return (T)ROTATED((U)x, (U)n);               \
    }                                                \
    EACH_SIZE(SIZE_2, T)
#define SAME_u32(X, N) two_u32(X, X, N)
#define SAME_u64(X, N) two_u64(X, X, N)
ROTATE(char, uchar, two_u8)
ROTATE(uchar, uchar, two_u8)
ROTATE(short, ushort, two_u16)
ROTATE(ushort, ushort, two_u16)
ROTATE(int, uint, SAME_u32)
ROTATE(uint, uint, SAME_u32)
ROTATE(long, ulong, SAME_u64)
ROTATE(ulong, ulong, SAME_u64)
#undef NAME

/* ---- Saturation ----------------------------------------------------------------------------------------------------
 */

/* The end of the range on that side. */
static inline int end(int sign)
{
    return (sign >> 31) ^ INT_MAX;
}

int OVERLOADABLE sub_sat(int x, int y)
{
    int difference;

    __asm("sub.sat.s32 %0, %1, %2;" : "=r"(difference) : "r"(x), "r"(y));
    return difference;
}

ulong OVERLOADABLE mad_sat(ulong x, ulong y, ulong z)
{
    ulong product = x * y, sum = product + z;

    return mul_hi(x, y) || sum < z ? ULONG_MAX : sum;
}

#define NAME sub_sat
EACH_SIZE(SIZE_2, int)
#undef NAME

/* Never too large for 64 bits. */
int OVERLOADABLE mad_sat(int x, int y, int z)
{
    long sum = (long)x * y + z;

    return (int)sum == sum ? (int)sum : end((int)(sum >> 32));
}

#define MAD_SAT(I)         mad_sat(x.s##I, y.s##I, z.s##I)
#define MAD_SAT_SIZE(T, N)                       \
    T OVERLOADABLE mad_sat(T x, T y, T z)        \
    {                                            \
        return (T)(COMPONENTS_##N(MAD_SAT));     \
    }
EACH_SIZE(MAD_SAT_SIZE, int)
EACH_SIZE(MAD_SAT_SIZE, ulong)

/* ---- Four bytes in a register --------------------------------------------------------------------------------------
 */

#define SIGNS 0x80808080u

static inline uint abs_diff_4(uint x, uint y)
{
    uint d;

    __asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(0));
    return d;
}

/* Bytes with the sign as if it had the highest weight, and back. */
static inline uint abs_diff_4_signed(uint x, uint y)
{
    return abs_diff_4(x ^ SIGNS, y ^ SIGNS);
}

static inline uint hadd_4(uint x, uint y)
{
    return (x & y) + (((x ^ y) >> 1) & ~SIGNS);
}

static inline uint rhadd_4(uint x, uint y)
{
    return (x | y) - (((x ^ y) >> 1) & ~SIGNS);
}

static inline uint hadd_4_signed(uint x, uint y)
{
    return hadd_4(x ^ SIGNS, y ^ SIGNS) ^ SIGNS;
}

static inline uint rhadd_4_signed(uint x, uint y)
{
    return rhadd_4(x ^ SIGNS, y ^ SIGNS) ^ SIGNS;
}

/* Bytes full of the highest bit of each. */
static inline uint spread(uint x)
{
    return (uint)__nvvm_prmt((int)x, 0, 0xba98);
}

static inline uint add_sat_4(uint x, uint y)
{
    uint sum = ((x & ~SIGNS) + (y & ~SIGNS)) ^ ((x ^ y) & SIGNS);

    return sum | spread((x & y) | ((x | y) & ~sum));
}

static inline uint sub_sat_4(uint x, uint y)
{
    return ~add_sat_4(~x, y);
}

#define BYTES(NAME, T, U, F)                                                                                         \
    U##4 OVERLOADABLE NAME(T##4 x, T##4 y)                                                                           \
    {                                                                                                                \
        return as_##U##4(F(as_uint(x), as_uint(y)));                                                                 \
    }                                                                                                                \
    U##8 OVERLOADABLE NAME(T##8 x, T##8 y)                                                                           \
    {                                                                                                                \
        uint2 a = as_uint2(x), b = as_uint2(y);                                                                      \
                                                                                                                     \
        return as_##U##8((uint2)(F(a.x, b.x), F(a.y, b.y)));                                                         \
    }                                                                                                                \
    U##16 OVERLOADABLE NAME(T##16 x, T##16 y)                                                                        \
    {                                                                                                                \
        uint4 a = as_uint4(x), b = as_uint4(y);                                                                      \
                                                                                                                     \
        return as_##U##16((uint4)(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z), F(a.w, b.w)));                              \
    }
BYTES(abs_diff, uchar, uchar, abs_diff_4)
BYTES(abs_diff, char, uchar, abs_diff_4_signed)
BYTES(hadd, uchar, uchar, hadd_4)
BYTES(hadd, char, char, hadd_4_signed)
BYTES(rhadd, uchar, uchar, rhadd_4)
BYTES(rhadd, char, char, rhadd_4_signed)
BYTES(add_sat, uchar, uchar, add_sat_4)
BYTES(sub_sat, uchar, uchar, sub_sat_4)
