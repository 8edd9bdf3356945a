/*
 * Binaries that were made before, for devices that have no compiler: FPGAs. A program of source is looked for in the
 * folder TESELA_BINARIES, by its text or by the names of its kernels; docs/user/fpga.md has the rule.
 */
#include "opencl/prebuilt.h"
#include "opencl/program.h"

#include "base/log.h"
#include "base/settings.h"
#include "compile_client/digest.h"
#include "driver/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_KERNELS 64u

static const char *const suffixes[] = {"aocx", "xclbin", "bin"};

#define N_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static void no_sentence(void *arg, const char *sentence)
{
    (void)arg, (void)sentence;
}

/* What the line FPGA of this device says; NULL: there is none. */
static const char *exec_mode(const struct tsl_opencl_member *m)
{
    const struct tsl_config *config = tsl_config_get(no_sentence, NULL);

    for (size_t i = 0; i < config->n; i++)
        if (config->devices[i].kind == TSL_CONFIG_FPGA && !strcmp(config->devices[i].id, m->base.path->id))
            return config->devices[i].exec_mode;
    return NULL;
}

bool tsl_opencl_has_compiler(const struct tsl_opencl_member *m)
{
    cl_bool available;

    return m->cl->clGetDeviceInfo(m->device->id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(available), &available, NULL) ||
           available;
}

bool tsl_opencl_takes_prebuilt(const struct tsl_opencl_member *m)
{
    return exec_mode(m) || !tsl_opencl_has_compiler(m);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n")];
}

void tsl_opencl_program_name(const char *text, size_t size, const char *options, char name[TSL_OPENCL_NAME_SIZE + 1])
{
    uint8_t sum[TSL_DIGEST_SIZE];
    struct tsl_digest digest;

    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, text, size);
    if (!is_blank(options)) {
        tsl_digest_add(&digest, "", 1);
        tsl_digest_add(&digest, options, strlen(options));
    }
    tsl_digest_end(&digest, sum);
    for (unsigned i = 0; i < TSL_OPENCL_NAME_SIZE / 2; i++)
        snprintf(name + 2 * i, 3, "%02x", sum[i]);
}

/* A copy of the text with blanks for its comments and strings; NULL without memory. */
static char *without_comments(const char *text, size_t size)
{
    char *copy = strndup(text, size), inside = 0;

    for (char *at = copy; at && *at; at++) {
        bool ends = inside == '\n' ? *at == '\n' : inside == '*' ? *at == '*' && at[1] == '/' : *at == inside;

        if (!inside && *at == '/' && (at[1] == '/' || at[1] == '*'))
            inside = at[1] == '/' ? '\n' : '*';
        else if (!inside && (*at == '"' || *at == '\''))
            inside = *at;
        else if (!inside)
            continue;
        else if (*at == '\\' && at[1])
            *at++ = ' ';
        else if (ends) {
            if (inside == '*')
                *at++ = ' ';
            inside = 0;
        }
        if (*at != '\n')
            *at = ' ';
    }
    return copy;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next word, bracket or other sign; *length 0 at the end. */
static const char *token(const char *at, size_t *length)
{
    at += strspn(at, " \t\r\n\f\v");
    for (*length = 0; in_word(at[*length]);)
        ++*length;
    if (!*length && *at)
        *length = 1;
    return at;
}

static bool is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(at, word, length);
}

/* Behind the brackets that begin here, if any do. */
static const char *skip_brackets(const char *at)
{
    unsigned depth = 0;

    at += strspn(at, " \t\r\n\f\v");
    if (*at != '(')
        return at;
    do {
        depth += *at == '(';
        depth -= *at == ')';
    } while (*at++ && depth && *at);
    return at;
}

/* Behind the word `kernel`: attributes, void, attributes, the name and a bracket. NULL: it is no definition. */
static const char *kernel_name(const char *at, size_t *length)
{
    bool is_void = false;

    for (;;) {
        at = token(at, length);
        if (is(at, *length, "__attribute__") || is(at, *length, "__attribute"))
            at = skip_brackets(at + *length);
        else if (is(at, *length, "void") && !is_void)
            is_void = true, at += *length;
        else
            break;
    }
    if (!is_void || !in_word(*at))
        return NULL;
    return at[*length + strspn(at + *length, " \t\r\n\f\v")] == '(' ? at : NULL;
}

static bool known(const char *names, const char *name, size_t length)
{
    for (const char *at = names; *at; at += strcspn(at, ";"), at += *at == ';')
        if (strcspn(at, ";") == length && !strncmp(at, name, length))
            return true;
    return false;
}

static bool add_name(char **names, const char *name, size_t length)
{
    char *more;

    if (known(*names, name, length))
        return true;
    if (asprintf(&more, "%s%s%.*s", *names, **names ? ";" : "", (int)length, name) < 0)
        return false;
    free(*names);
    *names = more;
    return true;
}

char *tsl_opencl_kernels_in(const char *text, size_t size)
{
    char *plain = without_comments(text, size), *names = strdup("");
    unsigned n = 0;
    size_t length = 1;

    for (const char *at = plain; names && at && n < MAX_KERNELS; at += length) {
        const char *name;
        size_t name_length;

        at = token(at, &length);
        if (!length)
            break;
        if (!is(at, length, "kernel") && !is(at, length, "__kernel"))
            continue;
        name = kernel_name(at + length, &name_length);
        if (name && !add_name(&names, name, name_length)) {
            free(names);
            names = NULL;
        }
        n += name != NULL;
    }
    free(plain);
    return names;
}

bool tsl_opencl_add_kernels(char **names, const char *more)
{
    char *both = strdup(*names);
    bool added = both != NULL;

    for (const char *at = more; *at && added; at += strcspn(at, ";"), at += *at == ';')
        added = add_name(&both, at, strcspn(at, ";"));
    if (!added) {
        free(both);
        return false;
    }
    free(*names);
    *names = both;
    return true;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The lookup of one program. */
struct search {
    struct tsl_opencl_member *member;
    const char *folder, *mode;
    FILE *log;
    bool refused; /* a file is there, and the device doesn't take it */
    bool any;     /* files were found */
};

/* The whole file (heap); NULL: there is none, or it can't be read, which the log then says. */
static unsigned char *read_file(struct search *s, const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    unsigned char *data = NULL;
    struct stat about;

    if (!file) {
        if (errno != ENOENT && errno != ENOTDIR)
            fprintf(s->log, "%s can't be read: %s\n", path, strerror(errno));
        return NULL;
    }
    if (!fstat(fileno(file), &about) && S_ISREG(about.st_mode)) {
        *size = (size_t)about.st_size;
        data = malloc(*size + 1);
    }
    if (!data || fread(data, 1, *size, file) != *size) {
        fprintf(s->log, "%s can't be read\n", path);
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

static cl_int load(struct search *s, const char *path, const unsigned char *data, size_t size,
                   struct tsl_opencl_program *p)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_BINARY, .data = data, .size = size, .options = "", .foreign = true};
    struct tsl_opencl_member *m = s->member;
    cl_program *more = realloc(p->more, (p->n_more + 1) * sizeof(cl_program)), program;
    char *said = NULL;
    cl_int error;

    if (!more)
        return CL_OUT_OF_HOST_MEMORY;
    p->more = more;
    error = tsl_opencl_build_one(m, &input, "", &program, &said);
    if (!error && !p->program)
        p->program = program;
    else if (!error)
        p->more[p->n_more++] = program;
    if (error)
        fprintf(s->log, "%s is not taken by the device (error %d): is it for this board%s%s?\n", path, error,
                s->mode ? ", made for " : "", s->mode ? s->mode : "");
    if (said && *said)
        fprintf(s->log, "%s\n", said);
    free(said);
    s->any = true;
    s->refused |= error != CL_SUCCESS;
    tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_INFO, "%s: %s loaded (error %d)", m->base.path->id, path, error);
    return CL_SUCCESS;
}

/* The first of the files of that name is loaded. *found: there was one, good or not. An error: memory ran out. */
static cl_int look_for(struct search *s, const char *name, int length, struct tsl_opencl_program *p, bool *found)
{
    cl_int error = CL_SUCCESS;

    *found = false;
    for (size_t i = 0; i < N_SUFFIXES && !*found && !error; i++) {
        unsigned char *data;
        size_t size;
        char *path;

        if (asprintf(&path, "%s/%.*s%s%s.%s", s->folder, length, name, s->mode ? "." : "", s->mode ? s->mode : "",
                     suffixes[i]) < 0)
            return CL_OUT_OF_HOST_MEMORY;
        data = read_file(s, path, &size);
        *found = data != NULL;
        if (data)
            error = load(s, path, data, size, p);
        free(data);
        free(path);
    }
    return error;
}

static void say_missing(const struct search *s, const char *what, const char *name, int length)
{
    fprintf(s->log, "there is no binary %s: looked for %s/%.*s%s%s.%s, .%s and .%s\n", what, s->folder, length, name,
            s->mode ? "." : "", s->mode ? s->mode : "", suffixes[0], suffixes[1], suffixes[2]);
}

/* One file for each kernel that has one. */
static cl_int look_for_kernels(struct search *s, const char *names, struct tsl_opencl_program *p)
{
    cl_int error = CL_SUCCESS;

    for (const char *at = names; *at && !error; at += strcspn(at, ";"), at += *at == ';') {
        int length = (int)strcspn(at, ";");
        bool found;

        error = look_for(s, at, length, p, &found);
        if (!error && !found)
            say_missing(s, "by this kernel's name", at, length);
    }
    return error;
}

static cl_int search(struct search *s, const struct tsl_program_input *input, struct tsl_opencl_program *p)
{
    char name[TSL_OPENCL_NAME_SIZE + 1], *kernels;
    const char *text = input->text ? input->text : input->data;
    size_t size = input->text ? input->text_size : input->size;
    bool found;
    cl_int error;

    tsl_opencl_program_name(text, size, input->text ? input->text_options : input->options, name);
    error = look_for(s, name, (int)strlen(name), p, &found);
    if (error || found)
        return error;
    say_missing(s, "by the program's text", name, (int)strlen(name));
    kernels = tsl_opencl_kernels_in(text, size);
    error = kernels ? look_for_kernels(s, kernels, p) : CL_OUT_OF_HOST_MEMORY;
    free(kernels);
    return error;
}

/* A program of source (input), or kernels by their names. */
static cl_int load_what_is_there(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                 const char *kernels, struct tsl_opencl_program *p, char **log)
{
    struct search s = {.member = m, .folder = tsl_settings()->binaries, .mode = exec_mode(m)};
    cl_int error = CL_SUCCESS;
    size_t size;

    s.log = open_memstream(log, &size);
    if (!s.log)
        return CL_OUT_OF_HOST_MEMORY;
    if (!s.folder)
        fputs(TSL_OPENCL_NO_BINARIES, s.log);
    else
        error = input ? search(&s, input, p) : look_for_kernels(&s, kernels, p);
    if (!error && !p->program) {
        error = s.refused ? CL_BUILD_PROGRAM_FAILURE : CL_COMPILER_NOT_AVAILABLE;
        if (s.folder)
            fputs("make such a binary with the vendor's compiler and put it there, or leave the device out "
                  "(TESELA_MEMBERS)\n",
                  s.log);
    }
    if (fclose(s.log))
        error = CL_OUT_OF_HOST_MEMORY;
    if (error && s.folder && *log)
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_WARN, "%s: %s", m->base.path->id, *log);
    return error;
}

cl_int tsl_opencl_load_prebuilt(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                struct tsl_opencl_program *p, char **log)
{
    return load_what_is_there(m, input, NULL, p, log);
}

cl_int tsl_opencl_link_prebuilt(struct tsl_opencl_member *m, const char *kernels, struct tsl_opencl_program *p,
                                char **log)
{
    cl_int error = load_what_is_there(m, NULL, kernels, p, log);

    return error == CL_BUILD_PROGRAM_FAILURE    ? CL_LINK_PROGRAM_FAILURE
           : error == CL_COMPILER_NOT_AVAILABLE ? CL_LINKER_NOT_AVAILABLE
                                                : error;
}
