/*
 * sinpi and cospi of numbers of type T (4 ulps), by sin_of_half_turns(w), which is sin(pi w) for |w| <= 1/2, and
 * with_sign(value, x), which is the value with the other sign where x is negative. What is left of whole turns is
 * exact, and so is what is left of a half one where that counts. An integer's sinpi has the integer's sign, and a
 * half's cospi none.
 */

/* From -1 to 1 */
static inline T OVERLOADABLE left_of_turns(T x)
{
    return fma((T)-2, rint(x * (T)0.5), x);
}

T OVERLOADABLE sinpi(T x)
{
    T z = left_of_turns(fabs(x)), w = fabs(z) > (T)0.5 ? copysign((T)1, z) - z : z;

    return with_sign(sin_of_half_turns(w), x);
}

T OVERLOADABLE cospi(T x)
{
    return sin_of_half_turns((T)0.5 - fabs(left_of_turns(x)));
}

#define SIZES(DO, TYPE) EACH_SIZE(DO, TYPE)
#define NAME            sinpi
SIZES(SIZE_1, T)
#undef NAME
#define NAME cospi
SIZES(SIZE_1, T)
#undef NAME
