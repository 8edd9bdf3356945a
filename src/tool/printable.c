#include "tool/printable.h"

#include <stddef.h>

/* How many bytes a character has that begins so; 0: none does. Control characters count as none. */
static size_t length_by(unsigned char first)
{
    if (first < 0x80)
        return first >= 0x20 && first != 0x7f;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* The size of the printable character at the text's beginning; 0: there is none. */
static size_t character(const unsigned char *text)
{
    size_t length = length_by(text[0]);

    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length == 2 && text[0] == 0xc2 && text[1] < 0xa0 ? 0 : length; /* more control characters */
}

void tsl_make_printable(char *text)
{
    while (*text) {
        size_t length = character((const unsigned char *)text);

        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}
