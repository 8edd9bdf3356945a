/* A function whose name says into which memory its pointers lead. */
uint __attribute__((overloadable)) twice(const uint *x, local uint *y)
{
    return *x + *x + *y;
}
