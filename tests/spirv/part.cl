/* Half of a program: what it calls is in another, of source. */
uint other(uint x);

kernel void linked(global uint *out)
{
    out[get_global_id(0)] = other((uint)get_global_id(0)) + 1;
}
