/*
 * Tells which address space a generic pointer points to (Clang's calls for to_global() and its like). A work-group's
 * thread has its local memory where struct tsl_wg_thread (compile_client/work_group.h) says and, in kernels with such a
 * call, all private variables that have addresses in scratch.
 */
struct thread {
    uchar *local_begin, *scratch_begin, *user, *local_end, *scratch_end;
};

/* The work-group function's second parameter. */
const struct thread *__tsl_wg_places(void);

static bool is_local(const uchar *p)
{
    return p >= __tsl_wg_places()->local_begin && p < __tsl_wg_places()->local_end;
}

static bool is_private(const uchar *p)
{
    return p >= __tsl_wg_places()->scratch_begin && p < __tsl_wg_places()->scratch_end;
}

global void *__to_global(void *p)
{
    return is_local(p) || is_private(p) ? (global void *)0 : (global void *)p;
}

local void *__to_local(void *p)
{
    return is_local(p) ? (local void *)p : (local void *)0;
}

private void *__to_private(void *p)
{
    return is_private(p) ? (private void *)p : (private void *)0;
}
