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

#define T          float
#define REST(N, Y) ((float)((double)(N) - (Y)))
#include "powers.h"

float OVERLOADABLE pow(float x, float y)
{
    return any_pow(x, y);
}

float OVERLOADABLE powr(float x, float y)
{
    return any_powr(x, y);
}

float OVERLOADABLE half_powr(float x, float y)
{
    return native_powr(x, y);
}

#define NAME half_powr
EACH_SIZE(SIZE_2, float)
#undef NAME
