/*
 * Shuffles (OpenCL C 3.0, 6.15.15.4). Where the mask is known they are moves; where it isn't, compiler/ptx/elements.h says
 * how an element is found.
 */
#include "common.h"

#define ONE_OF(T, M)                                                         \
    static inline T one_of_##T##M(T##M x, uint i)                            \
    {                                                                        \
        return x[i & (M - 1)];                                               \
    }                                                                        \
    static inline T one_of_two_##T##M(T##M x, T##M y, uint i)                \
    {                                                                        \
        T a = x[i & (M - 1)], b = y[i & (M - 1)];                            \
                                                                             \
        return i & M ? b : a;                                                \
    }
#define SHUFFLE(T, U, M, N)                                                  \
    T##N OVERLOADABLE shuffle(T##M x, U##N mask)                             \
    {                                                                        \
        return (T##N)(CHOSEN_##N(one_of_##T##M, x));                         \
    }                                                                        \
    T##N OVERLOADABLE shuffle2(T##M x, T##M y, U##N mask)                    \
    {                                                                        \
        return (T##N)(CHOSEN_##N(one_of_two_##T##M, x, y));                  \
    }
#define CHOSEN_2(F, ...) F(__VA_ARGS__, (uint)mask.s0), F(__VA_ARGS__, (uint)mask.s1)
#define CHOSEN_4(F, ...) CHOSEN_2(F, __VA_ARGS__), F(__VA_ARGS__, (uint)mask.s2), F(__VA_ARGS__, (uint)mask.s3)
#define CHOSEN_8(F, ...)                                                                                         \
    CHOSEN_4(F, __VA_ARGS__), F(__VA_ARGS__, (uint)mask.s4), F(__VA_ARGS__, (uint)mask.s5),                      \
        F(__VA_ARGS__, (uint)mask.s6), F(__VA_ARGS__, (uint)mask.s7)
#define CHOSEN_16(F, ...)                                                                                        \
    CHOSEN_8(F, __VA_ARGS__), F(__VA_ARGS__, (uint)mask.s8), F(__VA_ARGS__, (uint)mask.s9),                      \
        F(__VA_ARGS__, (uint)mask.sa), F(__VA_ARGS__, (uint)mask.sb), F(__VA_ARGS__, (uint)mask.sc),             \
        F(__VA_ARGS__, (uint)mask.sd), F(__VA_ARGS__, (uint)mask.se), F(__VA_ARGS__, (uint)mask.sf)
#define SHUFFLES_TO(T, U, M) SHUFFLE(T, U, M, 2) SHUFFLE(T, U, M, 4) SHUFFLE(T, U, M, 8) SHUFFLE(T, U, M, 16)
#define SHUFFLES(T, U)                                                       \
    ONE_OF(T, 2) ONE_OF(T, 4) ONE_OF(T, 8) ONE_OF(T, 16)                     \
    SHUFFLES_TO(T, U, 2) SHUFFLES_TO(T, U, 4) SHUFFLES_TO(T, U, 8) SHUFFLES_TO(T, U, 16)
SHUFFLES(char, uchar)
SHUFFLES(uchar, uchar)
SHUFFLES(short, ushort)
SHUFFLES(ushort, ushort)
SHUFFLES(int, uint)
SHUFFLES(uint, uint)
SHUFFLES(float, uint)
SHUFFLES(long, ulong)
SHUFFLES(ulong, ulong)
SHUFFLES(double, ulong)
