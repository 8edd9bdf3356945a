#include "program/variants.h"

#include "base/bytes.h"
#include "base/log.h"
#include "driver/driver.h"
#include "facts/il.h"
#include "object/buffer.h"
#include "object/svm.h"
#include "program/idle.h"
#include "program/program.h"
#include "variant/call.h"
#include "variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (64u << 20) /* of text or code, bytes */

/* A variant's OpenCL C text, built for one member. */
struct built {
    struct built *next;
    const struct tsl_variant *variant;
    unsigned member;
    struct tsl_dprogram *program; /* NULL: it can't be built; that was told */
};

/* Of a program; under its lock. */
struct tsl_program_variants {
    char digest[65]; /* of its text, its module or its binary; "": not computed yet */
    unsigned n;
    struct tsl_variant **list; /* those of clAddKernelVariantTESELA; owned references */
    struct built *built;
};

/* ---- A program's ------------------------------------------------------------------------------------------------- */

static struct tsl_program_variants *of_program_locked(struct tsl_program *program) TSL_REQUIRES(program->lock)
{
    if (!program->variants)
        program->variants = calloc(1, sizeof(*program->variants));
    return program->variants;
}

static void compute_digest(const struct tsl_program *program, char digest[65])
{
    const void *text = program->source ? program->source : program->il ? program->il->module : NULL;
    size_t size = program->source ? program->source_size : program->il ? program->il->size : 0;

    for (unsigned i = 0; i < program->context->n_members && !text; i++) {
        text = program->parts[i].binary;
        size = program->parts[i].binary_size;
    }
    tsl_variant_digest(text ? text : "", text ? size : 0, digest);
}

static void digest_of(struct tsl_program *program, char digest[65])
{
    struct tsl_program_variants *all;

    tsl_lock_take(&program->lock);
    all = of_program_locked(program);
    if (all && !all->digest[0])
        compute_digest(program, all->digest);
    memcpy(digest, all ? all->digest : "", all ? 65 : 1);
    tsl_lock_give(&program->lock);
}

static void say(void *arg, const char *sentence)
{
    (void)arg;
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR, "%s", sentence);
}

static cl_int add_locked(struct tsl_program *program, struct tsl_variant *v) TSL_REQUIRES(program->lock)
{
    struct tsl_program_variants *all = of_program_locked(program);
    struct tsl_variant **more;

    if (program->n_kernels)
        return CL_INVALID_OPERATION;
    more = all ? realloc(all->list, (all->n + 1) * sizeof(*more)) : NULL;
    if (!more)
        return CL_OUT_OF_HOST_MEMORY;
    all->list = more;
    more[all->n++] = v;
    return CL_SUCCESS;
}

cl_int tsl_variants_add(struct tsl_program *program, const char *description, cl_variant_function_tesela function,
                        void *user_data)
{
    struct tsl_variant *v = description ? tsl_variant_parse(description, "given", NULL, say, NULL) : NULL;
    struct tsl_idle *idle = NULL;
    cl_int error = CL_INVALID_VALUE;

    if (!v || (v->kind == TSL_VARIANT_GIVEN) != (function != NULL))
        goto no_variant;
    v->given = function;
    v->given_data = user_data;
    tsl_lock_take(&program->lock);
    error = add_locked(program, v);
    if (!error)
        idle = tsl_idle_take_all(program); /* they lack it */
    tsl_lock_give(&program->lock);
    tsl_idle_free(idle);
    if (!error)
        return CL_SUCCESS;
no_variant:
    tsl_variant_unref(v);
    return error;
}

void tsl_variants_end(struct tsl_program *program, bool call)
{
    struct tsl_program_variants *all = program->variants;

    if (!all)
        return;
    while (all->built) {
        struct built *b = all->built;

        all->built = b->next;
        if (b->program && call)
            program->context->members[b->member]->driver->program_free(b->program);
        free(b);
    }
    for (unsigned i = 0; i < all->n; i++)
        tsl_variant_unref(all->list[i]);
    free(all->list);
    free(all);
    program->variants = NULL;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Where a variant is made. */
struct making {
    struct tsl_kernel *kernel;
    struct tsl_variant *variant;
    unsigned member;
};

static struct tsl_member *member_of(const struct making *m)
{
    return m->kernel->program->context->members[m->member];
}

static void tell(const struct making *m, const char *why)
{
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR, "the variant %s of kernel %s is left out on %s: %s", m->variant->name,
            m->kernel->name, member_of(m)->path->id, why);
}

static char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "re");
    char *data = NULL;
    long end = -1;

    *size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && end <= (long)MAX_FILE)
        data = malloc((size_t)end + 1);
    if (data) {
        rewind(file);
        *size = fread(data, 1, (size_t)end, file);
        data[*size] = 0;
    }
    if (file)
        fclose(file);
    return data;
}

/* A sentence of at most some lines of a compiler's log. */
static void tell_log(const struct making *m, cl_int error, const char *log)
{
    char why[512];

    snprintf(why, sizeof(why), "it can't be built (error %d)%s%.400s", error, log && *log ? ":\n" : "", log ? log : "");
    tell(m, why);
}

static struct tsl_dprogram *build(const struct making *m)
{
    struct tsl_member *member = member_of(m);
    struct tsl_dprogram *program = NULL;
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .options = m->variant->build_options};
    char *text = read_file(m->variant->file, &input.size), *log = NULL;
    cl_int error;

    if (!text) {
        tell(m, "its file is not there, or can't be read");
        return NULL;
    }
    input.data = text;
    error = member->driver->build(member, &input, &program, &log);
    if (error) {
        program = NULL;
        tell_log(m, error, log);
    }
    free(log);
    free(text);
    return program;
}

static struct built *find_locked(struct tsl_program *program, const struct making *m) TSL_REQUIRES(program->lock)
{
    struct tsl_program_variants *all = of_program_locked(program);

    for (struct built *b = all ? all->built : NULL; b; b = b->next)
        if (b->variant == m->variant && b->member == m->member)
            return b;
    return NULL;
}

/* Keeps it for further kernels of the program; of two threads' the first one's counts. */
static struct tsl_dprogram *keep(const struct making *m, struct tsl_dprogram *made)
{
    struct tsl_program *program = m->kernel->program;
    struct built *mine = calloc(1, sizeof(*mine)), *b;

    tsl_lock_take(&program->lock);
    b = find_locked(program, m);
    if (!b && mine && program->variants) {
        *mine = (struct built){program->variants->built, m->variant, m->member, made};
        program->variants->built = b = mine;
        mine = NULL;
    }
    tsl_lock_give(&program->lock);
    free(mine);
    if (made && (!b || b->program != made))
        member_of(m)->driver->program_free(made);
    return b ? b->program : NULL;
}

static struct tsl_dprogram *program_of(const struct making *m)
{
    struct tsl_program *program = m->kernel->program;
    struct built *b;

    tsl_lock_take(&program->lock);
    b = find_locked(program, m);
    tsl_lock_give(&program->lock);
    return b ? b->program : keep(m, build(m));
}

static bool make_of_text(const struct making *m, struct tsl_kernel_variant *made)
{
    const struct tsl_driver *driver = member_of(m)->driver;
    const struct tsl_variant *v = m->variant;
    struct tsl_dprogram *program = program_of(m);
    struct tsl_kernel_facts facts;

    if (!program)
        return false;
    if (driver->kernel_create(program, v->function[0] ? v->function : m->kernel->name, &made->kernel, &facts)) {
        tell(m, "its text has no such kernel");
        return false;
    }
    made->windows = !v->n_global && !v->n_local && driver->windows_ok(made->kernel, &facts);
    bool same = tsl_kernel_facts_same_signature(&m->kernel->parts[m->member].facts, &facts);
    tsl_kernel_facts_finish(&facts);
    if (same)
        return true;
    tell(m, "its kernel has other arguments");
    driver->kernel_free(made->kernel);
    return false;
}

/* Of functions and of code. */
static bool make_substitute(const struct making *m, struct tsl_kernel_variant *made)
{
    const struct tsl_driver *driver = member_of(m)->driver;
    struct tsl_call call = tsl_variant_call(m->variant);
    struct tsl_substitute what = {.function = m->variant->function};
    struct tsl_call_file file;
    char *code = NULL, *log = NULL;
    const char *why;
    cl_int error = CL_INVALID_OPERATION;

    if (!tsl_variant_look(m->variant, &why)) {
        tell(m, why);
        return false;
    }
    if (m->variant->kind == TSL_VARIANT_CODE)
        what.code = code = read_file(m->variant->file, &what.code_size);
    else
        what.call = &call;
    if (tsl_variant_file(m->variant, &file))
        what.file = &file;
    if (driver->substitute && (code || what.call))
        error = driver->substitute(m->kernel->parts[m->member].kernel, &what, &made->kernel, &log);
    if (error == CL_INVALID_OPERATION)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "the variant %s of kernel %s is nothing for %s", m->variant->name,
                m->kernel->name, member_of(m)->path->id);
    else if (error)
        tell_log(m, error, log);
    made->windows = m->variant->windows && what.call;
    free(log);
    free(code);
    return !error;
}

/* What placement knows it by: another description, or another file, is another variant. */
static uint64_t place_key(const struct tsl_kernel *kernel, const struct tsl_variant *v)
{
    const uint64_t sums[] = {kernel->place_key, v->sum};

    return tsl_bytes_sum(sums, sizeof(sums));
}

static void add_to(const struct making *m)
{
    struct tsl_kernel_part *part = &m->kernel->parts[m->member];
    struct tsl_kernel_variant made = {.variant = m->variant}, *more;

    more = realloc(part->variants, (part->n_variants + 1) * sizeof(*more));
    if (!more)
        return;
    part->variants = more;
    if (!(m->variant->kind == TSL_VARIANT_OPENCL ? make_of_text(m, &made) : make_substitute(m, &made)))
        return;
    made.place_key = place_key(m->kernel, m->variant);
    tsl_variant_ref(m->variant);
    more[part->n_variants++] = made;
    m->kernel->has_variants = true;
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "kernel %s on %s has the variant %s", m->kernel->name,
            member_of(m)->path->id, m->variant->name);
}

/* On members on which it failed before it isn't tried once more. */
static void try_members(struct tsl_kernel *kernel, struct tsl_variant *v)
{
    struct making m = {.kernel = kernel, .variant = v};
    unsigned before;

    if (tsl_variant_state(v) == TSL_VARIANT_OUT)
        return;
    if (!tsl_variant_fits(v, kernel->facts)) {
        if (!v->any_program)
            tsl_variant_put_out(v, "the kernel has other arguments than the line ARGUMENTS says");
        return;
    }
    for (; m.member < kernel->program->context->n_members; m.member++) {
        unsigned bit = 1u << member_of(&m)->index;

        if (!tsl_members_has(kernel->eligible, m.member) || atomic_load(&v->failed_on) & bit ||
            !tsl_variant_is_for_member(v, member_of(&m)->path))
            continue;
        before = kernel->parts[m.member].n_variants;
        add_to(&m);
        if (kernel->parts[m.member].n_variants == before)
            atomic_fetch_or(&v->failed_on, bit);
    }
}

static const char *options_of(const struct tsl_program *program)
{
    for (unsigned i = 0; i < program->context->n_members; i++)
        if (program->parts[i].options && program->parts[i].options[0])
            return program->parts[i].options;
    return "";
}

static void attach_folder(struct tsl_kernel *kernel, struct tsl_variant *const *list, unsigned n)
{
    char digest[65];

    digest_of(kernel->program, digest);
    struct tsl_variant_kernel known = {kernel->name, digest, options_of(kernel->program)};
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "kernel %s: PROGRAM %s%s%s", known.name, known.digest,
            *known.options ? " OPTIONS " : "", known.options);
    for (unsigned i = 0; i < n; i++)
        if (tsl_variant_is_for(list[i], &known))
            try_members(kernel, list[i]);
}

void tsl_variants_attach(struct tsl_kernel *kernel)
{
    struct tsl_program *program = kernel->program;
    unsigned n;
    struct tsl_variant *const *list = tsl_variants_folder(&n);

    if (n || tsl_log_on(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO))
        attach_folder(kernel, list, n);
    tsl_lock_take(&program->lock);
    n = program->variants ? program->variants->n : 0; /* none is added while there are kernels */
    list = n ? program->variants->list : NULL;
    tsl_lock_give(&program->lock);
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(list[i]->kernel, kernel->name))
            try_members(kernel, list[i]);
}

void tsl_variants_detach(struct tsl_kernel_part *part, struct tsl_member *member, bool call)
{
    for (unsigned i = 0; i < part->n_variants; i++) {
        if (call)
            member->driver->kernel_free(part->variants[i].kernel);
        tsl_variant_unref(part->variants[i].variant);
    }
    free(part->variants);
    part->variants = NULL;
    part->n_variants = 0;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

#define FEW_ARGS 64u /* descriptions have no more */

#define READ(type, field)                            \
    {                                                \
        type number;                                 \
        memcpy(&number, arg->value, sizeof(number)); \
        value.field = number;                        \
        break;                                       \
    }

static struct tsl_expression_value scalar(enum tsl_variant_type type, const struct tsl_arg *arg)
{
    struct tsl_expression_value value = {.known = true, .real = type >= TSL_VARIANT_FLOAT};
    uint64_t large;

    if (arg->kind != TSL_ARG_VALUE || type <= TSL_VARIANT_OTHER || arg->size != tsl_variant_type_size(type))
        return (struct tsl_expression_value){.known = false};
    switch (type) {
    case TSL_VARIANT_CHAR:
        READ(int8_t, i)
    case TSL_VARIANT_UCHAR:
        READ(uint8_t, i)
    case TSL_VARIANT_SHORT:
        READ(int16_t, i)
    case TSL_VARIANT_USHORT:
        READ(uint16_t, i)
    case TSL_VARIANT_INT:
        READ(int32_t, i)
    case TSL_VARIANT_UINT:
        READ(uint32_t, i)
    case TSL_VARIANT_LONG:
        READ(int64_t, i)
    case TSL_VARIANT_FLOAT:
        READ(float, d)
    case TSL_VARIANT_DOUBLE:
        READ(double, d)
    default:
        memcpy(&large, arg->value, sizeof(large));
        value.known = large <= INT64_MAX;
        value.i = (int64_t)large;
    }
    return value;
}

struct values {
    struct tsl_expression_value scalars[FEW_ARGS];
    uint64_t bytes[FEW_ARGS];
};

static struct tsl_expression_launch values_of(const struct tsl_variant *v, const struct tsl_args *args,
                                              const struct tsl_window *window, struct values *values)
{
    struct tsl_expression_launch launch = {.scalars = values->scalars, .bytes = values->bytes};

    for (unsigned i = 0; i < v->n_args; i++) {
        values->scalars[i] = scalar(v->arg_types[i], &args->args[i]);
        values->bytes[i] = args->args[i].buffer ? args->args[i].buffer->size : 0;
    }
    for (unsigned d = 0; d < 3; d++) {
        bool used = d < window->work_dim;

        launch.global[d] = used ? window->global_size[d] : 1;
        launch.local[d] = window->local_size[0] ? used ? window->local_size[d] : 1 : 0;
        launch.offset[d] = used ? window->global_offset[d] : 0;
    }
    return launch;
}

/* Not for images, whose layout is the member's own, nor for shared memory, whose addresses may lead anywhere. */
static bool suits_args(const struct tsl_variant *v, const struct tsl_args *args)
{
    if (args->n != v->n_args || args->n_all != args->n)
        return false;
    for (cl_uint i = 0; i < args->n; i++) {
        const struct tsl_buffer *b = args->args[i].buffer;

        if (args->args[i].kind == TSL_ARG_SVM ||
            (b && (b->image || tsl_svm_of(b) || b->offset % v->align || (uintptr_t)b->host_ptr % v->align)))
            return false;
    }
    return true;
}

/* Sizes of its own: false if one isn't known, or isn't positive. */
static bool set_sizes(struct tsl_expression *const *sizes, unsigned n, const struct tsl_expression_launch *launch,
                      size_t *to)
{
    for (unsigned d = 0; d < n; d++) {
        int64_t size;

        if (!tsl_expression_integer(sizes[d], launch, &size) || size <= 0)
            return false;
        to[d] = (size_t)size;
    }
    for (unsigned d = n; d < 3; d++)
        to[d] = 1;
    return true;
}

static bool set_window(const struct tsl_variant *v, const struct tsl_expression_launch *launch,
                       struct tsl_window *window)
{
    if (v->n_global) {
        window->work_dim = v->n_global;
        if (!set_sizes(v->global, v->n_global, launch, window->global_size))
            return false;
        memset(window->global_offset, 0, sizeof(window->global_offset));
        memset(window->local_size, 0, sizeof(window->local_size));
    }
    if (v->n_local && (v->n_local != window->work_dim || !set_sizes(v->local, v->n_local, launch, window->local_size)))
        return false;
    for (unsigned d = 0; d < window->work_dim && v->n_local; d++)
        if (window->global_size[d] % window->local_size[d])
            return false;
    return true;
}

bool tsl_variant_takes(const struct tsl_kernel_variant *v, const struct tsl_args *args, const struct tsl_window *window,
                       bool part)
{
    const struct tsl_variant *variant = v->variant;
    struct tsl_window own = *window;
    struct values values;

    if (tsl_variant_state(variant) == TSL_VARIANT_OUT || (part && !v->windows) || !suits_args(variant, args))
        return false;
    struct tsl_expression_launch launch = values_of(variant, args, window, &values);
    for (unsigned i = 0; i < variant->n_guards; i++)
        if (!tsl_expression_holds(variant->guards[i], &launch))
            return false;
    for (unsigned d = 0; d < 3; d++)
        if (launch.offset[d] && (variant->n_global || variant->kind == TSL_VARIANT_CODE))
            return false;
    return set_window(variant, &launch, &own);
}

struct tsl_window tsl_variant_window(const struct tsl_kernel_variant *v, const struct tsl_args *args,
                                     const struct tsl_window *window)
{
    struct tsl_window own = *window;
    struct values values;
    struct tsl_expression_launch launch;

    if (!v->variant->n_global && !v->variant->n_local)
        return own;
    launch = values_of(v->variant, args, window, &values);
    set_window(v->variant, &launch, &own);
    return own;
}
