/*
 * Remainders of numbers of type T. NEAR: quotients below it are computed at once, by near_modulo(x, y, &quotient);
 * STEP: the bits of one that near_modulo computes of a larger quotient; exponent_of(x); SCALE(y, n): y times 2^n.
 */

/* x modulo y, both positive, exactly; *quotient: its lowest bits. Of a quotient that isn't small a loop computes STEP
 * bits at a time, from the highest on, by y times powers of two. Work-items skip it together if none needs it. */
static inline T OVERLOADABLE modulo(T x, T y, uint *quotient)
{
    uint q = 0, more;

    while (x >= y * NEAR && x < (T)INFINITY && y > 0) {
        int n = exponent_of(x) - exponent_of(y) - STEP;

        x = near_modulo(x, SCALE(y, n), &more);
        q += n < 32 ? more << n : 0;
    }
    x = near_modulo(x, y, &more);
    *quotient = q + more;
    return x;
}

/* What isn't a number where x is not finite, y is zero, or one isn't a number; x where y is infinite. */
static inline T OVERLOADABLE known_remainder(T x, T y, T remainder)
{
    bool known = fabs(x) < (T)INFINITY && fabs(y) > 0;

    return !known ? (T)NAN : isinf(y) ? x : remainder;
}

/* The remainder of x / y nearest to zero, of two such the one with the even quotient; *bits: the quotient's last seven
 * bits, signed. */
static inline T OVERLOADABLE nearest_remainder(T x, T y, int *bits)
{
    uint quotient;
    T ay = fabs(y), r = modulo(fabs(x), ay, &quotient);
    bool more = r > ay - r || (r == ay - r && quotient & 1),
         known = fabs(x) < (T)INFINITY && ay > 0 && ay < (T)INFINITY;

    r = more ? r - ay : r;
    quotient = known ? (quotient + more) & 0x7f : 0;
    *bits = signbit(x) != signbit(y) ? -(int)quotient : (int)quotient;
    r = r == 0 ? 0 : r;
    return known_remainder(x, y, signbit(x) ? -r : r);
}

T OVERLOADABLE fmod(T x, T y)
{
    uint quotient;

    return known_remainder(x, y, copysign(modulo(fabs(x), fabs(y), &quotient), x));
}

T OVERLOADABLE remainder(T x, T y)
{
    int bits;

    return nearest_remainder(x, y, &bits);
}

#undef T
#undef NEAR
#undef STEP
#undef SCALE
