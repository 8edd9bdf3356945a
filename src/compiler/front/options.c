#include "compiler/front/options.h"

#include "compile_client/compile.h"
#include "compile_client/work_group.h"
#include "compiler/front/front.h"
#include "facts/build_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One front-end target serves both back ends: its bitcode keeps OpenCL's address spaces apart, which x86 merges. */
static const char *const fixed[] = {"-triple", "nvptx64-unknown-unknown",
                                    /* clang-format off */
    "-emit-llvm-bc", "-disable-llvm-passes", "-disable-O0-optnone", "-disable-free", "-discard-value-names",
    "-x", "cl", "-ferror-limit", "19", "-debug-info-kind=line-tables-only", "-finclude-default-header", "-fdeclare-opencl-builtins",
    "-fno-threadsafe-statics", "-ffp-contract=on", "-cl-kernel-arg-info", "-relaxed-aliasing",
    "-resource-dir", KC_RESOURCES,
                                    /* clang-format on */
                                    "-D__OPENCL_VERSION__=300", "-D__IMAGE_SUPPORT__=1"};

#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

/* Options that Clang knows under the same name. */
static const char *const clangs[] = {
    "-cl-single-precision-constant",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-uniform-work-group-size",
    "-w",
    "-Werror",
};

/* Options that permit an optimisation which isn't used, ask for what is always on, or are for others than Clang (to
 * which, without optimisation, inline functions of C have no bodies). */
static const char *const idle[] = {"-cl-kernel-arg-info",
                                   "-cl-opt-disable",
                                   "-cl-denorms-are-zero",
                                   "-cl-strict-aliasing",
                                   "-cl-no-subgroup-ifp",
                                   "-g",
                                   "-O0",
                                   "-O1",
                                   "-O2",
                                   "-O3",
                                   "-s",
                                   "-Os"};

/* The only options that clLinkProgram takes. */
static const char *const linkers[] = {"-create-library",       "-enable-link-options", "-cl-denorms-are-zero",
                                      "-cl-no-signed-zeros",   "-cl-finite-math-only", "-cl-unsafe-math-optimizations",
                                      "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp",  "-cl-mad-enable",
                                      "-cl-opt-disable",       "-cl-no-signed-zeroes"};

#define IS_ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof((list)[0]))

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

struct words {
    char *from, *to; /* read, and written: in place, words only get shorter */
};

/* The next word, with double quotes and backslashes processed as in a shell; NULL at the end. */
static char *next_word(struct words *words)
{
    bool quoted = false;
    char *start;

    while (isspace((unsigned char)*words->from))
        words->from++;
    if (!*words->from)
        return NULL;
    start = words->to;
    for (; *words->from && (quoted || !isspace((unsigned char)*words->from)); words->from++) {
        size_t constant = tsl_build_options_constant(words->from);

        if (constant) {
            memmove(words->to, words->from, constant);
            words->to += constant;
            words->from += constant - 1;
        } else if (*words->from == '"') {
            quoted = !quoted;
        } else {
            words->from += *words->from == '\\' && words->from[1];
            *words->to++ = *words->from;
        }
    }
    if (*words->from)
        words->from++;
    *words->to++ = 0;
    return start;
}

/* ---- Meaning ----------------------------------------------------------------------------------------------------- */

static void add(struct kc_options *options, const char *arg)
{
    options->args[options->n_args++] = arg;
}

static unsigned std_of(const char *value)
{
    static const unsigned versions[] = {100, 110, 120, 200, 300};
    unsigned major, minor;
    char rest;

    if (sscanf(value, "CL%u.%u%c", &major, &minor, &rest) == 2)
        for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
            if (versions[i] == 100 * major + 10 * minor)
                return versions[i];
    return 0;
}

/* What the library says of its own. */
static bool take_own(struct kc_options *options, const char *word)
{
    bool checks = strcmp(word, TSL_WG_CHECK_OPTION) == 0;

    options->check_accesses |= checks;
    return checks;
}

/* What counts when it is linked, too. The one for inexact arithmetic includes that for subnormal numbers (OpenCL 3.0,
 * 5.8.6.2). */
static void note(struct kc_options *options, const char *word)
{
    bool relaxed = !strcmp(word, "-cl-unsafe-math-optimizations") || !strcmp(word, "-cl-fast-relaxed-math");

    options->optimise &= strcmp(word, "-cl-opt-disable") != 0;
    options->relaxed |= relaxed;
    options->flushes |= relaxed || !strcmp(word, "-cl-denorms-are-zero");
}

/* False: not an option of the language. */
static bool read_option(struct kc_options *options, const char *word, struct words *words, char **why)
{
    if (take_own(options, word))
        return true;
    if ((word[0] == '-' && (word[1] == 'D' || word[1] == 'I' || word[1] == 'U'))) {
        const char *value = word[2] ? NULL : next_word(words);

        if (!word[2] && !value && asprintf(why, "%s has nothing behind it", word) < 0)
            *why = NULL;
        add(options, word);
        if (value)
            add(options, value);
        return word[2] || value;
    }
    if (strncmp(word, "-cl-std=", 8) == 0) {
        options->std = std_of(word + 8);
        add(options, word);
        if (options->std)
            return true;
        if (asprintf(why, "%s: the versions are CL1.0, CL1.1, CL1.2, CL2.0 and CL3.0", word) < 0)
            *why = NULL;
        return false;
    }
    if (IS_ONE_OF(word, clangs) || strncmp(word, "-W", 2) == 0)
        add(options, word);
    else if (!IS_ONE_OF(word, idle)) {
        if (asprintf(why, "%s: this option isn't known", word) < 0)
            *why = NULL;
        return false;
    }
    note(options, word);
    options->uniform |= strcmp(word, "-cl-uniform-work-group-size") == 0;
    options->exact |= strcmp(word, "-cl-fp32-correctly-rounded-divide-sqrt") == 0;
    return true;
}

static bool read_link_option(struct kc_options *options, const char *word, char **why)
{
    if (take_own(options, word))
        return true;
    if (!IS_ONE_OF(word, linkers)) {
        if (asprintf(why, "%s: the linker doesn't know this option", word) < 0)
            *why = NULL;
        return false;
    }
    note(options, word);
    options->create_library |= strcmp(word, "-create-library") == 0;
    return true;
}

#define PROMISED                                                                                                    \
    TSL_COMPILE_EXTENSIONS " " TSL_COMPILE_HALF_EXTENSION " " TSL_COMPILE_IMAGE_EXTENSIONS " " TSL_COMPILE_FEATURES \
                           " " TSL_COMPILE_IMAGE_FEATURES

/* "a b c" as "-cl-ext=-all,+a,+b,+c". */
static char *extension_argument(void)
{
    static char text[sizeof("-cl-ext=-all") + 2 * sizeof(PROMISED)];
    const char *from = PROMISED;
    char *to = stpcpy(text, "-cl-ext=-all,+");

    for (; *from; from++) {
        if (*from == ' ') {
            *to++ = ',';
            *to++ = '+';
        } else
            *to++ = *from;
    }
    *to = 0;
    return text;
}

/* Macros of extensions that Clang doesn't know, as they add nothing to the language, and of features that it leaves to
 * headers. */
static void add_macros(struct kc_options *options)
{
    static const char *const macros[] = {"-D__opencl_c_atomic_order_acq_rel=1", "-D__opencl_c_atomic_order_seq_cst=1",
                                         "-D__opencl_c_atomic_scope_device=1",
                                         "-D__opencl_c_work_group_collective_functions=1"};

    add(options, "-Dcl_khr_image2d_from_buffer=1");
    for (size_t i = 0; options->std >= 300 && i < sizeof(macros) / sizeof(macros[0]); i++)
        add(options, macros[i]);
}

bool kc_options_read(const char *text, bool linking, struct kc_options *options, char **why)
{
    struct words words;
    char *word;

    *why = NULL;
    *options = (struct kc_options){.optimise = true, .std = 120};
    /* Each word has at least a letter and a blank, and gives at most one argument. */
    options->args = calloc(N_FIXED + 8 + strlen(text) / 2 + 1, sizeof(options->args[0]));
    options->words = malloc(2 * strlen(text) + 2);
    if (!options->args || !options->words)
        goto failed;
    strcpy(options->words, text);
    for (size_t i = 0; i < N_FIXED; i++)
        add(options, fixed[i]);
    add(options, extension_argument());
    words = (struct words){options->words, options->words};
    while ((word = next_word(&words)))
        if (linking ? !read_link_option(options, word, why) : !read_option(options, word, &words, why))
            goto failed;
    add_macros(options);
    return true;
failed:
    kc_options_finish(options);
    return false;
}

void kc_options_finish(struct kc_options *options)
{
    free(options->args);
    free(options->words);
    *options = (struct kc_options){.n_args = 0};
}
