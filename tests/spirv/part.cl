/* Parts of a program: what it calls is in others, of SPIR-V (other.cl) and of source. */
uint __attribute__((overloadable)) twice(const uint *x, local uint *y);
uint other(uint x);

kernel void linked(global uint *out)
{
    local uint shared;
    uint x = (uint)get_global_id(0);

    shared = 1;
    out[get_global_id(0)] = other(x) + twice(&x, &shared);
}
