/* Descriptions of variants: their lines. */
#include "base/bytes.h"
#include "base/line_said.h"
#include "compile_client/digest.h"
#include "variant/variant.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MAX_ARGS 64u

struct parser {
    struct tsl_variant *variant;
    const char *name, *folder;
    tsl_variant_say_fn *say;
    void *arg;
    unsigned line;
    bool failed, has_program, has_arguments;
};

static void say(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct parser *p, const char *format, ...)
{
    va_list args;

    p->failed = true;
    va_start(args, format);
    tsl_line_said(p->say, p->arg, p->name, p->line, ": the variant is left out", format, args);
    va_end(args);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Cuts the first word off. "" at the end. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t"), *end = word + strcspn(word, " \t");

    *rest = *end ? end + 1 : end;
    *end = 0;
    *rest += strspn(*rest, " \t");
    return word;
}

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

static bool set(struct parser *p, char **field, const char *value)
{
    free(*field);
    *field = strdup(value);
    if (!*field)
        say(p, "memory ran out");
    return *field;
}

static bool is_truth(const char *word, bool *value)
{
    *value = !strcasecmp(word, "yes");
    return *value || !strcasecmp(word, "no");
}

static bool read_size(const char *word, size_t *value)
{
    char *end;
    unsigned long long number;

    if (!isdigit((unsigned char)*word))
        return false;
    errno = 0;
    number = strtoull(word, &end, 10);
    *value = (size_t)number;
    return !*end && !errno && number;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void read_name(struct parser *p, char *rest)
{
    const char *name = next_word(&rest);

    if (!is_name(name) || *rest)
        say(p, "NAME is not understood: write a word of letters and digits");
    else
        set(p, &p->variant->name, name);
}

static void read_kernel(struct parser *p, char *rest)
{
    const char *name = next_word(&rest);

    if (!is_name(name) || *rest)
        say(p, "KERNEL is not understood: write the name of one kernel");
    else
        set(p, &p->variant->kernel, name);
}

static bool is_digest(const char *word)
{
    return strlen(word) == 64 && strspn(word, "0123456789abcdef") == 64;
}

static void read_program(struct parser *p, char *rest)
{
    struct tsl_variant *v = p->variant;

    p->has_program = true;
    for (char *word = next_word(&rest); *word; word = next_word(&rest)) {
        char **more = NULL;

        if (!strcasecmp(word, "any")) {
            v->any_program = true;
            continue;
        }
        for (char *c = word; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        if (is_digest(word))
            more = realloc(v->digests, (v->n_digests + 1) * sizeof(*more));
        else
            say(p, "PROGRAM is not understood: write the SHA-256 of the program's text (TESELA_LOG=program:info tells "
                   "it), or any");
        if (!more)
            return;
        v->digests = more;
        more[v->n_digests] = strdup(word);
        v->n_digests += more[v->n_digests] != NULL;
    }
}

static void read_options(struct parser *p, char *rest)
{
    set(p, &p->variant->options, rest);
}

static void read_members(struct parser *p, char *rest)
{
    set(p, &p->variant->members, rest);
}

static const char *const type_names[TSL_VARIANT_N_TYPES] = {
    "buffer", "local", "other", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"};

static bool read_type(const char *word, enum tsl_variant_type *type)
{
    for (unsigned i = 0; i < TSL_VARIANT_N_TYPES; i++)
        if (!strcasecmp(word, type_names[i])) {
            *type = (enum tsl_variant_type)i;
            return true;
        }
    return false;
}

static void read_arguments(struct parser *p, char *rest)
{
    struct tsl_variant *v = p->variant;

    if (p->has_arguments) {
        say(p, "ARGUMENTS stands there twice");
        return;
    }
    p->has_arguments = true;
    v->arg_names = calloc(MAX_ARGS, sizeof(*v->arg_names));
    v->arg_types = calloc(MAX_ARGS, sizeof(*v->arg_types));
    for (char *word = next_word(&rest); *word && !p->failed; word = next_word(&rest)) {
        char *colon = strchr(word, ':');

        if (colon)
            *colon = 0;
        if (!v->arg_names || !v->arg_types || v->n_args == MAX_ARGS) {
            say(p, "these are too many arguments");
        } else if (!colon || !is_name(word) || !read_type(colon + 1, &v->arg_types[v->n_args])) {
            say(p, "ARGUMENTS is not understood: write NAME:TYPE for each argument, with the types buffer, local, "
                   "other, char, uchar, short, ushort, int, uint, long, ulong, float or double");
        } else {
            v->arg_names[v->n_args] = strdup(word);
            v->n_args++;
        }
    }
}

/* A path as the description's folder has it. */
static char *path_of(const struct parser *p, const char *word)
{
    char *path = NULL;

    if (word[0] == '/' || !p->folder)
        return strdup(word);
    return asprintf(&path, "%s/%s", p->folder, word) < 0 ? NULL : path;
}

static void read_implementation(struct parser *p, enum tsl_variant_kind kind, char *rest)
{
    struct tsl_variant *v = p->variant;
    const char *file = kind == TSL_VARIANT_GIVEN ? "" : next_word(&rest), *function = next_word(&rest);

    if (v->kind != TSL_VARIANT_NOTHING) {
        say(p, "a variant has one of OPENCL, CODE, FUNCTION and GIVEN");
        return;
    }
    if ((kind != TSL_VARIANT_GIVEN && !*file) || *rest ||
        ((kind == TSL_VARIANT_CODE || kind == TSL_VARIANT_FUNCTION) && !*function)) {
        say(p, "the implementation is not understood: write OPENCL FILE [KERNEL], CODE FILE FUNCTION, FUNCTION LIBRARY "
               "NAME or GIVEN");
        return;
    }
    v->kind = kind;
    v->file = path_of(p, file);
    set(p, &v->function, function);
    if (!v->file)
        say(p, "memory ran out");
}

static void read_build(struct parser *p, char *rest)
{
    set(p, &p->variant->build_options, rest);
}

static struct tsl_expression *read_expression(struct parser *p, const char *text)
{
    struct tsl_variant *v = p->variant;
    const struct tsl_expression_names names = {v->n_args, (const char *const *)v->arg_names};
    char *why;
    struct tsl_expression *e = tsl_expression_parse(text, &names, &why);

    if (!e)
        say(p, "%s", why ? why : "memory ran out");
    free(why);
    return e;
}

static void read_guard(struct parser *p, char *rest)
{
    struct tsl_variant *v = p->variant;
    struct tsl_expression **more = realloc(v->guards, (v->n_guards + 1) * sizeof(*more)), *e;

    if (!more) {
        say(p, "memory ran out");
        return;
    }
    v->guards = more;
    e = read_expression(p, rest);
    if (e)
        v->guards[v->n_guards++] = e;
}

static unsigned read_sizes(struct parser *p, char *rest, struct tsl_expression *sizes[3])
{
    unsigned n = 0;
    char *next;

    for (char *item = rest; item && !p->failed; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = 0;
        if (n == 3)
            say(p, "a launch has three dimensions at most");
        else if ((sizes[n] = read_expression(p, item)))
            n++;
    }
    return n;
}

static void read_result(struct parser *p, char *rest)
{
    struct tsl_promise *promise = &p->variant->promise;
    const char *word = next_word(&rest), *bound = next_word(&rest), *type = next_word(&rest);
    char *end;

    if (!strcasecmp(word, "bitwise") && !*bound) {
        promise->kind = TSL_PROMISE_BITWISE;
        return;
    }
    promise->kind = !strcasecmp(word, "ulps") ? TSL_PROMISE_ULPS : TSL_PROMISE_RELATIVE;
    promise->bound = strtod(bound, &end);
    promise->doubles = !strcasecmp(type, "double");
    if ((promise->kind == TSL_PROMISE_RELATIVE && strcasecmp(word, "relative")) || !*bound || *end ||
        !(promise->bound >= 0) || (!promise->doubles && strcasecmp(type, "float")) || *rest)
        say(p, "RESULT is not understood: write bitwise, ulps N float, or relative X float (or double)");
}

static void read_truth_line(struct parser *p, const char *what, char *rest, bool *value)
{
    if (!is_truth(next_word(&rest), value) || *rest)
        say(p, "%s is not understood: write yes or no", what);
}

static void read_align(struct parser *p, char *rest)
{
    size_t *align = &p->variant->align;

    if (!read_size(next_word(&rest), align) || *align & (*align - 1) || *rest)
        say(p, "ALIGN is not understood: write a power of two, in bytes");
}

static void read_use(struct parser *p, char *rest)
{
    const char *word = next_word(&rest);

    p->variant->always = !strcasecmp(word, "always");
    if ((!p->variant->always && strcasecmp(word, "measured")) || *rest)
        say(p, "USE is not understood: write measured or always");
}

static void read_global(struct parser *p, char *rest)
{
    p->variant->n_global = read_sizes(p, rest, p->variant->global);
}

static void read_local(struct parser *p, char *rest)
{
    p->variant->n_local = read_sizes(p, rest, p->variant->local);
}

static void read_windows(struct parser *p, char *rest)
{
    read_truth_line(p, "WINDOWS", rest, &p->variant->windows);
}

static void read_trial(struct parser *p, char *rest)
{
    read_truth_line(p, "TRIAL", rest, &p->variant->trial);
}

static void read_opencl(struct parser *p, char *rest)
{
    read_implementation(p, TSL_VARIANT_OPENCL, rest);
}

static void read_code(struct parser *p, char *rest)
{
    read_implementation(p, TSL_VARIANT_CODE, rest);
}

static void read_function(struct parser *p, char *rest)
{
    read_implementation(p, TSL_VARIANT_FUNCTION, rest);
}

static void read_given(struct parser *p, char *rest)
{
    read_implementation(p, TSL_VARIANT_GIVEN, rest);
}

static const struct {
    const char *word;
    void (*read)(struct parser *p, char *rest);
} lines[] = {
    {"KERNEL", read_kernel}, {"PROGRAM", read_program},     {"OPTIONS", read_options}, {"MEMBERS", read_members},
    {"OPENCL", read_opencl}, {"ARGUMENTS", read_arguments}, {"CODE", read_code},       {"FUNCTION", read_function},
    {"GIVEN", read_given},   {"BUILD", read_build},         {"GUARD", read_guard},     {"GLOBAL", read_global},
    {"LOCAL", read_local},   {"RESULT", read_result},       {"ALIGN", read_align},     {"WINDOWS", read_windows},
    {"USE", read_use},       {"NAME", read_name},           {"TRIAL", read_trial},
};

/* Blanks around it, and what follows a #, are dropped. */
static void read_line(struct parser *p, char *line)
{
    size_t length;
    char *word;

    line[strcspn(line, "#\r")] = 0;
    for (length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
        line[--length] = 0;
    word = next_word(&line);
    if (!*word || p->failed)
        return;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strcasecmp(word, lines[i].word)) {
            lines[i].read(p, line);
            return;
        }
    say(p, "%s is not understood: docs/user/variants.md has the words that begin a line", word);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void check_whole(struct parser *p)
{
    const struct tsl_variant *v = p->variant;

    if (p->failed)
        return;
    if (!v->kernel)
        say(p, "the line KERNEL is missing");
    else if (v->kind == TSL_VARIANT_NOTHING)
        say(p, "a line OPENCL, CODE, FUNCTION or GIVEN is missing");
    else if (!p->has_arguments)
        say(p, "the line ARGUMENTS is missing");
    else if (!p->has_program && v->kind != TSL_VARIANT_GIVEN)
        say(p, "the line PROGRAM is missing");
    else if (v->windows && (v->n_global || v->n_local))
        say(p, "a variant with sizes of its own can't run parts of launches: take WINDOWS out");
}

/* Times that were learned hold for the same description and the same file. */
static uint64_t sum_of(const char *text, const char *file)
{
    struct stat status = {0};
    uint64_t sums[3] = {tsl_bytes_sum(text, strlen(text))};

    if (file && stat(file, &status) == 0) {
        sums[1] = (uint64_t)status.st_size;
        sums[2] = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
    }
    return tsl_bytes_sum(sums, sizeof(sums));
}

static struct tsl_variant *create(const char *name)
{
    struct tsl_variant *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    atomic_init(&v->refs, 1);
    tsl_lock_init(&v->calls);
    v->trial = true;
    v->align = 1;
    v->name = strdup(name);
    v->options = strdup("");
    v->members = strdup("");
    v->build_options = strdup("");
    if (v->name && v->options && v->members && v->build_options)
        return v;
    tsl_variant_unref(v);
    return NULL;
}

struct tsl_variant *tsl_variant_parse(const char *text, const char *name, const char *folder, tsl_variant_say_fn *fn,
                                      void *arg)
{
    struct parser p = {.variant = create(name), .name = name, .folder = folder, .say = fn, .arg = arg};

    const char *whole = text;

    if (!p.variant)
        return NULL;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);

        p.line++;
        if (line)
            read_line(&p, line);
        free(line);
        text += length + (text[length] == '\n');
    }
    check_whole(&p);
    p.variant->sum = sum_of(whole, p.variant->file);
    if (!p.failed)
        return p.variant;
    tsl_variant_unref(p.variant);
    return NULL;
}

void tsl_variant_digest(const void *text, size_t size, char digest[65])
{
    struct tsl_digest d;
    uint8_t bytes[TSL_DIGEST_SIZE];

    tsl_digest_begin(&d);
    tsl_digest_add(&d, text, size);
    tsl_digest_end(&d, bytes);
    for (unsigned i = 0; i < TSL_DIGEST_SIZE; i++)
        snprintf(digest + 2 * i, 3, "%02x", bytes[i]);
}
