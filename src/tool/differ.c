#include "tool/differ.h"

#include "tool/printable.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts longer than this are compared as files are. */
#define MAX_TEXT (64u << 20)

/* The file's text (heap); NULL: unreadable, or too long. */
static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "re"), *copy;
    char *text = NULL, block[65536];
    size_t n, all = 0;

    if (!file)
        return NULL;
    copy = open_memstream(&text, length);
    while (copy && all <= MAX_TEXT && (n = fread(block, 1, sizeof block, file)) > 0) {
        fwrite(block, 1, n, copy);
        all += n;
    }
    fclose(file);
    if (copy && fclose(copy) == 0 && all <= MAX_TEXT)
        return text;
    free(text);
    return NULL;
}

/* The next word of a text: blanks are skipped, lines counted. A number is a word of its own. */
struct words {
    const char *at;
    unsigned line;
    const char *word;
    size_t length;
    bool is_number;
    double number;
};

static bool starts_number(const char *at)
{
    if (*at == '-' || *at == '+')
        at++;
    return isdigit((unsigned char)at[0]) || (at[0] == '.' && isdigit((unsigned char)at[1]));
}

static bool next_word(struct words *w)
{
    char *end;

    for (; isspace((unsigned char)*w->at); w->at++)
        w->line += *w->at == '\n';
    w->word = w->at;
    w->is_number = starts_number(w->at);
    if (w->is_number) {
        w->number = strtod(w->at, &end);
        w->at = end;
    } else {
        while (*w->at && !isspace((unsigned char)*w->at) && (w->at == w->word || !starts_number(w->at)))
            w->at++;
    }
    w->length = (size_t)(w->at - w->word);
    return w->length > 0;
}

static void say_words(const struct words *a, const struct words *b, char *text, size_t size)
{
    snprintf(text, size, "line %u: %.*s instead of %.*s", a->line, a->length ? (int)fmin((double)a->length, 24) : 7,
             a->length ? a->word : "nothing", b->length ? (int)fmin((double)b->length, 24) : 7,
             b->length ? b->word : "nothing");
    tsl_make_printable(text);
}

/* The largest relative difference of numbers is kept; what differs otherwise ends the comparison. */
static enum tsl_difference compare_words(struct words *a, struct words *b, char *text, size_t size)
{
    enum tsl_difference found = TSL_SAME;
    double largest = 0;

    for (;;) {
        bool more = next_word(a), more_b = next_word(b);

        if (!more && !more_b)
            break;
        if (more && more_b && a->is_number && b->is_number) {
            double scale = fmax(fabs(a->number), fabs(b->number));

            if (a->number != b->number) {
                largest = fmax(largest, fabs(a->number - b->number) / scale);
                found = TSL_NUMBERS;
            }
        } else if (a->length != b->length || memcmp(a->word, b->word, a->length) != 0) {
            say_words(a, b, text, size);
            return TSL_DIFFERENT;
        }
    }
    if (found == TSL_NUMBERS)
        snprintf(text, size, "numbers by up to %.2g %%", 100 * largest);
    return found;
}

enum tsl_difference tsl_differ_texts(const char *path, const char *reference, char *text, size_t size)
{
    size_t length_a = 0, length_b = 0;
    char *a = read_text(path, &length_a), *b = read_text(reference, &length_b);
    enum tsl_difference found = TSL_UNREADABLE;

    text[0] = '\0';
    if (a && b && length_a == length_b && memcmp(a, b, length_a) == 0)
        found = TSL_SAME;
    else if (a && b && !memchr(a, '\0', length_a) && !memchr(b, '\0', length_b)) /* else it is no text */
        found = compare_words(&(struct words){.at = a, .line = 1}, &(struct words){.at = b, .line = 1}, text, size);
    free(a);
    free(b);
    return found != TSL_UNREADABLE ? found : tsl_differ_files(path, reference, text, size);
}

static enum tsl_difference compare_streams(FILE *a, FILE *b, char *text, size_t size)
{
    unsigned long long at = 0;
    int x, y;

    do {
        x = getc(a);
        y = getc(b);
        if (x != y) {
            snprintf(text, size,
                     x == EOF   ? "ends after byte %llu"
                     : y == EOF ? "is longer than %llu bytes"
                                : "from byte %llu on",
                     at);
            return TSL_DIFFERENT;
        }
        at++;
    } while (x != EOF);
    return TSL_SAME;
}

enum tsl_difference tsl_differ_files(const char *path, const char *reference, char *text, size_t size)
{
    FILE *a = fopen(path, "re"), *b = fopen(reference, "re");
    enum tsl_difference found = TSL_UNREADABLE;

    text[0] = '\0';
    if (a && b)
        found = compare_streams(a, b, text, size);
    else
        snprintf(text, size, "can't be read: %s", strerror(errno));
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return found;
}

bool tsl_copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "re"), *out = in ? fopen(to, "we") : NULL;
    bool good = out != NULL;
    char block[65536];
    size_t n;

    while (good && (n = fread(block, 1, sizeof block, in)) > 0)
        good = fwrite(block, 1, n, out) == n;
    good = good && !ferror(in);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        good = false;
    return good;
}
