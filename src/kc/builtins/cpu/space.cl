/*
 * Which address space a generic pointer points to (what Clang makes of to_global() and its like): work-groups have local
 * memory, and private memory that isn't on the stack, where struct tsl_wg_thread (compile/work_group.h) says.
 */
struct thread {
    uchar *local_begin, *scratch_begin, *user, *local_end, *scratch_end;
};

/* The work-group function's second parameter. */
const struct thread *__tsl_wg_thread(void);

#define STACK (1 << 17) /* more than private variables take there (kc/workgroup/home.c), with all that lies between */

static bool is_local(const uchar *p)
{
    return p >= __tsl_wg_thread()->local_begin && p < __tsl_wg_thread()->local_end;
}

static bool is_private(const uchar *p)
{
    size_t depth = (size_t)__builtin_frame_address(0) - (size_t)p;

    return (p >= __tsl_wg_thread()->scratch_begin && p < __tsl_wg_thread()->scratch_end) || depth < STACK;
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
