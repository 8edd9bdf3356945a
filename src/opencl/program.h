/* program.c, kernel.c, arguments.c, names.c, text.c, variables.c: programs and kernels. */
#ifndef TSL_OPENCL_PROGRAM_H
#define TSL_OPENCL_PROGRAM_H

#include "compile_client/window_text.h"
#include "facts/kernel_facts.h"
#include "opencl/internal.h"

/* The language version, as far as it decides whether a program may have variables of program scope, from no to yes. */
enum tsl_opencl_language {
    TSL_OPENCL_OLD,        /* OpenCL C 1, by -cl-std: none */
    TSL_OPENCL_BY_DEFAULT, /* nothing was said */
    TSL_OPENCL_NEWER,      /* or not known */
    TSL_OPENCL_SECOND,     /* OpenCL C 2, of which they are no choice */
};

struct tsl_opencl_program {
    struct tsl_dprogram base;
    cl_program program; /* NULL: compiled for a device without a compiler, and nothing but the names below */
    unsigned n_more;    /* binaries made before may be one for each kernel: the others */
    cl_program *more;
    cl_program windows; /* of the text for windows; NULL: there is none */
    bool windows_print; /* such kernels may print */
    char *kernels; /* of an object or library, where tsl_opencl_takes_prebuilt: to be looked for when it is linked */
    bool prints, opaque, of_text, built_in; /* for the facts of its kernels */
    enum tsl_opencl_language language;
};

struct tsl_opencl_kernel {
    struct tsl_dkernel base;
    cl_kernel kernel;
    bool of_windows;      /* it is of the program's text for windows … */
    bool asks_for_launch; /* … and has TSL_WINDOW_PARAMETERS parameters behind its own … */
    cl_uint n_args;       /* … which are so many */
    size_t reqd_size[3];
    pthread_mutex_t lock; /* over setting the arguments and enqueuing */
    uint64_t serial;      /* of the arguments that are set; 0: unknown */
    bool launch_known;    /* what the hidden arguments are is in: */
    cl_ulong launch[TSL_WINDOW_PARAMETERS];
    bool names_svm;  /* … which are more than the kernel's own */
    bool *addresses; /* which arguments have ever been addresses; NULL: none */
    char *name;
};

static inline struct tsl_opencl_program *tsl_opencl_program(struct tsl_dprogram *program)
{
    assert(program->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_program *)program;
}

static inline struct tsl_opencl_kernel *tsl_opencl_kernel(struct tsl_dkernel *kernel)
{
    assert(kernel->program->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_kernel *)kernel;
}

/* ---- program.c ---- */

/* The binary of a program for one device (heap; NULL of none). The caller entered the device. */
cl_int tsl_opencl_get_binary(struct tsl_opencl_member *m, cl_program program, void **data, size_t *size);
/* A program not built yet, or NULL with *error. */
cl_program tsl_opencl_create_program(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error);
/* What the vendor says of the program's last build (heap; NULL without memory). */
char *tsl_opencl_build_log(struct tsl_opencl_member *m, cl_program program);
/* One build by the vendor. *log is replaced; the program is NULL after an error. */
cl_int tsl_opencl_build_one(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                            const char *more_options, cl_program *program, char **log);
/* Can the vendor's compiler and linker stand these options? False: *log says why not. */
bool tsl_opencl_takes_options(const struct tsl_opencl_member *m, const char *options, char **log);
/* All that the program holds. */
void tsl_opencl_release_programs(struct tsl_opencl_member *m, struct tsl_opencl_program *p);

/* ---- kernel.c, arguments.c ---- */

/* The same kernel without anything that was set. Under its lock. */
cl_int tsl_opencl_kernel_renew(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k);

/* What the vendor tells of a kernel. On error *facts is empty. */
cl_int tsl_opencl_facts(struct tsl_opencl_program *program, cl_kernel kernel, struct tsl_kernel_facts *facts);
/* The same of sizes alone, of another kernel that runs in its place. */
void tsl_opencl_ask_sizes(struct tsl_opencl_member *m, cl_kernel kernel, struct tsl_kernel_facts *facts);

/* ---- names.c, text.c, variables.c ---- */

/* The names of the .entry lines of PTX, separated by ';' (heap; NULL without memory). */
char *tsl_opencl_ptx_names(const char *text, size_t size);

/* By two names binaries are looked for (docs/user/fpga.md): the name of the program as a whole, and those of the
 * kernels that the text defines, with ';' between (heap; NULL without memory). */
#define TSL_OPENCL_NAME_SIZE 16u
void tsl_opencl_program_name(const char *text, size_t size, const char *options, char name[TSL_OPENCL_NAME_SIZE + 1]);
char *tsl_opencl_kernels_in(const char *text, size_t size);
/* Adds the names that aren't there; false without memory, and both are as they were. */
bool tsl_opencl_add_kernels(char **names, const char *more);

/* A sentence, if it seems that this vendor's compiler would end the process over the program; else NULL.
 * headers: NULL for none. */
const char *tsl_opencl_deadly_text(const struct tsl_opencl_quirks *quirks, const struct tsl_program_input *input,
                                   const struct tsl_program_headers *headers);

enum tsl_opencl_language tsl_opencl_language(const struct tsl_program_input *input);

#endif
