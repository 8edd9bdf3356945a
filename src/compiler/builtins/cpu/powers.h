/*
 * Powers of numbers of type T, whatever they are, and of vectors of these, by power_of_size(x, y, y_rest), which is
 * |x|^(y + y_rest) for y that is finite and not zero. Who includes this defines pow and powr: any_pow and any_powr, or
 * what is faster for usual numbers. REST(n, y): the integer n less y, which is n as a T.
 */

T OVERLOADABLE pow(T x, T y);
T OVERLOADABLE powr(T x, T y);

static inline T OVERLOADABLE any_pow(T x, T y)
{
    T size = fabs(x), half_of_y = y * (T)0.5, power = power_of_size(x, y, 0);
    bool is_whole = trunc(y) == y, is_odd = is_whole && trunc(half_of_y) != half_of_y;

    power = isinf(y) ? (size == 1 ? 1 : (size > 1) == (y > 0) ? (T)INFINITY : 0) : power;
    power = is_odd ? copysign(power, x) : power;
    power = x < 0 && x > -(T)INFINITY && !is_whole ? (T)NAN : power;
    power = isnan(x) || isnan(y) ? x + y : power;
    return x == 1 || y == 0 ? 1 : power;
}

static inline T OVERLOADABLE any_powr(T x, T y)
{
    T power = power_of_size(x, y, 0);
    bool is_known = x >= 0 && !isnan(y) && !(x == 1 && isinf(y)) && !(y == 0 && (x == 0 || isinf(x)));

    power = isinf(y) ? ((x > 1) == (y > 0) ? (T)INFINITY : 0) : y == 0 ? 1 : power;
    return is_known ? power : (T)NAN;
}

/* x^n for |n| < 8 by products of doubles, which x^7 of floats fits; of doubles they are wrong by 7 ulps at most. */
static inline T small_power(T x, int n)
{
    uint m = abs(n);
    double factor = n < 0 ? 1 / (double)x : (double)x, square = factor * factor, fourth = square * square;
    double odd = m & 1 ? factor : 1, even = m & 2 ? square : 1;

    return (T)(odd * even * (m & 4 ? fourth : 1));
}

/* Work-items skip the loop together if all exponents are small; nobody goes round twice. */
T OVERLOADABLE pown(T x, int n)
{
    bool far = abs(n) >= 8;
    T power = far ? (T)NAN : small_power(x, n);

    while (far && isnan(power) && !isnan(x)) {
        T y = (T)n;

        power = power_of_size(x, y, REST(n, y));
        power = n & 1 ? copysign(power, x) : power;
    }
    return power;
}

T OVERLOADABLE rootn(T x, int n)
{
    T of = (T)n, y = 1 / of, root = power_of_size(x, y, fma(-y, of, (T)1) * y);

    root = n & 1 ? copysign(root, x) : root;
    return n == 0 || isnan(x) || (x < 0 && !(n & 1)) ? (T)NAN : root;
}

/* EACH_SIZE puts the type's name and the size together. */
#define SIZES(DO, TYPE) EACH_SIZE(DO, TYPE)
#define WITH_INTEGER(I) NAME(x.s##I, n.s##I)
#define SIZE_INTEGER(TYPE, N)                        \
    TYPE OVERLOADABLE NAME(TYPE x, int##N n)         \
    {                                                \
        return (TYPE)(COMPONENTS_##N(WITH_INTEGER)); \
    }
#define NAME pow
SIZES(SIZE_2, T)
#undef NAME
#define NAME powr
SIZES(SIZE_2, T)
#undef NAME
#define NAME pown
SIZES(SIZE_INTEGER, T)
#undef NAME
#define NAME rootn
SIZES(SIZE_INTEGER, T)
#undef NAME
#undef T
#undef REST
