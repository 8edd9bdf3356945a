/*
 * Our part of OpenCL C's built-in functions, which adds to libclc or replaces its functions of the same name. Compiled
 * when Tesela is built (OpenCL C 3.0), linked with libclc's bitcode, installed beside tesela-kc.
 */
#define OVERLOADABLE __attribute__((overloadable))

/* DO(name) for each vector size, each integer type … */
#define EACH_SIZE(DO, T) DO(T##2, 2) DO(T##3, 3) DO(T##4, 4) DO(T##8, 8) DO(T##16, 16)
#define EACH_INTEGER(DO) DO(char) DO(uchar) DO(short) DO(ushort) DO(int) DO(uint) DO(long) DO(ulong)

/* A function on vectors by the function on their components. */
#define COMPONENTS_2(F)  F(0), F(1)
#define COMPONENTS_3(F)  F(0), F(1), F(2)
#define COMPONENTS_4(F)  F(0), F(1), F(2), F(3)
#define COMPONENTS_8(F)  COMPONENTS_4(F), F(4), F(5), F(6), F(7)
#define COMPONENTS_16(F) COMPONENTS_8(F), F(8), F(9), F(a), F(b), F(c), F(d), F(e), F(f)

/* F of each of a vector's components. */
#define EACH_OF_2(F, X) F((X).s0), F((X).s1)
#define EACH_OF_3(F, X) EACH_OF_2(F, X), F((X).s2)
#define EACH_OF_4(F, X) EACH_OF_3(F, X), F((X).s3)
#define EACH_OF_8(F, X) EACH_OF_4(F, X), F((X).s4), F((X).s5), F((X).s6), F((X).s7)
#define EACH_OF_16(F, X) \
    EACH_OF_8(F, X), F((X).s8), F((X).s9), F((X).sa), F((X).sb), F((X).sc), F((X).sd), F((X).se), F((X).sf)

/* NAME on vectors by NAME on their components; SIZE_1: of one argument, SIZE_2: of two. */
#define X1(I) NAME(x.s##I)
#define X2(I) NAME(x.s##I, y.s##I)
#define SIZE_1(T, N)                    \
    T OVERLOADABLE NAME(T x)            \
    {                                   \
        return (T)(COMPONENTS_##N(X1)); \
    }
#define SIZE_2(T, N)                    \
    T OVERLOADABLE NAME(T x, T y)       \
    {                                   \
        return (T)(COMPONENTS_##N(X2)); \
    }
