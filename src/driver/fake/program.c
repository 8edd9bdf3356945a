/* Programs of the fake driver: lines of text, whose kernels have bodies that tests registered. */
#include "driver/fake/internal.h"
#include "footprint/format.h"

#include "facts/il.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registered bodies outlive setups; guarded by tsl_fake.lock. */
static struct fake_body *bodies;

static void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size + 1);

    if (!copy)
        abort();
    return size ? memcpy(copy, bytes, size) : copy;
}

static struct fake_body *find_body_locked(const char *name)
{
    struct fake_body *body;

    HASH_FIND_STR(bodies, name, body);
    return body;
}

void tsl_fake_kernel(const char *name, tsl_fake_body_fn *run, cl_uint n_args, const enum tsl_fact_kind *kinds,
                     const unsigned *access)
{
    struct fake_body *body;

    pthread_mutex_lock(&tsl_fake.lock);
    body = find_body_locked(name);
    if (!body) {
        body = calloc(1, sizeof *body);
        if (!body)
            abort();
        body->name = strdup(name);
        HASH_ADD_KEYPTR(hh, bodies, body->name, strlen(body->name), body);
    }
    free(body->kinds);
    free(body->access);
    body->run = run;
    body->n_args = n_args;
    body->kinds = copy_of(kinds, n_args * sizeof *kinds);
    body->access = copy_of(access, n_args * sizeof *access);
    body->traits = (struct tsl_fake_traits){0};
    pthread_mutex_unlock(&tsl_fake.lock);
}

void tsl_fake_kernel_traits(const char *name, const struct tsl_fake_traits *traits)
{
    struct fake_body *body;

    pthread_mutex_lock(&tsl_fake.lock);
    body = find_body_locked(name);
    if (!body) {
        fprintf(stderr, "tsl_fake_kernel_traits: no kernel %s\n", name);
        abort();
    }
    if (traits && traits->footprint &&
        (!tsl_footprint_is_valid(traits->footprint) || traits->footprint->n_arguments > body->n_args)) {
        fprintf(stderr, "tsl_fake_kernel_traits: the footprint of %s isn't well-formed\n", name);
        abort();
    }
    body->traits = traits ? *traits : (struct tsl_fake_traits){0};
    pthread_mutex_unlock(&tsl_fake.lock);
}

/* Test programs end with their kernels registered: free them where a leak checker would see them. */
__attribute__((destructor)) static void forget_bodies(void)
{
    struct fake_body *body, *next;

    HASH_ITER(hh, bodies, body, next)
    {
        HASH_DEL(bodies, body);
        free(body->name);
        free(body->kinds);
        free(body->access);
        free(body);
    }
}

/* ---- Building ---- */

#define OP_STRING 7 /* SPIR-V: its words are the id and the text */

struct building {
    unsigned member;
    FILE *log, *names;
    bool failed;
    char without[8][64]; /* kernels that this member's program lacks */
    unsigned n_without;
    size_t variables;
};

static void fail(struct building *b, const char *what, const char *detail)
{
    fprintf(b->log, "error: %s%s\n", what, detail);
    b->failed = true;
}

static unsigned count_words(const char *arguments)
{
    unsigned n = *arguments != 0;

    for (; *arguments; arguments++)
        n += *arguments == ',';
    return n;
}

static bool lacks(const struct building *b, const char *name)
{
    for (unsigned i = 0; i < b->n_without; i++)
        if (!strcmp(b->without[i], name))
            return true;
    return false;
}

static void build_kernel_locked(struct building *b, const char *text)
{
    char name[64], arguments[256] = "";
    const struct fake_body *body;

    if (sscanf(text, "%63s %255s", name, arguments) < 1) {
        fail(b, "a kernel without a name", "");
        return;
    }
    body = find_body_locked(name);
    if (!body)
        fail(b, "no body is registered for the kernel ", name);
    else if (count_words(arguments) != body->n_args)
        fail(b, "the number of arguments isn't that of the body of ", name);
    else if (!lacks(b, name))
        fprintf(b->names, "%s%s", ftell(b->names) ? ";" : "", name);
}

/* Reads "N rest": is N this member? *rest is set behind it. */
static bool for_member(const struct building *b, const char *text, const char **rest)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    *rest = *end == ' ' ? end + 1 : end;
    return end != text && n == b->member;
}

static void build_line_locked(struct building *b, const char *line)
{
    const char *rest;

    if (!*line || *line == '#' || *line == '/') {
        return;
    } else if (!strncmp(line, "kernel ", 7)) {
        build_kernel_locked(b, line + 7);
    } else if (!strncmp(line, "log ", 4)) {
        fprintf(b->log, "%s\n", line + 4);
    } else if (!strncmp(line, "error ", 6)) {
        if (for_member(b, line + 6, &rest) || rest == line + 6)
            fail(b, rest, "");
    } else if (!strncmp(line, "variables ", 10)) {
        if (for_member(b, line + 10, &rest) || !*rest)
            b->variables = strtoul(*rest ? rest : line + 10, NULL, 10);
    } else if (strncmp(line, "without ", 8)) {
        fail(b, "can't read the line: ", line);
    }
}

/* These lines count wherever they stand, so they are read first. */
static void without_line(struct building *b, const char *line)
{
    const char *rest;

    if (!strncmp(line, "without ", 8) && for_member(b, line + 8, &rest) && b->n_without < 8)
        snprintf(b->without[b->n_without++], sizeof b->without[0], "%s", rest);
}

static void each_line(struct building *b, const char *text, size_t size,
                      void (*read)(struct building *b, const char *line))
{
    const char *end = text + size;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        char *line = strndup(text, (size_t)((stop ? stop : end) - text));

        read(b, line + strspn(line, " \t"));
        free(line);
        text = stop ? stop + 1 : end;
    }
}

static void build_text_locked(struct building *b, const char *text, size_t size)
{
    each_line(b, text, size, without_line);
    each_line(b, text, size, build_line_locked);
}

static void build_names_locked(struct building *b, const char *names, size_t size)
{
    char *list = strndup(names, size), *rest = NULL;

    for (char *name = strtok_r(list, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        if (find_body_locked(name))
            fprintf(b->names, "%s%s", ftell(b->names) ? ";" : "", name);
        else
            fail(b, "no body is registered for the kernel ", name);
    }
    free(list);
}

/* Of a module: the text of its first OpString, and "special ID = VALUE" in the log for each constant that was set. */
static void build_il_locked(struct building *b, const struct tsl_program_input *input)
{
    const uint32_t *words = input->data;
    size_t n = input->size / sizeof *words, at = 5;

    while (at < n && (words[at] & 0xffff) != OP_STRING)
        at += words[at] >> 16 ? words[at] >> 16 : n;
    for (unsigned i = 0; i < input->n_specials; i++)
        fprintf(b->log, "special %u = %llu\n", input->specials[i].id, (unsigned long long)input->specials[i].value);
    if (at + 2 < n)
        build_text_locked(b, (const char *)&words[at + 2], strnlen((const char *)&words[at + 2], (n - at - 2) * 4));
    else
        fail(b, "the module has no text", "");
}

static const char binary_mark[] = "FAKE BINARY\n";

cl_int tsl_fake_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **built,
                      char **log)
{
    struct building b = {.member = fake_member(member)->number};
    const char *text = input->data;
    size_t size = input->size, mark = sizeof binary_mark - 1, ignored;
    char *names = NULL;
    struct fake_program *program;
    cl_int rc;

    *log = NULL;
    rc = tsl_fake_enter_locked(fake_member(member), TSL_FAKE_BUILD, "build");
    if (rc) {
        *log = strdup("the build was made to fail\n");
        return rc;
    }
    b.log = open_memstream(log, &ignored);
    b.names = open_memstream(&names, &ignored);
    if (input->kind == TSL_PROGRAM_BINARY && size >= mark && !memcmp(text, binary_mark, mark))
        build_text_locked(&b, text + mark, size - mark);
    else if (input->kind == TSL_PROGRAM_SOURCE)
        build_text_locked(&b, text, size);
    else if (input->kind == TSL_PROGRAM_BUILTIN)
        build_names_locked(&b, text, size);
    else if (input->kind == TSL_PROGRAM_IL && fake_member(member)->is.il)
        build_il_locked(&b, input);
    else
        rc = input->kind == TSL_PROGRAM_BINARY ? CL_INVALID_BINARY : CL_INVALID_OPERATION;
    fclose(b.log);
    fclose(b.names);
    if (rc == CL_SUCCESS && b.failed)
        rc = CL_BUILD_PROGRAM_FAILURE;
    if (rc == CL_SUCCESS) {
        program = tsl_fake_new_locked(sizeof *program);
        program->base.member = member;
        program->base.code_size = input->size;
        program->source = memcpy(tsl_fake_new_locked(input->size + 1), input->data, input->size);
        program->variables = b.variables;
        program->names = strcpy(tsl_fake_new_locked(strlen(names) + 1), names);
        tsl_fake.live.programs++;
        *built = &program->base;
    }
    free(names);
    tsl_fake_leave_locked();
    return rc;
}

/* ---- Programs ---- */

static cl_int enter_program_locked(struct tsl_dprogram *base, enum tsl_fake_call call, const char *operation)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base->member), call, operation);

    if (rc || !((struct fake_program *)base)->freed)
        return rc;
    tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s: the program was freed", operation);
    tsl_fake_leave_locked();
    return CL_INVALID_PROGRAM;
}

cl_int tsl_fake_program_binary(struct tsl_dprogram *base, void **data, size_t *size)
{
    const struct fake_program *program = (struct fake_program *)base;
    bool marked = !strncmp(program->source, binary_mark, sizeof binary_mark - 1);
    cl_int rc = enter_program_locked(base, TSL_FAKE_N_CALLS, "program_binary");
    char *text;

    if (rc)
        return rc;
    if (asprintf(&text, "%s%s", marked ? "" : binary_mark, program->source) < 0)
        abort();
    *data = text;
    *size = strlen(text);
    tsl_fake_leave_locked();
    return CL_SUCCESS;
}

void tsl_fake_program_free(struct tsl_dprogram *base)
{
    if (enter_program_locked(base, TSL_FAKE_N_CALLS, "program_free"))
        return;
    ((struct fake_program *)base)->freed = true;
    tsl_fake.live.programs--;
    tsl_fake_leave_locked();
}

cl_int tsl_fake_program_kernels(struct tsl_dprogram *base, char **names)
{
    cl_int rc = enter_program_locked(base, TSL_FAKE_N_CALLS, "program_kernels");

    if (rc)
        return rc;
    *names = strdup(((struct fake_program *)base)->names);
    tsl_fake_leave_locked();
    return CL_SUCCESS;
}

bool tsl_fake_program_variables(struct tsl_dprogram *base, size_t *bytes)
{
    *bytes = ((const struct fake_program *)base)->variables;
    return *bytes > 0;
}

/* ---- Kernels ---- */

static bool program_has(const struct fake_program *program, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = program->names; *at; at += strcspn(at, ";"), at += *at == ';')
        if (strcspn(at, ";") == size && !strncmp(at, name, size))
            return true;
    return false;
}

static void fill_arg_fact(struct tsl_arg_fact *fact, const struct fake_body *body, cl_uint i)
{
    static const cl_kernel_arg_address_qualifier address[] = {
        [TSL_FACT_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL, [TSL_FACT_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
        [TSL_FACT_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,   [TSL_FACT_IMAGE] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [TSL_FACT_PIPE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
    };
    cl_kernel_arg_address_qualifier space = address[body->kinds[i]];

    *fact = (struct tsl_arg_fact){
        .kind = body->kinds[i],
        .may = body->access[i],
        .address = space ? space : CL_KERNEL_ARG_ADDRESS_PRIVATE,
        .access = CL_KERNEL_ARG_ACCESS_NONE,
    };
    if (body->traits.unproven && fact->kind == TSL_FACT_GLOBAL)
        fact->may = TSL_MAY_READ | TSL_MAY_WRITE;
    if (asprintf(&fact->name, "a%u", i) < 0)
        abort();
}

/* NULL also where there is no memory: then nothing is known. */
static struct tsl_footprint *copy_footprint(const struct tsl_footprint *footprint)
{
    struct tsl_writer writer = {0};
    struct tsl_footprint *copy = NULL;

    if (!footprint)
        return NULL;
    tsl_footprint_encode(&writer, footprint);
    if (!writer.failed)
        copy = tsl_footprint_decode(writer.data, writer.size);
    free(writer.data);
    return copy;
}

static void fill_facts(struct tsl_kernel_facts *facts, const struct fake_body *body, const struct fake_member *member)
{
    const struct tsl_fake_traits *traits = &body->traits;

    *facts = (struct tsl_kernel_facts){
        .name = strdup(body->name),
        .attributes = strdup(""),
        .n_args = body->n_args,
        .args = calloc(body->n_args + 1, sizeof *facts->args),
        .work_group_size = member->is.work_group_size,
        .preferred_multiple = 1,
        .local_mem_size = traits->local_mem_size,
        .whole_launch = traits->whole_launch,
        .prints = traits->prints,
        .opaque = traits->opaque,
        .fp64 = traits->fp64,
        .atomics = traits->atomics,
        .proven = !traits->unproven,
        .footprint = copy_footprint(traits->footprint),
    };
    if (!facts->name || !facts->attributes || !facts->args)
        abort();
    memcpy(facts->reqd_size, traits->reqd_size, sizeof facts->reqd_size);
    memcpy(facts->recommended_size, traits->recommended_size, sizeof facts->recommended_size);
    for (cl_uint i = 0; i < body->n_args; i++)
        fill_arg_fact(&facts->args[i], body, i);
}

cl_int tsl_fake_kernel_create(struct tsl_dprogram *base, const char *name, struct tsl_dkernel **created,
                              struct tsl_kernel_facts *facts)
{
    struct fake_kernel *kernel;
    cl_int rc = enter_program_locked(base, TSL_FAKE_KERNEL, "kernel_create");

    if (rc)
        return rc;
    if (!program_has((struct fake_program *)base, name)) {
        rc = CL_INVALID_KERNEL_NAME;
    } else {
        kernel = tsl_fake_new_locked(sizeof *kernel);
        *kernel = (struct fake_kernel){.base.program = base, .body = find_body_locked(name)};
        fill_facts(facts, kernel->body, fake_member(base->member));
        facts->of_windows = ((struct fake_program *)base)->has_windows;
        ((struct fake_program *)base)->has_kernels = true;
        tsl_fake.live.kernels++;
        *created = &kernel->base;
    }
    tsl_fake_leave_locked();
    return rc;
}

/* Its machine code is the name of a kernel that is registered, in the place of the function. */
static struct fake_body *body_of_code_locked(const struct tsl_substitute *what)
{
    char *name = strndup(what->code, what->code_size);
    struct fake_body *body = find_body_locked(name);

    free(name);
    return body && !strcmp(what->function, body->name) ? body : NULL;
}

cl_int tsl_fake_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                           char **log)
{
    cl_int rc = enter_program_locked(original->program, TSL_FAKE_N_CALLS, "substitute");
    struct fake_body *body;
    struct fake_kernel *made;

    *log = strdup("");
    if (rc)
        return rc;
    body = what->call ? NULL : body_of_code_locked(what);
    if (body) {
        made = tsl_fake_new_locked(sizeof *made);
        *made = (struct fake_kernel){.base = *original, .body = body};
        tsl_fake.live.kernels++;
        *kernel = &made->base;
    } else {
        rc = what->call ? CL_INVALID_OPERATION : CL_INVALID_BINARY;
    }
    tsl_fake_leave_locked();
    return rc;
}

/* Its kernels are the same; they say that they are of that text. */
cl_int tsl_fake_windows_by(struct tsl_dprogram *base, const struct tsl_program_input *text)
{
    struct fake_program *program = (struct fake_program *)base;
    cl_int rc = enter_program_locked(base, TSL_FAKE_N_CALLS, "windows_by");

    if (rc)
        return rc;
    if (program->has_kernels || program->has_windows)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "windows_by: the program has kernels, or such a text");
    rc = text->kind == TSL_PROGRAM_SOURCE && text->size ? CL_SUCCESS : CL_INVALID_OPERATION;
    program->has_windows = rc == CL_SUCCESS;
    tsl_fake_leave_locked();
    return rc;
}

void tsl_fake_kernel_free(struct tsl_dkernel *base)
{
    struct fake_kernel *kernel = (struct fake_kernel *)base;

    if (tsl_fake_enter_locked(fake_member(base->program->member), TSL_FAKE_N_CALLS, "kernel_free"))
        return;
    if (kernel->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "kernel_free of %s a second time", kernel->body->name);
    } else {
        kernel->freed = true;
        tsl_fake.live.kernels--;
    }
    tsl_fake_leave_locked();
}

bool tsl_fake_windows_ok(struct tsl_dkernel *base, const struct tsl_kernel_facts *facts)
{
    const struct fake_member *member = fake_member(base->program->member);

    if (tsl_fake_enter_locked(fake_member(base->program->member), TSL_FAKE_N_CALLS, "windows_ok"))
        return false;
    tsl_fake_leave_locked();
    return !facts->whole_launch && !member->is.no_windows;
}
