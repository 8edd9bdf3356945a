/*
 * Build options as text.
 */
#include "facts/build_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of the options: text between blanks, where double quotes and backslashes protect blanks. */
struct word {
    const char *begin, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t tsl_build_options_constant(const char *at)
{
    const char *end = at + 1;

    if (*at != '\'' || !*end || *end == '\'')
        return 0;
    if (*end++ == '\\') {
        if (*end)
            end++;
        while (isalnum((unsigned char)*end)) /* '\x41', '\101' */
            end++;
    }
    return *end == '\'' ? (size_t)(end + 1 - at) : 0;
}

/* The word at or after `at`; false when there is none left. */
static bool next_word(const char *at, struct word *word)
{
    bool quoted = false;

    while (is_blank(*at))
        at++;
    word->begin = at;
    for (; *at && (quoted || !is_blank(*at)); at++) {
        size_t constant = tsl_build_options_constant(at);

        if (constant)
            at += constant - 1;
        else if (*at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
    }
    word->end = at;
    return word->end > word->begin;
}

static bool begins_with(const struct word *word, const char *prefix)
{
    size_t n = strlen(prefix);

    return (size_t)(word->end - word->begin) >= n && strncmp(word->begin, prefix, n) == 0;
}

static bool word_is(const struct word *word, const char *text)
{
    return (size_t)(word->end - word->begin) == strlen(text) && begins_with(word, text);
}

/* -D, -U and -I take their value from the same word or from the next. */
static bool takes_value(const struct word *word)
{
    return begins_with(word, "-D") || begins_with(word, "-U") || begins_with(word, "-I");
}

/* Moves a word that begins with -D, -U or -I to its value; false if there is none. */
static bool to_value(struct word *word)
{
    word->begin += 2;
    return word->begin < word->end || next_word(word->end, word);
}

static cl_int read_std(const struct word *value, unsigned *std)
{
    static const struct {
        const char *name;
        unsigned std;
    } known[] = {{"CL1.0", 100}, {"CL1.1", 110}, {"CL1.2", 120}, {"CL2.0", 200}, {"CL3.0", 300}};

    *std = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (word_is(value, known[i].name))
            *std = known[i].std;
    /* C++ for OpenCL is spelled CLC++, with or without a version. */
    return *std || begins_with(value, "CLC++") ? CL_SUCCESS : CL_INVALID_BUILD_OPTIONS;
}

cl_int tsl_build_options_read(const char *text, struct tsl_build_options *options)
{
    static const char std_prefix[] = "-cl-std=";
    struct word word;

    *options = (struct tsl_build_options){.text = text};
    for (const char *at = text; next_word(at, &word); at = word.end) {
        if (takes_value(&word)) {
            if (!to_value(&word))
                return CL_INVALID_BUILD_OPTIONS;
        } else if (begins_with(&word, std_prefix)) {
            word.begin += sizeof(std_prefix) - 1;
            if (read_std(&word, &options->std) != CL_SUCCESS)
                return CL_INVALID_BUILD_OPTIONS;
            options->std_begin = (size_t)(word.begin - text);
            options->std_end = (size_t)(word.end - text);
        } else if (word_is(&word, "-cl-uniform-work-group-size")) {
            options->uniform = true;
        }
    }
    return CL_SUCCESS;
}

char *tsl_build_options_with(const struct tsl_build_options *options, unsigned std, bool uniform)
{
    const char *first = uniform ? "-cl-uniform-work-group-size " : "";
    char *text;
    int n;

    if (std == options->std)
        n = asprintf(&text, "%s%s", first, options->text);
    else
        n = asprintf(&text, "%s%.*sCL%u.%u%s", first, (int)options->std_begin, options->text, std / 100, std / 10 % 10,
                     options->text + options->std_end);
    return n < 0 ? NULL : text;
}

bool tsl_build_options_name_macro(const struct tsl_build_options *options, const char *name)
{
    size_t n = strlen(name);
    struct word word;

    for (const char *at = options->text; next_word(at, &word); at = word.end) {
        bool macro = begins_with(&word, "-D") || begins_with(&word, "-U");

        if (takes_value(&word) && !to_value(&word))
            return false;
        if (macro && begins_with(&word, name) && (word.begin + n == word.end || word.begin[n] == '='))
            return true;
    }
    return false;
}

char *tsl_build_options_plain(const char *text)
{
    char *rest = calloc(1, strlen(text) + 2), *end = rest;
    struct word word;

    for (const char *at = text; rest && next_word(at, &word); at = word.end) {
        if (takes_value(&word) && to_value(&word))
            continue;
        if (begins_with(&word, "-W"))
            continue;
        end = mempcpy(end, word.begin, (size_t)(word.end - word.begin));
        *end++ = ' ';
    }
    return rest;
}

/* Options whose value is the next word, some of them known to compilers only. */
static bool needs_value(const struct word *word)
{
    static const char *const names[] = {"-D", "-U", "-I", "-x", "-include", "-idirafter", "-iquote", "-isystem"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (word_is(word, names[i]))
            return true;
    return false;
}

bool tsl_build_options_name_file(const char *text)
{
    bool value = false;
    struct word word;

    for (const char *at = text; next_word(at, &word); at = word.end) {
        bool option = begins_with(&word, "-") || begins_with(&word, "\"-");

        if (!value && (!option || word_is(&word, "-")))
            return true;
        value = !value && needs_value(&word);
    }
    return false;
}

bool tsl_build_options_have(const char *text, const char *wanted)
{
    struct word word;

    for (const char *at = text; next_word(at, &word); at = word.end)
        if (word_is(&word, wanted))
            return true;
    return false;
}

bool tsl_build_options_keep_blanks(const char *text)
{
    struct word word;

    for (const char *at = text; next_word(at, &word); at = word.end)
        for (const char *c = word.begin; c < word.end; c++)
            if (is_blank(*c))
                return true;
    return false;
}

/* The hints of OpenCL 3.0, 5.8.6.2 and 5.8.6.3; the last one in both spellings in use. */
static bool is_hint(const struct word *word)
{
    static const char *const hints[] = {
        "-enable-link-options",  "-cl-denorms-are-zero", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
        "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp",  "-cl-no-signed-zeros",           "-cl-no-signed-zeroes"};

    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (word_is(word, hints[i]))
            return true;
    return false;
}

/* How much a compiler is to optimise: no option of OpenCL's, but AMD's and Intel's compilers know it. */
static bool is_level(const struct word *word)
{
    return word_is(word, "-O") || (begins_with(word, "-O") && word->end == word->begin + 3 && isdigit(word->begin[2]));
}

static bool have(const char *text, bool (*is)(const struct word *word))
{
    bool value = false;
    struct word word;

    for (const char *at = text; next_word(at, &word); at = word.end) {
        if (!value && is(&word))
            return true;
        value = !value && needs_value(&word);
    }
    return false;
}

static char *without(const char *text, bool (*is)(const struct word *word))
{
    char *rest = calloc(1, strlen(text) + 2), *end = rest;
    bool value = false;
    struct word word;

    for (const char *at = text; rest && next_word(at, &word); at = word.end) {
        if (!value && is(&word))
            continue;
        value = !value && needs_value(&word);
        end = mempcpy(end, word.begin, (size_t)(word.end - word.begin));
        *end++ = ' ';
    }
    return rest;
}

bool tsl_build_options_have_hints(const char *text)
{
    return have(text, is_hint);
}

char *tsl_build_options_without_hints(const char *text)
{
    return without(text, is_hint);
}

bool tsl_build_options_have_levels(const char *text)
{
    return have(text, is_level);
}

char *tsl_build_options_without_levels(const char *text)
{
    return without(text, is_level);
}
