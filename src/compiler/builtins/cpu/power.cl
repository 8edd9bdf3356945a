/*
 * Powers of floats for the CPU: the GPU's way, with selections for what is special. libclc's read tables and branch.
 */
#include "../exponential.h"

static float two_to(float t, float t_rest)
{
    float y = within(t, -151.0f, 129.0f), magic = y + MAGIC;

    t_rest = fabs(t) < 160 ? t_rest : 0;
    return exponential(((y - (magic - MAGIC)) + t_rest) * M_LN2_F, magic);
}

#define RECIPROCAL(X) (1 / (X))
#include "../power.h"

/* |x|^(y + y_rest), y finite and not zero. */
static float power_of_size(float x, float y, float y_rest)
{
    float size = fabs(x), power = positive_power_2(size, y, y_rest);

    return size > 0 && size < INFINITY ? power : (size == 0) == (y > 0) ? 0 : INFINITY;
}

float OVERLOADABLE pow(float x, float y)
{
    float size = fabs(x), half_of_y = y * 0.5f, power = power_of_size(x, y, 0);
    bool is_whole = trunc(y) == y, is_odd = is_whole && trunc(half_of_y) != half_of_y;

    power = isinf(y) ? (size == 1 ? 1 : (size > 1) == (y > 0) ? INFINITY : 0) : power;
    power = is_odd ? copysign(power, x) : power;
    power = x < 0 && x > -INFINITY && !is_whole ? (float)NAN : power;
    power = isnan(x) || isnan(y) ? x + y : power;
    return x == 1 || y == 0 ? 1 : power;
}

float OVERLOADABLE powr(float x, float y)
{
    float power = power_of_size(x, y, 0);
    bool is_known = x >= 0 && !isnan(y) && !(x == 1 && isinf(y)) && !(y == 0 && (x == 0 || isinf(x)));

    power = isinf(y) ? ((x > 1) == (y > 0) ? INFINITY : 0) : y == 0 ? 1 : power;
    return is_known ? power : (float)NAN;
}

float OVERLOADABLE pown(float x, int n)
{
    float y = (float)n, power = power_of_size(x, y, (float)((double)n - y));

    power = n & 1 ? copysign(power, x) : power;
    power = isnan(x) ? x : power;
    return n == 0 ? 1 : power;
}

float OVERLOADABLE rootn(float x, int n)
{
    float of = (float)n, y = 1 / of, root = power_of_size(x, y, fma(-y, of, 1.0f) * y);

    root = n & 1 ? copysign(root, x) : root;
    return n == 0 || isnan(x) || (x < 0 && !(n & 1)) ? (float)NAN : root;
}

float OVERLOADABLE half_powr(float x, float y)
{
    return native_powr(x, y);
}

/* ---- Of vectors ----------------------------------------------------------------------------------------------------
 */

#define NAME pow
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME powr
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME half_powr
EACH_SIZE(SIZE_2, float)
#undef NAME

#define WITH_INTEGER(I)      NAME(x.s##I, n.s##I)
#define SIZE_INTEGER(T, N)                            \
    T OVERLOADABLE NAME(T x, int##N n)                \
    {                                                 \
        return (T)(COMPONENTS_##N(WITH_INTEGER));     \
    }
#define NAME pown
EACH_SIZE(SIZE_INTEGER, float)
#undef NAME
#define NAME rootn
EACH_SIZE(SIZE_INTEGER, float)
#undef NAME
