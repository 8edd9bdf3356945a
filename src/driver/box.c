#include "driver/box.h"

#include <string.h>

/* Doubles what is filled already, so that a long fill is a few long copies. */
static void fill_row(char *row, size_t size, const void *pattern, size_t pattern_size)
{
    size_t done = pattern_size;

    memcpy(row, pattern, pattern_size);
    while (done < size) {
        size_t part = done < size - done ? done : size - done;

        memcpy(row + done, row, part);
        done += part;
    }
}

void tsl_fill_box(void *base, const struct tsl_fill *fill)
{
    for (size_t slice = 0; slice < fill->region[2]; slice++)
        for (size_t row = 0; row < fill->region[1]; row++)
            fill_row((char *)base + tsl_place_row(&fill->dst, row, slice), fill->region[0], fill->pattern,
                     fill->pattern_size);
}
