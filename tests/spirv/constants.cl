/* Specialization constants, which OpenCL C has no words for: the translator makes them of calls of these functions. */
#define CONSTANT(type) type __attribute__((overloadable)) __spirv_SpecConstant(int, type)
CONSTANT(int);
CONSTANT(short);
CONSTANT(long);
CONSTANT(float);
CONSTANT(double);

kernel void constants(global ulong *out)
{
    out[0] = (ulong)__spirv_SpecConstant(1, 5) + (ulong)__spirv_SpecConstant(2, (short)-4);
    out[1] = (ulong)__spirv_SpecConstant(3, 7L);
    out[2] = as_uint(__spirv_SpecConstant(4, 2.5f));
    out[3] = as_ulong(__spirv_SpecConstant(5, 1.5));
    out[4] = (ulong)__spirv_SpecConstant(1, 5);
}
