/* 1 / x where that is a normal number, wrong by an ulp: an estimate of 20 bits, and two steps of Newton's. */
static inline double reciprocal(double x)
{
    double r = __nvvm_rcp_approx_ftz_d(x);

    r = fma(fma(-x, r, 1.0), r, r);
    return fma(fma(-x, r, 1.0), r, r);
}
