/*
 * Variants: other implementations of a program's kernels, which the user or the program names. A description is a text
 * of a few lines; docs/user/variants.md has its form. What is here is read and checked, and belongs to no context;
 * program/variants.h makes kernels of it.
 */
#ifndef TSL_VARIANT_VARIANT_H
#define TSL_VARIANT_VARIANT_H

#include "base/lock.h"
#include "driver/call.h"
#include "facts/kernel_facts.h"
#include "variant/compare.h"
#include "variant/expression.h"

#include <CL/cl_tesela.h>
#include <stdatomic.h>

struct tsl_path;

/* Types of arguments, as far as conditions need them. */
enum tsl_variant_type {
    TSL_VARIANT_BUFFER,
    TSL_VARIANT_LOCAL,
    TSL_VARIANT_OTHER, /* conditions can't name it */
    TSL_VARIANT_CHAR,
    TSL_VARIANT_UCHAR,
    TSL_VARIANT_SHORT,
    TSL_VARIANT_USHORT,
    TSL_VARIANT_INT,
    TSL_VARIANT_UINT,
    TSL_VARIANT_LONG,
    TSL_VARIANT_ULONG,
    TSL_VARIANT_FLOAT,
    TSL_VARIANT_DOUBLE,
    TSL_VARIANT_N_TYPES
};

enum tsl_variant_kind {
    TSL_VARIANT_NOTHING,  /* not said yet */
    TSL_VARIANT_OPENCL,   /* OpenCL C text in a file */
    TSL_VARIANT_CODE,     /* the member's own machine code in a file: PTX, cubin */
    TSL_VARIANT_FUNCTION, /* of a shared object */
    TSL_VARIANT_GIVEN     /* of the program itself */
};

/* How a variant does, in this process. */
enum tsl_variant_state {
    TSL_VARIANT_FRESH,  /* it has to prove itself before it serves, if anything is to be proven */
    TSL_VARIANT_SERVES, /* it has */
    TSL_VARIANT_OUT     /* it failed: the reason was told */
};

#define TSL_VARIANT_PROOFS \
    3u /* launches that are compared with the original's before a variant of any program serves */

struct tsl_variant {
    atomic_uint refs;
    char *name; /* its file's, without folder and ending; or what the program called it */
    char *kernel;
    bool any_program;
    unsigned n_digests;
    char **digests; /* of programs: 64 hexadecimal digits each, small letters */
    char *options;  /* the program's build options; "*": any */
    char *members;  /* a list as of TESELA_MEMBERS, and gpu; "": all */
    unsigned n_args;
    char **arg_names;
    enum tsl_variant_type *arg_types;

    enum tsl_variant_kind kind;
    char *file, *function; /* function: the kernel's or the function's name; of OpenCL C "": the original's */
    char *build_options;
    cl_variant_function_tesela given; /* of GIVEN ... */
    void *given_data;                 /* ... and what it is called with */

    unsigned n_guards;
    struct tsl_expression **guards;
    size_t align;               /* bytes, of each buffer's address */
    unsigned n_global, n_local; /* dimensions; 0: those of the launch */
    struct tsl_expression *global[3], *local[3];
    bool windows; /* parts of a launch, too */
    struct tsl_promise promise;
    bool always; /* it isn't measured: it runs wherever it may */
    bool trial;  /* its first call is tried in a process of its own */

    uint64_t sum;          /* of the description, and of its file's size and time */
    atomic_int state;      /* enum tsl_variant_state */
    atomic_uint failed_on; /* bits: members, by index, on which it can't be made */
    atomic_uint n_proofs;  /* launches that were equal */
    atomic_uint told;      /* bits: members on which it was told to serve */
    struct tsl_lock calls; /* held while its function runs, so never two at a time; a driver may hold a lane's */
    void *library;         /* of FUNCTION; NULL: not loaded yet; under calls */
    unsigned n_refused;    /* launches, before it took one; under calls */
    bool took_one;         /* under calls */
};

/* Sentences for the user. */
typedef void tsl_variant_say_fn(void *arg, const char *sentence);

/* One description. name: for sentences and traces; folder: where its files are. NULL: it says what is wrong, or has no
 * memory. The caller's reference. */
struct tsl_variant *tsl_variant_parse(const char *text, const char *name, const char *folder, tsl_variant_say_fn *say,
                                      void *arg);
struct tsl_variant *tsl_variant_ref(struct tsl_variant *variant);
void tsl_variant_unref(struct tsl_variant *variant); /* NULL allowed */

/* Those of the folder TESELA_VARIANTS, by name, read once in the process; *n may be 0. They live until it ends. The
 * first caller hears the sentences; so does the log. May block on the disk. */
struct tsl_variant *const *tsl_variants_folder(unsigned *n);

/* What a kernel is known by. */
struct tsl_variant_kernel {
    const char *name;
    const char *digest;  /* of its program */
    const char *options; /* of its program's build */
};

size_t tsl_variant_type_size(enum tsl_variant_type type); /* bytes; 0: no scalar */

bool tsl_variant_is_for(const struct tsl_variant *variant, const struct tsl_variant_kernel *kernel);
bool tsl_variant_is_for_member(const struct tsl_variant *variant, const struct tsl_path *path);
/* Are these the arguments that the description has? */
bool tsl_variant_fits(const struct tsl_variant *variant, const struct tsl_kernel_facts *facts);
/* The digest as text of a program's text. */
void tsl_variant_digest(const void *text, size_t size, char digest[65]);

/* It is out, for good; the sentence is logged. The first call alone does anything. */
void tsl_variant_put_out(struct tsl_variant *variant, const char *why);

static inline enum tsl_variant_state tsl_variant_state(const struct tsl_variant *variant)
{
    return (enum tsl_variant_state)atomic_load_explicit(&variant->state, memory_order_relaxed);
}

/* Must launches be compared before it serves? */
static inline bool tsl_variant_is_unproven(const struct tsl_variant *variant)
{
    return variant->any_program && atomic_load_explicit(&variant->n_proofs, memory_order_relaxed) < TSL_VARIANT_PROOFS;
}

#endif
