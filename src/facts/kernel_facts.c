#include "facts/kernel_facts.h"

#include "footprint/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void tsl_kernel_facts_finish(struct tsl_kernel_facts *facts)
{
    for (cl_uint i = 0; facts->args && i < facts->n_args; i++) {
        free(facts->args[i].type_name);
        free(facts->args[i].name);
    }
    free(facts->args);
    free(facts->name);
    free(facts->attributes);
    tsl_footprint_destroy(facts->footprint);
    *facts = (struct tsl_kernel_facts){.n_args = 0};
}

size_t tsl_told_group_size(const struct tsl_kernel_facts *facts)
{
    const size_t *own = facts->recommended_size;
    size_t told = facts->told_group_size, asked = own[0] * own[1] * own[2];

    if (asked > told)
        told = asked;
    return facts->told_group_size && told < facts->work_group_size ? told : facts->work_group_size;
}

bool tsl_text_may_print(const char *source, size_t size, const char *options)
{
    return memmem(source, size, "printf", 6) || memmem(source, size, "include", 7) || memmem(source, size, "##", 2) ||
           strstr(options, "printf");
}

bool tsl_type_is_image(const char *type_name)
{
    size_t length = strlen(type_name);

    return length > 8 && !strncmp(type_name, "image", 5) && isdigit((unsigned char)type_name[5]) &&
           !strncmp(type_name + 6, "d_", 2) && !strcmp(type_name + length - 2, "_t");
}

/* Moves *text behind the word if *text begins with it, as a whole word. */
static bool skip_word(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*text, word, length) || !isspace((unsigned char)(*text)[length]))
        return false;
    *text += length;
    return true;
}

/* The next character of a type's name in its shortest form, 0 at its end: without blanks and the keywords that some
 * vendors leave out. `unsigned int` is `uint` (OpenCL 3.0, clGetKernelArgInfo). */
static char next_char(const char **text, bool *start)
{
    while (**text) {
        if (isspace((unsigned char)**text))
            ++*text;
        else if (*start && (skip_word(text, "struct") || skip_word(text, "union") || skip_word(text, "enum")))
            continue;
        else if (*start && skip_word(text, "unsigned"))
            return *start = false, 'u';
        else
            return *start = false, *(*text)++;
    }
    return 0;
}

static bool same_type(const char *a, const char *b)
{
    bool start_a = true, start_b = true;
    char x, y;

    do {
        x = next_char(&a, &start_a);
        y = next_char(&b, &start_b);
    } while (x == y && x);
    return x == y;
}

static bool same_arg(const struct tsl_arg_fact *a, const struct tsl_arg_fact *b)
{
    if (a->kind == TSL_FACT_UNKNOWN || b->kind == TSL_FACT_UNKNOWN)
        return true;
    if (a->kind != b->kind)
        return false;
    return !a->type_name || !b->type_name || same_type(a->type_name, b->type_name);
}

bool tsl_kernel_facts_same_signature(const struct tsl_kernel_facts *a, const struct tsl_kernel_facts *b)
{
    if (a->n_args != b->n_args)
        return false;
    for (cl_uint i = 0; i < a->n_args; i++)
        if (!same_arg(&a->args[i], &b->args[i]))
            return false;
    return true;
}
