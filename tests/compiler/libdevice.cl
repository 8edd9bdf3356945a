/* Functions of floats by NVIDIA's libdevice, in place of those of src/kc/builtins/nvptx: what `kc.libdevice` compares
 * ours with. */
#define OVERLOADABLE __attribute__((overloadable))

#define BY_LIBDEVICE(name)           \
    float __nv_##name##f(float x);   \
    float OVERLOADABLE name(float x) \
    {                                \
        return __nv_##name##f(x);    \
    }

BY_LIBDEVICE(exp)
BY_LIBDEVICE(exp2)
BY_LIBDEVICE(exp10)
BY_LIBDEVICE(log)
BY_LIBDEVICE(log2)
BY_LIBDEVICE(log10)
BY_LIBDEVICE(sin)
BY_LIBDEVICE(cos)
BY_LIBDEVICE(tan)

float __nv_powf(float x, float y);
float OVERLOADABLE pow(float x, float y)
{
    return __nv_powf(x, y);
}

double __nv_rsqrt(double x);
double OVERLOADABLE rsqrt(double x)
{
    return __nv_rsqrt(x);
}

/* It asks so whether small numbers may be taken as zeros: they may not. */
int reflect(const char *what) __asm__("__nvvm_reflect");
int reflect(const char *what)
{
    return 0;
}
