/* Tells which address space a generic pointer points to: Clang's calls for to_global() and its like. */

global void *__to_global(void *p)
{
    return __nvvm_isspacep_global(p) ? (global void *)p : (global void *)0;
}

local void *__to_local(void *p)
{
    return __nvvm_isspacep_shared(p) ? (local void *)p : (local void *)0;
}

private void *__to_private(void *p)
{
    return __nvvm_isspacep_local(p) ? (private void *)p : (private void *)0;
}
