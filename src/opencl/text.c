/* What some vendors' compilers die of (quirks.h, …_kill), found in a program's text. Reads it as it stands, without
 * macros and comments: finding one too many leaves a member out, no more. */
#include "opencl/program.h"

#include <ctype.h>
#include <string.h>

struct text {
    const char *start, *end;
};

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the word stands first, or NULL. */
static const char *find_word(struct text text, struct text word)
{
    size_t length = (size_t)(word.end - word.start);
    const char *at;

    for (const char *from = text.start; from < text.end; from = at + 1) {
        at = memmem(from, (size_t)(text.end - from), word.start, length);
        if (!at)
            return NULL;
        if ((at == text.start || !in_word(at[-1])) && (at + length == text.end || !in_word(at[length])))
            return at;
    }
    return NULL;
}

static struct text text_at(const struct tsl_program_input *input, const struct tsl_program_headers *headers, unsigned i)
{
    const char *start = i ? headers->headers[i - 1].text : input->data;

    return (struct text){start, start + (i ? headers->headers[i - 1].size : input->size)};
}

/* ---- Variables of other programs -------------------------------------------------------------------------------- */

/* Does it stand anywhere but in its declaration? */
static bool is_used(const struct tsl_program_input *input, const struct tsl_program_headers *headers, struct text name)
{
    unsigned found = 0;

    for (unsigned i = 0; i <= headers->n; i++) {
        struct text text = text_at(input, headers, i);

        while (found < 2 && (text.start = find_word(text, name))) {
            text.start += name.end - name.start;
            found++;
        }
    }
    return found > 1;
}

/* Behind the closing bracket that belongs to the one at `at`. */
static const char *skip_brackets(const char *at, const char *end)
{
    unsigned depth = 0;

    while (at < end) {
        depth += *at == '(' || *at == '{' || *at == '[';
        depth -= *at == ')' || *at == '}' || *at == ']';
        at++;
        if (!depth)
            break;
    }
    return at;
}

static bool same(struct text word, const char *other)
{
    size_t length = (size_t)(word.end - word.start);

    return strlen(other) == length && !memcmp(word.start, other, length);
}

/* A declaration behind `extern`: does it name, and not define, a variable that is used? */
static bool declares_used(const struct tsl_program_input *input, const struct tsl_program_headers *headers,
                          struct text text)
{
    struct text name = {NULL, NULL};
    const char *at = text.start;

    while (at < text.end) {
        if (in_word(*at)) {
            for (name.start = at; at < text.end && in_word(*at);)
                at++;
            name.end = at;
        } else if (*at == '{' || *at == '[' || (*at == '(' && name.start && same(name, "__attribute__"))) {
            at = skip_brackets(at, text.end);
        } else if (*at == '(' || *at == '=') {
            return false;
        } else if (*at == ',' || *at == ';') {
            if (name.start && is_used(input, headers, name))
                return true;
            if (*at++ == ';')
                return false;
        } else {
            at++;
        }
    }
    return false;
}

static bool uses_extern(const struct tsl_program_input *input, const struct tsl_program_headers *headers)
{
    static const char word[] = "extern";

    for (unsigned i = 0; i <= headers->n; i++) {
        struct text text = text_at(input, headers, i);

        while ((text.start = find_word(text, (struct text){word, word + strlen(word)}))) {
            text.start += strlen(word);
            if (declares_used(input, headers, text))
                return true;
        }
    }
    return false;
}

/* ---- Samplers ---------------------------------------------------------------------------------------------------- */

enum { SAMPLER_CONSTANT = 1, SAMPLER_ARGUMENT = 2 };

/* What a declaration makes that begins behind `sampler_t`. */
static unsigned kind_of_sampler(struct text text)
{
    for (const char *at = text.start; at < text.end; at++) {
        if (*at == '=')
            return SAMPLER_CONSTANT;
        if (*at == ',' || *at == ')')
            return SAMPLER_ARGUMENT;
    }
    return 0;
}

static bool mixes_samplers(const struct tsl_program_input *input, const struct tsl_program_headers *headers)
{
    static const char word[] = "sampler_t";
    unsigned kinds = 0;

    for (unsigned i = 0; i <= headers->n; i++) {
        struct text text = text_at(input, headers, i);

        while ((text.start = find_word(text, (struct text){word, word + strlen(word)}))) {
            text.start += strlen(word);
            kinds |= kind_of_sampler(text);
        }
    }
    return kinds == (SAMPLER_CONSTANT | SAMPLER_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------------------------------ */

const char *tsl_opencl_deadly_text(const struct tsl_opencl_quirks *quirks, const struct tsl_program_input *input,
                                   const struct tsl_program_headers *headers)
{
    static const struct tsl_program_headers none;

    if (input->kind != TSL_PROGRAM_SOURCE)
        return NULL;
    if (quirks->extern_kills && uses_extern(input, headers ? headers : &none))
        return "the compiler of this device can't share variables between programs (extern)";
    if (quirks->sampler_mix_kills && mixes_samplers(input, headers ? headers : &none))
        return "the compiler of this device takes no program that has both constant samplers and samplers as arguments";
    return NULL;
}
