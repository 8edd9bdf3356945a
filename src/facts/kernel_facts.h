/*
 * What is known about a kernel: from the kernel compiler or, without it, from what the vendor tells
 * (clGetKernelArgInfo). Unproven access counts as read + write, as `const` may be cast away.
 */
#ifndef TSL_FACTS_KERNEL_FACTS_H
#define TSL_FACTS_KERNEL_FACTS_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tsl_fact_kind {
    TSL_FACT_UNKNOWN, /* nothing is told: decided by what clSetKernelArg is given */
    TSL_FACT_VALUE,
    TSL_FACT_GLOBAL, /* __global pointer */
    TSL_FACT_CONSTANT,
    TSL_FACT_LOCAL,
    TSL_FACT_IMAGE,
    TSL_FACT_SAMPLER,
    TSL_FACT_PIPE,
};

#define TSL_MAY_READ  1u
#define TSL_MAY_WRITE 2u

struct tsl_footprint;

struct tsl_arg_fact {
    enum tsl_fact_kind kind;
    unsigned may;   /* TSL_MAY_ bits: what the kernel may do to the memory; READ|WRITE unless proven */
    bool untouched; /* a READ in name only: our compiler saw no access, which is no reason to warn. Not on the wire */
    bool written;   /* our compiler saw a write, also in a vendor's kernel (program/text_access.h). Not on the wire */
    size_t size;    /* bytes of a VALUE where known, else 0 */
    /* As clGetKernelArgInfo reports them; strings are owned by the facts, NULL where unknown. */
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier type_qualifier;
    char *type_name;
    char *name;
};

/* Facts of one kernel on one member. */
struct tsl_kernel_facts {
    char *name;
    char *attributes; /* CL_KERNEL_ATTRIBUTES, "" where unknown */
    cl_uint n_args;
    struct tsl_arg_fact *args; /* n_args */
    bool has_arg_info;         /* address … name are known */

    size_t work_group_size;     /* work-items that a launch's groups may have on this member, at most */
    size_t told_group_size;     /* what programs had better take of that; 0: all. See tsl_told_group_size() */
    size_t preferred_multiple;  /* CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE */
    size_t reqd_size[3];        /* reqd_work_group_size, 0 0 0 where none */
    size_t recommended_size[3]; /* the local size to take where the choice is free: the required or the hinted one, or
                                   what suits the member; 0 0 0: none. Its factors may have to be made smaller */
    size_t max_global_size[3];  /* CL_KERNEL_GLOBAL_WORK_SIZE, of built-in kernels; 0 0 0: not told */
    cl_ulong local_mem_size;    /* bytes of static local memory */
    cl_ulong private_mem_size;  /* bytes per work-item */

    /* True also when unknown, which is the safe side. Programs from source are opaque only where they have
     * program-scope variables, even if nothing else is known. */
    bool whole_launch; /* asks for group ids, numbers of groups, global sizes or offsets, linear ids */
    bool prints;       /* may call printf */
    bool opaque;       /* has effects beyond its arguments (program-scope variables …): a barrier both ways */
    bool fp64;         /* has variables, arguments or memory of double precision. Unknown from signatures */
    bool atomics;      /* global atomics: windows of one launch may not be split over members */
    bool proven;       /* the flags above and the access bits come from the compiler, not from signatures */
    struct tsl_footprint
        *footprint;  /* which bytes of its arguments a window accesses (footprint/format.h); owned; NULL: unknown */
    bool of_windows; /* the code was compiled of the text for windows (compile_client/window_text.h), so what our
                        compiler found in that text holds */
    bool of_text; /* only signatures are known, but the code was compiled from the program's text and build options, so
                     what our compiler finds in these holds (program/text_access.h) */
};

/* For callers that have only the program's text: may one of its kernels print? True if `printf` may stand in it, or
 * come in by an included file or a pasted name. options: the build options. */
bool tsl_text_may_print(const char *source, size_t size, const char *options);

/* Is it one of OpenCL C's image types ("image2d_array_t")? A pointer to a structure may be called "image_data*". */
bool tsl_type_is_image(const char *type_name);

/* CL_KERNEL_WORK_GROUP_SIZE on this member: no less than the size that the source asks for. */
size_t tsl_told_group_size(const struct tsl_kernel_facts *facts);

/* Frees what the facts own; the structure itself is the caller's. NULL members are fine. */
void tsl_kernel_facts_finish(struct tsl_kernel_facts *facts);

/* The same signature (number of arguments; kinds, and type names where both know them)? Members whose signature differs
 * from the first member's are excluded from the kernel. */
bool tsl_kernel_facts_same_signature(const struct tsl_kernel_facts *a, const struct tsl_kernel_facts *b);

#endif
